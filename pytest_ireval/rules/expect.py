"""``expect``: queries must have the wanted documents, fields and numbers of documents; needs no judgments."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import AfterValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue

from pytest_ireval.data.ids import find_unknown
from pytest_ireval.data.queries import normalize_text
from pytest_ireval.data.rankings import Total
from pytest_ireval.errors import InputError, Problem, SuiteError, did_you_mean, quote
from pytest_ireval.plugins.plugin_types import Part, rule
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.query_changes import make_query_change
from pytest_ireval.rules.result import RuleResult, RuleVerdict
from pytest_ireval.sides.side import Side
from pytest_ireval.suite.option_types import BoundText, Filter, LeastShareText, ReasonText, Text, Texts, Whole
from pytest_ireval.suite.options import IN_PARTS, Options, RuleOptions
from pytest_ireval.suite.quantities import SHARE_ROUNDING, Bound, Milliseconds, percent
from pytest_ireval.words import format_count, format_some

WISHES = ("document", "any_of", "all_of", "never", "order", "field", "total")
"""What an expectation may want; each has one of them."""
COLUMN = re.compile(r"\{([^{}]+)\}")
"""A column of the queries in the value of a field."""
OF_EVERY_QUERY = ("id", "text")
MOST_BROKEN, WITH_DOCUMENTS = 10_000, 200
"""The most broken queries that a report lists, and of how many of them it shows the documents."""


def _check_total(bound: Bound) -> Bound:
    """Refuse a bound that no number of documents can break, or keep."""
    if isinstance(bound.value, Milliseconds) or not bound.value.is_integer() or bound.value < 0:
        raise ValueError(f"{bound}: a number of documents is a whole number from 0: write '>= 3' or '<= 0'")
    if bound in (Bound(">=", 0), Bound("<", 0)):
        verb = "at least" if bound.sign == ">=" else "not below"
        raise ValueError(f"every number of documents is {verb} 0: write '<= 0' for no document, '>= 1' for any")
    return bound


class Expectation(Options):
    """The expectation of one query, or of many: documents, the field of a document, or a number of documents."""

    query: Text = Field("", min_length=1, description="The query's id, or its text.")
    where: Filter = Field(
        default_factory=dict, description="In place of query: all queries whose columns have these values."
    )
    document: Text = Field("", description="This document is among the first `top`.")
    any_of: Texts = Field((), description="One or more of these documents are among the first `top`.")
    all_of: Texts = Field((), description="All these documents are among the first `top`.")
    never: Texts = Field((), description="None of these documents is among the first `top`.")
    order: Texts = Field((), description="These documents are in this order, all among the first `top`.")
    field: dict[Text, Text] = Field(
        default_factory=dict,
        description="A document among the first `top` has these values; `{column}` is that of the query.",
        title="mapping of fields and values",
    )
    total: Annotated[BoundText, AfterValidator(_check_total)] | None = Field(
        None, description="The number of documents that match."
    )
    top: Whole | None = Field(
        None, description="How many documents of the ranking are looked at. Default: the suite's depth."
    )
    share: LeastShareText | None = Field(
        None, description="Without query: the share of the queries that must have it. Default: all."
    )
    known_failure: ReasonText = Field(
        "", description="The reason why this fails for now, such as a ticket; a failure is then reported, but not red."
    )
    name: Text = Field("", description="The first part of the check's id.")

    @model_validator(mode="after")
    def _check_scope(self) -> Expectation:
        if self.query and (self.where or self.share is not None):
            other = "where" if self.where else "share"
            raise ValueError(f"has query and {other}: query is for one query, where and share are for many")
        if not self.query and not self.where and self.share is None:
            raise ValueError("names no query: write query: ID, where: {column: value}, or share: '>= 95%' of all")
        return self

    @model_validator(mode="after")
    def _check_wish(self) -> Expectation:
        given = [key for key in WISHES if getattr(self, key)]
        if len(given) != 1:
            problem = f"has {' and '.join(given)}" if given else "expects nothing"
            raise ValueError(f"{problem}: an expectation has one of {', '.join(WISHES)}")
        if len(self.order) == 1 or len(set(self.order)) < len(self.order):
            raise ValueError("an order takes two or more different documents")
        if self.total is not None and self.top is not None:
            raise ValueError("total is about all documents that match: remove top")
        return self

    def is_looser_than(self, other: Expectation) -> bool:
        """Tell whether it holds more easily, or may fail, or is about something else."""
        mine, theirs = self.top or math.inf, other.top or math.inf
        if (self.wish, self.query, self.where) != (other.wish, other.query, other.where):
            return True
        if self.known_failure and not other.known_failure:
            return True
        if (1.0 if self.share is None else self.share) < (1.0 if other.share is None else other.share):
            return True
        if self.total is not None and other.total is not None:
            return self.total.is_looser_than(other.total)
        if self.wish == "never":
            return mine < theirs or not set(other.never) <= set(self.never)
        if self.wish == "any_of":
            return mine > theirs or not set(self.any_of) <= set(other.any_of)
        if self.wish == "all_of":
            return mine > theirs or not set(other.all_of) <= set(self.all_of)
        return mine > theirs or (self.document, self.order, self.field) != (other.document, other.order, other.field)

    def __str__(self) -> str:
        within = f" in the first {self.top}" if self.top else ""
        known = ", a known failure" if self.known_failure else ""
        share = "" if self.share is None else f" for at least {percent(self.share)} of the queries"
        return f"{_name_wish(self)}{within}{share}{known}"

    @property
    def wish(self) -> str:
        """The key that says what is wanted."""
        return next(key for key in WISHES if getattr(self, key))

    @property
    def documents(self) -> tuple[str, ...]:
        """All that it names, in their order."""
        return (self.document,) if self.document else (*self.any_of, *self.all_of, *self.never, *self.order)

    @property
    def columns(self) -> dict[str, str]:
        """The columns of the queries that values of fields name, with the field."""
        return {column: field for field, value in self.field.items() for column in COLUMN.findall(value)}

    @property
    def label(self) -> str:
        """Its name in ids: ``q044.order``, ``sku``, ``total``."""
        return self.name or ".".join(filter(None, (self.query, self.document or ".".join(self.field) or self.wish)))


class ExpectOptions(RuleOptions):
    """A list of expectations."""

    expectations: Annotated[tuple[Expectation, ...], IN_PARTS]

    @model_validator(mode="before")
    @classmethod
    def _a_list(cls, data: Any) -> Any:
        if not isinstance(data, list | tuple) or not data:
            raise ValueError("is a list of expectations: - {query: q001, document: d7, top: 3}; or {file: NAME.csv}")
        return {"expectations": data}

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Tell editors that the rule is a list, or names the file of one; no suite writes ``expectations``."""
        rule_schema = handler.resolve_ref_schema(handler(schema))
        expectations: JsonSchemaValue = rule_schema["properties"]["expectations"]
        return {
            **expectations,
            "type": ["array", "object"],
            "properties": {"file": {"type": "string", "description": "In place of the list, a table: CSV or TSV."}},
            "minProperties": 1,
            "additionalProperties": False,
            "description": "Expectations of queries.",
            "title": "expect",
        }


