"""Evidence: what is known or asked about variables, as one weight for each label.

Every form comes down to a vector w over the labels of a variable: an indicator for a value, a set or a range, a
likelihood for soft evidence. Conditioning then multiplies w into the variable's factor, whatever the form was.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from juror.domain import Domain
from juror.domain.variable import Variable
from juror.errors import QueryError, shortlist
from juror.readers.exact_numbers import as_float, as_number

Evidence = dict[int, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Range:
    """A range of an ordered variable; any of the four bounds may be left out.

    Examples
    --------
    >>> Range(at_least=3)
    Range(at_least=3)
    >>> Range(above="low", at_most="high")
    Range(above='low', at_most='high')
    """

    at_least: Any = None
    above: Any = None
    at_most: Any = None
    below: Any = None

    def __post_init__(self) -> None:
        if not self._bounds():
            raise QueryError("A Range needs a bound: at_least, above, at_most or below.")

    def _bounds(self) -> dict[str, Any]:
        return {name: bound for name, bound in vars(self).items() if bound is not None}

    def __repr__(self) -> str:
        return "Range(" + ", ".join(f"{name}={bound!r}" for name, bound in self._bounds().items()) + ")"

    def mask(self, variable: Variable) -> np.ndarray:
        """Return which labels lie in the range, (cardinality,)."""
        if not variable.is_ordered:
            raise QueryError(
                f"Variable {variable.name!r} is nominal, so it has no ranges. Name the labels, or declare their order "
                "with Domain.infer(data, levels={...})."
            )
        inside = np.ones(variable.cardinality, dtype=bool)
        for name, bound in self._bounds().items():
            inside &= _BOUNDS[name](variable, bound)
        # The label of missing cells has no place in the order, so it is in no range.
        inside[len(variable.present_labels) :] = False
        return inside


@dataclass(frozen=True)
class Not:
    """Everything but a value, a set or a range.

    Examples
    --------
    >>> Not("high")
    Not(wrong='high')
    """

    wrong: Any


def _from_label(variable: Variable, bound: Any, strict: bool) -> np.ndarray:
    """Return which labels are above a bound; equal ones too unless strict."""
    codes = np.arange(variable.cardinality)
    if variable.missing_label is not None and variable.find(bound) == variable.missing_code:
        raise QueryError(f"{bound!r} stands for missing cells of {variable.name!r}, so it is not the end of a range.")
    if variable.edges is not None and not (isinstance(bound, str) and bound in variable.labels):
        return codes >= _edge_position(variable, bound, strict)
    code = _ordinal_position(variable, bound)
    return codes > code if strict else codes >= code


def _edge_position(variable: Variable, bound: Any, strict: bool) -> int:
    """Return how many intervals lie below an edge; refuse a number inside an interval, which is not divided."""
    assert variable.edges is not None
    number = as_number(bound)
    if number is None:
        raise QueryError(f"{bound!r} is neither a number nor an interval of {variable.name!r}.")
    if strict:
        raise QueryError(
            f"The intervals of {variable.name!r} are closed on the left, so their ranges are >= and <, not > and <=."
        )
    # the last edge lies inside the last interval, and the first edge inside one that has no lower end
    dividing = variable.edges[1 if variable.open_ended else 0 : -1]
    if number in dividing:
        return variable.edges.index(number)
    if not variable.open_ended and not variable.edges[0] <= number <= variable.edges[-1]:
        return 0 if number < variable.edges[0] else variable.cardinality
    inside = variable.code(number)
    raise QueryError(
        f"{number:g} lies inside the interval {variable.labels[inside]!r} of {variable.name!r}, which is not divided "
        f"further. Use one of the edges {shortlist(dividing, 40)}."
    )


def _ordinal_position(variable: Variable, bound: Any) -> float:
    """Return the code of a label, or, if labels are numbers, a place between the codes on both sides of a number."""
    code = variable.find(bound)
    if code is not None:
        return code
    number = as_number(bound)
    if number is None or any(isinstance(label, str) for label in variable.present_labels):
        return variable.code(bound)
    labels: Sequence[Any] = variable.present_labels
    if any(high < low for low, high in pairwise(labels)):
        raise QueryError(
            f"{bound!r} is no label of {variable.name!r}, whose order {shortlist(variable.present_labels)} was "
            "declared and is not that of the numbers. Name one of its labels."
        )
    return bisect_left(labels, number) - 0.5


_BOUNDS: dict[str, Callable[[Variable, Any], np.ndarray]] = {
    "at_least": lambda variable, bound: _from_label(variable, bound, strict=False),
    "above": lambda variable, bound: _from_label(variable, bound, strict=True),
    "at_most": lambda variable, bound: ~_from_label(variable, bound, strict=True),
    "below": lambda variable, bound: ~_from_label(variable, bound, strict=False),
}


def weights_of(variable: Variable, wanted: Any) -> np.ndarray:
    """Return the weight that evidence gives to each label of a variable.

    Parameters
    ----------
    variable : Variable
        The variable the evidence is about.
    wanted : label, collection of labels, Range, Not, or mapping of label to likelihood
        A value, a set, a range, a negation, or soft evidence with a likelihood for every label.

    Returns
    -------
    numpy.ndarray, (cardinality,)
    """
    if isinstance(wanted, Not):
        return 1.0 - _indicator(weights_of(variable, wanted.wrong), variable)
    if isinstance(wanted, Range):
        return wanted.mask(variable).astype(np.float64)
    if isinstance(wanted, Mapping):
        return _soft(variable, wanted)
    if hasattr(wanted, "tolist"):
        wanted = wanted.tolist()
    if isinstance(wanted, (list, tuple, set, frozenset)):
        if not wanted:
            raise QueryError(f"The set of labels for {variable.name!r} is empty, so nothing can match it.")
        codes = [variable.code(label) for label in wanted]
    else:
        codes = [variable.code(wanted)]
    weights = np.zeros(variable.cardinality)
    weights[codes] = 1.0
    return weights


def _soft(variable: Variable, likelihood: Mapping[Any, float]) -> np.ndarray:
    by_code: dict[int, float] = {}
    for label, value in likelihood.items():
        code = variable.code(label)
        if code in by_code:
            raise QueryError(f"Soft evidence on {variable.name!r} gives {variable.labels[code]!r} two likelihoods.")
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or np.iscomplexobj(value):
            raise QueryError(f"The likelihood of {label!r} for {variable.name!r} must be a number. Got {value!r}.")
        by_code[code] = as_float(value)
    unnamed = [label for code, label in enumerate(variable.labels) if code not in by_code]
    if unnamed:
        raise QueryError(
            f"Soft evidence on {variable.name!r} must give every label a likelihood; {shortlist(unnamed)} have none."
        )
    weights = np.array([by_code[code] for code in range(variable.cardinality)])
    if not np.all(np.isfinite(weights)) or np.any(weights < 0) or not np.any(weights > 0):
        raise QueryError(
            f"Likelihoods for {variable.name!r} must be finite and not negative, and not all zero. "
            f"Got {shortlist(weights.tolist())}."
        )
    return weights


def _indicator(weights: np.ndarray, variable: Variable) -> np.ndarray:
    if not np.all((weights == 0) | (weights == 1)):
        raise QueryError(
            f"Soft evidence on {variable.name!r} is not an event: it cannot be negated or have a probability."
        )
    return weights


def read_evidence(domain: Domain, given: Mapping[str, Any] | None) -> Evidence:
    """Translate ``{"name": value, …}`` into one weight vector for each named variable."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise QueryError(
            f"Evidence must be a dict of variable names, like {{{domain.names[0]!r}: …}}, or text. "
            f"Got {type(given).__name__}."
        )
    evidence: Evidence = {}
    for name, wanted in given.items():
        if domain.position(name) in evidence:
            raise QueryError(f"Evidence on {domain[name].name!r} is given twice.")
        evidence[domain.position(name)] = weights_of(domain[name], wanted)
    return evidence


