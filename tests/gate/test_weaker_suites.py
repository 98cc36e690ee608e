"""With a base, everything that makes a suite weaker is named, and nothing that does not."""

from dataclasses import replace

import pytest
from branches import FAILS, WORSE

from pytest_ireval import load_suite, run_gate
from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.baseline.writing import write_baseline

RULES = """\
  - threshold: {nDCG@10: ">= 0.5", P@3: ">= 0.3"}
  - no_regression: {metric: nDCG@10, tolerance: 5%}
  - no_regression: {metric: nDCG@10, per: segment, tolerance: {head: 10%, default: 5%}}
  - worsened: {metric: nDCG@10, by_more_than: 0.9, at_most: 2}
  - churn: {overlap: RBO(p=0.9), below: 0.5, at_most: 50%}
  - expect:
      - {query: q01, document: q01-d0, top: 3}
      - {query: q02, never: [q02-n9], top: 3}
      - {query: q03, any_of: [q03-d0, q03-d1], top: 3}
      - {query: q04, total: ">= 3"}
      - {where: {segment: head}, total: ">= 2", share: ">= 90%"}
"""
EVIDENCE = "no_regression: {metric: P@3, tolerance: 5%, decide_by: evidence, min_queries: 3"


@pytest.fixture
def strict(branch):
    """A branch that has changed nothing yet."""
    branch.begin_with((branch.shop.suite.partition("rules:\n")[2], RULES))
    return branch


def weaker(branch):
    """The lines about what is weaker, of a gate that is green but for that."""
    branch.commit("something")
    (path,) = branch.path.glob("*.ireval.yaml")
    found = {each.id: each for each in run_gate(load_suite(path), base="main").outcomes}["lowering"]
    begins = f"the suite is weaker than at {branch.base}, the merge base with main: "
    if not found.headline.startswith(begins):
        assert (found.verdict, found.warning) == ("pass", False), found
        return []
    assert (found.verdict, found.warning) == ("pass", True)
    said = found.headline.removeprefix(begins)
    first, _, more = said.rpartition(", and ")
    rest = [] if not first else found.facts[: int(more.split()[0])]
    return [first or said, *rest]


OF_RULES = [
    (">= 0.3", "> 0.2", "threshold::P_3: >= 0.3 -> > 0.2"),
    ("tolerance: 5%}", "tolerance: {absolute: 0.01}}", "no_regression::nDCG_10.all: tolerance 5% -> 0.01"),
    ("default: 5%}", "default: 9%}", "no_regression::nDCG_10.segment-tail: tolerance 5% -> 9%"),
    ("by_more_than: 0.9", "by_more_than: 0.95", "worsened::nDCG_10: by_more_than 0.9 -> 0.95"),
    ("at_most: 2}", "at_most: 1%}", "worsened::nDCG_10: at_most 2 -> 1%"),
    ("below: 0.5", "below: 0.4", "churn::RBO: below 0.5 -> 0.4"),
    (
        "[q02-n9], top: 3",
        "[q02-n9], top: 2",
        "expect::q02.never: never q02-n9 in the first 3 -> never q02-n9 in the first 2",
    ),
    (
        "q01-d0, top: 3",
        "q01-d0, top: 3, known_failure: S-1",
        "expect::q01.q01-d0: q01-d0 in the first 3 -> q01-d0 in the first 3, a known failure",
    ),
    (
        "[q03-d0, q03-d1], top",
        "[q03-d0, q03-d1, q03-d2], top",
        "expect::q03.any_of: q03-d0 or q03-d1 in the first 3 -> q03-d0 or q03-d1 or q03-d2 in the first 3",
    ),
    ('total: ">= 3"', 'total: ">= 2"', "expect::q04.total: total >= 3 -> total >= 2"),
    (
        'share: ">= 90%"',
        'share: ">= 80%"',
        "expect::total.segment-head: total >= 2 for at least 90% of the queries -> total >= 2 for at least 80% of the "
        "queries",
    ),
]
SUITES_GROUP = [
    ("tolerance: 5%}", "tolerance: 5%, on_fail: warn}", "no_regression::nDCG_10.all: on_fail fail -> warn"),
    (
        "per: segment, tolerance: {head: 10%, default: 5%}",
        "where: {segment: head}, tolerance: 10%",
        "check removed: no_regression::nDCG_10.segment-tail",
    ),
    ("at_most: 2}", "at_most: 2, min_queries: 7}", "worsened::nDCG_10: min_queries 1 -> 7"),
    ("depth: 10", "depth: 10\nmissing_queries: zero", "missing_queries error -> zero"),
    (
        "rules:\n",
        "waive:\n  - {query: q03, until: 2026-12-01, reason: feed}\nrules:\n",
        "new waiver: q03 until 2026-12-01 (feed)",
    ),
    ("weight:", "watches: [src/**]\nweight:", "new watches: the suite now runs only if a watched file changes"),
    ("  - churn: {overlap: RBO(p=0.9), below: 0.5, at_most: 50%}\n", "", "check removed: churn::RBO"),
]


