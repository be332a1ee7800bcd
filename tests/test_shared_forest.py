"""Members whose classes share a forest: the steps, the forests, and the choice between forests and products."""

from dataclasses import replace

import numpy as np
import pytest

import juror
from juror.answers.scores import log_prob
from juror.domain import Domain
from juror.errors import ParameterError
from juror.fitting.choose import FitSetting
from juror.fitting.held_out import Trial, as_mixture
from juror.fitting.members import fit_members
from juror.rows.distinct import WeightedRows
from juror.rows.forest import Forest
from juror.rows.in_memory import MemoryTable
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers import shared_forest
from juror.solvers.em import EMOptions
from juror.solvers.methods import METHODS
from juror.solvers.shared_forest import SharedForest, information_given, most_probable_classes
from juror.solvers.solver import Context
from juror.testing import dense

SIZES = (3, 2, 4, 3)
DOMAIN = Domain.from_cardinalities(SIZES)


def chain_of(n_rows, sizes, seed, keeps=0.8):
    """Draw rows in which every variable mostly repeats the one before it, modulo its number of labels."""
    rng = np.random.default_rng(seed)
    codes = np.empty((n_rows, len(sizes)), dtype=np.int64)
    codes[:, 0] = rng.integers(sizes[0], size=n_rows)
    for n, size in enumerate(sizes[1:], 1):
        codes[:, n] = np.where(rng.random(n_rows) < keeps, codes[:, n - 1] % size, rng.integers(size, size=n_rows))
    return codes


CODES = chain_of(600, SIZES, 1)


def table_of(codes=CODES, weights=None, domain=DOMAIN):
    return MemoryTable(WeightedRows.of(codes, weights), domain, LocalRunner(1))


def trial_of(codes=CODES):
    context = Context(0, LocalRunner(1))
    return Trial(MemoryTable(WeightedRows.of(codes), DOMAIN, context.runner), METHODS["em"], None, context)


def with_holes(codes, share, seed=0):
    holes = np.random.default_rng(seed).random(codes.shape) < share
    return np.where(holes, -1, codes)


class TestTheStep:
    FOREST = Forest((-1, 0, 1, 1))

    def along(self, codes=CODES, smoothing=0.5):
        stacking = Stacking(SIZES, self.FOREST)
        return SharedForest.along(table_of(codes).along(self.FOREST), stacking, smoothing)

    @pytest.mark.parametrize("smoothing", [0.0, 0.01, 2.0])
    def test_it_is_the_formula(self, smoothing):
        along = self.along(smoothing=smoothing)
        point = along.at(along.scattered_start(3, np.random.default_rng(0)))
        found = along.stacking.tables(along.update(point).stack)
        s, s0 = smoothing * np.mean(SIZES), 10.0
        counts = along.stacking.tables(point.counts.cells)
        own = along.stacking.tables(along.marginals)
        for n, parent in enumerate(self.FOREST.parents):
            once = np.bincount(CODES[:, n], minlength=SIZES[n]) + 1 / SIZES[n]
            once = once / once.sum()
            for f in range(3):
                C = counts[n][:, :, f]
                of_class = (C.sum(axis=0) + s0 * once) / (C.sum() + s0)
                B = own[n][:, :, 0] * of_class / once if parent >= 0 else own[n][:, :, 0]
                B = B / B.sum(axis=1, keepdims=True)
                expected = (C + s * B) / (C.sum(axis=1, keepdims=True) + s)
                np.testing.assert_allclose(found[n][:, :, f], expected, rtol=1e-10)

    def test_a_column_without_rows_is_that_of_the_forest(self):
        codes = CODES[CODES[:, 0] != 2]
        along = self.along(codes, smoothing=0.0)
        point = along.at(along.scattered_start(2, np.random.default_rng(0)))
        table = along.stacking.tables(along.update(point).stack)[1]
        own = along.stacking.tables(along.marginals)[1]
        np.testing.assert_allclose(table[2], np.broadcast_to(own[2], table[2].shape))

    def test_the_start_is_near_the_forest_and_no_two_classes_are_alike(self):
        along = self.along()
        start = along.scattered_start(4, np.random.default_rng(0))
        off = np.abs(start.stack - along.marginals)
        # Some columns have few rows, and may be far off: of 200 seeds the mean is 0.05 to 0.14, the largest 0.2 to 0.8.
        assert 1e-3 < off.mean() < 0.2
        assert np.abs(start.stack[:, 0] - start.stack[:, 1]).max() > 1e-3

    def test_many_rows_of_one_class_are_the_counts(self):
        along = self.along(smoothing=1e-9)
        start = along.scattered_start(1, np.random.default_rng(0))
        found = along.stacking.tables(along.update(along.at(start)).stack)[2][:, :, 0]
        pairs = np.zeros((2, 4))
        np.add.at(pairs, (CODES[:, 1], CODES[:, 2]), 1.0)
        np.testing.assert_allclose(found, pairs / pairs.sum(axis=1, keepdims=True), rtol=1e-6)


