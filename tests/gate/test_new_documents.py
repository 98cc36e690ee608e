"""A document that is new at the top of many queries is named; harmless changes stay quiet; a rule makes it red."""

import random

import pytest
from suite_files import outcomes_by_id, run_suite, write_judgments, write_queries, write_rankings

from pytest_ireval import SuiteError

pytestmark = pytest.mark.ci

AGAINST = "against: {run: before.txt}"
OBSERVED = f"no_regression: {{metric: RR@10, tolerance: 2%, {AGAINST}}}"
CHURN = f"churn: {{overlap: RBO(p=0.9), below: 0.1, at_most: 99%, {AGAINST}}}"


class Lists:
    """Queries of ten documents each, of which at most one is relevant; ``now`` is what a test changes."""

    def __init__(self, folder, queries=400, seed=1, judged=True):
        self.folder, self.judged, self.random = folder, judged, random.Random(seed)
        self.queries = [f"q{number:04}" for number in range(queries)]
        self.before = {query: [f"{query}-d{place}" for place in range(10)] for query in self.queries}
        self.grades = {query: dict.fromkeys(ids, 0) | {f"{query}-gone": 1} for query, ids in self.before.items()}
        for query, ids in self.before.items():
            rank = self.random.choice([1, 1, 2, 3, 4, 6, 9, 0, 0])
            if rank:
                self.grades[query][ids[rank - 1]] = 1
        self.now = {query: list(ids) for query, ids in self.before.items()}
        self.intents = {}
        self.keys = {}

    def put(self, document, queries, at=1):
        """A document at a rank; what stood there moves down."""
        for query in queries:
            self.now[query].insert(at - 1, document)

    def some(self, share):
        """Such a share of the queries, drawn at random."""
        return self.random.sample(self.queries, round(share * len(self.queries)))

    def gate(self, *rules):
        write_rankings(self.folder / "before.txt", {query: ids[:10] for query, ids in self.before.items()})
        write_rankings(self.folder / "now.txt", {query: ids[:10] for query, ids in self.now.items()})
        write_judgments(self.folder / "judgments.txt", self.grades)
        segments = [("head", "tail")[n % 2] for n in range(len(self.queries))]
        intents = [self.intents.get(query, "") for query in self.queries]
        write_queries(self.folder / "queries.tsv", self.queries, segment=segments, intent=intents)
        judgments = {"metrics": "[RR@10]"} if self.judged else {"judgments": None}
        keys = {"source": "{run: now.txt}", "depth": 10, "queries": "queries.tsv", **judgments, **self.keys}
        return outcomes_by_id(run_suite(self.folder, *rules, **keys))

    def inputs(self, *rules):
        return self.gate(*(rules or (CHURN,)))["inputs"]


@pytest.fixture
def lists(tmp_path):
    return lambda *given, **more: Lists(tmp_path, *given, **more)


def test_one_unjudged_document_on_top_of_all_rankings_is_named(lists):
    some = lists()
    some.put("promo", some.queries)
    inputs = some.inputs(OBSERVED)

    assert (inputs.verdict, inputs.warning) == ("inconclusive", True)
    assert inputs.headline == "promo is new in the top 3 for 400 of 400 queries (rank 1, unjudged)"
    assert inputs.facts[0] == "judge it, or if you expect it add the rule new_document: {expected: ['promo']}"


@pytest.mark.parametrize(("queries", "share", "judged"), [(50, 0.1, True), (400, 0.05, False), (400, 0.3, True)])
def test_it_is_named_from_a_few_percent_of_the_queries(lists, queries, share, judged):
    some = lists(queries, judged=judged)
    chosen = some.some(share)
    some.put("promo", chosen, at=2)
    inputs = some.inputs()

    unjudged = ", unjudged" if judged else ""
    assert inputs.verdict == "inconclusive"
    assert inputs.headline == (f"promo is new in the top 3 for {len(chosen)} of {queries} queries (rank 2{unjudged})")


def move_up_what_was_there(some):
    for ids in some.before.values():
        ids[9] = "popular"
    some.now = {query: ["popular", *ids[:9]] for query, ids in some.before.items()}


def promote_in_four_queries_of_a_small_suite(some):
    some.queries = some.queries[:20]
    for kept in (some.before, some.now, some.grades):
        for query in [query for query in kept if query not in some.queries]:
            del kept[query]
    some.put("promo", some.queries[:4])


def find_one_for_all_variants_of_an_intent(some):
    """Forty queries ask for one thing in other words, and have nearly the same list; the suite says so."""
    some.intents, some.keys = dict.fromkeys(some.queries[:40], "mugs"), {"cluster": "intent"}
    shared = [f"intent-d{place}" for place in range(10)]
    for query in some.queries[:40]:
        ids = list(shared)
        place = some.random.randrange(9)
        ids[place], ids[place + 1] = (ids[place + 1], ids[place]) if place else (ids[0], ids[1])
        some.before[query], some.now[query] = ids, ["better", *ids[:9]]
        some.grades[query] |= dict.fromkeys(ids, 0)


