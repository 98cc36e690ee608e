"""The source ``http``: requests to a server of our own over a real socket, and its answers as rankings."""

import gzip
import json
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_ireval import SourceError, SuiteError, load_suite, run_gate
from pytest_ireval.masking import mask_text, register_secret
from pytest_ireval.sources.answers import fetch_answers
from pytest_ireval.sources.live import client, fetching, options
from pytest_ireval.suite import yaml_tree
from pytest_ireval.suite.scalars import File


@pytest.fixture
def waits(monkeypatch):
    """The seconds that the source would have waited between attempts."""
    waited = []
    monkeypatch.setattr(
        fetching, "time", SimpleNamespace(sleep=waited.append, monotonic=time.monotonic, time=time.time)
    )
    return waited


def source(server, **options):
    return {"http": f"{server.url}/search", "params": {"q": "{text}"}, "hits": "hits", **options}


def engine(kind):
    """The source of a search engine."""

    def make(server):
        query = {"query": {"match": {"title": "{text}"}}} if kind in ("elasticsearch", "opensearch") else {}
        return {kind: f"{server.url}/products", **query}

    return make


def failing(server, times, status=503, headers=None):
    """Requests for the first query fail so often, then they are answered."""
    good, left = server.respond, [times]

    def respond(request):
        if request.text == "red mug" and left[0]:
            left[0] -= 1
            return status, {"error": "overloaded"}, headers or {}
        return good(request)

    server.respond = respond


def test_rankings_in_the_order_of_the_answer(shop, server):
    assert shop.lists(source(server)) == {"q1": ["red", "mug"], "q2": ["blue", "mug"]}
    assert {request.method for request in server.requests} == {"GET"}


def test_texts_are_filled_in_and_then_encoded(shop, server):
    shop.queries = type(shop.queries)(("q1",), ('say "hi" & {text}',), {"segment": ("a/b",)}, "queries.tsv")
    body = {"q": "{text}", "note": "[{segment}] {{text}}", "size": "{depth}", "from": "7", "list": ["{id}"]}

    shop.lists(source(server, http=f"{server.url}/of/{{segment}}?s=1", body=body, params={"p": "{segment}&x=1"}))

    (request,) = server.requests
    assert (request.method, request.path, request.params) == ("POST", "/of/a%2Fb", {"s": "1", "p": "a/b&x=1"})
    assert request.body == {"q": 'say "hi" & {text}', "note": "[a/b] {text}", "size": 10, "from": 7, "list": ["q1"]}


def test_scores_and_fields_by_path(shop, server):
    server.respond = lambda _: {"r": [{"d": {"key": 7}, "s": 2.5, "t": "Red mug"}, {"d": {"key": "x"}, "s": 2.5}]}
    asked = source(server, hits="r[?s > `1`]", id="d.key", score="s", fields={"title": "t"})
    rankings = shop.ask(asked, by_id=False)

    assert rankings.ranking("q1") == ["7", "x"]
    assert rankings.fields == {"7": {"title": "Red mug"}}
    assert rankings.timings.keys() == {"q1", "q2"}


def test_pages_until_the_depth(shop, server):
    server.respond = lambda request: {
        "hits": [{"id": f"d{i}"} for i in range(25)][int(request.params["from"]) :][: int(request.params["size"])]
    }
    params = {"q": "{text}", "from": "{from}", "size": "{size}"}

    found = shop.lists(source(server, params=params, page_size="10"), depth=23)

    assert found["q1"] == [f"d{i}" for i in range(23)]
    assert sorted({request.params["from"] for request in server.requests}) == ["0", "10", "20"]


@pytest.mark.parametrize("status", [429, 503])
def test_what_may_pass_is_asked_again(shop, server, waits, status):
    failing(server, 2, status)

    (answer,) = shop.answers(source(server))

    assert answer.rankings.ranking("q1") == ["red", "mug"]
    assert answer.notes == (f"1 request made again (status {status}: 1)",)
    assert len(waits) == 2
    assert 0.2 < waits[0] < waits[1] * 2 < 3


