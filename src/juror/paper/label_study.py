"""Table 7: the label of a row from its features, by ours and by scikit-learn.

Ours fit the joint distribution of features and label on the training part, the label as one more variable, and take
the most probable label given the rest. A missing cell stays missing; scikit-learn gets it as a label ``missing``. Ranks
and the others' parameters are chosen by the accuracy on the validation part, the first of equals; all is then measured
once on the test part. No truth is known here, so there is no third reference row.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.domain import Domain
from juror.errors import JurorError, JurorWarning, ParameterError
from juror.fitting import fit
from juror.model import JointPMF
from juror.paper.recipes import LEVELS, TARGET, labelled, split
from juror.paper.settings import Cell

if TYPE_CHECKING:
    import pandas as pd

_MISSING = "missing"
_TRIES = 500


def label_fit(cell: Cell) -> dict[str, Any]:
    """Fit the joint at every rank of the grid and measure the one that labels the validation part best."""
    train, validation, test = split(str(cell.column), cell.seed)
    domain = Domain.infer(labelled(str(cell.column)), levels=LEVELS[str(cell.column)])
    best: tuple[float, JointPMF] | None = None
    refused = ""
    began = time.perf_counter()
    for rank in cell.ranks:
        try:
            model = fit(train, rank, cell.method, domain=domain, seed=cell.seed, n_jobs=1, **cell.options)
            found = accuracy(model, validation)
        except JurorError as error:
            refused = f"rank {rank} failed: {error}"
            warnings.warn(refused, JurorWarning, stacklevel=2)
            continue
        if best is None or found > best[0]:
            best = found, model
    if best is None:
        raise ParameterError(f"None of the ranks {list(cell.ranks)} could be fitted; {refused}")
    seconds = time.perf_counter() - began
    return {"accuracy": accuracy(best[1], test), "rank": best[1].rank, "seconds": seconds}


def accuracy(model: JointPMF, rows: pd.DataFrame) -> float:
    """Return the per cent of rows whose label is the most probable one given their other cells."""
    return 100 * float(np.mean(model.predict(rows, target=TARGET) == rows[TARGET].to_numpy()))


def classify(cell: Cell) -> dict[str, Any]:
    """Train a classifier of scikit-learn with each of a few parameters and measure the best on the validation part."""
    parts = split(str(cell.column), cell.seed)
    labels = [part[TARGET].to_numpy() for part in parts]
    (train, validation, test), sizes = _features(cell, parts)
    began = time.perf_counter()
    scored = []
    for number, classifier in enumerate(_CLASSIFIERS[cell.method](cell.seed, sizes)):
        classifier.fit(train, labels[0])
        scored.append((classifier.score(validation, labels[1]), -number, classifier))
    chosen = max(scored, key=lambda entry: entry[:2])[2]
    seconds = time.perf_counter() - began
    return {"accuracy": 100 * float(chosen.score(test, labels[2])), "seconds": seconds}


def _features(cell: Cell, parts: list[pd.DataFrame]) -> tuple[list[np.ndarray], list[int]]:
    """Return the features of every part, codes for naive Bayes and indicators of labels for the others, and I_n."""
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    every, *shown = (
        part.drop(columns=TARGET).astype(object).fillna(_MISSING) for part in (labelled(str(cell.column)), *parts)
    )
    # labels from all rows: which there may be is known beforehand, as it is to ours
    encoder = OrdinalEncoder() if cell.method == "naive bayes" else OneHotEncoder(sparse_output=False)
    encoder.fit(every)
    return [encoder.transform(part) for part in shown], [len(labels) for labels in encoder.categories_]


def _logistic(seed: int, sizes: list[int]) -> Iterator[Any]:
    from sklearn.linear_model import LogisticRegression

    return (LogisticRegression(C=C, max_iter=_TRIES) for C in (1.0, 0.1, 10.0, 100.0))


def _svm(seed: int, sizes: list[int]) -> Iterator[Any]:
    from sklearn.svm import SVC

    return (SVC(C=C) for C in (1.0, 10.0, 100.0))


def _naive_bayes(seed: int, sizes: list[int]) -> Iterator[Any]:
    from sklearn.naive_bayes import CategoricalNB

    return (CategoricalNB(alpha=alpha, min_categories=sizes) for alpha in (1.0, 0.1, 0.01))


def _neural_net(seed: int, sizes: list[int]) -> Iterator[Any]:
    from sklearn.neural_network import MLPClassifier

    return (MLPClassifier(width, max_iter=_TRIES, random_state=seed) for width in ((20,), (50,)))


_CLASSIFIERS: dict[str, Callable[[int, list[int]], Iterator[Any]]] = {
    "logistic regression": _logistic,
    "svm-rbf": _svm,
    "naive bayes": _naive_bayes,
    "neural net": _neural_net,
}


def label_reference(cell: Cell) -> dict[str, Any]:
    """Return what the label alone gives: one over the number of labels, or the share of the most frequent one."""
    train, _, test = split(str(cell.column), cell.seed)
    if cell.method == "uniform":
        # all labels tie, and a tie is right as often as a guess
        return {"accuracy": 100 / labelled(str(cell.column))[TARGET].nunique()}
    return {"accuracy": 100 * float(np.mean(test[TARGET] == train[TARGET].mode()[0]))}
