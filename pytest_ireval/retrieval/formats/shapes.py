"""What a glance at the beginning of a file tells about its format; each answer excludes the more special ones."""

from __future__ import annotations

import re
from collections import Counter

from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.tables import (
    BEIR_JUDGMENTS,
    COLUMN_NAMES,
    PRODUCTS,
    holds_judgments,
    holds_queries,
    holds_rankings,
    plain,
)
from pytest_ireval.retrieval.values import NUMBER

JSON = re.compile(r"\s*[{\[]\s*[\"{}\[\]]")
"""How JSON begins; a query may be called ``[q1]``, and is no JSON."""
TOPIC = re.compile(r"<(top|topic)\b", re.IGNORECASE)
DIGITS = re.compile(r"\d+")
HOLDS = (holds_judgments, holds_queries, holds_rankings)
QUEPID_CASE = ({"query", "docid", "rating"}, {"query", "doc_id", "rating"})
QUEPID_DETAILED = {"case_id", "query_text", "doc_id", "rating"}


def is_parquet(file: InputFile) -> bool:
    """Whether it is a Parquet file."""
    return file.file is not None and file.file.magic == b"PAR1"


def is_text(file: InputFile) -> bool:
    """Whether it is neither a folder, nor Parquet, nor JSON, nor marked up."""
    return bool(file.first_lines) and not is_parquet(file) and not JSON.match(file.head) and not is_topics(file)


def is_quepid_table(file: InputFile) -> bool:
    """Whether it is a Quepid case's export of ratings, short or detailed."""
    names = {plain(name) for name in file.header}
    return is_text(file) and (names in QUEPID_CASE or names >= QUEPID_DETAILED)


def begins_like_a_book(file: InputFile) -> bool:
    """Whether it may be the judgments of a Quepid book: query, docid, then columns that could be judges or anything."""
    return is_text(file) and tuple(map(plain, file.header))[:2] == ("query", "docid") and len(file.header) > 2


def is_table_of_judgments(file: InputFile) -> bool:
    """Whether the first line names the columns of judgments."""
    return is_text(file) and holds_judgments(file.header) and not is_quepid_table(file)


def is_table_of_rankings(file: InputFile) -> bool:
    """Whether the first line names the columns of rankings."""
    return is_text(file) and holds_rankings(file.header) and not is_quepid_table(file) and not is_beir_judgments(file)


def is_beir_judgments(file: InputFile) -> bool:
    """Whether it is judgments as BEIR has them, whose grade is called score: all of them are whole numbers."""
    if tuple(map(plain, file.header)) != BEIR_JUDGMENTS:
        return False
    cells = [line.split(file.delimiter)[-1].strip() for line in file.first_lines[1:]]
    return all(cell.lstrip("+-").isdigit() for cell in cells)


def is_table_of_queries(file: InputFile) -> bool:
    """Whether the first line names the columns of queries."""
    return is_text(file) and holds_queries(file.header)


def has_header(file: InputFile) -> bool:
    """Whether the first line names columns that are known."""
    tables = (is_table_of_judgments, is_table_of_rankings, is_table_of_queries, is_quepid_table)
    return any(is_one(file) for is_one in tables)


def width_in_words(file: InputFile, number: int) -> int:
    """How many words most of the first lines have; 0 for what is no columns of words.

    Where lines differ in width, word ``number`` (counted from 0) of most of them must be a number.
    """
    if not is_text(file) or has_header(file) or has_features(file) or not file.first_words or has_texts(file):
        return 0
    counts = Counter(map(len, file.first_words))
    numeric = sum(len(words) > number and NUMBER.fullmatch(words[number]) is not None for words in file.first_words)
    sure = len(counts) == 1 or 2 * numeric > len(file.first_words)
    return counts.most_common(1)[0][0] if sure else 0


def has_texts(file: InputFile) -> bool:
    """Whether every line is an id, the only tab, and a text of words."""
    return all(line.count("\t") == 1 and " " not in line.split("\t")[0] for line in file.first_lines)


def is_qrels(file: InputFile) -> bool:
    """Whether it is columns of words, four a line, the last a grade."""
    return width_in_words(file, 3) == 4


