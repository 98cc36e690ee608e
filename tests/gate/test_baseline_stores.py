"""A gate whose baselines have their large files in a store: accepting, comparing, and what is red without the store."""

import os
import re
import shutil
from pathlib import Path

import pytest

STORE = """\
from pathlib import Path

from pytest_ireval import hookimpl


class Vault:
    def get(self, digest):
        {get}

    def put(self, digest, content):
        {put}


@hookimpl
def ireval_baseline_store(address):
    return Vault() if address.startswith("vault://") else None
"""


@pytest.fixture
def stored(shop, monkeypatch):
    """The shop, and an ini file that names a store."""
    monkeypatch.delenv("IREVAL_BASELINES", raising=False)
    another_machine(shop, monkeypatch)
    shop.pytester.makeini(f"[pytest]\nireval_baselines = {(shop.path / 'store').as_uri()}\n")
    return shop


def another_machine(shop, monkeypatch):
    """One without copies."""
    homes = len(list(shop.path.parent.glob("home*")))
    home = shop.path.parent / f"home{homes}"
    home.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_baseline_in_a_store_is_accepted_and_compared_with(stored, monkeypatch):
    assert stored.run("--ireval-update-new").ret == 0
    assert set(stored.baseline_files()) == {"shop.json"}
    assert "IREVAL_BASELINES" not in os.environ

    another_machine(stored, monkeypatch)
    assert stored.run().ret == 0
    stored.rankings["q01"].reverse()
    stored.rankings["q02"].reverse()
    stored.write()
    result = stored.run()
    assert result.ret == 1
    assert stored.verdicts()["no_regression::nDCG_10.all"] == "fail"

    assert stored.run("--ireval-update", "--ireval-reason", "meant").ret == 1, "the threshold is as red as before"
    stored.change(
        ("tolerance: 5%}", "tolerance: 90%}"), ('">= 0.5"', '">= 0.1"'), ("document: q01-d0", "document: q01-d3")
    )
    assert stored.run("--ireval-update", "--ireval-reason", "meant").ret == 0
    assert set(stored.baseline_files()) == {"shop.json"}
    another_machine(stored, monkeypatch)
    assert stored.run().ret == 0


def test_without_network_and_copies_the_run_is_an_error_and_says_what_to_do(stored, monkeypatch):
    stored.run("--ireval-update-new")
    (stored.path / "store").rename(stored.path / "away")
    assert stored.run().ret == 0, "the copies of this machine are enough"

    another_machine(stored, monkeypatch)
    result = stored.run()

    assert result.ret == 1
    verdicts = stored.verdicts()
    assert verdicts["threshold::nDCG_10"] == "pass"
    assert {verdict for id_, verdict in verdicts.items() if "regression" in id_ or "worsened" in id_} == {"error"}
    result.stdout.fnmatch_lines(["*the store file://* does not have this file: *", "*accept again*"])


def test_a_store_that_cannot_be_reached_leaves_the_old_baseline(stored):
    stored.pytester.makeini("[pytest]\nireval_baselines = vault://search\n")
    plugin = stored.path / "conftest.py"
    plugin.write_text(
        STORE.format(get="return Path(digest).read_bytes()", put="Path(digest).write_bytes(content)"), encoding="utf-8"
    )
    assert stored.run("--ireval-update-new").ret == 0
    before = stored.baseline_files()
    stored.rankings["q01"][2:] = reversed(stored.rankings["q01"][2:])
    stored.write()
    down = 'raise ConnectionError("vault is down")'
    plugin.write_text(STORE.format(get=down, put=down), encoding="utf-8")

    result = stored.run("--ireval-update", "--ireval-reason", "meant")

    assert result.ret == 1
    assert stored.baseline_files() == before
    result.stdout.fnmatch_lines(["*cannot be put into the store vault://search: ConnectionError: vault is down*"])
    result.stdout.fnmatch_lines(["*the baseline stays as it was*"])
    assert stored.run().ret == 0


