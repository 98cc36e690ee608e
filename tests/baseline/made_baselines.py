"""Baselines made for tests, and whether two say the same."""

from pytest_ireval.baseline.fingerprints import fingerprint_judgments
from pytest_ireval.baseline.record import Acceptance, Baseline, Fingerprints, StoredMetric
from pytest_ireval.data.from_objects import convert_judgments, convert_rankings

LISTS = {"q1": ["a", "b", "c"], "q2": ["b", "a"], "q3": []}
GRADES = {"q1": {"a": 3, "b": 0}, "q2": {"a": 1}}
FIRST = Acceptance("2026-11-02T10:00:00Z", "a" * 40, "main", reason="the first one")
SECOND = Acceptance("2026-11-20T08:30:00Z", "b" * 40, "synonyms", dirty=True, reason="synonyms v2", forced=True)


def baseline_of(lists=None, grades=None, *, suite="shop", acceptances=(FIRST,), values=None, **more):
    """A small baseline; ``values`` are of nDCG@10 by query."""
    prints = fingerprint_judgments(convert_judgments(grades or GRADES, grades="float"))
    values = {"q1": 0.75, "q2": 1.0} if values is None else values
    mean = sum(values.values()) / len(values) if values else None
    defaults = {
        "depth": 10,
        "rankings": (convert_rankings(lists or LISTS),),
        "metrics": {"nDCG@10": StoredMetric(1, "pytest-ireval", mean, values)},
        "judgments": prints,
        "fingerprints": Fingerprints("queries", prints.whole, "run: candidate.trec", "policies"),
        "plugins": ("pytest-ireval 0.1.0",),
        "acceptances": acceptances,
    }
    return Baseline(suite, **{**defaults, **more})


def content(baseline):
    """Everything that a baseline says, as plain values."""
    return {
        "suite": baseline.suite,
        "depth": baseline.depth,
        "scored": baseline.scored,
        "rankings": [plain(rankings, scored=baseline.scored) for rankings in baseline.rankings],
        "timings": dict(baseline.timings),
        "fields": dict(baseline.fields),
        "metrics": baseline.metrics,
        "judgments": baseline.judgments,
        "fingerprints": baseline.fingerprints,
        "search": baseline.search,
        "waived": baseline.waived,
        "plugins": baseline.plugins,
        "acceptances": baseline.acceptances,
    }


def plain(rankings, *, scored=False):
    """Documents by query, with scores if they matter."""
    lists = {}
    for i, query in enumerate(rankings.queries):
        rows = range(rankings.first[i], rankings.first[i + 1])
        lists[query] = [(rankings.documents[row], float(rankings.score[row])) for row in rows]
        if not scored:
            lists[query] = [document for document, _ in lists[query]]
    return lists


OLD = baseline_of(rankings=baseline_of().rankings * 3)
NEW = baseline_of({"q1": ["z"], "q2": ["y", "x"]}, {"q1": {"z": 2}}, acceptances=(FIRST, SECOND))
