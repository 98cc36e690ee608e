"""Names of other packages that have no counterpart among the metrics, with the reason."""

from __future__ import annotations

PREFERENCES = (
    "judged preferences between documents, from a file format of their own; "
    "preferences can be handed to a metric of your own, which says needs=('preferences',)"
)
SEVERAL_JUDGES = "averages over several sets of judgments in one file; each set can be evaluated by itself"
SUBTOPICS = "diversity, judged by subtopics: there is no metric for it yet"
CONTINUATION = "user models of the C/W/L family: there is no metric for them yet"

ABSENT: dict[str, dict[str, tuple[str, ...]]] = {
    "trec_eval": {
        "text, not a number: the tag of the rankings file": ("runid",),
        "text, not a number: the relevance of the first documents, character by character": ("relstring",),
        PREFERENCES: (
            "prefs_num_prefs_poss",
            "prefs_num_prefs_ful",
            "prefs_num_prefs_ful_ret",
            "prefs_simp",
            "prefs_pair",
            "prefs_avgjg",
            "prefs_avgjg_Rnonrel",
            "prefs_simp_ret",
            "prefs_pair_ret",
            "prefs_avgjg_ret",
            "prefs_avgjg_Rnonrel_ret",
            "prefs_simp_imp",
            "prefs_pair_imp",
            "prefs_avgjg_imp",
        ),
        SEVERAL_JUDGES: ("map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
        "in the source of trec_eval 10, but not offered by it; nDCG(discount='jarvelin') is the same": ("ndcg_p",),
    },
    "ir_measures": {
        SUBTOPICS: (
            "alpha_DCG",
            "alpha_nDCG",
            "\N{GREEK SMALL LETTER ALPHA}_DCG",
            "\N{GREEK SMALL LETTER ALPHA}_nDCG",
            "AP_IA",
            "ERR_IA",
            "MAP_IA",
            "nERR_IA",
            "nNRBP",
            "NRBP",
            "P_IA",
            "StRecall",
        ),
        CONTINUATION: ("BPM", "INSQ", "INST", "NERR8", "NERR9", "NERR10", "NERR11", "SDCG"),
    },
    "ranx": {"a list for each query, not a number": ("get_hit_lists",)},
    "ntcireval": {},
    "scikit-learn": {
        "how deep one must go to find every relevant document; IPrec@1 says it as a precision": ("coverage_error",),
        "whether the one right class is among the first; of rankings, Success@k says it": ("top_k_accuracy_score",),
    },
}
"""By package: a reason, and the names it holds for."""
