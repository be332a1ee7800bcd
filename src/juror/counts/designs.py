"""How pairs of variables are projected: directions, bins, scores, and the operators that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from threading import Lock

import numpy as np

from juror.counts.radon import Axis, Radon, axis_of, draw_directions
from juror.domain import Domain
from juror.errors import Message, ParameterError, check_choice, check_count, shortlist

_OPERATORS = ("auto", "cells", "strips")

Directions = Mapping[tuple[int, int], np.ndarray]


@dataclass(frozen=True)
class Design:
    """How pairs are projected.

    Attributes
    ----------
    n_directions : int
        M, for every pair.
    seed : int
        The seed of the directions, which are drawn once for every shape of table.
    bins : int, optional
        Bins of a histogram; by default as many as the larger alphabet of the pair, or one more if that is even.
    operator : {"auto", "cells", "strips"}
        Whether a cell of the pair's table falls into one bin as a whole, or is spread over the bins that its rectangle
        overlaps. ``"auto"`` spreads pairs of binned variables.
    scores : mapping of str to sequence of float
        The positions of a variable's labels on the number line, to replace the default.
    """

    n_directions: int = 200
    seed: int = 0
    bins: int | None = None
    operator: str = "auto"
    scores: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_count("n_directions", self.n_directions)
        check_count("seed", self.seed, least=0)
        if self.bins is not None:
            check_count("bins", self.bins)
        if not isinstance(self.scores, Mapping):
            raise ParameterError(f"scores must be a mapping of names to numbers. Got {self.scores!r} instead.")
        # as after saving and loading, so that equal designs compare equal
        scores = {name: tuple(np.ravel(scores).tolist()) for name, scores in self.scores.items()}
        object.__setattr__(self, "scores", scores)
        check_choice("operator", self.operator, _OPERATORS)

    def directions(self, domain: Domain) -> dict[tuple[int, int], np.ndarray]:
        """Draw the directions (M, 2) of every shape of pair table in a domain."""
        return {shape: draw_directions(self.n_directions, shape, self.seed) for shape in shapes(domain)}

    def operators(self, domain: Domain, directions: Directions) -> list[Radon]:
        """Return the operator of every pair; pairs that look alike share one."""
        for name in self.scores:
            domain.position(name)
        axes = [axis_of(variable, self.scores.get(variable.name)) for variable in domain]
        operators, made = [], {}
        for j, k in combinations(range(len(domain)), 2):
            both_binned = domain[j].kind == "binned" and domain[k].kind == "binned"
            kind = self.operator if self.operator != "auto" else "strips" if both_binned else "cells"
            along = directions[domain[j].cardinality, domain[k].cardinality]
            key = (axes[j], axes[k], along.tobytes(), self.bins, kind)
            if key not in made:
                made[key] = _KEPT.operator(key)
            operators.append(made[key])
        return operators

    def same_bins(self, other: Design) -> bool:
        """Tell whether two designs cut the same directions into the same bins."""
        return (self.bins, self.operator, self.scores) == (other.bins, other.operator, other.scores)


def shapes(domain: Domain) -> list[tuple[int, int]]:
    """Return the different shapes of the pair tables of a domain."""
    return sorted({(domain[j].cardinality, domain[k].cardinality) for j, k in combinations(range(len(domain)), 2)})


_Key = tuple[Axis, Axis, bytes, int | None, str]


class _Kept:
    """A cache of the operators used last, shared by fits, as their decomposition takes long.

    Parameters
    ----------
    most : int
        The most numbers in all Gram matrices together; their decompositions take the same again.
    """

    def __init__(self, most: int):
        self._most = most
        self._lock = Lock()
        self._operators: dict[_Key, Radon] = {}

    def operator(self, key: _Key) -> Radon:
        """Return the operator for two axes, directions, bins and kind, from the cache if it is there."""
        with self._lock:
            R = self._operators.pop(key, None)
            if R is None:
                rows, columns, directions, bins, kind = key
                R = Radon(rows, columns, np.frombuffer(directions).reshape(-1, 2), bins, kind)
            self._operators[key] = R
            while len(self._operators) > 1 and sum(map(_size, self._operators.values())) > self._most:
                # dictionaries keep their order, so the first operator is the least recently used
                del self._operators[next(iter(self._operators))]
        return R

    def clear(self) -> None:
        """Forget all."""
        self._operators.clear()


def _size(R: Radon) -> int:
    return (R.shape[0] * R.shape[1]) ** 2


# 200 MB
_KEPT = _Kept(most=25_000_000)


def about_order(domain: Domain, has_rows: bool = True) -> tuple[Message, ...]:
    """Return a warning if some variables are nominal, as the numbering of their labels is arbitrary."""
    # two labels in reverse order are the same line in the other direction
    nominal = [variable.name for variable in domain if variable.kind == "nominal" and variable.cardinality > 2]
    if not nominal:
        return ()
    return (
        Message(
            "The labels of {nominal} have no order, so projections of them depend on how they happen to be numbered. "
            "Give them one with {Domain.infer.levels:=…}, or use {methods}.",
            nominal=shortlist(nominal),
            methods=Message("{method:='em'} or {method:='spa'}") if has_rows else Message("{method:='spa'}"),
        ),
    )
