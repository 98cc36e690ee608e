"""`ties: pessimistic` and `optimistic` are the worst and the best of all orders of equal scores, for every metric."""

from itertools import chain, permutations, product

import numpy as np
import pytest
from pencil import as_needed

from pytest_ireval import MetricError, evaluate, load_registry, per_query_metric

REGISTRY = load_registry()
QUERIES = 24
ENDS = ("pessimistic", "optimistic")
VARIANTS = {
    "AP": ["AP@3", "AP(rel=2)", "AP(rel=0)", "AP(judged_only=True)", "AP(denominator='min')@2"],
    "RR": ["RR(rel=2)@3", "RR(judged_only=True)@2"],
    "P": ["P(rel=2)@3", "P(rel=0)@3", "P(judged_only=True)@2"],
    "nDCG": [
        "nDCG(gain='exp')@3",
        "nDCG(ideal='retrieved')@3",
        "nDCG(ideal='retrieved')",
        "nDCG(gains={1: 3, 3: 1})@3",
        "nDCG(judged_only=True)@2",
        "nDCG(discount='jarvelin')@4",
    ],
    "DCG": ["DCG(gains={0: -1, 1: 5})@3", "DCG(gain='exp')@3"],
    "ERR": ["ERR@3", "ERR(gain='ntcir')", "ERR(judged_only=True)@2"],
    "nERR": ["nERR@3"],
    "RBP": ["RBP(rel=2)", "RBP@3", "RBP(judged_only=True)"],
    "GAP": ["GAP@3", "GAP(thresholds={1: 0.2, 3: 0.8})"],
    "Q": [
        "Q@3",
        "Q(rel=2)",
        "Q(beta=0)",
        "Q(denominator='min')@2",
        "Q(gains={1: 4, 2: 1})",
        "Q(beta=5, gains={1: -2})",
    ],
    "AWP": ["AWP@3", "AWP(gains={1: 4, 2: 1})"],
    "NCU": ["NCU(stop='rank_biased')", "NCU(stop='uniform')", "NCU(rel=2)", "NCU(stop='rank_biased', gamma=0.3)"],
    "OMeasure": ["OMeasure@3", "OMeasure(rel=2)", "OMeasure(gains={1: 4, 2: 1})"],
    "PMeasure": ["PMeasure@3"],
    "PPlus": ["PPlus@3"],
    "RMeasure": ["RMeasure(rel=2)", "RMeasure(gains={1: 4, 2: 1})"],
    "Bpref": ["Bpref(denominator='R')", "Bpref(rel=2)"],
    "infAP": ["infAP(rel=2)"],
    "Accuracy": ["Accuracy@3", "Accuracy(judged_only=True)"],
    "Utility": ["Utility(hit=-1, noise=2)", "Utility(miss=-1, rest=0.5)"],
    "FallOut": ["FallOut(rel=2)@3"],
    "Judged": ["Judged@3"],
    "Unjudged": ["Unjudged@2"],
    "RBPResidual": ["RBPResidual(p=0.5)@3"],
    "NumRelRet": ["NumRelRet@2"],
    "NumRet": ["NumRet(rel=2)"],
    "SetP": ["SetP(relative=True)", "SetP(judged_only=True)"],
    "SetF": ["SetF(beta=2, judged_only=True)"],
    "Rprec": ["Rprec(multiple=0.5)", "Rprec(rel=2)"],
    "IPrec": ["IPrec(rounding='up')@0.3"],
    "G": ["G(gains={1: 4, 2: 1})", "G(gains={2: 0.3, 1: -1})", "G(judged_only=True)"],
    "nDCGRel": ["nDCGRel(gains={1: 4, 2: 1})", "nDCGRel(judged_only=True)"],
    "RnDCG": ["RnDCG(gains={1: 4, 2: 1})", "RnDCG(judged_only=True)"],
    "Compat": ["Compat(normalize=False)"],
    "INSQ": ["INSQ(T=0.5)@3", "INSQ(measure='ETU', min_grade=1)", "INSQ(measure='residual')@3", "INSQ(measure='ED')"],
    "INST": ["INST(T=0.5)@4", "INST(T=3)@3", "INST(measure='ETU')", "INST(measure='ED')", "INST(measure='residual')"],
    "NERR8": ["NERR8@4", "NERR8(min_grade=1)@3"],
    "NERR10": ["NERR10(p=1)", "NERR10(measure='ETU', p=0.5)"],
    "NERR11": ["NERR11(T=3)@4"],
    "BPM": ["BPM(T=2)@4", "BPM(measure='residual')@3"],
    "IFT": ["IFT(stop='rate')@4"],
}
"""Arguments under which a metric takes another order for the best."""
PLAIN = {"IPrec": "IPrec@0.5", "RelativeRecall": "RelativeRecall(wanted=2)@2", "RecallEffort": "RecallEffort(wanted=2)"}
NOT_OF_ONE_ORDER = {"ties", "judgments", "preferences", "timings", "fields"}
"""Needs of metrics that average over all orders themselves, or whose data these tests do not make."""
POLICIES = [{}, {"depth": 3}, {"depth": 4, "unjudged": "removed"}]


def names_of(metric):
    """A metric under its own arguments and under others."""
    needs_cutoff = "cutoff" in metric.missing
    plain = PLAIN.get(metric.name, f"{metric.name}@2" if needs_cutoff else metric.name)
    return [plain, *VARIANTS.get(metric.name, [])]


