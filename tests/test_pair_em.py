"""EM on pairs: its likelihood against the definition, its steps, its choices, and what pairs do not tell."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest

import juror
from juror import Domain, JointPMF, PairCounts, Projections
from juror.answers.block import Block
from juror.compare import tensor_error
from juror.errors import DataError, ParameterError
from juror.rows.forest import Forest
from juror.rows.parameters import Parameters
from juror.solvers.ascent import Objective, ascend
from juror.solvers.forest_likelihood import ForestLikelihood
from juror.solvers.pair_likelihood import PairLikelihood
from juror.solvers.starts import random_start
from juror.solvers.thinning import HELD_SHARE, LEAST_GAIN, SMOOTHINGS, Walk, thinned
from juror.testing import random_codes

SIZES = (3, 2, 4, 3, 2)
DOMAIN = Domain.from_cardinalities(SIZES)
RNG = np.random.default_rng(0)
CODES = np.stack([RNG.integers(0, size, 300) for size in SIZES], axis=1)
CODES[:, 3] = CODES[:, 0]
CODES[RNG.random(CODES.shape) < 0.15] = -1
COUNTS = PairCounts.of_codes(CODES, DOMAIN)
FORESTS = [None, (-1, 0, 1, 0, -1), (2, -1, -1, 2, 0), (1, 2, 3, 4, -1)]


def likelihood_along(parents):
    return PairLikelihood.of(COUNTS) if parents is None else ForestLikelihood.of(COUNTS, Forest(parents))


def start_of(pairs, rank: int = 3) -> tuple[Objective, Parameters]:
    objective = Objective.of(pairs, pairs.stacking, 0.1)
    return objective, random_start(objective.marginals, rank, pairs.stacking, np.random.default_rng(5))


@pytest.mark.parametrize("parents", FORESTS)
class TestLikelihood:
    def test_it_is_that_of_the_dense_tensor(self, parents):
        pairs = likelihood_along(parents)
        _, at = start_of(pairs)
        forest = Forest((-1,) * 5) if parents is None else Forest(parents)
        dense = np.zeros(SIZES)
        for f, lam in enumerate(at.lam):
            joint = np.full(SIZES, lam)
            for n, table in enumerate(pairs.stacking.tables(at.stack)):
                shape = [1] * 5
                shape[n] = SIZES[n]
                if forest.parents[n] < 0:
                    joint = joint * table[0, :, f].reshape(shape)
                else:
                    shape[forest.parents[n]] = SIZES[forest.parents[n]]
                    own = table[:, :, f] if forest.parents[n] < n else table[:, :, f].T
                    joint = joint * own.reshape(shape)
            dense += joint
        total = 0.0
        for (j, k), table in zip(COUNTS.groups, COUNTS.tables, strict=True):
            total += np.sum(table * np.log(dense.sum(axis=tuple(set(range(5)) - {j, k}))))
        assert pairs.expected(at.lam, at.stack).log_likelihood == pytest.approx(total / 4, rel=1e-12)

    def test_expected_counts_are_slopes_times_entries(self, parents):
        pairs = likelihood_along(parents)
        _, at = start_of(pairs)
        counts = pairs.expected(at.lam, at.stack)
        for row, f in ((0, 0), (2, 1), (9, 2), (len(at.stack) - 2, 0)):
            step = 1e-5 * at.stack[row, f]
            both = []
            for sign in (1, -1):
                moved = at.stack.copy()
                moved[row, f] += sign * step
                both.append(pairs.expected(at.lam, moved).log_likelihood)
            slope = (both[0] - both[1]) / (2 * step)
            if row not in pairs.stacking.missing_rows:
                assert counts.cells[row, f] == pytest.approx(slope * at.stack[row, f], rel=1e-5)
        assert counts.classes.sum() == pytest.approx(sum(t.sum() for t in COUNTS.tables) / 4)

    @pytest.mark.parametrize("accelerate", [True, False])
    def test_the_objective_never_falls(self, parents, accelerate):
        objective, at = start_of(likelihood_along(parents))
        run = ascend(objective, at, max_iter=80, tol=0.0, accelerate=accelerate)
        assert np.all(np.diff(run.trace) >= -1e-9)
        assert len(run.trace) > 10

    def test_no_edges_are_no_forest(self, parents):
        pairs = PairLikelihood.of(COUNTS)
        _, at = start_of(pairs)
        one, other = (p.expected(at.lam, at.stack) for p in (pairs, ForestLikelihood.of(COUNTS, Forest((-1,) * 5))))
        assert one.log_likelihood == pytest.approx(other.log_likelihood)
        np.testing.assert_allclose(one.cells, other.cells, atol=1e-9)


def quiet_fit(*arguments, **options) -> JointPMF:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", juror.JurorWarning)
        return juror.fit(*arguments, **options)


class TestFit:
    def test_rows_counts_and_projections_agree(self):
        codes = random_codes(random_truth(3), 500, np.random.default_rng(0))
        domain = random_truth(3).domain
        counts = PairCounts.of_codes(codes, domain)
        parts = [PairCounts.of_codes(part, domain) for part in np.array_split(codes, 4)]
        models = [
            quiet_fit(data, 3, "pair-em", smoothing=0.3, **more)
            for data, more in (
                (counts, {}),
                (codes, {"domain": domain}),
                (sum(parts), {}),
                (Projections.of(codes, domain=domain), {}),
            )
        ]
        for other in models[1:]:
            for one, two in zip(models[0].factors, other.factors, strict=True):
                np.testing.assert_allclose(one, two, atol=1e-6)

    def test_one_class_is_the_product_of_marginals(self):
        codes = CODES[np.all(CODES >= 0, axis=1)]
        model = quiet_fit(codes, 1, "pair-em", smoothing=0.0, domain=DOMAIN)
        for n, A in enumerate(model.factors):
            np.testing.assert_allclose(A[:, 0], np.bincount(codes[:, n], minlength=len(A)) / len(codes), atol=1e-12)

    def test_the_error_falls_with_the_rows(self):
        truth = random_truth(2)
        codes = random_codes(truth, 20_000, np.random.default_rng(4))
        fits = [quiet_fit(codes[:n], 2, "pair-em", domain=truth.domain) for n in (200, 20_000)]
        errors = [tensor_error(truth, fit) for fit in fits]
        assert errors[1] < 0.2 * errors[0]

    def test_variables_that_no_row_shows_together(self):
        codes = CODES.copy()
        codes[:150, 0], codes[150:, 1] = -1, -1
        model = quiet_fit(PairCounts.of_codes(codes, DOMAIN), 2, "pair-em")
        assert model.prob({"x0": 0}) > 0

    def test_one_variable_is_refused(self):
        with pytest.raises(DataError, match="needs at least 2 variables"):
            juror.fit(np.array([[0], [1]]), 2, "pair-em")

    def test_several_forests_are_several_blocks(self):
        model = quiet_fit(COUNTS, 2, "pair-em", forests=3, smoothing=0.1)
        assert [block.weights.sum() for block in model.blocks] == pytest.approx([1 / 3] * 3)
        assert all(isinstance(block, Block) and block.forest.has_edges for block in model.blocks)
        assert model.info.n_members == 3
        assert model.rank == 6
        single = quiet_fit(COUNTS, 2, "pair-em", forests=1, smoothing=0.1)
        assert single.blocks[0].forest == model.blocks[0].forest

    @pytest.mark.parametrize("forests", [-1, 1.5, True, "two"])
    def test_a_wrong_number_of_forests(self, forests):
        with pytest.raises(ParameterError, match="forests must be"):
            juror.fit(COUNTS, 2, "pair-em", forests=forests)

    def test_a_budget_of_time_is_kept(self):
        model = quiet_fit(COUNTS, 4, "pair-em", forests=50, smoothing=0.1, max_seconds=1e-9)
        assert model.info.n_members == 1

    def test_forests_without_time_are_complained_of(self):
        model = quiet_fit(COUNTS, 4, "pair-em", forests=5, smoothing=0.1, max_seconds=1e-9)
        assert len(model.blocks) == 1
        assert model.info.warnings == (
            "1 of 1 fits along forests spent max_seconds = 1e-09 before they converged. Raise max_seconds.",
            "max_seconds = 1e-09 was enough for 1 of the 5 forests. Raise max_seconds.",
        )
        model = quiet_fit(COUNTS, 4, "pair-em", forests=2, smoothing=0.1, max_iter=3)
        assert "2 of 2 fits along forests spent max_iter = 3 before they converged." in model.info.warnings[0]
        assert quiet_fit(COUNTS, 2, "pair-em", forests=2, smoothing=0.1).info.warnings == ()

    @pytest.mark.parametrize("seed", range(3))
    def test_the_same_seed_gives_the_same_model(self, seed):
        one, other = (quiet_fit(COUNTS, seed=seed) for _ in range(2))
        for a, b in zip(one.blocks, other.blocks, strict=True):
            np.testing.assert_array_equal(a.weights, b.weights)


def random_truth(rank: int) -> JointPMF:
    rng = np.random.default_rng(rank)
    return JointPMF(rng.dirichlet(np.full(rank, 5.0)), [rng.dirichlet(np.ones(size), rank).T for size in (4, 3, 4, 3)])


class TestChoosing:
    def test_thinned_counts_add_up(self):
        kept, held = thinned(COUNTS, np.random.default_rng(0))
        for whole, a, b in zip(COUNTS.tables, kept.tables, held.tables, strict=True):
            np.testing.assert_array_equal(a + b, whole)
        assert held.totals.sum() / COUNTS.totals.sum() == pytest.approx(HELD_SHARE, abs=0.03)

    def test_fractions_are_kept_on_average(self):
        half = PairCounts(COUNTS.domain, COUNTS.groups, tuple(table / 2 for table in COUNTS.tables))
        kept, held = thinned(half, np.random.default_rng(0))
        assert (kept.totals + held.totals).sum() == pytest.approx(half.totals.sum(), rel=0.05)

    def test_the_walk_finds_the_top_of_a_hill(self):
        def score(rank: int, smoothing: float) -> tuple[float, int]:
            return -abs(np.log2(rank) - 4) - abs(np.log(smoothing / 0.1)), rank

        walk = Walk(score, None, None, 64)
        assert walk.run() == (16, 0.1)
        assert [step.rank for step in walk.rank_path(0.1)] == [4, 8, 16, 32]
        assert Walk(score, None, None, 4).run() == (4, 0.1)
        assert Walk(score, 3, None, 64).run() == (3, 0.1)
        assert Walk(score, None, 1.0, 64).run() == (16, 1.0)
        assert {smoothing for _, smoothing in walk.tried} <= set(SMOOTHINGS)

    def test_the_record_tells_what_was_chosen(self):
        model = quiet_fit(COUNTS)
        info = model.info
        # All five forests are the same, and one class along it is the best.
        assert (info.method, info.n_members, model.rank) == ("pair-em", 1, 1)
        scores = {step.rank: step.score for step in info.rank_path}
        assert scores[info.chosen_rank] >= max(scores.values()) - 2 * LEAST_GAIN
        assert info.smoothing in SMOOTHINGS
        assert info.chosen_by.startswith("mean log-probability of pairs")
        given = quiet_fit(COUNTS, 3, smoothing=0.2)
        assert (given.info.smoothing, given.info.smoothing_path, given.rank) == (0.2, (), 3)

    def test_of_equal_ranks_the_smallest_is_taken(self):
        assert Walk(lambda rank, smoothing: (-1e-5 * rank, rank), None, None, 64).run() == (1, 1.0)
        assert Walk(lambda rank, smoothing: (-0.1 * (rank < 4), rank), None, None, 64).run() == (4, 1.0)
        assert Walk(lambda rank, smoothing: (0.0, rank), 7, None, 64).run() == (7, 1.0)

    @pytest.mark.parametrize("forests", [0, 1, 2])
    @pytest.mark.parametrize("seed", range(5))
    def test_too_little_to_hold_out(self, forests, seed):
        codes = np.random.default_rng(seed).integers(0, 3, (120, 4))
        weights = np.full(len(codes), 0.001)
        for rank in (2, "auto"):
            model = quiet_fit(codes, rank, "pair-em", sample_weight=weights, forests=forests, seed=seed)
            assert (model.info.smoothing, model.info.smoothing_path) == (0.1, ())

    @pytest.mark.parametrize("smoothing", [None, 0.0, 0.5])
    @pytest.mark.parametrize("forests", [0, 2])
    def test_nothing_is_seen(self, forests, smoothing):
        domain = Domain.from_cardinalities([3] * 4)
        more = {} if smoothing is None else {"smoothing": smoothing}
        model = quiet_fit(np.full((10, 4), -1), 2, "pair-em", domain=domain, forests=forests, **more)
        assert model.prob({"x0": 1, "x2": 0}) == pytest.approx(1 / 9, abs=1e-3)
        assert smoothing is not None or model.info.smoothing == 0.1

    @pytest.mark.parametrize("rows", [1, 60])
    def test_identical_rows_are_one_class(self, rows):
        codes = np.repeat(CODES[np.all(CODES >= 0, axis=1)][:1], rows, axis=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error", juror.FitWarning)
            assert juror.fit(codes, method="pair-em", domain=DOMAIN).rank == 1
            assert juror.fit(PairCounts.of_codes(codes, DOMAIN)).rank == 1

    def test_two_columns_need_no_more_classes_than_labels(self):
        pair = Domain.from_cardinalities([3, 3])
        codes = np.repeat(CODES[CODES[:, 0] >= 0][:, :1], 2, axis=1)
        assert quiet_fit(codes, method="pair-em", domain=pair).rank == 3
        model = quiet_fit(PairCounts.of_codes(codes, pair))
        assert (model.rank, len(model.blocks)) == (1, 1)

    def test_a_chosen_rank_is_not_to_be_lowered(self):
        rng = np.random.default_rng(0)
        for seed in range(6):
            codes = rng.integers(0, 3, (80, 6))
            codes[:, :3] = codes[:, :1]
            with warnings.catch_warnings():
                warnings.simplefilter("error", juror.FitWarning)
                juror.fit(codes, method="pair-em", seed=seed)

    def test_strong_noise_asks_for_strong_smoothing(self):
        rng = np.random.default_rng(0)
        domain = Domain.from_cardinalities([8] * 4)
        counts = PairCounts.of_codes(rng.integers(0, 8, (200, 4)), domain)
        assert quiet_fit(counts, 6).info.smoothing >= 1.0


class TestWhatPairsDoNotTell:
    def test_a_rotation_of_the_classes_has_the_same_pair_tables(self):
        """The claim of the module: W_j Q is another model of the same pairs, on the simplex."""
        truth = random_model_of_positive_entries()
        root = np.sqrt(truth.weights)
        skew = np.random.default_rng(1).normal(size=(3, 3)) * 0.01
        skew -= skew.T
        Q = np.linalg.solve(np.eye(3) - skew, np.eye(3) + skew)
        weights = (root @ Q) ** 2
        factors = [(A * root) @ Q / (root @ Q) for A in truth.factors]
        other = JointPMF(weights, factors, truth.domain)
        for j, k in combinations(range(4), 2):
            one, two = ((m.factors[j] * m.weights) @ m.factors[k].T for m in (truth, other))
            np.testing.assert_allclose(one, two, atol=1e-12)
        assert tensor_error(truth, other) > 1e-8


def random_model_of_positive_entries() -> JointPMF:
    rng = np.random.default_rng(0)
    factors = [rng.random((4, 3)) + 0.3 for _ in range(4)]
    return JointPMF(np.full(3, 1 / 3), [A / A.sum(axis=0) for A in factors])
