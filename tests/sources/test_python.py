"""The source ``python``: what a function is given, what it may return, and what is said when it does not."""

import sys
from itertools import count
from types import SimpleNamespace

import pytest

from pytest_ireval import IrevalError, load_suite
from pytest_ireval.sources import python


@pytest.fixture
def search(shop):
    """Writes ``search.py`` beside the suite and asks its function ``search``."""

    def write(code, *, lists=True, **options):
        shop.write("search.py", code)
        sys.modules.pop("search", None)
        ask = shop.lists if lists else shop.refused
        return ask({"python": "search:search", **options})

    return write


def test_a_function_is_called_with_the_text_of_each_query(search):
    assert search("def search(text):\n    return text.split()\n") == {"q1": ["red", "mug"], "q2": ["blue", "mug"]}


def test_a_function_asks_by_name_for_more(search):
    code = """
def search(text, *, query_id, depth, columns):
    return [text, query_id, str(depth), columns["segment"]]
"""
    assert search(code) == {"q1": ["red mug", "q1", "10", "head"], "q2": ["blue mug", "q2", "10", "tail"]}


def test_a_function_may_ask_for_the_id_first_or_alone(search):
    assert search("def search(query_id, text):\n    return [query_id, text]\n")["q1"] == ["q1", "red mug"]
    assert search("def search(query_id):\n    return [query_id]\n")["q1"] == ["q1"]
    assert search("def search(*, query):\n    return [query]\n")["q1"] == ["red mug"]
    assert search("def search(*everything):\n    return everything\n")["q1"] == ["red mug"]


def test_all_queries_at_once_are_a_dictionary_in_their_order(search):
    code = """
def search(queries, columns):
    return {query: [text, columns[query]["segment"]] for query, text in queries.items()}
"""
    assert search(code, mode="all") == {"q1": ["red mug", "head"], "q2": ["blue mug", "tail"]}


@pytest.mark.parametrize(
    "returned",
    [
        "['b', 'a']",
        "[('b', 2.5), ('a', 1)]",
        "{'a': 1, 'b': 2}",
        "(each for each in ['b', 'a'])",
        "[{'id': 'b', 'score': 2}, {'id': 'a', 'score': 1}]",
        "[{'doc_id': 'b', 'title': 'x'}, {'document': 'a'}]",
        "[SimpleNamespace(document='b', score=2), SimpleNamespace(document='a', score=1)]",
        "[ScoredDoc('q', 'b', 2), ScoredDoc('q', 'a', 1)]",
        "numpy.array(['b', 'a'])",
        "zip(numpy.array(['b', 'a']), numpy.array([0.75, 0.5], 'f4'))",
        "pandas.DataFrame({'docno': ['b', 'a'], 'score': [2, 1], 'rank': [1, 2]})",
        "rows_of_a_database()",
    ],
)
def test_what_a_function_may_return(search, returned):
    code = f"""
import sqlite3
from collections import namedtuple
from contextlib import closing
from types import SimpleNamespace

import numpy
import pandas

ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")


def rows_of_a_database():
    with closing(sqlite3.connect(":memory:")) as database:
        database.row_factory = sqlite3.Row
        return database.execute("select 'b' as id union all select 'a'").fetchall()


def search(text):
    return {returned}
"""
    assert search(code) == {"q1": ["b", "a"], "q2": ["b", "a"]}


def test_numbers_and_ids_of_databases_and_models(search):
    code = """
from decimal import Decimal
from uuid import UUID

import numpy

def search(text):
    return [(numpy.int64(2), numpy.array(0.75)), (UUID(int=1), Decimal("0.5")), (numpy.str_("3"), numpy.float32(0.25))]
"""
    assert search(code)["q1"] == ["2", "00000000-0000-0000-0000-000000000001", "3"]


