"""Formulas that share columns, and coarse columns: rows that are drawn or filled satisfy all, or a warning says not."""

import time
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juror
from juror.domain.formula_order import in_order, order_around
from juror.domain.formulas import Formula
from juror.errors import FitWarning, JurorWarning
from juror.fitting import formula_trials


def bills(n=1500, seed=0):
    """Totals of totals: every formula needs a column of another."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.integers(1, 500, (n, 3)), columns=["a", "b", "c"])
    table["total"] = table["a"] + table["b"]
    table["grand"] = table["total"] + table["c"]
    table["tax"] = (0.19 * table["grand"]).round(2)
    return table


def months(n_months, n=2000, seed=0):
    """Months m0, m1, … and their sums so far c1, c2, …."""
    numbers = np.random.default_rng(seed).integers(10, 500, (n, n_months))
    sums = np.cumsum(numbers, axis=1)
    return pd.DataFrame(
        {f"m{k}": numbers[:, k] for k in range(n_months)} | {f"c{k}": sums[:, k] for k in range(1, n_months)}
    )


def n_missed(model, rows):
    """Count the rows that miss a formula, each to within half a step of its target; cells may be missing."""
    missed = np.zeros(len(rows), dtype=bool)
    for formula in model.domain.formulas:
        numbers = {name: rows[name].to_numpy(dtype=float) for name in formula.names}
        error = np.abs(formula.solved(formula.target, numbers) - numbers[formula.target])
        missed |= error > 0.5001 * model.domain[formula.target].inside.law.grid.step
    return int(missed.sum())


@pytest.fixture(scope="module")
def shop():
    return juror.fit(bills(), method="tree")


@pytest.fixture(scope="module")
def boxes():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"boxes": rng.integers(1, 60, 1500), "loose": rng.integers(0, 1000, 1500)})
    return juror.fit(table.assign(pieces=100 * table["boxes"] + table["loose"]), method="tree")


class TestCounting:
    """Rows that are given are counted by the columns of a question, which may be some of a formula's."""

    @pytest.mark.parametrize("asked", ["a >= 250", "a >= 250, total >= 400", "a >= 250, b < 100, total >= 200"])
    def test_rows_are_counted_for_a_question_about_some_columns_of_a_formula(self, shop, asked):
        table = bills()
        held = table.query(asked.replace(",", " and"))
        answer = shop.ask(f"c | {asked}", data=table)
        assert answer.support.rows == len(held)
        cut = shop.domain["c"].edges[3]
        first = answer.support.shares[:3].sum()
        assert np.isclose(first, (held["c"] < cut).mean())
        low, high = (shop.interval(f"c | {asked}", data=table).to_pandas()[end] for end in ("low", "high"))
        assert np.all(low <= high)

    def test_rows_are_counted_for_a_conditioned_model(self, shop):
        table = bills()
        answer = shop.condition("a >= 250").ask("c | b < 100", data=table)
        assert answer.support.rows == len(table.query("a >= 250 and b < 100"))


@pytest.mark.parametrize("draws", [None, 1])
def test_a_missing_cell_with_a_label_that_is_filled_too_follows_from_the_others(draws):
    holes = bills().astype({"b": "Int64"})
    lost = np.arange(len(holes)) % 5 == 0
    holes.loc[lost, "b"] = pd.NA
    model = juror.fit(holes, method="tree", missing_as={"b": "not asked"})
    filled = model.impute(holes, draws, also=["b"])
    assert (filled["b"] == bills()["b"]).all()
    # without also they are an answer
    assert model.impute(holes, draws)["b"].isna().to_numpy().tolist() == lost.tolist()


