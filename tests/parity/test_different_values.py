"""What the table of other packages says differs does differ, each row on one example with both values in sight.

A defect that is mended or a convention that is changed over there fails here, and the row has to go.
"""

import importlib
import json
import math
import subprocess
import sys
from pathlib import Path

import foreign
import numpy as np
import pytest
from foreign import need_peer
from rankings_at_random import Data

from pytest_ireval import Policies, SideData, evaluate, load_registry
from pytest_ireval.metrics.elsewhere import PACKAGES, list_counterparts

RECORD = Path(__file__).with_name("trec_eval_10.json")
FAILS = "fails"
SAYS_NOTHING = "says nothing"

ONE_BELOW_0 = ({"a": -1, "b": 1}, {"a": 2.0, "b": 1.0})
EQUAL_SCORES = ({"b": 1}, {"a": 1.0, "b": 1.0})
NOTHING_RELEVANT = ({"a": 0}, {"a": 2.0, "b": 1.0})
ONE_OF_THREE = ({"a": 1, "b": 1, "c": 1}, {"a": 1.0, "x": 2.0})
TWO_OF_THREE = ({"a": 1, "b": 1, "c": 1}, {"a": 9.0, "x": 8.0, "b": 7.0, "y": 6.0})
AT_RANK_1001 = ({"last": 1}, {**{f"d{i}": 2.0 for i in range(1000)}, "last": 1.0})
SIX_THIRDS = (dict.fromkeys("abcdef", 1), {document: 9.0 - place for place, document in enumerate("abcdefg")})

TWO_SUBTOPICS = ({"a": {"x": 1, "y": 1}, "b": {"x": 1}}, {"a": 2.0, "b": 1.0})
ONE_SUBTOPIC_TIED = ({"b": {"x": 1}}, EQUAL_SCORES[1])
ALPHA = "\N{GREEK SMALL LETTER ALPHA}"

