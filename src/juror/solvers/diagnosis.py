"""Look at a finished run and say what is odd about it."""

from __future__ import annotations

import numpy as np

from juror.domain import Domain
from juror.errors import shortlist
from juror.rows.stacking import Stacking
from juror.solvers.em import Run
from juror.solvers.parameters import Parameters

# Two classes nearer than this in every factor, root mean square over the stack, are one class twice.
_SAME_CLASS = 1e-4
# A variable seen in fewer rows of a class than this is not known there.
_HARDLY_SEEN = 0.5


def diagnose(run: Run, n_rows: float, domain: Domain) -> tuple[str, ...]:
    """Return a sentence for classes that hold next to nothing, for copies, and for what the data do not tell.

    Parameters
    ----------
    run : Run
        The finished ascent.
    n_rows : float
        How many rows were fitted.
    domain : Domain
        Their variables.
    """
    parameters = run.point.parameters
    rank = parameters.rank
    empty = empty_classes(parameters, n_rows)
    complaints = _unsupported(run, n_rows, empty, domain)
    if np.any(empty) and rank > 1:
        complaints.append(
            f"{int(empty.sum())} of {rank} classes hold less than half a row each: the data do not carry rank {rank}. "
            f"Lower rank to {max(1, int((~empty).sum()))} or less."
        )
    copies = _copies(parameters.stack[:, ~empty])
    if copies:
        complaints.append(
            f"{copies} of {rank} classes are copies of others: the data do not carry rank {rank}. "
            f"Lower rank to {rank - copies} or less."
        )
    gained = f"before it converged; the last step still gained {run.trace[-1] - run.trace[-2]:.3g} nats in all."
    if run.reason.startswith("reached"):
        complaints.append(f"The fit {run.reason} passes {gained} Raise max_iter or tol.")
    if run.reason.startswith("spent"):
        complaints.append(f"The fit {run.reason} {gained} Raise max_seconds or tol.")
    return tuple(complaints)


def empty_classes(parameters: Parameters, n_rows: float) -> np.ndarray:
    """Return which classes hold less than half a row, (F,)."""
    return parameters.lam * n_rows < 0.5


def _unsupported(run: Run, n_rows: float, empty: np.ndarray, domain: Domain) -> list[str]:
    """Return a sentence about variables that large classes never show, whose distribution there is a guess."""
    stacking = Stacking(domain.cardinalities)
    counts, lam = run.point.counts, run.point.parameters.lam
    cells = counts.cells * (n_rows / counts.classes.sum())
    alone = np.stack([cells[stacking.rows(n)].sum(axis=0) for n in range(len(domain))]) < _HARDLY_SEEN
    weight = (alone & ~empty) @ lam
    guessed = [variable.name for variable, guess in zip(domain, weight, strict=True) if guess > 0.1]
    if not guessed:
        return []
    return [
        f"The variables {shortlist(guessed)} are hardly ever seen in classes that hold more than a tenth of the rows: "
        "what the model says of them there rests on their overall distribution, not on rows. Mind this in imputation."
    ]


def _copies(stack: np.ndarray) -> int:
    """Count the columns that are within rounding of an earlier one."""
    norms = np.einsum("sf,sf->f", stack, stack)
    distances = (norms[:, None] + norms[None, :] - 2 * stack.T @ stack) / len(stack)
    return int(np.any(np.triu(distances < _SAME_CLASS**2, k=1), axis=0).sum())
