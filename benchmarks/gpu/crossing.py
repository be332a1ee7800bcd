"""From how many cells on a card is faster: passes of EM on it and on two threads, as fits call them."""

from __future__ import annotations

import time
from statistics import median

import numpy as np

import juror
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner

COLUMNS, LABELS = 20, 10
ROWS, RANKS = [1 << n for n in range(9, 20, 2)], (16, 128, 1024)


def passes() -> list[dict[str, float]]:
    """Return for each number of rows and classes the milliseconds of a pass on two threads and on the card.

    Parameters are arrays, as in fits without a forest; those with one keep them on the card.
    """
    return [_compared(n_rows, rank) for rank in RANKS for n_rows in ROWS if n_rows * rank <= 1 << 27]


def _compared(n_rows: int, rank: int) -> dict[str, float]:
    rng = np.random.default_rng(n_rows)
    rows = WeightedRows.of(rng.integers(0, LABELS, (n_rows, COLUMNS)))
    domain = juror.Domain.from_cardinalities([LABELS] * COLUMNS)
    stacking = Stacking(domain.cardinalities)
    scatter = rng.random((stacking.n_rows, rank))
    stack, lam = stacking.normalise(scatter, otherwise=np.ones_like(scatter)), rng.dirichlet(np.ones(rank))
    found = {"rows": float(n_rows), "rank": float(rank)}
    for device in ("cpu", "cuda"):
        with LocalRunner(2, device) as runner:
            table = MemoryTable(rows, domain, runner)
            began = time.perf_counter()
            table.expected(lam, stack)
            found[f"{device} first"] = 1e3 * (time.perf_counter() - began)
            times = []
            while len(times) < 9 and sum(times) < 2.0:
                began = time.perf_counter()
                table.expected(lam, stack)
                times.append(time.perf_counter() - began)
        found[device] = 1e3 * median(times)
    return found
