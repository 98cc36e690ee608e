"""Changes that must not pass, each of which once did."""

import pytest

pytestmark = pytest.mark.ci


def bad(query):
    """A ranking without anything relevant."""
    return [f"{query}-d3", f"{query}-n1", f"{query}-n2"]


def test_the_same_rankings_are_the_same_whatever_the_order_of_equal_scores(shop):
    shop.change(("depth: 10", "depth: 2\nties: input"), ("nDCG@10", "nDCG@2"), ("P@3", "P@2"), ("top: 3", "top: 2"))
    lines = [
        f"{q} Q0 {d} {rank} {1 if rank < 4 else 0} x\n"
        for q, ids in shop.rankings.items()
        for rank, d in enumerate(ids, 1)
    ]
    (shop.path / "rankings.txt").write_text("".join(lines))
    shop.suite = shop.suite.replace('nDCG@2: ">= 0.5"', 'nDCG@2: ">= 0"')
    (shop.path / "shop.ireval.yaml").write_text(shop.suite.split("  - expect")[0])
    shop.run("--ireval-update-new")

    assert shop.run().ret == 0
    (suite,) = shop.results()["suites"]
    assert suite["queries"]["now"] == suite["queries"]["baseline"]


def test_a_reference_that_lacks_queries_is_an_error_and_no_easy_win(accepted_shop):
    (accepted_shop.path / "old.txt").write_text("q01 Q0 q01-d0 1 1 x\nq02 Q0 q02-d0 1 1 x\n")
    accepted_shop.change(
        ("metric: nDCG@10, tolerance: 5%}", "metric: nDCG@10, tolerance: 5%, against: {run: old.txt}}")
    )

    accepted_shop.gate()

    assert accepted_shop.outcome("no_regression::nDCG_10.all")["verdict"] == "error"
    assert accepted_shop.outcome("no_regression::nDCG_10.all")["headline"].startswith(
        "shop.ireval.yaml:13:84: run: old.txt ranks 2 of 10 judged queries; without a ranking: 'q03', "
    )


def test_a_baseline_that_kept_fewer_documents_is_an_error(accepted_shop):
    accepted_shop.change(("depth: 10", "depth: 12"))

    accepted_shop.gate()

    found = accepted_shop.outcome("no_regression::nDCG_10.all")
    assert found["verdict"] == "error"
    assert found["headline"] == "the baseline holds 10 documents of each query, and depth is 12 now"


def test_deleted_judgments_are_an_error_and_not_fewer_queries_to_fail(accepted_shop):
    for query in list(accepted_shop.judgments)[:7]:
        del accepted_shop.judgments[query]
        accepted_shop.rankings[query] = bad(query)
    accepted_shop.write()

    accepted_shop.gate()

    found = accepted_shop.outcome("no_regression::nDCG_10.all")
    assert found["verdict"] == "error"
    assert found["headline"] == "7 of 10 queries have no nDCG@10 any more: 'q01', 'q02', 'q03', 'q04', 'q05' and 2 more"


def test_locked_judgments_of_deleted_queries_are_an_error(shop):
    shop.change(("judgments: judgments.txt", "judgments: {file: judgments.txt, lock: true}"))
    shop.accept()
    del shop.judgments["q10"]
    shop.write()

    shop.gate()

    assert shop.outcome("inputs")["verdict"] == "error"
    assert "judgments are locked" in shop.outcome("inputs")["headline"]

    (shop.path / "baselines/shop.baseline").write_text("{")
    shop.gate()
    assert shop.outcome("inputs")["verdict"] == "error"


def test_a_query_that_lost_its_list_has_changed(shop):
    rule = "  - churn: {overlap: Overlap@3, below: 0.8, at_most: 0}\n"
    shop.change(("  - expect:", f"{rule}  - expect:"), ("depth: 10", "depth: 10\nmissing_queries: zero"))
    shop.accept()
    del shop.rankings["q09"], shop.rankings["q10"]
    shop.write()

    shop.gate()

    found = shop.outcome("churn::Overlap_3")
    assert found["verdict"] == "fail"
    assert found["headline"].startswith("2 of 10 queries (20.0%) got a list with Overlap@3 below 0.8")


def test_queries_that_are_ignored_since_they_have_no_ranking_are_an_error_when_they_are_many(shop):
    shop.change(("depth: 10", "depth: 10\nmissing_queries: ignore"))
    shop.accept()
    for query in list(shop.rankings)[1:]:
        del shop.rankings[query]
    shop.write()

    result = shop.run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert shop.outcome("no_regression::nDCG_10.all")["verdict"] == "error"


