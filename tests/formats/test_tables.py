"""CSV, TSV, JSONL, JSON and Parquet hold queries, judgments and rankings under names."""

import json

import pytest
from contents import list_grades, list_rankings, list_subtopics

from pytest_ireval import read_judgments, read_queries, read_rankings

JUDGED = [("q1", "d1", 3, "ann"), ("q1", "d2", 0, "bob"), ("q2", "d1", -1, "")]
NAMES = ("query", "document", "grade", "judge")


def tsv(names, rows):
    return "".join("\t".join(map(str, row)) + "\n" for row in (names, *rows))


def csv(names, rows):
    return tsv(names, rows).replace("\t", ",")


def jsonl(names, rows):
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)


def as_json(names, rows):
    return json.dumps([dict(zip(names, row, strict=True)) for row in rows])


def parquet(names, rows):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as arrow_parquet

    sink = arrow.BufferOutputStream()
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    arrow_parquet.write_table(arrow.table(columns), sink)
    return sink.getvalue().to_pybytes()


each_form = pytest.mark.parametrize("form", [tsv, csv, jsonl, as_json, parquet])


@each_form
def test_judgments_with_who_judged(write_file, form):
    judgments = read_judgments(write_file(form(NAMES, JUDGED)))

    assert list_grades(judgments) == {"q1": {"d1": 3, "d2": 0}, "q2": {"d1": -1}}
    assert {name: list(values) for name, values in judgments.columns.items()} == {"judge": ["ann", "bob", ""]}


@each_form
def test_rankings_by_rank_where_there_are_no_scores(write_file, form):
    rankings = read_rankings(write_file(form(("query", "document", "rank"), [("q", "a", 2), ("q", "b", 1)])))

    assert list_rankings(rankings) == {"q": [("b", -1.0), ("a", -2.0)]}


@each_form
def test_equal_scores_are_ordered_by_id_descending_or_as_they_stand(write_file, form):
    path = write_file(form(("query", "document", "score"), [("q", "a", 1), ("q", "c", 1), ("q", "b", 1)]))

    assert read_rankings(path).ranking("q") == ["c", "b", "a"]
    assert read_rankings(path, by_id=False).ranking("q") == ["a", "c", "b"]
    assert read_rankings(path, 2).ranking("q") == ["c", "b"]


@each_form
def test_queries_keep_every_other_column(write_file, form):
    queries = read_queries(
        write_file(form(("query_id", "text", "segment"), [("q1", "red mug", "head"), ("q2", "cup", "")]))
    )

    assert queries.ids == ("q1", "q2")
    assert queries.text == ("red mug", "cup")
    assert dict(queries.columns) == {"segment": ("head", "")}


@each_form
def test_a_column_of_subtopics_makes_judgments_of_subtopics(write_file, form):
    rows = [("q", "s1", "d", 0), ("q", "s2", "d", 2), ("q", "s1", "e", 1)]
    judgments = read_judgments(write_file(form(("query", "subtopic", "document", "grade"), rows)))

    assert list_grades(judgments) == {"q": {"d": 2, "e": 1}}
    assert list_subtopics(judgments) == {("q", "d"): {"s1": 0.0, "s2": 2.0}, ("q", "e"): {"s1": 1.0}}


@each_form
def test_a_fraction_is_refused_unless_floats_are_declared(write_file, read_error, form):
    path = write_file(form(("query", "document", "grade"), [("q", "d", 1.5)]))

    assert "is " in read_error(read_judgments, path)
    assert read_error(read_judgments, path).endswith(
        ', not a whole number\n  to read fractional grades, use grades="float" (command line: --grades float)'
    )
    assert list_grades(read_judgments(path, grades="float")) == {"q": {"d": 1.5}}


@each_form
def test_a_document_that_is_ranked_twice_is_refused(write_file, read_error, form):
    path = write_file(form(("query", "document", "score"), [("q", "d", 1), ("q", "e", 1), ("q", "d", 2)]))

    assert "document 'd' is ranked twice for query 'q'" in read_error(read_rankings, path)


def test_columns_for_judge_date_and_guideline_have_one_name_whatever_the_file_calls_them(write_file):
    text = "qid,docid,rating,assessor,judged_at,guidelines,note\nq,d,1,ann,2026-11-20,v2,sure\n"

    assert {name: list(values) for name, values in read_judgments(write_file(text)).columns.items()} == {
        "judge": ["ann"],
        "date": ["2026-11-20"],
        "guideline": ["v2"],
        "note": ["sure"],
    }