class TestDrawing:
    @pytest.mark.parametrize("n_months", [5, 12])
    def test_sums_of_sums_hold(self, n_months):
        model = juror.fit(months(n_months), method="tree")
        drawn = [formula for formula in model.domain.formulas if formula.computed]
        assert len(drawn) >= n_months - 2
        rows = model.sample(4000, seed=1)
        assert n_missed(_with(model, drawn), rows) == 0

    @pytest.mark.parametrize(
        "condition",
        [
            None,
            "grand = 700",
            "total = 400",
            "tax = 190",
            "grand >= 1300",
            "a = 100, b = 200",
            "total = 300, c = 100",
            "grand = 1000, a = 250, b = 260",
            "grand = 900, tax = 171",
            "tax >= 190, tax < 195",
            "total >= 300, total < 320, a >= 100, a < 130, b >= 180, b < 210",
        ],
    )
    def test_formulas_hold_whatever_is_known(self, shop, condition):
        assert all(formula.computed for formula in shop.domain.formulas)
        rows = shop.sample(500, given=condition, seed=1)
        assert n_missed(shop, rows) == 0
        if condition == "tax >= 190, tax < 195":
            assert rows["tax"].between(190, 195, inclusive="left").all()

    def test_a_whole_that_a_condition_settles_leaves_the_parts_of_parts(self):
        model = juror.fit(months(5), method="tree")
        for condition in ("c4 = 1300", "c3 = 1000, c1 = 500", "c4 >= 1300, c4 < 1310"):
            assert n_missed(model, model.sample(500, given=condition, seed=1)) == 0

    def test_rows_without_a_solution_are_counted_in_a_warning(self, boxes):
        with pytest.warns(JurorWarning, match=r"200 of 200 drawn rows do not satisfy 'pieces = 100 × boxes \+ loose'"):
            rows = boxes.sample(200, given="pieces = 3050, loose = 500", seed=1)
        assert set(rows["pieces"]) == {3050}

    @pytest.mark.parametrize("condition", ["pieces = 3050", "pieces > 4000", "boxes = 20, pieces = 2500"])
    def test_a_coarse_column_is_not_solved_for_if_another_is_finer(self, boxes, condition):
        assert n_missed(boxes, boxes.sample(500, given=condition, seed=1)) == 0

    def test_every_row_satisfies_a_product_or_is_told_of(self):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"q": rng.integers(1, 40, 1500), "p": rng.gamma(3, 5, 1500).round(2) + 0.01})
        model = juror.fit(table.assign(v=(table["q"] * table["p"]).round(2)), method="tree")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rows = model.sample(1000, given="v = 100", seed=1)
        n = n_missed(model, rows)
        assert n < 100
        assert [f"{n} of 1,000" in str(warning.message) for warning in caught] == [True] * (n > 0)

    def test_rows_with_numbers_beyond_63_bits_are_drawn_again(self):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"boxes": rng.integers(1, 60, 800), "loose": rng.integers(0, 1000, 800)})
        table = table.assign(pieces=100 * table["boxes"] + table["loose"])
        model = juror.fit(table.assign(key=rng.integers(2**62, 2**64 - 1, 800, dtype=np.uint64)), method="tree")
        for seed in range(4):
            with pytest.warns(JurorWarning, match="do not satisfy"):
                rows = model.sample(1, given="pieces = 3050, loose = 500", seed=seed)
            assert 2**62 <= rows["key"][0] < 2**64

    def test_cells_that_are_missing_on_purpose_break_no_formula(self):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"q": rng.integers(1, 40, 1500), "p": rng.integers(100, 9000, 1500) / 100})
        table["v"] = (table["q"] * table["p"]).round(2).mask(rng.random(1500) < 0.3)
        model = juror.fit(table, method="tree", missing_as={"v": "none"})
        rows = model.sample(3000, seed=1)
        assert rows["v"].isna().mean() > 0.2
        assert n_missed(model, rows) == 0


class TestFilling:
    @pytest.mark.parametrize("draws", [None, 1])
    @pytest.mark.parametrize("share", [0.2, 0.5])
    def test_filled_rows_satisfy_all_formulas_if_possible_numbers_do(self, shop, share, draws):
        table = bills(seed=1)
        holes = table.astype(float).mask(np.random.default_rng(3).random(table.shape) < share)
        filled = shop.impute(holes, draws=draws)
        assert n_missed(shop, filled) <= 0.05 * len(table)
        observed = holes.notna().to_numpy()
        np.testing.assert_array_equal(filled.to_numpy()[observed], table.to_numpy()[observed])

    def test_a_coarse_column_does_not_follow_from_what_it_cannot_give(self, boxes):
        rows = pd.DataFrame({"boxes": [np.nan, np.nan], "loose": [500, 550], "pieces": [3050, 3050]})
        assert boxes.impute(rows)["boxes"].tolist()[1] == 25
        alone = boxes.impute(rows, formulas=False)["boxes"]
        assert boxes.impute(rows)["boxes"][0] == alone[0]

    def test_rows_are_filled_as_one_by_one(self, shop):
        table = bills(60, seed=2)
        holes = table.astype(float).mask(np.random.default_rng(4).random(table.shape) < 0.4)
        one_by_one = pd.concat([shop.impute(holes.iloc[[n]]) for n in range(len(holes))])
        pd.testing.assert_frame_equal(shop.impute(holes), one_by_one, check_dtype=False)


