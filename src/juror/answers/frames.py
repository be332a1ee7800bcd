"""Answers as frames of the kind that a person works with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from juror.errors import MissingDependencyError, ParameterError, shortlist
from juror.variable import Label, Variable

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
    if kind != "pandas":
        # their columns have one type; a pandas column may hold any objects
        columns = {name: _of_one_type(values) for name, values in columns.items()}
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


def label_array(labels: Sequence[Label]) -> np.ndarray:
    """Return labels as an array of their common type, or of objects where they have none."""
    if len({type(label) for label in labels}) == 1:
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def _of_one_type(values: Sequence[Any]) -> Sequence[Any]:
    """Turn labels of several types into text, and whole numbers among fractions into floats."""
    types = {type(value) for value in values if value is not None}
    if len(types) < 2:
        return values
    if types == {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]
