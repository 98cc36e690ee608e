"""The source ``run``: one file, several, or all that fit a pattern."""

import gzip
import json

ONE = "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq1 Q0 c 3 1 t\n"
TWO = "q2 Q0 x 1 3 t\n"


def test_a_file_is_found_beside_the_suite(shop):
    shop.write("runs/candidate.trec", ONE + TWO)

    assert shop.lists({"run": "runs/candidate.trec"}) == {"q1": ["a", "b", "c"], "q2": ["x"]}


def test_shards_are_put_side_by_side_whatever_their_format_and_compression(shop):
    shop.write("runs/b.trec", ONE)
    (shop.folder / "runs/a.trec.gz").write_bytes(gzip.compress(TWO.encode()))

    assert shop.lists({"run": "runs/*.trec*"}) == {"q2": ["x"], "q1": ["a", "b", "c"]}

    shop.write("more/q2.json", json.dumps({"q2": ["y", "z"]}))
    assert shop.lists({"run": ["runs/b.trec", "more/*.json"]}) == {"q1": ["a", "b", "c"], "q2": ["y", "z"]}


def test_brackets_in_the_name_of_a_file_or_of_the_suites_folder_are_no_pattern(shop, tmp_path):
    shop.folder = tmp_path / "suites [old]"
    shop.write("run[1].trec", ONE)
    shop.write("shards/2.trec", TWO)

    assert shop.lists({"run": ["run[1].trec", "shards/*.trec"]}) == {"q1": ["a", "b", "c"], "q2": ["x"]}


def test_a_pattern_that_nothing_fits_is_an_error_that_says_what_there_is(shop):
    shop.write("runs/a.txt", ONE)

    assert shop.refused({"run": "runs/*.trec"}) == (
        "shop.ireval.yaml:5:11: source > run\n  no file matches 'runs/*.trec'\n  runs holds 'a.txt'"
    )


def test_a_file_that_is_not_there_is_an_error_that_says_what_there_is(shop):
    shop.write("runs/a.txt", ONE)

    assert shop.refused({"run": "runs/b.txt"}) == (
        "shop.ireval.yaml:5:11: source > run\n  there is no file 'runs/b.txt'\n  runs holds 'a.txt'"
    )
    assert shop.refused({"run": "rnus/b.txt"}) == (
        "shop.ireval.yaml:5:11: source > run\n  there is no file 'rnus/b.txt'\n  there is no folder rnus either"
    )


def test_a_query_in_two_shards_names_both_files(shop):
    shop.write("runs/1.trec", ONE + TWO)
    shop.write("runs/2.trec", ONE + TWO)

    assert shop.refused({"run": "runs/*.trec"}) == (
        "shop.ireval.yaml:5:11: source > run\n"
        "  query 'q1' and 1 more: ranked in runs/1.trec and in runs/2.trec\n"
        "  each query must be in one file only; merge the two files, or remove one"
    )


def test_a_format_may_be_named(shop):
    shop.write("a.txt", "query\tdocument\tscore\nq1\ta\t1\n")

    assert shop.lists({"run": "a.txt", "format": "table"}) == {"q1": ["a"]}
    assert shop.refused({"run": "a.txt", "format": "tabel"}) == (
        "shop.ireval.yaml:5:11: source > run\n"
        "  unknown format 'tabel' for rankings\n"
        "  did you mean 'table'?\n"
        "  formats of rankings: arrow, json, jsonl, msmarco, parquet, quepid-snapshot, responses, table, trec"
    )


def test_a_file_of_other_queries_is_the_wrong_file(shop):
    shop.write("a.trec", "z1 Q0 a 1 3 t\n")

    assert shop.refused({"run": "a.trec"}) == (
        "shop.ireval.yaml:5:11: source > run\n"
        "  it ranks none of the requested queries (2 queries of queries.tsv)\n"
        "  ranked: 'z1'; requested: 'q1', 'q2'"
    )


def test_rankings_of_queries_that_nobody_asked_for_are_left_out_and_named(shop):
    shop.write("a.trec", "z1 Q0 a 1 3 t\n" + ONE + "z2 Q0 a 1 3 t\n")

    (answer,) = shop.answers({"run": "a.trec"})

    assert answer.rankings.queries == ("q1",)
    assert answer.rankings.ranking("q1") == ["a", "b", "c"]
    assert answer.rankings.retrieved.tolist() == [3]
    assert answer.not_asked == ("z1", "z2")


def test_ranks_that_contradict_the_scores_are_a_note(shop):
    shop.write("one.trec", "q1 Q0 a 2 3 t\nq1 Q0 b 1 2 t\nq9 Q0 b 2 3 t\nq9 Q0 a 1 2 t\n")
    shop.write("two.trec", TWO)

    (answer,) = shop.answers({"run": ["one.trec", "two.trec"]})

    assert answer.rankings.ranking("q1") == ["a", "b"]
    assert answer.notes == ("the ranks contradict the scores in 1 of 2 rankings; the scores count, as in trec_eval",)
    (answer,) = shop.answers({"run": "two.trec"})
    assert answer.notes == ()
