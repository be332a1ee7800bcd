"""The forest of a block of classes, with wider lines between variables that tell more about each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from juror.answers.forest_edges import check_block, forest_edges
from juror.errors import QueryError
from juror.plot import canvas
from juror.plot.tree_layout import place

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from juror.model import JointPMF

_LONGEST = 18
# Pixels of the layout per inch, and widths of lines in points
_PIXELS = 86.0
_THINNEST, _WIDEST = 0.8, 7.0
# Values are written beside the lines of forests with few edges.
_FEW_EDGES = 20


def tree(model: JointPMF, block: int | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the forest of a block: which variables depend on each other directly within its classes.

    The width of a line grows with the mutual information of its two variables under the whole model, which is written
    beside it, in nats, if there are few lines. Hidden nodes are grey dots. The directions of edges have no meaning and
    are not drawn.

    Parameters
    ----------
    model : JointPMF
        The model, with edges.
    block : int, optional
        The position of the block in ``model.blocks``; the heaviest by default.
    ax : matplotlib Axes, optional
        The Axes to draw into; new ones by default.

    Examples
    --------
    >>> import numpy as np
    >>> from juror.testing import random_forest_model
    >>> ax = tree(random_forest_model([2, 3, 2, 4], [2, 3], np.random.default_rng(0)))
    >>> sorted(text.get_text() for text in ax.texts if text.get_text().startswith("x"))
    ['x0', 'x1', 'x2', 'x3']
    """
    chosen = check_block(model, block)
    shown = model.blocks[chosen]
    if not shown.has_edges:
        whose = "This model" if len(model.blocks) == 1 else f"Block {chosen} of this model"
        raise QueryError(f"{whose} has no edges: its variables are independent within a class, so there is no forest.")
    edges = forest_edges(model, chosen)
    names = [canvas.shorten(name, _LONGEST) for name in model.domain.names]
    layout = place(shown.forest, [*names, *[""] * (len(shown.tables) - len(names))])
    width, height = layout.size
    ax = canvas.new_axes(ax, width / _PIXELS + 0.4, height / _PIXELS + 0.9)
    most = max((edge.information or 0.0 for edge in edges), default=0.0) or 1.0
    for edge in edges:
        ends = layout.centres[[edge.a, edge.b]]
        share = np.sqrt((edge.information or 0.0) / most)
        line = _THINNEST + (_WIDEST - _THINNEST) * share
        ax.plot(*ends.T, color=canvas.BLUE, alpha=0.75, linewidth=line, solid_capstyle="round", zorder=1)
        if edge.information is not None and len(edges) <= _FEW_EDGES:
            _write_value(ax, _between(ends, layout.widths[[edge.a, edge.b]], layout.height), edge.information)
    _draw_nodes(ax, layout.centres, names)
    ax.set_xlim(-10, width + 10)
    ax.set_ylim(height + 10, -10)
    ax.set_axis_off()
    weight = canvas.percent(float(shown.weights.sum()))
    which = "" if len(model.blocks) == 1 else f" of block {chosen}, which has {weight} of the whole"
    canvas.set_title(ax, f"What depends on what within a class{which}")
    return ax


def _between(ends: np.ndarray, widths: np.ndarray, height: float) -> np.ndarray:
    """Return the middle of the visible part of an edge, that between the boxes at its ends (2, 2)."""
    step = np.maximum(np.abs(ends[1] - ends[0]), 1e-9)
    covered = [min(width / 2 / step[0], height / 2 / step[1], 0.5) for width in widths]
    share = (covered[0] + 1 - covered[1]) / 2
    return np.asarray(ends[0] + share * (ends[1] - ends[0]))


def _write_value(ax: Axes, middle: np.ndarray, information: float) -> None:
    around = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    x, y = middle.tolist()
    ax.text(x, y, f"{information:.2g}", fontsize=6.5, color="#404040", ha="center", va="center", bbox=around, zorder=2)


def _draw_nodes(ax: Axes, centres: np.ndarray, names: list[str]) -> None:
    """Write names in boxes; the nodes beyond the names are hidden."""
    hidden = centres[len(names) :]
    ax.plot(hidden[:, 0], hidden[:, 1], "o", color=canvas.GREY, markersize=6, zorder=3)
    box = {"boxstyle": "round,pad=0.3,rounding_size=0.8", "facecolor": "white", "edgecolor": canvas.GREY}
    for name, (x, y) in zip(names, centres.tolist(), strict=False):
        ax.text(x, y, canvas.words(name, _LONGEST), fontsize=8, ha="center", va="center", bbox=box, zorder=3)
