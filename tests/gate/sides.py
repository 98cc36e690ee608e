"""Two rankings beside each other as the gate has them, made of mappings instead of files."""

from pathlib import Path
from types import MappingProxyType

from pytest_ireval.data.coerce import coerce_rankings
from pytest_ireval.data.queries import Queries
from pytest_ireval.evaluating.evaluation import prepare_evaluation
from pytest_ireval.gate.queries_and_judgments import Collection
from pytest_ireval.gate.score_rankings import score_rankings
from pytest_ireval.gate.unjudged import UnjudgedEffects
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.results.policies import Policies
from pytest_ireval.sides.population import Population
from pytest_ireval.suite.suite import Place, Suite
from pytest_ireval.suite.suite_keys import DocumentsKeys

REGISTRY = installed_registry()
NONE = MappingProxyType({})


class TwoSides:
    """Scores of both sides, and what unjudged documents leave open between them.

    ``judgments`` are grades by query and document, rankings lists of documents by query; of a source that is asked
    several times, a list of them.
    """

    def __init__(self, judgments, now, before, metrics, policies=NONE):
        told = Policies(**{"ties": "input", "depth": 100, **policies})
        self.setting = prepare_evaluation(judgments, metrics, told, REGISTRY)
        self.metrics = {str(metric): metric for metric in self.setting.metrics}
        place = Place("shop.yaml", 1, 1)
        suite = Suite(
            "shop",
            Path("shop.yaml"),
            "shop.yaml",
            place,
            DocumentsKeys(),
            metrics=tuple(self.metrics.values()),
            policies=told,
        )
        queries = Queries(tuple(judgments), tuple(f"text of {query}" for query in judgments))
        population = Population(queries, self.setting.judgments)
        self.collection = Collection(suite, REGISTRY, population, self.setting)
        self.now, self.before = (
            score_rankings(self.collection, [self._read(each) for each in _list_askings(side)], "here").side
            for side in (now, before)
        )
        self.effects = UnjudgedEffects(self.collection, self.now, self.before)

    def _read(self, lists):
        scored = {query: [_add_score(rank, each) for rank, each in enumerate(ids)] for query, ids in lists.items()}
        return coerce_rankings(scored, self.setting.registry.readers, None, self.setting.how)

    def left_open(self, name):
        """What the gate says of one metric."""
        return self.effects.measure(self.metrics[name])

    def difference(self, name):
        """``now - before`` of every query."""
        return self.now.scored[name].values - self.before.scored[name].values


def _list_askings(side):
    return side if isinstance(side, list) else [side]


def _add_score(rank, each):
    """A document under a score that falls, or under its own if it has one."""
    return each if isinstance(each, tuple) else (each, -rank)
