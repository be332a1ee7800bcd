"""A finite variable: its name, its labels, its kind, and the conversion between labels and codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from juror.domain.interval_texts import IntervalTexts
from juror.domain.law import Inside, Law, uniform_law
from juror.domain.unknown_values import no_label, unknown_cell
from juror.errors import DataError, DataWarning, ParameterError, QueryError, check_choice, shortlist, warn
from juror.printing import numbered, one_line
from juror.readers import Column
from juror.readers.calendars import Calendar
from juror.readers.columns import MISSING, as_text
from juror.readers.exact_numbers import Number, as_number, interval_of, intervals_of, plain

Label = str | int | float | bool
Kind = Literal["nominal", "ordinal", "binned"]
Unknown = Literal["error", "warn", "missing"]

# Up to this many whole numbers may be grades or codes, and more are mostly measurements.
MOST_OF_A_SCALE = 10


def check_unknown(unknown: object) -> None:
    """Refuse an unknown choice of ``unknown``."""
    check_choice("unknown", unknown, get_args(Unknown))


def code_type(most: int) -> np.dtype[np.signedinteger[Any]]:
    """Return the shortest type of signed integers that holds codes up to a number and one more."""
    return np.dtype(next(kind for kind in (np.int8, np.int16, np.int32) if most < np.iinfo(kind).max))


@dataclass(frozen=True)
class Strangers:
    """For each column the number of rows with unknown labels, and the first of these rows."""

    rows: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    def __add__(self, other: Strangers) -> Strangers:
        both = dict(self.rows)
        for name, (n, first) in other.rows.items():
            both[name] = (both[name][0] + n, both[name][1]) if name in both else (n, first)
        return Strangers(both)

    def warn(self) -> None:
        """Warn of unknown labels, column by column."""
        for name, (n, first) in self.rows.items():
            warn(
                DataWarning(
                    f"Column {name!r} holds labels that were not there before in {numbered(n, 'row')}, the first in "
                    f"{first}; they are treated as missing."
                )
            )


@dataclass(frozen=True)
class Variable:
    """A finite variable: a name and the labels it may take.

    Attributes
    ----------
    name : str
        The variable's name.
    labels : tuple
        Its labels, in order when ``kind`` is not nominal. Codes are positions in this tuple.
    kind : {"nominal", "ordinal", "binned"}
        Whether labels are names, ordered values, or intervals of a number.
    edges : tuple of float, optional
        For a binned variable the ``len(labels) + 1`` finite interval ends. Intervals are closed on the left; the
        last one is closed on both sides.
    law : Law, optional
        For a binned variable the distribution of its numbers, which says how they lie inside each interval; uniform
        between the edges by default.
    open_ended : bool
        Whether the outer intervals also take numbers beyond the outer edges.
    missing_label : label, optional
        The label of missing cells, if they are a state of their own; then it is the last of the labels, and has no
        place in their order. By default missing cells have no label, and are summed out.
    calendar : Calendar, optional
        For a binned variable of dates or times, how its numbers stand for them.

    Examples
    --------
    >>> safety = Variable("safety", ("low", "med", "high"), kind="ordinal")
    >>> safety.code("med")
    1
    >>> safety.cardinality
    3
    >>> safety.with_missing_label("not tested").labels
    ('low', 'med', 'high', 'not tested')
    """

    name: str
    labels: tuple[Label, ...]
    kind: Kind = "nominal"
    edges: tuple[float, ...] | None = None
    law: Law | None = None
    open_ended: bool = False
    missing_label: Label | None = None
    calendar: Calendar | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise DataError(f"A variable's name must be text that is not empty. Got {self.name!r} instead.")
        if not _is_unicode(self.name):
            raise DataError(f"The name {self.name!r} cannot be written as UTF-8. Rename the variable.")
        object.__setattr__(self, "labels", tuple(self.labels))
        if not self.labels:
            raise DataError(f"Variable {self.name!r} has no labels. It needs at least one.")
        if self.kind not in get_args(Kind):
            raise ParameterError(f"kind must be one of {shortlist(get_args(Kind))}. Got {self.kind!r} instead.")
        for label in self.labels:
            if not isinstance(label, (str, int, float, bool)) or label != label:
                raise DataError(
                    f"Variable {self.name!r} has the label {label!r}; a label is text, a number or a boolean."
                )
            if isinstance(label, str) and not _is_unicode(label):
                raise DataError(f"Variable {self.name!r} has the label {label!r}, which cannot be written as UTF-8.")
        if len(set(self.labels)) < len(self.labels):
            raise DataError(f"Variable {self.name!r} has a label twice among {shortlist(self.labels)}.")
        if self.missing_label is not None and self.missing_label != self.labels[-1]:
            raise DataError(
                f"The label of missing cells must be the last of {self.name!r}, whose labels are "
                f"{shortlist(self.labels)}. Got {self.missing_label!r}."
            )
        if (self.kind == "binned") != (self.edges is not None) or (self.law is not None and self.edges is None):
            raise DataError(f"Variable {self.name!r}: edges and a law go with kind='binned', and with no other kind.")
        if self.law is not None and not isinstance(self.law, Law):
            raise DataError(f"The law of {self.name!r} must be a juror.Law. Got {self.law!r} instead.")
        if self.edges is not None:
            self._check_edges(self.edges)
            object.__setattr__(self, "law", self.law or uniform_law(self.edges))

    def __repr__(self) -> str:
        return one_line(f"Variable({self.name!r}, {shortlist(self.labels)}, {self.kind!r})")

    def _check_edges(self, edges: Sequence[float]) -> None:
        n_intervals = len(self.present_labels)
        if len(edges) != n_intervals + 1:
            raise DataError(f"Variable {self.name!r} has {n_intervals} intervals but {len(edges)} edges.")
        are_finite = all(isinstance(edge, (int, float, np.number)) and abs(edge) < np.inf for edge in edges)
        # the last interval, which is closed, may be a single number; the first one too if it takes all numbers below
        inner = edges[1:-1] if self.open_ended else edges[:-1]
        rise = are_finite and all(low < high for low, high in pairwise(inner))
        rise = rise and edges[0] <= edges[1] and edges[-2] <= edges[-1]
        if not rise:
            raise DataError(f"The edges of {self.name!r} must be finite and rise. Got {shortlist(edges)}.")

    def with_missing_label(self, label: Label) -> Variable:
        """Return the variable with a label for missing cells, which are then a state of their own."""
        if self.missing_label is not None and self.missing_label == label:
            return self
        if self.missing_label is not None:
            raise DataError(
                f"Missing cells of {self.name!r} have the label {self.missing_label!r} already. Got {label!r} besides."
            )
        if not isinstance(label, (str, int, float, bool)) or label == "" or self.find(label) is not None:
            raise DataError(
                "Missing cells of {name!r} must get a label that it does not have, such as 'not asked': it has "
                "{labels}, and a number may lie in an interval. Got {label!r}; name another with {missing_as:=…}.",
                name=self.name,
                labels=shortlist(self.labels),
                label=label,
            )
        return replace(self, labels=(*self.labels, label), missing_label=label)

    @property
    def cardinality(self) -> int:
        """How many labels there are."""
        return len(self.labels)

    @property
    def missing_code(self) -> int:
        """The code of a missing cell: that of its label, or −1 if it has none."""
        return MISSING if self.missing_label is None else self.cardinality - 1

    @property
    def present_labels(self) -> tuple[Label, ...]:
        """The labels of cells that are not missing."""
        return self.labels if self.missing_label is None else self.labels[:-1]

    @property
    def is_numeric(self) -> bool:
        """Whether the labels are intervals or numbers."""
        return self.edges is not None or not any(isinstance(label, (str, bool)) for label in self.present_labels)

    @property
    def may_be_codes(self) -> bool:
        """Whether the labels are names, or few whole numbers, which may stand for names; others measure something."""
        if not self.is_numeric:
            return True
        labels = self.present_labels
        return self.edges is None and len(labels) <= MOST_OF_A_SCALE and all(label == int(label) for label in labels)

    @property
    def are_codes(self) -> bool:
        """Whether a float means the same as a code and as a label: no label is another number than its code."""
        return all(isinstance(label, (str, bool)) or label == n for n, label in enumerate(self.present_labels))

    @property
    def is_ordered(self) -> bool:
        """Whether ranges make sense: the variable is ordinal or binned."""
        return self.kind != "nominal"

    @cached_property
    def inside(self) -> Inside:
        """The laws of the numbers inside the intervals of a binned variable."""
        if self.edges is None or self.law is None:
            raise QueryError(f"Variable {self.name!r} is {self.kind}, so it has no intervals of numbers.")
        cuts = np.array([self.law.grid.cut(edge, after=False) for edge in self.edges])
        cuts[-1] = self.law.grid.cut(self.edges[-1], after=True)
        if self.open_ended:
            cuts[0], cuts[-1] = -np.inf, np.inf
        return Inside(self.law, cuts)

    @cached_property
    def texts(self) -> IntervalTexts:
        """How the intervals of a binned variable are written."""
        assert self.edges is not None
        return IntervalTexts(self.edges, self.open_ended, self.law, self.calendar)

    def number(self, value: object) -> Number | None:
        """Return the number of a value, of a date or time by the calendar; None if it is none."""
        return as_number(value) if self.calendar is None else self.calendar.number(value)

    def has_mass(self, number: Number) -> bool:
        """Tell whether a number of a binned variable has a probability: on a grid, or as a value that recurs."""
        law = self.inside.law
        cell = np.array([law.grid.cut(number, after) for after in (False, True)])
        low, high = law.below(cell)
        return law.has_point(cell[0]) and bool(high > low)

    def may_be(self, number: Number) -> bool:
        """Tell whether a binned variable can have a number: on a grid only those on it."""
        grid = self.inside.law.grid
        return grid.cut(number, after=False) < grid.cut(number, after=True)

    @cached_property
    def _code_of_label(self) -> dict[Label, int]:
        return {label: code for code, label in enumerate(self.labels)}

    @cached_property
    def _code_of_number(self) -> dict[float, int]:
        """Codes of number labels, so that "3.0" finds 3."""
        return {label: code for code, label in enumerate(self.labels) if not isinstance(label, (str, bool))}

    @cached_property
    def _code_of_text(self) -> dict[str, int]:
        """Codes by the text of labels, so that 4 finds "4" and "4" finds 4."""
        return {as_text(label): code for code, label in enumerate(self.labels)}

    def check_texts(self) -> None:
        """Refuse labels such as 1 and '1', which are the same in a file."""
        for code, label in enumerate(self.labels):
            other = self._code_of_text[as_text(label)]
            if other != code:
                raise DataError(
                    f"Variable {self.name!r} has the labels {label!r} and {self.labels[other]!r}, which are the same "
                    "text in a file. Rename one of them before fitting."
                )

    def find(self, value: object) -> int | None:
        """Return the code of a label, or of the interval that holds a finite number; None when there is none."""
        value = plain(value)
        if isinstance(value, (str, int, float, bool)):
            if value in self._code_of_label:
                return self._code_of_label[value]
            if as_text(value) in self._code_of_text:
                return self._code_of_text[as_text(value)]
        number = self.number(value)
        if number is None or self.edges is None:
            return None if number is None else self._code_of_number.get(number)
        if abs(number) == np.inf:
            return None
        code = interval_of(self.edges, number, self.open_ended)
        return None if code == MISSING else code

    def code(self, value: object) -> int:
        """Return the code of a label, or raise an error that names the labels."""
        code = self.find(value)
        if code is None:
            raise no_label(self, value)
        return code

    def encode(self, column: Column, unknown: Unknown = "error") -> np.ndarray:
        """Return the code of every row of a column; where it is missing, −1 or the code of the label for that.

        Parameters
        ----------
        column : Column
            The factorised column.
        unknown : {"error", "warn", "missing"}
            What to do with a value that is not among the labels: refuse it, or give it the code −1, with or without a
            warning. It is then summed out, also if missing cells have a label.

        Returns
        -------
        numpy.ndarray, (n_rows,)
        """
        codes, strangers = self.encode_piece(column, unknown)
        strangers.warn()
        return codes

    def encode_piece(
        self, column: Column, unknown: Unknown = "error", kind: type[np.signedinteger[Any]] = np.int64
    ) -> tuple[np.ndarray, Strangers]:
        """Return the codes of a piece of a column as integers of a kind, and its unknown labels.

        Like :meth:`encode`, but unknown labels are returned, to warn of after the last piece.
        """
        if column.form == "code":
            known = np.arange(len(column.values)) < self.cardinality
            index = column.index
            if len(column.values) > self.cardinality:
                index = np.where(index < self.cardinality, index, MISSING)
            codes = index.astype(kind, copy=False)
        else:
            of_values = self._codes_of_values(column)
            known = of_values != MISSING
            codes = np.append(of_values, MISSING).astype(kind)[column.index]
        is_missing = column.index == MISSING
        if self.missing_label is not None:
            codes = np.where(is_missing, kind(self.missing_code), codes)
        if unknown == "missing" or np.all(known):
            return codes, Strangers()
        strange = np.flatnonzero((codes == MISSING) & ~is_missing)
        if not len(strange):
            return codes, Strangers()
        if unknown == "error":
            raise unknown_cell(self, column, int(strange[0]))
        return codes, Strangers({column.name: (len(strange), column.row_in_words(int(strange[0])))})

    def _codes_of_values(self, column: Column) -> np.ndarray:
        values = self.own_numbers(column) if column.form == "number" else column.values
        if self.edges is not None and column.form == "number":
            return np.where(
                np.isfinite(values.astype(np.float64)), intervals_of(self.edges, values, self.open_ended), MISSING
            )
        found = [self.find(value) for value in values]
        return np.array([MISSING if code is None else code for code in found], dtype=np.int64)

    def own_numbers(self, column: Column) -> np.ndarray:
        """Return the distinct numbers of a column, dates and times in the unit of the variable's calendar."""
        numbers = np.asarray(column.values)
        if (self.calendar is None) != (column.calendar is None):
            what, mine = ("dates or times", "none") if self.calendar is None else ("numbers", "dates or times")
            raise DataError(f"Column {column.name!r} holds {what}, and variable {self.name!r} has {mine}.")
        if self.calendar is None or column.calendar is None:
            return numbers
        return column.calendar.converted(numbers, self.calendar.unit, column.name)

    def decode(self, codes: np.ndarray) -> list[Any]:
        """Return the label of every code (n_rows,), None where it is missing."""
        wrong = codes[(codes < MISSING) | (codes >= self.cardinality)]
        if len(wrong):
            raise ParameterError(
                f"Codes of {self.name!r} must be in the range [-1, {self.cardinality - 1}]. Got {wrong[0]} instead."
            )
        # Code −1 selects the last place.
        table = np.full(self.cardinality + 1, None, dtype=object)
        table[:-1] = self.labels
        return list(table[codes])


def _is_unicode(text: str) -> bool:
    """Tell whether text can be written: half of a surrogate pair cannot."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
