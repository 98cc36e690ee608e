"""Stages of one answer: where relevant documents were lost, what reranking could reach, and rules about a stage."""

import json
from datetime import date

import numpy as np
import pytest
from suite_files import outcomes_by_id, write_judgments, write_rankings, write_suite

from pytest_ireval import load_suite, run_gate
from pytest_ireval.baseline.record import Acceptance
from pytest_ireval.baseline.text import decode_baseline, encode_baseline
from pytest_ireval.baseline.writing import write_baseline
from pytest_ireval.errors import SuiteError
from pytest_ireval.gate.acceptance import propose_baseline
from pytest_ireval.gate.collect import StoredReference, collect_inputs
from pytest_ireval.gate.rank import rank_suite
from pytest_ireval.gate.run import make_plan
from pytest_ireval.gate.score import score_inputs
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.report.formatting import describe_cause
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.plain import from_plain, to_plain

QUERIES = [f"q{number:02}" for number in range(20)]
RULES = (
    "no_regression: {metric: nDCG@3, tolerance: 1%, decide_by: observed}",
    "no_regression: {metric: R@8, stage: retrieve, tolerance: 1%, decide_by: observed}",
)
SOURCE = "{run: [retrieve.trec, rerank.trec], stages: [retrieve, rerank]}"
RANKING, RETRIEVAL = "no_regression::nDCG_3.all", "no_regression::R_8.retrieve.all"
GOOD, FAIR = (grade / (2 + 1 / np.log2(3)) for grade in (2, 1))
"""nDCG@3 of a ranking with one of the two relevant documents, at its top."""


class Pipeline:
    """A suite of two stages: the good document is retrieved at rank 6, and reranked to the top."""

    def __init__(self, folder):
        self.folder = folder
        self.retrieved = {query: [*(f"n{n}" for n in range(5)), "good", "fair", "n5"] for query in QUERIES}
        self.reranked = {query: ["good", "fair", *(f"n{n}" for n in range(3))] for query in QUERIES}
        self.judgments = {query: {"good": 2, "fair": 1, "n0": 0} for query in QUERIES}
        self.write()

    def write(self, *rules, **keys):
        write_rankings(self.folder / "retrieve.trec", self.retrieved)
        write_rankings(self.folder / "rerank.trec", self.reranked)
        write_judgments(self.folder / "judgments.txt", self.judgments)
        write_suite(self.folder, *(rules or RULES), **{"depth": 5, "source": SOURCE, **keys})

    @property
    def suite(self):
        return load_suite(self.folder / "shop.ireval.yaml")

    def accept(self):
        inputs = collect_inputs(self.suite, today=date(2026, 1, 1))
        baseline = propose_baseline(inputs, score_inputs(inputs)).make_baseline(Acceptance("2026-01-01T00:00:00Z"))
        if baseline is not None:
            write_baseline(self.suite.baselines, baseline)
        return baseline

    def lose(self, queries, *, retrieved, reranked):
        for query in queries:
            self.retrieved[query] = retrieved
            self.reranked[query] = reranked
        self.write()

    def gate(self):
        self.result = run_gate(self.suite)
        return {each.id: each.verdict for each in self.result.outcomes}

    def outcome(self, name):
        return outcomes_by_id(self.result)[name]


@pytest.fixture
def pipeline(tmp_path):
    pipeline = Pipeline(tmp_path)
    pipeline.accept()
    return pipeline


NOISE = [f"n{n}" for n in range(8)]


def test_nothing_is_red_and_nothing_is_said_where_nothing_was_lost(pipeline):
    pipeline.retrieved["q00"] = ["good", "fair", "n9", *NOISE[:5]]
    pipeline.reranked["q01"] = ["good", "fair", "n7", "n6"]
    pipeline.write()

    assert set(pipeline.gate().values()) == {"pass"}
    assert not pipeline.result.diagnoses
    assert not any(change.lost for outcome in pipeline.result.outcomes for change in outcome.queries)


