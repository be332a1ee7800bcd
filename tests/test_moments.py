"""The methods of the paper: SPA, CTF and JUROR, against exact tables, each other, and their definitions."""

from __future__ import annotations

import warnings
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import juror
from juror import Domain, JointPMF, PairCounts, Projections, TripleCounts
from juror.compare import factor_mse, tensor_error
from juror.counts.designs import Design
from juror.errors import DataError, DataWarning, FitWarning, JurorWarning, ParameterError
from juror.kernels import jit, reference
from juror.solvers import spa
from juror.solvers.descent import descend
from juror.solvers.juror_stages import _tables_towards
from juror.solvers.methods import METHODS
from juror.solvers.misfit import misfit_of, misfit_of_tables
from juror.solvers.pair_tables import PairTables
from juror.solvers.priors import Prior
from juror.testing import random_codes, random_model

JUROR = ["juror-a", "juror-b", "juror-c"]
# Few steps, so that the tests of all methods are quick
SHORT = {"bayes": {"sweeps": 40, "burnt": 10, "draws": 1, "chains": 1}} | {
    name: {"max_iter": 60} for name in METHODS if name not in ("bayes", "spa", "tree")
}


def uniform_model(sizes: tuple[int, ...], rank: int, seed: int) -> JointPMF:
    """Draw a model as the paper does: uniform entries, scaled to the simplex."""
    rng = np.random.default_rng(seed)
    factors = [rng.random((size, rank)) for size in sizes]
    lam = rng.random(rank)
    return JointPMF(lam / lam.sum(), [A / A.sum(axis=0) for A in factors])


def separable_model(sizes: tuple[int, ...], rank: int, seed: int) -> JointPMF:
    """Draw a model in which every class has a label of its own in every variable: what SPA needs."""
    rng = np.random.default_rng(seed)
    factors = []
    for size in sizes:
        A = rng.random((size, rank))
        A[:rank] = np.diag(rng.random(rank) + 0.5)
        factors.append(A / A.sum(axis=0))
    return JointPMF(rng.dirichlet(np.full(rank, 5.0)), factors)


def exact_pairs(model: JointPMF, n: float = 1000.0) -> PairCounts:
    groups = tuple(combinations(range(len(model.factors)), 2))
    A = model.factors
    return PairCounts(model.domain, groups, tuple(n * (A[j] * model.weights) @ A[k].T for j, k in groups))


def exact_triples(model: JointPMF, n: float = 1000.0) -> TripleCounts:
    groups = tuple(combinations(range(len(model.factors)), 3))
    A = model.factors
    tables = tuple(n * np.einsum("f,if,jf,kf->ijk", model.weights, A[a], A[b], A[c]) for a, b, c in groups)
    return TripleCounts(model.domain, groups, tables)


def quiet_fit(*arguments, **options) -> JointPMF:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JurorWarning)
        return juror.fit(*arguments, **options)


def numbers_of(model: JointPMF) -> list[np.ndarray]:
    """Return the weights and tables of all blocks."""
    return [array for block in model.blocks for array in (block.weights, *block.tables)]


def assert_same_model(one: JointPMF, other: JointPMF, **tolerance) -> None:
    for a, b in zip(numbers_of(one), numbers_of(other), strict=True):
        np.testing.assert_allclose(a, b, **(tolerance or {"rtol": 0, "atol": 0}))


def rank_for(method: str, rank: int) -> int:
    """Return the rank; a tree has one class."""
    return 1 if method == "tree" else rank


TRUTH = uniform_model((4, 3, 5, 3), 3, seed=0)
CODES = random_codes(TRUTH, 400, np.random.default_rng(1), missing=0.15)


