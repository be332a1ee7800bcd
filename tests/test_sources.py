import datetime
import decimal
import gzip
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import juror
from juror.domain import Domain
from juror.errors import DataError, DataWarning, JurorError
from juror.readers import open_source

# One table with all that a column may hold: text, booleans, integers, floats, nulls, NaN and markers.
TABLE = {
    "colour": ["red", None, "blue", "red", "?", "green", "Red"],
    "flag": [True, False, None, True, False, True, None],
    "size": [3, 1, None, 2, -9, 3, 1],
    "weight": [0.5, None, 2.5, 0.5, 1.0, -0.0, float("nan")],
}
MARKERS = ["?", -9]
LABELS = {
    "colour": ("Red", "blue", "green", "red"),
    "flag": (False, True),
    "size": (1, 2, 3),
    "weight": ("<1", ">=1"),
}
CODES = [
    [3, 1, 2, 0],
    [-1, 0, 0, -1],
    [1, -1, -1, 1],
    [3, 1, 1, 0],
    [-1, 0, -1, 1],
    [2, 1, 2, 0],
    [0, -1, 0, -1],
]
CSV = """colour,flag,size,weight
red,True,3,0.5
,False,1,
blue,,,2.5
red,True,2,0.5
?,False,-9,1.0
green,True,3,-0.0
Red,,1,nan
"""

# that such labels stay different is what is tested
pytestmark = pytest.mark.filterwarnings("ignore:Column '.*' has labels that differ only in:juror.errors.DataWarning")


def as_pandas():
    kinds = {"colour": "str", "flag": "boolean", "size": "Int64", "weight": "float64"}
    return pd.DataFrame({name: pd.Series(TABLE[name], dtype=kind) for name, kind in kinds.items()})


def as_old_pandas():
    # what pandas did for years: objects for text and booleans, floats for integers with a hole
    kinds = {"colour": object, "flag": object, "size": float, "weight": float}
    return pd.DataFrame({name: pd.Series(TABLE[name], dtype=kind) for name, kind in kinds.items()})


def as_arrow():
    return pa.table({name: pa.array(values) for name, values in TABLE.items()})


def as_arrow_in_pandas():
    return as_arrow().to_pandas(types_mapper=pd.ArrowDtype)


def as_arrays():
    kinds = {"colour": object, "flag": object, "size": float, "weight": float}
    return {name: np.array(values, dtype=kinds[name]) for name, values in TABLE.items()}


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


def as_parquet(folder):
    parquet.write_table(as_arrow(), folder / "table.parquet")
    return folder / "table.parquet"


SOURCES = {
    "pandas": lambda folder: as_pandas(),
    "pandas, old dtypes": lambda folder: as_old_pandas(),
    "pandas, pyarrow dtypes": lambda folder: as_arrow_in_pandas(),
    "polars": lambda folder: pl.DataFrame(TABLE, strict=False),
    "pyarrow": lambda folder: as_arrow(),
    "pyarrow, many chunks": lambda folder: pa.concat_tables([as_arrow().slice(i, 1) for i in range(7)]),
    "pyarrow, slice with an offset": lambda folder: pa.concat_tables([as_arrow(), as_arrow()]).slice(7),
    "dict of lists": lambda folder: TABLE,
    "dict of arrays": lambda folder: as_arrays(),
    "dict of pandas series": lambda folder: dict(as_pandas().set_index(np.arange(7)[::-1]).items()),
    "dict of polars series": lambda folder: {s.name: s for s in pl.DataFrame(TABLE, strict=False)},
    "dict of arrow arrays": lambda folder: dict(zip(TABLE, as_arrow().columns, strict=True)),
    "csv path": lambda folder: written(folder, "table.csv", CSV.encode()),
    "csv name": lambda folder: str(written(folder, "table.csv", CSV.encode())),
    "csv, carriage returns": lambda folder: written(folder, "table.CSV", CSV.replace("\n", "\r\n").encode()),
    "csv, byte order mark": lambda folder: written(folder, "table.csv", CSV.encode("utf-8-sig")),
    "csv.gz": lambda folder: written(folder, "table.csv.gz", gzip.compress(CSV.encode())),
    "parquet": as_parquet,
}


@pytest.fixture(params=SOURCES)
def source(request, tmp_path):
    return SOURCES[request.param](tmp_path)


def typed(labels):
    # 1 == True == 1.0 in Python, but not to the person who reads the labels
    return [(type(label), label) for label in labels]


def assert_reads(data, labels, codes, *, kind=None, **options):
    """The one column of data has these labels, of these types and in this order, and these codes."""
    domain = Domain.infer(data, **options)
    assert typed(domain[0].labels) == typed(labels)
    assert domain.encode(data)[:, 0].tolist() == list(codes)
    assert kind in (None, domain[0].kind)


@pytest.mark.parametrize(
    ("labels", "codes", "kind"),
    [
        ((2, 1), [0, -1, 1], "ordinal"),
        ((1.0, 2), [0, -1, 1], "ordinal"),
        ((True, 2), [0, -1, 1], "ordinal"),
        (("1", 2), [0, -1, 1], "ordinal"),
        ((1, 2, 3), [0, -1, 1], "ordinal"),
        ((1, 2), [0, 0, 1], "ordinal"),
        ((1, 2), [0, -1], "ordinal"),
        ((1, 2), [0, -1, 1], "nominal"),
    ],
)
def test_assert_reads_rejects_a_wrong_answer(labels, codes, kind):
    assert_reads({"a": [1, None, 2]}, (1, 2), [0, -1, 1], kind="ordinal")
    with pytest.raises(AssertionError):
        assert_reads({"a": [1, None, 2]}, labels, codes, kind=kind)


def infer_table(data):
    return Domain.infer(data, missing=MARKERS, bins={"weight": 2})


def test_every_source_gives_the_same_labels(source):
    domain = infer_table(source)
    assert {v.name: typed(v.labels) for v in domain} == {name: typed(labels) for name, labels in LABELS.items()}


def test_every_source_gives_the_same_domain(source):
    assert infer_table(source) == infer_table(TABLE)


def test_every_source_gives_the_same_codes(source):
    codes = infer_table(source).encode(source)
    assert codes.tolist() == CODES
    assert codes.dtype == np.int8


