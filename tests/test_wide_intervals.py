"""What rows know inside wide intervals of numbers, where a model cannot follow: a warning names it."""

import warnings

import numpy as np
import pandas as pd
import pytest

import juror
from juror.fitting import kept_counts


def counties(n=6000, seed=0, follows=True):
    """Sales that follow the size of a town, also among the largest; or that do not, with ``follows=False``."""
    rng = np.random.default_rng(seed)
    size = rng.pareto(1.2, n) * 1000
    sales = size if follows else rng.permutation(size)
    kind = np.where(sales > np.quantile(size, 0.99), "large", np.where(rng.random(n) < 0.5, "a", "b"))
    return pd.DataFrame({"size": size.round(), "kind": kind, "other": rng.choice(["x", "y", "z"], n)})


def told(data, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = juror.fit(data, method="em", ensemble="auto", max_iter=200, n_jobs=2, **options)
    return model, [str(warning.message) for warning in caught if "end inside wide intervals" in str(warning.message)]


def test_what_the_rows_know_inside_the_last_interval_is_named():
    rows = counties()
    model, (message,) = told(rows)
    assert message.startswith("P(kind = ")
    assert "size >= " in message
    assert message.endswith(
        "These conditions end inside wide intervals of numbers, where the model takes all else to be the same. Rely on "
        "the rows there, or cut the columns closer with edges."
    )
    assert message in model.info.warnings
    # The model is wrong there, as it says.
    far = rows["size"].quantile(0.995)
    assert (rows["kind"][rows["size"] >= far] == "large").all()
    assert model.prob("kind = large", given={"size": juror.Range(at_least=far)}) < 0.8


def test_closer_edges_are_the_way_out():
    rows = counties()
    ends = [*np.unique(rows["size"].quantile(np.linspace(0, 0.98, 20)).round()), rows["size"].quantile(0.99)]
    model, messages = told(rows, edges={"size": [*ends, rows["size"].max()]})
    assert messages == []
    far = rows["size"].quantile(0.995)
    assert model.prob("kind = large", given={"size": juror.Range(at_least=far)}) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_independent_columns_are_not_named(seed):
    assert told(counties(seed=seed, follows=False))[1] == []


def test_shares_of_rows_are_left_out_of_a_model_without_counts():
    model, (message,) = told(counties(), keep_counts=False)
    assert " of " in message
    (written,) = [warning for warning in model.info.warnings if "wide intervals" in warning]
    assert "which the rows contradict" in written
    assert " rows;" not in written


def test_rows_of_a_given_domain_may_hold_intervals_and_are_not_read_again():
    rows = counties()
    domain = juror.Domain.infer(rows)
    codes = domain.encode(rows)
    labels = {variable.name: variable.decode(column) for variable, column in zip(domain, codes.T, strict=True)}
    model, messages = told(labels, domain=domain)
    assert messages == []
    assert model.domain["size"].edges == domain["size"].edges


def test_pairs_that_are_too_many_to_count_are_not_counted_in_finer_intervals(monkeypatch):
    """They were, which took most of the time and memory of a fit of 250 columns of numbers."""
    monkeypatch.setattr(kept_counts, "MOST_CELLS", 5)
    model, messages = told(counties())
    assert "left out" in model.info.without_counts
    assert messages == []
