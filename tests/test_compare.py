"""The papers' error measures against their definitions: all permutations, and the dense tensor."""

from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juror import Domain, FitInfo, JointPMF, Variable, compare
from juror.answers import marginals
from juror.compare import align, factor_mse, tensor_error
from juror.errors import ModelError, ParameterError
from juror.testing import dense, random_model

quick = settings(max_examples=40, deadline=None)


@st.composite
def pairs_of_models(draw, same_rank=True):
    cardinalities = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    zeros = draw(st.sampled_from([0.0, 0.5]))
    rank = draw(st.integers(1, 4))
    other = rank if same_rank else draw(st.integers(1, 4))
    return tuple(random_model(cardinalities, r, rng, zeros=zeros) for r in (rank, other))


def permuted(model, order):
    order = list(order)
    return JointPMF(model.weights[order], [factor[:, order] for factor in model.factors], model.domain, model.info)


def errors_of_all_orders(true, est):
    """Return the factor term and the weight term of every common permutation, by the printed formula."""
    terms = []
    for order in permutations(range(true.rank)):
        moved = permuted(est, order)
        squares = [np.linalg.norm(b - a) ** 2 for a, b in zip(true.factors, moved.factors, strict=True)]
        terms.append((sum(squares) / len(squares), np.linalg.norm(moved.weights - true.weights) ** 2))
    return terms


def relative_error_of_tensors(true, est):
    return np.sum((dense(est) - dense(true)) ** 2) / np.sum(dense(true) ** 2)


def assert_close(actual, expected, rtol=1e-9, atol=1e-12):
    assert isinstance(actual, float)
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("wrong", [0.5 + 1e-6, -0.5, np.nan, np.inf, np.float32(0.5)])
def test_assert_close_rejects_wrong_answers(wrong):
    with pytest.raises(AssertionError):
        assert_close(wrong, 0.5)


# The error of the factors


@quick
@given(pairs_of_models())
def test_factor_mse_is_the_printed_formula_at_the_best_permutation(models):
    true, est = models
    # columns may be equal, and then the weights decide; rounding must not
    factor_term, weight_term = min(errors_of_all_orders(true, est), key=lambda terms: (round(terms[0], 12), terms[1]))
    assert_close(factor_mse(true, est), factor_term + weight_term)
    assert_close(factor_mse(true, est, per_component=True), factor_term / true.rank + weight_term)


@quick
@given(pairs_of_models(), st.randoms(use_true_random=False))
def test_the_order_of_components_does_not_matter(models, random):
    true, est = models
    order = random.sample(range(true.rank), true.rank)
    assert_close(factor_mse(true, permuted(est, order)), factor_mse(true, est))
    assert_close(factor_mse(permuted(true, order), est), factor_mse(true, est))
    assert factor_mse(true, permuted(true, order)) == 0.0


@pytest.mark.parametrize("nearly", [1e-7, 1e-9, 1e-12])
def test_columns_that_are_nearly_equal_are_not_confused(nearly):
    apart = np.array([[0.3, 0.3 + nearly], [0.7, 0.7 - nearly]])
    model = JointPMF([0.4999, 0.5001], [apart, apart[::-1], apart])
    for order in ([0, 1], [1, 0]):
        assert factor_mse(model, permuted(model, order)) == 0.0


def test_all_factors_share_one_permutation():
    swapped_in_one = [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]]
    true = JointPMF([0.5, 0.5], [swapped_in_one[0], [[0.0, 1.0], [1.0, 0.0]]])
    est = JointPMF([0.5, 0.5], swapped_in_one)
    # each factor by itself could be matched without any error
    assert_close(factor_mse(true, est), 2.0)


def test_equal_columns_are_told_apart_by_their_weights():
    true = JointPMF([0.9, 0.1], [[[0.5, 0.5], [0.5, 0.5]]])
    assert factor_mse(true, JointPMF([0.1, 0.9], true.factors)) == 0.0