def test_every_source_is_encoded_alike_by_a_domain_of_another(source):
    assert infer_table(TABLE).encode(source).tolist() == CODES


@pytest.mark.filterwarnings("ignore:.*often means? missing")
def test_every_source_keeps_its_marker_as_a_label_when_nobody_calls_it_missing(source):
    domain = Domain.infer(source)
    assert domain["colour"].labels == ("?", *LABELS["colour"])
    assert domain["size"].labels == (-9, 1, 2, 3)


def test_no_source_is_changed_by_reading(source):
    if isinstance(source, pd.DataFrame):
        before = source.copy(deep=True)
        infer_table(source).encode(source)
        pd.testing.assert_frame_equal(source, before)
    else:
        infer_table(source).encode(source)
        assert infer_table(source).encode(source).tolist() == CODES


def one(values):
    return pa.table({"a": values})


def dictionary(indices, values, ordered=False):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(values), ordered=ordered)


COLUMNS = {
    # name: (frame, labels, codes, kind)
    "pandas Categorical": (
        pd.DataFrame({"a": pd.Categorical(["y", None, "x"], ["y", "x"])}),
        ("y", "x"),
        [0, -1, 1],
        "nominal",
    ),
    "pandas Categorical, unseen categories": (
        pd.DataFrame({"a": pd.Categorical(["y", "y"], ["z", "y", "x"])}),
        ("z", "y", "x"),
        [1, 1],
        "nominal",
    ),
    "pandas Categorical, ordered": (
        pd.DataFrame({"a": pd.Categorical(["low", "high", None], ["low", "mid", "high"], ordered=True)}),
        ("low", "mid", "high"),
        [0, 2, -1],
        "ordinal",
    ),
    "pandas Categorical of integers": (
        pd.DataFrame({"a": pd.Categorical([3, 1, 3], [3, 2, 1], ordered=True)}),
        (3, 2, 1),
        [0, 2, 0],
        "ordinal",
    ),
    "pandas Categorical of huge integers": (
        pd.DataFrame({"a": pd.Categorical([2**53 + 1, 2**53])}),
        (2**53, 2**53 + 1),
        [1, 0],
        "nominal",
    ),
    "pandas Categorical of booleans": (
        pd.DataFrame({"a": pd.Categorical([True, False, None])}),
        (False, True),
        [1, 0, -1],
        "nominal",
    ),
    "pandas Categorical of floats": (
        pd.DataFrame({"a": pd.Categorical([2.5, 1.0, None])}),
        (1.0, 2.5),
        [1, 0, -1],
        "nominal",
    ),
    "pandas Categorical filtered": (
        pd.DataFrame({"a": pd.Categorical(["x", "y", "z"])}).iloc[1:],
        ("x", "y", "z"),
        [1, 2],
        "nominal",
    ),
    "pandas string": (pd.DataFrame({"a": pd.array(["x", None, "y"], "string")}), ("x", "y"), [0, -1, 1], "nominal"),
    "pandas Int8": (pd.DataFrame({"a": pd.array([2, None, 1], "Int8")}), (1, 2), [1, -1, 0], "ordinal"),
    "pandas UInt64": (pd.DataFrame({"a": pd.array([2, None, 1], "UInt64")}), (1, 2), [1, -1, 0], "ordinal"),
    "pandas Float64 of whole numbers": (
        pd.DataFrame({"a": pd.array([2.0, None, 1.0], "Float64")}),
        (1, 2),
        [1, -1, 0],
        "ordinal",
    ),
    "pandas boolean": (
        pd.DataFrame({"a": pd.array([True, None, False], "boolean")}),
        (False, True),
        [1, -1, 0],
        "nominal",
    ),
    "pandas objects, NaN among text": (
        pd.DataFrame({"a": pd.Series(["y", float("nan"), None, pd.NA, "x"], dtype=object)}),
        ("x", "y"),
        [1, -1, -1, -1, 0],
        "nominal",
    ),
    "pandas objects, integers": (
        pd.DataFrame({"a": pd.Series([2, None, 1], dtype=object)}),
        (1, 2),
        [1, -1, 0],
        "ordinal",
    ),
    "pandas, arrow dictionary": (
        pd.DataFrame({"a": pd.array(["y", None, "x"], pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())))}),
        ("y", "x"),
        [0, -1, 1],
        "nominal",
    ),
    "polars Categorical": (
        pl.DataFrame({"a": pl.Series(["y", None, "x"], dtype=pl.Categorical)}),
        ("y", "x"),
        [0, -1, 1],
        "nominal",
    ),
    "polars Enum": (
        pl.DataFrame({"a": pl.Series(["y", None, "x"], dtype=pl.Enum(["y", "unseen", "x"]))}),
        ("y", "unseen", "x"),
        [0, -1, 2],
        None,
    ),
    "polars Null and text": (pl.DataFrame({"a": [None, "x", "y"]}), ("x", "y"), [-1, 0, 1], "nominal"),
    "polars NaN and null": (
        pl.DataFrame({"a": [2.0, float("nan"), None, 1.0]}),
        (1, 2),
        [1, -1, -1, 0],
        "ordinal",
    ),
    "polars UInt8": (pl.DataFrame({"a": pl.Series([2, None, 1], dtype=pl.UInt8)}), (1, 2), [1, -1, 0], "ordinal"),
    "arrow dictionary": (one(dictionary([1, None, 0], ["y", "x"])), ("y", "x"), [1, -1, 0], "nominal"),
    "arrow dictionary, ordered": (
        one(dictionary([1, None, 0], ["y", "x"], ordered=True)),
        ("y", "x"),
        [1, -1, 0],
        "ordinal",
    ),
    "arrow dictionary, null inside": (
        one(dictionary([0, 1, 2, None], ["y", None, "x"])),
        ("y", "x"),
        [0, -1, 1, -1],
        "nominal",
    ),
    "arrow dictionary, NaN inside": (
        one(dictionary([0, 1, 2], [1.5, float("nan"), 0.5])),
        (1.5, 0.5),
        [0, -1, 1],
        "nominal",
    ),
    "arrow dictionary, chunks with different dictionaries": (
        one(pa.chunked_array([dictionary([0, 1], ["y", "x"]), dictionary([0, 1, None], ["z", "y"])])),
        ("x", "y", "z"),
        [1, 0, 2, 1, -1],
        "nominal",
    ),
    "arrow dictionary, slice with an offset": (
        one(dictionary([0, 1, 2, None, 1], ["y", "x", "z"])).slice(2),
        ("y", "x", "z"),
        [2, -1, 1],
        "nominal",
    ),
    "arrow dictionary, unsigned long indices": (
        one(pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.uint64()), pa.array(["y", "x"]))),
        ("y", "x"),
        [1, 0],
        "nominal",
    ),
    "arrow dictionary of large text": (
        one(pa.array(["y", None, "x"], pa.large_string()).dictionary_encode()),
        ("y", "x"),
        [0, -1, 1],
        "nominal",
    ),
    "arrow booleans, slice with an offset": (
        one(pa.array([True, True, False, None, True])).slice(2),
        (False, True),
        [0, -1, 1],
        "nominal",
    ),
    "arrow numbers, slice with an offset": (
        one(pa.array([9, 8, 2, None, 1])).slice(2),
        (1, 2),
        [1, -1, 0],
        "ordinal",
    ),
    "arrow string_view": (one(pa.array(["y", None, "x"], pa.string_view())), ("x", "y"), [1, -1, 0], "nominal"),
    "arrow large_string": (one(pa.array(["y", None, "x"], pa.large_string())), ("x", "y"), [1, -1, 0], "nominal"),
    "arrow float16": (one(pa.array([np.float16(2), None, np.float16(1)])), (1, 2), [1, -1, 0], "ordinal"),
    "arrow decimal": (
        one(pa.array([decimal.Decimal(2), None, decimal.Decimal(1)])),
        (1, 2),
        [1, -1, 0],
        "ordinal",
    ),
    "arrow chunks, some empty": (
        one(pa.chunked_array([pa.array([], pa.string()), pa.array(["y"]), pa.array(["x", None])])),
        ("x", "y"),
        [1, 0, -1],
        "nominal",
    ),
    "dict of a pandas Categorical": (
        {"a": pd.Categorical(["y", None], ["z", "y"], ordered=True)},
        ("z", "y"),
        [1, -1],
        "ordinal",
    ),
    "dict of an arrow dictionary": ({"a": dictionary([1, None], ["z", "y"])}, ("z", "y"), [1, -1], "nominal"),
    "dict of a tuple": ({"a": ("y", "x")}, ("x", "y"), [1, 0], "nominal"),
    "dict of a range": ({"a": range(2)}, (0, 1), [0, 1], "ordinal"),
    "dict of fixed-width text": ({"a": np.array(["y", "xx", ""])}, ("", "xx", "y"), [2, 1, 0], "nominal"),
    "dict of NumPy booleans": ({"a": [np.True_, None, np.False_]}, (False, True), [1, -1, 0], "nominal"),
    "dict of a masked array": (
        {"a": np.ma.array([2, 7, 1], mask=[False, True, False])},
        (1, 2),
        [1, -1, 0],
        "ordinal",
    ),
    "dict with pandas' NA": ({"a": ["y", pd.NA, "x"]}, ("x", "y"), [1, -1, 0], "nominal"),
    "integers and floats": ({"a": [1, 2.0, None]}, (1, 2), [0, 1, -1], "ordinal"),
    "text that looks like other types": (
        {"a": ["1", "True", "1.0", "nan", "None", ""]},
        ("", "1", "1.0", "None", "True", "nan"),
        [1, 4, 2, 5, 3, 0],
        "nominal",
    ),
    "text that differs by case or space": (
        {"a": ["a", "A", "a ", " a"]},
        (" a", "A", "a", "a "),
        [2, 1, 3, 0],
        "nominal",
    ),
    "text from everywhere": (
        {"a": ["ß", "日本", "\u0000", "a\nb", "🎲", "e\u0301", "é"]},
        ("\u0000", "a\nb", "e\u0301", "ß", "é", "日本", "🎲"),
        [3, 5, 0, 1, 6, 2, 4],
        "nominal",
    ),
    "negative zero": ({"a": [0.0, -0.0, 1.0]}, (0, 1), [0, 0, 1], "ordinal"),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.filterwarnings("ignore:.*often means? missing")
