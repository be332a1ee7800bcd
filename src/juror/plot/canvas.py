"""Where pictures are drawn: Axes, colours, and labels that do not run into each other.

matplotlib is imported here and nowhere else in these pictures. Colours are those of Okabe and Ito, which people who see
few colours tell apart; a scale is white to one hue, or one hue to another through white.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.errors import MissingDependencyError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#7F7F7F"
COLOURS = (BLUE, "#E69F00", "#009E73", VERMILION, "#CC79A7", "#56B4E9", "#000000", "#8C6D31")
MARKERS = "osD^vPX*"

# points, as matplotlib measures text
_LARGEST, _SMALLEST = 9.5, 6.0
_LINE_HEIGHT = 1.25
# the mean width of a letter, as a share of the size of the text
_LETTER = 0.56
_LONGEST_LABEL = 30
_MOST_INCHES = 18.0
_TITLE_LINES = 4


def check_matplotlib() -> None:
    """Raise an error that says what to install if matplotlib is absent."""
    try:
        import matplotlib.axes
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingDependencyError(
            "Pictures need matplotlib, which is not installed. Run pip install 'juror[plots]'."
        ) from None


def new_figure(width: float, height: float) -> Figure:
    """Return a new figure of this size in inches, which pyplot does not know of."""
    check_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the Axes given, or those of a new figure of this size in inches, which pyplot knows nothing of."""
    if ax is None:
        return new_figure(min(width, _MOST_INCHES), min(height, _MOST_INCHES)).add_subplot()
    check_matplotlib()
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ParameterError(f"ax must be one matplotlib Axes, or None for a new one. Got {type(ax).__name__} instead.")
    return ax


