"""The file of the history: old versions are brought up, others refused untouched, and no writer harms another."""

import os
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pytest
from made_runs import run, suite

from pytest_ireval.errors import HistoryError
from pytest_ireval.history import spreads, trend
from pytest_ireval.history.database import STEPS, VERSION, writing
from pytest_ireval.history.kept import Job, append, kept_run, merge
from pytest_ireval.history.trends import rows

PROCESS = Path(__file__).with_name("appending_process.py")
closed_to_us = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is closed to root, and Windows has no such modes"
)


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Path(".ireval/history.sqlite")


@pytest.fixture
def filled(file):
    append(file, kept_run(run()))
    return file


def of_version_1(path):
    """The tables as the first version made them, with one run."""
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    for statement in STEPS[0]:
        connection.execute(statement)
    connection.execute("PRAGMA user_version = 1")
    key = kept_run(run("2026-01-01T00:00:00Z")).key
    connection.execute(
        "INSERT INTO runs VALUES (1, '2026-01-01T00:00:00Z', 'abc', 'main', 0, 'pass', '0.0.9', ?)", [key]
    )
    connection.execute("INSERT INTO suites VALUES (1, 1, 'shop', 'shop.yaml', 'pass', 3, 3, 1, 'the first')")
    connection.execute(
        "INSERT INTO figures VALUES (1, 1, 'nDCG@10', 'all', 0.5, 0.4, 0.1, 0.2, 10, 0.05, 0.15, 'pass')"
    )
    connection.commit()
    connection.close()


def version(path):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.close()


def indexes(path):
    connection = sqlite3.connect(path)
    try:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
    finally:
        connection.close()


def test_a_new_file_has_the_version_of_today_and_is_hidden_from_git(filled):
    assert version(filled) == VERSION == 3
    assert Path(".ireval/.gitignore").read_text().splitlines()[1:] == ["/history.sqlite*", "/.gitignore"]


def test_a_file_of_version_1_is_brought_up_by_the_next_run_and_keeps_what_it_had(file):
    of_version_1(file)
    assert indexes(file) == {"suites_of_runs", "figures_of_suites"}

    append(file, kept_run(run()))

    assert version(file) == 3
    assert indexes(file) >= {"runs_by_key", "suites_by_name", "runs_by_run_key", "figures_of_suites"}
    old, new = trend(file, "shop", "nDCG@10")
    assert (old.date, old.value, old.reason, old.origin) == ("2026-01-01T00:00:00Z", 0.5, "the first", "run")
    assert (new.date, new.value) == ("2026-03-01T10:00:00Z", 0.8)


def test_a_file_of_version_1_that_is_only_looked_at_stays_of_version_1(file):
    of_version_1(file)
    before = file.read_bytes()

    assert spreads(file, "shop", "main") == {("nDCG@10", "all"): [0.2]}
    assert file.read_bytes() == before


def of_version_2(path, *keys):
    """The tables of the second version, with runs of these fingerprints, and a view that a user added."""
    of_version_1(path)
    connection = sqlite3.connect(path)
    for statement in STEPS[1]:
        connection.execute(statement)
    for key in keys:
        about = "'2026-02-01T00:00:00Z', 'abc', 'main', 0, 'pass', '0.0.9'"
        connection.execute(f"INSERT INTO runs VALUES (NULL, {about}, ?, 'run')", [key])
    connection.execute("CREATE VIEW mine AS SELECT suites.name, figures.now FROM suites, figures")
    connection.execute("PRAGMA user_version = 2")
    connection.commit()
    connection.close()


def asked(path, sql):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def test_a_file_of_version_2_gets_run_keys_that_are_the_same_in_every_copy(file):
    of_version_2(file, "b", "c", "b", "b")
    before = asked(file, "SELECT * FROM figures"), asked(file, "SELECT * FROM suites")

    append(file, kept_run(run()))

    keys = [key for (key,) in asked(file, "SELECT run_key FROM runs WHERE date LIKE '2026-02%' ORDER BY id")]
    assert keys == ["b", "c", "b-1", "b-2"]
    rest = "SELECT * FROM figures WHERE id = 1", "SELECT * FROM suites WHERE id = 1"
    assert tuple(asked(file, sql) for sql in rest) == before
    assert asked(file, "SELECT count(*) FROM mine") == [(4,)]


