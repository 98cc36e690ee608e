"""What the gate says of unjudged documents is true of all grades that judges could give them: tried in whole runs."""

import random
import re
from itertools import product

import pytest

from pytest_ireval import evaluate, load_registry, load_suite, run_gate

REGISTRY = load_registry()
K = 3
OTHER_DATA = {
    *("reference", "unjudged", "judgments", "subtopics", "sessions", "preferences", "timings", "collection", "fields")
}
WITH_CUTOFF = [
    f"{metric.name}(wanted=2)@{K}" if metric.name == "RelativeRecall" else f"{metric.name}@{K}"
    for metric in REGISTRY.metrics.values()
    if metric.at == "cutoff" and metric.unit == "query" and metric.direction != "neither"
    if not metric.needs & OTHER_DATA and metric.name not in ("Judged", "Unjudged")  # no grade is better for them
]
WITH_CUTOFF += [f"AP(rel=2)@{K}", f"Q(denominator='min')@{K}", f"nDCG(gain='exp')@{K}", f"nDCG(ideal='retrieved')@{K}"]
BOUNDS = re.compile(
    r"(?P<count>\d+) unjudged documents? affects? this figure: the change is between (?P<about>about )?"
    r"(?P<low>[-+][\d.]+) and (?P<high>[-+][\d.]+), whatever grades? (?:they get|it gets)"
    r"(?: \(documents below rank (?P<below>\d+) count as judged\))?; "
)


def write_suite(folder, judgments, now, before, rules, head=""):
    """A suite of rankings in falling order, compared with others; ``rules`` are lines of YAML."""
    lines = [f"{q} 0 {d} {grade}\n" for q, grades in judgments.items() for d, grade in grades.items()]
    (folder / "judgments.txt").write_text("".join(lines))
    for name, lists in (("now", now), ("before", before)):
        lines = [f"{q} Q0 {d} {n} {-n} x\n" for q, ids in lists.items() for n, d in enumerate(ids, 1)]
        (folder / f"{name}.txt").write_text("".join(lines))
    metrics = sorted({re.search(r'metric: ("[^"]+"|[^ ,}]+)', rule)[1] for rule in rules})
    text = ["ireval: 1", "suite: s", "source: {run: now.txt}", f"metrics: [{', '.join(metrics)}]"]
    text += [head or "judgments: judgments.txt", "depth: 20", "rules:", *(f"  - {rule}" for rule in rules)]
    (folder / "s.ireval.yaml").write_text("\n".join(text) + "\n")
    return folder / "s.ireval.yaml"


def gate(folder, *suite, **more):
    return {each.id: each for each in run_gate(load_suite(write_suite(folder, *suite, **more))).outcomes}


def observed(metric, tolerance="0%"):
    return (
        f'no_regression: {{metric: "{metric}", tolerance: {tolerance}, decide_by: observed, '
        "against: {run: before.txt}}"
    )


def bounds_in(outcome):
    found = [BOUNDS.match(fact) for fact in outcome.facts if "this figure: the change is between" in fact]
    return found[0] if found else None


def draw_lists(chance, best, others):
    """The current list and the baseline's of one query: ``best`` is first in the baseline, and lower now."""
    now, before = (chance.sample(others, chance.randint(K, K + 3)) for _ in range(2))
    now.insert(chance.randint(1, K), best)
    return now, [best, *before]


def changes_under_all_grades(metrics, judgments, now, before, grades, cutoff):
    """The least and the greatest change of each metric, whatever grades the documents down to the cutoff get."""
    free = sorted({document for side in (now, before) for document in side[:cutoff]} - set(judgments))
    ways = [dict(zip(free, way, strict=True)) for way in product(grades, repeat=len(free))]
    graded = {f"way{number}": {**judgments, **way} for number, way in enumerate(ways)} | {"as it is": judgments}
    sides = [evaluate(graded, {way: _falling(side) for way in graded}, metrics) for side in (now, before)]
    found = {}
    for ours, theirs in zip(*(side.metrics for side in sides), strict=True):
        changes = [ours.values[way] - theirs.values[way] for way in graded]
        found[ours.name] = (min(changes), max(changes))
    return found


def _falling(documents):
    return [(document, -rank) for rank, document in enumerate(documents)]


