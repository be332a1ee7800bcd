"""Check that the machines of a cluster have the same juror, NumPy and Python as this one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from juror.errors import ClusterError

# Pickles of one machine can be read by another if these are the same
_COMPARED = ("juror", "numpy", "python")


def versions_here() -> dict[str, str | None]:
    """Return the versions of juror, NumPy and Python of this process; None for a package that is not installed.

    >>> sorted(versions_here())
    ['juror', 'numpy', 'python']
    """
    found: dict[str, str | None] = {"python": ".".join(map(str, sys.version_info[:3]))}
    for package in ("juror", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def check_versions(processes: Mapping[str, Mapping[str, str | None]]) -> None:
    """Raise a ClusterError where juror differs, or Python or NumPy differ in more than the last number.

    Parameters
    ----------
    processes : mapping of str to mapping
        For every process, such as ``"worker at tcp://10.0.0.7:40001"``, its versions of ``juror``, ``numpy`` and
        ``python``; None for a missing package.

    Examples
    --------
    >>> check_versions({"worker at tcp://10.0.0.7:40001": versions_here()})
    >>> check_versions({"worker at tcp://10.0.0.7:40001": versions_here() | {"python": "3.9.2"}})
    Traceback (most recent call last):
    juror.errors.ClusterError: The worker at tcp://10.0.0.7:40001 has python 3.9.2, and this process has ...
    """
    here = versions_here()
    for process, there in processes.items():
        for package in _COMPARED:
            if _relevant(package, there[package]) != _relevant(package, here[package]):
                raise ClusterError(
                    f"The {process} has {_named(package, there[package])}, and this process has "
                    f"{_named(package, here[package])}. Install the same version of {package} on both."
                )


def _relevant(package: str, version: str | None) -> str | None:
    """Return the part of a version that must be the same: all of juror's, the first two numbers of others."""
    return version if version is None or package == "juror" else ".".join(version.split(".")[:2])


def _named(package: str, version: str | None) -> str:
    return f"no {package}" if version is None else f"{package} {version}"
