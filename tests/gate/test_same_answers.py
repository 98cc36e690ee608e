"""A system that does not answer the same twice becomes no baseline by a single answer."""

import pytest

MODULE = """\
from collections import Counter
asked = Counter()
def search(text, query_id):
    asked[query_id] += 1
    with open("calls", "a") as calls:
        print(query_id, file=calls)
    found = [f"{{query_id}}-{{each}}" for each in ("d0", "d1", "d2", "d3")]
    return found[::-1] if asked[query_id] {turned} and query_id in ("q02", "q05") else found
"""


@pytest.fixture
def source(shop):
    """Make the shop's source a function that turns two rankings round where ``turned`` is true of its calls."""

    def write(turned, name, **options):
        (shop.path / f"{name}.py").write_text(MODULE.format(turned=turned))
        texts = "".join(f", {key}: {value}" for key, value in options.items())
        shop.change(("{run: rankings.txt}", f"{{python: '{name}:search'{texts}}}"))

    return write


def test_the_first_baseline_of_an_unsteady_system_is_refused(shop, source):
    source("% 2 == 0", "unsteady_a")

    done = shop.run("--ireval-update-new")

    assert done.ret != 0
    assert not (shop.path / "baselines" / "shop.baseline").exists()
    said = " ".join(done.stdout.str().split())
    assert "the source does not answer the same twice" in said
    (note,) = [note for note in shop.results()["suites"][0]["notes"] if "twice" in note]
    assert "2 of 10 queries asked twice got another answer: 'q02', 'q05'" in note
    assert "two runs of this system may differ by nDCG@10 0.1" in note
    assert "set repeat: 3 in the source" in note


def test_it_is_accepted_with_repeated_answers_whose_noise_is_known(shop, source):
    source("% 2 == 0", "unsteady_b", repeat=2)

    assert shop.run("--ireval-update-new").ret == 0
    assert "noise between the answers: " in str(shop.results()["suites"][0]["notes"])


def test_a_steady_system_is_asked_twice_only_before_its_first_baseline(shop, source):
    source("> 99", "steady")

    assert shop.run("--ireval-update-new").ret == 0
    assert not [note for note in shop.results()["suites"][0]["notes"] if "twice" in note]
    assert (shop.path / "calls").read_text().count("\n") == 20

    assert shop.run().ret == 0
    assert (shop.path / "calls").read_text().count("\n") == 30
