"""Sending and fetching runs, with files of SQLite in place of a server; and what a setting names."""

import sqlite3
import sys
from pathlib import Path

import pytest
from made_runs import run, suite

from pytest_ireval import secrets
from pytest_ireval.errors import HistoryError, IrevalError
from pytest_ireval.history import shared as module
from pytest_ireval.history import spreads, trend
from pytest_ireval.history.kept import NO_JOB, Job, append, job_at, kept_run
from pytest_ireval.history.shared import HistoryPlace, Shared, history_place, mark_of, pull, push, waiting
from pytest_ireval.history.trends import rows, with_trends
from pytest_ireval.pytest_adapter.history import RunHistory

FILE = Path(".ireval/history.sqlite")
CI = ("GITHUB_ACTIONS", "GITHUB_REF", "GITLAB_CI", "CI_MERGE_REQUEST_IID", "JENKINS_URL", "GIT_URL", "CHANGE_ID")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    for name in (*CI, "IREVAL_HISTORY", "BUILD_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(secrets.KNOWN, "_names", {})
    monkeypatch.setattr(secrets.KNOWN, "_pattern", None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(path, *days, job=NO_JOB, **more):
    for day in days:
        append(path, kept_run(run(f"2026-03-{day:02}T10:00:00Z", suite(now=day / 100), **more), job=job))


@pytest.mark.parametrize("address", ["team.sqlite", "sqlite:///team.sqlite", "sqlite+pysqlite:///team.sqlite?x=1"])
def test_a_file_may_be_the_shared_database_and_needs_no_package(address, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    fill(FILE, 1, 2)
    opened = Shared(address)

    assert (push(FILE, opened), push(FILE, opened)) == ((2, 0), (0, 2))
    assert pull(Path("other.sqlite"), opened) == (2, 0)
    assert sorted(row.date[:10] for row in rows(Path("team.sqlite"))) == ["2026-03-01", "2026-03-02"]


def test_what_was_sent_no_longer_waits_and_another_address_has_its_own_count():
    fill(FILE, 1, 2)
    assert len(waiting(FILE, "team.sqlite")) == 2

    push(FILE, Shared("team.sqlite"))
    fill(FILE, 3)

    assert len(waiting(FILE, "team.sqlite")) == 1
    assert len(waiting(FILE, "elsewhere.sqlite")) == 3


def test_commands_send_and_fetch(ireval, monkeypatch):
    fill(FILE, 1, 2, job=Job("acme/search"))
    fill(FILE, 3, job=Job("acme/maps"))

    assert ireval("history", "push", "team.sqlite").out == "3 runs sent to team.sqlite, 0 already known\n"
    monkeypatch.setenv("IREVAL_HISTORY", "team.sqlite")
    assert ireval("history", "push").out == "0 runs sent to team.sqlite, 3 already known\n"
    into = ("--history", "mine.sqlite")
    assert ireval("history", "pull", *into, "--repository", "acme/maps").out == (
        "1 run fetched from team.sqlite into mine.sqlite, 0 already known\n"
    )
    assert ireval("history", "pull", "${IREVAL_HISTORY}", *into).out == (
        "2 runs fetched from team.sqlite into mine.sqlite, 1 already known\n"
    )
    listed = ireval("history", "list", *into, "--repository", "acme/maps").out.splitlines()
    assert [line[:10] for line in listed] == ["date      ", "2026-03-03"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("push",), "name the shared history: URL, or IREVAL_HISTORY, or an address in ireval_history of the ini file"),
        (("push", "${NOTHING}"), "error: ${NOTHING}\n  NOTHING is not set\n"),
        (("push", "sqlite://"), "error: sqlite://\n  names no file\n  allowed: sqlite:///folder/history.sqlite\n"),
        (("push", "postgresql://ada:short@host/x"), "error: postgresql://host/x\n  the password in the address has"),
        (("push", "oracel://host/x"), "error: oracel://host/x\n  cannot be opened: Can't load plugin"),
        (("push", "postgresql://host:port/x"), "error: postgresql://host:port/x\n  cannot be opened: "),
        (("pull", "team.sqlite"), "error: team.sqlite\n  has no history\n  ireval history push makes one\n"),
        (("pull", FILE, "--repository", "acme"), "has no run of the repository 'acme'"),
    ],
)
def test_a_wrong_address_is_an_error(ireval, arguments, says):
    fill(FILE, 1)
    result = ireval("history", *arguments)

    assert result.code == 2
    assert says in result.err


def test_a_missing_package_is_named(ireval, monkeypatch):
    fill(FILE, 1)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)

    assert ireval("history", "push", "postgresql://host/x").err == (
        "error: postgresql://host/x\n  needs sqlalchemy\n"
        "  pip install 'pytest-ireval[sql]', and the database's driver, such as 'psycopg[binary]'\n"
    )


