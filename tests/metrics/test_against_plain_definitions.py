"""All metrics over all queries at once equal their definitions, one query at a time, on random data."""

from functools import partial

import plain_definitions as plain
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import evaluate

TOP = 4
COLLECTION = 100
grades = st.integers(-2, TOP)


@st.composite
def query(draw):
    """(grades by rank with None for unjudged documents, grades of judged documents that were missed)."""
    ranked = draw(st.lists(st.none() | grades, max_size=12))
    missed = draw(st.lists(grades, max_size=6))
    return ranked, missed if any(grade is not None for grade in ranked) or missed else [0]


DEFINITIONS = {
    "P@3": lambda r, j: plain.precision(r, j, 3),
    "P(rel=2)@5": lambda r, j: plain.precision(r, j, 5, 2),
    "R@3": lambda r, j: plain.recall(r, j, 3),
    "R(rel=3)@100": lambda r, j: plain.recall(r, j, 100, 3),
    "F@4": lambda r, j: plain.f(plain.precision(r, j, 4), plain.recall(r, j, 4)),
    "F(beta=0.5)@4": lambda r, j: plain.f(plain.precision(r, j, 4), plain.recall(r, j, 4), 0.5),
    "SetP": lambda r, j: plain.share(sum(plain.relevant(r, 1)), len(r)),
    "SetP(relative=True)": lambda r, j: plain.share(sum(plain.relevant(r, 1)), min(len(r), plain.count(j, 1))),
    "SetR": lambda r, j: plain.recall(r, j, 10**6),
    "SetF(beta=2)": lambda r, j: plain.f(plain.share(sum(plain.relevant(r, 1)), len(r)), plain.recall(r, j, 10**6), 2),
    "Success@2": lambda r, j: float(any(plain.relevant(r, 1)[:2])),
    "AP": plain.average_precision,
    "AP@3": lambda r, j: plain.average_precision(r, j, 3),
    "AP(denominator='min')@3": lambda r, j: plain.average_precision(r, j, 3, divisor=min(3, plain.count(j, 1))),
    "AP(rel=2)": lambda r, j: plain.average_precision(r, j, rel=2),
    "RR": plain.reciprocal_rank,
    "RR@2": lambda r, j: plain.reciprocal_rank(r, j, 2),
    "Rprec": lambda r, j: plain.share(sum(plain.relevant(r, 1)[: plain.count(j, 1)]), plain.count(j, 1)),
    "IPrec@0": lambda r, j: plain.interpolated(r, j, 0),
    "IPrec@0.3": lambda r, j: plain.interpolated(r, j, 0.3),
    "IPrec@1": lambda r, j: plain.interpolated(r, j, 1),
    "IPrecAvg": lambda r, j: sum(plain.interpolated(r, j, i / 10) for i in range(11)) / 11,
    "Bpref": plain.bpref,
    "Bpref(rel=2)": lambda r, j: plain.bpref(r, j, 2),
    "infAP": plain.inferred_ap,
    "Judged@3": lambda r, j: plain.share(sum(g is not None for g in r[:3]), min(3, len(r))),
    "Judged": lambda r, j: plain.share(sum(g is not None for g in r), len(r)),
    "NumRet": lambda r, j: len(r),
    "NumRel": lambda r, j: plain.count(j, 1),
    "NumRelRet(rel=2)": lambda r, j: sum(plain.relevant(r, 2)),
    "CG@3": lambda r, j: sum(plain.gain(g) for g in r[:3]),
    "DCG": lambda r, j: plain.dcg(r),
    "DCG(gain='exp')@3": lambda r, j: plain.dcg(r, 3, "exp"),
    "DCG(discount='jarvelin')": lambda r, j: plain.dcg(r, discount=lambda i: max(plain.log2(i), 1)),
    "DCG(log_base=10)": lambda r, j: plain.dcg(r, discount=lambda i: plain.log2(i + 1) / plain.log2(10)),
    "nDCG": plain.ndcg,
    "nDCG@3": lambda r, j: plain.ndcg(r, j, 3),
    "nDCG(gain='exp')@5": lambda r, j: plain.ndcg(r, j, 5, "exp"),
    "nDCG(ideal='retrieved')@3": lambda r, j: plain.ndcg(r, [g for g in r if g is not None], 3),
    "nDCG(judged_only=True)@3": lambda r, j: plain.ndcg([g for g in r if g is not None], j, 3),
    "AP(judged_only=True)": lambda r, j: plain.average_precision([g for g in r if g is not None], j),
    f"ERR(max_grade={TOP})": lambda r, j: plain.err(r, TOP),
    f"ERR(max_grade={TOP})@2": lambda r, j: plain.err(r, TOP, 2),
    f"nERR(max_grade={TOP})@3": lambda r, j: plain.nerr(r, j, TOP, 3),
    f"RBP(max_grade={TOP})": lambda r, j: plain.rbp(r, TOP),
    f"RBP(p=0.5, max_grade={TOP})@2": lambda r, j: plain.rbp(r, TOP, 0.5, 2),
    "RBP(rel=1)": lambda r, j: plain.rbp([int(good) for good in plain.relevant(r, 1)], 1),
    "RBPResidual": lambda r, j: plain.rbp_residual(r),
    "Q": plain.q_measure,
    "Q(beta=10)@3": lambda r, j: plain.q_measure(r, j, 10, 3),
    "Q(beta=0)": plain.average_precision,
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
    "RMeasure": plain.r_measure,
    "RMeasure(beta=4)": lambda r, j: plain.r_measure(r, j, 4),
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
    "Rprec(multiple=0.6)": lambda r, j: plain.r_precision_at(r, j, 0.6),
    "Rprec(multiple=1.6)": lambda r, j: plain.r_precision_at(r, j, 1.6),
    "NumQ": lambda r, j: 1,
    "NumNonRelRet": lambda r, j: sum(g == 0 for g in r),
    "Unjudged@3": lambda r, j: r[:3].count(None) / 3,
    "Accuracy": plain.accuracy,
    "Accuracy(rel=2)@4": lambda r, j: plain.accuracy(r, j, 4, 2),
    "FallOut@4": lambda r, j: plain.relevant(r, 1)[:4].count(False) / (COLLECTION - plain.count(j, 1)),
    "Utility(hit=2, noise=-0.5, miss=-3, rest=0.25)": lambda r, j: plain.utility(r, j, 2, -0.5, -3, 0.25, COLLECTION),
    "IDCG@3": lambda r, j: plain.dcg(sorted(j, reverse=True), 3),
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


def measured(name, measure):
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
    measured(name, measure): reader_of(*reader, measure)
    for number, (name, reader) in enumerate(READERS.items())
    for measure in ("EU", ["ETU", "ED", "residual"][number % 3])
}


@given(st.lists(query(), min_size=1, max_size=6))
def test_every_metric_equals_its_definition(queries):
    judgments, rankings = {}, {}
    for number, (ranked, missed) in enumerate(queries):
        documents = [f"d{rank:02}" for rank in range(len(ranked))]
        rankings[f"q{number}"] = documents
        known = {d: g for d, g in zip(documents, ranked, strict=True) if g is not None}
        judgments[f"q{number}"] = known | {f"m{i}": grade for i, grade in enumerate(missed)}

    evaluation = evaluate(judgments, rankings, list(DEFINITIONS), collection=COLLECTION)

    for result, (name, definition) in zip(evaluation.metrics, DEFINITIONS.items(), strict=True):
        expected = {
            f"q{number}": definition(ranked, [g for g in ranked if g is not None] + missed)
            for number, (ranked, missed) in enumerate(queries)
        }
        assert result.values == pytest.approx(expected, abs=1e-12), name
