"""Planted bugs are named first, from a few percent of the queries on; harmless changes have no plain cause."""

import random

import pytest
from suite_files import run_suite, write_judgments, write_queries, write_rankings

QUERIES, DEPTH = 224, 20


class Search:
    """Rankings on both sides; a test breaks ``now`` for the queries in ``broken``, a share of all."""

    def __init__(self, folder, share=1.0, seed=1, name="d{}"):
        self.folder, self.random = folder, random.Random(seed)
        self.queries = [f"q{number:03}" for number in range(QUERIES)]
        self.columns = {
            q: (("head", "tail")[i % 2], ("de", "fr", "it", "pl")[i % 4]) for i, q in enumerate(self.queries)
        }
        self.grades, self.before = {}, {}
        for number, query in enumerate(self.queries):
            documents = [name.format(number * 40 + n) for n in range(40)]
            self.grades[query] = {each: max(0, 3 - n // 3) for n, each in enumerate(documents[:20])}
            noisy = sorted(range(40), key=lambda n: n + self.random.gauss(0, 4))
            self.before[query] = [documents[n] for n in noisy]
        self.now = {query: list(ids) for query, ids in self.before.items()}
        self.broken = self.random.sample(self.queries, max(1, round(share * QUERIES)))
        self.titles = {}

    def jitter(self, amount=1.0):
        """A change as any change of ranking is: neighbours change places."""
        for query, ids in self.now.items():
            order = sorted(range(len(ids)), key=lambda n: n + self.random.gauss(0, amount))
            self.now[query] = [ids[n] for n in order]

    def diagnoses(self):
        """What the gate says of these rankings; lists that have scores are written whole."""
        write_rankings(self.folder / "before.txt", {query: ids[:DEPTH] for query, ids in self.before.items()})
        now = {query: ids if isinstance(ids, dict) else ids[:DEPTH] for query, ids in self.now.items()}
        write_rankings(self.folder / "now.txt", now)
        write_judgments(self.folder / "judgments.txt", self.grades)
        segment, locale = zip(*self.columns.values(), strict=True)
        write_queries(self.folder / "queries.tsv", self.queries, segment=segment, locale=locale)
        keys = {"source": "{run: now.txt}", "depth": DEPTH, "missing_queries": "zero", "queries": "queries.tsv"}
        if self.titles:
            rows = (f'{document},"{title}"\n' for document, title in self.titles.items())
            (self.folder / "titles.csv").write_text("id,title\n" + "".join(rows))
            keys["documents"] = "{fields: titles.csv}"
        rule = "no_regression: {metric: nDCG@10, tolerance: 0.01%, against: {run: before.txt}}"
        return run_suite(self.folder, rule, metrics="[nDCG@10]", **keys).diagnoses


def nothing(search):
    for query in search.broken[: QUERIES - 1]:  # a file without any ranking is an error
        search.now[query] = []


def few(search):
    for query in search.broken:
        search.now[query] = search.random.sample(search.now[query], 4)


def other_ids(search):
    for query in search.broken:
        search.now[query] = [each.replace("d", "doc-") for each in search.now[query]]


def prefixed_ids(search):
    for query in search.broken:
        search.now[query] = [f"https://example.org/p/{each}" for each in search.now[query]]


def ascending_scores(search):
    """The whole ranking is written with its ranks, and the scores are ascending."""
    for query in search.broken:
        search.now[query] = {document: rank for rank, document in enumerate(search.now[query], 1)}


def opposite(search):
    for query in search.broken:
        search.now[query] = search.now[query][:DEPTH][::-1]


def pages(search):
    for query in search.broken:
        ids = search.now[query]
        search.now[query] = ids[10:20] + ids[:10]


def no_first_page(search):
    for query in search.broken:
        search.now[query] = search.now[query][10:]


def promotion(search):
    for query in search.broken:
        search.now[query].insert(0, "promo")


def another_query(search):
    """Answers are one query late."""
    for query in search.broken:
        search.now[query] = list(search.before[search.queries[search.queries.index(query) - 1]])


def variants(search):
    for query in search.broken:
        first = search.now[query][0]
        search.now[query][1:1] = [f"{first}-{colour}" for colour in ("red", "blue", "green", "black", "white")]


def sizes(search):
    """The same product in five sizes, which only their titles tell."""
    search.titles = {each: f"Article {_letters(each)}" for ids in search.before.values() for each in ids}
    for query in search.broken:
        new = [f"n{search.random.randrange(10**9)}" for _ in range(5)]
        search.titles |= {each: f"Tea of {_letters(query)}, {50 * n} g" for n, each in enumerate(new, 1)}
        search.now[query][1:1] = new


def _letters(name):
    return "".join("abcdefghij"[int(digit)] for digit in name if digit.isdigit())


def shard(search):
    """A quarter of the documents of some queries lies on a shard that does not answer."""
    for side in (search.before, search.now):
        for query, ids in side.items():
            side[query] = [f"b:{d}" if query in search.broken and int(d[1:]) % 2 else f"a:{d}" for d in ids]
    search.grades = {
        query: {f"b:{d}" if query in search.broken and int(d[1:]) % 2 else f"a:{d}": g for d, g in found.items()}
        for query, found in search.grades.items()
    }
    search.now = {query: [each for each in ids if each[:2] == "a:"] for query, ids in search.now.items()}


BUGS = {
    "no_answers": nothing,
    "fewer_answers": few,
    "other_ids": other_ids,
    "other_ids of a prefix": prefixed_ids,
    "ascending_scores": ascending_scores,
    "reversed_order": opposite,
    "exchanged_ranks": pages,
    "exchanged_ranks without the first page": no_first_page,
    "one_document": promotion,
    "answers_of_others": another_query,
    "crowded_top": variants,
    "crowded_top by titles": sizes,
    "missing_part": shard,
}


@pytest.mark.parametrize("share", [0.04, pytest.param(1.0, marks=pytest.mark.ci)])
@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_named_first_among_other_changes(tmp_path, name, share):
    search = Search(tmp_path, share)
    if share == 1:
        search.jitter(0.5)
    BUGS[name](search)

    first, *_ = search.diagnoses() or pytest.fail("nothing was named")
    assert first.kind == name.split()[0]
    assert first.explained > 0.9
    assert set(first.queries) <= set(search.broken)


@pytest.mark.parametrize("name", ["no_answers", "other_ids", "answers_of_others", "crowded_top by titles"])
def test_of_many_queries_some_are_looked_at(tmp_path, monkeypatch, name):
    monkeypatch.setattr("pytest_ireval.causes.ranking_change.MOST_QUERIES", 100)
    search = Search(tmp_path, 0.3)
    BUGS[name](search)

    first, *_ = search.diagnoses() or pytest.fail("nothing was named")
    assert first.kind == name.split()[0]
    assert 15 < first.affected < 45
    assert first.headline.startswith(f"{first.affected} of 100 queries (drawn from 224) ")
    assert first.explained > 0.9, "of the loss of the queries that were drawn"


def test_the_slice_that_holds_the_loss_is_named(tmp_path):
    search = Search(tmp_path)
    search.jitter(0.3)
    for query, (_, locale) in search.columns.items():
        if locale == "pl":
            search.random.shuffle(search.now[query])

    (only,) = search.diagnoses()
    assert only.kind == "one_slice"
    assert only.headline == "56 of 224 queries with locale=pl"
    assert only.explained > 0.8


def test_one_in_fifty_is_the_least_that_is_named(tmp_path):
    for queries, kinds in ((4, []), (5, ["no_answers"])):
        search = Search(tmp_path)
        search.broken = search.queries[:queries]
        nothing(search)

        assert [each.kind for each in search.diagnoses()] == kinds


def weaker(search):
    search.jitter(3)


def new_documents(search):
    for query in search.broken:
        for n in range(3):
            search.now[query].insert(search.random.randrange(8), f"d{100_000 + int(query[1:]) * 3 + n}")


def from_below(search):
    for query in search.broken:
        ids = search.now[query]
        for _ in range(3):
            ids.insert(0, ids.pop(search.random.randrange(5, 30)))


@pytest.mark.parametrize("share", [0.05, *(pytest.param(share, marks=pytest.mark.ci) for share in (0.3, 1.0))])
@pytest.mark.parametrize("change", [weaker, new_documents, from_below])
def test_a_harmless_change_has_no_plain_cause(tmp_path, change, share):
    search = Search(tmp_path, share)
    change(search)

    assert search.diagnoses() == ()


@pytest.fixture
def red_shop(shop):
    """Two of ten queries list their documents under other ids."""
    shop.accept()
    for query in ("q02", "q09"):
        shop.rankings[query] = [each.replace("-d", "/doc-") for each in shop.rankings[query]]
    shop.write()
    return shop


CAUSE = (
    "2 of 10 queries list 8 documents under other ids: the numbers in the id stayed ('q02-d0' is 'q02/doc-0', "
    "'q02-d1' is 'q02/doc-1'); the results themselves may be the same; all of the loss of nDCG@10 comes from these "
    "queries"
)
ADVICE = (
    "restore the former ids; if the new ones are intended, write a file with the columns from and to, a line for each "
    "document ('q02-d0', 'q02/doc-0'), and name it in the suite: documents: {aliases: FILE}."
)


def test_it_is_named_above_the_figures_and_nothing_is_to_be_judged(red_shop, ireval):
    text = red_shop.run().stdout.str()
    command = 'pytest --ireval shop.ireval.yaml --ireval-update --ireval-reason "..."'

    (failure,) = (part for part in text.split("\n____") if "checks failed" in part)
    assert f"likely cause: {CAUSE} {ADVICE} queries: q02, q09 " in " ".join(failure.split())
    assert " ".join(text.split()).count(ADVICE) == 1
    assert failure.index("likely cause") < failure.index("tolerance")
    assert "  accept:   if this is intended, -v shows the command\n" in failure
    assert command not in text
    assert "likely cause: shop: 2 of 10 queries" in text[text.index("= ireval =") :]
    summary = (red_shop.path / "ireval-report/summary.md").read_text()
    assert summary.index("**Likely cause**: 2 of 10 queries list") < summary.index("###")
    assert f"\nlikely cause: {CAUSE}\n" in ireval("verdict").out
    (suite,) = red_shop.results()["suites"]
    assert suite["to_judge"] == []
    assert not (red_shop.path / "ireval-report/to_judge.tsv").exists()
    assert not any("judge them first" in fact for outcome in suite["outcomes"] for fact in outcome["facts"])
    assert f"  accept:   {command}" in red_shop.run("-v").outlines


def test_queries_without_answers_are_named_in_a_green_run_too(shop):
    shop.change(("depth: 10", "depth: 10\nmissing_queries: zero"), ('">= 0.5"', '">= 0.1"'))
    text = shop.suite
    shop.suite = text[: text.index("  - no_regression")]
    shop.write()
    shop.accept()
    for query in ("q02", "q09"):
        shop.rankings[query] = []
    shop.write()

    result = shop.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["look at this: shop: 2 of 10 queries return nothing now*"])


@pytest.mark.parametrize(("moved", "kinds"), [((), ["same_answers"]), (("q01", "q02", "q03", "q04"), [])])
def test_every_ranking_is_compared_before_all_are_called_the_same(shop, monkeypatch, moved, kinds):
    monkeypatch.setattr("pytest_ireval.causes.ranking_change.MOST_QUERIES", 2)  # q07 and q09
    shop.accept()
    for query in moved:
        shop.rankings[query] = shop.rankings[query][:1] + shop.rankings[query][2:]
    shop.change(("run: rankings.txt", "run: new.txt"))
    (shop.path / "rankings.txt").rename(shop.path / "new.txt")
    shop.gate()

    (suite,) = shop.results()["suites"]
    assert [each["kind"] for each in suite["diagnoses"]] == kinds
    assert all("all 10 rankings equal" in each["headline"] for each in suite["diagnoses"])


def test_documents_that_queries_beside_the_drawn_ones_find_are_not_gone(tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_ireval.causes.ranking_change.MOST_QUERIES", 110)
    search = Search(tmp_path)
    for one, other in zip(search.queries, [*search.queries[1:], search.queries[0]], strict=True):
        lost = search.before[one][1:4:2]
        search.now[one] = [each for each in search.now[one] if each not in lost]
        search.now[other] = [*search.now[other][:15], *lost]

    assert "gone_documents" not in [each.kind for each in search.diagnoses()]


PLUGIN = """\
from pytest_ireval import Symptom, diagnosis, hookimpl

@diagnosis(name="doc_ids")
def doc_ids(change):
    {body}

@hookimpl
def ireval_diagnoses():
    return [doc_ids]
"""


def test_a_team_adds_its_own(red_shop):
    body = "return Symptom('the crawler of May is back', change.sort_by_loss(change.moved_queries), 'restart it.')"
    (red_shop.path / "conftest.py").write_text(PLUGIN.format(body=body))
    red_shop.rankings["q02"], red_shop.rankings["q09"] = ([f"{q}-x{n}" for n in range(50, 54)] for q in ("q02", "q09"))
    red_shop.write()

    first, *_ = red_shop.gate().diagnoses
    assert (first.headline, first.metric, first.explained) == ("the crawler of May is back", "nDCG@10", 1.0)


def test_one_that_is_broken_is_a_note_and_moves_no_verdict(red_shop):
    (red_shop.path / "conftest.py").write_text(PLUGIN.format(body="return 1 / 0"))

    result = red_shop.gate()
    assert result.verdict == "fail"
    assert [note for note in result.notes if note.startswith("diagnosis 'doc_ids' of ")]
    assert result.diagnoses[0].kind == "other_ids"


def test_an_error_of_ours_in_a_plugin_is_told_without_the_name_of_its_class(red_shop):
    body = "from pytest_ireval.errors import BaselineMisfitError; raise BaselineMisfitError('no value on both sides')"
    (red_shop.path / "conftest.py").write_text(PLUGIN.format(body=body))

    printed = " ".join(red_shop.run().stdout.str().split())

    assert "raised an error: no value on both sides" in printed
    assert "MisfitError" not in printed


def test_one_that_is_no_diagnosis_is_an_error_that_names_the_plugin(red_shop):
    (red_shop.path / "conftest.py").write_text(PLUGIN.format(body="pass").replace('@diagnosis(name="doc_ids")\n', ""))

    result = red_shop.run()
    assert result.ret == 2
    assert "from ireval_diagnoses, which is not a diagnosis: decorate the function with @diagnosis" in " ".join(
        result.stdout.str().split()
    )


def test_ids_of_a_cause_cannot_write_to_the_terminal(red_shop):
    for query in ("q02", "q09"):
        red_shop.rankings[query] = [f"{each}\x1b[31m" for each in red_shop.rankings[query]]
    red_shop.write()

    assert "\x1b[31m" not in red_shop.run("--color=no").stdout.str()


def run_before(red_shop):
    """The run before the change of a test, whose files are the same for all."""
    red_shop.once("documents under other ids", red_shop.run)


def repeats(shop):
    (suite,) = shop.results()["suites"]
    return [each for each in suite["diagnoses"] if each["kind"] == "same_answers"]


def test_answers_of_the_run_before_are_named_where_the_source_is_another(red_shop):
    run_before(red_shop)
    assert red_shop.results()["verdict"] == "fail"
    assert not repeats(red_shop)
    date = red_shop.results()["date"]
    (red_shop.path / "new.txt").write_bytes((red_shop.path / "rankings.txt").read_bytes())
    red_shop.change(("run: rankings.txt", "run: new.txt"))
    text = red_shop.run().stdout.str()

    (cause,) = repeats(red_shop)
    assert cause["headline"].startswith(f"the source changed since the run of {date}")
    assert cause["headline"].endswith("but every ranking is the same as in that run")
    assert "the source changed since the run" in " ".join(text.split())
    assert cause["explained"] is None, "it is not said to be the loss: the other causes stay"


def one_more_change(red_shop):
    red_shop.rankings["q05"] = red_shop.rankings["q05"][::-1]
    red_shop.write()


def nothing_else(red_shop):
    red_shop.run("--ireval-update", "--ireval-reason", "meant")


@pytest.mark.parametrize("change", [one_more_change, nothing_else])
def test_other_answers_and_a_run_that_passes_repeat_nothing(red_shop, change, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    run_before(red_shop)
    change(red_shop)
    (red_shop.path / "new.txt").write_bytes((red_shop.path / "rankings.txt").read_bytes())
    red_shop.change(("run: rankings.txt", "run: new.txt"))
    red_shop.run()

    assert not [each for each in repeats(red_shop) if "since the run" in each["headline"]]


def test_damaged_rankings_of_the_run_before_are_passed_over(red_shop):
    run_before(red_shop)
    (red_shop.path / "ireval-report/rankings.zip").write_bytes(b"PK nothing")
    (red_shop.path / "new.txt").write_bytes((red_shop.path / "rankings.txt").read_bytes())
    red_shop.change(("run: rankings.txt", "run: new.txt"))

    assert red_shop.run().ret == 1
    assert not repeats(red_shop)
