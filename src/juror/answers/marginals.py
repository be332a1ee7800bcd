"""Marginals, and the labelled tables that hold answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.answers.block import BareMixture, Block, Mixture
from juror.answers.label_frames import AsFrame, free_name
from juror.answers.messages import tree_tables
from juror.answers.number_summary import NumberSummary, number_summary
from juror.answers.short_tables import Groups, groups_shown, joined, summed
from juror.answers.table_texts import TableText, bar, most_probable
from juror.domain.question_texts import as_name
from juror.domain.variable import Label, Variable
from juror.errors import QueryError
from juror.printing import one_line, shortened
from juror.readers.exact_numbers import Number
from juror.runners.local import partitions

if TYPE_CHECKING:
    from juror.answers.support import SupportTable

_MOST_CELLS = 10_000_000
# Numbers in a temporary array while the whole table is written out: 80 MB.
_NUMBERS_AT_ONCE = 10_000_000


@dataclass(frozen=True, eq=False)
class ProbabilityTable(AsFrame):
    """Probabilities of every combination of labels of some variables.

    Attributes
    ----------
    variables : tuple of Variable
        The variable of each axis.
    given : str
        The evidence behind the table, as text; empty when there was none.
    support : SupportTable, optional
        The same table beside the rows that meet the conditions: how many there are and what shares they have. None if
        the model has no counts that say so and no rows were given.
    settled : int or float, optional
        The number that the evidence says the only variable is, if it does.
    """

    variables: tuple[Variable, ...]
    _probabilities: np.ndarray
    given: str = ""
    support: SupportTable | None = None
    settled: Number | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, one per axis."""
        return tuple(variable.name for variable in self.variables)

    @property
    def title(self) -> str:
        """What the table is, like ``P(class | safety = high)``."""
        return one_line(f"P({', '.join(map(as_name, self.names))}" + (f" | {self.given})" if self.given else ")"))

    def with_support(self, support: SupportTable | None) -> ProbabilityTable:
        """Return the same table with its support."""
        return replace(self, support=support)

    @property
    def mean(self) -> Any:
        """The mean of the only variable, which must be a number or a date; missing cells are not counted."""
        return self._summary.mean

    @property
    def std(self) -> float:
        """The standard deviation of the only variable, a number; of dates in days, of times in their unit."""
        return self._summary.std

    @property
    def median(self) -> Any:
        """The median of the only variable, which must be a number."""
        return self._summary.median

    @cached_property
    def _summary(self) -> NumberSummary:
        if len(self.variables) != 1:
            raise QueryError(f"A mean is that of one number; the table is about {list(self.names)}. Ask for one.")
        return number_summary(self.variables[0], self._probabilities, self.settled)

    @property
    def summary(self) -> NumberSummary | None:
        """Mean, standard deviation and median if the only variable is a number that was cut into intervals."""
        is_number = len(self.variables) == 1 and self.variables[0].edges is not None
        return self._summary if is_number else None

    def in_words(self) -> list[str]:
        """Return a line that says where the number lies; none if the table is about labels."""
        return [] if self.summary is None else [str(self.summary)]

    def __getitem__(self, labels: Any) -> float:
        return float(self._probabilities[self.codes(labels)])

    def codes(self, labels: Any) -> tuple[int, ...]:
        """Return the position of a cell, from its label or its tuple of labels."""
        labels = labels if isinstance(labels, tuple) else (labels,)
        if len(labels) != len(self.variables):
            raise QueryError(
                f"The table has {len(self.variables)} axes {list(self.names)}; {len(labels)} labels given."
            )
        return tuple(variable.code(label) for variable, label in zip(self.variables, labels, strict=True))

    def rows(self) -> Iterator[tuple[tuple[Label, ...], float]]:
        """Iterate over every combination of labels and its probability."""
        combinations = product(*(variable.labels for variable in self.variables))
        return zip(combinations, self._probabilities.ravel().tolist(), strict=True)

    def to_numpy(self) -> np.ndarray:
        """Return the probabilities as an array, one axis per variable."""
        return self._probabilities.copy()

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns: one per variable, and ``probability``."""
        labels = zip(*(labels for labels, _ in self.rows()), strict=True)
        columns: dict[str, list[Any]] = {n: list(column) for n, column in zip(self.names, labels, strict=True)}
        return columns | {free_name("probability", columns): self._probabilities.ravel().tolist()}

    @cached_property
    def groups(self) -> Groups:
        """For every axis the codes with which the lines begin that are shown: neighbouring intervals are joined."""
        return groups_shown(self.variables, self._probabilities)

    def summed_over(self, groups: Groups) -> ProbabilityTable:
        """Return the table of fewer intervals, each the sum of those that are joined, without its support."""
        variables = tuple(joined(variable, starts) for variable, starts in zip(self.variables, groups, strict=True))
        return ProbabilityTable(variables, summed(self._probabilities, groups), self.given)

    def joined_in_words(self) -> list[str]:
        """Return a line that says how many intervals are joined in the lines shown; none if all are shown."""
        pairs = zip(self.variables, self.groups, strict=True)
        fewer = [
            f"{len(variable.present_labels)} intervals" + (f" of {variable.name}" if len(self.variables) > 1 else "")
            for variable, starts in pairs
            if len(starts) < variable.cardinality
        ]
        return [f"{' and '.join(fewer)} are joined here; .to_pandas() has all"] if fewer else []

    def labels_of(self, place: int) -> list[str]:
        """Return the labels of a cell as they are shown; places are those of the table as one line."""
        codes = np.unravel_index(place, self._probabilities.shape)
        return [shortened(variable.labels[code]) for variable, code in zip(self.variables, codes, strict=True)]

    def _lines(self) -> TableText:
        """Return the lines shown, with fewer intervals: a cross table, or one line per combination."""
        shown = self.summed_over(self.groups)
        names, p = self.names, shown._probabilities
        if p.ndim == 2 and p.shape[1] <= 8:
            first, second = shown.variables
            places, note = most_probable(p.sum(axis=1))
            body = [[shortened(first.labels[n]), *(f"{each:.4f}" for each in p[n])] for n in places]
            return TableText([f"{names[0]} \\ {names[1]}", *map(shortened, second.labels)], body, 1, note)
        places, note = most_probable(p.ravel())
        bars = p.ndim == 1
        body = [[*shown.labels_of(n), f"{p.flat[n]:.4f}", *[bar(p.flat[n])] * bars] for n in places]
        return TableText([*names, "probability", *[""] * bars], body, len(names), note)

    def __str__(self) -> str:
        if self.support is not None:
            return str(self.support)
        return self._lines().as_text(self.title, [*self.in_words(), *self.joined_in_words()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if self.support is not None:
            return self.support._repr_html_()
        return self._lines().as_html(self.title, [*self.in_words(), *self.joined_in_words()])


def whole_table(model: Mixture) -> np.ndarray:
    """Return the joint table of all variables, summed over groups of classes to save memory."""
    table = np.zeros(model.domain.cardinalities)
    size = max(1, _NUMBERS_AT_ONCE // table.size)
    for block in model.blocks:
        for classes in partitions(block.rank, size):
            table += marginal(BareMixture((block.classes(classes),), model.domain), range(table.ndim))
    return table


def marginal(model: Mixture, positions: Sequence[int]) -> np.ndarray:
    """Return the joint table of some variables, one axis per variable, each at most once; all others are summed out."""
    shape = [model.domain.cardinalities[n] for n in positions]
    if len(set(positions)) < len(positions):
        raise QueryError("A variable stands twice in the question. Name each once.")
    n_cells = int(np.prod(shape, dtype=object))
    if n_cells > _MOST_CELLS:
        raise QueryError(
            f"The table of {len(shape)} variables has {n_cells:,} cells, more than the {_MOST_CELLS:,} that are worth "
            "writing out. Ask for fewer variables, or draw rows with sample()."
        )
    parts = (part for block in model.blocks for part in _in_groups(block, n_cells))
    return reduce(np.add, (_block_table(part, positions) for part in parts))


def _in_groups(block: Block, n_cells: int) -> Iterator[Block]:
    """Yield a block in groups of classes: in a forest, tables of the question's size are written for every class."""
    if not block.has_edges:
        yield block
        return
    for classes in partitions(block.rank, max(1, _NUMBERS_AT_ONCE // n_cells)):
        yield block.classes(classes)


def _block_table(block: Block, positions: Sequence[int]) -> np.ndarray:
    """Return Σ_f λ_f times the joint table of the variables in class f."""
    trees = tree_tables(block, positions)
    sizes = [len(table) for _, table in trees]
    # One matrix product of two halves, each about the square root of the table's size times the rank.
    half = int(np.searchsorted(np.cumsum(np.log(sizes)), np.log(math.prod(sizes)) / 2)) + 1
    first = _khatri_rao(block, trees[:half]) * block.weights
    axes = [n for nodes, _ in trees for n in nodes]
    table = (first @ _khatri_rao(block, trees[half:]).T).reshape([block.sizes[n] for n in axes])
    return table.transpose([axes.index(n) for n in positions])


def _khatri_rao(block: Block, trees: Sequence[tuple[tuple[int, ...], np.ndarray]]) -> np.ndarray:
    """Return the products of the tables of some trees, a row for each combination of labels, (Π I_n, F)."""
    product_so_far = np.ones((1, block.rank))
    for _, table in trees:
        product_so_far = (product_so_far[:, None, :] * table[None, :, :]).reshape(-1, block.rank)
    return product_so_far
