"""The kernels' definition, in NumPy."""

# The imports are the list of kernels.
# ruff: noqa: F401

from juror.kernels.reference.bells import bells, drawn_columns
from juror.kernels.reference.drawing import draw_columns, draw_holes, draw_labels, most_probable
from juror.kernels.reference.edges import edge_evidence
from juror.kernels.reference.forest_states import draw_counts, messages, spread_counts
from juror.kernels.reference.group_counts import count_groups, pack_columns, weigh_groups
from juror.kernels.reference.hidden_passes import hidden_counts, hidden_logs
from juror.kernels.reference.passes import (
    add_counts,
    counts_given,
    draw_classes,
    expected_counts,
    folded,
    joined,
    label_logs,
    label_probabilities,
    log_prob,
    lone_counts,
    posterior,
    row_sums,
    tables,
    with_logs,
)
from juror.kernels.reference.random_numbers import uniform
from juror.kernels.reference.simplices import least_squares_factor, least_squares_weights, project_columns
from juror.kernels.reference.tilts import label_gradient
