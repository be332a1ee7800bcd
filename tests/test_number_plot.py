"""Histograms of numbers by ``juror.plot.marginal``: areas are probabilities, values that stand out are stems."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

import juror


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    n = 600
    day = datetime.date(2020, 1, 1)
    table = {
        "kind": rng.choice(["a", "b"], n).tolist(),
        "age": rng.integers(17, 80, n).tolist(),
        "gain": np.where(rng.random(n) < 0.7, 0, rng.integers(100, 9000, n)).tolist(),
        "tail": rng.lognormal(0, 2, n).tolist(),
        "seen": [day + datetime.timedelta(days=int(d)) for d in rng.integers(0, 400, n)],
    }
    return juror.fit(table, rank=2, method="em", missing_as={})


def areas(ax) -> float:
    return sum(bar.get_width() * bar.get_height() for bar in ax.containers[0])


@pytest.mark.parametrize("given", [None, "kind = a", "30 <= age < 41"])
@pytest.mark.parametrize("name", ["age", "tail", "seen"])
def test_areas_are_probabilities(model, name, given):
    assert areas(juror.plot.marginal(model, name, given)) == pytest.approx(1, abs=1e-6)


def test_bars_are_those_of_the_range(model):
    ax = juror.plot.marginal(model, "age", "30 <= age < 41")
    inside = sum(
        bar.get_width() * bar.get_height() for bar in ax.containers[0] if 30 <= bar.get_x() + bar.get_width() / 2 < 41
    )
    assert inside == pytest.approx(1, abs=1e-6)


def test_a_value_that_recurs_is_a_stem_with_its_probability(model):
    ax = juror.plot.marginal(model, "gain")
    zero = model.prob("gain = 0")
    assert areas(ax) == pytest.approx(1 - zero, abs=1e-6)
    assert f"{100 * zero:.0f} %" in [text.get_text() for text in ax.texts]


def test_the_median_and_the_tails_are_told(model):
    ax = juror.plot.marginal(model, "tail")
    assert any(text.get_text().endswith("→") for text in ax.texts)
    assert ax.get_xlim()[1] < model.domain["tail"].law.ends[-1]
    ax = juror.plot.marginal(model, "seen", "kind = b")
    low, median, high = model.quantile("seen", [0.1, 0.5, 0.9], given="kind = b")
    assert ax.get_xlabel().startswith(f"seen: median {median}, middle 80 % from {low} to {high}; outline")
    assert ax.get_title("left") == "P(seen | kind = b)"
