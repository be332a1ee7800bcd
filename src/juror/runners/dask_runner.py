"""A Dask cluster as a runner: its workers read the parts and merge the results.

``map_reduce`` submits a tree of tasks: one leaf for every part, then one merge for every eight neighbours, level by
level. Workers merge, so a single result comes back. The tree depends only on the number of parts, so a sum has the same
bits whichever task ends first. Dask runs a task again when its worker is lost. Tasks are pure, so no part is counted
twice.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any, NoReturn, Protocol, TypeVar, runtime_checkable
from uuid import uuid4

from juror.errors import ClusterError, ParameterError
from juror.runners.local import Kept, check_any_rows
from juror.runners.versions import check_versions

R = TypeVar("R")

# Results that one task merges; its worker holds them all at once
_NEIGHBOURS = 8
# Parts in a message to the scheduler, and bytes of a function in one: Dask warns of messages above 10 MB
_BATCH = 1024
_PIECE = 2**22
# Seconds between two checks that the cluster is still there
_CHECK_EVERY = 2.0
# Priorities: functions first, as all tasks wait for them; then merges, which free memory; then leaves
_FUNCTIONS, _MERGING, _LEAVES = 3, 2, 1


@runtime_checkable
class DelayedPart(Protocol):
    """A part that the cluster makes, such as a partition of a Dask frame."""

    def delayed(self) -> Any:
        """Return the task, a ``dask.delayed.Delayed``, that makes the part with its rows."""
        ...


class DaskRunner:
    """The workers of a Dask cluster.

    Parameters
    ----------
    client : dask.distributed.Client
        A connection to the cluster, not an asynchronous one. It stays open.
    patience : float
        How many seconds to wait for a worker when the cluster has none, for clusters that grow on demand.
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

        Dask loads it again when that worker is lost, writes it to that worker's disk when memory is short, and may copy
        it to an idle worker.
        """
        self._check_versions()
        kept = _KeptThere(self, self._map(_load, self._inputs(parts), self._send((load,)), _LEAVES))
        try:
            # wait for all of them, and raise the errors of loading
            kept.map_reduce(_nothing, _nothing)
        except BaseException:
            kept.release()
            raise
        return kept

    def _inputs(self, parts: Iterable[Any]) -> list[Any]:
        """Return the arguments of the leaves: the parts, or futures of the parts of a frame."""
        parts = list(parts)
        if not all(isinstance(part, DelayedPart) for part in parts):
            return parts
        with self._reached():
            return list(self._client.compute([part.delayed() for part in parts]))

    def _plant(self, leaf: Callable[..., Any], fn: Any, inputs: Sequence[Any], merge: Any) -> Any:
        """Submit the tree of a job and return its root. No other future is held, so workers free what is merged."""
        functions = self._send((fn, merge))
        level = self._map(leaf, inputs, functions, _LEAVES)
        while len(level) > 1:
            families = [level[start : start + _NEIGHBOURS] for start in range(0, len(level), _NEIGHBOURS)]
            level = self._map(_merge, families, functions, _MERGING)
        return level[0]

    def _send(self, functions: tuple[Callable[..., Any], ...]) -> Any:
        """Send functions, with the arrays they hold, to the cluster once a job; workers pass them on.

        They are the result of a task, not scattered data, so Dask can make them again when a worker is lost.
        """
        whole = _distributed().protocol.pickle.dumps(functions)
        pieces = [whole[start : start + _PIECE] for start in range(0, len(whole), _PIECE)]
        if len(pieces) > 1:
            pieces = [self._submit("piece", bytes, piece) for piece in pieces]
        return self._submit("functions", _unpickle, pieces)

    def _map(self, task: Callable[..., Any], inputs: Sequence[Any], functions: Any, priority: int) -> list[Any]:
        check_any_rows(len(inputs))
        # not pure, or Dask would reuse the result of an earlier job with the same arguments
        options = {"key": f"juror{task.__name__}", "pure": False, "priority": priority, "batch_size": _BATCH}
        with self._reached():
            return list(self._client.map(task, inputs, functions=functions, **options))

    def _submit(self, name: str, task: Callable[..., Any], *arguments: Any) -> Any:
        with self._reached():
            return self._client.submit(task, *arguments, key=f"juror-{name}-{uuid4()}", priority=_FUNCTIONS)

    def _result(self, future: Any) -> Any:
        """Wait for a future and return its value, or raise the error of its task; release it in any case.

        After an interrupt, Dask drops the tasks that have not begun, as nobody holds their futures.
        """
        try:
            with self._reached():
                error = self._wait(future)
                # for a cancelled future, which is not an error of its task, result() raises
                if future.status != "error":
                    return future.result()
                trace = future.traceback()
            self._raise(error.with_traceback(trace))
        finally:
            future.release()

    def _wait(self, future: Any) -> Any:
        """Wait until a task has ended, and return its error, if any."""
        last_seen = time.monotonic()
        while True:
            try:
                return future.exception(timeout=min(_CHECK_EVERY, self._patience))
            except TimeoutError:
                # without workers Dask would wait forever; without a scheduler nthreads() raises
                if self._client.nthreads():
                    last_seen = time.monotonic()
            if time.monotonic() - last_seen > self._patience:
                raise ClusterError(
                    f"The Dask scheduler at {self._address} has had no workers for {self._patience:g} seconds. Start "
                    "some, for example with dask worker and this address."
                )

    def _raise(self, error: BaseException) -> NoReturn:
        """Raise the error of a task, or a ClusterError where its worker failed."""
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
        """Compare the versions of new workers with those of this process."""
        self._check_client()
        with self._reached():
            workers = set(self._client.nthreads())
            if workers <= self._checked:
                return
            found = self._client.get_versions(packages=["juror"])
        versions = {f"worker at {address}": there["packages"] for address, there in found["workers"].items()}
        # the scheduler unpickles tasks too
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
    """The futures of values that workers hold."""

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
    """A value that reports its size, so that Dask sends tasks to the large ones; of itself it measures arrays only."""

    def __init__(self, value: Any):
        buffers: list[pickle.PickleBuffer] = []
        stream = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        self.value, self._size = value, len(stream) + sum(buffer.raw().nbytes for buffer in buffers)

    def __sizeof__(self) -> int:
        return self._size


def _distributed() -> Any:
    """Import Dask's package of clusters, as Any to the type checker."""
    import distributed

    return distributed


# The tasks. They are pickled by name, so that the scheduler can read them if it has juror.
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
