"""Accuracy on Car and Mushroom with the paper's splits: EM on features and label, rank chosen on the validation part.

Run with ``make accuracy``. Beside ours stand two reference rows: always the most frequent label, and naive Bayes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

import juror

SEEDS = range(5)


@dataclass(frozen=True)
class Setting:
    """A table, its split into training, validation and test rows, and the ranks to choose from."""

    table: str
    shares: tuple[float, float, float]
    ranks: Sequence[int]


SETTINGS = (Setting("car", (0.7, 0.1, 0.2), (40, 60, 80, 100)), Setting("mushroom", (0.5, 0.2, 0.3), (20, 40, 80)))
TARGET = "class"


def split(rows: pd.DataFrame, shares: Sequence[float], seed: int) -> list[pd.DataFrame]:
    """Cut rows at random into parts of the given shares."""
    order = np.random.default_rng(seed).permutation(len(rows))
    ends = np.round(np.cumsum(shares[:-1]) * len(rows)).astype(int)
    return [rows.iloc[part] for part in np.split(order, ends)]


def accuracy(model: juror.JointPMF, rows: pd.DataFrame) -> float:
    """Return the share of rows whose label is the most probable one given their other cells."""
    return float(np.mean(model.predict(rows, target=TARGET) == rows[TARGET]))


def run(setting: Setting, seed: int) -> dict[str, float]:
    """Return the chosen rank, and the test accuracy of ours and of the reference rows."""
    rows = juror.datasets.load(setting.table)
    domain = juror.Domain.infer(rows)
    train, validation, test = split(rows, setting.shares, seed)
    models = [juror.fit(train, rank, domain=domain, seed=seed, n_init=1, target=TARGET) for rank in setting.ranks]
    chosen = max(models, key=lambda model: accuracy(model, validation))
    return {
        "rank": chosen.rank,
        "juror EM": accuracy(chosen, test),
        "naive Bayes": accuracy(naive_bayes(train, domain), test),
        "most frequent label": float(np.mean(test[TARGET] == train[TARGET].mode()[0])),
    }


def naive_bayes(train: pd.DataFrame, domain: juror.Domain) -> juror.JointPMF:
    """Return naive Bayes as a model: a class for every label, which it decides."""
    codes = domain.encode(train)
    position = domain.position(TARGET)
    label, F = codes[:, position], domain[TARGET].cardinality
    factors = []
    for n, size in enumerate(domain.cardinalities):
        counts = np.full((size, F), 0.1)
        seen = codes[:, n] >= 0
        np.add.at(counts, (codes[seen, n], label[seen]), 1)
        factors.append(np.eye(F) if n == position else counts / counts.sum(axis=0))
    return juror.JointPMF(np.bincount(label, minlength=F) / len(label), factors, domain)


def main() -> None:
    warnings.simplefilter("ignore", juror.JurorWarning)
    for setting in SETTINGS:
        results = pd.DataFrame([run(setting, seed) for seed in SEEDS])
        ranks = results.pop("rank").tolist()
        print(f"\n{setting.table}, split {setting.shares}, {len(SEEDS)} seeds, ranks chosen {ranks}")
        print((100 * results.agg(["mean", "std"]).T).round(2).to_string())


if __name__ == "__main__":
    main()
