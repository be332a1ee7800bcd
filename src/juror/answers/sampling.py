"""Draw rows, and fill holes with the most probable labels and numbers or with random draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from juror.answers.block import NO_PARENT, Block, Mixture
from juror.answers.numbers import Centre, centres_of, draw_numbers
from juror.answers.scores import check_rows_possible, class_posteriors, is_product, with_hidden
from juror.domain import Domain
from juror.domain.variable import Variable
from juror.errors import check_count
from juror.kernels import kernels_for
from juror.kernels.random_streams import Stream
from juror.rows.row_messages import RowMessages, rows_at_once
from juror.rows.stacking import Stacking
from juror.runners.local import partitions

# Random numbers in a block, small enough to stay in the cache; the block size does not affect the draws.
_NUMBERS_AT_ONCE = 1 << 15


def generator(seed: int) -> np.random.Generator:
    """Return the random generator of a seed; its numbers differ from those of ``numpy.random.default_rng(seed)``.

    A user may have made the holes with the latter. Filling them with the same numbers would be biased.
    """
    check_count("seed", seed, least=0)
    return Stream.ANSWERS.generator(seed)


def sample(model: Mixture, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n rows of codes, (n, N): first a class for each row, then every variable given the class and its parent."""
    return RowSampler(model).draw(n, rng)


