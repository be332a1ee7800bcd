"""Columns that are sums or products of others: found, kept with models, and satisfied by drawn and filled rows."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juror
from juror.domain import Domain
from juror.domain.formula_sets import find_formulas
from juror.domain.formulas import Formula, on_grid
from juror.domain.measured import Measured
from juror.errors import DataError, JurorWarning, ModelFileError
from juror.readers.opening import open_source

seeds = st.integers(0, 2**32 - 1)


def people(n=500, seed=0):
    """Bodies, calls and bills: columns that others give, rounded as in real tables, and some that no others give."""
    rng = np.random.default_rng(seed)
    height = np.round(rng.normal(170, 10, n), 1)
    weight = np.round(0.9 * height - 90 + rng.gamma(4, 4, n), 1)
    minutes = np.round(rng.gamma(4, 25, n), 1)
    rent, food = rng.integers(200, 2000, n), rng.integers(100, 900, n)
    return pd.DataFrame(
        {
            "height": height,
            "weight": weight,
            "bmi": np.round(weight / (height / 100) ** 2, 1),
            "minutes": minutes,
            "charge": np.round(0.085 * minutes, 2),
            "rent": rent,
            "food": food,
            "spent": rent + food,
            "income": np.round((rent + food) * rng.uniform(1.1, 1.3, n)).astype(int),
            "sex": rng.choice(["f", "m"], n),
        }
    )


def formulas_in(frame, **options):
    domain = Domain.infer(frame, **options)
    columns = {column.name: column for column in open_source(frame)}
    measured = {v.name: Measured.of(v, [columns[v.name]]) for v in domain if v.is_numeric}
    return find_formulas({name: each for name, each in measured.items() if each is not None})


def in_words(formulas):
    return {formula.in_words() for formula in formulas}


def errors(formula, frame):
    numbers = {name: frame[name].to_numpy(dtype=float) for name in formula.names}
    return np.abs(formula.solved(formula.target, numbers) - numbers[formula.target])


FOUND = {"charge = 0.085 × minutes", "bmi = 10000 × weight / height²", "spent = rent + food"}


class TestSearch:
    @pytest.mark.parametrize("seed", range(5))
    def test_formulas_are_found_and_nothing_else_is(self, seed):
        assert in_words(formulas_in(people(seed=seed))) == FOUND

    def test_half_of_the_rows_may_miss_a_cell(self):
        table = people(2000)
        numbers = table.select_dtypes("number").astype(float)
        table[numbers.columns] = numbers.mask(np.random.default_rng(1).random(numbers.shape) < 0.2)
        assert in_words(formulas_in(table)) == FOUND

    def test_a_few_rows_may_be_wrong(self):
        table = people(1000)
        table.loc[:9, "spent"] += 500
        (formula,) = (each for each in formulas_in(table) if each.target == "spent")
        assert formula.in_words() == "spent = rent + food"
        assert formula.share == 0.99

    def test_what_holds_roughly_is_no_formula(self):
        rng = np.random.default_rng(0)
        x = np.round(rng.normal(100, 20, 1000), 1)
        noisy = np.round(2 * x + rng.normal(0, 0.5, 1000), 1)
        assert formulas_in(pd.DataFrame({"x": x, "y": noisy, "z": np.round(rng.normal(size=1000), 3)})) == ()

    def test_numbers_with_coarse_steps_need_no_formula(self):
        rng = np.random.default_rng(0)
        x = rng.normal(0, 10, 1000)
        # half of a step is more than a fortieth of the spread: near misses would count
        coarse = pd.DataFrame({"x": x, "y": np.round(x / 10)})
        assert formulas_in(coarse) == ()

    def test_a_code_with_leading_digits_of_another_is_no_ratio(self):
        rng = np.random.default_rng(0)
        state = rng.integers(1, 56, 3000)
        county = 1000 * state + rng.integers(1, 840, 3000)
        found = formulas_in(pd.DataFrame({"state": state, "county": county, "within": county % 1000}))
        assert "county = 1000 × state + within" in in_words(found)
        table = pd.DataFrame({"state": state, "county": county, "within": county % 1000})
        for formula in found:
            assert (errors(formula, table) <= 0.5001).mean() > 0.98

    @settings(max_examples=20, deadline=None)
    @given(seeds, st.sampled_from(["sum", "product"]), st.integers(1, 4))
    def test_any_sum_or_product_is_found(self, seed, form, n_inputs):
        rng = np.random.default_rng(seed)
        inputs = {f"x{k}": np.round(rng.gamma(3, 10, 400) + 1, 2) for k in range(n_inputs)}
        powers = rng.choice([-2, -1, 1, 2, 3] if form == "sum" else [-2, -1, 1, 2], n_inputs).astype(float)
        x = np.stack(list(inputs.values()))
        z = 7 + powers @ x if form == "sum" else 3 * np.prod(x ** powers[:, None], axis=0)
        table = pd.DataFrame({**inputs, "z": z, "other": rng.normal(size=400)})
        found = formulas_in(table)
        assert found
        assert all(formula.share == 1 for formula in found)
        if form == "sum":
            assert errors(found[0], table).max() < 1e-9 * np.ptp(z)
        assert {name for formula in found for name in formula.names} == {*inputs, "z"}

    @settings(max_examples=10, deadline=None)
    @given(seeds)
    def test_no_column_is_computed_after_its_use(self, seed):
        rng = np.random.default_rng(seed)
        table = people(400, seed)
        table["twice"] = 2 * table["spent"]
        table["left"] = table["income"] - table["spent"]
        table["share"] = np.round(table["spent"] / table["income"], 4)
        formulas = formulas_in(table[rng.permutation(table.columns)])
        computed = [formula.computed for formula in formulas]
        assert len(formulas) >= 5
        assert len(set(computed)) == len(computed)
        for n, formula in enumerate(formulas):
            assert not {*computed[n + 1 :]} & {*formula.names} - {formula.computed}

    def test_columns_without_spread_and_huge_numbers_are_left_out(self):
        rng = np.random.default_rng(0)
        x = rng.normal(size=300)
        table = pd.DataFrame(
            {"x": x, "one": 1.5, "huge": x * 1e200, "tiny": x * 1e-200, "whole": 2**60 + np.arange(300)}
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", juror.DataWarning)
            assert formulas_in(table) == ()

    def test_a_target_that_others_give_exactly_is_preferred(self):
        table = people(2000)[["minutes", "charge"]]
        (formula,) = formulas_in(table)
        assert formula.target == "charge", "the charge does not tell the tenth of a minute"


FOUND_BY_HAND = {"computed": "z", "solvable": ("z",), "share": 1.0}


class TestFormula:
    @pytest.mark.parametrize(
        ("form", "powers", "constant", "text"),
        [
            ("sum", (1.0, -1.0), 0.0, "z = a − b"),
            ("sum", (-1.0, -2.5), 0.5, "z = 0.5 − a − 2.5 × b"),
            ("product", (1.0, -2.0), 1.0, "z = a / b²"),
            ("product", (-1.0, -1.0), 1.0, "z = 1 / (a × b)"),
            ("product", (3.0, 1.0), 0.5, "z = 0.5 × a³ × b"),
        ],
    )
    def test_words(self, form, powers, constant, text):
        assert Formula("z", ("a", "b"), powers, constant, form, **FOUND_BY_HAND).in_words() == text

    def test_a_share_of_the_rows_is_told(self):
        formula = Formula("z", ("a",), (1.0,), 0.0, "sum", "z", ("z",), 0.99996)
        assert formula.described() == "z = a (in 99.9 % of the rows)"

    @given(seeds, st.sampled_from(["sum", "product"]))
    def test_solving_for_a_column_gives_its_number(self, seed, form):
        rng = np.random.default_rng(seed)
        powers = tuple(rng.choice([-2.0, -1.0, 1.0, 3.0], 3).tolist())
        formula = Formula("z", ("a", "b", "c"), powers, 2.0, form, **FOUND_BY_HAND)
        numbers = {name: rng.uniform(1, 5, 10) for name in "abc"}
        numbers["z"] = formula.solved("z", numbers)
        for name in formula.names:
            np.testing.assert_allclose(formula.solved(name, numbers), numbers[name], rtol=1e-9)

    def test_what_follows_from_nothing_is_no_number(self):
        formula = Formula("z", ("a", "b"), (1.0, -1.0), 1.0, "product", **FOUND_BY_HAND)
        numbers = {"z": np.array([0.0, 1.0]), "a": np.array([0.0, np.nan]), "b": np.array([np.nan, 2.0])}
        assert np.isnan(formula.solved("b", numbers)[0])
        assert np.isnan(formula.solved("z", numbers)).all()

    def test_numbers_lie_on_the_grid_within_those_seen(self):
        variable = Domain.infer({"x": np.arange(100) / 10}, bins=4)["x"]
        numbers, possible = on_grid(variable, np.array([1.26, -5.0, 20.0, np.nan]))
        assert numbers[0] == 1.3
        assert possible.tolist() == [True, False, False, False]
        assert on_grid(variable, np.array([20.04]), beyond=True)[0].tolist() == [20.0]


@pytest.fixture(scope="module")
def model():
    return juror.fit(people(), method="tree")


def broken(table, model):
    """Count the rows that do not satisfy formulas, each to within half a step of its target."""
    steps = {"bmi": 0.1, "charge": 0.01, "spent": 1.0}
    return {f.target: int((errors(f, table) > 0.5001 * steps[f.target]).sum()) for f in model.domain.formulas}


class TestDrawing:
    def test_drawn_rows_satisfy_formulas(self, model):
        drawn = model.sample(2000, seed=1)
        assert broken(drawn, model) == {"bmi": 0, "charge": 0, "spent": 0}
        assert drawn["spent"].dtype == np.int64
        assert list(drawn.columns) == list(people().columns)
        real = people()
        for name in ("bmi", "charge", "spent"):
            assert drawn[name].between(real[name].min(), real[name].max()).all()

    def test_without_formulas_rows_do_not_satisfy_them(self, model):
        assert min(broken(model.sample(2000, seed=1, formulas=False), model).values()) > 1000

    def test_columns_that_no_formula_computes_stay_as_they_were_drawn(self, model):
        with_formulas, without = model.sample(200, seed=3), model.sample(200, seed=3, formulas=False)
        assert (with_formulas["sex"] == without["sex"]).mean() > 0.9
        assert (with_formulas["rent"] == without["rent"]).mean() > 0.9

    def test_conditions_are_met_and_formulas_too(self, model):
        heavy = model.sample(300, given="bmi >= 30, spent < 1500", seed=1)
        assert broken(heavy, model) == {"bmi": 0, "charge": 0, "spent": 0}
        assert heavy["bmi"].min() >= 30
        assert heavy["spent"].max() < 1500

    def test_another_column_is_computed_where_one_is_known(self, model):
        drawn = model.sample(300, given={"spent": 1500, "charge": 8.5}, seed=1)
        assert set(drawn["spent"]) == {1500}
        assert set(drawn["charge"]) == {8.5}
        assert broken(drawn, model) == {"bmi": 0, "charge": 0, "spent": 0}

    def test_conditions_that_exclude_a_formula_are_warned_of(self, model):
        with pytest.warns(JurorWarning, match=r"100 of 100 drawn rows do not satisfy 'spent = rent \+ food'"):
            drawn = model.sample(100, given={"spent": 2500, "rent": 300, "food": 300}, seed=1)
        assert set(drawn["spent"]) == {2500}
        assert set(drawn["rent"]) == {300}

    def test_the_same_seed_gives_the_same_rows(self, model):
        pd.testing.assert_frame_equal(model.sample(50, seed=5), model.sample(50, seed=5))

    def test_labels_of_intervals_are_drawn_as_ever(self, model):
        pd.testing.assert_frame_equal(
            model.sample(50, seed=5, numbers=False), model.sample(50, seed=5, numbers=False, formulas=False)
        )

    def test_missing_cells_that_are_a_label_stay_missing(self):
        table = people(600)
        table["spent"] = table["spent"].astype(float).mask(table["sex"] == "f")
        model = juror.fit(table, method="tree", missing_as={"spent": "not asked"})
        drawn = model.sample(500, seed=1)
        assert "spent = rent + food" in in_words(model.domain.formulas)
        assert drawn["spent"].isna().mean() > 0.3
        assert drawn.loc[drawn["sex"] == "f", "spent"].isna().mean() > 0.9
        assert (
            np.nanmax(errors(model.domain.formulas[-1], drawn)) < 0.5 or "spent" not in model.domain.formulas[-1].names
        )

    def test_a_conditioned_model_drops_formulas_that_its_condition_restricts(self, model):
        assert in_words(model.condition("spent >= 1000").domain.formulas) == FOUND - {"spent = rent + food"}
        assert in_words(model.condition(sex="f").domain.formulas) == FOUND

    def test_the_command_line(self, model, tmp_path, capsys):
        from juror.cli import main

        model.save(tmp_path / "people.juror")
        rows = {}
        for option in ("--formulas", "--no-formulas"):
            with pytest.raises(SystemExit) as end:
                main(["sample", str(tmp_path / "people.juror"), "-n", "200", option, "-o", str(tmp_path / "rows.csv")])
            assert end.value.code == 0
            rows[option] = pd.read_csv(tmp_path / "rows.csv")
        assert sum(broken(rows["--formulas"], model).values()) == 0 < broken(rows["--no-formulas"], model)["spent"]


class TestFilling:
    def holes(self, *names, share=0.3, seed=4, n=300):
        table = people(n, seed=9)
        hidden = np.random.default_rng(seed).random((n, len(names))) < share
        with_holes = table.copy()
        for k, name in enumerate(names):
            with_holes[name] = table[name].astype(float).mask(hidden[:, k])
        return table, with_holes, hidden

    @pytest.mark.parametrize("draws", [None, 1])
    def test_a_cell_that_follows_from_others_is_filled_with_it(self, model, draws):
        table, holes, _ = self.holes("spent", "charge")
        filled = model.impute(holes, draws=draws, seed=1)
        np.testing.assert_array_equal(filled["spent"], table["spent"])
        np.testing.assert_allclose(filled["charge"], table["charge"], atol=0.0101)

    @pytest.mark.parametrize("draws", [None, 1])
    def test_an_input_is_solved_for(self, model, draws):
        table, holes, _ = self.holes("rent", "weight")
        filled = model.impute(holes, draws=draws, seed=1)
        np.testing.assert_array_equal(filled["rent"], table["rent"])
        assert np.abs(filled["weight"] - table["weight"]).max() < 0.25

    @pytest.mark.parametrize("draws", [None, 1])
    def test_filled_rows_satisfy_formulas_and_observed_cells_stay(self, model, draws):
        table, holes, hidden = self.holes("spent", "rent", "food", "bmi", "height", share=0.5)
        filled = model.impute(holes, draws=draws, seed=1)
        assert not filled.isna().any().any()
        for k, name in enumerate(("spent", "rent", "food", "bmi", "height")):
            np.testing.assert_array_equal(filled.loc[~hidden[:, k], name], table.loc[~hidden[:, k], name])
        some = hidden[:, :3].any(axis=1)
        wrong = errors(next(f for f in model.domain.formulas if f.target == "spent"), filled) > 0.5
        # where no number within those seen satisfies the formula, the holes keep their own
        assert wrong[~some].sum() == 0
        assert wrong.mean() < 0.05

    def test_numbers_beyond_those_seen_follow_too(self, model):
        row = pd.DataFrame({"rent": [1990], "food": [5000], "spent": [np.nan]})
        assert model.impute(row)["spent"].tolist() == [6990]

    def test_numbers_that_are_labels_follow_too(self):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"parts": rng.choice([2, 4, 10, 12], 500), "price": rng.integers(100, 999, 500) / 10})
        table["total"] = (table["parts"] * table["price"]).round(1)
        model = juror.fit(table, method="tree")
        assert in_words(model.domain.formulas) == {"total = parts × price"}
        rows = pd.DataFrame({"parts": [None, None], "price": [20.0, 20.0], "total": [200.0, 100.0]})
        # five parts are none of the labels
        assert model.impute(rows)["parts"].iloc[0] == 10
        assert model.impute(rows)["parts"].iloc[1] in (2, 4, 10, 12)
        drawn = model.sample(500, seed=1)
        np.testing.assert_allclose(drawn["total"], drawn["parts"] * drawn["price"], atol=0.051)

    def test_two_roots_are_no_solution(self):
        rng = np.random.default_rng(0)
        x = np.round(rng.normal(0, 10, 600), 1)
        table = pd.DataFrame({"x": x, "square": np.round(x**2, 2), "y": rng.normal(size=600)})
        model = juror.fit(table, method="tree")
        assert in_words(model.domain.formulas) == {"square = x²"}
        filled = model.impute(pd.DataFrame({"x": [np.nan, -3.0], "square": [9.0, np.nan], "y": [0.0, 0.0]}))
        assert filled["square"].tolist() == [9.0, 9.0]
        assert model.domain.formulas[0].solvable == ("square",)

    def test_frames_of_other_kinds(self, model):
        table, holes, _ = self.holes("spent")
        filled = model.impute(pl.from_pandas(holes))
        assert isinstance(filled, pl.DataFrame)
        assert filled["spent"].to_list() == table["spent"].tolist()

    def test_columns_of_text_are_filled_as_ever(self, model):
        _, holes, hidden = self.holes("spent")
        as_text = holes.assign(rent=holes["rent"].astype(str))
        filled = model.impute(as_text, unknown="missing")
        assert filled["spent"].notna().all()
        assert hidden.any()

    def test_some_columns_alone(self, model):
        _, holes, _ = self.holes("spent")
        filled = model.impute(holes[["spent", "food", "sex"]])
        assert filled["spent"].notna().all()


class TestFiles:
    def test_models_keep_formulas(self, model, tmp_path):
        model.save(tmp_path / "people.juror")
        again = juror.load(tmp_path / "people.juror")
        assert again.domain.formulas == model.domain.formulas
        assert len(again.domain.formulas) == 3
        pd.testing.assert_frame_equal(again.sample(20, seed=1), model.sample(20, seed=1))
        assert all(formula.in_words() in again.summary() for formula in model.domain.formulas)

    @pytest.mark.parametrize(
        "change",
        [
            {"target": "nobody"},
            {"computed": "sex"},
            {"powers": (0.0, 1.0)},
            {"powers": (1.0,)},
            {"inputs": ("rent", "rent")},
            {"constant": float("inf")},
            {"inputs": ("rent", "sex")},
            {"solvable": ("minutes",)},
            {"computed": "minutes"},
        ],
    )
    def test_a_formula_that_no_row_can_satisfy_is_refused(self, model, change):
        formula = next(each for each in model.domain.formulas if each.target == "spent")
        wrong = Formula(**{**vars(formula), **change})
        with pytest.raises(DataError, match="formula"):
            Domain(model.domain.variables, formulas=(wrong,))

    def test_a_file_with_such_a_formula_is_refused(self, model, tmp_path):
        from juror.files.container import plain_domain, read_domain

        plain = plain_domain(model.domain)
        assert read_domain(plain).formulas == model.domain.formulas
        del plain["formulas"][0]["target"]
        with pytest.raises((ModelFileError, ValueError), match="target"):
            read_domain(plain)

    def test_a_table_in_several_files_has_the_same_formulas(self, model, tmp_path):
        table = people()
        for n in range(2):
            table[250 * n : 250 * (n + 1)].to_parquet(tmp_path / f"part{n}.parquet")
        again = juror.fit(tmp_path, method="tree")
        assert again.domain.formulas == model.domain.formulas
