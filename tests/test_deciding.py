"""What method="auto" stands for, and what it says about that."""

from __future__ import annotations

import numpy as np
import pytest

import juror
from juror import Domain
from juror.errors import ParameterError, QueryError
from juror.fitting import plan
from juror.fitting.plan import Decision, check_method, decide_for_rows
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.runners.local import LocalRunner
from juror.solvers.methods import ALL_OPTIONS, METHODS

DOMAIN = Domain.from_cardinalities((3, 2, 3, 2))
CODES = np.random.default_rng(0).integers(0, 2, (100, 4))


def table_of(codes, weights=None):
    return MemoryTable(WeightedRows.of(codes, weights), DOMAIN, LocalRunner(1))


ROWS = table_of(CODES)
LARGE = table_of(CODES, np.full(100, 1000.0))
ENSEMBLE = {"ensemble": "auto"}
BOTH = "Leave out those of other methods, and name yours with method=…"


def decide(table=ROWS, *, rank="auto", method="auto", target=None, given=()):
    return decide_for_rows(table, rank, method, target, given)


class TestRows:
    def test_a_small_table_is_sampled(self):
        assert decide() == Decision("bayes", why="sampling, as 400 cells are at most 100,000")
        assert decide(rank=5).method == decide(rank=1).method == "bayes"

    def test_a_large_table_has_an_ensemble(self):
        why = "an ensemble of EM fits, as 400,000 cells are more than the 100,000 for sampling"
        assert decide(LARGE) == decide(LARGE, rank=5) == Decision("em", ENSEMBLE, why)

    def test_the_bound_itself_is_sampled(self):
        assert decide(table_of(CODES, np.full(100, 250.0))).method == "bayes"
        assert decide(table_of(CODES, np.full(100, 250.1))).method == "em"

    def test_numbers_have_an_ensemble_of_less(self):
        of_numbers = Domain.infer(dict(zip("abcd", np.random.default_rng(0).normal(size=(4, 200)), strict=True)))
        rows = WeightedRows.of(CODES, np.full(100, 10.0))
        table = MemoryTable(rows, of_numbers, LocalRunner(1))
        assert decide(table) == Decision("em", ENSEMBLE, "an ensemble of EM fits, as most columns are numbers")
        assert decide(table, rank=3).method == decide(table, given=["forest"]).method == "bayes"
        fewer = MemoryTable(WeightedRows.of(CODES), of_numbers, LocalRunner(1))
        assert decide(fewer).method == decide(MemoryTable(rows, DOMAIN, LocalRunner(1))).method == "bayes"

    def test_a_huge_table_is_counted(self, monkeypatch):
        monkeypatch.setattr(plan, "_MOST_PASSED", 10)
        cells = 4 * len(LARGE.rows.codes)
        why = f"pair tables, as {cells} cells of distinct rows are more than the 10 for EM"
        assert decide(LARGE) == Decision("tree", why=why)
        assert decide(LARGE, rank=3) == Decision("pair-em", why=why)
        # Pair tables do not keep to a budget of time.
        assert decide(LARGE, given=["max_seconds"]).options == ENSEMBLE

    def test_a_target_has_an_ensemble_of_any_size(self):
        expected = Decision("em", ENSEMBLE, "an ensemble of EM fits, chosen for the labels of 'x1'")
        assert decide(target="x1") == decide(LARGE, target="x1", rank=4) == expected

    def test_one_class_has_an_ensemble_too_as_members_differ_by_their_forests(self):
        assert decide(LARGE, rank=1).options == decide(rank=np.int64(1), target="x1").options == ENSEMBLE

    def test_forests_are_no_reason_for_another_method(self):
        assert decide(given=["forest"]).method == "bayes"
        assert decide(LARGE, given=["forest"]).options == ENSEMBLE

    def test_folds_compare_single_fits(self):
        expected = Decision("em", why="EM, as only single fits are compared on every fold")
        assert decide(rank="cv") == decide(rank="cv", target="x1") == expected

    def test_a_table_is_as_large_with_weights_that_sum_to_one(self):
        many = table_of(np.repeat(CODES, 300, axis=0), np.full(30_000, 1 / 30_000))
        assert decide(many) == decide(table_of(np.repeat(CODES, 300, axis=0)))
        assert decide(many).options == ENSEMBLE

    @pytest.mark.parametrize("name", METHODS)
    def test_a_name_is_taken_at_its_word(self, name):
        assert decide(LARGE, method=name, target="x0", given=["n_init"]) == Decision(name)

    @pytest.mark.parametrize("method", ["EM", "", None, 3, ["em"]])
    def test_a_wrong_name(self, method):
        with pytest.raises(ParameterError) as caught:
            check_method(method)
        names = "['auto', 'tree', 'em', 'bayes', 'pair-em', 'spa', 'spa-em', 'ctf', 'juror-a', 'juror-b', 'juror-c']"
        assert str(caught.value) == f"method must be one of {names}. Got {method!r} instead."

    @pytest.mark.parametrize("rank", [np.array([1, 2]), [1], None, True, 1.0, "many"])
    def test_a_wrong_rank_is_told_as_one(self, rank):
        with pytest.raises(ParameterError, match=r"^rank must be 'auto', 'cv' or an int in the range \[1, inf\)\. Got"):
            juror.fit(CODES, rank)


