"""Installed plugins are found as importlib.metadata would find them, only sooner."""

import sys
import zipfile
from importlib.metadata import entry_points

import pytest

from pytest_ireval.entry_points import Installed, installed_plugins


def distribution(folder, name, entry_points_text, kind="dist-info", version="1.2"):
    """A distribution's metadata in a folder."""
    info = folder / f"{name.replace('-', '_')}-{version}.{kind}"
    info.mkdir(parents=True)
    file = "METADATA" if kind == "dist-info" else "PKG-INFO"
    info.joinpath(file).write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nSome words:\nName: other\nVersion: 9\n"
    )
    info.joinpath("entry_points.txt").write_text(entry_points_text)


@pytest.mark.parametrize("group", ["pytest_ireval", "pytest11", "console_scripts", "nobody's"])
def test_the_answer_is_that_of_importlib_metadata(group):
    asked = {
        (e.name, e.value.partition("[")[0].strip(), e.dist.name, e.dist.version) for e in entry_points(group=group)
    }

    assert {tuple(found[:4]) for found in installed_plugins(group)} == asked


@pytest.mark.parametrize("kind", ["dist-info", "egg-info"])
def test_a_distribution_on_the_path_is_found(tmp_path, monkeypatch, kind):
    distribution(
        tmp_path, "acme-metrics", "[console_scripts]\nx = y:z\n\n[ my_group ]\n# why\nacme = acme.hooks\n", kind
    )
    monkeypatch.syspath_prepend(tmp_path)

    assert installed_plugins("my_group") == [Installed("acme", "acme.hooks", "acme-metrics", "1.2", "my_group")]


def test_a_distribution_found_twice_counts_once_the_first_on_the_path(tmp_path, monkeypatch):
    for folder, version in (("b", "1"), ("a", "2")):
        distribution(tmp_path / folder, "Acme.Metrics", "[my_group]\nacme = acme\n", version=version)
        monkeypatch.syspath_prepend(tmp_path / folder)

    assert [found.version for found in installed_plugins("my_group")] == ["2"]


def test_what_is_no_folder_is_left_to_importlib_metadata(tmp_path, monkeypatch):
    archive = tmp_path / "lib.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("zipped-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: zipped\nVersion: 1.0\n")
        packed.writestr("zipped-1.0.dist-info/entry_points.txt", "[my_group]\nzipped = zipped_module\n")
    monkeypatch.syspath_prepend(archive)

    assert installed_plugins("my_group") == [Installed("zipped", "zipped_module", "zipped", "1.0", "my_group")]


def test_folders_on_the_path_that_are_not_there_are_no_problem(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "gone"), ""])

    assert [found.name for found in installed_plugins("pytest_ireval")] == ["builtin", "formats", "kinds", "more"]


def test_a_plugin_may_be_an_object_inside_a_module():
    assert Installed("x", "os:path.join", "d", "1", "g").load() is __import__("os").path.join


def test_a_damaged_distribution_spoils_nothing(tmp_path, monkeypatch):
    distribution(tmp_path, "odd", "[my_group]\nodd = odd_module\n")
    (tmp_path / "odd-1.2.dist-info" / "METADATA").unlink()
    bad = tmp_path / "broken-1.dist-info"
    bad.mkdir()
    (bad / "entry_points.txt").write_bytes(b"[my_group]\n\xff\xfe = \xff\n")
    monkeypatch.syspath_prepend(tmp_path)

    assert Installed("odd", "odd_module", "odd-1.2", "", "my_group") in installed_plugins("my_group")
