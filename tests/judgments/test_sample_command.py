"""``ireval sample``: a set of queries that a suite reads, drawn from a log, refreshed, and held out."""

import csv
import gzip
import io
import json
import sys

import pytest
from suite_files import write_suite

from pytest_ireval import load_suite, run_gate

COUNTS = {f"query {number}": max(1, 600 // (number + 1)) for number in range(120)}


def log_of(counts):
    return "query\tcount\n" + "".join(f"{query}\t{count}\n" for query, count in counts.items())


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "log.tsv",
            "session\ttext of it\na\tmug\n",
            "log.tsv:1\n  there is no column for the text: the columns are 'session'",
        ),
        ("log.csv", "query,session\nmug\n", "log.csv:2\n  has 1 cell, not 2"),
        ("log.csv", 'query\n"mug\n', "log.csv:2\n  is not CSV: the quote opened in line 2 is never closed"),
        (
            "log.csv",
            "query,count\nmug,0\npan,x\n",
            "log.csv:2\n  count is '0', not a whole number from 1 to 1,000,000,000,000\nlog.csv:3",
        ),
        ("log.jsonl", '{"query": "mug"}\n{"quer": 1}\n', "log.jsonl:2\n  there is no column for the text"),
        ("log.txt", " \n", "log.txt\n  there are no queries in the log"),
        ("log.jsonl", '{"query": "mug"}\n{"query": 7}\n', "log.jsonl:2\n  the query is '7', not text"),
        ("log.txt", "mug\n", "every query is asked fewer than 5 times\n  lower --least"),
    ],
)
def test_a_mistake_in_a_log_is_named_with_its_line(ireval, write, name, text, said):
    found = ireval("sample", write(name, text))

    assert (found.code, found.out) == (2, "")
    assert said in found.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--strata", "50,50,10"], "write three shares that come to 100, such as 50,30,20 for head, torso, tail"),
        (["--size", "5,5"], "write one number, or three numbers such as 100,50,50 for head, torso, tail"),
        (["--by", "session"], "a log with a query on each line has no sessions"),
        (["--holdout", "0.2"], "write a share from 0% to less than 100%, such as 20%"),
        (["--judged", "x"], "--judged needs --refresh"),
    ],
)
def test_an_option_that_makes_no_sense_is_named(ireval, write, options, said):
    found = ireval("sample", write("log.txt", "mug\n" * 9), *options)

    assert found.code == 2
    assert said in found.err


