"""Drawn rows and filled holes: their distribution against the dense tensor, and the frames they come in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import chdtrc

from juror import Domain, JointPMF, JurorError, Not, Range, Variable
from juror.answers import sampling as drawing
from juror.errors import DataError, ParameterError
from juror.testing import dense, random_codes, random_model

# Any seed may be the test's seed: hypothesis picks new ones in every run and names the one that failed.
any_seed = settings(max_examples=4, deadline=None)
seeds = st.integers(0, 2**32 - 1)

N_DRAWS = 20_000
# With some hundred comparisons in a run, a false alarm in less than one run in a million.
_LEAST_P_VALUE = 1e-9
# Cells that expect fewer draws are counted together, so that the χ² distribution holds far into its tail.
_LEAST_EXPECTED = 25


def assert_drawn_from(counts, probabilities):
    """Compare counts of cells to their probabilities by Pearson's χ²."""
    counts, probabilities = np.ravel(counts), np.ravel(probabilities)
    assert counts.shape == probabilities.shape
    assert counts[probabilities == 0].sum() == 0, "a cell of probability zero was drawn"
    expected = probabilities * counts.sum()
    rare = expected < _LEAST_EXPECTED
    groups = [*zip(counts[~rare], expected[~rare], strict=True), (counts[rare].sum(), expected[rare].sum())]
    groups = [(seen, wanted) for seen, wanted in groups if wanted > 0]
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in groups)
    if len(groups) > 1:
        assert chdtrc(len(groups) - 1, statistic) > _LEAST_P_VALUE, f"χ² = {statistic:.1f} over {len(groups)} cells"


@pytest.mark.parametrize(
    "counts",
    [[9400, 10600, 0], [10_000, 9_999, 1], [10_000, 10_000], [0, 20_000, 0]],
    ids=["a little off", "an impossible cell", "another shape", "one cell only"],
)
def test_assert_drawn_from_rejects_wrong_draws(counts):
    assert_drawn_from([9_950, 10_050, 0], [0.5, 0.5, 0.0])
    with pytest.raises(AssertionError):
        assert_drawn_from(counts, [0.5, 0.5, 0.0])


def test_assert_drawn_from_rejects_a_neighbouring_model():
    rng = np.random.default_rng(0)
    right, wrong = (random_model((3, 4, 2), 3, rng) for _ in range(2))
    counts = rng.multinomial(N_DRAWS, dense(right).ravel())
    assert_drawn_from(counts, dense(right))
    with pytest.raises(AssertionError):
        assert_drawn_from(counts, dense(wrong))
    # the marginals alone are right here: what is caught is that the dependence is gone
    apart = np.einsum("i,j,k->ijk", *(dense(right).sum(axis=axes) for axes in [(1, 2), (0, 2), (0, 1)]))
    with pytest.raises(AssertionError):
        assert_drawn_from(counts, apart)


def count_cells(codes, shape):
    return np.bincount(np.ravel_multi_index(np.asarray(codes).T, shape), minlength=np.prod(shape)).reshape(shape)


SHAPES = {
    "one label": ((1,), 1, 0.0),
    "one variable": ((5,), 3, 0.0),
    "rank one": ((2, 3, 4), 1, 0.0),
    "one-level variables": ((1, 3, 1, 2), 3, 0.0),
    "four variables": ((2, 3, 4, 2), 4, 0.0),
    "zeros": ((3, 4, 2, 3), 3, 0.5),
}


@pytest.mark.parametrize("shape", SHAPES)
@any_seed
@given(seed=seeds)
def test_samples_have_the_distribution_of_the_tensor(shape, seed):
    cardinalities, rank, zeros = SHAPES[shape]
    model = random_model(cardinalities, rank, np.random.default_rng(seed), zeros=zeros)
    drawn = model.sample(N_DRAWS, seed=seed)
    assert_drawn_from(count_cells(drawn, cardinalities), dense(model))


