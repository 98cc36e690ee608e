"""The readers of TREC files, given paths."""

from pytest_ireval.data.formats import trec
from pytest_ireval.data.formats.input_file import open_input
from pytest_ireval.data.formats.reader import Reading


def read_judgments(path, **options):
    with open_input(path) as file:
        return trec.read_trec_judgments(file, Reading(**options))


def read_rankings(path, depth=None, **options):
    with open_input(path) as file:
        return trec.read_trec_rankings(file, Reading(depth=depth, **options))


def join_file(path, judgments, **options):
    with open_input(path) as file:
        return trec.read_judged_in_trec(file, judgments, Reading(**options))
