"""Where rows come from: every kind of data becomes a list of columns of distinct values and their indices."""

from juror.readers.columns import Column
from juror.readers.opening import Expected, open_source

__all__ = ["Column", "Expected", "open_source"]
