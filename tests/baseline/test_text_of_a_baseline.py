"""What lies beside the suites: one text with a line for each query, the same bytes for the same content."""

import gzip
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_baselines import FIRST, SECOND, baseline_of, content

from pytest_ireval.baseline import fingerprints
from pytest_ireval.baseline.index_facts import IndexFacts
from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.baseline.record import JudgmentPrints, Search, Step, StoredMetric
from pytest_ireval.baseline.text import decode_baseline, encode_baseline
from pytest_ireval.baseline.writing import write_baseline
from pytest_ireval.data.from_objects import convert_judgments, convert_rankings
from pytest_ireval.errors import BaselineError

WHOLE = baseline_of(
    {"q1": ["a", "b", "c"], "q2": ["b", "a"], "q3": []},
    search=Search(
        "http: search.example",
        {"http": {"host": "search.example", "path": "/_search"}},
        {"ask.py": "0" * 16},
        IndexFacts("shop-v7", "b7", "m7", 120, {"title": "text"}, {"template": "x"}),
    ),
    waived=("q2",),
    acceptances=(
        FIRST._replace(figures={"nDCG@10": 0.5}),
        SECOND._replace(
            figures={"nDCG@10": 0.875},
            spreads={"nDCG@10": 0.25, "nDCG@10 segment=tail": 0.5},
            steps={"nDCG@10": Step(-0.01, 0.09, 0.14)},
        ),
    ),
)


def lines_of(baseline):
    return [json.loads(line) for line in encode_baseline(baseline).decode().splitlines()]


def test_a_baseline_that_was_written_is_read_back_whole(tmp_path):
    path = write_baseline(tmp_path / "baselines", WHOLE)

    assert (path.name, [each.name for each in path.parent.iterdir()]) == ("shop.baseline", ["shop.baseline"])
    assert content(read_baseline(tmp_path / "baselines", "shop")) == content(WHOLE)
    assert read_baseline(tmp_path, "other") is None


def test_the_text_is_a_header_then_acceptances_queries_and_documents():
    fields = {"a": {"title": "Mug"}}
    rankings = tuple(replace(each, fields=fields, timings={"q1": 0.25}) for each in WHOLE.rankings)

    text = encode_baseline(baseline_of(rankings=rankings, acceptances=(FIRST, SECOND))).decode()

    assert re.sub(r'"[0-9a-f]{16}"', '"…"', text).splitlines() == [
        '{"format": 1, "digest": "…"}',
        '{"suite": "shop", "depth": 10}',
        '{"fingerprints": {"queries": "queries", "judgments": "…", "source": "run: candidate.trec", '
        '"policies": "policies"}}',
        '{"plugins": ["pytest-ireval 0.1.0"]}',
        '{"metric": "nDCG@10", "value": 0.875, "version": 1, "origin": "pytest-ireval"}',
        f'{{"acceptance": "2026-11-02T10:00:00Z", "commit": "{"a" * 40}", "branch": "main", '
        '"reason": "the first one"}',
        f'{{"acceptance": "2026-11-20T08:30:00Z", "commit": "{"b" * 40}", "branch": "synonyms", "dirty": true, '
        '"reason": "synonyms v2", "forced": true}',
        '{"query": "q1", "values": {"nDCG@10": 0.75}, "documents": ["a", "b", "c"], "timings": [0.25], '
        '"grades": {"a": 3, "b": 0}, "judgments": "…"}',
        '{"query": "q2", "values": {"nDCG@10": 1.0}, "documents": ["b", "a"], "grades": {"a": 1}, "judgments": "…"}',
        '{"query": "q3", "documents": []}',
        '{"document": "a", "fields": {"title": "Mug"}}',
    ]


def test_the_same_content_is_the_same_bytes_whatever_order_it_came_in():
    one = baseline_of({"q1": ["a", "b"], "q2": ["c"]}, {"q1": {"a": 1, "b": 2}, "q2": {"c": 0}})
    other = baseline_of({"q2": ["c"], "q1": ["a", "b"]}, {"q2": {"c": 0}, "q1": {"b": 2, "a": 1}})

    assert encode_baseline(one) == encode_baseline(other)
    assert encode_baseline(decode_baseline(encode_baseline(WHOLE), "here")) == encode_baseline(WHOLE)


def test_a_changed_query_changes_its_own_line_the_figure_and_the_digest():
    lists = {f"q{i}": [f"d{i}{j}" for j in range(5)] for i in range(20)}
    values = dict.fromkeys(lists, 0.5)
    before = lines_of(baseline_of(lists, values=values))
    after = lines_of(baseline_of({**lists, "q7": ["new", "d70"]}, values={**values, "q7": 0.25}))

    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert [next(iter(line)) for line in changed] == ["format", "metric", "query"]
    assert changed[-1] == {"query": "q7", "values": {"nDCG@10": 0.25}, "documents": ["new", "d70"]}


def test_several_askings_are_kept_with_queries_that_only_some_answered():
    askings = tuple(convert_rankings(lists) for lists in ({"q1": ["a"], "q2": []}, {"q1": ["b"]}, {"q3": ["c"]}))
    timed = tuple(
        replace(each, timings=times) for each, times in zip(askings, ({"q1": 0.5}, {}, {"q3": 1.5}), strict=True)
    )

    found = decode_baseline(encode_baseline(baseline_of(rankings=timed)), "here")

    assert content(found)["rankings"] == [{"q1": ["a"], "q2": []}, {"q1": ["b"]}, {"q3": ["c"]}]
    assert found.timings == {"q1": [0.5, None, None], "q3": [None, None, 1.5]}


