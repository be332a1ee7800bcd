"""Choose the runner for a table: threads of this process, or the cluster of a client."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from typing import Any

from juror.errors import ParameterError
from juror.readers.scans import Held, Scan
from juror.runners.local import LocalRunner, Runner


def workers_for(scan: Scan, client: Any, local: LocalRunner) -> tuple[Scan, Runner]:
    """Return a table as its workers see it, and their runner: the cluster of a client, or threads of this process.

    Parameters
    ----------
    scan : Scan
        The table; a frame of a cluster has its own client.
    client : dask.distributed.Client or pyspark.sql.SparkSession, optional
        The cluster.
    local : LocalRunner
        The threads to use without a cluster.
    """
    client = scan.client if client is None else client
    if client is None:
        return scan, local
    if isinstance(scan.parts, tuple) and any(isinstance(part, Held) for part in scan.parts):
        raise ParameterError(
            "client is for rows that workers can read by themselves: files that they see, or a frame of the cluster. "
            "These are in the memory of this process; leave client out, or write them to a Parquet file."
        )
    from juror.runners.clusters import runner_for

    scan = _with_whole_paths(scan)
    if isinstance(scan.parts, tuple) and scan.parts:
        # a stream cannot be sent, and says so in one sentence; a framework would print a traceback
        pickle.dumps(scan.parts[0])
    return scan, runner_for(client)


def _with_whole_paths(scan: Scan) -> Scan:
    """Make paths absolute, as workers may run in other folders."""
    if not isinstance(scan.parts, (list, tuple)):
        return scan
    parts = [replace(part, path=os.path.abspath(part.path)) if hasattr(part, "path") else part for part in scan.parts]
    return replace(scan, parts=tuple(parts), in_memory=False)
