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
from pytest_ireval.cli.options import LateBar
from pytest_ireval.plugin_api import Registry, escape_unprintable, format_count, format_table, wrap_text
from pytest_ireval_lab.self_test.results import AskedAgain, FalseAlarms, MetricNoise, MutantNoticed, SelfTest

WIDTH = 100
R = TypeVar("R", SelfTest, AskedAgain)


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
        _test_suites(suite, form, partial(ask_again, times=repeat, bars=LateBar), again_text)
    else:
        rehearse = partial(self_test, trials=trials, against=against, bars=LateBar)
        _test_suites(suite, form, rehearse, self_test_text)


def _test_suites(path: Path, form: str, rehearse: Callable[[Suite, Registry], R], text: Callable[[R], str]) -> None:
    registry = load_registry(path)
    found = [rehearse(suite, registry) for suite in load_suites(path, registry)]
    if form == "json":
        suites = [{**asdict(each), "holds": each.holds} for each in found]
        click.echo(json.dumps({"format": 1, "suites": suites}, ensure_ascii=False))
    else:
        click.echo("\n".join(map(text, found)), nl=False)
    sys.exit(0 if all(each.holds for each in found) else 1)


def self_test_text(found: SelfTest) -> str:
    """Everything below each other; the last line is the verdict."""
    parts = [_alarms(found), _damage(found), _harmless(found), "\n".join(_notes(found)), _verdict(found)]
    return (
        f"{escape_unprintable(found.suite)} ({escape_unprintable(found.file)})\n\n"
        + "\n\n".join(filter(None, parts))
        + "\n"
    )


def _alarms(found: SelfTest) -> str:
    if found.nothing_to_swap:
        hint = "--against RANKINGS names other rankings of these queries to compare with"
        return _paragraph(f"False alarms: unknown, because {found.nothing_to_swap}; {hint}.")
    whole, *rules = found.alarms
    head = _paragraph(
        f"False alarms: {format_count(found.trials, 'time')}, the values of each query in "
        f"{found.compared} were swapped or kept at random; "
        f"they differ on {found.differing} of {format_count(found.queries, 'query')}. "
        "All gains and losses are due to chance."
    )
    header = ["rule", "decided by", "red", "95% limits", "by evidence", "promised", ""]
    rows = [_alarm_row(each) for each in (*rules, whole)]
    limits = f"95% limits: {percent(whole.low)} to {percent(whole.high)}"
    last = _paragraph(f"This suite turns {percent(whole.share)} of harmless changes of this kind red ({limits}).")
    return "\n".join((head, "", format_table(header, rows, (2, 3, 4, 5)), "", last))


def _paragraph(text: str) -> str:
    return "\n".join(wrap_text(text, WIDTH))


def _alarm_row(each: FalseAlarms) -> list[str]:
    promised = each.promised is not None
    return [
        each.rule or "the whole suite",
        each.decided_by,
        percent(each.share),
        f"{percent(each.low)} .. {percent(each.high)}",
        percent(each.by_evidence / each.runs) if promised else "-",
        percent(each.promised or 0.0) if promised else "-",
        "<- broken" if each.broken else "",
    ]


def percent(share: float) -> str:
    """``0.025`` as ``2.5%``."""
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def _damage(found: SelfTest) -> str:
    seen = [each for each in found.mutants if each.noticed_from is not None]
    header = ["damage", "queries", "noticed from", "by"]
    rows = [[each.name, str(each.queries), _from(each), _some(each.rules)] for each in seen]
    head = "Would this gate notice? Damage to the accepted rankings, for more and more queries:"
    lines = [head, "", format_table(header, rows, (1, 2))] if rows else []
    missed = [each for each in found.mutants if each.noticed_from is None]
    if missed:
        lines += ["", "Damage that no rule notices:" if lines else "No rule notices any of the damage:"]
        lines += [f"  {each.name}: {_missed(each)}" for each in missed]
    return "\n".join(lines).strip()


def _from(each: MutantNoticed) -> str:
    last = each.levels[-1]
    return "all" if each.noticed_from == 1 else f"{percent(each.noticed_from or 0.0)} ({last.queries})"


def _some(rules: Sequence[str]) -> str:
    """The first rule, and the number of others; JSON has all."""
    return "".join(rules[:1]) + (f" and {len(rules) - 1} more" if len(rules) > 1 else "")


