"""One pass over a table of any size: what every variable and every pair of them shows, and a sample of rows.

Weights are counts, so rows of a weighted table are drawn in proportion to them, with replacement. A row of weight w has
arrivals at −log(u₁) / w, −log(u₁) / w − log(u₂) / w, …, a Poisson process of that rate, and the first n arrivals of all
rows are n such draws: whatever the order of the rows, and in one pass. Where all rows fit into the sample they are
taken as they are, with their weights; without weights rows are drawn without replacement.

Chance goes by the number of a row in its table, so that the same rows are drawn from a frame as from a file that holds
it, with any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from juror.domain import Domain
from juror.errors import DataError, check_count
from juror.kernels.reference import uniform
from juror.sources.columns import Column
from juror.sources.runners import LocalRunner
from juror.sources.scans import Part, numbered
from juror.sources.weights import check_total, take_weights
from juror.statistics.counting import count_tables
from juror.statistics.groups import pairs_of
from juror.statistics.plans import Positions
from juror.statistics.reading import open_table
from juror.variable import Strangers, Unknown

# Rows of several files, or of the parts of a cluster's frame, are numbered part by part
_ROWS_A_PART = 2**40


@dataclass(frozen=True)
class RowSample:
    """Rows drawn from a table: those of the smallest random numbers.

    Attributes
    ----------
    codes : numpy.ndarray, (n, N)
        Codes, −1 for missing.
    weights : numpy.ndarray, (n,)
        How often each row counts.
    chances : numpy.ndarray, (n,)
        The random numbers, or times of arrival.
    rows : numpy.ndarray of int64, (n,)
        The row's number as juror's messages count: from 0, in its file or frame.
    origins : numpy.ndarray of object, (n,)
        The file that the row is from, where there are several; else empty.
    """

    codes: np.ndarray
    weights: np.ndarray
    chances: np.ndarray
    rows: np.ndarray
    origins: np.ndarray

    def __len__(self) -> int:
        return len(self.weights)

    def chosen(self, which: np.ndarray | slice) -> RowSample:
        """Return some of the rows."""
        return RowSample(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    def first(self, n: int) -> RowSample:
        """Return at most so many rows: again a sample of the same kind."""
        return self.chosen(np.argsort(self.chances, kind="stable")[:n])

    def merged(self, other: RowSample, n: int) -> RowSample:
        """Return the sample of at most n rows of both tables."""
        both = ((getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__)
        return RowSample(*map(np.concatenate, both)).first(n)

    def distinct(self) -> RowSample:
        """Merge equal rows and add up their weights; each keeps the number of the first, and they come in that order.

        Their chances are those of the first rows, and no sample any more.
        """
        ordered = self.chosen(np.lexsort((self.rows, self.origins.astype(str))))
        _, first, places = np.unique(ordered.codes, axis=0, return_index=True, return_inverse=True)
        weights = np.bincount(places.ravel(), ordered.weights, minlength=len(first))
        order = np.argsort(first)
        return replace(ordered.chosen(first[order]), weights=weights[order])


@dataclass(frozen=True)
class Seen:
    """What a pass over a table, or over a part of it, has seen.

    Attributes
    ----------
    tables : tuple of numpy.ndarray
        Counts of every variable, (I_n,), then of every pair, (I_j, I_k), over rows where the cells are seen.
    held : RowSample
        Rows as they are: all, or where there are more, some that are drawn without looking at weights.
    drawn : RowSample
        Rows of a table with weights, drawn in proportion to these, each draw counting once; else none.
    strangers : Strangers
        Labels that the domain does not know.
    n_rows, n_counted : int
        How many rows there are, and how many with weights above zero.
    total : float
        The sum of these weights.
    """

    tables: tuple[np.ndarray, ...]
    held: RowSample
    drawn: RowSample
    strangers: Strangers
    n_rows: int
    n_counted: int
    total: float

    @property
    def is_sampled(self) -> bool:
        """Whether there are more rows than those to judge by."""
        return len(self.held) < self.n_counted

    @property
    def sample(self) -> RowSample:
        """The rows to judge by: all of them with their weights, or as many as were to be drawn."""
        return self.drawn if self.is_sampled and len(self.drawn) else self.held

    def merged(self, other: Seen, n_sampled: int) -> Seen:
        """Return what both have seen."""
        return Seen(
            tuple(a + b for a, b in zip(self.tables, other.tables, strict=True)),
            self.held.merged(other.held, n_sampled),
            self.drawn.merged(other.drawn, n_sampled),
            self.strangers + other.strangers,
            self.n_rows + other.n_rows,
            self.n_counted + other.n_counted,
            self.total + other.total,
        )


@dataclass(frozen=True)
class _Pass:
    """How parts of a table are passed over."""

    domain: Domain
    groups: tuple[Positions, ...]
    unknown: Unknown
    weight: str | None
    n_sampled: int
    seed: int

    def of_part(self, part: Part) -> Seen:
        seen, before = self.nothing(), None
        for columns in part.chunks():
            if before is None:
                # the parts of one file count on; each of several files, and of a cluster's frame, begins at 0
                is_apart = bool(columns[0].origin) or columns[0].first_row == 0
                before = _ROWS_A_PART * getattr(part, "number", 0) if is_apart else 0
            seen = self.merge(seen, self.of_chunk(columns, before))
        return seen

    def merge(self, one: Seen, other: Seen) -> Seen:
        return one.merged(other, self.n_sampled)

    def nothing(self) -> Seen:
        sizes = self.domain.cardinalities
        codes = np.empty((0, len(self.domain)), dtype=self.domain.code_type)
        empty, rows = np.empty(0), np.empty(0, dtype=np.int64)
        none = RowSample(codes, empty, empty, rows, np.empty(0, dtype=object))
        tables = tuple(np.zeros([sizes[n] for n in group]) for group in self.groups)
        return Seen(tables, none, none, Strangers(), 0, 0, 0.0)

    def of_chunk(self, columns: list[Column], before: int) -> Seen:
        n_rows, weights = len(columns[0].index), None
        rows, origin = columns[0].first_row + np.arange(n_rows), columns[0].origin
        if self.weight is not None:
            columns, weights = take_weights(columns, self.weight)
            if not np.all(weights > 0):
                # rows of weight zero are not looked at
                columns = [replace(column, index=column.index[weights > 0]) for column in columns]
                rows, weights = rows[weights > 0], weights[weights > 0]
        # a variable whose column is absent is missing in every row
        codes, strangers = self.domain.encode_chunk(columns, self.unknown)
        tables = count_tables(codes, self.domain.cardinalities, self.groups, weights, LocalRunner(1))
        origins = np.full(len(codes), origin, dtype=object)
        drawn = self.nothing().drawn
        if weights is None:
            weights = np.ones(len(codes))
        elif len(codes):
            chosen, times = arrivals(weights, before + rows, self.n_sampled, self.seed)
            drawn = RowSample(codes[chosen], np.ones(len(chosen)), times, rows[chosen], origins[chosen])
        chances = uniform(key_of(self.seed), before + rows)
        held = RowSample(codes, weights, chances, rows, origins).first(self.n_sampled)
        return Seen(tuple(tables), held, drawn, strangers, n_rows, len(codes), float(weights.sum()))


def key_of(seed: int, turn: int = 0) -> int:
    """Return the key of a stream of random numbers: one for every turn of a seed."""
    return int(np.random.SeedSequence([seed, 11, turn]).generate_state(1, np.uint64)[0])


def arrivals(weights: np.ndarray, numbers: np.ndarray, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first n arrivals of rows, each a Poisson process whose rate is the row's weight.

    Parameters
    ----------
    weights : numpy.ndarray, (n_rows,)
        Rates, above zero.
    numbers : numpy.ndarray of int64, (n_rows,)
        The numbers of the rows, by which chance goes.
    n : int
        How many arrivals.
    seed : int
        The source of chance.

    Returns
    -------
    rows, times : numpy.ndarray, (n,)
        Which rows arrive, a row as often as it does, and when.
    """
    rows, times = np.empty(0, dtype=np.int64), np.empty(0)
    last, going, turn = np.zeros(len(weights)), np.arange(len(weights)), 0
    while len(going):
        with np.errstate(divide="ignore"):
            last[going] -= np.log(uniform(key_of(seed, turn + 1), numbers[going])) / weights[going]
        rows, times = np.append(rows, going), np.append(times, last[going])
        first = np.argsort(times, kind="stable")[:n]
        rows, times, turn = rows[first], times[first], turn + 1
        # a row goes on for as long as its next arrival may be among the first
        going = going[last[going] <= (times[-1] if len(times) == n else np.inf)]
    return rows, times


