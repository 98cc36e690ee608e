"""Writes docs/metrics.md from what the metrics say of themselves: ``python docs/metrics_page.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_ireval import Metric, load_registry
from pytest_ireval.cli.metrics_command import (
    describe_parameter,
    describe_without_relevant,
    format_range,
    format_signature,
    list_other_names,
)

PAGE = Path(__file__).with_name("metrics.md")
INTRODUCTION = """\
<!-- Written by docs/metrics_page.py from the metrics' own descriptions; edit those. -->
# Metrics

`ireval metrics` lists what is installed, `ireval metrics NAME` explains one, and shows what moves its value.
[Which metric for which search](choosing.md) helps to choose. All come with one installation; a run imports a metric
that few searches need when a suite or a command names it.

## How names are written

`Name`, `Name@cutoff`, `Name(parameter=value, …)@cutoff`: `AP`, `nDCG@10`, `nDCG(gain='exp')@10`. Text is quoted, maps
are written `{1: 1, 2: 3}`, and `P@[5, 10]` is two metrics. Letter case does not matter. What follows `@` is the
cutoff, for IPrec the level of recall.

The spellings of trec_eval are understood (`ndcg_cut_10`, `recip_rank`, `map`, `P_5`, `P.5,10`, `recall_100`,
`iprec_at_recall_0.20`, `ndcg.1=3,2=9`, `utility.1,-1,0,0`), for the metrics below, and so are common aliases (`MAP`,
`MRR`, `Precision`, `hit_rate@10`) and ir_measures' `dcg='exp-log2'`. The *canonical* name, under which results are
stored, leaves out defaults, sorts parameters and puts `@` last; two texts with one canonical name are one metric.

A name of another package means here what it means there, or is refused (`rbp`, `hits`, `QMeasure@10`). Names of our
metrics keep their own defaults, unless a [dialect](coming_from.md#ir_measures) is chosen: `--dialect ir_measures`.

## How they are computed

r is the grade at a rank, R the number of relevant documents (grade `rel` or more, 1 unless said otherwise), n the
number of retrieved ones. Definitions are those of trec_eval 10, with differences named here:

* F and SetF take beta; trec_eval's `set_F.x` takes beta squared, and is read that way: `set_F.4` is SetF(beta=2).
* IPrec and IPrecAvg ask that the level of recall be reached, as textbooks, ir_measures and the curves of reports and
  pictures do. trec_eval 10 rounds recall times R to the nearest number of documents: `rounding='nearest'`, which its
  names `iprec_at_recall_0.20` and `11pt_avg` stand for.
* RBP has one top grade for all queries; version 10 of trec_eval takes that of each query, after uninitialised memory.
* nDCG's ideal is made of all judged documents. `ideal='retrieved'` takes those retrieved only, as some slides and
  tutorials do. Beware: if one system returns grades 5 2 4 and another 5 2 4 0 1 for one query, the first has
  nDCG(ideal='retrieved')@5 = 0.969 and the second 0.966, so that finding one more relevant document seems to do harm.
  With the ideal of all judged documents it is 0.923 and 0.966.

In the examples, grades are in order of rank, `-` is an unjudged document, and after `|` are judged documents
that were not retrieved. `where price is 3 5` gives a field of the documents.
Examples of diversity have letters in place of grades: `ab` is a document about the subtopics
a and b. Examples of two lists, of preferences and of sessions (one list for each query) name the documents: letters are
documents of grade 1, capitals those that the user knew before.

[Coming from trec_eval, ir_measures, ranx, NTCIREVAL, cwl-eval](coming_from.md) has the names of others,
and says where values differ.
"""


def page() -> str:
    """The text of the page."""
    metrics = sorted(load_registry().metrics.values(), key=lambda metric: metric.name.lower())
    return "\n".join([INTRODUCTION, *(line for metric in metrics for line in section(metric))])


def section(metric: Metric) -> Iterator[str]:
    """One metric."""
    low_high = format_range(metric).replace("inf", "∞")
    facts = [f"range {low_high}", f"better: {metric.direction}", f"sums up as {metric.aggregate}"]
    yield f"## {metric.name}\n"
    yield f"`{format_signature(metric)}`: {metric.info.summary}\n"
    yield f"* Formula: {metric.info.formula}"
    yield f"* Example: {metric.info.example}"
    yield f"* Reference: {metric.info.reference}"
    if without := describe_without_relevant(metric):
        facts.append(f"without relevant documents: {without}")
    if not metric.judged:
        facts.append("needs no judgments")
    if metric.undefined:
        facts.append(f"a query has no value if {metric.undefined}")
    yield f"* {'; '.join(facts)}"
    if metric.info.spellings:
        yield "* also called " + ", ".join(f"`{name}`".replace(" = ", "` = `") for name in list_other_names(metric))
    yield from (f"* does not promise `{promise}`: {reason}" for promise, reason in metric.info.not_promised.items())
    yield from (f"* `{parameter.name}`: {describe_parameter(parameter)}" for parameter in metric.parameters)
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
