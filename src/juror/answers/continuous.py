"""Binned variables in their original units: densities and cumulative probabilities of numbers.

A model over intervals gives the probability of each interval; here the density is taken to be uniform within each. So
with λ, A and the widths w_n of the intervals that a row falls in

    density(x) = Σ_f λ_f Π_n A_n[x_n, f] / Π_n w_n                        n over the binned variables, for the widths
    cdf(x)     = Σ_f λ_f Π_n (Σ_{i < x_n} A_n[i, f] + s_n A_n[x_n, f])

where s_n is the share of the interval at or below the number; it is one for labels. In a forest, the parts of a label
that count are weights on the labels of a row, and messages (:mod:`juror.answers.messages`) sum them along the forest.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from juror.answers.block import NO_PARENT, Block, Mixture
from juror.answers.scores import log_prob
from juror.domain import Domain
from juror.domain.variable import Unknown, Variable
from juror.errors import DataError, DataWarning, QueryError
from juror.kernels.logarithms import log_of
from juror.readers import Column
from juror.readers.columns import MISSING, as_text
from juror.readers.exact_numbers import as_float, as_number
from juror.runners.local import partitions

# Class masses of a block of rows, with two temporary arrays of the same size: 16 MB each.
_MASSES_AT_ONCE = 1 << 21


def density(model: Mixture, columns: Sequence[Column], unknown: Unknown) -> np.ndarray:
    """Return the density of every row of opened columns, (n_rows,); see :meth:`juror.JointPMF.density`."""
    domain = model.domain
    codes = domain.encode_columns(columns, unknown)
    log_volumes = np.zeros(len(codes))
    for column in columns:
        n = domain.position(column.name)
        if domain[n].edges is not None:
            codes[_beyond(domain[n], _numbers(domain, column), unknown, "density"), n] = MISSING
            log_volumes += np.append(_log_widths(domain[n]), 0.0)[codes[:, n]]
    logs = log_prob(model, codes)
    # Where the probability is zero the density is zero too, even in an interval of width zero.
    logs = np.subtract(logs, log_volumes, out=logs, where=logs > -np.inf)
    with np.errstate(over="ignore"):
        return np.exp(logs)


def cdf(model: Mixture, columns: Sequence[Column], unknown: Unknown) -> np.ndarray:
    """Return the cumulative probability of every row of columns, (n_rows,); see :meth:`juror.JointPMF.cdf`."""
    domain = model.domain
    numbers = [_numbers(domain, column) for column in columns]
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
        if domain[n].edges is not None:
            # At ±inf the cdf of an open-ended variable is known.
            unplaced = _beyond(domain[n], np.where(np.isinf(x), np.nan, x), unknown, "cdf")
            placed = ~np.isnan(x) & ~unplaced
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
            told = [messages.pop(child) for child in block.forest.children[n] if child in messages]
            if n in shares:
                told.append(_counted(codes[rows, n], shares[n][rows], block.sizes[n])[None])
            if not told:
                continue
            message = np.broadcast_to(reduce(np.multiply, told), (block.rank, len(codes[rows]), block.sizes[n]))
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


def _numbers(domain: Domain, column: Column) -> np.ndarray:
    """Return the numbers of a binned variable, (n_rows,); NaN for labels, codes, missing cells and other variables."""
    of_value = np.full(len(column.values) + 1, np.nan)
    # Unknown columns are refused later, when they are encoded.
    if column.name in domain and domain[column.name].edges is not None:
        if column.form == "number":
            of_value[:-1] = column.values
        elif column.form != "code":
            labels = {as_text(label) for label in domain[column.name].labels}
            found = [None if as_text(value) in labels else as_number(value) for value in column.values]
            of_value[:-1] = [np.nan if number is None else as_float(number) for number in found]
    return of_value[column.index]


def _beyond(variable: Variable, numbers: np.ndarray, unknown: Unknown, answer: str) -> np.ndarray:
    """Return which numbers, (n_rows,), NaN for none, lie beyond the outer edges of an open-ended variable.

    As ``unknown`` says, refuse them, or treat them as missing with or without a warning. ``answer`` is the name of the
    unknown quantity in messages.
    """
    assert variable.edges is not None
    low, high = variable.edges[0], variable.edges[-1]
    beyond = ((numbers < low) | (numbers > high)) & variable.open_ended
    if not np.any(beyond) or unknown == "missing":
        return beyond
    row = int(np.argmax(beyond))
    if unknown == "error":
        raise DataError(
            "Column {column!r} holds {number!r} in row {row}, beyond its outer edges {low} to {high}, where its "
            '{answer} is not known. Pass {unknown:="missing"} to treat it as missing, or fit with wider edges, '
            "Domain.infer(data, edges={{{column!r}: [...]}}).",
            column=variable.name,
            number=float(numbers[row]),
            row=row,
            low=low,
            high=high,
            answer=answer,
        )
    warnings.warn(
        f"Column {variable.name!r} holds numbers beyond its outer edges {low} to {high} in {np.count_nonzero(beyond)} "
        f"rows, the first in row {row}; they are treated as missing.",
        DataWarning,
        stacklevel=2,
    )
    return beyond


def _halves(variable: Variable) -> np.ndarray:
    """Return half of every edge: the difference of two finite edges may overflow, half of it does not."""
    return np.asarray(variable.edges, dtype=np.float64) / 2


def _log_widths(variable: Variable) -> np.ndarray:
    """Return the logarithms of the widths of a binned variable's intervals, (I,), −inf for a single point."""
    return log_of(np.diff(_halves(variable))) + np.log(2.0)


def _place(variable: Variable, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of every number, and the share of that interval at or below the number.

    The share is 0 of the first interval below the first edge, and 1 of the last interval above the last edge.
    """
    edges, halves = np.asarray(variable.edges, dtype=np.float64), _halves(variable)
    codes = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)
    inside = np.clip(numbers, edges[0], edges[-1])
    low, width = halves[codes], np.diff(halves)[codes]
    # An interval of width zero is a point: its share is one from this number on.
    point = (numbers >= edges[codes]).astype(np.float64)
    return codes, np.divide(inside / 2 - low, width, out=point, where=width > 0)
