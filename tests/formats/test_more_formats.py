"""Files that repositories hold: MS MARCO, OpenSearch's workbench, RRE, SVMlight with groups, SMART, NTCIR, CLEF."""

import json

import pytest
from contents import list_grades, list_rankings

from pytest_ireval import evaluate, read_judgments, read_queries, read_rankings
from pytest_ireval.data.scan import pieces


class TestMsMarco:
    RUN = "q1\td9\t1\nq1\td1\t2\nq2\td1\t1\n"

    def test_a_run_is_in_order_of_rank(self, write_file):
        assert list_rankings(read_rankings(write_file(self.RUN))) == {
            "q1": [("d9", -1.0), ("d1", -2.0)],
            "q2": [("d1", -1.0)],
        }

    def test_judged_documents_alone_give_the_same(self, write_file, monkeypatch):
        monkeypatch.setattr(pieces, "CHUNK", 16)
        run = write_file("".join(f"q{q}\td{d * 7 % 30}\t{d + 1}\n" for q in range(5) for d in range(30)), "run")
        judgments = write_file("q0 0 d7 1\nq1 0 d14 2\nq4 0 d29 1\n", "judgments")
        quick, long = (evaluate(judgments, run, metric)[metric].values for metric in ("RR", "AP"))

        assert quick == {"q0": 1 / 2, "q1": 1 / 3, "q4": 1 / 18}
        assert long == quick

    def test_ranks_that_do_not_count_are_no_run_unless_that_is_said(self, write_file, read_error):
        path = write_file("q1\td1\t1\nq2\td1\t1\n")

        assert read_error(read_rankings, path).endswith(
            "it looks like judgments (format smart)\n  are judgments and rankings swapped?"
        )
        assert list_rankings(read_rankings(path, format="msmarco"))["q2"] == [("d1", -1.0)]

    @pytest.mark.parametrize(
        ("line", "complaint"),
        [
            ("q1\td3\t0", "DIR/file.txt:4\n  rank '0' is not a whole number from 1"),
            ("q2\td1\t2", "DIR/file.txt:4\n  document 'd1' is ranked twice for query 'q2'"),
            (
                "q1\td3\t3\t9",
                "DIR/file.txt:4\n  has 4 columns\n  a run of MS MARCO has 3 columns, separated by tabs or spaces: "
                "query document rank",
            ),
        ],
    )
    def test_a_wrong_line_is_refused(self, write_file, read_error, line, complaint):
        assert read_error(read_rankings, write_file(self.RUN + line + "\n"), format="msmarco") == complaint


class TestWorkbench:
    JUDGMENTS = {
        "name": "Imported Judgments",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [
            {"query": "red mug", "ratings": [{"docId": "d1", "rating": "3.000"}, {"docId": "d2", "rating": 0}]},
            {"query": "cup", "ratings": []},
        ],
    }
    QUERIES = {
        "name": "shop",
        "sampling": "manual",
        "querySetQueries": [{"queryText": "red mug", "referenceAnswer": "d1"}, {"queryText": "cup"}],
    }

    @pytest.mark.parametrize("indent", [None, 2])
    @pytest.mark.parametrize("answered", [False, True])
    def test_a_judgment_list_as_imported_or_as_answered(self, write_file, indent, answered):
        found = {"took": 1, "hits": {"total": {"value": 1}, "hits": [{"_id": "a", "_source": self.JUDGMENTS}]}}
        path = write_file(json.dumps(found if answered else self.JUDGMENTS, indent=indent))

        assert list_grades(read_judgments(path)) == {"red mug": {"d1": 3, "d2": 0}}
        assert read_queries(path).ids == ("red mug", "cup")

    def test_a_query_set_keeps_other_fields(self, write_file):
        queries = read_queries(write_file(json.dumps(self.QUERIES)))

        assert (queries.ids, queries.text) == (("red mug", "cup"), ("red mug", "cup"))
        assert dict(queries.columns) == {"referenceAnswer": ("d1", "")}


def test_generated_ratings_of_rre_list_documents_with_gains(write_file):
    ratings = {
        "index": "shop",
        "query_placeholder": "query",
        "query_groups": [
            {
                "name": "red mug",
                "queries": [{"template": "match.json", "placeholders": {"query": "red mug"}}],
                "relevant_documents": [{"document_id": "d1", "gain": 3}, {"document_id": "d2", "gain": 1}],
            }
        ],
    }

    assert list_grades(read_judgments(write_file(json.dumps(ratings, indent=2)))) == {"red mug": {"d1": 3, "d2": 1}}


class TestGroups:
    LINES = "2 1:0.5 2:1\n0 1:0.1\n1 2:0.3\n"

    @pytest.mark.parametrize("ending", ["group", "query"])
    def test_queries_are_in_a_second_file(self, write_file, read_error, ending):
        path = write_file(self.LINES, "rank.train")
        write_file("2\n1\n", f"rank.train.{ending}")

        assert list_grades(read_judgments(path, format="letor")) == {"1": {"1": 2, "2": 0}, "2": {"1": 1}}
        assert "names no documents" in read_error(read_judgments, path)

    @pytest.mark.parametrize(
        ("groups", "complaint"),
        [
            ("2\n", "DIR/rank.train:3\n  is in no group of DIR/rank.train.group"),
            ("2\n3\n", "DIR/rank.train.group\n  has groups for 2 lines more than DIR/rank.train has"),
            ("2\nx\n", "DIR/rank.train.group:2\n  'x' is not the number of lines of a query"),
        ],
    )
    def test_groups_that_do_not_fit_are_refused(self, write_file, read_error, groups, complaint):
        path = write_file(self.LINES, "rank.train")
        write_file(groups, "rank.train.group")

        assert read_error(read_judgments, path, format="letor") == complaint


