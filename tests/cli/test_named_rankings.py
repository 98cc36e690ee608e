"""What rankings are called on the command line."""

import pytest

from pytest_ireval import InputError
from pytest_ireval.cli.options import name_files


@pytest.fixture
def at(tmp_path, monkeypatch):
    """Makes files in a fresh folder, which is the current one."""
    monkeypatch.chdir(tmp_path)

    def make(*paths):
        for path in paths:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(path)

    return make


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["bm25.txt", "dense.run"], ["bm25", "dense"]),
        (["runs/bm25.txt.gz", "dense.zst"], ["bm25", "dense"]),
        (["a/run.txt", "b/run.txt"], ["a/run", "b/run"]),
        (["run.txt", "a/run.txt"], ["run", "a/run"]),
        (["model-1.5", "model-1.txt", "model-1.6.gz"], ["model-1.5", "model-1", "model-1.6"]),
        ([".hidden", "other"], [".hidden", "other"]),
        (["old=a/run.txt", "new=b/run.txt"], ["old", "new"]),
        (["run=other.txt", "run.txt"], ["run", "run.txt"]),
        (["piped=-", "b.txt"], ["piped", "b"]),
    ],
)
def test_names_are_short_and_distinct(arguments, names):
    assert list(name_files(arguments)) == names


def test_a_path_that_has_an_equals_sign_is_a_path_where_it_exists(at):
    at("k1=0.9.txt", "k1=1.2.txt")

    assert name_files(["low=k1=0.9.txt", "A=none.txt"]) == {"low": "k1=0.9.txt", "A": "none.txt"}
    assert name_files(["k1=0.9.txt", "k1=1.2.txt"]) == {"k1=0.9": "k1=0.9.txt", "k1=1.2": "k1=1.2.txt"}


def test_one_file_twice_is_an_error(at):
    at("a.txt")

    with pytest.raises(InputError) as caught:
        name_files(["A=a.txt", "B=./a.txt"])
    assert str(caught.value) == (
        "./a.txt\n  is the same file as a.txt\n  a ranking is compared with others, not with itself"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["A=a.txt", "A=b.txt"], "a.txt, b.txt\n  duplicate name 'A'"),
        (["=a.txt", "b.txt"], "=a.txt\n  missing name before the =\n  write NAME=path"),
        (["A=", "b.txt"], "A=\n  missing path after the =\n  write NAME=path"),
    ],
)
def test_a_name_that_is_none_is_an_error(arguments, message):
    with pytest.raises(InputError) as caught:
        name_files(arguments)

    assert str(caught.value) == message
