"""The mean gain of rows and its standard error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juror.rows.mean_gain import mean_gain

gains = st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 9)), min_size=1, max_size=20)


@given(gains)
def test_a_weight_of_three_is_three_equal_rows(rows):
    values, weights = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    repeated = np.repeat(values, weights.astype(int))
    assert mean_gain(values, weights) == pytest.approx(mean_gain(repeated, np.ones(len(repeated))), abs=1e-12)


def test_the_error_is_that_of_a_mean():
    values = np.random.default_rng(0).normal(size=400)
    mean, error = mean_gain(values, np.ones(400))
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std() / 20)


def test_shares_come_from_as_many_rows_as_there_are():
    values = np.arange(10.0)
    assert mean_gain(values, np.full(10, 0.1)) == pytest.approx(mean_gain(values, np.ones(10)))