class TestContract:
    """What every method promises; a new one is registered and inherits it."""

    @pytest.mark.parametrize("method", METHODS)
    def test_a_fit_is_a_model_with_its_record(self, method, tmp_path):
        model = quiet_fit(CODES, rank_for(method, 3), method, domain=TRUTH.domain, **SHORT.get(method, {}))
        assert model.info.method == method
        assert model.info.rank == model.rank == rank_for(method, 3)
        assert np.isfinite(model.info.log_likelihood)
        assert model.info.log_likelihood == pytest.approx(model.log_prob(CODES).sum())
        assert len(model.info.trace) >= 1
        assert model.info.stopped
        model.save(tmp_path / "m.juror")
        again = juror.load(tmp_path / "m.juror")
        assert_same_model(model, again)
        assert again.info == model.info
        assert method in model.summary()

    @pytest.mark.parametrize("method", METHODS)
    def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(self, method):
        models = []
        for n_jobs in (1, 2):
            with threadpool_limits(n_jobs):
                short = SHORT.get(method, {})
                models.append(quiet_fit(CODES, rank_for(method, 3), method, seed=5, n_jobs=n_jobs, **short))
        assert_same_model(*models)

    @pytest.mark.parametrize("method", METHODS)
    def test_whole_weights_are_repeated_rows(self, method):
        weights = np.random.default_rng(2).integers(1, 4, len(CODES))
        rank, short = rank_for(method, 2), SHORT.get(method, {})
        one = quiet_fit(CODES, rank, method, sample_weight=weights, **short)
        other = quiet_fit(np.repeat(CODES, weights, axis=0), rank, method, **short)
        assert_same_model(one, other, rtol=1e-6, atol=1e-9)

    @pytest.mark.parametrize(
        ("method", "off"),
        [
            ("em", 1e-9),
            ("pair-em", 1e-9),
            ("spa", 1e-9),
            ("spa-em", 1e-9),
            ("ctf", 0.02),
            ("juror-a", 0.02),
            ("juror-b", 0.02),
        ],
    )
    def test_one_class_is_the_product_of_marginals(self, method, off):
        # Least squares over pairs or triples weights cells differently than the likelihood does.
        codes = random_codes(TRUTH, 300, np.random.default_rng(3))
        model = quiet_fit(codes, 1, method, smoothing=0.0, domain=TRUTH.domain)
        for n, A in enumerate(model.factors):
            np.testing.assert_allclose(A[:, 0], np.bincount(codes[:, n], minlength=len(A)) / 300, atol=off)

    @pytest.mark.parametrize("method", METHODS)
    def test_variables_of_one_label_are_no_trouble(self, method):
        codes = np.column_stack([CODES, np.zeros(len(CODES), dtype=int)])
        model = quiet_fit(codes, rank_for(method, 2), method, **SHORT.get(method, {}))
        assert all(np.all(block.tables[-1] == 1.0) for block in model.blocks)

    @pytest.mark.parametrize("method", [name for name in METHODS if name != "bayes"])
    def test_smoothing_leaves_no_zero_and_none_leaves_what_was_found(self, method):
        smooth = quiet_fit(CODES, rank_for(method, 3), method)
        assert min(array.min() for array in numbers_of(smooth)) > 0
        found = quiet_fit(CODES, rank_for(method, 3), method, smoothing=0.0)
        assert found.info.smoothing == 0.0
        assert not all(map(np.array_equal, numbers_of(found), numbers_of(smooth)))

    @pytest.mark.parametrize("method", ["em", "pair-em", "spa-em", "ctf", "juror-a", "juror-b"])
    def test_the_error_shrinks_with_the_rows(self, method):
        codes = random_codes(TRUTH, 20_000, np.random.default_rng(4))
        errors = [tensor_error(TRUTH, quiet_fit(codes[:n], 3, method, domain=TRUTH.domain)) for n in (200, 20_000)]
        assert errors[1] < 0.3 * errors[0]

    @pytest.mark.parametrize("method", METHODS)
    def test_progress_is_told(self, method):
        told = []
        quiet_fit(CODES, rank_for(method, 2), method, progress=told.append, **SHORT.get(method, {}))
        assert {step.stage for step in told} == {"fitting"}
        assert all((step.log_likelihood is None) != (step.objective is None) for step in told)

    @pytest.mark.parametrize("method", METHODS)
    def test_an_option_of_another_method_is_refused(self, method):
        foreign = "rho" if method not in JUROR else "accelerate"
        with pytest.raises(ParameterError, match=f"method '{method}' has no option '{foreign}'. It has"):
            juror.fit(CODES, 2, method, **{foreign: 1})


class TestSPA:
    @pytest.mark.parametrize("seed", range(5))
    def test_separable_classes_come_back_from_exact_pairs(self, seed):
        truth = separable_model((5, 6, 4, 5), 4, seed)
        model = juror.fit(exact_pairs(truth), 4, "spa", smoothing=0)
        assert factor_mse(truth, model) < 1e-16

    def test_the_balanced_split_is_the_best_there_is(self):
        rng = np.random.default_rng(0)
        for _ in range(50):
            sizes = rng.integers(1, 9, rng.integers(2, 8)).tolist()
            sides = (s for s in product((0, 1), repeat=len(sizes)) if 0 < sum(s) < len(sizes))
            best = 0
            for side in sides:
                first = tuple(n for n, s in enumerate(side) if s)
                second = tuple(n for n, s in enumerate(side) if not s)
                best = max(best, spa.Split(first, second).most_rank(sizes))
            assert spa.balanced_split(sizes).most_rank(sizes) == best

    def test_a_rank_that_the_split_cannot_carry(self):
        with pytest.raises(ParameterError, match=r"rank must be in the range \[1, 6\] for methods that begin with SPA"):
            juror.fit(CODES, 9, "spa")

    def test_tables_of_fewer_classes_are_said(self):
        with pytest.warns(FitWarning, match="carry 2 classes, not the 4 asked for: the model has rank 2"):
            model = juror.fit(exact_pairs(separable_model((5, 4, 4, 5), 2, 0)), 4, "spa")
        assert model.rank == 2

    def test_the_weights_are_the_best_for_their_factors(self):
        tables = PairTables.of(PairCounts.of(CODES, TRUTH.domain))
        lam = tables.best_weights(TRUTH.factors, np.full(3, 1 / 3))

        def misfit(lam: np.ndarray) -> float:
            A = TRUTH.factors
            return sum(w * np.sum((Z - (A[j] * lam) @ A[k].T) ** 2) for (j, k), Z, w in tables.each())

        rng = np.random.default_rng(0)
        assert lam.sum() == pytest.approx(1.0)
        assert all(misfit(lam) <= misfit(0.999 * lam + 0.001 * rng.dirichlet(np.ones(3))) + 1e-15 for _ in range(100))


