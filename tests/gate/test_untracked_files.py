"""A run over files that git does not know is no run of the commit that it names."""

from pytest_ireval.baseline.reading import read_baseline


def test_an_untracked_file_of_a_suite_makes_results_and_acceptance_dirty(monorepo):
    monorepo.suite("shop", "  - no_regression: {metric: nDCG@10, tolerance: 5%}\nwatches: ../search/**\n")
    monorepo.commit("rule")
    monorepo.git("rm", "--quiet", "--cached", "suites/data/run.trec")
    monorepo.git("commit", "--quiet", "-m", "forgotten")

    assert monorepo.run("--ireval-update-new", since=None).ret == 0
    assert monorepo.results()["dirty"] is True
    assert [each.dirty for each in read_baseline(monorepo.path / "suites/baselines", "shop").acceptances] == [True]


def test_an_ignored_file_of_a_suite_or_an_untracked_one_of_nobody_does_not(monorepo):
    monorepo.write(".gitignore", "ireval-report/\n__pycache__/\n*.trec\n")
    monorepo.git("rm", "--quiet", "--cached", "suites/data/run.trec")
    monorepo.commit("built by the job")
    monorepo.write("notes.txt", "")
    monorepo.run(since=None)

    assert monorepo.results()["dirty"] is False


def test_only_the_suite_that_uses_an_untracked_file_is_accepted_as_dirty(monorepo):
    rule = "  - no_regression: {metric: nDCG@10, tolerance: 5%}\n"
    monorepo.suite("ads", rule)
    monorepo.commit("rule")
    monorepo.suite("new", rule)  # its own file is the one that git does not know

    assert monorepo.run("--ireval-update-new", since=None).ret == 0
    accepted = {name: read_baseline(monorepo.path / "suites/baselines", name).acceptances for name in ("ads", "new")}
    assert {name: each[0].dirty for name, each in accepted.items()} == {"ads": False, "new": True}
