"""A conditioned model remembers its conditions: rows that are given must meet them."""

import pickle

import numpy as np
import pandas as pd
import pytest

import juror
from juror import Not
from juror.errors import DataError, QueryError, ZeroProbabilityError
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


class TestLabelsOutside:
    """Rows with a label that the conditions exclude are impossible, and the message says so."""

    TABLE = pd.DataFrame({"a": ["x", "y", None, "x", "y", "x"] * 30, "b": ["u", "v", "v", "u", "u", "v"] * 30})
    ASKED = juror.fit(TABLE, 2, "em", missing_as={"a": "not asked"}).condition(a=Not("not asked"))

    @pytest.mark.parametrize("draws", [None, 1, 3])
    def test_missing_cells_whose_label_is_excluded(self, draws):
        with pytest.raises(
            ZeroProbabilityError,
            match=r"Column 'a' has missing cells, and their label 'not asked' has .* Pass also=\['a'\] to fill them\.",
        ):
            self.ASKED.impute(self.TABLE, draws)
        filled = self.ASKED.impute(self.TABLE, 1, also=["a"])
        assert set(filled["a"]) == {"x", "y"}
        complete = self.TABLE.dropna()
        assert self.ASKED.impute(complete).equals(complete)

    def test_other_answers_name_the_cell(self):
        with pytest.raises(ZeroProbabilityError, match=r"Row 2 has a missing cell in 'a', which .* conditioned"):
            self.ASKED.predict(self.TABLE, "b")
        few = MODEL.condition(Class=Not("Crew"))
        crew = PEOPLE[PEOPLE["Class"] == "Crew"].head(1).assign(Age=None)
        for answer in (lambda: few.predict(crew, "Survived"), lambda: few.impute(crew)):
            with pytest.raises(ZeroProbabilityError, match=r"Row 0 has 'Crew' in 'Class', which"):
                answer()
        # The own cell of the target is not looked at.
        few.predict(crew, "Class")

    def test_labels_that_are_impossible_together_only(self):
        model = juror.JointPMF([0.5, 0.5], [np.eye(2)] * 3)
        with pytest.raises(ZeroProbabilityError, match=r"Row 1 has probability zero .* Fit with smoothing above zero"):
            model.impute(np.array([[0, 0, -1], [0, 1, -1]]))
