"""``expect``: documents of single queries must have the wanted ranks; needs no judgments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue

from pytest_ireval.errors import did_you_mean, shown
from pytest_ireval.plugins.plugin_types import Part, rule
from pytest_ireval.results.outcome import Verdict
from pytest_ireval.rules.context import RuleContext, RuleResult
from pytest_ireval.suite.option_types import Text, Texts, Whole
from pytest_ireval.suite.options import IN_PARTS, Options, RuleOptions


class Expectation(Options):
    """The expectation of one query: a document, documents that never show, or an order."""

    query: Text = Field(min_length=1, description="The query's id.")
    document: Text = Field("", description="This document is among the first `top`.")
    never: Texts = Field((), description="None of these documents is among the first `top`.")
    order: Texts = Field((), description="These documents are in this order, all among the first `top`.")
    top: Whole | None = Field(
        None, description="How many documents of the ranking are looked at. Default: the suite's depth."
    )
    known_failure: Text = Field(
        "", description="The reason why this fails for now, such as a ticket; a failure is then reported, but not red."
    )
    name: Text = Field("", description="Replaces the query's id in the id of the check.")

    @model_validator(mode="after")
    def _one_thing(self) -> Expectation:
        given = [key for key in ("document", "never", "order") if getattr(self, key)]
        if len(given) != 1:
            found = f"has {' and '.join(given)}" if given else "expects nothing"
            raise ValueError(f"{found}: an expectation has one of document, never, order")
        if len(self.order) == 1 or len(set(self.order)) < len(self.order):
            raise ValueError("an order takes two or more different documents")
        return self

    def looser_than(self, other: Expectation) -> bool:
        """Tell whether it holds more easily, or may fail, or is about something else."""
        mine, theirs = self.top or math.inf, other.top or math.inf
        if self.never:
            easier = mine < theirs or not set(other.never) <= set(self.never)
        else:
            easier = mine > theirs or (self.document, self.order) != (other.document, other.order)
        return easier or self.query != other.query or (bool(self.known_failure) and not other.known_failure)

    def __str__(self) -> str:
        documents = ", ".join((*self.never, *self.order)) or self.document
        within = f" in the first {self.top}" if self.top else ""
        what = f"{'never ' if self.never else ''}{documents}{within}"
        return f"{what}, a known failure" if self.known_failure else what

    @property
    def label(self) -> str:
        """Its place in ids: ``q044.order``."""
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
        """For editors: a list."""
        made = handler.resolve_ref_schema(handler(schema))
        expectations: JsonSchemaValue = made["properties"]["expectations"]
        return {**expectations, "description": "Expectations of single queries.", "title": "expect"}


def _parts_of_expect(options: ExpectOptions) -> Iterator[Part]:
    for number, expectation in enumerate(options.expectations):
        yield Part(label=expectation.label, asked=expectation, place=(number,))


@rule(name="expect", options=ExpectOptions, parts=_parts_of_expect, judged=False, slices=False)
def expect(options: ExpectOptions, context: RuleContext) -> RuleResult:  # noqa: ARG001 - the part has what was asked
    """Require documents of single queries at the wanted ranks."""
    expectation: Expectation = context.part.asked
    query = expectation.query
    waived = query in context.population.waived
    lacking = [number for number, each in enumerate(context.now.rankings, 1) if query not in each.queries]
    top = expectation.top or context.now.depth
    if waived and (lacking or top > context.now.depth):
        return _waived_ruling(query)
    if lacking:
        known = context.population.queries.position
        meant = "" if query in known else did_you_mean(query, known)
        times = "" if len(context.now.rankings) == 1 else f" of answer {', '.join(map(str, lacking))}"
        return RuleResult(
            "error", f"query {shown(query)} is not in the rankings{times}" + (f"; {meant}" if meant else "")
        )
    if top > context.now.depth:
        return RuleResult(
            "error", f"looks at the first {top} documents, but the suite keeps only {context.now.depth} (depth)"
        )
    answers = [_looked_at(expectation, context, asking, top) for asking in range(len(context.now.rankings))]
    wrong = [headline for failed, headline in answers if failed]
    if waived:
        return _waived_ruling(query, wrong)
    facts, verdict = _known(expectation, bool(wrong))
    place, text = context.population.queries.position.get(query), context.population.queries.text_of(query)
    times = f" in {len(wrong)} of {len(answers)} answers" if wrong and len(answers) > 1 else ""
    return RuleResult(
        verdict,
        (wrong[0] if wrong else answers[0][1]) + times,
        f"Expected of {query}{f' ({shown(text)})' if text else ''}: {_wanted(expectation, top)}.",
        queries=() if place is None else (context.change(place),),
        worst="query",
        facts=(*facts, *(_tied(expectation, context) if wrong else ())),
        warning=bool(expectation.known_failure),
        broken=bool(wrong) and verdict == "pass",
    )


def _waived_ruling(query: str, wrong: Sequence[str] = ()) -> RuleResult:
    """A pass until the waiver ends, which says what it hides; ``wrong`` are the findings."""
    headline = f"query {shown(query)} is waived" + (f", and fails: {wrong[0]}" if wrong else "")
    until = ("this expectation is not checked until the waiver ends",)
    return RuleResult("pass", headline, facts=until, warning=bool(wrong), broken=bool(wrong))


def _known(expectation: Expectation, failed: bool) -> tuple[tuple[str, ...], Verdict]:
    known = expectation.known_failure
    if not known:
        return (), "fail" if failed else "pass"
    passes = f"it passes now: remove the known failure {known} from the suite"
    return (f"known failure: {known}" if failed else passes,), "pass"


def _tied(expectation: Expectation, context: RuleContext) -> tuple[str, ...]:
    """A fact where a named document has the same score as others."""
    rankings = context.now.rankings[0]
    place = context.now.position[expectation.query]
    rows = slice(int(rankings.first[place]), int(rankings.first[place + 1]))
    shared = rankings.tied_to[rows] > rankings.tied_from[rows]
    tied = dict(zip(rankings.ranking(expectation.query), shared, strict=True))
    named = (expectation.document, *expectation.never, *expectation.order)
    if not any(
        tied.get(context.population.called(document, expectation.query), False) for document in named if document
    ):
        return ()
    return ("other documents have the same score; they are ordered by document id, unless the suite has ties: input",)


def _looked_at(expectation: Expectation, context: RuleContext, asking: int, top: int) -> tuple[bool, str]:
    """Judge one answer: True if it fails, and the headline; documents are looked up by their current names."""
    listed_now = {document: place for place, document in enumerate(context.now.documents(expectation.query, asking), 1)}
    named = [name for name in (expectation.document, *expectation.never, *expectation.order) if name]
    called = {name: context.population.called(name, expectation.query) for name in named}
    rank = {name: listed_now[now] for name, now in called.items() if now in listed_now}
    query = shown(expectation.query)
    if expectation.document:
        found = rank.get(expectation.document)
        where = "is not listed" if found is None else f"is at #{found}"
        headline = f"{expectation.document} {where} for query {query} (expected in the top {top})"
        return found is None or found > top, headline
    if expectation.never:
        there = [document for document in expectation.never if rank.get(document, top + 1) <= top]
        listed = ", ".join(f"{document} at #{rank[document]}" for document in there) or "none of them"
        return bool(there), f"{listed} for query {query} (never in the top {top}: {', '.join(expectation.never)})"
    ranks = [rank.get(document, top + 1) for document in expectation.order]
    listed = ", ".join(
        f"{document} {'not in the top ' + str(top) if place > top else '#' + str(place)}"
        for document, place in zip(expectation.order, ranks, strict=True)
    )
    return ranks != sorted(set(ranks)) or ranks[-1] > top, f"{listed} for query {query} (expected in this order)"


def _wanted(expectation: Expectation, top: int) -> str:
    if expectation.document:
        return f"{expectation.document} in the top {top}"
    if expectation.never:
        return f"never {' or '.join(expectation.never)} in the top {top}"
    return " before ".join(expectation.order)
