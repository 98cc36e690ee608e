"""YAML is read as text with places, and what no suite needs of it is refused."""

from textwrap import indent

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.suite import yaml_tree
from pytest_ireval.suite.scalars import File, Items, Keys, Scalar
from pytest_ireval.suite.suite import Place
from pytest_ireval.suite.yaml_tree import read_tree, tree_of

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


WRONG = [
    "a: b\nc: d\na: e\n",
    "a: !!python/object/apply:os.system [ls]\n",
    "a: !!int 1\n",
    "a: &x {b: c}\nd:\n  <<: *x\n",
    "? [a, b]\n: c\n",
    "a: *b\n",
    "a: &b [*b]\n",
    "a: b\n---\nc: d\n",
    "",
    "- a\n",
    "metrics: [nDCG(gain='exp', k=2)@10, AP]\n",
    "rule: {metric: nDCG(gain='exp', k=2)@10, tolerance: 1%}\n",
    "threshold: {nDCG(gain='exp', k=2)@10: '> 0'}\n",
    "metrics: [P@[5, 10]]\n",
    "owner: @search\n",
    "a: 1\nb:\n\tc: 1\n",
    "a: 1\n\tb: 2\n",
    "threshold: {nDCG@10: >= 0.7}\n",
    "threshold:\n  nDCG@10: > 5%\n",
    "rule: {by_more_than: ${DROP}, at_most: 2}\n",
    "watches: **/*.py\n",
    "watches: !docs/**\n",
    "a: 1\ndepth:10\n\n# more\nb: 2\n",
    "rules:\n  - a: 1\n    b:2\n    c: 3\n",
    "a: 1\nno colon\nb: 2\n",
    "a: 1\nrule: {b: 1,\n  c: 2\n\nd: [1]\n",
    "a: \x01\n",
    "a: " + "[" * 60 + "]" * 60,
    "a: " + "[" * 100_000,
]


def test_what_is_refused_says_where_and_why(golden):
    golden(
        "refused.txt",
        "\n".join(f"{text[:60]!r}\n" + indent("\n".join(problems(text)), "    ") for text in WRONG) + "\n",
    )


def test_nothing_else_is_said_of_a_torn_name():
    assert not read("m: [P(rel=1, k=2)@5, AP]\n").whole


def test_several_mistakes_are_found_in_one_go():
    assert len(problems("a: !!int 1\na: 2\n? [b]\n: c\n")) == 3


def test_a_text_tag_and_an_anchor_are_no_mistakes():
    assert read("a: &x !!str 1\nb: *x\n").top == {"a": "1", "b": "1"}


def test_aliases_do_not_fill_the_memory():
    lines = ["a: &a [" + ", ".join("x" * 10) + "]"]
    lines += [f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)]

    assert problems("\n".join(lines)) == [
        "shop.yaml:1:11\n  aliases repeat more than 10,000 values\n  use extends or matrix"
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            "owner: me\nsuite: Käse\n".encode("latin-1"),
            "shop.yaml:2\n  byte 19 is not UTF-8; a suite is written in UTF-8",
        ),
        (b" " * (2 * 1024 * 1024 + 1), "shop.yaml\n  is larger than 2 MiB, the limit for a suite"),
        (None, "shop.yaml\n  cannot be read: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path, content, says):
    path = tmp_path / "shop.yaml"
    if content is not None:
        path.write_bytes(content)

    assert list(map(str, read_tree(path, SHOP).problems)) == [says]


def test_a_byte_order_mark_is_no_part_of_the_first_key():
    assert tree_of("ireval: 1\n".encode("utf-8-sig"), SHOP).top == {"ireval": "1"}


def test_the_parser_written_in_python_says_the_same(monkeypatch):
    monkeypatch.setattr(yaml_tree, "LOADER", yaml.BaseLoader)

    assert read("a: [b, {c: d}]\n").top == {"a": ["b", {"c": "d"}]}
    assert problems("a: b\na: c\n") == ["shop.yaml:2:1\n  duplicate key 'a'\n  the first is in line 1"]
    assert problems("a: \x01\n") == ["shop.yaml:1:4\n  is not YAML: special characters are not allowed"]
    assert read("a: " + "[\n " * 100_000).problems  # in one line it would look at all of them for each one


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

    assert found.problems == []
    assert plainly(found.top) == tree


@given(st.text("a:- \n[]{}&*!?|>'\"#,%@`(", max_size=30))
def test_whatever_stands_in_a_file_there_is_a_tree_or_a_reason(text):
    tree = read(text)

    assert tree.problems or all(isinstance(key, Scalar) for key in tree.top)


def test_a_rule_without_its_dash_is_named_by_its_line():
    (problem,) = problems("rules:\n  threshold: {AP: 1}\n  # more\n  - churn: {below: 1}\n")
    assert problem.endswith("begin line 2 with '- ', too: it is an entry of the same list")
