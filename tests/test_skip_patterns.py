"""Missing cells as a state of their own: the same as a label written by hand, and warnings about skip patterns."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import juror
from juror import Domain, PairCounts, Range
from juror.cli import main
from juror.domain.variable import Variable
from juror.errors import DataError, ParameterError, QueryError
from juror.fitting.skip_patterns import skip_patterns
from juror.rows import store
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.runners.local import LocalRunner

# short fits do not converge
pytestmark = pytest.mark.filterwarnings("ignore::juror.FitWarning")

QUICK = {"rank": 3, "method": "em", "n_init": 1, "max_iter": 40}
LABELS = {"cigarettes": "not asked", "brand": "not asked"}


def survey(n=600, seed=0, nonresponse=0.05):
    """Smokers are asked how many cigarettes and which brand; a few do not say."""
    rng = np.random.default_rng(seed)
    smokes = rng.random(n) < 0.4
    cigarettes = np.where(smokes, rng.integers(1, 40, n) + rng.random(n).round(2), np.nan)
    table = pd.DataFrame({"smokes": np.where(smokes, "yes", "no"), "cigarettes": cigarettes})
    table["brand"] = pd.Series(rng.choice(["A", "B"], n)).where(smokes & (rng.random(n) >= nonresponse))
    table["sex"] = rng.choice(["f", "m"], n)
    return table


def by_hand(table, domain):
    """The same table with "not asked" as a label that somebody wrote, and a domain that has it."""
    labels = table.astype(object)
    for name in LABELS:
        variable = domain[name]
        codes = variable.encode(domain.open(table[[name]])[0])
        labels[name] = variable.decode(codes)
        labels[name] = labels[name].where(labels[name].notna(), "not asked")
    variables = [Variable(v.name, (*v.labels, "not asked")) if v.name in LABELS else v for v in domain]
    return labels, Domain(tuple(variables))


def leave_on_disk(monkeypatch):
    """Pass over rows on disk, as if they did not fit into memory."""
    monkeypatch.setattr(store.RowStore, "can_merge", False)
    monkeypatch.setattr(store, "_SHARE_FOR_ROWS", 1e-9)


def told(data, **options):
    """The warnings about skip patterns of a fit, and the model."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = juror.fit(data, **QUICK | options)
    return [str(w.message) for w in caught if "depends strongly on another column" in str(w.message)], model


class TestOracle:
    """missing_as equals a table in which the label was written by hand."""

    @pytest.mark.parametrize(
        "options", [QUICK, QUICK | {"method": "bayes", "sweeps": 20, "burnt": 10, "draws": 4}, {"method": "tree"}]
    )
    def test_a_fit_is_the_same(self, options):
        options = {k: v for k, v in options.items() if options["method"] != "bayes" or k not in ("n_init", "max_iter")}
        table = survey()
        plain, domain = by_hand(table, Domain.infer(table))
        expected = juror.fit(plain, domain=domain, **options)
        model = juror.fit(table, missing_as=LABELS, **options)
        for mine, theirs in zip(model.blocks, expected.blocks, strict=True):
            assert mine.parents.tolist() == theirs.parents.tolist()
            for one, other in zip(mine.tables, theirs.tables, strict=True):
                np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(model.log_prob(table), expected.log_prob(plain))
        np.testing.assert_array_equal(model.predict_proba(table, "smokes"), expected.predict_proba(plain, "smokes"))
        question = "brand, smokes | cigarettes = 'not asked'"
        np.testing.assert_array_equal(model.ask(question).to_numpy(), expected.ask(question).to_numpy())

    @pytest.mark.parametrize("kind", ["polars", "arrow", "dict", "csv", "parquet", "beyond memory", "stream", "dask"])
    def test_every_source(self, kind, tmp_path, monkeypatch):
        table = survey()
        expected = juror.fit(table, missing_as=LABELS, **QUICK)
        if kind == "polars":
            data = pytest.importorskip("polars").from_pandas(table)
        elif kind == "arrow":
            data = pa.Table.from_pandas(table)
        elif kind == "dict":
            data = {name: table[name].tolist() for name in table}
        elif kind == "csv":
            data = tmp_path / "table.csv"
            table.to_csv(data, index=False)
        elif kind in ("parquet", "beyond memory"):
            data = tmp_path / "table.parquet"
            table.to_parquet(data, row_group_size=100)
            if kind == "beyond memory":
                leave_on_disk(monkeypatch)
        elif kind == "dask":
            data = pytest.importorskip("dask.dataframe").from_pandas(table, npartitions=3)
        else:
            data = pa.Table.from_pandas(table).to_reader(max_chunksize=100)
        model = juror.fit(data, missing_as=LABELS, **QUICK)
        assert model.domain == expected.domain
        assert model.domain["cigarettes"].missing_label == "not asked"
        np.testing.assert_allclose(model.log_prob(table), expected.log_prob(table), atol=1e-9)

    def test_codes(self):
        codes = np.array([[0, 1], [1, -1], [0, 0], [1, -1]])
        model = juror.fit(codes, missing_as={"x1": "none"}, **QUICK)
        assert model.domain["x1"].labels == (0, 1, "none")
        assert model.prob("x1 = none", given="x0 = 1") > 0.8
        assert model.impute(codes).tolist() == codes.tolist()

    def test_counts_over_such_a_domain(self):
        table = survey()
        domain = Domain.infer(table).with_missing_as(LABELS)
        counts = PairCounts.of(table, domain)
        expected = pd.crosstab(table["smokes"], table["brand"].fillna("not asked"))
        np.testing.assert_array_equal(counts.table("smokes", "brand").to_numpy(), expected.to_numpy())
        halves = PairCounts.of(table[:300], domain) + PairCounts.of(table[300:], domain)
        np.testing.assert_array_equal(halves.tables[0], counts.tables[0])
        with pytest.raises(DataError, match=r"'cigarettes' are summed out here and the label 'not asked' there"):
            PairCounts.of(table, Domain.infer(table)) + counts

    @pytest.mark.parametrize("method", ["juror-a", "juror-b"])
    def test_projections(self, method):
        table = survey()[["smokes", "cigarettes", "sex"]]
        model = juror.fit(table, 2, method, missing_as={"cigarettes": "not asked"}, max_iter=5)
        assert model.prob("cigarettes = 'not asked'") == pytest.approx(0.6, abs=0.1)


