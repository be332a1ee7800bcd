"""A model's parts in a file: weights and tables, domain, the record of its fit, and the pair counts of its table.

A model without edges and counts is written as version 1 of the format, ``weights`` (F,) and ``factor.N`` (I_n, F),
which every juror reads. All others need version 2: for block B ``block.B.weights`` (F,), ``block.B.parents`` (nodes,),
−1 for none, and for each of its nodes N ``block.B.table.N`` (I_pa or 1, I_n, F). Counts are one more array, ``counts``,
and an entry of the same name in the header, which says how to read it (:mod:`juror.counts.counts_in_file`). The first
jurors that read version 2 know no counts, and read the rest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import numpy as np

from juror.answers.block import Block, Mixture
from juror.answers.interval_ends import UNSEEN
from juror.domain import Domain
from juror.domain.conditions import Conditions
from juror.errors import ModelFileError, ParameterError
from juror.files import container
from juror.files.schema import check
from juror.record import Amount, Count, FitRecord
from juror.rows.forest import Forest


class _CountsEntries(TypedDict):
    """The entries of a header about the pair counts."""

    type: str
    n_rows: Amount | None
    singles: bool


class _ConditionsEntries(TypedDict):
    """The entries of a header about conditions."""

    domain: dict[str, Any]
    weights: dict[str, list[Amount]]


class _Entries(TypedDict):
    """The entries of a model's header, besides those of every file."""

    info: dict[str, Any] | None
    n_blocks: NotRequired[Count]
    counts: NotRequired[_CountsEntries]
    conditions: NotRequired[_ConditionsEntries]


if TYPE_CHECKING:
    from juror.counts.counts import PairCounts

    Parts = tuple[tuple[Block, ...], Domain, FitRecord | None, PairCounts | None, Conditions | None]


def write(
    path: str | os.PathLike[str],
    model: Mixture,
    info: FitRecord | None,
    counts: PairCounts | None = None,
    conditions: Conditions | None = None,
) -> None:
    """Write a model's parts to one file, whole or not at all."""
    more: dict[str, Any] = {"info": info.to_dict() if info is not None else None}
    if conditions is not None:
        # in the header, where older jurors ignore them
        weights = {conditions.domain[n].name: weights.tolist() for n, weights in conditions.evidence.items()}
        more["conditions"] = {"domain": container.plain_domain(conditions.domain), "weights": weights}
    block = model.blocks[0]
    is_flat = len(model.blocks) == 1 and len(block.tables) == len(model.domain) and not block.has_edges
    if is_flat and counts is None:
        tensors = {"weights": block.weights} | {f"factor.{n}": factor for n, factor in enumerate(block.factors)}
        container.write(path, model.domain, more, tensors)
        return
    tensors = {}
    if counts is not None:
        from juror.counts.counts_in_file import packed  # imports counts, which are slow to import

        more["counts"], tensors["counts"] = packed(counts)
    for b, block in enumerate(model.blocks):
        tensors |= {f"block.{b}.weights": block.weights, f"block.{b}.parents": block.parents}
        tensors |= {f"block.{b}.table.{n}": table for n, table in enumerate(block.tables)}
    container.write(path, model.domain, more | {"n_blocks": len(model.blocks)}, tensors, version=2)


def read(path: str | os.PathLike[str]) -> Parts:
    """Read a model's parts; every fault of the file is a ModelFileError."""

    def parts(domain: Domain, header: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> Parts:
        if "kind" in header:
            raise ModelFileError(
                f"The file {os.fspath(path)!r} holds {header['kind']}, not a model. Read them with "
                f"juror.{header['kind']}.load."
            )
        check(header, _Entries, "header")
        info = _read_info(header["info"]) if header["info"] is not None else None
        conditions = _read_conditions(header["conditions"]) if "conditions" in header else None
        if "n_blocks" not in header:
            factors = tuple(tensors[f"factor.{n}"] for n in range(len(tensors) - 1))
            if len(factors) > len(domain):
                raise ValueError(f"it has {len(factors)} factors for {len(domain)} variables")
            flat = Block.of_factors(tensors["weights"], factors)
            _check_draws(info, [flat])
            return (flat,), domain, info, None, conditions
        counts = None
        if "counts" in header:
            from juror.counts.counts_in_file import unpacked  # imports counts, which are slow to import

            counts = unpacked(domain, header["counts"], tensors["counts"])
        blocks = tuple(_read_block(path, b, tensors) for b in range(header["n_blocks"]))
        _check_draws(info, blocks)
        return blocks, domain, info, counts, conditions

    return container.read(path, "model", parts)


def _read_info(plain: Mapping[str, Any]) -> FitRecord:
    info = FitRecord.from_dict(plain)
    check(info, FitRecord, "info")
    if info.log_likelihood is not None and not info.n_rows:
        raise ValueError("info has a likelihood of no rows")
    if info.agreement is not None and len(info.agreement) != len(UNSEEN):
        raise ValueError(f"info.agreement must have {len(UNSEEN)} numbers, and has {len(info.agreement)}")
    if not all(info.stages.values()):
        raise ValueError("a stage of info has no trace")
    return info


def _check_draws(info: FitRecord | None, blocks: Sequence[Block]) -> None:
    """Refuse a number of draws that the classes, or the blocks with forests, cannot be divided into."""
    n_parts = len(blocks) if any(block.has_edges for block in blocks) else sum(block.rank for block in blocks)
    if info is not None and info.n_draws and n_parts % info.n_draws:
        raise ValueError(f"info says that {n_parts} classes or blocks are {info.n_draws} draws")


def _read_conditions(plain: Mapping[str, Any]) -> Conditions:
    domain = container.read_domain(plain["domain"])
    for name, weights in plain["weights"].items():
        if len(weights) != domain[name].cardinality or not any(weights):
            raise ValueError(f"the condition on {name!r} must weigh its {domain[name].cardinality} labels")
    return Conditions(domain, {domain.position(name): np.asarray(w, float) for name, w in plain["weights"].items()})


def _read_block(path: str | os.PathLike[str], b: int, tensors: Mapping[str, np.ndarray]) -> Block:
    parents = tuple(int(parent) for parent in tensors[f"block.{b}.parents"])
    try:
        forest = Forest(parents)
    except ParameterError as error:
        raise ModelFileError(f"The file {os.fspath(path)!r} does not hold a distribution: {error}") from None
    tables = tuple(tensors[f"block.{b}.table.{n}"] for n in range(len(parents)))
    return Block(tensors[f"block.{b}.weights"], forest, tables)


def counts_bytes(path: str | os.PathLike[str]) -> int:
    """Return how many bytes of a model's file are the pair counts of its table; zero if it has none."""
    from safetensors import safe_open

    with safe_open(path, framework="np") as opened:
        return int(opened.get_slice("counts").get_shape()[0]) if "counts" in opened.keys() else 0  # noqa: SIM118
