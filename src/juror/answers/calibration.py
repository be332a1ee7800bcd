"""Calibration: whether labels predicted with probability p occur in a share p of the rows.

For every row r whose target label y_r is observed, the model predicts p_rx = p(x | the other cells). Each label x makes
a pair (r, x) of a prediction p_rx and an outcome [y_r = x]. Pairs are sorted into bins of equal width by their
prediction. With row weights w_r, over the pairs (r, x) in bin b,

    weight_b    = Σ w_r
    predicted_b = Σ w_r p_rx / weight_b
    observed_b  = Σ w_r [y_r = x] / weight_b
    error       = Σ_b weight_b |observed_b − predicted_b| / Σ_b weight_b

If the predictions are perfectly calibrated, the label of row r falls into bin b with probability S_rb, the sum of p_rx
over the labels in that bin. Rows are independent, so weight_b observed_b has the variance

    V_b = Σ_r w_r S_rb (1 − S_rb)

where a weight counts repeated rows. The mean absolute deviation is √(2 V_b / π) for a normal variable, and never above
2 V_b, which is smaller when the predictions are almost certain. So noise alone gives an error of about

    noise = Σ_b min(√(2 V_b / π), 2 V_b) / Σ_b weight_b

If every label is always unlikely, as for a variable with many labels, all pairs fall into the first bin, and error and
noise are both 0 up to rounding. Then compare log loss and accuracy with their references instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juror.answers.block import Mixture
from juror.answers.marginals import marginal
from juror.answers.scores import log_prob, predict_proba
from juror.errors import DataError, ZeroProbabilityError, check_count
from juror.kernels.logarithms import log_of
from juror.readers.columns import MISSING


@dataclass(frozen=True)
class Calibration:
    """How predictions of one variable compare with the observed labels.

    Attributes
    ----------
    target : str
        The variable that is predicted.
    predicted, observed : tuple of float, (bins,)
        The mean predicted probability of every non-empty bin, in increasing order, and the share of its pairs (row,
        label) in which the row has the label.
    weight, spread : tuple of float, (bins,)
        For every bin, the total weight of its pairs, and the standard deviation √V_b / weight_b of the observed share
        under perfect calibration. The weights sum to ``n_rows`` times the number of labels.
    n_rows, n_impossible : float
        The total weight of the rows used, and of those left out because their other cells are impossible under the
        model.
    accuracy, reference_accuracy : float
        The share of rows whose most probable label is right, and the share if the most probable label of the marginal
        is always predicted.
    log_loss, reference_log_loss : float
        The mean of −log p(label) in nats, and that of the marginal; infinite if an impossible label is observed.
    brier, reference_brier : float
        The mean of Σ_x (p_x − [y = x])², and that of the marginal.
    error, noise : float
        The expected calibration error, which is the weighted mean of |observed − predicted|, and about the error of
        perfectly calibrated predictions; see :mod:`juror.answers.calibration`.
    """

    target: str
    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    weight: tuple[float, ...]
    spread: tuple[float, ...]
    n_rows: float
    n_impossible: float
    accuracy: float
    reference_accuracy: float
    log_loss: float
    reference_log_loss: float
    brier: float
    reference_brier: float
    error: float
    noise: float


def calibration(
    model: Mixture, codes: np.ndarray, weights: np.ndarray | None, target: int, n_bins: int = 10
) -> Calibration:
    """Predict one variable of every row from the row's other cells, and compare with the observed labels.

    Codes are (n_rows, N), −1 for missing; weights (n_rows,), one by default. Rows whose target is missing, and rows of
    weight zero, are ignored. Bins have equal width; empty ones are left out.

    Examples
    --------
    >>> from juror import JointPMF
    >>> model = JointPMF([0.5, 0.5], [[[0.9, 0.1], [0.1, 0.9]], [[1.0, 0.0], [0.0, 1.0]]])
    >>> judged = calibration(model, np.array([[0, 0]] * 8 + [[1, 0]] * 2 + [[-1, 1]]), None, target=0)
    >>> [round(share, 6) for share in judged.predicted], judged.observed, judged.n_rows
    ([0.1, 0.9], (0.2, 0.8), 10.0)
    >>> round(judged.error, 6), round(judged.noise, 3), judged.accuracy
    (0.1, 0.076, 0.8)
    """
    check_count("n_bins", n_bins)
    weights = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=float)
    seen = (codes[:, target] != MISSING) & (weights > 0)
    p, possible = _predictions(model, codes[seen], target)
    labels, w = codes[seen, target][possible].astype(np.int64), weights[seen][possible]
    if len(w) == 0:
        raise DataError(
            f"No row that is possible under this model shows {model.domain[target].name!r}, so its predictions cannot "
            "be judged. Give rows that do, or leave the variable out."
        )
    reference = np.broadcast_to(marginal(model, [target]), p.shape)
    accuracy, log_loss, brier = _scores(p, labels, w)
    reference_accuracy, reference_log_loss, reference_brier = _scores(reference, labels, w)
    weight, predicted, outcomes, variance = _bins(p, labels, w, n_bins)
    return Calibration(
        target=model.domain[target].name,
        predicted=tuple((predicted / weight).tolist()),
        observed=tuple((outcomes / weight).tolist()),
        weight=tuple(weight.tolist()),
        spread=tuple((np.sqrt(variance) / weight).tolist()),
        n_rows=float(w.sum()),
        n_impossible=float(weights[seen][~possible].sum()),
        accuracy=accuracy,
        reference_accuracy=reference_accuracy,
        log_loss=log_loss,
        reference_log_loss=reference_log_loss,
        brier=brier,
        reference_brier=reference_brier,
        error=float(np.abs(outcomes - predicted).sum() / weight.sum()),
        noise=float(mean_distance(variance).sum() / weight.sum()),
    )


def mean_distance(variances: np.ndarray) -> np.ndarray:
    """Return the approximate mean absolute deviation of counts with these variances.

    √(2 V / π) for a normal variable, and never above 2 V, which is smaller for very small V.

    >>> mean_distance(np.array([100.0, 0.01])).round(3).tolist()
    [7.979, 0.02]
    """
    return np.minimum(np.sqrt(2 * variances / np.pi), 2 * variances)


def _predictions(model: Mixture, codes: np.ndarray, target: int) -> tuple[np.ndarray, np.ndarray]:
    """Return p(target | the other cells) of the rows whose other cells are possible, and which these are, (rows,)."""
    possible = np.ones(len(codes), dtype=bool)
    try:
        return predict_proba(model, codes, target), possible
    except ZeroProbabilityError:
        # This is rare, so only now are the rows scored to find the impossible ones.
        others = codes.copy(order="K")
        others[:, target] = MISSING
        possible = log_prob(model, others) > -np.inf
        return predict_proba(model, codes[possible], target), possible


def _scores(p: np.ndarray, labels: np.ndarray, w: np.ndarray) -> tuple[float, float, float]:
    """Return accuracy, log loss and Brier score of predictions (rows, I) for labels (rows,) of weights (rows,)."""
    own = p[np.arange(len(labels)), labels]
    hits = p.argmax(axis=1) == labels
    # Σ_x (p_x − [y = x])² without the indicators
    squares = (p * p).sum(axis=1) - 2 * own + 1
    accuracy, log_loss, brier = (float(w @ score) / float(w.sum()) for score in (hits, -log_of(own), squares))
    # Rounding may leave a value slightly below zero, or −0.0.
    return accuracy, max(0.0, log_loss), max(0.0, brier)


def _bins(
    p: np.ndarray, labels: np.ndarray, w: np.ndarray, n_bins: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sort predictions (rows, I) of labels (rows,) into bins of equal width.

    Return the weight of every non-empty bin, its sums of predictions and of outcomes, and V_b, (bins,) each.
    """
    rows = np.arange(len(p))
    # Predictions of one, or above one by rounding, belong to the last bin.
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    cells = (rows[:, None] * n_bins + bins).ravel()
    S = np.bincount(cells, p.ravel(), minlength=len(p) * n_bins).reshape(len(p), n_bins)
    pairs = np.bincount(cells, minlength=len(p) * n_bins).reshape(len(p), n_bins)
    weight = w @ pairs
    outcomes = np.bincount(bins[rows, labels], w, minlength=n_bins)
    # S is one, up to rounding, for a row whose labels are all in one bin.
    variance = w @ np.maximum(S * (1 - S), 0.0)
    some = weight > 0
    return weight[some], (w @ S)[some], outcomes[some], variance[some]
