"""A rule that needs what the stored baseline lacks is an error of this rule alone, and accepting settles it."""

import pytest
from branches import WORSE

COMPARED = '  - no_regression: {{metric: "{}", tolerance: 5%}}\n'
PLUGIN = '''
import numpy as np

from pytest_ireval import hookimpl, metric, per_query_metric


@per_query_metric(name="Sellers", needs=("fields",), range=(0, 9), no_relevant=None)
def sellers(ranking, *, cutoff: int) -> float:
    """Different sellers among the first documents."""
    return float(len({fields["seller"] for fields in ranking.fields[:cutoff]}))


@per_query_metric(name="Lead", needs=("scores",), range=(0, 1000), no_relevant=None)
def lead(ranking) -> float:
    """Between the first two scores."""
    return float(ranking.scores[0] - ranking.scores[1])


@metric(name="Sold", needs=("documents", "fields"), unit="run", range=(0, 99))
def sold(judged):
    """Different sellers of all documents."""
    return np.array([float(len({judged.fields[each]["seller"] for each in judged.documents.ids.texts()}))])


@hookimpl
def ireval_metrics():
    return [sellers, lead, sold]
'''
NEW = {
    "Sellers@3": "no fields of documents",
    "Sold": "no fields of documents",
    "Mean(better='higher', field='price')@3": "no field 'price' of documents",
    "Lead": "no scores",
    "Latency": "no timings",
}
"""Metrics of fields, scores and times, of one query and of the whole run."""


def prepare(shop):
    """The shop with products, times and metrics of its own; nothing of it is asked for yet."""
    (shop.path / "conftest.py").write_text(PLUGIN)
    documents = sorted(
        f"{query}-{end}" for query in shop.rankings for end in ("d0", "d1", "d2", "d3", "n1", "n2", "n3")
    )
    rows = "".join(f"{each},{number % 3},{number % 7 + 1}\n" for number, each in enumerate(documents))
    (shop.path / "products.csv").write_text(f"id,seller,price\n{rows}")
    (shop.path / "times.tsv").write_text("query\tms\n" + "".join(f"{query}\t10\n" for query in shop.rankings))
    shop.change(
        ("source: {run: rankings.txt}", "source: {run: rankings.txt, timings: times.tsv}"),
        ("judgments: judgments.txt", "judgments: judgments.txt\ndocuments: {fields: products.csv}"),
    )


@pytest.fixture
def prepared_shop(shop):
    prepare(shop)
    shop.accept()
    return shop


def add(shop, *metrics):
    shop.suite += "".join(map(COMPARED.format, metrics))
    shop.write()


def outcomes_by_metric(shop):
    """Those of new metrics by name, and the verdicts of all other checks, each once."""
    (suite,) = shop.results()["suites"]
    new = {each["metric"]: each for each in suite["outcomes"] if each["metric"] in NEW}
    return new, {each["verdict"] for each in suite["outcomes"] if each["metric"] not in NEW}


def test_new_rules_alone_are_errors_and_accepting_settles_it(prepared_shop):
    add(prepared_shop, *NEW)

    prepared_shop.gate()
    new, others = outcomes_by_metric(prepared_shop)
    accepting = prepared_shop.run("--ireval-update", "--ireval-reason", "new metrics")
    again = prepared_shop.gate()

    assert others == {"pass"}
    assert {name: (each["verdict"], each["headline"]) for name, each in new.items()} == {
        name: ("error", f"the baseline holds {lack}, which {name} needs") for name, lack in NEW.items()
    }
    advice = "accept the baseline again: pytest --ireval shop.ireval.yaml --ireval-update"
    assert all(advice in " ".join(each["facts"]) for each in new.values())
    assert (accepting.ret, again.verdict) == (0, "pass"), accepting.stdout.str()
    assert "accepted: shop" in accepting.stdout.str()
    assert set(prepared_shop.verdicts().values()) == {"pass"}


def test_metrics_that_need_nothing_that_is_kept_can_be_compared_at_once(shop):
    rows = "".join(f"{query}\ttext\ts{number // 2}\t{number % 2 + 1}\n" for number, query in enumerate(shop.rankings))
    judged = [(q, d, grade) for q, grades in shop.judgments.items() for d, grade in grades.items()]
    shop.suite = (
        shop.suite.partition("rules:")[0].replace("weight: searches\n", "") + "rules:\n" + COMPARED.format("nDCG@10")
    ).replace("judgments.txt", "judgments.csv")
    shop.write()
    (shop.path / "queries.tsv").write_text(f"id\ttext\tsession\tposition\n{rows}")
    (shop.path / "judgments.csv").write_text(
        "query,document,subtopic,grade\n" + "".join(f"{q},{d},{d[-1]},{grade}\n" for q, d, grade in judged)
    )
    shop.accept()
    with open(shop.path / "shop.ireval.yaml", "a") as suite:
        suite.write("".join(map(COMPARED.format, ["P@5", "RBP(p=0.8)", "sDCG@5", "StRecall@5"])))

    shop.gate()

    assert set(shop.verdicts().values()) == {"pass"}