def test_columns_of_every_type(name):
    frame, labels, codes, kind = COLUMNS[name]
    assert_reads(frame, labels, codes, kind=kind)


def test_strided_arrays():
    assert_reads({"a": np.array([5, 9, 6, 8])[::-2]}, (8, 9), [0, 1])
    assert_reads({"a": np.array(["p", "q", "r", "s"])[::-2]}, ("q", "s"), [1, 0])
    assert_reads(np.arange(6).reshape(3, 2)[::-1] // 2, (0, 1, 2), [2, 1, 0])


def test_polars_categories_of_other_frames_stay_out():
    # polars keeps the categories of all frames in one place
    pl.Series(["other", "frame"], dtype=pl.Categorical)
    assert_reads(pl.DataFrame({"a": pl.Series(["y", "x"], dtype=pl.Categorical)}), ("y", "x"), [0, 1])


# Integers that a float64 cannot tell apart.
HUGE = {
    "int64 beside small": np.array([2**53 + 1, 1], np.int64),
    "int64 neighbours": np.array([2**53, 2**53 + 1], np.int64),
    "int64 extremes": np.array([-(2**63), 2**63 - 1], np.int64),
    "int64 negative neighbours": np.array([-(2**60), -(2**60) - 1], np.int64),
    "uint64 extremes": np.array([2**64 - 1, 2**64 - 2], np.uint64),
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_integers_stay_exact(name):
    numbers = HUGE[name]
    exact = [int(number) for number in numbers]
    labels = sorted(exact)
    assert_reads({"a": numbers}, labels, [labels.index(number) for number in exact])


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_marker_takes_only_itself(name):
    first, second = (int(number) for number in HUGE[name])
    column = open_source({"a": HUGE[name]}, missing=[first])[0]
    assert column.index.tolist() == [-1, 0]
    assert [int(value) for value in column.values] == [second]


def refused_or_exact(data, values):
    """Data are refused with a JurorError, or every value comes back as it was."""
    try:
        domain = Domain.infer(data)
        codes = domain.encode(data)
    except JurorError:
        return True
    return typed(domain[0].decode(codes[:, 0])) == typed(values)


def test_refused_or_exact_rejects_a_wrong_answer():
    assert refused_or_exact({"a": [1, 2]}, [1, 2])
    assert refused_or_exact({"a": [1, "x"]}, [1, "x"])
    assert not refused_or_exact({"a": [1, 2]}, [1, 3])
    assert not refused_or_exact({"a": [1, 2]}, [1.0, 2.0])


@pytest.mark.parametrize(
    "values",
    [[2**63, 1], [2**64 - 1, 1], [2**64, 1], [-(2**63) - 1, 1], [10**400, 1]],
    ids=["2**63", "2**64 - 1", "2**64", "-2**63 - 1", "10**400"],
)
@pytest.mark.parametrize("frame", [dict, pd.DataFrame], ids=["dict", "pandas"])
def test_integers_that_fit_in_no_int64_are_refused_or_kept(frame, values):
    assert refused_or_exact(frame({"a": values}), values)


def test_decimals_that_no_float_can_hold_are_refused_or_kept():
    numbers = [decimal.Decimal(2**53), decimal.Decimal(2**53 + 1)]
    assert refused_or_exact(one(pa.array(numbers, pa.decimal128(38, 0))), [2**53, 2**53 + 1])


@pytest.mark.parametrize("type_", [(38, 18), (38, 10), (20, 15), (9, 2)], ids=str)
def test_decimals_are_the_floats_of_the_same_digits_whatever_room_their_type_has(type_):
    prices = [1129, 7, -3, 1129]
    cells = pa.array([*(decimal.Decimal(cents).scaleb(-2) for cents in prices), None], pa.decimal128(*type_))
    (column,) = open_source(one(cells))
    assert column.values[column.index[:4]].tolist() == [cents / 100 for cents in prices]
    assert column.index[4] == -1


def test_decimals_whose_float_is_beyond_their_type_are_refused():
    with pytest.raises(DataError, match="more digits than a float"):
        open_source(one(pa.array([decimal.Decimal(10**19 - 1)], pa.decimal128(19, 0))))


@pytest.mark.parametrize("frame", [dict, pd.DataFrame], ids=["dict", "pandas"])
def test_text_that_is_not_unicode_is_refused(frame):
    # half of a surrogate pair, as comes from file names and broken JSON
    data = frame({"a": pd.Series(["\ud800", "b"], dtype=object)})
    with pytest.raises(DataError, match="'a'"):
        open_source(data)


# Arrays of codes

CODES_WITH_HOLES = [[0, 1], [-1, 2], [1, -1], [0, 0]]


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", ">i4", "float16", "float32", "float64", ">f8"])
def test_integer_arrays_are_codes(kind):
    array = np.array(CODES_WITH_HOLES, dtype=kind)
    domain = Domain.infer(array)
    assert domain == Domain.from_cardinalities([2, 3])
    assert domain.encode(array).tolist() == CODES_WITH_HOLES


@pytest.mark.parametrize("kind", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_arrays_are_codes(kind):
    array = np.array([[0, 1], [1, 2], [0, 0]], dtype=kind)
    domain = Domain.infer(array)
    assert domain == Domain.from_cardinalities([2, 3])
    assert domain.encode(array).tolist() == array.tolist()


@pytest.mark.parametrize("kind", ["int8", "uint8", "uint16", "uint32", "uint64", "float32"])
def test_markers_are_missing_in_arrays_of_codes(kind):
    largest = 127 if kind == "int8" else 255
    array = np.array([[0, 1], [largest, 2], [1, largest], [0, 0]], dtype=kind)
    domain = Domain.infer(array, missing=[largest])
    assert domain.cardinalities == (2, 3)
    assert domain.encode(array).tolist() == CODES_WITH_HOLES


def test_nan_is_missing_in_a_float_array():
    array = np.array(CODES_WITH_HOLES, dtype=float)
    array[array < 0] = np.nan
    domain = Domain.infer(array)
    assert domain == Domain.from_cardinalities([2, 3])
    assert domain.encode(array).tolist() == CODES_WITH_HOLES


def test_masked_cells_are_missing():
    array = np.ma.array([[0, 1], [7, 2], [1, 7], [0, 0]], mask=np.array(CODES_WITH_HOLES) == -1)
    domain = Domain.infer(array)
    assert domain == Domain.from_cardinalities([2, 3])
    assert domain.encode(array).tolist() == CODES_WITH_HOLES


def test_arrays_in_any_memory_order():
    array = np.asfortranarray(CODES_WITH_HOLES)
    assert Domain.infer(array).encode(array).tolist() == CODES_WITH_HOLES
    assert Domain.infer(array).encode(array[::-1]).tolist() == CODES_WITH_HOLES[::-1]


def test_an_array_with_fractions_holds_numbers():
    array = np.array([[0.5, 0], [1.5, 1], [np.nan, 1]])
    domain = Domain.infer(array, bins={"x0": 2})
    assert domain["x0"].kind == "binned"
    assert domain["x1"].labels == (0, 1)
    assert domain.encode(array).tolist() == [[0, 0], [1, 1], [-1, 1]]


def test_whole_numbers_in_a_float_array_stay_numbers_for_a_binned_variable():
    # the same rows must not change their meaning with the rows that stand beside them
    array = np.linspace(0, 10, 101).reshape(-1, 1)
    domain = Domain.infer(array, bins=2)
    whole = array == np.floor(array)
    assert domain.encode(array[whole[:, 0]]).tolist() == domain.encode(array)[whole[:, 0]].tolist()


def test_edges_cut_whole_numbers_in_an_array_of_floats():
    array = np.array([[0.0], [1.0], [15.0]])
    domain = Domain.infer(array, edges={"x0": [0, 10, 20]})
    assert domain.encode(array).tolist() == [[0], [0], [1]]
    # the same numbers as integers are codes, for this domain as for any other
    assert domain.encode(np.array([[0], [1]])).tolist() == [[0], [1]]


@pytest.mark.parametrize("kind", ["int64", "float64"])
def test_a_marker_is_missing_in_an_array_of_codes_too(kind):
    array = np.array([[0, 1], [9, 2], [1, 9], [0, 0]], dtype=kind)
    domain = Domain.infer(array, missing=[9])
    assert domain.cardinalities == (2, 3)
    assert domain.encode(array).tolist() == CODES_WITH_HOLES


@pytest.mark.parametrize(
    "array",
    [
        np.array([["p", "1"], ["", "2"]]),
        np.array([["p", "1"], ["", "2"]], dtype=object),
        np.array([["p", "1"], ["", "2"]], dtype=np.dtypes.StringDType()),
    ],
    ids=["fixed width", "object", "StringDType"],
)
def test_arrays_of_text(array):
    domain = Domain.infer(array)
    assert [v.labels for v in domain] == [("", "p"), ("1", "2")]
    assert domain.encode(array).tolist() == [[1, 0], [0, 1]]


def test_arrays_of_booleans():
    array = np.array([[True], [False]])
    assert_reads(array, (False, True), [1, 0], kind="nominal")


def test_arrays_of_objects():
    array = np.array([["a", 2, True], [None, 1, None], ["b", None, False]], dtype=object)
    domain = Domain.infer(array)
    assert [typed(v.labels) for v in domain] == [typed(("a", "b")), typed((1, 2)), typed((False, True))]
    assert domain.encode(array).tolist() == [[0, 1, 1], [-1, 0, -1], [1, -1, 0]]


def test_an_array_takes_the_domains_names():
    domain = Domain.infer({"p": ["a", "b"], "q": ["c", "d"]})
    assert domain.encode(np.array([[0, 1], [1, -1]])).tolist() == [[0, 1], [1, -1]]


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.array([[0, -2]]), "the code -2 in row 0"),
        (np.array([[0.0, -5.0]]), "the code -5 in row 0"),
        (np.zeros(3), "2 dimensions.*Got 1"),
        (np.zeros((2, 2, 2)), "2 dimensions.*Got 3"),
        (np.zeros((3, 0)), "no columns"),
        (np.zeros((0, 3)), "no rows"),
        (np.zeros((0, 3), dtype=int), "no rows"),
        (np.array([[0.5, np.inf], [1.5, 1.0]]), "'x1' holds inf in row 0"),
        (np.array([[1]], dtype="m8[s]"), "durations or times of day"),
        (np.array([[b"a"]]), "binary"),
        (np.array([[1j]]), "x0"),
        (np.array([[1, "a"], ["b", 2]], dtype=object), "'x0' mixes values of type int and str"),
        (np.array([[10**15, 0]]), "'x0'.*1000000000000000"),
        (np.array([[1e15, 0.0]]), "'x0'.*1000000000000000|1e\\+15"),
        (np.array([[1e300, 0.0]]), "'x0'"),
        (np.array([[2**64 - 1, 0]], dtype=np.uint64), "'x0'"),
    ],
    ids=lambda value: str(value.dtype) if isinstance(value, np.ndarray) else value,
)
def test_arrays_that_are_refused(array, words):
    with pytest.raises(DataError, match=words):
        Domain.infer(array)


