"""The Bayesian estimator: its sampler against its prior, its answers against draws, its intervals by simulation."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, norm

import juror
from juror import Domain, JointPMF
from juror.answers.posterior_draws import posterior_draws
from juror.compare import tensor_error
from juror.errors import FitWarning, Message, ParameterError, QueryError
from juror.kernels import few, jit, reference
from juror.rows.drawn import RowsToDraw
from juror.rows.packing import PackedCells
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers import bayes
from juror.solvers.bayes import BayesOptions, _twice_the_sweeps, _twice_the_time
from juror.solvers.gibbs import draw_point
from juror.solvers.hyper import _table_counts, first_hyper, next_hyper
from juror.solvers.mixing import Mixing, mixing
from juror.testing import random_codes, random_model

pytestmark = pytest.mark.filterwarnings("ignore:The chains have not mixed well")
TRUTH = random_model((3, 2, 4), 2, np.random.default_rng(0))
CODES = random_codes(TRUTH, 200, np.random.default_rng(1), missing=0.1)
SHORT = {"sweeps": 60, "burnt": 20, "draws": 20}


PARTS = np.arange(12, dtype=np.int32)[:, None]


class TestDrawing:
    CELLS = Stacking((3, 2, 4)).cells(CODES)
    STACK = Stacking((3, 2, 4)).stack(TRUTH.factors)

    def tables(self, module):
        return module.tables(TRUTH.weights, self.STACK, PARTS, *self.CELLS.shape)

    def test_the_twins_count_the_same(self):
        drawn = np.random.default_rng(0).poisson(0.5, (len(self.CELLS), 2)) * 0.5
        counts = [np.ones_like(self.STACK), np.ones_like(self.STACK)]
        for module, into in zip((jit, reference), counts, strict=True):
            module.add_counts(self.CELLS, drawn, into)
        np.testing.assert_allclose(*counts, rtol=1e-12)
        assert counts[0].sum() == counts[0].size + 3 * drawn.sum()

    @pytest.mark.parametrize("module", [jit, reference, few], ids=["numba", "numpy", "few"])
    def test_classes_come_as_often_as_the_posterior_says(self, module):
        row = np.repeat(self.CELLS[:1], 20_000, axis=0)
        _, classes, counts = module.draw_classes(row, np.uint64(3), 0, self.tables(module))
        _, R = reference.posterior(self.CELLS[:1], self.tables(reference))
        assert chisquare(classes, 20_000 * R[0]).pvalue > 1e-4
        np.testing.assert_array_equal(counts[self.CELLS[0]], np.tile(classes, (3, 1)))

    @pytest.mark.parametrize("module", [jit, reference, few], ids=["numba", "numpy", "few"])
    def test_an_impossible_row_has_no_class(self, module):
        stack = Stacking((2,)).stack([np.array([[1.0, 1.0], [0.0, 0.0]])])
        cells = Stacking((2,)).cells(np.array([[1], [0]]))
        tables = module.tables(np.array([0.5, 0.5]), stack, np.arange(3, dtype=np.int32)[:, None], 2, 1)
        total, classes, _ = module.draw_classes(cells, np.uint64(0), 0, tables)
        assert total == -np.inf
        assert classes.sum() == 1

    def test_weights_stand_for_rows(self):
        weights = np.array([1.0, 3.0, 2.5])
        rows = RowsToDraw.of(PackedCells.plain(CODES[:3], Stacking((3, 2, 4))), weights)
        with LocalRunner(1) as runner:
            counts = rows.draw(TRUTH.weights, self.STACK, np.random.default_rng(0), runner)
        assert counts.classes.sum() == pytest.approx(6.5)
        expected = reference.expected_counts(self.CELLS[:3], weights, self.tables(reference))
        assert counts.log_likelihood == pytest.approx(expected[0])


def test_tables_of_a_restaurant_have_the_mean_they_should():
    C, theta = np.array([[4, 0, 30], [1, 2, 0]]), np.array([0.7, 3.0])
    rng = np.random.default_rng(0)
    mean = np.mean([_table_counts(C, theta, rng) for _ in range(4000)], axis=0)
    expected = [sum(t / (t + i) for n in row for i in range(n)) for row, t in zip(C, theta, strict=True)]
    np.testing.assert_allclose(mean, expected, rtol=0.03)


def test_tables_of_a_crowd_have_the_mean_they_should():
    C, theta = np.array([[5000, 20_000]]), np.array([2.0])
    rng = np.random.default_rng(0)
    mean = np.mean([_table_counts(C, theta, rng)[0] for _ in range(3000)])
    assert mean == pytest.approx(sum(2.0 / (2.0 + i) for n in C[0] for i in range(n)), rel=0.02)


def test_guests_who_know_nobody_sit_alone():
    # As in a table of all combinations, where c grows without bound.
    C = np.array([[4, 0, 30], [1, 2, 0]])
    np.testing.assert_array_equal(_table_counts(C, np.array([1e12, 1e15]), np.random.default_rng(0)), C.sum(axis=1))


def test_classes_do_not_become_ever_more_alike():
    rng = np.random.default_rng(0)
    hyper, counts = first_hyper((4, 3)), [np.full((4, 8), 1000.0), np.full((3, 8), 1000.0)]
    for _ in range(50):
        hyper = next_hyper(replace(hyper, mu=30.0), np.full(8, 4000.0), counts, rng)
        assert max(hyper.c) <= 4e6


def test_the_sampler_leaves_its_own_prior_in_place():
    """Draw data given parameters and parameters given data in turn: what comes out must be the prior (Geweke 2004)."""
    sizes, F, n_rows = (3, 2, 1), 2, 6
    stacking = Stacking(sizes)
    rng = np.random.default_rng(0)
    hyper, seen = first_hyper(sizes), []
    point = Parameters(np.full(F, 1 / F), stacking.stack([np.full((size, F), 1 / size) for size in sizes]))
    with LocalRunner(1) as runner:
        for _ in range(6000):
            model = JointPMF(point.lam, stacking.unstack(point.stack))
            codes = random_codes(model, n_rows, rng)
            rows = RowsToDraw.of(PackedCells.of(codes, stacking), np.ones(n_rows))
            counts = rows.draw(point.lam, point.stack, rng, runner)
            hyper = next_hyper(hyper, counts.classes, stacking.unstack(counts.cells), rng)
            point = draw_point(counts, hyper, stacking, rng)
            log_c = np.log(np.array(hyper.c)[:2] / [3, 2])
            z = [hyper.mu - 1.0, *((log_c - hyper.mu) / np.sqrt(hyper.tau2))]
            halves = [hyper.a / (1.0 + hyper.a), hyper.g / (250.0 + hyper.g), point.lam[0], hyper.m[1][0]]
            seen.append([*z, *halves, point.stack[3 + 1, 0]])
    # Under the prior the first three are normal, and the mean of all others is one half.
    ranks = np.array(seen)
    ranks[:, :3] = norm.cdf(ranks[:, :3])
    batches = ranks.reshape(30, 200, -1).mean(axis=1)
    off = (batches.mean(axis=0) - 0.5) / (batches.std(axis=0, ddof=1) / np.sqrt(30))
    assert np.all(np.abs(off) < 4.5), off


class TestFit:
    def test_the_model_is_the_mean_of_its_draws(self):
        model = juror.fit(CODES, 2, "bayes", domain=TRUTH.domain, **SHORT)
        assert (model.rank, model.info.n_draws, model.info.rank) == (40, 20, 40)
        draws = [JointPMF.of_blocks(draw.blocks, TRUTH.domain) for draw in posterior_draws(model, 20)]
        question = {"x0": 1, "x2": [0, 3]}
        assert model.prob(question) == pytest.approx(np.mean([draw.prob(question) for draw in draws]))
        assert len(model.info.trace) == 60
        assert model.info.smoothing == 0.0

    def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(self):
        one, other = (juror.fit(CODES, 2, "bayes", seed=3, n_jobs=n, **SHORT) for n in (1, 2))
        assert_same_bits(one, other)
        assert not np.array_equal(
            one.blocks[0].weights, juror.fit(CODES, 2, "bayes", seed=4, **SHORT).blocks[0].weights
        )

    def test_missing_cells_give_the_same_bits_for_any_number_of_threads(self):
        rng = np.random.default_rng(8)
        numbers = rng.normal(size=(700, 2))
        rows = pd.DataFrame(rng.integers(0, 3, (700, 6))).add_prefix("x").assign(y=numbers[:, 0], z=numbers.sum(axis=1))
        rows = rows.mask(rng.random(rows.shape) < 0.2)
        one, other = (juror.fit(rows, 4, "bayes", n_jobs=n, sweeps=60) for n in (1, 2))
        assert_same_bits(one, other)
        assert one.info.log_likelihood == other.info.log_likelihood == pytest.approx(one.log_prob(rows).sum())

    def test_counts_fit_as_the_rows_they_stand_for(self):
        # Not the same bits: repeated rows are drawn together.
        weights = np.random.default_rng(2).integers(1, 4, len(CODES))
        settings = {"domain": TRUTH.domain, "sweeps": 600, "burnt": 200}
        one = juror.fit(CODES, 2, "bayes", sample_weight=weights, **settings)
        other = juror.fit(np.repeat(CODES, weights, axis=0), 2, "bayes", seed=1, **settings)
        assert tensor_error(one, other) < 0.01

    def test_it_is_closer_to_the_truth_than_maximum_likelihood(self):
        errors = np.zeros(2)
        for seed in range(4):
            truth = random_model((4, 4, 4), 3, np.random.default_rng(seed), concentration=2.0)
            codes = random_codes(truth, 100, np.random.default_rng(seed + 10))
            bayes = juror.fit(codes, 3, "bayes", domain=truth.domain, sweeps=300, burnt=100)
            likely = juror.fit(codes, 3, "em", domain=truth.domain, smoothing=0.0)
            errors += tensor_error(truth, bayes), tensor_error(truth, likely)
        assert errors[0] < 0.5 * errors[1]

    def test_one_level_variables_and_one_class(self):
        codes = np.column_stack([CODES, np.zeros(len(CODES), dtype=int)])
        domain = Domain.from_cardinalities([3, 2, 4, 1])
        model = juror.fit(codes, 1, "bayes", domain=domain, **SHORT)
        assert model.rank == 20
        assert all(np.all(block.tables[-1] == 1.0) and block.parents[-1] == -1 for block in model.blocks)

    def test_without_a_rank_classes_stay_empty(self):
        sharp = [np.full((3, 3), 0.05) + 0.85 * np.eye(3)] * 5
        codes = random_codes(JointPMF(np.full(3, 1 / 3), sharp), 500, np.random.default_rng(0))
        model = juror.fit(codes, method="bayes", sweeps=200, burnt=100, draws=10)
        low, middle, high = model.info.occupied
        assert model.rank == 320
        assert 3 <= low <= middle <= high < 20
        assert f"classes that hold a row: {middle:.0f}" in model.summary()
        with pytest.raises(ParameterError, match="rank='cv' is for methods that do not learn"):
            juror.fit(CODES, "cv", "bayes")

    def test_more_classes_than_there_are_is_told(self):
        sharp = [np.full((6, 6), 0.01) + 0.94 * np.eye(6)] * 5
        codes = random_codes(JointPMF(np.full(6, 1 / 6), sharp), 300, np.random.default_rng(0))
        with pytest.warns(FitWarning, match=r"All 4 classes hold rows all the time.*Pass rank=8 or more\."):
            juror.fit(codes, 4, "bayes", sparse=True, **SHORT)
        juror.fit(codes, 4, "bayes", **SHORT)

    def test_constant_columns_change_nothing_about_the_others(self):
        constant = np.zeros((len(CODES), 20), dtype=int)
        wide = Domain.from_cardinalities([3, 2, 4] + [1] * 20)
        settings = {"sweeps": 800, "burnt": 200}
        one = juror.fit(CODES, 2, "bayes", domain=TRUTH.domain, **settings).marginal("x0", "x1", "x2").to_numpy()
        other = juror.fit(np.hstack([CODES, constant]), 2, "bayes", domain=wide, **settings)
        assert np.abs(one - other.marginal("x0", "x1", "x2").to_numpy()).max() < 0.015

    def test_a_hair_less_than_a_row_is_a_row(self):
        settings = {"domain": TRUTH.domain, **SHORT}
        one, other = (juror.fit(CODES, 2, "bayes", sample_weight=np.full(200, w), **settings) for w in (1.0, 1 - 1e-12))
        assert_same_bits(one, other)

    def test_fractions_of_rows_widen_intervals(self):
        settings = {"domain": TRUTH.domain, "sweeps": 600, "burnt": 200}
        widths = []
        for weight in (1.0, 0.25):
            found = juror.fit(CODES, 2, "bayes", sample_weight=np.full(200, weight), **settings).interval("x0")
            widths.append(np.mean(found.high - found.low))
        assert widths[1] > 1.4 * widths[0]

    def test_uneven_weights_count_as_few_rows_as_they_are_worth(self):
        """400 rows, whose weights are worth 7 to 64 of them: intervals of 90 % hold what they should."""
        held, domain = [], Domain.from_cardinalities([2, 2, 3])
        asked = {"x1 | x0 = 1": 0.7, "x1 | x0 = 0": 0.4, "x0": 0.5, "x1": 0.55}
        for seed in range(8):
            rng = np.random.default_rng([3, seed])
            arm = rng.integers(0, 2, 400)
            codes = np.column_stack([arm, rng.random(400) < np.where(arm == 1, 0.7, 0.4), rng.integers(0, 3, 400)])
            weights = rng.lognormal(0, 1.8, 400)
            weights /= weights.mean()
            settings = {"sample_weight": weights, "domain": domain, "sweeps": 100, "seed": seed}
            model = juror.fit(codes.astype(int), 2, "bayes", **settings)
            assert model.info.n_effective == pytest.approx(weights.sum() ** 2 / (weights @ weights))
            for question, truth in asked.items():
                low, high = model.interval(question, 0.9)[1]
                held.append(low <= truth <= high)
        # Were weights taken as they are, a third of the intervals would.
        assert np.mean(held) > 0.75
        said = [model.interval(f"x1 | x0 = 1{more}").basis for more in ("", ", x2 in {0, 1, 2}")]
        found = [re.search(r"([\d.]+) rows.* worth (\d+) rows by their weights", basis) for basis in said]
        (rows, worth), (same_rows, same_worth) = (np.array(each.groups(), dtype=float) for each in found)
        assert rows == pytest.approx(same_rows, abs=3)
        assert worth == pytest.approx(same_worth, abs=1)

    @pytest.mark.filterwarnings("ignore:sample_weight sums to")
    @pytest.mark.parametrize("weight", [0.1, 5.5])
    def test_the_scale_of_weights_with_fractions_changes_intervals_alone(self, weight):
        """Classes were drawn for other rows than count, all of them stayed occupied, and dependence was lost."""
        plain = juror.fit(CODES, 2, "bayes", domain=TRUTH.domain, **SHORT)
        model = juror.fit(CODES, 2, "bayes", sample_weight=np.full(len(CODES), weight), domain=TRUTH.domain, **SHORT)
        assert_same_bits(model, plain)
        assert model.info.n_effective == pytest.approx(len(CODES) * min(1.0, weight))
        assert model.info.widening == pytest.approx(max(1.0, 1 / weight) ** 0.5)

    @pytest.mark.filterwarnings("ignore:sample_weight sums to")
    def test_weighted_rows_that_are_given_are_worth_as_much_as_those_of_the_fit(self):
        weights = np.full(len(CODES), 0.1)
        model = juror.fit(CODES, 2, "bayes", sample_weight=weights, domain=TRUTH.domain, **SHORT)
        alone, given = model.interval("x0 | x1 = 1"), model.interval("x0 | x1 = 1", data=CODES, sample_weight=weights)
        np.testing.assert_allclose(given.low, alone.low, atol=1e-9)
        np.testing.assert_allclose(given.high, alone.high, atol=1e-9)

    def test_whole_weights_are_equal_rows(self):
        weights = np.random.default_rng(2).integers(1, 30, len(CODES))
        model = juror.fit(CODES, 2, "bayes", sample_weight=weights, domain=TRUTH.domain, **SHORT)
        assert model.info.n_effective is None
        repeated = juror.fit(np.repeat(CODES, weights, axis=0), 2, "bayes", domain=TRUTH.domain, **SHORT)
        assert_same_bits(model, repeated)

    def test_millions_of_rows_behind_a_few(self):
        model = juror.fit(CODES, 2, "bayes", sample_weight=np.full(200, 1e6), domain=TRUTH.domain, **SHORT)
        assert model.info.n_rows == 2e8

    def test_many_variables_do_not_underflow(self):
        codes = np.random.default_rng(0).integers(0, 2, (20, 1200))
        model = juror.fit(codes, 2, "bayes", sweeps=8, burnt=2, draws=2)
        assert np.all(np.isfinite([number for pair in model.info.mixing.values() for number in pair]))

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"chains": 0}, r"chains must be an int in the range \[1, inf\). Got 0 instead."),
            ({"burnt": 997}, r"burnt must leave at least 4 of the sweeps, 1000. Got 997 instead."),
            ({"sparse": "much"}, "sparse must be True, False or None"),
            ({"forest": "much"}, "forest must be 'auto', True or False"),
            ({"draws": 1201}, r"draws must be in the range \[1, 1200\], the sweeps kept. Got 1201 instead."),
            ({"smoothing": 0.1}, "method 'bayes' has no option 'smoothing'"),
        ],
    )
    def test_bad_options(self, options, sentence):
        with pytest.raises(ParameterError, match=sentence):
            juror.fit(CODES, 2, "bayes", **options)


@pytest.mark.filterwarnings("default:The chains have not mixed well")
def test_chains_that_have_not_mixed_are_said():
    with pytest.warns(
        FitWarning, match="The chains have not mixed well, .*: of the probabilities of 5 rows, split-R-hat"
    ):
        juror.fit(CODES, 3, "bayes", sweeps=6, burnt=1, draws=2)
    with pytest.warns(FitWarning, match="Pass sweeps=12 and burnt=2 for chains of twice as many sweeps"):
        juror.fit(CODES, 3, "bayes", sweeps=6, burnt=1, draws=2)


@pytest.mark.parametrize(
    ("rhat", "size", "found"),
    [(1.2, 50, "rows, split-R-hat is up to 1.200 (it"), (1.0, 9, "rows, the effective sample size is down to 9 (it")],
)
def test_only_what_is_amiss_is_said(rhat, size, found):
    (complaint,) = bayes._complaints(Mixing(np.array([9.0, rhat]), np.array([1, size])), Message("Wait"))
    assert found in str(complaint)
    assert str(complaint).count("should") == 1


def test_chains_go_on_only_while_that_is_not_too_much(monkeypatch):
    monkeypatch.setattr(bayes, "_has_mixed", lambda followed: False)
    monkeypatch.setattr(bayes, "_SWEEPS", 20)
    assert "of 40 sweeps" in juror.fit(CODES[:50], 2, "bayes").info.stopped
    monkeypatch.setattr(bayes, "_MOST_PASSED", 0)
    assert "of 20 sweeps" in juror.fit(CODES[:50], 2, "bayes").info.stopped


def assert_same_bits(one: JointPMF, other: JointPMF) -> None:
    for a, b in zip(one.blocks, other.blocks, strict=True):
        assert a.forest == b.forest
        for x, y in zip((a.weights, *a.tables), (b.weights, *b.tables), strict=True):
            np.testing.assert_array_equal(x, y)


class TestMixing:
    def test_independent_draws_have_mixed(self):
        rng = np.random.default_rng(0)
        found = mixing([rng.normal(size=(1000, 3)) for _ in range(2)])
        assert found.rhat.max() < 1.02
        assert np.all(np.abs(found.size - 2000) < 400)

    def test_chains_apart_have_not(self):
        rng = np.random.default_rng(0)
        found = mixing([rng.normal(size=(500, 1)), 5 + rng.normal(size=(500, 1))])
        assert found.rhat.max() > 2
        assert found.size.min() < 20

    def test_a_slow_chain_is_worth_less(self):
        rng = np.random.default_rng(0)
        x = np.zeros((4000, 1))
        for i in range(1, 4000):
            x[i] = 0.9 * x[i - 1] + rng.normal()
        # The effective size of an autoregression of 0.9 is (1 − 0.9) / (1 + 0.9) of its length.
        assert mixing([x]).size[0] == pytest.approx(4000 * 0.1 / 1.9, rel=0.5)

    def test_negative_correlation_is_no_riches(self):
        rng = np.random.default_rng(0)
        x = np.zeros((1000, 1))
        for i in range(1, 1000):
            x[i] = -0.6 * x[i - 1] + rng.normal()
        assert mixing([x]).size[0] <= 1000
        assert all(mixing([rng.normal(size=(4, 1)), rng.normal(size=(4, 1))]).size[0] <= 8 for _ in range(20))

    def test_chains_stuck_apart_have_not_mixed(self):
        found = mixing([np.zeros((10, 1)), np.ones((10, 1))])
        assert (found.rhat[0], found.size[0]) == (np.inf, 4)

    def test_the_record_of_stuck_chains_is_kept(self):
        info = replace(juror.fit(CODES, 2, "bayes", **SHORT).info, mixing={"log-likelihood": (np.inf, 4.0)})
        assert juror.FitInfo.from_dict(json.loads(json.dumps(info.to_dict(), allow_nan=False))) == info

    def test_what_does_not_move_is_no_trouble(self):
        assert mixing([np.ones((10, 2))]).rhat.max() == 1.0


class TestIntervals:
    def test_they_hold_the_answer_and_say_so(self):
        model = juror.fit(CODES, 2, "bayes", domain=TRUTH.domain, **SHORT)
        answer = model.interval("x0 | x1 = 1", level=0.9)
        table = model.ask("x0 | x1 = 1").to_numpy()
        np.testing.assert_array_equal(answer.table.to_numpy(), table)
        assert np.all(answer.low < answer.high)
        assert answer[1] == (answer.low[1], answer.high[1])
        with pytest.raises(QueryError, match="The table has 1 axes"):
            answer[0, 1]
        assert list(answer.to_pandas().columns) == ["x0", "probability", "low", "high", "share", "rows", "differs"]
        assert answer.to_polars().columns == list(answer.to_pandas().columns)
        assert str(answer).startswith("P(x0 | x1 = 1)\nx0  probability  90 % from")

    def test_a_model_without_draws_and_rows_has_none(self):
        with pytest.raises(QueryError, match="Intervals need draws or rows, and this model has neither"):
            TRUTH.interval("x0")
        model = juror.fit(CODES, 2, "bayes", **SHORT)
        for level in (0, 1, 1.5, "much", True):
            with pytest.raises(ParameterError, match="level must be a number in the range"):
                model.interval("x0", level=level)

    def test_nine_tenths_hold_the_truth_nine_times_in_ten(self):
        covered = []
        for seed in range(80):
            rng = np.random.default_rng([8, seed])
            truth = model_of_the_prior((2, 3, 2), 2, rng)
            codes = random_codes(truth, 60, rng)
            settings = {"chains": 1, "sweeps": 250, "burnt": 50, "draws": 100, "forest": False}
            model = juror.fit(codes, 2, "bayes", domain=truth.domain, seed=seed, **settings)
            for question in ("x0", "x1 | x0 = 1", "x2 | x0 = 0, x1 = 2"):
                found, true = model.interval(question, level=0.9), truth.ask(question).to_numpy()
                covered.append(found.low[0] <= true[0] <= found.high[0])
        assert 0.85 <= np.mean(covered) <= 0.95


def model_of_the_prior(sizes: tuple[int, ...], F: int, rng: np.random.Generator) -> JointPMF:
    """Draw a model from the prior of the estimator, for which its intervals promise to hold."""
    a, g = (rng.random(2) ** -1 - 1) * [1.0, 100 * np.mean(sizes)]
    mu, tau2 = rng.normal(1.0, 1.0), 0.5 / rng.gamma(2.0)
    factors = []
    for size in sizes:
        base = np.maximum(rng.standard_gamma(g / size, size), 1e-300)
        c = size * np.exp(rng.normal(mu, np.sqrt(tau2)))
        column = rng.standard_gamma(np.repeat((c * base / base.sum())[:, None], F, axis=1))
        A = np.maximum(column, 1e-300)
        factors.append(A / A.sum(axis=0))
    lam = np.maximum(rng.standard_gamma(a, F), 1e-300)
    return JointPMF(lam / lam.sum(), factors)


@pytest.mark.parametrize(
    ("n_sweeps", "given", "expected"),
    [
        (1000, {}, "Pass sweeps=2000 and burnt=800 for chains of twice as many sweeps"),
        # Chains that went on
        (4000, {}, "Pass sweeps=8000 and burnt=4000 for chains of twice as many sweeps"),
        (60, {"sweeps": 60, "burnt": 10}, "Pass sweeps=120 and burnt=20 for chains of twice as many sweeps"),
    ],
)
def test_a_warning_of_poor_mixing_names_twice_as_many_sweeps(n_sweeps, given, expected):
    assert str(_twice_the_sweeps(n_sweeps, BayesOptions(**given))) == expected


@pytest.mark.parametrize(("seconds", "expected"), [(None, "Raise max_seconds"), (7, "Pass max_seconds=14 or more")])
def test_a_warning_of_poor_mixing_names_twice_the_time(seconds, expected):
    assert str(_twice_the_time(BayesOptions(max_seconds=seconds))) == expected
