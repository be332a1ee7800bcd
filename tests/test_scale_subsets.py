"""The simulation behind the plan for wide tables: its measure is right, its subsets cover, and its results can fail."""

from __future__ import annotations

import json
import math
from itertools import combinations

import numpy as np
import pytest
from scale import subsets
from scale.subsets import ALL, Setting, Task

import juror
from juror.answers.marginals import marginal
from juror.counts.designs import Design
from juror.solvers.misfit import misfit_of_tables
from juror.testing import dense, random_model

SMALL = Setting(6, 3, 2, (5_000,), (1, 2), True, (0, 1))


@pytest.fixture(scope="module")
def task():
    return Task(SMALL, 5_000, 0, fresh_rows=20_000)


@pytest.fixture(scope="module")
def exact():
    """A model of twelve variables, and its pair tables without noise."""
    truth = random_model([4] * 12, 3, np.random.default_rng(0))
    return truth, {pair: marginal(truth, pair) for pair in combinations(range(12), 2)}


@pytest.fixture(scope="module")
def rows():
    """What the simulation finds for triples of a small setting; every row is told in one line."""
    told = []
    found = subsets.simulate([SMALL], subsets.judge_triples, told.append)
    assert sum(text.count("\n") + 1 for text in told) == len(found)
    return found


def divergence(p: juror.JointPMF, q: juror.JointPMF) -> float:
    """Return E_p log p − log q from the whole tensors."""
    P, Q = dense(p), dense(q)
    return float(np.sum(P * np.log(P / Q)))


class TestLoss:
    def test_the_truth_loses_nothing(self, task):
        assert task.loss(task.truth) == 0.0

    def test_it_is_the_divergence(self, task):
        product = juror.JointPMF([1.0], task.marginals, task.domain)
        assert task.loss(product) == pytest.approx(divergence(task.truth, product), rel=0.05)

    def test_small_ones_are_told_apart_from_noise(self, task):
        # the plain mean has a standard error of about √(2 loss / rows), a third of this loss
        near = task.smoothed(task.truth.weights, [0.97 * A + 0.03 / len(A) for A in task.truth.factors])
        assert task.loss(near) == pytest.approx(divergence(task.truth, near), rel=0.1)

    def test_a_wrong_model_loses(self, task):
        backwards = juror.JointPMF(task.truth.weights, [A[::-1] for A in task.truth.factors], task.domain)
        assert task.loss(backwards) > 0.1

    def test_smoothing_is_that_of_the_library(self, task):
        counts = juror.TripleCounts.of_codes(task.codes, task.domain, n_jobs=1)
        bare, smooth = (juror.fit(counts, 2, "ctf", smoothing=s, n_jobs=1) for s in (0.0, subsets.SMOOTHING))
        again = task.smoothed(bare.weights, bare.factors)
        for mine, library in zip(again.factors, smooth.factors, strict=True):
            assert mine == pytest.approx(library, abs=1e-9)


class TestPairs:
    @pytest.mark.parametrize("n_pairs", [12, 30, 66])
    def test_random_ones_leave_no_variable_alone(self, n_pairs):
        pairs = subsets.random_pairs(12, n_pairs, np.random.default_rng(1))
        assert len(set(pairs)) == n_pairs
        assert {n for pair in pairs for n in pair} == set(range(12))
        assert all(j < k for j, k in pairs)

    def test_a_block_is_whole_and_all_others_are_linked_to_it(self):
        pairs, block = subsets.block_pairs(14, 60, np.random.default_rng(2))
        assert len(set(pairs)) == 60
        assert set(combinations(block, 2)) <= set(pairs)
        for n in set(range(14)) - set(block):
            assert sum((min(n, k), max(n, k)) in pairs for k in block) >= subsets.LINKS

    def test_too_few_are_refused(self):
        with pytest.raises(ValueError, match=r"12 variables need 12 pairs at least for this design\. Got 11\."):
            subsets.random_pairs(12, 11, np.random.default_rng(0))

    def test_over_all_the_misfit_is_that_of_juror_b(self, exact):
        truth, tables = exact
        design = Design()
        operators = design.operators(truth.domain, design.directions(truth.domain))
        library = misfit_of_tables(operators, list(tables.values()), np.ones(len(tables)))
        lam, factors = subsets.start_at(random_model([4] * 12, 3, np.random.default_rng(3)))
        mine = subsets.misfit_over(tables, list(tables))
        assert mine.value(lam, factors) == pytest.approx(library.value(lam, factors), rel=1e-12)
        # fewer pairs, less misfit
        assert mine.value(lam, factors) > subsets.misfit_over(tables, list(tables)[:20]).value(lam, factors) > 0

    def test_regression_finds_a_factor_from_exact_tables(self, exact):
        truth, tables = exact
        lam, factors = subsets.start_at(truth)
        known = dict(enumerate(factors[:-1]))
        found = subsets.regressed(11, lam, known, tables, [(j, 11) for j in range(6)])
        assert found == pytest.approx(factors[11], abs=1e-3)
        known[0] = known[0][::-1]
        wrong = subsets.regressed(11, lam, known, tables, [(0, 11)])
        assert np.abs(wrong - factors[11]).max() > 0.01


class TestRun:
    def test_every_way_has_its_losses(self, rows):
        assert all(len(row["losses"]) == row["n_seeds"] == 2 for row in rows)
        assert {row["per_variable"] for row in rows} == {None, 1, 2, ALL}
        json.dumps(rows, allow_nan=False)

    def test_truth_marginals_and_subsets_stand_in_order(self, rows):
        def loss(**wanted):
            (row,) = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
            return row["loss_mean"]

        best = loss(who="em", start="truth")
        assert 0 < best < loss(who="ctf", start="truth", per_variable=ALL) * 1.1
        assert loss(who="ctf", start="truth", per_variable=ALL) < loss(who="ctf", start="truth", per_variable=1)
        assert loss(who="ctf", start="truth", per_variable=1) < loss(who="product of marginals")

    def test_sizes_are_those_of_the_tables(self, rows):
        for row in rows:
            if row["who"] == "ctf":
                assert row["n_tables"] == (math.comb(6, 3) if row["per_variable"] == ALL else 6 * row["per_variable"])
                assert row["bytes"] == row["n_tables"] * 3**3 * 8
                assert row["share"] == row["n_tables"] / math.comb(6, 3)

    def test_a_plan_is_scaled_by_pairs_or_by_columns(self):
        row = {"n_variables": 10, "labels": 4, "bytes": 450, "ns_a_row": 90.0}
        measured = [
            row | {"statistic": "pairs", "per_variable": ALL, "n_tables": 45},
            row | {"statistic": "triples", "per_variable": 2, "n_tables": 20},
        ]
        pairs, triples = subsets.plan(measured, lambda text: None, 100)
        assert (pairs["n_tables"], pairs["bytes"], pairs["ns_a_row"]) == (4950, 49_500, 9900)
        assert (triples["n_tables"], triples["bytes"], triples["ns_a_row"]) == (200, 4500, 900)
        assert triples["core_hours_for_1e9_rows"] == pytest.approx(900 / 3600)
