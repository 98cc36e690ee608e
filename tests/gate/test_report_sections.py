"""What plugins add to the report: shown where it can be, said where it cannot, and no verdict hangs on it."""

import html

import pytest

CONFTEST = """\
from pytest_ireval import hookimpl, report_section

@report_section(name="latency", title="Latency", template="latency.html.jinja", style="latency.css")
def latency(run):
    {body}

@hookimpl
def ireval_report_sections():
    return [latency]
"""
FINE = "return {'names': [suite['name'] for suite in run['suites']], 'verdict': run['verdict']}"
TEMPLATE = "<p>The suites {{ names | join(', ') }} are a {{ verdict }}.</p>\n"


@pytest.fixture
def add(shop):
    """Writes the plugin, a conftest.py with its template and style."""
    shop.accept()

    def write(body=FINE, template=TEMPLATE, folder=""):
        home = shop.path / folder
        (home / "conftest.py").write_text(CONFTEST.format(body=body))
        (home / "latency.html.jinja").write_text(template)
        (home / "latency.css").write_text("p { color: red }")
        return shop

    return write


def page(shop):
    return (shop.path / "ireval-report/index.html").read_text(encoding="utf-8")


def test_a_section_is_in_the_results_and_on_the_page_and_changes_neither(add):
    shop = add("run['suites'].clear(); return {'names': ['<script>alert(1)</script>'], 'verdict': run['verdict']}")

    assert shop.run().ret == 0

    (section,) = shop.results()["sections"]
    assert section == {
        "name": "latency",
        "title": "Latency",
        "plugin": "conftest.py",
        "data": {"names": ["<script>alert(1)</script>"], "verdict": "pass"},
        "problem": "",
    }
    assert [suite["name"] for suite in shop.results()["suites"]] == ["shop"]
    assert "<p>The suites &lt;script&gt;alert(1)&lt;/script&gt; are a pass.</p>" in page(shop)
    assert "<script>alert" not in page(shop)
    assert "p { color: red }" in page(shop)


@pytest.mark.parametrize(
    ("body", "template", "says"),
    [
        ("return 1 / 0", TEMPLATE, "raised ZeroDivisionError: division by zero; at conftest.py:5, in latency"),
        ("raise SystemExit(0)", TEMPLATE, "raised SystemExit: 0; at conftest.py:5, in latency"),
        ("return {'p95': float('nan')}", TEMPLATE, "did not return plain data: p95 is nan"),
        (
            FINE,
            "\n{{ nmes }}",
            "raised UndefinedError: 'nmes' is undefined; at latency.html.jinja:2, in top-level template code",
        ),
    ],
)
def test_what_is_in_the_way_is_said_everywhere_and_the_verdict_stays(add, body, template, says):
    shop = add(body, template)

    result = shop.run("-q")

    assert result.ret == 0
    said = f"warning: section 'Latency' of conftest.py is not shown: {says}"
    assert said in " ".join(result.stdout.str().split())
    assert shop.results()["verdict"] == "pass"
    assert shop.results()["sections"][0]["problem"] == says
    assert "section 'Latency' of conftest.py is not shown" in (shop.path / "ireval-report/summary.md").read_text()
    assert says in html.unescape(page(shop))


@pytest.mark.ci
def test_with_several_processes_the_section_is_asked_once_and_the_same(add):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    (folder := add().path / "suites").mkdir()
    shop = add()
    for path in ("queries.tsv", "judgments.txt", "rankings.txt", "shop.ireval.yaml", "baselines"):
        (shop.path / path).rename(folder / path)
    for path in ("conftest.py", "latency.html.jinja", "latency.css"):
        (shop.path / path).rename(folder / path)
    text = (
        (folder / "conftest.py")
        .read_text()
        .replace("def latency(run):", "def latency(run):\n    print('ASKED', file=open('asked.txt', 'a'))")
    )
    (folder / "conftest.py").write_text(text)
    command = ("--ireval", "-p", "no:cacheprovider", ".")

    assert shop.pytester.runpytest_subprocess(*command).ret == 0
    alone = shop.results()["sections"]
    assert shop.pytester.runpytest_subprocess(*command, "-n2").ret == 0

    assert shop.results()["sections"] == alone
    assert alone[0]["plugin"] == "suites/conftest.py"
    assert (shop.path / "asked.txt").read_text() == "ASKED\nASKED\n"


def test_without_files_nobody_is_asked(add):
    shop = add("raise RuntimeError('asked')")

    assert "Latency" not in shop.run("--ireval-report", "none").stdout.str()


def test_a_template_that_is_not_there_is_an_error_of_the_plugin(add):
    shop = add()
    (shop.path / "latency.css").unlink()

    result = shop.run()

    assert result.ret != 0
    assert "section 'latency': there is no file 'latency.css' in" in result.stderr.str() + result.stdout.str()
