"""model.check against a count of rows by hand; what a fit says about answers that its rows contradict."""

from __future__ import annotations

import json
import re
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juror
from juror.answers.checking import check
from juror.answers.pair_events import Events
from juror.answers.pair_questions import LEAST_ROWS, Questions, adjust, chance_of_rules, deviance_root
from juror.cli import main
from juror.counts.counts import PairCounts
from juror.domain import Domain
from juror.domain.variable import Variable
from juror.errors import DataError, FitWarning, ModelError, ParameterError
from juror.testing import dense, random_model

SHAPES = st.lists(st.integers(1, 5), min_size=2, max_size=4)


def ordered_domain(sizes, kinds):
    """Return variables of several kinds with labels 0, 1, …"""
    made = []
    for n, (size, kind) in enumerate(zip(sizes, kinds, strict=True)):
        if kind == "binned":
            edges = tuple(range(size + 1))
            made.append(Variable(f"x{n}", tuple(f"[{i}, {i + 1})" for i in range(size)), kind, edges))
        else:
            made.append(Variable(f"x{n}", tuple(range(size)), kind))
    return Domain(made)


def by_hand(tensor, codes, domain):
    """Return probability, share and rows of every question, from the dense table and a loop over rows."""
    found = {}
    for a, b in permutations(range(len(domain)), 2):
        pair = tensor.sum(axis=tuple(n for n in range(tensor.ndim) if n not in (a, b)))
        pair = pair if a < b else pair.T
        here = codes[(codes[:, a] >= 0) & (codes[:, b] >= 0)]
        for wanted, target in events(domain[a]).items():
            for asked, condition in events(domain[b]).items():
                rows = here[np.isin(here[:, b], condition)]
                if len(rows) >= LEAST_ROWS:
                    p = pair[np.ix_(target, condition)].sum() / pair[:, condition].sum()
                    found[f"P({wanted} | {asked})"] = p, np.isin(rows[:, a], target).mean(), len(rows)
    return found


def events(variable):
    """Return the labels of every event of a variable that a question may be about, by text."""
    size, name = variable.cardinality, variable.name
    if variable.kind == "binned":
        runs = (
            [(k, k + 1) for k in range(size)]
            + [(k, size) for k in range(1, size - 1)]
            + [(0, k) for k in range(2, size)]
        )
        return {f"{low} <= {name} {'<=' if high == size else '<'} {high}": list(range(low, high)) for low, high in runs}
    found = {f"{name} = {label}": [code] for code, label in enumerate(variable.labels)}
    if variable.is_ordered:
        found |= {f"{name} >= {k}": list(range(k, size)) for k in range(1, size - 1)}
        found |= {f"{name} <= {k - 1}": list(range(k)) for k in range(2, size)}
    return found


def test_the_text_of_an_event_is_made_once_for_all_questions():
    conditions = Events.conditions(ordered_domain((3, 4), ("binned", "nominal")))
    assert all(conditions[place] is conditions[place] for place in range(len(conditions)))


@settings(max_examples=40, deadline=None)
@given(SHAPES, st.data())
def test_every_question_is_answered_as_by_hand(sizes, data):
    kinds = [data.draw(st.sampled_from(["nominal", "ordinal", "binned"])) for _ in sizes]
    domain, seed = ordered_domain(sizes, kinds), data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    model = random_model(sizes, 3, rng)
    model = juror.JointPMF(model.weights, model.factors, domain)
    codes = np.column_stack([rng.integers(0, size, 90) for size in sizes])
    table = check(model, PairCounts.of_codes(codes, domain)).to_pandas().set_index("question")
    expected = by_hand(dense(model), codes, domain)
    assert table.index.is_unique
    for question, line in table.iterrows():
        p, share, rows = expected[question]
        assert line["probability"] == pytest.approx(p, abs=1e-9)
        assert line["share"] == pytest.approx(share, abs=1e-12)
        assert line["rows"] == rows
        assert line["adjusted"] == line["probability"]
    for (a, b), (x, y) in cells_of(domain):
        question = f"P({list(events(a))[x]} | {list(events(b))[y]})"
        assert (question in table.index) == (question in expected)


def cells_of(domain):
    """Return every two variables, and every two labels of them."""
    for a, b in permutations(domain, 2):
        yield from (((a, b), (x, y)) for x in range(a.cardinality) for y in range(b.cardinality))