def test_an_array_of_another_width_is_refused():
    with pytest.raises(DataError, match="3 columns where 2 variables"):
        Domain.from_cardinalities([2, 2]).encode(np.zeros((1, 3), dtype=int))


# One row as a dict of single values

ROW_DOMAIN = Domain.infer({"t": ["x", "y"], "n": [4, 7], "f": [1.0, 2.0], "b": [True, False]})


@pytest.mark.parametrize(
    ("row", "codes"),
    [
        ({"t": "y", "n": 7, "f": 2.0, "b": True}, [1, 1, 1, 1]),
        ({"t": None, "n": float("nan"), "f": None, "b": None}, [-1, -1, -1, -1]),
        ({"b": False}, [-1, -1, -1, 0]),
        ({"t": np.str_("x"), "n": np.int8(4), "f": np.float32(1), "b": np.False_}, [0, 0, 0, 0]),
        ({"t": "x", "n": "7", "f": "2", "b": "True"}, [0, 1, 1, 1]),
        ({"t": ["x"], "n": [7]}, [0, 1, -1, -1]),
        ({"t": pd.NA, "n": 7}, [-1, 1, -1, -1]),
        ({"t": "x", "n": decimal.Decimal(7)}, [0, 1, -1, -1]),
    ],
    ids=["plain", "missing", "partial", "NumPy scalars", "text", "lists", "pandas' NA", "decimal"],
)
def test_one_row(row, codes):
    assert ROW_DOMAIN.encode(row).tolist() == [codes]


