"""Plugins are found by the entry points of installed distributions."""

import os.path

import pytest

from pytest_ireval.entry_points import InstalledPlugin, describe_plugin, list_installed_plugins


def distribution(folder, name, entry_points_text, version="1.2"):
    """A distribution's metadata in a folder."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    info.joinpath("entry_points.txt").write_text(entry_points_text)


def test_a_distribution_on_the_path_is_found(tmp_path, monkeypatch):
    distribution(
        tmp_path, "acme-metrics", "[console_scripts]\nx = y:z\n\n[my_group]\n# why\nacme = acme.hooks [extra]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    assert list_installed_plugins("my_group") == [
        InstalledPlugin("acme", "acme.hooks", "acme-metrics", "1.2", "my_group")
    ]


def test_a_distribution_found_twice_counts_once_the_first_on_the_path(tmp_path, monkeypatch):
    for folder, version in (("b", "1"), ("a", "2")):
        distribution(tmp_path / folder, "Acme.Metrics", "[my_group]\nacme = acme\n", version=version)
        monkeypatch.syspath_prepend(tmp_path / folder)

    assert [found.version for found in list_installed_plugins("my_group")] == ["2"]


def test_the_plugins_of_this_distribution_are_found():
    assert {found.name for found in list_installed_plugins("pytest_ireval")} >= {"builtin", "formats", "kinds", "more"}


def test_a_plugin_may_be_an_object_inside_a_module():
    assert InstalledPlugin("x", "os:path.join", "d", "1", "g").load() is os.path.join


@pytest.mark.filterwarnings("ignore:Implicit None")  # of importlib.metadata
def test_a_distribution_without_metadata_has_the_name_of_its_entry_point_in_messages(tmp_path, monkeypatch):
    distribution(tmp_path, "odd", "[my_group]\nodd = odd_module\n")
    (tmp_path / "odd-1.2.dist-info" / "METADATA").unlink()
    monkeypatch.syspath_prepend(tmp_path)

    (found,) = list_installed_plugins("my_group")
    assert describe_plugin(found) == "plugin 'odd' (odd_module) of odd"
