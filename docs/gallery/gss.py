"""General Social Survey: answers on abortion since 1972, with a third of the answers missing."""

import os
import sys
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

import juror
from juror import plot

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures"

# Seven yes-or-no items of the survey, from the table gss_abortion of the R package stevedata, saved as Parquet in the
# folder that the environment variable JUROR_DATA names. Most years asked two in three people, and no one was asked
# for "any reason" before 1977.
survey = pd.read_parquet(Path(os.environ["JUROR_DATA"]) / "gss_abortion" / "gss_abortion.parquet")
ITEMS = {
    "abhlth": "health at risk", "abrape": "rape", "abdefect": "birth defect", "abpoor": "cannot afford",
    "abnomore": "wants no more", "absingle": "not married", "abany": "any reason",
}  # fmt: skip
PARTIES = {"Democrat": "Democrat", "Republican": "Republican", "Ind": "independent"}
YEARS = ["1972–76", "1977–85", "1987–96", "1998–2006", "2008–18"]
table = survey[list(ITEMS)].rename(columns=ITEMS).replace({0: "no", 1: "yes"})
table["party"] = survey["partyid"].str.extract("(Democrat|Republican|Ind)", expand=False).map(PARTIES)
table["sex"] = survey["sex"]
table["years"] = pd.cut(survey["year"], [1971, 1976, 1985, 1996, 2006, 2018], labels=YEARS)
holes = table[list(ITEMS.values())].isna().to_numpy().mean()

# All rows go in as they are. Those who drop incomplete rows first lose half of them, and all before 1977.
# Cells that were not asked for are summed out too: the shares are of what people would say if they were asked.
model = juror.fit(table, rank=16, method="em", missing_as={}, seed=0)
complete = table.dropna()
dropped = juror.fit(complete, rank=16, method="em", seed=0)

# Few kinds of people, once the model is compressed to four classes: what each is typical of.
plot.classes(model.compress(4), n_traits=8).figure.savefig(folder / "gss-classes.png", dpi=110)


def yes(fitted, item, **given):
    """Return the share that says yes."""
    return fitted.prob({item: "yes"}, given=given)


# A woman who is not married and does not want to marry: the answers by party over the years.
figure = Figure(figsize=(7.6, 4.2), layout="constrained")
ax = figure.add_subplot()
item = "not married"
for party, colour, mark in (("Democrat", "#0072B2", "o"), ("Republican", "#D55E00", "s"), ("independent", "0.5", "D")):
    shares = [yes(model, item, party=party, years=years) for years in YEARS]
    ax.plot(YEARS, shares, color=colour, marker=mark, linewidth=2, label=party)
    shares = [yes(dropped, item, party=party, years=years) for years in YEARS[1:]]
    ax.plot(YEARS[1:], shares, color=colour, marker=mark, fillstyle="none", linewidth=1, linestyle=":")
ax.plot([], [], color="0.3", marker="o", fillstyle="none", linewidth=1, linestyle=":", label="complete rows only")
ax.set_ylabel("share of yes")
ax.set_title("Abortion for a woman who is not married, by party", loc="left", fontsize=11)
ax.spines[["top", "right"]].set_visible(False)
ax.grid(axis="y", alpha=0.3)
ax.legend(frameon=False, fontsize=9)
figure.savefig(folder / "gss-parties.png", dpi=110)

# How far can holes be filled? Hide "any reason" for all of 1977–85, as it is for the years before, and compare.
known = table["any reason"].notna() & (table["years"] == "1977–85")
hidden = table.assign(**{"any reason": table["any reason"].mask(known)})
blind = juror.fit(hidden, rank=16, method="em", missing_as={}, seed=0)
right = (blind.predict(hidden[known], target="any reason") == table.loc[known, "any reason"]).mean()
said = (table.loc[known, "any reason"] == "yes").mean()
before, now = YEARS[0], YEARS[-1]
learnt = (
    f"Of the answers to the seven items {holes:.0%} are missing, and dropping incomplete rows keeps {len(complete):,} "
    f"of {len(table):,}. That biases the answer: in the complete rows {yes(dropped, 'any reason'):.1%} would allow an "
    f"abortion for any reason, in all rows {yes(model, 'any reason'):.1%}, because people who skip one item more often "
    f"say no to this one. It also loses the years before 1977, in which the parties had opposite positions: in "
    f"{before} {yes(model, item, party='Republican', years=before):.0%} of Republicans and "
    f"{yes(model, item, party='Democrat', years=before):.0%} of Democrats would allow it to a woman who is not "
    f"married, in {now} {yes(model, item, party='Republican', years=now):.0%} and "
    f"{yes(model, item, party='Democrat', years=now):.0%}. Missing answers can be filled, within limits. With every "
    f"answer of 1977–85 on any reason hidden, {right:.0%} of the answers are filled correctly. But the share of yes "
    f"comes out at {yes(blind, 'any reason', years='1977–85'):.0%}, while {said:.0%} said yes, because the answers "
    "depend on each other slightly differently in the other years."
)
print(learnt.replace("%", " %"))
