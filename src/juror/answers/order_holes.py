"""Holes of a table are filled so that its rows keep the orders between columns (:mod:`juror.domain.orders`).

Draws that break an order are drawn again. Where numbers that are not drawn, such as medians, break an order, the holes
of columns with orders or formulas get a draw that keeps them: of several, the one in the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from juror.answers.formula_holes import FormulaHoles
from juror.answers.formula_solving import numbers_of
from juror.answers.order_draws import broken_in_words, broken_orders, put_numbers
from juror.domain import Domain
from juror.domain.formula_columns import observed_numbers
from juror.domain.orders import Order, among
from juror.errors import JurorWarning, warn
from juror.readers import Column
from juror.runners.local import partitions

# How often rows are drawn again: each time twice as many draws for each, but few in all
_ATTEMPTS, _MOST_AT_ONCE = 12, 1 << 14
# Of how many draws the one in the middle is taken, and for how many rows at once
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
    known : mapping of str to numpy.ndarray, (rows,)
        By column with orders or formulas, the numbers that are observed or follow by formulas; NaN where missing.
    draw : callable
        Given which rows of the table to fill (n,), perhaps some of them several times, returns them filled at random.
    """

    domain: Domain
    orders: Sequence[Order]
    known: Mapping[str, np.ndarray]
    draw: Callable[[Rows], Filled]

    @classmethod
    def of(cls, by_formulas: FormulaHoles, columns: Sequence[Column], draw: Callable[[Rows], Filled]) -> OrderHoles:
        """Find the orders between columns of a table, whose holes that follow by formulas are known."""
        domain, by_name = by_formulas.domain, {column.name: column for column in columns}
        there = by_name.keys() & {name for order in domain.orders for name in order.names}
        found = {name: observed_numbers(domain[name], by_name[name]) for name in domain.names if name in there}
        observed = {name: numbers for name, numbers in found.items() if numbers is not None}
        orders = [order for order in among(domain.orders, observed, domain) if order.kept]
        in_orders = {name for order in orders for name in order.names}
        observed = {name: numbers for name, numbers in observed.items() if name in in_orders}
        return cls(domain, orders, observed | by_formulas.known, draw)

    def drawn(self) -> Filled:
        """Return all rows of the table, filled at random; a warning tells of those that break an order."""
        filled = self.draw(slice(None))
        if self.orders:
            self._draw_again(np.arange(len(filled[0])), *filled)
            self.warn_of_broken(filled)
        return filled

    def in_order(self, filled: Filled) -> Filled:
        """Return filled rows; those that break an order get draws. A warning tells of those that still break one."""
        wrong = np.flatnonzero(self._broken(np.arange(len(filled[0])), filled).any(axis=1))
        for some in partitions(len(wrong), _ROWS_AT_ONCE):
            self._put_draws(wrong[some], *filled)
        self.warn_of_broken(filled)
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

    def _put_draws(self, rows: np.ndarray, codes: np.ndarray, numbers: dict[int, np.ndarray]) -> None:
        """Put draws that keep all orders into the holes of rows (n,) in columns with orders or formulas."""
        several = np.repeat(rows, _OF_DRAWS)
        drawn = self.draw(several)
        is_wrong = self._draw_again(several, *drawn).reshape(-1, _OF_DRAWS)
        off = np.where(is_wrong, np.inf, 0.0)
        for cells in self._cells(several, drawn).values():
            # A column without a hole has the same number, and so the same rank, in all draws.
            off += np.abs(_ranks(np.where(is_wrong, np.nan, cells.reshape(is_wrong.shape))))
        middle = np.arange(len(rows)) * _OF_DRAWS + off.argmin(axis=1)
        for name, known in self.known.items():
            n, holes = self.domain.position(name), np.flatnonzero(np.isnan(known[rows]) & ~is_wrong.all(axis=1))
            codes[rows[holes], n] = drawn[0][middle[holes], n]
            if n in drawn[1]:
                put_numbers(numbers, rows[holes], {n: drawn[1][n]}, middle[holes])

    def _cells(self, rows: np.ndarray, filled: Filled) -> dict[str, np.ndarray]:
        """Return the numbers of all columns with orders in filled rows, (n,)."""
        codes, numbers = filled
        cells = {name: self.known[name][rows] for order in self.orders for name in order.names}
        for name, known in cells.items():
            # A column without holes in these rows has no drawn numbers.
            if self.domain.position(name) in numbers or self.domain[name].edges is None:
                cells[name] = np.where(np.isnan(known), numbers_of(self.domain, name, codes, numbers), known)
        return cells

    def _broken(self, rows: np.ndarray, filled: Filled) -> np.ndarray:
        """Say which rows (n,), once filled, break which orders, (n, n_orders); what is known breaks none."""
        broken = broken_orders(self.orders, self._cells(rows, filled), len(rows))
        for k, order in enumerate(self.orders):
            broken[:, k] &= np.any([np.isnan(self.known[name][rows]) for name in order.names], axis=0)
        return broken


def _ranks(draws: np.ndarray) -> np.ndarray:
    """Return how many draws of a row are less than each, less how many are more, (n, n_draws); NaN counts for none."""
    less = draws[:, :, None] > draws[:, None]
    return np.asarray(less.sum(axis=2) - less.sum(axis=1))
