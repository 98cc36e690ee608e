"""The documents of single queries on both sides, with the curves of both rankings, and what each document adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pytest_ireval.evaluating.recall_precision import found_in, interpolated, r_precision
from pytest_ireval.evaluating.setting import Companions
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.recall_precision import relevant_from, seen_by_metrics
from pytest_ireval.gate.shares import Shares, shares_of
from pytest_ireval.gate.shown_queries import queries_to_show
from pytest_ireval.plugins.kinds import Part
from pytest_ireval.results.curves import QueryCurve, RecallPrecision
from pytest_ireval.results.outcome import Outcome, Placed
from pytest_ireval.results.suite_result import QueryDocuments
from pytest_ireval.retrieval.judged import JudgedRankings
from pytest_ireval.retrieval.views import of_queries, only
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.side import Side

Curves = Mapping[str, QueryCurve]


def documents_of(material: Material, side: Side, outcomes: Sequence[Outcome]) -> tuple[QueryDocuments, ...]:
    """Of the queries that somebody will ask about; curves and shares where there are judgments."""
    shown = queries_to_show(material, side, outcomes)
    seen = Seen(material.population, material.now, material.baseline, Part())
    compared = material.comparable
    now = _judged(material, material.now, shown)
    before = None if compared is None else _judged(material, compared, shown)
    shares = shares_of(material, shown, now, before) if now is not None and before is not None else {}
    curves, earlier = _curves(material, now), _curves(material, before)
    relevant = _relevant(material, now)
    return tuple(
        QueryDocuments(
            query,
            placed := seen.placed(query),
            curves.get(query),
            earlier.get(query),
            _beside(placed, shares.get(query, {})),
            relevant.get(query),
        )
        for query in shown
    )


def _judged(material: Material, side: Side, shown: Sequence[str]) -> JudgedRankings | None:
    """The first asking of these queries as metrics see it, those of them that are judged; None if none is."""
    setting, wanted = material.setting, set(shown)
    if setting is None:
        return None
    few, _ = of_queries(side.rankings[0], wanted.__contains__)
    known = np.array([query in wanted for query in setting.judgments.queries], bool)
    if not known.any() or not any(query.encode() in setting.judgments.position for query in few.queries):
        return None
    found = setting.brought(few, Companions(), documents=True)
    return seen_by_metrics(found._replace(judged=only(found.judged, known)), setting.policies)


def _curves(material: Material, judged: JudgedRankings | None) -> Curves:
    """Of the queries that have a ranking and relevant documents."""
    if judged is None:
        return {}
    found = found_in(judged, relevant_from(material.suite))
    recall = (found.so_far / np.repeat(found.relevant, np.diff(found.first))).tolist()
    precision = (found.so_far / found.rank).tolist()
    levels, r, first = interpolated(found).tolist(), r_precision(found).tolist(), found.first.tolist()
    there = np.flatnonzero(judged.present & (found.relevant > 0)).tolist()
    return {
        judged.queries[i]: QueryCurve(
            tuple(recall[first[i] : first[i + 1]]),
            tuple(precision[first[i] : first[i + 1]]),
            RecallPrecision(tuple(levels[i]), r[i]),
        )
        for i in there
    }


def _relevant(material: Material, judged: JudgedRankings | None) -> Mapping[str, int]:
    if judged is None:
        return {}
    count = judged.relevant_count(relevant_from(material.suite)).tolist()
    return dict(zip(judged.queries, count, strict=True))


def _beside(placed: Sequence[Placed], shares: Mapping[str, Shares]) -> dict[str, tuple[float | None, ...]]:
    """What each document adds, in the order of the documents; of metrics all of whose documents are there."""
    there = {each.document for each in placed}
    return {
        metric: tuple(moved.get(each.document) for each in placed)
        for metric, moved in shares.items()
        if moved.keys() <= there
    }
