"""Who does the work: threads on this machine, Dask or Spark."""
