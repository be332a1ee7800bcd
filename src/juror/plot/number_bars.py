"""The distribution of a number, as a histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from juror.answers.histograms import below, bins_of, masses_of, quantiles
from juror.answers.numbers import as_cells
from juror.domain.binning import parts_of
from juror.plot.canvas import BLUE, DARK, GREY, VERMILION, new_axes, open_frame, percent, set_title, settle, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from juror.answers.marginals import ProbabilityTable
    from juror.domain.grid import Grid
    from juror.domain.variable import Variable
    from juror.readers.exact_numbers import Number

# The quantiles in words, and the probability that is worth a mark beyond the axis
_LEVELS = (0.1, 0.5, 0.9)
_WORTH_A_MARK = 1e-4
# Room beside the first and the last bin, as a share of the axis
_MARGIN = 0.015
# Stems of at least this probability have it written beside them.
_WRITTEN = 0.05


def draw_number(table: ProbabilityTable, whole: ProbabilityTable, ax: Axes | None) -> Axes:
    """Draw a number given evidence, and an outline of its distribution without: areas are probabilities.

    Parameters
    ----------
    table, whole : ProbabilityTable
        The number with and without evidence. The intervals of the first may be those of the second divided.
    ax : matplotlib Axes, optional
        The Axes to draw into; new ones by default.
    """
    variable = table.variables[0]
    after, before = table.to_numpy(), whole.to_numpy()
    if variable is not whole.variables[0]:
        codes, shares = parts_of(whole.variables[0], variable)
        before = before[codes] * shares
    drawn = [after, before] if table.given else [after]
    bins, grid = bins_of(variable, *drawn), variable.inside.law.grid
    masses = [masses_of(variable, one, bins) for one in drawn]
    bounds, stems = _numbers(grid, bins.bounds), bins.are_stems
    owned = ax is None
    ax = new_axes(ax, 6.2, 3.2)
    heights = [np.where(stems, 0.0, mass / np.where(stems, 1.0, np.diff(bounds))) for mass in masses]
    ax.bar(bounds[:-1], heights[0], np.diff(bounds), align="edge", color=BLUE, edgecolor="white", linewidth=0.4)
    if table.given:
        ax.stairs(heights[1], bounds, color=VERMILION, linewidth=1.4)
    highest = max(float(height.max()) for height in heights) or 1.0
    _draw_stems(ax, bounds[:-1][stems], [mass[stems] for mass in masses], highest)
    found = quantiles(variable, after, _LEVELS)
    ax.axvline(float(found[1]), color=GREY, linewidth=1.2, linestyle="--")
    ends = _numbers(grid, np.array(bins.axis))
    room = _MARGIN * (ends[1] - ends[0])
    ax.set_xlim(ends[0] - room, ends[1] + room)
    ax.set_ylim(0, 1.15 * highest)
    first, last = below(variable, after, np.array(bins.axis)).tolist()
    _mark_tails(ax, first, float(after[: len(variable.present_labels)].sum()) - last)
    outline = "; outline: without the evidence" if table.given else ""
    missing = "" if variable.missing_label is None else f"; {words(variable.missing_label)} {percent(float(after[-1]))}"
    low, median, high = (_text(variable, number) for number in found.tolist())
    ax.set_xlabel(f"{words(variable.name)}: median {median}, middle 80 % from {low} to {high}{missing}{outline}")
    if variable.calendar is not None:
        ax.locator_params(axis="x", nbins=5)
        ax.xaxis.set_major_formatter(lambda number, _: _text(variable, round(number)))
    ax.set_ylabel("density")
    open_frame(ax, "y")
    settle(ax, owned)
    set_title(ax, table.title)
    return ax


def _text(variable: Variable, number: Number) -> str:
    """Write a number, a date or a time."""
    return f"{number:.6g}" if isinstance(number, float) else str(as_cells(variable, [number], is_text=True)[0])


def _numbers(grid: Grid, positions: np.ndarray) -> np.ndarray:
    """Return positions in the units of the column, as floats; those between cells too."""
    return positions * grid.step + grid.number(0.0) if grid.decimals is not None else positions


def _draw_stems(ax: Axes, values: np.ndarray, masses: list[np.ndarray], highest: float) -> None:
    """Draw values that stand out as lines with their probability; the most probable has the full height."""
    largest = max((float(mass.max(initial=0.0)) for mass in masses), default=0.0)
    for value, *shares in zip(values, *masses, strict=True):
        heights = [highest * share / largest for share in shares]
        ax.plot([value, value], [0, heights[0]], color=DARK, linewidth=2, marker="o", markersize=5, markevery=[1])
        ax.plot([value] * len(heights[1:]), heights[1:], color=VERMILION, marker="_", markersize=11, markeredgewidth=2)
        if shares[0] >= _WRITTEN:
            text = percent(float(shares[0]))
            ax.annotate(text, (value, heights[0]), (5, 4), textcoords="offset points", fontsize=8.5)


def _mark_tails(ax: Axes, below_axis: float, above_axis: float) -> None:
    """Write how much lies beyond both ends of the axis, if it is worth a mark."""
    for place, share, align, text in ((0.01, below_axis, "left", "← {}"), (0.99, above_axis, "right", "{} →")):
        if share >= _WORTH_A_MARK:
            ax.text(place, 0.98, text.format(percent(share)), transform=ax.transAxes, ha=align, va="top", fontsize=8)