DIFFERENT = {
    **{
        ("ir_measures", f"{name}@{{cutoff}}"): [
            (f"{name}@1", f"{name}@1", *TWO_SUBTOPICS, 2.0, 1.0),
            (f"{name}@1", f"{name}@1", *ONE_SUBTOPIC_TIED, 0.0, 1.0),
        ]
        for name in ("alpha_DCG", f"{ALPHA}_DCG", "ERR_IA")
    },
    **{
        ("ir_measures", f"{name}@{{cutoff}}"): [(f"{name}@1", f"{name}@1", *ONE_SUBTOPIC_TIED, 0.0, 1.0)]
        for name in ("alpha_nDCG", f"{ALPHA}_nDCG", "nERR_IA", "P_IA", "StRecall")
    },
    **{("ir_measures", name): [(name, name, *ONE_SUBTOPIC_TIED, 0.5, 1.0)] for name in ("AP_IA", "MAP_IA")},
    ("ir_measures", "NRBP"): [("NRBP", "NRBP", *ONE_SUBTOPIC_TIED, 0.375, 0.75)],
    ("ir_measures", "nNRBP"): [
        ("nNRBP", "nNRBP", *ONE_SUBTOPIC_TIED, 0.5, 1.0),
        ("nNRBP", "nNRBP", {"a": {"x": 0}}, {"a": 1.0}, math.nan, 0.0),
    ],
    ("ir_measures", "Accuracy"): [
        ("Accuracy", "Accuracy", {"a": 1, "b": 0}, {"a": 1.0, "b": 1.0}, 1.0, 0.0),
        ("Accuracy", "Accuracy", {"a": 1, "b": 0}, {"b": 1.0}, SAYS_NOTHING, 0.0),
        ("Accuracy", "Accuracy", {"a": 1, "b": 0}, {"a": 1.0}, FAILS, 1.0),
    ],
    ("ir_measures", "AP(judged_only=True)"): [("AP(judged_only=True)", "AP(judged_only=True)", *ONE_BELOW_0, 1.0, 0.5)],
    ("ir_measures", "Compat"): [
        ("Compat", "Compat", *EQUAL_SCORES, 0.3220338983, 1.0),
        ("Compat", "Compat", {"a": 1, "b": 1, "c": 1}, {"x": -1.0, "a": -2.0}, 0.1054630441, 0.2719836401),
    ],
    ("ir_measures", "ERR@{cutoff}"): [
        ("ERR@5", "ERR(max_grade=4)@5", {"a": 3, "b": 1}, {"a": 2.0, "b": 1.0}, 0.45508, 0.455078125),
        ("ERR@5", "ERR(max_grade=5)@5", {"a": 5, "b": 1}, {"a": 2.0, "b": 1.0}, FAILS, 0.96923828125),
    ],
    ("ir_measures", "IPrec@{recall}"): [("IPrec@0.7", "IPrec@0.7", *TWO_OF_THREE, 2 / 3, 0.0)],
    ("ir_measures", "Judged@{cutoff}"): [("Judged@1", "Judged@1", *EQUAL_SCORES, 0.0, 1.0)],
    ("ir_measures", "nDCG(dcg='exp-log2')@{cutoff}"): [
        ("nDCG(dcg='exp-log2')@5", "nDCG(gain='exp')@5", *ONE_BELOW_0, 0.63093, 0.6309297536)
    ],
    ("ir_measures", "RBP(p={p}, rel=1)"): [
        ("RBP(p=0.5, rel=1)", "RBP(p=0.5, rel=1)", *EQUAL_SCORES, 0.25, 0.5),
        ("RBP(p=0.999, rel=1)", "RBP(p=0.999, rel=1)", *AT_RANK_1001, 0.0, 0.001 * 0.999**1000),
    ],
    ("ir_measures", "RR@{cutoff}"): [("RR@5", "RR@5", *EQUAL_SCORES, 0.5, 1.0)],
    **{
        ("ir_measures", name): [(theirs, ours, *EQUAL_SCORES, low, high)]
        for name, theirs, ours, low, high in (
            ("INSQ(T={T}, max_rel={max_rel})", "INSQ(max_rel=1)", "INSQ(max_grade=1)", 0.1725500457, 0.3882376028),
            ("INST(T={T}, max_rel={max_rel})", "INST(max_rel=1)", "INST(max_grade=1)", 0.2072221792, 0.6082967171),
            ("NERR8(max_rel={max_rel})@{cutoff}", "NERR8(max_rel=1)@2", "NERR8(max_grade=1)@2", 0.5, 1.0),
            ("NERR9(max_rel={max_rel})@{cutoff}", "NERR9(max_rel=1)@2", "NERR9(max_grade=1)@2", 1 / 3, 1.0),
            ("NERR10(p={p}, max_rel={max_rel})", "NERR10(p=0.5, max_rel=1)", "NERR10(max_grade=1, p=0.5)", 1 / 3, 1.0),
            ("NERR11(T={T}, max_rel={max_rel})", "NERR11(max_rel=1)", "NERR11(max_grade=1)", 4 / 13, 1.0),
            ("SDCG(max_rel={max_rel})@{cutoff}", "SDCG(max_rel=1)@1", "SDCG(max_grade=1)@1", 0.0, 1.0),
            (
                "SDCG(max_rel={max_rel}, min_rel={min_rel})@{cutoff}",
                "SDCG(max_rel=1, min_rel=0)@1",
                "SDCG(max_grade=1, min_grade=0)@1",
                0.0,
                1.0,
            ),
        )
    },
    ("ir_measures", "BPM(T={T}, max_rel={max_rel})@{cutoff}"): [
        ("BPM(max_rel=1)@5", "BPM(max_grade=1)@5", *EQUAL_SCORES, 0.5, 1.0),
        ("BPM(T=2.0, max_rel=3)@10", "BPM(T=2, max_grade=3)@10", *SIX_THIRDS, 0.2, 1 / 3),
    ],
    ("ir_measures", "SetF(beta={beta}.0)"): [("SetF(beta=2.0)", "SetF(beta=2)", *ONE_OF_THREE, 0.375, 0.3571428571)],
    ("pyndeval", "alpha-DCG@{cutoff}"): [("alpha-DCG@1", "alpha_DCG@1", *TWO_SUBTOPICS, 2.0, 1.0)],
    ("pyndeval", "ERR-IA@{cutoff}"): [("ERR-IA@1", "ERR_IA@1", *TWO_SUBTOPICS, 2.0, 1.0)],
    ("pyndeval", "nNRBP"): [("nNRBP", "nNRBP", {"a": {"x": 0}}, {"a": 1.0}, math.nan, 0.0)],
    ("ranx", "bpref"): [
        ("bpref", "Bpref", *ONE_BELOW_0, 0.0, 1.0),
        ("bpref", "Bpref", {"a": 1}, {"a": 2.0, "b": 1.0}, math.nan, 1.0),
    ],
    ("ranx", "rbp.{p}"): [("rbp.5", "RBP(p=0.5)", {"a": 2, "b": 1}, {"a": 2.0, "b": 1.0}, 1.25, 0.625)],
    ("ntcireval", "MSnDCG@{cutoff}"): [("MSnDCG@5", "nDCG@5", *NOTHING_RELEVANT, FAILS, 0.0)],
    ("ntcireval", "nDCG@{cutoff}"): [("nDCG@5", "nDCG(discount='jarvelin')@5", *NOTHING_RELEVANT, FAILS, 0.0)],
    ("ntcireval", "nERR@{cutoff}"): [("nERR@5", "nERR(gain='ntcir')@5", *NOTHING_RELEVANT, math.nan, 0.0)],
    ("cwl-eval", "APCWLMetric()"): [
        ("APCWLMetric()", "AP", {"a": 4, "b": 4}, {"a": 1.0}, 1.0, 0.5),
        ("APCWLMetric()", "AP", {"a": 1}, {"a": 1.0}, 1 / 4, 1.0),
    ],
    ("cwl-eval", "BPMDCWLMetric({T}, {K}, {hb}, {hc})"): [
        (
            "BPMDCWLMetric(5, 2.5, 0, 1)",
            "BPMD(K=2.5, T=5, hb=0, hc=1)",
            {"c": 4},
            dict(zip("abcde", range(9, 4, -1), strict=True)),
            1 / 3,
            0.0,
        )
    ],
    ("cwl-eval", "PrecisionCWLMetric({cutoff})"): [("PrecisionCWLMetric(2)", "P@2", {"a": 1}, {"a": 1.0}, 1 / 8, 0.5)],
    ("cwl-eval", "RRCWLMetric()"): [("RRCWLMetric()", "RR", {"a": 1}, {"a": 1.0}, 1 / 4, 1.0)],
    ("cwl-eval", "SETCWLMetric({beta}, {cutoff})"): [
        ("SETCWLMetric(0.5, 4)", "SET(beta=0.5)@4", {"a": 4}, {"a": 1.0}, 0.3351058113, 0.5)
    ],
    ("cwl-eval", "TrAPCWLMetric()"): [("TrAPCWLMetric()", "AP", {"a": 1}, {"a": 1.0}, 1 / 16, 1.0)],
    ("cwl-eval", "UMeasureCWLMetric({L})"): [
        ("UMeasureCWLMetric(1000)", "U(L=1000)", {"a": 4}, {"a": 1.0}, 0.0019980059900, 0.001998001998)
    ],
    ("scikit-learn", "average_precision_score"): [
        ("average_precision_score", "AP", {"a": 0, "b": 1}, EQUAL_SCORES[1], 0.5, 1.0)
    ],
    ("scikit-learn", "dcg_score"): [
        ("dcg_score", "DCG", {"a": 1, "b": 0}, EQUAL_SCORES[1], 0.8154648768, 0.6309297536)
    ],
    ("scikit-learn", "dcg_score(k={cutoff})"): [
        ("dcg_score(k=1)", "DCG@1", {"a": 1, "b": 0}, EQUAL_SCORES[1], 0.5, 0.0)
    ],
    ("scikit-learn", "label_ranking_average_precision_score"): [
        ("label_ranking_average_precision_score", "AP", {"a": 0, "b": 1}, EQUAL_SCORES[1], 0.5, 1.0),
        ("label_ranking_average_precision_score", "AP", {"a": 0, "b": 0}, EQUAL_SCORES[1], 1.0, 0.0),
    ],
    ("scikit-learn", "label_ranking_loss"): [
        ("label_ranking_loss", "Accuracy", {"a": 1, "b": 0, "c": 0}, {"b": 3.0, "a": 2.0, "c": 1.0}, 0.5, 0.5),
        ("label_ranking_loss", "Accuracy", {"a": 1, "b": 0}, {"a": 2.0, "b": 1.0}, 0.0, 1.0),
    ],
    ("scikit-learn", "ndcg_score"): [
        ("ndcg_score", "nDCG", {"a": 1, "b": 0}, EQUAL_SCORES[1], 0.8154648768, 0.6309297536)
    ],
    ("scikit-learn", "ndcg_score(k={cutoff})"): [
        ("ndcg_score(k=1)", "nDCG@1", {"a": 1, "b": 0}, EQUAL_SCORES[1], 0.5, 0.0)
    ],
    ("scikit-learn", "roc_auc_score"): [("roc_auc_score", "Accuracy", {"a": 1, "b": 0}, EQUAL_SCORES[1], 0.5, 0.0)],
    ("trec_eval", "11pt_avg"): [("11pt_avg", "IPrecAvg(rounding='nearest')", *TWO_OF_THREE, 20 / 33, 23 / 33)],
    ("trec_eval", "iprec_at_recall_{recall}"): [
        (
            "iprec_at_recall_0.40",
            "IPrec(rounding='nearest')@0.4",
            {"a": 1, "b": 1, "c": 1},
            {"a": 9.0, "x": 8.0},
            0.0,
            1.0,
        )
    ],
}
"""Their name, ours, judgments and ranking of one query, their value and ours."""

