"""The library of a frame and the types of its columns, so that rows that are drawn can have them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
        By column the name that this library has for its type, such as ``"Int64"`` or ``"category"``.

    Examples
    --------
    >>> import pandas as pd
    >>> FrameType.of(pd.DataFrame({"size": pd.array([1, 2], dtype="Int64")}))
    FrameType(library='pandas', dtypes={'size': 'Int64'})
    """

    library: str
    dtypes: Mapping[str, str]

    @classmethod
    def of(cls, frame: Any) -> FrameType | None:
        """Return the type of a frame; None if it is of another library, such as Modin."""
        import narwhals as nw  # slow to import

        wrapped = nw.from_native(frame, eager_only=True)
        library = wrapped.implementation.value
        if library not in _LIBRARIES:
            return None
        native = {name: wrapped[name].to_native() for name in wrapped.columns}
        # pyarrow says type, the others say dtype
        return cls(
            library, {name: str(getattr(each, "dtype", getattr(each, "type", ""))) for name, each in native.items()}
        )
