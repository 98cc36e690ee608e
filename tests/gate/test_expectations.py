"""Expectations: documents, fields and numbers of documents, of a query or of many, in suites and tables."""

import sys
from pathlib import Path

import pytest
from suite_files import outcomes_by_id, run_suite, write_judgments, write_queries, write_rankings, write_suite

from pytest_ireval import SuiteError, load_suite, run_gate
from pytest_ireval.gate.planning import plan_checks
from pytest_ireval.gate.queries_and_judgments import read_suite_queries
from pytest_ireval.gate.run import make_plan
from pytest_ireval.plugins.manager import installed_registry

SEARCH = """
from pytest_ireval import Answer

SKUS = {"a": "1", "b": ["2", "3"], "c": 4.0, "d": "5"}
LISTS = {"red mug": "abc", "blue mug": "bca", "tent": "", "pan": "dcba"}
TOTALS = {"red mug": 120, "blue mug": {"value": 10000, "relation": "gte"}, "tent": {"numFound": 0}}

def search(text):
    documents = list(LISTS[text])
    fields = {each: {"sku": SKUS[each]} for each in documents}
    return Answer(documents, totals=TOTALS.get(text), fields=fields)
"""
IDS = ("q1", "q2", "q3", "q4")


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Check one expectation: its verdict and headline. The source has a total for all but the last query."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop_search.py").write_text(SEARCH)
    columns = {"text": ["red mug", "blue mug", "tent", "pan"], "type": ["sku", "sku", "none", "pan"]}
    write_queries(tmp_path / "queries.tsv", IDS, **columns, sku=["1", "3", "", "5"])

    def run(expectation, **keys):
        keys = {"source": "{python: shop_search:search}", "queries": "queries.tsv", "depth": 4, **keys}
        result = run_suite(tmp_path, f"expect: [{expectation}]", judgments=None, **keys)
        assert not result.error, result.error
        return result.outcomes[1]

    yield run
    sys.modules.pop("shop_search", None)


@pytest.mark.parametrize(
    ("expectation", "headline"),
    [
        ("{query: q1, any_of: [c, d], top: 3}", "c #3, d not in the top 3 for query 'q1' (expected one of them"),
        ("{query: q1, all_of: [c, a]}", "c #3, a #1 for query 'q1' (expected all in the top 4)"),
        ("{query: red mug, document: a, top: 1}", "a is at #1 for query 'q1'"),
        ("{query: q1, total: '>= 120'}", "120 documents for query 'q1' (expected >= 120)"),
        ("{query: q2, total: '> 9999'}", "10,000 or more documents for query 'q2' (expected > 9999)"),
        ("{query: q3, total: '<= 0'}", "no document for query 'q3' (expected <= 0)"),
        ("{query: q4, total: '>= 3'}", "4 or more documents for query 'q4' (expected >= 3)"),
        ("{query: q4, field: {sku: '4'}, top: 2}", "sku=4 is at #2 for query 'q4' (expected in the top 2)"),
        ("{where: {type: sku}, field: {sku: '{sku}'}, top: 2}", "sku={sku} in the top 2: 2 of 2 queries with type=sku"),
        ("{total: '>= 1', share: '>= 75%'}", "total >= 1: 3 of 4 queries (75%, expected >= 75%)"),
        ("{where: {type: [sku, pan]}, never: [x]}", "never x in the top 4: 3 of 3 queries with type=sku|pan"),
    ],
)
def test_an_expectation_that_holds_passes(check, expectation, headline):
    outcome = check(expectation)

    assert (outcome.verdict, outcome.warning, outcome.broken) == ("pass", False, False), outcome
    assert outcome.headline.startswith(headline)


@pytest.mark.parametrize(
    ("expectation", "headline"),
    [
        ("{query: q1, any_of: [c, d], top: 2}", "c not in the top 2, d not in the top 2 for query 'q1'"),
        ("{query: q1, all_of: [a, d]}", "a #1, d not in the top 4 for query 'q1' (expected all in the top 4)"),
        ("{query: q1, total: '< 120'}", "120 documents for query 'q1' (expected < 120)"),
        ("{query: q2, total: '< 10000'}", "10,000 or more documents for query 'q2' (expected < 10000)"),
        ("{query: q3, total: '> 0'}", "no document for query 'q3' (expected > 0)"),
        ("{query: q4, total: '<= 3'}", "4 or more documents for query 'q4' (expected <= 3)"),
        ("{query: q3, field: {sku: '4'}}", "sku=4 is not listed for query 'q3' (expected in the top 4)"),
        ("{where: {type: sku}, field: {sku: '{sku}'}, top: 1, share: '>= 51%'}", None),
        ("{where: {type: [sku, none]}, total: '>= 1'}", "total >= 1: 2 of 3 queries with type=sku|none (66.7%, expect"),
    ],
)
def test_an_expectation_that_is_broken_fails(check, expectation, headline):
    outcome = check(expectation)

    assert outcome.verdict == ("pass" if headline is None else "fail"), outcome
    assert headline is None or outcome.headline.startswith(headline)


