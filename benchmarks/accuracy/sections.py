"""The sections of the page, in order."""

from __future__ import annotations

from . import debd, holes, intervals, labels, optimum, table2

SECTIONS = {module.SECTION.name: module.SECTION for module in (table2, intervals, optimum, labels, debd, holes)}
