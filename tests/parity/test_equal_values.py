"""What the table of other packages calls equal is equal, on random rankings and for every row."""

import dataclasses
import json
import re
from pathlib import Path

import foreign
import pytest
from foreign import need_peer
from hypothesis import HealthCheck, Phase, given, settings
from rankings_at_random import (
    Data,
    all_retrieved,
    as_float32,
    binary,
    keep_ranked_queries,
    of_one_grade,
    rankings,
    with_a_grade_from_0_on,
    with_something_not_relevant_retrieved,
    with_something_relevant,
    with_something_relevant_by_subtopic,
    with_something_relevant_retrieved,
    with_something_unjudged,
    with_subtopics,
    without_empty_rankings,
    without_grades_below_0,
    without_ties,
)

from pytest_ireval import Policies, SideData, evaluate
from pytest_ireval.metrics.elsewhere import list_counterparts
from pytest_ireval.plugins.manager import installed_registry

ROWS = {
    package: list_counterparts(installed_registry().vocabulary.elsewhere, package)
    for package in ("trec_eval", "ir_measures", "ranx", "ntcireval", "pyndeval", "cwl-eval", "scikit-learn")
}

NUMBERS = {
    "cutoff": [1, 3, 10],
    "recall": ["0.00", "0.20", "1.00"],
    "multiple": ["0.20", "1.00", "1.60"],
    "beta": [1, 2, 3],
    "beta^2": [1, 4, 9],
    "rel": [1, 2, 3],
    "p": [0.5, 0.8, 0.95],
    "T": [1.0, 2.0, 0.5],
    "max_rel": [4, 8, 3],
    "min_rel": [0, 1, 2],
    "hit": [1, 2, 0.5],
    "noise": [-1, -0.5, 0],
    "miss": [0, -0.5, -1],
    "rest": [0, 0.25, -1],
    "K": [5, 10, 7.5],
    "hb": [1.0, 0.5, 0.0],
    "b1": [0.9, 2.0, 0.5],
    "b2": [0.9, 0.5, 2.0],
    "R1": [10.0, 1.0, 3.0],
    "R2": [10.0, 2.0, 1.0],
    "A": [0.2, 0.3, 0.1],
    "rate": [0.1, 0.25, 0.5],
    "halflife": [224, 9, 30],
    "L": [9, 30, 100],
}
"""Values for the numbers in a name; the n-th of each goes with the n-th of the others."""

ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
NOT_AT_1 = {f"{name}@{{cutoff}}" for name in ("alpha_DCG", f"{ALPHA}_DCG", "ERR_IA")}
"""Rows of ir_measures and pyndeval that are compared at other cutoffs only."""
DIVERSITY = {
    *NOT_AT_1,
    *(f"{name}@{{cutoff}}" for name in ("alpha_nDCG", f"{ALPHA}_nDCG", "nERR_IA", "P_IA", "StRecall")),
    *("AP_IA", "MAP_IA", "NRBP"),
}

