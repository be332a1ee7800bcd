"""Choose the runner for the client of a cluster, and check that its machines have the same juror as this one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from juror.errors import ClusterError, ParameterError
from juror.runners.local import Runner

# Pickles of one machine can be read by another if these are the same
_COMPARED = ("juror", "numpy", "python")


def runner_for(client: Any) -> Runner:
    """Return the runner of a cluster, after a check of the versions there.

    Parameters
    ----------
    client : dask.distributed.Client or pyspark.sql.SparkSession
        A connection to the cluster; it stays open.

    Examples
    --------
    >>> runner_for("tcp://127.0.0.1:8786")
    Traceback (most recent call last):
    juror.errors.ParameterError: client must be a dask.distributed.Client... Got 'tcp://127.0.0.1:8786' instead.
    """
    for _, accepts, make in _KINDS:
        if accepts(client):
            return make(client)
    names = " or a ".join(name for name, _, _ in _KINDS)
    raise ParameterError(f"client must be a {names}. Got {client!r} instead.")


def is_from(package: str) -> Callable[[Any], bool]:
    """Return a function that tells whether a value's class, or one of its bases, is defined in a package.

    It does not import the package.

    >>> is_from("collections")(__import__("collections").Counter())
    True
    """
    return lambda value: any(kind.__module__.split(".")[0] == package for kind in type(value).__mro__)


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


# Dask and Spark are slow to import, and optional
def _dask(client: Any) -> Runner:
    from juror.runners.dask_runner import DaskRunner

    return DaskRunner(client)


def _spark(session: Any) -> Runner:
    from juror.runners.spark_runner import SparkRunner

    return SparkRunner(session)


# The class of a client, how to recognise it, and its runner
_KINDS: tuple[tuple[str, Callable[[Any], bool], Callable[[Any], Runner]], ...] = (
    ("dask.distributed.Client", is_from("distributed"), _dask),
    ("pyspark.sql.SparkSession", is_from("pyspark"), _spark),
)
