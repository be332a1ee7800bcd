"""Progress on stderr: a bar for a fit, a spinner while rows are read. Shown only on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from juror.cli.terminal import shows_progress
from juror.printing import one_line
from juror.progress import Progress, ProgressCallback


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Show a spinner while something of unknown length is read."""
    if not shows_progress():
        yield
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(escape(one_line(f"reading {what}"))):
        yield


@contextmanager
def progress_bar(first: str = "fitting") -> Iterator[ProgressCallback | None]:
    """Yield a progress callback that draws a bar, or None if stderr is not a terminal.

    Parameters
    ----------
    first : str
        What to show until the first call.
    """
    if not shows_progress():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    texts = (TextColumn(each, markup=False) for each in ("{task.description}", "{task.fields[detail]}"))
    columns = (next(texts), BarColumn(), next(texts), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        # A bar without a total moves to and fro.
        task = bar.add_task(one_line(first), total=None, detail="")

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
                description=one_line("" if step.stage == "fitting" else f"{step.stage}, ") + f"rank {step.rank}",
                total=1.0,
                completed=done / step.n_starts,
                detail=detail,
            )

        yield draw