EVIDENCE = {
    "a value": ({"x1": 2}, {1: [0, 0, 1, 0]}),
    "a set": ({"x1": [0, 3]}, {1: [1, 0, 0, 1]}),
    "a range": ({"x1": Range(at_least=1, below=3)}, {1: [0, 1, 1, 0]}),
    "a negation": ({"x0": Not(1)}, {0: [1, 0, 1]}),
    "likelihoods": ({"x0": {0: 0.1, 1: 3.0, 2: 0.0}}, {0: [0.1, 3.0, 0.0]}),
    "several": ({"x0": [0, 1], "x2": 1}, {0: [1, 1, 0], 2: [0, 1]}),
    "text": ("x1 >= 2, not x0 = 0", {1: [0, 0, 1, 1], 0: [0, 1, 1]}),
}


@pytest.mark.parametrize("evidence", EVIDENCE)
@any_seed
@given(seed=seeds)
def test_samples_given_evidence(evidence, seed):
    known, weights = EVIDENCE[evidence]
    model = random_model((3, 4, 2), 3, np.random.default_rng(seed))
    expected = dense(model)
    for axis, vector in weights.items():
        expected = expected * np.reshape(vector, [-1 if n == axis else 1 for n in range(3)])
    drawn = model.sample(N_DRAWS, given=known, seed=seed)
    assert_drawn_from(count_cells(drawn, (3, 4, 2)), expected / expected.sum())


@any_seed
@given(seed=seeds)
def test_draws_for_holes_have_their_joint_distribution_given_the_rest(seed):
    model = random_model((3, 4, 2), 3, np.random.default_rng(seed))
    torn = np.tile([-1, 2, -1], (N_DRAWS, 1))
    filled = model.impute(torn, draws=1, seed=seed)
    expected = dense(model)[:, 2, :]
    assert np.all(filled[:, 1] == 2)
    assert_drawn_from(count_cells(filled[:, [0, 2]], (3, 2)), expected / expected.sum())


@any_seed
@given(seed=seeds)
def test_draws_for_rows_with_different_holes(seed):
    # complete rows of the model with holes torn into them and filled again are rows of the model
    model = random_model((3, 4, 2), 3, np.random.default_rng(seed), zeros=0.2)
    torn = random_codes(model, 5_000, np.random.default_rng([seed, 1]), missing=0.5)
    filled = model.impute(torn, draws=1, seed=seed)
    assert np.array_equal(filled[torn >= 0], torn[torn >= 0])
    assert_drawn_from(count_cells(filled, (3, 4, 2)), dense(model))


@any_seed
@given(seed=seeds)
def test_several_draws_are_independent_of_each_other(seed):
    model = random_model((3, 2), 2, np.random.default_rng(seed))
    first, second, third = model.impute(np.tile([-1, 1], (N_DRAWS, 1)), draws=3, seed=seed)
    alone = dense(model)[:, 1] / dense(model)[:, 1].sum()
    for a, b in [(first, second), (second, third), (first, third)]:
        assert_drawn_from(count_cells(np.column_stack([a[:, 0], b[:, 0]]), (3, 3)), np.outer(alone, alone))


@any_seed
@given(seed=seeds)
def test_labels_of_probability_zero_are_never_drawn(seed):
    # zeros at the start, in the middle and at the end of a factor
    factor = np.array([[0.0, 0.0], [0.3, 1.0], [0.0, 0.0], [0.7, 0.0], [0.0, 0.0]])
    model = JointPMF([0.2, 0.8], [factor, factor, factor])
    assert set(np.unique(model.sample(N_DRAWS, seed=seed))) <= {1, 3}
    assert set(np.unique(model.impute(np.full((N_DRAWS, 3), -1), draws=1, seed=seed))) <= {1, 3}
    assert set(np.unique(model.sample(N_DRAWS, given={"x0": 3}, seed=seed)["x0"])) == {3}


class Extreme:
    """A generator that always gives the same number: the least or the largest that a real one can give."""

    def __init__(self, number):
        self._number = number

    def random(self, n):
        return np.full(n, self._number)

    def choice(self, n, size, p):
        return np.full(size, int(np.argmax(p)))


