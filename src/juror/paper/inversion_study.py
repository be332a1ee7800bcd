"""When do projections help? Estimate a pair's table from N_s samples: by counting, and from histograms of projections.

Counting gives the table ẑ of relative frequencies. The other estimators get only the M histograms R ẑ of one-way
projections and invert them: by least squares, for points (a sample falls into the bin of its score) and for strips (a
sample is spread uniformly over its cell), or by filtered back projection of strips. Every estimate is made a
distribution: negative cells are set to zero and the rest is scaled to sum one. Two references need no projections: the
uniform table, and the product of the two one-way shares.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.counts.radon import FILTERS, Radon, as_distribution, axis_of, draw_directions, filtered_back_projection
from juror.domain import Domain
from juror.errors import check_count
from juror.kernels.random_streams import Stream
from juror.paper.table_rows import write_csv

if TYPE_CHECKING:
    import pandas as pd

SIZE, N_DIRECTIONS = 10, 200
REFERENCES = ("uniform table", "product of marginals")
SAMPLES = (100, 300, 1000, 3000, 10000)
DENSITIES = {
    "smooth": "a two-way Gaussian, cut into cells",
    "random": "a table of independent uniform entries, scaled to sum one",
    "nominal": "the smooth table with its labels renumbered at random, as nominal labels are",
}


@dataclass(frozen=True)
class InversionEntry:
    """One estimator for one kind of density and one sample size, over all seeds, each with its own true table.

    ``divergence`` is the mean Jensen–Shannon divergence from the truth in nats, ``error`` the mean of ‖ẑ − z‖² / ‖z‖²;
    their spreads are standard deviations.
    """

    density: str
    estimator: str
    n_samples: int
    n_seeds: int
    divergence: float
    divergence_spread: float
    error: float
    error_spread: float


@dataclass(frozen=True, eq=False)
class Inversions:
    """The comparison, an entry for each density, estimator and sample size."""

    entries: tuple[InversionEntry, ...]

    def to_pandas(self) -> pd.DataFrame:
        """Return a frame with one row per entry."""
        import pandas as pd

        return pd.DataFrame(self.to_dicts())

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return plain values, one dict per entry."""
        return [asdict(entry) for entry in self.entries]

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per entry, whole or not at all."""
        write_csv(path, self.to_dicts())

    def best(self, density: str, n_samples: int) -> str:
        """Return the estimator with the smallest divergence; among equals, up to rounding, the first."""
        here = [e for e in self.entries if (e.density, e.n_samples) == (density, n_samples)]
        return min(here, key=lambda e: round(e.divergence, 9)).estimator

    def __str__(self) -> str:
        samples = list(dict.fromkeys(e.n_samples for e in self.entries))
        lines = ["When do projections help? Jensen–Shannon divergence from the true pair table, in nats."]
        for density in dict.fromkeys(e.density for e in self.entries):
            lines += ["", f"{density}: {DENSITIES[density]}", f"{'N_s':24}" + "".join(f"{n:>10,}" for n in samples)]
            for estimator in dict.fromkeys(e.estimator for e in self.entries):
                here = [e for e in self.entries if (e.density, e.estimator) == (density, estimator)]
                lines.append(f"{estimator:24}" + "".join(f"{e.divergence:>10.4f}" for e in here))
        return "\n".join(lines)

    __repr__ = __str__


def compare_inversions(seeds: int = 20, samples: tuple[int, ...] = SAMPLES) -> Inversions:
    """Compare pair counts, least squares and filtered back projection on tables of 10 × 10, from 200 directions.

    Parameters
    ----------
    seeds : int
        The number of true tables of each kind, each with its own samples; all share the same directions.
    samples : tuple of int
        Sample sizes.

    Examples
    --------
    >>> found = compare_inversions(seeds=3, samples=(100, 10000))
    >>> found.best("smooth", 100)[:3], found.best("random", 10000)
    ('FBP', 'pair counts')
    """
    check_count("seeds", seeds, least=2)
    estimators = _estimators()
    entries = []
    for kind, density in enumerate(DENSITIES):
        # (seeds, I, I); the nominal tables are the smooth ones with their labels permuted.
        truths = np.stack([_TRUTHS[density](np.random.default_rng(seed)) for seed in range(seeds)])
        for n_samples in samples:
            draws = [Stream.PAPER_SAMPLES.generator(kind, seed, n_samples) for seed in range(seeds)]
            drawn = [rng.multinomial(n_samples, truth.ravel()) for rng, truth in zip(draws, truths, strict=True)]
            counted = np.stack(drawn).reshape(truths.shape)
            for name, estimate in estimators.items():
                found = as_distribution(estimate(counted / n_samples))
                errors = jensen_shannon(found, truths), squared_error(found, truths)
                numbers = [float(number) for e in errors for number in (e.mean(), e.std(ddof=1))]
                entries.append(InversionEntry(density, name, n_samples, seeds, *numbers))
    return Inversions(tuple(entries))


def _estimators() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Return the estimators, functions from relative frequencies (seeds, I, I) to estimates of the same shape."""
    axis = axis_of(Domain.from_cardinalities([SIZE])[0])
    directions = draw_directions(N_DIRECTIONS, (SIZE, SIZE), seed=0)
    points, strips = (Radon(axis, axis, directions, kind=kind) for kind in ("cells", "strips"))

    return {
        "pair counts": lambda tables: tables,
        "least squares, points": lambda tables: points.least_squares(points.forward(tables)),
        "least squares, strips": lambda tables: strips.least_squares(strips.forward(tables)),
        **{f"FBP, {window}": partial(_back_projected, strips, window) for window in FILTERS},
        "uniform table": lambda tables: np.full_like(tables, 1 / SIZE**2),
        "product of marginals": lambda tables: tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :],
    }


