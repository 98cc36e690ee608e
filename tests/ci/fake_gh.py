"""Stands for the program ``gh``: answers from the folder ``FAKE_GH``, and writes down every call."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ["FAKE_GH"])
ONE_WORD = ("--silent", "--paginate")


def main(words):
    if words[:2] == ["run", "download"]:
        options = dict(zip(words[3::2], words[4::2], strict=True))
        remember({"download": words[2], **options})
        artifact = FOLDER / options["--name"]
        if not artifact.is_dir():
            sys.exit("no artifact matches any of the names")
        shutil.copytree(artifact, options["--dir"])
        return
    assert words[0] == "api", words
    path, method, jq, fields, silent = "", "", "", {}, False
    rest = iter(words[1:])
    for word in rest:
        if word in ONE_WORD:
            silent = silent or word == "--silent"
        elif word == "--method":
            method = next(rest)
        elif word == "--jq":
            jq = next(rest)
        elif word in ("-f", "-F"):
            name, _, text = next(rest).partition("=")
            fields[name] = Path(text[1:]).read_text("utf-8") if word == "-F" and text.startswith("@") else text
        else:
            assert not path, f"{path} and {word}"
            path = word
    method = method or ("POST" if fields else "GET")
    remember({"call": f"{method} {path}", **fields})
    if silent:
        return
    answer = json.dumps(json.loads((FOLDER / "answers.json").read_text("utf-8"))[path])
    if jq:  # gh has a jq built in, which prints texts without quotes, too
        answer = subprocess.run(["jq", "-r", jq], input=answer, check=True, capture_output=True, text=True).stdout
    sys.stdout.write(answer)


def remember(call):
    with (FOLDER / "calls").open("a", encoding="utf-8") as file:
        file.write(json.dumps(call) + "\n")


main(sys.argv[1:])
