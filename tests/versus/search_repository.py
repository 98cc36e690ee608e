"""A repository of a search in Python whose main branch finds ``base`` for every query, and whose branch ``branch``."""

import shlex
import sys
from pathlib import Path

from git_repository import commit_all, read_commit, run_git
from suite_files import write_judgments, write_queries, write_suite

from pytest_ireval.baseline.rank_folder import read_rank_folder
from pytest_ireval.versus import ask_merge_base

SEARCH = "from shop.names import NAME\n\n\ndef search(text):\n    return [NAME]\n"
PYTHON = "{python: 'shop.search:search'}"


class SearchRepository:
    """The branch ``change`` is checked out; ``main`` is where it began."""

    def __init__(self, top, rankings, package="src/shop"):
        self.top, self.rankings, self.package = top, rankings, top / package
        run_git(_make(top), "init", "--quiet", "--initial-branch=main")
        self.write("search.py", SEARCH)
        self.write("__init__.py", "")
        self.find("base")
        suites = _make(top / "suites")
        write_suite(suites, "{threshold: {P@1: '>= 0'}}", source=PYTHON, queries="queries.tsv")
        write_queries(suites / "queries.tsv", ["q1", "q2"])
        write_judgments(suites / "judgments.txt", {"q1": {"base": 1}, "q2": {"base": 1}})
        (top / ".gitignore").write_text(".venv/\n*.egg-info/\n__pycache__/\n.pytest_cache/\nireval-report/\n")

    def write(self, name, text):
        _make((self.package / name).parent)
        (self.package / name).write_text(text)

    def find(self, document):
        """Make the search find this document."""
        self.write("names.py", f"NAME = {document!r}\n")

    def commit_base(self):
        commit_all(self.top, "The base")
        commit = read_commit(self.top)
        run_git(self.top, "checkout", "--quiet", "-b", "change")
        return commit

    def commit_branch(self):
        self.find("branch")
        commit_all(self.top, "Another search")

    def begin_branch(self):
        """Commit both sides, and return the commit of the base."""
        base = self.commit_base()
        self.commit_branch()
        return base

    def ask(self, ref="main", *, suites=("suites",), start=".", setup="", paths=("src",), depth=None):
        """Ask the base; these paths are seen from the top, and ``paths`` is what pytest has put on ``sys.path``."""
        return ask_merge_base(
            ref,
            suites=[self.top / suite for suite in suites],
            folder=self.rankings,
            start=self.top / start,
            setup=setup,
            depth=depth,
            paths=[*(str(self.top / path) for path in paths), *sys.path],
        )

    def ask_for_documents(self, **how):
        """Ask the base, and return what it finds, by suite and query."""
        self.ask(**how)
        return read_documents(self.rankings)

    def import_base(self, *, setup="true", **how):
        """Ask the base for no suite, and return what its search finds in a Python that the setup starts.

        It has the environment of ``ireval rank``, and starts ten times as fast.
        """
        code = "from shop.search import search; print(*search('q1'))"
        seen = self.top.parent / "seen"
        python = f"{shlex.quote(sys.executable)} -c {shlex.quote(code)} > {shlex.quote(str(seen))}"
        self.ask(suites=(), setup=f"{setup} && {python}", **how)
        return seen.read_text().strip()


def read_documents(rankings):
    """The first document of each query, by suite, in a folder of ``ireval rank``."""
    folder = read_rank_folder(Path(rankings))
    ranked = {name: folder.read_suite(name).rankings[0] for name in folder.suites}
    return {name: {query: lists.ranking(query)[0] for query in lists.queries} for name, lists in ranked.items()}


BASE = {"shop": {"q1": "base", "q2": "base"}}


def hash_files(folder):
    """Everything below a folder: names, and contents of files."""
    return {
        path.relative_to(folder).as_posix(): path.is_file() and path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if "__pycache__" not in path.parts
    }


def _make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    return folder
