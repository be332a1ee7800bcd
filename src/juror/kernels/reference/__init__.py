"""The kernels' definition, in NumPy."""

from juror.kernels.reference.rows import add_counts, draw_classes, expected_counts, log_prob, lone_counts, posterior
from juror.kernels.reference.simplices import least_squares_factor, least_squares_weights, project_columns

__all__ = [
    "add_counts",
    "draw_classes",
    "expected_counts",
    "least_squares_factor",
    "least_squares_weights",
    "log_prob",
    "lone_counts",
    "posterior",
    "project_columns",
]
