"""The benchmark behind docs/judges.md: its measures by hand, what it says of losses, and that it goes on."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.accuracy import running
from benchmarks.accuracy.cells import Cell, finished
from benchmarks.accuracy.findings import Findings
from benchmarks.accuracy.page import gather
from benchmarks.accuracy.running import open_store, run_sections
from benchmarks.judges import conditionals, filling, labelling, numeric, tables
from benchmarks.judges.__main__ import chosen, installed
from benchmarks.judges.drawers import by_columns
from benchmarks.judges.drawing import copies
from benchmarks.judges.fillers import by_forests, by_iterative, by_knn, by_median
from benchmarks.judges.judged import Judged, Measure, losses
from benchmarks.judges.judged import tables as tables_of
from benchmarks.judges.limited import run_within
from benchmarks.judges.page import PAGE
from benchmarks.judges.sections import SECTIONS

import juror

_MORE, _LESS = Measure("score", "score", ".2f"), Measure("error", "error", ".2f", more_is_better=False)


def section(**changes):
    made = Judged(
        "toy", "A toy", {"juror": "juror", "peer": "a peer", "truth": "the truth"}, ("truth",), range(1),
        lambda quick: {"t": {}}, lambda cell: None,
        lambda cell, data: {"juror": {"score": 0.5, "error": 1.0}, "peer": {"score": 0.75, "error": 2.0},
                            "truth": {"score": 9.0, "error": 0.0}}[cell.row],
        lambda found: iter(["Words."]), measures=(_MORE, _LESS), printed={"A paper": {"t": {"error": 0.25}}},
    )  # fmt: skip
    return replace(made, **changes)


@pytest.fixture(autouse=True)
def _compile_nothing(monkeypatch):
    """Toy sections need no kernels, so none is compiled beforehand."""
    monkeypatch.setattr(running, "_compile", lambda: None)


@pytest.fixture
def store(tmp_path):
    return open_store(tmp_path, lambda line: None)


def found_of(some, store):
    run_sections([some], store, False, None, lambda line: None)
    return Findings(some, some.cells(), store.results)


class TestLosses:
    def test_peers_and_printed_figures_that_are_better_are_named_with_the_gap(self, store):
        said = losses(found_of(section(), store))
        assert "- t, score: a peer by 0.25" in said
        assert "- t, error: A paper (printed) by 0.75" in said

    def test_yardsticks_and_worse_peers_are_not(self, store):
        said = losses(found_of(section(), store))
        assert "truth" not in said
        assert "error: a peer" not in said

    def test_other_rows_of_juror_are_no_rivals(self, store):
        assert "a peer" not in losses(found_of(section(ours=("juror", "peer")), store))

    def test_seeds_that_only_one_has_do_not_count(self, store):
        some = section(
            seeds=range(2),
            measure=lambda cell, data: {"score": {"juror": 0.5, "peer": 0.75, "truth": 1.0}[cell.row] + cell.seed},
        )
        run_sections([replace(some, rows={"juror": "juror"})], store, False, 1, lambda line: None)
        run_sections([replace(some, rows={"peer": "a peer"})], store, False, 2, lambda line: None)
        assert "- t, score: a peer by 0.25" in losses(Findings(some, some.cells(), store.results))

    def test_a_peer_that_had_to_wait_is_not_called_slow(self, store):
        cost = {"juror": {"seconds": 5.0}, "peer": {"seconds": 90.0, "processor_seconds": 2.0}, "truth": {}}
        assert "- t, seconds: a peer by 3.0" in losses(
            found_of(section(measure=lambda cell, data: dict(cost[cell.row])), store)
        )

    def test_a_page_without_juror_claims_nothing(self, store):
        some = section()
        run_sections([replace(some, rows={"peer": "a peer"})], store, False, None, lambda line: None)
        assert "Not known yet" in losses(Findings(some, some.cells(), store.results))

    def test_nowhere_is_said_too(self, store):
        assert "Nowhere" in losses(found_of(section(measures=(_LESS,), printed={}), store))


def test_the_page_is_made_of_finished_cells_and_marks_printed_figures(store):
    some = section()
    assert "Not run yet: 0 of 3 cells" in PAGE.text(gather([some], store.results, False), False)
    found_of(some, store)
    text = PAGE.text(gather([some], store.results, False), False)
    assert "| *A paper (printed)* | 0.25 |" in text
    assert "| *the truth* | 9.00 |" in text
    assert "Where juror loses" in text


def test_a_run_goes_on_where_it_stopped(store):
    run = []
    some = section(measure=lambda cell, data: run.append(cell.row) or {"score": 0.0})
    run_sections([replace(some, rows={"juror": "juror"})], store, False, None, lambda line: None)
    run_sections([some], store, False, None, lambda line: None)
    assert run == ["juror", "peer", "truth"]


def spin(cell):
    """Use processor time until the process is ended."""
    while True:
        pass


def answer(cell):
    return finished(cell, {"score": 1.0}, 0.0)


def test_a_peer_without_end_is_stopped_and_recorded_as_such(store):
    (_, peer, _) = section().cells()
    result = run_within(1, peer, spin)
    assert result["failed"].startswith("stopped after 1 s")
    store.add(result)
    found = Findings(section(), section().cells(), store.results)
    assert "| a peer | stopped |" in list(tables_of(found))[-1]
    assert run_within(60, peer, answer)["measured"] == {"score": 1.0}


@pytest.mark.parametrize(("only", "rows"), [("juror", ["juror"]), ("peers", ["peer", "truth"])])
def test_the_rows_of_juror_or_of_others_can_be_run_alone(only, rows):
    assert list(chosen(section(), only).rows) == rows


def test_a_row_whose_package_is_not_installed_is_left_out_with_a_sentence():
    kept, sentences = installed(section(needs={"peer": "no_such_package", "juror": "numpy"}))
    assert list(kept.rows) == ["juror", "truth"]
    assert sentences == ["toy, peer: no_such_package is not installed. Install it with: pip install no_such_package"]


def test_every_section_compares_by_measures_of_its_own_rows():
    for some in SECTIONS.values():
        assert some.measures
        assert {*some.ours, *some.references, *some.needs} <= set(some.rows)
        assert some.cells(quick=True)


def test_tables_have_a_line_for_each_row_and_end_with_seconds(store):
    parts = list(tables_of(found_of(section(), store)))
    assert parts[0] == "score (higher is better):"
    assert parts[1].splitlines()[2] == "| juror | 0.50 |"
    assert parts[-2] == "Seconds:"


class TestNumbers:
    def test_the_known_density_integrates_to_one_and_is_that_of_the_rows(self):
        rng = np.random.default_rng(0)
        low, high = np.array([-16.0, -8.0, -9.0]), np.array([12.0, 11.0, 15.0])
        points = low + (high - low) * rng.random((1_000_000, 3))
        total = np.exp(tables.synthetic_log_density(points)).mean() * np.prod(high - low)
        assert total == pytest.approx(1, abs=0.05)
        rows = tables.synthetic(3).to_numpy()
        assert np.all((rows > low) & (rows < high))
        assert tables.synthetic_log_density(rows).mean() > tables.synthetic_log_density(rows[:, [1, 0, 2]]).mean() + 1

    def test_the_density_along_curves_integrates_to_one_and_is_that_of_the_rows(self):
        rng = np.random.default_rng(0)
        low, high = np.array([0.0, -9.0, 0.0]), np.array([8.0, 36.0, 1.0])
        points = low + (high - low) * rng.random((1_000_000, 3))
        total = np.exp(tables.curved_log_density(points)).mean() * np.prod(high - low)
        rows = tables.curved(3).to_numpy()
        inside = np.mean(np.all((rows > low) & (rows < high), axis=1))
        assert total == pytest.approx(inside, abs=0.02)
        assert np.all(np.isfinite(tables.curved_log_density(rows)))
        other = rows.copy()
        other[:, 1] = rng.permutation(other[:, 1])
        assert tables.curved_log_density(rows).mean() > tables.curved_log_density(other).mean() + 1

    def test_standardised_numbers_keep_their_density(self):
        frame = pd.DataFrame({"x": np.random.default_rng(0).normal(5, 3, 4000)})
        x, y, log_scale = numeric.standardised(frame, frame, 0)
        assert (x.mean(), x.std()) == (pytest.approx(0, abs=1e-9), pytest.approx(1))
        assert log_scale == pytest.approx(np.log(3), abs=0.05)
        assert np.array_equal(x, y)

    def test_whole_numbers_are_spread_over_their_cell(self):
        frame = pd.DataFrame({"x": [1, 2, 3, 4] * 500})
        x, _, log_scale = numeric.standardised(frame, frame, 0)
        spread = x[:, 0] * np.exp(log_scale)
        assert len(np.unique(spread)) == 2000
        assert np.ptp(spread) == pytest.approx(4, abs=0.05)

    def test_impossible_rows_are_counted_and_not_hidden(self):
        scores = numeric.scores(np.array([-1.0, -3.0, -np.inf]))
        assert (scores["log_density"], scores["of_possible"], scores["n_impossible"]) == (-np.inf, -2.0, 1)

    def test_uniform_inside_changes_densities_and_no_probability(self):
        frame = pd.DataFrame({"x": np.random.default_rng(0).exponential(1, 400)})
        model = juror.fit(frame, 1, "em")
        plain = numeric.uniform_inside(model)
        assert np.allclose(plain.log_prob(frame), model.log_prob(frame))
        assert not np.allclose(plain.log_density(frame), model.log_density(frame))


class TestFilling:
    @pytest.fixture
    def frame(self):
        rng = np.random.default_rng(0)
        x = rng.normal(size=300)
        return pd.DataFrame({"x": x, "y": 2 * x + 0.1 * rng.normal(size=300), "l": np.where(x > 0, "up", "down")})

    @pytest.mark.filterwarnings("ignore:.*Early stopping criterion")
    @pytest.mark.parametrize("fill", [by_iterative, by_knn, by_forests, by_median])
    def test_fillers_fill_holes_alone_and_beat_the_median_where_columns_tell(self, frame, fill):
        mask = np.random.default_rng(1).random(frame.shape) < 0.15
        filled = fill(frame.mask(mask), ["x", "y"], 0)
        assert filled.notna().all(axis=None)
        seen = ~mask[:, :2]
        assert np.allclose(filled[["x", "y"]].to_numpy(dtype=float)[seen], frame[["x", "y"]].to_numpy()[seen])
        found = filling.errors(frame, filled, mask, ["x", "y"])
        plain = filling.errors(frame, by_median(frame.mask(mask), ["x", "y"], 0), mask, ["x", "y"])
        assert plain["rmse"] == pytest.approx(1, abs=0.2)
        if fill is not by_median:
            assert found["rmse"] < 0.8 * plain["rmse"]
            assert found["right"] > plain["right"] + 0.2

    def test_errors_by_hand(self):
        truth = pd.DataFrame({"x": [0.0, 2.0, 4.0], "l": ["a", "b", "a"]})
        filled = pd.DataFrame({"x": [0.0, 3.0, 4.0], "l": ["b", "b", "a"]})
        mask = np.array([[False, True], [True, True], [False, False]])
        found = filling.errors(truth, filled, mask, ["x"])
        assert (found["rmse"], found["right"], found["n_hidden"]) == (0.5, 0.5, 3)


@pytest.mark.data
def test_labels_that_are_whole_numbers_can_be_filled_right():
    frame, mask = filling.hidden("magic, at random", 400, 1)
    found = filling.errors(
        frame, by_median(frame.mask(mask), tables.numbers_of("magic"), 0), mask, tables.numbers_of("magic")
    )
    assert found["right"] == pytest.approx(0.65, abs=0.15)


def test_copies_are_seen_as_copies():
    train = pd.DataFrame({"x": np.arange(50.0), "l": ["a", "b"] * 25})
    others = train.assign(x=train["x"] + 0.5)
    assert copies(train, train, others, ["x"]) == {"nearest": 0.0, "copies": 1.0}
    found = copies(train, others, others, ["x"])
    assert found["copies"] == 0
    assert found["nearest"] == pytest.approx(0.5 / train["x"].std())


def test_independent_columns_keep_shares_and_lose_pairs():
    frame = pd.DataFrame({"a": ["x", "y"] * 500, "b": ["x", "y"] * 500})
    drawn = by_columns(frame, 2000, [], 0)
    assert (drawn["a"] == "x").mean() == pytest.approx(0.5, abs=0.05)
    assert (drawn["a"] == drawn["b"]).mean() == pytest.approx(0.5, abs=0.05)


class TestLabels:
    def test_measures_by_hand(self):
        chances = np.array([[0.9, 0.1], [0.4, 0.6], [0.8, 0.2], [0.3, 0.7]])
        found = labelling.judged(chances, np.array(["n", "y", "y", "y"]), np.array(["n", "y"]))
        assert found["accuracy"] == 0.75
        assert found["auc"] == 1.0
        assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.6, 0.2, 0.7]).mean())

    def test_calibration_error_by_hand(self):
        assert labelling.calibration_error(np.array([0.8] * 10), np.arange(10) < 8) == pytest.approx(0, abs=1e-12)
        assert labelling.calibration_error(np.array([0.9] * 10), np.arange(10) < 5) == pytest.approx(0.4)

    def test_a_calibrated_classifier_has_an_error_that_shrinks_with_rows(self):
        few, many = (labelling.error_if_calibrated(np.full(n, 0.8)) for n in (100, 10_000))
        # The mean of |share − 0.8| over draws is √(2/π) standard errors.
        assert few == pytest.approx(np.sqrt(2 / np.pi * 0.16 / 100), rel=0.15)
        assert many == pytest.approx(few / 10, rel=0.3)
        assert labelling.error_if_calibrated(np.ones(50)) == 0

    def test_unseen_labels_do_not_count(self):
        found = labelling.judged(np.full((3, 2), 0.5), np.array(["n", "y", "z"]), np.array(["n", "y"]))
        assert found["n_test"] == 2


def test_a_conditional_by_hand():
    train = np.array([[0, 0], [0, 1], [0, 1], [1, 0]])
    logs = conditionals._log_conditional(train, np.array([[0, 1]]), [2, 2], 1, [0])
    once = 2.5 / 5
    assert np.exp(logs[0]) == pytest.approx((2 + 10 * once) / (3 + 10))


@pytest.mark.data
def test_a_quick_look_at_conditionals_runs(tmp_path):
    some = conditionals.SECTION
    cell = next(cell for cell in some.cells(quick=True) if cell.row == "tree")
    found = some.measure(cell, some.load(cell))
    assert found["log_prob"] < 0
    assert json.dumps(found["worst"])
    assert isinstance(cell, Cell)
