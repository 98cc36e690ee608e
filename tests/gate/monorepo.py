"""A git repository with suites of several teams, and pytest run over them."""

import json
import shutil

from git_repository import commit_all, run_git

SUITE = """\
ireval: 1
suite: {name}
owner: "{owner}"
source: {{run: data/run.trec}}
depth: 10
judgments: data/judgments.txt
rules:
  - threshold: {{nDCG@10: ">= 0.5"}}
"""
FILES = {
    "suites/data/judgments.txt": "q1 0 d1 3\nq2 0 d2 1\n",
    "suites/data/run.trec": "q1 Q0 d1 1 9 x\nq2 Q0 d2 1 9 x\n",
    "search/analyzer.py": "STEMS = True\n",
    "ads/bids.py": "FLOOR = 1\n",
    ".gitignore": "ireval-report/\n__pycache__/\n",
}


class Monorepo:
    """Files under git, changed by writing them."""

    def __init__(self, pytester, begun=None):
        self.pytester = pytester
        self.path = pytester.path
        if begun is not None and begun.exists():
            shutil.copytree(begun, self.path, dirs_exist_ok=True)
            return
        self._begin()
        if begun is not None:
            shutil.copytree(self.path, begun)

    def _begin(self):
        for name, text in FILES.items():
            self.write(name, text)
        self.suite("shop", "watches: ../search/**\n", owner="@search-team")
        self.suite("ads", "watches: /ads/**\n", owner="@ads")
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("first")
        self.git("checkout", "--quiet", "-b", "branch")
        self.git("repack", "--quiet", "-a", "-d")  # a copy has three files then, not twenty in folders of their own

    def suite(self, name, more="", owner="", text=SUITE):
        self.write(f"suites/{name}.ireval.yaml", text.format(name=name, owner=owner) + more)

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def git(self, *arguments):
        return run_git(self.path, *arguments)

    def commit(self, message):
        commit_all(self.path, message)

    def run(self, *arguments, since="main"):
        chosen = () if since is None else ("--ireval-changed-since", since)
        return self.pytester.runpytest("--ireval", "suites", *chosen, "-p", "no:cacheprovider", *arguments)

    def results(self):
        return json.loads((self.path / "ireval-report/results.json").read_text(encoding="utf-8"))

    def affected(self):
        """Why each suite that took part did, by name."""
        return {suite["name"]: suite["affected_by"] for suite in self.results()["suites"]}


def set_environment(monkeypatch):
    """Run as on a developer's machine, at one moment, on a terminal of one width."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795000000")
    monkeypatch.setenv("COLUMNS", "100")
