"""``ireval why``: the arithmetic of one metric on one query, or on one session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from pytest_ireval.baseline.rankings_file import FILE, LastRun, read_last_run
from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.cli.options import (
    POLICY_NAMES,
    SIDE_DATA_NAMES,
    ProgressBar,
    complete_metric_names,
    format_options,
    load_command_registry,
    timings_option,
    view_options,
)
from pytest_ireval.cli.why_text import FORMATS
from pytest_ireval.clock import read_date
from pytest_ireval.data.coerce import coerce_queries
from pytest_ireval.data.document_texts import read_document_texts
from pytest_ireval.data.formats.input_file import shorten_path
from pytest_ireval.data.judgments import make_empty_judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.side_data import SideData
from pytest_ireval.errors import (
    BaselineError,
    InputError,
    IrevalError,
    MetricError,
    MetricNameError,
    Problem,
    SuiteError,
    did_you_mean,
    quote,
)
from pytest_ireval.explaining import why
from pytest_ireval.gate.collect import collect_inputs, compute_fingerprints, fingerprint_suite_judgments
from pytest_ireval.gate.last_run import identify_baseline, list_changed_inputs
from pytest_ireval.gate.queries_and_judgments import adapt_metric, read_collection
from pytest_ireval.gate.score import score_inputs
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.conftests import Conftests
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import Progress
from pytest_ireval.report.results_file import list_report_folders
from pytest_ireval.results.explanation import Explanation
from pytest_ireval.results.policies import Policies
from pytest_ireval.results.run_folder import FOLDER
from pytest_ireval.sides.population import Population
from pytest_ireval.suite.loading import load_suites
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import format_some


def _complete_queries(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The ids that a shell completes, with their texts: those of the suite that the line names before."""
    path = ctx.params.get("suite")
    if path is None:
        return []
    try:
        registry = Conftests().registry_for(path)
        files = [suite.queries.file.path for suite in load_suites(path, registry) if suite.queries]
        queries = [coerce_queries(file, registry.readers) for file in dict.fromkeys(files)]
    except (IrevalError, OSError):  # the command itself shows the error
        return []
    pairs = dict(pair for each in queries for pair in zip(each.ids, each.text, strict=True))
    return [CompletionItem(query, help=text) for query, text in pairs.items() if query.startswith(incomplete)]


@click.command(name="why", context_settings={"show_default": True})
@click.argument("metric", shell_complete=complete_metric_names)
@click.argument("judgments", required=False)
@click.argument("rankings", required=False)
@click.argument("other", required=False)
@click.option(
    "-q",
    "--query",
    shell_complete=_complete_queries,
    help="The query, or the session of a metric of sessions; required with one RANKINGS. With two, the default is "
    "where they differ most.",
)
@click.option(
    "--suite",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A suite instead of files: its baseline, and the rankings of the last run.",
)
@click.option("--ask", is_flag=True, help="With --suite: ask the source again, instead of reading the last run.")
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --suite: the folder with the report of the last run. The default is ireval-report.",
)
@click.option("--named", metavar="SUITE", help="One suite of a file that has several.")
@click.option("--format", "form", default="table", type=click.Choice(list(FORMATS)), help="The output format.")
@click.option(
    "--lines",
    type=click.IntRange(1),
    help="Lines of each table. The default is down to the cutoff, or to the last judged document.",
)
@format_options("judgments", "rankings")
@timings_option
@view_options
def command(
    metric: str,
    judgments: str | None,
    rankings: str | None,
    other: str | None,
    query: str | None,
    suite: Path | None,
    ask: bool,
    report: Path | None,
    named: str | None,
    form: str,
    lines: int | None,
    judgments_format: str | None,
    rankings_format: str | None,
    policies: Policies,
    side_data: SideData,
) -> None:
    """Show how METRIC comes to its value on one query or session, line by line.

    With OTHER rankings, show what moved from RANKINGS to OTHER, what each document contributes in both, and the
    arithmetic of both. Files as in `ireval evaluate`; one of them may be - for standard input. With --suite, no files
    are named: judgments and policies are those of the suite, and rankings those of the last run.
    """
    if suite is not None:
        context = click.get_current_context()
        names = (*POLICY_NAMES, *SIDE_DATA_NAMES, "judgments_format", "rankings_format")
        given = [name for name in names if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]
        if given or any((judgments, rankings, other)):
            raise click.UsageError("--suite has its own files and policies: give no files and no policy options")
        with ProgressBar() as progress:
            explanation = _explain_in_suite(suite, named, metric, query, progress, ask=ask, report=report)
        click.echo(FORMATS[form](explanation, lines), nl=False)
        return
    if ask or report is not None:
        raise click.UsageError("--ask and --report need --suite")
    if judgments is None or rankings is None:
        raise click.UsageError("name the files: ireval why METRIC JUDGMENTS RANKINGS, or a suite: --suite FILE")
    if [judgments, rankings, other].count("-") > 1:
        raise click.UsageError("only one of the files can be standard input")
    try:
        with ProgressBar() as progress:
            explanation = why(
                metric,
                judgments,
                rankings,
                query,
                other,
                policies=policies,
                side_data=side_data,
                judgments_format=judgments_format,
                rankings_format=rankings_format,
                registry=load_command_registry(None),
                progress=progress,
            )
    except MetricNameError:
        if Path(metric).exists():
            suggestion = "write: ireval why METRIC JUDGMENTS RANKINGS"
            problem = Problem("is a file, where a metric is expected", metric, suggestion=suggestion)
            raise MetricNameError(problem) from None
        raise
    click.echo(FORMATS[form](explanation, lines), nl=False)


