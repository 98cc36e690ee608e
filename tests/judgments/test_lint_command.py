"""``ireval lint``: what is doubtful, with file and line; each check finds its own and nothing else."""

import json

import pytest
from suite_files import write_judgments, write_rankings

from pytest_ireval_judgments.linting import find_near_duplicates

JUDGMENTS = """\
# query iteration document grade
q1 0 a 3
q1 0 b 0
q2 0 a 0
q2 0 b -1
q3 0 a 1
q3 0 b 2
q9 0 a 1
q9 0 b 0
"""
QUERIES = "id\ttext\nq1\tred mug\nq2\tRed mugs\nq3\t\nq4\tteapot\n"
RANKINGS = "q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\nq2 Q0 b 2 1 t\nq3 Q0 a 1 1 t\nq3 Q0 b 2 0 t\nq9 Q0 x 1 2 t\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in (("judgments.txt", JUDGMENTS), ("queries.tsv", QUERIES), ("rankings.txt", RANKINGS)):
        (tmp_path / name).write_text(content)
    (tmp_path / "holdout.tsv").write_text("id\ttext\nh1\tgreen cup\nh2\ttaepot\n")
    return "judgments.txt", "rankings.txt", "--queries", "queries.tsv", "--scale", "0..2", "--holdout", "holdout.tsv"


FINDINGS = [
    "judgments.txt:4: query 'q2': none of 2 judged documents is relevant [no-relevant]",
    "judgments.txt:6: query 'q3': all 2 judged documents are relevant [all-relevant]",
    "queries.tsv:5: query 'q4' has no judgments [not-judged]",
    "judgments.txt:8: query 'q9' is judged, but is not in queries.tsv [unknown-query]",
    "queries.tsv:3: query 'q2' 'Red mugs' is nearly the same as query 'q1' 'red mug' at queries.tsv:2 [near-duplicate]",
    "queries.tsv:5: query 'q4' 'teapot' is nearly the same as the holdout query 'h2' 'taepot' at holdout.tsv:3 [leak]",
    "queries.tsv:4: query 'q3' has no text [no-text]",
    "judgments.txt:2: document 'a' of query 'q1' has grade 3, outside 0 to 2 [outside-scale]",
    "judgments.txt:5: document 'b' of query 'q2' has grade -1, outside 0 to 2 [outside-scale]",
    "judgments.txt:3: query 'q1': no ranking returns 1 of 2 judged documents, 0 of them relevant [never-returned]",
    "judgments.txt:8: query 'q9': no ranking returns 2 of 2 judged documents, 1 of them relevant ('a') "
    "[never-returned]",
]
SUMMARY = (
    "11 found: 1 no-relevant, 1 all-relevant, 1 not-judged, 1 unknown-query, 1 near-duplicate, 1 leak, 1 no-text, "
    "2 outside-scale, 2 never-returned"
)


ONE_POOL = (
    "judgments.txt: 100% of the first 10 documents are judged in old.txt, but 60% in new.txt: if one ranking chose the "
    "documents to judge, others score too low (ireval pool --judged shows by how much) [one-pool]"
)

REPEATED = "table.csv:4: document 'a' of query 'q' has grade 1 here, as at table.csv:2 [repeated]"


def test_a_judgment_that_is_there_twice_is_doubtful_unless_another_judge_made_it(ireval, files, tmp_path):
    (tmp_path / "table.csv").write_text("query,document,grade,judge\nq,a,1,Ann\nq,b,0,Ann\nq,a,1,Ann\nq,b,0,Bob\n")

    assert ireval("lint", "table.csv").out == f"{REPEATED}\n1 found: 1 repeated\n"


def test_judgments_that_one_ranking_chose_are_doubtful(ireval, files, tmp_path):
    """The first ten of the old system are judged, and six of the ten that the new one has."""
    write_judgments(tmp_path / "judgments.txt", {"q": {d: i % 2 for i, d in enumerate("abcdefghij")}})
    for name, documents in {"old": "abcdefghijx", "new": "vwxyabcdef", "fair": "jihgfedcba"}.items():
        write_rankings(tmp_path / f"{name}.txt", {"q": documents})

    assert ireval("lint", "judgments.txt", "old.txt", "new.txt").out == f"{ONE_POOL}\n1 found: 1 one-pool\n"
    assert ireval("lint", "judgments.txt", "old.txt", "fair.txt").out == "nothing found\n"
    assert ireval("lint", "judgments.txt", "old.txt").out == "nothing found\n"


def test_a_holdout_without_queries_is_refused(ireval, files):
    assert (
        "--holdout is compared with --queries: give both"
        in ireval("lint", "judgments.txt", "--holdout", "holdout.tsv").err
    )


def test_everything_doubtful_is_listed_by_check_and_line(ireval, files):
    assert ireval("lint", *files) == (1, "\n".join([*FINDINGS, SUMMARY]) + "\n", "")


def test_checks_can_be_ignored_and_are_counted(ireval, files):
    outcome = ireval("lint", "judgments.txt", "--ignore", "no-relevant", "--ignore", "all-relevant")

    assert outcome == (0, "nothing found; 2 ignored\n", "")


def test_relevance_is_what_rel_says(ireval, files):
    out = ireval("lint", "judgments.txt", "--rel", "2").out

    assert "judgments.txt:8: query 'q9': none of 2 judged documents is relevant [no-relevant]\n" in out
    assert "all-relevant" not in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scale", "3..0"), "--scale 3..0 is not a scale; write it as 0..3"),
        (("--ignore", "no-relevan"), "unknown check 'no-relevan'; did you mean 'no-relevant'?"),
    ],
)
def test_options_that_make_no_sense_are_refused(ireval, files, options, message):
    outcome = ireval("lint", "judgments.txt", *options)

    assert outcome.code == 2
    assert message in outcome.err


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("red mug", "mug red"),
        ("café au lait", "cafe au lait"),
        ("mugs", "mug"),
        ("espresso cups", "espreso cups"),
        ("espresso cups", "epsresso cups"),
    ],
)
def test_near_duplicates(one, other):
    assert find_near_duplicates(["teapot", one, "kettle", other]) == [(1, 3)]


@pytest.mark.parametrize(
    ("one", "other"),
    [("iphone 1", "iphone 12"), ("vitamin b", "vitamin c"), ("boot", "boat"), ("red mugs", "xred mug"), ("!", "?")],
)
def test_what_is_near_but_another_thing(one, other):
    assert find_near_duplicates([one, other]) == []


def test_each_text_is_named_once_with_the_first_that_is_like_it():
    assert find_near_duplicates(["mug", "mugs", "Mug", "mug!"]) == [(0, 1), (0, 2), (0, 3)]


def test_many_findings_of_a_check_are_counted(ireval, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "many.txt").write_text("".join(f"q{n} 0 d1 0\n" for n in range(9)))

    lines = ireval("lint", "many.txt").out.splitlines()
    assert len(lines) == 7
    assert lines[5:] == ["… and 4 more [no-relevant]: --all shows them", "9 found: 9 no-relevant"]
    assert len(ireval("lint", "many.txt", "--all").out.splitlines()) == 10
    assert len(json.loads(ireval("lint", "many.txt", "--format", "json").out)["findings"]) == 9