def test_of_many_queries_the_broken_ones_are_listed_with_what_they_have(check):
    outcome = check("{where: {type: [sku, pan]}, document: a, top: 1, share: '>= 90%'}")

    assert outcome.id == "expect::a.type-sku-pan"
    assert outcome.headline == "a in the top 1: 1 of 3 queries with type=sku|pan (33.3%, expected >= 90%)"
    assert [(each.query, each.note) for each in outcome.queries] == [("q2", "a is at #3"), ("q4", "a is at #4")]
    assert outcome.numbers == {"queries": 3, "held": 1, "share": 1 / 3}


def test_a_share_that_is_met_exactly_holds(check):
    assert check("{document: a, top: 1, share: '>= 25%'}").verdict == "pass"
    assert check("{document: a, top: 1, share: '>= 25.1%'}").verdict == "fail"


@pytest.mark.parametrize(
    ("expectation", "complaint"),
    [
        ("{query: q2, total: '<= 20000'}", "query 'q2' has 10,000 or more documents, so it is unknown whether there"),
        ("{query: q2, total: '>= 20000'}", "query 'q2' has 10,000 or more documents, so it is unknown whether there"),
        ("{query: q4, total: '<= 4'}", "query 'q4' has 4 or more documents, so it is unknown whether there are <= 4"),
        ("{where: {type: sku}, total: '<= 20000', share: '>= 1%'}", "query 'q2' has 10,000 or more documents"),
        ("{query: q1, field: {skuu: '1'}}", "no document of the answers has a field 'skuu'"),
        ("{query: q1, document: a, top: 9}", "looks at the first 9 documents, but the suite keeps only 4 (depth)"),
    ],
)
def test_what_cannot_be_known_is_an_error_and_no_verdict(check, expectation, complaint):
    outcome = check(expectation)

    assert outcome.verdict == "error"
    assert outcome.headline.startswith(complaint)


def test_a_query_that_was_not_answered_has_no_total(check, tmp_path):
    text = SEARCH.replace("    documents = list", "    failed = {'q3': 'timeout'}\n    documents = list")
    (tmp_path / "shop_search.py").write_text(text.replace("fields=fields)", "fields=fields, failed=failed)"))

    outcome = check("{query: q3, total: '<= 0'}")

    assert (outcome.verdict, outcome.headline.partition(" for")[0]) == ("fail", "the source did not answer")


def test_a_known_failure_of_many_queries_is_reported_and_not_red(check):
    outcome = check("{where: {type: none}, total: '>= 1', known_failure: SHOP-1}")

    assert (outcome.verdict, outcome.broken, outcome.facts) == ("pass", True, ("known failure: SHOP-1",))


def test_waived_queries_do_not_count(check):
    waive = "[{query: q3, until: 2999-01-01, reason: SHOP-2}]"

    assert check("{total: '>= 1', share: '>= 100%'}", waive=waive).verdict == "pass"
    assert check("{where: {type: none}, total: '>= 1'}", waive=waive).verdict == "inconclusive"


def test_every_answer_of_a_repeated_source_must_hold(check, tmp_path):
    later = "    LISTS['tent'] = 'a' if 'asked' in SKUS else ''\n    SKUS['asked'] = '9' if text == 'tent' else '1'\n"
    (tmp_path / "shop_search.py").write_text(SEARCH.replace("    documents = list", f"{later}    documents = list"))

    outcome = check("{query: q3, never: [a]}", source="{python: shop_search:search, repeat: 2}")

    assert (outcome.verdict, outcome.headline.partition(" (")[0]) == ("fail", "a at #1 for query 'q3'")


