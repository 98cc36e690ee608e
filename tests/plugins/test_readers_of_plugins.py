"""Readers of file formats come through a hook; clashes and faults name who is to blame."""

import re
import types

import pytest

from pytest_ireval import IrevalError, evaluate, hookimpl, read_judgments, read_queries
from pytest_ireval.errors import PluginError
from pytest_ireval.plugin_api import InputFile, Reader
from pytest_ireval.plugins.manager import Plugins


def read_arrows(file: InputFile, how):
    """``query -> document: grade`` on each line."""
    found = {}
    for line in file.lines():
        pair, _, grade = line.strip().partition(": ")
        query, _, document = pair.partition(" -> ")
        found.setdefault(query, {})[document] = int(grade)
    return found


ARROWS = Reader(
    name="arrows",
    holds="judgments",
    summary="query -> document: grade",
    fits=lambda file: any(" -> " in line for line in file.first_lines),
    read=read_arrows,
)


def registry_with(*readers):
    plugins = Plugins()
    plugins.load_installed()
    module = types.ModuleType("acme")
    module.ireval_readers = hookimpl(lambda: list(readers), specname="ireval_readers")
    plugins.register_module(module, "acme")
    return plugins.make_registry()


@pytest.fixture
def arrows(tmp_path):
    path = tmp_path / "judgments.arrows"
    path.write_text("red mug -> d1: 2\nred mug -> d2: 0\n")
    return path


def test_a_plugins_format_is_recognised_and_evaluated(arrows):
    told = evaluate(arrows, {"red mug": ["x", "d1"]}, "RR", registry=registry_with(ARROWS))

    assert told["RR"].mean == 0.5


def test_queries_of_a_plugin_are_a_mapping_or_rows(tmp_path):
    path = tmp_path / "queries.x"
    path.write_text("x\n")
    mapping = Reader("x", "queries", "", lambda file: True, lambda file, how: {"q": "red mug"})
    rows = Reader(
        "x", "queries", "", lambda file: True, lambda file, how: [{"id": "q", "text": "a", "segment": "head"}]
    )

    assert read_queries(path, registry=registry_with(mapping)).text == ("red mug",)
    assert dict(read_queries(path, registry=registry_with(rows)).columns) == {"segment": ("head",)}


def test_what_a_reader_raises_names_it_and_the_file(arrows):
    broken = Reader("broken", "judgments", "", lambda file: True, lambda file, how: 1 / 0)

    with pytest.raises(PluginError) as caught:
        read_judgments(arrows, format="broken", registry=registry_with(broken))

    text, at = str(caught.value).rsplit("\n", 1)
    assert text == f"{arrows}\n  reader broken of acme raised ZeroDivisionError: division by zero"
    assert re.fullmatch(r"  at .*test_readers_of_plugins\.py:\d+", at)


def test_a_reader_that_cannot_even_say_whether_it_fits_is_named(arrows):
    broken = Reader("broken", "judgments", "", lambda file: file.nosuch, read_arrows)

    with pytest.raises(PluginError) as caught:
        read_judgments(arrows, registry=registry_with(broken))

    assert str(caught.value).startswith(
        f"{arrows}\n  reader broken of acme raised AttributeError: 'InputFile' object has no attribute 'nosuch'\n  at "
    )


def test_a_reader_can_be_handed_over_without_being_registered(arrows):
    assert evaluate(arrows, {"red mug": ["d1"]}, "RR", judgments_format=ARROWS)["RR"].mean == 1.0
    with pytest.raises(IrevalError, match="reader 'arrows' reads judgments, not queries"):
        read_queries(arrows, format=ARROWS)


def test_what_a_reader_returns_is_checked_like_anybodys_data(arrows):
    wrong = Reader("wrong", "judgments", "", lambda file: True, lambda file, how: {"q": {"d": "good"}})

    with pytest.raises(IrevalError) as caught:
        read_judgments(arrows, format="wrong", registry=registry_with(wrong))

    assert str(caught.value) == f"{arrows}\n  the grade of document 'd' for query 'q' is 'good', not a number"


@pytest.mark.parametrize(
    ("readers", "message"),
    [
        (
            (Reader("trec", "judgments", "", read_arrows, read_arrows),),
            r"format 'trec' of judgments is claimed twice: by .*(acme|pytest-ireval).* and by .*(acme|pytest-ireval)",
        ),
        (("arrows",), "plugin acme returned 'arrows' from ireval_readers, which is not a Reader"),
        (
            (Reader("Arrows", "judgments", "", read_arrows, read_arrows),),
            "plugin acme: reader 'Arrows' holds 'judgments'; holds must be one of queries, judgments, rankings; "
            "a name has only lower-case letters, digits and hyphens",
        ),
    ],
)
def test_clashes_and_faults_are_refused(readers, message):
    with pytest.raises(PluginError, match=message):
        registry_with(*readers)
