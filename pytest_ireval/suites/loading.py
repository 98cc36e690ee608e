"""The suites of a file, or all its mistakes at once."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from pytest_ireval.errors import IrevalError, Problem, SuiteError, closest, did_you_mean, name_in_full, raised
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.kinds import Part, RuleKind
from pytest_ireval.plugins.registry import Registry, installed
from pytest_ireval.results.evaluation import Dialect, Policies
from pytest_ireval.suites.checks import KEY, PlacedValue, Read, Spot, checked, key_problem, problems_of, spot
from pytest_ireval.suites.finding import is_shared
from pytest_ireval.suites.inheriting import (
    Contents,
    GatheredKeys,
    combinations,
    gathered_keys,
    named_suite,
    with_values,
)
from pytest_ireval.suites.reading import read_source
from pytest_ireval.suites.scalars import Keys, Scalar, place_of, put_value
from pytest_ireval.suites.suite import DocumentsAsked, FileAsked, JudgmentsAsked, Place, RuleAsked, Suite, Waiver
from pytest_ireval.suites.suite_keys import CONTENTS, DocumentsKeys, JudgmentsKeys, QueriesKeys, SuiteKeys

BY_HAND = ("ireval", "source", "rules", "extends", "matrix")
"""Keys that are not read by their type alone."""
A_VARIABLE = re.compile(r"\$\{\w+\}")
PLACE = re.compile(r"(.*?):(\d+)(?::(\d+))?", re.DOTALL)


def load_suites(
    path: str | os.PathLike[str],
    registry: Registry | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    shown: str | None = None,
    contents: Contents | None = None,
) -> tuple[Suite, ...]:
    """The suites of a file: one, or several if it has a matrix. Raises SuiteError with all its mistakes.

    Names are looked up in ``registry``; unless given, in what is installed. ``shown`` is the file as messages show it.
    ``contents`` returns the content of YAML files, unless they are to be read from the disk.
    """
    registry = registry if registry is not None else installed()
    found = gathered_keys(Path(os.path.abspath(path)), environment, shown, contents=contents)
    suites = _suites(found, registry, contents) if found.whole and _is_suite(found) else ()
    if found.problems:
        raise SuiteError(*_in_order(found))
    return suites


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


def suite_names(path: str | os.PathLike[str], *, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The names of the suites of a file. Plugins are not asked: no conftest.py is run for a name."""
    found = gathered_keys(Path(os.path.abspath(path)), environment)
    problems = found.problems
    made: list[str] = []
    if found.whole and _is_suite(found):
        written = found.tree.get("suite")
        if not isinstance(written, Scalar) or not written:
            problems.append(Problem("the key 'suite' is missing or not a name", str(found.tree.place)))
        else:
            for values in combinations(found.tree, [rule for _, rule in found.rules], problems):
                own = with_values(written, values, problems) if values else written
                made.append(str(named_suite(written, own, values)))
    if problems:
        raise SuiteError(*_in_order(found))
    return made


def _is_suite(found: GatheredKeys) -> bool:
    """Tell whether the file is a suite of a form that this version reads; if not, add the problem."""
    name = Path(found.own.file.shown).name
    if is_shared(name):
        complaint = "cannot run alone: a file whose name begins with _ is only for other files to extend"
        found.problems.append(Problem(complaint, found.own.file.shown))
    elif "ireval" not in found.own:
        suggestion = f"add the line 'ireval: 1', or rename it to _{name} if it is only for other files to extend"
        found.problems.append(Problem("is not a suite", found.own.file.shown, suggestion=suggestion))
    elif found.own["ireval"] != "1":
        complaint = f"unknown suite format {str(found.own['ireval'])!r}; this version reads 1"
        at = spot(found.own, ("ireval",), Spot((), found.own.place))
        found.problems.append(Problem(complaint, str(at.place), at.path))
    else:
        return True
    return False


