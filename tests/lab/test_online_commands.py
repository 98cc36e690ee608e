"""``ireval plan-online`` and ``interleave``: online tests plan_checks, evaluated and simulated."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "examples" / "data"
OLD, NEW, JUDGMENTS = (DATA / f"{name}.txt" for name in ("rankings", "reranked", "judgments"))


def plan(ireval, *arguments):
    outcome = ireval("plan-online", *arguments, "--format", "json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_a_change_has_its_searches_and_days(ireval):
    found = plan(ireval, "--rate", "30%", "--change", "1%", "--searches-per-day", "500000")

    assert found["plan"] == [
        {"change": 0.003, "relative": 0.01, "new": 366_282, "old": 366_282, "days": 15, "whole_weeks": 3}
    ]
    assert [(each["days"], round(each["change"], 5)) for each in found["detectable"]] == [
        (7, 0.00434),
        (14, 0.00307),
        (28, 0.00217),
        (56, 0.00153),
    ]


def test_days_show_a_smallest_change_without_a_change_to_find(ireval):
    found = plan(ireval, "--rate", "0.3", "--days", 15, "--searches-per-day", 488_376)

    assert "plan" not in found
    assert found["detectable"][0]["new"] == 366_282
    assert found["detectable"][0]["change"] == pytest.approx(0.003, rel=1e-5)
    few = plan(ireval, "--rate", "0.3", "--days", 1, "--searches-per-day", 10)
    assert few["detectable"] == [{"days": 1, "new": 0, "old": 0, "change": None, "relative": None}]


def test_tables_of_csv_and_a_picture(ireval, tmp_path):
    target = tmp_path / "days.svg"
    options = ("--rate", "0.3", "--change", "0.003", "--searches-per-day", 500_000)
    outcome = ireval("plan-online", *options, "--format", "csv", "--svg", target)

    rows = [*csv.DictReader(io.StringIO(outcome.out))]
    assert [row["table"] for row in rows] == ["plan", *["detectable"] * 4]
    assert (rows[0]["new"], rows[2]["days"], rows[2]["new"]) == ("366282", "14", "350000")
    said = ET.parse(target).getroot().find("{http://www.w3.org/2000/svg}desc").text
    assert said == "The smallest change that shows, by days: 0.0115 after day 1, 0.00153 after day 56."


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--rate", "0", "--change", "1%"), "'0' is not a share: write 5% or 0.05, above 0 and below 1"),
        (("--rate", "0.3", "--change", "-1%"), "'-1%' is not a change: write 1% (of the rate) or 0.003"),
        (("--rate", "0.3"), "give --change, or --days with --searches-per-day"),
        (("--rate", "0.3", "--days", "3"), "--days needs --searches-per-day"),
        (("--rate", "0.3", "--change", "1%", "--share", "60%"), "both arms together have 1.2 of all searches"),
        (("--rate", "0.3", "--change", "0.8"), "a rate of 0.3 cannot change by 0.8"),
        (("--rate", "0.8", "--change", "0.3", "--one-sided"), "a change of 0.2 or less: rates are between 0 and 1"),
    ],
)
def test_plans_that_make_no_sense_are_refused(ireval, options, complaint):
    outcome = ireval("plan-online", *options)

    assert outcome.code == 2
    assert complaint in outcome.err


def test_lists_are_written_in_three_formats_that_a_log_can_extend(ireval, write_texts):
    write_texts(a="q Q0 x 1 3 t\nq Q0 y 2 2 t\nq Q0 z 3 1 t\n", b="q Q0 y 1 3 t\nq Q0 w 2 2 t\nq Q0 x 3 1 t\n")
    for ending in ("jsonl", "tsv", "csv"):
        target = f"lists.{ending}"
        outcome = ireval("interleave", "a.txt", "b.txt", "--depth", 2, "--draws", 4, "--to", target)
        assert outcome.out.endswith(f"wrote {target}: 4 lists of 1 query\n")
    assert "would overwrite lists.tsv" in ireval("interleave", "a.txt", "b.txt", "--to", "lists.tsv").err
    over_input = ireval("interleave", "a.txt", "b.txt", "--to", "b.txt", "--force").err
    assert "--to b.txt is the same file as the input b.txt" in over_input
    lines = Path("lists.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert rows[0] == {"query": "q", "draw": 1, "documents": ["y", "x"], "teams": "BA"}
    assert [row["teams"] for row in rows] == ["BA", "BA", "BA", "AB"]
    assert Path("lists.tsv").read_text().splitlines()[:2] == ["query\tdraw\tdocuments\tteams", 'q\t1\t["y", "x"]\tBA']

    lines = Path("lists.csv").read_text().splitlines()
    Path("log.csv").write_text("\n".join([f"{lines[0]},clicks", *(f"{line},y" for line in lines[1:])]))
    with_clicks = [json.dumps({**row, "clicks": ["y"]}) for row in rows]
    Path("log.jsonl").write_text("\n".join(with_clicks))
    tsv = Path("lists.tsv").read_text().splitlines()
    Path("log.tsv").write_text("\n".join([f"{tsv[0]}\tclicks", *(f"{line}\ty" for line in tsv[1:])]))
    found = [
        ireval("interleave", "a.txt", "b.txt", "--clicks", f"log.{each}", "--format", "json").out
        for each in ("jsonl", "tsv", "csv")
    ]
    assert found[0] == found[1] == found[2]
    assert [(row["a"], row["b"], row["ties"]) for row in json.loads(found[0])["tests"]] == [(0, 4, 0), (0, 1, 0)]


RUNS = {
    "a": "".join(f"q{i} Q0 x 1 2 t\nq{i} Q0 y 2 1 t\n" for i in range(6)),
    "b": "".join(f"q{i} Q0 y 1 2 t\nq{i} Q0 x 2 1 t\n" for i in range(6)),
}


def log_of(*clicks):
    """A search of each query; the lists begin with x of team A."""
    return "".join(
        json.dumps({"query": f"q{i % 6}", "documents": ["x", "y"], "teams": "AB", "clicks": [*each]}) + "\n"
        for i, each in enumerate(clicks)
    )


def test_a_verdict_names_the_ranking_that_users_prefer(ireval, write_texts):
    write_texts(**RUNS, log_jsonl=log_of(*["y"] * 10, "x", ""))
    outcome = ireval("interleave", "old=a.txt", "new=b.txt", "--clicks", "log.jsonl")

    lines = outcome.out.splitlines()
    assert "test                    units  old  new  ties  figure     low    high       p" in lines
    assert "sign test of searches      12    1   10     1  0.9091  0.5872  0.9977  0.0117" in lines
    assert "users prefer new: 90.9% of the searches with a preference, p 0.0117" in lines
    assert "clicked documents: 1 of old, 10 of new, 0 without credit" in lines


def test_without_a_preference_there_is_no_verdict(ireval, write_texts):
    write_texts(**RUNS, log_jsonl=log_of("", "xy", "xy"))
    outcome = ireval("interleave", "a.txt", "b.txt", "--clicks", "log.jsonl")

    assert "no preference: no search gives one side more credit than the other" in outcome.out


def test_mistakes_of_a_log_have_their_lines(ireval, write_texts):
    write_texts(
        **RUNS, log_tsv="query\tdocuments\tteams\tclicks\nq0\tx y\tAB\tz\nq1\tx y\tAB\tx\nq2\ty x\tAB\ty\nq9\tx\tA\t\n"
    )
    outcome = ireval("interleave", "a.txt", "b.txt", "--clicks", "log.tsv")

    assert outcome.code == 2
    assert outcome.err == (
        "error: log.tsv:2\n  clicked document 'z' was not shown for query 'q0'\n"
        "log.tsv:4\n  is not an interleaving: rank 1 is 'y' of team A; with these rankings it is 'x' of team A\n"
        "  give the rankings that the lists were made of, in the same order: A, then B\n"
        "log.tsv:5\n  query 'q9' is in neither ranking\n"
    )


def test_simulated_users_need_fewer_searches_for_an_interleaving(ireval):
    outcome = ireval("interleave", OLD, NEW, "--simulate", JUDGMENTS, "--format", "json")
    found = json.loads(outcome.out)

    assert [(row["measured"], row["searches"]) for row in found["online"]] == [
        ("preferred", 38),
        ("clicked", 404),
        ("satisfied", 774),
    ]
    shares = {(row["method"], row["measured"], row["searches"]): row["b"] for row in found["decisions"]}
    assert shares["interleaving", "preferred", 100] > 0.99
    assert shares["A/B test", "clicked", 100] < 0.4
    assert found["offline"][0] | {"p": round(found["offline"][0]["p"], 4)} == {
        "metric": "nDCG@10",
        "a": pytest.approx(0.7567, abs=1e-4),
        "b": pytest.approx(0.9013, abs=1e-4),
        "difference": pytest.approx(0.1446, abs=1e-4),
        "p": 0.1036,
        "verdict": "inconclusive",
        "interleaving": "same direction",
        "clicked": "same direction",
        "satisfied": "same direction",
    }


def test_a_significant_metric_agrees_or_disagrees_with_each_online_test(ireval, write_texts):
    """Twenty queries: b has the relevant document first, and a has a good second one that b lacks."""
    write_texts(
        grades="".join(f"q{i} 0 x 1\nq{i} 0 y 1\nq{i} 0 z 0\n" for i in range(20)),
        a="".join(f"q{i} Q0 z 1 3 t\nq{i} Q0 x 2 2 t\nq{i} Q0 y 3 1 t\n" for i in range(20)),
        b="".join(f"q{i} Q0 x 1 3 t\nq{i} Q0 z 2 2 t\n" for i in range(20)),
    )
    options = ("-m", "RR", "-m", "R@3", "--users", "perfect", "--format", "json")
    found = json.loads(ireval("interleave", "a.txt", "b.txt", "--simulate", "grades.txt", *options).out)

    assert [
        (row["metric"], row["verdict"], row["interleaving"], row["clicked"], row["satisfied"])
        for row in found["offline"]
    ] == [
        ("RR", "b is better", "agrees", "no difference", "no difference"),
        ("R@3", "a is better", "disagrees", "no difference", "no difference"),
    ]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--clicks", "log.jsonl", "--draws", 2), "--draws has no effect with --clicks"),
        (("--clicks", "log.jsonl", "-m", "AP"), "--metric has no effect with --clicks"),
        (("--simulate", "j.txt", "--to", "lists.tsv"), "--to has no effect with --simulate"),
        (("--users", "noisy"), "--users has no effect without --clicks or --simulate"),
    ],
)
def test_options_without_effect_are_refused(ireval, write_texts, options, complaint):
    write_texts(**RUNS)
    outcome = ireval("interleave", "a.txt", "b.txt", *options)

    assert (outcome.code, complaint in outcome.err) == (2, True)
    assert not Path("interleaved.jsonl").exists()


def test_an_experiment_is_either_real_or_simulated(ireval, write_texts):
    write_texts(**RUNS)
    outcome = ireval("interleave", "a.txt", "b.txt", "--simulate", "x", "--clicks", "y")

    assert (outcome.code, "give --clicks or --simulate, not both" in outcome.err) == (2, True)
    outcome = ireval("interleave", "a.txt", "b.txt", "--simulate", "x", "--patience", "nan")
    assert (outcome.code, "all numbers must be finite" in outcome.err) == (2, True)


def test_a_picture_shows_which_test_needs_fewer_searches(ireval, tmp_path):
    target = tmp_path / "sooner.svg"
    outcome = ireval("interleave", OLD, NEW, "--simulate", JUDGMENTS, "--by-position", "--svg", target)

    assert f"wrote {target}" in outcome.out
    assert "rankings has no documents for 1 query of reranked: q11; interleaving cannot compare them" in outcome.out
    texts = [each.text for each in ET.parse(target).getroot().iter("{http://www.w3.org/2000/svg}text")]
    assert {"interleaving", "A/B test: clicked", "A/B test: satisfied", "10", "100", "1k"} <= {*texts}
