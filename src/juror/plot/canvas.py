"""Axes, colours, and labels that do not overlap.

Only this module imports matplotlib. The colours are those of Okabe and Ito, which colour-blind people can distinguish;
a colour scale runs from white to one hue, or between two hues through white.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.errors import MissingDependencyError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

BLUE, VERMILION, GREY, DARK = "#0072B2", "#D55E00", "#7F7F7F", "#003A5D"
COLOURS = (BLUE, "#E69F00", "#009E73", VERMILION, "#CC79A7", "#56B4E9", "#000000", "#8C6D31")
MARKERS = "osD^vPX*"

# Font sizes in points.
_LARGEST, _SMALLEST = 9.5, 6.0
_LINE_HEIGHT = 1.25
# The mean width of a letter, as a share of the font size.
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
    """Return the Axes given, or those of a new figure of this size in inches."""
    if ax is None:
        return new_figure(min(width, _MOST_INCHES), min(height, _MOST_INCHES)).add_subplot()
    check_matplotlib()
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ParameterError(f"ax must be one matplotlib Axes, or None for a new one. Got {type(ax).__name__} instead.")
    return ax


def shorten(label: object, longest: int = _LONGEST_LABEL) -> str:
    """Write a name or a label on one line; truncate it if it is long.

    >>> shorten("a column with a name that tells its whole story")
    'a column with a name that tel…'
    """
    text = " ".join(str(label).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def shorten_apart(labels: Sequence[object], longest: int = _LONGEST_LABEL) -> list[str]:
    """Write names on one line each, long ones cut in the middle, so that different names stay different.

    >>> shorten_apart(["doctor told you: diabetes", "doctor told you: asthma", "age"], 16)
    ['doctor to…abetes', 'doctor to…asthma', 'age']
    >>> shorten_apart(["doctor said diabetes in life", "doctor said asthma in life"], 16)
    ['doc…diabetes in…', 'doc…asthma in l…']
    """
    texts = [" ".join(str(label).split()) for label in labels]
    tail = 2 * (longest - 1) // 5
    cut = [t if len(t) <= longest else f"{t[: longest - 1 - tail].rstrip()}…{t[-tail:].lstrip()}" for t in texts]
    for shown in {text for text in cut if cut.count(text) > 1}:
        alike = [i for i, text in enumerate(cut) if text == shown]
        columns = zip(*(texts[i] for i in alike), strict=False)
        first = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, columns))
        for i in alike:
            rest = texts[i][first:]
            room = longest - 4
            cut[i] = texts[i] if len(texts[i]) <= longest else f"{texts[i][:3]}…{shorten(rest, room)}"
    return cut


def words(label: object, longest: int = _LONGEST_LABEL) -> str:
    r"""Write a name or a label for matplotlib; escape dollar signs, which would begin a formula.

    >>> print(words("$5 or $6"))
    \$5 or \$6
    """
    return shorten(label, longest).replace("$", r"\$")


def settle(ax: Axes, owned: bool) -> None:
    """Lay out a figure of our own, so that the remaining room for further text is known."""
    if owned:
        ax.get_figure(root=True).draw_without_rendering()  # type: ignore[union-attr]


def room_for(labels: Sequence[object], longest: int = _LONGEST_LABEL) -> float:
    """Return the approximate width of labels in inches."""
    return max(len(shorten(label, longest)) for label in labels) * _LETTER * _LARGEST / 72


def _inches(ax: Axes) -> tuple[float, float]:
    """Return the current width and height of the Axes in inches."""
    box = ax.get_window_extent()
    dpi = ax.figure.dpi
    return box.width / dpi, box.height / dpi


def set_title(ax: Axes, text: str) -> None:
    """Write a left-aligned title, wrapped to a few lines if needed."""
    letters = int(_inches(ax)[0] * 72 / (11 * _LETTER))
    # Keep a number and its unit on one line.
    plain = text.replace(" %", "\u00a0%").replace("$", r"\$")
    lines = textwrap.wrap(plain, max(letters, 24), max_lines=_TITLE_LINES, placeholder=" …")
    ax.set_title("\n".join(lines), loc="left", fontsize=11)


def _size_and_step(room: float) -> tuple[float, int]:
    """Return the font size for lines of this height in inches, and the step between lines that are written."""
    fitting = room * 72 / _LINE_HEIGHT
    size = min(_LARGEST, max(_SMALLEST, fitting))
    return size, max(1, math.ceil(size / fitting - 1e-9))


def name_rows(ax: Axes, labels: Sequence[object], longest: int = _LONGEST_LABEL) -> None:
    """Write labels along the vertical axis at 0, 1, …; many labels get a smaller font, or only some are written."""
    size, step = _size_and_step(_inches(ax)[1] / len(labels))
    shown = range(0, len(labels), step)
    ax.set_yticks(shown, labels=[words(labels[i], longest) for i in shown], fontsize=size)
    ax.tick_params(axis="y", length=0)


def name_columns(ax: Axes, labels: Sequence[object]) -> None:
    """Write labels along the horizontal axis at 0, 1, …: horizontal if they fit, else slanted, else vertical."""
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
    """Remove the top and right frame lines, and draw a faint grid for one axis or both."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, axis=grid, color=GREY, alpha=0.22, linewidth=0.8)  # type: ignore[arg-type]
    ax.set_axisbelow(True)


def _between(*colours: str) -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("juror", list(colours)).with_extremes(bad="#E8E8E8")


def heat(ax: Axes, values: np.ndarray, *, signed: bool = False, meaning: str) -> AxesImage:
    """Draw a table of numbers (rows, columns) as a heat map with a colour bar; NaN is grey.

    Colours run from white for zero to dark blue; if signed, from blue through white for zero to vermilion.
    """
    largest = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    colours = (
        _between("#003A5D", BLUE, "#FFFFFF", VERMILION, "#7A3200") if signed else _between("#FFFFFF", BLUE, "#00253D")
    )
    image = ax.imshow(
        np.ma.masked_invalid(values), cmap=colours, vmin=-largest if signed else 0.0, vmax=largest, aspect="auto"
    )
    # Lines between the cells, no frame around the picture.
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
    """Write a text into every cell of a heat map, white on dark and black on light, if there is room."""
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


def percent(share: float) -> str:
    """Write a share in per cent with its significant digits.

    >>> percent(0.5), percent(0.0456), percent(0.00034), percent(0.0)
    ('50 %', '4.6 %', '0.03 %', '0 %')
    """
    if share == 0:
        return "0 %"
    if 0 < abs(share) < 5e-5:
        return "<0.01 %" if share > 0 else ">−0.01 %"
    digits = 0 if abs(share) >= 0.0995 else 1 if abs(share) >= 0.00095 else 2
    return f"{100 * share:.{digits}f} %".replace("-", "−")
