"""``ireval check`` reads judgments and files of rankings too, and names what would stop the gate."""

import pytest
from suite_files import write_queries, write_suite

RANKINGS = "".join(f"q{q} Q0 d{n} {n} {9 - n} x\n" for q in range(3) for n in range(1, 5))
JUDGMENTS = "".join(f"q{q} 0 d{n} {n % 3}\n" for q in range(3) for n in range(1, 5))
PYTHON = "{python: search:search}"


@pytest.fixture
def check(tmp_path, monkeypatch, ireval):
    """Checks a suite about these judgments and rankings."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()

    def write_and_check(rankings=RANKINGS, judgments=JUDGMENTS, source="{run: runs/*.trec}", **keys):
        if rankings is not None:
            (tmp_path / "runs/now.trec").write_text(rankings)
        (tmp_path / "judgments.txt").write_text(judgments)
        write_suite(tmp_path, "threshold: {AP: '>= 0.1'}", source=source, **keys)
        return ireval("check", "shop.ireval.yaml")

    return write_and_check


def test_sound_inputs_have_no_mistake(check):
    assert check() == (0, "shop.ireval.yaml: shop: 1 metric, 1 rule\n", "")


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [
        ({"judgments": RANKINGS, "rankings": JUDGMENTS}, "are judgments and rankings swapped?"),
        ({"rankings": ""}, "runs/now.trec\n  the file is empty"),
        ({"rankings": RANKINGS.replace(" d", " sku-")}, "none of the 12 ranked documents is judged"),
        ({"rankings": RANKINGS[: RANKINGS.index("q2")]}, "ranks 2 of 3 judged queries"),
        ({"judgments": JUDGMENTS + "q0 0 d1 x\n"}, "judgments.txt:13"),
    ],
    ids=["swapped", "no rankings", "other documents", "a missing query", "a bad line"],
)
def test_a_mistake_of_an_input_is_named(check, inputs, complaint):
    printed = check(**inputs)

    assert printed.code == 1
    assert complaint in printed.out
    assert printed.out.endswith("1 mistake\n")


def test_rankings_that_are_not_there_yet_are_a_warning(check):
    printed = check(rankings=None)

    assert printed.code == 0
    assert "warning: shop: rankings are not checked, for there is no file runs/*.trec\n" in printed.out


def test_no_other_source_is_asked(check, tmp_path):
    (tmp_path / "search.py").write_text("def search(text):\n    raise SystemExit('asked')\n")

    assert check(source=PYTHON).code == 0
    assert check(source=PYTHON, judgments="").code == 1


def test_wrong_weights_name_the_suite_and_are_all_counted(check, tmp_path):
    queries = [f"q{number}" for number in range(30)]
    write_queries(tmp_path / "queries.tsv", queries, language=["한국어"] * 30)
    judgments = "".join(f"{query} 0 d1 1\n" for query in queries)

    code, out, _ = check(judgments=judgments, queries="queries.tsv", weight="language")

    assert code == 1
    assert out.startswith(
        "shop.ireval.yaml: shop: 30 mistakes\n"
        "queries.tsv:2\n  language is '한국어'; a weight is 0 or more\n"
        "  weight: language in shop.ireval.yaml chooses this column\n"
        "queries.tsv:3\n  language is '한국어'; a weight is 0 or more\n"
    )
    assert out.endswith("… and 25 more\n30 mistakes\n")
