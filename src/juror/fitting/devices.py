"""Where a fit passes over its rows: which fits a card is for, and which card it was."""

from __future__ import annotations

from typing import Any

from juror.errors import Message, ParameterError
from juror.rows.in_memory import MemoryTable
from juror.runners.local import LocalRunner
from juror.solvers.methods import METHODS
from juror.solvers.solver import Method


def settle_device(runner: LocalRunner, method: str, read: Any) -> None:
    """Decide once where a fit passes over rows, so that its parts do not differ; refuse a card where it is not for."""
    is_for_card = METHODS[method].on_card and isinstance(read, MemoryTable)
    if runner.device == "auto":
        runner.device = "cpu" if not is_for_card or runner.card(read.rows.codes.size) is None else "cuda"
    if runner.device == "cuda":
        check_for_card(method, read)


def check_for_card(method: str, read: Any) -> None:
    """Refuse fits that do not pass over rows in memory."""
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
