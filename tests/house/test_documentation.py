"""Documentation is true: its code runs, its commands print what it shows, and nothing is left out."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

import pytest_ireval
from pytest_ireval import Request, evaluate, load_registry, metric, per_query_metric
from pytest_ireval.cli import COMMANDS, commands
from pytest_ireval.cli.compare_command import command as compare_command
from pytest_ireval.cli.evaluate_command import command as evaluate_command
from pytest_ireval.cli.report_command import command as report_command
from pytest_ireval.cli.self_test_command import command as self_test_command
from pytest_ireval.cli.why_command import command as why_command
from pytest_ireval.intake.linting import CHECKS
from pytest_ireval.metrics.metric import NEEDS, Metric
from pytest_ireval.plugins import hookspecs
from pytest_ireval.sources.live_options import LiveOptions
from pytest_ireval.testing import promises, seen_from

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
"""Language, the file it is, and its text."""

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="needs a checkout of the project")
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page, language):
    return [code for found, _, code in BLOCK.findall(page.read_text(encoding="utf-8")) if found == language]


@pytest.fixture
def beside_the_examples(monkeypatch, tmp_path_factory):
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
@pytest.mark.usefixtures("beside_the_examples")
def test_python_blocks_of_a_page_run_one_after_the_other(page):
    namespace = {"__name__": "documentation"}
    for number, code in enumerate(blocks(page, "python"), 1):
        exec(compile(code, f"{page.name}, block {number}", "exec", dont_inherit=True), namespace)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page.name == "README.md" else pytest.mark.ci, id=page.name) for page in PAGES],
)
def test_files_and_commands_of_a_page_do_what_it_shows(page, ireval, beside_the_examples, engine):
    for language, title, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if title:
            file = beside_the_examples / title
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
        printed = printed_by_judge(arguments, len(shown.splitlines()))
        pytest.LineMatcher(printed).fnmatch_lines([line.replace("…", "*") for line in shown.splitlines()])
        return
    if program == "pytest":
        printed = printed_by_pytest(arguments, settings)
    else:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(name, value)
            printed = ireval(*arguments).out
    if program == "pytest" or "\n…\n" in shown:
        wanted = [line.replace("[", "[[]").replace("…", "*") for line in shown.splitlines() if line != "…"]
        pytest.LineMatcher(printed.splitlines()).fnmatch_lines(wanted)
    elif shown.rstrip().endswith("…"):
        assert printed.startswith(shown.rstrip()[:-1])
    else:
        assert printed == shown


def printed_by_judge(arguments, lines):
    """The first lines of a command that serves a page; it is ended then."""
    command = [sys.executable, "-m", "pytest_ireval", *arguments, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        printed = [running.stdout.readline().rstrip("\n") for _ in range(lines)]
        running.kill()
    return printed


def printed_by_pytest(arguments, settings):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, **settings, "COLUMNS": "80"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout


@each_page
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_option_of_the_gate_is_in_the_table_of_options():
    page = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    table = page.partition("## Options\n")[2].partition("\n## ")[0]
    plugin = (Path(pytest_ireval.__file__).parent / "pytest_adapter/plugin.py").read_text(encoding="utf-8")
    options = re.findall(r'add(?:option|ini)\(\s*"([^"]+)"', plugin)

    assert len(options) > 10
    assert [name for name in options if not re.search(rf"`{name}[` ]", table)] == []


def test_the_package_on_the_page_about_plugins_is_the_example():
    example = ROOT / "examples" / "third_party_metrics" / "pyproject.toml"

    assert blocks(ROOT / "docs" / "plugins.md", "toml") == [example.read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", ["metrics", "coming_from", "plugins"])
def test_a_page_that_is_written_from_the_code_is_what_the_code_says(name):
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")

    assert text == module_of(f"{name}_page").page(), f"run docs/{name}_page.py"


def module_of(script):
    spec = importlib.util.spec_from_file_location(script, ROOT / "docs" / f"{script}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_arrays_have_the_numbers_and_the_shapes_of_the_page_about_plugins():
    """Of three queries; sizes that differ from each other would show a shape that is mixed up."""
    grades = {"q1": {"a": {"s": 1}, "b": {"s": 2, "t": 1}}, "q2": {"c": {"t": 1}}, "q3": {"d": {"s": 1}}}
    rankings = {"q1": ["b", "x", "a", "y"], "q2": ["c", "z"], "q3": []}
    seen = {}

    @metric(name="Looks", needs=("documents", "subtopics", "sessions", "timings", "reference", "unretrieved"))
    def looks(judged):
        """Looks at everything."""
        seen["judged"] = judged
        return np.zeros(judged.count)

    @per_query_metric(name="LooksAtOne", needs=("documents", "scores", "ties"))
    def looks_at_one(ranking, *, cutoff: int):
        """Looks at one ranking."""
        seen.setdefault("ranking", ranking)
        return 0.0

    more = {"sessions": {q: ("s", i) for i, q in enumerate(grades, 1)}, "timings": dict.fromkeys(grades, 1.0)}
    evaluate(grades, rankings, [looks, looks_at_one @ 3], reference=rankings, **more)
    before = {query: ids[::-1] for query, ids in rankings.items()}
    seen["seen"] = seen_from({q: dict.fromkeys(d, 1) for q, d in grades.items()}, rankings, before, metric="P@2")
    sizes = {"queries": 3, "queries + 1": 4, "hits": 3, "documents": 6, "judged documents": 4, "cutoff": 2, "places": 3}
    sizes |= {"judgments of a subtopic": 5, "judged documents of the query": 2, "retrieved": 4, "queries that count": 3}
    sizes |= {"queries of the slice on both sides": 3, "unretrieved documents": 1}
    page, checked = module_of("plugins_page"), 0
    for name in ("judged", "ranking", "seen"):
        rows = [row for prefix, kind in page.TABLES[name].items() for row in page.rows_of(prefix, kind) if row.array]
        for row in rows:
            if row.name.startswith(("seen.now.", "seen.population.", "seen.unjudged")) or row.array == "any":
                continue
            call = {"(cutoff)": "(2)", "(rel)": "(1)", "(values, where)": "(judged.hits.grade)"}.get(row.call, row.call)
            array = eval(row.name + call.replace("(values)", "(judged.hits.grade)"), {}, seen)
            wanted = tuple(sizes[size] for size in row.shape.split(", "))
            assert (row.name, str(array.dtype), array.shape) == (row.name, row.array, wanted)
            checked += 1
    assert checked > 40


@pytest.mark.parametrize("name", sorted(load_registry().metrics))
def test_every_metric_is_on_the_page(name):
    assert f"\n## {name}\n" in (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("option", [o for p in evaluate_command.params for o in p.opts if o.startswith("--")])
def test_every_option_of_evaluate_is_documented(option):
    text = (ROOT / "docs" / "evaluating.md").read_text(encoding="utf-8")

    assert option in text or option == "--metric"


@pytest.mark.parametrize("option", [o for p in compare_command.params for o in p.opts if o.startswith("--")])
def test_every_option_of_compare_is_documented(option):
    text = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")

    assert option in text or option == "--metric"


@pytest.mark.parametrize(
    ("page", "name", "option"),
    [
        ("clicks" if name == "clicks" else "judgments", name, option)
        for name in ("clicks", "pool", "agreement", "collection")
        for parameter in commands.get_command(click.Context(commands), name).params
        for option in parameter.opts
        if option.startswith("--") and option != "--metric"
    ],
)
def test_every_option_of_commands_about_judgments_is_documented(page, name, option):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert f"{option}`" in text or f"{option} " in text


@pytest.mark.parametrize("option", [o for p in why_command.params for o in p.opts if o.startswith("--")])
def test_every_option_of_why_is_documented(option):
    assert f"`{option}`" in (ROOT / "docs" / "why.md").read_text(encoding="utf-8") or option == "--format"


@pytest.mark.parametrize("option", [o for p in self_test_command.params for o in p.opts if o[:2] == "--"])
def test_every_option_of_rehearsals_is_documented(option):
    assert f"| `{option} " in (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("option", [o for p in report_command.params for o in p.opts if o.startswith("--")])
def test_every_option_of_report_is_documented(option):
    page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    assert any(f"`{option}{end}" in page for end in (" ", "`"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_and_exists(name):
    assert isinstance(commands.get_command(click.Context(commands), name), click.Command)
    assert any(f"ireval {name}" in page.read_text(encoding="utf-8") for page in PAGES)


@pytest.mark.parametrize("reader", load_registry().readers, ids=lambda reader: f"{reader.name}, {reader.holds}")
def test_every_format_is_documented(reader):
    (row,) = re.findall(rf"^\| `{reader.name}` \| (.*) \|$", (ROOT / "docs" / "formats.md").read_text("utf-8"), re.M)[
        :1
    ]

    assert reader.holds in row


@pytest.mark.parametrize(
    ("kind", "option"),
    [
        (kind.name, option)
        for kind in load_registry().sources.values()
        for option in kind.options.model_fields
        if kind.fetch.__module__.startswith("pytest_ireval.")
    ],
)
def test_every_option_of_a_source_is_documented(kind, option):
    page = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    _, _, section = page.partition(f"\n## {kind.replace('opensearch', 'elasticsearch')}: ")
    own, _, _ = section.partition("\n## ")
    of_live = (
        page.partition("\n## Live systems\n")[2].partition("\n## ")[0] if option in LiveOptions.model_fields else ""
    )

    documented = f"| `{option}` |" in own + of_live or f"`{option}` in place of" in own
    assert documented or (option == "repeat" and "takes `repeat`" in section)


@pytest.mark.parametrize("field", Request.__dataclass_fields__)
def test_everything_that_a_source_is_told_is_documented(field):
    assert f"| `request.{field}` |" in (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_of_lint_is_documented(check):
    assert f"| `{check}` | {CHECKS[check]} |" in (ROOT / "docs" / "formats.md").read_text("utf-8")


HOOKS = [name for name in vars(hookspecs) if name.startswith("ireval_")]


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_is_documented(name):
    assert f"`{name}`" in (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    docstring = getattr(hookspecs, name).__doc__
    assert "Return" in docstring
    assert "Called" in docstring
    assert "Since" in docstring


@pytest.mark.parametrize(
    ("name", "says"), [each for of in ("metric", "rule", "source", "reader") for each in promises(of)]
)
def test_every_promise_is_documented(name, says):
    assert re.search(rf"\| `{name}` \*? ?\| {says} \|", (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("need", NEEDS)
def test_every_need_is_documented(need):
    assert f"| `{need}` |" in (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "field", [f for f in Metric.__dataclass_fields__ if f not in ("batch", "parameters", "origin", "arguments")]
)
def test_every_field_of_a_metric_is_documented(field):
    assert f"`{field}`" in (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")


def test_every_dependency_is_explained():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"^dependencies = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)[1]
    explained = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")

    assert [name for name in re.findall(r'"([a-z0-9-]+)', listed) if f"| {name} |" not in explained] == []


class Options:
    """Stands for pytest's parser, and remembers what the plugin adds to it."""

    def __init__(self):
        self.names = []

    def getgroup(self, *_):
        return self

    def addoption(self, name, **_):
        self.names.append(name)

    def addini(self, name, *_, **__):
        self.names.append(name)


def options_of_pytest():
    from pytest_ireval.pytest_adapter.plugin import pytest_addoption

    found = Options()
    pytest_addoption(found)
    return found.names


@pytest.mark.parametrize("option", options_of_pytest())
def test_every_option_of_pytest_is_documented(option):
    pages = [(ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("gate", "baselines")]

    assert any(option in page for page in pages)


@pytest.mark.parametrize("kind", sorted(load_registry().rules))
def test_every_kind_of_rule_is_explained(kind):
    assert f"**`{kind}`**" in (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")


def test_every_page_belongs_to_one_group_of_the_readme():
    more = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## More\n")[2]
    pages = re.findall(r"\]\(docs/(\w+\.md)\)", more)

    assert re.findall(r"^### (.*)", more, re.MULTILINE) == ["Start", "How to", "Reference", "Background"]
    assert sorted([*pages, "index.md"]) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))