def test_a_query_column_beside_an_id_is_its_text_and_kept(write_file):
    judgments = read_judgments(write_file("query,qid,docid,grade\nred mug,q1,d,1\n"))

    assert list_grades(judgments) == {"q1": {"d": 1}}
    assert dict(judgments.columns) == {"query_text": ["red mug"]}


def test_csv_quotes_and_blanks_behind_commas(write_file):
    queries = read_queries(write_file('id, text\nq1, "a ""big"", red\nmug"\n"q,2",x\n'))

    assert queries.ids == ("q1", "q,2")
    assert queries.text == ('a "big", red\nmug', "x")
    assert queries.places[1].endswith("file.txt:4")


def test_tsv_is_taken_literally(write_file):
    queries = read_queries(write_file('id\ttext\nq1\t"a" 5" nail\r\n'))

    assert queries.text == ('"a" 5" nail',)


def test_semicolons_separate_where_there_are_neither_tabs_nor_commas(write_file):
    assert list_grades(read_judgments(write_file("query;document;grade\nq;d;2\n"))) == {"q": {"d": 2}}


def test_a_byte_order_mark_and_blank_lines_do_not_matter(write_file):
    assert list_grades(read_judgments(write_file("\ufeffquery,document,grade\n\nq,d,2\n\n"))) == {"q": {"d": 2}}


def test_a_mapping_in_json(write_file):
    assert list_grades(read_judgments(write_file('{"q": {"d": 2, "e": 0}}'))) == {"q": {"d": 2, "e": 0}}
    assert list_rankings(read_rankings(write_file('{\n"q": ["a", "b"]\n}'))) == {"q": [("a", 0.0), ("b", -1.0)]}
    assert read_queries(write_file('{"q": "red mug"}')).text == ("red mug",)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "query,document,grade\nq,d\nq,d,1\n",
            "DIR/file.txt:2\n  has 2 cells, not 3\n  columns: query, document, grade",
        ),
        (
            "query,document,grade\nq,d,x\nq,,1\nq,e,nan\n",
            "DIR/file.txt:2\n  the grade of document 'd' for query 'q' is 'x', not a number\n"
            "DIR/file.txt:3\n  '' is not an id; ids are text (or whole numbers)\n"
            "DIR/file.txt:4\n  the grade of document 'e' for query 'q' is 'nan', not a number",
        ),
        (
            "query,document,grade\nq,d,1\nq,d,2\n",
            "DIR/file.txt:3\n  document 'd' is judged twice for query 'q': grade 2 here, grade 1 at DIR/file.txt:2\n"
            "  keep one of them, merge the judges (ireval import --judges median), or read subtopics (format "
            "trec-diversity)",
        ),
        ('query,document,grade\n"q,d,1\n', "DIR/file.txt:2\n  is not CSV: the quote opened in line 2 is never closed"),
        (
            '{"query": "q", "document": "d", "grade": 1}\n{"query": "q", "document": "e", "grade": NaN}\n[1]\n{\n',
            "DIR/file.txt:2\n  is not JSON (NaN is not a number in JSON)\n"
            "DIR/file.txt:3\n  is not a JSON object\n"
            "DIR/file.txt:4\n  is not JSON (Expecting property name enclosed in double quotes)",
        ),
        ('{"q": {"d": 1, "d": 2}}', "DIR/file.txt\n  is not JSON ('d' occurs twice in one object)"),
        ('{"q": {"d": 1}\n:}', "DIR/file.txt:2:1\n  is not JSON (Expecting ',' delimiter)"),
        ("query,document,grade,grade\nq,d,1,1\n", "DIR/file.txt:1\n  two columns are named 'grade'"),
    ],
)
def test_what_cannot_be_right_is_refused_with_its_line(write_file, read_error, text, complaint):
    assert read_error(read_judgments, write_file(text)) == complaint


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "query_id,doc_id,label,relevance\nq,d,1,2\n",
            "DIR/file.txt\n  columns 'relevance' and 'label' could both be the grade\n"
            "  rename or remove the column that you do not mean",
        ),
        (
            'query\tdocument\tgrade\nq\t"d2"\t1\n',
            'DIR/file.txt:2\n  the id "d2" is in quotes\n  TSV has no quoting: remove the quotes, or use CSV',
        ),
        (
            '[{"query": "q", "document": "d", "grade": [1]}]',
            "DIR/file.txt, row 1\n  the grade of document 'd' for query 'q' is [1], not a number",
        ),
        (
            '{"query": "\\ud800", "document": "d", "grade": 1}\n',
            "DIR/file.txt:1\n  is not JSON ('\\ud800' is an incomplete character (half of a surrogate pair))",
        ),
        ('{"q":' * 100_000, "DIR/file.txt\n  is nested too deeply"),
        (
            "Query ID,query_id,doc_id,label\nq,r,d,1\n",
            "DIR/file.txt\n  columns 'Query ID' and 'query_id' have the same name",
        ),
    ],
)
def test_what_is_doubtful_is_refused(write_file, read_error, text, complaint):
    assert read_error(read_judgments, write_file(text)) == complaint


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "id,qid,query\n1,q1,red mug\n",
            "DIR/file.txt\n  columns 'id' and 'qid' could both be the id\n"
            "  rename or remove the column that you do not mean",
        )
    ],
)
def test_queries_that_are_doubtful_are_refused(write_file, read_error, text, complaint):
    assert read_error(read_queries, write_file(text)) == complaint


