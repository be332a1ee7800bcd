"""Understand what is asked and known: conditions in text or by name, about a model divided where they need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from juror.answers.block import Mixture
from juror.answers.dividing import divided_mixture
from juror.answers.numbers import as_cells
from juror.domain import Domain
from juror.domain.evidence import (
    Evidence,
    both,
    check_event,
    divided_for,
    number_wanted,
    point_of,
    read_evidence,
    read_mapping,
)
from juror.domain.formulas import on_grid
from juror.errors import JurorWarning, warn
from juror.model import query
from juror.readers.exact_numbers import Number, as_float

# The type of given=: evidence by name, or conditions in the query language, "safety = high, doors >= 3".
Given = Mapping[str, Any] | str | None


@dataclass(frozen=True)
class Asked:
    """What is asked of a model.

    Attributes
    ----------
    model : Mixture
        The model, its intervals divided where conditions end inside them.
    evidence : Evidence
        What is known, about the variables of that model.
    targets : tuple of int
        The variables that are asked for.
    event : Evidence
        The event whose probability is asked for.
    points : mapping of int to number
        The numbers at which evidence settles continuous variables.
    numbers : mapping of int to number
        The numbers that evidence gives, also those of columns in which numbers recur.
    """

    model: Mixture
    evidence: Evidence
    targets: tuple[int, ...] = ()
    event: Evidence = field(default_factory=dict)
    points: Mapping[int, Number] = field(default_factory=dict)
    numbers: Mapping[int, Number] = field(default_factory=dict)

    def warn_of_formulas(self, wanted: Iterable[int]) -> None:
        """Warn the caller of an answer if a formula, which the distribution does not know, gives a wanted variable."""
        domain = self.model.domain
        known = {domain[n].name: np.array([as_float(number)]) for n, number in self.numbers.items()}
        open_numbers = (n for n in wanted if domain[n].edges is not None and domain[n].name not in known)
        for formula, n in product(domain.formulas, open_numbers):
            name = domain[n].name
            if name not in formula.solvable or not known.keys() >= {*formula.names} - {name}:
                continue
            number, possible = on_grid(domain[n], formula.solved(name, known), beyond=True)
            if possible[0]:
                (cell,) = as_cells(domain[n], [number[0].item()], is_text=True)
                text = (
                    f"{formula.in_words()!r} holds in the rows that were fitted, and gives {name!r} as {cell} here. "
                    "But this answer comes from the distribution, which does not know the formula. Only "
                    f"{'drawn and ' if formula.computed else ''}filled rows satisfy it."
                )
                warn(JurorWarning(text))


def understood(model: Mixture, given: Given, event: Given = None, question: str | None = None) -> Asked:
    """Return what a question, further evidence and an event mean, and a model that can answer."""
    domain = model.domain
    asked = None if question is None else query.parse(question, domain)
    wanted, behind_bar = query.parse_event(event, domain) if isinstance(event, str) else (event, None)
    sources = [source for source in (asked, behind_bar, _conditions(model, given)) if source is not None]
    divided = divided_for(domain, (pair for source in (*sources, wanted) for pair in _pairs(source, domain)))
    evidence: Evidence = {}
    for source in sources:
        evidence = both(evidence, _weights(source, divided, domain))
    points: dict[int, Number] = {}
    for n, one in (pair for source in sources for pair in _pairs(source, domain)):
        number = point_of(domain[n], one)
        if number is not None and points.setdefault(n, number) != number:
            # two different numbers
            evidence[n] = np.zeros_like(evidence[n])
    outcome = check_event(divided, _weights(wanted, divided, domain, is_event=True))
    for n, one in _pairs(wanted, domain):
        if n in points and point_of(domain[n], one) == points[n]:
            outcome[n] = (evidence[n] > 0).astype(np.float64)
    targets = () if asked is None else asked.targets
    given_pairs = (pair for source in sources for pair in _pairs(source, domain))
    numbers = {n: number for n, one in given_pairs if (number := number_wanted(domain[n], one)) is not None}
    return Asked(divided_mixture(model, divided), evidence, targets, outcome, points, numbers)


def wanted_of(model: Mixture, given: Given) -> list[tuple[int, Any]]:
    """Return what evidence wants of variables, by their positions."""
    return _pairs(_conditions(model, given), model.domain)


_Conditions = query.Parsed | Mapping[str, Any] | None


def _conditions(model: Mixture, given: Given) -> _Conditions:
    return query.parse_conditions(given, model.domain) if isinstance(given, str) else given


def _pairs(source: _Conditions, domain: Domain) -> list[tuple[int, Any]]:
    """Return positions of variables, and what is wanted of them."""
    if isinstance(source, query.Parsed):
        return [(one.position, one.wanted) for one in source.conditions]
    return list(read_mapping(domain, source).items())


def _weights(source: _Conditions, domain: Domain, whole: Domain, is_event: bool = False) -> Evidence:
    if isinstance(source, query.Parsed):
        return source.evidence(domain, whole, is_event)
    return read_evidence(domain, source, whole, is_event)
