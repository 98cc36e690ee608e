"""Many rankings files: the same values in one process, in several, and from a folder that keeps them."""

import json

import pytest

from pytest_ireval import InputError, evaluate
from pytest_ireval.evaluating import many_files
from pytest_ireval.evaluating.many_files import Sweep, swept
from pytest_ireval.results.evaluation import Policies

POLICIES = Policies("trec", "zero", "zero", "irrelevant")
METRICS = ("nDCG@2", "AP")


@pytest.fixture
def files(tmp_path):
    """Judgments, and five rankings by name."""
    (tmp_path / "judgments.txt").write_text("q1 0 a 1\nq1 0 b 2\nq2 0 c 1\n")
    paths = {}
    for number in range(5):
        order = ["a", "b", "c", "d", "e"][number:] + ["a", "b", "c", "d", "e"][:number]
        path = tmp_path / f"run{number}.txt"
        path.write_text("".join(f"{q} Q0 {d} 1 {-r} x\n" for q in ("q1", "q2") for r, d in enumerate(order)))
        paths[f"run{number}"] = str(path)
    return tmp_path, paths


def sweep_of(place, **changes):
    return Sweep(str(place / "judgments.txt"), METRICS, POLICIES)._replace(**changes)


class Interrupted:
    """A progress at which someone presses Ctrl-C after some files."""

    def __init__(self, files):
        self.left = files

    def expect(self, amount, what):
        self.counts = what == "evaluating rankings"

    def advance(self, amount):
        self.left -= self.counts
        if not self.left:
            raise KeyboardInterrupt


@pytest.fixture
def evaluated(monkeypatch):
    """The rankings that were evaluated and not taken from the folder."""
    found = []
    original = many_files.evaluated

    def noting(setting, brought, queries=None):
        found.append(brought.origin)
        return original(setting, brought, queries)

    monkeypatch.setattr(many_files, "evaluated", noting)
    return found


def test_each_evaluation_is_that_of_evaluate(files):
    folder, paths = files

    found = swept(sweep_of(folder), paths)

    assert list(found) == ["run0", "run1", "run2", "run3", "run4"]
    for name, path in paths.items():
        assert found[name] == evaluate(folder / "judgments.txt", path, METRICS, missing_queries="zero")


def test_several_processes_give_the_same_evaluations(files, monkeypatch):
    folder, paths = files
    monkeypatch.setattr(many_files, "SEVERAL", 0)

    assert list(swept(sweep_of(folder), paths, jobs=2).items()) == list(swept(sweep_of(folder), paths).items())


def test_an_interrupted_sweep_goes_on_with_what_is_left(files, evaluated):
    folder, paths = files
    sweep = sweep_of(folder, folder=folder / "kept")

    with pytest.raises(KeyboardInterrupt):
        swept(sweep, paths, progress=Interrupted(3))
    first, evaluated[:] = list(evaluated), []
    found = swept(sweep, paths)

    assert [path[-8:] for path in first] == ["run0.txt", "run1.txt", "run2.txt"]
    assert [path[-8:] for path in evaluated] == ["run3.txt", "run4.txt"]
    assert found == swept(sweep_of(folder), paths)


def test_kept_values_belong_to_the_content_of_a_file_and_not_to_its_name(files, evaluated):
    folder, paths = files
    sweep = sweep_of(folder, folder=folder / "kept")
    swept(sweep, paths)
    evaluated.clear()
    (folder / "run0.txt").rename(folder / "moved.txt")
    (folder / "run1.txt").write_text("q1 Q0 b 1 1 x\n")

    found = swept(sweep, {"moved": str(folder / "moved.txt"), "run1": paths["run1"]})

    assert evaluated == [paths["run1"]]
    assert found["moved"].rankings == str(folder / "moved.txt")
    assert found["run1"].missing == ("q2",)


@pytest.mark.parametrize(
    "change",
    [
        {"metrics": ("nDCG@2", "AP", "RR")},
        {"policies": Policies("trec", "zero", "zero", "irrelevant", depth=1)},
        {"rankings_format": "trec"},
    ],
)
def test_another_question_is_answered_anew(files, evaluated, change):
    folder, paths = files
    sweep = sweep_of(folder, folder=folder / "kept")
    swept(sweep, paths)
    evaluated.clear()

    swept(sweep._replace(**change), paths)

    assert len(evaluated) == 5


def test_other_judgments_are_another_question(files, evaluated):
    folder, paths = files
    sweep = sweep_of(folder, folder=folder / "kept")
    swept(sweep, paths)
    evaluated.clear()
    (folder / "judgments.txt").write_text("q1 0 a 2\nq1 0 b 2\nq2 0 c 1\n")

    swept(sweep, paths)

    assert len(evaluated) == 5


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', json.dumps({"format": 99})])
def test_a_damaged_kept_file_is_written_again(files, text):
    folder, paths = files
    sweep = sweep_of(folder, folder=folder / "kept")
    before = swept(sweep, paths)
    names = sorted((folder / "kept").iterdir())
    names[0].write_text(text)

    assert swept(sweep, paths) == before
    assert sorted((folder / "kept").iterdir()) == names
    assert json.loads(names[0].read_text())["queries"] == 2


def test_the_problems_of_all_files_are_one_error(files):
    folder, paths = files
    (folder / "run1.txt").write_text("q1 Q0 a 1 high x\n")
    (folder / "run3.txt").write_text("q1 Q0 a 1 low x\n")

    with pytest.raises(InputError) as caught:
        swept(sweep_of(folder, folder=folder / "kept"), paths)

    assert [problem.place[-10:] for problem in caught.value.problems] == ["run1.txt:1", "run3.txt:1"]


def test_missing_queries_are_an_error_if_they_are_to_be_one(files):
    folder, paths = files
    (folder / "run1.txt").write_text("q1 Q0 a 1 1 x\n")

    with pytest.raises(InputError, match="1 of 2 judged queries have no ranking: 'q2'"):
        swept(sweep_of(folder, policies=Policies("trec", "error", "zero", "irrelevant")), paths)


def test_a_folder_that_cannot_be_written_is_an_error(files):
    folder, paths = files
    (folder / "kept").write_text("a file")

    with pytest.raises(InputError, match="kept\n  cannot be made"):
        swept(sweep_of(folder, folder=folder / "kept"), paths)


def test_companions_elsewhere_cannot_be_kept(files):
    place, paths = files
    companions = sweep_of(place).companions._replace(preferences=(place / "pairs.tsv").as_uri())

    with pytest.raises(InputError, match="not a file on this machine"):
        swept(sweep_of(place, folder=place / "kept", metrics=("PPref",), companions=companions), paths)


def test_equal_files_of_other_queries_have_values_of_their_own(files):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    place, _ = files
    paths = {}
    for query in ("q1", "q2"):
        folder = place / f"query={query}"
        folder.mkdir()
        table = arrow.table({"document": ["a", "x"], "score": [2.0, 1.0]})
        parquet.write_table(table, folder / "run.parquet")
        paths[query] = str(folder / "run.parquet")
    sweep = sweep_of(place, folder=place / "kept", metrics=("P@1",))

    found = [swept(sweep, paths) for _ in range(2)]
    assert [{name: each["P@1"].values for name, each in one.items()} for one in found] == [
        {"q1": {"q1": 1.0, "q2": 0.0}, "q2": {"q1": 0.0, "q2": 0.0}}
    ] * 2
