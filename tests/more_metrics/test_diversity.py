"""Metrics of diversity against plain definitions, and what judgments of subtopics mean to them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import MetricError, evaluate, per_query_metric, why
from pytest_ireval.plugins.manager import installed_registry

METRICS = sorted(m.name for m in installed_registry().metrics.values() if "subtopics" in m.needs)
K = 3


def relevant(judged, document, rel):
    return {s for s, grade in judged.get(document, {}).items() if grade >= rel}


def known(judged, rel):
    return {s for document in judged for s in relevant(judged, document, rel)}


def novelty(judged, ranking, weight, alpha, rel):
    total, seen = 0.0, {}
    for rank, document in enumerate(ranking, 1):
        for s in relevant(judged, document, rel):
            total += (1 - alpha) ** seen.get(s, 0) * weight(rank)
            seen[s] = seen.get(s, 0) + 1
    return total


def greedy(judged, alpha, rel):
    """Of documents with the same new gain, the one with the last id comes first."""
    left, ranking, seen = set(judged), [], {}
    while left:
        gain = {d: sum((1 - alpha) ** seen.get(s, 0) for s in relevant(judged, d, rel)) for d in left}
        best = max(left, key=lambda d: (round(gain[d], 12), d.encode()))
        ranking.append(best)
        left.remove(best)
        seen |= {s: seen.get(s, 0) + 1 for s in relevant(judged, best, rel)}
    return ranking


def share(a, b):
    return a / b if b else 0.0


def by_log(rank):
    return 1 / math.log2(rank + 1)


def cascade(weight, alpha=0.5, rel=1, k=K):
    """As a share of what documents about every subtopic would have."""

    def value(judged, ranking):
        most = len(known(judged, rel)) * sum((1 - alpha) ** (i - 1) * weight(i) for i in range(1, k + 1))
        return share(novelty(judged, ranking[:k], weight, alpha, rel), most)

    return value


def make_normalized_metric(weight, alpha=0.5, rel=1, k=K):
    def value(judged, ranking):
        best = novelty(judged, greedy(judged, alpha, rel)[:k], weight, alpha, rel)
        return share(novelty(judged, ranking[:k], weight, alpha, rel), best)

    return value


def make_biased_metric(alpha=0.5, beta=0.5, rel=1):
    def value(judged, ranking):
        total = novelty(judged, ranking, lambda rank: beta ** (rank - 1), alpha, rel)
        return share((1 - (1 - alpha) * beta) * total, len(known(judged, rel)))

    return value


def average_precision(judged, ranking, rel=1):
    total = 0.0
    for s in known(judged, rel):
        found, of_one = 0, 0.0
        for rank, document in enumerate(ranking, 1):
            if s in relevant(judged, document, rel):
                found += 1
                of_one += found / rank
        total += of_one / sum(s in relevant(judged, document, rel) for document in judged)
    return share(total, len(known(judged, rel)))


def precision(judged, ranking, rel=1, k=K):
    return share(sum(len(relevant(judged, d, rel)) for d in ranking[:k]), k * len(known(judged, rel)))


def recall(judged, ranking, rel=1, k=K):
    return share(len({s for d in ranking[:k] for s in relevant(judged, d, rel)}), len(known(judged, rel)))


def global_ndcg(judged, ranking, gain=lambda grade: max(grade, 0), k=K):
    worth = {d: sum(gain(grade) for grade in grades.values()) for d, grades in judged.items()}
    reached = sum(worth.get(d, 0) * by_log(rank) for rank, d in enumerate(ranking[:k], 1))
    best = sum(g * by_log(rank) for rank, g in enumerate(sorted(worth.values(), reverse=True)[:k], 1))
    return share(reached, best)


def without_unjudged(definition):
    return lambda judged, ranking: definition(judged, [d for d in ranking if d in judged])


def by_rank(rank):
    return 1 / rank


DEFINITIONS = {
    "ERR_IA@3": cascade(by_rank),
    "ERR_IA(alpha=0.3, rel=2)@3": cascade(by_rank, 0.3, 2),
    "ERR_IA(alpha=0)@3": cascade(by_rank, 0),
    "ERR_IA(alpha=1)@1": cascade(by_rank, 1, k=1),
    "ERR_IA(judged_only=True)@3": without_unjudged(cascade(by_rank)),
    "nERR_IA@3": make_normalized_metric(by_rank),
    "nERR_IA(alpha=0.25, rel=2)@2": make_normalized_metric(by_rank, 0.25, 2, 2),
    "nERR_IA(judged_only=True)@3": without_unjudged(make_normalized_metric(by_rank)),
    "alpha_DCG@3": cascade(by_log),
    "alpha_DCG(alpha=0.9)@100": cascade(by_log, 0.9, k=100),
    "alpha_DCG(judged_only=True, rel=0)@3": without_unjudged(cascade(by_log, rel=0)),
    "alpha_nDCG@3": make_normalized_metric(by_log),
    "alpha_nDCG@1": make_normalized_metric(by_log, k=1),
    "alpha_nDCG@1000": make_normalized_metric(by_log, k=1000),
    "alpha_nDCG(alpha=0)@3": make_normalized_metric(by_log, 0),
    "alpha_nDCG(alpha=1)@3": make_normalized_metric(by_log, 1),
    "alpha_nDCG(judged_only=True)@3": without_unjudged(make_normalized_metric(by_log)),
    "NRBP": make_biased_metric(),
    "NRBP(alpha=0.2, beta=0.9, rel=2)": make_biased_metric(0.2, 0.9, 2),
    "NRBP(beta=0)": make_biased_metric(beta=0),
    "nNRBP": make_normalized_metric(lambda rank: 0.5 ** (rank - 1), k=None),
    "nNRBP(alpha=0.2, beta=0.9, rel=2)": make_normalized_metric(lambda rank: 0.9 ** (rank - 1), 0.2, 2, None),
    "nNRBP(beta=0)": make_normalized_metric(lambda rank: 0.0 ** (rank - 1), k=None),
    "AP_IA": average_precision,
    "AP_IA(rel=2)": lambda j, r: average_precision(j, r, 2),
    "AP_IA(judged_only=True)": without_unjudged(average_precision),
    "P_IA@3": precision,
    "P_IA(rel=2)@5": lambda j, r: precision(j, r, 2, 5),
    "P_IA(judged_only=True)@3": without_unjudged(precision),
    "StRecall@3": recall,
    "StRecall(rel=2)@1": lambda j, r: recall(j, r, 2, 1),
    "D_nDCG@3": global_ndcg,
    "D_nDCG(gain='exp')@2": lambda j, r: global_ndcg(j, r, lambda g: 2 ** max(g, 0) - 1, 2),
    "D_nDCG(judged_only=True)@3": without_unjudged(global_ndcg),
    "Dsharp_nDCG@3": lambda j, r: (recall(j, r) + global_ndcg(j, r)) / 2,
    "Dsharp_nDCG(gamma=0.25, gain='exp', judged_only=True)@3": without_unjudged(
        lambda j, r: 0.25 * recall(j, r) + 0.75 * global_ndcg(j, r, lambda g: 2 ** max(g, 0) - 1)
    ),
}

DOCUMENTS = ["a", "B", "d10", "d9", "é", "猫", "🦆", "zz"]
judged_documents = st.dictionaries(
    st.sampled_from(DOCUMENTS), st.dictionaries(st.sampled_from("xyz"), st.integers(-1, 3), min_size=1), min_size=1
)
lists = st.lists(st.sampled_from(DOCUMENTS), unique=True)


@given(st.lists(st.tuples(judged_documents, lists), min_size=1, max_size=5))
def test_every_metric_equals_its_definition(queries):
    judgments = {f"q{i}": judged for i, (judged, _) in enumerate(queries)}
    rankings = {f"q{i}": ranking for i, (_, ranking) in enumerate(queries)}

    evaluation = evaluate(judgments, rankings, list(DEFINITIONS))

    for result, (name, definition) in zip(evaluation.metrics, DEFINITIONS.items(), strict=True):
        expected = {query: definition(judgments[query], ranking) for query, ranking in rankings.items()}
        assert result.values == pytest.approx(expected, abs=1e-12), name


@pytest.mark.parametrize("name", METRICS)
def test_a_query_without_relevant_documents_and_an_empty_ranking_score_0(name, registry):
    metric = registry.metrics[name] @ 2 if registry.metrics[name].missing else registry.metrics[name]
    judgments = {"none": {"d": {"x": 0, "y": -1}}, "empty": {"d": {"x": 1}}, "best": {"d": {"x": 1}}}

    found = evaluate(judgments, {"none": ["d"], "empty": [], "best": ["d"]}, [metric]).metrics[0]

    assert (found.values["none"], found.values["empty"]) == (0, 0)
    assert found.values["best"] > 0


def test_no_ranking_is_above_the_end_of_the_range():
    chance = np.random.default_rng(3)
    for _ in range(40):
        judged = {f"d{i}": dict.fromkeys(chance.choice(list("abcdef"), 3), 1) for i in range(6)}
        rankings = {"q": [f"d{i}" for i in chance.permutation(6)]}
        evaluate({"q": judged}, rankings, ["alpha_nDCG@3", "nERR_IA@3", "nNRBP(beta=0.9)"])  # refuses what is outside


def test_judgments_without_subtopics_are_an_error_that_names_what_is_missing():
    with pytest.raises(MetricError) as caught:
        evaluate({"q": {"d": 1}}, {"q": ["d"]}, "alpha_nDCG@10")

    assert str(caught.value) == (
        "alpha_nDCG@10\n  needs subtopics\n"
        "  `judged.subtopics`: grades for parts of a query; from judgments with a column subtopic, or in format "
        "trec-diversity (command line: `--judgments-format trec-diversity`)"
    )


JUDGMENTS = {
    "q1": {"a": {"x": 1}, "b": {"x": 1, "y": 1}, "c": {"z": 2}},
    "q2": {"b": {"x": 1}, "d": {"y": 1}},
    "q3": {"a": {"y": 1}, "e": {"x": 1, "y": 1}},
}
RANKINGS = {"q1": ["a", "c"], "q2": ["d", "b"], "q3": ["u", "a"]}


def test_without_steps_of_its_own_a_metric_shows_what_is_lost_with_each_document():
    @per_query_metric(name="Parts", needs=("subtopics",))
    def parts(ranking):
        """Share of three subtopics that are met."""
        return len({name for by_rank in ranking.subtopics for name, grade in by_rank.items() if grade > 0}) / 3

    (column,) = why(parts, JUDGMENTS, {**RANKINGS, "q1": ["b", "c"]}, "q1").first.steps.columns

    assert column.values == (pytest.approx(1 / 3), pytest.approx(2 / 3))
