"""What so many queries can show, in plain words."""

import pytest

from pytest_ireval.report.formatting import describe_resolution
from pytest_ireval.results.outcome import SliceFigures


def figures(queries, resolution, tolerance=None, needed=None, room=0.9):
    return SliceFigures("all", queries, 0.8, 0.9, resolution=resolution, tolerance=tolerance, needed=needed, room=room)


@pytest.mark.parametrize(
    ("each", "words"),
    [
        (figures(12, None), ""),
        (
            figures(12, 0.338, 0.0272, 1874),
            "12 queries show a drop of 0.34 or more in 4 of 5 cases; a drop of 0.027 needs 1,900",
        ),
        (figures(5000, 0.01, 0.02, 1250), "5000 queries show a drop of 0.010 or more in 4 of 5 cases"),
        (figures(3, 1.02, 0.0067, 1161), "3 queries cannot show any drop, however large; a drop of 0.0067 needs 1,200"),
        (figures(3, 1.02, room=None), "3 queries show a drop of 1.02 or more in 4 of 5 cases"),
    ],
)
def test_the_smallest_drop_and_the_queries_that_the_tolerance_takes(each, words):
    assert describe_resolution(each, "drop") == words
