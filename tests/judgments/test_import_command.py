"""``ireval import``: other tools' files become a pair of tables."""

import json

import pytest

CASE = "query,docid,rating\nred mug,d1,3\nred mug,d2,0\ncup,d1,1\nblue mug,,\n"


def test_a_case_becomes_queries_and_judgments(ireval, write, tmp_path):
    outcome = ireval("import", write("case.csv", CASE), "--to", "shop")

    assert outcome == (
        0,
        "read case.csv: 3 queries (format quepid-case), 3 judgments (format quepid-case)\n"
        "query ids without spaces: 'red mug' is red-mug, 'blue mug' is blue-mug\n"
        "wrote shop/queries.tsv: 3 queries\n"
        "wrote shop/judgments.tsv: 3 judgments of 2 queries, grades 0 to 3\n"
        "without judgments: blue-mug\n",
        "",
    )
    assert (tmp_path / "shop/queries.tsv").read_text() == "id\ttext\nred-mug\tred mug\ncup\tcup\nblue-mug\tblue mug\n"
    assert (tmp_path / "shop/judgments.tsv").read_text() == (
        "query\tdocument\tgrade\nred-mug\td1\t3\nred-mug\td2\t0\ncup\td1\t1\n"
    )


def test_ids_can_be_kept(ireval, write, tmp_path):
    ireval("import", write("case.csv", CASE), "--keep-ids")

    assert (tmp_path / "judgments.tsv").read_text().splitlines()[1] == "red mug\td1\t3"


def test_new_ids_depend_on_the_phrase_alone_and_are_never_alike(ireval, write, tmp_path):
    phrases = ["red mug", "Red Mug", "red  mug", "rot-e", "rot e", "café au lait", "тест ещё", "☃ ☃", "snow man 2"]
    ireval("import", write("case.csv", "query,docid,rating\n" + "".join(f"{phrase},d,1\n" for phrase in phrases)))

    ids = [line.split("\t")[0] for line in (tmp_path / "queries.tsv").read_text().splitlines()[1:]]
    assert len(set(ids)) == 9
    assert [ids[0], ids[3], ids[8]] == ["red-mug", "rot-e", "snow-man-2"]
    marked = [ids[i] for i in (1, 2, 4, 5, 6, 7)]
    assert [one.rpartition("-")[0] for one in marked] == ["red-mug", "red-mug", "rot-e", "cafe-au-lait", "тест-еще", ""]
    assert not any(" " in one for one in ids)


def test_files_that_are_there_are_not_written_over(ireval, write, tmp_path):
    write("queries.tsv", "mine")

    refused = ireval("import", write("case.csv", CASE))

    assert refused == (2, "", "error: would overwrite queries.tsv\n  --force overwrites\n")
    assert (tmp_path / "queries.tsv").read_text() == "mine"
    assert not (tmp_path / "judgments.tsv").exists()
    assert ireval("import", write("case.csv", CASE), "--force").code == 0
    assert (tmp_path / "queries.tsv").read_text().startswith("id\ttext\n")


BOOK = "query,docid,Ann,Bob,Cid\nq,d1,3,1,1\nq,d2,2,2,\nq,d3,0,3,\n"


@pytest.mark.parametrize(("judges", "grades"), [("highest", "3 2 3"), ("majority", "1 2 0")])
def test_judges_who_disagree_are_merged_as_said(ireval, write, tmp_path, judges, grades):
    outcome = ireval("import", write("case.csv", BOOK), "--judges", judges, "--format", "quepid-book")

    assert "2 documents had several grades for one query; one was chosen\n" in outcome.out
    lines = [line.split("\t") for line in (tmp_path / "judgments.tsv").read_text().splitlines()]
    assert lines[0] == ["query", "document", "grade", "judge"]
    assert " ".join(line[2] for line in lines[1:]) == grades
    assert [line[3] for line in lines[1:]] == ["Ann; Bob; Cid", "Ann; Bob", "Ann; Bob"]


