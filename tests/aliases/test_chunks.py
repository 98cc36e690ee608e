"""Retrieved chunks count as the judged passages that they cover, each passage once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import InputError
from pytest_ireval.data.aliases import collect_passages
from pytest_ireval.data.from_objects import convert_judgments, convert_rankings

JUDGMENTS = {"q": {"book#0-100": 2, "book#100-200": 1}, "r": {"book#50-150": 1}}


def collect_passages_of(chunks, share=0.5, judgments=JUDGMENTS, query="q"):
    rankings = convert_rankings({query: chunks})
    return collect_passages(convert_judgments(judgments), share).in_rankings(rankings).ranking(query)


@pytest.mark.parametrize(
    ("chunks", "names"),
    [
        (["book#0-60", "book#60-300"], ["book#0-100", "book#100-200"]),
        (["book#0-50", "book#150-200"], ["book#0-100", "book#100-200"]),
        (["book#0-49"], ["book#0-49"]),
        (["book#80-190"], ["book#100-200"]),
        (["book#0-200"], ["book#0-100"]),
        (["book#0-200", "book#10-210"], ["book#0-100", "book#100-200"]),
        (["book#0-100", "book#5-95", "other#0-9"], ["book#0-100", "other#0-9"]),
    ],
)
def test_a_chunk_counts_as_the_passage_that_it_covers(chunks, names):
    assert collect_passages_of(chunks) == names


def test_each_query_has_its_own_passages():
    assert collect_passages_of(["book#40-160"], query="r") == ["book#50-150"]
    assert collect_passages_of(["book#40-160"], query="unjudged") == ["book#40-160"]


def test_a_name_may_hold_the_marks_of_a_span():
    judgments = {"q": {"https://a.example/b#part-2#0-9": 1}}

    assert collect_passages_of(["https://a.example/b#part-2#0-12"], judgments=judgments) == [
        "https://a.example/b#part-2#0-9"
    ]


def test_fields_of_a_chunk_become_those_of_its_passage():
    rankings = convert_rankings({"q": ["book#0-90"]})
    object.__setattr__(rankings, "fields", {"book#0-90": {"text": "x"}})

    found = collect_passages(convert_judgments(JUDGMENTS), 0.5).in_rankings(rankings)
    assert found.fields["book#0-100"] == {"text": "x"}


@pytest.mark.parametrize("name", ["book", "book#9-8", "book#1-"])
def test_a_judged_document_without_a_span_is_an_error(name):
    with pytest.raises(InputError, match=r"row 2\n.*document .* has no span\n.*DOCUMENT#START-END"):
        collect_passages(convert_judgments({"q": {"book#0-10": 1, name: 1}}), 0.5)
    assert collect_passages_of(["book#0-100", name]) == ["book#0-100", name]  # as a baseline may have it


SPANS = st.tuples(st.integers(0, 30), st.integers(1, 15)).map(lambda span: f"d#{span[0]}-{span[0] + span[1]}")


@given(st.lists(SPANS, unique=True, max_size=8), st.lists(SPANS, unique=True, min_size=1, max_size=5))
def test_names_stay_unique_and_a_second_time_changes_nothing(chunks, judged):
    passages = collect_passages(convert_judgments({"q": dict.fromkeys(judged, 1)}), 0.5)
    found = passages.in_rankings(convert_rankings({"q": chunks}))
    names = found.ranking("q")

    assert len(set(names)) == len(names) <= len(chunks)
    assert {*names} <= {*chunks, *judged}
    assert passages.in_rankings(found).ranking("q") == names
