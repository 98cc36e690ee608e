"""Files that cannot be read at all are refused, with the reason."""

import gzip
import os
import sys

import pytest
import zstandard
from trec_readers import read_judgments, read_rankings

from pytest_ireval.errors import InputError

BOTH = pytest.mark.parametrize("read", [read_rankings, read_judgments])
LINE = b"q Q0 d 1 2 t\n"
NO_RANKINGS = "FILE\n  it contains no rankings\n  columns: query Q0 document rank score tag"
NO_JUDGMENTS = "FILE\n  it contains no judgments\n  columns: query iteration document grade"
MANY_LINES = b"".join(b"q Q0 d%d 1 2 t\n" % number for number in range(5000))


@BOTH
def test_a_directory_is_refused(read, tmp_path):
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert str(caught.value) == f"{tmp_path}\n  this is a directory, not a file"


@BOTH
def test_a_missing_file_is_refused(read, tmp_path):
    with pytest.raises(InputError) as caught:
        read(tmp_path / "none.txt")
    assert str(caught.value) == f"{tmp_path}/none.txt\n  there is no such file"


@BOTH
def test_a_file_below_a_file_is_refused(read, write_file):
    path = write_file(LINE)

    with pytest.raises(InputError) as caught:
        read(path / "none.txt")
    assert str(caught.value) == f"{path}/none.txt\n  cannot be read: Not a directory"


@BOTH
@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is forbidden to this user")
def test_a_file_that_may_not_be_read_is_refused(read, tmp_path):
    path = tmp_path / "secret.txt"
    path.write_bytes(LINE)
    path.chmod(0)

    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value) == f"{path}\n  cannot be read: Permission denied"


@BOTH
def test_an_empty_file_is_refused(read, read_error):
    assert read_error(read, "") == "FILE\n  the file is empty"


@pytest.mark.parametrize("text", ["# a b c d e f\n", "\ufeff", gzip.compress(b"", mtime=0)])
def test_a_file_without_content_is_refused(read_error, text):
    assert read_error(read_rankings, text) == NO_RANKINGS
    assert read_error(read_judgments, text) == NO_JUDGMENTS


@BOTH
@pytest.mark.parametrize("without_isal", [False, True])
@pytest.mark.parametrize("kept", [2, 30, -9])
def test_a_truncated_gzip_file_is_refused(read, read_error, kept, monkeypatch, without_isal):
    if without_isal:
        monkeypatch.setitem(sys.modules, "isal", None)
    data = gzip.compress(LINE * 5 if read is read_rankings else b"q 0 d 1\n" * 5)

    assert read_error(read, data[:kept]) == "FILE\n  the gzip data ends too early: the file is cut off"


def test_a_gzip_file_whose_second_member_is_cut_off_is_refused(read_error):
    data = gzip.compress(LINE) + gzip.compress(b"r Q0 d 1 2 t\n")[:-3]

    assert read_error(read_rankings, data) == "FILE\n  the gzip data ends too early: the file is cut off"


@pytest.mark.parametrize("without_isal", [False, True])
@pytest.mark.parametrize(
    "data",
    [
        b"\x1f\x8b" + b"a" * 20,
        gzip.compress(LINE)[:-8] + b"\0" * 8,
        gzip.compress(LINE) + b"garbage" * 3,
        gzip.compress(LINE)[:10] + b"\xff" * 50,
    ],
    ids=["header", "checksum", "end", "block"],
)
def test_a_damaged_gzip_file_is_refused(read_error, monkeypatch, data, without_isal):
    if without_isal:
        monkeypatch.setitem(sys.modules, "isal", None)

    text = read_error(read_rankings, data)

    assert text.startswith("FILE\n  the gzip data is damaged (Error -")
    assert text.count("\n") == 1


@BOTH
@pytest.mark.parametrize("kept", [4, -5])
def test_a_truncated_zstandard_file_is_refused(read, read_error, kept):
    data = zstandard.ZstdCompressor(write_checksum=True).compress(MANY_LINES)

    assert read_error(read, data[:kept]) == "FILE\n  the Zstandard data ends too early: the file is cut off"


def test_a_zstandard_file_is_refused_where_its_package_is_not_installed(read_error, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)

    assert read_error(read_rankings, zstandard.compress(LINE)) == (
        "FILE\n  this file is compressed with Zstandard, but zstandard is not installed\n"
        '  pip install "pytest-ireval[fast]"'
    )


@pytest.mark.parametrize(
    "data",
    [
        zstandard.compress(LINE) + b"garbage",
        zstandard.ZstdCompressor(write_checksum=True).compress(LINE)[:-4] + b"\0\0\0\0",
        b"\x28\xb5\x2f\xfd" + b"a" * 40,
    ],
    ids=["end", "checksum", "header"],
)
def test_a_damaged_zstandard_file_is_refused(read_error, data):
    text = read_error(read_rankings, data)

    assert text.startswith("FILE\n  the Zstandard data is damaged (zstd decompress")
    assert text.endswith(")")
    assert text.count("\n") == 1


@BOTH
@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"q Q0 d\xff 1 2 t\n", "FILE:1\n  is not UTF-8 (invalid start byte)"),
        (b"#\n\n# \xed\xa0\x80\n", "FILE:3\n  is not UTF-8 (invalid continuation byte)"),
    ],
)
def test_a_file_that_is_not_utf_8_is_refused(read, read_error, data, complaint):
    remedy = "save it as UTF-8, from its own encoding, as in: iconv -f CP949 -t UTF-8 OLD > NEW"
    assert read_error(read, data) == f"{complaint}\n  {remedy}"


@BOTH
@pytest.mark.parametrize(
    ("data", "line"), [(LINE.decode().encode("utf-16"), 1), (b"# first\n\nq\0 0 d 1\n", 3)], ids=["UTF-16", "line 3"]
)
def test_a_file_with_a_zero_byte_is_refused(read, read_error, data, line):
    assert read_error(read, data) == f"FILE:{line}\n  contains a zero byte: is it UTF-16, or not a text file?"
