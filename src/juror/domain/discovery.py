"""Find the variable of a column: its kind, its labels, and the intervals of numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from juror.domain.alike_labels import warn_of_alike_labels
from juror.domain.binning import BINNINGS, RECURS, binned_variable, bins_for, cut_at_recurring, plain_numbers
from juror.domain.identifiers import about_identifier
from juror.domain.interval_texts import distinct_texts
from juror.domain.odd_names import warn_of_odd_names
from juror.domain.unnamed_markers import warn_of_unnamed_markers
from juror.domain.variable import MOST_OF_A_SCALE, Label, Variable
from juror.errors import (
    DataError,
    DataWarning,
    Option,
    ParameterError,
    check_choice,
    check_count,
    did_you_mean,
    shortlist,
    warn,
)
from juror.readers.exact_numbers import as_number, plain
from juror.readers.tallies import Tally, way_out_of_labels
from juror.readers.written_values import written_values

# A column of numbers may become labels if it has at most this many different ones,
_MOST_TOLD_APART = 32
# and if each occurs this often on average: fractions, and whole numbers, which may be codes.
_RECURRENCE, _OF_WHOLE = 5, 2
# Fewer labels may be names, such as "10%" and "20%".
_SOME_LABELS = 10
# A label of this many lines is probably a mistake.
_MANY_LINES = 10


@dataclass(frozen=True)
class Discovery:
    """The choices a user may make about how columns become variables; see :meth:`juror.Domain.infer`."""

    levels: Mapping[str, Sequence[Label]] = field(default_factory=dict)
    bins: int | Mapping[str, int] | None = None
    edges: Mapping[str, Sequence[float]] = field(default_factory=dict)
    binning: str = "quantile"
    bin_above: int | None = None
    max_levels: int = 1000
    target: str | None = None

    def __post_init__(self) -> None:
        check_choice("binning", self.binning, BINNINGS)
        check_count("max_levels", self.max_levels)
        bins = self._bins_by_column.values() if isinstance(self.bins, Mapping) else [self.bins]
        for name, count in [("bin_above", self.bin_above), *(("bins", count) for count in bins)]:
            if count is not None:
                check_count(name, count)
        for name in ("levels", "edges"):
            if not isinstance(getattr(self, name), Mapping):
                given = getattr(self, name)
                raise ParameterError(
                    "{option} must be a dict of columns. Got {got!r} instead.", option=Option(name), got=given
                )
        for column, labels in self.levels.items():
            if not _is_listed(labels):
                raise ParameterError(
                    "{levels} must list the labels of {column!r} in their order. Got {got!r} instead.",
                    column=column,
                    got=labels,
                )

    @property
    def _bins_by_column(self) -> Mapping[str, int]:
        return self.bins if isinstance(self.bins, Mapping) else {}

    def cut(self, data: Any) -> Collection[str]:
        """Return the columns of an array that are to be cut into intervals, and so hold numbers and not codes."""
        wanted = {*self.edges, *self._bins_by_column}
        if isinstance(data, np.ndarray) and data.ndim == 2 and self.bins is not None and not self._bins_by_column:
            wanted |= {f"x{n}" for n in range(data.shape[1])}
        if wanted and isinstance(data, np.ndarray) and data.dtype.kind in "iu":
            raise ParameterError(
                "An array of integers holds codes, which cannot be cut into intervals. Pass it as floats, "
                "array.astype(float), or as a dict of columns."
            )
        return wanted

    def variables(self, tallies: Sequence[Tally], names: Sequence[str] | None = None) -> tuple[Variable, ...]:
        """Make one variable per column. Columns with given levels need no tally.

        Parameters
        ----------
        tallies : sequence of Tally
            How often each value of a column occurs in all rows.
        names : sequence of str, optional
            The columns in order, if those with given levels were not tallied.
        """
        by_name = {tally.name: tally for tally in tallies}
        names = list(by_name) if names is None else names
        self.check_names(names)
        unlisted = {name: tally for name, tally in by_name.items() if name not in self.levels}
        self._check_values(unlisted.values())
        self._check_texts(unlisted.values())
        found = [self._of_levels(name) if name in self.levels else self._variable(by_name[name]) for name in names]
        # labels that their user listed are meant, and so are numbers between edges that the user chose
        warn_of_unnamed_markers(found, {name: tally for name, tally in unlisted.items() if name not in self.edges})
        warn_of_alike_labels(found, unlisted)
        warn_of_odd_names(unlisted.values())
        return tuple(found)

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse choices about columns that do not exist."""
        for name in (*self.levels, *self.edges, *self._bins_by_column):
            if name not in names:
                raise ParameterError(f"There is no column {name!r}. {did_you_mean(name, names)}")

    def _of_levels(self, name: str) -> Variable:
        return Variable(name, tuple(_python_values(self.levels[name])), "ordinal")

    def _variable(self, column: Tally) -> Variable:
        if column.form == "code":
            self._check_levels(column.name, column.values)
        if column.name in self.edges:
            return self._with_given_edges(column)
        if column.name in self._bins_by_column and column.form != "number":
            raise ParameterError(f"Column {column.name!r} holds {column.form}, so it cannot be cut into bins.")
        variable = _DISCOVERERS[column.form](self, column)
        self._check_levels(column.name, variable.labels)
        warning = self._about(column, variable)
        if warning is not None:
            warn(warning)
        return variable

    def _about(self, column: Tally, variable: Variable) -> DataWarning | None:
        """Return a warning about a column that says nothing about the others, or that has the wrong type."""
        if variable.cardinality == 1:
            return _about_single_label(variable)
        written = _about_written_values(column)
        if written is not None:
            return written
        # A user who sets the number of intervals of a column knows that it is no identifier.
        return about_identifier(column) if column.name not in self._bins_by_column else None

    def _check_values(self, tallies: Collection[Tally]) -> None:
        """Refuse columns of missing cells alone, all at once."""
        empty = [tally.name for tally in tallies if tally.name not in self.edges and not np.any(tally.counts > 0)]
        if empty:
            raise DataError(
                "{fact}. Drop it, or pass a {domain:=} that names its labels.{also}",
                fact=f"Column {empty[0]!r} holds no value, only missing ones",
                also=_also(empty[1:]),
            )

    def _check_texts(self, tallies: Collection[Tally]) -> None:
        """Refuse columns of text with too many labels, all at once."""
        crowded = [tally for tally in tallies if tally.form == "text" and len(_seen(tally)) > self.max_levels]
        if crowded:
            first, *others = crowded
            self._check_levels(first.name, sorted(_seen(first)), [tally.name for tally in others])

    def _check_levels(self, name: str, labels: Sequence[Label], others: Sequence[str] = ()) -> None:
        """Refuse a column with too many labels, and name others that have."""
        if len(labels) > self.max_levels:
            raise DataError(
                "Column {column!r} has {n} distinct labels, more than {max_levels: = {most}}. {way_out}{also}",
                column=name,
                n=len(labels),
                most=self.max_levels,
                way_out=way_out_of_labels(labels),
                also=_also(others),
            )

    def _text(self, column: Tally) -> Variable:
        labels = sorted(_seen(column))
        _warn_of_long_labels(column.name, labels)
        return Variable(column.name, tuple(labels), "nominal")

    def _boolean(self, column: Tally) -> Variable:
        return Variable(column.name, tuple(sorted(_seen(column))), "nominal")

    def _category(self, column: Tally) -> Variable:
        # declared categories are kept even if no row has them
        return Variable(column.name, tuple(column.values), "ordinal" if column.ordered else "nominal")

    def _code(self, column: Tally) -> Variable:
        return Variable(column.name, tuple(range(len(column.values))), "ordinal")

    def _number(self, column: Tally) -> Variable:
        column = column.in_needed_unit()
        numbers, counts = column.values, column.counts
        if column.infinite is not None:
            value, row = column.infinite
            raise DataError(
                "Column {column!r} holds {value} in {row}; numbers must be finite. Replace it, or pass {marker} to "
                "treat it as missing.",
                column=column.name,
                value=value,
                row=row,
                marker=Option("missing", (value,), f"=[float('{value}')]"),
            )
        wanted = self._bins_by_column.get(column.name) if isinstance(self.bins, Mapping) else self.bins
        if wanted is None and column.calendar is None and self._are_few(column.name, numbers, counts):
            if self._are_all(column.name, numbers, counts):
                return Variable(column.name, tuple(plain_numbers(numbers)), "ordinal")
            edges = cut_at_recurring(numbers, counts)
        else:
            n_bins = wanted if wanted is not None else bins_for(float(counts.sum()))
            edges = BINNINGS[self.binning](numbers, counts, n_bins)
        if column.dropped:
            # a group of numbers is represented by its lowest, so the last edge must be set to the highest
            edges[-1] = column.highest
            _warn_of_groups(column)
        return _binned(column, edges, open_ended=True)

    def _are_few(self, name: str, numbers: np.ndarray, counts: np.ndarray) -> bool:
        """Tell whether a column has few different numbers, and they recur, so that each can be a label of its own.

        Labels are learned one by one, so rare numbers need intervals, which share the rows of neighbours.
        """
        size, whole = len(numbers), bool(np.all(numbers == np.floor(numbers)))
        if size > (self.bin_above or _MOST_TOLD_APART):
            return False
        if whole and (size <= MOST_OF_A_SCALE or name == self.target):
            return True
        return bool(counts.sum() >= (_OF_WHOLE if whole else _RECURRENCE) * size)

    def _are_all(self, name: str, numbers: np.ndarray, counts: np.ndarray) -> bool:
        """Tell whether few new rows will have other numbers, so that the numbers seen can be labels.

        The share of new rows with a new number is about the share of rows whose number occurs once (Good and Turing).
        """
        are_meant = self.bin_above is not None or name == self.target
        return are_meant or len(numbers) <= MOST_OF_A_SCALE or bool(np.all(counts >= RECURS))

    def _with_given_edges(self, column: Tally) -> Variable:
        if column.form != "number":
            raise DataError(f"Column {column.name!r} holds {column.form}, so it cannot be cut at edges.")
        given = self.edges[column.name]
        listed = _python_values(given) if _is_listed(given) else [given]
        number = as_number if column.calendar is None else column.calendar.number
        found = list(map(number, listed))
        edges = [edge for edge in found if edge is not None and abs(edge) < np.inf]
        are_whole = column.calendar is None or all(isinstance(edge, int) for edge in edges)
        if len(edges) < max(2, len(found)) or any(high <= low for low, high in pairwise(edges)) or not are_whole:
            kind = "finite numbers" if column.calendar is None else f"dates or times, to the {column.calendar.unit!r},"
            got = shortlist(listed)
            raise ParameterError(f"The edges of {column.name!r} must be two or more {kind} that rise. Got {got}.")
        if column.calendar is not None:
            # objects, as no 64 bits hold the nanoseconds of distant dates
            calendar, ends = column.calendar, np.array(edges, dtype=object)
            # a time of day among the edges is a time that the column may have
            column = column.in_needed_unit(calendar.coarsest(ends))
            assert column.calendar is not None
            edges = calendar.converted(ends, column.calendar.unit).tolist()
        return _binned(column, edges, open_ended=False)


