"""The reader of a file: the one that was named, or the only one that its content fits; never a guess."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from pytest_ireval.data.formats.input_file import InputFile, split_words
from pytest_ireval.data.formats.reader import Content, Reader, is_fitting
from pytest_ireval.data.tables import (
    BEIR_JUDGMENTS,
    COLUMN_NAMES,
    NUMBER,
    PRODUCTS,
    find_column,
    has_judgment_columns,
    has_query_columns,
    has_query_id,
    has_ranking_columns,
    list_column_names,
    normalize_name,
)
from pytest_ireval.errors import InputError, Problem, did_you_mean, suggest_full_names
from pytest_ireval.words import format_count

Format = str | Reader | None
"""A name, a reader that need not be registered, or None: to be recognised."""


def choose_reader(
    file: InputFile, content: Content, readers: Sequence[Reader], named: Format = None, option: str = ""
) -> Reader:
    """The reader that is named, or the one that recognises ``content`` in ``file``.

    ``option`` is how the user names a format, for messages.
    """
    option = option or f"{content}_format=…, --{content}-format"
    if isinstance(named, Reader):
        if named.holds != content:
            raise InputError(f"reader {named.name!r} reads {named.holds}, not {content}")
        return named
    if named is not None:
        return _find_by_name(named, content, readers)
    fitting = list_fitting_readers(file, content, readers)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        complaint = f"its {content} could be in format {_join_alternatives(reader.name for reader in fitting)}"
        raise InputError(Problem(complaint, place=file.name, suggestion=f"choose one: {option}"))
    raise _describe_unknown(file, content, readers, option)


def list_fitting_readers(file: InputFile, content: Content, readers: Sequence[Reader]) -> list[Reader]:
    """The readers that recognise ``content`` in ``file``."""
    return [reader for reader in readers if reader.holds == content and is_fitting(reader, file)]


def _find_by_name(name: str, content: Content, readers: Sequence[Reader]) -> Reader:
    able = {called: reader for reader in readers if reader.holds == content for called in (reader.name, *reader.also)}
    if name in able:
        return able[name]
    allowed = f"formats of {content}: {', '.join(sorted({reader.name for reader in able.values()}))}"
    if several := suggest_full_names(name, able):
        complaint = f"several plugins have a format {name!r} for {content}"
        raise InputError(Problem(complaint, suggestion=several, allowed=allowed))
    complaint = f"unknown format {name!r} for {content}"
    raise InputError(Problem(complaint, suggestion=did_you_mean(name, able), allowed=allowed))


def _describe_unknown(file: InputFile, content: Content, readers: Sequence[Reader], option: str) -> InputError:
    """An error with the likely content of the file, or with its beginning."""
    others = [reader for reader in readers if reader.holds != content and is_fitting(reader, file)]
    if others:
        seems = _join_alternatives(f"{reader.holds} (format {reader.name})" for reader in others)
        complaint = f"contains no {content}; it looks like {seems}"
        swapped = content != "queries" and any(reader.holds != "queries" for reader in others)
        suggestion = "are judgments and rankings swapped?" if swapped else ""
        return InputError(Problem(complaint, place=file.name, suggestion=suggestion))
    layouts = [f"{reader.name}: {reader.summary}" for reader in readers if reader.holds == content]
    complaint = f"contains no {content} in a known format: {_describe_beginning(file)}"
    names = file.header if is_text(file) else read_keys_of_lines(file)
    lacking = _describe_missing_columns(names, content) if len(names) > 1 else None
    if lacking is not None:  # it is a table, so that other formats are out of question
        suggestion, allowed = lacking
        if is_text(file) and tuple(map(normalize_name, file.header))[:2] == ("query", "docid") and len(file.header) > 2:
            suggestion += "; if the other columns are judges, use format quepid-book"
        suggestion += _describe_vectors(file)
        return InputError(Problem(complaint, file.name, suggestion=suggestion, allowed=allowed))
    if (odd := _find_odd_line(file, content, readers)) is not None:
        return InputError(odd)
    allowed = "\n  ".join([f"formats of {content} ({option}):", *sorted(layouts)])
    return InputError(Problem(complaint, file.name, suggestion=_suggest(file, content), allowed=allowed))


def _find_odd_line(file: InputFile, content: Content, readers: Sequence[Reader]) -> Problem | None:
    """The first line that is shorter than the others, if these are at least half of them, and of one format."""
    numbered = enumerate(map(str.rstrip, file.head.split("\n")), 1)
    lines = [(number, line) for number, line in numbered if line and not line.lstrip().startswith("#")]
    lines = lines[: len(file.first_words)]  # the last line may be cut
    for width in (
        (lambda line: len(split_words(line)), lambda line: line.count("\t")) if lines and is_text(file) else ()
    ):
        usual = Counter(width(line) for _, line in lines).most_common(1)[0][0]
        alike, odd = ([each for each in lines if (width(each[1]) < usual) is less] for less in (False, True))
        part = InputFile(file.name, file.path, file.file)
        part.head = "\n".join(line for _, line in alike)
        sure = odd and 2 * len(alike) >= len(lines) and ("\t" in alike[0][1] or DIGITS.search(alike[0][1]))
        fitting = list_fitting_readers(part, content, readers) if sure else []
        if len(fitting) == 1:
            complaint = f"is not like the other lines: {odd[0][1][:60]!r}"
            known = f"they are in format {fitting[0].name}: {fitting[0].summary}"
            return Problem(complaint, f"{file.name}:{odd[0][0]}", suggestion=known)
    return None


def _describe_vectors(file: InputFile) -> str:
    """The columns of JSON lines that hold vectors, for a message."""
    found = {name: value for name, value in (file.first_object or {}).items() if isinstance(value, list) and value}
    vectors = [name for name, value in found.items() if all(isinstance(each, int | float) for each in value)]
    return "".join(f"; {name} is a vector of {format_count(len(found[name]), 'number')}" for name in vectors)


def _describe_beginning(file: InputFile) -> str:
    if file.is_folder:
        return "it is a folder"
    return f"it begins with {file.first_lines[0][:60]!r}" if file.first_lines else "it has no text"


def _suggest(file: InputFile, content: Content) -> str:
    """The missing parts of a table, of pairs or of columns of words."""
    if "\0" in file.head:
        return "it contains zero bytes: is it UTF-16, or not a text file?"
    if not is_text(file):
        keys = ", ".join(map(repr, read_keys_of_lines(file)))
        return f"its first line is an object with the keys {keys}" if keys else ""
    return _suggest_format(file, content) or _describe_layout(file, content)


def _suggest_format(file: InputFile, content: Content) -> str:
    """The format that must be named, since the file may be something else."""
    if content == "queries" and file.head.lstrip()[:5].lower() == "<doc>":
        return "it looks like documents of TREC; if each <DOC> is a query, name the format trec-topics"
    if content == "judgments" and is_prels(file):
        return "it looks like sampled judgments (prels); to read their grades alone, name format prels"
    more = [number for number, line in enumerate(file.first_lines, 1) if line.count("\t") > 1]
    if content == "queries" and more and 10 * len(more) <= len(file.first_lines) and not _has_header(file):
        return f"line {more[0]} has more than one tab; if it is part of the text, name the format pairs"
    return ""


def _describe_layout(file: InputFile, content: Content) -> str:
    """The columns that were found."""
    if len(file.header) == 2 and _has_texts_as_ids(file) and not _has_header(file):
        return "as pairs of id and text it needs ids, but the first cell of most lines has several words"
    if len(file.header) > 1:
        columns = ", ".join(repr(name) for name in file.header)
        return f"as a table it must name its columns in the first line; these columns are not enough: {columns}"
    widths = sorted({len(words) for words in file.first_words})
    if not widths or widths == [1]:
        lines = len(file.first_lines)
        return "its first line is one word" if lines == 1 else f"its first {lines} lines contain one word each"
    needed = ", and judgments need a query, a document and a grade"
    ungraded = needed if content == "judgments" and widths == [2] else ""
    return f"split at spaces and tabs, its lines have {' or '.join(map(str, widths[:3]))} columns{ungraded}"


def _join_alternatives(names: Iterable[str]) -> str:
    words = list(names)
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


JSON = re.compile(r"\s*[{\[]\s*[\"{}\[\]]")
"""The beginning of JSON; the id of a query may be ``[q1]``, which is not JSON."""
TOPIC = re.compile(r"<(top|topic|queries)\b|^\s*<query\b", re.IGNORECASE)
ID_TEXT = re.compile(r"(?:[^\W\d]|[.-])*\d[\w.-]*:(?=\S)")
ID_PRIORITY_TEXT = re.compile(r"(?:[^\W\d]|[.-])*\d[\w.-]*:\d+:(?=\S)")
RANK = re.compile(r"[1-9][0-9]{0,6}", re.ASCII)
GRADE = re.compile(r"-?[0-9]", re.ASCII)
PRELS = re.compile(r"-?[0-9] [0-9] (0?\.[0-9]+|1(\.0*)?|[0-9](\.[0-9]+)?[eE]-[0-9]+)", re.ASCII)
FEATURE = re.compile(r"[0-9]+:\S+", re.ASCII)
DIGITS = re.compile(r"\d+")
QUEPID_CASE = ({"query", "docid", "rating"}, {"query", "doc_id", "rating"})
QUEPID_SNAPSHOT = {"snapshot_name", "query_text", "doc_id", "doc_position"}
QUEPID_DETAILED = {"case_id", "query_text", "doc_id", "rating"}


def is_parquet(file: InputFile) -> bool:
    """Tell whether it is a Parquet file."""
    return file.file is not None and file.file.magic == b"PAR1"


def is_arrow(file: InputFile) -> bool:
    """Tell whether it is an Arrow IPC file, which Feather files are, too."""
    return file.file is not None and file.head.startswith("ARROW1\0")


def is_text(file: InputFile) -> bool:
    """Tell whether it is neither a folder, nor Parquet or Arrow, nor JSON, nor marked up."""
    binary = is_parquet(file) or is_arrow(file)
    return bool(file.first_lines) and not binary and not JSON.match(file.head) and not is_topics(file)


def is_quepid_table(file: InputFile) -> bool:
    """Tell whether it is a Quepid case's export of ratings, short or detailed."""
    names = {normalize_name(name) for name in file.header}
    return is_text(file) and (names in QUEPID_CASE or names >= QUEPID_DETAILED)


