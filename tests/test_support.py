"""Support: the counts that a model keeps are those of its table, and answers say how many rows are behind them."""

from __future__ import annotations

import io
import json
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from scipy.stats import binom

import juror
from juror import Domain, JointPMF, Not, PairCounts, Range
from juror.answers.marginals import ProbabilityTable
from juror.answers.support import SupportTable, beyond_chance
from juror.cli import main
from juror.domain.variable import Variable
from juror.errors import DataError, ModelError, ModelFileError, ParameterError, QueryError
from juror.fitting import kept_counts
from juror.testing import random_model

# Rows beyond this many bytes are passed over where they are.
LEAST = 2_000_000


def people(missing: float = 0.2, seed: int = 0) -> pd.DataFrame:
    """The Titanic's people with missing cells."""
    frame = juror.datasets.titanic().astype("str")
    return frame.mask(np.random.default_rng(seed).random(frame.shape) < missing)


def assert_crosstabs(counts: PairCounts, frame: pd.DataFrame, weights: pd.Series | None = None) -> None:
    """Compare counts with what pandas counts."""
    weights = pd.Series(1.0, frame.index) if weights is None else weights
    assert counts.n_rows == pytest.approx(weights.sum())
    for one, other in combinations(frame.columns, 2):
        theirs = pd.crosstab(frame[one], frame[other], values=weights, aggfunc="sum").fillna(0.0)
        ours = counts.table(one, other).loc[theirs.index, theirs.columns]
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        assert counts.table(one, other).to_numpy().sum() == pytest.approx(theirs.to_numpy().sum())
    for name, single in zip(counts.domain.names, counts.singles, strict=True):
        theirs = weights.groupby(frame[name]).sum()
        np.testing.assert_allclose(single, theirs[list(counts.domain[name].labels)], rtol=1e-12)


def assert_same_counts(one: PairCounts, other: PairCounts) -> None:
    assert one.domain == other.domain
    assert one.n_rows == other.n_rows
    assert (one.singles is None) == (other.singles is None)
    for a, b in zip((*one.tables, *(one.singles or ())), (*other.tables, *(other.singles or ())), strict=True):
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)


