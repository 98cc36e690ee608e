"""Agreement of judges: published examples, and definitions spelled out pair by pair."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import read_judgments
from pytest_ireval.data.from_objects import convert_judgments
from pytest_ireval_judgments.agreement import (
    compare_all_judges,
    compare_pairs_of_judges,
    compute_fleiss,
    compute_krippendorff,
)
from pytest_ireval_judgments.panel import Votes, make_panel


def panel(**judges):
    """Judges by name with ``{document: grade}`` of one query."""
    return make_panel([(name, convert_judgments({"q": grades})) for name, grades in judges.items() if grades])


def votes_of(things):
    """Votes of anonymous judges, from the grades of each thing."""
    thing = np.repeat(np.arange(len(things)), list(map(len, things)))
    return Votes(("any",), len(things), thing, thing * 0, np.array([g for grades in things for g in grades], float))


def test_fleiss_kappa_of_ten_subjects_and_fourteen_judges():
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    subjects = [[grade for grade, count in enumerate(row) for _ in range(count)] for row in counts]

    assert compute_fleiss(votes_of(subjects)) == pytest.approx(0.210, abs=5e-4)


OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
"""Krippendorff's example of four observers and twelve units; a point is a missing value."""


def test_krippendorffs_alpha_of_four_observers():
    observed = [{f"d{i}": int(grade) for i, grade in enumerate(row) if grade != "."} for row in OBSERVERS]
    found = compare_all_judges(panel(**dict(zip("ABCD", observed, strict=True))), rel=1)

    assert (found.judged, found.by_all) == (11, 8)
    assert [round(each, 3) for each in (found.nominal, found.ordinal, found.interval)] == [0.743, 0.815, 0.849]


def plain_alpha(units, level):
    """One less observed by expected disagreement: within units, and between all values that can be paired."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]

    def distance(a, b):
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return float((a - b) ** 2)
        low, high = sorted((a, b))
        between = sum(low <= value <= high for value in values)
        return (between - (values.count(a) + values.count(b)) / 2) ** 2 if a != b else 0.0

    observed = sum(sum(distance(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units) / len(
        values
    )
    expected = sum(distance(a, b) for a, b in permutations(values, 2)) / (len(values) * (len(values) - 1))
    return 1 - observed / expected if expected else None


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=8).filter(
        lambda units: any(len(unit) > 1 for unit in units)
    ),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_is_what_its_definition_says(units, level):
    several = [unit for unit in units if len(unit) > 1]

    assert compute_krippendorff(votes_of(several), level) == pytest.approx(plain_alpha(units, level))


def test_a_figure_without_a_value_is_not_invented():
    """All grades are the same, so chance explains everything; the third judge shares no document with the others."""
    found = panel(ann={"a": 1, "b": 1}, bob={"a": 1, "b": 1}, cid={"c": 0})

    pairs = {(each.judge, each.other): each for each in compare_pairs_of_judges(found, rel=1)}
    assert (pairs["ann", "bob"].agreement, pairs["ann", "bob"].kappa) == (1.0, None)
    assert (pairs["ann", "cid"].both, pairs["ann", "cid"].agreement, pairs["ann", "cid"].overlap) == (0, None, None)
    assert compare_all_judges(found, rel=1).fleiss is None


def test_judges_of_many_files_are_joined_by_pairs(tmp_path):
    """The same document of another query is another pair."""
    (tmp_path / "ann.txt").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n")
    (tmp_path / "bob.txt").write_text("q2 0 a 0\nq1 0 b 0\nq3 0 a 1\n")
    files = [(name, read_judgments(tmp_path / f"{name}.txt")) for name in ("ann", "bob")]
    (found,) = compare_pairs_of_judges(make_panel(files), rel=1)

    assert (found.both, found.agreement, found.overlap) == (2, 0.5, 0.0)