def pass_over(
    data: Any,
    domain: Domain,
    *,
    unknown: Unknown = "error",
    weight: Any = None,
    n_sampled: int = 5_000,
    seed: int = 0,
    n_jobs: int | None = None,
    client: Any = None,
) -> Seen:
    """Count every variable and every pair of a table, and draw some of its rows.

    Parameters
    ----------
    data : frame, mapping, array, path or stream
        Rows, as in :func:`juror.fit`; columns that the domain has and the table has not are missing in every row.
    domain : Domain
        The variables.
    unknown : {"error", "warn", "missing"}
        What to do with labels that the domain does not know.
    weight : array-like (n_rows,) or str, optional
        How often each row counts, or the name of the column that says so.
    n_sampled : int
        How many rows to draw, in proportion to their weights; all, where there are no more.
    seed : int
        The same seed draws the same rows.
    n_jobs, client : optional
        Who reads the rows, as in :func:`juror.fit`.

    Examples
    --------
    >>> seen = pass_over({"x0": [0, 1, 1], "x1": [0, None, 1]}, Domain.from_cardinalities([2, 2]), n_sampled=2)
    >>> [table.tolist() for table in seen.tables]
    [[1.0, 2.0], [1.0, 1.0], [[1.0, 0.0], [0.0, 1.0]]]
    >>> seen.n_rows, len(seen.sample)
    (3, 2)
    """
    check_count("n_sampled", n_sampled)
    check_count("seed", seed, least=0)
    groups = (*((n,) for n in range(len(domain))), *pairs_of(len(domain)))
    opened = open_table(data, domain, (), unknown, weight)
    how = _Pass(domain, groups, unknown, opened.weight, n_sampled, int(seed))
    with LocalRunner(n_jobs) as local:
        opened, runner = opened.with_workers(client, local)
        parts = numbered(opened.scan.parts)
        seen: Seen = runner.map_reduce(partial(_Pass.of_part, how), parts, partial(_Pass.merge, how))
    if seen.n_rows == 0:
        raise DataError("The data have no rows. juror needs at least one.")
    if opened.weight is not None:
        check_total(seen.total, seen.n_counted)
    seen.strangers.warn()
    return seen
