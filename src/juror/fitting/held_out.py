"""Fits of some rows, scored on rows that they have not seen.

A score is the mean log-probability of the rows held out, in nats; with a target the log-probability of its labels given
the rest of their rows, the share of them that are the most probable, or their quadratic score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from juror.answers.block import BareMixture, Block, Mixture
from juror.answers.scores import log_prob, predict_proba
from juror.counts.counts import PairCounts
from juror.domain import Domain
from juror.errors import DataError, ZeroProbabilityError
from juror.kernels.random_streams import Stream
from juror.readers.columns import MISSING
from juror.rows.forest import Forest
from juror.rows.in_memory import MemoryTable
from juror.rows.parameters import Parameters
from juror.solvers.chow_liu import edge_gains
from juror.solvers.solver import Context, Method

_HELD_OUT, _FOLDS = 0.2, 5

# What is fitted and what is scored, part by part
Parts = Sequence[tuple[MemoryTable, MemoryTable]]


@dataclass(frozen=True)
class Trial:
    """What is fitted again and again: a table in memory, by a method, perhaps for a target."""

    table: MemoryTable
    method: Method
    target: int | None
    context: Context

    @property
    def domain(self) -> Domain:
        """The variables."""
        return self.table.domain

    @cached_property
    def links(self) -> np.ndarray:
        """What an edge between every two variables gains for rows that are left out, (N, N)."""
        return edge_gains(PairCounts.of_rows(self.table))

    def parts(self, how: str) -> Parts:
        """Return what to fit and what to score: one part for ``"auto"``, every fold in turn for ``"cv"``."""
        rng = Stream.HELD_OUT.generator(self.context.seed)
        parts = [self.table.split(_HELD_OUT, rng)] if how == "auto" else self.table.folds(_FOLDS, rng)
        return [] if any(kept.total == 0 or held.total == 0 for kept, held in parts) else parts

    def measure(self, by: str) -> str:
        """Say what a score is."""
        if self.target is None:
            return "log-probability of held-out rows, nats a row"
        labels = f"labels of {self.domain[self.target].name!r} in held-out rows"
        return {
            "log": f"log-probability of {labels}, nats a row",
            "share": f"share of {labels} predicted",
            "quadratic": f"quadratic score of {labels}, 0 at best",
        }[by]

    def fit(
        self, table: MemoryTable, rank: int, options: Any, stage: str, start: Parameters | None = None
    ) -> Parameters:
        """Fit some of the rows; complaints about such a fit do not matter."""
        context = replace(self.context, stage=stage)
        try:
            return self.method.solve(table, rank, options, context, start).parameters
        except DataError as error:
            raise DataError(
                "With some rows held out to choose by: {error} Or pass {rank} and {rho} as numbers.", error=error
            ) from None

    def score(self, parts: tuple[Parameters, ...], held: MemoryTable, by: str = "log") -> float:
        """Score a fit on rows it has not seen, labels by a name in :data:`LABEL_SCORES`."""
        scores, weights = self.row_scores(parts, held, by)
        return float(weights @ scores) / float(weights.sum())

    def row_scores(
        self, parts: tuple[Parameters, ...], held: MemoryTable, by: str = "log"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the score of every row that counts, (rows,), and its weight, (rows,)."""
        rows = held.rows
        if self.target is None:
            return held.log_prob_of_rows(parts), rows.weights
        labelled = rows.codes[:, self.target] >= 0
        if not np.any(labelled):
            raise DataError(
                "No held-out row has a label of the target {name!r}, so nothing can be chosen by it. Pass {rank}, "
                "{smoothing} and {rho} as numbers.",
                name=self.domain[self.target].name,
            )
        model, codes = as_mixture(parts, self.domain), rows.codes[labelled]
        return LABEL_SCORES[by](model, codes, self.target, self._card(codes)), rows.weights[labelled]

    def _card(self, codes: np.ndarray) -> ModuleType | None:
        return self.context.runner.card(codes.size)


def as_mixture(parts: Sequence[Parameters], domain: Domain) -> BareMixture:
    """Give parameters their domain, so that they can be asked."""
    return BareMixture(tuple(as_block(part, domain) for part in parts), domain)


def as_block(part: Parameters, domain: Domain) -> Block:
    """Take the stack of one part apart into tables."""
    forest = Forest.empty(len(domain)) if part.forest is None else part.forest
    return Block(part.lam, forest, part.stacking(domain.cardinalities).tables(part.stack))


def _log_label(model: Mixture, codes: np.ndarray, target: int, card: ModuleType | None) -> np.ndarray:
    """Return the log-probability of every label given the rest of its row, (rows,); −inf for the impossible."""
    blind = codes.copy()
    blind[:, target] = MISSING
    whole = log_prob(model, codes, card)
    return np.where(np.isneginf(whole), whole, whole - np.where(np.isneginf(whole), 0.0, log_prob(model, blind, card)))


def _right(model: Mixture, codes: np.ndarray, target: int, card: ModuleType | None) -> np.ndarray:
    """Return 1 for labels that are the most probable given the rest of their rows, (rows,); −inf for the impossible."""
    try:
        return np.asarray(predict_proba(model, codes, target, card).argmax(axis=1) == codes[:, target], dtype=float)
    except ZeroProbabilityError:
        return np.full(len(codes), -np.inf)


def _quadratic(model: Mixture, codes: np.ndarray, target: int, card: ModuleType | None) -> np.ndarray:
    """Return −Σ_x (p(x) − [x is the label])², (rows,), Brier's score; −inf for the impossible."""
    try:
        off = predict_proba(model, codes, target, card)
    except ZeroProbabilityError:
        return np.full(len(codes), -np.inf)
    off[np.arange(len(codes)), codes[:, target]] -= 1.0
    return -np.einsum("ix,ix->i", off, off)


LABEL_SCORES = {"log": _log_label, "share": _right, "quadratic": _quadratic}