@pytest.mark.filterwarnings("ignore::juror.FitWarning")  # short fits are enough for counts
class TestKeptCounts:
    @pytest.mark.parametrize("method", ["em", "tree", "bayes"])
    def test_are_those_of_the_table(self, method):
        short = {"sweeps": 20, "burnt": 10, "draws": 5} if method == "bayes" else {}
        model = juror.fit(people(), 1 if method == "tree" else 2, method, **short)
        assert_crosstabs(model.counts, people())
        assert model.info.without_counts == ""

    def test_of_weighted_rows_are_weighted(self):
        frame = people()
        weights = pd.Series(np.random.default_rng(1).random(len(frame)) + 0.5)
        model = juror.fit(frame.assign(w=weights), 2, "em", sample_weight="w")
        assert_crosstabs(model.counts, frame, weights)

    @pytest.mark.parametrize("forest", [False, True])
    def test_of_rows_beyond_memory(self, tmp_path, forest):
        frame = pd.concat([people(seed=seed) for seed in range(20)], ignore_index=True)
        frame.to_parquet(tmp_path / "people.parquet")
        model = juror.fit(tmp_path / "people.parquet", 2, "em", forest=forest, max_iter=3, memory=LEAST)
        assert model.info.n_searched is not None
        assert_crosstabs(model.counts, frame)

    def test_rows_beyond_memory_are_counted_once(self, tmp_path, monkeypatch):
        """The forest and the model need the same pairs: one pass counts them."""
        from juror.rows import out_of_core

        passes = []
        count = out_of_core._tables_of
        monkeypatch.setattr(
            out_of_core,
            "_tables_of",
            lambda packing, groups, piece: passes.append(piece) or count(packing, groups, piece),
        )
        frame = pd.concat([people(seed=seed) for seed in range(20)], ignore_index=True)
        frame.to_parquet(tmp_path / "people.parquet")
        juror.fit(tmp_path / "people.parquet", 2, "em", forest=True, max_iter=2, memory=LEAST)
        assert len({id(piece) for piece in passes}) == len(passes) > 0

    def test_of_a_fit_to_counts_are_those_counts(self):
        counts = PairCounts.of(people())
        assert juror.fit(counts, 2).counts is counts

    @pytest.mark.parametrize(
        ("statistic", "reason"),
        [
            (juror.TripleCounts, "unknown, as the fit had counts of triples only"),
            (juror.Projections, "unknown, as the fit had projections of pairs only"),
        ],
    )
    def test_other_statistics_do_not_have_them(self, statistic, reason):
        frame = juror.datasets.titanic()[["Sex", "Age", "Survived"]]
        model = juror.fit(statistic.of(frame), 2, smoothing=0.1)
        assert model.counts is None
        assert model.info.without_counts == reason

    def test_may_be_left_out(self, tmp_path):
        model = juror.fit(people(), 2, "em", keep_counts=False)
        assert model.counts is None
        assert "pair counts: left out, as asked" in model.summary()
        model.save(tmp_path / "m.juror")
        assert juror.load(tmp_path / "m.juror").info.without_counts == "left out, as asked"
        with pytest.raises(ParameterError, match=r"keep_counts must be True or False\. Got 'no' instead"):
            juror.fit(people(), 2, "em", keep_counts="no")

    @pytest.mark.parametrize(("bound", "what"), [("MOST_CELLS", "36 cells"), ("MOST_PAIRS", "6 pairs")])
    def test_very_wide_tables_have_none_and_say_so(self, monkeypatch, bound, what):
        monkeypatch.setattr(kept_counts, bound, 5)
        model = juror.fit(people(), 2, "em")
        assert model.counts is None
        assert f"pair counts: left out, as {what} are more than the 5 that a model keeps" in model.summary()

    def test_go_with_the_table_they_are_of(self):
        model = juror.fit(people(), 3, "em")
        assert model.condition(Sex="Female").counts is None
        assert model.compress(2).counts is model.counts
        assert_same_counts(pickle.loads(pickle.dumps(model)).counts, model.counts)
        with pytest.raises(ModelError, match="other variables or labels"):
            JointPMF([1.0], [[[1.0]], [[1.0]]], counts=model.counts)

    def test_one_variable_has_no_pairs_but_counts(self):
        model = juror.fit({"a": ["x", "y", "x", None]}, 1, "em")
        assert model.counts.tables == ()
        assert model.ask("a").support.counts.tolist() == [2, 1]
        assert model.ask("a").support.n_missing == 1


