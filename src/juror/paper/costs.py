"""The approximate time of a cell, used only to run the longest first and to estimate the remaining time."""

from __future__ import annotations

from math import comb

from juror.paper.settings import Cell

# Seconds on one core of a small server
_LABELS = {
    "car": {"ctf": 16.0, "juror-a": 4.0, "juror-b": 3.0, "neural net": 4.0},
    "mushroom": {"ctf": 65.0, "juror-a": 17.0, "juror-b": 16.0, "juror-c": 1.5, "neural net": 1.0, "pair-em": 3.0},
}


def expected_seconds(cell: Cell) -> float:
    """Return a rough number of seconds, never zero."""
    if cell.recipe is None:
        return _LABELS.get(str(cell.column), {}).get(cell.method, 0.5) * (0.1 if cell.quick else 1.0)
    F, size, N, n_rows = cell.recipe.F, cell.recipe.I, cell.recipe.N, int(cell.column)
    most = int(cell.options.get("max_iter", 1))
    # The passes of EM grow with the number of classes, the sweeps of CTF hardly.
    passes = min(most, 10 * F) * 2e-9 * n_rows * N * F
    sweeps = min(most, 150) * (4e-3 + 1e-9 * comb(N, 3) * size**3 * F)
    step = 1e-3 + comb(N, 2) * size**2 * (1e-8 * F + 5e-10 * size**2)
    shrinking, descent = 20 * 2 * step, most * step
    seconds = {
        "em": passes,
        "em-from-truth": passes,
        "bayes-limit": 1 + 1e-3 * n_rows,
        "ctf": sweeps,
        "juror-a": shrinking + descent,
        "juror-b": descent,
        "juror-c": shrinking,
        "pair-em": 600 * (1e-4 + 4e-10 * (N * size) ** 2 * F),
    }
    return 0.05 + seconds.get(cell.method, 0.0)
