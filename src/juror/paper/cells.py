"""Run one cell: draw its data, fit, measure, and record the warnings and the time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from juror.compare import factor_mse, tensor_error
from juror.errors import Complaint, FitWarning, JurorError
from juror.fitting import fit
from juror.model import JointPMF
from juror.paper.label_study import classify, label_fit, label_reference
from juror.paper.limit import posterior_mean
from juror.paper.recipes import labelled
from juror.paper.settings import Cell

Measured = dict[str, Any]


def run(cell: Cell) -> dict[str, Any]:
    """Compute a cell.

    Returns
    -------
    dict
        What identifies the cell, ``seconds``, ``warnings`` (texts), ``complaints`` (their kinds), ``failed`` (the
        sentence of a refusal, or None) and ``measured``: ``mse``, ``mse_per_component`` and ``tensor_error``, or
        ``accuracy`` and ``rank``. A refusal of ours is a result; any other exception is a bug and is not caught.
    """
    if cell.recipe is None:
        # Data that cannot be read are an error, not a result.
        labelled(str(cell.column))
    began = time.perf_counter()
    failed: str | None = None
    measured: Measured = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            measured = TASKS[cell.task](cell)
        except JurorError as error:
            failed = str(error)
    # The time of the fit alone, if there is one: data and measures are the same for all methods.
    seconds = measured.pop("seconds", time.perf_counter() - began)
    return {
        **{name: getattr(cell, name) for name in ("fingerprint", "table", "column", "method", "seed", "quick")},
        "measured": measured,
        "seconds": round(seconds, 4),
        "warnings": sorted({str(warning.message) for warning in caught}),
        "complaints": sorted({kind for kind in map(_kind, caught) if kind}),
        "failed": failed,
    }


def _synthetic(cell: Cell) -> Measured:
    """Draw rows from a true model, estimate it, and measure the errors."""
    assert cell.recipe is not None
    truth, codes = cell.recipe.truth(cell.seed), cell.recipe.rows(int(cell.column), cell.seed)
    began = time.perf_counter()
    model = _REFERENCES.get(cell.method, _fit)(truth, codes, cell)
    seconds = time.perf_counter() - began
    errors = {"tensor_error": float(tensor_error(truth, model)), "seconds": seconds}
    if model.rank > truth.rank:
        # The classes of a mean of models cannot be matched.
        return errors
    mse, mse_per_component = (float(factor_mse(truth, model, per_component=each)) for each in (False, True))
    return {"mse": mse, "mse_per_component": mse_per_component} | errors


def _fit(truth: JointPMF, codes: np.ndarray, cell: Cell) -> JointPMF:
    return fit(codes, truth.rank, cell.method, domain=truth.domain, seed=cell.seed, n_jobs=1, **cell.options)


def _uniform(truth: JointPMF, codes: np.ndarray, cell: Cell) -> JointPMF:
    """Return the constant guess A = 1/I, λ = 1/F."""
    return one_class(truth, [np.full(size, 1 / size) for size in truth.domain.cardinalities])


def _independent(truth: JointPMF, codes: np.ndarray, cell: Cell) -> JointPMF:
    """Return independent variables, each with the label shares of its observed cells, without smoothing."""
    columns = zip(codes.T, truth.domain.cardinalities, strict=True)
    counts = [np.bincount(column[column >= 0], minlength=size) for column, size in columns]
    return one_class(truth, [count / count.sum() for count in counts])


def _em_from_truth(truth: JointPMF, codes: np.ndarray, cell: Cell) -> JointPMF:
    """Return the result of EM started at the truth: maximum likelihood without the search for a start."""
    return fit(codes, truth.rank, "em", init=truth, domain=truth.domain, seed=cell.seed, n_jobs=1, **cell.options)


def _bayes_limit(truth: JointPMF, codes: np.ndarray, cell: Cell) -> JointPMF:
    """Return the posterior mean under the distribution of the truths: no estimator has a smaller mean error."""
    return posterior_mean(codes, truth, cell.seed, **cell.options)


def one_class(truth: JointPMF, columns: list[np.ndarray]) -> JointPMF:
    """Return a product of distributions as F equal classes of weight 1/F, so that factors can be compared."""
    F = truth.rank
    return JointPMF(np.full(F, 1 / F), [np.repeat(column[:, None], F, axis=1) for column in columns], truth.domain)


_REFERENCES: dict[str, Callable[[JointPMF, np.ndarray, Cell], JointPMF]] = {
    "uniform": _uniform,
    "independent": _independent,
    "em-from-truth": _em_from_truth,
    "bayes-limit": _bayes_limit,
}
TASKS: dict[str, Callable[[Cell], Measured]] = {
    "fit": _synthetic,
    "reference": _synthetic,
    "label fit": label_fit,
    "classifier": classify,
    "label reference": label_reference,
}


def _kind(caught: warnings.WarningMessage) -> str | None:
    """Return the kind of complaint behind a warning, if it is about the fit."""
    message = caught.message.message if isinstance(caught.message, FitWarning) else None
    return message.kind if isinstance(message, Complaint) else None
