"""What can be known to be wrong with a user's folder of templates before any page is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import jinja2
from jinja2 import meta, nodes

from pytest_ireval.errors import Problem, ReportError, did_you_mean
from pytest_ireval.reports.template_errors import problem_of
from pytest_ireval.reports.templates import EXTRA, shown, text_in

OF_OTHER_PAGES = ("evaluation.html.jinja",)
"""Of ``ireval evaluate``, which knows no folder of templates."""
SUFFIX = ".jinja"


def check(folder: Path, environment: jinja2.Environment, ours: Path) -> None:
    """Raise ReportError with everything that is wrong: a misspelt name would else be passed over in silence."""
    if not folder.is_dir():
        raise ReportError(Problem("there is no such folder of templates", shown(folder)))
    named = [*_files(ours, but=OF_OTHER_PAGES), *EXTRA]
    files = _files(folder)
    used, problems, dynamic = _used(folder, files, named, environment)
    problems += [] if dynamic else [_unused(folder, each, named) for each in files if each not in used]
    if problems:
        raise ReportError(*problems)


def _files(folder: Path, but: Iterable[str] = ()) -> list[str]:
    """Names below a folder; notes, hidden files and what editors leave are none of our business."""
    paths = [path for path in sorted(folder.rglob("*")) if not path.is_dir()]
    names = [path.relative_to(folder).as_posix() for path in paths]
    return [n for n in names if n not in but and not f"/{n}".count("/.") and not n.endswith((".md", "~"))]


def _used(
    folder: Path, files: Iterable[str], named: Iterable[str], environment: jinja2.Environment
) -> tuple[set[str], list[Problem], bool]:
    """The files that take part, what is wrong with them, and whether a name is computed: then any may take part."""
    waiting = [each for each in files if each in set(named)]
    used, problems, dynamic = set(waiting), list[Problem](), False
    while waiting:
        name = waiting.pop(0)
        try:
            text = text_in(folder / name)
            tree = _tree(text if name.endswith(SUFFIX) else "", name, folder / name, environment)
        except ReportError as error:
            problems.extend(error.problems)
            continue
        except jinja2.TemplateSyntaxError as error:
            problems.append(problem_of(error, {folder: shown(folder)}))
            continue
        problems += _unknown_blocks(tree, f"{shown(folder)}/{name}", environment)
        wanted = set(meta.find_referenced_templates(tree))
        dynamic = dynamic or None in wanted
        found = {each for each in files if each in wanted and each not in used}
        waiting += sorted(found)
        used |= found
    return used, problems, dynamic


def _tree(text: str, name: str, path: Path, environment: jinja2.Environment) -> nodes.Template:
    """What stands in a template; raises TemplateSyntaxError, for an unknown filter as well."""
    environment.compile(text, name, str(path))
    return environment.parse(text, name, str(path))


def _unused(folder: Path, name: str, named: Iterable[str]) -> Problem:
    complaint = "takes no part: no template of the report is called so, and none of yours includes it"
    allowed = f"the report has: {', '.join(named)}"
    return Problem(complaint, f"{shown(folder)}/{name}", suggestion=did_you_mean(name, named), allowed=allowed)


def _unknown_blocks(tree: nodes.Template, place: str, environment: jinja2.Environment) -> Iterator[Problem]:
    """Blocks that the extended template does not have; Jinja passes over them."""
    known = _blocks_above(tree, environment)
    if known is None:
        return
    for block in tree.body:
        if isinstance(block, nodes.Block) and block.name not in known:
            yield Problem(
                f"the template that it extends has no block {block.name!r}",
                f"{place}:{block.lineno}",
                suggestion=did_you_mean(block.name, known),
                allowed=f"it has: {', '.join(sorted(known))}",
            )


def _blocks_above(tree: nodes.Template, environment: jinja2.Environment) -> set[str] | None:
    """The blocks of all templates that one extends; None where it extends none, or that cannot be told."""
    found: set[str] = set()
    seen: set[str] = set()
    while (extends := tree.find(nodes.Extends)) is not None:
        parent = extends.template
        if not isinstance(parent, nodes.Const) or parent.value in seen:
            return None
        seen.add(parent.value)
        assert environment.loader is not None  # noqa: S101 - every environment of ours has one
        try:
            tree = environment.parse(environment.loader.get_source(environment, parent.value)[0])
        except jinja2.TemplateError:
            return None  # told where it is drawn, or by the check of that file
        found |= {block.name for block in tree.find_all(nodes.Block)}
    return found if seen else None
