"""An EM pass along a forest beside one of a product of the same rank, over the same rows."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import juror

from .facts import Goal, Row, Rows, Section, Tell, at_most, markdown, percent, seconds_text
from .race import Job, race
from .tasks import save

RANKS = (16, 64, 256)
# the most that a pass along a forest may take of a pass of a product, by the share of missing cells
BOUNDS = {0.0: 1.5, 0.2: 6.0}
# the weights of a survey, which are no variable
_WEIGHTS = 2


def measure(quick: bool, tell: Tell) -> list[Row]:
    """Time passes of products and forests in turn, in one process."""
    path = Path(os.environ.get("JUROR_DATA", "")) / "adult" / "adult.data"
    if not path.is_file():
        tell("forests: JUROR_DATA names no folder with 'adult/adult.data', so nothing is measured")
        return []
    frame = pd.read_csv(path, header=None, skipinitialspace=True).drop(columns=_WEIGHTS)
    frame.columns = [f"x{n}" for n in range(frame.shape[1])]
    domain = juror.Domain.infer(frame)
    complete = domain.encode(frame)[: 5_000 if quick else None]
    rows, ranks = [], RANKS[:2] if quick else RANKS
    with tempfile.TemporaryDirectory() as folder:
        for holes in BOUNDS:
            tell(f"forests: {len(complete):,} rows of Adult, {percent(holes)} missing")
            codes = np.where(np.random.default_rng(0).random(complete.shape) < holes, -1, complete)
            task = save(Path(folder) / f"{holes}.npz", codes=codes, cardinalities=np.array(domain.cardinalities))
            job = Job("contestants:forest_passes", task, {"ranks": list(ranks)})
            found = race({"juror": job}, 3 if quick else 9, 60.0, tell)["juror"]
            if "failed" in found:
                return [found]
            times = found["times"]
            about = {"holes": holes, "rows": len(codes), "variables": codes.shape[1]}
            rows += [
                about | {"rank": rank, "product": times[f"product {rank}"], "forest": times[f"forest {rank}"]}
                for rank in ranks
            ]
    return rows


def goals(rows: Rows) -> Iterator[Goal]:
    """Judge the worst of the ranks."""
    for holes, bound in BOUNDS.items():
        fair = [row for row in rows if "failed" not in row and row["holes"] == holes]
        ratios = [row["forest"] / row["product"] for row in fair]
        ranks = ", ".join(map(str, RANKS))
        what = f"Adult, {percent(holes)} missing: a pass along a tree over one of a product, the most of F = {ranks}"
        yield at_most(what, bound, max(ratios, default=None))


def words(rows: Rows) -> Iterator[str]:
    """Tell both and their ratio."""
    if not rows or "failed" in rows[0]:
        yield f"It could not be run: {rows[0]['failed'] if rows else 'the data are not there'}."
        return
    yield f"""{rows[0]["rows"]:,} rows of Adult with {rows[0]["variables"]} variables, one thread, CPU seconds of one EM
pass. The forest is the strongest tree of its pair counts, and all classes share it. Missing cells are chosen at random;
along a forest they are summed out exactly, where a product just leaves them out."""
    lines = [
        [
            f"{percent(row['holes'])} missing, F = {row['rank']}",
            seconds_text(row["product"]),
            seconds_text(row["forest"]),
            f"{row['forest'] / row['product']:.2f}",
        ]
        for row in rows
    ]
    yield markdown(["", "product", "forest", "forest over product"], lines)


SECTION = Section("forests", "Passes along a forest", measure, words, goals)