def test_judges_who_disagree_are_an_error_unless_said(ireval, write, tmp_path):
    outcome = ireval("import", write("case.csv", BOOK), "--format", "quepid-book")

    assert outcome == (
        2,
        "",
        "error: case.csv:2\n"
        "  document 'd1' has several grades for query 'q': 3 (case.csv:2), 1 (case.csv:2), 1 (case.csv:2)\n"
        "  choose how to merge them: --judges highest, lowest, median, majority, mean\n"
        "case.csv:4\n"
        "  document 'd3' has several grades for query 'q': 0 (case.csv:4), 3 (case.csv:4)\n"
        "  choose how to merge them: --judges highest, lowest, median, majority, mean\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["case.csv"]


def test_several_sources_are_brought_together(ireval, write, tmp_path):
    topics = write("topics.txt", "<top>\n<num> 1\n<title> red mug\n</top>\n")
    ann, bob = write("ann.qrels", "1 0 d1 1\n1 0 d2 0\n"), write("bob.qrels", "1 0 d1 2\n")

    outcome = ireval("import", topics, ann, bob, "--judges", "highest", "--ending", "jsonl")

    assert outcome.out.splitlines()[:3] == [
        "read topics.txt: 1 query (format trec-topics)",
        "read ann.qrels: 2 judgments (format trec)",
        "read bob.qrels: 1 judgment (format trec)",
    ]
    assert [json.loads(line) for line in (tmp_path / "judgments.jsonl").read_text().splitlines()] == [
        {"query": "1", "document": "d1", "grade": 2},
        {"query": "1", "document": "d2", "grade": 0},
    ]


GRADED = "read source: 1 judgment (format {})\nno queries: queries.tsv not written\n"
ASKED = "read source: 1 query (format {})\nwrote queries.tsv: 1 query\nno judgments: judgments.tsv not written\n"


@pytest.mark.parametrize(
    ("content", "form", "said"),
    [
        ('{"q1": {"d1": 1}}', "json", GRADED),
        ("query,document,grade\nq,d,1\n", "table", GRADED),
        ('{"q1": {"text": "red mug"}}', "json", ASKED),
        ('[{"id": "q", "text": "red mug"}]', "json", ASKED),
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_formats_that_may_hold_either_are_taken_for_what_they_hold(ireval, write, content, form, said, named):
    outcome = ireval("import", write("source", content), *(["--format", form] if named else []))

    assert outcome.code == 0
    assert outcome.out.startswith(said.format(form))


def test_a_table_of_something_else_is_refused_with_its_columns(ireval, write):
    assert ireval("import", write("run.json", '[{"query": "q", "document": "d", "score": 1}]')).err == (
        "error: run.json\n  contains neither queries nor judgments\n  its columns are 'query', 'document', 'score'\n"
    )


def test_sources_that_call_two_texts_by_one_id_are_refused(ireval, write):
    one, other = write("one.csv", "id,text\nq1,red mug\n"), write("other.csv", "id,text\nq1,blue mug\n")

    assert ireval("import", one, other).err == (
        "error: other.csv:2\n  query 'q1' is 'blue mug' here, and 'red mug' at one.csv:2\n"
    )


def test_old_queries_are_not_left_beside_new_judgments(ireval, write, tmp_path):
    write("queries.tsv", "id\ttext\n")

    outcome = ireval("import", write("case.csv", "1 0 d1 1\n"), "--force")

    assert outcome.err == (
        "error: queries.tsv\n"
        "  the sources contain no queries; the queries in this file may belong to other sources\n"
        "  remove it, or choose another folder with --to\n"
    )
    assert not (tmp_path / "judgments.tsv").exists()


def test_both_files_are_written_or_neither(ireval, write, tmp_path):
    judgment = {"rating": 1, "explanation": "two\nlines"}
    book = {"query_doc_pairs": [{"query_text": "mug", "doc_id": "d", "judgements": [judgment]}]}

    outcome = ireval("import", write("book.json", json.dumps(book)))

    assert outcome.err == (
        "error: judgments.tsv\n  TSV cannot store the tab or line end in 'two\\nlines'\n"
        "  write .csv or .jsonl (ireval import: --ending csv)\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["book.json"]
    assert ireval("import", "book.json", "--ending", "csv").code == 0


def test_an_ambiguous_source_is_to_be_named_with_the_option_there_is(ireval, write):
    assert ireval("import", write("case.csv", "1 1 d1 1\n1 2 d1 1\n")).err == (
        "error: case.csv\n  its judgments could be in format trec or trec-diversity\n  choose one: format=…, --format\n"
    )


def test_subtopics_are_kept(ireval, write, tmp_path):
    ireval("import", write("case.csv", "1 1 d1 1\n1 2 d1 2\n"), "--format", "trec-diversity")

    assert (tmp_path / "judgments.tsv").read_text() == "query\tsubtopic\tdocument\tgrade\n1\t1\td1\t1\n1\t2\td1\t2\n"


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("to be\nor not\n", (), "case.csv\n  contains no judgments in a known format: it begins with 'to be'\n"),
        ("q Q0 d 1 1 t\n", (), "case.csv\n  contains no judgments; it looks like rankings (format trec)\n"),
    ],
)
def test_what_cannot_be_imported_is_refused(ireval, write, content, options, message):
    outcome = ireval("import", write("case.csv", content), *options)

    assert outcome.code == 2
    assert outcome.err.startswith(f"error: {message}")


def test_what_only_one_source_says_of_its_judgments_is_empty_for_the_others(ireval, write, tmp_path):
    old = write("old.txt", "q1 0 d1 2\n")
    new = write("to_judge.tsv", "query\tdocument\tmetric\tgrade\nq1\td7\tnDCG@10\t3\n")
    ireval("import", old, new)

    assert (
        tmp_path / "judgments.tsv"
    ).read_text() == "query\tdocument\tgrade\tmetric\nq1\td1\t2\t\nq1\td7\t3\tnDCG@10\n"
