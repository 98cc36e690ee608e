"""The history of a team in a real PostgreSQL: jobs that write at once, outages, rights, versions, and dashboards."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from engines import starting
from history.made_runs import outcome, run, suite, tail

from pytest_ireval.errors import HistoryError
from pytest_ireval.history import shared as module
from pytest_ireval.history.database import VIEWS
from pytest_ireval.history.kept import Job, append, kept_run, merge
from pytest_ireval.history.shared import Shared, in_time, pull, push, send_waiting, waiting
from pytest_ireval.history.trends import rows

pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")]
EXAMPLES = Path(__file__).parents[2] / "examples" / "history"
FILE = Path(".ireval/history.sqlite")


def imported(name):
    if os.environ.get("IREVAL_ENGINES") == "required":
        __import__(name)
    return pytest.importorskip(name)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "CI", "IREVAL_HISTORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def executed(url, *statements):
    psycopg = imported("psycopg")
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            found = connection.execute(statement)
        return found.fetchall() if found.description else None


@pytest.fixture
def database(postgresql):
    """The address of an empty database."""
    name = f"history_{uuid4().hex}"
    executed(postgresql.url, f"CREATE DATABASE {name}")
    yield f"{postgresql.url.rpartition('/')[0]}/{name}"
    executed(postgresql.url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def shared(database):
    with contextlib.closing(Shared(database)) as opened:
        yield opened


def fill(path, days, *suites, **more):
    for day in days:
        append(path, kept_run(run(f"2026-03-{day:02}T10:00:00Z", *suites, **more)))


def unnumbered(path):
    return sorted(row._replace(run=0) for row in rows(path))


def test_what_one_file_sends_another_fetches_in_full_and_once(shared):
    odd = suite("čaj 🍵 \0", 0.7, outcome(), outcome("segment=tail", "fail", tail(sd=None)), verdict="fail")
    fill(FILE, range(1, 4), odd, suite("blog", sd=None), branch="br\udcff", accepted=("blog",), reason="v2")
    fill(FILE, [4, 4])

    assert push(FILE, shared) == (5, 0)
    assert push(FILE, shared) == (0, 5)
    assert pull(Path("other.sqlite"), shared) == (5, 0)
    assert pull(Path("other.sqlite"), shared) == (0, 5)

    assert unnumbered(Path("other.sqlite")) == unnumbered(FILE)
    assert waiting(FILE, shared.mark) == waiting(Path("other.sqlite"), shared.mark) == []
    assert push(Path("other.sqlite"), shared) == (0, 5)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_figures_that_are_not_finite_numbers_are_left_out(shared, database, value):
    fill(FILE, [1], suite(sd=value))
    push(FILE, shared)

    assert executed(database, "SELECT now, sd FROM figures") == [(0.8, None)]


def test_large_and_small_figures_come_back_as_they_were(shared):
    fill(FILE, [1], suite(now=1 / 3, baseline=1e-300, sd=1.7976931348623157e308))
    push(FILE, shared)
    pull(Path("other.sqlite"), shared)

    assert unnumbered(Path("other.sqlite")) == unnumbered(FILE)


def test_runs_that_files_and_git_tell_of_are_not_doubled(shared):
    told = kept_run(run("2026-03-01T10:00:00Z"), "results")
    for name in ("one.sqlite", "two.sqlite"):
        merge(Path(name), [told])
    fill(FILE, [1])

    assert push(Path("one.sqlite"), shared) == (1, 0)
    assert push(Path("two.sqlite"), shared) == (0, 1)
    assert push(FILE, shared) == (1, 0)
    assert push(Path("two.sqlite"), shared) == (0, 1)
    assert pull(Path("two.sqlite"), shared) == (1, 0)
    assert [row.origin for row in rows(Path("two.sqlite"))] == ["run"]


def test_a_file_of_an_unknown_repository_is_sent_under_that_of_its_folder(shared, database):
    fill(FILE, [1])
    subprocess.run(["git", "init", "-q", "."], check=True)
    subprocess.run(["git", "remote", "add", "origin", "git@host.example:acme/search.git"], check=True)

    push(FILE, shared)

    assert executed(database, "SELECT repository FROM runs") == [("acme/search",)]
    assert pull(Path("other.sqlite"), shared, "acme/other") == (0, 0)
    assert pull(Path("other.sqlite"), shared, "acme/search") == (1, 0)


PUSHING = """\
import sys
from pathlib import Path
from pytest_ireval.history.shared import Shared, push
print(*push(Path(sys.argv[1]), Shared(sys.argv[2])))
"""


def pushing(file, url):
    return subprocess.Popen([sys.executable, "-c", PUSHING, file, url], stdout=subprocess.PIPE, text=True)


def test_processes_that_begin_at_once_make_one_set_of_tables_and_lose_nothing(database):
    for number in range(4):
        fill(Path(f"{number}.sqlite"), range(1, 16), suite(f"suite{number}"))
    processes = [pushing(f"{number}.sqlite", database) for number in (0, 1, 2, 3, 0, 1)]  # two files, each twice

    said = [process.communicate()[0] for process in processes]

    assert [process.returncode for process in processes] == [0] * 6
    assert sum(int(line.split()[0]) for line in said) == 60
    assert executed(database, "SELECT count(*), count(DISTINCT run_key) FROM runs") == [(60, 60)]
    found = executed(database, "SELECT name, count(*) FROM suites GROUP BY name ORDER BY name")
    assert found == [(f"suite{number}", 15) for number in range(4)]


def test_a_push_that_is_killed_leaves_whole_runs_and_the_next_goes_on(database, shared):
    many = [outcome(f"segment=s{i}", "pass", tail(slice=f"segment=s{i}")) for i in range(50)]
    fill(FILE, [day % 28 + 1 for day in range(150)], suite("shop", 0.8, *many))
    with pushing(FILE, database) as process:
        while (Counter(shared_keys(shared)).total()) < 20:
            assert process.poll() is None
        process.kill()

    sent = executed(database, "SELECT count(*) FROM runs")[0][0]
    assert 20 <= sent < 150
    assert executed(database, "SELECT count(*) FROM figures") == [(51 * sent,)]
    assert push(FILE, shared) == (150 - sent, sent)
    assert executed(database, "SELECT count(*), count(DISTINCT run_key) FROM runs") == [(150, 150)]


def shared_keys(opened):
    with opened.reading() as found:
        return [] if found is None else [key for (key,) in found.execute("SELECT run_key FROM runs").fetchall()]


@contextlib.contextmanager
def server():
    """A server of one test, and a function that starts it again after it was killed."""
    engine = starting.start("postgresql")
    started = []

    def again():
        while True:  # until the processes of the killed one are gone
            started.append(starting.Engine("postgresql", engine.url, engine.process.args, engine.folder, signal.SIGINT))
            with contextlib.suppress(starting.StartError):
                started[-1].wait_until(lambda: answers(engine.url))
                return started[-1]

    try:
        yield engine, again
    finally:
        for each in [*started, engine]:
            each.stop()


def answers(url):
    psycopg = imported("psycopg")
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_server_that_is_killed_in_the_middle_of_two_pushes_has_all_of_both_later():
    files = [Path("a.sqlite"), Path("b.sqlite")]
    for file in files:
        fill(file, [day % 28 + 1 for day in range(150)], suite(file.stem))
    with server() as (engine, again):
        shared = Shared(engine.url)
        push(files[0], shared)  # makes the tables
        executed(engine.url, "DELETE FROM runs")
        processes = [pushing(file, engine.url) for file in files]
        while executed(engine.url, "SELECT count(*) FROM runs")[0][0] < 30:
            assert all(process.poll() is None for process in processes)
        engine.kill()
        assert [process.wait() != 0 for process in processes] == [True, True]
        [process.stdout.close() for process in processes]
        with pytest.raises(HistoryError, match="cannot be used: "):
            push(files[0], shared)
        again()
        for file in files:
            push(file, shared)

        found = executed(engine.url, "SELECT name, count(DISTINCT run) FROM suites GROUP BY name ORDER BY name")
        assert found == [("a", 150), ("b", 150)]
        assert executed(engine.url, "SELECT count(*) FROM figures") == [(300,)]
        assert [waiting(file, shared.mark) for file in files] == [[], []]
        shared.close()


SUITE = """\
ireval: 1
suite: shop
source: {run: rankings.txt}
judgments: judgments.txt
metrics: [AP]
rules: [{threshold: {AP: ">= 0.1"}}]
"""


class Repository:
    """A repository whose jobs run the gate; each job is another run of CI."""

    def __init__(self, name, url):
        self.name, self.folder, self.number = name, Path(name.replace("/", "-")), 0
        self.folder.mkdir()
        for file, text in {
            "shop.ireval.yaml": SUITE,
            "judgments.txt": "q 0 a 1\n",
            "rankings.txt": "q Q0 b 1 2 x\nq Q0 a 2 1 x\n" if name.endswith("one") else "q Q0 a 1 1 x\n",
            "pytest.ini": "[pytest]\nireval_history = ${TEAM}\n",
        }.items():
            (self.folder / file).write_text(text)
        self.url = url

    def begin(self, **more):
        self.number += 1
        place = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": self.name, "GITHUB_SERVER_URL": "https://github.com"}
        job = {"GITHUB_RUN_ID": str(self.number), "GITHUB_REF": f"refs/pull/{self.number}/merge"}
        time = {"SOURCE_DATE_EPOCH": str(1795000000 + self.number)}
        environment = {**os.environ, **place, **job, **time, "TEAM": self.url, **more}
        command = [sys.executable, "-m", "pytest", "--ireval", "-q", "-p", "no:cacheprovider"]
        return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, text=True)

    def trend(self):
        (found,) = json.loads((self.folder / "ireval-report/results.json").read_text())["suites"]
        return [point["value"] for each in found["trends"] for point in each["points"]]


def at_once(repositories, **more):
    """A job of each; all of them are green. What they printed."""
    jobs = [each.begin(**more) for each in repositories]
    said = [job.communicate()[0] for job in jobs]
    assert [job.returncode for job in jobs] == [0] * len(jobs), said
    return said


def test_the_ci_of_two_repositories_shares_one_database_through_an_outage_and_nothing_is_lost():
    with server() as (engine, again):
        both = [Repository(name, engine.url) for name in ("acme/one", "acme/two")]
        for said in at_once(both):
            assert "history" not in said
        engine.kill()
        for number in (1, 2):
            for said in at_once(both):
                runs, them = ("1 run", "it") if number == 1 else ("2 runs", "them")
                assert f"warning: {runs} of this machine not in the shared history yet: postgresql://" in said
                assert f"the next run sends {them}, or ireval history push" in said
        again()
        for said in at_once(both):
            assert re.search(
                r"^sent to postgresql://127\.0\.0\.1\S*: this run, and 2 runs that waited$", said, re.MULTILINE
            )

        found = executed(
            engine.url, "SELECT repository, pull_request, link, value FROM trend ORDER BY repository, date"
        )
        assert found == [
            (name, str(number), f"https://github.com/{name}/actions/runs/{number}", value)
            for name, value in (("acme/one", 0.5), ("acme/two", 1.0))
            for number in range(1, 5)
        ]
        for each, value in zip(both, (0.5, 1.0), strict=True):
            (each.folder / FILE).unlink()  # a new runner
            at_once([each])
            assert each.trend() == [value] * 5, "the runs of its own repository, fetched from the database"


def test_a_server_that_never_answers_stops_no_run(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        one = Repository("acme/one", f"postgresql://ada:s3cret-pass@127.0.0.1:{silent.getsockname()[1]}/x")
        (said,) = at_once([one])

    assert "warning: 1 run of this machine not in the shared history yet: postgresql://127.0.0.1:" in said
    assert "s3cret" not in said


def test_work_that_takes_too_long_is_left():
    with pytest.raises(HistoryError, match=r"no answer in 0\.1 s"):
        in_time(lambda stop: threading.Event().wait(5), 0.1, "there")


def refused(does):
    with pytest.raises(HistoryError) as caught:
        does()
    return str(caught.value)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"lock_timeout": "50ms"}, "canceling statement due to lock timeout"),
        ({"statement_timeout": "50ms"}, "canceling statement due to statement timeout"),
    ],
)
def test_a_lock_of_another_session_is_an_error_and_no_waiting(shared, database, monkeypatch, limits, said):
    fill(FILE, [1])
    push(FILE, shared)
    fill(FILE, [2])
    monkeypatch.setattr(module, "LIMITS", {"statement_timeout": "20s", **limits})
    with imported("psycopg").connect(database) as other:
        other.execute("LOCK TABLE ireval_history")
        for does in (lambda: push(FILE, shared), lambda: pull(FILE, shared)):
            assert refused(does).endswith(
                f"  cannot be used: {said}\n"
                "  another session may hold a lock on its tables: look into pg_locks, or try again"
            )
    assert push(FILE, shared) == (1, 1)


def test_two_schemas_of_one_database_each_get_all_runs(database):
    executed(database, "CREATE SCHEMA team_a", "CREATE SCHEMA team_b")
    team_a, team_b = (f"{database}?options=-csearch_path%3D{name}" for name in ("team_a", "team_b"))
    for day, address in ((1, team_a), (2, team_a), (3, team_b)):
        fill(FILE, [day])
        with contextlib.closing(Shared(address)) as opened:
            send_waiting(FILE, opened, threading.Event())

    found = executed(database, "SELECT (SELECT count(*) FROM team_a.runs), (SELECT count(*) FROM team_b.runs)")
    assert found == [(2, 3)]


def test_a_wrong_password_is_an_error_that_does_not_show_it(postgresql, database):
    executed(database, "CREATE ROLE ada LOGIN PASSWORD 'right-password'")
    settings = postgresql.folder / "data/pg_hba.conf"
    before = settings.read_text()
    settings.write_text(f"host all ada 127.0.0.1/32 scram-sha-256\n{before}")
    try:
        executed(database, "SELECT pg_reload_conf()")
        address = database.replace("postgres@", "ada:wrong-password@")
        said = refused(lambda: push(FILE, Shared(address)))
        assert 'password authentication failed for user "ada"' in said
        assert "wrong-password" not in said
    finally:
        settings.write_text(before)
        executed(database, "SELECT pg_reload_conf()", "DROP ROLE ada")


def test_roles_need_few_rights(database):
    fill(FILE, [1])
    executed(database, "CREATE ROLE bob LOGIN", "CREATE ROLE eve LOGIN")
    bob, eve = (Shared(database.replace("postgres@", f"{name}@")) for name in ("bob", "eve"))
    try:
        assert "permission denied for schema public" in refused(lambda: push(FILE, bob))
        with contextlib.closing(Shared(database)) as owner:
            push(Path("none.sqlite"), owner)
            with owner.writing():
                pass
        executed(
            database,
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO bob",
            "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO bob",
            "GRANT SELECT ON ALL TABLES IN SCHEMA public TO eve",
        )
        assert push(FILE, bob) == (1, 0)
        fill(FILE, [2])
        assert "permission denied" in refused(lambda: push(FILE, eve))
        assert pull(Path("other.sqlite"), eve) == (1, 0)
    finally:
        bob.close()
        eve.close()
        executed(database, "DROP OWNED BY bob", "DROP OWNED BY eve", "DROP ROLE bob", "DROP ROLE eve")


def test_a_database_that_may_only_be_read_is_read(shared, database):
    fill(FILE, [1])
    push(FILE, shared)
    shared.close()
    executed(database, f"ALTER DATABASE {database.rpartition('/')[2]} SET default_transaction_read_only = on")
    fill(FILE, [2])

    assert "cannot execute SELECT FOR UPDATE in a read-only transaction" in refused(lambda: push(FILE, shared))
    assert pull(Path("other.sqlite"), shared) == (1, 0)
    assert len(waiting(FILE, shared.mark)) == 1


def test_tables_of_another_program_are_left_alone(shared, database):
    executed(database, "CREATE TABLE runs (id integer)")

    assert refused(lambda: push(FILE, shared)).endswith(
        "  has the table runs of another program\n  give the history a database of its own"
    )


def test_a_newer_version_is_refused(shared, database):
    fill(FILE, [1])
    push(FILE, shared)
    executed(database, "UPDATE ireval_history SET version = 9")
    fill(FILE, [2])

    for does in (lambda: push(FILE, shared), lambda: pull(FILE, shared)):
        assert refused(does).endswith(
            "  has version 9, but this pytest-ireval reads only versions up to 3\n"
            "  a newer pytest-ireval wrote it; install that version"
        )
    assert executed(database, "SELECT count(*) FROM runs") == [(1,)]


NEWER = f"""\
from pytest_ireval.history import shared
shared.VERSION, shared.STEPS = 4, (("ALTER TABLE runs ADD COLUMN machine TEXT NOT NULL DEFAULT ''",),)
{PUSHING}"""


def test_an_older_database_is_brought_up_once_by_processes_that_come_at_once(shared, database):
    for number in range(3):
        fill(Path(f"{number}.sqlite"), range(1, 6), suite(f"suite{number}"))
    push(Path("0.sqlite"), shared)
    command = [sys.executable, "-c", NEWER]
    processes = [subprocess.Popen([*command, f"{n}.sqlite", database], stdout=subprocess.PIPE) for n in (0, 1, 2, 1)]

    assert [process.wait() for process in processes] == [0] * 4
    [process.stdout.close() for process in processes]
    assert executed(database, "SELECT version FROM ireval_history") == [(4,)]
    assert executed(database, "SELECT count(*), max(machine) FROM runs") == [(15, "")]
    assert "has version 4" in refused(lambda: push(Path("0.sqlite"), shared)), "the older version, later"


def test_a_step_that_fails_changes_nothing(shared, database, monkeypatch):
    fill(FILE, [1])
    push(FILE, shared)
    monkeypatch.setattr(module, "VERSION", 4)
    monkeypatch.setattr(
        module, "STEPS", (("ALTER TABLE runs ADD COLUMN machine TEXT", "ALTER TABLE nothing ADD x TEXT"),)
    )
    fill(FILE, [2])

    assert 'relation "nothing" does not exist' in refused(lambda: push(FILE, shared))
    assert executed(database, "SELECT version FROM ireval_history") == [(3,)]
    asked = "SELECT count(*) FROM information_schema.columns WHERE column_name = 'machine'"
    assert executed(database, asked) == [(0,)]


def test_both_kinds_of_database_have_the_same_columns_and_views(shared, database):
    import sqlite3

    fill(FILE, [1])
    push(FILE, shared)
    with contextlib.closing(sqlite3.connect(FILE)) as file:
        for table in ("runs", "suites", "figures", *VIEWS):
            here = {name for _, name, *_ in file.execute(f"PRAGMA table_info({table})")}
            asked = f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}'"
            assert here - {"sent"} == {name for (name,) in executed(database, asked)}


def told(path):
    """Runs of two repositories and branches, red and green, with an acceptance."""
    for repository in ("acme/one", "acme/two"):
        for day in range(1, 10):
            shop = suite("shop", 0.7 + day / 100, outcome(), outcome("segment=tail", "fail", tail()), verdict="fail")
            accepted = {"accepted": ("shop",), "reason": "synonyms"} if day == 5 else {}
            about = run(f"2026-03-0{day}T10:00:00Z", shop, branch="main" if day % 2 else "change", **accepted)
            append(path, replace(kept_run(about), job=Job(repository, str(day), f"https://ci.example/{day}")))


def test_every_panel_of_the_dashboard_for_grafana_shows_rows(shared, database):
    told(FILE)
    push(FILE, shared)
    dashboard = json.loads((EXAMPLES / "grafana.json").read_text())
    variables = {each["name"]: each for each in dashboard["templating"]["list"]}
    chosen = {"repository": "acme/one", "branch": "main", "suite": "shop", "metric": "nDCG@10", "slice": "all"}
    assert set(variables) == {"database", *chosen}

    def filled(sql):
        sql = re.sub(r"\$\{(\w+):sqlstring\}", lambda found: f"'{chosen[found[1]]}'", sql)
        sql = sql.replace("$__timeFrom()", "'2026-01-01T00:00:00Z'").replace("$__timeTo()", "'2026-12-31T00:00:00Z'")
        assert "$" not in sql
        return sql

    for name, value in chosen.items():
        assert (value,) in executed(database, filled(variables[name]["query"])), name
    asked = {(panel["title"], each["rawSql"]) for panel in dashboard["panels"] for each in panel["targets"]}
    assert len(asked) >= 6
    asked |= {(each["name"], each["target"]["rawSql"]) for each in dashboard["annotations"]["list"]}
    for title, sql in asked:
        assert executed(database, filled(sql)), title


def test_datasette_shows_every_table_view_and_query_over_http():
    imported("datasette")
    yaml = imported("yaml")
    told(FILE)
    queries = yaml.safe_load((EXAMPLES / "datasette.yaml").read_text())["databases"]["history"]["queries"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ["--metadata", EXAMPLES / "datasette.yaml", "--port", str(port)]
    command = [sys.executable, "-W", "ignore", "-m", "datasette", "serve", FILE, *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:

            def got(path):
                with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    return answer.status, answer.read()

            while True:
                with contextlib.suppress(OSError):
                    got("/-/versions.json")
                    break
                assert process.poll() is None
            for name in ("runs", "suites", "figures", *VIEWS):
                assert [got(f"/history/{name}{end}")[0] for end in ("", ".json")] == [200, 200], name
            status, page = got("/history/figures")
            assert b'href="/history/suites/1"' in page, "figures lead to their suite"
            assert len(queries) >= 5
            for name in queries:
                parameters = "repository=acme%2Fone&branch=main&suite=shop&metric=nDCG%4010&slice=all&since=2026-01-01"
                status, said = got(f"/history/{name}.json?_shape=array&{parameters}")
                assert (status, len(json.loads(said)) > 0) == (200, True), name
                assert got(f"/history/{name}?{parameters}")[0] == 200
        finally:
            process.kill()


def test_queries_for_datasette_run_in_postgresql_too(shared, database):
    yaml = imported("yaml")
    told(FILE)
    push(FILE, shared)
    queries = yaml.safe_load((EXAMPLES / "datasette.yaml").read_text())["databases"]["history"]["queries"]
    values = {"repository": "acme/one", "branch": "main", "suite": "shop", "metric": "nDCG@10", "slice": "all"}
    for name, query in queries.items():
        sql = re.sub(r":(\w+)", lambda found: f"'{values.get(found[1], '2026-01-01')}'", query["sql"])
        assert executed(database, sql), name
