"""What pytest and others show of a failure in one line: our first line, at the rule's own line in the suite."""

import re

import pytest


@pytest.fixture
def red_shop(accepted_shop):
    """A shop that is red with a long text."""
    accepted_shop.rankings["q10"] = ["q10-n1", "q10-n2", "q10-n3"]
    accepted_shop.write()
    return accepted_shop


HEADLINE = "nDCG@10 fell 10.0% (tolerance 5%)"


def summary_of(result):
    lines = result.outlines
    start = next(i for i, line in enumerate(lines) if "short test summary info" in line)
    return lines[start + 1 : -1]


def test_in_ci_the_summary_has_one_line_for_each(red_shop, monkeypatch):
    monkeypatch.setenv("CI", "true")

    result = red_shop.run("-k", "nDCG_10.all")

    assert summary_of(result) == [f"FAILED shop.ireval.yaml::no_regression::nDCG_10.all - {HEADLINE}"]


def test_an_error_is_told_in_one_line_too(red_shop, monkeypatch):
    monkeypatch.setenv("CI", "true")
    (red_shop.path / "judgments.txt").write_text("q01 0 q01-d0 x\n")

    result = red_shop.run("-k", "inputs or worsened")

    assert summary_of(result) == [
        "ERROR shop.ireval.yaml::inputs - judgments.txt:1: grade 'x' is not a number",
        "… and 1 more check of shop, for the same reason",
    ]
    assert "2 errors" in result.outlines[-1]
    assert len(summary_of(red_shop.run("-k", "inputs or worsened", "-v"))) == 2
    assert "for the same reason" not in red_shop.run("-rf").stdout.str()


def test_the_summary_says_how_a_broken_input_may_be_repaired(red_shop, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    del red_shop.rankings["q10"]
    red_shop.write()

    assert " ".join(red_shop.run().outlines).count("without a ranking: 'q10'; missing_queries: zero in the suite") == 1


@pytest.mark.parametrize("style", ["long", "native"])
def test_the_text_is_the_same_however_tracebacks_are_shown(red_shop, style):
    text = red_shop.run("-k", "nDCG_10.all", f"--tb={style}").stdout.str()

    assert f"\nshop.ireval.yaml:13: {HEADLINE}\n" in text
    assert "Failed: " not in text
    assert "Traceback" not in text


def test_one_line_each_or_the_summary_alone_if_that_is_asked_for(red_shop):
    line = red_shop.run("-k", "nDCG_10.all", "--tb=line")
    no = red_shop.run("-k", "nDCG_10.all", "--tb=no")

    assert f"{red_shop.path}/shop.ireval.yaml:13: {HEADLINE}" in line.outlines
    assert "worst queries" not in line.stdout.str() + no.stdout.str()
    assert len(summary_of(no)) == 1


def test_a_summary_of_everything_has_the_passes_and_junit_the_line_as_message_and_the_whole_as_text(red_shop):
    lines = summary_of(red_shop.run("-k", "nDCG_10.all or inputs", "-rA", "--junit-xml=junit.xml"))

    assert "PASSED shop.ireval.yaml::inputs" in lines
    assert f"FAILED shop.ireval.yaml::no_regression::nDCG_10.all - {HEADLINE}" in lines
    text = (red_shop.path / "junit.xml").read_text()
    assert re.findall(r'<failure message="([^"]*)"', text) == [HEADLINE]
    assert "worst queries" in text


def test_a_rule_of_an_extended_file_is_marked_there(red_shop):
    rule = "  - no_regression: {metric: nDCG@10, tolerance: 5%, decide_by: observed}\n"
    (red_shop.path / "common.yaml").write_text(f"# shared\n\n\nrules:\n{rule}")
    text = red_shop.suite.partition("rules:\n")[0]
    (red_shop.path / "shop.ireval.yaml").write_text(text + "extends: common.yaml\n")

    result = red_shop.run("-k", "nDCG_10.all", "--tb=line")

    assert f"{red_shop.path}/common.yaml:5: {HEADLINE}" in result.outlines
