"""The distribution of one variable, as bars, or of a number as a histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from juror.plot.canvas import BLUE, VERMILION, name_rows, new_axes, open_frame, percent, room_for, set_title, settle
from juror.plot.number_bars import draw_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from juror.model import Given, JointPMF

_MOST_WRITTEN = 40


def marginal(model: JointPMF, name: str, given: Given = None, *, ax: Axes | None = None) -> Axes:
    """Draw the distribution of one variable: a bar per label, in the order of its labels, or a histogram of a number.

    Bars of a histogram have true widths, and areas that are probabilities. A value far more probable than those around
    it is a stem with its probability. A dashed line is at the median.

    Parameters
    ----------
    model : JointPMF
        The model.
    name : str
        The variable.
    given : mapping or str, optional
        Evidence, as in :meth:`JointPMF.marginal`. A mark across each bar, or an outline of the histogram, then shows
        the probability without it.
    ax : matplotlib Axes, optional
        The Axes to draw into; new ones by default.

    Examples
    --------
    >>> import juror
    >>> model = juror.JointPMF([0.5, 0.5], [[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.1], [0.3, 0.9]]])
    >>> ax = marginal(model, "x0", given="x1 = 1")
    >>> [round(float(bar.get_width()), 4) for bar in ax.patches]
    [0.375, 0.625]
    """
    table = model.marginal(name, given=given)
    if table.variables[0].edges is not None:
        return draw_number(table, model.marginal(name), ax)
    before = model.marginal(name).to_numpy()
    after = table.to_numpy()
    labels = table.variables[0].labels
    places = np.arange(len(labels))
    owned = ax is None
    ax = new_axes(ax, 5.2 + room_for(labels), 1.3 + 0.3 * len(labels))
    ax.barh(places, after, height=0.72, color=BLUE)
    if table.given:
        for place, share in zip(places, before, strict=True):
            ax.plot([share, share], [place - 0.43, place + 0.43], color=VERMILION, linewidth=2.2)
    longest = float(max(after.max(), before.max() if table.given else 0.0))
    if len(labels) <= _MOST_WRITTEN:
        for place, share, other in zip(places, after, before, strict=True):
            # To the right of the mark if it would be drawn over the number.
            end = max(share, other) if table.given and other < share + 0.12 * longest else share
            ax.annotate(percent(share), (end, place), (4, 0), textcoords="offset points", va="center", fontsize=8.5)
    # Room for the numbers, also if Axes share their scale.
    ax.margins(x=0.14)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlabel("probability; strokes: without the evidence" if table.given else "probability")
    ax.locator_params(axis="x", nbins=6)
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    name_rows(ax, labels)
    open_frame(ax, "x")
    settle(ax, owned)
    set_title(ax, table.title)
    return ax
