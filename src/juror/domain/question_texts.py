"""How names, labels and conditions are written in a question, so that they can be read again."""

from __future__ import annotations

import re

from juror.domain.interval_texts import IntervalTexts
from juror.domain.variable import Variable
from juror.readers.columns import as_text

# What a question reads without quotes: a word, or a day and a time; see model/query.py
_WORD = r"""(?:\d{4}-\d\d-\d\d[ ](?=\d\d:))?[^\s,|=<>!{}"']+"""
_NAME, _VALUE = re.compile(_WORD), re.compile(r"(?:[<>]=?)?" + _WORD)
_OF_THE_LANGUAGE = ("not", "in")


def as_name(name: str) -> str:
    """Return the name of a variable as a question has it, in quotes if it needs them.

    >>> as_name("age"), as_name("marital status")
    ('age', "'marital status'")
    """
    return name if _NAME.fullmatch(name) and name.lower() not in _OF_THE_LANGUAGE else _quoted(name)


def as_value(label: object) -> str:
    """Return a label as a question has it, in quotes if it needs them.

    >>> as_value(4.0), as_value(">50K"), as_value("air force")
    ('4', '>50K', "'air force'")
    """
    text = as_text(label)
    return text if _VALUE.fullmatch(text) and text.lower() not in _OF_THE_LANGUAGE else _quoted(text)


def _quoted(text: str) -> str:
    quote = '"' if "'" in text and '"' not in text else "'"
    return quote + re.sub(rf"([\\{quote}])", r"\\\1", text) + quote


def run_condition(variable: Variable, first: int, last: int) -> str:
    """Return the condition that a variable has one of neighbouring labels, some but not all of those in its order."""
    n_present = len(variable.present_labels)
    if variable.edges is not None and last < n_present:
        return _interval_condition(variable, first, last)
    name, low, high = as_name(variable.name), as_value(variable.labels[first]), as_value(variable.labels[last])
    if first == last:
        return f"{name} = {low}"
    if last == n_present - 1:
        return f"{name} >= {low}"
    return f"{name} <= {high}" if first == 0 else f"{low} <= {name} <= {high}"


def _interval_condition(variable: Variable, first: int, last: int) -> str:
    assert variable.edges is not None
    inside = variable.inside
    texts = IntervalTexts(variable.edges, variable.open_ended, variable.law, variable.calendar)
    name = as_name(variable.name)
    if inside.law.grid.decimals is not None and inside.cuts[last + 1] == inside.law.grid.ends_of(inside.cuts[first]):
        return f"{name} = {texts.written[first]}"
    return texts.condition(name, first, last)
