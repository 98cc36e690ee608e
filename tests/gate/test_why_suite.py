"""``ireval why --suite``: the baseline beside what the source returns now, under the policies of the suite."""

import pytest


@pytest.fixture
def accepted(shop):
    shop.accept()
    shop.pytester.chdir()
    return shop


def test_the_baseline_stands_beside_the_ranking_of_now(accepted, ireval):
    accepted.rankings["q03"] = ["q03-n1", "q03-d0"]
    accepted.write()

    out = ireval("why", "nDCG@10", "--suite", "shop.ireval.yaml", "--query", "q03").out

    assert out.startswith("nDCG@10 of query q03: 1.0000 -> 0.3")
    assert "judgments: judgments.txt; rankings: the baseline of 2026-11-1" in out
    assert "(A) -> run: rankings.txt (B)" in out
    assert "#1 -> #2" in next(line for line in out.splitlines() if line.startswith("q03-d0 "))


def test_without_a_query_the_one_that_changed_most_is_explained(accepted, ireval):
    accepted.rankings["q07"] = ["q07-n1"]
    accepted.write()

    assert ireval("why", "P@3", "--suite", "shop.ireval.yaml").out.startswith(
        "P@3 of query q07 (the largest difference of 10 queries): 1.0000 -> 0.0000 (-1.0000)\n"
    )


def test_without_a_baseline_the_ranking_of_now_is_explained(shop, ireval):
    shop.pytester.chdir()

    out = ireval("why", "RR@10", "--suite", "shop.ireval.yaml", "--query", "q01").out

    assert out.startswith("RR@10 of query q01: 1.0000\n")


def test_the_lowest_relevant_grade_of_the_suite_counts(shop, ireval):
    shop.change(("judgments: judgments.txt", "judgments: {file: judgments.txt, relevant_from: 3}"))
    shop.pytester.chdir()

    out = ireval("why", "P@3", "--suite", "shop.ireval.yaml", "--query", "q01").out

    assert out.startswith("P(rel=3)@3 of query q01: 0.3333\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("judgments.txt", "rankings.txt"), "--suite brings its own files and policies: name neither beside it"),
        (("--ties", "input"), "--suite brings its own files and policies: name neither beside it"),
        (("--named", "other"), "has no suite 'other'"),
    ],
)
def test_what_makes_no_sense_beside_a_suite_is_refused(accepted, ireval, arguments, says):
    result = ireval("why", "RR@10", *arguments, "--suite", "shop.ireval.yaml", "--query", "q01")

    assert result.code == 2
    assert says in result.err


def test_a_metric_of_two_lists_has_no_arithmetic_of_one(accepted, ireval):
    result = ireval("why", "RBO", "--suite", "shop.ireval.yaml", "--query", "q01")

    assert result.code == 2
    assert "compares two lists and has no arithmetic of one" in result.err
