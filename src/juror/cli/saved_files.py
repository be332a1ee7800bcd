"""Files that juror wrote, models and counts: recognised by their content, read and described."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import juror
from juror.cli.options import DEFAULTS
from juror.cli.places import refuse_no_file
from juror.errors import ModelFileError, Option, ParameterError
from juror.files import KINDS
from juror.printing import numbered

if TYPE_CHECKING:
    from juror.domain import Domain
    from juror.model import JointPMF
    from juror.solvers.solver import Statistic

_SUFFIX = ".counts"


def kind_of(path: Path) -> str | None:
    """Return what a file holds by its content: "model" or a kind of counts; None if juror did not write it.

    A file with the suffix of counts must hold counts.
    """
    from juror.files.container import read_kind

    if not path.is_file():
        if path.suffix.lower() == _SUFFIX:
            raise ModelFileError(f"There is no file of counts {str(path)!r}. Check the path.")
        return None
    kind = read_kind(path)
    if kind is None and path.suffix.lower() == _SUFFIX:
        raise ModelFileError(f"The file {str(path)!r} does not hold counts that juror wrote. Fetch it again.")
    if kind is not None and kind != "model" and kind not in KINDS:
        raise ModelFileError(f"The file {str(path)!r} holds {kind}, which this juror cannot read. Install a newer one.")
    return kind


def read_model(path: Path) -> JointPMF:
    """Read a model."""
    from juror.model import load

    try:
        return load(path)
    except ModelFileError:
        kind = kind_of(path) if path.is_file() else None
        if kind not in KINDS:
            raise
    raise ModelFileError(
        f"The file {str(path)!r} holds {KINDS[kind]}, not a model. Fit a model to them with 'juror fit'."
    )


def read_counts(path: Path) -> Statistic:
    """Read counts of any kind."""
    kind = kind_of(path)
    if kind is None or kind == "model":
        what = "a model" if kind else "no counts" if path.is_file() else None
        if what is None:
            raise ModelFileError(f"There is no file of counts {str(path)!r}. Check the path.")
        raise ModelFileError(f"The file {str(path)!r} holds {what}. Name one that 'juror count' wrote.")
    return getattr(juror, kind).load(path)


def read_domain(path: Path) -> Domain:
    """Read the domain of a model or of counts."""
    if not path.is_file():
        raise ModelFileError(f"--domain must be a file of a model or of counts. There is no file {str(path)!r}.")
    return read_model(path).domain if kind_of(path) in (None, "model") else read_counts(path).domain


def check_name_for(output: Path, what: str, suffix: str) -> None:
    """Refuse an output that has the suffix of another kind, or that cannot be written."""
    from juror.files.container import check_name

    refuse_no_file(output)
    check_name(output, what, suffix)
    others = {".juror": "a model", _SUFFIX: "counts"}
    if output.suffix.lower() in others and output.suffix.lower() != suffix:
        raise ParameterError(
            f"{output.name!r} names a file of {others[output.suffix.lower()]}, not of {what}. Name it like "
            f"{output.stem + suffix!r}."
        )


def refuse_for_counts(path: Path, given: Mapping[str, Any]) -> None:
    """Refuse options about rows: counts have no rows."""
    for name, value in given.items():
        if value != DEFAULTS.get(name):
            raise ParameterError(
                "{option} is about rows, and {path!r} holds {kind}. Leave it out: it matters only when rows are "
                "counted.",
                option=Option(name),
                path=str(path),
                kind=KINDS[kind_of(path) or ""],
            )


def refuse_counts(data: Sequence[str]) -> None:
    """Refuse data that are counts already."""
    for path in data:
        kind = kind_of(Path(path))
        if kind in KINDS:
            raise ParameterError(
                f"The file {path!r} holds {KINDS[kind]} already. Add them to others with 'juror merge', or fit a "
                "model to them with 'juror fit'."
            )


def in_a_line(counts: Statistic) -> str:
    """Describe counts in one line."""
    what = KINDS[type(counts).__name__].rpartition(" ")[2].removesuffix("s")
    tables = numbered(len(counts.totals), f"{what} table")
    return f"{_rows(counts)} of {len(counts.domain)} variables, {tables}"


def described(counts: Statistic) -> str:
    """Describe counts: their variables, tables and rows."""
    from juror.answers.table_texts import align
    from juror.domain.question_texts import first_labels

    words = KINDS[type(counts).__name__]
    lines = [f"{words.capitalize()} of {len(counts.domain)} variables, {_rows(counts)}", ""]
    body = [[v.name, v.kind, str(v.cardinality), first_labels(v)] for v in counts.domain]
    lines += [align(["variable", "kind", "labels", ""], body, n_text=2), ""]
    fewest = float(counts.totals.min(initial=_most_rows(counts)))
    rows = (
        f"{_most_rows(counts):,.0f}" if fewest == _most_rows(counts) else f"{fewest:,.0f} to {_most_rows(counts):,.0f}"
    )
    lines.append(f"{numbered(len(counts.totals), 'table')} of {rows} rows, {_n_cells(counts):,} cells in all")
    return "\n".join(lines)


def facts(counts: Statistic) -> dict[str, Any]:
    """Return the facts about counts as plain values, without the counts themselves."""
    return {
        "kind": type(counts).__name__,
        "rows": _most_rows(counts),
        "tables": len(counts.totals),
        "cells": _n_cells(counts),
        "variables": variable_facts(counts.domain),
    }


def variable_facts(domain: Domain) -> list[dict[str, Any]]:
    """Return the variables as plain values."""
    return [
        {"name": v.name, "kind": v.kind, "labels": list(v.labels), "edges": list(v.edges) if v.edges else None}
        for v in domain
    ]


def _rows(counts: Statistic) -> str:
    return f"up to {_most_rows(counts):,.0f} rows" if isinstance(counts, juror.Projections) else counts.rows_in_words


def _most_rows(counts: Statistic) -> float:
    return float(counts.totals.max(initial=0.0))


def _n_cells(counts: Statistic) -> int:
    arrays = counts.masses if isinstance(counts, juror.Projections) else counts.tables
    return sum(array.size for array in arrays)
