"""The strongest forest of pair counts, and the tree in closed form."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juror
from juror import Domain, PairCounts, Projections
from juror.errors import ParameterError
from juror.solvers.chow_liu import edge_counts, edge_gains, gain_left_out, perturbed, strongest_forest


def chain_codes(n_rows: int, sizes: tuple[int, ...], seed: int, missing: float = 0.0) -> np.ndarray:
    """Draw rows in which every variable mostly repeats the one before."""
    rng = np.random.default_rng(seed)
    codes = np.empty((n_rows, len(sizes)), dtype=int)
    codes[:, 0] = rng.integers(0, sizes[0], n_rows)
    for n in range(1, len(sizes)):
        fresh = rng.random(n_rows) < 0.4
        codes[:, n] = np.where(fresh, rng.integers(0, sizes[n], n_rows), codes[:, n - 1] % sizes[n])
    codes[rng.random(codes.shape) < missing] = -1
    return codes


SIZES = (3, 4, 2, 3, 4)
CODES = chain_codes(500, SIZES, 0, missing=0.2)
DOMAIN = Domain.from_cardinalities(SIZES)
COUNTS = PairCounts.of_codes(CODES, DOMAIN)


def plain_gain(pairs: np.ndarray) -> float:
    """Give what an edge between two columns gains, by leaving out one row after the other."""
    gains = []
    for parent, child in (pairs.T, pairs.T[::-1]):
        shown = len(set(child))
        for row in range(len(pairs)):
            others = np.arange(len(pairs)) != row
            once = (np.sum(child[others] == child[row]) + 0.1) / (others.sum() + 0.1 * shown)
            alike = others & (parent == parent[row])
            both = np.sum(child[alike] == child[row]) + 0.1 * shown * once
            gains.append(np.log(both / (alike.sum() + 0.1 * shown) / once))
    return float(np.mean(gains))


class TestEdgeGains:
    def test_rows_are_left_out_one_after_the_other(self):
        found = edge_gains(COUNTS)
        for j, k in combinations(range(len(SIZES)), 2):
            both = CODES[(CODES[:, j] >= 0) & (CODES[:, k] >= 0)][:, [j, k]]
            assert found[j, k] == found[k, j] == pytest.approx(plain_gain(both), abs=1e-12)
        assert np.all(np.diag(found) == 0)

    def test_chance_alone_gains_nothing(self):
        rng = np.random.default_rng(1)
        tables = np.stack([np.histogram2d(*rng.integers(0, 4, (2, 1000)), bins=4)[0] for _ in range(400)])
        assert np.mean(gain_left_out(tables) < 0) > 0.95

    def test_labels_that_few_rows_have_count_for_what_they_tell(self):
        rng = np.random.default_rng(2)
        first = rng.integers(0, 150, 1500)
        noise = rng.integers(0, 150, 1500)
        mostly = np.where(rng.random(1500) < 0.95, first, noise)
        of_coin = (first + rng.integers(0, 2, 1500)) % 150 // 75
        counts = PairCounts.of_codes(
            np.stack([first, mostly, of_coin, noise], axis=1), Domain.from_cardinalities([150, 150, 2, 150])
        )
        found = edge_gains(counts)
        assert found[0, 1] > 3
        assert 0.5 < found[0, 2] < np.log(2)
        assert np.all(found[3, :3] < 0)

    def test_no_rows_and_unseen_labels(self):
        assert gain_left_out(np.zeros((1, 2, 3))).tolist() == [0.0]
        table = np.array([[[30.0, 5.0], [4.0, 20.0]]])
        padded = np.pad(table, ((0, 0), (0, 3), (0, 2)))
        assert gain_left_out(padded) == pytest.approx(gain_left_out(table))

    def test_noise_is_symmetric_and_none_changes_nothing(self):
        found = edge_gains(COUNTS)
        other = perturbed(found, 0.3, np.random.default_rng(0))
        np.testing.assert_array_equal(other, other.T)
        assert np.array_equal(np.sign(other), np.sign(found))
        np.testing.assert_array_equal(perturbed(found, 0.0, np.random.default_rng(0)), found)


def all_forests(n: int):
    """Give every set of edges without a cycle."""
    pairs = list(combinations(range(n), 2))
    for chosen in product((False, True), repeat=len(pairs)):
        edges = [pair for pair, taken in zip(pairs, chosen, strict=True) if taken]
        groups = [{node} for node in range(n)]
        for a, b in edges:
            one, other = (next(group for group in groups if node in group) for node in (a, b))
            if one is other:
                break
            groups = [group for group in groups if group not in (one, other)] + [one | other]
        else:
            yield edges


def away_from_first(n, edges):
    """Return the parents of nodes if edges point away from the first node of each tree."""
    parents = {}
    for root in range(n):
        ahead = [] if root in parents else [(root, -1)]
        for node, parent in ahead:
            parents[node] = parent
            ahead += [(sum(edge) - node, node) for edge in edges if node in edge and sum(edge) - node not in parents]
    return tuple(parents[n] for n in sorted(parents))


class TestStrongestForest:
    @given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=10, max_size=10))
    def test_no_forest_has_a_larger_sum(self, strengths):
        matrix = np.zeros((5, 5))
        matrix[np.triu_indices(5, 1)] = strengths
        matrix += matrix.T
        forest = strongest_forest(matrix)
        best = max(sum(matrix[edge] for edge in edges) for edges in all_forests(5))
        assert sum(matrix[edge] for edge in forest.edges) == pytest.approx(best)
        assert all(matrix[edge] > 0 for edge in forest.edges)
        assert away_from_first(5, forest.edges) == forest.parents

    def test_equal_edges_are_taken_in_order(self):
        assert strongest_forest(np.ones((4, 4)) - np.eye(4)).parents == (-1, 0, 0, 0)

    def test_independent_variables_have_no_edges_most_of_the_time(self):
        rng = np.random.default_rng(0)
        n_edges = [
            len(strongest_forest(edge_gains(PairCounts.of_codes(rng.integers(0, 3, (2000, 2)), DOMAIN_OF_TWO))).edges)
            for _ in range(100)
        ]
        # Leaving rows out gains if chi-square of four degrees is above eight, in one of eleven cases.
        assert np.mean(n_edges) < 0.25


DOMAIN_OF_TWO = Domain.from_cardinalities([3, 3])


class TestTree:
    def test_edges_hold_their_pair_exactly_without_smoothing(self):
        model = juror.fit(COUNTS, method="tree", smoothing=0.0)
        (block,) = model.blocks
        assert model.rank == 1
        assert block.forest == strongest_forest(edge_gains(COUNTS))
        for (parent, child), counted in edge_counts(COUNTS, block.forest.edges).items():
            rows = counted.sum(axis=1, keepdims=True)
            np.testing.assert_allclose(block.tables[child][:, :, 0], counted / rows, rtol=1e-12)
            assert counted.shape == (SIZES[parent], SIZES[child])

    def test_it_is_the_best_tree_there_is(self):
        codes = chain_codes(300, (2, 3, 2, 2), 3)
        counts = PairCounts.of_codes(codes, Domain.from_cardinalities((2, 3, 2, 2)))
        model = juror.fit(counts, method="tree", smoothing=0.0)

        def log_likelihood(edges: list[tuple[int, int]]) -> float:
            total = 0.0
            for n, parent in enumerate(away_from_first(4, edges)):
                above = np.zeros(len(codes), dtype=int) if parent < 0 else codes[:, parent]
                table = np.zeros((3, 3))
                np.add.at(table, (above, codes[:, n]), 1)
                total += np.log(table[above, codes[:, n]] / table[above].sum(axis=1)).sum()
            return total

        whole = [edges for edges in all_forests(4) if len(edges) == len(model.blocks[0].forest.edges)]
        assert model.log_prob(codes).sum() == pytest.approx(max(map(log_likelihood, whole)))

    @pytest.mark.parametrize("missing", [0.0, 0.3])
    def test_rows_counts_and_projections_give_the_same(self, missing):
        codes = chain_codes(400, SIZES, 1, missing)
        counts = PairCounts.of_codes(codes, DOMAIN)
        models = [
            juror.fit(data, method="tree", **more)
            for data, more in (
                (codes, {"domain": DOMAIN}),
                (counts, {}),
                (Projections.of(codes, domain=DOMAIN), {}),
                (sum(PairCounts.of_codes(part, DOMAIN) for part in np.array_split(codes, 3)), {}),
            )
        ]
        for other in models[1:]:
            assert other.blocks[0].forest == models[0].blocks[0].forest
            for one, two in zip(models[0].blocks[0].tables, other.blocks[0].tables, strict=True):
                np.testing.assert_allclose(one, two, atol=1e-9)

    def test_the_summary_says_how_it_was_found(self):
        summary = juror.fit(COUNTS, method="tree").summary()
        assert "smoothing 0.1; 1 step; counted along the edges, in closed form\n" in summary

    def test_smoothing_draws_to_the_marginal(self):
        model = juror.fit(COUNTS, method="tree", smoothing=1e9)
        for n, table in enumerate(model.blocks[0].tables):
            seen = CODES[CODES[:, n] >= 0, n]
            share = np.bincount(seen, minlength=SIZES[n]) / len(seen)
            np.testing.assert_allclose(table[:, :, 0], np.broadcast_to(share, table.shape[:2]), atol=0.02)

    def test_variables_that_no_row_shows_together_have_no_edge(self):
        codes = chain_codes(200, (2, 2, 2), 0)
        codes[:100, 0], codes[100:, 2] = -1, -1
        model = juror.fit(PairCounts.of_codes(codes, Domain.from_cardinalities([2, 2, 2])), method="tree")
        assert set(map(frozenset, model.blocks[0].forest.edges)) <= {frozenset((0, 1)), frozenset((1, 2))}
        assert model.prob({"x0": 0}) + model.prob({"x0": 1}) == pytest.approx(1.0)

    def test_one_variable_and_one_label(self):
        model = juror.fit(np.array([[0], [1], [1], [-1]]), method="tree", smoothing=0.0)
        assert model.factors[0][:, 0].tolist() == pytest.approx([1 / 3, 2 / 3])
        model = juror.fit(np.array([[0, 0], [0, 1], [0, 1]]), method="tree", domain=Domain.from_cardinalities([1, 2]))
        assert not model.blocks[0].forest.has_edges

    @pytest.mark.parametrize("rank", [2, 7])
    def test_other_ranks_are_refused(self, rank):
        with pytest.raises(ParameterError, match=r"method 'tree' has one class, so rank must be 1 or 'auto'\. Got"):
            juror.fit(COUNTS, rank, "tree")
        assert juror.fit(COUNTS, 1, "tree").rank == 1
