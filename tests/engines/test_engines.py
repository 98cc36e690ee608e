"""Every engine starts, finds what it holds, and is gone after its stop."""

import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

import pytest
from engines import collection, indexing, starting

from pytest_ireval import evaluate

EACH = pytest.mark.parametrize("name", starting.STARTERS)
START = Path(__file__).parent / "start.py"


def ndcg(shop, search, queries):
    judgments = {query.id: shop.judgments[query.id] for query in queries}
    return evaluate(judgments, {query.id: search(query.text) for query in queries}, "nDCG@10")["nDCG@10"].mean


def is_listening(url):
    parts = urllib.parse.urlsplit(url)
    try:
        socket.create_connection((parts.hostname, parts.port), timeout=starting.LIMIT).close()
    except ConnectionError:
        return False
    return True


@EACH
def test_rankings_are_good_and_not_perfect_and_the_same_again(name, request, shop):
    engine = request.getfixturevalue(name)
    queries = shop.queries[::6]

    values = [ndcg(shop, lambda text: indexing.SEARCH[name](engine.url, text), queries) for _ in range(2)]

    assert 0.6 < values[0] < 0.99
    assert values[0] == values[1]


@pytest.mark.parametrize("name", ["solr", "postgresql"])  # those in Java stop in another way than the others
def test_a_stopped_engine_leaves_nothing_behind(name, request):
    request.getfixturevalue(name)  # skipped where this one is
    with starting.running(name) as engine:
        assert is_listening(engine.url)
        assert engine.memory() > 0

    assert engine.process.poll() is not None
    assert not is_listening(engine.url)
    assert not engine.folder.exists()


@pytest.mark.parametrize("name", ["opensearch", "elasticsearch"])
def test_another_analyzer_changes_queries_in_the_plural(name, request, shop):
    engine = request.getfixturevalue(name)
    plurals = [query for query in shop.queries if query.segment == "plural"]
    indexing.index_elastic(engine.url, collection.documents(shop), analyzer="standard", index="unstemmed")

    stemmed, unstemmed = (
        ndcg(shop, lambda text, index=index: indexing.search_elastic(engine.url, text, index=index), plurals)
        for index in ("products", "unstemmed")
    )

    assert unstemmed < stemmed - 0.03


def test_a_lost_shard_is_seen_in_the_answer_alone(opensearch_nodes):
    """``_shards.failed`` is 0 again as soon as the node is missed; what remains is that fewer were successful."""
    first, second = opensearch_nodes
    whole = indexing.ask(first.url, "/products/_search?q=tent&size=500&_source=false")
    assert whole["_shards"] == {"total": 2, "successful": 2, "skipped": 0, "failed": 0}

    second.kill()
    at_once = indexing.ask(first.url, "/products/_search?q=tent&size=500&_source=false")
    assert at_once["_shards"]["successful"] == 1
    first.wait_until(lambda: indexing.ask(first.url, "/_cluster/health")["number_of_nodes"] == 1)

    half = indexing.ask(first.url, "/products/_search?q=tent&size=500&_source=false")
    assert half["_shards"] == {"total": 2, "successful": 1, "skipped": 0, "failed": 0}
    assert 0 < len(half["hits"]["hits"]) < len(whole["hits"]["hits"])
    with pytest.raises(indexing.AnswerError, match=r"^503 .*Search rejected due to missing shards"):
        indexing.ask(first.url, "/products/_search?q=tent&allow_partial_search_results=false")


def start_engine(name, *arguments):
    """The command of README.md, once it answers: its process, the URL, and the folder of the engine."""
    process = subprocess.Popen([sys.executable, START, name, *arguments], stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    url, log = re.fullmatch(r"(\S+)  \(process \d+, \d+ MB, log (.+)\)\n", line).groups()
    assert process.stdout.readline() == "'products' has 3000 documents. Ctrl-C stops the engine.\n"
    process.stdout.close()
    return process, url, Path(log).parent


def test_the_command_gives_a_url_and_files_until_ctrl_c(groonga, tmp_path):
    process, url, folder = start_engine("groonga", "--files", tmp_path)
    assert len(indexing.search_groonga(url, "tent", size=5)) == 5
    assert (tmp_path / "queries.tsv").read_text().startswith("id\ttext\tsegment\nq000\t")

    process.send_signal(signal.SIGINT)

    assert process.wait(starting.LIMIT) == 0
    assert not is_listening(url)
    assert not folder.exists()


@pytest.mark.parametrize("name", ["solr", "postgresql"])
def test_an_engine_ends_with_the_program_that_started_it(name, request):
    request.getfixturevalue(name)
    process, url, folder = start_engine(name)

    process.kill()
    process.wait()

    end = time.monotonic() + starting.LIMIT
    while (is_listening(url) or folder.exists()) and time.monotonic() < end:
        if not is_listening(url):
            shutil.rmtree(folder, ignore_errors=True)  # its last files may still be written
        time.sleep(0.05)
    assert not is_listening(url)
    assert not folder.exists()


def test_a_missing_program_is_named_with_its_package(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    with pytest.raises(starting.MissingError, match=r"^needs the program groonga \(apt install groonga-bin\)$"):
        starting.start("groonga")
    with pytest.raises(starting.MissingError, match=r"^needs the program java \(apt install default-jdk-headless\)$"):
        starting.start("opensearch")
    assert not list(tmp_path.iterdir())