def _suites(found: GatheredKeys, registry: Registry, contents: Contents | None) -> tuple[Suite, ...]:
    """The suite of each combination of the matrix; problems are added to those of ``found``."""
    suites = []
    for values in combinations(found.tree, [rule for _, rule in found.rules], found.problems):
        tree, rules = found.tree, found.rules
        if values:
            tree = put_value(Keys({**tree, "matrix": ""}), tree.file, tree.line, tree.column)
            known = len(found.problems)
            tree = with_values(tree, values, found.problems)
            rules = [(n, with_values(rule, values, found.problems, ("rules", str(n + 1)))) for n, rule in rules]
            found.unknown += found.problems[known:]
        wrong: list[Problem] = []
        dialect = tree.get("dialect")
        in_dialect = registry.in_dialect(str(dialect) if dialect in get_args(Dialect) else None)
        read = _read(tree, rules, in_dialect, wrong, contents)
        if "suite" in read.values:
            read.values["suite"] = named_suite(found.tree["suite"], read.values["suite"], values)
        found.problems += [*wrong, *checked(read)]
        if not found.problems:
            suites.append(_suite_made(read, values, found.own, found.files))
    return tuple(suites)


def _read(
    tree: Keys, rules: list[tuple[int, Any]], registry: Registry, problems: list[Problem], contents: Contents | None
) -> Read:
    """Everything that can be read, each key by itself, so that one mistake does not hide another."""
    start = Spot((), tree.place)
    meant = _check_keys(tree, start, problems)
    values: dict[str, Any] = {}
    wrong: set[str] = set()
    for key, written in tree.items():
        if key in BY_HAND or key not in SuiteKeys.model_fields:
            continue
        try:
            context = {**context_of(registry), CONTENTS: contents}
            values[str(key)] = _readers()[key].validate_python({key: written}, context=context)[key]
        except ValidationError as error:
            wrong.add(str(key))
            problems += problems_of(error, tree, start, SuiteKeys)
    if "metrics" in wrong:
        values["metrics"] = _readable(tree["metrics"], registry)
    if "source" in tree:
        wrong_of_source = problems if contents is None else []  # files of an earlier suite may be gone
        values["source"] = read_source(tree["source"], registry, spot(tree, ("source", KEY), start), wrong_of_source)
    placed = []
    for number, rule in rules:
        place = getattr(rule, "place", tree.place)
        asked = _rule_asked(rule, registry, Spot(("rules", str(number + 1)), place), problems)
        if asked is not None:
            placed.append(PlacedValue(asked, ("rules", str(number + 1))))
    return Read(tree, values, frozenset(wrong), placed, meant)


def _readable(written: Any, registry: Registry) -> tuple[Metric, ...]:
    """The metrics that can be read, so that they are checked, too."""
    found: list[Metric] = []
    for text in written if isinstance(written, list) else [written]:
        with suppress(ValidationError):  # it has been reported
            found += _readers()["metrics"].validate_python({"metrics": text}, context=context_of(registry))["metrics"]
    return tuple(found)


@cache
def _readers() -> dict[str, TypeAdapter[dict[str, Any]]]:
    """A reader of ``{key: value}`` for each key of a suite."""
    return {
        key: TypeAdapter(dict[str, field.rebuild_annotation()])  # type: ignore[arg-type, misc]  # a type made when it runs
        for key, field in SuiteKeys.model_fields.items()
        if key not in BY_HAND
    }


def _check_keys(tree: Keys, start: Spot, problems: list[Problem]) -> frozenset[str]:
    """Report unknown keys, and missing keys unless they are only misspelt; return the keys that misspelt ones mean."""
    known = list(SuiteKeys.model_fields)
    unknown = [key for key in tree if key not in SuiteKeys.model_fields]
    problems += [key_problem(key, key.place, (), known) for key in unknown]
    meant = {closest(key, known) for key in unknown}
    for key, field in SuiteKeys.model_fields.items():
        if field.is_required() and key not in tree and key not in meant:
            problems.append(Problem(f"the key {key!r} is missing", str(start.place), (), f"{key}: {field.description}"))
    return frozenset(meant)


