"""Files that were made to fill the memory, the disk or the time are refused in words, and soon."""

import gzip
import os
import threading
from contextlib import suppress

import pytest

from pytest_ireval import read_judgments, read_queries, read_rankings
from pytest_ireval.data.coerce import describe_id_difference
from pytest_ireval.data.formats import input_file, recognition
from pytest_ireval.data.scan import pieces
from pytest_ireval.errors import InputError

LINE = b"q1 Q0 d1 1 2.5 x\n"


@pytest.mark.parametrize("kind", ["zst", "gz"])
def test_what_unpacks_to_far_more_than_its_size_is_refused_soon(tmp_path, monkeypatch, kind):
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / f"bomb.{kind}"
    lines = b"".join(b"q%d Q0 d1 1 2.5 %s\n" % (number, b"x" * 1000) for number in range(50_000))
    path.write_bytes(gzip.compress(lines, 1) if kind == "gz" else zstandard.ZstdCompressor().compress(lines))
    unpacked = []
    monkeypatch.setattr(input_file, "UNPACKED_ANYWAY", 1 << 22)
    monkeypatch.setattr(input_file, "RATIO", 10)
    real = input_file._unpack_zstandard if kind == "zst" else input_file._unpack_gzip

    def counted(*arguments):
        for piece in real(*arguments):
            unpacked.append(len(piece))
            yield piece

    monkeypatch.setattr(input_file, real.__name__, counted)

    with pytest.raises(InputError, match=r"unpacks to more than [0-9]+ MiB, 10 times its size\n  if you trust"):
        read_rankings(path)
    assert max(unpacked) <= len(lines) // 4
    assert sum(unpacked) < len(lines)


def test_a_line_without_end_is_refused_with_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "LONGEST_LINE", 1 << 22)
    path = tmp_path / "run.txt"
    path.write_bytes(LINE * 3 + b"x" * (1 << 24))

    with pytest.raises(InputError) as error:
        read_rankings(path)

    assert str(error.value) == f"{path}:4\n  this line is longer than 64 MiB"


@pytest.mark.parametrize(
    ("name", "begins"), [("q.tsv", b"id\ttext\nq1\tred mug\n"), ("q.jsonl", b'{"id": "q1", "text": "a"}\n')]
)
def test_a_line_without_end_in_a_table_is_refused_with_its_number(tmp_path, monkeypatch, name, begins):
    monkeypatch.setattr(input_file, "LONGEST_LINE", 1 << 22)
    path = tmp_path / name
    path.write_bytes(begins + b"x" * (1 << 24))

    with pytest.raises(InputError) as error:
        read_queries(path)

    number = begins.count(b"\n") + 1
    assert str(error.value) == f"{path}:{number}\n  this line is longer than 4 MiB"


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_a_link_to_a_device_is_refused(tmp_path):
    path = tmp_path / "judgments.txt"
    path.symlink_to("/dev/zero")

    with pytest.raises(InputError) as error:
        read_judgments(path)

    assert str(error.value) == f"{path}\n  this is a device, not a file"


needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


@needs_pipes
def test_a_pipe_into_which_nobody_writes_is_not_waited_for_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(input_file, "PATIENCE", 0.05)
    path = tmp_path / "run"
    os.mkfifo(path)

    with pytest.raises(
        InputError, match=r"no program has opened this pipe for writing within 0\.05 seconds\n  start the writing"
    ):
        read_rankings(path)


@needs_pipes
def test_a_program_that_has_the_pipe_open_may_take_its_time(tmp_path, monkeypatch):
    path = tmp_path / "run"
    os.mkfifo(path)
    may_write = threading.Event()

    def late():
        with open(path, "wb") as pipe:
            may_write.wait()
            pipe.write(LINE)

    writer = threading.Thread(target=late)
    writer.start()
    real = os.set_blocking

    def found_open(handle, blocking):
        may_write.set()  # only after the reader has seen a pipe that is open and empty
        real(handle, blocking)

    monkeypatch.setattr(os, "set_blocking", found_open)
    assert read_rankings(path).queries == ("q1",)
    writer.join()


@needs_pipes
def test_a_pipe_is_read_and_one_that_never_ends_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "run"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(LINE,))
    writer.start()
    assert read_rankings(path).queries == ("q1",)
    writer.join()
    monkeypatch.setattr(input_file, "MOST_SPOOLED", 1 << 16)

    def endless():
        with suppress(BrokenPipeError), open(path, "wb") as pipe:
            while True:
                pipe.write(LINE * 1000)

    writer = threading.Thread(target=endless)
    writer.start()
    with pytest.raises(InputError, match=r"more than 0 GiB were read from the pipe\n  write the data to a file"):
        read_rankings(path)
    writer.join()


@pytest.mark.parametrize("pattern", [recognition.ID_TEXT, recognition.ID_PRIORITY_TEXT], ids=["text", "priority"])
@pytest.mark.parametrize("begin", ["0", "0-", "a1", "1a"])
def test_a_long_line_is_searched_for_an_id_once(pattern, begin):
    assert not pattern.match(begin * 2_000_000)  # hours, if each digit were tried with each end
    assert not pattern.match(begin * 2_000_000 + ": 1:")


def test_topics_with_many_comments_and_texts_that_nothing_closes_are_read_soon(tmp_path):
    path = tmp_path / "topics.xml"
    attributes, texts = "a" * 1_000_000, "<![CDATA[" * 200_000
    topic = f'<topics><!-- a --><topic number="1" {attributes}>mug <![CDATA[<b>]]> {texts}</topic></topics>'
    path.write_text(topic + "<!--" * 500_000)

    (text,) = read_queries(path).text

    assert text.startswith("mug <b> <![CDATA[")


def test_long_ids_are_compared_soon():
    zeros = "0" * 1_000_000

    assert describe_id_difference([zeros + "7"], ["7"]).startswith(
        "; ids differ only in letters or zeros before a number"
    )
    assert describe_id_difference([zeros + "x"], ["7"]) == ""