def _list_parts(options: ExpectOptions) -> Iterator[Part]:
    for number, expectation in enumerate(options.expectations):
        yield Part(label=expectation.label, item=expectation, keys=(number,), where=expectation.where)


@rule(name="expect", options=ExpectOptions, parts=_list_parts)
def expect(options: ExpectOptions, context: RuleContext) -> RuleResult:
    """Require documents, fields or a number of documents of single queries, or of a share of them."""
    expectation: Expectation = context.part.item
    top = expectation.top or context.current.depth
    if not expectation.query:
        return _check_many_queries(expectation, context, top)
    query = find_query(expectation.query, context)
    if query in context.population.waived:
        return _check_waived(expectation, query, context, top)
    return _check_query(options, expectation, query, context, top)


def find_query(name: str, context: RuleContext) -> str:
    """The query with this id, or with this text."""
    found = context.population.queries.find_ids(name)
    if len(found) > 1:
        raise InputError(f"{format_count(len(found), 'query')} have the text {quote(name)}: {format_some(found)}")
    return found[0] if found else name  # the rankings do not have it, and the message says so


class _Finding(NamedTuple):
    """What an answer to a query has of an expectation."""

    holds: bool
    text: str
    """Where the documents are, or how many there are."""
    ranks: Mapping[str, int] = {}
    """The ranks of the named documents that are listed."""