def rows(name):
    with open(name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_the_set_and_its_holdout_are_files_that_a_suite_reads(ireval, write, tmp_path):
    rare = {f"jane doe {number}": 1 for number in range(100)}
    log = write("log.tsv", log_of({**COUNTS, **rare}))

    done = ireval("sample", log, "--size", "12,10,10", "--holdout", "25%", "--format", "json")
    found, (dev, out) = json.loads(done.out), (rows("queries.tsv"), rows("queries.holdout.tsv"))

    assert done.err == ""
    assert list(dev[0]) == ["id", "text", "stratum", "weight", "searches"]
    assert not {row["text"] for row in dev} & {row["text"] for row in out}
    assert sum(float(row["weight"]) for row in dev) == pytest.approx(1, abs=1e-4)
    assert {row["stratum"] for row in dev} == {"head", "torso", "tail"}
    assert all("jane" not in row["text"] for row in (*dev, *out))
    assert found["strata"][-1]["drawn"] == len(dev) + len(out)
    assert any(note.startswith("left out: 1") and "asked fewer than 5 times" in note for note in found["notes"])

    again = ireval("sample", log)
    assert (again.code, again.err) == (2, "error: would overwrite queries.tsv\n  --force overwrites\n")


def test_a_refreshed_set_keeps_ids_columns_and_what_is_judged(ireval, write):
    write("old.tsv", "id\ttext\tintent\nq1\tquery 3\tbuy\nq2\tQuery 119\tlearn\nq3\tgone by\t\nq4\tquery 118\t\n")
    write("judgments.txt", "q2 0 d 1\nq3 0 d 0\n")
    log = write("log.tsv", log_of(COUNTS))

    every = ireval("sample", log, "--size", "6", "--refresh", "old.tsv", "--least", "1")
    found = {row["id"]: row for row in rows("queries.tsv")}
    judged = ireval("sample", log, "--size", "6", "--refresh", "old.tsv", "--judged", "judgments.txt", "--force")

    assert every.code == judged.code == 0
    assert (found["q1"]["intent"], found["q2"]["text"], found["q2"]["intent"]) == ("buy", "Query 119", "learn")
    assert [(found[q]["stratum"], found[q]["searches"], found[q]["weight"]) for q in ("q2", "q3")] == [
        ("tail", "5", "0"),
        ("tail", "0", "0"),
    ]
    assert "not in the log any more: 1 query: gone by" in every.out
    assert "kept with weight 0: 3 queries of the earlier set, not drawn again" in every.out
    assert {row["id"] for row in rows("queries.tsv")} >= {"q1", "q2", "q3"}
    assert "q4" not in {row["id"] for row in rows("queries.tsv")}
    assert "left out: 1 query of old.tsv without judgments: query 118" in judged.out


def test_a_refreshed_holdout_stays_held_out_and_hidden(ireval, write):
    log = write("log.tsv", log_of(COUNTS))
    ireval("sample", log, "--size", "20", "--holdout", "25%")
    first = [{row["id"] for row in rows(name)} for name in ("queries.tsv", "queries.holdout.tsv")]

    done = ireval(
        "sample", log, "--size", "8", "--holdout", "50%", "--seed", "3", "--refresh", "queries.tsv", "--force"
    )
    again = [{row["id"] for row in rows(name)} for name in ("queries.tsv", "queries.holdout.tsv")]

    assert done.code == 0
    assert all(before <= now for before, now in zip(first, again, strict=True))


def test_two_earlier_queries_with_one_text_are_refused(ireval, write):
    write("old.tsv", "id\ttext\nq1\tred mug\nq2\tRed Mug\n")

    found = ireval("sample", write("log.txt", "red mug\n" * 9), "--refresh", "old.tsv")
    assert (found.code, found.err.splitlines()[:2]) == (
        2,
        ["error: old.tsv:3", "  query 'q2' has the same text as 'q1'"],
    )


def test_the_formats_of_the_output_have_the_same_figures(ireval, write):
    log = write("log.tsv", "query\tcount\nmug\t50\npan\t30\npot\t20\n\t4\n")

    text = ireval("sample", log, "--strata", "50,30,20").out
    content = json.loads(ireval("sample", log, "--to", "set.jsonl", "--format", "json").out)

    assert text.splitlines()[-4:] == [
        "all            3       100  1.0000      3       1.0000                 3",
        "",
        "log.tsv: searches: 100; different queries: 3; searches without a text: 4",
        "wrote queries.tsv: 3 queries, weights come to 1.0000",
    ]
    every = content["strata"][-1]
    assert [every[name] for name in ("stratum", "queries", "searches", "drawn", "held_out")] == ["all", 3, 100, 3, 0]
    with open("set.jsonl", encoding="utf-8") as file:
        first = json.loads(file.readline())
    assert (first["text"], first["stratum"], first["weight"], first["searches"]) == ("mug", "head", 0.5, 50)


@pytest.mark.parametrize(
    ("options", "drawn"),
    [
        (["--strata", "0,0,100", "--size", "9"], {"tail": 4}),
        (["--by", "session"], {"head": 2, "torso": 1, "tail": 1}),
        (["--keep-case"], {"head": 2, "torso": 1, "tail": 2}),
        (["--least", "2"], {"head": 1, "torso": 1}),
        (["--size", "0,0,2"], {"tail": 2}),
    ],
)
def test_options_choose_what_is_drawn(ireval, write, options, drawn):
    log = "query,session\nmug,a\nmug,a\nMug,b\npan,a\npan,b\npot,a\ncup,b\n"

    done = ireval("sample", write("log.csv", log), "--least", "1", *options)

    assert (done.code, done.err) == (0, "")
    assert {name: sum(row["stratum"] == name for row in rows("queries.tsv")) for name in drawn} == drawn


def test_a_log_is_read_from_standard_input_and_in_any_file_that_is_compressed(ireval, write, monkeypatch):
    log = '\ufeffquery;searches\r\n"red; mug";6\r\n=1+1;5\r\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(log.encode())))

    piped = ireval("sample", "-", "--to", "set.csv")
    packed = ireval("sample", write("log.csv.gz", gzip.compress(log.encode())), "--to", "set.jsonl")

    assert (piped.code, packed.code) == (0, 0)
    with open("set.csv", encoding="utf-8", newline="") as file:
        assert [(row["text"], row["weight"]) for row in csv.DictReader(file)] == [
            ("red; mug", "0.545455"),
            ("=1+1", "0.454545"),
        ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--refresh", "old.tsv"], "old.holdout.tsv exists: without a holdout its queries would join the set"),
        (
            ["--refresh", "old.tsv", "--holdout", "10%", "--judged", "judgments.txt"],
            "no query of old.tsv is judged; do the ids match?",
        ),
        (["--holdout", "99%", "--size", "1"], "queries.tsv would have no query"),
        (["--strata", "100,0,0", "--size", "0,0,5"], "the strata with a size above 0 have no queries"),
    ],
)
def test_a_set_that_could_mislead_is_refused(ireval, write, options, said):
    write("old.tsv", "id\ttext\nq1\tquery 3\n")
    write("old.holdout.tsv", "id\ttext\nq2\tquery 4\n")
    write("judgments.txt", "other 0 d 1\n")

    found = ireval("sample", write("log.tsv", log_of(COUNTS)), *options)

    assert (found.code, found.out) == (2, "")
    assert said in found.err


