"""Ids of tests keep the letters of names, whatever script they are in."""

import os
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.sides.slices import slug

TAIL = "shop.ireval.yaml::no_regression::nDCG_10.구간-긴꼬리"


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("nDCG@10", "nDCG_10"),
        ("긴꼬리", "긴꼬리"),
        ("हिन्दी", "हिन्दी"),
        ("긴 꼬리", "긴_꼬리-30d025"),
        (unicodedata.normalize("NFD", "긴꼬리"), "긴꼬리-7276d1"),
        ("🙂", "d06f15"),
        ("", "e3b0c4"),
    ],
)
def test_a_name_that_loses_nothing_is_its_id(name, id_):
    assert slug(name) == id_


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_ids_differ_where_names_do(one, other):
    assert (slug(one, at=False) == slug(other, at=False)) is (one == other)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_an_id_has_nothing_that_pytest_or_a_shell_reads(name):
    assert not set(slug(name)) & set(" :/\\[]@\"'`$&|;<>(){}*?!#~\n\t\0")
    assert unicodedata.is_normalized("NFC", slug(name))


KOREAN = {"segment": "구간", "head": "머리", "tail": "긴꼬리"}


@pytest.fixture
def korean(shop):
    for path in (shop.path / "queries.tsv", shop.path / "shop.ireval.yaml"):
        text = re.sub(r"\b(segment|head|tail)\b", lambda found: KOREAN[found[0]], path.read_text())
        path.write_text(text, encoding="utf-8")
    shop.accept()
    return shop


def test_a_slice_is_named_in_its_own_letters_where_tests_are_listed_selected_and_reported(korean):
    listed = korean.run("--collect-only", "-q")
    alone = korean.run("-v", TAIL)
    selected = korean.run("-v", "-k", "긴꼬리 and nDCG_10", "--junit-xml=junit.xml")

    assert [line for line in listed.outlines if "구간" in line] == [TAIL.replace("긴꼬리", "머리"), TAIL]
    for result in (alone, selected):
        result.assert_outcomes(passed=1, deselected=0 if result is alone else 6)
        assert f"{TAIL} PASSED" in result.stdout.str()
    cases = ElementTree.parse(korean.path / "junit.xml").getroot().iter("testcase")
    assert [case.get("name") for case in cases] == ["nDCG_10.구간-긴꼬리"]
    assert list(korean.verdicts()) == ["no_regression::nDCG_10.구간-긴꼬리"]


@pytest.mark.parametrize(
    ("environment", "shown"),
    [
        ({"PYTHONIOENCODING": "ascii"}, "\\uad6c\\uac04-\\uae34\\uaf2c\\ub9ac"),
        ({"LC_ALL": "C", "PYTHONUTF8": "0"}, "441def"),
    ],
    ids=["terminal", "locale"],
)
def test_where_only_ascii_is_shown_an_id_is_escaped_and_where_only_ascii_is_held_it_has_a_hash(
    korean, environment, shown
):
    command = [sys.executable, "-m", "pytest", "-p", "ireval", "--ireval", "-v", "-p", "no:cacheprovider"]
    more = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONCOERCECLOCALE": "0", **environment}
    run = subprocess.run(command, cwd=korean.path, env=os.environ | more, capture_output=True, text=True, check=False)

    assert (run.returncode, run.stderr) == (0, "")
    assert "7 passed" in run.stdout
    assert f"nDCG_10.{shown}" in run.stdout


def decompose(path, *names):
    text = path.read_text(encoding="utf-8")
    for name in names:
        text = text.replace(name, unicodedata.normalize("NFD", name))
    path.write_text(text, encoding="utf-8")


def test_queries_that_another_system_wrote_in_decomposed_letters_are_in_the_same_slice(korean):
    decompose(korean.path / "queries.tsv", "words 10\t긴꼬리")

    assert korean.gate().verdict == "pass"
    assert [name for name in korean.verdicts() if "구간" in name] == [
        f"no_regression::nDCG_10.구간-{value}" for value in ("머리", "긴꼬리")
    ]
    (suite,) = korean.results()["suites"]
    assert [each["figures"]["queries"] for each in suite["slices"] if "꼬리" in each["figures"]["slice"]] == [4, 4]


def test_rules_name_values_in_either_form_and_each_once(korean):
    suite = korean.path / "shop.ireval.yaml"
    decompose(suite, "{머리: 10%")
    assert korean.gate().verdict == "pass"

    suite.write_text(suite.read_text(encoding="utf-8").replace("10%,", "10%, 머리: 1%,"), encoding="utf-8")
    korean.run().stdout.fnmatch_lines(["*duplicate key '머리'"])
