"""What the gate says of unjudged documents beside a fall: between which limits judging them could bring it."""

import re

from pytest_ireval import load_suite, run_gate

BOUNDS = re.compile(r"affects? this figure: the change is between (?P<low>[-+][\d.]+) and (?P<high>[-+][\d.]+), ")


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
    (bounds,) = filter(None, map(BOUNDS.search, outcome.facts))
    return bounds["low"], bounds["high"]


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
    assert bounds_in(red) == ("-0.086", "-0.074")
    assert not any("than is allowed, whatever" in fact for fact in red.facts)


def test_no_bounds_of_a_mean_are_shown_beside_a_sum(tmp_path):
    """NumRelRet fell by 1, from 2 to 1: bounds of the mean over queries are not those of this figure. P@3 has them."""
    lists = [{"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["u1"], "q2": ["b", "u2"]}, {"q1": ["a"], "q2": ["b", "v"]}]

    outcomes = gate(tmp_path, *lists, [observed("NumRelRet"), observed("P@3")])

    of_a_sum, of_a_mean = list(outcomes.values())[1:]
    assert (of_a_sum.verdict, of_a_mean.verdict) == ("fail", "fail")
    assert [fact for fact in of_a_sum.facts if "unjudged" in fact] == []
    assert bounds_in(of_a_mean) == ("-0.333", "+0.167")


def test_the_note_on_judged_documents_says_what_becomes_of_the_others(tmp_path):
    head = "judgments: {file: judgments.txt, unjudged: removed}"

    outcomes = gate(tmp_path, *BELOW.values(), [observed("nDCG@3")], head=head)

    assert "67% of the first 3 documents are judged; the others are removed" in outcomes["inputs"].facts
