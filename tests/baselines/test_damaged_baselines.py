"""Files that are not what was written: a clear error with file, line and remedy; never a traceback, never half."""

import json
import os
import random
from contextlib import suppress

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from made_baselines import FIRST, SECOND, baseline_of, content

from pytest_ireval.baselines.files import baseline_files, fingerprint
from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.baselines.record import decoded_record
from pytest_ireval.baselines.stored import JUDGMENTS_HEAD as HEAD
from pytest_ireval.baselines.stored import Damage, decoded_grades, decoded_rankings
from pytest_ireval.baselines.writing import encoded_baseline, write_baseline
from pytest_ireval.errors import BaselineError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_baseline(tmp_path / "baselines", baseline_of())
    return (tmp_path / "baselines").relative_to(tmp_path)


def complaint(folder):
    with pytest.raises(BaselineError) as error:
        read_baseline(folder, "shop")
    return str(error.value)


def remedy(name):
    return (
        f"\n  git checkout -- baselines/{name} restores what was committed; or accept again: pytest --ireval "
        'SUITE --ireval-update --ireval-force --ireval-reason "…"'
    )


def edit(folder, name, old, new):
    path = folder / name
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new, 1))


def test_a_ranking_edited_by_hand(folder):
    edit(folder, "shop.rankings.tsv", b"q2\tb\ta", b"q2\ta\tb")

    assert complaint(folder) == (
        "baselines/shop.rankings.tsv\n  is not what was accepted: it was edited by hand, by a tool or by a merge"
        + remedy("shop.rankings.tsv")
    )


def test_a_figure_edited_by_hand(folder):
    edit(folder, "shop.json", b"0.75", b"0.7")

    assert complaint(folder) == (
        "baselines/shop.json\n  is not as it was written: it was edited by hand, by a tool or by a merge"
        + remedy("shop.json")
    )