@pytest.mark.parametrize(
    ("told", "place"),
    [
        ("build/runs.sqlite", HistoryPlace(Path("root/build/runs.sqlite"))),
        ("${FOLDER}/runs.sqlite", HistoryPlace(Path("root/build/runs.sqlite"))),
        ("postgresql://db/team", HistoryPlace(Path("root") / FILE, "postgresql://db/team")),
        ("${TEAM}", HistoryPlace(Path("root") / FILE, "postgresql://ada:s3cret@db/team")),
        ("${NOTHING:-sqlite:///x}", HistoryPlace(Path("root") / FILE, "sqlite:///x")),
        ("${NOTHING}", HistoryPlace(Path("root") / FILE, "", "NOTHING")),
        ("${EMPTY}", HistoryPlace(Path("root") / FILE, "", "EMPTY")),
        ("postgresql://ada:${EMPTY}@db/team", HistoryPlace(Path("root") / FILE, "", "EMPTY")),
        ("cost$$", HistoryPlace(Path("root/cost$"))),
    ],
)
def test_a_setting_names_a_file_or_an_address(told, place, monkeypatch):
    for name, value in {"FOLDER": "build", "TEAM": "postgresql://ada:s3cret@db/team", "EMPTY": ""}.items():
        monkeypatch.setenv(name, value)

    assert history_place(told, Path("root")) == place


def test_a_variable_that_is_none_is_an_error():
    with pytest.raises(HistoryError, match="begins no variable"):
        history_place("${1}", Path())


@pytest.mark.parametrize(
    ("address", "hidden"),
    [
        ("postgresql://ada:pass-word-1@db/team", "pass-word-1"),
        ("postgresql://ada:pass%2Fword-1@db/team", "pass/word-1"),
        ("postgresql://ada:pa/ss@word-1@db/team", "pa/ss@word-1"),
        ("mysql://db/team?password=pass-word-1&charset=utf8mb4", "pass-word-1"),
    ],
)
def test_no_message_shows_a_password(address, hidden):
    pytest.importorskip("sqlalchemy")
    with pytest.raises(HistoryError) as caught:
        push(FILE, Shared(address.replace("://", "+nothing://")))

    assert hidden not in str(caught.value)
    assert hidden not in secrets.hidden(f"refused: {hidden} of {address}")
    assert secrets.hidden("utf8mb4 ada postgresql") == "utf8mb4 ada postgresql"