def test_a_document_that_is_not_retrieved_is_a_loss_of_the_first_stage_and_lowers_the_ceiling(pipeline):
    pipeline.lose(QUERIES[:9], retrieved=["fair", *NOISE], reranked=["fair", *NOISE[:3]])

    assert pipeline.gate() == {"inputs": "pass", RANKING: "fail", RETRIEVAL: "fail"}
    red = pipeline.outcome(RANKING)
    (lost,) = red.queries[0].lost
    assert (lost.document, lost.grade, lost.stage) == ("good", 2, "retrieve")
    assert lost.ranks == {"retrieve": None, "rerank": None}
    assert lost.ranks_before == {"retrieve": 6, "rerank": 1}
    assert red.queries[0].ceiling == pytest.approx(FAIR)
    assert red.queries[0].ceiling_baseline == 1
    assert red.queries[0].note == (
        "good (grade 2) not retrieved (before: retrieve #6, rerank #1); ceiling 0.380 (before 1.000)"
    )
    assert red.numbers["ceiling"] == pytest.approx((9 * FAIR + 11) / 20)
    assert red.numbers["ceiling_baseline"] == 1
    best = (
        "the best order of what retrieve returned has nDCG@3 0.7210 (before 1.0000), "
        "of which rerank reaches 100% (before 100%)"
    )
    assert f"ceiling: {best}" in red.facts
    assert from_plain(to_plain(red), Outcome) == red, "as results.json and other processes have it"
    assert pipeline.result.diagnoses[0].headline == (
        f"retrieve lost relevant documents in 9 of 9 worse queries; rerank is as good as before: {best}"
    )
    assert describe_cause(pipeline.result.diagnoses[0]).endswith("; all of the loss of nDCG@3 comes from retrieve")
    assert pipeline.outcome(RETRIEVAL).queries[0].note == "good (grade 2) not retrieved (before: retrieve #6)"
    assert pipeline.outcome(RETRIEVAL).queries[0].best is None, "documents of the ranking say nothing of retrieval"


def test_a_document_that_is_retrieved_and_cut_is_a_loss_of_the_stage_that_cut_it(pipeline):
    pipeline.lose(QUERIES[:6], retrieved=["good", "fair", *NOISE[:6]], reranked=["fair", *NOISE[:3]])

    assert pipeline.gate() == {"inputs": "pass", RANKING: "fail", RETRIEVAL: "pass"}
    change = pipeline.outcome(RANKING).queries[0]
    assert change.lost[0].stage == "rerank"
    assert change.ceiling == change.ceiling_baseline == 1
    assert change.note.startswith("good (grade 2) retrieved (retrieve #1) and cut by rerank (before: ")
    headline = pipeline.result.diagnoses[0].headline
    assert headline.startswith(
        "rerank lowered or cut relevant documents in 6 of 6 worse queries; "
        "rerank reaches less of what was possible than before: "
    )
    assert headline.endswith(" has nDCG@3 1.0000 (before 1.0000), of which rerank reaches 81% (before 100%)")
    assert describe_cause(pipeline.result.diagnoses[0]).endswith("; all of the loss of nDCG@3 comes from rerank")


def test_a_document_that_is_reranked_below_the_cutoff_is_a_loss_of_the_last_stage(pipeline):
    pipeline.reranked |= {query: ["fair", *NOISE[:3], "good"] for query in QUERIES[:3]}
    pipeline.lose(QUERIES[3:5], retrieved=["fair", *NOISE], reranked=["fair", *NOISE[:3]])

    pipeline.gate()

    notes = {change.query: change.note for change in pipeline.outcome(RANKING).queries}
    assert notes["q00"].startswith("good (grade 2) retrieved (retrieve #6) and reranked away to #5 (before: ")
    assert "rerank lowered or cut relevant documents in 3 of 5 worse queries, retrieve in 2; " in (
        pipeline.result.diagnoses[0].headline
    )


