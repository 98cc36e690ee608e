"""Documents that change a figure only together are listed to be judged, as those that change it alone are."""

from suite_files import write_judgments, write_rankings, write_suite

BOTH = '''
from pytest_ireval import hookimpl, per_query_metric


@per_query_metric(name="Both", no_relevant=None)
def both(ranking):
    """Whether the first two documents are relevant."""
    return float(len(ranking.grades) > 1 and min(ranking.grades[:2]) > 0)


@hookimpl
def ireval_metrics():
    return [both]
'''
RULE = "no_regression: {metric: Both, tolerance: 5%, decide_by: observed, against: {run: before.txt}}"


def test_two_documents_that_took_the_first_places_are_to_be_judged_although_neither_alone_has_an_effect(pytester):
    pytester.path.joinpath("conftest.py").write_text(BOTH)
    write_judgments(pytester.path / "judgments.txt", {"q": {"a": 1, "b": 1}})
    write_rankings(pytester.path / "before.txt", {"q": ["a", "b"]})
    write_rankings(pytester.path / "now.txt", {"q": ["new1", "new2"]})
    write_suite(pytester.path, RULE, source="{run: now.txt}", depth=10)

    result = pytester.runpytest("--ireval", ".")

    assert result.ret == 1
    header, *rows = pytester.path.joinpath("ireval-report/to_judge.tsv").read_text().splitlines()
    documents = [dict(zip(header.split("\t"), row.split("\t"), strict=True)) for row in rows]
    assert [(each["document"], float(each["effect"])) for each in documents] == [("new1", 0.0), ("new2", 0.0)]
