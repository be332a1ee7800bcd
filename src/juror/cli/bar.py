"""Progress on stderr: a bar for a fit, a spinner while rows are read. Shown only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from juror.progress import Progress, ProgressCallback


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Show a spinner while something of unknown length is read."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"reading {what}"):
        yield


@contextmanager
def progress_bar(first: str = "fitting") -> Iterator[ProgressCallback | None]:
    """Yield a progress callback that draws a bar, or None if stderr is not a terminal.

    Parameters
    ----------
    first : str
        What to show until the first call.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[detail]}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        # A bar without a total moves to and fro.
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
