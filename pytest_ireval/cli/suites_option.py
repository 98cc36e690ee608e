"""The option ``--suites``: the folder whose conftest.py files bring more than what is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_ireval.plugins.manager import load_registry

if TYPE_CHECKING:
    from pytest_ireval.plugins.registry import Registry

suites_option = click.option(
    "--suites",
    metavar="DIR",
    type=click.Path(exists=True, path_type=Path),
    help="A folder of suites: what its conftest.py files bring counts, too.",
)


def registry_at(suites: Path | None) -> Registry:
    """What is installed, and what the conftest.py files of that folder and of those above it bring."""
    if suites is None:
        return load_registry()
    from pytest_ireval.plugins.conftests import Conftests

    return Conftests().registry_for(suites.absolute())
