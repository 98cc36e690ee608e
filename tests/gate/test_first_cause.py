"""The first sentence about the cause, where each job builds its own index: what somebody changed, and not the uuid."""

import json
import os
import re
import shutil
import sys
from types import SimpleNamespace

import pytest
from shop_engine import QUERIES, ShopEngine, list_judgments, make_catalogue
from suite_files import accept_suites

from pytest_ireval import load_suite, run_gate
from pytest_ireval.baseline.json_trees import name_changes
from pytest_ireval.sources.live.searched_fields import find_unknown_fields

RULES = "rules:\n  - no_regression: {metric: nDCG@10, tolerance: 2%}\n"
REBUILT = "the index was rebuilt, with the same mapping, settings and number of documents (300)"


def searching(*fields):
    return {"multi_match": {"query": "{text}", "fields": list(fields), "type": "most_fields"}}


@pytest.fixture(scope="module")
def shared_engine():
    engine = ShopEngine()
    yield engine
    engine.close()


@pytest.fixture
def engine(shared_engine):
    shared_engine.reset()
    return shared_engine


@pytest.fixture(scope="module")
def accepted_baselines(tmp_path_factory):
    """The folder of the baseline of the first source, which is accepted once."""
    return tmp_path_factory.mktemp("kept") / "baselines"


@pytest.fixture
def job(pytester, monkeypatch, engine):
    """A job of CI: ``accept()`` the baseline of a source, or give the result of a later ``run()`` on a new index."""
    for name in ("IREVAL_OFFLINE", "CI"):
        monkeypatch.delenv(name, raising=False)
    folder = pytester.path
    rows = "".join(f"q{number:02}\t{text}\n" for number, text in enumerate(QUERIES))
    (folder / "queries.tsv").write_text(f"id\ttext\n{rows}")
    (folder / "judgments.txt").write_text("".join(list_judgments()))

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
        accept_suites(write(source, **options))

    def run(source=None, **options):
        engine.build()
        sys.modules.pop("own_search", None)  # another job is another process
        return run_gate(load_suite(write(source, **options)))

    return SimpleNamespace(accept=accept, run=run, pytest=pytest_run, folder=folder)


@pytest.fixture
def accepted_shop(job, accepted_baselines):
    if not accepted_baselines.exists():
        job.accept()
        shutil.copytree(job.folder / "baselines", accepted_baselines)
    shutil.copytree(accepted_baselines, job.folder / "baselines", dirs_exist_ok=True)
    return job


def first(result):
    assert result.verdict == "fail"
    return result.diagnoses[0].headline


def join_lines(done):
    """The terminal's text with its broken lines joined."""
    return re.sub(r"\n +", " ", done.stdout.str())


def no_change(engine):
    """Another index, with the same in it."""


def use_another_analyzer(engine):
    engine.mapping["properties"]["title"]["analyzer"] = "nostem"


def drop_a_field(engine):
    del engine.mapping["properties"]["body"]


def drop_half_of_the_documents(engine):
    engine.documents = dict([*make_catalogue().items()][::2])


ANALYZER = "the index changed since the baseline: title.analyzer: english -> nostem"


