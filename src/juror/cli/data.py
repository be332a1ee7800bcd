"""The rows that DATA and the options of a command describe."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import juror
from juror.cli.addresses import reveal
from juror.cli.options import CSV, MAX_LEVELS, bins_of, edges_of
from juror.cli.piped import copied, is_stream
from juror.errors import ParameterError, did_you_mean, shortlist

if TYPE_CHECKING:
    from juror.domain import Domain
    from juror.readers.described import Files, Query
    from juror.readers.scans import Scan

_QUERY = re.compile(r"\s*(?:select|with|from|table|values)\s", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:postgres|postgresql|sqlite|duckdb)://")


@dataclass(frozen=True)
class DataArguments:
    """The arguments that say what table to read, and how.

    Attributes
    ----------
    source : Files or Query
        Where its rows are.
    missing : sequence of str
        Markers that stand for a missing value.
    columns, drop : sequence of str
        Columns to read, all if there are none, and to leave out.
    sample_weight : str, optional
        The column of row weights.
    bins, edges : list of str, optional
        The number of intervals that numbers are cut into, and where to cut columns, as the options have them.
    max_levels : int
        The most labels a column may have.
    n_jobs : int, optional
        The number of threads that read.
    """

    source: Files | Query
    missing: Sequence[str]
    columns: Sequence[str]
    drop: Sequence[str]
    sample_weight: str | None
    bins: list[str] | None
    edges: list[str] | None
    max_levels: int
    n_jobs: int | None

    def scan(self, domain: Domain | None = None) -> Scan:
        """Open the columns of the table to be read, with the types that a domain expects, if one is given."""
        if self.columns and self.drop:
            raise ParameterError("--columns and --drop both say which columns to read. Leave one of them out.")
        if domain is None:
            scan = self.source.scan(self.missing)
        else:
            scan = self.source.scan(domain.missing, domain.expected.text)
        return self._chosen(scan) if self.columns else without(scan, self.drop)

    def _chosen(self, scan: Scan) -> Scan:
        """Return the table with the columns of --columns, and the column of weights."""
        from juror.readers.scans import only_columns

        # a name may have a comma
        names = [name for text in self.columns for name in ([text] if text in scan.names else text.split(","))]
        for name in names:
            if name not in scan.names:
                raise ParameterError(f"--columns names no column {name!r}. {did_you_mean(name, scan.names)}")
        return only_columns(scan, [*names, *([self.sample_weight] if self.sample_weight else [])])

    def how_to_find(self, scan: Scan, client: Any, target: str | None) -> dict[str, Any]:
        """Return the arguments of ``juror.fit`` that say how it finds the variables of the open table.

        With some options they are a domain: ``fit`` has no ``max_levels``, and for some methods ``bins`` are about
        projections. A fit along hidden trees does not choose more intervals than a domain has.
        """
        if self.bins is not None or self.max_levels != MAX_LEVELS:
            return {"domain": self.infer(scan, client, target=target)}
        return {"missing": self.missing, "edges": edges_of(self.edges)}

    def infer(self, scan: Scan, client: Any, known: Domain | None = None, target: str | None = None) -> Domain:
        """Infer the variables of the open table, perhaps with a target, or add its labels to a known domain."""
        choices: dict[str, Any] = {
            "bins": bins_of(self.bins),
            "edges": edges_of(self.edges),
            "max_levels": self.max_levels,
            "target": target,
            "sample_weight": self.sample_weight,
            "n_jobs": self.n_jobs,
            "client": client,
        }
        if known is not None:
            return known.extended(scan, **choices)
        return juror.Domain.infer(scan, missing=self.missing, **choices)


def source_of(
    data: Sequence[str], database: str | None, csv: Mapping[str, Any], clusters: Mapping[str, str | None]
) -> Any:
    """Return what DATA names: files, or with a database a query.

    Parameters
    ----------
    data : sequence of str
        The arguments.
    database : str, optional
        The address of a database.
    csv : mapping of str to str
        How CSV files are written: separator, quote, encoding and decimal.
    clusters : mapping of str to str
        The address of each cluster, by option.
    """
    if database is None:
        # Workers run in other folders, so they need absolute paths.
        elsewhere = next((option for option, address in clusters.items() if address is not None), None)
        if elsewhere is not None:
            _refuse_streams(data, elsewhere)
        paths = [path if elsewhere is None else os.path.abspath(path) for path in data]
        return files_at(paths[0] if len(paths) == 1 else paths, **csv)
    if len(data) > 1:
        raise ParameterError(f"--database takes one query as DATA. Put it in quotes. Got {shortlist(data)}.")
    given = [f"--{name}" for name, value in csv.items() if value != CSV[name]]
    if given:
        raise ParameterError(f"{given[0]} says how CSV files are written, and --database gives none. Leave it out.")
    for option, address in clusters.items():
        if address is not None:
            raise ParameterError(
                f"{option} is for files that workers read by themselves, and a query on --database comes to this "
                "process alone. Leave one of them out, or write the rows to Parquet files first."
            )
    from juror.readers.described import Query

    return Query(data[0], reveal(database))


def files_at(data: str | Sequence[str], separator: str | None, quote: str, encoding: str, decimal: str) -> Files:
    """Return the files that DATA names, and how they are written. Streams are copied to files."""
    from juror.readers.described import Files

    paths = [data] if isinstance(data, str) else data
    for path in paths:
        _check_path(path)
    paths = [copied(path) if is_stream(path) else path for path in paths]
    # Shells pass \t as two characters.
    separator = "\t" if separator == "\\t" else separator
    return Files(paths[0] if isinstance(data, str) else paths, separator, quote, encoding, decimal)


def _refuse_streams(data: Sequence[str], option: str) -> None:
    for path in filter(is_stream, data):
        raise ParameterError(
            f"DATA {path!r} is a stream, which the workers of {option} cannot read. Write its rows to a file that they "
            "can read, and name that."
        )


def _check_path(data: str) -> None:
    """Refuse text that is no path: the address of a database, or a query without --database."""
    if _ADDRESS.match(data):
        raise ParameterError(
            f"{data!r} is the address of a database. Pass it to 'juror fit' or 'juror count' with --database, and a "
            "query as DATA."
        )
    if _QUERY.match(data) and not os.path.exists(data):
        raise ParameterError(
            f"DATA is a query, {data!r}. Say where to run it with --database, which 'juror fit' and 'juror count' have."
        )


def check_drop(drop: Collection[str], names: Sequence[str]) -> None:
    """Refuse to drop columns that do not exist, or all columns."""
    for name in drop:
        if name not in names:
            raise ParameterError(f"--drop names no column {name!r}. {did_you_mean(name, names)}")
    if set(names) <= set(drop):
        raise ParameterError("--drop leaves no column.")


def rows_beside(
    domain: Domain, data: str | None, csv: Mapping[str, Any], drop: Collection[str] | None = None
) -> Scan | None:
    """Open the rows that stand beside a model, as its domain expects them; None if there is no DATA."""
    return None if data is None else opened_for(domain, files_at(data, **csv), drop or ())


def opened_for(domain: Domain, files: Files, drop: Collection[str]) -> Scan:
    """Open all columns of data files but the dropped ones, with the markers and types that a domain expects."""
    return without(files.scan(domain.missing, domain.expected.text), drop)


def without(scan: Scan, drop: Collection[str]) -> Scan:
    """Return a scan without the dropped columns, whatever they hold."""
    from juror.readers.scans import without_columns

    check_drop(drop, scan.names)
    return without_columns(scan, drop) if drop else scan
