"""Pictures of the facts; colours and markers as in the other pictures of the project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from juror.paper.pictures import _COLOURS, _MARKERS
from juror.plot.canvas import new_figure

from .facts import Rows, distinct, percent, seconds_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _bars(panel: Axes, names: Sequence[str], values: Sequence[float], text: Callable[[float], str], unit: str) -> None:
    """Draw a bar a contestant on a logarithmic scale, juror's in colour, with its number at its end."""
    for height, (name, value) in enumerate(zip(reversed(names), reversed(values), strict=True)):
        panel.barh(height, value, color=_COLOURS[3] if "juror" in name else "0.72", height=0.7)
        panel.annotate(text(value), (value, height), xytext=(4, 0), textcoords="offset points", va="center")
    panel.set_yticks(range(len(names)), labels=[name.replace("`", "") for name in reversed(names)])
    panel.set(xscale="log", xlabel=unit, xlim=(min(values) / 2, max(values) * 5))
    _clean(panel, "x")


def _clean(panel: Axes, axis: str) -> None:
    panel.grid(visible=True, axis=axis, color="0.92")
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def em(rows: Rows) -> Figure:
    """Draw CPU seconds, a panel for complete rows and one for rows with holes."""
    fair = [row for row in rows if row.get("failed") is None]
    shares = distinct(fair, "holes")
    figure = new_figure(11.5, 3.9)
    axes = figure.subplots(1, len(shares), sharey=True, squeeze=False)[0]
    names = distinct(fair, "who")
    for panel, holes in zip(axes, shares, strict=True):
        times = {row["who"]: row["cpu"] for row in fair if row["holes"] == holes}
        shown = [name for name in names if name in times]
        _bars(panel, shown, [times[name] for name in shown], seconds_text, "CPU seconds")
        panel.set_title(f"{percent(holes)} missing" if holes else "complete")
    return figure


def threads(rows: Rows) -> Figure:
    """Draw how many times as fast several threads are."""
    figure = new_figure(5.2, 3.6)
    panel = figure.subplots()
    counts = distinct(rows, "threads")
    panel.plot(counts, counts, color="0.6", linestyle="--", linewidth=1)
    for number, what in enumerate(distinct(rows, "what")):
        times = {row["threads"]: row["wall"] for row in rows if row["what"] == what}
        speed = [times[1] / times[n] for n in times]
        panel.plot(list(times), speed, color=_COLOURS[number], marker=_MARKERS[number], label=what)
    panel.set(xlabel="threads", ylabel="times as fast as one thread", xticks=counts)
    panel.legend(frameon=False)
    _clean(panel, "both")
    return figure


def pairs(rows: Rows) -> Figure:
    """Draw nanoseconds a row and pair: of the large table by contestant, and by alphabet."""
    fair = [row for row in rows if row.get("failed") is None]
    figure = new_figure(12.0, 4.0)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    wide = [row for row in fair if row["what"] == "wide"]
    _bars(left, [row["who"] for row in wide], [row["each"] for row in wide], "{:.3g}".format, "ns a row and pair")
    left.set_title("4–12 levels")
    others = [row for row in fair if row["what"].endswith(" levels")]
    for number, who in enumerate(distinct(others, "who")):
        line = {int(row["what"].split()[0]): row["each"] for row in others if row["who"] == who}
        style = {"color": _COLOURS[3 + number], "marker": _MARKERS[number]}
        right.plot(list(line), list(line.values()), label=who.replace("`", ""), **style)
    right.set(xscale="log", yscale="log", xlabel="levels of a column", ylabel="ns a row and pair", title="by alphabet")
    levels = [int(what.split()[0]) for what in distinct(others, "what")]
    right.set_xticks(levels, labels=[str(level) for level in levels])
    right.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    right.legend(frameon=False)
    _clean(right, "both")
    return figure


def _millions(rate: float) -> str:
    return f"{rate / 1e6:.2g} M"


def answers(rows: Rows) -> Figure:
    """Draw rows a second, a panel a question."""
    fair = [row for row in rows if row.get("failed") is None and row["what"] != "large"]
    questions = distinct(fair, "what")
    figure = new_figure(11.5, 1.6 + 2.0 * ((len(questions) + 1) // 2))
    axes = figure.subplots((len(questions) + 1) // 2, 2, squeeze=False).ravel()
    for panel in axes[len(questions) :]:
        panel.set_visible(False)
    for panel, what in zip(axes, questions, strict=False):
        here = [row for row in fair if row["what"] == what]
        _bars(
            panel, [row["who"] for row in here], [row["rows"] / row["cpu"] for row in here], _millions, "rows a second"
        )
        panel.set_title(what)
    return figure


def growth(rows: Rows) -> Figure:
    """Draw the time of an EM step along every axis."""
    fair = [row for row in rows if row.get("failed") is None and "size" in row]
    axes_named = distinct(fair, "axis")
    height = (len(axes_named) + 1) // 2
    figure = new_figure(10.0, 3.6 * height + 0.4)
    panels = figure.subplots(height, 2, squeeze=False).ravel()
    names = distinct(fair, "who")
    for panel, axis in zip(panels, axes_named, strict=False):
        for number, who in enumerate(names):
            line = {row["size"]: row["cpu"] for row in fair if (row["axis"], row["who"]) == (axis, who)}
            style = {"color": _COLOURS[(3, 0, 1, 4)[number % 4]], "marker": _MARKERS[number]}
            panel.plot(list(line), list(line.values()), label=who, **style)
        panel.set(xscale="log", yscale="log", xlabel=axis, ylabel="CPU seconds of an EM step")
        _clean(panel, "both")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", frameon=False, ncols=len(labels))
    return figure