class TestInTheFile:
    @pytest.mark.parametrize("how", ["counts", "fractions", "large", "no singles", "one variable"])
    @pytest.mark.parametrize("edges", [False, True])
    def test_every_bit_comes_back(self, tmp_path, how, edges):
        frame = people()[["Sex"]] if how == "one variable" else people()
        weights = {"fractions": np.random.default_rng(2).random(len(frame)), "large": np.full(len(frame), 2.0**40 + 1)}
        counts = PairCounts.of(frame, sample_weight=weights.get(how))
        if how == "no singles":
            counts = PairCounts(counts.domain, counts.groups, counts.tables, None)
        model = juror.fit(
            counts.domain.encode(frame), 1 if edges else 2, "tree" if edges else "em", domain=counts.domain
        )
        JointPMF.of_blocks(model.blocks, model.domain, model.info, counts).save(tmp_path / "m.juror")
        loaded = juror.load(tmp_path / "m.juror")
        assert_same_counts(loaded.counts, counts)
        for one, other in zip(loaded.blocks, model.blocks, strict=True):
            assert np.array_equal(one.weights, other.weights)
            assert all(np.array_equal(a, b) for a, b in zip(one.tables, other.tables, strict=True))

    def test_without_counts_files_are_as_before(self, tmp_path):
        """A model without edges and counts is still of version 1, which the first juror reads."""
        juror.fit(people(), 2, "em", keep_counts=False).save(tmp_path / "m.juror")
        with safe_open(tmp_path / "m.juror", framework="np") as opened:
            assert set(opened.keys()) == {"weights", *(f"factor.{n}" for n in range(4))}
            assert json.loads(opened.metadata()["juror"])["format_version"] == 1
        assert juror.load(tmp_path / "m.juror").counts is None

    def test_counts_are_beside_what_the_first_reader_of_version_2_reads(self, tmp_path):
        """That reader takes the arrays of the blocks by name, and leaves others alone."""
        juror.fit(people(), 2, "em").save(tmp_path / "m.juror")
        with safe_open(tmp_path / "m.juror", framework="np") as opened:
            header = json.loads(opened.metadata()["juror"])
            of_blocks = {"block.0.weights", "block.0.parents", *(f"block.0.table.{n}" for n in range(4))}
            assert set(opened.keys()) == of_blocks | {"counts"}
        assert (header["format_version"], header["n_blocks"]) == (2, 1)

    def test_are_small(self, tmp_path):
        """Mostly empty tables take a small part of the bytes that their numbers would."""
        codes = np.random.default_rng(0).integers(0, 30, (500, 20))
        counts = PairCounts.of_codes(codes, Domain.from_cardinalities([30] * 20))
        model = JointPMF([1.0], [np.full((30, 1), 1 / 30)] * 20, counts=counts)
        model.save(tmp_path / "m.juror")
        n_bytes = juror.model.file_format.counts_bytes(tmp_path / "m.juror")
        assert 0 < n_bytes < 0.5 * sum(table.size for table in counts.tables)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"type": "<u1"}, "do not have the 46 cells"),
            ({"singles": False}, "do not have the 36 cells"),
            ({"type": "|O"}, "have the type '|O'"),
            ({}, "cannot be read"),
        ],
    )
    def test_counts_that_do_not_fit_are_refused(self, tmp_path, change, message):
        from juror.counts import counts_in_file
        from juror.files import container

        model = juror.fit(people(), 1, "em")
        header, compressed = counts_in_file.packed(model.counts)
        block = model.blocks[0]
        tensors = {"counts": compressed if change else compressed[::-1].copy()}
        tensors |= {"block.0.weights": block.weights, "block.0.parents": block.parents}
        tensors |= {f"block.0.table.{n}": table for n, table in enumerate(block.tables)}
        more = {"info": None, "n_blocks": 1, "counts": header | change}
        container.write(tmp_path / "m.juror", model.domain, more, tensors, version=2)
        with pytest.raises(ModelFileError, match="does not describe a model") as caught:
            juror.load(tmp_path / "m.juror")
        assert message in str(caught.value)


SIZES = (2, 3, 4)
MODEL = random_model(SIZES, 2, np.random.default_rng(0))


@st.composite
def questions(draw) -> tuple[tuple[int, ...], dict[int, np.ndarray]]:
    """Some variables asked for, and sets of labels as conditions on some, perhaps the same."""
    targets = draw(st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True))
    evidence = {}
    for n in draw(st.lists(st.integers(0, 2), max_size=3, unique=True)):
        wanted = draw(st.lists(st.booleans(), min_size=SIZES[n], max_size=SIZES[n]).filter(any))
        evidence[n] = np.array(wanted, dtype=float)
    return tuple(targets), evidence


@st.composite
def tables(draw) -> np.ndarray:
    n = draw(st.integers(1, 15))
    return np.array([draw(st.lists(st.integers(-1, size - 1), min_size=n, max_size=n)) for size in SIZES]).T


def brute_force(codes, weights, targets, evidence):
    """Look at every row: count it, or say that it may match."""
    counts, n_missing = np.zeros([SIZES[n] for n in targets]), 0.0
    for row, weight in zip(codes, weights, strict=True):
        if any(row[n] >= 0 and not wanted[row[n]] for n, wanted in evidence.items()):
            continue
        if all(row[n] >= 0 for n in (*targets, *evidence)):
            counts[tuple(row[n] for n in targets)] += weight
        else:
            n_missing += weight
    return counts, n_missing


