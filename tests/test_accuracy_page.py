"""The benchmark behind docs/accuracy.md: what it measures by hand, that it goes on where it stopped, and its page."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from accuracy import debd, holes, intervals, labels, optimum, published, running, table2
from accuracy.__main__ import main
from accuracy.calibration import calibration, count_bins, expected_error
from accuracy.cells import Cell, Section, about, plain, run
from accuracy.findings import Findings, mean_text, table_csv
from accuracy.page import PAGE, gather, unused
from accuracy.pictures import PICTURES
from accuracy.running import forget, open_store, run_sections
from accuracy.sections import SECTIONS
from scipy.stats import norm

import juror
from juror.errors import DataError, ParameterError
from juror.fitting.api import FitOptions
from juror.paper import recipes
from juror.paper.recipes import Recipe


def made_up(section: Section, measures, quick=False, seeds=None, **more) -> dict[str, dict]:
    """Finished cells with what ``measures`` gives for each, by fingerprint."""
    found = {}
    for cell in section.cells(quick, seeds):
        measured = measures(cell)
        if measured is not None:
            about_it = {"seconds": 1.25, "warnings": [], "failed": None, "juror": "9.9", "cores": 2} | more
            found[cell.fingerprint] = {"fingerprint": cell.fingerprint, **vars(cell), "measured": measured} | about_it
    return found


def errors(cell: Cell) -> dict:
    scale = {"juror": 1.02, "juror-auto": 1.2, "em": 5.0, "limit": 1.0, "marginals": 3.0, "uniform": 1.5}[cell.row]
    # seed 20 has the error scale / 10, and each following seed a tenth of that more
    error = scale * (cell.seed - 10) / 100
    return {"tensor_error": error, "rank": 15, "info": "method: bayes; stopped: at 3"}


@pytest.fixture(autouse=True)
def without_compiling(monkeypatch):
    monkeypatch.setattr(running, "_compile", lambda: None)


@pytest.fixture
def counted():
    """A section of two rows and two columns, and the labels of the cells that were run."""
    ran: list[str] = []

    def measure(cell, data):
        ran.append(cell.label)
        return {"value": float(cell.seed) + data}

    section = Section(
        "toy",
        "Toy",
        {"a": "A", "b": "B"},
        ("b",),
        range(5, 7),
        lambda quick: {"x": {"size": 1}, "y": {"size": 2}},
        lambda cell: cell.options["size"],
        measure,
        lambda found: iter(["words"]),
    )
    return section, ran


class TestRunning:
    def test_a_second_run_runs_nothing_and_more_seeds_only_those(self, counted, tmp_path):
        section, ran = counted
        told: list[str] = []
        assert run_sections([section], open_store(tmp_path, told.append), False, None, told.append) == []
        assert len(ran) == len(set(ran)) == len(told) == 2 * 2 * 2
        assert told[0] == "1 of 8  toy: a, x, seed 5: value 6 (0.0 s)"
        ran.clear()
        run_sections([section], open_store(tmp_path, told.append), False, None, told.append)
        assert ran == []
        run_sections([section], open_store(tmp_path, told.append), False, 3, told.append)
        assert sorted(ran) == [f"toy: {row}, {column}, seed 7" for row in "ab" for column in "xy"]

    def test_a_changed_setting_is_run_again(self, counted, tmp_path):
        section, ran = counted
        run_sections([section], open_store(tmp_path, print), False, 1, lambda line: None)
        ran.clear()
        changed = replace(section, columns=lambda quick: {"x": {"size": 1}, "y": {"size": 3}})
        run_sections([changed], open_store(tmp_path, print), False, 1, lambda line: None)
        assert ran == ["toy: a, y, seed 5", "toy: b, y, seed 5"]

    def test_a_line_says_what_was_measured_when_and_by_which_version(self, counted, tmp_path):
        section, _ = counted
        run_sections([section], open_store(tmp_path, print), False, 1, lambda line: None)
        first = json.loads((tmp_path / "cells.jsonl").read_text().splitlines()[0])
        assert first["juror"] == juror.__version__
        assert first["measured"] == {"value": 6.0}
        assert first["seconds"] >= 0
        assert {"section", "row", "column", "seed", "options", "quick", "warnings", "failed", "cores"} <= set(first)

    def test_a_last_line_cut_short_is_told_dropped_and_run_again(self, counted, tmp_path):
        section, ran = counted
        run_sections([section], open_store(tmp_path, print), False, 1, lambda line: None)
        file = tmp_path / "cells.jsonl"
        whole = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(whole[:-1]) + whole[-1][:30])
        ran.clear()
        told: list[str] = []
        store = open_store(tmp_path, told.append)
        assert told == [f"The last line of {str(file)!r} was cut short; it is dropped, and its cell is run again."]
        run_sections([section], store, False, 1, lambda line: None)
        assert ran == ["toy: b, y, seed 5"]
        assert [json.loads(line)["row"] for line in file.read_text().splitlines()] == ["a", "b", "a", "b"]
        told.clear()
        open_store(tmp_path, told.append)
        assert told == []

    def test_a_broken_line_is_a_sentence(self, tmp_path):
        (tmp_path / "cells.jsonl").write_text('{"no": "cell"}\n')
        with pytest.raises(DataError, match=r"Line 1 of .* is not a finished cell\. Delete it, or the file"):
            open_store(tmp_path, print)

    def test_forgotten_cells_are_run_again_and_the_others_stay(self, counted, tmp_path):
        section, ran = counted
        run_sections([section], open_store(tmp_path, print), False, 2, lambda line: None)
        ran.clear()
        store = open_store(tmp_path, print)
        assert forget(store, section.cells(False, 1)) == 4
        assert len((tmp_path / "cells.jsonl").read_text().splitlines()) == 4
        run_sections([section], open_store(tmp_path, print), False, 2, lambda line: None)
        assert len(ran) == 4
        assert all(label.endswith("seed 5") for label in ran)

    def test_data_that_cannot_be_had_are_told_and_the_rest_goes_on(self, counted, tmp_path):
        section, ran = counted

        def load(cell):
            if cell.column == "x":
                raise DataError("No x here.")
            return 0

        store = open_store(tmp_path, print)
        absent = run_sections([replace(section, load=load)], store, False, 1, lambda line: None)
        assert absent == ["toy, x: No x here."]
        assert ran == ["toy: a, y, seed 5", "toy: b, y, seed 5"]

    def test_a_refusal_is_a_result_but_a_mistaken_option_and_a_bug_are_not(self, counted):
        section, _ = counted
        (cell, *_) = section.cells()

        def refusing(error):
            def measure(cell, data):
                raise error

            return replace(section, measure=measure)

        assert run(refusing(DataError("Too few rows.")), cell)["failed"] == "Too few rows."
        for error in (ParameterError("No such option."), ZeroDivisionError("bug")):
            with pytest.raises(type(error)):
                run(refusing(error), cell)

    def test_what_json_cannot_hold_becomes_none(self):
        assert plain([np.float64(1.5), -np.inf, [np.int64(2), np.nan], "text"]) == [1.5, None, [2, None], "text"]


class TestPage:
    def test_the_table_of_made_up_errors(self):
        found = Findings(table2.SECTION, table2.SECTION.cells(), made_up(table2.SECTION, errors))
        text = "\n\n".join(table2.SECTION.words(found))
        # mean of 0.10 … 0.14 is 0.12, and 0.0158 their standard deviation
        assert "| *Bayes limit (law of truths known)* | 0.1200 ± 0.0158 | 0.1200 ± 0.0158 |" in text
        assert "| `juror.fit(codes, rank=15)` | 0.1224 ± 0.0161 |" in text
        assert "| *best printed in the paper's Table 2* | 0.158 | 0.136 | 0.093 | 0.048 |" in text
        assert '| `juror.fit(codes, rank="auto")` | 1.200 ± 0.000 |' in text
        assert "5 seeds (20–24)" in text
        assert "`bayes` (20)" in text
        goals = table2.SECTION.goals(found)
        assert [goal.is_met for goal in goals] == [True] * 4 + [False] * 4
        assert goals[4].bound == "at most 1.10"
        assert goals[4].measured == "1.200"

    def test_nothing_is_claimed_of_part_of_the_seeds(self):
        def some(cell):
            return None if cell.seed == 24 and cell.row == "juror" else errors(cell)

        (found, *_) = gather([table2.SECTION], made_up(table2.SECTION, some), False, None)
        assert {goal.what.split(",")[1].strip() for goal in table2.SECTION.goals(found)} == {'rank="auto")`'}
        assert "4 of 120 cells have not been run" in PAGE.text([found], False)
        fewer = gather([table2.SECTION], made_up(table2.SECTION, errors, seeds=2), False, 2)
        assert "What was to be reached" not in PAGE.text(fewer, False)

    def test_the_page_has_every_section_and_says_what_was_not_run(self, tmp_path):
        results = made_up(table2.SECTION, errors)
        findings = gather(list(SECTIONS.values()), results, False, None)
        written = PAGE.write(tmp_path, findings, False)
        assert [path.name for path in written] == ["table2.csv", "table2.png", "accuracy.md"]
        text = (tmp_path / "accuracy.md").read_text()
        assert re.findall(r"^## (.*)$", text, re.M)[1:] == [section.title for section in SECTIONS.values()]
        assert text.count("Not run yet: 0 of") == len(SECTIONS) - 1
        assert "4 of 8 are." in text
        assert "juror 9.9 in 120" in text
        assert "(accuracy/table2.png)" in text
        assert (tmp_path / "accuracy" / "table2.png").read_bytes().startswith(b"\x89PNG")
        assert unused(findings, results) == 0
        assert unused(findings, results | {"other": {}}) == 1

    def test_every_section_has_words_and_a_picture_of_whatever_numbers(self, tmp_path):
        results = {}
        for section in SECTIONS.values():
            results |= made_up(section, any_numbers, warnings=["It took long."])
        findings = gather(list(SECTIONS.values()), results, False, None)
        PAGE.write(tmp_path, findings, False)
        text = (tmp_path / "accuracy.md").read_text()
        assert set(PICTURES) == set(SECTIONS)
        assert all((tmp_path / "accuracy" / f"{name}.png").is_file() for name in SECTIONS)
        assert "cells, for example: It took long." in text
        assert "| *LearnSPN* | −6.11 | −6.11 | −2.18 | −12.97 | −40.50 | −82.52 |" in text
        assert "| *best printed* | 88.38 | 96.72 |" in text
        assert "| *best printed in the paper's Table 5* | 0.154 |" in text
        assert "nan" not in text

    def test_a_quick_page_says_so_and_claims_nothing(self):
        text = PAGE.text(gather([table2.SECTION], made_up(table2.SECTION, errors, quick=True), True, None), True)
        assert "not to be quoted" in text
        assert "What was to be reached" not in text

    def test_a_refusal_is_told(self):
        found = gather([table2.SECTION], made_up(table2.SECTION, lambda cell: {}, failed="Too few."), False, None)
        assert "was refused in 20 of 20 cells, for example: Too few." in PAGE.text(found, False)

    def test_csv_has_a_line_a_cell_and_no_lists(self):
        section = holes.SECTION
        found = Findings(section, section.cells(True), made_up(section, any_numbers, quick=True))
        lines = table_csv(found).splitlines()
        assert len(lines) == 1 + len(section.cells(True))
        assert "bins" not in lines[0]

    def test_the_optimum_is_reached_within_the_tolerance_only(self):
        gap = {"em": {20: 5e-5, 21: -5e-5, 22: -2e-4, 23: 0.1, 24: 0.0}}

        def measures(cell):
            return {"log_likelihood": -30 + gap.get(cell.row, {}).get(cell.seed, 0.0)}

        found = Findings(optimum.SECTION, optimum.SECTION.cells(), made_up(optimum.SECTION, measures))
        assert optimum.n_reached(found, "em", 50_000) == 4
        (goal,) = optimum.SECTION.goals(found)
        assert (goal.measured, goal.is_met) == ("4 of 5", False)

    def test_means(self):
        assert mean_text([1.0, 2.0], ".2f") == "1.50 ± 0.71"
        assert mean_text([1.0], ".2f") == "1.00"
        assert mean_text([], ".2f") == "–"


def any_numbers(cell: Cell) -> dict:
    value = 1 + cell.seed / 100
    names = ("tensor_error", "log_likelihood", "factor_error", "accuracy", "log_prob", "standard_error", "right", "ece")
    texts = {"info": "method: em; stopped: so", "rank": 3, "passes": 7, "n_hidden": 9, "n_unknown": 0}
    return dict.fromkeys(names, value) | texts | {"n_impossible": 0, "bins": [[2.0, 1.5, 1.0]] * 10}


class TestMeasures:
    def test_calibration_by_hand(self):
        domain = juror.Domain.from_cardinalities([2, 2])
        shown, true = np.array([[-1, 1], [0, -1], [-1, -1]]), np.array([[0, 1], [0, 1], [1, -1]])
        chances = np.array([[0.9, 0.1], [0.3, 0.7], [0.9, 0.1]])
        # hidden: row 0 of x0 (right, 0.9), row 2 of x0 (wrong, 0.9), row 1 of x1 (right, 0.7); row 2 of x1 was a hole
        found = calibration(shown, true, lambda name: chances, domain)
        assert found["ece"] == pytest.approx(100 * (abs(1 - 1.8) + abs(1 - 0.7)) / 3)
        assert found["log_prob"] == pytest.approx(np.mean(np.log([0.9, 0.1, 0.7])))
        assert sum(n for n, _, _ in found["bins"]) == 3

    def test_honest_probabilities_have_no_calibration_error_and_boasting_ones_have(self):
        rng = np.random.default_rng(0)
        top = rng.uniform(0.5, 1, 200_000)
        right = rng.random(len(top)) < top
        assert expected_error(count_bins(top, right)) < 0.01
        assert expected_error(count_bins(np.minimum(1, top + 0.2), right)) > 0.1

    def test_training_and_test_rows_do_not_meet(self):
        train, test = holes.split(100, 60, 30, np.random.default_rng(1))
        assert (len(train), len(test)) == (60, 30)
        assert len({*train, *test}) == 90
        assert {*train, *test} <= set(range(100))
        with pytest.raises(ValueError, match="60 \\+ 50 rows are asked for, and there are 100"):
            holes.split(100, 60, 50, np.random.default_rng(1))

    def test_only_seen_cells_are_hidden_and_unknown_labels_are_counted(self):
        train = pd.DataFrame({"a": ["x", "y", None] * 100, "b": ["u", "v", "u"] * 100})
        test = pd.DataFrame({"a": ["x", None, "z"] * 200, "b": ["u", "v", "v"] * 200})
        task = holes.task(train, test, 0.2, np.random.default_rng(2))
        assert task.n_unknown == 200
        assert not np.any(task.hidden & (task.true < 0))
        assert np.array_equal(task.shown[~task.hidden], task.true[~task.hidden])
        assert task.hidden.sum() / np.sum(task.true >= 0) == pytest.approx(0.2, abs=0.05)

    def test_labels_learn_from_training_and_validation_rows_and_are_tested_on_the_rest(self, titanic_as_car):
        train, test = labels.parts("car", 3)
        first, second, third = recipes.split("car", 3)
        assert list(train.index) == [*first.index, *second.index]
        assert list(test.index) == list(third.index)
        assert sorted([*train.index, *test.index]) == list(range(2201))

    def test_the_product_of_marginals_by_hand(self):
        model = debd.product_of_marginals(np.array([[0, 1], [0, 1], [1, 1]]))
        assert model.prob({"x0": 1, "x1": 1}) == pytest.approx(1.5 / 4 * 3.5 / 4)

    def test_what_a_model_says_of_itself(self):
        model = juror.fit(juror.datasets.titanic(), rank=2, method="em")
        assert about(model)["rank"] == 2
        assert about(model)["info"].startswith("method: em; ")


@pytest.fixture
def titanic_as_car(monkeypatch):
    table = juror.datasets.titanic().rename(columns={"Survived": "class"}).astype(object)
    monkeypatch.setattr(recipes, "labelled", lambda name: table)
    monkeypatch.setattr(labels, "labelled", lambda name: table)
    labels.domain_of.cache_clear()
    yield
    labels.domain_of.cache_clear()


TINY = Recipe(2, "uniform", F=2, I=3, N=3)


class TestSections:
    """Every row of every section gives its numbers, on tiny data."""

    def results(self, section: Section, **options) -> dict[str, dict]:
        first = section.cells(True)[0]
        cells = [replace(first, row=row, options={**first.options, **options}) for row in section.rows]
        results = {cell.row: run(section, cell) for cell in cells}
        assert {row: result["failed"] for row, result in results.items()} == dict.fromkeys(section.rows)
        # everything can be written
        assert json.loads(json.dumps(results, allow_nan=False))
        return {row: result["measured"] for row, result in results.items()}

    def test_table2(self, monkeypatch):
        monkeypatch.setattr(table2, "RECIPE", TINY)
        found = self.results(table2.SECTION, limit={"sweeps": 60, "burnt": 20})
        assert found["uniform"]["tensor_error"] > found["limit"]["tensor_error"] > 0
        assert found["em"]["rank"] == 2

    @pytest.mark.filterwarnings("ignore:The chains have not mixed well")
    def test_intervals(self):
        found = self.results(intervals.SECTION)
        assert all(0.5 <= found[row]["covered"] <= 1 for row in intervals.ROWS)
        assert found["juror"]["width"] < found["counts"]["width"]

    def test_wilsons_interval(self):
        codes = np.tile(np.repeat(np.arange(4), 10)[:, None], 4)
        low, high = intervals.from_counts(codes, "x0")
        # its ends are the shares p at which 10 of 40 is off by z standard deviations
        for end in (low[0], high[0]):
            assert abs(0.25 - end) == pytest.approx(norm.ppf(0.95) * np.sqrt(end * (1 - end) / 40))
        assert intervals.from_counts(codes, "x2 | x0 = 1, x1 in {0, 1, 2}")[1][5] < 0.3

    def test_optimum(self, monkeypatch):
        monkeypatch.setattr(optimum, "RECIPE", TINY)
        found = self.results(optimum.SECTION, random={"n_init": 1})
        assert found["from-truth"]["log_likelihood"] >= found["truth"]["log_likelihood"]
        assert found["truth"]["factor_error"] == 0
        assert found["uniform"]["log_likelihood"] == pytest.approx(-3 * np.log(3))
        assert found["em"]["passes"] > 0

    def test_labels(self, titanic_as_car):
        found = self.results(labels.SECTION)
        assert found["most frequent"]["accuracy"] == pytest.approx(67.7, abs=4)
        assert all(found[row]["accuracy"] > found["most frequent"]["accuracy"] for row in ("juror", "boosting"))

    def test_holes(self, monkeypatch):
        monkeypatch.setattr(holes, "table", lambda name: juror.datasets.titanic())
        found = self.results(holes.SECTION, n_train=600, n_test=200)
        assert found["simple"]["right"] == found["marginals"]["right"] < found["juror"]["right"]
        assert 0 <= found["juror"]["ece"] < 20
        assert found["juror"]["log_prob"] > found["marginals"]["log_prob"]

    def test_debd(self, monkeypatch, tmp_path):
        column = np.random.default_rng(0).integers(0, 2, (400, 1), dtype=np.uint8)
        rows = np.hstack([column, column, column])
        (tmp_path / "debd").mkdir()
        np.savez(tmp_path / "debd" / "nltcs.npz", train=rows[:200], valid=rows[200:300], test=rows[300:])
        monkeypatch.setenv("JUROR_DATA", str(tmp_path))
        if "max_seconds" not in FitOptions.__annotations__:
            monkeypatch.setattr(debd, "fit_within", lambda codes, seconds, seed: juror.fit(codes, seed=seed))
        found = self.results(debd.SECTION, max_seconds=5)
        assert found["juror"]["log_prob"] == pytest.approx(-np.log(2), abs=0.1)
        assert found["marginals"]["log_prob"] == pytest.approx(-3 * np.log(2), abs=0.1)
        assert found["juror"]["n_test"] == 100

    def test_the_options_compared_are_options_of_fit(self):
        assert set(optimum.RANDOM_START) <= set(FitOptions.__annotations__)

    def test_absent_data_are_a_sentence(self, monkeypatch, tmp_path):
        cell = debd.SECTION.cells(True)[0]
        monkeypatch.delenv("JUROR_DATA", raising=False)
        with pytest.raises(DataError, match=r"JUROR_DATA is not set, and 'debd/nltcs.npz' is read from the folder"):
            debd.load(cell)
        monkeypatch.setenv("JUROR_DATA", str(tmp_path))
        with pytest.raises(DataError, match=r"JUROR_DATA has no file 'debd/nltcs.npz'"):
            debd.load(cell)

    def test_no_seed_is_one_of_the_papers_or_of_the_limit_benchmark(self):
        assert not set(table2.SECTION.seeds) & {*range(5), *range(10, 15)}
        assert {name: len(section.seeds) for name, section in SECTIONS.items()} == {
            "table2": 5,
            "intervals": 20,
            "optimum": 5,
            "labels": 10,
            "debd": 1,
            "holes": 3,
        }


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("JUROR_DATA"), reason="JUROR_DATA names no folder")
def test_published_numbers_are_those_of_the_data_folder():
    text = (Path(os.environ["JUROR_DATA"]) / "README.md").read_text()
    lines = re.findall(r"^\| (\w+) \| (−[\d.]+) \| (−[\d.]+) \| (−[\d.]+) \|$", text, re.M)
    read = {name: [float(value.replace("−", "-")) for value in values] for name, *values in lines}
    assert read == {name: [published.DEBD[other][name] for other in published.DEBD] for name in debd.SETS}


class TestCommand:
    def test_render_makes_the_page_of_the_cells_alone(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(juror, "fit", None)
        folder = tmp_path / "accuracy"
        store = open_store(folder, print)
        for result in made_up(table2.SECTION, errors, quick=True).values():
            store.add(result)
        assert main(["--render", "--quick", "-o", str(tmp_path)]) == 0
        assert "| `juror.fit(codes, rank=15)` | 0.1020 | 0.1020 |" in (tmp_path / "accuracy.md").read_text()
        assert f"wrote {tmp_path / 'accuracy.md'}" in capsys.readouterr().out

    def test_an_empty_folder_gives_no_page(self, tmp_path, capsys):
        assert main(["--render", "-o", str(tmp_path)]) == 1
        assert "There is no finished cell" in capsys.readouterr().err
        assert not (tmp_path / "accuracy.md").exists()

    def test_mistakes_are_refused(self, tmp_path, capsys):
        for arguments in (["--section", "tabel2"], ["--seeds", "0"], ["--render", "--again"]):
            with pytest.raises(SystemExit):
                main([*arguments, "-o", str(tmp_path)])
        assert "--render runs nothing" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []
