"""Lines that cannot be what they claim to be are refused, with file, line and reason."""

import pytest
from trec_readers import join_file, read_judgments, read_rankings

SIX = "  a rankings file has 6 columns or more, separated by spaces or tabs: query Q0 document rank score tag"
FOUR = "  a judgments file has 4 columns, separated by spaces or tabs: query iteration document grade"
FRACTIONS = '  to read fractional grades, use grades="float" (command line: --grades float)'
GOOD = "q Q0 d 1 2 t\n"


@pytest.mark.parametrize(
    ("text", "line", "count"),
    [
        ("q Q0 d 1 2\n", 1, 5),
        ("# comment\n\n" + GOOD + "  q\tQ0 e  1\r\n", 4, 4),
        ("\ufeffq Q0 e 1 2\n" + GOOD, 1, 5),
        ("".join(f"q Q0 d{i} 1 2 t\n" for i in range(2000)) + "q Q0 e 1 2\n", 2001, 5),
    ],
)
def test_too_few_columns_in_rankings_are_refused(read_error, text, line, count):
    assert read_error(read_rankings, text) == f"FILE:{line}\n  has {count} column{'s' if count > 1 else ''}\n{SIX}"


@pytest.mark.parametrize(
    ("text", "line", "count"),
    [("q 0 d 1\nq 0 d\n", 2, 3), ("q 0 d 1\n# \nq 0 e 1 2 3\n", 3, 6), ("q Q0 d 1 2 t\n", 1, 6)],
)
def test_another_number_of_columns_in_judgments_is_refused(read_error, text, line, count):
    assert read_error(read_judgments, text) == f"FILE:{line}\n  has {count} column{'s' if count > 1 else ''}\n{FOUR}"


def test_of_many_bad_lines_five_are_shown_and_the_rest_is_counted(read_error):
    shown = "\n".join(f"FILE:{line}\n  has 2 columns\n{SIX}" for line in range(2, 7))

    assert read_error(read_rankings, GOOD + "q Q0\n" * 5) == shown
    assert read_error(read_rankings, GOOD + "q Q0\n" * 12) == shown + "\n… and 7 more"


@pytest.mark.parametrize(
    ("read", "line"), [(read_rankings, "q Q0 d{} 1 2 t"), (read_judgments, "q 0 d{} 1")], ids=["rankings", "judgments"]
)
@pytest.mark.parametrize(("ends", "bad"), [(["\r"] * 3, 1), (["\n", "\r\n", "\r\r\n"], 3)], ids=["all", "two"])
def test_lines_that_end_in_a_carriage_return_alone_are_not_taken_for_one_line(read_error, read, line, ends, bad):
    text = "".join(line.format(number) + end for number, end in enumerate(ends))

    assert read_error(read, text) == (
        f"FILE:{bad}\n  has a carriage return without a line feed after it; lines must end in LF or CR LF"
    )


@pytest.mark.parametrize(
    ("score", "complaint"),
    [
        ("nan", "score 'nan' is not finite"),
        ("1e400", "score '1e400' is too large for a number"),
        ("abc", "score 'abc' is not a number"),
        ("x" * 500, "score '" + "x" * 120 + "'… is not a number"),
    ],
)
def test_a_score_that_is_no_finite_number_is_refused(read_error, score, complaint):
    assert read_error(read_rankings, f"{GOOD}q Q0 e 1 {score} t\n") == f"FILE:2\n  {complaint}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("q Q0 d 1 2 t\nq Q0 e 2 1 t\nq Q0 d 2 1 t\n", 3),
        ("".join(f"q Q0 {i} 1 2 t\n" for i in ["d", *range(3000), "d"]), 3002),
        ("q Q0 d 1 2 t\n" + "".join(f"{i} Q0 d 1 2 t\n" for i in range(3000)) + "# \nq Q0 d 1 1 t", 3003),
        ("\ufeffr Q0 e 1 2 t\n\nq Q0 d 1 2 t\nr Q0 d 1 2 t\n  q\tQ0 d 1 2 t more\r\n", 5),
    ],
)
def test_a_document_that_is_ranked_twice_is_refused(read_error, write_file, text, line):
    judgments = read_judgments(write_file("q 0 x 1\n", "judgments.txt"))
    complaint = f"FILE:{line}\n  document 'd' is ranked twice for query 'q'"

    assert read_error(read_rankings, text) == complaint
    assert read_error(lambda path: join_file(path, judgments), text) == complaint


