"""Look at a finished run of EM, and complain about what is odd."""

from __future__ import annotations

import numpy as np

from juror.domain import Domain
from juror.errors import Complaint, Message, Option, shortlist
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.solvers.ascent import Run
from juror.solvers.stopping import Stop

# Two classes nearer than this in every factor, root mean square over the stack, are one class twice.
_SAME_CLASS = 1e-4
# A variable seen in fewer rows of a class than this is not known there.
_HARDLY_SEEN = 0.5


def diagnose(run: Run, n_rows: float, domain: Domain) -> tuple[Complaint, ...]:
    """Return complaints about empty classes, copies, variables that classes hardly show, and runs that were cut short.

    The run has climbed from its start; ``n_rows`` rows were fitted.
    """
    parameters = run.point.parameters
    rank = parameters.rank
    empty = empty_classes(parameters, n_rows)
    complaints = _unsupported(run, n_rows, empty, domain)
    n_empty, n_copies = int(empty.sum()) if rank > 1 else 0, _copies(parameters.stack[:, ~empty])
    complaints += [
        Complaint(
            kind,
            "{n} of {F} classes {what}: the data do not carry rank {F}. Lower {rank} to {most} or less.",
            n=n,
            F=rank,
            what=what,
            most=max(1, rank - n),
        )
        for kind, what, n in (
            ("empty-classes", "hold less than half a row each", n_empty),
            ("copies", "are copies of others", n_copies),
        )
        if n
    ]
    if run.stopped.by in (Stop.MAX_ITER, Stop.MAX_SECONDS):
        complaints.append(_cut_short(run))
    return tuple(complaints)


def _cut_short(run: Run) -> Complaint:
    option, limit = Option("max_seconds"), Message("spent {max_seconds}")
    if run.stopped.by is Stop.MAX_ITER:
        option, limit = Option("max_iter"), Message("reached {max_iter: = {n}} passes", n=run.stopped.limit)
    return Complaint(
        run.stopped.by.name.lower().replace("_", "-"),
        "The fit {limit} before it converged; the last step still gained {gain:.3g} nats in all. Raise {option} or "
        "{tol}.",
        limit=limit,
        gain=run.trace[-1] - run.trace[-2],
        option=option,
    )


def empty_classes(parameters: Parameters, n_rows: float) -> np.ndarray:
    """Return which classes hold less than half a row, (F,)."""
    return parameters.lam * n_rows < 0.5


def _unsupported(run: Run, n_rows: float, empty: np.ndarray, domain: Domain) -> list[Complaint]:
    """Return a complaint about variables that large classes hardly show: their distribution there is a guess."""
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
