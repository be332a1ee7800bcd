"""Look at a finished run of EM, and complain about what is odd."""

from __future__ import annotations

import numpy as np

from juror.domain import Domain
from juror.errors import Complaint, shortlist
from juror.rows.stacking import Stacking
from juror.solvers.ascent import Run
from juror.solvers.parameters import Parameters
from juror.solvers.stopping import Stop

# Two classes nearer than this in every factor, root mean square over the stack, are one class twice.
_SAME_CLASS = 1e-4
# A variable seen in fewer rows of a class than this is not known there.
_HARDLY_SEEN = 0.5


def diagnose(run: Run, n_rows: float, domain: Domain) -> tuple[Complaint, ...]:
    """Return complaints about empty classes, copies, variables that classes hardly show, and runs that were cut short.

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
    n_empty, copies = int(empty.sum()), _copies(parameters.stack[:, ~empty])
    if n_empty and rank > 1:
        complaints.append(
            Complaint(
                "empty-classes",
                "{n} of {F} classes hold less than half a row each: the data do not carry rank {F}. Lower {rank} to "
                "{most} or less.",
                n=n_empty,
                F=rank,
                most=max(1, rank - n_empty),
            )
        )
    if copies:
        complaints.append(
            Complaint(
                "copies",
                "{n} of {F} classes are copies of others: the data do not carry rank {F}. Lower {rank} to {most} or "
                "less.",
                n=copies,
                F=rank,
                most=rank - copies,
            )
        )
    if run.stopped.by in (Stop.MAX_ITER, Stop.MAX_SECONDS):
        complaints.append(_cut_short(run))
    return tuple(complaints)


def _cut_short(run: Run) -> Complaint:
    gain = run.trace[-1] - run.trace[-2]
    if run.stopped.by is Stop.MAX_SECONDS:
        return Complaint(
            "max-seconds",
            "The fit spent {max_seconds} before it converged; the last step still gained {gain:.3g} nats in all. Raise "
            "{max_seconds} or {tol}.",
            gain=gain,
        )
    return Complaint(
        "max-iter",
        "The fit reached {max_iter: = {limit}} passes before it converged; the last step still gained {gain:.3g} nats "
        "in all. Raise {max_iter} or {tol}.",
        limit=run.stopped.limit,
        gain=gain,
    )


def empty_classes(parameters: Parameters, n_rows: float) -> np.ndarray:
    """Return which classes hold less than half a row, (F,)."""
    return parameters.lam * n_rows < 0.5


def _unsupported(run: Run, n_rows: float, empty: np.ndarray, domain: Domain) -> list[Complaint]:
    """Return a complaint about variables that large classes never show: their distribution there is a guess."""
    stacking = Stacking(domain.cardinalities)
    counts, lam = run.point.counts, run.point.parameters.lam
    cells = counts.cells * (n_rows / counts.classes.sum())
    alone = np.stack([cells[stacking.rows(n)].sum(axis=0) for n in range(len(domain))]) < _HARDLY_SEEN
    weight = (alone & ~empty) @ lam
    guessed = [variable.name for variable, guess in zip(domain, weight, strict=True) if guess > 0.1]
    if not guessed:
        return []
    return [
        Complaint(
            "unsupported-variables",
            "The variables {names} are hardly ever seen in classes that hold more than a tenth of the rows: what the "
            "model says of them there rests on their overall distribution, not on rows. Mind this in imputation.",
            names=shortlist(guessed),
        )
    ]


def _copies(stack: np.ndarray) -> int:
    """Count the columns that are within rounding of an earlier one."""
    norms = np.einsum("sf,sf->f", stack, stack)
    distances = (norms[:, None] + norms[None, :] - 2 * stack.T @ stack) / len(stack)
    return int(np.any(np.triu(distances < _SAME_CLASS**2, k=1), axis=0).sum())
