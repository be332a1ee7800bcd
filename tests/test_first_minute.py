"""The first fit of a small table waits for no compiler, and gives the same bits whatever has been compiled before."""

import os
import subprocess
import sys
from importlib import import_module

import pytest

from juror.kernels import _FEW_CELLS, few, kernels, kernels_for

FIT = """
import hashlib, sys
import numpy as np, pandas as pd, juror
if "compiled" in sys.argv:
    # what a larger table compiles
    codes = np.random.default_rng(0).integers(0, 9, (4000, 4))
    juror.fit(codes, 2, "em", max_iter=2, n_init=1)
titanic = juror.datasets.titanic()
random = np.random.default_rng(0)
holes = pd.DataFrame(random.integers(0, 3, (200, 5)), columns=list("abcde")).mask(random.random((200, 5)) < 0.2)
bits = hashlib.sha256()
size, other = random.normal(size=(2, 500))
wide = pd.DataFrame(random.integers(0, 3, (500, 8))).add_prefix("w").assign(size=size, other=size + other)
wide = wide.mask(random.random((500, 10)) < 0.2)
few = {"max_iter": 5, "n_init": 1}
fits = ((titanic, "bayes", {"sweeps": 80}), (wide, "bayes", {"sweeps": 40}), (holes, "em", few))
for rows, method, options in fits:
    model = juror.fit(rows, 2, method, **options)
    model.ask(str(rows.columns[0]))
    bits.update(model.impute(rows.head(100), draws=2, seed=1)[0].to_csv().encode())
    for block in model.blocks:
        for array in (block.weights, *block.tables):
            bits.update(np.ascontiguousarray(array).tobytes())
print(bits.hexdigest(), "numba" in sys.modules)
"""


def fit_in_a_new_process(cache, *arguments):
    environment = {name: value for name, value in os.environ.items() if name != "JUROR_KERNELS"}
    done = subprocess.run(
        [sys.executable, "-c", FIT, *arguments],
        env=environment | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_a_small_table_compiles_nothing_and_has_the_same_bits(tmp_path):
    first, compiler = fit_in_a_new_process(tmp_path)
    assert compiler == "False"
    assert not list(tmp_path.rglob("*.nbc"))
    again, compiler = fit_in_a_new_process(tmp_path, "compiled")
    # The second process did compile.
    assert compiler == "True"
    assert list(tmp_path.rglob("*.nbc"))
    assert first == again


@pytest.mark.skipif("JUROR_KERNELS" in os.environ, reason="the kernels are given")
def test_the_size_alone_decides():
    assert kernels_for(_FEW_CELLS) is few
    assert kernels_for(_FEW_CELLS + 1) is kernels()


def test_a_part_of_kernels_refuses_python():
    padded = import_module("juror.kernels.jit.products").padded
    with pytest.raises(TypeError, match=r"'padded' is a part of kernels and has no wrapper for Python\. .*@kernel"):
        padded(None)
