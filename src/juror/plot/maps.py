"""Heat maps: the joint table of two variables, and the dependence between all variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from juror.errors import QueryError, check_choice
from juror.plot import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from juror.model import Given, JointPMF

_MOST_WRITTEN = 120
_FEW_VARIABLES = 12


def pair(model: JointPMF, a: str, b: str, given: Given = None, *, ax: Axes | None = None, show: str = "joint") -> Axes:
    """Draw the joint table of two variables, the labels of ``a`` as rows and those of ``b`` as columns.

    Parameters
    ----------
    model : JointPMF
        The model.
    a, b : str
        The variables.
    given : mapping or str, optional
        Evidence, as in :meth:`JointPMF.marginal`.
    ax : matplotlib Axes, optional
        The Axes to draw into; new ones by default.
    show : {"joint", "residuals"}
        The probabilities p(a, b), or their deviation from independence,
        (p(a, b) − p(a) p(b)) / √(p(a) p(b)): Pearson's residuals of n rows over √n, whose squares sum to χ² / n.

    Examples
    --------
    >>> import juror
    >>> model = juror.JointPMF([0.5, 0.5], [[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.1], [0.3, 0.9]]])
    >>> pair(model, "x0", "x1").images[0].get_array().round(3).tolist()
    [[0.325, 0.225], [0.075, 0.375]]
    """
    check_choice("show", show, ("joint", "residuals"))
    table = model.marginal(a, b, given=given)
    signed = show == "residuals"
    values = _residuals(table.to_numpy()) if signed else table.to_numpy()
    rows, columns = (variable.labels for variable in table.variables)
    is_written = values.size <= _MOST_WRITTEN
    width = max(0.62 * len(columns), 3.4) if is_written else max(0.2 * len(columns), 4.0)
    owned = ax is None
    ax = canvas.new_axes(ax, 1.6 + canvas.room_for(rows) + width, 1.6 + max(0.32 * len(rows), 1.4))
    meaning = "Pearson residual / √n" if signed else "probability"
    image = canvas.heat(ax, values, signed=signed, meaning=meaning)
    canvas.name_rows(ax, rows)
    ax.set(xlabel=canvas.words(b), ylabel=canvas.words(a))
    canvas.settle(ax, owned)
    canvas.name_columns(ax, columns)
    if is_written:
        texts = [[_signed(x) if signed else canvas.percent(x) for x in row] for row in values.tolist()]
        canvas.write_cells(ax, image, texts)
    canvas.set_title(ax, f"{table.title}: above (orange) and below (blue) independence" if signed else table.title)
    return ax


def _residuals(joint: np.ndarray) -> np.ndarray:
    """Return (p(a, b) − p(a) p(b)) / √(p(a) p(b)) of a table, (I_a, I_b), zero where a label never occurs."""
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return np.divide(joint - independent, np.sqrt(independent), out=np.zeros_like(joint), where=independent > 0)


def _signed(value: float) -> str:
    # no sign before a zero
    text = f"{value:+.2f}"
    return "0" if float(text) == 0 else text.replace("-", "−")


def dependence(model: JointPMF, *, ax: Axes | None = None) -> Axes:
    """Draw the dependence between every two variables, with dependent variables next to each other.

    A cell is the normalised mutual information of :meth:`JointPMF.dependence`, from 0 for independent variables to 1 if
    one determines the other, in the order of :meth:`DependenceMatrix.clustered`. The diagonal, always 1, is grey.

    Parameters
    ----------
    model : JointPMF
        The model, of at least two variables.
    ax : matplotlib Axes, optional
        The Axes to draw into; new ones by default.

    Examples
    --------
    >>> import juror
    >>> model = juror.fit(juror.datasets.titanic(), rank=4, method="em")
    >>> [tick.get_text() for tick in dependence(model).get_yticklabels()]
    ['Age', 'Class', 'Sex', 'Survived']
    """
    if len(model.domain) < 2:
        raise QueryError(f"The model has one variable, {model.domain.names[0]!r}, so there is nothing to depend on.")
    matrix = model.dependence().clustered()
    N = len(matrix.names)
    values = matrix.to_numpy()
    texts = [["" if i == j else f"{values[i, j]:.2f}" for j in range(N)] for i in range(N)]
    np.fill_diagonal(values, np.nan)
    side = max(0.48 * N, 2.4) if N <= _FEW_VARIABLES else 0.2 * N + 2.6
    room = canvas.room_for(matrix.names)
    owned = ax is None
    ax = canvas.new_axes(ax, side + room + 1.2, side + 0.75 * room + 0.6)
    image = canvas.heat(ax, values, meaning="normalised mutual information")
    canvas.name_rows(ax, matrix.names)
    canvas.settle(ax, owned)
    canvas.name_columns(ax, matrix.names)
    if N <= _FEW_VARIABLES:
        canvas.write_cells(ax, image, texts)
    canvas.set_title(ax, "How much two variables tell about each other")
    return ax