NAMES = [
    name
    for metric in REGISTRY.metrics.values()
    if metric.unit == "query" and not metric.needs & NOT_OF_ONE_ORDER
    for name in names_of(metric)
]


def drawn(seed):
    """Queries of up to six documents with equal scores; grades by document, and lists of (document, score)."""
    chance = np.random.default_rng(seed)
    grades, lists, references = {}, {}, {}
    for number in range(QUERIES):
        size = int(chance.integers(1, 7))
        documents = [f"d{i}" for i in chance.permutation(size)]
        scores = np.sort(chance.integers(0, 3, size))[::-1].tolist()
        given = chance.choice([-1, 0, 0, 1, 2, 3, None, None], size + 2).tolist()
        known = {f"d{i}": grade for i, grade in enumerate(given) if grade is not None}
        grades[f"q{number}"] = known or {"d0": 1}
        lists[f"q{number}"] = list(zip(documents, scores, strict=True))
        others = [f"d{i}" for i in chance.permutation(size + 2)][: int(chance.integers(1, size + 2))]
        references[f"q{number}"] = [(document, -rank) for rank, document in enumerate(others)]
    return grades, lists, references


def orders_of(ranking):
    """The documents in every order that equal scores allow."""
    groups = [[d for d, s in ranking if s == score] for score in sorted({s for _, s in ranking}, reverse=True)]
    return [list(chain.from_iterable(order)) for order in product(*map(permutations, groups))]


def all_values(name, grades, lists, references, policies):
    """For each query the values of all its orders, each order a query of its own."""
    orders = {f"{query}-{i}": order for query in lists for i, order in enumerate(orders_of(lists[query]))}
    found = evaluate(
        {key: grades[key.split("-")[0]] for key in orders},
        {key: [(document, -rank) for rank, document in enumerate(order)] for key, order in orders.items()},
        name,
        **policies,
        reference={key: references[key.split("-")[0]] for key in orders},
    )
    values = {}
    for key, value in found.metrics[0].values.items():
        values.setdefault(key.split("-")[0], []).append(value)
    return values


def low_and_high(name, direction, grades, lists, references, policies):
    """What the two policies make of every query, the lower value first."""
    ends = [evaluate(grades, lists, name, ties=ties, reference=references, **policies).metrics[0] for ties in ENDS]
    values = [end.values for end in ends]
    return (values if direction != "lower" else values[::-1]), ends


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "policies"),
    [
        pytest.param(name, policies, marks=() if number % len(POLICIES) == place else pytest.mark.slow)
        for number, name in enumerate(NAMES)
        for place, policies in enumerate(POLICIES)
    ],
    ids=str,
)
def test_no_order_is_below_the_worst_or_above_the_best(name, policies):
    metric = REGISTRY.parse_metrics([name])[0]
    policies = {"scale": 3, "collection": 50, **policies}
    grades, *lists = drawn([len(name), len(policies)])
    data = (as_needed(metric, grades), *lists)
    (low, high), ends = low_and_high(name, metric.direction, *data, policies)

    for query, values in all_values(name, *data, policies).items():
        assert low[query] == pytest.approx(min(values), abs=1e-12), query
        assert high[query] == pytest.approx(max(values), abs=1e-12), query
    assert all(end.ties is None or end.ties.proven for end in ends)


def test_a_share_of_judged_documents_is_higher_under_the_best_order():
    grades, lists = {"q": {"good": 1}}, {"q": [("hole", 1), ("good", 1)]}

    found = {ties: evaluate(grades, lists, "Judged@1", ties=ties)["Judged@1"].value for ties in ENDS}

    assert found == {"pessimistic": 0, "optimistic": 1}


def test_orders_that_cannot_all_be_tried_are_not_promised():
    grades = {"q": {f"d{i}": i % 4 for i in range(20)}}
    lists = {"q": [(f"d{i}", 1) for i in range(20)]}
    found = evaluate(grades, lists, ["NCU", "AP"])

    assert (found["NCU"].ties.proven, found["AP"].ties.proven) == (False, True)
    assert found["NCU"].ties.low <= found["NCU"].value <= found["NCU"].ties.high


def test_a_metric_says_what_documents_of_equal_scores_are_worth_to_it():
    def holes_first(grade, *, cutoff):
        return np.isnan(grade)

    @per_query_metric(name="Holes", tie_order=holes_first, no_relevant=None)
    def holes(ranking, *, cutoff: int):
        """Counts unjudged documents."""
        return 1 - float(np.mean(ranking.judged[:cutoff]))

    documents = {f"d{i}": 1 for i in range(10)}
    lists = {"q": [(f"d{i}", 1) for i in range(20)]}
    result = evaluate({"q": documents}, lists, [holes @ 5]).metrics[0]

    assert (result.ties.low, result.ties.high, result.ties.proven) == (0, 1, True)


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [(np.zeros(1), "must return one number for each grade"), (None, "raised ZeroDivisionError")],
)
def test_a_tie_order_that_cannot_be_is_an_error_of_the_metric(returned, complaint):
    @per_query_metric(name="Odd", tie_order=lambda _: returned if returned is not None else 1 / 0)
    def odd(ranking):
        """Is always 0."""
        return 0.0

    with pytest.raises(MetricError, match=complaint):
        evaluate({"q": {"a": 1, "b": 0}}, {"q": [("a", 1), ("b", 1)]}, odd, ties="optimistic")
