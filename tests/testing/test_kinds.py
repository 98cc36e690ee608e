"""Each bad rule, source or reader is caught by the promise that it breaks; good ones keep all of theirs."""

import re

import numpy as np
import pytest

from pytest_ireval import RankingChange, RuleResult, rule, source
from pytest_ireval.errors import PluginError
from pytest_ireval.options import ComparingOptions, MetricText, SourceOptions, Text
from pytest_ireval.plugin_api import Reader, mean_evidence
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.testing import check_reader, check_rule, check_source, make_request, make_rule_context

BUILT_IN = installed_registry()


def find_broken(check, *arguments, **options):
    """The promises that are broken."""
    try:
        check(*arguments, **options)
    except PluginError as error:
        return re.findall(r"breaks the promise (\w+)", str(error))
    return []


class LossOptions(ComparingOptions):
    metric: MetricText


def loss(judge):
    def judged(options, context):
        """A rule about gains."""
        return RuleResult("fail" if judge(context.sign * context.paired_values().gain) else "pass", "said")

    return rule(name="loss", options=LossOptions)(judged)


known = set()


def is_first(what):
    return what not in known and not known.add(what)


@pytest.mark.parametrize(
    ("kind", "promise"),
    [
        (loss(lambda gain: gain.mean() > 2), "can_fail"),
        (loss(lambda gain: gain.mean() < 2), "can_pass"),
        (loss(lambda gain: gain.mean() <= 0), "minds_no_equal_rankings"),
        (loss(lambda gain: gain[0] < 0), "order_of_queries"),
        (loss(lambda gain: gain.mean() < -0.1 and is_first(gain.tobytes())), "same_twice"),
        (loss(lambda gain: gain.mean() < -0.01 and not (gain.min() < -0.9 and 1 / 0)), "a_verdict_in_any_case"),
        (loss(lambda gain: gain.mean() < -0.01), ""),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_bad_rule_is_caught(kind, promise):
    found = find_broken(check_rule, kind, {"metric": "nDCG@10"})

    assert promise in found if promise else found == []


def test_the_evidence_against_a_rule_is_a_change_and_its_verdict():
    with pytest.raises(PluginError) as caught:
        check_rule(loss(lambda gain: gain.mean() <= 0), {"metric": "nDCG@10"})

    assert str(caught.value) == (
        "loss breaks the promise minds_no_equal_rankings\n"
        "  promised: rankings that are those of the baseline do not fail\n"
        "  with the same rankings: fail: said\n"
        "  what to do: a change of nothing is harmless; if the rule asks for progress, declare the exception: "
        "not_promised={…}\n"
        "  it comes from test_kinds (not registered)"
    )


class Careless(LossOptions):
    @property
    def traits(self):
        return 1 / 0


def judge_nothing(options, context):
    """Nothing."""


def test_what_the_code_of_an_author_raises_is_evidence_with_its_line():
    with pytest.raises(PluginError) as caught:
        check_rule(rule(name="loss", options=Careless)(judge_nothing), {"metric": "nDCG@10"})

    shown = re.sub(r"at \S+(test_kinds\.py):\d+", r"at \1", str(caught.value))
    assert "raised ZeroDivisionError: division by zero\n    at test_kinds.py, in traits\n" in shown
    assert "FileExistsError" not in shown


def test_an_exception_is_declared_with_its_reason():
    kind = loss(lambda gain: gain.mean() <= 0)
    findings = check_rule(kind, {"metric": "nDCG@10"}, not_promised={"minds_no_equal_rankings": "it asks for progress"})

    assert "loss: minds_no_equal_rankings: does not apply: it asks for progress" in map(str, findings)
    with pytest.raises(PluginError, match="not_promised names 'can_fall'\n  did you mean 'can_fail'"):
        check_rule(kind, {"metric": "nDCG@10"}, not_promised={"can_fall": "a slip"})


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("threshold", {"nDCG@10": ">= 0.8"}),
        ("churn", {"overlap": "RBO(p=0.9)", "below": 0.8, "at_most": "10%"}),
        ("new_document", {"at": 3, "at_most": "5%"}),
        ("expect", [{"query": "q01", "document": "q01-d0", "top": 5}]),
        ("worsened", {"metric": "nDCG@10", "by_more_than": 0.3, "at_most": 2}),
        pytest.param("no_regression", {"metric": "nDCG@10", "tolerance": "5%"}, marks=pytest.mark.ci),
        pytest.param("equivalent", {"metric": "nDCG@10", "tolerance": "5%"}, marks=pytest.mark.ci),
    ],
)
def test_the_built_in_rules_keep_their_promises(name, options):
    assert find_broken(check_rule, BUILT_IN.rules[name], options) == []


class ShelfOptions(SourceOptions):
    shelf: Text = ""


QUERIES = {"q1": "mug", "q2": "pan", "q3": "pot"}


def shelf(answer):
    def fetch(options, request):
        """A shelf of ten of each."""
        return answer(request, lambda i: [f"{request.queries.text[i]}-{n}" for n in range(10)])

    return source(name="shelf", options=ShelfOptions)(fetch)


def whole(request, found):
    return {query: found(i)[: request.depth] for i, query in enumerate(request.queries.ids)}


def each_document_once(request, found):
    given = set()
    for i, query in enumerate(request.queries.ids):
        fresh = [each.partition("-")[2] for each in found(i) if each.partition("-")[2] not in given][: request.depth]
        given.update(fresh[:1])
        yield query, fresh