def is_run(file: InputFile) -> bool:
    """Whether it is columns of words, six a line or more, the fifth a score."""
    return width_in_words(file, 4) >= 6


def has_subtopics(file: InputFile) -> bool:
    """Whether it is four columns of words of which the second changes."""
    return is_qrels(file) and len({words[1] for words in file.first_words if len(words) == 4}) > 1


def has_features(file: InputFile) -> bool:
    """Whether lines are a grade, then ``qid:``, then features."""
    return is_text(file) and any(len(words) > 1 and words[1].startswith("qid:") for words in file.first_words[:5])


def is_pairs(file: InputFile) -> bool:
    """Whether all first lines are two cells with one tab between them, and the first line names no columns."""
    return (
        is_text(file)
        and not has_header(file)
        and not names_a_column(file)
        and all(line.count("\t") == 1 and line[0] != "\t" for line in file.first_lines)
        and not has_texts_as_ids(file)
    )


def has_texts_as_ids(file: InputFile) -> bool:
    """Whether most first cells are several words: questions with their answers, not ids with texts."""
    texts = sum(" " in line.split("\t")[0].strip() for line in file.first_lines)
    return 2 * texts > len(file.first_lines)


def names_a_column(file: InputFile) -> bool:
    """Whether the first line looks like names of columns, be they of another kind of table or misspelt."""
    names = tuple(map(plain, file.header))
    if len(file.first_lines) > 1 and _numbered_alike(file.header[0], file.first_lines[1].partition(file.delimiter)[0]):
        return False  # q1 above q2 is an id, whatever its text is
    known = {name for groups in COLUMN_NAMES.values() for group in groups for name in group}
    texts = {name for group in PRODUCTS for name in group}  # people search for products
    return bool(names) and (names[0] in known or names[0].endswith("_id") or names[-1] in known - texts)


def _numbered_alike(first: str, second: str) -> bool:
    """Whether two ids differ in their numbers alone."""
    return DIGITS.search(first) is not None and DIGITS.sub("0", first) == DIGITS.sub("0", second)


def is_topics(file: InputFile) -> bool:
    """Whether it is marked up with ``<top>`` or ``<topic>``."""
    return file.head.lstrip().startswith("<") and TOPIC.search(file.head) is not None


def keys_of_lines(file: InputFile) -> tuple[str, ...]:
    """The keys of the first line of a JSONL file; nothing for other files."""
    if not JSON.match(file.head):
        return ()
    found = file.first_object
    if found is None or (len(file.first_lines) == 1 and not any(has(found) for has in HOLDS)):
        return ()
    return tuple(found)


def mentions(file: InputFile, *keys: str) -> bool:
    """Whether it is one JSON value, over any number of lines, that names all these keys early on."""
    return is_json(file) and all(f'"{key}"' in file.head for key in keys)


def is_json(file: InputFile) -> bool:
    """Whether it is one JSON value, over any number of lines."""
    return JSON.match(file.head) is not None and not keys_of_lines(file)


def is_quepid_case(file: InputFile) -> bool:
    """Whether it is a Quepid case, or its ratings alone."""
    return not is_rre(file) and mentions(file, "queries", "ratings")


def is_quepid_book(file: InputFile) -> bool:
    """Whether it is a Quepid book."""
    return mentions(file, "query_doc_pairs")


def is_rre(file: InputFile) -> bool:
    """Whether it is a ratings file of Rated Ranking Evaluator."""
    return mentions(file, "queries", "placeholders")


def is_rank_eval(file: InputFile) -> bool:
    """Whether it is a request of Elasticsearch's ranking evaluation."""
    return mentions(file, "requests", "ratings")


def is_plain_json(file: InputFile) -> bool:
    """Whether it is one JSON value that is none of the special ones."""
    special = (is_quepid_case, is_quepid_book, is_rre, is_rank_eval)
    return is_json(file) and not any(is_one(file) for is_one in special)


def is_beir(file: InputFile) -> bool:
    """Whether it is a folder with queries or judgments as BEIR lays them out."""
    return file.is_folder and ((file.path / "queries.jsonl").is_file() or (file.path / "qrels").is_dir())
