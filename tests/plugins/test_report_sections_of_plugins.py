"""Sections of the report are plain data and a template beside it; what cannot be one is refused when it is made."""

import importlib.util
import math

import pytest

from pytest_ireval import hookimpl, report_section
from pytest_ireval.errors import PluginError
from pytest_ireval.plugins.manager import Plugins
from pytest_ireval.plugins.plugin_types import LateSource
from pytest_ireval.pytest_plugin.sections import copy_plain_data

MODULE = """\
from pytest_ireval import hookimpl, report_section

@report_section(name={name!r}, title="Latency", template="latency.jinja", style={style!r})
def latency(run):
    return {{"suites": len(run["suites"])}}

@hookimpl
def ireval_report_sections():
    return [latency]
"""


@pytest.fixture
def module(tmp_path):
    """A plugin's module, with its template beside it."""

    def make(file="acme.py", name="latency", style=""):
        folder = tmp_path / file.partition(".")[0]
        folder.mkdir()
        (folder / "latency.jinja").write_text("{{ suites }}")
        (folder / file).write_text(MODULE.format(name=name, style=style))
        spec = importlib.util.spec_from_file_location(file.partition(".")[0], folder / file)
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        return made

    return make


@pytest.mark.parametrize("name", ["", "<b>"])
def test_a_name_that_is_no_name_is_refused(module, name):
    with pytest.raises(PluginError, match="cannot be the name of a section: use lower-case letters, digits and _"):
        module(name=name)


def test_a_file_that_is_not_there_is_refused(module, tmp_path):
    with pytest.raises(PluginError) as error:
        module(style="latency.css")

    folder = tmp_path / "acme"
    assert str(error.value) == (
        f"section 'latency': there is no file 'latency.css' in {folder}; was the package built without it?"
    )


@pytest.mark.parametrize("file", ["../latency.jinja", "/etc/passwd"])
def test_a_file_elsewhere_is_refused(file):
    with pytest.raises(PluginError, match="is not a path of a file below"):
        report_section(name="latency", title="Latency", template=file)(lambda run: {})


def test_a_section_without_template_or_title_is_refused():
    with pytest.raises(PluginError, match="it names no template"):
        report_section(name="latency", title="Latency", template="")(lambda run: {})
    with pytest.raises(PluginError, match="its title is empty"):
        report_section(name="latency", title=" ", template="latency.jinja")(lambda run: {})


def test_two_plugins_with_one_name_are_an_error(module):
    plugins = Plugins()
    plugins.register_module(module("one.py"))
    plugins.register_module(module("two.py"))

    with pytest.raises(
        PluginError, match=r"^report section 'latency' is claimed twice: by .*one.py and by .*two.py\n  rename"
    ):
        plugins.make_registry()


@pytest.mark.parametrize(
    "value", ["<h1>", LateSource("http", "pytest_ireval.sources.live.http")], ids=["text", "source"]
)
def test_a_hook_that_returns_something_else_is_an_error(module, value):
    made = module()

    @hookimpl
    def ireval_report_sections():
        return [value]

    made.ireval_report_sections = ireval_report_sections
    plugins = Plugins()
    plugins.register_module(made)

    says = r"returned .* from ireval_report_sections, which is not a report section: decorate .* with @report_section"
    with pytest.raises(PluginError, match=says):
        plugins.make_registry()


def test_plain_data_are_copied_with_lists_for_tuples():
    data = {"rows": [("a", 1, 0.5, None, True)], "none": {}}

    copy = copy_plain_data(data)

    assert copy == {"rows": [["a", 1, 0.5, None, True]], "none": {}}
    assert copy is not data


class Thing:
    pass


ITSELF = {}
ITSELF["again"] = ITSELF


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, "returned None, where a dict is expected"),
        ([1], "returned a list, where a dict is expected"),
        ({"rows": [{"p95": -math.inf}]}, "did not return plain data: rows[0].p95 is -inf"),
        ({"rows": ({"it": Thing()},)}, "did not return plain data: rows[0].it is a Thing"),
        ({"a": {7: 1}}, "did not return plain data: a has the key 7, which is not text"),
        ({"all": [math.nan] * 9}, "did not return plain data: all[0] is nan; all[1] is nan; all[2] is nan"),
        (ITSELF, f"did not return plain data: {'.'.join(['again'] * 51)[:200]} is nested deeper than 50 levels"),
    ],
)
def test_what_is_no_plain_data_is_refused_with_the_path_to_it(data, says):
    with pytest.raises(PluginError) as error:
        copy_plain_data(data)

    assert str(error.value) == says
