"""A Dask cluster as a runner: workers read the parts, and merge what they found among themselves.

A job of ``map_reduce`` is a tree of tasks: a leaf for every part, and a merge for every eight neighbours, level after
level, on workers, so that one result comes here however many parts there are. The tree depends on the number of parts
only, so sums are the same bits whoever is first. Dask runs tasks again when a worker is lost; as they return values and
put nothing aside, no part is counted twice.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any, NoReturn, TypeVar
from uuid import uuid4

from juror.errors import ClusterError, DataError, ParameterError, check_any_rows
from juror.readers.columns import Column, read_markers
from juror.readers.scans import Held, Scan
from juror.runners.clusters import check_versions
from juror.runners.local import Kept

R = TypeVar("R")

# As many results are merged by one task: a worker holds so many at once
_NEIGHBOURS = 8
# Parts go to the scheduler so many at a time, and functions in pieces of so many bytes: Dask warns of messages > 10 MB
_BATCH = 1024
_PIECE = 2**22
# While waiting, look every so many seconds whether the cluster is still there
_GLANCE = 2.0
# First what all others wait for, then what makes results smaller, then what makes more of them
_FUNCTIONS, _MERGING, _LEAVES = 3, 2, 1


@dataclass(frozen=True)
class FramePart:
    """A partition of a Dask frame; without a client, it is computed where it is read.

    Attributes
    ----------
    partition : dask.delayed.Delayed
        How to make the pandas frame.
    missing : tuple
        Markers that stand for a missing value.
    number : int
        Which partition of the frame it is.
    """

    partition: Any
    missing: tuple[Any, ...]
    number: int = 0

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Compute the partition in this thread, and yield all its rows at once."""
        return _hold(self.partition.compute(scheduler="synchronous"), self.missing, self.number).chunks(names)


def is_dask_frame(data: Any) -> bool:
    """Tell whether data are a Dask frame, without importing Dask to say no.

    >>> is_dask_frame({"colour": ["red"]})
    False
    """
    # whoever has such a frame has imported its module
    module = sys.modules.get("dask.dataframe")
    return module is not None and isinstance(data, module.DataFrame)


def scan_dask_frame(frame: Any, missing: Collection[object] = ()) -> Scan:
    """Offer the partitions of a Dask frame, in their order, as a table in parts.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The frame. Its rows stay on the cluster of the current client, if there is one.
    missing : collection
        Markers that stand for a missing value.
    """
    from juror.readers.frames import open_frame

    markers = read_markers(missing)
    # a frame of no rows that has the columns and types of all partitions
    columns = open_frame(frame._meta, ())
    if not columns:
        raise DataError("The data have no columns. juror needs at least one.")
    # objects can be numbers as well
    numbers = (c.name for c in columns if c.form == "number" or frame._meta[c.name].dtype == object)
    parts = [FramePart(partition, markers, number) for number, partition in enumerate(frame.to_delayed())]
    return Scan(parts, tuple(column.name for column in columns), frozenset(numbers), client=_current_client())


def _current_client() -> Any:
    """Return the client that Dask itself would compute a frame with, which alone has what was persisted, or None."""
    if "distributed" not in sys.modules:
        return None
    try:
        return _distributed().Client.current()
    except ValueError:
        return None


