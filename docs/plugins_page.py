"""Writes the tables of fields in docs/plugins.md from the code: ``python docs/plugins_page.py``.

A table is between ``<!-- fields of NAME -->`` and ``<!-- end -->``. The rest of the page is written by hand.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from pytest_ireval import (
    Answer,
    JudgedRankings,
    Queries,
    Ranking,
    RankingChange,
    Request,
    RuleContext,
    RuleResult,
    options,
)
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.judged import Documents, Hits, Sessions, Unretrieved
from pytest_ireval.data.judgments import Ideal, Subtopics
from pytest_ireval.metrics.steps import Listing
from pytest_ireval.plugin_api import InputFile
from pytest_ireval.rules.context import PairedValues, Values
from pytest_ireval.rules.population import Population
from pytest_ireval.rules.side import Side
from pytest_ireval.rules.unjudged_effect import UnjudgedEffect
from pytest_ireval.suite import option_types as types
from pytest_ireval_judgments.click_policies import ClickedSearch

PAGE = Path(__file__).with_name("plugins.md")
TABLES: dict[str, dict[str, type[Any]]] = {
    "ranking": {"ranking": Ranking},
    "judged": {
        "judged": JudgedRankings,
        "judged.hits": Hits,
        "judged.ideal": Ideal,
        "judged.documents": Documents,
        "judged.subtopics": Subtopics,
        "judged.sessions": Sessions,
        "judged.unretrieved": Unretrieved,
    },
    "listing": {"listed": Listing},
    "search": {"search": ClickedSearch},
    "file": {"file": InputFile, "how": Reading},
    "request": {"request": Request, "request.queries": Queries, "answer": Answer},
    "result": {"result": RuleResult},
    "context": {
        "context": RuleContext,
        "context.values()": Values,
        "context.paired_values()": PairedValues,
        "context.current": Side,
        "context.population": Population,
        "context.unjudged_effect()": UnjudgedEffect,
    },
    "change": {"change": RankingChange},
}
"""The objects that a plugin's code gets, by the name under which it gets them."""
ARRAYS = {
    "Floats": "float64",
    "Integers": "int64",
    "Counts": "int64",
    "Mask": "bool",
    "NDArray[np.float64]": "float64",
    "NDArray[np.int64]": "int64",
    "NDArray[np.bool_]": "bool",
    "NDArray[Any]": "any",
}
SHAPES = {
    "ranking": "places",
    "ranking.ideal": "judged documents of the query",
    "ranking.scores": "retrieved",
    "ranking.tied_from": "retrieved",
    "ranking.tied_to": "retrieved",
    "judged": "queries",
    "judged.first": "queries + 1",
    "judged.first_ideal": "queries + 1",
    "judged.rank_in_reference": "documents",
    "judged.running": "hits",
    "judged.running_product": "hits",
    "judged.relevant": "hits",
    "judged.relevant_so_far": "hits",
    "judged.top": "queries, cutoff",
    "judged.hits": "hits",
    "judged.ideal": "judged documents",
    "judged.documents": "documents",
    "judged.documents.first": "queries + 1",
    "judged.subtopics": "judgments of a subtopic",
    "judged.sessions": "queries",
    "judged.unretrieved": "unretrieved documents",
    "listed": "documents",
    "listed.ideal": "judged documents of the query",
    "listed.relevant": "documents",
    "context.paired_rows": "queries of the slice on both sides",
    "context.values()": "queries that count",
    "context.paired_values()": "queries that count",
    "context.current": "queries",
    "context.current.recall_precision": "queries, 12",
    "context.population": "queries",
    "context.unjudged_effect()": "queries",
}
"""The shape of each array: of one field, or of all fields of an object."""
WORDS = {
    "ranking.query": "The id of the query.",
    "ranking.scores": "The score of each retrieved document. Needs `scores`.",
    "judged.queries": "The ids of the judged queries.",
    "judged.retrieved": "The number of documents that were retrieved.",
    "judged.present": "True if the query has a ranking; an empty one counts.",
    "judged.hits": "The judged documents that were retrieved, sorted by query and rank.",
    "judged.ideal": "All judged documents, retrieved or not, sorted by query and grade descending.",
    "judged.documents": "All retrieved documents, judged or not. Needs `documents`.",
    "judged.subtopics": "Grades for single subtopics. Needs `subtopics`.",
    "judged.fields": "By document, its fields. Needs `fields`.",
    "judged.judgments": "All judgments. Needs `judgments`.",
    "judged.query_texts": "The text of each query. Needs `queries`.",
    "judged.columns": "By name, the other columns of the queries. Needs `queries`.",
    "judged.unretrieved": "The judged documents that were not retrieved. Needs `unretrieved`.",
    "judged.sessions": "The session of each query. Needs `sessions`.",
    "judged.preferences": "By query, pairs of documents, the better one first. Needs `preferences`.",
    "judged.timings": "The seconds that each query took. Needs `timings`.",
    "judged.reference": "The judged rankings to compare with. Needs `reference`.",
    "judged.hits.query": "The place of its query in `judged.queries`.",
    "judged.hits.rank": "Its rank, from 1.",
    "judged.hits.grade": "Its grade.",
    "judged.hits.judgment": "The row of its judgment.",
    "judged.hits.score": "Its score.",
    "judged.hits.tied_from": "The first rank that has the same score.",
    "judged.hits.tied_to": "The last rank that has the same score.",
    "judged.ideal.query": "The place of its query in `judged.queries`.",
    "judged.ideal.rank": "Its rank in the best order, from 1.",
    "judged.ideal.grade": "Its grade.",
    "judged.ideal.judgment": "The row of its judgment.",
    "judged.documents.first": "The documents of query i are rows `first[i]` to `first[i + 1]`, by rank.",
    "judged.documents.ids": "The ids: `ids[row]` is one, `ids.texts(rows)` are some.",
    "judged.documents.score": "Its score.",
    "judged.documents.grade": "Its grade; NaN if it is not judged.",
    "judged.documents.tied_from": "The first rank that has the same score.",
    "judged.documents.tied_to": "The last rank that has the same score.",
    "judged.subtopics.names": "The names of the subtopics.",
    "judged.subtopics.row": "The row of the judgment, ascending; `judged.hits.judgment` names the same rows.",
    "judged.subtopics.subtopic": "The place of the subtopic in `names`.",
    "judged.subtopics.grade": "The grade for this subtopic.",
    "judged.subtopics.query": "The place of the query in `judged.queries`.",
    "judged.subtopics.document": "A number of the document that sorts as its id does.",
    "judged.unretrieved.query": "The place of its query in `judged.queries`.",
    "judged.unretrieved.ids": "The ids: `ids[row]` is one, `ids.texts(rows)` are some.",
    "judged.unretrieved.grade": "Its grade.",
    "judged.sessions.names": "The names of the sessions.",
    "judged.sessions.session": "The place of the query's session in `names`; -1 without a session.",
    "judged.sessions.position": "The place of the query in its session, from 1.",
    "listed.rank": "The rank of each document, from 1.",
    "listed.documents": "The ids of the documents.",
    "listed.grade": "The grade of each document; 0 for an unjudged one.",
    "listed.judged": "True if the document is judged.",
    "listed.ideal": "All judged grades of the query, best first.",
    "listed.position": "In a session, the position of the query of each document.",
    "listed.retrieved": "The number of retrieved documents.",
    "how.grades": "Which grades are allowed: whole numbers, or fractions as well.",
    "how.progress": "Tells the user how far reading is.",
    "request.suite": "The name of the suite.",
    "request.progress": '`expect(amount, "queries")` and `advance(amount)` tell the user how far you are.',
    "request.queries.ids": "The id of each query.",
    "request.queries.text": 'The text of each query; "" if it is unknown.',
    "request.queries.columns": "By name, each other column of the queries file, with a value for each query.",
    "request.queries.origin": "The file that has them, for messages.",
    "request.queries.places": "The place of each query in that file, for messages; it may be empty.",
    "result.verdict": "`pass`; `warn`: it passes, and a reader should look; `known_failure`: it does not hold, and is "
    "not red; `inconclusive`; `fail`.",
    "result.queries_title": "The title of the list of queries.",
    "context.population": "The queries, with weights, judgments and waivers.",
    "context.current": "The current rankings, scored.",
    "context.part": "The part of the rule that is checked; `part.item` is what `parts` stored there.",
    "context.slice": "The slice that is checked; `str(context.slice)` is its name for messages.",
    "context.values().rows": "The row of each among all queries of the suite.",
    "context.values().current": "The current value.",
    "context.paired_values().baseline": "The value in the baseline.",
    "context.current.depth": "The depth of the suite.",
    "context.population.queries": "The queries, with their columns: the fields of `request.queries`.",
    "context.population.judgments": "All judgments; `grades(query)` reads those of a query.",
    "context.population.weights": "The traffic of each query; None if the suite gives none.",
    "context.population.waived": "The ids of waived queries.",
    "context.unjudged_effect().condensed_baseline": "The same in the baseline.",
    "context.unjudged_effect().peers": "Judged documents of both sides at the ranks of new unjudged ones.",
    "change.population": "The queries, with weights, judgments and waivers; see `context.population`.",
    "change.current_side": "The current rankings, scored; see `context.current`.",
    "change.baseline_side": "Those of the baseline.",
    "change.metric": "The metric of the first red rule; None without one.",
}
"""The meaning of a field whose docstring is that of its class."""
LEFT_OUT = {
    "context.current.remember",
    "context.effects",
    "context.correction",
    "context.population.names",
    "change.document_texts",
    "change.source",
    "change.folder",
    "judged.hits.at",
    "judged.documents.at",
    "judged.subtopics.at",
    "file.file",
    "file.bytes",
    "change.population",
}
"""For the package's own use."""
OF_VALUES = {
    "Amount": "`amount.allows(count, total)` tells whether a count is within it; `amount.of(total)` is the number.",
    "Bound": "`bound.holds(value)` tells on which side a value is.",
    "Tolerance": "`tolerance.allowed(baseline)` is the allowed loss.",
    "Tolerances": "`tolerances.of(context.slice.value)` is the tolerance of a slice, or None.",
    "Metric": "`context.metric` of the rule's part.",
    "Reference": "See `facts`.",
}


