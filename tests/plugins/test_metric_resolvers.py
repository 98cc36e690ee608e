"""Metrics that a plugin resolves by name work like listed ones; what it does not know is an error with a way out."""

import pytest
from suite_files import write_judgments, write_rankings, write_suite
from test_discovery import distribution

from pytest_ireval import MetricResolver, load_registry
from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.entry_points import ENTRY_POINT_GROUP, InstalledPlugin, find_entry_points
from pytest_ireval.errors import MetricNameError, PluginError
from pytest_ireval.plugins import manager
from pytest_ireval.plugins.by_name import Origin, build_vocabulary

PLUGIN = """\
from pytest_ireval import MetricResolver, hookimpl, per_query_metric


def share(text):
    name, _, cutoff = text.partition("@")
    if name.lower() not in ("good", "perfect"):
        return None
    if not cutoff:
        raise ValueError(f"{name} needs a cutoff")

    @per_query_metric(name=name.title())
    def counted(ranking, *, cutoff: int) -> float:
        '''The share of the first documents with such a grade.'''
        return float((ranking.grades >= (1 if name.lower() == "good" else 3)).mean())

    return counted @ int(cutoff)


@hookimpl
def ireval_resolve_metric():
    return [MetricResolver(
        prefix="acme", summary="shares of documents by grade", resolve=share, known=["Good", "Perfect"]
    )]
"""


@pytest.fixture
def shop(pytester, monkeypatch):
    """An installed resolver, a suite that names one of its metrics, and rankings that got worse."""
    distribution(pytester.path, "acme-shares", "[pytest_ireval]\nacme-shares = acme_shares\n")
    (pytester.path / "acme_shares.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(pytester.path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    write_judgments(pytester.path / "judgments.txt", {"q1": {"a": 3, "b": 1}})
    write_rankings(pytester.path / "now.txt", {"q1": ["a", "b"]})
    rules = "no_regression: {metric: 'acme:good@2', tolerance: 1%}", "threshold: {'acme:Perfect@1': '>= 1'}"
    write_suite(pytester.path, *rules, source="{run: now.txt}")
    return pytester


def flat(text):
    return " ".join(str(text).split())


def test_the_gate_keeps_it_in_the_baseline_and_compares_with_it(shop, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    assert shop.runpytest("--ireval", "-n0", "--ireval-update").ret == 0
    assert "acme:Good@2" in read_baseline(shop.path / "baselines", "shop").metrics
    write_rankings(shop.path / "now.txt", {"q1": ["a", "c"]})

    result = shop.runpytest("--ireval", "-n0")

    assert result.ret == 1
    assert "acme:Good@2" in flat(result.stdout)


def test_commands_know_it(shop, ireval):
    scored = ireval("evaluate", "judgments.txt", "now.txt", "-m", "acme:good@2", "-m", "ACME:Perfect@2")
    shown = ireval("metrics", "acme:Good@5")
    why = ireval("why", "acme:Good@2", "judgments.txt", "now.txt", "--query", "q1")

    assert "acme:Good@2" in scored.out, scored
    assert "acme:Perfect@2" in scored.out
    assert "from: acme-shares 1.2" in shown.out
    assert "acme:Good@2" in why.out, why
    assert "acme:… shares of documents by grade" in flat(ireval("metrics").out)
    assert "metrics: acme:…" in ireval("plugins").out
    assert ireval("check", "shop.ireval.yaml").code == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("acme:Goood@5", "'acme:Goood@5' acme of acme-shares 1.2 has no such metric did you mean 'acme:Good@5'?"),
        ("acme:Good", "acme of acme-shares 1.2 has no such metric: ValueError: Good needs a cutoff"),
        ("acne:Good@5", "no installed plugin with metrics is called 'acne' did you mean 'acme'?"),
    ],
)
def test_an_unknown_name_says_what_is_known(shop, ireval, name, said):
    assert said in flat(ireval("evaluate", "judgments.txt", "now.txt", "-m", name).err)


