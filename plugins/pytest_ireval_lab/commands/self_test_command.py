"""``ireval self-test``: alarms of a suite by chance, and the damage that it would notice."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TypeVar

import click

from pytest_ireval import Suite, load_registry, load_suites
from pytest_ireval.cli.options import ProgressBar
from pytest_ireval.plugin_api import Registry, escape_unprintable, format_count, format_table, wrap_text
from pytest_ireval_lab.self_test.results import FalseAlarms, MetricNoise, NoticedDamage, RepeatedAnswers, SelfTest

WIDTH = 100
R = TypeVar("R", SelfTest, RepeatedAnswers)


@click.command(name="self-test", context_settings={"show_default": True})
@click.argument("suite", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--trials",
    default=200,
    type=click.IntRange(20, 100_000),
    help="The number of times to swap baseline and candidate at random.",
)
@click.option(
    "--against",
    metavar="RANKINGS",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Other rankings to compare with the accepted ones, instead of those that the source returns now.",
)
@click.option(
    "--repeat", type=click.IntRange(2, 1000), help="Instead, ask the source this many times, and compare its answers."
)
@click.option("--format", "form", default="table", type=click.Choice(["table", "json"]), help="The output format.")
@click.pass_context
def command(
    context: click.Context, suite: Path, trials: int, against: Path | None, repeat: int | None, form: str
) -> None:
    """Put the suites in the file SUITE to the test.

    Baseline and candidate change places by chance: how often is a rule red? Damage is done to the accepted rankings:
    which rule notices, from which share of the queries on? Harmless changes are made: is everything green? The exit
    code is 1 if a harmless change is red, or if rules that decide by evidence raise more alarms than they promise.

    With --repeat the source is asked several times what a run asks it: how far do figures move although nothing
    changed, and which tolerances are smaller than that? The exit code is 1 if one is, or if a rule is red between two
    answers.
    """
    for option in ("trials", "against"):
        if repeat is not None and context.get_parameter_source(option) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(f"--repeat cannot be combined with --{option}")
    from pytest_ireval_lab.self_test.asking_again import ask_again  # imports the gate, which --help does without
    from pytest_ireval_lab.self_test.run import self_test

    if repeat is not None:
        _test_suites(suite, form, partial(ask_again, times=repeat, bars=ProgressBar), format_asked_again)
    else:
        rehearse = partial(self_test, trials=trials, against=against, bars=ProgressBar)
        _test_suites(suite, form, rehearse, format_self_test)


def _test_suites(path: Path, form: str, rehearse: Callable[[Suite, Registry], R], text: Callable[[R], str]) -> None:
    registry = load_registry(path)
    results = [rehearse(suite, registry) for suite in load_suites(path, registry)]
    if form == "json":
        suites = [{**asdict(each), "holds": each.holds} for each in results]
        click.echo(json.dumps({"format": 1, "suites": suites}))
    else:
        click.echo("\n".join(map(text, results)), nl=False)
    sys.exit(0 if all(each.holds for each in results) else 1)


def format_self_test(result: SelfTest) -> str:
    """Everything below each other; the last line is the verdict."""
    parts = [
        _format_alarms(result),
        _format_damage(result),
        _format_harmless(result),
        "\n".join(_list_notes(result)),
        _format_verdict(result),
    ]
    return (
        f"{escape_unprintable(result.suite)} ({escape_unprintable(result.file)})\n\n"
        + "\n\n".join(filter(None, parts))
        + "\n"
    )


def _format_alarms(result: SelfTest) -> str:
    if result.nothing_to_swap:
        hint = "--against RANKINGS names other rankings of these queries to compare with"
        return _wrap(f"False alarms: unknown, because {result.nothing_to_swap}; {hint}.")
    whole, *rules = result.alarms
    head = _wrap(
        f"False alarms: {format_count(result.trials, 'time')}, the values of each query in "
        f"{result.compared} were swapped or kept at random; "
        f"they differ on {result.differing} of {format_count(result.queries, 'query')}. "
        "All gains and losses are due to chance."
    )
    header = ["rule", "decided by", "red", "95% limits", "by evidence", "promised", ""]
    rows = [_make_alarm_row(each) for each in rules]
    if not all(each.is_swapped_in_vain or each.only_warns for each in rules):
        rows.append(_make_alarm_row(whole))
    last = _wrap(_summarize_alarms(whole, rules))
    return "\n".join((head, "", format_table(header, rows, (2, 3, 4, 5)), "", last))


def _summarize_alarms(whole: FalseAlarms, rules: Sequence[FalseAlarms]) -> str:
    untested = [each.rule for each in rules if each.is_swapped_in_vain]
    if all(each.is_swapped_in_vain or each.only_warns for each in rules):
        hint = "--against RANKINGS names other rankings to compare with"
        return f"False alarms of this suite are unknown: no rule that can turn it red has different values; {hint}."
    limits = f"95% limits: {format_percent(whole.low)} to {format_percent(whole.high)}"
    beside = f" Not tested, because their values are equal on both sides: {', '.join(untested)}." if untested else ""
    return f"This suite turns {format_percent(whole.share)} of harmless changes of this kind red ({limits}).{beside}"


def _wrap(text: str) -> str:
    return "\n".join(wrap_text(text, WIDTH))


def _make_alarm_row(each: FalseAlarms) -> list[str]:
    if each.is_swapped_in_vain:
        return [each.rule, each.decided_by, "-", "-", "-", "-", "<- not tested: equal values"]
    promised = each.promised is not None
    return [
        each.rule or "the whole suite",
        each.decided_by,
        format_percent(each.share),
        f"{format_percent(each.low)} .. {format_percent(each.high)}",
        format_percent(each.by_evidence / each.runs) if promised else "-",
        format_percent(each.promised or 0.0) if promised else "-",
        "<- broken" if each.broken else "only warns" if each.only_warns else "",
    ]


def format_percent(share: float) -> str:
    """``0.025`` as ``2.5%``."""
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def _format_damage(result: SelfTest) -> str:
    noticed = [each for each in result.mutants if each.noticed_from is not None]
    header = ["damage", "queries", "noticed from", "by"]
    rows = [[each.name, str(each.queries), _format_share(each), _name_first_rule(each.rules)] for each in noticed]
    head = "Would this gate notice? Damage to the accepted rankings, for more and more queries:"
    lines = [head, "", format_table(header, rows, (1, 2))] if rows else []
    missed = [each for each in result.mutants if each.noticed_from is None]
    if missed:
        lines += ["", "Damage that no rule notices:" if lines else "No rule notices any of the damage:"]
        lines += [f"  {each.name}: {_describe_unnoticed(each)}" for each in missed]
    return "\n".join(lines).strip()


def _format_share(each: NoticedDamage) -> str:
    last = each.levels[-1]
    return "all" if each.noticed_from == 1 else f"{format_percent(each.noticed_from or 0.0)} ({last.queries})"


def _name_first_rule(rules: Sequence[str]) -> str:
    """The first rule, and the number of others; JSON has all."""
    return "".join(rules[:1]) + (f" and {len(rules) - 1} more" if len(rules) > 1 else "")


def _describe_unnoticed(each: NoticedDamage) -> str:
    last = each.levels[-1]
    most = max(each.levels, key=lambda level: level.red / level.trials)
    said = (
        f"red in {most.red} of {format_count(most.trials, 'trial')} at {format_percent(most.share)}"
        if most.red
        else "never red"
    )
    unsure = ", inconclusive with all queries damaged" if last.inconclusive and not last.red else ""
    right = ", which is right: these documents have no judgments" if each.unnoticed_is_right else ""
    return f"{said}{unsure}{right} ({format_count(last.queries, 'query')})"


def _format_harmless(result: SelfTest) -> str:
    rows = []
    for each in result.harmless:
        tried = f"RED: {', '.join(each.red)}" if each.red else "pass"
        rows.append([each.name, tried if each.tried else f"not tried: {each.why}"])
    return "Harmless changes, which must not turn a rule red:\n\n" + format_table(["change", "verdict"], rows)


def _format_verdict(result: SelfTest) -> str:
    complaints = [f"self-test: FAIL: {each.name}: {', '.join(each.red)}" for each in result.harmless if each.red]
    broken = [each.rule or "the whole suite" for each in result.alarms if each.broken]
    if broken:
        complaints.append(f"self-test: FAIL: more alarms than 5% by chance: {', '.join(broken)}")
    return _wrap("; ".join(complaints) or "self-test: pass")


def _list_notes(result: SelfTest) -> Iterator[str]:
    for each in result.mutants:
        if each.unnoticed_is_right and each.noticed_from is not None:
            yield _wrap(
                f"note: {each.name} turn it red, although they have no judgments: if ids of documents change some "
                "day, name the old and new ids in documents: {aliases: FILE}"
            )
    for note in result.notes:
        yield _wrap(f"note: {note}")


def format_asked_again(result: RepeatedAnswers) -> str:
    """Everything below each other; the last line is the verdict."""
    moved = [] if result.same else [_format_metrics(result), _format_tolerances(result)]
    parts = [_describe_answers(result), *moved, _list_red(result), f"self-test: {'pass' if result.holds else 'FAIL'}"]
    return (
        f"{escape_unprintable(result.suite)} ({escape_unprintable(result.file)})\n\n"
        + "\n\n".join(filter(None, parts))
        + "\n"
    )


def _describe_answers(result: RepeatedAnswers) -> str:
    asked = f"{result.source} was asked {format_count(result.answers, 'time')}"
    if result.same:
        both = "both answers are the same" if result.answers == 2 else f"all {result.answers} answers are the same"
        return escape_unprintable(f"{asked}: {both}. Every change of a figure is a change of the ranking.")
    share = format_percent(result.lists / result.queries)
    return escape_unprintable(
        f"{asked}: the list of {result.lists} of {format_count(result.queries, 'query')} ({share}) changed."
    )


def _list_red(result: RepeatedAnswers) -> str:
    red = [each for each in result.rules if each.verdict in ("fail", "error")]
    if not red:
        return f"Comparing one answer with the next: {format_count(len(result.rules), 'verdict')}, none red."
    lines = [f"  {each.rule}: {each.headline}" for each in red]
    return "\n".join(
        ["Comparing one answer with the next is red, though nothing changed:", *map(escape_unprintable, lines)]
    )


def _format_metrics(result: RepeatedAnswers) -> str:
    header = ["metric", "queries", "moved", "sd of an answer", "noise floor", "share of variance", "repeat for 10%"]
    return format_table(header, [_make_metric_row(each) for each in result.metrics], range(1, 7))


def _make_metric_row(each: MetricNoise) -> list[str]:
    return [
        each.metric,
        str(each.queries),
        str(each.moved),
        f"{each.sd:.4f}",
        f"{each.floor:.4f}",
        "-" if each.share is None else format_percent(each.share),
        "-" if each.repeat is None else str(each.repeat),
    ]


def _format_tolerances(result: RepeatedAnswers) -> str:
    if not result.tolerances:
        return ""
    rows = []
    for each in result.tolerances:
        note = f"below the noise: it will {'be red' if each.red else 'warn'} by chance" if each.below else ""
        rows.append([each.rule, f"{each.tolerance:.4f}", f"{each.floor:.4f}", note])
    return format_table(["rule", "tolerance", "noise floor", ""], rows, (1, 2))
