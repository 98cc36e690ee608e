"""A command that rehearses every suite of a file, prints what came of it, and ends with 1 if one does not hold."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

if TYPE_CHECKING:
    from pytest_ireval.gate.judging import Circumstances
    from pytest_ireval.plugins.registry import Registry
    from pytest_ireval.suites.suite import Suite

FORMAT = 1


class Rehearsal(Protocol):
    """A result that says whether the suite may be believed."""

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""


R = TypeVar("R", bound=Rehearsal)

suite_argument = click.argument("suite", type=click.Path(exists=True, dir_okay=False, path_type=Path))
format_option = click.option(
    "--format", "form", default="table", type=click.Choice(["table", "json"]), help="How to print it."
)


def rehearsed(
    path: Path,
    form: str,
    rehearse: Callable[[Suite, Registry, Circumstances], R],
    text: Callable[[Sequence[R]], str],
) -> None:
    """Rehearse the suites of a file, one after the other."""
    from pytest_ireval.gate.circumstances import today_of
    from pytest_ireval.gate.judging import Circumstances
    from pytest_ireval.plugins.conftests import Conftests
    from pytest_ireval.results.plain import to_plain
    from pytest_ireval.suites.loading import load_suites

    registry = Conftests().registry_for(path)
    circumstances = Circumstances(today_of())
    found = [rehearse(suite, registry, circumstances) for suite in load_suites(path, registry)]
    if form == "json":
        suites = [{**to_plain(each), "holds": each.holds} for each in found]
        click.echo(json.dumps({"format": FORMAT, "suites": suites}, ensure_ascii=False))
    else:
        click.echo(text(found), nl=False)
    sys.exit(0 if all(each.holds for each in found) else 1)
