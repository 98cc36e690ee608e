"""The JSON Schema of suites: what can be loaded fits it, what is plainly wrong does not, and every key is described."""

import datetime
import re

import jsonschema
import pytest
import yaml
from toy_kinds import BEGINNING, with_kinds

from pytest_ireval import load_registry
from pytest_ireval.options import RuleOptions
from pytest_ireval.plugins.plugin_types import rule
from pytest_ireval.suite.editor_schema import suite_schema
from pytest_ireval.suite.editor_types import FILLED_IN


@pytest.fixture(scope="module")
def schema():
    return suite_schema(load_registry())


def as_editors_read(text):
    """YAML with numbers and booleans."""
    return yaml.safe_load(text)


def wrong(schema, text):
    """Where the mistakes are."""
    found = jsonschema.Draft202012Validator(schema).iter_errors(as_editors_read(text))
    return sorted("/".join(map(str, error.path)) for error in found)


GOOD = [
    BEGINNING,
    """\
ireval: 1
suite: shop
owner: "@search-team"
tags: [products]
source: {run: [a.trec, b.trec], repeat: 2}
depth: 20
queries: {file: queries.tsv, format: table}
weight: searches_per_day
cluster: intent
judgments: {file: judgments.txt, relevant_from: 1, scale: {0: no, 3: perfect}, lock: true, unjudged: removed}
documents: {aliases: ids.tsv, size: 1000}
metrics: [nDCG@10, "nDCG(gain='exp')@10", ndcg_cut_10, NDCG@5, map, P_5, recall.10, 11pt_avg]
ties: input
rules:
  - threshold: {nDCG@10: ">= 0.85", "nDCG(gain='exp')@5": "> 0.7"}
  - threshold: {metric: nDCG@10, of: p10, min: 0.3, per: segment}
  - no_regression: {metric: nDCG@10, tolerance: 1%, where: {segment: tail, hits: 3}}
  - no_regression: {metric: nDCG@10, per: segment, tolerance: {head: 1%, default: {absolute: 0.01}}}
  - worsened: {metric: nDCG@10, by_more_than: 0.3, at_most: 2, on_fail: warn}
  - churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 10%, against: {run: a.trec}}
  - churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 10%, against: {python: "a:b"}}
  - expect:
      - {query: 7, document: 12, top: 1}
      - {query: q050, never: [banned-17], top: 10}
waive:
  - {query: q017, until: "2027-04-01", reason: "SEARCH-9"}
""",
    "ireval: 1\nextends: ../common.yaml\nrules: [{threshold: {AP: '>= 0.1'}}]\n",
    "depth: 5\n",
    BEGINNING + "depth: ${DEPTH}\nties: ${TIES:-trec}\nmatrix: {locale: [de, fr], size: [1, 2]}\n",
]


@pytest.mark.parametrize("text", GOOD)
def test_good_suites_fit(schema, text):
    assert wrong(schema, text) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("ireval: 1\n", [""]),
        (BEGINNING + "metricz: [AP]\n", [""]),
        (BEGINNING + "metrics: [nDGC@10]\n", ["metrics"]),
        (BEGINNING + "depth: 0\n", ["depth"]),
        (BEGINNING + "depth: deep\n", ["depth"]),
        (BEGINNING + "ties: tre\n", ["ties"]),
        (BEGINNING + "judgments: {fil: a}\n", ["judgments"]),
        (BEGINNING + "rules: [{no_regression: {metric: AP, tolerance: 1}}]\n", ["rules/0/no_regression/tolerance"]),
        (BEGINNING + "rules: [{no_regression: {metric: AP, toleranc: 1%}}]\n", ["rules/0/no_regression"] * 2),
        (BEGINNING + "rules: [{threshold: {nDCG@10: 0.85}}]\n", ["rules/0/threshold/nDCG@10"]),
        (BEGINNING + "rules: [{expect: [{query: a, tpo: 1}]}]\n", ["rules/0/expect/0"]),
        (BEGINNING.replace("run:", "rum:"), ["source"]),
        (BEGINNING + "waive: [{query: a, until: soon, reason: x}]\n", ["waive/0/until"]),
    ],
)
def test_bad_suites_do_not_fit(schema, text, where):
    assert wrong(schema, text) == where


def test_it_is_a_schema(schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def properties(schema, path=""):
    """Every key that can be written, with its schema."""
    if isinstance(schema, dict):
        for name, each in schema.get("properties", {}).items():
            yield f"{path}/{name}", each
        for key, each in schema.items():
            yield from properties(each, f"{path}/{key}")
    elif isinstance(schema, list):
        for number, each in enumerate(schema):
            yield from properties(each, f"{path}/{number}")


def test_every_key_is_described(schema):
    known = schema["$defs"]

    def described(each):
        return each.get("description") or known.get(each.get("$ref", "").removeprefix("#/$defs/"), {}).get(
            "description"
        )

    assert [path for path, each in properties(schema) if not described(each)] == []


def test_nothing_of_ours_is_left_in_it(schema):
    text = str(schema)

    assert (FILLED_IN in text, "'title': 'Depth'" in text) == (False, False)


def test_editors_complete_names_of_metrics_with_what_they_are(schema):
    offered = {each["const"]: each["description"] for each in schema["$defs"]["metric"]["anyOf"] if "const" in each}

    assert {"nDCG", "nDCG@10", "P@10", "AP"} <= set(offered)
    assert "P" not in offered
    assert offered["RR"]
    assert "nDCG@10" in schema["$defs"]["ThresholdOptions"]["properties"]


@pytest.mark.more_metrics
def test_every_name_that_somebody_else_uses_is_one(schema, registry):
    pattern = next(each["pattern"] for each in schema["$defs"]["metric"]["anyOf"] if "pattern" in each)
    spelled = [re.sub(r"\{[^}]*\}", "10", name) for each in registry.metrics.values() for name in each.info.spellings]

    assert len(spelled) > 50
    assert [name for name in [*spelled, *map(str.upper, spelled)] if not re.search(pattern, name)] == []


def test_what_plugins_bring_is_in_it(registry):
    class PlainOptions(RuleOptions):
        limit: int
        when: datetime.date | None = None
        test: complex = 0j

    @rule(name="plain", options=PlainOptions)
    def plain(options, seen):
        """Plain types."""

    made = suite_schema(with_kinds(registry, [plain], registry.sources.values()))

    assert made["$defs"]["rule"]["properties"] == {
        "plain": {"$ref": "#/$defs/PlainOptions", "description": "Plain types."}
    }
    assert wrong(made, BEGINNING + "rules: [{plain: {limit: 3}}, {plain: {limit: '3'}}]\n") == []
