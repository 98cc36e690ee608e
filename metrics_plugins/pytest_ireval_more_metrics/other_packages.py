"""Names of the built-in metrics in other packages; where values differ."""

from collections.abc import Iterator, Mapping

from pytest_ireval import Elsewhere

NEGATIVE = "grades below 0, which it takes for unjudged documents; here they are judged"
USER_MODEL = (
    "equal scores, which it leaves in the order of the file, and grades above max_rel, which it takes for max_rel; "
    "here they are an error"
)
UNDIVIDED = "cutoff 1, where it does not divide by the number of subtopics"
NO_BEST = "queries without relevant documents, for which it gives NaN; here they score 0"
BY_ID = "equal scores, which it orders by document id ascending"
GRADED = "grades above 1, which it takes for gains; here a document is relevant or not"
ALPHA = "\N{GREEK SMALL LETTER ALPHA}"


def _repeat_names(names: str) -> dict[str, str]:
    return {name: name for name in names.split()}


EQUAL = {
    "trec_eval": {
        **_repeat_names("binG G infAP Rprec"),
        "bpref": "Bpref",
        "dcg": "DCG",
        "dcg_1=3,2=9": "DCG(gains={{1: 3, 2: 9}})",
        "gm_bpref": "GMBpref",
        "gm_map": "GMAP",
        "map": "AP",
        "map_cut_{cutoff}": "AP@{cutoff}",
        "ndcg": "nDCG",
        "ndcg_cut_{cutoff}": "nDCG@{cutoff}",
        "ndcg_rel": "nDCGRel",
        "num_nonrel_judged_ret": "NumNonRelRet",
        "num_q": "NumQ",
        "num_rel": "NumRel",
        "num_rel_ret": "NumRelRet",
        "num_ret": "NumRet",
        "P_{cutoff}": "P@{cutoff}",
        "recall_{cutoff}": "R@{cutoff}",
        "recip_rank": "RR",
        "relative_P_{cutoff}": "CappedR@{cutoff}",
        "Rndcg": "RnDCG",
        "Rprec_mult_{multiple}": "Rprec(multiple={multiple})",
        "set_F": "SetF",
        "set_F_{beta^2}": "SetF(beta={beta})",
        "set_map": "SetAP",
        "set_P": "SetP",
        "set_recall": "SetR",
        "set_relative_P": "SetP(relative=True)",
        "success_{cutoff}": "Success@{cutoff}",
        "utility": "Utility",
        "utility_{hit},{noise},{miss},{rest}": "Utility(hit={hit}, miss={miss}, noise={noise}, rest={rest})",
        "yaap": "YAAP",
    },
    "ir_measures": {
        "BPref": "Bpref",
        "RPrec": "Rprec",
        **_repeat_names(
            "AP AP@{cutoff} Bpref infAP nDCG nDCG@{cutoff} NumQ NumRel NumRelRet NumRet P@{cutoff} "
            "P(rel={rel})@{cutoff} R@{cutoff} Rprec RR SetAP SetF SetP SetR Success@{cutoff}"
        ),
        "MAP": "AP",
        "MRR": "RR",
        "NDCG": "nDCG",
        "nDCG(gains={{1: 3, 2: 5}})@{cutoff}": "nDCG(gains={{1: 3, 2: 5}})@{cutoff}",
        "Precision@{cutoff}": "P@{cutoff}",
        "Recall@{cutoff}": "R@{cutoff}",
        "SetRelP": "SetP(relative=True)",
    },
    "ranx": {
        "dcg": "DCG",
        "dcg@{cutoff}": "DCG@{cutoff}",
        "dcg_burges": "DCG(gain='exp')",
        "dcg_burges@{cutoff}": "DCG(gain='exp')@{cutoff}",
        "f1": "SetF",
        "f1@{cutoff}": "F@{cutoff}",
        "hit_rate": "Success@1000000000",
        "hit_rate@{cutoff}": "Success@{cutoff}",
        "map": "AP",
        "map@{cutoff}": "AP@{cutoff}",
        "mrr": "RR",
        "mrr@{cutoff}": "RR@{cutoff}",
        "ndcg": "nDCG",
        "ndcg@{cutoff}": "nDCG@{cutoff}",
        "ndcg_burges": "nDCG(gain='exp')",
        "ndcg_burges@{cutoff}": "nDCG(gain='exp')@{cutoff}",
        "precision": "SetP",
        "precision@{cutoff}": "P@{cutoff}",
        "precision@{cutoff}-l2": "P(rel=2)@{cutoff}",
        "r-precision": "Rprec",
        "recall": "SetR",
        "recall@{cutoff}": "R@{cutoff}",
    },
    "ntcireval": {
        **_repeat_names("AP OMeasure PMeasure RR"),
        "AP@{cutoff}": "AP(denominator='min')@{cutoff}",
        "ERR": "ERR(gain='ntcir')",
        "Hit@{cutoff}": "Success@{cutoff}",
        "NCUguBR": "NCU",
        "NCUguP": "NCU(beta=0)",
        "NCUrbBR": "NCU(stop='rank_biased')",
        "NCUrbP": "NCU(beta=0, stop='rank_biased')",
        "PPlusMeasure": "PPlus",
        "Precision@{cutoff}": "P@{cutoff}",
        "QMeasure": "Q",
        "QMeasure@{cutoff}": "Q(denominator='min')@{cutoff}",
        "RBP": "RBP(p=0.95)",
    },
    "pyndeval": {
        "alpha-nDCG@{cutoff}": "alpha_nDCG@{cutoff}",
        "MAP-IA": "AP_IA",
        "nERR-IA@{cutoff}": "nERR_IA@{cutoff}",
        "NRBP": "NRBP",
        "P-IA@{cutoff}": "P_IA@{cutoff}",
        "strec@{cutoff}": "StRecall@{cutoff}",
    },
    "cwl-eval": {
        "BPMCWLMetric({T}, {cutoff})": "BPM(T={T})@{cutoff}",
        "BPMDCWLMetric({T}, {K}, {hb}, 0)": "BPMD(K={K}, T={T}, hb={hb}, hc=0)",
        "IFTGoalCWLMetric({T}, {b1}, {R1})": "IFT(R1={R1}, T={T}, b1={b1}, stop='goal')",
        "IFTGoalRateCWLMetric({T}, {b1}, {R1}, {A}, {b2}, {R2})": (
            "IFT(A={A}, R1={R1}, R2={R2}, T={T}, b1={b1}, b2={b2})"
        ),
        "IFTRateCWLMetric({A}, {b2}, {R2})": "IFT(A={A}, R2={R2}, b2={b2}, stop='rate')",
        "INSQCWLMetric({T})": "INSQ(T={T})",
        "INSTCWLMetric({T})": "INST(T={T})",
        "NDCGCWLMetric({cutoff})": "SDCG@{cutoff}",
        "NERReq8CWLMetric({cutoff})": "NERR8@{cutoff}",
        "NERReq9CWLMetric({cutoff})": "NERR9@{cutoff}",
        "NERReq10CWLMetric({p})": "NERR10(p={p})",
        "NERReq11CWLMetric({T})": "NERR11(T={T})",
        "NPVCWLMetric({rate})": "NPV(rate={rate})",
        "RBPCWLMetric({p})": "RBP(p={p})",
        "TBGCWLMetric({halflife})": "TBG(halflife={halflife})",
    },
    "scikit-learn": {"f1_score": "SetF", "precision_score": "SetP", "recall_score": "SetR"},
}
"""By package: its name for each of our metrics that has equal values."""
BUT_FOR = {
    "trec_eval": {
        "gains less than 1 apart, which it cannot sort": {
            "G_1=3,2=9": "G(gains={{1: 3, 2: 9}})",
            "ndcg_1=3,2=9": "nDCG(gains={{1: 3, 2: 9}})",
            "ndcg_rel_1=3,2=9": "nDCGRel(gains={{1: 3, 2: 9}})",
            "Rndcg_1=3,2=9": "RnDCG(gains={{1: 3, 2: 9}})",
        },
        "versions before 10, which add 0.9 to recall times R and cut off: the default is that, but for slips "
        "such as 0.7 of 3, which they take for 2": {
            "11pt_avg": "IPrecAvg(rounding='nearest')",
            "iprec_at_recall_{recall}": "IPrec(rounding='nearest')@{recall}",
        },
        "a query whose grades are all below 0, for which it gives the figure of the query before; here it is 0": {
            "ideal_dcg": "IDCG"
        },
        "lists without unjudged documents, for which it gives 0; here documents below the list always count. "
        "It takes grades below 0 for unjudged, too": {"rbp_resid": "RBPResidual(p=0.9)"},
        NEGATIVE: {"unj_{cutoff}": "Unjudged@{cutoff}"},
    },
    "ir_measures": {
        "slips such as recall 0.7 of 3 documents, which the trec_eval 9 that it asks takes for 2": {
            "IPrec@{recall}": "IPrec@{recall}"
        },
        "equal scores, which it leaves in the order of the file, and queries for which no relevant document "
        "is retrieved, which it leaves out of the mean, or no other one, on which it fails; here they score 0"
        " and 1": {"Accuracy": "Accuracy"},
        NEGATIVE: {"AP(judged_only=True)": "AP(judged_only=True)"},
        f"{BY_ID}, and scores below 0, behind which it sorts relevant documents that were not retrieved; here "
        "those are last": {"Compat": "Compat"},
        "the sixth decimal: its gdeval rounds to five, and wants query ids that are numbers and grades up to 4": {
            "ERR@{cutoff}": "ERR(max_grade=4)@{cutoff}"
        },
        BY_ID: {
            "Judged@{cutoff}": "Judged@{cutoff}",
            "alpha_nDCG@{cutoff}": "alpha_nDCG@{cutoff}",
            f"{ALPHA}_nDCG@{{cutoff}}": "alpha_nDCG@{cutoff}",
            "AP_IA": "AP_IA",
            "MAP_IA": "AP_IA",
            "nERR_IA@{cutoff}": "nERR_IA@{cutoff}",
            "P_IA@{cutoff}": "P_IA@{cutoff}",
            "StRecall@{cutoff}": "StRecall@{cutoff}",
            "NRBP": "NRBP",
        },
        "the sixth decimal: its gdeval rounds to five, and wants query ids that are numbers": {
            "nDCG(dcg='exp-log2')@{cutoff}": "nDCG(gain='exp')@{cutoff}"
        },
        "equal scores, which it leaves in the order of the file, and what ranks below 1000, where it stops": {
            "RBP(p={p}, rel=1)": "RBP(p={p}, rel=1)"
        },
        f"{BY_ID}; without a cutoff it takes trec_eval's order": {"RR@{cutoff}": "RR@{cutoff}"},
        f"gains that add up to T but for rounding (six times 1/3), which do not stop its reader; {USER_MODEL}": {
            "BPM(T={T}, max_rel={max_rel})@{cutoff}": "BPM(T={T}, max_grade={max_rel})@{cutoff}"
        },
        USER_MODEL: {
            "INSQ(T={T}, max_rel={max_rel})": "INSQ(T={T}, max_grade={max_rel})",
            "INST(T={T}, max_rel={max_rel})": "INST(T={T}, max_grade={max_rel})",
            "NERR8(max_rel={max_rel})@{cutoff}": "NERR8(max_grade={max_rel})@{cutoff}",
            "NERR9(max_rel={max_rel})@{cutoff}": "NERR9(max_grade={max_rel})@{cutoff}",
            "NERR10(p={p}, max_rel={max_rel})": "NERR10(p={p}, max_grade={max_rel})",
            "NERR11(T={T}, max_rel={max_rel})": "NERR11(T={T}, max_grade={max_rel})",
            "SDCG(max_rel={max_rel})@{cutoff}": "SDCG(max_grade={max_rel})@{cutoff}",
            "SDCG(max_rel={max_rel}, min_rel={min_rel})@{cutoff}": (
                "SDCG(max_grade={max_rel}, min_grade={min_rel})@{cutoff}"
            ),
        },
        f"{BY_ID}, and {UNDIVIDED}": {
            "alpha_DCG@{cutoff}": "alpha_DCG@{cutoff}",
            f"{ALPHA}_DCG@{{cutoff}}": "alpha_DCG@{cutoff}",
            "ERR_IA@{cutoff}": "ERR_IA@{cutoff}",
        },
        f"{BY_ID}, and {NO_BEST}": {"nNRBP": "nNRBP"},
    },
    "ranx": {
        "grades below 0, which it counts as not relevant, and queries without relevant documents or without "
        "others, for which it gives NaN": {"bpref": "Bpref"},
        "the figure for all queries: it averages, here they are added up": {
            "hits": "NumRelRet",
            "hits@{cutoff}": "NumRelRet@{cutoff}",
        },
        "grades above 1, which it takes for gains as they are, so that a score may exceed 1; here gain is "
        "grade / max_grade": {"rbp.{p}": "RBP(p=0.{p})"},
    },
    "ntcireval": {
        "queries without relevant documents, on which it fails or gives NaN; here they score 0": {
            "MSnDCG@{cutoff}": "nDCG@{cutoff}",
            "nDCG@{cutoff}": "nDCG(discount='jarvelin')@{cutoff}",
            "nERR@{cutoff}": "nERR(gain='ntcir')@{cutoff}",
        }
    },
    "pyndeval": {
        UNDIVIDED: {"alpha-DCG@{cutoff}": "alpha_DCG@{cutoff}", "ERR-IA@{cutoff}": "ERR_IA@{cutoff}"},
        NO_BEST: {"nNRBP": "nNRBP"},
    },
    "cwl-eval": {
        f"relevant documents that were not retrieved, by which it does not divide, and {GRADED}": {
            "APCWLMetric()": "AP"
        },
        GRADED: {"PrecisionCWLMetric({cutoff})": "P@{cutoff}", "RRCWLMetric()": "RR", "TrAPCWLMetric()": "AP"},
        "L from 1000 on, where the last rank that it knows weighs nothing": {"UMeasureCWLMetric({L})": "U(L={L})"},
    },
    "scikit-learn": {
        "equal scores, which it takes as one step": {"average_precision_score": "AP"},
        "equal scores, over whose orders it averages; --ties says which order is taken here": {
            "dcg_score": "DCG",
            "dcg_score(k={cutoff})": "DCG@{cutoff}",
            "ndcg_score": "nDCG",
            "ndcg_score(k={cutoff})": "nDCG@{cutoff}",
        },
        "equal scores, which it all counts as above, and queries without relevant documents, which score 1": {
            "label_ranking_average_precision_score": "AP"
        },
        "equal scores, which count half": {"roc_auc_score": "Accuracy"},
    },
}
"""By package: the cases in which values differ, and the names to which each applies."""
DIFFERS = {
    "trec_eval": {
        "it scales gains by the lowest and highest grade of the query, beginning with memory that it has not "
        "initialised; here gain is grade / max_grade, one for all queries": {"rbp": "RBP(p=0.9)"}
    },
    "ir_measures": {
        "it hands beta to trec_eval, which takes it for the square of beta": {
            "SetF(beta={beta}.0)": "SetF(beta={beta})"
        }
    },
    "ranx": {
        "it gives all eleven levels in one call, and takes 0.7 of 3 documents for 2, as trec_eval 9 did": {
            "interpolated_precision_at_recall": "IPrec@{recall}"
        }
    },
    "cwl-eval": {
        "with hc above 0 the cost that its reader would pay never changes": {
            "BPMDCWLMetric({T}, {K}, {hb}, {hc})": "BPMD(K={K}, T={T}, hb={hb}, hc={hc})"
        },
        "it takes the chance to go on at a rank for that at the next": {
            "SETCWLMetric({beta}, {cutoff})": "SET(beta={beta})@{cutoff}"
        },
    },
    "scikit-learn": {"it is the share of pairs in the wrong order: 1 - Accuracy": {"label_ranking_loss": "Accuracy"}},
}
"""By package: the reason why values always differ, and the names to which it applies."""


