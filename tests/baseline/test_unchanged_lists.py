"""Lists that did not change are found and judged once: the result does not depend on how many are taken at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.baseline.changes import find_changed_queries
from pytest_ireval.data import join
from pytest_ireval.data.from_objects import judgments_from, rankings_from
from pytest_ireval.data.join import begin_alike, judge

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
    changed = find_changed_queries([rankings_from(before)], [rankings_from(now)], depth)

    assert changed == tuple(sorted(q for q in before if q in now and before[q][:depth] != now[q][:depth]))


GRADES = st.dictionaries(
    st.sampled_from([*QUERIES[:3], "never asked"]),
    st.dictionaries(
        st.sampled_from([*DOCUMENTS[:5], *(ids[0] for ids in OF_ONE_LENGTH), "never ranked"]),
        st.integers(-1, 3),
        min_size=1,
    ),
    min_size=1,
)


def found(judged):
    """What judging finds, as plain values."""
    columns = [column.tolist() for column in judged.hits]
    return judged.retrieved.tolist(), judged.present.tolist(), columns


@pytest.mark.usefixtures("size")
@given(LISTS, LISTS, GRADES, GRADES, st.integers(1, 6), st.integers(0, 2), st.booleans())
def test_lists_that_did_not_change_are_judged_once_and_alike(before, now, grades, others, depth, which, ordered):
    """In every order: with other judgments, longer lists, other queries and other scores."""
    cuts = (lambda ids: ids[:depth], lambda ids: ids[: depth + 1], lambda ids: [*ids[:depth], *ids[: depth - 1 : -1]])
    before |= {query: cuts[(number + which) % 3](now[query]) for number, query in enumerate(now) if number < 3}
    judgments, unlike = judgments_from(grades), judgments_from(others)
    scored = {q: {document: float(9 - place // 2) for place, document in enumerate(ids)} for q, ids in before.items()}
    ours, theirs = rankings_from(scored, by_id=False), rankings_from(now)
    if ordered:
        judge(judgments, theirs, documents=False)

    begin_alike(ours, theirs, depth + 1)
    same = begin_alike(ours, theirs, depth)

    assert same.tolist() == [q in now and now[q][:depth] == before[q][:depth] for q in ours.queries]
    for each in (judgments, unlike, judgments, judgments):
        for rankings, source in ((theirs, now), (ours, scored)):
            plain = rankings_from(source, by_id=False)
            assert found(judge(each, rankings, documents=False)) == found(judge(each, plain, documents=False))
            assert found(judge(each, rankings)) == found(judge(each, plain, documents=False))
