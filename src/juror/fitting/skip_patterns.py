"""Columns whose cells are missing because of other columns: questions that were asked of some people only.

Let R be the indicator that a cell of column n is missing, and X a cell of another column, with missing as one more
label. The dependence of R on X is the share of its entropy that X explains,

    U = (I(R; X) − (k − 1) / 2m) / H(R)                 k labels of X that occur, m rows,

whose second term is what chance adds to the mutual information on average. A column has a *skip pattern* if another
column explains its missing cells beyond chance: U is at least one half, or some labels of the other column *imply* that
the cell is missing, and the rows with these labels have a fifth of all missing cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from juror.domain import Domain
from juror.domain.variable import Label
from juror.errors import DataWarning, Message, Option, warn, wrong
from juror.kernels.logarithms import log_of
from juror.kernels.random_streams import Stream
from juror.printing import numbered
from juror.rows.in_memory import MemoryTable
from juror.rows.reading import OpenTable, read_rows
from juror.rows.stacking import Stacking
from juror.rows.table import Table

# The label that missing_as="auto" and "all" give to missing cells
AUTO_LABEL = "missing"
# The least share of the entropy that another column must explain. A filter question that half of the people pass
# explains 0.76 if one in ten of these gives no answer. Groups that are merely less willing to answer, 70 against 10 per
# cent without an answer, explain at most 0.31: summing out is made for them.
_STRONG = 0.5
# A label implies that a cell is missing if this share of its cells is. The labels that do must hold the second share of
# all missing cells, and of other cells no more than the third share may be missing.
_IMPLIED, _LEAST_HELD, _MOST_ELSEWHERE = 0.98, 0.2, 0.75
# Cells that are hardly ever missing change no answer.
_LEAST_MISSING = 0.01
# How far beyond chance, in standard deviations: at most one of a million independent columns or labels is. And how many
# standard errors U must be above its bound, which matters in tables of few rows
_DEVIATIONS, _ERRORS = 5.0, 3.0
# Rows to look at: at most this many, and fewer in wide tables, where this many cells and indicators are compared
_MOST_ROWS, _LEAST_ROWS, _MOST_COMPARED = 100_000, 1_000, 300_000_000
# Columns to name in a warning
_NAMED = 6


@dataclass(frozen=True)
class SkipPattern:
    """A column whose cells are missing or not depending on another column, and the share of entropy explained."""

    name: str
    by: str
    share: float


def skip_patterns(table: MemoryTable, seed: int) -> list[SkipPattern]:
    """Return the columns with a skip pattern, each with the column that explains it best.

    Columns that are themselves at most half as often missing are preferred: a year explains more to people than another
    question of the same part of the form.
    """
    codes, weights = _some_rows(table, seed)
    total = weights.sum()
    missing = np.array([weights[codes[:, n] < 0].sum() for n in range(codes.shape[1])]) / total
    holed = np.flatnonzero((missing >= _LEAST_MISSING) & (missing < 1.0))
    if not len(holed):
        return []
    shares, implied = _explained(codes, weights, holed)
    found = []
    for j, n in enumerate(holed):
        strong = np.flatnonzero((shares[:, j] >= _STRONG) | implied[:, j])
        better = strong[missing[strong] <= missing[n] / 2]
        among = better if len(better) else strong
        if len(among):
            best = among[np.argmax(shares[among, j])]
            found.append(SkipPattern(table.domain[int(n)].name, table.domain[int(best)].name, float(shares[best, j])))
    return found


def _some_rows(table: MemoryTable, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows to look at, (m, N), and their weights, which sum to the number of rows behind them.

    These are all distinct rows, or, if there are too many, rows drawn in proportion to their weights.
    """
    codes, weights = table.rows.codes, table.rows.weights
    n_holed = int(np.count_nonzero([np.any(column < 0) for column in codes.T]))
    compared = max(1, codes.shape[1] * n_holed)
    most = int(np.clip(_MOST_COMPARED // compared, _LEAST_ROWS, _MOST_ROWS))
    if not n_holed or len(codes) <= most:
        return codes, weights * (table.n_rows / table.total)
    drawn = Stream.SKIPS.generator(seed).multinomial(most, weights / weights.sum())
    some = np.flatnonzero(drawn)
    return codes[some], drawn[some].astype(np.float64)


def _explained(codes: np.ndarray, weights: np.ndarray, holed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return U of every indicator given every column, (N, n_holed), and whether labels of the column imply it.

    U is lower by some standard errors, and zero where it is not beyond chance.
    """
    total = weights.sum()
    R = weights[:, None] * (codes[:, holed] < 0)
    overall = R.sum(axis=0) / total
    H = _entropy(overall)
    shares = np.zeros((codes.shape[1], len(holed)))
    implied = np.zeros(shares.shape, dtype=bool)
    for m, column in enumerate(codes.T):
        order = np.argsort(column, kind="stable")
        starts = np.flatnonzero(np.diff(column[order], prepend=column[order[0]] - 1))
        of_label = np.add.reduceat(weights[order], starts)
        p = np.add.reduceat(R[order], starts, axis=0) / of_label[:, None]
        left, degrees = (of_label / total) @ _entropy(p), len(starts) - 1
        # The entropy that is left is a mean of −log p(r | x) over rows.
        error = np.sqrt(np.maximum((of_label / total) @ _entropy(p, power=2) - left**2, 0.0) / total)
        is_beyond = 2.0 * total * (H - left) > _largest_by_chance(degrees)
        shares[m] = np.where(is_beyond, (H - left - degrees / (2.0 * total) - _ERRORS * error) / H, 0.0)
        implied[m] = _are_implied(p, of_label, overall)
    own = holed, np.arange(len(holed))
    shares[own], implied[own] = 0.0, False
    return shares, implied


def _are_implied(p: np.ndarray, of_label: np.ndarray, overall: np.ndarray) -> np.ndarray:
    """Return whether labels of a column imply that cells are missing, (n_holed,).

    Parameters
    ----------
    p : numpy.ndarray, (n_labels, n_holed)
        The share of missing cells among the rows of every label.
    of_label : numpy.ndarray, (n_labels,)
        How many rows have the label.
    overall : numpy.ndarray, (n_holed,)
        The share of missing cells among all rows.
    """
    # Twice the log-likelihood ratio of p and the overall share, for labels that have more missing cells than others
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = p * np.log(p / overall) + np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - overall)), 0.0)
    implies = (p >= _IMPLIED) & (2.0 * of_label[:, None] * ratio > _DEVIATIONS**2)
    held = np.where(implies, of_label[:, None], 0.0)
    missing, rows, total = (held * p).sum(axis=0), held.sum(axis=0), of_label.sum()
    elsewhere = (overall * total - missing) / np.maximum(total - rows, 1.0)
    return (missing >= _LEAST_HELD * overall * total) & (elsewhere <= _MOST_ELSEWHERE)


def _entropy(p: np.ndarray, power: int = 1) -> np.ndarray:
    """Return the mean of (−log p)^power over an event of probability p and its opposite; the entropy for power one."""
    return sum(r * (-log_of(np.where(r > 0, r, 1.0))) ** power for r in (p, 1.0 - p))


def _largest_by_chance(degrees: int) -> float:
    """Return a bound of the chi-squared distribution (Wilson and Hilferty) that chance hardly exceeds."""
    if degrees == 0:
        return np.inf
    spread = 2.0 / (9.0 * degrees)
    return degrees * (1.0 - spread + _DEVIATIONS * np.sqrt(spread)) ** 3


def about_skips(found: Sequence[SkipPattern]) -> Message:
    """Say which columns have a skip pattern, what happens to their missing cells, and what else could."""
    named = [f"{pattern.name!r} (on {pattern.by!r})" for pattern in found[:_NAMED]]
    more = [numbered(len(found) - _NAMED, "more column")] if len(found) > _NAMED else []
    words = [*named, *more]
    listed = words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
    return Message(
        "Whether a cell is missing depends strongly on another column for {listed}, as if only some rows were asked. "
        "Missing cells are summed out, as if they had an answer that is not known. Pass {as_label} to make missing a "
        "label of these columns, or {summed_out} to keep this without a warning.",
        listed=listed,
        as_label=Option("missing_as", ("auto",), "='auto'"),
        summed_out=Option("missing_as", ("none",), "={}"),
    )


def warn_of_skips(table: Table, seed: int) -> tuple[str, ...]:
    """Warn of columns whose cells are missing because of other columns, and return the warnings."""
    found = skip_patterns(table.sample(seed), seed)
    if not found:
        return ()
    message = about_skips(found)
    warn(DataWarning(message))
    return (str(message),)


def check_missing_as(missing_as: Any) -> None:
    """Refuse what is neither None, "auto", "all" nor a mapping of columns to labels."""
    is_choice = isinstance(missing_as, str) and missing_as in _CHOICES
    if not (missing_as is None or is_choice or isinstance(missing_as, Mapping)):
        raise wrong("missing_as", "None, 'auto', 'all' or a dict of columns, like {'column': 'not asked'}", missing_as)


def with_missing_as(
    opened: OpenTable, missing_as: Mapping[str, Label] | str | None, memory: int, seed: int, target: str | None
) -> OpenTable:
    """Return an open table whose domain has labels for missing cells, as ``missing_as`` of :func:`juror.fit` says.

    For ``"auto"`` and ``"all"`` the rows are read once more, to find the columns; a target is none of them.
    """
    if not missing_as:
        return opened
    domain = opened.found_domain()
    if isinstance(missing_as, str):
        with read_rows(replace(opened, domain=domain), memory) as table:
            names = _CHOICES[missing_as](table, seed)
        missing_as = {name: AUTO_LABEL for name in names if name != target}
    return replace(opened, domain=domain.with_missing_as(missing_as))


def _with_skip_pattern(table: Table, seed: int) -> list[str]:
    return [pattern.name for pattern in skip_patterns(table.sample(seed), seed)]


def _with_missing_cells(table: Table, seed: int) -> list[str]:
    """Return the columns with missing cells in rows that count. All rows are counted, so the seed is not used."""
    weights = table.label_counts[Stacking(table.domain.cardinalities).missing_rows, 0]
    return [name for name, weight in zip(table.domain.names, weights, strict=True) if weight > 0]


# What missing_as= may be instead of a mapping, and the columns that it labels
_CHOICES: dict[str, Callable[[Table, int], list[str]]] = {"auto": _with_skip_pattern, "all": _with_missing_cells}


def labels_in_words(domain: Domain) -> str:
    """Say which variables have a label for missing cells: "migration, smokes as 'missing'"; empty if none has."""
    by_label: dict[Label, list[str]] = {}
    for name, label in domain.missing_labels.items():
        by_label.setdefault(label, []).append(name)
    return "; ".join(f"{', '.join(names)} as {label!r}" for label, names in by_label.items())
