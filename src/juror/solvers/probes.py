"""Log-probabilities of a few rows under draws, and an estimate of what they would be if the rows were left out.

The draws d of a posterior have seen all rows. If a row x had been left out, its log-probability would be about
(Watanabe 2010)

    log mean_d p_d(x) − Var_d log p_d(x)

The variance is large for a row that draws fit only because they have seen it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from juror.kernels import FEW_CELLS, are_few_to_draw
from juror.rows.distinct import WeightedRows
from juror.rows.expected import log_prob_of_cells
from juror.rows.packing import PackedCells
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner

_SAFE = 1e-200


class Probes:
    """A few rows of codes (rows, N) that are followed along a chain."""

    def __init__(self, codes: np.ndarray, sizes: tuple[int, ...], runner: LocalRunner):
        # So few rows at a time that passes need no compiled kernels, if the sampler needs none
        at_once = FEW_CELLS // max(len(sizes), 1) if are_few_to_draw(codes.size) else len(codes)
        self._parts = [codes[first : first + at_once] for first in range(0, len(codes), max(at_once, 1))]
        self._runner = runner
        self._lay_out(Stacking(sizes))

    def _lay_out(self, stacking: Stacking) -> None:
        self._stacking, self._cells = stacking, [PackedCells.plain(codes, stacking) for codes in self._parts]

    def log_prob(self, point: Parameters) -> np.ndarray:
        """Return the log-probability of every row, (rows,)."""
        if point.forest != self._stacking.forest:
            self._lay_out(Stacking(self._stacking.cardinalities, point.forest))
        return np.concatenate([self._log_prob(cells, point) for cells in self._cells])

    def _log_prob(self, cells: PackedCells, point: Parameters) -> np.ndarray:
        if cells.regions is None:
            # A few calls of NumPy, as long as products do not underflow
            found = point.stack[cells.packed].prod(axis=1) @ point.lam
            if found.min() > _SAFE:
                return np.asarray(np.log(found))
        return log_prob_of_cells(cells, point.lam, point.stack, self._runner)


def log_left_out(draws: Iterable[Parameters], rows: WeightedRows, sizes: tuple[int, ...], runner: LocalRunner) -> float:
    """Estimate the mean log-probability of rows that are left out, by draws that have seen them."""
    probes = Probes(rows.codes, sizes, runner)
    logs = np.array([probes.log_prob(draw) for draw in draws])
    of_mean = np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))
    return float(np.average(of_mean - logs.var(axis=0, ddof=1), weights=rows.weights))