class TestCTF:
    @pytest.mark.parametrize("seed", range(3))
    def test_classes_come_back_from_exact_triples(self, seed):
        truth = random_model((5, 4, 6, 5), 3, np.random.default_rng(seed))
        model = quiet_fit(exact_triples(truth), 3, smoothing=0, n_init=5, tol=1e-9, max_iter=3000)
        assert tensor_error(truth, model) < 1e-5

    def test_the_objective_never_rises_and_is_the_one_of_the_model(self):
        counts = TripleCounts.of(CODES, TRUTH.domain)
        model = quiet_fit(counts, 3, "ctf", smoothing=0, n_init=2)
        trace = np.array(model.info.trace)
        assert np.all(np.diff(trace) <= 1e-12)
        A, lam = model.factors, model.weights
        totals = counts.totals
        expected = 0.0
        for (a, b, c), table, total in zip(counts.groups, counts.tables, totals, strict=True):
            off = table / total - np.einsum("f,if,jf,kf->ijk", lam, A[a], A[b], A[c])
            expected += total / totals.mean() * np.sum(off * off)
        assert trace[-1] == pytest.approx(expected, rel=1e-6)
        assert min(model.info.starts) == trace[-1]

    def test_some_triples_are_enough(self):
        truth = random_model((4, 4, 4, 4, 4), 2, np.random.default_rng(0))
        codes = random_codes(truth, 20_000, np.random.default_rng(1))
        model = quiet_fit(codes, 2, "ctf", triples=5, domain=truth.domain)
        assert tensor_error(truth, model) < 0.01

    def test_variables_in_no_seen_triple_are_named(self):
        codes = np.array([[0, 0, 0, -1], [1, 1, 1, -1], [0, -1, -1, 1], [1, -1, -1, 0]])
        with pytest.raises(DataError, match=r"The variables \['x3'\] are in no triple that any row shows whole"):
            juror.fit(codes, 1, "ctf", domain=Domain.from_cardinalities([2, 2, 2, 2]))

    def test_triples_never_seen_whole_are_said(self):
        codes = np.array([[0, 0, 0, -1], [1, 1, 1, -1], [0, 1, -1, 1], [1, 0, -1, 0]])
        with pytest.warns(FitWarning, match="2 of 4 triples of variables are seen whole in no row"):
            juror.fit(codes, 1, "ctf")


DESIGN = Design(60, seed=0)
EXACT = uniform_model((4, 3, 5, 4), 3, seed=1)


def both_routes(counts: PairCounts):
    projections = Projections.of_counts(counts, DESIGN)
    weights = counts.totals / counts.totals.mean()
    tables = PairTables.of(counts).tables
    return (
        misfit_of(projections, weights, "literal"),
        misfit_of(projections, weights, "gram"),
        misfit_of_tables(projections.operators, tables, weights),
    )


