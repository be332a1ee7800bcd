"""Table 5's setting: whether the search of EM finds the optimum that the run started at the truth finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

import juror
from juror.paper.cells import one_class
from juror.paper.recipes import LAW_VERSION
from juror.paper.settings import SETTINGS

from .cells import Cell, Goal, Measured, Section, about, timed
from .findings import NOTHING, Findings, column_text, markdown, mean_text, measure_table
from .published import GOAL_GAP, least_printed

RECIPE = SETTINGS[5].recipe
assert RECIPE is not None
# One random start: what the search is compared with
RANDOM_START: dict[str, Any] = {"n_init": 1}
_OPTIONS = ", ".join(f"{name}={json.dumps(value)}" for name, value in RANDOM_START.items())
FROM_TRUTH = "from-truth"
ROWS = {
    "em": f'`juror.fit(codes, {RECIPE.F}, "em")`',
    "random": f'`juror.fit(codes, {RECIPE.F}, "em", {_OPTIONS})`',
    FROM_TRUTH: "EM started at the truth",
    "truth": "the truth itself",
    "uniform": "uniform table",
}
FITTED = ("em", "random", FROM_TRUTH)
REFERENCES = (FROM_TRUTH, "truth", "uniform")
Data = tuple[juror.JointPMF, np.ndarray]


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    return {5_000 if quick else 50_000: {"law": LAW_VERSION, "random": RANDOM_START}}


def load(cell: Cell) -> Data:
    return RECIPE.truth(cell.seed), RECIPE.rows(int(cell.column), cell.seed)


def estimate(cell: Cell, data: Data) -> juror.JointPMF:
    """Return the estimate of a row; only those in :data:`FITTED` are fits."""
    truth, codes = data
    if cell.row == "truth":
        return truth
    if cell.row == "uniform":
        return one_class(truth, [np.full(size, 1 / size) for size in truth.domain.cardinalities])
    options: dict[str, dict[str, Any]] = {"em": {}, "random": cell.options["random"], FROM_TRUTH: {"init": truth}}
    return juror.fit(codes, RECIPE.F, "em", domain=truth.domain, seed=cell.seed, **options[cell.row])


def measure(cell: Cell, data: Data) -> Measured:
    truth, codes = data
    model, seconds = timed(lambda: estimate(cell, data))
    return {
        "log_likelihood": float(np.mean(model.log_prob(codes))),
        "factor_error": juror.compare.factor_mse(truth, model) if model.rank <= truth.rank else None,
        "passes": None if model.info is None else model.info.n_iter,
        "seconds": seconds,
        **about(model),
    }


def gaps(found: Findings, row: str, column: int | str) -> dict[int, float]:
    """Return by seed how far the log-likelihood a row is above that of the run started at the truth."""
    reached, asked = (found.by_seed(name, column, "log_likelihood") for name in (row, FROM_TRUTH))
    return {seed: reached[seed] - asked[seed] for seed in reached if seed in asked}


def n_reached(found: Findings, row: str, column: int | str) -> int:
    """Count the seeds at which the log-likelihood is that of the run started at the truth, or more."""
    return sum(gap >= -GOAL_GAP for gap in gaps(found, row, column).values())


def words(found: Findings) -> Iterator[str]:
    yield (
        f"Truths as above with F = {RECIPE.F}, N = {RECIPE.N} and I = {RECIPE.I}. EM started at the truth, which no "
        "user can do, is the yardstick: a run that comes as high was not held back by its start. By seed, the "
        "log-likelihood of the training rows above (+) or below (−) that of the truth-started run, in nats a row:"
    )
    for column in found.columns:
        yield f"**{column_text(column)} rows**"
        yield _gap_table(found, column)
    yield (
        "The factor error by the printed formula, Σ_n ‖Â_n − A_n‖²/N + ‖λ̂ − λ‖², classes matched; mean ± standard "
        "deviation over seeds:"
    )
    yield measure_table(
        found,
        lambda row, column: mean_text(found.values(row, column, "factor_error"), ".4f"),
        printed={"best printed in the paper's Table 5": _printed_text},
    )
    yield "Seconds, and passes over the rows of the start that was kept:"
    yield measure_table(
        found,
        lambda row, column: (
            f"{mean_text(found.values(row, column, 'seconds'), '.1f')} s, "
            f"{mean_text(found.values(row, column, 'passes'), '.0f')} passes"
        ),
        FITTED,
    )


def _gap_table(found: Findings, column: int | str) -> str:
    head = ["", *(f"seed {seed}" for seed in found.seeds), f"within {GOAL_GAP:g} or above"]
    lines = []
    for row, label in ROWS.items():
        if row != FROM_TRUTH:
            here = gaps(found, row, column)
            name = f"*{label}*" if row in REFERENCES else label
            shown = [f"{here[seed]:+.5f}".replace("-", "−") if seed in here else NOTHING for seed in found.seeds]
            lines.append([name, *shown, f"{n_reached(found, row, column)} of {len(here)}"])
    return markdown(head, lines)


def _printed_text(column: int | str) -> str:
    value = least_printed(5, column)
    return NOTHING if value is None else f"{value:.3f}"


def goals(found: Findings) -> list[Goal]:
    reached = []
    for column in found.columns:
        if all(found.is_whole(row, column, "log_likelihood") for row in ("em", FROM_TRUTH)):
            n, of = n_reached(found, "em", column), len(gaps(found, "em", column))
            what = f"{ROWS['em']}, {column_text(column)} rows: log-likelihood of the truth-started run reached"
            reached.append(Goal(what, f"{of} of {of} seeds", f"{n} of {of}", n == of))
    return reached


SECTION = Section(
    "optimum", "Local optima: does the search find the best", ROWS, REFERENCES, range(20, 25), columns, load,
    measure, words, goals,
)  # fmt: skip
