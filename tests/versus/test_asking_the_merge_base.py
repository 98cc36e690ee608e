"""The files of the merge base are written, set up and asked; what belongs to the user stays as it is."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from git_repository import commit_all, run_git
from search_repository import BASE, PYTHON, SEARCH, hash_files, read_documents
from suite_files import write_suite

from pytest_ireval.errors import IrevalError
from pytest_ireval.versus import run_setup

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"


class TestWhatIsLeftAlone:
    def test_nothing_in_the_repository_changes(self, repository):
        hook = repository.top / ".git" / "hooks" / "post-index-change"
        hook.parent.mkdir()
        hook.write_text(f"#!/bin/sh\necho told >> '{repository.top}/told'\n")
        hook.chmod(0o755)
        run_git(repository.top, "config", "core.splitIndex", "true")
        for name, value in {"clean": "cat", "smudge": "no-such-program", "required": "true"}.items():
            run_git(repository.top, "config", f"filter.lfs.{name}", value)
        (repository.top / ".gitattributes").write_text("*.lfs filter=lfs\n")
        (repository.top / "unused.lfs").write_text(POINTER)
        repository.begin_branch()
        repository.find("uncommitted")
        run_git(repository.top, "stash")
        (repository.top / "told").unlink()
        before = hash_files(repository.top)

        assert repository.ask_for_documents() == BASE
        assert hash_files(repository.top) == before

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    def test_a_run_that_is_ended_leaves_at_most_a_temporary_folder(self, repository, temporary, tmp_path, number):
        repository.begin_branch()
        before = hash_files(repository.top)
        pid = tmp_path / "pid"
        setup = f"sleep 1; echo $$ > '{pid}'; exec sleep 300"  # a signal in the middle of a start leaves its program
        ask = (
            "import sys; from pathlib import Path; from pytest_ireval.versus import ask_merge_base as ask\n"
            f"ask('main', suites=[], folder=Path('r'), start=Path('.'), setup={setup!r}, depth=None)"
        )
        asking = subprocess.Popen([sys.executable, "-c", ask], cwd=repository.top, stderr=subprocess.PIPE)
        while not (pid.exists() and pid.read_text().endswith("\n")):
            assert asking.poll() is None, asking.stderr.read()
            time.sleep(0.02)
        asking.send_signal(number)
        asking.communicate()
        program = int(pid.read_text())

        assert asking.returncode == -number
        assert hash_files(repository.top) == before
        if number == signal.SIGKILL:
            os.killpg(program, signal.SIGKILL)
            (left,) = temporary.iterdir()
            assert left.name.startswith("ireval-")
            shutil.rmtree(left)
        else:
            with pytest.raises(ProcessLookupError):
                os.killpg(program, 0)


class TestTheSetup:
    def test_it_runs_on_the_side_of_the_base_and_knows_the_branch(self, repository):
        (repository.top / ".gitignore").write_text("model.txt\n")
        (repository.top / "model.txt").write_text("base")
        repository.write("search.py", "import os\ndef search(text):\n    return [open(os.environ['MODEL']).read()]\n")
        write_suite(
            repository.top / "suites",
            "{threshold: {P@1: '>= 0'}}",
            source=f"{{command: [{sys.executable}, program.py, '${{IREVAL_SIDE}}']}}",
            queries="queries.tsv",
        )
        (repository.top / "suites" / "program.py").write_text(
            "import sys\nfor query in ('q1', 'q2'):\n"
            "    print(query, 'Q0', open('../model.txt').read().strip() + sys.argv[1], 1, 1.0, 'x')\n"
        )
        repository.begin_branch()
        setup = 'cp "$IREVAL_HEAD_FOLDER/model.txt" . && echo "-$IREVAL_SIDE-" >> model.txt'

        assert repository.ask_for_documents(setup=setup)["shop"] == {"q1": "base-base-base", "q2": "base-base-base"}
        assert (repository.top / "model.txt").read_text() == "base"

    def test_python_in_it_imports_the_base(self, repository):
        """An index must not be made by the code of the branch."""
        repository.begin_branch()

        assert repository.import_base() == "base"

    def test_its_failure_is_an_error_with_its_last_lines(self, repository):
        repository.begin_branch()

        with pytest.raises(IrevalError) as failed:
            repository.ask(setup="echo building; echo no space >&2; exit 3")

        assert str(failed.value) == (
            "ireval_versus_setup failed for the base side: echo building; echo no space >&2; exit 3 (exit code 3)\n"
            "  the end of its output:\n  building\n  no space"
        )

    def test_it_runs_again_for_the_branch(self, tmp_path):
        (tmp_path / "a folder").mkdir()

        run_setup('echo "$IREVAL_SIDE $IREVAL_HEAD_FOLDER $PWD" > seen', tmp_path / "a folder", "head", tmp_path)

        assert (tmp_path / "a folder" / "seen").read_text() == f"head {tmp_path} {tmp_path / 'a folder'}\n"


class TestTheSuites:
    def test_those_of_renamed_files_and_folders_are_found_by_their_names(self, repository):
        """Of a folder that the base lacks, in the folder above."""
        for name in ("books", "gone"):
            write_suite(
                repository.top / "more",
                "{threshold: {P@1: '>= 0'}}",
                suite=name,
                source=PYTHON,
                queries="../suites/queries.tsv",
                judgments="../suites/judgments.txt",
            )
        repository.begin_branch()
        run_git(repository.top, "mv", "suites/shop.ireval.yaml", "suites/store.ireval.yaml")
        (repository.top / "more").rename(repository.top / "gates")
        (repository.top / "gates" / "gone.ireval.yaml").unlink()

        found = repository.ask_for_documents(suites=["suites/store.ireval.yaml", "gates"])

        assert found == {**BASE, "books": BASE["shop"]}

    def test_a_suite_that_the_base_lacks_is_not_asked(self, repository):
        (repository.top / "suites" / "shop.ireval.yaml").rename(repository.top / "shop")
        repository.begin_branch()
        (repository.top / "shop").rename(repository.top / "suites" / "shop.ireval.yaml")

        assert repository.ask_for_documents() == {}
        assert repository.ask_for_documents(suites=["suites/shop.ireval.yaml"]) == {}

    def test_one_that_fails_does_not_take_the_others_with_it(self, repository):
        write_suite(repository.top / "suites", "{threshold: {P@1: '>= 0'}}", suite="other", source="{python: 'gone:x'}")
        repository.begin_branch()

        repository.ask()

        with pytest.raises(IrevalError, match="module 'gone' not found"):
            read_documents(repository.rankings)

    def test_a_base_that_cannot_be_imported_is_an_error(self, repository):
        repository.write("search.py", f"1 / 0\n{SEARCH}")
        base = repository.begin_branch()

        with pytest.raises(IrevalError) as failed:
            repository.ask()

        lines = str(failed.value).splitlines()
        assert lines[0] == f"ireval rank failed at {base[:7]}, the merge base with main (exit code 1)"
        assert "module 'shop.search' cannot be imported: ZeroDivisionError: division by zero" in lines[3]

    def test_the_depth_is_that_of_the_branch(self, repository):
        repository.write("search.py", "def search(text, depth):\n    return [f'{depth} documents']\n")
        repository.begin_branch()

        assert repository.ask_for_documents(depth=2000)["shop"]["q1"] == "2000 documents"

    def test_one_outside_of_the_repository_is_an_error(self, repository, tmp_path):
        repository.begin_branch()

        with pytest.raises(IrevalError, match=r"is not in the repository .*, so there is none at "):
            repository.ask(suites=["../elsewhere"])


class TestTheRef:
    def test_an_unknown_one_is_an_error(self, repository):
        repository.begin_branch()

        with pytest.raises(IrevalError, match=r"git does not know the commit 'mian' here\n  did you mean 'main'\?"):
            repository.ask("mian")

    def test_a_shallow_clone_is_an_error(self, repository, tmp_path):
        repository.begin_branch()
        url = repository.top.as_uri()
        run_git(tmp_path, "clone", "--quiet", "--depth=1", "--no-single-branch", url, "shallow")
        repository.top = tmp_path / "shallow"

        with pytest.raises(IrevalError, match=r"shallow\n  fetch-depth: 0 .* git fetch --unshallow"):
            repository.ask("origin/main")

    def test_a_folder_outside_of_git_is_an_error(self, repository):
        (repository.top / ".git").rename(repository.top / "no git")

        with pytest.raises(IrevalError, match="is not in a git repository, so there is no commit to compare with"):
            repository.ask()

    def test_a_machine_without_git_is_an_error(self, repository, monkeypatch):
        repository.begin_branch()
        monkeypatch.setenv("PATH", "")

        with pytest.raises(IrevalError, match="git is not installed"):
            repository.ask()


class TestContentsThatGitKeepsElsewhere:
    @pytest.fixture
    def base(self, repository, tmp_path):
        """A base with a submodule and a file of Git LFS, which the branch has."""
        engine = tmp_path / "engine"
        engine.mkdir()
        run_git(engine, "init", "--quiet")
        (engine / "engine.txt").write_text("an engine")
        commit_all(engine, "An engine")
        run_git(
            repository.top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(engine), "engine"
        )
        (repository.top / "model.bin").write_text(POINTER)
        base = repository.begin_branch()
        (repository.top / "model.bin").write_text("the model")
        return base

    def test_they_are_an_error_where_the_branch_has_them(self, repository, base):
        with pytest.raises(IrevalError) as refused:
            repository.ask()

        lines = str(refused.value).splitlines()
        assert lines[0] == (
            f"the files at {base[:7]}, the merge base with main are not complete: "
            "'engine (submodule)', 'model.bin (Git LFS)'"
        )
        assert "ireval_versus_setup can bring them" in lines[1]
        assert "ireval rank SUITES -o FOLDER" in lines[2]

    def test_a_setup_may_bring_them(self, repository, base):
        setup = 'cp -r "$IREVAL_HEAD_FOLDER"/engine/. engine; cp "$IREVAL_HEAD_FOLDER"/model.bin .'

        assert repository.import_base(setup=setup) == "base"

    def test_what_the_branch_lacks_too_makes_no_difference(self, repository, base):
        run_git(repository.top, "submodule", "--quiet", "deinit", "--force", "engine")
        (repository.top / "model.bin").write_text(POINTER)

        assert repository.import_base() == "base"
