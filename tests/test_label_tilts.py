"""Tilts: gradients against finite differences, tilted forests against dense tensors, and fits for a target."""

import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import juror
from juror.answers.scores import log_prob
from juror.fitting.choose import Chosen, FitSetting
from juror.fitting.held_out import Trial, as_mixture
from juror.fitting.label_members import _in_words
from juror.fitting.label_stacking import best_share, stack
from juror.kernels import jit, reference
from juror.rows.distinct import WeightedRows
from juror.rows.forest import Forest
from juror.rows.in_memory import MemoryTable
from juror.rows.parameters import Parameters, side_by_side
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.conditional_ascent import (
    HeldOutLabels,
    LabelledRows,
    Start,
    climb_as_far,
    climb_together,
    log_average,
)
from juror.solvers.em import EMOptions
from juror.solvers.label_pairs import forest_of_pairs, pair_gains
from juror.solvers.methods import METHODS
from juror.solvers.neighbours import best_width, smoother
from juror.solvers.solver import Context
from juror.solvers.tilt import Surroundings, Tilt, scored_along
from juror.solvers.tilted_forest import tilted
from juror.testing import dense, random_model

SIZES = (3, 2, 4)
N_LABELS, PER_LABEL, TETHER = 3, 2, 0.3
STACKING = Stacking(SIZES)


def random_tilt(rng, scale=0.5, sizes=SIZES, pairs=None):
    stacking, F = scored_along(sizes, pairs), N_LABELS * PER_LABEL
    scores = scale * rng.standard_normal((stacking.n_rows, F))
    scores[stacking.missing_rows] = 0.0
    return Tilt(scale * rng.standard_normal(F), scores, N_LABELS, pairs)


def random_cells(rng, n=40, missing=0.2):
    """Return cells and labels of rows, some without a label."""
    codes = np.column_stack([rng.integers(0, size, n) for size in SIZES])
    codes[rng.random(codes.shape) < missing] = -1
    return STACKING.cells(codes).astype(np.int32), rng.integers(-1, N_LABELS, n)


def objective(tilt, cells, labels):
    """Return Σ log p(y | x) − ½ τ (log Z)² in the slowest way, without the first term where there is no label."""
    total = 0.0
    for row, label in zip(cells, labels, strict=True):
        joint = np.exp(tilt.offsets + tilt.scores[row].sum(axis=0)).reshape(N_LABELS, PER_LABEL)
        total += np.log(joint[label].sum() / joint.sum()) if label >= 0 else 0.0
        total -= 0.5 * TETHER * np.log(joint.sum()) ** 2
    return total


