"""``ireval check``: read suites and their files, and report all mistakes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import click

from pytest_ireval.clock import read_date
from pytest_ireval.errors import IrevalError, Problem, SuiteError, count_problems
from pytest_ireval.gate.changed_since import Repositories, find_wrong_watches
from pytest_ireval.gate.check_inputs import find_id_problem
from pytest_ireval.gate.collect import collect_inputs
from pytest_ireval.gate.components import find_idle_components
from pytest_ireval.gate.planning import (
    find_checks_that_cannot_fail,
    find_rules_of_few_weights,
    plan_checks,
    select_rule_checks,
)
from pytest_ireval.gate.queries_and_judgments import read_collection, read_suite_queries
from pytest_ireval.gate.score import score_inputs
from pytest_ireval.plugins.conftests import Conftests
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.power.outlook import (
    collect_suite_data,
    find_tolerances_of_nothing,
    find_too_small_tolerances,
    foresee_rules,
)
from pytest_ireval.sources.run import RunOptions, find_missing_files
from pytest_ireval.suite.editor_schema import TITLE, suite_schema
from pytest_ireval.suite.finding import find_suites, is_shared
from pytest_ireval.suite.loading import load_suites
from pytest_ireval.suite.suite import Suite
from pytest_ireval.text_table import escape_unprintable
from pytest_ireval.words import format_count


@click.command(name="check")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--schema", is_flag=True, help="Print the JSON Schema of suites instead, for editors.")
@click.option("-o", "--output", metavar="FILE", help="With --schema: write to FILE, such as .ireval/suite.schema.json.")
def command(paths: tuple[Path, ...], schema: bool, output: str | None) -> None:
    """Read the suites at PATHS, files or folders, with their queries, judgments and files of rankings.

    Judgments or rankings that are empty, swapped, or about other ids are mistakes. Other sources are not asked.

    A line for each suite, or everything that is wrong. Below it is a warning for each tolerance that is less than its
    queries can show; ireval plan shows more. The exit code is 1 when there is a mistake, 2 when no suite was found.

    With --schema, print the JSON Schema of suites with all metrics, rules and sources at hand, those of the conftest.py
    files of PATHS (one folder; unless given, this one) included. Editors complete and check suites by it; the first
    line of a suite names it:

    # yaml-language-server: $schema=../.ireval/suite.schema.json
    """
    if schema:
        if len(paths) > 1:
            raise click.UsageError("--schema takes one folder")
        _write_schema(paths[0] if paths else Path(), output)
        return
    if not paths:
        raise click.UsageError("no suites given: name files or folders")
    if output is not None:
        raise click.UsageError("--output needs --schema")

    files = find_suites(paths)
    shared = [path for path in files if is_shared(path.name)]
    checked = CheckedSuites()
    for path in files:
        if path not in shared:
            _check_file(path, checked)
    for path in shared:
        click.echo(f"{path}: is checked with the suites that extend it")
    problems = checked.problems
    for problem in problems:
        click.echo(str(problem))
    if not checked.by_name and not problems:
        raise click.UsageError("no suite was found (*.ireval.yaml, or YAML with a line that begins with ireval:)")
    if problems:
        click.echo(format_count(count_problems(problems), "mistake"))
    sys.exit(1 if problems else 0)


@dataclass
class CheckedSuites:
    """The suites that were read so far, and all that is wrong with them and their files."""

    conftests: Conftests = field(default_factory=Conftests)
    repositories: Repositories = field(default_factory=Repositories)
    by_name: dict[str, Suite] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def add(self, suites: Sequence[Suite]) -> None:
        """Add suites, with the problems of their names and watched files."""
        self.problems += _find_duplicate_names(suites, self.by_name)
        for suite in suites:
            for problem in find_wrong_watches(suite, self.repositories):
                if problem not in self.problems:  # several suites may extend the file that has it
                    self.problems.append(problem)


class SuiteFindings(NamedTuple):
    """What was found in the inputs and tolerances of a suite."""

    mistakes: list[Problem]
    warnings: list[str]


def _check_file(path: Path, checked: CheckedSuites) -> None:
    """Check the suites of a file, and print a line for each and its warnings, as large ones take a while."""
    registry = checked.conftests.registry_for(path)
    try:
        suites = load_suites(path, registry)
        idle = [problem for suite in suites for problem in find_idle_components(suite, registry)]
        if idle:
            raise SuiteError(*idle)
        warnings_of_plans = [warning for suite in suites for warning in _check_plan(suite, registry)]
    except IrevalError as error:
        checked.problems += error.problems
        return
    _print_warnings(warnings_of_plans)
    checked.add(suites)
    for suite in suites:
        findings = _check_suite(suite, registry)
        click.echo(f"{suite.shown}: {suite.name}: {_count_parts(suite, findings.mistakes)}")
        _print_warnings(findings.warnings)
        checked.problems += findings.mistakes


def _print_warnings(warnings: Sequence[str]) -> None:
    for warning in warnings:
        click.echo(escape_unprintable(f"warning: {warning}"))


def _count_parts(suite: Suite, mistakes: Sequence[Problem]) -> str:
    if mistakes:
        return format_count(count_problems(mistakes), "mistake")
    return f"{format_count(len(suite.metrics), 'metric')}, {format_count(len(suite.rules), 'rule')}"


def _check_plan(suite: Suite, registry: Registry) -> Sequence[str]:
    """Warnings of checks that cannot fail; raises if none can be planned, or the queries lack something."""
    queries = read_suite_queries(suite, registry)
    return [*find_checks_that_cannot_fail(select_rule_checks(plan_checks(suite, queries)), queries)]


def _check_suite(suite: Suite, registry: Registry) -> SuiteFindings:
    """Check the inputs of a suite, and its tolerances only if the inputs are right."""
    warnings: list[str] = []
    try:
        inputs = _check_inputs(suite, registry)
        warnings += inputs.warnings
        if inputs.mistakes:
            return inputs
        return SuiteFindings([], [*warnings, *_list_doubtful_tolerances(suite, registry)])
    except IrevalError as error:
        return SuiteFindings([*error.problems], warnings)


def _check_inputs(suite: Suite, registry: Registry) -> SuiteFindings:
    """Judgments, and files of rankings that are there; no other source is asked."""
    # None: rankings do not come from files, so they are not there before the source is asked.
    missing = None if suite.source is None else find_missing_files(suite.source.options, suite.path.parent)
    if missing is not None and not missing and _compares_only_with_files(suite):
        problem = find_id_problem(score_inputs(collect_inputs(suite, registry, read_date())))
        return SuiteFindings([] if problem is None else [*problem.problems], [])
    read_collection(suite, registry, read_date())
    if missing:
        warning = f"{suite.name}: rankings are not checked, for there is no file {', '.join(missing)}"
        return SuiteFindings([], [warning])
    return SuiteFindings([], [])


def _compares_only_with_files(suite: Suite) -> bool:
    """Tell whether rules compare only with files, not with a source that would have to be asked."""
    references = (rule.traits.reference.source for rule in suite.rules)
    return all(source is None or isinstance(source.options, RunOptions) for source in references)


def _list_doubtful_tolerances(suite: Suite, registry: Registry) -> list[str]:
    """Warnings of tolerances that mean nothing under the stored baseline, ask for too much, or rest on few weights."""
    known = collect_suite_data(suite, registry, read_date())
    outlooks = foresee_rules(known)
    few_weights = find_rules_of_few_weights(known.checks, known.queries, known.weights)
    return [*map(str, find_tolerances_of_nothing(outlooks)), *find_too_small_tolerances(outlooks), *few_weights]


def _find_duplicate_names(suites: Sequence[Suite], names: dict[str, Suite]) -> Iterator[Problem]:
    for suite in suites:
        other = names.setdefault(suite.name, suite)
        if other is not suite:
            yield Problem(f"duplicate suite name {suite.name!r}: {other.shown} has it, too", str(suite.place))


def _write_schema(folder: Path, output: str | None) -> None:

    text = json.dumps(suite_schema(Conftests().registry_for(folder.absolute())), indent=2) + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    path = Path(output)
    if path.exists() and f'"title": "{TITLE}"' not in path.read_text(encoding="utf-8", errors="replace"):
        complaint = "is not a schema of suites, and is not overwritten"
        raise IrevalError(Problem(complaint, output, (), "choose another file with -o"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    click.echo(f"wrote {output}")
