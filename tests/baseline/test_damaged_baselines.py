"""A damaged baseline is never read: the error has the file, the line where one can be told, and what heals it."""

import gzip
import json
import os

import pytest
from made_baselines import FIRST, SECOND, baseline_of

from pytest_ireval.baseline import text as text_module
from pytest_ireval.baseline.fingerprints import fingerprint
from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.baseline.text import Damage, decode_baseline, encode_baseline, find_acceptances
from pytest_ireval.baseline.writing import write_baseline
from pytest_ireval.errors import BaselineError

AGAIN = 'accept again: pytest --ireval . -k shop --ireval-update --ireval-force --ireval-reason "…"'
TEXT = encode_baseline(baseline_of(acceptances=(FIRST, SECOND)))


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_baseline(tmp_path, baseline_of(acceptances=(FIRST, SECOND)))


def complaint(path):
    with pytest.raises(BaselineError) as error:
        read_baseline(path.parent, "shop")
    return str(error.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'["b", "a"]', b'["a", "b"]'),
        (b'"nDCG@10": 1.0', b'"nDCG@10": 0.5'),
        (b'"grades": {"a": 1}', b'"grades": {"a": 2}'),
        (b'"synonyms v2"', b'"synonyms v3"'),
        (b'"depth": 10', b'"depth": 11'),
        (b'"suite": "shop"', b'"suite": "blog"'),
        (b'{"query": "q3", "documents": []}\n', b""),
    ],
)
def test_a_line_edited_by_hand(path, old, new):
    assert path.read_bytes().count(old) == 1
    path.write_bytes(path.read_bytes().replace(old, new))

    assert complaint(path) == (
        f"shop.baseline\n  is not what was accepted: it was merged by git or edited by hand\n  {AGAIN}"
    )


@pytest.mark.parametrize(
    ("content", "complained"),
    [
        (TEXT[:-30], "shop.baseline:10\n  is cut short"),
        (
            TEXT.replace(b'"format": 1', b'"format": 2'),
            "shop.baseline:1\n  has format 2; this version of pytest-ireval",
        ),
        (b"", 'shop.baseline:1\n  does not begin with the line {"format": …, "digest": …} of a baseline'),
        (b"\xff\xfe", "shop.baseline:1\n  does not begin with the line"),
        (b"[" * 100_000, "shop.baseline:1\n  does not begin with the line"),
        (TEXT.replace(b'{"query": "q2"', b'<<<<<<< HEAD\n{"query": "q2"'), "\n  has the marks of a merge conflict"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "\n  is a pointer of Git LFS"),
    ],
)
def test_what_is_wrong_is_said_with_the_line(path, content, complained):
    path.write_bytes(content)

    assert complained in complaint(path)


def test_what_was_committed_heals_it(path, git):
    git("add", ".")
    git("commit", "--quiet", "-m", "accepted")
    path.write_bytes(TEXT.replace(b'["b", "a"]', b'["a", "b"]'))

    assert complaint(path).endswith(
        "\n  take what was committed: git checkout HEAD -- shop.baseline; then accept again: pytest --ireval . "
        '-k shop --ireval-update --ireval-reason "…"'
    )


def test_a_file_cut_short_anywhere_or_with_another_byte_is_no_baseline():
    for end in range(0, len(TEXT), 3):
        with pytest.raises(Damage):
            decode_baseline(TEXT[:end], "here")
        with pytest.raises(Damage):
            decode_baseline(TEXT[:end] + bytes([TEXT[end] ^ 1]) + TEXT[end + 1 :], "here")


def write_digest(*lines):
    """Text whose digest is right, whatever its lines say."""
    body = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    return f'{{"format": 1, "digest": "{fingerprint(body)}"}}\n'.encode() + body


SUITE = {"suite": "shop", "depth": 10}
PRINTS = {"fingerprints": {}}
ACCEPTED = {"acceptance": "2026-11-02T10:00:00Z"}


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [SUITE, PRINTS],
        [SUITE, ACCEPTED],
        [{"suite": "shop", "depth": "ten"}, PRINTS, ACCEPTED],
        [{"suite": ["shop"], "depth": 10}, PRINTS, ACCEPTED],
        [SUITE, {"fingerprints": {"other": ""}}, ACCEPTED],
        [SUITE, PRINTS, {"acceptance": 7}],
        [SUITE, PRINTS, ACCEPTED, {"query": "q", "documents": [1]}],
        [SUITE, PRINTS, ACCEPTED, {"query": "q", "documents": ["a", "b"], "scores": [1.0]}],
        [SUITE, PRINTS, ACCEPTED, {"query": "q", "values": {"unknown": 1.0}}],
        [SUITE, PRINTS, ACCEPTED, []],
        [SUITE, PRINTS, ACCEPTED, 7],
        [{**SUITE, "askings": 2}, PRINTS, ACCEPTED, {"query": "q", "documents": []}],
    ],
)
def test_text_of_another_shape_whose_digest_is_right_is_damage_too(lines):
    with pytest.raises(Damage, match=r"^is not a baseline: "):
        decode_baseline(write_digest(*lines), "here")


def test_acceptances_that_can_be_read_are_found_in_a_damaged_file():
    broken = TEXT.replace(b'{"acceptance"', b'<<<<<<< HEAD\n{"acceptance"', 1) + b'{"acceptance": 7}\n{"acceptance'

    assert find_acceptances(broken) == (FIRST, SECOND)
    assert find_acceptances(gzip.compress(TEXT)) == (FIRST, SECOND)
    assert find_acceptances(b"\x1f\x8bx") == ()


def test_a_packed_file_that_cannot_be_unpacked(path):
    packed = path.rename(path.with_name("shop.baseline.gz"))
    packed.write_bytes(gzip.compress(TEXT)[:-9])

    assert "shop.baseline.gz\n  cannot be unpacked: " in complaint(path)


def test_a_packed_file_that_would_fill_the_memory(path, monkeypatch):
    monkeypatch.setattr(text_module, "LARGEST", 1 << 20)
    packed = path.rename(path.with_name("shop.baseline.gz"))
    packed.write_bytes(gzip.compress(bytes(3 << 20)))

    assert "\n  holds more than 1 MiB, the limit for a baseline\n" in complaint(path)


def test_the_file_of_another_suite(path):
    path.rename("blog.baseline")

    with pytest.raises(BaselineError) as error:
        read_baseline(path.parent, "blog")
    assert str(error.value) == (
        "blog.baseline\n  is the baseline of suite 'shop'\n"
        "  git checkout HEAD -- blog.baseline restores what was committed; if the suite was renamed, "
        f"{AGAIN.replace('shop', 'blog')}"
    )


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs rights that can be taken away")
def test_a_file_that_may_not_be_read(path):
    path.chmod(0)

    assert complaint(path) == "shop.baseline\n  cannot be read: Permission denied"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_place_of_a_baseline_is_not_waited_for(path):
    path.unlink()
    os.mkfifo(path)

    assert complaint(path) == "shop.baseline\n  is not a file\n  remove it"
