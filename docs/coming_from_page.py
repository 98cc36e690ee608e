"""Writes docs/coming_from.md from the table of what others call our metrics: ``python docs/coming_from_page.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_ireval import Elsewhere, load_registry
from pytest_ireval.cli.metrics_command import group_reasons
from pytest_ireval.metrics.elsewhere import PACKAGES, list_counterparts

PAGE = Path(__file__).with_name("coming_from.md")
INTRODUCTION = """\
<!-- Written by docs/coming_from_page.py; the tables come from other_packages.py of pytest_ireval_more_metrics. -->
# Coming from trec_eval, ir_measures, ranx, NTCIREVAL, cwl-eval

What you typed there, what you type here, and where a figure will not be the one you know. `ireval metrics --for ranx`
prints these tables. With names behind it, only what was asked for: names as you wrote them there, with their numbers,

```console
$ ireval metrics --for trec_eval ndcg_cut.10 map runid
trec_eval    pytest-ireval  equal
ndcg_cut_10  nDCG@10        yes
map          AP             yes

no counterpart: runid
  text, not a number: the tag of the rankings file
```

or ours, for everything that a metric is called there:

```console
$ ireval metrics --for ntcireval NCU AWP
NTCIREVAL  pytest-ireval                    equal
NCUguBR    NCU                              yes
NCUguP     NCU(beta=0)                      yes
NCUrbBR    NCU(stop='rank_biased')          yes
NCUrbP     NCU(beta=0, stop='rank_biased')  yes

NTCIREVAL has no name for it: AWP
```

`sklearn`, `pytrec_eval`, `pyntcireval`, `ndeval`, `cwl` and `ir-measures` are understood as well.

*equal* is tested against the packages themselves: rows that say yes on random rankings with equal scores, unjudged
documents, grades below 0, queries without relevant documents and ids in many scripts; what differs, on an example in
which both values are in sight. In braces stand numbers.
"""
HABITS = {
    "trec_eval": """\
`ireval trec_eval` takes trec_eval's command line and prints its lines: its names, digits, columns and order of rows.

```console
$ ireval trec_eval -c -m map -m ndcg_cut.5,10 examples/data/judgments.txt examples/data/rankings.txt
map                   \tall\t0.8057
ndcg_cut_5            \tall\t0.7308
ndcg_cut_10           \tall\t0.7567
```

Options are `-q -n -c -J -l -M -N -m -h -v` and their long names; measures are `official`, `all_trec`, `set`, families
and parameters. The exit code is 1 for a wrong option or measure, 2 for a wrong file, 4 for a query without a ranking
(unless `-c` counts it as 0, as in version 10). What cannot be answered is refused: `-D`, `-Z`, `-o`, preferences (`-R
prefs`), parameters of a measure in two `-m`, of which trec_eval takes the first. Its outputs are compared line by
line in the tests. They differ where trec_eval 10 slips:

* 0 / 0 after `-J` is 0 here, not `nan`;
* with `-c -l 2` its `num_rel` of all queries counts every grade above 0; here it is the sum of the queries;
* `ideal_dcg` of a query whose grades are all below 0 is 0 here, not the figure of the query before;
* with `-c`, `utility`, `rbp_resid` and `relstring` with parameters see a document in the place of a missing ranking
  there; here they see none;
* gains less than 1 apart are sorted here;
* `-m dcg -m ndcg.1=3` gives dcg the gains of ndcg there, or crashes; here each measure has its own;
* `rbp` begins with memory that trec_eval has not initialised; here it is what trec_eval prints if that memory is 0.

`ireval evaluate qrels run -m map -m ndcg_cut.10` shows more than three columns can. The files and the names are the
same, with `.` or `_` in front of numbers. Its `rbp_resid` is `RBPResidual(p=0.9)`. `rbp` alone is refused: its p is
0.9 in trec_eval, and 0.8 in `RBP`.

| trec_eval | `ireval evaluate` |
| --- | --- |
| `-q` | `--per-query` |
| `-n` (no summary) | the figures for all queries always come along; with `--format trec` as query `all` |
| `-c` (queries that the run lacks count 0) | what the command does (the worst value, if 0 is not); they are listed |
| without `-c` | `--missing ignore` |
| `-l 2` | `AP(rel=2)`, for each metric by itself |
| `-M 100` | `--depth 100` |
| `-J` | `--unjudged removed`, but documents with a grade below 0 stay: they are judged |
| `-N 528155` | `--collection 528155` |
| `-m official`, `-m all_trec`, `-m set` | name the metrics; without `-m` there is a sensible choice |
| `-R qrels`, `-T trec_results` | formats are recognised, [many of them](formats.md); `--judgments-format` says which |
| `-R prefs`, `-R qrels_prefs`, `-R qrels_jg` | nothing: preferences and several sets of judgments are not read |
| `-Z`, `-o` | nothing: no z-scores, no layout of old versions |

Equal scores are ordered by document id descending, as there. Versions before 10, and with them pytrec_eval, keep
scores in single precision, so that scores which differ in the eighth digit are equal; version 10 and pytest-ireval do
not. A query whose grades are all below -1 may crash them; here it is a query without relevant documents.
""",
    "ir_measures": """\
Names are those of ir_measures; few of them have other defaults here. With `--dialect ir_measures`,
`dialect="ir_measures"` in Python, or `dialect: ir_measures` in a suite, they have its defaults:

