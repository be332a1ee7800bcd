"""Table 2's setting against the Bayes limit: squared relative tensor error, F = 15, I = 10, N = 4."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import juror
from juror.paper.cells import one_class
from juror.paper.limit import posterior_mean
from juror.paper.recipes import LAW_VERSION
from juror.paper.settings import SETTINGS

from .cells import Cell, Goal, Measured, Section, about, timed
from .findings import NOTHING, Findings, column_text, mean_text, measure_table
from .published import GOAL_RATIO, least_printed

RECIPE = SETTINGS[2].recipe
assert RECIPE is not None
LIMIT = "limit"
ROWS = {
    "juror": f"`juror.fit(codes, rank={RECIPE.F})`",
    "juror-auto": '`juror.fit(codes, rank="auto")`',
    "em": f'`juror.fit(codes, rank={RECIPE.F}, method="em")`',
    LIMIT: "Bayes limit (law of truths known)",
    "marginals": "product of one-way marginals",
    "uniform": "uniform table",
}
Data = tuple[juror.JointPMF, np.ndarray]


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    sizes = (100, 1_000) if quick else (100, 1_000, 5_000, 10_000)
    chain = {"sweeps": 300, "burnt": 100} if quick else {"sweeps": 1500, "burnt": 500}
    return {n_rows: {"law": LAW_VERSION, "limit": chain} for n_rows in sizes}


def load(cell: Cell) -> Data:
    return RECIPE.truth(cell.seed), RECIPE.rows(int(cell.column), cell.seed)


def product_of_marginals(truth: juror.JointPMF, codes: np.ndarray) -> juror.JointPMF:
    """Return the variables as if independent, with their shares of labels and no smoothing."""
    sizes = truth.domain.cardinalities
    counts = [np.bincount(column, minlength=size) for column, size in zip(codes.T, sizes, strict=True)]
    return one_class(truth, [count / count.sum() for count in counts])


def estimate(cell: Cell, data: Data) -> juror.JointPMF:
    """Return the estimate of a row."""
    truth, codes = data
    shared: Mapping[str, Any] = {"domain": truth.domain, "seed": cell.seed}
    estimators: dict[str, Callable[[], juror.JointPMF]] = {
        "juror": lambda: juror.fit(codes, RECIPE.F, **shared),
        "juror-auto": lambda: juror.fit(codes, "auto", **shared),
        "em": lambda: juror.fit(codes, RECIPE.F, "em", **shared),
        LIMIT: lambda: posterior_mean(codes, truth, cell.seed, **cell.options["limit"]),
        "marginals": lambda: product_of_marginals(truth, codes),
        "uniform": lambda: one_class(truth, [np.full(size, 1 / size) for size in truth.domain.cardinalities]),
    }
    return estimators[cell.row]()


def measure(cell: Cell, data: Data) -> Measured:
    model, seconds = timed(lambda: estimate(cell, data))
    return {"tensor_error": juror.compare.tensor_error(data[0], model), "seconds": seconds, **about(model)}


def ratio(found: Findings, row: str, column: int | str) -> tuple[float | None, list[float]]:
    """Return the ratio of the mean error to the mean limit, and the ratios seed by seed."""
    errors, limits = (found.by_seed(name, column, "tensor_error") for name in (row, LIMIT))
    shared = [seed for seed in errors if seed in limits]
    if not shared:
        return None, []
    means = np.mean([errors[seed] for seed in shared]) / np.mean([limits[seed] for seed in shared])
    return float(means), [errors[seed] / limits[seed] for seed in shared]


def ratio_text(found: Findings, row: str, column: int | str) -> str:
    """Write the ratio of means and the standard deviation of the ratios seed by seed."""
    of_means, each = ratio(found, row, column)
    if of_means is None:
        return NOTHING
    return f"{of_means:.3f}" + (f" ± {np.std(each, ddof=1):.3f}" if len(each) > 1 else "")


def printed_text(column: int | str) -> str:
    value = least_printed(2, column)
    return NOTHING if value is None else f"{value:.3f}"


def words(found: Findings) -> Iterator[str]:
    yield (
        f"Truths with F = {RECIPE.F} classes of N = {RECIPE.N} variables of I = {RECIPE.I} labels, entries uniform on "
        "[0, 1] and columns scaled to sum one; columns are numbers of rows. Squared relative error of the tensor, "
        f"‖Ẑ − Z‖²/‖Z‖², mean ± standard deviation over {found.n_seeds()}, none of them a seed of `juror paper`. The "
        "limit is the posterior mean under a Dirichlet law that matches the one truths are drawn from: in the mean "
        "over truths no estimator does better, and none of ours is told that law. All else is at its default."
    )
    yield measure_table(
        found,
        lambda row, column: mean_text(found.values(row, column, "tensor_error"), ".4f"),
        printed={"best printed in the paper's Table 2": printed_text},
    )
    yield "The ratio of the mean error to the mean limit ± the standard deviation of the ratios seed by seed:"
    yield measure_table(found, lambda row, column: ratio_text(found, row, column), [r for r in ROWS if r != LIMIT])
    yield (
        f"What `model.info` names as method, with the number of fits: for `rank={RECIPE.F}` "
        f'{found.methods_chosen("juror")}, for `rank="auto"` {found.methods_chosen("juror-auto")}. Seconds of a fit:'
    )
    fitted = ["juror", "juror-auto", "em", LIMIT]
    yield measure_table(found, lambda row, column: mean_text(found.values(row, column, "seconds"), ".1f"), fitted)


def goals(found: Findings) -> list[Goal]:
    reached = []
    for row, most in GOAL_RATIO.items():
        for column in found.columns:
            value = ratio(found, row, column)[0]
            if value is not None and all(found.is_whole(name, column, "tensor_error") for name in (row, LIMIT)):
                what = f"{ROWS[row]}, {column_text(column)} rows: mean error over the limit's"
                reached.append(Goal(what, f"at most {most:.2f}", f"{value:.3f}", value <= most))
    return reached


SECTION = Section(
    "table2", "Few rows: how near the Bayes limit", ROWS, (LIMIT, "marginals", "uniform"), range(20, 25), columns, load,
    measure, words, goals,
)  # fmt: skip
