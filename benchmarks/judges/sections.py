"""The sections of the page, in order."""

from __future__ import annotations

from . import conditionals, density_sets, drawing, filling, labelling, numeric, timing
from .judged import Judged

SECTIONS: dict[str, Judged] = {
    module.SECTION.name: module.SECTION
    for module in (drawing, numeric, filling, conditionals, labelling, density_sets, timing)
}
