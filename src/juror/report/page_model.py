"""The model of a page: the fitted one if the page stays small with it, else the nearest model that is small enough.

Its numbers are doubles if there is room for them, else floats, else logarithms in 16 bits: rounding changes the answers
much less than a smaller number of classes does. Trees with hidden nodes lose their least probable transitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from juror.answers.block import Block, Mixture
from juror.answers.information import divergence
from juror.answers.pairs import pair_tables
from juror.answers.sampling import generator
from juror.errors import ParameterError
from juror.model import JointPMF
from juror.report.number_facts import MOST_PIECES
from juror.report.packing_numbers import Bits, as_base64, decode, encode
from juror.report.thinned_trees import SHARES, thinned

# A page has at most two million bytes. The data and the page's own text take up to 600,000; this is left for the model.
_MODEL_BYTES = 1_350_000
# About what a piece of the law of a number takes
_PIECE_BYTES = 14
# The time to merge classes grows with (classes before) × (classes after) × (numbers of a class). This product takes
# about half a minute.
_COMPRESSION_WORK = 1e9
# The classes of a smaller model may be harder to pack: the share of the room that it may fill by estimate, and how many
# smaller ones are tried
_SAFE, _TRIES = 0.8, 4
# A step of EM takes time for every block of the smaller model. With many, a compression takes this many steps divided
# by their number, within these limits, and judges itself by fewer rows.
_STEPS_WORK, _FEWEST_STEPS, _MOST_STEPS = 800, 30, 100
_ROWS_TO_JUDGE = 10_000
# Answers with one condition that differ by up to a point count as equal.
POINT = 0.01
# Draws to estimate the loss if the tables are too large to write out
_DRAWS = 5_000
# Weights of members that differ by less are equal.
_CLOSE = 1e-6


@dataclass(frozen=True)
class PageModel:
    """The model of a page, and how far it is from the fitted one.

    Attributes
    ----------
    model : JointPMF
        The model that gives the page's answers.
    bits : int
        The precision of its numbers, 64 for doubles, 32 for floats, 16 for logarithms.
    packed : list of dict
        Its blocks as the page has them.
    loss, standard_error : float
        D(fitted‖model) in nats per row, and its standard error; zero for the fitted model itself.
    pair_difference : float
        The largest difference of the two models in any cell of any table of two variables.
    apart : numpy.ndarray, (n_pairs,)
        For every pair, a bound of their difference in answers given one variable; see :func:`conditional_difference`.
    """

    model: JointPMF
    bits: Bits
    packed: list[dict[str, Any]]
    apart: np.ndarray
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
    check_rank(rank)
    bits, packed = _packed(model)
    if rank == "auto" and _n_bytes(packed) > _room(model):
        trees = _trees_in(model)
        if trees:
            return _nearest(trees, model, seed)
        return _nearest([_fitted_in(part, seed) for part in _parts(model, packed)], model, seed)
    if isinstance(rank, int) and rank < model.rank:
        return _nearest([model.compress(rank, seed=seed)], model, seed)
    shown = rounded(model, bits)
    if shown is model:
        n_pairs = len(model.domain) * (len(model.domain) - 1) // 2
        return PageModel(model, bits, packed, np.zeros(n_pairs))
    return _nearest([model], model, seed)


def _nearest(candidates: Sequence[JointPMF], model: JointPMF, seed: int) -> PageModel:
    """Return the candidate that is nearest to the model, with its numbers rounded."""
    pages = []
    for taken in candidates:
        bits, packed = _packed(taken)
        shown = rounded(taken, bits)
        # The same rows are drawn for every candidate. The estimate of a small loss may be below zero.
        loss = divergence(model, shown, _DRAWS, generator(seed))
        pages.append(PageModel(shown, bits, packed, np.empty(0), max(0.0, float(loss)), loss.standard_error))
    best = min(pages, key=lambda page: page.loss)
    cells, answers = _pair_differences(model, best.model)
    return replace(best, pair_difference=cells, apart=answers)


def _trees_in(model: JointPMF) -> list[JointPMF]:
    """Return trees with hidden nodes that fit into a page when they are thinned; none for classes.

    A model of classes near a tree would need far more room than the tree. There are two candidates: as many whole
    members as have room, and the heaviest trees, which may all be of the same rows.
    """
    n = len(model.domain)
    if not all(block.is_hidden_tree(n) for block in model.blocks):
        return []
    heaviest = sorted(model.blocks, key=lambda block: -float(block.weights.sum()))
    members = _thinned_in(model, model.blocks, _ends_of_members(model))
    trees = _thinned_in(model, heaviest, range(1, len(heaviest) + 1))
    return [found for found in (members, trees) if found is not None]


def _thinned_in(model: JointPMF, blocks: Sequence[Block], ends: Sequence[int]) -> JointPMF | None:
    """Return the most of some blocks that fit into a page when they are thinned as little as possible.

    They may end after some numbers of blocks only.
    """
    for share in SHARES:
        whole = JointPMF.of_blocks([thinned(block, model.domain, share) for block in blocks], model.domain, model.info)
        sizes = np.cumsum([_n_bytes([packed]) for packed in _packed(whole)[1]])
        # Half of the trees are nearer to all of them than all without many of their transitions are.
        fitting = int(np.searchsorted(sizes, _room(model), side="right"))
        count = max((end for end in ends if end <= fitting), default=0)
        if count:
            return _of_blocks(whole, np.arange(count))
    return None


def _ends_of_members(model: JointPMF) -> list[int]:
    """Return after how many blocks each member of an ensemble ends; its blocks have the same share of all weights."""
    n_members = 1 if model.info is None else model.info.n_members
    done = np.cumsum([block.weights.sum() for block in model.blocks]) * n_members
    return [b + 1 for b, share in enumerate(done) if round(share) >= 1 and abs(share - round(share)) < _CLOSE]


def _parts(model: JointPMF, packed: list[dict[str, Any]]) -> list[JointPMF]:
    """Return the models to start from: one that can be compressed in time, and the whole blocks that fit into a page.

    Blocks are taken by weight. Members of an ensemble answer alike, so a few of them may be nearer to all than a model
    of as many classes in all forests is.
    """
    order = np.argsort([-block.weights.sum() for block in model.blocks], kind="stable")
    sizes = np.cumsum([_n_bytes([packed[b]]) for b in order])
    counts = {_n_in_time(model, order), int(np.searchsorted(sizes, _room(model), side="right"))} - {0}
    return [_of_blocks(model, order[:count]) for count in sorted(counts, reverse=True)]


def _n_in_time(model: JointPMF, order: np.ndarray) -> int:
    """Return how many of the heaviest blocks can be compressed in time to as many classes as there is room for."""
    for count in range(len(order), 1, -1):
        part = _of_blocks(model, order[:count])
        if _in_time(part) >= _n_unpacked(part):
            return count
    return 1


def _of_blocks(model: JointPMF, chosen: np.ndarray) -> JointPMF:
    """Return some of the blocks, with their weights scaled to sum to one."""
    if len(chosen) == len(model.blocks):
        return model
    blocks = [model.blocks[b] for b in sorted(chosen)]
    total = float(sum(block.weights.sum() for block in blocks))
    return JointPMF.of_blocks([block.scaled(1 / total) for block in blocks], model.domain, model.info)


def _fitted_in(model: JointPMF, seed: int) -> JointPMF:
    """Return the model, or a compressed one, so that it fits into a page."""
    for _ in range(_TRIES):
        rank = _fitting(model)
        if rank == model.rank:
            break
        # The classes of a smaller model may be harder to pack than expected. From there it is not far.
        model = compressed_in_time(model, rank, seed)
    return model


def compressed_in_time(model: JointPMF, rank: int, seed: int, work: float = _STEPS_WORK) -> JointPMF:
    """Return a model of smaller rank near a model; with many blocks in fewer steps than :meth:`JointPMF.compress`."""
    n_blocks = min(len(model.blocks), rank)
    n_steps = int(np.clip(work / n_blocks, _FEWEST_STEPS, _MOST_STEPS))
    if n_steps == _MOST_STEPS:
        return model.compress(rank, seed=seed)
    from juror.answers.compressing import compressed  # imports the solvers, which are slow to import

    blocks, _ = compressed(model, rank, seed=seed, n_steps=n_steps, n_rows=_ROWS_TO_JUDGE)
    return JointPMF.of_blocks(blocks, model.domain, model.info)


def is_too_large(model: JointPMF, rank: int | Literal["auto", "all"]) -> bool:
    """Say whether a page needs a smaller model than the fitted one."""
    check_rank(rank)
    if isinstance(rank, int):
        return rank < model.rank
    return rank == "auto" and _n_bytes(_packed(model)[1]) > _room(model)


def check_rank(rank: int | Literal["auto", "all"]) -> None:
    """Refuse what is no number of classes."""
    if isinstance(rank, bool) or not (rank in ("auto", "all") or (isinstance(rank, int) and rank >= 1)):
        raise ParameterError("{rank} must be 'auto', 'all' or a whole number from 1. Got {got!r} instead.", got=rank)


def rounded(model: JointPMF, bits: Bits) -> JointPMF:
    """Return the model with numbers of this precision, scaled to sum to one as the page does after reading them."""
    if bits == 64:
        return model
    total = sum(decode(encode(block.weights, bits), bits).sum() for block in model.blocks)
    blocks = []
    for block in model.blocks:
        tables = (decode(encode(table, bits), bits) for table in block.tables)
        scaled = tuple(table / table.sum(axis=1, keepdims=True) for table in tables)
        blocks.append(Block(decode(encode(block.weights, bits), bits) / total, block.forest, scaled))
    return JointPMF.of_blocks(blocks, model.domain, model.info)


def _packed(model: Mixture) -> tuple[Bits, list[dict[str, Any]]]:
    """Return the best precision for which there is room, and the blocks as text."""
    room, count = _room(model), _n_numbers(model)
    exact: tuple[Bits, ...] = (64, 32)
    # Base64 has four characters for three bytes.
    bits: Bits = next((bits for bits in exact if count * bits / 6 <= room), 16)
    return bits, [_packed_block(block, bits) for block in model.blocks]


def _packed_block(block: Block, bits: Bits) -> dict[str, Any]:
    """Return a block with its weights and its tables, [parent's label][label][class] one after the other, as text."""
    return {
        "weights": as_base64(encode(block.weights, bits), bits),
        "parents": block.parents.tolist(),
        "sizes": list(block.sizes),
        "tables": as_base64(encode(np.concatenate([table.ravel() for table in block.tables]), bits), bits),
    }


def _n_bytes(packed: list[dict[str, Any]]) -> int:
    return sum(len(block["weights"]) + len(block["tables"]) for block in packed)


def _n_numbers(model: Mixture) -> int:
    return sum(block.weights.size + sum(table.size for table in block.tables) for block in model.blocks)


def _room(model: Mixture) -> float:
    """Return the bytes for the model. The page also holds the dependence of all pairs, as floats, and the laws."""
    n_pieces = sum(min(len(variable.law.starts), MOST_PIECES) for variable in model.domain if variable.law is not None)
    return _MODEL_BYTES - len(model.domain) ** 2 / 2 * (32 / 6) - _PIECE_BYTES * n_pieces


def _fitting(model: JointPMF) -> int:
    """Return how many classes fit into a page: all, or as many as can be computed in time."""
    size = _n_bytes(_packed(model)[1])
    if size <= _room(model):
        return model.rank
    rank = min(_SAFE * model.rank * _room(model) / size, _in_time(model))
    if rank < len(model.blocks):
        # Classes that stand for several trees each have few zeros, and pack badly.
        rank = min(rank, _SAFE * _n_unpacked(model))
    return max(1, int(rank))


def _n_unpacked(model: JointPMF) -> float:
    """Return how many classes there is room for if 16 bits of each number stay, as if no table had zeros."""
    # Base64 has four characters for three bytes.
    return _room(model) * 6 / 16 / (_n_numbers(model) / model.rank)


def _in_time(model: Mixture) -> float:
    """Return to how many classes a model can be compressed in time."""
    return _COMPRESSION_WORK / _n_numbers(model)


def _pair_differences(one: Mixture, other: Mixture) -> tuple[float, np.ndarray]:
    """Return the largest difference of two models in the table of any two variables, and in answers by each table."""
    largest, answers = 0.0, []
    for (_, _, p), (_, _, q) in zip(pair_tables(one), pair_tables(other), strict=True):
        largest = max(largest, float(np.abs(p - q).max()))
        answers.append(conditional_difference(p, q))
    return largest, np.array(answers)


def conditional_difference(fitted: np.ndarray, shown: np.ndarray) -> float:
    """Bound how far two tables of a pair are apart in any answer about one variable given any labels of the other.

    For labels S of the condition, |P(b | S) − Q(b | S)| ≤ (|ΔP(b, S)| + |ΔP(S)|) / P(S), and for a sum of labels this
    is at most the largest such ratio of a single label.

    >>> conditional_difference(np.array([[0.5, 0.0], [0.0, 0.5]]), np.array([[0.5, 0.0], [0.1, 0.4]])).__round__(3)
    0.4
    """
    apart = np.abs(fitted - shown)
    worst = 0.0
    for axis in (1, 0):
        p, q = fitted.sum(axis=axis), shown.sum(axis=axis)
        possible = p > 0
        if possible.any():
            worst = max(worst, float(((apart.max(axis=axis) + np.abs(p - q))[possible] / p[possible]).max()))
    return worst
