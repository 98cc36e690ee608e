"""Small rankings written as grades, for examples that can be checked with a pencil."""

from __future__ import annotations

import re

from pytest_ireval import SideData, evaluate
from pytest_ireval.data.from_objects import make_judgments_of_table
from pytest_ireval.data.tables import Table, place_by_number
from pytest_ireval.plugins.manager import installed_registry

QUERY = "q"
COLLECTION = 1000
"""So many documents there are to find in every example."""


def value(metric, retrieved, missed=(), **options):
    """The value of one metric for one query.

    ``retrieved`` holds the grade at each rank (None: not judged), ``missed`` the grades of judged documents that were
    not retrieved.
    """
    (found,) = values(metric, {QUERY: (retrieved, missed)}, **options).values()
    return found


def values(metric, queries, **options):
    """The value of one metric for each query, given as a pair (retrieved, missed)."""
    return result(metric, queries, **options).values


def result(metric, queries, **side_data):
    """The whole result of one metric for some queries, each a pair (retrieved, missed)."""
    judgments, rankings = {}, {}
    for query, (retrieved, missed) in queries.items():
        rankings[query] = [f"d{rank:04}" for rank in range(1, len(retrieved) + 1)]
        grades = dict(zip(rankings[query], retrieved, strict=True))
        grades |= {f"m{i}": grade for i, grade in enumerate(missed)}
        judgments[query] = {document: grade for document, grade in grades.items() if grade is not None}
    side_data = SideData(collection=COLLECTION, **side_data)
    (only,) = evaluate(judgments, rankings, [metric], side_data=side_data).metrics
    return only


def relevant(count, total):
    """A list of ``total`` grades of which the first ``count`` are 1."""
    return [1] * count + [0] * (total - count)


LETTERS = re.compile(
    r"(?P<metric>.+?) of (?P<got>[-A-Za-z](?:,? [-A-Za-z])*)(?: \| (?P<missed>[A-Za-z](?: [A-Za-z])*))?"
    r"(?: against (?P<other>[-a-z](?: [-a-z])*))?(?: preferring (?P<pairs>[a-z](?:,? [a-z])*))?"
    r" = .* = (?P<value>-?[\d.]+)"
)
"""An example of documents with letters for names: those of grade 1, known ones in capitals; ``-`` is not judged."""


def compute_letters(match):
    """The value for lists of documents: of a session, beside a reference, or under preferences."""
    queries = {f"q{number}": _names(text) for number, text in enumerate(match["got"].split(", "), 1)}
    other = _names(match["other"] or "", "other")
    lists = [*queries.values(), other, (match["missed"] or "").split()]
    letters = sorted({name for names in lists for name in names if len(name) == 1})
    rows = [(query, letter, 1) for query in queries for letter in letters]
    judgments = make_judgments_with_known(rows, ["yes" if letter.isupper() else "no" for _, letter, _ in rows])
    pairs = [tuple(pair.split()) for pair in (match["pairs"] or "").split(", ") if pair]
    (only,) = evaluate(
        judgments,
        queries,
        [match["metric"]],
        side_data=SideData(
            sessions={query: ("s", number) for number, query in enumerate(queries, 1)},
            reference=dict.fromkeys(queries, other) if match["other"] else None,
            preferences=dict.fromkeys(queries, pairs),
        ),
    ).metrics
    (found,) = only.values.values()
    return found


def _names(text, kind="own"):
    return [f"{kind}{place}" if word == "-" else word for place, word in enumerate(text.split())]


