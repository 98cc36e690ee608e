"""``ireval sample``: a set of queries that a suite reads, drawn from a log, refreshed, and held out."""

import csv
import json

import pytest

COUNTS = {f"query {number}": max(1, 600 // (number + 1)) for number in range(120)}


def log_of(counts):
    return "query\tcount\n" + "".join(f"{query}\t{count}\n" for query, count in counts.items())


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def written(name, text):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    return written


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "log.tsv",
            "session\ttext of it\na\tmug\n",
            "log.tsv:1\n  there is no column for the text: the columns are 'session'",
        ),
        ("log.csv", "mug\n", "log.csv:1\n  there is no column for the text: the columns are 'mug'"),
        ("log.csv", "query,session\nmug\n", "log.csv:2\n  has 1 cell, not 2"),
        ("log.csv", 'query\n"mug\n', "log.csv:2\n  is not CSV (unexpected end of data)"),
        (
            "log.csv",
            "query,count\nmug,0\npan,x\n",
            "log.csv:2\n  count is '0', not a whole number from 1 to 1,000,000,000,000\nlog.csv:3",
        ),
        ("log.jsonl", '{"query": "mug"}\n{"query": 7}\n', "log.jsonl:2\n  the query is '7', not text"),
        ("log.jsonl", '{"query": "mug"}\n[]\n', "log.jsonl:2\n  is not a JSON object"),
        ("log.jsonl", '{"query": "mug"}\n{"quer": 1}\n', "log.jsonl:2\n  there is no column for the text"),
        ("log.jsonl", '{"query": "mug"}\nmug\n', "log.jsonl:2\n  is not JSON"),
        ("log.txt", " \n", "log.txt\n  there are no queries in the log"),
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
        (["--holdout", "0.2"], "write a share from 0% to less than 100%, such as 20%"),
        (["--judged", "x"], "--judged needs --refresh"),
        (["--by", "session"], "a log with a query on each line has no sessions"),
        (["--to", "set.txt"], "unknown format for .txt"),
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
        ("", "0", "0"),
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
