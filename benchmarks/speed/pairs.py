"""Counts of pairs and triples of codes in memory."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .facts import (
    NOTHING,
    Comparison,
    DisagreementError,
    Goal,
    Row,
    Rows,
    Section,
    Tell,
    at_least,
    at_most,
    find,
    markdown,
    seconds_text,
)
from .pictures import pairs as draw
from .race import Job, race
from .tasks import bincount_tables, count_task, digest, load
from .threads import LEVELS

JUROR, BY_ROW, TWO = "juror, codes by column", "juror, codes by row", "juror, two threads"
OPENED, OPENED_BY_ROW = "juror, `PairCounts.of`, by column", "juror, `PairCounts.of`, by row"
DUCKDB = {"one each": "DuckDB, a GROUP BY each", "sets": "DuckDB, one query of GROUPING SETS"}
POLARS, PANDAS, NUMPY = "polars, a group_by each", "pandas, `crosstab`", "NumPy, `bincount`"
ALPHABETS = (2, 4, 10, 50)
WIDE = "wide"


def measure(quick: bool, tell: Tell) -> list[Row]:
    """Count all pairs of the large table, then of one alphabet at a time, then triples."""
    n_rows = 100_000 if quick else 10_000_000
    rounds, seconds = (2, 1.0) if quick else (7, 12.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tell(f"pairs: all 66 of {n_rows:,} × 12")
        task = count_task(folder / "wide.npz", n_rows, LEVELS, holes=0.05)
        small = count_task(folder / "small.npz", n_rows // 10, LEVELS, holes=0.05, seed=1)
        rows = _race(WIDE, task, _wide_jobs(task), rounds, seconds, tell)
        rows += _race(WIDE, small, {PANDAS: Job("peers:pandas_pairs", small)}, 3, seconds, tell)
        for levels in ALPHABETS[:1] if quick else ALPHABETS:
            tell(f"pairs: {levels} levels")
            task = count_task(folder / f"{levels}.npz", n_rows // 5, [levels] * 12, holes=0.05)
            jobs = {JUROR: Job("contestants:pairs", task), NUMPY: Job("peers:bincount_pairs", task)}
            rows += _race(f"{levels} levels", task, jobs, rounds, seconds / 4, tell)
        tell("pairs: triples")
        task = count_task(folder / "triples.npz", n_rows // 10, LEVELS, holes=0.05)
        jobs = {
            JUROR: Job("contestants:pairs", task, {"size": 3}),
            NUMPY: Job("peers:bincount_pairs", task, {"size": 3}),
        }
        rows += _race("triples", task, jobs, rounds, seconds / 2, tell, size=3)
    return rows


def _wide_jobs(task: Path) -> dict[str, Job]:
    return {
        JUROR: Job("contestants:pairs", task),
        BY_ROW: Job("contestants:pairs", task, {"order": "C"}),
        OPENED: Job("contestants:opened_pairs", task),
        OPENED_BY_ROW: Job("contestants:opened_pairs", task, {"order": "C"}),
        TWO: Job("contestants:pairs", task, {"n_jobs": 2}, threads=2),
        NUMPY: Job("peers:bincount_pairs", task),
        **{name: Job("peers:duckdb_pairs", task, {"way": way}) for way, name in DUCKDB.items()},
        POLARS: Job("peers:polars_pairs", task),
    }


def _race(
    what: str, task: Path, jobs: dict[str, Job], rounds: int, seconds: float, tell: Tell, size: int = 2
) -> list[Row]:
    """Run contestants over one table, and refuse counts that are not NumPy's."""
    given = load(task)
    codes, sizes = given["codes"], given["cardinalities"]
    n_rows, N = codes.shape
    right = digest(bincount_tables(codes, sizes, size))
    del given, codes
    found = race(jobs, rounds, seconds, tell)
    for who, result in found.items():
        if "failed" not in result and result["digest"] != right:
            raise DisagreementError(
                f"The counts of {who} over {what} are not those of NumPy, so its time says nothing."
            )
    groups = math.comb(N, size)
    about = {"what": what, "rows": n_rows, "groups": groups}
    rows = []
    for who, result in found.items():
        # CPU seconds, which another program on the machine does not lengthen, but where two threads share them
        seconds = result.get("cpu" if jobs[who].threads == 1 else "wall")
        each = None if seconds is None else 1e9 * seconds / n_rows / groups
        rows.append(result | about | {"who": who, "seconds": seconds, "each": each})
    return rows