def _check_query(
    options: ExpectOptions, expectation: Expectation, query: str, context: RuleContext, top: int
) -> RuleResult:
    findings = _check_answers(expectation, query, context, top)
    wrong = [finding for finding in findings if not finding.holds]
    first = (wrong or findings)[0]
    stale = _find_stale_documents(expectation, first, context) if wrong else []
    unknown = _find_unknown_documents(options, expectation, query, context)
    queries = context.population.queries
    row, query_text = queries.position.get(query), queries.text_of(query)
    named = f"{query} ({quote(query_text)})" if query_text else query
    text = f"{first.text} for query {quote(query)} ({_describe_wish(expectation, top)})"
    if stale:
        text = f"{_describe_stale(stale)} (query {quote(query)}, {_describe_wish(expectation, top)})"
    return RuleResult(
        _choose_verdict(expectation, is_fulfilled=not wrong, is_stale=bool(stale), has_unknown=bool(unknown)),
        f"{text} in {len(wrong)} of {len(findings)} answers" if wrong and len(findings) > 1 else text,
        queries=() if row is None else (make_query_change(context, row),),
        queries_title="query",
        sentence=f"Expected of {named}: {_state_wish(expectation, top)}.",
        facts=tuple(_list_notes(expectation, query, context, unknown, is_fulfilled=not wrong, stale=stale)),
    )


def _check_many_queries(expectation: Expectation, context: RuleContext, top: int) -> RuleResult:
    """One verdict on all queries of the slice, with those that break the expectation."""
    queries = context.population.queries
    rows = np.flatnonzero(context.population.mask(context.slice)).tolist()
    scope = f"queries with {context.slice}" if context.slice.conditions else "all queries"
    if not rows:
        return RuleResult("inconclusive", f"all {scope.removeprefix('all ')} are waived; not checked")
    wrong: dict[int, _Finding] = {}
    for row in rows:
        for finding in _check_answers(expectation, queries.ids[row], context, top):
            if not finding.holds:
                wrong.setdefault(row, finding)
    held = len(rows) - len(wrong)
    wanted = 1.0 if expectation.share is None else expectation.share
    is_fulfilled = held >= wanted * len(rows) - SHARE_ROUNDING
    first = next(iter(wrong.values()), None)
    stale = [] if is_fulfilled or first is None else _find_stale_documents(expectation, first, context)
    of_all = f"{held:,} of {len(rows):,} {scope.removeprefix('all ')}"
    least = "all" if expectation.share is None else f">= {percent(expectation.share)}"
    headline = f"{_state_wish(expectation, top)}: {of_all} ({100 * held / len(rows):.3g}%, expected {least})"
    if stale:
        headline = f"{_describe_stale(stale)}; {headline}"
    return RuleResult(
        _choose_verdict(expectation, is_fulfilled=is_fulfilled, is_stale=bool(stale)),
        headline,
        queries=tuple(
            replace(make_query_change(context, row, documents=number < WITH_DOCUMENTS), note=finding.text)
            for number, (row, finding) in enumerate(islice(wrong.items(), MOST_BROKEN))
        ),
        more_queries=max(0, len(wrong) - MOST_BROKEN),
        queries_title="broken queries",
        numbers={"queries": len(rows), "held": held, "share": held / len(rows)},
        sentence=f"Expected of {scope}: {_state_wish(expectation, top)}.",
        facts=tuple(_list_known_failure(expectation, is_fulfilled=is_fulfilled)),
    )


