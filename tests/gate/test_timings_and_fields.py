"""Timings of queries and fields of documents in a baseline: they stay what they were when they were accepted."""

import json

import pytest
from suite_files import accept_suites

from pytest_ireval import load_suite, run_gate
from pytest_ireval.baseline.reading import read_baseline

SHARE = "Share(better='lower', field='stock', value='no')@2"
NO_REGRESSION = '  - no_regression: {{metric: "{}", tolerance: {{absolute: 0.01}}, on_fail: fail}}\n'
SUITE = f"""\
ireval: 1
suite: log
source: {{run: rankings.json, timings: times.tsv}}
depth: 2
queries: queries.tsv
documents: {{fields: products.csv}}
rules:
{NO_REGRESSION.format("Latency")}{NO_REGRESSION.format(SHARE)}"""
WAIVE = "waive: [{query: q0, until: 2027-04-01, reason: feed}]\nrules:"
QUERIES = [f"q{number}" for number in range(8)]


class Log:
    """Queries with times, and products with fields."""

    def __init__(self, shop):
        self.path, self.run = shop.path, shop.run
        for name in ("judgments.txt", "shop.ireval.yaml", "rankings.txt"):
            (self.path / name).unlink()
        self.rankings = {query: [f"{query}-{letter}" for letter in "abc"] for query in QUERIES}
        self.times = dict.fromkeys(QUERIES, 10)
        self.gone, self.sign = set(), "-"
        self.write(SUITE)

    def write(self, suite):
        def table(head, rows):
            return f"{head}\n" + "".join("\t".join(map(str, row)) + "\n" for row in rows)

        documents = [f"{query}{self.sign}{letter}" for query in QUERIES for letter in "abc"]
        files = {
            "queries.tsv": table("id\ttext", ((query, f"words {query}") for query in QUERIES)),
            "times.tsv": table("query\tms", self.times.items()),
            "rankings.json": json.dumps(self.rankings),
            "products.csv": "id,stock\n"
            + "".join(f"{each},{'no' if each in self.gone else 'yes'}\n" for each in documents),
            "log.ireval.yaml": suite,
        }
        for name, text in files.items():
            (self.path / name).write_text(text)

    def accept(self, suite=SUITE, reason=""):
        self.write(suite)
        accept_suites(self.path / "log.ireval.yaml", reason)

    def gate(self, suite=SUITE):
        """The outcomes of the rules, by metric."""
        self.write(suite)
        return run_gate(load_suite(self.path / "log.ireval.yaml"))

    def stored(self, what):
        return getattr(read_baseline(self.path / "baselines", "log"), what)


@pytest.fixture
def log(shop):
    return Log(shop)


def verdicts(result):
    return [outcome.verdict for outcome in result.outcomes if outcome.id.startswith("no_regression")]


def test_a_waived_query_keeps_its_timings_and_fields(log):
    log.accept()
    log.times |= {"q0": 900, "q1": 9}
    log.gone = {"q0-a", "q0-b"}
    log.accept(SUITE.replace("rules:", WAIVE), "waived")

    assert log.stored("timings") == {query: [0.01 if query != "q1" else 0.009] for query in QUERIES}
    assert log.stored("fields")["q0-a"] == {"stock": "yes"}
    red = log.gate()
    assert verdicts(red) == ["fail", "fail"]
    assert red.cause.timings
    assert red.cause.fields
    assert not any("gone_documents" in note for note in red.notes)

    log.times["q0"], log.gone = 10, set()
    green = log.gate()
    assert verdicts(green) == ["pass", "pass"]
    assert green.cause.nothing

    products = (log.path / "products.csv").read_text()
    (log.path / "products.csv").write_text("".join(line for line in products.splitlines(True) if "q3-a" not in line))
    assert run_gate(load_suite(log.path / "log.ireval.yaml")).cause.fields


def test_a_waived_query_keeps_its_documents_under_their_current_names(log):
    log.rankings["q1"] = ["q0-a", "q1-b"]
    log.accept()
    renamed = SUITE.replace("products.csv}", "products.csv, aliases: aliases.tsv}")
    names = (f"{query}-{letter}\t{query}/{letter}\n" for query in QUERIES for letter in "abc")
    (log.path / "aliases.tsv").write_text("old\tnew\n" + "".join(names))
    log.rankings = {query: [each.replace("-", "/") for each in ids] for query, ids in log.rankings.items()}
    log.sign, log.gone = "/", {"q0/a"}
    log.accept(renamed.replace("rules:", WAIVE), "sold out")

    assert log.stored("fields")["q0/a"] == {"stock": "no"}  # q1 ranks it, too
    assert "q0-a" not in log.stored("fields")
    assert verdicts(log.gate(renamed.replace("rules:", WAIVE))) == ["pass", "pass"]


def test_data_that_a_waived_query_never_had_cannot_be_kept(log):
    no_times = "".join(line for line in SUITE.splitlines(keepends=True) if "Latency" not in line)
    log.accept(no_times)
    log.times["q0"] = 900
    log.write(SUITE.replace("rules:", WAIVE))

    refused = log.run("--ireval-update", "--ireval-reason", "new metric").stdout.str()
    assert "waived queries keep what is stored ('q0'), but the baseline holds no timings, which Latency" in refused
    log.accept(SUITE, "new metric")
    assert verdicts(log.gate(SUITE.replace("rules:", WAIVE))) == ["pass", "pass"]


