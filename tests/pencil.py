"""Small rankings written as grades, for examples that can be checked with a pencil."""

from __future__ import annotations

import re

from pytest_ireval import evaluate

QUERY = "q"
COLLECTION = 1000
"""So many documents there are to find in every example."""


def value(metric, retrieved, missed=(), **options):
    """The value of one metric for one query.

    ``retrieved`` holds the grade at each rank (None: not judged), ``missed`` the grades of judged documents that were
    not retrieved.
    """
    return values(metric, {QUERY: (retrieved, missed)}, **options)[QUERY]


def values(metric, queries, **options):
    """The value of one metric for each query, given as a pair (retrieved, missed)."""
    return result(metric, queries, **options).values


def result(metric, queries, **options):
    """The whole result of one metric for some queries, each a pair (retrieved, missed)."""
    judgments, rankings = {}, {}
    for query, (retrieved, missed) in queries.items():
        rankings[query] = [f"d{rank:04}" for rank in range(1, len(retrieved) + 1)]
        grades = dict(zip(rankings[query], retrieved, strict=True))
        grades |= {f"m{i}": grade for i, grade in enumerate(missed)}
        judgments[query] = {document: grade for document, grade in grades.items() if grade is not None}
    (only,) = evaluate(judgments, rankings, [metric], collection=COLLECTION, **options).metrics
    return only


def relevant(count, total):
    """A list of ``total`` grades of which the first ``count`` are 1."""
    return [1] * count + [0] * (total - count)


def worked(example):
    """Metric, computed and promised value of an example: of grades, of two lists of documents, or of subtopics."""
    where = re.fullmatch(
        r"(?P<metric>.+?) where (?P<field>\w+) is (?P<cells>.+?)(?: = .*)? = (?P<value>[\d.]+)", example
    )
    if where is not None:
        cells = {f"d{rank}": {where["field"]: cell} for rank, cell in enumerate(where["cells"].split(), 1)}
        seconds = float(where["cells"].split()[0]) if where["field"] == "seconds" else 0.0
        given = {"fields": cells, "timings": {QUERY: seconds}}
        (only,) = evaluate({QUERY: {"judged": 1}}, {QUERY: list(cells)}, [where["metric"]], **given).metrics
        return where["metric"], only.values[QUERY], float(where["value"])
    subtopics = re.fullmatch(
        r"(?P<metric>.+?) of (?P<got>[-0a-z ]*[a-z][-0a-z ]*?)(?: \| (?P<missed>[0a-z ]+?))? = .* = (?P<value>[\d.]+)",
        example,
    )
    if subtopics is not None and " against " not in example:
        got, missed = subtopics["got"].split(), (subtopics["missed"] or "").split()
        return subtopics["metric"], diverse(subtopics["metric"], got, missed), float(subtopics["value"])
    lists = re.fullmatch(
        r"(?P<metric>.+?) of (?P<one>[a-z ]+) against (?P<other>[a-z ]+?) = .* = (?P<value>[\d.]+)", example
    )
    if lists is None:
        name, retrieved, missed, expected = parsed(example)
        return name, value(name, retrieved, missed), expected
    return lists["metric"], alike(lists["metric"], lists["one"].split(), lists["other"].split()), float(lists["value"])


def diverse(metric, retrieved, missed=(), **options):
    """The value of a metric for documents written as the subtopics they are about.

    ``ab`` is about two subtopics, ``0`` is judged and about none, ``-`` is not judged; ``missed`` were not retrieved.
    """
    ranking = [f"d{rank:04}" for rank in range(1, len(retrieved) + 1)]
    words = dict(zip(ranking, retrieved, strict=True)) | {f"m{i}": word for i, word in enumerate(missed)}
    grades = {document: about(word) for document, word in words.items() if word != "-"}
    (only,) = evaluate({QUERY: grades}, {QUERY: ranking}, [metric], **options).metrics
    return only.values[QUERY]


def about(word):
    """Grade 1 for each of the subtopics; grade 0 for one where there is none."""
    return {"a": 0} if word == "0" else dict.fromkeys(word, 1)


def as_needed(metric, judgments):
    """The judgments, with subtopics if the metric needs them: each document is about one or two of three."""
    if "subtopics" not in metric.needs:
        return judgments
    return {
        query: {
            document: {"xyz"[len(document) % 3]: grade - 1, "xyz"[sum(document.encode()) % 3]: grade}
            for document, grade in grades.items()
        }
        for query, grades in judgments.items()
    }


def alike(metric, one, other):
    """The value of a metric that compares two lists of documents; what is judged plays no part."""
    (only,) = evaluate({QUERY: {"judged": 1}}, {QUERY: one}, [metric], reference={QUERY: other}).metrics
    return only.values[QUERY]


def parsed(example):
    """Metric, retrieved, missed and value from a docstring's ``NAME of GRADES | GRADES = … = VALUE``.

    ``-`` is an unjudged document, ``1*18`` eighteen documents of grade 1; behind ``|`` stand judged documents that were
    not retrieved. ``in a collection of 1000`` says what is so anyway.
    """
    match = re.fullmatch(
        r"(?P<metric>.+?) of (?P<got>[-\d* ]+?)(?: \| (?P<missed>[\d* ]+?))?"
        r"(?: in a collection of 1000)?(?: = .*)? = (?P<value>[\d.]+)",
        example,
    )
    assert match, f"not of the form 'NAME of GRADES = … = VALUE': {example}"
    return match["metric"], _grades(match["got"]), _grades(match["missed"] or ""), float(match["value"])


def _grades(text):
    grades = []
    for word in text.split():
        grade, _, times = word.partition("*")
        grades += [None if grade == "-" else int(grade)] * int(times or 1)
    return grades
