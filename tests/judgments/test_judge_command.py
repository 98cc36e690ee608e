"""``ireval judge`` as users call it: a page over a real socket, or a program that is checked against humans."""

import csv
import http.client
import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from suite_files import write_judgments, write_queries, write_rankings

from pytest_ireval import read_judgments
from pytest_ireval.results.run_folder import IGNORED
from pytest_ireval_judgments.commands.rating_page import Rating, make_rating_server
from pytest_ireval_judgments.rating import JudgmentFile, read_pool

POOL = "query\tquery_text\tquery_segment\tdocument\tdocument_title\tgrade\n" + "".join(
    f"q{q}\tred mug {q}\t{'tail' if q > 8 else 'head'}\tq{q}-{d}\tMug {d}\t\n" for q in range(12) for d in range(3)
)
HOSTILE = '</script><img src=x onerror=alert(1)>"\u202e\u2028'
GOOD = "print(json.dumps({'grade': int(asked['document'][-1])}), flush=True)"
BAD = "print(json.dumps({'grade': (int(asked['document'][-1]) + 1) % 3}), flush=True)"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1772323200")  # 2026-03-01
    (tmp_path / "pool.tsv").write_text(POOL)
    write_judgments(tmp_path / "human.txt", {f"q{q}": {f"q{q}-{d}": d for d in range(3)} for q in range(10)})
    return tmp_path


@pytest.fixture
def program(folder):
    """The command of a judge that runs ``each`` for every line."""

    def write_judge(each=GOOD):
        code = f"import json, sys\nfor line in sys.stdin:\n    asked = json.loads(line)\n    {each}\n"
        (folder / "judge.py").write_text(code)
        return shlex.join([sys.executable, "-S", "judge.py"])

    return write_judge


