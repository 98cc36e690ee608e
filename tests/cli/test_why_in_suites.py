"""``ireval why --suite``: what is said where no baseline to compare with."""

import pytest

SUITE = """\
ireval: 1
suite: shop
source: {run: rankings.txt}
judgments: judgments.txt
rules:
  - no_regression: {metric: AP, tolerance: 1%}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "baselines").mkdir()
    (tmp_path / "shop.yaml").write_text(SUITE)
    (tmp_path / "judgments.txt").write_text("q1 0 a 1\nq2 0 a 1\n")
    (tmp_path / "rankings.txt").write_text("q1 Q0 a 1 1 x\nq2 Q0 a 1 1 x\n")
    (tmp_path / "baselines/shop.baseline").write_text("<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> main\n")
    return tmp_path


def test_a_baseline_in_conflict_is_told_instead_of_asking_for_a_query(ireval, folder):
    assert ireval("why", "AP", "--suite", "shop.yaml") == (
        2,
        "",
        "error: baselines/shop.baseline:1\n"
        "  has the marks of a merge conflict\n"
        '  accept again: pytest --ireval shop.yaml --ireval-update --ireval-force --ireval-reason "…"\n'
        "there is no baseline to choose a query by: name a query with --query\n",
    )


def test_the_text_of_a_query_leads_to_its_id(ireval, folder):
    (folder / "queries.tsv").write_text("id\ttext\nq1\tred shoes\nq2\t무선 이어폰\n")
    (folder / "shop.yaml").write_text(SUITE.replace("rules:", "queries: queries.tsv\nrules:"))

    assert ireval("why", "AP", "--suite", "shop.yaml", "--query", "무선 이어폰") == (
        2,
        "",
        "error: queries.tsv\n  query '무선 이어폰' is not judged\n  that is the text of 'q2'\n",
    )