def test_many_wrong_answers_are_counted_and_what_is_allowed_is_said_once(shop, search):
    from pytest_ireval import Queries

    shop.queries = Queries(tuple(f"q{i}" for i in range(1, 8)), ("mug",) * 7)
    lines = search("def search(text):\n    pass\n", lists=False).splitlines()

    assert lines[:5] == [
        "shop.ireval.yaml:5:11: source > python",
        "  search:search, query 'q1': returned None: is a return statement missing?",
        "  allowed: a list of document ids, of pairs (id, score), of objects or dictionaries with id and score; or a "
        "dictionary of ids and scores",
        "shop.ireval.yaml:5:11: source > python",
        "  search:search, query 'q2': returned None: is a return statement missing?",
    ]
    assert lines[-1] == "… and 2 more"


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        ("None", "returned None: is a return statement missing?"),
        ("'a b c'", "returned the text 'a b c', not a list of documents"),
        ("{'a', 'b'}", "returned a set, which has no order"),
        ("[('a',)]", "returned ('a',), which is not a pair (id, score)"),
        ("[('a', None)]", "returned ('a', None), whose score is None"),
        ("[{'title': 'x'}]", "returned {'title': 'x'}, which has no id"),
    ],
)
def test_what_is_no_list_of_documents_names_the_query(search, returned, complaint):
    said = search(f"def search(text):\n    return {returned} if 'red' in text else []\n", lists=False)

    head, _, rest = said.partition("\n  allowed:")
    assert head == f"shop.ireval.yaml:5:11: source > python\n  search:search, query 'q1': {complaint}"
    assert rest


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        ("[1.5]", "1.5 is not an id; ids are text (or whole numbers)"),
        ("[('a', 'high')]", "the score of document 'a' for query 'q1' is 'high', not a number"),
        ("{'a': float('nan')}", "the score of document 'a' for query 'q1' is nan, not finite"),
        ("[{'id': 'a', 'score': 1}, {'id': 'b'}]", "returned 1 document with a score and 1 without one"),
    ],
)
def test_a_value_that_cannot_be_names_the_query(search, returned, complaint):
    assert search(f"def search(text):\n    return {returned} if 'red' in text else []\n", lists=False) == (
        f"shop.ireval.yaml:5:11: source > python\n  search:search, query 'q1': {complaint}"
    )


@pytest.mark.parametrize("mode", ["query", "all"])
def test_scores_that_rise_down_the_list_are_refused_as_those_of_live_systems(search, mode):
    def ask(returned, **options):
        found = returned if mode == "query" else f"{{query: {returned} for query in text}}"
        return search(f"def search(text):\n    return {found}\n", mode=mode, **options)

    for rising in ("[('a', 0.9), ('b', 0.1), ('c', 0.1001)]", "[{'id': 'b', 'score': 0.1}, {'id': 'c', 'score': 0.2}]"):
        said = " ".join(ask(rising, lists=False).split())
        assert "query 'q1': returned documents that are not in the order of their scores: 'c' (0." in said
        assert "return ids without scores if their order counts, distances with a minus sign" in said
        assert "or a dictionary {id: score}, which has no order" in said
    for fine in ("['a', 'b']", "[('a', 1), ('b', 1)]", "[('a', -0.1), ('b', -0.7)]", "{'b': 1, 'a': 2}", "[]"):
        assert ask(fine).keys() == {"q1", "q2"}


def test_all_at_once_must_return_a_dictionary(search):
    assert search("def search(queries):\n    return [['a']]\n", lists=False, mode="all") == (
        "shop.ireval.yaml:5:11: source > python\n"
        "  search:search returned list, not a dictionary\n"
        "  mode: all returns {query id: ranking}"
    )
    assert "search:search returned None: is a return statement missing?" in search(
        "def search(queries):\n    pass\n", lists=False, mode="all"
    )


def test_an_exception_names_query_function_and_the_last_line_of_the_users_code(search):
    code = """
import json

def parse(answer):
    return json.loads(answer)

def search(text):
    return parse("{" if "blue" in text else "[]")
"""
    assert search(code, lists=False) == (
        "shop.ireval.yaml:5:11: source > python\n"
        "  search:search raised JSONDecodeError: Expecting property name enclosed in double quotes: "
        "line 1 column 2 (char 1) for query 'q2' ('blue mug')\n"
        "  at search.py:5, in parse"
    )


def test_sys_exit_is_an_error_and_ctrl_c_is_ctrl_c(shop, search):
    for asynchronous in ("", "async "):
        assert "search:search raised SystemExit: 0 for query 'q1'" in search(
            f"import sys\n{asynchronous}def search(text):\n    sys.exit(0)\n", lists=False
        )
        with pytest.raises(KeyboardInterrupt):
            search(f"{asynchronous}def search(text):\n    raise KeyboardInterrupt\n")
        assert search(f"{asynchronous}def search(text):\n    return ['a']\n") == {"q1": ["a"], "q2": ["a"]}


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        (
            "def search(text, index):\n    pass\n",
            "unsupported parameter of search:search: 'index'\n"
            "  allowed after the query: query_id, depth, columns",
        ),
        ("def search():\n    pass\n", "search:search has no parameter for the query; the query is its first argument"),
        ("search = 3\n", "search:search is int, which cannot be called with the text of a query\n"
                "  allowed: a function, or a retriever with one of the methods invoke, retrieve, "
                "get_relevant_documents, search, run"),
        ("def serch(text):\n    pass\n", "there is no 'search' in search.py, but search:search needs it\n"
        "  did you mean 'serch'?"),
        ("import nothing_of_this_name\n", "module 'search' cannot be imported: ModuleNotFoundError: No module named "
        "'nothing_of_this_name'\n  at search.py:1"),
        ("import sys\nsys.exit(0)\n", "module 'search' cannot be imported: SystemExit: 0\n  at search.py:2"),
    ],
)  # fmt: skip
def test_a_function_that_cannot_be_called_is_an_error_before_it_is(search, code, complaint):
    assert search(code, lists=False) == f"shop.ireval.yaml:5:11: source > python\n  {complaint}"