def test_a_source_that_is_asked_more_often_than_the_baseline_was_is_compared(prepared_shop):
    prepared_shop.change(("timings: times.tsv}", "timings: times.tsv, repeat: 3}"))

    assert prepared_shop.gate().verdict == "pass"


def test_a_field_that_only_the_new_metric_reads_is_an_error_of_its_rule(shop):
    prepare(shop)
    add(shop, "Mean(better='higher', field='price')@3")
    shop.accept()
    add(shop, "Sellers@3")

    shop.gate()
    error = outcomes_by_metric(shop)[0]["Sellers@3"]

    assert error["verdict"] == "error"
    assert error["headline"].startswith(
        "the baseline was accepted without Sellers@3, which fails on it: Sellers@3 raised KeyError: 'seller'"
    )
    shop.update("new")
    assert shop.gate().verdict == "pass"


def test_a_metric_that_fails_on_the_current_rankings_too_is_not_accepted(prepared_shop):
    (prepared_shop.path / "products.csv").write_text("id,price\nq01-d0,3\n")
    add(prepared_shop, "Sellers@3")

    prepared_shop.gate()
    new, others = outcomes_by_metric(prepared_shop)
    accepting = prepared_shop.run("--ireval-update", "--ireval-reason", "new")

    assert accepting.ret == 1
    assert "Sellers@3: raised KeyError: 'seller'" in new["Sellers@3"]["headline"]
    assert "accept" not in " ".join(new["Sellers@3"]["facts"])
    assert others == {"pass"}


def test_fields_of_variants_are_those_of_the_document_that_they_are(prepared_shop):
    prepared_shop.change(
        ("documents: {fields: products.csv}", "documents: {fields: products.csv, collapse: {pattern: '(.*-)d'}}"),
        ("  - expect:\n      - {query: q01, document: q01-d0, top: 3}\n", ""),
    )
    prepared_shop.update("groups", force=True)
    add(prepared_shop, "Sellers@3")

    assert prepared_shop.gate().verdict == "error"
    prepared_shop.update("new")
    assert prepared_shop.gate().verdict == "pass"


def test_an_anchor_that_lacks_data_is_pinned_again_after_a_forced_acceptance(prepared_shop, ireval, monkeypatch):
    monkeypatch.chdir(prepared_shop.path)
    pin = ("baseline", "anchor", "shop.ireval.yaml", "--reason", "release")
    assert ireval(*pin).code == 0
    prepared_shop.suite += '  - no_regression: {metric: "Sellers@3", tolerance: 5%, against: anchor}\n'
    prepared_shop.write()

    prepared_shop.gate()
    error = outcomes_by_metric(prepared_shop)[0]["Sellers@3"]
    assert error["headline"] == "the anchor holds no fields of documents, which Sellers@3 needs"
    assert "first accept the baseline with --ireval-force" in " ".join(error["facts"])
    prepared_shop.update("new", force=True)
    assert ireval(*pin).code == 0
    assert prepared_shop.gate().verdict == "pass"


def test_a_branch_that_brings_such_metrics_lowers_nothing_until_it_lowers_another(branch):
    prepare(branch.shop)
    branch.git("checkout", "--quiet", "main")
    branch.accept()
    branch.git("checkout", "--quiet", "-B", "change")
    add(branch.shop, *NEW)

    not_accepted = branch.gate(lowering_fails=True)
    branch.accept()
    accepted = branch.gate(lowering_fails=True)
    branch.accept(**WORSE)
    lowered = branch.gate(lowering_fails=True)

    for outcome in (not_accepted, accepted):
        assert outcome["verdict"] == "pass"
        said = " ".join(outcome["facts"])
        for name, lack in NEW.items():
            assert f"{name} is not compared: the baseline at " in said
            assert f"holds {lack}, which {name} needs" in said
    assert lowered["verdict"] == "fail"
    assert lowered["headline"].startswith("the branch lowers its baseline: nDCG@10")
