"""Columns of text whose cells are numbers with commas, and what to do about them.

A comma before exactly three digits may group thousands or stand before a fraction: 1,156 is 1156 or 1.156. Only the
user can tell, so nothing is converted, and messages name both ways out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from juror.errors import Message

Meaning = Literal["decimal", "thousands", "either"]

_NUMBER = re.compile(r"\s*[-+]?\d+(,\d+)?\s*")
_GROUPED = re.compile(r"\s*[-+]?([1-9]\d{0,2}(,\d{3})*|0)(\.\d+)?\s*")
# Two commas, or a point behind a comma: only thousands are written like this
_SURELY_GROUPED = re.compile(r".*,.*[,.].*")

_WAYS_OUT: dict[Meaning, Message] = {
    "decimal": Message("If it is to be numbers with a decimal comma, pass {Files.decimal:=','}."),
    "thousands": Message("If commas group its thousands, remove them from the data: 1,234 is then 1234."),
    "either": Message(
        "If commas group thousands, remove them from the data; if they are decimal commas, pass {Files.decimal:=','}."
    ),
}


def meaning_of_commas(labels: Sequence[Any]) -> Meaning | None:
    """Tell what commas in labels mean if all labels are numbers; None if they are not, or have no comma.

    >>> meaning_of_commas(["1,5", "20"]), meaning_of_commas(["1,156", "987"]), meaning_of_commas(["1,156", "2,000,100"])
    ('decimal', 'either', 'thousands')
    """
    if not all(isinstance(label, str) for label in labels) or not any("," in label for label in labels):
        return None
    if all(_GROUPED.fullmatch(label) for label in labels):
        return "thousands" if any(_SURELY_GROUPED.fullmatch(label) for label in labels) else "either"
    return "decimal" if all(_NUMBER.fullmatch(label) for label in labels) else None


def way_out_of_commas(meaning: Meaning) -> Message:
    """Say how to read numbers with commas."""
    return _WAYS_OUT[meaning]
