"""How far a command is: the progress bar of a fit, and a sign that rows are read, on stderr and only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from juror.progress import Progress, ProgressCallback


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Show that something is read, of which nobody knows how much is left."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"reading {what}"):
        yield


@contextmanager
def progress_bar(first: str = "fitting") -> Iterator[ProgressCallback | None]:
    """Give a callback that draws what a fit tells, or None where nobody is looking.

    Parameters
    ----------
    first : str
        What is done until the fit tells something.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[detail]}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        # a bar without end moves to and fro
        task = bar.add_task(first, total=None, detail="")

        def draw(step: Progress) -> None:
            done = step.start - 1 + step.iteration / step.max_iter
            what = ""
            if step.log_likelihood is not None:
                what = f"{step.log_likelihood:.4f} nats a row"
            elif step.objective is not None:
                what = f"misfit {step.objective:.4g}"
            detail = f"start {step.start}/{step.n_starts}, {what}"
            bar.update(
                task,
                description=f"rank {step.rank}" if step.stage == "fitting" else f"{step.stage}, rank {step.rank}",
                total=1.0,
                completed=done / step.n_starts,
                detail=detail,
            )

        yield draw