@pytest.mark.parametrize(
    ("variables", "job"),
    [
        (
            {
                "GITHUB_ACTIONS": "true",
                "GITHUB_REPOSITORY": "acme/search",
                "GITHUB_REF": "refs/pull/12/merge",
                "GITHUB_SERVER_URL": "https://github.com",
                "GITHUB_RUN_ID": "7",
            },
            ("acme/search", "12", "https://github.com/acme/search/actions/runs/7"),
        ),
        (
            {
                "GITHUB_ACTIONS": "true",
                "GITHUB_REPOSITORY": "acme/search",
                "GITHUB_REF": "refs/heads/main",
                "GITHUB_SERVER_URL": "javascript:alert(1)",
            },
            ("acme/search", "", ""),
        ),
        (
            {
                "GITLAB_CI": "true",
                "CI_PROJECT_PATH": "acme/team/search",
                "CI_MERGE_REQUEST_IID": "3",
                "CI_JOB_URL": "https://gitlab.example/-/jobs/9",
            },
            ("acme/team/search", "3", "https://gitlab.example/-/jobs/9"),
        ),
        (
            {
                "JENKINS_URL": "https://ci.example/",
                "GIT_URL": "https://ada:token@git.example/acme/search.git",
                "CHANGE_ID": "5",
                "BUILD_URL": "https://ci.example/job/1/",
            },
            ("acme/search", "5", "https://ci.example/job/1/"),
        ),
        ({}, ("", "", "")),
    ],
    ids=["GitHub", "GitHub without a pull request", "GitLab", "Jenkins", "no CI"],
)
def test_the_job_is_known_from_the_variables_of_its_ci(monkeypatch, here, variables, job):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert job_at(here) == job


@pytest.mark.parametrize(
    ("remote", "name"),
    [
        ("git@github.com:acme/search.git", "acme/search"),
        ("https://ada:token@gitlab.example/acme/team/search.git", "acme/team/search"),
        ("ssh://git@git.example:7999/acme/search", "acme/search"),
        ("git.example:acme/search/", "acme/search"),
        ("https://u:pa/ssw0rdSECRET@host/acme/search.git", "acme/search"),
        ("https://u:7/xSECRET@host:8443/acme/search.git", "acme/search"),
        ("https://u:x?SE#CR@ET@host/acme/search.git", "acme/search"),
        ("HTTPS://tok@h/a/b", "a/b"),
        ("ssh://git@[::1]:22/acme/search", "acme/search"),
        ("https://u:xSECRET@host", ""),
        ("https://host/acme/search?by=tok@h", ""),
        ("FILE:///srv/git/search.git", ""),
        ("/srv/git/search.git", ""),
        ("file:///srv/git/search.git", ""),
        ("../search", ""),
    ],
)
def test_without_ci_the_repository_has_the_name_of_its_remote(repository, remote, name):
    repository.git("remote", "add", "origin", remote)

    assert job_at(repository.path) == (name, "", "")


def test_suites_of_one_name_in_other_repositories_are_others(repository):
    repository.git("remote", "add", "origin", "git@host:acme/search.git")
    fill(FILE, 1, job=Job("acme/search"))
    fill(FILE, 2, job=Job("acme/maps"))
    fill(FILE, 3)

    found = with_trends(FILE, run("2026-03-09T10:00:00Z"), "acme/search")

    assert [point.value for point in found.suites[0].trends[0].points] == [0.01, 0.03, 0.8]
    assert [point.value for point in trend(FILE, "shop", "nDCG@10")] == [0.01, 0.03]
    assert spreads(FILE, "shop", "main") == {("nDCG@10", "all"): [0.1, 0.1]}
    assert {row.repository: row.attempt for row in rows(FILE)} == {"acme/search": 1, "acme/maps": 1, "": 1}


class Reporter:
    """Takes the lines of the terminal."""

    def __init__(self):
        self.lines = []

    def write_line(self, line, **_):
        self.lines.append(line)


def remembered(address, day, path=FILE, unset=""):
    """A run as the gate remembers it; the earlier values beside it, and what the terminal says."""
    history, reporter = RunHistory(HistoryPlace(path, address, unset), Path.cwd()), Reporter()
    result = history.with_trends(run(f"2026-03-{day:02}T10:00:00Z", suite(now=day / 100)))
    history.append(result)
    history.tell(reporter)
    return [point.value for each in result.suites[0].trends for point in each.points], reporter.lines


def test_a_run_fetches_earlier_ones_and_is_sent():
    fill(Path("team.sqlite"), 1, 2)

    assert remembered("team.sqlite", 3) == ([0.01, 0.02, 0.03], [])
    assert remembered("team.sqlite", 4, Path("runner/history.sqlite")) == ([0.01, 0.02, 0.03, 0.04], [])
    assert len(rows(Path("team.sqlite"))) == 4


