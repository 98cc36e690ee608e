"""Evaluate rankings on a Ray cluster: each file is one task, and the metrics are computed here.

    python examples/on_ray.py JUDGMENTS 's3://bucket/runs/*.parquet' ray://host:10001

The Python of the workers has this version of pytest-ireval. They reach the files at the same addresses.
If a worker is lost, Ray gives its files to others. The figures are those of one process, to the last bit.
"""

import sys

import ray

from pytest_ireval import InputError, IrevalError, evaluate, judged_part, read_judgments
from pytest_ireval.retrieval.doors import ranking_files


@ray.remote(max_retries=3)  # of lost workers; errors of a file are not tried again
def attempt(file, judgments):
    """The part of a file, or the problems of a broken file."""
    try:
        return judged_part(file, judgments), ()
    except IrevalError as error:
        return None, error.problems


def parts_on(files, judgments):
    """The parts of all files; all broken files are one error."""
    held = ray.put(judgments)  # once to each machine
    results = ray.get([attempt.remote(file, held) for file in files])
    problems = [problem for _, found in results for problem in found]
    if problems:
        raise InputError(*problems)
    return [part for part, _ in results]


def main(arguments):
    """Print each metric with its value."""
    judged, rankings, address = arguments
    judgments = read_judgments(judged)
    ray.init(address=address, include_dashboard=False, log_to_driver=False)
    try:
        parts = parts_on(ranking_files(rankings) or [rankings], judgments)
    finally:
        ray.shutdown()
    for metric in evaluate(judgments, parts, ["nDCG@10", "AP"], missing_queries="zero").metrics:
        print(metric.name, repr(metric.value), sep="\t")


if __name__ == "__main__":
    main(sys.argv[1:])
