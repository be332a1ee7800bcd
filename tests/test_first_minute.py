"""The first fit of a small table waits for no compiler, and gives the same bits whatever has been compiled before."""

import os
import subprocess
import sys

import pytest

from juror.kernels import _FEW_CELLS, few, kernels, kernels_for

FIT = """
import hashlib, sys
import numpy as np, juror
if "compiled" in sys.argv:
    # what a larger table compiles
    codes = np.random.default_rng(0).integers(0, 5, (600, 4))
    juror.fit(codes, 2, "em", max_iter=2, n_init=1)
model = juror.fit(juror.datasets.titanic(), 2, "bayes", sweeps=80)
model.ask("Survived | Sex = Female")
bits = hashlib.sha256()
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