class RowSampler:
    """Draws rows of a mixture; the cumulative tables are kept for further draws."""

    def __init__(self, model: Mixture):
        self._model = model
        self._kept: dict[tuple[int, int], np.ndarray] = {}

    @property
    def domain(self) -> Domain:
        """The domain of the mixture."""
        return self._model.domain

    def draw(self, n: int, rng: np.random.Generator, again: bool = False) -> np.ndarray:
        """Draw n rows of codes, (n, N); with ``again``, prepare for many draws of few rows."""
        return self.draw_in(self.draw_classes(n, rng), rng, again)

    def draw_classes(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the classes of n rows, (n,), counted over all blocks."""
        classes = np.full(n, -1)
        weights = np.cumsum(np.concatenate([block.weights for block in self._model.blocks]))
        _draw(np.zeros(n, dtype=np.int64), (weights / weights[-1])[None], classes, rng)
        return classes

    def draw_in(self, classes: np.ndarray, rng: np.random.Generator, again: bool = False) -> np.ndarray:
        """Draw rows of codes, (n, N), in given classes, (n,); with ``again``, prepare for many draws of few rows."""
        codes = np.full((len(classes), len(self.domain)), -1, dtype=self.domain.code_type, order="F")
        first = 0
        for b, block in enumerate(self._model.blocks):
            rows = np.flatnonzero((classes >= first) & (classes < first + block.rank))
            self._draw_nodes(b, classes[rows] - first, codes, rows, rng, again)
            first += block.rank
        return codes

    def _draw_nodes(
        self, b: int, classes: np.ndarray, codes: np.ndarray, rows: np.ndarray, rng: np.random.Generator, again: bool
    ) -> None:
        """Draw all nodes of the rows of one block into the codes, every parent before its children."""
        block = self._model.blocks[b]
        drawn: dict[int, np.ndarray] = {}
        for n in block.forest.order:
            parent, table = block.forest.parents[n], block.tables[n]
            above = 0 if parent == NO_PARENT else drawn[parent]
            column = np.full(len(classes), -1, dtype=np.int64 if n >= codes.shape[1] else codes.dtype)
            if len(classes) < len(table) * block.rank and not again:
                _draw(np.arange(len(classes)), np.cumsum(table[above, :, classes], axis=1), column, rng)
            else:
                # A class together with a label of the parent selects a distribution.
                _draw(classes * len(table) + above, self._cumulative(b, n), column, rng)
            if block.forest.children[n]:
                drawn[n] = column
            if n < codes.shape[1]:
                codes[rows, n] = column

    def _cumulative(self, b: int, n: int) -> np.ndarray:
        """Return the cumulative probabilities of a node, (F · I_pa, I_n), a row for every class and parent's label."""
        if (b, n) not in self._kept:
            table = self._model.blocks[b].tables[n]
            rows = np.moveaxis(table, 2, 0).reshape(-1, table.shape[1])
            self._kept[b, n] = np.cumsum(rows, axis=1)
        return self._kept[b, n]


class RowsWithNumbers:
    """Draws rows with numbers from a stream of random numbers.

    Parameters
    ----------
    sampler : RowSampler
        Draws their codes.
    rng : numpy.random.Generator
        The random numbers.
    points : mapping of int to number, optional
        By variable, the number that all rows have.
    """

    def __init__(self, sampler: RowSampler, rng: np.random.Generator, points: Mapping[int, Any] | None = None):
        self._sampler, self._rng, self._points = sampler, rng, points or {}

    def classes(self, n: int) -> np.ndarray:
        """Draw the classes of n rows, (n,)."""
        return self._sampler.draw_classes(n, self._rng)

    def rows_in(self, classes: np.ndarray) -> tuple[np.ndarray, dict[int, np.ndarray]]:
        """Draw rows of codes, (n, N), in classes (n,), and by variable of intervals their numbers, (n,)."""
        codes, numbers = self._sampler.draw_in(classes, self._rng), {}
        for k, variable in enumerate(self._sampler.domain):
            if variable.edges is not None:
                numbers[k] = draw_numbers(variable, codes[:, k], self._rng)
                if k in self._points:
                    numbers[k] = np.full(len(codes), self._points[k], dtype=numbers[k].dtype)
        return codes, numbers


def fill_best(
    model: Mixture, codes: np.ndarray, centre: Centre | None, *, are_codes: bool = False
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Fill every hole with its most probable label given the observed cells of its row, and holes of numbers.

    Without a centre, numbers that are cut into intervals have their median, and so have labels that are fractions or
    many whole numbers. Few whole numbers may be codes, and count as labels, and all do if the cells ``are_codes``.
    With a centre, all numbers have it, or their median if they are labels: it is a label, too.

    Returns
    -------
    numpy.ndarray, (n_rows, N)
        The codes without holes.
    dict of int to numpy.ndarray, (n_rows,)
        For every variable of intervals that has holes, the median or mean of its distribution in their rows.
    """
    filled = codes.copy(order="K")
    numbers = {
        n: _NumberHoles(variable, codes[:, n], "median" if centre is None or variable.edges is None else centre)
        for n, variable in enumerate(model.domain)
        if variable.edges is not None
        or (variable.is_numeric and (centre is not None or not (are_codes or variable.may_be_codes)))
    }
    numbers = {n: holes for n, holes in numbers.items() if len(holes.rows)}
    if is_product(model):
        (block,) = model.blocks
        stack = np.ascontiguousarray(np.concatenate(block.factors))
        starts = np.cumsum([0, *model.domain.cardinalities])
        for rows, R in class_posteriors(model, codes):
            kernels_for(codes.size).most_probable(R, stack, starts, filled[rows])
            for n, holes in numbers.items():
                holes.fill(rows, R[codes[rows, n] < 0] @ block.factors[n].T)
        return filled, _as_filled(model.domain, filled, numbers)
    from juror.answers.hole_chances import hole_chances  # imports the solvers, which are slow to import

    check_rows_possible(model, codes)
    holed = np.flatnonzero(np.any(codes < 0, axis=1))
    for some, chances in hole_chances(model, codes[holed]):
        here = holed[some]
        for n, of_labels in chances.items():
            filled[here[codes[here, n] < 0], n] = of_labels.argmax(axis=1)
            if n in numbers:
                numbers[n].fill(here, of_labels)
    return filled, _as_filled(model.domain, filled, numbers)


def _as_filled(domain: Domain, filled: np.ndarray, numbers: Mapping[int, _NumberHoles]) -> dict[int, np.ndarray]:
    """Return the numbers of intervals, (n_rows,) by variable; a median of labels is a label, and enters the codes."""
    within: dict[int, np.ndarray] = {}
    for n, holes in numbers.items():
        if domain[n].edges is not None:
            within[n] = holes.numbers
        else:
            code_of = {label: code for code, label in enumerate(domain[n].labels)}
            filled[holes.rows, n] = [code_of[label] for label in holes.numbers[holes.rows].tolist()]
    return within


class _NumberHoles:
    """The holes of a column of numbers, which are filled piece by piece."""

    def __init__(self, variable: Variable, codes: np.ndarray, centre: Centre):
        self._variable, self._centre = variable, centre
        self._is_hole = codes < 0
        self.rows = np.flatnonzero(self._is_hole)
        self.numbers = np.zeros(len(codes), dtype=object)

    def fill(self, rows: slice | np.ndarray, chances: np.ndarray) -> None:
        """Fill the holes of some rows, from the probabilities of the labels in each hole (n_holes, cardinality)."""
        here = np.arange(len(self._is_hole))[rows]
        self.numbers[here[self._is_hole[here]]] = centres_of(self._variable, chances, self._centre)


def fill_at_random(
    model: Mixture, codes: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Fill the holes of every row with one draw from their joint distribution given the observed cells.

    Returns what :func:`fill_best` does.
    """
    filled = codes.copy(order="K")
    for rows, R in class_posteriors(model, codes):
        classes = kernels_for(codes.size).draw_columns(R, rng.random(len(R)))
        if is_product(model):
            for n, factor in enumerate(model.blocks[0].factors):
                _draw(classes, np.cumsum(factor.T, axis=1), filled[rows, n], rng)
        else:
            filled[rows] = _drawn_in_classes(model, filled[rows], classes, rng)
    numbers = [n for n, v in enumerate(model.domain) if v.edges is not None and np.any(codes[:, n] < 0)]
    return filled, {n: draw_numbers(model.domain[n], filled[:, n], rng) for n in numbers}


def _drawn_in_classes(model: Mixture, codes: np.ndarray, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return codes (rows, N) with their holes filled, given the class of every row, counted over all blocks.

    Every row uses as many random numbers as the largest block has nodes, with or without holes.
    """
    filled, first = codes.copy(), 0
    uniform = rng.random((len(codes), max(len(block.tables) for block in model.blocks)))
    for block in model.blocks:
        some = np.flatnonzero((classes >= first) & (classes < first + block.rank))
        first += block.rank
        if block.is_hidden_tree(codes.shape[1]):
            filled[some] = _drawn_along(block, codes[some], uniform[some])
            continue
        whole = np.ascontiguousarray(with_hidden(block, codes[some]), dtype=np.int32)
        stacking = Stacking(block.sizes, block.forest)
        kernels_for(codes.size).draw_holes(
            whole,
            classes[some] - (first - block.rank),
            stacking.stack(block.tables),
            stacking.starts.astype(np.int64),
            np.array(block.sizes),
            block.parents,
            np.array(block.forest.order),
            np.ascontiguousarray(uniform[some, : len(block.tables)]),
        )
        filled[some] = whole[:, : codes.shape[1]]
    return filled


def _drawn_along(block: Block, codes: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return codes (rows, N) with their holes filled along a tree with hidden nodes."""
    filled, tables = codes.copy(), block.tables_of_one
    for rows in partitions(len(codes), rows_at_once(tables)):
        drawn = RowMessages.of(codes[rows], block.forest, tables).drawn(uniform[rows])
        filled[rows] = drawn[:, : codes.shape[1]]
    return filled


def _draw(classes: np.ndarray, cumulative: np.ndarray, column: np.ndarray, rng: np.random.Generator) -> None:
    """Draw labels into the holes of a column, (rows,), from the cumulative probabilities (F, I) of each row's class.

    Every row uses one random number, with or without a hole, so that a draw does not depend on the holes of other rows.
    """
    cumulative, draw = np.ascontiguousarray(cumulative), kernels_for(len(column)).draw_labels
    for rows in partitions(len(column), _NUMBERS_AT_ONCE):
        draw(classes[rows], cumulative, rng.random(len(column[rows])), column[rows])
