"""DATA that is a stream: stdin, pipes and process substitution."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

import juror


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("piped")
    people = juror.datasets.titanic().astype("str")
    people.to_csv(folder / "people.csv", index=False)
    for suffix in ("gz", "zst"):
        # the suffix says how it is compressed
        with pa.output_stream(folder / f"people.csv.{suffix}") as file:
            file.write((folder / "people.csv").read_bytes())
    people.to_parquet(folder / "people.parquet", index=False)
    people.to_feather(folder / "people.arrow")
    table = pa.Table.from_pandas(people)
    with pa.ipc.new_stream(folder / "stream.arrow", table.schema) as writer:
        writer.write_table(table)
    juror.fit(people, rank=1, method="em", target="Survived").save(folder / "people.juror")
    (folder / "temporary").mkdir()
    return folder


@pytest.fixture
def shell(folder):
    """Run a line in a shell that knows juror; check that no temporary file is left."""

    def shell(line: str) -> tuple[int, str, str]:
        command = f'juror() {{ "{sys.executable}" -m juror "$@"; }}; {line}'
        environment = os.environ | {"TMPDIR": str(folder / "temporary")}
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
        )
        assert list((folder / "temporary").iterdir()) == []
        return done.returncode, done.stdout, done.stderr

    return shell


LINES = [
    "cat people.csv | juror score people.juror -",
    "juror score people.juror /dev/stdin < people.csv",
    "juror score people.juror <(cat people.parquet)",
    "mkfifo pipe; cat people.csv > pipe & juror score people.juror pipe; s=$?; kill $! 2> /dev/null; rm pipe; exit $s",
]
FILES = ["people.csv", "people.csv.gz", "people.csv.zst", "people.parquet", "people.arrow", "stream.arrow"]


@pytest.mark.parametrize("line", LINES)
def test_streams_are_read_as_the_file_is(run, shell, line):
    _, expected, _ = run("score", "people.juror", "people.csv")
    assert shell(line) == (0, expected, "")


@pytest.mark.parametrize("file", FILES)
def test_what_a_stream_holds_is_told_by_its_beginning(run, file):
    _, expected, _ = run("score", "people.juror", "people.csv")
    with open(file, "rb") as stream:
        assert run("score", "people.juror", f"/dev/fd/{stream.fileno()}") == (0, expected, "")


def test_streams_are_fitted_and_counted_as_files_are(folder, run, shell):
    (folder / "again.csv").write_bytes((folder / "people.csv").read_bytes())
    assert run("count", "people.csv", "again.csv", "-o", "files.counts")[0] == 0
    assert shell("cat people.csv | juror count - <(cat people.csv) -o piped.counts")[0] == 0
    assert (folder / "piped.counts").read_bytes() == (folder / "files.counts").read_bytes()
    assert shell("cat people.csv | juror fit - --rank 1 --method em -o piped.juror")[0] == 0
    assert run("fit", "people.csv", "--rank", "1", "--method", "em", "-o", "files.juror")[0] == 0
    one, other = (juror.load(folder / f"{name}.juror") for name in ("piped", "files"))
    assert one.domain == other.domain
    assert [block.weights.tobytes() for block in one.blocks] == [block.weights.tobytes() for block in other.blocks]
    assert run("score", "piped.juror", "people.csv") == run("score", "files.juror", "people.csv")


REFUSED = [
    (
        "juror score people.juror - <&-",
        "juror: DATA is '-', stdin, and stdin is closed. Name a file, or pipe rows into juror.\n",
    ),
    (
        "cat people.juror | juror score people.juror -",
        "juror: DATA '-' is a stream, and it holds a model or counts. Name the file that juror wrote.\n",
    ),
    (
        "juror score people.juror - -o people.csv < people.csv",
        "juror: 'people.csv' is also an input, and would be replaced. Name another file with --output.\n",
    ),
]


@pytest.mark.parametrize(("line", "message"), REFUSED)
def test_streams_that_cannot_be_read_are_refused(shell, line, message):
    assert shell(line) == (2, "", message)


def test_an_empty_stream_is_refused(run):
    problem = "juror: DATA '/dev/null' is a stream, and it is empty. Name a file, or pipe rows into juror.\n"
    assert run("score", "people.juror", "/dev/null") == (2, "", problem)


def test_workers_cannot_read_streams(run):
    problem = (
        "juror: DATA '-' is a stream, which the workers of --dask cannot read. Write its rows to a file that they can "
        "read, and name that.\n"
    )
    assert run("count", "-", "--dask", "tcp://127.0.0.1:1", "-o", "some.counts") == (2, "", problem)


def test_messages_name_the_stream(shell):
    status, _, err = shell("printf 'a,b\\n1\\n' | juror score people.juror -")
    assert status == 2
    assert "/stdin.csv'" in err


def test_a_full_disk_is_told(run, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    with open("people.csv", "rb") as stdin:
        status, _, err = run("score", "people.juror", f"/dev/fd/{stdin.fileno()}")
    assert status == 2
    assert "No space left on device. Set TMPDIR to a folder on a larger disk, or name a file." in err


@contextmanager
def reading_stdin(folder):
    """Run a command until it has begun to copy stdin, which stays open."""
    temporary = folder / "temporary"
    command = [sys.executable, "-m", "juror", "score", "people.juror", "-"]
    environment = os.environ | {"TMPDIR": str(temporary)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=folder, env=environment, **pipes) as process:
        process.stdin.write(Path(folder / "people.csv").read_bytes())
        process.stdin.flush()
        until = time.monotonic() + 60
        while not any(temporary.glob("*/*")):
            assert time.monotonic() < until
            time.sleep(0.01)
        yield process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_no_copy(folder, number):
    with reading_stdin(folder) as process:
        process.send_signal(number)
        assert process.wait(timeout=60) != 0
    assert list((folder / "temporary").iterdir()) == []


def test_the_next_command_removes_the_copy_of_a_killed_one(folder, shell):
    with reading_stdin(folder) as process:
        process.kill()
        process.wait(timeout=60)
    assert any((folder / "temporary").iterdir())
    assert shell("cat people.csv | juror score people.juror -")[0] == 0


def test_a_copy_in_use_is_left_alone(run, folder, monkeypatch):
    _, expected, _ = run("score", "people.juror", "people.csv")
    monkeypatch.setattr("tempfile.tempdir", str(folder / "temporary"))
    with reading_stdin(folder) as process:
        used = list((folder / "temporary").glob("*/*"))
        with open("people.csv", "rb") as stream:
            assert run("score", "people.juror", f"/dev/fd/{stream.fileno()}") == (0, expected, "")
        assert list((folder / "temporary").glob("*/*")) == used
        out, _ = process.communicate(timeout=60)
    assert out.decode() == expected
    assert list((folder / "temporary").iterdir()) == []
