"""A model's parts in a file: weights, factors, domain and the record of its fit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from juror.domain import Domain
from juror.errors import ModelFileError
from juror.files import container
from juror.record import FitInfo

Parts = tuple[np.ndarray, tuple[np.ndarray, ...], Domain, FitInfo | None]


def write(
    path: str | os.PathLike[str],
    weights: np.ndarray,
    factors: Sequence[np.ndarray],
    domain: Domain,
    info: FitInfo | None,
) -> None:
    """Write a model's parts to one file, whole or not at all."""
    tensors = {"weights": weights} | {f"factor.{n}": factor for n, factor in enumerate(factors)}
    container.write(path, domain, {"info": info.to_dict() if info is not None else None}, tensors)


def read(path: str | os.PathLike[str]) -> Parts:
    """Read a model's parts; every fault of the file is a ModelFileError."""

    def parts(domain: Domain, header: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> Parts:
        if "kind" in header:
            raise ModelFileError(
                f"The file {os.fspath(path)!r} holds {header['kind']}, not a model. Read them with "
                f"juror.{header['kind']}.load."
            )
        factors = tuple(tensors[f"factor.{n}"] for n in range(len(tensors) - 1))
        info = FitInfo.from_dict(header["info"]) if header["info"] is not None else None
        return tensors["weights"], factors, domain, info

    return container.read(path, "model", parts)
