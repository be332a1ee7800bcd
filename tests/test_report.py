"""The facts of a report, and the page as a file. test_explorer.py opens the page in a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import juror
from juror.cli.app import main
from juror.errors import ParameterError
from juror.report import Report, carried_pairs, page_model
from juror.report.facts import _WORK_ON_CLASSES
from juror.report.page_model import compressed_in_time, is_too_large, make_page_model, rounded
from juror.testing import dense, random_forest_model, random_model

PEOPLE = juror.datasets.titanic()


@pytest.fixture(scope="module")
def model():
    return juror.fit(PEOPLE, rank=4, method="em")


@pytest.fixture(scope="module")
def drawn():
    """A mean of many draws."""
    return juror.fit(PEOPLE[:200])


def embedded(html: str) -> dict:
    """Read the facts back from a page."""
    (text,) = re.findall(r'<script type="application/json" id="facts">(.*?)</script>', html, re.DOTALL)
    return json.loads(text)


def test_facts_are_json_and_say_what_the_model_says(model):
    known = json.loads(json.dumps(Report(model, PEOPLE).facts, allow_nan=False))
    assert [variable["name"] for variable in known["variables"]] == list(model.domain.names)
    for variable in known["variables"]:
        assert variable["probabilities"] == model.marginal(variable["name"]).to_numpy().tolist()
    (block,) = known["model"]["blocks"]
    assert block["weights"] == model.weights.tolist()
    assert block["tables"] == [[factor.tolist()] for factor in model.factors]
    assert block["parents"] == [-1] * 4
    assert known["forest"] is None
    assert known["model"]["n_parameters"] == model.info.n_parameters
    assert known["dependence"]["matrix"] == model.dependence().to_numpy().tolist()
    assert sorted(known["dependence"]["order"]) == [0, 1, 2, 3]
    assert known["fit"]["bic"] == model.info.bic
    assert known["observed"]["n_rows"] == len(PEOPLE)


def test_a_model_that_was_not_fitted_has_a_report(tmp_path):
    bare = juror.JointPMF([1.0], [[[1.0]]])
    report = Report(bare)
    assert report.facts["fit"] is None
    assert report.facts["observed"] is None
    report.save(tmp_path / "bare.html")
    assert (tmp_path / "bare.html").read_text().startswith("<!doctype html>")


def held_blocks(html: str) -> list[tuple[np.ndarray, list[int], list[np.ndarray]]]:
    """Read the weights, parents and tables of the blocks back from a page of doubles."""
    found = []
    for block in embedded(html)["model"]["blocks"]:
        weights, numbers = (np.frombuffer(base64.b64decode(block[name]), dtype="<f8") for name in ("weights", "tables"))
        above = [1 if parent < 0 else block["sizes"][parent] for parent in block["parents"]]
        shapes = [(rows, size, len(weights)) for rows, size in zip(above, block["sizes"], strict=True)]
        parts = np.split(numbers, np.cumsum([np.prod(shape) for shape in shapes])[:-1])
        found.append((weights, block["parents"], [part.reshape(s) for part, s in zip(parts, shapes, strict=True)]))
    return found


@pytest.mark.parametrize("zeros", [0.0, 0.4])
def test_the_page_holds_the_model_to_the_last_bit(zeros):
    rng = np.random.default_rng(0)
    for model in (
        random_model([3, 4, 2], 5, rng, zeros=zeros),
        random_forest_model([3, 4, 2], [2, 3], rng, hidden=[2], zeros=zeros),
    ):
        html = Report(model).to_html()
        for block, (weights, parents, tables) in zip(model.blocks, held_blocks(html), strict=True):
            assert np.array_equal(weights, block.weights)
            assert parents == list(block.forest.parents)
            assert all(np.array_equal(one, other) for one, other in zip(tables, block.tables, strict=True))
        half = np.frombuffer(base64.b64decode(embedded(html)["dependence"]["matrix"]), dtype="<f4")
        assert np.array_equal(half, model.dependence().to_numpy()[np.triu_indices(3, k=1)].astype(np.float32))


def test_only_the_page_s_own_script_and_style_may_run(model):
    html = Report(model).to_html()
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)">', html)
    assert policy.startswith("default-src 'none'")
    for tag, directive in (('<script type="module">', "script-src"), ("<style>", "style-src")):
        text = html.partition(tag)[2].partition("</script>" if "script" in tag else "</style>")[0]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert set(re.findall(r"""https?://[^\s"'<>]+""", html)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"""<(?:link|script|img)[^>]+(?:src|href)=["'](?!data:)""", html)


