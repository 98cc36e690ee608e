"""The shell steps of a Jenkinsfile, as Groovy hands them to the shell."""

import re
import textwrap

SHELL_STEP = re.compile(r"\bsh '''\n(.*?)'''", re.DOTALL)


def shell_steps(text):
    """The texts of all ``sh`` steps; one in another form of quotes, in which Groovy fills in variables, is an error."""
    found = SHELL_STEP.findall(text)
    assert len(found) == len(re.findall(r"\bsh\b", text)), "a step that is not sh '''…'''"
    return [textwrap.dedent(step).replace("\\\n", "") for step in found]  # Groovy joins such lines itself
