"""The scripts and suites of the page about live engines, with the engines that it is about."""

import contextlib
import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from engines import collection, indexing, starting
from engines.conftest import without
from engines.test_sources_of_engines import ask_source
from git_repository import commit_all, isolate_git, run_git

from pytest_ireval import load_suite

pytest.importorskip("urllib3", reason="needs pytest-ireval[live]")

PAGE = Path(__file__).parents[2] / "docs" / "live_engines.md"
BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.fixture
def repository(shop, tmp_path, monkeypatch):
    """The files of the page, with the made-up shop as its documents."""
    if not PAGE.exists():
        pytest.skip("needs a checkout of the project")
    for title, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if title.startswith(("engine/", "suites/")):
            (tmp_path / title).parent.mkdir(exist_ok=True)
            (tmp_path / title).write_text(text, encoding="utf-8")
    collection.write(shop, tmp_path / "suites" / "data")
    products = collection.documents(shop)
    (tmp_path / "engine/products.ndjson").write_text(
        "".join(f"{json.dumps({'index': {'_id': each['id']}})}\n{json.dumps(each)}\n" for each in products)
    )
    dated = [{**each, "date": f"{each['date']}T00:00:00Z"} for each in products]
    (tmp_path / "engine/products.json").write_text(json.dumps(dated))
    with (tmp_path / "engine/products.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ("id", "title", "description", "brand"), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(products)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


def bash(script, **variables):
    return subprocess.run(
        ["bash", script], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def engine(request):
    """An engine whose documents are those of this file's tests alone."""
    try:
        made = starting.start(request.param)
    except starting.MissingError as error:
        raise without(error) from None
    yield made
    made.stop()


SCRIPTS = {"opensearch": "opensearch", "elasticsearch": "opensearch", "solr": "solr", "postgresql": "postgresql"}


@pytest.mark.parametrize("engine", SCRIPTS, indirect=True)
def test_the_scripts_load_what_the_suites_ask_for(engine, repository, monkeypatch):
    name = engine.name
    if name == "postgresql":
        pytest.importorskip("psycopg", reason="needs psycopg")
    loaded = bash(f"engine/load-{SCRIPTS[name]}.sh", ENGINE_URL=engine.url)
    assert loaded.returncode == 0, loaded.stderr
    monkeypatch.setenv("ENGINE_URL", engine.url)
    monkeypatch.setenv("DATABASE_URL", engine.url.replace("postgresql:", "postgresql+psycopg:"))

    (answer,) = ask_source(load_suite(repository / "suites" / f"{name}.ireval.yaml"))

    found = [query for query in answer.rankings.queries if answer.rankings.ranking(query)]
    assert len(found) > 0.9 * len(answer.rankings.queries)
    if name == "opensearch":  # its suite records the answers
        monkeypatch.setenv("IREVAL_OFFLINE", "1")
        (again,) = ask_source(load_suite(repository / "suites" / f"{name}.ireval.yaml"))
        assert [again.rankings.ranking(each) for each in found] == [answer.rankings.ranking(each) for each in found]


@pytest.fixture
def opensearch_alone(engine):
    with contextlib.suppress(indexing.AnswerError):
        indexing.ask(engine.url, "/products", method="DELETE")
    return engine


KEYWORD_TITLE = '"title": {"type": "text", "analyzer": "keyword"}'
only_opensearch = pytest.mark.parametrize("engine", ["opensearch"], indirect=True)


@only_opensearch
def test_an_analyzer_of_the_branch_is_compared_with_that_of_main(engine, repository, monkeypatch):
    """The page about two commits: each side builds an index of its own, and no baseline is stored."""
    isolate_git(monkeypatch, repository)
    monkeypatch.setenv("ENGINE_URL", engine.url)
    page = PAGE.with_name("versus.md").read_text(encoding="utf-8")
    for name, old, new in (
        ("engine/load-opensearch.sh", "index=products", "index=products_$IREVAL_SIDE"),
        ("suites/opensearch.ireval.yaml", "/products", "/products_${IREVAL_SIDE:-head}"),
    ):
        text = (repository / name).read_text()
        assert text.count(old) == 1
        assert new in page
        (repository / name).write_text(text.replace(old, new))
    for suite in repository.glob("suites/*.yaml"):
        if suite.name != "opensearch.ireval.yaml":
            suite.unlink()
    title, settings = next(block for block in BLOCK.findall(page) if block[0] == "pyproject.toml")
    (repository / title).write_text(settings)
    (repository / ".gitignore").write_text("recordings/\nireval-report/\n.pytest_cache/\n")
    run_git(repository, "init", "--quiet", "--initial-branch=main")
    commit_all(repository, "begun")
    run_git(repository, "checkout", "--quiet", "-b", "change")

    def gate():
        for side in ("base", "head"):
            with contextlib.suppress(indexing.AnswerError):
                indexing.ask(engine.url, f"/products_{side}", method="DELETE")
        command = [sys.executable, "-m", "pytest", "--ireval", "suites/", "--ireval-versus", "main"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    (repository / "README.md").write_text("words")
    commit_all(repository, "harmless")
    harmless = gate()
    assert harmless.returncode == 0, harmless.stdout

    index = repository / "engine/index.json"
    index.write_text(index.read_text().replace('"title": {"type": "text", "analyzer": "english"}', KEYWORD_TITLE))
    commit_all(repository, "another analyzer")
    red = gate()
    assert red.returncode == 1, red.stdout
    assert "no_regression" in red.stdout
    assert " error" not in red.stdout


@only_opensearch
def test_a_document_that_the_engine_refuses_stops_the_job(opensearch_alone, engine, repository):
    with (repository / "engine/products.ndjson").open("a") as file:
        file.write('{"index": {"_id": "x"}}\n{"title": {"not": "a text"}}\n')

    assert bash("engine/load-opensearch.sh", ENGINE_URL=engine.url).returncode != 0