def planted(n=2000, seed=0):
    """Return rows in which the rare label of one column determines another column, and a third column."""
    rng = np.random.default_rng(seed)
    rare = np.where(rng.random(n) < 0.02, "rare", rng.choice(["often", "usual"], n))
    ill = np.where(rare == "rare", "yes", np.where(rng.random(n) < 0.1, "yes", "no"))
    return pd.DataFrame({"group": rare, "ill": ill, "side": rng.choice(["left", "right"], n)})


@pytest.fixture
def one_class(monkeypatch):
    """Make an automatic fit choose one class, in which all variables are independent."""
    from juror.fitting import api

    solve = api.choose_and_solve
    monkeypatch.setattr(api, "choose_and_solve", lambda *a, **k: solve(*a[:3], 1, *a[4:], **k))


class TestTheTable:
    def test_the_worst_question_is_first_and_has_its_numbers(self):
        rows = planted()
        table = juror.fit(rows, rank=1, method="em").check()
        line = table.to_pandas().iloc[0]
        assert (line["question"], line["target"], line["given"]) == ("P(ill = yes | group = rare)", "ill", "group")
        assert line["share"] == 1.0
        assert line["rows"] == (rows["group"] == "rare").sum()
        assert line["difference"] == line["share"] - line["probability"]
        beyond = table.to_pandas()["beyond_chance"]
        assert beyond.is_monotonic_decreasing
        assert beyond.iloc[0] > 0.5
        assert beyond.iloc[-1] == 0.0

    def test_cells_that_are_well_reproduced_are_counted(self):
        rows = planted()
        model = juror.fit(rows, rank=1, method="em")
        table = model.check()
        lines = table.to_pandas()
        # No variable has an order, so every question is a cell.
        p, share, n = (lines[name].to_numpy() for name in ("probability", "share", "rows"))
        n_cells = sum(a.cardinality * b.cardinality for a, b in combinations(model.domain, 2))
        chance = np.sqrt(2 * np.log(n_cells))
        beyond = deviance_root(share, p, n) > chance
        can_tell = beyond | (deviance_root(np.where(p < 0.5, p + 0.1, p - 0.1), p, n) > chance)
        assert table.n_cells == can_tell.sum()
        assert table.n_well == (can_tell & ((np.abs(share - p) <= 0.05) | ~beyond)).sum()
        assert 0 < table.n_well < table.n_cells < len(table)
        cells = f"{table.n_well} of {table.n_cells} pair cells with enough rows to tell are well reproduced"
        assert table.n_off == len(table.off()) > 0
        assert table.sentence == f"{cells}; {table.n_off} of {len(table)} questions about labels or ranges are off"

    def test_all_questions_that_are_off_are_counted_also_ranges_and_those_not_kept(self):
        # Whether a is high depends on whether b is, which changes each cell of eight by eight labels a little.
        rng = np.random.default_rng(0)
        b = rng.integers(0, 8, 20_000)
        a = rng.integers(0, 4, 20_000) + 4 * (rng.random(20_000) < np.where(b >= 4, 0.62, 0.38))
        model = juror.fit({"a": a, "b": b}, rank=1, method="em")
        table = check(model, model.counts)
        kept = check(model, model.counts, most=1)
        assert table.n_well == table.n_cells
        assert kept.n_off == table.n_off == len(table.off()) > len(kept)
        assert table.sentence.endswith(f"; {table.n_off:,} of {len(table):,} questions about labels or ranges are off")
        assert model.info.n_off == table.n_off
        assert model.summary().splitlines()[-1] == table.sentence

    def test_fewer_lines_are_the_worst_ones_and_all_cells_are_counted(self):
        rows = planted()
        model = juror.fit(rows, rank=1, method="em")
        whole, few = check(model, model.counts), check(model, model.counts, most=3)
        assert len(few) == 3
        assert few.to_dict() == whole.head(3).to_dict()
        assert (few.n_cells, few.n_well) == (whole.n_cells, whole.n_well)

    def test_text_has_the_worst_question_of_each_pair(self):
        table = juror.fit(planted(), rank=1, method="em").check()
        lines = str(table).splitlines()
        assert lines[:2] == [table.sentence, "The worst question of each pair:"]
        assert len(lines) == 3 + 3
        assert "P(ill = yes | group = rare)" in lines[3]
        assert table.sentence in table._repr_html_()

    def test_too_few_rows_say_so(self):
        model = juror.fit({"a": [0, 1, 0], "b": [1, 0, 0]}, rank=1, method="em")
        assert len(model.check()) == 0
        assert str(model.check()).endswith("no condition has 20 rows")
        assert model.summary().endswith("no pair cell has enough rows to tell whether it is well reproduced")

    def test_rows_that_are_worth_less_deviate_more_by_chance(self):
        model = juror.fit(planted(), rank=1, method="em")
        whole, half = (check(model, model.counts, worth=worth) for worth in (1.0, 0.5))
        assert half.chance == pytest.approx(whole.chance * np.sqrt(2))


