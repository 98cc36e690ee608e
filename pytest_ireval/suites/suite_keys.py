"""The keys of a suite: each with its type, its default, and what it means."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, TypeAdapter, ValidationInfo, model_validator
from pydantic.json_schema import JsonSchemaValue

from pytest_ireval.errors import did_you_mean, name_in_full, shown
from pytest_ireval.results.evaluation import Dialect, Grades, MissingQueries, NoRelevant, Ties, Unjudged
from pytest_ireval.retrieval.formats.reader import Content
from pytest_ireval.suites import editor_types
from pytest_ireval.suites.options import (
    DayText,
    Flag,
    MetricTexts,
    Number,
    Options,
    PathText,
    ShareText,
    Text,
    Texts,
    Watches,
    Whole,
    typed,
)
from pytest_ireval.suites.reading import RELATIVE, registry_of, validated_source
from pytest_ireval.suites.scalars import UnfitError, place_of
from pytest_ireval.suites.suite import FileAsked, SourceAsked
from pytest_ireval.text_table import counted

CONTENTS = "contents"
"""The key in the context of a validation for contents of files that are not read from the disk."""


def _existing(value: Any, info: ValidationInfo) -> FileAsked:
    """The file at a path, which must exist."""
    if isinstance(value, FileAsked):
        return value
    path = TypeAdapter(PathText).validate_python(value, context=info.context)
    contents = (info.context or {}).get(CONTENTS)
    if not (os.path.exists(path) or (contents is not None and contents(path) is not None)):
        raise UnfitError(f"no such file: {value}", RELATIVE)
    return FileAsked(path, place_of(value))


def _format_of(content: Content) -> BeforeValidator:
    """A validator of names of installed formats of such content."""

    def known(value: Any, info: ValidationInfo) -> Any:
        readers = [each for each in registry_of(info).readers if each.holds == content]
        names = [name for each in readers for name in (each.name, *each.also)]
        if isinstance(value, str) and value.strip() not in names:
            available = sorted({name for name in names if ":" not in name} | {each.name for each in readers})
            several = name_in_full(value.strip(), names)
            allowed = f"available: {', '.join(available)}"
            if several:
                raise UnfitError(f"several plugins have a format {value!r} of {content}", several, allowed)
            raise UnfitError(f"unknown format {value!r} of {content}", did_you_mean(value, names), allowed)
        return value

    return BeforeValidator(known)


ExistingFile = Annotated[FileAsked, typed(_existing, editor_types.PATH)]
Source = Annotated[SourceAsked, typed(validated_source, editor_types.SOURCE)]


class FileKeys(Options):
    """A path, or a mapping with the path and other facts about the file."""

    file: ExistingFile = Field(description="The path, relative to the file it is written in.")

    @model_validator(mode="before")
    @classmethod
    def _path_alone(cls, value: Any) -> Any:
        return {"file": value} if isinstance(value, str) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """For editors: the path alone, or the mapping."""
        made = handler.resolve_ref_schema(handler(schema))
        mapping = dict(made)
        made.clear()
        made.update(anyOf=[editor_types.PATH, mapping])
        return made


class QueriesKeys(FileKeys):
    """The file of queries."""

    format: Annotated[Text, _format_of("queries")] = Field(
        "", description="The format of the file; needed only if two formats fit.", examples=["table"]
    )


class JudgmentsKeys(FileKeys):
    """The file of judgments, and how they count."""

    format: Annotated[Text, _format_of("judgments")] = Field(
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
        json_schema_extra={editor_types.WORDS: "mapping of grades and labels"},
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


class CollapseKeys(FileKeys):
    """Variants of one document: a path, or a mapping."""

    file: ExistingFile | None = Field(  # type: ignore[assignment]  # a pattern is given in its place
        None, description="A table with the columns document and group.", examples=["data/variants.tsv"]
    )
    pattern: Text = Field(
        "",
        description="In place of a file, a regular expression for whole ids with one group: the id of the document. "
        "Other ids stay as they are.",
        examples=['"(.+)#[0-9]+"'],
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> CollapseKeys:
        if (self.file is None) == (not self.pattern):
            raise UnfitError("collapse needs either a file or a pattern", "write collapse: {pattern: '(.+)#[0-9]+'}")
        try:
            groups = re.compile(self.pattern).groups if self.pattern else 1
        except re.error as error:
            raise UnfitError(f"{shown(self.pattern)} is not a regular expression: {error}") from None
        if groups != 1:
            complaint = f"{shown(self.pattern)} has {counted(groups, 'group')} in parentheses; one is needed"
            raise UnfitError(complaint, "put the part that is the id of the document in parentheses: (.+)#[0-9]+")
        return self


class DocumentsKeys(Options):
    """Facts about documents."""

    aliases: ExistingFile | None = Field(
        None, description="A table of renamed documents, with the columns from and to.", examples=["data/ids.tsv"]
    )
    collapse: CollapseKeys | None = Field(
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


class WaiverKeys(Options):
    """A query that comparisons leave out until a day."""

    query: Text = Field(description="The query's id.", examples=["q017"])
    until: DayText = Field(
        description="The last day of the waiver; after it, the waiver is red.", examples=["2027-04-01"]
    )
    reason: Text = Field(description="The reason, such as a ticket.", examples=['"SEARCH-9: supplier feed broken"'])


class SuiteKeys(Options):
    """A suite of rules that decide whether a change of rankings may land."""

    ireval: Literal["1"] = Field(
        description="The version of the suite format; this key marks a YAML file as a suite.", examples=["1"]
    )
    suite: Text = Field(
        description="The name of the suite: letters, digits, `_`, `.` and `-`; unique in a run.",
        examples=["product-search"],
    )
    owner: Text = Field(
        "",
        description="The team or person responsible for failures; part of the failure message.",
        examples=['"@search-team"'],
    )
    tags: Texts = Field(
        (), description="Marks of its tests: `pytest --ireval -m products`.", examples=["[products, nightly]"]
    )
    source: Source = Field(
        description="The source of the rankings, of exactly one kind.", examples=["{run: candidate.trec}"]
    )
    depth: Whole = Field(100, description="How many documents of each ranking are kept and scored.", examples=["20"])
    queries: QueriesKeys | None = Field(
        None,
        json_schema_extra={editor_types.WORDS: "path, or a mapping"},
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
    judgments: JudgmentsKeys | None = Field(
        None,
        json_schema_extra={editor_types.WORDS: "path, or a mapping"},
        description="The file of judgments, and how they count.",
        examples=["data/qrels.txt"],
    )
    documents: DocumentsKeys = Field(
        default_factory=lambda: DocumentsKeys.model_validate({}),
        description="Facts about documents: renamed ids, variants, and how many documents exist.",
        examples=["{aliases: data/ids.tsv}"],
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
    rules: tuple[Any, ...] = Field(
        (),
        description="The rules of the gate, as a list. Each rule is a mapping with one key, its kind.",
        json_schema_extra=editor_types.RULES,
        examples=['[{threshold: {nDCG@10: ">= 0.85"}}]'],
    )
    waive: tuple[WaiverKeys, ...] = Field(
        (),
        json_schema_extra={editor_types.WORDS: "list of mappings"},
        description="Queries that comparisons leave out until a given day. Every report lists them. After that day the "
        "waiver is red.",
        examples=['[{query: q017, until: 2027-04-01, reason: "SEARCH-9"}]'],
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
        json_schema_extra={editor_types.WORDS: "mapping of names and values"},
        description="Makes one suite for each value or combination; `{name}` in texts is replaced by the value.",
        examples=["{locale: [de, fr]}"],
    )
