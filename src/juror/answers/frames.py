"""Answers as frames of the kind that a person works with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from juror.errors import MissingDependencyError, ParameterError, shortlist
from juror.sources import Column
from juror.variable import Variable

FRAMES = ("pandas", "polars", "pyarrow")


def to_frame(columns: Mapping[str, Sequence[Any]], kind: str) -> Any:
    """Make a frame of columns.

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns by name.
    kind : {"pandas", "polars", "pyarrow"}
        Which library's frame.
    """
    if kind not in FRAMES:
        raise ParameterError(f"frame must be one of {shortlist(FRAMES)}. Got {kind!r} instead.")
    try:
        return nw.from_dict(dict(columns), backend=kind).to_native()  # type: ignore[arg-type]
    except ModuleNotFoundError:
        raise MissingDependencyError(
            f"{kind} is not installed. Install it with: pip install 'juror[{kind}]', or ask for another frame."
        ) from None


def decode_frame(variables: Sequence[Variable], codes: np.ndarray, kind: str, numbers: bool) -> Any:
    """Turn codes (rows, N) into a frame of labels; binned variables into numbers if asked."""
    columns = {v.name: v.decode(codes[:, n], numbers) for n, v in enumerate(variables)}
    return to_frame(columns, kind)


def fill_holes(data: Any, columns: Sequence[Column], variables: Sequence[Variable], codes: np.ndarray) -> Any:
    """Return data like the given, its missing cells replaced by what codes say and all others as they were.

    Parameters
    ----------
    data : frame, mapping, array or path
        What the user gave. An array comes back as an array, a frame as a frame of its kind, all else as pandas.
    columns : sequence of Column
        The same data, opened.
    variables : sequence of Variable
        The variable of each column.
    codes : numpy.ndarray, (rows, n_columns)
        Codes to fill in, looked at only where the column is missing.
    """
    fills = {
        column.name: _fills(column, variable, codes[:, n])
        for n, (column, variable) in enumerate(zip(columns, variables, strict=True))
    }
    if isinstance(data, np.ndarray):
        return _fill_array(data, list(fills.values()))
    if nw.dependencies.is_into_dataframe(data):
        frame = nw.from_native(data, eager_only=True)
        filled = [_fill_series(frame[name], *fill) for name, fill in fills.items()]
        return frame.with_columns(*filled).to_native()
    whole = {}
    for column in columns:
        values = np.empty(len(column.index), dtype=object)
        seen = column.index >= 0
        values[seen] = np.asarray(column.values, dtype=object)[column.index[seen]]
        rows, labels = fills[column.name]
        values[rows] = labels
        whole[column.name] = values.tolist()
    return to_frame(whole, "pandas")


def _fills(column: Column, variable: Variable, codes: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Return which rows are holes and what goes into them, in the type of the column around them."""
    holes = np.flatnonzero(column.index < 0)
    if column.form == "code":
        return holes, codes[holes].tolist()
    labels = variable.decode(codes[holes], numbers=column.form == "number")
    if column.form == "text" and len(column.values):
        labels = [str(label) for label in labels]
    return holes, labels


def _fill_array(array: np.ndarray, fills: Sequence[tuple[np.ndarray, list[Any]]]) -> np.ndarray:
    filled = array.copy()
    for n, (rows, labels) in enumerate(fills):
        filled[rows, n] = labels
    return filled


def _fill_series(series: nw.Series[Any], rows: np.ndarray, labels: list[Any]) -> nw.Series[Any]:
    if not len(rows):
        return series
    values = series.to_list()
    for row, label in zip(rows, labels, strict=True):
        values[row] = label
    dtype = series.dtype if series.dtype not in (nw.Object, nw.Unknown) else None
    backend = nw.get_native_namespace(series)
    filled = nw.new_series(series.name, values, dtype, backend=backend)
    return _with_index_of(series, filled)


def _with_index_of(series: nw.Series[Any], filled: nw.Series[Any]) -> nw.Series[Any]:
    """Keep a pandas index, which decides how columns are put together."""
    return (
        nw.maybe_set_index(filled, index=nw.maybe_get_index(series))
        if nw.maybe_get_index(series) is not None
        else filled
    )
