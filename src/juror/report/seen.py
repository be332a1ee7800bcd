"""One pass over a table of any size: counts of every variable and of every pair, and a sample of rows.

Weights are counts, so rows are drawn in proportion to their weights, and every draw counts once. A row of weight w
first arrives after the time E₁ / w, again after another E₂ / (w − 1), then E₃ / (w − 2), …, until its weight is used
up. E₁, E₂, … are exponential variables of mean one. The first n arrivals of all rows are n draws without replacement
from the table in which every row is repeated by its weight. If some weight is a fraction, every wait is E / w, there is
no end, and the draws are with replacement.

A row that is not among the n rows that arrive first has no share in the first n arrivals. So a pass keeps n rows in any
order, and parts can be merged; the number of draws of each row is found at the end. If all rows fit, they are kept with
their weights and nothing is drawn. The random numbers of a row depend only on the seed and on the number of the row in
its table, so a frame and a file with the same rows give the same draws, for any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from juror.counts.counting import count_tables
from juror.counts.plans import Positions
from juror.domain import Domain
from juror.domain.variable import Strangers, Unknown
from juror.errors import ParameterError, check_count
from juror.kernels.random_streams import Stream
from juror.kernels.reference.random_numbers import uniform
from juror.readers.scans import Part, numbered
from juror.readers.weights import WeightSums, counted_rows
from juror.rows.pieces import ROWS_A_PART
from juror.rows.reading import open_table
from juror.runners.local import LocalRunner, check_any_rows


@dataclass(frozen=True)
class RowSample:
    """Rows of a table.

    Attributes
    ----------
    codes : numpy.ndarray, (n, N)
        Codes, −1 for missing.
    weights : numpy.ndarray, (n,)
        How often each row counts.
    chances : numpy.ndarray, (n,)
        Arrival time of each row.
    numbers : numpy.ndarray of int64, (n,)
        Number of the row in the whole table; its random numbers depend on it.
    rows : numpy.ndarray of int64, (n,)
        Number of the row as in juror's messages: from 0, in its file or frame.
    origins : numpy.ndarray of object, (n,)
        The row's file if there are several, else empty.
    """

    codes: np.ndarray
    weights: np.ndarray
    chances: np.ndarray
    numbers: np.ndarray
    rows: np.ndarray
    origins: np.ndarray

    @classmethod
    def of(
        cls, codes: np.ndarray, weights: np.ndarray, before: int, rows: np.ndarray, origin: str, seed: int
    ) -> RowSample:
        """Return the rows of one file or frame; ``before`` is the number of its first row in the whole table."""
        numbers, origins = before + rows, np.full(len(codes), origin, dtype=object)
        return cls(codes, weights, waits(weights, numbers, seed, 0), numbers, rows, origins)

    def __len__(self) -> int:
        return len(self.weights)

    def chosen(self, which: np.ndarray | slice) -> RowSample:
        """Return some of the rows."""
        return RowSample(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    def first(self, n: int) -> RowSample:
        """Return the n rows that arrive first, in order of arrival."""
        return self.chosen(np.argsort(self.chances, kind="stable")[:n])

    def merged(self, other: RowSample, n: int) -> RowSample:
        """Return the n rows of both that arrive first."""
        both = ((getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__)
        return RowSample(*map(np.concatenate, both)).first(n)

    def distinct(self) -> RowSample:
        """Merge equal rows and add their weights. A merged row has the number of the first, and rows are in that order.

        The arrival times have no meaning after this.
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
        Counts of every variable, (I_n,), then of every pair, (I_j, I_k), over rows whose cells are not missing.
    held : RowSample
        The first rows to arrive, at most ``n_sampled``, with their weights, all above zero.
    strangers : Strangers
        Labels that the domain does not know.
    n_rows : int
        Number of rows.
    weights : WeightSums
        Sums of the weights of all rows.
    n_sampled : int
        How many rows can be drawn.
    seed : int
        Seed of the draws.
    """

    tables: tuple[np.ndarray, ...]
    held: RowSample
    strangers: Strangers
    n_rows: int
    weights: WeightSums
    n_sampled: int
    seed: int

    @property
    def is_sampled(self) -> bool:
        """Whether there are more rows than can be drawn."""
        return self.weights.n_counted > self.n_sampled

    def draw(self, n: int) -> RowSample:
        """Return all rows with their weights; if there are more than n, return n draws, each of weight one.

        The draws for a smaller n are the first draws for a larger n. A row that is drawn twice is there twice.

        Parameters
        ----------
        n : int
            Number of draws, at most ``n_sampled``.

        Examples
        --------
        >>> seen = pass_over({"x0": [0, 1]}, Domain.from_cardinalities([2]), weight=[1, 999])
        >>> seen.draw(2).rows.tolist(), seen.draw(2).weights.tolist()
        ([1, 0], [999.0, 1.0])
        >>> seen.draw(1).rows.tolist(), seen.draw(1).weights.tolist()
        ([1], [1.0])
        """
        check_count("n", n)
        if n > self.n_sampled:
            raise ParameterError(f"n must be at most {self.n_sampled}, the n_sampled of the pass. Got {n} instead.")
        if self.weights.n_counted <= n:
            return self.held
        which, times = arrivals(self.held.weights, self.held.numbers, n, self.seed, self.weights.are_whole)
        return replace(self.held.chosen(which), weights=np.ones(len(which)), chances=times)

    def merged(self, other: Seen) -> Seen:
        """Return what both have seen."""
        return Seen(
            tuple(a + b for a, b in zip(self.tables, other.tables, strict=True)),
            self.held.merged(other.held, self.n_sampled),
            self.strangers + other.strangers,
            self.n_rows + other.n_rows,
            self.weights + other.weights,
            self.n_sampled,
            self.seed,
        )


@dataclass(frozen=True)
class _Pass:
    """How to pass over a part of a table."""

    domain: Domain
    groups: tuple[Positions, ...]
    unknown: Unknown
    weight: str | None
    n_sampled: int
    seed: int

    def of_part(self, part: Part) -> Seen:
        """Return what is seen in a part, chunk by chunk."""
        seen, before = None, 0
        for columns in part.chunks():
            if seen is None and (columns[0].origin or columns[0].first_row == 0):
                # Rows of one file are numbered across its parts. Other parts each start at 0.
                before = ROWS_A_PART * getattr(part, "number", 0)
            rows = columns[0].first_row + np.arange(len(columns[0].index))
            kept, weights, counted = counted_rows(columns, self.weight)
            # A variable without a column is missing in every row.
            codes, strangers = self.domain.encode_chunk(kept, self.unknown)
            tables = count_tables(codes, self.domain.cardinalities, self.groups, weights, LocalRunner(1))
            weights = np.ones(len(codes)) if weights is None else weights
            held = RowSample.of(codes, weights, before, rows[counted], columns[0].origin, self.seed)
            chunk = self._seen(tables, held, strangers, len(rows))
            seen = chunk if seen is None else seen.merged(chunk)
        return self.nothing() if seen is None else seen

    def nothing(self) -> Seen:
        """Return what is seen in a part without rows."""
        sizes = self.domain.cardinalities
        codes = np.empty((0, len(self.domain)), dtype=self.domain.code_type)
        empty, rows = np.empty(0), np.empty(0, dtype=np.int64)
        none = RowSample(codes, empty, empty, rows, rows, np.empty(0, dtype=object))
        tables = tuple(np.zeros([sizes[n] for n in group]) for group in self.groups)
        return Seen(tables, none, Strangers(), 0, WeightSums(), self.n_sampled, self.seed)

    def _seen(self, tables: Sequence[np.ndarray], rows: RowSample, strangers: Strangers, n_rows: int) -> Seen:
        """Return what is seen in a chunk of n_rows, of which some have weights above zero."""
        held, weights = rows.first(self.n_sampled), WeightSums.of(rows.weights)
        return Seen(tuple(tables), held, strangers, n_rows, weights, self.n_sampled, self.seed)


def waits(rates: np.ndarray, numbers: np.ndarray, seed: int, turn: int) -> np.ndarray:
    """Return how long rows (n_rows,) wait for their next arrival; every turn has its own random numbers."""
    seeds = Stream.ARRIVALS.generator(seed, turn).bit_generator.seed_seq
    key = int(seeds.generate_state(1, np.uint64)[0])
    return np.asarray(-np.log1p(-uniform(key, numbers)) / rates)


def arrivals(
    weights: np.ndarray, numbers: np.ndarray, n: int, seed: int, is_whole: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first n arrivals of rows, or all if the weights are integers and sum to less than n.

    Parameters
    ----------
    weights : numpy.ndarray, (n_rows,)
        How often each row counts, above zero.
    numbers : numpy.ndarray of int64, (n_rows,)
        The numbers of the rows; their random numbers depend on them.
    n : int
        Number of arrivals.
    seed : int
        Seed of the random numbers.
    is_whole : bool
        Whether the weights are integers. A row then arrives at most as often as it counts: no replacement.

    Returns
    -------
    rows, times : numpy.ndarray, (n,)
        The rows in order of arrival, and the times.
    """
    rows, times = np.empty(0, dtype=np.int64), np.empty(0)
    last, going, turn = np.zeros(len(weights)), np.arange(len(weights)), 0
    while len(going):
        rates = weights[going] - turn if is_whole else weights[going]
        last[going] += waits(rates, numbers[going], seed, turn)
        rows, times = np.append(rows, going), np.append(times, last[going])
        first = np.argsort(times, kind="stable")[:n]
        rows, times, turn = rows[first], times[first], turn + 1
        # A row goes on while its next arrival may be among the first n.
        going = going[last[going] <= (times[-1] if len(times) == n else np.inf)]
        going = going[weights[going] > turn] if is_whole else going
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
) -> Seen:
    """Count every variable and every pair of a table, and keep a sample of rows.

    Parameters
    ----------
    data : frame, mapping, array, path or stream
        Rows, as in :func:`juror.fit`. A variable without a column is missing in every row.
    domain : Domain
        The variables.
    unknown : {"error", "warn", "missing"}
        What to do with labels that the domain does not know.
    weight : array-like (n_rows,) or str, optional
        How often each row counts, or the name of the column that says so.
    n_sampled : int
        How many rows can be drawn at most; see :meth:`Seen.draw`.
    seed : int
        The same seed draws the same rows.
    n_jobs : int, optional
        Threads that read the rows, as in :func:`juror.fit`.

    Examples
    --------
    >>> seen = pass_over({"x0": [0, 1, 1], "x1": [0, None, 1]}, Domain.from_cardinalities([2, 2]), n_sampled=2)
    >>> [table.tolist() for table in seen.tables]
    [[1.0, 2.0], [1.0, 1.0], [[1.0, 0.0], [0.0, 1.0]]]
    >>> seen.n_rows, len(seen.draw(2))
    (3, 2)
    """
    variables = range(len(domain))
    groups = (*((n,) for n in variables), *combinations(variables, 2))
    check_count("n_sampled", n_sampled)
    check_count("seed", seed, least=0)
    with LocalRunner(n_jobs) as local:
        opened = open_table(data, domain, (), unknown, weight, local, choose=domain.known)
        how = _Pass(domain, groups, unknown, opened.weight, int(n_sampled), int(seed))
        parts = numbered(opened.scan.parts)
        seen: Seen = opened.runner.map_reduce(partial(_Pass.of_part, how), parts, Seen.merged)
    check_any_rows(seen.n_rows)
    if opened.weight is not None:
        seen.weights.check()
    seen.strangers.warn()
    return seen
