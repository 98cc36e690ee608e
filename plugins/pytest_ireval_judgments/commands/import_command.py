"""``ireval import``: queries and judgments from other tools' files, as a pair of tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import click

from pytest_ireval import IrevalError, Queries
from pytest_ireval.cli.options import grades_option, load_command_registry, name_files, refuse_same_file
from pytest_ireval.cli.sheets import list_first
from pytest_ireval.plugin_api import Grades, Problem, format_count
from pytest_ireval.tables import write_files
from pytest_ireval_judgments.commands.merging_options import merging_options
from pytest_ireval_judgments.importing import Imported, import_files
from pytest_ireval_judgments.panel import CHOICES, Choice, Merging, MissingPolicy, TiePolicy

QUERIES, JUDGMENTS = "queries", "judgments"


@click.command(name="import", context_settings={"show_default": True})
@click.argument("sources", nargs=-1, required=True)
@click.option("--to", "folder", default=".", help="The folder to write to; it is created if it is missing.")
@click.option("--format", "name", metavar="NAME", help="The format of the sources; the default is to detect it.")
@click.option("--ending", default="tsv", type=click.Choice(["tsv", "csv", "jsonl"]), help="The format to write.")
@click.option(
    "--judges",
    default="error",
    type=click.Choice(["error", *CHOICES]),
    help="The grade to use if a document has several for one query.",
)
@merging_options
@grades_option
@click.option("--keep-ids", is_flag=True, help="Keep query ids that contain spaces, such as 'red mug'.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def command(
    sources: tuple[str, ...],
    folder: str,
    name: str | None,
    ending: str,
    judges: str,
    judge_ties: TiePolicy,
    missing_judges: MissingPolicy,
    weights: tuple[tuple[str, float], ...],
    grades: Grades,
    keep_ids: bool,
    force: bool,
) -> None:
    """Turn SOURCES into a file of queries and a file of judgments.

    Sources are Quepid cases and books, RRE ratings, Elasticsearch _rank_eval requests, or any other format that holds
    queries or judgments. Query ids with spaces get new ids without spaces, as rankings files need them.
    """
    given = (judge_ties, missing_judges, weights) != ("lower", "ignore", ())
    if judges == "error" and given:
        raise click.UsageError(f"choose how to merge the judges: --judges {', '.join(CHOICES)}")
    named = name_files(sources, "give each source once")
    targets = {what: Path(folder, f"{what}.{ending}") for what in (QUERIES, JUDGMENTS)}
    for target in targets.values():
        refuse_same_file(named.values(), {"--to": target})
    found = import_files(
        named,
        load_command_registry(None),
        format=name,
        grades=grades,
        merging=None
        if judges == "error"
        else Merging(cast("Choice", judges), judge_ties, missing_judges, dict(weights)),
        keep_ids=keep_ids,
    )
    _check_targets(found, targets, force=force)
    Path(folder).mkdir(parents=True, exist_ok=True)
    files = {targets[QUERIES]: found.queries, targets[JUDGMENTS]: found.judgments}
    write_files({path: content for path, content in files.items() if content is not None})
    click.echo("\n".join(_describe_import(found, targets)))


def _check_targets(found: Imported, targets: dict[str, Path], *, force: bool) -> None:
    """Refuse to overwrite files unasked, and to leave an old file beside a new one."""
    there = [what for what, target in targets.items() if target.exists()]
    written = [str(targets[what]) for what in there if getattr(found, what) is not None]
    if written and not force:
        raise IrevalError(Problem(f"would overwrite {' and '.join(written)}", suggestion="--force overwrites"))
    for what in there:
        if getattr(found, what) is None:
            complaint = f"the sources contain no {what}; the {what} in this file may belong to other sources"
            suggestion = "remove it, or choose another folder with --to"
            raise IrevalError(Problem(complaint, place=str(targets[what]), suggestion=suggestion))


def _describe_import(found: Imported, targets: dict[str, Path]) -> Iterator[str]:
    yield from (f"read {line}" for line in found.read)
    several, tied, dropped, lost = found.merges
    if several:
        yield f"{format_count(several, 'document')} had several grades for one query; one was chosen"
    if tied:
        yield f"{format_count(tied, 'document')} had a tie between grades"
    if dropped:
        yield f"{format_count(dropped, 'document')} dropped: without a judgment now"
    if lost:
        yield f"{format_count(len(lost), 'query')} left out, with all documents dropped: {list_first(lost)}"
    if found.renamed:
        yield f"query ids without spaces: {list_first([f'{old!r} is {new}' for old, new in found.renamed.items()])}"
    yield (
        _write_queries(found.queries, targets[QUERIES])
        if found.queries
        else f"no queries: {targets[QUERIES]} not written"
    )
    if found.judgments is None:
        yield f"no judgments: {targets[JUDGMENTS]} not written"
        return
    judgments = found.judgments
    rows = len(judgments) if judgments.subtopics is None else judgments.subtopics.row.size
    counts = f"{format_count(rows, 'judgment')} of {format_count(len(judgments.queries), 'query')}"
    yield f"wrote {targets[JUDGMENTS]}: {counts}, grades {judgments.grade.min():g} to {judgments.grade.max():g}"
    judged = set(judgments.queries)
    without = [query for query in found.queries.ids if query not in judged] if found.queries is not None else []
    if without:
        yield f"without judgments: {list_first(without)}"


def _write_queries(queries: Queries, target: Path) -> str:
    columns = f", with {', '.join(queries.columns)}" if queries.columns else ""
    return f"wrote {target}: {format_count(len(queries), 'query')}{columns}"
