"""Our templates escape every value, and a section of a plugin is drawn with its own, or says why not."""

import jinja2
import pytest

from pytest_ireval.report.templates import (
    SectionTemplate,
    TemplateCache,
    check_sections,
    get_environment,
    render_section,
)
from pytest_ireval.report.terminal_summary import list_section_warnings
from pytest_ireval.results.suite_result import RunResult, Section

LATENCY = Section("latency", "Latency", "acme 2.1", {"p95": 7, "who": "<b>"})


def test_every_value_is_escaped_and_an_unknown_name_is_an_error():
    assert get_environment().from_string("{{ name }}").render(name="<b>") == "&lt;b&gt;"
    with pytest.raises(jinja2.UndefinedError, match="'nmae' is undefined"):
        get_environment().from_string("{{ nmae }}").render(name="")


@pytest.fixture
def latency(tmp_path):
    """What the plugin of the section ships."""
    folder = tmp_path / "acme"
    folder.mkdir()
    (folder / "latency.jinja").write_text("<p>{{ p95 }} ms for {{ who }}</p>")
    (folder / "latency.css").write_text("p {}")
    return {"latency": SectionTemplate(folder, "latency.jinja", "latency.css")}


def test_a_section_is_drawn_with_the_template_of_its_plugin_and_its_data(latency):
    found = render_section(LATENCY, latency)

    assert (found.body, found.style, found.problem) == ("<p>7 ms for &lt;b&gt;</p>", "p {}", "")
    assert f"{found.body:s}" == found.body.__html__()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\n{{ p59 }}", "raised UndefinedError: 'p59' is undefined; at latency.jinja:2"),
        (
            "{% for %}",
            "raised TemplateSyntaxError: Expected an expression, got 'end of statement block'; at latency.jinja:1",
        ),
        (None, "raised TemplateNotFound: "),
    ],
)
def test_a_section_that_cannot_be_drawn_says_why(latency, text, says):
    path = latency["latency"].folder / "latency.jinja"
    path.unlink() if text is None else path.write_text(text)

    found = render_section(LATENCY, latency)

    assert (found.body, found.style) == ("", "")
    assert found.problem.startswith(says)


def test_a_style_that_would_spoil_the_whole_page_is_a_problem_of_its_section(latency):
    (latency["latency"].folder / "latency.css").write_text("p {} </STYLE><script>")

    found = render_section(LATENCY, latency)

    assert (found.style, found.problem) == ("", "latency.css contains </style, which would end its element")


def test_what_a_template_says_by_itself_is_no_command_to_a_terminal(latency):
    (latency["latency"].folder / "latency.jinja").write_text("{{ who['\x1b[31m'] }}")
    run = RunResult("0.1.0", "2027-03-03T09:00:00Z", "pass", (), sections=(LATENCY,))

    (said,) = list_section_warnings(check_sections(run, latency))

    assert said.startswith("warning: section 'Latency' of acme 2.1 is not shown: raised UndefinedError: 'str object'")
    assert said.isprintable()


def test_a_section_whose_plugin_is_not_here_says_so():
    assert (
        render_section(LATENCY, {}).problem
        == "acme 2.1, which draws it, is missing: install it, or name its folder with ireval report --suites"
    )


def test_a_section_with_a_problem_is_not_drawn(latency):
    found = render_section(Section("latency", "Latency", "acme 2.1", problem="no data"), latency)

    assert (found.body, found.problem) == ("", "no data")


@pytest.fixture
def render(latency):
    """Draw the section with compiled templates kept in a folder."""

    def render(folder):
        loader = jinja2.FileSystemLoader(latency["latency"].folder)
        made = jinja2.Environment(loader=loader, bytecode_cache=TemplateCache(folder))
        return made.get_template("latency.jinja").render(LATENCY.data)

    return render


@pytest.mark.parametrize("damage", [b"", b"j2", b"\x80\x04", b"nothing of that kind"])
def test_a_damaged_compiled_template_is_compiled_again(render, tmp_path, damage):
    whole = render(tmp_path / "kept")
    (kept,) = (tmp_path / "kept").iterdir()
    begin = kept.read_bytes()[: -len(kept.read_bytes()) // 2]
    for content in (damage, begin, begin[:20] + damage):
        kept.write_bytes(content)
        assert render(tmp_path / "kept") == whole


def test_a_folder_that_cannot_keep_compiled_templates_is_no_reason_to_fail(render, tmp_path):
    (tmp_path / "file").write_text("no folder")

    assert render(tmp_path / "file") == "<p>7 ms for <b></p>"


def test_compiled_templates_are_not_kept_where_python_keeps_no_compiled_modules(render, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)

    assert render(tmp_path / "kept") == "<p>7 ms for <b></p>"
    assert not (tmp_path / "kept").exists()
