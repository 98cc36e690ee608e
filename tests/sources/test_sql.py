"""The source ``sql``: SQLite with full-text search, asked with bound parameters."""

import sqlite3
from contextlib import closing

import pytest

pytest.importorskip("sqlalchemy", reason="needs pytest-ireval[sql]")

SEARCH = "select id, -rank as score, title from shelf where shelf match :text order by rank limit :depth"


@pytest.fixture
def shelf(shop):
    with closing(sqlite3.connect(shop.folder / "shelf.db")) as database, database:
        database.execute("create virtual table shelf using fts5(id unindexed, title, segment unindexed)")
        rows = [("m1", "red mug", "head"), ("m2", "blue mug with a red handle", "tail"), ("p1", "pan", "head")]
        database.executemany("insert into shelf values (?, ?, ?)", rows)
    return shop


def source(shop, **options):
    return {"sql": SEARCH, "database": f"sqlite:///{shop.folder}/shelf.db", **options}


def test_rows_are_documents_and_other_columns_their_fields(shelf):
    rankings = shelf.ask(source(shelf))

    assert rankings.ranking("q1") == ["m1", "m2"]
    assert rankings.fields["m1"] == {"title": "red mug"}
    assert all(0 <= seconds < 60 for seconds in rankings.timings.values())


def test_columns_of_the_queries_are_parameters(shelf):
    by_column = "select id from shelf where segment = :segment order by id"

    assert shelf.lists(source(shelf, sql=by_column)) == {"q1": ["m1", "p1"], "q2": ["m2"]}


def test_the_text_of_a_query_is_never_sql(shelf):
    shelf.queries = type(shelf.queries)(("q1",), ("x' or '1'='1",), {}, "queries.tsv")
    exact = "select id from shelf where title = :text"

    assert shelf.lists(source(shelf, sql=exact)) == {"q1": []}


def test_each_connection_is_set_up(shelf):
    exact = "select id from shelf where title like upper(:text)"

    assert shelf.lists(source(shelf, sql=exact)) == {"q1": ["m1"], "q2": []}
    assert shelf.lists(source(shelf, sql=exact, setup="pragma case_sensitive_like = on")) == {"q1": [], "q2": []}


def test_several_connections(shelf):
    assert shelf.lists(source(shelf, concurrency="4"))["q2"] == ["m2"]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("select id from shelf where shelf match :txt", ":txt is not a column of the queries (queries.tsv)"),
        ("select id from shelves where x = :text", "no such table: shelves, for query 'q1' ('red mug')"),
        ("select title from shelf where shelf match :text", "the rows have no id: their columns are title"),
        (
            "select id, rank as score from shelf where shelf match :text order by rank",
            "query 'q1': the score does not order the rows: 'm2' (",
        ),
    ],
)
def test_what_cannot_be_right(shelf, sql, said):
    assert said in shelf.refused(source(shelf, sql=sql))


def test_an_address_that_is_none(shelf):
    said = shelf.refused(source(shelf, database="shelf.db"))

    assert "database: " in said
    assert "write postgresql+psycopg://${DB_USER}:${DB_PASSWORD}@host/name" in said


def test_sql_that_does_not_depend_on_the_query(shelf):
    with pytest.raises(ValueError, match="sql has no parameter"):
        shelf.source(source(shelf, sql="select id from shelf"))
