"""Find the orders between columns that drawn rows should keep, because a fitted model would break them.

The rows of a table keep many orders that mean nothing, such as an age that is less than any income. But the model does
not break those either. So rows are drawn, and an order is kept if so many of them break it that the rows of the table
contradict the model: if it were right, some of them would break the order, too.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from juror.answers.block import BareMixture, Mixture
from juror.domain import Domain
from juror.domain.formula_columns import Measured
from juror.domain.order_search import orders_of
from juror.domain.orders import Order, without_implied
from juror.fitting.formula_trials import RuleTrial, with_formulas
from juror.rows.in_memory import MemoryTable
from juror.rows.reading import OpenTable
from juror.rows.table import Table

# How many rows of the table should break an order if the model were right: that none does then has probability e⁻¹⁰,
# or one in 22,000. And what share of drawn rows must break it.
_EXPECTED, _LEAST = 10.0, 0.001
# How many orders are tried, one by one
_MOST_TRIED = 30


def with_rules(mixture: Mixture, opened: OpenTable, read: Table, seed: int, until: float) -> Domain:
    """Return the domain of a mixture with the formulas and orders of its rows alone; of rows in memory, that is."""
    domain = replace(mixture.domain, formulas=(), orders=())
    if not isinstance(read, MemoryTable):
        return domain
    measured = opened.measured(domain)
    domain = with_formulas(BareMixture(mixture.blocks, domain), measured, seed, until)
    return with_orders(BareMixture(mixture.blocks, domain), measured, seed, until)


def with_orders(mixture: Mixture, columns: Mapping[str, Measured], seed: int, until: float) -> Domain:
    """Return the domain of a mixture with the orders that all rows of its table keep and the model would break.

    Columns are those of the table. Orders that follow from others are left out. Those that would make a column less
    like the table's are not kept in drawn rows.
    """
    domain = mixture.domain
    candidates = list(orders_of(columns))
    if not candidates or time.monotonic() > until:
        return domain
    trial = RuleTrial(mixture, columns, seed, until)
    drawn = trial.cells(dict.fromkeys(name for order in candidates for name in order.names))
    found = [one for order in candidates if (one := _supported(order, drawn))]
    optional = {variable.name for variable in domain if variable.missing_label is not None}
    return replace(domain, orders=_tried(trial, found, drawn, optional))


def _supported(order: Order, drawn: Mapping[str, np.ndarray]) -> Order | None:
    """Return an order, strict if that says something, too; None if drawn rows hardly break it."""
    loose = replace(order, strict=False)
    ways = [order, loose] if order.strict else [order]
    if order.strict and not _says_something(order, drawn[order.low] == drawn[order.high], drawn):
        ways = [loose]
    return next((way for way in ways if _says_something(way, way.is_broken(drawn), drawn)), None)


def _says_something(order: Order, broken: np.ndarray, drawn: Mapping[str, np.ndarray]) -> bool:
    """Say whether an order contradicts the model, whose drawn rows break it where ``broken`` says, (n,)."""
    is_known = np.isfinite(drawn[order.low]) & np.isfinite(drawn[order.high])
    share = float(broken[is_known].mean()) if is_known.any() else 0.0
    return share >= _LEAST and share * order.n_rows >= _EXPECTED


def _tried(
    trial: RuleTrial, found: Sequence[Order], drawn: Mapping[str, np.ndarray], optional: Collection[str]
) -> tuple[Order, ...]:
    """Return orders without those that follow from others, and say which of them are kept in drawn rows.

    All are tried together, and if that fails, one after the other, those that most of the drawn rows break first. Then
    an order is also tried that would follow if all were kept.
    """
    leave_out = partial(without_implied, optional=optional)
    own = leave_out(found)
    if not own or trial.can_keep(own):
        return own
    n_broken = {order: int(order.is_broken(drawn).sum()) for order in found}
    kept: list[Order] = []
    for order in sorted(found, key=lambda each: (each not in own, -n_broken[each]))[:_MOST_TRIED]:
        if order in leave_out([*kept, order]) and trial.can_keep([*kept, order]):
            kept.append(order)
    ignored = [replace(order, kept=False) for order in own if order not in kept]
    return (*leave_out(kept), *ignored)