class TestAnswers:
    """What answers make of the label."""

    @pytest.fixture(scope="class")
    @classmethod
    def table(cls):
        return survey(2000, seed=1)

    @pytest.fixture(scope="class")
    @classmethod
    def model(cls, table):
        return juror.fit(table, missing_as=LABELS, rank=4, method="em")

    def test_no_range_includes_it(self, model):
        (edge,) = [e for e in model.domain["cigarettes"].edges if e == model.domain["cigarettes"].edges[5]]
        low, high = (model.prob({"cigarettes": r}) for r in (Range(below=edge), Range(at_least=edge)))
        unasked = model.prob({"cigarettes": "not asked"})
        assert low + high == pytest.approx(1 - unasked)
        assert unasked == pytest.approx(0.6, abs=0.05)
        assert model.prob(f"cigarettes >= {edge}") == pytest.approx(high)
        # a negation is everything else, as for any other label
        assert model.prob(f"not cigarettes >= {edge}") == pytest.approx(1 - high)
        with pytest.raises(QueryError, match="'not asked' stands for missing cells of 'cigarettes'"):
            model.prob("cigarettes >= 'not asked'")

    def test_ranges_of_numbers_that_are_labels(self):
        domain = Domain.infer({"size": [1, 2, 5, None]}).with_missing_as({"size": "none"})
        assert domain["size"].labels == (1, 2, 5, "none")
        model = juror.JointPMF([1.0], [[[0.1], [0.2], [0.3], [0.4]]], domain)
        assert model.prob("size > 3") == pytest.approx(0.3)
        assert model.prob("size <= 3") == pytest.approx(0.3)

    def test_densities_and_cumulative_probabilities(self, model, table):
        unasked = model.prob({"cigarettes": "not asked"})
        below = model.cdf({"cigarettes": [-np.inf, np.inf, None]})
        np.testing.assert_allclose(below, [0.0, 1 - unasked, 1.0], atol=1e-9)
        assert model.density({"cigarettes": [None]}) == pytest.approx(unasked)
        # numbers of two decimals have probabilities
        some = np.arange(-1000, 100_000) / 100
        assert model.density({"cigarettes": some}).sum() / 100 == pytest.approx(1 - unasked)
        shares = [model.prob({"cigarettes": number}) for number in some[2000:2020].tolist()]
        np.testing.assert_allclose(model.density({"cigarettes": some[2000:2020]}), np.array(shares) * 100, rtol=1e-9)
        with pytest.raises(QueryError, match="'sex' is nominal"):
            model.cdf({"sex": ["f"]})
        assert model.cdf({"brand": [None]}) == pytest.approx(1.0)

    def test_an_absent_column_and_an_unknown_label_are_summed_out(self, model):
        assert model.log_prob({"sex": ["f"]})[0] == pytest.approx(np.log(model.prob("sex = f")))
        unknown = model.log_prob({"sex": ["f"], "brand": ["C"]}, unknown="missing")
        assert unknown[0] == pytest.approx(np.log(model.prob("sex = f")))
        missing = model.log_prob({"sex": ["f"], "brand": [None]})
        assert missing[0] == pytest.approx(np.log(model.prob("sex = f, brand = 'not asked'")))
        with pytest.raises(DataError, match=r"holds 'C' in row 0"):
            model.log_prob({"brand": ["C", None]})

    def test_samples_have_missing_cells(self, model, table):
        drawn = model.sample(4000, seed=3)
        assert drawn["cigarettes"].dtype == float
        assert drawn["cigarettes"].isna().mean() == pytest.approx(table["cigarettes"].isna().mean(), abs=0.05)
        assert set(drawn["brand"].dropna()) == {"A", "B"}
        labels = model.sample(200, seed=3, numbers=False)
        same = model.sample(200, seed=3)
        np.testing.assert_array_equal(labels["cigarettes"].isna(), same["cigarettes"].isna())
        np.testing.assert_array_equal(model.domain.encode(same), model.domain.encode(labels))
        assert np.all(np.isfinite(model.log_prob(labels)))
        for frame in ("polars", "pyarrow"):
            one = pa.table(model.sample(200, seed=3, frame=frame)) if frame == "pyarrow" else None
            assert one is None or one["brand"].null_count == labels["brand"].isna().sum()

    def test_predictions_may_be_the_label(self, model):
        rows = {"smokes": ["yes", "no"], "sex": ["f", "f"]}
        assert model.predict(rows, target="brand")[1] == "not asked"
        assert model.predict_proba(rows, target="brand").shape == (2, 3)

    def test_the_file_keeps_it(self, model, table, tmp_path):
        model.save(tmp_path / "m.juror")
        loaded = juror.load(tmp_path / "m.juror")
        np.testing.assert_array_equal(loaded.log_prob(table), model.log_prob(table))
        assert loaded.domain == model.domain
        assert loaded.info.labelled_missing == "cigarettes, brand as 'not asked'"
        assert "missing cells as a label: cigarettes, brand as 'not asked'" in loaded.summary()
        assert b'"format_version": 4' in (tmp_path / "m.juror").read_bytes().replace(b"\\", b"")
        plain = juror.fit(table, missing_as={}, **QUICK)
        plain.save(tmp_path / "p.juror")
        # older jurors read models that have no such label
        assert b"missing_label" not in (tmp_path / "p.juror").read_bytes()
        assert juror.load(tmp_path / "p.juror").domain == plain.domain


