"""Line plots: scores of the ranks tried, and errors against the number of samples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from juror.errors import Message, ParameterError, QueryError, shortlist
from juror.plot.canvas import BLUE, COLOURS, GREY, MARKERS, VERMILION, new_axes, open_frame, set_title, settle, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from juror.model import JointPMF

_REFERENCE_LINES = (":", "-.", "--", "-")


def rank_path(model: JointPMF, *, ax: Axes | None = None) -> Axes:
    """Draw the held-out score of every rank that the fit tried, and mark the chosen rank.

    Parameters
    ----------
    model : JointPMF
        A model whose rank was chosen by the fit, with ``rank="auto"`` or ``"cv"``.
    ax : matplotlib Axes, optional
        The Axes to draw into; new ones by default.

    Examples
    --------
    >>> import juror
    >>> model = juror.fit(juror.datasets.titanic(), method="em")
    >>> rank_path(model).get_title(loc="left")
    '7 ranks were tried, and rank 6 was chosen'
    """
    info = model.info
    if info is None or not info.rank_path:
        raise QueryError(
            Message(
                "The rank of this model was not chosen along a path, so there is none to draw. Fit with {rank:='auto'} "
                "or 'cv', and a method other than 'bayes'."
            )
        )
    chosen = info.chosen_rank
    steps = [step for step in info.rank_path if math.isfinite(step.score)]
    ax = new_axes(ax, 6.4, 3.8)
    ranks, scores = [step.rank for step in steps], [step.score for step in steps]
    ax.plot(ranks, scores, color=BLUE, marker="o", linewidth=1.8, markersize=5)
    for rank, score in zip(ranks, scores, strict=True):
        if rank == chosen:
            ax.plot(
                rank, score, "o", markersize=12, markerfacecolor="none", markeredgecolor=VERMILION, markeredgewidth=2
            )
    impossible = [step.rank for step in info.rank_path if not math.isfinite(step.score)]
    if impossible:
        text = f"a held-out row is impossible at rank {', '.join(map(str, impossible))}"
        ax.text(0.99, 0.03, text, transform=ax.transAxes, ha="right", fontsize=8.5)
    if max(ranks) > 8:
        ax.set_xscale("log", base=2)
    ax.set_xticks(ranks, labels=[str(rank) for rank in ranks])
    ax.set_xticks([], minor=True)
    ax.set(xlabel="rank", ylabel=words(info.chosen_by or "held-out score", 60).replace(", ", ",\n", 1))
    ax.ticklabel_format(axis="y", useOffset=False)
    open_frame(ax, "both")
    end = f"the model was then compressed to {info.rank}" if chosen is None else f"rank {chosen} was chosen"
    set_title(ax, f"{len(info.rank_path)} ranks were tried, and {end}")
    return ax


@dataclass(frozen=True)
class ErrorLine:
    """Errors against sample sizes, with their spreads where these are known."""

    label: str
    n_samples: Sequence[float]
    errors: Sequence[float]
    spreads: Sequence[float]
    is_reference: bool = False


@runtime_checkable
class HasErrorLines(Protocol):
    """A table of results that :func:`errors` can draw, such as :class:`juror.paper.PaperTable`."""

    def error_lines(self, measure: str | None) -> tuple[Sequence[ErrorLine], str, str]:
        """Return the lines of a measure, or of the table's own for None; a title; and the name of the measure."""


