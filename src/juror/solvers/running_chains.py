"""A chain of Gibbs sampling: it sweeps, keeps draws, and follows the probabilities of a few rows."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from juror.kernels.random_streams import Stream
from juror.rows.parameters import Parameters
from juror.rows.table import Table
from juror.solvers.forest_gibbs import ForestSampler
from juror.solvers.gibbs import Sampler
from juror.solvers.probes import Probes
from juror.solvers.solver import Context

# The number of training rows whose log-probabilities are followed in addition to the likelihood
_PROBES = 5
# The fewest kept sweeps of a chain: its halves are compared, and each half needs two. The second number is that of the
# fewest sweeps of a chain with a budget of time.
FEWEST, FEWEST_IN_TIME = 4, 20
# Drawing an entry of a table, or counting a row in a cell of a pair, takes as long as passing over this many numbers.
_OF_ENTRY, _OF_PAIR = 30, 15


@dataclass(frozen=True)
class Chain:
    """What a chain keeps: evenly spaced draws, and quantities followed along its sweeps.

    Attributes
    ----------
    followed : numpy.ndarray, (n_kept, 1 + probes)
        The log-likelihood and the log-probabilities of a few rows along the kept sweeps.
    occupied : numpy.ndarray, (n_kept,)
        How many classes held a row or more.
    """

    draws: list[Parameters]
    followed: np.ndarray
    occupied: np.ndarray


class RunningChain:
    """A chain from a random start of its own, which can be continued."""

    def __init__(
        self,
        table: Table,
        rank: int,
        number: int,
        n_draws: int,
        n_chains: int,
        sampler: Sampler | ForestSampler,
        context: Context,
    ):
        self._sampler = sampler
        # All chains follow the same rows, by which they are compared.
        seen = table.sample(context.seed).rows.codes
        chosen = Stream.PROBES.generator(context.seed, rank).choice(len(seen), min(_PROBES, len(seen)), replace=False)
        self._probes = Probes(seen[chosen], table.domain.cardinalities, context.runner)
        self._n_rows, self._rank, self._number, self._n_draws = table.total, rank, number, n_draws
        self._n_cells = table.n_counted * len(table.domain)
        self._n_chains, self._context = n_chains, context
        self.log_likelihoods: list[float] = []

    @property
    def n_numbers(self) -> float:
        """How many numbers a sweep passes over, or others that take as long.

        These are a share of every class in every cell, the tables of all classes, and cells of pairs for the forest.
        """
        of_moves = self._sampler.n_of_moves if isinstance(self._sampler, ForestSampler) else 0.0
        of_tables = _OF_ENTRY * self._sampler.point.stack.size
        return self._n_cells * self._rank + of_tables + _OF_PAIR * of_moves

    def go_on(self, n_draws: int, context: Context) -> None:
        """Keep another number of draws from now on, and report the progress of another stage."""
        self._n_draws, self._context = n_draws, context

    def run(self, n_sweeps: int, burnt: int) -> Chain:
        """Sweep, and keep draws and the followed quantities of all sweeps after the first ``burnt`` ones."""
        n_kept, context = n_sweeps - burnt, self._context
        wanted = set((burnt + (np.arange(1, self._n_draws + 1) * n_kept) // self._n_draws - 1).tolist())
        draws: list[Parameters] = []
        followed, occupied, began = [], [], time.monotonic()
        for sweep in range(n_sweeps):
            counts = self._sampler.sweep()
            self.log_likelihoods.append(counts.log_likelihood)
            if sweep >= burnt:
                followed.append([counts.log_likelihood, *self._probes.log_prob(self._sampler.point)])
                occupied.append(np.count_nonzero(counts.classes >= 1.0))
            # The pace may fall below what was measured.
            late = sweep >= max(burnt + FEWEST, FEWEST_IN_TIME) and context.seconds_left < 0
            if sweep in wanted or (late and not draws):
                draws.append(self._sampler.point)
            if late:
                break
            n_left = n_sweeps * (self._n_chains - self._number + context.n_later) - sweep - 1
            context.tell(
                self._rank,
                self._number + 1,
                self._n_chains,
                sweep + 1,
                n_sweeps,
                log_likelihood=counts.log_likelihood / self._n_rows,
                seconds_left=min((time.monotonic() - began) / (sweep + 1) * n_left, context.seconds_left),
            )
        return Chain(draws, np.array(followed), np.array(occupied))
