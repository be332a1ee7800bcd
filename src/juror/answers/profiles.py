"""Profiles of latent classes: the labels that are more common in a class than overall."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from juror.answers.block import Mixture
from juror.answers.messages import node_marginals
from juror.domain.variable import Label
from juror.errors import check_count
from juror.record import FitRecord

# Labels with a smaller lift are not typical of the class.
_LEAST_LIFT = 1.05
# Leave room for other variables: neighbouring intervals of one binned variable often have similar lifts.
_LABELS_A_VARIABLE = 2
# As many classes as a reader can survey.
_READABLE_CLASSES = 12


@dataclass(frozen=True)
class Trait:
    """A label that is more common in a class than overall.

    ``share`` is A_n[i, f], the label's probability in the class; ``overall`` is Σ_f λ_f A_n[i, f], and ``lift`` their
    ratio. In a forest, A_n[i, f] is summed over the labels of the parent.
    """

    variable: str
    label: Label
    share: float
    overall: float
    lift: float


@dataclass(frozen=True)
class ClassProfile:
    """A latent class f with its weight λ_f and its typical labels; ``index`` is its position among all classes.

    The most characteristic label comes first. A class that is like the average has none.
    """

    index: int
    weight: float
    traits: tuple[Trait, ...]


def readable_rank(info: FitRecord | None, rank: int) -> int:
    """Return how many classes to show: the rank. For a mean of draws or fits, the rank of one of them, at most 12.

    Single classes of a mean of draws or fits have no meaning; those of the nearest small model do.
    """
    n_parts = 1 if info is None else max(info.n_draws, info.n_members)
    return rank if n_parts <= 1 else max(1, min(_READABLE_CLASSES, rank // n_parts))


def class_profiles(model: Mixture, n_traits: int = 6) -> tuple[ClassProfile, ...]:
    """Return the typical labels of each class, at most ``n_traits``, classes by decreasing weight.

    Traits are ranked by their contribution to the divergence of the class from the overall distribution,

        D(A_n[·, f] ‖ p_n) = Σ_i A_n[i, f] log(A_n[i, f] / p_n[i]),     p_n[i] = Σ_f λ_f A_n[i, f],

    that is by share · log(lift): a common label that marks the class comes before a rare one. At most two labels per
    variable are listed, and only those with a lift of at least 1.05. A label with overall probability zero is left out.
    It can occur only in a class of weight zero.

    Examples
    --------
    >>> from juror import JointPMF
    >>> model = JointPMF([0.25, 0.75], [[[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5], [0.5, 0.5]]])
    >>> for profile in class_profiles(model):
    ...     print(profile.index, profile.weight, [(t.variable, t.label, t.share, t.lift) for t in profile.traits])
    1 0.75 [('x0', 1, 0.9, 1.2857142)]
    0 0.25 [('x0', 0, 0.9, 3.0)]
    """
    check_count("n_traits", n_traits)
    stacked, weights = _class_shares(model)
    overall = stacked @ weights
    places = [(variable.name, label) for variable in model.domain for label in variable.labels]
    return tuple(
        ClassProfile(int(f), float(weights[f]), _traits(stacked[:, f], overall, places, n_traits))
        for f in np.argsort(-weights, kind="stable")
    )


def _class_shares(model: Mixture) -> tuple[np.ndarray, np.ndarray]:
    """Return the distributions of all variables in every class of all blocks, (Σ I_n, F), and the weights, (F,)."""
    N = len(model.domain)
    shares = [np.concatenate(node_marginals(block)[:N]) for block in model.blocks]
    return np.concatenate(shares, axis=1), np.concatenate([block.weights for block in model.blocks])


def _traits(
    shares: np.ndarray, overall: np.ndarray, places: list[tuple[str, Label]], n_traits: int
) -> tuple[Trait, ...]:
    lifts = np.divide(shares, overall, out=np.zeros_like(shares), where=overall > 0)
    typical = np.flatnonzero(lifts >= _LEAST_LIFT)
    contributions = shares[typical] * np.log(lifts[typical])
    traits: list[Trait] = []
    shown: Counter[str] = Counter()
    for i in typical[np.argsort(-contributions, kind="stable")]:
        name, label = places[i]
        if shown[name] < _LABELS_A_VARIABLE:
            shown[name] += 1
            traits.append(Trait(name, label, float(shares[i]), float(overall[i]), float(lifts[i])))
        if len(traits) == n_traits:
            break
    return tuple(traits)
