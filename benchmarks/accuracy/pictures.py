"""Pictures of the sections. Colours are those of Okabe and Ito; references are grey, what is not ours is hollow."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.plot.canvas import check_matplotlib

from . import optimum as optimum_section
from .findings import Findings, column_text
from .published import DEBD, GOAL_COVERAGE, GOAL_GAP, least_printed, most_printed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7")
_MARKERS = "osD^v"
_REFERENCES: tuple[dict[str, Any], ...] = (
    {"color": "black", "linestyle": (0, (5, 2))},
    {"color": "0.5", "linestyle": "-."},
    {"color": "0.5", "linestyle": ":"},
)
_PRINTED: dict[str, Any] = {"color": "0.2", "marker": "D", "markerfacecolor": "white", "linestyle": "", "markersize": 6}


def _panels(n: int, width: float, height: float, per_line: int = 3, beside: float = 2.2) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    n_lines, n_across = -(-n // per_line), min(n, per_line)
    figure = Figure(figsize=(width * n_across + beside, height * n_lines), layout="constrained")
    axes = figure.subplots(n_lines, n_across, squeeze=False).ravel().tolist()
    for spare in axes[n:]:
        spare.set_visible(False)
    for panel in axes[:n]:
        panel.grid(visible=True, color="0.92")
        panel.set_axisbelow(True)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    return figure, axes[:n]


def _style(found: Findings, row: str) -> dict[str, Any]:
    """Return how a row is drawn: references grey or dashed, the others coloured with a marker of their own."""
    if row in found.section.references:
        return dict(_REFERENCES[list(found.section.references).index(row) % len(_REFERENCES)])
    number = [key for key in found.section.rows if key not in found.section.references].index(row)
    return {"color": _COLOURS[number], "marker": _MARKERS[number]}


def _name(label: str) -> str:
    return label.replace("`", "")


def table2(found: Findings) -> Figure:
    """Draw the error against the number of rows on log axes."""
    figure, (panel,) = _panels(1, 6.0, 4.2)
    for row, label in found.section.rows.items():
        columns = [c for c in found.columns if found.values(row, c, "tensor_error")]
        values = [found.values(row, c, "tensor_error") for c in columns]
        means = [statistics.fmean(v) for v in values]
        spreads = [statistics.stdev(v) if len(v) > 1 else 0.0 for v in values]
        # a spread as wide as the mean would leave a log axis
        bars = [[min(s, 0.95 * m) for s, m in zip(spreads, means, strict=True)], spreads]
        look = {"markersize": 5, "linewidth": 1.5, "elinewidth": 0.8, "capsize": 2, "label": _name(label)}
        panel.errorbar(columns, means, yerr=bars, **look | _style(found, row))
    printed = [(c, least_printed(2, c)) for c in found.columns if least_printed(2, c) is not None]
    if printed:
        panel.plot(*zip(*printed, strict=True), label="best printed in the paper", **_PRINTED)
    panel.set(xscale="log", yscale="log", xlabel="rows", ylabel="squared relative tensor error")
    panel.set_xticks(found.columns, labels=[column_text(c) for c in found.columns])
    panel.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    figure.legend(loc="outside right upper", frameon=False, fontsize="small")
    return figure


def optimum(found: Findings) -> Figure:
    """Draw every seed's distance from the log-likelihood of the run started at the truth."""
    rows = [row for row in ("em", "random", "truth") if row in found.section.rows]
    figure, panels = _panels(len(found.columns), 6.5, 0.6 * len(rows) + 1.6, per_line=1)
    for panel, column in zip(panels, found.columns, strict=True):
        panel.axvspan(-GOAL_GAP, GOAL_GAP, color="0.9")
        panel.axvline(0, color="black", linewidth=0.8)
        for height, row in enumerate(reversed(rows)):
            gaps = list(optimum_section.gaps(found, row, column).values())
            offsets = np.linspace(-0.18, 0.18, len(gaps)) if len(gaps) > 1 else np.zeros(len(gaps))
            colour = "0.5" if row in found.section.references else _COLOURS[rows.index(row)]
            panel.plot(gaps, height + offsets, marker="o", linestyle="", color=colour)
        panel.set_xscale("symlog", linthresh=GOAL_GAP)
        panel.set_yticks(range(len(rows)), labels=[_name(found.section.rows[row]) for row in reversed(rows)])
        panel.set(
            ylim=(-0.6, len(rows) - 0.4),
            title=f"{column_text(column)} rows; a dot a seed; grey: within {GOAL_GAP:g}",
            xlabel="log-likelihood above that of EM started at the truth, nats a row",
        )
        panel.tick_params(axis="x", rotation=30)
    return figure


def _dots(panel: Axes, height: float, values: Sequence[float], colour: str) -> None:
    """Draw values as small dots and their mean as a bar."""
    panel.plot(values, [height] * len(values), marker="o", linestyle="", color=colour, alpha=0.45, markersize=4)
    if values:
        panel.plot(statistics.fmean(values), height, marker="|", markersize=16, markeredgewidth=2, color=colour)