GAINS = ({"1": {"a": 1, "b": 2, "c": 0}}, {"a": 3.0, "b": 2.0, "c": 1.0}, "1")
DIFFERENT_IN_10 = {
    "G_1=3,2=9": [("G_1=0.5,2=0.9", "G(gains={1: 0.5, 2: 0.9})", *GAINS, 0.0, 0.7365096163)],
    "ndcg_1=3,2=9": [("ndcg_1=0.5,2=0.9", "nDCG(gains={1: 0.5, 2: 0.9})", *GAINS, 0.0, 0.8785418638)],
    "ndcg_rel_1=3,2=9": [("ndcg_rel_1=0.5,2=0.9", "nDCGRel(gains={1: 0.5, 2: 0.9})", *GAINS, 0.0, 0.7170487097)],
    "Rndcg_1=3,2=9": [("Rndcg_1=0.5,2=0.9", "RnDCG(gains={1: 0.5, 2: 0.9})", *GAINS, math.nan, 0.7170487097)],
    "ideal_dcg": [("ideal_dcg", "IDCG", {"1": {"a": 3}, "2": {"a": -1}}, {"a": 1.0}, "2", 3.0, 0.0)],
    "rbp": [("rbp", "RBP(p=0.9)", {"1": {"a": 1, "b": 0}, "2": {"a": 3}}, {"a": 1.0}, "1", 0.1, 0.1 / 3)],
    "rbp_resid": [
        ("rbp_resid", "RBPResidual(p=0.9)", {"1": {"a": 1}}, {"a": 1.0}, "1", 0.0, 0.9),
        ("rbp_resid", "RBPResidual(p=0.9)", {"1": {"a": -1, "b": 1}}, {"a": 1.0}, "1", 1.0, 0.9),
    ],
    "unj_{cutoff}": [("unj_5", "Unjudged@5", {"1": {"a": -1, "b": 1}}, {"a": 2.0, "b": 1.0}, "1", 0.2, 0.0)],
}
"""Judgments of all queries, one ranking for each of them, and the query whose value is compared."""
MODELS = {
    "SDCG@5": ("dcg", "NDCGCWLMetric", (5,)),
    "BPMD(K=7.5, hc=0, T=2)": ("bpm", "BPMDCWLMetric", (2, 7.5, 1, 0)),
    "NERR8@6": ("nerr", "NERReq8CWLMetric", (6,)),
    "NERR9@6": ("nerr", "NERReq9CWLMetric", (6,)),
    "NERR10(p=0.6)": ("nerr", "NERReq10CWLMetric", (0.6,)),
    "IFT": ("ift", "IFTGoalRateCWLMetric", (2.0, 0.9, 10.0, 0.2, 0.9, 10.0)),
    "IFT(R1=1, T=1, b1=2, stop='goal')": ("ift", "IFTGoalCWLMetric", (1.0, 2.0, 1.0)),
    "IFT(A=0.3, R2=2, b2=0.5, stop='rate')": ("ift", "IFTRateCWLMetric", (0.3, 0.5, 2.0)),
    "NPV(rate=0.25)": ("npv", "NPVCWLMetric", (0.25,)),
    "TBG(halflife=9)": ("tbg", "TBGCWLMetric", (9,)),
    "U(L=30)": ("umeasure", "UMeasureCWLMetric", (30,)),
}
"""Ours, and the class of cwl-eval with its arguments."""

