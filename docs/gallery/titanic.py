"""Titanic: who was saved, and how sure one can be of it."""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import juror
from juror import plot

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures"

# 2201 people: class, sex, age and whether they survived. The table comes with juror.
people = juror.datasets.titanic()

# The fit by sampling keeps many draws of the model, so that every answer comes with an interval.
model = juror.fit(people, method="bayes", seed=0)

# First, what has to do with what.
figure = Figure(figsize=(10.4, 3.7), layout="constrained")
left, right = figure.subplots(1, 2)
plot.dependence(model, ax=left)
plot.pair(model, "Class", "Survived", show="residuals", ax=right)
figure.savefig(folder / "titanic-dependence.png", dpi=110)

# Then the chance of survival by class, for men, women and children.
GROUPS = {
    "women": "Sex = Female, Age = Adult",
    "children": "Age = Child",
    "men": "Sex = Male, Age = Adult",
}
COLOURS = {"women": "#D55E00", "children": "#009E73", "men": "#0072B2"}
CLASSES = ["1st", "2nd", "3rd"]
chance, low, high = {}, {}, {}
for group, who in GROUPS.items():
    for number in CLASSES:
        answer = model.interval(f"Survived | Class = {number}, {who}")
        chance[group, number] = answer.table["Yes"]
        low[group, number], high[group, number] = answer["Yes"]

figure = Figure(figsize=(6.4, 4.0), layout="constrained")
ax = figure.add_subplot()
for shift, group in zip((-0.12, 0, 0.12), GROUPS, strict=True):
    places = [i + shift for i in range(3)]
    ax.plot(places, [chance[group, c] for c in CLASSES], "o-", color=COLOURS[group], label=group, linewidth=1.8)
    ends = [low[group, c] for c in CLASSES], [high[group, c] for c in CLASSES]
    ax.vlines(places, *ends, color=COLOURS[group], linewidth=5, alpha=0.35)
ax.set_xticks(range(3), labels=[f"{c} class" for c in CLASSES])
ax.set(ylim=(0, 1.02), ylabel="chance of survival, with 95 % intervals")
ax.set_title("Women and children first, by class", loc="left", fontsize=11)
ax.spines[["top", "right"]].set_visible(False)
ax.grid(axis="y", alpha=0.3)
ax.legend(frameon=False)
figure.savefig(folder / "titanic-survival.png", dpi=110)

learnt = (
    f"Women and children came first, but by class. Of the women in first class {chance['women', '1st']:.0%} were "
    f"saved, in third class {chance['women', '3rd']:.0%}. Nearly all children in first and second class were saved, "
    f"but in third class only {chance['children', '3rd']:.0%} ({low['children', '3rd']:.0%} to "
    f"{high['children', '3rd']:.0%} with a probability of 95%), about as many as of the men in first class, "
    f"{chance['men', '1st']:.0%}. The men of second class fared worst: {chance['men', '2nd']:.0%} of them were saved "
    f"({low['men', '2nd']:.0%} to {high['men', '2nd']:.0%}), half of the share in third class, "
    f"{chance['men', '3rd']:.0%}."
)
print(learnt.replace("%", " %"))
