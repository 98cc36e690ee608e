"""Two systems that are asked in the same run take turns, so that a busy minute touches both alike."""

import json
import sys

import pytest

from pytest_ireval import load_suite, run_gate

CALLS = """\
asked = []
def one(text):
    asked.append(("A", text))
    {one}
    return ["d", "e"]
def other(text):
    asked.append(("B", text))
    {other}
    return ["e", "d"]
async def awaited(text):
    return other(text)
def all_of(queries):
    return {{query: other(text) for query, text in queries.items()}}
"""


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Runs a suite that compares ``one`` with another source; the calls, and the result."""
    monkeypatch.chdir(tmp_path)

    def run(source, against, one="", other="", queries=6):
        (tmp_path / "q.tsv").write_text("id\ttext\n" + "".join(f"q{i}\t{i}\n" for i in range(queries)))
        (tmp_path / "j.txt").write_text("".join(f"q{i} 0 d 1\n" for i in range(queries)))
        (tmp_path / "calls.py").write_text(CALLS.format(one=one, other=other))
        sys.modules.pop("calls", None)
        rule = {"no_regression": {"metric": "RR", "tolerance": "1%", "against": {"source": against}}}
        head = {"ireval": 1, "suite": "shop", "queries": "q.tsv", "judgments": "j.txt", "source": source}
        path = tmp_path / "shop.ireval.yaml"
        path.write_text(
            "".join(f"{key}: {json.dumps(value)}\n" for key, value in head.items()) + f"rules: [{json.dumps(rule)}]"
        )
        result = run_gate(load_suite(path))
        module = sys.modules.pop("calls", None)
        return result, module and module.asked

    return run


def order(calls):
    return "".join(system for system, _ in calls)


def test_the_order_alternates_query_by_query(gate):
    before = sys.path[:]

    result, calls = gate({"python": "calls:one"}, {"python": "calls:other"})

    assert order(calls) == "ABBAABBAABBA"
    assert [text for system, text in calls if system == "A"] == [text for system, text in calls if system == "B"]
    assert result.verdict == "pass"
    assert result.outcomes[1].figures[0].change == 0.5
    assert sys.path == before


def test_they_take_turns_in_every_repeat(gate):
    ours, theirs = ({"python": f"calls:{name}", "repeat": 2} for name in ("one", "other"))

    assert order(gate(ours, theirs)[1]) == "ABBA" * 6
    assert order(gate(ours, {**theirs, "repeat": 1}, queries=2)[1]) == "ABBAAA"


def test_sources_of_other_kinds_and_speeds_keep_up_with_each_other(gate):
    _, calls = gate({"python": "calls:one", "concurrency": 2}, {"python": "calls:awaited"}, queries=8)

    assert order(calls).count("A") == order(calls).count("B") == 8
    for done in range(1, len(calls)):
        ours = order(calls[:done]).count("A")
        assert abs(2 * ours - done) <= 3


def test_a_source_that_answers_all_at_once_comes_after_the_other(gate):
    assert order(gate({"python": "calls:one"}, {"python": "calls:all_of", "mode": "all"})[1]) == "A" * 6 + "B" * 6


def test_the_error_of_the_reference_is_that_of_its_rule_and_the_source_is_asked_on(gate):
    result, calls = gate({"python": "calls:one"}, {"python": "calls:other"}, other="assert text != '2', 'busy'")

    assert "calls:other raised AssertionError: busy for query 'q2' ('2')" in result.outcomes[1].headline
    assert order(calls).count("A") == 6
    assert order(calls).count("B") == 3


def test_an_error_of_the_source_ends_the_run(gate):
    result, calls = gate({"python": "calls:one"}, {"python": "calls:other"}, one="assert text != '2', 'busy'")

    assert "calls:one raised AssertionError: busy for query 'q2' ('2')" in result.error
    assert order(calls).count("B") <= 3


def test_ctrl_c_ends_both(gate):
    with pytest.raises(KeyboardInterrupt):
        gate({"python": "calls:one"}, {"python": "calls:other"}, other="if text == '1': raise KeyboardInterrupt")

    assert order(sys.modules.pop("calls").asked) == "ABB"


def test_two_live_systems_see_the_same_minutes(gate):
    from live_server import Server

    servers, calls = [Server(), Server()], []
    for name, server in zip("AB", servers, strict=True):
        server.respond = lambda asked, name=name: calls.append((name, asked.text)) or {"hits": [{"id": "d"}]}
    ours, theirs = (
        {"http": server.url, "params": {"q": "{text}"}, "hits": "hits", "concurrency": 2} for server in servers
    )
    try:
        result, _ = gate(ours, theirs, queries=8)
    finally:
        for server in servers:
            server.close()

    assert result.verdict == "pass"
    assert order(calls) == "AABBBBAAAABBBBAA"
