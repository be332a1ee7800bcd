"""How names, labels and conditions are written in a question, so that they can be read again."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from juror.domain.variable import Variable
from juror.printing import one_line, shortened
from juror.readers.columns import as_text

# What a question reads without quotes: a word, or a day and a time; see model/query.py
_WORD = r"""(?:\d{4}-\d\d-\d\d[ ](?=\d\d:))?[^\s,|=<>!{}"']+"""
_NAME, _VALUE = re.compile(_WORD), re.compile(r"(?:[<>]=?)?" + _WORD)
_OF_THE_LANGUAGE = ("not", "in")
# More neighbouring labels than this are written as a range, and at most the second number of texts are listed.
_SHORT, _MOST_LISTED = 2, 8


def as_name(name: str) -> str:
    """Return the name of a variable as a question has it, in quotes if it needs them.

    >>> as_name("age"), as_name("marital status")
    ('age', "'marital status'")
    """
    return name if _is_plain(_NAME, name) else _quoted(name)


def as_value(label: object) -> str:
    """Return a label as a question has it, in quotes if it needs them.

    >>> as_value(4.0), as_value(">50K"), as_value("air force")
    ('4', '>50K', "'air force'")
    """
    text = as_text(label)
    return text if _is_plain(_VALUE, text) else _quoted(text)


def _is_plain(pattern: re.Pattern[str], text: str) -> bool:
    return bool(pattern.fullmatch(text)) and text.lower() not in _OF_THE_LANGUAGE and one_line(text) == text


def _quoted(text: str) -> str:
    """Return a text in quotes. Control characters are escaped here, so that a title in one line has no others."""
    quote = '"' if "'" in text and '"' not in text else "'"
    return quote + one_line(re.sub(rf"([\\{quote}])", r"\\\1", text)) + quote


def first_labels(variable: Variable, most: int = 6) -> str:
    """Return the first labels in a line. Those with a comma are in quotes, so that each is told from the next.

    >>> first_labels(Variable("lines", ("1", "1, 11", "2")))
    "1, '1, 11', 2"
    """
    shown = [shortened(label) for label in variable.labels[:most]]
    if variable.edges is None:
        shown = [_quoted(text) if "," in text else text for text in shown]
    return ", ".join([*shown, "…"] if variable.cardinality > most else shown)


def condition(variable: Variable, is_chosen: np.ndarray) -> str:
    """Return what leaves a variable some of its labels, (cardinality,): a range, a set, or several conditions."""
    chosen, others = np.flatnonzero(is_chosen), np.flatnonzero(~is_chosen)
    if not len(others):
        return _set(variable, chosen)
    if len(others) == 1 and (len(chosen) > 1 if variable.edges is None else others[0] == variable.missing_code):
        return "not " + run_condition(variable, int(others[0]), int(others[0]))
    for codes, negated in ((chosen, ""), (others, "not ")):
        is_long = variable.edges is not None or min(len(codes), len(chosen)) > _SHORT
        if len(codes) == 1 or (is_long and _are_neighbours(variable, codes)):
            return negated + run_condition(variable, int(codes[0]), int(codes[-1]))
    for codes, negated in ((chosen, ""), (others, "not ")):
        if len(codes) <= _MOST_LISTED and all(_single_value(variable, int(code)) is not None for code in codes):
            return negated + _set(variable, codes)
    if variable.edges is not None:
        parts = _range_and_gaps(variable, chosen, others)
        return _listed(parts[:_MOST_LISTED], len(parts))
    return _set(variable, chosen) if len(chosen) <= len(others) else "not " + _set(variable, others)


def _set(variable: Variable, codes: np.ndarray) -> str:
    some = codes[:_MOST_LISTED]
    values = [_single_value(variable, int(code)) or as_value(variable.labels[code]) for code in some]
    return f"{as_name(variable.name)} in {{{_listed(values, len(codes))}}}"


def _are_neighbours(variable: Variable, codes: np.ndarray) -> bool:
    """Say whether codes follow each other in the order of a variable, in which missing cells have no place."""
    if not variable.is_ordered or not len(codes) or codes[-1] >= len(variable.present_labels):
        return False
    return bool(codes[-1] - codes[0] + 1 == len(codes))


def _range_and_gaps(variable: Variable, chosen: np.ndarray, others: np.ndarray) -> list[str]:
    """Return conditions of intervals that have others between them: the whole range, and what is left out of it."""
    parts, missing = [], variable.missing_code
    if missing not in chosen:
        first, last = int(chosen[0]), int(chosen[-1])
        if last - first + 1 < len(variable.present_labels):
            parts.append(run_condition(variable, first, last))
        elif variable.missing_label is not None:
            parts.append(f"not {as_name(variable.name)} = {as_value(variable.missing_label)}")
        others = others[(first < others) & (others < last)]
    gaps = np.split(others, np.flatnonzero(np.diff(others) > 1) + 1)
    return [*parts, *("not " + run_condition(variable, int(gap[0]), int(gap[-1])) for gap in gaps)]


def _listed(texts: Sequence[str], n_all: int) -> str:
    """Join the first texts by commas, and say how many more there are."""
    return ", ".join([*texts, f"… {n_all - len(texts)} more"] if n_all > len(texts) else texts)


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
    # A label such as >50K can be read without quotes after a comparison, but not before it.
    return f"{name} <= {high}" if first == 0 else f"{as_name(as_text(variable.labels[first]))} <= {name} <= {high}"


def _interval_condition(variable: Variable, first: int, last: int) -> str:
    value = _single_value(variable, first) if first == last else None
    if value is not None:
        return f"{as_name(variable.name)} = {value}"
    return variable.texts.condition(as_name(variable.name), first, last)


def _single_value(variable: Variable, code: int) -> str | None:
    """Return the value of a code: a label, or the number of an interval that holds only one; else None."""
    if variable.edges is None or code >= len(variable.present_labels):
        return as_value(variable.labels[code])
    inside = variable.inside
    if inside.law.grid.decimals is not None and inside.cuts[code + 1] == inside.law.grid.ends_of(inside.cuts[code]):
        return variable.texts.exact(code)
    return variable.texts.number(code)
