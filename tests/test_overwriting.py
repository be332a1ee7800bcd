"""No command writes over what it reads."""

from __future__ import annotations

import shutil
import sqlite3

import pytest
import typer

import juror
from juror.cli.app import app


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table, counts and a model of it, to copy into the folder of each test."""
    made = tmp_path_factory.mktemp("made")
    people = juror.datasets.titanic().astype("str")
    people.to_csv(made / "people.csv", index=False)
    juror.PairCounts.of(people).save(made / "people.counts")
    juror.fit(people, rank=1, method="em", target="Survived").save(made / "people.juror")
    return made


@pytest.fixture
def folder(made, tmp_path):
    """The files of the module under all names that a command may read and write, and a database."""
    for name in ("people.csv", "people.counts", "people.juror"):
        shutil.copy(made / name, tmp_path)
    (tmp_path / "several").mkdir()
    shutil.copy(made / "people.csv", tmp_path / "several" / "one.csv")
    shutil.copy(made / "people.csv", tmp_path / "people.1.csv")
    # names that no command gives, but a person may
    shutil.copy(made / "people.counts", tmp_path / "counts")
    shutil.copy(made / "people.csv", tmp_path / "rows.csv")
    for name in ("model.csv", "model.html", "model"):
        shutil.copy(made / "people.juror", tmp_path / name)
    (tmp_path / "linked.csv").symlink_to(tmp_path / "people.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "people.csv")
    with sqlite3.connect(tmp_path / "shop") as database:
        database.execute("CREATE TABLE sold AS SELECT 'red' AS colour, 'S' AS size")
    database.close()
    return tmp_path


# The command, and the input that it would replace
CASES = [
    ("fit people.counts -o people.counts", "people.counts"),
    ("fit counts -o counts --rank 2", "counts"),
    ("fit sold --database sqlite:///shop -o shop", "shop"),
    ("count people.csv -o model --domain model", "model"),
    ("count people.csv -o people.counts --domain people.counts", "people.counts"),
    ("count sold --database sqlite:///shop -o shop", "shop"),
    ("merge people.counts counts -o counts", "counts"),
    ("sample model.csv -o model.csv", "model.csv"),
    ("impute people.juror people.csv -o people.csv", "people.csv"),
    ("impute people.juror people.csv -o linked.csv", "people.csv"),
    ("impute people.juror hard.csv -o people.csv", "people.csv"),
    ("impute people.juror several -o several/one.csv", "several/one.csv"),
    ("impute people.juror several/*.csv -o several/one.csv", "several/one.csv"),
    ("impute people.juror people.1.csv -o people.csv --draws 2", "people.1.csv"),
    ("impute model.csv people.csv -o model.csv", "model.csv"),
    ("predict people.juror people.csv -o people.csv", "people.csv"),
    ("predict people.juror several -o several/one.csv", "several/one.csv"),
    ("predict model.csv people.csv -o model.csv", "model.csv"),
    ("score people.juror people.csv -o people.csv", "people.csv"),
    ("score people.juror people.csv --rows -o ./several/../people.csv", "people.csv"),
    ("score model.csv people.csv -o model.csv", "model.csv"),
    ("report model.html -o model.html", "model.html"),
]


@pytest.mark.parametrize(("line", "replaced"), CASES, ids=[line for line, _ in CASES])
def test_an_input_is_never_replaced(run, folder, line, replaced):
    before = (folder / replaced).read_bytes()
    status, _, err = run(*line.split())
    assert (status, (folder / replaced).read_bytes()) == (2, before)
    assert "Name another file with --output." in err or "Name it like" in err
    assert len(err.splitlines()) == 1


def test_every_command_that_writes_is_tested():
    commands = typer.main.get_command(app).commands
    writing = {name for name, command in commands.items() for p in command.params if p.name == "output"}
    # paper reads nothing
    assert {line.split()[0] for line, _ in CASES} == writing - {"paper"}


def test_other_files_are_replaced(run, folder):
    assert run("predict", "people.juror", "people.csv", "-o", "rows.csv")[0] == 0
    assert (folder / "rows.csv").read_text().startswith("Survived\n")
    # a new file in a folder that is read
    assert run("score", "people.juror", "several", "-o", "several/score.csv")[0] == 0
