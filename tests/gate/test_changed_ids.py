"""Documents whose ids changed are named as what they are: no ranking disaster."""

import pytest


def rename(shop, *, but=1):
    """All ids but those of the first queries are others now."""
    for number, (query, ids) in enumerate(shop.rankings.items()):
        if number >= but:
            shop.rankings[query] = [f"sku:{each}" for each in ids]
    shop.write()


def find_outcome(shop, name):
    return next(each for each in shop.results()["suites"][0]["outcomes"] if each["id"] == name)


def test_the_inputs_are_an_error_that_names_it_and_nothing_is_to_be_judged(shop):
    shop.accept()
    rename(shop)

    assert shop.run().ret == 1

    found = find_outcome(shop, "inputs")
    assert found["verdict"] == "error"
    assert found["headline"].endswith(
        "90% of the documents listed now stand neither in the judgments nor in the baseline's rankings; were ids "
        "renamed? judged: 10% now, 100% in the baseline"
    )
    assert "list renamed documents in the suite: documents: {aliases: FILE}" in found["facts"]
    compared = find_outcome(shop, "no_regression::nDCG_10.all")
    assert compared["sentence"] == (
        "Almost no ranked document has a known id, so this figure does not describe the ranking."
    )
    assert compared["facts"][0] == "see the outcome of inputs: were ids renamed?"
    assert not (shop.path / "ireval-report/to_judge.tsv").exists()


def test_with_the_aliases_all_is_well(shop):
    shop.accept()
    before = {each for ids in shop.rankings.values() for each in ids}
    rename(shop)
    (shop.path / "ids.tsv").write_text(
        "old\tnew\n" + "".join(f"{each}\tsku:{each}\n" for each in sorted(before) if each[:3] != "q01")
    )
    shop.change(("judgments: judgments.txt", "judgments: judgments.txt\ndocuments: {aliases: ids.tsv}"))

    assert shop.gate().verdict == "pass"


def test_a_ranking_that_became_bad_is_a_ranking_that_became_bad(shop):
    for query, ids in shop.rankings.items():
        ids += [f"{query}-x{number}" for number in range(8)]
    shop.change(("metrics: [nDCG@10, P@3]", "metrics: [nDCG@3, P@3]"))
    shop.accept()
    for ids in shop.rankings.values():
        ids.reverse()  # what stands on top now is judged by nobody, and known to the baseline
    shop.write()
    shop.gate()

    assert find_outcome(shop, "inputs")["verdict"] == "pass"
    assert find_outcome(shop, "no_regression::nDCG_10.all")["verdict"] == "fail"


def test_little_was_judged_in_the_baseline_either(shop):
    rename(shop, but=1)
    shop.change(('  - threshold: {nDCG@10: ">= 0.5"}\n', ""))
    shop.accept()
    for query, ids in shop.rankings.items():
        shop.rankings[query] = [f"again:{each}" if query != "q01" else each for each in ids]
    shop.write()
    shop.gate()

    assert find_outcome(shop, "inputs")["verdict"] == "pass"


@pytest.mark.parametrize(("new", "note"), [(1, False), (4, True)])
def test_less_judged_than_in_the_baseline_is_noted(shop, new, note):
    shop.accept()
    for query in list(shop.rankings)[:new]:
        shop.rankings[query] = [f"{query}-new", *shop.rankings[query]]
    shop.write()
    shop.gate()
    (suite,) = shop.results()["suites"]

    counts = suite["counts"]
    assert counts["judged_share"] == pytest.approx(40 / (40 + new))
    assert (counts["judged_share_before"], counts["judged_depth"]) == (1.0, 10)
    said = "91% of the first 10 documents are judged (baseline: 100%); the others count as irrelevant"
    assert (said in suite["notes"]) is note
