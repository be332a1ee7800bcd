"""Columns of text whose cells are numbers with commas, and what to do about them.

A comma before exactly three digits may group thousands or stand before a fraction: 1,156 is 1156 or 1.156. Only the
user can tell, so nothing is converted, and messages name both ways out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from juror.errors import Message

_NUMBER = re.compile(r"\s*[-+]?\d+(,\d+)?\s*")
_GROUPED = re.compile(r"\s*[-+]?([1-9]\d{0,2}(,\d{3})*|0)(\.\d+)?\s*")
# Two commas, or a point behind a comma: only thousands are written like this.
_SURELY_GROUPED = re.compile(r".*,.*[,.].*")

_DECIMAL = Message("If it is to be numbers with a decimal comma, pass {Files.decimal:=','}.")
_THOUSANDS = Message("If commas group its thousands, remove them from the data: 1,234 is then 1234.")
_EITHER = Message(
    "If commas group thousands, remove them from the data; if they are decimal commas, pass {Files.decimal:=','}."
)


def way_out_of_commas(labels: Sequence[Any]) -> Message | None:
    """Say how to read labels if all are numbers, some with commas; None if they are not, or have no comma.

    >>> print(way_out_of_commas(["1,156", "2,000,100"]))
    If commas group its thousands, remove them from the data: 1,234 is then 1234.
    >>> way_out_of_commas(["1.5", "20"]), way_out_of_commas(["1,5", "much"])
    (None, None)
    """
    if not all(isinstance(label, str) for label in labels) or not any("," in label for label in labels):
        return None
    if all(_GROUPED.fullmatch(label) for label in labels):
        return _THOUSANDS if any(_SURELY_GROUPED.fullmatch(label) for label in labels) else _EITHER
    return _DECIMAL if all(_NUMBER.fullmatch(label) for label in labels) else None
