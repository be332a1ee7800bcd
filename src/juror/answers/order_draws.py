"""Which rows break the orders between columns (:mod:`juror.domain.orders`), and what to say of those that must.

Rows that break an order are drawn again, so that what is drawn is the distribution given that all orders hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from juror.answers.formula_solving import numbers_of
from juror.domain import Domain
from juror.domain.evidence import Evidence
from juror.domain.orders import Order
from juror.errors import JurorWarning, Message, warn


def broken_orders(orders: Sequence[Order], cells: Mapping[str, np.ndarray], n: int) -> np.ndarray:
    """Say which of n rows break which orders, (n, n_orders), given the numbers of columns, NaN where missing."""
    broken = np.zeros((n, len(orders)), dtype=bool)
    for k, order in enumerate(orders):
        broken[:, k] = order.is_broken(cells)
    return broken


def cells_of(
    domain: Domain, orders: Sequence[Order], codes: np.ndarray, numbers: Mapping[int, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the numbers of all columns of orders, (n,), NaN where missing, from codes (n, N) and drawn numbers."""
    names = dict.fromkeys(name for order in orders for name in order.names)
    return {name: numbers_of(domain, name, codes, numbers) for name in names}


def put_numbers(
    numbers: dict[int, np.ndarray], rows: np.ndarray, others: Mapping[int, np.ndarray], of: np.ndarray
) -> None:
    """Put numbers of some rows of others in the place of those of rows, by variable."""
    for k, drawn in others.items():
        # Whole numbers beyond 63 bits are objects, and others of their column may fit into integers.
        kept = numbers[k].astype(np.result_type(numbers[k], drawn), copy=False)
        kept[rows] = drawn[of]
        numbers[k] = kept


def broken_in_words(order: Order, n_broken: int, n: int, which: str = "drawn") -> Message:
    """Say that rows break an order although they were drawn again and again."""
    return Message(
        "{n_broken:,} of {n:,} {which} rows break {order!r}, which the rows that were fitted keep, although they were "
        "drawn again many times: given what is known of them, the model hardly gives any other. Relax what is known, "
        "or pass {formulas:=False} to let all rows break orders.",
        n_broken=n_broken,
        n=n,
        which=which,
        order=order.in_words(),
    )


def possible_orders(domain: Domain, evidence: Evidence, points: Mapping[int, object]) -> tuple[Order, ...]:
    """Return the orders that drawn rows keep, and warn of those that rows that satisfy conditions cannot keep."""

    def span(name: str) -> tuple[float, float]:
        n = domain.position(name)
        if n in points:
            return float(points[n]), float(points[n])  # type: ignore[arg-type]  # a number
        return _span_of(domain, n, evidence)

    possible = []
    for order in (each for each in domain.orders if each.kept):
        (least, _), (_, most) = span(order.low), span(order.high)
        if least > most or (order.strict and least == most):
            warn(
                JurorWarning(
                    f"The conditions contradict {order.in_words()!r}, which all {order.n_rows:,} fitted rows keep, so "
                    "drawn rows break it. Change the conditions if this is not meant."
                )
            )
        else:
            possible.append(order)
    return tuple(possible)


def _span_of(domain: Domain, n: int, evidence: Evidence) -> tuple[float, float]:
    """Return the least and the largest number that conditions leave to a variable."""
    variable = domain[n]
    allowed = np.flatnonzero(evidence[n][: len(variable.present_labels)] > 0) if n in evidence else np.arange(0)
    if not len(allowed):
        return -np.inf, np.inf
    if variable.edges is not None:
        first, last = allowed[0], allowed[-1]
        is_open = variable.open_ended and np.array([first == 0, last + 2 == len(variable.edges)])
        ends = np.array([variable.edges[first], variable.edges[last + 1]])
        low, high = np.where(is_open, [-np.inf, np.inf], ends).tolist()
        return low, high
    labels = np.array(variable.present_labels, dtype=np.float64)[allowed]
    return float(labels.min()), float(labels.max())
