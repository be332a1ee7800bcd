"""Choose the runner for the client of a cluster."""

from __future__ import annotations

from typing import Any

from juror.errors import ParameterError
from juror.runners.dask_runner import DaskRunner
from juror.runners.local import Runner
from juror.runners.spark_runner import SparkRunner


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
    # the packages that define its class and the bases of that, so that neither Dask nor Spark is imported
    packages = {kind.__module__.split(".")[0] for kind in type(client).__mro__}
    if "distributed" in packages:
        return DaskRunner(client)
    if "pyspark" in packages:
        return SparkRunner(client)
    raise ParameterError(
        f"client must be a dask.distributed.Client or a pyspark.sql.SparkSession. Got {client!r} instead."
    )
