"""Which differences between a model and its rows missing cells explain, against the dense tensor and known truths."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import juror
from juror.answers.checking import check
from juror.counts.counts import PairCounts
from juror.fitting.contradictions import hold_against_rows
from juror.fitting.filled_share import expected_share, filled_share
from juror.record import FitRecord
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.runners.local import LocalRunner
from juror.testing import dense, random_forest_model, random_model


def verdict_of(model, codes):
    """Return what a fit would say of a model and its rows."""
    with LocalRunner(1) as runner:
        table = MemoryTable(WeightedRows.of(codes), model.domain, runner)
        return hold_against_rows(model, table, PairCounts.of_rows(table), FitRecord(), runner)


def by_hand(model, finding, codes):
    """Return the share of the target among the rows that meet the condition, filled in with the dense tensor."""
    tensor, hits, met = dense(model), 0.0, 0.0
    for row in codes:
        cells = [range(size) if code < 0 else [code] for code, size in zip(row, tensor.shape, strict=True)]
        total = sum(tensor[whole] for whole in product(*cells))
        for whole in product(*cells):
            if finding.condition.low <= whole[finding.condition.variable] < finding.condition.high:
                met += tensor[whole] / total
                if finding.target.low <= whole[finding.target.variable] < finding.target.high:
                    hits += tensor[whole] / total
    return hits / met


@pytest.mark.parametrize("seed", range(4))
def test_a_filled_share_is_that_of_the_dense_tensor(seed):
    rng = np.random.default_rng(seed)
    model = random_forest_model([3, 4, 2, 3], [2, 3], rng) if seed % 2 else random_model([3, 4, 2, 3], 3, rng)
    codes = np.where(rng.random((150, 4)) < 0.25, -1, rng.integers(0, [3, 4, 2, 3], (150, 4)))
    for finding in list(check(model, PairCounts.of_codes(codes, model.domain)).findings())[:8]:
        found = filled_share(model, finding, WeightedRows.of(codes))
        assert found.share == pytest.approx(by_hand(model, finding, codes), abs=1e-9)
        assert found.rows > finding.rows


def test_some_of_many_rows_are_nearly_as_good():
    rng = np.random.default_rng(0)
    model = random_model([3, 4, 2, 3, 40, 40], 3, rng)
    codes = model.domain.encode(model.sample(12_000, seed=0))
    codes = np.where((rng.random(codes.shape) < 0.3) & (np.arange(6) < 4), -1, codes)
    rows = WeightedRows.of(codes)
    finding = next(check(model, PairCounts.of_codes(codes, model.domain)).findings())
    n = np.sum(codes[:, finding.condition.variable] == finding.condition.low) / 0.7
    found = filled_share(model, finding, rows)
    assert abs(found.share - finding.probability) < 4 * np.sqrt(0.25 / found.rows)
    assert found.rows < n


def two_copies(holes, n=4000, seed=0):
    """Return rows of c, t and z, which agree mostly, and a model that knows z = t, but nothing of c."""
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 2, n)
    t = np.where(rng.random(n) < 0.95, c, 1 - c)
    codes = np.column_stack([c, t, t])
    model = juror.JointPMF([0.5, 0.5], [np.full((2, 2), 0.5), np.eye(2), np.eye(2)])
    lost = rng.random((n, 3)) < holes
    return np.where(lost, -1, codes), model


@pytest.mark.parametrize("holes", [(0, 0, 0), (0, 0.08, 0), (0.08, 0, 0), (0.08, 0.08, 0.08), (0.3, 0.3, 0.3)])
def test_what_rows_contradict_is_named_with_and_without_missing_cells(holes):
    """A third column tells the target, so that every row is predicted well, and the answer is wrong all the same."""
    codes, model = two_copies(holes)
    worst = verdict_of(model, codes).findings
    assert any({finding.target.variable, finding.condition.variable} == {0, 1} for finding in worst)
    assert all(finding.probability == pytest.approx(0.5) and abs(finding.share - 0.5) > 0.4 for finding in worst)


def third_column(n, rng):
    """Return rows in which a equals z where b is 1 and is the opposite where b is 0, mostly, and their true model."""
    z, b = rng.integers(0, 2, (2, n))
    a = np.where(rng.random(n) < 0.95, np.where(b == 1, z, 1 - z), 1 - np.where(b == 1, z, 1 - z))
    classes = list(product([0, 1], [0, 1]))
    of_a = np.array([[0.95, 0.05] if (zz if bb else 1 - zz) == 0 else [0.05, 0.95] for bb, zz in classes]).T
    indicators = [np.array([[float(each[k] == label) for each in classes] for label in (0, 1)]) for k in (0, 1)]
    return np.column_stack([a, b, z]), juror.JointPMF(np.full(4, 0.25), [of_a, *indicators])


# Which of the cells of a and b are missing where z is 1
@pytest.mark.parametrize("lost", [[0], [1], [0, 1]])
@pytest.mark.parametrize("seed", range(3))
def test_cells_that_are_missing_by_a_third_column_are_no_contradiction(lost, seed):
    rng = np.random.default_rng(seed)
    codes, model = third_column(6000, rng)
    gone = rng.random(6000) < np.where(codes[:, 2] == 1, 0.9, 0.05)
    for n in lost:
        codes[gone, n] = -1
    assert check(model, PairCounts.of_codes(codes, model.domain)).is_off.any()
    assert verdict_of(model, codes).worst() == ""


def test_what_is_expected_of_the_rows_that_have_both_cells_is_that_of_the_dense_tensor():
    rng = np.random.default_rng(5)
    model = random_model([3, 4, 2], 3, rng)
    codes = np.where(rng.random((200, 3)) < 0.25, -1, rng.integers(0, [3, 4, 2], (200, 3)))
    for finding in list(check(model, PairCounts.of_codes(codes, model.domain)).findings())[:6]:
        target, given = codes[:, finding.target.variable], codes[:, finding.condition.variable]
        here = codes[(target >= 0) & (given == finding.condition.low)]
        here[:, finding.target.variable] = -1
        expected = expected_share(model, finding, WeightedRows.of(codes))
        assert expected.share == pytest.approx(by_hand(model, finding, here), abs=1e-9)
        assert expected.rows == len(here)


def test_an_answer_that_only_looks_right_after_the_model_has_filled_the_cells_is_named():
    """Half of the targets are missing; they are filled wrongly, and the rows behind the share are not explained."""
    rng = np.random.default_rng(0)
    c = rng.integers(0, 2, 2000)
    t = np.where(rng.random(2000) < np.where(c == 1, 0.62, 0.38), 1, 0)
    codes = np.column_stack([np.where(rng.random(2000) < 0.2, -1, each) for each in (c, t)])
    model = juror.JointPMF([1.0], [[[0.5], [0.5]], [[0.5], [0.5]]])
    finding = next(check(model, PairCounts.of_codes(codes, model.domain)).off().findings())
    assert abs(filled_share(model, finding, WeightedRows.of(codes)).share - 0.5) < 0.1 < abs(finding.share - 0.5)
    assert verdict_of(model, codes).findings
