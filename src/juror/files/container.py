"""The file format of models and statistics: one safetensors file with a JSON header. Reading it runs no code.

The file's metadata have one entry, ``juror``: JSON with the format version, the domain, further plain values and a
SHA-256 digest of the header and the arrays, which detects a file that was cut short or changed. The header of a
statistic has its kind; the header of a model (:mod:`juror.model.file_format`) has none.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, TypeVar

import numpy as np

from juror.domain import Domain
from juror.domain.formulas import Formula
from juror.domain.grid import Grid
from juror.domain.law import Law
from juror.domain.orders import Order
from juror.domain.variable import Label, Variable
from juror.errors import ModelFileError
from juror.files import KINDS
from juror.files.schema import check
from juror.files.writing import check_place, write_whole
from juror.readers.calendars import Calendar
from juror.readers.columns import Floats
from juror.readers.frame_types import FrameType
from juror.readers.suffixes import COMPRESSED, SUFFIXES

T = TypeVar("T")


class _FrameEntries(TypedDict):
    """The entries of a header about the frame that a domain was found in."""

    library: Literal["pandas", "polars", "pyarrow"]
    dtypes: dict[str, str]


class _DomainEntries(TypedDict):
    """The entries of a domain in a header."""

    variables: list[Variable]
    missing: list[Label]
    floats: NotRequired[Floats | None]
    formulas: NotRequired[list[Formula]]
    orders: NotRequired[list[Order]]
    frame: NotRequired[_FrameEntries]


# Version 2 is for models with forests or counts, version 3 for domains with a label for missing cells, version 4 for
# domains with numbers, whose laws older jurors do not know. All else is still written as version 1, which they read.
FORMAT_VERSION = 4
_ENTRY = "juror"
_DATA_SUFFIXES = frozenset((*SUFFIXES, *COMPRESSED, ".json", ".duckdb", ".sqlite", ".db"))
# safetensors refuses longer headers.
_MOST_HEADER_BYTES = 100_000_000
# What a header that juror did not write may cause. All that a schema allows is checked by the code that gets it.
_FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def write(
    path: str | os.PathLike[str],
    domain: Domain,
    more: Mapping[str, Any],
    tensors: Mapping[str, np.ndarray],
    version: int = 1,
) -> None:
    """Write a domain, further plain values for the header, and arrays to one file, whole or not at all.

    The version is the first one of the format that has these values and arrays.
    """
    from safetensors.numpy import save

    path = Path(path)
    check_name(path)
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    if any(variable.missing_label is not None for variable in domain):
        version = max(version, 3)
    if any(variable.law is not None for variable in domain):
        version = max(version, 4)
    header = {
        "format_version": version,
        "domain": plain_domain(domain),
        **more,
    }
    # One entry only: safetensors writes several in an order that changes from run to run.
    metadata = {_ENTRY: json.dumps(header | {"sha256": _digest(header, tensors)})}
    write_whole(path, lambda stream: stream.write(save(tensors, metadata)))


def check_name(path: Path, what: str = "a model", suffix: str = ".juror") -> None:
    """Refuse a file name that belongs to data, such as ``x.csv``, and a path where no file can be written."""
    if path.suffix.lower() in _DATA_SUFFIXES:
        raise ModelFileError(f"{path.name!r} names a file of data, not of {what}. Name it like {path.stem + suffix!r}.")
    check_place(path)


def read_statistic(
    path: str | os.PathLike[str], kind: str, make: Callable[[Domain, Mapping[str, Any], Mapping[str, np.ndarray]], T]
) -> T:
    """Read a statistic of this kind: ``make`` gets its domain, header and arrays."""

    def made(domain: Domain, header: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> T:
        found = header.get("kind", "a model")
        if found != kind:
            raise ModelFileError(f"The file {os.fspath(path)!r} holds {found}, not {kind}.")
        return make(domain, header, tensors)

    return read(path, kind, made)


def read_kind(path: str | os.PathLike[str]) -> str | None:
    """Return what a file holds, from its header; neither the file name nor the arrays are read.

    Returns
    -------
    str, optional
        The kind of a statistic, such as ``"PairCounts"``, or ``"model"``; None for a file that juror did not write.
    """
    path = Path(path)
    with path.open("rb") as stream:
        n_bytes = int.from_bytes(stream.read(8), "little")
        # safetensors: the length of the header in eight bytes, then its opening brace. No data file begins like that.
        if not 2 <= n_bytes <= _MOST_HEADER_BYTES or stream.read(1) != b"{":
            return None
        # before reading: a read takes as much memory as it is asked for
        if 8 + n_bytes > os.fstat(stream.fileno()).st_size:
            raise ModelFileError(f"The file {str(path)!r} was cut short. Fetch it again.")
        content = b"{" + stream.read(n_bytes - 1)
    try:
        kind = json.loads(json.loads(content)["__metadata__"][_ENTRY]).get("kind", "model")
    except _FAULTS:
        raise ModelFileError(f"The file {str(path)!r} is a safetensors file, but none of juror's.") from None
    return str(kind)


def read(
    path: str | os.PathLike[str], what: str, make: Callable[[Domain, Mapping[str, Any], Mapping[str, np.ndarray]], T]
) -> T:
    """Check version and digest, and return ``make(domain, header, arrays)``.

    Every fault of the file is a ModelFileError.
    """
    path = Path(path)
    if not path.is_file():
        raise ModelFileError(f"There is no {what} file {str(path)!r}. Check the path.")
    metadata, tensors = _read_tensors(path, what)
    if _ENTRY not in metadata:
        raise ModelFileError(f"The file {str(path)!r} is a safetensors file, but not a juror model.")
    try:
        header = json.loads(metadata[_ENTRY])
        check(header, dict[str, Any], "header")
        _check_version(path, header["format_version"])
        if header.pop("sha256") != _digest(header, tensors):
            raise ModelFileError(
                f"The file {str(path)!r} was changed after juror wrote it: its digest does not match. Fetch it again."
            )
        return make(read_domain(header["domain"]), header, tensors)
    except ModelFileError:
        raise
    except _FAULTS as error:
        reason = "its header is nested too deeply" if isinstance(error, RecursionError) else str(error).rstrip(".")
        raise ModelFileError(f"The file {str(path)!r} does not describe a {what}: {reason}.") from None


def _read_tensors(path: Path, what: str) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as opened:
            return opened.metadata() or {}, {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        named = "a juror model" if what == "model" else f"a file of {KINDS.get(what, what)}"
        if path.suffix.lower() in _DATA_SUFFIXES:
            made = "fit" if what == "model" else "count"
            raise ModelFileError(
                f"The file {str(path)!r} is one of data, not {named}. Name the file that juror {made} wrote from it."
            ) from None
        raise ModelFileError(
            f"The file {str(path)!r} is not {named}, or was cut short ({error}). Fetch or make it again."
        ) from None


def _check_version(path: Path, version: Any) -> None:
    if type(version) is not int or version < 1:
        raise ModelFileError(f"The file {str(path)!r} has no format version that juror can read. Got {version!r}.")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"The file {str(path)!r} has format version {version}, and this juror reads up to {FORMAT_VERSION}. "
            "Install a newer juror."
        )


def _plain(variable: Variable) -> dict[str, Any]:
    """Return a variable as plain values, without what it does not have; older jurors know fewer of them."""
    plain = asdict(variable)
    if plain["law"] is not None and plain["law"]["stride"] == 1:
        # Files of columns without a stride stay as they were.
        del plain["law"]["stride"]
    return {key: value for key, value in plain.items() if value is not None or key not in _LATER}


# Fields of a variable that older jurors do not know
_LATER = ("law", "missing_label", "calendar")


def plain_domain(domain: Domain) -> dict[str, Any]:
    """Return a domain as plain values for a header."""
    # Older jurors, which decide by the numbers of each array, read the file without this entry and with it.
    floats = {} if domain.floats is None else {"floats": domain.floats}
    # Older jurors ignore formulas and orders, so that rows they draw do not satisfy them, and frames.
    formulas = {"formulas": [asdict(formula) for formula in domain.formulas]} if domain.formulas else {}
    orders = {"orders": [asdict(order) for order in domain.orders]} if domain.orders else {}
    frame = {} if domain.frame is None else {"frame": asdict(domain.frame)}
    variables = [_plain(variable) for variable in domain]
    return {"missing": domain.missing, "variables": variables, **floats, **formulas, **orders, **frame}


def read_domain(plain: Mapping[str, Any]) -> Domain:
    """Make a domain from the plain values of a header."""
    check(plain, _DomainEntries, "domain")
    variables = []
    for entries in plain["variables"]:
        more: dict[str, Any] = {"law": _read_law(entries["law"])} if "law" in entries else {}
        if "calendar" in entries:
            more["calendar"] = Calendar(**entries["calendar"])
        # older jurors wrote a typical number of each interval
        known = {key: value for key, value in _with_tuples(entries).items() if key != "values"}
        variables.append(Variable(**known | more))
    formulas = tuple(Formula(**_with_tuples(formula)) for formula in plain.get("formulas", ()))
    orders = tuple(Order(**order) for order in plain.get("orders", ()))
    frame = FrameType(**plain["frame"]) if "frame" in plain else None
    return Domain(tuple(variables), tuple(plain["missing"]), plain.get("floats"), formulas, orders, frame)


def _with_tuples(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return entries with tuples, which JSON writes as lists."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()}


def _read_law(plain: Mapping[str, Any]) -> Law:
    starts, ends, masses = (tuple(map(float, plain[name])) for name in ("starts", "ends", "masses"))
    # Older jurors wrote how many low bits positions did not have, for most columns none.
    grid = {name: value for name, value in plain["grid"].items() if (name, value) != ("dropped", 0)}
    # Older jurors wrote no stride, and read files with one.
    return Law(Grid(**grid), starts, ends, masses, plain.get("stride", 1))


def _digest(header: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode())
        digest.update(tensors[name].tobytes())
    return digest.hexdigest()
