"""An executor's workers read files of rankings: the result is that of one process, to the last bit."""

import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from suite_files import write_rankings

from pytest_ireval import InputError, IrevalError, SideData, evaluate
from pytest_ireval.evaluating import executors
from pytest_ireval.progress import Silent

METRICS = ["nDCG@10", "AP", "RR", "NumRet", "Judged@5"]
QUERIES = 12
JUDGMENTS = {f"q{i:02}": {f"d{j}": (i + j) % 3 for j in range(0, 40, 3)} for i in range(QUERIES)}
REFERENCE = {query: ["d3", "d1", "d0"] for query in JUDGMENTS}


def write_scores(path, queries):
    write_rankings(path, {f"q{i:02}": {f"d{j}": (j * (i + 3)) % 7 for j in range(40)} for i in queries})


@pytest.fixture
def runs(tmp_path):
    """Six files with two queries each, and all of it in one file."""
    (tmp_path / "runs").mkdir()
    for number in range(6):
        write_scores(tmp_path / "runs" / f"part-{number}.trec", (number * 2, number * 2 + 1))
    write_scores(tmp_path / "whole.trec", range(QUERIES))
    return tmp_path / "runs"


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        yield executor


def evaluate_files(source, **more):
    metrics = [*METRICS, "KendallTau"] if "side_data" in more else METRICS
    return evaluate(JUDGMENTS, source, metrics, **more).to_dict()


class Counted(Silent):
    """A progress that notes what it was told."""

    def __init__(self):
        self.told = []

    def expect(self, amount, what):
        self.told.append((amount, what))

    def advance(self, amount):
        self.told.append(amount)


@pytest.mark.more_metrics
@pytest.mark.parametrize("more", [{}, {"side_data": SideData(reference=REFERENCE)}], ids=["plain", "reference"])
@pytest.mark.parametrize("source", [".", "*.trec", "../whole.trec"])
def test_processes_give_what_one_process_does(runs, processes, source, more):
    """With a reference, all documents are read."""
    source = str(runs / source)
    found = evaluate_files(source, executor=processes, **more)

    assert repr(found) == repr(evaluate_files(source, **more))
    assert found["rankings"] == (source if source.endswith("whole.trec") else f"{source} (6 files)")


def test_a_worker_may_be_in_another_folder(runs, processes, monkeypatch):
    monkeypatch.chdir(runs)

    assert repr(evaluate_files("*.trec", executor=processes)) == repr(evaluate_files("*.trec"))


def test_rankings_that_are_no_files_are_taken_as_they_are(processes):
    assert evaluate_files(REFERENCE, executor=processes) == evaluate_files(REFERENCE)


def test_files_share_tasks_that_carry_many_judgments(runs, monkeypatch):
    monkeypatch.setattr(executors, "FEWEST_TASKS", 4)
    monkeypatch.setattr(executors, "JUDGMENTS_SENT", 0)
    progress = Counted()
    with ThreadPoolExecutor(2) as executor:
        found = evaluate_files(runs, executor=executor, progress=progress)

    assert progress.told[-4:] == [(6, "files"), 2, 2, 2]
    assert repr(found) == repr(evaluate_files(runs))


def test_a_broken_file_is_the_error_that_it_is_in_one_process(runs, processes):
    (runs / "part-1.trec").write_text("q02 Q0 d1 1 high x\n")
    (runs / "part-4.trec").write_text("q08 Q0 d1 1 1 x\nq08 Q0 d1 2 0 x\n")
    errors = []
    for executor in (None, processes):
        with pytest.raises(InputError) as error:
            evaluate_files(runs, executor=executor)
        errors.append(str(error.value))

    assert errors[0].startswith(f"{runs}/part-1.trec:1\n")
    assert errors[0] == errors[1]


def test_a_query_in_two_files_is_an_error(runs, processes):
    write_scores(runs / "part-7.trec", [3])

    with pytest.raises(InputError, match=r"/part-7\.trec\n  query 'q03' is also in .*/part-1\.trec"):
        evaluate_files(runs, executor=processes)


def end_the_process(*_):
    os._exit(1)


def raise_what_no_process_knows(*_):
    raise LookupError("odd")


@pytest.mark.parametrize(
    ("work", "said"), [(end_the_process, "BrokenProcessPool: "), (raise_what_no_process_knows, "LookupError: odd")]
)
def test_a_worker_that_ends_is_an_error_that_names_the_file(runs, monkeypatch, work, said):
    monkeypatch.setattr(executors, "_read_group", work)

    with ProcessPoolExecutor(1) as executor, pytest.raises(IrevalError) as error:
        evaluate_files(runs, executor=executor)
    assert str(error.value).startswith(f"{runs}/part-0.trec\n  no worker could read it: {said}")
