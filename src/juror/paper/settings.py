"""The seven tables as data: distributions, methods, measures and the limits of each fit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import version
from typing import Any

from juror.paper.printed import TABLES as PRINTED
from juror.paper.recipes import LAW_VERSION, Recipe


@dataclass(frozen=True)
class Effort:
    """The limits of a run: all differences between quick and full runs are here.

    ``options`` are those that limit a fit, by method. ``ranks``, by data set and kind of method, are the ranks to
    choose from in Table 7. Columns of more than ``most_rows`` rows are left out.
    """

    seeds: int
    most_rows: int
    options: Mapping[str, Mapping[str, Any]]
    ranks: Mapping[str, Mapping[str, tuple[int, ...]]]


_JUROR = ("juror-a", "juror-b", "juror-c")
# RAND-EM and CTF have one random start, because the paper mentions no more. The limits are for Table 3, where a pass or
# step of every method takes ten times as long as elsewhere; most fits of other tables converge earlier. A fit that
# stops at its limit gives a warning, which is stored with the cell. SPA has no steps.
FULL = Effort(
    seeds=5,
    most_rows=100_000,
    options={
        "em": {"n_init": 1, "max_iter": 1000, "tol": 1e-6},
        "ctf": {"n_init": 1, "max_iter": 500, "tol": 1e-5},
        "spa": {},
        "pair-em": {"n_init": 1, "max_iter": 1000},
        **{key: {"max_iter": 1000, "tol": 1e-4} for key in _JUROR},
        "bayes-limit": {"sweeps": 1500, "burnt": 500, "thin": 2},
    },
    # A pair of halves of the variables identifies at most about 10 classes for Car and 45 for Mushroom.
    ranks={
        "car": {"pairs": (2, 4, 6, 8, 10), "rows": (10, 20, 40, 60)},
        "mushroom": {"pairs": (5, 10, 20, 30), "rows": (10, 20, 40)},
    },
)
# All seven tables in a minute or two: one seed, samples up to 10,000 rows, few steps, two ranks.
QUICK = Effort(
    seeds=1,
    most_rows=10_000,
    options={
        "em": {"n_init": 1, "max_iter": 200, "tol": 1e-5},
        "ctf": {"n_init": 1, "max_iter": 50, "tol": 1e-4},
        "spa": {},
        "pair-em": {"n_init": 1, "max_iter": 100},
        **{key: {"max_iter": 100, "tol": 1e-4} for key in _JUROR},
        "bayes-limit": {"sweeps": 300, "burnt": 100, "thin": 2},
    },
    ranks={"car": {"pairs": (4, 8), "rows": (20, 40)}, "mushroom": {"pairs": (5, 20), "rows": (10, 20)}},
)
N_DIRECTIONS = 200
# Raise it with every change to a solver that changes results, so that old cells are run again.
SOLVERS_VERSION = 2
LABEL_SMOOTHING = 0.1

MEASURES = {
    "mse": "factor error Σ_n ‖Â_n − A_n‖²/N + ‖λ̂ − λ‖², classes matched",
    "tensor_error": "squared relative error of the tensor, ‖Ẑ − Z‖²/‖Z‖²",
    "accuracy": "accuracy on the test part, per cent",
}


@dataclass(frozen=True)
class Row:
    """One row of a table: a method of the paper, another classifier, or a reference.

    Attributes
    ----------
    key, label : str
        Its name in files, unique in the table, and its name in tables and pictures.
    task : str
        The function that computes it, see :data:`juror.paper.cells.TASKS`.
    method : str
        The method of :func:`juror.fit`, the classifier or the reference.
    options : mapping
        The options that distinguish this row from others of the same method.
    printed : str
        The key of the paper's row; empty if there is none.
    block : str
        The heading of a group of rows.
    """

    key: str
    label: str
    task: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    printed: str = ""
    block: str = ""

    @property
    def is_reference(self) -> bool:
        """Whether this is a reference, not a method."""
        return self.task.endswith("reference")


def _method(key: str, task: str) -> Row:
    method = "em" if key == "rand-em" else key
    options = {"n_directions": N_DIRECTIONS} if key.startswith("juror") else {}
    return Row(key, key.upper(), task, method, options, printed=key)


def _ours(task: str) -> Row:
    """Return the row of EM on the same pairs that JUROR knows, which is not in the paper."""
    return Row("pair-em", "PAIR-EM (ours)", task, "pair-em")


_SIX = ("ctf", "spa", *_JUROR, "rand-em")
_CLASSIFIERS = ("logistic regression", "SVM-RBF", "naive Bayes", "neural net")
_REFERENCES = (
    Row("uniform", "uniform table", "reference", "uniform"),
    Row("independent", "product of one-way marginals", "reference", "independent"),
    Row("em-from-truth", "EM started at the truth", "reference", "em-from-truth"),
)
_LIMIT = Row("bayes-limit", "Bayes limit (law of truths known)", "reference", "bayes-limit")
_SYNTHETIC = (*(_method(key, "fit") for key in _SIX), _ours("fit"), *_REFERENCES)
_INVERSIONS = {"lstsq": "least squares", "fbp": "filtered back projection"}
_PROJECTIONS = (
    *(
        Row(
            f"M={M} {inversion}",
            f"JUROR-A, M = {M}",
            "fit",
            "juror-a",
            # Least squares is the default, so the first of these rows is the same cell as in Table 1.
            {"n_directions": M} | ({} if inversion == "lstsq" else {"inversion": inversion}),
            printed=f"M={M}",
            block=f"inversion by {name}",
        )
        for inversion, name in _INVERSIONS.items()
        for M in (200, 150, 100, 50)
    ),
    replace(_ours("fit"), block="pairs themselves"),
    *_REFERENCES,
)
_LABELS = (
    *(_method(key, "label fit") for key in _SIX),
    _ours("label fit"),
    *(Row(name.lower(), name, "classifier", name.lower(), printed=name.lower()) for name in _CLASSIFIERS),
    Row("uniform", "chance (uniform table)", "label reference", "uniform"),
    Row("independent", "most frequent label (product of marginals)", "label reference", "independent"),
)


@dataclass(frozen=True)
class Setting:
    """One table: its data, its rows, its columns and its measure."""

    number: int
    measure: str
    rows: tuple[Row, ...]
    recipe: Recipe | None = None

    @property
    def caption(self) -> str:
        """The paper's caption."""
        return PRINTED[self.number].caption

    def columns(self, effort: Effort) -> tuple[int | str, ...]:
        """Return the sample sizes, up to the limit of an effort, or the data sets."""
        return tuple(c for c in PRINTED[self.number].columns if isinstance(c, str) or c <= effort.most_rows)