def test_scores_are_kept_to_the_last_digit_if_they_matter():
    lists = {"q1": [("a", 0.1 + 0.2), ("b", 0.3), ("c", 0.3), ("d", -1e-300)], "q2": [("e", 12345678901234567890.0)]}
    baseline = baseline_of(rankings=(convert_rankings({**lists, "q0": []}),), scored=True)

    found = decode_baseline(encode_baseline(baseline), "here")

    assert content(found)["rankings"] == content(baseline)["rankings"]
    assert found.rankings[0].tied_from.tolist() == [1, 2, 2, 4, 1]
    assert found.rankings[0].tied_to.tolist() == [1, 3, 3, 4, 1]


def test_without_scores_a_document_scores_minus_its_position():
    (rankings,) = decode_baseline(encode_baseline(baseline_of()), "here").rankings

    assert rankings.queries == ("q1", "q2", "q3")
    assert rankings.score.tolist() == [0, -1, -2, 0, -1]
    assert rankings.tied_from.tolist() == rankings.tied_to.tolist() == [1, 2, 3, 1, 2]


def test_only_the_first_documents_are_kept():
    found = decode_baseline(encode_baseline(baseline_of({"q1": ["a", "b", "c"]}, depth=2)), "here")

    assert content(found)["rankings"] == [{"q1": ["a", "b"]}]


def test_many_judgments_are_not_kept_but_what_they_were_is_known(monkeypatch):
    monkeypatch.setattr(fingerprints, "MOST_PAIRS", 2)
    baseline = baseline_of()

    found = decode_baseline(encode_baseline(baseline), "here")

    assert b'"grades"' not in encode_baseline(baseline)
    assert found.judgments == baseline.judgments == JudgmentPrints(*baseline.judgments[:2])


def test_line_ends_that_git_added_do_not_count(tmp_path):
    path = write_baseline(tmp_path, baseline_of({"q\r1": ["a\r\nb"], "q2": ["c"]}))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert content(read_baseline(tmp_path, "shop"))["rankings"] == [{"q\r1": ["a\r\nb"], "q2": ["c"]}]


def test_a_reason_may_hold_anything_that_a_command_line_can():
    odd = FIRST._replace(reason='line\nend "quoted" \udcff \u2028 ü')

    assert decode_baseline(encode_baseline(baseline_of(acceptances=(odd,))), "here").accepted == odd


def test_a_value_that_is_no_number_is_refused():
    metric = StoredMetric(1, "acme", float("nan"), {})

    with pytest.raises(BaselineError, match=r"^Odd is nan, and a baseline can only hold numbers$"):
        encode_baseline(baseline_of(metrics={"Odd": metric}))


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "a\\b", "aux:", "x" * 201])
def test_a_suite_whose_name_no_file_can_have_is_refused(tmp_path, name):
    with pytest.raises(BaselineError, match=r"cannot have a baseline: a file cannot have this name\n"):
        write_baseline(tmp_path, baseline_of(suite=name))

    assert list(tmp_path.iterdir()) == []


def test_on_request_the_text_is_packed_by_gzip_the_same_bytes_each_time(tmp_path):
    path = write_baseline(tmp_path, WHOLE, compress=True)
    packed = path.read_bytes()

    assert path.name == "shop.baseline.gz"
    assert gzip.decompress(packed) == encode_baseline(WHOLE)
    assert write_baseline(tmp_path, WHOLE, compress=True).read_bytes() == packed
    assert content(read_baseline(tmp_path, "shop")) == content(WHOLE)


def test_another_form_takes_the_place_of_the_one_before(tmp_path):
    for compress, name in ((True, "shop.baseline.gz"), (False, "shop.baseline"), (True, "shop.baseline.gz")):
        write_baseline(tmp_path, WHOLE, compress=compress)
        assert [path.name for path in tmp_path.iterdir()] == [name]


def test_both_forms_side_by_side_are_an_error(tmp_path):
    packed = write_baseline(tmp_path, WHOLE, compress=True).read_bytes()
    write_baseline(tmp_path, WHOLE)
    (tmp_path / "shop.baseline.gz").write_bytes(packed)

    with pytest.raises(
        BaselineError, match=r"shop\.baseline\n  is beside shop\.baseline\.gz: .*\n  remove one of them"
    ):
        read_baseline(tmp_path, "shop")


any_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
ids = any_text.filter(lambda text: not text.isspace()) | st.sampled_from(
    ["\\", "\\t", "\ta", "a\nb", "\\\\n", "#", "\u2028a", '"', "a\x85", "ä" * 40, "\0", "a\0", "query", "\ufeffx"]
)
lists = st.dictionaries(ids, st.lists(ids, unique=True, max_size=5), min_size=1, max_size=5)
grades = st.dictionaries(ids, st.dictionaries(ids, st.floats(-9, 9), min_size=1, max_size=4), min_size=1, max_size=4)


@given(lists=lists, grades=grades, suite=st.sampled_from(["shop", "ä b", "a.anchor"]))
def test_any_ids_and_grades_come_back_as_they_were(lists, grades, suite):
    baseline = baseline_of(lists, grades, suite=suite, values=dict.fromkeys(lists, 0.1))

    found = decode_baseline(encode_baseline(baseline), "here")

    assert content(found) == content(baseline)
    assert found.judgments.grades == {query: dict(grades[query]) for query in grades}
    assert convert_judgments(found.judgments.grades, grades="float") is not None
