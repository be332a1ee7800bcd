"""A table of the paper with printed and measured numbers, from finished cells."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from juror.errors import ParameterError
from juror.files.writing import write_whole
from juror.paper.printed import TABLES as PRINTED
from juror.paper.settings import MEASURES, Row, Setting, cell_of, effort_of
from juror.plot.curves import ErrorLine
from juror.solvers.juror import SHRINKING_DID_NOT_HELP

if TYPE_CHECKING:
    import pandas as pd

_ERRORS = ("mse", "mse_per_component", "tensor_error")
_ALL_MEASURES = (*_ERRORS, "accuracy")


@dataclass(frozen=True)
class Entry:
    """One row and one column of a table, over all seeds.

    Attributes
    ----------
    table : int
        The paper's table.
    row, label, block : str
        The row's key, its name in tables, and the heading of its group.
    is_reference : bool
        Whether the row is a reference, not a method.
    column : int or str
        Sample size or data set.
    printed : float, optional
        The paper's number.
    measured, spread : float, optional
        Mean and sample standard deviation over seeds of the table's measure.
    n_seeds, n_failed, n_unhelped : int
        The number of seeds with a result, of seeds whose fit failed, and of seeds for which no round of stage G2
        lowered J₁.
    mse, mse_per_component, tensor_error, accuracy, and each with _spread : float, optional
        All measures: the factor error as the paper prints it, with its factor term divided by F, the squared relative
        error of the tensor, and the accuracy in per cent.
    ranks : tuple of int
        The chosen ranks by seed, if ranks were chosen.
    seconds : float, optional
        Mean time of a fit.
    failures, warnings : tuple of str
        The distinct messages.
    """

    table: int
    row: str
    label: str
    block: str
    is_reference: bool
    column: int | str
    printed: float | None
    measured: float | None
    spread: float | None
    n_seeds: int
    n_failed: int
    n_unhelped: int
    mse: float | None
    mse_spread: float | None
    mse_per_component: float | None
    mse_per_component_spread: float | None
    tensor_error: float | None
    tensor_error_spread: float | None
    accuracy: float | None
    accuracy_spread: float | None
    ranks: tuple[int, ...]
    seconds: float | None
    failures: tuple[str, ...]
    warnings: tuple[str, ...]

    def value(self, measure: str) -> tuple[float | None, float | None]:
        """Return mean and spread of a measure."""
        return getattr(self, measure), getattr(self, f"{measure}_spread")


@dataclass(frozen=True, eq=False)
class PaperTable:
    """A table of the paper, printed and measured: its setting, its number of seeds, and an entry for every cell."""

    setting: Setting
    seeds: int
    quick: bool
    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, setting: Setting, seeds: int, quick: bool, results: Mapping[str, Mapping[str, Any]]) -> PaperTable:
        """Gather finished cells, found by their fingerprints."""
        entries = []
        for row in setting.rows:
            for column in setting.columns(effort_of(quick)):
                cells = [cell_of(setting, row, column, seed, quick) for seed in range(seeds)]
                entries.append(_entry(setting, row, column, [results[cell.fingerprint] for cell in cells]))
        return cls(setting, seeds, quick, tuple(entries))

    @property
    def columns(self) -> tuple[int | str, ...]:
        """The sample sizes or data sets."""
        return tuple(dict.fromkeys(entry.column for entry in self.entries))

    @property
    def title(self) -> str:
        """Number, caption, and a note on a quick run."""
        quick = " QUICK RUN, cut short: not to be quoted." if self.quick else ""
        return f"Table {self.setting.number}. {self.setting.caption}.{quick}"

    @property
    def legend(self) -> str:
        """The meaning of the numbers in a cell."""
        spread = f" ± standard deviation over {self.seeds} seeds" if self.seeds > 1 else ", one seed"
        return f"Printed / measured{spread}: {MEASURES[self.setting.measure]}."

    def __getitem__(self, place: tuple[str, int | str]) -> Entry:
        for entry in self.entries:
            if (entry.row, entry.column) == place:
                return entry
        rows = list(dict.fromkeys(entry.row for entry in self.entries))
        raise ParameterError(f"There is no {place!r}: rows are {rows}, columns {list(self.columns)}.")

    def rows(self) -> list[tuple[Entry, ...]]:
        """Return the entries of every row."""
        n = len(self.columns)
        return [self.entries[i : i + n] for i in range(0, len(self.entries), n)]

    def notes(self) -> list[str]:
        """Return a sentence for every failure."""
        return [
            f"{entry.label} at {column_name(entry.column)}: {entry.n_failed} of {self.seeds} seeds failed: {failure}"
            for entry in self.entries
            for failure in entry.failures
        ]

    def error_lines(self, measure: str | None) -> tuple[list[ErrorLine], str, str]:
        """Return what :func:`juror.plot.errors` draws: a line for every row, a title, and the name of the measure."""
        measure = self.setting.measure if measure is None else measure
        if measure not in _ERRORS:
            raise ParameterError(
                f"measure must be one of {list(_ERRORS)}, errors against sample sizes. Got {measure!r} instead."
            )
        lines = [line for row in self.rows() if (line := _error_line(row, measure)).errors]
        if not lines:
            raise ParameterError(
                f"Table {self.setting.number} has no {measure!r} by sample size. Choose another measure."
            )
        quick = " (quick run, not to be quoted)" if self.quick else ""
        meaning = MEASURES.get(measure, "factor error, its factor term divided by F")
        return lines, f"Table {self.setting.number}. {self.setting.caption}{quick}", meaning.partition(",")[0]

    def to_pandas(self) -> pd.DataFrame:
        """Return a frame with one row per entry."""
        import pandas as pd

        return pd.DataFrame([asdict(entry) for entry in self.entries])

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per entry, whole or not at all; several ranks or messages are joined by semicolons."""
        write_csv(path, [{"quick": self.quick} | asdict(entry) for entry in self.entries])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "table": self.setting.number,
            "caption": self.setting.caption,
            "measure": self.setting.measure,
            "quick": self.quick,
            "seeds": self.seeds,
            "entries": [asdict(entry) for entry in self.entries],
        }

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the table as JSON, whole or not at all."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        write_whole(Path(path), lambda stream: stream.write(text.encode()))

    def __str__(self) -> str:
        head = ["", *map(column_name, self.columns)]
        body = [[row[0].label, *(entry_text(e, self.setting.measure) for e in row)] for row in self.rows()]
        widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
        shown = [self.title, self.legend, "", _padded(head, widths)]
        rule = "─" * (sum(widths) + 2 * len(widths) - 2)
        block = None
        for row, line in zip(self.rows(), body, strict=True):
            group = "references" if row[0].is_reference else row[0].block
            if group != block:
                shown += [rule] + ([f"{group}:"] if group and group != "references" else [])
                block = group
            shown.append(_padded(line, widths))
        return "\n".join([*shown, *self.notes()])

    __repr__ = __str__


