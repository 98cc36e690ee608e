"""The example suite through the whole gate: the fine change green, the hidden tail red by exactly one rule."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from suite_files import accept_suites

from pytest_ireval.report.results_file import format_results, parse_run

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "examples").is_dir(), reason="needs a checkout of the project")


@pytest.fixture
def shop(pytester, monkeypatch):
    """Runs pytest over a copy of the example whose baseline holds the accepted rankings."""
    shutil.copytree(ROOT / "examples" / "suites", pytester.path, dirs_exist_ok=True)
    shutil.rmtree(pytester.path / "baselines", ignore_errors=True)
    monkeypatch.delenv("CI", raising=False)

    def run(name, *options):
        monkeypatch.setenv("SHOP_RANKINGS", f"runs/{name}.trec")
        return pytester.runpytest("--ireval", *options)

    monkeypatch.setenv("SHOP_RANKINGS", "runs/accepted.trec")
    accept_suites(pytester.path / "product-search.ireval.yaml")
    return run


def read_checked_run(pytester):
    """The run that results.json holds; the file keeps its schema's promises, and is the same when written again."""
    text = (pytester.path / "ireval-report" / "results.json").read_text(encoding="utf-8")
    schema = json.loads((ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))
    assert format_results(parse_run(text)) == text
    return parse_run(text)


@pytest.mark.ci
def test_the_page_for_managers_quotes_what_the_pull_request_shows(shop, pytester):
    shop("hidden_tail")

    summary = (pytester.path / "ireval-report" / "summary.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    verdict, _, following = summary.splitlines()[1:4]
    assert f"> {verdict}\n>\n> {following}\n" in page
    metrics = (pytester.path / "ireval-report" / "metrics.txt").read_text(encoding="utf-8")
    assert 'ireval_metric{suite="product-search",metric="nDCG@10",slice="segment=tail"} 0.615421\n' in metrics


def test_the_fine_change_is_green_and_the_hidden_tail_is_red_by_exactly_one_rule(shop, pytester):
    shop("fine").assert_outcomes(passed=14)
    assert read_checked_run(pytester).verdict == "pass"

    result = shop("hidden_tail")

    result.assert_outcomes(passed=13, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*product-search.ireval.yaml:17: nDCG@10 fell 34.8% on segment=tail (hard limit 25%)",
            "4 of 12 tail queries (1.0% of all searches) lost their best document. Owner",
            "  segment=tail     0.9438  0.6154  -0.3283  -34.8%       12  4/0/8    <- over",
            "  q052 top 3 is now q052-n29, q052-n23, q052-n13 (none judged)",
            "FAILED *::no_regression::nDCG_10.segment-tail*",
        ]
    )
    run = read_checked_run(pytester)
    assert [each.id for each in run.suites[0].outcomes if each.verdict != "pass"] == [
        "no_regression::nDCG_10.segment-tail"
    ]
