"""Numbers that are not ours, with where they are from, and what issue 4 sets as goals."""

from __future__ import annotations

from juror.paper.printed import TABLES

# Mean test log-likelihood in nats a row, as data/README.md of the project's shared folder gives them: LearnSPN (Gens
# and Domingos 2013) and Prometheus (Jaini et al. 2018) from the literature, and an EM mixture of products measured
# there, untuned, of at most 400 classes.
DEBD: dict[str, dict[str, float]] = {
    "LearnSPN": {"nltcs": -6.11, "msnbc": -6.11, "kdd": -2.18, "plants": -12.97, "baudio": -40.50, "dna": -82.52},
    "Prometheus": {"nltcs": -6.01, "msnbc": -6.04, "kdd": -2.12, "plants": -12.81, "baudio": -39.80, "dna": -84.45},
    "plain EM mixture": {
        "nltcs": -6.01, "msnbc": -6.04, "kdd": -2.13, "plants": -13.05, "baudio": -39.80, "dna": -96.46,
    },
}  # fmt: skip

# Issue 4, "Must show"
GOAL_RATIO = {"juror": 1.05, "juror-auto": 1.10}
GOAL_GAP = 1e-4
GOAL_COVERAGE = (0.85, 0.95)
GOAL_LABELS = {"car": 97.0, "mushroom": 99.8}
GOAL_DEBD = {"nltcs": -6.00, "msnbc": -6.04, "kdd": -2.12, "plants": -12.50, "baudio": -39.25}


def least_printed(table: int, column: int | str) -> float | None:
    """Return the smallest error that the paper prints in a column; None where it has no such column.

    >>> least_printed(2, 100), least_printed(2, 7)
    (0.158, None)
    """
    return min(_column(table, column), default=None)


def most_printed(table: int, column: int | str) -> float | None:
    """Return the largest accuracy that the paper prints in a column, whoever reached it.

    >>> most_printed(7, "car")
    88.38
    """
    return max(_column(table, column), default=None)


def _column(table: int, column: int | str) -> list[float]:
    printed = TABLES[table]
    return [value for row in printed.rows if (value := printed.at(row, column)) is not None]
