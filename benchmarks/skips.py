"""Questions that were not asked: missing cells summed out, or a label of their own, on the General Social Survey.

    JUROR_DATA=… python benchmarks/skips.py

Both models are fitted to the same rows. On rows held out, one answer of every row is hidden and predicted from the
other cells of the row, given that there is an answer: mean log-probability in nats, of the models and of the shares
among all answers. Then both are asked about years in which a question was not asked; docs/guides/skips.md is about
this.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

import juror

ITEMS = ["abany", "absingle", "abpoor", "abhlth"]
COLUMNS = ["year", "sex", "race", "partyid", "relactiv", "hispanic", *ITEMS]
N_HELD = 8_000
CHOICES = {"summed out": {}, "a label": "auto"}


def survey() -> pd.DataFrame:
    """Read the columns of the survey, with words for the answers to the items."""
    table = pd.read_parquet(Path(os.environ["JUROR_DATA"]) / "gss_abortion" / "gss_abortion.parquet")[COLUMNS]
    return table.replace({item: {0: "no", 1: "yes"} for item in [*ITEMS, "hispanic"]}).sample(frac=1, random_state=0)


def log_prob_of_answers(model: juror.JointPMF, rows: pd.DataFrame, item: str) -> float:
    """Return the mean log-probability of the answers to an item, each hidden in turn, given that there is one."""
    answered = rows[rows[item].notna()]
    labels = model.domain[item].present_labels
    chances = model.predict_proba(answered, target=item)[:, : len(labels)]
    places = np.array([labels.index(answer) for answer in answered[item]])
    return float(np.log(chances[np.arange(len(places)), places] / chances.sum(axis=1)).mean())


def main() -> None:
    """Fit both models and print what they say."""
    table = survey()
    held, rows = table[:N_HELD], table[N_HELD:]
    models = {}
    for name, missing_as in CHOICES.items():
        began = time.perf_counter()
        models[name] = juror.fit(rows, method="em", missing_as=missing_as)
        print(f"{name}: rank {models[name].rank}, {time.perf_counter() - began:.0f} s")
    print("labels for:", models["a label"].info.labelled_missing)
    print(f"\n{'answer held out':16}" + "".join(f"{name:>12}" for name in ("shares", *models)))
    for item in ITEMS:
        shares = rows[item].value_counts(normalize=True)
        alone = float(np.log(shares[held[item].dropna()]).mean())
        found = [log_prob_of_answers(model, held, item) for model in models.values()]
        print(f"{item:16}" + "".join(f"{number:12.4f}" for number in (alone, *found)))
    for question, given in (("abany", "year = 1974"), ("abany", "year = 2018"), ("relactiv", "year = 1974")):
        for name, model in models.items():
            answer = model.ask(f"{question} | {given}").to_pandas()
            print(f"\n{question} | {given}, {name}\n{answer.round(3).to_string()}")


if __name__ == "__main__":
    main()
