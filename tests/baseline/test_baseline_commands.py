"""``ireval baseline``: looking at baselines, and deleting those that no suite uses."""

from dataclasses import replace
from pathlib import Path

import pytest
from made_baselines import FIRST, LISTS, SECOND, baseline_of
from suite_files import write_judgments, write_rankings, write_suite

from pytest_ireval.baseline.record import NO_JUDGMENTS, StoredMetric
from pytest_ireval.baseline.writing import delete_baseline, write_baseline
from pytest_ireval.data.from_objects import convert_rankings

PRINTS = "queries queries, judgments 9d143091509f4283, source run: candidate.trec, policies policies"


@pytest.fixture(autouse=True)
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_baseline(Path("suites/baselines"), baseline_of(acceptances=(FIRST, SECOND)))
    write_suite(Path("suites"), metrics="[nDCG@10]")
    write_judgments(Path("suites/judgments.txt"), {"q1": {"a": 1}})
    write_rankings(Path("suites/rankings.txt"), {"q1": ["a"]})


SHOWN = f"""\
baseline of shop: suites/baselines/shop.baseline
accepted 2026-11-20T08:30:00Z, commit bbbbbbbbb on synonyms with uncommitted changes, forced
reason: synonyms v2
1 earlier acceptance; ireval baseline log lists them

metric    value  queries  version  from
nDCG@10  0.8750        2        1  pytest-ireval

rankings: 3 queries, 5 documents, depth 10
judgments: 3 for 2 queries
fingerprints: {PRINTS}
plugins: pytest-ireval 0.1.0
"""


@pytest.mark.parametrize("name", ["suites/baselines/shop.baseline", "suites/shop.ireval.yaml"])
def test_show_says_what_was_accepted_when_and_why(ireval, name):
    assert ireval("baseline", "show", name) == (0, SHOWN, "")


def test_show_of_a_query_is_its_ranking_with_grades(ireval):
    assert ireval("baseline", "show", "suites/baselines/shop.baseline", "--query", "q1").out == (
        "query q1 of shop: nDCG@10 0.7500\n\n"
        "rank  document  grade\n   1  a             3\n   2  b             0\n   3  c             -\n"
    )
    assert ireval("baseline", "show", "suites/baselines/shop.baseline", "-q", "q3").out == (
        "query q3 of shop: no figures\n\nthe ranking is empty\n"
    )


def test_show_of_a_query_that_is_not_there(ireval):
    assert ireval("baseline", "show", "suites/baselines/shop.baseline", "-q", "Q1") == (
        2,
        "",
        "error: suites/baselines/shop.baseline\n  has no query 'Q1'\n  did you mean 'q1'?\n",
    )


def test_show_of_what_several_askings_brought(ireval):
    askings = (convert_rankings({"q": [("a", 2.5)]}), convert_rankings({"q": [("b", 1.0)], "r": []}))
    write_baseline(Path("baselines"), replace(baseline_of(rankings=askings, scored=True), judgments=NO_JUDGMENTS))

    assert ireval("baseline", "show", "baselines/shop.baseline", "-q", "q").out == (
        "query q of shop: no figures\n\nasking 1 of 2\n\nrank  document  grade  score\n   1  a             -    2.5\n\n"
        "asking 2 of 2\n\nrank  document  grade  score\n   1  b             -      1\n"
    )
    shown = ireval("baseline", "show", "baselines/shop.baseline").out
    assert "rankings: 2 queries, 2 documents in 2 askings, depth 10, with scores\njudgments: none\n" in shown


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "suites/baselines/shup.baseline",
            "suites/baselines/shup.baseline\n  baseline not found\n  did you mean 'shop'?",
        ),
        (
            "suites/baselines",
            "suites/baselines\n  is not a baseline\n  a baseline is its .baseline file, its suite's .yaml file, "
            "or REF:path for the one at a git ref",
        ),
        (
            "main:suites/baselines/shop.baseline",
            "suites/baselines\n  is not in a git repository, or git is not installed",
        ),
    ],
)
def test_what_is_no_baseline(ireval, name, said, tmp_path):
    assert ireval("baseline", "show", name) == (
        2,
        "",
        f"error: {said}\n".replace(
            "error: suites/baselines\n  is not in", f"error: {tmp_path}/suites/baselines\n  is not in"
        ),
    )


def test_a_suite_with_a_matrix_has_several_baselines(ireval):
    write_suite(Path("suites"), suite="many", tags="'{locale}'", matrix="{locale: [de, fr]}")

    assert ireval("baseline", "show", "suites/many.ireval.yaml").err == (
        "error: suites/many.ireval.yaml\n  has several suites, and each has a baseline\n"
        "  suites/baselines/many.de.baseline, suites/baselines/many.fr.baseline\n"
    )


