"""Checks of the parts of a suite together; and the mistakes that its models find, in the words of a suite."""

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
"""Marks that pytest or a plugin acts on."""
OPERATORS = frozenset(("and", "or", "not"))
ALLOWED = "a tag is a word of letters, digits, _ . and -, and begins with a letter"


def _unfit_tags(read: Read) -> Iterator[Problem]:
    """Tags of the suite, each at its place, then those of its rules."""
    for number, tag in enumerate(read.values.get("tags", ())):
        if complaint := _wrong_with(tag):
            yield problem_at(read.tree, ("tags", number), complaint, allowed=ALLOWED)
    for placed in read.rules:
        for tag in getattr(placed.asked.options, "tags", ()):
            if complaint := _wrong_with(tag):
                yield placed.problem(complaint, "tags", allowed=ALLOWED)


def _wrong_with(tag: str) -> str:
    """The complaint about a tag; empty if it is valid."""
    if not TAG.fullmatch(tag):
        return f"{shown(tag)} is not a tag"
    if tag in ACTS:
        return f"{tag!r} is not a tag: pytest acts on a mark of that name"
    return f"{tag!r} is not a tag: it is an operator of pytest -m" if tag in OPERATORS else ""


NAME = re.compile(r"[A-Za-z0-9_.-]+")


class PlacedValue(NamedTuple):
    """A rule, and the keys that lead to it."""

    asked: RuleAsked
    path: tuple[str, ...]

    def problem(self, complaint: str, *keys: str, allowed: str = "") -> Problem:
        """A problem of the rule, or of one of its keys."""
        path = (*self.path, self.asked.kind.name, *keys)
        return Problem(complaint, str(self.asked.place), path, allowed=allowed)


class Read(NamedTuple):
    """The readable parts of a suite: values of its keys, and rules; ``wrong`` are keys with wrong values."""

    tree: Keys
    values: dict[str, Any]
    wrong: frozenset[str]
    rules: list[PlacedValue]
    meant: frozenset[str] = frozenset()
    """Keys that are similar to misspelt ones."""

    def has(self, key: str) -> bool:
        """Tell whether the suite has the key, right or wrong."""
        return key in self.tree or key in self.meant

    def at(self, *location: str | int) -> Spot:
        """The place of a value."""
        return spot(self.tree, location, Spot((), self.tree.place))


Check = Callable[[Read], Iterator[Problem]]


def checked(read: Read) -> list[Problem]:
    """Problems of parts that do not fit together."""
    return [problem for check in CHECKS for problem in check(read)]


def _name(read: Read) -> Iterator[Problem]:
    name = read.values.get("suite")
    if isinstance(name, str) and not NAME.fullmatch(name):
        allowed = "allowed: letters, digits, _ . and -"
        yield problem_at(read.tree, ("suite",), f"{name!r} is not a name for a suite", allowed=allowed)
    elif isinstance(name, str) and is_anchor(name):
        complaint = f"{name!r} is the name of an anchor: files of anchors end in {ANCHOR}"
        yield problem_at(read.tree, ("suite",), complaint, f"use another name: {suite_of(name)}")


def _depth(read: Read) -> Iterator[Problem]:
    """A metric with a cutoff below the depth of rankings would be computed on fewer documents than it says."""
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
    """The position of the text that names the metric: the text itself, or the one with the same beginning."""
    if str(metric) in listed:
        return listed.index(str(metric))
    begins = str(metric).partition("@")[0].partition("(")[0].lower()
    return next((n for n, text in enumerate(listed) if str(text).lower().startswith(begins)), 0)


def _judgments(read: Read) -> Iterator[Problem]:
    if read.has("judgments"):
        return
    metrics = [str(metric) for metric in read.values.get("metrics", ()) if metric.reads_judgments]
    rules = [
        placed
        for placed in read.rules
        if placed.asked.kind.judged
        and not (placed.asked.parts and all(part.metric and not part.metric.judged for part in placed.asked.parts))
    ]
    if metrics:
        complaint = f"metrics need judgments, but the suite names none: {', '.join(metrics)}"
        yield problem_at(read.tree, ("metrics", KEY), complaint)
    elif rules:
        others = f" (the first of {len(rules)})" if len(rules) > 1 else ""
        yield rules[0].problem(f"this rule needs judgments{others}, but the suite names none")


def _documents(read: Read) -> Iterator[Problem]:
    documents = read.values.get("documents")
    if getattr(documents, "spans", None) is not None and not read.has("judgments"):
        complaint = "spans needs judged passages, but the suite names no judgments"
        yield problem_at(read.tree, ("documents", "spans", KEY), complaint)


