"""A python source whose scores contradict the order of its list is refused, as a live system is."""

import pytest

SUITE = """\
ireval: 1
suite: shop
source: {python: "%s:search", mode: %s}
depth: 3
queries: queries.tsv
judgments: judgments.txt
rules:
  - threshold: {nDCG@3: ">= 0.9"}
"""
ANSWERS = {
    "pairs": '[("m1", 0.1), ("p1", 0.7)]',
    "an answer": 'Answer([("m1", 0.1), ("p1", 0.7)])',
    "only at the end": '[("m1", 0.9), ("m2", 0.1), ("p1", 0.1001)]',
}
FINE = {
    "ids": '["m1", "p1"]',
    "equal scores": '[("m1", 1), ("p1", 1)]',
    "a dictionary, which has no order": '{"p1": 1, "m1": 2}',
    "no documents": "[]",
}


@pytest.fixture
def run(pytester, request):
    pytester.path.joinpath("queries.tsv").write_text("id\ttext\nq1\tred mug\nq2\tblue mug\n")
    pytester.path.joinpath("judgments.txt").write_text("q1 0 m1 1\nq2 0 m1 1\n")

    def run_with(returned, mode="query"):
        module = f"shop_of_{abs(hash((returned, mode)))}"  # Python imports a module of one name once
        code = f"def search(text):\n    return {returned}\n"
        if mode == "all":
            code = f"def search(queries):\n    return {{query: {returned} for query in queries}}\n"
        pytester.path.joinpath(f"{module}.py").write_text(f"from pytest_ireval import Answer\n\n\n{code}")
        pytester.path.joinpath("shop.ireval.yaml").write_text(SUITE % (module, mode))
        return pytester.runpytest("--ireval", "-p", "no:cacheprovider")

    return run_with


@pytest.mark.parametrize("returned", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("mode", ["query", "all"])
def test_scores_that_rise_down_the_list_are_refused(run, returned, mode):
    if mode == "all" and returned.startswith("Answer"):
        returned = returned.removeprefix("Answer(").removesuffix(")")

    result = run(returned, mode)

    said = " ".join(result.stdout.str().split())
    assert result.ret == 1
    assert "query 'q1': returned documents that are not in the order of their scores: 'p1' (0." in said
    assert "return ids without scores if their order counts, distances with a minus sign" in said
    assert "or a dictionary {id: score}, which has no order" in said


@pytest.mark.parametrize("returned", FINE.values(), ids=FINE)
@pytest.mark.parametrize("mode", ["query", "all"])
def test_scores_that_fit_the_order_pass(run, returned, mode):
    result = run(returned, mode)

    assert "not in the order" not in result.stdout.str()
    assert result.ret == (1 if returned == "[]" or returned == FINE["equal scores"] else 0)
