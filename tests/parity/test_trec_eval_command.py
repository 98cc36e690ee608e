"""``ireval trec_eval`` prints what trec_eval 10 prints, line by line."""

import gzip
import io
import json
import sys
from pathlib import Path

import foreign
import pytest
from hypothesis import given
from rankings_at_random import Data, rankings, with_a_grade_from_0_on, without_empty_rankings
from record_trec_eval_10 import PRINTED, RECORD, run_trec_eval
from test_equal_values import SLOW

LEVELS = [f"iprec_at_recall_{tenth / 10:.2f}" for tenth in range(11)]
DIFFERENT = {
    "-m all_trec -c -J -l 2": {"num_rel", "11pt_avg", *LEVELS},
    "-c -m utility.2,-1,-0.5,0.25 -N 1000 -m yaap -m dcg -m ideal_dcg -m set": {"utility_2,-1,-0.5,0.25", "ideal_dcg"},
}
"""Its slips: -l ignored in a sum, 0 / 0 after -J, a document that stands for a missing ranking, memory of the query
before."""


def different(theirs, ours):
    pairs = list(zip(theirs.splitlines(), ours.splitlines(), strict=True))
    assert [line.split("\t")[:2] for line, _ in pairs] == [line.split("\t")[:2] for _, line in pairs]
    return {line.split()[0] for line, other in pairs if line != other}


@pytest.mark.parametrize("options", PRINTED)
def test_output_as_recorded(ireval, tmp_path, options):
    few = json.loads(Path(RECORD).read_text(encoding="utf-8"))["few"]
    files = foreign.trec_files(Data(few["judgments"], few["rankings"]), tmp_path)

    outcome = ireval("trec_eval", *options.split(), *files)

    assert (outcome.code, outcome.err) == (0, "")
    assert different(few["printed"][options], outcome.out) <= DIFFERENT.get(options, set())


@pytest.mark.skipif(not foreign.TREC_EVAL_10, reason="IREVAL_TREC_EVAL is not the path of a trec_eval 10")
@pytest.mark.parametrize("options", PRINTED)
def test_output_of_the_program(ireval, tmp_path, options):
    @SLOW
    @given(rankings())
    def all_lines(data):
        data = with_a_grade_from_0_on(without_empty_rankings(data))  # it fails on other queries
        files = foreign.trec_files(data, tmp_path)
        found = different(run_trec_eval(data, options, tmp_path), ireval("trec_eval", *options.split(), *files).out)
        assert found <= DIFFERENT.get(options, set())

    all_lines()


QRELS = "q1 0 a 1\nq1 0 b 2\nq2 0 a 1\n"
RUN = "# a comment\nq1 Q0 a 1 2 first\nq1 Q0 b 2 1 last\n"


@pytest.fixture
def files(trec_files):
    return trec_files(QRELS, RUN)


def test_names_digits_and_columns(ireval, files):
    outcome = ireval("trec_eval", "-c", "-q", "--measure=map", "-mndcg_cut.10", "-m", "runid", "-m", "num_ret", *files)

    assert outcome.out == (
        "num_ret               \tq1\t2\n"
        "map                   \tq1\t1.0000\n"
        "ndcg_cut_10           \tq1\t0.8597\n"
        "num_ret               \tq2\t0\n"
        "map                   \tq2\t0.0000\n"
        "ndcg_cut_10           \tq2\t0.0000\n"
        "runid                 \tall\tlast\n"
        "num_ret               \tall\t2\n"
        "map                   \tall\t0.5000\n"
        "ndcg_cut_10           \tall\t0.4299\n"
    )


def test_a_run_may_be_compressed_or_standard_input(ireval, files, tmp_path, monkeypatch):
    qrels, run = files
    packed = tmp_path / "run.gz"
    packed.write_bytes(gzip.compress(Path(run).read_bytes()))
    plain = ireval("trec_eval", "-c", qrels, run).out

    assert ireval("trec_eval", "-c", qrels, packed).out == plain
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(run).read_bytes())))
    assert ireval("trec_eval", "-c", qrels, "-").out == plain
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"q1 Q0 a\n")))
    assert "standard input:1" in ireval("trec_eval", "-c", qrels, "-").err


def test_a_query_without_a_ranking_is_an_error_and_one_without_judgments_is_named(ireval, trec_files):
    outcome = ireval("trec_eval", *trec_files(QRELS, RUN + "q9 Q0 a 1 1 t\n"))

    assert (outcome.code, outcome.out) == (4, "")
    assert outcome.err == (
        "ireval trec_eval: not judged, so they do not count: queries 'q9'\n"
        f"ireval trec_eval: {trec_files(QRELS, RUN)[1]} has no documents for query 'q2'; -c counts such queries as 0\n"
    )


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("-m mapp", 1, "-m mapp: the measure is unknown; did you mean 'map'?"),
        ("-m ndcg_cut_10", 1, "-m ndcg_cut_10: the measure is unknown; did you mean 'ndcg_cut.10'?"),
        ("-m P_avgjg", 1, "-m P_avgjg: the measure is not offered: averages over several sets of judgments"),
        ("-m map.5", 1, "-m map.5: map has no parameters"),
        ("-m P.5,x", 1, "-m P: the parameter 'x' is not a number"),
        ("-m P.5,5", 1, "-m P.5,5: a parameter is given twice"),
        ("-m P.5 -m P.10", 1, "-m P.10: P has its parameters already (5); write them in one list"),
        ("-m utility.1,2", 1, "-m utility.1,2: these parameters do not fit; write them as in -m utility.1,-1,0,0"),
        ("-m utility.1,-1,0,1 -c", 4, "it needs SideData(collection=N)"),
        ("-D 1", 1, "-D is not offered; it prints no steps of its arithmetic: use ireval why"),
        ("-R prefs", 2, "-R prefs: the format is not offered; allowed: qrels"),
        ("-M many", 1, "-M many: this is not a whole number above 0"),
        ("more", 1, "name two files, QRELS and RUN"),
        ("-m official.5", 1, "-m official.5: official has no parameters"),
        ("-m P.", 1, "-m P.: parameters are missing after the point"),
        ("-m P.0", 1, "-m P.0: P: cutoff=0 is out of range (at least 1); write them as in -m P.5,10"),
        ("-x", 1, "option -x not recognized"),
    ],
)
def test_refused(ireval, files, options, code, message):
    outcome = ireval("trec_eval", *options.split(), *files)

    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.startswith("ireval trec_eval: ")
    assert message in outcome.err


def test_a_wrong_file_is_named_with_its_line(ireval, trec_files):
    outcome = ireval("trec_eval", *trec_files(QRELS, RUN + "q2 Q0 a\n"))

    assert (outcome.code, outcome.out) == (2, "")
    assert "rankings.txt:4" in outcome.err


def test_help_defines_the_measures_that_are_named(ireval):
    outcome = ireval("trec_eval", "-h", "-m", "ndcg_cut.10")

    assert outcome.code == 0
    assert outcome.out.endswith(
        "ndcg_cut_10 = nDCG@10: DCG as a share of the DCG of the best order of all judged documents.\n"
    )
    assert ireval("trec_eval", "-v").code == 0
