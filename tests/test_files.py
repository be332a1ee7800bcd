"""Model files: every bit comes back, and nothing else is taken for a model."""

import io
import json
import math
import os
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save

import juror
from juror import Domain, FitInfo, JointPMF, JurorError, Variable
from juror.answers.block import BareMixture
from juror.domain.grid import Grid
from juror.domain.law import Law
from juror.errors import ModelFileError
from juror.files.container import plain_domain, read_domain
from juror.model import file_format
from juror.record import RankScore
from juror.testing import random_model

LABELS = {
    "text": ("red", "green", "grün", "", " ", "a\nb", '"', "<b>", "\u2028", "😀"),
    "numbers as text": ("1", "2", "1.0", "nan", "None", "true"),
    "integers": (-1, 0, 7, 2**53 + 1, -(2**70)),
    "floats": (0.1, -2.5, 1e-300, 1.7976931348623157e308, 5e-324, float("inf")),
    "booleans": (False, True),
    "mixed": ("a", 2, 0.5, True),
    "one": ("only",),
}


def info(**changes):
    fields = {
        "method": "em",
        "rank": 2,
        "n_rows": 12.5,
        "n_distinct": 9,
        "log_likelihood": -34.123456789012345,
        "n_parameters": 17,
        "smoothing": 0.1,
        "seed": 3,
        "starts": (-1.5, -1.25, -np.inf),
        "trace": (-3.0, -2.0, 0.1 + 0.2),
        "stopped": "converged",
        "n_iter": 42,
        "rank_path": (RankScore(1, -2.0, 1), RankScore(2, -math.inf, 2)),
        "target": "numbers as text",
        "warnings": ("Grün is not easy.",),
    }
    return FitInfo(**{**fields, **changes})


@pytest.fixture
def rich():
    """A model with labels of every type, a binned variable, markers, and the record of a fit."""
    variables = [Variable(name, labels) for name, labels in LABELS.items()]
    variables.append(Variable("ordered", ("low", "high"), "ordinal"))
    law = Law(Grid(), (-0.5, 0.1, 0.2, 1 / 3), (0.1, 0.2, 0.2, 2.0), (0.1, 0.2, 0.3, 0.4))
    variables.append(Variable("binned", ("a", "b"), "binned", (0.1, 1 / 3, 2.0), law, open_ended=True))
    domain = Domain(tuple(variables), missing=("?", -9, 0.5, True))
    made = random_model(domain.cardinalities, 4, np.random.default_rng(0), domain=domain, zeros=0.2)
    return JointPMF(made.weights, made.factors, domain, info())


@pytest.fixture
def saved(tmp_path):
    """The path of a small saved model."""
    path = tmp_path / "small.juror"
    random_model((2, 3), 2, np.random.default_rng(1)).save(path)
    return path


def typed(values):
    """Tell True from 1 and 1 from 1.0, which Python calls equal."""
    return [(type(value), value) for value in values]


def assert_same_model(a, b):
    for one, other in zip(a.blocks, b.blocks, strict=True):
        assert one.forest == other.forest
        assert one.weights.tobytes() == other.weights.tobytes()
        assert [table.shape for table in one.tables] == [table.shape for table in other.tables]
        assert [table.tobytes() for table in one.tables] == [table.tobytes() for table in other.tables]
    assert a.domain == b.domain
    assert [typed(v.labels) for v in a.domain] == [typed(v.labels) for v in b.domain]
    assert typed(a.domain.missing) == typed(b.domain.missing)
    assert a.info == b.info


def variant(model, **changes):
    parts = {"weights": model.weights, "factors": model.factors, "domain": model.domain, "info": model.info}
    return JointPMF(**{**parts, **changes})


def test_assert_same_model_rejects_another(rich):
    assert_same_model(rich, variant(rich))
    first, second = rich.weights[:2]
    moved = np.array([np.nextafter(first, 1), np.nextafter(second, 0), *rich.weights[2:]])
    flags = rich.domain["booleans"]
    renumbered = [Variable("booleans", (0, 1)) if v is flags else v for v in rich.domain]
    others = [
        variant(rich, weights=moved),
        variant(rich, factors=(rich.factors[0][::-1], *rich.factors[1:])),
        variant(rich, domain=Domain(rich.domain.variables)),
        variant(rich, domain=Domain(tuple(renumbered), rich.domain.missing)),
        variant(rich, domain=Domain(rich.domain.variables, ("?", -9, 0.5, 1))),
        variant(rich, info=None),
        variant(rich, info=info(seed=4)),
    ]
    for other in others:
        with pytest.raises(AssertionError):
            assert_same_model(rich, other)


# Round trips


