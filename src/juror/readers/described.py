"""Descriptions of tables that are opened later: files and how they are written, a query and its database."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from juror.credentials import masked, scrubbed, shown_uri
from juror.readers.scans import Scan

if TYPE_CHECKING:
    from juror.readers.csv_dialects import Written

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Files:
    r"""Files of a table, and how they are written.

    Parameters
    ----------
    path : path or sequence of paths
        A file, a folder of files, a glob such as ``'folder/*.parquet'``, or a list of these; all of one kind.
    separator : str, optional
        The separator of the cells of a CSV file; found in its first line by default.
    quote : str
        The quote around cells of a CSV file that hold a separator or a line break; empty for none.
    encoding : str
        The encoding of a CSV file.
    decimal : str
        The decimal mark of the numbers in a CSV file.

    Examples
    --------
    >>> import juror, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "prices.csv"
    ...     _ = path.write_bytes("grö\xdfe;preis\nS;1,5\nL;2,5\nS;1,5\n".encode("latin-1"))
    ...     domain = juror.Domain.infer(juror.Files(path, separator=";", encoding="latin-1", decimal=","))
    >>> domain.names, domain["größe"].labels
    (('größe', 'preis'), ('L', 'S'))
    """

    path: Path | Sequence[Path]
    separator: str | None = None
    quote: str = '"'
    encoding: str = "utf-8"
    decimal: str = "."

    def __post_init__(self) -> None:
        # refuse wrong choices now, not when the files are opened
        self.written()

    def __repr__(self) -> str:
        values = ((each.name, getattr(self, each.name)) for each in fields(self))
        return masked(f"Files({', '.join(f'{name}={value!r}' for name, value in values)})")

    def written(self) -> Written | None:
        """Return how CSV files are written; None if the user does not say."""
        from juror.readers.csv_dialects import Written

        written = Written(self.separator, self.quote, self.encoding, self.decimal)
        return None if written == Written() else written

    def scan(self, missing: Collection[object] = (), text: Collection[str] = ()) -> Scan:
        """Open the files as a table in parts."""
        from juror.readers.files import scan_path

        return scan_path(self.path, missing, text, self.written())


@dataclass(frozen=True)
class Query:
    """The result of a query on a database. The query runs once, when the table is opened.

    Parameters
    ----------
    sql : str
        One query.
    database : str or path
        ``duckdb:///file.db``, ``duckdb:///:memory:`` or the path of a ``.duckdb`` file, ``sqlite:///file.db``, or
        ``postgresql://user:password@host:port/database``. An absolute path begins with a slash, so there are
        four. A password is never shown.

    Examples
    --------
    >>> Query("SELECT 1 AS a", "postgresql://anna:secret@db.example/sales")
    Query('SELECT 1 AS a', 'postgresql://anna@db.example/sales')
    """

    sql: str
    database: Path

    def __repr__(self) -> str:
        return f"Query({scrubbed(self.sql)!r}, {shown_uri(os.fspath(self.database))!r})"

    def scan(self, missing: Collection[object] = (), text: Collection[str] = ()) -> Scan:
        """Run the query, and offer its rows as a table in parts."""
        from juror.readers.databases import scan_query

        return scan_query(self.sql, self.database, missing, text)
