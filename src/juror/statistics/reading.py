"""From a user's data to distinct weighted rows of codes over a domain."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from juror.discovery import Discovery, check_weights
from juror.domain import Domain
from juror.errors import DataError, ParameterError, shortlist
from juror.sources import Column, open_source
from juror.sources.columns import read_markers
from juror.statistics.rows import WeightedRows
from juror.variable import Label, Unknown


def read_rows(
    data: Any, domain: Domain | None, missing: Collection[Label], unknown: Unknown, sample_weight: Any
) -> tuple[Domain, WeightedRows]:
    """Return the domain and the distinct rows; rows of weight zero are not looked at."""
    domain, codes, weights = read_codes(data, domain, missing, unknown, sample_weight)
    return domain, WeightedRows.of(codes, weights)


def read_codes(
    data: Any, domain: Domain | None, missing: Collection[Label], unknown: Unknown, sample_weight: Any
) -> tuple[Domain, np.ndarray, np.ndarray | None]:
    """Return the domain, the codes (n_rows, N), and the weights (n_rows,) or None where every row counts once.

    Rows of weight zero are not looked at.
    """
    if domain is not None and not isinstance(domain, Domain):
        raise ParameterError(f"domain must be a juror.Domain, such as Domain.infer makes. Got {domain!r} instead.")
    if domain is not None and len(read_markers(missing)):
        raise ParameterError("missing belongs to the domain when one is given: use Domain.infer(data, missing=…).")
    columns = open_source(data, missing) if domain is None else domain.open(data)
    if isinstance(sample_weight, str):
        columns, sample_weight = take_weights(columns, sample_weight)
    n_rows = len(columns[0].index)
    if n_rows == 0:
        raise DataError("The data have no rows. juror needs at least one.")
    weights = None if sample_weight is None else check_weights(sample_weight, n_rows)
    if weights is not None and not np.all(weights > 0):
        columns = [replace(column, index=column.index[weights > 0]) for column in columns]
        weights = weights[weights > 0]
    if domain is None:
        domain = Domain(Discovery().variables(columns, weights), read_markers(missing))
    absent = [name for name in domain.names if name not in {column.name for column in columns}]
    if absent:
        raise DataError(
            f"The data have no columns {shortlist(absent)}, which the domain names. Add them, or leave them out."
        )
    return domain, domain.encode_columns(columns, unknown), weights


def take_weights(columns: Sequence[Column], name: str) -> tuple[list[Column], np.ndarray]:
    """Take the column of weights out of the others."""
    others = [column for column in columns if column.name != name]
    found = [column for column in columns if column.name == name]
    if not found or not others:
        raise ParameterError(f"sample_weight names no column beside others: {name!r}.")
    (column,) = found
    if column.form not in ("number", "code") or np.any(column.index < 0):
        raise DataError(f"Column {name!r} must hold a number in every row to be the weights.")
    return others, np.asarray(column.values, dtype=np.float64)[column.index]
