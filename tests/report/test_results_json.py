"""results.json says all of a run, the same way every time, and is what its schema promises."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report.full_run import full_run

from pytest_ireval import InputError
from pytest_ireval.report import results_file
from pytest_ireval.report.results_file import format_results, format_results_files, parse_run, read_run
from pytest_ireval.results.outcome import Cause, JudgmentEdit, Outcome, Placed, QueryChange, SliceFigures
from pytest_ireval.results.plain import classify_type, read_type_hints
from pytest_ireval.results.policies import Policies
from pytest_ireval.results.suite_result import MetricFigures, QueryDocuments, QueryTable, RunResult, SuiteResult

SCHEMA = Path(__file__).parents[2] / "docs" / "results.schema.json"

OUTCOME = Outcome(
    "threshold::nDCG_10",
    "threshold",
    "fail",
    "nDCG@10 is 0.5",
    figures=(SliceFigures("all", 2, 0.5),),
    queries=(QueryChange("q1", "tea", 0.1, best=Placed("d1", 3, None)),),
    numbers={"value": 0.5},
)
SUITE = SuiteResult(
    "shop",
    "shop.ireval.yaml",
    "fail",
    (OUTCOME,),
    metrics=(MetricFigures("nDCG@10", "higher", "query", "mean", 0.5, None),),
    queries=QueryTable(("q1", "q2"), ("tea", "赤い"), columns={"segment": ("a", "b")}, now={"nDCG@10": (0.1, None)}),
    documents=(QueryDocuments("q1", (Placed("d1", 3, 1, None),)),),
    documents_of=2,
    cause=Cause(edits=(JudgmentEdit("q1", "d1", None, 2),)),
    policies=Policies(depth=20),
)
RUN = RunResult("0.1.0", "2027-03-03T09:00:00Z", "fail", (SUITE,))


def of_type(hint):
    """Any value of a type, as results have them."""
    if hint is Policies:  # it refuses what is out of range
        return st.builds(Policies, depth=st.none() | st.integers(1, 99), scale=st.none() | st.floats(0.5, 9.0))
    kind, inner = classify_type(hint)
    if kind == "record":
        return st.builds(hint, **{name: of_type(each) for name, each in read_type_hints(hint).items()})
    if kind == "optional":
        return st.none() | of_type(inner[0])
    if kind == "list":
        return st.lists(of_type(inner[0]), max_size=2).map(tuple)
    if kind == "mapping":
        return st.dictionaries(st.text(max_size=3), of_type(inner[0]), max_size=2)
    if kind == "choice":
        return st.sampled_from(inner)
    plain = {str: st.text(max_size=4), int: st.integers(), bool: st.booleans()}
    return plain[hint] if hint in plain else st.floats(allow_nan=False, allow_infinity=False)


SOME_RUNS = of_type(RunResult)


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@given(run=SOME_RUNS)
def test_what_was_written_is_read_again(run):
    text = format_results(run)

    assert parse_run(text) == run
    assert format_results(parse_run(text)) == text


@settings(max_examples=5)  # one run has hundreds of values, and the validator asks for each why it may be there
@given(run=SOME_RUNS)
def test_every_run_is_what_the_schema_promises(run, validator):
    validator.validate(json.loads(format_results(run)))


def test_a_full_run_is_what_the_schema_promises(validator):
    validator.validate(json.loads(format_results(full_run(queries=9, documents=2))))


def test_the_schema_is_written_from_the_classes():
    from runpy import run_path

    assert SCHEMA.read_text(encoding="utf-8") == run_path(str(SCHEMA.with_name("results_schema.py")))["page"]()


def test_numbers_of_any_kind_are_written_as_their_field_says():
    import numpy as np

    odd = replace(OUTCOME, figures=(SliceFigures("all", np.int64(2), np.float64(0.1) + np.float64(0.2), baseline=1),))
    (figures,) = json.loads(format_results(replace(RUN, suites=(replace(SUITE, outcomes=(odd,)),))))["suites"][0][
        "outcomes"
    ][0]["figures"]

    assert (figures["queries"], figures["now"], figures["baseline"]) == (2, 0.30000000000000004, 1.0)


def test_no_nan_is_written():
    broken = replace(SUITE, metrics=(replace(SUITE.metrics[0], now=float("nan")),))

    with pytest.raises(ValueError, match="not JSON compliant"):
        format_results(replace(RUN, suites=(broken,)))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            lambda data: data.update(format=2),
            "results.json\n  format 2 cannot be read as results; this version reads format 1",
        ),
        (lambda data: data.pop("verdict"), "results.json: verdict\n  is missing"),
        (lambda data: data.update(dirt=True), "results.json: dirt\n  unknown key\n  did you mean 'dirty'?"),
        (
            lambda data: data["suites"][0]["outcomes"][0].update(line="nine"),
            "results.json: suites > 0 > outcomes > 0 > line\n  expected a whole number, found 'nine'",
        ),
    ],
)
def test_what_does_not_fit_is_named(change, complaint):
    data = json.loads(format_results(RUN))
    change(data)

    with pytest.raises(InputError) as error:
        parse_run(json.dumps(data))

    assert str(error.value) == complaint


@pytest.mark.parametrize("text", ["{", "[" * 100_000])
def test_what_is_no_json_is_said_so(text):
    with pytest.raises(InputError, match=r"^results.json\n  is not JSON: "):
        parse_run(text)


def test_infinity_is_no_figure():
    with pytest.raises(InputError, match="expected a number, found inf"):
        parse_run(format_results(RUN).replace("[0.1, null]", "[Infinity, null]"))


def test_a_field_with_a_default_may_be_left_out():
    data = json.loads(format_results(RUN))
    del data["suites"][0]["waived"]

    assert parse_run(json.dumps(data)) == RUN


@pytest.fixture
def in_parts(tmp_path, monkeypatch):
    """The folder of a run in parts, and the run."""
    monkeypatch.setattr(results_file, "MAX_SINGLE_FILE", 0)
    run = replace(RUN, suites=(SUITE, replace(SUITE, name="a/b Ünï", documents_of=7)))
    (tmp_path / "results.parts").mkdir()
    for name, text in format_results_files(run).items():
        (tmp_path / name).write_text(text)
    return tmp_path, run


def test_a_large_run_is_written_in_parts_and_read_back(in_parts):
    folder, run = in_parts
    suites = json.loads((folder / "results.json").read_text())["suites"]

    assert [suite["part"] for suite in suites] == ["results.parts/0001-shop.json", "results.parts/0002-a-b-n-.json"]
    assert [suite["documents"] for suite in suites] == [[], []]
    assert [suite["queries"]["ids"] for suite in suites] == [[], []]
    assert read_run(folder) == run
    assert read_run(folder, parts=False) == replace(
        run, suites=tuple(replace(suite, queries=QueryTable(), documents=()) for suite in run.suites)
    )


def test_a_run_in_parts_is_what_the_schema_promises(in_parts, validator):
    folder, _ = in_parts
    validator.validate(json.loads((folder / "results.json").read_text()))
    of_a_part = validator.evolve(schema={"$defs": validator.schema["$defs"], "$ref": "#/$defs/Part"})
    for path in (folder / "results.parts").iterdir():
        of_a_part.validate(json.loads(path.read_text()))


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda part, _: part.unlink(), "is missing, and "),
        (lambda part, _: part.write_text(part.read_text()[:-9]), "is not JSON"),
        (lambda part, _: part.write_bytes(b"\xff"), "is not UTF-8 text"),
        (lambda part, _: part.write_text(part.read_text().replace("2027", "2026")), "is a part of the run of 2026-03"),
        (lambda _, whole: whole.write_text(whole.read_text().replace("0001-shop", "../../x")), "not a file of a part"),
        (lambda _, whole: whole.write_text(whole.read_text().replace("/0001-shop", "/0002-a-b-n-")), "the suite a/b"),
        (lambda part, _: part.write_text(part.read_text().replace('"documents"', '"papers"')), "lacks documents"),
    ],
)
def test_a_part_that_is_missing_or_belongs_elsewhere_is_named(in_parts, damage, complaint):
    folder, _ = in_parts
    damage(folder / "results.parts/0001-shop.json", folder / "results.json")

    with pytest.raises(InputError, match=complaint) as error:
        read_run(folder)

    assert "results.parts" in str(error.value)
    assert read_run(folder, parts=False).verdict == "fail"


def test_a_run_of_usual_size_is_one_file(monkeypatch):
    monkeypatch.setattr(results_file, "MAX_SINGLE_FILE", results_file.MAX_SINGLE_FILE // 100)  # else of 200,000 queries
    many = tuple(f"q{number}" for number in range(2_000))
    large = replace(SUITE, queries=QueryTable(many, many, now={"nDCG@10": (0.5,) * 2_000}))
    shown = replace(SUITE, documents=SUITE.documents * 3_000)

    assert [*format_results_files(RUN)] == [*format_results_files(replace(RUN, suites=(large,)))] == ["results.json"]
    assert len(format_results_files(replace(RUN, suites=(large,) * 5))) == 6
    assert [*format_results_files(replace(RUN, suites=(shown,)))] == ["results.parts/0001-shop.json", "results.json"]