@pytest.mark.parametrize(
    "value",
    [datetime.date(2020, 1, 1), pd.Timestamp("2020"), 1j, object(), b"x"],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("others", [{}, {"n": 4}], ids=["alone", "beside a number"])
def test_one_row_with_a_strange_value_is_refused(value, others):
    with pytest.raises(DataError, match="'t'"):
        ROW_DOMAIN.encode({"t": value, **others})


# Mappings

HOSTILE_NAMES = [
    "class",
    "lambda",
    "None",
    "__class__",
    "not",
    "a b",
    " lead",
    "a,b",
    'say "x"',
    "it's",
    "x\ny",
    "=1+1",
    "p|q",
    "{}",
    "%s",
    "日本",
    "\u0001",
    "x" * 1000,
]


@pytest.mark.filterwarnings("ignore:Column .* has a name with spaces at an end:juror.DataWarning")
@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=ascii)
@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=lambda f: f.__module__)
def test_any_text_may_be_a_name(frame, name):
    domain = Domain.infer(frame({name: ["x", "y"]}))
    assert domain.names == (name,)
    assert domain.encode(frame({name: ["y", None]})).tolist() == [[1], [-1]]


@pytest.mark.filterwarnings("ignore:Column .* has a name with spaces at an end:juror.DataWarning")
@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=ascii)
def test_any_text_may_be_a_name_in_a_csv_file(tmp_path, name):
    quoted = '"' + name.replace('"', '""') + '"'
    path = written(tmp_path, "t.csv", f"{quoted}\nx\ny\n".encode())
    assert Domain.infer(path).names == (name,)


