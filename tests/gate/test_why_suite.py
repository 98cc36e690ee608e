"""``ireval why --suite``: the baseline beside the rankings of the last run, under the policies of the suite."""

import ctypes
import gzip
import io
import sys
import zipfile

import pytest

from pytest_ireval.report.results_file import read_run


@pytest.fixture
def accepted_shop(shop):
    shop.accept()
    shop.pytester.chdir()
    return shop


WHY = ("why", "nDCG@10", "--suite", "shop.ireval.yaml", "--query", "q03")
BY_VARIABLE = ("source: {run: rankings.txt}", 'source: {run: "${SHOP_RANKINGS:-rankings.txt}"}')
OF_THE_RUN = "explained: the rankings of the run of 20"
ASKED = "explained: what the source returns now"


@pytest.fixture
def red_shop(shop, monkeypatch):
    """A shop whose last run was red, under a variable that is no longer set."""
    shop.pytester.chdir()
    shop.change(BY_VARIABLE)
    shop.accept()
    shop.rankings["q03"] = ["q03-n1", "q03-d0"]
    shop.write()
    (shop.path / "rankings.txt").rename(shop.path / "worse.txt")
    del shop.rankings["q03"][0]
    shop.rankings["q03"] += ["q03-d1", "q03-d2", "q03-d3"]
    shop.write()
    monkeypatch.setenv("SHOP_RANKINGS", "worse.txt")
    shop.once("red under a variable", shop.run)
    assert shop.results()["verdict"] == "fail"
    monkeypatch.delenv("SHOP_RANKINGS")
    return shop


def explain(ireval, *more):
    """The line with both values, and the one that says what was explained."""
    lines = ireval(*WHY, *more).out.splitlines()
    values = next(line for line in lines if line.startswith("nDCG@10 of query"))
    return values, next(line for line in lines if line.startswith("explained: "))


def test_the_run_that_was_red_is_explained_under_another_environment(red_shop, ireval):
    values, what = explain(ireval)

    assert values.startswith("nDCG@10 of query q03: 1.0000 -> 0.3")
    assert what.startswith(OF_THE_RUN)
    assert what.endswith("; --ask asks the source again")
    assert "(A) -> run: worse.txt (B)" in ireval(*WHY).out
    assert explain(ireval, "--ask") == ("nDCG@10 of query q03: 1.0000 -> 1.0000 (+0.0000)", ASKED)


def test_rankings_are_kept_alike_where_freed_memory_is_returned(red_shop, ireval, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795374000")
    monkeypatch.setenv("SHOP_RANKINGS", "worse.txt")
    red_shop.run()
    plain = (red_shop.path / "ireval-report/rankings.zip").read_bytes()
    monkeypatch.setattr("pytest_ireval.gate.collect.MANY_DOCUMENTS", 0)
    for without in (ctypes, None):
        monkeypatch.setitem(sys.modules, "ctypes", without)
        red_shop.run()
        assert (red_shop.path / "ireval-report/rankings.zip").read_bytes() == plain
    monkeypatch.delenv("SHOP_RANKINGS")

    assert explain(ireval)[1].startswith(OF_THE_RUN)


def test_rankings_that_cannot_be_packed_make_their_suite_an_error_and_leave_none_of_before(accepted_shop, monkeypatch):
    def no_memory(*_, **__):
        raise MemoryError

    accepted_shop.run_before()
    assert (accepted_shop.path / "ireval-report/rankings.zip").exists()
    monkeypatch.setattr("pytest_ireval.baseline.rankings_file.list_answers", no_memory)

    result = accepted_shop.run("--ireval-update", "--ireval-reason", "none")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*MemoryError*", "ireval: error: * checks of shop could not be judged*"])
    run = read_run(accepted_shop.path / "ireval-report")
    assert (run.verdict, run.accepted) == ("error", ())
    assert "MemoryError" in run.suites[0].error
    assert not (accepted_shop.path / "ireval-report/rankings.zip").exists()


@pytest.mark.ci
def test_workers_of_xdist_keep_the_rankings_as_one_process_does(red_shop, ireval, monkeypatch):
    one = (red_shop.path / "ireval-report/rankings.zip").read_bytes()
    monkeypatch.setenv("SHOP_RANKINGS", "worse.txt")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795374000")
    red_shop.run("-p", "xdist", "-n0")
    alone = (red_shop.path / "ireval-report/rankings.zip").read_bytes()
    red_shop.run("-p", "xdist", "-n2")
    monkeypatch.delenv("SHOP_RANKINGS")

    assert (red_shop.path / "ireval-report/rankings.zip").read_bytes() == alone != one
    values, what = explain(ireval)
    assert values.startswith("nDCG@10 of query q03: 1.0000 -> 0.3")
    assert what.startswith(OF_THE_RUN)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda shop: shop.change(("tolerance: 5%}", "tolerance: 6%}")), "the suite file changed since the run of 20"),
        (lambda shop: shop.judgments["q01"].update({"q01-d3": 1}), "the judgments changed since the run of 20"),
    ],
)
def test_where_what_it_was_judged_by_has_changed_that_is_said_and_the_source_asked(red_shop, ireval, change, says):
    change(red_shop)
    red_shop.write()

    values, what = explain(ireval)

    assert values == "nDCG@10 of query q03: 1.0000 -> 1.0000 (+0.0000)"
    assert what.startswith(f"{ASKED}; {says}")