EACH = [(package, *case) for (package, _), cases in DIFFERENT.items() for case in cases]
SUMMED_UP_ANOTHER_WAY = {"hits", "hits@{cutoff}"}
SEEN_IN_ITS_FUNCTION = {"interpolated_precision_at_recall"}


@pytest.mark.parametrize(("package", "name", "metric", "grades", "scores", "theirs", "ours"), EACH)
def test_both_values_are_as_the_reason_says(package, name, metric, grades, scores, theirs, ours):
    need_peer(package)
    data = Data({"1": grades}, {"1": scores})

    assert ask_package(package, data, name) == pytest.approx(theirs, abs=1e-9, nan_ok=True)
    scale = 4 if package == "cwl-eval" else None
    (result,) = evaluate(data.judgments, data.rankings, [metric], policies=Policies(scale=scale)).metrics
    assert result.values["1"] == pytest.approx(ours, abs=1e-9)


def ask_package(package, data, name):
    try:
        return foreign.PEERS[package](data, [name])[name].get("1", SAYS_NOTHING)
    except (ZeroDivisionError, subprocess.CalledProcessError):
        return FAILS


@pytest.mark.parametrize(
    ("name", "metric", "judgments", "scores", "query", "theirs", "ours"),
    [case for cases in DIFFERENT_IN_10.values() for case in cases],
)
def test_values_of_trec_eval_10(tmp_path, name, metric, judgments, scores, query, theirs, ours):
    data = Data(judgments, dict.fromkeys(judgments, scores))
    if foreign.TREC_EVAL_10:
        said = foreign.trec_eval_10(data, [name], tmp_path)[name][query]
    else:
        said = json.loads(RECORD.read_text(encoding="utf-8"))["different"][f"{name} {judgments}"]

    assert said == pytest.approx(theirs, abs=6e-5, nan_ok=True)
    assert evaluate(data.judgments, data.rankings, [metric])[metric].values[query] == pytest.approx(ours, abs=1e-9)


