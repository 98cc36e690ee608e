"""The commands that packages add to ``ireval``, found without importing them, or anything that evaluates."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pluggy

from pytest_ireval.entry_points import (
    COMMANDS_GROUP,
    WITHOUT_VARIABLE,
    InstalledPlugin,
    describe_plugin,
    find_entry_points,
    find_left_out,
    format_source,
    import_object,
    import_plugin,
    is_built_in,
    is_missing,
)
from pytest_ireval.errors import PluginError, Problem, describe_exception, find_raise_place
from pytest_ireval.plugins import hookspecs
from pytest_ireval.plugins.hookspecs import CommandSpec

if TYPE_CHECKING:
    import click

COMMAND_NAME = re.compile(r"[a-z][a-z0-9_]*(-[a-z0-9_]+)*")
TARGET = re.compile(r"[\w.]+:[\w.]+")


class PackageCommand(NamedTuple):
    """A command, and the entry point of the plugin that brings it."""

    spec: CommandSpec
    entry: InstalledPlugin

    @property
    def source(self) -> str:
        """The distribution with its version."""
        return format_source(self.entry)

    @property
    def is_built_in(self) -> bool:
        """True if it comes with this distribution."""
        return is_built_in(self.entry)

    @property
    def heading(self) -> str:
        """The title of its group in ``ireval --help``: the distribution, or the package if that is one of ours."""
        if not self.is_built_in:
            return self.entry.distribution
        package = self.entry.module.partition(".")[0]
        return package.removeprefix("pytest_ireval_").replace("_", " ").capitalize()

    def load(self) -> click.Command:
        """Import it."""
        import click

        named = f"command {self.spec.name!r} of {self.source}"
        try:
            command = import_object(self.spec.target)
        except (Exception, SystemExit) as error:  # a plugin may raise anything while it is imported
            complaint = f"{named} cannot be loaded from {self.spec.target}: {describe_exception(error)}"
            raise PluginError(Problem(complaint, suggestion=find_raise_place(error))) from error
        if not isinstance(command, click.Command):
            raise PluginError(f"{named}: {self.spec.target} is {command!r}, not a command of click")
        return command


@dataclass
class PackageCommands:
    """All commands of packages by name, and why plugins could not be loaded."""

    by_name: Mapping[str, PackageCommand]
    broken: Sequence[str]


def find_commands(taken: Collection[str] = ()) -> PackageCommands:
    """The commands of all packages; ``taken`` are the names of the core's commands.

    Two packages with a command of one name are an error: neither is ever called in place of the other. A plugin that
    cannot be loaded is not: all other commands work without it.
    """
    entries = find_entry_points()
    left_out = find_left_out(entries)
    found: dict[str, PackageCommand] = {}
    broken = []
    for entry in entries:
        if entry.group != COMMANDS_GROUP or entry in left_out or is_missing(entry):
            continue
        try:
            specs = _call_hook(entry)
        except PluginError as error:
            broken.append(str(error))
            continue
        for spec in specs:
            command = PackageCommand(spec, entry)
            if spec.name in taken or spec.name in found:
                raise _make_clash_error(command, found.get(spec.name))
            found[spec.name] = command
    return PackageCommands(found, broken)


def _call_hook(entry: InstalledPlugin) -> list[CommandSpec]:
    """What ``ireval_commands`` of one plugin returns, checked."""
    plugin = import_plugin(entry)
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(plugin)
    except pluggy.PluginValidationError as error:
        raise PluginError(f"{describe_plugin(entry)}: {error}") from error
    if not manager.hook.ireval_commands.get_hookimpls():
        complaint = (
            f"{describe_plugin(entry)} does not implement ireval_commands, which the group {COMMANDS_GROUP} is for"
        )
        raise PluginError(Problem(complaint, suggestion="is the function marked with @hookimpl?"))
    try:
        returned = [list(specs) for specs in manager.hook.ireval_commands()]
    except Exception as error:  # a plugin may raise anything; the message names it
        complaint = f"ireval_commands of {describe_plugin(entry)} must return a list of CommandSpec"
        complaint = f"{complaint}: {describe_exception(error)}"
        raise PluginError(Problem(complaint, suggestion=find_raise_place(error))) from error
    if not returned:
        raise PluginError(f"ireval_commands of {describe_plugin(entry)} returned None; is a return statement missing?")
    return _check_specs([spec for specs in returned for spec in specs], entry)


def _check_specs(specs: Iterable[object], entry: InstalledPlugin) -> list[CommandSpec]:
    checked = []
    for spec in specs:
        if not isinstance(spec, CommandSpec):
            raise PluginError(
                f"{describe_plugin(entry)} returned {spec!r} from ireval_commands, which is not a CommandSpec"
            )
        complaint = ""
        if not COMMAND_NAME.fullmatch(str(spec.name)):
            complaint = f"{spec.name!r} cannot be the name of a command: use lower-case letters, digits, - and _"
        elif not spec.summary or "\n" in spec.summary:
            complaint = f"command {spec.name!r} needs a summary of one line"
        elif not TARGET.fullmatch(spec.target):
            complaint = f"command {spec.name!r} has the target {spec.target!r}: write module:attribute"
        if complaint:
            raise PluginError(f"{describe_plugin(entry)}: {complaint}")
        checked.append(spec)
    return checked


def _make_clash_error(command: PackageCommand, other: PackageCommand | None) -> PluginError:
    """The error about two commands of one name; without the other one it is a command of the core."""
    owner = "ireval itself" if other is None else other.source
    complaint = f"command {command.spec.name!r} is claimed twice: by {owner} and by {command.source}"
    names = [each.entry.name for each in (other, command) if each is not None and not each.is_built_in]
    return PluginError(
        Problem(complaint, suggestion=f"run without one of them: {WITHOUT_VARIABLE}={' or '.join(names)}")
    )
