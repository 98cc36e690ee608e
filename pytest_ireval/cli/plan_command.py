"""``ireval plan``: the drops that the queries of suites can show, and the queries needed, before any run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from pytest_ireval.cli.options import load_chosen_suites
from pytest_ireval.clock import read_date
from pytest_ireval.plugins.conftests import Conftests
from pytest_ireval.power.chance_of_red import ChanceOfRed, estimate_chance_of_red
from pytest_ireval.power.outlook import Outlook, SuiteData, collect_suite_data, foresee_rules
from pytest_ireval.report.results_file import RESULTS, list_report_folders, read_run
from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.statistics.resolution import LIKENESS
from pytest_ireval.suite.quantities import Tolerance, read_tolerance
from pytest_ireval.suite.scalars import UnfitError
from pytest_ireval.suite.suite import Suite
from pytest_ireval.text_table import align_rows, escape_unprintable, wrap_text
from pytest_ireval.words import format_magnitude


def _parse_drop(_context: click.Context, _option: click.Parameter, text: str | None) -> Tolerance | None:
    """A share of the baseline, or an amount."""
    if text is None:
        return None
    try:
        drop = read_tolerance(text if text.strip().endswith("%") else {"absolute": text})
    except UnfitError:
        drop = None
    if drop is None or not (drop.relative or drop.absolute):
        raise click.BadParameter(f"{text!r} is not a drop: write 1% (of the baseline) or 0.01 (an amount)")
    return drop


@click.command(name="plan")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--drop", callback=_parse_drop, help="Ask about this drop, 1% or 0.01, instead of the tolerances of the rules."
)
@click.option(
    "--queries", type=click.IntRange(2), help="Assume this many queries in a suite, its slices in proportion."
)
@click.option("--named", help="One suite of a matrix; the default is all suites at PATHS.")
@click.option(
    "--report",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with the report of the last run. The default is ireval-report.",
)
@click.option("--format", "form", default="table", type=click.Choice(["table", "json"]), help="The output format.")
def command(
    paths: tuple[Path, ...],
    drop: Tolerance | None,
    queries: int | None,
    named: str | None,
    report: Path | None,
    form: str,
) -> None:
    """Show how small a change the queries of the suites at PATHS, files or folders, can detect.

    For each mean that a rule compares with the baseline: the smallest drop that its queries show in 80% of cases, how
    many queries its tolerance takes, and how often a harmless change breaks it. At last, how often such a change would
    turn the suite red: its rules are applied to changes like that of the last run. No source is asked.
    """
    conftests, today = Conftests(), read_date()
    plans = []
    for suite in load_chosen_suites(paths, named, conftests):
        data = collect_suite_data(suite, conftests.registry_for(suite.path), today)
        chance = None
        if data.stored is not None and drop is None and queries is None:
            chance = estimate_chance_of_red(data, _find_last_run(suite, report))
        plans.append((data, foresee_rules(data, drop, queries), chance))
    if form == "json":
        click.echo(json.dumps({"format": 1, "suites": [_make_suite_record(*plan) for plan in plans]}, indent=1))
        return
    click.echo("\n\n".join(_format_plan(*plan, drop, queries) for plan in plans))


WIDTH = 100


def _find_last_run(suite: Suite, report: Path | None) -> RunResult | None:
    """The newest run of the suite that left a report."""
    folders = [folder for folder in list_report_folders(suite.path, report) if (folder / RESULTS).is_file()]
    runs = [run for run in map(read_run, folders) if any(result.name == suite.name for result in run.suites)]
    return max(runs, key=lambda run: run.date, default=None)


def _format_plan(
    data: SuiteData,
    outlooks: Sequence[Outlook],
    chance: ChanceOfRed | None,
    drop: Tolerance | None,
    queries: int | None,
) -> str:
    suite = data.suite
    title = escape_unprintable(f"{suite.name}: {suite.shown}")
    if data.stored is None:
        remedy = f"accept the first one with: pytest --ireval {suite.shown} --ireval-update-new"
        return _join_lines([title], [f"no baseline yet, so its values are unknown; {remedy}"])
    about_chance = [] if chance is None else [_describe_chance(chance, outlooks)]
    if not outlooks:
        return _join_lines([title, "  no rule compares a mean with the baseline"], about_chance)
    title += f", baseline of {data.stored.accepted.date[:10]}"
    if queries is not None:
        title += f", as if it had {queries:,} queries"
    table = _format_rules(_choose_rows(outlooks), "drop" if drop is not None else "tolerance")
    return _join_lines([title, "", *table, ""], [*_explain_columns(outlooks), *about_chance])


def _join_lines(lines: Sequence[str], notes: Sequence[str]) -> str:
    """The lines, with the notes below them, wrapped."""
    return "\n".join([*lines, *(line for note in notes for line in wrap_text(note, WIDTH, "  "))])


def _choose_rows(outlooks: Sequence[Outlook]) -> list[Outlook]:
    """Each mean, slice and tolerance once; without a tolerance only where no other rule has one."""
    with_tolerance = {(outlook.metric, outlook.slice) for outlook in outlooks if outlook.tolerance_text}
    rows = [row for row in outlooks if row.tolerance_text or (row.metric, row.slice) not in with_tolerance]
    return list({(row.metric, row.weighted, row.slice, row.tolerance_text): row for row in rows}.values())


def _format_rules(rows: Sequence[Outlook], tolerance: str) -> list[str]:
    """A table; ``tolerance`` is the title of its column."""
    header = ["metric", "slice", "queries", "spread", "from", "can show", tolerance, "needs", "false alarms", ""]
    return [f"  {line}".rstrip() for line in align_rows([header, *map(_format_row, rows)], (2, 3, 5, 6, 7, 8))]


UNKNOWN = "-"
MOST_QUERIES = 10**9
"""Nobody has more queries."""


def _format_row(row: Outlook) -> list[str]:
    queries, spread, origin, needed, false_alarm = f"{row.queries:,}", UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN
    if row.clusters is not None:
        queries += f" in {row.clusters:,}"
    if row.usual_spread is not None:
        spread = format_magnitude(row.usual_spread.spread)
        origin = "assumed" if row.usual_spread.assumed else row.usual_spread.origin
    if row.needed is not None:
        needed = f"{row.needed:,}" if row.needed < MOST_QUERIES else "too many"
    if row.false_alarm is not None:
        false_alarm = f"{100 * row.false_alarm:.0f}%"
    return [
        escape_unprintable(row.mean_name),
        escape_unprintable(row.slice),
        queries,
        spread,
        origin,
        _format_resolution(row),
        _format_tolerance(row),
        needed,
        false_alarm,
        "<- too small for these queries" if row.has_too_small_tolerance else "",
    ]


def _format_resolution(row: Outlook) -> str:
    if row.can_show_no_drop:
        return "no drop"
    return UNKNOWN if row.resolution is None else format_magnitude(row.resolution)


def _format_tolerance(row: Outlook) -> str:
    """``0.027 (3%)``."""
    if row.tolerance is None:
        return UNKNOWN
    amount = format_magnitude(row.tolerance)
    return f"{amount} ({row.tolerance_text})" if row.relative else amount


def _explain_columns(outlooks: Sequence[Outlook]) -> Iterator[str]:
    """The meaning of the columns that are not empty."""
    yield (
        "spread: the standard deviation of what single queries gain or lose from one version to the next. "
        "can show: the smallest true drop that a one-sided t test at 5% finds in 80% of cases. "
        "needs: the number of queries that would show the drop in the column before. "
        "false alarms: how often a harmless change of this spread exceeds that drop, which warns, or fails with "
        "decide_by: observed."
    )
    if any(outlook.clusters is not None for outlook in outlooks):
        yield (
            "queries: 60 in 12 are 60 queries in 12 clusters. As long as the spread is assumed, a cluster counts as "
            "one query."
        )
    if any(outlook.usual_spread is not None and outlook.usual_spread.assumed for outlook in outlooks):
        yield (
            f"assumed: no acceptance after the first baseline moved these queries, so the values of two "
            f"versions are assumed to correlate by {LIKENESS}, as after small changes."
        )
    unknown = dict.fromkeys(
        escape_unprintable(f"{outlook.metric} on {outlook.slice}")
        for outlook in outlooks
        if outlook.usual_spread is None
    )
    if unknown:
        yield f"unknown: {', '.join(unknown)}: all values are equal, or the baseline has none."


def _describe_chance(chance: ChanceOfRed, outlooks: Sequence[Outlook]) -> str:
    if chance.red is None or chance.warned is None:
        return f"How often a harmless change would turn this suite red is unknown: {chance.why}."
    red, warned = map(_format_share, (chance.red, chance.warned))
    often = f"red in {red} of cases, and only warn in {warned}"
    not_counted = f" (not counted: {', '.join(chance.left_out)})" if chance.left_out else ""
    # Rules that decide by the observed fall refuse large changes more often than small ones; evidence does not.
    bias = "" if all(outlook.by_evidence for outlook in outlooks) else f" {_BIAS[chance.from_run]}"
    return escape_unprintable(
        f"Harmless changes as large as {chance.drawn_from} would turn this suite {often}{not_counted}.{bias}"
    )


_BIAS = {
    False: "Refused changes do not count. With decide_by: observed these are the larger ones, so the figure is too "
    "low.",
    True: "One run alone counts. With decide_by: observed, the figure is too low after a green run, and too high after "
    "a red one.",
}
"""What is wrong with the estimate, by whether it is drawn from a run."""


def _format_share(share: float) -> str:
    return "under 1%" if share < 0.01 else f"{100 * share:.0f}%"


def _make_suite_record(data: SuiteData, outlooks: Sequence[Outlook], chance: ChanceOfRed | None) -> dict[str, Any]:
    return {
        "suite": data.suite.name,
        "path": data.suite.shown,
        "baseline": data.stored.accepted.date if data.stored is not None else None,
        "rules": [*map(_make_rule_record, outlooks)],
        "chance_of_red": chance and chance.red,
        "chance_of_warning": chance and chance.warned,
        "drawn_from": chance and chance.drawn_from,
        "not_counted": list(chance.left_out) if chance else [],
    }


def _make_rule_record(outlook: Outlook) -> dict[str, Any]:
    return {
        "id": outlook.check.id,
        "metric": outlook.metric,
        "slice": outlook.slice,
        "weighted": outlook.weighted,
        "queries": outlook.queries,
        "clusters": outlook.clusters,
        "mean": outlook.mean,
        "spread": outlook.usual_spread.spread if outlook.usual_spread is not None else None,
        "spread_from": outlook.usual_spread.origin if outlook.usual_spread is not None else None,
        "resolution": outlook.resolution,
        "shows_any": not outlook.can_show_no_drop,
        "tolerance": outlook.tolerance,
        "needed": outlook.needed,
        "false_alarm": outlook.false_alarm,
        "decide_by": "evidence" if outlook.by_evidence else "observed",
        "blind": outlook.has_too_small_tolerance,
    }
