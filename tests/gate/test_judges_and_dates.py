"""Reports say how old judgments are, and name a changed judge as a cause."""

import json
from datetime import date

import pytest

from pytest_ireval.baseline.fingerprints import fingerprint_judgments
from pytest_ireval.data.from_objects import make_judgments_of_table
from pytest_ireval.data.tables import Table
from pytest_ireval.gate.result import measure_judgment_ages
from pytest_ireval.report.formatting import describe_ages
from pytest_ireval.results.suite_result import JudgmentAges

TODAY = date(2026, 10, 2)


def make_judgments(**columns):
    """Judgments with these further columns."""
    size = len(next(iter(columns.values())))
    ids = {"query": ["q"] * size, "document": [f"d{n}" for n in range(size)], "grade": [n % 3 for n in range(size)]}
    return make_judgments_of_table(Table({**ids, **columns}, "j.tsv", str))


@pytest.mark.parametrize(
    ("dates", "ages", "words"),
    [
        (
            ["2024-03-01", "2026-09-02T10:00:00Z", "2026-10-02"],
            JudgmentAges("2024-03-01", "2026-10-02", 30, 1 / 3, 3),
            "from 2024-03-01 to 2026-10-02, median age 30 days, 33% older than a year",
        ),
        (
            ["2026-10-01", "", "soon"],
            JudgmentAges("2026-10-01", "2026-10-01", 1, 0.0, 1, 2),
            "of 2026-10-01, median age 1 day, 0% older than a year; 2 without a date",
        ),
        (
            ["2024-01-01; 2026-09-02"],  # two judges, merged
            JudgmentAges("2026-09-02", "2026-09-02", 30, 0.0, 1),
            "of 2026-09-02, median age 30 days, 0% older than a year",
        ),
        (
            ["2027-01-01"],  # later than the run
            JudgmentAges("2027-01-01", "2027-01-01", 0, 0.0, 1),
            "of 2027-01-01, median age 0 days, 0% older than a year",
        ),
    ],
)
def test_ages_are_those_of_the_day_of_the_run(dates, ages, words):
    assert measure_judgment_ages(make_judgments(date=dates), TODAY) == ages
    assert describe_ages(ages) == words


def test_judgments_without_dates_have_no_age():
    assert measure_judgment_ages(make_judgments(date=["", "?"]), TODAY) is None


def test_a_model_is_called_by_its_name_and_prompt_and_few_judges_are_kept():
    several = make_judgments(
        judge=["ann", "bot", "bot", ""], model=["", "m 7", "m 7", ""], prompt=["", "1a2b", "1a2b", ""]
    )
    many = make_judgments(judge=[f"judge {n:02}" for n in range(25)])

    assert fingerprint_judgments(several).judges == {"ann": 1, "m 7, prompt 1a2b": 2}
    kept = fingerprint_judgments(many).judges
    assert (len(kept), kept["judge 19"], kept["others"]) == (21, 1, 5)


def write_judgments(shop, model, grades):
    """The judgments of the shop as a table of a model."""
    lines = ["query\tdocument\tgrade\tjudge\tdate\tmodel\tprompt\n"]
    for query, known in shop.judgments.items():
        lines += [f"{query}\t{d}\t{grades(query, g)}\tbot\t2026-03-01\t{model}\tp1\n" for d, g in known.items()]
    (shop.path / "judgments.tsv").write_text("".join(lines))


@pytest.fixture
def accepted_shop(shop, monkeypatch):
    """Accepted with the judgments of model A; half a year later another ranking comes."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1788220800")  # 2026-09-01
    shop.change(("judgments: judgments.txt", "judgments: judgments.tsv"))
    write_judgments(shop, "A", lambda _, grade: grade)
    shop.accept()
    for query in ("q07", "q08", "q09"):
        shop.rankings[query].reverse()
    shop.write()
    return shop


CHANGED = "the judge changed since the baseline: A, prompt p1 (40 judgments) to B, prompt p1 (40 judgments)"


def test_a_new_model_is_named_where_a_check_is_red_and_every_report_says_how_old_judgments_are(accepted_shop, ireval):
    write_judgments(accepted_shop, "B", lambda query, grade: 2 if query == "q08" and grade == 1 else grade)
    text = accepted_shop.run().stdout.str()
    (suite,) = accepted_shop.results()["suites"]

    assert [each["headline"] for each in suite["diagnoses"] if each["kind"] == "judges_changed"] == [CHANGED]
    assert suite["cause"]["judges"] == "A, prompt p1 (40 judgments) to B, prompt p1 (40 judgments)"
    assert CHANGED in " ".join(text.split())
    line = "of 2026-03-01, median age 184 days, 0% older than a year"
    assert f"judgments: {line}" in text
    assert suite["judgment_ages"]["median_days"] == 184
    for name in ("index.html", "summary.md"):
        assert line in (accepted_shop.path / "ireval-report" / name).read_text(), name
    assert "judges: A, prompt p1 (40)" in ireval("baseline", "show", accepted_shop.path / "shop.ireval.yaml").out


def test_the_same_model_is_no_cause_and_one_that_changes_no_grade_is_no_diagnosis(accepted_shop):
    accepted_shop.gate()
    assert "judges" not in json.dumps(accepted_shop.results()["suites"][0]["diagnoses"])
    assert accepted_shop.results()["suites"][0]["cause"].get("judges", "") == ""
    write_judgments(accepted_shop, "B", lambda _, grade: grade)
    accepted_shop.gate()

    (suite,) = accepted_shop.results()["suites"]
    assert suite["cause"]["judges"]
    assert [each for each in suite["diagnoses"] if each["kind"] == "judges_changed"] == []
