"""Arguments of a fit that exclude each other: a statistic and how to read rows, a domain and how to find one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from juror.domain import Domain
from juror.domain.discovery import Discovery
from juror.errors import Option, ParameterError, did_you_mean, wrong
from juror.readers.scans import Choose


def check_alone(given: Mapping[str, object]) -> None:
    """Refuse arguments that were fixed when a statistic was made, by name; None if they are not given."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(
                "{option} belongs to the rows, which were counted already. Give it when counting them.",
                option=Option(name),
            )


def how_to_find(
    domain: Domain | None, columns: Any, edges: Any, bins: Any, sample_weight: Any, target: str | None
) -> tuple[Choose | None, Discovery]:
    """Return which columns to read, besides weights, and how to find variables; refuse both beside a domain.

    The few numbers of a target are its labels.
    """
    for name, value in {"columns": columns, "edges": edges, "bins": bins}.items():
        if value is not None and domain is not None:
            raise ParameterError(
                "{option} and {domain} both say what the variables are. Leave one of them out.", option=Option(name)
            )
    are_names = isinstance(columns, Collection) and not isinstance(columns, (str, bytes)) and len(columns) > 0
    if columns is not None and not are_names:
        raise wrong("columns", "a list of one or more names", columns)
    found = Discovery(bins=bins, edges={} if edges is None else edges, target=target)
    if columns is None:
        return None, found
    names = [name for name in columns if not (isinstance(sample_weight, str) and name == sample_weight)]
    return partial(_chosen, names), found


def _chosen(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns that a user chose, in the order of the table; refuse those that it does not have."""
    for name in columns:
        if name not in names:
            raise ParameterError(
                "{columns} names no column {name!r}. {hint}", name=name, hint=did_you_mean(name, names)
            )
    return [name for name in names if name in columns]