def test_every_row_that_differs_is_here():
    rows = {
        (package, row.name)
        for package in PACKAGES
        for row in list_counterparts(load_registry().vocabulary.elsewhere, package)
        if row.differs or row.but_for
    }
    here = set(DIFFERENT) | {("trec_eval", name) for name in DIFFERENT_IN_10}
    here |= {("ranx", name) for name in SUMMED_UP_ANOTHER_WAY | SEEN_IN_ITS_FUNCTION}

    assert rows == here


class TestCwlEval:
    """The package that ir_measures asks, where a user model of ours is not its own."""

    @staticmethod
    def measured(metric, gains, costs=(), **options):
        from cwl.ruler.ranking import Ranking

        ranking = Ranking("1", np.array(gains, float), np.array(costs or [1.0] * len(gains)), **options)
        metric.measure(ranking)
        return metric

    def test_the_dynamic_player_never_changes_what_she_would_pay(self):
        need_peer("ir_measures")
        from cwl.ruler.measures.cwl_bpm import BPMDCWLMetric

        theirs = self.measured(BPMDCWLMetric(T=5, K=2.5, hb=0, hc=1), [0.0] * 5)
        ours = evaluate({"1": {"z": 1}}, {"1": list("abcde")}, "BPMD(K=2.5, T=5, hb=0, measure='ED')")

        assert theirs.expected_items == 3
        assert ours.metrics[0].mean == 2  # after a document without gain she would pay for 2.5 - 0.5

    def test_search_economy_takes_each_step_for_the_next(self):
        need_peer("ir_measures")
        from cwl.ruler.measures.cwl_set import SETCWLMetric

        theirs = self.measured(SETCWLMetric(beta=0.5, k=4), [1.0] * 4)
        ours = evaluate({"1": dict.fromkeys("abcd", 1)}, {"1": list("abcd")}, "SET(measure='ETU')@4")

        assert theirs.expected_total_utility == pytest.approx((5**0.5 - 1) / (2**0.5 - 1))
        assert ours.metrics[0].mean == pytest.approx(4**0.5)  # as its own text says: i^beta of i good documents

    @pytest.mark.parametrize("made", MODELS, ids=str)
    def test_all_measures_are_the_same_elsewhere(self, made):
        need_peer("ir_measures")
        module, family, arguments = MODELS[made]
        chance = np.random.default_rng(len(made))
        for _ in range(40):
            size = int(chance.integers(0, 20))
            grades, costs = chance.integers(0, 5, size).tolist(), chance.choice([0.5, 1, 2], size).tolist()
            names = [f"d{rank}" for rank in range(size)]
            dear = max(costs, default=1.0)
            metric = getattr(importlib.import_module(f"cwl.ruler.measures.cwl_{module}"), family)(*arguments)
            metric.residuals = True
            theirs = self.measured(metric, [g / 4 for g in grades], costs, max_cost=dear, min_cost=dear)
            expected = {
                "EU": theirs.expected_utility,
                "ETU": theirs.expected_total_utility,
                "ED": theirs.expected_items,
                "EC": theirs.expected_cost,
                "ETC": theirs.expected_total_cost,
                "residual": theirs.residual_expected_utility,
            }
            base = load_registry().parse_metrics([made])[0](cost="price", max_grade=4)
            judged = {"1": dict(zip(names, grades, strict=True)) | {"m": 4}}
            prices = {name: {"price": cost} for name, cost in zip(names, costs, strict=True)}
            ours = evaluate(
                judged, {"1": names}, [base(measure=each) for each in expected], side_data=SideData(fields=prices)
            )
            assert [each.mean for each in ours.metrics] == pytest.approx(list(expected.values()), abs=1e-9)


