"""Memory of answers is bounded: by blocks, by the number of open nodes, or by a sentence before the work starts."""

from __future__ import annotations

import numpy as np
import pytest

import juror
from juror.answers import forest_mode, mode, open_nodes, scores
from juror.testing import dense, random_forest_model, random_model


@pytest.mark.parametrize("most", [2, 10, 1000])
@pytest.mark.parametrize("kind", ["product", "forest"])
def test_dropped_nodes_leave_a_valid_bound(monkeypatch, most, kind):
    for module in (mode, forest_mode):
        monkeypatch.setattr(module, "most_nodes", lambda _: most)
    n_proved = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        sizes = [6, 5, 4, 5]
        model = random_model(sizes, 6, rng) if kind == "product" else random_forest_model(sizes, [2, 3], rng)
        table = dense(model)
        found = model.mode()
        place = tuple(model.domain[name].code(label) for name, label in found.row.items())
        assert np.isclose(np.log(table[place]), found.log_prob)
        assert found.log_bound >= np.log(table.max()) - 1e-9
        if found.proved:
            assert np.isclose(found.log_prob, np.log(table.max()))
        n_proved += found.proved
    assert n_proved == 10 if most == 1000 else n_proved > 0


def test_the_number_of_open_nodes_is_bounded(monkeypatch):
    """Many labels and flat tables open many nodes; without a bound the heap grows with every one of them."""
    largest = []

    def kept(heap, most, dropped):
        heap, dropped = open_nodes.kept_nodes(heap, most, dropped)
        largest.append(len(heap))
        return heap, dropped

    monkeypatch.setattr(mode, "kept_nodes", kept)
    monkeypatch.setattr(open_nodes, "_MOST_BYTES", 1_000_000)
    model = random_model([200] * 8, 10, np.random.default_rng(0), concentration=5.0)
    found = model.mode(max_nodes=300)
    assert max(largest) <= open_nodes.most_nodes(64) < 300 * 200
    assert not found.proved
    assert found.log_bound > found.log_prob


@pytest.fixture(scope="module")
def model():
    return random_model([40, 3, 4], 5, np.random.default_rng(1))


def test_predictions_in_blocks_are_those_of_the_whole(model, monkeypatch):
    rows = model.sample(200, seed=1).to_numpy().copy()
    rows[::7, 1] = -1
    whole, best = model.predict_proba(rows, "x0"), model.predict(rows, "x0")
    sizes = []
    compute = scores._probabilities

    def watched(*arguments, **named):
        found = compute(*arguments, **named)
        sizes.append(found.size)
        return found

    monkeypatch.setattr(scores, "_probabilities", watched)
    monkeypatch.setattr(scores, "_PROBABILITIES_AT_ONCE", 1000)
    np.testing.assert_allclose(model.predict_proba(rows, "x0"), whole, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(rows, "x0"), best)
    assert max(sizes) <= 1000
    assert model.predict(rows[:0], "x0").shape == (0,)
    assert model.predict_proba(rows[:0], "x0").shape == (0, 40)


def test_too_many_probabilities_are_refused_before_the_work(model, monkeypatch):
    monkeypatch.setattr(scores, "_MOST_BYTES", 8 * 40 * 100)
    monkeypatch.setattr(scores, "_probabilities", None)
    with pytest.raises(juror.JurorError, match=r"^The probabilities of 40 labels for 101 rows take 0\.0 GB, more"):
        model.predict_proba(model.sample(101), "x0")


def test_an_impossible_row_in_a_later_block_has_its_number(monkeypatch):
    model = juror.JointPMF([1.0], [[[0.5], [0.5]], [[1.0], [0.0]]])
    rows = np.zeros((50, 2), dtype=int)
    rows[37, 1] = 1
    monkeypatch.setattr(scores, "_PROBABILITIES_AT_ONCE", 20)
    for ask in (model.predict, model.predict_proba):
        with pytest.raises(juror.JurorError, match=r"^Row 37 has 1 in 'x1', which has probability zero"):
            ask(rows, "x0")


def test_a_page_of_too_many_variables_is_refused_before_the_work(monkeypatch):
    large = juror.JointPMF([1.0], [[[0.5], [0.5]]] * 1000)
    monkeypatch.setattr("juror.report.facts.make_page_model", None)
    with pytest.raises(juror.JurorError, match=r"^A page about 1,000 variables would describe 499,500 pairs; "):
        juror.Report(large, "no such file.csv")