def _check_waived(expectation: Expectation, query: str, context: RuleContext, top: int) -> RuleResult:
    """Pass, and show a failure all the same; what cannot be checked is an error once the waiver has ended."""
    try:
        findings = _check_answers(expectation, query, context, top)
    except (InputError, SuiteError):
        findings = []
    failure = next((finding for finding in findings if not finding.holds), None)
    headline = f"query {quote(query)} is waived"
    if failure is not None:
        wish = _describe_wish(expectation, top)
        headline += f", and fails: {failure.text} for query {quote(query)} ({wish})"
    return RuleResult(
        "pass" if failure is None else "known_failure",
        headline,
        facts=("this expectation is not checked until the waiver ends",),
    )


def _check_answers(expectation: Expectation, query: str, context: RuleContext, top: int) -> list[_Finding]:
    """What each answer of the source has of the expectation."""
    rankings, depth = context.current.rankings, context.current.depth
    if top > depth:
        raise SuiteError(f"looks at the first {top} documents, but the suite keeps only {depth} (depth)")
    missing = [number for number, each in enumerate(rankings, 1) if query not in each.position]
    if missing and not expectation.query:
        return [_Finding(holds=False, text="has no ranking")]
    if missing:
        raise _missing_query_error(query, context, missing)
    findings = []
    for asking in range(len(rankings)):
        if expectation.total is not None:
            findings.append(_check_total_of(expectation.total, query, context, asking))
        elif expectation.field:
            findings.append(_check_fields(expectation, query, context, asking, top))
        else:
            findings.append(_check_documents(expectation, query, context, asking, top))
    return findings


def _missing_query_error(query: str, context: RuleContext, missing: Sequence[int]) -> InputError:
    known = context.population.queries.position
    meant = "" if query in known else did_you_mean(query, known)
    answers = "" if len(context.current.rankings) == 1 else f" of answer {', '.join(map(str, missing))}"
    return InputError(f"query {quote(query)} is not in the rankings{answers}" + (f"; {meant}" if meant else ""))


def _check_total_of(bound: Bound, query: str, context: RuleContext, asking: int) -> _Finding:
    """Compare the number of documents that match; one that may be larger decides only what it can."""
    totals = context.current.rankings[asking].totals
    if totals is None:  # rankings that were made of others, as ireval self-test does
        totals = {query: Total(len(context.current.documents(query, asking)))}
    if query not in totals:
        return _Finding(holds=False, text="the source did not answer")
    total = totals[query]
    holds = bound.holds(total.number)
    if total.is_capped and holds == (bound.sign[0] == "<"):
        raise _unknown_total_error(total, bound, query, context)
    word = "document" if total.number == 1 and not total.is_capped else "documents"
    return _Finding(holds, f"{total} {word}" if total.number else "no document")


def _unknown_total_error(total: Total, bound: Bound, query: str, context: RuleContext) -> InputError:
    complaint = f"query {quote(query)} has {total} documents, so it is unknown whether there are {bound}"
    way = "let the engine count to the end, such as by track_total_hits: true in the body"
    depth = max(int(bound.value), context.current.depth) + 1
    return InputError(Problem(complaint, suggestion=f"{way}; if it gives no count, write depth: {depth} in the suite"))


def _check_fields(expectation: Expectation, query: str, context: RuleContext, asking: int, top: int) -> _Finding:
    """Look for the first document that has the values in its fields."""
    wanted = fill_columns(expectation.field, query, context)
    fields = context.current.rankings[asking].fields or {}
    known = context.current.remember(
        ("names of fields", asking), lambda: {name for of_document in fields.values() for name in of_document}
    )
    documents = context.current.documents(query, asking)
    if unknown := [name for name in wanted if name not in known]:
        if len(context.current.rankings[asking].documents):
            raise _unknown_field_error(unknown[0], known)
        documents = []
    rank = next(
        (
            rank
            for rank, document in enumerate(documents, 1)
            if all(_has_value(fields.get(document, {}).get(name), value) for name, value in wanted.items())
        ),
        None,
    )
    what = ", ".join(f"{name}={value}" for name, value in wanted.items())
    return _Finding(rank is not None and rank <= top, f"{what} {'is not listed' if rank is None else f'is at #{rank}'}")