MAPPINGS_REFUSED = {
    "no columns": ({}, "no columns"),
    "no rows": ({"a": []}, "no rows"),
    "empty name": ({"": ["x"]}, "Column 0 has an empty name"),
    "blank name": ({"a": ["x"], " \t": ["x"]}, "Column 1 has an empty name"),
    "integer as a name": ({"a": ["x"], 1: ["x"]}, "Column 1 is named 1, which is not text"),
    "None as a name": ({None: ["x"]}, "Column 0 is named None"),
    "pair as a name": ({("a", "b"): ["x"]}, "not text"),
    "different lengths": ({"a": ["x"], "b": ["x", "y"]}, "'a' has 1 rows and 'b' has 2"),
    "one value beside many": ({"a": ["x"], "b": "y"}, "'b' is the single value 'y'"),
    "matrix": ({"a": np.zeros((2, 2))}, "2 dimensions"),
    "array without dimensions": ({"a": np.array(1)}, "0 dimensions"),
    "numbers and text": ({"a": [1, "1"]}, "mixes values of type int and str"),
    "booleans and numbers": ({"a": [True, 1]}, "mixes values of type bool and int"),
    "lists": ({"a": [[1], [2]]}, "list"),
    "structs": ({"a": [{"x": 1}]}, "struct"),
    "bytes": ({"a": [b"x"]}, "binary"),
    "differences of dates": ({"a": [datetime.timedelta(1)]}, "durations or times of day"),
    "objects": ({"a": [object()]}, "'a' cannot be read"),
    "complex numbers": ({"a": [1j, 2j]}, "'a' cannot be read"),
    "array of complex numbers": ({"a": np.array([1j])}, "'a' cannot be read"),
    "array of records": ({"a": np.array([(1, 2)], dtype=[("x", int), ("y", int)])}, "'a' cannot be read"),
    # a set has no order, so its values would fall on arbitrary rows
    "set": ({"a": {"x", "y"}, "b": [1, 2]}, "'a'"),
    # of a dict only the keys would be read
    "dict": ({"a": {"x": 1, "y": 2}}, "'a'"),
    "object": ({"a": object()}, "'a'"),
}


@pytest.mark.parametrize("name", MAPPINGS_REFUSED)
def test_mappings_that_are_refused(name):
    data, words = MAPPINGS_REFUSED[name]
    with pytest.raises(DataError, match=words):
        Domain.infer(data)


def two_columns(*names):
    return [[1], [2]], list(names)


FRAMES_REFUSED = {
    "pandas, integers as names": (lambda: pd.DataFrame([[1, 2]]), "Column 0 is named 0, which is not text"),
    "pandas, pairs as names": (
        lambda: pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])),
        "not text",
    ),
    "pandas, same name twice": (lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]), r"\['a'\] occur more than once"),
    "arrow, same name twice": (lambda: pa.table(*two_columns("a", "a")), r"\['a'\] occur more than once"),
    "arrow, empty name": (lambda: pa.table(*two_columns("a", "")), "Column 1 has an empty name"),
    "polars, empty name": (lambda: pl.DataFrame({"": [1]}), "Column 0 has an empty name"),
    "pandas, no columns": (lambda: pd.DataFrame(index=[0, 1]), "no columns"),
    "polars, no rows": (lambda: pl.DataFrame({"a": []}), "no rows"),
    "arrow, no chunks": (lambda: one(pa.chunked_array([], pa.string())), "no rows"),
    "pandas, mixed": (lambda: pd.DataFrame({"a": [1, "x"]}), "mixes values of type int and str"),
    "pandas, booleans and integers": (
        lambda: pd.DataFrame({"a": pd.Series([True, 1], dtype=object)}),
        "mixes values of type bool and int",
    ),
    "pandas, complex": (lambda: pd.DataFrame({"a": [1j]}), "'a' cannot be read"),
    "pandas, categories of two types": (lambda: pd.DataFrame({"a": pd.Categorical([1, "1"])}), "mixes"),
    "pandas, intervals": (lambda: pd.DataFrame({"a": pd.cut([1, 2, 3], 2)}), "categories of type"),
    "pandas, periods": (lambda: pd.DataFrame({"a": pd.period_range("2020", periods=2, freq="Y")}), "'a' holds"),
    "pandas, differences of dates": (
        lambda: pd.DataFrame({"a": pd.to_timedelta([1, 2])}),
        "durations or times of day",
    ),
    "polars, lists": (lambda: pl.DataFrame({"a": [[1], [2]]}), "'a' holds values of type"),
    "polars, structs": (lambda: pl.DataFrame({"a": [{"x": 1}, {"x": 2}]}), "'a' holds values of type"),
    "polars, objects": (lambda: pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object)}), "'a'"),
    "polars, bytes": (lambda: pl.DataFrame({"a": [b"x"]}), "'a' holds values of type"),
    "polars, times": (lambda: pl.DataFrame({"a": [datetime.time(1)]}), "durations or times of day"),
    "polars, 128 bits": (lambda: pl.DataFrame({"a": pl.Series([2**70, 1], dtype=pl.Int128)}), "'a'"),
    "arrow, maps": (
        lambda: one(pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))),
        "'a' holds values of type",
    ),
    "arrow, bytes as categories": (lambda: one(pa.array([b"x"]).dictionary_encode()), "categories of type binary"),
    "a list": (lambda: [[1, 2]], "Cannot read data of type list"),
    "a series": (lambda: pd.Series([1, 2]), "Cannot read data of type Series"),
    "nothing": (lambda: None, "Cannot read data of type NoneType"),
    "a number": (lambda: 3, "Cannot read data of type int"),
    "bytes": (lambda: b"table.csv", "Cannot read data of type bytes"),
}


@pytest.mark.parametrize("name", FRAMES_REFUSED)
def test_frames_that_are_refused(name):
    make, words = FRAMES_REFUSED[name]
    with pytest.raises(DataError, match=words):
        Domain.infer(make())


DAYS = ["1969-12-31", "2020-01-01", "2020-03-01"]
DATES = {
    "an array": lambda: np.array([[day] for day in DAYS], dtype="M8[D]"),
    "a dict": lambda: {"x0": [datetime.date.fromisoformat(day) for day in DAYS]},
    "pandas, with a zone": lambda: pd.DataFrame({"x0": pd.to_datetime(DAYS).tz_localize("Europe/Berlin")}),
    "pandas, categories": lambda: pd.DataFrame({"x0": pd.Categorical(pd.to_datetime(DAYS))}),
    "polars": lambda: pl.DataFrame({"x0": DAYS}).with_columns(pl.col("x0").str.to_date()),
    "arrow, categories": lambda: pa.table(
        {"x0": pa.array([datetime.date.fromisoformat(day) for day in DAYS]).dictionary_encode()}
    ),
}


