"""Intervals from draws and rows: against simulation, against formulas, and what they are made from."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import beta
from typer.testing import CliRunner

import juror
from juror.answers.interval_ends import UNSEEN, ends_of_draws, ends_of_rows, learned_agreement, weight_of_rows
from juror.cli.app import app
from juror.errors import ParameterError, QueryError
from juror.testing import random_model

RNG = np.random.default_rng(0)
PEOPLE = juror.datasets.titanic()
SHORT = {"sweeps": 60, "burnt": 20, "draws": 20}


class TestEnds:
    def test_truths_apart_from_the_draws_as_by_simulation(self):
        """Draw truths and rows by the two cases, and see how often those whose rows are as seen are apart."""
        answers, counts, agreement = RNG.dirichlet([4.0, 2.0, 3.0], 32), np.array([1.0, 3.0, 2.0]), (0.4, 0.6)
        rng, n = np.random.default_rng(1), 400_000
        # The draws have seen the rows as if the model were right: before that they had the weight 1 / likelihood.
        unseen = 1.0 / np.exp(np.log(answers) @ counts)
        chosen = rng.choice(len(answers), n, p=unseen / unseen.sum())
        is_apart = rng.random(n) < agreement[0]
        truths = np.where(is_apart[:, None], rng.dirichlet([0.5] * 3, n), answers[chosen])
        weights = np.exp(np.log(truths) @ counts)
        apart = weights[is_apart].sum() / weights.sum()
        of_rows, of_draws = beta(counts + 0.5, 6.5 - counts).var(), answers.var(axis=0)
        expected = apart + (1 - apart) * of_draws / (of_draws + of_rows)
        np.testing.assert_allclose(weight_of_rows(answers, counts, agreement), expected, atol=0.01)

    def test_ends_are_quantiles_of_draws_and_rows(self):
        answers, counts = np.random.default_rng(4).dirichlet([8.0, 4.0, 6.0], 64), np.array([5.0, 2.0, 9.0])
        weight = weight_of_rows(answers, counts, UNSEEN)
        low, high = ends_of_draws(answers, counts, 0.8, UNSEEN)
        for end, tail in ((low, 0.1), (high, 0.9)):
            for step, is_past in ((-1e-6, False), (1e-6, True)):
                of_rows = beta(counts + 0.5, 16.5 - counts).cdf(end + step)
                below = weight * of_rows + (1 - weight) * np.mean(answers <= end + step, axis=0)
                assert np.all((below >= tail - 1e-9) == is_past)

    def test_rows_count_half_where_draws_are_as_wide(self):
        counts = np.array([150.0, 350.0])
        alike = np.random.default_rng(9).beta(150.5, 350.5, 20_000)
        narrow = alike.mean() + (alike - alike.mean()) / 4
        for draws, expected in ((alike, 0.5), (narrow, 1 / 17)):
            answers = np.stack([draws, 1 - draws], axis=1)
            np.testing.assert_allclose(weight_of_rows(answers, counts, (1e-9, 1.0)), expected, rtol=0.05)

    def test_rows_that_agree_leave_narrow_draws_alone(self):
        answers = np.random.default_rng(2).dirichlet([300.0, 700.0], 100)
        counts = np.array([9.0, 21.0])
        of_draws = np.quantile(answers, [0.05, 0.95], axis=0)
        np.testing.assert_allclose(ends_of_draws(answers, None, 0.9, UNSEEN), of_draws)
        low, high = ends_of_draws(answers, counts, 0.9, UNSEEN)
        assert np.all(low >= of_draws[0] - 0.01)
        assert np.all(high <= of_draws[1] + 0.01)

    def test_rows_that_contradict_move_them(self):
        answers = np.random.default_rng(3).dirichlet([190.0, 810.0], 100)
        low, high = ends_of_draws(answers, np.array([83.0, 17.0]), 0.9, UNSEEN)
        assert answers[:, 0].max() < 0.3 < low[0] < 0.83 < high[0]

    def test_no_rows_say_nothing(self):
        answers = RNG.dirichlet(np.ones(3), 50)
        np.testing.assert_allclose(
            ends_of_draws(answers, np.zeros(3), 0.9, UNSEEN), np.quantile(answers, [0.05, 0.95], axis=0)
        )

    def test_what_draws_expect_is_not_impossible(self):
        """Two rows without a label of one half say little against it; thirty may lack a rare one for good."""
        answers = np.random.default_rng(8).dirichlet([500.0, 500.0], 100)
        assert ends_of_draws(answers, np.array([0.0, 2.0]), 0.9, UNSEEN)[0][0] > 0.4
        rare = np.random.default_rng(8).dirichlet([1.0, 999.0], 100)
        low, high = ends_of_draws(rare, np.array([0.0, 30.0]), 0.9, UNSEEN)
        assert low[0] == 0.0 < high[0]
        assert high[1] == 1.0

    @pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
    def test_rows_alone_as_jeffreys(self, level):
        counts = np.array([0.0, 4.0, 11.0])
        low, high = ends_of_rows(counts, level)
        each = beta(counts + 0.5, 15 - counts + 0.5)
        np.testing.assert_allclose(high[1:], each.ppf((1 + level) / 2)[1:])
        np.testing.assert_allclose(low[1:], each.ppf((1 - level) / 2)[1:])
        # What no row shows may be impossible, and all that is left out is at the high end.
        assert low[0] == 0.0
        assert high[0] == pytest.approx(each.ppf(level)[0])
        assert ends_of_rows(counts[::2] * [0, 1], level)[0][1] == pytest.approx(beta(11.5, 0.5).ppf(1 - level))

    def test_what_all_rows_show_may_be_certain(self):
        answers = RNG.dirichlet([20.0, 1.0], 50)
        for low, high in (
            ends_of_draws(answers, np.array([9.0, 0.0]), 0.9, UNSEEN),
            ends_of_rows(np.array([9.0, 0.0]), 0.9),
        ):
            assert high[0] == 1.0
            assert low[1] == 0.0
            assert low[0] > 0.0

    def test_an_answer_is_in_its_interval_where_few_rows_are_expected(self):
        """Expected rows are never quite none, and a label that hardly any is expected to show may be impossible too."""
        shares = np.array([1.0 - 1e-7, 1e-7])
        low, high = ends_of_rows(1.3 * shares, 0.9)
        assert high[0] == 1.0
        assert low[1] == 0.0
        assert low[0] < 0.9


class TestAgreement:
    """How often draws are right is learned from answers whose rows were drawn in known ways."""

    def learned(self, truths, rng, n_rows=400):
        answers = []
        for truth in truths:
            counts = rng.multinomial(n_rows, truth(rng)).astype(float)
            # Draws around 0.3, of a posterior as narrow as many other rows make it
            answers.append((rng.dirichlet([1200.0, 2800.0], 32), counts))
        return learned_agreement(answers)

    def test_right_and_wrong_models_are_told_apart(self):
        rng = np.random.default_rng(5)
        right = self.learned([lambda rng: [0.3, 0.7]] * 300, rng)
        wrong = self.learned([lambda rng: rng.dirichlet([0.5, 0.5])] * 300, rng)
        assert right[-1] > 0.85
        assert wrong[0] > 0.85

    def test_half_of_each(self):
        rng = np.random.default_rng(6)
        both = [lambda rng: [0.3, 0.7], lambda rng: rng.dirichlet([0.5, 0.5])] * 200
        found = self.learned(both, rng)
        assert abs(found[-1] - 0.5) < 0.12
        assert np.isclose(sum(found), 1.0)

    def test_no_answers_leave_the_prior(self):
        np.testing.assert_allclose(learned_agreement([]), UNSEEN)

    @pytest.mark.filterwarnings("ignore:The chains have not mixed well")
    def test_a_fit_with_draws_learns_it_and_keeps_it(self, tmp_path):
        model = juror.fit(PEOPLE, rank=4, method="bayes", **SHORT)
        assert model.info.agreement != UNSEEN
        model.save(tmp_path / "m.juror")
        assert juror.load(tmp_path / "m.juror").info.agreement == model.info.agreement
        assert juror.fit(PEOPLE, rank=4, method="em").info.agreement is None


class TestModels:
    def test_two_variables_have_rows(self):
        found = juror.fit(PEOPLE, 4, "em").interval("Survived | Sex = Female", 0.9)
        assert found.basis == "470 rows"
        low, high = ends_of_rows(np.array([126.0, 344.0]), 0.9)
        np.testing.assert_array_equal([found.low, found.high], [low, high])

    @pytest.mark.filterwarnings("ignore:The chains have not mixed well")
    def test_draws_say_so(self):
        model = juror.fit(PEOPLE, 3, "bayes", **SHORT)
        assert model.interval("Survived | Sex = Female").basis == "20 draws and 470 rows"
        n_rows = round(2201 * model.prob("Sex = Female, Class = Crew"))
        expected = f"20 draws and about {n_rows} rows, as many as the model expects to meet the conditions"
        assert model.interval("Survived | Sex = Female, Class = Crew").basis == expected
        assert model.interval("Survived | Sex = Female, Class = Crew", data=PEOPLE).basis == "20 draws and 23 rows"

    def test_rows_that_are_not_known_are_expected(self):
        model = juror.fit(PEOPLE, 4, "em", keep_counts=False)
        found = model.interval("Survived | Sex = Female", 0.9)
        n = 2201 * model.prob("Sex = Female")
        low, _ = ends_of_rows(n * found.table.to_numpy(), 0.9)
        np.testing.assert_allclose(found.low, low)
        assert found.basis.startswith(f"about {n:.0f} rows")

    @pytest.mark.parametrize("keep", [True, False])
    def test_evidence_beside_the_question_is_evidence_in_it(self, keep):
        model = juror.fit(PEOPLE, 4, "em", keep_counts=keep)
        beside = model.interval("Survived | Class = 1st", given={"Sex": "Female"})
        inside = model.interval("Survived | Class = 1st, Sex = Female")
        assert str(beside) == str(inside)
        assert str(model.ask("Survived", given="Sex = Female")) == str(model.ask("Survived | Sex = Female"))
        certain = model.interval("Survived | Class = 1st", given={"Sex": {"Female": 7.0, "Male": 0.0}})
        np.testing.assert_allclose([certain.low, certain.high], [inside.low, inside.high])

    @pytest.mark.parametrize("scale", [1.0, 1e-200, 1e250])
    def test_likelihoods_leave_as_many_rows_as_they_are_worth(self, scale):
        model = juror.fit(PEOPLE, 4, "em")
        likelihood = {"Female": 0.9 * scale, "Male": 0.2 * scale}
        found = model.interval("Survived", 0.9, given={"Sex": likelihood})
        sex, w = model.marginal("Sex").to_numpy(), np.array([0.2, 0.9])
        assert list(model.domain["Sex"].labels) == ["Male", "Female"]
        n = 2201 * (sex @ w) ** 2 / (sex @ w**2)
        table = w @ model.marginal("Sex", "Survived").to_numpy() / (sex @ w)
        low, high = ends_of_rows(n * table, 0.9)
        np.testing.assert_allclose([found.low, found.high], [low, high])
        assert found.basis.startswith(f"about {n:,.0f} rows, as many as the model expects all rows to be worth")

    def test_likelihoods_hold_the_mean_of_weighted_rows(self):
        """Nine of ten intervals hold the answer of the whole, if rows are drawn from it and weighted."""
        truth = random_model([2, 3], 2, np.random.default_rng(4))
        given, rng, held = {"x1": {0: 0.1, 1: 0.5, 2: 1.0}}, np.random.default_rng(5), []
        right = truth.ask("x0", given=given)[1]
        for _ in range(200):
            rows = truth.sample(150, seed=int(rng.integers(2**31)))
            found = juror.fit(rows, 4, "em", domain=truth.domain, smoothing=0.0, n_init=1)
            low, high = found.interval("x0", 0.9, given=given)[1]
            held.append(low <= right <= high)
        assert 0.82 <= np.mean(held) <= 0.97

    def test_a_conditioned_model_has_none(self):
        rest = juror.fit(PEOPLE, 4, "em").condition(Sex="Female")
        with pytest.raises(QueryError, match="ask the model before that"):
            rest.interval("Survived")

    def test_the_command_line(self, tmp_path):
        path = tmp_path / "m.juror"
        model = juror.fit(PEOPLE, 4, "em")
        model.save(path)
        question = "Survived | Sex = Female"
        shown = CliRunner().invoke(app, ["ask", str(path), question, "--interval", "0.8", "--json"])
        expected = model.interval(question, 0.8)
        rows = json.loads(shown.stdout)
        assert [row["low"] for row in rows] == pytest.approx(expected.low.tolist())
        assert [row["rows"] for row in rows] == [126, 344]
        wrong = CliRunner().invoke(app, ["ask", str(path), question, "--interval", "1.5"])
        assert isinstance(wrong.exception, (ParameterError, SystemExit))

    def test_rows_that_lack_a_cell_are_not_expected(self):
        hidden = PEOPLE.assign(Survived=PEOPLE["Survived"].astype(object).where(np.arange(len(PEOPLE)) % 10 == 0))
        model = juror.fit(hidden, 4, "em", missing_as={})
        n = 221 * model.prob("Sex = Female, Age = Adult")
        assert model.interval("Survived | Sex = Female, Age = Adult").basis.startswith(f"about {n:.0f} rows")

    def test_uneven_weights_are_worth_less(self):
        weights = np.where(np.arange(len(PEOPLE)) % 10 == 0, 9.1, 0.1)
        model = juror.fit(PEOPLE, 4, "em", sample_weight=weights)
        kish = weights.sum() ** 2 / (weights @ weights)
        assert model.info.n_effective == pytest.approx(kish)
        of_counts, of_rows = (
            model.interval("Survived | Sex = Female", **more)
            for more in ({}, {"data": PEOPLE, "sample_weight": weights})
        )
        np.testing.assert_allclose(of_counts.high - of_counts.low, of_rows.high - of_rows.low, rtol=0.1)
        assert not model.ask("Survived | Sex = Female").support.n_missing
        assert "by their weights" in of_counts.basis

    def test_what_evidence_excludes_is_certain(self):
        found = juror.fit(PEOPLE, 4, "em").interval("Survived | Survived = Yes")
        assert (found["No"], found["Yes"]) == ((0.0, 0.0), (1.0, 1.0))
        found = juror.fit(PEOPLE, 4, "em").interval("Survived, Class | Class in {1st, 2nd}")
        assert found["No", "3rd"] == (0.0, 0.0)
        assert 0.0 < found["No", "2nd"][0] < found["No", "2nd"][1] < 1.0

    def test_what_no_row_shows_is_not_excluded(self):
        codes, domain = np.array([[0, 1], [0, 0], [0, 1]] * 5), juror.Domain.from_cardinalities([2, 2])
        model = juror.fit(codes, 1, "em", smoothing=0, domain=domain)
        assert model.prob("x0 = 1") == 0.0
        assert model.interval("x0")[1][1] > 0.0

    @pytest.mark.filterwarnings("ignore:The chains have not mixed well")
    def test_few_sweeps_need_no_other_option(self):
        assert juror.fit(PEOPLE, 2, "bayes", sweeps=20).info.n_draws == 24


class TestDividedIntervals:
    """A condition that ends inside an interval of a number: the rows behind the answer are nearly known."""

    def table(self):
        rng = np.random.default_rng(4)
        size = np.round(rng.normal(size=400), 3)
        kind = np.where(rng.random(400) < 1 / (1 + np.exp(-2 * size)), "b", "a")
        return {"size": size, "kind": kind, "other": rng.choice(["x", "y"], 400)}

    def test_rows_count_by_the_law_of_their_interval(self):
        rows = self.table()
        # one class, so that its own answer is wrong
        model = juror.fit(rows, rank=1, method="em")
        found, counted = model.interval("kind | size >= 0.5"), model.interval("kind | size >= 0.5", data=rows)
        assert found.basis == "about 130 rows, of divided intervals by the shares of their laws"
        assert counted.basis == "128 rows"
        np.testing.assert_allclose(found["b"], counted["b"], atol=0.03)
        assert found.outside() == [("a",), ("b",)]
        assert found.table.support is None

    def test_all_parts_together_are_the_counts(self):
        model = juror.fit(self.table(), rank=2, method="em")
        whole, divided = (
            model.interval(f"kind | {condition}") for condition in ("size >= -9", "size >= -9, size != 0")
        )
        np.testing.assert_allclose(whole.low, model.interval("kind").low, atol=1e-3)
        np.testing.assert_allclose(whole.low, divided.low, atol=1e-2)

    def test_other_questions_have_as_many_rows_as_expected(self):
        model = juror.fit(self.table(), rank=2, method="em")
        for question in ("kind | size >= 0.5, other = x", "kind, other | size >= 0.5", "size | size >= 0.5"):
            assert "as many as the model expects" in model.interval(question).basis


class TestProbabilitiesOutside:
    """The rows of an answer may contradict the model, and then intervals from them leave out its probability."""

    @staticmethod
    def model():
        rows = {"a": ["x"] * 50 + ["y"] * 50, "b": [1] * 40 + [2] * 10 + [2] * 50}
        return juror.fit(rows, rank=1, method="em")

    def test_the_cells_are_named_and_the_interval_stays(self):
        answer = self.model().interval("b | a = x")
        assert answer.outside() == [(1,), (2,)]
        assert answer[1] == tuple(end[0] for end in ends_of_rows(np.array([40.0, 10.0]), 0.95))
        where = "outside its interval, which is from 50 rows"
        expected = f"The model's probability of [1, 2] is {where}. Rely on the interval there."
        assert str(answer).splitlines()[-1] == expected
        assert answer.remarks() == [expected]

    def test_probabilities_inside_need_no_word(self):
        answer = self.model().interval("b")
        assert answer.outside() == answer.remarks() == []
        assert str(answer).splitlines()[-1] == "from 100 rows"
        assert self.model().interval("b | a = x, b = 1").outside() == []

    def test_the_command_line(self, tmp_path):
        self.model().save(tmp_path / "model.juror")
        told = CliRunner().invoke(app, ["ask", str(tmp_path / "model.juror"), "b | a = x", "--interval", "0.95"])
        assert "The model's probability of [1, 2] is outside its interval" in told.stderr
