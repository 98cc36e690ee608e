"""Names of the built-in metrics in other packages; where values differ."""

import math
import re
from collections.abc import Mapping
from typing import Any

from pytest_ireval import Elsewhere, MetricError

NEGATIVE = "grades below 0, which it takes for unjudged documents; here they are judged"
NOTHING_RELEVANT = "queries without relevant documents, on which it fails or gives NaN; here they score 0"
TIES = "equal scores, over whose orders it averages; --ties says which order is taken here"

ROUNDING = (
    "versions before 10, which add 0.9 to recall times R and cut off: rounding='up' is that, but for slips such as "
    "0.7 of 3, which they take for 2"
)
GAINS = "gains less than 1 apart, which it cannot sort"
USER_MODEL = (
    "equal scores, which it leaves in the order of the file, and grades above max_rel, which it takes for max_rel; "
    "here they are an error"
)

TREC_EVAL = [
    ("binG", "binG"),
    ("bpref", "Bpref"),
    ("dcg", "DCG"),
    ("dcg_1=3,2=9", "DCG(gains={{1: 3, 2: 9}})"),
    ("G", "G"),
    ("gm_bpref", "GMBpref"),
    ("gm_map", "GMAP"),
    ("infAP", "infAP"),
    ("map", "AP"),
    ("map_cut_{cutoff}", "AP@{cutoff}"),
    ("ndcg", "nDCG"),
    ("ndcg_cut_{cutoff}", "nDCG@{cutoff}"),
    ("ndcg_rel", "nDCGRel"),
    ("num_nonrel_judged_ret", "NumNonRelRet"),
    ("num_q", "NumQ"),
    ("num_rel", "NumRel"),
    ("num_rel_ret", "NumRelRet"),
    ("num_ret", "NumRet"),
    ("P_{cutoff}", "P@{cutoff}"),
    ("recall_{cutoff}", "R@{cutoff}"),
    ("recip_rank", "RR"),
    ("relative_P_{cutoff}", "CappedR@{cutoff}"),
    ("Rndcg", "RnDCG"),
    ("Rprec", "Rprec"),
    ("Rprec_mult_{multiple}", "Rprec(multiple={multiple})"),
    ("set_F", "SetF"),
    ("set_F_{beta^2}", "SetF(beta={beta})"),
    ("set_map", "SetAP"),
    ("set_P", "SetP"),
    ("set_recall", "SetR"),
    ("set_relative_P", "SetP(relative=True)"),
    ("success_{cutoff}", "Success@{cutoff}"),
    ("utility", "Utility"),
    ("utility_{hit},{noise},{miss},{rest}", "Utility(hit={hit}, miss={miss}, noise={noise}, rest={rest})"),
    ("yaap", "YAAP"),
]
TREC_EVAL_NOT_QUITE = [
    *(
        (f"{name}_1=3,2=9", f"{ours}(gains={{{{1: 3, 2: 9}}}})", "", GAINS)
        for name, ours in (("G", "G"), ("ndcg", "nDCG"), ("ndcg_rel", "nDCGRel"), ("Rndcg", "RnDCG"))
    ),
    ("11pt_avg", "IPrecAvg", "", ROUNDING),
    ("iprec_at_recall_{recall}", "IPrec@{recall}", "", ROUNDING),
    (
        "ideal_dcg",
        "IDCG",
        "",
        "a query whose grades are all below 0, for which it gives the figure of the query before; here it is 0",
    ),
    (
        "rbp",
        "RBP(p=0.9)",
        "it scales gains by the lowest and highest grade of the query, beginning with memory that it has not "
        "initialised; here gain is grade / max_grade, one for all queries",
        "",
    ),
    (
        "rbp_resid",
        "RBPResidual(p=0.9)",
        "",
        "lists without unjudged documents, for which it gives 0; here documents below the list always count. "
        "It takes grades below 0 for unjudged, too",
    ),
    ("unj_{cutoff}", "Unjudged@{cutoff}", "", NEGATIVE),
]
IR_MEASURES = [
    ("AP", "AP"),
    ("AP@{cutoff}", "AP@{cutoff}"),
    ("BPref", "Bpref"),
    ("Bpref", "Bpref"),
    ("infAP", "infAP"),
    ("MAP", "AP"),
    ("MRR", "RR"),
    ("nDCG", "nDCG"),
    ("NDCG", "nDCG"),
    ("nDCG@{cutoff}", "nDCG@{cutoff}"),
    ("nDCG(gains={{1: 3, 2: 5}})@{cutoff}", "nDCG(gains={{1: 3, 2: 5}})@{cutoff}"),
    ("NumQ", "NumQ"),
    ("NumRel", "NumRel"),
    ("NumRelRet", "NumRelRet"),
    ("NumRet", "NumRet"),
    ("P@{cutoff}", "P@{cutoff}"),
    ("P(rel={rel})@{cutoff}", "P(rel={rel})@{cutoff}"),
    ("Precision@{cutoff}", "P@{cutoff}"),
    ("R@{cutoff}", "R@{cutoff}"),
    ("Recall@{cutoff}", "R@{cutoff}"),
    ("RPrec", "Rprec"),
    ("Rprec", "Rprec"),
    ("RR", "RR"),
    ("SetAP", "SetAP"),
    ("SetF", "SetF"),
    ("SetP", "SetP"),
    ("SetR", "SetR"),
    ("SetRelP", "SetP(relative=True)"),
    ("Success@{cutoff}", "Success@{cutoff}"),
]
IR_MEASURES_NOT_QUITE = [
    (
        "IPrec@{recall}",
        "IPrec(rounding='up')@{recall}",
        "",
        "slips such as recall 0.7 of 3 documents, which the trec_eval 9 that it asks takes for 2",
    ),
    (
        "Accuracy",
        "Accuracy",
        "",
        "equal scores, which it leaves in the order of the file, and queries for which no relevant document is "
        "retrieved, which it leaves out of the mean, or no other one, on which it fails; here they score 0 and 1",
    ),
    ("AP(judged_only=True)", "AP(judged_only=True)", "", NEGATIVE),
    (
        "Compat",
        "Compat",
        "",
        "equal scores, which it orders by document id ascending, and scores below 0, behind which it sorts relevant "
        "documents that were not retrieved; here those are last",
    ),
    (
        "ERR@{cutoff}",
        "ERR(max_grade=4)@{cutoff}",
        "",
        "the sixth decimal: its gdeval rounds to five, and wants query ids that are numbers and grades up to 4",
    ),
    ("Judged@{cutoff}", "Judged@{cutoff}", "", "equal scores, which it orders by document id ascending"),
    (
        "nDCG(dcg='exp-log2')@{cutoff}",
        "nDCG(gain='exp')@{cutoff}",
        "",
        "the sixth decimal: its gdeval rounds to five, and wants query ids that are numbers",
    ),
    (
        "RBP(p={p}, rel=1)",
        "RBP(p={p}, rel=1)",
        "",
        "equal scores, which it leaves in the order of the file, and what ranks below 1000, where it stops",
    ),
    (
        "RR@{cutoff}",
        "RR@{cutoff}",
        "",
        "equal scores, which it orders by document id ascending; without a cutoff it takes trec_eval's order",
    ),
    (
        "BPM(T={T}, max_rel={max_rel})@{cutoff}",
        "BPM(T={T}, max_grade={max_rel})@{cutoff}",
        "",
        f"gains that add up to T but for rounding (six times 1/3), which do not stop its reader; {USER_MODEL}",
    ),
    *(
        (f"{name}({own}max_rel={{max_rel}}){at}", f"{name}({own}max_grade={{max_rel}}){at}", "", USER_MODEL)
        for name, own, at in (
            ("INSQ", "T={T}, ", ""),
            ("INST", "T={T}, ", ""),
            ("NERR8", "", "@{cutoff}"),
            ("NERR9", "", "@{cutoff}"),
            ("NERR10", "p={p}, ", ""),
            ("NERR11", "T={T}, ", ""),
            ("SDCG", "", "@{cutoff}"),
        )
    ),
    (
        "SDCG(max_rel={max_rel}, min_rel={min_rel})@{cutoff}",
        "SDCG(max_grade={max_rel}, min_grade={min_rel})@{cutoff}",
        "",
        USER_MODEL,
    ),
    (
        "SetF(beta={beta}.0)",
        "SetF(beta={beta})",
        "it hands beta to trec_eval, which takes it for the square of beta",
        "",
    ),
]
UNDIVIDED = "cutoff 1, where it does not divide by the number of subtopics"
NO_BEST = "queries without relevant documents, for which it gives NaN; here they score 0"
BY_ID = "equal scores, which it orders by document id ascending"
AT_1 = f"{BY_ID}, and {UNDIVIDED}"
ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
IR_MEASURES_NOT_QUITE += [
    *((f"{name}@{{cutoff}}", "alpha_DCG@{cutoff}", "", AT_1) for name in ("alpha_DCG", f"{ALPHA}_DCG")),
    *((f"{name}@{{cutoff}}", "alpha_nDCG@{cutoff}", "", BY_ID) for name in ("alpha_nDCG", f"{ALPHA}_nDCG")),
    *((name, "AP_IA", "", BY_ID) for name in ("AP_IA", "MAP_IA")),
    ("ERR_IA@{cutoff}", "ERR_IA@{cutoff}", "", AT_1),
    *((f"{name}@{{cutoff}}", f"{name}@{{cutoff}}", "", BY_ID) for name in ("nERR_IA", "P_IA", "StRecall")),
    ("nNRBP", "nNRBP", "", f"{BY_ID}, and {NO_BEST}"),
    ("NRBP", "NRBP", "", BY_ID),
]
RANX = [
    ("dcg", "DCG"),
    ("dcg@{cutoff}", "DCG@{cutoff}"),
    ("dcg_burges", "DCG(gain='exp')"),
    ("dcg_burges@{cutoff}", "DCG(gain='exp')@{cutoff}"),
    ("f1", "SetF"),
    ("f1@{cutoff}", "F@{cutoff}"),
    ("hit_rate", "Success@1000000000"),
    ("hit_rate@{cutoff}", "Success@{cutoff}"),
    ("map", "AP"),
    ("map@{cutoff}", "AP@{cutoff}"),
    ("mrr", "RR"),
    ("mrr@{cutoff}", "RR@{cutoff}"),
    ("ndcg", "nDCG"),
    ("ndcg@{cutoff}", "nDCG@{cutoff}"),
    ("ndcg_burges", "nDCG(gain='exp')"),
    ("ndcg_burges@{cutoff}", "nDCG(gain='exp')@{cutoff}"),
    ("precision", "SetP"),
    ("precision@{cutoff}", "P@{cutoff}"),
    ("precision@{cutoff}-l2", "P(rel=2)@{cutoff}"),
    ("r-precision", "Rprec"),
    ("recall", "SetR"),
    ("recall@{cutoff}", "R@{cutoff}"),
]
RANX_NOT_QUITE = [
    (
        "bpref",
        "Bpref",
        "",
        "grades below 0, which it counts as not relevant, and queries without relevant documents or without others, "
        "for which it gives NaN",
    ),
    ("hits", "NumRelRet", "", "the figure for all queries: it averages, here they are added up"),
    ("hits@{cutoff}", "NumRelRet@{cutoff}", "", "the figure for all queries: it averages, here they are added up"),
    (
        "interpolated_precision_at_recall",
        "IPrec@{recall}",
        "it turns recall times R into a number of documents by adding 0.9 and cutting off, as trec_eval 9 did, and "
        "gives all eleven levels in one call",
        "",
    ),
    (
        "rbp.{p}",
        "RBP(p=0.{p})",
        "",
        "grades above 1, which it takes for gains as they are, so that a score may exceed 1; here gain is grade / "
        "max_grade",
    ),
]
NTCIREVAL = [
    ("AP", "AP"),
    ("AP@{cutoff}", "AP(denominator='min')@{cutoff}"),
    ("ERR", "ERR(gain='ntcir')"),
    ("Hit@{cutoff}", "Success@{cutoff}"),
    ("NCUguBR", "NCU"),
    ("NCUguP", "NCU(beta=0)"),
    ("NCUrbBR", "NCU(stop='rank_biased')"),
    ("NCUrbP", "NCU(beta=0, stop='rank_biased')"),
    ("OMeasure", "OMeasure"),
    ("PMeasure", "PMeasure"),
    ("PPlusMeasure", "PPlus"),
    ("Precision@{cutoff}", "P@{cutoff}"),
    ("QMeasure", "Q"),
    ("QMeasure@{cutoff}", "Q(denominator='min')@{cutoff}"),
    ("RBP", "RBP(p=0.95)"),
    ("RR", "RR"),
]
NTCIREVAL_NOT_QUITE = [
    ("MSnDCG@{cutoff}", "nDCG@{cutoff}", "", NOTHING_RELEVANT),
    ("nDCG@{cutoff}", "nDCG(discount='jarvelin')@{cutoff}", "", NOTHING_RELEVANT),
    ("nERR@{cutoff}", "nERR(gain='ntcir')@{cutoff}", "", NOTHING_RELEVANT),
]
PYNDEVAL = [
    ("alpha-nDCG@{cutoff}", "alpha_nDCG@{cutoff}"),
    ("MAP-IA", "AP_IA"),
    ("nERR-IA@{cutoff}", "nERR_IA@{cutoff}"),
    ("NRBP", "NRBP"),
    ("P-IA@{cutoff}", "P_IA@{cutoff}"),
    ("strec@{cutoff}", "StRecall@{cutoff}"),
]
PYNDEVAL_NOT_QUITE = [
    ("alpha-DCG@{cutoff}", "alpha_DCG@{cutoff}", "", UNDIVIDED),
    ("ERR-IA@{cutoff}", "ERR_IA@{cutoff}", "", UNDIVIDED),
    ("nNRBP", "nNRBP", "", NO_BEST),
]
CWL_EVAL = [
    ("BPMCWLMetric({T}, {cutoff})", "BPM(T={T})@{cutoff}"),
    ("BPMDCWLMetric({T}, {K}, {hb}, 0)", "BPMD(K={K}, T={T}, hb={hb}, hc=0)"),
    ("IFTGoalCWLMetric({T}, {b1}, {R1})", "IFT(R1={R1}, T={T}, b1={b1}, stop='goal')"),
    ("IFTGoalRateCWLMetric({T}, {b1}, {R1}, {A}, {b2}, {R2})", "IFT(A={A}, R1={R1}, R2={R2}, T={T}, b1={b1}, b2={b2})"),
    ("IFTRateCWLMetric({A}, {b2}, {R2})", "IFT(A={A}, R2={R2}, b2={b2}, stop='rate')"),
    ("INSQCWLMetric({T})", "INSQ(T={T})"),
    ("INSTCWLMetric({T})", "INST(T={T})"),
    ("NDCGCWLMetric({cutoff})", "SDCG@{cutoff}"),
    ("NERReq8CWLMetric({cutoff})", "NERR8@{cutoff}"),
    ("NERReq9CWLMetric({cutoff})", "NERR9@{cutoff}"),
    ("NERReq10CWLMetric({p})", "NERR10(p={p})"),
    ("NERReq11CWLMetric({T})", "NERR11(T={T})"),
    ("NPVCWLMetric({rate})", "NPV(rate={rate})"),
    ("RBPCWLMetric({p})", "RBP(p={p})"),
    ("TBGCWLMetric({halflife})", "TBG(halflife={halflife})"),
]
GRADED = "grades above 1, which it takes for gains; here a document is relevant or not"
CWL_EVAL_NOT_QUITE = [
    (
        "APCWLMetric()",
        "AP",
        "",
        f"relevant documents that were not retrieved, by which it does not divide, and {GRADED}",
    ),
    (
        "BPMDCWLMetric({T}, {K}, {hb}, {hc})",
        "BPMD(K={K}, T={T}, hb={hb}, hc={hc})",
        "with hc above 0 the cost that its reader would pay never changes",
        "",
    ),
    ("PrecisionCWLMetric({cutoff})", "P@{cutoff}", "", GRADED),
    ("RRCWLMetric()", "RR", "", GRADED),
    (
        "SETCWLMetric({beta}, {cutoff})",
        "SET(beta={beta})@{cutoff}",
        "it takes the chance to go on at a rank for that at the next",
        "",
    ),
    ("TrAPCWLMetric()", "AP", "", GRADED),
    ("UMeasureCWLMetric({L})", "U(L={L})", "", "L from 1000 on, where the last rank that it knows weighs nothing"),
]
SCIKIT_LEARN = [("f1_score", "SetF"), ("precision_score", "SetP"), ("recall_score", "SetR")]
SCIKIT_LEARN_NOT_QUITE = [
    ("average_precision_score", "AP", "", "equal scores, which it takes as one step"),
    ("dcg_score", "DCG", "", TIES),
    ("dcg_score(k={cutoff})", "DCG@{cutoff}", "", TIES),
    (
        "label_ranking_average_precision_score",
        "AP",
        "",
        "equal scores, which it all counts as above, and queries without relevant documents, which score 1",
    ),
    ("label_ranking_loss", "Accuracy", "it is the share of pairs in the wrong order: 1 - Accuracy", ""),
    ("ndcg_score", "nDCG", "", TIES),
    ("ndcg_score(k={cutoff})", "nDCG@{cutoff}", "", TIES),
    ("roc_auc_score", "Accuracy", "", "equal scores, which count half"),
]