def is_quepid_snapshot(file: InputFile) -> bool:
    """Tell whether it is a Quepid case's export of a snapshot."""
    return is_text(file) and {normalize_name(name) for name in file.header} >= QUEPID_SNAPSHOT


def is_table_of_judgments(file: InputFile) -> bool:
    """Tell whether the first line names the columns of judgments."""
    return is_text(file) and has_judgment_columns(file.header) and not is_quepid_table(file)


def is_table_of_rankings(file: InputFile) -> bool:
    """Tell whether the first line names the columns of rankings."""
    return (
        is_text(file)
        and has_ranking_columns(file.header)
        and not is_quepid_table(file)
        and not _is_beir_judgments(file)
    )


def _is_beir_judgments(file: InputFile) -> bool:
    """Tell whether it is judgments of BEIR, with the grade in the column score: all of them are whole numbers."""
    if tuple(map(normalize_name, file.header)) != BEIR_JUDGMENTS:
        return False
    cells = [line.split(file.delimiter)[-1].strip() for line in file.first_lines[1:]]
    return all(cell.lstrip("+-").isdigit() for cell in cells)


def is_table_of_queries(file: InputFile) -> bool:
    """Tell whether the first line names the columns of queries."""
    return is_text(file) and has_query_columns(file.header)


def _has_header(file: InputFile) -> bool:
    """Tell whether the first line names columns that are known."""
    tables = (is_table_of_judgments, is_table_of_rankings, is_table_of_queries, is_quepid_table)
    return any(is_one(file) for is_one in tables)


