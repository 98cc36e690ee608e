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

from pytest_ireval.errors import PluginError, Problem, describe_exception, did_you_mean, find_raise_place

ENTRY_POINT_GROUP = "pytest_ireval"
"""The group of plugins that every run needs, and every command that reads files."""
SUITES_GROUP = "pytest_ireval_suites"
"""The group of plugins that only suites need: they are loaded when the first suite is read."""
COMMANDS_GROUP = "pytest_ireval_commands"
"""The group of plugins that bring commands. Listing the commands imports them, so they import nothing heavy."""
WITHOUT_VARIABLE = "IREVAL_WITHOUT"
"""The variable with names of plugins that are left out, separated by commas; ``--ireval-without`` does the same."""

BUNDLED_COMMANDS = {
    "pytest_ireval_judgments": ("import", "sample", "pool", "judge", "clicks", "agreement", "collection", "lint"),
    "pytest_ireval_lab": (
        "self-test",
        "alive",
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


class InstalledPlugin(NamedTuple):
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


def list_installed_plugins(*groups: str) -> list[InstalledPlugin]:
    """List all entry points of the groups; of a distribution that is found twice, the first on the path counts."""
    plugins = []
    installed = entry_points()  # asked once: it reads a file of every distribution
    for entry in (entry for group in groups for entry in installed.select(group=group)):
        module = entry.value.partition("[")[0].strip()  # extras that it needs may follow
        name, version = ("", "") if entry.dist is None else _read_name_and_version(entry.dist)
        plugins.append(InstalledPlugin(entry.name, module, name, version, entry.group))
    return plugins


@cache  # each time the whole description of the distribution is parsed
def _read_name_and_version(distribution: Distribution) -> tuple[str, str]:
    metadata = distribution.metadata
    return metadata["Name"] or "", metadata["Version"] or ""  # a damaged installation has neither


def find_entry_points() -> list[InstalledPlugin]:
    """Find the entry points of our groups, sorted by name; no two distributions may use one name."""
    entries = sorted(
        list_installed_plugins(ENTRY_POINT_GROUP, SUITES_GROUP, COMMANDS_GROUP), key=lambda entry: entry.name
    )
    for entry, other in pairwise(entries):
        same_package = entry.distribution == other.distribution and entry.group != other.group
        if entry.name == other.name and not same_package:
            raise PluginError(
                f"two installed plugins are called {entry.name!r}: {format_source(entry)} and {format_source(other)}; "
                "one must rename its entry point"
            )
    return entries


def find_left_out(entries: Sequence[InstalledPlugin], without: Iterable[str] = ()) -> list[InstalledPlugin]:
    """Find the plugins that ``without`` or the variable IREVAL_WITHOUT names: by entry point, or by distribution."""
    left_out = []
    others = sorted({entry.name for entry in entries if not is_built_in(entry)})
    allowed = f"installed: {', '.join(others)}" if others else "no plugins of others are installed"
    requests = [("--ireval-without", name) for name in without]
    requests += [(WITHOUT_VARIABLE, name) for name in os.environ.get(WITHOUT_VARIABLE, "").split(",")]
    for option, name in ((option, name.strip()) for option, name in requests if name.strip()):
        plain = normalize_distribution(name)
        meant = [
            entry
            for entry in entries
            if plain in (normalize_distribution(entry.name), normalize_distribution(entry.distribution))
        ]
        if not meant:
            complaint = f"{option} names {name!r}, which is not an installed plugin"
            raise PluginError(Problem(complaint, suggestion=did_you_mean(name, others), allowed=allowed))
        if any(map(is_built_in, meant)):
            complaint = f"{option} names {name!r}, which is built in and cannot be left out"
            raise PluginError(Problem(complaint, allowed=allowed))
        left_out += meant
    return left_out


def import_plugin(entry: InstalledPlugin) -> object:
    """Import the plugin of an entry point; PluginError names it if that fails."""
    try:
        return entry.load()
    except (Exception, SystemExit) as error:  # a plugin may raise anything while it is imported
        way_out = f"repair it, or run without it: --ireval-without {entry.name} (or {WITHOUT_VARIABLE}={entry.name})"
        complaint = f"{describe_plugin(entry)} cannot be loaded: {describe_exception(error)}"
        raise PluginError(Problem(complaint, suggestion=find_raise_place(error), allowed=way_out)) from error


def is_built_in(entry: InstalledPlugin) -> bool:
    """True for a plugin of this distribution."""
    return normalize_distribution(entry.distribution) == "pytest-ireval"


def is_missing(entry: InstalledPlugin) -> bool:
    """True for a package of this distribution that was taken out of the installation: the core works without it."""
    return is_built_in(entry) and find_spec(entry.module.partition(".")[0]) is None


def find_package(command: str) -> str | None:
    """The package of this distribution that brings a command; None for any other command."""
    return next((package for package, commands in BUNDLED_COMMANDS.items() if command in commands), None)


def format_source(entry: InstalledPlugin) -> str:
    """The distribution with its version, for messages."""
    return f"{entry.distribution} {entry.version}".strip() or entry.name


def describe_plugin(entry: InstalledPlugin) -> str:
    """A plugin in messages: ``plugin 'acme' (acme_metrics) of acme-metrics 2.1.0``."""
    return f"plugin {entry.name!r} ({entry.module}) of {format_source(entry)}"


def normalize_distribution(name: str) -> str:
    """The name of a distribution as packaging tools compare it: ``Acme_Metrics`` is ``acme-metrics``."""
    return re.sub(r"[-_.]+", "-", name).lower()
