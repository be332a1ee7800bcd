"""Profiles of the latent classes as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from juror.answers.messages import node_marginals
from juror.answers.profiles import class_profiles, readable_rank
from juror.errors import QueryError, check_count
from juror.plot import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from juror.model import JointPMF

# The maximum length of a name, and of a label.
_HALF = 24
_LONGEST = 2 * _HALF + len(" = ")


def classes(model: JointPMF, n: int = 6, n_traits: int = 4, *, ax: Axes | None = None) -> Axes:
    """Draw the typical labels of the heaviest classes: one column per class, one row per typical label.

    A cell shows the share of the class that has the label; its colour shows the difference from the overall share. The
    last column is the overall share. A variable of two labels has one row, as the other adds nothing. A mean of draws
    or fits, whose single classes have no meaning, is shown by the nearest model of few classes.

    Parameters
    ----------
    model : JointPMF
        The model, of at least two classes.
    n : int
        The maximum number of classes, the heaviest first.
    n_traits : int
        The maximum number of labels per class, as ranked by :func:`juror.answers.profiles.class_profiles`.
    ax : matplotlib Axes, optional
        The Axes to draw into; new ones by default.

    Examples
    --------
    >>> import juror
    >>> model = juror.JointPMF([0.25, 0.75], [[[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5], [0.5, 0.5]]])
    >>> ax = classes(model)
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['x0 = 1']
    >>> ax.images[0].get_array()[:, :2].round(2).tolist()
    [[0.2, -0.6]]
    """
    check_count("n", n)
    fitted, readable = model.rank, readable_rank(model.info, model.rank)
    model = model.compress(readable) if readable < fitted else model
    profiles = class_profiles(model, n_traits)[:n]
    wanted = {(trait.variable, trait.label) for profile in profiles for trait in profile.traits}
    if not wanted:
        raise QueryError(f"The {model.rank} classes of this model are all like the whole, so there is nothing to tell.")
    labels, shares = [], []
    weights = np.concatenate([block.weights for block in model.blocks])
    in_blocks = zip(*(node_marginals(block)[: len(model.domain)] for block in model.blocks), strict=True)
    for variable, parts in zip(model.domain, in_blocks, strict=True):
        factor = np.concatenate(parts, axis=1)
        of_two = [(variable.name, label) for label in variable.labels if variable.cardinality == 2]
        shown = {of_two[-1]} if wanted & set(of_two) else wanted
        for i, label in enumerate(variable.labels):
            if (variable.name, label) in shown:
                labels.append(f"{canvas.shorten(variable.name, _HALF)} = {canvas.shorten(label, _HALF)}")
                shares.append([*(factor[i, profile.index] for profile in profiles), factor[i] @ weights])
    table = np.array(shares)
    owned = ax is None
    ax = canvas.new_axes(
        ax, 1.4 + canvas.room_for(labels, _LONGEST) + max(0.62 * table.shape[1], 2.8), 1.5 + 0.27 * len(table)
    )
    image = canvas.heat(ax, table - table[:, -1:], signed=True, meaning="share in the class − share in the whole")
    canvas.name_rows(ax, labels, _LONGEST)
    ax.set_xlabel("classes by weight; cells in per cent")
    canvas.settle(ax, owned)
    canvas.name_columns(ax, [*(canvas.percent(profile.weight) for profile in profiles), "all"])
    ax.axvline(len(profiles) - 0.5, color="black", linewidth=1.2)
    canvas.write_cells(ax, image, [[f"{100 * share:.0f}" for share in row] for row in table.tolist()])
    weight = canvas.percent(sum(profile.weight for profile in profiles))
    some = f"the {len(profiles)} heaviest of {model.rank} classes, {weight} of the whole,"
    which = some if model.rank > len(profiles) else f"the {model.rank} classes"
    whose = f" (the nearest model to a mean of {fitted})" if readable < fitted else ""
    canvas.set_title(
        ax, f"What {which if model.rank > len(profiles) else f'the {model.rank} classes'} are typical of{whose}"
    )
    return ax
