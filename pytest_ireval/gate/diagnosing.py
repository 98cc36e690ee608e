"""Plain causes of a change: what is known to have changed, and patterns in the rankings that plugins recognise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pytest_ireval.baseline.rankings_file import LastRun
from pytest_ireval.causes.ranking_change import MOST_NAMED, DiagnosesFound, RankingChange, run_diagnoses
from pytest_ireval.data.document_texts import DocumentTexts
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.last_run import find_repeated_run
from pytest_ireval.gate.lost_in_stages import diagnose_stages
from pytest_ireval.gate.planning import INPUTS, Check, select_rule_checks
from pytest_ireval.gate.score import Scores
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.results.outcome import Cause, Diagnosis, Outcome
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Side
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import list_changes


def collect_document_texts(inputs: Inputs) -> DocumentTexts:
    """What is known of the titles and other fields of documents, by their current names."""
    find_name, file = inputs.collection.population.find_current_name, inputs.suite.documents.fields
    returned = {find_name(document): fields for document, fields in inputs.current.document_fields.items()}
    return DocumentTexts(returned, None if file is None else file.path)


def diagnose_change(
    inputs: Inputs, scores: Scores, checks: Sequence[Check], outcomes: Sequence[Outcome], last_run: Path | None
) -> DiagnosesFound:
    """Plain causes of red or doubtful outcomes; without any, only causes that are a defect in any case."""
    # a warning about the inputs, such as answers that are recordings, is no doubt about the rankings
    doubtful = [each for each in outcomes if each.verdict != "pass" or (each.warning and each.id != INPUTS)]
    by_id, source = {check.id: check for check in select_rule_checks(checks)}, inputs.suite.source
    ordered = sorted(doubtful, key=lambda each: each.verdict != "fail")
    rules = (by_id[each.id].rule for each in ordered if each.compares)
    references = (*map(scores.find_reference, rules), scores.baseline)
    comparison = next((each.trusted for each in references if each.trusted is not None), None)
    if comparison is None or source is None:
        return DiagnosesFound((), ())
    current, baseline = comparison.current, comparison.baseline
    metric, lost = _choose_metric(inputs.suite, scores.population, current, baseline, ordered)
    change = RankingChange(
        scores.population,
        current,
        baseline,
        metric,
        source_changed=scores.baseline.cause is not None and scores.baseline.cause.source,
        document_texts=collect_document_texts(inputs),
        removed_documents=frozenset(map(scores.population.find_current_name, inputs.current.missing_documents)),
    )
    found = run_diagnoses(change, inputs.collection.registry.diagnoses, certain=not doubtful)
    if doubtful and (stage := diagnose_stages(inputs.collection, change)) is not None:
        found = found._replace(causes=(stage, *found.causes))
    if not lost:  # single queries lost, the whole did not: nothing is there to be explained
        found = found._replace(causes=tuple(replace(each, metric="", explained=None) for each in found.causes))
    found = found._replace(causes=add_known_changes(inputs, scores, change, found.causes, red=bool(doubtful)))
    # Where documents have other ids, nothing else can be read from the figures before the ids agree.
    found = found._replace(causes=tuple(sorted(found.causes, key=lambda each: each.kind != "other_ids")))
    repeated = find_repeated_run(last_run, inputs) if doubtful and not change.is_unchanged else None
    return found if repeated is None else found._replace(causes=(*found.causes, _report_same_answers(repeated, change)))


def _choose_metric(
    suite: Suite, population: Population, current: Side, baseline: Side, doubtful: Sequence[Outcome]
) -> tuple[Metric | None, bool]:
    """The metric whose loss causes explain, and whether it is against the change: a rule says so, or its mean fell."""
    metrics = {
        str(each): each
        for each in suite.metrics
        if each.unit == "query" and not each.stage and current.has_values(str(each)) and baseline.has_values(str(each))
    }
    for outcome in doubtful:
        either_way = any(each.two_sided for each in outcome.figures)
        if outcome.metric in metrics and outcome.compares and not either_way:
            return metrics[outcome.metric], True
    # No change of a ranking explains the time that a query took.
    names = [*(each.metric for each in doubtful), *(name for name in metrics if "timings" not in metrics[name].needs)]
    there = [metrics[name] for name in names if name in metrics]
    for metric in there:
        context = RuleContext(population, current, baseline, Part(metric=metric))
        if context.sign * float(np.sum(context.paired_values().gain)) < 0:
            return metric, True
    return next(iter(there), None), False


def _report_same_answers(run: LastRun, change: RankingChange) -> Diagnosis:
    """The answers of the run before, though the source is another one; other causes that were found come first."""
    return Diagnosis(
        kind="same_answers",
        headline=f"the source changed since {run}, but every ranking is the same as in that run",
        advice="check that the new source was asked: a cache or an old file may have answered.",
        queries=tuple(change.sort_by_loss(change.moved_queries)[:MOST_NAMED]),
        affected=len(change.moved_queries),
        compared=len(change.queries),
    )


CORRECT = "correct the name of the field in the request, or add the field to the mapping."
UNDO = "undo this change alone, and run again: if the figures return, it is the cause."


def add_known_changes(
    inputs: Inputs, scores: Scores, change: RankingChange, found: Sequence[Diagnosis], *, red: bool
) -> tuple[Diagnosis, ...]:
    """Add the known changes to the causes that were found in rankings.

    What somebody changed by intention comes first: the request, then judges, then the index. That a file of the source
    changed, or that another system is asked, says less than a pattern in rankings, and comes last; but a file comes
    before the index, which each job may build again.
    """
    cause, unknown = scores.baseline.cause or Cause(), describe_unknown_fields(inputs.current.unknown_fields)

    def make_diagnosis(kind: str, headline: str, advice: str = "") -> Diagnosis:
        queries = tuple(change.sort_by_loss(change.moved_queries)[:MOST_NAMED])
        return Diagnosis(
            kind, headline, advice, queries, affected=len(change.moved_queries), compared=len(change.queries)
        )

    if not red or change.is_unchanged:
        lacking = [make_diagnosis("unknown_fields", unknown, CORRECT)] if unknown else []
        return (*(_diagnose_other_judges(inputs, scores, change) if red else ()), *lacking, *found)
    request, files, index, system = [], [], [], []
    source = inputs.suite.source
    if source is not None and source.kind.name == "run":  # that the files have other names does not say why they differ
        cause = replace(cause, request=(), system=(), source=False)
    if cause.request:
        said = f"the request changed since the baseline: {list_changes(cause.request)}"
        request.append(make_diagnosis("request_changed", _join_sentences(said, unknown), CORRECT if unknown else UNDO))
    if cause.files:
        said = f"{list_changes(cause.files)} changed since the baseline, and makes the rankings"
        files.append(make_diagnosis("source_file_changed", said, UNDO))
    if cause.index:
        said = f"the index changed since the baseline: {cause.index}"
        advice = "check that the new index is complete, and that its mapping was meant to change."
        index.append(make_diagnosis("index_changed", said if request else _join_sentences(said, unknown), advice))
    if cause.system:
        said = f"the source is not that of the baseline: {list_changes(cause.system)}"
        system.append(make_diagnosis("source_changed", said))
    elif cause.source and inputs.reference.baseline is not None and not inputs.reference.baseline.search.request:
        said = "the source is described in other words than in the baseline, which does not keep its options"
        system.append(make_diagnosis("source_changed", said))
    if unknown and not (request or index):
        system.append(make_diagnosis("unknown_fields", unknown, CORRECT))
    before, last = (files, system) if index else ([], [*files, *system])
    return (*request, *_diagnose_other_judges(inputs, scores, change), *before, *index, *found, *last)


def _join_sentences(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def describe_unknown_fields(fields: Sequence[str]) -> str:
    """A sentence that names the fields; empty without any."""
    if not fields:
        return ""
    what = "a field" if len(fields) == 1 else "fields"
    return f"the request searches {what} that the index does not have: {', '.join(fields)}"


def _diagnose_other_judges(inputs: Inputs, scores: Scores, change: RankingChange) -> Iterator[Diagnosis]:
    """Other judges than those of the baseline, such as another model, if grades changed with them."""
    cause = scores.baseline.cause
    if cause is not None and cause.judges and cause.judgments:
        prints = inputs.judgment_prints.grades_of if inputs.judgment_prints else {}
        then = inputs.reference.baseline.judgments.grades_of if inputs.reference.baseline else {}
        judged = [query for query in change.queries if prints.get(query) != then.get(query)]
        yield Diagnosis(
            kind="judges_changed",
            headline=f"the judge changed since the baseline: {cause.judges}",
            advice="judge both rankings by one judge, or accept the new judgments before the new ranking.",
            queries=tuple(change.sort_by_loss(judged)[:MOST_NAMED]),
            affected=len(judged),
            compared=len(change.queries),
        )
