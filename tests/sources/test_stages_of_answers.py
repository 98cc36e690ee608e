"""Sources that tell the stages of one answer: functions, programs and files."""

import json
import sys

import pytest
from suite_files import write_judgments, write_queries, write_rankings, write_suite

from pytest_ireval import load_suite
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.collect import collect_inputs
from pytest_ireval.suite.options import SourceOptions

LISTS = {"retrieve": ["a", "b", "c"], "rerank": ["c", "a"]}
STAGES = "stages: [retrieve, rerank]"


@pytest.fixture
def collect(tmp_path, monkeypatch, request):
    """Collects the inputs of a suite with two queries and this source; documents a and c are judged."""
    write_queries(tmp_path / "queries.tsv", ["q1", "q2"])
    write_judgments(tmp_path / "judgments.txt", {query: {"a": 1, "c": 2, "z": 1} for query in ("q1", "q2")})
    name = f"stages_{abs(hash(request.node.name))}"

    def collect(source, code=""):
        (tmp_path / f"{name}.py").write_text(f"LISTS = {LISTS}\n{code}")
        rule = "threshold: {R@3: '>= 0', stage: retrieve}"
        write_suite(tmp_path, rule, source=source.replace("MODULE", name), queries="queries.tsv", depth=2)
        return collect_inputs(load_suite(tmp_path / "shop.ireval.yaml")).current.rankings[0]

    yield collect
    sys.modules.pop(name, None)


OF_ONE = [
    "def search(text): return LISTS",
    "async def search(text): return LISTS",
    "from pytest_ireval import Answer\ndef search(text): return Answer(LISTS, about={'engine': 'two'})",
    "def search(text): return {'rerank': {'c': 2.0, 'a': 1.0}, 'retrieve': (each for each in 'abc')}",
]


@pytest.mark.parametrize("code", OF_ONE)
def test_a_function_returns_the_ranking_of_each_stage(collect, code):
    rankings = collect(f"{{python: 'MODULE:search', {STAGES}}}", code)

    assert rankings.ranking("q1") == ["c", "a"]
    assert rankings.stages == {"retrieve": dict.fromkeys(("q1", "q2"), (3, {"a": 1, "c": 3, "z": None}))}


def test_a_function_of_all_queries_returns_what_it_would_return_for_each_stage(collect):
    code = "def search(texts): return {stage: dict.fromkeys(texts, ids) for stage, ids in LISTS.items()}"

    rankings = collect(f"{{python: 'MODULE:search', mode: all, {STAGES}}}", code)

    assert rankings.ranking("q2") == ["c", "a"]
    assert rankings.stages["retrieve"]["q2"].ranks["c"] == 3


def test_a_program_writes_the_rankings_of_each_stage_as_json(collect):
    output = json.dumps({stage: {"q1": ids, "q2": ids} for stage, ids in LISTS.items()})
    program = json.dumps([sys.executable, "-c", f"print({output!r})"])

    rankings = collect(f"{{command: {program}, {STAGES}}}")

    assert rankings.ranking("q1") == ["c", "a"]
    assert rankings.stages["retrieve"]["q1"] == (3, {"a": 1, "c": 3, "z": None})


