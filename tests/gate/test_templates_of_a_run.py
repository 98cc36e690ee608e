"""``ireval_templates``: a folder whose templates come before ours; one that is broken costs no figure."""

import json

import pytest

HEAD = '{% extends "ireval/index.html.jinja" %}\n{% block head %}{{ super() }}<meta name="acme">{% endblock %}\n'


@pytest.fixture
def mine(shop):
    """The shop with a folder of templates."""
    shop.accept()
    shop.pytester.makeini("[pytest]\nireval_templates = mine\n")

    def write(**files):
        (shop.path / "mine").mkdir(exist_ok=True)
        for name, text in files.items():
            (shop.path / "mine" / name.replace("_", ".")).write_text(text)
        return shop

    return write


def page(shop):
    return (shop.path / "ireval-report/index.html").read_text(encoding="utf-8")


def test_a_block_is_overridden_and_styles_are_added(mine):
    shop = mine(index_html_jinja=HEAD, extra_css="body { color: teal }", extra_js="document.title = 'acme'")

    assert shop.run().ret == 0

    assert '<meta name="acme">' in page(shop)
    assert "body { color: teal }" in page(shop)
    assert "document.title = 'acme'" in page(shop)
    assert "Safe to land" in page(shop)


def test_a_folder_that_is_not_there_ends_the_run_at_its_start(mine):
    shop = mine()
    (shop.path / "mine").rmdir()

    result = shop.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.stderr.str().strip() == (
        "ERROR: mine\n  template folder not found\nireval_templates = mine names the folder"
    )
    assert shop.results()["problems"] == ["the run did not end"]


def test_a_mistake_that_can_be_seen_at_once_ends_the_run_at_its_start(mine):
    result = mine(indx_html_jinja="", suite_html_jinja="{% if %}").run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = result.stderr.str()
    assert "mine/suite.html.jinja:1\n  Expected an expression, got 'end of statement block'" in told
    assert "mine/indx.html.jinja\n  is not used" in told
    assert "did you mean 'index.html.jinja'?" in told


def test_a_page_that_cannot_be_drawn_is_red_and_the_other_files_are_there(mine):
    shop = mine()
    assert shop.run().ret == 0
    shop = mine(
        index_html_jinja='{% extends "ireval/index.html.jinja" %}\n{% block footer %}\n{{ run.comit }}{% endblock %}'
    )

    result = shop.run()

    assert result.ret == 1
    said = (
        "index.html cannot be drawn: mine/index.html.jinja:3 'pytest_ireval.results.suite_result.RunResult object' "
        "has no attribute 'comit'; did you mean 'commit'?"
    )
    result.stdout.fnmatch_lines([f"problem: {said}*"])
    folder = shop.path / "ireval-report"
    results = json.loads((folder / "results.json").read_text())
    assert results["verdict"] == "error"
    assert results["problems"][0].startswith(said)
    assert "Could not be judged" in (folder / "summary.md").read_text()
    assert "\nireval_pass 0.0\n" in (folder / "metrics.txt").read_text()
    assert "Could not be judged" in page(shop)
    assert "did you mean" in page(shop)
    assert "Safe to land" not in page(shop)


def test_a_style_that_would_end_its_element_is_refused_in_the_same_way(mine):
    result = mine(extra_css="</style><script>alert(1)</script>").run()

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["problem: index.html cannot be drawn: extra.css contains </style, which would end its element"]
    )
