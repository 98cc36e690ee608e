"""Whatever happens while a baseline is written, it is the old one, the new one, or said to be open; never a mixture."""

import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from interrupted_writer import Moments
from made_baselines import FIRST, LEFT_OVER, NEW, OLD, SECOND, baseline_of, content

from pytest_ireval.baselines import journal, reading
from pytest_ireval.baselines.journal import journal_of, locked
from pytest_ireval.baselines.reading import read_baseline, read_record
from pytest_ireval.baselines.writing import (
    delete_baseline,
    encoded_baseline,
    finish_interrupted,
    write_baseline,
    write_files,
)
from pytest_ireval.errors import BaselineError

HERE = Path(__file__).parent

INTERRUPTED = "interrupted"

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def run(*arguments, **more):
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def found_in(folder):
    """The content of the baseline, or that nobody can say which one counts."""
    try:
        return content(read_baseline(folder, "shop"))
    except BaselineError as error:
        assert LEFT_OVER in str(error)
        assert journal_of(folder, "shop") is not None
        return INTERRUPTED


@pytest.mark.ci
@needs_fork
def test_killed_at_any_call_it_is_old_new_or_open_and_the_next_update_finishes(tmp_path):
    writer = run(HERE / "interrupted_writer.py", tmp_path)
    moments, trouble = writer.communicate()
    assert writer.returncode == 0, trouble

    found = [found_in(tmp_path / str(moment)) for moment in range(1, int(moments) + 1)]
    assert len(found) > 30
    committed, changed = found.index(INTERRUPTED), found.index(content(NEW))
    assert found == (
        [content(OLD)] * committed + [INTERRUPTED] * (changed - committed) + [content(NEW)] * (len(found) - changed)
    )
    assert changed - committed >= 10  # some died with the change committed and not in place
    for moment in range(committed + 1, changed + 1, 2):
        assert finish_interrupted(tmp_path / str(moment), "shop")
        assert found_in(tmp_path / str(moment)) == content(NEW)
    third = baseline_of({"q9": ["k"]}, acceptances=(FIRST, SECOND, FIRST))
    for moment in range(1, int(moments) + 1):
        write_baseline(tmp_path / str(moment), third)
        assert content(read_baseline(tmp_path / str(moment), "shop")) == content(third)
        assert sorted(path.name for path in (tmp_path / str(moment)).iterdir()) == [
            ".gitattributes",
            ".gitignore",
            ".lock",
            "shop.json",
            "shop.judgments.tsv",
            "shop.rankings.tsv",
        ]


def test_refused_at_any_call_it_is_old_new_or_open_and_the_error_says_which(tmp_path, monkeypatch):
    said = set()
    for moment in range(1, 1000):
        folder = tmp_path / str(moment)
        write_baseline(folder, OLD)

        def disk_is_full():
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            moments = Moments(moment, disk_is_full)
            moments.install(patch.setattr)
            try:
                write_baseline(folder, NEW)
            except BaselineError as error:
                now = found_in(folder)
                which = {INTERRUPTED: INTERRUPTED, str(content(OLD)): "old", str(content(NEW)): "new"}[str(now)]
                said.add((str(error).partition("\n")[2], which))
            if moments.count < moment:
                break
        assert found_in(folder) in (content(OLD), INTERRUPTED, content(NEW))
        write_baseline(folder, NEW)
        assert content(read_baseline(folder, "shop")) == content(NEW)
        assert journal_of(folder, "shop") is None

    assert moment > 30
    assert said == {
        ("  cannot be written: No space left on device; nothing was changed", "old"),
        ("  cannot be written: No space left on device; nothing was changed", "new"),
        (
            "  cannot be written: No space left on device; the update is incomplete; run it again to finish it",
            INTERRUPTED,
        ),
    }