def _back_projected(radon: Radon, window: str, tables: np.ndarray) -> np.ndarray:
    return filtered_back_projection(radon, radon.forward(tables), window)


def smooth_table(rng: np.random.Generator) -> np.ndarray:
    """Draw a Gaussian with random middle, widths and correlation, at the centres of the cells, (I, I)."""
    middle = rng.uniform(0.3, 0.7, 2) * SIZE
    width = rng.uniform(0.1, 0.25, 2) * SIZE
    correlation = rng.uniform(-0.8, 0.8)
    grid = np.arange(SIZE) + 0.5
    a, b = ((grid - m) / w for m, w in zip(middle, width, strict=True))
    square = a[:, None] ** 2 - 2 * correlation * a[:, None] * b + b**2
    density = np.exp(-square / (2 * (1 - correlation**2)))
    return density / density.sum()


def random_table(rng: np.random.Generator) -> np.ndarray:
    """Draw independent uniform entries and scale them to sum one, (I, I)."""
    table = rng.random((SIZE, SIZE))
    return table / table.sum()


def nominal_table(rng: np.random.Generator) -> np.ndarray:
    """Draw a smooth table and renumber the labels of both variables at random, (I, I)."""
    return smooth_table(rng)[rng.permutation(SIZE)][:, rng.permutation(SIZE)]


_TRUTHS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "smooth": smooth_table,
    "random": random_table,
    "nominal": nominal_table,
}


def jensen_shannon(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return ½ KL(p ‖ m) + ½ KL(q ‖ m) with m = (p + q)/2 for tables (..., I, I), in nats: from 0 to log 2.

    >>> jensen_shannon(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])) / np.log(2)
    np.float64(1.0)
    """
    middle = (p + q) / 2
    total = np.zeros(np.broadcast_shapes(p.shape, q.shape))
    for table in (p, q):
        ratio = np.divide(table, middle, out=np.ones_like(middle), where=table > 0)
        total += table * np.log(ratio) / 2
    return total.sum(axis=(-2, -1))


def squared_error(estimate: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return ‖ẑ − z‖² / ‖z‖² for tables (..., I, I)."""
    return ((estimate - truth) ** 2).sum(axis=(-2, -1)) / (truth**2).sum(axis=(-2, -1))
