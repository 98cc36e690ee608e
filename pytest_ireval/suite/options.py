"""Options of every kind of rule and source, with their defaults, and marks of options that let more pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, model_validator

from pytest_ireval.metrics.metric import Metric, copy_metric
from pytest_ireval.suite.option_types import Against, Filter, Flag, Tags, Text, Texts, Whole
from pytest_ireval.suite.quantities import Amount, Tolerance, Tolerances
from pytest_ireval.suite.scalars import UnfitError
from pytest_ireval.suite.suite import STORED, Reference

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ireval.data.queries import Queries
    from pytest_ireval.errors import Problem
    from pytest_ireval.plugins.plugin_types import Part


STAGE = re.compile(r"[A-Za-z0-9_-]+")
"""The name of a stage, which is part of ids of tests."""


class Looser(NamedTuple):
    """A mark in the annotation of an option: ``floor: Annotated[Number, LESS]``. Without it, any change is reported.

    A value with its own comparison, such as a tolerance, is a limit unless a direction is given.
    """

    direction: str
    """more: greater numbers and longer lists let more pass; less: the opposite; parts: its parts are compared."""
    order: tuple[str, ...] = ()
    """Words, the strictest first."""
    without: str = "loosest"
    """The meaning of a missing value: the loosest, or the strictest."""


MORE, LESS, IN_PARTS = Looser("more"), Looser("less"), Looser("parts")


def _order_words(*order: str) -> Looser:
    """For an option whose values are words, the strictest first."""
    return Looser("words", order)


_TEXTS_FOR_PROGRAMMERS: tuple[Any, ...] = (object.__str__, BaseModel.__str__)


def has_text(value: Any) -> bool:
    """Tell whether a value of an option can be shown as text. That of other objects has class names and addresses."""
    return isinstance(value, str | int | float | None) or type(value).__str__ not in _TEXTS_FOR_PROGRAMMERS


TRAIT_OPTIONS: Mapping[str, type[Any] | tuple[type[Any], ...]] = {
    "tolerance": (Tolerance, Tolerances),
    "at_most": Amount,
    "weighted": bool,
}
"""Options of rules that are traits by their name, with their types."""


class Options(BaseModel):
    """A mapping of a suite: frozen, and a key it does not know is a mistake."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, arbitrary_types_allowed=True)


class KindOptions(Options):
    """The options of a rule or a source. A default is read like a value of a suite: ``"30s"`` are 30 seconds."""

    model_config = ConfigDict(validate_default=True)

    @classmethod
    def find_wrong_defaults(cls, registry: Any) -> dict[str, str]:
        """By name, the options whose own type refuses their default, and why; ``registry`` knows the metrics."""
        known = ((name, each) for name, each in cls.model_fields.items() if each.default_factory is None)
        fields: Any = {name: (each.annotation, each) for name, each in known if not each.is_required()}
        defaults = create_model("Defaults", __base__=KindOptions, **fields)
        try:
            defaults.model_validate({}, context={"registry": registry})
        except ValidationError as error:
            return {
                str(each["loc"][0]): each["msg"].removeprefix("Value error, ").partition("\n")[0]
                for each in error.errors()
            }
        return {}


@dataclass
class RuleTraits:
    """What the checks, the plan and the report have to know of a rule, whatever the names of its options."""

    reference: Reference = STORED
    """The reference of a rule that compares."""
    tolerance: Tolerance | Tolerances | None = None
    """The allowed drop of the mean of its metric; None if it is about something else."""
    at_most: Amount | None = None
    """The number of queries of a slice that may get worse."""
    weighted: bool = False
    """True if each query counts by its traffic."""
    by_evidence: bool = False
    """True if evidence decides, False if the observed change does."""
    on_inconclusive: str = "warn"
    """With evidence: the result if these queries cannot tell: warn or fail."""

    def tolerance_on(self, value: str) -> Tolerance | None:
        """The tolerance of the slice with that value of ``per``."""
        return self.tolerance.of(value) if isinstance(self.tolerance, Tolerances) else self.tolerance

    @property
    def tolerances(self) -> Mapping[str, Tolerance]:
        """The tolerances of single slices."""
        return self.tolerance.by_value if isinstance(self.tolerance, Tolerances) else {}


