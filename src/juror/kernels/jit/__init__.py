"""The numba twins of :mod:`juror.kernels.reference`: same names, same arguments, same results to rounding.

No ``fastmath``: with it the log-sum-exp of all −inf becomes nan. Kernels release the GIL, so that threads may
share the blocks of a table.
"""

from juror.kernels.jit.rows import add_counts, draw_classes, expected_counts, log_prob, lone_counts, posterior
from juror.kernels.jit.simplices import least_squares_factor, least_squares_weights, project_columns

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
