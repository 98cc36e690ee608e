"""``ireval agreement``: how far judges agree, and whether their disagreement moves systems or verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

import click

from pytest_ireval import (
    InputError,
    Judgments,
    Policies,
    Queries,
    Rankings,
    evaluate,
    read_judgments,
    read_queries,
    read_rankings,
)
from pytest_ireval.cli.options import (
    METRICS,
    ProgressBar,
    format_options,
    grades_option,
    load_command_registry,
    metric_option,
    name_files,
    rel_option,
)
from pytest_ireval.cli.sheets import Row, Sheet, list_first, print_sheets, sheet_format
from pytest_ireval.plugin_api import Grades, Problem, Registry, compare_orders, format_count
from pytest_ireval_judgments.agreement import (
    Audit,
    SliceAgreement,
    compare_all_judges,
    compare_judges_by_query,
    compare_pairs_of_judges,
    compare_slices,
    estimate_with_error,
    match_audit,
    redraw_grades,
)
from pytest_ireval_judgments.commands.merging_options import merging_options
from pytest_ireval_judgments.importing import read_panel
from pytest_ireval_judgments.panel import CHOICES, Choice, JudgePanel, Merging, MissingPolicy, TiePolicy, merge_votes
from pytest_ireval_judgments.verdicts import run_suites_under

LEAST_KAPPA = 0.6
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
@click.option("--audit", metavar="FILE", help="Human judgments of a random sample of the JUDGMENTS of one judge.")
@click.option("--by", "column", metavar="COLUMN", help="The column of --queries that makes the slices of the audit.")
@click.option("--queries", metavar="FILE", help="The queries, for --by.")
@click.option(
    "--least-kappa", default=LEAST_KAPPA, type=click.FloatRange(-1, 1), help="Name slices of the audit below."
)
@click.option(
    "--draws", default=200, type=click.IntRange(2), help="Draws of human grades, for the audit with --rankings."
)
@click.option("--seed", default=7, type=click.IntRange(0), help="The seed of these draws and of intervals.")
@sheet_format
@format_options("judgments", "rankings", "queries")
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
    audit: str | None,
    column: str | None,
    queries: str | None,
    least_kappa: float,
    draws: int,
    seed: int,
    form: str,
    judgments_format: str | None,
    rankings_format: str | None,
    queries_format: str | None,
    grades: Grades,
) -> None:
    """Compare several judges of the same documents.

    A judge is a value of the column judge, or a whole file. A file has its own name, or that of NAME=path.

    --rankings scores systems, and --suite runs the gate: under each judge alone, and under all judges merged in each
    way, on the queries that all judges judged.

    --audit compares one judge, such as a language model, with humans in each slice. With --rankings it shows how far
    its errors move the figures.
    """
    registry = load_command_registry(None)
    if column is not None and (audit is None or queries is None):
        raise click.UsageError("--by needs --audit and --queries")
    if audit is not None:
        if len(judgments) > 1 or suite is not None:
            raise click.UsageError("--audit is about one file of JUDGMENTS, and without --suite")
        known = None if queries is None else read_queries(queries, format=queries_format, registry=registry)
        one, human = (
            read_judgments(path, format=judgments_format, grades=grades, registry=registry)
            for path in (judgments[0], audit)
        )
        found = match_audit(one, human, _map_slices(known, column))
        ranked = {
            name: read_rankings(path, format=rankings_format, registry=registry)
            for name, path in name_files(rankings).items()
        }
        checked = [*compare_slices(found, seed)]
        sheets = [
            _make_audit_sheet(checked, least_kappa),
            *_correct_figures(found, ranked, metrics or METRICS, draws, seed, registry),
        ]
        print_sheets(sheets, [*_describe_audit(found, checked, least_kappa, draws if ranked else 0)], form)
        return
    with ProgressBar() as progress:
        panel = read_panel(
            name_files(judgments, "a judge is compared with others: give each file once"),
            registry,
            format=judgments_format,
            grades=grades,
            progress=progress,
        )
        if len(panel.votes.names) < 2:
            complaint = f"one judge only: {panel.votes.names[0]}"
            allowed = "two files or more, or a table with a column judge"
            raise InputError(Problem(complaint, panel.origin, allowed=allowed))
        if not (panel.votes.voters() > 1).any():
            raise InputError(Problem("no document has two judges: do the ids match?", panel.origin))
        named = name_files(rankings)
        systems = {
            name: read_rankings(path, format=rankings_format, registry=registry, progress=progress)
            for name, path in named.items()
        }
    if len(systems) == 1:
        raise click.UsageError("give at least two --rankings: the order of one system cannot change")
    sheets = [*_make_agreement_sheets(panel, rel, per_query=per_query)]
    notes = [f"judges: {', '.join(panel.votes.names)}; relevant: grade {rel:g} or more"]
    if systems or suite is not None:
        shared = panel.shared()
        if not shared.pairs.queries:
            fewer = "leave out --rankings and --suite, or compare fewer judges"
            raise InputError(Problem("no query is judged by all judges", panel.origin, suggestion=fewer))
        merging = Merging(choice, judge_ties, missing_judges, dict(weights))
        variants = _list_variants(shared, merging)
        notes.append(
            f"systems and verdicts: {len(shared.pairs.queries)} of {format_count(len(panel.pairs.queries), 'query')}, "
            f"those that all judges judged; compared with: {choice}; ties: {judge_ties}; "
            f"missing judges: {missing_judges}"
        )
        for name, one in variants.items():
            if lost := sorted(set(one.queries) - {one.queries[i] for i in one.query.tolist()}):
                without = f"{format_count(len(lost), 'query')} without a judgment, which --suite leaves out"
                notes.append(f"{name}: {without}: {list_first(lost)}")
        if systems:
            sheets += _score_systems(variants, systems, metrics or METRICS, choice, registry)
        if suite is not None:
            sheets.append(_compare_verdicts(variants, suite))
    print_sheets(sheets, notes, form)


def _make_agreement_sheets(panel: JudgePanel, rel: float, *, per_query: bool) -> Iterator[Sheet]:
    yield Sheet("pairs", [asdict(each) for each in compare_pairs_of_judges(panel, rel)], "Each pair of judges:", _SAME)
    yield Sheet("all", [asdict(compare_all_judges(panel, rel))], "All judges:", _SAME | _ALPHAS)
    queries = [asdict(each) for each in compare_judges_by_query(panel, rel)]
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


def _list_variants(panel: JudgePanel, merging: Merging) -> dict[str, Judgments]:
    """The judgments of each judge alone, and of all judges by each choice; the chosen one is the first."""
    votes = panel.votes
    choices = [merging.choice, *(each for each in CHOICES if each != merging.choice)]
    grades = {f"all: {choice}": merge_votes(votes, replace(merging, choice=choice)).grade for choice in choices} | {
        name: votes.of(judge) for judge, name in enumerate(votes.names)
    }
    found = {name: panel.pairs.with_grades(grade, name) for name, grade in grades.items()}
    if empty := [name for name, judgments in found.items() if not len(judgments)]:
        complaint = f"{empty[0]}: no document is left with this policy for ties and missing judges"
        raise InputError(Problem(complaint, panel.origin))
    return found


def _score_systems(
    variants: Mapping[str, Judgments],
    systems: Mapping[str, Rankings],
    metrics: Sequence[str],
    choice: str,
    registry: Registry,
) -> Iterator[Sheet]:
    """Figures of the systems, and how far each variant moves their order."""
    policies = Policies(missing_queries="zero", scale=max(each.highest_grade for each in variants.values()) or None)
    figures: dict[str, dict[str, list[float | None]]] = {}
    directions: dict[str, str] = {}
    with ProgressBar() as progress:
        progress.expect(len(variants) * len(systems), "scoring")
        for variant, judgments in variants.items():
            for ranking in systems.values():
                found = evaluate(judgments, ranking, metrics, policies=policies, registry=registry)
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
            _compare_order(metric, variant, of, f"all: {choice}", directions[metric])
            for metric, of in ordered.items()
            for variant in variants
            if variant != f"all: {choice}"
        ],
        f"The order of the systems, compared with all: {choice}:",
        {"tau_ap": "tau AP", "shift": "greatest move", "swaps": "swapped pairs"},
    )


def _compare_order(
    metric: str, variant: str, figures: Mapping[str, list[float | None]], truth: str, direction: str
) -> Row:
    found = compare_orders(figures[variant], figures[truth], -1 if direction == "lower" else 1)
    return {"metric": metric, "judged_by": variant, **found._asdict()}


def _compare_verdicts(variants: Mapping[str, Judgments], path: Path) -> Sheet:
    """The verdict of each suite in the file under its own judgments, and under each variant."""
    with ProgressBar() as progress:
        verdicts = [*run_suites_under(path, {"(its own)": None, **variants}, progress)]
    rows: list[Row] = [
        {"suite": each.suite, "judged_by": each.variant, "verdict": each.verdict, "red": each.why} for each in verdicts
    ]
    suites = dict.fromkeys(each.suite for each in verdicts)
    flips = [suite for suite in suites if len({each.verdict for each in verdicts if each.suite == suite}) > 1]
    about = "One verdict under all judgments"
    if flips:
        about = f"The verdict depends on the judgments: {', '.join(flips)}"
    return Sheet("verdicts", rows, f"{about}:")


def _map_slices(queries: Queries | None, column: str | None) -> dict[str, str]:
    """The slice of each query; none without a column."""
    if queries is None or column is None:
        return {}
    if column not in queries.columns:
        columns = ", ".join(queries.columns) or "only id and text"
        raise InputError(Problem(f"has no column {column!r}", queries.origin, allowed=f"columns: {columns}"))
    return dict(zip(queries.ids, queries.composed[column], strict=True))


def _make_audit_sheet(checked: Sequence[SliceAgreement], least: float) -> Sheet:
    rows: list[Row] = [
        {"slice": each.slice or "(none)", "judgments": each.judgments, **each.agreement._asdict(), "too_low": low}
        for each in checked
        for low in ["yes" if _is_low(each, least) else ""]
    ]
    return Sheet("audit", rows, "The judge and humans:", {"documents": "audited", "same": "same grade"})


def _is_low(found: SliceAgreement, least: float) -> bool:
    """Kappa is too low, or not known."""
    return found.agreement.kappa is None or found.agreement.kappa < least


def _describe_audit(audit: Audit, checked: Sequence[SliceAgreement], least: float, draws: int) -> Iterator[str]:
    low = [each.slice or "(none)" for each in checked if _is_low(each, least)]
    yield (
        f"kappa is below {least:g}, or not known: {', '.join(low)}"
        if low
        else f"kappa is at least {least:g} everywhere"
    )
    if audit.not_judged:
        yield f"{format_count(audit.not_judged, 'human judgment')} of documents that the judge did not judge: left out"
    if draws:
        yield f"with its error: {draws} draws of the grades that humans would give, by slice and grade of the judge"
        yield "the audit must be a random sample of each slice, as ireval judge --audit draws it"


def _correct_figures(
    audit: Audit, systems: Mapping[str, Rankings], metrics: Sequence[str], draws: int, seed: int, registry: Registry
) -> Iterator[Sheet]:
    """Figures of the systems and their differences, as the judge has it, and with the error of the judge."""
    if not systems:
        return
    policies = Policies(missing_queries="zero", scale=float(audit.grades.max()) or None)
    judged: dict[tuple[str, str], list[list[float | None]]] = {}
    with ProgressBar() as progress:
        progress.expect((draws + 1) * len(systems), "scoring")
        for judgments in chain([audit.judgments], redraw_grades(audit, draws, seed)):
            for name, ranking in systems.items():
                scored = evaluate(judgments, ranking, metrics, policies=policies, registry=registry)
                for metric in scored.metrics:
                    if metric.unit != "query" or metric.aggregate != "mean":
                        raise InputError(Problem(f"{metric.name} is not a mean over queries, which --audit needs"))
                    values = [metric.values.get(query) for query in judgments.queries]
                    judged.setdefault((metric.name, name), []).append(values)
                progress.advance(1)
    first, *others = systems
    names = list(dict.fromkeys(metric for metric, _ in judged))
    rows = [
        _make_error_row({"metric": metric, "ranking": name}, judged[metric, name])
        for metric in names
        for name in systems
    ]
    yield Sheet("values", rows, "Values as the judge has them, and with its error:", _ERROR)
    pairs = [
        _make_error_row({"metric": metric, "pair": f"{name} - {first}"}, judged[metric, name], judged[metric, first])
        for metric in names
        for name in others
    ]
    yield Sheet("differences", pairs, "Differences:", _ERROR)


_ERROR = {
    "low": "95% from",
    "high": "to",
    "with_error": "with error",
    "low_with_error": "95% from",
    "high_with_error": "to",
}


def _make_error_row(
    about: Row, values: Sequence[Sequence[float | None]], less: Sequence[Sequence[float | None]] | None = None
) -> Row:
    """The mean of the first row, and that of all others; of the differences, if there is something to subtract."""
    found = estimate_with_error(values, less)
    columns = ("value", "low", "high", "with_error", "low_with_error", "high_with_error")
    return {**about, **dict(zip(columns, [*found[0], *found[1]] if found else [None] * len(columns), strict=True))}
