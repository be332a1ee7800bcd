"""Spark's daemon of Python workers, with the imports of the tests done: workers are its forks, and start quickly."""

import gc

import numba  # noqa: F401
from pyspark.daemon import manager

import test_spark  # noqa: F401
from juror import PairCounts, fit  # noqa: F401

if __name__ == "__main__":
    # a worker collects garbage after every task: it need not look at all the modules
    gc.freeze()
    manager()