@pytest.mark.parametrize("number", [0.0, 5e-324, np.nextafter(1.0, 0.0)], ids=["zero", "tiny", "nearly one"])
@pytest.mark.parametrize("chances", [[0.0, *[0.1] * 10, 0.0], [0.0, 1.0, 0.0], [0.0, *[1 / 49] * 49, 0.0]])
def test_even_the_extremes_of_chance_draw_no_label_of_probability_zero(number, chances):
    # ten times 0.1 sums to less than one, and what is missing must not fall to the last label
    model = JointPMF([1.0], [np.array(chances)[:, None]])
    (drawn,) = drawing.sample(model, 1, Extreme(number))[0]
    ((filled,),) = drawing.fill_at_random(model, np.array([[-1]]), Extreme(number))[0]
    assert chances[drawn] > 0
    assert chances[filled] > 0


# Seeds


def test_the_same_seed_gives_the_same_rows():
    model = random_model((4, 5, 6), 3, np.random.default_rng(0))
    holes = np.full((50, 3), -1)
    assert model.sample(50, seed=7).equals(model.sample(50, seed=7))
    assert model.sample(50).equals(model.sample(50, seed=0))
    assert np.array_equal(model.impute(holes, draws=1, seed=7), model.impute(holes, draws=1, seed=7))
    for again, draw in zip(model.impute(holes, draws=2, seed=3), model.impute(holes, draws=2, seed=3), strict=True):
        assert np.array_equal(again, draw)


def test_another_seed_gives_other_rows():
    model = random_model((4, 5, 6), 3, np.random.default_rng(0), concentration=5.0)
    assert not model.sample(50, seed=7).equals(model.sample(50, seed=8))
    first, second = model.impute(np.full((50, 3), -1), draws=2)
    assert not np.array_equal(first, second)


def test_a_draw_for_one_row_does_not_depend_on_the_holes_of_others():
    model = random_model((4, 5, 6), 3, np.random.default_rng(0), concentration=5.0)
    torn = random_codes(model, 30, np.random.default_rng(1), missing=0.5)
    others = torn.copy()
    others[10] = -1
    others[20] = [1, 2, 3]
    same = np.setdiff1d(np.arange(30), [10, 20])
    first, second = model.impute(torn, draws=1, seed=4), model.impute(others, draws=1, seed=4)
    assert np.array_equal(first[same], second[same])


@pytest.mark.parametrize(
    ("name", "value"),
    [("n", -1), ("n", 2.0), ("n", True), ("seed", -1), ("seed", 0.5), ("seed", None), ("frame", "dask")],
)
def test_sample_checks_its_arguments(name, value):
    model = random_model((2,), 1, np.random.default_rng(0))
    with pytest.raises(ParameterError, match=rf"{name} must be .* Got .* instead\."):
        model.sample(**{"n": 3, name: value})


@pytest.mark.parametrize(("name", "value"), [("draws", 0), ("draws", 1.5), ("draws", True), ("seed", -1)])
def test_impute_checks_its_arguments(name, value):
    model = random_model((2,), 1, np.random.default_rng(0))
    with pytest.raises(ParameterError, match=rf"{name} must be .* Got .* instead\."):
        model.impute({"x0": [None]}, **{"draws": 1, name: value})


# Frames of drawn rows


@pytest.fixture
def shop():
    """A model whose variables have labels of every type and kind, none of them improbable."""
    domain = Domain(
        (
            Variable("colour", ("red", "green", "blue")),
            Variable("size", (1, 2, 4, 8), "ordinal"),
            Variable("sold", (False, True)),
            Variable("weight", (0.5, 1.5), "ordinal"),
            Variable("price", ("<10", "[10, 20)", ">=20"), "binned", (5.0, 10.0, 20.0, 90.0), open_ended=True),
        )
    )
    return random_model(domain.cardinalities, 3, np.random.default_rng(5), domain=domain, concentration=3.0)


def columns_of(frame):
    """Return a frame's columns as lists of Python values, None for missing."""
    if isinstance(frame, pd.DataFrame):
        return {name: [None if pd.isna(value) else value for value in frame[name].tolist()] for name in frame.columns}
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    return frame.to_pydict()


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}


@pytest.mark.parametrize("kind", FRAMES)
def test_samples_come_as_the_frame_that_was_asked_for(shop, kind):
    drawn = shop.sample(200, frame=kind, seed=1)
    assert type(drawn) is FRAMES[kind]
    columns = columns_of(drawn)
    assert list(columns) == list(shop.domain.names)
    for variable in shop.domain:
        # labels keep their type: True is not 1, nor 1 the text "1"
        if variable.edges is None:
            assert {(type(v), v) for v in columns[variable.name]} == {(type(v), v) for v in variable.labels}
    assert {type(v) for v in columns["price"]} == {float}
    assert columns == columns_of(shop.sample(200, frame="pandas", seed=1))


