"""Compressed files, pipes and standard input give what the plain file gives."""

import gzip
import io
import os
import sys
from threading import Thread
from threading import enumerate as enumerate_threads

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from messy_files import messy_files
from plain import plain_judgments, plain_rankings
from slow_reader import slow_judgments, slow_rankings
from trec_readers import read_judgments, read_rankings

from pytest_ireval.data.formats import input_file
from pytest_ireval.data.scan import pieces

TEXT = "".join(f"q{number // 50} Q0 d{number} 1 {number % 7}.5 tag\n" for number in range(3000)).encode()
SKIPPED = b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip"


def zstd(data):
    """One Zstandard frame."""
    return zstandard.ZstdCompressor().compress(data)


def halves(compress, between=b""):
    """Two halves of the text, compressed each by itself."""
    return compress(TEXT[:5001]) + between + compress(TEXT[5001:])


FILES = {
    "gzip, several members": halves(gzip.compress),
    "gzip, zeros at the end": gzip.compress(TEXT) + b"\0" * 1000,
    "gzip, zeros between members": halves(gzip.compress, b"\0" * 512),
    "gzip, stored": gzip.compress(TEXT, 0),
    "zstd, several frames": halves(zstd),
    "zstd, a skippable frame": halves(zstd, SKIPPED),
    "zstd, streamed without its size": zstandard.ZstdCompressor(write_content_size=False).compress(TEXT),
    "plain": TEXT,
}


@pytest.mark.parametrize("without_isal", [False, True])
@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_compressed_rankings_are_the_plain_ones(write_file, monkeypatch, data, without_isal):
    if without_isal:
        monkeypatch.setitem(sys.modules, "isal", None)
    assert plain_rankings(read_rankings(write_file(data))) == slow_rankings(TEXT)


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_compressed_data_may_be_cut_anywhere(write_file, monkeypatch, compress, size):
    text = TEXT[:2000].rpartition(b"\n")[0]
    monkeypatch.setattr(input_file, "COMPRESSED_PIECE", size)
    monkeypatch.setattr(input_file, "PIECE", size)
    monkeypatch.setattr(pieces, "CHUNK", size * 5)

    data = compress(text[:700]) + compress(text[700:])
    assert plain_rankings(read_rankings(write_file(data))) == slow_rankings(text)


@given(messy_files(), st.sampled_from([gzip.compress, zstd]))
def test_any_file_may_be_compressed(write_file, files, compress):
    rankings = read_rankings(write_file(compress(files.rankings)))
    judgments = read_judgments(write_file(compress(files.judgments)))

    assert plain_rankings(rankings) == slow_rankings(files.rankings)
    assert plain_judgments(judgments) == slow_judgments(files.judgments)


def test_a_scattered_compressed_file_is_read_a_second_time(write_file):
    text = TEXT + TEXT.replace(b" d", b" e")

    assert plain_rankings(read_rankings(write_file(gzip.compress(text)))) == slow_rankings(text)


@pytest.mark.parametrize("compress", [gzip.compress])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_named_pipe_is_read_like_a_file(tmp_path, compress):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(compress(TEXT),))
    writer.start()

    rankings = read_rankings(path)
    writer.join()
    assert plain_rankings(rankings) == slow_rankings(TEXT)
    assert rankings.origin == str(path)


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="open files have no names")
@pytest.mark.parametrize("kind", [OSError])
def test_what_goes_wrong_later_is_not_blamed_on_the_pipe(kind):
    reading, writing = os.pipe()
    os.write(writing, b"q Q0 d 1 2 t\n")
    os.close(writing)

    with pytest.raises(kind, match=r"^something else$"), input_file.open_bytes(f"/dev/fd/{reading}"):
        raise kind("something else")
    os.close(reading)


@pytest.mark.parametrize("compress", [bytes, zstd])
def test_a_dash_is_standard_input(monkeypatch, compress):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(compress(TEXT))))

    rankings = read_rankings("-")
    assert plain_rankings(rankings) == slow_rankings(TEXT)
    assert rankings.origin == "standard input"


def test_a_bad_line_of_a_compressed_file_is_named_by_its_number_in_the_text(read_error):
    for compress in (gzip.compress, zstd):
        text = read_error(read_rankings, compress(TEXT + b"q9 Q0 d 1 x t\n"))
        assert text == "FILE:3001\n  score 'x' is not a number"


@pytest.fixture
def unpacking(tmp_path, monkeypatch):
    """A compressed file of many pieces, and the sizes of those that were unpacked."""
    monkeypatch.setattr(input_file, "PIECE", 1000)
    monkeypatch.setattr(input_file, "COMPRESSED_PIECE", 500)
    unpacked, unpack = [], input_file.ByteFile._decompressed

    def watched(self, file):
        for piece in unpack(self, file):
            unpacked.append(len(piece))
            yield piece

    monkeypatch.setattr(input_file.ByteFile, "_decompressed", watched)
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(TEXT, 0))
    return input_file.ByteFile(path, "text.gz"), unpacked


def test_text_is_not_unpacked_far_ahead_and_no_thread_outlives_the_file(unpacking):
    file, unpacked = unpacking
    before, view = set(enumerate_threads()), memoryview(bytearray(10))
    with file.open() as stream:
        assert stream.readinto(view) == 10
        assert bytes(view) == TEXT[:10]
    assert sum(unpacked) < len(TEXT) / 4
    assert set(enumerate_threads()) <= before


def test_an_unexpected_error_while_unpacking_is_raised(unpacking, monkeypatch):
    def broken(_file, _name):
        yield TEXT[:2000]
        raise MemoryError("no room")

    monkeypatch.setattr(input_file, "_unpack_gzip", broken)
    view = memoryview(bytearray(2000))
    with unpacking[0].open() as stream:
        assert stream.readinto(view) == 2000
        with pytest.raises(MemoryError, match="no room"):
            stream.readinto(view)