@contextmanager
def serve_pool(path, judge="ann", **options):
    """A function that sends a request; it returns the status and the body."""
    target = path.with_name("judged.jsonl")
    rating = Rating(
        path.name, read_pool(path).items, JudgmentFile(target, judge), {"date": "2026-03-01"}, {0: "", 1: ""}
    )
    server, address = make_rating_server(rating)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    url = urlsplit(address)

    def send(method, place, body=None, **headers):
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
        named = {"Content-Type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
        place = place if place.startswith("/") else url.path + place
        connection.request(method, place, None if body is None else json.dumps(body), named)
        response = connection.getresponse()
        data = response.read().decode()
        connection.close()
        return response.status, json.loads(data) if data.startswith("{") else data, response

    try:
        yield send
    finally:
        server.shutdown()
        server.server_close()


def grade(value, seen=""):
    return {"grade": value, "seen": seen}


def test_each_grade_is_saved_before_the_answer(folder):
    with serve_pool(folder / "pool.tsv") as send:
        status, first, _ = send("GET", "items/next")
        assert (status, first["text"], first["title"], first["judged"], first["total"]) == (
            200,
            "red mug 0",
            "Mug 0",
            0,
            36,
        )

        status, found, _ = send("POST", "items/0", grade("1"))
        assert (status, found["grade"], found["judged"], found["next"]) == (200, "1", 1, 1)
        assert json.loads((folder / "judged.jsonl").read_text()) == {
            "query": "q0",
            "document": "q0-0",
            "grade": "1",
            "judge": "ann",
            "date": "2026-03-01",
        }
    with serve_pool(folder / "pool.tsv") as send:
        assert send("GET", "items/next")[1]["place"] == 1
        assert send("POST", "items/0", grade("", "1"))[1]["judged"] == 0


def test_a_second_tab_replaces_nothing_that_it_has_not_seen(folder):
    with serve_pool(folder / "pool.tsv") as send:
        send("POST", "items/0", grade("1"))
        status, found, _ = send("POST", "items/0", grade("0"))

        assert (status, found["grade"]) == (409, "1")
        assert send("POST", "items/0", grade("0", "1"))[0] == 200


def test_many_tabs_at_once_lose_nothing(folder):
    with serve_pool(folder / "pool.tsv") as send:
        threads = [threading.Thread(target=send, args=("POST", f"items/{n}", grade("1"))) for n in range(36)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(read_judgments(folder / "judged.jsonl")) == 36


@pytest.mark.parametrize(
    ("method", "place", "body", "headers", "status"),
    [
        ("POST", "/wrong/items/0", grade("1"), {}, 404),
        ("GET", "../../etc/passwd", None, {}, 404),
        ("GET", "items/" + "9" * 5000, None, {}, 404),
        ("GET", "items/0", None, {"Host": "evil.example"}, 421),
        ("POST", "items/0", grade("1"), {"Origin": "http://evil.example"}, 403),
        ("POST", "items/0", grade("1"), {"Sec_Fetch_Site": "cross-site"}, 403),
        ("POST", "items/0", grade("1"), {"Content_Type": "text/plain"}, 400),
        ("POST", "items/0", grade("7"), {}, 400),
        ("POST", "items/0", {**grade("1"), "more": "x" * 20_000}, {}, 400),
        ("OPTIONS", "items/0", None, {"Origin": "http://evil.example"}, 501),
    ],
)
def test_what_does_not_come_from_the_page_changes_nothing(folder, method, place, body, headers, status):
    with serve_pool(folder / "pool.tsv") as send:
        found = send(method, place, body, **headers)

        assert found[0] == status
        assert found[2].getheader("Access-Control-Allow-Origin") is None
    assert not (folder / "judged.jsonl").exists()


def test_the_page_lets_only_its_own_script_run_and_is_not_kept(folder):
    with serve_pool(folder / "pool.tsv") as send:
        status, page, response = send("GET", "")

    assert status == 200
    assert "<title>Judge pool.tsv</title>" in page
    policy = response.getheader("Content-Security-Policy")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert response.getheader("Cache-Control") == "no-store"
    assert response.getheader("Referrer-Policy") == "no-referrer"


def test_hostile_texts_are_data_and_never_part_of_the_page(folder):
    row = {"query": "q", "query_text": HOSTILE, "document": HOSTILE.strip(), "document_title": HOSTILE, "grade": ""}
    path = folder / f"{HOSTILE.replace('/', '')}.jsonl"
    path.write_text(json.dumps(row))
    with serve_pool(path, judge='"><script>alert(2)</script>') as send:
        assert "<img" not in send("GET", "")[1]
        assert "alert(2)</script>" not in send("GET", "")[1]
        assert send("GET", "items/0")[1]["title"] == HOSTILE
        assert send("POST", "items/0", grade("1"))[0] == 200


@pytest.mark.parametrize(("broken", "why"), [(b'{"query": "q0"', "judged.jsonl:1 is not JSON"), (None, "")])
def test_a_file_that_breaks_while_the_page_is_open_is_told_and_loses_no_grade(folder, broken, why):
    target = folder / "judged.jsonl"
    with serve_pool(folder / "pool.tsv") as send:
        send("POST", "items/0", grade("1"))
        good = target.read_bytes()
        if broken is None:
            target.unlink()
            target.mkdir()
        else:
            target.write_bytes(broken)
        refused = [send("GET", "items/next"), send("GET", "items/3"), send("POST", "items/1", grade("0"))]
        if broken is None:
            target.rmdir()
        target.write_bytes(good)
        again = [send("GET", "items/next")[1]["place"], send("POST", "items/1", grade("0"))[0]]

    assert [status for status, *_ in refused] == [500, 500, 500]
    for _, found, response in refused:
        assert response.headers["Content-Type"].startswith("application/json")
        assert why in found["error"]
        assert "judged.jsonl" in found["error"]
        assert "Traceback" not in found["error"]
    assert again == [1, 200]
    assert len(read_judgments(target)) == 2


TO_JUDGE = "suite\tquery\tdocument\ttext\ttitle\tmetric\teffect\trank_now\trank_baseline\tgrades\tgrade\n"


def table_of_gate(folder, *scales, name="ireval-report"):
    (folder / name).mkdir(exist_ok=True)
    rows = [f"s{n}\tq{n}\td1\t\t\tP@1\t+0.5\t1\t\t{scale}\t\n" for n, scale in enumerate(scales)]
    (folder / name / "to_judge.tsv").write_text(TO_JUDGE + "".join(rows))
    return f"{name}/to_judge.tsv"


@pytest.fixture
def begun(ireval, monkeypatch):
    """The rating that the command would serve, and what it printed."""

    def start(*arguments):
        seen = []
        monkeypatch.setattr(
            "pytest_ireval_judgments.commands.judge_command._judge_by_hand",
            lambda rating, *_, **__: seen.append(rating),
        )
        outcome = ireval("judge", *arguments, "--judge", "ann")
        assert outcome.code == 0
        return seen[0], outcome.err

    return start


def test_grades_do_not_go_to_a_folder_that_each_run_writes_again(begun, folder, monkeypatch):
    pool = table_of_gate(folder, "0-4")
    assert begun(pool)[0].file.path == Path("to_judge.judgments.tsv")

    (folder / "public").mkdir()
    (folder / "public/.gitignore").write_text(IGNORED)
    assert begun(table_of_gate(folder, "0-4", name="public"))[0].file.path == Path("to_judge.judgments.tsv")
    (folder / "public/.gitignore").write_text("*.log\n")
    assert begun("public/to_judge.tsv")[0].file.path == Path("public/to_judge.judgments.tsv")
    monkeypatch.chdir(folder / "ireval-report")
    assert begun("to_judge.tsv")[0].file.path == Path("../to_judge.judgments.tsv")


def test_grades_of_an_earlier_version_are_continued(begun, folder):
    pool = table_of_gate(folder, "0-4")
    JudgmentFile(folder / "ireval-report/to_judge.judgments.tsv", "ann").put({("q0", "d1"): {"grade": "4"}})
    rating, told = begun(pool)
    old = "ireval-report/to_judge.judgments.tsv"
    assert rating.file.grades == {("q0", "d1"): "4"}
    assert told == f"continues {old}; git ignores this folder, so move the file to to_judge.judgments.tsv\n"

    JudgmentFile(folder / "to_judge.judgments.tsv", "ann").put({("q0", "d1"): {"grade": "3"}})
    rating, told = begun(pool)
    assert rating.file.grades == {("q0", "d1"): "3"}
    assert told == f"{old} is not read: to_judge.judgments.tsv exists, too (ireval import merges judgments)\n"


@pytest.mark.parametrize(
    ("scales", "grades"),
    [
        (["0=no,1=yes", "0=no,1=partly,2=yes"], {0: "no", 1: "", 2: "yes"}),
        (["0-1", "0-4"], dict.fromkeys(range(5), "")),
    ],
)
def test_the_page_offers_the_grades_of_the_suites(begun, folder, scales, grades):
    rating, _ = begun(table_of_gate(folder, *scales))

    assert rating.grades == grades
    assert "--grades" not in rating.page()[0]
    assert begun("ireval-report/to_judge.tsv", "--grades", "0-2")[0].grades == dict.fromkeys(range(3), "")


def test_where_nothing_says_the_grades_the_page_names_the_option(begun, folder):
    for pool in ("pool.tsv", table_of_gate(folder, "0-4", "")):
        rating, _ = begun(pool)
        assert rating.grades == dict.fromkeys(range(4), "")
        assert "For other grades, start it with <code>--grades 0-4</code>." in rating.page()[0]


def test_the_command_serves_until_it_is_interrupted(folder):
    command = [sys.executable, "-m", "pytest_ireval", "judge", "pool.tsv", "--no-browser", "--judge", "ann"]
    running = subprocess.Popen([*command, "--guideline", "v2"], stdout=subprocess.PIPE, text=True, cwd=folder)
    assert running.stdout.readline() == "36 documents to judge, 0 judged already by ann: pool.judgments.tsv\n"
    url = urlsplit(re.search(r"http://\S+", running.stdout.readline())[0])
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)
    headers = {"Content-Type": "application/json"}
    connection.request("POST", f"{url.path}items/5", json.dumps(grade("3")), headers)
    assert connection.getresponse().status == 200
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=30)

    assert out == "\n1 of 36 documents judged by ann: pool.judgments.tsv\n"
    assert running.returncode == 0
    (row,) = csv.DictReader((folder / "pool.judgments.tsv").read_text().splitlines(), delimiter="\t")
    assert row == {
        "query": "q1",
        "document": "q1-2",
        "grade": "3",
        "judge": "ann",
        "date": "2026-03-01",
        "guideline": "v2",
    }


