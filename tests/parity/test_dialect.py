"""In the dialect ir_measures, every name of that package has its value, or is refused with a reason."""

import itertools
import random

import foreign
import pytest
from foreign import need_peer
from rankings_at_random import (
    Data,
    as_float32,
    keep_ranked_queries,
    query_with_many_documents,
    with_something_not_relevant_retrieved,
    with_something_relevant_retrieved,
    with_subtopics,
    without_grades_below_0,
    without_ties,
)

from pytest_ireval import Policies, evaluate
from pytest_ireval.errors import MetricNameError

VALUES = {"cutoff": 3, "rel": 2, "judged_only": True, "gains": {1: 3, 2: 5}, "dcg": "'exp-log2'", "T": 2.5, "p": 0.5}
VALUES |= {"min_rel": 1, "max_rel": 4, "normalize": False, "alpha": 0.3, "beta": 0.4, "recall": 0.3, "relative": True}
"""One value of each parameter, none of them a default."""
DIVERSITY = ("ERR_IA", "nERR_IA", "alpha", "\N{GREEK SMALL LETTER ALPHA}", "NRBP", "nNRBP", "AP_IA", "MAP_IA", "P_IA")


def texts():
    """Every name with each of its parameters, alone and together."""
    from ir_measures.measures import registry

    for name, measure in registry.items():
        known = measure.SUPPORTED_PARAMS
        for given in itertools.chain.from_iterable(itertools.combinations(known, n) for n in range(len(known) + 1)):
            if all(each in given for each, about in known.items() if about.required):
                inside = ", ".join(f"{each}={VALUES[each]}" for each in given if each != measure.AT_PARAM)
                at = f"@{VALUES[measure.AT_PARAM]}" if measure.AT_PARAM in given else ""
                yield f"{name}({inside}){at}" if inside else f"{name}{at}"


@pytest.fixture(scope="module")
def data():
    """Queries without what the table of names lists as different."""
    source = random.Random(5)
    drawn = {str(number): query_with_many_documents(source) for number in range(1, 16)}
    whole = Data(
        {q: grades for q, (grades, _) in drawn.items()}, {q: ranked for q, (_, ranked) in drawn.items() if ranked}
    )
    for repair in (
        keep_ranked_queries,
        with_something_relevant_retrieved,
        with_something_not_relevant_retrieved,
        without_grades_below_0,
        without_ties,
        as_float32,
    ):
        whole = repair(whole)
    return whole


def test_every_name_has_its_value_or_is_refused(data):
    need_peer("ir_measures")
    compared, refused = 0, set()
    for text in texts():
        given = with_subtopics(data) if text.startswith((*DIVERSITY, "StRecall")) else data
        try:
            theirs = foreign.ir_measures(given, [text])[text]
        except (ValueError, TypeError, AssertionError, ZeroDivisionError):  # it cannot compute every name that it reads
            continue
        try:
            ours = (
                evaluate(given.judgments, given.rankings, [text], policies=Policies(dialect="ir_measures"))
                .metrics[0]
                .values
            )
        except MetricNameError:
            refused.add(text)
            continue
        assert len(theirs) > 5, text
        shared = {query: ours[query] for query in theirs}  # Accuracy leaves queries out
        assert shared == pytest.approx(theirs, abs=1.1e-5 if text.startswith("ERR") or "exp-log2" in text else 1e-9), (
            text
        )
        compared += 1

    assert {text.partition("(")[0] for text in refused} == {"SetRelP"}  # relative is given twice
    assert compared > 180


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ERR_IA@1", "does not divide by the number of subtopics"),
        ("alpha_DCG(alpha=0.3)@1", "does not divide by the number of subtopics"),
        ("IPrec@0.125", "rounds recall 0.125 to two decimals"),
        ("SDCG(dcg='exp-log2', max_rel=3)@5", "ir_measures allows 'log2'"),
        ("SetF(beta=2, beta=3)", "beta is given twice"),
        ("ERR(max_grade=1, grade=2)@5", "unknown parameter 'grade'"),
    ],
)
def test_a_name_with_another_value_is_refused(text, reason):
    with pytest.raises(MetricNameError, match=reason):
        evaluate({"1": {"a": 1}}, {"1": ["a"]}, [text], policies=Policies(dialect="ir_measures"))
