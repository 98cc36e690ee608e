"""The base runs its own code: in its own environment, or in that of the branch with its files in their place."""

import os
import sys
import sysconfig
from pathlib import Path

import pytest
from git_repository import commit_all, run_git
from search_repository import BASE, SEARCH, SearchRepository, read_documents
from suite_files import write_suite

from pytest_ireval.errors import IrevalError

PROGRAM = """\
import sys
from shop.search import search
for line in sys.stdin.read().splitlines()[1:]:
    query, text = line.split("\\t")
    print(query, "Q0", search(text)[0], 1, 1.0, "x")
"""


def change_source(repository, source):
    write_suite(repository.top / "suites", "{threshold: {P@1: '>= 0'}}", source=source, queries="queries.tsv")


def test_the_pythonpath_of_pytest_leads_to_the_base_with_a_module_that_the_branch_deleted(repository):
    repository.write("../legacy.py", "")
    repository.write("search.py", f"import legacy\n{SEARCH}")
    repository.commit_base()
    (repository.top / "src" / "legacy.py").unlink()
    repository.commit_branch()

    assert repository.import_base() == "base"


def test_uncommitted_changes_are_of_the_branch(repository):
    repository.commit_base()
    repository.find("uncommitted")

    asked = repository.ask()

    assert (read_documents(repository.rankings), asked.is_dirty) == (BASE, True)


def test_a_namespace_package_is_that_of_the_base(repository):
    (repository.package / "__init__.py").unlink()
    repository.write("deep/er.py", "from shop.names import NAME\n")
    repository.write("search.py", SEARCH.replace("shop.names", "shop.deep.er"))
    repository.begin_branch()

    assert repository.import_base() == "base"


def test_a_program_that_a_suite_starts_imports_the_base_as_well(repository):
    repository.write("program.py", PROGRAM)
    change_source(repository, f"{{command: [{sys.executable!r}, -m, shop.program]}}")
    repository.begin_branch()

    assert repository.ask_for_documents() == BASE


HOOK = """\
import importlib.machinery, importlib.util, os, sys
class Hook:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in {names!r}:
            home = {folder!r} + "/" + name
            file = home + "/__init__.py"
            if os.path.exists(home) and not os.path.exists(file):
                spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [home]
                return spec
            return importlib.util.spec_from_file_location(name, file, submodule_search_locations=[home])
sys.meta_path.append(Hook)
"""


def install_hook(repository, *names):
    """Write what Python runs at its start, as an editable install does, and return its folder."""
    folder = repository.top.parent / "outside"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(HOOK.format(names=names, folder=str(repository.package.parent)))
    return str(folder)


def test_an_import_hook_that_leads_to_the_branch_is_redirected(repository):
    hook = install_hook(repository, "shop")
    repository.write("__init__.py", "from shop.names import NAME\n")
    repository.write("search.py", SEARCH.replace("shop.names", "shop"))
    repository.begin_branch()

    assert repository.import_base(paths=[hook]) == "base"


def test_an_import_hook_for_a_namespace_package_leads_to_what_the_branch_deleted(repository):
    hook = install_hook(repository, "shop")
    (repository.package / "__init__.py").unlink()
    repository.write("legacy.py", "from shop.names import NAME\n")
    repository.write("search.py", SEARCH.replace("shop.names", "shop.legacy"))
    repository.commit_base()
    (repository.package / "legacy.py").unlink()
    repository.commit_branch()

    assert repository.import_base(paths=[hook]) == "base"


def test_a_package_that_is_new_in_the_branch_is_missing_in_the_base(repository):
    hook = install_hook(repository, "shop", "extra")
    repository.write(
        "names.py", "try:\n    import extra\n    NAME = 'branch'\nexcept ImportError:\n    NAME = 'base'\n"
    )
    repository.commit_base()
    repository.write("../extra/__init__.py", "")
    commit_all(repository.top, "An extra")

    assert repository.import_base(paths=[hook]) == "base"


def test_a_module_that_only_the_branch_has_is_missing_in_the_base(repository):
    repository.write("search.py", f"import shop.generated\n{SEARCH}")
    (repository.top / ".gitignore").write_text("generated.py\n")
    repository.write("generated.py", "")
    repository.begin_branch()

    with pytest.raises(IrevalError, match=r"No module named 'shop.generated'(.|\n)*ireval_versus_setup can make them"):
        repository.ask()
    assert repository.import_base(setup='cp "$IREVAL_HEAD_FOLDER"/src/shop/generated.py src/shop/') == "base"