@pytest.mark.parametrize("name", DATES)
def test_dates_are_numbers_with_a_calendar(name):
    domain = Domain.infer(DATES[name](), bins=2)
    assert domain["x0"].kind == "binned"
    assert domain["x0"].calendar is not None
    assert domain.encode(DATES[name]())[:, 0].tolist() in ([0, 0, 1], [0, 1, 1])


def test_dates_in_a_file_are_numbers_with_a_calendar(tmp_path):
    domain = Domain.infer(written(tmp_path, "t.csv", "\n".join(["a", *DAYS, ""]).encode()), bins=2)
    assert (domain["a"].kind, domain["a"].cardinality) == ("binned", 2)
    assert domain["a"].calendar is not None


@pytest.mark.parametrize("values", [[0, 1, 0], [True, False, True], [0.5, np.nan, 1.5]], ids=ascii)
def test_sparse_columns_are_read_like_others(values):
    # pandas.get_dummies(sparse=True) makes them
    sparse, dense = (pd.DataFrame({"a": make(values), "b": [1, 2, 3]}) for make in (pd.arrays.SparseArray, np.array))
    domain = Domain.infer(dense)
    assert domain.encode(sparse).tolist() == domain.encode(dense).tolist()


# Markers


@pytest.mark.parametrize(
    ("values", "missing", "labels", "codes"),
    [
        (["?", "x", "y"], ["?"], ("x", "y"), [-1, 0, 1]),
        (["?", "x", "y"], frozenset("?"), ("x", "y"), [-1, 0, 1]),
        (["?", "NA", "x", "y"], ("?", "NA"), ("x", "y"), [-1, -1, 0, 1]),
        (["", "x", "y"], [""], ("x", "y"), [-1, 0, 1]),
        ([-9, 1, 2], [-9], (1, 2), [-1, 0, 1]),
        ([-9, 1, 2], [-9.0], (1, 2), [-1, 0, 1]),
        ([-9.0, 1.0, 2.0], [-9], (1, 2), [-1, 0, 1]),
        ([-9, 1, 2], [np.int16(-9)], (1, 2), [-1, 0, 1]),
        ([float("inf"), 1.0, 2.0], [float("inf")], (1, 2), [-1, 0, 1]),
        # markers are compared as labels are, by how they are written: "1" is 1, but True is not 1
        ([True, False], [1], (False, True), [1, 0]),
        ([1, 0], [True], (0, 1), [1, 0]),
        ([9, 1, 0], ["9"], (0, 1), [-1, 1, 0]),
        ([9.5, 1.0, 0.0], ["9.5"], (0, 1), [-1, 1, 0]),
        (["9", "1", "0"], [9], ("0", "1"), [-1, 1, 0]),
        (["x", "y", "Y"], ["X"], ("Y", "x", "y"), [1, 2, 0]),
        (pd.Categorical(["?", "x", "y"]), ["?"], ("x", "y"), [-1, 0, 1]),
        (pd.Categorical([-9, 1, 2]), [-9], (1, 2), [-1, 0, 1]),
        # markers that come out of NumPy or pandas
        (["?", "x", "y"], [np.str_("?")], ("x", "y"), [-1, 0, 1]),
        (["?", "x", "y"], np.array(["?"]), ("x", "y"), [-1, 0, 1]),
        (pd.Categorical([-9, 1, 2]), [np.int64(-9)], (1, 2), [-1, 0, 1]),
    ],
    ids=repr,
)
def test_markers(values, missing, labels, codes):
    assert_reads({"a": values}, labels, codes, missing=missing)


@pytest.mark.parametrize("missing", ["NA", None, 5], ids=repr)
def test_markers_that_are_no_list_are_refused(missing):
    # the letters of "NA" would be taken as two markers
    with pytest.raises(JurorError, match="missing"):
        Domain.infer({"a": ["N", "A", "NA", "x"]}, missing=missing)


# Files


def read_csv(folder, text, **options):
    path = written(folder, "t.csv", text.encode() if isinstance(text, str) else text)
    domain = Domain.infer(path, **options)
    return [typed(v.labels) for v in domain], domain.encode(path).T.tolist()


def test_a_bare_empty_cell_is_missing_and_a_quoted_one_is_a_label(tmp_path):
    labels, codes = read_csv(tmp_path, 'a,b\n"",1\n,2\n"x",1\n')
    assert labels == [typed(("", "x")), typed((1, 2))]
    assert codes == [[0, -1, 1], [0, 1, 0]]


def test_a_marker_in_a_numeric_column_leaves_it_numeric(tmp_path):
    labels, codes = read_csv(tmp_path, "a,b\n1,0.5\n?,?\n2,1.5\n", missing=["?"], bins={"b": 2})
    assert labels == [typed((1, 2)), typed(("<1.5", ">=1.5"))]
    assert codes == [[0, -1, 1], [0, -1, 1]]


def test_numeric_markers_in_a_csv_file_in_any_notation(tmp_path):
    labels, codes = read_csv(tmp_path, "a,b\n-9,1\n-9.0,2\n1.0,-9\n2.0,1\n", missing=[-9])
    assert labels == [typed((1, 2)), typed((1, 2))]
    assert codes == [[-1, -1, 0, 1], [0, 1, -1, 0]]


@pytest.mark.filterwarnings("ignore:.*often means? missing")
def test_usual_words_for_missing_are_labels_unless_named(tmp_path):
    labels, codes = read_csv(tmp_path, "a\nNA\nnull\nx\n")
    assert labels == [typed(("NA", "null", "x"))]
    assert codes == [[0, 1, 2]]