@needs_fork
@pytest.mark.slow
def test_killed_at_random_moments_it_is_old_new_or_open(tmp_path):
    script = (
        "import sys; from pathlib import Path; from test_interrupted_updates import *\n"
        "write_files(Path(sys.argv[1]), 'shop', encoded_baseline(OLD)); print('ready', flush=True)\n"
        "while True:\n"
        "    for each in (NEW, OLD): write_files(Path(sys.argv[1]), 'shop', encoded_baseline(each))\n"
    )
    chance = random.Random(7)
    for _ in range(4):
        writer = run("-c", script, tmp_path)
        try:
            assert writer.stdout.readline() == "ready\n"
            for _ in range(20):
                assert content(read_baseline(tmp_path, "shop")) in (content(OLD), content(NEW))
                time.sleep(chance.random() / 200)
        finally:
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
        if found_in(tmp_path) == INTERRUPTED:
            finish_interrupted(tmp_path, "shop")
        assert content(read_baseline(tmp_path, "shop")) in (content(OLD), content(NEW))


def test_two_who_write_at_once_take_turns(tmp_path):
    script = (
        "import sys; from pathlib import Path; from made_baselines import baseline_of\n"
        "from pytest_ireval.baselines.writing import encoded_baseline, write_files\n"
        "for i in range(15):\n"
        "    made = baseline_of({'q': [f'{sys.argv[2]}{i}']}, suite=sys.argv[3])\n"
        "    write_files(Path(sys.argv[1]), sys.argv[3], encoded_baseline(made))\n"
    )
    writers = [run("-c", script, tmp_path, who, suite) for who, suite in (("a", "shop"), ("b", "shop"), ("c", "blog"))]
    assert [writer.communicate()[1] for writer in writers] == ["", "", ""]

    shop, blog = read_baseline(tmp_path, "shop"), read_baseline(tmp_path, "blog")
    assert content(shop)["rankings"][0]["q"][0] in ("a14", "b14")
    assert content(blog)["rankings"] == [{"q": ["c14"]}]


def test_who_accepts_what_somebody_else_has_accepted_meanwhile_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("baselines")
    write_baseline(folder, OLD)
    write_baseline(folder, NEW)

    with pytest.raises(BaselineError) as error:
        write_baseline(folder, baseline_of(acceptances=(FIRST, FIRST)))

    assert str(error.value) == (
        "baselines/shop.json\n  was accepted by another run meanwhile, at 2026-11-20T08:30:00Z: synonyms v2\n"
        "  nothing was written; run again, to compare with what is accepted now"
    )
    assert content(read_baseline(folder, "shop")) == content(NEW)


def test_two_who_accept_in_the_same_second_are_two(tmp_path):
    write_baseline(tmp_path, OLD)

    with pytest.raises(BaselineError, match="was accepted by another run meanwhile"):
        write_baseline(tmp_path, baseline_of({"q1": ["z"]}, acceptances=OLD.acceptances))
    write_baseline(tmp_path, OLD)

    assert content(read_baseline(tmp_path, "shop")) == content(OLD)


def test_acceptances_are_kept_where_the_rest_is_damaged(tmp_path):
    write_baseline(tmp_path, OLD)
    (tmp_path / "shop.rankings.tsv").write_bytes(b"")

    write_baseline(tmp_path, baseline_of(acceptances=(SECOND,)))

    assert read_baseline(tmp_path, "shop").acceptances == (FIRST, SECOND)


