"""Lines that cannot be what they claim to be are refused, with file, line and reason."""

import pytest
from trec_doors import judged_in_file, read_judgments, read_rankings

SIX = "  a rankings file has 6 columns or more, separated by spaces or tabs: query Q0 document rank score tag"
FOUR = "  a judgments file has 4 columns, separated by spaces or tabs: query iteration document grade"
FRACTIONS = '  to read fractional grades, use grades="float" (command line: --grades float)'
GOOD = "q Q0 d 1 2 t\n"


@pytest.mark.parametrize(
    ("text", "line", "count"),
    [
        ("q Q0 d 1 2\n", 1, 5),
        (GOOD + "q Q0 e 1 2\n", 2, 5),
        (GOOD + "q\n", 2, 1),
        ("# comment\n\n" + GOOD + "  q\tQ0 e  1\r\n", 4, 4),
        (GOOD + "q Q0 e 1 2", 2, 5),
        ("\ufeffq Q0 e 1 2\n" + GOOD, 1, 5),
        ("".join(f"q Q0 d{i} 1 2 t\n" for i in range(2000)) + "q Q0 e 1 2\n", 2001, 5),
    ],
)
def test_too_few_columns_in_rankings_are_refused(refusal, text, line, count):
    assert refusal(read_rankings, text) == f"FILE:{line}\n  has {count} column{'s' if count > 1 else ''}\n{SIX}"


def test_too_few_columns_far_into_a_large_file_are_refused(refusal):
    lines = [f"query-{number // 1000} Q0 document-{number} 1 {number} tag\n" for number in range(250_000)]
    lines[199_999] = "query-199 Q0 document-199999 1 199999\n"

    assert sum(map(len, lines)) > 4 << 21
    assert refusal(read_rankings, "".join(lines)) == f"FILE:200000\n  has 5 columns\n{SIX}"


@pytest.mark.parametrize(
    ("text", "line", "count"),
    [
        ("q 0 d\n", 1, 3),
        ("q 0 d 1\nq 0 d\n", 2, 3),
        ("q 0 d 1 x\n", 1, 5),
        ("q 0 d 1\n# \nq 0 e 1 2 3\n", 3, 6),
        ("q Q0 d 1 2 t\n", 1, 6),
        ("q\t0  d\r\n", 1, 3),
    ],
)
def test_another_number_of_columns_in_judgments_is_refused(refusal, text, line, count):
    assert refusal(read_judgments, text) == f"FILE:{line}\n  has {count} column{'s' if count > 1 else ''}\n{FOUR}"


def test_of_many_bad_lines_five_are_shown_and_the_rest_is_counted(refusal):
    shown = "\n".join(f"FILE:{line}\n  has 2 columns\n{SIX}" for line in range(2, 7))

    assert refusal(read_rankings, GOOD + "q Q0\n" * 5) == shown
    assert refusal(read_rankings, GOOD + "q Q0\n" * 12) == shown + "\n… and 7 more"


@pytest.mark.parametrize(
    ("read", "line"), [(read_rankings, "q Q0 d{} 1 2 t"), (read_judgments, "q 0 d{} 1")], ids=["rankings", "judgments"]
)
@pytest.mark.parametrize(
    ("ends", "bad"),
    [(["\r"] * 3, 1), (["\n", "\r", "\n"], 2), (["\n", "\r\n", "\r\r\n"], 3)],
    ids=["all", "one", "two"],
)
def test_lines_that_end_in_a_carriage_return_alone_are_not_taken_for_one_line(refusal, read, line, ends, bad):
    text = "".join(line.format(number) + end for number, end in enumerate(ends))

    assert refusal(read, text) == (
        f"FILE:{bad}\n  has a carriage return without a line feed after it; lines must end in LF or CR LF"
    )


@pytest.mark.parametrize(
    ("score", "complaint"),
    [
        ("nan", "score 'nan' is not finite"),
        ("NaN", "score 'NaN' is not finite"),
        ("inf", "score 'inf' is not finite"),
        ("-inf", "score '-inf' is not finite"),
        ("1e400", "score '1e400' is too large for a number"),
        ("abc", "score 'abc' is not a number"),
        ("1_000", "score '1_000' is not a number"),
        ("0x1A", "score '0x1A' is not a number"),
        (".", "score '.' is not a number"),
        ("-", "score '-' is not a number"),
        ("1,5", "score '1,5' is not a number"),
        ("é", "score 'é' is not a number"),
        ("x" * 500, "score '" + "x" * 120 + "'… is not a number"),
    ],
)
def test_a_score_that_is_no_finite_number_is_refused(refusal, score, complaint):
    assert refusal(read_rankings, f"{GOOD}q Q0 e 1 {score} t\n") == f"FILE:2\n  {complaint}"


