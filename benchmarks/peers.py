"""One evaluation package in one process, used the way its own documentation shows.

    peers.py TOOL JUDGMENTS RANKINGS              prints "metric<TAB>query<TAB>value" for the 7 metrics
    peers.py TOOL JUDGMENTS RANKINGS --again N    prints N lines: the seconds that one more ranking takes

TOOL is pytrec_eval, ir_measures or ranx; with --again also ireval (end to end, ours is measured as
the command `ireval evaluate`). `--again` first imports the package, reads the judgments and
evaluates the rankings once, all untimed; then each round reads the rankings file anew and evaluates
it.

ranx is compiled by numba when it first runs, and kept in numba's cache, a folder that the
environment variable NUMBA_CACHE_DIR names. A second process that finds the cache starts "warm";
only warm processes are compared.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from time import perf_counter

Value = tuple[str, str, float]  # metric, query, value
EvaluateRankings = Callable[[str], Iterable[Value]]

METRICS = ("nDCG@10", "AP", "RR", "P@10", "R@100", "R@1000", "Bpref")
TREC_EVAL_NAMES = ("ndcg_cut_10", "map", "recip_rank", "P_10", "recall_100", "recall_1000", "bpref")
RANX_NAMES = ("ndcg@10", "map", "mrr", "precision@10", "recall@100", "recall@1000", "bpref")


def load_pytrec_eval(judgments_path: str) -> EvaluateRankings:
    """pytrec_eval with its own readers and one evaluator for all rankings."""
    import pytrec_eval

    with open(judgments_path, encoding="utf-8") as lines:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(lines), set(TREC_EVAL_NAMES))

    def evaluate(rankings_path: str) -> Iterable[Value]:
        with open(rankings_path, encoding="utf-8") as lines:
            values = evaluator.evaluate(pytrec_eval.parse_run(lines))
        names = list(zip(METRICS, TREC_EVAL_NAMES, strict=True))
        return [(metric, query, found[name]) for query, found in values.items() for metric, name in names]

    return evaluate


def load_ir_measures(judgments_path: str) -> EvaluateRankings:
    """ir_measures with its own readers and one evaluator for all rankings."""
    import ir_measures

    metrics = [ir_measures.parse_measure(name) for name in METRICS]
    evaluator = ir_measures.evaluator(metrics, ir_measures.read_trec_qrels(judgments_path))

    def evaluate(rankings_path: str) -> Iterable[Value]:
        values = evaluator.iter_calc(ir_measures.read_trec_run(rankings_path))
        return [(str(found.measure), found.query_id, found.value) for found in values]

    return evaluate


def load_ranx(judgments_path: str) -> EvaluateRankings:
    """The package ranx with its own readers."""
    import ranx

    judgments = ranx.Qrels.from_file(judgments_path, kind="trec")

    def evaluate(rankings_path: str) -> Iterable[Value]:
        rankings = ranx.Run.from_file(rankings_path, kind="trec")
        values = ranx.evaluate(judgments, rankings, list(RANX_NAMES), return_mean=False, make_comparable=True)
        queries = list(rankings.keys())
        return [
            (metric, query, value)
            for metric, name in zip(METRICS, RANX_NAMES, strict=True)
            for query, value in zip(queries, values[name], strict=True)
        ]

    return evaluate


def load_ireval(judgments_path: str) -> EvaluateRankings:
    """Ours through its Python interface; the values stay in the arrays where it computes them."""
    from pytest_ireval import Policies, read_judgments
    from pytest_ireval import evaluate as evaluate_rankings

    judgments, policies = read_judgments(judgments_path), Policies(missing_queries="zero")

    def evaluate(rankings_path: str) -> Iterable[Value]:
        evaluate_rankings(judgments, rankings_path, list(METRICS), policies=policies)
        return ()

    return evaluate


LOADERS: dict[str, Callable[[str], EvaluateRankings]] = {
    "pytrec_eval": load_pytrec_eval,
    "ir_measures": load_ir_measures,
    "ranx": load_ranx,
    "ireval": load_ireval,
}


def write_values(evaluate: EvaluateRankings, rankings_path: str) -> None:
    """One line a value on standard output, ten decimals."""
    sys.stdout.write("".join([f"{m}\t{query}\t{value:.10f}\n" for m, query, value in evaluate(rankings_path)]))


def write_seconds_per_further_ranking(evaluate: EvaluateRankings, rankings_path: str, rounds: int) -> None:
    """One line a round on standard output: the seconds that reading and evaluating the rankings took."""
    evaluate(rankings_path)
    for _ in range(rounds):
        start = perf_counter()
        evaluate(rankings_path)
        print(f"{perf_counter() - start:.6f}")


def main() -> None:
    """Evaluate one rankings file with one tool."""
    parser = argparse.ArgumentParser(description="Evaluate rankings with one tool in one process.")
    parser.add_argument("tool", choices=list(LOADERS))
    parser.add_argument("judgments")
    parser.add_argument("rankings")
    parser.add_argument("--again", type=int, metavar="N", help="seconds per further ranking, N rounds")
    options = parser.parse_args()
    if options.tool == "ireval" and options.again is None:
        parser.error("end to end, ireval is measured as the command `ireval evaluate`; here only with --again")
    evaluate = LOADERS[options.tool](options.judgments)
    if options.again is None:
        write_values(evaluate, options.rankings)
    else:
        write_seconds_per_further_ranking(evaluate, options.rankings, options.again)


if __name__ == "__main__":
    main()
