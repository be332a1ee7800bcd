"""Weights of any size give a fit, or are refused with a sentence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import juror

WEIGHTS = [[9e13, 0, 1], [1e8, 1e-8, 0], [1e12, 1e-9, 1], [5e-324, 1, 2], [5e-324, 0, 1], [1e-300, 1e-300, 1e-300]]
WEIGHTS += [[1e-160, 1e-160, 0], [1e17, 1, 1], [1e300, 1e-300, 1]]
FITS = [("em", 2), ("em", 3), ("em", "cv"), ("bayes", 2), ("auto", "auto")]


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize(("method", "rank"), FITS)
@pytest.mark.parametrize("distinct", [3, 30])
def test_any_weights(weights, method, rank, distinct):
    rng = np.random.default_rng(0)
    rows = np.tile(rng.integers(0, 3, size=(distinct, 3)), (30 // distinct, 1))
    options = {"sweeps": 20} if method == "bayes" else {"max_seconds": 1} if method == "auto" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", juror.JurorWarning)
        refusal = ""
        try:
            model = juror.fit(rows, rank, method, sample_weight=np.array(weights * 10), **options)
        except juror.JurorError as error:
            refusal = str(error)
    if refusal:
        assert "Scale it" in refusal or "held-out row" in refusal
        return
    assert np.isfinite(model.log_prob(rows[[2]])).all()
    assert np.isclose(model.marginal("x0").to_numpy().sum(), 1)


@pytest.mark.parametrize("most", [1e16, 1e30, 1e300])
def test_counts_that_are_not_exact_are_refused(most):
    """Found by the fuzzer: a count of 1e300 in a file loaded, and was then cast to an integer."""
    counts = juror.PairCounts.of(juror.datasets.titanic())
    tables = [table.copy() for table in counts.tables]
    tables[2][0, 0] = most
    with pytest.raises(juror.JurorError, match=r"^The table of .*'Survived'\] must .* none above 9\.0072e\+15"):
        juror.PairCounts(counts.domain, counts.groups, tuple(tables), counts.n_rows, counts.singles)
    singles = [single.copy() for single in counts.singles]
    singles[1][0] = most
    with pytest.raises(juror.JurorError, match=r"^singles must .* none above 9\.0072e\+15"):
        juror.PairCounts(counts.domain, counts.groups, counts.tables, counts.n_rows, tuple(singles))
