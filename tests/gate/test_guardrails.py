"""Guardrails need no judgments: a queries file, a source, metrics of fields of documents, and rules."""

import csv
import json

import pytest
from git_repository import commit_all, isolate_git, run_git
from suite_files import accept_suites, find_registry

from pytest_ireval import load_suite, run_gate
from pytest_ireval.errors import SuiteError

SHARE = "Share(better='lower', field='in_stock', value='false')@10"
MARGIN = "Mean(better='higher', discount='log2', field='margin')@10"
SUITE = f"""\
ireval: 1
suite: log
source: {{run: rankings.json}}
depth: 10
queries: queries.tsv
documents: {{fields: products.csv}}
rules:
  - threshold: {{Empty: "<= 0.01"}}
  - threshold: {{"{SHARE}": "<= 0.01"}}
  - no_regression: {{metric: "{SHARE}", tolerance: {{absolute: 0.01}}}}
  - no_regression: {{metric: "{MARGIN}", tolerance: {{absolute: 0.01}}}}
"""


class Log:
    """Queries of a log, products, and the search that a shop has."""

    def __init__(self, shop):
        self.path = shop.path
        self.run = shop.run
        for name in ("judgments.txt", "shop.ireval.yaml"):
            (self.path / name).unlink()
        self.queries = [f"q{number:04}" for number in range(40)]
        self.filtered, self.order, self.empty = True, 1, 0
        self.fields = {f"p{n}": {"in_stock": n % 5 != 0, "margin": n % 7 / 10} for n in range(1, 1000)}
        self.suite = SUITE
        self.write()

    def ranking(self, number):
        found = [f"p{(number * 37 + rank * 101) % 999 + 1}" for rank in range(20)]
        found = [each for each in found if int(each[1:]) % 5 or not self.filtered][:10]
        return [] if number < self.empty else [*found[: -self.order], *reversed(found[-self.order :])]

    def write(self):
        rows = "".join(f"{query}\twords of {query}\n" for query in self.queries)
        (self.path / "queries.tsv").write_text(f"id\ttext\n{rows}")
        lists = {query: self.ranking(number) for number, query in enumerate(self.queries)}
        (self.path / "rankings.json").write_text(json.dumps(lists))
        with (self.path / "products.csv").open("w", newline="") as file:
            names = dict.fromkeys(name for fields in self.fields.values() for name in fields)
            table = csv.DictWriter(file, ["id", *names])
            table.writeheader()
            table.writerows({"id": document, **fields} for document, fields in self.fields.items())
        (self.path / "log.ireval.yaml").write_text(self.suite)

    def gate(self):
        self.write()
        return run_gate(load_suite(self.path / "log.ireval.yaml"))

    def find_mistake(self):
        """What is said of a suite that makes no sense, with a conftest.py beside it."""
        path = self.path / "log.ireval.yaml"
        registry = find_registry(path)
        with pytest.raises(SuiteError) as error:
            run_gate(load_suite(path, registry), registry=registry)
        return str(error.value)

    def outcomes(self):
        """Those of rules."""
        inputs, *others = self.gate().outcomes
        assert inputs.id == "inputs"
        return others

    def accept(self, reason=""):
        accept_suites(self.path / "log.ireval.yaml", reason)


@pytest.fixture
def log(shop):
    return Log(shop)


def list_verdicts(result):
    return [outcome.verdict for outcome in result.outcomes]


def test_a_change_that_drops_the_stock_filter_is_red_and_names_the_queries(log):
    log.accept()
    log.order = 3
    assert set(list_verdicts(log.gate())) == {"pass"}  # other documents at the ranks 8 to 10

    log.filtered = False
    log.write()
    red = log.run()
    text = " ".join(red.stdout.str().split())

    assert red.ret == 1
    assert f"1 {SHARE} is 0.2" in text
    assert "rose by 0.2" in text
    assert 'q0007 "words of q0007" 0.000 -> 0.300' in text
    assert "log.ireval.yaml: 2 of 5 checks failed." in text


def test_empty_results_are_counted_and_queries_that_lose_their_value_are_an_error(log):
    log.accept()
    log.empty = 1
    result = log.gate()
    assert "Empty is 0.0250" in result.outcomes[1].headline
    assert f"{SHARE} has no value for 1 of 40 queries: none of its first documents has the field" in result.notes

    log.empty = 4
    share = log.outcomes()[2]

    assert share.verdict == "error"
    assert f"4 of 40 queries have no {SHARE} any more" in share.headline


def test_documents_without_the_field_are_an_error_unless_a_share_of_them_is_allowed(log):
    for document in log.ranking(0)[:3]:
        log.fields[document]["margin"] = ""
    log.fields[log.ranking(1)[0]]["in_stock"] = None
    margin = log.outcomes()[3]

    assert margin.verdict == "error"
    assert "6 of 400 documents at ranks 1 to 10 have no field 'margin' (1.5%)" in margin.headline
    assert "write lacking=0.015 to leave them out" in margin.headline

    log.suite = SUITE.replace("'margin')", "'margin', lacking=0.015)").replace("'false')", "'false', lacking=0.01)")
    result = log.gate()

    assert "error" not in list_verdicts(result)
    notes = " ".join(result.notes)
    assert "6 of 400 documents at ranks 1 to 10 have no field 'margin'; they are left out" in notes
    assert "2 of 400 documents at ranks 1 to 10 have no field 'in_stock'; they are left out" in notes
    assert "no document has 'false' in the field 'in_stock'; values there: 'true'" in notes


