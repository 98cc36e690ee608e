"""Explanations of a metric: its arithmetic on one query, beside that of another ranking; and its behaviour on any."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Floats
from pytest_ireval.data.coerce import JoinedRankings, JudgmentsLike, RankingsLike
from pytest_ireval.data.formats.input_file import FilePath
from pytest_ireval.data.formats.recognition import Format
from pytest_ireval.data.from_objects import convert_judgments, convert_rankings
from pytest_ireval.data.join import join_judgments
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.side_data import SideData, join_side_data
from pytest_ireval.data.views import select_queries
from pytest_ireval.errors import (
    InputError,
    MetricError,
    MetricNameError,
    Problem,
    did_you_mean,
    make_exception_problem,
    quote,
)
from pytest_ireval.evaluating.evaluation import apply_policies, prepare_evaluation
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import check_needs, compute_values, find_worst_value, list_units, score
from pytest_ireval.metrics.steps import Listing, find_steps, list_ranking, list_session, make_steps
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.explanation import Column, Explained, Explanation, Move, Steps
from pytest_ireval.results.policies import Policies
from pytest_ireval.words import format_count, format_some, pluralize

ROUNDING = 1e-12
"""Values that differ by no more are the same."""


def why(
    metric: str | Metric,
    judgments: FilePath | Judgments | JudgmentsLike,
    rankings: FilePath | Rankings | RankingsLike,
    query: str | None = None,
    other: FilePath | Rankings | RankingsLike | None = None,
    *,
    policies: Policies = Policies(),
    side_data: SideData = SideData(),
    judgments_format: Format = None,
    rankings_format: Format = None,
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> Explanation:
    """Explain a metric's value on one query; with ``other`` rankings, also the difference.

    Without a ``query``, the one is taken on which the two rankings differ most. Of a metric of sessions, ``query``
    names a session, and all its queries are explained. A query that a ranking lacks is
    explained as an empty ranking, and scores the worst value there is, whatever ``missing_queries`` of the policies
    says; nor does ``no_relevant`` matter. The other arguments are those of ``evaluate``.

    >>> from pytest_ireval import why
    >>> explanation = why("AP", {"mug": {"a": 1, "b": 1}}, {"mug": ["a", "x", "b"]})
    >>> explanation.first.steps.arithmetic
    '(1 + 0.6667) / 2'
    """
    policies = replace(policies, missing_queries="zero", no_relevant="zero")
    setting = prepare_evaluation(judgments, metric, policies, registry, progress, judgments_format, rankings_format)
    wanted = _require_one_metric(setting.metrics)
    found = [
        setting.join_rankings(source, side_data, documents=True) for source in (rankings, other) if source is not None
    ]
    name, query_choice = (query, "") if query is not None else _choose_query(wanted, found, policies)
    alone = [each._replace(judged=_select_unit(wanted, each.judged, name, setting.judgments.origin)) for each in found]
    single = [apply_policies(each.judged, policies) for each in alone]
    first = _explain_ranking(wanted, single[0], found[0].origin, policies)
    second = _explain_ranking(wanted, single[1], found[1].origin, policies) if other is not None else None
    return Explanation(
        metric=str(wanted),
        query=name,
        query_choice=query_choice,
        judgments=setting.judgments.origin,
        policies=policies,
        first=first,
        other=second,
        moves=_list_moves(first, second, *single) if second is not None else (),
        unit=wanted.unit,
    )


def _require_one_metric(found: Sequence[Metric]) -> Metric:
    """The one metric, which has to score queries or sessions one by one."""
    if len(found) > 1:
        names = ", ".join(map(str, found))
        raise MetricNameError(f"more than one metric: {names}; only one can be explained at a time")
    metric = found[0]
    if not can_be_explained(metric):
        complaint = "scores a whole run" if metric.unit == "run" else "scores a query by the others of its session"
        only = "only metrics that score single queries, or whole sessions, can be explained"
        raise MetricError(Problem(f"{complaint}; {only}", place=str(metric)))
    return metric


def can_be_explained(metric: Metric) -> bool:
    """True for metrics of single queries or of whole sessions."""
    return metric.unit == "session" or (metric.unit == "query" and "sessions" not in metric.needs)


def _choose_query(metric: Metric, rankings: Sequence[JoinedRankings], policies: Policies) -> tuple[str, str]:
    """The query or session if none was named: the only one, or the one with the largest difference."""
    unit, names = metric.unit, _list_names(metric, rankings[0].judged)
    if len(names) == 1:
        return names[0], f"the only {unit}"
    suggestion = f"name one: --query {names[0]}, or query={names[0]!r} from Python"
    if len(rankings) == 1:
        complaint = f"no {unit} was named, and {len(names)} are judged: {format_some(names)}"
        raise InputError(Problem(complaint, suggestion=suggestion))
    views = [_count_missing_as_empty(metric, apply_policies(each.judged, policies)) for each in rankings]
    before, after = (score(metric, view).values for view in views)
    change = np.nan_to_num(np.abs(after - before))
    if (change <= ROUNDING * np.maximum(np.abs(before), 1)).all():
        complaint = f"{metric} is the same on all {format_count(len(names), unit)}, so no {unit} was chosen"
        raise InputError(Problem(complaint, suggestion=suggestion))
    return names[int(np.argmax(change))], f"the largest difference of {format_count(len(names), unit)}"


def _list_names(metric: Metric, judged: JudgedRankings) -> tuple[str, ...]:
    """The queries, or the sessions; an error if there are none although the metric scores them."""
    if metric.unit == "session":
        check_needs(metric, judged)
    return list_units(metric, judged)


def _select_unit(metric: Metric, judged: JudgedRankings, name: str, judgments: str) -> JudgedRankings:
    """The query of this name alone, or the queries of the session."""
    names = _list_names(metric, judged)
    if name not in names:
        hint = did_you_mean(name, names)
        if metric.unit == "session" and judged.sessions is not None and name in judged.queries:
            place = int(judged.sessions.session[judged.queries.index(name)])
            hint = f"it is a query of session {quote(names[place])}" if place >= 0 else "this query has no session"
        allowed = f"judged {pluralize(metric.unit)}: {format_some(names)}"
        complaint = f"{metric.unit} {quote(name)} is not judged"
        raise InputError(Problem(complaint, judgments, suggestion=hint, allowed=allowed))
    if metric.unit == "session" and judged.sessions is not None:
        return select_queries(judged, judged.sessions.session == names.index(name))
    return select_queries(judged, np.array(judged.queries, object) == name)


def _list_moves(
    first: Explained, other: Explained, first_judged: JudgedRankings, other_judged: JudgedRankings
) -> tuple[Move, ...]:
    """Every document in the steps of one of the two, by query of a session, best rank first."""
    ranks, other_ranks = _map_ranks(first, first_judged), _map_ranks(other, other_judged)
    shares, other_shares = _map_shares(first), _map_shares(other)
    grades = _map_grades(first) | _map_grades(other)
    moves = [
        Move(
            document=key.document,
            grade=grade,
            rank=ranks.get(key),
            other_rank=other_ranks.get(key),
            share=shares.get(key),
            other_share=other_shares.get(key),
            position=key.position or None,
        )
        for key, grade in grades.items()
    ]
    return tuple(sorted(moves, key=_sort_key))


def _sort_key(move: Move) -> tuple[int, int, int]:
    there = [rank for rank in (move.rank, move.other_rank) if rank is not None]
    return move.position or 0, min(there), max(there)


class _Listed(NamedTuple):
    """A document of one query: in a session, several queries may find it. ``position`` is 0 outside of sessions."""

    position: int
    document: str


def _list_keys(documents: Sequence[str], positions: Sequence[int]) -> list[_Listed]:
    return list(map(_Listed, positions or (0,) * len(documents), documents))


def _map_ranks(explained: Explained, judged: JudgedRankings) -> Mapping[_Listed, int]:
    """Ranks by document, also below the cutoff, unless the metric counts ranks in its own way."""
    steps = explained.steps
    counted = dict(zip(_list_keys(steps.documents, steps.positions), steps.ranks, strict=True))
    whole = _list_unit(judged, session=bool(steps.positions))
    positions = () if whole.position is None else whole.position.tolist()
    ranked = dict(zip(_list_keys(whole.documents, positions), whole.rank.tolist(), strict=True))
    own_way = any(ranked[key] != rank for key, rank in counted.items())
    return counted if own_way else ranked


def _list_unit(judged: JudgedRankings, *, session: bool) -> Listing:
    return list_session(judged) if session else list_ranking(judged)


def _map_shares(explained: Explained) -> dict[_Listed, float | None]:
    steps = explained.steps
    shares = () if steps.shares is None else steps.shares.values
    return dict(zip(_list_keys(steps.documents, steps.positions), shares, strict=bool(shares)))


def _map_grades(explained: Explained) -> dict[_Listed, float | None]:
    steps = explained.steps
    return dict(zip(_list_keys(steps.documents, steps.positions), steps.grades, strict=True))


SAME = 1e-9
"""The largest distance of steps from the value, by rounding."""


def _explain_ranking(metric: Metric, judged: JudgedRankings, origin: str, policies: Policies) -> Explained:
    facts = _describe_changes(metric, judged, policies)
    if not judged.present.any() and not math.isfinite(find_worst_value(metric) or 0.0):
        facts.append("evaluate refuses to score it, because this metric has no worst value")
    judged = _count_missing_as_empty(metric, judged)
    scores = score(metric, judged)
    value = float(scores.values[0])
    if math.isnan(value):
        name = quote(list_units(metric, judged)[0])
        raise MetricError(Problem(f"{metric.unit} {name} has no value: {metric.undefined}", str(metric)))
    special_case = _describe_declared_value(metric, judged, bool(scores.no_relevant[0]))
    steps = show_steps(metric, judged) or _make_generic_steps(metric, judged, value)
    if not special_case and not _is_close(steps.value, value):
        raise _wrong_steps_error(metric, f"its steps give {steps.value:.10g}, but its value is {value:.10g}")
    if not special_case and not steps.generic and steps.shares is not None:
        shares = math.fsum(share or 0.0 for share in steps.shares.values)
        if not _is_close(shares, value):
            raise _wrong_steps_error(metric, f"its shares add up to {shares:.10g}, but its value is {value:.10g}")
    cutoff = metric.settings.get("cutoff")
    return Explained(
        rankings=origin,
        retrieved=int(judged.retrieved.sum()),
        cutoff=cutoff if isinstance(cutoff, int) else None,
        value=value,
        steps=replace(steps, facts=(*facts, *steps.facts)),
        special_case=special_case,
    )


def _count_missing_as_empty(metric: Metric, judged: JudgedRankings) -> JudgedRankings:
    """The same with missing rankings as empty ones, if the metric has no worst value for them."""
    if math.isfinite(find_worst_value(metric) or 0.0):
        return judged
    return replace(judged, present=np.ones(judged.count, bool), _memory={})


def _is_close(steps: float, value: float) -> bool:
    return abs(steps - value) <= SAME * max(1.0, abs(value))


def _describe_declared_value(metric: Metric, judged: JudgedRankings, no_relevant: bool) -> str:
    """The value that the metric declares for such a query, in words; its steps do not matter then."""
    least = find_worst_value(metric)
    if not judged.present.any() and least is not None and (least or metric.direction == "lower"):
        return f"a {metric.unit} without a ranking scores the worst value, {least:g}"
    if metric.unit == "query" and metric.empty is not None and judged.retrieved[0] == 0:
        return f"an empty ranking scores {metric.empty:g}"
    if metric.no_relevant is not None and no_relevant:
        return f"a query without relevant documents scores {metric.no_relevant:g}"
    return ""


def _describe_changes(metric: Metric, judged: JudgedRankings, policies: Policies) -> list[str]:
    """The queries of a session, and the changes that the policies made to the ranking before the metric got it."""
    facts = []
    if metric.unit == "session" and judged.sessions is not None:
        places = sorted(zip(judged.sessions.position.tolist(), judged.queries, strict=True))
        facts.append(f"queries of the session: {', '.join(f'{place}: {query}' for place, query in places)}")
        without = [query for query, there in zip(judged.queries, judged.present.tolist(), strict=True) if not there]
        facts += [f"query {quote(query)} has no ranking; it counts as empty" for query in without]
    elif not judged.present[0]:
        facts.append("this query has no ranking; the ranking counts as empty")
    elif judged.retrieved[0] == 0:
        facts.append("the ranking is empty")
    if policies.depth is not None:
        facts.append(f"only the first {policies.depth} documents count (depth)")
    if policies.unjudged == "removed":
        facts.append("unjudged documents were removed first (unjudged: removed); ranks count the remaining documents")
    tied = judged.hits.tied_from < judged.hits.tied_to
    if tied.any():
        order = "by document id descending" if policies.ties == "trec" else "in the order of the input"
        count = int(np.count_nonzero(tied))
        which = "documents share scores" if count > 1 else "document shares its score"
        facts.append(f"{count} judged {which} with others; ties: {order}")
    return facts


def show_steps(metric: Metric, judged: JudgedRankings) -> Steps | None:
    """The steps that are registered for the metric; None if there are none."""
    function = find_steps(metric)
    if function is None:
        return None
    try:
        steps = function(judged, **metric.settings)
    except MetricError as error:
        raise MetricError(*(p if p.place else replace(p, place=str(metric)) for p in error.problems)) from None
    except Exception as error:  # whatever a plugin's code raises, the message names it
        problem = make_exception_problem("its steps", error, f"the metric comes from {metric.source}")
        raise MetricError(replace(problem, place=str(metric))) from error
    if not isinstance(steps, Steps):
        raise _wrong_steps_error(
            metric, f"its steps returned {type(steps).__name__}, not the Steps that make_steps returns"
        )
    return steps


def _wrong_steps_error(metric: Metric, complaint: str) -> MetricError:
    return MetricError(Problem(complaint, place=str(metric), suggestion=f"the metric comes from {metric.source}"))


def _make_generic_steps(metric: Metric, judged: JudgedRankings, value: float) -> Steps:
    """For each judged document that was retrieved, the metric's value if it were unjudged."""
    listed = _list_unit(judged, session=metric.unit == "session")
    without = np.full(listed.rank.size, np.nan)
    failed = 0
    position = np.zeros(judged.count) if judged.sessions is None else judged.sessions.position
    rows = np.argsort(position[judged.hits.query], kind="stable").tolist()  # in the order of the list
    for place, row in zip(np.flatnonzero(listed.judged), rows, strict=True):
        try:
            without[place] = score(metric, _drop_judgment(judged, row)).values[0]
        except MetricError:  # the table says how often
            failed += 1
    steps = make_steps(
        listed,
        {"unjudged": without},
        arithmetic="",
        value=value,
        facts=[
            f"{metric.name} does not describe its steps; this generic table is shown for such a metric:",
            "column unjudged: the metric's value if this document were unjudged",
            *([f"{failed} documents have no such value: the metric raised an error"] if failed else []),
        ],
    )
    makes = tuple(None if other is None else value - other for other in steps.columns[0].values)
    return replace(steps, shares=Column("makes", makes), generic=True)


