"""Files of Quepid, RRE and Elasticsearch, and answers of search engines, are read as they are."""

import json

import pytest
from contents import list_grades

from pytest_ireval import read_judgments, read_queries, read_rankings


def as_file(write_file, value, name="file.json"):
    return write_file(json.dumps(value, indent=2), name)


class TestQuepidCase:
    CSV = 'query,docid,rating\nred mug,d1,3\nred mug,d2,0\n" =cup",d1,1\n"esp, doppio",,\n'

    def test_ratings_as_csv(self, write_file):
        path = write_file(self.CSV)

        assert read_queries(path).ids == ("red mug", "=cup", "esp, doppio")
        assert list_grades(read_judgments(path)) == {"red mug": {"d1": 3, "d2": 0}, "=cup": {"d1": 1}}
        assert read_judgments(path).place(2).endswith("file.txt:4")

    def test_detailed_export(self, write_file):
        header = "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating,price\n"
        path = write_file(header + "t,c,7,red mug,d1,1,A mug,3,9.5\nt,c,7,cup,d2,1,A cup,,\n")

        assert read_queries(path).ids == ("red mug", "cup")
        assert list_grades(read_judgments(path)) == {"red mug": {"d1": 3}}

    def test_whole_case_as_json(self, write_file):
        case = {
            "case_name": "shop",
            "queries": [
                {
                    "query_text": "red mug",
                    "information_need": "a mug that is red",
                    "notes": None,
                    "ratings": [{"doc_id": "d1", "rating": 3.0, "user_email": "ann@example.org"}],
                },
                {"query_text": "cup", "ratings": []},
            ],
        }
        path = as_file(write_file, case)

        assert read_queries(path).ids == ("red mug", "cup")
        assert read_queries(path).columns["information_need"] == ("a mug that is red", "")
        assert list_grades(read_judgments(path)) == {"red mug": {"d1": 3}}
        assert read_judgments(path).columns["judge"] == ["ann@example.org"]
        assert read_judgments(path).place(0).endswith("file.json: queries 1 > ratings 1")

    def test_a_query_without_ratings_may_be_a_row_of_one_cell(self, write_file):
        path = write_file("query,docid,rating\nred mug,SKU-1,3.0\nteapot\n")

        assert read_queries(path).ids == ("red mug", "teapot")
        assert list_grades(read_judgments(path)) == {"red mug": {"SKU-1": 3}}

    @pytest.mark.parametrize("ratings", [{"d1": 3, "d2": None}, [{"doc_id": "d1", "rating": 3}, {"doc_id": "d2"}]])
    def test_what_is_unrated_is_not_judged(self, write_file, ratings):
        path = as_file(write_file, {"queries": [{"query": "red mug", "ratings": ratings}]})

        assert list_grades(read_judgments(path)) == {"red mug": {"d1": 3}}

    @pytest.mark.parametrize(
        ("case", "complaint"),
        [
            ({"queries": {"ratings": 1}}, "queries\n  is not a list"),
            ({"queries": [{"query_text": {"a": 1}, "ratings": []}]}, "queries 1\n  'query_text' is {'a': 1}, not text"),
            ({"queries": ["ratings"]}, "queries 1\n  is not an object"),
        ],
    )
    def test_what_has_the_wrong_shape_is_refused_with_its_path(self, write_file, read_error, case, complaint):
        assert read_error(read_queries, as_file(write_file, case)) == f"DIR/file.json: {complaint}"


