"""Click logs: what is read of them, what is refused, and what counts once."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import InputError
from pytest_ireval_judgments import click_lines, click_logs
from pytest_ireval_judgments.click_logs import read_clicks


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def written(text, name="log.tsv", **options):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_clicks([name], **options)

    return written


def list_searches(log):
    """Query, documents, clicked ranks in the order of time, and how often."""
    found, s = [], log.searches
    for row, (begin, end) in enumerate(zip(s.first[:-1], s.first[1:], strict=True)):
        order = {int(place): rank for rank, place in enumerate(s.click[begin:end], 1) if place}
        names = [s.documents[i] for i in s.document[begin:end]]
        found.append((s.queries[s.query[row]], names, [order[i] for i in sorted(order)], int(s.count[row])))
    return sorted(found)


SEARCH = ("red mug", ["d1", "d2", "d3"], [3, 1], 1)
LAYOUTS = {
    "log.tsv": "session\tquery\tdocuments\tclicks\ttime\ns1\tred mug\td1 d2 d3\td3 d1\t2026-03-01T10:00:00Z\n",
    "ranks.tsv": "Query\tShown\tClicked-Ranks\nred mug\td1 d2 d3\t3 1\n",
    "log.jsonl": json.dumps({"query": "red mug", "documents": ["d1", "d2", "d3"], "clicks": ["d3", "d1"]}),
    "ranks.jsonl": json.dumps({"query": "red mug", "shown": ["d1", "d2", "d3"], "clicked_ranks": [3, 1]}),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_of_searches_is_read(read, name):
    assert list_searches(read(LAYOUTS[name], name)) == [SEARCH]


ROWS = "query,session,document,rank,clicked\n"


def test_rows_of_documents_make_searches_also_if_sessions_take_turns(read):
    text = "red mug,s1,d1,1,0\nred mug,s2,d1,1,1\nred mug,s1,d2,2,1\nred mug,s2,d2,2,0\nred mug,s1,d1,1,0\n"

    assert list_searches(read(ROWS + text, "log.csv")) == [
        ("red mug", ["d1"], [], 1),
        ("red mug", ["d1", "d2"], [1], 1),
        ("red mug", ["d1", "d2"], [2], 1),
    ]


def test_ids_that_are_numbers_differ_from_ranks(read):
    line = {"query": "q", "documents": [7, 8, 1], "clicks": [1, 8]}

    assert list_searches(read(json.dumps(line), "log.jsonl")) == [("q", ["7", "8", "1"], [3, 2], 1)]


def test_a_session_that_repeats_a_search_counts_once_with_all_its_clicks(read):
    log = read("session\tquery\tdocuments\tclicks\ns\tq\ta b c\tc\nt\tq\ta b c\tc\ns\tq\ta b c\ta c\ns\tq\tb a c\t\n")

    assert list_searches(log) == [
        ("q", ["a", "b", "c"], [1, 3], 1),
        ("q", ["a", "b", "c"], [3], 1),
        ("q", ["b", "a", "c"], [], 1),
    ]
    assert (log.lines, log.sessions, log.repeated) == (4, 2, 1)


def test_what_a_session_did_long_ago_is_forgotten(read, monkeypatch):
    monkeypatch.setattr(click_logs, "REMEMBERED", 2)
    lines = ["s\tq\ta\t\n", *(f"x{i}\tq\ta\t\n" for i in range(6)), "s\tq\ta\ta\n"]

    assert list_searches(read("session\tquery\tdocuments\tclicks\n" + "".join(lines))) == [
        ("q", ["a"], [], 7),
        ("q", ["a"], [1], 1),
    ]


def test_lines_with_a_count_stand_for_several_searches(read):
    log = read("query\tdocuments\tclicks\tcount\nq\ta b\ta\t5\nq\ta b\ta\t2\n")

    assert list_searches(log) == [("q", ["a", "b"], [1], 7)]
    assert log.sessions == 7


def test_searches_without_documents_are_counted_by_themselves(read):
    log = read("query\tdocuments\tclicks\nq\t\t\nq\ta\t\n")

    assert list_searches(log) == [("q", ["a"], [], 1)]
    assert [tuple(each) for each in log.left_out] == [("no documents shown", 1, "log.tsv:2")]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"clicks": ["x"]}, "log.jsonl:2\n  document 'x' is clicked, but it was not shown"),
        ({"documents": ["a", "b", "a"]}, "log.jsonl:2\n  document 'a' is shown at ranks 1 and 3"),
        ({"query": " "}, "log.jsonl:2\n  has no query"),
        ({"clicks": None}, "log.jsonl:2\n  has no clicks and clicked_ranks"),
        ({"time": "yesterday"}, "log.jsonl:2\n  the time is 'yesterday'\n  seconds or milliseconds since 1970"),
        ({"time": True, "count": 0}, "log.jsonl:2\n  count is '0', not a whole number from 1"),
        ({"clicks": [{}]}, "log.jsonl:2\n  {} is not an id; ids are text (or whole numbers)"),
        ({"documents": 3}, "log.jsonl:2\n  documents are 3, not a list"),
        ({"query": ["q"]}, "log.jsonl:2\n  the query is '[\"q\"]', not text"),
        ({"clicks": 1}, "log.jsonl:2\n  clicks are '1', not a list"),
    ],
    ids=str,
)
def test_a_wrong_line_is_named(read, line, complaint):
    good = {"query": "q", "documents": ["a", "b"], "clicks": ["a"], "time": 0, "count": 1}
    with pytest.raises(InputError) as caught:
        read(f"{json.dumps(good)}\n{json.dumps(good | line)}\n", "log.jsonl")

    assert complaint.replace("documents are 3", "documents are '3'") in str(caught.value)


@pytest.mark.parametrize(
    ("clicks", "complaint"), [("4", "rank '4' is clicked, but 3 documents are shown"), ("x", "rank 'x'")]
)
def test_a_click_on_a_rank_that_was_not_shown_is_refused(read, clicks, complaint):
    with pytest.raises(InputError, match=f"log.tsv:2\n  {complaint}"):
        read(f"query\tdocuments\tclicked_ranks\nq\ta b c\t{clicks}\n")


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ("q,s,a,2,0\n", "log.csv:2\n  rank '2' comes after nothing of this session and query"),
        ("q,s,a,1,0\nq,s,b,3,0\n", "log.csv:3\n  rank '3' comes after rank 1 of this session and query"),
        ("q,s,a,1,maybe\n", "log.csv:2\n  clicked is 'maybe'"),
        ("q,,a,1,0\n", "log.csv:2\n  has no session, so the rows of its search are not known"),
        ("q,s,a,1,0\nq,s,a,2,0\n", "log.csv:2\n  document 'a' is shown at ranks 1 and 2"),
    ],
)
def test_a_wrong_row_is_named(read, rows, complaint):
    with pytest.raises(InputError) as caught:
        read(ROWS + rows, "log.csv")

    assert complaint in str(caught.value)


def test_all_wrong_lines_are_one_error_and_may_be_dropped(read):
    text = "query\tdocuments\tclicks\nq\ta\tb\nq\ta\ta\nq\ta b a\t\nq\ta\tc\n"
    with pytest.raises(InputError) as caught:
        read(text)

    *problems, remedy = caught.value.problems
    assert [problem.place for problem in problems] == ["log.tsv:2", "log.tsv:4", "log.tsv:5"]
    assert str(remedy) == "--invalid drop leaves such lines out"
    log = read(text, drop_invalid=True)
    assert list_searches(log) == [("q", ["a"], [1], 1)]
    assert [tuple(each) for each in log.left_out] == [
        ("invalid: a click on a document that was not shown", 2, "log.tsv:2"),
        ("invalid: a document is shown twice", 1, "log.tsv:4"),
    ]


@pytest.mark.parametrize(
    ("wrong", "kind"), [("q,s,c,3,yes", "clicked is not a number"), ("q,s,c,3", "another number of cells")]
)
@pytest.mark.parametrize("end", ["q,s,d,4,1\n", ""], ids=["between", "last"])
def test_a_search_with_a_wrong_row_is_dropped_as_a_whole(read, wrong, kind, end):
    """It would count as a search without clicks, or without its last document."""
    text = f"q,s,a,1,0\nq,s,b,2,0\n{wrong}\n{end}q,s,a,1,1\n"
    log = read(ROWS + text, "log.csv", drop_invalid=True)

    assert list_searches(log) == [("q", ["a"], [1], 1)]
    assert [tuple(each) for each in log.left_out] == [
        (f"invalid: {kind}", 1, "log.csv:4"),
        ("searches with a wrong row", 1, "log.csv:2"),
    ]


def test_each_wrong_row_of_a_search_is_named_but_not_what_follows_from_it(read):
    with pytest.raises(InputError) as caught:
        read(ROWS + "q,s,a,2,0\nq,s,b,3,yes\nq,s,c,4,0\nq,s,d,6,0\nq,s,e,7,0\n", "log.csv")

    assert [problem.place for problem in caught.value.problems[:-1]] == ["log.csv:2", "log.csv:3"]


def test_rows_of_one_search_with_different_counts_are_wrong(read):
    head = "query,session,document,rank,clicked,count\n"
    with pytest.raises(InputError) as caught:
        read(head + "q,s,a,1,0,5\nq,s,b,2,1,700\n", "log.csv")

    assert "log.csv:3\n  count is 700, and 5 at rank 1 of the same search" in str(caught.value)
    assert list_searches(read(head + "q,s,a,1,0,5\nq,s,b,2,1,5\n", "log.csv")) == [("q", ["a", "b"], [2], 5)]


@pytest.mark.parametrize(
    ("head", "complaint"),
    [
        ("session\tdocuments\tclicks", "there is no column query"),
        ("query\tdocuments\tclicks\tclicked_ranks", "clicks and clicked_ranks are both there, and one is enough"),
        ("query\tdocument\trank\tclicked", "there is no column session"),
    ],
)
def test_columns_that_are_missing_are_named_with_those_that_are_there(read, head, complaint):
    with pytest.raises(InputError) as caught:
        read(f"{head}\nq\ta\t\n")

    assert f"log.tsv:1\n  {complaint}" in str(caught.value)
    assert "a line for each document that was shown: query, session, document, rank, clicked" in str(caught.value)


def test_times_of_all_kinds_give_the_span(read):
    head = "query\tdocuments\tclicks\ttime\n"
    times = ["2026-03-01T00:00:00Z", "1772323200", "1772323200000", "2026-03-01T01:00:00+01:00", "2026-03-01"]

    assert read(head + "".join(f"q\ta\t\t{time}\n" for time in times)).span == (1772323200.0, 1772323200.0)
    assert read(head + "q\ta\t\t\n").span is None


@pytest.mark.parametrize(
    ("time", "day"),
    [
        (20260301, 1772323200.0),
        (20260301000000, 1772323200.0),
        (1772323200123, 1772323200.123),
        ("0001-01-01", -62135596800.0),
    ],
)
def test_digits_that_are_a_date_are_not_seconds(read, time, day):
    line = {"query": "q", "documents": ["a"], "clicks": [], "time": time}

    assert read(json.dumps(line), "log.jsonl").span == (day, day)


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", 20260230, 10**400, "nan", [1]])
def test_times_beyond_the_calendar_are_wrong_lines(read, time):
    line = {"query": "q", "documents": ["a"], "clicks": [], "time": time}
    with pytest.raises(InputError, match=r"log.jsonl:1\n  the time is "):
        read(json.dumps(line), "log.jsonl")


def test_each_object_has_names_of_its_own(read, monkeypatch):
    monkeypatch.setattr(click_lines, "HEADERS", 1)
    one = {"query": "q", "documents": ["a", "b"], "clicks": ["a"]}
    two = {"query": "q", "shown": ["a", "b"], "clicked_ranks": [2], "frequency": 50, "session_id": "s"}
    log = read("".join(f"{json.dumps(each)}\n" for each in (one, two, one)), "log.jsonl")

    assert list_searches(log) == [("q", ["a", "b"], [1], 2), ("q", ["a", "b"], [2], 50)]


def test_many_sessions_are_estimated_closely(monkeypatch):
    monkeypatch.setattr(click_logs, "SKETCH", 1024)
    few, many = click_logs._DistinctTexts(), click_logs._DistinctTexts()
    for number in range(30_000):
        many.add(f"s{number}")
        few.add(f"s{number % 2000}")

    assert few.number() == (2000, True)
    assert many.number() == (pytest.approx(30_000, rel=0.1), False)


DOCUMENTS = st.lists(st.sampled_from("abcde"), unique=True, max_size=5)


@st.composite
def searches(draw):
    shown = draw(DOCUMENTS)
    clicks = draw(st.lists(st.sampled_from(shown), max_size=4)) if shown else []
    return draw(st.sampled_from(["s", "t", ""])), draw(st.sampled_from(["x", "y z"])), shown, clicks


@given(lines=st.lists(searches(), max_size=12))
def test_the_log_is_what_a_slow_reader_finds(tmp_path_factory, lines):
    sessions, anonymous = {}, []
    for session, query, shown, clicks in lines:
        if shown and session:
            sessions.setdefault((session, query, tuple(shown)), []).extend(clicks)
        elif shown:
            anonymous.append((query, shown, clicks))
    every = [*((query, [*shown], clicks) for (_, query, shown), clicks in sessions.items()), *anonymous]
    wanted = sorted(
        (query, shown, [shown.index(d) + 1 for i, d in enumerate(clicks) if d not in clicks[i + 1 :]])
        for query, shown, clicks in every
    )
    path = tmp_path_factory.mktemp("logs") / "log.jsonl"
    names = ("session", "query", "documents", "clicks")
    path.write_text("\n".join(json.dumps(dict(zip(names, line, strict=True))) for line in lines) or "\n")

    if not lines:
        return
    found = [row[:3] for row in list_searches(read_clicks([path])) for _ in range(row[3])]
    assert sorted(found) == wanted