def test_a_program_that_agrees_with_humans_judges_the_pool(ireval, folder, program):
    outcome = ireval("judge", "pool.tsv", "--with", program(), "--calibrate", "human.txt", "--model-name", "toy 1")

    assert outcome.code == 0
    assert "kappa 1.00 is at least 0.6" in outcome.out
    assert "wrote pool.judgments.tsv: 36 judgments by toy 1" in outcome.out
    assert outcome.out.splitlines()[-1] == "asked for 36 answers"
    found = read_judgments(folder / "pool.judgments.tsv")
    assert len(found) == 36
    assert {name: set(values) for name, values in found.columns.items()} == {
        "judge": {"toy 1"},
        "date": {"2026-03-01"},
        "model": {"toy 1"},
    }


def test_a_program_that_does_not_agree_is_refused_and_nothing_is_written(ireval, folder, program):
    outcome = ireval("judge", "pool.tsv", "--with", program(BAD), "--calibrate", "human.txt")

    assert outcome.code == 1
    assert "kappa -0.50 is below 0.6" in outcome.out
    assert "refused: pool.judgments.tsv not written" in outcome.out
    assert "asked for 30 answers" in outcome.out  # the rest of the pool was not paid for
    assert not (folder / "pool.judgments.tsv").exists()
    lower = ireval("judge", "pool.tsv", "--with", program(BAD), "--calibrate", "human.txt", "--least-kappa", "-1")
    assert lower.code == 0


