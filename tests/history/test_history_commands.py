"""``ireval history``: looking, exporting, deleting, and bringing back what CI forgot."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from made_runs import COMMIT, outcome, run, suite, tail

from pytest_ireval.cli.history_command import command
from pytest_ireval.history.kept import append, kept_run
from pytest_ireval.history.trends import rows
from pytest_ireval.reports.data_files import results_text

FILE = Path(".ireval/history.sqlite")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def filled():
    red = suite("shop", 0.7, outcome(), outcome("segment=tail", "fail", tail()), verdict="fail")
    append(FILE, kept_run(run("2026-03-01T10:00:00Z", red, suite("blog", sd=None))))
    append(FILE, kept_run(run("2026-03-02T11:30:00Z", branch="change", dirty=True, accepted=("shop",), reason="v2")))
    append(FILE, kept_run(run("2026-03-03T12:00:00Z", replace(suite("blog", verdict="error"), metrics=()))))


def write(folder, result):
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, "results.json").write_text(results_text(result), encoding="utf-8")


def test_the_table_shows_the_newest_first(ireval, filled):
    assert ireval("history", "list", "--rows").out == (
        "date              commit   suite  metric   slice          value   change     sd  verdict\n"
        "2026-03-03 12:00  0123456  blog                                                  error    attempt 2\n"
        "2026-03-02 11:30  0123456  shop   nDCG@10  all           0.8000  +0.0500  0.100  pass     "
        "accepted: v2, uncommitted changes\n"
        "2026-03-01 10:00  0123456  shop   nDCG@10  all           0.7000  -0.0500  0.100  pass\n"
        "2026-03-01 10:00  0123456  shop   nDCG@10  segment=tail  0.6000  -0.1000  0.300  fail\n"
        "2026-03-01 10:00  0123456  blog   nDCG@10  all           0.8000  +0.0500         pass\n"
    )


def test_without_a_metric_each_suite_is_a_line_with_what_was_red(ireval, filled):
    assert ireval("history", "list").out == (
        "date              commit   suite  verdict  metric    value   change  red\n"
        "2026-03-03 12:00  0123456  blog   error                                                    attempt 2\n"
        "2026-03-02 11:30  0123456  shop   pass     nDCG@10  0.8000  +0.0500                        "
        "accepted: v2, uncommitted changes\n"
        "2026-03-01 10:00  0123456  shop   fail     nDCG@10  0.7000  -0.0500  nDCG@10 segment=tail\n"
        "2026-03-01 10:00  0123456  blog   pass     nDCG@10  0.8000  +0.0500\n"
    )


def test_filters_leave_what_fits(ireval, filled):
    out = ireval("history", "list", "--suite", "shop", "--since", "2026-03-02").out

    assert [line.split()[:3] for line in out.splitlines()[1:]] == [["2026-03-02", "11:30", "0123456"]]
    assert len(ireval("history", "list", "--branch", "change").out.splitlines()) == 2
    assert "segment=tail" in ireval("history", "list", "--slice", "segment=tail").out


def test_what_is_not_shown_is_counted(ireval, filled):
    out = ireval("history", "list", "--limit", "1").out

    assert out.endswith("\n\n2 earlier runs; --limit shows more\n")
    assert out.count("2026-03-") == 1


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("--suite", "shopp"), "has no suite 'shopp'\n  did you mean 'shop'?\n  available: blog, shop"),
        (("--metric", "ndcg@10"), "has no metric 'ndcg@10'\n  did you mean 'nDCG@10'?\n  available: nDCG@10"),
        (("--suite", "blog", "--branch", "change"), "has no such run"),
        (("--since", "2027-01-01"), "has no such run"),
    ],
)
def test_a_question_without_an_answer_says_what_there_is(ireval, filled, asked, says):
    assert ireval("history", "list", *asked) == (2, "", f"error: .ireval/history.sqlite\n  {says}\n")


def test_json_has_every_column(ireval, filled):
    said = json.loads(ireval("history", "list", "--format", "json", "--limit", "2", "--suite", "shop").out)

    assert (said["format"], said["left"], len(said["rows"])) == (1, 0, 3)
    assert len(said["rows"][0].pop("run_key")) == 32
    assert said["rows"][0] == {
        "date": "2026-03-02T11:30:00Z",
        "commit": COMMIT,
        "branch": "change",
        "dirty": True,
        "origin": "run",
        "run_verdict": "pass",
        "attempt": None,
        "suite": "shop",
        "suite_verdict": "pass",
        "planned": 1,
        "judged": 1,
        "accepted": True,
        "reason": "v2",
        "metric": "nDCG@10",
        "slice": "all",
        "value": 0.8,
        "baseline": 0.75,
        "change": pytest.approx(0.05),
        "sd": 0.1,
        "queries": 3,
        "low": -0.1,
        "high": 0.2,
        "verdict": "pass",
        "repository": "",
        "pull_request": "",
        "link": "",
    }


def test_all_of_it_is_exported_as_csv_and_as_lines_of_json(ireval, filled):
    assert ireval("history", "export", "all.csv").out == "written: all.csv (5 lines)\n"
    assert ireval("history", "export", "all.jsonl").out == "written: all.jsonl (5 lines)\n"

    from_csv = list(csv.DictReader(io.StringIO(Path("all.csv").read_text())))
    from_json = [json.loads(line) for line in Path("all.jsonl").read_text().splitlines()]
    assert [each["slice"] for each in from_json] == ["", "all", "all", "segment=tail", "all"]
    for lines, numbers in zip(from_csv, from_json, strict=True):
        assert lines == {
            name: "" if v is None else str(int(v) if isinstance(v, bool) else v) for name, v in numbers.items()
        }


def test_an_export_can_be_printed(ireval, filled):
    assert ireval("history", "export", "-", "--format", "csv").out.startswith("date,commit,branch,dirty,origin,")
    assert ireval("history", "export", "-").out.count("\n") == 5


def test_runs_before_a_day_are_deleted_after_saying_so(ireval, filled, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    refused = ireval("history", "prune", "--before", "2026-03-03")
    runs = "2 runs of .ireval/history.sqlite would be deleted, of 2026-03-01 to 2026-03-02, 1 acceptance among them"
    said = f"{runs}; 1 would be kept\n"
    assert refused == (1, f"{said}Delete them? [y/N]: ", "")
    assert len({row.run for row in rows(FILE)}) == 3

    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    done = ireval("history", "prune", "--before", "2026-03-03")
    assert done == (0, f"{said}Delete them? [y/N]: deleted 2 runs; 1 run left\n", "")
    assert {row.date[:10] for row in rows(FILE)} == {"2026-03-03"}


def test_the_newest_runs_are_kept(ireval, filled):
    assert ireval("history", "prune", "--keep", "2", "--yes").out.endswith("deleted 1 run; 2 runs left\n")
    assert ireval("history", "prune", "--keep", "2", "--yes").out == (
        "nothing to delete; 2 runs in .ireval/history.sqlite\n"
    )


def test_more_runs_than_any_history_has_are_no_damage(ireval, filled):
    refused = ireval("history", "prune", "--keep", "9" * 30)

    assert refused.code == 2
    assert "is not in the range 0<=x<=1000000000" in refused.err


@pytest.mark.parametrize("asked", [(), ("--keep", "1", "--before", "2026-01-01")], ids=["neither", "both"])
def test_pruning_wants_to_know_what_goes(ireval, filled, asked):
    result = ireval("history", "prune", "--yes", *asked)

    assert result.code == 2
    assert "choose the runs to delete: --before DATE or --keep N" in result.err
    assert len(rows(FILE)) == 5


def test_runs_come_back_from_their_files_each_once(ireval):
    write("artifacts/1", run("2026-03-01T10:00:00Z"))
    write("artifacts/2/deep", run("2026-03-02T10:00:00Z"))
    write("copies", run("2026-03-02T10:00:00Z"))

    assert ireval("history", "rebuild", "artifacts", "copies/results.json").out == "3 files: 2 runs added\n"
    before = rows(FILE)
    assert [(row.date, row.origin) for row in before] == [
        ("2026-03-02T10:00:00Z", "results"),
        ("2026-03-01T10:00:00Z", "results"),
    ]
    assert ireval("history", "rebuild", "artifacts", "copies").out == "3 files: 0 runs added, 2 already known\n"
    assert rows(FILE) == before


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_added(ireval):
    write("good", run())
    write("ended", replace(run(verdict="error", problems=("the run did not end",)), suites=()))
    write("old", run("yesterday"))
    Path("bad").mkdir()
    Path("bad/results.json").write_text("{")

    result = ireval("history", "rebuild", "good", "ended", "old", "bad")

    assert result.code == 1
    assert (
        result.out == "ended/results.json: skipped: a run without a suite (the run did not end)\n4 files: 1 run added\n"
    )
    first, *rest = result.err.splitlines()
    assert first == "not read: old/results.json: date"
    assert rest[2].startswith("not read: bad/results.json")
    assert len(rows(FILE)) == 1


def test_a_folder_without_a_file_adds_nothing(ireval, here):
    Path("empty").mkdir()

    assert ireval("history", "rebuild", "empty").out == "0 files: 0 runs added\n"
    assert not FILE.exists()


def test_rebuilding_wants_to_know_of_what(ireval):
    assert "nothing to add" in ireval("history", "rebuild").err


def test_acceptances_come_back_from_git_each_once(ireval, repository):
    repository.accept(1, 0.5, "the first")
    repository.accept(2, 0.6, "synonyms")

    assert ireval("history", "rebuild", "--from-git").out == "2 versions of baselines in git: 2 acceptances added\n"
    assert ireval("history", "rebuild", "--from-git").out == (
        "2 versions of baselines in git: 0 acceptances added, 2 already known\n"
    )
    assert ireval("history", "list", "--metric", "nDCG@10").out == (
        "date              commit   suite  metric   slice   value  change  sd  verdict\n"
        "2026-01-02 10:00  0000000  shop   nDCG@10  all    0.6000                       accepted: synonyms, from git\n"
        "2026-01-01 10:00  0000000  shop   nDCG@10  all    0.5000                       accepted: the first, from git\n"
    )


def test_in_a_folder_below_the_history_of_the_repository_is_taken(ireval, repository, filled, monkeypatch):
    below = Path("suites/de")
    below.mkdir(parents=True)
    monkeypatch.chdir(below)

    assert ireval("history", "list", "--limit", "1").code == 0


def test_without_a_history_it_is_said_where_one_is(ireval):
    append(Path("suites/.ireval/history.sqlite"), kept_run(run()))

    assert ireval("history", "list") == (
        2,
        "",
        "error: no .ireval/history.sqlite in this folder or above it\n"
        "  --history suites/.ireval/history.sqlite names the one below, or ireval_history in pytest's ini file\n"
        "  each run of pytest --ireval adds to the history in pytest's rootdir; ireval history rebuild makes one\n",
    )
    assert "nDCG@10" in ireval("history", "list", "--history", "suites/.ireval/history.sqlite").out


INI_FILES = {
    "pytest.ini": "[pytest]\nireval_history = build/runs.sqlite\naddopts = --of-a-plugin -p plugin_that_is_gone\n",
    "tox.ini": "[pytest]\nireval_history = build/runs.sqlite\n",
    "setup.cfg": "[tool:pytest]\nireval_history = build/runs.sqlite\n",
    "pyproject.toml": "[tool.pytest.ini_options]\nireval_history = 'build/runs.sqlite'\n",
}


@pytest.fixture
def in_another_file(here):
    append(here / "build/runs.sqlite", kept_run(run("2026-05-01T10:00:00Z")))


@pytest.mark.parametrize("name", INI_FILES)
@pytest.mark.parametrize("folder", [".", "suites/de"])
def test_the_ini_file_names_the_history_as_it_does_for_a_run(ireval, here, in_another_file, name, folder, monkeypatch):
    Path(name).write_text(INI_FILES[name])
    Path(folder).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)

    assert "2026-05-01 10:00" in ireval("history", "list").out
    assert ireval("history", "prune", "--keep", "1").out == (
        f"nothing to delete; 1 run in {here / 'build/runs.sqlite' if folder != '.' else 'build/runs.sqlite'}\n"
    )
    assert ireval("history", "export", "-").out.count("\n") == 1


def test_an_option_names_a_history_before_the_ini_file_does(ireval, filled, in_another_file):
    Path("pytest.ini").write_text(INI_FILES["pytest.ini"])

    assert ireval("history", "prune", "--keep", "9", "--history", FILE).out == f"nothing to delete; 3 runs in {FILE}\n"


def test_a_history_of_the_ini_file_is_created(ireval):
    Path("pytest.ini").write_text("[pytest]\nireval_history = ${BUILD:-build}/runs.sqlite\n")
    write("artifacts", run())

    assert ireval("history", "rebuild", "artifacts").out == "1 file: 1 run added\n"
    assert ireval("history", "push", "team.sqlite").out == "1 run sent to team.sqlite, 0 already known\n"
    assert [path.as_posix() for path in Path().glob("*/*.sqlite")] == ["build/runs.sqlite"]


def test_a_history_of_the_ini_file_that_is_not_there_yet_is_named(ireval):
    Path("pytest.ini").write_text(INI_FILES["pytest.ini"])

    assert ireval("history", "list") == (
        2,
        "",
        "error: build/runs.sqlite\n"
        "  does not exist yet; ireval_history of pytest.ini names it as the history\n"
        "  --history FILE names another one\n",
    )


def test_a_folder_below_rootdir_has_the_history_of_rootdir_without_git(ireval, filled, monkeypatch):
    Path("pytest.ini").write_text("[pytest]\n")
    Path("suites").mkdir()
    monkeypatch.chdir("suites")

    assert "2026-03-03" in ireval("history", "list").out


def test_a_folder_that_the_ini_file_names_is_called_one(ireval, here):
    (here / "suites").mkdir()
    Path("pytest.ini").write_text("[pytest]\nireval_history = suites\n")

    assert ireval("history", "list").err.startswith("error: suites\n  is a folder; ireval_history of pytest.ini names")


def test_a_history_that_is_turned_off_is_shown_with_a_note(ireval, filled):
    Path("pytest.ini").write_text("[pytest]\nireval_history = none\n")

    done = ireval("history", "list")
    assert (done.code, done.err) == (
        0,
        "ireval_history of pytest.ini is none, so runs are not stored; .ireval/history.sqlite has those of before\n",
    )


@pytest.mark.parametrize("setting", ["none", "postgresql://host/team", "${TEAM}"])
def test_a_setting_that_names_no_file_leaves_the_usual_one(ireval, filled, setting):
    Path("pytest.ini").write_text(f"[pytest]\nireval_history = {setting}\n")

    assert "2026-03-03" in ireval("history", "list").out


def test_a_shared_history_may_be_named_by_the_ini_file(ireval, filled, monkeypatch):
    Path("pytest.ini").write_text("[pytest]\nireval_history = ${TEAM}\n")

    assert ireval("history", "push").err == "error: ireval_history\n  TEAM is not set\n"
    monkeypatch.setenv("TEAM", "sqlite:///team.sqlite")
    assert ireval("history", "push").out == "3 runs sent to sqlite:///team.sqlite, 0 already known\n"
    assert ireval("history", "pull").out.endswith(" into .ireval/history.sqlite, 3 already known\n")


@pytest.mark.parametrize(
    ("name", "text"), [("pytest.ini", "[pytest\n"), ("setup.cfg", "[pytest]\nireval_history = build/runs.sqlite\n")]
)
def test_an_ini_file_that_pytest_cannot_read_is_an_error_that_an_option_avoids(ireval, filled, name, text):
    Path(name).write_text(text)

    refused = ireval("history", "list")

    assert refused.code == 2
    assert f"{name}" in refused.err
    assert "--history FILE names a history, and then the ini file is not read" in refused.err
    assert ireval("history", "list", "--history", FILE).code == 0


@pytest.mark.parametrize("name", command.commands)
def test_help_tells_what_a_command_does(ireval, name):
    assert f"\n  {name} " in ireval("history", "--help").out
    assert ireval("history", name, "--help").out.startswith(f"Usage: ireval history {name} [OPTIONS]")


def test_a_number_without_end_is_a_file_that_cannot_be_read(ireval):
    write("artifacts/1", run("2026-03-01T10:00:00Z"))
    write("artifacts/2", run("2026-03-02T10:00:00Z"))
    file = Path("artifacts/2/results.json")
    file.write_text(re.sub(r'"now": [0-9.]+', f'"now": {"9" * 400}', file.read_text(), count=1))

    result = ireval("history", "rebuild", "artifacts")

    assert result.code == 1
    assert result.out == "2 files: 1 run added\n"
    assert result.err.startswith("not read: artifacts/2/results.json: ")