def ratio(rows: Rows, who: str, what: str = WIDE, to: str = JUROR) -> float | None:
    """Return the time of one for a row and pair over that of another, which is juror unless named."""
    base, other = find(rows, who=to, what=what), find(rows, who=who, what=what)
    return None if base is None or other is None else other["each"] / base["each"]


def goals(rows: Rows) -> Iterator[Goal]:
    """Judge the large table."""
    duckdb = [value for name in DUCKDB.values() if (value := ratio(rows, name)) is not None]
    juror = find(rows, who=JUROR, what=WIDE)
    yield at_least("all pair tables: DuckDB's better way over juror", 30, min(duckdb, default=None))
    yield at_least("all pair tables: pandas `crosstab` over juror, a row and pair", 100, ratio(rows, PANDAS))
    yield at_most("all pair tables, by column: `PairCounts.of` over `of_codes`", 2, ratio(rows, OPENED))
    yield at_most("all pair tables, by row: `PairCounts.of` over `of_codes`", 2, ratio(rows, OPENED_BY_ROW, to=BY_ROW))
    yield at_most("all pair tables: time a row and pair", 0.2, None if juror is None else juror["each"], " ns")


def comparisons(rows: Rows) -> Iterator[Comparison]:
    """Compare counts of codes by column with every other."""
    for row in rows:
        juror = find(rows, who=JUROR, what=row["what"])
        if juror and not row["who"].startswith("juror") and row.get("failed") is None:
            what = "pair tables, 4–12 levels" if row["what"] == WIDE else f"pair tables, {row['what']}"
            yield Comparison(what.replace("pair tables, triples", "triples"), row["who"], juror["each"], row["each"])


def words(rows: Rows) -> Iterator[str]:
    """Tell seconds and nanoseconds a row and pair."""
    wide = [row for row in rows if row["what"] == WIDE]
    yield f"""All {wide[0]["groups"]} pair tables of {wide[0]["rows"]:,} rows × 12 columns of 4–12 levels, 5 % missing,
left out pair by pair, from int8 codes in memory; DuckDB and polars hold the same codes in a table of their own, made
before the clock runs. CPU time on one thread, but wall time where two threads are told. pandas is given a tenth of the
rows, and its time for a row and pair counts. All counts are equal, or the benchmark stops."""
    yield markdown(["", "rows", "time", "runs", "ns a row and pair", "ratio"], [_line(rows, row) for row in wide])
    yield "One alphabet at a time, 12 columns, 5 % missing, and all triples of the columns above; ns a row and group:"
    lines = []
    for what in dict.fromkeys(row["what"] for row in rows if row["what"] != WIDE):
        both = [find(rows, who=who, what=what) for who in (JUROR, NUMPY)]
        cells = [NOTHING if row is None else f"{row['each']:.3f}" for row in both]
        times = ratio(rows, NUMPY, what)
        lines.append([what, *cells, NOTHING if times is None else f"{times:.1f}"])
    yield markdown(["", "juror", "NumPy, `bincount`", "ratio"], lines)


def _line(rows: Rows, row: Row) -> list[str]:
    if row.get("failed") is not None:
        return [row["who"], f"{row['rows']:,}", row["failed"], "0", NOTHING, NOTHING]
    times = ratio(rows, row["who"])
    said = NOTHING if times is None else f"{times:.2f}"
    return [row["who"], f"{row['rows']:,}", seconds_text(row["seconds"]), str(row["runs"]), f"{row['each']:.3f}", said]


SECTION = Section(
    "pairs", "Pair and triple counts", measure, words, goals, comparisons, "Nanoseconds a row and pair", draw
)
