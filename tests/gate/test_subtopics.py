"""Subtopics come from the judgments to the metrics of a suite and of the command line; without them it is an error."""

import math

import pytest
from suite_files import write_rankings, write_suite

RULES = (
    "threshold: {alpha_nDCG@10: '>= 0.2'}",
    "no_regression: {metric: alpha_nDCG@10, tolerance: 1%, decide_by: observed}",
)
QUERIES = ("q1", "q2", "q3", "q4")
DIVERSITY = "".join(f"{q} 1 {q}-a 1\n{q} 1 {q}-b 1\n{q} 2 {q}-c 2\n{q} 2 {q}-a 0\n" for q in QUERIES)
TABLE = "query\tsubtopic\tdocument\tgrade\n" + DIVERSITY.replace(" ", "\t")
PLAIN = "".join(f"{q} 0 {q}-a 1\n{q} 0 {q}-b 1\n{q} 0 {q}-c 1\n" for q in QUERIES)
DIVERSE, ALIKE = "acb", "abc"


class Topics:
    def __init__(self, shop):
        self.shop = shop
        for path in shop.path.iterdir():
            path.unlink()
        self.judge(DIVERSITY)
        write_suite(shop.path, *RULES, depth=10, judgments="{file: judgments.txt, format: trec-diversity}")
        self.rank(DIVERSE)

    def judge(self, text):
        (self.shop.path / "judgments.txt").write_text(text)

    def rank(self, order):
        write_rankings(self.shop.path / "rankings.txt", {query: [f"{query}-{d}" for d in order] for query in QUERIES})

    def judge_in_known_format(self, text):
        """Write judgments in a format that is recognized."""
        self.judge(text)
        write_suite(self.shop.path, *RULES, depth=10)


@pytest.fixture
def topics(shop):
    return Topics(shop)


THRESHOLD, REGRESSION = "threshold::alpha_nDCG_10", "no_regression::alpha_nDCG_10.all"
WORSE = (1 + 0.5 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3) + 0.5 / 2)


def figures(topics):
    """The subtopics of the baseline, and those of the current run."""
    (suite,) = topics.shop.results()["suites"]
    (metric,) = suite["metrics"]
    return metric["baseline"], metric["now"]


@pytest.mark.parametrize("table", [False, True], ids=["second column", "column of a table"])
def test_a_diversity_metric_has_a_value_and_its_regression_is_red(topics, table):
    if table:
        topics.judge_in_known_format(TABLE)
    topics.shop.accept()
    topics.rank(ALIKE)  # the same documents, but the second repeats the subtopic of the first

    topics.shop.gate()

    assert topics.shop.verdicts() == {"inputs": "pass", THRESHOLD: "pass", REGRESSION: "fail"}
    assert figures(topics) == pytest.approx((1, WORSE))


def test_the_baseline_is_scored_under_the_subtopics_of_now(topics):
    topics.rank(ALIKE)
    topics.shop.accept()
    topics.judge(DIVERSITY.replace("q1 1 q1-b", "q1 3 q1-b"))  # now the first two differ

    result = topics.shop.run()

    assert result.ret == 0
    assert figures(topics) == pytest.approx(((1 + 3 * WORSE) / 4, (1 + 3 * WORSE) / 4))
    result.stdout.fnmatch_lines(["since the baseline: judgments of 1 query changed*"])


def test_a_suite_without_subtopics_is_an_error_at_collection(topics):
    topics.judge_in_known_format(PLAIN)

    result = topics.shop.run("shop.ireval.yaml::threshold")

    assert result.ret != 0
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR collecting shop.ireval.yaml*",
            "shop.ireval.yaml:7:17",
            "  alpha_nDCG@10 needs subtopics, and judgments.txt names none",
            "  if its second column is the subtopic, write judgments: {file: …, format: trec-diversity}",
            "  a table has the subtopic in the column subtopic",
        ]
    )


def test_an_iteration_does_not_become_a_subtopic_unasked(topics):
    topics.judge_in_known_format(PLAIN)
    topics.judge(DIVERSITY)

    result = topics.shop.run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "judgments.txt",
            "  its judgments could be in format trec or trec-diversity",
            "  choose one: judgments: {file: *",
        ]
    )


def test_evaluate_takes_them_from_the_second_column_or_from_a_column_of_a_table(topics, ireval, monkeypatch):
    monkeypatch.chdir(topics.shop.path)
    evaluate = ("evaluate", "judgments.txt", "rankings.txt", "-m", "alpha_nDCG@10", "--format", "trec")

    outcome = ireval(*evaluate, "--judgments-format", "trec-diversity")
    assert (outcome.code, outcome.out.split()) == (0, ["alpha_nDCG@10", "all", "1.0000000000"])

    topics.judge_in_known_format(TABLE)
    topics.rank(ALIKE)
    assert ireval(*evaluate).out.split() == ["alpha_nDCG@10", "all", f"{WORSE:.10f}"]

    topics.judge_in_known_format(PLAIN)
    outcome = ireval(*evaluate)
    assert outcome.code == 2
    assert outcome.err.startswith("error: alpha_nDCG@10\n  needs subtopics\n")
    assert "--judgments-format trec-diversity" in outcome.err


def test_why_shows_the_steps_of_a_query_of_the_last_run(topics, ireval, monkeypatch):
    topics.shop.accept()
    topics.rank(ALIKE)
    topics.shop.run()
    monkeypatch.chdir(topics.shop.path)

    outcome = ireval("why", "alpha_nDCG@10", "--suite", "shop.ireval.yaml", "--query", "q1")

    assert outcome.code == 0, outcome.err
    assert "subtopics" in outcome.out