def _unknown_field_error(name: str, known: set[str]) -> InputError:
    complaint = f"no document of the answers has a field {quote(name)}"
    allowed = f"fields: {', '.join(sorted(known))}" if known else "the source brings no fields of documents"
    return InputError(Problem(complaint, suggestion=did_you_mean(name, known), allowed=allowed))


def fill_columns(field: Mapping[str, str], query: str, context: RuleContext) -> dict[str, str]:
    """The values that a document must have for this query."""
    queries = context.population.queries
    row = queries.position[query]
    values = {name: column[row] for name, column in queries.columns.items()}
    values |= {"id": query, "text": queries.text[row]}
    return {
        name: normalize_text(COLUMN.sub(lambda column: values[column[1]], value)).strip()
        for name, value in field.items()
    }


def _has_value(value: Any, wanted: str) -> bool:
    """Tell whether a field is equal as a text; a list has it if one of its values is."""
    if isinstance(value, list | tuple):
        return any(_has_value(each, wanted) for each in value)
    if isinstance(value, bool):
        return str(value).lower() == wanted.lower()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value is not None and normalize_text(str(value)).strip() == wanted


def _check_documents(expectation: Expectation, query: str, context: RuleContext, asking: int, top: int) -> _Finding:
    """Look up the ranks of the named documents, by their current names."""
    listed = {document: rank for rank, document in enumerate(context.current.documents(query, asking), 1)}
    named = {name: context.population.find_current_name(name, query) for name in expectation.documents}
    ranks = {name: listed[current] for name, current in named.items() if current in listed}
    return _Finding(_is_fulfilled(expectation, ranks, top), _describe_ranks(expectation, ranks, top), ranks)


def _is_fulfilled(expectation: Expectation, ranks: Mapping[str, int], top: int) -> bool:
    within = {document: rank for document, rank in ranks.items() if rank <= top}
    if expectation.never:
        return not within
    if expectation.any_of:
        return bool(within)
    if expectation.all_of:
        return len(within) == len(set(expectation.all_of))
    order = [within[document] for document in expectation.documents if document in within]
    return len(order) == len(expectation.documents) and order == sorted(set(order))


def _find_stale_documents(expectation: Expectation, finding: _Finding, context: RuleContext) -> list[str]:
    """Wanted documents that the index does not have any more, if nothing else breaks the expectation."""
    if expectation.never or not expectation.documents:
        return []
    gone = context.current.gone_documents
    stale = [name for name in expectation.documents if name not in finding.ranks and name in gone]
    others = [name for name in expectation.documents if name not in stale]
    if not stale or not others:
        return stale
    if expectation.any_of:
        return []  # another one could still be listed
    rest = expectation.model_copy(update={expectation.wish: tuple(others)})
    return stale if _is_fulfilled(rest, finding.ranks, expectation.top or context.current.depth) else []


def _describe_stale(documents: Sequence[str]) -> str:
    are = "is" if len(documents) == 1 else "are"
    return f"stale: {format_some(documents)} {are} not in the index any more"


def _choose_verdict(
    expectation: Expectation, *, is_fulfilled: bool, is_stale: bool = False, has_unknown: bool = False
) -> RuleVerdict:
    if is_fulfilled:
        return "warn" if expectation.known_failure or has_unknown else "pass"
    if expectation.known_failure:
        return "known_failure"
    return "stale" if is_stale else "fail"


def _list_notes(
    expectation: Expectation,
    query: str,
    context: RuleContext,
    unknown: Sequence[str],
    *,
    is_fulfilled: bool,
    stale: Sequence[str],
) -> Iterator[str]:
    yield from _list_known_failure(expectation, is_fulfilled=is_fulfilled)
    gone = [name for name in expectation.documents if name in context.current.gone_documents]
    if stale:
        yield f"remove {format_some(stale)} from the expectation, or name the document that took its place"
    elif not is_fulfilled and gone and not expectation.never:
        yield f"the index does not have {format_some(gone)} any more"
    if not is_fulfilled and expectation.documents and _has_equal_scores(expectation, query, context):
        same = "other documents have the same score; they are ordered by document id"
        yield f"{same}, unless the suite has ties: input"
    if unknown:
        yield f"no judgment, ranking or baseline has {format_some(unknown)}: check the id"


