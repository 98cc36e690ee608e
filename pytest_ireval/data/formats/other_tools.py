"""Files of other tools: Quepid, Rated Ranking Evaluator, OpenSearch's workbench, and what engines are asked and answer.

All but Elasticsearch know queries by their text, so the text is the id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pytest_ireval.data.formats.input_file import InputFile
from pytest_ireval.data.formats.recognition import QUEPID_SNAPSHOT, is_text
from pytest_ireval.data.formats.row_files import Node, read_delimited_table, read_json_document
from pytest_ireval.data.tables import (
    NUMBER,
    Table,
    find_column,
    normalize_name,
    require_column,
    select_rows,
    tabulate_rows,
)
from pytest_ireval.errors import InputError, Mistakes, Problem, quote

Rows = Iterator[tuple[dict[str, Any], str]]
"""Rows, each with its place."""


def _make_json_reader(rows: Callable[[Node], Rows]) -> Callable[[InputFile], Table]:
    """A reader of the rows in a JSON document."""
    return lambda file: tabulate_rows(rows(read_json_document(file)), file.name)


def read_case_queries(file: InputFile) -> Table:
    """Each query once, with its information need and notes if the file has them."""
    if is_text(file):
        cells = _read_cells(file)
        first = {query: row for row, query in reversed(list(enumerate(cells.columns["query"])))}
        chosen = select_rows(cells, sorted(first.values()))
        texts = chosen.columns["query"]
        return Table({"id": texts, "text": texts}, chosen.origin, chosen.place)
    return tabulate_rows(_list_case_queries(read_json_document(file)), file.name)


def read_case_judgments(file: InputFile) -> Table:
    """A row for each rating; documents without a rating are not judged."""
    if is_text(file):
        cells = _read_cells(file)
        return select_rows(cells, [row for row, grade in enumerate(cells.columns["grade"]) if grade])
    return tabulate_rows(_list_case_ratings(read_json_document(file)), file.name)


def _read_cells(file: InputFile) -> Table:
    """Query, document and grade; Quepid puts a space before cells that a spreadsheet would take for a formula."""
    cells = read_delimited_table(file, short_rows=True)  # Quepid leaves out the cells of a query without ratings
    text = find_column(cells.columns, "text") or require_column(cells.columns, "query", file.name)
    names = {"query": text, **{kind: require_column(cells.columns, kind, file.name) for kind in ("document", "grade")}}
    return Table(
        {ours: [cell.strip() for cell in cells.columns[theirs]] for ours, theirs in names.items()},
        cells.origin,
        cells.place,
    )


def _list_case_queries(case: Node) -> Rows:
    for query in case.each("queries"):
        text = _find_text(query)
        about = {"information_need": query.text("information_need"), "notes": query.text("notes")}
        yield {"id": text, "text": text, **about}, query.place


def _list_case_ratings(case: Node) -> Rows:
    for query in case.each("queries"):
        if not query.has("ratings"):
            continue
        ratings = query.get("ratings")
        if isinstance(ratings.value, dict):  # the ratings alone: {document: rating}
            for identifier, rating in ratings.entries():
                if rating.value is not None:
                    row = {"query": _find_text(query), "document": identifier, "grade": rating.value}
                    yield row, rating.place
            continue
        for rating in query.each("ratings"):
            if not rating.has("rating"):
                continue
            row = {"query": _find_text(query), "document": rating.text("doc_id"), "grade": rating.text("rating")}
            yield {**row, "judge": rating.text("user_email")}, rating.place


def _find_text(query: Node) -> str:
    return query.text("query_text") or query.required("query")


def read_book_queries(file: InputFile) -> Table:
    """Each query once, with its information need if the file has it."""
    seen: dict[str, tuple[dict[str, Any], str]] = {}
    for row, place in _list_csv_book_queries(file) if is_text(file) else _list_book_queries(read_json_document(file)):
        seen.setdefault(row["id"], (row, place))
    return tabulate_rows(iter(seen.values()), file.name)


def read_book_judgments(file: InputFile) -> Table:
    """A row for each judgment of each judge."""
    return tabulate_rows(
        _list_csv_book_judgments(file) if is_text(file) else _list_book_judgments(read_json_document(file)), file.name
    )


def _list_csv_book_queries(file: InputFile) -> Rows:
    cells = read_delimited_table(file)
    for row, query in enumerate(cells.column("query")):
        yield {"id": query.strip(), "text": query.strip()}, cells.place(row)


def _list_csv_book_judgments(file: InputFile) -> Rows:
    cells = read_delimited_table(file)
    query, identifier = (require_column(cells.columns, kind, file.name) for kind in ("query", "document"))
    others = [name for name in cells.columns if name not in (query, identifier)]
    judges = [name for name in others if _is_judge(cells.columns[name])]
    if others and not judges:
        names = ", ".join(map(repr, others))
        raise InputError(Problem(f"none of its columns is a judge with grades: {names}", place=file.name))
    for row in cells.rows:
        for judge in judges:
            grade = cells.columns[judge][row].strip()
            if grade:
                pair = {"query": cells.columns[query][row].strip(), "document": cells.columns[identifier][row].strip()}
                about = {name: cells.columns[name][row].strip() for name in others if name not in judges}
                yield {**about, **pair, "grade": grade, "judge": judge}, cells.place(row)


def _is_judge(cells: Sequence[str]) -> bool:
    """Tell a column of grades from one of texts about the documents, which has cells but no number."""
    written = [cell.strip() for cell in cells if cell.strip()]
    return not written or any(NUMBER.fullmatch(cell) for cell in written)


def _list_book_queries(book: Node) -> Rows:
    for pair in book.each("query_doc_pairs"):
        text = pair.required("query_text")
        yield {"id": text, "text": text, "information_need": pair.text("information_need")}, pair.place


def _list_book_judgments(book: Node) -> Rows:
    for pair in book.each("query_doc_pairs"):
        for judgment in pair.each("judgements"):
            if judgment.has("rating") and not _is_set(judgment, "unrateable") and not _is_set(judgment, "judge_later"):
                row = {"query": pair.required("query_text"), "document": pair.text("doc_id")}
                about = {"judge": judgment.text("user_email"), "explanation": judgment.text("explanation")}
                yield {**row, "grade": judgment.text("rating"), **about}, judgment.place


def _is_set(judgment: Node, key: str) -> bool:
    return judgment.has(key) and judgment.get(key).value is True


def read_snapshot_rankings(file: InputFile) -> Table:
    """The rankings of a snapshot, by position."""
    cells = read_delimited_table(file)
    found = {normalize_name(name): [cell.strip() for cell in column] for name, column in cells.columns.items()}
    if lacking := sorted(QUEPID_SNAPSHOT - found.keys()):
        allowed = "columns: Snapshot Name, Query Text, Doc ID, Doc Position"
        raise InputError(Problem(f"lacks the columns {', '.join(lacking)}", file.name, allowed=allowed))
    snapshots = dict.fromkeys(zip(found["snapshot_name"], found.get("case_id", found["snapshot_name"]), strict=True))
    if len(snapshots) > 1:
        names = ", ".join(quote(name) for name, _ in snapshots)
        suggestion = "export one snapshot, or keep the rows of one"
        raise InputError(Problem(f"contains {len(snapshots)} snapshots: {names}", file.name, suggestion=suggestion))
    columns = {"query": found["query_text"], "document": found["doc_id"], "rank": found["doc_position"]}
    return Table(columns, cells.origin, cells.place)


@_make_json_reader
def read_rre_queries(whole: Node) -> Rows:
    """Each query once: several templates may have the same text."""
    seen: dict[str, tuple[dict[str, Any], str]] = {}
    for query, _, about in _list_queries_with_owners(whole):
        text = _find_placed_text(query, whole)
        seen.setdefault(text, ({"id": text, "text": text, **about}, query.place))
    yield from seen.values()


@_make_json_reader
def read_rre_judgments(whole: Node) -> Rows:
    """A row for each query and document of its own list, or of its group's."""
    for query, group, _ in _list_queries_with_owners(whole):
        holder = query if query.has("relevant_documents") else group
        if not holder.has("relevant_documents"):
            raise query.error("neither the query nor its group has 'relevant_documents'")
        for identifier, grade, place in _list_relevant(holder.get("relevant_documents")):
            yield {"query": _find_placed_text(query, whole), "document": identifier, "grade": grade}, place


