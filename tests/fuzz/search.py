"""Looks for files that nothing foresaw, guided by what the code does with them: ``search.py --seconds 90 [KIND …]``.

With ``--runs N`` each kind is read so often, and the same files are tried each time: a check must not depend on luck.
Another ``--seed`` tries other files.

It begins with the kept files, changes them as ``mutations.py`` does or as libFuzzer likes, and goes on with whatever
reaches new code. What raises anything but an IrevalError, takes longer than 20 seconds or more than 2 GiB is left as
``found/KIND-…`` beside this file, and the exit code is 1. It needs ``pip install atheris``.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FOUND = HERE / "found"
LIMITS = ("-timeout=20", "-rss_limit_mb=2048", "-max_len=65536")


def search(kind):
    """Never returns: libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["pytest_ireval"]):
        from targets import read, registry, seeds
    from mutations import mutate

    registry()
    kept = list(seeds(kind).values())

    def one(data):
        read(kind, data)

    def changed(data, largest, seed):
        chance = random.Random(seed)
        if chance.random() < 0.3:
            return atheris.Mutate(data, largest)
        return mutate(data, lambda count: chance.randrange(max(1, count)), kept)[:largest]

    atheris.Setup([sys.argv[0], *sys.argv[sys.argv.index("--") + 1 :]], one, custom_mutator=changed)
    atheris.Fuzz()


def run_search(kind, seconds, runs, seed):
    """Whether anything was found within the time, or so many files."""
    FOUND.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ireval-search-") as folder:
        reached = Path(folder, "reached")
        reached.mkdir()
        kept = Path(folder, "kept")  # in an order of its own: that of a folder is another one on every disk
        kept.write_text(",".join(map(str, sorted((HERE / "corpus" / kind).iterdir()))), encoding="utf-8")
        often = (f"-runs={runs}", f"-seed={seed}", "-reload=0") if runs else ()
        own = (
            *often,
            f"-max_total_time={seconds}",
            f"-artifact_prefix={FOUND}/{kind}-",
            "-verbosity=0",
            *LIMITS,
            f"-seed_inputs=@{kept}",
            str(reached),
        )
        command = [sys.executable, __file__, "--search", kind, "--", *own]
        environment = {**os.environ, "PYTHONHASHSEED": "0"} if runs else None
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=environment)
    if done.returncode:
        print(f"{kind}: FOUND, see {FOUND}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    else:
        print(f"{kind}: nothing found", flush=True)
    return done.returncode != 0


def main():
    from targets import TARGETS

    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=90, help="for all kinds together")
    parser.add_argument("--runs", type=int, default=0, help="of each kind; unless given, as many as there is time for")
    parser.add_argument("--seed", type=int, default=1, help="another one tries other files")
    parser.add_argument("kinds", nargs="*", default=list(TARGETS), metavar="KIND")
    told = parser.parse_args()
    each = max(1, told.seconds // len(told.kinds))
    return 1 if sum(run_search(kind, each, told.runs, told.seed) for kind in told.kinds) else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--search"]:
        search(sys.argv[2])
    sys.exit(main())
