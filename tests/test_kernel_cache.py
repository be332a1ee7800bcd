"""The cache of compiled kernels on disk: whatever is wrong with it, kernels run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

KERNEL = """
from juror.kernels.jit.compiling import kernel, part

@part
def doubled(x):
    return 2 * x

@kernel
def twice(x):
    return doubled(x)
"""
USE = "import small; print(small.twice(21))"
# Writing to a file fails as on a full disk: at the first byte.
FULL = (
    "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0));"
)


@pytest.fixture
def use(tmp_path):
    """Use a small kernel in a new process, whose cache is in a folder of its own."""
    (tmp_path / "small.py").write_text(KERNEL)
    cache = tmp_path / "cache"

    def use(before: str = "") -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            [sys.executable, "-c", before + USE],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    use.cache = cache
    return use


def test_a_kernel_runs_on_a_full_disk(use):
    done = use(FULL)
    assert done.stdout == "42\n", done.stderr
    assert done.stderr.count("RuntimeWarning: Compiled kernels cannot be cached on disk") == 1
    # once there is room, the kernel is cached, with its part in it
    assert use().stderr == ""
    (cached,) = use.cache.rglob("*.nbc")
    assert "twice" in cached.name


@pytest.mark.parametrize(("ending", "content"), [("*.nbi", b""), ("*.nbc", b"\x80torn")])
def test_a_kernel_runs_with_a_torn_cache(use, ending, content):
    assert use().stdout == "42\n"
    (torn,) = use.cache.rglob(ending)
    torn.write_bytes(content)
    assert use().stdout == "42\n"