def as_given(evidence):
    names = MODEL.domain.names
    return {names[n]: np.flatnonzero(wanted).tolist() for n, wanted in evidence.items()}


class TestSupport:
    @settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(codes=tables(), question=questions(), data=st.data())
    def test_is_what_a_look_at_every_row_gives(self, codes, question, data):
        targets, evidence = question
        weights = data.draw(st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=len(codes), max_size=len(codes)))
        counts = PairCounts.of_codes(codes, MODEL.domain, weights)
        model = JointPMF.of_blocks(MODEL.blocks, MODEL.domain, counts=counts)
        names = [MODEL.domain.names[n] for n in targets]
        expected, n_missing = brute_force(codes, weights, targets, evidence)
        kept = model.marginal(*names, given=as_given(evidence)).support
        assert (kept is None) == (len({*targets, *evidence}) > 2)
        frame = pd.DataFrame(codes, columns=MODEL.domain.names).replace(-1, None)
        seen = model.marginal(*names, given=as_given(evidence), data=frame, sample_weight=weights).support
        for support in (kept, seen):
            if support is not None:
                np.testing.assert_allclose(support.counts, expected, atol=1e-12)
                assert support.n_missing == pytest.approx(n_missing, abs=1e-12)
                assert support.rows == pytest.approx(expected.sum())
                assert support.shares.shape == support.differs.shape == expected.shape
                if expected.sum() > 0:
                    np.testing.assert_allclose(support.shares, expected / expected.sum())

    def test_of_sets_ranges_and_negations(self):
        codes = np.random.default_rng(3).integers(-1, SIZES, (200, 3))
        domain = Domain(tuple(Variable(f"v{n}", tuple(range(size)), "ordinal") for n, size in enumerate(SIZES)))
        counts = PairCounts.of_codes(codes, domain)
        model = JointPMF.of_blocks(MODEL.blocks, domain, counts=counts)
        for given_, kept in (([0, 3], [0, 3]), (Range(at_least=2), [2, 3]), (Not(1), [0, 2, 3])):
            support = model.marginal("v1", given={"v2": given_}).support
            chosen = np.isin(codes[:, 2], kept) & (codes[:, 1] >= 0)
            assert support.counts.tolist() == np.bincount(codes[chosen, 1], minlength=3).tolist()

    def test_soft_evidence_has_none_and_refuses_rows(self):
        model = juror.fit(people(), 2, "em")
        soft = {"Sex": {"Male": 0.3, "Female": 0.7}}
        assert model.marginal("Survived", given=soft).support is None
        with pytest.raises(QueryError, match="no likelihoods to count by"):
            model.marginal("Survived", given=soft, data=people())

    def test_a_model_without_counts_has_none(self):
        assert MODEL.ask("x0 | x1 = 1").support is None
        assert juror.fit(people(), 2, "em", keep_counts=False).ask("Sex").support is None

    def test_of_rows_in_files_and_of_any_columns(self, tmp_path):
        """Columns that the model does not know are not read, if the question is not about them."""
        frame = people().assign(port="Cherbourg")
        frame.to_csv(tmp_path / "more.csv", index=False)
        model = juror.fit(people(), 2, "em")
        question = "Survived | Sex = Female, Class in {1st, 2nd}"
        support = model.ask(question, data=tmp_path / "more.csv").support
        chosen = frame[(frame.Sex == "Female") & frame.Class.isin(["1st", "2nd"])].Survived.value_counts()
        assert support.to_pandas().set_index("Survived")["rows"].to_dict() == chosen.to_dict()
        with pytest.raises(DataError, match=r"The data have no columns \['Sex'\], which the question is about"):
            model.ask(question, data=frame.drop(columns="Sex"))

    def test_labels_that_the_model_does_not_know(self):
        model = juror.fit(people(0.0), 2, "em")
        rows = pd.DataFrame({"Sex": ["Male", "male", "Female"]})
        with pytest.raises(juror.JurorError, match="'male'"):
            model.ask("Sex", data=rows)
        support = model.ask("Sex", data=rows, unknown="missing").support
        assert (support.rows, support.n_missing) == (2, 1)

    def test_missing_cells_that_have_a_label_are_counted(self):
        frame = people()
        model = juror.fit(frame, 2, "em", missing_as={"Age": "not asked"})
        expected = frame[frame.Age.isna()].Survived.value_counts()
        for support in (
            model.ask("Survived | Age = 'not asked'").support,
            model.ask("Survived | Age = 'not asked'", data=frame).support,
        ):
            assert support.to_pandas().set_index("Survived")["rows"].to_dict() == expected.to_dict()
            assert support.n_missing == (frame.Age.isna() & frame.Survived.isna()).sum()

    @pytest.mark.parametrize("option", [{"sample_weight": [1.0]}, {"unknown": "missing"}])
    def test_options_about_rows_want_rows(self, option):
        with pytest.raises(ParameterError, match=f"{next(iter(option))} is about data, and there are none"):
            MODEL.ask("x0", **option)


