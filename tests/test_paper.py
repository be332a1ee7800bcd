from __future__ import annotations

import itertools
import json
import statistics
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

import juror
from juror import paper
from juror.cli import main
from juror.compare import factor_mse, tensor_error
from juror.errors import JurorError, MissingDependencyError, ParameterError
from juror.paper import cells, commentary, recipes, running, settings
from juror.paper import inversion_study as inversions
from juror.paper.costs import expected_seconds
from juror.paper.limit import matched_concentration, posterior_mean
from juror.paper.page import page
from juror.paper.recipes import Recipe
from juror.paper.settings import SETTINGS, Effort, Row, Setting, cell_of, cells_of
from juror.plot.canvas import check_matplotlib
from juror.testing import dense

TINY = Recipe(1, "uniform", F=2, I=3, N=3, kappa=0.9)
EM = {"n_init": 1, "max_iter": 20, "tol": 1e-4}


@pytest.fixture
def tiny(monkeypatch):
    """Tables 1 and 6 on tiny data with EM alone, and efforts to match; return Table 1's setting."""
    for name in ("QUICK", "FULL"):
        monkeypatch.setattr(settings, name, Effort(2, 1000, {"em": EM}, {}))
    references = tuple(row for row in SETTINGS[1].rows if row.is_reference)
    em = tuple(row for row in SETTINGS[1].rows if row.key == "rand-em")
    blocks = (Row("a", "one", "fit", "em", {}, "M=200", "left"), Row("b", "two", "fit", "em", {}, "M=50", "right"))
    monkeypatch.setitem(SETTINGS, 1, Setting(1, "mse", em + references, TINY))
    monkeypatch.setitem(SETTINGS, 6, Setting(6, "mse", blocks + references, TINY))
    for number in (2, 3, 4, 5, 7):
        monkeypatch.delitem(SETTINGS, number)
    return SETTINGS[1]


@pytest.fixture
def ran(monkeypatch):
    """The labels of the cells that were computed."""
    labels_ran = []

    def run(cell):
        labels_ran.append(cell.label)
        return cells.run(cell)

    monkeypatch.setattr(running, "run", run)
    return labels_ran


# The printed numbers


def test_printed_numbers_as_they_stand_in_the_paper():
    spots = {
        (1, "ctf", 100): 0.339,
        (1, "juror-b", 50000): 0.087,
        (2, "juror-a", 10000): 0.054,
        (3, "juror-b", 100000): 0.137,
        (3, "juror-c", 1000): 0.276,  # printed as a second JUROR-B
        (4, "ctf", 50000): 0.092,
        (5, "rand-em", 50000): 0.197,
        (6, "M=50", 5000): 0.305,
        (7, "juror-c", "car"): 88.38,
        (7, "naive bayes", "mushroom"): 89.67,
    }
    assert {place: paper.PRINTED[place[0]].at(*place[1:]) for place in spots} == spots
    assert paper.PRINTED[6].rows["M=200"] == paper.PRINTED[1].rows["juror-a"]


@pytest.mark.parametrize("number", range(1, 8))
def test_every_printed_row_is_run(number):
    printed, setting = paper.PRINTED[number], SETTINGS[number]
    assert {row.printed for row in setting.rows if row.printed} == set(printed.rows)
    assert all(len(numbers) == len(printed.columns) for numbers in printed.rows.values())
    assert setting.columns(settings.FULL) == printed.columns
    references = [row.key for row in setting.rows if row.is_reference]
    expected = ["uniform", "independent", "em-from-truth", "bayes-limit"]
    assert references == expected[: {2: 4, 7: 2}.get(number, 3)]
    if setting.recipe is not None:
        r = setting.recipe
        kappa = f"{r.kappa:g}"
        assert f"F = {r.F}, I = {r.I}, N = {r.N}, κ = {kappa}" in printed.caption


def test_table_6_has_both_inversions_and_shares_its_first_cells_with_table_1():
    rows = {row.key: row for row in SETTINGS[6].rows}
    assert [rows[f"M={M} fbp"].options for M in (200, 50)] == [
        {"n_directions": 200, "inversion": "fbp"},
        {"n_directions": 50, "inversion": "fbp"},
    ]
    juror_a = next(row for row in SETTINGS[1].rows if row.key == "juror-a")
    first = cell_of(SETTINGS[1], juror_a, 100, 0, False)
    assert cell_of(SETTINGS[6], rows["M=200 lstsq"], 100, 0, False).fingerprint == first.fingerprint
    assert cell_of(SETTINGS[6], rows["M=150 lstsq"], 100, 0, False).fingerprint != first.fingerprint


