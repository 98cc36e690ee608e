"""Files of a baseline in a store: the .json file names them by their content; a wrong or missing one is an error."""

import importlib
import json
import os
import subprocess
import sys
import threading
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote
from uuid import uuid4

import pytest
from made_baselines import FIRST, NEW, OLD, SECOND, baseline_of, content

from pytest_ireval.baselines import store as stores
from pytest_ireval.baselines import writing
from pytest_ireval.baselines.files import ADDRESS, fingerprint
from pytest_ireval.baselines.reading import read_baseline, read_baseline_at, read_record
from pytest_ireval.baselines.record import OWN_LINE
from pytest_ireval.baselines.writing import write_anchor, write_baseline
from pytest_ireval.errors import BaselineError
from pytest_ireval.plugins.hookspecs import hookimpl
from pytest_ireval.plugins.registry import Plugins

ONE = baseline_of()
FULL = baseline_of(titles={"a": ("Title", "https://x.example")}, timings={"q1": (0.25,)}, fields={"a": {"price": 2.5}})


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """A machine without copies, and its store."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(ADDRESS, (tmp_path / "store").as_uri())
    monkeypatch.chdir(tmp_path)
    stores.STORES.bring(None)
    yield tmp_path
    stores.STORES.bring(None)


def forget(machine, monkeypatch):
    """Another machine: no copies."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine / f"{uuid4().hex}"))


