"""Histograms of random projections of pairs of variables, which an owner of data could publish instead of rows.

For a pair (j, k) and directions φ_m, Y_jk[m, b] is the share of rows whose φ_mᵗ [s_j(x_j), s_k(x_k)] falls in bin b.
It is the image R vec(Z_jk) of the pair's table, so rows are never projected one by one: pairs are counted once.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from juror.counts.counts import PairCounts
from juror.counts.designs import Design, Directions, about_order, shapes
from juror.counts.groups import check_seen_together
from juror.counts.radon import Radon
from juror.domain import Domain
from juror.domain.variable import Label, Unknown
from juror.errors import DataError, DataWarning, Message, warn
from juror.files import container
from juror.files.schema import check

_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Projections:
    """Histograms of projections of every two variables, with their directions and bins.

    Make them with :meth:`of` from data, or with :meth:`from_histograms` from published histograms.

    Attributes
    ----------
    domain : Domain
        The variables.
    design : Design
        Bins and scores, and the number and seed of the directions.
    directions : mapping of (I_j, I_k) to numpy.ndarray, (M, 2)
        The directions of every shape of pair table, unit vectors.
    masses : tuple of numpy.ndarray
        For every pair the weight of the rows in every bin of every direction, (M, bins), in the order of pairs.

    Examples
    --------
    >>> rows = {"a": [0, 1, 1, 2], "b": [0, 0, 1, 1]}
    >>> projections = Projections.of(rows, n_directions=2, bins=3)
    >>> projections.histogram("a", "b").sum(axis=1).tolist()
    [1.0, 1.0]
    """

    domain: Domain
    design: Design
    directions: Directions
    masses: tuple[np.ndarray, ...]

    def __post_init__(self) -> None:
        pairs = list(combinations(self.domain.names, 2))
        if len(self.masses) != len(pairs):
            raise DataError(f"{len(self.domain)} variables have {len(pairs)} pairs. Got {len(self.masses)} histograms.")
        masses = (_as_array(mass, pair) for mass, pair in zip(self.masses, pairs, strict=True))
        object.__setattr__(self, "masses", tuple(masses))
        for pair, mass, R in zip(pairs, self.masses, self.operators, strict=True):
            _check_masses(pair, mass, R)

    @classmethod
    def of(
        cls,
        data: Any,
        n_directions: int = 200,
        seed: int = 0,
        *,
        bins: int | None = None,
        operator: str = "auto",
        scores: Mapping[str, Sequence[float]] | None = None,
        domain: Domain | None = None,
        missing: Collection[Label] = (),
        unknown: Unknown = "error",
        sample_weight: Any = None,
    ) -> Projections:
        """Project a table.

        Parameters
        ----------
        data, domain, missing, unknown, sample_weight
            As in :func:`juror.fit`. A pair is projected over the rows in which both variables are observed.
        n_directions, seed, bins, operator, scores
            See :class:`juror.counts.designs.Design`.
        """
        design = Design(n_directions, seed, bins, operator, {} if scores is None else scores)
        counts = PairCounts.of(data, domain, missing=missing, unknown=unknown, sample_weight=sample_weight)
        for message in about_order(counts.domain):
            warn(DataWarning(message))
        return cls.of_counts(counts, design)

    @classmethod
    def zero(cls, domain: Domain, design: Design | None = None) -> Projections:
        """Return the projections of no rows, to add others to."""
        return cls.of_counts(PairCounts.zero(domain), design or Design())

    @classmethod
    def of_counts(cls, counts: PairCounts, design: Design) -> Projections:
        """Project counted pairs."""
        directions = design.directions(counts.domain)
        operators = design.operators(counts.domain, directions)
        masses = tuple(R.forward(table) for R, table in zip(operators, counts.tables, strict=True))
        return cls(counts.domain, design, directions, masses)

    @classmethod
    def from_histograms(
        cls,
        domain: Domain,
        histograms: Mapping[tuple[str, str], Any],
        n_rows: float | Mapping[tuple[str, str], float],
        *,
        directions: Directions | None = None,
        n_directions: int | None = None,
        seed: int = 0,
        bins: int | None = None,
        operator: str = "auto",
        scores: Mapping[str, Sequence[float]] | None = None,
    ) -> Projections:
        """Take published histograms, (M, bins) for every pair of variables; those of every direction sum to one.

        Parameters
        ----------
        domain : Domain
            The variables.
        histograms : mapping of two names to array-like (M, bins)
            One for every two variables, named in the order of the domain.
        n_rows : float, or mapping of two names to float
            The number of rows of a histogram.
        directions : mapping of (I_j, I_k) to array-like (M, 2), optional
            The directions, by the numbers of labels of a pair; drawn from ``n_directions`` and ``seed`` by default.
        n_directions, seed, bins, operator, scores
            The design of the histograms; see :class:`juror.counts.designs.Design`.
        """
        if not isinstance(histograms, Mapping):
            raise DataError(f"histograms must be a mapping of two names to an array. Got {type(histograms).__name__}.")
        if n_directions is None:
            n_directions = Design.n_directions if directions is None else len(next(iter(directions.values()), ()))
        design = Design(n_directions, seed, bins, operator, {} if scores is None else scores)
        along = design.directions(domain) if directions is None else _check_directions(directions, design, domain)
        for message in about_order(domain):
            warn(DataWarning(message))
        masses = []
        for (j, k), R in zip(combinations(range(len(domain)), 2), design.operators(domain, along), strict=True):
            pair = (domain[j].name, domain[k].name)
            if pair not in histograms:
                raise DataError(f"There is no histogram of {pair}. Give one for every two variables, in their order.")
            n = n_rows.get(pair) if isinstance(n_rows, Mapping) else n_rows
            if isinstance(n, bool) or not isinstance(n, (int, float, np.number)) or not 0 < n < np.inf:
                raise DataError(f"n_rows of {pair} must be a number of rows above 0. Got {n!r} instead.")
            masses.append(n * _check_histogram(_as_array(histograms[pair], pair), R, pair))
        if len(histograms) > len(masses):
            raise DataError(
                f"There are {len(histograms)} histograms for {len(masses)} pairs of variables. Give one a pair, named "
                "in the order of the domain."
            )
        return cls(domain, design, along, tuple(masses))

    @cached_property
    def operators(self) -> list[Radon]:
        """The operator R of every pair."""
        return self.design.operators(self.domain, self.directions)

    @cached_property
    def totals(self) -> np.ndarray:
        """The weight of the rows of every pair, (n_pairs,)."""
        return np.array([mass.sum() / len(mass) for mass in self.masses])

    def histogram(self, a: str, b: str) -> np.ndarray:
        """Return the histograms of a pair, (M, bins), every row summing to one."""
        j, k = self.domain.position(a), self.domain.position(b)
        if not j < k:
            raise DataError(f"Name the pair in the order of the domain: {self.domain[k].name!r} first.")
        number = list(combinations(range(len(self.domain)), 2)).index((j, k))
        check_seen_together(self.domain, self.totals)
        return self.masses[number] / self.totals[number]

    def __repr__(self) -> str:
        n_directions = self.design.n_directions
        return f"Projections({len(self.domain)} variables, {len(self.masses)} pairs, {n_directions} directions)"

    def __add__(self, other: Projections) -> Projections:
        if not isinstance(other, Projections):
            return NotImplemented
        if other.domain.variables != self.domain.variables:
            raise DataError("These projections are of different variables or labels and cannot be added.")
        if not other.design.same_bins(self.design) or not _equal(other.directions, self.directions):
            raise DataError(
                Message(
                    "These projections have different directions, bins or scores and cannot be added. Make both with "
                    "the same {n_directions}, {seed}, {bins}, {operator} and {scores}."
                )
            )
        masses = tuple(a + b for a, b in zip(self.masses, other.masses, strict=True))
        return Projections(self.domain, self.design, self.directions, masses)

    def __radd__(self, other: object) -> Projections:
        # sum() starts with 0
        return self if other == 0 else NotImplemented

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the projections to one file, whole or not at all."""
        design = {
            "n_directions": int(self.design.n_directions),
            "seed": int(self.design.seed),
            "bins": self.design.bins,
            "operator": self.design.operator,
            "scores": {name: [float(score) for score in scores] for name, scores in self.design.scores.items()},
        }
        tensors = {f"histogram.{number}": mass for number, mass in enumerate(self.masses)}
        # the numbers, not only the seed: a later NumPy may draw others from it
        tensors |= {f"directions.{rows}.{columns}": along for (rows, columns), along in self.directions.items()}
        container.write(path, self.domain, {"kind": "Projections", "design": design}, tensors)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Projections:
        """Read projections that :meth:`save` wrote."""

        def make(domain: Domain, header: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> Projections:
            check(header, dict[str, Any], "header")
            check(header["design"], Design, "design")
            design = Design(**header["design"])
            n_pairs = len(domain) * (len(domain) - 1) // 2
            masses = tuple(tensors[f"histogram.{number}"] for number in range(n_pairs))
            directions = {shape: tensors["directions.{}.{}".format(*shape)] for shape in shapes(domain)}
            return cls(domain, design, directions, masses)

        return container.read_statistic(path, "Projections", make)


def _equal(one: Directions, other: Directions) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[shape], other[shape]) for shape in one)