def test_blanks_around_ids_and_numbers_do_not_count(write_file):
    assert list_grades(read_judgments(write_file("query,document,grade\nq1, d1 , 3 \n"))) == {"q1": {"d1": 3}}
    assert list_grades(read_judgments(write_file("query\tdocument\tgrade\nq1\td1 \t1\n"))) == {"q1": {"d1": 1}}


def test_an_intent_is_no_subtopic(write_file):
    judgments = read_judgments(write_file("query,document,grade,intent\nq,d,1,navigational\n"))

    assert judgments.subtopics is None
    assert dict(judgments.columns) == {"intent": ["navigational"]}


def test_judgments_of_subtopics_keep_who_judged(write_file):
    text = "query,subtopic,document,grade,judge\nq,s1,d,1,ann\nq,s2,d,0,bob\nq,s1,e,1,ann\n"

    assert dict(read_judgments(write_file(text)).columns) == {"judge": ["ann; bob", "ann"]}


def test_judges_who_agree_are_all_kept(write_file):
    text = "query,document,grade,judge\nq,d,1,ann\nq,e,0,ann\nq,d,1,bob\n"

    assert dict(read_judgments(write_file(text)).columns) == {"judge": ["ann; bob", "ann"]}


def test_text_that_is_not_utf_8_is_refused_with_its_line(write_file, read_error):
    assert read_error(read_judgments, write_file(b"query,document,grade\nq,\xff,1\n")) == (
        "DIR/file.txt:2\n  is not UTF-8 (invalid start byte)\n"
        "  save it as UTF-8, from its own encoding, as in: iconv -f CP949 -t UTF-8 OLD > NEW"
    )


class TestParquet:
    def test_many_row_groups_and_scattered_queries_read_as_the_same_rows_in_csv(self, write_file):
        names = ("query", "document", "score")
        rows = [(f"q{i % 7}", f"dökument-{i:04}", (i * 37 % 101) / 8) for i in range(3000)]

        assert list_rankings(read_rankings(write_file(parquet(names, rows)))) == list_rankings(
            read_rankings(write_file(csv(names, rows)))
        )

    def test_a_document_that_is_ranked_twice_names_its_row(self, write_file, read_error):
        path = write_file(parquet(("query", "document", "score"), [("q", "a", 1.0), ("r", "a", 1.0), ("q", "a", 2.0)]))

        assert read_error(read_rankings, path) == "DIR/file.txt, row 3\n  document 'a' is ranked twice for query 'q'"

    def test_a_damaged_file_is_refused(self, write_file, read_error):
        data = parquet(("query", "document", "grade"), [("q", "d", 1)])

        assert read_error(read_judgments, write_file(data[:-9])).startswith(
            "DIR/file.txt\n  the Parquet data cannot be read ("
        )

    def test_without_pyarrow_the_extra_is_named(self, write_file, read_error, monkeypatch):
        path = write_file(parquet(("query", "document", "grade"), [("q", "d", 1)]))
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)

        assert read_error(read_judgments, path) == (
            "DIR/file.txt\n  this is a Parquet file, but pyarrow is not installed\n"
            '  pip install "pytest-ireval[parquet]"'
        )

    def test_nothing_and_numbers_that_are_no_ids_are_refused(self, write_file, read_error):
        names = ("query", "document", "score")

        assert read_error(read_rankings, write_file(parquet(names, [("q", "a", 1.0), (None, "b", 2.0)]))) == (
            "DIR/file.txt, row 2\n  column 'query' is empty"
        )
        assert read_error(read_rankings, write_file(parquet(names, [(1.5, "a", 1.0)]))) == (
            "DIR/file.txt\n  column 'query' is double, not an id; ids are text (or whole numbers)"
        )
        assert read_error(read_rankings, write_file(parquet(names, [("q", "a", 1.0), ("q", "b", float("nan"))]))) == (
            "DIR/file.txt, row 2\n  column 'score' holds no finite number"
        )