NAMES_FIRST = """\
from importlib import import_module

from pytest_ireval import MetricResolver, hookimpl


@hookimpl
def ireval_resolve_metric():
    names = {"Good": ["good_share", "good_{cutoff}"], "Broken": []}
    return [MetricResolver(names=names, resolve=lambda name: getattr(import_module("acme_" + name.lower()), name))]
"""
GOOD = """\
from pytest_ireval import per_query_metric


@per_query_metric(name="Good", spellings={"good_share": {}, "good_{cutoff}": {}}, version=3)
def Good(ranking, *, cutoff: int, least: float = 1) -> float:
    '''The share of the first documents with such a grade.

    Formula: Good@k = #(documents among the first k with a grade of least or more) / k
    '''
    return float((ranking.grades[:cutoff] >= least).sum()) / cutoff
"""


@pytest.fixture
def named_shop(shop):
    """The same, but the plugin names its metrics first; the module of one of them cannot be imported."""
    (shop.path / "acme_shares.py").write_text(NAMES_FIRST)
    (shop.path / "acme_good.py").write_text(GOOD)
    (shop.path / "acme_broken.py").write_text("import no_such_package\n")
    rules = "no_regression: {metric: 'good(least=2)@2', tolerance: 1%}", "threshold: {good_1: '>= 1'}"
    write_suite(shop.path, *rules, source="{run: now.txt}")
    return shop


def test_metrics_that_are_named_first_are_in_the_baseline_with_origin_and_version(named_shop, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    assert named_shop.runpytest("--ireval", "-n0", "--ireval-update").ret == 0
    stored = read_baseline(named_shop.path / "baselines", "shop").metrics
    assert {name: (each.origin, each.version) for name, each in stored.items()} == {
        "Good(least=2)@2": ("acme-shares", 3),
        "Good@1": ("acme-shares", 3),
    }


def test_commands_explain_metrics_that_are_named_first(named_shop, ireval):
    shown = ireval("metrics", "good_share").out

    assert shown.startswith("Good@cutoff\n  The share of the first documents with such a grade.\n  formula: Good@k = ")
    assert (
        "\n  also called: good_share, good_{cutoff} = Good@{cutoff}\n  version: 3\n  from: acme-shares 1.2\n" in shown
    )
    assert "\n  least: " in shown
    assert "acme-shares 1.2 (acme-shares)\n  metrics: Good, Broken\n" in ireval("plugins").out
    assert "Good@2  " in ireval("evaluate", "judgments.txt", "now.txt", "-m", "acme-shares:good@2").out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Goood@5", "'Goood@5', column 1 unknown metric 'Goood' did you mean 'Good@5'?"),
        ("Good", "Good needs a cutoff, for example Good@10"),
        ("Broken", "'Broken' acme-shares 1.2 cannot make this metric: ModuleNotFoundError: No module named 'no_such_"),
    ],
)
def test_a_mistake_in_a_name_is_explained_where_names_come_first(named_shop, ireval, name, said):
    assert said in flat(ireval("evaluate", "judgments.txt", "now.txt", "-m", name).err)


def test_a_module_is_imported_when_its_metric_is_named():
    asked = []

    def resolve(name):
        asked.append(name)
        return load_registry().metrics["P"]

    origin = Origin("acme", "acme", "1")
    names = {"P": ["Precision", "P_{cutoff}", "precision_{cutoff}"], "Fresh": []}
    vocabulary = build_vocabulary([], [(origin, [MetricResolver(names=names, resolve=resolve)])])
    assert [*vocabulary.metrics] == ["P", "Fresh"]
    assert {*vocabulary.heads, *vocabulary.stems} == {"precision", "p", "fresh"}
    assert asked == []

    assert resolve_name(vocabulary, "precision_5") == resolve_name(vocabulary, "acme:P@5").partition(":")[2] == "P@5"
    assert vocabulary.metrics["P"].origin == "acme 1"
    with pytest.raises(MetricNameError, match="acme 1 lists the names Fresh; the metric has P, P_"):
        vocabulary.parse("Fresh@5")
    assert asked == ["P", "P", "Fresh"]