class TestGradient:
    @pytest.mark.parametrize("module", [jit, reference], ids=["numba", "numpy"])
    def test_it_equals_finite_differences(self, module):
        rng = np.random.default_rng(0)
        tilt, (cells, labels) = random_tilt(rng), random_cells(rng)
        _, of_offsets, of_scores = module.label_gradient(cells, labels, tilt.offsets, tilt.scores, N_LABELS, TETHER)
        for point, gradient in ((tilt.offsets, of_offsets), (tilt.scores, of_scores)):
            for place in np.ndindex(point.shape):
                before, step = point[place], 1e-6
                point[place] = before + step
                above = objective(tilt, cells, labels)
                point[place] = before - step
                below = objective(tilt, cells, labels)
                point[place] = before
                assert gradient[place] == pytest.approx((above - below) / (2 * step), abs=1e-6)

    def test_the_twins_agree_even_if_a_label_is_all_but_impossible(self):
        rng = np.random.default_rng(1)
        tilt, (cells, labels) = random_tilt(rng, scale=300.0), random_cells(rng)
        given = (cells, labels, tilt.offsets, tilt.scores, N_LABELS, TETHER)
        for one, other in zip(jit.label_gradient(*given), reference.label_gradient(*given), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


class TestTiltedForest:
    @pytest.mark.parametrize("parents", [None, (-1, 0, 0), (1, 2, -1)], ids=["product", "star", "chain"])
    @pytest.mark.parametrize("target", [0, 1, 3])
    def test_it_is_the_product_of_both(self, parents, target):
        rng = np.random.default_rng(2)
        forest = None if parents is None else Forest(parents)
        stacking = Stacking(SIZES, forest)
        first = stacking.normalise(rng.random((stacking.n_rows, 2)), otherwise=np.ones((stacking.n_rows, 2)))
        parameters, tilt = Parameters(np.array([0.3, 0.7]), first, forest), random_tilt(rng, scale=2.0)
        sizes = [*SIZES[:target], N_LABELS, *SIZES[target:]]
        domain = juror.Domain.from_cardinalities(sizes)
        whole = tilted(parameters, tilt, domain, target)
        assert whole.rank == 2 * N_LABELS * PER_LABEL

        codes = np.argwhere(np.ones(SIZES))
        p_x = np.exp(log_prob(as_mixture([parameters], juror.Domain.from_cardinalities(SIZES)), codes))
        joint = p_x[:, None] * np.exp(tilt.log_labels(STACKING.cells(codes)))
        expected = np.moveaxis((joint / joint.sum()).reshape(*SIZES, N_LABELS), -1, target)
        model = juror.JointPMF.of_blocks(as_mixture([whole], domain).blocks, domain)
        np.testing.assert_allclose(dense(model), expected, rtol=1e-9)

    @pytest.mark.parametrize(
        ("parents", "pairs"), [(None, (1, 2, -1)), ((-1, -1, -1), (-1, 0, -1)), ((1, 2, -1), (-1, 2, -1))]
    )
    def test_pairs_have_scores_along_the_forest_of_the_model_or_their_own(self, parents, pairs):
        rng = np.random.default_rng(12)
        forest, domain = None if parents is None else Forest(parents), juror.Domain.from_cardinalities(SIZES)
        stacking = Stacking(SIZES, forest)
        first = stacking.normalise(rng.random((stacking.n_rows, 2)), otherwise=np.ones((stacking.n_rows, 2)))
        parameters, tilt = Parameters(np.array([0.3, 0.7]), first, forest), random_tilt(rng, 2.0, pairs=Forest(pairs))
        codes = np.argwhere(np.ones(SIZES))
        around = Surroundings.of(
            codes, np.zeros(len(codes), dtype=int), np.ones(len(codes)), domain, N_LABELS, tilt.forest
        )
        p_x = np.exp(log_prob(as_mixture([parameters], domain), codes))
        expected = p_x[:, None] * np.exp(tilt.log_labels(around.cells(codes)))
        whole = juror.Domain.from_cardinalities([*SIZES, N_LABELS])
        model = juror.JointPMF.of_blocks(as_mixture([tilted(parameters, tilt, whole, 3)], whole).blocks, whole)
        np.testing.assert_allclose(dense(model).reshape(expected.shape), expected / expected.sum(), rtol=1e-9)

    def test_scores_that_underflow_leave_a_model(self):
        rng = np.random.default_rng(3)
        stacking = Stacking(SIZES, Forest((-1, 0, 1)))
        zeros = rng.random((stacking.n_rows, 2)) * (rng.random((stacking.n_rows, 2)) < 0.5)
        first = stacking.normalise(zeros, otherwise=stacking.normalise(np.ones_like(zeros), otherwise=zeros))
        domain = juror.Domain.from_cardinalities([*SIZES, N_LABELS])
        whole = tilted(Parameters(np.array([0.0, 1.0]), first, stacking.forest), random_tilt(rng, 500.0), domain, 3)
        assert np.all(np.isfinite(whole.stack))
        assert whole.lam.sum() == pytest.approx(1.0)


class TestSurroundings:
    def rows(self, n=2000):
        rng = np.random.default_rng(4)
        codes = np.column_stack([rng.integers(0, 20, n), rng.integers(0, 3, n)])
        return codes, (rng.random(n) < 1 / (1 + np.exp((codes[:, 0] - 9.5) / 3))).astype(np.int64)

    def around(self):
        codes, labels = self.rows()
        steps = juror.Variable("a", tuple(range(20)), kind="ordinal")
        domain = juror.Domain((steps, juror.Variable("b", ("x", "y", "z"))))
        return Surroundings.of(codes, labels, np.ones(len(codes)), domain, 2)

    def test_only_ordered_variables_are_smoothed(self):
        around = self.around()
        assert [each.rows for each in around.ordered] == [slice(0, 20)]

    def test_centring_changes_no_probability_of_complete_rows(self):
        around, rng = self.around(), np.random.default_rng(5)
        tilt = around.start(2, rng)
        moved = Tilt(tilt.offsets, tilt.scores + rng.standard_normal(tilt.scores.shape[1]), 2)
        cells = around.stacking.cells(self.rows()[0])
        np.testing.assert_allclose(moved.centred(around).log_labels(cells), moved.log_labels(cells), atol=1e-9)
        means = around.marginals[:20].T @ np.exp(moved.centred(around).scores[:20])
        np.testing.assert_allclose(means, 1.0)

    def test_labels_that_vary_smoothly_are_smoothed_and_others_are_not(self):
        rng = np.random.default_rng(6)
        x, smooth = np.arange(24), 1 / (1 + np.exp(-(np.arange(24) - 12) / 4))
        jagged = np.where(x % 2 == 0, 0.1, 0.9)
        widths = []
        for p in (smooth, jagged):
            ones = rng.binomial(50, p)
            counts = np.stack([50.0 - ones, ones])
            widths.append(best_width(counts, counts.sum(axis=1) / counts.sum()))
        assert widths[0] > 0
        assert widths[1] == 0
        np.testing.assert_allclose(smoother(24, widths[0]).sum(axis=1), 1.0)


class TestPairs:
    def gains(self):
        """Return gains of pairs for a label that differs where x0 and x1 do; x2 and x3 are copies of it, with noise."""
        codes = np.random.default_rng(13).integers(0, 2, (2000, 5))
        codes[:, 4] = codes[:, 0] ^ codes[:, 1]
        noise = np.random.default_rng(14).random((2000, 2)) < 0.1
        codes[:, 2:4] = codes[:, 4:] ^ noise
        table = MemoryTable(WeightedRows.of(codes), juror.Domain.from_cardinalities([2] * 5), LocalRunner(1))
        return pair_gains(table, 4)

    def test_a_pair_gains_by_what_it_says_together(self):
        gains = self.gains()
        assert gains[0, 1] == pytest.approx(np.log(2), abs=0.02)
        assert gains[2, 3] < -0.1
        np.testing.assert_array_equal(gains, gains.T)

    def test_a_model_keeps_its_forest_and_pairs_must_gain(self):
        gains = self.gains()
        assert forest_of_pairs(gains, Forest((-1, 0, -1, 2)), None).parents == (-1, 0, -1, -1)
        assert forest_of_pairs(gains, Forest((-1, -1, -1, 2)), None) is None
        assert forest_of_pairs(-np.abs(gains), None, np.random.default_rng(0)) is None


def exclusive_or(n, seed):
    """Draw rows whose label is whether a and b differ, with a tenth of the labels changed, and some missing cells."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (n, 6))
    codes[:, 5] = (codes[:, 0] ^ codes[:, 1]) ^ (rng.random(n) < 0.1)
    codes[rng.random(codes.shape) < 0.05] = -1
    return codes


@pytest.fixture(scope="module")
def split():
    """Rows of an exclusive or, some held out, with a model that finds all rows equally probable."""
    codes = exclusive_or(3000, 0)
    rows = codes[codes[:, 5] >= 0]
    domain = juror.Domain.from_cardinalities([2] * 5)
    around = Surroundings.of(rows[:, :5], rows[:, 5], np.ones(len(rows)), domain, 2)
    parts = [
        LabelledRows(around.cells(some[:, :5]), some[:, 5], np.ones(len(some))) for some in (rows[:2500], rows[2500:])
    ]
    return HeldOutLabels(*parts, around, np.zeros(len(parts[1])))


def starts_of(split, n):
    drawn = np.random.default_rng(8).permuted(split.rows.cells, axis=0)
    rngs = [np.random.default_rng([7, number]) for number in range(n)]
    return [Start(split.around.start(8, rng), drawn, rng) for rng in rngs]


def climb(split, n_jobs=1, **options):
    with LocalRunner(n_jobs) as runner:
        return climb_together([[split] * 2], [starts_of(split, 2)], runner, **options)


class TestClimb:
    def log_prob(self, split, tilts):
        return log_average([split.held.log_labels(tilt) for tilt in tilts], np.stack([split.log_x] * len(tilts)))[0]

    def test_steps_find_what_variables_do_together(self, split):
        found = climb(split)
        starts = [start.tilt for start in starts_of(split, 2)]
        assert self.log_prob(split, starts).mean() < -0.68
        assert found.score > -0.45
        np.testing.assert_array_equal(found.log_prob, self.log_prob(split, found.tilts[0]))
        assert found.score == pytest.approx(found.log_prob.mean())

    def test_threads_change_no_bit(self, split):
        one, two = (climb(split, n_jobs) for n_jobs in (1, 2))
        for left, right in zip(one.tilts[0], two.tilts[0], strict=True):
            np.testing.assert_array_equal(left.scores, right.scores)

    def test_the_steps_of_all_rows_can_be_taken_again(self, split):
        found, start = climb(split), starts_of(split, 1)[0]
        again = climb_as_far(start, split.rows, split.around, decay=0.0, n_steps=found.n_steps)
        np.testing.assert_allclose(again.scores, found.tilts[0][0].scores, atol=1e-9)

    def test_drawn_rows_hold_the_mass_of_the_tilt_at_one_where_no_row_is(self, split):
        start, x = starts_of(split, 1)[0], np.argwhere(np.ones((2,) * 5))
        # As if the model drew only rows that no labelled row is like
        near, far = (split.around.stacking.cells(some).astype(np.int32) for some in (x[x[:, 2] == 0], x[x[:, 2] == 1]))
        known = np.isin(split.rows.cells[:, 2], near[:, 2])
        rows = LabelledRows(*(each[known] for each in (split.rows.cells, split.rows.labels, split.rows.weights)))
        off = []
        for drawn in (near, far):
            rng = np.random.default_rng(11)
            tilt = climb_as_far(Start(start.tilt, drawn, rng), rows, split.around, decay=0.0, n_steps=1000)
            off.append(np.abs(np.logaddexp.reduce(tilt.log_labels(far), axis=1)).mean())
        assert off[1] < 0.5 * off[0]

    def test_no_step_is_taken_after_the_deadline(self, split):
        assert climb(split, until=time.monotonic() - 1).n_steps == 0


def test_the_average_of_tilts_is_that_of_their_models():
    rng = np.random.default_rng(9)
    domain, x = juror.Domain.from_cardinalities([*SIZES, N_LABELS]), np.argwhere(np.ones(SIZES))
    labels = rng.integers(0, N_LABELS, len(x))
    rows = LabelledRows(STACKING.cells(x).astype(np.int32), labels, np.ones(len(x)))
    whole, log_x, log_labels = [], [], []
    for forest in (Forest((-1, 0, 0)), Forest((1, 2, -1))):
        stacking = Stacking(SIZES, forest)
        first = stacking.normalise(rng.random((stacking.n_rows, 2)), otherwise=np.ones((stacking.n_rows, 2)))
        parameters, tilt = Parameters(np.array([0.3, 0.7]), first, forest), random_tilt(rng)
        log_x.append(log_prob(as_mixture([parameters], juror.Domain.from_cardinalities(SIZES)), x))
        log_labels.append(rows.log_labels(tilt))
        # Masses of tilted models are one, so Z is made one on average.
        log_x[-1] -= np.logaddexp.reduce(log_x[-1] + log_labels[-1][1])
        whole.append(tilted(parameters, tilt, domain, 3))
    model = juror.JointPMF.of_blocks(as_mixture(side_by_side(whole), domain).blocks, domain)
    tensor = dense(model).reshape(len(x), N_LABELS)
    expected = np.log(tensor[np.arange(len(x)), labels] / tensor.sum(axis=1))
    log_y, log_all = log_average(log_labels, np.stack(log_x))
    np.testing.assert_allclose(log_y, expected, rtol=1e-9)
    np.testing.assert_allclose(np.exp(log_all), tensor.sum(axis=1), rtol=1e-9)


def fit_quietly(codes, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return juror.fit(codes, domain=juror.Domain.from_cardinalities([2] * 6), **options)


@pytest.fixture(scope="module")
def model():
    return fit_quietly(exclusive_or(3000, 0), target="x5")


@pytest.fixture(scope="module")
def untold():
    return fit_quietly(exclusive_or(3000, 0))


class TestFit:
    def test_the_record_says_what_was_tuned(self, model):
        assert model.info.tuned.startswith("for x5, by ")
        assert "an ensemble that treats x5 like any other column" in model.info.tuned
        assert "tuned: for x5" in model.summary()
        assert fit_quietly(exclusive_or(300, 0), rank=2, target="x5").info.tuned == ""

    def test_answers_are_those_of_the_dense_tensor(self, model):
        tensor = dense(model)
        assert tensor.sum() == pytest.approx(1.0)
        assert np.all(tensor > 0)
        shares = tensor / tensor.sum(axis=5, keepdims=True)
        codes = np.argwhere(np.ones((2,) * 5))
        rows = np.column_stack([codes, np.full(32, -1)])
        np.testing.assert_allclose(model.predict_proba(rows), shares.reshape(32, 2), rtol=1e-9)
        some = tensor[1, 0].sum(axis=(0, 1, 2))
        np.testing.assert_allclose(model.ask("x5 | x0 = 1, x1 = 0").to_numpy(), some / some.sum(), rtol=1e-9)

    def test_labels_of_new_rows_are_no_less_probable_than_without(self, model, untold):
        new = exclusive_or(4000, 1)
        new = new[new[:, 5] >= 0]
        logs = []
        for each in (model, untold):
            logs.append(np.log(each.predict_proba(new, "x5")[np.arange(len(new)), new[:, 5]]).mean())
        assert logs[0] > logs[1] - 0.005

    def test_labels_are_right_as_often_as_they_are_said_to_be(self, model):
        new = exclusive_or(20_000, 9)
        new = new[new[:, 5] >= 0]
        chances = model.predict_proba(new, "x5")
        right = chances.argmax(axis=1) == new[:, 5]
        for sure in (chances.max(axis=1) > 0.8, chances.max(axis=1) <= 0.8):
            error = np.sqrt(0.25 / sure.sum())
            assert chances.max(axis=1)[sure].mean() == pytest.approx(right[sure].mean(), abs=0.01 + 3 * error)

    def test_other_answers_stay_near_the_rows(self, model, untold):
        new = exclusive_or(4000, 2)
        assert model.log_prob(new).mean() > untold.log_prob(new).mean() - 0.05

    def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(self):
        codes = exclusive_or(400, 3)
        one, two, other = (fit_quietly(codes, target="x5", n_jobs=n, seed=seed) for n, seed in ((1, 0), (2, 0), (1, 1)))
        assert one.info.tuned
        assert all(
            np.array_equal(a, b)
            for left, right in zip(one.blocks, two.blocks, strict=True)
            for a, b in zip(left.tables, right.tables, strict=True)
        )
        assert not np.array_equal(one.blocks[0].weights, other.blocks[0].weights)

    def test_weights_count_as_repeated_rows(self):
        codes = exclusive_or(400, 4)
        twice = fit_quietly(np.repeat(codes, 2, axis=0), target="x5")
        weighted = fit_quietly(codes, target="x5", sample_weight=np.full(400, 2.0))
        np.testing.assert_array_equal(twice.blocks[0].weights, weighted.blocks[0].weights)

    def test_a_model_is_saved_and_loaded(self, model, tmp_path):
        model.save(tmp_path / "tilted.juror")
        again = juror.load(tmp_path / "tilted.juror")
        assert again.info.tuned == model.info.tuned
        codes = exclusive_or(50, 5)
        np.testing.assert_array_equal(again.predict_proba(codes, "x5"), model.predict_proba(codes, "x5"))

    def test_a_budget_of_time_is_kept(self):
        began = time.monotonic()
        model = fit_quietly(exclusive_or(2000, 8), target="x5", max_seconds=2.0)
        assert time.monotonic() - began < 20
        assert model.info.target == "x5"

    def test_few_rows_and_labels_that_are_all_alike_are_not_tuned(self):
        assert fit_quietly(exclusive_or(40, 6), target="x5").info.tuned == ""
        alike = exclusive_or(200, 7)
        alike[:, 5] = 0
        assert fit_quietly(alike, target="x5").info.tuned == ""


def test_scores_of_pairs_learn_a_rule_of_pairs_from_few_rows():
    """A label that says whether x0 is x1, and whether x2 and x3 are on the same side."""
    codes = np.argwhere(np.ones((4,) * 4))
    same = (codes[:, 0] == codes[:, 1]) + 2 * ((codes[:, 2] < 2) == (codes[:, 3] < 2))
    rows = np.random.default_rng(15).permutation(np.column_stack([codes, same]))
    x = (juror.Variable(f"x{n}", tuple("abcd")) for n in range(4))
    domain, new = juror.Domain((*x, juror.Variable("y", tuple("efgh")))), rows[200:]
    scores = []
    for forest in ("auto", False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = juror.fit(rows[:200], domain=domain, target="y", ensemble="auto", forest=forest)
        assert ("with scores of pairs of columns" in model.info.tuned) == (forest == "auto")
        scores.append(np.log(model.predict_proba(new, "y")[np.arange(len(new)), new[:, 4]]).mean())
    assert scores[0] > scores[1] + 0.2


@pytest.mark.parametrize(
    ("n_steps", "share", "text"),
    [
        (
            0,
            0.0,
            "by separate classes for each label, which further steps did not improve; its labels in held-out rows "
            "have the log-probability -0.2500 a row, 0.0458 more than under an ensemble that treats x0 like any other "
            "column",
        ),
        (
            64,
            0.5,
            "by 256 steps with decay 0, and with the share 0.5 by an ensemble that treats x0 like any other column; "
            "its labels in held-out rows have the log-probability -0.2000 a row, 0.0500 more than without that "
            "ensemble, and 0.0958 more than by it alone",
        ),
        (
            64,
            1.0,
            "by an ensemble that treats x0 like any other column; its labels in held-out rows have the log-probability "
            "-0.2000 a row, 0.0500 more than by steps towards the labels",
        ),
    ],
)
def test_the_record_says_what_counts_for_the_labels(n_steps, share, text):
    trial = SimpleNamespace(target=0, domain=juror.Domain.from_cardinalities([2, 2]))
    tilts = SimpleNamespace(n_steps=n_steps, decay=0.0, with_pairs=False)
    score = -0.2 if share else -0.25
    stacked = SimpleNamespace(share=share, score=score, of_tilted=-0.25, of_alike=-0.2958)
    assert _in_words(trial, tilts, stacked) == f"for x0, {text}"


class TestStacking:
    """Tilted members and others side by side."""

    @staticmethod
    def logs(rng, n_rows, bias):
        """Return log p(y | x) of labels that are drawn by chances, under chances that are off by noise."""
        odds = rng.normal(0.0, 2.0, n_rows)
        label = np.where(rng.random(n_rows) < 1.0 / (1.0 + np.exp(-odds)), 1.0, -1.0)
        return [-np.logaddexp(0.0, -label * (odds + rng.normal(0.0, noise, n_rows))) for noise in bias]

    def test_shares_are_those_of_the_model_side_by_side(self):
        rng = np.random.default_rng(3)
        kinds = [dense(random_model((3, 2), 2, rng)) for _ in range(2)]
        x, labels = np.repeat(np.arange(3), 2), np.tile([0, 1], 3)
        of_x = [np.log(tensor.sum(axis=1))[x] for tensor in kinds]
        of_y = [np.log(tensor[x, labels]) - log_x for tensor, log_x in zip(kinds, of_x, strict=True)]
        share, log_prob = best_share(of_x[1] - of_x[0], *of_y, rng.random(6))
        tensor = (1.0 - share) * kinds[0] + share * kinds[1]
        np.testing.assert_allclose(np.exp(log_prob), (tensor / tensor.sum(axis=1, keepdims=True))[x, labels], rtol=1e-9)

    def test_noisy_kinds_are_better_together(self):
        rng = np.random.default_rng(4)
        one, other = self.logs(rng, 4000, (1.0, 1.0))
        share, log_prob = best_share(rng.normal(5.0, 1.0, 4000), one, other, np.ones(4000))
        assert log_prob.mean() > max(one.mean(), other.mean())
        # The others find rows more probable, by e⁵, so they need a small share to count the same.
        assert 0.0 < share < 0.1

    def test_a_kind_that_knows_nothing_has_no_share(self):
        rng = np.random.default_rng(5)
        good, bad = self.logs(rng, 4000, (0.0, 0.0)), np.full(4000, np.log(0.5))
        assert best_share(np.zeros(4000), good[0], bad, np.ones(4000))[0] < 0.02
        assert best_share(np.zeros(4000), bad, good[0], np.ones(4000))[0] > 0.98

    @pytest.mark.parametrize("seed", range(10))
    def test_weights_count_as_repeated_rows(self, seed):
        rng = np.random.default_rng(seed)
        one, other = self.logs(rng, 50, (1.0, 1.0))
        ratio, weights = rng.normal(size=50), rng.integers(1, 4, 50)
        often = [np.repeat(each, weights) for each in (ratio, one, other)]
        by_weights = best_share(ratio, one, other, weights.astype(float))
        assert by_weights[0] == best_share(*often, np.ones(weights.sum()))[0]

    def test_rows_that_one_kind_finds_impossible_leave_the_tilts_alone(self):
        ratio = np.array([0.0, -np.inf])
        assert best_share(ratio, np.log([0.5, 0.5]), np.log([0.9, 0.9]), np.ones(2))[0] == 0.0

    @pytest.mark.parametrize(("certainty", "wanted"), [(0.5, 1.0), (1.0, 0.0)])
    def test_members_of_all_columns_count_only_if_labels_gain(self, certainty, wanted):
        """Beside tilts that know nothing of the labels they count, and beside tilts that know all they do not."""
        codes = exclusive_or(1000, 10)
        domain, runner = juror.Domain.from_cardinalities([2] * 6), LocalRunner(1)
        table = MemoryTable(WeightedRows.of(codes), domain, runner)
        trial = Trial(table, METHODS["em"], 5, Context(0, runner))
        kept, held = table.split(0.3, np.random.default_rng(0))
        n_judges = int((held.rows.codes[:, 5] >= 0).sum())
        stacking = Stacking(domain.cardinalities)
        tilts = (Parameters(np.ones(1), stacking.stack([np.full((2, 1), 0.5)] * 6)),)
        chosen = Chosen(FitSetting(8))
        of_tilts = np.stack([np.full(n_judges, np.log(certainty)), np.full(n_judges, -5 * np.log(2))])
        found = stack(trial, EMOptions(ensemble="auto"), chosen, [(kept, held)], tilts, of_tilts)
        assert found.share == pytest.approx(wanted, abs=0.05)
        assert len(found.members) == (4 if wanted else 0)
        assert sum(part.lam.sum() for part in found.parts) == pytest.approx(1.0)
        assert found.score >= max(found.of_tilted, found.of_alike) - 1e-12 or not wanted
