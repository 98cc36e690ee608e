"""Lists that did not change are found, however many are compared at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.baseline.changes import find_changed_queries
from pytest_ireval.data import join
from pytest_ireval.data.from_objects import convert_rankings

DOCUMENTS = ("a", "b\t", "c\\", "document7", "ü", "x" * 40)
QUERIES = ("q1", "q\n2", "query 3", "4")
OF_ONE_LENGTH = [["doc 1", "doc 2", "doc 3"], ["doc 10", "doc 11", "doc 12"], ["doc 1000", "doc 1001"]]
LISTS = st.dictionaries(
    st.sampled_from(QUERIES),
    st.one_of(st.lists(st.sampled_from(ids), unique=True, max_size=6) for ids in [DOCUMENTS, *OF_ONE_LENGTH]),
    min_size=1,
)


@pytest.fixture(params=[1, 7, 1 << 16])
def size(request, monkeypatch):
    """A number of rows that are taken at a time."""
    monkeypatch.setattr(join, "BLOCK", request.param)
    return request.param


@pytest.mark.usefixtures("size")
@given(LISTS, LISTS, st.integers(1, 6))
def test_changed_queries_are_those_with_other_first_documents(before, now, depth):
    changed = find_changed_queries([convert_rankings(before)], [convert_rankings(now)], depth)

    assert changed == tuple(sorted(q for q in before if q in now and before[q][:depth] != now[q][:depth]))
