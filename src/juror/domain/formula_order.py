"""An order of formulas in which none changes what an earlier one has used, and the column that each computes.

A formula changes the column that it computes, and its target, which is rounded once more. A target that another formula
uses is not rounded: then the computed number must satisfy the formula as it is.

The last formula of an order computes a column that no other formula uses. So the order is built backwards: such a
formula is removed, then the same is done with the rest. If there is an order, this finds one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from juror.domain.formulas import Formula


def in_order(formulas: Sequence[Formula]) -> tuple[Formula, ...]:
    """Return formulas in an order in which they can be applied; empty if there is none.

    Those that compute nothing are last.
    """
    computing = [formula for formula in formulas if formula.computed]
    ordered = _from_the_end([[formula] for formula in computing], ())
    if len(ordered) < len(computing):
        return ()
    return (*ordered, *(formula for formula in formulas if not formula.computed))


def order_around(
    formulas: Sequence[Formula], choices: Sequence[Sequence[str]], settled: Collection[str]
) -> tuple[Formula, ...]:
    """Return formulas in an order in which they can be applied, where each computes one of its choices.

    Parameters
    ----------
    formulas : sequence of Formula
        What is to be ordered.
    choices : sequence of sequences of str
        By formula, the columns that it may compute, the best one first. A formula for which none is left computes
        nothing, and is last.
    settled : collection of str
        Columns that do not change, or are better left alone. A target among them needs no rounding.
    """
    names = ((*some, None) for some in choices)
    options = [[replace(f, computed=name) for name in some] for f, some in zip(formulas, names, strict=True)]
    return tuple(sorted(_from_the_end(options, settled), key=lambda formula: formula.computed is None))


def _from_the_end(options: Sequence[Sequence[Formula]], settled: Collection[str]) -> list[Formula]:
    """Choose one of the options of each formula, and an order; formulas that fit in no order are left out."""
    left = dict(enumerate(options))
    n_uses = Counter(name for some in options for name in some[0].names)
    # The steps decide only where a formula must give up its first choice.
    steps = _steps_from([some[0].names for some in options], settled) if any(len(some) > 1 for some in options) else [0]
    ordered: list[Formula] = []

    def take(n: int, choice: int) -> None:
        ordered.append(left.pop(n)[choice])
        n_uses.subtract(ordered[-1].names)

    while left:
        n_left = len(left)
        for n, (first, *_) in reversed(list(left.items())):
            if first.computed not in settled and _is_last(first, n_uses, settled):
                take(n, 0)
        if len(left) < n_left:
            continue
        # No formula can be last with its first choice, so one must give up something: as little as possible.
        found = [
            (_rank(formula, choice, steps[n] if choice else -1, n_uses, settled), -n)
            for n, some in left.items()
            for choice, formula in enumerate(some)
            if formula.computed is None or n_uses[formula.computed] == 1
        ]
        if not found:
            break
        (*_, choice, _), minus_n = min(found)
        take(-minus_n, choice)
    return ordered[::-1]


def _is_last(formula: Formula, n_uses: Mapping[str, int], settled: Collection[str]) -> bool:
    """Say whether a formula changes only columns that no other formula left uses: the computed one and the target."""
    is_free = formula.computed is not None and n_uses[formula.computed] == 1
    return is_free and not _holds_target(formula, n_uses, settled)


def _rank(
    formula: Formula, choice: int, n_steps: int, n_uses: Mapping[str, int], settled: Collection[str]
) -> tuple[bool, bool, int, int, bool]:
    """Return a key that sorts candidates for the last formula, the best first.

    The best one computes something, no settled column, and its first choice. Otherwise it is near a settled column.
    """
    is_settled = formula.computed in settled
    return formula.computed is None, is_settled, n_steps, choice, _holds_target(formula, n_uses, settled)


def _holds_target(formula: Formula, n_uses: Mapping[str, int], settled: Collection[str]) -> bool:
    """Say whether the target of a formula must not be rounded once more: another formula that is left uses it."""
    return formula.target not in {formula.computed, *settled} and n_uses[formula.target] > 1


def _steps_from(names: Sequence[Collection[str]], settled: Collection[str]) -> list[int]:
    """Return for each formula how many formulas lie between it and a settled column: those near it change first."""
    reached, steps = set(settled), [len(names)] * len(names)
    for step in range(len(names)):
        new = [n for n, each in enumerate(names) if steps[n] == len(names) and not reached.isdisjoint(each)]
        if not new:
            break
        for n in new:
            steps[n] = step
        reached.update(name for n in new for name in names[n])
    return steps