def errors(
    results: HasErrorLines | Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    ax: Axes | None = None,
    measure: str | None = None,
) -> Axes:
    """Draw errors against the number of samples N_s, one line per method, on logarithmic axes.

    Parameters
    ----------
    results : PaperTable or mapping of str to two sequences
        A result of :func:`juror.paper.table` for tables 1 to 6, or by method its sample sizes and its errors, (n,)
        each.
    ax : matplotlib Axes, optional
        The Axes to draw into; new ones by default.
    measure : str, optional
        For a table of the paper, the measure: the table's own by default, or ``"tensor_error"``, ``"mse"``,
        ``"mse_per_component"``.

    Examples
    --------
    >>> ax = errors({"em": ([100, 1000, 10000], [0.1, 0.012, 0.001]), "juror-b": ([100, 1000], [0.2, 0.02])})
    >>> [line.get_ydata().tolist() for line in ax.lines]
    [[0.1, 0.012, 0.001], [0.2, 0.02]]
    """
    if isinstance(results, Mapping):
        if measure is not None:
            raise ParameterError(f"measure is for tables of the paper; a mapping has its errors. Got {measure!r}.")
        lines: Sequence[ErrorLine] = [_line_of(name, points) for name, points in results.items()]
        title, meaning = "Error against the number of samples", "error"
    elif isinstance(results, HasErrorLines):
        lines, title, meaning = results.error_lines(measure)
    else:
        raise ParameterError(
            "results must be a table of juror.paper.table, or a mapping of methods to sample sizes and errors. Got "
            f"{type(results).__name__} instead."
        )
    if not lines:
        raise ParameterError("There are no errors to draw: the mapping is empty.")
    owned = ax is None
    ax = new_axes(ax, 7.2, 4.4)
    in_order = sorted(lines, key=lambda line: line.is_reference)
    n_methods = sum(not line.is_reference for line in lines)
    drawn = [_draw(ax, line, _look(number, number - n_methods)) for number, line in enumerate(in_order)]
    ax.set(xscale="log", yscale="log", xlabel="samples $N_s$", ylabel=meaning)
    open_frame(ax, "both")
    # A new figure has room for the legend beside the plot.
    beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1, 0.5)} if owned else {"loc": "best"}
    # Explicit handles: by default matplotlib leaves out labels that begin with an underscore.
    ax.legend(drawn, [words(line.label, 40) for line in in_order], frameon=False, fontsize=8.5, **beside)
    settle(ax, owned)
    set_title(ax, title)
    return ax


def _look(method: int, reference: int) -> dict[str, Any]:
    """Return the line style of a method, or of a reference if that number is not negative."""
    if reference >= 0:
        return {"color": GREY, "linestyle": _REFERENCE_LINES[reference % len(_REFERENCE_LINES)], "linewidth": 1.2}
    number = method % len(COLOURS)
    return {"color": COLOURS[number], "marker": MARKERS[number], "markersize": 5, "linewidth": 1.8}


def _draw(ax: Axes, line: ErrorLine, look: dict[str, Any]) -> Line2D:
    if line.spreads and not line.is_reference:
        # A spread as large as the mean has no lower end on a logarithmic axis.
        low = [max(e - s, e / 20) for e, s in zip(line.errors, line.spreads, strict=True)]
        high = [e + s for e, s in zip(line.errors, line.spreads, strict=True)]
        ax.vlines(line.n_samples, low, high, color=look["color"], linewidth=0.9)
    return ax.plot(line.n_samples, line.errors, **look)[0]


def _line_of(name: str, points: tuple[Sequence[float], Sequence[float]]) -> ErrorLine:
    try:
        n_samples, found = ([float(x) for x in values] for values in points)
    except (TypeError, ValueError):
        raise ParameterError(
            f"The results of {name!r} must be two sequences of numbers, sample sizes and errors. Got "
            f"{shortlist([points])}."
        ) from None
    if len(n_samples) != len(found) or not found:
        raise ParameterError(
            f"The results of {name!r} must be as many errors as sample sizes, one at least. Got {len(n_samples)} sizes "
            f"and {len(found)} errors."
        )
    for value in (*n_samples, *found):
        if not (math.isfinite(value) and value > 0):
            raise ParameterError(
                f"The results of {name!r} must be finite and above zero to stand on logarithmic axes. Got {value:g}."
            )
    return ErrorLine(str(name), n_samples, found, [])
