"""``ireval sample``: queries from a log that stand for its searches, drawn with known chances, kept and held out."""

import gzip
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval_judgments.sampling import EarlierQuery, compute_chances, draw_pareto, draw_sample, read_log

COUNTS = {f"query {number}": max(1, 600 // (number + 1)) for number in range(120)}
SHARES = (40, 30, 30)


def log_of(counts):
    return "session\tquery\n" + "".join(f"s{i}\t{query}\n" for query, count in counts.items() for i in range(count))


@pytest.fixture
def log(write):
    return read_log([write("log.tsv", log_of(COUNTS))])


def test_queries_are_one_if_they_differ_in_spaces_letter_case_or_the_form_of_unicode(write):
    log = write("log.txt", "Red  Mug\nred mug\n red mug \ncafe\u0301\ncaf\u00e9\nSTRASSE\nstra\u00dfe\n\n")

    found = read_log([log])
    assert list(zip(found.names, found.texts, found.counts.tolist(), strict=True)) == [
        ("red mug", "red mug", 3),
        ("caf\u00e9", "caf\u00e9", 2),
        ("strasse", "STRASSE", 2),
    ]
    assert (found.searches, found.blank) == (7, 1)
    assert read_log([log], keep_case=True).counts.tolist() == [2, 2, 1, 1, 1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "log.jsonl",
            '{"query": "mug", "session": "a"}\n{"session": "a", "query": "Mug"}\n{"query": "pan", "session": 2}\n',
        ),
        ("log.tsv.gz", gzip.compress(b"session_id\tquery\na\tmug\na\tmug\n2\tpan\n", mtime=0)),
    ],
)
def test_logs_of_every_kind_count_searches_or_sessions(write, name, text):
    log = write(name, text)

    assert dict(zip(*read_log([log])[:1], read_log([log]).counts.tolist(), strict=True)) == {"mug": 2, "pan": 1}
    assert read_log([log], by_session=True).counts.tolist() == [1, 1]


def test_a_column_of_counts_and_several_logs_add_up(write):
    logs = [write("one.csv", "query,count\nmug,30\npan,2\n"), write("two.jsonl", '{"query": "pan", "count": 5}\n')]

    found = read_log(logs)
    assert (found.names, found.counts.tolist(), found.searches) == (("mug", "pan"), [30, 7], 37)


@given(counts=st.lists(st.integers(1, 1000), min_size=1, max_size=60), size=st.integers(0, 70))
def test_chances_are_in_proportion_and_come_to_the_size(counts, size):
    found = compute_chances(np.array(counts, float), size)

    assert found.sum() == pytest.approx(min(size, len(counts)))
    assert (found <= 1).all()
    rates = found[found < 1] / np.array(counts)[found < 1]
    assert np.ptp(rates) < 1e-9 if rates.size else True
    assert draw_pareto(found, np.random.default_rng(1).random(len(counts))).sum() == min(size, len(counts))


def test_a_query_is_drawn_as_often_as_its_chance_says():
    chance = compute_chances(np.array([60, 30, 10, 8, 5, 4, 2, 1], float), 4)
    generator = np.random.default_rng(5)
    drawn = np.mean([draw_pareto(chance, generator.random(8)) for _ in range(4_000)], 0)

    assert drawn == pytest.approx(chance, abs=0.04)


@pytest.mark.parametrize("holdout", [0.0, 0.3])
def test_weights_come_to_the_share_of_each_stratum(log, holdout):
    found = draw_sample(log, (10, 10, 20), SHARES, holdout=holdout)

    for part in {each.kept.held_out for each in found.drawn}:
        for stratum in found.strata:
            inside = [each.weight for each in found.drawn if (each.stratum, each.kept.held_out) == (stratum.name, part)]
            assert sum(inside) == pytest.approx(stratum.share) or not inside
    assert [100 * each.share for each in found.strata] == pytest.approx(SHARES, abs=12)
    assert sum(each.queries for each in found.strata) == len(COUNTS)


def test_a_later_log_gives_mostly_the_same_queries_and_never_moves_one_out_of_the_holdout(log, write):
    later = {name: max(1, round(count * Random(name).uniform(0.7, 1.4))) for name, count in COUNTS.items()}
    first = draw_sample(log, (20, 20, 20), SHARES, holdout=0.25)
    again = draw_sample(read_log([write("later.tsv", log_of(later))]), (20, 20, 20), SHARES, holdout=0.25)
    other = draw_sample(log, (20, 20, 20), SHARES, holdout=0.25, seed=8)

    parts = [{each.name: each.kept.held_out for each in sample.drawn} for sample in (first, again)]
    both = parts[0].keys() & parts[1].keys()
    assert len(both) > 0.85 * len(parts[0])
    assert {parts[0][name] == parts[1][name] for name in both} == {True}
    assert {each.name for each in other.drawn} != {each.name for each in first.drawn}


def test_queries_that_are_only_kept_change_no_weight(log):
    kept = {name: EarlierQuery(f"old{name}", name, False, {}) for name in ("query 70", "query 119", "gone")}

    fresh, again = draw_sample(log, (4, 6, 8), SHARES), draw_sample(log, (4, 6, 8), SHARES, kept=kept)

    assert {e.name: e.weight for e in again.drawn if e.weight} == {e.name: e.weight for e in fresh.drawn}
    assert {e.name for e in again.drawn} == {e.name for e in fresh.drawn} | kept.keys()
    assert {e.kept.id for e in again.drawn if e.name in kept} == {each.id for each in kept.values()}
