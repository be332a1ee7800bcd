"""Row weights: what is known of them is added up over parts, and the same in every place that reads rows."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juror
from juror.readers.weights import WeightSums
from juror.report.seen import pass_over

N_ROWS = 20
WHERE = {
    "fit": lambda table, domain: juror.fit(table, 1, "em", sample_weight="w"),
    "fit of a domain": lambda table, domain: juror.fit(table, 1, "em", sample_weight="w", domain=domain),
    "counts": lambda table, domain: juror.PairCounts.of(table, sample_weight="w"),
    "counts of a domain": lambda table, domain: juror.PairCounts.of(table, domain, sample_weight="w"),
    "a pass for the page": lambda table, domain: pass_over(table, domain, weight="w"),
    "an answer": lambda table, domain: _model(domain).ask("a", data=table, sample_weight="w"),
}


def _model(domain):
    return juror.JointPMF([1.0], [[[0.5], [0.5]]] * 2, domain)


@pytest.mark.parametrize("suffix", ["frame", ".csv", ".parquet"])
@pytest.mark.parametrize("where", WHERE)
def test_fractions_whose_sum_is_whole_are_survey_weights(where, suffix, tmp_path):
    import pandas as pd

    rows = {"a": ["x", "y"] * 10, "b": ["u", "u", "v", "v"] * 5}
    domain = juror.Domain.infer(rows)

    def given(weights):
        frame = pd.DataFrame({**rows, "w": weights})
        if suffix == "frame":
            return frame
        path = tmp_path / f"rows{suffix}"
        frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
        return str(path)

    with pytest.warns(juror.DataWarning, match="sums to 60 for 20 rows, in fractions"):
        WHERE[where](given(np.tile([2.5, 3.5], 10)), domain)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WHERE[where](given(np.tile([2.0, 4.0], 10)), domain)


@given(st.lists(st.floats(0.1, 50.0) | st.integers(1, 50), max_size=30), st.integers(0, 30))
def test_sums_of_two_parts_are_those_of_the_whole(weights, cut):
    whole, parts = np.array(weights, dtype=float), np.split(np.array(weights, dtype=float), [cut])
    sums, added = WeightSums.of(whole), sum(map(WeightSums.of, parts), WeightSums())
    assert (added.n_counted, added.are_whole) == (sums.n_counted, sums.are_whole)
    assert sums.are_whole == all(weight == int(weight) for weight in weights)
    assert added.total == pytest.approx(sum(weights))
    assert added.squares == pytest.approx(whole @ whole)


def test_fractions_are_worth_fewer_rows():
    uneven = WeightSums.of(np.array([0.5, 1.5]))
    assert uneven.n_effective == pytest.approx(2.0**2 / 2.5)
    assert uneven.worth == pytest.approx(2.0 / 2.5)
    counts = WeightSums.of(np.array([1.0, 3.0]))
    assert counts.n_effective is None
    assert counts.worth == 1.0
