"""Choose formulas that can be applied one after the other, and the column that each computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from juror.domain.formula_columns import Measured
from juror.domain.formula_order import in_order
from juror.domain.formula_search import FormulaSearch, Verified
from juror.domain.formulas import FORMS, Formula

# Tables with more columns of numbers are not searched.
_MOST_COLUMNS = 80


def find_formulas(columns: Mapping[str, Measured]) -> tuple[Formula, ...]:
    """Return the formulas of columns, in an order in which they can be applied: no column is computed after its use.

    At most one formula computes a column. A formula that follows from others would compute a column from itself, so it
    is left out.
    """
    names = [name for name, column in columns.items() if column.is_usable]
    if not 2 <= len(names) <= _MOST_COLUMNS:
        return ()
    search = FormulaSearch({name: columns[name] for name in names})
    found = {(name, form): search.formula_of(name, form, names) for name in names for form in FORMS}
    chosen: tuple[Formula, ...] = ()
    while left := {key: each for key, each in found.items() if each is not None}:
        key, best = min(left.items(), key=lambda item: search.rank_of(item[1]))
        more = _with_another(chosen, best, search)
        if more:
            chosen, found[key] = more, None
            continue
        # It follows from those that were chosen. A formula between columns that none of these computes would not.
        free = [name for name in names if name not in {formula.computed for formula in chosen}]
        other = search.formula_of(*key, free) if key[0] in free else None
        found[key] = other if other != best else None
    return chosen


def _with_another(chosen: Sequence[Formula], found: Verified, search: FormulaSearch) -> tuple[Formula, ...]:
    """Return formulas with one more, in order; empty if they cannot all compute a column of their own.

    Each computes the column that moves most, if possible. If need be, one of the chosen formulas computes another
    column than before.
    """
    mine = [replace(found.formula, computed=name) for name in search.computable(found.formula)]
    best = max((in_order([*chosen, each]) for each in mine), key=partial(_total, search), default=())
    for n, other in enumerate(chosen if not best else ()):
        others = [replace(other, computed=name) for name in search.computable(other)]
        tried = ([*chosen[:n], *chosen[n + 1 :], *both] for both in product(others, mine))
        best = max((best, *map(in_order, tried)), key=partial(_total, search))
    return best


def _total(search: FormulaSearch, formulas: Sequence[Formula]) -> float:
    return sum(search.lead_of(each, each.computed) for each in formulas if each.computed) if formulas else -np.inf
