"""The six binary density sets with the published figures, within a short budget a set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.accuracy import debd
from benchmarks.accuracy.findings import Findings
from benchmarks.accuracy.published import DEBD

from .judged import Judged, Measure

ROWS = {"juror": "`juror.fit(train, max_seconds=…)`", "marginals": "product of one-way marginals"}
_SECONDS = 60


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    return {"nltcs": {"max_seconds": 5}} if quick else {name: {"max_seconds": _SECONDS} for name in debd.SETS}


def words(found: Findings) -> Iterator[str]:
    yield (
        f"Mean log-likelihood of the test rows in nats, fitted to the training rows within {_SECONDS} seconds a set; "
        "[the page about accuracy](accuracy.md) has budgets of five minutes. LearnSPN and Prometheus are figures from "
        "the literature; the plain EM mixture is untuned, of at most 400 classes."
    )


SECTION = Judged(
    "density-sets", "Binary density sets", ROWS, ("marginals",), range(1), columns, debd.load, debd.measure, words,
    measures=(Measure("log_prob", "mean log-likelihood of a test row", ".3f"),),
    printed={name: {of: {"log_prob": value} for of, value in figures.items()} for name, figures in DEBD.items()},
)  # fmt: skip
