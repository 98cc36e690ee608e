"""The grain of the house: few rooms, narrow doors, no circles. The bounds only ever go down.

``pytest tests/house/test_grain.py -rP -n0`` prints the table.
"""

import ast
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import pytest_ireval
import pytest_ireval_metrics

PACKAGES = (Path(pytest_ireval.__file__).parent, Path(pytest_ireval_metrics.__file__).parent)
MOST = {
    "lines": 71_990,
    "modules": 276,
    "modules with one importer": 42,
    "names with one caller, in percent": 50,
    "public names defined twice": 14,
}


def module_name(path, package):
    parts = (package.name, *path.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path, package): path for package in PACKAGES for path in package.rglob("*.py")}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in SOURCES.items()}


def imports(tree):
    """What a module imports from ours when it runs, and for types."""
    types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in SOURCES:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield (whole, "") if whole in SOURCES else (node.module, alias.name), id(node) in types


class House:
    def __init__(self):
        self.importers, self.callers, self.edges = defaultdict(set), defaultdict(set), defaultdict(set)
        for module, tree in TREES.items():
            for (other, name), for_types in imports(tree):
                self.importers[other].add(module)
                if name:
                    self.callers[other, name].add(module)
                if not for_types:
                    self.edges[module].add(other)

    def circle(self, start):
        """Modules on a way from ``start`` back to it."""
        seen, ways = set(), [(start,)]
        while ways:
            way = ways.pop()
            for other in self.edges[way[-1]]:
                if other == start:
                    return way
                if other not in seen:
                    seen.add(other)
                    ways.append((*way, other))
        return ()

    def grain(self):
        defined = Counter(
            node.name
            for tree in TREES.values()
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
        )
        alone = sum(len(modules) == 1 for modules in self.callers.values())
        return {
            "lines": sum(path.read_text(encoding="utf-8").count("\n") for path in SOURCES.values()),
            "modules": len(SOURCES),
            "modules with one importer": sum(len(self.importers[module]) == 1 for module in SOURCES),
            "names with one caller, in percent": round(100 * alone / len(self.callers)),
            "public names defined twice": sum(count > 1 for count in defined.values()),
        }


HOUSE = House()


@pytest.mark.parametrize("what", MOST)
def test_the_house_does_not_grow_finer(what):
    found = HOUSE.grain()[what]
    print(f"{what}: {found} (at most {MOST[what]})")

    assert found <= MOST[what]


def test_no_module_imports_itself_by_way_of_others():
    circles = [way for module in sorted(SOURCES) if module != "pytest_ireval" and (way := HOUSE.circle(module))]

    assert circles == []


TOUCHED = """\
import sys
import pytest_ireval
def work():
    {code}
work()  # the first time, modules are imported and built-in names are registered: another test lists these modules
calls = set()
sys.setprofile(lambda frame, event, argument: calls.add(frame.f_code.co_filename) if event == "call" else None)
work()
sys.setprofile(None)
print("touched:", len({{name for name in calls if "pytest_ireval" in name}}))
"""
EVALUATE = "assert pytest_ireval.evaluate({'q': {'a': 1}}, {'q': ['a']}, ['AP'])['AP'].value == 1"
GATE = "suite = pytest_ireval.load_suite('shop.ireval.yaml'); assert pytest_ireval.run_gate(suite).verdict == 'pass'"
SUITE = """\
ireval: 1
suite: shop
source: {run: rankings.txt}
judgments: judgments.txt
rules:
  - threshold: {AP: ">= 0.5"}
"""


@pytest.mark.parametrize(("code", "most"), [(EVALUATE, 20), (GATE, 74)], ids=["evaluate", "run_gate"])
def test_few_files_take_part(tmp_path, code, most):
    (tmp_path / "shop.ireval.yaml").write_text(SUITE)
    (tmp_path / "judgments.txt").write_text("q 0 a 1\n")
    (tmp_path / "rankings.txt").write_text("q Q0 a 1 1 x\n")
    command = [sys.executable, "-c", TOUCHED.format(code=code)]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    print(done.stdout.splitlines()[-1])

    assert int(done.stdout.split()[-1]) <= most