def test_the_server_says_how_long_to_wait(shop, server, waits):
    failing(server, 1, 429, {"Retry-After": "17"})

    assert shop.lists(source(server))["q1"] == ["red", "mug"]
    assert waits == [17.0]

    failing(server, 1, 429, {"Retry-After": "²"})  # a digit, but no number

    assert shop.lists(source(server))["q1"] == ["red", "mug"]
    assert waits[1] < 1


def test_a_server_that_asks_to_wait_too_long_is_an_error(shop, server, waits):
    failing(server, 1, 429, {"Retry-After": "3600"})

    assert "status 429, and asks to wait 3600s, for query 'q1' ('red mug')" in shop.refused(source(server))
    assert waits == []


@pytest.mark.usefixtures("waits")
def test_what_fails_always_names_query_status_and_answer(shop, server):
    failing(server, 99)
    address = f"{server.url}/search"

    assert shop.refused(source(server, concurrency="1")) == (
        "shop.ireval.yaml:5:11: source > http\n"
        f"  GET {address}: status 503 (asked 4 times), for query 'q1' ('red mug')\n"
        "  it says: overloaded"
    )
    assert len(server.requests) == 4


def test_what_cannot_pass_is_asked_once(shop, server):
    failing(server, 99, 404)

    assert "status 404, for query 'q1'" in shop.refused(source(server, concurrency="1"))
    assert len(server.requests) == 1


@pytest.mark.usefixtures("waits")
@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"timed_out": True}, "timed_out is true"),
        (
            {"_shards": {"total": 5, "failed": 2, "failures": [{"reason": {"type": "gone", "reason": "node left"}}]}},
            "2 of 5 shards failed (gone: node left)",
        ),
        ({"responseHeader": {"partialResults": True}}, "responseHeader.partialResults is true"),
        ({"root": {"coverage": {"coverage": 80, "full": False}}}, "it covers 80% of the documents"),
    ],
)
def test_an_incomplete_answer_is_asked_again_and_never_scored(shop, server, part, said):
    whole = {"hits": [{"id": "d1"}]}
    left = [1]
    server.respond = lambda _: {**whole, **(part if left[0] > 0 else {})}

    assert f"the answer is incomplete: {said} (asked 2 times)" in shop.refused(source(server, attempts="2"))

    healthy = {
        "timed_out": False,
        "_shards": {"total": 5, "successful": 5, "failed": 0},
        "_clusters": {"total": 2, "successful": 2, "skipped": 0},
        "root": {"coverage": {"full": True}},
    }
    server.respond = lambda _: {**whole, **healthy, "responseHeader": {"status": 0}}
    assert shop.lists(source(server))["q1"] == ["d1"]


@pytest.mark.usefixtures("waits")
def test_a_query_within_the_error_budget_counts_as_answered_with_nothing(shop, server):
    failing(server, 99)

    (answer,) = shop.answers(source(server, error_budget="50%"))

    assert answer.rankings.ranking("q1") == []
    assert answer.rankings.timings.keys() == {"q1", "q2"}  # the time until it failed counts, too
    assert answer.failed == {"q1": "status 503 (asked 4 times)"}
    assert answer.notes == ("1 request made again (status 503: 1)",)


@pytest.mark.usefixtures("waits")
def test_one_query_more_than_the_error_budget_is_an_error(shop, server):
    server.respond = lambda _: (500, b"", {})

    said = shop.refused(source(server, error_budget="1", concurrency="1"))

    assert "for query 'q2' ('blue mug'); 1 query before it failed, which error_budget allowed" in said
    assert "it is empty" in said