def _count_columns(file: InputFile, number: int) -> int:
    """The number of words of most of the first lines; 0 if it is not columns of words.

    If lines differ in width, word ``number`` (counted from 0) of most of them must be a number.
    """
    if not is_text(file) or _has_header(file) or has_features(file) or not file.first_words:
        return 0
    if all(line.count("\t") == 1 and " " not in line.split("\t")[0] for line in file.first_lines):
        return 0  # every line is an id, the only tab, and a text of words
    counts = Counter(map(len, file.first_words))
    numeric = sum(len(words) > number and NUMBER.fullmatch(words[number]) is not None for words in file.first_words)
    sure = len(counts) == 1 or 2 * numeric > len(file.first_words)
    return counts.most_common(1)[0][0] if sure else 0


def is_qrels(file: InputFile) -> bool:
    """Tell whether it is columns of words, four a line, the last a grade."""
    return _count_columns(file, 3) == 4 and not all(map(is_listed, file.first_words))


def is_listed(words: Sequence[str]) -> bool:
    """Tell whether it is a line of SMART's judgments that lists a relevant document: it ends in ``0 0.000000``."""
    return len(words) == 4 and words[2] == "0" and re.fullmatch(r"0\.0+", words[3]) is not None


def is_msmarco_run(file: InputFile) -> bool:
    """Tell whether it is columns of words, three a line, and the third counts 1, 2, 3 in each query."""
    if _count_columns(file, 2) != 3 or not all(len(w) == 3 and RANK.fullmatch(w[2]) for w in file.first_words):
        return False
    pairs = list(zip(file.first_words, file.first_words[1:], strict=False))
    steps = [int(later[2]) - int(one[2]) for one, later in pairs if one[0] == later[0]]
    return bool(steps) and set(steps) == {1} and file.first_words[0][2] == "1"


