"""Choose rank and smoothing where there are counts of pairs and no rows: a part of the counts is held out.

Every row behind a cell is held out with chance one fifth, each pair by itself (binomial thinning), and the composite
likelihood of what is held out scores fits to the rest. Within a pair the two parts are independent, as rows would be.
Across pairs they are not: a row that is held out of one pair may be kept in another. So scores are a little too good,
for all settings alike as far as one-way distributions go; they compare settings, and are not shown as what the model
would do on new rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from juror.counts.counts import PairCounts
from juror.record import RankScore

SMOOTHINGS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
HELD_SHARE = 0.2
# Where the walk begins: the place in the list of smoothings, and the rank if it is open
_FIRST, FIRST_RANK = 3, 8
# A step must gain this much, in nats per row.
LEAST_GAIN = 1e-3

# Fits a rank and a smoothing; returns the score on what is held out, and how many classes hold half a row
Score = Callable[[int, float], tuple[float, int]]


def thinned(counts: PairCounts, rng: np.random.Generator) -> tuple[PairCounts, PairCounts]:
    """Split counts into those that are kept and those held out; counts with fractions are rounded at random."""
    kept, held = [], []
    for table in counts.tables:
        whole = np.floor(table + rng.random(table.shape))
        out = rng.binomial(whole.astype(np.int64), HELD_SHARE).astype(float)
        kept.append(whole - out)
        held.append(out)
    return tuple(PairCounts(counts.domain, counts.groups, tuple(part)) for part in (kept, held))  # type: ignore[return-value]


@dataclass
class Walk:
    """A walk over ranks 1, 2, 4, … and smoothings, to the neighbour with the best score while that gains.

    Of ranks that score about as high the smallest is taken. A rank or smoothing that is given stays as it is. All
    scores are remembered.
    """

    score: Score
    rank: int | None
    smoothing: float | None
    most_rank: int
    tried: dict[tuple[int, float], tuple[float, int]] = field(default_factory=dict)

    def run(self) -> tuple[int, float]:
        """Return the rank and the smoothing to take."""
        at = (min(FIRST_RANK, self.most_rank) if self.rank is None else self.rank, _FIRST)
        here = self._at(*at)
        while True:
            best = max(self._neighbours(*at), key=lambda place: self._at(*place), default=at)
            if self._at(*best) <= here + LEAST_GAIN:
                return self._fewest(*at), self._smoothing(at[1])
            at, here = best, self._at(*best)

    def _fewest(self, rank: int, place: int) -> int:
        """Halve a rank that is open while the score stays within the least gain of where the walk ended."""
        top = self._at(rank, place)
        while self.rank is None and rank > 1 and self._at(rank // 2, place) >= top - LEAST_GAIN:
            rank //= 2
        return rank

    def _smoothing(self, place: int) -> float:
        return SMOOTHINGS[place] if self.smoothing is None else self.smoothing

    def _at(self, rank: int, place: int) -> float:
        setting = (rank, self._smoothing(place))
        if setting not in self.tried:
            self.tried[setting] = self.score(*setting)
        return self.tried[setting][0]

    def _neighbours(self, rank: int, place: int) -> list[tuple[int, int]]:
        ranks = [] if self.rank is not None else [r for r in (2 * rank, rank // 2) if 1 <= r <= self.most_rank]
        places = [] if self.smoothing is not None else [p for p in (place + 1, place - 1) if 0 <= p < len(SMOOTHINGS)]
        return [(r, place) for r in ranks] + [(rank, p) for p in places]

    def rank_path(self, smoothing: float) -> tuple[RankScore, ...]:
        """Return the ranks tried with this smoothing; none if the rank was given."""
        found = sorted((rank, *scored) for (rank, other), scored in self.tried.items() if other == smoothing)
        return () if self.rank is not None else tuple(RankScore(*each) for each in found)

    def smoothing_path(self, rank: int) -> tuple[tuple[float, float], ...]:
        """Return the smoothings tried with this rank and their scores; none if the smoothing was given."""
        found = sorted((other, scored[0]) for (tried, other), scored in self.tried.items() if tried == rank)
        return () if self.smoothing is not None else tuple(found)