def test_a_round_trip_gives_back_every_bit(rich, tmp_path):
    rich.save(tmp_path / "rich.juror")
    assert_same_model(juror.load(tmp_path / "rich.juror"), rich)


def test_older_jurors_read_files_of_strides_and_newer_ones_files_without(tmp_path):
    """The stride stands beside the grid, whose entries older jurors know by name, and only where there is one."""
    variable = Domain.infer({"x": np.arange(100) * 100})["x"]
    made = random_model((variable.cardinality,), 2, np.random.default_rng(0), domain=Domain((variable,)))
    made.save(tmp_path / "new.juror")
    assert juror.load(tmp_path / "new.juror").domain["x"].law.stride == 100
    plain = plain_domain(juror.load(tmp_path / "new.juror").domain)["variables"][0]["law"]
    assert plain["stride"] == 100
    assert plain["grid"].keys() == {"decimals", "origin"}
    del plain["stride"]
    header = plain_domain(Domain((replace(variable, law=replace(variable.law, stride=1)),)))
    assert header["variables"][0]["law"] == plain
    assert read_domain(header)["x"].law.stride == 1


def test_paths_may_be_text_and_have_any_name(saved):
    other = str(saved.parent / "grün und blau")
    juror.load(str(saved)).save(other)
    assert_same_model(juror.load(other), juror.load(saved))


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_every_type_come_back(name, tmp_path):
    domain = Domain((Variable(name, LABELS[name]),))
    model = random_model(domain.cardinalities, 2, np.random.default_rng(0), domain=domain)
    model.save(tmp_path / "m.juror")
    assert_same_model(juror.load(tmp_path / "m.juror"), model)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=3, unique=True),
    labels=st.lists(
        st.text() | st.integers() | st.floats(allow_nan=False) | st.booleans(), min_size=1, max_size=6, unique=True
    ),
    rank=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_names_labels_and_numbers_come_back(tmp_path, names, labels, rank, seed):
    domain = Domain(tuple(Variable(name, tuple(labels)) for name in names))
    model = random_model(domain.cardinalities, rank, np.random.default_rng(seed), domain=domain, zeros=0.2)
    model.save(tmp_path / "any.juror")
    assert_same_model(juror.load(tmp_path / "any.juror"), model)


@pytest.mark.parametrize("rank", [1, 2, 7, 100])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_rounding_in_the_sums_does_not_move_a_bit(rank, size, tmp_path):
    # columns whose sums are one only up to rounding are not scaled again on loading
    for seed in range(5):
        model = random_model((size, 2), rank, np.random.default_rng(seed))
        model.save(tmp_path / "m.juror")
        assert_same_model(juror.load(tmp_path / "m.juror"), model)


def test_a_column_major_factor_comes_back(tmp_path):
    factor = np.asfortranarray(np.random.default_rng(0).dirichlet(np.ones(5), size=3).T)
    model = JointPMF([0.5, 0.25, 0.25], [factor])
    model.save(tmp_path / "m.juror")
    assert_same_model(juror.load(tmp_path / "m.juror"), model)


def test_a_fitted_model_comes_back_and_answers_the_same(tmp_path):
    data = {"a": ["x", "y", "x", "?"] * 5, "b": [1, 2, None, 2] * 5}
    model = juror.fit(data, rank=2, missing=["?"], target="a", max_iter=500)
    model.save(tmp_path / "fit.juror")
    again = juror.load(tmp_path / "fit.juror")
    assert_same_model(again, model)
    assert again.info.bic == model.info.bic
    assert np.array_equal(again.predict(data), model.predict(data))
    assert np.array_equal(again.log_prob(data), model.log_prob(data))
    assert again.sample(20).equals(model.sample(20))


def test_markers_of_numpy_come_back(tmp_path):
    # what missing=frame["a"].unique()[-1:] holds
    domain = Domain((Variable("a", (1, 2)),), missing=(np.int64(-9), np.float64(0.5), np.str_("?")))
    model = random_model((2,), 1, np.random.default_rng(0), domain=domain)
    model.save(tmp_path / "m.juror")
    assert juror.load(tmp_path / "m.juror").domain.missing == (-9, 0.5, "?")


# Whole or not at all


class Interruption(BaseException):
    """As a keyboard interrupt is: not an Exception."""


FAILURES = {"on flushing": "fsync", "on renaming": "replace", "on setting the mode": "fchmod"}


