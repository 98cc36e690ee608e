"""Which files are suites, and which are left alone."""

import os

import pytest

from pytest_ireval import SuiteError, load_suites
from pytest_ireval.suite.finding import find_suites, find_unreadable, is_shared, is_suite


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("shop.ireval.yaml", "", True),
        ("shop.ireval.yml", "", True),
        ("shop.yaml", "# a suite\nireval: 1\n", True),
        ("shop.yml", "\ufeffireval: 1\n", True),
        ("shop.txt", "ireval: 1\n", False),
        ("shop.yaml", "x:\n  ireval: 1\n", False),
        ("shop.yaml", "#" * (1 << 20) + "\nireval: 1\n", False),
        ("shop.yaml", "judgments: a\nrules: []\n", True),
        ("shop.yaml", "judgments: a\nmetrics: []\n", True),
        ("shop.yaml", "judgments: a\n", False),
        ("shop.yaml", "rules: []\n", False),
        ("_shop.yaml", "ireval: 1\n", False),
        ("_shop.ireval.yaml", "", False),
        ("_shop.yaml", "judgments: a\nrules: []\n", False),
        ("shop_.yaml", "ireval: 1\n", True),
        ("shop.yaml", "ireval: 1\npartial: true\n", True),
    ],
)
def test_a_suite_is_known_by_its_name_or_its_first_lines(tmp_path, name, text, found):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    assert is_suite(path) is found


def test_a_yaml_file_that_somebody_names_is_meant_as_a_suite(tmp_path):
    path = tmp_path / "shop.yaml"
    path.write_text("owner: me\n", encoding="utf-8")

    assert not is_suite(path)
    assert is_suite(path, named=True)


def test_a_file_for_others_to_extend_is_known(tmp_path):
    path = tmp_path / "_common.yaml"
    path.write_text("ireval: 1\n", encoding="utf-8")

    assert is_shared(path.name)
    assert list(find_suites([tmp_path])) == []
    assert list(find_suites([path])) == [path]  # who names it is told what it is


def test_folders_are_searched_in_order_but_not_those_that_hold_no_suites(tmp_path):
    for name in ("b/shop.ireval.yaml", "a.ireval.yaml", ".git/x.ireval.yaml", "venv/x.ireval.yaml", "b/other.yaml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("", encoding="utf-8")

    found = find_suites([tmp_path, tmp_path / "b", tmp_path / "b" / "other.yaml"])

    assert [path.relative_to(tmp_path).as_posix() for path in found] == [
        "a.ireval.yaml",
        "b/other.yaml",
        "b/shop.ireval.yaml",
    ]


def test_a_link_that_leads_nowhere_does_not_hide_other_suites(tmp_path):
    (tmp_path / "a.ireval.yaml").symlink_to("nowhere")
    (tmp_path / "b.ireval.yaml").write_text("", encoding="utf-8")

    assert [path.name for path in find_suites([tmp_path])] == ["a.ireval.yaml", "b.ireval.yaml"]
    assert [path.name for path in find_unreadable(tmp_path)] == ["a.ireval.yaml"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_with_the_name_of_a_suite_is_an_error_and_not_waited_for(tmp_path):
    path = tmp_path / "a.ireval.yaml"
    os.mkfifo(path)
    os.mkfifo(tmp_path / "other.yaml")

    assert find_suites([tmp_path]) == find_unreadable(tmp_path) == [path]
    with pytest.raises(SuiteError, match="is a pipe or a device, not a file"):
        load_suites(path)
