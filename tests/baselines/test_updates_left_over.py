"""An update that was interrupted leaves a folder behind: it is no baseline, and it is finished or given up."""

import errno
import json
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from made_baselines import LEFT_OVER, NEW, OLD, baseline_of, content

from pytest_ireval.baselines import journal, reading, writing
from pytest_ireval.baselines.files import baseline_files, path_of
from pytest_ireval.baselines.journal import locked, put_into_place
from pytest_ireval.baselines.reading import read_baseline, read_record
from pytest_ireval.baselines.writing import encoded_baseline, finish_interrupted, write_baseline, write_files
from pytest_ireval.errors import BaselineError


def interrupted(folder, monkeypatch):
    """A new baseline is committed, and nothing of it is in place."""
    write_baseline(folder, OLD)
    with monkeypatch.context() as patch:
        patch.setattr(writing, "put_into_place", lambda *_: False)
        write_baseline(folder, NEW)


@pytest.mark.parametrize("read", [read_baseline, read_record])
@pytest.mark.parametrize("lock_is_there", [True, False])
def test_an_update_that_was_interrupted_is_no_baseline_and_reading_it_writes_nothing(
    tmp_path, monkeypatch, read, lock_is_there
):
    monkeypatch.chdir(tmp_path)
    folder = Path("baselines")
    interrupted(folder, monkeypatch)
    if not lock_is_there:  # as in a clone of a repository into which somebody committed the folder
        (folder / ".lock").unlink()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    with pytest.raises(BaselineError) as error:
        read(folder, "shop")

    assert str(error.value) == (
        f"baselines/.shop.commit\n  {LEFT_OVER}git checkout -- baselines/shop.json and the files beside it"
    )
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_giving_up_an_update_that_was_interrupted_brings_the_old_baseline_back(tmp_path, monkeypatch):
    interrupted(tmp_path, monkeypatch)

    shutil.rmtree(tmp_path / ".shop.commit")

    assert content(read_baseline(tmp_path, "shop")) == content(OLD)


def test_who_reads_waits_for_a_writer_that_lives(tmp_path, monkeypatch):
    interrupted(tmp_path, monkeypatch)
    naps = []

    def nap(seconds):
        naps.append(seconds)
        if len(naps) == 3:
            put_into_place(tmp_path, "shop")

    monkeypatch.setattr(reading, "time", SimpleNamespace(sleep=nap, monotonic=time.monotonic))
    with locked(tmp_path):
        assert content(read_baseline(tmp_path, "shop")) == content(NEW)
    assert len(naps) == 3


@pytest.mark.parametrize(
    "take",
    [
        pytest.param(lambda folder: read_baseline(folder, "shop"), id="read"),
        pytest.param(lambda folder: finish_interrupted(folder, "shop"), id="finish"),
        pytest.param(lambda folder: write_baseline(folder, NEW), id="update"),
    ],
)
def test_an_interrupted_update_that_git_has_is_taken_by_nobody(monkeypatch, git, take):
    """Somebody else's branch brings it: its baseline was never compared with the base."""
    folder = Path("baselines")
    interrupted(folder, monkeypatch)
    git("add", "--all", "--force")
    git("commit", "-qm", "sneaked in")

    with pytest.raises(BaselineError) as error:
        take(folder)

    assert str(error.value) == (
        "baselines/.shop.commit\n  is tracked by git, but belongs to an interrupted update; baselines are never read "
        "from it\n  remove it: git rm -r baselines/.shop.commit; to keep the update, run it again"
    )
    git("rm", "-rq", "baselines/.shop.commit")
    assert content(read_baseline(folder, "shop")) == content(OLD)