def test_where_both_stages_got_worse_the_one_with_the_larger_part_of_the_loss_is_named_first(pipeline):
    pipeline.lose(QUERIES[:8], retrieved=[*NOISE, "good"], reranked=[*NOISE[:2], "good"])
    pipeline.lose(QUERIES[8:9], retrieved=["fair", *NOISE], reranked=["fair", *NOISE[:3]])

    pipeline.gate()

    assert pipeline.outcome(RANKING).queries[0].lost[0].stage == "retrieve", "the only lost document of each query"
    cause = pipeline.result.diagnoses[0]
    assert (cause.stage, cause.affected) == ("rerank", 8)
    assert cause.headline.startswith(
        "rerank lowered or cut relevant documents in 8 of 9 worse queries, retrieve in 1; "
        "rerank reaches less of what was possible than before: "
    )
    assert cause.advice.startswith("look at what rerank does with ")
    assert cause.explained == pytest.approx(8 * (GOOD - GOOD / 2) / (8 * (1 - GOOD / 2) + 1 - FAIR))
    assert describe_cause(cause).endswith("; 55% of the loss of nDCG@3 comes from rerank")


def test_an_earlier_stage_lost_as_much_of_the_ceiling_as_was_reached_before_and_at_most_the_loss(pipeline):
    pipeline.reranked = {query: [*NOISE[:2], "good", "fair"] for query in QUERIES}
    pipeline.write()
    pipeline.accept()
    pipeline.lose(QUERIES[:5], retrieved=["fair", *NOISE], reranked=[*NOISE[:2], "fair"])
    pipeline.lose(QUERIES[5:9], retrieved=["fair", *NOISE], reranked=NOISE[:5])

    pipeline.gate()

    cause = pipeline.result.diagnoses[0]
    assert cause.headline.startswith("retrieve lost relevant documents in 9 of 9 worse queries; rerank reaches less of")
    before = GOOD / 2
    retrieval = 5 * (before - FAIR / 2) + 4 * before * (1 - FAIR)
    assert cause.explained == pytest.approx(retrieval / (5 * (before - FAIR / 2) + 4 * before))


def test_one_of_two_retrievers_is_not_blamed_for_what_it_never_returned(tmp_path):
    pipeline = Pipeline(tmp_path)
    three = "{run: [words.trec, retrieve.trec, rerank.trec], stages: [words, vectors, rerank]}"
    rules = ("no_regression: {metric: nDCG@3, tolerance: 1%, decide_by: observed}",)
    write_rankings(tmp_path / "words.trec", {query: ["fair", *NOISE[:3]] for query in QUERIES})
    pipeline.write(*rules, source=three)
    pipeline.accept()
    pipeline.retrieved |= dict.fromkeys(QUERIES[:5], NOISE)
    pipeline.reranked |= {query: ["fair", *NOISE[:3]] for query in QUERIES[:5]}
    pipeline.write(*rules, source=three)

    pipeline.gate()

    change = pipeline.outcome(RANKING).queries[0]
    assert change.lost[0].stage == "vectors"
    assert change.ceiling == pytest.approx(0.380, abs=1e-3), "words still returned the fair one"
    assert pipeline.result.diagnoses[0].headline.startswith("vectors lost relevant documents in 5 of 5 worse queries")


def test_a_document_that_was_judged_later_is_unknown_in_the_baseline_and_not_a_gain_of_retrieval(pipeline):
    for query in QUERIES:
        pipeline.judgments[query]["n5"] = 2
    pipeline.reranked |= {query: ["fair", "n0", "n1", "n2", "n5"] for query in QUERIES}
    pipeline.write()

    assert pipeline.gate() == {"inputs": "pass", RANKING: "fail", RETRIEVAL: "pass"}
    (figures, *_) = pipeline.outcome(RETRIEVAL).figures
    assert (figures.now, figures.baseline, figures.worse, figures.better) == (1, 1, 0, 0)
    assert pipeline.outcome(RANKING).queries[0].ceiling_baseline is None
    assert "ceiling_baseline" not in pipeline.outcome(RANKING).numbers
    assert "the best order" not in pipeline.result.diagnoses[0].headline
    notes = pipeline.result.notes
    assert "R@8 of retrieve is compared without 20 documents judged later: their earlier ranks were not kept" in notes


