"""Pages are true: their code runs, their commands print what they show, and the reference is complete."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from pytest_ireval.cli import COMMANDS, commands
from pytest_ireval.metrics.metric import NEEDS
from pytest_ireval.plugins import hookspecs
from pytest_ireval.plugins.commands import find_commands
from pytest_ireval.pytest_plugin import plugin

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
"""Language, the file it is, and its text."""

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="needs a checkout of the project")
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page, language):
    return [code for found, _, code in BLOCK.findall(page.read_text(encoding="utf-8")) if found == language]


@pytest.fixture
def folder_of_examples(monkeypatch, tmp_path_factory):
    """What the pages show runs where the examples are, and leaves nothing behind."""
    folder = tmp_path_factory.mktemp("documentation")
    shutil.copytree(ROOT / "examples", folder / "examples")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("CI", raising=False)
    return folder


@pytest.fixture
def engine(monkeypatch):
    """Starts the engine of a page on a free port, until the test ends."""
    started = []

    def start(shown):
        monkeypatch.setenv("ENGINE_PORT", "0")
        command = [sys.executable, "engine.py"]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        words, _, port = started[-1].stdout.readline().rpartition(" ")
        assert shown == f"{words} …\n"
        monkeypatch.setenv("ENGINE_URL", f"http://127.0.0.1:{int(port)}")

    yield start
    for process in started:
        process.kill()
        process.communicate()


@each_page
@pytest.mark.usefixtures("folder_of_examples")
def test_python_blocks_of_a_page_run_one_after_the_other(page):
    namespace = {"__name__": "documentation"}
    for number, code in enumerate(blocks(page, "python"), 1):
        exec(compile(code, f"{page.name}, block {number}", "exec", dont_inherit=True), namespace)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page.name == "README.md" else pytest.mark.ci, id=page.name) for page in PAGES],
)
def test_files_and_commands_of_a_page_do_what_it_shows(page, ireval, folder_of_examples, engine):
    for language, title, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if title:
            file = folder_of_examples / title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        elif language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                line, _, shown = part.partition("\n")
                if line == "python engine.py &":
                    engine(shown)
                else:
                    check_command(line, shown, ireval)


def check_command(line, shown, ireval):
    """Run one command line; what it prints is what the page shows, or begins so, if the page ends in an ellipsis."""
    words = shlex.split(line)
    settings = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
    program, *arguments = words[len(settings) :]
    assert program in ("ireval", "pytest")
    if arguments[:1] == ["judge"] and "--with" not in arguments:
        printed = run_judge(arguments, len(shown.splitlines()))
        pytest.LineMatcher(printed).fnmatch_lines([line.replace("…", "*") for line in shown.splitlines()])
        return
    if program == "pytest":
        printed = run_process(["pytest", "-p", "no:cacheprovider", *arguments], settings)
    elif arguments == ["demo"]:  # it starts pytest, whose output is not that of this process
        printed = run_process(["pytest_ireval", "demo"], {"TMPDIR": str(Path.cwd())})
    else:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(name, value)
            printed = ireval(*arguments).out
    if program == "pytest" or "\n…\n" in f"\n{shown}":
        wanted = [line.replace("[", "[[]").replace("…", "*") for line in shown.splitlines() if line != "…"]
        pytest.LineMatcher(printed.splitlines()).fnmatch_lines(wanted)
    elif shown.rstrip().endswith("…"):
        assert printed.startswith(shown.rstrip()[:-1])
    else:
        assert printed == shown


def run_judge(arguments, lines):
    """The first lines of a command that serves a page; it is ended then."""
    command = [sys.executable, "-m", "pytest_ireval", *arguments, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        printed = [running.stdout.readline().rstrip("\n") for _ in range(lines)]
        running.kill()
    return printed


def run_process(arguments, settings):
    command = [sys.executable, "-m", *arguments]
    environment = {**os.environ, **settings, "COLUMNS": "80"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout


@each_page
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_package_on_the_page_about_plugins_is_the_example():
    example = ROOT / "examples" / "third_party_metrics" / "pyproject.toml"

    assert blocks(ROOT / "docs" / "plugins.md", "toml") == [example.read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", ["metrics", "suites"])
def test_a_page_that_is_written_from_the_code_is_what_the_code_says(name):
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")

    assert text == load_script(f"{name}_page").page(), f"run docs/{name}_page.py"


def load_script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class OptionsOfPytest:
    """Stands for pytest's parser, and remembers what the plugin adds to it."""

    def __init__(self):
        self.names = []

    def getgroup(self, *_):
        return self

    def addoption(self, *names, **_):
        self.names += names

    def addini(self, name, *_, **__):
        self.names.append(name)


def test_pages_name_each_command_option_hook_and_need():
    options = OptionsOfPytest()
    plugin.pytest_addoption(options)
    group = click.Context(commands)
    listed = [*COMMANDS, *find_commands().by_name]
    names = {*options.names, *listed, *NEEDS, *(name for name in vars(hookspecs) if name.startswith("ireval_"))}
    for command in listed:
        names |= {name for each in commands.get_command(group, command).params for name in each.opts if "--" in name}
    pages = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)

    assert len(names) > 100
    assert sorted(name for name in names if not re.search(rf"(?<![\w-]){name}(?![\w-])", pages)) == []