def test_a_module_that_is_not_there_says_where_it_was_looked_for(shop):
    (shop.folder / "src").mkdir()

    assert shop.refused({"python": "nothing.here:search", "path": "src"}) == (
        "shop.ireval.yaml:5:11: source > python\n"
        "  module 'nothing' not found\n"
        "  searched in suites, suites/src and the working folder, and in Python's module path\n"
        "  path: adds folders to search, relative to the suite"
    )


@pytest.mark.parametrize(
    ("file", "path"), [("shopsearch.py", ".."), ("src/shopsearch.py", "../src"), ("shopsearch/__init__.py", "..")]
)
def test_a_module_that_lies_above_the_suite_is_pointed_at(shop, monkeypatch, file, path):
    shop.write(f"../{file}", "def search(text):\n    return ['a']\n")
    monkeypatch.chdir(shop.folder)

    assert shop.refused({"python": "shopsearch:search"}) == (
        "shop.ireval.yaml:5:11: source > python\n"
        "  module 'shopsearch' not found\n"
        "  searched in the working folder, and in Python's module path\n"
        f"  it exists above the suite: write path: {path}"
    )
    assert shop.lists({"python": "shopsearch:search", "path": path})["q1"] == ["a"]


def test_a_folder_of_modules_that_is_not_there_is_an_error(shop):
    assert shop.refused({"python": "nothing.here:search", "path": ["src", "../lib"]}) == (
        "shop.ireval.yaml:5:11: source > python > path\n"
        "  there is no folder src\n"
        "shop.ireval.yaml:5:11: source > python > path\n"
        "  there is no folder ../lib"
    )


def test_modules_are_found_beside_the_suite_then_in_path_then_where_pytest_began(shop):
    code = "def search(text):\n    return [{!r}]\n"
    shop.write("beside.py", code.format("suite"))
    shop.write("../src/beside.py", code.format("src"))
    shop.write("../src/further.py", code.format("src"))
    shop.write("../further.py", code.format("start"))
    shop.write("../furthest.py", code.format("start"))
    before = list(sys.path)

    found = [
        shop.lists({"python": f"{name}:search", "path": "../src"})["q1"] for name in ("beside", "further", "furthest")
    ]

    assert found == [["suite"], ["src"], ["start"]]
    assert sys.path == before


def test_a_module_may_import_another_one_beside_the_suite_when_it_is_called(search, shop):
    shop.write("late.py", "answer = ['a']\n")

    assert search("def search(text):\n    import late\n    return late.answer\n")["q1"] == ["a"]


def test_a_module_of_the_same_name_that_is_imported_already_is_not_asked_instead(shop):
    shop.write("one/adapter.py", "def search(text):\n    return ['one']\n")
    shop.write("two/adapter.py", "def search(text):\n    return ['two']\n")
    top = shop.folder

    shop.folder = top / "one"
    assert shop.lists({"python": "adapter:search"})["q1"] == ["one"]

    shop.folder = top / "two"
    assert shop.refused({"python": "adapter:search"}) == (
        "shop.ireval.yaml:5:11: source > python\n"
        "  module 'adapter' is adapter.py, but ../one/adapter.py is already imported under this name\n"
        "  Python imports only one module per name: rename one of the two"
    )


def test_a_generator_that_never_ends_is_an_error(search, monkeypatch):
    monkeypatch.setattr("pytest_ireval.sources.returned_rankings.MOST", 1000)

    assert search("import itertools\n\ndef search(text):\n    return itertools.count()\n", lists=False).startswith(
        "shop.ireval.yaml:5:11: source > python\n"
        "  search:search, query 'q1': returned more than 1,000 documents; does it end?\n"
    )