def _list_queries_with_owners(whole: Node) -> Iterator[tuple[Node, Node, dict[str, str]]]:
    """Every query with its owner (a group of a subject, a group, or the file itself) and the names of the owner."""
    for subject in (*whole.each("topics"), whole):
        about = {} if subject is whole else {"subject": subject.text("description") or subject.text("name")}
        for group in (*subject.each("query_groups"), subject):
            of_group = about if group is subject else {**about, "group": group.text("name")}
            for query in group.each("queries"):
                yield query, group, of_group


def _find_placed_text(query: Node, whole: Node) -> str:
    """The value of the placeholder for the query's text."""
    placeholders, name = query.get("placeholders"), whole.text("query_placeholder")
    return placeholders.required(name or ("query" if placeholders.has("query") else "$query"))


def _list_relevant(documents: Node) -> Iterator[tuple[str, Any, str]]:
    """Document, grade and place: from ``{document: {gain: 3}}``, ``{"3": [document, …]}``, or a list with both."""
    if isinstance(documents.value, list):
        for node in documents.entries_of_list():
            yield node.required("document_id"), node.get("gain").value, node.place
        return
    for key, node in documents.entries():
        if isinstance(node.value, list):
            for identifier in node.value:
                yield identifier, key, node.place
        else:
            grade = node.get("gain") if node.has("gain") else node.get("rating")
            yield key, grade.value, node.place