BelowMinQueries = Literal["not checked", "cannot fail", "can fail"]
"""What a rule does with a slice of fewer than ``min_queries``; the last two give a verdict on it."""


class RuleOptions(KindOptions):
    """The options of every rule."""

    compares: ClassVar[bool] = False
    """True if the rule looks at a baseline: without one it fails, and accepting the current rankings settles that."""
    compares_lists: ClassVar[bool] = False
    """True if it compares lists of documents, not values of a metric."""
    name_of_all: ClassVar[str] = ""
    """The last part of the id of a check of all queries, as in ``no_regression::nDCG_10.all``."""

    name: Text = Field("", description="A name that becomes part of the ids of its tests.")
    where: Filter = Field(
        default_factory=dict, description="Only queries whose columns have these values: {segment: tail}."
    )
    per: Text = Field("", description="A column of the queries: one verdict for each of its values.")
    tags: Tags = Field((), description="Marks of its tests: pytest --ireval -m nightly.")
    on_fail: Annotated[Literal["fail", "warn"], _order_words("fail", "warn")] = Field(
        "fail", description="warn: reported and never red. The default of rules about times is warn."
    )
    min_queries: Annotated[Whole, MORE] = Field(
        1,
        description="A slice with fewer queries is not checked, and is inconclusive. no_regression and worsened "
        "check it, but without a statistical test. Rules that decide by evidence start with 5, equivalent with 20.",
    )

    @property
    def query_minimum(self) -> int:
        """The number of queries that a slice needs to be checked."""
        return self.min_queries

    @property
    def below_min_queries(self) -> BelowMinQueries:
        """What becomes of a slice with fewer queries: it is not checked, or the rule gives a verdict all the same."""
        return "not checked"

    @property
    def traits(self) -> RuleTraits:
        """The traits of the rule. Options with the names ``tolerance``, ``at_most`` and ``weighted`` are found by name.

        A rule with other names overrides this property.
        """
        given = {name: getattr(self, name) for name, known in TRAIT_OPTIONS.items() if name in type(self).model_fields}
        return RuleTraits(**{name: value for name, value in given.items() if isinstance(value, TRAIT_OPTIONS[name])})

    def complete_parts(self, parts: Iterable[Part]) -> Iterable[Part]:
        """Set what the options say of every part of a rule."""
        return parts


class ComparingOptions(RuleOptions):
    """The options of every rule that compares with a baseline."""

    compares: ClassVar[bool] = True

    against: Against = Field(STORED, description="The reference to compare with: baseline, anchor, or {run: file}.")

    @property
    def traits(self) -> RuleTraits:
        """The traits, with the reference."""
        return replace(super().traits, reference=self.against)


class ListOptions(ComparingOptions):
    """The options of every rule that compares lists of documents. Its metrics, if any, are those of two lists."""

    compares_lists: ClassVar[bool] = True


FOR_EVIDENCE = ("on_inconclusive", "hard_limit")
"""Options that mean nothing where the observed change decides."""


class AlwaysEvidenceOptions(ComparingOptions):
    """The options of every rule that decides by evidence."""

    least: ClassVar[int] = 20
    """The default of ``min_queries`` where evidence decides."""

    on_inconclusive: Annotated[Literal["warn", "fail"], _order_words("fail", "warn")] = Field(
        "warn", description="With evidence, if these queries cannot tell: warn, or fail, which turns many changes red."
    )

    @property
    def by_evidence(self) -> bool:
        """True: evidence decides."""
        return True

    @property
    def traits(self) -> RuleTraits:
        """The traits, with the evidence."""
        return replace(super().traits, by_evidence=self.by_evidence, on_inconclusive=self.on_inconclusive)

    @property
    def query_minimum(self) -> int:
        """The number of queries that a statistical verdict needs."""
        return self.least if self.by_evidence and "min_queries" not in self.model_fields_set else self.min_queries

    @property
    def below_min_queries(self) -> BelowMinQueries:
        """With ``on_inconclusive: fail``, too few queries to tell must not pass."""
        return "can fail" if self.by_evidence and self.on_inconclusive == "fail" else "not checked"

    @property
    def _way_to_evidence(self) -> str:
        """What to do where an option is for evidence, and the rule does not decide by it."""
        return "remove decide_by: observed"

    @model_validator(mode="after")
    def _check_evidence_options(self) -> AlwaysEvidenceOptions:
        asked = [name for name in FOR_EVIDENCE if name in self.model_fields_set]
        if asked and not self.by_evidence:
            raise ValueError(f"{asked[0]} is for rules that decide by evidence: {self._way_to_evidence}")
        return self


