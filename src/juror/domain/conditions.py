"""What a conditioned model remembers: the variables before, and the evidence about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from juror.domain.binning import parts_of
from juror.domain.domain import Domain
from juror.domain.evidence import Evidence, both, describe
from juror.errors import ModelError


@dataclass(frozen=True, eq=False)
class Conditions:
    """The conditions that rows must meet to be rows of a conditioned model.

    Attributes
    ----------
    domain : Domain
        The variables of the model before any condition. Those of the conditioned model are among them.
    evidence : Evidence
        The weight of each label, by the position of a variable in that domain.
    """

    domain: Domain
    evidence: Evidence

    def __post_init__(self) -> None:
        for n, weights in self.evidence.items():
            is_finite = np.all(np.isfinite(weights)) and np.all(weights >= 0) and np.any(weights > 0)
            if weights.shape != (self.domain[n].cardinality,) or not is_finite:
                raise ModelError(
                    f"The condition on {self.domain[n].name!r} must have a finite weight for each of its "
                    f"{self.domain[n].cardinality} labels, none below zero and not all zero. Got {weights.tolist()}."
                )

    def __str__(self) -> str:
        return describe(self.domain, self.evidence)

    def places(self, domain: Domain, positions: Iterable[int]) -> tuple[int, ...]:
        """Return the positions, in the domain before, of some variables of the conditioned model."""
        return tuple(self.domain.position(domain[n].name) for n in positions)

    def divided(self, domain: Domain) -> Conditions:
        """Return the same conditions with intervals divided as in a domain of variables that remain."""
        variables, evidence = list(self.domain), dict(self.evidence)
        for variable in domain:
            n = self.domain.position(variable.name)
            if variable is not variables[n] and variable.edges != variables[n].edges:
                evidence |= {n: evidence[n][parts_of(variables[n], variable)[0]]} if n in evidence else {}
                variables[n] = variable
        return Conditions(replace(self.domain, variables=tuple(variables)), evidence)

    def also(self, domain: Domain, evidence: Evidence) -> Conditions:
        """Return these conditions and further ones, about the variables of the conditioned model."""
        self = self.divided(domain)
        more = dict(zip(self.places(domain, evidence), evidence.values(), strict=True))
        return Conditions(self.domain, both(self.evidence, more))


def conditions_on(before: Conditions | None, domain: Domain, evidence: Evidence) -> Conditions | None:
    """Return what a model is conditioned on after further evidence; None if nothing is known.

    >>> import numpy as np
    >>> print(conditions_on(None, Domain.from_cardinalities([2, 3]), {1: np.array([1.0, 0.0, 1.0])}))
    not x1 = 1
    """
    if not evidence:
        return before
    return Conditions(domain, evidence) if before is None else before.also(domain, evidence)
