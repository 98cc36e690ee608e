"""Packages add commands to ``ireval``, listed under the name of their distribution and imported when called."""

import sys

import pytest
from test_discovery import distribution

from pytest_ireval import PluginError, entry_points, load_registry

SHELVES = """\
from pytest_ireval import CommandSpec, hookimpl


@hookimpl
def ireval_commands():
    return [CommandSpec("shelves", "Show what is on sale.", "NAME_cli:shelves")]
"""
CLI = """\
import click


@click.command()
@click.argument("shop")
def shelves(shop):
    \"\"\"Show what is on sale in SHOP.\"\"\"
    click.echo(f"mugs in {shop}")
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Installs a package of one plugin with commands."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(name="acme", plugin=SHELVES, cli=CLI, group="pytest_ireval_commands"):
        for module in (f"{name}_plugin", f"{name}_cli"):
            monkeypatch.delitem(sys.modules, module, raising=False)
        distribution(tmp_path, f"{name}-shelves", f"[{group}]\n{name} = {name}_plugin\n")
        (tmp_path / f"{name}_plugin.py").write_text(plugin.replace("NAME", name))
        (tmp_path / f"{name}_cli.py").write_text(cli)

    return install


def test_a_command_is_listed_under_its_distribution_and_called(package, ireval):
    package()

    help_text = ireval("--help").out
    called = ireval("shelves", "Kyoto")
    own_help = ireval("shelves", "--help").out

    assert "\nacme-shelves:\n  shelves  Show what is on sale.\n" in help_text
    assert help_text.index("Installed:") < help_text.index("acme-shelves:")
    assert called == (0, "mugs in Kyoto\n", "")
    assert own_help.startswith("Usage: ireval shelves [OPTIONS] SHOP\n\n  Show what is on sale in SHOP.\n")
    assert "acme-shelves 1.2 (acme)\n  commands: shelves\n" in ireval("plugins").out


def test_help_does_not_import_the_command(package, ireval):
    package(cli="raise RuntimeError('imported')\n")

    assert "shelves" in ireval("--help").out
    called = ireval("shelves")
    assert called.code == 2
    assert called.err.startswith(
        "error: command 'shelves' of acme-shelves 1.2 cannot be loaded from acme_cli:shelves: RuntimeError: imported\n"
    )


def test_two_packages_with_one_command_are_an_error_that_names_both(package, ireval, monkeypatch):
    package("acme")
    package("best")

    for arguments in (["--help"], ["shelves"]):
        found = ireval(*arguments)
        assert (found.code, found.err) == (
            2,
            "error: command 'shelves' is claimed twice: by acme-shelves 1.2 and by best-shelves 1.2\n"
            "  run without one of them: IREVAL_WITHOUT=acme or best\n",
        )
    monkeypatch.setenv("IREVAL_WITHOUT", "best")
    assert ireval("shelves", "Lima").out == "mugs in Lima\n"


def test_a_command_of_the_core_cannot_be_replaced(package, ireval):
    package(plugin=SHELVES.replace('"shelves"', '"evaluate"'))

    assert "command 'evaluate' is claimed twice: by ireval itself and by acme-shelves 1.2" in ireval("--help").err


def test_a_broken_package_takes_no_other_command_away(package, ireval):
    package("acme", plugin="import a_library_that_is_gone\n")
    package("best")

    listed = ireval("--help")
    assert listed.code == 0
    assert "best-shelves:" in listed.out
    assert listed.err.startswith(
        "warning: no command of this plugin is shown: plugin 'acme' (acme_plugin) of acme-shelves 1.2 cannot be loaded"
    )
    assert ireval("shelves", "Lima").out == "mugs in Lima\n"
    assert "plugin 'acme' (acme_plugin) of acme-shelves 1.2 cannot be loaded" in ireval("racks").err


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('CommandSpec("shelves"', 'CommandSpec("Shelves!"', "'Shelves!' cannot be the name of a command"),
        ("NAME_cli:shelves", "NAME_cli", "command 'shelves' has the target 'acme_cli': write module:attribute"),
        ("    return [CommandSpec", "    [CommandSpec", "returned None; is a return statement missing?"),
        ("ireval_commands():", "ireval_commands(shop):", "Argument(s) {'shop'} are declared in the hookimpl"),
        ('"Show what is on sale."', '""', "command 'shelves' needs a summary of one line"),
        ("[CommandSpec(", "[str(", "ireval_commands of plugin 'acme' (acme_plugin) of acme-shelves 1.2 must return"),
        ("@hookimpl\n", "", "does not implement ireval_commands"),
    ],
)
def test_what_a_plugin_may_get_wrong(package, ireval, old, new, complaint):
    package(plugin=SHELVES.replace(old, new))

    assert complaint in ireval("--help").err


@pytest.mark.parametrize("group", ["pytest_ireval", "pytest_ireval_suites"])
def test_commands_in_another_group_are_refused(package, ireval, group):
    package(group=group)

    found = ireval("plugins")
    assert "acme_plugin" in found.err
    assert "implements ireval_commands" in found.err
    assert "not called in the group" in found.err or "only called in the group pytest_ireval_commands" in found.err


def test_what_is_no_command_is_refused(package, ireval):
    package(cli="shelves = 'mugs'\n")

    assert ireval("shelves").err == (
        "error: command 'shelves' of acme-shelves 1.2: acme_cli:shelves is 'mugs', not a command of click\n"
    )


def test_a_conftest_adds_no_command(pytester):
    pytester.makeconftest(SHELVES)
    pytester.path.joinpath("shop.ireval.yaml").write_text("ireval: 1\n")

    result = pytester.runpytest("--ireval", "-n0")

    result.stderr.fnmatch_lines(["*conftest.py implements ireval_commands*: they are only called in the group*"])


def test_a_command_of_a_package_that_was_removed_is_refused_with_its_name(ireval, monkeypatch):
    monkeypatch.setattr(entry_points, "find_spec", lambda package: None)

    refused = ireval("judge", "pool.tsv")
    assert (refused.code, refused.err) == (
        2,
        "error: the command 'judge' belongs to the package pytest_ireval_judgments, which is not installed\n"
        "  install pytest-ireval again: it brings this package\n",
    )
    assert "Judgments:" not in ireval("--help").out
    assert "judgments" not in ireval("plugins").out.splitlines()[0]


HOOKS = """\
from pytest_ireval import hookspec


