"""Random rankings and judgments files, as messy as files may be: what hypothesis draws them from."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st
from slow_reader import BYTE_ORDER_MARK

LENGTHS = [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 72, 130, 1000, 3990]


class MessyFiles(NamedTuple):
    """The bytes of a rankings file and of a judgments file for (partly) the same queries."""

    rankings: bytes
    judgments: bytes


def _usable(word: str) -> bool:
    return not word.startswith(("#", "\ufeff")) and not set(word) & set(" \t\n\v\f\r\0") and not word.isspace()


short_ids = st.text("abz09#", min_size=1, max_size=3).filter(_usable)
unicode_ids = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(_usable)
long_ids = st.builds(
    lambda stem, length, own, first: own + stem * length if first else stem * length + own,
    st.sampled_from("ax"),
    st.sampled_from(LENGTHS),
    short_ids,
    st.booleans(),
)
ids = st.one_of(short_ids, unicode_ids, long_ids)

digits = st.text("0123456789", min_size=1, max_size=25)
signs = st.sampled_from(["", "", "-", "+"])
plain_numbers = st.one_of(
    st.integers(-30, 30).map(str),
    st.builds("{}{}".format, signs, digits),
    st.builds("{}{}.{}".format, signs, st.text("0123456789", max_size=4), digits),
    st.builds("{}{}.".format, signs, digits),
    st.floats(0, 1).map(repr),
)
long_numbers = st.builds("{}0.123456789012345{}".format, signs, st.text("0459", max_size=10))
exponents = st.builds("{}{}.{}{}{}".format, signs, digits, digits, st.sampled_from("eE"), st.integers(-320, 270))
extremes = st.sampled_from(
    ["0", "-0", "+0.0", ".5", "5.", "1e300", "-1e300", "4e-324", "1e-400", "1.7976931348623157e308", "9007199254740993"]
)
numbers = st.one_of(plain_numbers, long_numbers, exponents, extremes)
grades = st.sampled_from(["0", "1", "2", "3", "-1", "+2", "1.0", "02"])

messy_separators = st.sampled_from([" ", " ", "\t", "  ", " \t ", "\t\t", "   "])
leading = st.sampled_from(["", "", "", " ", "\t "])
line_ends = st.sampled_from(["\n", "\n", "\r\n", " \n", "\t\r\n"])
extra_words = st.sampled_from(["", "", " one more", "\t7 8 9"])
between_lines = st.sampled_from(["", "", "", "", "\n", " \t\n", "\r\n", "# a b c d e f\n", " #\n", "#q 0 d 1 1 t\r\n"])


@st.composite
def messy_files(draw) -> MessyFiles:
    """A rankings file with its judgments."""
    queries = draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    documents = draw(st.lists(ids, min_size=1, max_size=7, unique=True))
    scores = draw(st.lists(numbers, min_size=1, max_size=5))
    ranked = draw(st.lists(st.sampled_from(queries), min_size=1, unique=True))
    lines = [line for query in ranked for line in draw(_ranking_lines(query, documents, scores))]
    if draw(st.booleans()):
        lines = draw(st.permutations(lines))
    pairs = st.tuples(st.sampled_from(queries), st.sampled_from(documents))
    judged = draw(st.lists(pairs, min_size=1, max_size=12, unique=True))
    judgments = [[query, "0", document, draw(grades)] for query, document in judged]
    return MessyFiles(draw(_file(lines, may_be_wider=True)), draw(_file(judgments, may_be_wider=False)))


@st.composite
def _ranking_lines(draw, query, documents, scores) -> list[list[str]]:
    retrieved = draw(st.lists(st.sampled_from(documents), min_size=1, unique=True))
    return [[query, "Q0", document, "1", draw(st.sampled_from(scores)), "tag"] for document in retrieved]


@st.composite
def _file(draw, lines, *, may_be_wider) -> bytes:
    """Lines written regularly, or in as many ways as there are."""
    if draw(st.booleans()):
        text = "".join(" ".join(words) + "\n" for words in lines)
    else:
        text = "".join(draw(_messy_line(words, may_be_wider)) for words in lines)
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    return draw(st.sampled_from([b"", b"", BYTE_ORDER_MARK])) + text.encode()


@st.composite
def _messy_line(draw, words, may_be_wider) -> str:
    text = draw(leading) + words[0]
    for word in words[1:]:
        text += draw(messy_separators) + word
    text += draw(extra_words) if may_be_wider else ""
    return draw(between_lines) + text + draw(line_ends)