class TestMisfit:
    COUNTS = PairCounts.of(CODES, TRUTH.domain)

    def test_the_routes_agree_on_value_and_gradient(self):
        lam, factors = TRUTH.weights, uniform_model((4, 3, 5, 3), 3, seed=9).factors
        literal, *others = (misfit.at(lam, factors) for misfit in both_routes(self.COUNTS))
        assert literal[0] > 0.01
        for other in others:
            assert other[0] == pytest.approx(literal[0], rel=1e-8)
            for a, b in zip((literal[1], *literal[2]), (other[1], *other[2]), strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-8, atol=1e-8 * np.abs(a).max())

    def test_histograms_that_no_table_explains_leave_their_rest(self):
        projections = Projections.of_counts(self.COUNTS, DESIGN)
        rng = np.random.default_rng(0)
        names = TRUTH.domain.names
        noisy = {}
        for a, b in combinations(names, 2):
            h = projections.histogram(a, b) + 0.05 * rng.random(projections.histogram(a, b).shape)
            noisy[a, b] = h / h.sum(axis=1, keepdims=True)
        published = Projections.from_histograms(TRUTH.domain, noisy, 400, n_directions=60, seed=0)
        one, other = (misfit_of(published, np.ones(6), route) for route in ("literal", "gram"))
        lam, factors = TRUTH.weights, TRUTH.factors
        assert one.value(lam, factors) == pytest.approx(other.value(lam, factors), rel=1e-8)
        models = [quiet_fit(published, 3, "juror-b", route=route, max_iter=40) for route in ("literal", "gram")]
        assert_same_model(*models, rtol=1e-8, atol=1e-8)

    @pytest.mark.parametrize("route", [0, 1, 2])
    def test_the_gradient_by_finite_differences(self, route):
        misfit = both_routes(self.COUNTS)[route]
        rng = np.random.default_rng(0)
        lam, factors = TRUTH.weights.copy(), [A.copy() for A in TRUTH.factors]
        _, by_lam, by_factor = misfit.at(lam, factors)
        for gradient, block in zip((by_lam, *by_factor), (lam, *factors), strict=True):
            direction = rng.normal(size=block.shape)
            start = block.copy()
            values = []
            for step in (1e-5, -1e-5):
                block[...] = start + step * direction
                values.append(misfit.value(lam, factors))
            block[...] = start
            assert np.vdot(gradient, direction) == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-6)

    @pytest.mark.parametrize("kind", ["smooth", "flat"])
    def test_the_gradient_of_priors_by_finite_differences(self, kind):
        prior = Prior.over(TRUTH.domain, kind, 0.7)
        rng = np.random.default_rng(0)
        factors = [A.copy() for A in TRUTH.factors]
        directions = [rng.normal(size=A.shape) for A in factors]
        _, gradients = prior.at(factors)
        moved = [prior.at([A + h * d for A, d in zip(factors, directions, strict=True)])[0] for h in (1e-6, -1e-6)]
        slope = sum(np.vdot(g, d) for g, d in zip(gradients, directions, strict=True))
        assert slope == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-5)

    def test_the_tables_of_g2_minimise_its_objective(self):
        misfit = both_routes(self.COUNTS)[0]
        against = [group.target.against() for group in misfit.groups]
        for group, Z in zip(
            misfit.groups, _tables_towards(misfit, against, TRUTH.weights, TRUTH.factors, 7.0)[0], strict=True
        ):
            by_misfit = group.target.compare(Z)[1]
            by_penalty = 2 * 7.0 * (Z - group.tables(TRUTH.weights, TRUTH.factors))
            np.testing.assert_allclose(by_misfit + by_penalty, 0.0, atol=1e-10)


