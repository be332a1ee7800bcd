"""Sampling classes and forest together: every part against sums over all forests, classes and missing cells."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import chisquare, norm

import juror
from juror.kernels import few, few_edges, jit, reference
from juror.rows.distinct import WeightedRows
from juror.rows.expected import Prepared
from juror.rows.forest import Forest
from juror.rows.in_memory import MemoryTable
from juror.rows.packing import PackedCells
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers import bell_edges, few_rows, forest_gibbs
from juror.solvers.bell_edges import N_BELLS, BellEdges
from juror.solvers.completing import RowsToComplete, upward
from juror.solvers.edge_tables import STRENGTHS, Edges, TablePrior, columns_of, draw_point
from juror.solvers.few_rows import FewCells, FewRows
from juror.solvers.forest_gibbs import ForestSampler, PossibleEdges, counted, next_edges, next_prior
from juror.solvers.forest_moves import moved
from juror.solvers.hyper import Hyper, first_hyper, next_hyper
from juror.testing import random_model

SHORT = {"sweeps": 80, "burnt": 40, "draws": 8}


def rooted_forests(n: int) -> list[Forest]:
    found = []
    for parents in itertools.product(range(-1, n), repeat=n):
        try:
            found.append(Forest(parents))
        except juror.errors.ParameterError:
            continue
    return found


def test_the_prior_of_odds_sums_over_all_forests():
    """The determinant stands for the sum of the weights of all rooted forests."""
    sizes = (2, 5, 3, 4)
    possible = PossibleEdges.of(sizes)
    for odds in (0.1, 1.0, 30.0):
        weights = [
            np.prod([odds * (4 / (sizes[a] * sizes[b])) ** 2 / 4 for a, b in f.edges]) for f in rooted_forests(4)
        ]
        assert np.log1p(odds * possible.spectrum).sum() == pytest.approx(np.log(np.sum(weights)))


class TestEvidence:
    @pytest.mark.parametrize("weights", ["once", "whole", "parts"])
    def test_the_twins_agree(self, weights):
        rng = np.random.default_rng(0)
        sizes, F, n_rows = (3, 2, 4, 1), 3, 150
        columns = np.array([rng.integers(0, size, n_rows) for size in sizes], dtype=np.int32)
        bounds = np.searchsorted(np.sort(rng.integers(0, F, n_rows)), np.arange(F + 1)).astype(np.int64)
        each = {"once": np.ones(n_rows), "whole": rng.integers(1, 9, n_rows) * 1.0, "parts": rng.random(n_rows)}
        bases = np.concatenate([rng.dirichlet(np.ones(size)) for size in sizes])
        starts = np.cumsum([0, *sizes]).astype(np.int64)
        case = (columns, bounds, each[weights], PossibleEdges.of(sizes).pairs, bases, starts, np.array([0.5, 20.0]))
        one, other = jit.edge_evidence(*case), reference.edge_evidence(*case)
        np.testing.assert_allclose(one, other, rtol=1e-10)
        np.testing.assert_allclose(few.edge_evidence(*case), other, rtol=1e-10)
        assert np.isfinite(one).sum() == 2 * 2 * 6

    @pytest.mark.parametrize(("most", "of_pair"), [(1 << 20, 4), (10, 1 << 16), (10, 8)])
    def test_pairs_of_many_cells_are_counted_apart(self, monkeypatch, most, of_pair):
        rng, sizes = np.random.default_rng(1), (3, 2, 4, 2)
        columns = np.array([rng.integers(0, size, 40) for size in sizes], dtype=np.int32)
        starts, bases = np.cumsum([0, *sizes]).astype(np.int64), np.full(sum(sizes), 0.3)
        case = (columns, np.array([0, 25, 25, 40]), np.ones(40), PossibleEdges.of(sizes).pairs, bases, starts)
        together = few.edge_evidence(*case, STRENGTHS)
        monkeypatch.setattr(few_edges, "_MOST_CELLS", most)
        monkeypatch.setattr(few_edges, "_MOST_OF_PAIR", of_pair)
        np.testing.assert_allclose(few.edge_evidence(*case, STRENGTHS), together, rtol=1e-12)
        np.testing.assert_allclose(together, reference.edge_evidence(*case, STRENGTHS), rtol=1e-10)

    @pytest.mark.parametrize("module", [jit, reference, few], ids=["numba", "numpy", "few"])
    def test_no_rows_say_nothing(self, module):
        nothing = (
            np.empty((2, 0), dtype=np.int32),
            np.zeros(3, dtype=np.int64),
            np.empty(0),
            PossibleEdges.of((2, 2)).pairs,
        )
        found = module.edge_evidence(*nothing, np.full(4, 0.5), np.array([0, 2, 4]), np.array([1.0]))
        assert np.all(found[:, :, [0, 1], [1, 0]] == 0)


class TestMoves:
    def test_forests_come_as_often_as_they_weigh(self):
        rng, N = np.random.default_rng(0), 3
        E = rng.normal(size=(N, N))
        E[0, 2] = E[2, 0] = -np.inf
        all_forests = [f for f in rooted_forests(N) if not {(0, 2), (2, 0)} & set(f.edges)]
        logs = np.array([sum(E[edge] for edge in f.edges) for f in all_forests])
        forest, seen = Forest.empty(N), dict.fromkeys(all_forests, 0)
        for _ in range(6_000):
            forest = moved(forest, E, rng.integers(0, N, 3), rng)
            seen[forest] += 1
        # Draws depend on each other a little.
        assert chisquare(np.array(list(seen.values())) / 3, 6_000 / 3 * np.exp(logs - logsumexp(logs))).pvalue > 1e-4

    def test_there_are_as_many_forests_as_the_prior_says(self):
        counts = np.bincount([len(f.edges) for f in rooted_forests(4)])
        assert counts.tolist() == [1, 3 * 4, 3 * 16, 64]


def log_joint(tables, forest, codes):
    """log p(x | f) of complete rows, (rows, F)."""
    found = 0.0
    for n, above in enumerate(forest.parents):
        found = found + np.log(tables[n][0 if above < 0 else codes[:, above], codes[:, n]])
    return found


class TestCompleting:
    SIZES, FOREST, F = (2, 3, 2, 2), Forest((1, -1, 1, 2)), 2

    def tables(self, rng):
        shape = [(1 if above < 0 else self.SIZES[above]) for above in self.FOREST.parents]
        return [
            rng.dirichlet(np.ones(size), (n, self.F)).transpose(0, 2, 1)
            for n, size in zip(shape, self.SIZES, strict=True)
        ]

    def test_messages_sum_over_missing_cells(self):
        rng = np.random.default_rng(0)
        tables = self.tables(rng)
        codes = np.array(list(itertools.product(*(range(-1, size) for size in self.SIZES))))
        cells = np.array(list(itertools.product(*map(range, self.SIZES))))
        joint = np.exp(log_joint(tables, self.FOREST, cells))
        fits = np.all((codes[:, None] < 0) | (codes[:, None] == cells), axis=2)
        np.testing.assert_allclose(np.exp(upward(codes, tables, self.FOREST)[0]), fits @ joint, rtol=1e-12)

    def test_missing_cells_come_as_often_as_they_should(self):
        rng = np.random.default_rng(0)
        tables, lam = self.tables(rng), np.array([0.3, 0.7])
        rows = RowsToComplete(np.array([[0, -1, -1, 1]]), np.array([30_000.5]))
        drawn = rows.draw(lam, tables, self.FOREST, rng)
        assert drawn.weights.sum() == 30_000.5
        assert np.all(drawn.codes[:, [0, 3]] == [0, 1])
        cells = np.array(list(itertools.product([0], range(3), range(2), [1])))
        p = lam * np.exp(log_joint(tables, self.FOREST, cells))
        seen = np.zeros((3, 2, 2))
        np.add.at(seen, (drawn.codes[:, 1], drawn.codes[:, 2], drawn.classes), np.floor(drawn.weights))
        assert chisquare(seen.ravel(), seen.sum() * (p / p.sum()).ravel()).pvalue > 1e-4
        assert drawn.log_likelihood == pytest.approx(30_000.5 * np.log(p.sum()))


class TestFewRows:
    SIZES, FOREST, F = (2, 3, 2), Forest((-1, 0, -1)), 3

    def case(self, scale=1.0):
        rng, stacking = np.random.default_rng(0), Stacking(self.SIZES, self.FOREST)
        codes = np.array(list(itertools.product(*map(range, self.SIZES))))[:7]
        stack = stacking.normalise(rng.random((stacking.n_rows, self.F)), np.ones((stacking.n_rows, self.F)))
        return codes, stacking, rng.dirichlet(np.ones(self.F)), stack * scale

    @pytest.mark.parametrize("scale", [1.0, 1e-80], ids=["products", "logarithms"])
    def test_the_posterior_is_by_the_definition(self, scale):
        codes, stacking, lam, stack = self.case(scale)
        logs, R = FewRows(codes, np.ones(7, dtype=np.int64), stacking).posterior(lam, stack)
        joint = log_joint(stacking.tables(stack), self.FOREST, codes) + np.log(lam)
        np.testing.assert_allclose(logs, logsumexp(joint, axis=1), rtol=1e-10)
        np.testing.assert_allclose(R, np.exp(joint - logsumexp(joint, axis=1, keepdims=True)), rtol=1e-8)

    def test_classes_come_as_often_as_they_should(self):
        codes, stacking, lam, stack = self.case()
        n_rows = np.arange(1, 8) * 3_000
        few = FewRows(codes, n_rows, stacking)
        logs, R = few.posterior(lam, stack)
        counts = few.draw(lam, stack, np.random.default_rng(1))
        assert counts.log_likelihood == pytest.approx(n_rows @ logs)
        assert chisquare(counts.classes, n_rows @ R).pvalue > 1e-4
        cells = stacking.cells(codes)
        of_cells = np.array([n_rows[(cells == s).any(axis=1)].sum() for s in range(stacking.n_rows)])
        assert counts.cells.sum(axis=1).tolist() == of_cells.tolist()

    def test_only_few_complete_rows_counted_in_whole_numbers_are_taken(self):
        codes = np.zeros((10, 3), dtype=int)
        assert FewRows.takes(codes, np.full(10, 3.0)) == ("JUROR_KERNELS" not in os.environ)
        assert not FewRows.takes(codes, np.full(10, 2.5))
        assert not FewRows.takes(codes - 1, np.full(10, 3.0))
        assert not FewRows.takes(np.zeros((2000, 3), dtype=int), np.ones(2000))


class TestFewCells:
    """Rows with missing cells, laid out without compiled kernels, against those that compiled kernels pass over."""

    SIZES, FOREST, F = (3, 2, 4, 2), Forest((-1, 0, 1, 1)), 5

    def case(self, scale=1.0, weights=None):
        rng, stacking = np.random.default_rng(4), Stacking(self.SIZES, self.FOREST)
        codes = np.column_stack([rng.integers(0, size, 60) for size in self.SIZES]).astype(np.int32)
        codes[rng.random(codes.shape) < 0.4] = -1
        stack = stacking.normalise(rng.random((stacking.n_rows, self.F)) ** 3, np.ones((stacking.n_rows, self.F)))
        weights = np.ones(60) if weights is None else weights
        return FewCells.of(codes, weights, stacking), codes, stacking, rng.dirichlet(np.ones(self.F)), stack * scale

    @pytest.mark.parametrize("scale", [1.0, 1e-80], ids=["products", "logarithms"])
    def test_the_posterior_is_that_of_other_kernels(self, scale):
        few_cells, codes, stacking, lam, stack = self.case(scale)
        cells = PackedCells.plain(codes, stacking)
        logs, R = few_cells.posterior(lam, stack)
        expected = reference.posterior(cells.packed, Prepared.of(cells, lam, stack, reference).tables)
        np.testing.assert_allclose(logs, expected[0], rtol=1e-9)
        np.testing.assert_allclose(R, expected[1], rtol=1e-7, atol=1e-12)

    def test_draws_are_as_often_as_they_should_be(self):
        weights = np.concatenate([np.ones(20), np.arange(1, 21) + 0.5, np.arange(2, 22)])
        few_cells, codes, stacking, lam, stack = self.case(weights=weights)
        table = MemoryTable(
            WeightedRows(codes, weights, np.ones(60, dtype=np.int64)),
            juror.Domain.from_cardinalities(self.SIZES),
            LocalRunner(1),
        )
        expected, rng = table.along(self.FOREST).expected(lam, stack), np.random.default_rng(0)
        drawn = [few_cells.draw(lam, stack, rng) for _ in range(2_000)]
        assert drawn[0].log_likelihood == pytest.approx(expected.log_likelihood)
        # weights of a half are drawn too, and every row has a class
        assert {each.classes.sum() for each in drawn} == {weights.sum()}
        own = np.delete(np.arange(stacking.n_rows), stacking.missing_rows)
        for found, true in (
            (np.array([each.classes for each in drawn]), expected.classes),
            (np.array([each.cells[own] for each in drawn]), expected.cells[own]),
        ):
            # Entries that were hardly ever drawn have no spread.
            error = np.maximum(found.var(axis=0), true) ** 0.5 / len(drawn) ** 0.5
            assert np.all(np.abs(found.mean(axis=0) - true) < 5 * error + 0.01)

    def test_too_many_messages_are_left_to_other_kernels(self, monkeypatch):
        monkeypatch.setattr(few_rows, "_MOST_MESSAGES", 2)
        assert self.case()[0] is None

    def test_only_classes_that_are_chosen_have_new_columns(self):
        _, codes, stacking, _, stack = self.case()
        rng, edges = np.random.default_rng(0), Edges(self.FOREST, np.array([0, 0, 3, 4]), 1.0, Edges.none(4).phi)
        prior = TablePrior.of(first_hyper(self.SIZES), edges, stacking, BellEdges.none())
        drawn = RowsToComplete(codes, np.ones(60)).draw(
            np.full(self.F, 1 / self.F), stacking.tables(stack), self.FOREST, rng
        )
        point = draw_point(counted(drawn, stacking, self.F), 1.0, prior, stacking, rng, np.array([1, 3]), stack)
        own = np.setdiff1d(prior.own, stacking.missing_rows)
        assert len(prior.shared)
        assert np.all(point.stack[prior.shared] == point.stack[prior.shared, :1])
        changed = np.any(point.stack[own] != stack[own], axis=0)
        assert changed.tolist() == [False, True, False, True, False]
        for n, table in enumerate(stacking.tables(point.stack)):
            np.testing.assert_allclose(table.sum(axis=1), 1.0, err_msg=str(n))


def log_rows(C, alpha):
    """The log evidence of counts (columns, I) under Dirichlet(alpha)."""
    total = gammaln(alpha.sum()) - gammaln(alpha.sum() + C.sum(axis=1))
    return float(total.sum() + (gammaln(alpha + C) - gammaln(alpha)).sum())


class TestPosterior:
    """Three binary variables, six rows, one cell missing, two classes: all is summed over."""

    CODES = np.array([[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 1]])
    HYPER = Hyper(0.8, 2.0, (1.5, 2.5, 4.0), (np.array([0.4, 0.6]), np.array([0.5, 0.5]), np.array([0.3, 0.7])))
    F = 2

    def prior(self):
        phi = np.random.default_rng(5).dirichlet(np.ones(2 * len(STRENGTHS)))
        return Edges(Forest.empty(3), np.zeros(3, dtype=np.int64), 0.6, phi, rho=0.3)

    def evidence(self, codes, classes, n, above, edges):
        """The log evidence of variable n given its parent, by the definition, kinds summed over."""
        m, c = self.HYPER.m[n], self.HYPER.c[n]
        if above < 0:
            C = np.array([np.bincount(codes[classes == f, n], minlength=2) for f in range(self.F)])
            return np.logaddexp(np.log(1 - edges.rho) + log_rows(C, c * m), np.log(edges.rho) + (C @ np.log(m)).sum())
        where = [(classes == f) & (codes[:, above] == x) for f in range(2) for x in range(2)]
        by_class = np.array([np.bincount(codes[rows, n], minlength=2) for rows in where])
        shared = by_class.reshape(2, 2, 2).sum(axis=0)
        each = [log_rows(C, b * m) for C in (shared, by_class) for b in STRENGTHS]
        return logsumexp(np.array(each) + np.log(edges.phi))

    def exact(self):
        edges = self.prior()
        forests = rooted_forests(3)
        logs = np.full(len(forests), -np.inf)
        for label, *classes in itertools.product(range(2), repeat=1 + len(self.CODES)):
            codes, z = np.where(self.CODES < 0, label, self.CODES), np.array(classes)
            log_z = log_rows(np.bincount(z, minlength=2)[None], np.full(2, self.HYPER.a))
            found = {
                (n, above): self.evidence(codes, z, n, above, edges)
                for n in range(3)
                for above in range(-1, 3)
                if above != n
            }
            for k, forest in enumerate(forests):
                n_edges = len(forest.edges)
                log_prior = n_edges * np.log(edges.odds / 3)
                rows = sum(found[n, above] for n, above in enumerate(forest.parents))
                logs[k] = np.logaddexp(logs[k], log_prior + log_z + rows)
        return forests, np.exp(logs - logsumexp(logs))

    def test_forests_come_as_often_as_they_are_probable(self):
        forests, probable = self.exact()
        rng, edges, sizes = np.random.default_rng(0), self.prior(), (2, 2, 2)
        rows, pairs = RowsToComplete(self.CODES, np.ones(len(self.CODES))), PossibleEdges.of(sizes)
        stacking = Stacking(sizes)
        point = Parameters(np.full(2, 0.5), stacking.normalise(rng.random((stacking.n_rows, 2)), np.ones((9, 2))))
        n_sweeps, n_batches = 6_000, 30
        seen = np.zeros((n_batches, len(forests)))
        place = {forest: k for k, forest in enumerate(forests)}
        for sweep in range(n_sweeps):
            drawn = rows.draw(point.lam, stacking.tables(point.stack), edges.forest, rng)
            edges = next_edges(edges, drawn, self.HYPER, self.F, pairs, rng)
            stacking = Stacking(sizes, edges.forest)
            counts = counted(drawn, stacking, self.F)
            point = draw_point(
                counts, self.HYPER.a, TablePrior.of(self.HYPER, edges, stacking, pairs.bells), stacking, rng
            )
            seen[sweep * n_batches // n_sweeps, place[edges.forest]] += 1
        shares = seen * n_batches / n_sweeps
        off = (shares.mean(axis=0) - probable) / (shares.std(axis=0, ddof=1) / np.sqrt(n_batches))
        assert np.all(np.abs(off) < 4.5), off
        np.testing.assert_allclose(shares.mean(axis=0), probable, atol=0.02)
        assert probable.max() > 2 * probable.min()


class TestBells:
    """Edges between normal scores: three intervals twice and two labels, two classes; all is summed over."""

    CODES = np.array([[0, 0, 1], [1, 1, 0], [0, 0, 0], [2, 2, 1], [2, -1, 1]])
    SIZES, F = (3, 3, 2), 2
    BELLS = BellEdges(dict.fromkeys((0, 1), norm.ppf([0.0, 0.3, 0.6, 1.0])), ((0, 1),))
    HYPER = Hyper(0.8, 2.0, (1.5, 2.5, 4.0), (np.full(3, 1 / 3), np.array([0.5, 0.3, 0.2]), np.array([0.3, 0.7])))

    def prior(self):
        phi = np.random.default_rng(5).dirichlet(np.ones(2 * len(STRENGTHS)))
        return Edges(Forest.empty(3), np.zeros(3, dtype=np.int64), 40.0, phi, rho=0.3)

    def evidence(self, codes, classes, n, above, edges):
        """The log weight of variable n given its parent, by the definition: with free tables, and with bells."""
        m, size = self.HYPER.m[n], self.SIZES[n]
        if above < 0:
            C = np.array([np.bincount(codes[classes == f, n], minlength=size) for f in range(self.F)])
            own = np.log(1 - edges.rho) + log_rows(C, self.HYPER.c[n] * m)
            return np.logaddexp(own, np.log(edges.rho) + (C @ np.log(m)).sum()), -np.inf
        at = [[codes[(classes == f) & (codes[:, above] == x), n] for x in range(self.SIZES[above])] for f in range(2)]
        by_class = np.array([[np.bincount(cells, minlength=size) for cells in own] for own in at])
        both = (by_class.sum(axis=0), by_class.reshape(-1, size))
        each = [log_rows(C, b * m) for C in both for b in STRENGTHS]
        free = logsumexp(np.array(each) + np.log(edges.phi)) + 2 * np.log(4 / (self.SIZES[above] * size))
        if {n, above} != {0, 1}:
            return free, -np.inf
        columns = [self.BELLS.alpha(above, n, kind) for kind in range(N_BELLS)]
        bells = [
            sum(log_rows(C[x : x + 1], alpha[x]) for C in tables for x in range(3))
            for tables in ([both[0]], by_class)
            for alpha in columns
        ]
        return free, logsumexp(bells) - np.log(2 * N_BELLS) + np.log(forest_gibbs._OF_BELLS)

    def exact(self):
        """The probability of every forest, and that variables 0 and 1 are joined by a bell."""
        edges, forests = self.prior(), rooted_forests(3)
        logs, with_bell = np.full((2, len(forests)), -np.inf)
        for label, *classes in itertools.product(range(3), *[range(2)] * len(self.CODES)):
            codes, z = np.where(self.CODES < 0, label, self.CODES), np.array(classes)
            log_z = log_rows(np.bincount(z, minlength=2)[None], np.full(2, self.HYPER.a))
            pairs = [(n, above) for n in range(3) for above in range(-1, 3) if above != n]
            found = {pair: self.evidence(codes, z, *pair, edges) for pair in pairs}
            for k, forest in enumerate(forests):
                each = [found[n, above] for n, above in enumerate(forest.parents)]
                rows = log_z + len(forest.edges) * np.log(edges.odds / 3) + sum(np.logaddexp(*both) for both in each)
                share = max((bell - np.logaddexp(free, bell) for free, bell in each), default=-np.inf)
                logs[k], with_bell[k] = np.logaddexp(logs[k], rows), np.logaddexp(with_bell[k], rows + share)
        total = logsumexp(logs)
        return forests, np.exp(logs - total), np.exp(logsumexp(with_bell) - total)

    def test_forests_and_bells_come_as_often_as_they_are_probable(self):
        forests, probable, of_bell = self.exact()
        rng, edges, stacking = np.random.default_rng(0), self.prior(), Stacking(self.SIZES)
        rows, pairs = RowsToComplete(self.CODES, np.ones(len(self.CODES))), PossibleEdges.of(self.SIZES, self.BELLS)
        stack = np.ones((stacking.n_rows, 2))
        point = Parameters(np.full(2, 0.5), stacking.normalise(stack, stack))
        n_sweeps, n_batches = 6_000, 30
        seen = np.zeros((n_batches, len(forests) + 1))
        place = {forest: k for k, forest in enumerate(forests)}
        for sweep in range(n_sweeps):
            drawn = rows.draw(point.lam, stacking.tables(point.stack), edges.forest, rng)
            edges = next_edges(edges, drawn, self.HYPER, self.F, pairs, rng)
            stacking = Stacking(self.SIZES, edges.forest)
            prior = TablePrior.of(self.HYPER, edges, stacking, pairs.bells)
            point = draw_point(counted(drawn, stacking, self.F), self.HYPER.a, prior, stacking, rng)
            batch = seen[sweep * n_batches // n_sweeps]
            batch[place[edges.forest]] += 1
            batch[-1] += any(kind.bell is not None for kind in edges.kinds)
        shares = seen * n_batches / n_sweeps
        expected = np.append(probable, of_bell)
        off = (shares.mean(axis=0) - expected) / (shares.std(axis=0, ddof=1) / np.sqrt(n_batches))
        assert np.all(np.abs(off) < 4.5), off
        np.testing.assert_allclose(shares.mean(axis=0), expected, atol=0.02)
        assert 0.1 < of_bell < 0.9

    def test_tables_are_those_of_normal_scores(self):
        ends = norm.ppf([0.0, 0.25, 0.5, 0.75, 1.0])
        alpha = BellEdges({0: ends, 1: ends}, ((0, 1),)).alpha(0, 1, N_BELLS - 3)  # r = 0.7, b = 64
        z = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], 200_000)
        counts = np.histogram2d(*z.T, bins=(ends, ends))[0]
        np.testing.assert_allclose(alpha.sum(axis=1), 64.0)
        np.testing.assert_allclose(alpha / 64, counts / counts.sum(axis=1, keepdims=True), atol=0.02)

    @staticmethod
    def numbers(n_rows, correlations):
        rng = np.random.default_rng(2)
        z = rng.multivariate_normal(np.zeros(len(correlations)), correlations, n_rows)
        return pd.DataFrame(z.round(3), columns=[f"x{n}" for n in range(len(correlations))])

    def test_a_hundred_rows_show_a_correlation(self):
        rows = self.numbers(100, np.where(np.eye(4) + np.eye(4)[[1, 0, 3, 2]], 0.5, 0.0) + 0.5 * np.eye(4))
        model = juror.fit(rows)
        drawn = model.sample(3000, seed=1).corr("spearman").to_numpy()
        # tables that may be any have 0.1
        assert drawn[0, 1] > 0.3
        assert drawn[2, 3] > 0.3
        assert abs(drawn[0, 2]) < 0.1
        assert "with correlations of normal scores" in model.info.stopped

    @pytest.mark.filterwarnings("ignore:The chains have not mixed well")
    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"sweeps": 80, "draws": 8}, "2 chains of 80 sweeps"),
            ({"sweeps": 80, "draws": 1}, "1 chain of 80 sweeps"),
            ({"sweeps": 80, "burnt": 30, "draws": 100}, "2 chains of 80 sweeps"),
            ({"sweeps": 8, "chains": 1}, "1 chain of 8 sweeps"),
        ],
    )
    def test_chains_of_the_comparison_go_on_with_the_draws_that_are_asked_for(self, options, told):
        x = np.random.default_rng(3).normal(size=(80, 2))
        model = juror.fit(pd.DataFrame({"a": x[:, 0], "b": x.sum(axis=1)}), 3, "bayes", **options)
        n_draws = options.get("draws", model.info.n_draws)
        assert (model.info.n_draws, model.rank) == (n_draws, 3 * n_draws)
        assert told in model.info.stopped
        assert len(model.info.trace) == options["sweeps"]

    def test_missing_cells_do_not_draw_numbers_to_those_that_are_seen(self):
        rng = np.random.default_rng(50)
        x = rng.normal(size=150)
        y = 0.7 * x + 0.51**0.5 * rng.normal(size=150)
        rows = pd.DataFrame({"x": x, "y": y, "z": 0.5 * y + rng.normal(size=150)}).round(3)
        rows.loc[rng.random(150) < 1 / (1 + np.exp(-1.5 * x)), "y"] = np.nan
        model = juror.fit(rows, missing_as={})
        # the mean of all is 0.07; with ends by what is seen it is -0.16
        assert rows["y"].mean() < -0.3
        assert np.mean([filled["y"].mean() for filled in model.impute(rows, draws=5)]) > -0.1

    @pytest.mark.filterwarnings("ignore:The chains have not mixed")
    def test_a_hidden_number_is_left_to_classes(self):
        model = juror.fit(self.numbers(250, np.full((8, 8), 0.8) + 0.2 * np.eye(8)))
        assert "correlations" not in model.info.stopped

    @staticmethod
    def possible(table):
        domain = juror.Domain.infer(table)
        marginals = [np.full(size, 1 / size) for size in domain.cardinalities]
        return BellEdges.of(domain, marginals, WeightedRows.of(domain.encode(table)))

    def test_only_numbers_in_intervals_have_them(self):
        rows = {"a": np.arange(200) / 7, "b": np.arange(200) % 5, "c": np.arange(200) / 3, "d": ["x", "y"] * 100}
        assert self.possible(rows).pairs == [(0, 2), (2, 0)]
        assert self.possible({name: rows[name] for name in "bcd"}).pairs == []

    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_few_rows_of_labels_are_not_taken_for_their_marginals(self, seed):
        """Shares of ten labels in 100 rows say little: their product is further from the truth than the uniform table.

        Edges between the scores of ordered labels had this product as their prior.
        """
        truth = random_model((10,) * 4, 15, np.random.default_rng(seed), concentration=2.6)
        model = juror.fit(truth.sample(100, seed=1).to_numpy(), domain=truth.domain)
        uniform = juror.JointPMF(np.ones(1), [np.full((10, 1), 0.1)] * 4, truth.domain)
        assert juror.compare.tensor_error(truth, model) < juror.compare.tensor_error(truth, uniform)

    def test_of_many_pairs_the_most_correlated_have_them(self, monkeypatch):
        correlations = np.eye(4)
        correlations[[1, 3], [3, 1]] = 0.6
        rows = self.numbers(300, correlations)
        rows.loc[::3, "x1"] = np.nan
        every = self.possible(rows)
        assert len(every.pairs) == 12
        size = len(every.ends[0]) - 1
        monkeypatch.setattr(bell_edges, "_MOST_NUMBERS", 3 * 2 * N_BELLS * size**2)
        some = self.possible(rows)
        assert len(some.pairs) == 6
        assert (1, 3) in some.pairs
        codes = np.random.default_rng(0).integers(min(map(len, every.ends.values())) - 1, size=(50, 4))
        place = {pair: k for k, pair in enumerate(every.pairs)}
        expected = every.evidence(codes, codes[:, 0] % 2, np.ones(50))
        found = some.evidence(codes, codes[:, 0] % 2, np.ones(50))
        np.testing.assert_allclose(found, expected[[place[pair] for pair in some.pairs]])


def test_the_sampler_leaves_its_own_prior_in_place():
    """Draw rows given parameters, and all else given the rows: what comes out must be the prior (Geweke 2004)."""
    sizes, F, n_rows = (3, 2, 2, 1), 2, 5
    rng, pairs = np.random.default_rng(0), PossibleEdges.of((3, 2, 2, 1))
    hyper, edges, stacking, seen = first_hyper(sizes), Edges.none(4), Stacking(sizes), []
    point = Parameters(np.full(F, 1 / F), stacking.stack([np.full((size, F), 1 / size) for size in sizes]))
    forests = [forest.edges for forest in rooted_forests(3)]
    products = np.array([np.prod([(4 / (sizes[a] * sizes[b])) ** 2 / 3 for a, b in edges]) for edges in forests])
    numbers = np.array([len(edges) for edges in forests])

    def mean_edges(odds):
        weights = products * odds**numbers
        return weights @ numbers / weights.sum()

    for _ in range(4000):
        empty = RowsToComplete(np.full((1, len(sizes)), -1), np.array([float(n_rows)]))
        fresh = empty.draw(point.lam, stacking.tables(point.stack), edges.forest, rng)
        # Rows come sorted by what was drawn: hide cells of one at random, or missing would depend on the labels.
        codes = rng.permutation(np.repeat(fresh.codes, fresh.weights.astype(int), axis=0))
        codes[0, :2] = -1
        drawn = RowsToComplete(codes, np.ones(n_rows)).draw(point.lam, stacking.tables(point.stack), edges.forest, rng)
        edges = next_prior(next_edges(edges, drawn, hyper, F, pairs, rng), pairs, rng)
        stacking = Stacking(sizes, edges.forest)
        counts = counted(drawn, stacking, F)
        given = [kind.strength for kind in edges.kinds]
        hyper = next_hyper(hyper, counts.classes, columns_of(counts, edges, stacking), rng, 1.0, given)
        point = draw_point(counts, hyper.a, TablePrior.of(hyper, edges, stacking, pairs.bells), stacking, rng)
        log_c = np.log(np.array(hyper.c)[:3] / [3, 2, 2])
        z = norm.cdf([hyper.mu - 1.0, *((log_c - hyper.mu) / np.sqrt(hyper.tau2))])
        g = hyper.g / (hyper.g + 700 / 3)
        # π is x / (1 + x), and π¹⁰⁰ is uniform; the mean number of edges given x is that of all forests.
        n_edges = (len(edges.forest.edges) - mean_edges(edges.odds)) / 2 + 0.5
        tables = stacking.tables(point.stack)
        of_edges = [(edges.odds / (1 + edges.odds)) ** 100, edges.phi[0] * 2.1, n_edges, 1 - (1 - edges.rho) ** 10]
        seen.append([*z, *of_edges, hyper.a / (1 + hyper.a), g, hyper.m[1][0], tables[1][0, 0, 0], tables[2][-1, 1, 1]])
    batches = np.array(seen).reshape(20, 200, -1).mean(axis=1)
    off = (batches.mean(axis=0) - 0.5) / (batches.std(axis=0, ddof=1) / np.sqrt(20))
    assert np.all(np.abs(off) < 4.5), off


@pytest.mark.filterwarnings("ignore:The chains have not mixed well")
class TestFit:
    def pairs(self, n_rows, seed):
        """Four pairs of columns, each of which almost repeats the other; more combinations than classes."""
        rng = np.random.default_rng(seed)
        once = rng.integers(0, 6, (n_rows, 4))
        return np.hstack([once, (once + (rng.random(once.shape) < 0.1)) % 6])

    def test_edges_are_found_where_classes_do_not_suffice(self):
        model = juror.fit(self.pairs(800, 0), 4, "bayes", domain=juror.Domain.from_cardinalities([6] * 8), **SHORT)
        assert model.info.n_draws == len(model.blocks) == 8
        for block in model.blocks:
            assert {(0, 4), (1, 5), (2, 6), (3, 7)} <= {tuple(sorted(edge)) for edge in block.forest.edges}
        plain = juror.fit(self.pairs(800, 0), 4, "bayes", domain=model.domain, forest=False, **SHORT)
        test = self.pairs(500, 1)
        assert model.log_prob(test).mean() > plain.log_prob(test).mean() + 2.0
        low, high = model.interval("x4 | x0 = 2", level=0.9)[2]
        assert 0.75 < low < high < 0.97

    def test_missing_cells_hide_no_edges(self):
        codes = self.pairs(800, 0)
        codes[np.random.default_rng(2).random(codes.shape) < 0.2] = -1
        model = juror.fit(codes, 4, "bayes", domain=juror.Domain.from_cardinalities([6] * 8), **SHORT)
        assert all(len(block.forest.edges) >= 4 for block in model.blocks)
        assert model.prob("x4 = 2", given="x0 = 2") > 0.7

    def test_a_product_has_no_edges(self):
        codes = np.random.default_rng(0).integers(0, 5, (1000, 4))
        assert not juror.fit(codes, 3, "bayes", **SHORT).has_edges

    def test_variables_that_nothing_depends_on_are_the_same_in_all_classes(self):
        """So that no class is needed for them; those that classes explain stay with the classes."""
        domain, seen = juror.Domain.from_cardinalities([2] * 4 + [9]), np.zeros(5)
        for seed in range(8):
            rng = np.random.default_rng(seed)
            group = rng.integers(0, 2, 600)
            near = np.where(rng.random((600, 4)) < 0.1, 1 - group[:, None], group[:, None])
            codes = np.column_stack([near, rng.integers(0, 9, 600)])
            table = MemoryTable(WeightedRows.of(codes), domain, LocalRunner(1))
            sampler = ForestSampler(table, 4, rng, sparse=True)
            for sweep in range(300):
                sampler.sweep()
                if sweep >= 100:
                    seen[list(sampler.edges.alike)] += 1 / 200 / 8
        # Single chains have a share between 0 and 1.
        assert seen[4] > 0.3
        assert seen[:4].max() < 0.1

    def test_rows_that_stand_for_too_many_are_sampled_without(self):
        codes = np.array([[0, -1], [1, 1], [0, 0]])
        model = juror.fit(codes, 2, "bayes", sample_weight=[1e6, 1.0, 1.0], **SHORT)
        assert model.info.stopped.endswith("without forests, as there are too many rows with missing cells")


def test_every_row_keeps_its_own_class():
    """Rows along a forest and rows as they were read must have the same order."""
    rng = np.random.default_rng(0)
    group, other = rng.integers(0, 2, (2, 600))
    # Four columns tell the class, noise aside, and a pair of columns repeats each other.
    near = np.where(rng.random((600, 4)) < 0.05, 1 - group[:, None], group[:, None])
    codes = np.column_stack([near, other * 3 + rng.integers(0, 3, 600), other])
    domain = juror.Domain.from_cardinalities([2, 2, 2, 2, 6, 2])
    rows = WeightedRows(codes, np.ones(600), np.ones(600, dtype=np.int64))
    sampler = ForestSampler(MemoryTable(rows, domain, LocalRunner(1)), 2, rng, sparse=False)
    edges = Edges(Forest((-1, -1, -1, -1, -1, 4)), np.zeros(6, dtype=np.int64), 1.0, Edges.none(6).phi)
    sampler.edges, sampler.stacking = edges, Stacking(domain.cardinalities, edges.forest)
    sampler._rows = sampler._table.along(edges.forest)
    lam, stack = np.full(2, 0.5), np.ones((sampler.stacking.n_rows, 2))
    for n in range(4):
        stack[sampler.stacking.rows(n)] = [[0.95, 0.05], [0.05, 0.95]]
    sampler.point = Parameters(lam, sampler.stacking.normalise(stack, stack), edges.forest)
    drawn = sampler._completed()
    assert np.mean(drawn.classes == (drawn.codes[:, :4].mean(axis=1) > 0.5)) > 0.95
