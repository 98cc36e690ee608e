"""Templates of a user come before ours, and whatever is wrong with one is told with its line."""

import shutil
from pathlib import Path

import pytest

from pytest_ireval.errors import ReportError
from pytest_ireval.reports import templates as module
from pytest_ireval.reports.summary_table import section_warnings
from pytest_ireval.reports.templates import (
    SectionTemplate,
    _kept,
    environment,
    settled_sections,
    template_folder,
    templates,
)
from pytest_ireval.results.suite_result import RunResult, Section

INDEX = """\
<title>{% block head %}{{ title }}{% endblock %}</title>
{% block suites %}
{% include "suite.html.jinja" %}
{% endblock %}
"""
SUITE = "<h2>{{ suite.name }}</h2>\n"
LATENCY = Section("latency", "Latency", "acme 2.1", {"p95": 7, "who": "<b>"})


@pytest.fixture
def ours(tmp_path, monkeypatch):
    """Two templates and a style in place of those of the report."""
    folder = tmp_path / "ours"
    folder.mkdir()
    (folder / "index.html.jinja").write_text(INDEX)
    (folder / "suite.html.jinja").write_text(SUITE)
    (folder / "report.css").write_text("ours {}")
    monkeypatch.setattr(module, "template_folder", lambda: folder)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def user(ours, tmp_path):
    """Writes a user's folder."""

    def write(**files):
        folder = tmp_path / "mine"
        for name, text in files.items():
            path = folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return folder

    return write


def filled(folder=None):
    return templates(folder).filled("index.html.jinja", title="A & B", suite={"name": "shop"})


def message(folder):
    with pytest.raises(ReportError) as error:
        filled(folder)
    return str(error.value)


def test_every_value_is_escaped_and_ours_are_used_where_the_user_has_none(ours):
    assert filled() == "<title>A &amp; B</title>\n<h2>shop</h2>"


def test_a_file_of_the_user_replaces_ours_of_that_name(user):
    assert filled(user(suite_html_jinja="mine: {{ suite.name }}\n")) == "<title>A &amp; B</title>\nmine: shop"


def test_a_block_is_replaced_or_added_to_and_the_rest_stays_ours(user):
    folder = user(
        index_html_jinja='{% extends "ireval/index.html.jinja" %}\n{% block head %}ACME {{ super() }}{% endblock %}\n'
    )

    assert filled(folder) == "<title>ACME A &amp; B</title>\n<h2>shop</h2>"


def test_a_template_of_ours_includes_what_the_user_replaced(user):
    folder = user(
        index_html_jinja='{% extends "ireval/index.html.jinja" %}',
        suite_html_jinja='{% include "row.html.jinja" %}',
        row_html_jinja="a row\n",
    )

    assert filled(folder) == "<title>A &amp; B</title>\na row"


def test_style_is_the_users_or_ours_and_what_is_extra_may_be_missing(user, ours):
    assert templates().text_of("report.css") == "ours {}"
    assert templates().text_of("extra.css") == ""
    folder = user(report_css="mine {}", extra_css="more {}")
    assert templates(folder).text_of("report.css") == "mine {}"
    assert templates(folder).text_of("extra.css") == "more {}"


def test_a_style_that_nobody_has_is_an_error(ours):
    with pytest.raises(ReportError, match=r"^no.css\n  template file not found$"):
        templates().text_of("no.css")


def test_a_folder_that_is_not_there_is_an_error(ours, tmp_path):
    assert message(tmp_path / "typo") == "typo\n  template folder not found"


def test_files_that_take_no_part_are_named_all_at_once_with_what_was_meant(user):
    folder = user(indx_html_jinja="", extra_cs="", notes_md="", _hidden="", sub__report_css="")

    assert message(folder) == (
        "mine/extra.cs\n"
        "  is not used: the report has no template of this name, and none of your templates includes it\n"
        "  did you mean 'extra.css'?\n"
        "  the report has: index.html.jinja, report.css, suite.html.jinja, extra.css, extra.js\n"
        "mine/indx.html.jinja\n"
        "  is not used: the report has no template of this name, and none of your templates includes it\n"
        "  did you mean 'index.html.jinja'?\n"
        "  the report has: index.html.jinja, report.css, suite.html.jinja, extra.css, extra.js\n"
        "mine/sub/report.css\n"
        "  is not used: the report has no template of this name, and none of your templates includes it\n"
        "  did you mean 'report.css'?\n"
        "  the report has: index.html.jinja, report.css, suite.html.jinja, extra.css, extra.js"
    )