def test_csv_types(tmp_path):
    labels, codes = read_csv(tmp_path, 'a,b,c\ntrue,1.0,x\nfalse,2.0,"y,\n""z"""\n')
    assert labels == [typed((False, True)), typed((1, 2)), typed(("x", 'y,\n"z"'))]
    assert codes == [[1, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("early", "late", "labels"),
    [
        ("1", ["x"], ("1", "x")),
        ("", ["x", "y"], ("x", "y")),
        ("7", ["1.5"], (1.5, 7.0)),
    ],
    ids=["text after numbers", "text after holes", "fractions after integers"],
)
def test_the_type_of_a_column_may_show_late_in_a_file(tmp_path, early, late, labels):
    # more than the first block of a megabyte, from which types are usually guessed
    lines = ["a,b", *[f"{early},2"] * 400_000, *(f"{value},3" for value in late)]
    path = written(tmp_path, "t.csv", "\n".join(lines).encode())
    assert typed(Domain.infer(path)["a"].labels) == typed(labels)


def test_parquet_keeps_categories_and_their_order(tmp_path):
    frame = pd.DataFrame({"a": pd.Categorical(["x", None], ["y", "x", "z"], ordered=True)})
    frame.to_parquet(tmp_path / "t.parquet")
    assert_reads(tmp_path / "t.parquet", ("y", "x", "z"), [1, -1], kind="ordinal")


def test_the_row_numbers_of_a_filtered_pandas_frame_are_no_variable(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 3]})
    frame[frame.a != 2].to_parquet(tmp_path / "t.parquet")
    assert Domain.infer(tmp_path / "t.parquet").names == ("a",)


def parquet_bytes(rows=10_000):
    file = io.BytesIO()
    parquet.write_table(pa.table({"a": np.arange(rows)}), file)
    return bytearray(file.getvalue())


def corrupt_parquet():
    content = parquet_bytes()
    content[100:3000] = b"\xff" * 2900
    return bytes(content)


FILES_REFUSED = {
    "empty": ("t.csv", b"", "is empty"),
    "empty line": ("t.csv", b"\n", "is empty. It needs a line of column names"),
    "header only": ("t.csv", b"a,b\n", "no rows"),
    "ragged": ("t.csv", b"a,b\n1,2\n3\n", "has 2 columns, but row 3 '3' has 1 cell"),
    "same name twice": ("t.csv", b"a,a\n1,2\n", "occur more than once"),
    "empty name": ("t.csv", b"a,\n1,2\n", "Column 1 has an empty name"),
    "latin-1": ("t.csv", "a\ncaf\xe9\nx\n".encode("latin-1"), "a"),
    "latin-1 name": ("t.csv", "caf\xe9\ny\nx\n".encode("latin-1"), "t.csv"),
    "utf-16 without a mark": ("t.csv", "a\ny\nx\n".encode("utf-16-le"), "t.csv"),
    "not gzip": ("t.csv.gz", b"a\nx\n", "t.csv.gz"),
    "half a gzip": ("t.csv.gz", gzip.compress(b"a\n" + b"x\ny\n" * 1000)[:-20], "t.csv.gz"),
    "empty gzip": ("t.csv.gz", gzip.compress(b""), "t.csv.gz"),
    "not parquet": ("t.parquet", b"a\nx\n", "cannot be read as .parquet"),
    "half a parquet": ("t.parquet", bytes(parquet_bytes()[:-1000]), "cannot be read as .parquet"),
    "corrupt parquet": ("t.parquet", corrupt_parquet(), "t.parquet"),
    "unknown ending": ("t.xlsx", b"x", r"ends in '.xlsx'; juror reads .*'.csv'"),
    "no ending": ("table", b"x", "juror reads"),
    "another gzip": ("t.txt.gz", b"x", r"ends in '.txt.gz'"),
}


@pytest.mark.parametrize("name", FILES_REFUSED)
def test_files_that_are_refused(tmp_path, name):
    file_name, content, words = FILES_REFUSED[name]
    with pytest.raises(DataError, match=words):
        Domain.infer(written(tmp_path, file_name, content))


@pytest.mark.parametrize("name", ["none.csv", "none.csv.gz", "none.parquet", "no\0ne.csv", "n" * 300 + ".csv"])
def test_a_file_that_is_not_there(tmp_path, name):
    with pytest.raises(DataError, match=r"none|no.x00ne|nnn"):
        Domain.infer(tmp_path / name)


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(DataError, match="There is no file"):
        Domain.infer(tmp_path / "t.csv")


# Separators


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_first_line_tells_the_separator(tmp_path, separator):
    path = tmp_path / "table.csv"
    path.write_text(separator.join(["a", "b"]) + "\n" + separator.join(["x", "1"]) + "\n" + separator.join(["y", "2"]))
    domain = Domain.infer(path)
    assert domain.names == ("a", "b")
    assert domain["b"].labels == (1, 2)


def test_row_numbers_of_a_frame_without_an_index_name_are_no_column(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 3, 2, 1]})
    frame[frame.index != 1].to_parquet(tmp_path / "part.parquet")
    assert Domain.infer(tmp_path / "part.parquet").names == ("a",)


def test_an_empty_line_in_a_table_of_one_column_is_a_missing_cell(tmp_path):
    (tmp_path / "one.csv").write_text("a\nx\n\ny\n")
    domain = Domain.infer(tmp_path / "one.csv")
    assert domain.encode(tmp_path / "one.csv").tolist() == [[0], [-1], [1]]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_is_an_array():
    counts = juror.PairCounts.of(np.matrix([[0, 1], [1, 0]]))
    assert counts.tables[0].tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_row_numbers_of_some_csv_files_are_left_out_with_a_warning(tmp_path, names):
    (tmp_path / f"{names[0]}.csv").write_text(",a,n\n0,x,1.5\n1,y,2.5\n")
    (tmp_path / f"{names[1]}.csv").write_text("a,n\nx,3.5\n")
    with pytest.warns(DataWarning, match="The first column has no name and is left out"):
        domain = Domain.infer(str(tmp_path))
    assert domain.names == ("a", "n")
    with pytest.warns(DataWarning, match="The first column has no name"):
        assert len(domain.encode(str(tmp_path))) == 3


@pytest.mark.parametrize("header", [b",a,b", b'"","a","b"', b" ,a,b"], ids=["pandas", "R", "blank"])
def test_row_numbers_of_a_csv_file_are_left_out_with_a_warning(tmp_path, header):
    path = tmp_path / "t.csv"
    path.write_bytes(header + b"\n1,x,0\n2,y,1\n3,x,1\n")
    with pytest.warns(DataWarning, match="The first column has no name and is left out"):
        domain = Domain.infer(str(path))
    assert domain.names == ("a", "b")
    with pytest.warns(DataWarning, match="The first column has no name"):
        assert domain.encode(str(path)).tolist() == [[0, 0], [1, 1], [0, 1]]
