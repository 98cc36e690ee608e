"""What a metric may ask for besides the grades of judged documents, and where each comes from."""

from __future__ import annotations

from typing import Literal, get_args

Need = Literal[
    "scores",
    "ties",
    "documents",
    "collection",
    "unjudged",
    "attributes",
    "subtopics",
    "sessions",
    "preferences",
    "timings",
    "reference",
]

NEEDS: tuple[str, ...] = get_args(Need)

SOURCES: dict[str, str] = {
    "scores": "`judged.hits.score`: the score of every judged document; always there",
    "ties": "`judged.hits.tied_from` and `tied_to`: the ranks that share its score; always there",
    "documents": "`judged.documents`: the ids in order of rank; kept when a metric asks for them",
    "collection": "`judged.collection`: how many documents there are to find; "
    "`collection=N` (command line: `--collection N`)",
    "unjudged": "`judged.documents.grade` is NaN where a document is not judged; kept when a metric asks for it",
    "attributes": "`judged.attributes`: what is known of a document; `evaluate(…, attributes={id: {…}})`",
    "subtopics": "`judged.subtopics`: grades for parts of a query; from judgments that have subtopics",
    "sessions": "`judged.sessions`: which queries make a session; `evaluate(…, sessions={query: (session, position)})`",
    "preferences": "`judged.preferences`: the better document first; `evaluate(…, preferences={query: [(a, b)]})`",
    "timings": "`judged.timings`: seconds each query took; `evaluate(…, timings={query: seconds})`",
    "reference": "`judged.reference`: another judged ranking of the same queries; `evaluate(…, reference=rankings)`",
}
"""For each need: where a metric finds it, and who brings it."""
