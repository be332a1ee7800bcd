"""The model of a page: the fitted one if the page stays small with it, else the nearest model that is small enough.

Numbers are doubles if there is room for them, else of single precision: rounding to seven digits changes the answers
much less than a smaller number of classes does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from juror.answers.block import Block, Mixture
from juror.answers.information import divergence
from juror.answers.pairs import pair_tables
from juror.answers.sampling import generator
from juror.errors import ParameterError
from juror.model import JointPMF

# A page has at most two million bytes. The data and the page's own text take up to 600,000; this is left for the model.
_MODEL_BYTES = 1_350_000
# A number in base64: four characters for three bytes
_DOUBLE, _SINGLE = 8 * 4 / 3, 4 * 4 / 3
# The time to compress grows with (classes before) × (classes after) × (numbers of a class). This product takes about
# half a minute.
_COMPRESSION_WORK = 1e9
# Draws to estimate the loss by rounding if the tables are too large to write out
_DRAWS = 2_000


@dataclass(frozen=True)
class PageModel:
    """The model of a page, and how far it is from the fitted one.

    Attributes
    ----------
    model : JointPMF
        The model that gives the page's answers.
    single : bool
        Whether its numbers are rounded to single precision.
    loss, standard_error : float
        D(fitted‖model) in nats per row, and its standard error; zero for the fitted model itself.
    pair_difference : float
        The largest difference of the two models in any cell of any table of two variables.
    """

    model: JointPMF
    single: bool = False
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
    taken, loss, error = model, 0.0, 0.0
    if wanted < model.rank:
        taken = model.compress(wanted, seed=seed)
        assert taken.info is not None
        step = taken.info.compressed[-1]
        # The estimate of a small loss may be below zero.
        loss, error = max(0.0, step.loss), step.standard_error
    single = _n_numbers(taken) * _DOUBLE > _room(taken)
    if single:
        taken = rounded(taken)
    if taken is model:
        return PageModel(model)
    if wanted == model.rank:
        lost = divergence(model, taken, _DRAWS, generator(seed))
        loss, error = max(0.0, float(lost)), lost.standard_error
    return PageModel(taken, single, loss, error, _pair_difference(model, taken))


def wanted_rank(model: JointPMF, rank: int | Literal["auto", "all"]) -> int:
    """Return the number of classes of a page's model, at most that of the fitted one."""
    if isinstance(rank, bool) or not (rank in ("auto", "all") or (isinstance(rank, int) and rank >= 1)):
        raise ParameterError("{rank} must be 'auto', 'all' or a whole number from 1. Got {got!r} instead.", got=rank)
    if isinstance(rank, int):
        return min(rank, model.rank)
    return model.rank if rank == "all" else _fitting(model)


def rounded(model: JointPMF) -> JointPMF:
    """Return the model with numbers of single precision, scaled to sum to one as the page does after reading them.

    What is above zero stays above zero.
    """
    blocks = [Block(_single(block.weights), block.forest, tuple(map(_single, block.tables))) for block in model.blocks]
    return JointPMF.of_blocks(blocks, model.domain, model.info)


def _single(numbers: np.ndarray) -> np.ndarray:
    least = np.where(numbers > 0, np.finfo(np.float32).tiny, 0.0)
    return np.maximum(numbers, least).astype(np.float32).astype(np.float64)


def _numbers_a_class(block: Block) -> int:
    return 1 + sum(table.shape[0] * table.shape[1] for table in block.tables)


def _n_numbers(model: Mixture) -> int:
    return sum(block.rank * _numbers_a_class(block) for block in model.blocks)


def _room(model: Mixture) -> float:
    """Return the bytes for the model. The page also holds the dependence of all pairs, as floats."""
    return _MODEL_BYTES - len(model.domain) ** 2 / 2 * _SINGLE


def _fitting(model: JointPMF) -> int:
    """Return how many classes fit into a page: all, or as many as can be computed in time."""
    left = _room(model)
    if _n_numbers(model) * _SINGLE <= left:
        return model.rank
    largest = max(map(_numbers_a_class, model.blocks))
    in_time = int(_COMPRESSION_WORK / (model.rank * largest))
    return max(1, min(model.rank, int(left / (_SINGLE * largest)), in_time))


def _pair_difference(one: Mixture, other: Mixture) -> float:
    """Return the largest difference of two models in the table of any two variables."""
    tables = zip(pair_tables(one), pair_tables(other), strict=True)
    return max((float(np.abs(p - q).max()) for (_, _, p), (_, _, q) in tables), default=0.0)
