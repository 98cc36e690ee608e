"""Documents that change a figure only together are listed to be judged, as those that change it alone are."""

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
SUITE = """
ireval: 1
suite: pairs
source: {run: now.txt}
judgments: judgments.txt
depth: 10
metrics: [Both]
rules:
  - no_regression: {metric: Both, tolerance: 5%, decide_by: observed, against: {run: before.txt}}
"""


def test_two_documents_that_took_the_first_places_are_to_be_judged_although_neither_alone_has_an_effect(pytester):
    pytester.path.joinpath("conftest.py").write_text(BOTH)
    pytester.path.joinpath("judgments.txt").write_text("q 0 a 1\nq 0 b 1\n")
    pytester.path.joinpath("before.txt").write_text("q Q0 a 1 2 x\nq Q0 b 2 1 x\n")
    pytester.path.joinpath("now.txt").write_text("q Q0 new1 1 2 x\nq Q0 new2 2 1 x\n")
    pytester.path.joinpath("pairs.ireval.yaml").write_text(SUITE)

    result = pytester.runpytest("--ireval", ".")

    assert result.ret == 1
    header, *rows = pytester.path.joinpath("ireval-report/to_judge.tsv").read_text().splitlines()
    documents = [dict(zip(header.split("\t"), row.split("\t"), strict=True)) for row in rows]
    assert [(each["document"], float(each["effect"])) for each in documents] == [("new1", 0.0), ("new2", 0.0)]
