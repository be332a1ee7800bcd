"""A conditioned model remembers its conditions: rows that are given must meet them."""

import pickle

import numpy as np
import pytest

import juror
from juror import Not
from juror.errors import DataError, QueryError
from juror.report import Report
from juror.testing import random_model

PEOPLE = juror.datasets.titanic()
MODEL = juror.fit(PEOPLE, 4, "em")


def shares(people):
    return people["Survived"].value_counts().reindex(["No", "Yes"]).tolist()


class TestRows:
    def test_rows_must_meet_a_label(self):
        women = MODEL.condition(Sex="Female")
        assert str(women.conditions) == "Sex = Female"
        assert women.ask("Survived", data=PEOPLE).support.counts.tolist() == shares(PEOPLE.query("Sex == 'Female'"))
        found = women.ask("Survived | Class = 1st", data=PEOPLE).support
        assert found.counts.tolist() == shares(PEOPLE.query("Sex == 'Female' and Class == '1st'"))
        # The same rows as those of the question to the whole model
        whole = MODEL.ask("Survived | Class = 1st, Sex = Female", data=PEOPLE).support
        assert (found.counts.tolist(), found.n_possible) == (whole.counts.tolist(), whole.n_possible)
        assert women.marginal("Survived", data=PEOPLE).support.rows == 470
        assert women.interval("Survived", data=PEOPLE).basis == "470 rows"

    def test_rows_must_meet_a_set_that_stays_a_variable(self):
        few = MODEL.condition(Class=Not("Crew"))
        assert few.ask("Survived", data=PEOPLE).support.counts.tolist() == shares(PEOPLE.query("Class != 'Crew'"))
        found = few.ask("Survived | Class in {1st, Crew}", data=PEOPLE).support
        assert found.counts.tolist() == shares(PEOPLE.query("Class == '1st'"))

    def test_conditions_add_up(self):
        once = MODEL.condition(Class=["1st", "2nd"]).condition(Sex="Female").condition(Class=["2nd", "3rd"])
        assert str(once.conditions) == "Class = 2nd, Sex = Female"
        rows = PEOPLE.query("Sex == 'Female' and Class == '2nd'")
        assert once.ask("Survived", data=PEOPLE).support.counts.tolist() == shares(rows)

    def test_rows_with_missing_cells_may_meet_them(self):
        holes = PEOPLE.copy()
        holes.loc[holes.index[:300], "Sex"] = None
        women = MODEL.condition(Sex="Female")
        found = women.ask("Survived", data=holes).support
        whole = MODEL.ask("Survived | Sex = Female", data=holes).support
        assert found.n_missing == whole.n_missing == 300

    def test_an_array_has_the_columns_of_the_whole_model(self):
        model = random_model([2, 3, 2], 2, np.random.default_rng(0))
        codes = np.random.default_rng(1).integers(0, 2, (200, 3))
        found = model.condition(x0=1).ask("x2", data=codes).support
        assert found.counts.tolist() == np.bincount(codes[codes[:, 0] == 1, 2], minlength=2).tolist()


class TestRefused:
    def test_rows_without_the_columns_of_the_conditions(self):
        with pytest.raises(DataError, match=r"no columns \['Sex'\], .* the model is conditioned on Sex = Female"):
            MODEL.condition(Sex="Female").ask("Survived", data=PEOPLE.drop(columns="Sex"))

    def test_likelihoods_cannot_be_counted(self):
        soft = MODEL.condition(Sex={"Female": 0.9, "Male": 0.2})
        with pytest.raises(QueryError, match="conditioned on likelihoods"):
            soft.ask("Survived", data=PEOPLE)

    def test_a_check_with_rows(self):
        women = MODEL.condition(Sex="Female")
        for data in (PEOPLE.drop(columns="Sex"), juror.PairCounts.of(PEOPLE.drop(columns="Sex"))):
            with pytest.raises(QueryError, match=r"conditioned on Sex = Female.*Check the model before"):
                women.check(data)

    def test_a_report_with_rows(self):
        few = MODEL.condition(Class=Not("Crew"))
        with pytest.raises(QueryError, match="conditioned on not Class = Crew"):
            Report(few, PEOPLE)


class TestKept:
    @pytest.mark.parametrize("given", [{"Sex": "Female"}, {"Class": Not("Crew"), "Age": "Adult"}])
    def test_conditions_are_saved_pickled_and_compressed(self, given, tmp_path):
        rest = MODEL.condition(given)
        rest.save(tmp_path / "m.juror")
        for other in (juror.load(tmp_path / "m.juror"), pickle.loads(pickle.dumps(rest)), rest.compress(2)):
            assert str(other.conditions) == str(rest.conditions)
            counts = other.ask("Survived", data=PEOPLE).support.counts
            np.testing.assert_array_equal(counts, rest.ask("Survived", data=PEOPLE).support.counts)

    def test_a_whole_model_has_none(self):
        assert MODEL.conditions is None
        assert MODEL.condition().conditions is None

    def test_the_summary_says_so(self):
        assert "given Sex = Female" in MODEL.condition(Sex="Female").summary().splitlines()[0]
