"""The recipe of docs/how_sure.md: a pull request asks few queries, and the night decides what it left undecided."""

import random
import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how_sure.md"
pytestmark = [pytest.mark.ci, pytest.mark.skipif(not PAGE.is_file(), reason="needs a checkout of the project")]


def recipe():
    text = PAGE.read_text(encoding="utf-8")
    section = text[text.index("## A pull request and a night") :]
    commands = dict(re.findall(r"^\| (\w[\w ]*) \| `pytest --ireval (.*?)` \|", section, re.MULTILINE))
    return re.search(r"```yaml\n(.*?)```", section, re.DOTALL)[1], commands


class Nightly:
    """400 queries, the first 25 of which are those of pull requests."""

    def __init__(self, pytester):
        self.pytester, self.folder = pytester, pytester.path / "suites"
        for name in ("runs", "data"):
            (self.folder / name).mkdir(parents=True)
        self.suite, self.commands = recipe()
        (self.folder / "shop.ireval.yaml").write_text(self.suite)
        self.queries = [f"q{number:03}" for number in range(400)]
        chance = random.Random(3)
        self.orders = {query: chance.sample(range(6), 6) for query in self.queries}
        for name, queries in self.sets():
            self.write(f"data/{name}.judgments.txt", (f"{q} 0 d{n} {3 - n}\n" for q in queries for n in range(4)))
            self.write(f"data/{name}.tsv", ("id\ttext\n", *(f"{query}\twords of {query}\n" for query in queries)))
        self.rank()
        assert self.ask("suites", "--ireval-update-new").ret == 0

    def sets(self):
        return (("pull", self.queries[:25]), ("night", self.queries))

    def write(self, name, lines):
        (self.folder / name).write_text("".join(lines))

    def rank(self):
        for name, queries in self.sets():
            lines = (f"{q} Q0 d{n} {rank} {9 - rank} x\n" for q in queries for rank, n in enumerate(self.orders[q]))
            self.write(f"runs/{name}.trec", lines)

    def worsen(self, every):
        """Swap the first two documents of some queries, where that costs something, and gain a little elsewhere."""
        for number, query in enumerate(self.queries):
            order = self.orders[query]
            if number % every == 0:
                order.sort(reverse=True)
            elif number % every == 1:
                order[:2] = sorted(order[:2])
        self.rank()

    def ask(self, *arguments):
        return self.pytester.runpytest_subprocess("--ireval", *arguments, "-p", "no:cacheprovider")

    def run(self, when):
        return self.ask(*shlex.split(self.commands[when].replace("…", "as agreed")))


@pytest.fixture
def nightly(pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    return Nightly(pytester)


def test_what_a_pull_request_cannot_tell_the_night_decides(nightly):
    nightly.worsen(every=8)

    pull, night = nightly.run("pull request"), nightly.run("night")

    assert pull.ret == 0
    assert pull.parseoutcomes()["passed"] == 2
    assert "1 suite inconclusive (shop.pull)" in pull.stdout.str()
    assert night.ret == 1
    assert "1 suite failed (shop.night)" in night.stdout.str()
    assert nightly.run("accept").ret == 0
    assert nightly.run("night").ret == 0


def test_without_a_change_both_are_green(nightly):
    assert nightly.run("pull request").ret == 0
    assert nightly.run("night").ret == 0