NO_INDEX = {"type": "index_not_found_exception", "reason": "no such index [mugs]", "index_uuid": "_na_"}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"error": {"root_cause": [NO_INDEX], **NO_INDEX}, "status": 404}, "it says: no such index [mugs]"),
        ({"responseHeader": {}, "error": {"msg": "undefined field x", "code": 400}}, "it says: undefined field x"),
        ({"root": {"errors": [{"code": 3, "message": "no such field"}]}}, "it says: no such field"),
        ({"error": {"reason": "a long word " * 40}}, "it says: " + "a long word " * 23 + "a …"),
        ({"error": {"reason": {"no": "text"}}}, 'it begins: {"error": {"reason": {"no": "text"}}}'),
        (b"<html>nothing here</html>", "it begins: <html>nothing here</html>"),
    ],
)
def test_the_reason_that_an_engine_gives_is_shown(shop, server, answer, said):
    server.respond = lambda _: (404, answer, {})

    assert shop.refused(source(server, concurrency="1")).endswith(f"\n  {said}")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"<html>login</html>", "the answer is not JSON, for query 'q1' ('red mug')\n  it begins: <html>login</html>"),
        ({"docs": [], "n": 0}, "the answer has nothing at hits: hits, for query 'q1' ('red mug')\n  its keys: docs, n"),
        ({"hits": {"hits": []}}, "the answer has dict, not a list, at hits: hits"),
        ({"hits": [{"_id": "d1"}]}, "a hit has no id at id"),
        ({"hits": [{"id": True}]}, "a hit has no id at id"),
    ],
)
def test_an_answer_that_is_no_ranking(shop, server, answer, said):
    server.respond = lambda _: (200, answer, {})

    assert said in shop.refused(source(server, concurrency="1"))


def test_scores_that_do_not_fall_with_the_rank_are_refused(shop, server):
    server.respond = lambda _: {"hits": [{"id": "a", "s": 1}, {"id": "b", "s": 2}]}

    said = shop.refused(source(server, score="s"))

    assert "scores do not order the hits: 'b' (2) is below 'a' (1)" in said
    assert "leave out score:, so that their order counts" in said


def test_a_redirect_is_refused_and_says_where_it_leads(shop, server):
    server.respond = lambda _: (307, b"", {"location": "/new"})

    assert "status 307: it redirects to '/new', for" in " ".join(shop.refused(source(server)).split())


def test_an_answer_without_end_is_cut_off(shop, server, monkeypatch):
    monkeypatch.setattr(client, "LARGEST", 1 << 20)
    server.respond = lambda _: (200, b" " * (2 << 20), {})

    assert "the answer is larger than 1 MiB" in shop.refused(source(server))


@pytest.mark.usefixtures("waits")
def test_a_server_that_does_not_answer(shop, server):
    asked = threading.Event()
    server.respond = lambda _: asked.wait(60) or {}
    try:
        said = shop.refused(source(server, timeout="200ms", attempts="2"))
    finally:
        asked.set()

    assert "no answer in 0.2s (asked 2 times)" in said
    assert "to allow more time, write timeout: " in said


@pytest.mark.usefixtures("waits")
def test_an_address_at_which_no_server_runs(shop, server):
    server.close()

    assert "the connection failed: Connection refused" in shop.refused(source(server))


def test_a_token_is_in_the_request_and_in_no_message(shop, server):
    server.respond = lambda request: (401, {"you sent": request.headers["authorization"]}, {})

    said = shop.refused(source(server, headers={"Authorization": "Bearer abc123-secret-token"}))

    assert "status 401" in said
    assert "abc123-secret-token" not in said
    assert mask_text("abc123-secret-token") == "${Authorization}"


LOGINS = [
    (
        source,
        {},
        "if it needs a login, write headers: {Authorization: 'Bearer ${SEARCH_TOKEN}'}, and set the variables",
    ),
    (source, {"headers": {"X-Api-Key": "k1"}}, "check the login, and that it may search: headers > X-Api-Key"),
    (source, {"params": {"q": "{text}", "api_key": "k1"}}, "check the login, and that it may search: params > api_key"),
    (engine("elasticsearch"), {}, "if it needs a login, write headers: {Authorization: 'ApiKey ${ELASTIC_API_KEY}'}"),
    (engine("opensearch"), {}, "write opensearch: https://${OPENSEARCH_USER}:${OPENSEARCH_PASSWORD}@host:9200/index"),
    (engine("solr"), {}, "if it needs a login, write solr: https://${SOLR_USER}:${SOLR_PASSWORD}@host:8983/solr/name"),
    (engine("vespa"), {}, "if it needs a login, write headers: {Authorization: 'Bearer ${SEARCH_TOKEN}'}"),
]


@pytest.mark.parametrize(("make_source", "options", "said"), LOGINS)
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_login_says_how_one_is_given_or_which_one_it_was(shop, server, make_source, options, said, status):
    server.respond = lambda request: (status, {"error": "login"}, {})

    assert said in shop.refused(make_source(server, **options))


