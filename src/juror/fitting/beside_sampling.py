"""Whether an ensemble is better than sampling, by the rows that chose the setting of the ensemble.

Sampling weighs every model by how well it explains the rows, and has intervals. An ensemble has more classes, and trees
with hidden nodes. Which of the two makes new rows more probable depends on the table more than on its size, so both are
fitted to the same rows and scored on the same others.

Trees with hidden nodes have finer intervals than a sampler has rows for. It is given runs of them: a number x in the
interval i of the run r has the density P(r) h(x) / H(r) by the sampler and P(i) h(x) / H(i) by the trees, with the law
H of its column. So log H(i) − log H(r) is taken from the log-probability of the trees.

Settings are compared by two members, but the ensemble will have more, which makes rows more probable. The gain from two
to eight members is about three quarters of that from one to two (decision 047), so this is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from juror.answers.scores import log_prob
from juror.domain import Domain
from juror.domain.variable import Variable
from juror.fitting.choose import Judged, is_clear
from juror.fitting.held_out import as_mixture
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.solvers.bayes import BayesOptions
from juror.solvers.methods import METHODS
from juror.solvers.solver import Context

# The intervals of a number that a sampler has rows for
_RUNS = 32
# The sweeps of a chain: half of those of a fit tell as much.
_SWEEPS = 500
# What more members gain, as a share of what the second gained
_MORE_MEMBERS = 0.75
# By how many standard errors and nats a row an ensemble must be better: only sampling has draws, which make intervals.
_CLEAR, _LEAST_GAIN = 1.0, 0.01


@dataclass(frozen=True)
class BesideSampling:
    """How much more probable an ensemble makes held-out rows than sampling, in nats a row, and if that is clear."""

    gain: float
    is_clear: bool

    @property
    def why(self) -> str:
        """The reason for the better one, in words."""
        if self.is_clear:
            return f"an ensemble of EM fits, as it makes held-out rows more probable than sampling, by {self._nats}"
        less = "less probable" if self.gain < 0 else "not clearly more probable"
        return f"sampling, as an ensemble of EM fits makes held-out rows {less}, by {self._nats}"

    @property
    def _nats(self) -> str:
        return f"{abs(self.gain):.3f} nats a row"


def against_sampling(judged: Judged, context: Context) -> BesideSampling:
    """Fit the rows that an ensemble was fitted to by sampling, and compare both on the rows held out."""
    kept, held = judged.kept.rows, judged.held.rows
    columns = [_Runs.of(variable) for variable in judged.kept.domain]
    domain = Domain(tuple(column.variable(f"x{n}") for n, column in enumerate(columns)))
    table = MemoryTable(WeightedRows.of(_in_runs(kept.codes, columns), kept.weights), domain, context.runner)
    bayes = METHODS["bayes"]
    assert bayes.open_rank is not None
    options = BayesOptions(sweeps=_SWEEPS).for_open_rank()
    drawn = bayes.solve(table, bayes.open_rank, options, replace(context, stage="comparing with sampling"))
    by_draws = log_prob(as_mixture(drawn.parts, domain), _in_runs(held.codes, columns))
    of_laws = sum(column.log_shares(codes) for column, codes in zip(columns, held.codes.T, strict=True))
    of_second = judged.log_prob - judged.alone.mean(axis=0)
    gains = judged.log_prob + _MORE_MEMBERS * of_second - of_laws - by_draws
    gain = float(np.average(gains, weights=held.weights))
    return BesideSampling(gain, gain > _LEAST_GAIN and is_clear(gains, held.weights, _CLEAR))


@dataclass(frozen=True)
class _Runs:
    """Runs of labels of a variable: the run of every label, (I,), and log H(label) − log H(run), (I,).

    Runs of the intervals of a number are intervals, between which a sampler may find correlations.
    """

    of_label: np.ndarray
    log_share: np.ndarray
    are_intervals: bool = False

    @classmethod
    def of(cls, variable: Variable) -> _Runs:
        """Divide the intervals of a number into runs of about equal mass; all other labels are runs of their own."""
        n_labels = variable.cardinality
        if variable.edges is None or len(variable.present_labels) <= _RUNS:
            are_intervals = variable.edges is not None and variable.missing_label is None
            return cls(np.arange(n_labels), np.zeros(n_labels), are_intervals)
        masses = np.maximum(variable.inside.masses, np.finfo(float).tiny)
        middles = (np.cumsum(masses) - masses / 2) / masses.sum()
        _, run = np.unique((_RUNS * middles).astype(np.int64), return_inverse=True)
        log_share = np.log(masses / np.bincount(run, masses)[run])
        # a label for missing cells comes after the intervals
        n_more = n_labels - len(run)
        runs = np.append(run, run[-1] + 1 + np.arange(n_more))
        return cls(runs, np.append(log_share, np.zeros(n_more)), n_more == 0)

    def variable(self, name: str) -> Variable:
        """Return a variable whose labels are the runs."""
        labels = tuple(range(self.size))
        if not self.are_intervals:
            return Variable(name, labels, "ordinal")
        return Variable(name, labels, "binned", tuple(range(self.size + 1)))

    @property
    def size(self) -> int:
        """How many runs there are."""
        return int(self.of_label[-1]) + 1

    def log_shares(self, codes: np.ndarray) -> np.ndarray:
        """Return the logarithm of the share that each label has in its run, zero for missing cells, (rows,)."""
        return np.where(codes < 0, 0.0, self.log_share[codes])


def _in_runs(codes: np.ndarray, columns: Sequence[_Runs]) -> np.ndarray:
    """Return the runs of all labels of rows, (rows, N), −1 for missing cells."""
    runs = [np.where(own < 0, own, column.of_label[own]) for column, own in zip(columns, codes.T, strict=True)]
    return np.asfortranarray(np.column_stack(runs).astype(codes.dtype))