@pytest.mark.parametrize(
    ("change", "fields", "cause"),
    [
        (
            no_change,
            ("title^5", "body"),
            "the request changed since the baseline: query.multi_match.fields[0]: title -> title^5",
        ),
        (
            no_change,
            ("titel", "body"),
            "the request changed since the baseline: query.multi_match.fields[0]: title -> titel; "
            "the request searches a field that the index does not have: titel (did you mean title?)",
        ),
        (use_another_analyzer, ("title", "body"), ANALYZER),
        (
            drop_a_field,
            ("title", "body"),
            'the index changed since the baseline: body: {"type": "text", "analyzer": "english"} -> not set; '
            "the request searches a field that the index does not have: body",
        ),
        (
            drop_half_of_the_documents,
            ("title", "body"),
            "the index changed since the baseline: it lost 50% of its documents (300 -> 150)",
        ),
    ],
    ids=["a boost", "a misspelled field", "an analyzer", "a field", "documents"],
)
def test_what_somebody_changed_is_the_first_cause_although_the_index_was_rebuilt(
    accepted_shop, engine, change, fields, cause
):
    change(engine)

    result = accepted_shop.run(query=searching(*fields))

    assert first(result) == cause
    kinds = [diagnosis.kind for diagnosis in result.diagnoses]
    assert ("index_changed" in kinds) == (change is not no_change)
    assert result.cause.rebuilt.startswith("the index was rebuilt, with the same ")
    assert ("number of documents (300)" in result.cause.rebuilt) == (change is not drop_half_of_the_documents)


def test_a_request_comes_before_an_index_that_changed_too_and_another_host_comes_last(accepted_shop, engine):
    use_another_analyzer(engine)
    both = accepted_shop.run(query=searching("title^5", "body"))
    other = ShopEngine()
    use_another_analyzer(other)
    try:
        result = accepted_shop.run({"opensearch": f"{other.url}/products", "query": searching("title", "body")})
    finally:
        other.close()

    assert [diagnosis.kind for diagnosis in both.diagnoses[:2]] == ["request_changed", "index_changed"]
    assert first(result) == ANALYZER
    assert result.diagnoses[-1].headline == (
        f"the source is not that of the baseline: opensearch.host: {engine.url} -> {other.url}"
    )


def test_the_terminal_says_in_one_line_what_changed_and_nothing_where_nothing_did(accepted_shop, engine):
    kept = {path.name: path.read_bytes() for path in (accepted_shop.folder / "baselines").iterdir()}
    same_index = accepted_shop.pytest()
    engine.build()
    new_index = accepted_shop.pytest("--ireval-update")
    green = accepted_shop.pytest(query=searching("title^1.1", "body"))
    red = accepted_shop.pytest(query=searching("title^5", "body"))

    assert (new_index.ret, green.ret, red.ret) == (0, 0, 1)
    assert "since the baseline" not in join_lines(same_index)
    assert f"since the baseline: {REBUILT}\n" in join_lines(new_index)
    assert "look at this" not in new_index.stdout.str()
    assert {path.name: path.read_bytes() for path in (accepted_shop.folder / "baselines").iterdir()} == kept
    changed = "the request changed (query.multi_match.fields[0]: title -> title^1.1)"
    assert f"since the baseline: {changed}; {REBUILT}" in join_lines(green)
    changed = "query.multi_match.fields[0]: title -> title^5"
    assert f"likely cause: the request changed since the baseline: {changed}" in join_lines(red)
    assert f"inputs: rankings changed; the request changed ({changed}); {REBUILT};" in join_lines(red)


def test_a_field_that_the_mapping_lacks_is_named_without_a_baseline_and_once_in_a_green_run(job):
    said = "the request searches a field that the index does not have: colour"
    query = searching("title", "body", "colour")

    assert said in job.run(query=query).notes
    job.accept(query=query)
    later = job.run(query=query)

    assert later.verdict == "pass"
    assert [diagnosis.headline for diagnosis in later.diagnoses] == [said]
    assert said not in later.notes


def test_settings_that_move_scores_are_named_and_others_are_no_change(accepted_shop, engine):
    engine.settings = {"number_of_replicas": "2", "refresh_interval": "30s", "provided_name": "products-7"}
    engine.mapping["_meta"] = {"built": "2027-03-02T04:00:00Z"}
    harmless = accepted_shop.run()
    engine.documents = dict([*make_catalogue().items()][:-4])
    few_less = accepted_shop.run()
    engine.settings = {"number_of_shards": "5"}

    assert (harmless.diagnoses, harmless.cause.rebuilt) == ((), REBUILT)
    assert few_less.cause.index == ""
    assert "the index has 296 documents; when the baseline was accepted it had 300" in few_less.notes
    assert accepted_shop.run().cause.index == "index.number_of_shards: 1 -> 5"


