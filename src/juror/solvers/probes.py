"""Log-probabilities of a few rows under draws, and an estimate of what they would be if the rows were left out.

The draws d of a posterior have seen all rows. If a row x had been left out, its log-probability would be about
(Watanabe 2010)

    log mean_d p_d(x) − Var_d log p_d(x)

The variance is large for a row that draws fit only because they have seen it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from juror.kernels import are_few_to_draw
from juror.rows.distinct import WeightedRows
from juror.rows.expected import log_prob_of_cells
from juror.rows.packing import PackedCells
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.few_rows import FewCells


class Probes:
    """A few rows of codes (rows, N) that are followed along a chain."""

    def __init__(self, codes: np.ndarray, sizes: tuple[int, ...], runner: LocalRunner):
        self._codes = codes
        self._runner = runner
        self._lay_out(Stacking(sizes))

    def _lay_out(self, stacking: Stacking) -> None:
        self._stacking, self._few = stacking, None
        if are_few_to_draw(self._codes.size):
            self._few = FewCells.of(self._codes, np.ones(len(self._codes)), stacking)
        if self._few is None:
            self._cells = PackedCells.plain(self._codes, stacking)

    def log_prob(self, point: Parameters) -> np.ndarray:
        """Return the log-probability of every row, (rows,)."""
        if point.forest != self._stacking.forest:
            self._lay_out(Stacking(self._stacking.cardinalities, point.forest))
        if self._few is not None:
            return self._few.posterior(point.lam, point.stack)[0]
        return log_prob_of_cells(self._cells, point.lam, point.stack, self._runner)


def log_left_out(draws: Iterable[Parameters], rows: WeightedRows, sizes: tuple[int, ...], runner: LocalRunner) -> float:
    """Estimate the mean log-probability of rows that are left out, by draws that have seen them."""
    logs = _logs_of(draws, rows, sizes, runner)
    return float(np.average(_log_mean(logs) - logs.var(axis=0, ddof=1), weights=rows.weights))


def log_of_mean(draws: Iterable[Parameters], rows: WeightedRows, sizes: tuple[int, ...], runner: LocalRunner) -> float:
    """Return the log-likelihood of rows under the mean of draws."""
    return float(rows.weights @ _log_mean(_logs_of(draws, rows, sizes, runner)))


def _logs_of(
    draws: Iterable[Parameters], rows: WeightedRows, sizes: tuple[int, ...], runner: LocalRunner
) -> np.ndarray:
    """Return the log-probability of every row under every draw, (draws, rows)."""
    probes = Probes(rows.codes, sizes, runner)
    return np.array([probes.log_prob(draw) for draw in draws])


def _log_mean(logs: np.ndarray) -> np.ndarray:
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - np.log(len(logs)))
