"""A suite that a run leaves out is named, the headline is that of a part, and no option hides a deleted suite."""

import shutil

import pytest
from branches import FAILS
from git_repository import commit_all, isolate_git, run_git

pytestmark = pytest.mark.ci

PART = "Passed, but not everything was checked"


@pytest.fixture
def three(shop, monkeypatch):
    """Three accepted suites, each in its folder, in a repository whose branch is checked out."""
    isolate_git(monkeypatch, shop.path)
    shop.once("three suites in a repository", lambda: begin(shop))
    (shop.path / "shop.ireval.yaml").unlink(missing_ok=True)
    return shop


def begin(shop):
    for name in ("blog", "news", "shop"):
        folder = shop.path / "suites" / name
        folder.mkdir(parents=True)
        for file in ("queries.tsv", "judgments.txt", "rankings.txt"):
            shutil.copy(shop.path / file, folder)
        text = shop.suite.replace("suite: shop", f"suite: {name}").replace("products", f"{name}s")
        (folder / f"{name}.ireval.yaml").write_text(text)
    (shop.path / "shop.ireval.yaml").unlink()
    assert shop.run("--ireval-update-new", "suites").ret == 0
    (shop.path / ".gitignore").write_text("ireval-report/\n__pycache__/\n")
    run_git(shop.path, "init", "--quiet", "--initial-branch=main")
    commit_all(shop.path, "accepted")
    run_git(shop.path, "checkout", "--quiet", "-b", "change")


def headline(shop):
    """The first words of the summary, the heading of the page, and the last line of the terminal agree."""
    first = (shop.path / "ireval-report/summary.md").read_text().splitlines()[1]
    title = first.partition("**: ")[0].removeprefix("**")
    assert f"{title}</h1>" in (shop.path / "ireval-report/index.html").read_text()
    return first.removeprefix("**").replace("**: ", ": ")


def ini(shop, text):
    (shop.path / "pytest.ini").write_text(f"[pytest]\n{text}\n")


def by_conftest(shop):
    (shop.path / "suites/conftest.py").write_text("collect_ignore = ['shop']\n")


HIDING = {
    "-k": (lambda shop: None, ("-k", "blog or news")),
    "--ignore-glob": (lambda shop: None, ("--ignore-glob", "*/shop")),
    "addopts -m": (lambda shop: ini(shop, "addopts = -m 'not shops'"), ()),
    "addopts --deselect": (lambda shop: ini(shop, "addopts = --deselect=suites/shop/shop.ireval.yaml"), ()),
    "norecursedirs": (lambda shop: ini(shop, "norecursedirs = shop"), ()),
    "conftest": (by_conftest, ()),
}


@pytest.mark.parametrize(("prepare", "arguments"), HIDING.values(), ids=HIDING)
def test_a_suite_that_is_left_out_is_named_and_red_where_a_lowered_baseline_is(three, prepare, arguments):
    prepare(three)

    green = three.run("suites", "--ireval-base=main", *arguments)
    selection = three.results()["not_selected"]
    said = headline(three)
    red = three.run("suites", "--ireval-base=main", *FAILS, *arguments)

    assert (green.ret, red.ret) == (0, 1)
    assert selection == ["shop"]
    assert said.startswith(f"{PART}: 2 of 3 suites were checked; not selected: shop; all ")
    green.stdout.fnmatch_lines(
        ["not selected: shop (1 suite)", "ireval: pass: 2 suites passed, 1 suite not selected (shop)*"]
    )
    assert "\nNot selected: `shop`\n" in (three.path / "ireval-report/summary.md").read_text()
    assert three.results()["verdict"] == "error"
    red.stdout.fnmatch_lines(["problem: left out of this run: shop. With --ireval-base and *"])


def test_a_run_of_all_suites_is_no_part_and_a_virtual_environment_is_nobodys(three):
    shutil.copytree(three.path / "suites/shop", three.path / "suites/env/shop")
    (three.path / "suites/env/pyvenv.cfg").touch()

    result = three.run("suites", "--ireval-base=main", *FAILS)

    assert result.ret == 0
    assert headline(three) == "Safe to land: all 24 checks passed."
    assert three.results()["not_selected"] == []
    assert "not selected" not in result.stdout.str()


@pytest.mark.parametrize(
    "arguments",
    [("suites/blog", "suites/news"), ("suites/blog/blog.ireval.yaml", "suites/news/news.ireval.yaml")],
    ids=["folders", "files"],
)
def test_whoever_names_suites_has_chosen_them_even_if_another_one_is_gone(three, arguments):
    assert three.run(*arguments, "--ireval-base=main", *FAILS).ret == 0
    assert headline(three) == "Safe to land: all 16 checks passed."

    (three.path / "suites/shop/shop.ireval.yaml").unlink()
    assert three.run(*arguments).ret == 0