def test_references_name_their_columns_as_datasette_needs_it(file):
    of_version_2(file)
    append(file, kept_run(run()))

    for table, column, target in (("suites", "run", "runs"), ("figures", "suite", "suites")):
        (reference,) = asked(file, f"PRAGMA foreign_key_list({table})")
        assert reference[2:5] == (target, column, "id")
    assert asked(file, "PRAGMA foreign_key_check") == []
    assert asked(file, "PRAGMA integrity_check") == [("ok",)]


def test_an_older_file_and_a_new_one_have_the_same_tables(file, tmp_path):
    of_version_2(file)
    append(file, kept_run(run()))
    append(tmp_path / "new.sqlite", kept_run(run()))
    sql = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name <> 'mine' ORDER BY 1, 2"

    assert asked(file, sql) == asked(tmp_path / "new.sqlite", sql)


def test_two_processes_bring_up_one_file_at_once(file):
    of_version_2(file, *"abcdefgh" * 50)
    processes = [start(file, number, "append") for number in range(4)]

    assert [process.wait() for process in processes] == [0] * 4
    [process.stdout.close() for process in processes]
    assert version(file) == 3
    assert asked(file, "SELECT count(*) FROM runs") == [(1 + 400 + 4 * 10,)]


def test_the_views_show_figures_the_newest_ones_and_acceptances(file):
    append(file, kept_run(run("2026-03-01T10:00:00Z", suite(now=0.7)), job=Job("acme/search", "12", "https://ci/1")))
    append(file, kept_run(run("2026-03-02T10:00:00Z", suite(now=0.8), accepted=("shop",), reason="synonyms")))
    append(file, kept_run(run("2026-03-03T10:00:00Z", suite(now=0.9))))

    assert asked(file, "SELECT repository, pull_request, link, suite, value FROM trend ORDER BY date") == [
        ("acme/search", "12", "https://ci/1", "shop", 0.7),
        ("", "", "", "shop", 0.8),
        ("", "", "", "shop", 0.9),
    ]
    assert asked(file, "SELECT repository, value FROM latest ORDER BY date") == [("acme/search", 0.7), ("", 0.9)]
    assert asked(file, "SELECT suite, reason FROM acceptances") == [("shop", "synonyms")]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), None])
def test_a_figure_that_is_not_a_finite_number_is_left_out(file, value):
    append(file, kept_run(run("2026-03-01T10:00:00Z", suite(sd=value))))

    assert asked(file, "SELECT sd FROM figures") == [(None,)]


def test_a_run_that_version_1_has_is_not_added_again(file):
    of_version_1(file)

    assert merge(file, [kept_run(run("2026-01-01T00:00:00Z"), "results")]) == (0, 1)


def refused(path, does):
    before = path.read_bytes()
    with pytest.raises(HistoryError) as caught:
        does()
    assert path.read_bytes() == before
    return str(caught.value)


both_ways = pytest.mark.parametrize("way", [lambda f: append(f, kept_run(run())), rows], ids=["written", "read"])


@both_ways
def test_a_newer_version_is_refused_and_left_alone(filled, way):
    connection = sqlite3.connect(filled)
    connection.execute("PRAGMA user_version = 7")
    connection.close()

    assert refused(filled, lambda: way(filled)) == (
        ".ireval/history.sqlite\n"
        "  has version 7, but this pytest-ireval reads only versions up to 3\n"
        "  a newer pytest-ireval wrote it; install that version"
    )


@both_ways
def test_a_database_of_something_else_is_refused_and_left_alone(file, way):
    file.parent.mkdir()
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE runs (id INTEGER)")
    connection.close()

    assert refused(file, lambda: way(file)) == (
        ".ireval/history.sqlite\n  is a database of another program, not a history of pytest-ireval"
    )