class TestIdAndText:
    def test_ids_before_a_colon(self, write_file):
        queries = read_queries(write_file("wt09-1:obama family tree\nwt09-2:french: lick resort\n"))

        assert (queries.ids, queries.text) == (("wt09-1", "wt09-2"), ("obama family tree", "french: lick resort"))

    def test_the_million_query_track_has_priorities(self, write_file):
        queries = read_queries(write_file("20001:1:obama family tree\n20002:4:at 10:30\n"))

        assert (queries.ids, queries.text) == (("20001", "20002"), ("obama family tree", "at 10:30"))
        assert dict(queries.columns) == {"priority": ("1", "4")}


class TestSmart:
    def test_queries(self, write_file):
        queries = read_queries(
            write_file(".I 1\n.W\nwhat similarity laws\nmust be obeyed\n.I 2\n.T\nA title\n.A\nA. Uthor\n")
        )

        assert (queries.ids, queries.text) == (("1", "2"), ("what similarity laws must be obeyed", "A title"))
        assert queries.columns["author"] == ("", "A. Uthor")

    def test_a_query_without_text_is_refused(self, write_file, read_error):
        assert (
            read_error(read_queries, write_file(".I 1\n.W\nlaws\n.I 2\n.A\nme\n"))
            == "DIR/file.txt:4\n  this query has no text (.W)"
        )

    def test_grades_in_three_columns(self, write_file):
        assert list_grades(read_judgments(write_file("1 184 2\n1 29 -1\n2 12 3\n"))) == {
            "1": {"184": 2, "29": -1},
            "2": {"12": 3},
        }

    def test_lists_of_relevant_documents(self, write_file):
        assert list_grades(read_judgments(write_file("     1     28\t0\t0.000000\n     1     35\t0\t0.000000\n"))) == {
            "1": {"28": 1, "35": 1}
        }

    def test_a_line_of_another_width_is_refused(self, write_file, read_error):
        assert read_error(read_judgments, write_file("1 184 2\n" * 60 + "1 2\n"), format="smart") == (
            "DIR/file.txt:61\n  has 2 columns\n  columns: query document grade, or query document 0 0.000000"
        )


class TestTopicsOfOtherCampaigns:
    def test_ntcir_www(self, write_file):
        text = "<queries>\n<query>\n<qid>0001</qid>\n<content>Halloween picture</content>\n"
        text += "<description>Find</description>\n</query>\n</queries>\n"
        queries = read_queries(write_file(text))

        assert (queries.ids, queries.text) == (("0001",), ("Halloween picture",))
        assert queries.columns["description"] == ("Find",)

    def test_clef(self, write_file):
        text = "<top lang='en'>\n<num> C041 </num>\n<EN-title> Pesticides in Baby Food </EN-title>\n"
        text += "<EN-desc> Find </EN-desc>\n</top>\n"
        queries = read_queries(write_file(text))

        assert (queries.ids, queries.text) == (("C041",), ("Pesticides in Baby Food",))
        assert queries.columns["description"] == ("Find",)


class TestQuepidExports:
    HEADER = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\n"

    def test_a_snapshot_is_rankings(self, write_file):
        path = write_file(
            self.HEADER
            + '(3/5/26) a,2026-03-05T12:00:00Z,8,dog,d1,2,x\n(3/5/26) a,2026-03-05T12:00:00Z,8,dog,d2,1,"y, z"\n'
        )

        assert list_rankings(read_rankings(path)) == {"dog": [("d2", -1.0), ("d1", -2.0)]}

    def test_several_snapshots_are_refused(self, write_file, read_error):
        path = write_file(self.HEADER + "a,t,8,dog,d1,1,x\nb,t,8,dog,d1,1,x\n")

        assert read_error(read_rankings, path) == (
            "DIR/file.txt\n  contains 2 snapshots: 'a', 'b'\n  export one snapshot, or keep the rows of one"
        )

    def test_a_book_has_texts_beside_its_judges(self, write_file, read_error):
        judgments = read_judgments(
            write_file("query,docid,title,Ann\nred mug,d1,Big mug,3\nred mug,d2,,0\n"), format="quepid-book"
        )

        assert list_grades(judgments) == {"red mug": {"d1": 3, "d2": 0}}
        assert dict(judgments.columns) == {"title": ["Big mug", ""], "judge": ["Ann", "Ann"]}
        assert read_error(
            read_judgments, write_file("query,docid,title\nred mug,d1,Big mug\n"), format="quepid-book"
        ) == ("DIR/file.txt\n  none of its columns is a judge with grades: 'title'")
