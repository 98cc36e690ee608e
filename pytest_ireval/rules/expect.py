"""``expect``: documents of single queries must have the wanted ranks; needs no judgments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue

from pytest_ireval.errors import InputError, SuiteError, did_you_mean, quote
from pytest_ireval.plugins.plugin_types import Part, rule
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.query_changes import make_query_change
from pytest_ireval.rules.result import RuleResult, RuleVerdict
from pytest_ireval.sides.side import Side
from pytest_ireval.suite.option_types import ReasonText, Text, Texts, Whole
from pytest_ireval.suite.options import IN_PARTS, Options, RuleOptions
from pytest_ireval.words import format_some


class Expectation(Options):
    """The expectation of one query: a document, documents that never show, or an order."""

    query: Text = Field(min_length=1, description="The query's id.")
    document: Text = Field("", description="This document is among the first `top`.")
    never: Texts = Field((), description="None of these documents is among the first `top`.")
    order: Texts = Field((), description="These documents are in this order, all among the first `top`.")
    top: Whole | None = Field(
        None, description="How many documents of the ranking are looked at. Default: the suite's depth."
    )
    known_failure: ReasonText = Field(
        "", description="The reason why this fails for now, such as a ticket; a failure is then reported, but not red."
    )
    name: Text = Field("", description="Replaces the query's id in the id of the check.")

    @model_validator(mode="after")
    def _one_thing(self) -> Expectation:
        given = [key for key in ("document", "never", "order") if getattr(self, key)]
        if len(given) != 1:
            problem = f"has {' and '.join(given)}" if given else "expects nothing"
            raise ValueError(f"{problem}: an expectation has one of document, never, order")
        if len(self.order) == 1 or len(set(self.order)) < len(self.order):
            raise ValueError("an order takes two or more different documents")
        return self

    def is_looser_than(self, other: Expectation) -> bool:
        """Tell whether it holds more easily, or may fail, or is about something else."""
        mine, theirs = self.top or math.inf, other.top or math.inf
        if self.never:
            easier = mine < theirs or not set(other.never) <= set(self.never)
        else:
            easier = mine > theirs or (self.document, self.order) != (other.document, other.order)
        return easier or self.query != other.query or (bool(self.known_failure) and not other.known_failure)

    def __str__(self) -> str:
        within = f" in the first {self.top}" if self.top else ""
        what = f"{'never ' if self.never else ''}{', '.join(self.documents)}{within}"
        return f"{what}, a known failure" if self.known_failure else what

    @property
    def documents(self) -> tuple[str, ...]:
        """All that it names, in their order."""
        return (self.document,) if self.document else (*self.never, *self.order)

    @property
    def label(self) -> str:
        """Its name in ids: ``q044.order``."""
        return self.name or f"{self.query}.{self.document or ('order' if self.order else 'never')}"


class ExpectOptions(RuleOptions):
    """A list of expectations."""

    expectations: Annotated[tuple[Expectation, ...], IN_PARTS]

    @model_validator(mode="before")
    @classmethod
    def _a_list(cls, data: Any) -> Any:
        if not isinstance(data, list | tuple) or not data:
            raise ValueError("is a list of expectations: - {query: q001, document: d7, top: 3}")
        return {"expectations": data}

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Tell editors that the rule is a list: the field ``expectations`` has it, and no suite writes that name."""
        rule_schema = handler.resolve_ref_schema(handler(schema))
        expectations: JsonSchemaValue = rule_schema["properties"]["expectations"]
        return {**expectations, "description": "Expectations of single queries.", "title": "expect"}


def _list_parts(options: ExpectOptions) -> Iterator[Part]:
    for number, expectation in enumerate(options.expectations):
        yield Part(label=expectation.label, item=expectation, keys=(number,))


@rule(name="expect", options=ExpectOptions, parts=_list_parts)
def expect(options: ExpectOptions, context: RuleContext) -> RuleResult:  # noqa: ARG001 - the part has it
    """Require documents of single queries at the wanted ranks; needs no judgments."""
    expectation: Expectation = context.part.item
    query, queries = expectation.query, context.population.queries
    if query in context.population.waived:
        return _check_waived(expectation, context)
    top = expectation.top or context.current.depth
    answers = _list_answers(expectation, context, top)
    wrong = [ranks for ranks in answers if not _is_fulfilled(expectation, ranks, top)]
    text = _describe_ranks(expectation, (wrong or answers)[0], top)
    unknown = _find_unknown_documents(expectation, context)
    row, query_text = queries.position.get(query), queries.text_of(query)
    named = f"{query} ({quote(query_text)})" if query_text else query
    return RuleResult(
        _choose_verdict(expectation, is_fulfilled=not wrong, has_unknown=bool(unknown)),
        f"{text} in {len(wrong)} of {len(answers)} answers" if wrong and len(answers) > 1 else text,
        queries=() if row is None else (make_query_change(context, row),),
        queries_title="query",
        sentence=f"Expected of {named}: {_describe_wish(expectation, top)}.",
        facts=tuple(_list_notes(expectation, context, unknown, is_fulfilled=not wrong)),
    )


def _check_waived(expectation: Expectation, context: RuleContext) -> RuleResult:
    """Pass, and show a failure all the same; what cannot be checked is an error once the waiver has ended."""
    top = expectation.top or context.current.depth
    try:
        answers = _list_answers(expectation, context, top)
    except (InputError, SuiteError):
        answers = []
    failure = next((ranks for ranks in answers if not _is_fulfilled(expectation, ranks, top)), None)
    headline = f"query {quote(expectation.query)} is waived"
    if failure is not None:
        headline += f", and fails: {_describe_ranks(expectation, failure, top)}"
    return RuleResult(
        "pass" if failure is None else "known_failure",
        headline,
        facts=("this expectation is not checked until the waiver ends",),
    )


