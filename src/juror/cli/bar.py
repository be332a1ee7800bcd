"""Progress on stderr: a bar for a fit, a spinner while rows are read. Shown only on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from juror import progress
from juror.cli.terminal import shows_progress
from juror.printing import one_line
from juror.progress import ProgressCallback


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Show a spinner while something of unknown length is read."""
    with working(f"reading {what}"):
        yield


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner during work of unknown length."""
    if not shows_progress():
        yield
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(escape(one_line(what))):
        yield


@contextmanager
def progress_bar(first: str = "fitting") -> Iterator[ProgressCallback | None]:
    """Yield a progress callback that draws a bar, or None if stderr is not a terminal."""
    if not shows_progress():
        yield None
        return
    with progress.progress_bar(first) as draw:
        yield draw
