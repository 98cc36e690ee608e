"""``ireval pool``: documents to judge from several rankings, and what each ranking adds to the judgments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from pytest_ireval import (
    IrevalError,
    Judgments,
    Policies,
    Queries,
    Rankings,
    evaluate,
    read_judgments,
    read_queries,
    read_rankings,
)
from pytest_ireval.cli.options import (
    METRICS,
    ProgressBar,
    format_options,
    grades_option,
    load_command_registry,
    metric_option,
    name_files,
    refuse_same_file,
    rel_option,
)
from pytest_ireval.cli.sheets import Row, Sheet, list_first, print_sheets, sheet_format
from pytest_ireval.plugin_api import Grades, Problem, Registry, format_count, keep_first_documents
from pytest_ireval.tables import COLUMN_NAMES, format_cell, normalize_name, read_fields, write_table
from pytest_ireval_judgments.collection import Pool, leave_one_out, make_pool

TIE = 1e-12
"""Figures that differ by no more than this share are equal: they were computed in another order."""
TAKEN = {
    name
    for kind in ("query", "document", "grade", "subtopic", "judge")
    for group in COLUMN_NAMES[kind]
    for name in group
}
"""Names of columns that ``ireval import`` would read as something else."""


@click.command(name="pool", context_settings={"show_default": True})
@click.argument("rankings", nargs=-1, required=True, metavar="RANKINGS...")
@click.option("-k", "--depth", default=100, type=click.IntRange(1), help="Take the first K documents of each ranking.")
@click.option("--seed", default=7, type=click.IntRange(0), help="The seed of the random order.")
@click.option("--judged", metavar="FILE", help="Judgments that exist already; their documents are left out.")
@click.option("--queries", metavar="FILE", help="The queries, for their texts, narratives and other columns.")
@click.option("--fields", metavar="FILE", help="The documents with titles, texts and other fields.")
@click.option("--to", "target", default="pool.tsv", help="The file to write: .tsv, .csv or .jsonl.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@metric_option
@rel_option
@sheet_format
@format_options("rankings", "judgments", "queries")
@grades_option
def command(
    rankings: tuple[str, ...],
    depth: int,
    seed: int,
    judged: str | None,
    queries: str | None,
    fields: str | None,
    target: str,
    force: bool,
    metrics: tuple[str, ...],
    rel: float,
    form: str,
    rankings_format: str | None,
    judgments_format: str | None,
    queries_format: str | None,
    grades: Grades,
) -> None:
    """Collect the first documents of RANKINGS to judge: each once, in random order.

    The table shows what each ranking adds. With --judged it also scores each ranking without the judgments of documents
    that only this ranking has. A large difference means that new systems of its kind get too low values.
    """
    named_rankings = name_files(rankings)
    refuse_same_file([*named_rankings.values(), judged, queries, fields], {"--to": target})
    if Path(target).exists() and not force:
        raise IrevalError(Problem(f"would overwrite {target}", suggestion="--force overwrites"))
    registry = load_command_registry(None)
    with ProgressBar() as progress:
        known = None
        if judged is not None:
            known = read_judgments(judged, format=judgments_format, grades=grades, registry=registry, progress=progress)
        whole = {
            name: read_rankings(
                path, None if judged else depth, format=rankings_format, registry=registry, progress=progress
            )
            for name, path in named_rankings.items()
        }
    named_queries = None if queries is None else read_queries(queries, format=queries_format, registry=registry)
    cut = {name: keep_first_documents(each, depth) for name, each in whole.items()}
    pool = make_pool(cut, known, seed, named_queries.ids if named_queries else ())
    sheets = [Sheet("contributions", [each._asdict() for each in pool.contributions])]
    notes = []
    if known is not None and (
        not_judged := [name for name in whole if set(whole[name].queries).isdisjoint(known.queries)]
    ):
        notes.append(f"not scored: no query of {list_first(not_judged)} is judged in {known.origin}")
    elif known is not None and len(whole) > 1:
        sheets.append(
            Sheet(
                "leave_one_out",
                [*_measure_bias(cut, whole, known, metrics or METRICS, rel, registry)],
                "With all judgments, and without those of documents that only this ranking has:",
            )
        )
    print_sheets(sheets, [*notes, *_write_pool(pool, named_queries, fields, target)], form)


def _write_pool(pool: Pool, queries: Queries | None, fields: str | None, target: str) -> Iterator[str]:
    """Write the pool; notes for the user."""
    left_out = f"; {format_count(pool.judged, 'document')} judged already" if pool.judged else ""
    if not pool.pairs:
        yield f"nothing to judge{left_out}: {target} not written"
        return
    documents = read_fields(fields, {document for _, document in pool.pairs}) if fields is not None else {}
    names = list(dict.fromkeys(name for each in documents.values() for name in each))
    columns = list(queries.columns) if queries is not None else []
    header = ["query", "query_text", *(_name_column("query", name) for name in columns), "document"]
    header += [*(_name_column("document", name) for name in names), "grade"]
    ending = Path(target).suffix.lower()
    rows = []
    for query, document in pool.pairs:
        row = queries.position.get(query) if queries is not None else None
        about = [queries.columns[name][row] if queries is not None and row is not None else "" for name in columns]
        text = queries.text_of(query) if queries is not None else ""
        cells = [format_cell(documents.get(document, {}).get(name)) for name in names]
        texts = [_clean_cell(cell, ending) for cell in (text, *about, *cells)]
        at = 1 + len(about)
        rows.append([query, *texts[:at], document, *texts[at:], ""])
    write_table(header, rows, target)
    asked_of = format_count(len({query for query, _ in pool.pairs}), "query")
    yield f"wrote {target}: {format_count(len(rows), 'document')} of {asked_of}{left_out}"
    if queries is not None and (unknown := {query for query, _ in pool.pairs} - set(queries.ids)):
        yield f"{format_count(len(unknown), 'query')} not in {queries.origin}: without text"
    if queries is not None and (idle := [query for query in queries.ids if query not in pool.queries]):
        yield f"{format_count(len(idle), 'query')} of {queries.origin} not in any ranking: {list_first(idle)}"
    if fields is not None and (lacking := {document for _, document in pool.pairs} - set(documents)):
        yield f"{format_count(len(lacking), 'document')} not in {fields}: without fields"


def _clean_cell(text: str, ending: str) -> str:
    """A text that a table can store; one that a spreadsheet takes for a formula begins with an apostrophe."""
    text = text.encode("utf-8", "replace").decode()  # half of a character
    if ending == ".jsonl":
        return text
    text = (" ".join(text.split()) if ending == ".tsv" else text).replace("\0", "")
    formula = text.startswith(("=", "+", "-", "@")) and not re.fullmatch(r"[-+]?[\d.,]+", text)
    return f"'{text}" if formula else text


def _name_column(of: str, name: str) -> str:
    """The name of a column that ``ireval import`` does not read as another one."""
    whole = f"{of}_{name}"
    return f"{of}_column_{name}" if normalize_name(whole) in TAKEN or whole == "query_text" else whole


def _measure_bias(
    cut: Mapping[str, Rankings],
    whole: Mapping[str, Rankings],
    judgments: Judgments,
    metrics: Sequence[str],
    rel: float,
    registry: Registry,
) -> Iterator[Row]:
    """Each ranking with all judgments, and without those that it alone contributed; then all rankings are without."""
    parts = leave_one_out(cut, judgments, rel)
    policies = Policies(missing_queries="zero", scale=judgments.highest_grade or None)

    def scored(ranking: Rankings, by: Judgments) -> Any:
        found = evaluate(by, ranking, metrics, policies=policies, registry=registry)
        progress.advance(1)
        return found.metrics

    with ProgressBar() as progress:
        progress.expect(len(whole) * (1 + sum(bool(part.unique) for part in parts)), "scoring")
        every = {name: scored(ranking, judgments) for name, ranking in whole.items()}
        alone = {
            part.ranking: {name: scored(ranking, part.judgments) for name, ranking in whole.items()}
            if part.unique
            else every
            for part in parts
        }
    for number, metric in enumerate(next(iter(every.values()))):
        for part in parts:
            values, values_without = (
                {name: found[number].value for name, found in of.items()} for of in (every, alone[part.ranking])
            )
            value, without = values[part.ranking], values_without[part.ranking]
            yield {
                "metric": metric.name,
                "ranking": part.ranking,
                "unique_judgments": part.unique,
                "relevant": part.relevant,
                "value": value,
                "without": without,
                "difference": None if value is None or without is None else without - value,
                "rank": _find_rank(value, values.values(), metric.direction),
                "rank_without": _find_rank(without, values_without.values(), metric.direction),
            }


def _find_rank(value: float | None, figures: Iterable[float | None], direction: str) -> int | None:
    """The rank of one of the figures; None where it is not defined."""
    if value is None or direction == "neither":
        return None
    sign = -1 if direction == "lower" else 1
    known = (other for other in figures if other is not None)
    return 1 + sum(sign * (other - value) > TIE * max(1.0, abs(other), abs(value)) for other in known)
