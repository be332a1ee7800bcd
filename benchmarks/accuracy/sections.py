"""The sections of the page, in order."""

from __future__ import annotations

from . import debd, holes, labels, optimum, table2

SECTIONS = {module.SECTION.name: module.SECTION for module in (table2, optimum, labels, debd, holes)}
