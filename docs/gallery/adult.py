"""Adult: who earns more than 50,000 dollars, and whether a prediction of it can be believed."""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import juror
from juror import plot

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures"

# 48,842 people of the US census of 1994, UCI's Adult: from the folder named by JUROR_DATA, or fetched from OpenML.
# The weight of the survey is no trait of a person, and education stands there twice, as a word and as a number.
people = juror.datasets.load("adult").drop(columns=["fnlwgt", "education-num"])
# UCI's own split: the first 32,561 rows to learn from, the rest to judge by.
train, test = people.iloc[:32561], people.iloc[32561:]

# Numbers become intervals. Ages and hours are cut where people would cut them; most have no capital gain or loss.
EDGES = {
    "age": [17, 25, 35, 45, 55, 65, 91],
    "hours-per-week": [1, 20, 35, 41, 50, 100],
    "capital-gain": [0, 1, 5000, 7000, 100000],
    "capital-loss": [0, 1, 1800, 2000, 5000],
}
domain = juror.Domain.infer(people, edges=EDGES)
# Who has no work class has no occupation either: both are summed out, as for people whose work is not known.
model = juror.fit(train, rank=32, method="em", domain=domain, target="income", missing_as={}, seed=0)

plot.dependence(model).figure.savefig(folder / "adult-dependence.png", dpi=110)

# Rows the model has not seen: when it says 70 %, are 70 % above 50,000?
plot.calibration(model, test).figure.savefig(folder / "adult-calibration.png", dpi=110)
accuracy = (model.predict(test) == test["income"]).mean()
usual = test["income"].value_counts(normalize=True).max()

# Men and women, at first sight and among the married.
figure = Figure(figsize=(9.6, 3.4), layout="constrained")
left, right = figure.subplots(1, 2, sharex=True)
plot.marginal(model, "marital-status", given="sex = Male", ax=left)
plot.marginal(model, "marital-status", given="sex = Female", ax=right)
right.set_yticks([])
figure.savefig(folder / "adult-marriage.png", dpi=110)


def rich(**given):
    """Return the probability of an income above 50,000 dollars, as text."""
    return f"{model.prob({'income': '>50K'}, given=given):.0%}"


MARRIED = {"marital-status": "Married-civ-spouse"}
learnt = (
    f"Of the men in this table {rich(sex='Male')} earn more than 50,000 dollars, of the women {rich(sex='Female')}. "
    f"Among the married the difference is gone: {rich(sex='Male', **MARRIED)} and {rich(sex='Female', **MARRIED)}. "
    f"What differs is the share of married people: {model.prob(MARRIED, given={'sex': 'Male'}):.0%} of the men and "
    f"{model.prob(MARRIED, given={'sex': 'Female'}):.0%} of the women. On the {len(test):,} people that the model has "
    f"not seen, it predicts {accuracy:.1%} of the incomes correctly. Always predicting at most 50,000 would be correct "
    f"for {usual:.1%}."
)
print(learnt.replace("%", " %"))