class TestMissingCells:
    def test_the_label_of_missing_cells_is_in_no_range(self):
        rng = np.random.default_rng(0)
        rows = {"a": pd.Series(rng.integers(0, 4, 500)).where(rng.random(500) < 0.7), "b": rng.integers(0, 2, 500)}
        model = juror.fit(rows, rank=1, method="em", missing_as={"a": "not asked"})
        table = model.check().to_pandas().set_index("question")
        assert {"P(b = 1 | a = 'not asked')", "P(a = 'not asked' | b = 1)"} <= set(table.index)
        n = np.nansum(np.asarray(rows["a"]) >= 1)
        assert table.loc["P(b = 1 | a >= 1)", "rows"] == n
        # Neither a label nor the complement of one, as cells are missing
        share = np.mean(np.asarray(rows["a"])[rows["b"] == 1] >= 1)
        assert table.loc["P(a >= 1 | b = 1)", "share"] == pytest.approx(share)

    def test_a_table_is_adjusted_to_margins(self):
        rng = np.random.default_rng(0)
        table, counts = rng.random((4, 3)), rng.random((4, 3)) * 100
        adjusted = adjust(table, counts)
        np.testing.assert_allclose(adjusted.sum(axis=0), counts.sum(axis=0), rtol=1e-4)
        np.testing.assert_allclose(adjusted.sum(axis=1), counts.sum(axis=1), rtol=1e-4)
        # Odds ratios stay.
        odds = [t[0, 0] * t[1:, 1:] / (t[:1, 1:] * t[1:, :1]) for t in (table, adjusted)]
        np.testing.assert_allclose(*odds)

    def test_cells_that_are_missing_by_the_target_do_not_count_against_the_model(self):
        # The class is missing for most who died, and the survival of a class among complete rows is far too high.
        people = juror.datasets.titanic()
        lost = np.random.default_rng(0).random(len(people)) < np.where(people["Survived"] == "No", 0.7, 0.1)
        holes = people.assign(Class=people["Class"].mask(lost))
        table = juror.fit(holes, rank=4, method="em").check()
        lines = table.to_pandas().set_index("question")
        line = lines.loc["P(Survived = Yes | Class = Crew)"]
        assert line["difference"] > 0.2
        assert abs(line["adjusted"] - line["share"]) < 0.05
        assert line["beyond_chance"] < 0.01
        assert not table.is_off.any()

    def test_cells_that_are_missing_by_a_third_column_are_explained_by_its_rows(self):
        # a equals z where b is 1, and is the opposite where b is 0; a is seen mostly where z is 0.
        rng = np.random.default_rng(1)
        z, b = rng.integers(0, 2, (2, 4000))
        a = np.where(rng.random(4000) < 0.95, np.where(b == 1, z, 1 - z), rng.integers(0, 2, 4000))
        seen = rng.random(4000) < np.where(z == 0, 0.95, 0.1)
        rows = pd.DataFrame({"a": pd.Series(a).where(seen), "b": b, "z": z})
        model = juror.fit(rows, rank=4, method="em", missing_as={})
        assert model.prob("a = 1", given="b = 1") == pytest.approx(0.5, abs=0.05)
        assert model.check().is_off.any()
        assert model.info.worst == ""


