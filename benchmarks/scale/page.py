"""docs/scale.md, from what was measured alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from juror.rows.store import MOST_SEARCHED

Row = Mapping[str, Any]

WHERE = {
    "codes, two threads": "codes in memory (the kernel alone)",
    "codes, one thread": "codes in memory, one thread",
    "parquet, two threads": "Parquet folder",
    "parquet, one thread": "Parquet folder, one thread",
    "csv": "CSV files",
    "duckdb": "DuckDB relation over the Parquet files",
    "polars": "lazy polars frame over the Parquet files",
    "dask": "Parquet folder, Dask, two workers",
    "spark": "Parquet folder, Spark, two executors",
}
PASSES = {
    "em, memory": "in memory",
    "em, file": "in a file",
    "em, one thread": "in a file, one thread",
    "em, dask": "with two workers of Dask",
    "em, spark": "with two executors of Spark",
}
LABELS, CLASSES, EM_PASSES = 10, 10, 100
ROWS = (10**9, 10**11, 10**13)
WIDTHS = (50, 5000)
PER_VARIABLE = 4


def page(measures: Mapping[str, Any], subsets: Mapping[str, Any]) -> str:
    """Return the page as Markdown."""
    rows = Rows(measures["rows"])
    parts = [
        "# Tables of any size",
        "**Quick run with smaller settings: for a look, not to be quoted.**" if measures["quick"] else "",
        _how(measures),
        "## Counting pairs, from wherever the rows are",
        _counting(rows),
        "## A pass of EM, wherever the rows are kept",
        _passing(rows),
        "## More rows than memory holds",
        _beyond(rows),
        "## What travels, and what the driver holds",
        _travelling(),
        "## What it costs past one machine",
        _plan(Costs.of(rows), subsets),
        "## Where it breaks, and the cure",
        _breaking(subsets),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


class Rows:
    """Measurements by case and number of columns."""

    def __init__(self, rows: Iterable[Row]):
        self._rows = {(row["case"], row["columns"]): row for row in rows}

    def __call__(self, case: str, columns: int = 12) -> Row:
        """Return a measurement."""
        return self._rows[case, columns]

    def of(self, cases: Iterable[str]) -> Iterator[tuple[str, Row]]:
        """Yield those cases that were measured."""
        return ((case, self._rows[case, 12]) for case in cases if (case, 12) in self._rows)


def _how(measures: Mapping[str, Any]) -> str:
    machine = measures["machine"]
    return f"""Made by `make scale` (`python -m benchmarks.scale`), which keeps what it measures in `scale/*.json` and
makes this page of those files alone. Every case runs in a process of its own, so that peak memory is its own; the best
of three times counts, after one that compiles kernels. Tables are of text with {LABELS} labels a column and 5 % of the
cells missing. Measured on {machine["processor"]}, {machine["cores"]} cores, Python {machine["python"]}."""


def _counting(rows: Rows) -> str:
    kernel, csv = rows("codes, two threads"), rows("csv")
    table = [
        (
            WHERE[case],
            f"{row['seconds']:.2f}",
            f"{_ns(row):.0f}",
            f"{row['seconds'] / kernel['seconds']:.1f}",
            f"{row['peak_megabytes']:,.0f}",
        )
        for case, row in rows.of(WHERE)
    ]
    rate = csv["megabytes"] / csv["seconds"]
    return f"""All {math.comb(12, 2)} pair tables of {kernel["rows"]:,} rows × 12 columns, nothing known before but
where the rows are. The ratio is to the kernel on codes in memory with as many threads as there are cores.

{_table(("from", "s", "ns a row", "ratio", "peak MB"), table)}

Reading is the limit: the kernel takes {_ns(kernel):.0f} ns a row, decoding Parquet most of the rest. The CSV files are
{csv["megabytes"]:,.0f} MB, read at {rate:.0f} MB/s. Streams of DuckDB and polars bring text as text, which is hashed
here, and are written aside as they are read, as they cannot be read twice; polars holds many batches ready. For
clusters the peak is that of the driver."""


def _passing(rows: Rows) -> str:
    memory = rows("em, memory")
    table = [
        (
            PASSES[case],
            f"{row['reading']:.1f}",
            f"{row['seconds']:.2f}",
            f"{row['seconds'] / memory['seconds']:.2f}",
            f"{row['peak_megabytes']:,.0f}",
        )
        for case, row in rows.of(PASSES)
    ]
    return f"""Expected counts under a model of {CLASSES} classes, {memory["rows"]:,} rows × 12 columns, kept packed in
{memory["rows"] * 12 / 1e6:.0f} MB after they were read twice: once for the labels, once for the codes.