def test_each_stage_has_a_file_in_the_order_of_the_stages(collect, tmp_path):
    for stage, ids in LISTS.items():
        write_rankings(tmp_path / f"{stage}.trec", {"q1": ids, "q2": ids})

    rankings = collect(f"{{run: [retrieve.trec, rerank.trec], {STAGES}}}")

    assert rankings.ranking("q1") == ["c", "a"]
    assert rankings.stages["retrieve"]["q1"].ranks == {"a": 1, "c": 3, "z": None}


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("def search(text): return ['a']", "query 'q1': returned list"),
        ("def search(text): return {'retrieve': ['a']}", "query 'q1': returned the keys 'retrieve'"),
        ("def search(text): return {**LISTS, 'more': []}", "returned the keys 'retrieve', 'rerank', 'more'"),
        ("def search(text): return {**LISTS, 'retrieve': None}", "MODULE:search, stage retrieve, query 'q1': returned"),
        ("def search(text): return {**LISTS, 'retrieve': ['a', 'a']}", "'a'"),
    ],
)
def test_a_function_that_does_not_return_all_stages_is_an_error(collect, code, complaint):
    with pytest.raises(IrevalError) as raised:
        collect(f"{{python: 'MODULE:search', {STAGES}}}", code)

    said = str(raised.value)
    assert complaint.removeprefix("MODULE") in said
    if "returned the keys" in complaint or "returned list" in complaint:
        assert "with stages, return {'retrieve': ranking, 'rerank': ranking}" in said


@pytest.mark.parametrize(
    ("output", "complaint"),
    [("q1 Q0 a 1 1 x", "is not JSON"), ('{"q1": ["a"]}', "has the keys 'q1'"), ('["a"]', "has a list")],
)
def test_a_program_that_does_not_write_all_stages_is_an_error(collect, output, complaint):
    program = json.dumps([sys.executable, "-c", f"print({output!r})"])

    with pytest.raises(IrevalError) as raised:
        collect(f"{{command: {program}, {STAGES}}}")

    assert complaint in str(raised.value)
    assert "with stages, it is JSON: {'retrieve': {query: [id, …]}, 'rerank': {query: [id, …]}}" in str(raised.value)


def test_a_query_that_one_stage_lacks_is_an_error(collect, tmp_path):
    write_rankings(tmp_path / "retrieve.trec", {"q1": ["a"]})
    write_rankings(tmp_path / "rerank.trec", {"q1": ["a"], "q2": ["a"]})

    with pytest.raises(IrevalError, match="stage 'retrieve' has no ranking of 1 query that the last stage ranks: 'q2'"):
        collect(f"{{run: [retrieve.trec, rerank.trec], {STAGES}}}")


PLUGIN = f"""
from pytest_ireval import Answer, RuleResult, hookimpl, rule, source
from pytest_ireval.options import MetricText, StagedOptions, StagedSourceOptions, Text

class Options(StagedSourceOptions):
    two: Text

@source(name="two", options=Options)
def two(options, request):
    '''Two stages.'''
    lists = {LISTS}
    every = {{stage: dict.fromkeys(request.queries.ids, ids) for stage, ids in lists.items()}}
    return Answer(every["rerank"], stages={{"retrieve": every["retrieve"]}})

class LowestOptions(StagedOptions):
    metric: MetricText

@rule(name="lowest", options=LowestOptions)
def lowest(options, context):
    '''Always holds.'''
    return RuleResult("pass", f"{{context.metric}} is at least {{min(context.values().current):.2f}}")

@hookimpl
def ireval_sources():
    return [two]

@hookimpl
def ireval_rules():
    return [lowest]
"""


def test_sources_and_rules_of_plugins_may_have_stages(collect, tmp_path, pytester):
    collect(f"{{python: 'MODULE:search', {STAGES}}}", OF_ONE[0])
    (tmp_path / "conftest.py").write_text(PLUGIN)
    rule = "lowest: {metric: R@3, stage: retrieve}"
    write_suite(tmp_path, rule, source=f"{{two: x, {STAGES}}}", queries="queries.tsv", depth=2)

    ran = pytester.runpytest_inprocess("--ireval", "--ireval-report=out", "-p", "no:cacheprovider", str(tmp_path))

    ran.assert_outcomes(passed=2)
    assert "R@3 of retrieve is at least 0.67" in next(pytester.path.glob("**/results.json")).read_text()


def test_a_source_of_a_plugin_that_knows_nothing_of_stages_refuses_the_key():
    with pytest.raises(ValueError, match="the answers of this source have no stages"):
        SourceOptions.model_validate({"stages": ("a", "b")})
