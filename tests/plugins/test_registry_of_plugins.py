"""Plugins are found, named with version, and refused when they clash or misspell a hook."""

import sys
import types
from pathlib import Path

import numpy as np
import pytest

from pytest_ireval import InputError, entry_points, hookimpl, load_registry, metric, read_judgments, rule, source
from pytest_ireval.entry_points import ENTRY_POINT_GROUP, SUITES_GROUP
from pytest_ireval.errors import MetricNameError, PluginError
from pytest_ireval.options import RuleOptions, SourceOptions, Text
from pytest_ireval.plugin_api import Reader
from pytest_ireval.plugins.by_name import Origin
from pytest_ireval.plugins.manager import Plugins
from pytest_ireval.plugins.registry import GivenHooks, build_registry
from pytest_ireval.pytest_plugin.run_plugins import RunPlugins
from pytest_ireval.suite.scalars import UnfitError
from pytest_ireval.suite.sources_and_rules import read_source


def toy(name, **about):
    @metric(name=name, **about)
    def toy(judged):
        """Zero."""
        return np.zeros(judged.count)

    return toy


def module(name, **members):
    """A module as pytest would hand it over."""
    made = types.ModuleType(name)
    made.__file__ = f"/somewhere/{name}.py"
    vars(made).update(members)
    return made


def hook(*metrics):
    @hookimpl
    def ireval_metrics():
        return list(metrics)

    return ireval_metrics


class FakeEntryPoint:
    """What is found for an installed distribution."""

    def __init__(self, name, distribution, plugin, version="1.0", group=ENTRY_POINT_GROUP):
        self.name, self.module, self.group = name, f"{distribution}:plugin", group
        self.distribution, self.version = distribution, version
        self.plugin = plugin

    def load(self):
        if isinstance(self.plugin, Exception):
            raise self.plugin
        return self.plugin


@pytest.fixture
def install_entry_points(monkeypatch):
    """Pretends that these entry points are installed."""

    def pretend(*entries):
        monkeypatch.setattr(entry_points, "list_installed_plugins", lambda *groups: list(entries))

    return pretend


def test_origin_and_version_of_a_third_party(install_entry_points):
    install_entry_points(
        FakeEntryPoint("acme", "acme-metrics", module("acme", ireval_metrics=hook(toy("Acme"))), "2.1")
    )

    found = load_registry()

    assert str(found.plugins[0]) == "acme-metrics 2.1"
    assert found.metrics["Acme"].origin == "acme-metrics 2.1"


def test_two_distributions_with_one_entry_point_name_are_an_error(install_entry_points):
    install_entry_points(
        FakeEntryPoint("acme", "first", module("a"), "1"), FakeEntryPoint("acme", "second", module("b"), "2")
    )

    with pytest.raises(PluginError) as caught:
        load_registry()

    assert str(caught.value) == (
        "two installed plugins are called 'acme': first 1 and second 2; one must rename its entry point"
    )


def test_one_distribution_claims_a_name_once(install_entry_points):
    install_entry_points(
        FakeEntryPoint("one", "acme", module("a", ireval_metrics=hook(toy("Clicks"))), "1"),
        FakeEntryPoint("two", "Acme", module("b", ireval_metrics=hook(toy("Clicks"))), "1"),
    )

    with pytest.raises(PluginError) as caught:
        load_registry()

    assert str(caught.value) == (
        "metric name 'Clicks' is claimed twice: by Clicks of acme 1 and by Clicks of Acme 1\n  rename one of them"
    )


@pytest.fixture
def clashing(install_entry_points):
    """Two distributions bring Clicks, and one of them calls another metric by a spelling of the other's."""
    install_entry_points(
        FakeEntryPoint("one", "first", module("a", ireval_metrics=hook(toy("Clicks"), toy("Only"))), "1"),
        FakeEntryPoint(
            "two",
            "Second_Shop",
            module("b", ireval_metrics=hook(toy("CLICKS"), toy("Dwell", spellings={"only": {}}))),
            "2",
        ),
    )
    return load_registry()


def test_a_name_of_two_distributions_is_an_error_where_it_is_used(clashing):
    with pytest.raises(MetricNameError) as caught:
        clashing.parse_metrics(["clicks"])

    assert str(caught.value) == (
        "'clicks', column 1\n  several plugins have a metric 'clicks'\n  write one of first:Clicks, second-shop:CLICKS"
    )
    with pytest.raises(MetricNameError, match="write one of first:Only, second-shop:Dwell"):
        clashing.parse_metrics(["only"])
    assert sorted(clashing.metrics) == ["Dwell", "first:Clicks", "first:Only", "second-shop:CLICKS"]