def is_smart_judgments(file: InputFile) -> bool:
    """Tell whether it is three columns of words, the third a grade of one digit, or lists of relevant documents."""
    if _count_columns(file, 3) == 4:
        return all(map(is_listed, file.first_words))
    graded = _count_columns(file, 2) == 3 and all(len(w) == 3 and GRADE.fullmatch(w[2]) for w in file.first_words)
    return graded and not is_msmarco_run(file)


def is_prels(file: InputFile) -> bool:
    """Tell whether it is sampled judgments: query, document, a grade and a method of one digit, a probability."""
    lines = file.first_words
    return _count_columns(file, 2) == 5 and all(len(w) == 5 and PRELS.fullmatch(" ".join(w[2:])) for w in lines)


def is_headings(file: InputFile) -> bool:
    """Tell whether each line is one word, most of them a path in which blanks are written as ``%20``."""
    paths = [words[0].removeprefix("enwiki:") for words in file.first_words if len(words) == 1]
    if not is_text(file) or len(paths) < len(file.first_words) or any(re.search(r'[,;:"]|^/', path) for path in paths):
        return False  # other signs than these would be encoded
    return 2 * sum("%20" in path and "/" in path for path in paths) > len(paths)


def is_smart_queries(file: InputFile) -> bool:
    """Tell whether it begins with ``.I`` and an id, and goes on with another field."""
    lines = file.first_lines
    return (
        len(lines) > 1 and re.match(r"\.I\s+\S", lines[0]) is not None and re.match(r"\.[A-Z]\b", lines[1]) is not None
    )


def is_id_text(file: InputFile) -> bool:
    """Tell whether each line is an id with a digit in it, a colon, and a text."""
    return is_text(file) and all(ID_TEXT.match(line) and "\t" not in line for line in file.first_lines)


