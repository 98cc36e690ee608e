"""``ireval self-test``: how often a suite is red by chance, and which damage it would notice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_ireval.cli.progress_bar import LateBar
from pytest_ireval.cli.rehearsed import format_option, rehearsed, suite_argument
from pytest_ireval.cli.self_test_text import all_self_tests

if TYPE_CHECKING:
    from pytest_ireval.gate.judging import Circumstances
    from pytest_ireval.plugins.registry import Registry
    from pytest_ireval.results.rehearsal import SelfTest
    from pytest_ireval.suites.suite import Suite


@click.command(name="self-test", context_settings={"show_default": True})
@suite_argument
@click.option(
    "--trials", default=200, type=click.IntRange(20, 100_000), help="How often baseline and candidate change places."
)
@click.option(
    "--against",
    metavar="RANKINGS",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Other rankings to compare with the accepted ones, instead of those that the source returns now.",
)
@format_option
def command(suite: Path, trials: int, against: Path | None, form: str) -> None:
    """Put the suites in the file SUITE to the test.

    Baseline and candidate change places by chance: how often is a rule red? Damage is done to the accepted rankings:
    which rule notices, from which share of the queries on? Harmless changes are made: is everything green? The exit
    code is 1 if a harmless change is red, or if rules that decide by evidence raise more alarms than they promise.
    """

    def rehearse(each: Suite, registry: Registry, circumstances: Circumstances) -> SelfTest:
        from pytest_ireval.rehearsing.self_test import self_test

        return self_test(each, registry, circumstances, trials=trials, against=against, bars=LateBar)

    rehearsed(suite, form, rehearse, all_self_tests)