@hookspec
def ireval_prices():
    pass
"""
SHELVES_WITH_A_HOOK = (
    SHELVES
    + """

@hookimpl
def ireval_hookspecs():
    import NAME_hooks
    return [NAME_hooks]
"""
)
PRICES = """\
from dataclasses import dataclass
from pytest_ireval import hookimpl

@dataclass(frozen=True)
class Price:
    name: str
    origin: str = ""
    source: str = "here"

@hookimpl
def ireval_prices():
    return [Price("mug")]
"""


@pytest.fixture
def with_hook(package, tmp_path, monkeypatch):
    """A package that brings the hook ``ireval_prices``."""
    monkeypatch.delitem(sys.modules, "acme_hooks", raising=False)
    (tmp_path / "acme_hooks.py").write_text(HOOKS)
    package(plugin=SHELVES_WITH_A_HOOK)
    return tmp_path


def test_a_package_brings_a_hook_that_other_plugins_implement(with_hook):
    (with_hook / "aaa_prices.py").write_text(PRICES)
    distribution(with_hook, "aaa-prices", "[pytest_ireval]\naaa = aaa_prices\n")
    import aaa_prices

    found = load_registry().collect("ireval_prices", aaa_prices.Price, "price")

    assert [(name, price.origin) for name, price in found.items()] == [("mug", "aaa-prices 1.2")]


@pytest.mark.usefixtures("package")
def test_without_the_package_its_hook_is_unknown(tmp_path):
    (tmp_path / "bbb_prices.py").write_text(PRICES)
    distribution(tmp_path, "bbb-prices", "[pytest_ireval]\nbbb = bbb_prices\n")

    with pytest.raises(PluginError, match="unknown hook 'ireval_prices'"):
        load_registry()


@pytest.mark.parametrize(
    ("hooks", "complaint"), [("", "did not find any"), (HOOKS.replace("prices", "rules"), "already")]
)
def test_wrong_hooks_of_a_package_are_refused(with_hook, hooks, complaint):
    (with_hook / "acme_hooks.py").write_text(hooks)

    with pytest.raises(PluginError, match=complaint):
        load_registry()
