"""The one place that masks credentials: in addresses, in reasons of failures, and in every message of juror.

``masked`` is what all errors and warnings go through (:mod:`juror.errors`). Code that knows an address uses more:
``shown_uri`` for the address itself, and ``scrubbed`` for texts of others that may repeat pieces of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection

# The databases that are files
FILE_SCHEMES = ("duckdb", "sqlite")
_SECRET_NAME = r"\w*(?:password|passwd|pwd|token|secret)"
# A full stop behind a value ends the sentence around it, and stays; right behind the equals sign it is the value.
_NO_STOP = r"(?!(?<![=\s])\.(?:\s|$))"
_SECRET_PAIR = re.compile(
    rf"""\b({_SECRET_NAME})(\s*=\s*)('(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|(?:{_NO_STOP}[^\s&;,])+)""", re.IGNORECASE
)
# Paths of pathlib have lost the second slash.
_BEGIN = r"\b[a-z][\w+.\-]+:/{1,2}"
# A password ends at a space, or in an address in quotes at the quote.
_LOGIN_IN_URI = re.compile(
    rf"""(?P<quoted>(?<=['"]))?(?P<begin>{_BEGIN})(?P<user>[^\s:/@?'"]*)(?::(?(quoted)[^'"\n]*|\S*))?@""",
    re.IGNORECASE,
)
_PARAMETERS_OF_URI = re.compile(rf"({_BEGIN}[^\s?]*\?)(\S+)", re.IGNORECASE)
_SECRET_PARAMETER = re.compile(
    rf"""([\w\-]*(?:pass|pwd|token|secret|key|sig|signature|credential|auth)[\w\-]*=)(?:{_NO_STOP}[^\s&#;'"])+""",
    re.IGNORECASE,
)
# A password in a connection string; with spaces around the sign it may be a question about a column of that name.
_PASSWORD_PAIR = re.compile(
    rf"""(\b\w*(?:password|passwd|pwd)=)('[^']*'?|"[^"]*"?|(?:{_NO_STOP}[^\s&;,'"])+)""", re.IGNORECASE
)
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
        place, slash, name = "…", "", ""
    return masked(f"{scheme}{mark}{user}{at}{place}{slash}{name}")


def secrets_of(uri: str) -> frozenset[str]:
    """Return the passwords in an address of a database, in all ways a message may write them.

    >>> sorted(secrets_of("postgresql://ann:ha%20sh@localhost/shop"))
    ['ha sh', 'ha%20sh']
    """
    from urllib.parse import quote, unquote, unquote_plus  # every message imports this module

    rest = uri.partition("://")[2]
    found = [user.partition(":")[2] for user in (rest.partition("@")[0], rest.rpartition("@")[0]) if "@" in rest]
    found += re.findall(rf"[?&]{_SECRET_NAME}=([^&#]*)", uri, re.IGNORECASE)
    found += [pair.partition("=")[2] for pair in uri.partition("?")[2].split("&") if _SECRET_PARAMETER.match(pair)]
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
    text = _without(text, secrets)
    return _without(_SECRET_PAIR.sub(rf"\1\2{_MASK}", masked(text)), secrets)


def masked(text: str) -> str:
    """Take out of any text the passwords and tokens in addresses and connection strings.

    >>> masked("no file 'https://ann:hush@host/x.csv?sig=hush&page=2', no host=db password=hush")
    "no file 'https://***@host/x.csv?sig=***&page=2', no host=db password=***"
    """
    if ":/" in text:
        text = _LOGIN_IN_URI.sub(_user_only, text)
        text = _PARAMETERS_OF_URI.sub(lambda uri: uri[1] + _SECRET_PARAMETER.sub(rf"\1{_MASK}", uri[2]), text)
    return _PASSWORD_PAIR.sub(rf"\1{_MASK}", text) if "=" in text else text


def _user_only(login: re.Match[str]) -> str:
    # On the web a user may be a token.
    is_name = not login["begin"].lower().startswith("http")
    return login["begin"] + (login["user"] if is_name else _MASK) + "@"


def _without(text: str, secrets: Collection[str]) -> str:
    known = sorted(filter(None, secrets), key=len, reverse=True)
    mask = "" if any(secret in _MASK for secret in known) else _MASK
    while any(secret in text for secret in known):
        for secret in known:
            text = text.replace(secret, mask)
    return text
