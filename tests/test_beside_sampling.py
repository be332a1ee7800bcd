"""Whether a default fit of a table of moderate size is by sampling or an ensemble."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import juror
from juror.fitting import beside_sampling
from juror.fitting.beside_sampling import BesideSampling, _Runs, against_sampling
from juror.fitting.choose import Judged
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.runners.local import LocalRunner
from juror.solvers.solver import Context
from juror.testing import random_model


def answers(n, seed=0):
    """Twelve answers from 1 to 6 that follow three hidden numbers, as in a survey of opinions."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    felt = [3.5 + z[:, k % 3] + z[:, (k + 1) % 3] / 2 + rng.normal(0, 0.7, n) for k in range(12)]
    return pd.DataFrame({f"q{k}": np.clip(np.rint(each), 1, 6).astype(int) for k, each in enumerate(felt)})


def quiet_fit(rows, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return juror.fit(rows, **options)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(beside_sampling, "_SWEEPS", 60)


def test_rows_that_classes_do_not_follow_have_an_ensemble(quick):
    model = quiet_fit(answers(1500))
    assert model.info.method == "em"
    assert model.info.why.startswith("an ensemble of EM fits, as it makes held-out rows more probable than sampling")


def test_rows_of_a_few_classes_stay_with_sampling(quick):
    truth = random_model([3, 4, 2, 5, 3, 4, 3, 4, 3, 4], 3, np.random.default_rng(0), concentration=0.6)
    model = quiet_fit(truth.sample(1000, seed=1))
    assert model.info.method == "bayes"
    assert model.info.why.startswith("sampling, as an ensemble of EM fits makes held-out rows")
    assert model.info.n_draws == 100


@pytest.mark.parametrize(("n", "options"), [(499, {}), (900, {"rank": 3}), (900, {"sweeps": 20})])
def test_few_rows_and_fits_with_options_are_not_compared(n, options, monkeypatch):
    monkeypatch.setattr("juror.fitting.steps.against_sampling", None)
    assert quiet_fit(answers(n)[["q0", "q1", "q2", "q3", "q4"]], **options).info.method == "bayes"


def test_runs_of_fine_intervals_have_the_densities_of_their_law():
    """A model whose intervals follow the law exactly is as probable in runs as in intervals."""
    rows = np.random.default_rng(0).lognormal(size=(3000, 1))
    variable = juror.Domain.infer({"x": rows[:, 0]}, bins=200, binning="ends")[0]
    runs = _Runs.of(variable)
    assert runs.size <= 32 < variable.cardinality
    assert np.all(np.diff(runs.of_label) >= 0)
    codes = np.arange(variable.cardinality)
    fine = np.log(variable.inside.masses)
    coarse = np.log(np.bincount(runs.of_label, variable.inside.masses))[runs.of_label]
    np.testing.assert_allclose(fine - runs.log_shares(codes), coarse, atol=1e-9)
    assert runs.log_shares(np.array([-1])).tolist() == [0.0]


def test_the_gain_is_that_over_the_truth_for_a_model_that_knows_it(quick):
    """Rows of the truth itself, scored by the truth: sampling from 800 rows must be a little worse."""
    truth = random_model([3, 3, 4], 2, np.random.default_rng(0), concentration=0.5)
    codes = truth.domain.encode(truth.sample(1600, seed=0)).astype(np.int16)
    with LocalRunner(1) as runner:
        kept, held = (MemoryTable(WeightedRows.of(part), truth.domain, runner) for part in (codes[:800], codes[800:]))
        by_truth = truth.log_prob(held.rows.codes)
        judged = Judged(kept, held, by_truth, np.stack([by_truth, by_truth]))
        found = against_sampling(judged, Context(0, runner))
        assert 0 < found.gain < 0.1
        # Members that gain by their mean promise more.
        hopeful = Judged(kept, held, by_truth, np.stack([by_truth, by_truth]) - 1.0)
        assert against_sampling(hopeful, Context(0, runner)).gain == pytest.approx(found.gain + 0.75)


def test_both_reasons_are_sentences():
    assert "by 0.210 nats" in BesideSampling(0.21, True).why
    assert "not clearly more probable, by 0.010" in BesideSampling(0.01, False).why
    assert "less probable, by 0.300" in BesideSampling(-0.3, False).why