@pytest.mark.parametrize("way", ["/abs", "../up", "x/../../up", "", ".lock", "json\n", 7, ["json"]])
def test_a_journal_leads_to_no_file_outside_of_its_folder(tmp_path, monkeypatch, way):
    """Somebody else's branch may have brought it."""
    folder = tmp_path / "baselines"
    interrupted(folder, monkeypatch)
    outside = tmp_path / "up"
    outside.write_text("mine")
    manifest = folder / ".shop.commit/journal"
    said = json.loads(manifest.read_text())
    said["endings"] = ["json", str(outside) if way == "/abs" else way]
    manifest.write_text(json.dumps(said))

    with pytest.raises(BaselineError, match="holds an interrupted update"):
        read_baseline(folder, "shop")
    with pytest.raises(BaselineError, match="holds an interrupted update"):
        finish_interrupted(folder, "shop")
    assert outside.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir() if path != folder] == ["up"]


def test_an_update_that_was_interrupted_can_be_finished(tmp_path, monkeypatch):
    interrupted(tmp_path, monkeypatch)

    assert finish_interrupted(tmp_path, "shop")
    assert not finish_interrupted(tmp_path, "shop")
    assert not (tmp_path / ".shop.commit").exists()

    files = encoded_baseline(NEW)
    assert {path: path.read_bytes() for path in baseline_files(tmp_path, "shop")} == {
        path_of(tmp_path, "shop", ending): data for ending, data in files.items()
    }


def test_an_interrupted_update_is_not_taken_for_one_of_another_branch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("baselines")
    interrupted(folder, monkeypatch)
    other = encoded_baseline(baseline_of({"q7": ["elsewhere"]}))
    for path in baseline_files(folder, "shop"):
        path.unlink()
    for ending, data in other.items():
        path_of(folder, "shop", ending).write_bytes(data)

    with pytest.raises(BaselineError) as error:
        read_baseline(folder, "shop")
    with pytest.raises(BaselineError) as finishing:
        finish_interrupted(folder, "shop")

    assert str(finishing.value) == str(error.value)
    assert str(error.value) == (
        "baselines/.shop.commit\n  holds an interrupted update of a baseline that has changed since then\n  "
        "remove the folder; if the update is still wanted, accept again"
    )
    write_files(folder, "shop", encoded_baseline(NEW))
    assert content(read_baseline(folder, "shop")) == content(NEW)


def test_a_journal_that_is_finished_while_it_is_looked_at_is_no_error(tmp_path, monkeypatch):
    interrupted(tmp_path, monkeypatch)
    real = journal.Journal.checked

    def finished_at_once(self, record):
        monkeypatch.setattr(journal.Journal, "checked", real)
        finish_interrupted(tmp_path, "shop")
        return real(self, record)

    monkeypatch.setattr(journal.Journal, "checked", finished_at_once)

    assert content(read_baseline(tmp_path, "shop")) == content(NEW)


def test_files_that_are_nobodys_are_not_the_journals_to_judge(tmp_path):
    journal.committed(tmp_path, "shop").mkdir()
    (journal.committed(tmp_path, "shop") / "journal").write_text("{")

    with pytest.raises(BaselineError):
        read_baseline(tmp_path, "shop")


def test_an_interrupted_update_that_the_system_does_not_let_us_read_is_not_dropped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("baselines")
    interrupted(folder, monkeypatch)
    real = Path.read_bytes

    def refused(path):
        if path.name == "journal":
            raise OSError(errno.EMFILE, "Too many open files")
        return real(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refused)
        with pytest.raises(BaselineError) as reading_it:
            read_baseline(folder, "shop")
        with pytest.raises(BaselineError) as writing_it:
            write_baseline(folder, OLD)

    assert str(reading_it.value) == (
        "baselines/.shop.commit\n  holds an interrupted update that cannot be read: Too many open files"
    )
    assert str(writing_it.value) == (
        "baselines/shop.json\n  cannot be written: Too many open files; the update is incomplete; run it "
        "again to finish it"
    )
    assert finish_interrupted(folder, "shop")
    assert content(read_baseline(folder, "shop")) == content(NEW)
