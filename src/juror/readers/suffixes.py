"""The suffixes of data files, and the kind of file that each stands for."""

from __future__ import annotations

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}
# A CSV file may have one of these behind its own suffix
COMPRESSED = (".gz", ".zst")
