"""``ireval sample``: queries from a log that stand for its searches, drawn with known chances, kept and held out."""

import csv
import gzip
import json
from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.judging.sampling import asked_in, chances, normal_text, pareto, sampled

COUNTS = {f"query {number}": max(1, 600 // (number + 1)) for number in range(120)}
SHARES = (0.4, 0.3, 0.3)


def log_of(counts):
    return "session\tquery\n" + "".join(f"s{i}\t{query}\n" for query, count in counts.items() for i in range(count))


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def written(name, text):
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return name

    return written


@pytest.fixture
def asked(write):
    return asked_in([write("log.tsv", log_of(COUNTS))])


def test_queries_are_one_if_they_differ_in_spaces_letter_case_or_the_form_of_unicode(write):
    log = write("log.txt", "Red  Mug\nred mug\n red mug \ncafe\u0301\ncaf\u00e9\nSTRASSE\nstra\u00dfe\n\n")

    found = asked_in([log])
    assert list(zip(found.names, found.texts, found.counts.tolist(), strict=True)) == [
        ("red mug", "red mug", 3),
        ("caf\u00e9", "caf\u00e9", 2),
        ("strasse", "STRASSE", 2),
    ]
    assert (found.searches, found.blank) == (7, 1)
    assert asked_in([log], keep_case=True).counts.tolist() == [2, 2, 1, 1, 1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "log.jsonl",
            '{"query": "mug", "session": "a"}\n{"session": "a", "query": "Mug"}\n{"query": "pan", "session": 2}\n',
        ),
        ("log.csv", 'time,Query,session\n1,mug,a\n2,"MUG",a\n3,pan,2\n'),
        ("log.tsv.gz", "session_id\tquery\na\tmug\na\tmug\n2\tpan\n"),
    ],
)
def test_logs_of_every_kind_count_searches_or_sessions(write, name, text):
    log = write(name, text)

    assert dict(zip(*asked_in([log])[:1], asked_in([log]).counts.tolist(), strict=True)) == {"mug": 2, "pan": 1}
    assert asked_in([log], by_session=True).counts.tolist() == [1, 1]


def test_a_column_of_counts_and_several_logs_add_up(write):
    logs = [write("one.csv", "query,count\nmug,30\npan,2\n"), write("two.jsonl", '{"query": "pan", "count": 5}\n')]

    found = asked_in(logs)
    assert (found.names, found.counts.tolist(), found.searches) == (("mug", "pan"), [30, 7], 37)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("log.tsv", "session\ttext of it\na\tmug\n", "log.tsv:1\n  there is no query: the columns are 'session'"),
        ("log.csv", "mug\n", "log.csv:1\n  there is no query: the columns are 'mug'"),
        ("log.csv", "query,session\nmug\n", "log.csv:2\n  has 1 cells, and the first line names 2"),
        ("log.csv", 'query\n"mug\n', "log.csv:2\n  is not CSV (unexpected end of data)"),
        ("log.csv", "query,count\nmug,0\npan,x\n", "log.csv:2\n  count is '0', not a whole number from 1\nlog.csv:3"),
        ("log.jsonl", '{"query": "mug"}\n{"query": 7}\n', "log.jsonl:2\n  the query is '7', not text"),
        ("log.jsonl", '{"query": "mug"}\n[]\n', "log.jsonl:2\n  is not a JSON object"),
        ("log.jsonl", '{"query": "mug"}\n{"quer": 1}\n', "log.jsonl:2\n  there is no query"),
        ("log.jsonl", '{"query": "mug"}\nmug\n', "log.jsonl:2\n  is not JSON"),
        ("log.txt", " \n", "log.txt\n  has no queries"),
        ("log.txt", "mug\n", "no query is asked 5 times or more"),
    ],
)
def test_a_mistake_in_a_log_is_named_with_its_line(ireval, write, name, text, said):
    found = ireval("sample", write(name, text))

    assert (found.code, found.out) == (2, "")
    assert said in found.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--strata", "50,50,10"], "write one number for each of head, torso, tail that come to 100"),
        (["--size", "5,5"], "write one number for each of head, torso, tail, such as 50,30,20"),
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


