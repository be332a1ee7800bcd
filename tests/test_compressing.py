"""Compressing a model: what it keeps, what it loses, and that it says so."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juror
from juror import FitInfo, JointPMF
from juror.answers import compressing, information, marginals
from juror.answers.block import Block
from juror.answers.compressing import compressed
from juror.answers.merging import merge
from juror.errors import ParameterError
from juror.record import Compression
from juror.testing import dense, random_model

SIZES = (3, 2, 4, 3)
INFO = FitInfo("em", 12, 10.0, 8, -20.0, 9, 0.1, 0, (-21.0,), (-30.0, -21.0), "converged", 7, target="x1")


def big(seed: int = 0, rank: int = 12, **options) -> JointPMF:
    return random_model(SIZES, rank, np.random.default_rng(seed), **options)


def small_of(p: JointPMF, rank: int, **options) -> tuple[JointPMF, compressing.Estimate]:
    blocks, loss = compressed(p, rank, **options)
    return JointPMF.of_blocks(blocks, p.domain), loss


def divergence(p: JointPMF, q: JointPMF) -> float:
    """Return D(p‖q) by its definition, over all cells."""
    pairs = zip(dense(p).ravel().tolist(), dense(q).ravel().tolist(), strict=True)
    return sum(a * (math.log(a) - math.log(b) if b else -math.inf) for a, b in pairs if a)


def off_marginals(p: JointPMF, q: JointPMF) -> float:
    """Return the largest difference of any one-way marginal."""
    marginals = (np.abs(a @ p.weights - b @ q.weights).max() for a, b in zip(p.factors, q.factors, strict=True))
    return float(max(marginals))


@pytest.fixture
def drawn(monkeypatch):
    """Take no table for small, so that everything goes by rows drawn."""
    monkeypatch.setattr(compressing, "_EXACT_CELLS", 0)


def test_the_oracles_tell_models_apart():
    p, q = (JointPMF([1.0], [[[a], [1 - a]]]) for a in (0.5, 0.25))
    assert divergence(p, q) == pytest.approx(0.5 * math.log(4 / 3))
    assert divergence(p, p) == 0
    assert off_marginals(p, q) == 0.25
    assert off_marginals(p, p) == 0


class TestMerge:
    @settings(max_examples=30, deadline=None)
    @given(seed=st.integers(0, 2**32), rank=st.integers(1, 11), zeros=st.sampled_from([0.0, 0.4]))
    def test_it_keeps_marginals_and_whatever_is_possible(self, seed, rank, zeros):
        p = big(seed, zeros=zeros)
        q = JointPMF.of_blocks([merge(p.blocks[0], rank, seed)], p.domain)
        assert q.rank == rank
        assert np.all(q.weights > 0)
        assert off_marginals(p, q) < 1e-12
        assert np.all(dense(q)[dense(p) > 0] > 0)

    def test_the_nearest_go_together(self):
        factor = np.array([[0.9, 0.1, 0.8, 0.2], [0.1, 0.9, 0.2, 0.8]])
        merged = merge(Block.of_factors(np.array([0.3, 0.1, 0.2, 0.4]), [factor]), 2, 0)
        (B,) = merged.factors
        order = np.argsort(B[0])
        np.testing.assert_allclose(merged.weights[order], [0.5, 0.5])
        np.testing.assert_allclose(B[0, order], [0.18, 0.86])

    def test_more_groups_than_different_classes(self):
        factors = [np.repeat([[0.9, 0.2], [0.1, 0.8]], 5, axis=1)] * 2
        merged = merge(Block.of_factors(np.full(10, 0.1), factors), 7, 0)
        assert merged.rank == 7
        assert np.all(merged.weights > 0)


class TestLoss:
    @pytest.mark.parametrize("seed", range(3))
    def test_copies_are_told_from_new_classes(self, seed):
        p = big(seed, rank=5)
        order = np.random.default_rng(seed).permutation(20)
        copies = JointPMF(np.tile(p.weights / 4, 4)[order], [np.tile(A, 4)[:, order] for A in p.factors], p.domain)
        q, loss = small_of(copies, 5)
        assert loss.is_exact
        assert loss < 1e-10
        assert divergence(copies, q) < 1e-10
        assert small_of(copies, 4)[1] > 1e-5

    @pytest.mark.parametrize("zeros", [0.0, 0.4])
    @pytest.mark.parametrize("rank", [1, 3, 7])
    def test_it_is_that_of_all_cells(self, rank, zeros):
        p = big(zeros=zeros)
        q, loss = small_of(p, rank)
        assert loss.is_exact
        assert math.isfinite(loss)
        assert loss == pytest.approx(divergence(p, q), abs=1e-12)
        assert off_marginals(p, q) < 1e-9

    def test_rows_drawn_tell_the_same_within_their_error(self, drawn):
        for seed in range(3):
            p = big(seed, zeros=0.2)
            q, loss = small_of(p, 3, n_steps=10, n_rows=20_000)
            exact = divergence(p, q)
            assert 0 < loss.standard_error < exact
            assert abs(loss - exact) < 4 * loss.standard_error
            assert off_marginals(p, q) < 1e-9

    def test_rank_one_is_the_product_of_the_marginals(self):
        # whose divergence from p is the least of all products
        p = big()
        _, loss = small_of(p, 1)
        entropies = [juror.answers.information.entropy_of(p.marginal(name).to_numpy()) for name in p.domain.names]
        assert loss == pytest.approx(sum(entropies) - p.entropy(), abs=1e-10)

    def test_it_falls_with_the_rank(self):
        losses = [float(small_of(big(3, concentration=0.3), rank)[1]) for rank in (1, 2, 4, 8, 11)]
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] < 0.1 * losses[0]

    def test_em_comes_nearer_than_merging(self):
        p = big(5, rank=30, concentration=0.3)
        assert small_of(p, 4)[1] < 0.9 * small_of(p, 4, n_steps=0)[1]

    def test_fresh_rows_come_nearer_than_merging(self, drawn):
        p = big(5, rank=30, concentration=0.3)
        merged, found = (small_of(p, 4, n_steps=n, n_rows=1000)[0] for n in (0, 40))
        assert divergence(p, found) < 0.95 * divergence(p, merged)

    def test_what_is_worse_than_merging_is_not_taken(self, drawn, monkeypatch):
        p = big()
        uniform = JointPMF([0.5, 0.5], [np.full((size, 2), 1 / size) for size in SIZES])
        monkeypatch.setattr(
            compressing._Task,
            "climb",
            lambda task, start, n_steps: uniform.blocks,
        )
        q, _ = small_of(p, 2, n_rows=2000)
        assert off_marginals(p, q) < 1e-12 < off_marginals(p, uniform)

    def test_nothing_that_was_possible_becomes_impossible(self, drawn):
        rare = [np.column_stack([np.r_[np.full(4, 0.25), 0.0], np.r_[np.zeros(4), 1.0], np.full(5, 0.2)])] * 3
        p = JointPMF([1 - 2e-9, 1e-9, 1e-9], rare)
        q, loss = small_of(p, 2, n_steps=5, n_rows=1000)
        assert np.all(dense(q)[dense(p) > 0] > 0)
        assert math.isfinite(loss)


def test_blocks_of_classes_add_up_to_the_whole_table(monkeypatch):
    p = big()
    monkeypatch.setattr(marginals, "_NUMBERS_AT_ONCE", 100)
    np.testing.assert_allclose(marginals.whole_table(p), dense(p), rtol=1e-12)


@pytest.mark.parametrize("cells", [0, 10**6])
def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(cells, monkeypatch):
    monkeypatch.setattr(compressing, "_EXACT_CELLS", cells)
    p = big(rank=20)
    one, other = (compressed(p, 4, seed=2, n_jobs=n, n_steps=6, n_rows=3000) for n in (1, 3))
    assert one[0][0].weights.tobytes() == other[0][0].weights.tobytes()
    assert [A.tobytes() for A in one[0][0].factors] == [A.tobytes() for A in other[0][0].factors]
    assert (one[1], one[1].standard_error) == (other[1], other[1].standard_error)
    if cells == 0:
        third = compressed(p, 4, seed=3, n_steps=6, n_rows=3000)[0][0]
        assert third.weights.tobytes() != one[0][0].weights.tobytes()


class TestModel:
    def test_the_record_says_from_which_rank_and_at_what_loss(self):
        p = big()
        q = JointPMF(p.weights, p.factors, p.domain, INFO).compress(4)
        (step,) = q.info.compressed
        assert (q.rank, q.info.rank, step.rank, step.standard_error) == (4, 4, 12, 0.0)
        assert step.loss == pytest.approx(divergence(p, q), abs=1e-12)
        assert (q.info.method, q.info.seed, q.info.target) == ("em", 0, "x1")
        assert q.info.n_parameters == 3 + 4 * (2 + 1 + 3 + 2)
        assert (q.info.log_likelihood, q.info.aic, q.info.bic) == (None, None, None)
        assert f"compressed from rank 12: {step.loss:.4g} nats a row lost\nmade to predict x1" in q.summary()

    def test_twice_is_told_twice(self):
        q = big().compress(6).compress(3)
        assert [step.rank for step in q.info.compressed] == [12, 6]
        assert q.summary().count("compressed from rank") == 2

    def test_a_model_without_a_record_gets_one(self):
        q = big().compress(4)
        assert (q.info.method, q.info.compressed[0].rank) == ("compress", 12)
        assert "fitted" not in q.summary()
        assert json.loads(json.dumps(q.info.to_dict(), allow_nan=False))["compressed"][0]["rank"] == 12

    def test_an_estimated_loss_shows_its_error(self, drawn):
        q = big().compress(2)
        (step,) = q.info.compressed
        assert step.standard_error > 0
        expected = f"rank 12: {step.loss:.4g} ± {step.standard_error:.2g} (standard error) nats a row lost"
        assert expected in q.summary()

    def test_saving_keeps_the_record(self, tmp_path):
        p = big()
        for loss in (Compression(40, 0.25), Compression(40, 0.1 + 0.2, 1e-3)):
            info = juror.FitInfo.from_dict({**INFO.to_dict(), "compressed": [vars(loss)]})
            JointPMF(p.weights, p.factors, p.domain, info).compress(5).save(tmp_path / "m.juror")
            loaded = juror.load(tmp_path / "m.juror").info
            assert loaded.compressed[0] == loss
            assert loaded.compressed[1].rank == 12

    def test_draws_are_gone(self):
        codes = np.random.default_rng(0).integers(0, 2, (60, 3))
        p = juror.fit(codes, 2, "bayes", sweeps=300, burnt=100, draws=20, n_jobs=1)
        q = p.compress(2)
        assert (q.rank, q.info.n_draws, q.info.compressed[0].rank) == (2, 0, 40)
        assert "the mean of" not in q.summary()
        assert "smoothing" not in q.summary()
        assert q.interval("x0").basis == "60 rows"
        assert p.compress(40).interval("x0").basis == "20 draws and 60 rows"

    @pytest.mark.parametrize("rank", [12, 13, 10**9])
    def test_a_rank_that_is_no_smaller_changes_nothing(self, rank):
        p = JointPMF(big().weights, big().factors, None, INFO)
        q = p.compress(rank)
        assert q.weights.tobytes() == p.weights.tobytes()
        assert [A.tobytes() for A in q.factors] == [A.tobytes() for A in p.factors]
        assert q.info == p.info
        assert repr(compressed(p, rank)[1]) == "0.0"

    def test_classes_of_weight_zero_go_first(self):
        p = big(rank=5)
        weights = np.zeros(9)
        held = [1, 3, 4, 6, 8]
        weights[held] = p.weights
        padded = big(1, rank=9)
        factors = [A.copy() for A in padded.factors]
        for A, kept in zip(factors, p.factors, strict=True):
            A[:, held] = kept
        padded = JointPMF(weights, factors, p.domain)
        q, loss = small_of(padded, 5)
        assert loss == 0
        np.testing.assert_array_equal(dense(q), dense(p))
        assert small_of(padded, 7)[0].rank == 7
        smaller, loss = small_of(padded, 3)
        assert smaller.rank == 3
        assert loss == pytest.approx(divergence(p, smaller), abs=1e-12)

    @pytest.mark.parametrize("rank", [0, -1, 2.0, "auto", True, None])
    def test_bad_ranks(self, rank):
        with pytest.raises(ParameterError) as raised:
            big().compress(rank)
        assert str(raised.value) == f"rank must be an int in the range [1, inf). Got {rank!r} instead."

    def test_bad_seeds_and_threads_even_where_nothing_is_done(self):
        for options, name in (({"seed": -1}, "seed"), ({"n_jobs": 0}, "n_jobs")):
            with pytest.raises(ParameterError, match=f"{name} must be an int"):
                big().compress(99, **options)


def test_an_ensemble_is_one_model_when_compressed():
    model = juror.fit(juror.datasets.titanic(), 3, "em", ensemble=2, smoothing=0.1)
    small = model.compress(2)
    assert (model.info.n_members, small.info.n_members, small.info.rank) == (2, 1, 2)
    assert "the mean of" not in small.summary()


@pytest.mark.filterwarnings("ignore:The chains have not mixed well")
def test_a_compressed_model_has_no_chains():
    model = juror.fit(juror.datasets.titanic(), 3, "bayes", sweeps=60, burnt=20, draws=20)
    small = model.compress(2)
    before, after = model.summary().splitlines(), small.summary().splitlines()
    for text in ("chains, log-likelihood", "chains, probabilities of rows", "classes that hold a row", "the mean of"):
        assert any(line.startswith(text) for line in before)
        assert not any(line.startswith(text) for line in after)
    # How it was fitted is still true.
    assert "took 2 chains of 60 sweeps" in before
    assert "took 2 chains of 60 sweeps" in after


def test_a_divergence_that_is_much_work_is_estimated(monkeypatch):
    p, q = (random_model(SIZES, 5, np.random.default_rng(seed)) for seed in (0, 1))
    exact = information.divergence(p, q, 10, np.random.default_rng(0))
    assert exact == pytest.approx(divergence(p, q))
    monkeypatch.setattr(information, "_EXACT_WORK", math.prod(SIZES) * 10 - 1)
    drawn = information.divergence(p, q, 20_000, np.random.default_rng(0))
    assert drawn.standard_error > 0
    assert abs(drawn - exact) < 4 * drawn.standard_error
