"""Every measure of ir_measures, by its name there: irm:nDCG@10, irm:INST(max_rel=3), irm:alpha_nDCG(alpha=0.3)@10."""

from collections import Counter
from dataclasses import replace

import numpy as np

from pytest_ireval import MetricError, MetricResolver, hookimpl, metric

OF_SUBTOPICS = ("ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall")


def measure(name):
    """The measure of that name as a metric; for any other name ir_measures raises an exception with the reason."""
    import ir_measures  # it takes longer to import than a small evaluation takes

    asked = ir_measures.parse_measure(name)
    if not ir_measures.DefaultPipeline.supports(asked):
        raise ValueError(f"no installed package computes {asked}")
    needs = ("subtopics",) if asked.NAME in OF_SUBTOPICS else ()
    sums_up = "sum" if "Sum" in type(asked.aggregator()).__name__ else "mean"

    @metric(name="irm", range=(0, np.inf), aggregate=sums_up, no_relevant=None, needs=needs)
    def values(judged):
        """The values that ir_measures has for each query."""
        if (judged.ideal.grade % 1).any():
            raise MetricError("ir_measures takes whole grades only")
        found = np.full(judged.count, float(asked.DEFAULT))
        rows = [ir_measures.Qrel(*row) for row in (subtopics_of if needs else grades_of)(judged)]
        for each in ir_measures.iter_calc([asked], rows, rankings_of(judged)):
            found[int(each.query_id)] = each.value
        return found

    return replace(values, name=str(asked))


def rankings_of(judged):
    """Scores that keep every ranking's order; a query without documents is left out, for the measure's default."""
    known = dict(zip(zip(judged.hits.query, judged.hits.rank, strict=True), ids_of(judged), strict=True))
    return {
        str(q): {known.get((q, rank), f"unjudged{rank}"): float(n + 1 - rank) for rank in range(1, n + 1)}
        for q, n in enumerate(judged.retrieved)
        if n
    }


def ids_of(judged):
    """An id for each retrieved judged document; with subtopics they sort as in the judgments."""
    parts = judged.subtopics
    order = dict(zip(parts.row, parts.document, strict=True)) if parts is not None else {}
    return [f"judged{order.get(row, row):09}" for row in judged.hits.judgment]


def grades_of(judged):
    """The grade of each retrieved document, and the other grades of its query under made-up ids."""
    left = Counter(zip(judged.ideal.query, judged.ideal.grade, strict=True))
    for query, grade, document in zip(judged.hits.query, judged.hits.grade, ids_of(judged), strict=True):
        left[query, grade] -= 1
        yield str(query), document, int(grade)
    for number, (query, grade) in enumerate(left.elements()):
        yield str(query), f"other{number}", int(grade)


def subtopics_of(judged):
    """The grade of each judged document for each subtopic."""
    parts = judged.subtopics
    for query, document, subtopic, grade in zip(parts.query, parts.document, parts.subtopic, parts.grade, strict=True):
        yield str(query), f"judged{document:09}", int(grade), parts.names[subtopic]


@hookimpl
def ireval_resolve_metric():
    """The prefix irm."""
    known = ["AP", "ERR", "INST", "Judged", "nDCG", "P", "R", "RBP", "RR", "SDCG", "SetF", "Success", *OF_SUBTOPICS]
    return [MetricResolver(prefix="irm", summary="measures of ir_measures", resolve=measure, known=known)]