def compute_example(example):
    """Metric, computed and promised value of an example: of grades, of named documents, of fields, or of subtopics."""
    where = re.fullmatch(
        r"(?P<metric>.+?) where (?P<field>\w+) is (?P<cells>.+?)(?: = .*)? = (?P<value>[\d.]+)", example
    )
    if where is not None:
        cells = {f"d{rank}": {where["field"]: cell} for rank, cell in enumerate(where["cells"].split(), 1)}
        seconds = float(where["cells"].split()[0]) if where["field"] == "seconds" else 0.0
        side_data = SideData(fields=cells, timings={QUERY: seconds})
        (only,) = evaluate({QUERY: {"judged": 1}}, {QUERY: list(cells)}, [where["metric"]], side_data=side_data).metrics
        return where["metric"], only.values[QUERY], float(where["value"])
    metric = installed_registry().parse_metrics([example.partition(" of ")[0]])[0]
    if metric.needs & {"reference", "sessions", "preferences", "judgments"}:
        match = LETTERS.fullmatch(example)
        assert match, f"not of the form 'NAME of LETTERS = … = VALUE': {example}"
        return match["metric"], compute_letters(match), float(match["value"])
    subtopics = re.fullmatch(
        r"(?P<metric>.+?) of (?P<got>[-0a-z ]*[a-z][-0a-z ]*?)(?: \| (?P<missed>[0a-z ]+?))? = .* = (?P<value>[\d.]+)",
        example,
    )
    if subtopics is not None:
        got, missed = subtopics["got"].split(), (subtopics["missed"] or "").split()
        return subtopics["metric"], diverse(subtopics["metric"], got, missed), float(subtopics["value"])
    name, retrieved, missed, expected = parse_example(re.sub(r" in [\d.]+ seconds", "", example))
    took = re.search(r" in ([\d.]+) seconds", example)
    return name, value(name, retrieved, missed, timings={QUERY: float(took[1])} if took else None), expected


def diverse(metric, retrieved, missed=()):
    """The value of a metric for documents written as the subtopics they are about.

    ``ab`` is about two subtopics, ``0`` is judged and about none, ``-`` is not judged; ``missed`` were not retrieved.
    """
    ranking = [f"d{rank:04}" for rank in range(1, len(retrieved) + 1)]
    words = dict(zip(ranking, retrieved, strict=True)) | {f"m{i}": word for i, word in enumerate(missed)}
    grades = {document: about(word) for document, word in words.items() if word != "-"}
    (only,) = evaluate({QUERY: grades}, {QUERY: ranking}, [metric]).metrics
    return only.values[QUERY]


def about(word):
    """Grade 1 for each of the subtopics; grade 0 for one where there is none."""
    return {"a": 0} if word == "0" else dict.fromkeys(word, 1)


def complete_judgments(metric, judgments):
    """The judgments with what the metric needs: documents about one or two of three subtopics, or known before."""
    if "judgments" in metric.needs:
        rows = [(query, document, grade) for query, grades in judgments.items() for document, grade in grades.items()]
        known = ["yes" if sum(document.encode()) % 3 else "no" for _, document, _ in rows]
        return make_judgments_with_known(rows, known)
    if "subtopics" not in metric.needs:
        return judgments
    return {
        query: {
            document: {"xyz"[len(document) % 3]: grade - 1, "xyz"[sum(document.encode()) % 3]: grade}
            for document, grade in grades.items()
        }
        for query, grades in judgments.items()
    }


def make_judgments_with_known(rows, known):
    """Judgments (query, document, grade) with a column ``known``."""
    columns = dict(zip(("query", "document", "grade"), map(list, zip(*rows, strict=True)), strict=True))
    return make_judgments_of_table(Table({**columns, "known": known}, "judgments", place_by_number("judgments")))


def side_data_for(metric, judgments, rankings, **given):
    """What the metric needs in addition: one session of all queries, preferences by grade, a shorter list turned round.

    ``rankings`` are lists of documents; the reference has one document that they lack.
    """
    found = dict(given)
    if "timings" in metric.needs:
        found["timings"] = {query: 0.1 * number for number, query in enumerate(judgments, 1)}
    if "sessions" in metric.needs:
        found["sessions"] = {query: ("s", number) for number, query in enumerate(judgments, 1)}
    if "preferences" in metric.needs:
        found["preferences"] = {
            query: [(a, b) for a, x in grades.items() for b, y in grades.items() if x > y]
            for query, grades in judgments.items()
        }
    if metric.compares_lists:
        found["reference"] = {query: ["elsewhere", *rankings.get(query, ())[::-2]] for query in judgments}
    return SideData(**found)


def compare_lists(metric, one, other):
    """The value of a metric that compares two lists of documents; what is judged plays no part."""
    (only,) = evaluate(
        {QUERY: {"judged": 1}}, {QUERY: one}, [metric], side_data=SideData(reference={QUERY: other})
    ).metrics
    return only.values[QUERY]


def parse_example(example):
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
