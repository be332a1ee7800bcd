"""The progress reports that a fit sends to a callback, and a bar that draws them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from juror.printing import one_line

# Reports of about this many seconds are averaged to expect the end.
_MEMORY = 5.0
# The first reports are guesses: the time left is shown from this many seconds after the first one.
_SETTLED = 3.0


@dataclass(frozen=True)
class Progress:
    """One step of a fit.

    Attributes
    ----------
    stage : str
        ``"choosing rank"``, ``"choosing smoothing"``, ``"choosing rho"`` or ``"fitting"``.
    rank : int
        The rank being fitted.
    start, n_starts : int
        The number of this start, from 1, and the number of all starts.
    iteration, max_iter : int
        The number of passes over the rows, or other steps, so far, and its maximum.
    log_likelihood : float or None
        Mean log-likelihood per row, in nats; None for methods that do not read rows.
    objective : float or None
        The objective of those methods: the squared misfit of pair tables, triples or histograms.
    seconds_left : float or None
        How long the fit is expected to take from now on; None if that is not known. While a rank is chosen, it grows
        whenever a larger rank turns out to be better.
    """

    stage: str
    rank: int
    start: int
    n_starts: int
    iteration: int
    max_iter: int
    log_likelihood: float | None = None
    objective: float | None = None
    seconds_left: float | None = None


ProgressCallback = Callable[[Progress], None]


@contextmanager
def progress_bar(first: str = "fitting") -> Iterator[ProgressCallback]:
    """Yield a progress callback that draws a bar on stderr, and below the cell of a notebook.

    Parameters
    ----------
    first : str
        What to show until the first call.
    """
    from rich.console import Console  # slow to import
    from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    end = ExpectedEnd()

    class TimeLeft(ProgressColumn):
        """The time left, which goes on between reports."""

        def render(self, task: Task) -> Text:
            return Text(end.in_words())

    before, after = (TextColumn(each, markup=False) for each in ("{task.description}", "{task.fields[detail]}"))
    columns = (before, BarColumn(), after, TimeElapsedColumn(), TimeLeft())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        # Without a total, the bar moves to and fro.
        task = bar.add_task(one_line(first), total=None, detail="")

        def draw(step: Progress) -> None:
            what = ""
            if step.log_likelihood is not None:
                what = f"{step.log_likelihood:.4f} nats a row"
            elif step.objective is not None:
                what = f"misfit {step.objective:.4g}"
            end.update(step)
            bar.update(
                task,
                description=one_line(("" if step.stage == "fitting" else f"{step.stage}, ") + f"rank {step.rank}"),
                total=1.0,
                completed=end.share,
                detail=f"start {step.start}/{step.n_starts}, {what}",
            )

        yield draw


class ExpectedEnd:
    """The time at which a fit is expected to end, from its reports, and the share that is done.

    Every report moves the end a little, so that it does not jump to and fro. Reports without a time leave it as it is,
    until another stage begins. The share that is done never falls: it waits if more work is left than was expected.
    """

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()
        self._end: float | None = None
        self._first: float | None = None
        self._stage = ""
        self.share = 0.0

    def update(self, step: Progress) -> None:
        """Move the end and the share by a report."""
        now = time.monotonic()
        if step.seconds_left is None:
            if self._end is None or step.stage != self._stage:
                done = (step.start - 1 + step.iteration / step.max_iter) / step.n_starts
                self.share = done if self._end is None else max(self.share, done)
                self._end = None
            return
        self._stage = step.stage
        self._first = now if self._first is None else self._first
        weight = 1.0 - math.exp(-(now - self._last) / _MEMORY)
        reported = now + step.seconds_left
        self._end = reported if self._end is None else self._end + weight * (reported - self._end)
        self._last = now
        whole = max(self._end - self._began, 1e-9)
        self.share = max(self.share, min(1.0, (now - self._began) / whole))

    def in_words(self) -> str:
        """Say roughly how much time is left; empty if no report says it, or the first was only seconds ago."""
        now = time.monotonic()
        if self._end is None or self._first is None or now - self._first < _SETTLED:
            return ""
        return time_left_in_words(self._end - now)


def time_left_in_words(seconds: float) -> str:
    """Say how much time is left, to two digits at most.

    >>> [time_left_in_words(seconds) for seconds in (-9.0, 0.4, 12.0, 47.0, 100.0, 7000.0)]
    ['taking longer', 'a few s left', 'about 10 s left', 'about 45 s left', 'about 2 min left', 'about 2 h left']
    """
    if seconds < -5.0:
        return "taking longer"
    if seconds < 7.5:
        return "a few s left"
    if seconds < 57.5:
        return f"about {5 * round(seconds / 5)} s left"
    minutes = max(1, round(seconds / 60))
    return f"about {minutes} min left" if minutes < 60 else f"about {round(minutes / 60)} h left"