class TestRules:
    """Rows that all agree on a label that the model does not hold for sure."""

    def questions(self, p, rows, share):
        places = np.arange(len(p))
        return Questions(places, places, p, p, share, rows)

    def test_one_false_alarm_in_ten_tables_of_a_true_model(self):
        rng = np.random.default_rng(0)
        p, rows = rng.uniform(0.5, 1.0, 400), rng.integers(LEAST_ROWS, 150, 400).astype(float)
        bound = chance_of_rules(self.questions(p, rows, p).log_chances_of_rules(1.0), 1.0)
        n_tables, is_cell = 3000, np.ones(400, dtype=bool)
        shares = rng.binomial(rows.astype(int), p, (n_tables, 400)) / rows
        alarms = [self.questions(p, rows, share).is_off(np.inf, bound, is_cell).sum() for share in shares]
        # As many as allowed, up to the step to the next cell
        assert 0.05 < np.mean(alarms) < 0.1 + 4 * np.std(alarms) / np.sqrt(n_tables)

    def test_a_rule_is_seen_in_fewer_rows_where_few_conditions_could_agree_by_chance(self):
        one, rows = np.array([0.93]), np.array([90.0])
        alone = chance_of_rules(self.questions(one, rows, one).log_chances_of_rules(1.0), 1.0)
        assert self.questions(one, rows, np.ones(1)).is_off(np.inf, alone, np.array([True]))[0]
        assert not self.questions(one, rows, np.ones(1)).is_off(np.inf, alone, np.array([False]))[0]
        many = self.questions(np.full(200, 0.93), np.full(200, 90.0), np.ones(200))
        bound = chance_of_rules(many.log_chances_of_rules(1.0), 1.0)
        assert not many.is_off(np.inf, bound, np.ones(200, dtype=bool)).any()

    def test_rows_that_are_worth_less_agree_more_often(self):
        one, rows = np.array([0.93]), np.array([90.0])
        asked = self.questions(one, rows, np.ones(1))
        bound = chance_of_rules(asked.log_chances_of_rules(0.3), 0.3)
        assert not asked.is_off(np.inf, bound, np.array([True]))[0]

    def test_a_rule_behind_a_larger_difference_of_its_pair_is_named(self):
        rows = planted()
        table = juror.fit(rows, rank=1, method="em").check()
        assert len(table.off()) == np.count_nonzero(table.is_off)
        assert table.off().is_off.all()


class TestAfterAFit:
    def test_an_automatic_fit_warns_by_name(self, one_class):
        rows = planted()
        n = (rows["group"] == "rare").sum()
        with pytest.warns(
            FitWarning, match=r"P\(ill = yes \| group = rare\) is 0\.1\d, but 1\.00 of \d+ rows\."
        ) as told:
            model = juror.fit(rows, method="em")
        assert [warning.message.message.kind for warning in told] == ["contradicted"]
        assert f"of {n} rows. The model has not learned this." in model.info.warnings[0]
        assert model.info.worst in model.info.warnings[0]
        assert f"warning: {model.info.warnings[0]}" in model.summary()
        assert "contradicted by the rows" not in model.summary()

    def test_who_gives_a_rank_finds_it_in_the_summary(self):
        model = juror.fit(planted(), rank=1, method="em")
        assert model.info.warnings == ()
        assert model.info.worst.startswith("P(ill = yes | group = rare) is 0.1")
        assert f"contradicted by the rows: {model.info.worst}" in model.summary()
        assert model.summary().splitlines()[-1] == model.check().sentence
        assert model.info.reproduced == (model.check().n_well, model.check().n_cells)

    def test_of_a_private_table_the_question_is_written_down_without_shares(self, one_class):
        with pytest.warns(FitWarning, match="of .* rows"):
            model = juror.fit(planted(), method="em", keep_counts=False)
        answer = model.prob("ill = yes", given="group = rare")
        assert model.info.worst == f"P(ill = yes | group = rare) is {answer:.2f}, which the rows contradict"
        assert model.info.worst in model.info.warnings[0]
        assert not re.search(r"of [\d,]+ rows", json.dumps(model.info.to_dict()))
        assert model.summary().splitlines()[-1].endswith("are off")

    def test_a_range_of_an_ordered_variable_is_named(self, one_class):
        rng = np.random.default_rng(0)
        sugar = np.where(rng.random(3000) < 0.05, rng.integers(7, 12, 3000), rng.integers(0, 7, 3000))
        ill = np.where(rng.random(3000) < np.where(sugar >= 7, 0.8, 0.3), "yes", "no")
        with pytest.warns(FitWarning, match=r"^P\(ill = yes \| sugar >= 7\) is 0\.3\d, but 0\.[78]\d of 1\d\d rows\. "):
            juror.fit({"sugar": sugar, "ill": ill}, method="em")

    @pytest.mark.parametrize("seed", range(3))
    def test_a_good_fit_does_not_warn(self, seed):
        truth = random_model([3, 4, 2, 5], 3, np.random.default_rng(seed), concentration=0.7)
        model = juror.fit(truth.sample(2000, seed=seed), method="em", seed=seed)
        assert (model.info.worst, model.info.warnings) == ("", ())
        assert model.info.reproduced[0] >= 0.99 * model.info.reproduced[1]

    def test_a_fit_to_counts_is_checked_too(self):
        counts = PairCounts.of(planted())
        model = juror.fit(counts, rank=1, method="pair-em")
        assert model.info.worst.startswith("P(ill = yes | group = rare) is 0.1")

    def test_a_smaller_model_is_checked_again(self):
        model = juror.fit(planted(), rank=4, method="em")
        small = model.compress(1)
        assert (small.info.reproduced, small.info.worst) == (None, "")
        assert small.summary().splitlines()[-1] == small.check().sentence != model.check().sentence