def test_a_label_cannot_end_the_page_s_data():
    hostile = "</script><script>alert(1)</script>"
    domain = juror.Domain.infer({hostile: [hostile, "x"]})
    html = Report(juror.JointPMF([1.0], [[[0.5], [0.5]]], domain), name=f"{hostile}.juror").to_html()
    assert "alert(1)</script>" not in html
    assert embedded(html)["variables"][0]["name"] == hostile


def test_a_large_model_is_carried_by_a_near_one_and_the_page_says_how_near():
    rng = np.random.default_rng(0)
    model = random_model([4, 3, 5], 40, rng, concentration=3.0)
    taken = make_page_model(model, 4, seed=0)
    assert taken.model.rank == 4
    p, q = dense(model), dense(taken.model)
    assert taken.loss == pytest.approx(float((p * np.log(p / q)).sum()), abs=1e-9)
    pairs = [(p.sum(axis=n), q.sum(axis=n)) for n in range(3)]
    assert taken.pair_difference == pytest.approx(max(np.abs(a - b).max() for a, b in pairs), abs=1e-12)
    notice = "This page shows a smaller model near the fitted one"
    assert notice in Report(model, rank=4).to_html()
    assert notice not in Report(model).to_html()


@pytest.mark.parametrize(("rank", "bits"), [(250, 64), (500, 32), (900, 16)])
def test_a_page_stays_below_two_megabytes(rank, bits):
    large = random_model([10] * 40, rank, np.random.default_rng(0))
    rows = large.sample(500, seed=1).assign(weight=np.random.default_rng(1).random(500))
    report = Report(large, rows, sample_weight="weight")
    known = report.facts["model"]
    assert (known["rank"], known["bits"]) == (rank, bits)
    assert known["pair_difference"] < {64: 1e-300, 32: 1e-8, 16: 1e-4}[bits]
    assert abs(known["loss"]) < {64: 1e-300, 32: 1e-6, 16: 1e-2}[bits]
    html = report.to_html()
    assert len(html.encode()) < 2_000_000
    assert ("rounded to three digits" in html.partition("<script")[0]) == (bits == 16)


def test_all_classes_are_kept_where_they_are_wanted(monkeypatch):
    monkeypatch.setattr(page_model, "_MODEL_BYTES", 1_000)
    model = random_model([4, 5, 3], 100, np.random.default_rng(0))
    assert Report(model, rank="all").facts["model"]["rank"] == 100
    assert Report(model).facts["model"]["rank"] < 100


def test_a_page_of_many_variables_leaves_room_for_all_pairs():
    report = Report(random_model([4] * 400, 70, np.random.default_rng(0)))
    assert report.facts["model"]["rank"] == 70
    assert len(report.to_html().encode()) < 2_000_000


def test_a_forest_of_many_variables_keeps_its_classes():
    rng = np.random.default_rng(0)
    model = random_forest_model([5] * 86, [40] * 4, rng, edges=1.0)
    report = Report(model)
    known = report.facts["model"]
    assert (known["rank"], known["fitted_rank"], known["bits"]) == (160, 160, 16)
    assert known["pair_difference"] < 1e-4
    html = report.to_html()
    assert len(html.encode()) < 2_000_000
    assert "rounded to three digits" in html
    assert "a smaller model" not in html


def test_a_forest_that_is_too_large_is_compressed(monkeypatch):
    monkeypatch.setattr(page_model, "_MODEL_BYTES", 2_000)
    model = random_forest_model([3, 4, 2, 3], [20, 30], np.random.default_rng(0))
    page = make_page_model(model, "auto", 0)
    assert page.model.rank < 50
    assert sum(len(block["tables"]) + len(block["weights"]) for block in page.packed) < 2_000
    p, q = dense(model), dense(page.model)
    assert page.loss == pytest.approx(float((p * np.log(p / q)).sum()), abs=1e-5)
    pairs = [model.domain.names[i] for i in (0, 2)]
    apart = np.abs(model.marginal(*pairs).to_numpy() - page.model.marginal(*pairs).to_numpy()).max()
    assert apart <= page.pair_difference + 1e-12


