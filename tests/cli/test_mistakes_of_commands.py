"""What commands say when they are called in a way that cannot mean anything, and leave with exit code 2."""

import pytest

JUDGMENTS = "q1 0 a 1\nq1 0 b 0\n"
RANKINGS = "q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\n"
SUITE = "ireval: 1\nsuite: shop\nsource: {run: run.txt}\njudgments: one.txt\nrules: [{threshold: {P@2: '> 0.1'}}]\n"
EMPTY = "ireval: 1\nsuite: counts\nsource: {run: run.txt}\nqueries: q.tsv\nrules: [{threshold: {Empty: '<= 0'}}]\n"
MATRIX = SUITE.replace("suite: shop", "suite: shop-{lang}\nmatrix: {lang: [run, run2]}").replace(
    "{run: run.txt}", "{run: '{lang}.txt'}"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "one.txt": JUDGMENTS,
        "run.txt": RANKINGS,
        "run2.txt": RANKINGS,
        "q.tsv": "id\ttext\nq1\tmug\n",
        "shop.ireval.yaml": SUITE,
        "many.ireval.yaml": MATRIX,
        "counts.ireval.yaml": EMPTY,
    }.items():
        (tmp_path / name).write_text(text)
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