def _make_rows(field: str, table: Mapping[str, Mapping[str, Mapping[str, str]]]) -> Iterator[Elsewhere]:
    for package, reasons in table.items():
        for reason, names in reasons.items():
            yield from (Elsewhere(package, *row, **{field: reason}) for row in names.items())


NO_COUNTERPART = {
    "trec_eval": {
        "text, not a number: the tag of the rankings file": "runid",
        "text, not a number: the relevance of the first documents, character by character": "relstring",
        "judged preferences between documents, which have their own file format; "
        "your own metric can use preferences: declare needs=('preferences',)": (
            "prefs_num_prefs_poss prefs_num_prefs_ful prefs_num_prefs_ful_ret prefs_simp prefs_pair prefs_avgjg "
            "prefs_avgjg_Rnonrel prefs_simp_ret prefs_pair_ret prefs_avgjg_ret prefs_avgjg_Rnonrel_ret "
            "prefs_simp_imp prefs_pair_imp prefs_avgjg_imp"
        ),
        "averages over several sets of judgments in one file; evaluate each set separately instead": (
            "map_avgjg P_avgjg Rprec_mult_avgjg"
        ),
        "in the source of trec_eval 10, but not offered by it; nDCG(discount='jarvelin') gives the same values": (
            "ndcg_p"
        ),
    },
    "ranx": {"a list for each query, not a number": "get_hit_lists"},
    "cwl-eval": {"the base of its measures, not one of them": "CWLMetric"},
    "scikit-learn": {
        "the depth at which every relevant document is found; IPrec@1 gives the same as a precision": "coverage_error",
        "1 if the correct class is among the first k; for rankings use Success@k": "top_k_accuracy_score",
    },
}
"""By package: the reason why there is no such metric here, and the names to which it applies."""


def list_names_elsewhere() -> list[Elsewhere]:
    """All rows of the tables above."""
    absent = {
        package: {why: dict.fromkeys(names.split(), "") for why, names in reasons.items()}
        for package, reasons in NO_COUNTERPART.items()
    }
    return [
        *(Elsewhere(package, *row) for package, names in EQUAL.items() for row in names.items()),
        *_make_rows("differs", DIFFERS),
        *_make_rows("but_for", BUT_FOR),
        *_make_rows("differs", absent),
    ]
