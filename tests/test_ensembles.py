"""Ensembles: a mean of fits that stop early, how their rank and smoothing are chosen, and a budget of time."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import juror
from juror import Domain, JointPMF
from juror.errors import DataWarning, FitWarning, ParameterError
from juror.fitting.choose import Chosen, FitSetting, choose_rank_for
from juror.fitting.choosing_time import ChoosingTime
from juror.fitting.climb import choose_for_members
from juror.fitting.ensemble import fit_ensemble
from juror.fitting.held_out import Trial, as_mixture
from juror.fitting.members import fit_members, held_out_share
from juror.fitting.rank_path import choose_rank
from juror.record import RankScore
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.runners.local import LocalRunner
from juror.solvers.bayes import BayesOptions, _in_time
from juror.solvers.bell_edges import BellEdges
from juror.solvers.em import EMOptions
from juror.solvers.methods import METHODS
from juror.solvers.solver import Context
from juror.testing import dense, random_codes, random_model

SHAPE = (3, 2, 4, 3)
DOMAIN = Domain.from_cardinalities(SHAPE)
TRUTH = random_model(SHAPE, 3, np.random.default_rng(0), concentration=0.4)
CODES = random_codes(TRUTH, 300, np.random.default_rng(1), missing=0.1)
# A table of so many classes that ever larger ranks help
WIDE = (4,) * 8
RISING = random_codes(
    random_model(WIDE, 400, np.random.default_rng(0), concentration=0.1), 6000, np.random.default_rng(1)
)
# Thirty labels in sixty rows: some held-out labels are never among the kept ones.
SCATTERED = np.random.default_rng(2).integers(0, 30, (60, 3))


def fit(codes=CODES, rank=3, *, shape=SHAPE, n_jobs=1, forest=False, **options):
    """Fit an ensemble; most tests are about what members without a forest share with all others, and are quicker."""
    domain = Domain.from_cardinalities(shape)
    return juror.fit(codes, rank, "em", domain=domain, n_jobs=n_jobs, forest=forest, **options)


def weighted(trial, rows):
    return replace(trial, table=replace(trial.table, rows=rows))


def trial_of(codes=CODES, *, shape=SHAPE, target=None, **context):
    around = Context(0, LocalRunner(1), **context)
    table = MemoryTable(WeightedRows.of(codes), Domain.from_cardinalities(shape), around.runner)
    return Trial(table, METHODS["em"], target, around)


def members_of(model):
    """Take an ensemble apart."""
    F = model.rank // model.info.n_members
    return [
        JointPMF(
            model.info.n_members * model.weights[first : first + F],
            [A[:, first : first + F] for A in model.factors],
            model.domain,
        )
        for first in range(0, model.rank, F)
    ]


def model_of(member):
    found = as_mixture((member.parameters,), DOMAIN)
    return JointPMF.of_blocks(found.blocks, DOMAIN)


def assert_same_bits(one, other):
    for a, b in zip(one.blocks, other.blocks, strict=True):
        assert a.forest == b.forest
        for A, B in zip((a.weights, *a.tables), (b.weights, *b.tables), strict=True):
            np.testing.assert_array_equal(A, B)
    assert one.info == other.info


def told(**options):
    """Fit, and return the progress reports and the model."""
    steps = []
    model = fit(progress=steps.append, **options)
    return steps, model


class TestTheMean:
    def test_the_ensemble_is_the_mean_of_its_members(self):
        model = fit(ensemble=3, smoothing=0.1)
        members = fit_members(trial_of(), EMOptions(), FitSetting(3, 0.1), range(3))
        tensors = [dense(model_of(member)) for member in members]
        np.testing.assert_allclose(dense(model), np.mean(tensors, axis=0), rtol=1e-12)
        assert model.info.starts == tuple(member.score for member in members)
        assert model.info.n_iter == sum(member.n_passes for member in members)
        assert model.info.log_likelihood == pytest.approx(model.log_prob(CODES).sum())

    def test_members_differ(self):
        one, *others = members_of(fit(ensemble=3, smoothing=0.1))
        for other in others:
            assert np.abs(dense(one) - dense(other)).max() > 1e-3

    def test_a_number_stands_for_the_same_member_always(self):
        [alone] = fit_members(trial_of(), EMOptions(), FitSetting(3, 0.1), [2])
        among = fit_members(trial_of(), EMOptions(), FitSetting(3, 0.1), range(3))[2]
        np.testing.assert_array_equal(alone.parameters.stack, among.parameters.stack)

    @pytest.mark.parametrize("target", [None, "x0"])
    def test_it_makes_unseen_rows_more_probable_than_its_members_do_on_average(self, target):
        truth = random_model((3,) * 8, 6, np.random.default_rng(3), concentration=0.4)
        rng = np.random.default_rng(4)
        seen, unseen = random_codes(truth, 400, rng), random_codes(truth, 1000, rng)
        model = fit(seen, 8, shape=(3,) * 8, ensemble=5, smoothing=0.1, target=target)
        scores = [member.log_prob(unseen).mean() for member in members_of(model)]
        # Not below, by concavity. Over 24 seeds it was above by 0.026 or more, and in 21 of them above the best too.
        assert model.log_prob(unseen).mean() > np.mean(scores) + 0.01

    def test_same_seed_same_bits_for_any_number_of_threads(self):
        for options in ({"rank": "auto"}, {"target": "x1"}, {"rank": 2, "smoothing": 0.3}):
            one = fit(ensemble=3, **options)
            assert_same_bits(one, fit(ensemble=3, **options))
            assert_same_bits(one, fit(ensemble=3, n_jobs=2, **options))

    def test_another_seed_gives_other_bits(self):
        with pytest.raises(AssertionError):
            assert_same_bits(fit(ensemble=2, smoothing=0.1), fit(ensemble=2, smoothing=0.1, seed=1))

    def test_ensemble_one_is_a_single_fit(self):
        assert_same_bits(fit(ensemble=1), fit())
        assert fit(ensemble=1).info.n_members == 1

    @pytest.mark.parametrize(("ensemble", "n_members"), [("auto", 10), (2, 2), (np.int64(2), 2)])
    def test_there_are_as_many_members_as_asked_for(self, ensemble, n_members):
        model = fit(ensemble=ensemble, smoothing=0.1, rank=2)
        assert (model.info.n_members, model.rank) == (n_members, 2 * n_members)

    def test_of_very_many_classes_there_are_fewer_members(self):
        # a rank of more classes than rows is refused
        heavy = np.full(50, 100)
        options = {"ensemble": "auto", "smoothing": 1.0, "rank": 4000, "max_iter": 1}
        with pytest.warns(FitWarning, match=r"3 of 3 members spent max_iter = 1 before.*Raise max_iter\."):
            assert fit(CODES[:50], sample_weight=heavy, **options).info.n_members == 3

    def test_one_class_is_fitted_once(self):
        model = fit(rank=1, ensemble="auto", smoothing=0.1)
        assert (model.rank, model.info.n_members, model.info.stopped) == (1, 1, "stopped early")
        np.testing.assert_allclose(dense(model), dense(fit(rank=1)), rtol=1e-9)


def test_of_few_distinct_rows_smaller_ranks_are_tried_too():
    people = juror.datasets.titanic()
    model = juror.fit(people, method="em", ensemble=2, target="Survived", n_jobs=1)
    tried = [step.rank for step in model.info.rank_path]
    # 24 distinct rows, of which each fold lacks some: the largest rank is the first
    assert max(tried) < 16
    assert min(tried) < max(tried)
    assert set(model.predict(people)) == {"No", "Yes"}


class TestStopping:
    def test_members_stop_by_rows_they_hold_out(self):
        for member in fit_members(trial_of(), EMOptions(), FitSetting(6, 0.01), range(4)):
            assert member.by_held_out
            assert member.n_passes < 100
        assert fit(ensemble=2).info.stopped == "each stopped early, by 0.1 of the rows, held out"

    def test_of_many_rows_a_few_thousand_are_enough(self):
        assert held_out_share(trial_of().table) == 0.1
        assert held_out_share(
            weighted(trial_of(), WeightedRows.of(CODES, np.full(300, 1000.0))).table
        ) == pytest.approx(4000 / 300_000)

    def test_members_made_to_predict_see_every_row(self):
        [member] = fit_members(trial_of(target=0), EMOptions(), FitSetting(3, 0.1), [0])
        assert not member.by_held_out
        assert member.score == pytest.approx(model_of(member).log_prob(CODES).mean())
        assert fit(ensemble=2, target="x0").info.stopped == "each stopped early"

    @pytest.mark.parametrize("max_iter", [1, 2, 3, 5])
    def test_few_passes_still_have_a_score(self, max_iter):
        members = fit_members(trial_of(), EMOptions(max_iter=max_iter), FitSetting(3, 0.1), range(2))
        assert [member.n_passes for member in members] == [max_iter] * 2
        assert np.all(np.isfinite([member.score for member in members]))

    def test_what_held_out_no_row_does_not_say_so(self):
        few = np.random.default_rng(0).integers(0, 2, (5, 4))
        info = fit(few, 2, ensemble=6, smoothing=0.1).info
        held = [member.by_held_out for member in fit_members(trial_of(few), EMOptions(), FitSetting(2, 0.1), range(6))]
        assert 0 < sum(held) < 6
        assert info.stopped == f"each stopped early, {sum(held)} of them by 0.1 of the rows, held out"
        assert fit(few[:1], 2, ensemble=2, smoothing=0.1).info.stopped == "each stopped early"

    def test_rows_that_are_impossible_are_refused_where_members_stop_by_them(self):
        with pytest.raises(ParameterError) as caught:
            fit(SCATTERED, 3, shape=(30,) * 3, ensemble=2, smoothing=0)
        assert str(caught.value) == (
            "smoothing is 0, and some row that a member of the ensemble held out has probability zero, so that it "
            "cannot tell when to stop. Pass smoothing above zero."
        )

    def test_without_smoothing_dense_tables_are_fitted(self):
        two = np.random.default_rng(0).integers(0, 2, (200, 3))
        for options in ({"rank": 3}, {"rank": "auto"}, {"rank": "auto", "target": "x0"}):
            model = fit(two, shape=(2, 2, 2), ensemble=2, smoothing=0, **options)
            assert model.info.smoothing == 0
            assert np.all(np.isfinite(model.log_prob(two)))


class TestChoosing:
    def test_rank_and_smoothing_are_those_that_scored_best(self):
        info = fit(rank="auto", ensemble=2).info
        ranks = {step.rank: step.score for step in info.rank_path}
        smoothings = dict(info.smoothing_path)
        # A gain of less than a thousandth does not count.
        assert ranks[info.rank // 2] >= max(ranks.values()) - 1e-3
        assert smoothings[info.smoothing] >= max(smoothings.values()) - 1e-3
        assert ranks[info.rank // 2] == max(smoothings.values())
        assert len(ranks) > 1
        assert len(smoothings) > 1
        assert list(ranks) == sorted(ranks)
        assert list(smoothings) == sorted(smoothings)
        assert info.chosen_by == "log-probability of held-out rows, nats a row"

    def test_the_path_tells_how_many_classes_hold_rows(self):
        # Some classes hold less than half a row if rows have small weights.
        rows = WeightedRows.of(CODES[:60], np.full(60, 0.2))
        trial, options = weighted(trial_of(), rows), EMOptions(smoothing=0.001, forest=False)
        path = choose_for_members(trial, options, "auto", with_smoothing=False).rank_path
        kept, _ = trial.table.split(0.2, np.random.default_rng([0, 5]))
        for step in path:
            members = fit_members(replace(trial, table=kept), options, FitSetting(step.rank, 0.001), range(2))
            assert step.n_occupied == int(np.median([np.sum(m.parameters.lam * kept.total >= 0.5) for m in members]))
        assert any(step.n_occupied < step.rank for step in path)

    def test_what_is_given_is_not_chosen(self):
        info = fit(rank=2, ensemble=2, smoothing=0.2).info
        assert (info.rank, info.smoothing, info.rank_path, info.smoothing_path) == (4, 0.2, (), ())
        assert info.chosen_by == ""
        info = fit(rank="auto", ensemble=2, smoothing=0.2).info
        assert info.rank_path
        assert (info.smoothing, info.smoothing_path) == (0.2, ())
        info = fit(rank=2, ensemble=2).info
        assert (info.rank, info.rank_path) == (4, ())
        assert info.smoothing in dict(info.smoothing_path)

    def test_labels_choose_for_labels(self):
        info = fit(rank="auto", ensemble=2, target="x0").info
        assert info.chosen_by == "quadratic score of labels of 'x0' in held-out rows, 0 at best"
        # One label of three has a score above log ⅓ on average, a whole row a lower one.
        assert max(step.score for step in info.rank_path) > -np.log(3)

    @pytest.mark.parametrize("n_rows", [1, 2, 3])
    def test_too_few_rows_are_told(self, n_rows):
        sentence = f"{n_rows} rows are too few to hold some out and choose a rank; rank=1 is used. Pass rank=…"
        for options in ({"ensemble": 2}, {"ensemble": "auto", "target": "x0"}):
            with pytest.warns(FitWarning) as caught:
                model = fit(CODES[:n_rows], "auto", **options)
            assert [str(one.message) for one in caught] == [sentence]
            # The warning points to the call of fit, not inside.
            assert caught[0].filename == __file__
            assert model.rank == model.info.n_members

    def test_where_everything_is_impossible_nothing_is_chosen(self):
        with pytest.raises(ParameterError) as caught:
            fit(SCATTERED, "auto", shape=(30,) * 3, ensemble=2, smoothing=0, target="x0")
        assert str(caught.value) == (
            "Some held-out row has probability zero at every rank tried, [8, 16, 24], so none can be chosen. Pass "
            "smoothing above zero, or rank=…"
        )

    def test_the_order_of_rows_does_not_matter(self):
        shuffled = np.random.default_rng(0).permutation(CODES)
        assert_same_bits(fit(shuffled, "auto", ensemble=2), fit(rank="auto", ensemble=2))


class TestOddTables:
    @pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5])
    @pytest.mark.parametrize("target", [None, "x1"])
    @pytest.mark.parametrize("rank", ["auto", 2])
    def test_a_handful_of_rows(self, n_rows, target, rank):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "[1-5] rows are too few")
            self.check(fit(CODES[:n_rows], rank, ensemble=2, target=target))

    @pytest.mark.parametrize("target", [None, "x0"])
    def test_one_column(self, target):
        self.check(fit(CODES[:40, :1], "auto", shape=SHAPE[:1], ensemble=2, target=target))

    @pytest.mark.parametrize("target", [None, "x0"])
    def test_one_label(self, target):
        self.check(fit(np.zeros((20, 2), dtype=int), "auto", shape=(1, 1), ensemble=2, target=target))

    @pytest.mark.parametrize("target", [None, "x0"])
    def test_a_column_that_is_never_seen(self, target):
        codes = CODES[:60].copy()
        codes[:, 2] = -1
        model = fit(codes, "auto", ensemble=2, target=target)
        self.check(model)
        np.testing.assert_allclose(model.marginal("x2").to_numpy(), 0.25)

    def test_rows_without_any_value(self):
        self.check(fit(np.full((20, 4), -1), "auto", ensemble=2))

    def test_labels_that_most_rows_lack(self):
        codes = CODES[:100].copy()
        codes[15:, 0] = -1
        self.check(fit(codes, "auto", ensemble=2, target="x0"))

    def test_labels_of_one_row_only(self):
        codes = CODES[:60].copy()
        codes[:, 0] = 0
        codes[5, 0], codes[7, 0] = 1, 2
        self.check(fit(codes, "auto", ensemble=2, target="x0"))

    @pytest.mark.parametrize("target", [None, "x0"])
    @pytest.mark.parametrize("weights", ["one in all", "fractions", "millions"])
    def test_weights(self, weights, target):
        codes = CODES[:40]
        weight = {
            "one in all": np.full(40, 1 / 40),
            "fractions": np.random.default_rng(0).random(40),
            "millions": np.full(40, 1e6),
        }[weights]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "sample_weight sums to 1 for 40 rows", DataWarning)
            warnings.filterwarnings("ignore", "2 of 2 members spent max_iter", FitWarning)
            model = fit(codes, "auto", ensemble=2, sample_weight=weight, target=target, max_iter=50)
        self.check(model)
        assert model.info.n_rows == pytest.approx(weight.sum())

    def test_whole_weights_are_repeated_rows(self):
        repeats = np.random.default_rng(0).integers(1, 4, len(CODES))
        weighted = fit(rank="auto", ensemble=2, sample_weight=repeats)
        assert_same_bits(weighted, fit(np.repeat(CODES, repeats, axis=0), "auto", ensemble=2))

    def test_more_classes_than_rows(self):
        self.check(fit(CODES[:10], 50, ensemble=2))

    @staticmethod
    def check(model):
        assert dense(model).sum() == pytest.approx(1.0)
        assert np.all(np.isfinite(model.info.starts))
        assert model.info.log_likelihood <= 1e-9
        assert model.summary()


class TestWhatIsRefused:
    @pytest.mark.parametrize("ensemble", [0, -1, True, "many", 2.5, None, [2], np.nan])
    def test_ensemble(self, ensemble):
        with pytest.raises(ParameterError, match=r"ensemble must be .*int.*\. Got .* instead\."):
            fit(ensemble=ensemble)

    @pytest.mark.parametrize("seconds", [0, -1, "ten", True, np.nan, np.inf])
    @pytest.mark.parametrize("method", ["em", "bayes", "spa-em", "auto"])
    def test_max_seconds(self, method, seconds):
        with pytest.raises(ParameterError) as caught:
            juror.fit(CODES, 2, method, max_seconds=seconds)
        assert str(caught.value) == f"max_seconds must be a number in the range (0, inf). Got {seconds!r} instead."

    @pytest.mark.parametrize("method", ["spa", "ctf", "juror-a", "juror-b", "juror-c"])
    def test_max_seconds_of_moments(self, method):
        with pytest.raises(ParameterError, match=rf"method '{method}' has no option 'max_seconds'\. It has \['"):
            juror.fit(CODES, 2, method, max_seconds=1)

    @pytest.mark.parametrize("method", ["bayes", "spa-em"])
    def test_ensembles_of_others(self, method):
        with pytest.raises(ParameterError, match=rf"method '{method}' has no option 'ensemble'\. It has \['"):
            juror.fit(CODES, 2, method, ensemble=2)

    def test_cross_validation(self):
        with pytest.raises(ParameterError, match=r"rank='cv' is for single fits.*'auto'"):
            fit(rank="cv", ensemble=2)

    def test_init(self):
        with pytest.raises(ParameterError, match=r"^init is where a single fit starts.*Leave one out\.$"):
            fit(ensemble=2, init=fit())


class TestTime:
    # One pass of one fit is contradicted by its rows, which is told too.
    @pytest.mark.filterwarnings("ignore:P\\(:juror.FitWarning")
    @pytest.mark.parametrize("options", [{}, {"target": "x0"}, {"rank": 2}, {"rank": 2, "smoothing": 0.1}])
    def test_a_budget_that_is_spent_leaves_one_fit(self, options):
        with pytest.warns(FitWarning, match=r"The fit spent max_seconds = 1e-09 before.*Raise max_seconds\."):
            model = fit(ensemble="auto", max_seconds=1e-9, **{"rank": "auto"} | options)
        assert model.info.n_members == 1
        assert model.info.n_iter == 1
        by = "" if "target" in options else ", by 0.1 of the rows, held out"
        assert model.info.stopped == f"stopped early{by}; 1 of at most 100 fits in 1e-09 s"
        assert len(model.info.rank_path) <= 1
        assert len(model.info.smoothing_path) <= 1

    def test_fewer_members_than_asked_for_are_told(self, clock):
        solution = fit_ensemble(
            trial_of(until=10.0), EMOptions(ensemble=99, max_seconds=10), Chosen(FitSetting(2, 0.1))
        )
        assert str(solution.complaints[-1]) == (
            f"max_seconds = 10 was enough for {solution.record.n_members} of the 99 members. Raise max_seconds."
        )

    def test_within_a_budget_there_are_as_many_members_as_there_is_time_for(self, clock):
        solution = fit_ensemble(
            trial_of(until=10.0), EMOptions(ensemble="auto", max_seconds=10), Chosen(FitSetting(2, 0.1))
        )
        assert clock.now < 10.1
        assert 2 < solution.record.n_members < 100
        assert solution.record.stopped.endswith(f"; {solution.record.n_members} of at most 100 fits in 10 s")

    @pytest.mark.parametrize("target", [None, 0])
    def test_choosing_leaves_most_of_the_time(self, clock, target):
        clock.seconds_a_look = 0.1
        found = choose_for_members(trial_of(until=10.0, target=target), EMOptions(), "auto", with_smoothing=True)
        assert len(found.rank_path) > 0
        # Each of the running members may check the clock once more, in every fold.
        assert clock.now < 6.0 + 0.1 * 25

    def test_time_enough_changes_nothing_where_nothing_is_chosen(self):
        hour = fit(rank=3, smoothing=0.1, ensemble=3, max_seconds=3600)
        assert_same_bits(hour, fit(rank=3, smoothing=0.1, ensemble=3))

    def test_more_time_tries_larger_ranks_while_they_help(self, clock):
        def choose(**context):
            trial = trial_of(RISING, shape=WIDE, **context)
            clock.now = 0.0
            return choose_for_members(trial, EMOptions(ensemble="auto", forest=False), "auto", with_smoothing=False)

        usual, short, long = choose(), choose(until=20.0), choose(until=200.0)
        scores = [step.score for step in long.rank_path]
        assert scores == sorted(scores)
        assert short.rank < usual.rank == 1024 < long.rank
        assert long.rank_path[: len(usual.rank_path)] == usual.rank_path
        assert short.ended == "there was no time to compare more settings"
        assert long.ended == f"rank {long.rank} is the largest that is tried for these rows"
        assert usual.ended == ""

    def test_without_a_budget_nobody_looks_at_the_clock(self, clock):
        choose_for_members(trial_of(), EMOptions(ensemble="auto", forest=False), "auto", with_smoothing=True)
        looks = clock.now
        time = ChoosingTime(Context(0, LocalRunner(1)))
        assert all(time.allows(n_after) for n_after in (1.0, 1e9))
        time.took(1e9)
        assert time.allows(1.0)
        assert clock.now == looks

    def test_a_comparison_begins_early_or_if_all_can_end_in_time(self, clock):
        clock.seconds_a_look = 0.0
        time = ChoosingTime(Context(0, LocalRunner(1), until=100.0))
        time.took(5.0)
        assert time.allows(n_after=1000.0)
        clock.now = 20.0
        # Ten seconds for the next, and seven times as long for the fit
        assert time.allows(n_after=7.0)
        assert not time.ran_out
        assert not time.allows(n_after=7.1)
        assert time.ran_out
        clock.now = 61.0
        assert not time.allows(n_after=0.0)

    def test_a_search_that_nothing_improves_says_so(self):
        model = fit(rank="auto", ensemble="auto", max_seconds=3600)
        assert model.info.search_ended == "no other setting that was tried was better"
        assert f"end of the search: {model.info.search_ended}" in str(model.summary())
        assert fit(rank="auto", ensemble=2).info.search_ended == ""

    def test_in_a_budget_any_gain_counts(self):
        def score(rank):
            return RankScore(rank, -1e-4 * abs(rank - 24), rank)

        assert choose_rank(score, 100)[0] == 1
        assert choose_rank(score, 100, least_gain=0.0)[0] == 24

    def test_the_path_of_a_single_fit_goes_on_in_a_budget(self, clock):
        clock.seconds_a_look = 0.0
        usual, longer = (choose_rank_for(trial_of(until=until), EMOptions(), "auto") for until in (np.inf, 100.0))
        assert longer.rank_path[: len(usual.rank_path)] == usual.rank_path
        assert longer.rank >= usual.rank
        assert (usual.ended, longer.ended) == ("", "no larger rank was better")
        clock.seconds_a_look = 0.1
        short = choose_rank_for(trial_of(until=1.0), EMOptions(), "auto")
        assert len(short.rank_path) < len(usual.rank_path)
        assert short.ended == "there was no time to try a larger rank"

    @pytest.mark.parametrize("method", ["em", "spa-em"])
    def test_a_single_fit_tells_that_its_time_is_spent(self, method):
        with pytest.warns(FitWarning, match=r"The fit spent max_seconds before it converged;.*Raise max_seconds or"):
            model = juror.fit(CODES, 3, method, max_seconds=1e-9, n_jobs=1)
        assert model.info.stopped == "spent max_seconds"

    @pytest.mark.filterwarnings("ignore:The chains have not mixed well")
    @pytest.mark.parametrize("burnt", [0, 400, 950, 996])
    def test_chains_are_shortened(self, burnt):
        model = juror.fit(CODES, 3, "bayes", max_seconds=1e-9, burnt=burnt, draws=8, n_jobs=1)
        assert model.info.stopped == "took 2 chains of 20 sweeps, not 1000, in 1e-09 s"
        assert model.info.n_draws == 8

    @pytest.mark.filterwarnings("ignore:The chains have not mixed well")
    def test_chains_that_fit_are_left_alone(self):
        options = {"sweeps": 30, "burnt": 10, "draws": 10, "n_jobs": 1}
        assert_same_bits(
            juror.fit(CODES, 3, "bayes", max_seconds=3600, **options), juror.fit(CODES, 3, "bayes", **options)
        )

    def test_a_clock_that_stands_still(self, clock):
        clock.seconds_a_look = 0.0
        options, trial = BayesOptions(max_seconds=10), trial_of(until=10.0)
        assert _in_time(trial.table, 3, options, trial.context, BellEdges.none()) == options

    def test_chains_take_what_the_pace_allows(self, clock):
        trial = trial_of(until=10.0)
        # A sweep takes a tenth of a check of the clock here, and two chains share the time left.
        found = _in_time(trial.table, 3, BayesOptions(max_seconds=10), trial.context, BellEdges.none())
        left = 10.0 - clock.now
        assert found.sweeps == pytest.approx(left / (2 * clock.seconds_a_look / 10), abs=2)
        assert found.burnt == found.sweeps * 400 // 1000


class Clock:
    """A clock that moves when it is looked at."""

    def __init__(self):
        self.seconds_a_look = 0.05
        self.now = 0.0

    def monotonic(self):
        self.now += self.seconds_a_look
        return self.now


def test_large_tables_make_as_few_members_with_any_number_of_threads(monkeypatch):
    numbers_of_a_member = 3 * (sum(SHAPE) + len(SHAPE))
    monkeypatch.setattr("juror.fitting.ensemble._MOST_NUMBERS", 3 * numbers_of_a_member)
    one, other = (fit(smoothing=1.0, ensemble="auto", n_jobs=n) for n in (1, 4))
    assert one.info.n_members == 3
    assert_same_bits(one, other)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in ("ascent", "solver"):
        monkeypatch.setattr(f"juror.solvers.{module}.time", clock)
    return clock


class TestProgress:
    def test_members_are_counted(self):
        steps, model = told(ensemble=3, rank=2, smoothing=0.1)
        assert [(step.stage, step.rank, step.start, step.n_starts) for step in steps] == [
            ("fitting", 2, number, 3) for number in (1, 2, 3)
        ]
        assert tuple(step.log_likelihood for step in steps) == model.info.starts

    @pytest.mark.parametrize("target", [None, "x0"])
    def test_choosing_is_told(self, target):
        steps, model = told(ensemble=2, rank="auto", target=target)
        choosing = [step for step in steps if step.stage == "choosing rank"]
        assert {step.rank for step in choosing} == {step.rank for step in model.info.rank_path}
        assert {step.stage for step in steps} == {"choosing rank", "fitting"}
        for step in steps:
            assert 1 <= step.start <= step.n_starts
            assert 1 <= step.iteration <= step.max_iter
            assert -10 < step.log_likelihood < 0

    def test_a_given_rank_is_not_being_chosen(self):
        steps, _ = told(ensemble=2, rank=2)
        assert {step.stage for step in steps} == {"choosing smoothing", "fitting"}

    def test_an_error_of_the_callback_ends_the_fit(self):
        def fail(step):
            raise KeyError(step.stage)

        for n_jobs in (1, 2):
            with pytest.raises(KeyError, match="fitting"):
                fit(ensemble=2, smoothing=0.1, progress=fail, n_jobs=n_jobs)


class TestTheRecord:
    def test_it_is_saved_and_shown(self, tmp_path):
        model = juror.fit(CODES, method="em", ensemble=10, target="x0", n_jobs=1, domain=DOMAIN)
        model.save(tmp_path / "model.juror")
        info = juror.load(tmp_path / "model.juror").info
        assert info == model.info
        assert (info.method, info.n_members) == ("em", 10)
        assert info.rank_path
        assert info.smoothing_path
        assert (info.aic, info.bic) == (None, None)
        summary = model.summary()
        for line in (
            f"the mean of 10 fits of {info.rank // 10} classes each",
            f"smoothing {info.smoothing:g}; {info.n_iter} passes; each stopped early",
            "rank chosen by quadratic score of labels of 'x0' in held-out rows, 0 at best: ",
            "smoothing chosen by quadratic score of labels of 'x0' in held-out rows, 0 at best: ",
            "made to predict x0",
        ):
            assert line in summary
        assert "best of" not in summary
        assert "AIC" not in summary

    def test_scores_of_impossible_rows_are_saved(self, tmp_path):
        model = fit(ensemble=2, rank="auto")
        info = replace(model.info, smoothing_path=((0.0, -np.inf), (0.1, -1.0)))
        JointPMF(model.weights, model.factors, model.domain, info).save(tmp_path / "model.juror")
        assert juror.load(tmp_path / "model.juror").info == info


def test_titanic_is_predicted_with_defaults():
    people = juror.datasets.titanic()
    model = juror.fit(people, target="Survived", n_jobs=1)
    assert model.info.method == "em"
    assert model.info.n_members == 4
    assert model.info.why == "an ensemble of EM fits, chosen for the labels of 'Survived'"
    predicted = model.predict(people.drop(columns="Survived"))
    accuracy = np.mean(predicted == people["Survived"].to_numpy())
    # The best possible rule: the more frequent label of each of the 14 kinds of people
    kinds = people.groupby(["Class", "Sex", "Age"], observed=True)["Survived"].value_counts()
    best = kinds.groupby(level=[0, 1, 2], observed=True).max().sum() / len(people)
    assert best - 0.01 <= accuracy <= best + 1e-12