def test_a_very_long_id_is_cut_in_messages(read_error):
    text = f"q Q0 {'d' * 3000} 1 2 t\n" * 2

    assert read_error(read_rankings, text) == f"FILE:2\n  document '{'d' * 120}'… is ranked twice for query 'q'"


@pytest.mark.parametrize(
    ("grade", "complaint"), [("x", "grade 'x' is not a number"), ("nan", "grade 'nan' is not finite")]
)
@pytest.mark.parametrize("grades", ["integer", "float"])
def test_a_grade_that_is_no_finite_number_is_refused(read_error, grade, complaint, grades):
    text = read_error(read_judgments, f"q 0 d 1\n\nq 0 e {grade}\n", grades=grades)

    assert text == f"FILE:3\n  {complaint}"


def test_a_fractional_grade_is_refused_where_whole_numbers_are_declared(read_error):
    assert (
        read_error(read_judgments, "q 0 d 1\nq 0 e 1.5\n") == f"FILE:2\n  grade 1.5 is not a whole number\n{FRACTIONS}"
    )


def test_conflicting_judgments_are_refused(read_error):
    assert read_error(read_judgments, "# \nq 0 d 1\nr 0 d 2\n\nq 0 d 2\n") == (
        "FILE:5\n  document 'd' is judged twice for query 'q': grade 2 here, grade 1 at FILE:2\n"
        "  keep one of them, merge the judges (ireval import --judges median), or read subtopics (format "
        "trec-diversity)"
    )


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("q Q0 red shoe 2 2.0 t", "has more than 6 columns, and a number in column 6: does an id contain a space?"),
        ("q Q0 iphone 12 1 0.9 t", "has more than 6 columns, and a number in column 6: does an id contain a space?"),
        ("q Q0 red shoe 2 2.0", "rank 'shoe' is not a number: does an id contain a space?"),
        ("q Q0  e \t first  1 t", "rank 'first' is not a number: does an id contain a space?"),
    ],
)
def test_columns_that_a_blank_in_an_id_has_moved_are_refused(read_error, line, complaint):
    assert read_error(read_rankings, f"{GOOD}{line}\n") == f"FILE:2\n  {complaint}"


@pytest.mark.parametrize(
    "lines", ["q Q0 e 2 1 my tag\n", "q  Q0\te   2  1 BM25 k1=0.9 b=0.4\n", "q Q0 e -2.5 1 t\nq Q0 f .5 0 t\n"]
)
def test_tags_with_blanks_and_any_number_as_a_rank_are_read(write_file, lines):
    assert read_rankings(write_file(GOOD + lines)).ranking("q")[:2] == ["d", "e"]


BLANKS = ["\u00a0", "\u3000\u00a0", "\u2003", "\u1680", "\u0085"]


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
@pytest.mark.parametrize(
    ("read", "line"),
    [
        (read_rankings, "q Q0 {} 2 1 t"),
        (read_rankings, "{} Q0 e 2 1 t"),
        (read_judgments, "q 0 {} 1"),
        (read_judgments, "{} 0 e 1"),
    ],
)
def test_an_id_of_blanks_beyond_ascii_is_refused(read_error, read, line, blank):
    good = GOOD if read is read_rankings else "q 0 d 1\n"

    assert read_error(read, f"{good}{line.format(blank)}\n") == f"FILE:2\n  {blank!r} is not an id"


def test_ids_that_begin_like_such_blanks_are_read(write_file):
    ids = ["\u00a9a", "\u2010b", "\u3001c", "\u00a0d"]
    text = "".join(f"q Q0 {each} {number} {9 - number} t\n" for number, each in enumerate(ids))

    assert read_rankings(write_file(text)).ranking("q") == ids
