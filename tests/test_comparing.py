"""Settings of an ensemble are compared on a sample of many rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import juror
from juror import Domain
from juror.fitting.comparing import Sample
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.runners.local import LocalRunner
from juror.testing import random_codes, random_model

SHAPE = (4,) * 8
# A table of so many classes that larger ranks help if there are more rows
CODES = random_codes(
    random_model(SHAPE, 100, np.random.default_rng(0), concentration=0.1), 20_000, np.random.default_rng(1), missing=0.1
)
# Rows that are all different, so that they can be told apart and none stands for many
DISTINCT = np.unique(CODES, axis=0)


def table_of(codes=DISTINCT, weights=None):
    return MemoryTable(WeightedRows.of(codes, weights), Domain.from_cardinalities(SHAPE), LocalRunner(1))


@pytest.fixture
def few_are_enough(monkeypatch):
    monkeypatch.setattr("juror.fitting.members.ENOUGH_ROWS", 500)


def fit(codes=CODES, **options):
    domain = Domain.from_cardinalities(SHAPE)
    return juror.fit(codes, method="em", ensemble=2, domain=domain, **{"n_jobs": 1, "smoothing": 0.1} | options)


class TestSample:
    def test_few_rows_are_compared_whole(self):
        table = table_of()
        sample = Sample.of(table, np.random.default_rng(0))
        kept, held = table.split(0.2, np.random.default_rng(0))
        assert sample.is_whole
        assert sample.in_words() == ""
        for one, other in ((sample.kept, kept), (sample.held, held)):
            np.testing.assert_array_equal(one.rows.codes, other.rows.codes)
            np.testing.assert_array_equal(one.rows.weights, other.rows.weights)
        assert list(sample.larger(seed=0)) == []

    @pytest.mark.usefixtures("few_are_enough")
    def test_many_rows_are_sampled(self):
        sample = Sample.of(table_of(), np.random.default_rng(0))
        sizes = [len(each.kept.rows.codes) for each in (sample, *sample.larger(seed=0))]
        assert len(sample.held.rows.codes) == pytest.approx(100, abs=40)
        assert sizes[0] == pytest.approx(400, abs=80)
        assert len(sizes) == 3
        for size, more in pairwise(sizes):
            assert more == pytest.approx(4 * size, rel=0.1)
        assert 2 * sizes[-1] > len(sample.rest.rows.codes)

    @pytest.mark.usefixtures("few_are_enough")
    def test_the_last_sample_has_all_rows_if_there_are_fewer_than_four_times_as_many(self):
        sample = Sample.of(table_of(DISTINCT[:1500]), np.random.default_rng(0))
        (last,) = sample.larger(seed=0)
        np.testing.assert_array_equal(last.kept.rows.codes, sample.rest.rows.codes)

    @pytest.mark.usefixtures("few_are_enough")
    def test_no_row_is_both_fitted_and_scored(self):
        sample = Sample.of(table_of(), np.random.default_rng(0))
        scored = {tuple(row) for row in sample.held.rows.codes}
        for each in (sample, *sample.larger(seed=0)):
            assert each.held is sample.held
            assert scored.isdisjoint(map(tuple, each.kept.rows.codes))

    @pytest.mark.usefixtures("few_are_enough")
    def test_rows_are_drawn_alike_and_keep_their_weights(self):
        weights = np.random.default_rng(2).random(len(DISTINCT)) + 0.5
        table = table_of(DISTINCT, weights)
        samples = [Sample.of(table, np.random.default_rng(seed)).kept for seed in range(100)]
        of_row = {tuple(row): weight for row, weight in zip(table.rows.codes, table.rows.weights, strict=True)}
        for row, weight in zip(samples[0].rows.codes, samples[0].rows.weights, strict=True):
            assert weight == of_row[tuple(row)]
        # The mean weight of a label over samples is that of the table.
        shares = np.mean([each.label_counts / each.total for each in samples], axis=0)
        np.testing.assert_allclose(shares, table.label_counts / table.total, atol=0.01)

    @pytest.mark.usefixtures("few_are_enough")
    def test_few_distinct_rows_are_not_sampled(self):
        codes = np.repeat(CODES[:300], 100, axis=0)
        assert Sample.of(table_of(codes), np.random.default_rng(0)).is_whole


class TestChoosing:
    @pytest.mark.usefixtures("few_are_enough")
    def test_larger_samples_support_larger_ranks(self, monkeypatch):
        model = fit(forest=False)
        with monkeypatch.context() as patched:
            patched.setattr(Sample, "larger", lambda self, seed: iter(()))
            by_first_sample = fit(forest=False)
        assert model.info.rank > by_first_sample.info.rank
        assert fit(CODES[:500]).info.compared_on == ""
        assert model.info.compared_on.startswith("a sample of the rows: up to ")
        assert "settings compared on" in model.summary()

    @pytest.mark.usefixtures("few_are_enough")
    def test_the_same_bits_for_any_number_of_threads(self):
        one, other = fit(), fit(n_jobs=2)
        assert one.info == other.info
        for a, b in zip(one.blocks, other.blocks, strict=True):
            np.testing.assert_array_equal(a.weights, b.weights)

    @pytest.mark.usefixtures("few_are_enough")
    def test_whole_weights_are_repeated_rows(self):
        codes = CODES[:5000]
        repeats = np.random.default_rng(0).integers(1, 4, len(codes))
        one, other = fit(codes, sample_weight=repeats), fit(np.repeat(codes, repeats, axis=0))
        assert one.info.compared_on.startswith("a sample of the rows: up to ")
        assert one.info.rank_path == other.info.rank_path

    @pytest.mark.usefixtures("few_are_enough")
    def test_what_is_given_needs_no_sample(self):
        assert fit(CODES[:5000], rank=4, forest=False).info.compared_on == ""

    @pytest.mark.usefixtures("few_are_enough")
    def test_labels_are_compared_on_a_sample_too(self):
        info = fit(np.tile(CODES, (2, 1)), target="x0", forest=False).info
        assert info.compared_on.startswith("a sample of the rows: up to ")