def _drop_judgment(judged: JudgedRankings, row: int) -> JudgedRankings:
    """The same with the document of one hit unjudged."""
    hits, ideal = judged.hits, judged.ideal
    query = int(hits.query[row])
    kept = np.arange(hits.rank.size) != row
    of_query = ideal.query == query
    place = int(np.flatnonzero(of_query & (ideal.judgment == hits.judgment[row]))[0])
    moved_up = ideal._replace(rank=ideal.rank - (of_query & (ideal.rank > ideal.rank[place])))
    documents = judged.documents
    if documents is not None:
        grade = documents.grade.copy()
        grade[int(documents.first[query] + hits.rank[row]) - 1] = np.nan
        documents = documents._replace(grade=grade)
    return replace(
        judged,
        hits=hits.at(kept),
        ideal=moved_up.at(np.arange(ideal.grade.size) != place),
        documents=documents,
        subtopics=judged.subtopics and judged.subtopics.at(judged.subtopics.row != hits.judgment[row]),
        _memory={},
        _memory_of_ideal={},
    )


RANKS = 20
"""The relevant document of a drawing moves from rank 1 to this rank."""
RELEVANT = (10, 100)
"""The numbers of relevant documents in the drawings."""
_MADE_UP = {"scores", "ties", "documents", "unjudged", "collection"}
"""The needs of a metric that made-up lists can meet."""


