"""The domain: the variables of a table in order, and the conversion of tables of labels to matrices of codes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from juror.domain.discovery import Discovery
from juror.domain.formulas import Formula
from juror.domain.known_columns import known_columns
from juror.domain.orders import Order, among
from juror.domain.uniting import united_markers, united_variable
from juror.domain.variable import Label, Strangers, Unknown, Variable, check_unknown, code_type
from juror.errors import (
    DataError,
    ParameterError,
    QueryError,
    check_choice,
    check_count,
    did_you_mean,
    shortlist,
    wrong,
)
from juror.printing import numbered, one_line
from juror.readers import Column, Expected
from juror.readers.columns import MISSING, Floats, read_markers
from juror.readers.joining import read_whole
from juror.readers.opening import open_scan, open_weighted
from juror.readers.scans import Scan
from juror.readers.tallies import take_census
from juror.readers.workers import workers_for
from juror.runners.local import LocalRunner, Runner, check_any_rows

if TYPE_CHECKING:
    from juror.readers.frame_types import FrameType


@dataclass(frozen=True)
class Domain:
    """The variables of a table, in order, and the markers that mean *missing* in it.

    Attributes
    ----------
    variables : tuple of Variable
        The variables.
    missing : tuple
        The markers.
    floats : {"codes", "values"}, optional
        What arrays of floats hold, if the domain was found in one: all later arrays are read as that one was. Columns
        of intervals or fractions always hold values, and arrays of integers always hold codes. Domains that differ
        only in this are equal.
    formulas : tuple of Formula
        Formulas between columns of numbers, in an order in which they can be applied. Rows that are drawn or filled
        satisfy them. Domains that differ only in this are equal.
    orders : tuple of Order
        Pairs of columns of which one is at most the other, as for formulas.
    frame : FrameType, optional
        What kind of frame the domain was found in. Rows that are drawn are of that kind. Domains that differ only in
        this are equal.

    Examples
    --------
    >>> domain = Domain.from_cardinalities([2, 3])
    >>> domain.names
    ('x0', 'x1')
    >>> domain["x1"].labels
    (0, 1, 2)
    >>> domain.encode({"x0": [1, None], "x1": [2, 0]}).tolist()
    [[1, 2], [-1, 0]]
    """

    variables: tuple[Variable, ...]
    missing: tuple[Label, ...] = ()
    floats: Floats | None = field(default=None, compare=False)
    formulas: tuple[Formula, ...] = field(default=(), compare=False)
    orders: tuple[Order, ...] = field(default=(), compare=False)
    frame: FrameType | None = field(default=None, compare=False)
    _position: dict[str, int] = field(init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        names = ", ".join(self.names[:6]) + (", …" if len(self) > 6 else "")
        return one_line(f"Domain({numbered(len(self), 'variable')}: {names})")

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", tuple(self.variables))
        if not isinstance(self.missing, tuple) or self.missing:
            object.__setattr__(self, "missing", read_markers(self.missing))
        if self.floats is not None:
            check_choice("floats", self.floats, get_args(Floats))
        if not self.variables:
            raise DataError("A domain needs at least one variable.")
        position = {variable.name: n for n, variable in enumerate(self.variables)}
        if len(position) < len(self.variables):
            raise DataError(f"Variable names must be unique. Got {shortlist(v.name for v in self.variables)}.")
        object.__setattr__(self, "_position", position)
        rules: tuple[Formula | Order, ...] = (*self.formulas, *self.orders)
        for rule in rules:
            rule.check(self.variables)
        if self.frame is not None:
            object.__setattr__(self, "frame", self.frame.only(self.names))

    @classmethod
    def from_cardinalities(cls, cardinalities: Sequence[int]) -> Domain:
        """Make variables ``x0, x1, …`` with the ordered labels 0 … I−1, for tables of codes."""
        for n, size in enumerate(cardinalities):
            check_count(f"Cardinality {n}", size)
        return cls(tuple(Variable(f"x{n}", tuple(range(int(i))), "ordinal") for n, i in enumerate(cardinalities)))

    @classmethod
    def infer(
        cls,
        data: Any,
        *,
        missing: Collection[Label] = (),
        levels: Mapping[str, Sequence[Label]] | None = None,
        bins: int | Mapping[str, int] | None = None,
        edges: Mapping[str, Sequence[float]] | None = None,
        binning: Literal["quantile", "width", "ends"] = "quantile",
        bin_above: int | None = None,
        max_levels: int = 1000,
        target: str | None = None,
        sample_weight: Any = None,
        n_jobs: int | None = None,
        client: Any = None,
    ) -> Domain:
        """Find the variables of a table, their kinds and labels.

        Parameters
        ----------
        data : frame, mapping, array or path
            See :func:`juror.fit`.
        missing : collection
            Markers that stand for a missing value besides null and NaN, such as ``["?"]``.
        levels : mapping of str to sequence, optional
            Labels in their order, by column; such a column becomes ordinal.
        bins : int or mapping of str to int, optional
            How many intervals for a binned column; by default the cube root of twice the rows, 2 to 32.
        edges : mapping of str to sequence, optional
            Interval ends to use, by column. Numbers outside them are unknown.
        binning : {"quantile", "width", "ends"}
            Intervals of about equal counts, of equal width, or of counts that fall towards both ends.
        bin_above : int, optional
            A column with more different numbers than this is binned; by default 32. With fewer it is ordinal if its
            numbers recur: fractions five times on average, whole numbers twice if there are more than ten. If this is
            not given, and some of more than ten numbers occur only once, new rows will have other numbers too: then
            intervals begin at each number that recurs.
        max_levels : int
            The most labels a column may have.
        target : str, optional
            The column to predict, if one is: a few numbers of it are labels, as in :func:`juror.fit`.
        sample_weight : array-like, (n_rows,), or str, optional
            How often each row counts, for quantiles, or the name of the column of weights. Rows of weight zero define
            no labels.
        n_jobs, client : optional
            Who reads the rows, as in :func:`juror.fit`.

        Examples
        --------
        >>> domain = Domain.infer({"size": [1, 2, 2], "colour": ["red", "?", "blue"]}, missing=["?"])
        >>> domain["size"].kind, domain["colour"].labels
        ('ordinal', ('blue', 'red'))
        """
        options = Discovery(levels or {}, bins, edges or {}, binning, bin_above, max_levels, target)
        scan, weight = open_weighted(data, missing, Expected(numbers=options.cut(data)), sample_weight)
        with LocalRunner(n_jobs) as local:
            scan, runner = workers_for(scan, client, local)
            return discover(scan, options, read_markers(missing), runner, weight)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return tuple(variable.name for variable in self.variables)

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """How many labels each variable has."""
        return tuple(variable.cardinality for variable in self.variables)

    @property
    def missing_labels(self) -> dict[str, Label]:
        """The labels of missing cells, by variable; variables whose missing cells are summed out have none."""
        return {v.name: v.missing_label for v in self if v.missing_label is not None}

    @property
    def code_type(self) -> np.dtype[np.signedinteger[Any]]:
        """The shortest type of signed integers that holds all codes and one more."""
        return code_type(max(self.cardinalities))

    def __len__(self) -> int:
        return len(self.variables)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    def __getitem__(self, key: int | str) -> Variable:
        return self.variables[self.position(key)]

    def __contains__(self, name: object) -> bool:
        return name in self._position

    def position(self, key: int | str) -> int:
        """Return a variable's position, from its name or its position."""
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            if not -len(self) <= key < len(self):
                raise QueryError(f"There is no variable {key}: positions run from 0 to {len(self) - 1}.")
            return int(key) % len(self)
        if not isinstance(key, str) or key not in self._position:
            raise QueryError(f"There is no variable {key!r}. {did_you_mean(key, self.names)}")
        return self._position[key]

    def without(self, positions: Collection[int]) -> Domain:
        """Return the domain of the other variables, with the formulas that are about these alone, and their orders."""
        kept = tuple(v for n, v in enumerate(self.variables) if n not in positions)
        names = {variable.name for variable in kept}
        formulas = tuple(formula for formula in self.formulas if names.issuperset(formula.names))
        orders = among(self.orders, names, self.variables)
        return replace(self, variables=kept, formulas=formulas, orders=orders)

    def with_missing_as(self, labels: Mapping[str, Label]) -> Domain:
        """Return the domain in which missing cells of some variables have a label, and so are a state of their own.

        Missing cells of all other variables are summed out. A variable whose column is absent is summed out too.

        Parameters
        ----------
        labels : mapping of str to label
            By variable the label of its missing cells, such as ``{"migration": "not asked"}``.

        Examples
        --------
        >>> domain = Domain.infer({"year": [94, 94, 95], "migration": ["yes", "no", None]})
        >>> domain = domain.with_missing_as({"migration": "not asked"})
        >>> domain["migration"].labels, domain.encode({"year": [94, 95], "migration": ["yes", None]}).tolist()
        (('no', 'yes', 'not asked'), [[0, 1], [1, 2]])
        """
        if not isinstance(labels, Mapping):
            raise wrong("missing_as", "a dict of columns, like {'column': 'not asked'}", labels)
        for name in labels:
            if name not in self:
                raise ParameterError(
                    "{missing_as} names no column {name!r}. {hint}", name=name, hint=did_you_mean(name, self.names)
                )
        variables = (v.with_missing_label(labels[v.name]) if v.name in labels else v for v in self)
        return replace(self, variables=tuple(variables))

    def united(self, other: Domain) -> Domain:
        """Return the domain with the labels of both; names, kinds and intervals must be the same.

        >>> a, b = (Domain.infer({"colour": labels}) for labels in (["red", "blue"], ["red", "green"]))
        >>> a.united(b)["colour"].labels
        ('blue', 'green', 'red')
        """
        frame = self.frame if self.frame == other.frame else None
        if self == other:
            return replace(self, floats=self.floats or other.floats, frame=frame)
        if self.names != other.names:
            raise DataError(
                f"The variables are {shortlist(self.names)} here and {shortlist(other.names)} there. Both must have "
                "the same, in the same order."
            )
        if self.floats and other.floats and self.floats != other.floats:
            raise DataError(
                f"Arrays of floats hold {self.floats} here and {other.floats} there. Count both with the same domain."
            )
        variables = tuple(map(united_variable, self, other))
        markers = united_markers(self.missing, other.missing, variables)
        return Domain(variables, markers, self.floats or other.floats, frame=frame)

    def extended(self, data: Any, **choices: Any) -> Domain:
        """Return the domain extended by the labels of a table; intervals do not change.

        So the counts of two tables can be added even if each has labels that the other lacks.

        Parameters
        ----------
        data : frame, mapping, array, path or stream
            See :func:`juror.fit`.
        **choices
            As in :meth:`infer`, except for missing markers: those of this domain are used.

        Examples
        --------
        >>> north = Domain.infer({"colour": ["red", "blue"], "price": [0.5, 2.5]})
        >>> south = north.extended({"colour": ["teal", "red"], "price": [0.7, 9.9]})
        >>> south["colour"].labels, south["price"] == north["price"]
        (('blue', 'red', 'teal'), True)
        """
        found = Domain.infer(open_scan(data, self.missing, self.expected), missing=self.missing, **choices)
        found = found.with_missing_as({name: label for name, label in self.missing_labels.items() if name in found})
        variables = (
            mine if mine.edges is not None or mine.name not in found else united_variable(mine, found[mine.name])
            for mine in self
        )
        return replace(self, variables=tuple(variables))

    def encode(self, data: Any, unknown: Unknown = "error") -> np.ndarray:
        """Return the codes of a table, −1 for cells to be summed out, such as all of a column that is absent.

        Missing cells are summed out too, unless the variable has a label for them (:meth:`with_missing_as`).

        Parameters
        ----------
        data : frame, mapping, array or path
            Columns are matched by name, and others are left alone (:meth:`known`); an array must have one column a
            variable, in the domain's order.
        unknown : {"error", "warn", "missing"}
            What to do with values that are not among the labels.

        Returns
        -------
        numpy.ndarray, (n_rows, n_variables)
            In the shortest type of signed integers that holds every code and one more, with contiguous columns.
        """
        return self.encode_columns(self.open(data), unknown)

    @property
    def expected(self) -> Expected:
        """What this domain tells a source about its columns before they are opened."""
        numbers = [v.name for v in self if v.edges or any(isinstance(label, float) for label in v.present_labels)]
        return Expected(
            names=self.names,
            floats=self.floats or "codes",
            numbers=numbers,
            unclear=[v.name for v in self if v.name not in numbers and not v.are_codes] if not self.floats else (),
            text=[v.name for v in self if v.edges is None and any(isinstance(one, str) for one in v.present_labels)],
        )

    def open(self, data: Any) -> list[Column]:
        """Open those columns of a source that are variables; see :meth:`known`."""
        return read_whole(self.scan(data))

    def scan(self, data: Any) -> Scan:
        """Open those columns of a source that are variables, as a table in parts; it names the others."""
        return open_scan(data, self.missing, replace(self.expected, choose=self.known))

    def known(self, names: Sequence[str]) -> list[str]:
        """Return the columns of a table that are variables, given the names of all; the others are left alone.

        A likely misspelling of a variable that is absent is refused.
        """
        return known_columns(self.names, names)

    def check_all_there(self, columns: Sequence[Column]) -> None:
        """Refuse a table that lacks columns of the domain."""
        found = {column.name for column in columns}
        absent = [name for name in self.names if name not in found]
        if absent:
            raise DataError(
                f"The data have no columns {shortlist(absent)}, which the domain names. Add them, or leave them out."
            )

    def check_known(self, names: Iterable[str]) -> None:
        """Refuse names of columns that are no variables."""
        for name in names:
            if name not in self:
                raise DataError(
                    f"The data have a column {name!r} that the model does not know. "
                    f"{did_you_mean(name, self.names)} Drop or rename it."
                )

    def encode_columns(self, columns: Sequence[Column], unknown: Unknown = "error") -> np.ndarray:
        """Return the codes of opened columns; see :meth:`encode`."""
        codes, strangers = self.encode_chunk(columns, unknown)
        strangers.warn()
        return codes

    def encode_chunk(self, columns: Sequence[Column], unknown: Unknown = "error") -> tuple[np.ndarray, Strangers]:
        """Return the codes of a piece of a table, and its unknown labels, to warn of after the last piece."""
        check_unknown(unknown)
        codes = np.empty((len(columns[0].index), len(self)), dtype=self.code_type, order="F")
        if len({column.name for column in columns}) < len(self):
            codes.fill(MISSING)
        strangers = Strangers()
        self.check_known([column.name for column in columns])
        for column in columns:
            found, strange = self[column.name].encode_piece(column, unknown, self.code_type.type)
            codes[:, self.position(column.name)] = found
            strangers += strange
        return codes, strangers


def discover(scan: Scan, options: Discovery, missing: Collection[Label], runner: Runner, weight: str | None) -> Domain:
    """Find the variables of a table in one pass over its rows. The column of row weights is not a variable.

    The missing markers are those that the table was opened with.
    """
    names = [name for name in scan.names if name != weight]
    options.check_names(names)
    looked_at = [name for name in names if name not in options.levels]
    # count all labels of columns in memory before refusing; read at least one column, to count the rows
    most = math.inf if scan.in_memory else options.max_levels
    census = take_census(scan, runner, most, looked_at or names[:1], weight)
    check_any_rows(census.n_rows)
    if weight is not None:
        census.weights.check()
    return Domain(options.variables(census.tallies, names), tuple(missing), scan.floats, frame=scan.frame)
