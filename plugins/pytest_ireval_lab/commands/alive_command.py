"""``ireval alive``: what changes if a component of the search is switched off, and which rule would notice."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import click

from pytest_ireval import load_registry, load_suites
from pytest_ireval.cli.options import ProgressBar
from pytest_ireval.plugin_api import (
    Registry,
    escape_markdown,
    escape_unprintable,
    format_count,
    format_markdown_table,
    format_table,
    read_run,
    wrap_text,
)
from pytest_ireval_lab.alive.results import ComponentResult, Move, ProofOfLife, Verdict

WIDTH = 100
INDENT = "  "
"""That of rules in a suite, so that a rule can be pasted among them as it stands."""
SECTION = "alive"
RESULTS = "results.json"


def _read_fail_on(_context: click.Context, _parameter: click.Parameter, text: str) -> tuple[str, ...]:
    chosen = tuple(filter(None, (part.strip() for part in text.split(","))))
    allowed = [verdict for verdict in get_args(Verdict) if verdict not in ("guarded", "error")]
    if unknown := [each for each in chosen if each not in allowed]:
        raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(allowed)}")
    return chosen


@click.command(name="alive", context_settings={"show_default": True})
@click.argument("suite", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--fail-on",
    default="",
    metavar="VERDICTS",
    show_default=False,
    callback=_read_fail_on,
    help="Verdicts that make the exit code 1, as dead,unguarded; none by default.",
)
@click.option(
    "--format", "form", default="table", type=click.Choice(["table", "markdown", "json"]), help="The output format."
)
@click.option(
    "--report",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Add the result to the report of the last run there, too.",
)
@click.pass_context
def command(context: click.Context, suite: Path, fail_on: tuple[str, ...], form: str, report: Path | None) -> None:
    """Switch off each component of the suites in the file SUITE, one after the other.

    Components are patches of the source, under components: in the suite. Rankings with everything on are compared with
    those without a component, by all rules, as if a change had lost it.

    A component is dead if no ranking changes; guarded if a rule would be red; unguarded if rankings get worse and no
    rule would be red; harmful if something is better without it and nothing worse; neutral if rankings change, and
    nothing is better or worse.

    The exit code is 1 if a component could not be judged, or has a verdict of --fail-on.
    """
    from pytest_ireval_lab.alive.judging import prove_life  # imports the gate, which --help does without

    registry = load_registry(suite)
    if report is not None:
        read_run(report, parts=False)  # before anything is asked
    proofs = [prove_life(each, registry, ProgressBar) for each in load_suites(suite, registry)]
    data = [_make_plain(proof) for proof in proofs]
    if form == "json":
        click.echo(json.dumps({"format": 1, "suites": data}))
    else:
        format_proof = _format_markdown if form == "markdown" else format_text
        click.echo("\n".join(map(format_proof, proofs)), nl=False)
    if report is not None:
        _add_to_report(context, report, data, registry)
    verdicts = {component.verdict for proof in proofs for component in proof.components}
    sys.exit(1 if verdicts & {"error", *fail_on} else 0)


def _make_plain(proof: ProofOfLife) -> dict[str, Any]:
    plain = {**asdict(proof), "notes": [*_list_notes(proof)]}
    for component, each in zip(plain["components"], proof.components, strict=True):
        component["sentence"] = describe_component(each, proof)
    return plain


def _add_to_report(
    context: click.Context, folder: Path, suites: Sequence[Mapping[str, Any]], registry: Registry
) -> None:
    """Put the section into the results of the run, and let ``ireval report`` draw its page again."""
    results = json.loads((folder / RESULTS).read_text("utf-8"))
    before = [each for each in results["sections"] if each["name"] == SECTION]
    here = {suite["suite"] for suite in suites}
    others = [suite for each in before for suite in each["data"]["suites"] if suite["suite"] not in here]
    kind = registry.sections[SECTION]
    section = {"name": kind.name, "title": kind.title, "plugin": kind.source, "problem": ""}
    results["sections"] = [each for each in results["sections"] if each not in before]
    results["sections"] += [{**section, "data": {"suites": [*others, *suites]}}]
    (folder / RESULTS).write_text(json.dumps(results, ensure_ascii=False, allow_nan=False) + "\n", "utf-8")
    root = context.find_root()
    assert isinstance(root.command, click.Group)  # noqa: S101 - it is ireval
    draw = root.command.get_command(root, "report")
    assert draw is not None  # noqa: S101 - it is a command of the core
    with redirect_stdout(sys.stderr):  # standard output may be JSON
        context.invoke(draw, results=folder, to=None, suites=None)


def format_text(proof: ProofOfLife) -> str:
    """A table, and below it a paragraph for each component."""
    header, rows = _make_table(proof)
    parts = [
        f"{escape_unprintable(proof.suite)} ({escape_unprintable(proof.file)}): {format_count(proof.queries, 'query')}",
        format_table(header, rows, (2, 3, 4)),
    ]
    for component in proof.components:
        paragraphs = describe_component(component, proof).splitlines()
        lines = [line for each in paragraphs for line in wrap_text(escape_unprintable(each.strip()), WIDTH - 2)]
        rule = ["", f"{INDENT}{escape_unprintable(component.rule)}", ""] if component.rule else []
        head = f"{component.verdict}: {escape_unprintable(component.name)} ({escape_unprintable(component.place)})"
        parts.append("\n".join([head, *(f"  {line}" for line in lines), *rule]).rstrip())
    parts += ["\n".join(wrap_text(f"note: {note}", WIDTH)) for note in _list_notes(proof)]
    return "\n\n".join(parts) + "\n"


def _format_markdown(proof: ProofOfLife) -> str:
    header, rows = _make_table(proof)
    table = format_markdown_table(header, [[*map(escape_markdown, row)] for row in rows], (2, 3, 4))
    parts = [f"### Proof of life: {escape_markdown(proof.suite)}", table]
    for each in proof.components:
        text = f"**{escape_markdown(each.name)}** is {each.verdict}. {escape_markdown(describe_component(each, proof))}"
        parts += [text, f"```yaml\n{INDENT}{each.rule}\n```"] if each.rule else [text]
    return "\n\n".join([*parts, *map(escape_markdown, _list_notes(proof))]) + "\n"


def _make_table(proof: ProofOfLife) -> tuple[list[str], list[list[str]]]:
    metric = next((each.main.metric for each in proof.components if each.main), "")
    header = ["component", "verdict", "queries changed", *([metric, "without it"] if metric else [])]
    rows = []
    for each in proof.components:
        changed = "-" if each.verdict == "error" else f"{each.changed} of {proof.queries}"
        figures = [f"{each.main.with_it:.4f}", f"{each.main.without_it:.4f}"] if each.main else ["-", "-"]
        rows.append([each.name, each.verdict, changed, *(figures if metric else [])])
    return header, rows


def describe_component(component: ComponentResult, proof: ProofOfLife) -> str:
    """What was found, in sentences."""
    changed = f"{component.changed} of {format_count(proof.queries, 'query')} have another ranking without it"
    note = f" {component.note}" if component.note else ""
    largest = _describe_move(component.largest) if component.largest else ""
    if component.verdict == "error":
        return component.note
    if component.verdict == "dead" and component.changed:
        noise = f"{proof.unstable} differ between two askings with everything on"
        return f"{changed}, and {noise}: the differences are not larger than noise.{note}"
    if component.verdict == "dead":
        return f"All {format_count(proof.queries, 'query')} have the same ranking without it.{note}"
    if component.verdict == "guarded":
        first, *more = component.guards
        others = f", and by {format_count(len(more), 'other rule')}" if more else ""
        return f"Guarded by {first.rule} on {first.slice}{others}: {first.headline.partition(chr(10))[0]}."
    if component.verdict == "harmful":
        lists = f", although {component.guards[0].rule} would be red for the new lists" if component.guards else ""
        return f"Without it {largest}, and nothing gets worse{lists}."
    if component.verdict == "neutral":
        return f"{changed}, but no metric moves by more than 1% on any slice, and no rule would be red."
    only = f"; {', '.join(component.warnings)} would only warn" if component.warnings else ""
    rule = "This rule would be red:" if component.rule else "No rule was found that would be red, and passes today."
    return f"Without it {largest}, and no rule would be red{only}.{note} {rule}"


def _describe_move(move: Move) -> str:
    way = "rises" if move.without_it > move.with_it else "falls"
    share = f"{100 * abs(move.without_it - move.with_it) / abs(move.with_it):.1f}%, " if move.with_it else ""
    figures = f"{share}{move.with_it:.4f} -> {move.without_it:.4f}"
    return f"{move.metric} {way} on {move.slice} ({figures}, {format_count(move.queries, 'query')})"


def _list_notes(proof: ProofOfLife) -> Iterator[str]:
    if proof.unstable:
        yield (
            f"{proof.unstable} of {format_count(proof.queries, 'query')} had another ranking when the source was asked "
            "again with everything on; smaller differences are taken for noise"
        )
    if proof.red:
        yield f"red with everything on, so that they guard nothing: {', '.join(proof.red)}"
