"""Pools as judges see them, and the file that keeps each judgment with its judge and date."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import IrevalError, read_judgments
from pytest_ireval_judgments.rating import Item, JudgmentFile, find_next_unjudged, match_judgments, read_pool

POOL = (
    "query\tquery_text\tquery_narrative\tdocument\tdocument_title\tdocument_url\tgrade\n"
    "q1\tred mug\tfor coffee\td1\tRed mug\thttps://shop/d1\t\n"
    "q1\tred mug\tfor coffee\td2\t'=SUM(A1)\t\t\n"
    "q2\tteapot\t\td1\tRed mug\t\t2\n"
    "q1\tred mug\tfor coffee\td1\tRed mug again\t\t\n"
)
TO_JUDGE = (
    "suite\tquery\tdocument\ttext\ttitle\tmetric\teffect\trank_now\trank_baseline\tgrades\tgrade\n"
    "shop\tq1\td7\tred mug\tA mug\tnDCG@10\t+0.25\t1\t\t0-4\t\n"
)
ROW = {"grade": "2", "date": "2026-03-01", "guideline": "v1"}


@pytest.fixture
def write_file(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_a_pool_has_each_pair_without_a_grade_once_with_what_a_judge_may_see(write_file):
    pool = read_pool(write_file("pool.tsv", POOL))

    assert [item.pair for item in pool.items] == [("q1", "d1"), ("q1", "d2")]
    assert pool.graded == 1
    first, second = pool.items
    assert (first.text, first.about) == ("red mug", {"narrative": "for coffee"})
    assert first.fields == {"title": "Red mug", "url": "https://shop/d1"}
    assert second.fields == {"title": "=SUM(A1)"}  # the apostrophe is for spreadsheets


def test_a_judge_sees_no_rank_and_no_effect_of_the_gate(write_file):
    pool = read_pool(write_file("to_judge.tsv", TO_JUDGE))
    (item,) = pool.items

    assert pool.scales == ("0-4",)
    assert item == ("q1", "red mug", {}, "d7", {"title": "A mug"})


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("head.tsv", "query\tdocument\tgrade\n", "lists no document to judge"),
        ("other.csv", "a,b\n1,2\n", "there is no column for the query"),
        ("ids.jsonl", '{"query": "q", "document": null}\n', "None is not an id"),
    ],
)
def test_a_file_that_is_not_a_pool_is_refused(write_file, name, text, complaint):
    with pytest.raises(IrevalError, match=complaint):
        read_pool(write_file(name, text))


def test_each_judgment_is_in_the_file_at_once_and_is_read_as_judgments(tmp_path):
    file = JudgmentFile(tmp_path / "j.tsv", "ann")
    file.put({("q1", "d1"): ROW})
    assert (tmp_path / "j.tsv").read_text() == (
        "query\tdocument\tgrade\tjudge\tdate\tguideline\nq1\td1\t2\tann\t2026-03-01\tv1\n"
    )

    file.put({("q1", "d2"): {**ROW, "grade": "0"}, ("q1", "d1"): {**ROW, "grade": "3"}})
    found = read_judgments(tmp_path / "j.tsv")
    assert dict(zip(found.documents.texts(), found.grade.tolist(), strict=True)) == {"d2": 0.0, "d1": 3.0}
    assert found.columns["judge"] == ["ann", "ann"]

    file.put({("q1", "d2"): None})
    assert JudgmentFile(tmp_path / "j.tsv", "ann").grades == {("q1", "d1"): "3"}


def test_judgments_of_others_and_their_columns_stay(write_file):
    path = write_file("j.csv", "query,document,rating,judge,remark\nq1,d1,1,bob,torn\nq1,d1,0,,\n")
    JudgmentFile(path, "ann").put({("q1", "d1"): ROW})

    assert path.read_text().splitlines() == [
        "query,document,grade,judge,date,guideline,remark",
        "q1,d1,1,bob,,,torn",
        "q1,d1,0,,,,",
        "q1,d1,2,ann,2026-03-01,v1,",
    ]


def test_what_another_program_wrote_meanwhile_is_kept(tmp_path):
    one, other = (JudgmentFile(tmp_path / "j.jsonl", name) for name in ("ann", "bob"))
    one.put({("q", "a"): ROW})
    other.put({("q", "a"): {**ROW, "grade": "0"}})
    one.put({("q", "b"): ROW})

    lines = [json.loads(line) for line in (tmp_path / "j.jsonl").read_text().splitlines()]
    assert [(each["document"], each["judge"], each["grade"]) for each in lines] == [
        ("a", "ann", "2"),
        ("a", "bob", "0"),
        ("b", "ann", "2"),
    ]


def test_a_grade_is_not_replaced_unseen(tmp_path):
    file = JudgmentFile(tmp_path / "j.tsv", "ann")

    assert file.put({("q", "a"): ROW}, seen="")
    assert not file.put({("q", "a"): {**ROW, "grade": "0"}}, seen="")
    assert file.grades == {("q", "a"): "2"}
    assert file.put({("q", "a"): None}, seen="2")


def test_a_file_that_cannot_be_written_keeps_the_judgments_before(tmp_path):
    file = JudgmentFile(tmp_path / "j.tsv", "ann")
    file.put({("q", "a"): ROW})
    with pytest.raises(IrevalError, match="spaces around the id"):
        file.put({("q", " b"): ROW})

    assert file.grades == {("q", "a"): "2"}
    assert [path.name for path in tmp_path.iterdir()] == ["j.tsv"]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("j.txt", "q 0 d 1\n", "cannot store judges and dates"),
        ("j.tsv", "query\tdocument\tgrade\tjudge\nq\td\t1\tann\nq\td\t2\tann\n", "two grades"),
    ],
)
def test_a_file_that_cannot_hold_judgments_is_refused_before_the_first_one(write_file, name, text, complaint):
    with pytest.raises(IrevalError, match=complaint):
        JudgmentFile(write_file(name, text), "ann")


def test_a_remark_on_a_human_grade_is_not_shown_to_a_program(write_file):
    pool = read_pool(write_file("pool.tsv", POOL))
    human = write_file(
        "human.csv", "query,document,grade,judge,remark,document_title\nq9,d9,1,ann,one!,Cup\nq1,d1,2,ann,x,y\n"
    )
    (other, grade), (same, _) = match_judgments(read_judgments(human), pool)

    assert (other.fields, grade) == ({"title": "Cup"}, 1.0)
    assert same is pool.items[0]


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.data())
def test_the_next_document_is_the_first_open_one_after_this_one(judged, data):
    items = [Item("q", "", {}, f"d{place}", {}) for place in range(len(judged))]
    known = {item.pair for item, done in zip(items, judged, strict=True) if done}
    after = data.draw(st.integers(-1, len(judged) - 1))
    others = [place for place in range(len(judged)) if not judged[place] and place != after]
    later = [place for place in others if place > after]

    assert find_next_unjudged(items, known, after) == next(iter([*later, *others]), None)


JUDGE = """
import sys
from pathlib import Path
from pytest_ireval_judgments.rating import JudgmentFile
file = JudgmentFile(Path(sys.argv[1]), sys.argv[2])
for number in range(25):
    assert file.put({("q", f"d{number}"): {"grade": "1", "date": "2026-03-01", "guideline": ""}})
"""


def test_judges_in_two_processes_lose_no_grade(tmp_path):
    path = tmp_path / "judgments.tsv"
    judges = [subprocess.Popen([sys.executable, "-c", JUDGE, path, name]) for name in ("ann", "bob")]

    assert [judge.wait() for judge in judges] == [0, 0]
    rows = path.read_text(encoding="utf-8").splitlines()[1:]
    assert len(rows) == 50
