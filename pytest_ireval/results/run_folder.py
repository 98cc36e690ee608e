"""The folder that a run writes its files to."""

from __future__ import annotations

from pathlib import Path

FOLDER = "ireval-report"
"""Its name, unless the user gives another one."""
IGNORED = "# Files of runs of pytest-ireval, written again by each.\n*\n"
"""The .gitignore of the folder."""


def is_run_folder(folder: Path) -> bool:
    """True for a folder whose files the next run writes again."""
    try:
        return folder.name == FOLDER or (folder / ".gitignore").read_text(encoding="utf-8") == IGNORED
    except (OSError, UnicodeDecodeError):
        return False
