"""``ireval check`` reads judgments and files of rankings too, and names what would stop the gate."""

import pytest

RANKINGS = "".join(f"q{q} Q0 d{n} {n} {9 - n} x\n" for q in range(3) for n in range(1, 5))
JUDGMENTS = "".join(f"q{q} 0 d{n} {n % 3}\n" for q in range(3) for n in range(1, 5))
SUITE = """\
ireval: 1
suite: shop
source: {run: runs/*.trec}
judgments: judgments.txt
rules:
  - threshold: {AP: ">= 0.1"}
"""


@pytest.fixture
def checked(tmp_path, monkeypatch, ireval):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()

    def check(rankings=RANKINGS, judgments=JUDGMENTS, suite=SUITE):
        if rankings is not None:
            (tmp_path / "runs/now.trec").write_text(rankings)
        (tmp_path / "judgments.txt").write_text(judgments)
        (tmp_path / "shop.ireval.yaml").write_text(suite)
        return ireval("check", "shop.ireval.yaml")

    return check


def test_sound_ones_have_no_mistake(checked):
    assert checked() == (0, "shop.ireval.yaml: shop: 1 metric, 1 rule\n", "")


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
def test_a_mistake_of_an_input_is_named(checked, inputs, complaint):
    found = checked(**inputs)

    assert found.code == 1
    assert complaint in found.out
    assert found.out.endswith("1 mistake\n")


def test_rankings_that_are_not_there_yet_are_a_warning(checked):
    found = checked(rankings=None)

    assert found.code == 0
    assert "warning: shop: rankings are not checked, for there is no file runs/*.trec\n" in found.out


def test_no_other_source_is_asked(checked, tmp_path):
    (tmp_path / "search.py").write_text("def search(text):\n    raise SystemExit('asked')\n")

    assert checked(suite=SUITE.replace("{run: runs/*.trec}", "{python: search:search}")).code == 0
    assert checked(suite=SUITE.replace("{run: runs/*.trec}", "{python: search:search}"), judgments="").code == 1


def test_wrong_weights_name_the_suite_and_are_all_counted(checked, tmp_path):
    rows = "".join(f"q{number}\tshoes\t한국어\n" for number in range(30))
    (tmp_path / "queries.tsv").write_text(f"id\ttext\tlanguage\n{rows}")
    suite = SUITE.replace("rules:", "queries: queries.tsv\nweight: language\nrules:")

    code, out, _ = checked(suite=suite, judgments="".join(f"q{n} 0 d1 1\n" for n in range(30)))

    assert code == 1
    assert out.startswith(
        "shop.ireval.yaml: shop: 30 mistakes\n"
        "queries.tsv:2\n  language is '한국어'; a weight is 0 or more\n"
        "  weight: language in shop.ireval.yaml chooses this column\n"
        "queries.tsv:3\n  language is '한국어'; a weight is 0 or more\n"
    )
    assert out.endswith("… and 25 more\n30 mistakes\n")
