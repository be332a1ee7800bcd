"""The random streams: every use of random numbers, by name, so that no two share their numbers by accident.

A generator is made from the seed, a key (such as the rank and the number of a start) and the number of its stream.
Changing a number changes results for the same seed.
"""

from __future__ import annotations

from enum import Enum

import numpy as np


class Stream(Enum):
    """The number of a stream, None for streams that differ by their keys alone, and what it is for."""

    HELD_OUT = None, "rows held out to choose rank and smoothing by"
    START = None, "a random start, by rank and number"
    GROWTH = None, "how classes are split, by rank and part"
    MERGING = 0, "seeds of groups when classes are merged, by rank and number"
    SEARCH = 0, "the search for a start of EM, by rank"
    CHAIN = 2, "a chain of the Gibbs sampler, by rank and number"
    COMPARED = 2, "rows that compare two compressed models"
    PROBES = 3, "rows whose probabilities are followed along the chains, by rank"
    LOSS = 3, "rows that measure the loss of a compression"
    MEMBER = 4, "a member of an ensemble, by rank and number"
    ENSEMBLE = 5, "rows held out to choose the settings of an ensemble by"
    PACE = 6, "sweeps that measure the pace of a chain, by rank"
    SAMPLE_OF_ROWS = 7, "a sample of rows out of core, by the number of the first row"
    REPORT = 13, "rows that the report judges a model by"

    def generator(self, seed: int, *key: int) -> np.random.Generator:
        """Return the generator of this stream for a seed and a key."""
        number = self.value[0]
        return np.random.default_rng([int(seed), *key, *([] if number is None else [number])])