@pytest.mark.filterwarnings("ignore:unsafe cast")  # numba warns when it compiles ranx for the first time
class TestRanx:
    def test_hits_are_averaged_there_and_added_up_here(self):
        need_peer("ranx")
        import ranx

        data = Data({"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}, "2": {"b": 1.0}})

        assert ranx.evaluate(data.judgments, data.rankings, ["hits", "hits@1"]) == {"hits": 0.5, "hits@1": 0.5}
        assert evaluate(data.judgments, data.rankings, ["NumRelRet"])["NumRelRet"].value == 1

    def test_interpolated_precision_rounds_recall_as_trec_eval_9(self):
        need_peer("ranx")
        module = importlib.import_module("ranx.metrics.interpolated_precision_at_recall")
        judged = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]])
        ranked = np.array([[1.0, 9.0], [8.0, 8.0], [2.0, 7.0], [9.0, 6.0]])  # two of three are found

        levels = module._interpolated_precision.py_func(judged, ranked, 1)  # not compiled, which takes long

        assert levels[7] == pytest.approx(2 / 3)
        judgments, ranking = TWO_OF_THREE
        data = Data({"1": judgments}, {"1": ranking})
        assert evaluate(data.judgments, data.rankings, "IPrec@0.7")["IPrec@0.7"].mean == 0.0


