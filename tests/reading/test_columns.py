"""The columns of lines, found by whole-array arithmetic, are those that splitting each line finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.retrieval.scan.tokens import BadLines, Chunk, columns

words = st.text(st.characters(codec="utf-8", exclude_characters="\0\t\n\v\f\r #"), min_size=1, max_size=20)
separators = st.sampled_from([" ", "\t", "  ", " \t", "\v", "\f"])
edges = st.sampled_from(["", " ", "\t", "  "])
line_ends = st.sampled_from(["\n", "\r\n", " \n", "\t\r\n"])


@st.composite
def texts(draw, width, wider):
    """Lines of ``width`` words or more, regular or not, with lines in between that have no content."""
    regular = draw(st.booleans())
    between = st.just(" ") if regular else separators
    lines = []
    for _ in range(draw(st.integers(0, 6))):
        more = draw(st.integers(0, wider)) if not regular else 0
        line = draw(words)
        for word in draw(st.lists(words, min_size=width - 1 + more, max_size=width - 1 + more)):
            line += draw(between) + word
        lines.append(line + "\n" if regular else draw(edges) + line + draw(line_ends))
        if not regular and draw(st.booleans()):
            lines.append(draw(st.sampled_from(["", " ", "#", " # some words", "#a b c d e f"])) + draw(line_ends))
    return "".join(lines)


def split(text):
    """The words of the lines that have content."""
    lines = [line.split() for line in text.encode().split(b"\n")]
    return [words for words in lines if words and not words[0].startswith(b"#")]


def found(text, width, wanted, exact):
    """The words of the wanted columns, line by line."""
    chunk = Chunk.of(text.encode())
    return [chunk.tokens(*span) for span in columns(chunk, width, wanted, exact=exact)]


@given(texts(6, wider=3))
def test_columns_of_lines_with_extra_words(text):
    lines = split(text)

    if text:
        assert found(text, 6, range(6), exact=False) == [[line[column] for line in lines] for column in range(6)]


@given(texts(4, wider=0), st.lists(st.integers(0, 3), min_size=1, unique=True))
def test_some_columns_of_lines_of_exact_width(text, wanted):
    lines = split(text)

    if text:
        assert found(text, 4, wanted, exact=True) == [[line[column] for line in lines] for column in wanted]


@given(st.lists(st.sampled_from(["a", "b", " ", " ", "#", "\t", "\n", "\r\n"]), max_size=40))
def test_any_text_has_the_columns_that_splitting_finds_or_is_refused(pieces):
    text = "".join(pieces) + "\n"
    lines = split(text)

    for exact in (True, False):
        if all(len(line) == 2 or (len(line) > 2 and not exact) for line in lines):
            assert found(text, 2, [0, 1], exact) == [[line[0] for line in lines], [line[1] for line in lines]]
        else:
            with pytest.raises(BadLines):
                found(text, 2, [0, 1], exact)


@pytest.mark.parametrize(
    ("text", "complaints"),
    [
        ("a b c\na b\n", ((6, "has 2 columns"),)),
        ("a b c\na b c d\n", ((6, "has 4 columns"),)),
        ("a b\nc d e f\n", ((0, "has 2 columns"), (4, "has 4 columns"))),
        ("a b c\n\n  # a\n  a\n", ((15, "has 1 column"),)),
        ("a b c d e f\n", ((0, "has 6 columns"),)),
        ("a b  c\na\n", ((7, "has 1 column"),)),
    ],
)
def test_lines_of_another_width_are_refused(text, complaints):
    with pytest.raises(BadLines) as caught:
        found(text, 3, [0], exact=True)

    assert caught.value.complaints == complaints


def test_words_of_two_lines_are_not_taken_for_one_line():
    with pytest.raises(BadLines) as caught:
        found("a b c d\na b\na b\na b c d\n", 3, [0], exact=False)

    assert caught.value.complaints == ((8, "has 2 columns"), (12, "has 2 columns"))


def test_the_first_five_are_shown_and_the_rest_is_counted():
    with pytest.raises(BadLines) as caught:
        found("a\n" * 12, 3, [0], exact=False)

    assert [offset for offset, _ in caught.value.complaints] == [0, 2, 4, 6, 8]
    assert caught.value.more == 7
