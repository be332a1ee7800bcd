"""What tells drawn rows from real ones: sdmetrics' report, an XGBoost classifier, and what that looks at.

``judge`` judges rows, whoever drew them.
"""

from __future__ import annotations

import itertools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.accuracy.cells import Measured

import juror

if TYPE_CHECKING:
    import pandas as pd

_FOLDS = 3
# Columns whose pairs are looked at alone, by importance, and the trees of these detectors
_LOOKED_AT, _FEW_TREES = 5, 40


def judge(real: pd.DataFrame, drawn: pd.DataFrame, numbers: list[str]) -> Measured:
    """Return shapes, trends and C2ST of drawn rows; of each 1 is best."""
    from sdmetrics.reports.single_table import QualityReport

    real, drawn = _typed(real, numbers), _typed(drawn[list(real.columns)], numbers)
    metadata = {"columns": {c: {"sdtype": "numerical" if c in numbers else "categorical"} for c in real.columns}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = QualityReport()
        report.generate(real, drawn, metadata, verbose=False)
        score = report.get_properties().set_index("Property")["Score"]
        try:
            c2st = _detection().compute(real, drawn, metadata=metadata)
        except ValueError as error:
            # It knows the labels of the first rows alone.
            raise juror.JurorError(f"sdmetrics cannot tell these rows apart: {error}") from error
    return {"c2st": float(c2st), "shapes": float(score["Column Shapes"]), "trends": float(score["Column Pair Trends"])}


def shapes(real: pd.DataFrame, drawn: pd.DataFrame, numbers: list[str]) -> float:
    """Return the column shapes alone, as the report of sdmetrics has them."""
    from sdmetrics.single_column import KSComplement, TVComplement

    real, drawn = _typed(real, numbers), _typed(drawn[list(real.columns)], numbers)
    scores = [(KSComplement if c in numbers else TVComplement).compute(real[c], drawn[c]) for c in real.columns]
    return float(np.mean(scores))


def _typed(frame: pd.DataFrame, numbers: list[str]) -> pd.DataFrame:
    return frame.astype({c: float if c in numbers else str for c in frame.columns})


def _detection() -> Any:
    from sdmetrics.single_table.detection.sklearn import ScikitLearnClassifierDetectionMetric
    from xgboost import XGBClassifier

    class Detection(ScikitLearnClassifierDetectionMetric):
        name = "XGBoost detection"

        @staticmethod
        def _get_classifier() -> Any:
            return XGBClassifier(eval_metric="logloss", enable_categorical=True, random_state=0)

    return Detection


def c2st(real: pd.DataFrame, drawn: pd.DataFrame, numbers: list[str], **options: Any) -> tuple[float, dict[str, float]]:
    """Return 2 − 2 AUC of an XGBoost classifier with labels as codes, and the share of its gain by column."""
    import pandas as pd
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold
    from xgboost import XGBClassifier

    both = pd.concat([_typed(real, numbers), _typed(drawn[list(real.columns)], numbers)], ignore_index=True)
    x = both.apply(lambda column: column if column.name in numbers else pd.factorize(column, sort=True)[0])
    y = np.repeat([0, 1], [len(real), len(drawn)])
    scores, gains = [], dict.fromkeys(real.columns, 0.0)
    for fitted, judged in StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(x, y):
        model = XGBClassifier(eval_metric="logloss", random_state=0, **options).fit(x.iloc[fitted], y[fitted])
        scores.append(roc_auc_score(y[judged], model.predict_proba(x.iloc[judged])[:, 1]))
        for column, gain in model.get_booster().get_score(importance_type="total_gain").items():
            gains[column] += gain
    total = sum(gains.values()) or 1.0
    return 2 - 2 * max(float(np.mean(scores)), 0.5), {column: gain / total for column, gain in gains.items()}


def giveaways(real: pd.DataFrame, drawn: pd.DataFrame, numbers: list[str]) -> Measured:
    """Return the importance of every column, and the C2ST of the most important ones alone and in pairs."""
    _, gains = c2st(real, drawn, numbers)
    first = sorted(gains, key=gains.__getitem__, reverse=True)[:_LOOKED_AT]
    groups = [(name,) for name in first] + list(itertools.combinations(first, 2))
    alone = [c2st(real[list(g)], drawn[list(g)], numbers, n_estimators=_FEW_TREES)[0] for g in groups]
    return {
        "columns": list(gains),
        "gains": list(gains.values()),
        "groups": [" × ".join(group) for group in groups],
        "c2st_of_groups": alone,
    }
