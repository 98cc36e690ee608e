"""The long tail of metrics: known by name, and imported when one of them is named.

Diversity, preferences, models of users, correlation, what single packages have, and the names of other packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from pytest_ireval import hookimpl

if TYPE_CHECKING:
    from pytest_ireval import Elsewhere, Metric, MetricResolver

NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "sets_and_pairs": {
        "CappedR": ("R_cap", "recall_cap_{cutoff}", "relative_P_{cutoff}"),
        "SetAP": ("set_map",),
        "FallOut": ("fallout",),
        "Accuracy": (),
    },
    "average_precision": {"GMAP": ("gm_map", "gm_ap"), "YAAP": (), "GAP": (), "GMBpref": ("gm_bpref",), "infAP": ()},
    "cumulated_gain": {
        "nDCGRel": ("ndcg_rel", "ndcg_rel_{gains}"),
        "RnDCG": ("Rndcg_{gains}",),
        "G": ("G_{gains}",),
        "binG": (),
    },
    "blended_ratio": {
        "AWP": (),
        "OMeasure": ("O_measure",),
        "PMeasure": ("P_measure",),
        "PPlus": ("P_plus", "PPlusMeasure"),
        "NCU": (),
    },
    "user_models": {
        "nERR": (),
        "RBPResidual": ("rbp_resid", "rbp_resid_p={p}"),
        "SDCG": (),
        "INSQ": (),
        "INST": (),
        "NERR8": (),
        "NERR9": (),
        "NERR10": (),
        "NERR11": (),
    },
    "continuation": {"BPM": (), "BPMD": (), "IFT": (), "NPV": (), "SET": (), "TBG": (), "U": ()},
    "diversity": {
        "ERR_IA": (),
        "nERR_IA": (),
        "alpha_DCG": ("\N{GREEK SMALL LETTER ALPHA}_DCG",),
        "alpha_nDCG": ("\N{GREEK SMALL LETTER ALPHA}_nDCG",),
        "NRBP": (),
        "nNRBP": (),
        "AP_IA": ("MAP_IA",),
        "P_IA": (),
        "StRecall": ("strec", "iRec"),
        "D_nDCG": (),
        "Dsharp_nDCG": (),
    },
    "user_oriented": {
        "CoverageRatio": (),
        "NoveltyRatio": (),
        "RelativeRecall": (),
        "RecallEffort": (),
        "ESL": ("expected_search_length",),
        "SessionRBP": ("sRBP",),
    },
    "agreement": {"Compat": ("compatibility",), "AverageOverlap": (), "Jaccard": ()},
    "correlation": {"KendallTau": (), "TauAP": (), "SpearmanRho": (), "WeightedTau": ()},
    "preferences": {
        "RPP": ("invrpp", "dcgrpp", "recall_paired_preference"),
        "LexiRecall": (),
        "LexiPrecision": ("rrlexiprecision",),
        "PPref": (),
        "RPref": (),
        "TauPref": (),
    },
}
"""By file: the metrics that it defines, each with its other names."""


def _make(name: str) -> Metric | None:
    """The metric of that name, from the file that defines it."""
    from pytest_ireval import Metric  # `ireval --help` imports this file for the commands beside it

    (file,) = (file for file, names in NAMES.items() if name in names)
    found = vars(import_module(f"{__name__}.{file}")).values()
    return next((value for value in found if isinstance(value, Metric) and value.name == name), None)


@hookimpl
def ireval_resolve_metric() -> list[MetricResolver]:
    """All metrics by their names."""
    from pytest_ireval import MetricResolver  # as above

    names = {name: spellings for names in NAMES.values() for name, spellings in names.items()}
    return [MetricResolver(names=names, resolve=_make)]


@hookimpl
def ireval_names_elsewhere() -> list[Elsewhere]:
    """The names that other packages have for these and for the core metrics."""
    from pytest_ireval_more_metrics.other_packages import list_names_elsewhere  # most runs ask for none

    return list_names_elsewhere()
