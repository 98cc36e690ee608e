"""The site of the documentation: ``python -m sphinx -W docs site``. The extra ``docs`` brings what it needs.

The same pages are read on a code host, so they have plain Markdown only. What a site needs besides is added here.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import metadata
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from pytest_ireval import __version__  # noqa: E402 - after the path

project = "pytest-ireval"
release = version = __version__
author = "the authors of pytest-ireval"
project_copyright = "the authors of pytest-ireval, Apache-2.0"
extensions = ["myst_parser"]
exclude_patterns = ["*.in"]
myst_heading_anchors = 5
html_theme = "furo"
html_title = f"pytest-ireval {__version__}"
html_show_sphinx = False
html_copy_source = False
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # psql has commands that SQL has not

REPOSITORY = metadata("pytest-ireval")["Project-URL"].rpartition(" ")[2] + "/blob/main"
OUTSIDE = re.compile(r"\]\(\.\./([^)]*)\)")
TITLED = re.compile(r'^```(\w+) title="([^"]+)"$', re.MULTILINE)
GROUP = re.compile(r"^## (.+)\n((?:(?!#).*\n)*)", re.MULTILINE)
PAGE = re.compile(r"\]\((\w+\.md)\)")


def _add_side_list(group: re.Match[str]) -> str:
    """A group of links of the first page, with its pages for the list at the side of every page."""
    names = "\n".join(dict.fromkeys(PAGE.findall(group[2])))
    return f"{group[0]}\n```{{toctree}}\n:caption: {group[1]}\n:hidden:\n\n{names}\n```\n\n"


def adapt(_app: Sphinx, name: str, source: list[str]) -> None:
    """Add captions of blocks, links to files beside the pages, and the list of pages."""
    if name == "index":
        source[0] = GROUP.sub(_add_side_list, source[0])
    text = OUTSIDE.sub(rf"]({REPOSITORY}/\1)", source[0])
    text = TITLED.sub(r"```{code-block} \1\n:caption: \2\n", text)
    source[0] = text.replace("```mermaid\n", "```text\n")


def setup(app: Sphinx) -> None:
    """Register it."""
    app.connect("source-read", adapt)
