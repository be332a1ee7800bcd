"""Orders between columns: which are found, and that drawn and filled rows keep them."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import juror
from juror.answers import order_draws
from juror.answers.sampling import RowSampler, RowsWithNumbers
from juror.domain import Domain
from juror.domain.formula_columns import Measured
from juror.domain.order_search import orders_of
from juror.domain.orders import Order, among, without_implied
from juror.errors import DataError, JurorWarning

FIT = {"rank": 3, "method": "em", "n_init": 1}


def careers(n=600, seed=0):
    """Years of work, and of these at a company and in a role; and an age and an income that no years reach."""
    rng = np.random.default_rng(seed)
    years = rng.integers(0, 40, n)
    company = rng.binomial(years, rng.uniform(0.1, 1, n))
    role = rng.binomial(company, rng.uniform(0.3, 1, n))
    return pd.DataFrame(
        {
            "years": years,
            "company": company,
            "role": role,
            "age": 20 + years + rng.integers(0, 20, n),
            "income": (2000 + 100 * years + rng.normal(0, 300, n)).round(),
            "sex": rng.choice(["f", "m"], n),
        }
    )


def stays(n=500, seed=0):
    """Days of admission and discharge, which are never the same."""
    rng = np.random.default_rng(seed)
    admitted = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 40, n), unit="D")
    nights = pd.to_timedelta(1 + rng.geometric(0.2, n), unit="D")
    return pd.DataFrame({"admitted": admitted, "discharged": admitted + nights, "ward": rng.choice(list("abc"), n)})


def n_broken(table, *pairs):
    """Count the rows in which one column is larger than another."""
    return int(np.any([(table[low] > table[high]).to_numpy() for low, high in pairs], axis=0).sum())


CAREER = [("company", "years"), ("role", "company"), ("role", "years")]


@pytest.fixture(scope="module")
def model():
    return juror.fit(careers(), **FIT)


@pytest.fixture(scope="module")
def hospital():
    return juror.fit(stays(), **FIT)


def holes_in(table, share=0.4, seed=1):
    numbers = table.select_dtypes("number").columns
    hidden = np.random.default_rng(seed).random((len(table), len(numbers))) < share
    holes = table.astype(dict.fromkeys(numbers, "Int64"))
    holes[numbers] = holes[numbers].mask(hidden)
    return holes


class TestFinding:
    def test_orders_that_the_model_breaks_are_found_and_others_are_not(self, model):
        assert {order.in_words() for order in model.domain.orders} == {"company <= years", "role <= company"}
        assert "company <= years in all 600 rows" in model.info.orders
        assert "orders between columns" in model.summary()

    def test_one_row_against_it_is_enough(self):
        table = careers()
        table.loc[0, ["years", "company"]] = [3, 4]
        assert "company <= years" not in juror.fit(table, **FIT).info.orders

    def test_dates_that_are_never_the_same(self, hospital):
        assert [order.in_words() for order in hospital.domain.orders] == ["admitted < discharged"]

    def test_rows_of_weight_zero_do_not_count(self):
        table = careers().assign(weight=1.0)
        table.loc[0, ["years", "company", "weight"]] = [3, 4, 0.0]
        found = juror.fit(table, sample_weight="weight", **FIT).info.orders
        assert "company <= years in all 599 rows" in found

    def test_only_rows_with_both_cells_count(self):
        table = careers().astype({"years": "Int64"})
        table.loc[:99, "years"] = pd.NA
        assert "company <= years in all 500 rows" in juror.fit(table, **FIT).info.orders

    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=25, deadline=None)
    def test_the_search_finds_what_a_loop_finds(self, seed):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, 30, (60, 5)).astype(float)
        rows[:, 1] = rows[:, 0] + rng.integers(0, 3, 60)
        rows[:, 2] = rows[:, 1] + rng.integers(1, 3, 60)
        rows[rng.random(rows.shape) < 0.02] = np.nan
        names = list("abcde")
        found = {order.names: order for order in orders_of({x: Measured(rows[:, n], 1.0) for n, x in enumerate(names)})}
        for n, low in enumerate(names):
            for k, high in enumerate(names):
                gaps = rows[:, k] - rows[:, n]
                gaps = gaps[np.isfinite(gaps)]
                holds = n != k and len(gaps) >= 50 and gaps.min() >= 0
                assert ((low, high) in found) == holds
                if holds:
                    assert found[low, high] == Order(low, high, bool(gaps.min() > 0), len(gaps))

    def test_columns_of_other_units_and_ranges_have_no_order(self):
        numbers = np.arange(100.0)
        dates = Measured(numbers + 1, 1.0, nanoseconds=86_400 * 10**9)
        columns = {"a": Measured(numbers, 1.0), "day": dates, "large": Measured(numbers + 99, 1.0)}
        assert not list(orders_of(columns))

    def test_two_equal_columns_have_no_order(self):
        assert not list(orders_of({name: Measured(np.arange(100.0), 1.0) for name in "ab"}))

    def test_a_strict_order_follows_only_from_one_that_is_strict(self):
        chain = [Order("a", "b", False, 9), Order("b", "c", False, 9), Order("c", "d", True, 9)]
        ends = [Order("a", "c", True, 9), Order("b", "d", True, 9)]
        assert without_implied([*chain, *ends]) == (*chain, ends[0])

    def test_an_order_that_holds_where_the_column_between_is_missing_is_kept(self):
        table = careers().astype({"company": "Int64"})
        table.loc[::3, "company"] = pd.NA
        model = juror.fit(table, missing_as="all", **FIT)
        assert "role <= years in all 600 rows" in model.info.orders
        assert n_broken(model.sample(2000, seed=1), ("role", "years")) == 0
        one = Order("a", "b", False, 90)
        chain = [one, replace(one, low="b", high="c"), replace(one, high="c")]
        assert without_implied(chain, optional=["b"]) == tuple(chain[:2])

    def test_orders_that_follow_through_columns_that_are_left_out(self, model):
        orders = (Order("company", "years", False, 70), Order("role", "company", True, 80))
        domain = replace(model.domain, orders=orders)
        names = [name for name in domain.names if name != "company"]
        assert among(orders, names, domain) == (Order("role", "years", True, 70),)
        assert among(orders, domain.names, domain) == orders
        weaker = replace(Order("role", "years", False, 90), kept=False)
        assert among([*orders, weaker], names, domain) == (Order("role", "years", True, 70),)
        assert among([orders[0], replace(orders[1], kept=False)], names, domain) == ()
        assert among(orders, names, domain.with_missing_as({"company": "none"})) == ()


class TestDrawing:
    def test_drawn_rows_keep_orders(self, model, hospital):
        assert n_broken(model.sample(5000, seed=1, formulas=False), *CAREER) > 100
        assert n_broken(model.sample(5000, seed=1), *CAREER) == 0
        rows = hospital.sample(3000, seed=1)
        assert (rows["admitted"] < rows["discharged"]).all()

    @pytest.mark.parametrize("asked", ["sex = f", "years < 8", "years = 12", "company >= 10, sex = m", "role = 5"])
    def test_under_conditions_too(self, model, asked):
        rows = model.sample(1000, given=asked, seed=1)
        assert n_broken(rows, *CAREER) == 0
        query = asked.replace(",", " and").replace(" = ", " == ")
        assert len(rows.query(query, local_dict={})) == 1000 if "sex" not in asked else set(rows["sex"]) == {asked[-1]}

    def test_conditions_that_contradict_an_order_are_warned_of(self, model):
        with pytest.warns(JurorWarning, match="contradict 'company <= years', which all 600 fitted rows keep"):
            rows = model.sample(200, given="years = 5, company = 10", seed=1)
        assert set(rows["company"]) == {10}
        assert n_broken(rows, ("role", "company")) == 0

    def test_rows_that_cannot_be_had_are_warned_of_with_their_number(self, model):
        with pytest.warns(JurorWarning, match=r"of 50 drawn rows break .* formulas=False"):
            model.sample(50, given="years = 5, role = 10", seed=1)

    def test_rows_follow_the_classes_given_the_orders(self):
        a, b = np.array([[0.2, 0.6], [0.3, 0.3], [0.5, 0.1]]), np.array([[0.3, 0.1], [0.3, 0.5], [0.4, 0.4]])
        weights = np.array([0.3, 0.7])
        orders = (Order("x0", "x1", False, 100),)
        small = juror.JointPMF(weights, [a, b], replace(Domain.from_cardinalities([3, 3]), orders=orders))
        keeps = np.triu(np.ones((3, 3)))
        in_classes = np.einsum("if,jf->fij", a, b) * keeps
        wanted = np.einsum("f,fij->ij", weights / in_classes.sum(axis=(1, 2)), in_classes)
        rows = small.sample(40_000, seed=3)
        counts = np.zeros((3, 3))
        np.add.at(counts, (rows["x0"], rows["x1"]), 1)
        assert counts[keeps == 0].sum() == 0
        cells = keeps > 0
        assert stats.chisquare(counts[cells], 40_000 * wanted[cells]).pvalue > 1e-3
        # Given a column of the order, all classes are drawn again, so that the rows follow p(x | order).
        whole = np.einsum("f,if,jf->ij", weights, a, b)[:2, 1]
        first = np.bincount(small.sample(40_000, given={"x1": 1}, seed=4)["x0"], minlength=3)
        assert first[2] == 0
        assert stats.chisquare(first[:2], 40_000 * whole / whole.sum()).pvalue > 1e-3

    def test_tables_without_orders_are_drawn_as_before(self, model):
        bare = juror.JointPMF.of_blocks(model.blocks, replace(model.domain, orders=()))
        pd.testing.assert_frame_equal(bare.sample(300, seed=2), model.sample(300, seed=2, formulas=False))
        codes, _ = (draws := RowsWithNumbers(RowSampler(bare), np.random.default_rng(0))).rows_in(draws.classes(50))
        assert np.array_equal(codes, RowSampler(bare).draw(50, np.random.default_rng(0)))

    def test_orders_that_drawn_and_filled_rows_ignore(self, model):
        ignored = replace(model.domain, orders=tuple(replace(each, kept=False) for each in model.domain.orders))
        bare = juror.JointPMF.of_blocks(model.blocks, ignored)
        pd.testing.assert_frame_equal(bare.sample(300, seed=2), model.sample(300, seed=2, formulas=False))
        holes = holes_in(careers(seed=3))
        pd.testing.assert_frame_equal(bare.impute(holes, draws=1), model.impute(holes, draws=1, formulas=False))
        assert ignored.orders[0].described().endswith("in all 600 rows (drawn and filled rows ignore it)")

    def test_numbers_stay_like_the_table(self, model):
        table = careers()
        for name in ("years", "company", "role"):
            before, now = (
                stats.ks_2samp(table[name], model.sample(4000, seed=1, formulas=keep)[name]).statistic
                for keep in (False, True)
            )
            assert now < before + 0.1

    def test_the_same_seed_gives_the_same_rows_for_any_number_of_threads(self, model):
        two = juror.fit(careers(), n_jobs=2, **FIT)
        assert two.domain.orders == model.domain.orders
        pd.testing.assert_frame_equal(two.sample(500, seed=5), model.sample(500, seed=5))


class TestFilling:
    def test_drawn_holes_keep_orders_and_observed_cells_stay(self, model):
        holes = holes_in(careers(seed=3))
        assert n_broken(model.impute(holes, draws=1, formulas=False).astype({"sex": str}), *CAREER) > 10
        for table in model.impute(holes, draws=2, seed=1):
            assert n_broken(table, *CAREER) == 0
            for name in holes:
                seen = holes[name].notna()
                assert (table[name][seen] == holes[name][seen]).all()

    def test_most_probable_numbers_keep_orders(self, model):
        holes = holes_in(careers(seed=3), share=0.5)
        assert n_broken(model.impute(holes, formulas=False), *CAREER) > 0
        filled = model.impute(holes)
        assert n_broken(filled, *CAREER) == 0
        pd.testing.assert_frame_equal(filled, model.impute(holes))
        for name in holes:
            seen = holes[name].notna()
            assert (filled[name][seen] == holes[name][seen]).all()

    def test_rows_that_keep_orders_anyway_are_filled_as_before(self, model):
        holes = holes_in(careers(seed=3))
        before, now = model.impute(holes, formulas=False), model.impute(holes)
        fine = ~np.any([(before[low] > before[high]).to_numpy() for low, high in CAREER], axis=0)
        pd.testing.assert_frame_equal(before[fine], now[fine])

    def test_observed_cells_that_break_an_order_are_no_concern(self, model):
        row = pd.DataFrame({"years": [5], "company": [9], "role": [None], "age": [40], "income": [2500], "sex": ["f"]})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            filled = model.impute(row, draws=1)
        assert filled["company"].tolist() == [9]
        assert int(filled["role"][0]) <= 9

    def test_holes_that_no_number_fits_are_warned_of(self, model):
        row = pd.DataFrame({"years": [-5], "company": [None], "role": [0], "age": [40], "income": [2500], "sex": ["f"]})
        with pytest.warns(JurorWarning, match="1 of 1 filled rows break 'company <= years'"):
            model.impute(row, draws=1)

    def test_a_table_without_the_column_between_keeps_what_follows(self, model):
        holes = holes_in(careers(seed=3)).drop(columns="company")
        assert n_broken(model.impute(holes, draws=1, formulas=False), ("role", "years")) > 0
        assert n_broken(model.impute(holes, draws=1), ("role", "years")) == 0

    def test_dates(self, hospital):
        holes = stays(seed=4)
        holes.loc[::3, "discharged"] = pd.NaT
        holes.loc[1::3, "admitted"] = pd.NaT
        for table in (hospital.impute(holes), hospital.impute(holes, draws=1)):
            assert (table["admitted"] < table["discharged"]).all()


class TestKeeping:
    def test_a_model_keeps_them_in_its_file(self, model, tmp_path):
        model.save(tmp_path / "model.juror")
        loaded = juror.load(tmp_path / "model.juror")
        assert loaded.domain.orders == model.domain.orders
        pd.testing.assert_frame_equal(loaded.sample(200, seed=1), model.sample(200, seed=1))

    def test_a_conditioned_model_keeps_those_of_its_columns(self, model):
        assert [each.in_words() for each in model.condition(years=20).domain.orders] == ["role <= company"]
        rest = model.condition(company=5)
        assert [each.in_words() for each in rest.domain.orders] == ["role <= years"]
        assert n_broken(rest.sample(2000, seed=1), ("role", "years")) == 0

    def test_another_fit_does_not_take_them_from_a_domain(self, model):
        shuffled = careers().assign(company=careers()["company"].sample(frac=1, random_state=0).to_numpy())
        assert "company <= years" not in juror.fit(shuffled, domain=model.domain, **FIT).info.orders

    @pytest.mark.parametrize("order", [Order("years", "sex", False, 9), Order("years", "years", False, 9)])
    def test_an_order_that_is_none_is_refused(self, model, order):
        with pytest.raises(DataError, match="The order"):
            replace(model.domain, orders=(order,))

    def test_probabilities_are_those_of_the_model(self, model):
        bare = juror.JointPMF.of_blocks(model.blocks, replace(model.domain, orders=()))
        assert model.prob("company >= 20", given="years < 10") == bare.prob("company >= 20", given="years < 10") > 0


def test_numbers_that_fit_no_other_type_are_put_in_place():
    numbers = {0: np.array([1, 2]), 1: np.array([2**70, 5], dtype=object)}
    order_draws.put_numbers(
        numbers, np.array([1]), {0: np.array([2**70], dtype=object), 1: np.array([7])}, np.array([0])
    )
    assert numbers[0].tolist() == [1, 2**70]
    assert numbers[1].tolist() == [2**70, 7]