@pytest.fixture
def other():
    """The same suite in another folder, changed in every way."""
    metrics = {
        "nDCG@10": StoredMetric(2, "pytest-ireval", 0.5, {"q1": 1.0, "q4": 0.0}),
        "AP": StoredMetric(1, "pytest-ireval", 0.25, {"q1": 0.25}),
    }
    lists = {"q1": ["a", "c"], "q3": [], "q4": ["x"]}
    grades = {"q1": {"a": 2, "b": 0, "z": 1}, "q4": {"x": 0}}
    baseline = baseline_of(lists, grades, metrics=metrics)
    changed = baseline.fingerprints._replace(queries="others", source="run: b", policies="others")
    write_baseline(Path("other"), baseline_of(lists, grades, metrics=metrics, fingerprints=changed))
    return "other/shop.baseline"


def test_diff_says_everything_that_is_different(ireval, other):
    assert ireval("baseline", "diff", "suites/shop.ireval.yaml", other).out == (
        "A: suites/baselines/shop.baseline, accepted 2026-11-20T08:30:00Z, commit bbbbbbbbb on synonyms with "
        "uncommitted changes, forced\n"
        "B: other/shop.baseline, accepted 2026-11-02T10:00:00Z, commit aaaaaaaaa on main\n\n"
        "metric        A       B    B - A  lower / higher / same\n"
        "AP            -  0.2500        -                      -\n"
        "nDCG@10  0.8750  0.5000  -0.3750              0 / 1 / 0\n\n"
        "rankings: 1 of 2 queries changed; 1 (q2) only in A; 1 (q4) only in B\n"
        "queries only in A: 1 (q2)\n"
        "queries only in B: 1 (q4)\n"
        "judgments: 1 query, 2 judgments changed: q1 a 3 -> 2, q1 z - -> 1\n"
        "queries: the content of the file changed\n"
        "metrics defined differently: nDCG@10\n"
        "different: source, policies\n\n"
        "query  metric        A       B    B - A\n"
        "q1     nDCG@10  0.7500  1.0000  +0.2500\n"
    )


def test_diff_of_a_baseline_with_itself(ireval):
    name = "suites/baselines/shop.baseline"
    out = ireval("baseline", "diff", name, name).out

    assert out.endswith(
        "metric        A       B    B - A  lower / higher / same\n"
        "nDCG@10  0.8750  0.8750  +0.0000              0 / 0 / 2\n\n"
        "rankings: 0 of 3 queries changed\n"
    )


def test_diff_lists_as_many_queries_as_are_wanted(ireval):
    for name, step in (("one", 0.0), ("two", 0.01)):
        values = {f"q{i}": 0.5 + i * step for i in range(9)}
        write_baseline(Path(name), baseline_of(values=values))

    out = ireval("baseline", "diff", "one/shop.baseline", "two/shop.baseline", "--lines", "2").out
    assert out.endswith(
        "query  metric        A       B    B - A\n"
        "q8     nDCG@10  0.5000  0.5800  +0.0800\n"
        "q7     nDCG@10  0.5000  0.5700  +0.0700\n"
        "6 more changes of values; --lines shows more\n"
    )
    assert (
        "query  metric" not in ireval("baseline", "diff", "one/shop.baseline", "two/shop.baseline", "--lines", "0").out
    )


def commit_all(git, message="accepted"):
    git("add", ".")
    git("commit", "--quiet", "-m", message)


@pytest.mark.parametrize("pair", [("HEAD", "now"), ("now", "HEAD"), ("HEAD:now", "now"), ("HEAD", "HEAD:now")])
def test_diff_with_an_earlier_commit(ireval, git, pair):
    name = "suites/baselines/shop.baseline"
    commit_all(git)
    write_baseline(Path("suites/baselines"), baseline_of({**LISTS, "q1": ["c"]}, acceptances=(FIRST, SECOND, FIRST)))

    out = ireval("baseline", "diff", *(word.replace("now", name) for word in pair)).out

    heads = [line.split(",")[0] for line in out.splitlines()[:2]]
    assert heads == [f"{'AB'[i]}: {'HEAD:' * (word != 'now')}{name}" for i, word in enumerate(pair)]
    changed = "0" if pair[1] == "HEAD:now" else "1"
    assert f"\nrankings: {changed} of 3 queries changed\n" in out


