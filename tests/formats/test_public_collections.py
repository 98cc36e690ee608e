"""Queries and judgments in the shapes of public collections: TREC-COVID, M-BEIR, CAR, CACM, news, sampled judgments."""

import pytest
from contents import list_grades

from pytest_ireval import read_judgments, read_queries

ROUNDS = "7 0.5  sea-1 2\n7 1    sea-2 0\n8 1    sea-1 1\n8 0.5  sea-3 -1\n"


class TestSecondColumn:
    def test_rounds_of_judging_are_read_as_trec(self, write_file):
        assert list_grades(read_judgments(write_file(ROUNDS))) == {
            "7": {"sea-1": 2, "sea-2": 0},
            "8": {"sea-1": 1, "sea-3": -1},
        }

    @pytest.mark.parametrize("grade", [1], ids=["other grade"])
    def test_a_document_in_two_rounds_may_have_subtopics_even_far_below(self, write_file, read_error, grade):
        others = "".join(f"7 1 lake-{i} 0\n" for i in range(60))

        assert read_error(read_judgments, write_file(f"7 1 sea-1 2\n{others}7 2 sea-1 {grade}\n")) == (
            "DIR/file.txt:62\n  the second column is '2' here and '1' above: are these judgments of subtopics?\n"
            "  choose a format: trec ignores that column, trec-diversity reads subtopics from it"
        )

    @pytest.mark.parametrize(
        "lines",
        [
            "7 sea-1 0 2\n8 sea-2 0 0\n9 sea-1 0 1\n",
            "7 5 0 2\n8 0 12 0\n9 0 13 1\n10 0 14 1\n11 0 15 1\n",
            "7 a sea-1 2\n7 b sea-2 0\n8 a sea-3 1\n",
        ],
        ids=["swapped", "one swapped number", "words"],
    )
    def test_other_second_columns_are_never_taken_for_rounds(self, write_file, read_error, lines):
        assert "choose a format: trec ignores that column" in read_error(read_judgments, write_file(lines))


class TestSampledJudgments:
    PRELS = "7 GX-1 2 1 0.25\n7 GX-2 0 0 1\n8 GX-1 1 2 1.5e-05\n"

    def test_they_are_read_if_the_format_is_named_and_keep_the_probability(self, write_file):
        found = read_judgments(write_file(self.PRELS), format="prels")

        assert list_grades(found) == {"7": {"GX-1": 2, "GX-2": 0}, "8": {"GX-1": 1}}
        assert found.columns == {"method": ["1", "0", "2"], "probability": ["0.25", "1", "1.5e-05"]}

    def test_they_are_never_taken_for_complete_judgments(self, write_file, read_error):
        assert read_error(read_judgments, write_file(self.PRELS)).startswith(
            "DIR/file.txt\n  contains no judgments in a known format: it begins with '7 GX-1 2 1 0.25'\n"
            "  it looks like sampled judgments (prels); to read their grades alone, name format prels\n"
        )


class TestTextsWithTabs:
    def test_a_text_may_contain_a_tab_if_the_format_is_named(self, write_file, read_error):
        lines = [f"{i}\thow deep is lake {i}" for i in range(10)]
        lines[3] = "3\thow deep is it to\tswim in"
        path = write_file("\n".join(lines))

        assert read_queries(path, format="pairs").text[2:4] == ("how deep is lake 2", "how deep is it to\tswim in")
        # without a line end, the next query would be part of this text
        hint = "line 4 has more than one tab; if it is part of the text, name the format pairs"
        assert read_error(read_queries, path).splitlines()[2].strip() == hint


class TestJson:
    @pytest.mark.parametrize(
        ("line", "says"),
        [
            (
                '{"qid": "1", "vector": [0.5, -1, 2e-3]}',
                "as a table it has the id (qid), but no column for the text; vector is a vector of 3 numbers",
            ),
            ('{"tid": "1", "words": "a"}', "its first line is an object with the keys 'tid', 'words'"),
        ],
    )
    def test_what_its_lines_lack_is_said(self, write_file, read_error, line, says):
        assert read_error(read_queries, write_file(f"{line}\n{line}\n")).splitlines()[2].strip() == says


class TestTopics:
    def test_two_numbers_in_one_topic_are_never_one_id(self, write_file, read_error):
        path = write_file("<top>\n<num> 1\n<title> a\n<num> 2\n<title> b\n</top>\n")

        assert read_error(read_queries, path) == (
            "DIR/file.txt:1\n  this topic has the numbers 1 and 2: is the end of a topic missing?"
        )

    DOCS = "<DOC>\n<DOCNO> 1 </DOCNO>\n Lakes, and\nrivers\n</DOC>\n<DOC>\n<DOCNO> 2 </DOCNO>\n Seas\n</DOC>\n"

    def test_documents_are_queries_only_if_the_format_is_named(self, write_file, read_error):
        found = read_queries(write_file(self.DOCS), format="trec-topics")

        assert (found.ids, found.text) == (("1", "2"), ("Lakes, and rivers", "Seas"))
        assert read_error(read_queries, write_file(self.DOCS)).splitlines()[2].strip() == (
            "it looks like documents of TREC; if each <DOC> is a query, name the format trec-topics"
        )


class TestHeadings:
    def test_a_path_of_headings_is_an_id_and_its_words_are_the_text(self, write_file):
        found = read_queries(write_file("enwiki:Lake\nenwiki:Lake/Deep%20lakes\nenwiki:Lake/Caf%C3%A9s%20near%2Fby\n"))

        assert found.ids == ("enwiki:Lake", "enwiki:Lake/Deep%20lakes", "enwiki:Lake/Caf%C3%A9s%20near%2Fby")
        assert found.text == ("Lake", "Lake Deep lakes", "Lake Cafés near/by")

    def test_a_line_of_two_words_is_refused(self, write_file, read_error):
        lines = "".join(f"Lake/Deep%20lake%20{i}\n" for i in range(60))

        assert read_error(read_queries, write_file(f"{lines}Lake/Deep lakes\n")) == (
            "DIR/file.txt:61\n  has 2 words, but a path of headings is one word"
        )

    @pytest.mark.parametrize("text", ["id,text\nq1,red%20mug/cup\n", "1:red%20mug/cup\n2:a%20b/c\n"])
    def test_what_another_format_reads_is_none(self, write_file, text):
        assert len(read_queries(write_file(text))) >= 1

    @pytest.mark.parametrize("line", ["/a%20b/c", "red%20mug", "https://x.org/a%20b"])
    def test_a_list_of_ids_or_addresses_is_refused(self, write_file, read_error, line):
        assert "contain one word each" in read_error(read_queries, write_file(f"{line}\n{line}2\n"))
