"""Draws ``architecture.md`` from the code: the rooms in their layers, what each answers, and what each uses."""

from __future__ import annotations

import ast
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "pytest_ireval"
METRICS = HERE.parent / "metrics_plugins" / "pytest_ireval_metrics"
FACE = "pytest_ireval"
HEAD = """\
<!-- Written by architecture_page.py from the code. -->

# The house

Each folder is a room. A room imports only from rooms below it, and no file imports itself by way of others. The first
sentence of a file says which question it answers. Tests check all of this; after a change, run
`python docs/architecture_page.py`.

A run of `pytest --ireval suites/` takes this way: `pytest_adapter` finds the suites, `suites` reads them, `gate/run.py`
gathers queries, judgments and rankings (`sources`, `retrieval`), scores them (`evaluating`, `metrics`), reads the
baseline (`baselines`), and asks every rule (`rules`). The result is plain data (`results`), and `reports` draws it.

"""
TAIL = """

An arrow is an import; one that others imply is left out. Below, the rooms stand from the faces down to the ground.
"""


def room_of(path: Path) -> str:
    """The folder of a file; the name of a file that stands alone."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def sentence(path: Path) -> str:
    """The first sentence of a file's docstring."""
    first = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
    return " ".join(first.replace("``", "`").replace("|", "\\|").split())


def used_rooms(path: Path) -> set[str]:
    """Other rooms that a file needs when it runs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    modules = {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in for_types
    }
    return {module.split(".")[1] for module in modules if module.startswith(f"{FACE}.")} - {room_of(path)}


def floors(uses: dict[str, set[str]]) -> list[list[str]]:
    """The rooms in layers: each uses only rooms of earlier layers."""
    left, found = dict(uses), list[list[str]]()
    while left:
        done = {room for layer in found for room in layer}
        layer = sorted(room for room, used in left.items() if used <= done)
        if not layer:
            raise ValueError(f"these rooms use each other: {', '.join(sorted(left))}")
        found.append(layer)
        left = {room: used for room, used in left.items() if room not in layer}
    return found


def straight(room: str, uses: dict[str, set[str]]) -> list[str]:
    """The rooms that a room uses, but for those that it also reaches by way of another."""
    reached = {deeper for used in uses[room] for deeper in _below(used, uses)}
    return sorted(uses[room] - reached)


def _below(room: str, uses: dict[str, set[str]]) -> set[str]:
    return {deeper for used in uses[room] for deeper in {used} | _below(used, uses)}


def page() -> str:
    """The page as it should be now."""
    files = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]
    uses: dict[str, set[str]] = {}
    for path in files:
        uses.setdefault(room_of(path), set()).update(used_rooms(path))
    for used in uses.values():
        used &= set(uses)
    layers = floors(uses)
    drawing = ["```mermaid", "graph TD"]
    drawing += [f"  {room} --> {used}" for layer in reversed(layers) for room in layer for used in straight(room, uses)]
    parts = [HEAD, "\n".join([*drawing, "```"]), TAIL]
    for layer in reversed(layers):
        for room in layer:
            folder = PACKAGE / room
            inside = [path for path in files if room_of(path) == room]
            door, alone = folder / "__init__.py", folder.with_suffix(".py")
            plate = sentence(door if door.is_file() else alone)
            parts.append(f"\n## {room}\n\n{plate}\n")
            if door.is_file():
                rows = [
                    f"| `{path.relative_to(folder).as_posix()}` | {sentence(path)} |"
                    for path in inside
                    if path.name != "__init__.py"
                ]
                parts.append("\n".join(["", "| file | |", "| --- | --- |", *rows, ""]))
    rows = [f"| `{path.name}` | {sentence(path)} |" for path in sorted(METRICS.glob("*.py")) if path.stem != "__init__"]
    parts.append(f"\n## The built-in metrics\n\n{sentence(METRICS / '__init__.py')}\n")
    parts.append("\n".join(["", "| file | |", "| --- | --- |", *rows, ""]))
    return "".join(parts)


if __name__ == "__main__":
    (HERE / "architecture.md").write_text(page(), encoding="utf-8")
