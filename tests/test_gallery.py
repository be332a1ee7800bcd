"""The gallery: every script runs, makes the pictures of its page, and says what its page says."""

from __future__ import annotations

import math
import os
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
NEEDS_DATA = [
    pytest.mark.data,
    pytest.mark.skipif(not os.environ.get("JUROR_DATA"), reason="JUROR_DATA names no folder"),
]
NAMES = ["titanic", "military", "mushroom", "gss", "adult"]
SCRIPTS = ["titanic", "military", *(pytest.param(name, marks=NEEDS_DATA) for name in ("mushroom", "gss", "adult"))]
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
# how many units of the last digit printed a number may differ by, as draws and sums differ a little between machines
UNITS = 2


def differences(printed: str, page: str) -> list[str]:
    """Return what differs between two texts: words at all, numbers by more than a little in their last digit."""
    words, wanted = NUMBER.sub("#", printed).split(), NUMBER.sub("#", page).split()
    if words != wanted:
        return [" ".join(words), " ".join(wanted)]
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(page), strict=True)
    return [f"{one} is not {other}" for one, other in pairs if not _near(one, other)]


def _near(one: str, other: str) -> bool:
    if "," in other:
        return one == other
    unit = 10.0 ** -len(other.partition(".")[2])
    return math.isclose(float(one.replace(",", "")), float(other), rel_tol=0, abs_tol=(UNITS + 0.01) * unit)


@pytest.mark.parametrize(
    ("printed", "page", "n_differences"),
    [
        ("In 1972–76 51 % of 64,814", "In 1972–76\n51 % of 64,814", 0),
        ("off by 0.02 points", "off by 0.04 points", 0),
        ("off by 0.02 points", "off by 0.05 points", 1),
        ("51 % of 64,815", "54 % of 64,814", 2),
        ("51 % of men", "51 % of women", 2),
        ("51 %", "51.0 %", 0),
    ],
)
def test_a_text_that_differs_is_found(printed, page, n_differences):
    assert len(differences(printed, page)) == n_differences


def is_blank(picture: np.ndarray) -> bool:
    """Say whether hardly a point of a picture, (height, width, colours), differs from the first."""
    return float(np.mean(np.any(picture[..., :3] != picture[0, 0, :3], axis=-1))) < 0.01


def test_a_blank_picture_is_found():
    white = np.ones((50, 50, 4))
    assert is_blank(white)
    white[10:20, 10:40, 0] = 0.5
    assert not is_blank(white)


def page_of(name: str) -> str:
    return (GALLERY / f"{name}.md").read_text(encoding="utf-8")


def pictures_of(name: str) -> list[str]:
    return re.findall(r"!\[[^\]]+\]\(pictures/([^)]+)\)", page_of(name))


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_makes_its_pictures_and_learns_what_its_page_says(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [f"{name}.py", str(tmp_path)])
    runpy.run_path(str(GALLERY / f"{name}.py"), run_name="__main__")
    learnt = page_of(name).partition("## What was learnt\n")[2].partition("\n## ")[0]
    assert differences(capsys.readouterr().out, learnt) == []
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(pictures_of(name))
    for picture in made:
        assert not is_blank(imread(tmp_path / picture))


def test_pages_and_pictures_are_all_there_and_none_is_left_over():
    names = sorted(path.stem for path in GALLERY.glob("*.py"))
    assert names == sorted(path.stem for path in GALLERY.glob("*.md") if path.stem != "index")
    kept = sorted(path.name for path in (GALLERY / "pictures").iterdir())
    assert kept == sorted(picture for name in names for picture in pictures_of(name))
    index = (GALLERY / "index.md").read_text(encoding="utf-8")
    assert sorted(index.partition("{toctree}\n:hidden:\n")[2].removesuffix("```\n").split()) == names


@pytest.mark.parametrize("name", NAMES)
def test_a_page_tells_what_was_learnt_and_shows_it_before_its_script(name):
    page = page_of(name)
    assert re.findall("^## (.*)$", page, re.MULTILINE) == ["What was learnt", "Pictures", "The script"]
    assert page.endswith(f"```{{literalinclude}} {name}.py\n:language: python\n```\n")
    assert "![" not in page.partition("## The script")[2]


def examples_of(index: str) -> dict[str, tuple[str, str]]:
    """Return the picture and the words of every example in the table of the index."""
    row = re.compile(r"^\| \[!\[[^\]]+\]\(pictures/([^)]+)\)\]\((\w+)\.md\) \| (.+) \|$", re.MULTILINE)
    return {name: (picture, words) for picture, name, words in row.findall(index)}


def test_the_index_has_a_picture_of_every_example_and_figures_of_its_page():
    examples = examples_of((GALLERY / "index.md").read_text(encoding="utf-8"))
    assert list(examples) == NAMES
    for name, (picture, words) in examples.items():
        assert picture in pictures_of(name)
        # people and rows may stand in the page's first words, all else was learnt
        assert set(NUMBER.findall(words)) <= set(NUMBER.findall(page_of(name))), name


def test_a_row_of_the_index_is_taken_apart():
    row = "| [![Some words.](pictures/a-b.png)](a.md) | [A](a.md), 2 rows. 97 % were. |\n"
    assert examples_of(f"| picture | words |\n|---|---|\n{row}") == {"a": ("a-b.png", "[A](a.md), 2 rows. 97 % were.")}


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_small_and_have_words_for_those_who_do_not_see_them(name):
    for words, picture in re.findall(r"!\[([^\]]*)\]\(pictures/([^)]+)\)", page_of(name)):
        assert len(words.split()) >= 5
        assert (GALLERY / "pictures" / picture).stat().st_size < 100_000
