"""Mathematics as MathML, which browsers draw themselves: no script, no font and no network.

Formulas are TeX in the pages, ``$…$`` and the ``math`` directive, and become MathML when the site is built.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.writers.html5 import HTML5Translator

# latex2mathml passes over what it does not know and shows it as it is written
_UNKNOWN = re.compile(r">([^<]*\\[^<]*|&)<")


def mathml(tex: str, *, display: bool) -> str:
    """Return MathML for a formula in TeX, or say which command is not known."""
    made = convert(tex, display="block" if display else "inline")
    strange = _UNKNOWN.search(made)
    if strange:
        raise SphinxError(f"The formula {tex!r} holds {strange[1]!r}, which latex2mathml does not know.")
    return made


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(mathml(node.astext(), display=False))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own, with its number where it has a label."""
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    self.body.append(self.starttag(node, "div", CLASS="math formula"))
    # a box of its own for what may be too wide, so that the number stays in sight
    self.body.append(f"<div>{mathml(node.astext(), display=True)}</div>{number}</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer as ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
