"""The collection in each engine, by the engine's own way to load many documents, and a plain search in it.

A title counts three times a description, a brand twice. No library of a client is used: HTTP, or the program psql.
"""

import contextlib
import csv
import http.client
import io
import json
import sqlite3
import subprocess
import urllib.parse
import zlib

FIELDS = ("id", "title", "description", "brand", "price", "stock", "date")
WEIGHTS = {"title": 3, "description": 1, "brand": 2}


class AnswerError(Exception):
    """An engine answers with an error."""


def ask(url, path="", body=None, method=None, kind="application/json"):
    """The JSON of an answer to a GET; with a body to a POST."""
    parts = urllib.parse.urlsplit(url + path)
    with contextlib.closing(http.client.HTTPConnection(parts.netloc, timeout=60)) as connection:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        headers = {"Content-Type": kind} if body is not None else {}
        connection.request(method or ("GET" if body is None else "POST"), target, text and text.encode(), headers)
        answer = connection.getresponse()
        content = answer.read().decode()
    if answer.status >= 400:
        raise AnswerError(f"{answer.status} from {url + path}: {content[:2000]}")
    return json.loads(content) if content else None


def index_elastic(url, products, shards=1, analyzer="english", index="products"):
    """Into an index of OpenSearch or Elasticsearch. More shards than one are spread over the nodes."""
    text = {"type": "text", "analyzer": analyzer}
    properties = {"id": {"type": "keyword"}, "title": text, "description": text, "brand": {"type": "text"}}
    properties |= {"price": {"type": "float"}, "stock": {"type": "integer"}, "date": {"type": "date"}}
    settings = {"number_of_shards": shards, "number_of_replicas": 0}
    if shards > 1:
        settings["routing.allocation.total_shards_per_node"] = 1
    body = {"settings": settings, "mappings": {"dynamic": "strict", "properties": properties}}
    ask(url, f"/{index}?wait_for_active_shards=all", body, "PUT")
    lines = (f"{json.dumps({'index': {'_id': each['id']}})}\n{json.dumps(each)}\n" for each in products)
    answer = ask(url, f"/{index}/_bulk?refresh=true", "".join(lines), kind="application/x-ndjson")
    if answer["errors"]:
        raise AnswerError(json.dumps([item for item in answer["items"] if "error" in item["index"]][:3]))


def search_elastic(url, text, size=10, index="products"):
    fields = [f"{name}^{weight}" for name, weight in WEIGHTS.items()]
    query = {"multi_match": {"query": text, "fields": fields, "type": "most_fields"}}
    answer = ask(url, f"/{index}/_search", {"query": query, "size": size, "_source": False})
    return [hit["_id"] for hit in answer["hits"]["hits"]]


def index_solr(url, products):
    dated = [{**each, "date": f"{each['date']}T00:00:00Z"} for each in products]
    ask(url, "/products/update?commit=true", dated)


def search_solr(url, text, size=10):
    weights = " ".join(f"{name}^{weight}" for name, weight in WEIGHTS.items())
    parameters = {"q": text, "defType": "edismax", "qf": weights, "tie": 1, "q.op": "OR", "rows": size, "fl": "id"}
    answer = ask(url, f"/products/select?{urllib.parse.urlencode(parameters)}")
    return [document["id"] for document in answer["response"]["docs"]]


def _psql(url, statement, rows="", **variables):
    named = [f"--set={name}={value}" for name, value in variables.items()]
    command = ["psql", "-X", "-q", "-A", "-t", "--set=ON_ERROR_STOP=1", *named, "-f", "-", url]
    done = subprocess.run(command, input=f"{statement}\n{rows}", capture_output=True, check=False, encoding="utf-8")
    if done.returncode:
        raise AnswerError(done.stderr)
    return done.stdout


def index_postgresql(url, products):
    table = io.StringIO()
    writer = csv.DictWriter(table, FIELDS, lineterminator="\n")
    writer.writerows(products)
    weighed = " || ".join(
        f"setweight(to_tsvector('english', {name}), '{letter}')"
        for name, letter in (("title", "A"), ("brand", "B"), ("description", "D"))
    )
    columns = "id text PRIMARY KEY, title text, description text, brand text, price real, stock integer, date date"
    _psql(
        url,
        f"CREATE TABLE products ({columns}, words tsvector GENERATED ALWAYS AS ({weighed}) STORED);\n"
        "CREATE INDEX ON products USING gin (words);\n"
        f"COPY products ({', '.join(FIELDS)}) FROM STDIN WITH (FORMAT csv);",
        table.getvalue() + "\\.\n",
    )