def test_a_branch_is_compared_with_its_base_in_the_store(branch, monkeypatch):
    shop = branch.shop
    another_machine(shop, monkeypatch)
    monkeypatch.setenv("IREVAL_BASELINES", (shop.path / "store").as_uri())
    branch.git("checkout", "--quiet", "main")
    (shop.path / ".gitignore").write_text("store/\nireval-report/\n__pycache__/\n")
    shutil.rmtree(shop.path / "baselines")
    shop.run("--ireval-update", "--ireval-force", "--ireval-reason", "into a store")
    branch.commit("into a store")
    branch.git("checkout", "--quiet", "-B", "change")
    branch.accept(q10="d1 d0 d2 d3")
    another_machine(shop, monkeypatch)

    result = branch.run()

    result.stdout.fnmatch_lines(["*the branch lowers its baseline: nDCG@10 *"])
    assert set(branch.git("ls-files", "baselines").split()) == {
        f"baselines/{name}" for name in (".gitattributes", ".gitignore", "shop.json")
    }


def test_the_option_comes_before_the_variable_and_the_ini_file(stored, monkeypatch):
    monkeypatch.setenv("IREVAL_BASELINES", (stored.path / "second").as_uri())
    stored.run("--ireval-update-new", "--ireval-baselines", (stored.path / "first").as_uri())
    assert os.environ["IREVAL_BASELINES"] == (stored.path / "second").as_uri()
    assert [name for name in ("first", "second", "store") if (stored.path / name).exists()] == ["first"]

    shutil.rmtree(stored.path / "baselines")
    stored.run("--ireval-update-new")
    assert [name for name in ("first", "second", "store") if (stored.path / name).exists()] == ["first", "second"]


def test_an_empty_option_is_refused(stored):
    result = stored.run("--ireval-baselines", "")

    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--ireval-baselines is empty: give the address of a store, such as s3://*"])


def test_a_python_test_compares_with_the_stored_baseline(stored, monkeypatch):
    stored.run("--ireval-update-new")
    another_machine(stored, monkeypatch)
    stored.pytester.makepyfile("def test_shop(ireval):\n    ireval.check('shop.ireval.yaml')\n")

    assert stored.pytester.runpytest("-p", "no:cacheprovider").ret == 0
    assert "IREVAL_BASELINES" not in os.environ


def test_a_password_of_the_address_is_in_no_output(stored):
    stored.pytester.makeini("[pytest]\nireval_baselines = vault://ada:correct-horse@host/x\n")
    broken = 'raise ConnectionError("ada:correct-horse@host refused")'
    (stored.path / "conftest.py").write_text(STORE.format(get=broken, put=broken), encoding="utf-8")
    result = stored.run("--ireval-update-new", "--junitxml", "junit.xml", "-vv")

    said = result.stdout.str() + result.stderr.str()
    assert result.ret == 1
    assert "cannot be put into the store vault://host/x: ConnectionError: ${IREVAL_BASELINES}@host refused" in said
    outputs = [*(stored.path / "ireval-report").rglob("*"), stored.path / "junit.xml"]
    assert len(outputs) > 3
    assert "correct-horse" not in said
    assert not [path for path in outputs if path.is_file() and b"correct-horse" in path.read_bytes()]


PAGE = Path(__file__).parents[2] / "docs/plugins.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="needs a checkout of the project")
def test_the_store_of_the_page_stores(stored, monkeypatch):
    code = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (shown,) = [block for block in code if "def ireval_baseline_store" in block]
    stored.pytester.makeini(f"[pytest]\nireval_baselines = sqlite://{stored.path}/vault.sqlite\n")
    (stored.path / "conftest.py").write_text(shown, encoding="utf-8")
    stored.run("--ireval-update-new")
    another_machine(stored, monkeypatch)

    assert stored.run().ret == 0
    assert set(stored.baseline_files()) == {"shop.json"}
    assert (stored.path / "vault.sqlite").is_file()
