"""Find the formulas of a table, and try in drawn rows what each should compute (:mod:`juror.domain.formulas`).

A column that is computed takes up the errors of others. A difference of two large numbers may be far off, and many rows
may have no possible number. So rows are drawn with each formula, and the columns are compared with the table's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from juror.answers.block import Mixture
from juror.answers.sampling import RowSampler, draw_with_numbers
from juror.answers.satisfying import Drawn, draw_satisfying, within
from juror.domain import Domain
from juror.domain.formula_sets import find_formulas, in_order
from juror.domain.formulas import Formula
from juror.domain.measured import Measured
from juror.kernels.random_streams import Stream
from juror.rows.in_memory import MemoryTable
from juror.rows.reading import OpenTable
from juror.rows.table import Table

_DRAWN = 4000
# How much farther from the table than without formulas a column may be, by the largest difference of the shares of
# numbers up to any, and which share of the rows may have to be drawn again
_FARTHER, _AGAIN = 0.05, 0.1


def with_formulas(mixture: Mixture, opened: OpenTable, read: Table, seed: int) -> Domain:
    """Return the domain of a mixture with the formulas of its table, if that was read into memory.

    What a formula computes is tried in drawn rows: first what was found, then the other columns that it can be solved
    for. If all of them make a column less like the table's, the formula fills holes, and drawn rows ignore it.
    """
    # Formulas of a domain that was given are those of other rows.
    domain = replace(mixture.domain, formulas=())
    columns = opened.measured(domain) if isinstance(read, MemoryTable) else {}
    found = find_formulas(columns)
    kept: tuple[Formula, ...] = ()
    if not found:
        return domain
    trial = _Trial(mixture, columns, seed)
    for formula in found:
        computable = [name for name in formula.solvable if domain[name].edges is not None]
        tried = (in_order((*kept, replace(formula, computed=name))) for name in (formula.computed, *computable))
        good = next((formulas for formulas in dict.fromkeys(tried) if formulas and trial.is_good(formulas)), None)
        kept = good or (*kept, replace(formula, computed=None))
    return replace(domain, formulas=kept)


class _Trial:
    """Rows drawn with and without formulas, beside those of the table."""

    def __init__(self, mixture: Mixture, columns: Mapping[str, Measured], seed: int):
        self._domain, self._seed = mixture.domain, seed
        self._sampler = RowSampler(mixture)
        self._real = {
            self._domain.position(name): np.sort(column.numbers[np.isfinite(column.numbers)])
            for name, column in columns.items()
            if column.has_intervals
        }
        self._before = self._distances(self._drawn(()))

    def is_good(self, formulas: Sequence[Formula]) -> bool:
        """Say whether rows that satisfy formulas are about as much like the table's as rows that do not."""
        rows = self._drawn(formulas)
        farther = self._distances(rows) - self._before
        return bool(np.all(farther <= _FARTHER) and rows.n_again <= _AGAIN * _DRAWN)

    def _drawn(self, formulas: Sequence[Formula]) -> Drawn:
        domain = replace(self._domain, formulas=tuple(formulas))
        draw = partial(draw_with_numbers, self._sampler, rng=Stream.FORMULAS.generator(self._seed))
        return draw_satisfying(draw, _DRAWN, domain, within(domain, {}, {}))

    def _distances(self, rows: Drawn) -> np.ndarray:
        """Return the largest difference of shares of every column, of drawn rows and the table's, (n_columns,)."""
        return np.array([self._distance(rows, k, real) for k, real in self._real.items()])

    def _distance(self, rows: Drawn, k: int, real: np.ndarray) -> float:
        is_there = (rows.codes[:, k] >= 0) & (rows.codes[:, k] < len(self._domain[k].present_labels))
        drawn = np.sort(rows.numbers[k][is_there].astype(np.float64))
        if not len(drawn) or not len(real):
            return 0.0
        at = np.concatenate([drawn, real])
        shares = [np.searchsorted(each, at, side="right") / len(each) for each in (drawn, real)]
        return float(np.abs(shares[0] - shares[1]).max())
