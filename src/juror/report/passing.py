"""One pass over a table of any size: what every variable and every pair of them shows, and a sample of rows.

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
    """Rows drawn uniformly from a table: those of the smallest random numbers.

    Attributes
    ----------
    codes : numpy.ndarray, (n, N)
        Codes, −1 for missing.
    weights : numpy.ndarray, (n,)
        How often each row counts.
    chances : numpy.ndarray, (n,)
        The random numbers, rising.
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
        """Return at most so many rows: again a uniform sample."""
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
    sample : RowSample
        Some rows.
    strangers : Strangers
        Labels that the domain does not know.
    n_rows, n_counted : int
        How many rows there are, and how many with weights above zero.
    total : float
        The sum of these weights.
    """

    tables: tuple[np.ndarray, ...]
    sample: RowSample
    strangers: Strangers
    n_rows: int
    n_counted: int
    total: float

    def merged(self, other: Seen, n_sampled: int) -> Seen:
        """Return what both have seen."""
        return Seen(
            tuple(a + b for a, b in zip(self.tables, other.tables, strict=True)),
            self.sample.merged(other.sample, n_sampled),
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
    key: int

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
        sample = RowSample(codes, empty, empty, rows, np.empty(0, dtype=object))
        tables = tuple(np.zeros([sizes[n] for n in group]) for group in self.groups)
        return Seen(tables, sample, Strangers(), 0, 0, 0.0)

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
        weights = np.ones(len(codes)) if weights is None else weights
        chances = uniform(self.key, before + rows)
        some = np.argsort(chances, kind="stable")[: self.n_sampled]
        origins = np.full(len(some), origin, dtype=object)
        sample = RowSample(codes[some], weights[some], chances[some], rows[some], origins)
        return Seen(tuple(tables), sample, strangers, n_rows, len(codes), float(weights.sum()))


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
        How many rows to draw, each as likely as any other; all, where there are no more.
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
    key = int(np.random.SeedSequence([int(seed), 11]).generate_state(1, np.uint64)[0])
    how = _Pass(domain, groups, unknown, opened.weight, n_sampled, key)
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
