"""A grade becomes one more line of a suite's judgments, in their format and order; two branches give grades at once."""

import gzip

import pytest
from git_repository import commit_all, isolate_git, run_git

from pytest_ireval import InputError, read_judgments
from pytest_ireval_judgments.grade_lines import GradeLines

ROW = {"date": "2026-03-01", "guideline": "v2"}
SORTED = "q1 0 a 1\nq1 0 c 0\nq2 0 b 2\nq10 0 a 1\n"


def open_lines(path, text, form="trec"):
    path.write_bytes(text.encode())
    return GradeLines(path, form, "ann")


def give(file, query, document, grade, seen=""):
    return file.put({(query, document): {**ROW, "grade": grade} if grade else None}, seen)


FORMATS = {
    "sorted": ("trec", SORTED, ("q1", "b", "2"), SORTED.replace("q1 0 c", "q1 0 b 2\nq1 0 c")),
    "a new query, in the order of numbers": ("trec", SORTED, ("q9", "a", "0"), SORTED.replace("q10", "q9 0 a 0\nq10")),
    "not sorted": (
        "trec",
        "q2 0 z 1\nq2 0 a 0\nq1 0 b 1\n",
        ("q2", "m", "1"),
        "q2 0 z 1\nq2 0 a 0\nq2 0 m 1\nq1 0 b 1\n",
    ),
    "a comment, tabs and no last line end": (
        "trec",
        "# graded by hand\n\nq1\tQ0\tb\t1",
        ("q1", "c", "0"),
        "# graded by hand\n\nq1\tQ0\tb\t1\nq1\tQ0\tc\t0\n",
    ),
    "before the first": ("trec", "# note\r\nq1 0 b 1\r\n", ("q1", "a", "0"), "# note\r\nq1 0 a 0\r\nq1 0 b 1\r\n"),
    "TSV with judges": (
        "table",
        "query\tdocument\tgrade\tjudge\tnote\tdate\nq1\tb\t1\tbob\t\t2026-01-01\n",
        ("q1", "a", "0"),
        "query\tdocument\tgrade\tjudge\tnote\tdate\nq1\ta\t0\tann\t\t2026-03-01\nq1\tb\t1\tbob\t\t2026-01-01\n",
    ),
    "CSV with a cell of two lines": (
        "table",
        'query_id,rating,doc_id,remark\nq1,1,"a,1","two\nlines"\nq1,2,c,\n',
        ("q1", "b,2", "0"),
        'query_id,rating,doc_id,remark\nq1,1,"a,1","two\nlines"\nq1,0,"b,2",\nq1,2,c,\n',
    ),
    "JSON lines": (
        "jsonl",
        '{"qid":7,"doc":"a","grade":1,"judge":"bob"}\n{"qid":7,"doc":"c","grade":0,"judge":"bob"}\n',
        ("7", "ü b", "2"),
        '{"qid":7,"doc":"a","grade":1,"judge":"bob"}\n{"qid":7,"doc":"c","grade":0,"judge":"bob"}\n'
        '{"qid":7,"doc":"ü b","grade":2,"judge":"ann"}\n',
    ),
}


@pytest.mark.parametrize(("form", "before", "given", "after"), FORMATS.values(), ids=FORMATS)
def test_a_grade_is_one_more_line_where_it_belongs(tmp_path, form, before, given, after):
    path = tmp_path / "judgments"
    file = open_lines(path, before, form)

    assert give(file, *given)
    assert path.read_bytes().decode() == after
    assert len(read_judgments(path, format=form)) == len(GradeLines(path, form, "bob").grades)
    assert give(file, *given[:2], None, seen=given[2])
    without = path.read_bytes().decode()
    assert without == (before if before.endswith("\n") else f"{before}\n")


def test_a_grade_of_somebody_else_is_never_replaced(tmp_path):
    path = tmp_path / "qrels.txt"
    file = open_lines(path, SORTED)
    assert give(file, "q1", "b", "2")
    path.write_text(SORTED.replace("q2", "q1 0 b 0\nq2"))  # another program took the line, and wrote its own

    assert not give(file, "q1", "b", "1", seen="2")
    assert not give(file, "q1", "b", "1", seen="0")
    assert not give(file, "q1", "b", None, seen="0")
    assert not give(file, "q2", "b", "1", seen="2")
    assert path.read_text() == SORTED.replace("q2", "q1 0 b 0\nq2")
    assert file.find_line(("q1", "b")) == 3
    changed = path.stat().st_mtime_ns
    assert give(file, "q1", "b", "0")  # the same grade, given twice
    assert path.stat().st_mtime_ns == changed


def test_a_grade_that_was_removed_from_the_file_can_be_given_again(tmp_path):
    path = tmp_path / "qrels.txt"
    file = open_lines(path, SORTED)
    assert give(file, "q1", "b", "2")
    path.write_text(SORTED)

    assert not give(file, "q1", "b", "1", seen="2")  # the page still showed the grade
    assert file.own == {}
    assert give(file, "q1", "b", "1")
    assert give(file, "q1", "b", "2", seen="1")
    assert path.read_text() == SORTED.replace("q1 0 c", "q1 0 b 2\nq1 0 c")