def test_what_is_missing_is_named(log):
    log.suite = SUITE.replace("field='margin'", "field='margn'")
    assert "no document has the field 'margn'" in log.outcomes()[3].headline
    log.suite = SUITE.replace("rules:", "metrics: [RBO]\nrules:")
    assert "RBO: no value, because it compares with the baseline, and there is no baseline yet" in log.gate().notes
    for old, new, complaint in (
        ("documents: {fields: products.csv}\n", "", "needs fields, and the source run returns only rankings"),
        (MARGIN, "Latency", "needs timings, and the source run returns only rankings"),
        ("better='higher', ", "", "no value of Mean(discount='log2', field='margin')@10 is better than another"),
        (MARGIN, "nDCG@10", "this rule needs judgments, but the suite names none"),
    ):
        log.suite = SUITE.replace(old, new)
        with pytest.raises(SuiteError) as error:
            log.gate()
        assert complaint in str(error.value)


def test_the_baseline_keeps_the_fields_and_is_scored_with_its_own(log):
    log.accept()
    for fields in log.fields.values():
        fields["in_stock"] = False  # of today's products none is in stock
    assert "rose by 1.0000" in log.outcomes()[2].headline

    log.fields = {document: {**fields, "price": 3} for document, fields in log.fields.items()}
    log.suite = SUITE.replace("field='margin'", "field='price'")
    assert "the baseline holds no field 'price' of documents, which Mean(better='higher'" in log.outcomes()[3].headline


def test_a_branch_that_lowers_its_baseline_is_seen_with_the_fields_of_both(log, monkeypatch):
    isolate_git(monkeypatch, log.path)
    log.suite = "".join(line for line in SUITE.splitlines(keepends=True) if "threshold" not in line)
    log.write()

    run_git(log.path, "init", "--quiet", "--initial-branch=main")
    log.accept()
    commit_all(log.path, "the first baseline")
    run_git(log.path, "checkout", "--quiet", "-b", "change")
    log.filtered = False
    log.write()
    log.accept("meant")
    for fields in log.fields.values():
        fields["in_stock"] = True  # today everything is in stock
    result = run_gate(load_suite(log.path / "log.ireval.yaml"), base="main", lowering_fails=True)
    (lowering,) = (outcome for outcome in result.outcomes if outcome.id == "lowering")

    assert lowering.verdict == "fail"
    assert f"{SHARE} 0.0000 -> 0.2" in lowering.headline


def test_other_rankings_of_a_rule_have_fields_too(log):
    log.suite = SUITE.replace("absolute: 0.01}}", "absolute: 0.01}, against: {run: old.json}}")
    (log.path / "old.json").write_text(json.dumps({query: log.ranking(n) for n, query in enumerate(log.queries)}))
    log.filtered = False

    assert list_verdicts(log.gate()) == ["pass", "pass", "fail", "fail", "pass"]


def test_guardrails_beside_judgments_score_every_query(log):
    (log.path / "judgments.txt").write_text(f"q0001 0 {log.ranking(1)[0]} 1\n")
    log.suite = SUITE.replace("rules:", "judgments: judgments.txt\nmetrics: [RR]\nrules:")
    log.filtered = False
    result = log.gate()
    figures = {metric.name: metric.now for metric in result.metrics}

    assert figures["RR"] is not None
    assert figures[SHARE] == pytest.approx(0.2, abs=0.05)
    assert sum(value is not None for value in result.queries.now[SHARE]) == 40


NEEDY = """
from pytest_ireval import hookimpl, per_query_metric


@per_query_metric(name="Needy", needs=("preferences", "queries", "sessions"), no_relevant=None)
def needy(ranking):
    '''1 if the better document is first, and the query is of the tail.'''
    (better, _), = ranking.preferences
    return ranking.documents[0] == better and ranking.columns["segment"] == "tail" and ranking.session == ("s", 1)


@hookimpl
def ireval_metrics():
    return [needy]
"""


def test_a_metric_of_a_plugin_gets_preferences_and_columns_of_queries(log):
    first, second = log.ranking(0)[:2]
    (log.path / "conftest.py").write_text(NEEDY)
    (log.path / "judgments.txt").write_text(f"q0000 0 {first} 1\n")
    (log.path / "pairs.csv").write_text(f"query,better,worse\nq0000,{first},{second}\n")
    log.queries = ["q0000"]
    log.suite = """\
ireval: 1
suite: log
source: {run: rankings.json}
queries: queries.tsv
judgments: {file: judgments.txt, preferences: pairs.csv}
rules: [{threshold: {Needy: ">= 1"}}]
"""
    log.write()
    lacking = log.find_mistake()
    (log.path / "queries.tsv").write_text("id\ttext\tsegment\tsession\tposition\nq0000\tx\ttail\ts\t1\n")
    path = log.path / "log.ireval.yaml"
    registry = find_registry(path)
    fine = run_gate(load_suite(path, registry), registry=registry)
    (log.path / "log.ireval.yaml").write_text(
        log.suite.replace(", preferences: pairs.csv", "").replace("queries: queries.tsv\n", "")
    )
    without = log.find_mistake()

    assert "Needy needs sessions, and queries.tsv lacks the column session or position" in lacking
    assert fine.verdict == "pass"
    assert "Needy needs preferences, and the suite names none" in without
    assert "Needy needs queries, and the suite names no queries" in without


def test_why_explains_a_value_of_the_suite(log, ireval, monkeypatch):
    log.filtered = False
    log.write()
    log.run()
    monkeypatch.chdir(log.path)
    shown = ireval("why", SHARE, "--suite", "log.ireval.yaml", "--query", "q0002").out

    assert "the rankings of the run of" in shown
    assert f"{SHARE} = 2 / 10 = 0.2000" in shown
