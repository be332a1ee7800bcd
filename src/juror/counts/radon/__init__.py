"""The projection operator: axes, directions and bins, its Gram matrix, and its inversions."""

from juror.counts.radon.axes import Axis, axis_of
from juror.counts.radon.inversions import FILTERS, angle_weights, as_distribution, filtered_back_projection
from juror.counts.radon.operator import Radon, draw_directions

__all__ = [
    "FILTERS",
    "Axis",
    "Radon",
    "angle_weights",
    "as_distribution",
    "axis_of",
    "draw_directions",
    "filtered_back_projection",
]
