"""``ireval collection``: a test collection in figures."""

from __future__ import annotations

import click

from pytest_ireval import read_judgments, read_queries
from pytest_ireval.cli.options import ProgressBar, format_options, grades_option, load_command_registry, rel_option
from pytest_ireval.cli.sheets import Sheet, print_sheets, sheet_format
from pytest_ireval.plugin_api import Grades, format_count
from pytest_ireval.tables import read_document_fields
from pytest_ireval_judgments.collection import count_grades, measure_corpus, measure_queries


@click.command(name="collection", context_settings={"show_default": True})
@click.argument("judgments")
@click.option("--queries", metavar="FILE", help="The queries that were judged, for the length of their texts.")
@click.option(
    "--fields", metavar="FILE", help="The documents with their fields (CSV, TSV, JSON lines, Parquet): size and words."
)
@rel_option
@sheet_format
@format_options("judgments", "queries")
@grades_option
def command(
    judgments: str,
    queries: str | None,
    fields: str | None,
    rel: float,
    form: str,
    judgments_format: str | None,
    queries_format: str | None,
    grades: Grades,
) -> None:
    """Describe a test collection: its queries, JUDGMENTS and documents."""
    registry = load_command_registry(None)
    with ProgressBar() as progress:
        found = read_judgments(judgments, format=judgments_format, grades=grades, registry=registry, progress=progress)
        asked = None if queries is None else read_queries(queries, format=queries_format, registry=registry)
    sheets = [
        Sheet(
            "per_query",
            [each._asdict() for each in measure_queries(found, asked.text if asked else (), rel)],
            "Each query has:",
            {"figure": ""},
        ),
        Sheet("grades", [each._asdict() for each in count_grades(found)]),
    ]
    notes = [
        f"{format_count(len(found), 'judgment')} of {format_count(len(found.queries), 'query')} ({found.origin}); "
        f"relevant: grade {rel:g} or more"
    ]
    if asked is not None:
        without = len(set(asked.ids) - set(found.queries))
        notes.append(f"{format_count(len(asked), 'query')} in {asked.origin}, {without} without judgments")
    if fields is not None:
        corpus = measure_corpus(read_document_fields(fields), found)
        headers = {"size": "bytes of text", "words": "words per document", "not_in_it": "judged, but missing"}
        sheets.append(Sheet("documents", [corpus._asdict()], "", headers))
    print_sheets(sheets, notes, form)