# The recipes


def assert_drawn_from(codes, truth, least=1e-4):
    """Compare how often every row occurs with its probability, by χ²."""
    shape = truth.domain.cardinalities
    counts = np.bincount(np.ravel_multi_index(codes.T, shape), minlength=np.prod(shape))
    assert chisquare(counts, len(codes) * dense(truth).ravel()).pvalue > least


@pytest.mark.parametrize("law", ["uniform", "sinusoid"])
def test_rows_follow_the_truth(law):
    recipe = Recipe(9, law, F=3, I=4, N=3)
    assert_drawn_from(recipe.rows(20000, seed=1), recipe.truth(1))
    with pytest.raises(AssertionError):
        assert_drawn_from(recipe.rows(20000, seed=1), recipe.truth(2))


def test_truths_are_distributions_of_their_law():
    uniform = np.concatenate([a.ravel() for a in Recipe(1, "uniform", 25, 10, 6).truth(0).factors])
    assert uniform.min() > 0
    # a uniform entry over the sum of ten has mean 1/10, and standard deviation near (1/√12)/5
    assert abs(uniform.std() - 1 / (5 * np.sqrt(12))) < 0.005
    smooth = Recipe(3, "sinusoid", 90, 50, 5).truth(0)
    assert smooth.rank == 90
    assert min(a.min() for a in smooth.factors) > 0
    # a wave of at most five turns over fifty cells is smooth, and goes round its mean
    steps = np.abs(np.diff(smooth.factors[0], axis=0)).max()
    assert steps <= 2 * np.pi * 5 / 50 * 1.3 / 50
    assert np.linalg.matrix_rank(smooth.factors[0], tol=1e-3) < 25


def test_everything_follows_from_table_and_seed_and_small_samples_are_first_rows():
    recipe = Recipe(4, "uniform", F=5, I=4, N=3, kappa=0.8)
    np.testing.assert_array_equal(recipe.rows(50, 3), recipe.rows(800, 3)[:50])
    np.testing.assert_array_equal(recipe.truth(3).weights, recipe.truth(3).weights)
    assert np.any(recipe.rows(50, 3) != recipe.rows(50, 4))
    assert np.any(recipe.rows(50, 3) != Recipe(5, "uniform", F=5, I=4, N=3, kappa=0.8).rows(50, 3))


def test_kappa_is_the_share_of_cells_seen():
    with_holes = Recipe(4, "uniform", F=5, I=4, N=3, kappa=0.8).rows(20000, 0)
    whole = Recipe(4, "uniform", F=5, I=4, N=3).rows(20000, 0)
    seen = with_holes >= 0
    assert abs(seen.mean() - 0.8) < 0.01
    np.testing.assert_array_equal(with_holes[seen], whole[seen])


def test_splits_have_the_papers_shares(monkeypatch):
    monkeypatch.setattr(recipes, "labelled", lambda name: pd.DataFrame({"class": range(1000)}))
    for name, expected in {"car": [700, 100, 200], "mushroom": [500, 200, 300]}.items():
        parts = recipes.split(name, seed=0)
        assert [len(part) for part in parts] == expected
        assert sorted(itertools.chain(*(part["class"] for part in parts))) == list(range(1000))
        assert parts[0]["class"].tolist() != recipes.split(name, seed=1)[0]["class"].tolist()


# The cells


def test_references_by_hand(tiny):
    truth, codes = TINY.truth(0), TINY.rows(100, 0)
    uniform, independent, _ = (row for row in tiny.rows if row.is_reference)
    found = cells.run(cell_of(tiny, uniform, 100, 0, True))["measured"]
    assert found["mse"] == pytest.approx(sum(((a - 1 / 3) ** 2).sum() for a in truth.factors) / 3
                                         + ((truth.weights - 0.5) ** 2).sum())  # fmt: skip
    assert found["tensor_error"] == pytest.approx(((dense(truth) - 1 / 27) ** 2).sum() / (dense(truth) ** 2).sum())
    shares = [np.bincount(column[column >= 0], minlength=3) / (column >= 0).sum() for column in codes.T]
    product = np.einsum("i,j,k->ijk", *shares)
    found = cells.run(cell_of(tiny, independent, 100, 0, True))["measured"]
    assert found["tensor_error"] == pytest.approx(((dense(truth) - product) ** 2).sum() / (dense(truth) ** 2).sum())


