"""Look at a finished run and say what is odd about it."""

from __future__ import annotations

import numpy as np

from juror.solvers.em import Run

# Two classes nearer than this in every factor, root mean square over the stack, are one class twice.
_SAME_CLASS = 1e-4


def diagnose(run: Run, n_rows: int) -> tuple[str, ...]:
    """Return a sentence for classes that hold next to nothing, and one for classes that are copies.

    Parameters
    ----------
    run : Run
        The finished ascent.
    n_rows : int
        How many rows were fitted.
    """
    parameters = run.point.parameters
    rank = parameters.rank
    empty = parameters.lam * n_rows < 0.5
    complaints = []
    if np.any(empty) and rank > 1:
        complaints.append(
            f"{int(empty.sum())} of {rank} classes hold less than half a row each: the data do not carry rank {rank}. "
            f"Lower rank to {int((~empty).sum())} or less."
        )
    copies = _copies(parameters.stack[:, ~empty])
    if copies:
        complaints.append(
            f"{copies} of {rank} classes are copies of others: the data do not carry rank {rank}. "
            f"Lower rank to {rank - copies} or less."
        )
    if run.reason.startswith("reached"):
        complaints.append(
            f"The fit {run.reason} passes before it converged; the last step still gained "
            f"{run.trace[-1] - run.trace[-2]:.3g} nats in all. Raise max_iter or tol."
        )
    return tuple(complaints)


def _copies(stack: np.ndarray) -> int:
    """Count the columns that are within rounding of an earlier one."""
    norms = np.einsum("sf,sf->f", stack, stack)
    distances = (norms[:, None] + norms[None, :] - 2 * stack.T @ stack) / len(stack)
    return int(np.any(np.triu(distances < _SAME_CLASS**2, k=1), axis=0).sum())
