"""``ireval alive``: what is said of a component that is switched off, and which rule would notice."""

import json
from dataclasses import replace

import pytest
from suite_files import write_judgments, write_queries, write_rankings, write_suite

from pytest_ireval import collect_inputs, load_registry, load_suite, run_gate, score_inputs
from pytest_ireval.baseline.record import Acceptance
from pytest_ireval.baseline.writing import write_baseline
from pytest_ireval.gate.acceptance import propose_baseline
from pytest_ireval_lab.alive import asking, judging

QUERIES = [f"q{i:02}" for i in range(20)]
TAIL = QUERIES[:6]
GOOD = {query: [f"a-{query}", f"b-{query}", f"c-{query}"] for query in QUERIES}
RULE = "no_regression: {metric: nDCG@3, tolerance: 20%, decide_by: observed}"


def change(queries, *order):
    """Rankings with the documents of these queries in another order: ``b``, ``a`` and so on."""
    return {**GOOD, **{query: [f"{letter}-{query}" for letter in order] for query in queries}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A shop whose components are other files of rankings, asked in this process, as that is faster."""
    monkeypatch.chdir(tmp_path)
    write_judgments(tmp_path / "judgments.txt", {q: {f"a-{q}": 2, f"b-{q}": 0, f"c-{q}": 0} for q in QUERIES})
    write_queries(tmp_path / "queries.tsv", QUERIES, segment=["tail" if q in TAIL else "head" for q in QUERIES])
    write_rankings(tmp_path / "rankings.txt", GOOD)
    monkeypatch.setattr(judging, "ask", ask_here)
    return tmp_path


def ask_here(suite, today, without=None):
    name = without.name if without else ""
    return asking.ask_here(suite.path, suite.shown, suite.name, today, name, {})


def write_components(folder, *rules, now=GOOD, components=None, **keys):
    """Write a suite whose components each leave other rankings behind, by name."""
    write_rankings(folder / "rankings.txt", now)
    for name, rankings in components.items():
        write_rankings(folder / f"{name}.txt", rankings)
    patches = ", ".join(f"{name}: {{set: {{run: {name}.txt}}}}" for name in components)
    given = {"queries": "queries.tsv", "depth": 5, "components": f"{{{patches}}}", **keys}
    return write_suite(folder, *(rules or (RULE,)), **given)


def prove_life(folder, *rules, **keys):
    """The results by component."""
    path = write_components(folder, *rules, **keys)
    proof = judging.prove_life(load_suite(path), load_registry(path))
    return {each.name: each for each in proof.components}


def accept(path):
    """Make the rankings of a suite its baseline."""
    inputs = collect_inputs(load_suite(path))
    baseline = propose_baseline(inputs, score_inputs(inputs)).baseline
    write_baseline(inputs.suite.baselines, replace(baseline, acceptances=(Acceptance("2026-11-19T20:00:00Z"),)))


def test_a_component_is_dead_if_no_ranking_changes_without_it(folder):
    same = prove_life(folder, components={"same": GOOD})["same"]

    assert (same.verdict, same.changed, same.guards, same.rule) == ("dead", 0, (), "")


def test_a_query_that_has_a_ranking_only_with_the_component_is_changed(folder):
    rankings = {query: GOOD[query] for query in QUERIES[2:]}
    gone = prove_life(folder, "threshold: {nDCG@3: '>= 0.1'}", components={"gone": rankings}, missing_queries="ignore")

    assert (gone["gone"].verdict, gone["gone"].changed) == ("neutral", 2)


def test_a_component_is_guarded_by_the_rules_that_are_red_without_it(folder):
    rules = (RULE, "threshold: {metric: RR@3, min: 0.9, per: segment}", "threshold: {metric: RR@3, min: 0.1}")
    lost = prove_life(folder, *rules, components={"lost": change(TAIL, "b", "c")})["lost"]

    assert (lost.verdict, lost.changed) == ("guarded", 6)
    assert [(guard.rule, guard.slice) for guard in lost.guards] == [
        ("no_regression::nDCG_3.all", "all"),
        ("threshold::RR_3.segment-tail", "segment=tail"),
    ]
    assert lost.guards[0].headline == "nDCG@3 fell 30.0% (tolerance 20%)"


def test_a_loss_that_no_rule_notices_is_named_with_a_rule_that_does_when_it_is_pasted(folder):
    rankings = {"lost": change(TAIL[:3], "b", "c")}
    lost = prove_life(folder, components=rankings)["lost"]

    assert lost.verdict == "unguarded"
    assert (lost.largest.metric, lost.largest.slice, lost.largest.queries) == ("nDCG@3", "segment=tail", 6)
    assert (lost.largest.with_it, lost.largest.without_it) == (1, 0.5)
    assert lost.rule == "- no_regression: {metric: nDCG@3, where: {segment: tail}, tolerance: 5%, name: lost}"
    pasted = prove_life(folder, RULE, lost.rule.removeprefix("- "), components=rankings)["lost"]
    assert (pasted.verdict, [guard.rule for guard in pasted.guards]) == (
        "guarded",
        ["no_regression::nDCG_3.segment-tail.lost"],
    )


def test_a_rule_about_all_queries_is_proposed_where_they_lose_at_least_half_as_much_as_a_slice(folder):
    components = {"wide": change(QUERIES[:10], "b", "c"), "narrow": change(QUERIES[:9], "b", "c")}
    found = prove_life(folder, "threshold: {nDCG@3: '>= 0.1'}", components=components, metrics="[nDCG@3]")

    assert {name: (each.largest.slice, each.rule) for name, each in found.items()} == {
        "wide": ("segment=tail", "- no_regression: {metric: nDCG@3, tolerance: 5%, name: wide}"),
        "narrow": (
            "segment=tail",
            "- no_regression: {metric: nDCG@3, where: {segment: tail}, tolerance: 5%, name: narrow}",
        ),
    }


def test_a_loss_among_documents_without_judgments_is_said_to_be_one(ireval, folder):
    """The documents that come to the top have no grade, and the judged ones keep their order."""
    without = {**GOOD, **{query: ["new", *GOOD[query]] for query in TAIL[:3]}}

    assert (
        "no rule would be red. The loss is among documents without judgments; with judged documents alone there is "
        "none. This rule would be red:"
    ) in " ".join(ireval("alive", write_components(folder, components={"lost": without})).out.split())


def test_no_rule_is_proposed_that_is_red_today(folder):
    """The accepted rankings were better than those of today, by as much as the component brings."""
    now, without = change(TAIL[:3], "b", "a"), {"lost": change(TAIL[:3], "b", "c", "a")}
    rule = "threshold: {nDCG@3: '>= 0.1'}"
    accept(write_components(folder, rule, components=without, metrics="[nDCG@3]"))
    lost = prove_life(folder, rule, now=now, components=without, metrics="[nDCG@3]")["lost"]

    assert (lost.verdict, lost.rule) == ("unguarded", "")


def test_a_component_is_harmful_if_something_is_better_without_it_and_nothing_worse(folder):
    now = change(TAIL, "b", "a")
    every_list = "churn: {overlap: RBO(p=0.9), below: 1, at_most: 0}"
    found = prove_life(folder, RULE, every_list, now=now, components={"bad": GOOD, "mixed": change(QUERIES[6:9], "b")})

    assert (found["bad"].verdict, found["bad"].largest.slice) == ("harmful", "segment=tail")
    assert [guard.rule.partition("::")[0] for guard in found["bad"].guards] == ["churn"]
    assert found["mixed"].verdict == "guarded"


def test_rankings_that_are_neither_better_nor_worse_are_neutral(folder):
    found = prove_life(folder, components={"below": change(QUERIES, "a", "c", "b")})

    assert (found["below"].verdict, found["below"].changed) == ("neutral", 20)


def test_without_judgments_rules_about_lists_guard(folder):
    churn = "churn: {overlap: RBO(p=0.9), below: 0.9, at_most: 10%}"
    found = prove_life(
        folder, churn, judgments=None, components={"many": change(QUERIES, "c", "b"), "few": change(TAIL[:1], "b")}
    )

    assert {name: each.verdict for name, each in found.items()} == {"many": "guarded", "few": "neutral"}


def test_a_rule_that_is_red_with_everything_on_guards_nothing(folder):
    path = write_components(
        folder, "threshold: {nDCG@3: '>= 0.99'}", now=change(TAIL, "b"), components={"lost": change(QUERIES, "b")}
    )
    proof = judging.prove_life(load_suite(path), load_registry(path))

    assert proof.red == ("threshold::nDCG_3",)
    assert proof.components[0].verdict == "unguarded"


def test_differences_as_large_as_between_two_equal_askings_are_no_sign_of_life(folder, monkeypatch):
    """Asked again with everything on, three queries have another ranking."""
    again = change(QUERIES[6:9], "b", "a")

    def ask_noisily(suite, today, without=None):
        if without is None:
            write_rankings(folder / "rankings.txt", again)
        return ask_here(suite, today, without)

    monkeypatch.setattr(judging, "ask", ask_noisily)
    components = {"noise": change(TAIL[:3], "b", "a"), "real": change(QUERIES, "c", "b")}
    found = prove_life(folder, components=components)

    assert (found["noise"].verdict, found["noise"].changed) == ("dead", 3)
    assert found["real"].verdict == "guarded"


def test_means_show_life_where_every_list_is_another_one_each_time(folder, monkeypatch):
    again = change(QUERIES, "a", "c", "b")

    def ask_noisily(suite, today, without=None):
        if without is None:
            write_rankings(folder / "rankings.txt", again)
        return ask_here(suite, today, without)

    monkeypatch.setattr(judging, "ask", ask_noisily)
    found = prove_life(folder, components={"noise": again, "real": change(QUERIES, "b", "a")})

    assert {name: each.verdict for name, each in found.items()} == {"noise": "dead", "real": "guarded"}


def test_a_source_that_cannot_be_asked_is_an_error_of_its_component_alone(ireval, folder):
    path = write_components(folder, components={"gone": GOOD, "same": GOOD})
    (folder / "gone.txt").unlink()
    printed = ireval("alive", path)

    assert printed.code == 1
    assert (
        "error: gone (shop.ireval.yaml:7)\n"
        "  shop.ireval.yaml:7:27: source > run\n"
        "  there is no file 'gone.txt'\n" in printed.out
    )
    assert "dead: same" in printed.out


def test_a_dead_component_asks_whether_the_name_of_its_variable_is_right(ireval, folder):
    """The programs that read variables do not complain of others."""
    keys = {"queries": "queries.tsv", "source": '{python: "old_search:search"}'}
    (folder / "old_search.py").write_text("def search(text):\n    return [f'a-{text}']\n")
    write_queries(folder / "queries.tsv", QUERIES, text=QUERIES, segment=["all"] * 20)
    path = write_suite(folder, RULE, **keys, components='{synonyms: {env: {SYNONIMS: "0"}}}')

    assert (
        "dead: synonyms (shop.ireval.yaml:6)\n"
        "  All 20 queries have the same ranking without it. Does the search read the variable SYNONIMS under\n"
        "  this name?\n"
    ) in ireval("alive", path).out


@pytest.mark.parametrize(("fail_on", "code"), [("", 0), ("unguarded", 0), ("dead", 1), ("dead, harmful", 1)])
def test_the_exit_code_is_1_for_the_verdicts_that_are_asked_for(ireval, folder, fail_on, code):
    path = write_components(folder, components={"same": GOOD})

    assert ireval("alive", path, "--fail-on", fail_on).code == code


def test_an_unknown_verdict_is_a_mistake_of_the_command_line(ireval, folder):
    printed = ireval("alive", write_components(folder, components={"same": GOOD}), "--fail-on", "deed")

    assert printed.code == 2
    assert "'deed' is none of unguarded, harmful, neutral, dead" in printed.err


def test_patches_that_change_nothing_are_mistakes_before_anything_is_asked(ireval, folder, monkeypatch):
    monkeypatch.setenv("RERANK", "0")
    keys = {"queries": "queries.tsv", "source": "{python: 'no_module:search'}"}
    patches = "{same: {set: {python: 'no_module:search'}}, already: {env: {RERANK: '0'}}, fine: {env: {RERANK: '1'}}}"
    path = write_suite(folder, RULE, **keys, components=patches)
    expected = (
        "shop.ireval.yaml:6:14: components > same\n"
        "  its patch changes nothing: the source has these values already\n"
        "shop.ireval.yaml:6:57: components > already\n"
        "  its patch changes nothing: the environment has this value of RERANK already"
    )

    alive, checked = ireval("alive", path), ireval("check", path)

    assert (alive.code, alive.err) == (2, f"error: {expected}\n")
    assert (checked.code, checked.out) == (1, f"{expected}\n2 mistakes\n")


def test_a_variable_changes_a_file_only_where_the_suite_names_it(ireval, folder):
    write_rankings(folder / "other.txt", change(TAIL, "b"))
    keys = {"queries": "queries.tsv", "components": "{named: {env: {FILE: other}}}"}
    unseen = ireval("check", write_suite(folder, RULE, **keys))
    seen = ireval("check", write_suite(folder, RULE, **keys, source='{run: "${FILE:-rankings}.txt"}'))

    assert (
        "  its patch changes nothing: the source run does not see variables\n  write ${FILE} in the source"
        in unseen.out
    )
    assert (seen.code, seen.out) == (0, "shop.ireval.yaml: shop: 1 metric, 1 rule\n")


def test_components_change_no_verdict_of_the_gate(folder):
    with_them = run_gate(load_suite(write_components(folder, "threshold: {nDCG@3: '>= 0.9'}", components={"x": GOOD})))
    without = run_gate(load_suite(write_suite(folder, "threshold: {nDCG@3: '>= 0.9'}", queries="queries.tsv", depth=5)))

    assert (with_them.verdict, [each.id for each in with_them.outcomes]) == (
        without.verdict,
        [each.id for each in without.outcomes],
    )


SEARCH = """\
import os
from functools import lru_cache

RERANKS = os.environ.get("RERANK", "1") == "1"

@lru_cache
def search(text):
    best = ["a-" + text, "b-" + text, "c-" + text]
    return best if RERANKS else best[::-1]
"""


def test_code_is_imported_again_with_the_variables_of_a_component(ireval, folder, monkeypatch):
    """A process of its own: the module and its cache from the first asking would make every component look dead."""
    monkeypatch.setattr(judging, "ask", asking.ask)
    (folder / "fresh_search.py").write_text(SEARCH)
    write_queries(folder / "queries.tsv", QUERIES, text=QUERIES, segment=["all"] * 20)
    keys = {"queries": "queries.tsv", "source": "{python: 'fresh_search:search'}"}
    path = write_suite(folder, RULE, **keys, components="{reranker: {env: {RERANK: '0'}}}")

    (suite,) = json.loads(ireval("alive", path, "--format", "json").out)["suites"]

    assert [(each["name"], each["verdict"], each["changed"]) for each in suite["components"]] == [
        ("reranker", "guarded", 20)
    ]
    assert suite["components"][0]["sentence"] == (
        "Guarded by no_regression::nDCG_3.all on all: nDCG@3 fell 50.0% (tolerance 20%)."
    )


def test_the_result_is_a_section_of_the_report_of_the_last_run(ireval, folder, pytester):
    path = write_components(folder, RULE, "threshold: {nDCG@3: '>= 0.9'}", components={"<same>": GOOD})
    pytester.runpytest("--ireval", path, "-p", "no:cacheprovider", "--ireval-report", folder / "report")
    page, results = folder / "report" / "index.html", folder / "report" / "results.json"
    before = json.loads(results.read_text())

    printed = ireval("alive", path, "--report", folder / "report", "--format", "json")
    after = json.loads(results.read_text())

    assert (before.pop("sections"), "section=alive" in page.read_text()) == ([], True)
    (section,) = after.pop("sections")
    assert after == before
    assert section["data"] == {"suites": json.loads(printed.out.splitlines()[-1])["suites"]}
    assert "&lt;same&gt;" in page.read_text()
    assert ireval("alive", path, "--report", folder / "report").code == 0
    assert len(json.loads(results.read_text())["sections"]) == 1


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_the_rule_can_be_pasted_under_the_rules_as_it_stands(ireval, folder, form):
    path = write_components(folder, components={"lost": change(TAIL[:3], "b", "c")})
    (rule,) = (line for line in ireval("alive", path, "--format", form).out.splitlines() if "- no_reg" in line)
    text = path.read_text()
    path.write_text(text.replace("rules:\n", f"rules:\n{rule}\n"))

    assert "rules:\n  - " in text
    assert rule.startswith("  - no_regression: {metric: nDCG@3, where: {segment: tail}")
    pasted = ireval("alive", path, "--format", "markdown")
    assert "| lost | guarded | 3 of 20 | 1.0000 | 0.8500 |" in pasted.out
