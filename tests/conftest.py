"""Set-up of the whole suite."""

from pathlib import Path

import juror


def pytest_configure(config):
    """Forget compiled kernels that are older than any kernel's source.

    numba looks only at the file a kernel is in, not at those of the functions it calls.
    """
    if hasattr(config, "workerinput"):
        return
    folder = Path(juror.__file__).parent / "kernels" / "jit"
    compiled = [*folder.rglob("*.nbi"), *folder.rglob("*.nbc")]
    newest = max(source.stat().st_mtime for source in folder.glob("*.py"))
    if any(file.stat().st_mtime < newest for file in compiled):
        for file in compiled:
            file.unlink(missing_ok=True)