class TestQuepidBook:
    BOOK = {
        "name": "shop",
        "scale": [0, 1, 2, 3],
        "query_doc_pairs": [
            {
                "query_text": "red mug",
                "doc_id": "d1",
                "information_need": "a red one",
                "judgements": [
                    {"rating": 3.0, "unrateable": False, "judge_later": False, "user_email": "ann", "explanation": "!"},
                    {"rating": 3.0, "unrateable": True, "judge_later": False, "user_email": "bob"},
                    {"rating": None, "unrateable": False, "judge_later": True, "user_email": "cid"},
                ],
            },
            {"query_text": "cup", "doc_id": "d1", "judgements": []},
        ],
    }

    def test_book_as_json(self, write_file):
        path = as_file(write_file, self.BOOK)

        assert read_queries(path).ids == ("red mug", "cup")
        assert read_queries(path).columns["information_need"] == ("a red one", "")
        assert list_grades(read_judgments(path)) == {"red mug": {"d1": 3}}
        assert {k: list(v) for k, v in read_judgments(path).columns.items()} == {"judge": ["ann"], "explanation": ["!"]}

    def test_judgments_as_csv_with_a_column_a_judge(self, write_file):
        path = write_file("query,docid,Ann Lee,Bob\nred mug,d1,3,\nred mug,d2,,0.0\n")
        judgments = read_judgments(path, format="quepid-book")

        assert list_grades(judgments) == {"red mug": {"d1": 3, "d2": 0}}
        assert judgments.columns["judge"] == ["Ann Lee", "Bob"]
        assert read_queries(path, format="quepid-book").ids == ("red mug",)

    def test_judges_who_disagree_are_an_error_that_says_what_to_do(self, write_file, read_error):
        path = write_file("query,docid,Ann,Bob\nred mug,d1,3,1\n")

        assert read_error(read_judgments, path, format="quepid-book") == (
            "DIR/file.txt:2\n  document 'd1' is judged twice for query 'red mug': "
            "grade 1 here, grade 3 at DIR/file.txt:2\n"
            "  keep one of them, merge the judges (ireval import --judges median), or read subtopics (format "
            "trec-diversity)"
        )


class TestRatedRankingEvaluator:
    RATINGS = {
        "index": "basses",
        "id_field": "_id",
        "topics": [
            {
                "description": "Fender basses",
                "query_groups": [
                    {
                        "name": "Brand",
                        "queries": [
                            {"template": "a.json", "placeholders": {"$query": "fender"}},
                            {"template": "b.json", "placeholders": {"$query": "fender", "$strings": 4}},
                            {
                                "placeholders": {"$query": "jazz"},
                                "relevant_documents": {"3": ["d1"], "2": ["d2", "d3"]},
                            },
                        ],
                        "relevant_documents": {"d1": {"gain": 3}, "d2": {"rating": 2}},
                    }
                ],
            }
        ],
    }

    def test_groups_share_their_documents_and_queries_may_have_their_own(self, write_file):
        path = as_file(write_file, self.RATINGS)

        assert read_queries(path).ids == ("fender", "jazz")
        assert dict(read_queries(path).columns) == {"subject": ("Fender basses",) * 2, "group": ("Brand",) * 2}
        assert list_grades(read_judgments(path)) == {"fender": {"d1": 3, "d2": 2}, "jazz": {"d1": 3, "d2": 2, "d3": 2}}

    def test_a_query_without_documents_is_refused_with_its_path(self, write_file, read_error):
        path = as_file(write_file, {"queries": [{"placeholders": {"$query": "mug"}}]})

        assert read_error(read_judgments, path) == (
            "DIR/file.json: queries 1\n  neither the query nor its group has 'relevant_documents'"
        )


