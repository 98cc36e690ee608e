"""``ireval evaluate``: every option, every format, and what it says when something is wrong."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_ireval import Evaluation

JUDGMENTS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 a 1\nq3 0 z 0\n"
RANKINGS = "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 x 3 1 t\nq3 Q0 z 1 1 t\nq9 Q0 a 1 1 t\n"


@pytest.fixture
def files(trec_files):
    return trec_files(JUDGMENTS, RANKINGS)


def test_the_table_shows_figures_and_what_they_rest_on(ireval, files):
    judgments, rankings = files

    outcome = ireval("evaluate", judgments, rankings, "-m", "RR", "-m", "P@2", "-m", "num_ret")

    assert outcome == (
        0,
        "metric         value  queries\n"
        "RR            0.1667        3\n"
        "P@2           0.1667        3\n"
        "NumRet (sum)       4        3\n"
        "\n"
        f"judgments: {judgments} (3 queries); rankings: {rankings}\n"
        "ties: trec; missing queries: zero; no relevant documents: zero; unjudged: irrelevant; depth: all; "
        "highest grade: 2; grades: integer\n"
        "missing: 1 query (q2) without a ranking; scored as empty rankings\n"
        "not judged: 1 query (q9) ranked but without judgments; not counted\n"
        "no relevant documents: 1 query (for RR, P@2, NumRet)\n",
        "",
    )


def test_without_metrics_a_sensible_choice_is_shown(ireval, files):
    outcome = ireval("evaluate", *files)

    names = [line.split()[0] for line in outcome.out.split("\n\n")[0].splitlines()[1:]]
    assert names == ["nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10"]


def test_json_has_a_version_canonical_names_and_what_is_missing(ireval, files):
    data = json.loads(ireval("evaluate", *files, "-m", "map", "-m", "P_1", "--format", "json", "--per-query").out)

    assert data["format"] == 1
    assert data["metrics"]["AP"]["mean"] == pytest.approx(1 / 4 / 3)
    assert data["metrics"]["AP"]["queries"] == {"q1": 0.25, "q2": 0.0, "q3": 0.0}
    assert list(data["metrics"]) == ["AP", "P@1"]
    assert data["missing"] == ["q2"]
    assert data["without_judgments"] == ["q9"]
    assert data["policies"]["missing_queries"] == "zero"
    assert Evaluation.from_dict(data).to_dict() == data


def test_csv(ireval, files):
    rows = list(csv.reader(io.StringIO(ireval("evaluate", *files, "-m", "RR", "--per-query", "--format", "csv").out)))

    assert rows == [
        ["metric", "query", "value"],
        ["RR", "q1", "0.5"],
        ["RR", "q2", "0.0"],
        ["RR", "q3", "0.0"],
        ["RR", "", "0.16666666666666666"],
    ]


def test_trec_columns_and_a_page_that_needs_nothing_with_odd_ids_made_harmless(ireval, trec_files):
    files = trec_files("<b>q\x1b 0 a 1\n", "<b>q\x1b Q0 a 1 1 t\n")
    evaluated = ("evaluate", *files, "-m", "RR", "--per-query", "--format")

    assert ireval(*evaluated, "trec").out.endswith("\t1.0000000000\nRR\tall\t1.0000000000\n")
    page = ireval(*evaluated, "html").out
    assert "&lt;b&gt;q" in page
    assert "<b>q" not in page
    assert "http" not in page.replace("http-equiv", "")
    table = ireval(*evaluated, "table").out
    assert "<b>q\\x1b" in table
    assert "\x1b" not in table


@pytest.mark.parametrize(
    ("missing", "mean", "queries"), [("zero", 0.5 / 3, {"q1", "q2", "q3"}), ("ignore", 0.25, {"q1", "q3"})]
)
def test_missing_queries_are_scored_or_left_out(ireval, files, missing, mean, queries):
    outcome = ireval("evaluate", *files, "-m", "RR", "--missing", missing, "--format", "json", "--per-query")

    metric = json.loads(outcome.out)["metrics"]["RR"]
    assert metric["mean"] == pytest.approx(mean)
    assert set(metric["queries"]) == queries


def test_missing_queries_can_be_an_error(ireval, files):
    outcome = ireval("evaluate", *files, "--missing", "error")

    assert outcome == (
        2,
        "",
        f"error: {files[1]}\n  1 of 3 judged queries have no ranking: 'q2'\n"
        '  missing_queries="zero" (command line: --missing zero) gives them the worst score, '
        '"ignore" leaves them out\n',
    )


def test_no_relevant_documents_can_be_left_out_or_be_an_error(ireval, files):
    ignored = ireval("evaluate", *files, "-m", "RR", "--no-relevant", "ignore", "--format", "json", "--per-query")
    refused = ireval("evaluate", *files, "-m", "RR", "--no-relevant", "error")

    assert json.loads(ignored.out)["metrics"]["RR"]["queries"] == {"q1": 0.5, "q2": 0}
    assert refused.code == 2
    assert refused.err.startswith("error: RR\n  1 of 3 queries have no relevant documents: 'q3'\n")


TIED = "q Q0 a 1 5 t\nq Q0 b 2 5 t\nq Q0 c 3 5 t\n"


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ((), "0.5000000000"),
        (("--ties", "input"), "1.0000000000"),
        (("--unjudged", "removed"), "1.0000000000"),
        (("--depth", "1"), "0.0000000000"),
        (("--scale", "3", "-m", "ERR"), "0.0625000000"),
    ],
)
def test_policies_change_the_figure(ireval, trec_files, options, value):
    files = trec_files("q 0 a 1\n", "q Q0 a 1 5 t\nq Q0 b 2 5 t\n")

    outcome = ireval("evaluate", *files, *(() if "-m" in options else ("-m", "RR")), *options, "--format", "trec")

    assert outcome.out.split()[1:] == ["all", value]


def test_queries_with_equal_scores_are_counted_in_a_note(ireval, trec_files):
    ranked = TIED + TIED.replace("q ", "p ") + "r Q0 a 1 1 t\n"
    asked = ("evaluate", *trec_files("q 0 b 1\np 0 a 1\nr 0 a 1\n", ranked), "-m", "RR")
    note = "2 queries have equal scores at a judged document, ordered "

    assert f"{note}by document id, descending (ties: trec)\n" in ireval(*asked).out
    assert f"{note}as in the input (ties: input)\n" in ireval(*asked, "--ties", "input").out
    assert json.loads(ireval(*asked, "--format", "json").out)["tied"] == 2


def test_ranks_that_contradict_the_scores_are_counted_in_a_note(ireval, trec_files):
    ranked = "q Q0 a 2 3 t\nq Q0 b 1 2 t\np Q0 a 1 1 t\n"
    asked = ("evaluate", *trec_files("q 0 b 1\np 0 a 1\n", ranked), "-m", "RR")

    said = "the ranks contradict the scores in 1 of 2 rankings; the scores count, as in trec_eval\n"
    assert said in ireval(*asked).out
    assert json.loads(ireval(*asked, "--format", "json").out)["contradicted"] == 1


def test_fractional_grades_have_to_be_declared(ireval, trec_files):
    files = trec_files("q 0 a 0.5\n", "q Q0 a 1 1 t\n")

    refused = ireval("evaluate", *files)

    assert refused.code == 2
    assert refused.err == (
        f"error: {files[0]}:1\n  grade 0.5 is not a whole number\n"
        '  to read fractional grades, use grades="float" (command line: --grades float)\n'
    )
    assert ireval("evaluate", *files, "-m", "CG@1", "--grades", "float", "--format", "trec").out == (
        "CG@1\tall\t0.5000000000\n"
    )


def test_compressed_files_and_standard_input(ireval, files, monkeypatch):
    judgments, rankings = files
    packed = rankings.with_suffix(".gz")
    packed.write_bytes(gzip.compress(rankings.read_bytes()))
    expected = ireval("evaluate", judgments, rankings, "-m", "RR", "--format", "trec").out

    assert ireval("evaluate", judgments, packed, "-m", "RR", "--format", "trec").out == expected
    with rankings.open() as text:
        monkeypatch.setattr(sys, "stdin", text)
        assert ireval("evaluate", judgments, "-", "-m", "RR", "--format", "trec").out == expected


@pytest.mark.parametrize(
    ("judgments", "rankings", "message"),
    [
        ("q 0 a x\n", RANKINGS, "{0}:1\n  grade 'x' is not a number"),
        (
            RANKINGS,
            RANKINGS,
            "{0}\n  contains no judgments; it looks like rankings (format trec)\n  are judgments and rankings "
            "swapped?\n",
        ),
        ("q1 0 a 1\n", "q1 Q0 a 1 nan t\n", "{1}:1\n  score 'nan' is not finite"),
        (
            "other 0 a 1\n",
            "q1 Q0 a 1 1 t\n",
            "{1}\n  none of its queries (1) is judged in {0}\n  ranked: 'q1'; judged: 'other'",
        ),
    ],
)
def test_bad_input_is_one_clear_error_with_file_and_line(ireval, trec_files, judgments, rankings, message):
    files = trec_files(judgments, rankings)

    outcome = ireval("evaluate", *files)

    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("error: " + message.format(*files))


def test_an_unknown_metric_is_an_error_with_a_suggestion(ireval, files):
    outcome = ireval("evaluate", *files, "-m", "ndgc@10")

    assert outcome.code == 2
    assert outcome.err.startswith("error: 'ndgc@10', column 1\n  unknown metric 'ndgc'\n  did you mean 'nDCG@10'?\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_a_full_disk_is_an_error_and_no_traceback(files):
    command = Path(sys.executable).with_name("ireval")

    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [command, "evaluate", *files], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr  # nothing of progress
    assert "No space left on device" in done.stderr


def test_json_is_valid_whatever_the_terminal_can_show(trec_files):
    files = trec_files("caf\u00e9 0 a 1\n\U0001f600 0 a 1\n", "caf\u00e9 Q0 a 1 1 t\n\U0001f600 Q0 a 1 1 t\n")
    options = ("-m", "RR", "--per-query", "--format", "json")
    command = [Path(sys.executable).with_name("ireval"), "evaluate", *files, *options]

    done = subprocess.run(command, env=os.environ | {"PYTHONIOENCODING": "ascii"}, capture_output=True, check=True)

    found = str(json.loads(done.stdout))
    assert "caf\u00e9" in found
    assert "\U0001f600" in found


def test_a_dialect_gives_names_the_defaults_of_another_package_and_is_told(ireval, files):
    plain = ireval("evaluate", *files, "-m", "ERR@2")
    outcome = ireval("evaluate", *files, "-m", "ERR@2", "--dialect", "ir_measures")

    assert "ERR@2 " in plain.out
    assert "; dialect" not in plain.out
    assert "ERR(max_grade=4)@2 " in outcome.out
    assert "grades: integer; dialect: ir_measures\n" in outcome.out
    refused = ireval("evaluate", *files, "-m", "IPrec@0.125", "--dialect", "ir_measures")
    assert (refused.code, refused.err.splitlines()[1:]) == (
        2,
        ["  ir_measures rounds recall 0.125 to two decimals: write IPrec@0.12"],
    )


@pytest.mark.more_metrics
def test_a_reference_ranking_is_a_file(ireval, trec_files, tmp_path):
    files = trec_files("q 0 a 1\n", "q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 c 3 1 t\n")
    reference = tmp_path / "reference.txt"
    reference.write_text("q Q0 b 1 3 t\nq Q0 a 2 2 t\nq Q0 c 3 1 t\n", encoding="utf-8")
    metrics = ("-m", "KendallTau", "-m", "SpearmanRho")

    found = ireval("evaluate", *files, *metrics, "--reference", reference, "--format", "csv").out
    without = ireval("evaluate", *files, *metrics)

    assert found == "metric,query,value\nKendallTau,,0.3333333333333333\nSpearmanRho,,0.5\n"
    assert (without.code, "--reference FILE" in without.err) == (2, True)
