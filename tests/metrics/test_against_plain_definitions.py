"""All metrics over all queries at once equal their definitions, one query at a time, on random data."""

import plain_definitions as plain
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_ireval import evaluate

TOP = 4
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
}


@settings(deadline=None, max_examples=150)
@given(st.lists(query(), min_size=1, max_size=6))
def test_every_metric_equals_its_definition(queries):
    judgments, rankings = {}, {}
    for number, (ranked, missed) in enumerate(queries):
        documents = [f"d{rank:02}" for rank in range(len(ranked))]
        rankings[f"q{number}"] = documents
        known = {d: g for d, g in zip(documents, ranked, strict=True) if g is not None}
        judgments[f"q{number}"] = known | {f"m{i}": grade for i, grade in enumerate(missed)}

    evaluation = evaluate(judgments, rankings, list(DEFINITIONS))

    for result, (name, definition) in zip(evaluation.metrics, DEFINITIONS.items(), strict=True):
        expected = {
            f"q{number}": definition(ranked, [g for g in ranked if g is not None] + missed)
            for number, (ranked, missed) in enumerate(queries)
        }
        assert result.values == pytest.approx(expected, abs=1e-12), name
