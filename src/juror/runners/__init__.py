"""Runners: threads on this machine, Dask, Spark."""
