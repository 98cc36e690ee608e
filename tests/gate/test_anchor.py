"""``against: anchor``: a pinned release beside the baseline, which no acceptance moves."""

import pytest

pytestmark = pytest.mark.ci

AGAINST = "  - no_regression: {decide_by: observed, metric: nDCG@10, tolerance: 5%}"
ANCHORED = "  - no_regression: {decide_by: observed, metric: nDCG@10, tolerance: 20%, against: anchor, name: release}"
RULE = "no_regression::nDCG_10.all.release"


@pytest.fixture
def anchored_shop(shop, ireval, monkeypatch):
    """A shop whose baseline is pinned as release 4.2, with a rule that compares with it."""
    monkeypatch.chdir(shop.path)
    shop.change((AGAINST, f"{AGAINST}\n{ANCHORED}"))
    shop.run("--ireval-update-new")
    assert ireval("baseline", "anchor", "shop.ireval.yaml", "--reason", "release 4.2").code == 0
    return shop


def break_query(shop, query):
    shop.rankings[query] = [f"{query}-n{i}" for i in range(4)]
    shop.write()


def find_outcome(shop):
    (suite,) = shop.results()["suites"]
    return next(each for each in suite["outcomes"] if each["id"] == RULE)


def anchor_files(shop):
    return {name: content for name, content in shop.baseline_files().items() if ".anchor." in name}


def test_a_slow_bleed_that_each_acceptance_lets_through_is_seen(anchored_shop):
    for query in ("q10", "q09", "q08"):
        break_query(anchored_shop, query)
        anchored_shop.run("--ireval-update", "--ireval-reason", f"gave up {query}", "--ireval-force")

    anchored_shop.run()

    assert anchored_shop.verdicts()["no_regression::nDCG_10.all"] == "pass"
    said = find_outcome(anchored_shop)
    assert said["verdict"] == "fail"
    assert said["headline"] == "nDCG@10 fell 30.0% (tolerance 20%)"
    assert said["against"] == "the anchor of 2026-11-18 (release 4.2)"


def test_a_red_rule_against_it_stands_in_the_way_of_accepting_which_never_moves_it(anchored_shop):
    before = anchored_shop.baseline_files()
    for query in ("q10", "q09", "q08"):
        break_query(anchored_shop, query)

    result = anchored_shop.run("--ireval-update", "--ireval-reason", "gave them up")

    assert result.ret == 1
    assert anchored_shop.baseline_files() == before
    result.stdout.fnmatch_lines([f"not accepted: shop: 1 verdict red: *--ireval-force: {RULE}*"])

    anchored_shop.run("--ireval-update", "--ireval-reason", "gave them up", "--ireval-force")

    assert anchored_shop.baseline_files()["shop.baseline"] != before["shop.baseline"]
    assert anchor_files(anchored_shop) == {name: content for name, content in before.items() if ".anchor." in name}


def test_without_an_anchor_the_rule_fails_and_says_what_pins_one_while_the_first_baseline_is_accepted(shop):
    shop.change((AGAINST, f"{AGAINST}\n{ANCHORED}"))
    assert shop.run("--ireval-update-new").ret == 1  # the rule is red all the same
    assert "shop.baseline" in shop.baseline_files()

    result = shop.run()

    assert result.ret == 1
    assert find_outcome(shop)["verdict"] == "fail"
    result.stdout.fnmatch_lines(
        [
            "shop.ireval.yaml:*: no anchor to compare with",
            '*pin what is accepted now: ireval baseline anchor shop.ireval.yaml --reason "…"',
            "*compared with: the anchor",
        ]
    )
    assert "--ireval-update" not in result.stdout.str()


def test_one_that_was_deleted_is_brought_back(branch, ireval, monkeypatch):
    pin_on(branch, ireval, monkeypatch)
    for name in anchor_files(branch.shop):
        (branch.path / "baselines" / name).unlink()

    branch.shop.run().stdout.fnmatch_lines(["*git checkout HEAD -- baselines/shop.anchor.baseline restores it"])


def test_one_that_holds_too_few_documents_is_an_error_that_says_how_it_is_pinned_anew(anchored_shop):
    anchored_shop.change(("depth: 10", "depth: 12"))
    anchored_shop.run("--ireval-update", "--ireval-reason", "deeper", "--ireval-force")

    anchored_shop.run()

    said = find_outcome(anchored_shop)
    assert said["verdict"] == "error"
    assert said["headline"] == "the anchor holds 10 documents of each query, and depth is 12 now"
    assert said["facts"] == [
        'pin the current baseline instead: ireval baseline anchor shop.ireval.yaml --reason "…"',
        "first accept the baseline with --ireval-force if it does not fit either: this rule blocks accepting it",
    ]


def test_queries_that_are_newer_than_the_anchor_are_not_compared_and_are_listed(anchored_shop):
    queries = anchored_shop.path / "queries.tsv"
    anchored_shop.rankings["q11"] = ["q11-n1"]
    anchored_shop.judgments["q11"] = {"q11-d0": 3}
    anchored_shop.write()
    queries.write_text(queries.read_text() + "q11\twords\ttail\t2\n")

    anchored_shop.run("--ireval-update", "--ireval-reason", "a new query", "--ireval-force")
    anchored_shop.run()

    assert find_outcome(anchored_shop)["figures"][0]["queries"] == 10
    notes = anchored_shop.results()["suites"][0]["notes"]
    assert "1 query not yet in the anchor, and not compared: 'q11'" in notes