def test_a_program_is_not_trusted_without_human_judgments_unless_the_user_says_so(ireval, program, folder):
    command = program()
    refused = ireval("judge", "pool.tsv", "--with", command)
    trusted = ireval("judge", "pool.tsv", "--with", command, "--without-calibration")

    assert refused.code == 2
    assert "--without-calibration" in refused.err
    assert "not calibrated: no human judgments say how good these grades are" in trusted.out
    assert (folder / "pool.judgments.tsv").exists()


def test_the_budget_ends_cleanly_and_the_next_run_goes_on(ireval, folder, program):
    command = program()
    common = ("judge", "pool.tsv", "--with", command, "--calibrate", "human.txt", "--budget")
    first, second, third = (ireval(*common, budget) for budget in (20, 12, 4))

    assert (first.code, second.code, third.code) == (1, 0, 0)
    assert "the budget ended with 20 of 30 answers of the calibration: nothing written; run again to go on" in first.out
    assert "the budget ended: 4 documents not judged yet; run again to go on" in second.out
    assert "not judged yet" not in third.out
    assert len(read_judgments(folder / "pool.judgments.tsv")) == 36


def test_humans_judge_documents_of_their_own_pool_with_its_texts(ireval, folder, program):
    human = "query,query_text,document,document_title,grade\n" + "".join(
        f"x{n},cup,x{n}-{n % 3},Cup {n},{n % 3}\n" for n in range(9)
    )
    (folder / "human.csv").write_text(human)
    (folder / "bare.csv").write_text("query,document,grade\nx,y,1\n")

    assert "kappa 1.00" in ireval("judge", "pool.tsv", "--with", program(), "--calibrate", "human.csv").out
    bare = ireval("judge", "pool.tsv", "--with", program(), "--calibrate", "bare.csv")
    assert bare.code == 2
    assert "no human judgment is about a document of the pool or has texts" in bare.err