ASKED_TWICE = """
import itertools
from pytest_ireval import Answer

ASKED = itertools.count()


def search(queries):
    number = next(ASKED) % 2
    ids = [query for query in queries if number == 0 or query != LATE]
    stock = {query: "no" if number and query == DIFFERENT else "yes" for query in ids}
    fields = {f"{query}-a": {"stock": stock[query], "views": number} for query in ids}
    return Answer({query: [f"{query}-a"] for query in ids}, timings=dict.fromkeys(ids, 0.01), fields=fields)
"""


@pytest.mark.parametrize(("late", "different", "verdict"), [("", "", "pass"), ("q3", "", "pass"), ("", "q2", "error")])
def test_answers_may_differ_in_all_but_the_fields_that_metrics_use(log, late, different, verdict):
    module = f"asked_twice_{late}{different}"  # one module per name, for all tests of this process
    (log.path / f"{module}.py").write_text(f"LATE, DIFFERENT = {late!r}, {different!r}\n{ASKED_TWICE}")
    suite = SUITE.replace(
        "{run: rankings.json, timings: times.tsv}", f"{{python: '{module}:search', mode: all, repeat: 2}}"
    )
    suite = suite.replace("documents: {fields: products.csv}", "missing_queries: ignore")
    log.write(suite)
    if not different:
        accept_suites(log.path / "log.ireval.yaml")

    result = log.gate(suite)
    assert set(verdicts(result)) == {verdict}
    if different:
        assert (
            "log.ireval.yaml:3:10: the answers differ in fields that metrics use: "
            "'stock' of document 'q2-a' ('yes' and 'no')"
        ) in result.outcomes[0].headline
    else:
        assert log.stored("timings")["q3"] == [0.01, None if late else 0.01]


def test_dates_in_parquet_can_be_accepted(log):
    arrow = pytest.importorskip("pyarrow")
    from datetime import date

    from pyarrow import parquet

    ids = [document for ranking in log.rankings.values() for document in ranking]
    days = [date(2026, 1, 1)] * len(ids)
    parquet.write_table(arrow.table({"id": ids, "day": days}), log.path / "products.parquet")
    suite = SUITE.replace("products.csv", "products.parquet").replace(SHARE, "Age(field='day', on='2026-01-11')@2")
    log.accept(suite)

    result = log.gate(suite)
    assert verdicts(result) == ["pass", "pass"]
    assert log.stored("fields")["q0-a"] == {"day": "2026-01-01"}


SESSIONS = [(query, f"s{number // 2}", number % 2 + 1) for number, query in enumerate(QUERIES)]


def test_sessions_that_vanish_are_an_error_unless_all_their_queries_are_waived(log):
    suite = SUITE.replace(", timings: times.tsv", "").split("documents:")[0]
    suite += "judgments: judgments.txt\nrules:\n  - no_regression: {metric: SessionDCG@2, tolerance: 1%}\n"
    (log.path / "judgments.txt").write_text("".join(f"{query} 0 {query}-a 1\n" for query in QUERIES))

    def gate(rows, suite=suite):
        log.write(suite)
        lines = ("\t".join(map(str, (query, "words", *rest))) + "\n" for query, *rest in rows)
        (log.path / "queries.tsv").write_text("id\ttext\tsession\tposition\n" + "".join(lines))
        return run_gate(load_suite(log.path / "log.ireval.yaml"))

    gate(SESSIONS)
    accept_suites(log.path / "log.ireval.yaml")
    lost = gate([(query, "" if session == "s3" else session, at) for query, session, at in SESSIONS])

    assert verdicts(lost) == ["error"]
    assert "1 of 4 sessions have no SessionDCG@2 any more: 's3'" in lost.outcomes[1].headline
    waived = ", ".join(f"{{query: {query}, until: 2027-04-01, reason: feed}}" for query in ("q6", "q7"))
    assert verdicts(gate(SESSIONS, suite.replace("rules:", f"waive: [{waived}]\nrules:"))) == ["pass"]


STOCKED = """
from pytest_ireval import hookimpl, per_query_metric


@per_query_metric(
    name="Stocked", needs=("documents", "fields"), range=(0, 1), judged=False, no_relevant=0.0, empty=0.0{uses}
)
def stocked(ranking):
    return float(all(fields["stock"] == "yes" for fields in ranking.fields))


@hookimpl
def ireval_metrics():
    return [stocked]
"""


@pytest.mark.parametrize(
    ("uses", "length", "is_noted"),
    [("", 20_000, True), ("", 20, False), (', uses=lambda arguments: ("stock",)', 20_000, False)],
)
def test_whole_bodies_in_a_baseline_are_noted(log, uses, length, is_noted):
    (log.path / "conftest.py").write_text(STOCKED.format(uses=uses))
    log.write(SUITE.partition("rules:")[0] + 'rules:\n  - threshold: {Stocked: ">= 0"}\n')
    products = (log.path / "products.csv").read_text().splitlines()
    rows = [f"{products[0]},body", *(f"{line},{'x' * length}" for line in products[1:])]
    (log.path / "products.csv").write_text("\n".join(rows) + "\n")

    result = log.run("--ireval-update-new")
    printed = " ".join(result.stdout.str().split())

    assert result.ret == 0
    said = "the baseline keeps 0.3 MB of fields of documents: Stocked does not say which fields to keep; declare uses="
    assert (said in printed) == is_noted