class Behaviour(NamedTuple):
    """Measured on made-up lists, so it holds for metrics of plugins, too."""

    curves: Mapping[int, Floats]
    """For each number of relevant documents the value of a list whose only relevant document is at rank 1, 2, …"""
    rises: list[str]
    """Changes of a list that raise the value."""
    falls: list[str]
    ignores: list[str]
    """Changes that leave it as it is."""


def measure_behaviour(metric: Metric) -> Behaviour | None:
    """The behaviour of a metric of single queries; None if made-up lists cannot show it.

    Raises MetricError if the metric fails.
    """
    if metric.unit != "query" or metric.needs - _MADE_UP:
        return None
    ranks = range(1, RANKS + 1)
    lists = {(relevant, rank): _make_list_with_one_relevant(relevant, rank) for relevant in RELEVANT for rank in ranks}
    values = _score_lists(metric, list(lists.values())).reshape(len(RELEVANT), RANKS)
    before, *after = _score_lists(metric, [_BEFORE, *_CHANGES.values()])
    changed = {text: value - before for text, value in zip(_CHANGES, after, strict=True)}
    if not np.isfinite([*values.flat, *changed.values()]).all():
        return None
    return Behaviour(
        dict(zip(RELEVANT, values, strict=True)),
        [text for text, change in changed.items() if change > _SAME],
        [text for text, change in changed.items() if change < -_SAME],
        [text for text, change in changed.items() if abs(change) <= _SAME],
    )