def test_an_expectation_deeper_than_the_suite_looks_is_an_error(shop):
    shop.change(("{query: q01, document: q01-d0, top: 3}", "{query: q01, never: [banned], top: 50}"))

    shop.gate()

    assert shop.outcome("expect::q01.never")["headline"] == (
        "looks at the first 50 documents, but the suite keeps only 10 (depth)"
    )
    assert shop.outcome("expect::q01.never")["verdict"] == "error"


@pytest.mark.parametrize(
    ("documents", "table"), [("aliases", "from\tto\nq01-d0\tnew-1\n"), ("collapse", "document\tgroup\nq01-d0\tnew-1\n")]
)
def test_what_must_never_show_is_looked_for_under_its_names_of_now(shop, documents, table):
    (shop.path / "names.tsv").write_text(table)
    shop.change(
        ("{query: q01, document: q01-d0, top: 3}", "{query: q01, never: [q01-d0], top: 3}"),
        ("depth: 10", f"depth: 10\ndocuments: {{{documents}: names.tsv}}"),
    )

    shop.gate()

    assert shop.outcome("expect::q01.never")["verdict"] == "fail"


def test_what_is_expected_holds_in_every_answer_of_a_noisy_source(shop):
    (shop.path / "noisy.py").write_text(
        "asked = 0\n"
        "def search(queries):\n"
        "    global asked\n"
        "    asked += 1\n"
        "    d = ('d0', 'd1') if asked == 1 else ('d3', 'd1')\n"
        "    return {q: [f'{q}-{each}' for each in d] for q in queries}\n"
    )
    shop.change(("{run: rankings.txt}", "{python: 'noisy:search', mode: all, repeat: 3}"))

    shop.gate()

    found = shop.outcome("expect::q01.q01-d0")
    assert found["verdict"] == "fail"
    assert found["headline"].endswith("(expected in the top 3) in 2 of 3 answers")


def test_metrics_of_the_whole_are_compared_over_the_same_queries(shop):
    shop.change(("metric: nDCG@10, tolerance: 5%}", "metric: NumRelRet, tolerance: {absolute: 0.5}}"))
    everything = dict(shop.judgments), dict(shop.rankings)
    for query in ("q09", "q10"):
        del shop.judgments[query], shop.rankings[query]
    shop.write()
    shop.accept()
    shop.judgments, shop.rankings = everything
    shop.rankings["q01"] = ["q01-d3"]
    shop.write()

    shop.gate()

    assert shop.outcome("no_regression::NumRelRet.all")["verdict"] == "fail"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('{nDCG@10: ">= 0.5"}', '{nDCG@10: "<= 85"}', "85 is outside of the range of nDCG@10: 0 to 1"),
        ("by_more_than: 0.9", "by_more_than: 30", "no query can get worse by more than 30: nDCG@10 is between 0 and 1"),
        ("tolerance: 5%}", "tolerance: 100%}", "a tolerance of 100% lets everything pass"),
        ("tolerance: 5%}", "tolerance: {absolute: 1}}", "a tolerance of 1 lets everything pass"),
        ("at_most: 2", "at_most: 100%", "at_most: 100% lets everything pass"),
        ('{nDCG@10: ">= 0.5"}', "{metric: nDCG@10, min: 0.9, max: 0.1}", "min: 0.9 is more than max: 0.1"),
        (
            "metric: nDCG@10, tolerance: 5%}",
            "metric: Overlap@3, tolerance: 5%}",
            "Overlap@3 compares two lists; no_regression takes metrics that score one list",
        ),
    ],
)
def test_rules_that_could_never_fail_are_mistakes(shop, old, new, complaint):
    shop.change((old, new))

    result = shop.run()

    assert complaint in result.stdout.str()
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_a_suite_in_another_notation_is_found(shop):
    (shop.path / "other.yaml").write_text("{'ireval': 1, suite: x}")

    result = shop.run("--continue-on-collection-errors")

    result.stdout.fnmatch_lines(["*ERROR collecting other.yaml*"])


def test_a_red_suite_beside_an_inconclusive_rule_is_red(accepted_shop):
    accepted_shop.change(("by_more_than: 0.9, at_most: 2", "by_more_than: 0.9, at_most: 2, min_queries: 50"))
    accepted_shop.rankings["q10"] = bad("q10")
    accepted_shop.write()

    result = accepted_shop.run()

    assert accepted_shop.results()["verdict"] == "fail"
    result.stdout.fnmatch_lines(["*inconclusive: shop.ireval.yaml:15: all has 10 queries, fewer than min_queries: 50*"])


