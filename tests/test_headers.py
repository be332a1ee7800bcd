"""Headers of model and counts files: whatever they say, a file is read as it is, or refused with a sentence."""

from __future__ import annotations

import copy
import itertools
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import juror
from juror.errors import JurorError, ModelFileError
from juror.files import container

# Other values of every kind that JSON has, among them numbers that are too large for a float
OTHERS = [None, True, -1, 0, 1, 2, 7, 10**400, -(10**400), 1e308, -0.5, 0.25, float("inf"), float("nan"), "", "x"]
OTHERS += ["\x1b[2J", "nan", "-inf", [], [None], [0.5], ["x", "y"], [[]], [10**400], {}, {"x": 1}, {"": [None]}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of every kind: fits by several methods, a conditioned and a compressed model, and statistics."""
    folder = tmp_path_factory.mktemp("headers")
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, size=300)
    table = pd.DataFrame(
        {
            "a": np.array(["r", "g", "b"])[x],
            "b": np.where(rng.random(300) < 0.8, x, rng.integers(0, 3, size=300)),
            "c": rng.normal(size=300) + x,
            "d": np.where(rng.random(300) < 0.2, None, np.where(x > 1, "yes", "no")),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        juror.fit(table, rank=2, method="em", max_iter=30, missing_as={"d": "none"}).save(folder / "em.juror")
        bayes = juror.fit(table, rank=2, method="bayes", sweeps=30, draws=4)
        bayes.save(folder / "bayes.juror")
        bayes.condition(a="r", b=[0, 1]).save(folder / "conditioned.juror")
        bayes.compress(2).save(folder / "compressed.juror")
        juror.fit(table, rank=2, method="juror-b", n_directions=10, max_iter=10).save(folder / "paper.juror")
        juror.fit(table, max_seconds=2, ensemble=2, keep_counts=False).save(folder / "ensemble.juror")
        juror.fit(table, rank="cv", method="em", max_iter=20, ensemble=1).save(folder / "path.juror")
        juror.PairCounts.of(table).save(folder / "pairs.counts")
        juror.TripleCounts.of(table).save(folder / "triples.counts")
        juror.Projections.of(table, n_directions=4).save(folder / "projections.counts")
    return folder


FILES = [f"{name}.juror" for name in ("em", "bayes", "conditioned", "compressed", "paper", "ensemble", "path")]
FILES += [f"{name}.counts" for name in ("pairs", "triples", "projections")]


def read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    with safe_open(path, framework="np") as opened:
        header = json.loads(opened.metadata()["juror"])
        return header, {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118


def write(path: Path, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """Write a file with a digest that matches, as an attacker would."""
    header = {name: value for name, value in header.items() if name != "sha256"}
    header |= {"sha256": container._digest(header, tensors)}
    save_file({name: np.ascontiguousarray(each) for name, each in tensors.items()}, path, {"juror": json.dumps(header)})


def places(value: Any, most: int = 2) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value in a header; of long lists only the first few."""
    inside = value.items() if isinstance(value, dict) else enumerate(value[:most]) if isinstance(value, list) else ()
    for key, each in inside:
        yield (key,)
        yield from ((key, *rest) for rest in places(each, most))


def changed(header: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    header = copy.deepcopy(header)
    holder = header
    for key in place[:-1]:
        holder = holder[key]
    if value is ...:
        del holder[place[-1]]
    else:
        holder[place[-1]] = value
    return header


def use(path: Path) -> None:
    """Load a file and use all that its header has a say in."""
    if path.suffix == ".counts":
        kind = container.read_kind(path)
        counts = getattr(juror, kind).load(path) if kind in ("PairCounts", "TripleCounts", "Projections") else None
        if counts is not None:
            repr(counts)
            _ = counts + counts
        return
    model = juror.load(path)
    names = model.domain.names
    repr(model), model.summary(), model.info and model.info.to_dict()
    for name in names[:2]:
        str(model.marginal(name))
    str(model.interval(f'"{names[-1]}"'))
    model.sample(3)
    model.expect(names[-1]) if model.domain[names[-1]].edges else None
    str(model.check()) if model.counts is not None else None
    model.predict({names[0]: [model.domain[0].labels[0]]}, target=names[-1])
    model.condition({names[0]: model.domain[0].labels[0]}).summary() if len(names) > 1 else None


def outcome(path: Path) -> str:
    """Use a file; return what went wrong, empty if nothing did or juror refused it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", juror.JurorWarning)
            use(path)
    except JurorError as error:
        return "" if len(str(error)) < 3000 else f"a message of {len(str(error))} characters"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    return ""


@pytest.mark.parametrize("name", FILES)
def test_every_value_of_a_header_may_be_anything(folder, tmp_path, name):
    header, tensors = read(folder / name)
    seen: dict[tuple[Any, ...], str] = {}
    # a few of the values in each place, in turn; tests/fuzz takes all of them, and many more
    values = itertools.cycle(OTHERS)
    for place in places(header):
        if place == ("sha256",):
            continue
        for value in (..., *itertools.islice(values, 5)):
            write(tmp_path / name, changed(header, place, value), tensors)
            wrong = outcome(tmp_path / name)
            if wrong:
                seen[(*place, repr(value)[:20])] = wrong
    assert seen == {}


@pytest.mark.parametrize("brackets", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000])
def test_brackets_without_end(folder, tmp_path, run, monkeypatch, brackets):
    _, tensors = read(folder / "em.juror")
    path = tmp_path / "deep.juror"
    save_file(tensors, path, {"juror": brackets})
    with pytest.raises(ModelFileError, match=r"deep\.juror' "):
        juror.load(path)
    for line in (["info", path], ["ask", path, "a"], ["fit", path, "-o", tmp_path / "new.juror"]):
        status, _, err = run(*line)
        assert (status, err.count("\n")) == (2, 1)


def test_a_number_beyond_all_floats(folder, tmp_path, run):
    header, tensors = read(folder / "em.juror")
    for place in (("info", "n_rows"), ("info", "log_likelihood"), ("info", "seed"), ("info", "n_parameters")):
        write(tmp_path / "large.juror", changed(header, place, 10**400), tensors)
        status, _, err = run("info", tmp_path / "large.juror")
        assert status == 2
        assert f"info.{place[1]}" in err or "int too large to convert to float" in err
        assert len(err) < 400


def test_files_as_they_are_load(folder):
    for name in FILES:
        assert outcome(folder / name) == ""
