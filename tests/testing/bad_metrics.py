"""Metrics that each break one promise, and no other."""

import itertools

import numpy as np

from pytest_ireval import metric, per_query_metric, ratio


@per_query_metric(name="Biased", needs=("documents",))
def biased(ranking):
    """Likes documents whose id begins with d."""
    return sum(document.startswith("d") for document in ranking.documents) / ranking.retrieved


@per_query_metric(name="NameReader")
def name_reader(ranking):
    """Likes queries whose id begins with q."""
    return float(ranking.query.startswith("q"))


@metric(name="CarriesOver")
def carries_over(judged):
    """Adds up over queries, and forgets to start anew."""
    return np.cumsum(judged.sum(judged.relevant())) / 1000


@metric(name="Curved")
def curved(judged):
    """Divides by the most relevant documents of any query that is there."""
    return judged.sum(judged.relevant()) / max(1, judged.relevant_count().max())


@metric(name="NaNOnEmpty")
def nan_on_empty(judged):
    """Precision that divides 0 by 0."""
    return judged.sum(judged.relevant()) / judged.retrieved


@per_query_metric(name="RaisesOnUnjudged")
def raises_on_unjudged(ranking):
    """Cannot do without a judged document."""
    return float(ranking.grades[ranking.judged].max() > 0)


@metric(name="Hungry")
def hungry(judged):
    """Looks at documents without asking for them."""
    return np.zeros(len(judged.documents.ids))


@metric(name="Unbounded", no_relevant=None)
def unbounded(judged):
    """A sum of grades that says it is at most 1."""
    return judged.sum(np.maximum(judged.hits.grade, 0))


@metric(name="Scribbler")
def scribbler(judged):
    """Makes writable what is not, and writes into it."""
    found = ratio(judged.sum(judged.relevant()), judged.relevant_count())
    judged.hits.grade.setflags(write=True)
    judged.hits.grade[:] = 0
    return found


@metric(name="Scribe")
def scribe(judged):
    """Tries to write."""
    judged.hits.grade[judged.hits.grade < 0] = 0
    return judged.sum(judged.hits.grade)


calls = itertools.count()


@metric(name="Moody")
def moody(judged):
    """Another value at each call."""
    return np.full(judged.count, 0.618 * next(calls) % 1)


@per_query_metric(name="LateIsGood")
def late_is_good(ranking):
    """Best when a relevant document is first; otherwise the later the better."""
    first = np.flatnonzero(ranking.grades > 0)
    if not first.size:
        return 0.0
    return 1.0 if first[0] == 0 else 0.5 - 0.5 / (1 + first[0])


@metric(name="LongIsGood")
def long_is_good(judged):
    """The more is retrieved, the better."""
    return judged.retrieved / (1.0 + judged.retrieved)


@metric(name="NoCutoff")
def no_cutoff(judged, *, cutoff: int):
    """Forgets about its cutoff."""
    return ratio(judged.sum(judged.relevant()), judged.retrieved)


@metric(name="ScoreReader")
def score_reader(judged):
    """Looks at scores without asking for them."""
    return ratio(judged.sum(judged.hits.score < 50), np.diff(judged.first))


@metric(name="RowReader", direction="neither")
def row_reader(judged):
    """Whether the first judged document is judged before the last."""
    row, first = judged.hits.judgment, judged.first
    filled = np.flatnonzero(first[1:] > first[:-1])
    found = np.zeros(judged.count)
    found[filled] = row[first[filled]] < row[first[filled + 1] - 1]
    return found


@metric(name="ShortMemory")
def short_memory(judged, *, cutoff: int):
    """Remembers what it found under another cutoff."""
    found = judged.remember("found", lambda: judged.sum(judged.relevant() & (judged.hits.rank <= cutoff)))
    return ratio(found, judged.relevant_count())


@metric(name="Top_10", spellings={"Top_{cutoff}": {}})
def top_10(judged, *, cutoff: int = 5):
    """Its name is read as one of its spellings."""
    return ratio(judged.sum(judged.relevant() & (judged.hits.rank <= cutoff)), judged.relevant_count())


@metric(name="ThreeAtMost")
def three_at_most(judged):
    """Knows no grade above 3."""
    return np.where(judged.sum(judged.hits.grade > 3) > 0, 9.0, 0.0)


@per_query_metric(name="WholeGrades")
def whole_grades(ranking):
    """Looks up gains by grade, and knows none for a fraction."""
    return np.nan if (ranking.grades % 1).any() else 0.0


@metric(name="HundredAtMost")
def hundred_at_most(judged, *, cutoff: int):
    """Right while rankings have at most 100 documents."""
    return np.where(judged.retrieved > 100, 5.0, judged.sum(judged.relevant() & (judged.hits.rank <= cutoff)) / cutoff)


@per_query_metric(name="ShortNames", needs=("documents",))
def short_names(ranking):
    """Takes a long id for something else."""
    return float(any(len(document) > 6 for document in ranking.documents))


@per_query_metric(name="AsciiNames", needs=("documents",))
def ascii_names(ranking):
    """Takes letters of other scripts for something else."""
    return float(not all(document.isascii() for document in ranking.documents))


@metric(name="HundredQueries")
def hundred_queries(judged):
    """Has room for 100 queries."""
    return (judged.top(1)[:, 0] > 0)[:100][np.arange(judged.count)]


remembered = {}


@per_query_metric(name="Remembers")
def remembers(ranking):
    """Keeps what it found for a query of that name."""
    return remembered.setdefault(ranking.query, float((ranking.grades > 0).mean()))


@per_query_metric(name="Patient", no_relevant=None)
def patient(ranking, *, patience: float = 0.8):
    """A probability that says nowhere that it is one."""
    return patience if ranking.grades[0] > 0 else 0.0


@metric(name="NoReturn")
def no_return(judged):
    """Forgets to return."""


@metric(name="OneForAll")
def one_for_all(judged):
    """One number."""
    return 0.5


@per_query_metric(name="Cost", direction="lower", empty=0.0, no_relevant=0.0, range=(0, 1))
def cost(ranking):
    """Share of documents that are not relevant."""
    return float((ranking.grades <= 0).mean()) / 2 + 0.1


@per_query_metric(name="AlwaysHalf")
def always_half(ranking):
    """Forgot to look at the ranking."""
    return 0.5


METRICS = {
    "tells_rankings_apart": [always_half],
    "names_of_documents": [biased, short_names, ascii_names],
    "names_of_queries": [name_reader, remembers],
    "order_of_queries": [carries_over],
    "alone_or_together": [curved],
    "a_value_for_every_query": [
        nan_on_empty,
        raises_on_unjudged,
        hungry,
        whole_grades,
        hundred_queries,
        no_return,
        one_for_all,
    ],
    "within_its_range": [unbounded, three_at_most, hundred_at_most, patient],
    "reads_only": [scribbler, scribe],
    "same_twice": [moody],
    "promotion_never_harms": [late_is_good],
    "perfect_is_best": [long_is_good, cost],
    "below_the_cutoff": [no_cutoff],
    "scores_scaled": [score_reader],
    "order_of_lines": [row_reader],
    "arguments_apart": [short_memory],
    "name_round_trips": [top_10],
}
"""By the one promise that each breaks."""
