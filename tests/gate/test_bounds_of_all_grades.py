"""Bounds hold whatever grades judges give to unjudged documents: against all grades of a scale, for every metric."""

from itertools import product

import numpy as np
import pytest
from sides import REGISTRY, TwoSides

pytestmark = pytest.mark.ci

SCALES = {
    "0 and 1": {0: 0, 1: 1, 2: 1},
    "0 to 3": {0: 0, 1: 1, 2: 2, 3: 3},
    "with gaps": {0: 0, 1: 2, 2: 5},
    "below 0": {0: -1, 1: 0, 2: 1, 3: 2},
    "a top that no document has": {0: 0, 1: 1},
}
"""Grades that judged documents draw from."""
TOPS = {"a top that no document has": 3.0}
GRADES = {
    "0 and 1": (0, 1),
    "0 to 3": (0, 1, 2, 3),
    "with gaps": (0, 1, 2, 3, 4, 5),
    "below 0": (-1, 0, 1, 2),
    "a top that no document has": (0, 1, 2, 3),
}
"""Grades that a judge could give."""
VARIANTS = {
    "nDCG": [
        "nDCG@2",
        "nDCG(gain='exp')",
        "nDCG(ideal='retrieved')@3",
        "nDCG(gains={1: 3, 2: 0.5})",
        "nDCG(judged_only=True)",
    ],
    "DCG": ["DCG@2", "DCG(gains={1: 3, 2: 0.5})", "DCG(gains={0: -1, 1: 2})"],
    "RBP": ["RBP(rel=2)", "RBP@2"],
    "AP": ["AP@2", "AP(rel=2)", "AP(judged_only=True)"],
    "RR": ["RR@2"],
    "ERR": ["ERR@2", "ERR(gain='ntcir')"],
    "Q": ["Q@2", "Q(rel=2)", "Q(beta=0)"],
    "GAP": ["GAP(thresholds={1: 0.2, 2: 0.8})"],
    "Bpref": ["Bpref(denominator='R')", "Bpref(rel=2)"],
    "Utility": ["Utility(hit=-1, noise=2, miss=0.5)"],
    "F": ["F(beta=2)@3"],
}
PLAIN = {"IPrec": "IPrec@0.5", "RelativeRecall": "RelativeRecall(wanted=2)@3", "RecallEffort": "RecallEffort(wanted=2)"}
WITHOUT_LABELS = {
    *("reference", "unjudged", "judgments", "subtopics", "sessions", "preferences", "timings", "collection", "fields")
}


def names_of(metric):
    """A metric under its own arguments and under others."""
    plain = f"{metric.name}@3" if "cutoff" in metric.missing else metric.name
    return [PLAIN.get(metric.name, plain), *VARIANTS.get(metric.name, [])]


NAMES = [
    name
    for metric in REGISTRY.metrics.values()
    if metric.unit == "query" and metric.direction != "neither" and not metric.needs & WITHOUT_LABELS and metric.judged
    if metric.name not in ("Judged", "Unjudged")  # no grade is better than another for them
    if not metric.undefined  # a grade may take a query out of the mean
    for name in names_of(metric)
]


def on_every_scale(names):
    """Each name on one of the scales in turn, and on the others in the long search."""
    return pytest.mark.parametrize(
        ("name", "scales"),
        [
            pytest.param(name, scales, id=f"{name}-{len(scales)}", marks=marks)
            for number, name in enumerate(names)
            for one in [number % len(SCALES)]
            for scales, marks in (([[*SCALES][one]], ()), ([*SCALES][:one] + [*SCALES][one + 1 :], pytest.mark.slow))
        ],
    )


def draw_lists(chance, grades, open_documents):
    """Grades of judged documents, and two lists that share some; so many documents are unjudged."""
    judged = {f"j{i}": int(chance.choice(list(grades.values()))) for i in range(4)} | {"missed": max(grades.values())}
    free = [f"u{i}" for i in range(open_documents)]
    pool = [*free, *(f"j{i}" for i in range(4))]
    lists = [[str(each) for each in chance.permutation(pool)[: int(chance.integers(2, 7))]] for _ in range(2)]
    return judged, *lists