@pytest.mark.parametrize(
    ("form", "text", "broken", "complaint"),
    [
        ("trec", SORTED, "q02 garbage\n", ":5\n.*has 2 columns"),
        ("table", "query\tdocument\tgrade\nq1\ta\t1\n", "q02 garbage\n", ":3\n  has 1 cell, not 3"),
        ("jsonl", '{"query": "q1", "document": "a", "grade": 1}\n', '{"query": "q1"}\n', ":2\n"),
        ("jsonl", '{"query": "q1", "document": "a", "grade": 1}\n', "q02 garbage\n", ":2\n  is not JSON"),
    ],
)
def test_no_grade_goes_to_a_file_with_a_broken_line_until_it_is_mended(tmp_path, form, text, broken, complaint):
    path = tmp_path / "judgments"
    file = open_lines(path, text, form)
    path.write_text(text + broken)

    with pytest.raises(InputError, match=f"judgments{complaint}"):
        give(file, "q1", "b", "1")
    assert path.read_text() == text + broken
    path.write_text(text)
    assert give(file, "q1", "b", "1")


@pytest.mark.parametrize(
    ("form", "text", "lost"),
    [
        ("trec", SORTED, ["judge", "date", "guideline"]),
        ("table", "query\tdocument\tgrade\tassessor\tdate\nq1\ta\t1\t\t\n", ["guideline"]),
        ("jsonl", '{"query": "q1", "document": "a", "grade": 1, "date": ""}\n', ["judge", "guideline"]),
        ("table", "query,document,grade,judge,date,guideline\nq1,a,1,,,\n", []),
    ],
)
def test_the_columns_that_a_file_does_not_have_are_known_before(tmp_path, form, text, lost):
    assert open_lines(tmp_path / "judgments", text, form).lost_columns == lost


def test_ones_own_grade_may_change_and_other_lines_that_came_meanwhile_stay(tmp_path):
    path = tmp_path / "qrels.txt"
    file = open_lines(path, SORTED)
    assert give(file, "q1", "b", "2")
    path.write_text(path.read_text() + "q11 0 a 1\n")

    assert give(file, "q1", "b", "0", seen="2")
    assert path.read_text() == SORTED.replace("q1 0 c", "q1 0 b 0\nq1 0 c") + "q11 0 a 1\n"


def test_a_link_to_the_judgments_stays_a_link(tmp_path):
    (tmp_path / "shared.txt").write_text(SORTED)
    (tmp_path / "qrels.txt").symlink_to("shared.txt")
    assert give(GradeLines(tmp_path / "qrels.txt", "trec", "ann"), "q3", "a", "1")

    assert (tmp_path / "qrels.txt").is_symlink()
    assert "q3 0 a 1\nq10" in (tmp_path / "shared.txt").read_text()


def test_ids_that_a_format_cannot_hold_are_known_before(tmp_path):
    words = open_lines(tmp_path / "qrels.txt", SORTED)
    assert [words.can_hold(("q1", each)) for each in ("plain", "two words", "#1", "")] == [True, False, True, False]
    tabs = open_lines(tmp_path / "qrels.tsv", "query\tdocument\tgrade\nq\td\t1\n", "table")
    assert [tabs.can_hold(("q1", each)) for each in ("two words", "a\tb", "a\nb")] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "form", "text", "complaint"),
    [
        ("qrels.json", "json", "{}", "grades cannot be added to this file"),
        ("qrels.txt.gz", "trec", gzip.compress(b"q1 0 a 1\n").decode("latin-1"), "not compressed"),
        ("qrels.csv", "table", "query,subtopic,document,grade\nq,1,d,1\n", "grades of subtopics"),
    ],
)
def test_files_that_no_line_can_be_added_to_are_refused(tmp_path, name, form, text, complaint):
    with pytest.raises(InputError, match=complaint):
        open_lines(tmp_path / name, text, form)


@pytest.fixture
def branches(tmp_path, monkeypatch):
    """A function that gives grades on two branches, merges them, and returns the file and whether git merged it."""
    isolate_git(monkeypatch, tmp_path)
    path = tmp_path / "qrels.txt"

    def merge(ours, theirs):
        run_git(tmp_path, "init", "--quiet", "--initial-branch", "main")
        path.write_text("".join(f"q{q} 0 d{d} {d % 2}\n" for q in range(10, 20) for d in range(0, 90, 10)))
        commit_all(tmp_path, "judgments")
        for branch, grades in (("theirs", theirs), ("ours", ours)):
            run_git(tmp_path, "checkout", "--quiet", "-b", branch, "main")
            file = GradeLines(path, "trec", branch)
            assert all(give(file, *given) for given in grades)
            commit_all(tmp_path, branch)
        run_git(tmp_path, "merge", "--quiet", "theirs", check=False)
        return path, "<<<<" not in path.read_text()

    return merge


def test_two_branches_that_graded_other_documents_are_merged_by_git(branches):
    path, merged = branches([("q11", "d15", "1"), ("q12", "d55", "0")], [("q15", "d35", "1"), ("q12", "d55", "0")])

    assert merged
    assert len(read_judgments(path)) == 93
    places = [(int(line.split()[0][1:]), int(line.split()[2][1:])) for line in path.read_text().splitlines()]
    assert places == sorted(places)


def test_one_document_with_two_grades_is_found_whether_git_merges_or_not(branches):
    path, merged = branches([("q11", "d15", "1")], [("q11", "d15", "0")])
    assert not merged
    kept = [line for line in path.read_text().splitlines() if not line.startswith(("<<<<", "====", ">>>>"))]
    path.write_text("\n".join(kept) + "\n")  # whoever settled the conflict kept both lines

    with pytest.raises(InputError, match=r"qrels.txt:13\n.*'d15'.*'q11': grade 0 here, grade 1 at .*qrels.txt:12"):
        read_judgments(path)
