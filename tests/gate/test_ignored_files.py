"""A suite that names a file of which git knows nothing takes part, whatever changed."""

import shutil

import pytest

pytestmark = pytest.mark.ci

UNKNOWN = "takes part whatever changed: git ignores {} ({}), so its changes are unknown"


@pytest.fixture
def built(monorepo):
    """On ``main`` the run files of the shop are made by a job, and git ignores them."""
    monorepo.git("checkout", "--quiet", "main")
    monorepo.write(".gitignore", "ireval-report/\n__pycache__/\n/suites/runs/\n*.tmp.txt\n.venv/\n")
    monorepo.write("suites/runs/now.trec", (monorepo.path / "suites/data/run.trec").read_text())
    path = monorepo.path / "suites/shop.ireval.yaml"
    path.write_text(path.read_text().replace("data/run.trec", "runs/now.trec"))
    monorepo.commit("made by a job")
    monorepo.git("checkout", "--quiet", "-B", "branch")
    return monorepo


def test_an_ignored_file_of_rankings(built):
    built.write("suites/runs/now.trec", "q1 Q0 d9 1 9 x\nq2 Q0 d2 1 9 x\nq1 Q0 d8 2 8 x\n")

    result = built.run()

    assert built.affected() == {"shop": UNKNOWN.format("suites/runs", "its source")}
    assert built.results()["unaffected"] == ["ads"]
    assert result.ret == 0
    assert UNKNOWN.format("suites/runs", "its source") in (built.path / "ireval-report/summary.md").read_text()


def test_an_ignored_file_of_judgments(monorepo):
    monorepo.git("checkout", "--quiet", "main")
    monorepo.write(".gitignore", "ireval-report/\n__pycache__/\n*.tmp.txt\n")
    monorepo.write("suites/data/judged.tmp.txt", (monorepo.path / "suites/data/judgments.txt").read_text())
    path = monorepo.path / "suites/ads.ireval.yaml"
    path.write_text(path.read_text().replace("data/judgments.txt", "data/judged.tmp.txt"))
    monorepo.commit("made by a job")
    monorepo.git("checkout", "--quiet", "-B", "branch")

    monorepo.run()

    assert monorepo.affected() == {"ads": UNKNOWN.format("suites/data/judged.tmp.txt", "its judgments")}


def test_a_file_outside_of_the_repository(monorepo, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "run.trec"
    shutil.copy(monorepo.path / "suites/data/run.trec", elsewhere)
    monorepo.git("checkout", "--quiet", "main")
    path = monorepo.path / "suites/shop.ireval.yaml"
    path.write_text(path.read_text().replace("data/run.trec", str(elsewhere)))
    monorepo.commit("elsewhere")
    monorepo.git("checkout", "--quiet", "-B", "branch")

    monorepo.run()

    outside = f"{elsewhere} is outside of the repository (its source)"
    said = f"takes part whatever changed: {outside}, so its changes are unknown"
    assert monorepo.affected() == {"shop": said}


def test_ignored_files_that_no_suite_names_concern_nobody(monorepo):
    monorepo.write(".git/info/exclude", "*.log\n/cache/\n")
    monorepo.write("suites/data/run.log", "")
    monorepo.write("cache/run.trec", "")

    monorepo.run()

    assert (monorepo.affected(), monorepo.results()["unaffected"]) == ({}, ["ads", "shop"])


def test_a_pointer_of_dvc_stands_for_the_ignored_file(built):
    built.git("checkout", "--quiet", "main")
    built.write("suites/runs.dvc", "outs: [{md5: 1}]\n")
    built.commit("kept by DVC")
    built.git("checkout", "--quiet", "-B", "branch")

    built.run()
    before = built.affected()
    built.write("suites/runs.dvc", "outs: [{md5: 2}]\n")
    built.run()

    assert before == {}
    assert built.affected() == {"shop": "suites/runs.dvc changed (its source)"}


def test_a_python_of_a_virtual_environment_is_no_data(monorepo):
    monorepo.git("checkout", "--quiet", "main")
    monorepo.write(".gitignore", "ireval-report/\n__pycache__/\n.venv/\n")
    monorepo.write(".venv/pyvenv.cfg", "")
    monorepo.write(".venv/bin/python", "")
    monorepo.write("search.py", "")
    path = monorepo.path / "suites/shop.ireval.yaml"
    path.write_text(path.read_text().replace("{run: data/run.trec}", "{command: [../.venv/bin/python, ../search.py]}"))
    monorepo.write("suites/shop.ireval.yaml", path.read_text() + "queries: data/queries.tsv\n")
    monorepo.write("suites/data/queries.tsv", "id\ttext\nq1\tone\nq2\ttwo\n")
    monorepo.commit("a program")
    monorepo.git("checkout", "--quiet", "-B", "branch")

    result = monorepo.run()

    assert (monorepo.affected(), result.ret) == ({}, 0)
