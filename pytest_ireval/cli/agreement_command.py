"""``ireval agreement``: how far judges agree, and whether their disagreement moves systems or verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import click

from pytest_ireval.cli.named_files import named_files
from pytest_ireval.cli.options import (
    METRICS,
    LateBar,
    format_options,
    grades_option,
    merging_options,
    metric_option,
    registry_at,
    rel_option,
)
from pytest_ireval.cli.sheets import Row, Sheet, first_of, sheet_format, show
from pytest_ireval.errors import InputError, Problem
from pytest_ireval.evaluating.evaluation import evaluate
from pytest_ireval.intake.importing import read_panel
from pytest_ireval.intake.reading import read_rankings
from pytest_ireval.judging.agreement import agreement_by_query, agreement_of_all, agreement_of_two, alike
from pytest_ireval.judging.panel import CHOICES, Choice, JudgePanel, Merging, MissingPolicy, TiePolicy, merged_votes
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.evaluation import Grades
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.text_table import counted

LISTED = 10
"""Queries that the table lists, those with the lowest agreement; ``--per-query`` lists all."""


@click.command(name="agreement", context_settings={"show_default": True})
@click.argument("judgments", nargs=-1, required=True, metavar="JUDGMENTS...")
@rel_option
@click.option("--per-query", is_flag=True, help="List every query, in the order of the judgments.")
@click.option("--rankings", multiple=True, metavar="FILE", help="A ranking to score under each judge; repeatable.")
@metric_option
@click.option(
    "--suite",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A file of suites: show their verdicts under each judge. Their sources are asked each time.",
)
@click.option(
    "--judges",
    "choice",
    default="majority",
    type=click.Choice(CHOICES),
    help="The merged judgments that all others are compared with.",
)
@merging_options
@sheet_format
@format_options("judgments", "rankings")
@grades_option
def command(
    judgments: tuple[str, ...],
    rel: float,
    per_query: bool,
    rankings: tuple[str, ...],
    metrics: tuple[str, ...],
    suite: Path | None,
    choice: Choice,
    judge_ties: TiePolicy,
    missing_judges: MissingPolicy,
    weights: tuple[tuple[str, float], ...],
    form: str,
    judgments_format: str | None,
    rankings_format: str | None,
    grades: Grades,
) -> None:
    """Compare several judges of the same documents.

    A judge is a value of the column judge, or a whole file. A file has its own name, or that of NAME=path.

    --rankings scores systems, and --suite runs the gate: under each judge alone, and under all judges merged in each
    way, on the queries that all judges judged.
    """
    registry = registry_at(None)
    with LateBar() as progress:
        panel = read_panel(
            named_files(judgments, "a judge is compared with others: give each file once"),
            registry.readers,
            judgments_format,
            Reading(grades, progress=progress),
        )
        if len(panel.votes.names) < 2:
            complaint = f"one judge only: {panel.votes.names[0]}"
            allowed = "two files or more, or a table with a column judge"
            raise InputError(Problem(complaint, panel.origin, allowed=allowed))
        if not (panel.votes.voters() > 1).any():
            raise InputError(Problem("no document has two judges: do the ids match?", panel.origin))
        named = named_files(rankings)
        systems = {
            name: read_rankings(path, format=rankings_format, registry=registry, progress=progress)
            for name, path in named.items()
        }
    if len(systems) == 1:
        raise click.UsageError("give at least two --rankings: the order of one system cannot change")
    sheets = [*_agreement(panel, rel, per_query=per_query)]
    notes = [f"judges: {', '.join(panel.votes.names)}; relevant: grade {rel:g} or more"]
    if systems or suite is not None:
        shared = panel.shared()
        if not shared.pairs.queries:
            fewer = "leave out --rankings and --suite, or compare fewer judges"
            raise InputError(Problem("no query is judged by all judges", panel.origin, suggestion=fewer))
        merging = Merging(choice, judge_ties, missing_judges, dict(weights))
        variants = _variants(shared, merging)
        notes.append(
            f"systems and verdicts: {len(shared.pairs.queries)} of {counted(len(panel.pairs.queries), 'query')}, those "
            f"that all judges judged; compared with: {choice}; ties: {judge_ties}; missing judges: {missing_judges}"
        )
        for name, one in variants.items():
            if lost := sorted(set(one.queries) - {one.queries[i] for i in one.query.tolist()}):
                without = f"{counted(len(lost), 'query')} without a judgment, which --suite leaves out"
                notes.append(f"{name}: {without}: {first_of(lost)}")
        if systems:
            sheets += _systems(variants, systems, metrics or METRICS, choice, registry)
        if suite is not None:
            sheets.append(_verdicts(variants, suite))
    show(sheets, notes, form)


def _agreement(panel: JudgePanel, rel: float, *, per_query: bool) -> Iterator[Sheet]:
    yield Sheet("pairs", [asdict(each) for each in agreement_of_two(panel, rel)], "Each pair of judges:", _SAME)
    yield Sheet("all", [asdict(agreement_of_all(panel, rel))], "All judges:", _SAME | _ALPHAS)
    queries = [asdict(each) for each in agreement_by_query(panel, rel)]
    names = panel.votes.names
    headers = {"not_relevant": "most: no", "relevant": "most: yes"}
    if len(names) == 2:
        headers = {"not_relevant": f"only {names[1]}", "relevant": f"only {names[0]}"}
    about = "Relevance by query:"
    shown = queries
    if not per_query and len(queries) > LISTED + 1:
        *several, whole = queries
        shown = [*sorted(several, key=lambda each: float(each["agreement"]))[:LISTED], whole]
        about = f"Relevance by query, the {LISTED} with the lowest agreement of {len(several)} (--per-query: all):"
    yield Sheet("queries", queries, about, headers, hidden=["even"] if len(names) == 2 else [], shown=shown)


_SAME = {"agreement": "same grade", "fleiss": "Fleiss"}
_ALPHAS = {level: f"alpha {level}" for level in ("nominal", "ordinal", "interval")}


def _variants(panel: JudgePanel, merging: Merging) -> dict[str, Judgments]:
    """The judgments of each judge alone, and of all judges by each choice; the chosen one is the first."""
    votes = panel.votes
    choices = [merging.choice, *(each for each in CHOICES if each != merging.choice)]
    grades = {f"all: {choice}": merged_votes(votes, replace(merging, choice=choice)).grade for choice in choices} | {
        name: votes.of(judge) for judge, name in enumerate(votes.names)
    }
    found = {name: panel.judgments(grade, name) for name, grade in grades.items()}
    if empty := [name for name, judgments in found.items() if not len(judgments)]:
        complaint = f"{empty[0]}: no document is left with this policy for ties and missing judges"
        raise InputError(Problem(complaint, panel.origin))
    return found


def _systems(
    variants: Mapping[str, Judgments],
    systems: Mapping[str, Rankings],
    metrics: Sequence[str],
    choice: str,
    registry: Registry,
) -> Iterator[Sheet]:
    """Figures of the systems, and how far each variant moves their order."""
    top = max(each.highest_grade for each in variants.values()) or None
    figures: dict[str, dict[str, list[float | None]]] = {}
    directions: dict[str, str] = {}
    with LateBar() as progress:
        progress.expect(len(variants) * len(systems), "scoring")
        for variant, judgments in variants.items():
            for ranking in systems.values():
                found = evaluate(judgments, ranking, metrics, missing_queries="zero", scale=top, registry=registry)
                for metric in found.metrics:
                    figures.setdefault(metric.name, {}).setdefault(variant, []).append(metric.value)
                    directions[metric.name] = metric.direction
                progress.advance(1)
    ordered = {name: of for name, of in figures.items() if directions[name] != "neither"}
    yield Sheet(
        "systems",
        [
            {"metric": metric, "ranking": ranking, "judged_by": variant, "value": value}
            for metric, of in figures.items()
            for variant, values in of.items()
            for ranking, value in zip(systems, values, strict=True)
        ],
        "Systems under each judge, and under all judges together:",
        shown=[
            {"metric": metric, "ranking": ranking, **{variant: of[variant][i] for variant in variants}}
            for metric, of in figures.items()
            for i, ranking in enumerate(systems)
        ],
    )
    yield Sheet(
        "orders",
        [
            _order(metric, variant, of, f"all: {choice}", directions[metric])
            for metric, of in ordered.items()
            for variant in variants
            if variant != f"all: {choice}"
        ],
        f"The order of the systems, compared with all: {choice}:",
        {"tau_ap": "tau AP", "shift": "greatest move", "swaps": "swapped pairs"},
    )


def _order(metric: str, variant: str, figures: Mapping[str, list[float | None]], truth: str, direction: str) -> Row:
    found = alike(figures[variant], figures[truth], -1 if direction == "lower" else 1)
    return {"metric": metric, "judged_by": variant, **found._asdict()}


def _verdicts(variants: Mapping[str, Judgments], path: Path) -> Sheet:
    """The verdict of each suite in the file under its own judgments, and under each variant."""
    from pytest_ireval.meta.verdicts import verdicts_under

    with LateBar() as progress:
        found = [*verdicts_under(path, {"(its own)": None, **variants}, progress)]
    verdicts: dict[str, set[str]] = {}
    for each in found:
        verdicts.setdefault(each.suite, set()).add(each.verdict)
    flips = [name for name, different in verdicts.items() if len(different) > 1]
    about = f"The verdict depends on the judgments: {', '.join(flips)}" if flips else "One verdict under all judgments"
    return Sheet("verdicts", [each._asdict() for each in found], f"{about}:")
