"""``to_judge.tsv``: a line for each document, whatever stands in texts and ids."""

from pytest_ireval.report.to_judge_file import format_to_judge
from pytest_ireval.results.suite_result import RunResult, SuiteResult, ToJudge

HEADER = "suite\tquery\tdocument\ttext\ttitle\tmetric\teffect\trank_now\trank_baseline\tgrades\tgrade\n"


def table(*documents, grades=""):
    suite = SuiteResult("shop", "shop.yaml", "fail", (), to_judge=documents, grades=grades)
    return format_to_judge(RunResult("1", "2026-11-01", "fail", (suite,)))


def test_tabs_and_line_ends_in_a_text_are_blanks():
    found = table(ToJudge("q1", "d7", "P@4", 0.25, "red\tmug\r\nblue\u2028cup", 1, 1))

    assert "\tred mug blue cup\t" in found
    assert len(found.splitlines()) == 2


def test_an_id_to_which_no_grade_could_find_back_is_left_out():
    odd = ["a\tb", "a\nb", " a", '"a"', "a\u2028b"]
    found = table(*(ToJudge("q1", name, "P@4", 0.25) for name in odd), ToJudge("q1", "d 7", "P@4", 0.25))

    assert [line.split("\t")[2] for line in found.splitlines()[1:]] == ["d 7"]


def test_a_spreadsheet_calculates_nothing():
    odd = ['=HYPERLINK("http://x")', "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3"]
    numbers = ["-12", "+3", "7.5"]
    found = table(
        *(ToJudge("q1", name, "P@4", 0.25) for name in (*odd, *numbers)),
        *(ToJudge(name, "d1", "P@4", 0.25) for name in odd),
        *(ToJudge("q1", "d2", "P@4", 0.25, text) for text in odd),
    )

    rows = [line.split("\t") for line in found.splitlines()[1:]]
    assert [row[2] for row in rows] == [*numbers, *["d2"] * len(odd)]  # a grade of the others would not find back
    assert [row[3] for row in rows[len(numbers) :]] == [f"'{text}" for text in odd]


def test_where_nothing_is_to_be_judged_there_is_no_text():
    assert table() == ""
    assert table(ToJudge("q1", "a\tb", "P@4", 0.25)) == ""