def test_a_file_that_only_an_unused_one_includes_takes_no_part(user):
    folder = user(suite_html_jinja="", one_jinja='{% include "two.jinja" %}', two_jinja="")

    assert [line for line in message(folder).splitlines() if line[0] != " "] == ["mine/one.jinja", "mine/two.jinja"]


def test_where_the_name_of_an_include_is_computed_any_file_may_take_part(user):
    folder = user(suite_html_jinja='{% include suite.name ~ ".jinja" %}', shop_jinja="the shop\n")

    assert filled(folder) == "<title>A &amp; B</title>\nthe shop"


def test_a_block_that_the_extended_template_does_not_have_is_an_error(user):
    text = '{% extends "ireval/index.html.jinja" %}\n{% block haed %}{% block own %}{% endblock %}\n{% endblock %}'
    folder = user(index_html_jinja=text)

    assert message(folder) == (
        "mine/index.html.jinja:2\n"
        "  the template that it extends has no block 'haed'\n"
        "  did you mean 'head'?\n"
        "  it has: head, suites"
    )


def test_all_mistakes_of_syntax_are_told_when_the_folder_is_read(user):
    folder = user(index_html_jinja="\n{% if %}", suite_html_jinja="{{ suite.name | uper }}", report_css=b"\xff")

    assert message(folder) == (
        "mine/index.html.jinja:2\n"
        "  Expected an expression, got 'end of statement block'\n"
        "mine/report.css\n"
        "  is not UTF-8 text (byte 0)\n"
        "mine/suite.html.jinja:1\n"
        "  No filter named 'uper'\n"
        "  did you mean 'upper'?"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "\n{{ tilte }}",
            "mine/suite.html.jinja:2\n  'tilte' is undefined\n  did you mean 'title'?\n  available: suite, title",
        ),
        (
            "{{ suite.nam }}",
            "mine/suite.html.jinja:1\n  'dict object' has no attribute 'nam'\n  did you mean 'name'?\n"
            "  available: name",
        ),
        ("{{ suite.name.first.last }}", "mine/suite.html.jinja:1\n  'str object' has no attribute 'first'"),
        ("\n\n{{ 1 / 0 }}", "mine/suite.html.jinja:3\n  raised ZeroDivisionError: division by zero"),
        ("{{ title + 1 }}", 'mine/suite.html.jinja:1\n  raised TypeError: can only concatenate str (not "int") to str'),
        ('{% include "no.jinja" %}', "mine/suite.html.jinja:1\n  unknown template 'no.jinja'"),
        (
            '{% include "suite.html.jinja" %}',
            "mine/suite.html.jinja:1\n  endless recursion\n"
            '  does a template extend or include itself? the built-in one is "ireval/index.html.jinja", and so on',
        ),
    ],
)
def test_an_error_names_file_line_and_what_there_is(user, text, says):
    assert message(user(suite_html_jinja=text)) == says


def test_a_template_that_extends_itself_instead_of_ours_is_told_how_ours_is_called(user):
    assert message(user(index_html_jinja='{% extends "index.html.jinja" %}')) == (
        "mine/index.html.jinja:1\n  endless recursion\n"
        '  does a template extend or include itself? the built-in one is "ireval/index.html.jinja", and so on'
    )


def test_an_error_in_what_another_template_includes_names_the_innermost_line(user):
    folder = user(suite_html_jinja='{% include "row.jinja" %}', row_jinja="\n{{ suite.nme }}")

    assert message(folder).startswith("mine/row.jinja:2\n  'dict object' has no attribute 'nme'")


def test_an_error_in_a_template_of_ours_says_that_it_is_ours(ours):
    with pytest.raises(ReportError) as error:
        templates().filled("index.html.jinja", title="")

    assert (
        str(error.value)
        == "ireval/suite.html.jinja:1\n  'suite' is undefined\n  did you mean 'title'?\n  available: title"
    )


