"""Sources, references and rules of a suite, read with the options of their kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from pydantic import TypeAdapter, ValidationError, ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator

from pytest_ireval.errors import IrevalError, did_you_mean, make_exception_problem, suggest_full_names
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.plugins.plugin_types import Part, RuleKind
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.suite.scalars import KEY, Keys, Scalar, UnfitError, find_place, list_public_texts, place_of
from pytest_ireval.suite.suite import ANCHOR, STORED, Reference, RuleSpec, SourceSpec

Made = TypeVar("Made")


def registry_of(info: ValidationInfo) -> Registry:
    """The registry that names are looked up in; unless given, that of the installed packages."""
    given: Registry | None = (info.context or {}).get("registry")
    return given if given is not None else installed_registry()


def validate_source(value: Any, info: ValidationInfo) -> SourceSpec:
    """Read a source that is not read yet."""
    return value if isinstance(value, SourceSpec) else read_source(value, registry_of(info), info.context)


def read_source(
    value: Any, registry: Registry, context: Mapping[str, Any] | None = None, others: Sequence[str] = ()
) -> SourceSpec:
    """Read a source: a mapping with the key of its kind and the options of the kind.

    ``others`` may be written in place of a source; messages name them.
    """
    key = find_source_key(value, registry, others)
    kind = registry.sources[key]
    if str(key) != kind.name:  # acme:shop, whose options know the key as shop
        value = {kind.name if each is key else each: given for each, given in value.items()}
    context = {**(context or {}), "registry": registry}
    what = f"source {kind.name} of {kind.source}"
    options = _call_plugin_code(what, lambda: kind.options.model_validate(value, context=context))
    public = {str(name): list_public_texts(each) for name, each in value.items()}
    return SourceSpec(kind, options, place_of(key), public)


def find_source_key(value: Any, registry: Registry, others: Sequence[str] = ()) -> Any:
    """Find the key that names the kind of a source."""
    kinds = registry.sources
    allowed = "available: " + ", ".join([*others, *kinds])
    if not isinstance(value, dict):
        file = value if isinstance(value, str) and value.isprintable() and value else "file"
        raise UnfitError(f"a source is a mapping with the key of its kind: write {{run: {file}}}", allowed=allowed)
    named = [key for key in value if key in kinds]
    if len(named) > 1:
        raise UnfitError(f"a source is of one kind, but here are {' and '.join(map(str, named))}", allowed=allowed)
    if named:
        return named[0]
    if "source" in value:
        raise UnfitError("the key 'source' is not needed here", "write the source itself: {run: FILE}", allowed)
    for key in value:
        if several := suggest_full_names(str(key), kinds):
            raise UnfitError(f"several plugins have a source {str(key)!r}", several, allowed)
    suggestion = next(filter(None, (did_you_mean(key, kinds) for key in value)), "")
    keys = ", ".join(map(repr, map(str, value))) or "no key"
    raise UnfitError(f"none of its keys is a kind of source: {keys}", suggestion, allowed)


def read_reference(value: Any, info: ValidationInfo) -> Reference:
    """Read ``baseline``, ``anchor``, or a source."""
    if isinstance(value, Reference):
        return value
    if value in ("baseline", "anchor"):
        return STORED if value == "baseline" else ANCHOR
    registry = registry_of(info)
    if not isinstance(value, dict):
        kinds = "".join(f", {{{name}: …}}" for name in registry.sources)
        complaint = f"{str(value)!r} is not a reference" if isinstance(value, str) else "a list is not a reference"
        raise UnfitError(complaint, allowed=f"allowed: baseline, anchor{kinds}")
    return Reference(read_source(value, registry, info.context, others=("baseline", "anchor")))


def read_rule(value: Any, info: ValidationInfo) -> RuleSpec:
    """Read a rule: a mapping with one key, its kind, and the options of the kind."""
    if isinstance(value, RuleSpec):
        return value
    registry = registry_of(info)
    key = _find_rule_key(value, registry)
    kind = registry.rules[key]
    content = {} if value[key] == "" else value[key]
    read = _make_reader(kind).validate_python
    options, parts = read({str(key): content}, context=info.context)[key]
    places = tuple(find_place(value, (key, *part.keys, KEY)).place for part in parts)
    return RuleSpec(kind, options, place_of(key), parts, places)


@lru_cache(maxsize=256)
def _make_reader(kind: RuleKind) -> TypeAdapter[dict[str, tuple[Any, tuple[Part, ...]]]]:
    """A reader of ``{kind: options}``, so that locations of errors begin with the kind."""

    def read_options(value: Any, handler: ValidatorFunctionWrapHandler) -> tuple[Any, tuple[Part, ...]]:
        def read() -> tuple[Any, tuple[Part, ...]]:
            options = handler(value)
            _ = options.traits  # a property, whose mistakes are told here, with the line of the rule
            return options, tuple(kind.list_parts(options))

        return _call_plugin_code(f"rule {kind.name} of {kind.source}", read)

    options: Any = kind.options
    return TypeAdapter(dict[str, Annotated[options, WrapValidator(read_options)]])


def _find_rule_key(value: Any, registry: Registry) -> Scalar:
    """Find the key that names the kind of a rule."""
    kinds = registry.rules
    allowed = "available: " + ", ".join(kinds)
    complaint = "a rule is a mapping with one key, its kind"
    if isinstance(value, Scalar):
        raise UnfitError(complaint, f"write {value}: {{…}}" if value in kinds else did_you_mean(value, kinds), allowed)
    if not isinstance(value, Keys) or not value:
        raise UnfitError(complaint, allowed=allowed)
    key: Scalar = next(iter(value))
    if len(value) > 1:
        others = ", ".join(str(each) for each in value if each != key)
        suggestion = f"indent {others} deeper than {key}" if key in kinds and value[key] == "" else ""
        raise UnfitError(f"{complaint}, but here are {', '.join(map(str, value))}", suggestion, allowed)
    if key not in kinds:
        if several := suggest_full_names(str(key), kinds):
            raise UnfitError(f"several plugins have a rule {str(key)!r}", several, allowed)
        raise UnfitError(f"unknown rule {str(key)!r}", did_you_mean(key, kinds), allowed)
    return key


def _call_plugin_code(what: str, read: Callable[[], Made]) -> Made:
    """Call code of a plugin, which may raise anything."""
    try:
        return read()
    except ValidationError:
        raise
    except IrevalError as error:
        raise UnfitError(str(error)) from None
    except Exception as error:
        problem = make_exception_problem(what, error)
        raise UnfitError(problem.complaint, problem.suggestion) from error
