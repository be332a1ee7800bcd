"""The progress bar of a fit, on stderr and only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from juror.progress import Progress, ProgressCallback


@contextmanager
def progress_bar() -> Iterator[ProgressCallback | None]:
    """Give a callback that draws what a fit tells, or None where nobody is looking."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[detail]}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("fitting", total=1.0, detail="")

        def draw(step: Progress) -> None:
            done = step.start - 1 + step.iteration / step.max_iter
            detail = f"start {step.start}/{step.n_starts}, {step.log_likelihood:.4f} nats a row"
            bar.update(
                task,
                description=f"{step.stage} {step.rank}" if step.stage == "choosing rank" else f"rank {step.rank}",
                completed=done / step.n_starts,
                detail=detail,
            )

        yield draw