def test_a_refused_login_names_its_variables(shop, server):
    server.respond = lambda request: (401, {"error": "login"}, {})
    values = {"URL": server.url.replace("//", "//me:pw@"), "TOKEN": "t"}
    text = """\
ireval: 1
suite: shop
source: {http: "${URL}/search?q={text}", headers: {X-Token: "${TOKEN}"}, hits: hits}
judgments: judgments.txt
"""
    shop.write("judgments.txt", "q1 0 red 1\n")
    suite = load_suite(shop.write("shop.ireval.yaml", text), environment=values)

    with pytest.raises(SourceError) as refused:
        fetch_answers(suite.source, shop.request())

    assert "check the login, and that it may search: http (URL), headers > X-Token (TOKEN)" in str(refused.value)


def test_addresses_in_an_error_have_no_login_no_key_and_no_value_of_a_variable(shop, server):
    register_secret("TENANT", "acme")
    register_secret("KEY", "k1")
    target = "https://me:pw@search.example/acme/x?q=acmes&v=k1&api_key=topsecret"
    server.respond = lambda request: (302, {"path": "/x?sig=abc&page=2"}, {"Location": target})
    assert "'https://***@search.example/${TENANT}/x?q=acmes&v=${KEY}&api_key=***'" in shop.refused(source(server))

    server.respond = lambda request: (400, {"path": "/k1/x?sig=abc&page=2", "sort_key": "a"}, {})
    said = shop.refused(source(server, http=f"{server.url}/acme/search"))
    assert f"GET {server.url}/${{TENANT}}/search: status 400" in said
    assert '"/${KEY}/x?sig=***&page=2", "sort_key": "a"' in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"http": "search.example/q"}, "'search.example/q' is not an address"),
        ({"http": "https://{segment}.example/q"}, "the host must not depend on the query"),
        ({"page_size": "10"}, "page_size needs {from} or {page} in the request"),
        ({"hits": "hits["}, "'hits[' is not JMESPath"),
        ({"hits": ""}, "hits is empty"),
        ({"headers": {"content-Length": "3"}}, "headers: content-Length follows from the body of each request"),
        ({"headers": {"X:\r\nHost": "3"}}, r"headers: 'X:\r\nHost' cannot be the name of a header"),
        ({"headers": {"Transfer-Encoding": "chunked"}}, "headers: Transfer-Encoding follows from the body"),
    ],
)
def test_options_that_cannot_be_right(shop, server, options, said):
    with pytest.raises(ValueError, match="validation error") as caught:
        shop.source(source(server, **options))

    assert said in str(caught.value)


def test_no_more_requests_a_second_than_the_rate(shop, server, waits):
    shop.lists(source(server, rate="0.5", concurrency="2"))

    assert max(waits) > 1.5