class TestInformationWithinClasses:
    def by_hand(self, codes, weights, classes, j, k):
        """Return Σ_f n_f I_f(j; k) / n less chance, from tables of each class."""
        seen = (codes[:, j] >= 0) & (codes[:, k] >= 0)
        total, sum_of = weights[seen].sum(), 0.0
        for f in np.unique(classes):
            P = np.zeros((SIZES[j], SIZES[k]))
            mine = seen & (classes == f)
            np.add.at(P, (codes[mine, j], codes[mine, k]), weights[mine])
            a, b, n = P.sum(axis=1), P.sum(axis=0), P.sum()
            if n > 0:
                sum_of += sum(P[x, y] * np.log(P[x, y] * n / (a[x] * b[y])) for x, y in np.argwhere(P > 0))
                sum_of -= ((a > 0).sum() - 1) * ((b > 0).sum() - 1) / 2
        return sum_of / total

    @pytest.mark.parametrize("rows_each", [8, 0], ids=["by pairs", "in one pass"])
    @pytest.mark.parametrize("n_classes", [1, 3, 200])
    def test_it_is_the_sum_over_classes(self, n_classes, rows_each, monkeypatch):
        monkeypatch.setattr(shared_forest, "_ROWS_EACH", rows_each)
        rng = np.random.default_rng(2)
        codes = with_holes(CODES, 0.2)
        table = table_of(codes, rng.integers(1, 4, size=len(codes)).astype(float))
        rows = table.rows
        classes = rng.integers(n_classes, size=len(rows.codes))
        found = information_given(table, classes)
        for j in range(4):
            for k in range(j):
                expected = self.by_hand(rows.codes, rows.weights, classes, j, k)
                assert found[j, k] == found[k, j] == pytest.approx(expected, abs=1e-12)
        assert self.by_hand(rows.codes, rows.weights, classes * 0, 0, 1) != pytest.approx(found[0, 2], abs=1e-3)

    @pytest.mark.parametrize("rows_each", [8, 0], ids=["by pairs", "in one pass"])
    def test_variables_that_no_row_shows_together(self, rows_each, monkeypatch):
        monkeypatch.setattr(shared_forest, "_ROWS_EACH", rows_each)
        codes = CODES.copy()
        codes[::2, 0], codes[1::2, 1] = -1, -1
        assert information_given(table_of(codes), np.zeros(len(table_of(codes).rows.codes), dtype=np.int64))[0, 1] == 0

    def test_the_most_probable_class(self):
        [member] = fit_members(trial_of(), EMOptions(), FitSetting(3, 1.0, forest=True), [0])
        table = table_of(with_holes(CODES, 0.3))
        found = most_probable_classes(table, member.parameters)
        [block] = as_mixture((member.parameters,), DOMAIN).blocks
        each = [
            log_prob(
                as_mixture((member.parameters,), DOMAIN).__class__((block.classes(slice(f, f + 1)),), DOMAIN),
                table.rows.codes,
            )
            for f in range(3)
        ]
        np.testing.assert_array_equal(found, np.argmax(each, axis=0))


def fit(codes=CODES, rank=3, **options):
    return juror.fit(codes, rank, "em", domain=DOMAIN, **({"n_jobs": 1} | options))


