"""Files are written whole or not at all, with the right mode, whatever happens in between."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import juror
from juror.errors import DataError
from juror.files.writing import write_whole


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def text(content: bytes):
    return lambda stream: stream.write(content)


@pytest.fixture
def umask():
    """Set the umask; restore it at the end."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


# Modes


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o027, 0o640), (0o000, 0o666)])
def test_a_new_file_has_the_mode_of_any_new_file(tmp_path, umask, mask, mode):
    umask(mask)
    write_whole(tmp_path / "a", text(b"x"))
    assert mode_of(tmp_path / "a") == mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o666])
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_replaced_file_keeps_its_mode(tmp_path, umask, mask, mode):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(mode)
    umask(mask)
    write_whole(tmp_path / "a", text(b"new"))
    assert ((tmp_path / "a").read_bytes(), mode_of(tmp_path / "a")) == (b"new", mode)


def test_a_private_model_stays_private(tmp_path, umask):
    umask(0o022)
    model = juror.JointPMF([1.0], [[[0.5], [0.5]]])
    model.save(tmp_path / "m.juror")
    (tmp_path / "m.juror").chmod(0o600)
    model.save(tmp_path / "m.juror")
    assert mode_of(tmp_path / "m.juror") == 0o600


def test_no_file_is_ever_open_to_others(tmp_path, umask, monkeypatch):
    """Other threads may create files at any time, and the umask belongs to all threads."""
    umask(0o077)
    seen = set()

    def create_meanwhile(function):
        def called(*arguments, **named):
            result = function(*arguments, **named)
            other = tmp_path / "other"
            with other.open("w"):
                seen.add(mode_of(other))
            other.unlink()
            seen.update(mode_of(path) for path in tmp_path.iterdir())
            return result

        return called

    with monkeypatch.context() as patched:
        for name in ("umask", "chmod", "fchmod", "replace", "fsync"):
            patched.setattr(os, name, create_meanwhile(getattr(os, name)))
        for _ in range(2):
            write_whole(tmp_path / "a", text(b"x"))
    assert seen == {0o600}


# Interrupted writes

WRITER = """
import sys, time, juror.files.writing as writing
from pathlib import Path

def slow(stream):
    stream.write(b"half")
    stream.flush()
    print("writing", flush=True)
    time.sleep(60)

writing.write_whole(Path(sys.argv[1]), slow)
"""


def start_writing(path: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"writing\n"
    return process


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path, end):
    (tmp_path / "a.juror").write_bytes(b"old")
    mine = tmp_path / ".juror-of-mine"
    mine.write_bytes(b"of a person")
    with start_writing(tmp_path / "a.juror") as killed, start_writing(tmp_path / "b.juror") as busy:
        killed.send_signal(end)
        killed.wait()
        assert (tmp_path / "a.juror").read_bytes() == b"old"
        write_whole(tmp_path / "c.juror", text(b"new"))
        # the file of the killed writer is gone, and that of the busy one is not
        left = sorted(path.name for path in tmp_path.iterdir() if path != mine)
        assert left[1:] == ["a.juror", "c.juror"]
        assert len(left) == 3
        busy.kill()
        busy.wait()
        write_whole(tmp_path / "c.juror", text(b"newer"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [mine.name, "a.juror", "c.juror"]


def test_a_terminated_command_leaves_nothing(tmp_path):
    rows = "a,b\n" + "x,1\ny,2\n" * 50
    (tmp_path / "rows.csv").write_text(rows)
    line = "import juror.files.writing as w, time, sys\nold = w.os.fsync\n"
    line += "w.os.fsync = lambda handle: (print('writing', flush=True), time.sleep(60))\n"
    line += "from juror.cli import main\nmain(['count', 'rows.csv', '-o', 'rows.counts'])"
    with subprocess.Popen([sys.executable, "-c", line], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        process.terminate()
        assert process.wait() == 128 + signal.SIGTERM
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


def test_writers_in_one_folder_do_not_disturb_each_other(tmp_path):
    failures = []

    def write(number: int) -> None:
        try:
            for _ in range(30):
                write_whole(tmp_path / f"{number % 3}", text(str(number).encode() * 1000))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2"]
    assert all(len(set(path.read_bytes())) == 1 for path in tmp_path.iterdir())


# Names and errors


def test_the_longest_name_can_be_written(tmp_path):
    name = "é" * 123 + "x" * (255 - 2 * 123 - len(".juror")) + ".juror"
    assert len(name.encode()) == 255
    model = juror.JointPMF([1.0], [[[0.5], [0.5]]])
    model.save(tmp_path / name)
    assert juror.load(tmp_path / name).rank == 1
    with pytest.raises(
        DataError, match=r"^The name '.*' is too long: it has 256 bytes, and this folder takes up to 255"
    ):
        model.save(tmp_path / f"x{name}")


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_errors_have_the_path(tmp_path, reason):
    (tmp_path / "a").write_bytes(b"old")

    def fail(stream):
        stream.write(b"x")
        raise OSError(reason, os.strerror(reason))

    with pytest.raises(DataError) as caught:
        write_whole(tmp_path / "a", fail)
    path = str(tmp_path / "a")
    assert str(caught.value).startswith(f"Cannot write {path!r}: {os.strerror(reason)}. ")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]


def test_a_full_disk_is_one_sentence(tmp_path):
    """A limit on the size of files fails as a full disk does, in the middle of a write."""
    line = (
        "import resource, signal, juror, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "juror.JointPMF([1.0], [[[1e-4]] * 10000]).save('m.juror')"
    )
    done = subprocess.run([sys.executable, "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "FileWriteError: Cannot write 'm.juror': File too large." in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 4096


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("juror.files.writing.os.open", refuse)
    with pytest.raises(DataError, match=r"^Cannot write '.*/a': Permission denied\."):
        write_whole(tmp_path / "a", text(b"x"))


def test_errors_of_the_content_stay_what_they_are(tmp_path):
    def fail(stream):
        raise KeyError("x")

    with pytest.raises(KeyError):
        write_whole(tmp_path / "a", fail)
    assert list(tmp_path.iterdir()) == []
