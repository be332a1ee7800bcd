"""How tables are written: as aligned text, and as HTML for a notebook; of long ones the most probable lines."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from juror.printing import one_line

_BAR_WIDTH = 24
_LINES_SHOWN = 30


class TableText(NamedTuple):
    """The lines of a table of probabilities that are shown.

    Attributes
    ----------
    head, body : list
        Headings, and a list of cells for every line.
    n_text : int
        How many of the first columns are text.
    note : list of str
        What to say of lines that are not shown; empty if all are.
    """

    head: list[str]
    body: list[list[str]]
    n_text: int
    note: list[str]

    def as_text(self, title: str, below: Sequence[str]) -> str:
        """Return the table as text, between a title and further lines."""
        return "\n".join([title, align(self.head, self.body, self.n_text), *self.note, *below])

    def as_html(self, title: str, below: Sequence[str]) -> str:
        """Return the table as HTML, between a title and further lines."""
        notes = "".join(f"<p>{escape(line)}</p>" for line in (*self.note, *below))
        return html_table(title, self.head, self.body) + notes


def most_probable(probabilities: np.ndarray) -> tuple[list[int], list[str]]:
    """Return which lines of a long table to show, the most probable one first, and what to say of the others.

    >>> most_probable(np.array([0.4, 0.6]))
    ([0, 1], [])
    """
    if len(probabilities) <= _LINES_SHOWN:
        return list(range(len(probabilities))), []
    first = np.argsort(-probabilities, kind="stable")[:_LINES_SHOWN]
    rest = max(0.0, float(probabilities.sum() - probabilities[first].sum()))
    note = f"… {len(probabilities) - _LINES_SHOWN:,} less probable rows, {rest:.4f} in all; .to_pandas() has all"
    return first.tolist(), [note]


def bar(p: float) -> str:
    """Draw a probability as a bar of text."""
    return "█" * round(_BAR_WIDTH * p)


def align(head: Sequence[str], body: Sequence[Sequence[str]], n_text: int) -> str:
    """Lay out lines in columns: the first ``n_text`` and bars are left-aligned, numbers right-aligned."""
    hidden = len(body) - _LINES_SHOWN
    shown = [[one_line(cell) for cell in line] for line in (head, *body[:_LINES_SHOWN])]
    widths = [max(len(line[i]) for line in shown) for i in range(len(head))]
    lines = []
    for line in shown:
        cells = [
            cell.ljust(width) if i < n_text or head[i] == "" else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    if hidden > 0:
        lines.append(f"… {hidden} more rows; use .to_pandas() for all")
    return "\n".join(lines)


def html_table(title: str, head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Write a table as HTML for a notebook; names and labels are escaped."""
    heading = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in body[:_LINES_SHOWN]
    )
    hidden = len(body) - _LINES_SHOWN
    more = f"<p>… {hidden} more rows; use .to_pandas() for all</p>" if hidden > 0 else ""
    caption = f"<caption>{escape(title)}</caption>"
    return f"<table>{caption}<thead><tr>{heading}</tr></thead><tbody>{lines}</tbody></table>{more}"