def test_judgments_edited_by_hand(folder):
    edit(folder, "shop.judgments.tsv", b"a\t3", b"a\t2")

    assert complaint(folder).startswith("baselines/shop.judgments.tsv\n  is not what was accepted: ")


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("shop.rankings.tsv", b"q1\ta\tb\tc", b"q1\ta\tb\ta", "shop.rankings.tsv:2\n  document 'a' is ranked twice"),
        ("shop.rankings.tsv", b"q2\tb", b"q1\tb", "shop.rankings.tsv:3\n  duplicate query 'q1'"),
        ("shop.rankings.tsv", b"q2\tb", b"q2\t\xff", "shop.rankings.tsv:3\n  is not UTF-8"),
        ("shop.rankings.tsv", b"q2\tb", b"q2\t", "shop.rankings.tsv:3\n  an id is missing"),
        ("shop.rankings.tsv", b"\nq3\n", b"\nq", "shop.rankings.tsv:4\n  is cut off: its last line has no end"),
        ("shop.rankings.tsv", b"format 1", b"format 7", "shop.rankings.tsv:1\n  has format 7; this version of "
         "pytest-ireval reads format 1"),
        ("shop.rankings.tsv", b"depth 10", b"depth 5", "shop.rankings.tsv:1\n  has a depth or "
         "scores that differ from its .json file"),
        ("shop.rankings.tsv", b"# ireval", b"#", "shop.rankings.tsv:1\n  does not begin with the line "
         "'# ireval rankings, format 1, depth …'"),
        ("shop.judgments.tsv", b"a\t3", b"a\tx", "shop.judgments.tsv:2\n  is not a query, then documents with their "
         "grades"),
        ("shop.judgments.tsv", b"q2\ta", b"q2\t\xe9", "shop.judgments.tsv:3\n  is not UTF-8"),
        ("shop.json", b'"format": 1', b'"format": 2', "shop.json\n  has format 2; this version of pytest-ireval "
         "reads format 1"),
        ("shop.json", b'"suite"', b"suite", "shop.json:11\n  is not JSON: Expecting property name enclosed in double "
         "quotes"),
        ("shop.json", b"]\n}\n", b"", "shop.json:30\n  is cut off"),
        ("shop.json", b"shop", b"\xff", "shop.json:11\n  is not UTF-8"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_and_line(folder, name, old, new, said):
    edit(folder, name, old, new)

    assert complaint(folder) == f"baselines/{said}{remedy(name)}"


def test_a_file_that_is_missing(folder):
    (folder / "shop.rankings.tsv").unlink()

    assert complaint(folder) == f"baselines/shop.rankings.tsv\n  is missing{remedy('shop.rankings.tsv')}"


@pytest.mark.parametrize("name", ["shop.json", "shop.rankings.tsv", "shop.judgments.tsv"])
def test_a_merge_that_is_not_settled(folder, name):
    lines = (folder / name).read_bytes().splitlines(keepends=True)
    marked = [*lines[:1], b"<<<<<<< HEAD\n", lines[1], b"=======\n", b"x\n", b">>>>>>> synonyms\n", *lines[2:]]
    (folder / name).write_bytes(b"".join(marked))

    assert complaint(folder) == (
        f"baselines/{name}:2\n  has the marks of a merge conflict\n  git checkout HEAD -- baselines/{name} keeps the "
        "side of HEAD; then repeat what the other side accepted"
    )


def test_a_merge_without_marks_of_files_that_do_not_belong_together(folder):
    other = encoded_baseline(baseline_of({"q1": ["x"]}))
    (folder / "shop.rankings.tsv").write_bytes(other["rankings.tsv"])

    assert complaint(folder).startswith("baselines/shop.rankings.tsv\n  is not what was accepted: ")


def test_a_file_that_is_a_folder(folder):
    (folder / "shop.rankings.tsv").unlink()
    (folder / "shop.rankings.tsv").mkdir()

    assert complaint(folder) == "baselines/shop.rankings.tsv\n  cannot be read: Is a directory"


def test_a_compressed_file_that_cannot_be_unpacked(folder, monkeypatch):
    monkeypatch.setattr("pytest_ireval.baselines.writing.LARGEST", 1)
    write_baseline(folder, baseline_of(acceptances=(FIRST, SECOND)))
    (folder / "shop.rankings.tsv.zst").write_bytes(b"(\xb5/\xfd nonsense")

    assert complaint(folder).startswith("baselines/shop.rankings.tsv.zst\n  cannot be unpacked: ")


def test_a_compressed_file_that_would_fill_the_memory(folder, monkeypatch):
    monkeypatch.setattr("pytest_ireval.baselines.writing.LARGEST", 1)
    write_baseline(folder, baseline_of(acceptances=(FIRST, SECOND)))
    bomb = zstandard.ZstdCompressor().compress(bytes(3 << 20))
    (folder / "shop.rankings.tsv.zst").write_bytes(bomb)
    monkeypatch.setattr("pytest_ireval.baselines.reading.LARGEST", 2 << 20)

    assert complaint(folder).startswith(
        "baselines/shop.rankings.tsv.zst\n  holds more than 2 MiB, the limit for a baseline\n"
    )


@pytest.mark.parametrize(
    ("lines", "said", "line"),
    [
        (b"q1\ta\n", "has a document without a score", 2),
        (b"q1\ta\t1\nq2\ta\t1\tb\tx\n", "score 'x' is not a number", 3),
        (b"q1\ta\tnan\n", "score 'nan' is not finite", 2),
        (b"q1\ta\t1\tb\t1\tc\t1\n", "has more than 2 documents", 2),
        (b"q1\ta\t1\nq2\tb\t1\tb\t2\n", "document 'b' is ranked twice", 3),
    ],
)
def test_scores_that_are_none(lines, said, line):
    with pytest.raises(Damage) as damage:
        decoded_rankings(b"# ireval rankings, format 1, depth 2, with scores\n" + lines, 2, "x", scored=True)

    assert (damage.value.complaint, damage.value.line) == (said, line)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_a_list_of_exactly_the_depth_is_sound_and_one_more_document_is_not(depth):
    documents = [f"d{i}" for i in range(depth + 1)]
    head = f"# ireval rankings, format 1, depth {depth}\n"
    whole = decoded_rankings(f"{head}q\t{chr(9).join(documents[:-1])}\n".encode(), depth, "x", scored=False)

    assert whole.ranking("q") == documents[:-1]
    with pytest.raises(Damage, match=f"has more than {depth} documents"):
        decoded_rankings(f"{head}q\t{chr(9).join(documents)}\n".encode(), depth, "x", scored=False)


def test_files_cut_off_anywhere_are_an_error(folder):
    for path in baseline_files(folder, "shop"):
        whole = path.read_bytes()
        for size in range(0, len(whole), 3):
            path.write_bytes(whole[:size])
            assert complaint(folder).startswith(f"baselines/{path.name}")
        path.write_bytes(whole)
    assert content(read_baseline(folder, "shop")) == content(baseline_of())


def test_a_changed_byte_anywhere_is_an_error(folder):
    for path in baseline_files(folder, "shop"):
        whole = bytearray(path.read_bytes())
        for place in random.Random(0).sample(range(len(whole)), min(60, len(whole))):
            changed = whole.copy()
            changed[place] ^= 1 << (place % 8)
            path.write_bytes(changed)
            if changed.replace(b"\r\n", b"\n") != whole:
                assert complaint(folder).startswith("baselines/shop.")
        path.write_bytes(whole)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("metrics", {"nDCG@10": {}}),
        ("metrics", []),
        ("queries", {"q1": [None, "x"]}),
        ("queries", {"q1": []}),
        ("queries", {"q1": [None, 1, 2]}),
        ("queries", {"q1": 3}),
        ("acceptances", []),
        ("acceptances", [{}]),
        ("acceptances", None),
        ("fingerprints", {"other": "x"}),
        ("suite", 3),
        ("depth", "ten"),
        ("askings", -1),
        ("files", {"json": "0" * 16}),
        ("files", {"json": "0" * 16, "../up": "0" * 16}),
        ("files", None),
        ("plugins", 5),
    ],
)
def test_a_record_that_claims_to_be_sound_and_has_another_shape_is_an_error(folder, key, value):
    path = folder / "shop.json"
    said = json.loads(path.read_text())
    said[key] = value
    if isinstance(said["files"], dict):
        said["files"]["json"] = "0" * 16
    text = json.dumps(said, indent=1).replace('  "json"', ' "json"')
    path.write_text(text.replace("0" * 16, fingerprint(text.encode())))

    assert complaint(folder).startswith("baselines/shop.json\n  ")