class _Sides(NamedTuple):
    """The explained rankings and the baseline; ``rankings_origin`` tells where they come from."""

    population: Population
    now: Rankings
    before: Rankings | None
    rankings_origin: str
    baseline_error: BaselineError | None = None


def _explain_in_suite(
    path: Path, name: str | None, metric: str, query: str | None, progress: Progress, *, ask: bool, report: Path | None
) -> Explanation:
    """Explain the value of ``metric`` in the last run, by its folder ``report``; ``ask`` asks the source instead."""
    registry = Conftests().registry_for(path)
    suite = _choose_suite(path, name, registry)
    known = {str(each): each for each in suite.metrics}  # reports show names that are read without a dialect
    wanted = known.get(metric) or registry.in_dialect(suite.policies.dialect).parse_metrics([metric])[0]
    if wanted.stage:
        hint = "name a metric of the ranking; the page of the report shows where documents were lost"
        raise MetricError(Problem("the documents of an earlier stage are not kept", metric, suggestion=hint))
    sides = _collect_sides(suite, registry, progress, wanted, ask=ask, report=report)
    queries, judgments = sides.population.queries, sides.population.judgments
    if not wanted.judged:
        judgments = make_empty_judgments(queries.ids, queries.origin)
    if judgments is None:
        complaint = f"has no judgments, which {wanted} needs"
        raise SuiteError(Problem(complaint, place=str(suite.place)))
    if query is None and sides.baseline_error is not None:
        alone = Problem("there is no baseline to choose a query by: name a query with --query")
        raise BaselineError(*sides.baseline_error.problems, alone)
    first, other, reference = sides.before or sides.now, sides.now if sides.before else None, None
    if wanted.compares_lists:
        first, other, reference = sides.now, None, sides.before
        if reference is None:
            raise MetricError(Problem("compares two lists, and there is no baseline to compare with", str(wanted)))
    if query is not None and wanted.unit == "query" and query not in queries.position:
        same = [each for each, text in zip(queries.ids, queries.text, strict=True) if text.strip() == query.strip()]
        if same:
            complaint, meant = f"query {quote(query)} is not judged", f"that is the text of {format_some(same)}"
            raise InputError(Problem(complaint, queries.origin, suggestion=meant))
    policies, preferences = suite.policies, suite.judgments.preferences if suite.judgments else None
    explanation = why(
        adapt_metric(suite, wanted),
        judgments,
        first,
        query,
        other,
        policies=replace(policies, unjudged=policies.unjudged if wanted.judged else "irrelevant", depth=suite.depth),
        side_data=SideData(
            collection=suite.documents.size,
            preferences=shorten_path(preferences.path) if preferences else None,
            queries=queries if wanted.needs & {"queries", "sessions"} or wanted.unit == "session" else None,
            reference=reference,
        ),
        registry=registry,
        progress=progress,
    )
    return replace(explanation, rankings_origin=sides.rankings_origin, titles=_read_titles(suite, explanation))