class Row(NamedTuple):
    """A field, property or method."""

    name: str
    type: str
    array: str
    """The kind of its numbers, if it is an array; else empty."""
    shape: str
    meaning: str
    call: str = ""
    """Its parameters, if it is a method."""

    def __str__(self) -> str:
        kind = f"{self.array} array ({self.shape}{',' if ',' not in self.shape else ''})" if self.array else self.type
        also = " or `None`" if self.array and "`None`" in self.type else ""
        return f"| `{self.name}{self.call}` | {kind}{also} | {self.meaning} |"


def rows_of(prefix: str, kind: type[Any]) -> Iterator[Row]:
    """Every public field, property and method of a class, in the order of the code."""
    tree = ast.parse(inspect.getsource(sys.modules[kind.__module__]))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == kind.__name__).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            text = _docstring(after)
            yield from _row(f"{prefix}.{node.target.id}", ast.unparse(node.annotation), text)
        elif isinstance(node, ast.FunctionDef):
            is_property = any("property" in ast.unparse(each) for each in node.decorator_list)
            names = [each.arg for each in (*node.args.args[1:], *node.args.kwonlyargs)]
            call = "" if is_property else f"({', '.join(names)})"
            returns = ast.unparse(node.returns) if node.returns else ""
            yield from _row(f"{prefix}.{node.name}", returns, ast.get_docstring(node) or "", call)
            if node.name == "__init__":
                yield from _attributes(prefix, node)


