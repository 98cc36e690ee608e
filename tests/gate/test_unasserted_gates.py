"""A red gate of a Python test that does not fail is named, and the headline is not that of a safe change."""

import pytest

pytestmark = pytest.mark.ci

HEADLINE = "Passed, but a gate in a Python test is red"
SAID = "suite ads is {} in test_gate.py::test_gate, and this test did not fail: it does not assert the verdict"
GATE = 'ireval.gate("kept/ads.ireval.yaml")'


@pytest.fixture
def ads(shop):
    """The shop, which is green, and ads that only a Python test gates; their rankings are bad."""
    shop.accept()
    kept = shop.path / "kept"
    kept.mkdir()
    for name in ("queries.tsv", "judgments.txt"):
        (kept / name).write_text((shop.path / name).read_text())
    (kept / "rankings.txt").write_text("".join(f"q{i:02} Q0 q{i:02}-d3 1 1 x\n" for i in range(1, 11)))
    rules = shop.suite.partition("rules:\n")[0].replace("suite: shop", "suite: ads")
    (kept / "ads.ireval.yaml").write_text(f'{rules}rules:\n  - threshold: {{nDCG@10: ">= 0.5"}}\n')
    return shop


def run_test(shop, body, *arguments, before=""):
    (shop.path / "test_gate.py").write_text(f"import pytest\n\n{before}\ndef test_gate(ireval):\n    {body}\n")
    return shop.run("shop.ireval.yaml", "test_gate.py", *arguments)


def headline(shop):
    return (shop.path / "ireval-report/summary.md").read_text().splitlines()[1]


@pytest.mark.parametrize(
    ("body", "more"),
    [(GATE, ()), (GATE, ("-n1",)), (f"assert {GATE}.outcomes", ()), (GATE.replace("gate(", "gates("), ())],
    ids=["gate", "workers", "asserted otherwise", "gates"],
)
def test_a_red_verdict_that_no_test_asserts_is_said(ads, body, more):
    if more:
        pytest.importorskip("xdist")

    result = run_test(ads, body, *more)

    assert result.ret == 0
    assert headline(ads).startswith(f"**{HEADLINE}**: ")
    assert ads.results()["unasserted"] == [SAID.format("fail")]
    assert f"warning: {SAID.format('fail')}" in " ".join(result.stdout.str().split())


def test_an_expected_failure_is_no_assertion(ads):
    result = run_test(ads, 'ireval.check("kept/ads.ireval.yaml")', before="@pytest.mark.xfail")

    result.assert_outcomes(passed=7, xfailed=1)
    assert headline(ads).startswith(f"**{HEADLINE}**: ")


def test_broken_inputs_are_red(ads):
    (ads.path / "kept/judgments.txt").write_text("q01 0 q01-d0 x\n")

    run_test(ads, GATE)

    assert ads.results()["unasserted"] == [SAID.format("error")]


def test_a_test_that_asserts_the_verdict_fails_and_says_it_alone(ads):
    result = run_test(ads, 'assert ireval.gate("kept/ads.ireval.yaml").verdict == "pass"')

    assert result.ret == 1
    assert headline(ads).startswith("**Not safe to land**: ")
    assert ads.results()["unasserted"] == []


def test_a_green_gate_is_safe_without_an_assertion(ads):
    result = run_test(ads, 'ireval.gate("shop.ireval.yaml")')

    assert result.ret == 0
    assert headline(ads) == "**Safe to land**: all 7 checks passed."