def intervals(found: Findings) -> Figure:
    """Draw the coverage at every seed, a panel a number of rows, with what is promised as a line."""
    rows = [*found.section.rows]
    figure, panels = _panels(len(found.columns), 4.0, 0.42 * len(rows) + 1.3)
    for panel, column in zip(panels, found.columns, strict=True):
        panel.axvspan(*GOAL_COVERAGE, color="0.9")
        for height, row in enumerate(reversed(rows)):
            colour = "0.5" if row in found.section.references else _COLOURS[rows.index(row)]
            _dots(panel, height, found.values(row, column, "covered"), colour)
        names = [row.replace("counts", "from counts") for row in reversed(rows)]
        panel.set_yticks(range(len(names)), labels=names if panel is panels[0] else [""] * len(names))
        panel.set(title=f"{column_text(column)} rows", xlabel="share that hold the truth", ylim=(-0.6, len(rows) - 0.4))
    return figure


def labels(found: Findings) -> Figure:
    """Draw the accuracy of every seed, a panel a data set, the paper's best hollow."""
    rows = [*found.section.rows]
    figure, panels = _panels(len(found.columns), 4.4, 0.42 * (len(rows) + 1) + 1.3)
    for panel, column in zip(panels, found.columns, strict=True):
        for height, row in enumerate(reversed(rows), 1):
            colour = "0.5" if row in found.section.references else _COLOURS[rows.index(row)]
            _dots(panel, height, found.values(row, column, "accuracy"), colour)
        if (best := most_printed(7, column)) is not None:
            panel.plot(best, 0, **_PRINTED)
        names = ["best printed in the paper", *(_name(found.section.rows[row]) for row in reversed(rows))]
        panel.set_yticks(range(len(names)), labels=names if panel is panels[0] else [""] * len(names))
        panel.set(title=column_text(column), xlabel="per cent of test rows right", ylim=(-0.6, len(names) - 0.4))
    return figure


def debd(found: Findings) -> Figure:
    """Draw mean test log-likelihoods, a panel a set; the product of marginals is far to the left and not drawn."""
    names = ["juror", *DEBD]
    figure, panels = _panels(len(found.columns), 3.1, 0.36 * len(names) + 1.3)
    for number, (panel, column) in enumerate(zip(panels, found.columns, strict=True)):
        for value, error in zip(
            *(found.values("juror", column, m) for m in ("log_prob", "standard_error")), strict=True
        ):
            panel.errorbar(value, len(names) - 1, xerr=error, color=_COLOURS[0], marker="o", capsize=2)
        for height, name in enumerate(reversed(names[1:])):
            if str(column) in DEBD[name]:
                panel.plot(DEBD[name][str(column)], height, **_PRINTED)
        shown = [*reversed(names)] if number % 3 == 0 else [""] * len(names)
        panel.set_yticks(range(len(names)), labels=shown)
        panel.set(title=column_text(column), xlabel="nats a test row", ylim=(-0.6, len(names) - 0.4))
        panel.tick_params(axis="x", rotation=30)
    return figure


def holes(found: Findings) -> Figure:
    """Draw how often the most probable label is right against its probability, bins of all seeds together."""
    figure, panels = _panels(len(found.columns), 3.6, 4.4, beside=0.4)
    for panel, column in zip(panels, found.columns, strict=True):
        panel.plot([0, 1], [0, 1], color="black", linewidth=0.8, label="as it should be")
        for row, label in found.section.rows.items():
            results = [r["measured"]["bins"] for r in found.at(row, column) if "bins" in r["measured"]]
            if results:
                n, total, right = np.sum(results, axis=0).T
                filled = n > 0
                style = {"markersize": 4} | _style(found, row)
                panel.plot(total[filled] / n[filled], right[filled] / n[filled], label=_name(label), **style)
                # the more cells a bin has, the larger the disc around its point
                area = 300 * n[filled] / n.sum()
                panel.scatter(
                    total[filled] / n[filled], right[filled] / n[filled], s=area, color=style["color"], alpha=0.25
                )
        panel.set(title=column_text(column), xlabel="largest probability", xlim=(0, 1.03), ylim=(0, 1.03))
        panel.set_box_aspect(1)
    panels[0].set_ylabel("share of cells where its label is right")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", frameon=False, fontsize="small", ncols=len(names))
    return figure


PICTURES: dict[str, tuple[str, Callable[[Findings], Figure]]] = {
    "table2": ("Error against the number of rows, beside the Bayes limit", table2),
    "intervals": ("Coverage of intervals of 90 %, a dot a seed, a bar their mean; grey: 85 to 95 %", intervals),
    "optimum": ("Log-likelihoods reached, seed by seed", optimum),
    "labels": ("Per cent of labels right, a dot a seed, a bar their mean", labels),
    "debd": ("Mean test log-likelihoods; hollow: published. The product of marginals is off to the left", debd),
    "holes": ("Reliability: a point is a bin of probabilities, its disc as large as the bin's share of cells", holes),
}


def picture(found: Findings) -> tuple[str, Figure]:
    """Return the caption and the picture of a section."""
    check_matplotlib()
    caption, draw = PICTURES[found.section.name]
    return caption, draw(found)
