"""Documents under other ids are the first cause that is named, with the rule and with how to write aliases."""

import json
import random
import re

import pytest
from suite_files import run_suite, write_judgments, write_rankings

QUERIES, DEPTH, PRODUCTS = 40, 10, 300


class Catalogue:
    """Queries that list products of one catalogue; a share of the products has other ids now."""

    def __init__(self, folder, ids, seed=1):
        self.folder, self.random = folder, random.Random(seed)
        self.products = [ids(number) for number in range(PRODUCTS)]
        self.queries = {f"q{number:02}": self.random.sample(self.products, 2 * DEPTH) for number in range(QUERIES)}
        self.now = {query: list(ids) for query, ids in self.queries.items()}

    def rename(self, rename, share=1 / 3):
        """Give a share of the products another id, the same one in all queries."""
        chosen = self.random.sample(self.products, round(share * PRODUCTS))
        self.new = {old: rename(old) for old in chosen if rename(old) != old}
        self.now = {query: [self.new.get(each, each) for each in ids] for query, ids in self.now.items()}

    def rerank(self, noise):
        """Mix all rankings, as another ranking function does."""
        for query, ids in self.now.items():
            order = sorted(range(len(ids)), key=lambda place: place + self.random.gauss(0, noise))
            self.now[query] = [ids[place] for place in order]

    def causes(self):
        write_rankings(self.folder / "before.txt", {query: ids[:DEPTH] for query, ids in self.queries.items()})
        write_rankings(self.folder / "now.txt", {query: ids[:DEPTH] for query, ids in self.now.items()})
        grades = {q: {d: max(0, 3 - place // 3) for place, d in enumerate(ids)} for q, ids in self.queries.items()}
        write_judgments(self.folder / "judgments.txt", grades)
        rule = "no_regression: {metric: nDCG@10, tolerance: 1%, against: {run: before.txt}}"
        result = run_suite(self.folder, rule, source="{run: now.txt}", depth=DEPTH)
        assert result.verdict != "pass"
        return result.diagnoses


def with_hexadecimal(number):
    return f"ab-{number * 7919:05x}f"


def with_words(number):
    return f"{('mug', 'lamp', 'rug')[number % 3]}-oak-{chr(97 + number // 26)}{chr(97 + number % 26)}"


RENAMINGS = {
    "a prefix of words": (with_words, "acme-{}".format, "a first part was added"),
    "another prefix": ("de-{}".format, lambda each: "fr" + each[2:], "only the first part changed"),
    "capitals": (with_hexadecimal, str.upper, "letters have another case"),
    "another separator": (
        "cat-{}-red".format,
        lambda each: each.replace("-", "_"),
        "separators or the case of letters changed",
    ),
    "leading zeros": (
        "sku-{}".format,
        lambda each: f"sku-{int(each[4:]):08}",
        "numbers have more or fewer leading zeros",
    ),
    "percent signs": ("a/{}".format, lambda each: each.replace("/", "%2F"), "percent-encoding changed"),
    "a part within": ("a{0}-d{0}".format, lambda each: each.replace("-d", "/doc-"), "the numbers in the id stayed"),
}


@pytest.mark.parametrize("name", RENAMINGS)
def test_renamed_documents_are_the_first_cause_with_the_rule_in_words(tmp_path, name):
    ids, rename, words = RENAMINGS[name]
    catalogue = Catalogue(tmp_path, ids)
    catalogue.rename(rename, 1.0 if name == "another prefix" else 1 / 3)

    first, *_ = catalogue.causes() or pytest.fail("no cause was named")
    assert first.kind == "other_ids"
    assert f" documents under other ids: {words} ('" in first.headline
    assert first.explained > 0.9
    pairs = re.findall(r"'([^']+)' is '([^']+)'", first.headline)
    assert pairs
    assert all(catalogue.new[old] == new for old, new in pairs)


def test_they_are_the_first_cause_beside_another_change_of_the_ranking(tmp_path):
    ids, rename, words = RENAMINGS["leading zeros"]
    catalogue = Catalogue(tmp_path, ids)
    catalogue.rename(rename)
    catalogue.rerank(3)

    first, *_ = catalogue.causes() or pytest.fail("no cause was named")
    assert first.kind == "other_ids"
    assert words in first.headline


def with_one_more_digit(each):
    return f"{each}0"


def next_number(each):
    return f"sku-{int(each[4:]) + 1}"


class InTurn:
    """New products with numbers of their own, from 0 on."""

    def __init__(self):
        self.ids = {}

    def __call__(self, each):
        return self.ids.setdefault(each, f"new-{len(self.ids)}")


EXCHANGES = {
    "the same numbers, of other products": ("p{}".format, InTurn()),
    "d10 in place of d1": (lambda number: f"d{number + PRODUCTS}", with_one_more_digit),
    "sku-2 in place of sku-1": (lambda number: f"sku-{2 * number}", next_number),
    "other words": (with_words, lambda each: with_words(sum(map(ord, each)) * 31 % 676) + "-2nd" + each[:1] + each[-1]),
}


@pytest.mark.parametrize("name", EXCHANGES)
def test_new_products_are_not_called_renamed(tmp_path, name):
    ids, exchange = EXCHANGES[name]
    catalogue = Catalogue(tmp_path, ids)
    catalogue.rename(exchange, 1.0)

    assert "other_ids" not in [cause.kind for cause in catalogue.causes()]


def test_variants_in_place_of_a_product_are_not_its_new_ids(tmp_path):
    catalogue = Catalogue(tmp_path, "mug{}".format)
    for query, ids in catalogue.now.items():
        catalogue.now[query] = [f"{each}-{colour}" for each in ids for colour in ("red", "blue")]

    assert "other_ids" not in [cause.kind for cause in catalogue.causes()]


def test_ids_that_changed_in_one_query_alone_are_no_cause(tmp_path):
    catalogue = Catalogue(tmp_path, "p{:05}".format)
    catalogue.rerank(5)
    catalogue.now["q00"] = [each.upper() for each in catalogue.now["q00"]]

    assert "other_ids" not in [cause.kind for cause in catalogue.causes()]


def test_the_table_of_aliases_that_the_advice_asks_for_makes_the_run_green(shop):
    shop.accept()
    new = {each: f"shop:{each}" for number, ids in enumerate(shop.rankings.values()) for each in ids[number % 2 :: 3]}
    shop.rankings = {query: [new.get(each, each) for each in ids] for query, ids in shop.rankings.items()}
    shop.write()

    result = shop.run()

    assert result.ret == 1
    text = " ".join(result.stdout.str().split())
    assert (
        "likely cause: 10 of 10 queries list 15 documents under other ids: a first part was added ('q01-d0' is "
        "'shop:q01-d0', 'q01-d3' is 'shop:q01-d3'); the results themselves may be the same"
    ) in text
    assert (
        "restore the former ids; if the new ones are intended, write a file with the columns from and to, a line for "
        "each document ('q01-d0', 'shop:q01-d0'), and name it in the suite: documents: {aliases: FILE}."
    ) in text

    (shop.path / "ids.tsv").write_text("from\tto\n" + "".join(f"{old}\t{id_}\n" for old, id_ in new.items()))
    shop.change(("judgments: judgments.txt", "judgments: judgments.txt\ndocuments: {aliases: ids.tsv}"))
    assert shop.gate().verdict == "pass"


ENGINE = """\
import json
from pathlib import Path
from pytest_ireval import Answer

def search(text, query_id):
    index = json.loads(Path("index.json").read_text())
    return Answer(index["rankings"][query_id], index={"build": index["build"], "documents": 10})
"""


def test_they_are_named_before_the_index_that_was_rebuilt_with_them(shop):
    def build(name, rankings):
        (shop.path / "index.json").write_text(json.dumps({"build": name, "rankings": rankings}))

    (shop.path / "engine_of_renamed_ids.py").write_text(ENGINE)
    shop.change(("{run: rankings.txt}", "{python: 'engine_of_renamed_ids:search'}"))
    build("v1", shop.rankings)
    shop.accept()
    build("v2", {query: [f"shop:{each}" for each in ids[:2]] + ids[2:] for query, ids in shop.rankings.items()})

    assert shop.gate().verdict == "fail"
    kinds = [each["kind"] for each in shop.results()["suites"][0]["diagnoses"]]
    assert kinds[0] == "other_ids"
