"""The table of known mistakes in suites. What is said of each is in tests/golden/known_mistakes, for reading."""

import re
from textwrap import indent

import pytest

from pytest_ireval import SuiteError, load_registry, load_suites

SUITE = {"ireval": "1", "suite": "shop", "source": "{run: c.trec}", "judgments": "judgments.txt"}
KEYS = """\
ireval: 2
suite:
suite: Käse & Co
suite: [a]
suite: shop.anchor
metricz: [AP]
partial: true
depth: 0
depth: inf
depth: 1_000
depth: deep
depth: [1]
owner: {a: b}
tags: [a, [b]]
tags: ['a b', skip, not]
metrics: []
metrics: {a: b}
metrics: [AP, ndgc@10]
metrics: [nDCG@]
metrics: [rbp]
metrics: [AP, nDCG@1000]
dialect: irmeasures
ties: tre
ties: {a: b}
queries: no.tsv
queries: [a]
queries: {fil: queries.tsv}
queries: {file: queries.tsv, format: tabel}
judgments:
judgments: {format: trec}
judgments: {file: judgments.txt, locked: true}
judgments: {file: judgments.txt, lock: maybe}
judgments: {file: judgments.txt, scale: {low: x}}
judgments: {file: judgments.txt, unjudged: remove}
documents: none
documents: {size: many}
documents: {spans: 50}
documents: {collapse: {}}
documents: {collapse: {pattern: '(a'}}
documents: {collapse: {pattern: a}}
waive: {query: q}
waive: [q]
waive: [{query: q, until: soon, reason: x}]
waive: [{query: q, until: 2027-02-30, reason: x}]
waive: [{query: q, until: 2027-04-01, reason: x}, {query: q, until: 2027-05-01, reason: y}]
weight: hits
cluster: intent
rules: churn
rules: [churn]
rules: [[]]
rules: [{}]
rules: [{thresholt: {AP: '> 0'}}]
rules: [{churn: , at_most: 1}]
extends: no.yaml
extends: {a: b}
matrix: [de]
matrix: {locale: [de, de]}
matrix: {the locale: [d/e]}
matrix: {locale: [de, fr]}
watches: []
watches: ['!docs/**']"""
RULES = """\
threshold: 5
threshold: {}
threshold: {nDCG@10: 0.85}
threshold: {nDCG@10: '>= 85'}
threshold: {nDCG@10: '>= 10ms'}
threshold: {nDCG@10: '>= high', RRR: '> 0'}
threshold: {nDCG@10: '>= 0.5', nDCG@010: '>= 0.6'}
threshold: {nDCG@10: '>= 0.5', min: 0.2}
threshold: {nDCG@10: '>= 0.5', against: baseline}
threshold: {nDCG@10: '>= 0.5', on_fail: wrn}
threshold: {nDCG@10: '>= 0.5', min_queries: 0}
threshold: {nDCG@10: '>= 0.5', where: tail}
threshold: {nDCG@10: '>= 0.5', per: segment}
threshold: {metric: nDCG@10}
threshold: {metric: nDCG@10, of: p101, min: 0.5}
threshold: {metric: nDCG@10, min: 0.5, max: 0.3}
no_regression:
no_regression: {metric: nDCG@10, toleranc: 1%}
no_regression: {metric: 'P@[5, 10]', tolerance: 1%}
no_regression: {metric: P@1000, tolerance: 1%}
no_regression: {metric: nDCG@10, tolerance: 1}
no_regression: {metric: nDCG@10, tolerance: -1%}
no_regression: {metric: nDCG@10, tolerance: x%}
no_regression: {metric: nDCG@10, tolerance: {}}
no_regression: {metric: nDCG@10, tolerance: {absolut: 0.01}}
no_regression: {metric: nDCG@10, tolerance: {absolute: 1%}}
no_regression: {metric: nDCG@10, tolerance: {absolute: 2}}
no_regression: {metric: nDCG@10, tolerance: {head: 1%}}
no_regression: {metric: nDCG@10, tolerance: {head: 1%, tail: 3}, per: segment}
no_regression: {metric: nDCG@10, tolerance: 1%, hard_limit: 5%, decide_by: observed}
no_regression: {metric: nDCG@10, tolerance: 10%, hard_limit: 5%}
no_regression: {metric: nDCG@10, tolerance: 1%, weighted: maybe}
no_regression: {metric: nDCG@10, tolerance: 1%, against: yesterday}
no_regression: {metric: nDCG@10, tolerance: 1%, against: {run: c.trec, fromat: trec}}
no_regression: {metric: nDCG@10, tolerance: 1%, against: {run: []}}
equivalent: {metric: nDCG@10, tolerance: 0%}
worsened: {metric: nDCG@10, by_more_than: x, at_most: 101%}
worsened: {metric: nDCG@10, by_more_than: 0.3, at_most: 2.5}
churn: {overlap: nDCG@10, below: 0.8, at_most: 10%}
churn: {overlap: RBO(p=0.9), below: 1.2, at_most: 10%}
churn: {overlap: RBO(p=0.9), below: 0.5, at_most: 100%}
churn: {overlap: RBO(p=0.9), below: 0.5, at_most:1}
expect: []
expect: {query: q1}
expect: [{query: q1}]
expect: [{query: q1, document: d1, never: [d2]}]
expect: [{query: q1, order: [d1, d1]}]
expect: [{query: '', document: d1}, 5, {query: q1, document: d1, tpo: 1}]
expect: [{document: d1}, {query: q1, where: {a: b}, document: d1}, {query: q1, share: '>= 1%', document: d1}]
expect: [{query: q1, total: '>= 0'}, {query: q1, total: '<= 1.5'}, {query: q1, total: '> 5ms'}, {query: q1, total: 3}]
expect: [{share: '<= 5%', total: '<= 0'}, {share: 95%, total: '> 0'}, {query: q1, total: '> 0', top: 3}]
expect: {file: no.csv}
expect: {file: no.csv, top: 3}"""
SOURCES = """\
c.trec
{rum: c.trec}
{run: c.trec, python: a:b}
{run: [c.trec, d.trec]}
{run: }
{run: c.trec, repeat: 1.5}
{python: shop}
{python: 'a:b', timeuot: 3s}
{python: 'a:b', timeout: 5}
{command: []}
{http: 'http://x/{text}', hits: a, rate: 0, method: GETT}
{http: 'http://x/{text}', headers: [a]}
{elasticsearch: x, query: {match: {a: '{text}'}}}
{sql: select 1, database: 'sqlite:///x'}"""


def write(name, value):
    """A suite with one key of it changed, or with one more."""
    keys = {**SUITE, name: value}
    return "".join(f"{key}: {each}\n" for key, each in keys.items())


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("keys", {line: write(*line.split(":", 1)) for line in KEYS.splitlines()}),
        ("rules", {line: write("rules", f"\n  - {line}") for line in RULES.splitlines()}),
        ("sources", {line: write("source", line) for line in SOURCES.splitlines()}),
    ],
)
def test_known_mistakes_are_explained(shop, golden, name, table):
    registry = load_registry()
    said = []
    for line, text in table.items():
        with pytest.raises(SuiteError) as caught:
            load_suites(shop("shop.yaml", text.replace(":  ", ": ")), registry)
        message = re.sub("all [0-9]+ metrics", "all N metrics", str(caught.value))
        message = re.sub(r"\n.*may have it, is not installed", "", message)  # of the metrics beside the core
        said.append(f"{line}\n{indent(message, '    ')}\n")

    golden(f"{name}.txt", "\n".join(said))
