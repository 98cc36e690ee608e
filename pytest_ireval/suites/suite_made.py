"""What was read of a file, put together as a Suite."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.evaluation import Policies
from pytest_ireval.suites.checks import Read
from pytest_ireval.suites.population_keys import PopulationKeys
from pytest_ireval.suites.scalars import Keys
from pytest_ireval.suites.suite import DocumentsAsked, FileAsked, JudgmentsAsked, PopulationAsked, Suite, Waiver
from pytest_ireval.suites.suite_keys import DocumentsKeys, JudgmentsKeys, QueriesKeys, SuiteKeys


def suite_made(read: Read, values: Mapping[str, str], own: Keys, files: list[Path]) -> Suite:
    """The suite; everything in ``read`` is right."""
    given = _with_defaults(read.values)
    documents: DocumentsKeys = given["documents"]
    judgments: JudgmentsKeys | None = given["judgments"]
    return Suite(
        name=given["suite"],
        path=files[0],
        shown=own.file.shown,
        place=own.place,
        values=dict(values),
        owner=given["owner"],
        tags=given["tags"],
        source=given["source"],
        queries=_file(given["queries"]),
        weight=given["weight"],
        cluster=given["cluster"],
        population=_population(given["population"], read),
        judgments=_judgments(judgments) if judgments else None,
        documents=DocumentsAsked(documents.aliases, documents.collapse, documents.size),
        metrics=_metrics(given["metrics"], read),
        policies=_policies(given),
        rules=tuple(placed.asked for placed in read.rules),
        waivers=tuple(
            Waiver(each.query, each.until, each.reason, read.at("waive", number).place)
            for number, each in enumerate(given["waive"])
        ),
        longest_waiver=given["longest_waiver"],
        nothing_judged=given["nothing_judged"],
        files=tuple(files),
        watches=given["watches"],
        weight_place=read.at("weight").place if given["weight"] else None,
        cluster_place=read.at("cluster").place if given["cluster"] else None,
    )


def _with_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    fields = SuiteKeys.model_fields
    return {
        key: values[key] if key in values else _default(field)
        for key, field in fields.items()
        if key in values or not field.is_required()
    }


def _default(field: Any) -> Any:
    return field.default_factory() if field.default_factory else field.default


def _file(keys: QueriesKeys | JudgmentsKeys | None) -> FileAsked | None:
    return FileAsked(keys.file.path, keys.file.place, keys.format or None) if keys else None


def _judgments(keys: JudgmentsKeys) -> JudgmentsAsked:
    file = FileAsked(keys.file.path, keys.file.place, keys.format or None)
    return JudgmentsAsked(file, keys.relevant_from, keys.scale, keys.lock)


def _population(keys: PopulationKeys | None, read: Read) -> PopulationAsked | None:
    if keys is None:
        return None
    sizes = dict(keys.size)
    place = read.at("population", "strata").place if keys.strata else read.at("population").place
    return PopulationAsked(place, keys.strata, dict(keys.shares), sizes.pop("", None), sizes)


def _policies(given: Mapping[str, Any]) -> Policies:
    judgments: JudgmentsKeys | None = given["judgments"]
    return Policies(
        ties=given["ties"],
        missing_queries=given["missing_queries"],
        no_relevant=given["no_relevant"],
        unjudged=judgments.unjudged if judgments else "irrelevant",
        depth=given["depth"],
        scale=max(judgments.scale) if judgments and judgments.scale else None,
        grades=judgments.grades if judgments else "integer",
        collection=given["documents"].size,
    )


def _metrics(listed: tuple[Metric, ...], read: Read) -> tuple[Metric, ...]:
    """Those listed, then those that rules add, each once."""
    of_rules = (part.metric for placed in read.rules for part in placed.asked.parts)
    return tuple({str(each): each for each in (*listed, *of_rules) if each is not None}.values())
