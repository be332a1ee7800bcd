"""Run tables of the paper."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from juror.errors import ParameterError, check_count
from juror.paper.recipes import labelled
from juror.paper.running import ProgressCallback, Store, run_cells
from juror.paper.settings import SETTINGS, cells_of, effort_of
from juror.paper.table_rows import PaperTable


def table(
    number: int,
    seeds: int | None = None,
    quick: bool = False,
    folder: str | os.PathLike[str] | None = None,
    progress: ProgressCallback | None = None,
    *,
    jobs: int = 1,
) -> PaperTable:
    """Run one table of the paper: every method and reference in the paper's setting, beside the printed numbers.

    Parameters
    ----------
    number : int
        The table, 1 to 7.
    seeds : int, optional
        The number of random data sets per cell: 5, or 1 when quick.
    quick : bool
        A short run: samples up to 10,000 rows and few steps. Do not quote its numbers.
    folder : path, optional
        A folder for finished cells; an interrupted run continues from them.
    progress : callable, optional
        Called with a :class:`juror.paper.Step` after every cell.
    jobs : int
        The number of processes, each with one thread. By default this process does the work. A script that asks for
        more must do so under ``if __name__ == "__main__":``.

    Returns
    -------
    PaperTable
        Prints as a table; ``entries``, ``to_pandas()``, ``to_csv(path)``, ``to_json(path)``.

    Examples
    --------
    >>> from juror.paper import PRINTED
    >>> PRINTED[2].caption
    'MAE for PMFs for F = 15, I = 10, N = 4, κ = 1'
    """
    check_request([number], seeds, jobs)
    return run_tables([number], seeds, quick, Store(None if folder is None else Path(folder)), progress, jobs)[0]


def check_request(numbers: Sequence[int], seeds: int | None, jobs: int) -> None:
    """Check the arguments before any folder is made."""
    for number in numbers:
        if isinstance(number, bool) or number not in SETTINGS:
            raise ParameterError(f"The paper has tables 1 to {len(SETTINGS)}. Got {number!r} instead.")
    if seeds is not None:
        check_count("seeds", seeds)
    check_count("jobs", jobs)


def run_tables(
    numbers: Sequence[int],
    seeds: int | None,
    quick: bool,
    store: Store,
    progress: ProgressCallback | None = None,
    jobs: int = 2,
) -> list[PaperTable]:
    """Run several tables at once; see :func:`table`."""
    check_request(numbers, seeds, jobs)
    seeds = effort_of(quick).seeds if seeds is None else seeds
    cells = [cell for number in numbers for cell in cells_of(SETTINGS[number], seeds, quick)]
    for name in dict.fromkeys(cell.column for cell in cells if cell.recipe is None):
        # Fetch the data once, and fail now rather than after an hour.
        labelled(str(name))
    run_cells(cells, store, jobs, progress)
    return [PaperTable.of(SETTINGS[number], seeds, quick, store.results) for number in numbers]


def finished_tables(seeds: int | None, quick: bool, store: Store) -> list[PaperTable]:
    """Return the tables of which every cell is in a store."""
    seeds = effort_of(quick).seeds if seeds is None else seeds
    return [
        PaperTable.of(setting, seeds, quick, store.results)
        for setting in SETTINGS.values()
        if store.has(cells_of(setting, seeds, quick))
    ]
