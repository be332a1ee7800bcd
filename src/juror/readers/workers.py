"""Choose the runner of a table: local threads, or the cluster of a client."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from typing import Any

from juror.errors import Message, ParameterError
from juror.readers.scans import Held, Scan
from juror.runners.local import LocalRunner, Runner


def workers_for(scan: Scan, client: Any, local: LocalRunner) -> tuple[Scan, Runner]:
    """Return a table as its workers see it, and the runner: the cluster of a client, or threads on this machine.

    A frame of a cluster brings its own client.
    """
    client = scan.client if client is None else client
    if client is None:
        return scan, local
    if isinstance(scan.parts, tuple) and any(isinstance(part, Held) for part in scan.parts):
        raise ParameterError(
            Message(
                "{client} is for data that workers can read: files that they see, or a frame of the cluster. These "
                "rows are in the memory of this process. Leave {client} out, or write them to a Parquet file."
            )
        )
    from juror.runners.clusters import runner_for

    scan = _with_whole_paths(scan)
    if isinstance(scan.parts, tuple) and scan.parts:
        # a stream cannot be pickled, and its own error is shorter than that of a cluster
        pickle.dumps(scan.parts[0])
    return scan, runner_for(client)


def _with_whole_paths(scan: Scan) -> Scan:
    """Make the paths of files absolute, as workers may be in other folders."""
    if not isinstance(scan.parts, (list, tuple)):
        return scan
    parts = [replace(part, path=os.path.abspath(part.path)) if hasattr(part, "path") else part for part in scan.parts]
    return replace(scan, parts=tuple(parts), in_memory=False)
