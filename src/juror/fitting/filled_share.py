"""The share of a target among the rows that meet a condition, with missing cells filled in from the rest of each row.

With o_i the observed cells of row i, the model expects the share

    q = Σ_i P(t, c | o_i) / Σ_i P(c | o_i)

A row that has both cells counts as it is. If the model is true, and missing cells depend on observed ones only, then q
is P(t | c) but for chance, whichever cells are missing. Each term of Σ_i (P(t, c | o_i) − P(t | c) P(c | o_i)) varies
no more than it would if both cells were seen, so that q deviates at most as the share of Σ_i P(c | o_i) rows does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juror.answers.block import Mixture
from juror.answers.checking import Finding
from juror.answers.pair_events import Event
from juror.answers.posterior import posterior
from juror.answers.scores import predict_proba
from juror.rows.distinct import WeightedRows

# Rows to predict of each kind, if there are more
_MOST_ROWS = 500
_IMPOSSIBLE = 1e-12


@dataclass(frozen=True)
class FilledShare:
    """A share of rows, and the least number of independent rows that it is worth."""

    share: float
    rows: float


@dataclass(frozen=True)
class _Part:
    """The weight of the rows of one kind that meet the condition, and that also meet the target (``hits``).

    Each row that is predicted stands for ``every`` rows.
    """

    hits: float
    rows: float
    every: float = 1.0


def expected_share(model: Mixture, finding: Finding, rows: WeightedRows) -> FilledShare | None:
    """Return the share that the model expects among the rows that have both cells, given the other cells of each.

    None if no row has both.
    """
    these = _is_in(finding.condition, rows.codes[:, finding.condition.variable])
    part = _Filling(model, finding, rows).without_target(these & (rows.codes[:, finding.target.variable] >= 0))
    return FilledShare(part.hits / part.rows, finding.rows) if part.rows else None


def filled_share(model: Mixture, finding: Finding, rows: WeightedRows) -> FilledShare:
    """Return the share of the target of a question with missing cells filled in, if some rows have both cells."""
    target, given = rows.codes[:, finding.target.variable], rows.codes[:, finding.condition.variable]
    meets, hits = _is_in(finding.condition, given), _is_in(finding.target, target)
    here = float(rows.weights[meets & (target >= 0)].sum())
    filling = _Filling(model, finding, rows)
    parts = [
        _Part(finding.share * here, here),
        filling.without_target(meets & (target < 0)),
        filling.without_condition((given < 0) & (target >= 0), hits),
        filling.without_both((given < 0) & (target < 0)),
    ]
    total = sum(part.rows for part in parts)
    # Rows that stand for several deviate more, and rows may be a sample of all that were counted.
    worth = total**2 / sum(part.rows * part.every for part in parts)
    return FilledShare(sum(part.hits for part in parts) / total, worth * finding.rows / here)


def _is_in(event: Event, codes: np.ndarray) -> np.ndarray:
    return (codes >= event.low) & (codes < event.high)


@dataclass(frozen=True)
class _Filling:
    """What the model expects of rows that lack the target's cell, the condition's, or both.

    ``these`` says which rows they are, (rows,) of bool. What a method predicts is ignored if a row has it.
    """

    model: Mixture
    finding: Finding
    rows: WeightedRows

    def without_target(self, these: np.ndarray) -> _Part:
        """Predict the target in rows that meet the condition."""
        places, weights, every = self._some(these)
        chances = _chances(self.model, self.rows.codes[places], self.finding.target)
        return _Part(float(weights @ chances), float(weights.sum()), every)

    def without_condition(self, these: np.ndarray, hits: np.ndarray) -> _Part:
        """Predict the condition in rows of which some meet the target, as ``hits`` says."""
        places, weights, every = self._some(these)
        weights = weights * _chances(self.model, self.rows.codes[places], self.finding.condition)
        return _Part(float(weights @ hits[places]), float(weights.sum()), every)

    def without_both(self, these: np.ndarray) -> _Part:
        """Predict both, by P(t, c | o) = P(c | o) P(t | c, o)."""
        places, weights, every = self._some(these)
        condition = self.finding.condition
        weights = weights * _chances(self.model, self.rows.codes[places], condition)
        possible = weights > _IMPOSSIBLE
        if not np.any(possible):
            return _Part(0.0, 0.0)
        asked = np.zeros(self.model.domain.cardinalities[condition.variable])
        asked[condition.low : condition.high] = 1.0
        places, weights = places[possible], weights[possible]
        of_condition = posterior(self.model, {condition.variable: asked})
        chances = _chances(of_condition, self.rows.codes[places], self.finding.target)
        return _Part(float(weights @ chances), float(weights.sum()), every)

    def _some(self, these: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the places of some of these rows, weights that sum to those of all, and how many each stands for."""
        places = np.flatnonzero(these)
        some = places[:: -(-len(places) // _MOST_ROWS)] if len(places) else places
        weights, total = self.rows.weights[some], self.rows.weights[places].sum()
        return (some, weights, 1.0) if len(some) == len(places) else (some, *_scaled(weights, total))


def _scaled(weights: np.ndarray, total: float) -> tuple[np.ndarray, float]:
    every = float(total / weights.sum())
    return weights * every, every


def _chances(model: Mixture, codes: np.ndarray, event: Event) -> np.ndarray:
    """Return the probability of an event given the other cells of every row, (rows,)."""
    if not len(codes):
        return np.empty(0)
    return predict_proba(model, codes.astype(np.int64), event.variable)[:, event.low : event.high].sum(axis=1)