ROWS = [
    *(Elsewhere("trec_eval", *row) for row in TREC_EVAL + TREC_EVAL_NOT_QUITE),
    *(Elsewhere("ir_measures", *row) for row in IR_MEASURES + IR_MEASURES_NOT_QUITE),
    *(Elsewhere("ranx", *row) for row in RANX + RANX_NOT_QUITE),
    *(Elsewhere("ntcireval", *row) for row in NTCIREVAL + NTCIREVAL_NOT_QUITE),
    *(Elsewhere("pyndeval", *row) for row in PYNDEVAL + PYNDEVAL_NOT_QUITE),
    *(Elsewhere("cwl-eval", *row) for row in CWL_EVAL + CWL_EVAL_NOT_QUITE),
    *(Elsewhere("scikit-learn", *row) for row in SCIKIT_LEARN + SCIKIT_LEARN_NOT_QUITE),
]


_BY_METRIC: dict[str, list[Elsewhere]] = {}
for _row in ROWS:
    _BY_METRIC.setdefault(re.split(r"[(@]", _row.ours)[0], []).append(_row)


def rows_of(name: str) -> tuple[Elsewhere, ...]:
    """The rows of one metric."""
    return tuple(_BY_METRIC.get(name, ()))


def _err(given: Mapping[str, Any]) -> dict[str, Any]:
    """Gdeval, which ir_measures asks, knows one scale."""
    return {"max_grade": 4, **given}