class TestImputation:
    """Labelled missing cells stay, unless they are asked for."""

    @pytest.fixture(scope="class")
    @classmethod
    def table(cls):
        table = survey(800, seed=2)
        table["sex"] = table["sex"].mask(np.random.default_rng(2).random(800) < 0.2)
        return table

    @pytest.fixture(scope="class")
    @classmethod
    def model(cls, table):
        return juror.fit(table, missing_as=LABELS, **QUICK)

    @pytest.mark.parametrize("draws", [None, 1])
    def test_they_stay(self, model, table, draws):
        filled = model.impute(table, draws)
        pd.testing.assert_frame_equal(filled.drop(columns="sex"), table.drop(columns="sex"))
        assert not filled["sex"].isna().any()

    @pytest.mark.parametrize("kind", ["polars", "categories", "arrow", "dictionary", "dict"])
    def test_in_every_kind_of_frame(self, model, table, kind):
        frame = table.assign(brand=table["brand"].astype("category")) if kind in ("categories", "dictionary") else table
        if kind == "polars":
            filled = model.impute(pytest.importorskip("polars").from_pandas(frame)).to_pandas()
        elif kind in ("arrow", "dictionary"):
            filled = model.impute(pa.Table.from_pandas(frame)).to_pandas()
        elif kind == "dict":
            filled = model.impute({name: frame[name].tolist() for name in frame})
        else:
            filled = model.impute(frame)
        for name in ("cigarettes", "brand"):
            np.testing.assert_array_equal(filled[name].isna(), table[name].isna())
        # one of several columns of categories, in part
        partly = model.impute(pa.Table.from_pandas(frame), also=["brand"]).to_pandas()
        assert not partly["brand"].isna().any()
        assert partly["cigarettes"].isna().sum() == table["cigarettes"].isna().sum()

    @pytest.mark.parametrize("draws", [None, 1])
    def test_they_are_filled_if_asked(self, model, table, draws):
        filled = model.impute(table, draws, also=["brand", "cigarettes"])
        assert set(filled["brand"]) == {"A", "B"}
        assert not filled["cigarettes"].isna().any()
        seen = table["brand"].notna()
        assert filled["brand"][seen].tolist() == table["brand"][seen].tolist()

    def test_a_filled_cell_has_the_best_label_of_those_asked(self, model):
        row = {"smokes": ["no"], "sex": ["m"], "brand": [None]}
        asked = model.ask("brand | smokes = no, sex = m, brand in {A, B}").to_numpy()
        assert model.impute(row, also=["brand"])["brand"][0] == "AB"[int(np.argmax(asked))]

    def test_what_may_be_asked_for(self, model, table):
        with pytest.raises(QueryError, match="Missing cells of 'sex' have no label of their own"):
            model.impute(table, also=["sex"])
        with pytest.raises(ParameterError, match=r"also must be a list of columns.*Got 'brand' instead"):
            model.impute(table, also="brand")


