"""Stands for ``python``: installs in name only, writes down its calls, and is Python otherwise."""

import json
import os
import subprocess
import sys
from pathlib import Path

log, words = Path(os.environ["FAKE_PYTHON"]), sys.argv[1:]
if words[:1] != ["-I"]:
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(words) + "\n")
if words[:2] == ["-m", "pip"]:
    sys.exit(int(os.environ.get("PIP_ENDS_WITH", "0")))
if words[:2] == ["-m", "venv"]:
    place = Path(words[-1]) / "bin"
    place.mkdir(parents=True)
    (place / "python").symlink_to(Path(os.environ["FAKES"]) / "python")
    sys.exit()
if words[:2] == ["-m", "pytest"]:
    if "PYTEST_ENDS_WITH" in os.environ:
        sys.exit(int(os.environ["PYTEST_ENDS_WITH"]))
    words[2:2] = ["-p", "no:cacheprovider"]
sys.exit(subprocess.run([sys.executable, *words], check=False).returncode)
