"""The command: measure, then make docs/scale.md; or with --render only make the page.

Tables are made in a temporary folder. Every case runs in a process of its own (:mod:`benchmarks.scale.cases`), one
after the other.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.speed.machine import machine

from juror.files.writing import write_whole

from . import subsets
from .page import page
from .tables import write_csv, write_parquet

FOLDER, MEASURES, SUBSETS = "scale", "measures.json", "subsets.json"


@dataclass(frozen=True)
class Size:
    """How large the tables are: of most cases, of wide ones, and of the one that is read once."""

    rows: int
    wide_rows: int
    most_rows: int
    budget: int


FULL = Size(rows=10_000_000, wide_rows=1_000_000, most_rows=50_000_000, budget=200)
QUICK = Size(rows=1_000_000, wide_rows=200_000, most_rows=2_000_000, budget=20)
COLUMNS, WIDE = 12, 50
WIDE_CASES = ("codes, one thread", "parquet, one thread", "em, one thread")
CASES = (
    "codes, one thread",
    "codes, two threads",
    "parquet, one thread",
    "parquet, two threads",
    "csv",
    "duckdb",
    "polars",
    "dask",
    "spark",
    "em, memory",
    "em, file",
    "em, one thread",
    "em, dask",
    "em, spark",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    asked = _read(arguments)
    folder = asked.output or Path("results" if asked.quick else "docs")
    beside = folder / FOLDER
    beside.mkdir(parents=True, exist_ok=True)
    if not asked.render and "subsets" not in asked.leave and asked.only is None:
        subsets.main(["-o", str(beside), *(["--quick"] if asked.quick else [])])
    if not asked.render:
        kept = [] if asked.only is None else json.loads((beside / MEASURES).read_text())["rows"]
        with tempfile.TemporaryDirectory(dir=asked.tables) as tables:
            rows = list(_measure(Path(tables), QUICK if asked.quick else FULL, asked.only))
        again = {(row["case"], row["columns"]): row for row in rows}
        rows = [again.get((row["case"], row["columns"]), row) for row in kept] or rows
        facts = {"quick": asked.quick, "machine": machine(), "rows": rows}
        text = json.dumps(facts, indent=1) + "\n"
        write_whole(beside / MEASURES, lambda stream: stream.write(text.encode()))
    measures, subset = (json.loads((beside / name).read_text()) for name in (MEASURES, SUBSETS))
    rendered = page(measures, subset)
    write_whole(folder / "scale.md", lambda stream: stream.write(rendered.encode()))
    print(f"wrote {folder / 'scale.md'}", file=sys.stderr)
    return 0


def _measure(tables: Path, size: Size, only: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    """Make each table and run its cases, or some of those of the first table again."""
    folder = write_parquet(tables / "rows", size.rows, COLUMNS)
    if only is not None:
        for case in only:
            yield _run(case, folder, COLUMNS)
        return
    write_csv(tables / "rows-csv", size.rows, COLUMNS)
    for case in CASES:
        yield _run(case, folder, COLUMNS)
    folder = write_parquet(tables / "wide", size.wide_rows, WIDE)
    for case in WIDE_CASES:
        yield _run(case, folder, WIDE)
    folder = write_parquet(tables / "most", size.most_rows, COLUMNS)
    yield _run("once", folder, COLUMNS)
    yield _run("em fit", folder, COLUMNS, str(size.budget))


def _run(case: str, folder: Path, n_columns: int, *more: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scale.cases", case, str(folder), *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{case} failed:\n{done.stderr}")
    found = json.loads(done.stdout.splitlines()[-1]) | {"columns": n_columns}
    print(f"{case}, {n_columns} columns: {found['seconds']:.2f} s, {found['peak_megabytes']:.0f} MB", file=sys.stderr)
    return found


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller tables: minutes, not to be quoted")
    parser.add_argument("--render", action="store_true", help="measure nothing, make the page from what there is")
    parser.add_argument("--leave", nargs="*", default=(), choices=["subsets"], help="what not to measure again")
    parser.add_argument("--only", nargs="+", choices=CASES, help="measure these again, and keep the others")
    parser.add_argument("--tables", type=Path, help="where to make the tables; the temporary folder by default")
    parser.add_argument("-o", "--output", type=Path, help="folder of the page; docs by default, results with --quick")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