def _queries(read: Read) -> Iterator[Problem]:
    """Columns belong to the queries; without queries, the first column is the one mistake."""
    if read.has("queries"):
        return
    for key in ("weight", "cluster"):
        if read.values.get(key):
            complaint = f"{key} is a column of the queries, but the suite names no queries"
            yield problem_at(read.tree, (key, KEY), complaint)
            return
    for placed, key in ((placed, key) for placed in read.rules for key in ("where", "per")):
        if getattr(placed.asked.options, key, None):
            yield placed.problem(f"{key} is about columns of the queries, but the suite names no queries", key)
            return


def _slices(read: Read) -> Iterator[Problem]:
    for placed in read.rules:
        for key in ("where", "per"):
            if not placed.asked.kind.slices and getattr(placed.asked.options, key, None):
                complaint = f"{placed.asked.kind.name} is about single queries: {key} has no effect in this rule"
                yield placed.problem(complaint, key)


def _waivers(read: Read) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for number, waiver in enumerate(read.values.get("waive", ())):
        if first.setdefault(waiver.query, number) != number:
            line = read.at("waive", first[waiver.query], "query").place.line
            complaint = f"query {waiver.query!r} is waived twice"
            yield problem_at(read.tree, ("waive", number, "query"), complaint, f"the first is in line {line}")


def _watches(read: Read) -> Iterator[Problem]:
    """With exceptions alone the suite would never take part."""
    watches = read.values.get("watches", ())
    if watches and all(watch.excludes for watch in watches):
        yield problem_at(
            read.tree, ("watches",), "only excludes files", "also name the files to watch: /** is everything"
        )


CHECKS: tuple[Check, ...] = (_name, _depth, _judgments, _documents, _queries, _slices, _waivers, _watches, _unfit_tags)


Location = Sequence[str | int]
QUOTED = re.compile(r"'([^']*)'")
KEY = "[key]"
"""The part that pydantic adds to the location of a wrong key."""


class Spot(NamedTuple):
    """The target of a location: the existing keys on the way, and the place."""

    path: tuple[str, ...]
    place: Place


def spot(tree: Any, location: Location, start: Spot) -> Spot:
    """The target of a location, from ``tree`` which is at ``start``; parts that are not in the tree are skipped."""
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


def problem_at(tree: Keys, location: Location, complaint: str, suggestion: str = "", allowed: str = "") -> Problem:
    """A problem of the value at a location of a whole tree."""
    at = spot(tree, location, Spot((), tree.place))
    return Problem(complaint, str(at.place), at.path, suggestion, allowed)


def problems_of(error: ValidationError, tree: Any, start: Spot, model: Any) -> list[Problem]:
    """All problems of ``tree`` as a ``model``."""
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
    no_space = colon and value and name in known
    suggestion = f"missing space after the colon: {name}: {value}" if no_space else did_you_mean(str(key), known)
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
        return Problem(f"the key {location[-1]!r} is missing", at, path, _described(model, location))
    if kind == "value_error":
        reason = error["ctx"]["error"]
        if isinstance(reason, UnfitError):
            return Problem(reason.complaint, at, path, reason.suggestion, reason.allowed)
        return Problem(str(reason), at, path)
    if kind in ("literal_error", "enum"):
        allowed = QUOTED.findall(error["ctx"]["expected"])
        written = str(error["input"])
        suggestion = did_you_mean(written, allowed)
        return Problem(f"{shown(written)} is unknown", at, path, suggestion, "allowed: " + ", ".join(allowed))
    return Problem(_in_words(error, _written(tree, location)), at, path)


def _written(tree: Any, location: Location) -> str:
    """The text at a location; empty if there is none."""
    for part in location:
        if isinstance(tree, Keys):
            tree = tree.get(part, tree)
        elif isinstance(tree, Items) and isinstance(part, int) and part < len(tree):
            tree = tree[part]
    return f"{shown(tree)}: " if isinstance(tree, Scalar) else ""


def _in_words(error: Any, written: str) -> str:
    """Pydantic's message about a type that is not ours."""
    kind = error["type"]
    if kind in ("model_type", "dict_type", "model_attributes_type", "dataclass_type"):
        return "a mapping is expected here, such as {key: value}"
    if kind in ("list_type", "tuple_type", "set_type", "frozen_set_type"):
        return "a list is expected here, such as [one, two]"
    message = str(error["msg"])
    return written + message[:1].lower() + message[1:]


def keys_of_model(model: Any, location: Location) -> list[str]:
    """The known keys at a location below a model."""
    found = next(_models(model, location), None)
    return [field.alias or name for name, field in found.model_fields.items()] if found else []


def _described(model: Any, location: Location) -> str:
    found = next(_models(model, location[:-1]), None)
    for name, field in found.model_fields.items() if found else ():
        if location[-1] in (name, field.alias):
            return f"{location[-1]}: {field.description}" if field.description else ""
    return ""


def _models(annotation: Any, location: Location) -> Iterator[type[BaseModel]]:
    """The models that may be at a location."""
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
