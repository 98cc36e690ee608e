"""Tables of other names, and all that can be wrong with one."""

import gzip

import pytest

from pytest_ireval import InputError
from pytest_ireval.data.aliases import read_aliases, read_groups


@pytest.fixture
def write_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, name="ids.tsv"):
        (tmp_path / name).write_bytes(text.encode())
        return name

    return write


def read_error(read, name):
    with pytest.raises(InputError) as caught:
        read(name)
    return str(caught.value)


def test_aliases_as_tsv_and_csv_with_more_columns(write_table, tmp_path):
    expected = {"old 1": "new 1", "old2": "new,2"}

    assert read_aliases(write_table("from\tto\nold 1\tnew 1\nold2\tnew,2\n")) == expected
    assert read_aliases(write_table('since,New ID,Old-ID\n2024,new 1,old 1\n,"new,2",old2\n')) == expected
    (tmp_path / "ids.gz").write_bytes(gzip.compress(b"from\tto\r\nold 1\tnew 1\r\n"))
    assert read_aliases("ids.gz") == {"old 1": "new 1"}


def test_chains_lead_to_the_name_at_their_end(write_table):
    assert read_aliases(write_table("from\tto\nb\tc\na\tb\nz\ta\nc\td\n")) == {"a": "d", "b": "d", "c": "d", "z": "d"}


def test_circles_are_errors_that_show_them(write_table):
    assert read_error(read_aliases, write_table("from\tto\nx\ta\na\tb\nb\tc\nc\ta\n")) == (
        "ids.tsv:3\n  aliases lead in a circle: 'a' → 'b' → 'c' → 'a'"
    )


def test_two_names_for_one_id_are_an_error_and_the_same_twice_is_none(write_table):
    assert read_aliases(write_table("from\tto\na\tb\na\tb\n")) == {"a": "b"}
    assert read_error(read_aliases, write_table("from\tto\na\tb\n\na\tc\n")) == (
        "ids.tsv:4\n  'a' is called 'c' here, and called 'b' at ids.tsv:2"
    )


def test_all_that_is_wrong_is_said_at_once(write_table):
    assert read_error(read_aliases, write_table('from\tto\na\t\n"b"\tc\n \td\n')) == (
        "ids.tsv:2\n  '' is not an id; ids are text (or whole numbers)\n"
        'ids.tsv:3\n  the id "b" is in quotes\n  TSV has no quoting: remove the quotes, or use CSV\n'
        "ids.tsv:4\n  '' is not an id; ids are text (or whole numbers)"
    )


def test_columns_that_are_not_there(write_table):
    assert read_error(read_aliases, write_table("old1\tnew1\n")) == (
        "ids.tsv\n  there is no column 'from': the first line names 'old1', 'new1'\n  allowed: one of from, old, old_id"
    )
    assert read_error(read_groups, write_table("document\tfamily\n")) == (
        "ids.tsv\n  there is no column 'group': the first line names 'document', 'family'\n"
        "  allowed: one of group, group_id, variant_of"
    )
    assert read_error(read_aliases, write_table("from\tto\n")) == (
        "ids.tsv\n  there are no rows below the column names"
    )


def test_groups(write_table):
    assert read_groups(write_table("doc_id,group\nmug-red,mug\nmug-blue,mug\nmug,mug\n", "groups.csv")) == {
        "mug-red": "mug",
        "mug-blue": "mug",
        "mug": "mug",
    }
    assert read_error(read_groups, write_table("document\tgroup\na\tx\nb\tx\na\ty\n")) == (
        "ids.tsv:4\n  'a' is in group 'y' here, and in group 'x' at ids.tsv:2"
    )


def test_a_document_that_is_called_like_a_group_of_others_belongs_to_it(write_table):
    assert read_error(read_groups, write_table("document\tgroup\nmug-red\tmug\nmug\tkitchen\n")) == (
        "ids.tsv:3\n  'mug' is in group 'kitchen', but is also the group of other documents\n"
        "  a document with the name of a group belongs to that group: put all of them into one group"
    )


def test_a_long_chain_is_followed_to_its_end(write_table):
    rows = "".join(f"d{i}\td{i + 1}\n" for i in range(20_000))

    assert set(read_aliases(write_table("from\tto\n" + rows)).values()) == {"d20000"}


def test_a_long_circle_is_told_in_one_line_that_can_be_read(write_table):
    steps = [f"d{number}" for number in range(5000)]
    rows = "".join(f"{old}\t{new}\n" for old, new in zip(steps, [*steps[1:], "d0"], strict=True))

    said = read_error(read_aliases, write_table(f"from\tto\n{rows}"))

    assert "'d0' → 'd1' → " in said
    assert said.endswith("→ 4,982 more → 'd0'")
    assert len(said) < 500