PARAMETERS = ("query_string", "query", "q", "text")
"""Parameters of a template that hold the text, best first."""

OF_ONE_FIELD = ("match", "match_phrase", "term", "match_bool_prefix", "match_phrase_prefix")


@_make_json_reader
def read_elasticsearch_queries(whole: Node) -> Rows:
    """A row for each request."""
    for request in whole.each("requests"):
        row = {
            "id": request.required("id"),
            "text": _find_searched_words(request),
            "template": request.text("template_id"),
        }
        yield row, request.place


@_make_json_reader
def read_elasticsearch_judgments(whole: Node) -> Rows:
    """A row for each rating; where there are several indices, a document's id is written ``index/id``."""
    ratings = [(request, rating) for request in whole.each("requests") for rating in request.each("ratings")]
    several = len({rating.text("_index") for _, rating in ratings}) > 1
    for request, rating in ratings:
        identifier = f"{rating.text('_index')}/{rating.text('_id')}" if several else rating.text("_id")
        row = {"query": request.required("id"), "document": identifier, "grade": rating.get("rating").value}
        yield row, rating.place


def _find_searched_words(request: Node) -> str:
    """The words that are searched for: a parameter of the template, or the only text in the query; else nothing."""
    if request.has("params"):
        parameters = dict(request.get("params").entries())
        name = next((name for name in PARAMETERS if name in parameters), next(iter(parameters), ""))
        value = parameters[name].value if name else ""
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if not request.has("request"):
        return ""
    body = request.get("request")
    texts = set(_list_texts(body.get("query").value)) if body.has("query") or body.text("query") else set()
    return texts.pop() if len(texts) == 1 else ""


def _list_texts(query: Any) -> Iterator[str]:
    """Texts of clauses such as match or query_string."""
    for key, value in query.items() if isinstance(query, dict) else ():
        if key in OF_ONE_FIELD and isinstance(value, dict):
            for sought in value.values():
                yield str(sought.get("query", sought.get("value", "")) if isinstance(sought, dict) else sought)
        elif key in ("multi_match", "query_string", "simple_query_string") and isinstance(value, dict):
            yield str(value.get("query", ""))
        else:
            for part in value if isinstance(value, list) else [value]:
                yield from _list_texts(part)


