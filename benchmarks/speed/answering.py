"""The others' answers about rows: log-probabilities, class posteriors, draws, and the bare arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .layout import Layout
from .peers import pomegranate_model, pomegranate_table, stepmix_model, stepmix_table
from .tasks import Task, factors_of, load
from .worker import Trial, timed_each


def _mean(values: np.ndarray) -> dict[str, Any]:
    return {"sum": float(np.asarray(values, dtype=float).mean())}


def _square(R: np.ndarray) -> dict[str, Any]:
    R = np.asarray(R, dtype=float)
    return {"sum": float((R**2).sum() / len(R))}


def _zeros(drawn: np.ndarray) -> dict[str, Any]:
    return {"sum": float((np.asarray(drawn)[:, 0] == 0).mean())}


_CHECKS: dict[str, Callable[[Any], dict[str, Any]]] = {"log_prob": _mean, "predict_proba": _square, "sample": _zeros}


def numpy_answers(task: str, what: str) -> Trial:
    """NumPy by gathering, some rows at a time."""
    given = load(task)
    layout = Layout([len(factor) for factor in factors_of(given)])
    log_lam, logs = np.log(given["lam"]), np.log(layout.stack(factors_of(given)))
    codes = given["codes"]

    def run() -> np.ndarray:
        out = np.empty(len(codes) if what == "log_prob" else (len(codes), len(log_lam)))
        size = max(16, 40_000 // len(log_lam))
        for start in range(0, len(codes), size):
            cells = layout.cells(codes[start : start + size])
            joint = log_lam + logs[cells[:, 0]]
            for n in range(1, cells.shape[1]):
                joint += logs[cells[:, n]]
            top = joint.max(axis=1, keepdims=True)
            joint -= top
            np.exp(joint, out=joint)
            total = joint.sum(axis=1, keepdims=True)
            if what == "log_prob":
                out[start : start + size] = (top + np.log(total))[:, 0]
            else:
                out[start : start + size] = joint / total
        return out

    return Trial(run, _CHECKS[what])


def stepmix_answers(task: str, what: str) -> Trial:
    """StepMix: ``score``, a mean alone, for log_prob; its class posteriors; its draws."""
    given = load(task)
    X = stepmix_table(given["codes"])
    model = stepmix_model(given, 1)
    model.fit(X[:300])
    model._initialize_parameters(X, np.random.RandomState(0))
    work: dict[str, Callable[[], Any]] = {
        "log_prob": lambda: model.score(X),
        "predict_proba": lambda: model.predict_proba(X),
        "sample": lambda: model.sample(len(X))[0],
    }
    return Trial(work[what], _CHECKS[what])


def pomegranate_answers(task: str, what: str) -> Trial:
    """Pomegranate: its log-probabilities, class posteriors and draws, in single precision."""
    import torch

    given = load(task)
    X = pomegranate_table(given["codes"])
    model = pomegranate_model(given)
    work: dict[str, Callable[[], Any]] = {
        "log_prob": lambda: model.log_probability(X),
        "predict_proba": lambda: model.predict_proba(X),
        "sample": lambda: model.sample(len(X)),
    }

    def run() -> np.ndarray:
        with torch.no_grad():
            return work[what]().numpy()

    return Trial(run, _CHECKS[what])


def naive_bayes(task: str, what: str) -> Trial:
    """scikit-learn: CategoricalNB, whose labels are the classes; the counts behind its probabilities are not needed."""
    given = load(task)
    X = given["codes"].astype(np.int64)
    model = categorical_nb(given)
    return Trial(lambda: model.predict_proba(X), _CHECKS[what])


def categorical_nb(task: Task) -> Any:
    """Return a CategoricalNB with given probabilities."""
    from sklearn.naive_bayes import CategoricalNB

    model = CategoricalNB()
    model.classes_ = np.arange(len(task["lam"]))
    model.class_count_ = task["lam"]
    model.class_log_prior_ = np.log(task["lam"])
    model.feature_log_prob_ = [np.log(factor.T) for factor in factors_of(task)]
    model.n_categories_ = np.array([len(factor) for factor in factors_of(task)])
    model.n_features_in_ = len(model.n_categories_)
    return model


def products(task: str, rows_at_once: list[int]) -> Trial:
    """Matrix products (rows, N) @ (N, F) in double and single precision, some rows at a time into the same place.

    In double precision also with (rows, F) @ (F, I) after each, which the probabilities of I labels add.
    """
    given = load(task)
    n_rows, N = given["codes"].shape
    rng = np.random.default_rng(0)
    left, right = rng.random((n_rows, N)), rng.random((N, len(given["lam"])))
    work: dict[str, Callable[[], Any]] = {}
    for dtype in ("float64", "float32"):
        a, b = left.astype(dtype), right.astype(dtype)
        for size in rows_at_once:
            out = np.empty((size, b.shape[1]), dtype=dtype)
            work[f"{dtype} {size}"] = lambda a=a, b=b, out=out: _product(a, b, out)
            if dtype == "float64":
                labels = np.ascontiguousarray(factors_of(given)[-1].T)
                work[f"labels {size}"] = lambda a=a, b=b, out=out, labels=labels: _product(a, b, out, labels)
    return timed_each(work)


def _product(left: np.ndarray, right: np.ndarray, out: np.ndarray, labels: np.ndarray | None = None) -> None:
    for start in range(0, len(left), len(out)):
        part = left[start : start + len(out)]
        np.matmul(part, right, out=out[: len(part)])
        if labels is not None:
            out[: len(part)] @ labels
