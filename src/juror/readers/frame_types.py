"""The library of a frame and the types of its columns, so that drawn rows can have the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

_LIBRARIES = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True)
class FrameType:
    """What kind of frame a table was.

    Attributes
    ----------
    library : {"pandas", "polars", "pyarrow"}
        The library of the frame.
    dtypes : mapping of str to str
        By column, the name of its type in this library, such as ``"Int64"`` or ``"category"``; ``"decimal"`` for
        objects of pandas that are decimals of Python.

    Examples
    --------
    >>> import pandas as pd
    >>> FrameType.of(pd.DataFrame({"size": pd.array([1, 2], dtype="Int64")}))
    FrameType(library='pandas', dtypes={'size': 'Int64'})
    """

    library: str
    dtypes: Mapping[str, str]

    def only(self, names: Collection[str]) -> FrameType:
        """Return the type of a frame of these columns alone, without the names of others."""
        return replace(self, dtypes={name: dtype for name, dtype in self.dtypes.items() if name in names})

    @classmethod
    def of(cls, frame: Any) -> FrameType | None:
        """Return the type of a frame; None if it is of another library, such as Modin."""
        import narwhals as nw  # slow to import

        wrapped = nw.from_native(frame, eager_only=True)
        library = wrapped.implementation.value
        if library not in _LIBRARIES:
            return None
        return cls(library, {name: _type_of(wrapped[name].to_native()) for name in wrapped.columns})


def _type_of(column: Any) -> str:
    """Return the name of a column's type: pyarrow says type, the others say dtype."""
    name = str(getattr(column, "dtype", getattr(column, "type", "")))
    if name == "object":
        from pandas.api.types import infer_dtype

        return "decimal" if infer_dtype(column) == "decimal" else name
    # polars lists all labels in the name, and the variable has them
    return "Enum" if name.startswith("Enum(") else name
