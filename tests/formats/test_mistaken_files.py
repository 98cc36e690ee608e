"""Files that look like something else, or whose damage looks like sense."""

import pytest

from pytest_ireval import read_judgments, read_rankings
from pytest_ireval.errors import InputError


@pytest.mark.parametrize("grade", ["1e-400", "-1e-400", "0.0000000001e-390", "00.1e-9999"])
def test_a_grade_that_would_become_zero_is_refused_with_its_line(tmp_path, grade):
    path = tmp_path / "qrels"
    path.write_text(f"q1 0 d1 1\nq1 0 d2 {grade}\n")

    with pytest.raises(InputError) as error:
        read_judgments(path, grades="float")

    assert str(error.value) == f"{path}:2\n  grade {grade!r} is too small for a number"


@pytest.mark.parametrize("grade", ["0", "0.0", "0e5", "-0", "1e-300", "0e-999", ".0e1"])
def test_a_grade_that_is_zero_or_small_is_read(tmp_path, grade):
    path = tmp_path / "qrels"
    path.write_text(f"q1 0 d1 1\nq1 0 d2 {grade}\n")

    assert read_judgments(path, grades="float").grade[1] == float(grade)


@pytest.mark.parametrize(("read", "line"), [(read_judgments, "q1 0 d1 1\n"), (read_rankings, "q1 Q0 d1 1 2.5 x\n")])
@pytest.mark.parametrize("comments", [1, 50, 51, 500])
def test_many_comments_before_the_first_line_hide_no_format(tmp_path, read, line, comments):
    path = tmp_path / "file"
    path.write_text("# made on Monday\n" * comments + line)

    assert len(read(path).queries) == 1
