"""Refuse a CSV file that ends inside a quoted cell, which may have swallowed rows. pyarrow reads it without a word."""

from __future__ import annotations

import codecs

import pyarrow as pa

from juror.errors import DataError
from juror.readers.csv_dialects import Dialect
from juror.readers.paths import reading

_CHUNK_BYTES = 1 << 22
_SPARE_CHARACTERS = 16


def check_closed(path: str, dialect: Dialect, last: str | None) -> None:
    """Refuse a file whose last cell, given as its text, has a quote at its beginning and none at its end."""
    if last is None or not dialect.quote:
        return
    opened = dialect.quote + last.replace(dialect.quote, 2 * dialect.quote)
    with reading(path, dialect.encoding):
        ending = _ending(path, dialect, len(opened) + 1)
        if ending.rstrip("\r\n").endswith(opened + dialect.quote) or not ending.endswith(opened):
            return
        line = _n_breaks(path, dialect) - max(last.count("\n"), last.count("\r")) + 1
    raise DataError(
        "The file {path!r} ends inside a quoted cell, which begins in line {line} with {start!r}. Close its quote, or "
        "pass {Files.quote:=''} if quotes are ordinary characters there.",
        path=path,
        line=line,
        start=last[:20],
    )


def _ending(path: str, dialect: Dialect, n_characters: int) -> str:
    """Return at least the last characters of a file, or all of them."""
    # no character has more bytes than four; pieces begin at a multiple of four
    n_bytes = 4 * (n_characters + _SPARE_CHARACTERS)
    with _opened(path, dialect) as stream:
        start = held = stream.read(4)
        if stream.seekable():
            place = max(0, stream.size() - n_bytes) // 4 * 4
            stream.seek(place)
            held = stream.read()
        else:
            place = 0
            while chunk := stream.read(_CHUNK_BYTES):
                cut = max(0, len(held) - n_bytes) // 4 * 4
                held, place = held[cut:] + chunk, place + cut
    # UTF-16 and UTF-32 have a mark at the beginning of the file that says how all of it is read
    is_marked = place > 0 and codecs.lookup(dialect.encoding).name in ("utf-16", "utf-32")
    return ((start if is_marked else b"") + held).decode(dialect.encoding, errors="replace")


def _n_breaks(path: str, dialect: Dialect) -> int:
    decoder = codecs.getincrementaldecoder(dialect.encoding)(errors="replace")
    breaks = dict.fromkeys("\n\r", 0)
    with _opened(path, dialect) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            text = decoder.decode(chunk)
            breaks = {mark: n + text.count(mark) for mark, n in breaks.items()}
    # lines end in \n, in \r\n or in \r
    return max(breaks.values())


def _opened(path: str, dialect: Dialect) -> pa.NativeFile:
    return pa.input_stream(path) if dialect.content is None else pa.BufferReader(dialect.content)