SEARCH = """\
from pytest_ireval import Answer


def before(text, query_id, depth):
    return Answer(["d1"], about={"engine": "toy"})


def now(text, query_id, depth):
    return Answer([] if text in ("gone", "rare", "big mug") else ["d1"], about={"engine": "toy"})
"""
COMPARED = 'metric: Empty, weighted: true, tolerance: {absolute: 0.2}, against: {python: "engine_of_traffic:before"}'


def test_a_suite_weights_the_queries_of_a_refreshed_set_by_their_traffic(ireval, write, tmp_path):
    """``big mug`` is 15% of the traffic and 30% of the head; ``gone`` and ``rare`` are kept, and count for nothing."""
    write("old.tsv", "id\ttext\nq1\tgone\nq2\trare\n")
    write("engine_of_traffic.py", SEARCH)
    suite = write_suite(
        tmp_path,
        f"no_regression: {{{COMPARED}, decide_by: observed}}",
        f"no_regression: {{{COMPARED}, decide_by: observed, per: stratum}}",
        f"no_regression: {{{COMPARED}, name: evidence}}",
        source='{python: "engine_of_traffic:now"}',
        queries="queries.tsv",
        weight="weight",
        judgments=None,
    )
    log = "query\tcount\nmug\t35\nbig mug\t15\npan\t15\nbig pan\t15\npot\t10\nbig pot\t10\nrare\t1\n"
    ireval("sample", write("log.tsv", log), "--strata", "50,30,20", "--refresh", "old.tsv")

    found = run_gate(load_suite(suite))

    assert {each.id.partition("::")[2]: (each.verdict, each.headline[:28]) for each in found.outcomes[1:]} == {
        "Empty.all": ("pass", "weighted Empty rose by 0.150"),
        "Empty.stratum-head": ("fail", "weighted Empty rose by 0.300"),
        "Empty.stratum-torso": ("pass", "weighted Empty did not chang"),
        "Empty.stratum-tail": ("pass", "weighted Empty did not chang"),
        "Empty.all.evidence": ("pass", "weighted Empty rose by 0.150"),
    }
