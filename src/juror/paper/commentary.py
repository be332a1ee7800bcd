"""What a person has to say about the tables of a full run. Numbers on the page come from results; words come from here.

An empty text is left out. A quick run shows none of these, for they speak of the full one.
"""

from __future__ import annotations

# Below the title of the page: what was found, in a paragraph or three.
INTRODUCTION = ""

# Below each table: what agrees with the paper, what does not, and why.
TABLES: dict[int, str] = {
    1: "",
    2: "",
    3: "",
    4: "",
    5: "",
    6: "",
    7: "",
}

# Below the comparison of inversions: when do projections help?
INVERSIONS = ""

# At the end of the page.
CONCLUSION = ""
