"""Any source: how often it is asked, what it may answer, and who is named when it goes wrong."""

import asyncio
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import numpy as np
import pytest
from pydantic import AfterValidator, Field, SecretStr

from pytest_ireval import Answer, IrevalError, Rankings, SourceError, hookimpl, load_suite, source
from pytest_ireval.data.from_objects import convert_rankings
from pytest_ireval.options import SourceOptions
from pytest_ireval.plugins.by_name import Origin
from pytest_ireval.plugins.manager import Plugins
from pytest_ireval.sources.answers import fetch_answers
from pytest_ireval.sources.describing import describe_source, make_options_tree
from pytest_ireval.suite.option_types import PathText, Text


class Model:
    """An object without a text of its own."""

    def __init__(self, name):
        self.name = name


class AcmeOptions(SourceOptions):
    acme: Text
    models: tuple[Annotated[Text, AfterValidator(Model)], ...] = ()
    index: PathText | None = None
    fields: dict[Text, Text] = {}
    token: Text = Field("", repr=False)
    secret: SecretStr = SecretStr("")


def acme(fetch):
    """A registry with a source ``acme`` of the distribution acme-search."""

    @source(name="acme", options=AcmeOptions)
    def documented(options, request):
        """Documents of Acme."""
        return fetch(options, request)

    plugins = Plugins()
    plugins.load_installed()
    module = types.ModuleType("acme")
    module.ireval_sources = hookimpl(lambda: [documented], specname="ireval_sources")
    plugins.register_module(module, "acme")
    plugins.origins[module] = Origin("acme", "acme-search", "2.1")
    return plugins.make_registry()


def read_error(shop, fetch):
    with pytest.raises(IrevalError) as caught:
        shop.ask({"acme": "x"}, acme(fetch))
    return str(caught.value)


def test_a_source_is_asked_as_often_as_the_suite_says(shop):
    registry = acme(lambda options, request: {"q1": [f"answer-{request.repetition}", options.acme]})

    found = fetch_answers(shop.source({"acme": "x", "repeat": 3}, registry), shop.request())

    assert [each.rankings.ranking("q1") for each in found] == [["answer-1", "x"], ["answer-2", "x"], ["answer-3", "x"]]


def test_a_source_may_answer_with_times_fields_and_facts(shop):
    def fetch(options, request):
        fields = {"a": {"price": np.float64(2), "tags": {"x"}, "more": {"brand": "acme"}, "gone": float("nan")}}
        return Answer({"q1": ["a"]}, {"q1": 0.1234567}, fields, {"engine": "Lucene\n9.11"})

    (found,) = fetch_answers(shop.source({"acme": "x"}, acme(fetch)), shop.request())

    assert found.rankings.timings == {"q1": 0.123457}
    assert found.rankings.fields == {"a": {"price": 2, "tags": ["x"], "brand": "acme", "gone": None}}
    assert found.about == {"engine": "Lucene 9.11"}


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (Answer({"q1": ["a"]}, timings=[1]), "timings of the answer are list, not a mapping"),
        (Answer({"q1": ["a"]}, timings={"q1": -1}), "query 'q1' took -1, which is not a number of seconds"),
        (Answer({"q1": ["a"]}, fields={"a": "mug"}), "document 'a' has 'mug', not a mapping of names and values"),
        (Answer({"q1": ["a"]}, about="9.11"), "about of the answer are str, not a mapping"),
        (Answer({"q1": ["a"]}, about=dict.fromkeys(range(21))), "about has 21 facts"),
    ],
)
def test_an_answer_that_cannot_be_right_is_an_error(shop, answer, complaint):
    assert complaint in read_error(shop, lambda options, request: answer)


def test_a_source_may_return_any_form_that_evaluate_takes(shop):
    path = shop.write("a.trec", "q1 Q0 a 1 1 t\n")

    for returned in (
        {"q1": ["a"]},
        {"q1": {"a": 1.0}},
        [("q1", "a", 1.0)],
        iter([("q1", "a", 1.0)]),
        convert_rankings({"q1": ["a"]}),
        path,
        "a.trec",
    ):
        rankings = shop.ask({"acme": "x"}, acme(lambda options, request, returned=returned: returned))

        assert isinstance(rankings, Rankings)
        assert rankings.ranking("q1") == ["a"]
        assert rankings.origin == "acme: x"


def test_a_function_that_fetches_may_be_async_also_where_a_loop_is_running(shop):
    async def fetch(options, request):
        await asyncio.sleep(0)
        return {"q1": ["a"]} if request.repetition == 1 else 1 / 0

    async def in_a_notebook():
        return shop.ask({"acme": "x"}, acme(fetch)).ranking("q1")

    assert ThreadPoolExecutor(1).submit(asyncio.run, in_a_notebook()).result() == ["a"]
    with pytest.raises(SourceError, match=r"it raised ZeroDivisionError: division by zero\n  at .*, in fetch\n"):
        fetch_answers(shop.source({"acme": "x", "repeat": 2}, acme(fetch)), shop.request())


