"""A model's parts in a file: weights and tables, domain and the record of its fit.

A model without edges is written as version 1 of the format, ``weights`` (F,) and ``factor.N`` (I_n, F), which every
juror reads. A model of several blocks, or with edges, needs version 2: for block B ``block.B.weights`` (F,),
``block.B.parents`` (nodes,), −1 for none, and for each of its nodes N ``block.B.table.N`` (I_pa or 1, I_n, F).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from juror.answers.block import Block, Mixture
from juror.domain import Domain
from juror.errors import ModelFileError, ParameterError
from juror.files import container
from juror.record import FitInfo
from juror.rows.forest import Forest

Parts = tuple[tuple[Block, ...], Domain, FitInfo | None]


def write(path: str | os.PathLike[str], model: Mixture, info: FitInfo | None) -> None:
    """Write a model's parts to one file, whole or not at all."""
    more: dict[str, Any] = {"info": info.to_dict() if info is not None else None}
    if len(model.blocks) == 1 and len(model.blocks[0].tables) == len(model.domain) and not model.blocks[0].has_edges:
        block = model.blocks[0]
        tensors = {"weights": block.weights} | {f"factor.{n}": factor for n, factor in enumerate(block.factors)}
        container.write(path, model.domain, more, tensors)
        return
    tensors = {}
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
        info = FitInfo.from_dict(header["info"]) if header["info"] is not None else None
        if "n_blocks" not in header:
            factors = tuple(tensors[f"factor.{n}"] for n in range(len(tensors) - 1))
            if len(factors) > len(domain):
                raise ValueError(f"it has {len(factors)} factors for {len(domain)} variables")
            return (Block.of_factors(tensors["weights"], factors),), domain, info
        return tuple(_read_block(path, b, tensors) for b in range(header["n_blocks"])), domain, info

    return container.read(path, "model", parts)


def _read_block(path: str | os.PathLike[str], b: int, tensors: Mapping[str, np.ndarray]) -> Block:
    parents = tuple(int(parent) for parent in tensors[f"block.{b}.parents"])
    try:
        forest = Forest(parents)
    except ParameterError as error:
        raise ModelFileError(f"The file {os.fspath(path)!r} does not hold a distribution: {error}") from None
    tables = tuple(tensors[f"block.{b}.table.{n}"] for n in range(len(parents)))
    return Block(tensors[f"block.{b}.weights"], forest, tables)