@given(counts=st.lists(st.integers(1, 1000), min_size=1, max_size=60), size=st.integers(0, 70))
def test_chances_are_in_proportion_and_come_to_the_size(counts, size):
    found = chances(np.array(counts, float), size)

    assert found.sum() == pytest.approx(min(size, len(counts)))
    assert (found <= 1).all()
    rates = found[found < 1] / np.array(counts)[found < 1]
    assert np.ptp(rates) < 1e-9 if rates.size else True
    assert pareto(found, np.random.default_rng(1).random(len(counts))).sum() == min(size, len(counts))


def test_a_query_is_drawn_as_often_as_its_chance_says():
    chance = chances(np.array([60, 30, 10, 8, 5, 4, 2, 1], float), 4)
    generator = np.random.default_rng(5)
    drawn = np.mean([pareto(chance, generator.random(8)) for _ in range(20_000)], 0)

    assert drawn == pytest.approx(chance, abs=0.02)


@pytest.mark.parametrize("holdout", [0.0, 0.3])
def test_weights_come_to_the_share_of_each_stratum(asked, holdout):
    found = sampled(asked, (10, 10, 20), SHARES, holdout=holdout)

    for part in {each.held_out for each in found.drawn}:
        for stratum in found.strata:
            inside = [each.weight for each in found.drawn if (each.stratum, each.held_out) == (stratum.name, part)]
            assert sum(inside) == pytest.approx(stratum.share) or not inside
    assert [each.share for each in found.strata] == pytest.approx(SHARES, abs=0.12)
    assert sum(each.queries for each in found.strata) == len(COUNTS)


def test_weighted_means_are_those_of_all_searches_on_average(asked):
    quality = {name: Random(name).random() for name in COUNTS}
    truth = sum(quality[name] * count for name, count in COUNTS.items()) / sum(COUNTS.values())
    means = [
        sum(each.weight * quality[each.name] for each in sampled(asked, (4, 6, 8), SHARES, seed=seed).drawn)
        for seed in range(500)
    ]

    assert abs(np.mean(means) - truth) < 3.5 * np.std(means) / 500**0.5
    assert np.std(means) > 0.005  # or nothing was drawn by chance


def test_the_order_of_the_log_does_not_matter(asked, write):
    lines = log_of(COUNTS).splitlines(keepends=True)
    mixed = write("mixed.tsv", lines[0] + "".join(Random(1).sample(lines[1:], len(lines) - 1)))

    assert sampled(asked_in([mixed]), (5, 5, 5), SHARES) == sampled(asked, (5, 5, 5), SHARES)


def test_a_later_log_gives_mostly_the_same_queries_and_never_moves_one_out_of_the_holdout(asked, write):
    later = {name: max(1, round(count * Random(name).uniform(0.7, 1.4))) for name, count in COUNTS.items()}
    first = sampled(asked, (20, 20, 20), SHARES, holdout=0.25)
    again = sampled(asked_in([write("later.tsv", log_of(later))]), (20, 20, 20), SHARES, holdout=0.25)
    other = sampled(asked, (20, 20, 20), SHARES, holdout=0.25, seed=8)

    parts = [{each.name: each.held_out for each in sample.drawn} for sample in (first, again)]
    both = parts[0].keys() & parts[1].keys()
    assert len(both) > 0.85 * len(parts[0])
    assert {parts[0][name] == parts[1][name] for name in both} == {True}
    assert {each.name for each in other.drawn} != {each.name for each in first.drawn}


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
        ["error: old.tsv:3", "  query 'q2' has the same text as 'q1' of old.tsv"],
    )


@given(st.text())
def test_a_normal_text_stays_as_it_is(text):
    once = normal_text(text)

    assert normal_text(once) == once


def test_the_log_of_the_examples_is_what_its_script_makes(tmp_path, monkeypatch):
    import runpy
    from pathlib import Path

    data = Path(__file__).parents[2] / "examples" / "data"
    runpy.run_path(str(data / "make_searches.py"))["main"](tmp_path / "searches.tsv")

    assert (tmp_path / "searches.tsv").read_bytes() == (data / "searches.tsv").read_bytes()
    assert Counter(row["query"].lower() for row in rows(data / "searches.tsv")).most_common(1)[0][0] == "mug"