def test_long_lists_of_the_analysis_are_compared_by_their_hash(job, engine):
    synonyms = [f"word{number}, other{number}" for number in range(2000)]
    engine.analysis["filter"] = {"shop": {"type": "synonym", "synonyms": synonyms}}
    job.accept()
    engine.analysis["filter"] = {"shop": {"type": "synonym", "synonyms": synonyms[1:]}}

    assert job.run().cause.index == "index.analysis.filter.shop.synonyms: changed"
    assert not any(b"word999" in path.read_bytes() for path in (job.folder / "baselines").iterdir())


TEMPLATE = json.dumps({"query": searching("title", "body")}).replace("{text}", "{{text}}")


def test_a_template_of_the_engine_that_changed_is_the_first_cause_and_one_that_cannot_be_read_is_a_note(job, engine):
    source = {"opensearch": f"{engine.url}/products", "template": {"id": "shop", "params": {"text": "{text}"}}}
    engine.scripts["shop"] = TEMPLATE
    job.accept(source)
    same = job.run(source)
    engine.scripts["shop"] = TEMPLATE.replace('"title"', '"title^5"')
    result = job.run(source)
    engine.scripts["shop"], engine.forbidden = TEMPLATE, ("_scripts",)
    unreadable = job.run(source)

    assert (same.verdict, same.cause.request) == ("pass", ())
    key = "template shop.query.multi_match.fields[0]: title -> title^5"
    assert first(result) == f"the request changed since the baseline: {key}"
    assert unreadable.verdict == "pass"
    assert "index facts could not be read: GET /_scripts/shop: status 403" in unreadable.notes


@pytest.mark.parametrize("by_default", [False, True], ids=["named by the request", "the default of the index"])
def test_a_search_pipeline_that_changed_is_named(job, engine, by_default):
    engine.pipelines["mix"] = {"phase_results_processors": [{"normalization-processor": {"weights": [0.3, 0.7]}}]}
    engine.settings = {"search": {"default_pipeline": "mix"}} if by_default else {}
    options = {} if by_default else {"params": {"search_pipeline": "mix"}}
    job.accept(**options)
    engine.pipelines["mix"] = {"phase_results_processors": [{"normalization-processor": {"weights": [0.7, 0.3]}}]}

    path = "pipeline mix.phase_results_processors[0].normalization-processor.weights"
    assert job.run(**options).cause.request == (f"{path}[0]: 0.3 -> 0.7", f"{path}[1]: 0.7 -> 0.3")


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
    assert "pipeline mix.request_processors[0].ml.model: a -> b" in join_lines(done)
    written = [path for folder in ("baselines", "ireval-report") for path in (job.folder / folder).iterdir()]
    texts = {path.name: path.read_text() for path in written if path.suffix != ".zip"}
    assert {"results.json", "index.html", "summary.md"} < texts.keys()
    for text in (done.stdout.str(), *texts.values()):
        assert SECRET not in text
        assert "sk-" not in text


FUNCTION = """
from pytest_ireval import Answer
from shop_engine import make_catalogue
def search(text):
    words = text.split()
    found = [key for key, each in make_catalogue().items() if all(word[:-1] in each["title"] for word in words)]
    found.sort(key=lambda key: "hook" in make_catalogue()[key]["title"])
    return Answer(found, index={"build": "v1", "mapping": {"title": {"analyzer": "english"}}})
"""


