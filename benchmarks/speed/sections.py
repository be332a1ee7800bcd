"""All sections, in the order of the page."""

from __future__ import annotations

from . import answers, em, forests, gibbs, growth, imports, loop, pairs, threads
from .facts import Section

SECTIONS: dict[str, Section] = {
    module.SECTION.name: module.SECTION
    for module in (em, loop, forests, threads, pairs, gibbs, answers, growth, imports)
}