def test_rankings_that_are_longer_than_was_asked_are_cut(shop):
    documents = [f"d{i}" for i in range(30)]
    for returned in ({"q1": documents}, convert_rankings({"q1": documents})):
        registry = acme(lambda options, request, returned=returned: returned)

        rankings = shop.ask({"acme": "x"}, registry, depth=3)

        assert rankings.ranking("q1") == ["d0", "d1", "d2"]
        assert rankings.retrieved.tolist() == [30]
        assert len(shop.ask({"acme": "x"}, registry, depth=3, keep_all=True).ranking("q1")) == 30


def test_what_a_plugin_raises_names_the_line_the_place_and_the_plugin(shop):
    path = shop.write("fetching.py", "def fetch(options, request):\n    return {}['hits']\n")
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)

    assert read_error(shop, namespace["fetch"]) == (
        "shop.ireval.yaml:5:11: source > acme\n"
        "  it raised KeyError: 'hits'\n"
        "  at fetching.py:2, in fetch\n"
        "  the source comes from acme-search 2.1"
    )


def test_an_answer_that_is_no_ranking_is_an_error_on_the_suites_line(shop):
    assert read_error(shop, lambda options, request: None) == (
        "shop.ireval.yaml:5:11: source > acme\n"
        "  it returned None: is a return statement missing?\n"
        "  the source comes from acme-search 2.1"
    )
    assert read_error(shop, lambda options, request: {"q1": ["a", "a"]}) == (
        "shop.ireval.yaml:5:11: source > acme\n"
        "  document 'a' is ranked twice for query 'q1'\n"
        "  the source comes from acme-search 2.1"
    )
    assert read_error(shop, lambda options, request: {}) == (
        "shop.ireval.yaml:5:11: source > acme\n"
        "  it returned no ranking for 2 queries\n"
        "  the source comes from acme-search 2.1"
    )


def test_sys_exit_and_a_skip_are_errors_and_no_way_to_end_a_run_green(shop):
    assert "\n  it raised SystemExit: 0\n" in read_error(shop, lambda options, request: sys.exit(0))
    assert "\n  it raised Skipped: no index\n" in read_error(shop, lambda options, request: pytest.skip("no index"))


def test_ctrl_c_is_heard(shop):
    def interrupted(options, request):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shop.ask({"acme": "x"}, acme(interrupted))


def test_the_description_has_what_differs_from_the_defaults_and_no_secrets(shop):
    registry = acme(lambda options, request: {})
    value = {
        "acme": "https://me:password@search.example/v2",
        "index": "../data/index.bin",
        "fields": {"title": "2"},
        "token": "s3cret",
        "secret": "s3cret",
        "repeat": 2,
    }

    assert describe_source(shop.source(value, registry), shop.folder) == (
        "acme: https://search.example/v2, repeat: 2, index: ../data/index.bin, fields: {title: 2}, secret: **********"
    )


VARIABLES = """\
ireval: 1
suite: shop.{locale}
matrix: {locale: [de]}
source:
  http: "${ENGINE_URL:-http://localhost:9200}/{locale}/search?key=${KEY}"
  params: {q: "{{text}}", tenant: "${TENANT}", price: $$5}
  headers: {Authorization: "Bearer ${TOKEN:-none}"}
  hits: hits
judgments: judgments.txt
"""


@pytest.mark.parametrize(
    "values",
    [
        {"KEY": "k", "TENANT": "a"},
        {"KEY": "another-long-key", "TENANT": "b", "ENGINE_URL": "https://me:pw@search.example", "TOKEN": "t"},
    ],
    ids=["on a laptop", "with a login"],
)
def test_the_name_of_a_source_has_the_names_of_variables_whatever_their_values(shop, values):
    path = shop.write("shop.ireval.yaml", VARIABLES)
    shop.write("judgments.txt", "q1 0 red 1\n")
    source = load_suite(path, environment=values).source

    assert describe_source(source) == (
        "http: ${ENGINE_URL:-http://localhost:9200}/de/search?key=${KEY}, "
        "params: {q: {text}, tenant: ${TENANT}, price: $5}, hits: hits"
    )
    assert make_options_tree(source, shop.folder) == {
        "http": {"host": "${ENGINE_URL:-http://localhost:9200}", "path": "/de/search?key=${KEY}"},
        "params": {"q": "{text}", "tenant": "${TENANT}", "price": "$5"},
        "hits": "hits",
    }


def test_names_of_files_are_those_that_were_read(shop):
    path = shop.write("shop.ireval.yaml", "ireval: 1\nsuite: shop\nsource: {run: '${RUN}'}\njudgments: judgments.txt\n")
    shop.write("judgments.txt", "q1 0 red 1\n")
    shop.write("runs/new.trec", "q1 Q0 red 1 1 run\n")

    assert describe_source(load_suite(path, environment={"RUN": "runs/new.trec"}).source) == "run: runs/new.trec"


def test_an_option_without_a_text_of_its_own_is_named_as_the_suite_writes_it(shop):
    spec = shop.source({"acme": "x", "models": ["small", "large"]}, acme(lambda options, request: {}))

    assert describe_source(spec, shop.folder) == "acme: x, models: [small, large]"
    assert make_options_tree(spec, shop.folder) == {"acme": "x", "models": ["small", "large"]}
