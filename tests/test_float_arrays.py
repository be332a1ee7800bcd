"""Whether an array of floats holds codes or values is decided once, when the domain is found."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juror
from juror import Domain
from juror.domain.variable import Variable
from juror.errors import DataError

VALUES = np.array([[0.5, 1.0], [1.0, 2.0], [2.0, 1.0], [0.5, 2.0], [2.0, 1.0], [1.0, 2.0]] * 4)


@pytest.fixture(scope="module")
def of_values():
    return juror.fit(VALUES, method="tree")


def test_a_row_has_one_answer_whatever_stands_beside_it(of_values):
    alone = of_values.predict_proba(np.array([[np.nan, 1.0]]), "x0")
    beside = of_values.predict_proba(np.array([[np.nan, 1.0], [0.5, 1.0]]), "x0")
    np.testing.assert_array_equal(alone[0], beside[0])
    np.testing.assert_array_equal(alone, of_values.predict_proba({"x1": [1.0]}, "x0"))


@given(st.lists(st.sampled_from(VALUES.tolist()), min_size=1, max_size=8), st.integers(0, 7), st.booleans())
def test_rows_are_encoded_one_by_one_as_together(rows, at, is_whole):
    array = np.floor(VALUES) if is_whole else VALUES
    domain = Domain.infer(array)
    some = np.floor(rows) if is_whole else np.array(rows)
    some[at % len(some), 0] = np.nan
    together = domain.encode(some)
    np.testing.assert_array_equal(together, np.concatenate([domain.encode(row[None]) for row in some]))


def test_whole_numbers_at_the_fit_are_codes_for_good():
    domain = Domain.infer(np.array([[0.0, 1.0], [1.0, np.nan]]))
    assert domain.floats == "codes"
    assert domain.encode(np.array([[-1.0, 1.0]])).tolist() == [[-1, 1]]
    with pytest.raises(DataError, match=r"'x0' holds 0.5 in row 1.*codes.*dict of columns"):
        domain.encode(np.array([[0.0, 1.0], [0.5, 1.0]]), unknown="missing")


def test_integers_are_codes_whatever_the_fit_saw(of_values):
    assert of_values.domain.encode(np.array([[0, 1], [2, -1]])).tolist() == [[0, 1], [2, -1]]


def test_impute_writes_back_what_the_array_holds(of_values):
    filled = of_values.impute(np.array([[np.nan, 1.0], [2.0, np.nan]]))
    assert filled[0, 1] == 1.0
    assert filled[1, 0] == 2.0
    assert filled[0, 0] in (0.5, 1.0, 2.0)
    assert filled[1, 1] in (1.0, 2.0)


def test_derived_domains_keep_the_decision(of_values, tmp_path):
    domain = of_values.domain
    assert domain.floats == "values"
    assert domain.without([0]).floats == domain.with_missing_as({"x0": "no"}).floats == "values"
    assert domain.extended(np.array([[1.0, 3.0], [2.0, 1.0]])).floats == "values"
    assert domain.extended(np.array([[1.0, 3.0], [2.0, 1.0]]))["x1"].labels == (1, 2, 3)
    assert of_values.condition(x0=0.5).domain.floats == "values"
    of_values.save(tmp_path / "m.juror")
    assert juror.load(tmp_path / "m.juror").domain.floats == "values"
    counts = juror.PairCounts.of(VALUES)
    counts.save(tmp_path / "c.counts")
    assert juror.PairCounts.load(tmp_path / "c.counts").domain.floats == "values"


def test_weights_beside_an_array_do_not_change_the_decision():
    assert Domain.infer(VALUES, sample_weight=np.ones(len(VALUES))).floats == "values"
    assert juror.fit(VALUES, method="tree", sample_weight=np.ones(len(VALUES))).domain.floats == "values"


def test_counts_of_codes_and_of_values_are_not_added():
    values, codes = juror.PairCounts.of(VALUES), juror.PairCounts.of(VALUES[VALUES[:, 0] != 0.5])
    with pytest.raises(DataError, match=r"Arrays of floats hold values here and codes there.*domain"):
        values + codes
    assert (values + juror.PairCounts.of(VALUES[VALUES[:, 0] != 0.5], values.domain)).n_rows > len(VALUES)
    named = {"x0": VALUES[:, 0], "x1": VALUES[:, 1]}
    assert (values + juror.PairCounts.of(named)).domain.floats == "values"


@pytest.mark.parametrize("labels", [(1, 2), (2, 1, 0), (0, 10)], ids=str)
def test_an_array_that_may_be_either_is_refused(labels):
    """A domain that was not found in an array of floats does not say what these hold."""
    domain = Domain((Variable("a", labels, "ordinal"), Variable("b", ("x", "y"))))
    with pytest.raises(DataError, match=r"codes of 'a' or its labels.*integers.*dict of columns"):
        domain.encode(np.array([[1.0, 0.0]]))
    # nothing is unclear about missing cells, about integers, and about labels that are their own codes
    assert domain.encode(np.array([[np.nan, 1.0]])).tolist() == [[-1, 1]]
    assert domain.encode(np.array([[1, 0]])).tolist() == [[1, 0]]
    assert Domain.from_cardinalities([3]).encode(np.array([[1.0], [np.nan]])).tolist() == [[1], [-1]]


def test_older_files_load(of_values, tmp_path):
    """Files of older jurors do not say what floats hold."""
    from safetensors import safe_open
    from safetensors.numpy import save_file

    from juror.files import container

    of_values.save(tmp_path / "m.juror")
    with safe_open(tmp_path / "m.juror", "np") as opened:
        header = json.loads(opened.metadata()["juror"])
        arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    del header["domain"]["floats"], header["sha256"]
    digest = container._digest(header, arrays)
    save_file(arrays, tmp_path / "old.juror", {"juror": json.dumps(header | {"sha256": digest})})
    old = juror.load(tmp_path / "old.juror")
    assert old.domain.floats is None
    np.testing.assert_array_equal(old.log_prob({"x1": [1.0]}), of_values.log_prob({"x1": [1.0]}))
    with pytest.raises(DataError, match="codes of 'x1' or its labels"):
        old.log_prob(np.array([[np.nan, 1.0]]))