def supported(p, counts, worth=1.0) -> SupportTable:
    variable = Variable("a", tuple(range(len(p))))
    return SupportTable(ProbabilityTable((variable,), np.array(p)), np.array(counts, dtype=float), None, worth)


class TestDiffers:
    @pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 30, 100, 300, 1000, 3000])
    def test_chance_marks_fewer_than_one_in_200(self, n):
        """Rows drawn from the model are marked that rarely, for any probability and any number of rows."""
        k = np.arange(n + 1)
        for p in np.concatenate([np.geomspace(1e-5, 0.5, 400), 1 - np.geomspace(1e-5, 0.5, 400)]):
            assert binom.pmf(k, n, p)[beyond_chance(k, n, p)].sum() < 0.005

    def test_what_is_far_off_is_marked(self):
        support = supported([0.81, 0.19], [83, 406])
        assert support.differs.tolist() == [True, True]
        assert "≠" in str(support)
        assert "≠ differs by more than chance" in str(support)
        near = supported([0.81, 0.19], [396, 93])
        assert not near.differs.any()
        assert "≠" not in str(near)

    def test_what_is_impossible_and_yet_there_is_marked(self):
        assert supported([1.0, 0.0], [50, 1]).differs.tolist() == [False, False]
        assert supported([1.0, 0.0], [50, 2]).differs.tolist() == [True, True]

    def test_no_rows_say_nothing(self):
        support = supported([0.5, 0.5], [0, 0])
        assert not support.differs.any()
        assert np.isnan(support.shares).all()
        assert "no row meets the conditions" in str(support)

    def test_weights_are_worth_their_effective_size(self):
        """Whole weights are equal rows; fractions are worth (Σ w)² / Σ w² rows."""
        rng = np.random.default_rng(4)
        codes, weights = rng.integers(0, 2, (400, 2)), rng.choice([0.25, 3.5], 400)
        domain = Domain.from_cardinalities([2, 2])
        model = juror.fit(codes, 1, "em", domain=domain, sample_weight=weights)
        # Rows that were merged count as of equal weight, so the size is at most Kish's, here within the merged rows.
        assert model.info.n_effective >= weights.sum() ** 2 / np.square(weights).sum()
        assert model.ask("x0").support.worth == pytest.approx(model.info.n_effective / weights.sum())
        chosen = codes[:, 1] == 1
        seen = model.ask("x0 | x1 = 1", data=codes, sample_weight=weights).support
        size = weights[chosen].sum() ** 2 / np.square(weights[chosen]).sum()
        assert seen.rows * seen.worth == pytest.approx(size)
        whole = juror.fit(codes, 1, "em", domain=domain, sample_weight=np.full(400, 3.0))
        assert whole.info.n_effective is None
        assert whole.ask("x0").support.worth == 1.0


