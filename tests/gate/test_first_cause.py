"""The first sentence about the cause, where each job builds its own index: what somebody changed, and not the uuid."""

import json
import os
import re
import shutil
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from shop_engine import QUERIES, ShopEngine, catalogue, judgments

from pytest_ireval import load_suite, run_gate
from pytest_ireval.baselines.index_facts import NOTHING
from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.baselines.trees import name_changes
from pytest_ireval.baselines.writing import write_baseline
from pytest_ireval.sources.exchange import RUN_KEYS
from pytest_ireval.sources.searched_fields import unknown_fields

RULES = "rules:\n  - no_regression: {metric: nDCG@10, tolerance: 2%}\n"
REBUILT = "the index was rebuilt, with the same mapping, settings and number of documents (1,400)"


def searching(*fields):
    return {"multi_match": {"query": "{text}", "fields": list(fields), "type": "most_fields"}}


@pytest.fixture
def engine():
    made = ShopEngine()
    yield made
    made.close()


@pytest.fixture
def job(pytester, monkeypatch, engine):
    """A job of CI: ``accept()`` the baseline of a source, or give the result of a later ``run()`` on a new index."""
    for name in (*RUN_KEYS, "IREVAL_OFFLINE", "CI"):
        monkeypatch.delenv(name, raising=False)
    folder = pytester.path
    rows = "".join(f"q{number:02}\t{text}\n" for number, text in enumerate(QUERIES))
    (folder / "queries.tsv").write_text(f"id\ttext\n{rows}")
    (folder / "judgments.txt").write_text("".join(judgments()))

    def write(source=None, **options):
        source = source or {"opensearch": f"{engine.url}/products", "query": searching("title", "body")}
        head = {"ireval": 1, "suite": "shop", "queries": "queries.tsv", "judgments": "judgments.txt", "depth": 20}
        head["source"] = {**source, **options}
        path = folder / "shop.ireval.yaml"
        path.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in head.items()) + RULES)
        return path

    def pytest_run(*arguments, source=None, **options):
        write(source, **options)
        return pytester.runpytest(
            "--ireval", *arguments, "-p", "no:cacheprovider", "-p", "no:xdist", "shop.ireval.yaml"
        )

    def accept(source=None, **options):
        done = pytest_run("--ireval-update-new", source=source, **options)
        assert done.ret == 0, done.stdout.str()
        return read_baseline(folder / "baselines", "shop")

    def run(source=None, **options):
        engine.build()
        sys.modules.pop("own_search", None)  # another job is another process
        return run_gate(load_suite(write(source, **options)))

    return SimpleNamespace(accept=accept, run=run, pytest=pytest_run, folder=folder, url=engine.url)


def first(result):
    assert result.verdict == "fail"
    return result.diagnoses[0].headline


def printed(done):
    """The terminal's text with its broken lines joined."""
    return re.sub(r"\n +", " ", done.stdout.str())


def test_a_boost_is_the_first_cause_although_the_index_was_rebuilt(job):
    job.accept()

    result = job.run(query=searching("title^5", "body"))

    assert first(result) == "the request changed since the baseline: query.multi_match.fields[0]: title -> title^5"
    assert "index_changed" not in [each.kind for each in result.diagnoses]
    assert result.cause.rebuilt == REBUILT
    assert result.cause.index == ""


def test_the_terminal_says_the_boost_first_and_the_new_index_among_the_inputs(job, engine):
    job.accept()
    engine.build()

    done = job.pytest(query=searching("title^5", "body"))

    assert done.ret == 1
    text = printed(done)
    assert "likely cause: the request changed since the baseline: query.multi_match.fields[0]: title -> title^5" in text
    assert (
        f"inputs: rankings changed; the request changed (query.multi_match.fields[0]: title -> title^5); {REBUILT};"
        in (text)
    )


def test_a_new_index_alone_is_one_line_of_a_green_run(job, engine):
    job.accept()
    engine.build()

    done = job.pytest()

    assert done.ret == 0
    assert f"since the baseline: {REBUILT}\n" in printed(done)
    assert "look at this" not in done.stdout.str()
    assert job.run().diagnoses == ()