_SAME = 1e-12


class _List(NamedTuple):
    """A ranking, and the grades of its query."""

    ranking: Sequence[str]
    grades: Mapping[str, int]


def _score_lists(metric: Metric, lists: Sequence[_List]) -> Floats:
    names = [f"q{i:03}" for i in range(len(lists))]
    judgments = convert_judgments({name: each.grades for name, each in zip(names, lists, strict=True)})
    rankings = convert_rankings({name: each.ranking for name, each in zip(names, lists, strict=True)})
    return compute_values(metric, join_side_data(join_judgments(judgments, rankings), collection=10_000))


def _name_others(count: int) -> list[str]:
    return [f"not relevant {i}" for i in range(count)]


def _make_list_with_one_relevant(relevant: int, rank: int) -> _List:
    """A list with one of the relevant documents, at ``rank``; all of them have the top grade."""
    ranking = _name_others(RANKS - 1)
    ranking.insert(rank - 1, "relevant 0")
    return _List(ranking, dict.fromkeys(ranking, 0) | {f"relevant {i}": 1 for i in range(relevant)})


def _make_list(places: Mapping[int, str], length: int = 30) -> list[str]:
    """A list with these documents at these ranks, and documents that are not relevant elsewhere."""
    return [places.get(rank, other) for rank, other in enumerate(_name_others(length), 1)]