def find_file_of_groups(file: InputFile) -> Path | None:
    """The file with the number of lines of each query: ``NAME.group`` (XGBoost) or ``NAME.query`` (LightGBM)."""
    paths = [file.path.with_name(f"{file.path.name}.{ending}") for ending in ("group", "query")]
    return next((path for path in paths if path.is_file()), None)


def is_run(file: InputFile) -> bool:
    """Tell whether it is columns of words, six a line or more, the fifth a score."""
    return _count_columns(file, 4) >= 6


def has_subtopics(file: InputFile) -> bool:
    """Tell whether it is four columns of words, the second of which changes for one document of a query."""
    lines = [words for words in file.first_words if len(words) == 4]
    judged = {(query, document) for query, _, document, _ in lines}
    return is_qrels(file) and len(judged) < len({(query, part, document) for query, part, document, _ in lines})


def has_features(file: InputFile) -> bool:
    """Tell whether lines are a grade, then ``qid:`` (or a file of groups is beside it), then features."""
    if not is_text(file):
        return False
    if any(len(words) > 1 and words[1].startswith("qid:") for words in file.first_words[:5]):
        return True
    plain = all(NUMBER.fullmatch(words[0]) and all(map(FEATURE.match, words[1:2])) for words in file.first_words[:5])
    return plain and find_file_of_groups(file) is not None


def is_pairs(file: InputFile) -> bool:
    """Tell whether all first lines are two cells with a tab between them, and the first line names no columns."""
    return (
        is_text(file)
        and not _has_header(file)
        and not _has_column_name(file)
        and all(line.count("\t") == 1 for line in file.first_lines)
        and not any(line.startswith("\t") for line in file.first_lines)
        and not _has_texts_as_ids(file)
    )


def _has_texts_as_ids(file: InputFile) -> bool:
    """Tell whether most first cells are several words: questions with their answers, not ids with texts."""
    texts = sum(" " in line.split("\t")[0].strip() for line in file.first_lines)
    return 2 * texts > len(file.first_lines)


def _has_column_name(file: InputFile) -> bool:
    """Tell whether the first line looks like names of columns, be they of another kind of table or misspelt."""
    names = tuple(map(normalize_name, file.header))
    if (
        names
        and len(file.first_lines) > 1
        and _are_numbered_alike(file.header[0], file.first_lines[1].partition(file.delimiter)[0])
    ):
        return False  # q1 above q2 is an id, whatever its text is
    known = {name for groups in COLUMN_NAMES.values() for group in groups for name in group}
    texts = {name for group in PRODUCTS for name in group}  # people search for products
    return bool(names) and (names[0] in known or names[0].endswith("_id") or names[-1] in known - texts)


def _are_numbered_alike(first: str, second: str) -> bool:
    return DIGITS.search(first) is not None and DIGITS.sub("0", first) == DIGITS.sub("0", second)


def is_topics(file: InputFile) -> bool:
    """Tell whether it is marked up with ``<top>`` or ``<topic>``."""
    return file.head.lstrip().startswith("<") and TOPIC.search(file.head) is not None


def read_keys_of_lines(file: InputFile) -> tuple[str, ...]:
    """The keys of the first line of a JSONL file; none for other files."""
    if not JSON.match(file.head):
        return ()
    found = file.first_object
    holds = (has_judgment_columns, has_query_columns, has_ranking_columns)
    if found is None or (len(file.first_lines) == 1 and not any(has(found) for has in holds)):
        return ()
    return tuple(found)


def _has_keys(file: InputFile, keys: Sequence[str]) -> bool:
    """Tell whether it is one JSON value, over any number of lines, that names all these keys early on."""
    return _is_json(file) and all(f'"{key}"' in file.head for key in keys)


def _is_json(file: InputFile) -> bool:
    return JSON.match(file.head) is not None and not read_keys_of_lines(file)


