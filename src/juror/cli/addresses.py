"""Keep passwords in addresses of databases out of messages.

Any code that reads the arguments may repeat them in a message. So ``main`` first removes the passwords from them, and
the code that opens the database asks here for the full address.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from juror import credentials

_OPTION = "--database="
_ADDRESS = re.compile(r"\w[\w+.\-]*:/{1,2}.+", re.DOTALL)

# Full addresses of this run, by the address without its password
_hidden: dict[str, str] = {}


def hide(arguments: Sequence[str]) -> list[str]:
    """Return the arguments without passwords; forget the addresses of an earlier run."""
    _hidden.clear()
    return [_without_password(argument) for argument in arguments]


def reveal(address: str) -> str:
    """Return the full address, with its password if it has one."""
    return _hidden.get(address, address)


def scrubbed(text: str) -> str:
    """Remove passwords from a text: those of hidden addresses, and all that look like one."""
    if not _hidden:
        return credentials.masked(text)
    secrets = frozenset[str]().union(*map(credentials.secrets_of, _hidden.values()))
    return credentials.scrubbed(text, secrets)


def _without_password(argument: str) -> str:
    option = _OPTION if argument.startswith(_OPTION) else ""
    address = argument.removeprefix(option)
    if not _ADDRESS.fullmatch(address):
        return argument
    if not credentials.secrets_of(address) and credentials.masked(repr(address)) == repr(address):
        return argument
    shown = credentials.shown_uri(address) if "://" in address else credentials.masked(address)
    _hidden[shown] = address
    return option + shown
