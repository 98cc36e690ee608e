"""What a run leaves for a pull request: files, the page of a step, annotations, and a terminal that can be read."""

import re
import xml.etree.ElementTree as ET

import pytest

from pytest_ireval.pytest_plugin.code_host import source_links
from pytest_ireval.report.results_file import read_run

FILES = ["results.json", "summary.md", "metrics.txt"]
HOSTILE = "::set-output name=x::y"


@pytest.fixture
def accepted_shop(accepted_shop, monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "GITHUB_REPOSITORY", "CI_PROJECT_URL"):
        monkeypatch.delenv(name, raising=False)
    return accepted_shop


@pytest.fixture
def red_shop(accepted_shop):
    accepted_shop.rankings["q10"] = ["q10-n1"]
    accepted_shop.write()
    return accepted_shop


@pytest.fixture
def in_github(monkeypatch, red_shop):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(red_shop.path))
    return red_shop


def report(shop, folder="ireval-report"):
    return {name: (shop.path / folder / name).read_text(encoding="utf-8") for name in FILES}


def annotations(result):
    return [line for line in result.outlines if line.startswith("::")]


def test_a_run_writes_all_files_names_them_and_writes_the_same_again(red_shop):
    result = red_shop.run()

    result.stdout.fnmatch_lines([f"written: ireval-report/{name}" for name in FILES])
    files = report(red_shop)
    assert files["summary.md"].startswith(
        "<!-- pytest-ireval summary -->\n**Not safe to land**: searches in shop got 10% worse"
    )
    assert 'ireval_suite_pass{suite="shop"} 0.0\n' in files["metrics.txt"]
    assert files["metrics.txt"].endswith("# EOF\n")
    red_shop.run()
    assert report(red_shop) == files


def test_reports_go_to_another_folder_or_to_none(red_shop):
    red_shop.run("--ireval-report", "out/nightly")
    none = red_shop.run("--ireval-report", "none")
    empty = red_shop.run("--ireval-report", "")

    assert report(red_shop, "out/nightly")["summary.md"].startswith("<!-- pytest-ireval summary: nightly -->\n")
    assert not (red_shop.path / "ireval-report").exists()
    assert "written:" not in none.stdout.str()
    assert empty.ret == pytest.ExitCode.USAGE_ERROR
    assert empty.stderr.str().strip() == "ERROR: --ireval-report is empty\n  --ireval-report none writes no files"
    assert not (red_shop.path / "results.json").exists()


def test_a_folder_with_a_page_of_others_gets_no_report(red_shop):
    site = red_shop.path / "site"
    site.mkdir()
    (site / "index.html").write_text("<h1>Our site</h1>")

    by_option = red_shop.run("--ireval-report", "site")
    red_shop.pytester.makeini("[pytest]\nireval = true\nireval_report = site\n")
    by_ini = red_shop.pytester.runpytest("-p", "no:cacheprovider")

    assert by_option.stderr.str().strip() == (
        "ERROR: site/index.html\n  is not a file of pytest-ireval, and is not overwritten\n"
        "  --ireval-report DIR writes to another folder, none writes no files"
    )
    assert by_ini.ret != 0
    by_ini.stdout.fnmatch_lines(["problem: site/index.html: is not a file of pytest-ireval, and is not overwritten; *"])
    assert [path.read_text() for path in site.iterdir()] == ["<h1>Our site</h1>"]


def test_a_folder_that_was_there_gets_one_report_after_the_other(red_shop):
    (red_shop.path / "public").mkdir()

    for _ in range(2):
        assert red_shop.run("--ireval-report", "public").ret == 1
        assert "<h1" in (red_shop.path / "public/index.html").read_text(encoding="utf-8")


def test_no_file_of_an_earlier_run_outlives_one_that_ends_early(accepted_shop):
    accepted_shop.run_before()
    assert "Safe to land" in report(accepted_shop)["summary.md"]
    (accepted_shop.path / "conftest.py").write_text("raise RuntimeError")

    assert accepted_shop.run().ret != 0

    files = report(accepted_shop)
    assert files["summary.md"].splitlines()[1] == "**Could not be judged**: the run did not end."
    assert "\nireval_pass 0.0\n" in files["metrics.txt"]
    assert '"the run did not end"' in files["results.json"]