@pytest.mark.parametrize(
    ("text", "name", "origin"),
    [
        (" FIRST:clicks", "first:Clicks", "first 1"),
        ("second_shop:Clicks", "second-shop:CLICKS", "Second_Shop 2"),
        ("second-shop:dwell", "second-shop:Dwell", "Second_Shop 2"),
        ("second-shop:only", "second-shop:Dwell", "Second_Shop 2"),
    ],
)
def test_the_distribution_before_the_name_tells_them_apart(clashing, text, name, origin):
    (found,) = clashing.parse_metrics([text])

    assert (str(found), found.origin) == (name, origin)
    assert clashing.parse_metrics([str(found)]) == [found]


@pytest.mark.parametrize("text", ["third:Clicks@[1, 2]"])
def test_a_distribution_that_is_not_there_is_named(clashing, text):
    with pytest.raises(MetricNameError) as caught:
        clashing.parse_metrics([text])

    assert "no installed plugin with metrics is called 'third'" in str(caught.value)
    assert "installed: first, second-shop" in str(caught.value)


def test_rules_and_sources_of_two_distributions_are_told_apart(install_entry_points):
    class Options(SourceOptions):
        shop: Text

    def brings(answer):
        @source(name="shop", options=Options)
        def shop(options, request):
            """Rankings."""
            return answer

        @hookimpl
        def ireval_sources():
            return [shop]

        return ireval_sources

    install_entry_points(
        FakeEntryPoint("one", "first", module("a", ireval_sources=brings({})), "1"),
        FakeEntryPoint("two", "second", module("b", ireval_sources=brings({})), "2"),
    )
    sources = load_registry().sources

    assert list(sources) == ["first:shop", "second:shop"]
    assert "shop" not in sources
    assert sources["second:shop"].source == "second 2"
    assert read_source({"Second:shop": "x"}, load_registry()).options.shop == "x"
    with pytest.raises(UnfitError) as caught:
        read_source({"shop": "x"}, load_registry())
    assert (caught.value.complaint, caught.value.suggestion) == (
        "several plugins have a source 'shop'",
        "write one of first:shop, second:shop",
    )


def with_hole(name, spelling):
    @metric(name=name, spellings={spelling: {}})
    def holed(judged, *, k: int = 1):
        """Zero."""
        return np.zeros(judged.count)

    return holed


@pytest.fixture
def registry_of_numbers(install_entry_points):
    """Two distributions read numbers from names in one way, and a third calls a metric as one of them would be read."""
    install_entry_points(
        FakeEntryPoint("one", "first", module("a", ireval_metrics=hook(with_hole("A", "clicks_{k}"))), "1"),
        FakeEntryPoint("two", "second", module("b", ireval_metrics=hook(with_hole("B", "CLICKS_{k}"))), "1"),
        FakeEntryPoint("three", "third", module("c", ireval_metrics=hook(with_hole("C", "dwell_{k}"))), "1"),
        FakeEntryPoint("four", "fourth", module("d", ireval_metrics=hook(toy("dwell_5"))), "1"),
    )
    return load_registry()


@pytest.mark.parametrize(
    ("text", "ways"), [("clicks_7", "first:clicks_7, second:clicks_7"), ("Dwell_5", "fourth:dwell_5, third:dwell_5")]
)
def test_names_with_numbers_of_two_distributions_are_an_error_where_they_are_used(registry_of_numbers, text, ways):
    with pytest.raises(MetricNameError, match=f"several plugins have a metric '{text}'") as caught:
        registry_of_numbers.parse_metrics([text])
    with pytest.raises(MetricNameError, match="several plugins"):
        registry_of_numbers.vocabulary.family(text)

    assert sorted(str(caught.value).partition("write one of ")[2].split(", ")) == ways.split(", ")


def test_formats_of_two_distributions_are_told_apart(install_entry_points, tmp_path):
    def brings(grade, **about):
        arrows = Reader("arrows", "judgments", "", lambda file: True, lambda file, how: {"q": {"a": grade}}, **about)
        return hookimpl(lambda: [arrows], specname="ireval_readers")

    install_entry_points(
        FakeEntryPoint("one", "first", module("a", ireval_readers=brings(1, also=("ar",))), "1"),
        FakeEntryPoint("two", "Second_Shop", module("b", ireval_readers=brings(2)), "2"),
    )
    (tmp_path / "file.x").write_text("x\n")

    def grades(name):
        return read_judgments(tmp_path / "file.x", format=name, registry=load_registry()).grade.tolist()

    with pytest.raises(
        InputError, match=r"several plugins have a format 'arrows' for judgments\n.*first:arrows, second-shop"
    ):
        grades("arrows")
    with pytest.raises(InputError, match="could be in format first:arrows or second-shop:arrows"):
        grades(None)
    assert [grades(name) for name in ("first:arrows", "second-shop:arrows", "ar", "first:ar")] == [[1], [2], [1], [1]]


