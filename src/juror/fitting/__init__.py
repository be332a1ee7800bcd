"""juror.fit: which method, at which rank and smoothing, and the record of it."""

from juror.fitting.api import fit

__all__ = ["fit"]
