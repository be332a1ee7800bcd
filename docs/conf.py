"""How Sphinx builds the site: ``make docs``. What it loads, it loads from its own folder."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "juror"
author = "the authors of juror"
project_copyright = author
release = version = version_of("juror")
language = "en_GB"

extensions = ["commands", "mathml", "myst_parser", "numpydoc", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_extensions"]
# References must lead somewhere; names of types that others define are shown, not linked.
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(?!juror(\.|$)).*")]
# so are those of ours that a signature names and no user makes
nitpick_ignore = [
    ("py:class", "juror.compare.Components"),
    ("py:class", "juror.errors.Message"),
    ("py:class", "juror.fitting.api.FitOptions"),
    ("py:class", "juror.paper.settings.Cell"),
    ("py:class", "juror.paper.settings.Setting"),
    ("py:class", "juror.plot.curves.ErrorLine"),
    ("py:class", "juror.counts.radon.axes.Axis"),
    ("py:class", "juror.readers.columns.Column"),
    ("py:class", "juror.answers.number_summary.NumberSummary"),
    ("py:class", "juror.domain.grid.Grid"),
    ("py:class", "juror.domain.law.Law"),
    ("py:class", "juror.readers.calendars.Calendar"),
    ("py:func", "juror.answers.profiles.class_profiles"),
]

# --- pages -----------------------------------------------------------------------------------------------------------
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
# what a page of its own says with ``` is shown as it is: blocks of output are no language that Pygments knows
highlight_language = "none"
suppress_warnings = ["myst.header"]
smartquotes = False

# --- the API, from docstrings ----------------------------------------------------------------------------------------
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"npt.ArrayLike": "ArrayLike"}
autodoc_default_options = {"exclude-members": "set_fit_request, set_partial_fit_request, set_score_request"}
python_use_unqualified_type_names = True
maximum_signature_line_length = 100
numpydoc_show_class_members = False
autosummary_generate = False

# --- looks -----------------------------------------------------------------------------------------------------------
html_theme = "furo"
html_title = "juror"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["juror.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def without_last_line(app: Sphinx, doctree: nodes.document) -> None:
    """Take the empty line away that doctest wants at the end of a block."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        block.rawsource, block.children = text, [nodes.Text(text)]


def with_short_types(app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str, returns: str) -> Any:
    """Write what NumPy calls ArrayLike by its name, within other types too."""
    return signature and signature.replace("TypeAliasForwardRef('ArrayLike')", "ArrayLike"), returns


def setup(app: Sphinx) -> None:
    """Connect the two."""
    app.connect("doctree-read", without_last_line)
    app.connect("autodoc-process-signature", with_short_types)