class TestData:
    def test_other_rows_and_their_counts(self, tmp_path):
        model = juror.fit(planted(), rank=1, method="em")
        other = planted(seed=1)
        other.to_csv(tmp_path / "other.csv", index=False)
        expected = check(model, PairCounts.of(other, model.domain)).to_dict()
        for data in (other, tmp_path / "other.csv", PairCounts.of(other, model.domain)):
            assert model.check(data).to_dict() == expected
        assert expected != model.check().to_dict()

    def test_weights_count_as_repeated_rows(self):
        model, rows = juror.fit(planted(), rank=1, method="em"), planted(seed=1).head(500)
        twice = model.check(pd.concat([rows, rows])).to_dict()
        assert model.check(rows, sample_weight=np.full(500, 2)).to_dict() == twice

    def test_without_counts_and_data_the_way_out_is_told(self):
        model = juror.fit(planted(), rank=1, method="em", keep_counts=False)
        with pytest.raises(ModelError, match=r"no pair counts to compare with\. Give it rows: model\.check\(data\)"):
            model.check()
        assert len(model.check(planted())) > 0

    def test_options_of_data_need_data(self):
        model = juror.fit(planted(), rank=1, method="em")
        with pytest.raises(ParameterError, match="unknown is about data, and there are none"):
            model.check(unknown="missing")

    def test_options_of_rows_that_were_counted_are_refused(self):
        model = juror.fit(planted(), rank=1, method="em")
        with pytest.raises(ParameterError, match="sample_weight is about data, and there are none"):
            model.check(PairCounts.of(planted()), sample_weight="w")

    def test_counts_of_other_variables_and_labels_are_refused(self):
        model = juror.fit(planted(), rank=1, method="em")
        with pytest.raises(DataError, match=r"a variable 'a' that the model does not know\..*without it"):
            model.check(PairCounts.of({"a": [0, 1], "b": [1, 0]}))
        strange = planted()
        strange.loc[strange.index[:3], "ill"] = "perhaps"
        with pytest.raises(DataError, match=r"rows with the label 'perhaps' of 'ill', .* \['no', 'yes'\]"):
            model.check(PairCounts.of(strange))
        with pytest.raises(DataError, match=r"A check needs two variables, and there are only \['ill'\]"):
            model.check(planted()[["ill"]])
        with pytest.raises(DataError, match=r"a column 'il' that the model does not know\. Did you mean 'ill'\?"):
            model.check({"il": [0, 1], "group": [0, 1]})

    def test_counts_are_aligned_by_name_and_label(self):
        model = juror.fit(juror.datasets.titanic(), rank=2, method="em")
        other = juror.datasets.titanic().sample(frac=0.5, random_state=0)
        expected = model.check(other).to_dict()
        turned = {name: list(reversed(model.domain[name].labels)) for name in reversed(model.domain.names)}
        turned["Class"].insert(2, "4th")
        counts = PairCounts.of(other, juror.Domain.infer(other[list(turned)], levels=turned))
        assert counts.domain.names == model.domain.names[::-1]
        assert model.check(counts).to_dict() == expected

    def test_missing_cells_of_numbers_are_counted_as_in_the_model(self):
        ages = np.random.default_rng(0).normal(40, 12, 300).round(1)
        rows = {"age": np.where(np.arange(300) < 40, np.nan, ages), "group": np.arange(300) % 2}
        whole = juror.Domain.infer(rows)
        labelled = whole.with_missing_as({"age": "not asked"})
        models = [juror.fit(rows, 2, "em", domain=domain, missing_as={}) for domain in (whole, labelled)]
        counts = [PairCounts.of(rows, domain) for domain in (whole, labelled)]
        for model, same in zip(models, counts, strict=True):
            assert model.check(same).to_dict() == model.check().to_dict()
        assert len(models[1].check(counts[0])) < len(models[1].check())
        for labels in (counts[1], PairCounts.of(rows, whole.with_missing_as({"age": "unknown"}))):
            with pytest.raises(DataError, match=r"rows with the label '(not asked|unknown)' of 'age', which is not"):
                models[0].check(labels)

    def test_columns_that_are_there_are_checked(self, tmp_path):
        model = juror.fit(juror.datasets.titanic(), rank=3, method="em")
        other = juror.datasets.titanic().sample(frac=0.5, random_state=0)
        some = other.drop(columns=["Age", "Sex"])
        some.to_csv(tmp_path / "some.csv", index=False)
        names = {"Class", "Survived"}
        whole = model.check(other).to_pandas()
        for data in (some, tmp_path / "some.csv", PairCounts.of(some)):
            table = model.check(data)
            assert table.absent == ("Sex", "Age")
            assert "without ['Sex', 'Age'], which the rows do not have" in str(table)
            assert set(table.to_dict()["target"]) == names
            # The same numbers as in a check of all columns; only what chance explains is less for fewer pairs.
            both = table.to_pandas().merge(whole, on="question")
            assert len(both) == len(table)
            for column in ("probability", "share", "rows"):
                np.testing.assert_allclose(both[f"{column}_x"], both[f"{column}_y"], rtol=1e-12)
        assert model.check(other).absent == ()


