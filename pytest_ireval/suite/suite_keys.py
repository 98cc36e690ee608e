"""The keys of a suite: each with its type, its default, and what it means."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from pytest_ireval.data.formats.reader import Content
from pytest_ireval.errors import did_you_mean, quote, suggest_full_names
from pytest_ireval.results.policies import Dialect, Grades, MissingQueries, NoRelevant, Ties, Unjudged
from pytest_ireval.suite import editor_types
from pytest_ireval.suite.option_types import (
    DayText,
    Flag,
    MetricTexts,
    Number,
    PathText,
    ReasonText,
    ShareText,
    Tags,
    Text,
    Texts,
    Watches,
    Whole,
    read_path,
    read_with,
)
from pytest_ireval.suite.options import Options
from pytest_ireval.suite.scalars import UnfitError, place_of
from pytest_ireval.suite.sources_and_rules import read_rule, registry_of, validate_source
from pytest_ireval.suite.suite import FileSpec, RuleSpec, SourceSpec
from pytest_ireval.words import format_count

CONTENTS = "contents"
"""The key in the context of a validation for contents of files that are not read from the disk."""
RELATIVE = "a path is relative to the file it is written in"
"""The suggestion for a missing file."""
NAME = re.compile(r"[A-Za-z0-9_.-]+")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _read_existing(value: Any, info: ValidationInfo) -> FileSpec:
    """Make a path of a file that exists."""
    if isinstance(value, FileSpec):
        return value
    path = read_path(value)
    contents = (info.context or {}).get(CONTENTS)
    if not (os.path.exists(path) or (contents is not None and contents(path) is not None)):
        raise UnfitError(f"no such file: {value}", RELATIVE)
    return FileSpec(path, place_of(value))


def _refuse_unknown_format(content: Content) -> Callable[[str, ValidationInfo], str]:
    """A validator of names of installed formats of such content."""

    def check(name: str, info: ValidationInfo) -> str:
        readers = [each for each in registry_of(info).readers if each.holds == content]
        names = [name for each in readers for name in (each.name, *each.also)]
        if name.strip() in names:
            return name
        available = sorted({name for name in names if ":" not in name} | {each.name for each in readers})
        allowed = f"available: {', '.join(available)}"
        if several := suggest_full_names(name.strip(), names):
            raise UnfitError(f"several plugins have a format {name!r} of {content}", several, allowed)
        raise UnfitError(f"unknown format {name!r} of {content}", did_you_mean(name, names), allowed)

    return check


def _put_path_into_mapping(value: Any) -> Any:
    """The short form: a path alone."""
    return {"file": value} if isinstance(value, str) else value


def _check_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise UnfitError(f"{name!r} is not a name for a suite", allowed="allowed: letters, digits, _ . and -")
    return name


ExistingFile = Annotated[FileSpec, read_with(_read_existing, editor_types.PATH)]
Source = Annotated[SourceSpec, read_with(validate_source, editor_types.SOURCE)]
Rule = Annotated[RuleSpec, read_with(read_rule, editor_types.RULE)]


class QueriesKeys(Options):
    """The file of queries."""

    file: ExistingFile = Field(description="The path, relative to the file it is written in.")
    format: Annotated[Text, AfterValidator(_refuse_unknown_format("queries"))] = Field(
        "", description="The format of the file; needed only if two formats fit.", examples=["table"]
    )


class JudgmentsKeys(Options):
    """The file of judgments, and how they count."""

    file: ExistingFile = Field(description="The path, relative to the file it is written in.")
    format: Annotated[Text, AfterValidator(_refuse_unknown_format("judgments"))] = Field(
        "", description="The format of the file; needed only if two formats fit.", examples=["trec"]
    )
    relevant_from: Number | None = Field(
        None,
        description="The lowest grade that is relevant, for metrics without `rel` of their own. Default: the "
        "value of each metric.",
        examples=["2"],
    )
    scale: dict[Number, Text] = Field(
        default_factory=dict,
        title="mapping of grades and labels",
        description="The grades with their labels; the highest is the top grade. Default: the grades of the file.",
        examples=["{0: no, 1: partly, 2: good, 3: perfect}"],
    )
    unjudged: Unjudged = Field(
        "irrelevant",
        description="How unjudged documents count: as not relevant, or removed first.",
        examples=["removed"],
    )
    lock: Flag = Field(
        False, description="If true, judgments that differ from those of the baseline are an error.", examples=["true"]
    )
    grades: Grades = Field("integer", description="The type of the grades.", examples=["float"])
    preferences: ExistingFile | None = Field(
        None,
        description="A file with the columns query, better and worse, and perhaps support, the weight of a pair "
        "(TSV, CSV or JSON lines): pairs of documents, for metrics that need preferences.",
        examples=["data/pairs.tsv"],
    )


class CollapseKeys(Options):
    """Variants of one document: a path, or a mapping."""

    file: ExistingFile | None = Field(
        None, description="A table with the columns document and group.", examples=["data/variants.tsv"]
    )
    pattern: Text = Field(
        "",
        description="In place of a file, a regular expression for whole ids with one group: the id of the document. "
        "Other ids stay as they are.",
        examples=['"(.+)#[0-9]+"'],
    )

    @model_validator(mode="after")
    def _check_one_of_both(self) -> CollapseKeys:
        if (self.file is None) == (not self.pattern):
            raise UnfitError("collapse needs either a file or a pattern", "write collapse: {pattern: '(.+)#[0-9]+'}")
        try:
            groups = re.compile(self.pattern).groups if self.pattern else 1
        except re.error as error:
            raise UnfitError(f"{quote(self.pattern)} is not a regular expression: {error}") from None
        if groups != 1:
            complaint = f"{quote(self.pattern)} has {format_count(groups, 'group')} in parentheses; one is needed"
            raise UnfitError(complaint, "put the part that is the id of the document in parentheses: (.+)#[0-9]+")
        return self


QueriesFile = Annotated[
    QueriesKeys, BeforeValidator(_put_path_into_mapping, json_schema_input_type=PathText | QueriesKeys)
]
JudgmentsFile = Annotated[
    JudgmentsKeys, BeforeValidator(_put_path_into_mapping, json_schema_input_type=PathText | JudgmentsKeys)
]
Collapse = Annotated[
    CollapseKeys, BeforeValidator(_put_path_into_mapping, json_schema_input_type=PathText | CollapseKeys)
]


class DocumentsKeys(Options):
    """Facts about documents."""

    aliases: ExistingFile | None = Field(
        None, description="A table of renamed documents, with the columns from and to.", examples=["data/ids.tsv"]
    )
    collapse: Collapse | None = Field(
        None,
        description="Variants that count as one document, of which only the first in a ranking counts: a table with "
        "the columns document and group, or a pattern of ids.",
        examples=["data/variants.tsv"],
    )
    fields: ExistingFile | None = Field(
        None,
        description="A file with an id, a title, a url and other fields of documents (JSON lines, CSV, TSV, Parquet, "
        "or a BEIR corpus): messages and pages show titles beside ids, and metrics may use any field.",
        examples=["data/products.jsonl"],
    )
    size: Whole | None = Field(
        None,
        description="The number of documents in the collection; FallOut and some other metrics need it.",
        examples=["120000"],
    )
    spans: ShareText | None = Field(
        None,
        description="Ids are `DOCUMENT#START-END`. A retrieved chunk that covers this share of a judged passage counts "
        "as the passage; only the first such chunk counts.",
        examples=["50%"],
    )

    @property
    def collapse_file(self) -> FileSpec | None:
        """The table of variants."""
        return self.collapse.file if self.collapse else None

    @property
    def collapse_pattern(self) -> str:
        """The pattern of ids of variants."""
        return self.collapse.pattern if self.collapse else ""

    @property
    def definition(self) -> str:
        """The key that defines which documents count; empty without it."""
        return "" if self.spans is None else f"spans: {100 * self.spans:.10g}%"


class BaselineKeys(Options):
    """How the baseline is kept."""

    compress: Flag = Field(
        False,
        description="If true, the baseline is packed by gzip: smaller files, but git shows no differences and keeps a "
        "whole file for each acceptance.",
        examples=["true"],
    )


class WaiverKeys(Options):
    """A query that comparisons leave out until a day."""

    query: Text = Field(description="The query's id.", examples=["q017"])
    until: DayText = Field(
        description="The last day of the waiver; after it, the waiver is red.", examples=["2027-04-01"]
    )
    reason: ReasonText = Field(
        description="The reason, such as a ticket.", examples=['"SEARCH-9: supplier feed broken"']
    )


class ComponentKeys(Options):
    """A patch that switches a component of the search off."""

    set: dict[Text, Any] = Field(
        default_factory=dict,
        title="mapping of paths and values",
        description="Values in the source, by the keys that lead to them; lists count from 0. `null` removes a key.",
        examples=["{query.multi_match.analyzer: plain}"],
    )
    env: dict[Text, Text] = Field(
        default_factory=dict,
        title="mapping of names and values",
        description="Environment variables, for code that is asked and for `${NAME}` in the suite.",
        examples=['{RERANK: "0"}'],
    )

    @model_validator(mode="after")
    def _check_patch(self) -> ComponentKeys:
        if not self.set and not self.env:
            raise UnfitError("switches nothing off", "write set: {PATH: VALUE}, or env: {NAME: VALUE}")
        for name in self.env:
            if not VARIABLE.fullmatch(name):
                raise UnfitError(f"env: {quote(name)} is not a name of an environment variable")
        return self


class SuiteKeys(Options):
    """A suite of rules that decide whether a change of rankings may land."""

    ireval: Literal["1"] = Field(
        description="The version of the suite format; this key marks a YAML file as a suite.", examples=["1"]
    )
    suite: Annotated[Text, AfterValidator(_check_name)] = Field(
        description="The name of the suite: letters, digits, `_`, `.` and `-`; unique in a run.",
        examples=["product-search"],
    )
    owner: Text = Field(
        "",
        description="The team or person responsible for failures; part of the failure message.",
        examples=['"@search-team"'],
    )
    tags: Tags = Field(
        (), description="Marks of its tests: `pytest --ireval -m products`.", examples=["[products, nightly]"]
    )
    source: Source = Field(
        description="The source of the rankings, of exactly one kind.", examples=["{run: candidate.trec}"]
    )
    depth: Whole = Field(
        100, le=10_000_000, description="How many documents of each ranking are kept and scored.", examples=["20"]
    )
    queries: QueriesFile | None = Field(
        None,
        description="The file of queries: id and text, and any other columns, which may define slices or weights. "
        "Default: the judged queries.",
        examples=["data/queries.tsv"],
    )
    weight: Text = Field(
        "", description="The column of the queries that has the traffic of each query.", examples=["searches_per_day"]
    )
    cluster: Text = Field(
        "",
        description="A column of the queries. Queries with the same value are variants of one intent; they count "
        "as one when chance is estimated. A query with an empty cell is a cluster of its own.",
        examples=["intent"],
    )
    judgments: JudgmentsFile | None = Field(
        None, description="The file of judgments, and how they count.", examples=["data/qrels.txt"]
    )
    documents: DocumentsKeys = Field(
        default_factory=lambda: DocumentsKeys.model_validate({}),
        description="Facts about documents: renamed ids, variants, and how many documents exist.",
        examples=["{aliases: data/ids.tsv}"],
    )
    baseline: BaselineKeys = Field(
        default_factory=lambda: BaselineKeys.model_validate({}),
        description="How the baseline is kept: as text, or packed by gzip.",
        examples=["{compress: true}"],
    )
    metrics: MetricTexts = Field(
        (),
        description="Metrics that are computed and reported, in addition to those that rules name.",
        examples=["[nDCG@10, RR@10, Judged@10]"],
    )
    dialect: Dialect | None = Field(
        None,
        description="The package whose names and defaults the names of metrics have. Default: their meaning here.",
        examples=["ir_measures"],
    )
    ties: Ties = Field(
        "trec",
        description="The order of equal scores: by document id descending (`trec`), or as in the input (`input`). "
        "A live system's answers are ordered as in the input, unless given.",
        examples=["input"],
    )
    missing_queries: MissingQueries = Field(
        "error",
        description="How a query without a ranking counts: it is an error, gets the worst score, or is left out.",
        examples=["zero"],
    )
    no_relevant: NoRelevant = Field(
        "zero",
        description="How a query without relevant documents counts: it gets the score that the metric defines, is left "
        "out, or is an error.",
        examples=["ignore"],
    )
    rules: tuple[Rule, ...] = Field(
        (),
        description="The rules of the gate, as a list. Each rule is a mapping with one key, its kind.",
        examples=['[{threshold: {nDCG@10: ">= 0.85"}}]'],
    )
    waive: tuple[WaiverKeys, ...] = Field(
        (),
        description="Queries that comparisons leave out until a given day. Every report lists them. After that day the "
        "waiver is red.",
        examples=['[{query: q017, until: 2027-04-01, reason: "SEARCH-9"}]'],
    )
    components: dict[Text, ComponentKeys] = Field(
        default_factory=dict,
        title="mapping of names and patches",
        description="Patches of the source, each of which switches a part of the search off, for `ireval alive`.",
        examples=['{reranker: {env: {RERANK: "0"}}}'],
    )
    watches: Watches = Field(
        (),
        description="Globs of other files that the suite depends on. With `--ireval-changed-since REF` it takes part "
        "if one of them or of its own files has changed. Default: it always takes part.",
        examples=['["../search/**", "!**/*.md"]'],
    )
    extends: Texts = Field(
        (),
        description="Files whose settings this file inherits; paths are relative to this file. Keys given here "
        "replace theirs; rules are added to theirs.",
        examples=["../common.yaml"],
    )
    matrix: dict[Text, Texts] = Field(
        default_factory=dict,
        title="mapping of names and values",
        description="Makes one suite for each value or combination; `{name}` in texts is replaced by the value.",
        examples=["{locale: [de, fr]}"],
    )