def _list_answers(expectation: Expectation, context: RuleContext, top: int) -> list[dict[str, int]]:
    """By answer of the source, the ranks of the documents that the expectation names."""
    rankings, depth = context.current.rankings, context.current.depth
    missing = [number for number, each in enumerate(rankings, 1) if expectation.query not in each.queries]
    if missing:
        raise _missing_query_error(context, expectation.query, missing)
    if top > depth:
        raise SuiteError(f"looks at the first {top} documents, but the suite keeps only {depth} (depth)")
    return [_find_ranks(expectation, context, asking) for asking in range(len(rankings))]


def _choose_verdict(expectation: Expectation, *, is_fulfilled: bool, has_unknown: bool) -> RuleVerdict:
    if is_fulfilled:
        return "warn" if expectation.known_failure or has_unknown else "pass"
    return "known_failure" if expectation.known_failure else "fail"


def _list_notes(
    expectation: Expectation, context: RuleContext, unknown: Sequence[str], *, is_fulfilled: bool
) -> Iterator[str]:
    known = expectation.known_failure
    if known:
        passes = f"it passes now: remove the known failure {known} from the suite"
        yield passes if is_fulfilled else f"known failure: {known}"
    if not is_fulfilled and _has_equal_scores(expectation, context):
        same = "other documents have the same score; they are ordered by document id"
        yield f"{same}, unless the suite has ties: input"
    if unknown:
        yield f"no judgment, ranking or baseline has {format_some(unknown)}: check the id"


def _missing_query_error(context: RuleContext, query: str, missing: Sequence[int]) -> InputError:
    known = context.population.queries.position
    meant = "" if query in known else did_you_mean(query, known)
    answers = "" if len(context.current.rankings) == 1 else f" of answer {', '.join(map(str, missing))}"
    return InputError(f"query {quote(query)} is not in the rankings{answers}" + (f"; {meant}" if meant else ""))


def _find_ranks(expectation: Expectation, context: RuleContext, asking: int) -> dict[str, int]:
    """The ranks of the documents that the expectation names, which are looked up by their current names."""
    ranks = {document: rank for rank, document in enumerate(context.current.documents(expectation.query, asking), 1)}
    named = {name: context.population.find_current_name(name, expectation.query) for name in expectation.documents}
    return {name: ranks[current] for name, current in named.items() if current in ranks}


def _find_unknown_documents(expectation: Expectation, context: RuleContext) -> list[str]:
    """The documents under ``never`` that nobody has ever judged or found: a misspelled id never shows."""
    query, find_name = expectation.query, context.population.find_current_name
    sides = [context.current, *([context.stored] if context.stored is not None else [])]
    near = {*context.population.grades(query), *(document for side in sides for document in side.documents(query))}
    unknown = [name for name in expectation.never if not near & {name, find_name(name, query)}]
    if not unknown:
        return []
    known = context.current.remember(
        ("documents of all queries", context.stored), lambda: _list_documents(context, sides)
    )
    return [name for name in unknown if not known & {name, find_name(name, query)}]


def _list_documents(context: RuleContext, sides: Sequence[Side]) -> set[str]:
    judgments = context.population.judgments
    columns = [rankings.documents for side in sides for rankings in side.rankings]
    columns += [judgments.documents] if judgments is not None else []
    return {name for column in columns for name in column.texts()}


def _is_fulfilled(expectation: Expectation, ranks: Mapping[str, int], top: int) -> bool:
    within = {document: rank for document, rank in ranks.items() if rank <= top}
    if expectation.never:
        return not within
    order = [within[document] for document in expectation.documents if document in within]
    return len(order) == len(expectation.documents) and order == sorted(set(order))


def _describe_ranks(expectation: Expectation, ranks: Mapping[str, int], top: int) -> str:
    query = quote(expectation.query)
    if expectation.document:
        rank = ranks.get(expectation.document)
        where = "is not listed" if rank is None else f"is at #{rank}"
        return f"{expectation.document} {where} for query {query} (expected in the top {top})"
    if expectation.never:
        there = [f"{name} at #{ranks[name]}" for name in expectation.never if ranks.get(name, top + 1) <= top]
        never = f"never in the top {top}: {', '.join(expectation.never)}"
        return f"{', '.join(there) or 'none of them'} for query {query} ({never})"
    places = (
        f"{name} #{ranks[name]}" if ranks.get(name, top + 1) <= top else f"{name} not in the top {top}"
        for name in expectation.order
    )
    return f"{', '.join(places)} for query {query} (expected in this order)"


def _describe_wish(expectation: Expectation, top: int) -> str:
    if expectation.document:
        return f"{expectation.document} in the top {top}"
    if expectation.never:
        return f"never {' or '.join(expectation.never)} in the top {top}"
    return " before ".join(expectation.order)


def _has_equal_scores(expectation: Expectation, context: RuleContext) -> bool:
    """Tell whether a named document has the same score as others."""
    rankings = context.current.rankings[0]
    row = context.current.position[expectation.query]
    rows = slice(int(rankings.first[row]), int(rankings.first[row + 1]))
    ties = rankings.tied_to[rows] > rankings.tied_from[rows]
    tied = {document for document, is_tied in zip(rankings.ranking(expectation.query), ties, strict=True) if is_tied}
    return any(context.population.find_current_name(name, expectation.query) in tied for name in expectation.documents)