@_make_json_reader
def read_workbench_queries(whole: Node) -> Rows:
    """Each query once: of a query set with its other fields, or of a judgment list."""
    seen: dict[str, tuple[dict[str, Any], str]] = {}
    for held in _list_stored(whole):
        for query in held.each("querySetQueries"):
            text = query.required("queryText")
            names = [name for name, value in query.entries() if not isinstance(value.value, dict | list | bool)]
            about = {name: query.text(name) for name in names if name != "queryText"}
            seen.setdefault(text, ({"id": text, "text": text, **about}, query.place))
        for query in held.each("judgmentRatings"):
            text = query.required("query")
            seen.setdefault(text, ({"id": text, "text": text}, query.place))
    yield from seen.values()


@_make_json_reader
def read_workbench_judgments(whole: Node) -> Rows:
    """A row for each rating of a judgment list."""
    for held in _list_stored(whole):
        if not held.has("judgmentRatings"):
            raise held.error("the key 'judgmentRatings' is missing: this is not a judgment list")
        for query in held.each("judgmentRatings"):
            for rating in query.each("ratings"):
                row = {"query": query.required("query"), "document": rating.required("docId")}
                yield {**row, "grade": rating.get("rating").value}, rating.place


def _list_stored(whole: Node) -> Iterator[Node]:
    """The lists or sets: the file as it is imported, or the hits of an answer of the workbench."""
    if not whole.has("hits"):
        yield whole
        return
    for hit in whole.get("hits").each("hits"):
        yield hit.get("_source")


_HITS = {("hits", "hits"): "_id", ("response", "docs"): "id", ("root", "children"): "id"}
"""The keys that lead to the hits in an answer of Elasticsearch or OpenSearch, of Solr, of Vespa; and that of an id."""


def read_responses(file: InputFile) -> dict[str, list[str]]:
    """By query, the documents of its answer, in their order."""
    from pytest_ireval.data.formats.row_files import read_json_documents

    found: dict[str, list[str]] = {}
    mistakes = Mistakes()
    for whole in read_json_documents(file):
        for query, answer in whole.entries():
            try:
                if query in found:
                    raise answer.error("this query has an answer already")
                found[query] = _list_documents(answer)
            except InputError as error:
                mistakes.add(error.problems[0])
    mistakes.refuse()
    return found


def _list_documents(answer: Node) -> list[str]:
    """The ids of the hits of a complete answer."""
    keys = next((keys for keys in _HITS if answer.has(keys[0])), None)
    if keys is None:
        raise answer.error("has no hits: it is not a complete answer of Elasticsearch, OpenSearch, Solr or Vespa")
    if why := find_missing_part(answer.value):
        raise answer.error(f"the answer is incomplete: {why}")
    parent = answer.get(keys[0])
    if parent.has("errors"):
        raise parent.error("the answer has errors")
    if keys[0] != "root":  # Vespa leaves children out where there are none
        parent.get(keys[1])
    return [hit.required(_HITS[keys]) for hit in parent.each(keys[1])]


def find_missing_part(answer: Any) -> str:
    """The reason why an answer lacks a part although its status is a success, as engines say it; "" if they do not."""
    if not isinstance(answer, dict):
        return ""
    header = answer.get("responseHeader")
    root = answer.get("root")
    coverage = root.get("coverage") if isinstance(root, dict) else None
    if answer.get("timed_out") is True:
        return "timed_out is true"
    for parts in ("shards", "clusters"):
        counts = answer.get(f"_{parts}")
        if isinstance(counts, dict) and (lost := _describe_lost_parts(counts, parts)):
            return lost
    if isinstance(header, dict) and header.get("partialResults") in (True, "true", "omitted"):
        return "responseHeader.partialResults is true"
    if isinstance(coverage, dict) and (coverage.get("full") is False or coverage.get("degraded")):
        return f"it covers {coverage.get('coverage', '?')}% of the documents"
    return ""


def _describe_lost_parts(counts: Mapping[str, Any], parts: str) -> str:
    if counts.get("failed"):
        failures = counts.get("failures") or [{}]
        reason = failures[0].get("reason") if isinstance(failures[0], dict) else None
        said = f" ({reason.get('type')}: {reason.get('reason')})" if isinstance(reason, dict) else ""
        return f"{counts['failed']} of {counts.get('total', '?')} {parts} failed{said}"
    answered, total = counts.get("successful", 0), counts.get("total", 0)  # a shard whose node is gone does not fail
    return f"{answered} of {total} {parts} answered" if answered < total else ""
