"""A Markdown page with all tables and pictures, and the comments of :mod:`juror.paper.commentary`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from juror.files.writing import write_whole
from juror.paper import commentary
from juror.paper.inversion_study import DENSITIES, N_DIRECTIONS, SIZE, Inversions
from juror.paper.pictures import inversions_picture, table_picture, write_picture
from juror.paper.recipes import SHARES
from juror.paper.settings import LABEL_SMOOTHING, MEASURES, effort_of
from juror.paper.table_rows import Entry, PaperTable, column_name, entry_text, measured_text

PAGE_FILE = "paper.md"
RESULTS_FOLDER = "paper"
INVERSIONS_FILE = "inversions.png"
_OTHER_MEASURES = {
    "mse": MEASURES["mse"],
    "mse_per_component": "the same with the factor term divided by F",
    "tensor_error": MEASURES["tensor_error"],
}


def write_page(folder: Path, tables: Sequence[PaperTable], inversions: Inversions) -> list[Path]:
    """Write the page into a folder and its pictures into the subfolder ``paper``; return the paths written."""
    written = []
    results = folder / RESULTS_FOLDER
    results.mkdir(parents=True, exist_ok=True)
    for table in tables:
        written.append(results / picture_file(table))
        write_picture(table_picture(table), written[-1])
    written.append(results / INVERSIONS_FILE)
    write_picture(inversions_picture(inversions), written[-1])
    written.append(folder / PAGE_FILE)
    text = page(tables, inversions)
    write_whole(written[-1], lambda stream: stream.write(text.encode()))
    return written


def picture_file(table: PaperTable) -> str:
    """Return the name of a table's picture."""
    return f"table_{table.setting.number}.png"


def page(tables: Sequence[PaperTable], inversions: Inversions) -> str:
    """Return the page as Markdown."""
    quick = any(table.quick for table in tables)
    parts = ["# The tables of the paper, run again"]
    parts.append("**Quick run, cut short: for a look, not to be quoted.**" if quick else commentary.INTRODUCTION)
    parts.append(_how(tables, quick))
    for table in tables:
        parts += _table_section(table)
    parts += _inversions_section(inversions, quick)
    parts.append("" if quick else commentary.CONCLUSION)
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _how(tables: Sequence[PaperTable], quick: bool) -> str:
    effort = effort_of(quick)
    caps = "; ".join(
        f"`{method}` {', '.join(f'{name} = {value:g}' for name, value in options.items())}"
        for method, options in effort.options.items()
        if options
    )
    shares = "; ".join(
        f"{column_name(name)} {'/'.join(f'{100 * share:g}' for share in parts)}" for name, parts in SHARES.items()
    )
    seeds = sorted({table.seeds for table in tables})
    return f"""## How the numbers were made

Made by `juror paper{" --quick" if quick else ""} -o DIR`, which writes this page, and into the
folder `paper` beside it every number as CSV and JSON, the pictures, and every cell to `cells.jsonl`.

- A cell is *printed / measured ± sample standard deviation*, over {" or ".join(map(str, seeds))} seed(s). A dash
  stands where the paper has no number.
- Truths: entries of factors and weights independent and uniform on [0, 1], columns scaled to sum one. Table 3: a
  column is 1 + a sin(2π(ν t + φ)) at t = (i + ½)/I, scaled to sum one, with a uniform on [0, 1], ν on [½, 5], φ on
  [0, 1]; the paper does not give its law. All sample sizes of a seed share a truth, and a small sample is the first
  rows of a larger one. With κ < 1 every cell is seen with chance κ, independently.
- Tables 1–6 are fitted without smoothing (maximum likelihood, or moments as they are), at the true F. Classes are
  matched to the true ones before factors are compared, all factors and the weights by one permutation.
- The row marked as ours is not in the paper: `pair-em`, which fits the counts of pairs that JUROR knows by likelihood,
  and chooses its smoothing from these counts.
- Bounds on the fits: {caps}. What stops there says so in a warning that is kept with its cell.
- References: the uniform table; the product of one-way marginals (shares of the cells seen, no smoothing); EM started
  at the truth, which takes the search for a start out of the question; in Table 2 also the Bayes limit, the posterior
  mean under the law that truths come from, by Gibbs sampling: no estimator has a smaller mean error. For factor
  errors, the first two are F equal classes of weight 1/F.
- Table 7: random splits into training, validation and test part ({shares}). The label is one more variable; the rank
  is chosen by accuracy on the validation part; smoothing is {LABEL_SMOOTHING:g}. Car's labels are put in their natural
  order; Mushroom's have none, so its projections depend on how labels happen to be numbered. The others are
  scikit-learn's, with a few parameters chosen on the validation part; they see a missing cell as one more label. There
  is no truth to start from, so two references: chance, and the most frequent label, which is what the product of the
  marginals predicts."""


