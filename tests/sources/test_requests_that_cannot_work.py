"""Requests that are equal for all queries, name no column, or ask for too few documents are refused unasked."""

import pytest

SUITE = """\
ireval: 1
suite: shop
source:
  {source}
depth: 20
queries: queries.tsv
judgments: judgments.txt
rules:
  - threshold: {{nDCG@10: ">= 0.5"}}
"""
HTTP = "http: http://127.0.0.1:9/search\n  hits: hits\n  "
OPENSEARCH = "opensearch: http://127.0.0.1:9/shop\n  "
SOLR = "solr: http://127.0.0.1:9/solr/shop\n  "
VESPA = "vespa: http://127.0.0.1:9\n  "
SQL = "database: sqlite://\n  "
MATCH = "query: {match: {title: '{text}'}}"


@pytest.fixture
def shop(pytester):
    pytester.path.joinpath("queries.tsv").write_text("id\ttext\tsku\nq1\tred mug\tm1\nq2\tpan\tp1\n")
    pytester.path.joinpath("judgments.txt").write_text("q1 0 m1 1\nq2 0 p1 1\n")

    def write(source, **replaced):
        text = SUITE.format(source=source)
        for old, new in replaced.items():
            text = text.replace(old, new)
        pytester.path.joinpath("shop.ireval.yaml").write_text(text)

    pytester.write = write
    return pytester


def refusals(shop, ireval):
    """What ``ireval check`` and a run that only collects say of the suite."""
    check = ireval("check", "shop.ireval.yaml")
    collection = shop.runpytest("--ireval", "--collect-only", "-p", "no:cacheprovider")
    assert (check.code, collection.ret) == (1, pytest.ExitCode.INTERRUPTED)
    return check.out, collection.stdout.str()


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
def test_a_request_without_anything_of_the_query_is_refused(shop, ireval, source):
    shop.write(source)

    for said in refusals(shop, ireval):
        assert SAME_FOR_ALL.replace("{text}", ":text" if "sql:" in source else "{text}") in said
        assert ":3: source > " in said


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (HTTP + "params: {q: '{txt}'}", "{txt} is not a column of the queries (queries.tsv)"),
        (HTTP + "params: {q: '{text}'}\n  headers: {X-Shop: '{shop}'}", "{shop} is not a column of the queries"),
        (OPENSEARCH + "query: {match: {title: '{txt}'}}", "{txt} is not a column of the queries (queries.tsv)"),
        (SQL + "sql: select id from products where name = :txt", ":txt is not a column of the queries"),
    ],
)
def test_a_misspelt_placeholder_is_refused(shop, ireval, source, complaint):
    shop.write(source)

    for said in refusals(shop, ireval):
        assert complaint in said
        assert "allowed: depth, from, id, page, size, sku, text" in said
    assert "did you mean 'text'?" in said or "txt" not in source


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
def test_a_request_for_fewer_documents_than_the_depth_is_refused(shop, ireval, source, complaint):
    shop.write(source)

    for said in refusals(shop, ireval):
        assert f"{complaint}asks for fewer documents than the suite, whose depth is " in said
        assert "or write depth: " in said


def test_the_source_that_a_rule_compares_with_is_checked_too(shop, ireval):
    other = "no_regression: {metric: nDCG@10, tolerance: 2%, against: {opensearch: 'http://127.0.0.1:9/b', "
    other += "query: {match: {title: mug}}}}"
    shop.write(OPENSEARCH + MATCH, **{'threshold: {nDCG@10: ">= 0.5"}': other})

    for said in refusals(shop, ireval):
        assert "shop.ireval.yaml:10:" in said
        assert SAME_FOR_ALL in said


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
def test_requests_that_can_work_pass(shop, ireval, source):
    shop.write(source)

    check = ireval("check", "shop.ireval.yaml")
    collection = shop.runpytest("--ireval", "--collect-only", "-p", "no:cacheprovider")

    assert (check.code, collection.ret) == (0, 0), check.out


def test_a_query_without_text_is_found_before_it_is_asked(shop, ireval):
    shop.path.joinpath("queries.tsv").write_text("id\ttext\nq1\tred mug\nq2\t\n")
    shop.write(HTTP + "params: {q: '{text}'}")

    check = ireval("check", "shop.ireval.yaml")

    assert check.code == 1
    assert "query 'q2' has no text (queries.tsv), but the request needs {text}" in check.out