@pytest.mark.parametrize(
    ("answer", "promise"),
    [
        (whole, ""),
        (lambda request, found: dict(list(whole(request, found).items())[:2]), "answers_every_query"),
        (lambda request, found: {q: ids[:4] for q, ids in whole(request, found).items()}, "as_deep_as_asked"),
        (lambda request, found: {q: ids[::-1] for q, ids in whole(request, found).items()}, "depth_only_cuts"),
        (
            lambda request, found: dict(zip(sorted(request.queries.ids), whole(request, found).values(), strict=True)),
            "order_of_queries",
        ),
        (lambda request, found: dict(each_document_once(request, found)), "alone_or_together"),
        (
            lambda request, found: {q: found(0)[is_first(request.queries.ids) :] for q in request.queries.ids},
            "same_twice",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_bad_source_is_caught(answer, promise):
    found = find_broken(check_source, shelf(answer), {"shelf": "x"}, QUERIES, depth=8)

    assert promise in found if promise else found == []


def test_the_built_in_sources_keep_their_promises(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = (f"{q} Q0 d{r} {r} {9 - r} x\n" for q in QUERIES for r in range(1, 6))
    (tmp_path / "now.trec").write_text("".join(lines))
    (tmp_path / "kitchen.py").write_text("def search(text, depth):\n    return [text + str(i) for i in range(depth)]\n")

    assert find_broken(check_source, BUILT_IN.sources["run"], {"run": "now.trec"}, QUERIES, depth=5) == []
    assert find_broken(check_source, BUILT_IN.sources["python"], {"python": "kitchen:search"}, QUERIES) == []


def test_options_of_a_source_are_read_as_in_a_suite():
    with pytest.raises(PluginError, match="shelf\n  unknown key 'shelve'"):
        check_source(shelf(whole), {"shelf": "x", "shelve": "y"}, QUERIES)


ARROWS = "q1 -> d1: 2\nq1 -> d2: 0\nq2 -> d3: 1\n"
CONTENT = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}


def arrows(lines=lambda file: file.lines(), row=lambda q, d, g: (q, d, int(g)), seems=None, skips=()):
    def read(file, how):
        found = {}
        for line in lines(file):
            try:
                pair, grade = line.strip().split(": ")
                query, document, grade = row(*pair.split(" -> "), grade)
            except skips:
                continue
            found.setdefault(query, {})[document] = grade
        return found

    seems = seems or (lambda file: any(" -> " in line for line in file.first_lines))
    return Reader("arrows", "judgments", "query -> document: grade", seems, read)


@pytest.mark.parametrize(
    ("reader", "promise"),
    [
        (arrows(), ""),
        (arrows(row=lambda q, d, g: (q, d, int(g) + 1)), "reads_its_example"),
        (arrows(seems=lambda file: True), "knows_its_format"),
        (arrows(lines=lambda file: list(file.lines())[:2]), "every_line_counts"),
        (arrows(skips=ValueError), "refuses_damaged_lines"),
        (arrows(row=lambda q, d, g: (q.lower(), d, int(g))), "ids_are_kept"),
        (arrows(lines=lambda file: file.path.read_text().splitlines()), "line_ends"),
        (arrows(lines=lambda file: file.head.splitlines()), "reads_to_the_end"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_bad_reader_is_caught(reader, promise):
    found = find_broken(check_reader, reader, ARROWS, CONTENT)

    assert promise in found if promise else found == []


@pytest.mark.parametrize(
    ("name", "holds", "example", "content"),
    [
        ("trec", "judgments", "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n", CONTENT),
        ("trec", "rankings", "q1 Q0 d1 1 9 x\nq1 Q0 d2 2 8 x\nq2 Q0 d3 1 7 x\n", {"q1": ["d1", "d2"], "q2": ["d3"]}),
        ("table", "judgments", "query,document,grade\nq1,d1,2\nq1,d2,0\nq2,d3,1\n", CONTENT),
        ("jsonl", "queries", '{"id": "q1", "text": "red mug"}\n{"id": "q2", "text": "pan"}\n', None),
        ("pairs", "queries", "q1\tred mug\nq2\tpan\n", None),
    ],
    ids=lambda each: each if isinstance(each, str) and each.isalpha() else "",
)
def test_the_built_in_readers_keep_their_promises(name, holds, example, content):
    (reader,) = (each for each in BUILT_IN.readers if (each.name, each.holds) == (name, holds))

    assert find_broken(check_reader, reader, example, content or {"q1": "red mug", "q2": "pan"}) == []


def test_what_code_of_plugins_gets_is_made_in_one_line():
    columns = {"segment": {"q1": "head", "q2": "tail"}}
    judgments, now, before = (
        {"q1": {"a": 1}, "q2": {"b": 2}},
        {"q1": ["x", "a"], "q2": ["b"]},
        {"q1": ["a"], "q2": ["b"]},
    )
    context = make_rule_context(judgments, now, before, metric="RR@10", columns=columns)
    change = RankingChange(context.population, context.current, context.baseline, context.metric)
    request = make_request([{"id": "q1", "text": "mug", "segment": "head"}], depth=5)

    assert context.paired_values().gain.tolist() == [-0.5, 0.0]
    assert context.population.queries.columns["segment"] == ("head", "tail")
    assert context.unjudged_effect().documents[0].document == "x"
    assert mean_evidence(context.paired_values().gain).mean == -0.25
    assert (change.moved_queries, dict(change.losses)) == (("q1",), {"q1": 0.5, "q2": 0.0})
    assert (request.queries.ids, request.queries.columns["segment"], request.depth) == (("q1",), ("head",), 5)
    assert np.isnan(context.values().current).sum() == 0