@pytest.mark.parametrize("error", [OSError("disk full"), Interruption()], ids=["error", "interruption"])
@pytest.mark.parametrize(
    ("there", "moment"),
    # the mode of a new file is that with which it is created
    [*((True, moment) for moment in FAILURES), (False, "on flushing"), (False, "on renaming")],
)
def test_a_save_that_fails_leaves_the_folder_as_it_was(saved, rich, monkeypatch, error, moment, there):
    def fail(*args, **kwargs):
        raise error

    before = {path.name: path.read_bytes() for path in saved.parent.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(os, FAILURES[moment], fail)
        with pytest.raises(type(error)):
            rich.save(saved if there else saved.with_name("new.juror"))
    assert {path.name: path.read_bytes() for path in saved.parent.iterdir()} == before
    # and nothing stands in the way of the next one
    rich.save(saved)
    assert_same_model(juror.load(saved), rich)


class FullDisk(io.FileIO):
    """A file on a disk that has room for a hundred bytes more."""

    def write(self, content):
        super().write(bytes(content)[:100])
        raise OSError("No space left on device")


def test_a_save_that_fails_halfway_through_the_bytes_leaves_the_old_file(saved, rich, monkeypatch):
    before = saved.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", lambda handle, mode: FullDisk(handle, mode))
        with pytest.raises(OSError, match="No space left"):
            rich.save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_saving_over_a_model_replaces_it(saved, rich):
    rich.save(saved)
    assert_same_model(juror.load(saved), rich)
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_a_saved_file_may_be_read_by_whoever_may_read_new_files(saved):
    # a temporary file is private; the model that replaces it must not stay so
    plain = saved.with_name("plain.txt")
    plain.write_text("")
    assert saved.stat().st_mode == plain.stat().st_mode


def test_a_place_where_nothing_can_be_written_is_named(saved, rich):
    for place in (saved.parent, saved.parent / "nowhere" / "m.juror"):
        with pytest.raises(JurorError, match=str(place.name)):
            rich.save(place)


# What is not a model


def load_error(path):
    """Return what loading says is wrong: one sentence or two about this file."""
    with pytest.raises(ModelFileError) as caught:
        juror.load(path)
    message = str(caught.value)
    assert repr(str(path)) in message
    assert message.endswith(".")
    assert "\n" not in message
    return message


def test_load_error_rejects_a_model_that_loads(saved):
    with pytest.raises(pytest.fail.Exception):
        load_error(saved)


def test_a_file_that_is_not_there(tmp_path):
    assert "no model file" in load_error(tmp_path / "none.juror")
    assert "no model file" in load_error(tmp_path)


def loads(path, content):
    path.write_bytes(content)
    try:
        juror.load(path)
    except ModelFileError:
        return False
    return True


def test_a_file_cut_short_at_any_length_is_refused(saved):
    whole = saved.read_bytes()
    assert loads(saved, whole)
    assert [n for n in range(len(whole)) if loads(saved, whole[:n])] == []
    assert "cut short" in load_error(saved)


@pytest.mark.parametrize("flip", [0x01, 0x04, 0x80, 0xFF])
def test_a_file_with_any_byte_changed_is_refused(saved, flip):
    whole = saved.read_bytes()

    def changed(n):
        return whole[:n] + bytes([whole[n] ^ flip]) + whole[n + 1 :]

    accepted = [n for n in range(len(whole)) if loads(saved, changed(n))]
    assert [whole[max(0, n - 20) : n + 1] for n in accepted] == []


def test_numbers_changed_in_a_file_are_named_as_such(saved):
    whole = bytearray(saved.read_bytes())
    whole[-1] ^= 1
    saved.write_bytes(whole)
    assert "changed after juror wrote it" in load_error(saved)


@pytest.mark.parametrize("more", [b"\0", b"more", bytes(8)])
def test_a_file_with_something_behind_it_is_refused(saved, more):
    saved.write_bytes(saved.read_bytes() + more)
    assert load_error(saved)


def zipped():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("weights", b"0" * 100)
    return stream.getvalue()


def npz():
    stream = io.BytesIO()
    np.savez(stream, weights=np.ones(1))
    return stream.getvalue()


FOREIGN = {
    "empty": b"",
    "text": b"a,b\n1,2\n" * 20,
    "utf-16": "weights".encode("utf-16") * 20,
    "json": json.dumps({"format": "juror"}).encode(),
    "zeros": bytes(1000),
    "ones": b"\xff" * 1000,
    "zip": zipped(),
    "npz": npz(),
    "pickle": pickle.dumps({"weights": [1.0]}),
    "random": np.random.default_rng(0).bytes(5000),
    "safetensors": save({"weights": np.ones(1), "factor.0": np.ones((1, 1))}),
    "safetensors of torch": save({"weights": np.ones(1), "factor.0": np.ones((1, 1))}, {"format": "pt"}),
    "nothing but the name": save({"weights": np.ones(1), "factor.0": np.ones((1, 1))}, {"format": "juror"}),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_files_are_refused(tmp_path, kind):
    path = tmp_path / "foreign.juror"
    path.write_bytes(FOREIGN[kind])
    assert load_error(path)


def test_another_safetensors_file_is_called_what_it_is(tmp_path):
    path = tmp_path / "weights.safetensors"
    path.write_bytes(FOREIGN["safetensors of torch"])
    assert "not a juror model" in load_error(path)


def with_header(path, **changes):
    """Write a file again with other fields in its header; ... takes a field away."""
    with safe_open(path, framework="np") as opened:
        tensors = {name: opened.get_tensor(name).copy() for name in list(opened.keys())}
        header = {**json.loads(opened.metadata()["juror"]), **changes}
    header = {key: value for key, value in header.items() if value is not ...}
    path.write_bytes(save(tensors, {"juror": json.dumps(header)}))


def test_with_header_changes_only_what_it_is_told(saved):
    model = juror.load(saved)
    with_header(saved)
    assert_same_model(juror.load(saved), model)


@pytest.mark.parametrize("version", [5, 10, 999999999999999999999])
def test_a_newer_format_is_refused_and_says_what_to_do(saved, version):
    with_header(saved, format_version=version)
    message = load_error(saved)
    assert str(version) in message
    assert "newer juror" in message


@pytest.mark.parametrize("version", [..., None, 0, -1, 1.0, "1", True, [1]])
def test_a_format_version_that_never_was_is_refused(saved, version):
    with_header(saved, format_version=version)
    assert load_error(saved)


@pytest.mark.parametrize("field", ["domain", "info", "sha256"])
@pytest.mark.parametrize("value", [..., "", {}, 5])
def test_fields_that_are_gone_or_wrong_are_refused(saved, field, value):
    with_header(saved, **{field: value})
    assert load_error(saved)


def test_a_header_that_is_no_header_is_refused(saved):
    for text in ("", "{", "[]", "5", "null"):
        saved.write_bytes(save({"weights": np.ones(1)}, {"juror": text}))
        assert load_error(saved)


def test_a_changed_domain_is_noticed(saved):
    with_header(saved, domain={"missing": [], "variables": []})
    assert "changed" in load_error(saved)


def test_the_same_model_gives_the_same_bytes(saved, tmp_path):
    juror.load(saved).save(tmp_path / "again.juror")
    assert (tmp_path / "again.juror").read_bytes() == saved.read_bytes()


# Files with a right digest whose contents are no model: whoever writes the file can write the digest too.
SMALL = random_model((2, 3), 2, np.random.default_rng(1))


class NoInfo:
    def __init__(self, plain):
        self._plain = plain

    def to_dict(self):
        return self._plain


NONSENSE = {
    "negative weights": {"weights": np.array([-1.0, 2.0])},
    "weights that are not numbers": {"weights": np.array([np.nan, 1.0])},
    "a weight short": {"weights": np.array([1.0])},
    "a factor short": {"factors": SMALL.factors[:1]},
    "factors turned": {"factors": [factor.T for factor in SMALL.factors]},
    "another domain": {"domain": Domain.from_cardinalities([2, 4])},
    "an empty record": {"info": NoInfo({})},
    "a record that is a number": {"info": NoInfo(5)},
    "a record that is a list": {"info": NoInfo([1, 2])},
    "a record of lists that are numbers": {"info": NoInfo({**info().to_dict(), "starts": 5})},
    "a rank path of numbers": {"info": NoInfo({**info().to_dict(), "rank_path": [1, 2]})},
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_a_whole_file_that_describes_no_model_is_refused(tmp_path, kind):
    path = tmp_path / "nonsense.juror"
    parts = {"weights": SMALL.weights, "factors": SMALL.factors, "domain": SMALL.domain, "info": None}
    parts |= NONSENSE[kind]
    info = parts.pop("info")
    file_format.write(path, BareMixture.of_factors(**parts), info)
    assert load_error(path)


# Nothing in a file is ever run


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self._path = str(path)

    def __reduce__(self):
        return open, (self._path, "w")


def test_loading_does_not_unpickle(tmp_path, rich, monkeypatch):
    sprung = tmp_path / "sprung"
    trapped = tmp_path / "trap.juror"
    trapped.write_bytes(pickle.dumps(Trap(sprung)))
    assert load_error(trapped)
    np.save(trapped, np.array([Trap(sprung)], dtype=object), allow_pickle=True)
    load_error(trapped.with_name("trap.juror.npy"))
    assert not sprung.exists()
    # the trap works, or the test would show nothing
    pickle.loads(pickle.dumps(Trap(sprung))).close()
    assert sprung.exists()

    rich.save(tmp_path / "rich.juror")
    for name in ("load", "loads", "Unpickler", "_Unpickler"):
        monkeypatch.delattr(pickle, name)
    assert_same_model(juror.load(tmp_path / "rich.juror"), rich)
