"""Evaluate rankings on a Spark cluster: each file is one task, and the metrics are computed here.

    python examples/on_spark.py JUDGMENTS 's3://bucket/runs/*.parquet' spark://host:7077

The Python of the workers (PYSPARK_PYTHON) has this version of pytest-ireval. They reach the files at the same
addresses. If a worker is lost, Spark gives its files to others. The figures are those of one process, to the last bit.
"""

import sys

from pyspark.sql import SparkSession

from pytest_ireval import InputError, IrevalError, evaluate, judged_part, read_judgments
from pytest_ireval.retrieval.doors import ranking_files


def attempt(file, judgments):
    """The part of a file, or the problems of a broken file: Spark would try such a task again and again."""
    try:
        return judged_part(file, judgments), ()
    except IrevalError as error:
        return None, error.problems


def parts_on(spark, files, judgments):
    """The parts of all files; all broken files are one error."""
    held = spark.broadcast(judgments)  # once to each machine
    tasks = spark.parallelize(files, len(files))
    results = tasks.map(lambda file: attempt(file, held.value)).collect()
    problems = [problem for _, found in results for problem in found]
    if problems:
        raise InputError(*problems)
    return [part for part, _ in results]


def main(arguments):
    """Print each metric with its value."""
    judged, rankings, master = arguments
    judgments = read_judgments(judged)
    session = SparkSession.builder.master(master).appName("pytest-ireval").config("spark.ui.enabled", "false")
    spark = session.getOrCreate()
    try:
        parts = parts_on(spark.sparkContext, ranking_files(rankings) or [rankings], judgments)
    finally:
        spark.stop()
    for metric in evaluate(judgments, parts, ["nDCG@10", "AP"], missing_queries="zero").metrics:
        print(metric.name, repr(metric.value), sep="\t")


if __name__ == "__main__":
    main(sys.argv[1:])