_GRADES = dict.fromkeys(_name_others(40), 0) | {"fair": 1, "good": 2, "other": 1, "lost": 3}
_BEFORE = _List(_make_list({2: "fair", 5: "good", 20: "other"}), _GRADES)
_CHANGES = {
    "a relevant document moves from rank 5 to rank 1": _List(_make_list({2: "fair", 1: "good", 20: "other"}), _GRADES),
    "a relevant document moves from rank 20 to rank 4": _List(_make_list({2: "fair", 5: "good", 4: "other"}), _GRADES),
    "the better of two relevant documents changes places with the one above it": _List(
        _make_list({2: "good", 5: "fair", 20: "other"}), _GRADES
    ),
    "the relevant document at rank 2 gets the top grade": _BEFORE._replace(grades=_GRADES | {"fair": 3}),
    "ten more relevant documents exist, and none of them is found": _BEFORE._replace(
        grades=_GRADES | {f"lost {i}": 1 for i in range(10)}
    ),
    "ten documents that are not relevant are added at the end": _BEFORE._replace(
        ranking=_make_list({2: "fair", 5: "good", 20: "other"}, 40)
    ),
    "the document at rank 1, judged as not relevant, is unjudged instead": _BEFORE._replace(
        grades={document: grade for document, grade in _GRADES.items() if document != "not relevant 0"}
    ),
}
