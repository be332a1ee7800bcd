"""Connect to the cluster that --dask or --spark names, for the duration of a command."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from importlib import import_module
from threading import Thread
from typing import Any

from juror.errors import ClusterError, MissingDependencyError, ParameterError

# Seconds to wait for a scheduler before we say that it does not answer
_PATIENCE = 10.0
_HOST = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<name>[^:/\[\]]+)):(?P<port>\d+)")
# Schemes whose port we can test; other clusters are found by their own library
_KNOCKED = ("tcp", "tls", "spark")


@contextmanager
def cluster(dask: str | None, spark: str | None) -> Iterator[Any]:
    """Connect to a cluster and disconnect at the end; yield None if no cluster is named."""
    if dask is not None and spark is not None:
        raise ParameterError("--dask and --spark name two clusters. Name one.")
    if dask is not None:
        with _dask(dask) as client:
            yield client
    elif spark is not None:
        with _spark(spark) as session:
            yield session
    else:
        yield None


@contextmanager
def _dask(address: str) -> Iterator[Any]:
    Client = _installed("--dask", "distributed", "dask").Client
    _knock("--dask", "Dask scheduler", address, "tcp://host:8786")
    try:
        # A server that accepts the connection and never answers would block Dask for ever.
        client = _in_time(lambda: Client(address, timeout=_PATIENCE, set_as_default=False), 2 * _PATIENCE)
    except (OSError, ValueError) as error:
        raise _unreachable("Dask scheduler", address, error) from None
    try:
        yield client
    finally:
        client.close()


@contextmanager
def _spark(master: str) -> Iterator[Any]:
    SparkSession = _installed("--spark", "pyspark.sql", "spark").SparkSession
    # Spark itself tries for a minute, and prints pages of errors.
    _knock("--spark", "Spark master", master, "spark://host:7077")
    try:
        builder = SparkSession.builder.master(master).appName("juror")
        session = builder.config("spark.ui.enabled", False).config("spark.ui.showConsoleProgress", False).getOrCreate()
    except Exception as error:  # Java raises many kinds of exceptions
        raise _unreachable("Spark master", master, error) from None
    try:
        yield session
    finally:
        session.stop()


def _knock(option: str, what: str, address: str, example: str) -> None:
    """Refuse text that is no address, and an address where nothing listens. Of several, one that listens is enough."""
    scheme, mark, rest = address.partition("://")
    if not mark and option == "--spark" and re.match(r"local|yarn", address):
        return
    if mark and scheme not in _KNOCKED:
        return
    places = [_HOST.fullmatch(place) for place in rest.rstrip("/").split(",")]
    if not mark or not all(places):
        raise ParameterError(f"{option} must be the address of a {what}, like {example}. Got {address!r} instead.")
    failure = None
    for place in filter(None, places):
        try:
            socket.create_connection((place["six"] or place["name"], int(place["port"])), _PATIENCE).close()
            return
        except (OSError, OverflowError) as error:
            failure = error
    if failure is not None:
        raise _unreachable(what, address, failure)


def _in_time(make: Callable[[], Any], seconds: float) -> Any:
    """Call a function in a thread, and abandon the thread if it takes too long."""
    made: Future[Any] = Future()

    def work() -> None:
        try:
            made.set_result(make())
        except BaseException as error:
            made.set_exception(error)

    Thread(target=work, daemon=True).start()
    try:
        return made.result(seconds)
    except TimeoutError as error:
        # Raised by the function or by our limit: there is no answer in either case.
        raise OSError(str(error) or f"no answer in {seconds:g} seconds") from None


def _unreachable(what: str, address: str, error: Exception) -> ClusterError:
    reason = getattr(error, "strerror", None) or next(iter(str(error).splitlines()), "") or type(error).__name__
    return ClusterError(
        f"There is no {what} at {address} ({reason.rstrip('. ')}). See whether it runs, and check the address."
    )


def _installed(option: str, module: str, extra: str) -> Any:
    """Import an optional package, whose types mypy need not know."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            f'{option} needs {package}, which is not installed. Run pip install "juror[{extra}]".'
        ) from None
