"""Numbers in their own units: densities and cumulative probabilities of rows.

With the interval x_n of every number, the density h_n of its law and the law's mass H_n(x_n) in that interval
(:mod:`juror.domain.law`), and p the probability of the intervals and labels of a row,

    density(x) = p(x) Π_n h_n(x) / H_n(x_n)                                                    n over the numbers
    cdf(x)     = Σ_f λ_f Π_n (Σ_{i < x_n} A_n[i, f] + s_n A_n[x_n, f])

where s_n is the share of the interval's law at or below the number; it is one for labels. In a forest, the parts of a
label that count are weights on the labels of a row, and messages (:mod:`juror.answers.messages`) sum them along the
forest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from juror.answers.block import NO_PARENT, Block, Mixture
from juror.answers.scores import log_prob
from juror.domain import Domain
from juror.domain.variable import Unknown, Variable
from juror.errors import QueryError
from juror.readers import Column
from juror.readers.columns import MISSING, as_text
from juror.readers.exact_numbers import n_at_most
from juror.runners.local import partitions

# Class masses of a block of rows, with two temporary arrays of the same size: 16 MB each.
_MASSES_AT_ONCE = 1 << 21


def log_density(model: Mixture, columns: Sequence[Column], unknown: Unknown) -> np.ndarray:
    """Return the log-density of every row of opened columns, (n_rows,); see :meth:`juror.JointPMF.log_density`."""
    domain = model.domain
    codes = domain.encode_columns(columns, unknown)
    inner = np.zeros(len(codes))
    for column in columns:
        n = domain.position(column.name)
        if domain[n].edges is not None:
            at = _positions(domain, column)
            given = np.flatnonzero(~np.isnan(at) & (codes[:, n] >= 0))
            # rounded decimals may lie in the next interval
            codes[given, n] = domain[n].inside.intervals_of(at[given])
            inner[given] += domain[n].inside.log_shares(codes[given, n].astype(np.int64), at[given])
    logs = log_prob(model, codes)
    return np.add(logs, inner, out=logs, where=logs > -np.inf)


def cdf(model: Mixture, columns: Sequence[Column], unknown: Unknown) -> np.ndarray:
    """Return the cumulative probability of every row of columns, (n_rows,); see :meth:`juror.JointPMF.cdf`."""
    domain = model.domain
    numbers = [_positions(domain, column) for column in columns]
    # Only labels are encoded: numbers outside all intervals have a cdf too.
    labels = [replace(c, index=np.where(np.isnan(x), c.index, MISSING)) for c, x in zip(columns, numbers, strict=True)]
    codes = domain.encode_columns(labels, unknown)
    shares = {}
    for column, x in zip(labels, numbers, strict=True):
        n = domain.position(column.name)
        # A label for missing cells has no place in the order, so a missing cell sets no limit.
        codes[column.index == MISSING, n] = MISSING
        _check_order(domain[n], codes[:, n])
        shares[n] = np.ones(len(x))
        placed = ~np.isnan(x)
        codes[placed, n], shares[n][placed] = _place(domain[n], x[placed])
    return _cumulative(model, codes, shares)


def _cumulative(model: Mixture, codes: np.ndarray, shares: dict[int, np.ndarray]) -> np.ndarray:
    """Return P(X ≤ limits) for every row of limits, (n_rows,).

    Codes (n_rows, N) are the upper limits of each row, −1 for none. Shares (n_rows,), by variable, are those of the
    limit's own label that count; variables not listed have no limit.
    """
    parts = [(_below_in_forest if block.has_edges else _below)(block, codes, shares) for block in model.blocks]
    # Rounded sums must not exceed one.
    return np.minimum(reduce(np.add, parts), 1.0)


def _below(block: Block, codes: np.ndarray, shares: dict[int, np.ndarray]) -> np.ndarray:
    """Return Σ_f λ_f Π_n (C_n[code, f] + share A_n[code, f]) for every row, with the sums C_n over the labels below."""
    nothing, everything = np.zeros((1, block.rank)), np.ones((1, block.rank))
    factors = block.factors
    # The code −1 selects the last row: no limit, so all labels count.
    ends = {n: np.concatenate([factors[n], nothing]) for n in shares}
    below = {n: np.concatenate([nothing, np.cumsum(factors[n][:-1], axis=0), everything]) for n in shares}
    total = np.empty(len(codes))
    for rows in partitions(len(codes), max(1, _MASSES_AT_ONCE // block.rank)):
        masses = np.broadcast_to(block.weights, (len(codes[rows]), block.rank))
        for n, share in shares.items():
            code = codes[rows, n]
            masses = masses * (below[n][code] + share[rows, None] * ends[n][code])
        total[rows] = masses.sum(axis=1)
    return total


def _below_in_forest(block: Block, codes: np.ndarray, shares: dict[int, np.ndarray]) -> np.ndarray:
    """Return the same in a forest, by messages from limited variables to the roots for many rows at once."""
    # Classes first, so that a message is one matrix product per class.
    tables = {n: np.ascontiguousarray(np.moveaxis(table, 2, 0).swapaxes(1, 2)) for n, table in enumerate(block.tables)}
    total = np.empty(len(codes))
    size = max(1, _MASSES_AT_ONCE // (block.rank * max(block.sizes)))
    for rows in partitions(len(codes), size):
        masses = np.repeat(block.weights[:, None], len(codes[rows]), axis=1)
        messages: dict[int, np.ndarray] = {}
        for n in reversed(block.forest.order):
            factors = [messages.pop(child) for child in block.forest.children[n] if child in messages]
            if n in shares:
                factors.append(_counted(codes[rows, n], shares[n][rows], block.sizes[n])[None])
            if not factors:
                continue
            message = np.broadcast_to(reduce(np.multiply, factors), (block.rank, len(codes[rows]), block.sizes[n]))
            message = message @ tables[n]
            if block.forest.parents[n] == NO_PARENT:
                masses = masses * message[..., 0]
            else:
                messages[n] = message
        total[rows] = masses.sum(axis=0)
    return total


def _counted(codes: np.ndarray, shares: np.ndarray, size: int) -> np.ndarray:
    """Return how much of every label counts: all below the limit, a share of its own, none above; all without limit."""
    labels, limits = np.arange(size), codes[:, None]
    counted = (labels < limits) + shares[:, None] * (labels == limits)
    return np.where(limits < 0, 1.0, counted)


def _check_order(variable: Variable, codes: np.ndarray) -> None:
    """Refuse a nominal variable that is observed in some row."""
    if not variable.is_ordered and np.any(codes != MISSING):
        raise QueryError(
            f"Variable {variable.name!r} is nominal, so its labels have no order to add up in. Leave its column out, "
            "or declare their order with Domain.infer(data, levels={...})."
        )


def _positions(domain: Domain, column: Column) -> np.ndarray:
    """Return the positions of a column's numbers in their law, (n_rows,); NaN for all cells that are no numbers.

    Of labels that are rising numbers, the position is how many of them are at most the number.
    """
    of_value = np.full(len(column.values) + 1, np.nan)
    if column.name not in domain:
        # refused later, when columns are encoded
        return of_value[column.index]
    variable = domain[column.name]
    if column.form == "number" and _are_steps(variable):
        of_value[:-1] = n_at_most(variable.present_labels, np.asarray(column.values))  # type: ignore[arg-type]
    elif variable.edges is not None:
        grid = variable.inside.law.grid
        if column.form == "number":
            of_value[:-1] = grid.positions(variable.own_numbers(column))
        elif column.form != "code":
            labels = {as_text(label) for label in variable.labels}
            found = [None if as_text(value) in labels else variable.number(value) for value in column.values]
            some = [place for place, number in enumerate(found) if number is not None]
            of_value[some] = grid.positions(np.array([found[place] for place in some]))
    return of_value[column.index]


def _are_steps(variable: Variable) -> bool:
    """Tell whether labels are rising numbers, between which the distribution function is constant."""
    labels: Sequence[Any] = variable.present_labels
    are_numbers = variable.kind == "ordinal" and not any(isinstance(label, (str, bool)) for label in labels)
    return are_numbers and all(low < high for low, high in pairwise(labels))


def _place(variable: Variable, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval or label of every position, and its share at or below that position."""
    if variable.edges is None:
        return np.maximum(at - 1, 0), at > 0
    inside = variable.inside
    codes = inside.intervals_of(at)
    return codes, inside.shares_below(codes, inside.law.grid.ends_of(at))
