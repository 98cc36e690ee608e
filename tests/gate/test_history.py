"""Every run that measures something is remembered, once, by the process that writes; and no verdict hangs on it."""

import os
import sqlite3

import pytest

from pytest_ireval.history.trends import rows

pytestmark = pytest.mark.ci

WARNING = "warning: this run is not in the history: "


@pytest.fixture
def accepted(shop):
    shop.accept()
    return shop


def history(shop):
    return rows(shop.path / ".ireval/history.sqlite")


def runs(shop):
    """The first line of each, the oldest first."""
    return list({row.run: row for row in reversed(history(shop))}.values())


def test_a_run_is_remembered_with_its_figures(accepted):
    accepted.rankings["q10"] = ["q10-n1"]
    accepted.write()

    result = accepted.run()

    kept = {(row.metric, row.slice): row for row in history(accepted) if row.run == 2}
    assert set(kept) == {("nDCG@10", "all"), ("P@3", "all"), ("nDCG@10", "segment=head"), ("nDCG@10", "segment=tail")}
    whole, tail = kept["nDCG@10", "all"], kept["nDCG@10", "segment=tail"]
    assert (whole.date, whole.suite, whole.suite_verdict) == ("2026-11-18T11:06:40Z", "shop", "fail")
    assert (whole.value, whole.baseline, whole.change) == (pytest.approx(0.9), 1.0, pytest.approx(-0.1))
    assert (whole.queries, tail.queries, tail.verdict) == (10, 4, "fail")
    assert kept["P@3", "all"].verdict == ""
    assert "history" not in result.stdout.str()


def test_an_acceptance_is_marked_with_its_reason(accepted):
    accepted.rankings["q10"] = ["q10-n1"]
    accepted.write()
    accepted.run("--ireval-update", "--ireval-reason", "a supplier is gone")
    accepted.run()

    assert [(row.accepted, row.reason) for row in runs(accepted)] == [
        (True, ""),
        (True, "a supplier is gone"),
        (False, ""),
    ]
    assert accepted.results()["reason"] == ""


@pytest.mark.parametrize(("option", "wrong"), [("-k", "language=한국어"), ("-m", "not (nightly")])
def test_a_run_with_a_wrong_option_says_what_is_wrong_and_is_no_attempt(accepted, option, wrong):
    result = accepted.run(option, wrong)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["error: the run ended before this suite was evaluated: Wrong expression passed to*"])
    assert accepted.results()["verdict"] == "error"
    assert len(runs(accepted)) == 1


def test_an_update_that_was_refused_is_no_acceptance(accepted):
    accepted.rankings["q10"] = ["q10-n1"]
    accepted.write()
    accepted.run("--ireval-update")

    assert [row.accepted for row in runs(accepted)] == [True, False]


def test_of_a_part_of_a_suite_it_is_said_that_it_is_a_part(accepted):
    accepted.run("-k", "nDCG_10 and tail")

    whole, part = runs(accepted)
    assert (whole.judged, whole.planned, whole.partly) == (7, 7, False)
    assert (part.judged, part.planned, part.partly) == (1, 7, True)
    measured = {row.slice: row.verdict for row in history(accepted) if (row.run, row.metric) == (part.run, "nDCG@10")}
    assert measured == {"all": "", "segment=head": "", "segment=tail": "pass"}


@pytest.mark.parametrize("option", ["--collect-only", "--fixtures", "--markers", "--help", "--version"])
def test_a_run_that_only_looks_is_not_remembered(shop, option):
    shop.run(option)

    assert not (shop.path / ".ireval").exists()


def test_a_run_without_the_flag_is_not_remembered(shop):
    (shop.path / "test_one.py").write_text("def test_one(): pass\n")
    shop.pytester.runpytest("-p", "no:cacheprovider")

    assert not (shop.path / ".ireval").exists()


def test_a_run_without_a_suite_measures_nothing(shop):
    shop.change(("depth: 10", "depht: 10"))

    assert shop.run().ret == 2
    assert not (shop.path / ".ireval").exists()


def test_a_suite_that_could_not_look_is_remembered_without_a_figure(accepted):
    (accepted.path / "judgments.txt").write_text("nothing of use\n")

    accepted.run()

    assert [(row.suite_verdict, row.metric, row.value) for row in history(accepted) if row.run == 2] == [
        ("error", "", None)
    ]


def test_it_can_be_turned_off(shop):
    result = shop.run("-o", "ireval_history=none", "--ireval-update-new")

    assert result.ret == 0
    assert not (shop.path / ".ireval").exists()


def test_it_can_lie_elsewhere_below_the_folder_of_the_ini_file(shop):
    (shop.path / "pytest.ini").write_text("[pytest]\nireval_history = build/runs.db\n")

    shop.run("--ireval-update-new")

    assert len({row.run for row in rows(shop.path / "build/runs.db")}) == 1


def test_a_setting_that_names_nothing_is_an_error(shop):
    result = shop.run("-o", "ireval_history=")

    assert result.ret == 4
    result.stderr.fnmatch_lines(["*ireval_history is empty", "*ireval_history = none remembers no run"])