def is_quepid_case(file: InputFile) -> bool:
    """Tell whether it is a Quepid case, or its ratings alone."""
    return not is_rre(file) and _has_keys(file, ("queries", "ratings"))


is_quepid_book = partial(_has_keys, keys=("query_doc_pairs",))
"""True for a Quepid book."""
is_rre = partial(_has_keys, keys=("queries", "placeholders"))
"""True for a ratings file of Rated Ranking Evaluator."""
is_rank_eval = partial(_has_keys, keys=("requests", "ratings"))
"""True for a request of Elasticsearch's ranking evaluation."""


def is_workbench_judgments(file: InputFile) -> bool:
    """Tell whether it is a judgment list of OpenSearch's Search Relevance Workbench."""
    return JSON.match(file.head) is not None and all(f'"{key}"' in file.head for key in ("judgmentRatings", "ratings"))


def is_workbench_queries(file: InputFile) -> bool:
    """Tell whether it is a query set of the workbench, or a judgment list, which has its queries."""
    found = JSON.match(file.head) is not None and '"querySetQueries"' in file.head
    return found or is_workbench_judgments(file)


_ANSWER = re.compile(
    r'"hits"\s*:\s*\{(?:[^{}\[\]]|\{[^{}]*\})*"hits"\s*:\s*\['
    r'|"response"\s*:\s*\{[^{}\[\]]*"docs"\s*:\s*\['
    r'|"root"\s*:\s*\{(?:(?!"root")[^\[\]])*"(?:coverage|fields)"\s*:\s*\{'
)
"""Parts that no ranking in plain JSON has: hits of Elasticsearch and OpenSearch, of Solr, of Vespa."""


def is_responses(file: InputFile) -> bool:
    """Tell whether it holds answers of a search engine by query, as one JSON object or an object on each line."""
    answers = JSON.match(file.head) is not None and _ANSWER.search(file.head) is not None
    return answers and not is_workbench_queries(file)


def is_plain_json(file: InputFile) -> bool:
    """Tell whether it is one JSON value without a format of its own."""
    special = (is_quepid_case, is_quepid_book, is_rre, is_rank_eval, is_responses, is_workbench_queries)
    return _is_json(file) and not any(is_one(file) for is_one in special)


def is_beir(file: InputFile) -> bool:
    """Tell whether it is a folder with queries or judgments in the layout of BEIR."""
    return file.is_folder and ((file.path / "queries.jsonl").is_file() or (file.path / "qrels").is_dir())


NEEDED: dict[Content, tuple[tuple[str, ...], ...]] = {
    "queries": (("id",), ("text",)),
    "judgments": (("query",), ("document",), ("grade",)),
    "rankings": (("query",), ("document",), ("score", "rank")),
}
"""The kinds of required columns; one of each group, see COLUMN_NAMES."""


def _describe_missing_columns(names: Sequence[str], content: Content) -> tuple[str, str] | None:
    """A suggestion about missing columns, and their known names; None if all columns are there, or none of them."""
    found = {kinds: _find_kind(names, kinds) for kinds in NEEDED[content]}
    missing = [kinds for kinds, name in found.items() if not name]
    if not missing or len(missing) == len(found):
        return None
    there = " and ".join(f"the {kinds[0]} ({name})" for kinds, name in found.items() if name)
    lacking = " nor for the ".join(" or ".join(kinds) for kinds in missing)
    known = "\n  ".join(
        f"column names for the {kind}: {list_column_names(kind)}" for kinds in missing for kind in kinds
    )
    return f"as a table it has {there}, but no column for the {lacking}", known


def _find_kind(names: Sequence[str], kinds: Sequence[str]) -> str:
    """The column of one of these kinds; empty if there is none."""
    found = next((name for kind in kinds if (name := find_column(names, kind)) is not None), "")
    return "query" if kinds == ("id",) and not found and has_query_id(names) else str(found)
