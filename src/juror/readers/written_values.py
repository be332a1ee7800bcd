"""Columns of text whose cells are written values: numbers, amounts with a sign, or dates.

Nothing is converted, because only the user knows what ``03/04/2024`` means, or whether numbers are names. Messages say
what to do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from juror.errors import Message
from juror.readers.commas import way_out_of_commas
from juror.readers.exact_numbers import as_number

# Identifiers such as 007, 0x10, and whole numbers that floats round
ODD = re.compile(r"\s*[-+]?(0[0-9xX]|[0-9]{16})")
_SIGN = re.compile(r"[$€£¥₹%]")
_AMOUNT = re.compile(r"\s*[-+(]?\s*[$€£¥₹]?\s*[-+]?\d[\d.,'\s]*[$€£¥₹%]?\s*\)?\s*")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
# Years have two digits only after slashes, because 1.2.10 may be a chapter.
_DAYS = (
    r"\d{4}[-/.]\d\d?[-/.]\d\d?",
    r"\d\d?[-/.]\d\d?[-/.]\d{4}",
    r"\d\d?/\d\d?/\d\d",
    rf"\d\d?[- ]{_MONTH}[- ]\d{{2,4}}",
    rf"{_MONTH} \d\d?,? \d{{4}}",
)
_DATE = re.compile(rf"\s*({'|'.join(_DAYS)})([T ]+\d\d?:\d\d.*)?\s*", re.IGNORECASE)

# Dates that juror reads from a CSV file without being told what they mean; only a frame says that they are text.
_AS_READ = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")


@dataclass(frozen=True)
class WrittenValues:
    """What the labels of a column of text are, an example, what to do about it, and whether they may be names."""

    are: str
    example: str
    way_out: Message
    may_be_names: bool = False


def written_values(labels: Sequence[Any]) -> WrittenValues | None:
    """Tell what labels of text are if all are written values; None if they are names.

    >>> [str(written_values(labels).are) for labels in (["1.5", "20"], ["1,5", "20"], ["$2", "3"], ["3/4/24"])]
    ['numbers', 'numbers', 'numbers with signs', 'dates']
    >>> written_values(["007", "12"]), written_values(["1.2.10"])
    (None, None)
    """
    if not labels or not all(isinstance(label, str) for label in labels):
        return None
    of_commas = way_out_of_commas(labels)
    if of_commas is not None:
        return WrittenValues("numbers", next(label for label in labels if "," in label), of_commas)
    if all(as_number(label) is not None and not ODD.match(label) for label in labels):
        fraction = next((label for label in labels if not label.strip().lstrip("+-").isdecimal()), None)
        way_out = Message("Make them numbers, or categories if they are names.")
        return WrittenValues("numbers", fraction or labels[0], way_out, may_be_names=fraction is None)
    signed = next((label for label in labels if _SIGN.search(label)), None)
    if signed is not None and all(_AMOUNT.fullmatch(label) for label in labels):
        way_out = Message("To have them as numbers, remove the signs and any marks between thousands from the data.")
        return WrittenValues("numbers with signs", signed, way_out)
    if all(_DATE.fullmatch(label) for label in labels):
        are_read = all(_AS_READ.fullmatch(label) for label in labels)
        otherwise = "pass the path of the CSV file" if are_read else "write them like 2024-03-01"
        way_out = Message("Make them dates, with pandas.to_datetime for example, or {otherwise}.", otherwise=otherwise)
        return WrittenValues("dates", labels[0], way_out)
    return None