@pytest.mark.parametrize("changes", [OF_RULES, SUITES_GROUP], ids=["rules", "suites"])
def test_what_makes_a_suite_weaker_is_named(strict, changes):
    strict.shop.change(*(change[:2] for change in changes))

    assert sorted(weaker(strict)) == sorted(said for *_, said in changes)


def test_a_table_of_expectations_is_compared_row_by_row(strict):
    (strict.path / "promised.csv").write_text("query,document,top\nq05,q05-d0,1\nwords 6,q06-d0,1\n")
    strict.begin_with(("rules:\n", "rules:\n  - expect: {file: promised.csv}\n"))

    (strict.path / "promised.csv").write_text("query,document,top\nq05,q05-d0,3\n")

    assert weaker(strict) == [
        "check removed: expect::words_6.q06-d0-379a20",
        "expect::q05.q05-d0: q05-d0 in the first 1 -> q05-d0 in the first 3",
    ]


def test_what_does_not_make_it_weaker_is_not(strict):
    strict.shop.change(
        ("rules:\n", "# a comment\nrules:\n"),
        (">= 0.5", ">= 0.6"),
        ("tolerance: 5%}", "tolerance: 4.0%, name: overall}"),
        ("default: 5%}", "default: 5%, tail: 1%}"),
        ("at_most: 2}", "at_most: 1}"),
        ("below: 0.5", "below: 0.6"),
        ("q01-d0, top: 3", "q01-d0, top: 1"),
        ("[q02-n9], top: 3", "[q02-n9, q02-n8], top: 4"),
        ("[q03-d0, q03-d1], top: 3", "[q03-d0], top: 2"),
        ('total: ">= 3"', 'total: ">= 4"'),
        (', share: ">= 90%"', ""),
        ("@search-team", "@shop-team"),
        ("  - churn", '  - threshold: {RR@10: ">= 0.1"}\n  - churn'),
    )

    assert weaker(strict) == []


def test_options_of_evidence(branch):
    branch.begin_with(("  - worsened", f"  - {EVIDENCE}}}\n  - worsened"))
    branch.shop.change((EVIDENCE, EVIDENCE.replace("evidence", "observed")))
    assert weaker(branch) == []

    branch.shop.change(("decide_by: observed, min_queries: 3", "decide_by: evidence, min_queries: 4"))
    assert weaker(branch) == ["no_regression::P_3.all: min_queries 3 -> 4"]

    branch.shop.change(("min_queries: 4", "min_queries: 3, weighted: true"))
    branch.commit("nobody can say in which direction")
    found = branch.gate()
    assert (found["verdict"], found["warning"]) == ("pass", False)
    assert found["facts"] == ["also changed: no_regression::P_3.all: weighted false -> true"]


def test_it_fails_where_a_lowered_baseline_does_which_comes_first(strict):
    strict.shop.change((">= 0.5", ">= 0.4"), ("at_most: 2}", "at_most: 3}"))

    found = strict.outcome(*FAILS)

    assert strict.said.ret == pytest.ExitCode.TESTS_FAILED
    assert (found["verdict"], found["warning"]) == ("fail", False)
    assert found["headline"].endswith(": threshold::nDCG_10: >= 0.5 -> >= 0.4, and 1 more")
    assert found["facts"][0] == "worsened::nDCG_10: at_most 2 -> 3"

    strict.accept(**WORSE)

    headline = strict.gate()["headline"]
    assert headline.startswith("the branch lowers its baseline: ")
    assert headline.endswith("; the suite is also weaker")


def test_what_a_suite_shares_counts_as_its_own(strict):
    common = strict.path / "common.yaml"
    strict.git("checkout", "--quiet", "main")
    common.write_text("missing_queries: error\n")
    strict.shop.change(("rules:\n", "extends: common.yaml\nrules:\n"))
    strict.commit("a shared file")
    strict.base = strict.read_main()
    strict.git("checkout", "--quiet", "-B", "change")
    common.write_text("missing_queries: ignore\n")

    assert weaker(strict) == ["missing_queries error -> ignore"]