def test_of_many_bad_scores_five_are_shown_and_the_rest_is_counted(refusal):
    text = "".join(f"q Q0 d{i} 1 {'x' if i % 2 else '1.5'} t\n" for i in range(20))

    shown = "\n".join(f"FILE:{line}\n  score 'x' is not a number" for line in (2, 4, 6, 8, 10))
    assert refusal(read_rankings, text) == shown + "\n… and 5 more"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("q Q0 d 1 2 t\nq Q0 d 2 1 t\n", 2),
        ("q Q0 d 1 2 t\nq Q0 e 2 1 t\nq Q0 d 2 1 t\n", 3),
        ("".join(f"q Q0 {i} 1 2 t\n" for i in ["d", *range(3000), "d"]), 3002),
        ("q Q0 d 1 2 t\nr Q0 d 1 1 t\nq Q0 d 1 1 t\n", 3),
        ("q Q0 d 1 2 t\n" + "".join(f"{i} Q0 d 1 2 t\n" for i in range(3000)) + "# \nq Q0 d 1 1 t", 3003),
        ("\ufeffr Q0 e 1 2 t\n\nq Q0 d 1 2 t\nr Q0 d 1 2 t\n  q\tQ0 d 1 2 t more\r\n", 5),
    ],
)
def test_a_document_that_is_ranked_twice_is_refused(refusal, written, text, line):
    judgments = read_judgments(written("q 0 x 1\n", "judgments.txt"))
    complaint = f"FILE:{line}\n  document 'd' is ranked twice for query 'q'"

    assert refusal(read_rankings, text) == complaint
    assert refusal(lambda path: judged_in_file(path, judgments), text) == complaint


def test_of_many_repeated_documents_the_first_five_are_shown_and_the_rest_is_counted(refusal):
    text = "".join(f"q Q0 d{i} 1 2 t\n" for i in [*range(30), *range(20)])

    shown = "\n".join(f"FILE:{31 + i}\n  document 'd{i}' is ranked twice for query 'q'" for i in range(5))
    assert refusal(read_rankings, text) == shown + "\n… and 15 more"


def test_a_very_long_id_is_cut_in_messages(refusal):
    text = f"q Q0 {'d' * 3000} 1 2 t\n" * 2

    assert refusal(read_rankings, text) == f"FILE:2\n  document '{'d' * 120}'… is ranked twice for query 'q'"


@pytest.mark.parametrize(
    ("grade", "complaint"),
    [
        ("x", "grade 'x' is not a number"),
        ("nan", "grade 'nan' is not finite"),
        ("1e999", "grade '1e999' is too large for a number"),
        ("-", "grade '-' is not a number"),
    ],
)
@pytest.mark.parametrize("grades", ["integer", "float"])
def test_a_grade_that_is_no_finite_number_is_refused(refusal, grade, complaint, grades):
    text = refusal(read_judgments, f"q 0 d 1\n\nq 0 e {grade}\n", grades=grades)

    assert text == f"FILE:3\n  {complaint}"


def test_a_fractional_grade_is_refused_where_whole_numbers_are_declared(refusal):
    assert refusal(read_judgments, "q 0 d 1\nq 0 e 1.5\n") == f"FILE:2\n  grade 1.5 is not a whole number\n{FRACTIONS}"


def test_of_many_fractional_grades_five_are_shown_and_the_rest_is_counted(refusal):
    text = "".join(f"q 0 d{i} {i}.5\n" for i in range(8))

    shown = "\n".join(f"FILE:{i + 1}\n  grade {i}.5 is not a whole number\n{FRACTIONS}" for i in range(5))
    assert refusal(read_judgments, text) == shown + "\n… and 3 more"


def test_conflicting_judgments_are_refused(refusal):
    assert refusal(read_judgments, "# \nq 0 d 1\nr 0 d 2\n\nq 0 d 2\n") == (
        "FILE:5\n  document 'd' is judged twice for query 'q': grade 2 here, grade 1 at FILE:2\n"
        "  keep one of them, merge the judges (ireval import --judges median), or read subtopics (format "
        "trec-diversity)"
    )


def test_of_many_conflicts_the_first_five_are_shown_and_the_rest_is_counted(refusal):
    text = "".join(f"q 0 d{i} {grade}\n" for grade in (0, 1) for i in range(9))

    shown = [
        f"FILE:{10 + i}\n  document 'd{i}' is judged twice for query 'q': grade 1 here, grade 0 at FILE:{1 + i}\n"
        "  keep one of them, merge the judges (ireval import --judges median), or read subtopics (format "
        "trec-diversity)"
        for i in range(5)
    ]
    assert refusal(read_judgments, text) == "\n".join([*shown, "… and 4 more"])
