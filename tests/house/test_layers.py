"""Imports point one way: a module uses only its own layer and lower ones, and only the third parties allowed there."""

import ast
import re
import sys
from pathlib import Path

import pytest

import pytest_ireval
import pytest_ireval_metrics
from pytest_ireval.plugins import hookspecs

PACKAGE = Path(pytest_ireval.__file__).parent
BUILT_IN = Path(pytest_ireval_metrics.__file__).parent

LAYERS = [
    ({"errors", "results", "progress", "secrets", "text_table"}, set()),
    ({"retrieval"}, {"numpy", "zstandard", "isal", "pyarrow", "fsspec"}),
    ({"metrics"}, {"numpy"}),
    ({"plugins"}, {"pluggy"}),
    ({"statistics"}, {"numpy"}),
    ({"repositories"}, set()),
    ({"baselines", "history"}, {"numpy", "zstandard", "fsspec", "sqlalchemy"}),
    ({"suites", "options"}, {"pydantic", "yaml"}),
    ({"sources"}, {"numpy", "pydantic", "jmespath", "sqlalchemy"}),
    ({"judging"}, {"numpy"}),
    ({"intake"}, {"numpy"}),
    ({"evaluating"}, {"numpy", "dask", "distributed"}),
    ({"comparing", "explaining"}, {"numpy"}),
    ({"rules"}, {"numpy", "pydantic"}),
    ({"gate"}, {"numpy"}),
    ({"meta"}, {"numpy"}),
    ({"reports"}, {"jinja2", "markupsafe"}),
    ({"pytest_adapter"}, {"pytest"}),
    ({"testing"}, {"pytest", "numpy"}),
    ({"cli", "__main__"}, {"click"}),
    ({"notebooks"}, set()),
]
"""The faces share the last number in the plan; here each has its own, and none imports one above it."""

STRANGERS = [{"comparing", "explaining"}]
"""Rooms of one layer that know nothing of each other."""

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")

each_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())


def layer_of(name):
    return next(number for number, (rooms, _) in enumerate(LAYERS) if name in rooms)


def room_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports_of(path):
    """Full names of what a module imports, those under TYPE_CHECKING marked."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {id(node) for block in ast.walk(tree) if is_type_checking(block) for node in ast.walk(block)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            yield from ((f"{node.module}.{alias.name}", id(node) in for_types) for alias in node.names)


def is_type_checking(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@each_module
def test_a_module_imports_no_higher_layer(path):
    own = layer_of(room_of(path))
    hooks = path.relative_to(PACKAGE).as_posix() in ("plugins/hookspecs.py", "plugins/kinds.py")
    higher = [
        name
        for name, for_types in imports_of(path)
        if name.startswith("pytest_ireval.") and layer_of(name.split(".")[1]) > own and not (hooks and for_types)
    ]

    assert higher == []


@each_module
def test_a_module_imports_nothing_of_a_room_that_is_none_of_its_business(path):
    room = room_of(path)
    others = {other for rooms in STRANGERS if room in rooms for other in rooms - {room}}

    assert [name for name, _ in imports_of(path) if name.split(".")[1:2] and name.split(".")[1] in others] == []


def test_what_only_reads_is_below_what_evaluates_and_that_below_what_compares_and_explains():
    rooms = ("intake", "evaluating", "comparing", "explaining")

    assert [layer_of(room) - layer_of("intake") for room in rooms] == [0, 1, 2, 2]


REPORTS = [path for path in MODULES if room_of(path) == "reports"]


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.name)
def test_reports_read_plain_results_only(path):
    used = {name.split(".")[1] for name, _ in imports_of(path) if name.startswith("pytest_ireval.")}

    assert used <= {"reports", *LAYERS[0][0]}


@each_module
def test_a_module_imports_only_the_third_parties_of_its_layer(path):
    allowed = LAYERS[layer_of(room_of(path))][1]
    third_parties = {
        name.split(".")[0]
        for name, for_types in imports_of(path)
        if name.split(".")[0] not in sys.stdlib_module_names | {"pytest_ireval"} and not for_types
    }

    assert third_parties <= allowed


def test_built_in_metrics_use_only_what_is_public():
    private = [
        f"{path.name}: {name}"
        for path in BUILT_IN.rglob("*.py")
        for name, _ in imports_of(path)
        if name.startswith("pytest_ireval.") and name.count(".") > 1
    ]
    public = {
        name.split(".")[1]
        for path in BUILT_IN.rglob("*.py")
        for name, _ in imports_of(path)
        if name.startswith("pytest_ireval.")
    }

    assert private == []
    assert public <= set(pytest_ireval.__all__)


def test_every_type_that_a_hook_names_is_public():
    hooks = (hook for name, hook in vars(hookspecs).items() if name.startswith("ireval_"))
    named = {word for hook in hooks for text in hook.__annotations__.values() for word in re.findall(r"[A-Z]\w+", text)}

    assert {"Metric", "RunResult", "SuiteResult"} <= named
    assert named - set(pytest_ireval.__all__) == {"Iterable", "None", "Path"}


def test_every_public_name_can_be_imported():
    assert all(getattr(pytest_ireval, name) is not None for name in pytest_ireval.__all__)


@pytest.mark.parametrize("path", [*MODULES, *BUILT_IN.rglob("*.py")], ids=lambda path: path.name)
def test_a_file_answers_one_question_in_at_most_500_lines(path):
    text = path.read_text(encoding="utf-8")

    assert len(text.splitlines()) <= 500
    assert ast.get_docstring(ast.parse(text))
    assert path.stem not in {"utils", "helpers", "common", "base", "misc", "core"}
