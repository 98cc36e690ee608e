"""``ireval judge --last``: a red run is judged again with each grade, and the engine is not asked."""

import json
import re
import shutil
import urllib.error
import urllib.request
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread

import pytest
from lamp_shop import ID, NOW, start_judging, write_lamp_shop
from live_server import Server

from pytest_ireval_judgments.commands import judge_command, rating_page

JUDGMENTS = "q1 0 brass 1\nq1 0 cable 0\nq1 0 glass 1\nq1 0 screw 0\n"


@pytest.fixture
def red_run(pytester, monkeypatch):
    """The folder of a suite whose run was red."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(pytester.path)

    def run(**keys):
        write_lamp_shop(pytester.path, **keys)
        return pytester.runpytest("--ireval", "-p", "no:cacheprovider")

    run.path = pytester.path
    return run


@pytest.fixture(scope="session")
def first_red_run(tmp_path_factory):
    """Where the first test keeps the folder of its red run; the others get a copy."""
    return tmp_path_factory.mktemp("red") / "run"


@pytest.fixture
def red_folder(red_run, first_red_run):
    if first_red_run.exists():
        shutil.copytree(first_red_run, red_run.path, dirs_exist_ok=True)
    else:
        assert red_run().ret == 1
        shutil.copytree(red_run.path, first_red_run)
    return red_run.path


@pytest.fixture
def judge_here(monkeypatch, capsys):
    """As ``start_judging``, in a thread of this process and in its current folder."""
    servers, make_server = SimpleQueue(), rating_page.make_rating_server

    def make_known_server(*arguments):
        made = make_server(*arguments)
        servers.put(made)
        return made

    monkeypatch.setattr(rating_page, "make_rating_server", make_known_server)

    @contextmanager
    def start(*options):
        words = ["--no-browser", "--judge", "ann", *options]
        judging = Thread(target=judge_command.command.main, args=(words,), kwargs={"standalone_mode": False})
        judging.start()
        server, address = servers.get(timeout=20)

        def wait():
            judging.join()
            return capsys.readouterr().out

        try:
            yield address, wait
        finally:
            server.shutdown()
            judging.join()

    return start


def ask(address, place, sent=None):
    data = None if sent is None else json.dumps(sent).encode()
    request = urllib.request.Request(address + place, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.loads(response.read())
    except urllib.error.HTTPError as error:
        return json.loads(error.read())


def test_a_red_run_of_a_live_source_is_judged_again_with_the_engine_stopped(red_run):
    engine = Server()
    engine.respond = lambda _: {"hits": [{"id": each} for each in NOW]}
    ran = red_run(source=f'{{http: "{engine.url}/?q={{text}}", hits: hits, id: id}}')
    ran.stdout.fnmatch_lines(["*nDCG@5 fell 28.9% (hard limit 25%)*", "*ireval judge --last*"])
    asked = len(engine.requests)
    engine.close()

    with start_judging(red_run.path, "--last") as (address, wait):
        first = ask(address, "items/next")
        before = ask(address, "verdicts")
        ask(address, "items/0", {"grade": "1", "seen": ""})
        after = ask(address, "verdicts")
        ask(address, "end", {})
        told = wait()

    assert (first["text"], first["document"], first["title"]) == ("reading lamp", "u3", "Lamp u3")
    assert first["rankings"]["ranks"] == "current rank 1, not in the baseline ranking"
    assert [each["document"] for each in first["rankings"]["current"]] == NOW
    assert first["rankings"]["baseline"][0] == {
        "rank": 1,
        "document": "brass",
        "title": "Lamp brass",
        "grade": "1",
        "here": False,
    }
    assert [before["checks"][0][name] for name in ("id", "before", "now")] == [ID, "fail", "fail"]
    assert before["checks"][0]["bound"].startswith("Open: with the best grades for the other 3 ungraded documents")
    assert (after["checks"][0]["now"], after["final"]) == ("pass", True)
    assert (red_run.path / "judgments.txt").read_text() == JUDGMENTS + "q1 0 u3 1\n"
    assert len(engine.requests) == asked
    assert told.splitlines()[-5:] == [
        "graded 1 of 3 documents: judgments.txt",
        f"  {ID}: fail -> pass",
        "further grades cannot change these verdicts",
        "next: pytest --ireval lamps.ireval.yaml",
        "      git add judgments.txt",
    ]


def test_a_folder_of_ci_is_enough_and_grades_of_a_colleague_count(red_run, judge_here, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("RANKINGS", "rankings.txt")
    red_run(source='{run: "${RANKINGS}"}')
    monkeypatch.delenv("RANKINGS")  # the report has it
    fetched = tmp_path_factory.mktemp("artifact") / "report"
    shutil.move(red_run.path / "ireval-report", fetched)
    for name in ("rankings.txt", "before.txt"):  # a job had made them
        (red_run.path / name).unlink()
    with open(red_run.path / "judgments.txt", "a") as file:
        file.write("q1 0 u4 0\n")

    with judge_here("--run", str(fetched)) as (address, wait):
        assert ask(address, "items/next")["document"] == "u3"
        with open(red_run.path / "judgments.txt", "a") as file:
            file.write("q1 0 u3 0\n")
        clash = ask(address, "items/0", {"grade": "1", "seen": ""})
        ask(address, "end", {})
        told = wait()

    assert "\njudgments.txt has no column for judge, date, guideline: not kept with the grades\n" in told
    assert "1 judgment added since the run: they count\n3 documents to judge, 1 judged already: judgments.txt" in told
    assert clash["clash"] == "Not saved: judgments.txt:6 has grade 0 now, and you gave 1. Settle it in that file."
    assert "graded 0 of 3 documents" in told
    assert "next:" not in told


def test_a_grade_that_cannot_be_saved_says_why_and_can_be_given_later(red_folder, judge_here):
    path = red_folder / "judgments.txt"

    with judge_here("--last") as (address, wait):
        ask(address, "items/0", {"grade": "1", "seen": ""})
        path.write_text(JUDGMENTS)  # as git checkout does
        removed = ask(address, "items/0", {"grade": "1", "seen": "1"})
        path.write_text(JUDGMENTS + "q02 garbage\n")
        broken = ask(address, "items/0", {"grade": "1", "seen": removed["grade"]})
        path.write_text(JUDGMENTS)
        saved = ask(address, "items/0", {"grade": "1", "seen": removed["grade"]})
        ask(address, "end", {})
        wait()

    removal = "The grade of this document was removed from the file. Press a key again to save yours."
    assert (removed["clash"], removed["grade"], saved["grade"]) == (removal, "", "1")
    assert broken["error"].startswith("judgments.txt:5 has 2 columns")
    assert path.read_text() == JUDGMENTS + "q1 0 u3 1\n"


@pytest.mark.parametrize(
    ("change", "options", "complaint"),
    [
        (
            lambda folder: shutil.rmtree(folder / "ireval-report"),
            ("--last",),
            "no folder ireval-report is here or above",
        ),
        (
            lambda folder: (folder / "ireval-report/rankings.zip").unlink(),
            ("--last",),
            "the rankings of the run were not",
        ),
        (lambda folder: (folder / "lamps.ireval.yaml").unlink(), ("--last",), "the suite lamps of the run is not here"),
        (
            lambda folder: (folder / "queries.tsv").write_text("id\ttext\nq1\tlamp\n"),
            ("--last",),
            "the queries changed",
        ),
        (lambda folder: (folder / "judgments.txt").write_text("q1 0 brass 1\n"), ("--last",), "cable: 0 -> gone"),
        (lambda _: None, ("--last", "--suite", "lamp"), "did you mean 'lamps'"),
        (
            lambda folder: (folder / "ireval-report/results.json").write_text(
                re.sub(r'"to_judge": \[.*?\]', '"to_judge": []', (folder / "ireval-report/results.json").read_text())
            ),
            ("--last", "--suite", "lamps"),
            "the run names no document to judge",
        ),
        (lambda _: None, ("--last", "--to", "x.tsv"), "give no POOL, --to or --with"),
        (lambda _: None, ("--suite", "lamps"), "--suite needs --last or --run"),
        (lambda _: None, (), "name a POOL, or judge what the last run asks for: --last"),
        (lambda _: None, ("--last", "--grades", "0-3"), "--grades are those of the suite: 0-1"),
    ],
)
def test_mistakes_say_what_to_do(red_folder, ireval, change, options, complaint):
    change(red_folder)
    refused = ireval("judge", "--no-browser", "--judge", "ann", *options)

    assert refused.code == 2
    assert complaint in " ".join(refused.err.split())


def test_judgments_that_are_locked_are_refused(red_run, ireval):
    red_run(judgments="{file: judgments.txt, lock: true}")

    assert "locks its judgments: with new grades every check would be an error" in " ".join(
        ireval("judge", "--last", "--no-browser", "--judge", "ann").err.split()
    )