BROKEN = FakeEntryPoint("acme", "acme-metrics", ImportError("gone"), "2.1")
SOUND = FakeEntryPoint("clicks", "click-metrics", module("c", ireval_metrics=hook(toy("Clicks"))), "1")


@pytest.mark.parametrize("name", ["ACME", "Acme.Metrics"])
@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_plugin_is_left_out_by_name(install_entry_points, monkeypatch, name, how):
    install_entry_points(BROKEN, SOUND)
    plugins = Plugins()
    if how == "variable":
        monkeypatch.setenv("IREVAL_WITHOUT", f" {name} ,")
    plugins.load_installed([name] if how == "option" else [])
    found = plugins.make_registry()

    assert list(found.metrics) == ["Clicks"]
    assert [str(each) for each in found.without] == ["acme-metrics 2.1"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (
            "acne",
            "--ireval-without names 'acne', which is not an installed plugin\n  did you mean 'acme'?\n"
            "  installed: acme, clicks",
        ),
        (
            "builtin",
            "--ireval-without names 'builtin', which is built in and cannot be left out\n  installed: acme, clicks",
        ),
    ],
)
def test_a_name_that_cannot_be_left_out_is_an_error(install_entry_points, name, complaint):
    install_entry_points(BROKEN, SOUND, FakeEntryPoint("builtin", "pytest-ireval", module("b"), "1"))

    with pytest.raises(PluginError) as caught:
        Plugins().load_installed([name])
    assert str(caught.value) == complaint


def test_names_that_differ_in_letter_case_only_are_one_name():
    with pytest.raises(PluginError) as caught:
        build_registry(GivenHooks(ireval_metrics=[(Origin("a"), [toy("Clicks")]), (Origin("b"), [toy("CLICKS")])]))

    assert str(caught.value) == (
        "metric name 'CLICKS' is claimed twice (the first spells it 'Clicks'; letter case is ignored): "
        "by Clicks of a and by CLICKS of b\n  rename one of them"
    )


def test_a_spelling_of_a_built_in_metric_cannot_be_taken(registry):
    builtin = (Origin("builtin"), registry.metrics.values())

    with pytest.raises(PluginError, match="metric name 'map' is claimed twice"):
        build_registry(GivenHooks(ireval_metrics=[builtin, (Origin("b"), [toy("map")])]))


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (7, r"ireval_metrics of acme-metrics 2.1 must return a list of metrics"),
        ([7], r"plugin acme-metrics 2.1 returned 7 from ireval_metrics, which is not a metric"),
        (None, r"ireval_metrics of acme-metrics 2.1 returned None; is a return statement missing\?"),
        (RuntimeError("no licence"), r"ireval_metrics of acme-metrics 2.1 must return .*: RuntimeError: no licence"),
    ],
)
def test_a_hook_that_raises_or_returns_something_else_is_refused(install_entry_points, returned, message):
    @hookimpl
    def ireval_metrics():
        if isinstance(returned, Exception):
            raise returned
        return returned

    install_entry_points(FakeEntryPoint("acme", "acme-metrics", module("acme", ireval_metrics=ireval_metrics), "2.1"))

    with pytest.raises(PluginError, match=message):
        load_registry()


def test_an_installed_plugin_without_hooks_is_refused(install_entry_points):
    install_entry_points(FakeEntryPoint("acme", "acme-metrics", module("acme"), "2.1"))

    with pytest.raises(
        PluginError,
        match=r"plugin 'acme' \(acme-metrics:plugin\) of acme-metrics 2.1 implements no hook of pytest-ireval",
    ):
        load_registry()


@pytest.mark.parametrize("name", ["ireval_metricz"])
def test_a_misspelt_hook_is_refused(name):
    @hookimpl
    def misspelt():
        return []

    misspelt.__name__ = name

    with pytest.raises(PluginError, match=name):
        Plugins().register_module(module("bad", **{name: misspelt}))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ireval_metricz", "ireval_metricz is not marked with @hookimpl, so it would never be called; did you mean"),
        ("ireval_metrics", "ireval_metrics is not marked with @hookimpl, so it would never be called"),
    ],
)
def test_a_function_named_like_a_hook_that_would_never_be_called_is_refused(name, message):
    def forgotten():
        return []

    with pytest.raises(PluginError, match=message):
        Plugins().register_module(module("bad", **{name: forgotten}))


def test_two_files_called_conftest_are_two_plugins():
    plugins = Plugins()
    first, second = module("conftest", ireval_metrics=hook(toy("A"))), module("conftest", ireval_metrics=hook(toy("B")))
    first.__file__, second.__file__ = "/a/conftest.py", "/b/conftest.py"
    plugins.register_module(first)
    plugins.register_module(second)

    assert set(plugins.make_registry().metrics) == {"A", "B"}
    assert set(plugins.make_registry(without=[first]).metrics) == {"B"}


