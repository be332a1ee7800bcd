from __future__ import annotations

import io
import json
import subprocess
import sys
from datetime import date, timedelta
from importlib.metadata import version

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import juror
from juror.cli.output import write_columns, write_frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table, the same with holes, and a model of it."""
    folder = tmp_path_factory.mktemp("cli")
    people = juror.datasets.titanic().astype("str")
    people.to_csv(folder / "people.csv", index=False)
    people.to_parquet(folder / "people.parquet", index=False)
    holes = people.head(300).mask(np.random.default_rng(0).random((300, 4)) < 0.3)
    holes.to_csv(folder / "holes.csv", index=False)
    juror.fit(people, rank=4, target="Survived").save(folder / "people.juror")
    return folder


@pytest.fixture(scope="module")
def model(folder):
    return juror.load(folder / "people.juror")


def frame_of(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text))


@pytest.mark.parametrize("source", ["people.csv", "people.parquet"])
def test_fit_writes_what_the_library_fits(run, folder, source):
    status, out, err = run("fit", source, "-o", "new.juror", "--rank", "3", "--target", "Survived", "--starts", "2")
    assert status == 0
    assert "A joint distribution of 4 variables, rank 3" in out
    assert err.startswith("wrote new.juror")
    written = juror.load(folder / "new.juror")
    expected = juror.fit(folder / source, rank=3, n_init=2, target="Survived")
    np.testing.assert_array_equal(written.weights, expected.weights)
    assert written.info == expected.info


def test_fit_by_a_method_of_the_paper(run, folder):
    options = ("--method", "juror-a", "--rank", "2", "--directions", "30", "--inversion", "fbp", "--rho", "5")
    status, out, err = run("fit", "people.csv", "-o", "paper.juror", *options)
    assert status == 0
    assert "misfit along G3" in out
    assert "juror: warning: The labels of ['Class'] have no order" in err
    with pytest.warns(juror.DataWarning):
        expected = juror.fit(folder / "people.csv", 2, "juror-a", n_directions=30, inversion="fbp", rho=5)
    np.testing.assert_array_equal(juror.load(folder / "paper.juror").weights, expected.weights)


def test_fit_with_weights_markers_bins_and_dropped_columns(run, folder):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": range(300), "x": rng.normal(size=300), "y": rng.choice(["a", "b", "?"], size=300)})
    table.assign(n=rng.integers(1, 4, size=300)).to_csv(folder / "weighted.csv", index=False)
    options = ("--missing", "?", "--drop", "id", "--weight", "n", "--bins", "4", "--rank", "2", "--json")
    status, out, _ = run("fit", "weighted.csv", "-o", "weighted.juror", *options)
    assert status == 0
    facts = json.loads(out)
    assert [(v["name"], v["kind"], len(v["labels"])) for v in facts["variables"]] == [
        ("x", "binned", 4),
        ("y", "nominal", 2),
    ]
    assert facts["fit"]["n_rows"] == frame_of((folder / "weighted.csv").read_text())["n"].sum()


def test_the_numbers_of_a_target_are_labels_as_in_python(run, folder):
    grades = pd.DataFrame({"grade": [*range(12)] * 3 + [12], "size": [*range(12)] * 3 + [12]})
    grades.to_csv(folder / "grades.csv", index=False)
    fit = ("fit", "grades.csv", "--rank", 2, "--method", "em", "-o", "grades.juror")
    assert run(*fit, "--target", "grade")[0] == 0
    found = juror.load(folder / "grades.juror").domain
    assert [variable.kind for variable in found] == ["ordinal", "binned"]
    assert found == juror.fit(folder / "grades.csv", 2, "em", target="grade").domain


def test_numbers_have_as_many_intervals_as_in_python(run, folder):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1200, 1))
    pd.DataFrame(z + 0.3 * rng.normal(size=(1200, 4))).round(3).add_prefix("x").to_csv(
        folder / "numbers.csv", index=False
    )
    assert run("fit", "numbers.csv", "-o", "numbers.juror")[0] == 0
    found = juror.load(folder / "numbers.juror").domain
    # a fit along hidden trees reads the table again, with more intervals
    assert min(found.cardinalities) > 32
    assert found == juror.fit(folder / "numbers.csv").domain


def test_ask_writes_csv_or_json(run, model):
    question = "Survived | Sex = Female, Class in {1st, 2nd}"
    expected = model.ask(question).to_pandas()
    status, out, _ = run("ask", "people.juror", question)
    assert status == 0
    pd.testing.assert_frame_equal(frame_of(out), expected, check_dtype=False)
    _, out, _ = run("ask", "people.juror", question, "--json")
    assert json.loads(out) == expected.to_dict(orient="records")


@pytest.mark.parametrize(
    "event",
    ["Survived = Yes | Sex = Female", "P(not Sex = Male, Survived in {Yes})", "Class in {1st, 2nd} | Sex != Male"],
)
def test_ask_gives_the_probability_of_conditions(run, model, monkeypatch, event):
    status, out, err = run("ask", "people.juror", event)
    assert (status, err) == (0, "")
    assert frame_of(out).to_dict("list") == {"probability": [pytest.approx(model.prob(event))]}
    _, out, _ = run("ask", "people.juror", event, "--json")
    assert json.loads(out) == {"probability": pytest.approx(model.prob(event))}
    status, _, err = run("ask", "people.juror", event, "people.csv")
    assert status == 2
    assert "Leave out DATA and --interval" in err
    status, _, err = run("ask", "people.juror", event.replace("Yes", "Maybe").replace("1st", "Maybe"))
    assert status == 2
    assert "has no label 'Maybe'" in err
    monkeypatch.setattr("juror.cli.terminal.sys.stdout.isatty", lambda: True, raising=False)
    assert run("ask", "people.juror", event)[1] == f"probability {model.prob(event):.4g}\n"


def test_columns_are_written_as_frames_are(capsysbinary):
    columns = {"a, b": ['say "x"', "", "ü\n"], "n": [1, 2, 3], "p": [0.1, 1e-17, 1 / 3], "flag": [True, False, True]}
    for as_json in (False, True):
        write_columns(columns, as_json)
        ours = capsysbinary.readouterr().out
        write_frame(pd.DataFrame(columns), None, as_json)
        assert ours == capsysbinary.readouterr().out


def test_ask_shows_a_picture_on_a_terminal(run, monkeypatch):
    monkeypatch.setattr("juror.cli.terminal.sys.stdout.isatty", lambda: True, raising=False)
    _, out, _ = run("ask", "people.juror", "Sex")
    assert out.startswith("P(Sex)\nSex     probability   share   rows\n")
    assert "█" in out


def test_info(run, model):
    _, out, _ = run("info", "people.juror")
    assert "Survived  nominal       2  No, Yes" in out
    assert "made to predict Survived" in out
    _, out, _ = run("info", "people.juror", "--json")
    assert json.loads(out)["fit"]["bic"] == model.info.bic


def test_sample_to_stdout_and_to_files(run, folder, model):
    expected = model.sample(20, given={"Survived": "Yes"}, seed=3)
    options = ("-n", "20", "--given", "Survived = Yes", "--seed", "3")
    _, out, _ = run("sample", "people.juror", *options)
    pd.testing.assert_frame_equal(frame_of(out), expected)
    assert run("sample", "people.juror", *options, "-o", "drawn.parquet")[0] == 0
    pd.testing.assert_frame_equal(pd.read_parquet(folder / "drawn.parquet"), expected)


def test_impute_fills_the_holes_and_nothing_else(run, folder):
    assert run("impute", "people.juror", "holes.csv", "-o", "filled.csv")[0] == 0
    holes, filled = pd.read_csv(folder / "holes.csv"), pd.read_csv(folder / "filled.csv")
    assert not filled.isna().any().any()
    assert (filled.where(holes.notna()) == holes).where(holes.notna(), other=True).all().all()


def test_impute_draws_go_to_numbered_files(run, folder):
    assert run("impute", "people.juror", "holes.csv", "--draws", "2", "-o", "draw.csv")[0] == 0
    first, second = pd.read_csv(folder / "draw.1.csv"), pd.read_csv(folder / "draw.2.csv")
    assert not first.equals(second)
    status, _, err = run("impute", "people.juror", "holes.csv", "--draws", "2")
    assert status == 2
    assert err == "juror: --draws 2 makes 2 tables, which need files: name one with --output.\n"


def test_predict_and_score(run, folder, model):
    people = pd.read_csv(folder / "people.csv")
    _, out, _ = run("predict", "people.juror", "people.csv")
    np.testing.assert_array_equal(frame_of(out)["Survived"], model.predict(people))
    _, out, _ = run("predict", "people.juror", "people.csv", "--target", "Sex", "--proba")
    np.testing.assert_allclose(frame_of(out)["P(Sex = Female)"], model.predict_proba(people, target="Sex")[:, 0])
    _, out, _ = run("score", "people.juror", "people.csv", "--json")
    assert json.loads(out)["mean_log_prob"] == pytest.approx(model.log_prob(people).mean())
    _, out, _ = run("score", "people.juror", "people.csv", "--rows")
    np.testing.assert_allclose(frame_of(out)["log_prob"], model.log_prob(people))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("ask", "none.juror", "Sex"), "There is no model file 'none.juror'. Check the path."),
        (("ask", "people.csv", "Sex"), "The file 'people.csv' is one of data, not a juror model. Name the file"),
        (("ask", "people.juror", "Sx"), "There is no variable 'Sx'. Did you mean 'Sex'?\n  Sx\n  ^^"),
        (("fit", "none.csv", "-o", "x.juror"), "There is no file or folder 'none.csv'. Check the path."),
        (("fit", "people.juror", "-o", "x.juror"), "The file 'people.juror' holds a model, and juror fits models to"),
        (("fit", "people.csv", "-o", "none/x.juror"), "There is no folder 'none' to write 'none/x.juror' into."),
        (
            ("fit", "people.csv", "-o", "x.juror", "--rank", "many"),
            "--rank must be 'auto', 'cv' or a whole number from 1.",
        ),
        (
            ("fit", "people.csv", "-o", "x.juror", "--rank", "0"),
            "--rank must be 'auto', 'cv' or an int in the range [1, inf).",
        ),
        (
            ("fit", "people.csv", "-o", "x.juror", "--method", "magic"),
            "--method must be one of ['auto', 'tree', 'em', 'bayes', 'pair-em', 'spa', 'spa-em', 'ctf', 'juror-a', "
            "'juror-b', 'juror-c'].",
        ),
        (
            ("fit", "people.csv", "-o", "x.juror", "--drop", "Clas"),
            "--drop names no column 'Clas'. Did you mean 'Class'?",
        ),
        (
            ("fit", "people.csv", "-o", "x.juror", "--target", "Clas"),
            "There is no variable 'Clas'. Did you mean 'Class'?",
        ),
        (("fit", "people.csv", "-o", "x.juror", "--weight", "Class"), "Column 'Class' must hold a number in every row"),
        (("sample", "people.juror", "-n", "-1"), "-n must be an int in the range [0, inf). Got -1 instead."),
        (("sample", "people.juror", "-o", "x.xlsx"), "--output must end in one of ['.csv', '.json', '.parquet']."),
        (("sample", "people.juror", "--given", "Sex ="), "A label is missing here.\n  Sex =\n       ^"),
        (("score", "people.juror", "people.csv", "--unknown", "guess"), "--unknown must be error, warn or missing."),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(run, folder, arguments, sentence):
    before = sorted(folder.iterdir())
    status, out, err = run(*arguments)
    assert status == 2
    assert out == ""
    assert err.startswith(f"juror: {sentence}")
    assert "Traceback" not in err
    assert sorted(folder.iterdir()) == before


def test_usage_mistakes_are_status_2(run):
    assert run("fit")[0] == 2
    assert run("dance")[0] == 2


def test_debug_shows_the_traceback_wherever_it_stands(run):
    status, _, err = run("ask", "people.juror", "Sx", "--debug")
    assert status == 2
    assert "Traceback (most recent call last)" in err


def test_a_bug_of_ours_is_told_apart(run, monkeypatch):
    monkeypatch.setattr("juror.model.load", lambda path: 1 / 0)
    status, _, err = run("ask", "people.juror", "Sex")
    assert status == 1
    assert err == (
        "juror: unexpected ZeroDivisionError: division by zero. This is a bug; run with --debug for the traceback.\n"
    )


def test_warnings_are_sentences_on_stderr(run, folder):
    pd.DataFrame({"a": ["x"] * 40, "b": ["u", "v"] * 20}).to_csv(folder / "constant.csv", index=False)
    status, _, err = run("fit", "constant.csv", "-o", "constant.juror", "--rank", "1")
    assert status == 0
    assert err.startswith("juror: warning: Column 'a' is constant: its only label is 'x'.")


def test_the_progress_bar_is_drawn_only_on_a_terminal(run, monkeypatch):
    from juror.cli import bar

    with bar.progress_bar() as silent:
        assert silent is None
    monkeypatch.setattr("juror.cli.terminal.sys.stderr.isatty", lambda: True, raising=False)
    with bar.progress_bar() as draw:
        draw(juror.Progress("choosing rank", 3, 1, 2, 10, 100, -2.5))


def test_a_pipe_that_closes_early_is_no_cause_for_words(folder):
    command = [sys.executable, "-m", "juror", "sample", "people.juror", "-n", "200000"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"Class,Sex,Age,Survived\n"
        process.stdout.close()
        assert process.stderr.read() == b""


def test_version(run):
    assert run("--version")[1].strip() == version("juror") == juror.__version__


def test_labels_that_look_like_numbers_stay_text(run, folder):
    """A part of a table may look like numbers or booleans where the whole does not."""
    whole = pd.DataFrame({"code": ["007", "012", "x1"] * 20, "flag": ["true", "no", "true"] * 20})
    whole.to_csv(folder / "codes.csv", index=False)
    whole.iloc[:2].assign(flag="true").to_csv(folder / "part.csv", index=False)
    assert run("fit", "codes.csv", "-o", "codes.juror", "--rank", "2")[0] == 0
    status, out, _ = run("score", "codes.juror", "part.csv", "--json")
    assert status == 0
    assert json.loads(out)["impossible_rows"] == 0


def test_a_column_that_cannot_be_read_can_be_dropped(run, folder):
    pq.write_table(pa.table({"took": [timedelta(1), timedelta(2)], "a": ["x", "y"]}), folder / "took.parquet")
    status, _, err = run("fit", "took.parquet", "-o", "took.juror", "--rank", "1")
    assert status == 2
    assert "'took' holds durations or times of day" in err
    assert run("fit", "took.parquet", "-o", "took.juror", "--rank", "1", "--drop", "took")[0] == 0


def test_a_column_of_dates_is_fitted(run, folder):
    (folder / "dates.csv").write_text("when,a\n2026-01-01,x\n2026-01-02,y\n")
    assert run("fit", "dates.csv", "-o", "dates.juror", "--rank", "1")[0] == 0
    _, out, _ = run("sample", "dates.juror", "-n", "20")
    drawn = [date.fromisoformat(line.split(",")[0]) for line in out.splitlines()[1:]]
    assert len(drawn) == 20
    assert {day.year for day in drawn} <= {2025, 2026}


def test_impute_leaves_the_cells_of_a_file_as_they_are_written(run, folder):
    (folder / "zip.csv").write_text("zip,price,ok\n" + "06000,1.50,true\n07000,2.5,false\n" * 20 + ",1.50,\n")
    assert run("fit", "zip.csv", "-o", "zip.juror", "--rank", "2")[0] == 0
    _, out, _ = run("impute", "zip.juror", "zip.csv")
    assert out.splitlines()[:3] == ["zip,price,ok", "06000,1.50,true", "07000,2.5,false"]
    assert out.splitlines()[-1] == "06000,1.50,True"


def test_infinities_are_null_in_json(run, folder):
    model = juror.JointPMF([1.0], [[[1.0], [0.0]]], juror.Domain((juror.Variable("a", ("x", "y")),)))
    model.save(folder / "sure.juror")
    (folder / "impossible.csv").write_text("a\ny\n")
    _, out, _ = run("score", "sure.juror", "impossible.csv", "--json")
    assert json.loads(out) == {"rows": 1, "mean_log_prob": None, "impossible_rows": 1}


def test_json_goes_into_json_files_only(run):
    status, _, err = run("sample", "people.juror", "-o", "x.csv", "--json")
    assert status == 2
    assert err == "juror: --json writes JSON, so --output must end in .json. Got 'x.csv' instead.\n"


def test_a_model_is_not_written_over_data(run, folder):
    before = (folder / "people.csv").read_bytes()
    status, _, err = run("fit", "people.csv", "-o", "people.csv", "--rank", "2")
    assert status == 2
    assert err == "juror: 'people.csv' names a file of data, not of a model. Name it like 'people.juror'.\n"
    assert (folder / "people.csv").read_bytes() == before


def test_impute_from_csv_to_parquet_and_json(run, folder):
    (folder / "numbers.csv").write_text("f,s\n" + "1,x\n2,y\n" * 20 + ",x\nNaN,y\n")
    assert run("fit", "numbers.csv", "-o", "numbers.juror", "--rank", "2")[0] == 0
    assert run("impute", "numbers.juror", "numbers.csv", "-o", "numbers.parquet")[0] == 0
    assert pd.read_parquet(folder / "numbers.parquet")["f"].tolist() == [1, 2] * 21
    _, out, _ = run("impute", "numbers.juror", "numbers.csv", "--json")
    assert [row["f"] for row in json.loads(out)] == [1, 2] * 21
    _, out, _ = run("impute", "numbers.juror", "numbers.csv")
    assert out.splitlines()[-2:] == ["1,x", "2,y"]


def test_impute_keeps_the_types_of_a_parquet_file(run, folder):
    frame = pd.DataFrame({"n": pd.array([1, 2, None] * 20, dtype="Int8"), "c": pd.Categorical(["u", None, "v"] * 20)})
    frame.to_parquet(folder / "typed.parquet")
    assert run("fit", "typed.parquet", "-o", "typed.juror", "--rank", "2")[0] == 0
    assert run("impute", "typed.juror", "typed.parquet", "-o", "typed.filled.parquet")[0] == 0
    assert pd.read_parquet(folder / "typed.filled.parquet").dtypes.to_dict() == frame.dtypes.to_dict()


def test_options_are_named_as_the_command_line_names_them(run, folder):
    (folder / "strange.csv").write_text("Class\n4th\n")
    _, _, err = run("score", "people.juror", "strange.csv")
    assert err.endswith("Pass --unknown missing to treat it as missing.\n")


def test_no_rows_have_no_mean(run, folder):
    (folder / "header.csv").write_text("Class,Sex,Age,Survived\n")
    status, out, err = run("score", "people.juror", "header.csv")
    assert (status, out) == (2, "")
    assert err == "juror: There are no rows to score, so they have no mean. Give at least one.\n"
    # row by row there is nothing wrong with nothing
    assert run("score", "people.juror", "header.csv", "--rows")[:2] == (0, "log_prob\n")


def test_filled_times_have_the_form_of_their_column_and_offsets_are_told(run, folder):
    times = [f"2024-03-{day:02d}T{hour:02d}:30:00+02:00" for day in range(1, 29) for hour in range(4)]
    times[5] = times[50] = ""
    (folder / "zoned.csv").write_text("ward,at\n" + "".join(f"{'ab'[n % 2]},{at}\n" for n, at in enumerate(times)))
    status, _, err = run("fit", "zoned.csv", "-o", "zoned.juror", "--rank", "2", "--method", "em")
    assert status == 0
    assert "Column 'at' has times with an offset, such as '2024-03-01T00:30:00+02:00'" in err
    status, out, _ = run("impute", "zoned.juror", "zoned.csv")
    assert status == 0
    filled = frame_of(out)["at"]
    assert filled.str.fullmatch(r"2024-0[23]-\d\dT\d\d:\d\d:\d\d\+02:00").all()
    assert filled[0] == times[0]


def test_times_in_utc_and_without_a_zone_are_not_warned_of(run, folder):
    for zone in ("Z", "+00:00", ""):
        rows = "".join(f"{'ab'[n % 2]},2024-03-{n % 28 + 1:02d} 12:{n % 60:02d}{zone}\n" for n in range(120))
        (folder / "utc.csv").write_text("ward,at\n" + rows)
        status, _, err = run("fit", "utc.csv", "-o", "utc.juror", "--rank", "2", "--method", "em")
        assert (status, "offset" in err) == (0, False)


def fits(run, name):
    return run("fit", name, "-o", "odd.juror", "--rank", "2", "--method", "em")


def test_an_empty_column_at_the_end_of_lines_is_left_out(run, folder):
    (folder / "trail.csv").write_text("a,b,,\n" + "x,p,,\ny,q,,\n" * 10)
    status, out, err = fits(run, "trail.csv")
    assert (status, "of 2 variables" in out) == (0, True)
    assert "Columns without name and value are left out. Perhaps all lines end in a separator." in err


def test_bars_between_columns_are_found(run, folder):
    (folder / "bars.csv").write_text("a|b\n" + "x|p\ny|q\n" * 10)
    status, out, _ = fits(run, "bars.csv")
    assert (status, "of 2 variables" in out) == (0, True)


def test_one_column_whose_name_has_a_separator_is_warned_of(run, folder):
    (folder / "commas.csv").write_text("a,b\n" + "x,p\ny,q\n" * 10)
    status, _, err = run("fit", "commas.csv", "-o", "odd.juror", "--rank", "1", "--method", "em", "--separator", ";")
    assert status == 0
    assert "is read as one column, although its first line, 'a,b', contains ','. Pass --separator , if it" in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("fit", "people.csv", "-o", "x.juror", "--seed", "x"), "Invalid value for '--seed': it must be a whole"),
        (("fit", "people.csv"), "Missing option '-o' / '--output'."),
        (("fit", "people.csv", "-o", "x.juror", "--sed", "3"), "No such option: --sed"),
        (
            ("fit", "people.csv", "-o", "-"),
            "--output must be the name of a file, not '-'. Pass one, such as people.juror.",
        ),
        (("sample", "people.juror", "-o", "-"), "Leave --output out to write to stdout."),
        (("fit", "people.csv", "-o", ""), "--output must be a file. Got no name"),
        (("ask", "people.juror", "Sex", "--interval", "2"), "--interval must be a number in the range (0, 1). Got 2.0"),
        (("fit", "people.csv", "-o", "x.juror", "--rho", "3", "--method", "em"), "It has ['--smoothing', '--max-"),
    ],
)
def test_mistakes_are_told_in_a_line(run, arguments, sentence):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("juror: ")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_warning_is_shown_once(run, folder):
    (folder / "heavy.csv").write_text("a,w\n" + "x,4.5\ny,3.25\n" * 20)
    _, _, err = run("fit", "heavy.csv", "-o", "odd.juror", "--weight", "w", "--rank", "1", "--method", "em")
    assert err.count("--weight sums to") == 1