def test_a_green_run_says_in_one_line_what_changed(job, engine):
    job.accept()
    engine.build()

    done = job.pytest(query=searching("title^1.1", "body"))

    assert done.ret == 0
    changed = "the request changed (query.multi_match.fields[0]: title -> title^1.1)"
    assert f"since the baseline: {changed}; {REBUILT}" in printed(done)


def test_a_green_run_without_any_change_says_nothing(job):
    job.accept()

    assert "since the baseline" not in printed(job.pytest())


def test_a_changed_analyzer_is_named_and_not_by_two_hashes(job, engine):
    baseline = job.accept()
    engine.mapping["properties"]["title"]["analyzer"] = "nostem"

    result = job.run()

    assert first(result) == "the index changed since the baseline: title.analyzer: english -> nostem"
    assert baseline.index.mapping not in str(result.diagnoses)
    assert result.cause.rebuilt == "the index was rebuilt, with the same number of documents (1,400)"


def test_a_request_comes_before_an_index_that_changed_too(job, engine):
    job.accept()
    engine.mapping["properties"]["title"]["analyzer"] = "nostem"

    result = job.run(query=searching("title^5", "body"))

    assert [each.kind for each in result.diagnoses[:2]] == ["request_changed", "index_changed"]


def test_another_field_is_named_by_its_key(job):
    job.accept()

    result = job.run(query=searching("title", "author"))

    assert first(result) == "the request changed since the baseline: query.multi_match.fields[1]: body -> author"


def test_a_field_that_the_mapping_lacks_is_named_with_the_one_that_was_meant(job):
    job.accept()

    result = job.run(query=searching("titel", "body"))

    assert first(result) == (
        "the request changed since the baseline: query.multi_match.fields[0]: title -> titel; "
        "the request searches a field that the index does not have: titel (did you mean title?)"
    )
    assert (
        result.diagnoses[0].advice == "correct the name of the field in the request, or add the field to the mapping."
    )


def test_a_field_that_the_mapping_lacks_is_named_without_a_baseline_and_in_a_green_run(job):
    said = "the request searches a field that the index does not have: colour"
    query = searching("title", "body", "colour")

    assert said in job.run(query=query).notes
    job.accept(query=query)
    later = job.run(query=query)

    assert later.verdict == "pass"
    assert [each.headline for each in later.diagnoses] == [said]
    assert said not in later.notes  # once is enough


def test_a_field_that_was_dropped_from_the_mapping_is_named(job, engine):
    job.accept()
    del engine.mapping["properties"]["body"]

    result = job.run()

    assert first(result) == (
        'the index changed since the baseline: body: {"type": "text", "analyzer": "english"} -> not set; '
        "the request searches a field that the index does not have: body"
    )


def test_half_of_the_documents_is_the_first_cause(job, engine):
    job.accept()
    engine.documents = dict([*catalogue().items()][::2])

    result = job.run()

    assert first(result) == "the index changed since the baseline: it lost 50% of its documents (1,400 -> 700)"
    assert result.cause.rebuilt == "the index was rebuilt, with the same mapping and settings"


def test_a_few_documents_less_are_a_note(job, engine):
    job.accept()
    engine.documents = dict([*catalogue().items()][:-20])

    result = job.run()

    assert result.cause.index == ""
    assert "the index has 1,380 documents; when the baseline was accepted it had 1,400" in result.notes


def test_notes_of_people_in_the_mapping_are_no_change(job, engine):
    engine.mapping["_meta"] = {"built": "2027-03-01T04:00:00Z"}
    job.accept()
    engine.mapping["_meta"] = {"built": "2027-03-02T04:00:00Z"}

    assert job.run().cause.rebuilt == REBUILT


def test_a_setting_that_moves_scores_is_named(job, engine):
    job.accept()
    engine.settings = {"number_of_shards": "5"}

    assert job.run().cause.index == "index.number_of_shards: 1 -> 5"


def test_settings_that_move_no_score_are_no_change(job, engine):
    job.accept()
    engine.settings = {"number_of_replicas": "2", "refresh_interval": "30s", "provided_name": "products-7"}

    assert job.run().cause.rebuilt == REBUILT