def test_code_that_is_loaded_from_the_branch_by_its_path_is_an_error(repository):
    repository.write(
        "search.py",
        "import importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('names', {str(repository.package / 'names.py')!r})\n"
        "names = importlib.util.module_from_spec(spec)\n"
        "import sys; sys.modules['names'] = names\n"
        "spec.loader.exec_module(names)\n"
        "def search(text):\n    return [names.NAME]\n",
    )
    base = repository.begin_branch()

    with pytest.raises(IrevalError) as refused:
        repository.ask()

    assert str(refused.value) == (
        f"both sides would be the same code: at {base[:7]}, the merge base with main, the module names was loaded from "
        f"{repository.package / 'names.py'}, which is the branch's\n"
        "  give the base an environment of its own: ireval_versus_setup = uv sync, for example\n"
        "  or check out the base yourself, run ireval rank SUITES -o FOLDER in it, and compare with "
        "--ireval-versus FOLDER"
    )


def make_environment(*lines):
    """The line of a setup that makes an environment, and puts these lines where an installer would."""
    write = "; ".join(f"echo '{line}' >> $site/x.pth" for line in lines)
    return f"{sys.executable} -m venv --without-pip .venv; site=$(echo .venv/lib/python*/site-packages); {write}"


def test_an_environment_that_the_setup_made_is_used(repository, monkeypatch):
    root = Path(__file__).parents[2]
    tool = [sysconfig.get_path("purelib"), *(str(root / name) for name in ("", "metrics_plugins", "plugins"))]
    repository.write("names.py", "import sys\nNAME = 'base' if '/.venv' in sys.prefix else 'not in its environment'\n")
    repository.commit_base()
    monkeypatch.setenv("VIRTUAL_ENV", str(repository.top / ".venv"))

    seen = 'test -z "$VIRTUAL_ENV" && '  # else uv would install into the environment of the branch

    assert repository.ask_for_documents(setup=seen + make_environment(*tool, "$PWD/src")) == BASE


def test_an_environment_without_pytest_ireval_is_an_error(repository, monkeypatch):
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if not Path(entry, "pytest_ireval").exists()])
    repository.begin_branch()

    with pytest.raises(IrevalError, match=r"pytest-ireval is not installed for .*: ireval_versus_setup has to install"):
        repository.ask(setup=make_environment("x"))


def test_an_environment_that_does_not_heed_our_variables_is_an_error(repository):
    repository.begin_branch()
    python = f"'#!/bin/sh\\nexec {sys.executable} -E \"$@\"\\n'"

    with pytest.raises(IrevalError, match=r"does not heed PYTHONPATH, so it might import the code of the branch"):
        repository.ask(setup=f"mkdir -p .venv/bin; printf {python} > .venv/bin/python; chmod +x .venv/bin/python")


def test_an_environment_in_the_tree_of_the_branch_keeps_its_packages(repository, tmp_path):
    """As .venv, which most projects have in their folder."""
    packages = repository.top / ".venv" / "lib" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "installed.py").write_text("")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "sitecustomize.py").write_text(f"import sys; sys.path.append({str(packages)!r})\n")
    repository.write("__init__.py", "import installed\n")
    repository.begin_branch()

    assert repository.import_base(paths=["src", "../outside"]) == "base"


def test_a_link_to_the_clone_and_a_folder_below_its_top_change_nothing(repository, tmp_path):
    os.rename(repository.top, tmp_path / "real")
    (tmp_path / "real" / "projects").mkdir()
    repository.top.mkdir()
    repository.top.rmdir()
    repository.top.symlink_to(tmp_path / "real")
    repository.begin_branch()

    assert repository.ask_for_documents() == BASE


def test_a_project_below_the_top_of_its_repository_is_asked_in_its_folder(tmp_path, temporary):
    repository = SearchRepository(tmp_path / "mono", tmp_path / "rankings", package="teams/shop search/src/shop")
    project = repository.top / "teams" / "shop search"
    os.rename(repository.top / "suites", project / "suites")
    repository.begin_branch()

    how = {"start": "teams/shop search", "suites": ["teams/shop search/suites"], "paths": ["teams/shop search/src"]}
    setup = "test -d suites -a -d src"

    assert repository.ask_for_documents(setup=setup, **how) == BASE


def test_a_worktree_of_git_is_a_branch_like_any(repository, tmp_path):
    repository.commit_base()
    run_git(repository.top, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "work tree"))
    repository.top, repository.package = tmp_path / "work tree", tmp_path / "work tree" / "src" / "shop"
    repository.commit_branch()

    assert repository.import_base() == "base"


def test_temporary_files_may_be_in_the_clone(repository, monkeypatch):
    inside = repository.top / "tmp"
    repository.begin_branch()
    inside.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(inside))

    assert (repository.import_base(), [*inside.iterdir()]) == ("base", [])
