"""Files of evaluation campaigns: topics, judgments of subtopics, LETOR, and folders as BEIR has them."""

import pytest
from contents import list_grades, list_subtopics

from pytest_ireval import evaluate, read_judgments, read_queries

OLD = """\
<top>
<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations &amp; people
that participate.

<narr> Narrative:
A relevant document must do: more.
</top>

<top>
<head> Tipster Topic Description
<num> Number: 302
<title> Topic: Polio
</top>
"""


class TestTopics:
    def test_fields_are_kept_and_the_title_is_the_text(self, write_file):
        queries = read_queries(write_file(OLD))

        assert queries.ids == ("301", "302")
        assert queries.text == ("International Organized Crime", "Polio")
        assert queries.columns["title"] == ("International Organized Crime", "Polio")
        assert queries.columns["description"] == ("Identify organizations & people that participate.", "")
        assert queries.columns["narrative"] == ("A relevant document must do: more.", "")
        assert [place.rpartition(":")[2] for place in queries.places] == ["1", "13"]

    def test_xml_with_attributes_and_subtopics(self, write_file):
        text = """<?xml version="1.0" encoding="UTF-8"?>
<webtrack2012>
  <topic number="151" type="ambiguous">
    <query>403b</query>
    <description>What is a 403b plan?</description>
    <subtopic number="1" type="inf">What is it?</subtopic>
    <subtopic number="2" type="nav">Who is eligible?</subtopic>
  </topic>
</webtrack2012>
"""
        queries = read_queries(write_file(text))

        assert queries.ids == ("151",)
        assert queries.text == ("403b",)
        assert dict(queries.columns) == {
            "type": ("ambiguous",),
            "query": ("403b",),
            "description": ("What is a 403b plan?",),
            "subtopic": ("What is it?; Who is eligible?",),
        }

    @pytest.mark.parametrize(
        ("inside", "text", "narrative"),
        [
            ("<title> C++ < Java </title>\n<narr> Is it < 3 or <4?\n", "C++ < Java", "Is it < 3 or <4?"),
            ("<title> Find <b>cheap</b> laptops\n<narr> name <em>x</em>.\n", "Find cheap laptops", "name x."),
            ("<title> a\n<narr><![CDATA[x <y> & z]]></narr>\n", "a", "x <y> & z"),
            ("<title> a <!-- not <b> this --> b\n", "a b", None),
        ],
    )
    def test_nothing_of_the_text_gets_lost(self, write_file, inside, text, narrative):
        queries = read_queries(write_file(f"<top>\n<num> 1\n{inside}</top>\n"))

        assert queries.text == (text,)
        assert queries.columns.get("narrative") == ((narrative,) if narrative else None)
        assert set(queries.columns) <= {"title", "narrative"}

    def test_what_is_commented_out_or_quoted_is_no_topic(self, write_file):
        text = """<topics>
<!-- <topic number="0"><query>old</query></topic>
-->
<topic number="1"><query><![CDATA[ x </topic> y ]]></query></topic>
</topics>
"""
        queries = read_queries(write_file(text))

        assert (queries.ids, queries.text) == (("1",), ("x </topic> y",))
        assert queries.places[0].endswith("file.txt:4")

    def test_a_topic_may_be_its_text_alone(self, write_file):
        queries = read_queries(write_file('<topics>\n<topic number="1">\n58-year-old woman\n</topic>\n</topics>\n'))

        assert (queries.ids, queries.text, dict(queries.columns)) == (("1",), ("58-year-old woman",), {})

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("<top>\n<title> a\n</top>\n", "DIR/file.txt:1\n  this topic has no number"),
            ("\n<top>\n<num> 1\n</top>\n", "DIR/file.txt:2\n  this topic has no title, query or description"),
            (
                "<top>\n<num> 1\n<title> a\n<top>\n<num> 2\n<title> b\n</top>\n",
                "DIR/file.txt:1\n  this topic is not closed\n  write </top> before line 4, where the next topic begins",
            ),
            (
                "<top><num>1<title>a</top>\n<top><num>1<title>b</top>\n",
                "DIR/file.txt:2\n  query '1' occurs twice, first at DIR/file.txt:1",
            ),
            ("</top>\n<top>\n", "DIR/file.txt:1\n  a topic ends here, but none has begun"),
            (
                "<top>\n<num> 1\n<title> a\n",
                "DIR/file.txt:1\n  this topic is not closed\n  write </top> at the end of the file",
            ),
        ],
    )
    def test_what_is_missing_is_refused_with_its_line(self, write_file, read_error, text, complaint):
        assert read_error(read_queries, write_file(text)) == complaint