def _table_section(table: PaperTable) -> Iterator[str]:
    measure = table.setting.measure
    yield f"## Table {table.setting.number}: {table.setting.caption}"
    yield table.legend
    yield _markdown(table, partial(entry_text, measure=measure))
    yield f"![Table {table.setting.number}: printed and measured]({RESULTS_FOLDER}/{picture_file(table)})"
    if not table.quick:
        yield commentary.TABLES[table.setting.number]
    if table.setting.recipe is not None:
        for other, meaning in _OTHER_MEASURES.items():
            if other != measure:
                yield f"Measured: {meaning}."
                yield _markdown(table, partial(measured_text, measure=other))
    else:
        yield "Ranks chosen, by seed."
        yield _markdown(table, lambda entry: ", ".join(map(str, entry.ranks)) or "–")
    yield _about_shrinking(table)
    yield "Mean seconds of a fit, on one core."
    yield _markdown(table, lambda entry: "–" if entry.seconds is None else f"{entry.seconds:.2f}")
    yield _remarks(table)


def _about_shrinking(table: PaperTable) -> str:
    """Return the number of fits in which stage G2 found no improvement; empty for tables without truth."""
    if table.setting.recipe is None:
        return ""
    rows = [row for row in table.rows() if row[0].row in ("juror-a", "juror-c") or row[0].label.startswith("JUROR-A")]
    said = [
        f"{row[0].label} {sum(e.n_unhelped for e in row)} of {sum(e.n_seeds for e in row)}{_in_block(row[0])}"
        for row in rows
    ]
    return f"Fits in which no round of stage G2 came below the J₁ it was given: {', '.join(said)}."


def _in_block(entry: Entry) -> str:
    return f" ({entry.block})" if entry.block else ""


def _markdown(table: PaperTable, text: Callable[[Entry], str]) -> str:
    """Return a table with ``text(entry)`` for every entry; blocks have a heading, references are in italics."""
    lines = []
    block = ""
    for row in table.rows():
        if row[0].block != block:
            block = row[0].block
            if block:
                lines.append([f"**{block}**", *("" for _ in row)])
        label = f"*{row[0].label}*" if row[0].is_reference else row[0].label
        lines.append([label, *(text(entry) for entry in row)])
    return _pipes(list(map(column_name, table.columns)), lines)


def _pipes(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table: a name and numbers on each line."""
    head = [["", *columns], ["---", *("---:" for _ in columns)]]
    return "\n".join("| " + " | ".join(line) + " |" for line in [*head, *lines])


def _remarks(table: PaperTable) -> str:
    """Return all failures, and the warnings of each row with one example."""
    lines = [f"- {note}" for note in table.notes()]
    for row in table.rows():
        warned = [entry for entry in row if entry.warnings]
        if warned:
            lines.append(
                f"- {row[0].label}{_in_block(row[0])} warned in {len(warned)} of {len(row)} columns, for example at "
                f"{column_name(warned[0].column)}: {warned[0].warnings[0]}"
            )
    return "Remarks of the fits:\n\n" + "\n".join(lines) if lines else ""


def _inversions_section(inversions: Inversions, quick: bool) -> Iterator[str]:
    samples = list(dict.fromkeys(entry.n_samples for entry in inversions.entries))
    names = list(dict.fromkeys(entry.estimator for entry in inversions.entries))
    seeds = inversions.entries[0].n_seeds
    yield "## When do projections help?"
    yield (
        f"A table of {SIZE} × {SIZE} cells is estimated from N_s samples: by counting, or from the histograms of "
        f"{N_DIRECTIONS} random projections alone, by least squares and by filtered back projection (FBP) with each "
        "filter. For *points* a sample falls into the bin of its projected score; for *strips*, which FBP is given, it "
        "is spread evenly over its cell first. Negative cells are set to zero and tables scaled to sum one. "
        f"Means over {seeds} truths: Jensen–Shannon divergence in nats, then squared relative error."
    )
    for density, meaning in DENSITIES.items():
        yield f"### {density.capitalize()}: {meaning}"
        lines = []
        for name in names:
            here = [e for e in inversions.entries if (e.density, e.estimator) == (density, name)]
            lines.append([name, *(f"{e.divergence:.4f} · {e.error:.3f}" for e in here)])
        yield _pipes([f"{n:,}" for n in samples], lines)
    yield f"![Divergence from the true pair table against the number of samples]({RESULTS_FOLDER}/{INVERSIONS_FILE})"
    if not quick:
        yield commentary.INVERSIONS
