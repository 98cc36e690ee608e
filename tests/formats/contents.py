"""What was read, as plain mappings."""

import numpy as np


def list_grades(judgments):
    """``{query: {document: grade}}``."""
    found = {query: {} for query in judgments.queries}
    for query, document, grade in zip(judgments.query, judgments.documents.texts(), judgments.grade, strict=True):
        found[judgments.queries[query]][document] = float(grade)
    return found


def list_rankings(rankings):
    """``{query: [(document, score), …]}`` in order of rank."""
    return {
        query: list(
            zip(
                rankings.documents.texts(np.arange(rankings.first[i], rankings.first[i + 1])),
                rankings.score[rankings.first[i] : rankings.first[i + 1]].tolist(),
                strict=True,
            )
        )
        for i, query in enumerate(rankings.queries)
    }


def list_subtopics(judgments):
    """``{(query, document): {subtopic: grade}}``."""
    found = {}
    parts = judgments.subtopics
    for row, subtopic, grade in zip(parts.row.tolist(), parts.subtopic.tolist(), parts.grade.tolist(), strict=True):
        pair = judgments.queries[judgments.query[row]], judgments.documents[row]
        found.setdefault(pair, {})[parts.names[subtopic]] = grade
    return found