{_table(("rows are kept", "reading, s", "a pass, s", "ratio", "peak MB"), table)}"""


def _beyond(rows: Rows) -> str:
    once, fit = rows("once"), rows("em fit")
    budget, peak, packed = fit["megabytes"], fit["peak_megabytes"], fit["rows"] * 12 / 1e6
    return f"""- {once["rows"]:,} rows × 12 columns of Parquet, all pairs: {once["seconds"]:.1f} s, with
  {once["peak_megabytes"]:.0f} MB of memory at the peak.
- EM of {CLASSES} classes on the same files with `memory="{budget:.0f}MB"`, where the packed rows take {packed:.0f} MB:
  {peak:.0f} MB at the peak, {peak - budget:.0f} MB above the budget, with all that Python and its libraries take. Its
  start was looked for in {fit["searched"]:,} rows. {fit["seconds"]:.0f} s, with few passes at the end."""


def _travelling() -> str:
    table = [
        (
            f"{n:,}",
            _bytes(_pair_bytes(n)),
            _bytes(_triple_bytes(PER_VARIABLE * n)),
            _bytes(_em_bytes(n, 10)),
            _bytes(_em_bytes(n, 100)),
        )
        for n in (12, 50, 200, 1000, 5000)
    ]
    return f"""What comes back for a part of a table, and what the driver holds once or twice, does not depend on the
rows: for all pairs 8 Σ I_j I_k bytes, for a triple 8 I_j I_k I_l, for a pass of EM 8 F Σ (I_n + 1), which is also what
is sent with the model; and the labels. The start of EM is looked for in one sample of about {MOST_SEARCHED:,} rows.
With I = {LABELS}:

{_table(("columns", "all pairs", f"{PER_VARIABLE}·N triples", "EM, F = 10", "EM, F = 100"), table)}"""


@dataclass(frozen=True)
class Costs:
    """Nanoseconds of one core: to read a cell, to count a pair in a row, to pass over a cell by EM with F classes."""

    cell: float
    pair: float
    em_cell: float

    @classmethod
    def of(cls, rows: Rows) -> Costs:
        """Take them from the table of many columns, one thread."""
        wide = rows("parquet, one thread", 50)
        pair = _ns(rows("codes, one thread", 50)) / math.comb(50, 2)
        return cls((_ns(wide) - pair * math.comb(50, 2)) / 50, pair, _ns(rows("em, one thread", 50)) / 50)


def _plan(costs: Costs, subsets: Mapping[str, Any]) -> str:
    counted = [row for row in subsets["costs"] if row["statistic"] == "triples"]
    triples = [row for row in counted if row["per_variable"] == PER_VARIABLE]
    widest = max(triples, key=lambda row: row["n_variables"])
    triple, where = widest["ns_a_row_and_table"], widest["n_variables"]
    table = []
    for n_columns in WIDTHS:
        read = costs.cell * n_columns
        ways = {
            "all pairs": read + costs.pair * math.comb(n_columns, 2),
            f"{PER_VARIABLE}·N triples": read + triple * PER_VARIABLE * n_columns,
            f"EM, {EM_PASSES} passes": 2 * read + EM_PASSES * costs.em_cell * n_columns,
        }
        for n_rows in ROWS:
            hours = {way: n_rows * ns / 3.6e12 for way, ns in ways.items()}
            table.append((f"10{_superscript(n_rows)}", f"{n_columns:,}", *(_hours(h) for h in hours.values())))
    em = f"passes over a cell by EM with {CLASSES} classes in {costs.em_cell:.1f} ns"
    return f"""One core reads a cell of Parquet in {costs.cell:.2f} ns, counts a pair of columns in {costs.pair:.3f} ns
a row and a triple in {triple:.2f} ns, and {em}, as measured at 50 columns (triples at {where}). Parts do not wait for
each other, so that core-hours divide by the cores while every core has some parts of a million rows: 10⁹ rows are a
thousand parts. Core-hours, and so the cores for an answer in an hour:

{_table(("rows", "columns", "all pairs", f"{PER_VARIABLE}·N triples", f"EM, {EM_PASSES} passes"), table)}