def test_an_audit_is_drawn_by_slice_and_compared_by_slice(ireval, folder, program):
    """In the tail the program is always wrong: the audit shows it, and figures get a wider interval."""
    tail = "print(json.dumps({'grade': (int(asked['document'][-1]) + ('tail' in line)) % 3}), flush=True)"
    common = ("judge", "pool.tsv", "--with", program(tail), "--without-calibration", "--audit", "8", "--by")
    outcome = ireval(*common, "segment")
    assert (
        "wrote pool.audit.tsv: 16 documents of 2 slices for humans to judge: ireval judge pool.audit.tsv" in outcome.out
    )
    assert "pool.audit.tsv exists already: not written again" in ireval(*common, "segment").out
    assert "did you mean 'query_segment'?" in ireval(*common, "query_segmen").err

    audit = read_pool(folder / "pool.audit.tsv")
    assert sum(cells["query_segment"] == "tail" for cells in audit.columns.values()) == 8
    rows = {item.pair: {"grade": item.document[-1], "date": "2026-03-02"} for item in audit.items}
    JudgmentFile(folder / "pool.audit.judgments.tsv", "ann").put(rows)
    queries = [f"q{q}" for q in range(12)]
    write_queries(folder / "queries.tsv", queries, segment=["head"] * 9 + ["tail"] * 3)
    for name, order in (("up", (0, 1, 2)), ("down", (2, 1, 0))):
        write_rankings(folder / f"{name}.txt", {query: [f"{query}-{d}" for d in order] for query in queries})
    options = ("--audit", "pool.audit.judgments.tsv", "--queries", "queries.tsv", "--by", "segment", "--draws", "20")
    rankings = ("--rankings", "up.txt", "--rankings", "down.txt", "-m", "nDCG@3")
    text = ireval("agreement", "pool.judgments.tsv", *options, *rankings)
    found = json.loads(ireval("agreement", "pool.judgments.tsv", *options, *rankings, "--format", "json").out)

    assert [(each["slice"], each["documents"], each["kappa"]) for each in found["audit"]][1] == ("head", 8, 1.0)
    assert "kappa is below 0.6, or not known: " in text.out
    assert next(each for each in found["audit"] if each["slice"] == "tail")["too_low"] == "yes"
    (difference,) = found["differences"]
    assert difference["pair"] == "down - up"
    assert difference["with_error"] > difference["value"]  # in the tail the program has it upside down


def test_models_that_answer_differently_on_the_way_are_told(ireval, program):
    model = "print(json.dumps({'grade': 1, 'model': asked['query'][:2]}), flush=True)"
    outcome = ireval("judge", "pool.tsv", "--with", program(model), "--without-calibration", "--judge", "bot")

    assert "36 judgments by bot (model q0, q1, q2 and 7 more)" in outcome.out
    assert "answers of 10 models: the judge changed on the way" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--audit", "3"), "--audit needs --with"),
        (("--grades", "3-0"), "'3-0' is not a range such as 0-3, or labels such as 0=no,1=yes"),
        (("--judge", "a\x1b[2J"), "--judge needs a name"),
        (("--to", "x.txt"), "cannot store judges and dates"),
        (("--to", "no/x.tsv"), "there is no such folder"),
        (("--with", "x", "--without-calibration", "--prompt", "human.txt"), "does not contain {prompt}"),
        (("--with", "x", "--calibrate", "human.txt", "--grades", "0-1"), "has the grades 2"),
        (("--with", "x", "--without-calibration", "--calibrate", "human.txt"), "not both"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_mistakes_on_the_command_line(ireval, arguments, complaint):
    outcome = ireval("judge", "pool.tsv", "--no-browser", *arguments)

    assert outcome.code == 2
    assert complaint in outcome.err


def test_a_port_that_is_taken_is_told(ireval, folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        outcome = ireval("judge", "pool.tsv", "--no-browser", "--judge", "ann", "--port", taken.getsockname()[1])

    assert outcome.code == 2
    assert "cannot be used: Address already in use" in outcome.err
    assert not (folder / "pool.judgments.tsv").exists()


def test_a_pool_without_anything_to_judge_is_an_error(ireval, folder):
    (folder / "done.tsv").write_text("query\tdocument\tgrade\nq\td\t1\n")

    assert "every document has a grade already" in ireval("judge", "done.tsv", "--no-browser").err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--by", "segment"), "--by needs --audit and --queries"),
        (("human.txt", "--audit", "human.txt"), "--audit is about one file of JUDGMENTS"),
    ],
)
def test_mistakes_about_an_audit(ireval, folder, arguments, complaint):
    (folder / "one.txt").write_text("q0 0 q0-0 0\n")

    assert complaint in ireval("agreement", "one.txt", *arguments).err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--to", "same.jsonl", "--cache", "same.jsonl"), "--cache same.jsonl is the same file as --to same.jsonl"),
        (("--cache", "pool.tsv"), "--cache pool.tsv is the same file as the input pool.tsv"),
    ],
)
def test_one_file_for_two_purposes_is_refused(ireval, folder, options, said):
    before = (folder / "pool.tsv").read_text(encoding="utf-8")
    outcome = ireval("judge", "pool.tsv", "--with", "python3 judge.py", "--without-calibration", *options)

    assert outcome.code == 2
    assert said in outcome.err
    assert (folder / "pool.tsv").read_text(encoding="utf-8") == before
