"""Which installed distributions have an entry point in our group.

``importlib.metadata`` answers the same, and is asked where distributions may come from elsewhere than folders. But
importing it takes longer than scoring a thousand rankings (it brings an e-mail parser along), and every ``ireval``
command would pay for it; so the files ``entry_points.txt`` are looked at here. A test compares both answers.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

METADATA_FOLDER = re.compile(r"(?P<name>.+?)(-[^-]*)?\.(dist|egg)-info")
FIELD = re.compile(r"^(Name|Version):\s*(\S+)", re.MULTILINE)
LONGEST_HEAD = 4096
"""Name and version stand at the beginning of a distribution's metadata."""


class Installed(NamedTuple):
    """An entry point: its name, the module that is the plugin, and the distribution that has it."""

    name: str
    module: str
    distribution: str
    version: str

    def load(self) -> object:
        """Import the plugin; a colon may lead to an object inside the module."""
        module, _, path = self.module.partition(":")
        plugin: object = import_module(module)
        for attribute in filter(None, path.split(".")):
            plugin = getattr(plugin, attribute)
        return plugin


def installed_plugins(group: str) -> list[Installed]:
    """All entry points of the group; of a distribution that is found twice, the first on the path counts."""
    if not _only_folders():
        return list(_asked(group))
    found: dict[str, list[Installed]] = {}
    for name, folder in _metadata_folders(sys.path):
        if name not in found:
            found[name] = list(_in_folder(folder, group))
    return [plugin for plugins in found.values() for plugin in plugins]


def _only_folders() -> bool:
    """Whether everything on the path is a folder (or not there), and nobody else finds distributions."""
    strangers = [f for f in sys.meta_path if hasattr(f, "find_distributions") and f.__module__ != PATH_FINDER]
    return not strangers and not any(os.path.isfile(entry) for entry in sys.path)


PATH_FINDER = "_frozen_importlib_external"


def _metadata_folders(path: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Each distribution's normalised name, and the folder of its metadata."""
    for entry in path:
        try:
            with os.scandir(entry or ".") as files:
                for file in files:
                    if match := METADATA_FOLDER.fullmatch(file.name):
                        yield re.sub(r"[-_.]+", "-", match["name"]).lower(), Path(file.path)
        except OSError:
            continue  # a folder on the path that is not there, or not for us, holds no plugins


def _in_folder(folder: Path, group: str) -> Iterator[Installed]:
    try:
        text = (folder / "entry_points.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif section == group and line and line[0] not in "#;":
            name, _, module = line.partition("=")
            yield Installed(name.strip(), module.partition("[")[0].strip(), *_name_and_version(folder))


def _name_and_version(folder: Path) -> tuple[str, str]:
    file = folder / ("METADATA" if folder.suffix == ".dist-info" else "PKG-INFO")
    try:
        with open(file, encoding="utf-8", errors="replace") as metadata:
            fields = dict(FIELD.findall(metadata.read(LONGEST_HEAD)))
    except OSError:
        fields = {}  # a damaged installation still has the name of its folder
    return fields.get("Name", folder.stem), fields.get("Version", "")


def _asked(group: str) -> Iterator[Installed]:
    from importlib.metadata import entry_points

    for entry in entry_points(group=group):
        name, version = (entry.dist.name, entry.dist.version) if entry.dist else ("", "")
        yield Installed(entry.name, entry.value.partition("[")[0].strip(), name, version)
