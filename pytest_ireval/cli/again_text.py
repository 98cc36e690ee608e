"""What asking a source again showed, as text: how far figures move, and which tolerances lie below that."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_ireval.cli.self_test_text import percent
from pytest_ireval.plurals import counted
from pytest_ireval.results.rehearsal import AskedAgain, MetricNoise, ToleranceNoise
from pytest_ireval.text_table import printable, table


def again_text(found: AskedAgain) -> str:
    """Everything below each other; the last line is the verdict."""
    parts = [_answers(found)]
    if not found.same:
        parts += [_metrics(found), _tolerances(found)]
    parts += [_red(found), f"aa: {'pass' if found.holds else 'FAIL'}"]
    return f"{printable(found.suite)} ({printable(found.file)})\n\n" + "\n\n".join(filter(None, parts)) + "\n"


def _answers(found: AskedAgain) -> str:
    asked = f"{found.source} was asked {counted(found.answers, 'time')}"
    if found.same:
        both = "both answers are the same" if found.answers == 2 else f"all {found.answers} answers are the same"
        return printable(f"{asked}: {both}. Every change of a figure is a change of the ranking.")
    share = percent(found.lists / found.queries)
    return printable(f"{asked}: the list of {found.lists} of {counted(found.queries, 'query')} ({share}) changed.")


def _metrics(found: AskedAgain) -> str:
    header = ["metric", "queries", "moved", "sd of an answer", "noise floor", "share of variance", "repeat for 10%"]
    return table(header, [_metric_row(each) for each in found.metrics], range(1, 7))


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
    rows = [
        [each.rule, f"{each.tolerance:.4f}", f"{each.floor:.4f}", _below(each) if each.below else ""]
        for each in found.tolerances
    ]
    return table(["rule", "tolerance", "noise floor", ""], rows, (1, 2))


def _below(each: ToleranceNoise) -> str:
    return f"below the noise: it will {'be red' if each.red else 'warn'} by chance"


def _red(found: AskedAgain) -> str:
    red = [each for each in found.rules if each.verdict in ("fail", "error")]
    if not red:
        return f"Comparing one answer with the next: {counted(len(found.rules), 'verdict')}, none red."
    lines = [f"  {each.rule}: {each.headline}" for each in red]
    return "\n".join(["Comparing one answer with the next is red, though nothing changed:", *map(printable, lines)])


def all_asked_again(found: Sequence[AskedAgain]) -> str:
    """Those of several suites."""
    return "\n".join(map(again_text, found))