class TestJuror:
    @pytest.mark.parametrize("method", JUROR)
    def test_the_routes_end_at_the_same_factors(self, method):
        models = [
            quiet_fit(CODES, 3, method, route=route, domain=TRUTH.domain, max_iter=60) for route in ("literal", "gram")
        ]
        assert_same_model(*models, rtol=1e-8, atol=1e-8)
        for one, other in zip(*(m.info.stages.values() for m in models), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8)

    @pytest.mark.parametrize("method", JUROR)
    @pytest.mark.parametrize("inversion", ["lstsq", "fbp"])
    def test_projections_alone_reach_what_rows_reach(self, method, inversion):
        operator = "strips" if inversion == "fbp" else "auto"
        alone = Projections.of(CODES, 80, seed=2, domain=TRUTH.domain, operator=operator)
        settings = {"method": method, "inversion": inversion, "max_iter": 60}
        one = quiet_fit(alone, 3, **settings)
        other = quiet_fit(CODES, 3, n_directions=80, seed=2, domain=TRUTH.domain, **settings)
        assert one.info.log_likelihood is None
        assert one.info.trace[-1] == pytest.approx(other.info.trace[-1], rel=1e-8)
        assert_same_model(one, other, rtol=1e-7, atol=1e-8)

    @pytest.mark.parametrize("method", ["juror-a", "juror-b"])
    @pytest.mark.parametrize("inversion", ["lstsq", "fbp"])
    def test_g3_never_rises_and_stays_on_the_simplex(self, method, inversion):
        model = quiet_fit(CODES, 3, method, inversion=inversion, smoothing=0, domain=TRUTH.domain)
        trace = np.array(model.info.stages["G3"])
        assert len(trace) > 5
        assert np.all(np.diff(trace) <= 0)
        for block in (model.weights, *model.factors):
            assert block.min() >= 0
            np.testing.assert_allclose(block.sum(axis=0), 1.0, atol=1e-12)

    def test_every_step_of_a_descent_is_on_the_simplex(self):
        misfit = both_routes(PairCounts.of(CODES, TRUTH.domain))[1]
        seen = []

        def watched(lam, factors):
            seen.append((lam, factors))
            return misfit.at(lam, factors)

        descend(watched, np.full(3, 1 / 3), uniform_model((4, 3, 5, 3), 3, 5).factors, max_iter=20, tol=0)
        for lam, factors in seen:
            # Points ahead may leave the orthant, but never the plane on which columns sum to one.
            for block in (lam, *factors):
                np.testing.assert_allclose(block.sum(axis=0), 1.0, atol=1e-9)
                assert block.min() > -1.0

    @pytest.mark.parametrize("method", JUROR)
    @pytest.mark.parametrize("settings", [{}, {"inversion": "fbp"}, {"bins": 4}, {"n_directions": 3}], ids=str)
    @pytest.mark.parametrize("case", ["many classes, few rows", "labels never seen"])
    def test_the_routes_agree_where_ties_and_empty_labels_tempt_rounding(self, case, method, settings):
        if case == "labels never seen":
            codes, rank, domain = CODES, 3, Domain.from_cardinalities([6, 4, 7, 4])
        else:
            truth = uniform_model((6, 6, 6, 6), 9, seed=3)
            codes, rank, domain = random_codes(truth, 60, np.random.default_rng(0)), 9, truth.domain
        settings = {"rank": rank, "method": method, "max_iter": 40} | settings
        literal, gram = (quiet_fit(codes, route=route, domain=domain, **settings) for route in ("literal", "gram"))
        assert_same_model(literal, gram, rtol=1e-8, atol=1e-8)
        for one, other in zip(literal.info.stages.values(), gram.info.stages.values(), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8)

    @pytest.mark.parametrize("method", JUROR)
    def test_steps_are_counted_as_traced(self, method):
        info = quiet_fit(CODES, 3, method, max_iter=7).info
        assert info.n_iter == sum(len(trace) - 1 for trace in info.stages.values())
        told = []
        quiet_fit(CODES, 3, method, max_iter=7, progress=told.append)
        assert [step.iteration for step in told] == list(range(1, info.n_iter + 1))
        assert told[-1].iteration <= told[-1].max_iter

    def test_a_stage_that_ran_out_of_steps_or_did_not_help_is_said(self):
        codes = random_codes(uniform_model((6, 6, 6, 6), 9, seed=3), 500, np.random.default_rng(0))
        with pytest.warns(FitWarning) as told:
            juror.fit(codes, 9, "juror-a", max_iter=2)
        sentences = [str(w.message) for w in told]
        assert sum("reached max_iter = 2 before it converged" in s for s in sentences) == 2
        with pytest.warns(FitWarning, match=r"Stage G2 began at J1 = .* shrinking pair tables did not help"):
            juror.fit(codes, 9, "juror-c")

    def test_g3_never_rises_with_a_prior_however_stiff(self):
        for kind, strength in (("smooth", 1.0), ("flat", 1.0), ("smooth", 1e6), ("flat", 1e5)):
            model = quiet_fit(CODES, 3, "juror-b", prior=kind, prior_strength=strength, domain=TRUTH.domain)
            assert np.all(np.diff(model.info.stages["G3"]) <= 0)
        assert np.ptp(model.factors[0], axis=0).max() < 0.05

    def test_of_g2_the_lowest_round_is_returned_and_told(self):
        codes = random_codes(uniform_model((6, 6, 6, 6), 9, seed=3), 500, np.random.default_rng(0))
        info = quiet_fit(codes, 9, "juror-c").info
        assert info.starts == (min(info.stages["G2"][1:]),)
        assert f"lowest {info.starts[0]:.4g}" in quiet_fit(codes, 9, "juror-c").summary()

    def test_rank_and_condition_are_reported(self):
        model = quiet_fit(CODES, 3, "juror-b", domain=TRUTH.domain)
        assert model.info.projected.startswith("200 directions a pair, 3 to 5 bins, full rank, condition at most ")
        assert f"projected: {model.info.projected}" in model.summary()
        few = quiet_fit(CODES, 3, "juror-b", domain=TRUTH.domain, n_directions=3)
        assert "5 of 5 operators short of full rank" in few.info.projected

    def test_stages_by_name(self):
        stages = {m: list(quiet_fit(CODES, 3, m).info.stages) for m in JUROR}
        assert stages == {"juror-a": ["G1", "G2", "G3"], "juror-b": ["G1", "G3"], "juror-c": ["G1", "G2"]}

    @pytest.mark.parametrize("method", JUROR)
    def test_separable_classes_come_back_from_exact_projections(self, method):
        truth = separable_model((5, 6, 4, 5), 4, 0)
        projections = Projections.of_counts(exact_pairs(truth), DESIGN)
        model = quiet_fit(projections, 4, method, smoothing=0)
        assert factor_mse(truth, model) < 1e-8

    def test_g3_finds_pair_tables_that_spa_cannot(self):
        counts = exact_pairs(EXACT)
        before, after = (quiet_fit(counts, 3, m, smoothing=0) for m in ("juror-c", "juror-b"))
        truth, off = PairTables.of(counts), {}
        for name, model in (("before", before), ("after", after)):
            A, lam = model.factors, model.weights
            off[name] = sum(np.sum((Z - (A[j] * lam) @ A[k].T) ** 2) for (j, k), Z, _ in truth.each())
        assert off["after"] < 1e-3 * off["before"]

    def test_priors_smooth_and_flatten(self):
        codes = random_codes(TRUTH, 60, np.random.default_rng(8))
        rough = {
            prior: sum(
                np.abs(np.diff(A, axis=0)).sum() for A in quiet_fit(codes, 3, "juror-b", prior=prior, **strong).factors
            )
            for prior, strong in ((None, {}), ("smooth", {"prior_strength": 30.0}), ("flat", {"prior_strength": 30.0}))
        }
        assert rough["smooth"] < 0.5 * rough[None]
        assert rough["flat"] < 0.5 * rough[None]

    @pytest.mark.parametrize("settings", [{}, {"inversion": "fbp"}, {"operator": "cells"}], ids=str)
    def test_numbers_in_intervals_of_equal_counts_are_no_worse_than_by_spa(self, settings):
        rng = np.random.default_rng(0)
        x = rng.normal(size=1500)
        data = {"u": x, "v": x + rng.normal(size=1500), "w": x + rng.normal(size=1500)}
        by_spa = quiet_fit(data, 3, "spa").info.log_likelihood
        assert quiet_fit(data, 3, "juror-b", **settings).info.log_likelihood > by_spa

    def test_histograms_of_other_directions_are_said(self):
        made = Projections.of(CODES, 60, seed=0, domain=TRUTH.domain)
        shares = {pair: made.histogram(*pair) for pair in combinations(TRUTH.domain.names, 2)}
        theirs = Projections.from_histograms(TRUTH.domain, shares, 400, n_directions=60, seed=1)
        with pytest.warns(FitWarning, match=r"No tables explain the histograms: 0\.\d+ of their square is left over"):
            juror.fit(theirs, 2)
        rounded = {pair: np.round(share, 4) / np.round(share, 4).sum(axis=1)[:, None] for pair, share in shares.items()}
        juror.fit(Projections.from_histograms(TRUTH.domain, rounded, 400, n_directions=60, seed=0), 2)

    def test_too_few_directions_are_said_with_the_rank(self):
        with pytest.warns(FitWarning, match="3 directions do not see all of a table: those of 4 × 3 labels with"):
            juror.fit(CODES, 2, "juror-b", n_directions=3, domain=TRUTH.domain)

    def test_nominal_variables_are_said_once(self):
        people = juror.datasets.titanic()
        with pytest.warns(DataWarning, match=r"The labels of \['Class'\] have no order") as told:
            juror.fit(people, 2, "juror-b")
        assert len([w for w in told if issubclass(w.category, DataWarning)]) == 1


