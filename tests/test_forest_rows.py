"""Rows with missing cells along forests: every pass equals the enumeration of the missing cells."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juror.domain import Domain
from juror.kernels import jit, reference
from juror.rows.distinct import WeightedRows
from juror.rows.expected import ExpectedCounts, log_prob_of_cells
from juror.rows.forest import Forest
from juror.rows.in_memory import MemoryTable
from juror.rows.packed import PackedRows
from juror.rows.packing import PackedCells
from juror.rows.regions import find_regions
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner

examples = settings(deadline=None, max_examples=40)


class Case:
    """Random tables along a random forest, and random rows with missing cells."""

    def __init__(self, seed, n_nodes=5, rank=3, n_rows=40, missing=0.4, zeros=0.0, most_labels=4, parents=None):
        rng = np.random.default_rng(seed)
        order = rng.permutation(n_nodes)
        if parents is None:
            parents = np.full(n_nodes, -1)
            for place in range(1, n_nodes):
                parents[order[place]] = order[rng.integers(place)] if rng.random() < 0.85 else -1
        self.forest = Forest(tuple(int(parent) for parent in parents))
        self.sizes = tuple(int(size) for size in rng.integers(1, most_labels + 1, n_nodes))
        self.stacking = Stacking(self.sizes, self.forest)
        self.lam = rng.dirichlet(np.ones(rank))
        self.tables = []
        for node, parent in enumerate(self.forest.parents):
            height = 1 if parent < 0 else self.sizes[parent]
            table = np.moveaxis(rng.dirichlet(np.ones(self.sizes[node]), size=(height, rank)), 2, 1)
            gone = rng.random(table.shape) < zeros
            gone &= table < table.max(axis=1, keepdims=True)
            table = np.where(gone, 0.0, table)
            self.tables.append(table / table.sum(axis=1, keepdims=True))
        self.stack = self.stacking.stack(self.tables)
        self.codes = np.column_stack([rng.integers(0, size, n_rows) for size in self.sizes]).astype(np.int32)
        self.codes[rng.random(self.codes.shape) < missing] = -1
        self.weights = rng.integers(1, 5, n_rows) * 0.5

    def enumerated(self):
        """Return ℓ (rows,), class counts (F,) and joint counts (stacked rows, F), cell by missing cell."""
        logs, classes, cells = [], np.zeros(len(self.lam)), np.zeros_like(self.stack)
        for row, weight in zip(self.codes, self.weights, strict=True):
            needed = self.needed(row)
            options = [[x] if x >= 0 else range(size) for x, size in zip(row, self.sizes, strict=True)]
            whole, parts = np.zeros(len(self.lam)), []
            for full in itertools.product(*options):
                joint = self.lam.copy()
                for node, parent in enumerate(self.forest.parents):
                    joint = joint * self.tables[node][full[parent] if parent >= 0 else 0, full[node]]
                whole += joint
                parts.append((full, joint))
            total = whole.sum()
            logs.append(np.log(total) if total > 0 else -np.inf)
            if total == 0:
                continue
            classes += weight * whole / total
            for full, joint in parts:
                for node, parent in enumerate(self.forest.parents):
                    if needed[node]:
                        above = full[parent] * self.sizes[node] if parent >= 0 else 0
                        cells[self.stacking.starts[node] + above + full[node]] += weight * joint / total
        return np.array(logs), classes, cells

    def needed(self, row):
        """Whether each node is observed or has an observed descendant; a parent of such a node counts too."""
        needed = row >= 0
        for node in reversed(self.forest.order):
            for child in self.forest.children[node]:
                needed[node] |= needed[child]
        return needed


cases = st.builds(
    Case,
    st.integers(0, 2**32 - 1),
    n_nodes=st.integers(1, 6),
    rank=st.sampled_from([1, 3, 9]),
    n_rows=st.sampled_from([1, 30]),
    missing=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    zeros=st.sampled_from([0.0, 0.3]),
    most_labels=st.integers(1, 4),
)


def passes(case, cells):
    with LocalRunner(1) as runner:
        logs = log_prob_of_cells(cells, case.lam, case.stack, runner)
        counts = ExpectedCounts.of(cells, case.weights, case.lam, case.stack, runner)
    return logs, counts


def assert_enumerated(case, cells):
    logs, counts = passes(case, cells)
    true_logs, classes, true_cells = case.enumerated()
    np.testing.assert_allclose(logs, true_logs, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(counts.log_likelihood, case.weights @ true_logs, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(counts.classes, classes, rtol=1e-10, atol=1e-10)
    own = np.ones(len(case.stack), dtype=bool)
    own[case.stacking.missing_rows] = False
    np.testing.assert_allclose(counts.cells[own], true_cells[own], rtol=1e-10, atol=1e-10)


@examples
@given(case=cases)
def test_a_pass_equals_the_enumeration_of_missing_cells(case):
    assert_enumerated(case, PackedCells.plain(case.codes, case.stacking))


def test_a_wrong_pass_would_be_found():
    case = Case(3)
    cells = PackedCells.plain(case.codes, case.stacking)
    assert_enumerated(case, cells)
    case.codes = case.codes[::-1]
    with pytest.raises(AssertionError):
        assert_enumerated(case, cells)


@examples
@given(case=cases)
def test_the_twins_agree(case):
    _, regions = find_regions(case.codes, case.stacking)
    if regions is None:
        return
    values, logs = jit.messages(case.stack, regions.states)
    true_values, true_logs = reference.messages(case.stack, regions.states)
    np.testing.assert_allclose(values, true_values, rtol=1e-12)
    assert logs.shape == true_logs.shape
    counts = np.random.default_rng(0).integers(0, 3, values.shape) * 0.75 * (values > 0)
    arguments = case.stack, regions.states, values, logs
    np.testing.assert_allclose(
        jit.spread_counts(counts, *arguments), reference.spread_counts(counts, *arguments), rtol=1e-10, atol=1e-12
    )
    key = np.uint64(17)
    np.testing.assert_allclose(
        jit.draw_counts(counts, key, *arguments), reference.draw_counts(counts, key, *arguments), atol=1e-12
    )


def star(n_children, seed=0, tilt=1.0):
    """A missing root with many observed children."""
    case = Case(seed, n_children + 1, 3, 6, 0.0, parents=[-1, *[0] * n_children], most_labels=2)
    case.sizes = (2,) * (n_children + 1)
    case.stacking = Stacking(case.sizes, case.forest)
    rng = np.random.default_rng(seed)
    case.tables = [rng.dirichlet(np.ones(2), size=(1, 3)).swapaxes(1, 2)]
    case.tables += [rng.dirichlet(np.ones(2), size=(2, 3)).swapaxes(1, 2) ** tilt for _ in range(n_children)]
    case.stack = case.stacking.stack(case.tables)
    case.codes = rng.integers(0, 2, (6, n_children + 1)).astype(np.int32)
    case.codes[:, 0] = -1
    return case


@pytest.mark.parametrize("tilt", [1.0, 5.0])
def test_hundreds_of_children_of_a_missing_node_do_not_underflow(tilt):
    case = star(400, tilt=tilt)
    cells = PackedCells.plain(case.codes, case.stacking)
    logs, counts = passes(case, cells)
    with np.errstate(divide="ignore"):
        joint = np.log(case.lam) + np.log(case.tables[0][0])
    by_row = []
    for row in case.codes:
        by_row.append(joint + sum(np.log(case.tables[n][:, row[n]]) for n in range(1, 401)))
    tops = np.array([part.max() for part in by_row])
    true_logs = np.array([np.log(np.exp(part - top).sum()) + top for part, top in zip(by_row, tops, strict=True)])
    assert true_logs.min() < -250 * tilt
    np.testing.assert_allclose(logs, true_logs, rtol=1e-10)
    shares = [weight * np.exp(part - log) for weight, part, log in zip(case.weights, by_row, true_logs, strict=True)]
    np.testing.assert_allclose(counts.classes, sum(share.sum(axis=0) for share in shares), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(counts.cells[:2], sum(shares), rtol=1e-8, atol=1e-12)
    first = counts.cells[case.stacking.rows(1)].reshape(2, 2, 3)
    true_first = np.zeros((2, 2, 3))
    for row, share in zip(case.codes, shares, strict=True):
        true_first[:, row[1]] += share
    np.testing.assert_allclose(first, true_first, rtol=1e-8, atol=1e-12)
    _, regions = find_regions(case.codes, case.stacking)
    values, logs = jit.messages(case.stack, regions.states)
    true_values, true_logs = reference.messages(case.stack, regions.states)
    np.testing.assert_allclose(values, true_values, rtol=1e-9)
    np.testing.assert_allclose(logs, true_logs, rtol=1e-12)
