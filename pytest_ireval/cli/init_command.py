"""``ireval init``: a first suite for the data at hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_ireval.cli.format_options import format_options
from pytest_ireval.errors import IrevalError, Problem

if TYPE_CHECKING:
    from pytest_ireval.cli.suite_scaffold import Known, Named
    from pytest_ireval.results.evaluation import Evaluation
    from pytest_ireval.retrieval.rankings import Rankings

EXPECTED = 3
TOP = 3
"""So many expectations are proposed."""
SHORTEST, LONGEST = 20, 100
"""So many documents of each ranking count at least and at most, unless somebody changes ``depth``."""
CUTOFF = 10
RECALL_CUTOFFS = (100, 50, 20)


@click.command(name="init")
@click.option("--judgments", type=click.Path(path_type=Path), help="The judgments, if there are any.")
@click.option("--rankings", required=True, type=click.Path(path_type=Path), help="What the system returns now.")
@click.option("--queries", type=click.Path(path_type=Path), help="The queries.")
@click.option("--name", help="The suite's name; unless given, that of the working folder.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="The file; unless given, suites/NAME.ireval.yaml."
)
@format_options("judgments", "queries", "rankings")
def command(
    judgments: Path | None,
    rankings: Path,
    queries: Path | None,
    name: str | None,
    output: Path | None,
    judgments_format: str | None,
    queries_format: str | None,
    rankings_format: str | None,
) -> None:
    """Write a suite for these rankings, with floors and tolerances taken from them, and comments that say how.

    It takes judgments and rankings, or queries and rankings alone. No file is ever overwritten.
    """
    from pytest_ireval.cli.suite_scaffold import Named, scaffold
    from pytest_ireval.suites.inheriting import shown_path
    from pytest_ireval.suites.loading import load_suite

    if judgments is None and queries is None:
        raise click.UsageError("say --judgments, or --queries where nothing is judged yet")
    name = _name(name)
    path = (output or Path("suites", f"{name}.ireval.yaml")).absolute()
    if path.suffix not in (".yaml", ".yml"):
        raise click.UsageError(f"{output}: a suite is a file .yaml or .yml")
    if path.exists():
        raise IrevalError(Problem("is there already, and is not overwritten", shown_path(path), (), "name another: -o"))
    known = _known(
        name,
        path,
        Named(rankings.absolute(), rankings_format),
        Named(judgments.absolute(), judgments_format) if judgments else None,
        Named(queries.absolute(), queries_format) if queries else None,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "x", encoding="utf-8") as file:
        file.write(scaffold(known))
    _tell(load_suite(path).shown)


def _name(name: str | None) -> str:
    if name is None:
        return re.sub(r"[^A-Za-z0-9_.-]+", "-", Path.cwd().name).strip("-.") or "search"
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
        raise click.UsageError(f"--name {name}: a name of a suite is letters, digits, _ . and -")
    return name


def _known(name: str, path: Path, rankings: Named, judgments: Named | None, queries: Named | None) -> Known:
    """What the files hold."""
    from pytest_ireval.cli.suite_scaffold import Known
    from pytest_ireval.intake.reading import read_queries, read_rankings

    found = read_rankings(rankings.path, LONGEST, format=rankings.format)
    depth = max(SHORTEST, min(LONGEST, int(found.retrieved.max()) if len(found) else 1))
    evaluation = _evaluated(judgments, found, depth) if judgments else None
    asked = read_queries(queries.path, format=queries.format) if queries else None
    ranked = set(found.queries)
    wanted = dict.fromkeys((*(asked.ids if asked else ()), *(evaluation.missing if evaluation else ())))
    return Known(
        name,
        path,
        rankings,
        depth,
        _first(found, evaluation),
        judgments,
        queries,
        asked,
        replace(evaluation, metrics=evaluation.metrics[:-1]) if evaluation else None,
        tuple(query for query in wanted if query not in ranked),
    )


def _evaluated(judgments: Named, rankings: Rankings, depth: int) -> Evaluation:
    """The last metric says where a document of the top grade stands first."""
    from pytest_ireval.evaluating.evaluation import evaluate
    from pytest_ireval.intake.reading import read_judgments

    deep = next(cutoff for cutoff in RECALL_CUTOFFS if cutoff <= depth)
    grades = read_judgments(judgments.path, format=judgments.format)
    usual = [f"nDCG@{CUTOFF}", f"RR@{CUTOFF}", f"R@{deep}", f"Judged@{CUTOFF}"]
    metrics = [*usual, f"P(rel={max(1, grades.highest_grade):g})@1"]
    return evaluate(grades, rankings, metrics, missing_queries="zero", depth=depth)


def _first(rankings: Rankings, evaluation: Evaluation | None) -> tuple[tuple[str, str], ...]:
    """Return queries with the document that stands first: of the top grade, and the farthest ahead of the fourth.

    A document that a harmless change moves below the top three is no example of what must not break.
    """
    best = evaluation.metrics[-1].values if evaluation else {}
    queries = [query for query in rankings.queries if not evaluation or best.get(query) == 1.0]
    places = {query: place for place, query in enumerate(rankings.queries)}
    leads = {query: _lead(rankings, places[query]) for query in queries}
    ahead = sorted((query for query in queries if leads[query]), key=lambda query: -leads[query])
    chosen = set(ahead[:EXPECTED] or queries[:EXPECTED])
    lists = ((query, rankings.ranking(query)) for query in queries if query in chosen)
    return tuple((query, documents[0]) for query, documents in lists if documents)


def _lead(rankings: Rankings, place: int) -> float:
    """How far the score of the first document is ahead of the fourth, as a share of all scores of the list."""
    scores = rankings.score[rankings.first[place] : rankings.first[place + 1]]
    if scores.size <= TOP or scores[0] == scores[-1]:
        return 0.0
    return float((scores[0] - scores[TOP]) / (scores[0] - scores[-1]))


def _tell(shown: str) -> None:
    folder = Path(shown).parent.as_posix()
    click.echo(f"wrote {shown}\n\nnext:")
    click.echo(f"  pytest --ireval {folder} --ireval-update-new     accepts these rankings as the baseline")
    click.echo(f"  pytest --ireval {folder}     compares with it from then on")
    click.echo("  ireval schema -o .ireval/suite.schema.json     lets editors complete and check suites")
