"""Evidence: what is known or asked about variables, as one weight for each label.

Every form comes down to a vector w over the labels of a variable: an indicator for a value, a set or a range, a
likelihood for soft evidence. Conditioning then multiplies w into the variable's factor, whatever the form was.

Ranges may end at any number, inside an interval too. So evidence is read in two steps: :func:`divided_for` divides the
intervals where it needs this, which changes no answer, and :func:`weights_of` weighs the labels of the result. Labels
of the whole variable then stand for all of their parts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from juror.domain import Domain
from juror.domain.binning import divided, parts_of
from juror.domain.question_texts import as_name, condition
from juror.domain.unknown_values import no_bound
from juror.domain.variable import Variable
from juror.errors import QueryError, shortlist
from juror.readers.exact_numbers import Number, as_float, as_number, plain

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

    def mask(self, variable: Variable, whole: Variable) -> np.ndarray:
        """Return which labels lie in the range, (cardinality,), of a variable that is divided at its bounds."""
        if not variable.is_ordered:
            raise QueryError(
                f"Variable {variable.name!r} is nominal, so it has no ranges. Name the labels, or declare their order "
                "with Domain.infer(data, levels={...})."
            )
        inside = np.ones(variable.cardinality, dtype=bool)
        for name, bound in self._bounds().items():
            from_bound = _from_bound(variable, whole, bound, name in _AFTER)
            inside &= from_bound if name in _UPWARDS else ~from_bound
        # The label of missing cells has no place in the order, so it is in no range.
        inside[len(variable.present_labels) :] = False
        return inside

    def cuts(self, variable: Variable) -> set[float]:
        """Return where a binned variable must be cut so that the range holds or excludes whole intervals."""
        numbers = {name: _number_of(variable, bound) for name, bound in self._bounds().items()}
        return {variable.inside.law.grid.cut(x, name in _AFTER) for name, x in numbers.items() if x is not None}


# The bounds whose range lies above them, and those between whose number and the next one the range begins or ends
_UPWARDS, _AFTER = ("at_least", "above"), ("above", "at_most")


@dataclass(frozen=True)
class Not:
    """Everything but a value, a set or a range.

    Examples
    --------
    >>> Not("high")
    Not(wrong='high')
    """

    wrong: Any


def _number_of(variable: Variable, value: Any) -> Number | None:
    """Return the number that a value means to a binned variable; None for its labels and for all else."""
    return None if variable.edges is None or _is_label(variable, value) else variable.number(value)


def _is_label(variable: Variable, value: Any) -> bool:
    return isinstance(value, (str, int, float, bool)) and value in variable.labels


def _from_bound(variable: Variable, whole: Variable, bound: Any, after: bool) -> np.ndarray:
    """Return which labels are at least a bound, or if ``after``, above it."""
    if variable.missing_label is not None and whole.find(bound) == whole.missing_code:
        raise QueryError(f"{bound!r} stands for missing cells of {variable.name!r}, so it is not the end of a range.")
    number = _number_of(whole, bound)
    if number is not None:
        begins = variable.inside.cuts[:-1] >= variable.inside.law.grid.cut(number, after)
        return np.append(begins, np.zeros(variable.cardinality - len(begins), dtype=bool))
    if whole.edges is not None and not _is_label(whole, bound):
        raise no_bound(whole, bound)
    code, codes = _ordinal_position(whole, bound), _codes_in(whole, variable)
    return codes > code if after else codes >= code


def _codes_in(whole: Variable, variable: Variable) -> np.ndarray:
    """Return the code of the whole variable's label for every label of the divided one, (cardinality,)."""
    return np.arange(variable.cardinality) if variable is whole else parts_of(whole, variable)[0]


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


def cuts_of(variable: Variable, wanted: Any, is_excluded: bool = False) -> set[float]:
    """Return where evidence about a binned variable cuts its intervals, as positions of its law.

    A single number is cut out if it has a probability, or is excluded: rows may have it.
    """
    if isinstance(wanted, Not):
        return cuts_of(variable, wanted.wrong, is_excluded=True)
    if isinstance(wanted, Range):
        return wanted.cuts(variable)
    if isinstance(wanted, Mapping):
        return set()
    cuts: set[float] = set()
    for value in _values_in(wanted):
        number = _number_of(variable, value)
        if number is not None and (variable.has_mass(number) or (is_excluded and variable.may_be(number))):
            cuts |= {variable.inside.law.grid.cut(number, after) for after in (False, True)}
    return cuts


def divided_for(domain: Domain, wanted: Iterable[tuple[int, Any]]) -> Domain:
    """Return the domain with intervals divided where evidence (position, wanted) ends inside them."""
    cuts: dict[int, set[float]] = {}
    for n, one in wanted:
        if domain[n].edges is not None:
            cuts.setdefault(n, set()).update(cuts_of(domain[n], one))
    if not any(cuts.values()):
        return domain
    return replace(domain, variables=tuple(divided(v, cuts[n]) if n in cuts else v for n, v in enumerate(domain)))


