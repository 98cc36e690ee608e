"""Whether the parts of a suite make sense together; and what its models find wrong, in the words of a suite."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ValidationError

from pytest_ireval.baselines.files import ANCHOR
from pytest_ireval.baselines.writing import is_anchor, suite_of
from pytest_ireval.errors import Problem, closest, did_you_mean, shown
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.parameters import text_of
from pytest_ireval.suites.scalars import Items, Keys, Scalar, UnfitError, place_of
from pytest_ireval.suites.suite import Place, RuleAsked

TAG = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
ACTS = frozenset(
    ("skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "tryfirst", "trylast", "ireval")
)
"""Marks with a meaning of their own."""
OPERATORS = frozenset(("and", "or", "not"))
ALLOWED = "a tag is a word of letters, digits, _ . and -, and begins with a letter"


def _unfit_tags(read: Read) -> Iterator[Problem]:
    """Tags of the suite, each at its place, then those of its rules."""
    for number, tag in enumerate(read.values.get("tags", ())):
        if complaint := _wrong_with(tag):
            where = read.at("tags", number)
            yield Problem(complaint, str(where.place), where.path, allowed=ALLOWED)
    for placed in read.rules:
        for tag in getattr(placed.asked.options, "tags", ()):
            if complaint := _wrong_with(tag):
                path = (*placed.path, placed.asked.kind.name, "tags")
                yield Problem(complaint, str(placed.asked.place), path, allowed=ALLOWED)


def _wrong_with(tag: str) -> str:
    """Why it can be no tag; nothing if it can."""
    if not TAG.fullmatch(tag):
        return f"{shown(tag)} is not a tag"
    if tag in ACTS:
        return f"{tag!r} is not a tag: pytest acts on a mark of that name"
    return f"{tag!r} is not a tag: it is an operator of pytest -m" if tag in OPERATORS else ""


NAME = re.compile(r"[A-Za-z0-9_.-]+")


class PlacedValue(NamedTuple):
    """A rule and where it is written."""

    asked: RuleAsked
    path: tuple[str, ...]


class Read(NamedTuple):
    """What could be read of a suite: values of its keys, and rules; ``wrong`` are keys whose values are known to be."""

    tree: Keys
    values: dict[str, Any]
    wrong: frozenset[str]
    rules: list[PlacedValue]
    meant: frozenset[str] = frozenset()
    """Keys that misspelt ones are like."""

    def has(self, key: str) -> bool:
        """Tell whether something is written there, right or wrong."""
        return key in self.tree or key in self.meant

    def at(self, *location: str | int) -> Spot:
        """Where that is written."""
        return spot(self.tree, location, Spot((), self.tree.place))


Check = Callable[[Read], Iterator[Problem]]


def checked(read: Read) -> list[Problem]:
    """What does not fit together."""
    return [problem for check in CHECKS for problem in check(read)]


def _name(read: Read) -> Iterator[Problem]:
    name = read.values.get("suite")
    if isinstance(name, str) and not NAME.fullmatch(name):
        where = read.at("suite")
        letters = "letters, digits, _ . and -"
        yield Problem(
            f"{name!r} is not a name for a suite", str(where.place), where.path, allowed=f"allowed: {letters}"
        )
    elif isinstance(name, str) and is_anchor(name):
        where = read.at("suite")
        complaint = f"{name!r} is the name of an anchor: files of anchors end in {ANCHOR}"
        yield Problem(complaint, str(where.place), where.path, f"use another name: {suite_of(name)}")


def _depth(read: Read) -> Iterator[Problem]:
    """A metric that looks further down than rankings go would be computed on less than it says."""
    if "depth" in read.wrong:
        return
    depth = read.values.get("depth", 100)
    for metric in read.values.get("metrics", ()):
        if _cutoff(metric) > depth:
            written = read.tree["metrics"]
            where = read.at("metrics", _position(metric, list(written) if isinstance(written, Items) else [written]))
            yield _too_deep(metric, depth, where.place, where.path)
    for placed in read.rules:
        for part, place in zip(placed.asked.parts, placed.asked.places, strict=True):
            if part.metric is not None and _cutoff(part.metric) > depth:
                yield _too_deep(part.metric, depth, place, (*placed.path, placed.asked.kind.name))


def _cutoff(metric: Metric) -> float:
    cutoff = metric.arguments.get("cutoff")
    return cutoff if isinstance(cutoff, (int, float)) else 0


def _too_deep(metric: Metric, depth: int, place: Place, path: tuple[str, ...]) -> Problem:
    cutoff = text_of(_cutoff(metric))
    complaint = f"{metric} looks at {cutoff} documents of a ranking, but depth is {depth}"
    return Problem(complaint, str(place), path, f"write depth: {cutoff}, or more")


def _position(metric: Metric, listed: list[Any]) -> int:
    """Which of the written texts names the metric; the text itself, or the one that begins like it."""
    at = next((number for number, text in enumerate(listed) if text == str(metric)), None)
    if at is None:
        begins = str(metric).partition("@")[0].partition("(")[0].lower()
        at = next((n for n, text in enumerate(listed) if str(text).lower().startswith(begins)), 0)
    return at


def _judgments(read: Read) -> Iterator[Problem]:
    if read.has("judgments"):
        return
    metrics = [str(metric) for metric in read.values.get("metrics", ()) if "reference" not in metric.needs]
    rules = [placed for placed in read.rules if placed.asked.kind.judged]
    if metrics:
        where = read.at("metrics", KEY)
        complaint = f"metrics need judgments, but the suite names none: {', '.join(metrics)}"
        yield Problem(complaint, str(where.place), where.path)
    elif rules:
        path = (*rules[0].path, rules[0].asked.kind.name)
        others = f" (the first of {len(rules)})" if len(rules) > 1 else ""
        complaint = f"this rule needs judgments{others}, but the suite names none"
        yield Problem(complaint, str(rules[0].asked.place), path)


def _queries(read: Read) -> Iterator[Problem]:
    """Columns are columns of the queries; that there are none is one mistake."""
    if read.has("queries"):
        return
    strata = getattr(read.values.get("population"), "strata", "")
    named = [
        ("weight", ("weight",)),
        ("cluster", ("cluster",)),
        *([("strata", ("population", "strata"))] if strata else []),
    ]
    for name, location in named:
        if name == "strata" or read.values.get(name):
            where = read.at(*location, KEY)
            complaint = f"{name} is a column of the queries, but the suite names no queries"
            yield Problem(complaint, str(where.place), where.path)
            return
    for placed, key in ((placed, key) for placed in read.rules for key in ("where", "per")):
        if getattr(placed.asked.options, key, None):
            path = (*placed.path, placed.asked.kind.name, key)
            complaint = f"{key} is about columns of the queries, but the suite names no queries"
            yield Problem(complaint, str(placed.asked.place), path)
            return


def _slices(read: Read) -> Iterator[Problem]:
    for placed in read.rules:
        for key in ("where", "per"):
            if not placed.asked.kind.slices and getattr(placed.asked.options, key, None):
                path = (*placed.path, placed.asked.kind.name, key)
                complaint = f"{placed.asked.kind.name} is about single queries: {key} has no effect in this rule"
                yield Problem(complaint, str(placed.asked.place), path)


def _waivers(read: Read) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for number, waiver in enumerate(read.values.get("waive", ())):
        if first.setdefault(waiver.query, number) != number:
            where, other = read.at("waive", number, "query"), read.at("waive", first[waiver.query], "query")
            complaint = f"query {waiver.query!r} is waived twice"
            yield Problem(complaint, str(where.place), where.path, f"the first is in line {other.place.line}")


def _watches(read: Read) -> Iterator[Problem]:
    """Exceptions alone are exceptions from nothing: the suite would never take part."""
    watches = read.values.get("watches", ())
    if watches and all(watch.excludes for watch in watches):
        where = read.at("watches")
        complaint = "only excludes files"
        yield Problem(complaint, str(where.place), where.path, "also name the files to watch: /** is everything")


CHECKS: tuple[Check, ...] = (_name, _depth, _judgments, _queries, _slices, _waivers, _watches, _unfit_tags)


Location = Sequence[str | int]
QUOTED = re.compile(r"'([^']*)'")
KEY = "[key]"
"""What pydantic adds to the location of a key that is wrong."""


class Spot(NamedTuple):
    """What a location leads to: the keys on the way that are there, and where it stands."""

    path: tuple[str, ...]
    place: Place


def spot(tree: Any, location: Location, start: Spot) -> Spot:
    """Where a location leads, from ``tree`` which is at ``start``; parts that nobody wrote are skipped."""
    path, place = list(start.path), start.place
    for part in location:
        if part == KEY:
            break
        if isinstance(tree, Keys) and part in tree:
            key = next(each for each in tree if each == part)
            tree = tree[key]
            at_key = isinstance(tree, (Keys, Items)) or location[-1] == KEY or tree == ""
            path, place = [*path, str(key)], place_of(key if at_key else tree)
        elif isinstance(tree, Items) and isinstance(part, int) and part < len(tree):
            tree = tree[part]
            path, place = [*path, str(part + 1)], place_of(tree)
    return Spot(tuple(path), place)


def problems_of(error: ValidationError, tree: Any, start: Spot, model: Any) -> list[Problem]:
    """All that is wrong with ``tree`` as a ``model``."""
    found = error.errors(include_url=False)
    meant = {meant for each in found if each["type"] == "extra_forbidden" for meant in [_meant(each["loc"], model)]}
    return [
        _problem(each, tree, start, model)
        for each in found
        if not (each["type"] == "missing" and tuple(each["loc"]) in meant)  # a misspelt key is one mistake
    ]


def key_problem(key: Any, place: Place, path: tuple[str, ...], known: Sequence[str]) -> Problem:
    """A key that does not exist."""
    allowed = "allowed: " + ", ".join(known) if known else ""
    name, colon, value = str(key).partition(":")
    torn = colon and value and name in known
    suggestion = f"missing space after the colon: {name}: {value}" if torn else did_you_mean(str(key), known)
    return Problem(f"unknown key {shown(str(key))}", str(place), path, suggestion, allowed)


def _meant(location: Location, model: Any) -> tuple[str | int, ...]:
    return (*location[:-1], closest(str(location[-1]), keys_of_model(model, location[:-1])))


def _problem(error: Any, tree: Any, start: Spot, model: Any) -> Problem:
    location, kind = error["loc"], error["type"]
    path, place = spot(tree, location, start)
    if kind == "extra_forbidden":
        path, place = spot(tree, (*location, KEY), start)
        return key_problem(location[-1], place, path[:-1], keys_of_model(model, location[:-1]))
    at = str(place)
    if kind == "missing":
        description = _described(model, location)
        return Problem(f"the key {location[-1]!r} is missing", at, path, description)
    if kind == "value_error":
        reason = error["ctx"]["error"]
        if isinstance(reason, UnfitError):
            return Problem(reason.complaint, at, path, reason.suggestion, reason.allowed)
        return Problem(str(reason), at, path)
    if kind in ("literal_error", "enum"):
        allowed = QUOTED.findall(error["ctx"]["expected"])
        complaint = f"{shown(str(error['input']))} is unknown"
        return Problem(
            complaint, at, path, did_you_mean(str(error["input"]), allowed), "allowed: " + ", ".join(allowed)
        )
    return Problem(_in_words(error, _written(tree, location)), at, path)


def _written(tree: Any, location: Location) -> str:
    """The text that stands at a location; nothing if there is none."""
    for part in location:
        if isinstance(tree, Keys):
            tree = tree.get(part, tree)
        elif isinstance(tree, Items) and isinstance(part, int) and part < len(tree):
            tree = tree[part]
    return f"{shown(tree)}: " if isinstance(tree, Scalar) else ""


def _in_words(error: Any, written: str) -> str:
    """What pydantic says of types that are not ours."""
    kind = error["type"]
    if kind in ("model_type", "dict_type", "model_attributes_type", "dataclass_type"):
        return "a mapping is expected here, such as {key: value}"
    if kind in ("list_type", "tuple_type", "set_type", "frozen_set_type"):
        return "a list is expected here, such as [one, two]"
    message = str(error["msg"])
    return written + message[:1].lower() + message[1:]


def keys_of_model(model: Any, location: Location) -> list[str]:
    """The keys that are known at a location below a model."""
    found = next((m for m in _models(model, location)), None)
    return [field.alias or name for name, field in found.model_fields.items()] if found else []


def _described(model: Any, location: Location) -> str:
    found = next((m for m in _models(model, location[:-1])), None)
    for name, field in found.model_fields.items() if found else ():
        if location[-1] in (name, field.alias):
            return f"{location[-1]}: {field.description}" if field.description else ""
    return ""


def _models(annotation: Any, location: Location) -> Iterator[type[BaseModel]]:
    """The models that may stand at a location."""
    if get_origin(annotation) is None and isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if not location:
            yield annotation
            return
        field = annotation.model_fields.get(str(location[0]))
        field = field or next((f for f in annotation.model_fields.values() if f.alias == location[0]), None)
        if field is not None:
            yield from _models(field.annotation, location[1:])
        return
    for argument in get_args(annotation):
        yield from _models(argument, location)
        if location:
            yield from _models(argument, location[1:])
