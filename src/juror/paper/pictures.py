"""Pictures of the tables: error against N_s on log axes; printed numbers dashed and hollow, measured ones solid.

The colours are those of Okabe and Ito, which colour-blind people can distinguish; every line also has its own marker.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from juror.files.writing import write_whole
from juror.paper.inversion_study import DENSITIES, REFERENCES, Inversions
from juror.paper.table_rows import Entry, PaperTable, column_name
from juror.plot.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#000000", "#8C6D31")
_MARKERS = "os^vDPX*"
_REFERENCE_STYLES: tuple[dict[str, Any], ...] = (
    {"color": "0.55", "linestyle": ":"},
    {"color": "0.55", "linestyle": "-."},
    {"color": "black", "linestyle": "-"},
    {"color": "black", "linestyle": (0, (5, 2))},
)
_AXIS_NAMES = {
    "mse": "factor error (printed formula)",
    "tensor_error": "squared relative tensor error",
    "accuracy": "accuracy on the test part, per cent",
}
_DPI = 110


def write_picture(figure: Figure, path: Path) -> None:
    """Write a picture as PNG, whole or not at all."""
    image = io.BytesIO()
    # No date and no version in the file: the same numbers give the same bytes.
    figure.savefig(image, format="png", dpi=_DPI, metadata={"Software": None})
    write_whole(path, lambda stream: stream.write(image.getvalue()))


def table_picture(table: PaperTable) -> Figure:
    """Draw a table: lines against N_s, or dots for the data sets of Table 7."""
    return _dots(table) if table.setting.recipe is None else _lines(table)


def _lines(table: PaperTable) -> Figure:
    """Draw a panel for each block of rows with the printed lines, and one of tensor errors if they are not printed."""
    measure = table.setting.measure
    rows = table.rows()
    methods = [row for row in rows if not row[0].is_reference]
    references = [row for row in rows if row[0].is_reference]
    blocks = list(dict.fromkeys(row[0].block for row in methods))
    panels = [(measure, block) for block in blocks]
    if measure != "tensor_error":
        panels += [("tensor_error", block) for block in blocks]
    figure = new_figure(4.3 * min(len(panels), 2) + 2.6, 3.8 * ((len(panels) + 1) // 2))
    axes = figure.subplots((len(panels) + 1) // 2, min(len(panels), 2), sharex=True, squeeze=False).ravel()
    for panel, (shown, block) in zip(axes, panels, strict=True):
        inside = [row for row in methods if row[0].block == block]
        for number, row in enumerate(inside):
            style = {"color": _COLOURS[number], "marker": _MARKERS[number]}
            _line(panel, row, shown, {"label": row[0].label, **style})
            if shown == measure:
                _printed_line(panel, row, style)
        for row, look in zip(references, _REFERENCE_STYLES, strict=False):
            _line(panel, row, shown, {"label": row[0].label, "linewidth": 1, **look})
        panel.set(xscale="log", yscale="log", ylabel=_AXIS_NAMES[shown], title=block)
        _finish(panel, table.columns)
    # On the left: the legend is on the right.
    figure.suptitle(_title(table), x=0.01, ha="left")
    _legend(figure, axes[0], printed=True)
    return figure


def _line(panel: Axes, row: Sequence[Entry], measure: str, style: dict[str, Any]) -> None:
    points = [(entry.column, *entry.value(measure)) for entry in row if entry.value(measure)[0] is not None]
    if not points:
        # The legend also names rows that failed everywhere.
        panel.plot([], [], **style)
        return
    columns, means, spreads = zip(*points, strict=True)
    # A spread as large as the mean has no lower end on a log axis.
    bars = [(min(s or 0.0, 0.95 * m), s or 0.0) for m, s in zip(means, spreads, strict=True)]
    size = {"markersize": 5, "linewidth": 1.6, "elinewidth": 0.8, "capsize": 2}
    panel.errorbar(columns, means, yerr=list(zip(*bars, strict=True)), **size | style)


def _printed_line(panel: Axes, row: Sequence[Entry], style: dict[str, Any]) -> None:
    points = [(entry.column, entry.printed) for entry in row if entry.printed is not None]
    if points:
        panel.plot(*zip(*points, strict=True), linestyle="--", linewidth=0.9, markerfacecolor="white", **style)


def _finish(panel: Axes, columns: Iterable[int | str]) -> None:
    ticks = [column for column in columns if isinstance(column, int)]
    panel.set_xticks(ticks, labels=[column_name(column) for column in ticks], rotation=30, ha="right")
    panel.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    if panel.get_subplotspec().is_last_row():  # type: ignore[union-attr]
        panel.set_xlabel("samples N_s")
    panel.grid(visible=True, color="0.92")
    panel.spines[["top", "right"]].set_visible(False)


def _legend(figure: Figure, panel: Axes, printed: bool) -> None:
    from matplotlib.lines import Line2D

    handles, labels = panel.get_legend_handles_labels()
    if printed:
        handles += [
            Line2D([], [], color="0.3", marker="o"),
            Line2D([], [], color="0.3", marker="o", markerfacecolor="white", linestyle="--", linewidth=0.9),
        ]
        labels += ["measured", "printed in the paper"]
    figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize="small")


def _dots(table: PaperTable) -> Figure:
    """Draw accuracies, one line per method and one panel per data set; printed hollow, measured solid."""
    rows = list(reversed(table.rows()))
    figure = new_figure(5.2 * len(table.columns), 0.34 * len(rows) + 1.4)
    axes = figure.subplots(1, len(table.columns), sharey=True, squeeze=False)[0]
    for number, (panel, column) in enumerate(zip(axes, table.columns, strict=True)):
        for height, row in enumerate(rows):
            entry = row[number]
            colour = "0.55" if entry.is_reference else _COLOURS[3]
            if entry.measured is not None:
                panel.errorbar(entry.measured, height, xerr=entry.spread, color=colour, marker="o", capsize=2)
            if entry.printed is not None:
                panel.plot(entry.printed, height, color=_COLOURS[4], marker="D", markerfacecolor="white", linestyle="")
        panel.set(title=column_name(column), xlabel=_AXIS_NAMES["accuracy"])
        panel.grid(visible=True, axis="x", color="0.92")
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(rows)), labels=[row[0].label for row in rows])
    figure.suptitle(_title(table) + "; full: measured; hollow: printed in the paper", x=0.01, ha="left")
    return figure


def _title(table: PaperTable) -> str:
    return f"Table {table.setting.number}" + (" (quick run, not to be quoted)" if table.quick else "")


def inversions_picture(inversions: Inversions) -> Figure:
    """Draw the divergence from the true pair table against N_s, one panel per kind of density."""
    figure = new_figure(12.5, 4.2)
    axes = figure.subplots(1, len(DENSITIES), sharex=True, sharey=True)
    names = list(dict.fromkeys(entry.estimator for entry in inversions.entries))
    methods = [name for name in names if name not in REFERENCES]
    # The first line is broad, because the line of least squares may cover it.
    looks: dict[str, dict[str, Any]] = {
        name: {"color": _COLOURS[(number + 6) % 8], "marker": _MARKERS[number], "linewidth": 1.6 if number else 4.5}
        for number, name in enumerate(methods)
    } | {name: {"linewidth": 1.0} | look for name, look in zip(REFERENCES, _REFERENCE_STYLES, strict=False)}
    for panel, density in zip(axes, DENSITIES, strict=True):
        for name in names:
            here = [e for e in inversions.entries if (e.density, e.estimator) == (density, name)]
            look: dict[str, Any] = {"label": name, "markersize": 5} | looks[name]
            panel.plot([e.n_samples for e in here], [e.divergence for e in here], **look)
        panel.set(xscale="log", yscale="log", title=density)
        _finish(panel, [e.n_samples for e in here])
    axes[0].set_ylabel("Jensen–Shannon divergence, nats")
    _legend(figure, axes[0], printed=False)
    return figure
