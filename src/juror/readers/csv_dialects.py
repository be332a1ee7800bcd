"""How CSV files are written: what the user says, and what the first line of a file shows."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyarrow import csv

from juror.errors import DataError, DataWarning, Option, ParameterError, warn
from juror.readers.paths import ending_of, not_text, reading

_START_BYTES = 1 << 20
# The size of a block, which is parsed at once; no row may be longer. pyarrow reads 32 blocks ahead, so it is small.
BLOCK_BYTES = 1 << 21
# What separates cells, in the order in which it is looked for
_SEPARATORS = ",;\t|"
# Byte-order marks of encodings other than UTF-8. UTF-32 comes first, as its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Written:
    """How CSV files are written, as :class:`juror.Files` describes it."""

    separator: str | None = None
    quote: str = '"'
    encoding: str = "utf-8"
    decimal: str = "."

    def __post_init__(self) -> None:
        if self.separator is not None:
            _check_character("separator", self.separator)
        if self.quote != "":
            _check_character("quote", self.quote)
        if self.decimal not in (".", ","):
            raise ParameterError("{decimal} must be '.' or ','. Got {got!r} instead.", got=self.decimal)
        if self.separator in (self.quote, self.decimal):
            other = "quote" if self.separator == self.quote else "decimal"
            raise ParameterError(
                "{separator} and {other} must differ. Both are {got!r}.", other=Option(other), got=self.separator
            )
        try:
            # other codecs, such as hex, turn bytes into bytes
            "".encode(self.encoding)
        except (LookupError, TypeError):
            raise ParameterError(
                "{encoding} must be one that Python knows, like 'utf-8' or 'latin-1'. Got {got!r} instead.",
                got=self.encoding,
            ) from None


def _check_character(name: str, value: object) -> None:
    if not isinstance(value, str) or len(value) != 1 or not value.isascii():
        raise ParameterError("{name} must be one ASCII character. Got {got!r} instead.", name=Option(name), got=value)
    if value in "\r\n":
        raise ParameterError("{name} must not be a line break. Got {got!r} instead.", name=Option(name), got=value)


@dataclass(frozen=True)
class Dialect:
    """How one CSV file is written, including what its first line shows.

    A table of one column has no separator. The cells in ``null`` are missing. The ``content`` of a small file is kept,
    without compression; workers of a cluster read the file itself.
    """

    separator: str | None
    quote: str
    encoding: str
    decimal: str
    null: tuple[str, ...]
    content: bytes | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"content": None}

    def open(
        self, path: str, block_bytes: int, types: Mapping[str, pa.DataType], names: Sequence[str] = ()
    ) -> csv.CSVStreamingReader:
        """Open a file; only the named columns, if any are. The first block decides the types that are not given."""
        return csv.open_csv(
            path if self.content is None else pa.BufferReader(self.content),
            csv.ReadOptions(use_threads=False, block_size=block_bytes, encoding=self.encoding),
            csv.ParseOptions(
                delimiter=self.separator or ",",
                quote_char=self.quote or False,
                newlines_in_values=self.quote != "",
                # an empty line is a missing cell in a table of one column, and is skipped in others
                ignore_empty_lines=self.separator is not None,
            ),
            self.conversion(types, names),
        )

    def names(self, path: str) -> list[str]:
        """Return the names of a file's columns."""
        with reading(path, self.encoding), self.open(path, BLOCK_BYTES, {}) as reader:
            return list(reader.schema.names)

    def conversion(self, types: Mapping[str, pa.DataType], names: Sequence[str] = ()) -> csv.ConvertOptions:
        """Return how cells become values: an empty cell is missing, a quoted empty one is a label."""
        return csv.ConvertOptions(
            column_types=dict(types),
            include_columns=list(names),
            null_values=list(self.null),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            decimal_point=self.decimal,
        )


def _outside_quotes(text: str, written: Written) -> str:
    """Return the line of column names without its quoted names, in which separators and line breaks do not count."""
    text = text.removeprefix("\ufeff")
    if not written.quote:
        return re.split("[\r\n]", text, maxsplit=1)[0]
    quote, separators = re.escape(written.quote), re.escape(_SEPARATORS + (written.separator or ""))
    # a quote counts at the beginning of a cell only
    quoted = f"(?<![^{separators}]){quote}(?:[^{quote}]|{quote}{quote})*{quote}"
    line = re.match(f"(?:{quoted}|[^\r\n])*", text)
    return re.sub(quoted, "", line[0]) if line else ""


def _warn_of_one_column(path: str, line: str, separator: str | None) -> None:
    """Warn if the line of column names is one name by its separator, and several by another."""
    likely = next((mark for mark in _SEPARATORS if mark in line), None)
    if likely is None or (separator is not None and separator in line):
        return
    warn(
        DataWarning(
            "{fact} Pass {separator} if it stands between columns.",
            fact=f"The file {path!r} is read as one column, although its first line, {line[:40]!r}, contains "
            f"{likely!r}.",
            separator=Option("separator", (likely,), f"={likely!r}", "Files"),
        )
    )


def find_dialect(path: str, written: Written, missing: Sequence[object], small_bytes: int = 0) -> Dialect:
    """Find what ``written`` leaves open in the first line of a file. Keep the content of at most ``small_bytes``."""
    encoding = written.encoding
    with reading(path), pa.input_stream(path) as stream:
        start = stream.read(max(_START_BYTES, small_bytes))
        is_small = len(start) <= small_bytes and not stream.read(1)
    if not start.strip():
        raise DataError(f"The file {path!r} is empty. It needs a line of column names and some rows.")
    if codecs.lookup(encoding).name == "utf-8":
        encoding = next((name for mark, name in _MARKS if start.startswith(mark)), "utf-8")
    line = _outside_quotes(start.decode(encoding, errors="replace"), written)
    if "\0" in line:
        # UTF-16 without a mark: every other byte is zero, which does not occur in text
        raise not_text(f"The file {path!r}", encoding)
    candidates = "\t" if ending_of(path).startswith(".tsv") else _SEPARATORS
    found = next((mark for mark in candidates if mark in line and mark != written.decimal), None)
    _warn_of_one_column(path, line, written.separator or found)
    null = ("", *(str(marker) for marker in missing))
    content = start if is_small else None
    return Dialect(written.separator or found, written.quote, encoding, written.decimal, null, content)
