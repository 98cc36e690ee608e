"""Writes docs/troubleshooting.md from the errors in the code: ``python docs/troubleshooting_page.py``."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).with_name("troubleshooting.md")
BY_HAND = Path(__file__).with_name("troubleshooting.md.in")
SOURCES = ("pytest_ireval", "metrics_plugins/pytest_ireval_metrics")
GROUPS = {
    "Options of pytest, and the run": ("pytest_adapter",),
    "Suites": ("suites",),
    "Files: queries, judgments, rankings": ("retrieval", "intake"),
    "Sources": ("sources",),
    "Baselines and git": ("baselines", "repositories"),
    "Rules and the gate": ("rules", "gate", "meta", "evaluating", "comparing", "explaining", "statistics"),
    "Metrics": ("metrics", "pytest_ireval_metrics"),
    "Plugins": ("plugins", "testing"),
    "The command ireval": ("cli",),
    "Results and reports": ("results", "reports"),
    "The history of runs": ("history",),
}
"""Where an error comes from, by the folder of its code; what is in none of them stands in the last group."""
OTHERS = "Elsewhere"
TOLD = ("complaint", "place", "path", "suggestion", "allowed")
CARRIERS = {
    "Unfit": ("complaint", "suggestion"),
    "UnfitError": ("complaint", "suggestion"),
    "Damage": ("complaint",),
    "raised": ("complaint",),
    "problem_at": ("", "", "complaint", "suggestion", "allowed"),
}
"""What becomes a Problem later, and what is said of it in order."""
INTERNAL = ("ValueError", "TypeError", "KeyError", "AttributeError", "OSError")
"""Errors of those who call a function wrongly, not of users."""
SENTENCE = 3
"""Texts of fewer words are labels."""
UNTOLD = {"shown", "repr", "str", "near", "sorted", "tuple", "list", "len", "min", "max", "int", "float", "as_posix"}
WORDS = {"strerror": "reason of the system", "n": "number", "e": "error", "i": "number", "self": "it", "p": "name"}


class Told(NamedTuple):
    """One error as the code would say it."""

    complaint: str
    suggestion: str
    allowed: str
    file: str

    @property
    def group(self) -> str:
        """Where on the page it stands."""
        parts = Path(self.file).with_suffix("").parts
        return next((name for name, folders in GROUPS.items() if set(folders) & set(parts)), OTHERS)


def errors() -> list[Told]:
    """Every error that a user can get, in order; each complaint once."""
    found: dict[str, Told] = {}
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("*.py")):
            for told in errors_in(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()):
                known = found.get(told.complaint)
                if known is None or (told.suggestion and not known.suggestion):
                    found[told.complaint] = told
    return sorted(found.values(), key=lambda told: (told.complaint.lower().lstrip("<'\"`"), told.complaint))


def errors_in(text: str, file: str) -> Iterator[Told]:
    """The errors that one file makes."""
    tree = ast.parse(text)
    passing = _passing(tree)
    for scope in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Module)]:
        assigned = _assigned(scope)
        for call in [node for node in _own(scope) if isinstance(node, ast.Call)]:
            said = _said(call, passing)
            texts = {name: list(_texts(said[name], assigned)) if name in said else [""] for name in TOLD}
            raised = " raised <error>" if _called(call.func) == "raised" else ""
            for complaint in texts["complaint"] if "complaint" in said else ():
                if _says_something(complaint + raised):
                    yield Told(complaint + raised, _first(texts["suggestion"]), _first(texts["allowed"]), file)
    if "/pytest_adapter/" in file and not file.endswith("/plugin.py"):
        yield from (Told(text, "", "", file) for text in _sentences(tree))


def _sentences(tree: ast.Module) -> Iterator[str]:
    """What the run itself says, as plain texts: sentences that are neither a docstring nor part of an error."""
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    silent |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    called = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _said(node, {})]
    silent |= {id(part) for call in called for part in ast.walk(call)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        if isinstance(node, ast.expr) and is_text and id(node) not in silent:
            yield from (text for text in _texts(node, {}) if _is_sentence(text))


def _is_sentence(text: str) -> bool:
    bare = re.sub(r"<[^>]*>", "", text)
    silent = text.startswith(("#", "<!doctype"))
    return " " in bare.strip() and not silent and len(re.findall(r"[a-z]{2,}", bare)) >= SENTENCE


def _said(call: ast.Call, passing: Mapping[str, Sequence[str]]) -> dict[str, ast.expr]:
    """What an error is made of, by what it says; nothing for other calls."""
    name = _called(call.func)
    if name == "Ruling":
        is_error = len(call.args) > 1 and isinstance(call.args[0], ast.Constant) and call.args[0].value == "error"
        return {"complaint": call.args[1]} if is_error else {}
    told = {word.arg: word.value for word in call.keywords}
    if name == "replace" and "headline" in told and "verdict" in told:
        return {"complaint": told["headline"], **({"suggestion": told["sentence"]} if "sentence" in told else {})}
    order: Sequence[str] = ()
    if name == "Problem":
        order = TOLD
    elif name in CARRIERS:
        order = CARRIERS[name]
    elif name in passing:
        order = passing[name]
    elif name.endswith("Error") and name not in INTERNAL:
        order = ("complaint",)
    said = dict(zip(order, call.args, strict=False))
    said |= {word.arg: word.value for word in call.keywords if order and word.arg in TOLD}
    return {} if isinstance(said.get("complaint"), ast.Starred | ast.Call) else said


def _passing(tree: ast.Module) -> dict[str, Sequence[str]]:
    """Functions that hand what they are given to a Problem, and what each of their arguments becomes."""
    found: dict[str, Sequence[str]] = {}
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        names = [each.arg for each in function.args.args if each.arg not in ("self", "cls")]
        for call in [node for node in ast.walk(function) if isinstance(node, ast.Call)]:
            handed = {each.id: name for name, each in _said(call, {}).items() if isinstance(each, ast.Name)}
            order = [handed.get(name, "") for name in names]
            if "complaint" in order:
                found[function.name] = order
    return found


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function, and not in those within."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
            yield from _own(child)


def _assigned(scope: ast.AST) -> dict[str, list[ast.expr]]:
    """The texts that names stand for."""
    found: dict[str, list[ast.expr]] = {}
    for node in _own(scope):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found


def _texts(node: ast.expr, assigned: Mapping[str, Sequence[ast.expr]], depth: int = 0) -> Iterator[str]:
    """What an expression may say; a field of it is a word in angle brackets."""
    if isinstance(node, ast.Constant):
        yield _constant(node)
    elif isinstance(node, ast.JoinedStr):
        parts = [list(_texts(part, assigned, depth + 1)) for part in node.values]
        yield from map("".join, product(*parts))
    elif isinstance(node, ast.FormattedValue):
        yield f"<{_word(node.value)}>" if node.conversion != ord("r") else f"'<{_word(node.value)}>'"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from map("".join, product(_texts(node.left, assigned, depth), _texts(node.right, assigned, depth)))
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body, assigned, depth)
        yield from _texts(node.orelse, assigned, depth)
    elif isinstance(node, ast.Name) and node.id in assigned and depth == 0:
        for value in assigned[node.id]:
            yield from _texts(value, assigned, 1)
    else:
        yield f"<{_word(node)}>"


def _word(node: ast.expr) -> str:
    """What a field is about, from the names in the code."""
    if isinstance(node, ast.Name):
        return _plain(node.id)
    if isinstance(node, ast.Attribute):
        return _plain(node.attr)
    if isinstance(node, ast.Call):
        return _word_of_call(node)
    if isinstance(node, ast.Constant):
        return _constant(node)
    inner = next((each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)), None)
    return "…" if inner is None or isinstance(node, ast.IfExp) else _word(inner)


def _constant(node: ast.Constant) -> str:
    value = node.value
    return "" if isinstance(value, bytes) else str(value)


def _word_of_call(node: ast.Call) -> str:
    name = _called(node.func)
    if name == "counted" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
        return f"number of {_constant(node.args[1])}s"
    if name in ("join", "map", "next", "sorted") and node.args:
        return _word(node.args[-1])
    if name in UNTOLD and node.args:
        return _word(node.args[0])
    if isinstance(node.func, ast.Attribute) and name in ("strip", "lower", "group", "format", "as_posix", "decode"):
        return _word(node.func.value)
    return _plain(name)


def _plain(name: str) -> str:
    return WORDS.get(name, name.strip("_").replace("_", " ").lower() if not name.isupper() else name.lower())


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def _says_something(text: str) -> bool:
    """Whether there is more to it than its fields."""
    return len(re.findall(r"[a-z]{2,}", re.sub(r"<[^>]*>", "", text))) > 1


def _first(texts: Sequence[str]) -> str:
    return next((text for text in texts if text.strip()), "")


def remedies() -> Mapping[str, str]:
    """What to do about an error, by its complaint."""
    spec = importlib.util.spec_from_file_location("remedies", Path(__file__).with_name("troubleshooting_remedies.py"))
    if spec is None or spec.loader is None:
        raise FileNotFoundError("docs/troubleshooting_remedies.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Mapping[str, str] = module.REMEDIES
    return found


def page() -> str:
    """The text of the page."""
    told, known = errors(), remedies()
    lines = [line for group in (*GROUPS, OTHERS) for line in _section(group, told, known)]
    sources = "troubleshooting.md.in, troubleshooting_remedies.py, or the code"
    note = f"<!-- Written by docs/troubleshooting_page.py; edit {sources}. -->"
    return f"{note}\n{BY_HAND.read_text(encoding='utf-8')}\n" + "\n".join(lines) + "\n"


def _section(group: str, told: Sequence[Told], known: Mapping[str, str]) -> Iterator[str]:
    mine = [each for each in told if each.group == group]
    if not mine:
        return
    yield f"## {group}\n"
    for each in mine:
        yield f"* {_code(each.complaint)}"
        if each.complaint in known:
            yield f"  **What to do:** {known[each.complaint]}"
        for text in filter(None, (each.suggestion, each.allowed)):
            if _says_something(text):
                yield f"  It adds: {_code(text)}"
    yield ""


def _code(text: str) -> str:
    """On one line, as code, whatever marks it holds."""
    line = " ".join(text.split())
    return f"`` {line} ``" if "`" in line else f"`{line}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
