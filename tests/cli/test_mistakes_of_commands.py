"""What commands say when they are called in a way that cannot mean anything, and leave with exit code 2."""

import pytest
from suite_files import write_judgments, write_queries, write_rankings, write_suite


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_judgments(tmp_path / "one.txt", {"q1": {"a": 1, "b": 0}})
    for name in ("run", "run2"):
        write_rankings(tmp_path / f"{name}.txt", {"q1": ["a", "b"]})
    write_queries(tmp_path / "q.tsv", ["q1"])
    write_suite(tmp_path, "threshold: {P@2: '> 0.1'}", source="{run: run.txt}", judgments="one.txt")
    matrix = {"suite": "shop-{lang}", "source": "{run: '{lang}.txt'}", "matrix": "{lang: [run, run2]}"}
    many = write_suite(tmp_path, "threshold: {P@2: '> 0.1'}", judgments="one.txt", **matrix)
    many.rename(tmp_path / "many.ireval.yaml")
    counts = {"suite": "counts", "source": "{run: run.txt}", "queries": "q.tsv", "judgments": None}
    write_suite(tmp_path, "threshold: {Empty: '<= 0'}", **counts)
    (tmp_path / "empty").mkdir()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("check --schema empty empty", "--schema takes one folder"),
        ("check --output x.json shop.ireval.yaml", "--output needs --schema"),
        ("check empty", "no suite was found (*.ireval.yaml, or YAML with a line that begins with ireval:)"),
        ("compare one.txt run.txt", "give at least two RANKINGS"),
        ("compare one.txt run.txt run2.txt --timings run.txt", "--timings is given 1 times for 2 RANKINGS"),
        ("evaluate - -", "only one of JUDGMENTS and RANKINGS can be standard input"),
        ("why AP", "name the files: ireval why METRIC JUDGMENTS RANKINGS, or a suite: --suite FILE"),
        ("why AP - -", "only one of the files can be standard input"),
        ("why AP --suite counts.ireval.yaml", "counts.ireval.yaml:1:1\n  has no judgments, which AP needs"),
        ("why AP --suite many.ireval.yaml", "has several suites: which one?"),
        ("why AP --suite many.ireval.yaml --named shop-en", "has no suite 'shop-en'"),
    ],
)
def test_the_mistake_is_named(ireval, line, said):
    found = ireval(*line.split())

    assert (found.code, found.out) == (2, "")
    assert said in found.err


@pytest.mark.usefixtures("folder")
def test_a_link_that_leads_nowhere_is_named_where_suites_are_looked_for(ireval, tmp_path):
    (tmp_path / "lost.ireval.yaml").symlink_to(tmp_path / "gone.yaml")

    found = ireval("check", tmp_path)

    assert (found.code, found.err) == (1, "")
    assert found.out.endswith("lost.ireval.yaml\n  cannot be read: the link is broken\n1 mistake\n")
    assert "shop.ireval.yaml: shop: 1 metric, 1 rule\n" in found.out