def list_unjudged(judged, now, before, cutoff):
    """The unjudged documents that stand within the cutoff on one of the sides."""
    return sorted({each for side in (now, before) for each in side[:cutoff]} - set(judged))


def differences(name, judged, now, before, labellings, top):
    """``now - before`` under each labelling, by a path that knows nothing of unjudged documents."""
    queries = {f"q{i}": {**judged, **labels} for i, labels in enumerate(labellings)}
    sides = (dict.fromkeys(queries, side) for side in (now, before))
    return TwoSides(queries, *sides, [name], policies={"scale": top}).difference(str(REGISTRY.parse_metrics([name])[0]))


def look_at(name, scales, seed):
    """Find bounds of some queries beside the lowest and the highest difference of all labellings."""
    return (each for scale in scales for each in look_at_scale(name, scale, seed))


def look_at_scale(name, scale, seed):
    chance = np.random.default_rng([seed, len(name), len(scale)])
    metric = REGISTRY.parse_metrics([name])[0]
    cutoff = None if metric.settings.get("judged_only") else metric.settings.get("cutoff")
    top = TOPS.get(scale, float(max(SCALES[scale].values())))
    for _ in range(4):
        judged, now, before = draw_lists(chance, SCALES[scale], 2 if len(GRADES[scale]) > 4 else 3)
        judged |= {f"used{grade}": grade for grade in SCALES[scale].values()}
        found = TwoSides({"q": judged}, {"q": now}, {"q": before}, [name], policies={"scale": top})
        free = list_unjudged(judged, now, before, cutoff)
        labellings = [dict(zip(free, each, strict=True)) for each in product(GRADES[scale], repeat=len(free))]
        values = [*differences(name, judged, now, before, labellings, top), *found.difference(str(metric))]
        yield found.left_open(str(metric)), metric, min(values), max(values)


@on_every_scale(NAMES)
def test_bounds_are_the_lowest_and_the_highest_difference_of_all_grades(name, scales):
    for found, metric, low, high in look_at(name, scales, 1):
        if found is None:
            assert high - low == pytest.approx(0, abs=1e-12)
            continue
        assert found.exact
        ends = (found.worst[0], found.best[0])[:: -1 if metric.direction == "lower" else 1]
        assert ends == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))


@on_every_scale(NAMES)
def test_bounds_of_more_grades_than_can_be_tried_are_changes_under_some_of_them(name, scales, monkeypatch):
    monkeypatch.setattr("pytest_ireval.statistics.joint_bounds.ENUMERATED", 1)
    for found, metric, low, high in look_at(name, scales, 2):
        if found is None:
            continue
        ends = (found.worst[0], found.best[0])[:: -1 if metric.direction == "lower" else 1]
        assert low - 1e-12 <= ends[0] <= ends[1] <= high + 1e-12
        tight = ends == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))
        assert tight or not found.exact


@on_every_scale(name for name in NAMES if REGISTRY.parse_metrics([name])[0].binary)
def test_a_metric_that_asks_only_what_is_relevant_tells_no_other_grades_apart(name, scales):
    metric = REGISTRY.parse_metrics([name])[0]
    rel = metric.settings["rel"]
    for scale in scales:
        chance = np.random.default_rng(5)
        kinds = [
            [g for g in GRADES[scale] if (g >= rel, g >= 0) == kind]
            for kind in ((True, True), (False, True), (False, False))
        ]
        for _ in range(10):
            judged, now, before = draw_lists(chance, SCALES[scale], 1)
            same = {document: next(kind[0] for kind in kinds if grade in kind) for document, grade in judged.items()}
            first, second = (
                TwoSides({"q": each}, {"q": now}, {"q": before}, [name], policies={"scale": 5.0}).difference(
                    str(metric)
                )
                for each in (judged, same)
            )
            assert first == pytest.approx(second, abs=1e-12)
