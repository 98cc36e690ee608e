"""A fall that unjudged documents may be to blame for is no failure for certain; one that they are not is."""

import pytest
from town import Town

BY_EVIDENCE = "no_regression: {metric: RR@10, tolerance: 2%, hard_limit: 90%}"
OBSERVED = "no_regression: {metric: RR@10, tolerance: 2%, decide_by: observed}"
SAME, LOSS, BELOW_NEW = (2, 2), (1, 2), (1, -2)


def test_a_fall_behind_documents_that_nobody_judged_is_inconclusive_and_says_what_to_judge(town):
    found = town((SAME, 60), (BELOW_NEW, 40))
    outcome = found.only(BY_EVIDENCE)

    assert (outcome.verdict, outcome.warning) == ("inconclusive", True)
    open_yet = "grades for 40 unjudged documents could change this verdict"
    assert outcome.headline.endswith(f"(tolerance 2%, statistically significant): {open_yet}")
    assert len(found.result.to_judge) == 40
    assert found.result.to_judge[0].document.endswith("-new0")


def test_an_observed_fall_says_whether_judgments_could_undo_it(town):
    undone = town((SAME, 60), (BELOW_NEW, 40)).only(OBSERVED)
    certain = town((SAME, 40), (LOSS, 40), (BELOW_NEW, 20)).only(OBSERVED)

    assert (undone.verdict, certain.verdict) == ("fail", "fail")
    assert (
        "40 unjudged documents: with the worst grades the change is -0.200, with the best +0.000; "
        "with judged documents alone it is +0.000"
    ) in undone.facts
    assert (
        "20 unjudged documents: with the worst grades the change is -0.300, with the best -0.200; "
        "with judged documents alone it is -0.200"
    ) in certain.facts


def test_one_unjudged_document_gets_one_grade(town):
    outcome = town((SAME, 40), (LOSS, 40), (BELOW_NEW, 1)).only("no_regression: {metric: RR@10, tolerance: 2%}")

    assert outcome.facts[0].startswith(
        "1 unjudged document: with the worst grades the change is -0.253, with the best -0.247; "
    )


def test_a_pass_says_nothing_of_judgments(town):
    rule = BY_EVIDENCE.replace("2%", "8%")
    outcome = town((SAME, 180), ((-3, 2), 20)).only(rule)

    assert outcome.verdict == "pass"
    assert outcome.facts == ()


WORSENED = "worsened: {metric: RR@10, by_more_than: 0.3}"
EQUIVALENT = "equivalent: {metric: RR@10, tolerance: 2%}"


@pytest.mark.parametrize("text", [BY_EVIDENCE, WORSENED, EQUIVALENT])
def test_what_judgments_could_undo_is_inconclusive_or_red_if_the_suite_says_so(text, town):
    undone = town((SAME, 60), (BELOW_NEW, 40)).only(text)
    certain = town((SAME, 40), (LOSS, 40), (BELOW_NEW, 20)).only(text)
    asked = town((SAME, 60), (BELOW_NEW, 40)).only(text.replace("}", ", on_inconclusive: fail}"))

    assert (undone.verdict, undone.warning) == ("inconclusive", True)
    assert "grades for 40 unjudged documents could change this verdict" in undone.headline
    assert (certain.verdict, asked.verdict) == ("fail", "fail")


def test_a_handful_of_queries_that_are_left_without_unjudged_documents_confirms_nothing(town):
    """Six queries that fell, and forty whose lists nobody knows: the best labels make the mean rise."""
    some = town((LOSS, 6), ((5, 5), 40))
    path = some.folder / "now.txt"
    path.write_text("".join(unknown(line) for line in path.read_text().splitlines(keepends=True)))

    outcome = some.only(BY_EVIDENCE.replace("}", ", min_queries: 20}"))

    assert (outcome.verdict, outcome.warning) == ("inconclusive", True)
    assert outcome.headline.endswith("grades for 240 unjudged documents could change this verdict")
    assert "with judged documents alone, on the 6 queries that have some, it is -0.500" in " ".join(outcome.facts)


def unknown(line):
    """The document of one of the forty under an id that nobody knows."""
    query, _, document, *more = line.split()
    return line if query < "q0006" else " ".join([query, "Q0", f"other-{document}", *more]) + "\n"


def test_of_a_weighted_mean_what_documents_hold_is_weighted(tmp_path):
    weights = [1] * 60 + [3] * 40
    outcome = Town(tmp_path / "town", [SAME] * 60 + [BELOW_NEW] * 40, weights=weights).only(
        BY_EVIDENCE.replace("}", ", weighted: true}")
    )

    assert outcome.figures[0].change == pytest.approx(-0.5 * 120 / 180)
    said = "40 unjudged documents count as irrelevant, and good grades would help: judge them first (to_judge.tsv)"
    assert said in outcome.facts
