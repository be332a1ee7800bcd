"""What each latent class is typical of: the labels it shows more often than the whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from juror.answers.posterior import CPD
from juror.domain.variable import Label
from juror.errors import check_count
from juror.record import FitInfo

# below this a label is as common in the class as anywhere
_LEAST_LIFT = 1.05
# so that many neighbouring intervals of one number leave room for other variables
_LABELS_A_VARIABLE = 2
# of so many classes a reader keeps an overview
_READABLE_CLASSES = 12


@dataclass(frozen=True)
class Trait:
    """A label that is more common in a class than in the whole.

    Attributes
    ----------
    variable : str
        The variable's name.
    label : str, int, float or bool
        Its label.
    share : float
        A_n[i, f], the label's probability in the class.
    overall : float
        Σ_f λ_f A_n[i, f], its probability in the whole.
    lift : float
        share / overall.
    """

    variable: str
    label: Label
    share: float
    overall: float
    lift: float


@dataclass(frozen=True)
class ClassProfile:
    """A latent class and what it is typical of.

    Attributes
    ----------
    index : int
        Which class f, a position among the model's weights.
    weight : float
        λ_f, its share of the whole.
    traits : tuple of Trait
        What it is typical of, what tells most first; empty for a class that is like the whole.
    """

    index: int
    weight: float
    traits: tuple[Trait, ...]


def readable_rank(info: FitInfo | None, rank: int) -> int:
    """Return by how many classes to show a model: its own, or for a mean as many as one draw or fit has, at most 12.

    The classes of a mean of draws or of fits mean nothing one by one; those of the nearest small model do.
    """
    n_parts = 1 if info is None else max(info.n_draws, info.n_members)
    return rank if n_parts <= 1 else max(1, min(_READABLE_CLASSES, rank // n_parts))


def class_profiles(cpd: CPD, n_traits: int = 6) -> tuple[ClassProfile, ...]:
    """Return what each class is typical of, classes by falling weight.

    Traits are ranked by what their label adds to the divergence of the class from the whole,

        D(A_n[·, f] ‖ p_n) = Σ_i A_n[i, f] log(A_n[i, f] / p_n[i]),     p_n[i] = Σ_f λ_f A_n[i, f],

    that is by share · log(lift): a rare label that the class holds a little more of comes after a common one that
    marks it. At most two labels a variable are shown, and only those with a lift of at least 1.05. Labels that the
    whole never shows are passed over; only a class of weight zero could have one.

    Parameters
    ----------
    cpd : CPD
        A model, or anything with weights, factors and a domain.
    n_traits : int
        At most how many traits a class.

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
    stacked = np.concatenate(cpd.factors)
    overall = stacked @ cpd.weights
    places = [(variable.name, label) for variable in cpd.domain for label in variable.labels]
    return tuple(
        ClassProfile(int(f), float(cpd.weights[f]), _traits(stacked[:, f], overall, places, n_traits))
        for f in np.argsort(-cpd.weights, kind="stable")
    )


def _traits(
    shares: np.ndarray, overall: np.ndarray, places: list[tuple[str, Label]], n_traits: int
) -> tuple[Trait, ...]:
    lifts = np.divide(shares, overall, out=np.zeros_like(shares), where=overall > 0)
    typical = np.flatnonzero(lifts >= _LEAST_LIFT)
    tells = shares[typical] * np.log(lifts[typical])
    traits: list[Trait] = []
    shown: Counter[str] = Counter()
    for i in typical[np.argsort(-tells, kind="stable")]:
        name, label = places[i]
        if shown[name] < _LABELS_A_VARIABLE:
            shown[name] += 1
            traits.append(Trait(name, label, float(shares[i]), float(overall[i]), float(lifts[i])))
        if len(traits) == n_traits:
            break
    return tuple(traits)