| name | in that dialect | without |
| --- | --- | --- |
| `ERR@10` | `ERR(max_grade=4)@10` | the top grade is that of the scale |
| `SetF(beta=4)` | `SetF(beta=2)` | beta, not its square |
| `SDCG(dcg='log2', …)` | `SDCG(…)` | unknown parameter |
| `ERR_IA@1`, `alpha_DCG@1` | refused: at cutoff 1 it does not divide | as defined |
| `IPrec@0.125` | refused: it rounds recall to two decimals | as defined |

All its names with all their parameters are compared in that dialect. Names that it does not have mean what they mean
here. Results and reports show our names (`ERR(max_grade=4)@10`) and the dialect. A baseline under another dialect was
made under other policies; a red run says so.

Its command and its calls have counterparts:

```python
from pytest_ireval import evaluate

judgments = {"q1": {"d1": 1, "d2": 0}}
rankings = {"q1": {"d2": 0.8, "d1": 0.4}}
evaluation = evaluate(judgments, rankings, ["AP", "nDCG@10"])  # ir_measures.calc([AP, nDCG@10], qrels, run)

assert evaluation["AP"].mean == 0.5  # calc_aggregate
assert evaluation["AP"].values == {"q1": 0.5}  # iter_calc
```

Metrics can be written as values, too: `registry = load_registry()`, then `registry.metrics["nDCG"] @ 10`. It asks
different programs for different metrics, which order equal scores differently; here there is one order for all. A
judged query that the run lacks counts 0 there; `evaluate` refuses it without `Policies(missing_queries="zero")`.
[An example](../examples/ir_measures_provider/) has ir_measures itself compute its measures, as in `irm:nDCG@10`.
""",
    "ranx": """\
`ranx.evaluate(qrels, run, ["map", "ndcg@10"])` is `evaluate(judgments, rankings, ["map", "nDCG@10"])`; dictionaries are
taken as they are. `make_comparable=True` is `Policies(missing_queries="zero")`. Names with a cutoff are read in its
spelling (`mrr@10`, `recall@5`, `hit_rate@10`, `ndcg_burges@10`).

ranx has no rule for equal scores: their order follows from the order of the mapping and the sorting algorithm. Here it
is by document id, and the result says how far another order would move the figure. Values are equal where no two
scores of a query are.
""",
    "ntcireval": """\
`label` and `compute -g 1:2:3` become one command: `ireval evaluate qrels run -m Q -m PPlus --scale 3`. Gains other than
the grades are an argument of the metric: `Q(gains={1: 1, 2: 3})`. `-j` (condensed lists) is `--unjudged removed`, or
`judged_only=True` for one metric.

`AP@10`, `ERR`, `nDCG@10`, `nERR@10` and `RBP` are names here, too, with other defaults: write what the table says.

It is given documents in order, without scores. A grade below 0 is taken by Python's rules for one counted from the top
of the scale; here it has no gain. The values compared are those of pyNTCIREVAL with gains 1:2:3, beta 1, gamma 0.95,
p 0.95 and base 2.
""",
    "pyndeval": """\
`RelevanceEvaluator(qrels, ["alpha-nDCG@10"])` is `evaluate(judgments, rankings, "alpha_nDCG@10")` with judgments
`{query: {document: {subtopic: grade}}}`; NIST's program `ndeval qrels run` is
`ireval evaluate qrels run -m alpha_nDCG@10 --judgments-format trec-diversity`. Its options `alpha` and `beta` are
arguments of a metric, as in `NRBP(alpha=0.3, beta=0.8)`. There is no limit for cutoffs, which end at 20 there.

pyndeval orders equal scores by document id ascending, and leaves out queries without a ranking. Values are equal where
no two scores of a query are.
""",
    "cwl-eval": """\
Names are those of its classes, as its file of metrics has them. Its expected utility is the value of the metric here;
`INST(measure='ETU')` and the other measures are its further columns. It wants gains from 0 to 1 in the file of
judgments: here the grades are divided by `--scale`, or by `max_grade` of the metric. It keeps the order of the file and
stops at rank 1000. The values compared are those with gains of a quarter of the grade, and documents in order.
""",
    "scikit-learn": """\
It scores arrays: every document needs a grade and a score, so documents that were not retrieved cannot be expressed.
Values are equal where all judged documents are ranked. `ndcg_score` refuses grades below 0 and single documents.
""",
}


def page() -> str:
    """The text of the page."""
    return "\n".join([INTRODUCTION, *(line for package in PACKAGES for line in section(package))])


def section(package: str) -> Iterator[str]:
    """One package: its habits, its names, and what has no counterpart."""
    rows = load_registry().vocabulary.elsewhere
    yield f"## {PACKAGES[package]}\n"
    yield HABITS[package]
    yield f"| {PACKAGES[package]} | here | equal |"
    yield "| --- | --- | --- |"
    yield from map(_row, list_counterparts(rows, package))
    yield ""
    for why, names in group_reasons(rows, package):
        yield f"* No counterpart have {', '.join(f'`{name}`' for name in names)}: {why}."
    yield ""


def _row(row: Elsewhere) -> str:
    theirs, ours = row.names
    return f"| `{theirs}` | `{ours}` | {row.equal} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