def newer(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 9")
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (newer, "has version 9, but this pytest-ireval reads only versions up to 3"),
        (
            lambda path: path.write_bytes(b"not a database" * 99),
            "is damaged: file is not a database; move it away; ireval",
        ),
        (lambda path: (path.unlink(), path.mkdir()), "cannot be used: unable to open database file"),
    ],
    ids=["newer", "damaged", "a folder"],
)
@pytest.mark.parametrize("flags", [(), ("-q",)], ids=["loud", "quiet"])
def test_a_history_that_cannot_be_written_is_said_and_changes_no_verdict(accepted, spoil, says, flags):
    path = accepted.path / ".ireval/history.sqlite"
    spoil(path)

    green = accepted.run(*flags)
    accepted.rankings["q10"] = ["q10-n1"]
    accepted.write()
    red = accepted.run(*flags)

    assert (green.ret, red.ret) == (0, 1)
    green.stdout.fnmatch_lines([f"{WARNING}*history.sqlite {says}*"])
    red.stdout.fnmatch_lines([f"{WARNING}*history.sqlite {says}*"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is closed to root")
def test_a_folder_that_is_closed_changes_no_verdict(accepted):
    folder = accepted.path / ".ireval"
    folder.chmod(0o555)
    (folder / "history.sqlite").chmod(0o444)
    try:
        result = accepted.run()
    finally:
        folder.chmod(0o755)

    assert result.ret == 0
    result.stdout.fnmatch_lines([f"{WARNING}*attempt to write a readonly database"])


def test_what_the_file_of_a_run_tells_is_the_run_that_is_remembered(accepted, ireval, monkeypatch):
    monkeypatch.chdir(accepted.path)
    accepted.rankings["q10"] = ["q10-n1"]
    accepted.write()
    accepted.run("--ireval-update", "--ireval-reason", "a supplier is gone")
    before = history(accepted)

    (*_, said) = ireval("history", "rebuild", "ireval-report").out.splitlines()
    assert said == "1 file: 0 runs added, 1 already known"
    assert history(accepted) == before


def trends(shop):
    (suite,) = shop.results()["suites"]
    return {(each["metric"], each["slice"]): each["points"] for each in suite["trends"]}


@pytest.fixture
def second(accepted, monkeypatch):
    """A day later, q10 lost its best document."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795086400")
    accepted.rankings["q10"] = ["q10-n1"]
    accepted.write()
    return accepted


def test_the_file_of_a_run_shows_earlier_ones_beside_it(second, monkeypatch):
    assert trends(second) == {}  # of the first run
    second.run("--ireval-update", "--ireval-reason", "a supplier is gone")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795172800")
    second.run()

    found = trends(second)
    assert list(found) == [("nDCG@10", "all"), ("P@3", "all"), ("nDCG@10", "segment=head"), ("nDCG@10", "segment=tail")]
    whole = [(each["date"], each["value"], each["accepted"], each["reason"]) for each in found["nDCG@10", "all"]]
    assert whole == [
        ("2026-11-18T11:06:40Z", 1.0, True, ""),
        ("2026-11-19T11:06:40Z", 0.9, True, "a supplier is gone"),
        ("2026-11-20T11:06:40Z", 0.9, False, ""),
    ]
    tail = [(each["value"], each["verdict"], each["this"]) for each in found["nDCG@10", "segment=tail"]]
    assert tail == [(0.75, "pass", False), (0.75, "pass", True)]  # the first run had nothing to compare with


def test_two_runs_of_one_moment_show_the_same(second):
    second.run()
    first = second.results()
    second.run()

    assert second.results() == first
    assert len(trends(second)["P@3", "all"]) == 2


@pytest.mark.parametrize("setting", ["none", "another.sqlite"])
def test_where_nothing_is_remembered_there_is_nothing_beside_it(second, setting):
    second.run("-o", f"ireval_history={setting}")

    assert trends(second) == {}


def test_a_figure_that_went_wrong_is_said_and_the_run_is_remembered(second):
    connection = sqlite3.connect(second.path / ".ireval/history.sqlite")
    connection.execute("UPDATE figures SET verdict = 'perhaps'")
    connection.commit()
    connection.close()

    result = second.run("-q")

    result.stdout.fnmatch_lines(["warning: the report shows no earlier runs: *history.sqlite is damaged: *"])
    assert trends(second) == {}
    assert len(runs(second)) == 2


@pytest.mark.ci
def test_with_several_processes_the_trends_are_the_same(second):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    second.run()
    alone = trends(second)
    second.pytester.runpytest_subprocess("--ireval", "-p", "no:cacheprovider", "-n", "2")

    assert trends(second) == alone
    assert len(alone["nDCG@10", "all"]) == 2


@pytest.mark.ci
def test_with_several_processes_a_run_is_remembered_once_and_like_one(accepted):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    accepted.rankings["q10"] = ["q10-n1"]
    accepted.write()
    accepted.run()
    accepted.pytester.runpytest_subprocess("--ireval", "-p", "no:cacheprovider", "-n", "2")

    _, one, two = runs(accepted)

    def unnamed(run):
        return [row._replace(run=0, run_key="") for row in history(accepted) if row.run == run]

    assert unnamed(one.run) == unnamed(two.run)


def test_a_commit_that_is_tried_until_it_is_green_is_seen(branch, ireval, monkeypatch):
    monkeypatch.chdir(branch.path)
    branch.rank(q10="n1")
    branch.commit("worse")
    branch.run()
    branch.rank(q10="d0 d1 d2 d3")
    branch.git("checkout", "--quiet", "HEAD", "--", ".")
    branch.run()
    branch.run("-k", "threshold")

    shown = ireval("history", "list", "--metric", "nDCG@10", "--slice", "all", "--limit", "3").out.splitlines()

    *_, last, middle, first, _, more = shown
    assert more == "1 earlier run; --limit shows more"
    assert [line.rpartition("  ")[2] for line in (last, middle, first)] == [
        "attempt 3, 1 of 8 verdicts",
        "attempt 2",
        "fail",
    ]
    assert branch.git("status", "--porcelain") == ""
