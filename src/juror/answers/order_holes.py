"""Holes of a table are filled so that its rows keep the orders between columns (:mod:`juror.domain.orders`).

Draws that break an order are drawn again. Of numbers that are not drawn, such as medians, those that break an order are
replaced by the medians of draws that keep it: where a <= b in every draw, the median of a is at most that of b.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from juror.answers.formula_solving import numbers_of
from juror.answers.order_draws import broken_in_words, broken_orders, put_numbers
from juror.domain import Domain
from juror.domain.formula_columns import observed_numbers
from juror.domain.orders import Order
from juror.errors import JurorWarning, warn
from juror.readers import Column
from juror.runners.local import partitions

# How often rows are drawn again: each time twice as many draws for each, but few in all
_ATTEMPTS, _MOST_AT_ONCE = 12, 1 << 14
# Of how many draws a median is taken, and for how many rows at once
_OF_DRAWS, _ROWS_AT_ONCE = 25, 1 << 10
# Positions of rows, or all of them; and the codes of filled rows (n, N), and by variable their numbers (n,)
Rows = np.ndarray | slice
Filled = tuple[np.ndarray, dict[int, np.ndarray]]


@dataclass(frozen=True, eq=False)
class OrderHoles:
    """The holes of a table, and the orders that filled rows should keep.

    Attributes
    ----------
    domain : Domain
        The variables.
    orders : sequence of Order
        Those to keep whose columns are both in the table, as numbers.
    observed : mapping of str to numpy.ndarray, (rows,)
        By column, the numbers that are observed; NaN where missing.
    draw : callable
        Given which rows of the table to fill (n,), perhaps some of them several times, returns them filled at random.
    """

    domain: Domain
    orders: Sequence[Order]
    observed: Mapping[str, np.ndarray]
    draw: Callable[[Rows], Filled]

    @classmethod
    def of(cls, domain: Domain, columns: Sequence[Column], draw: Callable[[Rows], Filled]) -> OrderHoles:
        """Find the orders between columns of a table."""
        by_name = {column.name: column for column in columns}
        both = [order for order in domain.orders if order.kept and by_name.keys() >= set(order.names)]
        found = {name: observed_numbers(domain[name], by_name[name]) for order in both for name in order.names}
        observed = {name: numbers for name, numbers in found.items() if numbers is not None}
        return cls(domain, [order for order in both if observed.keys() >= set(order.names)], observed, draw)

    def drawn(self) -> Filled:
        """Return all rows of the table, filled at random; a warning tells of those that break an order."""
        filled = self.draw(slice(None))
        if self.orders:
            self._draw_again(np.arange(len(filled[0])), *filled)
            self.warn_of_broken(filled)
        return filled

    def with_medians(self, filled: Filled) -> Filled:
        """Return filled rows. In those that break an order, columns with orders have the medians of draws."""
        wrong = np.flatnonzero(self._broken(np.arange(len(filled[0])), filled).any(axis=1))
        for some in partitions(len(wrong), _ROWS_AT_ONCE):
            self._put_medians(wrong[some], *filled)
        return filled

    def warn_of_broken(self, filled: Filled) -> None:
        """Warn of filled rows that break an order."""
        n_broken = self._broken(np.arange(len(filled[0])), filled).sum(axis=0).tolist()
        for order, n in zip(self.orders, n_broken, strict=True):
            if n:
                warn(JurorWarning(broken_in_words(order, n, len(filled[0]), "filled")))

    def _draw_again(self, rows: np.ndarray, codes: np.ndarray, numbers: dict[int, np.ndarray]) -> np.ndarray:
        """Draw those of the filled rows (n,) again that break an order; say which still do after many draws, (n,)."""
        wrong = np.asarray(self._broken(rows, (codes, numbers)).any(axis=1))
        for attempt in range(_ATTEMPTS):
            again = np.flatnonzero(wrong)
            if not len(again):
                break
            n_draws = max(1, min(2**attempt, _MOST_AT_ONCE // len(again)))
            several = np.repeat(rows[again], n_draws)
            others = self.draw(several)
            is_good = ~self._broken(several, others).any(axis=1).reshape(-1, n_draws)
            first = np.arange(len(again)) * n_draws + is_good.argmax(axis=1)
            codes[again] = others[0][first]
            put_numbers(numbers, again, others[1], first)
            wrong[again] = ~is_good.any(axis=1)
        return wrong

    def _put_medians(self, rows: np.ndarray, codes: np.ndarray, numbers: dict[int, np.ndarray]) -> None:
        """Put the medians of draws that keep all orders into the holes of rows (n,), if there are such draws."""
        several = np.repeat(rows, _OF_DRAWS)
        drawn = self.draw(several)
        is_wrong = self._draw_again(several, *drawn).reshape(-1, _OF_DRAWS)
        n_good = _OF_DRAWS - is_wrong.sum(axis=1)
        for name, cells in self._cells(several, drawn).items():
            n, sorted_draws = self.domain.position(name), np.where(is_wrong, np.inf, cells.reshape(is_wrong.shape))
            middle = np.argsort(sorted_draws, axis=1)[np.arange(len(rows)), np.maximum(n_good - 1, 0) // 2]
            holes = np.flatnonzero(np.isnan(self.observed[name][rows]) & (n_good > 0))
            medians = holes * _OF_DRAWS + middle[holes]
            codes[rows[holes], n] = drawn[0][medians, n]
            if n in drawn[1]:
                put_numbers(numbers, rows[holes], {n: drawn[1][n]}, medians)

    def _cells(self, rows: np.ndarray, filled: Filled) -> dict[str, np.ndarray]:
        """Return the numbers of all columns with orders in filled rows, (n,)."""
        codes, numbers = filled
        cells = {name: known[rows] for name, known in self.observed.items()}
        for name, known in cells.items():
            # A column without holes in these rows has no drawn numbers.
            if self.domain.position(name) in numbers or self.domain[name].edges is None:
                cells[name] = np.where(np.isnan(known), numbers_of(self.domain, name, codes, numbers), known)
        return cells

    def _broken(self, rows: np.ndarray, filled: Filled) -> np.ndarray:
        """Say which rows (n,), once filled, break which orders, (n, n_orders); what is observed breaks none."""
        broken = broken_orders(self.orders, self._cells(rows, filled), len(rows))
        for k, order in enumerate(self.orders):
            broken[:, k] &= np.any([np.isnan(self.observed[name][rows]) for name in order.names], axis=0)
        return broken
