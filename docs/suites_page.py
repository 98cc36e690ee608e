"""Writes docs/suites.md from the models of suites and of installed kinds: ``python docs/suites_page.py``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pytest_ireval import load_registry
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.sources.live.options import LiveOptions
from pytest_ireval.suite.editor_schema import PlainSchema
from pytest_ireval.suite.options import ComparingOptions, RuleOptions, SourceOptions
from pytest_ireval.suite.suite_keys import (
    BaselineKeys,
    CollapseKeys,
    ComponentKeys,
    DocumentsKeys,
    JudgmentsKeys,
    QueriesKeys,
    SuiteKeys,
    WaiverKeys,
)

PAGE = Path(__file__).with_name("suites.md")
PARTS = Path(__file__).with_name("suites.md.in")
"""What is written by hand; ``<!-- name -->`` is where a table goes."""
EXAMPLES = {
    "threshold": '- threshold: {nDCG@10: ">= 0.85", Judged@10: ">= 0.70"}\n'
    "- threshold: {metric: nDCG@10, of: p10, min: 0.3, per: segment}",
    "no_regression": "- no_regression: {metric: nDCG@10, tolerance: 2.5%}\n"
    "- no_regression: {metric: nDCG@10, per: segment, tolerance: {head: 2%, default: 5%}, hard_limit: 25%}\n"
    "- no_regression: {metric: RR@10, where: {segment: tail}, tolerance: {absolute: 0.02}, on_fail: warn}",
    "equivalent": "- equivalent: {metric: nDCG@10, tolerance: 1%}\n"
    "- equivalent: {metric: RR@10, tolerance: {absolute: 0.01}, per: segment, on_inconclusive: warn}",
    "worsened": "- worsened: {metric: nDCG@10, by_more_than: 0.3, at_most: 2}\n"
    "- worsened: {metric: nDCG@10, by_more_than: 0.3, at_most: 5%, where: {segment: head}}\n"
    "- worsened: {metric: nDCG@10, by_more_than: 0.3, at_most: 2, decide_by: observed}",
    "churn": "- churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 10%}",
    "new_document": "- new_document: {at: 3, at_most: 5%}\n- new_document: {expected: [promo-17], on_fail: warn}",
    "expect": '- expect: [{query: q077, total: "<= 0"}, {where: {type: sku}, field: {sku: "{sku}"}, top: 1}]\n'
    "- expect: {file: merchandising.csv}",
    "run": "source: {run: runs/candidate.trec}",
    "python": 'source: {python: "shop.search:search"}',
    "command": "source: {command: [python, search.py]}",
    "http": 'source: {http: "https://search.example/api?q={text}", hits: results}',
    "elasticsearch": 'source: {elasticsearch: "https://search.example:9200/shop", query: {match: {title: "{text}"}}}',
    "opensearch": 'source: {opensearch: "https://search.example:9200/products", query: {match: {title: "{text}"}}}',
    "solr": 'source: {solr: "https://search.example/solr/products", body: {params: {qf: title}}}',
    "vespa": 'source: {vespa: "https://search.example", ranking: bm25}',
    "sql": 'source: {sql: "select id from shelf where title match :text", database: "sqlite:///shop.db"}',
}
"""Of rules and sources; a test loads them."""


def page() -> str:
    """The text of the page."""
    text = PARTS.read_text(encoding="utf-8")
    for name, lines in tables(load_registry()).items():
        text = text.replace(f"<!-- {name} -->", "\n".join(lines))
    return "<!-- Written by docs/suites_page.py; edit docs/suites.md.in, or the models' descriptions. -->\n" + text


def tables(registry: Registry) -> Mapping[str, list[str]]:
    """What is generated, by the name of its place."""
    return {
        "keys": list(_table(SuiteKeys)),
        "queries": list(_table(QueriesKeys)),
        "judgments": list(_table(JudgmentsKeys)),
        "documents": list(_table(DocumentsKeys)),
        "collapse": list(_table(CollapseKeys)),
        "baseline": list(_table(BaselineKeys)),
        "component": list(_table(ComponentKeys)),
        "waive": list(_table(WaiverKeys)),
        "every rule": list(_table(RuleOptions)),
        "every comparing rule": list(_table(ComparingOptions, RuleOptions)),
        "every source": list(_table(SourceOptions)),
        "every live source": list(_table(LiveOptions, SourceOptions)),
        "rules": list(_kinds(registry.rules.values(), RuleOptions)),
        "sources": list(_kinds(registry.sources.values(), SourceOptions)),
    }


def _kinds(kinds: Iterable[Any], shared: type[BaseModel]) -> Iterator[str]:
    """All kinds of rules or of sources; a row that an earlier kind has, too, only points there."""
    first: dict[str, str] = {}
    for kind in kinds:
        for line in _kind(kind, shared):
            is_long_row = line.startswith("| `") and len(line.split()) > 12
            known = first.setdefault(line, kind.name) if is_long_row else kind.name
            yield line if known == kind.name else f"{line[: line.rindex(' | ')]} | As in `{known}`. |"


def _kind(kind: Any, shared: type[BaseModel]) -> Iterator[str]:
    yield f"### `{kind.name}`\n"
    yield kind.summary
    if getattr(kind.options, "compares", False):
        yield "It compares with a baseline."
    yield ""
    if kind.name in EXAMPLES:
        yield f"```yaml\n{EXAMPLES[kind.name]}\n```\n"
    if kind.name == "opensearch":
        yield "It takes the options of `elasticsearch`.\n"
        return
    shared = next((each for each in (ComparingOptions, LiveOptions) if issubclass(kind.options, each)), shared)
    yield from _table(kind.options, shared)
    for name, schema in _schema(kind.options).get("$defs", {}).items():
        yield f"\nEach {name.lower()}:\n"
        yield from _rows(schema)
    yield ""


def _table(model: type[BaseModel], without: type[BaseModel] | None = None) -> Iterator[str]:
    """The keys of a model, but those of another."""
    return _rows(_schema(model), set(without.model_fields) if without else set())


def _schema(model: type[BaseModel]) -> Mapping[str, Any]:
    return model.model_json_schema(schema_generator=PlainSchema)


def _rows(schema: Mapping[str, Any], left_out: set[str] = frozenset()) -> Iterator[str]:  # type: ignore[assignment]
    required = schema.get("required", ())
    found = {key: each for key, each in schema.get("properties", {}).items() if key not in left_out}
    if not found:
        return
    with_examples = any("examples" in each for each in found.values())
    yield "| key | value | unless given | meaning |" + (" example |" if with_examples else "")
    yield "| --- | --- | --- | --- |" + (" --- |" if with_examples else "")
    for key, each in found.items():
        default = "must be given" if key in required else _default(each.get("default"))
        meaning = each.get("description", "").replace("``", "`").replace("|", "\\|")
        example = (
            f" `{each['examples'][0]}` |" if with_examples and "examples" in each else " |" if with_examples else ""
        )
        yield f"| `{key}` | {_words(each)} | {default} | {meaning} |{example}"
    if isinstance(schema.get("additionalProperties"), dict):
        yield "| any metric | bound | | Short form: the metric and its bound. |"


def _default(value: Any) -> str:
    if value in (None, "", [], {}) or isinstance(value, dict):
        return ""
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


def _words(schema: Mapping[str, Any]) -> str:
    """What such a value is called."""
    if "title" in schema:
        return str(schema["title"])
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return ", or a ".join(dict.fromkeys(_words(each) for each in schema["anyOf"]))
    kind = schema.get("type", "object")
    if kind == "integer" and "minimum" in schema:
        return f"whole number from {schema['minimum']}"
    words = {"string": "text", "array": "list", "object": "mapping", "boolean": "true or false"}
    return "path" if schema.get("format") == "path" else words.get(kind, kind)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