class TestOptions:
    @pytest.mark.parametrize(
        ("given", "method"),
        [
            (["ensemble"], "em"),
            (["n_init"], "em"),
            (["sweeps"], "bayes"),
            (["max_seconds", "draws", "burnt"], "bayes"),
            (["split"], "spa"),
            (["split", "tol"], "spa-em"),
            (["triples"], "ctf"),
        ],
    )
    def test_they_tell_the_method(self, given, method):
        why = f"'{method}', as it has {sorted(given)}"
        assert decide(given=given) == decide(LARGE, given=given, target="x0") == Decision(method, why=why)

    def test_what_members_have_says_nothing_against_an_ensemble(self):
        given = ["smoothing", "max_iter"]
        assert decide(given=given) == Decision("em", why="'em', as it has ['max_iter', 'smoothing']")
        assert decide(LARGE, given=given).options == decide(given=given, target="x0").options == {"ensemble": "auto"}

    @pytest.mark.parametrize("option", sorted(ALL_OPTIONS))
    def test_every_option_has_a_method(self, option):
        found = decide(given=[option])
        assert option in METHODS[found.method].option_names

    def test_a_budget_of_time_tells_nothing(self):
        for options in ({}, {"target": "x0"}, {"rank": "cv"}, {"table": LARGE}):
            assert decide(**options, given=["max_seconds"]) == decide(**options)

    @pytest.mark.parametrize("given", [["chains", "n_init"], ["max_seconds", "n_directions"], ["ensemble", "draws"]])
    def test_options_of_two_methods(self, given):
        with pytest.raises(ParameterError) as caught:
            decide(given=given)
        assert str(caught.value) == f"No method has all of the options {sorted(given)}. {BOTH}"

    def test_an_option_of_none(self):
        with pytest.raises(ParameterError) as caught:
            juror.fit(CODES, emsemble=2, sweeps=3)
        assert str(caught.value) == "No method has an option 'emsemble'. Did you mean 'ensemble'?"


