"""The readers of TREC files, given paths."""

from pytest_ireval.retrieval.formats import trec
from pytest_ireval.retrieval.formats.bytestream import byte_file


def read_judgments(path, **options):
    with byte_file(path) as file:
        return trec.read_trec_judgments(file, **options)


def read_rankings(path, *depth, **options):
    with byte_file(path) as file:
        return trec.read_trec_rankings(file, *depth, **options)


def judged_in_file(path, judgments, **options):
    with byte_file(path) as file:
        return trec.judged_in_file(file, judgments, **options)
