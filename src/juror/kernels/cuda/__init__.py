"""Passes over rows on an NVIDIA card, by Triton: same names, same arguments, same results to single precision.

Kernels that are not passes over rows stay on the CPU.
"""

# The imports are the list of kernels.
# ruff: noqa: F401

from juror.kernels.cuda.card import as_array, as_tensor, card_name, device, on_own_stream
from juror.kernels.cuda.card_pairs import within_classes
from juror.kernels.cuda.card_passes import (
    counts_given,
    counts_on_card,
    draw_classes,
    expected_counts,
    label_logs,
    label_probabilities,
    likeliest_classes,
    log_prob,
    posterior,
    row_sums,
    scatter_classes,
)
from juror.kernels.cuda.card_steps import ForestSteps
from juror.kernels.cuda.card_tables import tables, with_logs
from juror.kernels.cuda.placed import Placed