PAGE = Path(__file__).parents[2] / "docs" / "sources.md"
LUCENE = {"took": 3, "timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0}}
WIRE = {
    "http": ("/api/products", lambda ids: {"results": [{"sku": i, "name": i.title()} for i in ids]}),
    "opensearch": (
        "/products/_search",
        lambda ids: {
            **LUCENE,
            "hits": {"hits": [{"_id": i, "_score": 1.5, "_source": {"title": i.title()}} for i in ids]},
        },
    ),
    "solr": (
        "/solr/products/select",
        lambda ids: {"response": {"numFound": 2, "docs": [{"id": i, "score": 1.5, "title": i.title()} for i in ids]}},
    ),
    "vespa": (
        "/search/",
        lambda ids: {
            "root": {
                "coverage": {"coverage": 100, "full": True},
                "fields": {"totalCount": len(ids)},
                **(
                    {"children": [{"relevance": 1.5, "fields": {"sku": i, "title": i.title()}} for i in ids]}
                    if ids
                    else {}
                ),
            }
        },
    ),
}
"""The path that an engine is asked at, and its answer with these documents."""
WIRE["elasticsearch"] = WIRE["opensearch"]
EXAMPLES = (
    re.findall(r"^```yaml\n(source:\n  (\w+): https://search\.example.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    if PAGE.exists()
    else []
)


@pytest.mark.skipif(not EXAMPLES, reason="needs a checkout of the project")
@pytest.mark.parametrize(("code", "engine"), EXAMPLES, ids=[engine for _, engine in EXAMPLES])
def test_the_sources_of_the_page_speak_to_servers_that_answer_like_the_engine(shop, server, code, engine):
    path, answer = WIRE[engine]
    asked = tree_of(
        code.replace("https://search.example:9200", server.url).replace("https://search.example", server.url)
    )
    path += "/template" if "template" in asked["source"] else ""
    shop.queries = type(shop.queries)(
        shop.queries.ids, shop.queries.text, {**shop.queries.columns, "vector": ("[0.5, 1]", "[1, 0]")}, "queries.jsonl"
    )
    server.respond = lambda _: answer(["m2", "m1"])

    rankings = shop.ask(asked["source"], by_id=False)

    assert rankings.ranking("q1") == ["m2", "m1"]
    assert (rankings.fields or {"m1": {"title": "M1"}})["m1"] == {"title": "M1"}
    assert {request.path for request in server.requests if request.method == "POST" or request.text} == {path}
    sent = json.dumps([(request.params, request.body) for request in server.requests])
    assert ('"query_vector": [0.5, 1], "k": 10' if "knn" in code else "red mug") in sent
    assert ("search_pipeline" in sent) == ("hybrid" in code)

    server.respond = lambda _: answer([])
    assert shop.lists(asked["source"]) == {"q1": [], "q2": []}
    server.respond = lambda _: {"unexpected": "shape"}
    assert "the answer has nothing at hits" in shop.refused(asked["source"])


def tree_of(code):
    """The tree of a part of a suite, as a suite is read."""
    return yaml_tree.tree_of(code.encode(), File("shop.ireval.yaml", ".")).top


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "nothing given to search with"),
        ({"query": {"match_all": {}}, "body": {}}, "query and body given to search with"),
        ({"template": {"params": {}}}, "template names no stored template"),
        ({"body": "match_all"}, "body is not a mapping"),
    ],
)
def test_options_of_an_engine_that_cannot_be_right(shop, options, said):
    with pytest.raises(ValueError, match=said):
        shop.source({"opensearch": "http://localhost:9200/products", **options})


def test_a_suite_keeps_the_order_of_a_live_system(tmp_path, server):
    source = f"{{http: {server.url}, params: {{q: '{{text}}'}}, hits: hits}}"
    suite = f"ireval: 1\nsuite: shop\nqueries: q.tsv\nsource: {source}\n"
    (tmp_path / "q.tsv").write_text("id\ttext\nq1\tred\n", encoding="utf-8")
    rules = "rules:\n  - churn: {overlap: RBO(p=0.9), below: 0.5, at_most: 10%}\n"
    for text, ties in ((suite, "input"), (suite + "ties: trec\n", "trec")):
        path = tmp_path / "shop.ireval.yaml"
        path.write_text(text + rules, encoding="utf-8")
        assert load_suite(path).policies.ties == ties


@pytest.fixture
def recorded_source(shop, server, monkeypatch):
    """The source with a recording, and a token that no file may hold."""
    monkeypatch.delenv("IREVAL_OFFLINE", raising=False)
    register_secret("SHOP_TOKEN", "s3cret-of-the-shop")
    params = {"q": "{text}", "token": "s3cret-of-the-shop"}
    return source(server, params=params, record="answers")


def test_a_recording_answers_without_a_network(shop, server, recorded_source, monkeypatch):
    server.respond = lambda r: {"hits": [{"id": f"{word}-é"} for word in r.text.split()], "you": r.params["token"]}
    asked = shop.lists(recorded_source)
    server.close()
    monkeypatch.setenv("IREVAL_OFFLINE", "1")

    assert shop.lists(recorded_source) == asked == {"q1": ["red-é", "mug-é"], "q2": ["blue-é", "mug-é"]}

    (file,) = (shop.folder / "answers").iterdir()
    lines = gzip.decompress(file.read_bytes()).decode().splitlines()
    assert "s3cret" not in str(lines)
    assert ["q=red+mug" in line for line in lines[1:]] == [True, False]