class TestElasticsearch:
    def test_ratings_and_the_text_of_each_kind_of_query(self, write_file):
        requests = [
            {
                "id": "q1",
                "request": {"query": {"bool": {"must": [{"match": {"title": "red mug"}}], "filter": {"range": {}}}}},
                "ratings": [{"_index": "shop", "_id": "d1", "rating": 3}, {"_index": "shop", "_id": "d2", "rating": 0}],
            },
            {"id": "q2", "template_id": "t", "params": {"size": 3, "query_string": "cup"}, "ratings": []},
            {"id": "q3", "request": {"query": {"multi_match": {"query": "big", "fields": ["a"]}}}, "ratings": []},
            {
                "id": "q4",
                "request": {"query": {"bool": {"should": [{"match": {"a": "x"}}, {"match": {"b": {"query": "y"}}}]}}},
            },
        ]
        path = as_file(write_file, {"requests": requests, "metric": {"precision": {"k": 20}}})

        assert read_queries(path).ids == ("q1", "q2", "q3", "q4")
        assert read_queries(path).text == ("red mug", "cup", "big", "")
        assert read_queries(path).columns["template"] == ("", "t", "", "")
        assert list_grades(read_judgments(path)) == {"q1": {"d1": 3, "d2": 0}}

    def test_documents_of_several_indexes_are_told_apart(self, write_file):
        ratings = [{"_index": "a", "_id": "1", "rating": 1}, {"_index": "b", "_id": "1", "rating": 0}]

        assert list_grades(read_judgments(as_file(write_file, {"requests": [{"id": "q", "ratings": ratings}]}))) == {
            "q": {"a/1": 1, "b/1": 0}
        }


class TestAnswersOfEngines:
    ES = {"timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0}}
    ELASTICSEARCH = {
        **ES,
        "hits": {"total": {"value": 2}, "hits": [{"_id": "b", "_score": 1}, {"_id": "a", "_score": 1}]},
    }
    SOLR = {"responseHeader": {"status": 0}, "response": {"numFound": 2, "docs": [{"id": "b"}, {"id": 7}]}}
    VESPA = {"root": {"fields": {"totalCount": 1}, "coverage": {"full": True}, "children": [{"id": "id:shop:p::1"}]}}

    @pytest.mark.parametrize("form", ["indented", "lines"])
    @pytest.mark.parametrize(
        ("answer", "ids"), [(ELASTICSEARCH, ["b", "a"]), (SOLR, ["b", "7"]), (VESPA, ["id:shop:p::1"])]
    )
    def test_the_order_is_that_of_the_answer(self, write_file, answer, ids, form):
        each = {"red mug": answer, "cup": answer}
        lines = "".join(f"{json.dumps({query: found})}\n" for query, found in each.items())
        text = lines if form == "lines" else json.dumps(each, indent=1 if form == "indented" else None)

        rankings = read_rankings(write_file(text))

        assert [rankings.ranking(query) for query in each] == [ids, ids]

    def test_an_answer_without_hits_is_an_empty_ranking(self, write_file):
        empty = {
            "q1": {**self.ES, "hits": {"hits": []}},
            "q2": {"response": {"docs": []}},
            "q3": {"root": {"fields": {"totalCount": 0}}},
        }

        assert [read_rankings(as_file(write_file, empty)).ranking(query) for query in empty] == [[], [], []]

    def test_every_answer_that_cannot_be_scored_is_named(self, write_file, read_error):
        wrong = {
            "q1": {**self.ELASTICSEARCH, "timed_out": True},
            "q2": {"error": {"type": "index_not_found_exception"}, "status": 404},
            "q3": {"response": {"docs": [{"sku": "m1"}]}},
            "q4": {"root": {"errors": [{"code": 8}], "fields": {"totalCount": 0}}},
        }

        assert read_error(read_rankings, as_file(write_file, wrong)) == (
            "DIR/file.json: q1\n  the answer is incomplete: timed_out is true\n"
            "DIR/file.json: q2\n"
            "  has no hits: it is not a complete answer of Elasticsearch, OpenSearch, Solr or Vespa\n"
            "DIR/file.json: q3 > response > docs 1\n  the key 'id' is missing\n"
            "DIR/file.json: q4 > root\n  the answer has errors"
        )

    def test_a_query_that_is_answered_twice(self, write_file, read_error):
        line = json.dumps({"q1": self.SOLR}) + "\n"

        assert (
            read_error(read_rankings, write_file(line * 2)) == "DIR/file.txt:2: q1\n  this query has an answer already"
        )
