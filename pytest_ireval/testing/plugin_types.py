"""Checks of rules and sources: what they promise, and rankings or requests with which one breaks it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from pydantic import TypeAdapter, ValidationError

from pytest_ireval.data.coerce import QueriesLike, coerce_queries, coerce_rankings
from pytest_ireval.data.queries import Queries
from pytest_ireval.errors import PluginError, Problem
from pytest_ireval.evaluating.evaluation import prepare_evaluation
from pytest_ireval.gate.apply import apply_rules
from pytest_ireval.gate.collect import collect_inputs
from pytest_ireval.gate.planning import Check
from pytest_ireval.gate.queries_and_judgments import Collection
from pytest_ireval.gate.run import make_plan
from pytest_ireval.gate.score import Scores, score_inputs
from pytest_ireval.gate.score_rankings import score_rankings
from pytest_ireval.gate.unjudged import UnjudgedEffects
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.plugins.plugin_types import Kinds, Part, RuleKind, SourceKind
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.policies import Policies
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Side
from pytest_ireval.sources.answers import fetch_answers
from pytest_ireval.sources.request import Request
from pytest_ireval.suite.loading import load_suite
from pytest_ireval.suite.suite import Place, SourceSpec, Suite
from pytest_ireval.suite.suite_keys import DocumentsKeys, Source
from pytest_ireval.suite.validation_errors import translate_errors
from pytest_ireval.testing.contract import Finding, PromiseOfKind, Spared, collect_findings

Lists = Mapping[str, Sequence[str]]
"""Documents by query, best first."""
NOWHERE = Place("", 0, 0)


def make_rule_context(
    judgments: Mapping[str, Mapping[str, float]],
    current: Lists,
    baseline: Lists | None = None,
    *,
    metric: str | Metric,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    item: Any = None,
) -> RuleContext:
    """The view of a rule, made of plain Python: grades and lists by query; ``columns`` have a value for each query.

    ``RankingChange(context.population, context.current, context.baseline, context.metric)`` is what a diagnosis gets.
    """
    policies = Policies(missing_queries="zero", depth=100, grades="float")
    setup = prepare_evaluation(judgments, [metric], policies, None)
    (only_metric,) = setup.metrics
    suite = Suite(
        "test",
        Path("test.yaml"),
        "test.yaml",
        NOWHERE,
        DocumentsKeys.model_validate({}),
        metrics=(only_metric,),
        policies=policies,
    )
    ids = tuple(judgments)
    given = {name: tuple(values[query] for query in ids) for name, values in (columns or {}).items()}
    population = Population(Queries(ids, ("",) * len(ids), given), setup.judgments)
    collection = Collection(suite, setup.registry, population, setup)
    part = Part(metric=only_metric, item=item)

    def score(lists: Lists) -> Side:
        rankings = coerce_rankings(lists, setup.registry.readers, None, setup.how)
        return score_rankings(collection, [rankings], "Python").side

    side = score(current)
    if baseline is None:
        return RuleContext(population, side, None, part)
    compared = score(baseline)
    effects = UnjudgedEffects(collection, side, compared)
    return RuleContext(population, side, compared, part, effects=effects)


def make_request(queries: QueriesLike, depth: int = 10, folder: str | Path = ".") -> Request:
    """A request to a source for ``{id: text}``, or for rows with ``id``, ``text`` and columns."""
    readers = installed_registry().readers
    return Request(coerce_queries(queries, readers), depth, Path(folder).absolute(), "test", readers)


def _make_registry(kind: RuleKind | SourceKind) -> Registry:
    ours = installed_registry()
    sources = {**ours.sources, kind.name: kind} if isinstance(kind, SourceKind) else ours.sources
    rules = {**ours.rules, kind.name: kind} if isinstance(kind, RuleKind) else ours.rules
    return replace(ours, known_kinds=Kinds(sources, rules, ours.diagnoses))


def check_rule(
    kind: RuleKind, options: Mapping[str, Any], *, not_promised: Mapping[str, str] | None = None
) -> list[Finding]:
    """The result of every promise of a rule with these options; raises PluginError if one is broken.

    The rule judges 40 queries, q01 to q40, with documents q01-d0 and so on, and with columns ``segment`` (head, tail)
    and ``searches``. ``not_promised`` names promises that it cannot keep, each with the reason.
    """
    with TemporaryDirectory() as folder:
        case = _RuleCase(kind, options, Path(folder))
        return collect_findings(kind.name, kind.source, RULES, case, not_promised or {})


GRADES = (3, 2, 2, 1, 1, 0, 0)
SAME = "the same rankings"


class _RehearsedSuite(NamedTuple):
    """A suite whose rules are applied to other rankings."""

    checks: tuple[Check, ...]
    scores: Scores
    """With its own rankings as the baseline."""


class _RuleCase:
    def __init__(self, kind: RuleKind, options: Mapping[str, Any], folder: Path) -> None:
        self.kind, self.options, self.folder = kind, options, folder
        draw = np.random.default_rng(7)
        self.before = {
            f"q{i:02}": [f"q{i:02}-d{d}" for d in np.argsort(np.arange(10) + draw.normal(0, 2, 10)).tolist()]
            for i in range(1, 41)
        }
        self._outcomes: dict[str, dict[str, Outcome]] = {}

    @cached_property
    def changes(self) -> dict[str, Lists]:
        """Other rankings, by what was done to them."""
        every = self.before.items()
        best = {query: sorted(ids) for query, ids in every}
        return {
            SAME: self.before,
            "every ranking in the best order": best,
            "every ranking reversed": {query: ids[::-1] for query, ids in every},
            "every third ranking reversed": {query: ids[:: 1 if i % 3 else -1] for i, (query, ids) in enumerate(every)},
            "half of the rankings empty": {query: ids if i % 2 else [] for i, (query, ids) in enumerate(every)},
            "one new document on top of all": {query: ["new", *ids[:-1]] for query, ids in every},
            "two documents exchanged in some": {
                query: [*ids[:2][:: 1 if i % 7 else -1], *ids[2:]] for i, (query, ids) in enumerate(every)
            },
        }

    @cached_property
    def in_order(self) -> _RehearsedSuite:
        """The suite with its queries in order."""
        return self._rehearse(list(self.before), "plain")

    @cached_property
    def shuffled(self) -> _RehearsedSuite:
        """The suite with its queries in another order."""
        return self._rehearse(sorted(self.before, key=lambda query: query[::-1], reverse=True), "shuffled")

    def _rehearse(self, order: list[str], name: str) -> _RehearsedSuite:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)  # after a suite that was refused
        rows = [f"{q}\ttext of {q}\t{'head' if int(q[1:]) % 2 else 'tail'}\t{100 - int(q[1:])}\n" for q in order]
        (folder / "queries.tsv").write_text("id\ttext\tsegment\tsearches\n" + "".join(rows))
        graded = (f"{q} 0 {q}-d{d} {grade}\n" for q in order for d, grade in enumerate(GRADES))
        (folder / "judgments.txt").write_text("".join(graded))
        (folder / "before.json").write_text(json.dumps({query: self.before[query] for query in order}))
        suite = {
            "ireval": "1",
            "suite": "test",
            "source": {"run": "before.json"},
            "queries": "queries.tsv",
            "weight": "searches",
            "judgments": "judgments.txt",
            "rules": [{self.kind.name: self.options}],
        }
        (folder / "test.ireval.yaml").write_text(json.dumps(suite, default=str))
        registry = _make_registry(self.kind)
        loaded = load_suite(folder / "test.ireval.yaml", registry, shown="the suite of the test")
        plan = make_plan(loaded, registry)
        inputs = collect_inputs(loaded, registry, date(2000, 1, 1), queries=plan.queries)
        return _RehearsedSuite(plan.checks, score_inputs(inputs).fill_baseline())

    def outcomes(self, change: str, suite: _RehearsedSuite | None = None) -> dict[str, Outcome]:
        """By id, the outcomes of a change; checked again where a suite is given."""
        if suite is None and change not in self._outcomes:
            self._outcomes[change] = self.outcomes(change, self.in_order)
        if suite is None:
            return self._outcomes[change]
        scores = suite.scores
        lists = {query: self.changes[change][query] for query in scores.population.queries.ids}
        rankings = coerce_rankings(lists, scores.collection.registry.readers)
        changed = scores.replace_current(score_rankings(scores.collection, [rankings], change).side)
        return {each.id: each for each in apply_rules(changed, suite.checks)}

    def verdicts(self) -> Iterator[tuple[str, Outcome]]:
        """Each outcome of each change."""
        return ((change, each) for change in self.changes for each in self.outcomes(change).values())


def _describe_change(change: str, outcome: Outcome) -> str:
    return "\n".join((f"with {change}: {outcome.verdict}: {outcome.headline}", *map("  {}".format, outcome.facts)))


def _find_error(case: _RuleCase) -> str:
    return next((_describe_change(change, each) for change, each in case.verdicts() if each.verdict == "error"), "")


def _find_forbidden_verdict(verdict: str, case: _RuleCase) -> str:
    found = [each.verdict for _, each in case.verdicts()]
    return "" if verdict in found else f"with {', with '.join(case.changes)}: never {verdict}"


def _find_indifference(case: _RuleCase) -> str:
    if not case.kind.options.compares:
        raise Spared("it does not compare with a baseline")
    return next((_describe_change(SAME, each) for each in case.outcomes(SAME).values() if each.verdict == "fail"), "")


def _find_other_verdict(suite: str, how: str, case: _RuleCase) -> str:
    """Another verdict, or other numbers, of the same change in another suite."""
    for change in case.changes:
        other = case.outcomes(change, getattr(case, suite))
        for name, one in case.outcomes(change).items():
            if other[name].verdict != one.verdict or not _are_equal(one.numbers, other[name].numbers):
                return f"{_describe_change(change, one)}\n{how}: {other[name].verdict}: {other[name].headline}"
    return ""


def _are_equal(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return one.keys() == other.keys() and all(math.isclose(one[k], other[k], rel_tol=1e-9, abs_tol=1e-12) for k in one)


RULES = (
    PromiseOfKind(
        "a_verdict_in_any_case",
        "it returns a verdict, whatever the rankings are",
        "let queries without documents and documents without judgments have a verdict",
        _find_error,
    ),
    PromiseOfKind(
        "can_fail",
        "some change turns it red",
        "compare with the limit the right way round; give options with which one of these changes is a failure",
        partial(_find_forbidden_verdict, "fail"),
    ),
    PromiseOfKind(
        "can_pass",
        "some rankings pass",
        "compare with the limit the right way round; give options that the best rankings fulfil",
        partial(_find_forbidden_verdict, "pass"),
    ),
    PromiseOfKind(
        "minds_no_equal_rankings",
        "rankings that are those of the baseline do not fail",
        "a change of nothing is harmless; if the rule asks for progress, declare the exception: not_promised={…}",
        _find_indifference,
    ),
    PromiseOfKind(
        "order_of_queries",
        "the order of queries does not matter",
        "look at all queries of context.values() or context.paired(), and at none by its place",
        partial(_find_other_verdict, "shuffled", "with the queries in another order"),
    ),
    PromiseOfKind(
        "same_twice",
        "the same rankings get the same verdict twice",
        "keep nothing between calls, and do not depend on chance or time",
        partial(_find_other_verdict, "in_order", "the second time"),
    ),
)


def check_source(
    kind: SourceKind,
    options: Mapping[str, Any],
    queries: QueriesLike,
    *,
    depth: int = 10,
    folder: str | Path = ".",
    not_promised: Mapping[str, str] | None = None,
) -> list[Finding]:
    """The result of every promise of a source with these options, as a suite in ``folder`` would give them.

    It is asked for ``queries`` ({id: text}) several times. One of them has at least ``depth`` documents. Raises
    PluginError if a promise is broken.
    """
    request = make_request(queries, depth, folder)
    if len(request.queries) < 2:
        raise PluginError(Problem("give at least two queries", kind.name))
    registry = _make_registry(kind)
    try:
        asked = TypeAdapter(Source).validate_python(dict(options), context={"registry": registry})
    except ValidationError as error:
        problems = translate_errors(error, options, SourceSpec, registry)
        raise PluginError(*(replace(each, place=kind.name) for each in problems)) from None
    return collect_findings(kind.name, kind.source, SOURCES, _SourceCase(asked, request), not_promised or {})


class _SourceCase:
    def __init__(self, asked: SourceSpec, request: Request) -> None:
        self.asked, self.request, self.queries = asked, request, request.queries.ids

    @cached_property
    def whole(self) -> dict[str, list[str]]:
        """The answer to the whole request."""
        return self.lists(self.queries)

    def lists(self, queries: Sequence[str], depth: int | None = None) -> dict[str, list[str]]:
        """The rankings of some queries, asked in this order."""
        every = self.request.queries
        rows = [every.position[query] for query in queries]
        columns = {name: tuple(values[row] for row in rows) for name, values in every.columns.items()}
        part = Queries(tuple(queries), tuple(every.text[row] for row in rows), columns, every.origin)
        request = replace(self.request, queries=part, depth=depth or self.request.depth)
        found = fetch_answers(self.asked, request)[0].rankings
        return {query: found.ranking(query) for query in found.queries}


def _find_lost_query(case: _SourceCase) -> str:
    lost = [query for query in case.queries if query not in case.whole]
    return f"no ranking for {', '.join(map(repr, lost[:5]))}; asked for {len(case.queries)} queries" if lost else ""


def _find_shallow_lists(case: _SourceCase) -> str:
    longest = max(map(len, case.whole.values()), default=0)
    return f"asked for {case.request.depth} documents, it returned at most {longest}" * (longest < case.request.depth)


def _compare_lists(how: str, other: Mapping[str, list[str]], whole: Lists, first: int | None = None) -> str:
    for query, documents in other.items():
        if list(whole.get(query, ()))[:first] != documents[:first]:
            return (
                f"{query!r}: {' '.join(whole.get(query, ())) or 'nothing'}\n{how}: {' '.join(documents) or 'nothing'}"
            )
    return ""


def _find_other_lists_alone(case: _SourceCase) -> str:
    some = [(query,) for query in case.queries[:5]]
    parts = (*some, case.queries[::2])
    each = (_compare_lists(f"asked for {len(part)} of the queries", case.lists(part), case.whole) for part in parts)
    return next(filter(None, each), "")


SOURCES = (
    PromiseOfKind(
        "answers_every_query",
        "every query of the request has a ranking, if only an empty one",
        "return an empty list for a query without documents",
        _find_lost_query,
    ),
    PromiseOfKind(
        "as_deep_as_asked",
        "it returns the number of documents that is asked for, if there are enough",
        "hand request.depth to the search; or give a query that has that many documents, or another depth=",
        _find_shallow_lists,
    ),
    PromiseOfKind(
        "depth_only_cuts",
        "a shallow answer is the beginning of a deep one",
        "use request.depth only as the limit of a list",
        lambda case: _compare_lists("asked for 1 document", case.lists(case.queries, 1), case.whole, 1),
    ),
    PromiseOfKind(
        "order_of_queries",
        "the order of queries does not matter",
        "put each answer under the id of its query, whatever the order in which answers arrive",
        lambda case: _compare_lists("in another order", case.lists(case.queries[::-1]), case.whole),
    ),
    PromiseOfKind(
        "alone_or_together",
        "a query has the same answer alone as among others",
        "search for each query by itself, and keep nothing from one query to the next",
        _find_other_lists_alone,
    ),
    PromiseOfKind(
        "same_twice",
        "the same request has the same answer twice",
        "order equal scores by id, and keep nothing between requests",
        lambda case: _compare_lists("the second time", case.lists(case.queries), case.whole),
    ),
)
