"""What the gate says of unjudged documents beside a fall: between which limits judging them could bring it."""

import re

from suite_files import run_suite, write_judgments, write_rankings

BEFORE = "{run: before.txt}"
BOUNDS = re.compile(r"with the worst grades the change is (?P<low>[-+][\d.]+), with the best (?P<high>[-+][\d.]+); ")


def compare_lists(folder, grades, now, before, *rules, **keys):
    """The outcomes of a suite with these rankings and rules, that of the inputs first."""
    write_judgments(folder / "judgments.txt", grades)
    write_rankings(folder / "now.txt", now)
    write_rankings(folder / "before.txt", before)
    return run_suite(folder, *rules, source="{run: now.txt}", depth=20, **keys).outcomes


def rule_for(metric, tolerance="0%"):
    return f"no_regression: {{metric: {metric}, tolerance: {tolerance}, decide_by: observed, against: {BEFORE}}}"


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

    _, compared = compare_lists(tmp_path, *BELOW.values(), rule_for("nDCG@3"))
    _, compared_without = compare_lists(tmp_path, *without.values(), rule_for("nDCG@3"))

    assert (
        "1 unjudged document in the first 3 ranks: with the worst grades the change is -0.307, with the best +0.000; "
        "with judged documents alone it is -0.226"
    ) in compared.facts
    expected = "1 unjudged document: with the worst grades the change is "
    assert any(expected in fact for fact in compared_without.facts)


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
    rule = rule_for("DCG@10", "7%")

    _, red = compare_lists(tmp_path, judged, LATE["now"], LATE["before"], rule)
    _, after_judging = compare_lists(tmp_path, later, LATE["now"], LATE["before"], rule)

    assert (red.verdict, after_judging.verdict) == ("fail", "pass")
    assert bounds_in(red) == ("-0.086", "-0.074")


def test_no_bounds_of_a_mean_are_shown_beside_a_sum(tmp_path):
    """NumRelRet fell by 1, from 2 to 1: bounds of the mean over queries are not those of this figure. P@3 has them."""
    lists = [{"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["u1"], "q2": ["b", "u2"]}, {"q1": ["a"], "q2": ["b", "v"]}]

    _, of_a_sum, of_a_mean = compare_lists(tmp_path, *lists, rule_for("NumRelRet"), rule_for("P@3"))
    assert (of_a_sum.verdict, of_a_mean.verdict) == ("fail", "fail")
    assert [fact for fact in of_a_sum.facts if "unjudged" in fact] == []
    assert bounds_in(of_a_mean) == ("-0.333", "+0.167")


def test_the_note_on_judged_documents_says_what_becomes_of_the_others(tmp_path):
    judgments = "{file: judgments.txt, unjudged: removed}"

    inputs, _ = compare_lists(tmp_path, *BELOW.values(), rule_for("nDCG@3"), judgments=judgments)

    assert "67% of the first 3 documents are judged; the others are removed" in inputs.facts
