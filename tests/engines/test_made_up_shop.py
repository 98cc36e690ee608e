"""The made-up shop is the same everywhere, and changes of an engine (here SQLite) show in it as they do in life."""

import hashlib
import sqlite3
from collections import Counter
from statistics import fmean

import pytest
from engines import collection
from engines.indexing import index_sqlite, search_sqlite

from pytest_ireval import evaluate

pytestmark = pytest.mark.skipif(
    not sqlite3.connect(":memory:").execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()[0],
    reason="needs FTS5 in Python's SQLite",
)


@pytest.fixture(scope="module")
def products(shop):
    return collection.documents(shop)


@pytest.fixture(scope="module")
def values(shop, tmp_path_factory):
    """Indexes products, and gives nDCG@10 by segment, of every second query."""

    def measured(products, tokenizer="porter unicode61", **weights):
        path = tmp_path_factory.mktemp("sqlite") / "products.db"
        index_sqlite(path, products, tokenizer)
        queries = shop.queries[::2]
        judgments = {query.id: shop.judgments[query.id] for query in queries}
        rankings = {query.id: search_sqlite(path, query.text, **weights) for query in queries}
        scores = evaluate(judgments, rankings, "nDCG@10")["nDCG@10"].values
        return {
            segment: fmean(scores[query.id] for query in queries if query.segment == segment)
            for segment in collection.SEGMENTS
        }

    return measured


@pytest.fixture(scope="module")
def before(values, products):
    return values(products)


def test_the_shop_is_the_same_on_every_machine(shop):
    digest = hashlib.sha256(repr(shop).encode()).hexdigest()

    assert digest == "77d8039e701c07a4ae031012b17792d420025bdf5c8193aa538d0e68d3c4b929"
    assert len({product.id for product in shop.products}) == 3000
    assert Counter(query.segment for query in shop.queries) == dict.fromkeys(collection.SEGMENTS, 24)


def test_every_query_has_the_document_that_it_was_made_from_and_grades_follow_what_is_asked(shop):
    by_id = {product.id: product for product in shop.products}

    assert all(max(grades.values()) >= 1 for grades in shop.judgments.values())
    assert {grade for grades in shop.judgments.values() for grade in grades.values()} == {0, 1, 2, 3}
    asked = next(query for query in shop.queries if query.segment == "colour")
    colour, material, *_ = asked.text.split()
    best = [by_id[name] for name, grade in shop.judgments[asked.id].items() if grade == 3]
    assert best
    assert all(f"{colour} {material}" in product.title and product.stock > 0 for product in best)


def test_changes_of_the_engine_show_where_they_do_in_life(values, products, before):
    def lost(after):
        return {segment for segment in before if after[segment] < before[segment] - 0.05}

    assert all(0.75 < value <= 1 for value in before.values()), before
    assert lost(values(products, "unicode61")) == {"plural", "colour"}  # no stemmer
    assert lost(values(products, title=0.3)) == {"type", "plural", "colour", "brand", "sentence"}  # no boost of titles
    assert lost(values(products[1::2])) >= {"model", "colour"}  # every second product is not indexed
