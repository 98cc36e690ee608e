"""The source ``command``: a program that is given the queries, and whose rankings are read."""

import os
import sys
import time

import pytest

READ_AND_RANK = """
import sys
for line in list(sys.stdin)[1:]:
    query, text = line.rstrip("\\n").split("\\t")[:2]
    for rank, word in enumerate(text.split(), 1):
        print(query, "Q0", word, rank, 10 - rank, "t")
"""


@pytest.fixture
def command(shop):
    """Writes a program in Python beside the suite and asks it."""

    def write(code, *arguments, lists=True, depth=10, **options):
        shop.write("program.py", code)
        ask = shop.lists if lists else shop.refused
        return ask({"command": [sys.executable, "program.py", *arguments], **options}, depth=depth)

    return write


def line(*arguments):
    return f"{sys.executable} program.py {' '.join(arguments)}".strip()


def test_queries_on_standard_input_and_rankings_on_standard_output(command):
    assert command(READ_AND_RANK) == {"q1": ["red", "mug"], "q2": ["blue", "mug"]}


def test_queries_and_rankings_in_files_where_the_command_asks_for_them(command):
    code = """
import json, sys
print("this is not read")
assert sys.stdin.read() == ""
queries = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
assert sys.argv[3] == "--depth=7"
with open(sys.argv[2].removeprefix("--out="), "w") as file:
    json.dump({query["id"]: [query["text"], query["segment"]] for query in queries}, file)
"""
    found = command(code, "{queries}", "--out={rankings}", "--depth={depth}", queries_format="jsonl", depth=7)

    assert found == {"q1": ["red mug", "head"], "q2": ["blue mug", "tail"]}


def test_it_runs_in_the_suites_folder_or_in_another_with_more_in_its_environment(command, shop):
    code = "import os\nprint('q1 Q0', os.path.basename(os.getcwd()), 1, 1, os.environ.get('TOKEN', 'none'))\n"
    shop.write("tools/program.py", code.replace("1, 1,", "1, len(os.environ['PATH']),"))

    assert command(code) == {"q1": ["suites"]}
    assert command(code, folder="tools", environment={"TOKEN": "x"}) == {"q1": ["tools"]}


def test_a_program_that_writes_much_before_it_reads_does_not_hang(command):
    code = """
import sys
sys.stderr.write("x" * (1 << 20))
print(*(f"q1 Q0 d{i} 1 {-i} t" for i in range(50000)), sep="\\n")
print(sys.stdin.readline().split()[0], "Q0 d 1 1 t")
"""
    assert command(code, depth=2)["q1"] == ["d0", "d1"]


def test_a_program_that_fails_is_shown_with_its_last_words(command):
    code = """
import sys
for i in range(30):
    print(f"\\x1b[31mline {i}\\x1b[0m", file=sys.stderr)
sys.stderr.flush()
sys.stderr.buffer.write(b"\\xff\\n")
sys.exit(3)
"""
    assert command(code, "{depth}", lists=False) == (
        "shop.ireval.yaml:5:11: source > command\n"
        f"  {line('{depth}')} ended with exit code 3\n"
        "  the end of its standard error:\n" + "".join(f"   line {i}\n" for i in range(21, 30)) + "  \ufffd"
    )


def test_a_program_that_writes_nothing_is_an_error(command):
    assert command("", lists=False) == (
        "shop.ireval.yaml:5:11: source > command\n"
        f"  {line()} wrote nothing to standard output\n"
        "  it wrote nothing to standard error"
    )
    assert command("print('q1 Q0 a 1 1 t')", "{rankings}", lists=False) == (
        "shop.ireval.yaml:5:11: source > command\n"
        f"  {line('{rankings}')} did not write the file {{rankings}}\n"
        "  it wrote nothing to standard error"
    )


def test_what_it_writes_is_refused_by_line_without_naming_a_file_that_is_gone(command):
    assert command("print('q1 Q0 a 1 1 t')\nprint('q1 Q0 b 2 many t')\n", lists=False) == (
        f"shop.ireval.yaml:5:11: source > command\n  standard output of {line()}:2: score 'many' is not a number"
    )


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (["no-such-program", "-x"], "program 'no-such-program' not found"),
        (
            "no-such-program -x",
            "program 'no-such-program -x' not found\n  write command: [no-such-program, -x], or set shell: true",
        ),
        (["./plain.txt"], "'./plain.txt' cannot be run: Permission denied"),
        (["cat", "a\0b"], "'cat' cannot be run: embedded null byte"),
    ],
)
def test_a_program_that_cannot_be_started(shop, value, complaint):
    shop.write("plain.txt", "x")

    assert shop.refused({"command": value}) == f"shop.ireval.yaml:5:11: source > command\n  {complaint}"


def test_a_program_that_takes_too_long_is_ended_with_all_that_it_started(shop):
    shop.write("stubborn.sh", "trap '' TERM\necho $$ > child\nsleep 600\nsleep 600\n")
    shop.write(
        "program.sh", "sh stubborn.sh &\nuntil test -s child; do sleep 0.01; done\necho waiting >&2\nsleep 600\n"
    )

    said = shop.refused({"command": ["sh", "program.sh"], "timeout": "2s"})

    assert said == (
        "shop.ireval.yaml:5:11: source > command\n"
        "  sh program.sh took longer than 2s and was stopped, with all its child processes\n"
        "  to allow more time, write timeout: 4s in the source\n"
        "  the end of its standard error:\n"
        "  waiting"
    )
    assert not is_running(int((shop.folder / "child").read_text()))


def is_running(number):
    """Whether there is such a process that is not merely waiting to be buried."""
    for _ in range(3000):
        try:
            with open(f"/proc/{number}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return False
        except FileNotFoundError:
            return False
        time.sleep(0.02)
    return True


def test_texts_that_a_format_cannot_hold_are_refused(shop, command):
    from pytest_ireval import Queries

    shop.queries = Queries(("q1",), ("red\tmug",))

    assert command(READ_AND_RANK, lists=False) == (
        "shop.ireval.yaml:5:11: source > command\n"
        "  the queries cannot be written as tsv: TSV cannot store the tab or line end in 'red\\tmug'\n"
        "  use queries_format: jsonl"
    )


def test_options_that_do_not_go_together_are_refused_while_the_suite_is_read(shop):
    from pydantic import ValidationError

    for value, complaint in [
        ({"command": ["a", "b"], "shell": "true"}, "with shell: true, command must be one text"),
        ({"command": []}, "command is empty"),
        ({"command": ""}, "command is empty"),
        ({"command": ["a"], "queries_format": "csv"}, "Input should be 'tsv' or 'jsonl'"),
    ]:
        with pytest.raises(ValidationError, match=complaint):
            shop.source(value)


def test_nothing_is_left_behind(command, tmp_path, monkeypatch):
    folder = tmp_path / "temporary files"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))

    command(READ_AND_RANK)
    command("import sys\nsys.exit(1)\n", "{queries}", lists=False)

    assert os.listdir(folder) == []