@pytest.mark.parametrize(("seed", "grades"), [(0, (0, 1)), (1, (0, 1, 2))], ids=["relevant or not", "three grades"])
def test_bounds_hold_for_all_grades_of_the_first_documents_and_say_so(tmp_path, seed, grades):
    """Documents below rank 3 in both lists count as judged, and the sentence says so where they could matter."""
    chance = random.Random(seed)
    judgments, now, before = {}, {}, {}
    for query in ("q1", "q2"):
        judged = [f"{query}j{number}" for number in range(4)]
        grade = {each: chance.choice(grades) for each in judged}
        judgments[query] = {**grade, f"{query}best": max(grades), f"{query}missed": max(grades)}
        unjudged = [f"{query}u{number}" for number in range(3)]
        now[query], before[query] = draw_lists(chance, f"{query}best", [*judged, *unjudged])
    metrics = {str(each): each for each in REGISTRY.parse_metrics(WITH_CUTOFF) if each.aggregate == "mean"}
    first, listed = (
        [changes_under_all_grades(list(metrics), judgments[q], now[q], before[q], grades, cutoff) for q in judgments]
        for cutoff in (K, None)
    )

    outcomes = gate(tmp_path, judgments, now, before, [observed(name) for name in metrics])

    shown = 0
    for name, outcome in zip(metrics, list(outcomes.values())[1:], strict=True):
        if outcome.verdict != "fail":
            continue  # the bounds are shown beside a fall
        low, high = (sum(each[name][end] for each in first) / 2 for end in (0, 1))
        found = bounds_in(outcome)
        if found is None:
            assert high - low == pytest.approx(0, abs=1e-9), name
            continue
        shown += 1
        assert found["about"] is None
        assert (float(found["low"]), float(found["high"])) == pytest.approx((low, high), abs=6e-4), name
        assert found["below"] in (None, str(K))
        if any(each[name] != pytest.approx(more[name]) for each, more in zip(first, listed, strict=True)):
            assert found["below"] == str(K), name
    assert shown > 20


BELOW = {
    "judgments": {"q": {"best": 1, "a": 0, "missed": 1}},
    "now": {"q": ["u1", "a", "best", "u2"]},
    "before": {"q": ["best", "a", "u1", "u3"]},
}
"""u2 and u3 are below rank 3: if u2 were relevant, nDCG@3 would have another ideal."""


def test_which_documents_count_as_judged_is_said_where_there_are_some_below_the_cutoff(tmp_path):
    without = {**BELOW, "now": {"q": ["u1", "a", "best"]}, "before": {"q": ["best", "a", "u1"]}}

    facts, facts_without = (
        list(gate(tmp_path, *lists.values(), [observed("nDCG@3")]).values())[1].facts for lists in (BELOW, without)
    )

    assert (
        "1 unjudged document affects this figure: the change is between -0.307 and +0.000, whatever grade it gets "
        "(documents below rank 3 count as judged); without unjudged documents the change is -0.226"
    ) in facts
    assert any("whatever grade it gets; without unjudged documents the change is -0.226" in f for f in facts_without)


LATE = {
    "judgments": {f"q{n}": {"best": 1, "n": 0} for n in range(10)},
    "now": {f"q{n}": [*(["a", "best"] if n < 2 else ["best", "a"]), *"cdefgh", "n", "u"] for n in range(10)},
    "before": {f"q{n}": ["best", "a", *"cdefgh", "u", "n"] for n in range(10)},
}
"""In two queries of ten the best document fell to rank 2; in all of them u, which nobody judged, from 9 to 10."""


def test_a_fall_is_not_called_certain_where_grades_could_bring_it_within_the_tolerance(tmp_path):
    """Were u relevant, the mean of the baseline would be larger, and so would 7% of it."""
    judged = {query: {**grades, **dict.fromkeys("acdefgh", 0)} for query, grades in LATE["judgments"].items()}
    later = {query: {**grades, "u": 1} for query, grades in judged.items()}
    lists, rule = (LATE["now"], LATE["before"]), [observed("DCG@10", "7%")]

    red = list(gate(tmp_path, judged, *lists, rule).values())[1]
    after_judging = list(gate(tmp_path, later, *lists, rule).values())[1]

    assert (red.verdict, after_judging.verdict) == ("fail", "pass")
    assert (bounds_in(red)["low"], bounds_in(red)["high"]) == ("-0.086", "-0.074")
    assert not any("than is allowed, whatever" in fact for fact in red.facts)


def test_no_bounds_of_a_mean_are_shown_beside_a_sum(tmp_path):
    """NumRelRet fell by 1, from 2 to 1: bounds of the mean over queries are not those of this figure. P@3 has them."""
    lists = [{"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["u1"], "q2": ["b", "u2"]}, {"q1": ["a"], "q2": ["b", "v"]}]

    outcomes = gate(tmp_path, *lists, [observed("NumRelRet"), observed("P@3")])

    of_a_sum, of_a_mean = list(outcomes.values())[1:]
    assert (of_a_sum.verdict, of_a_mean.verdict) == ("fail", "fail")
    assert [fact for fact in of_a_sum.facts if "unjudged" in fact] == []
    assert (bounds_in(of_a_mean)["low"], bounds_in(of_a_mean)["high"]) == ("-0.333", "+0.167")


def test_the_note_on_judged_documents_says_what_becomes_of_the_others(tmp_path):
    head = "judgments: {file: judgments.txt, unjudged: removed}"

    outcomes = gate(tmp_path, *BELOW.values(), [observed("nDCG@3")], head=head)

    assert "67% of the first 3 documents are judged; the others are removed" in outcomes["inputs"].facts
