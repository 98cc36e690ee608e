"""``ireval report --charts``: every chart of a run as SVG, and its numbers as CSV."""

import csv
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from reports.full_run import full_run

from pytest_ireval.reports.data_files import results_text

RESULTS = Path("ireval-report/results.json")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(run, path=RESULTS):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(results_text(run), encoding="utf-8")


def files(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def test_every_chart_is_a_drawing_and_a_table(ireval):
    write(full_run(metrics=1))

    printed = ireval("report", "--charts")

    assert (printed.code, printed.err) == (0, "")
    assert printed.out == (
        "shop-0.intervals: Change of each rule, its interval and its tolerance, shop-0\n"
        "shop-0.differences.nDCG_10: nDCG@10: change of each query, shop-0\n"
        "shop-0.recall_precision: Precision at each recall, shop-0\n"
        "shop-0.distribution.nDCG_10: nDCG@10: how many queries have which value, shop-0\n"
        "shop-0.trend.nDCG_10.all: nDCG@10 from run to run, shop-0\n"
        "written: 5 charts into ireval-report/charts, each as .svg and .csv\n"
    )
    assert files("ireval-report/charts") == sorted(
        f"shop-0.{name}.{ending}"
        for name in (
            "intervals",
            "differences.nDCG_10",
            "recall_precision",
            "distribution.nDCG_10",
            "trend.nDCG_10.all",
        )
        for ending in ("svg", "csv")
    )
    for path in Path("ireval-report/charts").glob("*.svg"):
        assert ET.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_the_table_has_a_row_for_each_query_with_all_digits(ireval):
    run = full_run(metrics=1)
    write(run)
    ireval("report", "--charts", "--kind", "differences")

    with open("ireval-report/charts/shop-0.differences.nDCG_10.csv", encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)

    table = run.suites[0].queries
    assert header == ["query", "text", "baseline", "now", "change"]
    assert {row[0]: float(row[3]) for row in rows} == dict(zip(table.ids, table.now["nDCG@10"], strict=True))


def test_a_spreadsheet_is_told_that_a_table_with_other_letters_is_utf_8(ireval):
    write(full_run(metrics=1))
    ireval("report", "--charts")

    begin = {path.name: path.read_bytes()[:3] for path in Path("ireval-report/charts").glob("*.csv")}
    assert begin["shop-0.differences.nDCG_10.csv"] == b"\xef\xbb\xbf"
    assert begin["shop-0.trend.nDCG_10.all.csv"] == b"met"


def test_suites_kinds_and_the_folder_can_be_chosen(ireval):
    write(full_run(suites=3, metrics=1), Path("old/results.json"))

    named = ireval(
        "report", "--charts", "old", "--suite", "shop-2", "--suite", "shop-0", "--kind", "trend", "--to", "pictures/new"
    )

    assert named.out.splitlines()[-1] == "written: 2 charts into pictures/new, each as .svg and .csv"
    assert files("pictures/new") == [
        f"shop-{i}.trend.nDCG_10.all.{ending}" for i in (0, 2) for ending in ("csv", "svg")
    ]


def test_unless_told_otherwise_charts_lie_beside_the_results(ireval):
    write(full_run(metrics=1), Path("old/results.json"))

    assert "into old/charts," in ireval("report", "--charts", "old/results.json").out
    assert Path("old/charts").is_dir()


def test_two_charts_never_have_one_file(ireval):
    (one,) = full_run(metrics=1).suites
    names = ("Shop", "shop", "a/b", "a?b", "con", "\u202e", "")
    write(replace(full_run(), suites=tuple(replace(one, name=name) for name in names)))

    printed = ireval("report", "--charts", "--kind", "intervals")

    assert printed.code == 0
    lower = {name.lower() for name in files("ireval-report/charts")}
    assert len(lower) == 2 * len(names)


def test_a_second_time_replaces_the_files(ireval):
    write(full_run(metrics=1))
    ireval("report", "--charts")
    before = files("ireval-report/charts")

    assert ireval("report", "--charts").code == 0
    assert files("ireval-report/charts") == before


def test_a_run_that_is_not_there_is_an_error_that_says_who_writes_it(ireval):
    printed = ireval("report", "--charts")

    assert printed.code == 2
    assert printed.err == (
        "error: ireval-report/results.json\n"
        "  results of a run not found\n"
        "  pytest --ireval writes it; --ireval-report names the folder\n"
    )


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"{", "is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (b'{"format": 7}', "format 7 cannot be read as results; this version reads format 1"),
        (b"\xff\xfe", "is not UTF-8 text (byte 0)"),
    ],
)
def test_what_is_no_results_file_is_an_error(ireval, content, complaint):
    Path("x.json").write_bytes(content)

    assert ireval("report", "--charts", "x.json") == (2, "", f"error: x.json\n  {complaint}\n")


def test_a_suite_that_there_is_not_is_an_error_that_names_the_closest(ireval):
    write(full_run(suites=2))

    assert ireval("report", "--charts", "--suite", "shop-1", "--suite", "shp-0") == (
        2,
        "",
        "error: ireval-report/results.json\n"
        "  has no suite 'shp-0'\n"
        "  did you mean 'shop-0'?\n"
        "  available: shop-0, shop-1\n",
    )
    assert not Path("ireval-report/charts").exists()


def test_nothing_to_draw_is_an_error_that_says_why(ireval):
    (full,) = full_run(metrics=1).suites
    without = replace(full, trends=(), name="shop")

    write(replace(full_run(), suites=(without,)))
    assert ireval("report", "--charts", "--kind", "trend").err == (
        "error: ireval-report/results.json\n"
        "  nothing to draw of trend\n"
        "  available: intervals, differences, recall_precision, distribution\n"
    )
    write(replace(full_run(), suites=(), verdict="error", problems=("a file is missing",)))
    assert "nothing to draw: that run has no suites" in ireval("report", "--charts").err
    write(replace(full_run(), suites=(replace(without, outcomes=(), metrics=(), curves=(), distributions=()),)))
    assert "nothing to draw\n  it needs figures: " in ireval("report", "--charts").err


def test_a_folder_that_cannot_be_written_is_an_error(ireval):
    write(full_run(metrics=1))
    Path("taken").write_text("a file")

    printed = ireval("report", "--charts", "--to", "taken/charts")

    assert printed.code == 2
    assert printed.err.startswith("error: taken/charts\n  cannot be written: ")


def test_an_unknown_kind_is_a_usage_error(ireval):
    assert "'pie' is not one of 'differences', 'intervals'" in ireval("report", "--charts", "--kind", "pie").err
