"""The model that a page carries: the fitted one where the page stays small, else the nearest that is small enough."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from juror.errors import ParameterError
from juror.model import JointPMF

# Of the two million bytes that a page may have, what the model may take, in base64: four characters for three bytes.
# Tables of data and the page's own text take up to 600,000.
_MODEL_BYTES = 1_350_000
_BYTES_A_NUMBER = 8 * 4 / 3
# Finding the nearest model takes as long as there are classes before, classes after and labels: so much of it takes
# about half a minute
_COMPRESSION_WORK = 1e9


@dataclass(frozen=True)
class Carried:
    """The model of a page and how far it is from the one that was fitted.

    Attributes
    ----------
    model : JointPMF
        What the page answers by.
    fitted_rank : int
        The number of classes before.
    loss, standard_error : float
        D(fitted‖carried) in nats a row, and its standard error; zero for the model itself.
    pair_difference : float
        The largest difference of the two in any cell of any table of two variables.
    """

    model: JointPMF
    fitted_rank: int
    loss: float = 0.0
    standard_error: float = 0.0
    pair_difference: float = 0.0


def carried(model: JointPMF, rank: int | Literal["auto", "all"], seed: int) -> Carried:
    """Return the model for a page.

    Parameters
    ----------
    model : JointPMF
        The fitted one.
    rank : int, "auto" or "all"
        How many classes the page has: all of them, this many at most, or as many as keep it below two megabytes and
        are found in about half a minute.
    seed : int
        Where the chance of a compression comes from.
    """
    wanted = wanted_rank(model, rank)
    if wanted == model.rank:
        return Carried(model, model.rank)
    small = model.compress(wanted, seed=seed)
    assert small.info is not None
    step = small.info.compressed[-1]
    # a loss is never below zero but for the noise of its estimate
    loss = max(0.0, step.loss)
    return Carried(small, model.rank, loss, step.standard_error, _pair_difference(model, small))


def wanted_rank(model: JointPMF, rank: int | Literal["auto", "all"]) -> int:
    """Return how many classes the model of a page has, no more than the fitted one."""
    if isinstance(rank, bool) or not (rank in ("auto", "all") or (isinstance(rank, int) and rank >= 1)):
        raise ParameterError("{rank} must be 'auto', 'all' or a whole number from 1. Got {got!r} instead.", got=rank)
    if isinstance(rank, int):
        return min(rank, model.rank)
    return model.rank if rank == "all" else _fitting(model)


def _fitting(model: JointPMF) -> int:
    """Return how many classes fit into a page, all of them if they do, else as many as are found in time."""
    n_labels = sum(model.domain.cardinalities)
    # beside the model a page has the dependence of all pairs, in floats
    left = _MODEL_BYTES - len(model.domain) ** 2 / 2 * _BYTES_A_NUMBER / 2
    room = max(1, int(left / (_BYTES_A_NUMBER * (1 + n_labels))))
    return model.rank if model.rank <= room else max(1, min(room, int(_COMPRESSION_WORK / (model.rank * n_labels))))


def _pair_difference(one: JointPMF, other: JointPMF) -> float:
    """Return the largest difference of two models in the table of any two variables."""
    ends = np.concatenate([[0], np.cumsum(one.domain.cardinalities)])
    stacks = [(np.concatenate(model.factors), model.weights) for model in (one, other)]
    largest = 0.0
    # the rows of one variable at a time, beside those of all that follow
    for start, end in pairwise(ends[:-1]):
        tables = [(stack[start:end] * weights) @ stack[end:].T for stack, weights in stacks]
        largest = max(largest, float(np.abs(tables[0] - tables[1]).max()))
    return largest