@pytest.mark.parametrize("kind", FRAMES)
def test_a_sample_of_no_rows_has_its_columns(shop, kind):
    columns = columns_of(shop.sample(0, frame=kind))
    assert columns == {name: [] for name in shop.domain.names}


def test_samples_of_binned_variables_as_numbers(shop):
    labels = shop.sample(100, seed=2, numbers=False)
    numbers = shop.sample(100, seed=2)
    assert set(labels["price"]) == set(shop.domain["price"].labels)
    assert [shop.domain["price"].code(number) for number in numbers["price"]] == [
        shop.domain["price"].code(label) for label in labels["price"]
    ]
    assert numbers["price"].nunique() == 100
    assert numbers.drop(columns="price").equals(labels.drop(columns="price"))


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("labels", [(1, 2.5), (2, 3, "more")], ids=["int and float", "int and text"])
def test_labels_of_several_types_come_in_every_frame(kind, labels):
    # such labels come from levels=: [2, 3, "5 or more"]
    model = JointPMF([1.0], [np.full((len(labels), 1), 1 / len(labels))], Domain((Variable("a", labels),)))
    drawn = columns_of(model.sample(50, frame=kind))["a"]
    assert {str(v).removesuffix(".0") for v in drawn} == {str(label) for label in labels}


# Frames with holes


HOLES = {
    "colour": ["red", None, "blue", None, "green"],
    "size": [1, 2, None, None, 8],
    "sold": [True, None, False, None, None],
    "weight": [None, 1.5, 0.5, None, 1.5],
    "price": [None, 8.25, None, None, 64.0],
}
COLOURS = ["blue", "red", "green", "puce"]  # one that no row shows, and not in the order of the alphabet
CODES = [[0, 0, 1, -1, -1], [-1, 1, -1, 1, 0], [2, -1, 0, 0, -1], [-1, -1, -1, -1, -1], [1, 3, -1, 1, 2]]


def categorical(**options):
    return pd.CategoricalDtype(COLOURS, **options)


def arrow_dictionary(ordered=False):
    indices = pa.array([COLOURS.index(c) if c else None for c in HOLES["colour"]], pa.int8())
    return pa.DictionaryArray.from_arrays(indices, pa.array(COLOURS), ordered=ordered)


# Frames of one library each, with the column types that people have in them.
MAKERS = {
    "pandas": lambda: pd.DataFrame(HOLES),
    "pandas with an index": lambda: pd.DataFrame(HOLES, index=[10, 5, 7, 7, -1]),
    "pandas with two index levels": lambda: pd.DataFrame(
        HOLES, index=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 0)], names=["k", "n"])
    ),
    "pandas objects": lambda: pd.DataFrame(HOLES, dtype=object),
    "pandas category": lambda: pd.DataFrame(HOLES).astype({"colour": categorical()}),
    "pandas ordered category": lambda: pd.DataFrame(HOLES).astype({"colour": categorical(ordered=True)}),
    "pandas category with an index": lambda: pd.DataFrame(HOLES, index=list("edcba")).astype({"colour": "category"}),
    "pandas nullable": lambda: pd.DataFrame(HOLES).astype(
        {"colour": "string", "size": "Int64", "sold": "boolean", "weight": "Float64"}
    ),
    "pandas on arrow": lambda: pd.DataFrame(HOLES).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.DataFrame(HOLES),
    "polars small types": lambda: pl.DataFrame(HOLES).cast({"size": pl.Int8, "weight": pl.Float32}),
    "polars categorical": lambda: pl.DataFrame(HOLES).cast({"colour": pl.Categorical}),
    "polars enum": lambda: pl.DataFrame(HOLES).cast({"colour": pl.Enum(COLOURS)}),
    "pyarrow": lambda: pa.table(HOLES),
    "pyarrow chunks": lambda: pa.concat_tables([pa.table(HOLES).slice(0, 2), pa.table(HOLES).slice(2)]),
    "pyarrow dictionary": lambda: pa.table(HOLES | {"colour": arrow_dictionary()}),
    "pyarrow ordered dictionary": lambda: pa.table(HOLES | {"colour": arrow_dictionary(ordered=True)}),
    "pyarrow large string": lambda: pa.table(HOLES | {"colour": pa.array(HOLES["colour"], pa.large_string())}),
}