def test_queries_judgments_and_slices_that_are_gone(strict):
    gone = ("q07", "q08", "q09", "q10")
    queries = strict.path / "queries.tsv"
    for name in ("queries.tsv", "judgments.txt", "rankings.txt"):
        path = strict.path / name
        kept = [line for line in path.read_text().splitlines(True) if not line.startswith(gone)]
        path.write_text("".join(kept))
    assert "tail" not in queries.read_text()
    strict.shop.update("fewer")

    assert weaker(strict) == [
        "check removed: no_regression::nDCG_10.segment-tail",
        "4 queries removed: 'q07', 'q08', 'q09', 'q10'",
        "16 judgments removed, in 4 queries: 'q07', 'q08', 'q09', 'q10'",
    ]


def test_files_that_moved_are_still_compared(strict):
    (strict.path / "data").mkdir()
    for name in ("queries.tsv", "judgments.txt"):
        strict.git("mv", name, f"data/{name}")
    text = strict.shop.suite.replace("queries.tsv", "data/queries.tsv").replace("judgments.txt", "data/judgments.txt")
    (strict.path / "shop.ireval.yaml").write_text(text)
    assert weaker(strict) == []

    strict.git("mv", "shop.ireval.yaml", "kiosk.ireval.yaml")
    (strict.path / "kiosk.ireval.yaml").write_text(text.replace(">= 0.5", ">= 0.4"))

    assert weaker(strict) == ["threshold::nDCG_10: >= 0.5 -> >= 0.4"]


def test_a_suite_that_could_not_be_read_then_is_said_not_to_be_compared(strict):
    strict.git("checkout", "--quiet", "main")
    (strict.path / "shop.ireval.yaml").write_text(strict.shop.suite.replace("threshold", "treshold"))
    strict.commit("misspelt")
    strict.base = strict.read_main()
    strict.git("checkout", "--quiet", "-B", "change")
    (strict.path / "shop.ireval.yaml").write_text(strict.shop.suite)

    (said,) = weaker(strict)

    assert said.startswith("the base version of the suite cannot be compared: shop.ireval.yaml:")
    assert "unknown" in said


def test_a_new_suite_is_weaker_than_nothing(strict):
    text = strict.shop.suite.replace("suite: shop", "suite: blog")
    (strict.path / "blog.ireval.yaml").write_text(text)
    strict.commit("another suite")

    strict.run("blog.ireval.yaml", "-k", "lowering").assert_outcomes(passed=1, deselected=13)


def test_a_change_of_an_option_that_says_no_direction_is_told(strict):
    (strict.path / "conftest.py").write_text(
        "from pytest_ireval import RuleResult, hookimpl, rule\n"
        "from pytest_ireval.options import RuleOptions\n"
        "class LimitOptions(RuleOptions):\n"
        "    limit: int = 1\n"
        "@rule(name='limit', options=LimitOptions)\n"
        "def limit(options, context):\n"
        "    '''A rule of somebody else.'''\n"
        "    return RuleResult('pass', 'fine')\n"
        "@hookimpl\n"
        "def ireval_rules():\n"
        "    return [limit]\n"
    )
    strict.begin_with(("rules:\n", "rules:\n  - limit: {limit: 3}\n"))
    strict.shop.change(("{limit: 3}", "{limit: 5}"))
    strict.commit("something")

    found = strict.gate()

    assert (found["verdict"], found["warning"]) == ("pass", False)
    assert found["facts"] == ["also changed: limit::all: limit 3 -> 5"]


OPTIONS_OF_ALL_KINDS = """\
from typing import Annotated
from pydantic import AfterValidator
from pytest_ireval import RuleResult, hookimpl, rule
from pytest_ireval.options import Against, Filter, PathText, RuleOptions, Text
class Model:
    def __init__(self, name):
        self.name, self.load = name, lambda: name
class LimitOptions(RuleOptions):
    only: Filter
    file: PathText
    model: Annotated[Text, AfterValidator(Model)]
    other: Against
@rule(name='limit', options=LimitOptions)
def limit(options, context):
    '''A rule of somebody else.'''
    return RuleResult('pass', 'fine')
@hookimpl
def ireval_rules():
    return [limit]
"""


def test_changed_options_of_any_kind_are_told_in_words_of_the_suite(strict):
    """No class name, no address in memory and no folder of this machine."""
    (strict.path / "conftest.py").write_text(OPTIONS_OF_ALL_KINDS)
    options = "only: {segment: tail}, file: rankings.txt, model: small, other: {command: [rank, a]}"
    strict.begin_with(("rules:\n", f"rules:\n  - limit: {{{options}}}\n"))
    strict.shop.change(("{segment: tail}", "{segment: [tail, head]}"), ("file: rankings.txt", "file: judgments.txt"))
    strict.shop.change(("model: small", "model: large"), ("[rank, a]", "[rank, b]"))
    strict.commit("something")

    assert strict.gate()["facts"] == [
        "also changed: limit::all: only {segment: tail} -> {segment: tail, head}",
        "also changed: limit::all: file rankings.txt -> judgments.txt",
        "also changed: limit::all: model changed",
        "also changed: limit::all: other command: rank, a -> command: rank, b",
    ]


