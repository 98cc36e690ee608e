"""`ireval demo`: from an install to a red gate, with nothing to prepare."""

import os
import sys
import tempfile

import pytest

from pytest_ireval.cli import main


def test_the_demo_is_green_and_then_red_for_the_tail_and_leaves_alone_where_it_is_started(tmp_path, monkeypatch, capfd):
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    (here / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    for name, value in {"CI": "1", "PYTEST_ADDOPTS": "--also-unknown", "RANKINGS": "none.trec"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["ireval", "demo"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    green, red = capfd.readouterr().out.split("2. ")
    assert "7 passed" in green
    assert "segment=tail (hard limit 25%)" in red
    assert "1 failed, 6 passed" in red
    assert "unjudged" not in red
    average = next(line for line in red.splitlines() if line.startswith("  all "))
    assert average.split()[3].startswith("+")
    named = [line.strip() for line in red.split("3. ")[1].splitlines() if line.startswith(f"  {temporary}")]
    assert len(named) == 3
    assert all(os.path.isfile(name) for name in named)
    assert len(list(temporary.glob("ireval-demo-*/ireval-report/index.html"))) == 1
    assert [path.name for path in here.iterdir()] == ["pytest.ini"]


def test_what_a_user_changed_in_the_shop_is_used_only_when_asked_and_never_overwritten(ireval, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    suite = tmp_path / "shop" / "suites" / "shop.ireval.yaml"
    suite.parent.mkdir(parents=True)
    suite.write_text(
        "ireval: 1\nsuite: mine\nsource: {run: rankings/today.trec}\njudgments: judgments.txt\n"
        "rules: [{threshold: {'P@5': '>= 0.1'}}]\n"
    )
    mine = suite.read_bytes()
    refused = ireval("demo", "shop")
    assert refused.code == 2
    assert "shop.ireval.yaml" in refused.err
    assert "--keep" in refused.err
    assert not (suite.parent / "queries.tsv").exists()
    kept = ireval("demo", "shop", "--keep")
    assert kept.code == 0, kept.err
    assert "files were changed" in kept.out  # this suite does not read RANKINGS, so nothing is red
    assert suite.read_bytes() == mine