SPARSE = random_codes(uniform_model((9, 9, 9, 9), 3, 0), 30, np.random.default_rng(0))
HALVES = np.array([[0, 0, -1], [1, 1, -1], [0, -1, 1], [1, -1, 0]])
NUMBERS = Domain.from_cardinalities([2, 2, 2])
SENTENCES = {
    "rank zero": (lambda: juror.fit(CODES, 0, "juror-a"), ParameterError, r"rank must be 'auto', 'cv' or an int"),
    "a rank SPA cannot carry": (lambda: juror.fit(CODES, 50, "juror-a"), ParameterError, r"range \[1, 6\]"),
    "rho zero": (
        lambda: juror.fit(CODES, 2, "juror-a", rho=0),
        ParameterError,
        r"rho must be a number in the range \(0, inf\). Got 0 instead.",
    ),
    "rho below zero": (lambda: juror.fit(CODES, 2, "juror-c", rho=-1.5), ParameterError, r"Got -1.5 instead"),
    "rho in words": (
        lambda: juror.fit(CODES, 2, "juror-c", rho="much"),
        ParameterError,
        r"rho must be 'cv' or a number",
    ),
    "rho by folds without rows": (
        lambda: juror.fit(PairCounts.of(CODES), 2, "juror-a", rho="cv"),
        ParameterError,
        "rho='cv' needs rows to hold out",
    ),
    "no directions": (
        lambda: juror.fit(CODES, 2, "juror-b", n_directions=0),
        ParameterError,
        "n_directions must be an int",
    ),
    "an unknown inversion": (
        lambda: juror.fit(CODES, 2, "juror-b", inversion="magic"),
        ParameterError,
        r"inversion must be one of \['lstsq', 'fbp'\]. Got 'magic' instead.",
    ),
    "an unknown filter": (
        lambda: juror.fit(CODES, 2, "juror-b", filter="magic"),
        ParameterError,
        "filter must be one of",
    ),
    "an unknown prior": (
        lambda: juror.fit(CODES, 2, "juror-b", prior="magic"),
        ParameterError,
        "prior must be None or",
    ),
    "rho without G2": (
        lambda: juror.fit(CODES, 2, "juror-b", rho=3.0),
        ParameterError,
        "rho acts in stage G2, which 'juror-b' leaves out",
    ),
    "a filter without back projection": (
        lambda: juror.fit(CODES, 2, "juror-b", filter="hann"),
        ParameterError,
        "filter is a part of back projection",
    ),
    "directions of projections that are made": (
        lambda: juror.fit(Projections.of(CODES), 2, n_directions=7),
        ParameterError,
        "n_directions belongs to the projections, which are made already",
    ),
    "scores of projections that are made": (
        lambda: juror.fit(Projections.of(CODES), 2, scores={"x0": [1.0]}),
        ParameterError,
        "scores belongs to the projections",
    ),
    "triples that are counted": (
        lambda: juror.fit(TripleCounts.of(CODES), 2, triples=3),
        ParameterError,
        "triples were chosen when they were counted",
    ),
    "unknown for counts": (
        lambda: juror.fit(PairCounts.of(CODES), 2, unknown="missing"),
        ParameterError,
        "unknown belongs to the rows",
    ),
    "a pair that one fold lacks": (
        lambda: juror.fit(np.array([[0, 0, -1], [1, 1, 1]] + [[0, 1, -1], [1, 0, -1]] * 9), "cv", "spa"),
        DataError,
        r"With some rows held out to choose by: .* never observed together",
    ),
    "rho where no row is possible": (
        lambda: quiet_fit(SPARSE, 3, "juror-c", rho="cv", smoothing=0, max_iter=5),
        ParameterError,
        "probability zero at every rho tried",
    ),
    "a prior without G3": (
        lambda: juror.fit(CODES, 2, "juror-c", prior="smooth"),
        ParameterError,
        "prior acts in stage G3, which 'juror-c' leaves out",
    ),
    "strength without prior": (
        lambda: juror.fit(CODES, 2, "juror-b", prior_strength=1),
        ParameterError,
        "goes with a prior",
    ),
    "a prior without order": (
        lambda: quiet_fit({"a": list("xyz"), "b": list("uvw")}, 2, "juror-b", prior="flat"),
        DataError,
        "is about labels in order, and no variable has any",
    ),
    "a misspelt option": (
        lambda: juror.fit(CODES, 2, "juror-b", inversoin="fbp"),
        ParameterError,
        "Did you mean 'inversion'",
    ),
    "a pair never seen together": (
        lambda: juror.fit(HALVES, 2, "juror-b", domain=NUMBERS),
        DataError,
        "The variables 'x1' and 'x2' are never observed together, so their pair table is unknown.",
    ),
    "a pair never seen together, SPA": (
        lambda: juror.fit(HALVES, 2, "spa", domain=NUMBERS),
        DataError,
        "never observed together",
    ),
    "one variable": (lambda: juror.fit(CODES[:, :1], 2, "spa"), DataError, "needs at least 2 variables"),
    "two variables for triples": (lambda: juror.fit(CODES[:, :2], 2, "ctf"), DataError, "at least 3 variables"),
    "rank by held-out rows without rows": (
        lambda: juror.fit(PairCounts.of(CODES), method="juror-b"),
        ParameterError,
        "rank='auto' needs rows to hold out, and counts of pairs have none. Pass a number.",
    ),
    "weights for counts": (
        lambda: juror.fit(PairCounts.of(CODES), 2, sample_weight=np.ones(3)),
        ParameterError,
        "sample_weight belongs to the rows, which were counted already",
    ),
    "EM of counts": (
        lambda: juror.fit(PairCounts.of(CODES), 2, "em"),
        ParameterError,
        r"method 'em' cannot be fitted from counts of pairs. Use one of \['tree', 'pair-em', 'spa', 'juror-a', 'jur",
    ),
    "a split of all": (
        lambda: juror.fit(CODES, 2, "spa", split=["x0", "x1", "x2", "x3"]),
        ParameterError,
        "split must leave at least one variable on either side",
    ),
    "a split that is a number": (
        lambda: juror.fit(CODES, 2, "spa", split=5),
        ParameterError,
        "in a list. Got 5 instead",
    ),
    "scores that are a number": (
        lambda: juror.fit(CODES, 2, "juror-b", scores=5),
        ParameterError,
        "scores must be a mapping of names to numbers. Got 5 instead",
    ),
    "a method that is a list": (lambda: juror.fit(CODES, 2, ["em"]), ParameterError, "method must be one of"),
    "progress that is a number": (
        lambda: juror.fit(CODES, 2, progress=3),
        ParameterError,
        "progress must be True, False or a function",
    ),
    "a domain that is a dict": (lambda: juror.fit(CODES, 2, domain={"x": 1}), ParameterError, "domain must be a juror"),
    "a prior beyond all bounds": (
        lambda: juror.fit(CODES, 2, "juror-b", prior="smooth", prior_strength=1e300),
        ParameterError,
        r"prior_strength must be in the range \(0, 1e\+09\]",
    ),
    "a split in words": (
        lambda: juror.fit(CODES, 2, "spa", split="x0"),
        ParameterError,
        "in a list. Got 'x0' instead",
    ),
}


