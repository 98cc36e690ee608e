"""Metrics that a plugin resolves by name work like listed ones; what it does not know is an error with a way out."""

import json

import pytest
from test_discovery import distribution

from pytest_ireval import MetricResolver, load_registry
from pytest_ireval.errors import MetricNameError, PluginError
from pytest_ireval.plugins.by_name import Origin, vocabulary_of

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
    return [MetricResolver("acme", "shares of documents by grade", share, ["Good", "Perfect"])]
"""


@pytest.fixture
def shop(pytester, monkeypatch):
    """An installed resolver, a suite that names one of its metrics, and rankings that got worse."""
    distribution(pytester.path, "acme-shares", "[pytest_ireval]\nacme-shares = acme_shares\n")
    (pytester.path / "acme_shares.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(pytester.path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    (pytester.path / "judgments.txt").write_text("q1 0 a 3\nq1 0 b 1\n")
    (pytester.path / "now.txt").write_text("q1 Q0 a 1 9 x\nq1 Q0 b 2 8 x\n")
    (pytester.path / "shop.ireval.yaml").write_text(
        "ireval: 1\nsuite: shop\nsource: {run: now.txt}\njudgments: judgments.txt\n"
        "rules:\n  - no_regression: {metric: 'acme:good@2', tolerance: 1%}\n  - threshold: {'acme:Perfect@1': '>= 1'}\n"
    )
    return pytester


def flat(text):
    return " ".join(str(text).split())


def test_the_gate_keeps_it_in_the_baseline_and_compares_with_it(shop, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    assert shop.runpytest("--ireval", "-n0", "--ireval-update").ret == 0
    assert "acme:Good@2" in json.loads((shop.path / "baselines/shop.json").read_text())["metrics"]
    (shop.path / "now.txt").write_text("q1 Q0 a 1 9 x\nq1 Q0 c 2 8 x\n")

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


def resolver(prefix="irm", resolve=lambda text: None):
    return MetricResolver(prefix, "made up", resolve)


def named(vocabulary, text):
    return str(vocabulary.parse(text)[0])


def brought(**resolvers):
    return [(Origin(name, name.replace("_", "-"), "1"), [each]) for name, each in resolvers.items()]


@pytest.fixture
def precision():
    """A function that resolves every name to a metric of ours under that name."""
    known = load_registry().metrics["P"]
    return lambda text: known @ int(text.partition("@")[2]) if text.lower().startswith("p@") else known @ 1


def test_one_prefix_of_two_distributions_is_an_error_where_it_is_used(precision):
    both = vocabulary_of([], brought(one=resolver(resolve=precision), two=resolver(resolve=precision)))

    with pytest.raises(MetricNameError, match="write one of one:irm:p@5, two:irm:p@5"):
        both.parse("irm:p@5")
    assert named(both, "two:irm:p@5") == "two:irm:P@5"
    assert named(both, named(both, "one:irm:p@5")) == "one:irm:P@5"


def test_one_prefix_of_one_distribution_is_claimed_once(precision):
    origin = Origin("a", "acme", "1")

    with pytest.raises(PluginError, match="prefix 'irm' of metrics is claimed twice: by acme 1 and by acme 1"):
        vocabulary_of([], [(origin, [resolver()]), (origin, [resolver()])])


def test_a_prefix_that_is_the_name_of_a_distribution_stays_unambiguous(registry, precision):
    ours = [(Origin("builtin", "pytest-ireval", "1"), [registry.metrics["AP"]])]
    found = vocabulary_of(ours, brought(shop=resolver("pytest_ireval", precision)))

    with pytest.raises(MetricNameError, match="write one of shop:pytest_ireval:AP, AP"):
        found.parse("pytest-ireval:AP")
    assert named(found, "shop:pytest_ireval:P@3") == "shop:pytest_ireval:P@3"
    with pytest.raises(PluginError, match="prefix 'pytest_ireval' of metrics is claimed twice"):
        vocabulary_of(ours, [(Origin("conftest.py"), [resolver("pytest_ireval")])])


def test_a_distribution_may_have_its_own_name_as_prefix(precision):
    found = vocabulary_of([], brought(irm=resolver(resolve=precision)))

    assert named(found, "irm:p@5") == "irm:P@5"
    assert found.parse("irm:P@5")[0] is found.parse(" irm:p@5 ")[0]


def test_a_name_that_does_not_lead_back_to_itself_is_refused(registry):
    up = vocabulary_of([], brought(acme=resolver(resolve=lambda text: registry.metrics["P"] @ (len(text) + 1))))

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
        vocabulary_of([], brought(acme=resolver(resolve=resolve))).parse("irm:x")


@pytest.mark.parametrize("prefix", ["", "My", "a-b", None])
def test_a_prefix_is_a_word(prefix):
    with pytest.raises(PluginError, match="a MetricResolver needs a prefix of lower-case letters, digits and _"):
        vocabulary_of([], brought(acme=resolver(prefix)))
