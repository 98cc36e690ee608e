import re

import pytest_ireval
from pytest_ireval import gate_api, options, plugin_api, tables
from pytest_ireval.cli import options as command_options
from pytest_ireval.cli import sheets
from pytest_ireval.plugins import hookspecs
from pytest_ireval_judgments import click_policies, verdicts

PUBLIC = (pytest_ireval, gate_api, options, plugin_api, tables, command_options, sheets, click_policies, verdicts)


def test_each_public_name_can_be_imported():
    for module in PUBLIC:
        assert [name for name in module.__all__ if getattr(module, name, None) is None] == []


def test_a_script_needs_few_names():
    assert {"evaluate", "compare", "why", "run_gate", "load_suite"} <= set(pytest_ireval.__all__)
    every = [name for module in PUBLIC for name in module.__all__]
    assert sorted(every) == sorted(set(every)), "a name has one home"


def test_each_type_that_a_hook_names_is_public():
    hooks = (hook for name, hook in vars(hookspecs).items() if name.startswith("ireval_"))
    named = {word for hook in hooks for text in hook.__annotations__.values() for word in re.findall(r"[A-Z]\w+", text)}

    assert {"Metric", "RunResult", "SuiteResult"} <= named
    assert named - {*pytest_ireval.__all__, *plugin_api.__all__} == {"Iterable", "None", "Path"}