def test_answers_that_differ_by_a_header_of_the_query_are_recorded_apart(shop, server, recorded_source, monkeypatch):
    shop.queries = type(shop.queries)(("q1", "q2"), ("mug", "mug"), {"user": ("ann", "bob")}, "queries.tsv")
    server.respond = lambda request: {"hits": [{"id": request.headers["x-token"]}]}
    asked = {**recorded_source, "headers": {"X-Token": "{user}"}}

    assert shop.lists(asked) == {"q1": ["ann"], "q2": ["bob"]}
    monkeypatch.setenv("IREVAL_OFFLINE", "1")
    assert shop.lists(asked) == {"q1": ["ann"], "q2": ["bob"]}

    (file,) = (shop.folder / "answers").iterdir()
    assert "ann" not in gzip.decompress(file.read_bytes()).decode().replace('"id":"ann"', "")


def test_a_short_value_of_a_variable_is_in_no_recording(shop, server, recorded_source, monkeypatch):
    register_secret("KEY", "pw12")
    asked = {**recorded_source, "params": {"q": "{text}", "v": "pw12"}, "body": {"auth": "pw12"}}
    shop.lists(asked)
    monkeypatch.setenv("IREVAL_OFFLINE", "1")

    (file,) = (shop.folder / "answers").iterdir()
    assert "pw12" not in gzip.decompress(file.read_bytes()).decode()
    assert len(shop.lists(asked)) == 2


def test_sources_that_differ_by_a_header_or_a_login_are_recorded_apart(shop, server, recorded_source, monkeypatch):
    server.respond = lambda request: {
        "hits": [{"id": f"{request.headers.get('authorization')} {request.headers['x-m']}"}]
    }
    login = recorded_source["http"].replace("//", "//me@")
    sources = [
        {**recorded_source, "http": http, "headers": {"X-M": m}}
        for http in (recorded_source["http"], login)
        for m in "ab"
    ]
    asked = [shop.lists(each)["q1"] for each in sources]
    monkeypatch.setenv("IREVAL_OFFLINE", "1")

    assert asked == [["None a"], ["None b"], ["Basic bWU6 a"], ["Basic bWU6 b"]]
    assert [shop.lists(each)["q1"] for each in sources] == asked


def test_a_recording_without_the_answer_is_an_error(shop, recorded_source, monkeypatch):
    shop.lists(recorded_source)
    monkeypatch.setenv("IREVAL_OFFLINE", "1")
    shop.queries = type(shop.queries)(("q1", "q2"), ("red mug", "green mug"), {}, "queries.tsv")

    said = shop.refused(recorded_source)

    assert "has no answer to this request, for query 'q2' ('green mug')" in said
    assert "without --ireval-offline" in said


def test_without_a_recording_a_closed_network_is_an_error(shop, server, recorded_source, monkeypatch):
    monkeypatch.setenv("IREVAL_OFFLINE", "1")

    assert "there is no recording answers/shop." in shop.refused(recorded_source)
    assert "this source has no recording" in shop.refused(source(server))
    assert server.requests == []


def test_a_damaged_recording_is_an_error(shop, recorded_source, monkeypatch):
    shop.lists(recorded_source)
    (file,) = (shop.folder / "answers").iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    monkeypatch.setenv("IREVAL_OFFLINE", "1")

    assert "is damaged: " in shop.refused(recorded_source)


def test_the_first_query_of_the_suite_decides_the_fields_of_a_document(shop, server):
    late = threading.Event()

    def respond(request):
        first = request.text == "red mug"
        if first:
            late.wait(60)
        else:
            late.set()
        return {"hits": [{"id": "d1", "t": request.text}]}

    server.respond = respond

    assert shop.ask(source(server, fields={"title": "t"})).fields == {"d1": {"title": "red mug"}}


def many_answers(server, wrong):
    """Answers to batches; ``wrong`` has by text what the search of a batch gets in place of its answer."""
    single = WIRE["opensearch"][1]

    def respond(request):
        if request.method == "GET":
            return 403, {}, {}  # facts of the index, which not every login may read
        if not request.path.endswith(("_msearch", "_msearch/template")):
            return single([request.body["query"]["match"]["title"].replace(" ", "-")])
        texts = [json.dumps(line) for line in request.lines[1::2]]
        found = [next(text for text in ("red mug", "blue mug", "pan") if text in line) for line in texts]
        answers = [wrong.get(text, {**single([text.replace(" ", "-")]), "status": 200}) for text in found]
        return {"took": 9, "responses": answers}

    server.respond = respond