@pytest.mark.parametrize("arguments", [("-vm", "blogs or newss"), ("-mnot shops",)], ids=["-vm", "joined"])
def test_marks_on_the_command_line_are_a_choice_that_the_report_names(three, arguments):
    result = three.run("suites", *arguments, "--ireval-base=main", *FAILS)

    assert result.ret == 0
    assert headline(three).startswith(f"{PART}: 2 of 3 suites were checked; not selected: shop; all 16 ")


def test_files_beside_a_named_file_are_named_as_left_out_and_green(three):
    for name in ("news", "shop"):
        for path in (three.path / f"suites/{name}").rglob(f"{name}.*"):
            path.rename(three.path / "suites/blog" / path.relative_to(three.path / f"suites/{name}"))
        shutil.rmtree(three.path / f"suites/{name}")

    result = three.run("suites/blog/blog.ireval.yaml", *FAILS)
    whole = headline(three), three.results()["not_selected"]
    part = three.run("suites/blog/blog.ireval.yaml::inputs")

    assert (result.ret, part.ret) == (0, 0)
    assert whole == (
        f"{PART}: 1 of 3 suites were checked; not selected: news, shop; all 7 checks passed.",
        ["news", "shop"],
    )
    assert headline(three).startswith(f"{PART}: 1 of 3 suites were checked; not selected: news, shop; 1 check passed;")


def test_a_suite_of_a_matrix_that_is_not_named(three):
    path = three.path / "suites/shop/shop.ireval.yaml"
    path.write_text(path.read_text().replace("suite: shop\n", "suite: shop\nmatrix: {place: [de, fr]}\n"))
    path.write_text(path.read_text().replace("@search-team", "@{place}"))
    shutil.rmtree(path.parent / "baselines")
    assert three.run("suites/shop", "--ireval-update-new").ret == 0

    assert three.run("suites/shop/shop.ireval.yaml::de").ret == 0
    assert three.results()["not_selected"] == ["shop.fr"]
    assert three.run("suites", "-k", "not shop").ret == 0
    assert three.results()["not_selected"] == ["shop.de", "shop.fr"]


def test_a_check_that_an_ini_file_leaves_out_is_red_with_a_base(three):
    ini(three, "addopts = --deselect=suites/shop/shop.ireval.yaml::lowering")

    green = three.run("suites", "--ireval-base=main")
    red = three.run("suites", "--ireval-base=main", *FAILS)

    assert (green.ret, red.ret) == (0, 1)
    red.stdout.fnmatch_lines(["problem: left out of this run: 1 check of shop. With --ireval-base and *"])


def test_a_suite_that_is_left_out_and_cannot_be_read_is_named_by_its_file(three):
    (three.path / "suites/shop/shop.ireval.yaml").write_text("ireval: 1\nsuite: [\n")

    result = three.run("suites", "--ignore", "suites/shop")

    assert result.ret == 0
    assert three.results()["not_selected"] == ["suites/shop/shop.ireval.yaml"]


def test_no_selection_hides_a_baseline_whose_suite_is_gone(three):
    suite = three.path / "suites/shop/shop.ireval.yaml"
    other = suite.with_name("other.ireval.yaml")
    other.write_text(suite.read_text().replace("suite: shop", "suite: other"))
    assert three.run("suites/shop", "--ireval-update-new").ret == 0
    suite.unlink()

    for arguments in (
        ("suites/shop/other.ireval.yaml::inputs",),
        ("suites", "-m", "blogs"),
        ("suites", "--ignore", "suites/shop"),
        ("suites", "suites/news/news.ireval.yaml"),
        ("suites", "--ireval-changed-since=main"),
    ):
        result = three.run(*arguments)

        assert result.ret == 1, arguments
        result.stdout.fnmatch_lines(["problem: suites/shop/baselines/shop.*: no suite uses this baseline; *"])


def watch_a_file_each(shop, message):
    for name in ("blog", "news", "shop"):
        path = shop.path / f"suites/{name}/{name}.ireval.yaml"
        path.write_text(path.read_text() + f"watches: {name}.py\n")
        (path.parent / f"{name}.py").touch()
    shop.pytester.run("git", "add", "--all")
    shop.pytester.run("git", "commit", "--quiet", "-m", message)


def test_suites_that_a_change_does_not_concern_are_no_part(three):
    watch_a_file_each(three, "watches")
    three.pytester.run("git", "branch", "--force", "main")
    (three.path / "suites/blog/blog.py").write_text("changed\n")

    result = three.run("suites", "--ireval-base=main", "--ireval-changed-since=main", *FAILS)

    assert result.ret == 0, result.stdout.str()
    assert headline(three) == "Safe to land: all 8 checks passed; 2 suites not affected by the change."


def test_an_ini_file_that_looks_at_later_changes_alone_is_red(three):
    ini(three, "addopts = --ireval-changed-since=HEAD")
    watch_a_file_each(three, "a change that concerns all")

    green = three.run("suites", "--ireval-base=main")
    red = three.run("suites", "--ireval-base=main", *FAILS)

    assert (green.ret, red.ret) == (0, 1)
    red.stdout.fnmatch_lines(
        ["problem: *--ireval-changed-since HEAD begins at * suites that the branch concerns may be left out*"]
    )