def test_who_waits_too_long_is_told_who_holds_the_lock(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_baseline(Path("baselines"), OLD)

    with locked(Path("baselines")), pytest.raises(BaselineError) as error:
        write_baseline(Path("baselines"), NEW, wait=0.05)

    assert str(error.value) == (
        f"baselines/.lock\n  process {os.getpid()} is writing baselines here, and has not finished within 0.05 s; "
        "nothing was written\n  wait for it, or end it, and try again"
    )
    assert content(read_baseline(Path("baselines"), "shop")) == content(OLD)


def test_the_lock_of_a_process_that_died_holds_nobody_up(tmp_path):
    write_baseline(tmp_path, OLD)
    (tmp_path / ".lock").write_text("999999999\n")

    write_baseline(tmp_path, NEW, wait=0)

    assert content(read_baseline(tmp_path, "shop")) == content(NEW)


def test_a_lock_file_that_somebody_removed_does_not_let_two_in(tmp_path):
    with locked(tmp_path):
        (tmp_path / ".lock").unlink()
        with locked(tmp_path):  # of a new file, which is the one that counts
            handle = journal._opened(tmp_path / ".lock")
            assert not journal._taken(handle)
            journal._let_go(handle)


def test_a_folder_that_cannot_be_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("baselines").write_text("not a folder")

    with pytest.raises(BaselineError) as error:
        write_baseline(Path("baselines"), NEW)

    assert str(error.value) == "baselines/shop.json\n  cannot be written: File exists; nothing was changed"


def test_a_folder_that_may_not_be_written_to(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_baseline(Path("baselines"), OLD)

    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refused)
        with pytest.raises(BaselineError) as error:
            write_baseline(Path("baselines"), NEW)

    assert str(error.value) == "baselines/shop.json\n  cannot be written: Permission denied; nothing was changed"
    assert content(read_baseline(Path("baselines"), "shop")) == content(OLD)


def test_a_damaged_baseline_is_told_at_once_while_its_folder_is_written_to(tmp_path, monkeypatch):
    write_baseline(tmp_path, OLD)
    (tmp_path / "shop.rankings.tsv").write_bytes(b"")
    impatient = SimpleNamespace(sleep=lambda seconds: pytest.fail("nobody has to wait"), monotonic=time.monotonic)
    monkeypatch.setattr(reading, "time", impatient)

    with locked(tmp_path), pytest.raises(BaselineError, match=r"shop\.rankings\.tsv"):
        read_baseline(tmp_path, "shop")


def test_somebody_who_writes_while_a_baseline_is_read_is_waited_for(tmp_path, monkeypatch):
    write_baseline(tmp_path, OLD)
    real, files = reading.decoded_record, encoded_baseline(NEW)

    def slow(data):
        if files:
            write_files(tmp_path, "shop", dict(files))
            files.clear()
        return real(data)

    monkeypatch.setattr(reading, "decoded_record", slow)

    assert content(read_baseline(tmp_path, "shop")) == content(NEW)


def test_readers_beside_a_writer_that_never_rests_always_find_a_whole_baseline(tmp_path):
    script = (
        "import sys; from pathlib import Path; from test_interrupted_updates import *\n"
        "write_files(Path(sys.argv[1]), 'shop', encoded_baseline(OLD)); print('ready', flush=True)\n"
        "while sys.stdin.readline():\n"
        "    for each in (NEW, OLD): write_files(Path(sys.argv[1]), 'shop', encoded_baseline(each))\n"
        "    print('again', flush=True)\n"
    )
    writer = run("-c", script, tmp_path, stdin=subprocess.PIPE)
    try:
        for _ in range(20):
            assert writer.stdout.readline()
            writer.stdin.write("\n")
            writer.stdin.flush()
            for _ in range(5):
                assert content(read_baseline(tmp_path, "shop")) in (content(OLD), content(NEW))
                assert read_record(tmp_path, "shop").baseline.suite == "shop"
    finally:
        writer.kill()
        writer.communicate()


def test_a_deleted_baseline_is_gone_with_all_its_files(tmp_path):
    write_baseline(tmp_path, OLD)
    write_baseline(tmp_path, baseline_of(suite="shop.de"))

    gone = delete_baseline(tmp_path, "shop")

    assert len(gone) == 5
    assert read_baseline(tmp_path, "shop") is None
    assert content(read_baseline(tmp_path, "shop.de")) == content(baseline_of(suite="shop.de"))


@needs_fork
def test_a_child_that_outlives_the_holder_of_the_lock_does_not_hold_it(tmp_path):
    holder = os.fork()
    if not holder:
        with locked(tmp_path):
            if os.fork():
                os._exit(0)  # dies with the journal, as when it is killed
            time.sleep(60)
            os._exit(0)
    os.waitpid(holder, 0)

    with locked(tmp_path, wait=30):
        assert (tmp_path / ".lock").read_text() == f"{os.getpid()}\n"