@both_ways
@pytest.mark.parametrize(
    "damage",
    [lambda data: b"no database at all, but a text that somebody wrote" * 99, lambda data: data[: len(data) // 2]],
    ids=["other content", "cut off"],
)
def test_a_damaged_file_is_refused_and_left_alone(filled, way, damage):
    filled.write_bytes(damage(filled.read_bytes()))

    said = refused(filled, lambda: way(filled))

    assert said.startswith(".ireval/history.sqlite\n  is damaged: ")
    assert said.endswith("\n  move it away; ireval history rebuild makes a new one from results.json files and git")


def test_bytes_that_went_wrong_never_come_out_as_anything_but_an_error_of_ours(filled, tmp_path):
    for number in range(20):
        append(filled, kept_run(run(f"2026-03-{number + 1:02}T10:00:00Z")))
    sound, chance = filled.read_bytes(), random.Random(7)
    ends = Counter()
    for _ in range(200):
        data = bytearray(sound)
        for place in chance.sample(range(len(data)), 40):
            data[place] = chance.randrange(256)
        filled.write_bytes(data)
        for way in (rows, lambda f: spreads(f, "shop", "main"), lambda f: append(f, kept_run(run()))):
            try:
                way(filled)
                ends["fine"] += 1
            except HistoryError:
                ends["refused"] += 1

    assert ends["refused"] > 20
    assert ends.total() == 600


def test_an_empty_file_is_a_history_without_a_run(file):
    file.parent.mkdir()
    file.touch()

    assert rows(file) == []
    append(file, kept_run(run()))
    assert len(rows(file)) == 1


def test_without_a_file_there_is_nothing(file):
    assert (rows(file), spreads(file, "shop", "main"), trend(file, "shop", "nDCG@10")) == ([], {}, [])
    assert not file.parent.exists()


def start(file, number, what):
    return subprocess.Popen([sys.executable, PROCESS, file, str(number), what], stdout=subprocess.PIPE, text=True)


def test_eight_processes_append_at_once_and_nothing_is_lost(file):
    processes = [start(file, number, "append") for number in range(8)]

    assert [process.wait() for process in processes] == [0] * 8
    [process.stdout.close() for process in processes]
    assert Counter(row.suite for row in rows(file)) == {f"suite{number}": 10 for number in range(8)}


def test_a_process_that_is_killed_while_it_writes_leaves_what_was_there(filled):
    before = rows(filled)
    with start(filled, 1, "die") as process:
        said = process.stdout.read()

    assert (process.returncode, said) == (9, "half done\n")
    assert rows(filled) == before
    append(filled, kept_run(run("2026-03-02T10:00:00Z")))
    assert len(rows(filled)) == 2


@pytest.mark.skipif(os.name != "posix", reason="needs a limit of the size of files")
def test_a_full_disk_is_an_error_and_leaves_what_was_there(filled):
    before = rows(filled)

    with start(filled, 1, "full") as process:
        said = process.stdout.read()

    assert said.startswith(".ireval/history.sqlite\n  cannot be used: ")
    assert rows(filled) == before


def test_whoever_waits_too_long_for_another_process_is_told(filled):
    with writing(filled), pytest.raises(HistoryError) as caught:
        append(filled, kept_run(run()), wait=0.1)

    assert str(caught.value) == (".ireval/history.sqlite\n  another process has not finished writing it within 0.1 s")


def test_who_reads_sees_what_was_there_while_another_writes(filled):
    with writing(filled) as connection:
        connection.execute("DELETE FROM runs")
        assert len(rows(filled)) == 1


def test_what_fails_in_the_middle_leaves_what_was_there(filled):
    with suppress(ZeroDivisionError), writing(filled) as connection:
        connection.execute("DELETE FROM runs")
        raise ZeroDivisionError

    assert len(rows(filled)) == 1


@pytest.mark.parametrize(
    ("make", "says"),
    [(lambda f: f.mkdir(parents=True), "unable to open database file"), (lambda f: f.parent.touch(), "File exists")],
    ids=["a folder in its place", "a file in the place of its folder"],
)
def test_a_place_that_cannot_be_is_an_error(file, make, says):
    make(file)

    with pytest.raises(HistoryError, match=f"cannot be used: {says}"):
        append(file, kept_run(run()))


@closed_to_us
def test_a_file_that_may_only_be_read_is_read_and_not_written(filled):
    filled.chmod(0o444)
    filled.parent.chmod(0o555)
    try:
        assert len(rows(filled)) == 1
        with pytest.raises(HistoryError, match="cannot be used: attempt to write a readonly database"):
            append(filled, kept_run(run()))
    finally:
        filled.parent.chmod(0o755)


def test_a_gitignore_that_somebody_wrote_stays(file):
    file.parent.mkdir()
    Path(".ireval/.gitignore").write_text("mine\n")

    append(file, kept_run(run()))

    assert Path(".ireval/.gitignore").read_text() == "mine\n"


@pytest.mark.parametrize("there", [True, False])
def test_another_folder_gets_a_gitignore_only_if_the_history_makes_it(tmp_path, there):
    folder = tmp_path / "build"
    if there:
        folder.mkdir()

    append(folder / "runs.db", kept_run(run()))

    assert (folder / ".gitignore").exists() is not there


def test_texts_that_are_no_utf_8_are_spelled_out(file):
    append(file, kept_run(run("2026-03-01T10:00:00Z", suite("caf\udce9"), branch="\udcff")))

    (row,) = rows(file)
    assert (row.suite, row.branch) == ("caf\\udce9", "\\udcff")
