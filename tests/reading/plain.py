"""The arrays of the fast reader as plain Python values, to be compared with those of the slow one."""

from __future__ import annotations

from slow_reader import Place, Ranking

HIT_COLUMNS = ("query", "rank", "grade", "judgment", "score", "tied_from", "tied_to")


def plain_rankings(rankings):
    """Every ranking by query."""
    columns = zip(
        rankings.documents.texts(),
        rankings.score.tolist(),
        rankings.tied_from.tolist(),
        rankings.tied_to.tolist(),
        strict=True,
    )
    rows = list(columns)
    first = rankings.first.tolist()
    return {
        query: Ranking(retrieved, [Place(rank, *row) for rank, row in enumerate(rows[start:end], 1)])
        for query, retrieved, start, end in zip(
            rankings.queries, rankings.retrieved.tolist(), first[:-1], first[1:], strict=True
        )
    }


def plain_judgments(judgments):
    """Every grade by query and document."""
    grades = {query: {} for query in judgments.queries}
    for query, document, grade in zip(
        judgments.query.tolist(), judgments.documents.texts(), judgments.grade.tolist(), strict=True
    ):
        grades[judgments.queries[query]][document] = grade
    return grades


def plain_hits(judged, judgments):
    """The judged documents, with their grades, of every judged query that is ranked."""
    hits = {query: [] for query, present in zip(judged.queries, judged.present.tolist(), strict=True) if present}
    columns = (getattr(judged.hits, name).tolist() for name in ("query", "rank", "judgment", "score"))
    more = (getattr(judged.hits, name).tolist() for name in ("tied_from", "tied_to", "grade"))
    for query, rank, judgment, score, tied_from, tied_to, grade in zip(*columns, *more, strict=True):
        place = Place(rank, judgments.documents[judgment], score, tied_from, tied_to)
        hits[judged.queries[query]].append((place, grade))
    return hits


def plain_retrieved(judged):
    """How many documents each ranked query retrieved."""
    counts = zip(judged.queries, judged.retrieved.tolist(), judged.present.tolist(), strict=True)
    return {query: retrieved for query, retrieved, present in counts if present}


def hit_columns(judged):
    """The columns of the hits as lists, by name."""
    return {name: getattr(judged.hits, name).tolist() for name in HIT_COLUMNS}
