"""Whatever is in a file, a reader reads it or refuses it: no other error ever comes out."""

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pytest_ireval import InputError, load_registry
from pytest_ireval.intake.reading import read_judgments, read_queries, read_rankings

READ = {"queries": read_queries, "judgments": read_judgments, "rankings": read_rankings}
REGISTRY = load_registry()
FORMATS = [(reader.holds, reader.name) for reader in REGISTRY.readers] + [(content, None) for content in READ]

SAMPLES = [
    "q 0 d 1\nq 0 e 0\n",
    "query,document,grade,score,subtopic\nq,d,1,2.5,s\n",
    'id\ttext\nq\t"a\n',
    "<top>\n<num> Number: 1\n<title> a\n<desc> b\n</top>\n",
    "2 qid:1 1:0.5 # docid = a\n",
    '{"queries": [{"query_text": "a", "ratings": [{"doc_id": "d", "rating": 1}], "placeholders": {"$query": "a"}}]}',
    '{"query_doc_pairs": [{"query_text": "a", "doc_id": "d", "judgements": [{"rating": 1}]}]}',
    '{"topics": [{"query_groups": [{"queries": [{"placeholders": {"$query": "a"}, "relevant_documents": {"1": ["d"]}}]}'
    "]}]}",
    '{"requests": [{"id": "q", "request": {"query": {"match": {"a": "b"}}}, "ratings": [{"_id": "d", "rating": 1}]}]}',
    "query,docid,Ann\nq,d,1\n",
]
KEYS = [
    "queries",
    "query_text",
    "ratings",
    "doc_id",
    "rating",
    "placeholders",
    "$query",
    "relevant_documents",
    "topics",
]
KEYS += [
    "query_groups",
    "query_doc_pairs",
    "judgements",
    "requests",
    "id",
    "request",
    "query",
    "params",
    "gain",
    "match",
]
trees = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)),
    max_leaves=12,
)


@st.composite
def damaged(draw):
    """A sample with a piece cut out and something else put in."""
    text = draw(st.sampled_from(SAMPLES))
    at = draw(st.integers(0, len(text)))
    put_in = draw(
        st.one_of(st.text('",:{}[]<>\t\n #qid=1.e', max_size=4), st.sampled_from(["null", "\0", "\ud7ff", '"x"']))
    )
    return (text[:at] + put_in + text[at + draw(st.integers(0, 6)) :]).encode("utf-8", "replace")


@pytest.mark.parametrize(("content", "name"), FORMATS, ids=str)
@given(data=st.one_of(damaged(), trees.map(json.dumps).map(str.encode), st.binary(max_size=60)))
@example(data=b"PAR1" * 4)
@example(data=b"\x1f\x8b" + b"a" * 20)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_is_read_or_refused_and_nothing_else(tmp_path, content, name, data):
    path = tmp_path / "file"
    path.write_bytes(data)

    try:
        assert READ[content](path, format=name, registry=REGISTRY) is not None
    except InputError as error:
        assert str(path) in str(error)
