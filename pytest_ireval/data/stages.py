"""The earlier stages of an answer: of what they returned, the ranks of judged documents are kept, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from pytest_ireval.data.arrays import Integers, compute_ranks
from pytest_ireval.data.ids import Ids
from pytest_ireval.data.join import join_judged_rows, join_judgments
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.rankings import Rankings, StageAnswer, StageAnswers
from pytest_ireval.data.scan import JudgedRows


def keep_judged_ranks(rankings: Rankings, judgments: Judgments | None) -> StageAnswers:
    """Keep the ranks of judged documents of whole rankings, by rank; then those that were not retrieved."""
    found: dict[str, dict[str, int | None]] = {query: {} for query in rankings.queries}
    if judgments is not None:
        hits = join_judgments(judgments, rankings, documents=False).hits
        documents = judgments.documents.texts(hits.judgment)
        for code, document, rank in zip(hits.query.tolist(), documents, hits.rank.tolist(), strict=True):
            found[judgments.queries[code]][document] = rank
        for code, document in zip(judgments.query.tolist(), judgments.documents.texts(), strict=True):
            if (ranks := found.get(judgments.queries[code])) is not None:
                ranks.setdefault(document, None)
    counts = rankings.retrieved.tolist()
    return {query: StageAnswer(count, found[query]) for query, count in zip(rankings.queries, counts, strict=True)}


def rename_in_stage(answers: StageAnswers, find_name: Callable[[str, str], str]) -> StageAnswers:
    """The same under the current names of documents; of several that have one name now, the best rank counts."""
    renamed = {}
    for query, answer in answers.items():
        ranks: dict[str, int | None] = {}
        for document, rank in answer.ranks.items():  # by rank
            ranks.setdefault(find_name(document, query), rank)
        renamed[query] = answer._replace(ranks=ranks)
    return renamed


def find_unknown_judgments(judgments: Judgments, askings: Iterable[Rankings]) -> Integers:
    """The rows of judged documents of which a stage does not know whether it retrieved them: they were judged later."""
    stages = [answers for rankings in askings for answers in rankings.stages.values()]
    unknown = []
    for row, document in enumerate(judgments.documents.texts() if stages else ()):
        query = judgments.queries[judgments.query[row]]
        if any(query in answers and document not in answers[query].ranks for answers in stages):
            unknown.append(row)
    return np.array(unknown, np.int64)


def join_stage(judgments: Judgments, answers: StageAnswers, highest_grade: float | None) -> JudgedRankings:
    """What a stage returned, with the judgments; other documents only count by the ranks that they take."""
    queries, none = list(answers), np.zeros(0, np.int64)
    retrieved = [
        (number, document, rank)
        for number, query in enumerate(queries)
        for document, rank in answers[query].ranks.items()
        if rank is not None
    ]
    query, documents, rank = zip(*retrieved, strict=True) if retrieved else (none, (), none)
    rows = np.array(query, np.int64)
    judgment = judgments.index.find(judgments.number_queries(queries)[rows], Ids.of(list(documents)))
    known = np.flatnonzero(judgment >= 0)  # the judgment of a document may be gone since
    ranks = np.array(rank, np.int64)[known]
    counts = np.array([answer.retrieved for answer in answers.values()], np.int64)
    part = JudgedRows(queries, counts, rows[known], ranks, -ranks.astype(float), ranks, ranks, judgment[known])
    return join_judged_rows(judgments, [part], highest_grade)


def put_best_first(judged: JudgedRankings) -> JudgedRankings:
    """The same documents in their best order: the judged ones first, by their grades."""
    hits = judged.hits.at(np.lexsort((-judged.hits.grade, judged.hits.query)))
    rank = compute_ranks(judged.first)
    return replace(
        judged, hits=hits._replace(rank=rank, tied_from=rank, tied_to=rank, score=-rank.astype(float)), _memory={}
    )
