"""What columns mean: variables, labels, intervals, and the way between labels and codes."""

from juror.domain.domain import Domain

__all__ = ["Domain"]
