"""Questions in the query language: well-formed ones are answered right, and others refused with juror's own error."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
from hostile_values import TEXTS, pick

import juror
from juror import Domain, JointPMF, Not, Range, Variable
from juror.testing import random_forest_model

_WORDS = (
    "|",
    ",",
    "=",
    "!=",
    ">=",
    ">",
    "<=",
    "<",
    "in",
    "not",
    "{",
    "}",
    "==",
    "=>",
    "<>",
    '"',
    "'",
    "\\",
    "!",
    "",
    "\t",
    "\n",
    "IN",
)


@functools.cache
def model() -> JointPMF:
    """Return a model whose names and labels are hard to write."""
    domain = Domain(
        (
            Variable("not", ("in", "not", "=", "a b", "")),
            Variable("in", (1, 2, 3), "ordinal"),
            Variable("price | net", ("[0, 1)", "[1, 2]"), "binned", (0.0, 1.0, 2.0)),
            Variable('say "no"', ('"', "'", "\\", "{x}", "a,b"), missing_label="a,b"),
            Variable("größe", (True, False)),
        )
    )
    return random_forest_model(domain.cardinalities, (2, 1), np.random.default_rng(0), domain=domain)


def question_case(rng: np.random.Generator, folder: Path) -> None:
    """Ask a well-formed question, or one that is changed at random."""
    asked = model()
    targets, given, text = _well_formed(asked, rng)
    if rng.random() < 0.25:
        _agree(asked, targets, given, text)
        return
    text = _changed(text, rng)
    table = asked.ask(text)
    assert abs(table.to_numpy().sum() - 1) < 1e-9
    str(table)


def _agree(asked: JointPMF, targets: list[str], given: dict[str, Any], text: str) -> None:
    """The text and the same question in Python have the same answer, or neither has one."""
    try:
        expected = asked.marginal(*targets, given=given).to_numpy()
    except juror.JurorError:
        expected = None
    try:
        found = asked.ask(text).to_numpy()
    except juror.JurorError:
        assert expected is None, text
        return
    np.testing.assert_array_equal(found, expected, err_msg=text)


def _well_formed(asked: JointPMF, rng: np.random.Generator) -> tuple[list[str], dict[str, Any], str]:
    names = [str(name) for name in rng.permutation(asked.domain.names)]
    n_targets = int(rng.integers(1, 3))
    given: dict[str, Any] = {}
    parts = []
    for name in names[n_targets : n_targets + int(rng.integers(0, 4))]:
        labels = asked.domain[name].labels
        label = pick(rng, labels)
        several = [labels[n] for n in rng.choice(len(labels), int(rng.integers(1, len(labels) + 1)), replace=False)]
        wanted, written = pick(rng, _forms(label, several, rng))
        if rng.random() < 0.2:
            wanted, name_ = Not(wanted), f"not {_quoted(name, rng)}"
        else:
            name_ = _quoted(name, rng)
        given[name] = wanted
        parts.append(f"{name_}{_space(rng)}{written}")
    text = ",".join(_quoted(name, rng) for name in names[:n_targets])
    if parts:
        text += f"{_space(rng)}|{_space(rng)}" + f"{_space(rng)},{_space(rng)}".join(parts)
    return names[:n_targets], given, text


def _forms(label: Any, several: list[Any], rng: np.random.Generator) -> list[tuple[Any, str]]:
    value, space = _quoted(label, rng), _space(rng)
    return [
        (label, f"={space}{value}"),
        (Not(label), f"!={space}{value}"),
        (Range(at_least=label), f">={space}{value}"),
        (Range(above=label), f">{space}{value}"),
        (Range(at_most=label), f"<={space}{value}"),
        (Range(below=label), f"<{space}{value}"),
        (several, f"in{space}{{" + ",".join(_quoted(each, rng) for each in several) + "}"),
    ]


def _quoted(value: Any, rng: np.random.Generator) -> str:
    text = str(value)
    mark = pick(rng, "\"'")
    return mark + text.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark


def _space(rng: np.random.Generator) -> str:
    return pick(rng, ("", " ", "  ", "\t", "\n"))


def _changed(text: str, rng: np.random.Generator) -> str:
    for _ in range(int(rng.integers(1, 6))):
        start, end = sorted(int(place) for place in rng.integers(len(text) + 1, size=2))
        insert = pick(
            rng, (pick(rng, _WORDS), pick(rng, TEXTS), json.dumps(pick(rng, TEXTS)), chr(int(rng.integers(1, 0x2FF))))
        )
        end = pick(rng, (start, start, start + 1, end))
        text = text[:start] + insert + text[end:]
    if rng.random() < 0.02:
        # Long questions must not take long.
        text = text * int(50_000 // max(1, len(text)))
    return text
