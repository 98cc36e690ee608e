"""``ireval lint``: doubtful judgments and queries."""

from __future__ import annotations

import re
import sys
from itertools import groupby

import click

from pytest_ireval import read_judgments, read_queries, read_rankings
from pytest_ireval.cli.options import format_options, grades_option, load_command_registry, rel_option
from pytest_ireval.plugin_api import Grades, did_you_mean
from pytest_ireval_judgments.linting import CHECKS, Doubt, find_doubts

FIRST = 5
"""The findings of a check that are listed unless all are asked for."""


@click.command(name="lint", context_settings={"show_default": True})
@click.argument("judgments")
@click.argument("rankings", nargs=-1)
@click.option("--queries", help="The queries that were judged.")
@click.option("--holdout", metavar="FILE", help="Queries kept for a last test: --queries must not repeat them.")
@click.option("--scale", metavar="LOW..HIGH", help="The lowest and the highest allowed grade, for example 0..3.")
@rel_option
@click.option("--ignore", multiple=True, metavar="CHECK", help="Do not report this; repeatable.")
@click.option("--all", "whole", is_flag=True, help="Every finding; the default is the first five of each check.")
@click.option("--format", "form", default="text", type=click.Choice(["text", "json"]), help="The output format.")
@format_options("judgments", "queries", "rankings")
@grades_option
def command(
    judgments: str,
    rankings: tuple[str, ...],
    queries: str | None,
    holdout: str | None,
    scale: str | None,
    rel: float,
    ignore: tuple[str, ...],
    whole: bool,
    form: str,
    judgments_format: str | None,
    queries_format: str | None,
    rankings_format: str | None,
    grades: Grades,
) -> None:
    """Look for doubtful JUDGMENTS, with the queries and RANKINGS they belong to.

    The exit code is 1 when there is anything, 0 when there is nothing, 2 when a file cannot be read.
    """
    for name in ignore:
        if name not in CHECKS:
            raise click.UsageError(f"unknown check {name!r}; {did_you_mean(name, CHECKS) or ', '.join(CHECKS)}")
    if holdout is not None and queries is None:
        raise click.UsageError("--holdout is compared with --queries: give both")
    registry = load_command_registry(None)
    doubts = find_doubts(
        read_judgments(judgments, format=judgments_format, grades=grades, registry=registry),
        None if queries is None else read_queries(queries, format=queries_format, registry=registry),
        [read_rankings(path, format=rankings_format, registry=registry) for path in rankings],
        holdout=None if holdout is None else read_queries(holdout, format=queries_format, registry=registry),
        scale=None if scale is None else _parse_scale(scale),
        rel=rel,
    )
    listed = [finding for finding in doubts if finding.check not in ignore]
    click.echo(_format_json(listed) if form == "json" else _format_text(listed, len(doubts) - len(listed), whole=whole))
    sys.exit(1 if listed else 0)


def _parse_scale(text: str) -> tuple[float, float]:
    match = re.fullmatch(r"(-?[0-9.]+)\.\.(-?[0-9.]+)", text)
    try:
        low, high = map(float, match.groups()) if match else (1.0, 0.0)
    except ValueError:
        low, high = 1.0, 0.0
    if low > high:
        raise click.UsageError(f"--scale {text} is not a scale; write it as 0..3")
    return low, high


def _format_text(doubts: list[Doubt], ignored: int, *, whole: bool) -> str:
    lines = []
    for name, group in groupby(doubts, lambda finding: finding.check):
        these = list(group)
        listed = these if whole else these[:FIRST]
        lines += [f"{finding.place}: {finding.text} [{name}]" for finding in listed]
        lines += [f"… and {len(these) - FIRST:,} more [{name}]: --all shows them"] if len(these) > len(listed) else []
    count = {name: sum(finding.check == name for finding in doubts) for name in CHECKS}
    summary = ", ".join(f"{number} {name}" for name, number in count.items() if number)
    left = f"; {ignored} ignored" if ignored else ""
    return "\n".join([*lines, f"{len(doubts)} found: {summary}{left}" if doubts else f"nothing found{left}"])


def _format_json(doubts: list[Doubt]) -> str:
    import json

    entries = [{"place": finding.place, "check": finding.check, "text": finding.text} for finding in doubts]
    return json.dumps({"format": 1, "findings": entries})
