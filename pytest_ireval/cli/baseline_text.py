"""A baseline as text."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_ireval.baselines.anchors import is_anchor, suite_of
from pytest_ireval.baselines.baseline import Acceptance, Baseline
from pytest_ireval.baselines.stored_judgments import MOST_PAIRS
from pytest_ireval.errors import BaselineError, Problem, did_you_mean, shown
from pytest_ireval.plurals import counted
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.text_table import printable, table

COMMIT = 9
"""So many digits of a commit are shown."""


def baseline_text(baseline: Baseline, path: str) -> str:
    """Figures, and below them what they rest on."""
    rows = [
        [name, figure(metric.value), str(len(metric.values)), str(metric.version), metric.origin]
        for name, metric in sorted(baseline.metrics.items(), key=by_name)
    ]
    header = ["metric", "value", "queries", "version", "from"]
    parts = ["\n".join(map(printable, _head(baseline, path)))]
    if rows:
        parts.append(table(header, rows, right=(1, 2, 3)))
    parts.append("\n".join(map(printable, _foundation(baseline))))
    return "\n\n".join(parts) + "\n"


def by_name(entry: tuple[str, object]) -> tuple[str, str]:
    """Sorts what belongs to metrics by their names, as people look them up."""
    return entry[0].lower(), entry[0]


def _head(baseline: Baseline, path: str) -> Iterator[str]:
    pinned = is_anchor(baseline.suite)
    yield f"{'anchor' if pinned else 'baseline'} of {suite_of(baseline.suite)}: {path}"
    yield f"{'pinned' if pinned else 'accepted'} {accepted_text(baseline.accepted)}"
    if baseline.accepted.reason:
        yield f"reason: {baseline.accepted.reason}"
    earlier = len(baseline.acceptances) - 1
    if earlier:
        yield f"{counted(earlier, 'earlier acceptance')}; ireval log lists them"


def accepted_text(acceptance: Acceptance) -> str:
    """When, where, and how; without the reason."""
    at = f", commit {acceptance.commit[:COMMIT]}" if acceptance.commit else ""
    on = f" on {acceptance.branch}" if acceptance.branch else ""
    dirty = " with changes that were not committed" if acceptance.dirty else ""
    return f"{acceptance.date}{at}{on}{dirty}{', forced' if acceptance.forced else ''}"


def _foundation(baseline: Baseline) -> Iterator[str]:
    documents = sum(int(rankings.first[-1]) for rankings in baseline.rankings)
    askings = len(baseline.rankings)
    times = f" in {counted(askings, 'asking')}" if askings > 1 else ""
    scores = ", with scores" if baseline.scored else ""
    queries = counted(len({query for rankings in baseline.rankings for query in rankings.queries}), "query")
    yield f"rankings: {queries}, {counted(documents, 'document')}{times}, depth {baseline.depth}{scores}"
    yield f"judgments: {_judgments(baseline)}"
    prints = [f"{name} {value}" for name, value in baseline.fingerprints._asdict().items() if value]
    yield f"fingerprints: {', '.join(prints) or 'none'}"
    yield f"plugins: {', '.join(baseline.plugins) or 'none'}"


def _judgments(baseline: Baseline) -> str:
    judged = counted(len(baseline.grades_of), "query")
    if baseline.grades is not None:
        return f"{sum(map(len, baseline.grades.values()))} for {judged}"
    return f"for {judged}, not kept (more than {MOST_PAIRS:,})" if baseline.grades_of else "none"


def query_text(baseline: Baseline, query: str, path: str) -> str:
    """The ranking of one query, and its figures."""
    with_ranking = [rankings for rankings in baseline.rankings if query in rankings.queries]
    known = {*(query for rankings in baseline.rankings for query in rankings.queries), *baseline.grades_of}
    if query not in known:
        raise BaselineError(Problem(f"has no query {shown(query)}", place=path, suggestion=did_you_mean(query, known)))
    figures = [
        f"{name} {figure(metric.values[query])}"
        for name, metric in sorted(baseline.metrics.items(), key=by_name)
        if query in metric.values
    ]
    parts = [printable(f"query {query} of {baseline.suite}: {', '.join(figures) or 'no figures'}")]
    grades = baseline.grades.get(query, {}) if baseline.grades is not None else {}
    for asking, rankings in enumerate(with_ranking, 1):
        title = f"asking {asking} of {len(baseline.rankings)}\n\n" if len(baseline.rankings) > 1 else ""
        parts.append(title + _ranking_table(rankings, query, dict(grades), scored=baseline.scored))
    if not with_ranking:
        parts.append("there is no ranking")
    return "\n\n".join(parts) + "\n"


def _ranking_table(rankings: Rankings, query: str, grades: dict[str, float], *, scored: bool) -> str:
    i = rankings.queries.index(query)
    first, documents = int(rankings.first[i]), rankings.ranking(query)
    if not documents:
        return "the ranking is empty"
    header, right = ["rank", "document", "grade"], [0, 2]
    rows = [[str(rank), name, grade_text(grades.get(name))] for rank, name in enumerate(documents, 1)]
    if scored:
        header, right = [*header, "score"], [*right, 3]
        rows = [[*row, f"{float(rankings.score[first + at]):g}"] for at, row in enumerate(rows)]
    return table(header, rows, right=right)


def grade_text(grade: float | None) -> str:
    """A grade; - where nobody judged."""
    return "-" if grade is None else f"{grade:g}"


def figure(value: float | None) -> str:
    """Four decimals, as everywhere."""
    return "-" if value is None or math.isnan(value) else f"{value:.4f}"
