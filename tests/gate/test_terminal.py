"""What a terminal shows of a red gate: with and without colour, at 80 and 200 columns, with -q, -v and -vv."""

import re

import pytest

ESCAPE = "\x1b["


@pytest.fixture
def red_shop(shop, monkeypatch):
    """In every query something stands above the best document."""
    for name in ("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    shop.accept()
    for number in range(1, 11):
        query = f"q{number:02}"
        shop.rankings[query] = [f"{query}-n{rank}" for rank in range(number % 4)] + [f"{query}-d1", f"{query}-d0"]
    shop.write()
    return shop


def ours(result):
    """What stands between the tests and pytest's last lines, without the time that the run took."""
    text = "\n".join(result.outlines)
    begin = re.search(r"=+ FAILURES =+\n", text).end()
    end = re.search(r"\S*=+ short test summary info", text).start()
    return text[begin:end]


@pytest.mark.parametrize(
    ("name", "columns", "flags"),
    [
        ("80.txt", 80, ("--color=no",)),
        ("quiet-80.txt", 80, ("--color=no", "-q")),
        ("all-80.txt", 80, ("--color=no", "-vv")),
        ("colour-200.txt", 200, ("--color=yes",)),
    ],
)
def test_a_red_gate(red_shop, monkeypatch, golden, name, columns, flags):
    monkeypatch.setenv("COLUMNS", str(columns))

    golden(name, ours(red_shop.run(*flags, "-k", "nDCG_10.all or worsened or inputs")))


def test_a_failure_is_coloured_in_the_terminal_and_in_no_file(red_shop, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")

    result = red_shop.run("--color=yes", "--junit-xml=junit.xml")

    headline = next(line for line in result.outlines if "checks failed. Owner" in line)
    assert headline.startswith(f"{ESCAPE}31m{ESCAPE}1mshop.ireval.yaml: ")
    junit = (red_shop.path / "junit.xml").read_text(encoding="utf-8")
    assert "shop.ireval.yaml:13: nDCG@10 fell" in junit
    assert "#x1B" not in junit
    assert ESCAPE not in junit
    for path in (red_shop.path / "ireval-report").iterdir():
        assert ESCAPE.encode() not in path.read_bytes()

    monkeypatch.setenv("NO_COLOR", "1")
    assert ESCAPE not in red_shop.run().stdout.str()


def test_a_failure_of_a_python_test_stays_as_pytest_draws_it(red_shop):
    red_shop.pytester.makepyfile(
        "def test_it(record_property):\n    record_property('ireval_rule', 1)\n    assert 1 == 2\n"
    )

    result = red_shop.run("--color=yes", "-k", "test_it")

    assert any(f"{ESCAPE}31mE       assert 1 == 2" in line for line in result.outlines)


def test_with_q_each_red_suite_is_a_line_and_a_green_run_says_nothing(red_shop):
    assert [line for line in red_shop.run("-q").outlines if line.startswith(("fail: ", "ireval: "))] == [
        "fail: shop and 2 more: nDCG@10 fell 43.3% (tolerance 5%)",
        "ireval: fail: 3 of 7 checks of shop failed",
    ]

    red_shop.rankings = {query: [f"{query}-{d}" for d in ("d0", "d1", "d2", "d3")] for query in red_shop.rankings}
    red_shop.write()
    assert [line for line in red_shop.run("-q").outlines if "ireval" in line or "shop" in line] == []


@pytest.fixture
def broken(red_shop):
    """Two checks are red: one query lost everything."""
    red_shop.rankings = {query: [f"{query}-d{n}" for n in range(4)] for query in red_shop.rankings}
    red_shop.rankings["q10"] = ["q10-n1"]
    red_shop.write()
    return red_shop


def test_several_red_checks_are_one_block(broken):
    result = broken.run("--junit-xml=junit.xml")
    text = result.stdout.str()
    block = text[text.index("_ shop _") : text.index("= ireval =")].replace("_", "").splitlines()

    assert result.parseoutcomes()["failed"] == 2
    assert text.count("\n____") == 1
    assert [line for line in block if line.startswith(("  1 ", "  2 "))] == [
        "  1  nDCG@10 fell 10.0% (tolerance 5%), line 13",
        "  2  nDCG@10 fell 25.0% on segment=tail (tolerance 5%), line 14",
    ]
    assert '  q10 "words 10"   1.000 -> 0.000   1-2' in block
    assert "    q10-d0 (grade 3): #1 -> not in top 10" in block
    assert "    q10 top 1 is now q10-n1 (not judged)" in block
    assert text.count("FAILED shop.ireval.yaml::no") == 2
    junit = (broken.path / "junit.xml").read_text(encoding="utf-8")
    assert junit.count("shop.ireval.yaml:13: nDCG@10 fell 10.0%") >= 1
    assert junit.count("shop.ireval.yaml:14: nDCG@10 fell 25.0% on segment=tail") >= 1
    assert "checks failed" not in junit


def test_who_asks_for_more_gets_each_check(broken):
    text = broken.run("-v").stdout.str()

    assert "checks failed" not in text
    assert text.count("\n____") == 2


def test_what_else_failed_or_was_printed_is_shown(broken):
    (broken.path / "conftest.py").write_text(
        """
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and "tail" in item.nodeid:
        report.sections.append(("Captured log", "the index was slow"))
    return report
"""
    )

    text = broken.run().stdout.str()
    assert "the index was slow" in text
    assert text.count("\n____") == 2


@pytest.mark.ci
def test_with_several_processes_it_is_one_block_too(broken):
    text = broken.run("-n2").stdout.str()

    assert "\nshop.ireval.yaml: 2 of 7 checks failed." in text
    assert text.count("\n____") == 1