def files_in(folder):
    return {path.name: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def names(record="baselines/shop.json"):
    return {k: v for k, v in json.loads(Path(record).read_text())["files"].items() if k != "json"}


def test_the_json_file_names_files_that_the_store_has(machine, monkeypatch):
    written = write_baseline(Path("baselines"), FULL)
    stored = files_in("store")

    assert [path.name for path in written] == ["shop.json"]
    assert {path.name for path in Path("baselines").iterdir()} == {"shop.json", ".gitattributes", ".gitignore", ".lock"}
    assert set(names()) == {"rankings.tsv", "judgments.tsv", "titles.jsonl", "fields.jsonl", "timings.jsonl"}
    assert set(stored) == set(names().values())
    assert all(sha256(data).hexdigest() == name for name, data in stored.items())
    assert Path("store", names()["titles.jsonl"][:2], names()["titles.jsonl"]).is_file()
    forget(machine, monkeypatch)
    read = read_baseline(Path("baselines"), "shop")
    assert content(read) == content(FULL)
    assert (read.titles, read.fields) == (FULL.titles, FULL.fields)


def test_packed_rankings_are_stored_packed(machine, monkeypatch):
    monkeypatch.setattr(writing, "LARGEST", 10)
    write_baseline(Path("baselines"), ONE)
    forget(machine, monkeypatch)

    assert files_in("store")[names()["rankings.tsv.zst"]].startswith(b"\x28\xb5\x2f\xfd")
    assert content(read_baseline(Path("baselines"), "shop")) == content(ONE)


def test_without_a_store_nothing_is_different(monkeypatch):
    write_baseline(Path("with"), ONE)
    monkeypatch.delenv(ADDRESS)
    write_baseline(Path("without"), ONE)

    assert [len(name) for name in names("without/shop.json").values()] == [16, 16]
    assert {key: name[:16] for key, name in names("with/shop.json").items()} == names("without/shop.json")
    assert content(read_baseline(Path("without"), "shop")) == content(ONE)


def test_files_in_git_move_into_the_store_with_the_next_acceptance_and_back(machine, monkeypatch):
    folder = Path("baselines")
    with monkeypatch.context() as patch:
        patch.delenv(ADDRESS)
        write_baseline(folder, OLD)
    assert content(read_baseline(folder, "shop")) == content(OLD)
    write_baseline(folder, NEW)
    assert not list(folder.glob("shop.*.tsv"))
    assert content(read_baseline(folder, "shop")) == content(NEW)

    monkeypatch.delenv(ADDRESS)
    third = FIRST._replace(date="2026-11-21T00:00:00Z")
    write_baseline(folder, baseline_of(acceptances=(FIRST, SECOND, third)))
    assert {path.name for path in folder.glob("shop.*")} == {"shop.json", "shop.rankings.tsv", "shop.judgments.tsv"}


def test_copies_are_enough_to_read_and_a_damaged_one_is_fetched_again(machine):
    write_baseline(Path("baselines"), ONE)
    copies, store = machine / "cache/pytest-ireval/baselines", Path("store")
    assert files_in(copies) == files_in(store)
    store.rename("away")

    assert content(read_baseline(Path("baselines"), "shop")) == content(ONE)

    Path("away").rename(store)
    for copy in copies.rglob("*"):
        if copy.is_file():
            copy.write_bytes(b"damaged")
    assert content(read_baseline(Path("baselines"), "shop")) == content(ONE)
    assert files_in(copies) == files_in(store)


def test_no_room_for_copies_is_no_obstacle(machine, monkeypatch):
    (machine / "file").write_text("a file, where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine / "file"))
    write_baseline(Path("baselines"), ONE)

    assert content(read_baseline(Path("baselines"), "shop")) == content(ONE)


def test_a_file_in_the_folder_is_used_if_it_is_what_was_accepted(machine, monkeypatch):
    write_baseline(Path("baselines"), ONE)
    name = names()["rankings.tsv"]
    beside = Path("baselines/shop.rankings.tsv")
    beside.write_bytes(files_in("store")[name])
    forget(machine, monkeypatch)
    (Path("store") / name[:2] / name).unlink()
    assert content(read_baseline(Path("baselines"), "shop")) == content(ONE)

    beside.write_bytes(beside.read_bytes().replace(b"q1", b"q9"))
    with pytest.raises(BaselineError) as error:
        read_baseline(Path("baselines"), "shop")
    assert str(error.value) == (
        "baselines/shop.rankings.tsv\n  is not what was accepted: it was edited by hand, by a tool or by a merge\n"
        "  remove this file: the store has what was accepted"
    )


def refused(monkeypatch, machine):
    forget(machine, monkeypatch)
    with pytest.raises(BaselineError) as error:
        read_baseline(Path("baselines"), "shop")
    return str(error.value)


def test_a_file_that_cannot_be_had_is_an_error_that_says_what_to_do(machine, monkeypatch):
    write_baseline(Path("baselines"), ONE)
    name = names()["rankings.tsv"]
    place, address = Path("store") / name[:2] / name, (machine / "store").as_uri()
    again = 'put it back; or accept again: pytest --ireval SUITE --ireval-update --ireval-force --ireval-reason "…"'

    before = place.read_bytes()
    place.write_bytes(before.replace(b"a", b"e", 1))
    assert refused(monkeypatch, machine) == (
        f"baselines/shop.rankings.tsv\n  the store {address} has this file with other content than was accepted: "
        f"{name[:2]}/{name}\n  {again}"
    )
    place.unlink()
    assert refused(monkeypatch, machine) == (
        f"baselines/shop.rankings.tsv\n  the store {address} does not have this file: {name[:2]}/{name}\n  {again}"
    )
    place.mkdir()
    assert refused(monkeypatch, machine).startswith(
        f"baselines/shop.rankings.tsv\n  cannot be fetched from the store {address}: IsADirectoryError: "
    )
    monkeypatch.delenv(ADDRESS)
    assert refused(monkeypatch, machine) == (
        "baselines/shop.rankings.tsv\n  is in a store of baselines, but no store is named, and this machine has no "
        "copy\n  set IREVAL_BASELINES, or ireval_baselines in the ini file of pytest, to the address of the store"
    )
    monkeypatch.setenv(ADDRESS, address)
    place.rmdir()
    write_baseline(Path("baselines"), ONE)  # the file is stored once more
    forget(machine, monkeypatch)
    assert content(read_baseline(Path("baselines"), "shop")) == content(ONE)


@pytest.mark.parametrize("said", ["../../../../etc/passwd", "0" * 63 + "/", "A" * 64, "0" * 17, ""])
def test_only_a_digest_names_a_file(said):
    write_baseline(Path("baselines"), ONE)
    record = Path("baselines/shop.json")
    text = record.read_text().replace(names()["rankings.tsv"], said)
    empty = OWN_LINE.sub(b' "json": "' + b"0" * 16 + b'"', text.encode(), count=1)
    record.write_bytes(OWN_LINE.sub(f' "json": "{fingerprint(empty)}"'.encode(), empty, count=1))

    with pytest.raises(BaselineError, match=r"has no fingerprint of 'rankings.tsv'"):
        read_baseline(Path("baselines"), "shop")


class Vault:
    """A store of a company."""

    def __init__(self, files):
        self.files, self.calls = files, []

    def get(self, digest):
        self.calls.append("get")
        if digest not in self.files:
            raise FileNotFoundError(digest)
        return self.files[digest]

    def put(self, digest, content):
        self.calls.append("put")
        self.files[digest] = content


def brought(monkeypatch, *bring, address="vault://search"):
    """Plugins with a hook each."""
    plugins = Plugins()
    for number, function in enumerate(bring):
        module = type(sys)(f"acme_{number}")
        module.ireval_baseline_store = hookimpl(function)
        plugins.adopt(module, module.__name__)
    stores.STORES.bring(plugins)
    monkeypatch.setenv(ADDRESS, address)


def vault_at(vault):
    return lambda address: vault if address.startswith("vault://") else None


def test_a_plugin_brings_a_store_of_its_own(machine, monkeypatch):
    vault = Vault({})
    brought(monkeypatch, vault_at(vault))
    write_baseline(Path("baselines"), ONE)
    forget(machine, monkeypatch)

    assert content(read_baseline(Path("baselines"), "shop")) == content(ONE)
    assert set(vault.files) == set(names().values())
    assert vault.calls == ["get", "put"] * 2 + ["get"] * 2
    assert content(read_baseline(Path("baselines"), "shop")) == content(ONE)
    assert len(vault.calls) == 6, "copies were read"

    brought(monkeypatch, vault_at(vault), address=(machine / "store").as_uri())
    write_baseline(Path("others"), ONE)
    assert set(files_in("store")) == set(vault.files), "other addresses are not the plugin's"


@pytest.mark.parametrize(
    ("bring", "said"),
    [
        (
            (lambda address: "no store",),
            "ireval_baseline_store of acme_0 returned 'no store': a store has the methods get",
        ),
        ((lambda address: 1 / 0,), "ireval_baseline_store of acme_0 raised ZeroDivisionError: division by zero"),
        ((vault_at(Vault({})), vault_at(Vault({}))), "several plugins have a store at vault://search: acme_0, acme_1"),
        ((lambda address: None,), "the store vault://search cannot be opened: ValueError: Protocol not known: vault"),
    ],
)
def test_a_plugin_without_a_usable_store_is_an_error(monkeypatch, bring, said):
    if said.endswith("vault"):
        pytest.importorskip("fsspec")
    brought(monkeypatch, *bring)

    with pytest.raises(BaselineError) as error:
        write_baseline(Path("baselines"), ONE)

    assert str(error.value).startswith(said)
    assert not Path("baselines").exists()


def test_an_outage_in_the_middle_leaves_the_old_baseline_and_the_next_run_goes_on(machine, monkeypatch):
    vault = Vault({})
    brought(monkeypatch, vault_at(vault))
    write_baseline(Path("baselines"), OLD)
    before = files_in("baselines")

    known = len(vault.files)

    def put(digest, content):
        if len(vault.files) > known:
            raise ConnectionError("no route to host")
        vault.files[digest] = content

    with monkeypatch.context() as patch:
        patch.setattr(vault, "put", put)
        with pytest.raises(BaselineError) as error:
            write_baseline(Path("baselines"), NEW)

    assert len(vault.files) == known + 1
    assert str(error.value).startswith(
        "baselines/shop.judgments.tsv\n"
        "  cannot be put into the store vault://search: ConnectionError: no route to host\n"
        "  the baseline stays as it was; check the address, the network and the credentials, and run again\n"
    )
    assert files_in("baselines") == before
    assert content(read_baseline(Path("baselines"), "shop")) == content(OLD)
    write_baseline(Path("baselines"), NEW)
    forget(machine, monkeypatch)
    assert content(read_baseline(Path("baselines"), "shop")) == content(NEW)


def test_two_jobs_that_accept_at_once_both_end_and_readers_never_see_half_of_a_file(machine, monkeypatch):
    large = baseline_of({f"q{i}": [f"d{j}" for j in range(200)] for i in range(300)}, depth=200)
    folders = [Path("one"), Path("two"), Path("three")]
    problems = []

    def job(folder):
        try:
            for _ in range(3):
                write_baseline(folder, large)
                stores.STORES.at((machine / "store").as_uri()).put("f" * 64, b"x")
                assert read_record(folder, "shop") is not None
        except BaselineError as error:
            problems.append(error)

    threads = [threading.Thread(target=job, args=(folder,)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    forget(machine, monkeypatch)

    assert problems == []
    assert not [name for name in files_in("store") if name.startswith(".")], "no half of a file is left"
    for folder in folders:
        assert content(read_baseline(folder, "shop")) == content(large)
    with pytest.raises(BaselineError, match="was accepted by another run meanwhile"):
        write_baseline(folders[0], baseline_of({"q1": ["z"]}, acceptances=(SECOND,)))


def test_a_password_in_the_address_is_hidden(machine, monkeypatch):
    def told(address):
        raise ConnectionError(f"refused: {address}, user ada, password s3cr%2Ft-pass and s3cr/t-pass")

    brought(monkeypatch, told, address="vault://ada:s3cr%2Ft-pass@host/x?sig=abc")
    with pytest.raises(BaselineError) as error:
        write_baseline(Path("baselines"), ONE)
    assert "t-pass" not in str(error.value)
    assert "${IREVAL_BASELINES}" in str(error.value)

    brought(monkeypatch, vault_at(Vault({})), address="vault://ada:s3cr@host/x")
    with pytest.raises(BaselineError) as error:
        write_baseline(Path("baselines"), ONE)
    assert str(error.value) == (
        "IREVAL_BASELINES\n  the password in the address has fewer than 8 characters, so it cannot be hidden"
    )


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("vault://TOP-SECRET@host/x", "vault://host/x"),
        ("vault://ada:TOP/TOP-SECRET@bucket/x", "vault://bucket/x"),
        ("vault://ada:TOP@TOP-SECRET@bucket/x", "vault://bucket/x"),
        ("vault://ada:TOP#TOP?TOP-SECRET@bucket/x", "vault://bucket/x"),
        ("vault://host/x?region=eu&sig=TOP-SECRET%2F", "vault://host/x"),
        ("vault://host/x#TOP-SECRET", "vault://host/x"),
        ("vault://ada:64/TOP-SECRET@bucket/x", "vault://bucket/x"),
        ("vault://ada@corp:TOP-SECRET@bucket/x", "vault://bucket/x"),
        ("vault://host:8080/a@b/c:d", "vault://b/c:d"),
    ],
)
def test_no_token_in_the_address_is_shown(monkeypatch, address, shown):
    class Broken(Vault):
        def put(self, digest, content):
            raise ConnectionError(f"{address} {unquote(address)} {address[8:]} {address.rpartition('=')[2]}")

    brought(monkeypatch, vault_at(Broken({})), address=address)
    with pytest.raises(BaselineError) as error:
        write_baseline(Path("baselines"), ONE)
    assert f"cannot be put into the store {shown}: ConnectionError" in str(error.value)
    assert "TOP" not in str(error.value)


@pytest.mark.parametrize("address", ["store", "file://store/x", "file:", "/store", "ada:password@host"])
def test_an_address_that_is_none_is_refused_and_not_shown(monkeypatch, address):
    monkeypatch.setenv(ADDRESS, address)
    with pytest.raises(BaselineError) as error:
        write_baseline(Path("baselines"), ONE)

    assert str(error.value) == (
        "IREVAL_BASELINES\n  is not the address of a store of baselines\n"
        "  allowed: file:///folder, s3://bucket/prefix, and every other address that fsspec or a plugin knows"
    )


def test_baselines_at_another_commit_anchors_and_merges_come_from_the_store(git, machine, monkeypatch, ireval):
    folder = Path("baselines")
    write_baseline(folder, OLD)
    write_anchor(folder, read_baseline(folder, "shop"), FIRST._replace(reason="release 1"))
    git("add", "baselines")
    git("commit", "-qm", "old")
    git("switch", "-qc", "synonyms")
    write_baseline(folder, NEW)
    git("commit", "-qam", "new")
    forget(machine, monkeypatch)

    assert git("ls-files", "baselines").split() == [
        f"baselines/{name}" for name in (".gitattributes", ".gitignore", "shop.anchor.json", "shop.json")
    ]
    assert content(read_baseline_at("main", folder, "shop")) == content(OLD)
    assert content(read_baseline(folder, "shop.anchor"))["rankings"] == content(OLD)["rankings"]
    code, said, _ = ireval("baseline", "diff", "main", "baselines/shop.json")
    assert (code, "rankings: 2 of 2 queries changed" in said) == (0, True)
    assert ireval("baseline", "show", "main:baselines/shop.json", "--query", "q1")[0] == 0
    assert ireval("baseline", "log", "baselines/shop.json")[0] == 0

    git("switch", "-q", "main")
    write_baseline(folder, baseline_of({"q1": ["k"]}, acceptances=(FIRST, SECOND._replace(reason="mine"))))
    git("commit", "-qam", "mine")
    git("merge", "synonyms", check=False)
    assert ireval("baseline", "resolve", "--take", "theirs")[0] == 0
    assert content(read_baseline(folder, "shop")) == content(NEW)

    code, said, _ = ireval("baseline", "prune", "--yes")
    assert (code, list(folder.glob("*.json"))) == (0, [])
    assert content(read_baseline_at("synonyms", folder, "shop")) == content(NEW), "the store is never pruned"


def test_an_anchor_of_a_stored_baseline_is_not_put_into_git_for_want_of_an_address(monkeypatch):
    write_baseline(Path("baselines"), ONE)
    monkeypatch.delenv(ADDRESS)

    with pytest.raises(BaselineError) as error:
        write_anchor(Path("baselines"), read_baseline(Path("baselines"), "shop"), FIRST)

    assert str(error.value) == (
        "baselines/shop.json\n  is in a store of baselines, where its anchor belongs too; but no store is named\n"
        "  set IREVAL_BASELINES to the address of the store"
    )


FSSPEC = "the extra 'stores' is not installed"


def test_fsspec_reaches_other_stores(machine, monkeypatch):
    pytest.importorskip("fsspec", reason=FSSPEC)
    monkeypatch.setenv(ADDRESS, "memory://baselines/search")
    write_baseline(Path("baselines"), ONE)
    forget(machine, monkeypatch)

    assert content(read_baseline(Path("baselines"), "shop")) == content(ONE)
    files = stores.STORES.at("memory://baselines/search").files
    assert {path.rpartition("/")[2] for path in files.find("/baselines/search")} == set(names().values())
    name = names()["rankings.tsv"]
    files.pipe_file(f"/baselines/search/{name[:2]}/{name}", b"other")
    assert "has this file with other content" in refused(monkeypatch, machine)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    monkeypatch.setenv(ADDRESS, "s3://bucket/prefix")
    with pytest.raises(BaselineError) as error:
        write_baseline(Path("baselines"), ONE)

    assert str(error.value).startswith("the store s3://bucket/prefix needs another package: ")
    assert "pip install 'pytest-ireval[stores]'" in str(error.value)


@pytest.fixture
def s3(monkeypatch):
    """The address of a bucket in an S3 server on a free port, and the process."""
    for name in ("moto.server", "s3fs"):
        if os.environ.get("IREVAL_S3") == "required":
            importlib.import_module(name)
        pytest.importorskip(name, reason=f"{name} is not installed: pip install 'moto[server]' s3fs")
    code = (
        "from moto.server import ThreadedMotoServer as S\nimport sys\ns = S('127.0.0.1', 0, verbose=False)\ns.start()\n"
    )
    code += "print(s.get_host_and_port()[1], flush=True)\nsys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, stderr=-3) as process:
        port = process.stdout.readline().decode().strip()
        for name, value in {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_MAX_ATTEMPTS": "1",
        }.items():
            monkeypatch.setenv(name, value)
        import boto3

        boto3.client("s3").create_bucket(Bucket="search")
        yield process
        process.kill()


@pytest.mark.filterwarnings("ignore")
def test_a_real_s3_server(s3, machine, monkeypatch):
    import boto3

    client = boto3.client("s3")
    monkeypatch.setenv(ADDRESS, "s3://search/team/baselines")
    write_baseline(Path("baselines"), ONE)
    forget(machine, monkeypatch)
    assert content(read_baseline(Path("baselines"), "shop")) == content(ONE)

    name = names()["rankings.tsv"]
    key = f"team/baselines/{name[:2]}/{name}"
    assert sha256(client.get_object(Bucket="search", Key=key)["Body"].read()).hexdigest() == name
    client.put_object(Bucket="search", Key=key, Body=b"another")
    assert "has this file with other content" in refused(monkeypatch, machine)
    client.delete_object(Bucket="search", Key=key)
    assert "does not have this file" in refused(monkeypatch, machine)
    monkeypatch.setenv(ADDRESS, "s3://serch/team/baselines")
    with pytest.raises(
        BaselineError, match="cannot be put into the store s3://serch/team/baselines: FileNotFoundError"
    ):
        write_baseline(Path("others"), ONE)
    assert [bucket["Name"] for bucket in client.list_buckets()["Buckets"]] == ["search"], "a typo makes no bucket"

    monkeypatch.setenv(ADDRESS, "s3://search/team/baselines")
    stores.STORES.bring(None)
    s3.kill()
    s3.wait()
    before = files_in("baselines")
    with pytest.raises(BaselineError, match="cannot be put into the store s3://search/team/baselines: "):
        write_baseline(Path("baselines"), NEW)
    assert files_in("baselines") == before
    assert "cannot be fetched from the store s3://search/team/baselines: " in refused(monkeypatch, machine)
