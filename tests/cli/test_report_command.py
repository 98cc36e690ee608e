"""``ireval report`` draws a report anew from its results, to the byte as the run wrote it."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from report.full_run import full_run

from pytest_ireval.report.results_file import format_results

FILES = ["comment.md", "index.html", "metrics.txt", "summary.md", "to_judge.tsv"]


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The results of a made run, in the folder that a run writes."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ireval-report" / "results.json"
    path.parent.mkdir()
    path.write_text(format_results(full_run()), encoding="utf-8")
    return path


def test_everything_is_drawn_and_named(results, ireval):
    done = ireval("report")

    unknown = "acme-ireval 1.2, which draws it, is missing: install it, or name its folder with ireval report --suites"
    assert (done.code, done.err) == (0, f"warning: section 'Latency' of acme-ireval 1.2 is not shown: {unknown}\n")
    assert done.out == (
        "written: ireval-report/index.html\n"
        "written: ireval-report/summary.md\n"
        "written: ireval-report/comment.md\n"
        "written: ireval-report/metrics.txt\n"
        "written: ireval-report/to_judge.tsv\n"
    )
    assert sorted(path.name for path in results.parent.iterdir()) == sorted([*FILES, "results.json"])


def test_it_is_written_elsewhere_if_asked_for(results, ireval):
    ireval("report")

    assert ireval("report", "ireval-report/results.json", "--to", "public/today").code == 0

    assert sorted(path.name for path in Path("public/today").iterdir()) == FILES
    for name in FILES:
        assert Path("public/today", name).read_bytes() == (results.parent / name).read_bytes()


def test_a_page_of_others_is_left_alone(results, ireval):
    Path("site").mkdir()
    page = Path("site/index.html")
    page.write_text("<h1>Our site</h1>")

    done = ireval("report", "--to", "site")

    said = "is not a file of pytest-ireval, and is not overwritten\n  --to DIR writes to another folder\n"
    assert (done.code, done.out, done.err) == (2, "", f"error: site/index.html\n  {said}")
    assert [path.read_text() for path in Path("site").iterdir()] == ["<h1>Our site</h1>"]


def test_grades_that_somebody_wrote_are_kept_and_a_table_of_nothing_is_not_left(results, ireval):
    ireval("report")
    table = results.parent / "to_judge.tsv"
    graded = table.read_text().rstrip("\n") + "3\n"
    table.write_text(graded)
    assert "kept: ireval-report/judged.tsv, the grades from to_judge.tsv" in ireval("report").out.splitlines()
    assert (results.parent / "judged.tsv").read_text() == graded

    run = json.loads(results.read_text())
    for suite in run["suites"]:
        suite["to_judge"] = []
    results.write_text(json.dumps(run))
    ireval("report")
    assert not table.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["no.json"],
            "error: no.json\n  results of a run not found\n"
            "  pytest --ireval writes it; --ireval-report names the folder\n",
        ),
        (["old.json"], "error: old.json\n  format 0 cannot be read as results; this version reads format 1\n"),
        (["--to", "bad.json"], "error: bad.json/index.html\n  cannot be written: File exists\n"),
    ],
)
def test_what_is_in_the_way_is_named(results, ireval, tmp_path, arguments, says):
    (tmp_path / "bad.json").write_text("nothing")
    (tmp_path / "old.json").write_text('{"format": 0}')

    done = ireval("report", *arguments)

    assert (done.code, done.out, done.err) == (2, "", says)


@pytest.fixture
def shop(tmp_path, monkeypatch, pytester):
    """The example shop with a section of its conftest.py."""
    examples = Path(__file__).parents[2] / "examples" / "suites"
    if not examples.is_dir():
        pytest.skip("needs a checkout of the project")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795000000")
    monkeypatch.setenv("SHOP_RANKINGS", "runs/hidden_tail.trec")
    suites = shutil.copytree(examples, pytester.path / "suites")
    (suites / "owners.html.jinja").write_text("{% for owner in owners %}<p>{{ owner }}</p>{% endfor %}\n")
    text = (suites / "conftest.py").read_text()
    (suites / "conftest.py").write_text(
        f"{text}\n\nfrom pytest_ireval import report_section\n\n"
        '@report_section(name="owners", title="Owners", template="owners.html.jinja")\n'
        "def owners(run):\n    return {'owners': tuple(suite['owner'] for suite in run['suites'])}\n\n"
        "@hookimpl\ndef ireval_report_sections():\n    return [owners]\n"
    )
    pytester.runpytest("--ireval", "suites", "-p", "no:cacheprovider")
    return pytester.path / "ireval-report"


def test_a_real_run_with_a_section_is_drawn_to_the_byte_as_the_run_wrote_it(shop, ireval):
    written = {name: (shop / name).read_bytes() for name in FILES}
    assert b"<p>@search-team</p>" in written["index.html"]
    for name in FILES:
        (shop / name).unlink()

    assert ireval("report", "--suites", "suites").code == 0
    assert {name: (shop / name).read_bytes() for name in FILES} == written

    results = json.loads((shop / "results.json").read_text())
    results["sections"][0]["problem"] = "owners.html.jinja:1 'ownr' is undefined"
    (shop / "results.json").write_text(json.dumps(results))
    ireval("report", "--suites", "suites")  # its template was put right since
    assert "<p>@search-team</p>" in (shop / "index.html").read_text()
    assert "is not shown" not in (shop / "summary.md").read_text()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda run: run.update(verdict="pass"), "the run has the verdict pass, but suite shop-0 has fail"),
        (
            lambda run: run["suites"][0].update(verdict="inconclusive"),
            "suite shop-0 has the verdict inconclusive, but its ",
        ),
        (
            lambda run: run.update(verdict="pass", suites=[], problems=[], unaffected=[]),
            "the run has the verdict pass, but no suite was judged",
        ),
        (
            lambda run: run.update(
                verdict="inconclusive", suites=[], problems=[], unaffected=["shop"], failed_tests=["test_x.py::test_x"]
            ),
            "the run has the verdict inconclusive, but test_x.py::test_x failed",
        ),
    ],
)
def test_results_that_contradict_themselves_are_refused(results, ireval, change, says):
    run = json.loads(results.read_text())
    change(run)
    results.write_text(json.dumps(run))

    for command in ("report", "verdict"):
        done = ireval(command)
        assert done.code == 2
        assert done.err.startswith(
            f"error: ireval-report/results.json\n  is inconsistent, so it may have been edited: {says}"
        )
    assert [path.name for path in results.parent.iterdir()] == ["results.json"]


@pytest.mark.parametrize(
    ("verdict", "code", "says"),
    [
        ("pass", 0, "Nothing was checked: 1 suite not affected by the change.\n"),
        ("fail", 1, "Not safe to land: the Python test test_x.py::test_x failed; 1 suite not affected"),
        ("error", 2, "Could not be judged: a baseline is gone.\n"),
    ],
)
def test_the_verdict_is_told_with_an_exit_code(results, ireval, verdict, code, says):
    run = replace(
        full_run(),
        verdict=verdict,
        suites=(),
        unaffected=("shop",),
        failed_tests=("test_x.py::test_x",) if verdict == "fail" else (),
        problems=("a baseline is gone",) if verdict == "error" else (),
        warnings=(),
        accepted=(),
    )
    results.write_text(format_results(run))

    done = ireval("verdict", "ireval-report")

    assert (done.code, done.err) == (code, "")
    assert done.out.startswith(says)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_place_of_the_results_is_not_waited_for(results, ireval):
    results.unlink()
    os.mkfifo(results)

    done = ireval("report", "ireval-report/results.json")

    assert (done.code, done.err) == (2, "error: ireval-report/results.json\n  is a pipe or a device, not a file\n")
