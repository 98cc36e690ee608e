"""Folders, systems and names that nobody thinks of: the gate works there, or says what is in its way."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider")
pytestmark = pytest.mark.ci
posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")


@pytest.fixture
def run(pytester):
    """Runs ``pytest --ireval`` as a program of its own."""

    def run_pytest(*arguments, folder=pytester.path, environment=None):
        return subprocess.run(
            [*PYTEST, "-p", "pytest_ireval.pytest_plugin.plugin", "--ireval", *arguments],
            cwd=folder,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )

    return run_pytest


def clean(result):
    """What was printed, which no traceback is part of."""
    assert "Traceback" not in result.stdout, result.stdout
    assert "INTERNALERROR" not in result.stdout, result.stdout
    return result.stdout


def test_results_that_cannot_be_replaced_are_removed_so_that_nobody_reads_a_stale_green(shop, monkeypatch):
    shop.accept()
    shop.run()
    assert shop.results()["verdict"] == "pass"
    from pytest_ireval.clock import read_clock
    from pytest_ireval.pytest_plugin import report_files

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(report_files, "replace_files", full)
        report_files.ReportFiles(shop.path / "ireval-report", shop.path).discard_earlier(read_clock())

    left = sorted(path.name for path in (shop.path / "ireval-report").iterdir())
    assert left == [".gitignore", "rankings_before.zip"], "the second has no verdict in it"


def test_a_folder_that_may_not_be_written_to_is_red_and_the_remedy_is_said(shop, monkeypatch):
    shop.accept()

    def refused(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr("tempfile.mkstemp", refused)
        red = shop.run()
        green = shop.run("--ireval-report", "none")

    red.stdout.fnmatch_lines(
        [
            "problem: *results.json: cannot be written: Read-only file system; "
            "--ireval-report DIR writes to another folder, none writes no files"
        ]
    )
    assert (red.ret, green.ret) == (1, 0)


FILES = ("queries.tsv", "judgments.txt", "rankings.txt", "shop.ireval.yaml")
NAMES = ["a b\tc größe 日本語 quo\"te's %cent back\\slash dollar$HOME{x}", "-dash, and li\nne"]


@posix
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_folder_of_an_odd_name(shop, run, name):
    folder = shop.path / name
    folder.mkdir()
    for file in FILES:
        (shop.path / file).rename(folder / file)

    first = run("--ireval-update-new")
    second = run()

    assert (first.returncode, second.returncode) == (0, 0), clean(first) + clean(second)
    assert (folder / "baselines").is_dir()
    assert "checks of shop passed" in clean(second)


@posix
def test_a_folder_whose_name_is_no_utf_8(shop, run):
    folder = os.path.join(os.fsencode(shop.path), b"caf\xe9")
    try:
        os.mkdir(folder)
    except OSError as error:
        pytest.skip(f"the disk has no such names: {error}")
    for file in map(os.fsencode, FILES):
        os.rename(os.path.join(os.fsencode(shop.path), file), os.path.join(folder, file))

    assert run("--ireval-update-new").returncode == 0
    inside = run(folder=Path(os.fsdecode(folder)))
    assert inside.returncode == 0, clean(inside)
    shop.rankings = {query: documents[::-1] for query, documents in shop.rankings.items()}
    shop.write()
    os.replace(shop.path / "rankings.txt", os.path.join(folder, b"rankings.txt"))
    (shop.path / "shop.ireval.yaml").unlink()
    red = run()
    assert red.returncode == 1, clean(red)
    assert "fell" in clean(red)


NOWHERE = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "TMPDIR", "PATH"), "/nowhere")


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX", "LANG": "", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "de_DE.ISO-8859-1", "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"},
        {**NOWHERE, "TERM": "dumb", "COLUMNS": "1"},
        {"COLUMNS": "many"},
    ],
    ids=str,
)
def test_an_odd_environment(shop, run, monkeypatch, environment):
    for name in ("HOME", "USERPROFILE", "LOGNAME", "USER"):
        monkeypatch.delenv(name, raising=False)
    shop.change(('owner: "@search-team"', 'owner: "@größe"'))
    shop.accept()
    shop.rankings["q01"].reverse()
    shop.rankings["q02"].reverse()
    shop.write()

    update = run("--ireval-update", "--ireval-reason", "für ☃", "--ireval-force", environment=environment)

    assert update.returncode == 1
    assert "new baseline" in clean(update)
    assert any("für ☃".encode() in content for content in shop.baseline_files().values())


def test_line_ends_of_windows_and_byte_order_marks_in_every_file(shop, run):
    shop.accept()
    for path in [*(shop.path / name for name in FILES), *shop.path.glob("baselines/shop.*")]:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    for name in FILES:
        path = shop.path / name
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    result = run()

    assert result.returncode == 0, clean(result)
    assert "nothing to accept, unchanged since the baseline" in clean(run("--ireval-update"))


@posix
def test_every_file_and_folder_is_a_link(shop, run, tmp_path_factory):
    shop.accept()
    shop.run()
    real = tmp_path_factory.mktemp("real")
    for name in (*FILES, "baselines", "ireval-report"):
        (shop.path / name).rename(real / name)
        (shop.path / name).symlink_to(real / name)

    assert run().returncode == 0
    shop.rankings["q01"].reverse()
    shop.write()
    update = run("--ireval-update", "--ireval-reason", "x", "--ireval-force")

    assert "new baseline" in clean(update)
    assert all((shop.path / name).is_symlink() for name in (*FILES, "baselines", "ireval-report"))


@posix
@pytest.mark.parametrize(("name", "target"), [("rankings.txt", "nowhere"), ("baselines", "baselines")])
def test_a_link_that_leads_nowhere(shop, run, name, target):
    shop.accept()
    (shop.path / name).rename(shop.path / "kept")
    (shop.path / name).symlink_to(target)

    result = run()

    assert result.returncode != 0
    assert name.removesuffix("s") in clean(result)


@posix
def test_a_suite_that_is_a_link_to_nowhere_is_not_passed_over(shop, run):
    other = shop.path / "other.ireval.yaml"
    other.write_text(shop.suite.replace("suite: shop", "suite: other"))
    (shop.path / "shop.ireval.yaml").unlink()
    (shop.path / "shop.ireval.yaml").symlink_to("nowhere")

    result = run("--ireval-update-new")

    assert result.returncode != 0
    assert "shop.ireval.yaml" in clean(result)


def test_without_asserts_and_docstrings_the_verdicts_are_the_same(shop, run):
    shop.accept()
    green = run(environment={"PYTHONOPTIMIZE": "2"})
    shop.rankings["q10"] = ["q10-n1", "q10-n2", "q10-n3"]
    shop.write()
    red = run(environment={"PYTHONOPTIMIZE": "2"})

    assert (green.returncode, red.returncode) == (0, 1), clean(green)
    clean(red)