def shorten(label: object, longest: int = _LONGEST_LABEL) -> str:
    """Write a name or a label on one line, a long one cut short.

    >>> shorten("a column with a name that tells its whole story")
    'a column with a name that tel…'
    """
    text = " ".join(str(label).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def words(label: object, longest: int = _LONGEST_LABEL) -> str:
    r"""Write a name or a label for matplotlib, to which a dollar must not begin a formula.

    >>> print(words("$5 or $6"))
    \$5 or \$6
    """
    return shorten(label, longest).replace("$", r"\$")


def settle(ax: Axes) -> None:
    """Give the labels of a figure of ours the room they need, so that more text can be fitted to what is left."""
    ax.get_figure(root=True).draw_without_rendering()  # type: ignore[union-attr]


def room_for(labels: Sequence[object], longest: int = _LONGEST_LABEL) -> float:
    """Return about how many inches labels take."""
    return max(len(shorten(label, longest)) for label in labels) * _LETTER * _LARGEST / 72


def _inches(ax: Axes) -> tuple[float, float]:
    """Return width and height of the Axes as they are now."""
    box = ax.get_window_extent()
    dpi = ax.figure.dpi
    return box.width / dpi, box.height / dpi


def set_title(ax: Axes, text: str) -> None:
    """Write a title from the left edge, on a few lines if it needs them."""
    letters = int(_inches(ax)[0] * 72 / (11 * _LETTER))
    # a number stays with its unit
    plain = text.replace(" %", "\u00a0%").replace("$", r"\$")
    lines = textwrap.wrap(plain, max(letters, 24), max_lines=_TITLE_LINES, placeholder=" …")
    ax.set_title("\n".join(lines), loc="left", fontsize=11)


def _size_and_step(room: float) -> tuple[float, int]:
    """Return the size of text that fits lines of so many inches, and every how many-th line is written."""
    fitting = room * 72 / _LINE_HEIGHT
    size = min(_LARGEST, max(_SMALLEST, fitting))
    return size, max(1, math.ceil(size / fitting - 1e-9))


def name_rows(ax: Axes, labels: Sequence[object], longest: int = _LONGEST_LABEL) -> None:
    """Write labels along the vertical axis, one a step from 0, smaller or not every one where they are many."""
    size, step = _size_and_step(_inches(ax)[1] / len(labels))
    shown = range(0, len(labels), step)
    ax.set_yticks(shown, labels=[words(labels[i], longest) for i in shown], fontsize=size)
    ax.tick_params(axis="y", length=0)


def name_columns(ax: Axes, labels: Sequence[object]) -> None:
    """Write labels along the horizontal axis, one a step from 0: level where they fit, else slanted, else upright."""
    room = _inches(ax)[0] / len(labels)
    texts = [words(label) for label in labels]
    if max(map(len, texts)) * _LETTER * _LARGEST / 72 < room:
        ax.set_xticks(range(len(texts)), labels=texts, fontsize=_LARGEST)
    else:
        size, step = _size_and_step(room)
        slanted = room * 72 > 1.6 * _LINE_HEIGHT * size
        turn: dict[str, Any] = {"rotation": 40 if slanted else 90, "ha": "right", "rotation_mode": "anchor"}
        turn |= {} if slanted else {"va": "center"}
        shown = range(0, len(texts), step)
        ax.set_xticks(shown, labels=[texts[i] for i in shown], fontsize=size, **turn)
    ax.tick_params(axis="x", length=0)


def open_frame(ax: Axes, grid: str) -> None:
    """Leave out the lines above and to the right, and draw faint ones across along an axis, or both."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, axis=grid, color=GREY, alpha=0.22, linewidth=0.8)  # type: ignore[arg-type]
    ax.set_axisbelow(True)


def _between(*colours: str) -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("juror", list(colours)).with_extremes(bad="#E8E8E8")


def heat(ax: Axes, values: np.ndarray, *, signed: bool = False, meaning: str) -> AxesImage:
    """Draw a table of numbers (rows, columns) in colours, with a scale beside it; what is not a number is grey.

    From white for zero to dark blue for the largest, or if signed from blue by white for zero to vermilion.
    """
    largest = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    colours = (
        _between("#003A5D", BLUE, "#FFFFFF", VERMILION, "#7A3200") if signed else _between("#FFFFFF", BLUE, "#00253D")
    )
    image = ax.imshow(
        np.ma.masked_invalid(values), cmap=colours, vmin=-largest if signed else 0.0, vmax=largest, aspect="auto"
    )
    # lines between the cells, not around the picture
    ax.spines[:].set_visible(False)
    if max(values.shape) <= 20:
        ax.set_xticks(np.arange(values.shape[1] - 1) + 0.5, minor=True)
        ax.set_yticks(np.arange(values.shape[0] - 1) + 0.5, minor=True)
        ax.grid(visible=True, which="minor", color="white", linewidth=1)
        ax.tick_params(which="minor", length=0)
    scale = ax.figure.colorbar(image, ax=ax, pad=0.02, aspect=30)
    scale.outline.set_visible(False)
    scale.set_label(meaning, fontsize=_LARGEST)
    scale.ax.tick_params(labelsize=8.5, length=2)
    return image


def write_cells(ax: Axes, image: AxesImage, texts: Sequence[Sequence[str]]) -> None:
    """Write a text into every cell of a heat map, white on dark and black on light, where there is room for it."""
    width, height = _inches(ax)
    longest = max(len(text) for row in texts for text in row)
    fitting = min(height / len(texts) * 72 / 1.4, width / len(texts[0]) * 72 / (longest * _LETTER + 0.6))
    if fitting < _SMALLEST:
        return
    colours = image.to_rgba(image.get_array())  # type: ignore[arg-type]
    light = np.asarray(colours)[..., :3] @ [0.2126, 0.7152, 0.0722] > 0.45
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            colour = "black" if light[i, j] else "white"
            ax.text(j, i, text, ha="center", va="center", fontsize=min(9.0, fitting), color=colour)


def percent(share: float, signed: bool = False) -> str:
    """Write a share in per cent with the digits that count.

    >>> percent(0.5), percent(0.0456), percent(0.00034), percent(0.0), percent(0.021, signed=True)
    ('50 %', '4.6 %', '0.03 %', '0 %', '+2.1 %')
    """
    sign = "+" if signed and share > 0 else ""
    if share == 0:
        return "0 %"
    if 0 < abs(share) < 5e-5:
        return "<0.01 %" if share > 0 else ">−0.01 %"
    digits = 0 if abs(share) >= 0.0995 else 1 if abs(share) >= 0.00095 else 2
    return f"{sign}{100 * share:.{digits}f} %".replace("-", "−")