def _list_known_failure(expectation: Expectation, *, is_fulfilled: bool) -> Iterator[str]:
    known = expectation.known_failure
    if known:
        passes = f"it passes now: remove the known failure {known} from the suite"
        yield passes if is_fulfilled else f"known failure: {known}"


def _find_unknown_documents(
    options: ExpectOptions, expectation: Expectation, query: str, context: RuleContext
) -> list[str]:
    """The documents under ``never`` that nobody has ever judged or found: a misspelled id never shows."""
    find_name = context.population.find_current_name
    sides = [context.current, *([context.stored] if context.stored is not None else [])]
    near = {*context.population.grades(query), *(document for side in sides for document in side.documents(query))}
    unknown = [name for name in expectation.never if not near & {name, find_name(name, query)}]
    if not unknown:
        return []
    known = context.current.remember(
        ("documents under never", context.stored, id(options)), lambda: _find_known_documents(options, context, sides)
    )
    return [name for name in unknown if not known & {name, find_name(name, query)}]


def _find_known_documents(options: ExpectOptions, context: RuleContext, sides: Sequence[Side]) -> set[str]:
    """The documents under any ``never`` that were judged or listed for some query; looked for all together."""
    population = context.population
    named = {
        name
        for expectation in options.expectations
        for document in expectation.never
        for query in population.queries.find_ids(expectation.query) or [expectation.query]
        for name in (document, population.find_current_name(document, query))
    }
    columns = [rankings.documents for side in sides for rankings in side.rankings]
    columns += [population.judgments.documents] if population.judgments is not None else []
    return named - find_unknown(named, columns)


def _describe_ranks(expectation: Expectation, ranks: Mapping[str, int], top: int) -> str:
    if expectation.document:
        rank = ranks.get(expectation.document)
        return f"{expectation.document} {'is not listed' if rank is None else f'is at #{rank}'}"
    if expectation.never:
        there = [f"{name} at #{ranks[name]}" for name in expectation.never if ranks.get(name, top + 1) <= top]
        return ", ".join(there) or "none of them"
    return ", ".join(
        f"{name} #{ranks[name]}" if ranks.get(name, top + 1) <= top else f"{name} not in the top {top}"
        for name in expectation.documents
    )


def _describe_wish(expectation: Expectation, top: int) -> str:
    """What was expected of a query, behind what was found."""
    if expectation.never:
        return f"never in the top {top}: {', '.join(expectation.never)}"
    if expectation.order:
        return "expected in this order"
    if expectation.total is not None:
        return f"expected {expectation.total}"
    how_many = {"any_of": "one of them ", "all_of": "all "}.get(expectation.wish, "")
    return f"expected {how_many}in the top {top}"


def _state_wish(expectation: Expectation, top: int) -> str:
    within = "" if expectation.total is not None or expectation.order else f" in the top {top}"
    return f"{_name_wish(expectation)}{within}"


def _name_wish(expectation: Expectation) -> str:
    """The wish as the suite writes it."""
    if expectation.never:
        return f"never {' or '.join(expectation.never)}"
    if expectation.field:
        return ", ".join(f"{name}={value}" for name, value in expectation.field.items())
    if expectation.total is not None:
        return f"total {expectation.total}"
    between: Mapping[str, Literal[" or ", " and ", " before "]] = {"any_of": " or ", "all_of": " and "}
    return between.get(expectation.wish, " before ").join(expectation.documents)


def _has_equal_scores(expectation: Expectation, query: str, context: RuleContext) -> bool:
    """Tell whether a named document has the same score as others."""
    rankings = context.current.rankings[0]
    row = context.current.position[query]
    rows = slice(int(rankings.first[row]), int(rankings.first[row + 1]))
    ties = rankings.tied_to[rows] > rankings.tied_from[rows]
    tied = {document for document, is_tied in zip(rankings.ranking(query), ties, strict=True) if is_tied}
    return any(context.population.find_current_name(name, query) in tied for name in expectation.documents)
