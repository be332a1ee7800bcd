"""The model of a page: the fitted one if the page stays small with it, else the nearest model that is small enough."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from juror.errors import ParameterError
from juror.model import JointPMF

# A page has at most two million bytes. The data and the page's own text take up to 600,000; this is left for the model.
_MODEL_BYTES = 1_350_000
# A double in base64: four characters for three bytes
_BYTES_A_NUMBER = 8 * 4 / 3
# The time to compress grows with (classes before) × (classes after) × (labels). This product takes about half a minute.
_COMPRESSION_WORK = 1e9


@dataclass(frozen=True)
class PageModel:
    """The model of a page, and how far it is from the fitted one.

    Attributes
    ----------
    model : JointPMF
        The model that gives the page's answers.
    loss, standard_error : float
        D(fitted‖model) in nats per row, and its standard error; zero for the fitted model itself.
    pair_difference : float
        The largest difference of the two models in any cell of any table of two variables.
    """

    model: JointPMF
    loss: float = 0.0
    standard_error: float = 0.0
    pair_difference: float = 0.0


def make_page_model(model: JointPMF, rank: int | Literal["auto", "all"], seed: int) -> PageModel:
    """Return the model for a page.

    Parameters
    ----------
    model : JointPMF
        The fitted one.
    rank : int, "auto" or "all"
        The most classes, or all of them. ``"auto"`` keeps the page below two megabytes and a compression to about half
        a minute.
    seed : int
        Seed of the compression.
    """
    wanted = wanted_rank(model, rank)
    if wanted == model.rank:
        return PageModel(model)
    small = model.compress(wanted, seed=seed)
    assert small.info is not None
    step = small.info.compressed[-1]
    # The estimate of a small loss may be below zero.
    return PageModel(small, max(0.0, step.loss), step.standard_error, _pair_difference(model, small))


def wanted_rank(model: JointPMF, rank: int | Literal["auto", "all"]) -> int:
    """Return the number of classes of a page's model, at most that of the fitted one."""
    if isinstance(rank, bool) or not (rank in ("auto", "all") or (isinstance(rank, int) and rank >= 1)):
        raise ParameterError("{rank} must be 'auto', 'all' or a whole number from 1. Got {got!r} instead.", got=rank)
    if isinstance(rank, int):
        return min(rank, model.rank)
    return model.rank if rank == "all" else _fitting(model)


def _fitting(model: JointPMF) -> int:
    """Return how many classes fit into a page: all, or as many as can be computed in time."""
    n_labels = sum(variable.cardinality for variable in model.domain)
    # The page also holds the dependence of all pairs, as floats.
    left = _MODEL_BYTES - len(model.domain) ** 2 / 2 * _BYTES_A_NUMBER / 2
    room = max(1, int(left / (_BYTES_A_NUMBER * (1 + n_labels))))
    return model.rank if model.rank <= room else max(1, min(room, int(_COMPRESSION_WORK / (model.rank * n_labels))))


def _pair_difference(one: JointPMF, other: JointPMF) -> float:
    """Return the largest difference of two models in the table of any two variables."""
    ends = np.concatenate([[0], np.cumsum(one.domain.cardinalities)])
    stacks = [(np.concatenate(model.factors), model.weights) for model in (one, other)]
    largest = 0.0
    # The tables of one variable with all that follow it, in one product
    for start, end in pairwise(ends[:-1]):
        tables = [(stack[start:end] * weights) @ stack[end:].T for stack, weights in stacks]
        largest = max(largest, float(np.abs(tables[0] - tables[1]).max()))
    return largest
