"""What other packages call our metrics, and whether the values are equal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pytest_ireval.metrics.metric import Metric


PACKAGES = {
    "trec_eval": "trec_eval",
    "ir_measures": "ir_measures",
    "ranx": "ranx",
    "ntcireval": "NTCIREVAL",
    "scikit-learn": "scikit-learn",
}
"""How each package is named in a table, and how it is written."""

NUMBER_OF_THEIRS = re.compile(r"\{[^}]*\}")


class Elsewhere(NamedTuple):
    """What another package calls a metric; values are equal unless one of the two reasons is given."""

    package: str
    """One of :data:`PACKAGES`."""
    name: str
    """Their name, with the holes of ``ours``: ``ndcg_cut_{cutoff}``."""
    ours: str
    """Our canonical name: ``nDCG@{cutoff}``."""
    differs: str = ""
    """Why values differ, in a line."""
    but_for: str = ""
    """Where values differ though they are equal elsewhere, in a line."""

    @property
    def names(self) -> tuple[str, str]:
        """Theirs and ours as they are shown."""
        theirs, ours = (name.replace("{{", "{").replace("}}", "}") for name in (self.name, self.ours))
        return theirs, ours

    @property
    def equal(self) -> str:
        """The verdict in words."""
        if self.differs:
            return f"no: {self.differs}"
        return f"yes, but for {self.but_for}" if self.but_for else "yes"


class Absent(NamedTuple):
    """A name of another package that has no counterpart here, and why."""

    package: str
    name: str
    why: str


def counterparts(metrics: Iterable[Metric], package: str) -> list[Elsewhere]:
    """What all of these metrics are called in a package, by their name."""
    rows = [row for metric in metrics for row in metric.elsewhere if row.package == package]
    return sorted(rows, key=lambda row: (row.name.lower(), row.ours))


def without_counterpart(metrics: Iterable[Metric], package: str) -> list[Absent]:
    """Names of a package that none of these metrics answers to."""
    known = {row.name for row in counterparts(metrics, package)}
    return [
        Absent(package, name, why) for why, names in _ABSENT[package].items() for name in names if name not in known
    ]


def complaint_about(row: Elsewhere, metric_name: str) -> str:
    """What is wrong with a row of a metric; nothing if it is fine."""
    if row.package not in PACKAGES:
        return f"elsewhere: package {row.package!r} is none of {', '.join(PACKAGES)}"
    if row.differs and row.but_for:
        return f"elsewhere: {row.name!r} either differs or is equal but for something"
    if re.split(r"[(@]", row.ours)[0] != metric_name:
        return f"elsewhere: {row.ours!r} is not a name of this metric"
    return ""


PREFERENCES = (
    "judged preferences between documents, from a file format of their own; "
    "preferences can be handed to a metric of your own, which says needs=('preferences',)"
)
SEVERAL_JUDGES = "averages over several sets of judgments in one file; each set can be evaluated by itself"
SUBTOPICS = "diversity, judged by subtopics: there is no metric for it yet"
CONTINUATION = "user models of the C/W/L family: there is no metric for them yet"

_ABSENT: dict[str, dict[str, tuple[str, ...]]] = {
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