HARMLESS = {
    "other orders": lambda some: [some.random.shuffle(ids) for ids in some.now.values()],
    "a new document of its own on top of each tenth": lambda some: [some.put(f"{q}-n", [q]) for q in some.some(0.1)],
    "one document on two percent": lambda some: some.put("promo", some.some(0.02)),
    "one document below the top": lambda some: some.put("promo", some.queries, at=4),
    "many documents on four queries each": lambda some: [some.put(f"n{n}", some.some(0.01)) for n in range(100)],
    "one that was there": move_up_what_was_there,
    "one document on four queries of a small suite": promote_in_four_queries_of_a_small_suite,
    "one find for all variants of an intent": find_one_for_all_variants_of_an_intent,
}


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_a_harmless_change_stays_quiet_with_and_without_judgments(lists, change):
    some = lists()
    change(some)

    for some.judged, rule in ((True, OBSERVED), (False, CHURN)):
        inputs = some.inputs(rule)
        assert (inputs.verdict, inputs.warning) == ("pass", False), inputs


def test_queries_that_no_cluster_joins_count_one_by_one(lists):
    some = lists()
    find_one_for_all_variants_of_an_intent(some)
    some.keys = {}

    assert some.inputs(OBSERVED).headline == "better is new in the top 3 for 40 of 400 queries (rank 1, unjudged)"


def test_a_document_that_is_judged_where_it_is_new_stays_quiet_as_metrics_know_it(lists):
    some = lists()
    some.put("promo", some.queries)
    for query in some.queries[:100]:
        some.grades[query]["promo"] = 0
    partly = some.inputs(OBSERVED)
    for query in some.queries:
        some.grades[query]["promo"] = 0

    assert partly.headline == (
        "promo is new in the top 3 for 300 of 400 queries (rank 1, unjudged there, judged for 100 other queries)"
    )
    assert some.inputs(OBSERVED).verdict == "pass"


def test_an_earlier_promotion_on_all_queries_hides_no_later_one(lists):
    """All baseline rankings begin with one document; that says nothing of what queries are after."""
    some = lists()
    for query in some.queries:
        some.before[query].insert(0, "old")
        some.now[query] = ["promo", *some.before[query][1:]]

    assert some.inputs().headline.startswith("promo is new in the top 3 for 400 of 400 queries (rank 1")


def test_a_catalogue_of_few_documents_hides_none(lists):
    some = lists(120, judged=False)
    ids = [f"d{number}" for number in range(4)]
    some.before = {query: some.random.sample(ids, 4) for query in some.queries}
    some.now = {query: list(found) for query, found in some.before.items()}

    assert some.inputs().verdict == "pass"
    some.put("promo", some.queries)
    assert some.inputs().headline == "promo is new in the top 3 for 120 of 120 queries (rank 1)"


def test_several_documents_are_named_those_of_most_queries_first(lists):
    some = lists(100)
    for number in range(4):
        some.put(f"new{number}", some.queries[25 * number : 25 * number + 20 - number])

    assert some.inputs().headline == (
        "new0 is new in the top 3 for 20 of 100 queries (rank 1, unjudged); "
        "new1 is new in the top 3 for 19 of 100 queries (rank 1, unjudged); "
        "new2 is new in the top 3 for 18 of 100 queries (rank 1, unjudged); and 1 other document"
    )


def test_it_is_new_only_where_no_answer_of_the_baseline_has_it(lists):
    """A source that is asked twice, and lists the document in one of both answers."""
    some = lists(20, judged=False)
    some.put("promo", some.queries)
    (some.folder / "other.py").write_text(
        "from pathlib import Path\n\nasked = []\n\n"
        "def search(text, *, query_id):\n"
        "    asked.append(query_id)\n"
        "    ids = [f'{query_id}-d{n}' for n in range(10)]\n"
        "    return ids if asked.count(query_id) % 2 else ['promo', *ids[:9]]\n"
    )
    source = "{python: 'other:search', repeat: 2}"

    assert some.inputs(CHURN).verdict == "inconclusive"
    assert some.inputs(CHURN.replace("{run: before.txt}", source)).verdict == "pass"


def test_a_rule_makes_it_red_and_lists_the_queries(lists):
    some = lists()
    some.put("promo", some.queries[:30], at=1)
    found = some.gate(OBSERVED, f"new_document: {{{AGAINST}}}")
    outcome = found["new_document::all"]

    assert (found["inputs"].verdict, outcome.verdict) == ("pass", "fail")
    assert outcome.headline == (
        "promo is new in the top 3 for 30 of 400 queries (rank 1, unjudged); at most 5% are allowed"
    )
    assert [each.query for each in outcome.queries] == some.queries[:30]
    assert outcome.queries[0].top[0].document == "promo"
    assert outcome.facts == ("if you expect it, add expected: ['promo'] to the rule",)
    assert outcome.numbers == {"queries": 30.0, "share": 0.075}