_TABLE_1 = Recipe(1, "uniform", F=25, I=10, N=6)
SETTINGS = {
    setting.number: setting
    for setting in (
        Setting(1, "mse", _SYNTHETIC, _TABLE_1),
        Setting(2, "tensor_error", (*_SYNTHETIC, _LIMIT), Recipe(2, "uniform", F=15, I=10, N=4)),
        Setting(3, "mse", _SYNTHETIC, Recipe(3, "sinusoid", F=90, I=50, N=5)),
        Setting(4, "mse", _SYNTHETIC, Recipe(4, "uniform", F=20, I=15, N=5, kappa=0.8)),
        Setting(5, "mse", _SYNTHETIC, Recipe(5, "uniform", F=20, I=10, N=15)),
        Setting(6, "mse", _PROJECTIONS, _TABLE_1),
        Setting(7, "accuracy", _LABELS),
    )
}


@dataclass(frozen=True)
class Cell:
    """One computation: a row, a column and a seed of a table, with everything that determines its result.

    ``table`` is the first table that needs it; ``ranks`` are those to choose from, for a data set, which has no
    ``recipe``.
    """

    table: int
    column: int | str
    task: str
    method: str
    seed: int
    options: dict[str, Any]
    recipe: Recipe | None
    ranks: tuple[int, ...]
    quick: bool

    @property
    def label(self) -> str:
        """Its name in progress messages."""
        size = f"{self.column:,} rows" if isinstance(self.column, int) else self.column
        return f"Table {self.table}, {self.method}, {size}, seed {self.seed}"

    @property
    def fingerprint(self) -> str:
        """Sixteen digits that identify everything that determines the result."""
        # Without the table: the same computation in two tables is done once.
        facts = {key: value for key, value in asdict(self).items() if key != "table"}
        facts |= {"law": LAW_VERSION, "solvers": SOLVERS_VERSION, "juror": _version("juror")}
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


_version = cache(version)


def effort_of(quick: bool) -> Effort:
    """Return the effort of a quick or a full run."""
    return QUICK if quick else FULL


def cell_of(setting: Setting, row: Row, column: int | str, seed: int, quick: bool) -> Cell:
    """Return the computation for one row, column and seed of a table."""
    effort = effort_of(quick)
    options: dict[str, Any] = dict(row.options)
    ranks: tuple[int, ...] = ()
    if row.task in ("fit", "label fit"):
        options |= effort.options[row.method]
        if row.method != "pair-em":
            # Ours chooses its smoothing from the counts.
            options["smoothing"] = LABEL_SMOOTHING if row.task == "label fit" else 0.0
    elif row.method == "em-from-truth":
        options |= {key: value for key, value in effort.options["em"].items() if key != "n_init"} | {"smoothing": 0.0}
    elif row.method == "bayes-limit":
        options |= effort.options["bayes-limit"]
    if row.task == "label fit":
        ranks = effort.ranks[str(column)]["rows" if row.method in ("em", "ctf", "pair-em") else "pairs"]
    return Cell(setting.number, column, row.task, row.method, seed, options, setting.recipe, ranks, quick)


def cells_of(setting: Setting, seeds: int, quick: bool) -> list[Cell]:
    """Return all computations of a table."""
    return [
        cell_of(setting, row, column, seed, quick)
        for row in setting.rows
        for column in setting.columns(effort_of(quick))
        for seed in range(seeds)
    ]
