"""`ireval demo`: from an install to a red gate, with nothing to prepare."""

import os
import subprocess
import sys


def run_demo(*arguments, cwd, **variables):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | variables
    line = [sys.executable, "-m", "pytest_ireval", "demo", *arguments]
    return subprocess.run(line, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_the_demo_is_green_and_then_red_for_the_tail_wherever_it_is_started(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    shown = run_demo("shop", cwd=tmp_path, CI="1", PYTEST_ADDOPTS="--also-unknown", RANKINGS="none.trec")
    green, red = shown.stdout.split("2. ")
    assert shown.returncode == 0, shown.stderr
    assert "7 passed" in green
    assert "segment=tail (hard limit 25%)" in red
    assert "1 failed, 6 passed" in red
    assert "unjudged" not in red
    average = next(line for line in red.splitlines() if line.startswith("  all "))
    assert average.split()[3].startswith("+")
    named = [line.strip() for line in red.split("3. ")[1].splitlines() if line.startswith("  shop")]
    assert len(named) == 3
    assert all((tmp_path / name).is_file() for name in named)


def test_what_a_user_changed_in_the_shop_is_used_only_when_asked_and_never_overwritten(tmp_path):
    suite = tmp_path / "shop" / "suites" / "shop.ireval.yaml"
    suite.parent.mkdir(parents=True)
    suite.write_text(
        "ireval: 1\nsuite: mine\nsource: {run: rankings/today.trec}\njudgments: judgments.txt\n"
        "rules: [{threshold: {'P@5': '>= 0.1'}}]\n"
    )
    mine = suite.read_bytes()
    refused = run_demo("shop", cwd=tmp_path)
    assert refused.returncode == 2
    assert "shop.ireval.yaml" in refused.stderr
    assert "--keep" in refused.stderr
    assert not (suite.parent / "queries.tsv").exists()
    kept = run_demo("shop", "--keep", cwd=tmp_path)
    assert kept.returncode == 0, kept.stderr
    assert "files were changed" in kept.stdout  # this suite does not read RANKINGS, so nothing is red
    assert suite.read_bytes() == mine


def test_without_a_folder_nothing_is_written_where_the_demo_is_started(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "temporary").mkdir()
    shown = run_demo(cwd=tmp_path / "here", TMPDIR=str(tmp_path / "temporary"))
    assert shown.returncode == 0, shown.stderr
    assert not list((tmp_path / "here").iterdir())
    assert len(list((tmp_path / "temporary").glob("ireval-demo-*/ireval-report/index.html"))) == 1