def _check_directions(directions: Directions, design: Design, domain: Domain) -> dict[tuple[int, int], np.ndarray]:
    checked = {}
    for shape in shapes(domain):
        if shape not in directions:
            raise DataError(f"There are no directions for pairs of {shape[0]} by {shape[1]} labels. Give some.")
        along = np.ascontiguousarray(directions[shape], dtype=np.float64)
        if along.shape != (design.n_directions, 2) or not np.all(np.isfinite(along)):
            raise DataError(
                f"The directions for pairs of {shape[0]} by {shape[1]} labels must be {design.n_directions} finite "
                f"vectors of 2 (n_directions is {design.n_directions}). Got shape {along.shape}."
            )
        off = float(np.abs(np.linalg.norm(along, axis=1) - 1.0).max())
        if off > _SUM_TOLERANCE:
            raise DataError(f"Directions must have length one within {_SUM_TOLERANCE:g}. A length is off by {off:g}.")
        checked[shape] = along
    return checked


def _as_array(histogram: Any, pair: tuple[str, str]) -> np.ndarray:
    try:
        return np.asarray(histogram, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"The histograms of {pair} must be an array of numbers, directions by bins.") from None


def _check_masses(pair: tuple[str, str], mass: np.ndarray, R: Radon) -> None:
    """Refuse histograms of another shape than that of the operator, and directions of different numbers of rows."""
    expected = (R.n_directions, R.n_bins)
    if mass.shape != expected:
        raise DataError(
            f"The histograms of {pair} must have shape {expected}, directions by bins. Got {mass.shape}: they do not "
            "match the directions."
        )
    if not np.all(np.isfinite(mass)) or np.any(mass < 0):
        raise DataError(
            f"The histograms of {pair} must hold finite shares, none below zero. Set what noise made negative to zero, "
            "and scale every direction to sum one."
        )
    sums = mass.sum(axis=1)
    off = float(np.abs(sums - sums.mean()).max())
    if off > _SUM_TOLERANCE * sums.mean():
        raise DataError(f"The histograms of {pair} must all hold the same rows. One holds {off:g} more or fewer.")


def _check_histogram(histogram: np.ndarray, R: Radon, pair: tuple[str, str]) -> np.ndarray:
    """Return published shares if they sum to one."""
    _check_masses(pair, histogram, R)
    off = float(np.abs(histogram.sum(axis=1) - 1.0).max())
    if off > _SUM_TOLERANCE:
        raise DataError(
            f"The histograms of {pair} must sum to one within {_SUM_TOLERANCE:g}, every direction by itself. A sum is "
            f"off by {off:g}; scale them if they were rounded."
        )
    return histogram