def test_a_plugin_that_takes_no_part_any_more_is_told(strict):
    folder = strict.path / "baselines"
    strict.git("checkout", "--quiet", "main")
    accepted = replace(read_baseline(folder, "shop"), plugins=("acme-metrics 2.1", "pytest-ireval 0.0.9"))
    write_baseline(folder, accepted)
    strict.commit("accepted on another machine")
    strict.git("checkout", "--quiet", "-B", "change")
    strict.commit("begun")

    found = strict.gate()

    assert found["verdict"] == "pass"
    assert found["facts"] == ["plugin acme-metrics 2.1 was active when the base was accepted, but is not active now"]


def test_queries_are_missed_that_git_never_had(strict):
    strict.git("checkout", "--quiet", "main")
    (strict.path / ".gitignore").write_text("ireval-report/\n__pycache__/\nqueries.tsv\njudgments.txt\nrankings.txt\n")
    strict.git("rm", "--quiet", "--cached", "queries.tsv", "judgments.txt", "rankings.txt")
    strict.commit("data comes from elsewhere")
    strict.base = strict.read_main()
    strict.git("checkout", "--quiet", "-B", "change")
    for name in ("queries.tsv", "judgments.txt", "rankings.txt"):
        path = strict.path / name
        path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("q10")))
    strict.shop.update("fewer")

    assert weaker(strict) == ["1 query removed: 'q10'"]


@pytest.mark.parametrize(
    ("then", "now", "said"),
    [(", on_fail: fail", "", ["threshold::Latency: on_fail fail -> warn"]), ("", ", on_fail: fail", [])],
)
def test_a_time_that_decided_and_only_warns_now_is_weaker(branch, then, now, said):
    (branch.path / "times.tsv").write_text("query\tms\n" + "".join(f"{query}\t9\n" for query in branch.shop.rankings))
    rule = '  - threshold: {Latency: "<= 1s"%s}\n'
    timed = ("source: {run: rankings.txt}", "source: {run: rankings.txt, timings: times.tsv}")
    branch.begin_with(timed, ("rules:\n", "rules:\n" + rule % then))
    branch.shop.change((rule % then, rule % now))

    assert weaker(branch) == said


LOCKED = ("judgments: judgments.txt", "judgments: {file: judgments.txt, lock: true}")
WAIVED = ("rules:\n", "waive:\n  - {query: q03, until: 2026-12-01, reason: feed}\nrules:\n")


@pytest.mark.parametrize(
    ("then", "old", "new", "said"),
    [
        (LOCKED, "lock: true", "lock: false", "judgments are no longer locked"),
        (WAIVED, "12-01", "12-24", "longer waiver: q03 until 2026-12-24, before until 2026-12-01 (feed)"),
    ],
)
def test_what_held_a_suite_and_was_let_go_is_named(strict, then, old, new, said):
    strict.begin_with(then)
    strict.shop.change((old, new))

    assert weaker(strict) == [said]


def test_judgments_that_count_in_another_way_are_told(strict):
    strict.begin_with(LOCKED)
    strict.shop.change(("lock: true", "lock: true, relevant_from: 2, scale: {0: no, 3: yes, 4: best}"))
    strict.commit("something")

    assert strict.gate()["facts"] == ["also changed: relevant_from none -> 2", "also changed: judgments.scale"]


def test_queries_of_judgments_count_if_the_suite_has_no_file_of_queries(strict):
    rules = strict.shop.suite.partition("rules:\n")[2]
    plain = '  - threshold: {nDCG@10: ">= 0.1"}\n'
    strict.begin_with(("queries: queries.tsv\nweight: searches\n", ""), (rules, plain))
    del strict.shop.judgments["q10"]
    strict.shop.write()

    assert weaker(strict) == ["1 query removed: 'q10'", "4 judgments removed, in 1 query: 'q10'"]


def test_a_suite_that_judges_no_more_is_weaker(strict):
    rules = strict.shop.suite.partition("rules:\n")[2]
    plain = '  - threshold: {Empty: "<= 0.1"}\n'
    strict.begin_with((rules, plain))
    strict.shop.change(("judgments: judgments.txt\nmetrics: [nDCG@10, P@3]\n", ""))

    assert "judgments removed from the suite" in weaker(strict)
