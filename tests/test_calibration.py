"""Calibration against its definition on the dense tensor, and against chance."""

import re
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juror import JointPMF
from juror.answers.calibration import Calibration, calibration
from juror.errors import DataError, ParameterError
from juror.testing import dense, random_codes, random_model

quick = settings(max_examples=40, deadline=None)


def brute_force(model, codes, weights, target, n_bins=10):
    """Compute every number of a calibration pair by pair, from the dense tensor."""
    tensor = dense(model)
    axes = tuple(n for n in range(tensor.ndim) if n != target)
    marginal = tensor.sum(axis=axes)
    sums = {name: np.zeros(n_bins) for name in ("weight", "predicted", "observed", "variance")}
    scores, n_rows, n_impossible = np.zeros(6), 0.0, 0.0
    for row, w in zip(codes, weights, strict=True):
        if row[target] < 0:
            continue
        index = tuple(slice(None) if code < 0 or n == target else slice(code, code + 1) for n, code in enumerate(row))
        p = tensor[index].sum(axis=axes)
        if p.sum() == 0:
            n_impossible += w
            continue
        p = p / p.sum()
        n_rows += w
        is_label = np.arange(len(p)) == row[target]
        for offset, q in ((0, p), (1, marginal)):
            with np.errstate(divide="ignore"):
                loss = -np.log(q[row[target]])
            scores[offset::2] += w * np.array([q.argmax() == row[target], loss, ((q - is_label) ** 2).sum()])
        for b in range(n_bins):
            inside = np.minimum(np.floor(p * n_bins), n_bins - 1) == b
            S = p[inside].sum()
            sums["weight"][b] += w * inside.sum()
            sums["predicted"][b] += w * S
            sums["observed"][b] += w * is_label[inside].sum()
            sums["variance"][b] += w * max(0.0, S * (1 - S))
    some = sums["weight"] > 0
    weight, predicted, observed, variance = (sums[name][some] for name in sums)
    return Calibration(
        model.domain[target].name,
        tuple(predicted / weight),
        tuple(observed / weight),
        tuple(weight),
        tuple(np.sqrt(variance) / weight),
        n_rows,
        n_impossible,
        *(scores / n_rows),
        (weight * abs(observed / weight - predicted / weight)).sum() / weight.sum(),
        sum(min(np.sqrt(2 * v / np.pi), 2 * v) for v in variance) / weight.sum(),
    )


def assert_same(one, other):
    assert one.target == other.target
    for mine, theirs in zip(astuple(one)[1:], astuple(other)[1:], strict=True):
        # the spread of what is nearly sure is the root of a rounding error
        np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-7)


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cardinalities = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    model = random_model(cardinalities, draw(st.integers(1, 4)), rng, zeros=draw(st.sampled_from([0.0, 0.6])))
    # uniform codes, so that some rows are impossible where the model has zeros
    codes = np.column_stack([rng.integers(-1, size, size=30) for size in cardinalities]).astype(np.int8)
    return model, codes, rng.integers(1, 4, size=30).astype(float), int(rng.integers(len(cardinalities)))


@quick
@given(cases())
def test_equals_the_definition(case):
    model, codes, weights, target = case
    try:
        judged = calibration(model, codes, weights, target)
    except DataError:
        assert (codes[:, target] < 0).all() or brute_force_is_empty(*case)
        return
    assert_same(judged, brute_force(*case))


def brute_force_is_empty(model, codes, weights, target):
    others = codes[codes[:, target] >= 0].copy()
    others[:, target] = -1
    return not np.any(model.log_prob(others) > -np.inf)


def test_a_wrong_calibration_would_be_found():
    rng = np.random.default_rng(0)
    model = random_model((2, 3, 3), 3, rng)
    codes = random_codes(model, 50, rng, missing=0.2)
    judged = calibration(model, codes, None, 1)
    other = brute_force(model, codes, np.ones(50), 1)
    assert_same(judged, other)
    for wrong in (brute_force(model, codes[:-1], np.ones(49), 1), brute_force(model, codes, np.ones(50), 1, n_bins=9)):
        with pytest.raises(AssertionError):
            assert_same(judged, wrong)


