"""Which variables are counted together: all pairs, and all triples or some of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, TypeGuard

import numpy as np

from juror.counts.plans import Positions
from juror.domain import Domain
from juror.errors import DataError, Message, ParameterError, QueryError, check_count, did_you_mean, shortlist
from juror.kernels.random_streams import Stream

# All triples of variables, a number of random ones, or a list of three names each
Triples = str | int | Sequence[Sequence[str]]


def pairs_of(n_variables: int) -> list[Positions]:
    """Return the positions of the variables of every pair."""
    return list(combinations(range(n_variables), 2))


def pairs_and_singles(n_variables: int) -> list[Positions]:
    """Return the positions of the variables of every pair, then every variable alone."""
    return [*pairs_of(n_variables), *((n,) for n in range(n_variables))]


def choose_triples(names: Sequence[str], triples: Triples, seed: int) -> list[Positions]:
    """Return the positions of the variables of every triple asked for, among the names of all."""
    n_variables = len(names)
    if n_variables < 3:
        raise DataError("Triples need at least 3 variables. There are {n}; use {method:='em'} or 'spa'.", n=n_variables)
    if triples == "all":
        return list(combinations(range(n_variables), 3))
    if isinstance(triples, (int, np.integer)) and not isinstance(triples, bool):
        return _random_triples(n_variables, int(triples), seed)
    if not _is_list(triples) or not all(map(_is_list, triples)):
        raise ParameterError(
            "{triples} must be 'all', a number, or a list of three names each. Got {got!r}.", got=triples
        )
    chosen = [tuple(sorted(_position(names, name) for name in triple)) for triple in triples]
    for named, group in zip(triples, chosen, strict=True):
        if len(set(group)) != 3:
            raise ParameterError(f"A triple names three different variables. Got {shortlist(named)}.")
    if len(set(chosen)) < len(chosen):
        raise ParameterError("A triple is named twice. Name each once.")
    return chosen


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _position(names: Sequence[str], name: str) -> int:
    if name not in names:
        raise QueryError(f"There is no variable {name!r}. {did_you_mean(name, names)}")
    return list(names).index(name)


def _random_triples(n_variables: int, n: int, seed: int) -> list[Positions]:
    """Draw distinct triples: first so that every variable is in one, then any."""
    least, most = -(-n_variables // 3), math.comb(n_variables, 3)
    check_count("seed", seed, least=0)
    if not least <= n <= most:
        raise ParameterError(
            "{triples} must be in the range {range} for {n_variables} variables, so that every one is in a triple. Got "
            "{n} instead.",
            range=[least, most],
            n_variables=n_variables,
            n=n,
        )
    rng = Stream.TRIPLES.generator(seed, n_variables)
    order = rng.permutation(n_variables)
    padded = np.append(order, order[: 3 * least - n_variables])
    chosen = {tuple(sorted(int(v) for v in triple)) for triple in padded.reshape(-1, 3)}
    while len(chosen) < n:
        chosen.add(tuple(sorted(int(v) for v in rng.choice(n_variables, 3, replace=False))))
    return sorted(chosen)


def check_seen_together(domain: Domain, totals: np.ndarray) -> None:
    """Refuse pairs of variables that no row shows together; totals (n_pairs,) are in the order of pairs."""
    if len(domain) < 2:
        message = Message("A method that works on pairs needs at least 2 variables. There is 1; use {method:='em'}.")
        raise DataError(message)
    for (j, k), total in zip(combinations(range(len(domain)), 2), totals, strict=True):
        if not total > 0:
            raise DataError(
                "The variables {one!r} and {other!r} are never observed together, so their pair table is unknown. "
                "Leave one out, or use {method:='em'}, which needs no pair tables.",
                one=domain[j].name,
                other=domain[k].name,
            )
