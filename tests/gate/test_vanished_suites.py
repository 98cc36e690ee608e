"""In a run over a whole folder, a baseline that no suite uses says that a suite has vanished."""

import shutil

import pytest

pytestmark = pytest.mark.ci

GATE = "def test_gate(ireval):\n    assert ireval.gate({path!r}).verdict == 'pass'\n"
SAID = "problem: *baselines/shop.baseline: no suite uses this baseline; was its suite renamed, moved or deleted?*"


@pytest.fixture
def two(shop):
    """Two accepted suites, each in its folder."""
    for name in ("suites/one", "suites/two"):
        (shop.path / name).mkdir(parents=True)
        for file in ("queries.tsv", "judgments.txt", "rankings.txt"):
            shutil.copy(shop.path / file, shop.path / name)
    (shop.path / "suites/one/shop.ireval.yaml").write_text(shop.suite)
    (shop.path / "suites/two/blog.ireval.yaml").write_text(shop.suite.replace("suite: shop", "suite: blog"))
    (shop.path / "shop.ireval.yaml").unlink()
    result = shop.run("--ireval-update-new", "suites")
    assert result.ret == 0, result.stdout.str()
    return shop


def delete_suite(suite):
    suite.unlink()


def in_capitals(suite):
    suite.rename(suite.with_suffix(".YAML"))


def in_build(suite):
    (suite.parent / "build").mkdir()
    suite.rename(suite.parent / "build" / suite.name)


def hidden(suite):
    (suite.parent / ".old").mkdir()
    suite.rename(suite.parent / ".old" / suite.name)


def no_suite_any_more(suite):
    suite.write_text("notes: none\n")
    suite.rename(suite.with_name("notes.yaml"))


def under_another_name(suite):
    suite.write_text(suite.read_text().replace("suite: shop", "suite: store"))


@pytest.mark.parametrize(
    ("way", "named"),
    [
        (delete_suite, ("suites/one", "suites/two")),
        (delete_suite, ()),
        *((way, ("suites",)) for way in (in_capitals, in_build, hidden, no_suite_any_more, under_another_name)),
    ],
)
def test_it_is_red_and_the_baseline_is_named(two, way, named):
    way(two.path / "suites/one/shop.ireval.yaml")

    result = two.run(*named)

    assert result.ret == 1
    if way is not under_another_name:  # the store itself has no baseline, which is a failure
        assert two.results()["verdict"] == "error"
    result.stdout.fnmatch_lines([SAID])
    assert result.stdout.str().count("no suite uses") == 1


def test_a_link_that_leads_nowhere_is_no_pass_but_beside_the_named_folder(two):
    (two.path / "drafts").mkdir()
    (two.path / "drafts/lost.ireval.yaml").symlink_to("elsewhere.ireval.yaml")
    assert two.run("suites").ret == 0

    suite = two.path / "suites/one/shop.ireval.yaml"
    suite.unlink()
    suite.symlink_to("elsewhere.ireval.yaml")
    result = two.run("suites", "--continue-on-collection-errors")

    assert result.ret != 0
    result.stdout.fnmatch_lines(["suites/one/shop.ireval.yaml", "  cannot be read: the link is broken"])
    assert result.parseoutcomes()["passed"] > 0  # the suites beside it are collected all the same


def test_an_anchor_alone_is_a_baseline_too(two):
    folder = two.path / "suites/one"
    (folder / "shop.ireval.yaml").unlink()
    for path in (folder / "baselines").glob("shop.*"):
        path.rename(path.with_name(path.name.replace("shop.", "shop.anchor.", 1)))

    assert two.run("suites").ret == 1


@pytest.mark.parametrize("named", [("suites",), ("suites", "-n2")], ids=["one process", "workers"])
def test_the_suite_of_a_python_gate_is_claimed(two, named):
    folder = two.path / "suites/one"
    (folder / ".kept").mkdir()
    for name in ("shop.ireval.yaml", "queries.tsv", "judgments.txt", "rankings.txt", "baselines"):
        (folder / name).rename(folder / ".kept" / name)
    shutil.copytree(folder / ".kept/baselines", folder / "baselines")
    assert two.run(*named).ret == 1
    (folder / "test_gate.py").write_text(GATE.format(path=".kept/shop.ireval.yaml"))
    assert two.run(*named).ret == 1  # it claims the baseline beside it

    shutil.rmtree(folder / "baselines")
    for path in (folder / ".kept").iterdir():
        path.rename(folder / path.name)
    suite = folder / "shop.ireval.yaml"
    suite.rename(folder / "shop.yaml.txt")
    (folder / "test_gate.py").write_text(GATE.format(path="shop.yaml.txt"))

    result = two.run(*named)

    assert result.ret == 0, result.stdout.str()


def test_a_run_of_other_places_misses_nothing(two):
    (two.path / "suites/one/shop.ireval.yaml").unlink()

    for place in ("suites/two", "suites/two/blog.ireval.yaml::inputs"):
        assert two.run(place).ret == 0, place


def test_marks_in_the_settings_of_a_project_are_no_narrower_run(two):
    """Many projects leave out their slow tests so."""
    (two.path / "pytest.ini").write_text("[pytest]\naddopts = -m 'not slow'\nmarkers = slow: takes long\n")
    (two.path / "suites/one/shop.ireval.yaml").unlink()

    assert two.run("suites").ret == 1


def test_what_is_no_baseline_of_a_suite_here_is_nobodys_loss(two):
    folder = two.path / "suites"
    (folder / "baselines").mkdir()
    (folder / "baselines/chart.json").write_text("{}")
    shutil.copytree(folder / "one/baselines", folder / "build/baselines")  # pytest does not look there
    shutil.copytree(folder / "one/baselines", folder / "env/lib/baselines")
    (folder / "env/pyvenv.cfg").touch()

    assert two.run("suites").ret == 0


def test_beside_a_suite_that_cannot_be_read_nothing_is_missed(two):
    (two.path / "suites/one/shop.ireval.yaml").write_text("ireval: 1\nsuite: [\n")

    result = two.run("suites")

    assert result.ret != 0
    assert "no suite uses" not in result.stdout.str()