def check_event(domain: Domain, evidence: Evidence) -> Evidence:
    """Return evidence if it is an event: values, sets and ranges, but no likelihoods."""
    for n, weights in evidence.items():
        _indicator(weights, domain[n])
    return evidence


def both(first: Evidence, second: Evidence) -> Evidence:
    """Combine two pieces of evidence; the weights of a variable in both are multiplied."""
    combined = dict(first)
    for n, weights in second.items():
        combined[n] = combined[n] * weights if n in combined else weights
    return combined


def describe(domain: Domain, evidence: Evidence) -> str:
    """Describe evidence in words, for messages and headings."""
    return ", ".join(_describe_one(domain[n], weights) for n, weights in evidence.items())


def _describe_one(variable: Variable, weights: np.ndarray) -> str:
    if not np.all((weights == 0) | (weights == 1)):
        return f"{variable.name} soft"
    named, excluded = ([str(variable.labels[code]) for code in np.flatnonzero(weights == w)] for w in (1, 0))
    if len(named) == 1:
        return f"{variable.name} = {named[0]}"
    if len(excluded) == 1:
        return f"not {variable.name} = {excluded[0]}"
    if len(named) > 8:
        named = [*named[:8], f"… {len(named) - 8} more"]
    return f"{variable.name} in {{{', '.join(named)}}}"