class TestText:
    def test_the_text_has_rows_if_the_model_has_counts(self):
        with_counts, without = (juror.fit(people(), 2, "em", keep_counts=keep) for keep in (True, False))
        one, other = (model.ask("Survived | Sex = Female") for model in (with_counts, without))
        assert "shares of 306 rows" in str(one)
        assert "rows" not in str(other)
        assert one.to_dict() == other.to_dict()

    def test_names_that_are_headings(self):
        model = juror.fit({"share": ["a", "b"] * 20, "rows": ["c", "d"] * 20}, 1, "em")
        columns = model.ask("share, rows").support.to_dict()
        assert list(columns) == ["share", "rows", "probability", "share_", "rows_", "differs"]
        assert columns["rows_"] == [20, 0, 0, 20]

    def test_html_has_the_same_cells(self):
        support = juror.fit(people(), 2, "em").ask("Survived | Sex = Female").support
        assert all(f"<td>{count:,}</td>" in support._repr_html_() for count in support.counts.astype(int))
        assert support.notes()[0] in support._repr_html_()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("support")
    people().to_csv(folder / "people.csv", index=False)
    with pytest.raises(SystemExit):
        main(["fit", str(folder / "people.csv"), "-o", str(folder / "with.juror"), "--rank", "2", "--method", "em"])
    arguments = [
        "fit",
        str(folder / "people.csv"),
        "-o",
        str(folder / "without.juror"),
        "--rank",
        "2",
        "--method",
        "em",
    ]
    with pytest.raises(SystemExit):
        main([*arguments, "--no-counts"])
    return folder


class TestCommandLine:
    def test_ask_prints_shares_and_rows(self, run):
        status, out, err = run("ask", "with.juror", "Survived | Sex = Female")
        assert status == 0
        frame = pd.read_csv(io.StringIO(out)).set_index("Survived")
        assert list(frame.columns) == ["probability", "share", "rows", "differs"]
        rows = people()[people().Sex == "Female"].Survived.value_counts()
        assert frame["rows"].to_dict() == rows.to_dict()
        assert frame["share"].to_dict() == pytest.approx((rows / rows.sum()).to_dict())
        assert err.startswith(f"shares of {rows.sum()} rows; ")
        _, out, _ = run("ask", "with.juror", "Survived | Sex = Female", "--json")
        assert json.loads(out) == frame.reset_index().to_dict(orient="records")

    def test_ask_counts_rows_of_data(self, run):
        question = "Survived | Sex = Female, Class = 1st"
        _, out, _ = run("ask", "with.juror", question)
        assert out.startswith("Survived,probability\n")
        for model in ("with.juror", "without.juror"):
            _, out, _ = run("ask", model, question, "people.csv")
            frame = people()
            chosen = frame[(frame.Sex == "Female") & (frame.Class == "1st")].Survived.value_counts()
            assert pd.read_csv(io.StringIO(out)).set_index("Survived")["rows"].to_dict() == chosen.to_dict()

    def test_no_row_leaves_shares_empty(self, run, folder):
        (folder / "none.csv").write_text("Sex,Survived\nMale,Yes\n")
        _, out, _ = run("ask", "with.juror", "Survived | Sex = Female", "none.csv")
        assert out.splitlines()[1].endswith(",,0,False")
        _, out, _ = run("ask", "with.juror", "Survived | Sex = Female", "none.csv", "--json")
        assert json.loads(out)[0]["share"] is None

    def test_options_about_data_want_data(self, run):
        status, _, err = run("ask", "with.juror", "Survived", "--weight", "n")
        assert status == 2
        assert err == "juror: --weight is about DATA, and there is none. Name the data after the question.\n"

    def test_info_says_that_counts_are_there_and_how_large(self, run, folder):
        _, out, _ = run("info", "with.juror")
        assert out.splitlines()[-1].startswith("has the pair counts: 2,201 rows of 4 variables, 6 pair tables, 0.")
        _, out, _ = run("info", "with.juror", "--json")
        n_bytes = juror.model.file_format.counts_bytes(folder / "with.juror")
        assert json.loads(out)["counts"] == {"rows": 2201, "tables": 6, "cells": 36, "bytes": n_bytes}
        _, out, _ = run("info", "without.juror")
        assert "pair counts: left out, as asked" in out
        _, out, _ = run("info", "without.juror", "--json")
        assert json.loads(out)["counts"] is None
