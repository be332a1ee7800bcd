"""What a person reads when something is wrong: the exact sentence for each of many mistakes."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pandas as pd
import pytest

import juror
from juror.errors import DataError

MODEL = juror.JointPMF(
    [0.6, 0.4],
    [[[0.7, 0.2], [0.3, 0.8], [0.0, 0.0]], [[0.5, 0.1], [0.5, 0.9]], [[0.2, 0.5], [0.3, 0.2], [0.5, 0.3]]],
    juror.Domain(
        (
            juror.Variable("colour", ("red", "blue", "green")),
            juror.Variable("size", (1, 2), "ordinal"),
            juror.Variable("age", ("[0, 18)", "[18, 65)", "[65, 120]"), "binned", (0, 18, 65, 120)),
        )
    ),
)
CODES = np.array([[0, 1], [1, 0], [0, 0]])

BAD = {
    "data of a strange type": (
        lambda: juror.fit(42),
        "Cannot read data of type int. Pass a pandas, polars or pyarrow frame, a dict of columns, a 2-D array of "
        "integer codes, the path of a .csv or .parquet file, or a stream of Arrow batches.",
    ),
    "one dimension": (
        lambda: juror.fit(np.arange(3)),
        "An array of data must have 2 dimensions, rows and variables. Got 1 instead. Use array.reshape(1, -1) for one "
        "row or array.reshape(-1, 1) for one variable.",
    ),
    "no rows": (lambda: juror.fit(pd.DataFrame({"a": []})), "The data have no rows. juror needs at least one."),
    "no columns": (lambda: juror.fit(pd.DataFrame()), "The data have no columns. juror needs at least one."),
    "duplicate names": (
        lambda: juror.fit(pd.DataFrame([[1, 2]], columns=["a", "a"])),
        "Column names must be unique; ['a'] occur more than once. Rename them.",
    ),
    "an empty name": (
        lambda: juror.fit({" ": ["x"]}),
        "Column 0 has an empty name. Give it one, or write the data without it if it holds the row numbers of a frame: "
        "with index=False in pandas, row.names=FALSE in R.",
    ),
    "a name that is no text": (
        lambda: juror.fit(pd.DataFrame({0: ["x"]})),
        "Column 0 is named 0, which is not text. Rename it, for example with frame.set_axis([str(name) for name "
        "in frame], axis=1).",
    ),
    "columns of different length": (
        lambda: juror.fit({"a": ["x"], "b": ["y", "z"]}),
        "Columns differ in length: 'a' has 1 rows and 'b' has 2. All must have the same.",
    ),
    "durations": (
        lambda: juror.fit({"when": [datetime.timedelta(1)]}),
        "Column 'when' holds durations or times of day (duration[us]), which juror does not read. Convert it to a "
        "number, such as hours, or to text, or drop it.",
    ),
    "lists in cells": (
        lambda: juror.fit({"a": [["x"], ["y"]]}),
        "Column 'a' holds values of type list<item: string>, which have no distribution over labels. Convert it "
        "to text, "
        "numbers or booleans, or drop it.",
    ),
    "intervals of pandas": (
        lambda: juror.fit(pd.DataFrame({"a": pd.cut([1, 2, 3], 2)})),
        "Column 'a' holds categories of type pandas.interval, which juror cannot label. Write them as text with "
        ".cat.rename_categories(str), which keeps their order, or pass the numbers: juror cuts them by itself.",
    ),
    "periods of pandas": (
        lambda: juror.fit(pd.DataFrame({"a": pd.period_range("2020-01", periods=3, freq="M")})),
        "Column 'a' holds values of type pandas.period, which have no distribution over labels. Convert them to dates "
        "with .dt.to_timestamp(), or to text with .astype(str).",
    ),
    "mixed types": (
        lambda: juror.fit({"a": ["x", 1, None]}),
        "Column 'a' mixes values of type int and str. Convert it to one type, for example to text with str.",
    ),
    "nothing but holes": (
        lambda: juror.fit({"a": [None, None], "b": ["x", "y"]}),
        "Column 'a' holds no value, only missing ones. Drop it, or pass a domain= that names its labels.",
    ),
    "too many labels": (
        lambda: juror.fit({"id": [f"row {i}" for i in range(1001)]}),
        "Column 'id' has 1001 distinct labels, more than max_levels = 1000. Drop it if it is an identifier, group its "
        "labels, or raise max_levels in Domain.infer.",
    ),
    "an infinite number": (
        lambda: juror.fit({"a": [1.5, np.inf, 2.5]}),
        "Column 'a' holds inf in row 1; numbers must be finite. Replace it, or pass missing=[float('inf')] to "
        "treat it as "
        "missing.",
    ),
    "a negative code": (
        lambda: juror.fit(np.array([[0], [-2]])),
        "Column 'x0' holds the code -2 in row 1; codes must be 0, 1, 2, … with −1 for missing. Pass a frame or "
        "a dict of "
        "columns if these are values and not codes.",
    ),
    "a code beyond the domain": (
        lambda: juror.fit(CODES, domain=juror.Domain.from_cardinalities([2, 1])),
        "Column 'x1' holds 1 in row 0, which is not a code in the range [0, 0]. Pass unknown=\"missing\" to "
        "treat it as "
        "missing.",
    ),
    "a cardinality of zero": (
        lambda: juror.Domain.from_cardinalities([2, 0]),
        "Cardinality 1 must be an int in the range [1, inf). Got 0 instead.",
    ),
    "a file that is not there": (
        lambda: juror.fit("nowhere.csv"),
        "There is no file or folder 'nowhere.csv'. Check the path.",
    ),
    "a file of another kind": (
        lambda: juror.fit("table.xlsx"),
        "The file 'table.xlsx' ends in '.xlsx'; juror reads ['.csv', '.tsv', '.parquet', '.pq', '.arrow', '.feather', "
        "'.ipc'], and the first two also with .gz or .zst behind. Save the table as one of these, or "
        "rename the file if it is one.",
    ),
    "rank zero": (
        lambda: juror.fit(CODES, rank=0),
        "rank must be 'auto', 'cv' or an int in the range [1, inf). Got 0 instead.",
    ),
    "a fractional rank": (
        lambda: juror.fit(CODES, rank=2.5),
        "rank must be 'auto', 'cv' or an int in the range [1, inf). Got 2.5 instead.",
    ),
    "an unknown method": (
        lambda: juror.fit(CODES, method="magic"),
        "method must be one of ['auto', 'tree', 'em', 'bayes', 'pair-em', 'spa', 'spa-em', 'ctf', 'juror-a', "
        "'juror-b', 'juror-c']. "
        "Got 'magic' instead.",
    ),
    "negative smoothing": (
        lambda: juror.fit(CODES, smoothing=-1),
        "smoothing must be a number in the range [0, inf). Got -1 instead.",
    ),
    "no starts": (lambda: juror.fit(CODES, n_init=0), "n_init must be an int in the range [1, inf). Got 0 instead."),
    "no threads": (lambda: juror.fit(CODES, n_jobs=0), "n_jobs must be an int in the range [1, inf). Got 0 instead."),
    "a negative seed": (
        lambda: juror.fit(CODES, seed=-1),
        "seed must be an int in the range [0, inf). Got -1 instead.",
    ),
    "too few weights": (
        lambda: juror.fit(CODES, sample_weight=[1, 2]),
        "sample_weight must have shape (3,), one a row. Got (2,) instead.",
    ),
    "weights that are text": (
        lambda: juror.fit(CODES, sample_weight=["a"] * 1000),
        "sample_weight must be numbers, one a row. Got ['a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', … 992 more].",
    ),
    "a negative weight": (
        lambda: juror.fit(CODES, sample_weight=[1, -2, 1]),
        "sample_weight must be finite and not negative. Got -2.0 in row 1.",
    ),
    "weights of zero": (
        lambda: juror.fit(CODES, sample_weight=[0, 0, 0]),
        "sample_weight is zero in every row. At least one must count.",
    ),
    "markers as one text": (
        lambda: juror.fit({"a": ["x", "?"]}, missing="?"),
        "missing must be a list of markers. Got the text '?'; write missing=['?'].",
    ),
    "a start of another shape": (
        lambda: juror.fit(CODES, init=MODEL),
        "init has variables of [3, 2, 3] labels, the data of [2, 2]. They must agree.",
    ),
    "more classes than rows": (
        lambda: juror.fit({"a": ["x", "y"] * 100}, rank=100_000),
        "rank must be at most the number of rows, 200, as further classes would have no row. Got 100,000 instead. "
        "Pass rank='auto' to have it chosen.",
    ),
    "an unknown target": (
        lambda: juror.fit({"class": ["a", "b"]}, rank=1, target="clas"),
        "There is no variable 'clas'. Did you mean 'class'?",
    ),
    "an unseen label": (
        lambda: MODEL.log_prob({"colour": ["red", "teal"]}),
        "Column 'colour' holds 'teal' in row 1, which is not among its 3 labels ['red', 'blue', 'green']. Pass "
        'unknown="missing" to treat it as missing.',
    ),
    "a number outside the edges": (
        lambda: MODEL.log_prob({"age": [30, 130]}),
        "Column 'age' holds 130 in row 1, which is outside its edges 0 to 120. Pass unknown=\"missing\" to treat it as "
        "missing, or fit with wider edges.",
    ),
    "a decimal comma": (
        lambda: MODEL.log_prob({"age": ["30,5", "x"]}),
        "Column 'age' holds '30,5' in row 0. If it is to be numbers with a decimal comma, pass decimal=',' with "
        "juror.Files.",
    ),
    "a comma of thousands or of decimals": (
        lambda: MODEL.log_prob({"age": ["1,156", "x"]}),
        "Column 'age' holds '1,156' in row 0. If commas group thousands, remove them from the data; if they are "
        "decimal commas, pass decimal=',' with juror.Files.",
    ),
    "an unknown column": (
        lambda: MODEL.log_prob({"color": ["red"]}),
        "The data have a column 'color' that the model does not know. Did you mean 'colour'? Drop or rename it.",
    ),
    "evidence that is no dict": (
        lambda: MODEL.prob({"size": 1}, given=["colour"]),
        "Evidence must be a dict of variable names, like {'colour': …}, or text. Got list.",
    ),
    "evidence on an unknown variable": (
        lambda: MODEL.condition(sise=1),
        "There is no variable 'sise'. Did you mean 'size'?",
    ),
    "an unknown label": (
        lambda: MODEL.prob({"colour": "bleu"}),
        "Variable 'colour' has no label 'bleu'. Did you mean 'blue'?",
    ),
    "an empty set": (
        lambda: MODEL.prob({"colour": []}),
        "The set of labels for 'colour' is empty, so nothing can match it.",
    ),
    "a range of names": (
        lambda: MODEL.prob({"colour": juror.Range(at_least="red")}),
        "Variable 'colour' is nominal, so it has no ranges. Name the labels, or declare their order with "
        "Domain.infer(data, levels={...}).",
    ),
    "a range that ends at no number": (
        lambda: MODEL.ask("size | age >= old"),
        "'old' is neither a number nor an interval of 'age'.\n  size | age >= old\n         ^^^^^^^^^^",
    ),
    "several numbers without probability": (
        lambda: MODEL.ask("size", given={"age": [30, 40]}),
        "None of [30, 40] has a probability, as 'age' is continuous. Give one number, or a range.",
    ),
    "impossible evidence": (
        lambda: MODEL.marginal("size", given={"colour": "green"}),
        "The evidence colour = green has probability zero under this model, so nothing follows from it. Drop or "
        "widen a "
        "part of it, or fit with smoothing above zero.",
    ),
    "an impossible row": (
        lambda: MODEL.predict({"colour": ["red", "green"]}, target="size"),
        "Row 1 has 'green' in 'colour', which has probability zero under this model, so nothing follows from it. Leave "
        "the row out. If the model was conditioned on other labels, ask the model before that; if not, fit with "
        "smoothing above zero.",
    ),
    "likelihoods for some labels only": (
        lambda: MODEL.condition(colour={"red": 1.0}),
        "Soft evidence on 'colour' must give every label a likelihood; ['blue', 'green'] have none.",
    ),
    "soft evidence as an event": (
        lambda: MODEL.prob({"size": {1: 0.3, 2: 0.7}}),
        "Soft evidence on 'size' is not an event: it cannot be negated or have a probability.",
    ),
    "nothing left": (
        lambda: MODEL.condition(colour="red", size=1, age=30),
        "The evidence settles every variable, so no distribution is left. Use prob or log_prob.",
    ),
    "no target": (
        lambda: MODEL.predict({"colour": ["red"]}),
        "Name the variable to predict, target=…, one of ['colour', 'size', 'age'].",
    ),
    "a table too large to write out": (
        lambda: juror.JointPMF([1.0], [np.full((10, 1), 0.1)] * 8).marginal(*(f"x{n}" for n in range(8))),
        "The table of 8 variables has 100,000,000 cells, more than the 10,000,000 that are worth writing out. Ask for "
        "fewer variables, or draw rows with sample().",
    ),
    "a question cut short": (
        lambda: MODEL.ask("size | colour ="),
        "A label is missing here.\n  size | colour =\n                 ^",
    ),
    "a label that begins with an operator": (
        lambda: MODEL.ask("size | colour = >red"),
        "A label is missing here. Put a label with <, > or = in quotes.\n  size | colour = >red\n                  ^",
    ),
    "a loose word after a condition": (
        lambda: MODEL.ask("size | colour = red with size = S"),
        "Expected ',' and another condition, or the end. Names and labels of several words need quotes.\n"
        "  size | colour = red with size = S\n                      ^^^^",
    ),
    "a question with a loose word": (
        lambda: MODEL.ask("size colour"),
        "Expected ',' and another name, '|' and a condition, or the end. Names and labels of several words need "
        "quotes.\n  size colour\n       ^^^^^^",
    ),
    "an unknown frame": (
        lambda: MODEL.sample(1, frame="excel"),
        "frame must be one of ['pandas', 'polars', 'pyarrow']. Got 'excel' instead.",
    ),
    "draws of none": (
        lambda: MODEL.impute({"colour": [None]}, draws=0),
        "draws must be an int in the range [1, inf). Got 0 instead.",
    ),
    "weights that do not sum to one": (
        lambda: juror.JointPMF([0.5, 0.6], [[[1.0, 1.0]]]),
        "The weights must sum to one within 1e-06, every column by itself. The sum is off by 0.1.",
    ),
    "a factor of the wrong rank": (
        lambda: juror.JointPMF([0.5, 0.5], [[[1.0]]]),
        "The factor of 'x0' must have shape (1, 2), labels × rank. Got (1, 1).",
    ),
    "a model that is not there": (
        lambda: juror.load("nowhere.juror"),
        "There is no model file 'nowhere.juror'. Check the path.",
    ),
    "an unknown table": (
        lambda: juror.datasets.load("iris"),
        "name must be one of ['car', 'mushroom', 'votes', 'adult']. Got 'iris' instead.",
    ),
}


@pytest.mark.parametrize("mistake", BAD)
def test_the_sentence(mistake):
    make, sentence = BAD[mistake]
    with pytest.raises(juror.JurorError) as caught:
        make()
    assert str(caught.value) == sentence


def test_there_are_at_least_thirty_mistakes():
    assert len(BAD) >= 30


@pytest.mark.parametrize("answer", ["log_prob", "log_density", "predict_proba", "predict", "impute", "check"])
def test_infinity_is_refused_as_by_a_fit(answer):
    sentence = "Column 'x' holds inf in row 2; numbers must be finite."
    rows = {"x": [0.5, None, math.inf], "y": ["a", "b", "a"]}
    with pytest.raises(DataError, match=sentence):
        juror.fit(rows)
    model = juror.fit({"x": np.linspace(0, 1, 50) ** 2, "y": ["a", "b"] * 25}, 1, "em")
    target = ("y",) if answer.startswith("predict") else ()
    with pytest.raises(DataError, match=sentence):
        getattr(model, answer)(rows, *target)
    assert model.cdf({"x": [math.inf, -math.inf]}).tolist() == pytest.approx([1, 0])
