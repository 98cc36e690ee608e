"""A small shop that every test of the gate changes in its own way."""

import json
import shutil
from types import SimpleNamespace

import pytest
from branches import Branch
from git_repository import isolate_git
from monorepo import Monorepo, set_environment
from suite_files import accept_suites, find_registry, try_to_accept, write_judgments, write_queries, write_rankings
from town import Town

from pytest_ireval import load_suite, run_gate
from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.results.plain import to_plain
from pytest_ireval.results.suite_result import SuiteResult

SUITE = """\
ireval: 1
suite: shop
owner: "@search-team"
tags: [products]
source: {run: rankings.txt}
depth: 10
queries: queries.tsv
weight: searches
judgments: judgments.txt
metrics: [nDCG@10, P@3]
rules:
  - threshold: {nDCG@10: ">= 0.5"}
  - no_regression: {decide_by: observed, metric: nDCG@10, tolerance: 5%}
  - no_regression: {decide_by: observed, metric: nDCG@10, per: segment, tolerance: {head: 10%, default: 5%}}
  - worsened: {decide_by: observed, metric: nDCG@10, by_more_than: 0.9, at_most: 2}
  - expect:
      - {query: q01, document: q01-d0, top: 3}
"""
QUERIES = [(f"q{i:02}", f"words {i}", "head" if i <= 6 else "tail", 100 if i <= 6 else 2) for i in range(1, 11)]
GRADES = {"d0": 3, "d1": 2, "d2": 1, "d3": 0}


class Shop:
    """The files of one suite, and pytest run over them."""

    def __init__(self, pytester, accepted_shop):
        self.pytester = pytester
        self.checked = None
        self.path = pytester.path
        self.accepted = accepted_shop
        self.rankings = {query: [f"{query}-{d}" for d in ("d0", "d1", "d2", "d3")] for query, *_ in QUERIES}
        self.judgments = {query: {f"{query}-{d}": grade for d, grade in GRADES.items()} for query, *_ in QUERIES}
        self.suite = SUITE
        self.write()

    def write(self):
        queries, text, segment, searches = zip(*QUERIES, strict=True)
        write_queries(self.path / "queries.tsv", queries, text=text, segment=segment, searches=searches)
        write_judgments(self.path / "judgments.txt", self.judgments)
        write_rankings(self.path / "rankings.txt", self.rankings)
        (self.path / "shop.ireval.yaml").write_text(self.suite)

    def change(self, *replacements):
        """Change the suite's text."""
        for old, new in replacements:
            assert old in self.suite
            self.suite = self.suite.replace(old, new)
        self.write()

    def gate(self, folder=None, **options):
        """The result of the gate in this process, without pytest: all that a test needs which asks for outcomes."""
        path = (folder or self.path) / "shop.ireval.yaml"
        registry = find_registry(path)
        self.checked = run_gate(load_suite(path, registry), registry=registry, **options)
        return self.checked

    def run(self, *arguments):
        """``pytest --ireval`` in the folder."""
        self.checked = None
        return self.pytester.runpytest("--ireval", "-p", "no:cacheprovider", *arguments)

    def run_before(self):
        """A run whose report a test finds in the folder; what came of the same files is copied."""
        self.checked = None
        files = (
            (str(path.relative_to(self.path)), path.read_bytes()) for path in self.path.rglob("*") if path.is_file()
        )
        self.once(("a run of", *sorted(files)), self.run)

    def update(self, reason, *, force=False):
        """Accept what the suite measures now, without pytest."""
        self.checked = None
        accept_suites(self.path / "shop.ireval.yaml", reason, force=force)

    def try_to_accept(self, reason="", **options):
        """What comes of accepting it, without pytest."""
        self.checked = None
        return try_to_accept(self.path / "shop.ireval.yaml", reason, **options)

    def accept(self):
        """The first baseline; the same files were accepted once, and what that made of them is copied."""
        before = tuple((path.name, path.read_bytes()) for path in sorted(self.path.iterdir()) if path.is_file())
        if any(path.is_dir() for path in self.path.iterdir()) or any(name.endswith(".py") for name, _ in before):
            self.update("")  # a repository, or code, may make something else of the same files
        else:
            self.once(before, lambda: self.update(""))

    def once(self, key, make):
        """Change the folder; from the second time on what came of it is copied."""
        known = self.accepted.folders.get(key)
        if known is None:
            make()
            known = self.accepted.folders[key] = self.accepted.home / str(len(self.accepted.folders))
            shutil.copytree(self.path, known, symlinks=True)
        else:
            shutil.copytree(known, self.path, symlinks=True, dirs_exist_ok=True)

    def results(self):
        """Those of the last run, as ``results.json`` has them."""
        if isinstance(self.checked, SuiteResult):
            self.checked = {"suites": [to_plain(self.checked)]}
        return self.checked or json.loads((self.path / "ireval-report/results.json").read_text())

    def outcome(self, name):
        """Of one check of the only suite."""
        (suite,) = self.results()["suites"]
        return next(each for each in suite["outcomes"] if each["id"] == name)

    def verdicts(self):
        """By id, of the only suite."""
        (suite,) = self.results()["suites"]
        return {outcome["id"]: outcome["verdict"] for outcome in suite["outcomes"]}

    def baseline(self, name="shop"):
        return read_baseline(self.path / "baselines", name)

    def baseline_files(self):
        return {path.name: path.read_bytes() for path in (self.path / "baselines").glob("shop.*")}


@pytest.fixture(scope="session")
def accepted_shops(tmp_path_factory):
    """Folders after their first baseline was accepted, by the files that they had before."""
    return SimpleNamespace(home=tmp_path_factory.mktemp("accepted"), folders={})


@pytest.fixture
def shop(pytester, monkeypatch, accepted_shops):
    set_environment(monkeypatch)
    return Shop(pytester, accepted_shops)


@pytest.fixture
def accepted_shop(shop):
    """The shop with its first baseline."""
    shop.accept()
    return shop


@pytest.fixture(scope="session")
def begun_monorepo(tmp_path_factory):
    """Where the repository is kept that the first test has begun; the others get a copy."""
    return tmp_path_factory.mktemp("monorepo") / "begun"


@pytest.fixture
def monorepo(pytester, monkeypatch, begun_monorepo):
    isolate_git(monkeypatch, pytester.path)
    set_environment(monkeypatch)
    return Monorepo(pytester, begun_monorepo)


@pytest.fixture(scope="session")
def shop_in():
    """Makes the same shop in a folder, for tests that run pytest as a program."""
    return lambda folder: Shop(SimpleNamespace(path=folder), None)


@pytest.fixture
def branch(shop, monkeypatch):
    isolate_git(monkeypatch, shop.path)
    return Branch(shop)


@pytest.fixture
def town(tmp_path):
    """Makes one of so many queries of each kind."""

    def make(*kinds, **more):
        return Town(tmp_path / "town", [kind for kind, count in kinds for _ in range(count)], **more)

    return make