def test_a_broken_metric_that_no_rule_is_about_is_told_in_one_line(shop):
    shop.path.joinpath("conftest.py").write_text(
        "from pytest_ireval import hookimpl, per_query_metric\n"
        "@per_query_metric(name='Odd')\n"
        "def odd(ranking):\n    '''Raises.'''\n    return 1 / 0\n"
        "@hookimpl\ndef ireval_metrics():\n    return [odd]\n"
    )
    shop.change(("metrics: [nDCG@10, P@3]", "metrics: [nDCG@10, P@3, Odd]"))
    shop.accept()

    shop.run()

    (suite,) = shop.results()["suites"]
    odd = next(metric for metric in suite["metrics"] if metric["name"] == "Odd")
    said = "Odd: raised ZeroDivisionError: division by zero for query 'q01'; at conftest.py:5, in odd; the metric comes"
    assert odd["error"].startswith(said)
    assert odd["verdict"] is None


def test_sessions_are_compared_by_name(shop):
    rows = [f"{q}\twords\ttail\t1\ts{(n + 1) // 2}\t{(n + 1) % 2 + 1}" for n, q in enumerate(shop.judgments)]
    head = "id\ttext\tsegment\tsearches\tsession\tposition"
    shop.path.joinpath("conftest.py").write_text(
        "import numpy as np\n"
        "from pytest_ireval import hookimpl, metric\n"
        "@metric(name='SessRel', unit='session', needs=('sessions',), range=(0, 100))\n"
        "def sess(judged):\n"
        "    '''Relevant documents of a session.'''\n"
        "    s = judged.sessions\n"
        "    there = s.session >= 0\n"
        "    return np.bincount(s.session[there], judged.sum(judged.relevant())[there], len(s.names))\n"
        "@hookimpl\ndef ireval_metrics():\n    return [sess]\n"
    )
    shop.suite = shop.suite.split("rules:")[0] + "rules:\n  - no_regression: {metric: SessRel, tolerance: 1%}\n"
    everything = dict(shop.judgments), dict(shop.rankings)
    del shop.judgments["q01"], shop.rankings["q01"]
    shop.write()
    (shop.path / "queries.tsv").write_text("\n".join([head, *rows]) + "\n")
    shop.accept()
    shop.judgments, shop.rankings = everything
    shop.write()
    (shop.path / "queries.tsv").write_text("\n".join([head, *rows]) + "\n")

    result = shop.run()

    assert result.ret == 0
    assert shop.outcome("no_regression::SessRel.all")["numbers"]["change"] == 0.0


ANSWERING = """
from pytest_ireval import Answer

def now(queries):
    lists = {query: [f"{query}-d0", f"{query}-d1"] for query in queries}
    return Answer(lists | {"q02": []}, failed={"q02": "status 503"}, notes=["1 request made again"])

def whole(queries):
    return {query: [f"{query}-d0", f"{query}-d1"] for query in queries}
"""


def test_queries_that_were_not_answered_are_told_beside_the_verdict_and_stored_by_force_only(shop):
    shop.path.joinpath("answering.py").write_text(ANSWERING)
    shop.change(("{run: rankings.txt}", "{python: 'answering:now', mode: all}"))

    refused = shop.run("--ireval-update-new")

    assert refused.ret == 1
    text = " ".join(refused.stdout.str().split())
    assert "1 query without an answer of the source, counted as empty: q02 (status 503)" in text
    assert "1 request made again" in text
    assert "empty rankings would be stored for queries that were not answered" in text
    assert shop.baseline_files() == {}
    shop.run("--ireval-update-new", "--ireval-force", "--ireval-reason", "the index is down")
    assert shop.baseline_files()


def test_a_reference_that_could_not_answer_is_an_error(shop):
    """Its empty lists would make the current ones look better."""
    shop.path.joinpath("answering.py").write_text(ANSWERING)
    shop.change(("{run: rankings.txt}", "{python: 'answering:whole', mode: all}"))
    rule = "  - no_regression: {metric: P@3, tolerance: 5%, against: {python: 'answering:now', mode: all}}\n"
    shop.change(("rules:\n", f"rules:\n{rule}"))

    result = shop.run()

    assert result.ret == 1
    assert next(verdict for name, verdict in shop.verdicts().items() if "P_3" in name) == "error"
    assert "1 query without an answer, such as 'q02' (status 503)" in " ".join(result.stdout.str().split())
