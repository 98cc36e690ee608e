"""``new_document``: limits how many queries one new document may top; needs no judgments."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from pytest_ireval.errors import SuiteError
from pytest_ireval.plugins.plugin_types import rule
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.new_at_top import TOP, NewDocuments, find_new_documents
from pytest_ireval.rules.query_changes import make_query_change
from pytest_ireval.rules.result import RuleResult
from pytest_ireval.rules.wording import format_queries, format_slice
from pytest_ireval.suite.option_types import AmountText, Texts, Whole
from pytest_ireval.suite.options import LESS, MORE, ListOptions
from pytest_ireval.suite.quantities import refuse_everything
from pytest_ireval.words import format_percent


class NewDocumentOptions(ListOptions):
    """The ranks that count, the number of queries with a new document there, and the expected documents."""

    at: Annotated[Whole, LESS] = Field(TOP, description="How many documents at the top of a ranking are looked at.")
    at_most: AmountText = Field(
        "5%",
        validate_default=True,
        description="The share or number of queries for which one document may be new there: 5%, or 20.",
    )
    expected: Annotated[Texts, MORE] = Field(
        (), description="Ids of documents that may be new for any number of queries, such as a promoted product."
    )

    @model_validator(mode="after")
    def _can_fail(self) -> NewDocumentOptions:
        refuse_everything(self.at_most)
        return self


@rule(name="new_document", options=NewDocumentOptions)
def new_document(options: NewDocumentOptions, context: RuleContext) -> RuleResult:
    """Limit how many queries have the same new, unjudged document at the top; needs no judgments."""
    depth = context.current.depth
    if options.at > depth:
        raise SuiteError(f"looks at the first {options.at} documents, but the suite keeps only {depth} (depth)")
    compared = context.paired_rows()
    size = compared.size
    expected = {context.population.find_current_name(document) for document in options.expected}
    candidates = [new for new in find_new_documents(context, compared, options.at, 2) if new.document not in expected]
    failing = NewDocuments([new for new in candidates if not options.at_most.allows(new.rows.size, size)], size)
    most = max((new.rows.size for new in candidates), default=0)
    numbers = {"queries": float(most), "share": most / size}
    if not failing.documents:
        too_many = f"more than {options.at_most} of {format_queries(context, size)}"
        headline = f"no document is new in the top {options.at} of {too_many}{format_slice(context)}"
        return RuleResult("pass", headline, numbers=numbers)
    first = failing.documents[0]
    them = "it" if len(failing.documents) == 1 else "them"
    return RuleResult(
        "fail",
        f"{failing.describe(options.at, format_slice(context))}; at most {options.at_most} are allowed",
        queries=tuple(make_query_change(context, row) for row in first.rows[:100].tolist()),
        queries_title="queries with this document",
        numbers=numbers,
        sentence=f"{first.document} came to the top for {format_percent(first.rows.size / size)} of the queries.",
        facts=(f"if you expect {them}, add {failing.option} to the rule",),
    )