def test_a_record_names_no_file_that_is_none_of_a_baseline():
    text = encoded_baseline(baseline_of())["json"].decode()
    said = json.loads(text)
    text = text.replace(said["files"]["json"], "0" * 16).replace('"judgments.tsv"', '"../judgments.tsv"')
    data = text.replace("0" * 16, fingerprint(text.encode())).encode()

    with pytest.raises(Damage) as damage:
        decoded_record(data)

    assert damage.value.complaint == "names a file '../judgments.tsv', which does not belong to a baseline"


@pytest.mark.parametrize("text", ["[" * 100_000, "[1]", "null", '{"format": ' + "9" * 5000 + "}", "", "{}"])
def test_json_that_is_no_record_is_an_error(folder, text):
    (folder / "shop.json").write_text(text)

    assert complaint(folder).startswith("baselines/shop.json")


def test_a_damaged_baseline_can_be_written_anew(folder):
    for path in baseline_files(folder, "shop"):
        path.write_bytes(b"nonsense")

    write_baseline(folder, baseline_of(acceptances=(FIRST, SECOND)))

    assert content(read_baseline(folder, "shop")) == content(baseline_of(acceptances=(FIRST, SECOND)))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is closed to root")
def test_a_file_that_may_not_be_read(folder):
    (folder / "shop.json").chmod(0)

    assert complaint(folder) == "baselines/shop.json\n  cannot be read: Permission denied"


pieces = st.lists(
    st.sampled_from(
        [
            b"q",
            b"\t",
            b"\n",
            b"\\",
            b"\xff",
            b"\r",
            b"1",
            b"-",
            b"\0",
            b"\xc3",
            b"\xa4",
            b'"',
            b"{",
            b"}",
            b":",
            b"json",
        ]
    ),
    max_size=12,
).map(b"".join)


@given(pieces, st.booleans())
def test_no_text_at_all_leads_to_anything_but_content_or_damage(text, scored):
    heads = f"# ireval rankings, format 1, depth 9{', with scores' * scored}\n".encode(), HEAD
    readers = (lambda data: decoded_rankings(data, 9, "x", scored=scored)), decoded_grades
    for head, read in zip(heads, readers, strict=True):
        with suppress(Damage):
            found = read(head + text)
            found.documents.texts() if read is not decoded_grades else [dict(found[query]) for query in found]
    with suppress(Damage):
        decoded_record(text)
