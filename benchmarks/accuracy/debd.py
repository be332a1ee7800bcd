"""Six binary density sets: mean test log-likelihood beside the published ones, within a time budget a set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import juror

from .cells import Cell, Goal, Measured, Section, about, timed
from .findings import NOTHING, Findings, column_text, markdown, measure_table
from .folder import data_file
from .published import DEBD, GOAL_DEBD

SETS = ("nltcs", "msnbc", "kdd", "plants", "baudio", "dna")
ROWS = {
    "juror": "`juror.fit(train, max_seconds=…)`",
    "juror-more": "the same with the validation rows",
    "marginals": "product of one-way marginals",
}
# in the product of marginals, so that no label is impossible
_PSEUDO_COUNT = 0.5
Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    return {"nltcs": {"max_seconds": 10}} if quick else {name: {"max_seconds": 300} for name in SETS}


def load(cell: Cell) -> Parts:
    with np.load(data_file(f"debd/{cell.column}.npz")) as parts:
        train, validation, test = (parts[part].astype(np.int32) for part in ("train", "valid", "test"))
        return train, validation, test


def fit_within(codes: np.ndarray, seconds: float, seed: int) -> juror.JointPMF:
    """Fit rows of zeros and ones with defaults, within a budget."""
    domain = juror.Domain.from_cardinalities([2] * codes.shape[1])
    return juror.fit(codes, domain=domain, max_seconds=seconds, seed=seed)


def product_of_marginals(codes: np.ndarray) -> juror.JointPMF:
    """Return the variables as if independent, half a count added to every label."""
    ones = (codes.sum(axis=0) + _PSEUDO_COUNT) / (len(codes) + 2 * _PSEUDO_COUNT)
    return juror.JointPMF([1.0], [[[1 - share], [share]] for share in ones])


def measure(cell: Cell, data: Parts) -> Measured:
    train, validation, test = data
    if cell.row == "marginals":
        model, seconds = timed(lambda: product_of_marginals(train))
    else:
        rows = train if cell.row == "juror" else np.concatenate([train, validation])
        model, seconds = timed(lambda: fit_within(rows, cell.options["max_seconds"], cell.seed))
    logs = model.log_prob(test)
    n_impossible = int(np.sum(np.isneginf(logs)))
    return {
        "log_prob": None if n_impossible else float(logs.mean()),
        "standard_error": None if n_impossible else float(logs.std(ddof=1) / np.sqrt(len(logs))),
        "n_impossible": n_impossible,
        "n_test": len(logs),
        "seconds": seconds,
        **about(model),
    }


def value_text(found: Findings, row: str, column: int | str) -> str:
    """Write the mean log-probability of a test row ± its standard error, over seeds the mean of both."""
    if any(found.values(row, column, "n_impossible")):
        return "−∞"
    means, errors = (found.values(row, column, measure) for measure in ("log_prob", "standard_error"))
    return f"{np.mean(means):.3f} ± {np.mean(errors):.3f}".replace("-", "−") if means else NOTHING


def published_text(name: str, column: int | str) -> str:
    value = DEBD[name].get(str(column))
    return NOTHING if value is None else f"{value:.2f}".replace("-", "−")


def words(found: Findings) -> Iterator[str]:
    budgets = sorted({result["options"]["max_seconds"] for result in found.found})
    cores = sorted({result["cores"] for result in found.found})
    yield (
        "Mean log-likelihood of the test rows, in nats a row (higher is better), ± its standard error over test rows; "
        f"{found.n_seeds()}. juror is fitted with a budget of {' or '.join(f'{budget:g}' for budget in budgets)} "
        f"seconds a set on {' or '.join(map(str, cores))} core(s), to the training rows alone, of which it holds out "
        "some by itself, and to training and validation rows. The published numbers stand as data to compare with: "
        "LearnSPN and Prometheus are from the literature, the plain EM mixture is untuned, of at most 400 classes. "
        "The product of marginals adds half a count to every label."
    )
    yield measure_table(
        found,
        lambda row, column: value_text(found, row, column),
        printed={name: lambda column, name=name: published_text(name, column) for name in DEBD},
    )
    yield "What was fitted, and what `model.info` says of it:"
    lines = [
        [
            column_text(column),
            {"juror": "train", "juror-more": "train, valid"}[row],
            str(result["seed"]),
            f"{result['seconds']:.0f}",
            f"{result['measured']['rank']:,}",
            result["measured"]["info"].replace("|", "\\|"),
        ]
        for column in found.columns
        for row in ("juror", "juror-more")
        for result in found.at(row, column)
    ]
    yield markdown(["set", "rows", "seed", "seconds", "rank", "`model.info`"], lines)


def goals(found: Findings) -> list[Goal]:
    reached = []
    for column, least in GOAL_DEBD.items():
        value = found.mean("juror", column, "log_prob")
        if value is not None and found.is_whole("juror", column, "log_prob"):
            shown = [f"{number:.{digits}f}".replace("-", "−") for number, digits in ((least, 2), (value, 3))]
            what = f"{ROWS['juror']}, {column}: mean test log-likelihood"
            reached.append(Goal(what, f"at least {shown[0]}", shown[1], value >= least))
    return reached


SECTION = Section(
    "debd", "Binary density sets", ROWS, ("marginals",), range(1), columns, load, measure, words, goals,
)  # fmt: skip