@pytest.fixture
def batch(shop, server):
    shop.queries = type(shop.queries)(
        ("q1", "q2", "q3"), ("red mug", "blue mug", "pan"), {"segment": ("head", "tail", "tail")}, "queries.tsv"
    )
    many_answers(server, {})
    query = {"match": {"title": "{text}"}}
    return {"opensearch": f"{server.url}/products", "query": query, "batch": "2", "concurrency": "1"}


def searches(server):
    return [request for request in server.requests if request.method == "POST"]


ONE_EACH = {"q1": ["red-mug"], "q2": ["blue-mug"], "q3": ["pan"]}


def test_a_batch_asks_for_several_queries_at_once(shop, server, batch):
    (answer,) = shop.answers({**batch, "params": {"routing": "{segment}", "search_pipeline": "hybrid"}})

    assert {query: answer.rankings.ranking(query) for query in answer.rankings.queries} == ONE_EACH
    assert answer.rankings.timings is None
    first, second = searches(server)
    assert first.path == "/products/_msearch"
    assert first.lines[0] == {"preference": "ireval", "routing": "head"}
    assert first.lines[1] == {
        "query": {"match": {"title": "red mug"}},
        "size": 10,
        "_source": False,
        "track_total_hits": False,
        "search_pipeline": "hybrid",
    }
    assert [line.get("routing") for line in first.lines] == ["head", None, "tail", None]
    assert second.path == "/products/_search"
    assert second.params == {"preference": "ireval", "routing": "tail", "search_pipeline": "hybrid"}


@pytest.mark.usefixtures("waits")
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"error": {"type": "circuit_breaking_exception"}, "status": 429}, "status 429"),
        (
            {**LUCENE, "_shards": {"total": 2, "successful": 1, "failed": 1}, "hits": {"hits": []}},
            "1 of 2 shards failed",
        ),
        (None, "status ?"),
    ],
)
def test_a_query_that_failed_in_a_batch_is_asked_again_alone(shop, server, batch, wrong, why):
    many_answers(server, {"blue mug": wrong})

    (answer,) = shop.answers(batch)

    assert {query: answer.rankings.ranking(query) for query in answer.rankings.queries} == ONE_EACH
    assert answer.notes[0] == f"1 request made again (in a batch: {why}: 1)"
    assert [request.path.rpartition("/")[2] for request in searches(server)] == ["_msearch", "_search", "_search"]


@pytest.mark.parametrize(
    "answer", [(429, {}, {"Retry-After": "7"}), {"responses": []}, {"responses": [{}] * 3}, None, b"oops"]
)
def test_a_batch_that_failed_is_asked_again_query_by_query(shop, server, batch, waits, answer):
    good = server.respond
    server.respond = lambda request: answer if request.path.endswith("_msearch") else good(request)
    if answer == b"oops":
        server.respond = lambda request: (200, b"oops", {}) if request.path.endswith("_msearch") else good(request)

    (found,) = shop.answers(batch)

    assert found.rankings.ranking("q2") == ["blue-mug"]
    assert "1 request made again (a whole batch: " in found.notes[0]
    assert waits == ([7.0] if isinstance(answer, tuple) else [])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"params": {"filter_path": "hits"}}, "params: filter_path cannot be part of a batch"),
        ({"headers": {"X-User": "{segment}"}}, "headers: a batch cannot have a header for each query"),
    ],
)
def test_a_batch_that_cannot_be_sent(shop, batch, more, said):
    with pytest.raises(ValueError, match=said):
        shop.source({**batch, **more})
    assert shop.source({**batch, **more, "batch": "1"})


def test_a_recording_of_batches_is_one_of_single_queries(shop, server, batch, recorded_source, monkeypatch):
    many_answers(server, {})
    assert shop.lists({**batch, "record": "answers"}) == ONE_EACH
    monkeypatch.setenv("IREVAL_OFFLINE", "1")
    server.requests.clear()

    assert shop.lists({**batch, "record": "answers"}) == ONE_EACH
    alone = shop.ask({**batch, "batch": "1", "record": "answers"})
    assert alone.ranking("q3") == ["pan"]
    assert alone.timings is None  # the answers were recorded in batches, which have one time for several queries
    assert server.requests == []