def test_a_judged_later_document_is_said_to_be_unknown_and_not_to_have_been_missing(tmp_path):
    pipeline = Pipeline(tmp_path)
    for query in QUERIES:
        del pipeline.judgments[query]["good"]
    pipeline.write()
    pipeline.accept()
    for query in QUERIES:
        pipeline.judgments[query]["good"] = 2
    pipeline.lose(QUERIES, retrieved=["fair", *NOISE], reranked=["fair", *NOISE[:3]])

    pipeline.gate()

    note = pipeline.outcome(RANKING).queries[0].note
    assert note == "good (grade 2) not retrieved (before: rerank #1; unknown in retrieve); ceiling 0.380"
    assert pipeline.outcome(RETRIEVAL).verdict == "pass"


def test_a_judgment_that_is_gone_since_leaves_the_rest_of_the_stage_as_it_was(pipeline):
    for query in QUERIES:
        del pipeline.judgments[query]["fair"]
    pipeline.write()

    assert set(pipeline.gate().values()) == {"pass"}


def test_a_baseline_that_was_accepted_without_stages_is_an_error_of_the_rule_that_needs_them(tmp_path):
    pipeline = Pipeline(tmp_path)
    pipeline.write(RULES[0], source="{run: rerank.trec}")
    pipeline.accept()
    pipeline.write()

    assert pipeline.gate() == {"inputs": "pass", RANKING: "pass", RETRIEVAL: "error"}
    headline = pipeline.outcome(RETRIEVAL).headline
    assert headline == "the baseline holds no stage 'retrieve', which R@8 of retrieve needs"
    assert pipeline.outcome(RETRIEVAL).acceptable


def test_a_stage_that_changed_alone_is_a_change_to_accept(pipeline):
    assert pipeline.accept() is None
    pipeline.lose(QUERIES[:2], retrieved=["good", "fair", *NOISE], reranked=pipeline.reranked["q09"])

    pipeline.gate()
    assert pipeline.result.cause.rankings == 2
    assert pipeline.accept() is not None


def test_the_baseline_keeps_a_readable_line_for_each_query(pipeline):
    text = (pipeline.folder / "baselines" / "shop.baseline").read_bytes()

    line = next(each for each in map(json.loads, text.splitlines()) if each.get("query") == "q00")
    assert line["stages"] == {"retrieve": {"retrieved": 8, "ranks": {"n0": 1, "good": 6, "fair": 7}}}
    assert encode_baseline(decode_baseline(text, "shop")) == text


def test_documents_that_were_renamed_since_are_the_same_in_every_stage(pipeline):
    (pipeline.folder / "ids.tsv").write_text("from\tto\ngood\tbest\n")
    for lists in (pipeline.retrieved, pipeline.reranked):
        lists |= {query: ["best" if each == "good" else each for each in lists[query]] for query in QUERIES}
    pipeline.write(documents="{aliases: ids.tsv}")

    assert set(pipeline.gate().values()) == {"pass"}


def test_a_waived_query_keeps_the_stages_that_were_accepted(pipeline):
    waive = "[{query: q00, until: 2099-01-01, reason: 'SEARCH-1: feed broken'}]"
    pipeline.lose(["q00", "q01"], retrieved=["fair", *NOISE], reranked=["fair", *NOISE[:3]])
    pipeline.write(waive=waive)

    accepted = pipeline.accept()

    kept = accepted.rankings[0].stages["retrieve"]
    assert kept["q00"].ranks["good"] == 6
    assert kept["q01"].ranks["good"] is None


def test_the_stages_of_another_commit_are_compared_like_those_of_a_baseline(pipeline):
    asked = rank_suite(pipeline.suite, installed_registry(), date(2026, 1, 1), Acceptance("2026-01-01T00:00:00Z"))
    asked = decode_baseline(encode_baseline(asked), "asked")
    pipeline.lose(QUERIES[:4], retrieved=["fair", *NOISE], reranked=["fair", *NOISE[:3]])

    scores = score_inputs(collect_inputs(pipeline.suite, versus=StoredReference(asked, versus="3f2a1c9")))

    sides = scores.baseline.trusted
    assert sides.baseline.scored["R@8 of retrieve"].values.mean() == 1
    assert sides.current.scored["R@8 of retrieve"].values.mean() == pytest.approx(0.9)


