"""Counts of groups of variables: tables that add up, which PairCounts and TripleCounts make and read alike."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NotRequired, Self, TypedDict

import numpy as np

from juror.counts.counting import count_tables
from juror.counts.labelled import count_known, count_labelled, placed, places_of
from juror.counts.plans import Positions
from juror.domain import Domain
from juror.errors import DataError, shortlist
from juror.files import container
from juror.files.schema import check
from juror.readers.weights import MOST_WEIGHT
from juror.record import Amount, Count
from juror.rows.reading import OpenTable
from juror.runners.local import LocalRunner

if TYPE_CHECKING:
    import pandas as pd

# Tables whose cells are checked together: of hundreds of thousands of small tables, one by one takes seconds.
_CHECKED_AT_ONCE = 1000
_MOST = f"none above {MOST_WEIGHT:g}, as larger floats do not count exactly"


class CountsEntries(TypedDict):
    """The entries of a file of counts in its header, besides those of every file."""

    groups: list[list[Count]]
    n_rows: NotRequired[Amount | None]
    singles: NotRequired[list[list[Amount]] | None]


@dataclass(frozen=True, eq=False)
class Counts:
    """Tables of counts of some groups of variables; what :class:`PairCounts` and :class:`TripleCounts` share.

    Attributes
    ----------
    domain : Domain
        The variables.
    groups : tuple of tuples of int
        The positions of the variables of every table, rising.
    tables : tuple of numpy.ndarray
        One table per group, in the same order, (I_a, I_b, …).
    n_rows : float, optional
        The weight of all rows that were counted, including those with missing cells; None if it is unknown.
    singles : tuple of numpy.ndarray, optional
        How often every label of every variable occurs, (I_n,) each, over the rows in which the variable is not missing;
        None if it was not counted, as for triples and in files of earlier versions.
    """

    domain: Domain
    groups: tuple[Positions, ...]
    tables: tuple[np.ndarray, ...]
    n_rows: float | None = None
    singles: tuple[np.ndarray, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.groups) != len(self.tables):
            raise DataError(f"There are {len(self.groups)} groups of variables but {len(self.tables)} tables.")
        for group in self.groups:
            if list(group) != sorted(set(group)) or not 0 <= min(group) <= max(group) < len(self.domain):
                raise DataError(
                    f"A group is the rising positions of different variables, from 0 to {len(self.domain) - 1}. Got "
                    f"{tuple(group)}."
                )
        if len(set(self.groups)) < len(self.groups):
            raise DataError("A group of variables has two tables. Give one.")
        # sorted, so that counts of the same groups can be added and solvers find them
        by_group = {tuple(group): np.asarray(t, dtype=float) for group, t in zip(self.groups, self.tables, strict=True)}
        object.__setattr__(self, "groups", tuple(sorted(by_group)))
        object.__setattr__(self, "tables", tuple(by_group[group] for group in self.groups))
        cardinalities = self.domain.cardinalities
        for group, table in zip(self.groups, self.tables, strict=True):
            expected = tuple([cardinalities[n] for n in group])
            if table.shape != expected:
                raise DataError(
                    f"The table of {self._names(group)} must have shape {expected}, labels by labels. "
                    f"Got {table.shape}."
                )
        for first in range(0, len(self.tables), _CHECKED_AT_ONCE):
            some = slice(first, first + _CHECKED_AT_ONCE)
            if not _are_counts(np.concatenate([table.ravel() for table in self.tables[some]])):
                group = next(g for g, table in zip(self.groups, self.tables, strict=True) if not _are_counts(table))
                raise DataError(f"The table of {self._names(group)} must hold finite counts, none below zero, {_MOST}.")
        if self.singles is not None:
            object.__setattr__(self, "singles", tuple(np.asarray(single, dtype=float) for single in self.singles))
            shapes = [single.shape for single in self.singles]
            if shapes != [(size,) for size in cardinalities] or not all(map(_are_counts, self.singles)):
                raise DataError(f"singles must hold counts of every variable, one for each of its labels, {_MOST}.")

    def _names(self, group: Positions) -> str:
        return shortlist(self.domain[n].name for n in group)

    @property
    def totals(self) -> np.ndarray:
        """The weight of the rows behind every table, (n_groups,)."""
        return np.array([table.sum() for table in self.tables])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.domain)} variables, {len(self.groups)} tables, {self.rows_in_words})"

    @property
    def rows_in_words(self) -> str:
        """The number of rows that were counted; if it is unknown, that of the largest table."""
        if self.n_rows is None:
            return f"up to {self.totals.max(initial=0.0):,.0f} rows"
        return f"{self.n_rows:,.0f} rows"

    def __add__(self, other: Self) -> Self:
        """Add the counts of other rows of the same variables; the result has the labels of both."""
        if not isinstance(other, type(self)):
            return NotImplemented
        if other.groups != self.groups:
            raise DataError("These counts are of different groups of variables and cannot be added.")
        domain = self.domain.united(other.domain)
        n_rows = None if self.n_rows is None or other.n_rows is None else self.n_rows + other.n_rows
        singles = None
        if self.singles is not None and other.singles is not None:
            alone = _singles(domain)
            singles = _added(self._over(domain, self.singles, alone), other._over(domain, other.singles, alone))
        tables = _added(self._over(domain, self.tables, self.groups), other._over(domain, other.tables, self.groups))
        return type(self)(domain, self.groups, tables, n_rows, singles)

    def _over(
        self, domain: Domain, tables: Sequence[np.ndarray], groups: Sequence[Positions]
    ) -> tuple[np.ndarray, ...]:
        """Return tables over a domain that has all labels of this one."""
        # intervals are compared by their edges, as their labels and typical values may differ
        places = [
            None if mine.edges is not None else places_of(mine.labels, all_.labels)
            for mine, all_ in zip(self.domain, domain, strict=True)
        ]
        return placed(tables, groups, places, domain.cardinalities)

    def __radd__(self, other: object) -> Self:
        # sum() starts with 0
        return self if other == 0 else NotImplemented

    def table(self, *names: str) -> pd.DataFrame | np.ndarray:
        """Return the counts of a group of variables in the order named: a frame for two, an array for more."""
        positions = [self.domain.position(name) for name in names]
        group = tuple(sorted(positions))
        if group not in self.groups:
            raise DataError(f"{shortlist(names)} are not counted together here. {self._counted()}")
        array = self.tables[self.groups.index(group)].transpose(np.argsort(np.argsort(positions)))
        if len(names) != 2:
            return array
        import pandas as pd

        index, columns = (pd.Index(self.domain[n].labels, name=self.domain[n].name) for n in positions)
        return pd.DataFrame(array, index=index, columns=columns)

    def _counted(self) -> str:
        return f"Counted are {shortlist((tuple(self.domain[n].name for n in g) for g in self.groups), limit=4)}."

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to one file, whole or not at all."""
        tensors = {f"table.{number}": table for number, table in enumerate(self.tables)}
        header: dict[str, Any] = {"kind": type(self).__name__, "groups": self.groups, "n_rows": self.n_rows}
        if self.singles is not None:
            # in the header, where older jurors ignore them
            header["singles"] = [single.tolist() for single in self.singles]
        container.write(path, self.domain, header, tensors)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read counts that :meth:`save` wrote."""
        return container.read_statistic(path, cls.__name__, cls._of_file)

    @classmethod
    def _of_file(cls, domain: Domain, header: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> Self:
        check(header, CountsEntries, "header")
        tables = tuple(tensors[f"table.{number}"] for number in range(len(tensors)))
        groups = tuple(tuple(group) for group in header["groups"])
        return cls(domain, groups, tables, header.get("n_rows"), header.get("singles"))

    @classmethod
    def _of_table(cls, opened: OpenTable, choose: Callable[[Sequence[str]], list[Positions]]) -> Self:
        """Count the groups that are chosen by the names of the variables."""
        runner = opened.runner
        if opened.is_here and runner is opened.local:
            domain, codes, weights = opened.read_codes()
            return cls._count(codes, domain, choose(domain.names), weights, opened.local.n_jobs)
        if opened.domain is None:
            return cls._of_groups(*count_labelled(opened.scan, opened.missing, opened.weight, choose, runner))
        groups, reading = choose(opened.domain.names), opened.reading(opened.domain)
        return cls._of_groups(opened.domain, groups, *count_known(opened.scan, reading, groups, runner))

    @classmethod
    def _of_groups(
        cls, domain: Domain, groups: Sequence[Positions], tables: Sequence[np.ndarray], n_rows: float
    ) -> Self:
        """Make counts of tables, of which the last may be those of every variable alone."""
        n = len(groups) - len(domain) if list(groups[-len(domain) :]) == _singles(domain) else len(groups)
        return cls(domain, tuple(groups[:n]), tuple(tables[:n]), n_rows, tuple(tables[n:]) or None)

    @classmethod
    def _zero(cls, domain: Domain, groups: Sequence[Positions]) -> Self:
        sizes = domain.cardinalities
        return cls._of_groups(domain, groups, [np.zeros([sizes[n] for n in group]) for group in groups], 0.0)

    @classmethod
    def _count(
        cls,
        codes: np.ndarray,
        domain: Domain,
        groups: Sequence[Positions],
        weights: np.ndarray | None,
        n_jobs: int | None,
    ) -> Self:
        # rows that all count once are counted in integers, which is faster
        if weights is not None and np.all(weights == 1.0):
            weights = None
        with LocalRunner(n_jobs) as runner:
            tables = count_tables(codes, domain.cardinalities, groups, weights, runner)
        n_rows = float(len(codes)) if weights is None else float(weights.sum())
        return cls._of_groups(domain, groups, tables, n_rows)


def _are_counts(cells: np.ndarray) -> bool:
    # NaN fails both comparisons
    return bool(cells.min() >= 0.0 and cells.max() <= MOST_WEIGHT)


def _singles(domain: Domain) -> list[Positions]:
    return [(n,) for n in range(len(domain))]


def _added(tables: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    return tuple(a + b for a, b in zip(tables, others, strict=True))
