"""Requests that are equal for all queries, name no column, or ask for too few documents are refused unasked."""

import pytest
from suite_files import write_judgments, write_queries, write_suite

RULE = "threshold: {nDCG@10: '>= 0.5'}"
HTTP = "http: http://127.0.0.1:9/search\n  hits: hits\n  "
OPENSEARCH = "opensearch: http://127.0.0.1:9/shop\n  "
SOLR = "solr: http://127.0.0.1:9/solr/shop\n  "
VESPA = "vespa: http://127.0.0.1:9\n  "
SQL = "database: sqlite://\n  "
MATCH = "query: {match: {title: '{text}'}}"


@pytest.fixture
def check(tmp_path, monkeypatch, ireval):
    """Checks a suite with this source, and returns what ``ireval check`` says of it."""
    monkeypatch.chdir(tmp_path)

    def write_and_check(source, *rules, texts=("red mug", "pan")):
        write_queries(tmp_path / "queries.tsv", ["q1", "q2"], text=texts, sku=["m1", "p1"])
        write_judgments(tmp_path / "judgments.txt", {"q1": {"m1": 1}, "q2": {"p1": 1}})
        write_suite(tmp_path, *(rules or [RULE]), source=f"\n  {source}", depth=20, queries="queries.tsv")
        return ireval("check", "shop.ireval.yaml")

    return write_and_check


SAME_FOR_ALL = "every query gets the same request: it has neither {text} nor a column of the queries"


@pytest.mark.parametrize(
    "source",
    [
        HTTP + "params: {q: red mug, limit: '{depth}'}",
        HTTP + "body: {q: '{{text}}', from: '{from}', size: '{size}'}\n  page_size: 10",
        OPENSEARCH + "query: {match: {title: text}}",
        SOLR + "query: '*:*'",
        VESPA + "yql: select * from product where true",
        SQL + "sql: select id from products limit :depth",
    ],
)
def test_a_request_without_anything_of_the_query_is_refused(check, source):
    printed = check(source)

    assert printed.code == 1
    assert SAME_FOR_ALL.replace("{text}", ":text" if "sql:" in source else "{text}") in printed.out
    assert ":3: source > " in printed.out


def test_a_run_refuses_it_while_it_collects(check, tmp_path, pytester):
    check(SOLR + "query: '*:*'")

    result = pytester.runpytest("--ireval", "--collect-only", "-p", "no:cacheprovider", tmp_path)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert SAME_FOR_ALL in result.stdout.str()


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (HTTP + "params: {q: '{txt}'}", "{txt} is not a column of the queries (queries.tsv)"),
        (HTTP + "params: {q: '{text}'}\n  headers: {X-Shop: '{shop}'}", "{shop} is not a column of the queries"),
        (OPENSEARCH + "query: {match: {title: '{txt}'}}", "{txt} is not a column of the queries (queries.tsv)"),
        (SQL + "sql: select id from products where name = :txt", ":txt is not a column of the queries"),
    ],
)
def test_a_misspelt_placeholder_is_refused(check, source, complaint):
    printed = check(source)

    assert printed.code == 1
    assert complaint in printed.out
    assert "allowed: depth, from, id, page, size, sku, text" in printed.out
    assert "did you mean 'text'?" in printed.out or "txt" not in source


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (HTTP + "params: {q: '{text}', limit: '10'}", "limit: 10 "),
        ("http: 'http://127.0.0.1:9/search?q={text}&rows=10'\n  hits: hits", "rows: 10 "),
        (OPENSEARCH + "body: {query: {match: {title: '{text}'}}, size: 10}", "size: 10 "),
        (OPENSEARCH + "body: {knn: {field: v, query_vector: '{json:sku}', k: 10}}", "k: 10 "),
        (SOLR + "body: {limit: 10}", "limit: 10 "),
        (VESPA + "yql: select * from product where userQuery() limit 10", "limit: 10 "),
        (SQL + "sql: select id from products where name = :text order by price LIMIT 10", "limit: 10 "),
        (SQL + "sql: select id from products where name = :text fetch first 10 rows only", "limit: 10 "),
    ],
)
def test_a_request_for_fewer_documents_than_the_depth_is_refused(check, source, complaint):
    printed = check(source)

    assert printed.code == 1
    assert f"{complaint}asks for fewer documents than the suite, whose depth is " in printed.out
    assert "or write depth: " in printed.out


def test_the_source_that_a_rule_compares_with_is_checked_too(check):
    other = "no_regression: {metric: nDCG@10, tolerance: 2%, against: {opensearch: 'http://127.0.0.1:9/b', "
    other += "query: {match: {title: mug}}}}"
    printed = check(OPENSEARCH + MATCH, other)

    assert printed.code == 1
    assert "shop.ireval.yaml:10:" in printed.out
    assert SAME_FOR_ALL in printed.out


@pytest.mark.parametrize(
    "source",
    [
        HTTP + "params: {product: '{sku}', limit: '{depth}'}",
        HTTP + "params: {q: '{text}', limit: '10', page: '{page}'}\n  page_size: 10",
        HTTP + "body: {q: '{text}', filter: {limit: 3}}",
        OPENSEARCH + "query: {term: {sku: '{sku}'}}",
        OPENSEARCH + "body: {query: {match: {title: '{text}'}}, knn: {field: v, query_vector: '{json:sku}', k: 10}}",
        OPENSEARCH + "template: {id: search, params: {words: '{text}', size: '{depth}'}}",
        VESPA + "yql: select * from product where nearestNeighbor(v,q)\n  body: {'input.query(q)': 'embed(@query)'}",
        SQL + "sql: select id from (select id from products limit 5) where sku = :sku limit :depth",
    ],
)
def test_requests_that_can_work_pass(check, source):
    printed = check(source)

    assert printed.code == 0, printed.out


def test_a_query_without_text_is_found_before_it_is_asked(check):
    printed = check(HTTP + "params: {q: '{text}'}", texts=["red mug", ""])

    assert printed.code == 1
    assert "query 'q2' has no text (queries.tsv), but the request needs {text}" in printed.out
