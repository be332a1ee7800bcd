"""Addresses with passwords in them: taken out of the arguments before anything can show them.

Whatever reads arguments may repeat them, in a message of ours or in one about how the command is used. So ``main``
puts an address without its password in the place of one that has it, and only who opens the database asks for the
whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_OPTION = "--database="
_ADDRESS = re.compile(r"\w[\w+.\-]*://\S+")

# The addresses of this call of the command line, by how they are shown
_hidden: dict[str, str] = {}


def hide(arguments: Sequence[str]) -> list[str]:
    """Return the arguments, addresses in them without passwords; those of an earlier call are forgotten."""
    _hidden.clear()
    return [_without_password(argument) for argument in arguments]


def reveal(address: str) -> str:
    """Return the whole of an address that was hidden, or the address."""
    return _hidden.get(address, address)


def scrubbed(text: str) -> str:
    """Take the passwords of hidden addresses out of a text that is not ours."""
    if not _hidden:
        return text
    from juror.readers import databases

    secrets = frozenset[str]().union(*map(databases.secrets_of, _hidden.values()))
    return databases.scrubbed(text, secrets)


def _without_password(argument: str) -> str:
    option = _OPTION if argument.startswith(_OPTION) else ""
    address = argument.removeprefix(option)
    if not _ADDRESS.fullmatch(address):
        return argument
    from juror.readers.databases import secrets_of, shown_uri

    if not secrets_of(address):
        return argument
    shown = shown_uri(address)
    _hidden[shown] = address
    return option + shown
