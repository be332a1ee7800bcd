"""The parameters on the card: logarithms in two parts of half precision, which together are as exact as single."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from juror.kernels import kernels
from juror.kernels.cuda.card import as_array, as_tensor, device, on_own_stream
from juror.kernels.cuda.shapes import Tiling, tiling
from juror.kernels.cuda.tiles import POSSIBLE, ZERO


class Given(NamedTuple):
    """The arguments of :func:`tables`."""

    lam: np.ndarray | torch.Tensor
    stack: np.ndarray | torch.Tensor
    parts: np.ndarray
    n_rows: int
    n_columns: int

    def on_host(self) -> Given:
        """Return the same as arrays."""
        return self._replace(lam=as_array(self.lam), stack=as_array(self.stack))


class CardTables(NamedTuple):
    """The parameters in the form that passes read; classes are padded to whole tiles.

    Attributes
    ----------
    given : Given
        What the tables were made from.
    log_lam : torch.Tensor, (F padded,)
        Log class weights, −inf for padding.
    high, low : torch.Tensor of float16, (L, F padded)
        Logarithms of the rows S, less the largest of each row, in two parts.
    scales : torch.Tensor, (L,)
        The largest of each row.
    tiling : Tiling
        How classes, cells and rows are cut into tiles.
    """

    given: Given
    log_lam: torch.Tensor
    high: torch.Tensor
    low: torch.Tensor
    scales: torch.Tensor
    tiling: Tiling

    @property
    def is_plain(self) -> bool:
        """Whether the rows S are the stacked rows themselves."""
        parts = self.given.parts
        return bool(parts.shape[1] == 1 and np.array_equal(parts[:, 0], np.arange(len(self.given.stack))))


class HostTables(NamedTuple):
    """Parameters too extreme for half precision: the tables of the CPU's kernels, which do the pass."""

    given: Given
    on_host: Any


@on_own_stream
def tables(
    lam: np.ndarray, stack: np.ndarray, parts: np.ndarray, n_rows: int, n_columns: int
) -> CardTables | HostTables:
    """Prepare the parameters for passes over a table of cells; one result serves all passes.

    λ and the stack may be tensors on the card.
    """
    given = Given(lam, stack, parts, n_rows, n_columns)
    return _on_card(given, as_tensor(stack).log()) or HostTables(given, kernels().tables(*given.on_host()))


@on_own_stream
def with_logs(tables: CardTables | HostTables, log_stack: np.ndarray) -> CardTables | HostTables:
    """Return the same tables with the logarithms of the stack, (stacked rows, F), given: its values may underflow."""
    given = tables.given
    made = _on_card(given, as_tensor(log_stack))
    return made or HostTables(given, kernels().with_logs(kernels().tables(*given.on_host()), log_stack))


def _on_card(given: Given, log_stack: torch.Tensor) -> CardTables | None:
    """Return the tables, or None if sums of their logarithms might fall below the stand-in for that of zero."""
    (L, width), F = given.parts.shape, log_stack.shape[1]
    log_rows = log_stack
    if width > 1 or len(log_stack) != L or not np.array_equal(given.parts[:, 0], np.arange(L)):
        parts = as_tensor(given.parts).long()
        log_rows = torch.where((parts >= 0)[:, :, None], log_stack[parts.clamp(min=0)], 0.0).sum(1)
    scales = log_rows.amax(1)
    scales = torch.where(scales.isfinite(), scales, 0.0)
    scaled = log_rows - scales[:, None]
    possible = scaled.isfinite()
    if float(torch.where(possible, scaled, 0.0).amin()) * given.n_columns < POSSIBLE:
        return None
    cut = tiling(F)
    table = torch.zeros((L, cut.padded(F)), dtype=torch.float64, device=device())
    table[:, :F] = torch.where(possible, scaled, ZERO)
    high = table.half()
    log_lam = torch.full(table.shape[1:], -torch.inf, device=device())
    log_lam[:F] = as_tensor(given.lam).log()
    return CardTables(given, log_lam, high, (table - high).half(), scales.float(), cut)