BUT_FOR = {
    ("trec_eval", "11pt_avg"): [],
    ("trec_eval", "iprec_at_recall_{recall}"): [without_empty_rankings],
    ("trec_eval", "ideal_dcg"): [without_grades_below_0],
    ("trec_eval", "rbp_resid"): [without_grades_below_0, with_something_unjudged],
    ("trec_eval", "unj_{cutoff}"): [without_grades_below_0],
    ("ir_measures", "Accuracy"): [
        keep_ranked_queries,
        with_something_relevant_retrieved,
        with_something_not_relevant_retrieved,
        without_ties,
    ],
    **{("trec_eval", f"{name}_1=3,2=9"): [] for name in ("G", "ndcg", "ndcg_rel", "Rndcg")},
    ("ir_measures", "AP(judged_only=True)"): [without_grades_below_0],
    ("ir_measures", "Compat"): [without_ties],
    **{("ir_measures", name): [without_ties, with_subtopics] for name in DIVERSITY},
    ("ir_measures", "nNRBP"): [with_something_relevant, without_ties, with_subtopics],
    ("ir_measures", "ERR@{cutoff}"): [],
    ("ir_measures", "IPrec@{recall}"): [],
    ("ir_measures", "Judged@{cutoff}"): [without_ties],
    ("ir_measures", "nDCG(dcg='exp-log2')@{cutoff}"): [],
    ("ir_measures", "RBP(p={p}, rel=1)"): [without_ties],
    ("ir_measures", "RR@{cutoff}"): [without_ties],
    **{
        ("ir_measures", name): [without_ties]
        for name in (
            "BPM(T={T}, max_rel={max_rel})@{cutoff}",
            "INSQ(T={T}, max_rel={max_rel})",
            "INST(T={T}, max_rel={max_rel})",
            "NERR8(max_rel={max_rel})@{cutoff}",
            "NERR9(max_rel={max_rel})@{cutoff}",
            "NERR10(p={p}, max_rel={max_rel})",
            "NERR11(T={T}, max_rel={max_rel})",
            "SDCG(max_rel={max_rel})@{cutoff}",
            "SDCG(max_rel={max_rel}, min_rel={min_rel})@{cutoff}",
        )
    },
    ("ranx", "bpref"): [
        without_grades_below_0,
        with_something_relevant_retrieved,
        with_something_not_relevant_retrieved,
    ],
    ("ranx", "hits"): [],
    ("ranx", "hits@{cutoff}"): [],
    ("ranx", "rbp.{p}"): [binary],
    ("ntcireval", "MSnDCG@{cutoff}"): [with_something_relevant],
    ("ntcireval", "nDCG@{cutoff}"): [with_something_relevant],
    ("ntcireval", "nERR@{cutoff}"): [with_something_relevant],
    **{("pyndeval", f"{name}@{{cutoff}}"): [] for name in ("alpha-DCG", "ERR-IA")},
    ("pyndeval", "nNRBP"): [with_something_relevant_by_subtopic],
    ("cwl-eval", "UMeasureCWLMetric({L})"): [],
    ("cwl-eval", "APCWLMetric()"): [all_retrieved, of_one_grade],
    **{
        ("cwl-eval", name): [of_one_grade]
        for name in ("PrecisionCWLMetric({cutoff})", "RRCWLMetric()", "TrAPCWLMetric()")
    },
    ("scikit-learn", "average_precision_score"): [],
    ("scikit-learn", "dcg_score"): [],
    ("scikit-learn", "dcg_score(k={cutoff})"): [],
    ("scikit-learn", "label_ranking_average_precision_score"): [with_something_relevant_retrieved],
    ("scikit-learn", "ndcg_score"): [],
    ("scikit-learn", "ndcg_score(k={cutoff})"): [],
    ("scikit-learn", "roc_auc_score"): [with_something_relevant_retrieved, with_something_not_relevant_retrieved],
}
"""For rows that are equal but for something: what takes that something away."""

ALWAYS = {
    "trec_eval": [with_a_grade_from_0_on],
    "ir_measures": [without_empty_rankings, as_float32, with_a_grade_from_0_on],
    "ranx": [keep_ranked_queries, without_ties],
    "ntcireval": [keep_ranked_queries, without_grades_below_0],
    "pyndeval": [keep_ranked_queries, without_ties, with_subtopics],
    "cwl-eval": [keep_ranked_queries, without_grades_below_0],
    "scikit-learn": [keep_ranked_queries],
}
"""What no row of a package can be compared with; test_different_values.py shows why."""

COUNTS_OF_IR_MEASURES = ("NumQ", "NumRel")
"""Of a query that the rankings lack it says 0; here such a query counts, or is left out with all metrics."""

MISSING = {"trec_eval": "ignore", "ir_measures": "zero"}
"""What becomes there of queries that the rankings lack; all others cannot be asked for them."""

NOT_0_HERE = ("rbp_resid", "unj", "utility", "yaap")
"""What trec_eval 10 gives 0 without a ranking, though 0 is not bad; here it is the worst value, or an error."""

FULL_LISTS = ("average", "dcg", "label", "ndcg", "roc")
"""Functions of scikit-learn that must be given a score for every document, no two equal, and grades from 0 on."""

VERSION_9 = {"iprec_at_recall_{recall}": "IPrec@{recall}"}
NOT_IN_9 = {
    *(f"{name}_1=3,2=9" for name in ("dcg", "G", "ndcg", "ndcg_rel", "Rndcg")),
    "11pt_avg",
    "dcg",
    "ideal_dcg",
    "rbp",
    "rbp_resid",
    "unj_{cutoff}",
    "yaap",
    "utility_{hit},{noise},{miss},{rest}",
}
"""What pytrec_eval has not, or has as version 9 had it, and those whose numbers it loses on the way."""


def fill_in(row, ten=False):
    """Pairs (their name, ours) for a row whose names have numbers in them."""
    ours = VERSION_9.get(row.name, row.ours) if row.package == "trec_eval" and not ten else row.ours
    if not re.search(r"(?<!\{)\{\w", row.name):
        return [(row.name.replace("{{", "{").replace("}}", "}"), ours.replace("{{", "{").replace("}}", "}"))]
    return [
        (_with(row.name, row, n), _with(ours, row, n)) for n in range(int(row.name.replace("-", "_") in NOT_AT_1), 3)
    ]


def _with(template, row, n):
    numbers = {name: values[n] for name, values in NUMBERS.items()}
    if row.package == "ranx":
        numbers["p"] = ["5", "8", "95"][n]
    return template.format_map(numbers)


def same(theirs, ours, name, tolerance=1e-9):
    assert set(ours) == set(theirs), name
    for query, value in theirs.items():
        assert ours[query] == pytest.approx(value, abs=tolerance), f"{name} of query {query}"


