"""YAML is read as text with places, and what no suite needs of it is refused."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.suites import yaml_tree
from pytest_ireval.suites.scalars import File, Items, Keys, Scalar
from pytest_ireval.suites.suite import Place
from pytest_ireval.suites.yaml_tree import read_tree, tree_of

SHOP = File("shop.yaml", "/suites")


def read(text):
    return tree_of(text.encode(), SHOP)


def problems(text):
    return [str(problem) for problem in read(text).problems]


def test_every_scalar_is_text():
    assert read("query: 007\nn: no\nat: 12:30\nday: 2027-04-01\nnone: ~\nempty:\n").top == {
        "query": "007",
        "n": "no",
        "at": "12:30",
        "day": "2027-04-01",
        "none": "~",
        "empty": "",
    }


def test_keys_and_values_know_where_they_stand():
    top = read("a: b\nc:\n  - ä: x\n    y: [1,  2]\n").top
    key = list(top["c"][0])[1]

    assert top["a"].place == Place("shop.yaml", 1, 4)
    assert top["c"].place == Place("shop.yaml", 3, 3)
    assert key.place == Place("shop.yaml", 4, 5)
    assert top["c"][0]["y"][1].place == Place("shop.yaml", 4, 13)
    assert top["c"][0]["ä"].place == Place("shop.yaml", 3, 8)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: b\nc: d\na: e\n", "shop.yaml:3:1\n  duplicate key 'a'\n  the first is in line 1"),
        (
            "a: !!python/object/apply:os.system [ls]\n",
            "shop.yaml:1:4\n  the tag '!!python/object/apply:os.system' is refused: "
            "a suite holds text, lists and mappings only",
        ),
        ("a: !!int 1\n", "shop.yaml:1:4\n  the tag '!!int' is refused: a suite holds text, lists and mappings only"),
        (
            "a: &x {b: c}\nd:\n  <<: *x\n",
            "shop.yaml:3:3\n  merge keys (<<) are refused: suites inherit with extends\n  use extends, or repeat it",
        ),
        (
            "? [a, b]\n: c\n",
            "shop.yaml:1:3\n  a list or a mapping cannot be a key: a key is text\n  quote it, if it is one text",
        ),
        ("a: *b\n", "shop.yaml:1:4\n  *b refers to an anchor that is not defined before it"),
        ("a: &b [*b]\n", "shop.yaml:1:8\n  *b is inside of what it repeats"),
        (
            "a: b\n---\nc: d\n",
            "shop.yaml:2:1\n  a second document begins here: a file holds one suite\n  use a file for each",
        ),
        ("", "shop.yaml\n  is empty: a suite begins with a line 'ireval: 1'"),
        ("- a\n", "shop.yaml\n  is not a mapping: a suite begins with a line 'ireval: 1'"),
        (
            "metrics: [nDCG(gain='exp', k=2)@10, AP]\n",
            "shop.yaml:1:11\n  quote this metric name: it contains commas\n  write \"nDCG(gain='exp', k=2)@10\"",
        ),
        (
            "rule: {metric: nDCG(gain='exp', k=2)@10, tolerance: 1%}\n",
            "shop.yaml:1:16\n  quote this metric name: it contains commas\n  write \"nDCG(gain='exp', k=2)@10\"",
        ),
        (
            "metrics: [P@[5, 10]]\n",
            "shop.yaml:1:13\n  is not YAML: while parsing a flow sequence, did not find expected ',' or ']'\n"
            '  quote names of metrics that hold brackets, braces, commas or quotes: "nDCG(gain={1: 1, 2: 3})@10"',
        ),
        (
            "owner: @search\n",
            "shop.yaml:1:8\n  is not YAML: while scanning for the next token, "
            "found character that cannot start any token\n  quote text that begins with @",
        ),
        (
            "a: 1\nb:\n\tc: 1\n",
            "shop.yaml:3:1\n  is not YAML: while scanning for the next token, "
            "found character that cannot start any token\n"
            "  a tab indents this line, but YAML allows only spaces: replace it with spaces",
        ),
        (
            "a: 1\n\tb: 2\n",
            "shop.yaml:2:1\n  is not YAML: while scanning a plain scalar that begins in line 1, found a tab "
            "character that violates indentation\n"
            "  a tab indents this line, but YAML allows only spaces: replace it with spaces",
        ),
        (
            "threshold: {nDCG@10: >= 0.7}\n",
            "shop.yaml:1:22\n  is not YAML: while scanning for the next token, "
            'found character that cannot start any token\n  quote text that begins with >: ">= 0.7"',
        ),
        (
            "threshold:\n  nDCG@10: > 5%\n",
            "shop.yaml:2:14\n  is not YAML: while scanning a block scalar, did not find expected comment or "
            "line break\n"
            '  quote text that begins with >: "> 5%"',
        ),
        (
            "rule: {by_more_than: ${DROP}, at_most: 2}\n",
            "shop.yaml:1:23\n  is not YAML: while parsing a flow mapping, did not find expected ',' or '}'\n"
            '  quote a variable inside of braces or brackets: "${DROP}"',
        ),
        (
            "a: 1\ndepth:10\n\n# more\nb: 2\n",
            "shop.yaml:2:6\n  is not YAML: missing space after ':'\n  write depth: 10",
        ),
        ("depth:10\nb: 2\n", "shop.yaml:1:6\n  is not YAML: missing space after ':'\n  write depth: 10"),
        (
            "rules:\n  - a: 1\n    b:2\n    c: 3\n",
            "shop.yaml:3:6\n  is not YAML: missing space after ':'\n  write b: 2",
        ),
        (
            "a: 1\nno colon\nb: 2\n",
            "shop.yaml:2:1\n  is not YAML: while scanning a simple key, could not find expected ':'",
        ),
        (
            "a: 1\nrule: {b: 1,\n  c: 2\n\nd: [1]\n",
            "shop.yaml:5:2\n  is not YAML: while parsing a flow mapping that begins in line 2, "
            "did not find expected ',' or '}'",
        ),
        ("a: \x01\n", "shop.yaml:1:4\n  is not YAML: control characters are not allowed"),
        ("a: " + "[" * 900, "shop.yaml:1:53\n  is nested deeper than 50 levels"),
    ],
)
def test_what_is_refused_says_where_and_why(text, says):
    assert problems(text) == [says]


def test_any_depth_is_refused_in_the_same_words():
    [problem] = problems("a: " + "[" * 100_000)

    assert problem.endswith("is nested deeper than 50 levels")


def test_a_torn_name_is_put_together_so_that_nothing_else_is_said_of_it():
    tree = read("rule: {metric: nDCG(gain='exp', k=2)@10, tolerance: 1%}\nm: [P(rel=1, k=2)@5, AP]\n")

    assert tree.top == {
        "rule": {"metric": "nDCG(gain='exp', k=2)@10", "tolerance": "1%"},
        "m": ["P(rel=1, k=2)@5", "AP"],
    }


def test_several_mistakes_are_found_in_one_go():
    assert len(problems("a: !!int 1\na: 2\nb: *x\n")) == 3


def test_a_text_tag_and_an_anchor_are_no_mistakes():
    assert read("a: &x !!str 1\nb: *x\n").top == {"a": "1", "b": "1"}


def test_aliases_do_not_fill_the_memory():
    lines = ["a: &a [" + ", ".join("x" * 10) + "]"]
    lines += [f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)]

    assert problems("\n".join(lines)) == [
        "shop.yaml:4:36\n  aliases repeat more than 10,000 values\n  use extends or matrix"
    ]


def test_a_file_of_another_encoding_says_which_byte(tmp_path):
    path = tmp_path / "shop.yaml"
    path.write_bytes("owner: me\nsuite: Käse\n".encode("latin-1"))

    assert list(map(str, read_tree(path, SHOP).problems)) == [
        "shop.yaml:2\n  byte 19 is not UTF-8; a suite is written in UTF-8"
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path):
    path = tmp_path / "shop.yaml"
    path.write_bytes("ireval: 1\n".encode("utf-8-sig"))

    assert read_tree(path, SHOP).top == {"ireval": "1"}


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "shop.yaml"
    with open(path, "wb") as file:
        file.truncate(10 * 1024 * 1024 + 1)

    assert list(map(str, read_tree(path, SHOP).problems)) == [
        "shop.yaml\n  is larger than 2 MiB, the limit for a suite"
    ]


def test_a_file_that_is_not_there_is_a_problem(tmp_path):
    assert list(map(str, read_tree(tmp_path / "no.yaml", SHOP).problems)) == [
        "shop.yaml\n  cannot be read: No such file or directory"
    ]


def test_the_parser_written_in_python_says_the_same(monkeypatch):
    monkeypatch.setattr(yaml_tree, "PARSER", yaml.BaseLoader)

    assert read("a: [b, {c: d}]\n").top == {"a": ["b", {"c": "d"}]}
    assert problems("a: b\na: c\n") == ["shop.yaml:2:1\n  duplicate key 'a'\n  the first is in line 1"]
    assert problems("a: \x01\n") == ["shop.yaml:1:4\n  is not YAML: special characters are not allowed"]
    assert read("a: " + "[" * 100_000).problems


trees = st.recursive(
    st.text("ab {}[]:,#&*!'\"\n-0ä", max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc<", min_size=1, max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


def plainly(value):
    """The same without places."""
    if isinstance(value, Keys):
        return {str(key): plainly(each) for key, each in value.items()}
    return [plainly(each) for each in value] if isinstance(value, Items) else str(value)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=4), trees, min_size=1), st.booleans())
def test_what_yaml_writes_is_read_as_it_was(tree, flow):
    found = read(yaml.safe_dump(tree, default_flow_style=flow, allow_unicode=True))

    assert found.problems == ()
    assert plainly(found.top) == tree


@given(st.text("a:- \n[]{}&*!?|>'\"#,%@`(", max_size=30))
def test_whatever_stands_in_a_file_there_is_a_tree_or_a_reason(text):
    tree = read(text)

    assert tree.problems or all(isinstance(key, Scalar) for key in tree.top)