@pytest.mark.parametrize("name", FILES[:2])
def test_a_file_that_cannot_be_written_is_named_and_red(accepted_shop, monkeypatch, name):
    accepted_shop.run_before()
    page = accepted_shop.path / "page.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    path = accepted_shop.path / "ireval-report" / name
    path.unlink()
    path.mkdir()

    result = accepted_shop.run()

    assert result.ret == 1
    result.stdout.fnmatch_lines([f"problem: {path}: cannot be written: Is a directory; *"])
    others = [f"written: ireval-report/{other}" for other in FILES if other != name]
    result.stdout.fnmatch_lines(others)
    assert "**Safe to land**" not in page.read_text()
    assert "**Could not be judged**" in page.read_text()
    assert "\nireval_pass 0.0\n" in (path.parent / "metrics.txt").read_text()
    if name != "results.json":
        assert accepted_shop.results()["verdict"] == "error"


def test_each_run_is_added_to_the_page_of_the_step(red_shop, monkeypatch):
    page = red_shop.path / "step.md"
    page.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))

    red_shop.run()
    red_shop.run("--ireval-report", "none")

    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n\n<!-- pytest-ireval summary -->\n**Not safe to land**")
    assert text.count("\n\n<!-- pytest-ireval summary -->\n") == 2
    assert report(red_shop)["summary.md"] in text


@pytest.mark.parametrize(
    ("content", "flags", "says"),
    [
        (None, (), "the summary of this run cannot be written: Is a directory"),
        ("x" * 1_048_500, ("-q",), "has no room for the summary of this run: a step's summary holds 1,048,576 bytes"),
    ],
    ids=["a folder", "a full page"],
)
def test_a_page_that_cannot_be_written_is_said_and_changes_no_verdict(accepted_shop, monkeypatch, content, flags, says):
    page = accepted_shop.path / "step"
    page.mkdir() if content is None else page.write_text(content)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))

    green = accepted_shop.run(*flags)
    accepted_shop.rankings["q10"] = ["q10-n1"]
    accepted_shop.write()
    red = accepted_shop.run(*flags)

    assert (green.ret, red.ret) == (0, 1)
    green.stdout.fnmatch_lines([f"warning: {page}: {says}"])


def test_red_rules_are_marked_in_github_alone(in_github, monkeypatch):
    for flags in ((), ("-qq", "--ireval-report", "none")):
        first, second = annotations(in_github.run(*flags))

        assert first == (
            "::error file=shop.ireval.yaml,line=13,title=shop%3A no_regression%3A%3AnDCG_10.all::"
            "nDCG@10 fell 10.0%25 (tolerance 5%25)%0A1 of 10 queries (0.3%25 of all searches) "
            "lost its best document.%0AOwner @search-team."
        )
        assert ",line=14,title=shop%3A no_regression%3A%3AnDCG_10.segment-tail::" in second
    monkeypatch.setenv("GITHUB_WORKSPACE", str(in_github.path.parent))
    below = annotations(in_github.run())
    assert below[0].startswith(f"::error file={in_github.path.name}/shop.ireval.yaml,line=13,")
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert annotations(in_github.run()) == []


def test_a_plugin_that_marks_failures_is_left_to_it(in_github):
    (in_github.path / "pytest_github_actions_annotate_failures.py").write_text("")
    in_github.pytester.syspathinsert()
    plugin = ("-p", "pytest_github_actions_annotate_failures")

    assert annotations(in_github.run(*plugin)) == []
    (in_github.path / "judgments.txt").write_text("nothing of use\n")
    assert len(annotations(in_github.run(*plugin))) == 1


def test_no_text_of_a_query_is_a_command(in_github):
    table = (in_github.path / "queries.tsv").read_text()
    (in_github.path / "queries.tsv").write_text(table.replace("words 10", f"{HOSTILE} ##[error]z"))
    in_github.change(
        ("{query: q01, document: q01-d0, top: 3}", f'{{query: q01, document: "{HOSTILE}", top: 3}}'),
        ("rules:", 'waive: [{query: q02, until: 2000-01-01, reason: "::warning::x ##[stop-commands]y"}]\nrules:'),
    )

    for flags in (("-vv",), ("--tb=short", "-rA")):
        result = in_github.run(*flags)
        printed = [line.strip() for line in result.outlines + result.errlines]
        ours = set(annotations(result))
        assert len(ours) == 4
        assert [line for line in printed if line.startswith("::") and line not in ours] == []
        assert [line for line in printed if "##[" in line] == []


