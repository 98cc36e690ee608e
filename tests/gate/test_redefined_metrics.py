"""A metric that is defined anew under the version of before is an error; what only looks like it stays green."""

import pytest

from pytest_ireval import load_suite, run_gate

OK = pytest.ExitCode.OK
RED = pytest.ExitCode.TESTS_FAILED
CODE = '''
from pytest_ireval import hookimpl, per_query_metric

@per_query_metric(name="Odd", range=(0, 1), direction="higher", empty=0.0, no_relevant=0.0)
def odd(ranking):
    """Half for a good document at the top, all for one below."""
    return 0.5 if ranking.grades[:1] and ranking.grades[0] == 3 else 1.0

@hookimpl
def ireval_metrics():
    return [odd]
'''
RULES = """\
  - threshold: {nDCG@10: ">= 0.5"}
  - threshold: {Odd: ">= 0.1", name: enough}
  - no_regression: {metric: Odd, tolerance: 5%}
  - no_regression: {metric: nDCG@10, tolerance: 5%}
"""
UPDATE = ("--ireval-update", "--ireval-reason", "another definition")


@pytest.fixture
def odd(shop):
    """The shop with a metric of its own, which is 0.5 for every query, accepted."""
    (shop.path / "conftest.py").write_text(CODE)
    shop.change(("metrics: [nDCG@10, P@3]", "metrics: [nDCG@10, Odd]"), (shop.suite.partition("rules:\n")[2], RULES))
    shop.accept()
    return shop


def redefine(shop, old, new):
    code = (shop.path / "conftest.py").read_text()
    assert old in code
    (shop.path / "conftest.py").write_text(code.replace(old, new))


def list_red_ids(shop):
    return [name for name, verdict in shop.verdicts().items() if verdict != "pass"]


OF_ODD = ["threshold::Odd.enough", "no_regression::Odd.all"]


def test_code_that_gives_the_accepted_rankings_another_value_is_an_error_of_the_rules_about_it(odd):
    redefine(odd, "return 0.5 if", "return 1.0 if")

    result = odd.run()

    assert result.ret == RED
    assert list_red_ids(odd) == OF_ODD
    found = odd.outcome("no_regression::Odd.all")
    assert found["headline"] == (
        "Odd of the accepted rankings is 1 now, and was 0.5 when the baseline was accepted, with the same judgments "
        "and policies: its definition changed (q01: 0.5 -> 1, and 9 more)"
    )
    assert found["facts"][0].startswith("accept the baseline again: pytest --ireval shop.ireval.yaml --ireval-update")
    assert "raised" not in result.stdout.str()

    assert odd.run(*UPDATE).ret == OK
    assert odd.results()["accepted"] == ["shop"]
    assert odd.gate().verdict == "pass"


def test_another_direction_changes_no_value_and_is_found_as_well(odd):
    redefine(odd, 'direction="higher"', 'direction="lower"')

    odd.gate()
    assert list_red_ids(odd) == OF_ODD
    assert odd.outcome("no_regression::Odd.all")["headline"] == (
        "Odd is defined as: lower is better, 0 to 1, mean of each query; when the baseline was accepted it was: "
        "higher is better, 0 to 1, mean of each query"
    )


def test_judgments_that_change_with_the_code_do_not_hide_it(odd):
    odd.judgments["q10"]["q10-d1"] = 1
    odd.write()
    redefine(odd, "return 0.5 if", "return 1.0 if")

    odd.gate()
    assert odd.outcome("no_regression::Odd.all")["headline"].endswith("(q01: 0.5 -> 1, and 8 more)")


def test_the_anchor_is_of_the_old_definition_too(odd, ireval):
    odd.change(
        (
            "  - no_regression: {metric: Odd, tolerance: 5%}",
            "  - no_regression: {metric: Odd, tolerance: 5%, against: anchor}",
        )
    )
    assert ireval("baseline", "anchor", "shop.ireval.yaml", "--reason", "1.0").code == 0
    assert odd.gate().verdict == "pass"
    redefine(odd, "return 0.5 if", "return 1.0 if")

    assert odd.run().ret == RED
    found = odd.outcome("no_regression::Odd.all")
    assert "and was 0.5 when the anchor was accepted" in found["headline"]
    assert "pin the current baseline instead: ireval baseline anchor" in "\n".join(found["facts"])


# What changes a value without a new definition


def is_green(shop):
    return shop.gate().verdict == "pass"


def test_noise_of_another_platform_is_not_a_definition(odd):
    redefine(odd, "return 0.5 if", "return 0.5 * (1 + 1e-9) if")

    assert is_green(odd)


def test_a_declared_version_is_told_as_such(odd):
    redefine(odd, "return 0.5 if", "return 1.0 if")
    redefine(odd, 'name="Odd"', 'name="Odd", version=2')

    odd.gate()

    assert odd.outcome("no_regression::Odd.all")["headline"].startswith("Odd is version 2 of conftest.py now")
    assert odd.verdicts()["threshold::Odd.enough"] == "pass"