def assert_filled(before, after):
    """The same kind of frame, with the same columns and cells, but for holes, of which none are left."""
    assert type(after) is type(before)
    old, new = columns_of(before), columns_of(after)
    assert list(new) == list(old)
    for name in old:
        assert len(new[name]) == len(old[name])
        assert None not in new[name], f"{name} still has holes"
        for was, now in zip(old[name], new[name], strict=True):
            assert was is None or (was == now and type(was) is type(now)), f"{name} was {was!r} and is now {now!r}"
    if isinstance(before, pd.DataFrame):
        pd.testing.assert_index_equal(after.index, before.index, exact=True)


def filled_by_hand(**changes):
    full = pd.DataFrame(HOLES).fillna({"colour": "red", "size": 2, "weight": 0.5, "price": 7.5})
    full["sold"] = [True, True, False, False, True]
    return full.assign(**changes)


@pytest.mark.parametrize(
    "wrong",
    [
        filled_by_hand(colour=["green", "red", "blue", "red", "green"]),
        filled_by_hand(colour=["red", None, "blue", "red", "green"]),
        filled_by_hand(sold=[1, 1, 0, 0, 1]),
        filled_by_hand()[["size", "colour", "sold", "weight", "price"]],
        filled_by_hand().drop(columns="price"),
        filled_by_hand()[:4],
        filled_by_hand().set_axis(range(1, 6), axis="index"),
        pl.DataFrame(filled_by_hand().to_dict("list")),
    ],
    ids=["a cell", "a hole", "a type", "columns turned", "a column short", "a row short", "another index", "polars"],
)
def test_assert_filled_rejects_wrong_fills(wrong):
    assert_filled(pd.DataFrame(HOLES), filled_by_hand())
    with pytest.raises(AssertionError):
        assert_filled(pd.DataFrame(HOLES), wrong)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("draws", [None, 1])
def test_impute_gives_back_the_same_kind_of_frame_with_its_holes_filled(shop, maker, draws):
    assert_filled(MAKERS[maker](), shop.impute(MAKERS[maker](), draws=draws))


@pytest.mark.parametrize("maker", MAKERS)
def test_every_kind_of_frame_gets_the_same_fills(shop, maker):
    expected = shop.impute(np.array(CODES))
    # holes of numbers get their median, which need not lie in the most probable interval
    medians = shop.predict(np.array(CODES), target="price")
    codes = np.array([shop.domain["price"].code(number) for number in medians])
    expected[:, 4] = np.where(np.array(CODES)[:, 4] < 0, codes, expected[:, 4])
    assert np.array_equal(shop.domain.encode(MAKERS[maker]()), CODES)
    assert np.array_equal(shop.domain.encode(shop.impute(MAKERS[maker]())), expected)
    drawn = shop.impute(np.array(CODES), draws=1, seed=9)
    assert np.array_equal(shop.domain.encode(shop.impute(MAKERS[maker](), draws=1, seed=9)), drawn)


def types_of(frame):
    """Return the type of every column; for categories also which ones and in what order."""
    if isinstance(frame, pd.DataFrame):
        categories = {n: list(t.categories) for n, t in frame.dtypes.items() if isinstance(t, pd.CategoricalDtype)}
        return {name: (dtype, categories.get(name)) for name, dtype in frame.dtypes.items()}
    if isinstance(frame, pl.DataFrame):
        return dict(frame.schema)
    return dict(zip(frame.column_names, frame.schema.types, strict=True))


def test_types_of_tells_types_apart():
    assert types_of(MAKERS["pandas category"]()) != types_of(MAKERS["pandas ordered category"]())
    shuffled = MAKERS["pandas category"]()
    shuffled["colour"] = shuffled["colour"].cat.reorder_categories(COLOURS[::-1])
    assert types_of(MAKERS["pandas category"]()) != types_of(shuffled)
    assert types_of(MAKERS["pyarrow"]()) != types_of(MAKERS["pyarrow large string"]())
    assert types_of(MAKERS["polars enum"]()) != types_of(MAKERS["polars categorical"]())
    assert types_of(MAKERS["polars"]()) == types_of(pl.DataFrame(HOLES))