RULES = {
    "at_most: 30": "pass",
    "at_most: 29": "fail",
    "at_most: 7.5%": "pass",
    "at: 1, at_most: 10": "pass",
    "at: 2, at_most: 10": "fail",
    "expected: promo": "pass",
    "expected: [other]": "fail",
    "where: {segment: head}, at_most: 15": "pass",
    "where: {segment: head}, at_most: 14": "fail",
    "min_queries: 400": "fail",
    "min_queries: 401": "inconclusive",
    "on_fail: warn": "pass",
}


def test_a_rule_says_how_high_how_often_and_what_is_expected(lists):
    some = lists()
    some.put("promo", some.queries[:30], at=2)

    outcomes = some.gate(
        *(f"new_document: {{{options}, name: r{number}, {AGAINST}}}" for number, options in enumerate(RULES))
    )

    verdicts = [outcome.verdict for name, outcome in outcomes.items() if "new_document" in name]
    assert dict(zip(RULES, verdicts, strict=True)) == RULES
    assert list(outcomes.values())[-1].warning


def test_a_rule_of_some_queries_leaves_the_warning_for_the_others_but_for_what_it_expects(lists):
    some = lists()
    some.put("promo", some.queries)
    rule = f"new_document: {{where: {{segment: head}}, {AGAINST}}}"

    assert some.inputs(rule).verdict == "inconclusive"
    assert some.inputs(rule.replace("where", "expected: promo, where")).verdict == "pass"


def test_expected_documents_are_known_by_their_old_ids(lists):
    some = lists()
    some.put("promo-2", some.queries)
    (some.folder / "ids.tsv").write_text("from\tto\npromo-1\tpromo-2\n")
    some.keys = {"documents": "{aliases: ids.tsv}"}

    assert some.gate(f"new_document: {{expected: promo-1, {AGAINST}}}")["new_document::all"].verdict == "pass"


def test_options_that_make_no_sense_are_refused(lists):
    with pytest.raises(SuiteError, match="at_most: 100% lets everything pass"):
        lists(6).gate(f"new_document: {{at_most: 100%, {AGAINST}}}")
    outcome = lists(6).gate(f"new_document: {{at: 20, {AGAINST}}}")["new_document::all"]
    assert outcome.verdict == "error"
    assert outcome.headline == "looks at the first 20 documents, but the suite keeps only 10 (depth)"


def test_a_waived_query_does_not_count_and_a_slice_of_waived_queries_alone_is_not_judged(lists):
    some = lists(20)
    some.put("promo", some.queries[:5])
    waivers = [f"{{query: {query}, until: 2099-01-01, reason: later}}" for query in some.queries[::2]]
    assert some.inputs().verdict == "inconclusive"
    some.keys = {"waive": f"[{waivers[0]}]"}
    assert some.inputs().verdict == "pass"

    some.keys = {"waive": f"[{', '.join(waivers)}]"}
    outcomes = some.gate(f"new_document: {{per: segment, at_most: 50%, {AGAINST}}}")
    assert [outcomes[f"new_document::segment-{each}"].verdict for each in ("head", "tail")] == ["inconclusive", "pass"]


@pytest.fixture
def promoting(shop):
    """A baseline under rules that tolerate everything, then one new document on top of all rankings."""
    shop.suite = shop.suite.partition("rules:\n")[0] + "rules:\n  - no_regression: {metric: nDCG@10, tolerance: 90%}\n"
    shop.write()
    shop.accept()
    for ids in shop.rankings.values():
        ids.insert(0, "promo")
    shop.write()
    return shop


def test_the_run_passes_with_a_prominent_warning_and_to_accept_it_takes_a_reason(promoting):
    result = promoting.run()

    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "inconclusive: shop.ireval.yaml:1: promo is new in the top 3 for 10 of 10 queries (rank 1,*",
            "ireval: inconclusive: *",
        ]
    )
    summary = (promoting.path / "ireval-report/summary.md").read_text()
    assert "promo is new in the top 3 for 10 of 10 queries (rank 1, unjudged)" in summary
    assert "May land, but is not shown to be safe" in summary
    refused = promoting.run("--ireval-update")
    assert refused.ret != 0
    refused.stdout.fnmatch_lines(["*a new document is at the top of many queries*"])
    assert promoting.run("--ireval-update", "--ireval-reason", "the autumn promotion").ret == 0
    assert promoting.run().ret == 0
    assert promoting.verdicts()["inputs"] == "pass"


def test_neither_swapping_nor_planning_stumbles_over_a_rule_without_a_metric(promoting, ireval):
    promoting.change(("rules:\n", "rules:\n  - new_document: {}\n"))

    said = ireval("self-test", "shop.ireval.yaml", "--trials", "20").out
    assert "new_document::all: these rules compare lists; swapping the sides does not test" in " ".join(said.split())
    assert "new_document" not in ireval("plan", "shop.ireval.yaml").out
    assert "2 rules" in ireval("check", "shop.ireval.yaml").out