def test_queries_without_text_are_not_searched_for(shop, search):
    from pytest_ireval import Queries

    shop.queries = Queries(("q1", "q2"), ("", ""), origin="judgments.txt")

    assert search("def search(text):\n    return ['a']\n", lists=False) == (
        "shop.ireval.yaml:5:11: source > python\n"
        "  queries have no text: judgments.txt has only ids, but search:search needs texts\n"
        ""
        "  set queries: to a file with columns id and text, or give the function a parameter query_id"
    )
    assert search("def search(text, query_id):\n    return [query_id]\n") == {"q1": ["q1"], "q2": ["q2"]}


def test_async_generators_and_plain_functions_that_return_something_to_wait_for(search):
    assert search("async def search(text):\n    yield 'a'\n    yield 'b'\n")["q1"] == ["a", "b"]
    code = "async def find(text):\n    return ['a']\n\ndef search(text):\n    return find(text)\n"
    assert search(code)["q1"] == ["a"]
    code = "class Search:\n    async def __call__(self, text):\n        return ['a']\n\nsearch = Search()\n"
    assert search(code)["q1"] == ["a"]


def test_an_async_client_that_a_module_keeps_serves_one_asking_after_the_other(shop):
    shop.write(
        "client.py",
        "import asyncio\n\nlock = asyncio.Lock()\n\nasync def search(text):\n    async with lock:\n"
        "        await asyncio.sleep(0)\n        return [str(id(asyncio.get_running_loop()))]\n",
    )

    first, second = shop.answers({"python": "client:search", "repeat": 2, "concurrency": 2})

    assert first.rankings.ranking("q1") == second.rankings.ranking("q2")


def test_a_function_may_answer_with_more_than_a_ranking(shop):
    shop.write(
        "timed.py",
        """
from datetime import date
from decimal import Decimal

from pytest_ireval import Answer


def search(text, query_id):
    found = [{"id": each, "price": Decimal("2.5"), "sold": date(2026, 11, 1)} for each in text.split()]
    return Answer(found, timings=0.25, fields={"mug": {"price": 3}}, about={"engine": "toy 1.2", "key": query_id})


def all_at_once(queries):
    return Answer({query: text.split() for query, text in queries.items()}, timings={query: 1 for query in queries})


def in_milliseconds(text):
    return Answer(text.split(), timings="250ms")


def untimed(text):
    return Answer(text.split(), timings=1 if text == "red mug" else None)
""",
    )
    (answer,) = shop.answers({"python": "timed:search"})

    assert answer.rankings.timings == {"q1": 0.25, "q2": 0.25}
    assert answer.rankings.fields["red"] == {"price": 2.5, "sold": "2026-11-01"}
    assert answer.rankings.fields["mug"] == {"price": 3}
    assert answer.about == {"engine": "toy 1.2", "key": "q1"}
    assert shop.answers({"python": "timed:all_at_once", "mode": "all"})[0].rankings.timings == {"q1": 1, "q2": 1}
    assert "query 'q1' took '250ms', which is not a number of seconds" in shop.refused(
        {"python": "timed:in_milliseconds"}
    )
    assert "timed:untimed returned timings, but none for 'q2'" in shop.refused({"python": "timed:untimed"})


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_function_that_returns_no_times_is_timed(shop, search, monkeypatch, kind):
    ticks = count()
    monkeypatch.setattr(python, "time", SimpleNamespace(perf_counter=lambda: 0.25 * next(ticks)))
    search(f"{kind} search(text):\n    return ['d']\n")

    assert shop.ask({"python": "search:search"}).timings == {"q1": 0.25, "q2": 0.25}


def test_mistakes_in_options_are_found_while_the_suite_is_read(shop):
    source = "source: {python: search, mode: each, timeout: 30, concurency: 2}"
    path = shop.write(
        "shop.ireval.yaml", f"ireval: 1\nsuite: shop\n{source}\nrules: [threshold: {{RR@10: '>= 0.9'}}]\n"
    )

    with pytest.raises(IrevalError) as caught:
        load_suite(path, shown="shop.ireval.yaml")

    assert str(caught.value).startswith(
        "shop.ireval.yaml:3:18: source > python\n"
        "  'search' does not name a function\n"
        "  write module:function, for example shop.search:search\n"
        "shop.ireval.yaml:3:32: source > mode\n"
        "  'each' is unknown\n"
        "  allowed: query, all\n"
        "shop.ireval.yaml:3:47: source > timeout\n"
        "  '30' is not a valid duration: write 30s, 500ms or 2m\n"
        "shop.ireval.yaml:3:51: source\n"
        "  unknown key 'concurency'\n"
        "  did you mean 'concurrency'?\n"
    )
