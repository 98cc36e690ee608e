"""Suite files of one folder that call their suites by one name: they would write one baseline."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from pytest_ireval.suites.finding import head_of, is_suite

MATRIX = re.compile(rb"^matrix\s*:", re.MULTILINE)


def twin_of(path: Path, name: str) -> Path | None:
    """Another suite file beside one that says the same name; one that inherits its name is not found."""
    says = re.compile(rb"^suite\s*:\s*[\"']?" + re.escape(name.encode()) + rb"[\"']?\s*(?:#.*)?$", re.MULTILINE)
    for other in sorted(path.parent.iterdir()):
        with suppress(OSError):  # one that cannot be read is an error of whatever run collects it
            if other != path and is_suite(other) and says.search(head_of(other)) and not MATRIX.search(head_of(other)):
                return other
    return None