class TestTime:
    def test_without_time_formulas_are_found_and_drawn_rows_ignore_them(self, monkeypatch):
        def never(*_, **__):
            raise AssertionError("no rows are drawn after the deadline")

        monkeypatch.setattr(formula_trials, "RowsWithNumbers", never)
        with pytest.warns(FitWarning, match="max_seconds"):
            model = juror.fit(bills(), rank=2, method="em", max_seconds=1e-9)
        assert len(model.domain.formulas) == 3
        assert all(formula.computed is None for formula in model.domain.formulas)
        assert model.info.formulas.count("(drawn rows ignore it)") == 3

    def test_holes_of_many_formulas_take_little_longer(self):
        model, table = juror.fit(months(12), method="tree"), months(12, 5000, seed=1)
        holes = table.astype(float).mask(np.random.default_rng(5).random(table.shape) < 0.2)
        seconds = {}
        for formulas in (False, True, False, True):
            began = time.perf_counter()
            model.impute(holes, formulas=formulas)
            seconds[formulas] = time.perf_counter() - began
        assert seconds[True] < 4 * seconds[False] + 0.5


def _with(model, formulas):
    from dataclasses import replace

    return juror.JointPMF.of_blocks(model.blocks, replace(model.domain, formulas=tuple(formulas)))


FOUND = {"solvable": (), "share": 1.0}


def total(target, *inputs, computed):
    return Formula(target, inputs, (1.0,) * len(inputs), 0.0, "sum", computed, **FOUND)


class TestOrder:
    def test_no_formula_changes_what_an_earlier_one_has_used(self):
        first, second = total("c1", "m0", "m1", computed="c1"), total("c2", "c1", "m2", computed="c2")
        assert in_order([second, first]) == (first, second)

    def test_formulas_that_compute_nothing_are_last_and_in_nobodys_way(self):
        free = [total("x", "y", computed=None), total("y", "z", computed=None)]
        one = total("c", "a", "b", computed="c")
        assert in_order([*free, one]) == (one, *free)

    def test_two_formulas_do_not_compute_the_same_column(self):
        assert in_order([total("z", "a", computed="z"), total("z", "b", computed="z")]) == ()

    def test_a_target_that_another_formula_needs_is_held(self):
        # c = z − d comes after z = a + b, and may not round z once more
        first, second = total("z", "a", "b", computed="z"), total("z", "c", "d", computed="c")
        assert in_order([second, first]) == (first, second)

    def test_a_settled_whole_is_left_to_its_parts(self):
        chain = [total("t", "a", "b", computed="t"), total("g", "t", "c", computed="g"), total("x", "g", computed="x")]
        choices = [[name for name in formula.names if name != "x"] for formula in chain]
        ordered = order_around(chain, choices, {"x"})
        assert {formula.target: formula.computed for formula in ordered} == {"x": "g", "g": "c", "t": "t"}

    @settings(max_examples=50, deadline=None)
    @given(st.integers(0, 2**32 - 1))
    def test_an_order_is_found_if_there_is_one(self, seed):
        from itertools import permutations

        rng = np.random.default_rng(seed)
        formulas = []
        for _ in range(4):
            names = [str(name) for name in rng.choice(list("abcdef"), 3, replace=False)]
            formulas.append(total(*names, computed=str(rng.choice(names))))

        def is_right(order):
            return all(later.computed not in each.names for n, each in enumerate(order) for later in order[n + 1 :])

        found = in_order(formulas)
        assert bool(found) == any(map(is_right, permutations(formulas)))
        assert is_right(found)