@pytest.mark.parametrize("maker", MAKERS)
def test_columns_keep_their_types(shop, maker):
    before, after = types_of(MAKERS[maker]()), types_of(shop.impute(MAKERS[maker]()))
    # a pandas column of objects is one because of its holes; without them it may become what it holds
    loose = [name for name, kind in before.items() if kind == (np.dtype(object), None)]
    assert {**after, **dict.fromkeys(loose)} == {**before, **dict.fromkeys(loose)}


def test_a_table_without_holes_comes_back_as_it_was(shop):
    full = shop.sample(20)
    pd.testing.assert_frame_equal(shop.impute(full), full)
    nullable = full.convert_dtypes()
    pd.testing.assert_frame_equal(shop.impute(nullable), nullable)


def test_a_table_without_rows_comes_back_as_it_was(shop):
    empty = pl.DataFrame(HOLES)[:0]
    assert shop.impute(empty).equals(empty)
    assert shop.impute(np.empty((0, 5), dtype=int)).shape == (0, 5)


def test_a_dict_comes_back_as_a_pandas_frame(shop):
    assert_filled(pd.DataFrame(HOLES), shop.impute(HOLES).astype({"size": float}))


def test_a_dict_of_single_values_is_one_row(shop):
    filled = shop.impute({"colour": "red", "size": None})
    assert filled.shape == (1, 2)
    assert filled["colour"][0] == "red"
    assert filled["size"][0] == shop.predict({"colour": "red"}, target="size")[0]


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
def test_an_array_of_codes_comes_back_as_an_array_of_its_type(shop, dtype):
    codes = np.array(CODES, dtype=dtype)
    filled = shop.impute(codes)
    assert type(filled) is np.ndarray
    assert filled.dtype == dtype
    seen = codes >= 0
    assert np.array_equal(filled[seen], codes[seen])
    assert np.all((filled >= 0) & (filled < shop.domain.cardinalities))


def test_several_draws_come_as_a_list(shop):
    drawn = shop.impute(pd.DataFrame(HOLES), draws=3, seed=2)
    assert isinstance(drawn, list)
    assert len(drawn) == 3
    for frame in drawn:
        assert_filled(pd.DataFrame(HOLES), frame)
    assert isinstance(shop.impute(pd.DataFrame(HOLES), draws=1), pd.DataFrame)
    assert drawn[0].equals(shop.impute(pd.DataFrame(HOLES), draws=1, seed=2))


def test_binned_holes_get_numbers_among_numbers_and_labels_among_labels(shop):
    price = shop.domain["price"]
    numbers = shop.impute(pl.DataFrame({"price": [8.25, None, float("nan")]}))["price"].to_list()
    assert numbers[0] == 8.25
    assert numbers[1:] == [shop.quantile("price")] * 2
    labels = shop.impute(pl.DataFrame({"price": ["<10", None]}))["price"].to_list()
    assert labels == ["<10", price.labels[shop.marginal("price").to_numpy().argmax()]]
    texts = shop.impute(pl.DataFrame({"price": ["8.25", None]}))["price"].to_list()
    assert texts == ["8.25", str(shop.quantile("price"))]


def test_markers_of_the_domain_are_holes():
    domain = Domain((Variable("a", ("x", "y")), Variable("b", (1, 2))), missing=("?", -9))
    model = random_model((2, 2), 2, np.random.default_rng(0), domain=domain)
    filled = model.impute(pd.DataFrame({"a": ["x", "?", "y"], "b": [-9, 1, 2]}))
    assert filled["a"].tolist()[::2] == ["x", "y"]
    assert filled["a"][1] in ("x", "y")
    assert filled["b"].tolist()[1:] == [1, 2]
    assert filled["b"][0] in (1, 2)


def test_unknown_labels_stay_and_are_not_looked_at(shop):
    frame = pl.DataFrame({"colour": ["teal", None, "red"], "size": [None, 4, None]})
    with pytest.raises(DataError, match="teal"):
        shop.impute(frame)
    filled = shop.impute(frame, unknown="missing")
    assert filled["colour"].to_list()[::2] == ["teal", "red"]
    blind = shop.impute(
        pl.DataFrame({"colour": [None], "size": [None]}, schema={"colour": pl.String, "size": pl.Int64})
    )
    assert filled["size"][0] == blind["size"][0]