@pytest.fixture
def latency(tmp_path, ours):
    """What the plugin of the section ships."""
    folder = tmp_path / "acme"
    folder.mkdir()
    (folder / "latency.jinja").write_text("<p>{{ p95 }} ms for {{ who }}</p>")
    (folder / "latency.css").write_text("p {}")
    return SectionTemplate(folder, "latency.jinja", "latency.css")


def test_a_section_is_drawn_with_the_template_of_its_plugin_and_its_data(latency):
    found = templates(sections={"latency": latency}).drawn(LATENCY)

    assert (found.body, found.style, found.problem) == ("<p>7 ms for &lt;b&gt;</p>", "p {}", "")
    assert f"{found.body:s}" == found.body.__html__()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\n{{ p59 }}", "latency.jinja:2 'p59' is undefined; did you mean 'p95'?; available: p95, who"),
        ("{% for %}", "latency.jinja:1 Expected an expression, got 'end of statement block'"),
        ('{% include "index.html.jinja" %}', "latency.jinja:1 unknown template 'index.html.jinja'"),
        (None, "unknown template 'latency.jinja'"),
    ],
)
def test_a_section_that_cannot_be_drawn_says_why(latency, text, says):
    path = latency.folder / "latency.jinja"
    path.unlink() if text is None else path.write_text(text)

    found = templates(sections={"latency": latency}).drawn(LATENCY)

    assert (found.body, found.style, found.problem) == ("", "", says)


def test_a_style_that_would_spoil_the_whole_page_is_a_problem_of_its_section(latency):
    (latency.folder / "latency.css").write_text("p {} </STYLE><script>")

    found = templates(sections={"latency": latency}).drawn(LATENCY)

    assert (found.style, found.problem) == ("", "latency.css contains </style, which would end its element")


def test_what_a_template_says_by_itself_is_no_command_to_a_terminal(latency):
    (latency.folder / "latency.jinja").write_text("{{ who['\x1b[31m'] }}")
    run = RunResult("0.1.0", "2027-03-03T09:00:00Z", "pass", (), sections=(LATENCY,))

    (said,) = section_warnings(settled_sections(run, templates(sections={"latency": latency})))

    assert said == (
        "warning: section 'Latency' of acme 2.1 is not shown: latency.jinja:1 'str object' has no attribute '\\x1b[31m'"
    )


def test_a_section_whose_plugin_is_not_here_says_so(ours):
    assert (
        templates().drawn(LATENCY).problem
        == "acme 2.1, which draws it, is missing: install it, or name its folder with ireval report --suites"
    )


def test_a_section_with_a_problem_is_not_drawn(latency):
    found = templates(sections={"latency": latency}).drawn(Section("latency", "Latency", "acme 2.1", problem="no data"))

    assert (found.body, found.problem) == ("", "no data")


def test_our_own_templates_pass_every_check_that_a_users_folder_has_to_pass(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(template_folder(), "copy")
    for name in ("evaluation.html.jinja", "judge.html.jinja", "judge.css", "judge.js"):  # of other commands
        (tmp_path / "copy" / name).unlink()

    templates(tmp_path / "copy")


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Compiled templates are kept in a folder of their own, and Python may write."""
    monkeypatch.setattr("pytest_ireval.reports.templates.cache_from_source", lambda _: str(tmp_path / "kept" / "x.pyc"))
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    (tmp_path / "kept").mkdir()
    _kept.cache_clear()
    yield tmp_path / "kept"
    _kept.cache_clear()


def drawn():
    _kept.cache_clear()
    return environment().get_template("parts.html.jinja")


def test_templates_are_compiled_once_for_all_processes(kept, monkeypatch):
    drawn()
    assert [file.suffix for file in kept.iterdir()] == [".jinja"] * len(list(kept.iterdir())) != []
    monkeypatch.setattr("jinja2.Environment.compile", None)

    assert drawn().name == "parts.html.jinja"


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"j2\x05"])
def test_a_damaged_compiled_template_is_made_again(kept, damage):
    drawn()
    whole = {file: file.read_bytes() for file in kept.iterdir()}
    for file in whole:
        file.write_bytes(damage)
    drawn()

    assert {file: file.read_bytes() for file in kept.iterdir()} == whole


def test_where_nothing_can_be_written_templates_are_compiled_each_time(kept, monkeypatch):
    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    drawn()
    assert not [*kept.iterdir()]
    kept.rmdir()

    assert drawn().name == "parts.html.jinja"