class TestMembers:
    @pytest.mark.parametrize("holes", [0.0, 0.3])
    def test_each_is_a_block_and_the_model_is_their_mean(self, holes):
        codes = with_holes(CODES, holes)
        model = fit(codes, ensemble=3, smoothing=1.0, forest=True)
        members = fit_members(trial_of(codes), EMOptions(), FitSetting(3, 1.0, forest=True), range(3))
        assert [block.forest for block in model.blocks] == [member.parameters.forest for member in members]
        whole = np.mean(
            [dense(juror.JointPMF.of_blocks(as_mixture((m.parameters,), DOMAIN).blocks, DOMAIN)) for m in members],
            axis=0,
        )
        np.testing.assert_allclose(dense(model), whole, rtol=1e-12)
        assert model.info.log_likelihood == pytest.approx(model.log_prob(codes).sum())
        assert model.info.forests == "one for each fit"

    def test_same_seed_same_bits_for_any_number_of_threads(self):
        one, two = (fit(with_holes(CODES, 0.1), "auto", ensemble=2, n_jobs=n) for n in (1, 2))
        assert one.info == two.info
        for a, b in zip(one.blocks, two.blocks, strict=True):
            assert a.forest == b.forest
            for A, B in zip(a.tables, b.tables, strict=True):
                np.testing.assert_array_equal(A, B)

    def test_the_first_has_the_chain(self):
        model = fit(ensemble=2, forest=True, smoothing=1.0)
        assert {tuple(sorted(edge)) for edge in model.blocks[0].forest.edges} == {(0, 1), (1, 2), (2, 3)}

    def test_they_differ(self):
        forests = {block.forest for block in fit(ensemble=10, forest=True, smoothing=1.0).blocks}
        assert len(forests) > 1

    def test_seeded_and_relearned_members_differ_from_others(self):
        setting = FitSetting(3, 1.0, forest=True)
        plain, *others = (
            fit_members(trial_of(), EMOptions(), each, [1])[0].score
            for each in (setting, replace(setting, seeded=True), replace(setting, relearned=True))
        )
        assert all(other != plain for other in others)

    def test_a_single_fit_may_have_a_forest(self):
        model = fit(forest=True)
        assert len(model.blocks) == 1
        assert model.has_edges
        assert model.info.n_members == 1

    def test_a_target_is_predicted_along_forests(self):
        model = juror.fit(CODES, "auto", domain=DOMAIN, target="x3", n_jobs=1)
        reference = np.bincount(CODES[:, 3]).max() / len(CODES)
        assert (model.predict(CODES) == CODES[:, 3]).mean() > reference + 0.2


class TestTheChoice:
    def test_a_chain_has_a_forest_and_gains_by_it(self):
        sizes = (6,) * 6
        codes, fresh = (chain_of(3000, sizes, seed) for seed in (1, 2))
        options = {"domain": Domain.from_cardinalities(sizes), "ensemble": 2, "n_jobs": 1}
        model, products = (juror.fit(codes, "auto", "em", forest=forest, **options) for forest in ("auto", False))
        assert model.has_edges
        assert model.log_prob(fresh).mean() > products.log_prob(fresh).mean() + 0.02

    def test_classes_of_independent_variables_have_none(self):
        rng = np.random.default_rng(3)
        sizes = (8,) * 4
        tables = rng.dirichlet(np.full(8, 0.5), size=(4, 3))
        classes = rng.integers(3, size=2000)
        codes = np.stack([[rng.choice(8, p=tables[n, f]) for f in classes] for n in range(4)], axis=1)
        model = juror.fit(codes, "auto", "em", domain=Domain.from_cardinalities(sizes), ensemble=2, n_jobs=1)
        assert not model.has_edges

    def test_options_that_do_not_go_together(self):
        with pytest.raises(ParameterError, match="forest must be 'auto', True or False"):
            fit(forest="yes")
        with pytest.raises(ParameterError, match=r"tol is for single fits without a forest; .*Leave tol or forest out"):
            fit(forest=True, tol=1e-3)
        with pytest.raises(ParameterError, match="so it does not go with forest"):
            fit(forest=True, init=juror.fit(CODES, 2, "em", domain=DOMAIN, n_jobs=1))