# Columns whose type has no room for the label that belongs there


def certain(variable, code):
    """A model of one variable that nearly always has one label, which therefore goes into every hole."""
    chances = np.full((variable.cardinality, 1), 0.001)
    chances[code] = 1 - 0.001 * (variable.cardinality - 1)
    return JointPMF([1.0], [chances], Domain((variable,)))


COLOUR = Variable("a", ("red", "green", "blue"))
HALVES = Variable("a", ("<10", ">=10"), "binned", (0.0, 10.0, 20.0), open_ended=True)
WIDE = Variable("a", (1, 1000), "ordinal")

# variable, the code that belongs into the hole, and a table with a hole in its last row
NARROW = {
    "all missing in pandas": (COLOUR, 2, lambda: pd.DataFrame({"a": [np.nan, np.nan]})),
    "all missing polars integers": (COLOUR, 2, lambda: pl.DataFrame({"a": [None]}, schema={"a": pl.Int64})),
    "all missing polars text": (WIDE, 1, lambda: pl.DataFrame({"a": [None]}, schema={"a": pl.String})),
    "numpy text": (COLOUR, 1, lambda: np.array([["red"], ["?"]])),
    "numpy int8": (Variable("a", tuple(range(200))), 150, lambda: np.array([[3], [-1]], dtype=np.int8)),
    "short pandas category": (COLOUR, 2, lambda: pd.DataFrame({"a": pd.Categorical(["red", None])})),
    "short ordered pandas category": (
        COLOUR,
        2,
        lambda: pd.DataFrame({"a": pd.Categorical(["red", "green", None], ["green", "red"], ordered=True)}),
    ),
    "short polars categorical": (COLOUR, 2, lambda: pl.DataFrame({"a": ["red", None]}, schema={"a": pl.Categorical})),
    "short polars enum": (COLOUR, 2, lambda: pl.DataFrame({"a": ["red", None]}, schema={"a": pl.Enum(["red"])})),
    "short arrow dictionary": (COLOUR, 2, lambda: pa.table({"a": pa.array(["red", None]).dictionary_encode()})),
    "fractions among pandas integers": (HALVES, 0, lambda: pd.DataFrame({"a": pd.array([12, None], dtype="Int64")})),
    "fractions among polars integers": (HALVES, 0, lambda: pl.DataFrame({"a": [12, None]})),
    "fractions among arrow integers": (Variable("a", (1.5, 2.0)), 0, lambda: pa.table({"a": [2, None]})),
    "a large number among small ones": (WIDE, 1, lambda: pl.DataFrame({"a": [1, None]}, schema={"a": pl.Int8})),
    "text among numbers": (Variable("a", ("2", "3", "more")), 2, lambda: pl.DataFrame({"a": [2, None]})),
    "text of a number among numbers": (Variable("a", ("2", "3", "more")), 1, lambda: pl.DataFrame({"a": [2, None]})),
    "numbers among booleans": (Variable("a", (0, 1)), 0, lambda: pl.DataFrame({"a": [True, None]})),
    "text among pandas booleans": (
        Variable("a", ("False", "True")),
        0,
        lambda: pd.DataFrame({"a": pd.array([True, None], dtype="boolean")}),
    ),
    "decimals": (
        Variable("a", (0.5, 0.25)),
        1,
        lambda: pl.DataFrame({"a": pl.Series(["0.5", None]).cast(pl.Decimal(5, 2))}),
    ),
}


@pytest.mark.parametrize("name", NARROW)
def test_a_fill_reads_back_as_its_label_or_is_refused(name):
    variable, code, make = NARROW[name]
    model = certain(variable, code)
    model = JointPMF(model.weights, model.factors, Domain((variable,), missing=("?",)))
    refused = None
    try:
        filled = model.impute(make())
    except JurorError as error:
        refused = str(error)
    if refused is not None:
        assert "'a'" in refused
    else:
        assert model.domain.encode(filled)[-1].tolist() == [code]
