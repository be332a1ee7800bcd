"""Run cells one after the other and keep each as it is finished; juror's own threads use the cores.

Seconds are part of what is told and of what a time budget allows, so nothing runs beside a cell.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import juror
from juror.errors import DataError
from juror.files.writing import write_whole
from juror.paper.running import CELLS_FILE, Store

from .cells import Cell, Result, Section, run

Tell = Callable[[str], None]
Run = Callable[[Section, Cell], Result]


def run_sections(
    sections: Sequence[Section], store: Store, quick: bool, seeds: int | None, tell: Tell, run: Run = run
) -> list[str]:
    """Run what is not in the store, and put it there cell by cell; return what could not be had.

    Parameters
    ----------
    sections : sequence of Section
        What to run, in this order.
    store : Store
        What is finished.
    quick : bool
        Whether to run the smaller settings.
    seeds : int, optional
        How many seeds; by default each section's own number.
    tell : callable
        Given a line after every cell.
    run : callable
        Computes a cell of a section.
    """
    wanted = [(section, cell) for section in sections for cell in section.cells(quick, seeds)]
    to_do = [(section, cell) for section, cell in wanted if cell.fingerprint not in store.results]
    absent: dict[tuple[str, int | str], str] = {}
    if to_do:
        _compile()
    for number, (section, cell) in enumerate(to_do, len(wanted) - len(to_do) + 1):
        place = (cell.section, cell.column)
        if place in absent:
            continue
        try:
            result = run(section, cell)
        except DataError as error:
            absent[place] = f"{cell.section}, {cell.column}: {error}"
            tell(absent[place])
            continue
        store.add(result)
        tell(f"{number} of {len(wanted)}  {cell.label}: {_short(result)} ({result['seconds']:.1f} s)")
    return list(absent.values())


def open_store(folder: Path, tell: Tell) -> Store:
    """Open the finished cells of a folder, and tell of a last line that was cut short, which is dropped."""
    path = folder / CELLS_FILE
    if path.is_file() and (text := path.read_bytes()) and not text.endswith(b"\n"):
        tell(f"The last line of {str(path)!r} was cut short; it is dropped, and its cell is run again.")
    return Store(folder)


def forget(store: Store, cells: Sequence[Cell]) -> int:
    """Take finished cells out of the store and its file; return how many there were."""
    gone = {cell.fingerprint for cell in cells} & set(store.results)
    for fingerprint in gone:
        del store.results[fingerprint]
    if gone and store.path is not None:
        text = "".join(json.dumps(result, ensure_ascii=False) + "\n" for result in store.results.values())
        write_whole(store.path, lambda stream: stream.write(text.encode()))
    return len(gone)


def _compile() -> None:
    """Fit a small table, so that the compilation of kernels is not in the seconds of the first cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", juror.JurorWarning)
        for method in ("auto", "em"):
            juror.fit(juror.datasets.titanic(), 2, method)


def _short(result: Result) -> str:
    if result["failed"] is not None:
        return f"refused: {result['failed']}"
    return ", ".join(f"{name} {value:.4g}" for name, value in result["measured"].items() if isinstance(value, float))