def test_log_lists_acceptances_the_newest_first_with_their_figures(ireval, git):
    first = FIRST._replace(figures={"nDCG@10": 0.5})
    second = SECOND._replace(figures={"nDCG@10": 0.75, "AP": 0.25})
    third = FIRST._replace(date="2026-11-21T00:00:00Z", reason="", commit="", branch="")
    commit_all(git)
    delete_baseline(Path("suites/baselines"), "shop")
    write_baseline(Path("suites/baselines"), baseline_of(acceptances=(first, second, third)))

    assert ireval("baseline", "log", "suites/shop.ireval.yaml").out == (
        "2026-11-21T00:00:00Z\n  (no reason given)\n\n"
        "2026-11-20T08:30:00Z, commit bbbbbbbbb on synonyms with uncommitted changes, forced\n"
        "  synonyms v2\n  AP 0.2500, nDCG@10 0.7500\n\n"
        "2026-11-02T10:00:00Z, commit aaaaaaaaa on main\n  the first one\n  nDCG@10 0.5000\n"
    )
    assert ireval("baseline", "log", "suites/shop.ireval.yaml", "--last", "1").out.endswith(
        "(no reason given)\n\n2 earlier acceptances; --last shows more\n"
    )
    assert ireval("baseline", "log", "HEAD:suites/baselines/shop.baseline").out.endswith("on main\n  the first one\n")
    assert ireval("baseline", "log", "suites/baselines/none.baseline").err == (
        "error: suites/baselines/none.baseline\n  baseline not found\n"
    )


def test_a_packed_baseline_is_shown_by_any_of_its_names(ireval):
    delete_baseline(Path("suites/baselines"), "shop")
    write_baseline(Path("suites/baselines"), baseline_of(acceptances=(FIRST, SECOND)), compress=True)

    for name in ("suites/baselines/shop.baseline.gz", "suites/baselines/shop.baseline", "suites/shop.ireval.yaml"):
        assert ireval("baseline", "show", name).out == SHOWN.replace("shop.baseline", "shop.baseline.gz")


def test_prune_finds_every_baseline_in_use(ireval):
    assert ireval("baseline", "prune") == (0, "every baseline belongs to a suite\n", "")


def test_prune_lists_and_deletes_only_when_told(ireval):
    write_baseline(Path("suites/baselines"), baseline_of(suite="old"))
    write_baseline(Path("suites/baselines"), baseline_of(suite="shop.de"))
    listed = "no suite has suites/baselines/old.baseline\nno suite has suites/baselines/shop.de.baseline\n"

    assert ireval("baseline", "prune") == (1, f"{listed}2 baselines without a suite; --yes deletes them\n", "")
    assert Path("suites/baselines/old.baseline").exists()

    assert ireval("baseline", "prune", "suites", "--yes").out == listed.replace("no suite has", "deleted")
    assert [path.name for path in Path("suites/baselines").iterdir()] == ["shop.baseline"]
    assert ireval("baseline", "show", "suites/baselines/shop.baseline").out == SHOWN


def test_prune_deletes_nothing_while_a_suite_cannot_be_read(ireval):
    write_baseline(Path("suites/baselines"), baseline_of(suite="old"))
    write_suite(Path("suites"), suite="broken", metrics="[nDCG@10")

    code, out, err = ireval("baseline", "prune", "--yes")

    assert (code, out) == (2, "")
    assert err.startswith(
        "error: suites/baselines\n  nothing is pruned: a suite file cannot be read, so its baselines are unknown\n"
        "suites/broken.ireval.yaml:"
    )
    assert Path("suites/baselines/old.baseline").exists()


def test_prune_deletes_nothing_while_a_suite_is_a_link_that_leads_nowhere(ireval):
    suite = Path("suites/shop.ireval.yaml")
    suite.unlink()
    suite.symlink_to("elsewhere.yaml")

    printed = ireval("baseline", "prune", "--yes")

    assert (printed.code, printed.out) == (2, "")
    assert printed.err.endswith("suites/shop.ireval.yaml\n  cannot be read: the link is broken\n")
    assert Path("suites/baselines/shop.baseline").exists()


def test_prune_of_what_is_no_folder(ireval):
    assert ireval("baseline", "prune", "nowhere").err == "error: nowhere\n  is not a folder\n"


def test_no_conftest_is_run_for_the_name_of_a_baseline(ireval):
    Path("suites/conftest.py").write_text("raise SystemExit('it was run')\n")

    assert ireval("baseline", "show", "suites/shop.ireval.yaml").code == 0
    assert ireval("baseline", "log", "suites/shop.ireval.yaml").code == 0
    assert ireval("baseline", "prune", "suites").code in (0, 1)
    assert ireval("baseline", "diff", "suites/shop.ireval.yaml", "suites/baselines/shop.baseline").code == 0
