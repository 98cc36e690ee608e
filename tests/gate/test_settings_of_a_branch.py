"""What a branch sets in its own files to make the gate milder is said, or does not count."""

import pytest
from branches import FAILS, WORSE

pytestmark = pytest.mark.ci

STRICT = {
    "pytest.ini": "[pytest]\nireval_baseline_lowering = fail\n",
    "pyproject.toml": '[tool.pytest.ini_options]\nireval_baseline_lowering = "fail"\n',
    "tox.ini": "[pytest]\naddopts = -o ireval_baseline_lowering=fail\n",
}
SAID = "ireval_baseline_lowering is report here, but fail in {file} at {base}, the merge base with main"


def begin_with(branch, file, text):
    branch.git("checkout", "--quiet", "main")
    (branch.path / file).write_text(text)
    branch.commit("a setting")
    branch.base = branch.read_main()
    branch.git("checkout", "--quiet", "-B", "change")


@pytest.mark.parametrize(
    ("file", "change"), [("pytest.ini", "gone"), ("pyproject.toml", "in another file"), ("tox.ini", "report")]
)
def test_a_setting_that_the_branch_made_milder_is_said(branch, file, change):
    begin_with(branch, file, STRICT[file])
    if change == "in another file":
        (branch.path / "pytest.ini").write_text("[pytest]\nireval_baseline_lowering = report\n")
    else:
        milder = STRICT[file].replace("=fail", "=report").replace("= fail", "= report").replace('"fail"', '"report"')
        (branch.path / file).write_text(milder if change == "report" else "")
    branch.accept(**WORSE)

    told = branch.run()

    assert told.ret == 0
    said = SAID.format(file=file, base=branch.base)
    assert [each for each in branch.shop.results()["warnings"] if each.startswith(said)]
    assert said in (branch.path / "ireval-report/summary.md").read_text().splitlines()[1].replace("\\", "")
    assert said in " ".join(told.stdout.str().split())


def test_a_setting_that_was_mild_before_is_not_spoken_of(branch):
    begin_with(branch, "pytest.ini", "[pytest]\nireval_baseline_lowering = report\n# ireval_baseline_lowering = fail\n")

    assert branch.run().ret == 0
    assert branch.shop.results()["warnings"] == []


def test_what_the_command_line_says_decides(branch):
    begin_with(branch, "pytest.ini", STRICT["pytest.ini"])
    (branch.path / "pytest.ini").write_text("[pytest]\nireval_baseline_lowering = report\n")
    branch.accept(**WORSE)

    assert branch.run(*FAILS).ret == 1
    assert branch.run("-o", "ireval_baseline_lowering=report").ret == 0
    assert branch.shop.results()["warnings"] == []


def test_in_ci_an_ini_file_accepts_nothing(branch, monkeypatch):
    monkeypatch.setenv("CI", "true")
    (branch.path / "pytest.ini").write_text(
        "[pytest]\naddopts = --ireval-update --ireval-reason x --ireval-force --ireval-allow-ci\n"
    )
    branch.rank(**WORSE)

    told = branch.run(*FAILS)

    assert told.ret == pytest.ExitCode.USAGE_ERROR
    told.stderr.fnmatch_lines(["ERROR: --ireval-allow-ci counts only on the command line: *"])


def test_in_ci_the_command_line_accepts(branch, monkeypatch):
    monkeypatch.setenv("CI", "true")
    branch.rank(**WORSE)

    branch.shop.run("--ireval-update", "--ireval-reason", "x", "--ireval-force", "--ireval-allow-ci")

    assert branch.shop.results()["accepted"] == ["shop"]
