"""A suite that names a file of which git knows nothing takes part, whatever changed."""

import shutil

import pytest

pytestmark = pytest.mark.ci

UNKNOWN = "takes part whatever changed: git ignores {} ({}), so its changes are unknown"


IGNORED = "ireval-report/\n__pycache__/\n/suites/runs/\n*.tmp.txt\n.venv/\n"


@pytest.fixture
def begin_with(monorepo):
    """``main`` begins with a suite in which text is replaced, and with these files, some of which git ignores."""

    def begin(suite, old, new, **files):
        monorepo.git("checkout", "--quiet", "main")
        monorepo.write(".gitignore", IGNORED)
        for name, text in files.items():
            monorepo.write(name, text)
        path = f"suites/{suite}.ireval.yaml"
        monorepo.write(path, (monorepo.path / path).read_text().replace(old, new))
        monorepo.commit("made by a job")
        monorepo.git("checkout", "--quiet", "-B", "branch")

    return begin


def test_an_ignored_file_of_rankings_or_judgments_makes_its_suite_take_part(monorepo, begin_with):
    rankings, judgments = (
        (monorepo.path / f"suites/data/{name}").read_text() for name in ("run.trec", "judgments.txt")
    )
    begin_with("shop", "data/run.trec", "runs/now.trec", **{"suites/runs/now.trec": rankings})
    result = monorepo.run()

    assert result.ret == 0
    assert monorepo.affected() == {"shop": UNKNOWN.format("suites/runs", "its source")}
    assert monorepo.results()["unaffected"] == ["ads"]
    assert UNKNOWN.format("suites/runs", "its source") in (monorepo.path / "ireval-report/summary.md").read_text()

    begin_with("ads", "data/judgments.txt", "data/judged.tmp.txt", **{"suites/data/judged.tmp.txt": judgments})
    monorepo.run()
    assert monorepo.affected()["ads"] == UNKNOWN.format("suites/data/judged.tmp.txt", "its judgments")


def test_a_file_outside_of_the_repository(monorepo, begin_with, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "run.trec"
    shutil.copy(monorepo.path / "suites/data/run.trec", elsewhere)
    begin_with("shop", "data/run.trec", str(elsewhere))

    monorepo.run()

    outside = f"{elsewhere} is outside of the repository (its source)"
    said = f"takes part whatever changed: {outside}, so its changes are unknown"
    assert monorepo.affected() == {"shop": said}


def test_a_pointer_of_dvc_stands_for_the_ignored_file(monorepo, begin_with):
    rankings = (monorepo.path / "suites/data/run.trec").read_text()
    files = {"suites/runs/now.trec": rankings, "suites/runs.dvc": "outs: [{md5: 1}]\n"}
    begin_with("shop", "data/run.trec", "runs/now.trec", **files)

    monorepo.run()
    before = monorepo.affected()
    monorepo.write("suites/runs.dvc", "outs: [{md5: 2}]\n")
    monorepo.run()

    assert before == {}
    assert monorepo.affected() == {"shop": "suites/runs.dvc changed (its source)"}


def test_ignored_files_that_no_suite_names_and_a_virtual_environment_concern_nobody(monorepo, begin_with):
    begin_with(
        "shop",
        "{run: data/run.trec}",
        "{command: [../.venv/bin/python, ../search.py]}\nqueries: data/queries.tsv",
        **{".venv/pyvenv.cfg": "", ".venv/bin/python": "", "search.py": ""},
        **{"suites/data/queries.tsv": "id\ttext\nq1\tone\nq2\ttwo\n"},
    )
    monorepo.write("suites/data/run.tmp.txt", "")

    result = monorepo.run()

    assert (result.ret, monorepo.affected(), monorepo.results()["unaffected"]) == (0, {}, ["ads", "shop"])
