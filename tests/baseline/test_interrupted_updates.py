"""Whatever happens while a baseline is written, the file is the old one or the new one, and nothing stays beside it."""

import builtins
import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from made_baselines import FIRST, NEW, OLD, SECOND, baseline_of, content

from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.baseline.text import encode_baseline
from pytest_ireval.baseline.writing import delete_baseline, replace_file, write_anchor, write_baseline
from pytest_ireval.errors import BaselineError

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
CALLS = ("write", "flush", "fsync", "replace")


class StoppingFile:
    """A file of which half arrives when the moment comes to stop at its write."""

    def __init__(self, file, reach):
        self.file, self.reach = file, reach

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, data):
        self.file.write(data[: len(data) // 2])
        self.file.flush()
        self.reach("write")
        self.file.write(data[len(data) // 2 :])

    def flush(self):
        self.reach("flush")
        self.file.flush()

    def fileno(self):
        return self.file.fileno()


def stop_at(call, stop, patch):
    """Let ``stop`` happen at one of the calls of a write."""

    def reach(name):
        if name == call:
            stop()

    def around(name, function):
        return lambda *arguments: (reach(name), function(*arguments))[1]

    for name in ("fsync", "replace"):
        patch(os, name, around(name, getattr(os, name)))
    opened = builtins.open
    patch(builtins, "open", lambda path, mode="r": StoppingFile(opened(path, mode), reach))


@needs_fork
@pytest.mark.parametrize("call", CALLS)
def test_killed_at_any_call_it_is_the_old_one_and_can_be_written(tmp_path, call):
    write_baseline(tmp_path, OLD)
    child = os.fork()
    if not child:
        stop_at(call, lambda: os._exit(9), setattr)
        write_baseline(tmp_path, NEW)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9

    assert content(read_baseline(tmp_path, "shop")) == content(OLD)
    write_baseline(tmp_path, NEW)
    assert content(read_baseline(tmp_path, "shop")) == content(NEW)


@pytest.mark.parametrize("call", CALLS)
def test_refused_at_any_call_it_is_the_old_one_and_nothing_is_left_beside_it(tmp_path, monkeypatch, call):
    write_baseline(tmp_path, OLD)

    def fill_the_disk():
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        stop_at(call, fill_the_disk, patch.setattr)
        with pytest.raises(BaselineError) as error:
            write_baseline(tmp_path, NEW)

    assert str(error.value).endswith("shop.baseline\n  cannot be written: No space left on device; nothing was changed")
    assert [path.name for path in tmp_path.iterdir()] == ["shop.baseline"]
    assert content(read_baseline(tmp_path, "shop")) == content(OLD)


@needs_fork
def test_where_no_room_is_left_the_old_one_stays(tmp_path):
    import resource  # Windows has none

    write_baseline(tmp_path, OLD)
    child = os.fork()
    if not child:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails, as it does on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
        try:
            write_baseline(tmp_path, NEW)
        except BaselineError as error:
            os._exit(7 if "cannot be written" in str(error) else 8)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7

    assert [path.name for path in tmp_path.iterdir()] == ["shop.baseline"]
    assert content(read_baseline(tmp_path, "shop")) == content(OLD)


@needs_fork
@pytest.mark.slow
def test_killed_at_a_hundred_random_moments_it_is_the_old_or_the_new_one(tmp_path):
    path = write_baseline(tmp_path, OLD)
    old, new = encode_baseline(OLD), encode_baseline(NEW)
    script = (
        "import sys; from pathlib import Path; from test_interrupted_updates import *\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    for text in (encode_baseline(NEW), encode_baseline(OLD)): replace_file(Path(sys.argv[1]), text)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])}
    chance, found = random.Random(7), set()
    for _ in range(100):
        writer = subprocess.Popen([sys.executable, "-c", script, path], env=environment, stdout=subprocess.PIPE)
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(chance.random() / 50)
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        found.add(path.read_bytes())
        assert found <= {old, new}
    assert found == {old, new}


def test_readers_beside_a_writer_that_never_rests_always_find_a_whole_baseline(tmp_path):
    path = write_baseline(tmp_path, OLD)
    script = (
        "import sys; from pathlib import Path; from test_interrupted_updates import *\n"
        "print(flush=True)\n"
        "for number in range(300):\n"
        "    replace_file(Path(sys.argv[1]), encode_baseline((NEW, OLD)[number % 2]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])}
    writer = subprocess.Popen([sys.executable, "-c", script, path], env=environment, stdout=subprocess.PIPE)
    writer.stdout.readline()  # it has imported what it needs, and begins to write
    while writer.poll() is None:
        assert content(read_baseline(tmp_path, "shop")) in (content(OLD), content(NEW))
    writer.stdout.close()
    assert writer.returncode == 0


def test_a_new_file_has_the_rights_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("")
    replace_file(tmp_path / "new", b"")

    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_who_accepts_what_somebody_else_has_accepted_meanwhile_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_baseline(Path(), NEW)
    third = FIRST._replace(date="2026-11-21T00:00:00Z", reason="mine")

    with pytest.raises(BaselineError) as error:
        write_baseline(Path(), baseline_of(acceptances=(FIRST, third)))

    assert str(error.value) == (
        "shop.baseline\n  was accepted by another run meanwhile, at 2026-11-20T08:30:00Z: synonyms v2\n"
        "  nothing was written; run again, to compare with what is accepted now"
    )
    assert content(read_baseline(Path(), "shop")) == content(NEW)


def test_acceptances_are_kept_where_the_rest_is_damaged(tmp_path):
    path = write_baseline(tmp_path, NEW)
    path.write_text(path.read_text().replace('"z"', '"other"'))
    third = FIRST._replace(date="2026-11-21T00:00:00Z")

    write_baseline(tmp_path, baseline_of(acceptances=(third,)))

    assert read_baseline(tmp_path, "shop").acceptances == (FIRST, SECOND, third)


@pytest.mark.parametrize("write", [write_baseline, lambda folder, baseline: write_anchor(folder, baseline, FIRST)])
def test_a_folder_that_cannot_be_made_is_an_error(tmp_path, write):
    (tmp_path / "baselines").write_text("a file")

    with pytest.raises(BaselineError, match=r"\n  cannot be written: .*; nothing was changed$"):
        write(tmp_path / "baselines", baseline_of())


def test_a_deleted_baseline_is_gone_and_others_stay(tmp_path):
    for suite in ("shop", "shop.de"):
        write_baseline(tmp_path, baseline_of(suite=suite))
    write_anchor(tmp_path, baseline_of(), FIRST)

    assert [path.name for path in delete_baseline(tmp_path, "shop")] == ["shop.baseline"]

    assert sorted(path.name for path in tmp_path.iterdir()) == ["shop.anchor.baseline", "shop.de.baseline"]