@pytest.mark.parametrize("name", ["2nd", "P@5"])
def test_a_name_that_could_not_be_parsed_is_refused(name):
    with pytest.raises(Exception, match="a name has only letters, digits and _, and begins with a letter"):
        toy(name)


@pytest.mark.parametrize("name", ["P_5"])
def test_a_name_that_would_be_read_as_a_spelling_of_another_metric_is_refused(registry, name):
    builtin = (Origin("builtin"), registry.metrics.values())

    with pytest.raises(PluginError, match=f"metric name '{name}' of {name} of b would be read as"):
        build_registry(GivenHooks(ireval_metrics=[builtin, (Origin("b"), [toy(name)])]))


def test_two_spellings_with_one_stem_are_refused(registry):
    @metric(name="Toy", spellings={"P_{k}": {}})
    def other(judged, *, k: int = 1):
        """Zero."""
        return np.zeros(judged.count)

    with pytest.raises(PluginError, match="would be read as"):
        build_registry(
            GivenHooks(ireval_metrics=[(Origin("builtin"), registry.metrics.values()), (Origin("b"), [other])])
        )


def test_a_plugin_that_leaves_the_program_while_it_is_imported_is_named(install_entry_points):
    class Leaving(FakeEntryPoint):
        def load(self):
            raise SystemExit("no licence")

    install_entry_points(Leaving("acme", "acme-metrics", None, "2.1"))

    with pytest.raises(PluginError, match=r"plugin 'acme' .* cannot be loaded: SystemExit: no licence"):
        load_registry()


class Late(FakeEntryPoint):
    """A plugin that only suites need; counts how often it is imported."""

    def __init__(self, name, distribution, plugin, version="1.0"):
        super().__init__(name, distribution, plugin, version, SUITES_GROUP)
        self.loads = 0

    def load(self):
        self.loads += 1
        return super().load()


def kinds_of(*rules):
    return hookimpl(lambda: list(rules), specname="ireval_rules")


class FreshOptions(RuleOptions):
    pass


@rule(name="fresh", options=FreshOptions)
def fresh(options, context):
    """Nothing is old."""


def test_a_plugin_of_suites_is_imported_when_a_rule_or_a_source_is_looked_for(install_entry_points):
    late = Late("acme", "acme-metrics", module("rules", ireval_rules=kinds_of(fresh)), "2.1")
    install_entry_points(
        FakeEntryPoint("acme", "acme-metrics", module("acme", ireval_metrics=hook(toy("Acme"))), "2.1"), late
    )
    found = load_registry()

    assert (list(found.metrics), found.distributions, late.loads) == (["Acme"], ("acme-metrics 2.1",), 0)
    assert [(rule.name, rule.origin) for rule in found.rules.values()] == [("fresh", "acme-metrics 2.1")]
    assert (list(found.sources), late.loads) == ([], 1)


def test_a_change_of_its_files_concerns_suites_as_any_plugin_does(install_entry_points, monkeypatch, tmp_path):
    rules = module("acme_rules", ireval_rules=kinds_of(fresh))
    monkeypatch.setitem(sys.modules, "acme_rules", rules)
    install_entry_points(Late("acme", "acme-metrics", rules))
    plugins = RunPlugins(tmp_path)
    _ = plugins.registry_for(tmp_path / "shop.ireval.yaml").rules

    assert (plugins.module_paths, str(plugins)) == ((Path("/somewhere/acme_rules.py"),), "acme-metrics 1.0")


def test_a_hook_that_suites_do_not_need_is_refused_in_their_group(install_entry_points):
    install_entry_points(Late("acme", "acme-metrics", module("acme", ireval_metrics=hook(toy("Acme")))))

    with pytest.raises(PluginError) as caught:
        _ = load_registry().rules
    assert str(caught.value) == (
        "plugin 'acme' (acme-metrics:plugin) of acme-metrics 1.0 implements ireval_metrics, "
        "which is not called in the group pytest_ireval_suites\n"
        "  name a module with these hooks in the entry-point group pytest_ireval\n"
        "  pytest_ireval_suites: ireval_sources, ireval_rules, ireval_diagnoses"
    )


def test_a_broken_plugin_of_suites_stops_what_reads_suites_every_time(install_entry_points):
    install_entry_points(Late("acme", "acme-metrics", ImportError("gone")), SOUND)
    found = load_registry()

    assert list(found.metrics) == ["Clicks"]
    for _ in range(2):
        with pytest.raises(PluginError, match=r"acme-metrics 1.0 cannot be loaded: ImportError: gone"):
            _ = found.rules
    looking = load_registry(skip_broken=True)
    assert list(looking.rules) == []
    assert [each.partition(":")[0] for each in looking.broken] == ["plugin 'acme' (acme-metrics"]