def test_an_estimate_of_lower_rank_is_filled_up_with_its_marginals():
    true = JointPMF([0.5, 0.5], [[[1.0, 0.0], [0.0, 1.0]]])
    est = JointPMF([1.0], [[[0.75], [0.25]]])
    # columns (¾, ¼) twice: ⅛ from the first true column and 9/8 from the second; weights (1, 0) against (½, ½)
    assert_close(factor_mse(true, est), 1 / 8 + 9 / 8 + 1 / 2)
    assert_close(factor_mse(true, est, per_component=True), (1 / 8 + 9 / 8) / 2 + 1 / 2)


def test_the_marginals_that_fill_up_are_weighted():
    rng = np.random.default_rng(1)
    true, est = random_model((3, 4), 4, rng), random_model((3, 4), 2, rng)
    aligned = align(true, est)
    for n, factor in enumerate(aligned.factors):
        for column in factor.T[aligned.weights == 0]:
            np.testing.assert_allclose(column, est.marginal(est.domain.names[n]).to_numpy(), atol=1e-12)


def test_align_gives_the_same_distribution_in_the_true_order():
    rng = np.random.default_rng(2)
    info = FitInfo("em", 3, 10.0, 8, -20.0, 9, 0.1, 0, (-21.0,), (-30.0, -21.0), "converged", 7, target="b")
    domain = Domain((Variable("a", ("x", "y", "z")), Variable("b", (0, 1, 2, 3), "ordinal")))
    true = random_model((3, 4), 5, rng)
    est = JointPMF(true.weights[[4, 0, 2]] / true.weights[[4, 0, 2]].sum(), [f[:, [4, 0, 2]] for f in true.factors])
    est = JointPMF(est.weights, est.factors, domain, info)
    aligned = align(true, est)
    assert aligned.rank == 5
    assert (aligned.domain, aligned.info) == (domain, info)
    for ours, theirs in zip(aligned.factors, true.factors, strict=True):
        np.testing.assert_array_equal(ours[:, [4, 0, 2]], theirs[:, [4, 0, 2]])
    np.testing.assert_array_equal(aligned.weights == 0, [False, True, False, True, False])
    np.testing.assert_allclose(dense(aligned), dense(est), atol=1e-15)


def test_align_keeps_what_the_estimate_is_conditioned_on():
    rng = np.random.default_rng(4)
    est = random_model((3, 4, 2), 2, rng).condition("x2 = 1")
    aligned = align(random_model((3, 4), 3, rng), est)
    assert str(aligned.conditions) == str(est.conditions) == "x2 = 1"


def test_anything_with_weights_and_factors_can_be_compared():
    rng = np.random.default_rng(3)
    true, est = random_model((2, 3), 2, rng), random_model((2, 3), 2, rng)
    bare = [SimpleNamespace(weights=list(m.weights), factors=[f.tolist() for f in m.factors]) for m in (true, est)]
    assert factor_mse(*bare) == factor_mse(true, est)
    assert tensor_error(*bare) == tensor_error(true, est)


# The error of the tensor


@pytest.fixture
def only_kernels(monkeypatch):
    """Take the way of large tensors, in blocks of a few components."""
    monkeypatch.setattr(compare, "_DENSE_CELLS", 0)
    monkeypatch.setattr(compare, "_NUMBERS_AT_ONCE", 7)


@quick
@given(pairs_of_models(same_rank=False))
def test_tensor_error_is_that_of_the_dense_tensors(models):
    assert_close(tensor_error(*models), relative_error_of_tensors(*models))