def _binned(column: Tally, edges: Sequence[float] | np.ndarray, *, open_ended: bool) -> Variable:
    """Cut the numbers of a column at edges."""
    numbers, are_groups, calendar = np.asarray(column.values), bool(column.dropped), column.calendar
    return binned_variable(
        column.name, edges, numbers, column.counts, open_ended=open_ended, are_groups=are_groups, calendar=calendar
    )


_DISCOVERERS: dict[str, Callable[[Discovery, Tally], Variable]] = {
    "text": Discovery._text,
    "boolean": Discovery._boolean,
    "category": Discovery._category,
    "code": Discovery._code,
    "number": Discovery._number,
}


def _is_listed(given: object) -> bool:
    """Tell whether a value has items in an order; text is a single value."""
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes, Set, Mapping))


def _python_values(given: Any) -> list[Any]:
    # items of Arrow are no values of Python
    return list(map(plain, given.to_pylist() if hasattr(given, "to_pylist") else plain(given)))


def _seen(column: Tally) -> list[Any]:
    return [value for value, count in zip(column.values, column.counts, strict=True) if count > 0]


def _about_single_label(variable: Variable) -> DataWarning:
    """Return the warning about a column of one label, or of one interval, which is named by its ends."""
    fact = f"is constant: its only label is {variable.labels[0]!r}"
    if variable.edges is not None:
        ends = list(dict.fromkeys(distinct_texts(variable.edges, variable.calendar)))
        fact = f"is constant: its only value is {ends[0]}" if len(ends) == 1 else "has one interval, of all its values"
    return DataWarning(
        f"Column {variable.name!r} {fact}. It says nothing about the others; drop it unless you need it in the answers."
    )