def weights_of(variable: Variable, wanted: Any, whole: Variable | None = None, is_event: bool = False) -> np.ndarray:
    """Return the weight that evidence gives to each label of a variable.

    Parameters
    ----------
    variable : Variable
        The variable the evidence is about, divided where the evidence ends inside an interval (:func:`divided_for`).
    wanted : label, collection of labels, Range, Not, or mapping of label to likelihood
        A value, a set, a range, a negation, or soft evidence with a likelihood for every label.
    whole : Variable, optional
        The variable before it was divided, whose labels may be named.
    is_event : bool
        Whether a probability is asked for. A single number of a continuous law has none. As evidence it says which
        interval it lies in, because densities of all classes have the same ratio all over the interval.

    Returns
    -------
    numpy.ndarray, (cardinality,)
    """
    whole = variable if whole is None else whole
    if isinstance(wanted, Not):
        return 1.0 - _indicator(weights_of(variable, wanted.wrong, whole, is_event=True), variable)
    if isinstance(wanted, Range):
        return wanted.mask(variable, whole).astype(np.float64)
    if isinstance(wanted, Mapping):
        return _soft(whole, wanted)[_codes_in(whole, variable)]
    values = _values_in(wanted)
    if not values:
        raise QueryError(f"The set of labels for {variable.name!r} is empty, so nothing can match it.")
    weights = np.max(
        [_weights_of_value(variable, whole, value, is_event or len(values) > 1) for value in values], axis=0
    )
    if len(values) > 1 and not is_event and not np.any(weights):
        raise QueryError(
            f"None of {shortlist(values)} has a probability, as {variable.name!r} is continuous. Give one number, or a "
            "range."
        )
    return weights


def _values_in(wanted: Any) -> Sequence[Any]:
    """Return the values of a set, or a single value as the only one."""
    wanted = plain(wanted)
    if not isinstance(wanted, (list, tuple, set, frozenset)):
        return [wanted]
    return list(dict.fromkeys(wanted)) if all(isinstance(value, Hashable) for value in wanted) else list(wanted)


def _weights_of_value(variable: Variable, whole: Variable, value: Any, is_event: bool) -> np.ndarray:
    """Return the weights (cardinality,) of a label, or of a number, which may be a part of an interval."""
    code, number = whole.code(value), _number_of(whole, value)
    if number is None:
        return (_codes_in(whole, variable) == code).astype(np.float64)
    inside = variable.inside
    low, high = (inside.law.grid.cut(number, after) for after in (False, True))
    part = int(np.searchsorted(inside.cuts[1:-1], low, side="right"))
    is_cut_out = inside.cuts[part] == low < high == inside.cuts[part + 1]
    weights = np.zeros(variable.cardinality)
    if is_cut_out or variable.has_mass(number) or (not is_event and variable.may_be(number)):
        weights[part] = 1.0
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


def read_mapping(domain: Domain, given: Mapping[str, Any] | None) -> dict[int, Any]:
    """Return what ``{"name": value, …}`` wants, by the position of each named variable."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise QueryError(
            f"Evidence must be a dict of variable names, like {{{domain.names[0]!r}: …}}, or text. "
            f"Got {type(given).__name__}."
        )
    wanted: dict[int, Any] = {}
    for name, value in given.items():
        if domain.position(name) in wanted:
            raise QueryError(f"Evidence on {domain[name].name!r} is given twice.")
        wanted[domain.position(name)] = value
    return wanted


def read_evidence(
    domain: Domain, given: Mapping[str, Any] | None, whole: Domain | None = None, is_event: bool = False
) -> Evidence:
    """Translate ``{"name": value, …}`` into one weight vector for each named variable of a domain.

    ``whole`` is the domain before it was divided for the evidence, if it was.
    """
    whole = domain if whole is None else whole
    wanted = read_mapping(whole, given)
    return {n: weights_of(domain[n], value, whole[n], is_event) for n, value in wanted.items()}


def number_wanted(variable: Variable, wanted: Any) -> Number | None:
    """Return the only number that evidence about a binned variable allows; None if there are more, or labels."""
    values = _values_in(wanted) if not isinstance(wanted, (Not, Range, Mapping)) else []
    return _number_of(variable, values[0]) if len(values) == 1 else None


def point_of(variable: Variable, wanted: Any) -> Number | None:
    """Return the number that evidence settles a continuous variable at; None if it settles nothing, or a label."""
    number = number_wanted(variable, wanted)
    return None if number is None or variable.has_mass(number) or not variable.may_be(number) else number


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
        return f"{as_name(variable.name)} soft"
    return condition(variable, weights == 1)