def groups(package, skip=(), ten=False):
    """Rows that can be compared on the same rankings, with what these must be without."""
    by_repair = {}
    for row in ROWS[package]:
        if row.differs or row.name in skip:
            continue
        repairs = (*ALWAYS[package], *BUT_FOR.get((package, row.name), ()))
        if package == "scikit-learn" and row.name.startswith(FULL_LISTS):
            repairs = (*repairs, without_grades_below_0, all_retrieved, without_ties)
        if package == "ir_measures" and row.name.startswith(COUNTS_OF_IR_MEASURES) and "Ret" not in row.name:
            repairs = (*repairs, keep_ranked_queries)
        if ten and row.name.startswith(NOT_0_HERE):
            repairs = (*repairs, keep_ranked_queries)
        by_repair.setdefault(tuple(repairs), []).extend(fill_in(row, ten))
    return by_repair


def compare(package, by_repair, data, tolerance=1e-9, peer=None):
    for repairs, pairs in by_repair.items():
        given_ = data
        for repair in repairs:
            given_ = repair(given_)
        if package == "scikit-learn" and without_ties in repairs:
            given_ = with_something_not_relevant_retrieved(given_)  # one document alone is refused
            known = {query: dict.fromkeys(scores) for query, scores in given_.rankings.items()}
            given_ = dataclasses.replace(given_, judgments={q: given_.judgments[q] for q in known})
        ours_on = as_float32(given_) if package == "trec_eval" and peer is None else given_
        theirs = (peer or foreign.PEERS[package])(given_, [name for name, _ in pairs])
        missing = "zero" if peer else MISSING.get(package, "error")
        policies = Policies(missing_queries=missing, scale={"ntcireval": 3, "cwl-eval": 4}.get(package))
        side_data = SideData(collection=foreign.COLLECTION)
        metrics = list(dict.fromkeys(o for _, o in pairs))
        results = evaluate(ours_on.judgments, ours_on.rankings, metrics, policies=policies, side_data=side_data)
        for name, text in pairs:
            close = max(tolerance, 1.1e-5 if rounds_to_five_decimals(package, name) else 0)
            result = results[text]
            values = {"all": result.value} if "all" in theirs[name] else result.values
            if name.startswith("gm_"):
                values = {query: max(value, 1e-5) for query, value in values.items()}
            same(theirs[name], values, f"{package} {name}", close)


def rounds_to_five_decimals(package, name):
    return package == "ir_measures" and name.startswith(("ERR", "nDCG(dcg"))


QUICK = settings(deadline=None, max_examples=250, suppress_health_check=list(HealthCheck))
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
SLOW = settings(QUICK, max_examples=25, phases=NO_SHRINKING)
"""Each example starts programs, and shrinking would start thousands."""


@QUICK
@given(rankings())
def test_trec_eval_9(data):
    need_peer("trec_eval")
    compare("trec_eval", groups("trec_eval", skip=NOT_IN_9), data)


@SLOW
@given(rankings())
def test_ir_measures(data):
    need_peer("ir_measures")
    compare("ir_measures", groups("ir_measures"), data)


@QUICK
@given(rankings())
def test_ranx(data):
    need_peer("ranx")
    compare("ranx", groups("ranx"), data)


@QUICK
@given(rankings())
def test_ntcireval(data):
    need_peer("ntcireval")
    compare("ntcireval", groups("ntcireval"), data)


@QUICK
@given(rankings())
def test_pyndeval(data):
    need_peer("pyndeval")
    compare("pyndeval", groups("pyndeval"), data)


@settings(SLOW, max_examples=5)
@given(rankings())
def test_cwl_eval(data):
    need_peer("cwl-eval")
    compare("cwl-eval", groups("cwl-eval"), data)


@QUICK
@given(rankings())
def test_scikit_learn(data):
    need_peer("scikit-learn")
    compare("scikit-learn", groups("scikit-learn"), data)


def test_trec_eval_10_as_recorded():
    record = json.loads(Path(__file__).with_name("trec_eval_10.json").read_text(encoding="utf-8"))
    data = Data(record["judgments"], record["rankings"])

    compare("trec_eval", groups("trec_eval", ten=True), data, 6e-5, lambda _, names: record["values"])


@pytest.mark.skipif(not foreign.TREC_EVAL_10, reason="IREVAL_TREC_EVAL is not the path of a trec_eval 10")
def test_trec_eval_10(tmp_path):
    @SLOW
    @given(rankings())
    def all_rows(data):
        compare(
            "trec_eval",
            groups("trec_eval", ten=True),
            without_empty_rankings(data),
            6e-5,
            lambda d, names: foreign.trec_eval_10(d, names, tmp_path),
        )

    all_rows()


def test_every_row_that_is_equal_but_for_something_says_what_here():
    rows = {(package, row.name) for package, all_ in ROWS.items() for row in all_ if row.but_for}

    assert rows == set(BUT_FOR)