def test_names_of_a_resolver_and_of_a_list_are_claimed_alike(registry):
    late = [MetricResolver(names={"Fresh": ["p_{cutoff}"]}, resolve=lambda name: None)]
    listed = [(Origin("acme", "acme", "1"), [registry.metrics["P"]])]

    with pytest.raises(PluginError, match="claimed twice"):
        build_vocabulary(listed, [(Origin("acme", "acme", "1"), late)])
    with pytest.raises(MetricNameError, match="write one of acme:P_5, shop:P_5"):
        build_vocabulary(listed, [(Origin("shop", "shop", "1"), late)]).parse("P_5")


def make_resolver(prefix="irm", resolve=lambda text: None):
    return MetricResolver(prefix=prefix, summary="made up", resolve=resolve)


def resolve_name(vocabulary, text):
    return str(vocabulary.parse(text)[0])


def make_plugins(**resolvers):
    return [(Origin(name, name.replace("_", "-"), "1"), [each]) for name, each in resolvers.items()]


@pytest.fixture
def precision():
    """A function that resolves every name to a metric of ours under that name."""
    known = load_registry().metrics["P"]
    return lambda text: known @ int(text.partition("@")[2]) if text.lower().startswith("p@") else known @ 1


def test_one_prefix_of_two_distributions_is_an_error_where_it_is_used(precision):
    both = build_vocabulary(
        [], make_plugins(one=make_resolver(resolve=precision), two=make_resolver(resolve=precision))
    )

    with pytest.raises(MetricNameError, match="write one of one:irm:p@5, two:irm:p@5"):
        both.parse("irm:p@5")
    assert resolve_name(both, "two:irm:p@5") == "two:irm:P@5"
    assert resolve_name(both, resolve_name(both, "one:irm:p@5")) == "one:irm:P@5"


def test_one_prefix_of_one_distribution_is_claimed_once(precision):
    origin = Origin("a", "acme", "1")

    with pytest.raises(PluginError, match="prefix 'irm' of metrics is claimed twice: by acme 1 and by acme 1"):
        build_vocabulary([], [(origin, [make_resolver()]), (origin, [make_resolver()])])


def test_a_name_that_does_not_lead_back_to_itself_is_refused(registry):
    up = build_vocabulary(
        [], make_plugins(acme=make_resolver(resolve=lambda text: registry.metrics["P"] @ (len(text) + 1)))
    )

    with pytest.raises(MetricNameError, match="acme 1 calls it 'P@2', but resolves that name to 'P@4'"):
        up.parse("irm:x")


@pytest.mark.parametrize(
    ("resolve", "said"),
    [
        (lambda text: 7, "irm of acme 1 returned 7, which is not a metric"),
        (lambda text: load_registry().metrics["P"], "irm of acme 1 returned P, which lacks cutoff"),
    ],
)
def test_what_is_no_metric_is_refused_by_name(resolve, said):
    with pytest.raises(MetricNameError, match=said):
        build_vocabulary([], make_plugins(acme=make_resolver(resolve=resolve))).parse("irm:x")


@pytest.mark.parametrize("prefix", ["My", None])
def test_a_prefix_is_a_word(prefix):
    with pytest.raises(
        PluginError, match="a MetricResolver needs names, or a prefix of lower-case letters, digits and _"
    ):
        build_vocabulary([], make_plugins(acme=make_resolver(prefix)))


def test_a_package_of_ours_that_is_missing_is_named_where_a_metric_is_unknown(monkeypatch):
    entries = [
        *find_entry_points(),
        InstalledPlugin("tail", "pytest_ireval_gone", "pytest-ireval", "0.1.0", ENTRY_POINT_GROUP),
    ]
    monkeypatch.setattr(manager, "find_entry_points", lambda: entries)

    with pytest.raises(MetricNameError) as caught:
        manager.load_installed_registry().parse_metrics(["Gone@5"])

    assert "\n  the package pytest_ireval_gone, which may have it, is not installed" in str(caught.value)
    assert manager.load_installed_registry().parse_metrics(["P@5"])