def test_a_setting_that_a_variable_changed_is_said(shop, ireval, monkeypatch):
    shop.pytester.chdir()
    shop.change(("depth: 10", "depth: ${SHOP_DEPTH:-10}"))
    shop.accept()
    shop.run()
    monkeypatch.setenv("SHOP_DEPTH", "12")

    assert explain(ireval)[1].startswith(f"{ASKED}; a variable that the suite file names changed since the run of 20")


def test_a_file_that_is_damaged_is_told_with_what_to_do(red_shop, ireval):
    file = red_shop.path / "ireval-report/rankings.zip"
    whole = file.read_bytes()
    for content in (b"", whole[: len(whole) // 2]):
        file.write_bytes(content)
        result = ireval(*WHY)
        assert result.code == 2
        assert "is damaged: these are not the rankings of a run" in result.err
        assert "--ask" in result.err
    with zipfile.ZipFile(io.BytesIO(whole)) as kept:
        parts = {name: kept.read(name) for name in kept.namelist()}
    text = parts["0.current.json.gz"]
    for content in (b"", text[:-9], gzip.compress(b"# another text"), text + b"more"):
        with zipfile.ZipFile(file, "w") as made:
            for name, part in {**parts, "0.current.json.gz": content}.items():
                made.writestr(name, part)
        assert "is damaged: these are not the rankings of a run" in ireval(*WHY).err
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("run.json", '{"format": 2}')
    assert "has format 2; this version reads format 1" in ireval(*WHY).err


def test_the_baseline_stands_beside_the_ranking_of_now(accepted_shop, ireval):
    accepted_shop.rankings["q03"] = ["q03-n1", "q03-d0"]
    accepted_shop.write()

    out = ireval(*WHY, "--ask").out

    assert out.startswith("nDCG@10 of query q03: 1.0000 -> 0.3")
    assert "judgments: judgments.txt; rankings: the baseline of 2026-11-1" in out
    assert "(A) -> run: rankings.txt (B)" in out
    assert "#1 -> #2" in next(line for line in out.splitlines() if line.startswith("q03-d0 "))


def test_without_a_query_the_one_that_changed_most_is_explained(accepted_shop, ireval):
    accepted_shop.rankings["q07"] = ["q07-n1"]
    accepted_shop.write()

    assert ireval("why", "P@3", "--suite", "shop.ireval.yaml", "--ask").out.startswith(
        "P@3 of query q07 (the largest difference of 10 queries): 1.0000 -> 0.0000 (-1.0000)\n"
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("RR@10", "judgments.txt"), "--suite has its own files and policies: give no files and no policy options"),
        (("RR@10", "--ties", "input"), "--suite has its own files and policies: give no files and no policy options"),
        (("RR@10", "--named", "other"), "has no suite 'other'"),
        (("RBO",), "RBO\n  compares two lists, and there is no baseline to compare with"),
    ],
)
def test_what_makes_no_sense_of_a_suite_is_refused(shop, ireval, arguments, says):
    shop.pytester.chdir()
    result = ireval("why", *arguments, "--suite", "shop.ireval.yaml", "--query", "q01")

    assert result.code == 2
    assert says in result.err


def test_a_metric_of_two_lists_compares_the_current_one_with_the_baseline(accepted_shop, ireval):
    result = ireval("why", "KendallTau", "--suite", "shop.ireval.yaml", "--query", "q01")

    assert result.code == 0, result.err
    assert "in reference" in result.out
    assert "KendallTau = " in result.out
