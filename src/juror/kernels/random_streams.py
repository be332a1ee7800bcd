"""The random streams: every use of random numbers, by name.

A generator is made from a key, such as the seed, the rank and the number of a start, and the number of its stream.
Streams with the same number differ in the length of their key, or in the place of the number in it. A stream without a
number or with 0 may share its numbers with another, because NumPy ignores zeros at the end of a key. Give a new stream
a number of its own. Changing a number changes results for the same seed.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

# Places of a stream's number among those of the key.
_FIRST, _SECOND = 0, 1


class Stream(Enum):
    """The number of a stream, what it is for, and the number's place in the key, the last by default.

    Streams without a number are told apart by their keys alone.
    """

    HELD_OUT = None, "rows held out to choose rank and smoothing by"
    START = None, "a random start, by rank and number"
    GROWTH = None, "how classes are split, by rank and part"
    TRIPLES = None, "which triples of variables are counted, by the number of variables"
    DIRECTIONS = None, "directions of projections, by the numbers of labels"
    WINDOW = None, "classes of the rows of a window out of core, by the number of the window"
    MERGING = 0, "seeds of groups when classes are merged, by rank and number"
    SEARCH = 0, "the search for a start of EM, by rank"
    FRESH = 1, "rows for one step of a compression, by step and task", _SECOND
    CHAIN = 2, "a chain of the Gibbs sampler, by rank and number"
    COMPARED = 2, "rows that compare two compressed models"
    PROBES = 3, "rows whose probabilities are followed along the chains, by rank"
    LOSS = 3, "rows that measure the loss of a compression"
    MEMBER = 4, "a member of an ensemble, by rank and number"
    ENSEMBLE = 5, "rows held out to choose the settings of an ensemble by"
    PACE = 6, "sweeps that measure the pace of a chain, by rank"
    SAMPLE_OF_ROWS = 7, "a sample of rows out of core, by the number of the first row"
    ARRIVALS = 11, "when rows arrive of which a report draws some, by the number of arrivals before", _SECOND
    REPORT = 13, "rows that the report judges a model by"
    ANSWERS = 0x6A75726F72, "rows that a model draws, and labels that it fills holes with"
    PAPER_TRUTH = 0, "a true model of the paper, by table and seed", _SECOND
    PAPER_ROWS = 1, "rows of a true model, by table and seed", _SECOND
    PAPER_HOLES = 2, "missing cells of these rows, by table and seed", _SECOND
    PAPER_SPLIT = 3, "training, validation and test rows of a data set", _FIRST
    PAPER_LIMIT = None, "draws of the Bayes limit, by the number of rows"
    PAPER_SAMPLES = None, "samples of a pair's table, by kind of density, seed and number"
    THINNED = 14, "pair counts held out to choose by, by the numbers of variables and of the split"
    FORESTS = 15, "the noise of forests, by the number of variables and the number of the forest"
    MEMBER_FOREST = 16, "the noise of the forest of a member of an ensemble, by its number"
    SKIPS = 19, "rows in which columns are looked for whose cells are missing because of others"
    LAWS = 20, "rows held out to choose the pieces of the law of a number by"
    MORE_ROWS = 22, "larger samples of rows to choose the settings of an ensemble on, by their size"
    TILT = 21, "rows held out for the tilt of a member, by its number, and with a 1 at the end its start and steps"
    TETHER = 23, "rows that a member draws to hold the mass of its tilt by, by its number"
    FORMULAS = 24, "rows that are drawn to try formulas and orders between columns"

    def generator(self, *key: int) -> np.random.Generator:
        """Return the generator of this stream for a key, which begins with the seed if nothing else is said above."""
        number, _, *place = self.value
        before = place[0] if place else len(key)
        own = [] if number is None else [number]
        return np.random.default_rng([int(part) for part in (*key[:before], *own, *key[before:])])
