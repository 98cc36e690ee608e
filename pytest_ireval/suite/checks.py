"""Checks of the values of a suite against each other; each value by itself is right."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_ireval.baseline.files import ANCHOR, is_anchor, suite_name_of
from pytest_ireval.errors import Problem, did_you_mean
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.parameters import format_value
from pytest_ireval.suite.scalars import KEY, Items, Keys, find_place, problem_at
from pytest_ireval.suite.suite import RuleSpec, SourceSpec
from pytest_ireval.suite.suite_keys import RELATIVE, SuiteKeys


class CheckedSuite(NamedTuple):
    """The values of a suite, and the tree they were read from."""

    keys: SuiteKeys
    tree: Keys
    name: str
    """With the values of a matrix."""
    asks_source: bool
    """False for a suite of an earlier commit or run, whose rankings may be gone."""

    def problem_of_rule(self, number: int, complaint: str, *keys: str) -> Problem:
        """A problem of a rule, or of one of its keys, at the line of the rule."""
        rule = self.keys.rules[number]
        path = find_place(self.tree, ("rules", number)).path
        return Problem(complaint, str(rule.place), (*path, rule.kind.name, *keys))


def find_contradictions(suite: CheckedSuite) -> list[Problem]:
    """Find values that do not fit together."""
    return [problem for check in CHECKS for problem in check(suite)]


def _check_name(suite: CheckedSuite) -> Iterator[Problem]:
    if is_anchor(suite.name):
        complaint = f"{suite.name!r} is the name of an anchor: files of anchors end in {ANCHOR}"
        yield problem_at(suite.tree, ("suite",), complaint, f"use another name: {suite_name_of(suite.name)}")


def _check_depth(suite: CheckedSuite) -> Iterator[Problem]:
    """A metric with a cutoff below the depth of rankings would be computed on fewer documents than it says."""
    depth = suite.keys.depth
    for metric in suite.keys.metrics:
        if _find_cutoff(metric) > depth:
            written = suite.tree["metrics"]
            position = _find_text(metric, list(written) if isinstance(written, Items) else [written])
            yield problem_at(suite.tree, ("metrics", position), *_describe_too_deep(metric, depth))
    for number, rule in enumerate(suite.keys.rules):
        for part, place in zip(rule.parts, rule.places, strict=True):
            if part.metric is not None and not part.metric.stage and _find_cutoff(part.metric) > depth:
                complaint, suggestion = _describe_too_deep(part.metric, depth)
                path = suite.problem_of_rule(number, "").path
                yield Problem(complaint, str(place), path, suggestion)


STAGE_NEEDS = frozenset(("judgments", "unretrieved", "subtopics"))
"""The needs of metrics that what is kept of an earlier stage meets."""


def _check_stages(suite: CheckedSuite) -> Iterator[Problem]:
    """Rules about an earlier stage need a source that tells it, and a metric of the ranks of judged documents."""
    for number, rule in enumerate(suite.keys.rules):
        metric = next((part.metric for part in rule.parts if part.metric is not None and part.metric.stage), None)
        if metric is None:
            continue
        other = rule.options.traits.reference.source
        for source in (suite.keys.source, other) if other is not None else (suite.keys.source,):
            if problem := _describe_unknown_stage(metric.stage, source, "source" if other is not source else "against"):
                path = suite.problem_of_rule(number, "", "stage").path
                yield replace(problem, place=str(rule.place), path=path)
        lacks = sorted(metric.needs - STAGE_NEEDS)
        if lacks or metric.unit != "query":
            needs = f"needs {', '.join(lacks)}" if lacks else f"scores a whole {metric.unit}"
            complaint = f"{metric} {needs}, but of an earlier stage only the ranks of judged documents are kept"
            yield suite.problem_of_rule(number, complaint, "stage")


def _describe_unknown_stage(stage: str, source: SourceSpec, key: str) -> Problem | None:
    """The problem of a stage that is no earlier one of the source, which the suite has under ``key``."""
    *earlier, last = source.stages or ("",)
    if not source.stages:
        complaint = f"{key} does not say that its answers have a stage {stage!r}"
        return Problem(
            complaint, suggestion=f"write {key}: {{…, stages: [{stage}, …]}}, with the last stage at the end"
        )
    if stage == last:
        return Problem(f"{stage!r} is the last stage, which is the ranking", suggestion="remove stage from this rule")
    if stage not in earlier:
        known = f"earlier stages: {', '.join(earlier)}"
        return Problem(f"unknown stage {stage!r}", suggestion=did_you_mean(stage, earlier), allowed=known)
    return None


def _find_cutoff(metric: Metric) -> float:
    cutoff = metric.arguments.get("cutoff")
    return cutoff if isinstance(cutoff, (int, float)) else 0


def _describe_too_deep(metric: Metric, depth: int) -> tuple[str, str]:
    cutoff = format_value(_find_cutoff(metric))
    complaint = f"{metric} looks at {cutoff} documents of a ranking, but depth is {depth}"
    return complaint, f"write depth: {cutoff}, or more"


def _find_text(metric: Metric, listed: list[Any]) -> int:
    """The position of the text that names the metric: the text itself, or the one with the same beginning."""
    if str(metric) in listed:
        return listed.index(str(metric))
    begins = str(metric).partition("@")[0].partition("(")[0].lower()
    return next((n for n, text in enumerate(listed) if str(text).lower().startswith(begins)), 0)


def _check_judgments(suite: CheckedSuite) -> Iterator[Problem]:
    if suite.keys.judgments is not None:
        return
    if suite.keys.documents.spans is not None:
        complaint = "spans needs judged passages, but the suite names no judgments"
        yield problem_at(suite.tree, ("documents", "spans", KEY), complaint)
    metrics = [str(metric) for metric in suite.keys.metrics if metric.reads_judgments]
    rules = [number for number, rule in enumerate(suite.keys.rules) if _needs_judgments(rule)]
    if metrics:
        complaint = f"metrics need judgments, but the suite names none: {', '.join(metrics)}"
        yield problem_at(suite.tree, ("metrics", KEY), complaint)
    elif rules:
        others = f" (the first of {len(rules)})" if len(rules) > 1 else ""
        yield suite.problem_of_rule(rules[0], f"this rule needs judgments{others}, but the suite names none")


def _needs_judgments(rule: RuleSpec) -> bool:
    return any(part.metric is not None and part.metric.reads_judgments for part in rule.parts)


def _check_columns(suite: CheckedSuite) -> Iterator[Problem]:
    """Columns belong to the queries; without queries, the first column is the one mistake."""
    if suite.keys.queries is not None:
        return
    for key in ("weight", "cluster"):
        if getattr(suite.keys, key):
            complaint = f"{key} is a column of the queries, but the suite names no queries"
            yield problem_at(suite.tree, (key, KEY), complaint)
            return
    for number, rule in enumerate(suite.keys.rules):
        for key in ("where", "per"):
            if getattr(rule.options, key) or (key == "where" and any(part.where for part in rule.parts)):
                complaint = f"{key} is about columns of the queries, but the suite names no queries"
                yield suite.problem_of_rule(number, complaint, key)
                return


def _check_waivers(suite: CheckedSuite) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for number, waiver in enumerate(suite.keys.waive):
        if first.setdefault(waiver.query, number) != number:
            line = find_place(suite.tree, ("waive", first[waiver.query], "query")).place.line
            complaint = f"query {waiver.query!r} is waived twice"
            yield problem_at(suite.tree, ("waive", number, "query"), complaint, f"the first is in line {line}")


def _check_files(suite: CheckedSuite) -> Iterator[Problem]:
    """Files of the source, under the key of its kind, must exist; a pattern may have no files yet."""
    source = suite.keys.source
    paths = getattr(source.options, source.kind.name)
    paths = paths if isinstance(paths, tuple) else (paths,)
    key = next(key for key in suite.tree["source"] if key.rpartition(":")[2] == source.kind.name)
    written = suite.tree["source"][key]
    for number, path in enumerate(paths if suite.asks_source else ()):
        text = written[number] if isinstance(written, Items) else written
        if isinstance(path, Path) and not glob.has_magic(str(text)) and not os.path.exists(path):
            yield problem_at(suite.tree, ("source", key, number), f"no such file: {text}", RELATIVE)


Check = Callable[[CheckedSuite], Iterator[Problem]]
CHECKS: tuple[Check, ...] = (
    _check_name,
    _check_depth,
    _check_stages,
    _check_judgments,
    _check_columns,
    _check_waivers,
    _check_files,
)