def _missed(each: MutantNoticed) -> str:
    last = each.levels[-1]
    most = max(each.levels, key=lambda level: level.red / level.trials)
    said = (
        f"red in {most.red} of {format_count(most.trials, 'trial')} at {percent(most.share)}"
        if most.red
        else "never red"
    )
    unsure = ", inconclusive with all queries damaged" if last.inconclusive and not last.red else ""
    right = ", which is right: these documents have no judgments" if each.unnoticed_is_right else ""
    return f"{said}{unsure}{right} ({format_count(last.queries, 'query')})"


def _harmless(found: SelfTest) -> str:
    rows = []
    for each in found.harmless:
        tried = f"RED: {', '.join(each.red)}" if each.red else "pass"
        rows.append([each.name, tried if each.tried else f"not tried: {each.why}"])
    return "Harmless changes, which must not turn a rule red:\n\n" + format_table(["change", "verdict"], rows)


def _verdict(found: SelfTest) -> str:
    complaints = [f"self-test: FAIL: {each.name}: {', '.join(each.red)}" for each in found.harmless if each.red]
    broken = [each.rule or "the whole suite" for each in found.alarms if each.broken]
    if broken:
        complaints.append(f"self-test: FAIL: more alarms than 5% by chance: {', '.join(broken)}")
    return _paragraph("; ".join(complaints) or "self-test: pass")


def _notes(found: SelfTest) -> Iterator[str]:
    for each in found.mutants:
        if each.unnoticed_is_right and each.noticed_from is not None:
            yield _paragraph(
                f"note: {each.name} turn it red, although they have no judgments: if ids of documents change some "
                "day, name the old and new ids in documents: {aliases: FILE}"
            )
    for note in found.notes:
        yield _paragraph(f"note: {note}")


def again_text(found: AskedAgain) -> str:
    """Everything below each other; the last line is the verdict."""
    moved = [] if found.same else [_metrics(found), _tolerances(found)]
    parts = [_answers(found), *moved, _red(found), f"self-test: {'pass' if found.holds else 'FAIL'}"]
    return (
        f"{escape_unprintable(found.suite)} ({escape_unprintable(found.file)})\n\n"
        + "\n\n".join(filter(None, parts))
        + "\n"
    )


def _answers(found: AskedAgain) -> str:
    asked = f"{found.source} was asked {format_count(found.answers, 'time')}"
    if found.same:
        both = "both answers are the same" if found.answers == 2 else f"all {found.answers} answers are the same"
        return escape_unprintable(f"{asked}: {both}. Every change of a figure is a change of the ranking.")
    share = percent(found.lists / found.queries)
    return escape_unprintable(
        f"{asked}: the list of {found.lists} of {format_count(found.queries, 'query')} ({share}) changed."
    )


def _red(found: AskedAgain) -> str:
    red = [each for each in found.rules if each.verdict in ("fail", "error")]
    if not red:
        return f"Comparing one answer with the next: {format_count(len(found.rules), 'verdict')}, none red."
    lines = [f"  {each.rule}: {each.headline}" for each in red]
    return "\n".join(
        ["Comparing one answer with the next is red, though nothing changed:", *map(escape_unprintable, lines)]
    )


def _metrics(found: AskedAgain) -> str:
    header = ["metric", "queries", "moved", "sd of an answer", "noise floor", "share of variance", "repeat for 10%"]
    return format_table(header, [_metric_row(each) for each in found.metrics], range(1, 7))


def _metric_row(each: MetricNoise) -> list[str]:
    return [
        each.metric,
        str(each.queries),
        str(each.moved),
        f"{each.sd:.4f}",
        f"{each.floor:.4f}",
        "-" if each.share is None else percent(each.share),
        "-" if each.repeat is None else str(each.repeat),
    ]


def _tolerances(found: AskedAgain) -> str:
    if not found.tolerances:
        return ""
    rows = []
    for each in found.tolerances:
        note = f"below the noise: it will {'be red' if each.red else 'warn'} by chance" if each.below else ""
        rows.append([each.rule, f"{each.tolerance:.4f}", f"{each.floor:.4f}", note])
    return format_table(["rule", "tolerance", "noise floor", ""], rows, (1, 2))
