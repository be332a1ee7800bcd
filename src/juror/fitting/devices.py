"""Where a fit passes over its rows: which fits a card is for, and which card it was."""

from __future__ import annotations

from typing import Any

from juror.errors import Message, ParameterError
from juror.rows.in_memory import MemoryTable
from juror.runners.local import LocalRunner
from juror.solvers.methods import METHODS
from juror.solvers.solver import Method


def check_for_card(device: str, method: str, read: Any) -> None:
    """Refuse a card for fits that do not pass over rows in memory."""
    if device != "cuda":
        return
    if not METHODS[method].on_card:
        raise ParameterError(
            "{device:='cuda'} is for methods that pass over rows again and again: {names}. Got {method!r}. Pass "
            "{device:='cpu'}.",
            names=", ".join(name for name, each in METHODS.items() if each.on_card),
            method=method,
        )
    if not isinstance(read, MemoryTable):
        text = Message("{device:='cuda'} is for rows in memory. Raise {memory}, or pass {device:='cpu'}.")
        raise ParameterError(text)


def card_of(runner: LocalRunner, method: Method, read: Any) -> str:
    """Return the name of the card that passed over the rows, or nothing."""
    card = runner.card(read.rows.codes.size) if method.on_card and isinstance(read, MemoryTable) else None
    return "" if card is None else str(card.card_name())
