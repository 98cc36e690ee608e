"""What stands for something else in the texts of a suite: ``${NAME}`` of the environment, ``{name}`` of a matrix."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pytest_ireval.errors import Problem, closest, shown
from pytest_ireval.secrets import keep
from pytest_ireval.suites.scalars import Items, Keys, Scalar, put

VARIABLE = re.compile(r"\$(?:(?P<escaped>\$)|\{(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}|(?P<other>\{))")
PLACEHOLDER = re.compile(r"(?<!\$)(?:\{\{(?P<literal>[A-Za-z_]\w*)\}\}|\{(?P<name>[A-Za-z_]\w*)\})")
OF_THEIR_OWN = ("source", "against")
"""Below these keys kinds may have placeholders of their own."""
NO_SECRETS = ("run", "python", "format", "queries_format", "folder", "timeout", "repeat")
"""Options of sources that name files, code and the like."""


def with_environment(tree: Keys, environment: Mapping[str, str], problems: list[Problem]) -> Keys:
    """The tree with the values of variables; one that is not set is a problem at its place."""

    def filled(text: Scalar, path: tuple[str, ...]) -> str:
        if "$" not in text:
            return text

        def value(match: re.Match[str]) -> str:
            if match["escaped"]:
                return "$"
            if match["other"]:
                problems.append(
                    Problem("is no variable", str(text.place), path, "write ${NAME} or ${NAME:-default}; $$ is a $")
                )
                return match.group()
            found = environment.get(match["name"])
            if found and _may_be_secret(path):
                keep(match["name"], found)
            if match["default"] is not None:
                return found or match["default"]
            if found is None:
                problems.append(_not_set(match["name"], text, path, environment))
            return match.group() if found is None else found

        return VARIABLE.sub(value, text)

    made: Keys = _mapped(tree, filled, ())
    return made


def _may_be_secret(path: tuple[str, ...]) -> bool:
    """Whether what stands there is handed on to a program or a service: an argument, a header, an address."""
    below = next((path[number + 1 :] for number, key in enumerate(path) if key in OF_THEIR_OWN), ())
    return bool(below) and below[0] not in NO_SECRETS and below != ("command", "1")


def _not_set(name: str, text: Scalar, path: tuple[str, ...], environment: Mapping[str, str]) -> Problem:
    meant = closest(name, environment, closeness=0.7)
    return Problem(
        f"the environment variable {name} is not set",
        str(text.place),
        path,
        f"did you mean {meant}?" if meant else "",
        f"${{{name}:-default}} gives it a value for when it is not; $${{{name}}} is the text itself",
    )


def with_values(tree: Any, values: Mapping[str, str], problems: list[Problem], path: tuple[str, ...] = ()) -> Any:
    """The tree with the values of a matrix; ``{{name}}`` is the text ``{name}``. ``path`` leads to it."""

    def filled(text: Scalar, path: tuple[str, ...]) -> str:
        if "{" not in text:
            return text
        own = any(key in OF_THEIR_OWN for key in path)

        def value(match: re.Match[str]) -> str:
            if match["literal"]:
                return f"{{{match['literal']}}}"
            name = match["name"]
            if name in values:
                return values[name]
            meant = closest(name, values)
            if meant or not own:
                suggestion = f"did you mean {{{meant}}}?" if meant else f"{{{{{name}}}}} is the text itself"
                allowed = "of the matrix: " + ", ".join(f"{{{each}}}" for each in values)
                complaint = f"{shown(match.group())} is nothing of the matrix"
                problems.append(Problem(complaint, str(text.place), path, suggestion, allowed))
            return match.group()

        return PLACEHOLDER.sub(value, text)

    return _mapped(tree, filled, path)


def _mapped(value: Any, change: Callable[[Scalar, tuple[str, ...]], str], path: tuple[str, ...]) -> Any:
    """The tree with its texts changed; what does not change is not copied."""
    if isinstance(value, Scalar):
        text = change(value, path)
        return value if text is value else put(Scalar(text), value.file, value.line, value.column)
    if isinstance(value, Keys):
        made = {key: _mapped(each, change, (*path, str(key))) for key, each in value.items()}
        same = all(made[key] is each for key, each in value.items())
        return value if same else put(Keys(made), value.file, value.line, value.column)
    items = [_mapped(each, change, (*path, str(number))) for number, each in enumerate(value, 1)]
    same = all(new is old for new, old in zip(items, value, strict=True))
    return value if same else put(Items(items), value.file, value.line, value.column)