def test_no_text_is_a_command_of_azure(shop, monkeypatch):
    hostile = "##vso[task.setvariable variable=x]y"
    shop.change(("document: q01-d0, top: 3", f'document: "{hostile}", top: 3'))
    monkeypatch.delenv("TF_BUILD", raising=False)
    elsewhere = shop.run().stdout.str()
    monkeypatch.setenv("TF_BUILD", "True")
    azure = shop.run().stdout.str()

    assert ("## vso[task.setvariable" in azure, "##vso[" in azure) == (True, False)
    assert ("## vso[task.setvariable" in elsewhere, "##vso[" in elsewhere) == (False, True)


def test_an_error_of_collection_is_no_command(in_github):
    in_github.change(("suite: shop", 'suite: "::error::x ##[error]y"'), ("depth: 10", f'depth: "\\n{HOSTILE} ##[a]"'))

    printed = [line.strip() for line in in_github.run().outlines]

    assert [line for line in printed if line.startswith("::") and not line.startswith("::error file=shop")] == []
    assert [line for line in printed if "##[" in line] == []


def test_no_file_holds_what_a_terminal_obeys(red_shop):
    table = (red_shop.path / "queries.tsv").read_text()
    (red_shop.path / "queries.tsv").write_text(table.replace("words 10", "\x1b[31mred\x1b[0m"))

    result = red_shop.run("--color=yes", "--junit-xml=junit.xml", "-vv")

    assert "\x1b[31m" in result.stdout.str()
    written = {**report(red_shop), "junit.xml": (red_shop.path / "junit.xml").read_text(encoding="utf-8")}
    assert [name for name, text in written.items() if "\x1b" in text or "#x1B" in text] == []
    assert "x1b[31mred" in written["summary.md"].replace("&#91;", "[")


def many(number):
    """A rule for each of so many bounds that do not hold."""
    return "".join(f"  - threshold: {{metric: nDCG@10, min: 0.999{i:03}, name: r{i}}}\n" for i in range(number))


def list_whole_failures(text):
    """Titles of the failures that show more than headline and sentence."""
    _, *told = re.split(r"\n_{3,} (.+?) _{3,}\n", text)
    return {title for title, said in zip(told[::2], told[1::2], strict=True) if "lowest queries" in said}


FIRST_OF_THE_PLAN = {f"shop :: threshold :: nDCG_10.r{i}" for i in range(20)}


def test_of_many_red_rules_the_first_of_the_plan_are_shown_whole_whatever_ran_first(red_shop):
    red_shop.change(("rules:\n", f"rules:\n{many(30)}"))
    (red_shop.path / "conftest.py").write_text("def pytest_collection_modifyitems(items): items.reverse()\n")

    brief = red_shop.run()
    assert brief.stdout.str().count("nDCG@10 is 0.9000 (must be >= 0.999") == 20 + 30  # the list, and pytest's summary
    brief.stdout.fnmatch_lines(["   1  *, line 12", "  20  *, line 31", "  … and 12 more checks: -v shows all"])

    result = red_shop.run("-v")
    text = result.stdout.str()
    shown = [line for line in result.outlines if "nDCG@10 is 0." in line and line.startswith("shop.ireval.yaml:")]
    short = [line for line in result.outlines if line.startswith("  one of more than 20 red verdicts of this suite: ")]
    assert (len(shown), len(short)) == (30, 30 + 2 - 20)
    assert short[0].endswith("ireval-report/results.json and -vv show the rest")
    assert list_whole_failures(text) == FIRST_OF_THE_PLAN
    assert red_shop.run("-vv").stdout.str().count("lowest queries") == 30


@pytest.mark.ci
def test_with_several_processes_the_same_are_short_and_marked_once(in_github, monkeypatch):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    page = in_github.path / "step.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    in_github.change(("rules:\n", f"rules:\n{many(25)}"))

    result = in_github.pytester.runpytest_subprocess("--ireval", "-p", "no:cacheprovider", "-n2", "-v")

    assert list_whole_failures(result.stdout.str()) == FIRST_OF_THE_PLAN
    assert len(annotations(result)) == 10
    assert page.read_text(encoding="utf-8").count("<!-- pytest-ireval summary -->") == 1