def test_a_metric_of_time_cannot_be_measured_in_batches(tmp_path, server, batch):
    (tmp_path / "q.tsv").write_text("id\ttext\nq1\tred mug\nq2\tpan\n", encoding="utf-8")
    rules = 'rules:\n  - threshold: {Latency: "<= 400"}\n'
    path = tmp_path / "shop.ireval.yaml"
    path.write_text(f"ireval: 1\nsuite: shop\nqueries: q.tsv\nsource: {json.dumps(batch)}\n{rules}", encoding="utf-8")

    with pytest.raises(SuiteError, match="Latency needs timings, and a batch has one time for several queries"):
        run_gate(load_suite(path))

    assert server.requests == []


@pytest.mark.parametrize(
    ("timed", "options", "asked"), [(True, {}, 3), (True, {"warm_up": 0}, 2), (True, {"warm_up": 2}, 4), (False, {}, 2)]
)
def test_a_connection_is_open_before_the_first_timed_request(shop, server, timed, options, asked):
    found = shop.answers(source(server, concurrency=1, **options), timed=timed)

    assert len(server.requests) == asked
    assert list(found[0].rankings.timings) == ["q1", "q2"]


def test_a_request_before_the_timed_ones_may_fail_and_is_not_recorded(shop, server, monkeypatch):
    failing(server, 1)
    asked = source(server, concurrency=1, record="answers")
    lists = shop.lists(asked, timed=True)
    monkeypatch.setenv("IREVAL_OFFLINE", "1")

    assert shop.lists(asked, timed=True) == lists == {"q1": ["red", "mug"], "q2": ["blue", "mug"]}
    assert len(server.requests) == 3


def test_metrics_may_use_the_times_that_the_engine_says(shop, server):
    server.respond = lambda request: {"hits": [{"id": "d"}], "ms": len(request.text)}
    asked = source(server, took="ms", times="engine")

    assert shop.ask(asked).timings == {"q1": 0.007, "q2": 0.008}

    server.respond = lambda request: {"hits": [{"id": "d"}], **({"ms": 7} if request.text == "red mug" else {})}
    assert "the answer to query 'q2' does not say how long the engine took" in shop.refused(asked)


def test_a_vector_that_is_no_json_is_an_error(shop, server):
    shop.queries = type(shop.queries)(("q1",), ("red mug",), {"vector": ("0.5, 1",)}, "queries.tsv")
    search = {"opensearch": f"{server.url}/products", "query": {"knn": {"title": {"vector": "{json:vector}"}}}}

    for batch in ("1", "5"):
        said = shop.refused({**search, "batch": batch})
        assert "{json:vector} needs JSON in the column vector, which has '0.5, 1', for query 'q1'" in said
    assert searches(server) == []


def test_the_package_for_http_is_named_where_it_is_missing(shop, server, monkeypatch):
    monkeypatch.setattr(options, "find_spec", lambda name: None)

    with pytest.raises(ValueError, match=r"urllib3 must be installed\npip install 'pytest-ireval\[live\]'"):
        shop.source(source(server))


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_ends_a_run_whose_requests_have_no_answer(shop, server):
    asked, ended = threading.Event(), threading.Event()
    server.respond = lambda _: asked.set() or ended.wait(60) or {}
    shop.write("queries.tsv", "id\ttext\nq1\tred mug\nq2\tblue mug\n")
    suite = f"ireval: 1\nsuite: shop\nqueries: queries.tsv\nsource: {json.dumps(source(server))}\n"
    shop.write("shop.ireval.yaml", f"{suite}rules:\n  - threshold: {{Empty: '<= 0'}}\n")
    command = [sys.executable, "-m", "pytest", "--ireval", "-p", "no:cacheprovider", "-p", "no:xdist"]
    run = subprocess.Popen(command, cwd=shop.folder, stdout=subprocess.PIPE, text=True)
    assert asked.wait(60)
    run.send_signal(signal.SIGINT)
    began = time.monotonic()
    said = run.communicate(timeout=60)[0]
    ended.set()

    assert run.returncode == pytest.ExitCode.INTERRUPTED, said
    assert time.monotonic() - began < 15  # the time limit of the requests is 30 s
