"""Files of models and of counts, changed at random with their digest made anew, and every use of what still loads."""

from __future__ import annotations

import functools
import json
import pickle
import struct
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from hostile_values import TEXTS, change, nested, pick
from safetensors import safe_open
from safetensors.numpy import save

import juror
from juror.cli import info, saved_files
from juror.files import container

Parts = tuple[dict[str, Any], dict[str, np.ndarray]]
COUNTS = {"PairCounts": juror.PairCounts, "TripleCounts": juror.TripleCounts, "Projections": juror.Projections}


def _table() -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    n = 60
    colour = rng.choice(["red", "green", "blue"], n)
    size = np.where(colour == "red", 1, rng.integers(1, 4, n)).astype(object)
    size[rng.random(n) < 0.2] = None
    asked = np.where(rng.random(n) < 0.3, None, rng.choice(["yes", "no"], n))
    return {
        "colour": list(colour),
        "size": list(size),
        "age": list(rng.normal(40, 12, n).round(2)),
        "asked": list(asked),
    }


@functools.cache
def models() -> tuple[Parts, ...]:
    """Return small models of every kind, as their files have them."""
    table, some = _table(), {"n_jobs": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        domain = juror.Domain.infer(table, edges={"age": [0, 30, 50, 100]}, missing=["?"])
        draws = {"chains": 2, "sweeps": 8, "burnt": 4, "draws": 4}
        flat = juror.fit(table, 3, "em", domain=domain, target="asked", **some)
        forest = juror.fit(table, 2, "em", domain=domain, ensemble=2, missing_as={"asked": "not asked"}, **some)
        made = [
            flat,
            forest,
            # intervals and laws that juror found
            juror.fit(table, 2, "em", **some),
            juror.fit(table, 2, "bayes", domain=domain, **draws, **some),
            juror.fit(table, "auto", "tree", domain=domain, **some),
            juror.fit(juror.PairCounts.of(table, domain), 2, "pair-em", **some),
            juror.fit(table, 2, "juror-b", domain=domain, **some),
            forest.compress(1),
            flat.condition(colour=["red", "blue"]),
            juror.JointPMF(flat.weights, flat.factors),
        ]
    return tuple(_parts(model) for model in made)


@functools.cache
def counts() -> tuple[Parts, ...]:
    """Return counts of every kind, as their files have them."""
    table = _table()
    domain = juror.Domain.infer(table, edges={"age": [0, 30, 50, 100]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        projected = juror.Projections.of(table, n_directions=5, domain=domain)
    return tuple(
        _parts(made) for made in (juror.PairCounts.of(table, domain), juror.TripleCounts.of(table, domain), projected)
    )


def _parts(saved: Any) -> Parts:
    """Return the header and the arrays of what can be saved."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved"
        saved.save(path)
        with safe_open(path, framework="np") as opened:
            header = json.loads(opened.metadata()["juror"])
            return header, {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118


def written(header: Any, tensors: dict[str, np.ndarray]) -> bytes:
    """Return a file with a digest that fits, as far as there is one."""
    try:
        plain = json.loads(nested(json.dumps(header)))
        plain.pop("sha256", None)
        digest = container._digest(plain, tensors)
    except (RecursionError, AttributeError, ValueError):
        digest = "0" * 64
    if isinstance(header, dict):
        header = {key: value for key, value in header.items() if key != "sha256"} | {"sha256": digest}
    return save(tensors, {"juror": nested(json.dumps(header))})


def mutant(corpus: tuple[Parts, ...], rng: np.random.Generator) -> bytes:
    """Return a file of the corpus with one to four changes."""
    header, tensors = pick(rng, corpus)
    header, tensors = json.loads(json.dumps(header)), dict(tensors)
    for _ in range(pick(rng, (1, 1, 1, 2, 3))):
        if rng.random() < 0.75:
            change(header["info"] if header.get("info") and rng.random() < 0.4 else header, rng)
        else:
            _change_array(tensors, rng)
    content = written(header, tensors)
    return _damaged(content, rng) if rng.random() < 0.1 else content


def _change_array(tensors: dict[str, np.ndarray], rng: np.random.Generator) -> None:
    if not tensors:
        return
    name = pick(rng, sorted(tensors))
    array = tensors[name]
    what = pick(rng, ("cell", "cell", "type", "shape", "drop", "rename", "swap", "add", "double"))
    if what == "cell" and array.size:
        array = array.copy()
        array.flat[rng.integers(array.size)] = (
            pick(rng, (0, 1, 2, 7, 100, 127))
            if array.dtype.kind in "iu"
            else pick(rng, (np.nan, np.inf, -np.inf, -1e-9, -1.0, 0.0, 0.5, 1e300, 1e-320))
        )
        tensors[name] = array
    elif what == "type":
        with np.errstate(all="ignore"):
            tensors[name] = array.astype(pick(rng, ("f4", "f2", "i8", "u1", "?", "i1", "u8")))
    elif what == "shape":
        tensors[name] = (
            pick(
                rng,
                (
                    array.T.copy(),
                    array.ravel(),
                    np.atleast_1d(array)[..., :0],
                    array[None],
                    array.reshape(-1)[:1].reshape(()),
                ),
            )
            if array.size
            else array[None]
        )
    elif what == "drop":
        del tensors[name]
    elif what == "rename":
        tensors[
            pick(rng, (name + "0", "weights", "factor.0", "factor.9", "block.0.weights", "counts", *TEXTS[2:5]))
        ] = tensors.pop(name)
    elif what == "swap":
        other = pick(rng, sorted(tensors))
        tensors[name], tensors[other] = tensors[other], tensors[name]
    elif what == "add":
        tensors[pick(rng, ("factor.4", "block.1.weights", "block.0.table.9", "counts", "extra"))] = np.zeros(
            pick(rng, ((), (0,), (3, 2)))
        )
    else:
        tensors[name] = np.concatenate([np.atleast_1d(array)] * 2)


def _damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Change bytes without a new digest: most such files are refused at once."""
    damaged = bytearray(content)
    what = pick(rng, ("bytes", "cut", "length", "grow"))
    if what == "bytes":
        for place in rng.integers(len(damaged), size=int(rng.integers(1, 20))):
            damaged[place] = int(rng.integers(256))
    elif what == "cut":
        del damaged[int(rng.integers(len(damaged))) :]
    elif what == "length":
        damaged[:8] = struct.pack("<Q", pick(rng, (0, 1, 2, len(damaged), 10**8, 2**62, 2**64 - 1)))
    else:
        damaged += bytes(rng.integers(256, size=int(rng.integers(1, 100)), dtype=np.uint8))
    return bytes(damaged)


def model_case(rng: np.random.Generator, folder: Path) -> None:
    """Load a changed model and use it in some ways."""
    path = folder / "m.juror"
    path.write_bytes(mutant(models(), rng))
    model = juror.load(path)
    for show in (repr, juror.JointPMF.summary, juror.JointPMF._repr_html_):
        assert isinstance(show(model), str)
    info.described(model, path)
    json.dumps(info.facts(model, path), allow_nan=True)
    for _ in range(3):
        try:
            pick(rng, USES)(model, rng, folder)
        except juror.JurorError:
            continue


def _ask(model: juror.JointPMF, rng: np.random.Generator, folder: Path) -> None:
    names = [str(name) for name in rng.permutation(model.domain.names)]
    given = {names[-1]: pick(rng, model.domain[names[-1]].labels)} if len(names) > 1 else {}
    table = model.marginal(*names[: int(rng.integers(1, 3))][: max(1, len(names) - 1)], given=given)
    cells = table.to_numpy()
    assert np.all(cells >= 0)
    assert abs(cells.sum() - 1) < 1e-5
    str(table), repr(table), table._repr_html_(), table.to_pandas(), str(table.support)


def _interval(model: juror.JointPMF, rng: np.random.Generator, folder: Path) -> None:
    quoted = [json.dumps(name, ensure_ascii=False) for name in model.domain.names]
    table = model.interval(pick(rng, quoted), float(rng.uniform(0.01, 0.99)))
    str(table), table.to_pandas()
    model.interval(", ".join(quoted[:2]))


def _check(model: juror.JointPMF, rng: np.random.Generator, folder: Path) -> None:
    table = model.check()
    str(table), table.to_pandas(), table.sentence


def _mode(model: juror.JointPMF, rng: np.random.Generator, folder: Path) -> None:
    assert set(model.mode(max_nodes=200).row) == set(model.domain.names)


def _rows(model: juror.JointPMF, rng: np.random.Generator, folder: Path) -> None:
    rows = model.sample(5, seed=1)
    assert np.all(model.log_prob(rows) > -np.inf)
    model.sample(3, numbers=True)
    rows = rows.astype(object)
    rows.iloc[0, 0] = None
    model.impute(rows, draws=pick(rng, (None, 1, 2)))
    model.predict(rows, target=model.domain.names[-1])
    model.density(rows)


def _condition(model: juror.JointPMF, rng: np.random.Generator, folder: Path) -> None:
    variable = pick(rng, model.domain.variables)
    rest = model.condition({variable.name: pick(rng, variable.labels)})
    rest.summary()
    _save(rest, rng, folder)


def _information(model: juror.JointPMF, rng: np.random.Generator, folder: Path) -> None:
    assert float(model.entropy(draws=100)) >= -1e-9
    assert np.all(np.isfinite(model.dependence().to_numpy()))


def _save(model: juror.JointPMF, rng: np.random.Generator, folder: Path) -> None:
    """What loads can be saved again, and the second file holds the same."""
    model.save(folder / "again.juror")
    again = juror.load(folder / "again.juror")
    assert again.domain == model.domain
    assert repr(again.info) == repr(model.info)
    assert repr(pickle.loads(pickle.dumps(model)).info) == repr(model.info)


def _compress(model: juror.JointPMF, rng: np.random.Generator, folder: Path) -> None:
    if rng.random() < 0.1:
        model.compress(1, n_jobs=1).summary()


def _report(model: juror.JointPMF, rng: np.random.Generator, folder: Path) -> None:
    if rng.random() < 0.05:
        juror.Report(model).to_html()


USES = (_ask, _ask, _interval, _check, _mode, _rows, _condition, _information, _save, _compress, _report)


def counts_case(rng: np.random.Generator, folder: Path) -> None:
    """Read changed counts and use them."""
    path = folder / "c.counts"
    path.write_bytes(mutant(counts(), rng))
    kind = container.read_kind(path)
    made = COUNTS.get(kind or "", juror.PairCounts).load(path)
    repr(made)
    read = saved_files.read_counts(path)
    saved_files.described(read)
    json.dumps(saved_files.facts(read), allow_nan=True)
    made.save(folder / "again.counts")
    again = type(made).load(folder / "again.counts")
    assert again.domain == made.domain
    np.testing.assert_array_equal(again.totals, made.totals)
    together = made + again
    np.testing.assert_allclose(together.totals, 2 * made.totals)
    if isinstance(made, juror.PairCounts) and rng.random() < 0.03:
        juror.fit(made, 2, pick(rng, ("tree", "spa", "pair-em")), n_jobs=1, seed=0)