10¹³ rows are for a machine room in any way. There a sample does: the error of a share p counted over n rows is
√(p(1 − p)/n), below 0.00002 for 10⁹ rows, and a model of a few thousand parameters knows no more from 10¹³."""


def _breaking(subsets: Mapping[str, Any]) -> str:
    plan = {(row["statistic"], row["per_variable"]): row for row in subsets["plan"]}
    pairs, triples = plan["pairs", "all"], plan["triples", PER_VARIABLE]
    hours = "core_hours_for_1e9_rows"
    return f"""Pairs grow as N². With {pairs["n_variables"]:,} columns of {pairs["labels"]} labels all pairs take
{_bytes(pairs["bytes"])} on every worker and on the driver, and beside reading {pairs[hours]:,.0f} core-hours for 10⁹
rows;
{PER_VARIABLE}·N random triples take {_bytes(triples["bytes"])} and {triples[hours]:.1f} core-hours. EM needs no
tables at all. What a random subset costs in accuracy, by simulation (`python -m benchmarks.scale.subsets`): the loss is
how many nats a row fresh rows are less probable under the fit than under the truth; medians over {_seeds(subsets)}
seeds, as a fit that is stuck would pull a mean.

{_table(("N", "I", "F", "rows", "fit", "loss", "of EM's"), list(_losses(subsets["triples"])))}

CTF has two random starts here. Triples alone are noisier than EM, and more of them help slowly; now and then a start is
stuck, with all triples too. But as a start they are enough: after a few passes of EM the loss is mostly EM's. So the
cure for wide tables is c·N random triples (`juror.TripleCounts.of(data, triples=…)`) with c of 4 to 8 where only counts
may travel, and where rows can be read again a start and a few passes of EM, which is what `method="em"` does with a
sample. A random subset of pairs would do in JUROR's descent as well, but pairs determine a model less:
{_pairs_sentence(subsets["pairs"])}"""


def _seeds(subsets: Mapping[str, Any]) -> str:
    numbers = sorted({row["n_seeds"] for row in subsets["triples"]})
    return " or ".join(map(str, numbers))


def _losses(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    settings = dict.fromkeys((r["n_variables"], r["labels"], r["rank"], r["n_rows"]) for r in rows)
    for n, labels, rank, n_rows in settings:
        mine = [r for r in rows if (r["n_variables"], r["labels"], r["rank"], r["n_rows"]) == (n, labels, rank, n_rows)]
        em = next(r for r in mine if r["who"] == "em" and r["start"] == "truth")["loss_median"]
        yield str(n), str(labels), str(rank), f"{n_rows:,}", "EM, from the truth", f"{em:.4f}", "1.0"
        for row in mine:
            name = _way(row)
            if name is not None:
                ratio = row["loss_median"] / em
                yield (
                    "",
                    "",
                    "",
                    "",
                    name,
                    f"{row['loss_median']:.4f}",
                    f"{ratio:.1f}" if ratio < 1000 else f"{ratio:,.0f}",
                )


def _way(row: Row) -> str | None:
    """Name the ways worth a line."""
    if row["who"] == "product of marginals":
        return "product of marginals"
    if row["who"] == "em" and row["em_passes"] == 5:
        return f"EM, {row['start']}, then 5 passes"
    if row["who"] != "ctf" or row["start"] != "random" or row["per_variable"] not in (1, 4, 8, "all"):
        return None
    many = "all" if row["per_variable"] == "all" else f"{row['per_variable']}·N"
    if row["em_passes"] == 0:
        return f"CTF, {many} triples"
    return f"CTF, {many} triples, then 5 passes of EM" if row["em_passes"] == 5 else None


def _pairs_sentence(rows: Sequence[Row]) -> str:
    most = max(r["n_variables"] for r in rows)
    mine = {
        r["per_variable"]: r["loss_median"]
        for r in rows
        if r["n_variables"] == most and r["who"] == "juror-b" and r["start"] == "truth" and r["em_passes"] == 0
    }
    said = ", ".join(f"{loss:.3f} for {'all' if c == 'all' else f'{c}·N'}" for c, loss in mine.items())
    return f"with {most} variables, and started from the truth, the loss is {said} pairs."


def _pair_bytes(n: int) -> float:
    return 8.0 * LABELS**2 * math.comb(n, 2)


def _triple_bytes(n_triples: int) -> float:
    return 8.0 * LABELS**3 * n_triples


def _em_bytes(n: int, rank: int) -> float:
    return 8.0 * rank * n * (LABELS + 1)


def _ns(row: Row) -> float:
    return row["seconds"] * 1e9 / row["rows"]


def _bytes(size: float) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:,.1f} {unit}"
    return f"{size / 1e3:,.0f} kB"


def _hours(hours: float) -> str:
    return f"{hours:,.2g}" if hours < 10 else f"{hours:,.0f}"


def _superscript(power_of_ten: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(round(math.log10(power_of_ten))))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
