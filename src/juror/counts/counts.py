"""Counts of pairs and of triples: how often labels of two or three variables occur together.

A pair is counted over the rows in which neither cell is missing. So every table has its own number of rows, which is
its sum. Counts of two parts of a table add up to those of the whole.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations
from typing import Any, Self

import numpy as np

from juror.counts.counts_of_groups import Counts
from juror.counts.groups import Triples, choose_triples, pairs_and_singles
from juror.domain import Domain
from juror.domain.variable import Label, Unknown
from juror.errors import DataError
from juror.readers.weights import check_weights
from juror.rows.reading import OpenTable, open_table
from juror.rows.table import Table
from juror.runners.local import LocalRunner


class PairCounts(Counts):
    """How often every two labels of every two variables occur together.

    Examples
    --------
    >>> counts = PairCounts.of({"a": ["x", "y", "x"], "b": [1, 0, None]})
    >>> counts.table("a", "b").to_numpy().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    >>> (counts + counts).totals.tolist()
    [4.0]
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.groups != tuple(combinations(range(len(self.domain)), 2)):
            n = len(self.domain)
            raise DataError(f"{n} variables have {n * (n - 1) // 2} pairs, and each needs its table.")

    def pair(self, one: int, other: int) -> np.ndarray:
        """Return the table of the variables at two positions, (I_one, I_other)."""
        if one > other:
            return self.pair(other, one).T
        # The pairs before those of the first variable, and those of the first before the second
        return self.tables[one * (2 * len(self.domain) - one - 1) // 2 + other - one - 1]

    @classmethod
    def of(
        cls,
        data: Any,
        domain: Domain | None = None,
        *,
        missing: Collection[Label] = (),
        unknown: Unknown = "error",
        sample_weight: Any = None,
        n_jobs: int | None = None,
        client: Any = None,
    ) -> Self:
        """Count the pairs of a table; arguments as in :func:`juror.fit`.

        Files and streams of any size are counted while they are read: in one pass, or in two if a column holds numbers,
        whose intervals are found first.
        """
        with LocalRunner(n_jobs) as local:
            return cls.of_table(open_table(data, domain, missing, unknown, sample_weight, local, client))

    @classmethod
    def of_table(cls, opened: OpenTable) -> Self:
        """Count the pairs of a table that is open."""
        return cls._of_table(opened, lambda names: pairs_and_singles(len(names)))

    @classmethod
    def of_codes(cls, codes: np.ndarray, domain: Domain, weights: Any = None, n_jobs: int | None = None) -> Self:
        """Count the pairs of a table of codes, such as :meth:`Domain.encode` gives.

        Parameters
        ----------
        codes : numpy.ndarray of integers, (n_rows, N)
            Positions among the labels, −1 for missing. Fastest if columns are contiguous and of one byte.
        domain : Domain
            The variables.
        weights : array-like, (n_rows,), optional
            How often each row counts.
        n_jobs : int, optional
            How many threads; all cores by default, and for −1.

        Examples
        --------
        >>> counts = PairCounts.of_codes(np.array([[1, 2], [1, -1]]), Domain.from_cardinalities([2, 3]))
        >>> counts.tables[0].tolist()
        [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
        """
        weights = None if weights is None else check_weights(weights, len(codes))
        return cls._count(np.asarray(codes), domain, pairs_and_singles(len(domain)), weights, n_jobs)

    @classmethod
    def of_rows(cls, table: Table) -> Self:
        """Count the pairs of a table, whose rows need not be in memory."""
        groups = pairs_and_singles(len(table.domain))
        return cls._of_groups(table.domain, groups, table.joint_counts(groups), table.total)

    @classmethod
    def zero(cls, domain: Domain) -> Self:
        """Return the counts of no rows, to which others can be added."""
        return cls._zero(domain, pairs_and_singles(len(domain)))


class TripleCounts(Counts):
    """How often every three labels of three variables occur together, for all or some triples of variables.

    Examples
    --------
    >>> counts = TripleCounts.of({"a": [0, 1], "b": [1, 0], "c": [0, 2]})
    >>> counts.table("c", "a", "b").shape
    (2, 2, 2)
    """

    @classmethod
    def of(
        cls,
        data: Any,
        domain: Domain | None = None,
        *,
        triples: Triples = "all",
        seed: int = 0,
        missing: Collection[Label] = (),
        unknown: Unknown = "error",
        sample_weight: Any = None,
        n_jobs: int | None = None,
        client: Any = None,
    ) -> Self:
        """Count triples of a table.

        Parameters
        ----------
        data, domain, missing, unknown, sample_weight, n_jobs, client
            As in :func:`juror.fit`.
        triples : "all", int, or sequence of three names each
            Which triples of variables: all, a number of random ones that include every variable, or a list.
        seed : int
            The seed of the random triples.
        """
        with LocalRunner(n_jobs) as local:
            return cls.of_table(open_table(data, domain, missing, unknown, sample_weight, local, client), triples, seed)

    @classmethod
    def of_table(cls, opened: OpenTable, triples: Triples = "all", seed: int = 0) -> Self:
        """Count triples of a table that is open."""
        return cls._of_table(opened, lambda names: choose_triples(names, triples, seed))

    @classmethod
    def of_codes(
        cls,
        codes: np.ndarray,
        domain: Domain,
        weights: Any = None,
        n_jobs: int | None = None,
        *,
        triples: Triples = "all",
        seed: int = 0,
    ) -> Self:
        """Count triples of a table of codes; arguments as in :meth:`PairCounts.of_codes` and :meth:`of`.

        Examples
        --------
        >>> codes = np.array([[0, 1, 0], [1, 0, 0]])
        >>> TripleCounts.of_codes(codes, Domain.from_cardinalities([2, 2, 1])).totals.tolist()
        [2.0]
        """
        weights = None if weights is None else check_weights(weights, len(codes))
        return cls._count(np.asarray(codes), domain, choose_triples(domain.names, triples, seed), weights, n_jobs)

    @classmethod
    def of_rows(cls, table: Table, triples: Triples = "all", seed: int = 0) -> Self:
        """Count triples of a table, whose rows need not be in memory."""
        groups = choose_triples(table.domain.names, triples, seed)
        return cls(table.domain, tuple(groups), tuple(table.joint_counts(groups)), table.total)

    @classmethod
    def zero(cls, domain: Domain, triples: Triples = "all", seed: int = 0) -> Self:
        """Return the counts of no rows, to which others can be added."""
        return cls._zero(domain, choose_triples(domain.names, triples, seed))