def _warn_of_groups(column: Tally) -> None:
    warn(
        DataWarning(
            "Column {column!r} has more distinct numbers than are told apart in parts of a table, so its intervals "
            "are cut between groups of them, of which the largest has {share:.2%} of the rows. Pass "
            "{Domain.infer.edges} to cut where you like.",
            column=column.name,
            share=column.counts.max() / column.counts.sum(),
        )
    )


def _about_written_values(column: Tally) -> DataWarning | None:
    """Return a warning if all labels of a text column are written numbers or dates, and not names; else None."""
    labels = _seen(column) if column.form == "text" else []
    written = written_values(sorted(labels)) if len(labels) >= _SOME_LABELS else None
    if written is None or written.may_be_names:
        return None
    return DataWarning(
        "{fact}. {way_out}",
        fact=f"Column {column.name!r} is read as text, but all its labels are {written.are}, such as "
        f"{written.example!r}",
        way_out=written.way_out,
    )


def _warn_of_long_labels(name: str, labels: Sequence[str]) -> None:
    """Warn of a label of many lines: probably a quote in a CSV file is not closed."""
    long = [label for label in labels if label.count("\n") >= _MANY_LINES]
    if long:
        warn(
            DataWarning(
                f"Column {name!r} has a label of {long[0].count(chr(10)) + 1} lines, which begins with "
                f"{long[0][:20]!r}. Perhaps a quote is not closed in a CSV file, and rows are lost in it."
            )
        )


def _also(others: Sequence[str]) -> str:
    """Name the other columns of which an error is true, so that nobody finds them one by one."""
    return f" The same holds for {shortlist(others)}." if others else ""
