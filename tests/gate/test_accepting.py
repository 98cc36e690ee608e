"""Accepting a change: what is written, what stands in the way, and what is left alone."""

import pytest


@pytest.fixture
def changed(shop):
    """A shop whose rankings got worse on one query."""
    shop.accept()
    shop.rankings["q10"] = ["q10-n1", "q10-n2", "q10-n3"]
    shop.write()
    return shop


def test_a_red_comparison_is_accepted_with_a_reason(changed):
    before = changed.baseline_files()

    result = changed.run("--ireval-update", "--ireval-reason", "synonyms v2")

    assert result.ret == 0
    assert changed.baseline_files() != before
    assert b"synonyms v2" in changed.baseline_files()["shop.json"]
    assert changed.results()["accepted"] == ["shop"]
    assert changed.run().ret == 0


def test_without_a_reason_it_is_not(changed):
    before = changed.baseline_files()

    result = changed.run("--ireval-update")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert changed.baseline_files() == before
    result.stdout.fnmatch_lines(
        ['not accepted: shop: a comparison was red: say why that is fine, with --ireval-reason "…"']
    )


def test_a_red_threshold_stands_in_the_way_unless_forced(changed):
    changed.change(('nDCG@10: ">= 0.5"', 'nDCG@10: ">= 0.95"'))
    before = changed.baseline_files()

    result = changed.run("--ireval-update", "--ireval-reason", "x")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert changed.baseline_files() == before
    result.stdout.fnmatch_lines(
        [
            "not accepted: shop: 1 verdict red, and --ireval-force was not given: threshold::nDCG_10: "
            "nDCG@10 is 0.9000 (must be >= 0.95)"
        ]
    )
    changed.run("--ireval-update", "--ireval-reason", "x", "--ireval-force")
    assert b'"forced": true' in changed.baseline_files()["shop.json"]


@pytest.mark.parametrize(
    "selection", [("-k", "tail"), ("shop.ireval.yaml::threshold",), ("--maxfail=1", "-k", "not inputs")]
)
def test_a_suite_that_was_not_evaluated_whole_is_left_alone(changed, selection):
    before = changed.baseline_files()

    result = changed.run("--ireval-update", "--ireval-reason", "x", *selection)

    assert changed.baseline_files() == before
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["not accepted: shop: * of its 7 verdicts were not part of this run; left as it is"])


def test_new_baselines_only_leave_an_existing_one_alone_and_its_verdicts_red(changed):
    before = changed.baseline_files()

    result = changed.run("--ireval-update-new")

    assert changed.baseline_files() == before
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert changed.verdicts()["no_regression::nDCG_10.segment-tail"] == "fail"


def test_nothing_is_accepted_by_ci(changed, monkeypatch):
    monkeypatch.setenv("CI", "true")

    result = changed.run("--ireval-update", "--ireval-reason", "x")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*CI is set, and a change is accepted by somebody, not by CI; --ireval-allow-ci allows it"]
    )
    assert changed.run("--ireval-update", "--ireval-reason", "x", "--ireval-allow-ci").ret == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--ireval-update", "--ireval-update-new"), "say one of them"),
        (("--ireval-reason", "x"), "are about accepting: say --ireval-update, too"),
        (("--ireval-force",), "are about accepting: say --ireval-update, too"),
    ],
)
def test_options_that_make_no_sense_are_refused(shop, arguments, complaint):
    result = shop.run(*arguments)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert complaint in result.stderr.str()


def test_what_is_as_it_was_is_not_accepted_again(shop):
    shop.accept()
    before = shop.baseline_files()

    result = shop.run("--ireval-update", "--ireval-reason", "again")

    assert result.ret == 0
    assert shop.baseline_files() == before
    result.stdout.fnmatch_lines(["shop: nothing to accept, all is as in the baseline"])


def test_a_failed_write_is_red_and_said(changed):
    before = changed.baseline_files()
    (changed.path / "baselines" / "shop.json").unlink()
    (changed.path / "baselines" / "shop.json").mkdir()

    result = changed.run("--ireval-update", "--ireval-reason", "x", "--ireval-force")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "not accepted: shop:" in result.stdout.str()
    assert {name: data for name, data in before.items() if name != "shop.json"} == {
        path.name: path.read_bytes() for path in (changed.path / "baselines").glob("shop.*") if path.is_file()
    }


def test_a_damaged_baseline_is_an_error_of_comparisons_alone(shop):
    shop.accept()
    path = shop.path / "baselines/shop.rankings.tsv"
    path.write_bytes(path.read_bytes()[:-20])

    result = shop.run()

    verdicts = shop.verdicts()
    assert verdicts["threshold::nDCG_10"] == "pass"
    assert verdicts["no_regression::nDCG_10.all"] == "error"
    assert "Traceback" not in result.stdout.str()
    assert "shop.rankings.tsv" in result.stdout.str()
