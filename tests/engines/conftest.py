"""Engines that run until the end of the session, with the shop in them."""

import contextlib
import os

import pytest
from engines import collection, indexing, starting

REQUIRED = os.environ.get("IREVAL_ENGINES") == "required"


def pytest_collection_modifyitems(items):
    """A test that uses an engine, as a fixture or as a parameter, is marked and does not run by default."""
    engines = {*starting.STARTERS, "opensearch_nodes"}
    for item in items:
        parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if engines & {*getattr(item, "fixturenames", ()), *(each for each in parameters if isinstance(each, str))}:
            item.add_marker(pytest.mark.engines)


def without(error):
    """A failure where engines are required, else a skipped test."""
    if REQUIRED:
        return pytest.fail.Exception(f"{error}, but IREVAL_ENGINES=required", pytrace=False)
    return pytest.skip.Exception(str(error))


@pytest.fixture(scope="session")
def shop():
    return collection.make()


def _fixture(name):
    @pytest.fixture(scope="session", name=name)
    def engine(shop):
        try:
            started = starting.start(name)
        except starting.MissingError as error:
            raise without(error) from None
        try:
            indexing.INDEX[name](started.url, collection.documents(shop))
            yield started
        finally:
            started.stop()

    return engine


opensearch = _fixture("opensearch")
elasticsearch = _fixture("elasticsearch")
solr = _fixture("solr")
postgresql = _fixture("postgresql")
pgvector = _fixture("pgvector")
groonga = _fixture("groonga")


@pytest.fixture
def opensearch_nodes(shop):
    """Two nodes with a shard each; a test may kill the second."""
    with contextlib.ExitStack() as stack:
        try:
            nodes = stack.enter_context(starting.opensearch_nodes())
        except starting.MissingError as error:
            raise without(error) from None
        indexing.index_elastic(nodes[0].url, collection.documents(shop), shards=2)
        yield nodes