class TestCommandLine:
    @pytest.fixture
    def run(self, tmp_path, capsys, monkeypatch):
        """Run the command line in a folder with a table and a model of it."""
        monkeypatch.chdir(tmp_path)
        planted().to_csv("rows.csv", index=False)
        juror.fit(planted(), rank=1, method="em").save("model.juror")
        juror.fit(planted(), rank=1, method="em", keep_counts=False).save("bare.juror")

        def run(*arguments):
            with pytest.raises(SystemExit) as end:
                main(arguments)
            return end.value.code, *capsys.readouterr()

        return run

    def test_the_table_as_csv_and_json(self, run):
        table = juror.load("model.juror").check()
        status, out, err = run("check", "model.juror")
        assert (status, err) == (0, table.sentence + "\n")
        assert out.splitlines()[0] == ",".join(table.to_dict())
        assert len(out.splitlines()) == 1 + len(table)
        status, out, err = run("check", "model.juror", "--json", "--top", "2")
        assert status == 0
        assert [line["question"] for line in json.loads(out)] == table.to_dict()["question"][:2]

    def test_rows_of_a_file(self, run):
        status, with_rows, _ = run("check", "bare.juror", "rows.csv", "--top", "5")
        assert status == 0
        assert with_rows == run("check", "model.juror", "--top", "5")[1]

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["bare.juror"], "no pair counts to compare with. Give it rows"),
            (["model.juror", "--top", "0"], "--top must be a number of questions, at least 1. Got 0 instead."),
            (["model.juror", "--drop", "side"], "--drop is about DATA, and there is none."),
        ],
    )
    def test_bad_input(self, run, arguments, sentence):
        status, out, err = run("check", *arguments)
        assert (status, out) == (2, "")
        assert sentence in err


@pytest.mark.filterwarnings("ignore:sample_weight sums to")
def test_rows_with_weights_are_checked_as_what_they_are_worth():
    """Weights of 25.5 are no 25 rows: with and without data, the same questions are beyond chance."""
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(0, 3, (300, 3)), np.full(300, 25.5)
    model = juror.fit(codes, 1, "em", sample_weight=weights)
    alone, with_rows = model.check(), model.check(codes, sample_weight=weights)
    assert (with_rows.n_well, with_rows.n_cells) == (alone.n_well, alone.n_cells)
    assert with_rows.to_pandas().equals(alone.to_pandas())
