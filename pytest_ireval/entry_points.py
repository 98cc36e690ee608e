"""Entry points of installed distributions, by which plugins are found; none is imported here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from importlib.util import find_spec
from itertools import pairwise
from typing import NamedTuple

from pytest_ireval.errors import PluginError, Problem, did_you_mean, raised_at, told

ENTRY_POINT_GROUP = "pytest_ireval"
"""The group of plugins that every run needs, and every command that reads files."""
OF_SUITES = "pytest_ireval_suites"
"""The group of plugins that only suites need: they are loaded when the first suite is read."""
OF_COMMANDS = "pytest_ireval_commands"
"""The group of plugins that bring commands. Listing the commands imports them, so they import nothing heavy."""
WITHOUT = "IREVAL_WITHOUT"
"""The variable with names of plugins that are left out, separated by commas; ``--ireval-without`` does the same."""

BESIDE_THE_CORE = {
    "pytest_ireval_judgments": ("import", "sample", "pool", "judge", "clicks", "agreement", "collection", "lint"),
    "pytest_ireval_lab": (
        "self-test",
        "discriminate",
        "stress",
        "reliability",
        "interleave",
        "plan-online",
        "load",
        "history",
    ),
    "pytest_ireval_more_metrics": ("trec_eval",),
}
"""Packages of this distribution without which the core works, and their commands."""


class Installed(NamedTuple):
    """An entry point: its name, the module that is the plugin, the distribution that has it, and its group."""

    name: str
    module: str
    distribution: str
    version: str
    group: str

    def load(self) -> object:
        """Import the plugin; a colon may lead to an object inside the module."""
        return import_object(self.module)


def import_object(target: str) -> object:
    """Import ``module``, or the attribute that ``module:attribute`` names."""
    return EntryPoint(name=target, value=target, group="").load()


def installed_plugins(*groups: str) -> list[Installed]:
    """All entry points of the groups; of a distribution that is found twice, the first on the path counts."""
    found = entry_points()
    return [_installed(entry) for group in groups for entry in found.select(group=group)]


def _installed(entry: EntryPoint) -> Installed:
    target = entry.value.partition("[")[0].strip()  # extras that it needs may follow
    name, version = ("", "") if entry.dist is None else _name_and_version(entry.dist)
    return Installed(entry.name, target, name, version, entry.group)


@cache  # each time the whole description of the distribution is parsed
def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    metadata = distribution.metadata
    return metadata["Name"] or "", metadata["Version"] or ""  # a damaged installation has neither


def find_entries() -> list[Installed]:
    """Entry points of our groups, sorted by name; no two distributions may use one name."""
    found = sorted(installed_plugins(ENTRY_POINT_GROUP, OF_SUITES, OF_COMMANDS), key=lambda entry: entry.name)
    for entry, other in pairwise(found):
        ours = entry.distribution == other.distribution and entry.group != other.group
        if entry.name == other.name and not ours:
            raise PluginError(
                f"two installed plugins are called {entry.name!r}: {source_of(entry)} and {source_of(other)}; "
                "one must rename its entry point"
            )
    return found


def find_left_out(entries: Sequence[Installed], without: Iterable[str] = ()) -> list[Installed]:
    """The plugins that ``without`` or the variable IREVAL_WITHOUT names: by entry point, or by distribution."""
    asked = {"--ireval-without": without, WITHOUT: os.environ.get(WITHOUT, "").split(",")}
    found = []
    for asker, names in asked.items():
        for name in filter(None, map(str.strip, names)):
            plain = plain_distribution(name)
            meant = [
                each
                for each in entries
                if plain_distribution(each.name) == plain or plain_distribution(each.distribution) == plain
            ]
            others = sorted({each.name for each in entries if not is_built_in(each)})
            allowed = f"installed: {', '.join(others)}" if others else "no plugins of others are installed"
            if not meant:
                complaint = f"{asker} names {name!r}, which is not an installed plugin"
                raise PluginError(Problem(complaint, suggestion=did_you_mean(name, others), allowed=allowed))
            if any(map(is_built_in, meant)):
                raise PluginError(
                    Problem(f"{asker} names {name!r}, which is built in and cannot be left out", allowed=allowed)
                )
            found += meant
    return found


def import_plugin(entry: Installed) -> object:
    """The plugin of an entry point; PluginError names it if it cannot be imported."""
    try:
        return entry.load()
    except (Exception, SystemExit) as error:  # a plugin may raise anything while it is imported
        way_out = f"repair it, or run without it: --ireval-without {entry.name} (or {WITHOUT}={entry.name})"
        complaint = f"{describe(entry)} cannot be loaded: {told(error)}"
        raise PluginError(Problem(complaint, suggestion=raised_at(error), allowed=way_out)) from error


def is_built_in(entry: Installed) -> bool:
    """True for a plugin of this distribution."""
    return plain_distribution(entry.distribution) == "pytest-ireval"


def is_missing(entry: Installed) -> bool:
    """True for a package of this distribution that was taken out of the installation: the core works without it."""
    return is_built_in(entry) and find_spec(entry.module.partition(".")[0]) is None


def package_of(command: str) -> str | None:
    """The package of this distribution that brings a command; None for any other command."""
    return next((package for package, commands in BESIDE_THE_CORE.items() if command in commands), None)


def source_of(entry: Installed) -> str:
    """The distribution with its version, for messages."""
    return f"{entry.distribution} {entry.version}".strip() or entry.name


def describe(entry: Installed) -> str:
    """A plugin in messages: ``plugin 'acme' (acme_metrics) of acme-metrics 2.1.0``."""
    return f"plugin {entry.name!r} ({entry.module}) of {source_of(entry)}"


def plain_distribution(name: str) -> str:
    """The name of a distribution as packaging tools compare it: ``Acme_Metrics`` is ``acme-metrics``."""
    return re.sub(r"[-_.]+", "-", name).lower()