class TestWarnings:
    """Skip patterns are named; what is missing at random is not."""

    @pytest.mark.parametrize("seed", range(3))
    def test_a_skip_pattern_is_named(self, seed):
        (message,), model = told(survey(400, seed))
        assert "for 'cigarettes' (on 'smokes') and 'brand' (on 'smokes')," in message
        assert "missing_as='auto'" in message
        assert message in model.info.warnings

    @pytest.mark.parametrize("seed", range(3))
    def test_a_year_that_was_not_asked_is_named(self, seed):
        # nine years with a quarter of the answers missing, one in which nobody was asked
        rng = np.random.default_rng(seed)
        year = rng.integers(86, 96, 3000)
        missing = (year == 95) | (rng.random(3000) < 0.25)
        table = {"year": year, "migration": np.where(missing, None, rng.choice(["yes", "no"], 3000))}
        assert "'migration' (on 'year')" in told(table)[0][0]

    def test_what_may_be_chosen_is_not_warned_of(self):
        assert told(survey(), missing_as={})[0] == []
        assert told(survey(), missing_as={"brand": "none"})[0] == []
        assert told(survey(), missing_as="auto")[0] == []
        assert told(survey().fillna({"brand": "C", "cigarettes": 0.0}))[0] == []

    @pytest.mark.parametrize("seed", range(4))
    def test_none_where_cells_are_missing_at_random(self, seed):
        rng = np.random.default_rng(seed)
        for n_rows in (30, 100, 1000, 5000):
            for chance in (0.02, 0.3, 0.9):
                sizes = rng.choice([2, 3, 10, 200], 12).tolist()
                codes = np.stack([rng.integers(0, size, n_rows) for size in sizes], axis=1)
                # either for all alike, or seven times as often for some people, which other columns show
                rate = np.where(codes[:, :1] == 0, 0.1, 0.7) if chance == 0.3 else np.full((n_rows, 1), chance)
                holes = rng.random(codes.shape) < rate
                holes[:, 0] = False
                with LocalRunner(1) as runner:
                    rows = WeightedRows.of(np.where(holes, -1, codes))
                    assert skip_patterns(MemoryTable(rows, Domain.from_cardinalities(sizes), runner), seed) == []

    def test_many_rows_are_looked_at_by_a_sample(self, monkeypatch):
        monkeypatch.setattr("juror.fitting.skip_patterns._MOST_ROWS", 200)
        monkeypatch.setattr("juror.fitting.skip_patterns._MOST_COMPARED", 1)
        monkeypatch.setattr("juror.fitting.skip_patterns._LEAST_ROWS", 200)
        assert "'brand' (on 'smokes')" in told(survey(3000))[0][0]

    def test_weights_count_as_rows(self):
        table = survey(60, seed=5)
        heavy = np.random.default_rng(5).integers(1, 30, 60)
        repeated = table.loc[np.repeat(np.arange(60), heavy)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one, other = (told(data, **how)[0] for data, how in ((table, {"sample_weight": heavy}), (repeated, {})))
        assert one == other


class TestAll:
    """missing_as="all" labels every column that has missing cells, so that drawn rows have holes like the table's."""

    @pytest.mark.parametrize("kind", ["frame", "file", "beyond memory"])
    def test_it_labels_every_column_with_holes(self, kind, tmp_path, monkeypatch):
        table = survey(600)
        table.loc[7, "sex"] = None
        data = table if kind == "frame" else tmp_path / "t.parquet"
        table.to_parquet(tmp_path / "t.parquet", row_group_size=100)
        if kind == "beyond memory":
            leave_on_disk(monkeypatch)
        model = juror.fit(data, missing_as="all", **QUICK)
        assert [variable.missing_label for variable in model.domain] == [None, "missing", "missing", "missing"]

    def test_drawn_rows_have_holes_like_those_of_the_table(self):
        table = survey(600)
        drawn = juror.fit(table, missing_as="all", **QUICK).sample(6000, seed=0)
        # A share of 600 rows and one of 6,000 differ by at most 0.07, three standard errors.
        np.testing.assert_allclose(drawn.isna().mean(), table.isna().mean(), atol=0.07)
        assert drawn["cigarettes"].dtype == table["cigarettes"].dtype

    def test_a_target_is_left_alone(self):
        model = juror.fit(survey(), missing_as="all", target="brand", **QUICK)
        assert [model.domain[name].missing_label for name in ("cigarettes", "brand")] == ["missing", None]

    def test_a_table_without_holes_has_no_label(self):
        assert juror.fit(survey()[["smokes", "sex"]], missing_as="all", **QUICK).info.labelled_missing == ""


class TestAuto:
    """missing_as="auto" labels the columns that the warning names."""

    @pytest.mark.parametrize("kind", ["frame", "file", "beyond memory"])
    def test_it_labels_what_is_skipped(self, kind, tmp_path, monkeypatch):
        table = survey(600)
        table["sex"] = table["sex"].mask(np.random.default_rng(0).random(600) < 0.2)
        data = table if kind == "frame" else tmp_path / "t.parquet"
        table.to_parquet(tmp_path / "t.parquet", row_group_size=100)
        if kind == "beyond memory":
            leave_on_disk(monkeypatch)
        model = juror.fit(data, missing_as="auto", **QUICK)
        labels = [variable.missing_label for variable in model.domain]
        assert labels == [None, "missing", "missing", None]
        assert model.info.labelled_missing == "cigarettes, brand as 'missing'"
        named = juror.fit(data, missing_as=dict.fromkeys(LABELS, "missing"), **QUICK)
        np.testing.assert_array_equal(model.log_prob(table), named.log_prob(table))

    def test_a_target_is_left_alone(self):
        model = juror.fit(survey(), missing_as="auto", target="brand", **QUICK)
        assert model.domain["brand"].labels == ("A", "B")
        assert model.domain["cigarettes"].missing_label == "missing"

    def test_a_label_that_exists_is_refused(self):
        table = survey().replace({"brand": {"A": "missing"}})
        with pytest.raises(
            DataError, match=r"Missing cells of 'brand' must get a label .* Got 'missing'; name another"
        ):
            juror.fit(table, missing_as="auto", **QUICK)

    @pytest.mark.parametrize(
        ("missing_as", "message"),
        [
            ("yes", r"missing_as must be None, 'auto', 'all' or a dict of columns.*Got 'yes' instead"),
            ({"brnd": "x"}, r"missing_as names no column 'brnd'. Did you mean 'brand'\?"),
            ({"brand": None}, r"Missing cells of 'brand' must get a label that it does not have"),
            ({"cigarettes": 7}, r"Missing cells of 'cigarettes' must get a label that it does not have"),
        ],
    )
    def test_wrong_values(self, missing_as, message):
        with pytest.raises((ParameterError, DataError), match=message):
            juror.fit(survey(), missing_as=missing_as, **QUICK)

    def test_counts_are_refused(self):
        with pytest.raises(ParameterError, match="missing_as belongs to the rows, which were counted already"):
            juror.fit(PairCounts.of(survey()), 2, missing_as="auto")


def test_domains_with_the_label_are_united_and_extended():
    labels = {"colour": "none"}
    north, south = (
        Domain.infer({"colour": each, "price": [0.5, 2.5]}).with_missing_as(labels)
        for each in (["red", "blue"], ["teal", "red"])
    )
    assert north.united(south)["colour"].labels == ("blue", "red", "teal", "none")
    extended = north.extended({"colour": ["teal", None, "red"], "price": [1.5, 2.5, 3.5]})
    assert extended["colour"].labels == ("blue", "red", "teal", "none")
    assert north.with_missing_as(labels) == north
    with pytest.raises(DataError, match=r"'colour' have the label 'none' already. Got 'no' besides"):
        north.with_missing_as({"colour": "no"})
    with pytest.raises(DataError, match="must be the last of 'colour'"):
        Variable("colour", ("none", "red"), missing_label="none")


def test_a_marker_may_be_the_label():
    table = {"colour": ["red", "?", "blue"], "size": [1, 2, 3]}
    model = juror.fit(table, missing=["?"], missing_as={"colour": "?"}, **QUICK)
    assert model.domain["colour"].labels == ("blue", "red", "?")
    assert model.log_prob({"colour": ["?"]})[0] == pytest.approx(np.log(model.prob("colour = '?'")))


class TestCommandLine:
    """--missing-as of fit, and --also of impute."""

    @pytest.fixture
    def run(self, tmp_path, capsys, monkeypatch):
        monkeypatch.chdir(tmp_path)
        survey(300).to_csv("survey.csv", index=False)

        def run(*arguments):
            with pytest.raises(SystemExit) as end:
                main(arguments)
            return end.value.code, *capsys.readouterr()

        return run

    def fit(self, run, *options):
        quick = ("--rank", "2", "--method", "em", "--starts", "1")
        return run("fit", "survey.csv", "-o", "m.juror", *quick, *options)

    def test_labels(self, run):
        status, out, err = self.fit(run, "--missing-as", "brand=not asked", "--missing-as", "cigarettes=none")
        assert (status, "depends strongly" in err) == (0, False)
        assert "missing cells as a label: cigarettes as 'none'; brand as 'not asked'" in out
        assert juror.load("m.juror").domain["brand"].labels == ("A", "B", "not asked")
        filled = {also: run("impute", "m.juror", "survey.csv", *also)[1] for also in ((), ("--also", "brand"))}
        # what stays missing is written as in the file
        assert filled[()] == Path("survey.csv").read_text()
        assert pd.read_csv(io.StringIO(filled["--also", "brand"]))["brand"].notna().all()
        drawn = pd.read_csv(io.StringIO(run("sample", "m.juror", "-n", "50")[1]))
        assert set(drawn["brand"].dropna()) == {"A", "B"}

    def test_words(self, run):
        status, _, err = self.fit(run)
        assert status == 0
        assert "Pass --missing-as auto to make missing a label of these columns, or --missing-as none to keep" in err
        assert self.fit(run, "--missing-as", "auto")[0] == 0
        assert juror.load("m.juror").domain["brand"].missing_label == "missing"
        assert self.fit(run, "--missing-as", "all")[0] == 0
        assert juror.load("m.juror").domain["brand"].missing_label == "missing"
        status, _, err = self.fit(run, "--missing-as", "none")
        assert (status, "depends strongly" in err) == (0, False)
        assert juror.load("m.juror").domain["brand"].missing_label is None

    def test_wrong_values(self, run):
        for wrong in (["brand"], ["brand=a", "brand=b"], ["auto", "none"], ["all", "brand=a"]):
            status, _, err = self.fit(run, *(word for one in wrong for word in ("--missing-as", one)))
            assert status == 2
            assert "--missing-as must be 'auto', 'all', 'none', or COLUMN=LABEL once for each column. Got" in err
        status, _, err = self.fit(run, "--missing-as", "brnd=a")
        assert "--missing-as names no column 'brnd'. Did you mean 'brand'?" in err


class TestEstimators:
    """The estimators of scikit-learn pass missing_as on."""

    def test_a_missing_feature_is_information(self):
        # brand is missing for those who do not smoke, and else tells nothing
        table = survey(1000, nonresponse=0.0)
        features, smokes = table[["brand", "sex"]], table["smokes"]
        how = {"rank": 3, "method": "em", "n_init": 1}
        with_label = juror.JointClassifier(missing_as={"brand": "none"}, **how).fit(features, smokes)
        summed_out = juror.JointClassifier(missing_as={}, **how).fit(features, smokes)
        assert with_label.score(features, smokes) == 1.0
        assert summed_out.score(features, smokes) < 1.0

    def test_an_imputer_leaves_the_cells(self):
        table = survey()
        filled = juror.JointImputer(missing_as=LABELS, **QUICK).fit_transform(table)
        pd.testing.assert_frame_equal(filled, table)

    def test_batches_are_refused(self):
        with pytest.raises(ParameterError, match="missing_as needs all rows at once"):
            juror.JointDensity(rank=2, missing_as="auto").partial_fit(survey())
