"""A shop in a repository with two branches, one of which accepts what the other does not know."""

from git_repository import commit_all, run_git

LOWERING = "lowering"


REASON = "synonyms v2"


class Branch:
    """The shop in a repository: ``main`` has its first baseline, ``change`` is checked out."""

    def __init__(self, shop):
        self.shop, self.path = shop, shop.path
        before = "a branch of", *((path.name, path.read_bytes()) for path in sorted(self.path.iterdir()))
        shop.once(before, self._begin)
        self.base = self.read_main()

    def read_main(self):
        return (self.path / ".git/refs/heads/main").read_text()[:7]

    @property
    def accepted(self):
        """The commit whose rankings :meth:`accept` accepted."""
        return self.git("rev-parse", "HEAD~1")[:7]

    def _begin(self):
        self.git("init", "--quiet", "--initial-branch=main")
        (self.path / ".gitignore").write_text("ireval-report/\n__pycache__/\n")
        self.shop.accept()
        self.commit("the first baseline")
        self.git("checkout", "--quiet", "-b", "change")
        self.commit("begun")
        self.git("repack", "--quiet", "-a", "-d")  # a copy has three files then, not twenty in folders of their own

    def git(self, *arguments, check=True):
        return run_git(self.path, *arguments, check=check)

    def commit(self, message):
        commit_all(self.path, message)

    def begin_with(self, *replacements):
        """The suite is another one on ``main`` already."""
        files = ((path.name, path.read_bytes()) for path in sorted(self.path.iterdir()) if path.is_file())
        before = self.base, *files, replacements
        self.shop.change(*replacements)
        self.shop.once(before, self._commit_to_main)
        self.base = self.read_main()

    def _commit_to_main(self):
        """Commit changes of files that both branches have alike."""
        self.git("checkout", "--quiet", "main")
        self.commit("another suite")
        self.git("checkout", "--quiet", "-B", "change")

    def rank(self, **lists):
        """Documents of some queries, by their ends: ``q10="n1 d0"``."""
        for query, ends in lists.items():
            self.shop.rankings[query] = [f"{query}-{end}" for end in ends.split()]
        self.shop.write()

    def accept(self, *, force=False, **lists):
        """Rank otherwise, accept and commit that."""
        self.rank(**lists)
        self.commit("another ranking")
        self.shop.update(REASON, force=force)
        self.commit("accepted")

    def run(self, *arguments, base="main"):
        return self.shop.run("--ireval-base", base, *arguments)

    def gate(self, **options):
        """The outcome of the check, without pytest."""
        self.shop.gate(base="main", **options)
        return self.shop.outcome(LOWERING)

    def outcome(self, *arguments, base="main"):
        """The outcome of the check in a run of pytest."""
        self.said = self.run(*arguments, base=base)
        return self.shop.outcome(LOWERING)


WORSE = {"q10": "n1 n2 n3"}


FAILS = ("-o", "ireval_baseline_lowering=fail")
