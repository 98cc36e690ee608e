"""Which files are suites: known from their names and the first MiB, without reading them as YAML."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

MARK = re.compile(rb"^(?:\xef\xbb\xbf)?(?:\{\s*)?[\"']?ireval[\"']?\s*:", re.MULTILINE)
PARTIAL = re.compile(rb"^partial\s*:\s*['\"]?(?:true|yes|on)\b", re.MULTILINE | re.IGNORECASE)
JUDGMENTS = re.compile(rb"^judgments\s*:", re.MULTILINE)
DECIDES = re.compile(rb"^(?:rules|metrics)\s*:", re.MULTILINE)
LOOKED_AT = 1 << 20
"""The mark must stand in the first MiB."""
NOT_ENTERED = (".*", "build", "dist", "node_modules", "venv", "*.egg", "__pycache__")
"""Folders that nobody keeps suites in; pytest does not enter them either."""


def is_suite(path: Path, *, named: bool = False) -> bool:
    """Whether a file is to be read as a suite, be it without mistakes or not; raises OSError if it cannot be read.

    ``*.ireval.yaml`` is one, and any YAML file with a line that begins with ``ireval:``. One without it is to be read,
    which says what line it lacks, if somebody ``named`` it or if it has judgments and rules or metrics. A file that
    says ``partial: true`` is only there for others that extend it.
    """
    if path.suffix not in (".yaml", ".yml"):
        return False
    return says_suite(path.stem, _head_of(path), named=named)


def says_suite(stem: str, head: bytes, *, named: bool = False) -> bool:
    """The same of a YAML file of which the name and the beginning are known."""
    if PARTIAL.search(head) and not named:
        return False
    if stem.endswith(".ireval") or named:
        return True
    return bool(MARK.search(head) or (JUDGMENTS.search(head) and DECIDES.search(head)))


def is_partial(path: Path) -> bool:
    """Whether a file says that it is only there for others that extend it."""
    return PARTIAL.search(_head_of(path)) is not None


def lost_suites(folder: Path) -> list[Path]:
    """Links in a folder that are called as suites are and lead nowhere, or to themselves."""
    with suppress(OSError):  # whoever looks into the folder is told
        return sorted(
            path for path in folder.iterdir() if _is_called_suite(path) and path.is_symlink() and _leads_nowhere(path)
        )
    return []


def _is_called_suite(path: Path) -> bool:
    return path.name.endswith((".ireval.yaml", ".ireval.yml"))


def _leads_nowhere(path: Path) -> bool:
    try:
        path.stat()
    except OSError:
        return True
    return False


def suites_at(paths: Iterable[Path]) -> list[Path]:
    """The suites among files, and in folders and those below; each once, in order."""
    found = [path for each in paths for path in (files_below(each) if each.is_dir() else [each])]
    return list(dict.fromkeys(path for path in found if is_suite(path, named=path in paths)))


def files_below(folder: Path) -> Iterator[Path]:
    """List all files of a folder, without those of folders that pytest does not enter."""
    for home, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not any(fnmatch(name, each) for each in NOT_ENTERED))
        yield from (Path(home, name) for name in sorted(files))


def _head_of(path: Path) -> bytes:
    """As much of a file as is looked at."""
    with open(path, "rb") as file:
        return file.read(LOOKED_AT)


MATRIX = re.compile(rb"^matrix\s*:", re.MULTILINE)


def twin_of(path: Path, name: str) -> Path | None:
    """Another suite file beside one that says the same name; one that inherits its name is not found."""
    says = re.compile(rb"^suite\s*:\s*[\"']?" + re.escape(name.encode()) + rb"[\"']?\s*(?:#.*)?$", re.MULTILINE)
    for other in sorted(path.parent.iterdir()):
        with suppress(OSError):  # one that cannot be read is an error of whatever run collects it
            if (
                other != path
                and is_suite(other)
                and says.search(_head_of(other))
                and not MATRIX.search(_head_of(other))
            ):
                return other
    return None