class TestDiversity:
    def test_grades_of_subtopics_are_kept_and_the_highest_is_the_grade(self, write_file):
        path = write_file("# query subtopic document grade\n1 1 a 0\n1 2 a 2\n1 1 b 1\n2 1 a 1\n")
        judgments = read_judgments(path, format="trec-diversity")

        assert list_grades(judgments) == {"1": {"a": 2, "b": 1}, "2": {"a": 1}}
        assert list_subtopics(judgments) == {("1", "a"): {"1": 0, "2": 2}, ("1", "b"): {"1": 1}, ("2", "a"): {"1": 1}}
        assert judgments.place(1).endswith("file.txt:4")

    def test_two_grades_for_one_subtopic_are_refused(self, write_file, read_error):
        path = write_file("1 1 a 0\n1 2 a 2\n1 1 a 1\n")

        assert read_error(read_judgments, path, format="trec-diversity") == (
            "DIR/file.txt:3\n  document 'a' is judged twice for subtopic '1' of query '1': "
            "grade 1 here, grade 0 at DIR/file.txt:1"
        )


class TestLetor:
    def test_documents_are_named_in_comments(self, write_file):
        text = "2 qid:10 1:0.03 2:0.6 #docid = GX029-35 inc = 1 prob = 0.1\n0 qid:10 1:0.1 # docid=GX1\n"

        assert list_grades(read_judgments(write_file(text))) == {"10": {"GX029-35": 2, "GX1": 0}}

    def test_documents_without_names_are_numbered_in_each_query_if_the_format_is_named(self, write_file, read_error):
        path = write_file("2 qid:1 1:3\n0 qid:1 1:2\n1 qid:2 1:1\n")

        assert list_grades(read_judgments(path, format="letor")) == {"1": {"1": 2, "2": 0}, "2": {"1": 1}}
        assert read_error(read_judgments, path) == (
            "DIR/file.txt\n  names no documents; a document is named by a comment such as # docid = GX001\n"
            "  to number the documents of each query from 1, set format letor"
        )

    def test_old_exports_of_quepid_have_marks_behind_the_document(self, write_file):
        assert list_grades(read_judgments(write_file('3.0 qid:12 # SKU-1; "red mug"\n'))) == {"12": {"SKU-1": 3}}
        assert list_grades(read_judgments(write_file("3 qid:12 # docid=D2; x\n"))) == {"12": {"D2": 3}}

    def test_a_mark_inside_a_word_begins_no_comment(self, write_file):
        assert list_grades(read_judgments(write_file("1 qid:a#b 1:0.3 # 12\n"))) == {"a#b": {"12": 1}}

    def test_some_named_and_some_not_are_refused(self, write_file, read_error):
        assert read_error(read_judgments, write_file("2 qid:1 1:3 # a\n0 qid:1 1:2\n")) == (
            "DIR/file.txt:2\n  names no document, but other lines do"
        )

    def test_a_line_without_a_query_is_refused(self, write_file, read_error):
        assert read_error(read_judgments, write_file("2 qid:1 1:3\n0 1:2\n")) == (
            "DIR/file.txt:2\n  has no qid: after the grade\n  a line is: grade qid:query 1:feature … # document"
        )


class TestBeir:
    @pytest.fixture
    def folder(self, write_file):
        write_file(
            '{"_id": "q1", "text": "red mug", "metadata": {}}\n{"_id": "q2", "text": "cup"}\n', "beir/queries.jsonl"
        )
        write_file("query-id\tcorpus-id\tscore\nq1\td1\t2\n", "beir/qrels/test.tsv")
        return write_file("", "beir/corpus.jsonl").parent

    def test_a_folder_holds_queries_and_judgments(self, folder):
        assert read_queries(folder).text == ("red mug", "cup")
        assert list_grades(read_judgments(folder)) == {"q1": {"d1": 2}}
        assert evaluate(folder, {"q1": ["x", "d1"]}, "RR")["RR"].mean == 0.5

    def test_of_several_splits_one_must_be_named(self, folder, write_file, read_error):
        dev = write_file("query-id\tcorpus-id\tscore\nq2\td1\t1\n", "beir/qrels/dev.tsv")

        assert read_error(read_judgments, folder) == (
            "DIR/beir\n  has 2 splits of judgments: DIR/beir/qrels/dev.tsv, DIR/beir/qrels/test.tsv\n"
            "  name the file: DIR/beir/qrels/dev.tsv"
        )
        assert list_grades(read_judgments(dev)) == {"q2": {"d1": 1}}

    def test_another_folder_is_no_file(self, tmp_path, read_error):
        assert read_error(read_judgments, tmp_path).startswith(
            "DIR\n  contains no judgments in a known format: it is a folder\n"
        )