def _in_order(found: GatheredKeys) -> list[Problem]:
    """The problems, each once, in the order of the files and of their lines.

    Consequences of an unknown text are left out: problems at its place, and problems that quote it.
    """
    places = {problem.place for problem in found.unknown}
    paths = {(problem.place.partition(":")[0], problem.path) for problem in found.unknown}

    def follows(problem: Problem) -> bool:
        same = problem.place in places or (problem.place.partition(":")[0], problem.path) in paths
        return same or bool(places and A_VARIABLE.search(problem.complaint))

    def place(problem: Problem) -> tuple[bool, str, int, int]:
        match = PLACE.fullmatch(problem.place)
        file, line, column = match.groups() if match else (problem.place, 0, 0)
        return file != found.own.file.shown, str(file), int(line or 0), int(column or 0)

    causes = (each for each in found.problems if each in found.unknown or not follows(each))
    return sorted(dict.fromkeys(causes), key=place)


@lru_cache(maxsize=64)
def context_of(registry: Registry) -> dict[str, Any]:
    """The context of validations; one for all suites of a registry, so that each name is read once."""
    return {"registry": registry, "metrics": {}}


@lru_cache(maxsize=256)
def _reader_of(options: Hashable) -> TypeAdapter[dict[str, Any]]:
    """A reader of ``{kind: options}``, so that locations begin with the kind."""
    return TypeAdapter(dict[str, options])  # type: ignore[valid-type]  # known when plugins are


def _rule_asked(value: Any, registry: Registry, start: Spot, problems: list[Problem]) -> RuleAsked | None:
    """The rule with its options; None if it is wrong, and ``problems`` say why."""
    wrong = _misshapen(value, registry, start)
    if wrong is not None:
        problems.append(wrong)
        return None
    key: Scalar = next(iter(value))
    kind = registry.rules[key]
    content = {} if value[key] == "" else value[key]
    try:
        read = _reader_of(kind.options).validate_python  # type: ignore[arg-type]  # a class can be hashed
        options = read({str(key): content}, context=context_of(registry))[key]
    except ValidationError as error:
        problems += problems_of(error, value, start._replace(place=place_of(key)), dict[str, kind.options])  # type: ignore[name-defined]  # as above
        return None
    except Exception as error:  # noqa: BLE001 - a plugin's options may raise anything
        problems.append(_raised(kind, error, key, start))
        return None
    return _with_parts(kind, options, value, start, problems)


def _misshapen(value: Any, registry: Registry, start: Spot) -> Problem | None:
    kinds = registry.rules
    at, allowed = str(start.place), "available: " + ", ".join(kinds)
    if isinstance(value, Scalar):
        suggestion = f"write {value}: {{…}}" if value in kinds else did_you_mean(value, kinds)
        return Problem("a rule is a mapping with one key, its kind", at, start.path, suggestion, allowed)
    if not isinstance(value, Keys) or not value:
        return Problem("a rule is a mapping with one key, its kind", at, start.path, allowed=allowed)
    key = next(iter(value))
    if len(value) > 1:
        others = ", ".join(str(each) for each in value if each != key)
        suggestion = f"indent {others} deeper than {key}" if key in kinds and value[key] == "" else ""
        complaint = f"a rule is a mapping with one key, its kind, but here are {', '.join(map(str, value))}"
        return Problem(complaint, at, start.path, suggestion, allowed)
    if key not in kinds:
        if several := name_in_full(str(key), kinds):
            complaint = f"several plugins have a rule {str(key)!r}"
            return Problem(complaint, str(place_of(key)), start.path, several, allowed)
        complaint = f"unknown rule {str(key)!r}"
        return Problem(complaint, str(place_of(key)), start.path, did_you_mean(key, kinds), allowed)
    return None


