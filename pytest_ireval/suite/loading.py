"""The suites of a file, or all its mistakes at once."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from pytest_ireval.errors import Problem, SuiteError
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.policies import Dialect, Policies
from pytest_ireval.suite.checks import CheckedSuite, find_contradictions
from pytest_ireval.suite.components import read_components
from pytest_ireval.suite.expectation_tables import include_tables
from pytest_ireval.suite.finding import is_shared
from pytest_ireval.suite.inheriting import (
    Contents,
    MergedKeys,
    combine_values,
    fill_placeholders,
    gather_keys,
    name_suite,
)
from pytest_ireval.suite.scalars import File, Keys, Scalar, find_place, problem_at, put_value
from pytest_ireval.suite.suite import RuleSpec, Suite, Waiver
from pytest_ireval.suite.suite_keys import CONTENTS, Rule, SuiteKeys
from pytest_ireval.suite.validation_errors import translate_errors
from pytest_ireval.suite.yaml_tree import tree_of

PLACE = re.compile(r"(.*?):(\d+)(?::(\d+))?", re.DOTALL)


def load_suites(
    path: str | os.PathLike[str],
    registry: Registry | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    shown: str | None = None,
    contents: Contents | None = None,
    asks_source: bool = True,
) -> tuple[Suite, ...]:
    """The suites of a file: one, or several if it has a matrix. Raises SuiteError with all its mistakes.

    Names are looked up in ``registry``; unless given, in what is installed. ``shown`` is the file as messages show it.
    ``contents`` returns the content of YAML files, unless they are to be read from the disk.
    Files of the source must exist, unless nobody ``asks_source``.
    """
    registry = registry if registry is not None else installed_registry()
    merged = gather_keys(Path(os.path.abspath(path)), environment, shown, contents=contents)
    suites = []
    if merged.whole and _is_suite(merged):
        for values in combine_values(merged.tree, merged.problems):
            suites += _read_suite(merged, values, registry, contents, asks_source=asks_source and contents is None)
    if merged.problems:
        raise SuiteError(*_sort_problems(merged))
    return tuple(suites)


def load_suite(
    path: str | os.PathLike[str],
    registry: Registry | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    shown: str | None = None,
) -> Suite:
    """The one suite of a file; a file with a matrix that makes several is an error."""
    suites = load_suites(path, registry, environment=environment, shown=shown)
    if len(suites) > 1:
        names = ", ".join(suite.name for suite in suites)
        raise SuiteError(Problem(f"holds {len(suites)} suites: {names}", suites[0].shown, suggestion="use load_suites"))
    return suites[0]


def read_rule_text(text: str, registry: Registry) -> RuleSpec:
    """Read a rule as a suite writes it: ``- churn: {below: 0.8, …}``."""
    tree = tree_of(f"rules:\n{text}".encode(), File("a rule", "")).top
    return TypeAdapter(Rule).validate_python(tree["rules"][0], context=_make_context(registry))


def list_suite_names(path: str | os.PathLike[str], *, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The names of the suites of a file. Plugins are not asked: no conftest.py is run for a name."""
    merged = gather_keys(Path(os.path.abspath(path)), environment)
    names: list[str] = []
    if merged.whole and _is_suite(merged):
        written = merged.tree.get("suite")
        if not isinstance(written, Scalar) or not written:
            merged.problems.append(Problem("the key 'suite' is missing or not a name", str(merged.tree.place)))
        else:
            for values in combine_values(merged.tree, merged.problems):
                own = fill_placeholders(written, values, merged.problems) if values else written
                names.append(str(name_suite(written, own, values)))
    if merged.problems:
        raise SuiteError(*_sort_problems(merged))
    return names


def _is_suite(merged: MergedKeys) -> bool:
    """Tell whether the file is a suite of a form that this version reads; if not, add the problem."""
    name = Path(merged.own.file.shown).name
    if is_shared(name):
        complaint = "cannot run alone: a file whose name begins with _ is only for other files to extend"
        merged.problems.append(Problem(complaint, merged.own.file.shown))
    elif "ireval" not in merged.own:
        suggestion = f"add the line 'ireval: 1', or rename it to _{name} if it is only for other files to extend"
        merged.problems.append(Problem("is not a suite", merged.own.file.shown, suggestion=suggestion))
    elif merged.own["ireval"] != "1":
        complaint = f"unknown suite format {str(merged.own['ireval'])!r}; this version reads 1"
        merged.problems.append(problem_at(merged.own, ("ireval",), complaint))
    else:
        return True
    return False


