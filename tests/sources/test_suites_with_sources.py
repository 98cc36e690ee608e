"""Sources of a whole suite: from its YAML to its verdict."""

import sys

import pytest

from pytest_ireval import IrevalError
from pytest_ireval.gate.run import run_gate
from pytest_ireval.suites.loading import load_suite

SUITE = """\
ireval: 1
suite: shop
queries: queries.tsv
judgments: judgments.txt
source:
  {source}
metrics: [RR@10]
rules:
  - threshold: {{RR@10: ">= 0.9"}}
"""


@pytest.fixture
def gate(shop):
    """Writes a suite with this source and judges it."""
    shop.write("queries.tsv", "id\ttext\nq1\tred mug\nq2\tblue mug\n")
    shop.write("judgments.txt", "q1 0 red 1\nq2 0 blue 1\n")
    shop.write("first.py", "def search(text):\n    return text.split()\n")

    def run(source):
        path = shop.write("shop.ireval.yaml", SUITE.format(source=source))
        return run_gate(load_suite(path, shown="shop.ireval.yaml"))

    return run


def test_a_source_that_fails_is_an_error_and_no_low_score(gate, shop):
    shop.write("first.py", "def search(text):\n    raise ConnectionError('no route to the index')\n")
    sys.modules.pop("first", None)

    result = gate("python: first:search")

    assert {outcome.verdict for outcome in result.outcomes} == {"error"}
    assert result.error == (
        "shop.ireval.yaml:6:3: source > python: first:search raised ConnectionError: no route to the index "
        "for query 'q1' ('red mug')\n"
        "  at first.py:2, in search"
    )


def test_mistakes_in_options_are_found_while_the_suite_is_read(gate):
    with pytest.raises(IrevalError) as caught:
        gate("{python: search, mode: each, timeout: 30, concurency: 2}")

    assert str(caught.value) == (
        "shop.ireval.yaml:6:12: source > python\n"
        "  'search' does not name a function\n"
        "  write module:function, for example shop.search:search\n"
        "shop.ireval.yaml:6:26: source > mode\n"
        "  'each' is unknown\n"
        "  allowed: query, all\n"
        "shop.ireval.yaml:6:41: source > timeout\n"
        "  '30' is not a valid duration: write 30s, 500ms or 2m\n"
        "shop.ireval.yaml:6:45: source\n"
        "  unknown key 'concurency'\n"
        "  did you mean 'concurrency'?\n"
        "  allowed: repeat, python, mode, id, concurrency, timeout, path"
    )