def test_the_file_of_a_function_is_named_after_what_the_rankings_show_and_before_the_index(job, monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    source, file = {"python": "own_search:search"}, job.folder / "own_search.py"
    file.write_text(FUNCTION, newline="\n")
    job.accept(source)
    file.write_text(FUNCTION, newline="\r\n")
    (job.folder / "another.py").write_text("pass\n")
    other_line_ends = job.run(source)
    backwards = FUNCTION.replace("return Answer(found,", "return Answer(found[::-1],")
    file.write_text(backwards)
    alone = job.run(source)
    file.write_text(backwards.replace("english", "nostem").replace("v1", "v2"))
    with_index = job.run(source)

    assert other_line_ends.cause.files == ()
    assert alone.verdict == "fail"
    assert [diagnosis.kind for diagnosis in alone.diagnoses] == ["reversed_order", "source_file_changed"]
    assert alone.diagnoses[1].headline == "own_search.py changed since the baseline, and makes the rankings"
    assert [diagnosis.kind for diagnosis in with_index.diagnoses] == [
        *("source_file_changed", "index_changed", "reversed_order")
    ]
    assert with_index.diagnoses[1].headline == ANALYZER


def test_an_argument_of_a_command_is_a_changed_request(job):
    judged = sorted((line.split() for line in list_judgments()), key=lambda words: (words[0], -int(words[3])))
    for name, sign in (("good.txt", -1), ("bad.txt", 1)):
        lines = (f"{query} Q0 {key} 1 {sign * place} run\n" for place, (query, _, key, _) in enumerate(judged))
        (job.folder / name).write_text("".join(lines))
    job.accept({"command": ["cat", "good.txt"]})

    changed = job.run({"command": ["cat", "bad.txt"]})

    assert first(changed) == "the request changed since the baseline: command[1]: good.txt -> bad.txt"


@pytest.mark.parametrize(
    ("before", "now", "changes"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ["a.b[1]: 2 -> 3"]),
        ({"a": ["x", "y", "z"]}, {"a": ["x", "z"]}, ["a[1]: y -> not set"]),
        ({"a": ""}, {"b": {"c": 2}}, ['a: "" -> not set', 'b: not set -> {"c": 2}']),
        ({"a": "sha256:1"}, {"a": "sha256:2"}, ["a: changed"]),
        (
            {"sql": "select id from products where words @@ query order by rank desc limit :depth"},
            {"sql": "select id from products where words @@ query order by price limit :depth"},
            ["sql: … order by rank desc limit :de… -> … order by price limit :de…"],
        ),
        (
            {"template": 'a long {{#toJson}}list{{/toJson}} of fields, "title" and "body", and of other things'},
            {"template": 'a long {{#toJson}}list{{/toJson}} of fields, "title^5" and "body", and of other things'},
            ['template: …ds, "title" and "bod… -> …ds, "title^5" and "bod…'],
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
        ({"match": {"name": {"query": "{text}", "boost": 2}}}, ["name"]),
        ({"bool": {"should": [{"term": {"title.raw": "x"}}, {"match": {"title.row": "x"}}]}}, ["title.row"]),
        ({"multi_match": {"query": "boost", "fields": ["title^3", "brand.name", "brand.nam"]}}, ["brand.nam"]),
        ({"bool": {"filter": {"term": {"facts.any": "x"}}, "must": {"range": {"day": {"gte": "now"}}}}}, []),
        ({"multi_match": {"query": "x", "fields": ["*", "ti*", "_all", "{field}"]}}, []),
        ({"function_score": {"script_score": {"script": {"source": "doc['x']", "params": {"match": {"x": 1}}}}}}, []),
        (
            {"runtime_mappings": {"now": {}}, "query": {"term": {"now": 1}}, "aggs": {"a": {"terms": {"field": "b"}}}},
            [],
        ),
    ],
)
def test_the_fields_that_a_mapping_lacks(request_body, unknown):
    found = find_unknown_fields([request_body], {"mapping": {"old": {"mappings": {}}, "new": {"mappings": KNOWN}}})

    assert [field.partition(" ")[0] for field in found] == unknown
    assert find_unknown_fields([request_body], {}) == []
