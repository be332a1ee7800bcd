"""Whether intervals of 90 % hold the truth nine times in ten, beside those from counts alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import juror
from juror.paper.recipes import LAW_VERSION
from juror.paper.settings import SETTINGS

from .cells import Cell, Goal, Measured, Section, about, timed
from .findings import Findings, mean_text, measure_table
from .published import GOAL_COVERAGE

RECIPE = SETTINGS[2].recipe
assert RECIPE is not None
LEVEL = 0.9
# quantile of the normal distribution for that level
_Z = 1.6448536269514722
QUESTIONS = ("x0", "x1 | x0 = 0", "x2 | x0 = 1, x1 in {0, 1, 2}", "x3 | x2 >= 5")
ROWS = {
    "juror": f"`juror.fit(codes, rank={RECIPE.F})`, `model.interval`",
    "juror-auto": '`juror.fit(codes, rank="auto")`, `model.interval`',
    "counts": "Wilson's interval for the share among the rows that meet the condition",
}
Data = tuple[juror.JointPMF, np.ndarray]


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    return {n_rows: {"law": LAW_VERSION, "level": LEVEL} for n_rows in ((200,) if quick else (200, 2_000))}


def load(cell: Cell) -> Data:
    return RECIPE.truth(cell.seed), RECIPE.rows(int(cell.column), cell.seed)


def from_counts(codes: np.ndarray, question: str) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's intervals for every label of a question; from 0 to 1 where no row meets the condition."""
    met = {
        "x0": slice(None),
        "x1 | x0 = 0": codes[:, 0] == 0,
        "x2 | x0 = 1, x1 in {0, 1, 2}": (codes[:, 0] == 1) & (codes[:, 1] <= 2),
        "x3 | x2 >= 5": codes[:, 2] >= 5,
    }[question]
    counts = np.bincount(codes[met, QUESTIONS.index(question)], minlength=RECIPE.I)
    n = counts.sum()
    if n == 0:
        return np.zeros(RECIPE.I), np.ones(RECIPE.I)
    share = counts / n
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * np.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return middle - half, middle + half


def measure(cell: Cell, data: Data) -> Measured:
    truth, codes = data
    rank: int | str = "auto" if cell.row == "juror-auto" else RECIPE.F
    said: Measured = {}
    model, seconds = None, 0.0
    if cell.row != "counts":
        model, seconds = timed(lambda: juror.fit(codes, rank, domain=truth.domain, seed=cell.seed))
        said = about(model)
    covered, widths = [], []
    for question in QUESTIONS:
        if model is None:
            low, high = from_counts(codes, question)
        else:
            found = model.interval(question, level=LEVEL)
            low, high = found.low, found.high
        true = truth.ask(question).to_numpy()
        covered += ((low <= true) & (true <= high)).tolist()
        widths += (high - low).tolist()
    return {"covered": float(np.mean(covered)), "width": float(np.mean(widths)), "seconds": seconds, **said}


def words(found: Findings) -> Iterator[str]:
    yield (
        f"Truths and rows as above; columns are numbers of rows. For each of {len(QUESTIONS)} questions "
        f"({', '.join(f'`{question}`' for question in QUESTIONS)}) and each of the {RECIPE.I} labels of its answer, "
        f"whether the interval of {LEVEL:.0%} holds the true probability: the share that do, mean ± standard deviation "
        f"over {found.n_seeds()}. The law of truths is not the prior of the sampler."
    )
    yield measure_table(found, lambda row, column: mean_text(found.values(row, column, "covered"), ".3f"))
    yield "How wide they are, in the mean:"
    yield measure_table(found, lambda row, column: mean_text(found.values(row, column, "width"), ".4f"))


def goals(found: Findings) -> list[Goal]:
    reached = []
    low, high = GOAL_COVERAGE
    for row in ("juror", "juror-auto"):
        values = [value for column in found.columns for value in found.values(row, column, "covered")]
        if values and all(found.is_whole(row, column, "covered") for column in found.columns):
            mean = float(np.mean(values))
            bound = f"from {low:.0%} to {high:.0%}"
            reached.append(Goal(f"{ROWS[row]}: coverage of 90 %", bound, f"{mean:.1%}", low <= mean <= high))
    return reached


SECTION = Section(
    "intervals", "Intervals", ROWS, ("counts",), range(30, 50), columns, load, measure, words, goals,
)  # fmt: skip
