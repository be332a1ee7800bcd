"""Where rows come from. Every kind of data becomes columns: distinct values, and for every row an index into them."""

from juror.readers.columns import Column
from juror.readers.opening import Expected, open_source

__all__ = ["Column", "Expected", "open_source"]