class TestFitting:
    """What is decided is done, and recorded."""

    @pytest.mark.filterwarnings("ignore:The chains have not mixed well")
    def test_sampling(self):
        model = juror.fit(CODES, 2, max_seconds=1e-9, n_jobs=1)
        self.check(model, "bayes", "sampling, as 400 cells are at most 100,000")
        assert model.info.n_draws == 24

    def test_an_ensemble(self):
        with pytest.warns(juror.FitWarning, match="The fit spent max_seconds = 1e-09 before it would have stopped"):
            model = juror.fit(CODES, 2, sample_weight=np.full(100, 1000.0), max_seconds=1e-9, n_jobs=1)
        self.check(model, "em", "an ensemble of EM fits, as 400,000 cells are more than the 100,000 for sampling")
        assert "; 1 of at most 100 fits in 1e-09 s" in model.info.stopped

    def test_a_target(self):
        model = juror.fit(CODES, 2, target="x0", n_jobs=1)
        self.check(model, "em", "an ensemble of EM fits, chosen for the labels of 'x0'")
        assert model.info.n_members == 10

    def test_single_fits(self):
        self.check(juror.fit(CODES, 2, n_init=1, n_jobs=1), "em", "'em', as it has ['n_init']")
        model = juror.fit(CODES, "cv", n_jobs=1)
        self.check(model, "em", "EM, as only single fits are compared on every fold")
        assert model.info.n_members == 1

    def test_pair_tables(self, monkeypatch):
        monkeypatch.setattr(plan, "_MOST_SAMPLED", 10)
        monkeypatch.setattr(plan, "_MOST_PASSED", 10)
        model = juror.fit(CODES, 2, n_jobs=1)
        self.check(model, "pair-em", "pair tables, as 64 cells of distinct rows are more than the 10 for EM")

    def test_a_name_needs_no_reason(self):
        model = juror.fit(CODES, 2, "em", n_jobs=1)
        assert model.info.why == ""
        assert "method chosen" not in model.summary()

    def test_a_target_that_is_not_there(self):
        with pytest.raises(QueryError, match=r"There is no variable 'x9'\. Choose from"):
            juror.fit(CODES, target="x9")

    @staticmethod
    def check(model, method, why):
        assert (model.info.method, model.info.why) == (method, why)
        assert f"method chosen: {why}" in model.summary()


class TestStatistics:
    def test_triples_and_pairs(self):
        assert juror.fit(juror.TripleCounts.of(CODES), 2).info.method == "ctf"
        pairs = juror.PairCounts.of(CODES)
        assert juror.fit(pairs, 2).info.method == "pair-em"
        assert juror.fit(pairs, 2, n_directions=50).info.method == "juror-b"
        assert juror.fit(pairs, 2, split=["x0", "x1"], tol=1e-3).info.method == "juror-b"

    def test_a_rank_to_be_chosen(self, monkeypatch):
        pairs = juror.PairCounts.of(CODES)
        model = juror.fit(pairs)
        assert model.info.why == "classes along a forest, which need no more than counts of pairs"
        assert model.info.method == "pair-em"
        monkeypatch.setattr(plan, "_MOST_PAIRED", 3)
        model = juror.fit(pairs)
        assert model.info.method == "tree"
        assert model.info.why.startswith("a tree, as ")
        with pytest.raises(ParameterError, match="rank='cv' needs rows to hold out"):
            juror.fit(pairs, "cv")
        with pytest.raises(ParameterError, match="rank='auto' needs rows to hold out"):
            juror.fit(pairs, method="juror-b")

    def test_a_method_that_needs_rows(self):
        with pytest.raises(
            ParameterError, match=r"^method 'em' cannot be fitted from counts of pairs\. Use one of \['tree',"
        ):
            juror.fit(juror.PairCounts.of(CODES), 2, "em")

    def test_a_budget_of_time(self):
        assert juror.fit(juror.PairCounts.of(CODES), 2, max_seconds=10).info.method == "pair-em"
        with pytest.raises(ParameterError, match=r"^method 'ctf' has no option 'max_seconds'\. It has \['"):
            juror.fit(juror.TripleCounts.of(CODES), 2, max_seconds=1)


@pytest.mark.parametrize("option", ["levels", "max_levels"])
def test_who_tells_the_fit_about_variables_is_told_where_that_is_done(option):
    with pytest.raises(ParameterError, match=rf"with Domain\.infer\({option}=…\), and pass domain="):
        juror.fit({"a": [1, 2], "b": [1, 2]}, **{option: 3})