def _read_titles(suite: Suite, explanation: Explanation) -> Mapping[str, str]:
    """The titles of the explained documents; a file that cannot be read is a line on the error stream."""
    if suite.documents.fields is None:
        return {}
    wanted = {move.document for move in explanation.moves} | set(explanation.first.steps.documents)
    try:
        texts = read_document_texts(shorten_path(suite.documents.fields.path), wanted)
        trouble = (
            "" if texts or not wanted else f"{shorten_path(suite.documents.fields.path)}: none of them is in this file"
        )
    except (InputError, OSError) as error:
        texts, trouble = {}, " ".join(str(error).split())
    if trouble:
        click.echo(f"documents have no titles: {trouble}", err=True)
    return {document: text.title for document, text in texts.items() if text.title}


def _collect_sides(
    suite: Suite, registry: Registry, progress: Progress, metric: Metric, *, ask: bool, report: Path | None
) -> _Sides:
    """The rankings of the last run, if there is one and it still fits; else those that the source returns now."""
    unkept = [] if metric in suite.metrics else sorted(metric.needs & {"fields", "timings"})
    if ask or unkept:
        why_asked = "" if ask else f"; a run keeps no {unkept[0]} for it"
        return _ask_source(suite, registry, progress, f"what the source returns now{why_asked}")
    run = _find_last_run(suite, report)
    if run is None:
        where = report if report is not None else Path(FOLDER)
        none = f"there is no run of this suite in {where.as_posix()}"
        return _ask_source(suite, registry, progress, f"what the source returns now; {none}")
    base = read_collection(suite, registry, read_date(), progress)
    prints = compute_fingerprints(base, "", fingerprint_suite_judgments(base))
    changed = " and ".join(list_changed_inputs(run, suite, prints))
    if changed:
        return _ask_source(suite, registry, progress, f"what the source returns now; {changed} changed since {run}")
    rankings_origin = f"the rankings of {run}; --ask asks the source again"
    alone = _Sides(base.population, run.rankings, None, rankings_origin)
    if run.compared is not None:
        return alone._replace(before=base.population.names.in_rankings(run.compared))
    try:
        stored = read_baseline(suite.baselines, suite.name)
    except BaselineError as error:
        return alone._replace(baseline_error=error)
    if stored is None:
        return alone
    if identify_baseline(stored) != run.record["baseline"]:
        rankings_origin = f"{rankings_origin}; the baseline was accepted after this run"
    names = base.population.names
    before = replace(names.in_rankings(stored.rankings[0]), origin=f"the baseline of {stored.accepted.date}")
    return alone._replace(before=before, rankings_origin=rankings_origin)


def _ask_source(suite: Suite, registry: Registry, progress: Progress, rankings_origin: str) -> _Sides:
    inputs = collect_inputs(suite, registry, read_date(), progress)
    scores = score_inputs(inputs)
    accepted, problem = scores.baseline_side, scores.baseline.problem
    return _Sides(
        scores.population,
        replace(scores.current.rankings[0], origin=inputs.source),
        None if accepted is None else replace(accepted.rankings[0], origin=accepted.origin),
        rankings_origin,
        problem if isinstance(problem, BaselineError) else None,
    )


def _find_last_run(suite: Suite, report: Path | None) -> LastRun | None:
    """The newest of the runs that left a report here, above here, or above the suite."""
    folders = list_report_folders(suite.path, report)
    runs = [
        run for folder in folders if (folder / FILE).is_file() and (run := read_last_run(folder / FILE, suite.name))
    ]
    return max(runs, key=lambda run: run.date, default=None)


def _choose_suite(path: Path, name: str | None, registry: Registry) -> Suite:
    """The suite of the file; of a matrix, the one that is named."""
    suites = {suite.name: suite for suite in load_suites(path, registry)}
    if name is None and len(suites) == 1:
        return next(iter(suites.values()))
    if name in suites:
        return suites[name]
    complaint = "has several suites: which one?" if name is None else f"has no suite {name!r}"
    meant = did_you_mean(name or "", suites)
    raise SuiteError(Problem(complaint, str(path), suggestion=meant, allowed=f"--named is one of {', '.join(suites)}"))
