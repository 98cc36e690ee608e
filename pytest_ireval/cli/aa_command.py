"""``ireval aa``: what a suite says when nothing has changed but the day its source was asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_ireval.cli.again_text import all_asked_again
from pytest_ireval.cli.progress_bar import LateBar
from pytest_ireval.cli.rehearsed import format_option, rehearsed, suite_argument

if TYPE_CHECKING:
    from pytest_ireval.gate.judging import Circumstances
    from pytest_ireval.plugins.registry import Registry
    from pytest_ireval.results.rehearsal import AskedAgain
    from pytest_ireval.suites.suite import Suite


@click.command(name="aa", context_settings={"show_default": True})
@suite_argument
@click.option(
    "--repeat", default=2, type=click.IntRange(2, 1000), help="How often the source is asked what a run asks it."
)
@format_option
def command(suite: Path, repeat: int, form: str) -> None:
    """Ask the source of the suites in the file SUITE again, and compare its answers.

    Says how far figures move although nothing changed, and which tolerances lie below that. The exit code is 1 if one
    does, or if a rule is red between two answers.
    """

    def rehearse(each: Suite, registry: Registry, circumstances: Circumstances) -> AskedAgain:
        from pytest_ireval.rehearsing.again import asked_again

        return asked_again(each, registry, circumstances, times=repeat, bars=LateBar)

    rehearsed(suite, form, rehearse, all_asked_again)