def test_a_run_waits_while_the_database_is_away_and_is_sent_with_the_next():
    Path("team.sqlite").mkdir()
    for day, runs, them in ((1, "1 run", "it"), (2, "2 runs", "them")):
        _, lines = remembered("team.sqlite", day)
        assert lines == [
            f"warning: {runs} of this machine not in the shared history yet: team.sqlite cannot be used: "
            f"unable to open database file; the next run sends {them}, or ireval history push"
        ]
    Path("team.sqlite").rmdir()

    assert remembered("team.sqlite", 3)[1] == ["sent to team.sqlite: this run, and 2 runs that waited"]
    assert len(rows(Path("team.sqlite"))) == 3


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("sqlite://", "sqlite:// names no file; allowed: sqlite:///folder/history.sqlite"),
        ("oracel://host/x", "oracel://host/x cannot be opened: Can't load plugin"),
    ],
)
def test_an_address_that_is_wrong_is_not_said_to_be_reached_by_the_next_run(address, says):
    for day in (1, 2):
        (line,) = remembered(address, day)[1]
        assert line.startswith(f"warning: this run is not in the shared history: {says}")
        assert "next run" not in line


TEAM = "postgresql://ada:pass-word-1@host/team"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("postgresql://ada:pass-word-2@host/team", True),
        ("postgresql://ada:7/pass@word-2@host/team", False),  # it cannot be used
        (TEAM + "?sslpassword=pass-word-3", True),
        (TEAM + "?options=-csearch_path%3Dteam_a", False),
        (TEAM + "?host=/socket", False),
        ("postgresql://bob:pass-word-1@host/team", False),
        ("postgresql://host/team", False),
    ],
)
def test_a_file_tells_databases_apart_by_all_of_their_addresses_but_passwords(other, same):
    assert (mark_of(other) == mark_of(TEAM)) is same
    assert mark_of(other).partition(" ")[0] == "postgresql://host/team"
    assert mark_of("postgresql://host/team") == "postgresql://host/team"


def test_the_file_keeps_no_password_of_a_database_that_has_its_runs():
    fill(FILE, 1)
    address = "postgresql://ada:7/xSECRETkk@127.0.0.1:1/db?password=xSECRETpp"
    module._mark(FILE, waiting(FILE, mark_of(address)), mark_of(address))

    assert waiting(FILE, mark_of(address)) == []
    assert b"postgresql://127.0.0.1:1/db" in FILE.read_bytes()
    assert b"SECRET" not in FILE.read_bytes()


def test_one_run_that_the_database_refuses_keeps_no_other_from_it(monkeypatch):
    fill(FILE, 1, 2, 3)
    genuine = module.merged

    def merged(connection, kept):
        if kept.date.startswith("2026-03-02"):
            raise sqlite3.IntegrityError("a character that it does not have")
        return genuine(connection, kept)

    monkeypatch.setattr(module, "merged", merged)
    with pytest.raises(HistoryError, match="a character that it does not have"):
        push(FILE, Shared("team.sqlite"))

    assert sorted(row.date[8:10] for row in rows(Path("team.sqlite"))) == ["01", "03"]
    assert len(waiting(FILE, "team.sqlite")) == 1


def test_a_run_that_no_file_can_keep_is_sent_all_the_same():
    FILE.mkdir(parents=True)

    _, lines = remembered("team.sqlite", 1)

    assert len(lines) == 1
    assert lines[0].startswith(
        "warning: this run is in the shared history, but not in the file of this machine: .ireval/history.sqlite cannot"
    )
    assert len(rows(Path("team.sqlite"))) == 1


def test_a_variable_without_a_value_keeps_the_run_here_and_says_so():
    assert remembered("", 1, unset="TEAM")[1] == [
        "ireval_history: TEAM is not set, so only this machine keeps the history"
    ]
    assert len(rows(FILE)) == 1


def test_work_that_goes_wrong_in_its_thread_is_raised_here():
    def work(stop):
        raise IrevalError("wrong")

    with pytest.raises(IrevalError, match="wrong"):
        module.in_time(work, 10.0, "there")
