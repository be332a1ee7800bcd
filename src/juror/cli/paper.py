"""juror paper: reproduce the tables of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juror.cli.options import Json
from juror.cli.output import write_json
from juror.cli.terminal import show, shows_progress, tell
from juror.errors import DataError

if TYPE_CHECKING:
    from juror.paper import Inversions, PaperTable, Store
    from juror.paper.running import ProgressCallback, Step


def command(
    table: Annotated[
        list[int] | None, typer.Option("--table", metavar="N", help="A table, 1 to 7; may be repeated; all by default.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run smaller experiments: a minute or two for all tables.")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(help="The number of random data sets per cell; 5, or 1 with --quick.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Write paper.md here, and numbers, pictures and finished cells into its folder paper. A second run "
            "reuses the finished cells.",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(help="The number of processes.")] = 2,
    json: Json = False,
) -> None:
    """Reproduce the tables of the paper, and print our numbers beside those of the paper."""
    # These are slow to import.
    from juror.paper import Store, compare_inversions, run_tables
    from juror.paper.experiments import check_request
    from juror.paper.page import RESULTS_FOLDER
    from juror.paper.settings import SETTINGS

    numbers = list(dict.fromkeys(table or SETTINGS))
    check_request(numbers, seeds, jobs)
    if output is not None:
        _check_folder(output)
    store = Store(None if output is None else output / RESULTS_FOLDER)
    with _bar() as progress:
        tables = run_tables(numbers, seeds, quick, store, progress, jobs)
    inversions = compare_inversions() if output is not None or not table else None
    _tell(tables, None if table else inversions, json)
    if output is not None and inversions is not None:
        _write(output, tables, inversions, seeds, quick, store)


def _check_folder(folder: Path) -> None:
    """Refuse, before any work is done, a folder that cannot be written, or a missing matplotlib."""
    from juror.plot.canvas import check_matplotlib

    if folder.exists() and not folder.is_dir():
        raise DataError(f"{str(folder)!r} is not a folder. Name one for the results with --output.")
    check_matplotlib()


def _tell(tables: list[PaperTable], inversions: Inversions | None, json: bool) -> None:
    if json:
        parts = {"tables": [table.to_dict() for table in tables]}
        write_json(parts | ({"inversions": inversions.to_dicts()} if inversions is not None else {}))
        return
    show("\n\n".join(map(str, [*tables, *([inversions] if inversions is not None else [])])))


def _write(
    folder: Path, tables: list[PaperTable], inversions: Inversions, seeds: int | None, quick: bool, store: Store
) -> None:
    """Write the new tables, and a page of all tables finished in the folder."""
    from juror.paper import finished_tables
    from juror.paper.page import RESULTS_FOLDER, write_page

    results = folder / RESULTS_FOLDER
    for table in tables:
        table.to_csv(results / f"table_{table.setting.number}.csv")
        table.to_json(results / f"table_{table.setting.number}.json")
    inversions.to_csv(results / "inversions.csv")
    written = write_page(folder, finished_tables(seeds, quick, store), inversions)
    tell(f"wrote {written[-1]}")


@contextmanager
def _bar() -> Iterator[ProgressCallback | None]:
    """Yield a callback that draws a progress bar, or None if stderr is not a terminal."""
    if not shows_progress():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.completed:.0f} of {task.total:.0f} cells"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, left="")

        def draw(step: Step) -> None:
            left = f"about {max(1, round(step.seconds_left / 60))} min left; "
            bar.update(task, completed=step.done, total=step.total, description=step.label, left=left)

        yield draw
