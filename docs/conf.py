# SPDX-License-Identifier: MIT
"""How the documentation is built: `make docs`."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# Pages show the Python functions, which define what calls do.
os.environ["AUTOCALC_EAGER"] = "python"

import autocalc

project = "AutoCalc"
author = "The AutoCalc contributors"
copyright = author
version = release = autocalc.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "api_pages",
    "glossary_links",
    "kernel_table",
    "mathml",
    "notebooks",
]
exclude_patterns = [
    "_build",
    "_generated",
    "examples",
    "reference/tables",  # parts of other pages
    "**/README.md",
]
templates_path = ["_templates"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["front.css", "pages.css"]
html_title = f"AutoCalc {version}"
html_math_renderer = "mathml"
html_search_scorer = str(Path(__file__).parent / "_ext" / "scorer.js")

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# `x` in a docstring is code.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# Names in annotations that two modules have, as `Transform`.
suppress_warnings = ["ref.python"]
nitpicky = False  # docstrings speak of names that have no page


def _collapse_sidebar(app, pagename, templatename, context, doctree):
    """Let the sidebar of a page open the branch of that page alone.

    With all branches it has 789 links on each of 789 pages: the quickstart is a file of
    130 kB instead of 41, and writing the pages takes four times as long.
    """
    whole = context.get("toctree")
    if whole is not None:
        context["toctree"] = lambda **how: whole(**{**how, "collapse": True})


def setup(app):
    app.connect("html-page-context", _collapse_sidebar, priority=400)
