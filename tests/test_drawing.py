"""Kernels that draw and fill, against their definition; drawn and filled rows, against the formulas written out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juror import Domain, JointPMF, Variable
from juror.answers import sampling as drawing
from juror.answers.label_frames import Gathered, decode_frame, gather_frame, to_frame
from juror.answers.scores import class_posteriors
from juror.kernels import jit, reference

FRAMES = ["pandas", "polars", "pyarrow"]
CODE_TYPES = [np.int8, np.int16, np.int32, np.int64]
seeds = st.integers(0, 2**32 - 1)


def random_model(rng, rank, sizes, alpha=0.5):
    return JointPMF(rng.dirichlet(np.full(rank, alpha)), [rng.dirichlet(np.full(i, alpha), rank).T for i in sizes])


def torn(rng, codes, share=0.3):
    """Return codes with holes."""
    return np.where(rng.random(codes.shape) < share, -1, codes).astype(codes.dtype)


# The definitions, as they were before there were kernels: what is drawn of a seed must not change


def inverted(probabilities, uniform):
    cumulative = np.cumsum(probabilities, axis=1)
    return (cumulative > (uniform * cumulative[:, -1])[:, None]).argmax(axis=1)


def plain_sample(model, n, rng):
    classes = rng.choice(len(model.weights), size=n, p=model.weights)
    return np.stack([inverted(factor.T[classes], rng.random(n)) for factor in model.factors], axis=1)


def plain_fill_at_random(model, codes, rng):
    filled = codes.copy()
    # as many rows at once as have 2²² class posteriors
    for start in range(0, len(codes), max(1, 2**22 // model.rank)):
        rows = slice(start, min(len(codes), start + max(1, 2**22 // model.rank)))
        R = np.concatenate([R for _, R in class_posteriors(model, codes[rows])])
        classes = inverted(R, rng.random(len(R)))
        for n, factor in enumerate(model.factors):
            drawn = inverted(factor.T[classes], rng.random(len(R)))
            filled[rows, n] = np.where(codes[rows, n] < 0, drawn, codes[rows, n])
    return filled


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(1, 12), st.lists(st.integers(1, 300), min_size=1, max_size=4), st.integers(0, 300))
def test_a_seed_draws_what_it_always_drew(seed, rank, sizes, n):
    rng = np.random.default_rng(seed)
    model = random_model(rng, rank, sizes)
    drawn = drawing.sample(model, n, drawing.generator(seed))
    assert drawn.dtype == model.domain.code_type
    assert drawn.shape == (n, len(sizes))
    np.testing.assert_array_equal(drawn, plain_sample(model, n, drawing.generator(seed)))
    if n:
        holes = torn(rng, drawn)
        filled, _ = drawing.fill_at_random(model, holes, drawing.generator(seed))
        np.testing.assert_array_equal(filled, plain_fill_at_random(model, holes, drawing.generator(seed)))


def test_a_seed_draws_what_it_always_drew_over_several_blocks():
    # 2²² / 4096 rows a block, and random numbers block by block: other blocks would be other draws
    rng = np.random.default_rng(3)
    model = random_model(rng, 4096, (3, 2))
    holes = torn(rng, drawing.sample(model, 2100, rng))
    filled, _ = drawing.fill_at_random(model, holes, drawing.generator(1))
    np.testing.assert_array_equal(filled, plain_fill_at_random(model, holes, drawing.generator(1)))


def test_a_seed_draws_what_it_always_drew_in_many_rows():
    # more rows than random numbers are drawn at once
    model = random_model(np.random.default_rng(4), 3, (5, 4))
    drawn = drawing.sample(model, 70_001, drawing.generator(2))
    np.testing.assert_array_equal(drawn, plain_sample(model, 70_001, drawing.generator(2)))


@settings(deadline=None, max_examples=15)
@given(seeds, st.sampled_from([1, 2, 7, 40]))
def test_the_most_probable_label_is_the_largest_of_the_dense_table(seed, rank):
    rng = np.random.default_rng(seed)
    model = random_model(rng, rank, (3, 2, 4))
    dense = np.einsum("f,af,bf,cf->abc", model.weights, *model.factors)
    holes = torn(rng, drawing.sample(model, 40, rng), 0.5)
    filled = drawing.fill_best(model, holes, None)[0]
    for before, after in zip(holes, filled, strict=True):
        seen = dense[tuple(slice(None) if code < 0 else slice(code, code + 1) for code in before)]
        for n in range(3):
            chances = seen.sum(axis=tuple(m for m in range(3) if m != n))
            if before[n] < 0:
                assert chances[after[n]] >= chances.max() * (1 - 1e-9)
            else:
                assert after[n] == before[n]


def test_rows_given_are_left_as_they_are():
    model = random_model(np.random.default_rng(0), 3, (4, 4))
    for order in "CF":
        codes = np.array([[0, -1], [-1, 3]], dtype=np.int8, order=order)
        drawing.fill_best(model, codes, None)
        drawing.fill_at_random(model, codes, drawing.generator(0))
        assert codes.tolist() == [[0, -1], [-1, 3]]


# Kernels against their definition


@pytest.mark.parametrize("code_type", CODE_TYPES)
@pytest.mark.parametrize(("rank", "size"), [(1, 1), (1, 5), (4, 1), (3, 2), (5, 127), (2, 700)])
def test_draw_labels_is_its_definition(rank, size, code_type):
    if size > np.iinfo(code_type).max:
        pytest.skip("more labels than codes")
    rng = np.random.default_rng(size)
    cumulative = np.cumsum(rng.dirichlet(np.full(size, 0.2), rank), axis=1)
    classes, uniform = rng.integers(0, rank, 400), rng.random(400)
    uniform[:3] = 0.0, 5e-324, np.nextafter(1.0, 0.0)
    columns = [np.where(rng.random(400) < 0.5, -1, 0).astype(code_type)] * 2
    ours, theirs = (column.copy() for column in columns)
    jit.draw_labels(classes, cumulative, uniform, ours)
    reference.draw_labels(classes, cumulative, uniform, theirs)
    np.testing.assert_array_equal(ours, theirs)
    assert ours.dtype == theirs.dtype == code_type
    assert (ours >= 0).all()


def test_draw_labels_writes_into_a_column_of_a_table():
    table = np.full((3, 2), -1, dtype=np.int16)
    for kernels in (jit, reference):
        table[:, 1] = -1
        kernels.draw_labels(np.zeros(3, dtype=np.int64), np.array([[0.5, 1.0]]), np.array([0.0, 0.5, 0.9]), table[:, 1])
        assert table.tolist() == [[-1, 0], [-1, 1], [-1, 1]]


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(0, 30), st.integers(1, 80))
def test_draw_columns_is_its_definition(seed, rows, width):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(width, 0.1), rows) * rng.choice([1.0, 1e-300, 7.0], (rows, 1))
    uniform = rng.choice([0.0, 0.5, 1.0 - 2.0**-53, rng.random()], rows)
    ours, theirs = jit.draw_columns(probabilities, uniform), reference.draw_columns(probabilities, uniform)
    np.testing.assert_array_equal(ours, theirs)
    assert ours.dtype == theirs.dtype == np.int64
    assert (probabilities[np.arange(rows), ours] > 0).all()


def test_of_no_probability_at_all_the_first_column_is_drawn():
    nothing = np.zeros((2, 3))
    for kernels in (jit, reference):
        assert kernels.draw_columns(nothing, np.array([0.0, 0.9])).tolist() == [0, 0]


@pytest.mark.parametrize("code_type", CODE_TYPES)
@pytest.mark.parametrize("rank", [1, 5, 8, 600])
def test_most_probable_is_its_definition(rank, code_type):
    rng = np.random.default_rng(rank)
    sizes = (1, 7, 8, 9, 20)
    stack = np.concatenate([np.ascontiguousarray(rng.dirichlet(np.ones(i), rank).T) for i in sizes])
    starts, R = np.cumsum([0, *sizes]), rng.dirichlet(np.ones(rank), 60)
    for order in "CF":
        ours = np.full((60, 5), -1, dtype=code_type, order=order)
        ours[::3] = 0
        theirs = ours.copy(order="K")
        jit.most_probable(R, stack, starts, ours)
        reference.most_probable(R, stack, starts, theirs)
        np.testing.assert_array_equal(ours, theirs)
        assert (ours[::3] == 0).all()


def test_of_equally_probable_labels_the_first_is_filled_in():
    for kernels in (jit, reference):
        codes = np.full((2, 1), -1)
        kernels.most_probable(np.ones((2, 1)), np.array([[0.1], [0.3], [0.3], [0.3]]), np.array([0, 4]), codes)
        assert codes.tolist() == [[1], [1]]


def test_kernels_take_no_rows():
    for kernels in (jit, reference):
        assert kernels.draw_columns(np.empty((0, 3)), np.empty(0)).shape == (0,)
        kernels.draw_labels(np.empty(0, dtype=np.int64), np.ones((1, 1)), np.empty(0), np.empty(0, dtype=np.int8))
        kernels.most_probable(np.empty((0, 1)), np.ones((2, 1)), np.array([0, 2]), np.empty((0, 1), dtype=np.int8))


# Frames of values and positions


def test_gathered_keeps_the_values_that_are_there_in_the_order_in_which_they_come():
    gathered = Gathered(["a", "b", "c", "d"], np.array([2, 0, 2, 3, 0], dtype=np.int8))
    assert gathered.values == ["c", "a", "d"]
    assert gathered.positions.tolist() == [0, 1, 0, 2, 1]
    assert Gathered(["a"], np.array([], dtype=np.int8)).values == []


VALUES = {
    "text": ["x", "y", "long as a street"],
    "whole": [3, 1, 2**40],
    "float": [0.5, 1e300, -0.25],
    "boolean": [True, False],
    "numbers": [1, 2.5, 3],
    "anything": [1, "more", 2.5],
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("n", [0, 1, 2, 200])
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_a_gathered_frame_is_the_frame_of_its_cells(values, n, kind):
    if kind == "polars":
        pytest.importorskip("polars")
    positions = np.random.default_rng(n).integers(0, len(values), n)
    ours = gather_frame({"a": Gathered(values, positions), "b": Gathered(values, positions[::-1])}, kind)
    cells = [values[i] for i in positions]
    theirs = to_frame({"a": cells, "b": cells[::-1]}, kind)
    if kind == "pandas":
        pd.testing.assert_frame_equal(ours, theirs)
    else:
        assert ours.equals(theirs)
        assert (ours.schema if kind == "polars" else ours.schema.types) == (
            theirs.schema if kind == "polars" else theirs.schema.types
        )


def test_the_frame_comparison_sees_a_wrong_type():
    ours = gather_frame({"a": Gathered([1, 2], np.array([0, 1]))}, "pandas")
    with pytest.raises(AssertionError):
        pd.testing.assert_frame_equal(ours, to_frame({"a": [1.0, 2.0]}, "pandas"))


def test_decoded_numbers_of_intervals():
    variable = Variable("age", ("<10", ">=10"), "binned", (0.0, 10.0, 20.0))
    codes = np.array([[1], [0]], dtype=np.int8)
    assert decode_frame([variable], codes, {0: np.array([15.0, 4.0])}, "pandas")["age"].tolist() == [15.0, 4.0]
    assert decode_frame([variable], codes, {}, "pandas")["age"].tolist() == [">=10", "<10"]


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("numbers", [[15, 4, 12], [15.5, 4.0, 12.0], [2**63 - 1, -(2**63), 0]], ids=str)
def test_numbers_keep_their_type_and_missing_cells_are_missing(kind, numbers):
    if kind == "polars":
        pytest.importorskip("polars")
    variable = Variable("age", ("<10", ">=10"), "binned", (0.0, 10.0, 20.0), open_ended=True)
    codes = np.array([[1], [0], [1]], dtype=np.int8)
    whole = decode_frame([variable], codes, {0: np.array(numbers)}, kind)
    cells = whole["age"].to_pylist() if kind == "pyarrow" else whole["age"].to_list()
    assert [(type(cell), cell) for cell in cells] == [(type(number), number) for number in numbers]
    codes[1] = 2
    holed = decode_frame([variable.with_missing_label("?")], codes, {0: np.array(numbers)}, kind)
    cells = holed["age"].to_pylist() if kind == "pyarrow" else holed["age"].to_list()
    assert [None if cell is None or cell != cell else cell for cell in cells] == [numbers[0], None, numbers[2]]


# Holes of frames: every cell that is there stays, every hole gets its code's label


@pytest.mark.parametrize("kind", FRAMES)
def test_filled_frames_say_what_filled_codes_say(kind):
    if kind == "polars":
        pytest.importorskip("polars")
    rng = np.random.default_rng(8)
    names = ("colour", "size", "odd")
    labels = (("red", "green", ""), (1, 2, 5), (True, False))
    domain = Domain(tuple(Variable(*both) for both in zip(names, labels, strict=True)))
    parts = random_model(rng, 4, (3, 3, 2))
    model = JointPMF(parts.weights, parts.factors, domain)
    holes = torn(rng, drawing.sample(model, 500, rng))
    frame = to_frame({v.name: v.decode(holes[:, n]) for n, v in enumerate(domain)}, kind)
    for draws in (None, 1):
        whole, _ = (
            drawing.fill_best(model, holes, None)
            if draws is None
            else drawing.fill_at_random(model, holes, drawing.generator(6))
        )
        filled = model.impute(frame, draws, seed=6)
        assert type(filled) is type(frame)
        np.testing.assert_array_equal(domain.encode(filled), whole)
