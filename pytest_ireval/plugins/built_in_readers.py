"""Registers the built-in readers through the public hook."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from pytest_ireval.data.formats import recognition
from pytest_ireval.data.formats.input_file import InputFile
from pytest_ireval.data.formats.reader import Content, Reader
from pytest_ireval.data.tables import has_judgment_columns, has_query_columns, has_ranking_columns
from pytest_ireval.plugins.hookspecs import hookimpl


@hookimpl
def ireval_readers() -> list[Reader]:
    """The formats that are built in."""
    return _READERS


def _defer(module: str, function: str, *, with_how: bool = False) -> Callable[..., Any]:
    """``function(file)`` of a module of formats, imported when it is called; ``with_how`` passes how to read, too."""

    def read(*given: Any) -> Any:
        found = getattr(import_module(f"pytest_ireval.data.formats.{module}"), function)
        return found(*given) if with_how else found(given[0])

    return read


def _make_row_readers(
    holds: Content, columns: str, has: Callable[[Any], bool], is_table: Callable[[InputFile], bool]
) -> list[Reader]:
    """The formats that are rows under names: as text, as JSON, as Parquet or Arrow."""
    return [
        Reader(
            "table",
            holds,
            f"CSV or TSV with a first line of column names: {columns}",
            is_table,
            _defer("row_files", "read_delimited_table"),
            _defer("row_scan", "read_judged_in_table", with_how=True) if holds == "rankings" else None,
            also=("csv", "tsv"),
        ),
        Reader(
            "jsonl",
            holds,
            f"a JSON object on each line with {columns}",
            lambda file: has(recognition.read_keys_of_lines(file)),
            _defer("row_files", "read_json_lines"),
            _defer("row_scan", "read_judged_in_json_lines", with_how=True) if holds == "rankings" else None,
        ),
        Reader("json", holds, JSON_LAYOUT[holds], recognition.is_plain_json, _defer("row_files", "read_json")),
        *(
            Reader(
                name,
                holds,
                f"{kind} with columns {columns}",
                fits,
                _defer("columnar", "read_columnar_rankings", with_how=True)
                if holds == "rankings"
                else _defer("columnar", "read_columnar_table"),
                _defer("columnar", "read_judged_in_columns", with_how=True) if holds == "rankings" else None,
                also=also,
            )
            for name, kind, fits, also in (
                ("parquet", "Parquet", recognition.is_parquet, ()),
                ("arrow", "Arrow IPC (Feather)", recognition.is_arrow, ("feather",)),
            )
        ),
    ]


JSON_LAYOUT: dict[Content, str] = {
    "queries": "one JSON value: {id: text}, or a list of objects as in jsonl",
    "judgments": "one JSON value: {query: {document: grade}}, or a list of objects as in jsonl",
    "rankings": "one JSON value: {query: {document: score}}, {query: [document, …]}, or a list of objects as in jsonl",
}


def _make_paired_readers(
    name: str, summary: str, fits: Callable[[InputFile], bool], module: str, begin: str
) -> list[Reader]:
    """A format that holds queries together with their judgments.

    ``read_BEGIN_queries`` and ``read_BEGIN_judgments`` read it.
    """
    return [
        Reader(name, "queries", summary, fits, _defer(module, f"read_{begin}_queries")),
        Reader(name, "judgments", summary, fits, _defer(module, f"read_{begin}_judgments")),
    ]


WORKBENCH: tuple[tuple[Content, str, Callable[[InputFile], bool]], ...] = (
    ("queries", "query set or judgment list", recognition.is_workbench_queries),
    ("judgments", "judgment list", recognition.is_workbench_judgments),
)

_READERS: list[Reader] = [
    Reader(
        "trec",
        "judgments",
        "columns separated by spaces or tabs: query iteration document grade",
        recognition.is_qrels,
        _defer("trec", "read_trec_judgments", with_how=True),
    ),
    Reader(
        "trec-diversity",
        "judgments",
        "columns separated by spaces or tabs: query subtopic document grade",
        recognition.has_subtopics,
        _defer("row_files", "read_diversity_judgments"),
    ),
    Reader(
        "prels",
        "judgments",
        "sampled judgments of TREC; name the format: query document grade method probability",
        lambda file: False,  # noqa: ARG005 - it must be named, since no metric uses the probabilities
        _defer("row_files", "read_sampled_judgments"),
    ),
    Reader(
        "trec",
        "rankings",
        "columns separated by spaces or tabs: query Q0 document rank score tag",
        recognition.is_run,
        _defer("trec", "read_trec_rankings", with_how=True),
        _defer("trec", "read_judged_in_trec", with_how=True),
    ),
    Reader(
        "msmarco",
        "rankings",
        "three columns of words: query document rank, where ranks count from 1",
        recognition.is_msmarco_run,
        _defer("trec", "read_msmarco_rankings", with_how=True),
        _defer("trec", "read_judged_in_msmarco", with_how=True),
    ),
    *_make_row_readers("queries", "id and text", has_query_columns, recognition.is_table_of_queries),
    *_make_row_readers(
        "judgments", "query, document and grade", has_judgment_columns, recognition.is_table_of_judgments
    ),
    *_make_row_readers("rankings", "query, document and score", has_ranking_columns, recognition.is_table_of_rankings),
    Reader(
        "responses",
        "rankings",
        "answers of Elasticsearch, OpenSearch, Solr or Vespa by query: JSON, or JSON lines",
        recognition.is_responses,
        _defer("other_tools", "read_responses"),
    ),
    Reader(
        "pairs",
        "queries",
        "id and text with a tab between them, no header line",
        recognition.is_pairs,
        _defer("row_files", "read_pairs"),
    ),
    Reader(
        "id-text",
        "queries",
        "id:text or id:priority:text on each line",
        recognition.is_id_text,
        _defer("collection_files", "read_id_text_pairs"),
    ),
    Reader(
        "car",
        "queries",
        "TREC CAR: a path of headings on each line, with %20 for a blank",
        recognition.is_headings,
        _defer("collection_files", "read_heading_queries"),
    ),
    Reader(
        "smart",
        "queries",
        "SMART: .I id, then .W and lines of text",
        recognition.is_smart_queries,
        _defer("collection_files", "read_smart_queries"),
    ),
    Reader(
        "smart",
        "judgments",
        "SMART: columns query document grade, or query document 0 0.000000 for relevant documents",
        recognition.is_smart_judgments,
        _defer("collection_files", "read_smart_judgments"),
    ),
    Reader(
        "trec-topics",
        "queries",
        "<top> with <num>, <title>, <desc>, <narr>; or XML with <topic> or <query>",
        recognition.is_topics,
        _defer("collection_files", "read_topic_queries"),
    ),
    Reader(
        "letor",
        "judgments",
        "LETOR or SVMlight: grade qid:query 1:feature … # document; or sizes of queries in NAME.group",
        recognition.has_features,
        _defer("collection_files", "read_letor_judgments", with_how=True),
        also=("svmlight",),
    ),
    *_make_paired_readers(
        "beir", "a folder with queries.jsonl and qrels/*.tsv", recognition.is_beir, "row_files", "beir"
    ),
    *_make_paired_readers(
        "quepid-case",
        "a Quepid case (JSON), or its ratings (CSV or JSON)",
        lambda file: recognition.is_quepid_case(file) or recognition.is_quepid_table(file),
        "other_tools",
        "case",
    ),
    *_make_paired_readers(
        "quepid-book",
        "a Quepid book (JSON); name its format for judgments (CSV)",
        recognition.is_quepid_book,
        "other_tools",
        "book",
    ),
    Reader(
        "quepid-snapshot",
        "rankings",
        "a Quepid snapshot (CSV): Snapshot Name, Query Text, Doc ID, Doc Position",
        recognition.is_quepid_snapshot,
        _defer("other_tools", "read_snapshot_rankings"),
    ),
    *_make_paired_readers("rre", "ratings of Rated Ranking Evaluator (JSON)", recognition.is_rre, "other_tools", "rre"),
    *_make_paired_readers(
        "elasticsearch",
        "a request of Elasticsearch's ranking evaluation, _rank_eval (JSON)",
        recognition.is_rank_eval,
        "other_tools",
        "elasticsearch",
    ),
    *(
        Reader(
            "opensearch-workbench",
            holds,
            f"a {kind} of OpenSearch's Search Relevance Workbench (JSON)",
            fits,
            _defer("other_tools", f"read_workbench_{holds}"),
            also=("srw",),
        )
        for holds, kind, fits in WORKBENCH
    ),
]