def search_postgresql(url, text, size=10):
    statement = """
        SELECT id FROM products, websearch_to_tsquery('english', :'words') AS query
        WHERE words @@ query ORDER BY ts_rank('{0.33, 0.33, 0.67, 1.0}', words, query) DESC, id LIMIT :size;"""
    return _psql(url, statement, words=" or ".join(text.split()), size=size).split()


def vector(text, size=32):
    """A made-up embedding, as pgvector writes it: texts that share words and parts of words are near each other."""
    counts = [0] * size
    for word in text.lower().split():
        for part in {word, *(word[start : start + 3] for start in range(len(word) - 2))}:
            counts[zlib.crc32(part.encode()) % size] += 1
    return json.dumps(counts)


def index_pgvector(url, products):
    """A table that is searched as a whole, and its copy with an approximate index."""
    lines = (f"{product['id']}\t{product['title']}\t{vector(product['title'])}\n" for product in products)
    _psql(
        url,
        "CREATE EXTENSION vector;\nCREATE TABLE products (id text PRIMARY KEY, title text, embedding vector(32));\n"
        "COPY products FROM STDIN;",
        "".join(lines) + "\\.\n"
        "CREATE TABLE indexed AS SELECT * FROM products;\n"
        "CREATE INDEX ON indexed USING hnsw (embedding vector_cosine_ops);\n",
    )


def search_pgvector(url, text, size=10):
    statement = "SELECT id FROM products ORDER BY embedding <=> (:'near')::vector, id LIMIT :size;"
    return _psql(url, statement, near=vector(text), size=size).split()


def index_groonga(url, products):
    for command in (
        "table_create?name=Products&flags=TABLE_HASH_KEY&key_type=ShortText",
        "table_create?name=Terms&flags=TABLE_PAT_KEY&key_type=ShortText"
        "&default_tokenizer=TokenBigram&normalizer=NormalizerAuto",
        *(
            f"column_create?table=Products&name={name}&flags=COLUMN_SCALAR&type={kind}"
            for name, kind in (
                ("title", "ShortText"),
                ("description", "Text"),
                ("brand", "ShortText"),
                ("price", "Float"),
                ("stock", "Int32"),
                ("date", "ShortText"),
            )
        ),
        *(
            f"column_create?table=Terms&name={name}&flags=COLUMN_INDEX%7CWITH_POSITION&type=Products&source={name}"
            for name in WEIGHTS
        ),
    ):
        ask(url, f"/d/{command}")
    renamed = [{("_key" if name == "id" else name): value for name, value in each.items()} for each in products]
    if ask(url, "/d/load?table=Products", renamed)[1] != len(renamed):
        raise AnswerError("Groonga did not load every product")


def search_groonga(url, text, size=10):
    columns = "||".join(f"{name}*{weight}" for name, weight in WEIGHTS.items())
    parameters = {"table": "Products", "match_columns": columns, "query": " OR ".join(text.replace("-", " ").split())}
    parameters |= {"limit": size, "output_columns": "_key", "sort_keys": "-_score,_key"}
    answer = ask(url, f"/d/select?{urllib.parse.urlencode(parameters)}")
    return [key for (key,) in answer[1][0][2:]]


def index_sqlite(path, products, tokenizer="porter unicode61"):
    """Into a table of FTS5. It needs no starter: Python brings it."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        columns = (
            "id UNINDEXED",
            "title",
            "description",
            "brand",
            "price UNINDEXED",
            "stock UNINDEXED",
            "date UNINDEXED",
        )
        database.execute(f"CREATE VIRTUAL TABLE products USING fts5({', '.join(columns)}, tokenize='{tokenizer}')")
        rows = ([each[name] for name in FIELDS] for each in products)
        database.executemany("INSERT INTO products VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def search_sqlite(path, text, size=10, title=WEIGHTS["title"]):
    words = " OR ".join(f'"{word}"' for word in text.split())
    weights = f"0, {title}, {WEIGHTS['description']}, {WEIGHTS['brand']}"
    statement = f"SELECT id FROM products WHERE products MATCH ? ORDER BY bm25(products, {weights}), id LIMIT ?"
    with contextlib.closing(sqlite3.connect(path)) as database:
        return [name for (name,) in database.execute(statement, (words, size))]


INDEX = {
    "opensearch": index_elastic,
    "elasticsearch": index_elastic,
    "solr": index_solr,
    "postgresql": index_postgresql,
    "pgvector": index_pgvector,
    "groonga": index_groonga,
}
SEARCH = {
    "opensearch": search_elastic,
    "elasticsearch": search_elastic,
    "solr": search_solr,
    "postgresql": search_postgresql,
    "pgvector": search_pgvector,
    "groonga": search_groonga,
}
