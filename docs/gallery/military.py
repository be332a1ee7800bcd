"""The US armed forces: 1.4 million people in a model of 48 classes."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import juror
from juror import plot

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures"

# The table comes with juror as 1646 distinct rows, and a column that says how often each occurs.
people = juror.datasets.military()
people["race"] = people["race"].replace(
    {"ami/aln": "native American", "p/i": "Pacific islander", "unk": "unknown", "multi": "several"}
)
people["hisp"] = people["hisp"].map({False: "no", True: "yes"})
people = people.rename(columns={"hisp": "hispanic", "rank": "pay grade"})
model = juror.fit(people, rank=48, method="em", sample_weight="count", seed=0)

# All combinations could be counted here, so the model can be checked: no table of two variables is far off.
n_people = people["count"].sum()
counts = juror.PairCounts.of(people, domain=model.domain, sample_weight="count")
worst = max(
    float(np.abs(model.marginal(a, b).to_numpy() - counts.table(a, b).to_numpy() / n_people).max())
    for i, a in enumerate(model.domain.names)
    for b in model.domain.names[i + 1 :]
)

# A look at the whole: the same model in as few as six classes, and what marks them.
ax = plot.classes(model.compress(6), n_traits=3)
ax.figure.savefig(folder / "military-classes.png", dpi=110)

# Women among the races, and the races among women.
figure = Figure(figsize=(11.4, 3.9), layout="constrained")
left, right = figure.subplots(1, 2)
plot.marginal(model, "race", given="gender = female", ax=left)
plot.pair(model, "race", "gender", show="residuals", ax=right)
figure.savefig(folder / "military-race.png", dpi=110)


def women(**given):
    """Return the share of women, as text."""
    return f"{model.prob({'gender': 'female'}, given=given):.1%}"


def black(**given):
    """Return the share of black people, as text."""
    return f"{model.prob({'race': 'black'}, given=given):.1%}"


learnt = (
    f"The model of {model.rank} classes stands for {n_people:,} people: in no table of two variables is a cell off by "
    f"more than {100 * worst:.2f} points. Women are {women(branch='air force')} of the air force and "
    f"{women(branch='marine corps')} of the marine corps. Of the women {black(gender='female')} are black, of the men "
    f"{black(gender='male')}; put the other way, {women(race='black')} of black people in the forces are women, "
    f"against {women(race='white')} of white people. The difference holds among officers too: "
    f"{black(gender='female', grade='officer')} of the women and {black(gender='male', grade='officer')} of the men "
    "are black."
)
print(learnt.replace("%", " %"))
