"""juror merge: add up the counts of several files."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juror.cli.info import show
from juror.cli.options import CountsOutput, JsonFacts
from juror.cli.output import tell_written
from juror.cli.places import same_file
from juror.cli.saved_files import check_name_for, facts, in_a_line, read_counts
from juror.cli.terminal import is_open
from juror.errors import DataError, ParameterError
from juror.files import KINDS

if TYPE_CHECKING:
    from juror.solvers.solver import Statistic


def command(
    parts: Annotated[
        list[Path],
        typer.Argument(metavar="PART...", help="Two or more files that 'juror count' wrote."),
    ],
    output: CountsOutput,
    json: JsonFacts = False,
) -> None:
    """Add up the counts of several files; the labels may differ."""
    began = time.perf_counter()
    check_name_for(output, "counts", ".counts")
    _check_different(parts, output)
    merged = read_counts(parts[0])
    for part in parts[1:]:
        merged = _added(merged, read_counts(part), part)
    merged.save(output)
    if is_open():
        show(facts(merged) if json else f"merged {len(parts)} files: {in_a_line(merged)}")
    tell_written(output, began)


def _check_different(parts: list[Path], output: Path) -> None:
    """Refuse to count rows twice, now or when the same command runs again."""
    if len(parts) < 2:
        raise ParameterError(f"There is only {str(parts[0])!r} to merge. Name two files or more.")
    for n, part in enumerate(parts):
        if same_file(part, output):
            raise ParameterError(
                f"{str(output)!r} is one of the files to merge, and once it holds the others, running this again would "
                "count their rows twice. Name another file with --output."
            )
        if any(same_file(part, other) for other in parts[:n]):
            raise ParameterError(f"The file {str(part)!r} is named twice, so its rows would count twice. Name it once.")


def _added(merged: Statistic, other: Statistic, path: Path) -> Statistic:
    if type(other) is not type(merged):
        raise DataError(
            f"The file {str(path)!r} holds {KINDS[type(other).__name__]}, and those before it "
            f"{KINDS[type(merged).__name__]}. Merge files of one kind."
        )
    try:
        return merged + other
    except DataError as error:
        raise DataError(
            "The file {path!r} does not match those before it: {error}", path=str(path), error=error
        ) from None
