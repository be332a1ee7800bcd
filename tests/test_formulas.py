"""Columns that are sums or products of others: found, kept with models, and satisfied by drawn and filled rows."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import juror
from juror.domain import Domain
from juror.domain.formula_columns import Measured
from juror.domain.formula_sets import find_formulas
from juror.domain.formulas import Formula, on_grid
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

    def test_numbers_that_differ_by_a_few_steps_are_no_formula(self):
        rng = np.random.default_rng(0)
        start, nights = rng.integers(0, 3000, 3000), rng.choice([1, 2, 3], 3000)
        table = pd.DataFrame({"start": start, "end": start + nights})
        assert formulas_in(table) == ()
        (formula,) = formulas_in(table.assign(nights=nights))
        assert {formula.target, *formula.inputs} == {"start", "end", "nights"}
        assert formula.exact

    @pytest.mark.parametrize("seed", [18, 27])
    def test_powers_beyond_all_floats_are_no_formula_and_give_no_warning(self, seed):
        rng = np.random.default_rng(seed)
        rate, change = np.round(rng.uniform(2, 9, 124), 2), np.round(rng.normal(size=124), 2)
        # columns of a program with short floats: their ratio is constant but for rounding
        held = (0.2493 * change).astype(np.float32).astype(float)
        gain = (0.22 * rate * (1 + rng.normal(0, 3e-3, 124))).astype(np.float32).astype(float)
        found = formulas_in(pd.DataFrame({"rate": rate, "change": change, "held": held, "gain": gain}))
        assert all({"change", "held"} == {each.target, *each.inputs} for each in found)

    @pytest.mark.parametrize("seed", range(3))
    def test_a_sum_of_columns_that_depend_on_all_others_is_found(self, seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(1500, 4)) @ rng.normal(size=(4, 20)) * 30 + rng.normal(size=(1500, 20)) * 10 + 300
        table = pd.DataFrame(x.round(1)).rename(columns=lambda k: f"x{k}")
        assert formulas_in(table) == ()
        (formula,) = formulas_in(table.assign(z=(table["x0"] + table["x1"] + table["x2"]).round(1)))
        assert {formula.target, *formula.inputs} == {"z", "x0", "x1", "x2"}

    def test_fractions_that_no_decimals_write_are_exact(self):
        rng = np.random.default_rng(0)
        year, month = rng.integers(2000, 2016, 1000), rng.integers(1, 13, 1000)
        table = pd.DataFrame({"year": year, "month": month, "date": year + (month - 1) / 12})
        (formula,) = formulas_in(table)
        assert formula.in_words() == "date = year + 1/12 × month − 1/12"
        assert errors(formula, table).max() < 1e-12

    def test_a_sum_of_rounded_parts_is_found(self):
        rng = np.random.default_rng(0)
        a, b = rng.gamma(3, 100, (2, 3000))
        (formula,) = formulas_in(pd.DataFrame({"a": np.round(a), "b": np.round(b), "z": np.round(a + b)}))
        assert formula.in_words() in {"z = a + b", "a = z − b", "b = z − a"}
        assert not formula.exact
        assert formula.share == 1

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


FORMULA_OF_SPENT = Formula("spent", ("rent", "food"), (1.0, 1.0), 0.0, "sum", "spent", ("spent", "rent", "food"), 1.0)
FOUND_BY_HAND = {"computed": "z", "solvable": ("z",), "share": 1.0}


@pytest.mark.parametrize("memory", ["4GB", "2MB"])
def test_rows_of_weight_zero_neither_hide_formulas_nor_make_them(tmp_path, memory):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(1, 500, (1600, 3)), columns=["a", "b", "total"])
    halves = np.arange(1600) < 800
    table["total"] = np.where(halves, table["a"] + table["b"], table["total"])
    for counted, found in ((halves, "total = a + b"), (~halves, "")):
        table.assign(weight=counted.astype(int)).to_parquet(tmp_path / "rows.parquet")
        for data in (tmp_path / "rows.parquet", table.assign(weight=counted.astype(int))):
            model = juror.fit(data, method="tree", sample_weight="weight", memory=memory)
            assert model.info.formulas == found


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
        changed = {name for formula in model.domain.formulas for name in (formula.computed, formula.target)}
        assert {"sex", "income", "food"} <= set(with_formulas) - changed
        for name in set(with_formulas) - changed:
            assert (with_formulas[name] == without[name]).mean() > 0.9

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
        spent = next(formula for formula in model.domain.formulas if formula.target == "spent")
        assert np.nanmax(errors(spent, drawn)) < 0.5

    def test_a_formula_without_a_value_says_nothing_about_the_row(self):
        rng = np.random.default_rng(0)
        parts = rng.integers(1, 200, 1500) * (rng.random(1500) < 0.8)
        whole = rng.integers(1, 1000, 1500)
        ratio = np.where(parts > 0, np.round(whole / np.maximum(parts, 1), 3), np.nan)
        active = np.where(parts > 0, "yes", "no")
        table = pd.DataFrame({"whole": whole, "parts": parts, "ratio": ratio, "active": active})
        with pytest.warns(juror.DataWarning, match="depends strongly on another column for 'ratio'"):
            model = juror.fit(table, method="tree")
        assert "ratio = whole / parts" in in_words(model.domain.formulas)
        drawn, without = (model.sample(4000, seed=1, formulas=formulas) for formulas in (True, False))
        np.testing.assert_array_equal(drawn["parts"] == 0, without["parts"] == 0)
        active = model.sample(500, given="parts = 0", seed=1)
        assert set(active["parts"]) == {0}

    @pytest.mark.parametrize("seed", range(3))
    def test_drawn_columns_are_as_much_like_the_table_as_without_formulas(self, seed):
        rng = np.random.default_rng(seed)
        whole = np.round(rng.gamma(3, 300, 1500))
        third = np.where(rng.random(1500) < 0.4, 0, np.round(whole * rng.uniform(0, 0.02, 1500)))
        second = np.round((whole - third) * rng.uniform(0.3, 0.7, 1500))
        table = pd.DataFrame({"whole": whole, "first": whole - second - third, "second": second, "third": third})
        model = juror.fit(table, method="tree")
        with_formulas, without = model.sample(4000, seed=1), model.sample(4000, seed=1, formulas=False)
        for name in table:
            before, now = (stats.ks_2samp(table[name], rows[name]).statistic for rows in (without, with_formulas))
            assert now < before + 0.08

    @pytest.mark.parametrize("seed", range(3))
    def test_parts_do_not_depend_on_each_other_because_of_what_they_give(self, seed):
        rng = np.random.default_rng(seed)
        height, weight = np.round(rng.normal(1.7, 0.1, 600), 2), np.round(rng.normal(75, 15, 600), 1)
        table = pd.DataFrame({"weight": weight, "height": height, "bmi": np.round(weight / height**2, 1)})
        # A forest joins both parts to the index, and not to each other.
        model = juror.fit(table, method="tree")
        assert in_words(model.domain.formulas) == {"bmi = weight / height²"}
        drawn = model.sample(4000, seed=1)
        np.testing.assert_allclose(drawn.corr("spearman"), table.corr("spearman"), atol=0.12)

    def test_the_formulas_of_a_domain_that_is_given_are_looked_for_again(self, model):
        table = people(300, seed=3)
        table["spent"] = np.random.default_rng(0).permutation(table["spent"])
        again = juror.fit(table, domain=model.domain, method="tree")
        assert in_words(again.domain.formulas) == FOUND - {"spent = rent + food"}
        counts = juror.PairCounts.of(table, domain=model.domain)
        assert juror.fit(counts, rank=2, method="pair-em").domain.formulas == ()

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
        capsys.readouterr()
        with pytest.raises(SystemExit):
            main(["sample", str(tmp_path / "people.juror"), "--given", "spent = 2500, rent = 300, food = 300"])
        assert "Relax the conditions, or pass --no-formulas." in capsys.readouterr().err


def stays(n=600, seed=0):
    """Stays in hospital, from a day to another some nights later, with a visit of some minutes."""
    rng = np.random.default_rng(seed)
    nights, minutes = rng.poisson(4, n), rng.integers(5, 240, n)
    admitted = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    began = pd.Timestamp("2022-01-01 08:00") + pd.to_timedelta(rng.integers(0, 100_000, n), unit="min")
    table = pd.DataFrame({"admitted": admitted, "nights": nights, "began": began, "minutes": minutes})
    table["discharged"] = table["admitted"] + pd.to_timedelta(table["nights"], unit="D")
    table["ended"] = table["began"] + pd.to_timedelta(table["minutes"], unit="min")
    return table.assign(year=table["admitted"].dt.year)


class TestDates:
    @pytest.fixture(scope="class")
    @staticmethod
    def model():
        return juror.fit(stays(), method="tree")

    def test_a_date_may_be_another_and_some_days(self, model):
        assert len(model.domain.formulas) == 2
        names = [{*formula.names} for formula in model.domain.formulas]
        assert {"admitted", "nights", "discharged"} in names
        assert {"began", "minutes", "ended"} in names

    def test_days_since_1970_are_no_formula_of_a_date(self):
        admitted = stays()["admitted"]
        since = (admitted - pd.Timestamp("1970-01-01")).dt.days
        for days in (since, since / 2, since**2):
            assert formulas_in(pd.DataFrame({"admitted": admitted, "days": days})) == ()

    def test_drawn_dates_satisfy_formulas(self, model):
        rows = model.sample(2000, seed=1)
        np.testing.assert_array_equal((rows["discharged"] - rows["admitted"]).dt.days, rows["nights"])
        np.testing.assert_array_equal((rows["ended"] - rows["began"]).dt.total_seconds(), 60 * rows["minutes"])
        some = model.sample(200, given="admitted >= 2023-06-01, nights >= 5", seed=1)
        np.testing.assert_array_equal((some["discharged"] - some["admitted"]).dt.days, some["nights"])

    @pytest.mark.parametrize("kind", ["dates", "text"])
    def test_dates_that_follow_are_filled_and_predicted(self, model, kind):
        table = stays(100, seed=3)
        table = table[(table["admitted"] < "2023-11-20") & (table["nights"] <= 10)]
        holes = table.copy()
        if kind == "text":
            holes = holes.assign(admitted=table["admitted"].dt.strftime("%Y-%m-%d"))
        holes["discharged"] = pd.NaT
        filled = model.impute(holes)
        assert pd.to_datetime(filled["discharged"]).tolist() == table["discharged"].tolist()
        predicted = model.predict(holes, target="discharged")
        assert pd.to_datetime(predicted).tolist() == table["discharged"].tolist()

    def test_a_date_that_a_formula_gives_is_told_as_a_date(self, model):
        with pytest.warns(JurorWarning, match="gives 'ended' as 2022-03-04 10:45 here"):
            model.expect("ended", {"began": "2022-03-04 10:00", "minutes": 45})


class TestAnswers:
    @pytest.mark.parametrize(
        "ask",
        [
            lambda model: model.expect("spent", {"rent": 1000, "food": 500}),
            lambda model: model.quantile("spent", 0.5, given="rent = 1000, food = 500"),
            lambda model: model.ask("spent | rent = 1000, food = 500"),
            lambda model: model.marginal("spent", given={"rent": 1000, "food": 500}),
            lambda model: model.interval("spent | rent = 1000, food = 500"),
            lambda model: model.prob("spent >= 1400", given="rent = 1000, food = 500"),
            lambda model: model.mode("rent = 1000, food = 500"),
        ],
    )
    def test_what_a_formula_gives_is_told(self, model, ask):
        with pytest.warns(JurorWarning, match=r"'spent = rent \+ food' holds .* gives 'spent' as 1500 here") as caught:
            ask(model)
        assert [warning.filename for warning in caught] == [__file__]

    @pytest.mark.parametrize("target", ["spent", "rent", "charge"])
    def test_what_is_predicted_is_what_is_filled_in(self, model, target):
        table = people(100, seed=5)
        holes = table.assign(**{target: np.nan})
        holes.loc[::4, "food"] = np.nan
        predicted = model.predict(holes, target=target)
        np.testing.assert_array_equal(predicted, model.predict(holes.drop(columns=target), target=target))
        alone = model.predict(holes, target=target, formulas=False)
        filled = model.impute(holes)[target].to_numpy()
        gives_all = holes["food"].notna().to_numpy() | (target == "charge")
        np.testing.assert_array_equal(predicted[gives_all], filled[gives_all])
        np.testing.assert_array_equal(predicted[~gives_all], alone[~gives_all])
        assert (predicted != alone)[gives_all].mean() > 0.8

    def test_numbers_that_are_labels_are_predicted_by_formulas_too(self):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"parts": rng.choice([2, 4, 10, 12], 500), "price": rng.integers(100, 999, 500) / 10})
        model = juror.fit(table.assign(total=(table["parts"] * table["price"]).round(1)), method="tree")
        rows = pd.DataFrame({"price": [20.0, 20.0], "total": [200.0, 80.0]})
        assert model.predict(rows, target="parts").tolist() == [10, 4]
        assert model.predict({"parts": [10]}, target="parts").tolist() in ([2], [4], [10], [12])

    def test_other_questions_are_answered_without_a_warning(self, model):
        model.ask("spent | rent = 1000")
        model.ask("sex | rent = 1000, food = 500")
        model.expect("spent", "rent = 1000, food >= 500")
        model.prob("spent >= 1400", given="rent = 1000, food = 500, spent = 1500")


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
        assert wrong.mean() < 0.05
        without = errors(FORMULA_OF_SPENT, model.impute(holes, draws=draws, seed=1, formulas=False)) > 0.5
        assert without[some].mean() > 0.9

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

    def test_chains_are_followed_to_their_end(self):
        rng = np.random.default_rng(0)
        months = {f"m{k}": rng.integers(10, 500, 600) for k in range(5)}
        so_far = np.cumsum(list(months.values()), axis=0)
        table = pd.DataFrame({**months, **{f"total{k}": so_far[k] for k in range(1, 5)}})
        model = juror.fit(table, method="tree")
        holes = table[:50].astype(float)
        holes[["total1", "total2", "total3", "m0"]] = np.nan
        np.testing.assert_array_equal(model.impute(holes), table[:50])

    def test_a_share_that_is_zero_at_times_is_solved_for_elsewhere(self):
        rng = np.random.default_rng(0)
        sold, price = rng.integers(1, 99, 1000) * (rng.random(1000) < 0.8), rng.integers(100, 999, 1000) / 10
        table = pd.DataFrame({"sold": sold, "price": price, "paid": np.round(sold * price, 1)})
        model = juror.fit(table, method="tree")
        rows = pd.DataFrame({"sold": [5, 0], "price": [np.nan, np.nan], "paid": [250.0, 0.0]})
        filled = model.impute(rows)["price"]
        assert filled[0] == 50.0
        assert 10 <= filled[1] <= 99.9

    def test_numbers_too_large_to_be_exact_are_not_filled_in(self):
        rng = np.random.default_rng(0)
        x, y = rng.integers(1, 1000, (2, 600))
        model = juror.fit(pd.DataFrame({"x": x, "y": y, "z": x * y}), method="tree")
        filled = model.impute(pd.DataFrame({"x": [1e10, 3.0], "y": [1e10, 4.0], "z": [np.nan, np.nan]}))
        assert filled["z"][1] == 12
        assert filled["z"][0] <= (x * y).max()

    def test_a_cap_is_no_reason_to_go_beyond_all_rows(self):
        rng = np.random.default_rng(0)
        a = np.round(rng.uniform(10, 100, 3000), 1)
        model = juror.fit(pd.DataFrame({"a": a, "t": np.minimum(np.round(1.5 * a, 2), 148.5)}), method="tree")
        (formula,) = model.domain.formulas
        assert formula.share < 1
        assert model.impute(pd.DataFrame({"a": [150.0], "t": [np.nan]}))["t"][0] <= 148.5

    def test_a_year_is_not_solved_from_what_it_hardly_moves(self):
        rng = np.random.default_rng(0)
        a, year = np.round(rng.normal(50, 10, 2000), 2), rng.integers(1950, 2021, 2000)
        table = pd.DataFrame({"a": a, "year": year, "z": np.round(10 * a + 0.05 * year).astype(int)})
        assert all("year" not in formula.solvable for formula in formulas_in(table))

    def test_without_formulas(self, model):
        _, holes, hidden = self.holes("spent")
        filled = model.impute(holes, formulas=False)
        spent = errors(next(f for f in model.domain.formulas if f.target == "spent"), filled)
        assert (spent[hidden[:, 0]] > 0.5).mean() > 0.9

    def test_frames_of_other_kinds(self, model):
        table, holes, _ = self.holes("spent")
        filled = model.impute(pl.from_pandas(holes))
        assert isinstance(filled, pl.DataFrame)
        assert filled["spent"].to_list() == table["spent"].tolist()

    def test_numbers_that_arrive_as_text_are_numbers(self, model):
        table, holes, hidden = self.holes("spent")
        as_text = holes.assign(rent=holes["rent"].astype(str), food=holes["food"].astype(str).astype("category"))
        assert hidden.mean() > 0.2
        np.testing.assert_array_equal(model.impute(as_text)["spent"], table["spent"])

    def test_text_that_is_no_number_gives_none(self, model):
        rows = pd.DataFrame({"rent": ["300", "much"], "food": [200, 200], "spent": [None, None]})
        filled = model.impute(rows, unknown="missing")["spent"]
        assert filled[0] == 500
        assert filled[1] > 0

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

    def test_formulas_of_older_jurors_are_read(self, model):
        from juror.files.container import plain_domain, read_domain

        plain = plain_domain(model.domain)
        for formula in plain["formulas"]:
            del formula["exact"]
        before, after = model.domain.formulas, read_domain(plain).formulas
        assert [vars(formula) | {"exact": False} for formula in before] == [vars(formula) for formula in after]

    def test_a_table_in_several_files_has_the_same_formulas(self, model, tmp_path):
        table = people()
        for n in range(2):
            table[250 * n : 250 * (n + 1)].to_parquet(tmp_path / f"part{n}.parquet")
        again = juror.fit(tmp_path, method="tree")
        assert again.domain.formulas == model.domain.formulas
