"""How intervals are written if a single float is an interval of its own."""

import numpy as np
import pandas as pd
import pytest

import juror
from juror.domain.binning import divided

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "rain": np.where(RNG.random(500) < 0.4, 0.0, RNG.gamma(1, 3, 500)),
        "level": np.where(RNG.random(500) < 0.2, 0.5, RNG.normal(0, 1, 500)),
        "height": RNG.normal(0, 1, 500),
        "group": RNG.choice(["a", "b"], 500),
    }
)
MODEL = juror.fit(TABLE, 2, "em")


@pytest.mark.parametrize(
    ("condition", "written"),
    [
        ("rain = 0", "rain = 0"),
        ("rain <= 0", "rain = 0"),
        ("rain > 0", "rain > 0"),
        ("0 < rain <= 2", "0 < rain <= 2"),
        ("level = 0.5", "level = 0.5"),
        ("level <= 0.5", "level <= 0.5"),
        ("level > 0.5", "level > 0.5"),
        ("level >= 0.5", "level >= 0.5"),
        ("level != 0.5", "not level = 0.5"),
        ("height != 0.5", "not height = 0.5"),
    ],
)
def test_conditions_name_the_number_and_not_the_next_float(condition, written):
    assert str(MODEL.condition(condition).conditions) == written


def test_a_title_and_a_row_of_a_single_float():
    assert str(MODEL.ask("group | rain = 0")).startswith("P(group | rain = 0)\n")
    rows = str(MODEL.ask("rain | rain > 0")).splitlines()
    assert rows[2].split() == ["0", "0.0000"]
    assert rows[3].startswith("(0, ")


def test_labels_around_a_single_float():
    level = MODEL.domain["level"]
    labels = divided(level, [0.5, np.nextafter(0.5, 1.0)]).labels
    place = labels.index("0.5")
    assert labels[place - 1].endswith(", 0.5)")
    assert labels[place + 1].startswith("(0.5, ")
    assert len(set(labels)) == len(labels)


def test_a_number_that_is_excluded_is_excluded_from_rows():
    value = float(TABLE["height"][7])
    assert not MODEL.domain["height"].has_mass(value)
    asked = MODEL.ask(f"group | height != {value!r}", data=TABLE)
    assert asked.support.rows == len(TABLE) - 1
    assert MODEL.prob(f"height != {value!r}") == pytest.approx(1)