def test_long_lists_of_the_analysis_are_compared_by_their_hash(job, engine):
    synonyms = [f"word{number}, other{number}" for number in range(2000)]
    engine.analysis["filter"] = {"shop": {"type": "synonym", "synonyms": synonyms}}
    job.accept()
    engine.analysis["filter"] = {"shop": {"type": "synonym", "synonyms": synonyms[1:]}}

    assert job.run().cause.index == "index.analysis.filter.shop.synonyms: changed"
    assert (job.folder / "baselines" / "shop.json").stat().st_size < 10_000


TEMPLATE = json.dumps({"query": searching("title", "body")}).replace("{text}", "{{text}}")
BY_TEMPLATE = {"template": {"id": "shop", "params": {"text": "{text}"}}}


def test_a_template_of_the_engine_that_changed_is_the_first_cause(job, engine):
    source = {"opensearch": f"{engine.url}/products", **BY_TEMPLATE}
    engine.scripts["shop"] = TEMPLATE
    job.accept(source)
    same = job.run(source)
    engine.scripts["shop"] = TEMPLATE.replace('"title"', '"title^5"')

    result = job.run(source)

    assert same.verdict == "pass"
    assert not same.cause.request
    key = "template shop.query.multi_match.fields[0]: title -> title^5"
    assert first(result) == f"the request changed since the baseline: {key}"


def test_a_template_that_is_no_json_is_compared_by_its_words():
    before = 'a long {{#toJson}}list{{/toJson}} of fields, among them "title" and "body", and of other things'
    now = before.replace('"title"', '"title^5"')

    assert [*name_changes({"template shop": before}, {"template shop": now})] == [
        'template shop: …hem "title" and "bod… -> …hem "title^5" and "bod…'
    ]


def test_a_template_that_may_not_be_read_is_a_note(job, engine):
    source = {"opensearch": f"{engine.url}/products", **BY_TEMPLATE}
    engine.scripts["shop"], engine.forbidden = TEMPLATE, ("_scripts",)
    job.accept(source)

    result = job.run(source)

    assert result.verdict == "pass"
    assert "index facts could not be read: GET /_scripts/shop: status 403" in result.notes


@pytest.mark.parametrize("by_default", [False, True], ids=["named by the request", "the default of the index"])
def test_a_search_pipeline_that_changed_is_named(job, engine, by_default):
    engine.pipelines["mix"] = {"phase_results_processors": [{"normalization-processor": {"weights": [0.3, 0.7]}}]}
    engine.settings = {"search": {"default_pipeline": "mix"}} if by_default else {}
    options = {} if by_default else {"params": {"search_pipeline": "mix"}}
    job.accept(**options)
    engine.pipelines["mix"] = {"phase_results_processors": [{"normalization-processor": {"weights": [0.7, 0.3]}}]}

    path = "pipeline mix.phase_results_processors[0].normalization-processor.weights"
    assert job.run(**options).cause.request == (f"{path}[0]: 0.3 -> 0.7", f"{path}[1]: 0.7 -> 0.3")


def test_another_host_with_the_same_request_comes_last(job, engine):
    job.accept()
    other = ShopEngine()
    other.mapping["properties"]["title"]["analyzer"] = "nostem"
    try:
        result = job.run({"opensearch": f"{other.url}/products", "query": searching("title", "body")})
    finally:
        other.close()

    assert first(result) == "the index changed since the baseline: title.analyzer: english -> nostem"
    assert result.diagnoses[-1].headline == (
        f"the source is not that of the baseline: opensearch.host: {engine.url} -> {other.url}"
    )


def test_an_older_baseline_says_less(job, engine):
    baseline = job.accept()
    older = replace(baseline, request={}, index=baseline.index._replace(details=NOTHING))
    shutil.rmtree(job.folder / "baselines")
    write_baseline(job.folder / "baselines", older)
    rebuilt = job.run()
    request = job.run(query=searching("title^5", "body"))
    engine.mapping["properties"]["title"]["analyzer"] = "nostem"
    mapping = job.run()

    assert rebuilt.verdict == "pass"
    assert rebuilt.cause.index == ""
    assert first(request) == (
        "the source is described in other words than in the baseline, which does not keep its options"
    )
    assert first(mapping) == (
        "the index changed since the baseline: its mapping is another one (the baseline does not keep what it was)"
    )