def _read_suite(
    merged: MergedKeys, values: Mapping[str, str], registry: Registry, contents: Contents | None, *, asks_source: bool
) -> list[Suite]:
    """The suite with these values of the matrix; none if it is wrong, and problems are added to those of ``merged``."""
    own = {key: value for key, value in merged.tree.items() if key not in ("extends", "matrix")}
    tree = put_value(Keys(own), merged.tree.file, merged.tree.line, merged.tree.column)
    before = len(merged.problems)
    if values:
        tree = fill_placeholders(tree, values, merged.problems)
    if len(merged.problems) > before:
        return []
    tree, tables = include_tables(tree, contents, merged.problems)
    if len(merged.problems) > before:
        return []
    dialect = tree.get("dialect")
    in_dialect = registry.in_dialect(str(dialect) if dialect in get_args(Dialect) else None)
    context = {**_make_context(in_dialect), CONTENTS: contents}
    try:
        settings = SuiteKeys.model_validate(tree, context=context)
    except ValidationError as error:
        merged.problems += translate_errors(error, tree, SuiteKeys, in_dialect)
        return []
    name = name_suite(merged.tree["suite"], settings.suite, values)
    merged.problems += find_contradictions(CheckedSuite(settings, tree, name, asks_source=asks_source))
    components = tuple(read_components(tree, in_dialect, context, merged.problems))
    suite = _make_suite(settings, tree, name, values, merged)
    return [replace(suite, components=components, files=(*merged.files, *tables))]


@lru_cache(maxsize=64)
def _make_context(registry: Registry) -> dict[str, Any]:
    """The context of validations; one for all suites of a registry, so that each name of a metric is read once."""
    return {"registry": registry, "metrics": {}}


def _make_suite(settings: SuiteKeys, tree: Keys, name: str, values: Mapping[str, str], merged: MergedKeys) -> Suite:
    judgments = settings.judgments
    of_rules = (part.metric for rule in settings.rules for part in rule.parts)
    keeps_order = settings.source.options.keeps_order and "ties" not in settings.model_fields_set
    return Suite(
        name=name,
        path=merged.files[0],
        shown=merged.own.file.shown,
        place=merged.own.place,
        documents=settings.documents,
        values=dict(values),
        owner=settings.owner,
        tags=settings.tags,
        source=settings.source,
        queries=settings.queries,
        weight=settings.weight,
        cluster=settings.cluster,
        judgments=judgments,
        metrics=tuple({str(each): each for each in (*settings.metrics, *of_rules) if each is not None}.values()),
        policies=Policies(
            ties="input" if keeps_order else settings.ties,
            missing_queries=settings.missing_queries,
            no_relevant=settings.no_relevant,
            unjudged=judgments.unjudged if judgments else "irrelevant",
            depth=settings.depth,
            scale=max(judgments.scale) if judgments and judgments.scale else None,
            grades=judgments.grades if judgments else "integer",
            dialect=settings.dialect,
        ),
        rules=tuple(replace(rule, index=index) for index, rule in enumerate(settings.rules)),
        waivers=tuple(
            Waiver(each.query, each.until, each.reason, find_place(tree, ("waive", number)).place)
            for number, each in enumerate(settings.waive)
        ),
        variables=merged.variables,
        watches=settings.watches,
        weight_place=find_place(tree, ("weight",)).place if settings.weight else None,
        cluster_place=find_place(tree, ("cluster",)).place if settings.cluster else None,
        compress_baseline=settings.baseline.compress,
    )


def _sort_problems(merged: MergedKeys) -> list[Problem]:
    """The problems, each once, in the order of the files and of their lines."""

    def place(problem: Problem) -> tuple[bool, str, int, int]:
        match = PLACE.fullmatch(problem.place)
        file, line, column = match.groups() if match else (problem.place, 0, 0)
        return file != merged.own.file.shown, str(file), int(line or 0), int(column or 0)

    return sorted(dict.fromkeys(merged.problems), key=place)