def _attributes(prefix: str, function: ast.FunctionDef) -> Iterator[Row]:
    """The attributes that ``__init__`` sets and describes."""
    types = {each.arg: ast.unparse(each.annotation) for each in function.args.args[1:] if each.annotation}
    for node, after in zip(function.body, [*function.body[1:], None], strict=True):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Attribute) and _docstring(after):
            yield from _row(f"{prefix}.{target.attr}", types.get(target.attr, ""), _docstring(after))


def _docstring(node: ast.stmt | None) -> str:
    found = node.value if isinstance(node, ast.Expr) else None
    return found.value if isinstance(found, ast.Constant) and isinstance(found.value, str) else ""


def _row(name: str, annotation: str, docstring: str, call: str = "") -> Iterator[Row]:
    last = name.rpartition(".")[2]
    if last.startswith("_") or name in LEFT_OUT:
        return
    bare = annotation.removesuffix(" | None")
    shown = f"`{annotation.replace(' | ', '` or `')}`"
    array = ARRAYS.get(bare, "")
    shape = SHAPES.get(name) or SHAPES.get(name.rpartition(".")[0], "") if array else ""
    meaning = WORDS.get(name) or " ".join(re.sub(r":\w+:`\.?(\w+)`", r"`\1`", docstring).split("\n\n")[0].split())
    if not meaning or (array and not shape):
        raise ValueError(f"{name}: give it a docstring, or words and a shape in {__file__}")
    yield Row(name, shown, array, shape, meaning.replace("``", "`").replace("|", "\\|"), call)


def types_of_options() -> Iterator[str]:
    """A row for each type of an option: its name, what a function gets, and what a suite writes."""
    tree = ast.parse(inspect.getsource(types))
    for node, after in zip(tree.body, tree.body[1:], strict=False):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id in options.__all__:
            name = _named(getattr(options, target.id))
            meaning = " ".join(_docstring(after).replace("``", "`").split())
            yield f"| `{target.id}` | `{name}` | {f'{meaning} {OF_VALUES.get(name, str())}'.strip()} |"


def _named(kind: Any) -> str:
    """The name of a type without what reads it."""
    parts = get_args(kind)
    if get_origin(kind) is Annotated:
        return _named(parts[0])
    if kind is ...:
        return "..."
    return f"{kind.__name__}[{', '.join(map(_named, parts))}]" if parts else str(kind.__name__)


def tables() -> dict[str, list[str]]:
    """The lines of each table."""
    found = {
        name: ["| field | type | meaning |", "| --- | --- | --- |"]
        + [str(row) for prefix, kind in parts.items() for row in rows_of(prefix, kind)]
        for name, parts in TABLES.items()
    }
    found["options"] = ["| type | in Python | in a suite |", "| --- | --- | --- |", *types_of_options()]
    return found


def page() -> str:
    """The page as it should be now."""
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in tables().items():
        begin, end = f"<!-- fields of {name} -->\n", "<!-- end -->"
        head, found, rest = text.partition(begin)
        if not found:
            raise ValueError(f"{PAGE.name} has no place for the fields of {name}: write {begin.strip()} and {end}")
        text = f"{head}{begin}\n" + "\n".join(lines) + f"\n\n{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