def test_a_new_index_alone_is_not_accepted_again(job, engine):
    job.accept()
    record = (job.folder / "baselines" / "shop.json").read_bytes()
    engine.build()
    job.pytest("--ireval-update")

    assert (job.folder / "baselines" / "shop.json").read_bytes() == record


SECRET = "hunter2-is-long-enough"


def test_no_secret_is_in_the_baseline_or_in_what_changed(job, engine, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", SECRET)
    engine.pipelines["mix"] = {"request_processors": [{"ml": {"openAI_api_key": "sk-of-the-engine", "model": "a"}}]}
    engine.mapping["properties"]["title"]["meta"] = {"note": SECRET}
    options = {
        "params": {"search_pipeline": "mix", "token": "${SHOP_TOKEN}"},
        "headers": {"Authorization": "Bearer ${SHOP_TOKEN}"},
    }
    source = {"opensearch": f"{engine.url.replace('//', '//me:${SHOP_TOKEN}@')}/products"}
    source |= {"query": {**searching("title", "body")}}
    job.accept(source, **options)
    engine.pipelines["mix"]["request_processors"][0]["ml"] = {"openAI_api_key": "sk-another", "model": "b"}
    engine.mapping["properties"]["title"]["meta"] = {"note": f"{SECRET}, and more"}
    engine.mapping["properties"]["title"]["analyzer"] = "nostem"
    engine.build()

    done = job.pytest(source=source | {"query": searching("title^5", "body")}, **options)

    assert done.ret == 1
    assert "openAI" not in done.stdout.str()
    assert "pipeline mix.request_processors[0].ml.model: a -> b" in printed(done)
    files = [path for path in job.folder.rglob("*") if path.is_file() and path.suffix in (".json", ".html", ".md")]
    assert {"shop.json", "results.json", "index.html", "summary.md"} <= {path.name for path in files}
    for text in (done.stdout.str(), *(path.read_text() for path in files)):
        assert SECRET not in text
        assert "sk-" not in text


FUNCTION = """
from pytest_ireval import Answer
from shop_engine import catalogue
def search(text):
    words = text.split()
    found = [key for key, each in catalogue().items() if all(word[:-1] in each["title"] for word in words)]
    found.sort(key=lambda key: "hook" in catalogue()[key]["title"])
    return Answer(found, index={"build": "v1", "mapping": {"title": {"analyzer": "english"}}})
"""


def test_the_file_of_a_function_is_named_after_what_the_rankings_show_and_before_the_index(job, monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    source = {"python": "own_search:search"}
    (job.folder / "own_search.py").write_text(FUNCTION)
    job.accept(source)
    reverse = FUNCTION.replace("return Answer(found,", "return Answer(found[::-1],")
    (job.folder / "own_search.py").write_text(reverse)
    alone = job.run(source)
    (job.folder / "own_search.py").write_text(reverse.replace("english", "nostem").replace("v1", "v2"))
    with_index = job.run(source)

    assert alone.verdict == "fail"
    assert [each.kind for each in alone.diagnoses] == ["reversed_order", "source_file_changed"]
    assert alone.diagnoses[1].headline == "own_search.py changed since the baseline, and makes the rankings"
    assert [each.kind for each in with_index.diagnoses] == ["source_file_changed", "index_changed", "reversed_order"]
    assert with_index.diagnoses[1].headline == "the index changed since the baseline: title.analyzer: english -> nostem"


def test_other_files_and_other_line_ends_are_no_change(job, monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    (job.folder / "own_search.py").write_text(FUNCTION, newline="\n")
    assert list(job.accept({"python": "own_search:search"}).source_files) == ["own_search.py"]
    (job.folder / "own_search.py").write_text(FUNCTION, newline="\r\n")
    (job.folder / "another.py").write_text("pass\n")

    assert job.run({"python": "own_search:search"}).cause.files == ()


PROGRAM = """
import sys
sys.path[:0] = {path}
from own_search import search
for line in [*open(sys.argv[1])][1:]:
    query, text = line.rstrip("\\n").split("\\t")
    for rank, key in enumerate(search(text).rankings[:: int(sys.argv[2])]):
        print(query, "Q0", key, rank + 1, 100 - rank, "run")
"""


def test_an_argument_of_a_command_is_a_changed_request(job, monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    (job.folder / "search.py").write_text(PROGRAM.format(path=sys.path))
    (job.folder / "own_search.py").write_text(FUNCTION)
    job.accept({"command": [sys.executable, "search.py", "{queries}", "1"]})

    result = job.run({"command": [sys.executable, "search.py", "{queries}", "-1"]})

    assert first(result) == "the request changed since the baseline: command[3]: 1 -> -1"
    assert result.diagnoses[1].kind == "reversed_order"


@pytest.mark.parametrize(
    ("before", "now", "changes"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ["a.b[1]: 2 -> 3"]),
        ({"a": ["x", "y"]}, {"a": ["new", "x", "y"]}, ["a[0]: not set -> new"]),
        ({"a": ["x", "y", "z"]}, {"a": ["x", "z"]}, ["a[1]: y -> not set"]),
        ({"a": 1}, {"b": {"c": 2}}, ["a: 1 -> not set", 'b: not set -> {"c": 2}']),
        ({"a": ""}, {"a": "x"}, ['a: "" -> x']),
        ({"a": "sha256:1"}, {"a": "sha256:2"}, ["a: changed"]),
        (
            {"sql": "select id from products where words @@ query order by rank desc limit :depth"},
            {"sql": "select id from products where words @@ query order by price limit :depth"},
            ["sql: … order by rank desc limit :de… -> … order by price limit :de…"],
        ),
    ],
)
def test_changes_are_named_by_their_keys(before, now, changes):
    assert list(name_changes(before, now)) == changes


KNOWN = {
    "properties": {
        "title": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "brand": {"properties": {"name": {"type": "text"}}},
        "facts": {"type": "flattened"},
    },
    "runtime": {"day": {"type": "keyword"}},
}


@pytest.mark.parametrize(
    ("request_body", "unknown"),
    [
        ({"match": {"title": "{text}"}}, []),
        ({"match": {"name": {"query": "{text}", "boost": 2}}}, ["name"]),
        ({"bool": {"should": [{"term": {"title.raw": "x"}}, {"match": {"title.row": "x"}}]}}, ["title.row"]),
        ({"multi_match": {"query": "boost", "fields": ["title^3", "brand.name", "brand.nam"]}}, ["brand.nam"]),
        ({"query_string": {"query": "body:x", "default_field": "colour"}}, ["colour"]),
        ({"bool": {"filter": {"term": {"facts.any": "x"}}, "must": {"range": {"day": {"gte": "now"}}}}}, []),
        ({"multi_match": {"query": "x", "fields": ["*", "ti*", "_all", "{field}"]}}, []),
        ({"function_score": {"script_score": {"script": {"source": "doc['x']", "params": {"match": {"x": 1}}}}}}, []),
        (
            {"runtime_mappings": {"now": {}}, "query": {"term": {"now": 1}}, "aggs": {"a": {"terms": {"field": "b"}}}},
            [],
        ),
        ({"exists": {"field": "price"}}, ["price"]),
    ],
)
def test_the_fields_that_a_mapping_lacks(request_body, unknown):
    found = unknown_fields([request_body], {"mapping": {"products": {"mappings": KNOWN}}})

    assert [each.partition(" ")[0] for each in found] == unknown


def test_a_field_that_one_of_several_indexes_has_is_known():
    answers = {"mapping": {"old": {"mappings": {}}, "new": {"mappings": KNOWN}}}

    assert unknown_fields({"match": {"title": "x"}}, answers) == []
    assert unknown_fields({"match": {"title": "x"}}, {}) == []