def _with_parts(kind: RuleKind, options: Any, value: Keys, start: Spot, problems: list[Problem]) -> RuleAsked | None:
    key = next(iter(value))
    try:
        parts: tuple[Part, ...] = tuple(kind.parts_of(options))
        places: tuple[Place, ...] = tuple(spot(value, (key, *part.place, KEY), start).place for part in parts)
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        problems.append(_raised(kind, error, key, start))
        return None
    metrics = [part.metric for part in parts]
    if not kind.compares and metrics and all(metric is not None and "reference" in metric.needs for metric in metrics):
        judged = any(metric is not None and metric.reads_judgments for metric in metrics)
        kind = replace(kind, compares=True, lists=True, judged=judged)  # it looks at the baseline, as its metrics do
    return RuleAsked(kind, options, place_of(key), parts, places)


def _raised(kind: RuleKind, error: Exception, key: Scalar, start: Spot) -> Problem:
    ours = isinstance(error, IrevalError)
    problem = Problem(str(error)) if ours else raised(f"rule {kind.name} of {kind.source}", error)
    return replace(problem, place=str(place_of(key)), path=(*start.path, str(key)))


def _suite_made(read: Read, values: Mapping[str, str], own: Keys, files: list[Path]) -> Suite:
    """The suite; everything in ``read`` is right."""
    given = _with_defaults(read.values)
    documents: DocumentsKeys = given["documents"]
    judgments: JudgmentsKeys | None = given["judgments"]
    of_rules = (part.metric for placed in read.rules for part in placed.asked.parts)
    return Suite(
        name=given["suite"],
        path=files[0],
        shown=own.file.shown,
        place=own.place,
        values=dict(values),
        owner=given["owner"],
        tags=given["tags"],
        source=given["source"],
        queries=_file(given["queries"]) if given["queries"] else None,
        weight=given["weight"],
        cluster=given["cluster"],
        judgments=JudgmentsAsked(
            _file(judgments), judgments.relevant_from, judgments.scale, judgments.lock, judgments.preferences
        )
        if judgments
        else None,
        documents=DocumentsAsked(
            documents.aliases,
            documents.collapse.file if documents.collapse else None,
            documents.collapse.pattern if documents.collapse else "",
            documents.size,
            documents.fields,
            documents.spans,
        ),
        metrics=tuple({str(each): each for each in (*given["metrics"], *of_rules) if each is not None}.values()),
        policies=_policies(given),
        rules=tuple(placed.asked for placed in read.rules),
        waivers=tuple(
            Waiver(each.query, each.until, each.reason, read.at("waive", number).place)
            for number, each in enumerate(given["waive"])
        ),
        files=tuple(files),
        watches=given["watches"],
        weight_place=read.at("weight").place if given["weight"] else None,
        cluster_place=read.at("cluster").place if given["cluster"] else None,
    )


def _with_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    fields = {key: field for key, field in SuiteKeys.model_fields.items() if not field.is_required()}
    defaults = {key: field.get_default(call_default_factory=True) for key, field in fields.items()}
    if values["source"].options.keeps_order:
        defaults["ties"] = "input"
    return {**defaults, **values}


def _file(keys: QueriesKeys | JudgmentsKeys) -> FileAsked:
    return FileAsked(keys.file.path, keys.file.place, keys.format or None)


def _policies(given: Mapping[str, Any]) -> Policies:
    judgments: JudgmentsKeys | None = given["judgments"]
    return Policies(
        ties=given["ties"],
        missing_queries=given["missing_queries"],
        no_relevant=given["no_relevant"],
        unjudged=judgments.unjudged if judgments else "irrelevant",
        depth=given["depth"],
        scale=max(judgments.scale) if judgments and judgments.scale else None,
        grades=judgments.grades if judgments else "integer",
        collection=given["documents"].size,
        dialect=given["dialect"],
    )