@quick
@given(cases())
def test_whole_weights_are_repeated_rows(case):
    model, codes, weights, target = case
    try:
        judged = calibration(model, codes, weights, target)
    except DataError:
        return
    assert_same(judged, calibration(model, np.repeat(codes, weights.astype(int), axis=0), None, target))


def test_rows_of_weight_zero_are_not_looked_at():
    model = JointPMF([1.0], [[[1.0], [0.0]], [[0.5], [0.5]]])
    codes = np.array([[0, 0], [1, 0], [0, 1]])
    judged = calibration(model, codes, np.array([1.0, 0.0, 1.0]), 0)
    assert (judged.n_rows, judged.n_impossible, judged.log_loss) == (2.0, 0.0, 0.0)


def test_a_label_that_was_impossible_costs_an_infinite_loss():
    model = JointPMF([1.0], [[[1.0], [0.0]], [[0.5], [0.5]]])
    judged = calibration(model, np.array([[1, 0], [0, 1]]), None, 0)
    assert judged.log_loss == judged.reference_log_loss == np.inf
    assert (judged.accuracy, judged.error, judged.noise) == (0.5, 0.5, 0.0)


def test_impossible_rows_are_left_out_and_counted():
    model = JointPMF([1.0], [[[1.0], [0.0]], [[0.5], [0.5]]])
    judged = calibration(model, np.array([[1, 0], [1, 1], [0, 1]]), np.array([2.0, 0.5, 1.0]), 1)
    assert (judged.n_rows, judged.n_impossible) == (1.0, 2.5)


def predicted_by_classes(rng, n_rows):
    """Return a model whose first variable is predicted well from eight others, and rows drawn from it."""
    model = random_model((3, *[3] * 8), 6, rng, concentration=0.5)
    return model, random_codes(model, n_rows, rng, missing=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_a_true_model_is_off_by_noise_alone(seed):
    model, codes = predicted_by_classes(np.random.default_rng(seed), 1500)
    judged = calibration(model, codes, None, 0)
    assert 0.2 < judged.error / judged.noise < 3.0
    assert judged.accuracy > judged.reference_accuracy
    assert judged.log_loss < judged.reference_log_loss
    assert judged.brier < judged.reference_brier


def test_noise_is_the_mean_error_of_a_true_model():
    rng = np.random.default_rng(1)
    # few rows in many bins and predictions near zero and one: both sides of the minimum
    model = random_model((4, 3, 3, 3), 5, rng, concentration=0.2)
    found = [calibration(model, random_codes(model, 60, rng), None, 0) for _ in range(200)]
    errors, noises = (np.array([getattr(judged, name) for judged in found]) for name in ("error", "noise"))
    assert 0.8 < errors.mean() / noises.mean() < 1.1


@pytest.mark.parametrize("power", [0.3, 3.0], ids=["timid", "bold"])
def test_a_wrong_model_is_off_by_more_than_noise(power):
    model, codes = predicted_by_classes(np.random.default_rng(0), 1500)
    factors = [factor**power / (factor**power).sum(axis=0) for factor in model.factors]
    judged = calibration(JointPMF(model.weights, factors), codes, None, 0)
    assert judged.error > 4 * judged.noise


def test_a_target_that_no_row_shows_is_refused():
    model = random_model((2, 2), 1, np.random.default_rng(0))
    sentence = (
        "No row that is possible under this model shows 'x0', so its predictions cannot be judged. Give rows that do, "
        "or leave the variable out."
    )
    for codes in (np.array([[-1, 0]]), np.empty((0, 2), dtype=np.int8)):
        with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
            calibration(model, codes, None, 0)
    with pytest.raises(ParameterError, match=r"n_bins must be an int in the range \[1, inf\). Got 0 instead."):
        calibration(model, np.array([[0, 0]]), None, 0, n_bins=0)