def test_a_damaged_one_is_an_error_of_its_rules_alone(anchored_shop):
    (anchored_shop.path / "baselines" / "shop.anchor.baseline").write_text("x\n")

    anchored_shop.run()

    assert find_outcome(anchored_shop)["verdict"] == "error"
    assert anchored_shop.verdicts()["no_regression::nDCG_10.all"] == "pass"


class TestTheCommand:
    def test_it_pins_anew_with_a_reason(self, anchored_shop, ireval):
        before = anchor_files(anchored_shop)
        assert ireval("baseline", "anchor", "shop.ireval.yaml").code == 2
        blank = ireval("baseline", "anchor", "shop.ireval.yaml", "--reason", " ")
        assert (blank.code, '--reason "" is no reason' in blank.err) == (2, True)
        assert anchor_files(anchored_shop) == before

        printed = ireval("baseline", "anchor", ".", "--reason", "release 4.3")

        assert (
            printed.out == "shop: pinned the baseline accepted 2026-11-18T11:06:40Z: baselines/shop.anchor.baseline\n"
        )

    def test_a_suite_without_a_baseline_has_nothing_to_pin(self, shop, ireval, monkeypatch):
        monkeypatch.chdir(shop.path)

        printed = ireval("baseline", "anchor", "shop.ireval.yaml", "--reason", "x")

        assert (printed.code, printed.out) == (2, "")
        assert printed.err == (
            "error: shop.ireval.yaml\n"
            "  shop has no baseline to pin\n"
            "  accept one first: pytest --ireval shop.ireval.yaml --ireval-update-new\n"
        )

    def test_show_log_and_diff_know_it(self, anchored_shop, ireval):
        shown = ireval("baseline", "show", "baselines/shop.anchor.baseline").out
        beside = ireval("baseline", "show", "shop.ireval.yaml").out
        logged = ireval("baseline", "log", "baselines/shop.anchor.baseline").out
        compared = ireval("baseline", "diff", "baselines/shop.anchor.baseline", "shop.ireval.yaml").out

        assert shown.startswith("anchor of shop: baselines/shop.anchor.baseline\npinned 2026-11-18T11:06:40Z")
        assert beside.endswith("also pinned: the anchor of 2026-11-18 (release 4.2), baselines/shop.anchor.baseline\n")
        assert "release 4.2" in logged
        assert "baselines/shop.anchor.baseline" in compared

    def test_prune_keeps_it_as_long_as_its_suite_is_there(self, anchored_shop, ireval):
        assert ireval("baseline", "prune").out == "every baseline belongs to a suite\n"

        (anchored_shop.path / "shop.ireval.yaml").unlink()

        assert "deleted baselines/shop.anchor.baseline" in ireval("baseline", "prune", "--yes").out


def test_no_suite_may_be_called_like_an_anchor(shop, ireval):
    shop.change(("suite: shop\n", "suite: shop.anchor\n"))

    printed = ireval("check", shop.path / "shop.ireval.yaml")

    assert printed.code == 1
    assert "'shop.anchor' is the name of an anchor: files of anchors end in .anchor" in printed.out
    assert "use another name: shop" in printed.out


def test_a_branch_lowers_no_anchor(branch, ireval, monkeypatch):
    pin_on(branch, ireval, monkeypatch)
    branch.git("checkout", "--quiet", "-B", "main")
    branch.git("checkout", "--quiet", "-B", "work")
    branch.accept(force=True, q10="n1 n2 n3", q09="n1 n2 n3", q08="n1 n2 n3")
    ireval("baseline", "anchor", "shop.ireval.yaml", "--reason", "worse")
    branch.commit("pinned")

    said = branch.outcome()

    assert said["headline"].startswith("the branch lowers its baseline: nDCG@10 1.0000 -> 0.")
    assert not any("anchor" in fact for fact in said["facts"])


def pin_on(branch, ireval, monkeypatch):
    """What the branch began with is pinned and committed, and a rule compares with it."""
    monkeypatch.chdir(branch.path)
    branch.shop.change((AGAINST, f"{AGAINST}\n{ANCHORED}"))
    assert ireval("baseline", "anchor", "shop.ireval.yaml", "--reason", "release 4.2").code == 0
    branch.commit("pinned")


def test_the_result_tells_who_accepted_and_who_pinned(anchored_shop, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795086400")
    break_query(anchored_shop, "q10")
    anchored_shop.run("--ireval-update", "--ireval-reason", "a supplier is gone")
    anchored_shop.run()

    (suite,) = anchored_shop.results()["suites"]
    told = [(each["date"], each["reason"], each["anchor"]) for each in suite["acceptances"]]
    assert told == [
        ("2026-11-18T11:06:40Z", "", False),
        ("2026-11-18T11:06:40Z", "release 4.2", True),
        ("2026-11-19T11:06:40Z", "a supplier is gone", False),
    ]
