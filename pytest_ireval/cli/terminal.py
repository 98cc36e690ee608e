"""How wide lines may be."""

from __future__ import annotations

import shutil
import sys

WIDTH = 80
"""Of what does not go to a terminal."""


def terminal_width() -> int:
    """Columns of the terminal, if there is one."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH
