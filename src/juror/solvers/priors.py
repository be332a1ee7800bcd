"""What may be known of the factor columns of ordered variables: that they are smooth, or flat but for a few jumps.

With d = A[x+1, f] − A[x, f] over neighbouring labels x of every ordered variable and every class,

    smooth:  μ Σ d²              flat:  μ Σ (√(d² + ε²) − ε), ε = 1e-4,

the second being total variation, rounded off at zero so that it has a gradient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from juror.domain import Domain
from juror.errors import DataError, shortlist, wrong

PRIORS = ("smooth", "flat")
# Jumps below this are rounded off, so that the flat prior has a gradient at zero.
_ROUND = 1e-4


@dataclass(frozen=True)
class Prior:
    """A prior of a kind and strength μ on the factors of some variables: by position, how many labels are in order."""

    kind: str
    strength: float
    positions: Mapping[int, int]

    @classmethod
    def over(cls, domain: Domain, kind: str, strength: float) -> Prior:
        """Make a prior on all ordered variables of a domain."""
        if kind not in PRIORS:
            raise wrong("prior", f"None or one of {shortlist(PRIORS)}", kind)
        positions = {n: len(variable.present_labels) for n, variable in enumerate(domain) if variable.is_ordered}
        if not positions:
            raise DataError(
                f"prior={kind!r} is about labels in order, and no variable has any. Give levels=… to Domain.infer, or "
                "leave prior out."
            )
        return cls(kind, strength, positions)

    def at(self, factors: Sequence[np.ndarray]) -> tuple[float, list[np.ndarray]]:
        """Return the prior's term and its gradient by every factor (I_n, F)."""
        total = 0.0
        gradients = [np.zeros_like(A) for A in factors]
        for n, n_labels in self.positions.items():
            jump = np.diff(factors[n][:n_labels], axis=0)
            if self.kind == "smooth":
                total += float(np.sum(jump * jump))
                pull = 2.0 * jump
            else:
                size = np.sqrt(jump * jump + _ROUND * _ROUND)
                total += float(np.sum(size - _ROUND))
                pull = jump / size
            gradients[n][1:n_labels] += self.strength * pull
            gradients[n][: n_labels - 1] -= self.strength * pull
        return self.strength * total, gradients
