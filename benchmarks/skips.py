"""Questions that were not asked: missing cells summed out, or a label of their own, on the General Social Survey.

    JUROR_DATA=… python benchmarks/skips.py

Both models have the same rank and are fitted to the same rows, for several splits. On rows held out, one answer of
every row is hidden and predicted from the other cells of the row, given that there is an answer: mean log-probability
in nats, of the models and of the shares among all answers. Then the models of the last split are asked about a year in
which a question was not asked, and one in which it was. docs/guides/skips.md quotes this.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

import juror

ITEMS = ["abany", "absingle", "abpoor", "abhlth"]
COLUMNS = ["year", "sex", "race", "partyid", "relactiv", "hispanic", *ITEMS]
N_HELD, N_SPLITS, RANK = 8_000, 5, 32
CHOICES = {"summed out": {}, "a label": "auto"}


def survey() -> pd.DataFrame:
    """Read the columns of the survey, with words for the answers to the items."""
    table = pd.read_parquet(Path(os.environ["JUROR_DATA"]) / "gss_abortion" / "gss_abortion.parquet")[COLUMNS]
    return table.replace({item: {0: "no", 1: "yes"} for item in [*ITEMS, "hispanic"]})


def log_prob_of_answers(model: juror.JointPMF, rows: pd.DataFrame, item: str) -> float:
    """Return the mean log-probability of the answers to an item, each hidden in turn, given that there is one."""
    answered = rows[rows[item].notna()]
    labels = model.domain[item].present_labels
    chances = model.predict_proba(answered, target=item)[:, : len(labels)]
    places = np.array([labels.index(answer) for answer in answered[item]])
    return float(np.log(chances[np.arange(len(places)), places] / chances.sum(axis=1)).mean())


def held_out(models: dict[str, juror.JointPMF], rows: pd.DataFrame, held: pd.DataFrame, item: str) -> list[float]:
    """Return the mean log-probability of held-out answers by their shares in the rows, and by every model."""
    shares = rows[item].value_counts(normalize=True)
    alone = float(np.log(shares[held[item].dropna()]).mean())
    return [alone, *(log_prob_of_answers(model, held, item) for model in models.values())]


def main() -> None:
    """Fit both models to every split and print what they say."""
    table, found = survey(), []
    for split in range(N_SPLITS):
        mixed = table.sample(frac=1, random_state=split)
        held, rows = mixed[:N_HELD], mixed[N_HELD:]
        models = {
            name: juror.fit(rows, RANK, "em", missing_as=missing_as, seed=split) for name, missing_as in CHOICES.items()
        }
        found.append([held_out(models, rows, held, item) for item in ITEMS])
    print("labels for:", models["a label"].info.labelled_missing)
    # (splits, items, ways)
    numbers = np.array(found)
    gains = numbers[..., 2] - numbers[..., 1]
    print(f"\n{'answer held out':16}" + "".join(f"{name:>12}" for name in ("shares", *CHOICES)) + "   gain, its spread")
    for i, item in enumerate(ITEMS):
        means = "".join(f"{number:12.4f}" for number in numbers[:, i].mean(axis=0))
        print(f"{item:16}{means}{gains[:, i].mean():9.4f} ± {gains[:, i].std(ddof=1):.4f}")
    for given in ("year = 1974", "year = 2018"):
        for name, model in models.items():
            answer = {label: round(model.prob({"abany": label}, given), 3) for label in model.domain["abany"].labels}
            print(f"abany | {given}, {name}: {answer}")


if __name__ == "__main__":
    main()