def _iprec(given: Mapping[str, Any]) -> dict[str, Any]:
    recall = given.get("recall", 0)
    if recall != round(recall, 2):
        raise MetricError(f"ir_measures rounds recall {recall} to two decimals: write IPrec@{round(recall, 2)}")
    return {"rounding": "up", **given}


def _not_at_1(given: Mapping[str, Any]) -> dict[str, Any]:
    if given.get("cutoff") == 1:
        raise MetricError("at cutoff 1, ir_measures does not divide by the number of subtopics; take another cutoff")
    return {**given}


def _set_f(given: Mapping[str, Any]) -> dict[str, Any]:
    """Ir_measures hands beta to trec_eval, which takes it for the square of beta."""
    return {**given, "beta": math.sqrt(given.get("beta", 1))}


def _sdcg(given: Mapping[str, Any]) -> dict[str, Any]:
    if given.get("dcg", "log2") != "log2":
        raise MetricError(f"dcg={given['dcg']!r} is unknown; ir_measures allows 'log2'")
    return {name: value for name, value in given.items() if name != "dcg"}


DIALECTS = {
    "ERR": {"ir_measures": _err},
    "IPrec": {"ir_measures": _iprec},
    "SetF": {"ir_measures": _set_f},
    "SDCG": {"ir_measures": _sdcg},
    "ERR_IA": {"ir_measures": _not_at_1},
    "alpha_DCG": {"ir_measures": _not_at_1},
}
"""By metric and package: the arguments here for those of a name in the dialect of the package."""
