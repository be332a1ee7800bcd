"""One picture for every section: the first contest of each row, or its seconds, and a panel for each table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.accuracy.findings import Findings, column_text

from .judged import SECONDS, Judged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OURS, _PEER, _YARDSTICK = "#0072B2", "#D55E00", "0.5"


def picture(found: Findings) -> Figure:
    """Draw a dot for every row, juror's blue, peers orange, yardsticks grey, printed figures hollow."""
    from matplotlib.figure import Figure

    section = found.section
    assert isinstance(section, Judged)
    measure = next((each for each in section.measures if each.more_is_better is not None), SECONDS)
    n = len(found.columns)
    n_lines = len(section.rows) + len(section.printed)
    figure = Figure(figsize=(2.6 + 2.2 * n, 0.9 + 0.28 * n_lines), layout="constrained")
    panels = figure.subplots(1, n, squeeze=False, sharey=True)[0]
    for panel, column in zip(panels, found.columns, strict=True):
        names = []
        for row, name in section.rows.items():
            colour = _OURS if row in section.ours else _YARDSTICK if row in section.references else _PEER
            for value in found.values(row, column, measure.key):
                panel.plot(value, len(names), "o", color=colour)
            names.append(name.replace("`", ""))
        for name, of in section.printed.items():
            value = of.get(str(column), {}).get(measure.key)
            if value is not None:
                panel.plot(value, len(names), "D", color="0.2", markerfacecolor="white")
            names.append(f"{name} (printed)")
        panel.set_yticks(range(len(names)), names)
        panel.set_ylim(len(names) - 0.5, -0.5)
        panel.locator_params(axis="x", nbins=5)
        panel.grid(visible=True, color="0.92")
        panel.set_axisbelow(True)
        panel.set_title(column_text(column), fontsize="medium")
        panel.set_xlabel(measure.name, fontsize="small")
    return figure
