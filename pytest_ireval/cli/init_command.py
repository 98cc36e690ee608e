"""``ireval init``: a first suite for the data at hand."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from pytest_ireval.cli.options import ProgressBar, format_options
from pytest_ireval.cli.proposed_suite import (
    ENGINE,
    EXPECTED,
    TOP,
    DataFile,
    RankingSource,
    SuiteFacts,
    format_churn_rule,
    format_expectations,
    format_head,
    format_judged_rules,
)
from pytest_ireval.clock import read_date
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.errors import BaselineError, IrevalError, Problem
from pytest_ireval.evaluating.evaluation import evaluate
from pytest_ireval.gate.collect import collect_inputs
from pytest_ireval.masking import public_address
from pytest_ireval.plugins.conftests import Conftests
from pytest_ireval.reading import read_judgments, read_queries, read_rankings
from pytest_ireval.repositories.merge_base import find_top
from pytest_ireval.results.evaluation import Evaluation
from pytest_ireval.results.policies import Policies
from pytest_ireval.suite.inheriting import shown_path
from pytest_ireval.suite.loading import load_suite, load_suites

SHORTEST, LONGEST = 20, 100
"""The least and the greatest ``depth`` that a new suite gets."""
CUTOFF = 10
RECALL_CUTOFFS = (100, 50, 20)


@click.command(name="init")
@click.option("--judgments", type=click.Path(path_type=Path), help="The judgments, if there are any.")
@click.option("--rankings", type=click.Path(path_type=Path), help="A file with the current rankings of the system.")
@click.option("--python", metavar="MODULE:FUNCTION", help="A Python function that answers a query, instead of a file.")
@click.option("--command", "program", metavar="LINE", help="A command line that prints rankings, instead of a file.")
@click.option("--engine", metavar="ADDRESS", help="The index of a running Elasticsearch, OpenSearch or Solr, to ask.")
@click.option(
    "--header",
    "headers",
    metavar="'NAME: VALUE'",
    multiple=True,
    help="A header of each request to the engine, in which ${NAME} is a variable with a key; repeatable.",
)
@click.option("--queries", type=click.Path(path_type=Path), help="The queries.")
@click.option("--name", help="The suite's name; the default is that of the working folder.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="The file to write; the default is suites/NAME.ireval.yaml."
)
@format_options("judgments", "queries", "rankings")
def command(
    judgments: Path | None,
    rankings: Path | None,
    python: str | None,
    program: str | None,
    engine: str | None,
    headers: tuple[str, ...],
    queries: Path | None,
    name: str | None,
    output: Path | None,
    judgments_format: str | None,
    queries_format: str | None,
    rankings_format: str | None,
) -> None:
    """Write a suite for these rankings, with floors and tolerances taken from them, and comments that say how.

    Rankings come from a file, a Python function, a command, or a running engine; all but files need --queries, and are
    asked once. It also takes judgments, or queries alone. No file is ever overwritten. In a terminal it asks for
    whatever is missing.
    """
    if not (rankings or python or program or engine) and sys.stdin.isatty():
        rankings, python = _ask_for(
            "Rankings: a file, a Python function as module:function, or the address of an index"
        )
        engine, python = (python, None) if python and "://" in python else (None, python)
        judgments = judgments or _ask_for("Judgments: a file, or nothing", default="")[0]
        queries = queries or _ask_for("Queries: a file, or nothing", default="")[0]
    if [rankings, python, program, engine].count(None) != 3:
        raise click.UsageError("give one of --rankings, --python, --command and --engine")
    if judgments is None and queries is None:
        raise click.UsageError("give --judgments, or --queries if there are no judgments yet")
    if rankings is None and queries is None:
        raise click.UsageError("--python, --command and --engine need --queries: the texts that are searched for")
    if headers and engine is None:
        raise click.UsageError("--header needs --engine")
    name = _choose_name(name)
    path = (output or Path("suites", f"{name}.ireval.yaml")).absolute()
    if path.suffix not in (".yaml", ".yml"):
        raise click.UsageError(f"{output}: the name of a suite file ends in .yaml or .yml")
    if path.exists():
        complaint = "already exists, and is not overwritten"
        raise IrevalError(Problem(complaint, shown_path(path), (), "choose another file with -o"))
    known = _collect_facts(
        name,
        path,
        RankingSource(
            DataFile(rankings.absolute(), rankings_format) if rankings else None,
            python or "",
            program or "",
            engine.rstrip("/") if engine else "",
            _propose_engine_source(engine, headers) if engine else None,
        ),
        DataFile(judgments.absolute(), judgments_format) if judgments else None,
        DataFile(queries.absolute(), queries_format) if queries else None,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "x", encoding="utf-8") as file:
        rules = [*format_judged_rules(known), *format_churn_rule(), *format_expectations(known)]
        file.write("\n".join([*format_head(known), "rules:", *rules]) + "\n")
    for named in filter(None, (known.source.file, known.judgments, known.queries_file)):
        _warn_outside(named.path, path.parent)
    _print_next_steps(load_suite(path).shown)
    if engine and public_address(engine) != engine:
        click.echo(
            f"\nThe suite has no login: set {ENGINE} to the address of the engine, as https://NAME:PASSWORD@host:port"
        )


def _propose_engine_source(address: str, headers: Sequence[str]) -> Mapping[str, Any]:
    if find_spec("urllib3") is None:
        raise IrevalError(Problem("urllib3 must be installed", "--engine", (), "pip install 'pytest-ireval[live]'"))
    from pytest_ireval.sources.live.proposal import propose_source

    parts = [text.partition(":") for text in headers]
    if not all(colon and name.strip() and text.strip() for name, colon, text in parts):
        raise click.UsageError("--header: write it as 'NAME: VALUE', such as 'Authorization: ApiKey ${API_KEY}'")
    return propose_source(address, {name.strip(): text.strip() for name, _, text in parts})


def _ask_for(what: str, default: str | None = None) -> tuple[Path | None, str | None]:
    answer = str(click.prompt(what, default=default, show_default=False)).strip()
    is_function = ":" in answer and not Path(answer).exists()
    return (None, answer) if is_function else (Path(answer) if answer else None, None)


def _warn_outside(file: Path, folder: Path) -> None:
    """Warn if a file is not in the repository of the suite: other machines do not have it."""
    try:
        top = find_top(folder)
    except BaselineError:  # there is no repository
        return
    if not file.resolve().is_relative_to(top):
        click.echo(f"warning: {file} is not in the repository {top}: other machines will not have it", err=True)


def _choose_name(name: str | None) -> str:
    if name is None:
        return re.sub(r"[^A-Za-z0-9_.-]+", "-", Path.cwd().name).strip("-.") or "search"
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
        raise click.UsageError(f"--name {name}: a suite name may contain A to Z, a to z, digits, _ . and -")
    return name


def _ask_source(name: str, path: Path, source: RankingSource, queries: DataFile | None) -> Rankings:
    """The rankings of a function or a command, asked as the suite will ask it."""
    known = SuiteFacts(name, path, source, LONGEST, (), None, queries)
    text = "\n".join([*format_head(known), "missing_queries: zero", "rules:", *format_churn_rule()]) + "\n"
    registry = Conftests().registry_for(path)
    (suite,) = load_suites(
        path,
        registry,
        environment=_make_environment(source.address),
        shown=f"{shown_path(path)} (not written)",
        contents=lambda file: text.encode() if file == path else file.read_bytes(),
    )
    with ProgressBar() as progress:
        return collect_inputs(suite, registry, read_date(), progress).current.rankings[0]


def _make_environment(address: str) -> dict[str, str]:
    """The variables of this process, with the engine of this address, whatever they say."""
    others = {name: text for name, text in os.environ.items() if name != ENGINE}
    has_login = public_address(address) != address
    return {**others, ENGINE: address.rpartition("/")[0]} if has_login else others


def _collect_facts(
    name: str, path: Path, source: RankingSource, judgments: DataFile | None, queries: DataFile | None
) -> SuiteFacts:
    """The content of the files, or the answers of the source."""
    file = source.file
    current = (
        read_rankings(file.path, LONGEST, format=file.format) if file else _ask_source(name, path, source, queries)
    )
    depth = max(SHORTEST, min(LONGEST, int(current.retrieved.max()) if len(current) else 1))
    evaluation = _evaluate(judgments, current, depth) if judgments else None
    asked = read_queries(queries.path, format=queries.format) if queries else None
    ranked = set(current.queries)
    wanted = dict.fromkeys((*(asked.ids if asked else ()), *(evaluation.missing if evaluation else ())))
    return SuiteFacts(
        name,
        path,
        source,
        depth,
        _choose_expectations(current, evaluation),
        judgments,
        queries,
        asked,
        replace(evaluation, metrics=evaluation.metrics[:-1]) if evaluation else None,
        tuple(query for query in wanted if query not in ranked),
    )


def _evaluate(judgments: DataFile, rankings: Rankings, depth: int) -> Evaluation:
    """The last metric is 1 if a document of the top grade ranks first."""
    deep = next(cutoff for cutoff in RECALL_CUTOFFS if cutoff <= depth)
    grades = read_judgments(judgments.path, format=judgments.format)
    usual = [f"nDCG@{CUTOFF}", f"RR@{CUTOFF}", f"R@{deep}", f"Judged@{CUTOFF}"]
    metrics = [*usual, f"P(rel={max(1, grades.highest_grade):g})@1"]
    return evaluate(grades, rankings, metrics, policies=Policies(missing_queries="zero", depth=depth))


def _choose_expectations(rankings: Rankings, evaluation: Evaluation | None) -> tuple[tuple[str, str], ...]:
    """Return queries with their first document: of the top grade, and the farthest ahead of the fourth.

    A document that a harmless change moves below the top three is a bad example of what must not break.
    """
    best = evaluation.metrics[-1].values if evaluation else {}
    queries = [query for query in rankings.queries if not evaluation or best.get(query) == 1.0]
    places = {query: place for place, query in enumerate(rankings.queries)}
    leads = {query: _compute_lead(rankings, places[query]) for query in queries}
    ahead = sorted((query for query in queries if leads[query]), key=lambda query: -leads[query])
    chosen = set(ahead[:EXPECTED] or queries[:EXPECTED])
    lists = ((query, rankings.ranking(query)) for query in queries if query in chosen)
    return tuple((query, documents[0]) for query, documents in lists if documents)


def _compute_lead(rankings: Rankings, place: int) -> float:
    """The distance of the first score from the fourth, as a share of the distance from the first to the last."""
    scores = rankings.score[rankings.first[place] : rankings.first[place + 1]]
    if scores.size <= TOP or scores[0] == scores[-1]:
        return 0.0
    return float((scores[0] - scores[TOP]) / (scores[0] - scores[-1]))


def _print_next_steps(shown: str) -> None:
    folder = Path(shown).parent.as_posix()
    click.echo(f"wrote {shown}\n\nnext:")
    click.echo(f"  pytest --ireval {folder} --ireval-update-new     accepts these rankings as the baseline")
    click.echo(f"  pytest --ireval {folder}     compares with it from then on")
    click.echo("  ireval check --schema -o .ireval/suite.schema.json     lets editors complete and check suites")