def test_a_bound_of_a_stage_needs_no_baseline_and_says_which_documents_were_not_retrieved(tmp_path):
    pipeline = Pipeline(tmp_path)
    pipeline.retrieved["q07"] = NOISE
    pipeline.write('threshold: {R@8: ">= 1", stage: retrieve}', 'threshold: {nDCG@3: ">= 1"}')

    assert pipeline.gate() == {"inputs": "pass", "threshold::R_8.retrieve": "fail", "threshold::nDCG_3": "pass"}
    red = pipeline.outcome("threshold::R_8.retrieve")
    assert red.headline == "R@8 of retrieve is 0.9500 (must be >= 1)"
    assert red.queries[0].query == "q07"
    assert red.queries[0].note == "good (grade 2) not retrieved; fair (grade 1) not retrieved"


def test_a_ranking_of_other_candidates_than_were_retrieved_is_noted(pipeline):
    pipeline.lose(QUERIES[:1], retrieved=["fair", *NOISE], reranked=["good", "fair"])

    pipeline.gate()

    (note,) = [note for note in pipeline.result.notes if "one run" in note]
    assert note == "1 judged document of rerank not returned by retrieve: 'good'; do all stages come from one run?"


def test_a_cutoff_below_which_no_stage_returned_anything_is_noted(pipeline):
    pipeline.write("no_regression: {metric: R@1000, stage: retrieve, tolerance: 1%, decide_by: observed}")
    pipeline.accept()

    pipeline.gate()

    assert "R@1000 of retrieve looks at 1000 documents, and retrieve returns at most 8 for a query" in (
        pipeline.result.notes
    )


@pytest.mark.parametrize(
    ("rule", "source", "complaint"),
    [
        ("{metric: R@8, stage: retreive, tolerance: 1%}", SOURCE, "unknown stage 'retreive'"),
        ("{metric: R@8, stage: rerank, tolerance: 1%}", SOURCE, "'rerank' is the last stage, which is the ranking"),
        ("{metric: R@8, stage: retrieve, tolerance: 1%}", "{run: rerank.trec}", "source does not say that its answers"),
        ("{metric: AP, tolerance: 1%, stage: retrieve, against: {run: old.trec}}", SOURCE, "against does not say"),
        ("{metric: Latency, stage: retrieve, tolerance: 1%}", SOURCE, "Latency of retrieve needs timings, but of an"),
        ("{metric: AP, tolerance: 1%}", "{run: rerank.trec, stages: [a, b]}", "run names 1 file for 2 stages"),
        ("{metric: AP, tolerance: 1%}", "{run: rerank.trec, stages: [a]}", "stages needs two or more names"),
        ("{metric: AP, tolerance: 1%}", "{run: [a, b], stages: [a, a b]}", "'a b' is not a name for a stage"),
        (
            "{metric: AP, tolerance: 1%}",
            "{sql: 'sqlite://', query: x, stages: [a, b]}",
            "of this source have no stages",
        ),
    ],
)
def test_mistakes_are_told_at_collection(pipeline, rule, source, complaint):
    (pipeline.folder / "old.trec").write_bytes((pipeline.folder / "rerank.trec").read_bytes())
    pipeline.write(f"no_regression: {rule}", source=source)

    with pytest.raises(SuiteError) as raised:
        make_plan(pipeline.suite, installed_registry())

    assert complaint in str(raised.value)


def test_several_rules_about_one_metric_in_several_stages_have_ids_of_their_own(pipeline):
    pipeline.write(
        "worsened: {metric: R@5, by_more_than: 0.1, at_most: 5}",
        "worsened: {metric: R@5, stage: retrieve, by_more_than: 0.1, at_most: 5}",
        "equivalent: {metric: R@5, stage: retrieve, tolerance: 50%, min_queries: 2}",
    )

    assert set(pipeline.gate()) == {"inputs", "worsened::R_5", "worsened::R_5.retrieve", "equivalent::R_5.retrieve.all"}
