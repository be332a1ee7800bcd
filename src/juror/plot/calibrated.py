"""Draw the calibration of predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.answers import calibration as judging
from juror.plot.canvas import BLUE, GREY, new_axes, open_frame, percent, set_title, settle
from juror.readers.joining import read_whole
from juror.readers.opening import open_weighted
from juror.readers.weights import check_weights, take_weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from juror.domain.variable import Unknown
    from juror.model import JointPMF


def calibration(
    model: JointPMF,
    data: Any,
    target: str | None = None,
    *,
    ax: Axes | None = None,
    sample_weight: Any = None,
    n_bins: int = 10,
    unknown: Unknown = "error",
) -> Axes:
    """Draw the observed share of labels against their predicted probability, given the rest of each row.

    Predictions on the diagonal are right on average. The grey bars are two standard deviations of a perfectly
    calibrated model to either side. The area of a point grows with the number of its predictions. Use rows that the
    model was not fitted to.

    Parameters
    ----------
    model : JointPMF
        The model.
    data : frame, mapping, array or path
        Rows with the target observed, as in :func:`juror.fit`.
    target : str, optional
        The variable to predict; by default the one named when fitting.
    ax : matplotlib Axes, optional
        The Axes to draw into; new ones by default.
    sample_weight : array-like (n_rows,) or str, optional
        The weight of each row, or the name of the weight column.
    n_bins : int
        The number of bins of equal width for the predictions.
    unknown : {"error", "warn", "missing"}
        What to do with labels that the model does not know.

    Examples
    --------
    >>> import juror
    >>> titanic = juror.datasets.titanic()
    >>> model = juror.fit(titanic.iloc[::2], rank=4, method="em", target="Survived")
    >>> ax = calibration(model, titanic.iloc[1::2], n_bins=4)
    >>> ax.collections[-1].get_offsets().round(2).tolist()
    [[0.17, 0.17], [0.38, 0.39], [0.62, 0.61], [0.83, 0.83]]
    """
    position = model.target(target)
    if isinstance(sample_weight, str):
        expected = replace(model.domain.expected, choose=model.domain.known)
        scan, _ = open_weighted(data, model.domain.missing, expected, sample_weight)
        columns, weights = take_weights(read_whole(scan), sample_weight)
    else:
        columns = model.domain.open(data)
        n_rows = len(columns[0].index)
        weights = np.ones(n_rows) if sample_weight is None else check_weights(sample_weight, n_rows)
    counted = weights > 0
    codes = model.domain.encode_columns(columns, unknown)[counted]
    judged = judging.calibration(model, codes, weights[counted], position, n_bins)
    owned = ax is None
    ax = new_axes(ax, 5.6, 5.4)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")
    predicted, reach = np.array(judged.predicted), 2 * np.array(judged.spread)
    ax.vlines(predicted, predicted - reach, predicted + reach, color=GREY, alpha=0.45, linewidth=5)
    ax.plot(judged.predicted, judged.observed, color=BLUE, linewidth=1.2)
    heaviest = max(judged.weight)
    ax.scatter(
        judged.predicted, judged.observed, s=[12 + 140 * w / heaviest for w in judged.weight], color=BLUE, zorder=3
    )
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    ax.set(xlabel="probability predicted", ylabel="share seen")
    open_frame(ax, "both")
    settle(ax, owned)
    without = f"{percent(judged.reference_accuracy)} without the other columns"
    found = f"{percent(judged.accuracy)} of {judged.n_rows:,.0f} rows predicted ({without})"
    left_out = f"; {judged.n_impossible:,.0f} impossible rows left out" if judged.n_impossible else ""
    set_title(ax, f"{judged.target}: {found}; calibration error {percent(judged.error)}{left_out}")
    return ax
