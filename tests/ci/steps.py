"""Steps of CI files, run by bash as a runner runs them: its variables, its options, values for ``${{ }}``."""

import os
import re
import subprocess
from typing import NamedTuple

import yaml

EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
SHELLS = {None: ["bash", "-e"], "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}
"""What GitHub calls for a step without a shell, and for ``shell: bash``."""


def leaves_at_once(folder):
    """A source that ends the process."""
    (folder / "conftest.py").write_text("import os\n\ndef pytest_runtest_setup(item):\n    os._exit(0)\n")


def collects_only(folder):
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")


NO_PASSES = [leaves_at_once, collects_only]
"""What lets pytest end with 0 and without a verdict."""


def load(path):
    """A YAML file in which every scalar is text: ``on`` is a word."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


class Ran(NamedTuple):
    """What a step came to."""

    code: int
    text: str
    outputs: dict[str, str]


def fill_values(text, values):
    """``text`` with each expression replaced; one that has no value fails the test."""
    return EXPRESSION.sub(lambda found: value_of(found[1].strip(), values), text)


def value_of(expression, values):
    """Of ``a || 'b'`` the first that is not empty."""
    if expression in values:
        return values[expression]
    first, _, second = expression.partition(" || ")
    if not second:
        raise KeyError(expression)
    return values[first] or (second[1:-1] if second.startswith("'") else values[second])


class Machine:
    """A machine that runs steps, one after the other, in a working copy."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment

    def step(self, step, values, *above):
        """Run a step with ``run``; ``above`` are its job and its workflow, whose variables and shell it has."""
        variables = {}
        for holder in (*reversed(above), step):
            variables |= {name: fill_values(text, values) for name, text in holder.get("env", {}).items()}
        shells = [holder.get("defaults", {}).get("run", {}).get("shell") for holder in above]
        shell = step.get("shell") or next(filter(None, shells), None)
        folder = self.folder / fill_values(step.get("working-directory", "."), values)
        return self.bash(step["run"], variables, folder, SHELLS[shell])

    def bash(self, script, variables=(), folder=None, shell=SHELLS["bash"]):
        """Run a script from a file, as runners do."""
        temporary = self.folder.parent / "temporary"
        temporary.mkdir(exist_ok=True)
        file, outputs = temporary / "step.sh", temporary / "outputs"
        file.write_text(script, encoding="utf-8")
        outputs.write_text("", encoding="utf-8")
        environment = {
            **self.environment,
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(temporary / "summary"),
            "GITHUB_WORKSPACE": str(self.folder),
            "RUNNER_TEMP": str(temporary),
            **dict(variables),
        }
        command = [*shell, str(file)]
        done = subprocess.run(
            command,
            cwd=folder or self.folder,
            env=environment,
            check=False,
            encoding="utf-8",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=1200,
        )
        said = outputs.read_text(encoding="utf-8").splitlines()
        return Ran(done.returncode, done.stdout, dict(line.split("=", 1) for line in said))


def clean_environment(**more):
    """Of this process, without what its own CI, pytest or git told it."""
    foreign = ("GITHUB_", "CI_", "GIT_", "RUNNER_", "PYTEST_", "PIP_", "CHANGE_", "IREVAL_")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(foreign)}
    kept.pop("SOURCE_DATE_EPOCH", None)
    return {**kept, "COLUMNS": "100", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, **more}