class TestTrecEval9:
    def test_scores_are_kept_in_single_precision_so_that_close_ones_are_equal(self):
        need_peer("trec_eval")
        scores = {"a": 0.1234567891, "b": 0.1234567890}

        assert foreign.trec_eval(Data({"1": {"a": 1}}, {"1": scores}), ["recip_rank"])["recip_rank"]["1"] == 0.5
        assert evaluate({"1": {"a": 1}}, {"1": scores}, "RR")["RR"].mean == 1.0

    def test_a_query_with_all_grades_below_minus_1_crashes_it_behind_another(self):
        need_peer("trec_eval")
        code = (
            "import pytrec_eval\n"
            "judgments = {'1': {'a': 2}, '2': {'a': -2}}\n"
            "pytrec_eval.RelevanceEvaluator(judgments, {'map'}).evaluate({'1': {'a': 1.0}, '2': {'a': 1.0}})\n"
        )

        crashed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)

        assert crashed.returncode != 0
        assert evaluate({"1": {"a": -2}}, {"1": ["a"]}, "AP")["AP"].mean == 0.0

    def test_queries_without_a_ranking_do_not_count_unless_it_is_told(self):
        need_peer("trec_eval")
        data = Data({"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}})

        assert foreign.trec_eval(data, ["map"]) == {"map": {"1": 1.0}}
        ours = evaluate(data.judgments, data.rankings, "AP", policies=Policies(missing_queries="zero"))
        assert ours["AP"].values == {"1": 1.0, "2": 0.0}


class TestNtcireval:
    @pytest.mark.parametrize(
        ("name", "metric", "theirs", "ours"),
        [("nDCG@5", "nDCG(discount='jarvelin')@5", 3.0, 1.0), ("RBP", "RBP(p=0.95)", 0.0491666667, 0.0158333333)],
    )
    def test_a_grade_below_0_is_taken_for_one_counted_from_the_top(self, name, metric, theirs, ours):
        need_peer("ntcireval")
        data = Data({"1": {"a": -1, "b": 1}}, {"1": {"a": 2.0, "b": 1.0}})

        assert foreign.ntcireval(data, [name])[name]["1"] == pytest.approx(theirs)
        assert evaluate(data.judgments, data.rankings, [metric], policies=Policies(scale=3))[
            metric
        ].mean == pytest.approx(ours)


@pytest.mark.skipif(not foreign.TREC_EVAL_10, reason="IREVAL_TREC_EVAL is not the path of a trec_eval 10")
class TestTrecEval10:
    DATA = Data({"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}})

    def test_a_query_without_a_ranking_scores_0_with_its_option_c_and_the_worst_here(self, tmp_path):
        theirs = foreign.trec_eval_10(self.DATA, ["map", "unj_5", "utility"], tmp_path)
        ours = evaluate(
            self.DATA.judgments, self.DATA.rankings, ["AP", "Unjudged@5"], policies=Policies(missing_queries="zero")
        )

        assert [theirs[name]["2"] for name in ("map", "unj_5", "utility")] == [0, 0, 0]
        assert [metric.values["2"] for metric in ours.metrics] == [0, 1]
