"""Save and load models: one safetensors file with a JSON header, read without running anything in it.

The file's metadata have one entry, ``juror``: JSON with the format version, the domain, the fit's record and a digest
of all of it with the numbers, so that a file that was cut short or changed is told from a whole one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from juror.domain import Domain
from juror.errors import ModelFileError
from juror.info import FitInfo
from juror.variable import Variable
from juror.writing import check_place, write_whole

FORMAT_VERSION = 1
_ENTRY = "juror"
_DATA_SUFFIXES = (".csv", ".gz", ".json", ".parquet")


def write(
    path: str | os.PathLike[str],
    weights: np.ndarray,
    factors: Sequence[np.ndarray],
    domain: Domain,
    info: FitInfo | None,
) -> None:
    """Write a model's parts to one file, whole or not at all."""
    from safetensors.numpy import save

    check_name(Path(path))
    tensors = {"weights": np.ascontiguousarray(weights)}
    tensors |= {f"factor.{n}": np.ascontiguousarray(factor) for n, factor in enumerate(factors)}
    header = {
        "format_version": FORMAT_VERSION,
        "domain": {"missing": domain.missing, "variables": [asdict(variable) for variable in domain]},
        "info": info.to_dict() if info is not None else None,
    }
    # one entry only: safetensors writes several in an order that changes from run to run
    metadata = {_ENTRY: json.dumps(header | {"sha256": _digest(header, tensors)})}
    write_whole(Path(path), lambda stream: stream.write(save(tensors, metadata)))


def check_name(path: Path) -> None:
    """Refuse to write a model where the name says there are data, before any work is done for it."""
    if path.suffix.lower() in _DATA_SUFFIXES:
        raise ModelFileError(
            f"{path.name!r} names a file of data, not of a model. Name it like {path.stem + '.juror'!r}."
        )
    check_place(path)


def read(path: str | os.PathLike[str]) -> tuple[np.ndarray, tuple[np.ndarray, ...], Domain, FitInfo | None]:
    """Read a model's parts, or raise a sentence that says what is wrong with the file."""
    path = Path(path)
    if not path.is_file():
        raise ModelFileError(f"There is no model file {str(path)!r}. Check the path.")
    metadata, tensors = _read_tensors(path)
    if _ENTRY not in metadata:
        raise ModelFileError(f"The file {str(path)!r} is a safetensors file, but not a juror model.")
    try:
        header = json.loads(metadata[_ENTRY])
        _check_version(path, header["format_version"])
        if header.pop("sha256") != _digest(header, tensors):
            raise ModelFileError(
                f"The file {str(path)!r} was changed after juror wrote it: its digest does not match. Fetch it again."
            )
        factors = tuple(tensors[f"factor.{n}"] for n in range(len(tensors) - 1))
        info = FitInfo.from_dict(header["info"]) if header["info"] is not None else None
        return tensors["weights"], factors, _read_domain(header["domain"]), info
    except ModelFileError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"The file {str(path)!r} does not describe a model: {error}.") from None


def _read_tensors(path: Path) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as opened:
            return opened.metadata() or {}, {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ModelFileError(
            f"The file {str(path)!r} is not a juror model, or was cut short ({error}). Fetch or fit it again."
        ) from None


def _check_version(path: Path, version: Any) -> None:
    if type(version) is not int or version < 1:
        raise ModelFileError(f"The file {str(path)!r} has no format version that juror can read. Got {version!r}.")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"The file {str(path)!r} has format version {version}, and this juror reads up to {FORMAT_VERSION}. "
            "Install a newer juror."
        )


def _read_domain(plain: Mapping[str, Any]) -> Domain:
    variables = []
    for fields in plain["variables"]:
        lists = {key: tuple(value) for key, value in fields.items() if isinstance(value, list)}
        variables.append(Variable(**{**fields, **lists}))
    return Domain(tuple(variables), tuple(plain["missing"]))


def _digest(header: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode())
        digest.update(tensors[name].tobytes())
    return digest.hexdigest()