def test_a_fit_is_that_of_the_library_and_em_from_the_truth_is_the_nearer(tiny):
    cell = next(c for c in cells_of(tiny, 1, True) if c.method == "em" and c.column == 1000)
    codes = TINY.rows(1000, 0)
    model = juror.fit(codes, 2, "em", domain=TINY.domain, seed=0, smoothing=0.0, **EM)
    result = cells.run(cell)
    assert result["measured"] == {
        "mse": factor_mse(TINY.truth(0), model),
        "mse_per_component": factor_mse(TINY.truth(0), model, per_component=True),
        "tensor_error": tensor_error(TINY.truth(0), model),
    }
    assert result["warnings"] == sorted(model.info.warnings)
    assert result["seconds"] > 0


def test_a_refusal_is_a_result_and_a_bug_is_not(tiny, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(cells, "fit", lambda *args, **options: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            paper.table(1, quick=True, jobs=1)
    monkeypatch.setattr(settings, "QUICK", Effort(2, 1000, {"em": EM | {"max_iter": 0}}, {}))
    table = paper.table(1, quick=True, jobs=1)
    entry = table["rand-em", 1000]
    sentence = "max_iter must be an int in the range [1, inf). Got 0 instead."
    assert (entry.measured, entry.n_seeds, entry.n_failed, entry.failures) == (None, 0, 2, (sentence,))
    assert "0.246 / failed" in str(table)
    assert f"RAND-EM at 1,000: 2 of 2 seeds failed: {sentence}" in str(table)
    assert f"RAND-EM at 1,000: 2 of 2 seeds failed: {sentence}" in page([table], small_inversions())


@pytest.fixture
def titanic_as_car(monkeypatch):
    people = juror.datasets.titanic().astype("str").rename(columns={"Survived": "class"})
    people["Age"] = people["Age"].mask(np.random.default_rng(0).random(len(people)) < 0.1)
    recipes.labelled.cache_clear()
    monkeypatch.setattr(recipes, "load", lambda name: people)
    monkeypatch.setitem(recipes.LEVELS, "car", {"Class": ("Crew", "3rd", "2nd", "1st")})
    yield people
    recipes.labelled.cache_clear()


def label_cell(row: Row, ranks=()):
    return settings.Cell(7, "car", row.task, row.method, 0, dict(row.options), None, ranks, True)


def test_labels_by_ours_by_others_and_by_the_references(titanic_as_car):
    found = {}
    for row in SETTINGS[7].rows:
        if row.task != "label fit":
            found[row.key] = cells.run(label_cell(row))["measured"]["accuracy"]
    em = Row("em", "EM", "label fit", "em", EM | {"smoothing": 0.1})
    result = cells.run(label_cell(em, ranks=(1, 4)))["measured"]
    assert result["rank"] == 4
    assert found["uniform"] == 50
    assert found["independent"] == 100 * np.mean(recipes.split("car", 0)[2]["class"] == "No")
    assert min([result["accuracy"], *(a for key, a in found.items() if key != "uniform")]) == found["independent"]
    assert all(found[key] > found["independent"] + 5 for key in ("logistic regression", "svm-rbf", "neural net"))


def test_a_rank_that_is_refused_is_told_and_the_others_count(titanic_as_car):
    em = Row("em", "EM", "label fit", "em", EM)
    result = cells.run(label_cell(em, ranks=(0, 2)))
    assert result["measured"]["rank"] == 2
    refusal = "rank 0 failed: rank must be "
    assert any(text.startswith(refusal) for text in result["warnings"])
    assert cells.run(label_cell(em, ranks=(0,)))["failed"].startswith(
        "None of the ranks [0] could be fitted; " + refusal
    )


def test_data_that_cannot_be_had_stop_the_run_and_are_no_result(monkeypatch, tmp_path):
    def load(name):
        raise JurorError(f"{name!r} could not be fetched.")

    recipes.labelled.cache_clear()
    monkeypatch.setattr(recipes, "load", load)
    with pytest.raises(JurorError, match=r"'car' could not be fetched\."):
        paper.table(7, quick=True, folder=tmp_path)
    assert not (tmp_path / "cells.jsonl").exists()


def test_no_cell_is_expected_to_take_no_time():
    for setting in SETTINGS.values():
        assert all(expected_seconds(cell) > 0 for cell in cells_of(setting, 1, False))


# Running and resuming


def test_mean_and_spread_over_seeds(tiny):
    table = paper.table(1, quick=True, jobs=1, seeds=3)
    single = [cells.run(cell)["measured"]["mse"] for cell in cells_of(tiny, 3, True)[:3]]
    entry = table["rand-em", 100]
    assert (entry.printed, entry.n_seeds, entry.n_failed) == (0.284, 3, 0)
    assert (entry.measured, entry.spread) == pytest.approx((statistics.fmean(single), statistics.stdev(single)))
    assert entry.measured == entry.mse
    assert table.columns == (100, 1000)
    assert table["uniform", 100].printed is None
    with pytest.raises(ParameterError, match="There is no"):
        table["rand-em", 7]


def test_a_second_run_computes_nothing(tiny, ran, tmp_path):
    steps = []
    first = paper.table(1, quick=True, folder=tmp_path, jobs=1, progress=steps.append)
    assert len(ran) == len(set(ran)) == 4 * 2 * 2
    assert [step.done for step in steps] == list(range(1, 17))
    assert {step.total for step in steps} == {16}
    assert steps[-1].seconds_left == pytest.approx(0, abs=1e-9)
    ran.clear()
    again = paper.table(1, quick=True, folder=tmp_path, jobs=1)
    assert ran == []
    assert again.entries == first.entries
    # one more seed is only that
    paper.table(1, seeds=3, quick=True, folder=tmp_path, jobs=1)
    assert len(ran) == 4 * 2
    assert all(label.endswith("seed 2") for label in ran)


def test_a_torn_last_line_is_run_again(tiny, ran, tmp_path):
    expected = paper.table(1, quick=True, folder=tmp_path, jobs=1)
    file = tmp_path / "cells.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    last = ran[-1]
    file.write_bytes(b"".join(lines[:-1]) + lines[-1][:40])
    ran.clear()
    assert [e.measured for e in paper.table(1, quick=True, folder=tmp_path, jobs=1).entries] == [
        e.measured for e in expected.entries
    ]
    assert ran == [last]
    assert [json.loads(line)["fingerprint"] for line in file.read_text().splitlines()] == [
        json.loads(line)["fingerprint"] for line in lines
    ]


def test_a_broken_line_in_the_middle_is_a_sentence(tiny, tmp_path):
    (tmp_path / "cells.jsonl").write_text('{"no": "cell"}\n')
    with pytest.raises(
        JurorError, match=r"Line 1 of .* is not a finished cell\. Delete it, or the file to begin anew\."
    ):
        paper.table(1, folder=tmp_path)


@pytest.mark.parametrize("change", ["options", "recipe", "quick", "law"])
def test_a_changed_setting_is_run_again(tiny, ran, tmp_path, monkeypatch, change):
    paper.table(1, quick=True, folder=tmp_path, jobs=1)
    n_cells = len(ran)
    ran.clear()
    if change == "options":
        monkeypatch.setattr(settings, "QUICK", Effort(2, 1000, {"em": EM | {"max_iter": 21}}, {}))
        n_cells = 2 * 2 * 2  # EM's two rows
    elif change == "recipe":
        monkeypatch.setitem(SETTINGS, 1, Setting(1, "mse", tiny.rows, Recipe(1, "sinusoid", F=2, I=3, N=3, kappa=0.9)))
    elif change == "law":
        monkeypatch.setattr(settings, "LAW_VERSION", 0)
    paper.table(1, quick=change != "quick", folder=tmp_path, jobs=1)
    assert len(ran) == n_cells


def test_the_same_computation_in_two_tables_is_done_once(tiny, ran):
    store = paper.Store()
    tables = paper.run_tables([1, 6], 2, True, store, jobs=1)
    assert len(ran) == 4 * 2 * 2
    assert tables[0]["rand-em", 100].measured == tables[1]["a", 100].measured == tables[1]["b", 100].measured
    assert {line["table"] for line in store.results.values()} == {1}


def test_workers_give_the_same_as_one_process(tiny):
    alone, together = (paper.table(1, quick=True, jobs=jobs) for jobs in (1, 2))
    assert [entry.measured for entry in alone.entries] == [entry.measured for entry in together.entries]


def test_what_is_finished_stays_when_a_run_is_stopped(tiny, tmp_path, monkeypatch):
    finished = itertools.count()

    def run(cell):
        if next(finished) == 5:
            raise KeyboardInterrupt
        return cells.run(cell)

    monkeypatch.setattr(running, "run", run)
    with pytest.raises(KeyboardInterrupt):
        paper.table(1, quick=True, folder=tmp_path, jobs=1)
    assert len((tmp_path / "cells.jsonl").read_text().splitlines()) == 5


# When projections help


def small_inversions():
    return inversions.compare_inversions(seeds=4, samples=(100, 10000))


def test_divergence_against_its_definition():
    p, q = np.array([[0.5, 0.5, 0.0]]), np.array([[0.25, 0.25, 0.5]])
    m = (p + q) / 2
    by_hand = (0.5 * np.log(0.5 / m[0, 0]) * 2 + 0.25 * np.log(0.25 / m[0, 0]) * 2 + 0.5 * np.log(0.5 / m[0, 2])) / 2
    assert inversions.jensen_shannon(p, q) == pytest.approx(by_hand)
    assert inversions.jensen_shannon(p, p) == 0
    assert inversions.squared_error(p, p) == 0


def test_smoothing_helps_smooth_tables_and_few_samples_only():
    found = small_inversions()
    assert found.best("smooth", 100).startswith("FBP")
    assert {found.best(density, 10000) for density in inversions.DENSITIES} == {"pair counts"}
    assert not found.best("nominal", 100).startswith("FBP")
    assert len(found.to_pandas()) == len(found.entries) == 3 * 10 * 2
    # the nominal tables are the smooth ones with other numbers, so the uniform table is as far from both
    far = {e.density: e.divergence for e in found.entries if e.estimator == "uniform table"}
    assert far["smooth"] == pytest.approx(far["nominal"])


# Out to people


@pytest.fixture
def run(capsys):
    """Run the command line; return exit status, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["paper", *arguments])
        out, err = capsys.readouterr()
        return end.value.code, out, err

    return run


def test_the_command_writes_tables_page_and_pictures(tiny, run, tmp_path):
    folder = tmp_path / "results"
    status, out, err = run("--quick", "--jobs", "1", "-o", str(folder))
    assert (status, err) == (0, f"wrote {folder / 'paper.md'}\n")
    assert out.startswith("Table 1. MSE for PMFs for F = 25, I = 10, N = 6, κ = 1. QUICK RUN, cut short")
    names = {f"table_{n}.{kind}" for n in (1, 6) for kind in ("csv", "json", "png")}
    assert {path.name for path in folder.iterdir()} == {"paper", "paper.md"}
    folder /= "paper"
    assert {path.name for path in folder.iterdir()} == names | {
        "cells.jsonl",
        "inversions.png",
        "inversions.csv",
    }
    frame = pd.read_csv(folder / "table_1.csv")
    written = json.loads((folder / "table_1.json").read_text())
    assert frame["measured"].tolist() == pytest.approx([entry["measured"] for entry in written["entries"]])
    assert written["quick"] is True
    assert frame["quick"].all()
    assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in names if name.endswith("png"))


def test_the_page_has_every_cell_filled(tiny):
    tables = paper.run_tables([1, 6], 2, False, paper.Store(), jobs=1)
    text = page(tables, small_inversions())
    for table in tables:
        part = text.split(f"## Table {table.setting.number}:")[1].split("\n## ")[0]
        first = [line for line in part.split("![")[0].splitlines() if line.startswith("| ")][2:]
        lines = [line for line in first if "**" not in line]
        assert len(lines) == len(table.rows())
        for line, row in zip(lines, table.rows(), strict=True):
            assert row[0].label in line
            for cell, entry in zip(line.strip("|").split("|")[1:], row, strict=True):
                printed, measured = cell.split("/")
                assert (printed.strip() == "–") == (entry.printed is None)
                assert float(measured.split("±")[0]) == pytest.approx(entry.measured, rel=0.01)
    assert "Quick run" not in text
    assert text.count("![") == 3


def test_words_stand_below_their_tables_of_full_runs_only(tiny, monkeypatch):
    monkeypatch.setitem(commentary.TABLES, 1, "What agrees, and why.")
    for quick in (False, True):
        table = paper.table(1, quick=quick, jobs=1)
        assert ("What agrees, and why." in page([table], small_inversions())) is not quick


def test_the_page_keeps_tables_of_earlier_runs(tiny, run, tmp_path, monkeypatch):
    monkeypatch.setattr("juror.paper.page.write_picture", lambda figure, path: None)
    for number in ("6", "1"):
        assert run("--quick", "--jobs", "1", "--table", number, "-o", str(tmp_path))[0] == 0
    text = (tmp_path / "paper.md").read_text()
    assert "## Table 1:" in text
    assert "## Table 6:" in text


def test_json_on_stdout(tiny, run):
    status, out, _ = run("--quick", "--jobs", "1", "--table", "1", "--json")
    assert status == 0
    assert [table["table"] for table in json.loads(out)["tables"]] == [1]


def test_mistakes_are_sentences(run, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    wrong = {
        ("--table", "8"): "juror: The paper has tables 1 to 7. Got 8 instead.\n",
        ("--seeds", "0"): "juror: --seeds must be an int in the range [1, inf). Got 0 instead.\n",
        ("--jobs", "0"): "juror: --jobs must be an int in the range [1, inf). Got 0 instead.\n",
        ("-o", str(file)): f"juror: {str(file)!r} is not a folder. Name one for the results with --output.\n",
    }
    for arguments, sentence in wrong.items():
        assert run(*arguments) == (2, "", sentence)
    with pytest.raises(JurorError, match="is not a folder, and results are kept in one"):
        paper.table(1, folder=file)
    with pytest.raises(ParameterError, match=r"The paper has tables 1 to 7\. Got 0 instead\."):
        paper.table(0, folder=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_pictures_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r"Run pip install 'juror\[plots\]'\."):
        check_matplotlib()


def test_the_grids_stay_within_what_pairs_can_carry():
    assert max(settings.FULL.ranks["car"]["pairs"]) <= 10
    assert max(settings.FULL.ranks["mushroom"]["pairs"]) <= 45


class TestLimit:
    @pytest.mark.parametrize("size", [2, 3, 10, 25])
    def test_the_prior_has_the_variance_of_scaled_uniforms(self, size):
        a = matched_concentration(size)
        uniform = np.random.default_rng(99).random((100_000, size))
        variance = np.var(uniform / uniform.sum(axis=1, keepdims=True))
        assert (1 / size) * (1 - 1 / size) / (size * a + 1) == pytest.approx(variance, rel=0.02)

    def test_without_rows_to_speak_of_the_mean_is_the_prior_mean(self):
        recipe = recipes.Recipe(2, "uniform", F=2, I=3, N=3)
        holes = np.full((1, 3), -1)
        mean = posterior_mean(holes, recipe.truth(0), 0, sweeps=3000, burnt=0, thin=1)
        np.testing.assert_allclose(mean.marginal("x0").to_numpy(), 1 / 3, atol=0.02)

    def test_it_is_closer_to_the_truth_than_what_does_not_know_the_law(self):
        recipe = recipes.Recipe(2, "uniform", F=3, I=4, N=3)
        errors = np.zeros(2)
        for seed in range(8):
            truth, codes = recipe.truth(seed), recipe.rows(200, seed)
            limit = posterior_mean(codes, truth, seed, sweeps=300, burnt=100)
            known = juror.fit(codes, 3, "em", init=truth, smoothing=0.0, domain=recipe.domain)
            errors += tensor_error(truth, limit), tensor_error(truth, known)
            again = posterior_mean(codes, truth, seed, sweeps=300, burnt=100)
            assert np.array_equal(again.weights, limit.weights)
        assert errors[0] < 0.8 * errors[1]
