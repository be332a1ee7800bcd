"""Addresses of databases and reasons of failures, without credentials."""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import quote, unquote, unquote_plus

# The databases that are files
FILE_SCHEMES = ("duckdb", "sqlite")
_SECRET_NAME = r"\w*(?:password|passwd|pwd|token|secret)"
_SECRET_PAIR = re.compile(
    rf"""\b({_SECRET_NAME})(\s*=\s*)('(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[^\s&;,]+)""", re.IGNORECASE
)
_SECRET_IN_URI = re.compile(r"(\w[\w+.\-]*://[^\s:/@]*):\S*@")
_MASK = "***"
# Hosts and ports: nothing that could be part of a password
_PLACE = re.compile(r"[\w.\-]*(?::\d+)?(?:,[\w.\-]*(?::\d+)?)*|\[[\da-f:.]+\](?::\d+)?", re.IGNORECASE)

# What servers, drivers and Arrow put around the reason of an error
_SERVER_SAYS = re.compile(r"(?:ERROR|FATAL|PANIC):\s+(.+)")
_DRIVER_SAYS = re.compile(
    r"^(?:Unknown error: )?(?:[A-Z_]+: )?(?:\[\w+\] )?(?:Failed to [a-z ]+: )?(?:\w+\(\) failed: )?"
)
_TRACEBACK = ". Detail: Python exception"


def shown_uri(uri: str) -> str:
    """Return the address of a database as it may be shown: with its user, without password and parameters.

    >>> shown_uri("postgresql://ann:hush@localhost:5432/shop?sslmode=require")
    'postgresql://ann@localhost:5432/shop'
    """
    scheme, mark, rest = uri.partition("://")
    if not mark:
        # a path, or perhaps a connection string of another kind
        return "…" if set("=@") & set(uri) else uri
    if scheme in FILE_SCHEMES:
        return scheme + mark + rest.partition("?")[0]
    before, at, place = rest.rpartition("@")
    user = re.split("[:/?#]|%3a", before, maxsplit=1, flags=re.IGNORECASE)[0]
    place, slash, name = re.split("[?#]", place, maxsplit=1)[0].partition("/")
    if "@" in before or not _PLACE.fullmatch(place) or "/" in name:
        return f"{scheme}{mark}{user}{at}…"
    return f"{scheme}{mark}{user}{at}{place}{slash}{name}"


def secrets_of(uri: str) -> frozenset[str]:
    """Return the passwords in an address of a database, in all ways a message may write them.

    >>> sorted(secrets_of("postgresql://ann:ha%20sh@localhost/shop"))
    ['ha sh', 'ha%20sh']
    """
    rest = uri.partition("://")[2]
    found = [user.partition(":")[2] for user in (rest.partition("@")[0], rest.rpartition("@")[0]) if "@" in rest]
    found += re.findall(rf"[?&]{_SECRET_NAME}=([^&#]*)", uri, re.IGNORECASE)
    found += [value.strip("'\"") for _, _, value in _SECRET_PAIR.findall(uri)]
    plain = {form for raw in found for form in (unquote(raw), unquote_plus(raw))}
    forms = {form for word in plain for form in (word, quote(word), quote(word, safe=""), repr(word)[1:-1])}
    return frozenset({*found, *forms} - {""})


def plain_reason(error: BaseException, secrets: Collection[str] = ()) -> str:
    """Return in one line why something failed, from an exception of a database or a stream, without credentials.

    >>> plain_reason(OSError("IO: [libpq] Failed to connect: FATAL:  no database of ann:hush, sorry."), ["hush"])
    'no database of ann:***, sorry'
    """
    text = scrubbed(str(error), secrets).strip().partition(_TRACEBACK)[0]
    said = _SERVER_SAYS.search(text)
    line = said[1] if said else next(iter(_DRIVER_SAYS.sub("", text).splitlines()), "")
    return line.rstrip(" .!:") or type(error).__name__


def scrubbed(text: str, secrets: Collection[str] = ()) -> str:
    """Take passwords out of a text: the ones given, and all that looks like one.

    >>> scrubbed("cannot open postgresql://ann:hush@host/db with password=hush (hush!)", ["hush"])
    'cannot open postgresql://ann@host/db with password=*** (***!)'
    """
    # mask the given passwords first: they may contain a character that would end the pattern
    text = _masked(text, secrets)
    text = _SECRET_PAIR.sub(rf"\1\2{_MASK}", _SECRET_IN_URI.sub(r"\1@", text))
    return _masked(text, secrets)


def _masked(text: str, secrets: Collection[str]) -> str:
    known = sorted(filter(None, secrets), key=len, reverse=True)
    mask = "" if any(secret in _MASK for secret in known) else _MASK
    while any(secret in text for secret in known):
        for secret in known:
            text = text.replace(secret, mask)
    return text