@pytest.mark.parametrize(("cause", "kind", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_bad_input_gets_a_sentence(cause, kind, sentence):
    with pytest.raises(kind, match=sentence):
        cause()


class TestChoosing:
    def test_rank_by_cross_validation_on_likelihood_and_on_labels(self):
        truth = separable_model((3, 3, 3, 3, 3), 3, 2)
        codes = random_codes(truth, 1500, np.random.default_rng(0))
        model = quiet_fit(codes, "cv", "em", n_init=1)
        assert model.rank == 3
        labelled = quiet_fit(codes, "cv", "spa-em", target="x0")
        assert 2 <= labelled.rank <= 4
        assert all(0 <= step.score <= 1 for step in labelled.info.rank_path)

    def test_rank_by_held_out_rows_stays_within_what_spa_carries(self):
        model = quiet_fit(CODES, "auto", "juror-b", max_iter=50)
        assert max(step.rank for step in model.info.rank_path) <= 6

    def test_rho_by_cross_validation_keeps_what_was_tried(self):
        model = quiet_fit(CODES, 2, "juror-c", rho="cv", n_directions=40, max_iter=10)
        tried = dict(model.info.rho_path)
        assert list(tried) == [0.4, 4.0, 40.0, 400.0, 4000.0]
        fixed = quiet_fit(CODES, 2, "juror-c", rho=max(tried, key=tried.get), n_directions=40, max_iter=10)
        assert_same_model(model, fixed)
        assert model.info.rho == max(tried, key=tried.get)
        assert f"rho {model.info.rho:g} chosen by log-probability of held-out rows, nats a row: 0.4:" in model.summary()


class TestSimplexKernels:
    @given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 100.0]))
    def test_projection_is_the_nearest_point(self, n_rows, n_columns, seed, scale):
        rng = np.random.default_rng(seed)
        points = scale * rng.normal(size=(n_rows, n_columns))
        nearest = reference.project_columns(points)
        np.testing.assert_allclose(jit.project_columns(points), nearest, atol=1e-12 * scale)
        np.testing.assert_allclose(nearest.sum(axis=0), 1.0, atol=1e-12 * scale)
        assert nearest.min() >= 0
        np.testing.assert_allclose(reference.project_columns(points + 1e12), nearest, atol=1e-3)
        for other in rng.dirichlet(np.ones(n_rows), size=(20, n_columns)):
            # From the nearest point of a convex set, all its other points lie at an obtuse angle.
            assert np.all(
                np.einsum("if,fi->f", points - nearest, other)
                <= np.einsum("if,if->f", points - nearest, nearest) + 1e-9 * scale * scale + 1e-9
            )

    @pytest.mark.parametrize("module", [jit, reference], ids=["numba", "numpy"])
    @pytest.mark.parametrize("rank", [1, 2, 7])
    def test_least_squares_is_optimal(self, module, rank):
        rng = np.random.default_rng(rank)
        half = rng.normal(size=(12, rank))
        gram = half.T @ half
        start = np.full((4, rank), 0.25)
        right = rng.normal(size=(4, rank)) * 3
        A = module.least_squares_factor(gram, right, start, 20_000, 1e-14)
        slope = A @ gram - right
        # No exchange of mass within a column can help: the slope is lowest where there is mass.
        assert np.all(np.sum(A * (slope - slope.min(axis=0)), axis=0) < 1e-6)
        lam = module.least_squares_weights(gram, right[0], np.full(rank, 1 / rank), 20_000, 1e-14)
        slope = gram @ lam - right[0]
        assert lam @ (slope - slope.min()) < 1e-6
        assert np.array_equal(start, np.full((4, rank), 0.25))

    def test_the_twins_take_the_same_steps(self):
        rng = np.random.default_rng(0)
        half = rng.normal(size=(9, 5))
        gram, right, start = half.T @ half, rng.normal(size=(6, 5)), np.full((6, 5), 1 / 6)
        for steps in (0, 1, 2, 17):
            one, other = (m.least_squares_factor(gram, right, start, steps, 0.0) for m in (jit, reference))
            np.testing.assert_allclose(one, other, atol=1e-12)
            one, other = (
                m.least_squares_weights(gram, right[0], np.full(5, 0.2), steps, 0.0) for m in (jit, reference)
            )
            np.testing.assert_allclose(one, other, atol=1e-12)
        nothing = np.zeros((5, 5))
        assert np.array_equal(jit.least_squares_factor(nothing, right, start, 9, 0.0), start)
        assert np.array_equal(reference.least_squares_factor(nothing, right, start, 9, 0.0), start)