@pytest.mark.parametrize(
    ("expectation", "keys", "complaint"),
    [
        ("{where: {typ: sku}, total: '>= 1'}", {}, "queries.tsv has no column 'typ'"),
        ("{where: {type: ski}, total: '>= 1'}", {}, "no query has type=ski"),
        ("{where: {type: sku}, field: {sku: '{sk}'}}", {}, "queries.tsv has no column 'sk'"),
        ("{where: {type: [sku, none]}, field: {sku: '{sku}'}}", {}, "the column sku is empty for 'q3', but field: sku"),
        ("{query: q9, total: '>= 1'}", {}, "query 'q9' is not in queries.tsv"),
        ("{query: twice, total: '>= 1'}", {"text": ["twice"] * 4}, "4 queries have the text 'twice'"),
        ("{query: q1, field: {sku: '1'}}", {"source": "{run: rankings.txt}"}, "field 'sku' is unknown: the source run"),
        (
            "{query: q1, field: {sku: '1'}}",
            {"source": "{http: 'http://localhost/?q={text}', hits: hits}"},
            "field 'sku' is unknown: the source http does not say where the answer has it",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_at_collection(check, tmp_path, expectation, keys, complaint):
    if text := keys.pop("text", None):
        write_queries(tmp_path / "queries.tsv", IDS, text=text, type=["sku"] * 4)
    write_rankings(tmp_path / "rankings.txt", {"q1": ["a"]})
    keys = {"source": "{python: shop_search:search}", "queries": "queries.tsv", "judgments": None, **keys}
    suite = load_suite(write_suite(tmp_path, f"expect: [{{where: {{type: sku}}, never: [x]}}, {expectation}]", **keys))

    with pytest.raises(SuiteError) as refused:
        make_plan(suite, installed_registry())

    (problem,) = refused.value.problems
    assert problem.complaint.startswith(complaint)
    assert problem.place == "shop.ireval.yaml:6:48"


def test_columns_of_fields_and_names_of_a_matrix_stand_side_by_side(check):
    outcome = check("{where: {type: '{kind}'}, field: {sku: '{sku}'}, top: 2}", matrix="{kind: [sku]}")

    assert (outcome.id, outcome.verdict) == ("expect::sku.type-sku", "pass")


def test_fields_may_come_from_a_file_of_documents(check, tmp_path):
    write_rankings(tmp_path / "rankings.txt", {query: ["a", "b"] for query in IDS})
    (tmp_path / "products.csv").write_text("id,sku\na,1\nb,3\n")
    keys = {"source": "{run: rankings.txt}", "documents": "{fields: products.csv}"}

    assert check("{where: {type: sku}, field: {sku: '{sku}'}, top: 2}", **keys).verdict == "pass"
    assert check("{where: {type: sku}, field: {sku: '{sku}'}, top: 1}", **keys).verdict == "fail"


TABLE = """\
query,document,never,all_of,top,total,known_failure
q1,a,,,1,,
red mug,,x|y z,,3,,
blue mug,,,c a,,,
q3,,,,,<= 0,
q4,a,,,1,,SHOP-3
"""


@pytest.fixture
def table(check, tmp_path):
    """Write a table of expectations, and run the suite that names it."""

    def run(text, name="merchandising.csv"):
        (tmp_path / "rules").mkdir(exist_ok=True)
        (tmp_path / "rules" / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        keys = {"source": "{python: shop_search:search}", "queries": "queries.tsv", "depth": 4, "judgments": None}
        suite = load_suite(write_suite(tmp_path, f"expect: {{file: rules/{name}}}", **keys))
        return suite, run_gate(suite)

    return run


def test_a_table_has_the_expectations_of_a_suite_each_with_its_line(table, tmp_path):
    suite, result = table(TABLE)

    found = outcomes_by_id(result)
    assert {each.verdict for each in result.outcomes} == {"pass"}
    assert [each.line for each in result.outcomes[1:]] == [2, 3, 4, 5, 6]
    assert found["expect::q3.total"].headline == "no document for query 'q3' (expected <= 0)"
    assert (found["expect::q4.a"].place, found["expect::q4.a"].broken) == ("rules/merchandising.csv:6", True)
    assert suite.files[1:] == (tmp_path / "rules" / "merchandising.csv",)


@pytest.mark.parametrize(
    "text",
    [
        TABLE.replace(",", ";"),
        TABLE.replace(",", "\t"),
        "\ufeff" + TABLE.replace("\n", ",,\r\n"),
        TABLE.replace("known_failure", '"Known Failure"').replace("SHOP-3", '"SHOP-3, and\nSHOP-4"'),
    ],
)
def test_a_table_may_be_as_spreadsheets_write_it(table, text):
    text = text.replace("known_failure,,", "known_failure")

    _, result = table(text)

    assert [outcome.verdict for outcome in result.outcomes] == ["pass"] * 6


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("query,document\nq1,a,b\n", ["rules/merchandising.csv:2: has 3 cells, not 2"]),
        ("query,documnet\nq1,a\n", ["rules/merchandising.csv:1: unknown column 'documnet'"]),
        ("document,top\na,1\n", ["rules/merchandising.csv:1: has no column query"]),
        ("query,document\n", ["rules/merchandising.csv: has no expectations"]),
        ("", ["rules/merchandising.csv:1: has no column query"]),
        (
            "query,top,document\nq1,x,a\nq1,1,\n",
            ["csv:2:1: 'x' is not a valid whole number", "csv:3:1: expects nothing"],
        ),
        ("where,total\nsegment,>= 1\n", ["rules/merchandising.csv:2: where: 'segment' is not name=value"]),
        ("where,total\ntype,>= 1\n", ["rules/merchandising.csv:2: where: 'type' is not name=value"]),
        ("query,document\nq1,a\nq1,a\n", ["csv:3:1: two rules would have the id expect::q1.a; the other is at rules"]),
        (
            "query,document\nq8,a\nteal mug,a\n",
            ["csv:2:1: query 'q8' is not in", "csv:3:1: query 'teal mug' is not in"],
        ),
        (
            'query,document\nq1,"a\n',
            ["rules/merchandising.csv:2: is not CSV: the quote opened in line 2 is never closed"],
        ),
        ("query,document\nq1,mug é\n".encode("latin-1"), ["rules/merchandising.csv: is not UTF-8"]),
    ],
)
def test_mistakes_of_a_table_name_its_file_and_line(table, text, problems):
    def check_names():
        suite, _ = table(text)
        plan_checks(suite, read_suite_queries(suite, installed_registry()))

    with pytest.raises(SuiteError) as refused:
        check_names()

    found = [f"{problem.place}: {problem.complaint}" for problem in refused.value.problems]
    assert len(found) == len(problems)
    assert all(wanted in text for wanted, text in zip(problems, found, strict=True)), found


def test_a_table_has_expectations_of_many_queries_too(table):
    rows = ["type=sku,sku={sku},2,,", "type=sku | sku=1,sku=1,1,,", ",,,>= 1,>= 75%"]

    _, result = table("\n".join(["where,field,top,total,share", *rows]))

    assert [outcome.headline for outcome in result.outcomes[1:]] == [
        "sku={sku} in the top 2: 2 of 2 queries with type=sku (100%, expected all)",
        "sku=1 in the top 1: 1 of 1 queries with type=sku, sku=1 (100%, expected all)",
        "total >= 1: 3 of 4 queries (75%, expected >= 75%)",
    ]


def test_a_missing_table_is_a_mistake_of_the_suite(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SuiteError, match=r"shop.ireval.yaml:5:20: rules > 1 > expect > file\n +no such file: no.csv"):
        load_suite(write_suite(tmp_path, "expect: {file: no.csv}", judgments=None, queries=None))


def test_a_query_without_an_answer_that_has_no_ranking_counts_as_answered_in_the_worst_way(tmp_path):
    write_judgments(tmp_path / "judgments.txt", {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"b": 0}})
    write_rankings(tmp_path / "rankings.txt", {"q1": ["a"], "q2": ["b", "c"]})

    result = run_suite(
        tmp_path, "threshold: {NoAnswer: '>= 0.5'}", "threshold: {FalseAnswers@10: '<= 1'}", missing_queries="zero"
    )

    found = outcomes_by_id(result)
    assert found["threshold::NoAnswer"].headline.startswith("NoAnswer is 0.0000")
    assert found["threshold::FalseAnswers_10"].headline.startswith("FalseAnswers@10 is 6.0000")


def test_the_example_holds_with_a_known_failure():
    suite = Path(__file__).parents[2] / "examples" / "expectations" / "shop.ireval.yaml"

    result = run_gate(load_suite(suite))

    assert (result.verdict, result.error) == ("pass", "")
    assert [each.id for each in result.outcomes if each.warning] == ["expect::light_bulb.L6-4a01ce"]
    assert {each.name: each.now for each in result.metrics} == {"NoAnswer": 1, "FalseAnswers@10": 0}


def test_a_bound_for_queries_without_an_answer_says_why_none_counts(tmp_path):
    write_judgments(tmp_path / "judgments.txt", {"q1": {"a": 1}})
    write_rankings(tmp_path / "rankings.txt", {"q1": ["a"]})

    result = run_suite(tmp_path, 'threshold: {NoAnswer: ">= 1"}', metrics="[NoAnswer]")

    headline = "no query of all counts: NoAnswer has no value, because it has a relevant document, or none judged"
    assert result.outcomes[1].verdict == "error"
    assert result.outcomes[1].headline == headline