@pytest.mark.parametrize(("bits", "error"), [(32, 2e-7), (16, 2e-3)])
def test_rounding_keeps_zeros_and_what_is_above_them(bits, error):
    rng = np.random.default_rng(1)
    model = random_forest_model([3, 4, 2, 3], [2, 2], rng, zeros=0.3)
    tables = [np.where(table > 0, np.maximum(table, 1e-300), 0.0) for table in model.blocks[0].tables]
    tables[0] = np.array([1e-60, 1.0, 0.0])[None, :, None] * np.ones_like(tables[0])
    first = replace(model.blocks[0], tables=tuple(tables))
    model = juror.JointPMF.of_blocks([first, *model.blocks[1:]], model.domain)
    coarse = rounded(model, bits)
    for before, after in zip(model.blocks, coarse.blocks, strict=True):
        for one, other in zip(before.tables, after.tables, strict=True):
            assert np.array_equal(one > 0, other > 0)
            np.testing.assert_allclose(other, one, rtol=error, atol=2e-30)
    assert np.abs(dense(model) - dense(coarse)).max() < 3 * error


def test_the_forest_has_the_edges_of_the_heaviest_block():
    model = random_forest_model([3, 4, 2, 5, 2], [3, 2], np.random.default_rng(2), hidden=[3], edges=0.9)
    known = Report(model).facts["forest"]
    weights = [block.weights.sum() for block in model.blocks]
    assert known["block"] == int(np.argmax(weights))
    assert known["weight"] == pytest.approx(max(weights))
    edges = {tuple(sorted(edge)) for edge in model.blocks[known["block"]].forest.edges}
    assert {(edge["a"], edge["b"]) for edge in known["edges"]} == edges
    for edge in known["edges"]:
        if edge["b"] == 5:
            assert edge["information"] is None
        else:
            names = [model.domain[edge[end]].name for end in "ab"]
            assert edge["information"] == pytest.approx(model.mutual_information(*names), abs=1e-12)
    known_values = [edge["information"] for edge in known["edges"] if edge["information"] is not None]
    assert known_values == sorted(known_values, reverse=True)
    assert [node["name"] for node in known["layout"]["nodes"]] == [*model.domain.names, ""]


def test_a_model_that_is_too_large_is_compressed(monkeypatch):
    monkeypatch.setattr(page_model, "_MODEL_BYTES", 400)
    model = random_model([3, 4, 2], 20, np.random.default_rng(0))
    known = Report(model).facts["model"]
    assert [is_too_large(model, rank) for rank in ("auto", 19, "all", 20)] == [True, True, False, False]
    assert known["rank"] < known["fitted_rank"] == 20
    assert known["loss"] > 0


def test_a_fit_whose_rows_are_impossible_has_a_page():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = juror.fit(PEOPLE, rank=3, method="spa", smoothing=0.0)
    assert model.info.bic == np.inf
    known = embedded(Report(model).to_html())
    assert known["fit"]["bic"] is None


@pytest.mark.parametrize("rank", [2, 5, 30])
def test_the_distance_of_the_classes_shown_is_that_from_the_fitted_model(drawn, rank):
    model = drawn
    report = Report(model, rank=rank)
    shown = compressed_in_time(make_page_model(model, rank, seed=0).model, 12, 0, _WORK_ON_CLASSES)
    p, q = dense(model), dense(shown)
    assert report.facts["classes"]["compressed"]["loss"] == pytest.approx(float((p * np.log(p / q)).sum()), abs=1e-9)


def test_an_ensemble_of_few_classes_is_shown_by_those_of_one_member():
    model = juror.fit(PEOPLE, method="em", rank=4, ensemble=3)
    classes = Report(model).facts["classes"]
    assert (model.rank, classes["n_classes"], classes["compressed"]["rank"]) == (12, 4, 12)


@pytest.mark.parametrize("rank", [0, -1, "some", 2.5, True, None])
def test_a_rank_that_is_none_is_refused(model, rank):
    with pytest.raises(ParameterError, match=r"rank must be 'auto', 'all' or a whole number from 1. Got"):
        Report(model, rank=rank)


def test_classes_of_a_mean_of_draws_are_those_of_a_near_model(drawn):
    known = Report(drawn).facts["classes"]
    assert drawn.info.n_draws > 0
    assert known["n_classes"] == 12
    assert known["compressed"]["rank"] == drawn.rank
    assert sum(card["weight"] for card in known["profiles"]) == pytest.approx(1)


