"""Arrays in files that juror did not write like that: each is refused when it is loaded, with the digest made anew."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save

import juror
from juror.errors import ModelFileError
from juror.files import container
from juror.testing import random_codes, random_forest_model, random_model


def changed(path, change):
    """Change the header and the arrays of a file, and write them with a digest that fits."""
    with safe_open(path, framework="np") as opened:
        header = json.loads(opened.metadata()["juror"])
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    del header["sha256"]
    change(header, tensors)
    header["sha256"] = container._digest(header, tensors)
    path.write_bytes(save(tensors, {"juror": json.dumps(header)}))


@pytest.fixture(params=["product", "forests", "one block without edges"])
def model(request):
    rng = np.random.default_rng(0)
    if request.param == "product":
        return random_model((2, 3, 2), 3, rng)
    made = random_forest_model((2, 3, 2), (2, 3) if request.param == "forests" else (3,), rng, edges=0.0)
    counts = juror.PairCounts.of_codes(random_codes(made, 50, rng), made.domain)
    return juror.JointPMF.of_blocks(made.blocks, made.domain, None, counts)


SHAPES = {
    "a number": lambda array: array.reshape(-1)[:1].reshape(()),
    "a row": np.ravel,
    "empty": lambda array: array[..., :0],
    "one more axis": lambda array: array[None],
    "transposed": lambda array: array[:, :1].T if array.ndim > 1 else array[:1],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_of_another_shape(model, shape, tmp_path):
    path = tmp_path / "m.juror"
    model.save(path)
    whole = path.read_bytes()
    with safe_open(path, framework="np") as opened:
        shapes = {name: opened.get_tensor(name).shape for name in opened.keys()}  # noqa: SIM118
    # counts are bytes, of any shape
    for name in shapes.keys() - {"counts"}:

        def reshape(header, tensors, name=name):
            tensors[name] = np.ascontiguousarray(SHAPES[shape](tensors[name]))

        path.write_bytes(whole)
        changed(path, reshape)
        with safe_open(path, framework="np") as opened:
            if opened.get_tensor(name).shape == shapes[name]:
                continue
        with pytest.raises(ModelFileError, match=r"m\.juror"):
            juror.load(path)


@pytest.mark.parametrize("weights", [[1.0, 0.0, 1.0], [1.0], [1.0, -1.0], [0.0, 0.0], [1.0, 1e999]], ids=str)
def test_weights_of_conditions(weights, tmp_path):
    path = tmp_path / "m.juror"
    random_model((2, 3, 2), 3, np.random.default_rng(0)).condition(x0=1).save(path)
    assert str(juror.load(path).conditions) == "x0 = 1"

    def change(header, tensors):
        header["conditions"]["weights"]["x0"] = weights

    changed(path, change)
    with pytest.raises(ModelFileError, match=r"m\.juror"):
        juror.load(path)


def test_conditions_on_other_variables(tmp_path):
    path = tmp_path / "m.juror"
    random_model((2, 3, 2), 3, np.random.default_rng(0)).condition(x0=1).save(path)

    def change(header, tensors):
        header["conditions"]["domain"]["variables"].pop()

    changed(path, change)
    with pytest.raises(ModelFileError, match=r"m\.juror"):
        juror.load(path)


def test_a_header_that_is_longer_than_the_file_takes_no_memory(tmp_path):
    path = tmp_path / "short.counts"
    path.write_bytes((10**8).to_bytes(8, "little") + b"{")
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match="cut short"):
            container.read_kind(path)
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


def test_histograms_of_truth_values_add_up(tmp_path):
    path = tmp_path / "p.counts"
    domain = juror.Domain.from_cardinalities([2, 2])
    juror.Projections.of({"x0": [0], "x1": [1]}, n_directions=3, domain=domain).save(path)

    def change(header, tensors):
        tensors["histogram.0"] = tensors["histogram.0"].astype(bool)

    changed(path, change)
    loaded = juror.Projections.load(path)
    np.testing.assert_array_equal((loaded + loaded).totals, 2 * loaded.totals)


@pytest.mark.parametrize("n_rows", [0, 49])
def test_counts_of_fewer_rows_than_a_table_has(n_rows, tmp_path):
    rng = np.random.default_rng(0)
    made = random_forest_model((2, 3, 2), (2, 3), rng)
    counts = juror.PairCounts.of_codes(random_codes(made, 50, rng, missing=0.0), made.domain)
    juror.JointPMF.of_blocks(made.blocks, made.domain, None, counts).save(tmp_path / "m.juror")
    changed(tmp_path / "m.juror", lambda header, tensors: header["counts"].update(n_rows=n_rows))
    with pytest.raises(ModelFileError, match=f"its counts are of {n_rows} rows, and one of its tables has 50"):
        juror.load(tmp_path / "m.juror")