DecideBy = Annotated[Literal["evidence", "observed"], _order_words("observed", "evidence")]


class EvidenceOptions(AlwaysEvidenceOptions):
    """The options of every rule that decides by evidence, unless the suite says otherwise."""

    least: ClassVar[int] = 5
    """A fall is tested exactly where few queries changed: four agree by chance once in 16 times."""

    decide_by: DecideBy = Field(
        "evidence",
        description="How the rule decides: by statistical evidence from these queries, or by the observed change "
        "alone.",
    )

    @property
    def by_evidence(self) -> bool:
        """True if evidence decides. There is no test of a figure that is not a mean: there the observed change does."""
        if self.decide_by == "observed" or "decide_by" in self.model_fields_set:
            return self.decide_by == "evidence"
        metric = getattr(self, "metric", None)
        return not isinstance(metric, Metric) or (metric.aggregate == "mean" and metric.unit != "run")

    @property
    def _way_to_evidence(self) -> str:
        if self.decide_by == "observed":
            return f"{'remove' if 'decide_by' in self.model_fields_set else 'the default is'} decide_by: observed"
        return "remove it, as evidence compares means, and times by a share"


class WeightedOptions(RuleOptions):
    """The options of every rule about a mean."""

    name_of_all: ClassVar[str] = "all"

    weighted: Flag = Field(
        False, description="Queries count by their traffic, from the column that weight names in the suite."
    )


class StagedOptions(RuleOptions):
    """The options of every rule that reads the values of one metric, which may be that of an earlier stage."""

    stage: Text = Field("", description="An earlier stage of the source: the metric of what that stage returned.")

    def complete_parts(self, parts: Iterable[Part]) -> Iterable[Part]:
        """Set the stage of every metric; it is in the ids of the tests, too."""
        for part in parts:
            if not self.stage or part.metric is None:
                yield part
            else:
                label = f"{part.label or part.metric}.{self.stage}"
                yield part._replace(label=label, metric=copy_metric(part.metric, stage=self.stage))


class SourceOptions(KindOptions):
    """The options of every source."""

    keeps_order: ClassVar[bool] = False
    """True if equal scores keep the order of the answer, unless the suite says something else with ``ties``."""

    repeat: Whole = Field(
        1, le=1000, description="How often the source is asked: a query's value is the mean of all answers."
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_stages(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "stages" in data and "stages" not in cls.model_fields:
            raise UnfitError(
                "the answers of this source have no stages",
                "use a python source whose function asks the system, and returns the ranking of each stage",
                "sources that can tell stages: command, python, run",
            )
        return data

    @property
    def asks_each_query(self) -> bool:
        """True if it is asked query by query."""
        return self.keeps_order

    def list_columns(self) -> frozenset[str]:
        """The columns of the queries that a request names, without id and text."""
        return frozenset()

    def list_code_files(self, folder: Path) -> Iterable[Path]:  # noqa: ARG002
        """The files where code may be that it runs, seen from the suite's folder; they need not exist."""
        return ()

    def find_request_mistakes(self, queries: Queries | None, depth: int) -> Iterator[Problem]:  # noqa: ARG002
        """Mistakes of the request that show without asking; ``queries`` are None if they have not been read."""
        yield from ()


class StagedSourceOptions(SourceOptions):
    """The options of every source that can tell the stages of its answers."""

    stages: Texts = Field(
        (), description="The stages of each answer in order: [retrieve, rerank]. The last is the ranking."
    )

    @model_validator(mode="after")
    def _check_stages(self) -> StagedSourceOptions:
        wrong = [name for name in self.stages if not STAGE.fullmatch(name)]
        if wrong:
            raise UnfitError(f"{wrong[0]!r} is not a name for a stage", allowed="allowed: letters, digits, _ and -")
        if len(self.stages) == 1 or len(set(self.stages)) < len(self.stages):
            raise UnfitError("stages needs two or more names, each once", "write stages: [retrieve, rerank]")
        return self
