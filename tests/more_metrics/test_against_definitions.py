"""The other metrics of judged documents equal their definitions, too; readers by their continuation functions."""

from functools import partial

import plain_definitions as plain
from hypothesis import given
from plain_definitions import COLLECTION, TOP, check_definitions, queries

DEFINITIONS = {
    "infAP": plain.inferred_ap,
    f"nERR(max_grade={TOP})@3": lambda r, j: plain.nerr(r, j, TOP, 3),
    "RBPResidual": lambda r, j: plain.rbp_residual(r),
    "OMeasure": plain.o_measure,
    "OMeasure(beta=5)@2": lambda r, j: plain.o_measure(r, j, 5, 2),
    "PMeasure": plain.p_measure,
    "PMeasure(beta=3)@4": lambda r, j: plain.p_measure(r, j, 3, 4),
    "PPlus": plain.p_plus,
    "PPlus(beta=3)@4": lambda r, j: plain.p_plus(r, j, 3, 4),
    "NCU": lambda r, j: plain.ncu(r, j, "graded"),
    "NCU(beta=0)": lambda r, j: plain.ncu(r, j, "graded", beta=0),
    "NCU(stop='rank_biased')": lambda r, j: plain.ncu(r, j, "rank_biased"),
    "NCU(stop='rank_biased', gamma=0.5, beta=0)": lambda r, j: plain.ncu(r, j, "rank_biased", 0, 0.5),
    "NCU(stop='rank_biased', gamma=1)": plain.q_measure,
    "NCU(stop='uniform')": plain.q_measure,
    "AWP": plain.average_weighted_precision,
    "AWP@3": lambda r, j: plain.average_weighted_precision(r, j, 3),
    "GAP": plain.graded_ap,
    "GAP@3": lambda r, j: plain.graded_ap(r, j, 3),
    "GAP(thresholds={1: 0.25, 3: 0.75})": lambda r, j: plain.graded_ap(
        r, j, chance=lambda g: 0.25 * (plain.gain(g) >= 1) + 0.75 * (plain.gain(g) >= 3)
    ),
    "GAP(thresholds={1: 1})": plain.average_precision,
    "GMAP": plain.average_precision,
    "GMBpref": plain.bpref,
    "YAAP": plain.yaap,
    "SetAP": lambda r, j: plain.share(sum(plain.relevant(r, 1)), len(r)) * plain.recall(r, j, 10**6),
    "CappedR@3": lambda r, j: plain.share(sum(plain.relevant(r, 1)[:3]), min(3, plain.count(j, 1))),
    "Accuracy": plain.accuracy,
    "Accuracy(rel=2)@4": lambda r, j: plain.accuracy(r, j, 4, 2),
    "FallOut@4": lambda r, j: plain.relevant(r, 1)[:4].count(False) / (COLLECTION - plain.count(j, 1)),
    "nDCGRel": plain.ndcg_at_relevant,
    "RnDCG": plain.ndcg_at_levels,
    "G": plain.g,
    "binG": plain.binary_g,
    "Compat": plain.compatibility,
    "Compat(p=0.5)": lambda r, j: plain.compatibility(r, j, 0.5),
    "Compat(p=0)": lambda r, j: plain.compatibility(r, j, 0),
    "Compat(normalize=False)": lambda r, j: plain.compatibility(r, j, normalize=False) if plain.count(j, 1) else 0,
}

READERS = {
    "SDCG@3": (plain.scaled_dcg, {"cutoff": 3}),
    "SDCG(min_grade=1)@3": (plain.scaled_dcg, {"cutoff": 3, "floor": 1}),
    "INSQ": (plain.insq(1), {}),
    "INSQ(T=0)@30": (plain.insq(0), {"cutoff": 30}),
    "INSQ(T=2.5)@5": (plain.insq(2.5), {"cutoff": 5}),
    "INST@30": (plain.inst(1), {"cutoff": 30}),
    "INST(T=0.5)@30": (plain.inst(0.5), {"cutoff": 30}),
    "INST(T=3)@4": (plain.inst(3), {"cutoff": 4}),
    "BPM@3": (plain.bejeweled(1, 3), {"cutoff": 3}),
    "BPM(T=2)@8": (plain.bejeweled(2, 8), {"cutoff": 8}),
    "BPMD@30": (plain.bejeweled(1, 10, 1, 1), {"cutoff": 30}),
    "BPMD(K=4, T=2, gain_med=0.25, hb=0.3, hc=2)@30": (plain.bejeweled(2, 4, 0.3, 2, 0.25), {"cutoff": 30}),
    "BPMD(K=6, T=2, hb=0, hc=0)@30": (plain.bejeweled(2, 6), {"cutoff": 30}),
    "NERR8@5": (plain.nearly_err(lambda rank, gains: 1), {"cutoff": 5}),
    "NERR9@5": (plain.nearly_err(lambda rank, gains: rank / (rank + 1)), {"cutoff": 5}),
    "NERR10@30": (plain.nearly_err(lambda rank, gains: 0.9), {"cutoff": 30}),
    "NERR10(p=1)@20": (plain.nearly_err(lambda rank, gains: 1), {"cutoff": 20}),
    "NERR11(T=2)@30": (plain.nearly_err(plain.insq(2)), {"cutoff": 30}),
    "IFT@30": (plain.forager("both"), {"cutoff": 30}),
    "IFT(R1=1, T=1, b1=2, stop='goal')@30": (plain.forager("goal", 1, 2, 1), {"cutoff": 30}),
    "IFT(A=0.5, R2=1, b2=0.3, stop='rate')@30": (plain.forager("rate", a=0.5, b2=0.3, r2=1), {"cutoff": 30}),
    "NPV(rate=0.25)@30": (lambda rank, gains: 0.8, {"cutoff": 30}),
    "SET@9": (lambda i, _: ((i + 1) ** 0.5 - i**0.5) / (i**0.5 - (i - 1) ** 0.5), {"cutoff": 9}),
    "TBG(halflife=3)@30": (lambda rank, gains: 0.5 ** (1 / 3), {"cutoff": 30}),
    "U(L=7)@30": (lambda rank, gains: max(7 - rank, 0) / max(8 - rank, 1), {"cutoff": 30}),
}
"""Continuation functions of readers."""
MEASURES = {"EU": plain.expected_utility, "ETU": plain.expected_total_utility, "ED": plain.expected_depth}


def name_with_measure(name, measure):
    """The metric with another measure and the top of the scale."""
    family, _, rest = name.partition("(")
    inside, _, cutoff = (rest or family).partition(")" if rest else "@")
    arguments = [*([inside] if rest else []), f"max_grade={TOP}", f"measure='{measure}'"]
    at = cutoff if rest else f"@{cutoff}" if cutoff else ""
    return f"{family.partition('@')[0]}({', '.join(arguments)}){at}"


def reader_of(goes_on, settings, measure):
    if measure == "residual":
        ends = [partial(plain.expected_utility, goes_on=goes_on, top=TOP, unjudged=end, **settings) for end in (1, 0)]
        return lambda r, j: ends[0](r) - ends[1](r)
    return lambda r, j: MEASURES[measure](r, goes_on, TOP, **settings)


DEFINITIONS |= {
    name_with_measure(name, measure): reader_of(*reader, measure)
    for number, (name, reader) in enumerate(READERS.items())
    for measure in ("EU", ["ETU", "ED", "residual"][number % 3])
}


@given(queries())
def test_every_metric_equals_its_definition(made):
    check_definitions(DEFINITIONS, made)
