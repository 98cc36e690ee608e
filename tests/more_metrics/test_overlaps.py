"""AverageOverlap and Jaccard against their definitions."""

import pytest
from graded_rankings import compare_lists
from hypothesis import given
from hypothesis import strategies as st

DOCUMENTS = st.lists(st.sampled_from([f"d{i}" for i in range(12)]), unique=True, max_size=10)


@given(one=DOCUMENTS, other=DOCUMENTS, k=st.integers(1, 12))
def test_jaccard_is_about_sets(one, other, k):
    first, second = set(one[:k]), set(other[:k])

    assert compare_lists(f"Jaccard@{k}", one, other) == (
        len(first & second) / len(first | second) if first | second else 1
    )


@given(one=DOCUMENTS, other=DOCUMENTS, k=st.integers(1, 12))
def test_average_overlap_is_the_mean_of_the_overlaps_at_each_depth(one, other, k):
    depth = min(k, max(len(one), len(other)))
    shares = [len(set(one[:d]) & set(other[:d])) / d for d in range(1, depth + 1)]

    assert compare_lists(f"AverageOverlap@{k}", one, other) == pytest.approx(sum(shares) / depth if depth else 1)
