"""The numba twins of :mod:`juror.kernels.reference`: same names, same arguments, same results to rounding.

No ``fastmath`` where infinities may occur: with it the log-sum-exp of all −inf becomes nan. Kernels release the GIL,
so that threads can work on blocks of a table in parallel.
"""

# The imports are the list of kernels.
# ruff: noqa: F401

from juror.kernels.jit.bells import bells, drawn_columns
from juror.kernels.jit.drawing import draw_columns, draw_holes, draw_labels, most_probable
from juror.kernels.jit.edges import edge_evidence
from juror.kernels.jit.exponentials import joined
from juror.kernels.jit.forest_counts import draw_counts, spread_counts
from juror.kernels.jit.forest_states import messages
from juror.kernels.jit.group_counts import count_groups, pack_columns, weigh_groups
from juror.kernels.jit.hidden_passes import hidden_counts, hidden_logs
from juror.kernels.jit.labels import label_logs, label_probabilities
from juror.kernels.jit.lone import lone_counts
from juror.kernels.jit.passes import (
    add_counts,
    draw_classes,
    expected_counts,
    folded,
    log_prob,
    posterior,
)
from juror.kernels.jit.products import tables, with_logs
from juror.kernels.jit.random_numbers import uniform
from juror.kernels.jit.simplices import least_squares_factor, least_squares_weights, project_columns
from juror.kernels.jit.tilts import label_gradient
from juror.kernels.jit.two_passes import counts_given, row_sums
