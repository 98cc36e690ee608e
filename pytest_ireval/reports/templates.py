"""Where the templates are, and the environment that fills them in safely."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2

PACKAGE = Path(__file__).parents[1]


def template_folder() -> Path:
    """Inside the package when installed, beside it in a checkout."""
    inside = PACKAGE / "templates"
    return inside if inside.is_dir() else PACKAGE.parent / "templates"


def environment() -> jinja2.Environment:
    """Escapes everything, and stops at a name that is not there."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_folder()),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