def test_a_metric_that_is_not_repeatable_has_other_values_each_time(odd):
    redefine(odd, 'name="Odd"', 'name="Odd", repeatable=False')
    redefine(odd, "return 0.5 if", "return 1.0 if")

    assert is_green(odd)


def _raise_the_top_grade(shop):
    path = shop.path / "judgments.txt"
    path.write_text(path.read_text().replace("q04-d0 3", "q04-d0 4"))


def _weigh(shop):
    path = shop.path / "queries.tsv"
    path.write_text(path.read_text().replace("\t100\n", "\t7\n"))


def _add_a_query(shop):
    with (shop.path / "queries.tsv").open("a") as file:
        file.write("q11\twords\ttail\t1\n")
    with (shop.path / "judgments.txt").open("a") as file:
        file.write("q11 0 q11-d0 1\n")
    with (shop.path / "rankings.txt").open("a") as file:
        file.write("q11 Q0 q11-d0 1 1 x\n")


def _rename_documents(shop):
    (shop.path / "aliases.csv").write_text("from,to\nq02-d0,q02-d8\n")
    shop.change(("judgments: judgments.txt", "judgments: judgments.txt\ndocuments: {aliases: aliases.csv}"))


SETTINGS = [
    [("rules:\n", "waive:\n  - {query: q03, until: 2099-01-01, reason: x}\nrules:\n")],
    [("judgments: judgments.txt", "judgments: {file: judgments.txt, relevant_from: 2}")],
    [("depth: 10", "depth: 2"), ("nDCG@10", "nDCG@2")],
    [("depth: 10", "depth: 10\nmissing_queries: zero")],
]


def test_changed_inputs_are_not_another_definition(shop):
    """ERR measures by the highest grade of all judgments, and the rules are lenient: only errors are looked at."""
    rules = "".join(
        f"  - no_regression: {{metric: {metric}, tolerance: 99%}}\n"
        for metric in ("nDCG@10", "ERR@2", "P(rel=1)@2", "AP", "GMAP")
    )
    shop.change(("metrics: [nDCG@10, P@3]", "metrics: [nDCG@10]"), (shop.suite.partition("rules:\n")[2], rules))
    shop.accept()

    suite, files = shop.suite, {path: path.read_bytes() for path in shop.path.glob("*.t*")}

    for change in (_raise_the_top_grade, _weigh, _add_a_query, _rename_documents, *SETTINGS):
        if callable(change):
            change(shop)
        else:
            shop.change(*change)
        found = run_gate(load_suite(shop.path / "shop.ireval.yaml"))
        assert "error" not in [each.verdict for each in found.outcomes], change

        shop.suite = suite
        (shop.path / "shop.ireval.yaml").write_text(suite)
        for path, content in files.items():
            path.write_bytes(content)


def test_a_waiver_that_ended_after_an_acceptance_is_no_definition_either(odd):
    """The value of the waived query is that of an earlier acceptance, under the judgments of then."""
    waiver = "waive:\n  - {query: q03, until: 2099-01-01, reason: x}\n"
    odd.change(("rules:\n", f"{waiver}rules:\n"))
    odd.judgments["q03"]["q03-d0"] = 2  # Odd of q03 was 0.5, and is 1 from now on
    odd.rankings["q04"].reverse()
    odd.write()
    odd.update("x")
    assert odd.baseline().waived == ("q03",)

    odd.change((waiver, ""))

    assert is_green(odd)


def test_a_metric_of_sessions_counts_other_queries_after_a_waiver(shop):
    path = shop.path / "queries.tsv"
    path.write_text(
        "id\ttext\tsegment\tsession\tposition\n" + "".join(f"q{i:02}\t\ta\ts{i // 6}\t{i}\n" for i in range(1, 11))
    )
    rule = "  - no_regression: {metric: SessionDCG@3, tolerance: 99%}\n"
    shop.suite = shop.suite.replace(shop.suite.partition("rules:\n")[2], rule).replace("weight: searches\n", "")
    text = shop.suite.replace("metrics: [nDCG@10, P@3]", "metrics: [SessionDCG@3]")
    (shop.path / "shop.ireval.yaml").write_text(text)
    shop.accept()
    waiver = "waive:\n  - {query: q03, until: 2099-01-01, reason: x}\n"

    (shop.path / "shop.ireval.yaml").write_text(text + waiver)

    assert is_green(shop)
    shop.update("x")
    (shop.path / "shop.ireval.yaml").write_text(text)
    assert is_green(shop)


def test_an_age_grows_every_day(shop, monkeypatch):
    (shop.path / "fields.csv").write_text(
        "id,published\n" + "".join(f"q{i:02}-d{n},2026-01-0{n + 1}\n" for i in range(1, 11) for n in range(4))
    )
    rule = "  - no_regression: {metric: \"Age(field='published')@3\", tolerance: 99%}\n"
    shop.change(
        ("metrics: [nDCG@10, P@3]", "metrics: [\"Age(field='published')@3\"]\ndocuments: {fields: fields.csv}"),
        (shop.suite.partition("rules:\n")[2], rule),
    )
    shop.accept()

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1796000000")

    assert is_green(shop)