def test_junit_names_what_gitlab_shows_and_what_was_accepted(red_shop):
    def find_tail():
        cases = ET.parse(red_shop.path / "junit.xml").getroot().iter("testcase")
        (case,) = [case for case in cases if "tail" in case.get("name")]
        return case, {each.get("name"): each.get("value") for each in case.iter("property")}

    red_shop.run("--junit-xml=junit.xml", "-o", "junit_family=xunit1")
    case, properties = find_tail()
    assert (case.get("classname"), case.get("name")) == ("shop.ireval.yaml.no_regression", "nDCG_10.segment-tail")
    assert (case.get("file"), case.get("line")) == ("shop.ireval.yaml", "13")
    assert case.find("failure").get("message").startswith("nDCG@10 fell")
    assert (properties["ireval_verdict"], properties["ireval_metric"]) == ("fail", "nDCG@10")
    assert "ireval_accepted" not in properties

    red_shop.run("--junit-xml=junit.xml", "--ireval-update", "--ireval-reason", "fine").assert_outcomes(passed=7)
    _, properties = find_tail()
    assert (properties["ireval_verdict"], properties["ireval_accepted"]) == ("pass", "true")
    assert "5 of 7 checks passed; 2 failed and were accepted" in report(red_shop)["summary.md"]


def test_places_are_linked_in_github_and_gitlab(red_shop, monkeypatch):
    for name, value in (("SERVER_URL", "https://github.com"), ("REPOSITORY", "acme/shop"), ("SHA", "3b1c0ff")):
        monkeypatch.setenv(f"GITHUB_{name}", value)
    red_shop.run()
    github = "https://github.com/acme/shop/blob/3b1c0ff/shop.ireval.yaml#L13"
    assert f"[`shop.ireval.yaml:13`]({github})" in report(red_shop)["summary.md"]

    monkeypatch.delenv("GITHUB_REPOSITORY")
    monkeypatch.setenv("CI_PROJECT_URL", "https://gitlab.com/acme/shop")
    monkeypatch.setenv("CI_COMMIT_SHA", "3b1c0ff")
    monkeypatch.setenv("CI_PROJECT_DIR", str(red_shop.path.parent))
    gitlab = f"https://gitlab.com/acme/shop/-/blob/3b1c0ff/{red_shop.path.name}/shop.ireval.yaml#L13"
    assert source_links(red_shop.path).address("shop.ireval.yaml", 13) == gitlab
    monkeypatch.setenv("CI_PROJECT_URL", "javascript:alert(1)//")
    assert source_links(red_shop.path).address("shop.ireval.yaml", 13) == ""
    monkeypatch.setenv("CI_PROJECT_URL", "https://gitlab.com/acme/shop")
    monkeypatch.setenv("CI_PROJECT_DIR", str(red_shop.path / "elsewhere"))  # the run is not in the repository
    assert source_links(red_shop.path).base == ""


def test_a_workspace_that_is_a_link_is_the_folder_that_it_leads_to(in_github, monkeypatch, tmp_path):
    link = tmp_path / "workspace"
    link.symlink_to(in_github.path)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(link))

    assert source_links(in_github.path).path(str(in_github.path / "common.yaml")) == "common.yaml"


def test_a_large_run_is_written_in_parts_and_means_the_same(red_shop, ireval, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795374000")
    red_shop.run()
    whole = read_run(red_shop.path / "ireval-report")
    page = (red_shop.path / "ireval-report/index.html").read_bytes()

    monkeypatch.setattr("pytest_ireval.report.results_file.MAX_SINGLE_FILE", 0)
    result = red_shop.run()
    folder = red_shop.path / "ireval-report"

    assert [path.name for path in (folder / "results.parts").iterdir()] == ["0001-shop.json"]
    result.stdout.no_fnmatch_line("written: *parts*")
    assert read_run(folder) == whole
    monkeypatch.chdir(red_shop.path)
    assert "Not safe to land" in ireval("verdict").out
    (folder / "index.html").unlink()
    ireval("report")
    assert (folder / "index.html").read_bytes() == page

    monkeypatch.setattr("pytest_ireval.report.results_file.MAX_SINGLE_FILE", 1 << 20)
    red_shop.run()
    assert not (folder / "results.parts").exists()
    assert read_run(folder) == whole


def test_parts_of_results_that_cannot_be_written_make_the_run_red(red_shop, monkeypatch):
    red_shop.run_before()
    monkeypatch.setattr("pytest_ireval.report.results_file.MAX_SINGLE_FILE", 0)
    (red_shop.path / "ireval-report/results.parts").write_text("a file of somebody else")

    result = red_shop.run("--ireval-report=ireval-report")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["problem: *results.parts/0001-shop.json: cannot be written: *"])
    assert read_run(red_shop.path / "ireval-report", parts=False).verdict == "error"
    assert (red_shop.path / "ireval-report/results.parts").read_text() == "a file of somebody else"
