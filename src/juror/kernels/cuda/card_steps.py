"""The EM step along a forest on the card, in two kernels for variables of all sizes.

:mod:`juror.solvers.shared_forest` has the formulas. The tables of a model have many shapes: one call of PyTorch for
each operation and each shape would spend more time on starting kernels than on the step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import triton

from juror.kernels.cuda import step_tiles
from juror.kernels.cuda.card import as_tensor, on_own_stream

# Classes of a program
_CLASSES = 128


@dataclass(frozen=True, eq=False)
class ForestSteps:
    """What steps along a forest read of it on the card.

    Attributes
    ----------
    own, once : torch.Tensor, (stacked rows,) and (labels of all variables,)
        The forest's own tables T and the marginals m.
    labels : tuple of torch.Tensor, (labels of all variables,)
        The first stacked row of every label, the labels of its variable, and those of the parent, 1 without one.
    columns : tuple of torch.Tensor, (columns of all tables,)
        The first stacked row of every column, its length, and the first label of its variable, −1 without a parent.
    """

    own: torch.Tensor
    once: torch.Tensor
    labels: tuple[torch.Tensor, ...]
    columns: tuple[torch.Tensor, ...]

    @classmethod
    def of(
        cls, own: np.ndarray, once: np.ndarray, starts: np.ndarray, sizes: np.ndarray, n_parent: np.ndarray
    ) -> ForestSteps:
        """Send tables T and marginals m.

        Every variable, (N,), has a first stacked row, a number of labels, and that of its parent's, 1 without one.
        """
        firsts = np.cumsum(sizes) - sizes
        within = np.arange(sizes.sum()) - np.repeat(firsts, sizes)
        labels = np.repeat(starts, sizes) + within, np.repeat(sizes, sizes), np.repeat(n_parent, sizes)
        number = np.arange(n_parent.sum()) - np.repeat(np.cumsum(n_parent) - n_parent, n_parent)
        length = np.repeat(sizes, n_parent)
        own_labels = np.repeat(np.where(n_parent > 1, firsts, -1), n_parent)
        columns = np.repeat(starts, n_parent) + number * length, length, own_labels

        def sent(arrays: tuple[np.ndarray, ...]) -> tuple[torch.Tensor, ...]:
            return tuple(as_tensor(array.astype(np.int32)) for array in arrays)

        return cls(as_tensor(own), as_tensor(once), sent(labels), sent(columns))

    @on_own_stream
    def step(
        self, classes: torch.Tensor, counts: torch.Tensor, strength: float, class_strength: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return λ (F,) and the stack (stacked rows, F) after a step from counts of the same shapes."""
        F = len(classes)
        # Rows of ones stay.
        stack, relative = torch.ones_like(counts), counts.new_empty((len(self.once), F))
        chunks = triton.cdiv(F, _CLASSES)
        step_tiles.relative_labels[len(self.once), chunks](
            counts, self.once, *self.labels, relative, F, class_strength, _CLASSES
        )
        step_tiles.drawn_columns[len(self.columns[0]), chunks](
            counts, self.own, relative, *self.columns, stack, F, strength, _CLASSES
        )
        return classes / classes.sum(), stack