def _entry(setting: Setting, row: Row, column: int | str, results: Sequence[Mapping[str, Any]]) -> Entry:
    good = [result for result in results if result["failed"] is None]
    failures = [result["failed"] for result in results if result["failed"] is not None]
    found: dict[str, float | None] = {}
    for measure in _ALL_MEASURES:
        values = [result["measured"][measure] for result in good if measure in result["measured"]]
        found[measure] = statistics.fmean(values) if values else None
        found[f"{measure}_spread"] = statistics.stdev(values) if len(values) > 1 else None
    return Entry(
        table=setting.number,
        row=row.key,
        label=row.label,
        block=row.block,
        is_reference=row.is_reference,
        column=column,
        printed=PRINTED[setting.number].at(row.printed, column),
        measured=found[setting.measure],
        spread=found[f"{setting.measure}_spread"],
        n_seeds=len(good),
        n_failed=len(failures),
        n_unhelped=sum(SHRINKING_DID_NOT_HELP in result["complaints"] for result in good),
        ranks=tuple(result["measured"]["rank"] for result in good if "rank" in result["measured"]),
        seconds=statistics.fmean(result["seconds"] for result in good) if good else None,
        failures=tuple(dict.fromkeys(failures)),
        warnings=tuple(dict.fromkeys(text for result in results for text in result["warnings"])),
        **found,
    )


def write_csv(path: str | os.PathLike[str], lines: Sequence[Mapping[str, Any]]) -> None:
    """Write one line per mapping, whole or not at all; the parts of a tuple are joined by semicolons."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(lines[0])
    for line in lines:
        writer.writerow("; ".join(map(str, v)) if isinstance(v, tuple) else v for v in line.values())
    write_whole(Path(path), lambda stream: stream.write(text.getvalue().encode()))


def _error_line(row: Sequence[Entry], measure: str) -> ErrorLine:
    """Return the line of the entries that have a sample size and an error above zero."""
    points = [(entry.column, *entry.value(measure)) for entry in row]
    drawn = [(n, e, s or 0.0) for n, e, s in points if isinstance(n, int) and e is not None and e > 0]
    first = row[0]
    label = f"{first.label}, {first.block}" if first.block else first.label
    n_samples, found, spreads = ([point[i] for point in drawn] for i in range(3))
    return ErrorLine(label, n_samples, found, spreads, first.is_reference)


def column_name(column: int | str) -> str:
    """Write a sample size with thousands separators, or the name of a data set with a capital.

    >>> column_name(10000), column_name("car")
    ('10,000', 'Car')
    """
    return f"{column:,}" if isinstance(column, int) else column.capitalize()


def number_text(value: float, measure: str = "mse") -> str:
    """Write three significant digits, or an accuracy with two decimals.

    >>> number_text(0.05), number_text(14.62), number_text(0.0), number_text(95.6789, "accuracy")
    ('0.0500', '14.6', '0', '95.68')
    """
    if measure == "accuracy":
        return f"{value:.2f}"
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e4:
        return f"{value:.2e}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def measured_text(entry: Entry, measure: str) -> str:
    """Write mean ± spread of a measure, or a dash if there is no number."""
    mean, spread = entry.value(measure)
    if mean is None:
        return "–"
    return number_text(mean, measure) + ("" if spread is None else f" ± {spread:.2g}")


def entry_text(entry: Entry, measure: str) -> str:
    """Write printed / measured ± spread of the table's measure, and the number of failed seeds."""
    printed = "–" if entry.printed is None else number_text(entry.printed, measure)
    if entry.n_failed and entry.measured is None:
        return f"{printed} / failed"
    failed = f" ({entry.n_failed} failed)" if entry.n_failed else ""
    return f"{printed} / {measured_text(entry, measure)}{failed}"


def _padded(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))])