class DaskRunner:
    """The workers of a Dask cluster.

    Parameters
    ----------
    client : dask.distributed.Client
        A connection to the cluster, not an asynchronous one. It stays open.
    patience : float
        For how many seconds to wait for a worker when the cluster has none, as one that grows on demand.
    """

    def __init__(self, client: Any, patience: float = 60.0):
        if not isinstance(client, _distributed().Client):
            raise ParameterError(
                f"client must be a dask.distributed.Client. Got a {type(client).__name__} instead; connect with "
                "Client(cluster)."
            )
        if client.asynchronous:
            raise ParameterError("client must not be asynchronous. Connect with Client(address, asynchronous=False).")
        self._client, self._patience = client, patience
        self._checked: set[str] = set()
        self._check_client()
        self._address = client.scheduler.address
        # a cluster that grows on demand starts its first worker for this
        self._result(self._submit("hello", int))
        self._check_versions()

    def map_reduce(self, fn: Callable[[Any], R], parts: Any, merge: Callable[[R, R], R]) -> R:
        """Apply a function to every part, and merge the results in the parts' order."""
        self._check_versions()
        return self._result(self._plant(_apply, fn, self._inputs(parts), merge))

    def keep(self, load: Callable[[Any], Any], parts: Any) -> Kept:
        """Load something from every part, and keep it in the memory of the worker that did.

        Dask loads it again when that worker is lost, writes it to that worker's disk when memory gets short, and may
        copy it to a worker that has nothing to do.
        """
        self._check_versions()
        kept = _KeptThere(self, self._map(_load, self._inputs(parts), self._send((load,)), _LEAVES))
        try:
            # this waits for all of them, and raises what loading raised
            kept.map_reduce(_nothing, _nothing)
        except BaseException:
            kept.release()
            raise
        return kept

    def _inputs(self, parts: Iterable[Any]) -> list[Any]:
        """Return what leaves are given: parts, or futures of parts for the partitions of a frame."""
        parts = list(parts)
        if not all(isinstance(part, FramePart) for part in parts):
            return parts
        from dask.delayed import delayed

        hold = delayed(_hold, pure=False)
        with self._reached():
            return list(self._client.compute([hold(part.partition, part.missing, part.number) for part in parts]))

    def _plant(self, leaf: Callable[..., Any], fn: Any, inputs: Sequence[Any], merge: Any) -> Any:
        """Submit the tree of a job, and return its root: as no other future is held, workers forget what is merged."""
        functions = self._send((fn, merge))
        level = self._map(leaf, inputs, functions, _LEAVES)
        while len(level) > 1:
            families = [level[start : start + _NEIGHBOURS] for start in range(0, len(level), _NEIGHBOURS)]
            level = self._map(_merge, families, functions, _MERGING)
        return level[0]

    def _send(self, functions: tuple[Callable[..., Any], ...]) -> Any:
        """Send functions, with the arrays they may hold, to the cluster once a job; workers pass them on.

        They are the result of a task and not scattered data, so they too can be made again when a worker is lost.
        """
        whole = _distributed().protocol.pickle.dumps(functions)
        pieces = [whole[start : start + _PIECE] for start in range(0, len(whole), _PIECE)]
        if len(pieces) > 1:
            pieces = [self._submit("piece", bytes, piece) for piece in pieces]
        return self._submit("functions", _unpickle, pieces)

    def _map(self, task: Callable[..., Any], inputs: Sequence[Any], functions: Any, priority: int) -> list[Any]:
        check_any_rows(len(inputs))
        # not pure: Dask would take the result of an earlier job for one with the same arguments
        options = {"key": f"juror{task.__name__}", "pure": False, "priority": priority, "batch_size": _BATCH}
        with self._reached():
            return list(self._client.map(task, inputs, functions=functions, **options))

    def _submit(self, name: str, task: Callable[..., Any], *arguments: Any) -> Any:
        with self._reached():
            return self._client.submit(task, *arguments, key=f"juror-{name}-{uuid4()}", priority=_FUNCTIONS)

    def _result(self, future: Any) -> Any:
        """Wait for a future and return its value, or raise what its task raised; let go of it in any case.

        Where this is interrupted, Dask forgets the tasks that have not begun, as no one waits for them.
        """
        try:
            with self._reached():
                error = self._wait(future)
                # this also raises that the future was cancelled, which is no error of a task
                if future.status != "error":
                    return future.result()
                trace = future.traceback()
            self._raise(error.with_traceback(trace))
        finally:
            future.release()

    def _wait(self, future: Any) -> Any:
        """Wait until a task has ended, and return what it raised, if anything."""
        last_seen = time.monotonic()
        while True:
            try:
                return future.exception(timeout=min(_GLANCE, self._patience))
            except TimeoutError:
                # without workers Dask would wait for ever; without a scheduler this raises
                if self._client.nthreads():
                    last_seen = time.monotonic()
            if time.monotonic() - last_seen > self._patience:
                raise ClusterError(
                    f"The Dask scheduler at {self._address} has had no workers for {self._patience:g} seconds. Start "
                    "some, for example with dask worker and this address."
                )

    def _raise(self, error: BaseException) -> NoReturn:
        """Raise what a task raised, in clear words where it is the worker that failed."""
        if isinstance(error, _distributed().KilledWorker):
            raise ClusterError(
                f"{error.allowed_failures + 1} Dask workers died one after the other at the same task, the last at "
                f"{error.last_worker.address}, most likely for lack of memory. Give workers more memory or fewer "
                "threads, or cut the data into smaller parts."
            ) from error
        if isinstance(error, MemoryError):
            raise ClusterError(
                "A Dask worker has too little memory for its task. Give workers more memory or fewer threads, or cut "
                "the data into smaller parts."
            ) from error
        raise error

    def _check_client(self) -> None:
        if self._client.status != "running":
            raise ClusterError(
                f"The Dask client is {self._client.status} and has no scheduler. See whether the scheduler runs, and "
                "connect a new client."
            )

    def _check_versions(self) -> None:
        """Compare the versions of workers that were not there before with those of this process."""
        self._check_client()
        with self._reached():
            workers = set(self._client.nthreads())
            if workers <= self._checked:
                return
            found = self._client.get_versions(packages=["juror"])
        versions = {f"worker at {address}": there["packages"] for address, there in found["workers"].items()}
        # it unpickles tasks too
        check_versions(versions | {f"scheduler at {self._address}": found["scheduler"]["packages"]})
        self._checked = workers

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Raise a clear error where the scheduler does not answer."""
        dask = _distributed()
        try:
            yield
        except (dask.CancelledError, dask.client.ClosedClientError, OSError) as error:
            raise ClusterError(
                f"The Dask scheduler at {self._address} went away, was restarted or dropped the work "
                f"({type(error).__name__}). See whether it runs, connect a new client and try again."
            ) from error


class _KeptThere:
    """Futures of what workers have loaded."""

    def __init__(self, runner: DaskRunner, futures: list[Any]):
        self._runner, self._futures = runner, futures

    def map_reduce(self, fn: Callable[[Any], R], merge: Callable[[R, R], R]) -> R:
        self._runner._check_versions()
        return self._runner._result(self._runner._plant(_apply_to_loaded, fn, self._futures, merge))

    def release(self) -> None:
        for future in self._futures:
            future.release()
        self._futures = []


class _Loaded:
    """A value that tells Dask how large it is, which only knows arrays: tasks go where the large ones are."""

    def __init__(self, value: Any):
        buffers: list[pickle.PickleBuffer] = []
        stream = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        self.value, self._size = value, len(stream) + sum(buffer.raw().nbytes for buffer in buffers)

    def __sizeof__(self) -> int:
        return self._size


def _distributed() -> Any:
    """Return Dask's package of clusters, which whoever has a client has imported, as one that needs no types."""
    import distributed

    return distributed


# What tasks do; pickled by name, so that the scheduler needs nothing but juror to read them
def _unpickle(pieces: list[bytes]) -> Any:
    return pickle.loads(b"".join(pieces))


def _apply(part: Any, functions: tuple[Callable[..., Any], ...]) -> Any:
    return functions[0](part)


def _load(part: Any, functions: tuple[Callable[..., Any], ...]) -> _Loaded:
    return _Loaded(functions[0](part))


def _apply_to_loaded(loaded: _Loaded, functions: tuple[Callable[..., Any], ...]) -> Any:
    return functions[0](loaded.value)


def _merge(results: list[Any], functions: tuple[Callable[..., Any], ...]) -> Any:
    return reduce(functions[1], results)


def _nothing(*values: Any) -> None:
    return None


def _hold(frame: Any, missing: tuple[Any, ...], number: int) -> Held:
    from juror.readers.frames import open_frame

    return Held(open_frame(frame, missing), number)
