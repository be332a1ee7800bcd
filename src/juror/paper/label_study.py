"""Table 7: predict the label of a row from its features, with juror and with scikit-learn.

juror fits the joint distribution of features and label on the training part and predicts the most probable label given
the features. A missing cell stays missing; scikit-learn gets it as a label ``missing``. Ranks, and the parameters of
scikit-learn, are chosen by the accuracy on the validation part, the first among equals; the choice is then measured
once on the test part. The truth is unknown, so there is no third reference row.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.domain import Domain
from juror.errors import JurorError, JurorWarning, ParameterError, warn
from juror.fitting import fit
from juror.model import JointPMF
from juror.paper.recipes import LEVELS, TARGET, labelled, split
from juror.paper.settings import Cell

if TYPE_CHECKING:
    import pandas as pd

_MISSING = "missing"
_TRIES = 500


def label_fit(cell: Cell) -> dict[str, Any]:
    """Fit the joint at every rank of the grid; measure the one with the best accuracy on the validation part."""
    train, validation, test = split(str(cell.column), cell.seed)
    domain = Domain.infer(labelled(str(cell.column)), levels=LEVELS[str(cell.column)])
    best: tuple[float, JointPMF] | None = None
    refused = ""
    began = time.perf_counter()
    for rank in cell.ranks:
        try:
            model = fit(
                train, rank, cell.method, domain=domain, missing_as={}, seed=cell.seed, n_jobs=1, **cell.options
            )
            found = accuracy(model, validation)
        except JurorError as error:
            refused = f"rank {rank} failed: {error}"
            warn(JurorWarning(refused))
            continue
        if best is None or found > best[0]:
            best = found, model
    if best is None:
        raise ParameterError(f"None of the ranks {list(cell.ranks)} could be fitted; {refused}")
    seconds = time.perf_counter() - began
    return {"accuracy": accuracy(best[1], test), "rank": best[1].rank, "seconds": seconds}


def accuracy(model: JointPMF, rows: pd.DataFrame) -> float:
    """Return the percentage of rows whose label is the most probable one given their other cells."""
    return 100 * float(np.mean(model.predict(rows, target=TARGET) == rows[TARGET].to_numpy()))


def classify(cell: Cell) -> dict[str, Any]:
    """Train a classifier of scikit-learn with a few parameters; measure the best one on the validation part."""
    parts = split(str(cell.column), cell.seed)
    labels = [part[TARGET].to_numpy() for part in parts]
    (train, validation, test), sizes = _features(cell, parts)
    began = time.perf_counter()
    fitted = [classifier.fit(train, labels[0]) for classifier in _candidates(cell.method, cell.seed, sizes)]
    chosen = max(fitted, key=lambda classifier: classifier.score(validation, labels[1]))
    seconds = time.perf_counter() - began
    return {"accuracy": 100 * float(chosen.score(test, labels[2])), "seconds": seconds}


def _features(cell: Cell, parts: list[pd.DataFrame]) -> tuple[list[np.ndarray], list[int]]:
    """Return the features of every part, as codes for naive Bayes and one-hot for the others, and I_n."""
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    every, *shown = (
        part.drop(columns=TARGET).astype(object).fillna(_MISSING) for part in (labelled(str(cell.column)), *parts)
    )
    # Labels from all rows: the set of labels is known beforehand, also to juror.
    encoder = OrdinalEncoder() if cell.method == "naive bayes" else OneHotEncoder(sparse_output=False)
    encoder.fit(every)
    return [encoder.transform(part) for part in shown], [len(labels) for labels in encoder.categories_]


def _candidates(method: str, seed: int, sizes: list[int]) -> list[Any]:
    """Return classifiers of scikit-learn with a few parameters, for features of these numbers of labels."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    return {
        "logistic regression": [LogisticRegression(C=C, max_iter=_TRIES) for C in (1.0, 0.1, 10.0, 100.0)],
        "svm-rbf": [SVC(C=C) for C in (1.0, 10.0, 100.0)],
        "naive bayes": [CategoricalNB(alpha=alpha, min_categories=sizes) for alpha in (1.0, 0.1, 0.01)],
        "neural net": [MLPClassifier(width, max_iter=_TRIES, random_state=seed) for width in ((20,), (50,))],
    }[method]


def label_reference(cell: Cell) -> dict[str, Any]:
    """Return the accuracy without features: one over the number of labels, or that of the most frequent label."""
    train, _, test = split(str(cell.column), cell.seed)
    if cell.method == "uniform":
        # All labels tie, so the accuracy is that of a random guess.
        return {"accuracy": 100 / labelled(str(cell.column))[TARGET].nunique()}
    return {"accuracy": 100 * float(np.mean(test[TARGET] == train[TARGET].mode()[0]))}