@pytest.mark.parametrize("seed", range(6))
def test_blocks_of_components_change_nothing(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    true, est = random_model((3, 2, 4), 5, rng), random_model((3, 2, 4), 9, rng)
    monkeypatch.setattr(marginals, "_NUMBERS_AT_ONCE", 60)
    assert_close(tensor_error(true, est), relative_error_of_tensors(true, est))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ranks", [(1, 1), (5, 9), (20, 3)])
def test_the_way_of_large_tensors_agrees_with_the_dense_one(only_kernels, ranks, seed):
    rng = np.random.default_rng(seed)
    true, est = (random_model((3, 1, 4, 2), rank, rng, zeros=0.3) for rank in ranks)
    assert_close(tensor_error(true, est), relative_error_of_tensors(true, est))


def test_a_permutation_of_a_small_tensor_is_equal_to_rounding():
    model = random_model((20, 30, 40), 12, np.random.default_rng(4))
    assert 0 <= tensor_error(model, permuted(model, range(11, -1, -1))) < 1e-28


@pytest.mark.parametrize("change", [1e-3, 1e-6, 1e-9])
def test_tiny_errors_of_small_tensors_are_accurate(change):
    rng = np.random.default_rng(5)
    model = random_model((20, 30, 40), 1, rng)
    towards = random_model((20, 30, 40), 1, rng)
    first = (1 - change) * model.factors[0] + change * towards.factors[0]
    moved = JointPMF([1.0], [first, *model.factors[1:]])
    # of rank one, so the error is that of the one factor
    expected = np.sum((first - model.factors[0]) ** 2) / np.sum(model.factors[0] ** 2)
    assert_close(tensor_error(model, moved), expected, rtol=1e-5, atol=0)


@quick
@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_rounding_never_makes_the_error_negative(seed, rank):
    model = random_model((30, 20, 10, 200), rank, np.random.default_rng(seed))
    assert 0 <= tensor_error(model, permuted(model, range(rank - 1, -1, -1))) < 1e-13


def test_ranks_of_thousands_and_a_component_written_twice():
    rng = np.random.default_rng(6)
    model = random_model((8, 9, 10, 11, 12, 13), 1500, rng)
    twice = JointPMF(np.tile(model.weights / 2, 2), [np.tile(factor, 2) for factor in model.factors])
    assert tensor_error(model, twice) < 1e-13
    other = random_model((8, 9, 10, 11, 12, 13), 3, rng)
    assert tensor_error(model, other) > 1e-3


def test_hundreds_of_variables_do_not_underflow():
    first = JointPMF([1.0], [[[0.5], [0.5]]] * 1100)
    near = JointPMF([1.0], [[[0.5], [0.5]]] * 1099 + [[[0.75], [0.25]]])
    assert_close(tensor_error(first, near), 0.25)
    # ‖Ẑ‖² = 1 against ‖Z‖² = 2⁻¹¹⁰⁰: more than any float, and the other way round nothing
    point = JointPMF([1.0], [[[1.0], [0.0]]] * 1100)
    assert tensor_error(first, point) == np.inf
    assert tensor_error(point, first) == 1.0


# What is refused


def test_more_components_than_the_truth_are_refused():
    rng = np.random.default_rng(7)
    true, est = random_model((2, 3), 2, rng), random_model((2, 3), 5, rng)
    sentence = (
        "The estimate has 5 components and the true model 2, so they cannot be matched one to one. Fit with a rank of "
        "at most 2, or use tensor_error, which takes any ranks."
    )
    for measure in (factor_mse, align):
        with pytest.raises(ParameterError) as raised:
            measure(true, est)
        assert str(raised.value) == sentence
    assert tensor_error(true, est) > 0


@pytest.mark.parametrize("measure", [factor_mse, align, tensor_error])
@pytest.mark.parametrize("shape", [(3, 2), (2,), (2, 3, 1)])
def test_other_cardinalities_are_refused(measure, shape):
    rng = np.random.default_rng(8)
    with pytest.raises(ParameterError) as raised:
        measure(random_model((2, 3), 2, rng), random_model(shape, 2, rng))
    assert str(raised.value) == (
        f"The true model has cardinalities [2, 3] and the estimate {list(shape)}; both must be over the same "
        "variables. Pass the true model's domain to the fit."
    )


def test_what_is_not_a_distribution_is_refused():
    model = random_model((2, 3), 2, np.random.default_rng(9))
    for measure in (factor_mse, tensor_error):
        with pytest.raises(ModelError, match="Factor 0 must sum to one"):
            measure(model, SimpleNamespace(weights=[0.5, 0.5], factors=[np.ones((2, 2)), model.factors[1]]))
