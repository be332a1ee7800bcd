"""Mushrooms: which question to ask first, and which one next."""

import sys
from pathlib import Path

import juror
from juror import plot

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures"

# 8124 mushrooms of the UCI collection: from the folder named by JUROR_DATA, or fetched once from OpenML.
mushrooms = juror.datasets.load("mushroom")

# Letters stand for words. Only those that the pictures show are written out.
WORDS = {
    "class": {"e": "edible", "p": "poisonous"},
    "odor": {"a": "almond", "c": "creosote", "f": "foul", "l": "anise", "m": "musty", "n": "none", "p": "pungent"}
    | {"s": "spicy", "y": "fishy"},
    "spore-print-color": {"b": "buff", "h": "chocolate", "k": "black", "n": "brown", "o": "orange", "r": "green"}
    | {"u": "purple", "w": "white", "y": "yellow"},
}
for column, words in WORDS.items():
    mushrooms[column] = mushrooms[column].map(words)
# The veil has one type only. Whether the root of the stalk was noted tells something, so a hole there is a label.
mushrooms = mushrooms.drop(columns="veil-type").fillna({"stalk-root": "not noted"})

# With more classes than these some stay empty or become copies of others, and the fit says so.
model = juror.fit(mushrooms, rank=21, method="em", seed=0)
plot.dependence(model).figure.savefig(folder / "mushroom-dependence.png", dpi=90)


def best_question(given):
    """Return the variable that tells most about the class, and the share of what is open that it settles."""
    asked = {"class", *given}
    tells = {
        name: model.mutual_information("class", name, given=given) for name in model.domain.names if name not in asked
    }
    best = max(tells, key=tells.get)
    return best, tells[best] / model.mutual_information("class", "class", given=given)


first, settled = best_question({})
plot.pair(model, first, "class").figure.savefig(folder / "mushroom-odor.png", dpi=110)

# One answer leaves a doubt: no smell. What to look at then?
second, settled_then = best_question({first: "none"})
ax = plot.marginal(model, second, given={first: "none", "class": "poisonous"})
ax.figure.savefig(folder / "mushroom-spores.png", dpi=110)

without = model.prob("class = poisonous", given={first: "none"})
green = model.prob("class = poisonous", given={first: "none", second: "green"})
others = model.prob("class = poisonous", given={first: "none", second: juror.Not("green")})
answers = mushrooms[[first, second]]
right = (model.predict(answers, target="class") == mushrooms["class"]).mean()
learnt = (
    f"The first question is {first}: it removes {settled:.0%} of the uncertainty about whether a mushroom is "
    f"poisonous. Mushrooms that smell of almond or anise are edible, and every other smell is a warning. Only "
    f"mushrooms without a smell leave a doubt: {without:.1%} of them are poisonous. The next question is then "
    f"{second}, which removes {settled_then:.0%} of the remaining uncertainty: with green spores {green:.0%} are "
    f"poisonous, with any other colour {others:.1%}. With both answers {right:.1%} of the mushrooms in the table are "
    "classified correctly."
)
print(learnt.replace("%", " %"))
