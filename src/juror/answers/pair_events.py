"""Events of one variable that a person would ask about: each label, and the ranges of an ordered variable.

Every event is a run of neighbouring labels. So the table of all events of two variables follows from the cumulated sums
of the table of their labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juror.domain import Domain
from juror.domain.question_texts import run_condition


@dataclass(frozen=True)
class Event:
    """One event: the position of its variable, its labels low, …, high − 1, and its text, such as ``age >= 40``."""

    variable: int
    low: int
    high: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Events:
    """Events of all variables of a domain, ordered by variable.

    Attributes
    ----------
    domain : Domain
        The variables.
    variable : numpy.ndarray of int, (K,)
        The position of the variable of every event.
    low, high : numpy.ndarray of int, (K,)
        Its labels are low, …, high − 1.
    """

    domain: Domain
    variable: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def conditions(cls, domain: Domain) -> Events:
        """Return each label, and for ordered variables all ranges that begin at the first or end at the last label."""
        return cls._of(domain, lambda n, _: [(0, k) for k in range(2, n)] + [(k, n) for k in range(1, n - 1)])

    @classmethod
    def targets(cls, domain: Domain) -> Events:
        """Return each label, and for ordered variables the ranges to the last label that are no label's complement."""
        return cls._of(domain, lambda n, n_all: [(k, n) for k in range(2 if n == n_all else 1, n - 1)])

    @classmethod
    def _of(cls, domain: Domain, ranges_of: Callable[[int, int], list[tuple[int, int]]]) -> Events:
        found = []
        for n, variable in enumerate(domain):
            found += [(n, code, code + 1) for code in range(variable.cardinality)]
            if variable.is_ordered:
                # The label of missing cells, the last, is in no range.
                ranges = ranges_of(len(variable.present_labels), variable.cardinality)
                found += [(n, low, high) for low, high in ranges]
        columns = np.array(found, dtype=np.int32).T
        return cls(domain, *columns)

    def __len__(self) -> int:
        return len(self.variable)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the events of every variable begin, and where the last ones end, (N + 1,)."""
        return np.searchsorted(self.variable, np.arange(len(self.domain) + 1))

    @cached_property
    def is_label(self) -> np.ndarray:
        """Which events are a single label, (K,)."""
        return self.high - self.low == 1

    def of(self, n: int) -> slice:
        """Return the places of the events of one variable."""
        return slice(int(self.starts[n]), int(self.starts[n + 1]))

    def span(self, variables: range) -> slice:
        """Return the places of the events of consecutive variables."""
        return slice(int(self.starts[variables.start]), int(self.starts[variables.stop]))

    def runs(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the labels of the events of one variable: where their runs begin and end."""
        return self.low[self.of(n)], self.high[self.of(n)]

    def columns(self, variables: range, ends: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """Return the events of consecutive variables whose labels stand side by side, and the number of their variable.

        Labels of the variables begin at ``ends``, (n_variables + 1,).
        """
        here = self.span(variables)
        owner = self.variable[here] - variables.start
        return (self.low[here] + ends[owner], self.high[here] + ends[owner]), owner

    @cached_property
    def _made(self) -> dict[int, Event]:
        """The events whose text was asked for: a check asks for each of them in thousands of questions."""
        return {}

    def __getitem__(self, place: int) -> Event:
        if place not in self._made:
            n, low, high = int(self.variable[place]), int(self.low[place]), int(self.high[place])
            self._made[place] = Event(n, low, high, run_condition(self.domain[n], low, high - 1))
        return self._made[place]