def run(*arguments: object, capsys) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return end.value.code or 0, out, err


@pytest.fixture
def files(tmp_path, model):
    model.save(tmp_path / "people.juror")
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def test_the_command_writes_the_page(files, capsys):
    code, out, err = run("report", files / "people.juror", "-o", files / "report.html", capsys=capsys)
    assert (code, out) == (0, "")
    assert re.fullmatch(r"wrote .*report\.html \(\d+ kB\) after [\d.]+ s\n", err)
    assert embedded((files / "report.html").read_text())["file"] == "people.juror"


def test_the_command_gives_the_facts_as_json(files, model, capsys):
    code, out, _ = run("report", files / "people.juror", files / "people.csv", "--json", capsys=capsys)
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(Report(model, PEOPLE, name="people.juror").facts))


def test_weights_and_dropped_columns_of_the_data(files, capsys):
    counted = PEOPLE.value_counts().reset_index(name="n").assign(note="x")
    counted.to_csv(files / "counted.csv", index=False)
    arguments = ("report", files / "people.juror", files / "counted.csv", "--weight", "n", "--drop", "note", "--json")
    code, out, _ = run(*arguments, capsys=capsys)
    assert code == 0
    assert json.loads(out)["observed"]["n_rows"] == len(PEOPLE)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "juror: Say where the page goes, -o report.html, or have its facts with --json: one of the two.\n"),
        (["-o", "x.html", "--json"], "juror: Say where the page goes"),
        (["-o", "x.pdf"], "juror: --output must end in .html. Got 'x.pdf' instead.\n"),
        (["-o", "none/x.html"], "juror: There is no folder 'none' to write 'none/x.html' into. Make it first.\n"),
        (["-o", "x.html", "--weight", "n"], "juror: --weight is about DATA, and there is none."),
        (["-o", "x.html", "--unknown", "missing"], "juror: --unknown is about DATA, and there is none."),
        (["-o", "x.html", "--encoding", "latin-1"], "juror: --encoding is about DATA, and there is none."),
        (
            ["-o", "x.html", "--rank", "many"],
            "juror: --rank must be 'auto', 'all' or a whole number from 1. Got 'many'",
        ),
        (["absent.csv", "-o", "x.html"], "juror: There is no file"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(files, capsys, monkeypatch, arguments, sentence):
    monkeypatch.chdir(files)
    before = sorted(files.iterdir())
    code, out, err = run("report", "people.juror", *arguments, capsys=capsys)
    assert (code, out) == (2, "")
    assert err.startswith(sentence)
    assert sorted(files.iterdir()) == before


def test_labels_that_the_model_does_not_know(files, capsys):
    (files / "strange.csv").write_text("Class,Sex\n1st,Female\nZeroth,Male\n")
    arguments = ("report", files / "people.juror", files / "strange.csv", "--json")
    code, out, err = run(*arguments, capsys=capsys)
    assert (code, out) == (2, "")
    assert "holds 'Zeroth' in row 1" in err
    code, out, _ = run(*arguments, "--unknown", "missing", capsys=capsys)
    assert code == 0
    assert json.loads(out)["observed"]["missing"][0] == 0.5


def test_the_demo_leaves_a_page(tmp_path, monkeypatch, capsys):
    from juror.cli import demo

    monkeypatch.chdir(tmp_path)
    demo.main()
    assert "open it in a browser" in capsys.readouterr().out
    held = embedded((tmp_path / "demo" / "titanic.html").read_text())
    assert held["observed"]["n_rows"] == len(PEOPLE)


def test_intervals_of_single_variables_are_counted_in_the_room_of_a_page(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(5_000, 4))
    model = juror.fit(pd.DataFrame(rows).add_prefix("x"), method="em", rank=1, bins=128)
    monkeypatch.setattr(carried_pairs, "_PAGE_BYTES", 0)
    alone = len(Report(model).to_html().encode())
    for more in (10_000, 20_000, 30_000, 40_000):
        monkeypatch.setattr(carried_pairs, "_PAGE_BYTES", alone + more)
        report = Report(model)
        assert report.facts["pairs"]["counts"]
        assert len(report.facts["variables"][0]["low"]) == 128
        assert len(report.to_html().encode()) <= alone + more
