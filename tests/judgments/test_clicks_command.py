"""``ireval clicks``: click logs described, and judgments and preferences made of them."""

import csv
import io
import json
from pathlib import Path

import pytest
from suite_files import write_rankings, write_suite

from pytest_ireval import load_suite, read_queries, run_gate
from pytest_ireval.data.side_data import read_preferences

LOG = Path(__file__).parents[2] / "examples" / "data" / "clicks.tsv"
HEAD = "session\tquery\tdocuments\tclicks\ttime\n"
FEW = HEAD + "".join(f"s{i}\tred mug\ta b c\t{'b' if i < 30 else 'a'}\t{1_700_000_000 + i}\n" for i in range(40))
"""Of 40 users who see a, b and c, 30 click b, and 10 click a."""


@pytest.fixture
def few(write):
    return write("few.tsv", FEW)


def rows(name):
    return list(csv.DictReader(io.StringIO(Path(name).read_text(encoding="utf-8")), delimiter="\t"))


def test_a_log_is_described_by_its_searches_and_the_click_rate_of_each_rank(ireval, few):
    assert ireval("clicks", few).out == (
        "searches  sessions  queries  documents  shown  clicks  searches without clicks\n"
        "      40        40        1          3    120      40                        0\n"
        "\n"
        "rank  shown  clicks  click rate\n"
        "   1     40      10      0.2500\n"
        "   2     40      30      0.7500\n"
        "   3     40       0      0.0000\n"
        "\n"
        "read 40 lines, from 2023-11-14\n"
    )


def test_programs_get_all_tables(ireval, few):
    found = json.loads(ireval("clicks", few, "--model", "cascade", "--format", "json").out)
    table = csv.DictReader(io.StringIO(ireval("clicks", few, "--policy", "last-click", "--format", "csv").out))

    assert [*found] == ["format", "log", "ranks", "left_out", "models", "grades", "notes"]
    assert found["log"][0]["searches"] == 40
    assert found["ranks"][1] == {"rank": 2, "shown": 40, "clicks": 30, "click_rate": 0.75}
    assert found["left_out"] == [
        {"reason": "documents that users examined fewer than 10 times for a query", "number": 1, "first": ""}
    ]
    assert [each["model"] for each in found["models"]] == ["position", "cascade", "sdbn", "dbn"]
    assert [(each["table"], each["policy"]) for each in table][-1] == ("preferences", "last-click")


def test_clicks_that_deviate_most_from_the_expected_ones_are_printed(ireval, write):
    log = "query\tdocuments\tclicks\tsession\n" + "".join(
        f"{query}\t{shown}\t{clicked if i < times else ''}\t{query}{i}-{clicked}\n"
        for query, shown, clicked, times in (("q1", "a b", "a", 8), ("q2", "d e", "d", 2), ("q2", "d e", "e", 6))
        for i in range(10)
    )
    by_rank = json.loads(ireval("clicks", write("log.tsv", log), "--deviations", "3", "--format", "json").out)
    by_model = ireval("clicks", "log.tsv", "--model", "position", "--min-impressions", "1", "--deviations", "1").out

    deviating = {row["document"]: row for row in by_rank["deviations"]}
    assert list(deviating) == ["a", "d", "b"]
    assert deviating["d"] == {
        "query": "q2",
        "document": "d",
        "shown": 20,
        "clicks": 2,
        "expected": pytest.approx(20 * 10 / 30),
        "deviation": pytest.approx((2 - 20 * 10 / 30) / 20),
    }
    assert "Clicks that deviate most from those expected by the model position" in by_model
    assert "deviations" not in json.loads(ireval("clicks", "log.tsv", "--format", "json").out)


def test_estimates_of_a_model_are_grades_and_the_best_are_first(ireval, few):
    said = ireval("clicks", few, "--model", "cascade", "--prior", "0", "--thresholds", "0.2,0.7", "--to", "new.tsv").out

    assert rows("new.tsv") == [
        {
            "query": "red mug",
            "document": document,
            "grade": grade,
            "estimate": estimate,
            "impressions": "40",
            "examined": examined,
            "clicks": clicks,
        }
        for document, grade, estimate, examined, clicks in (("b", "2", "1", "30", "30"), ("a", "1", "0.25", "40", "10"))
    ]
    assert said.endswith("grades begin at 0.2,0.7; --thresholds keeps them\nwrote new.tsv: 2 judgments of 1 query\n")


def test_a_prior_and_the_least_number_of_impressions_hold_back_what_few_users_saw(ireval, few):
    ireval("clicks", few, "--model", "cascade", "--prior", "10", "--to", "prior.tsv")
    ireval("clicks", few, "--model", "cascade", "--min-impressions", "31", "--to", "least.tsv")

    assert [each["estimate"] for each in rows("prior.tsv")] == ["0.75", "0.2"]
    assert [each["document"] for each in rows("least.tsv")] == ["a"]


@pytest.mark.parametrize(
    ("policy", "pairs"),
    [
        ("skip-above", [("b", "a", 30.0)]),
        ("skip-above-and-skip-next", [("b", "a", 20.0), ("b", "c", 30.0)]),
        ("last-click", [("b", "a", 30.0)]),
    ],
)
def test_preferences_have_their_support_as_weight(ireval, few, policy, pairs):
    said = ireval("clicks", few, "--policy", policy, "--to", "pairs.tsv").out

    found = read_preferences("pairs.tsv")
    assert [*found] == ["red mug"]
    assert [(*pair, pair.weight) for pair in found["red mug"]] == pairs
    assert f"wrote pairs.tsv: {len(pairs)} preference{'s' * (len(pairs) > 1)} of 1 query\n" in said


def test_preferences_with_too_little_support_or_impressions_are_left_out_and_counted(ireval, few):
    for options, reason in (
        (["--min-support", "31"], "preferences with the support of fewer than 31 searches"),
        (["--min-impressions", "41"], "preferences about documents with fewer than 41 impressions"),
    ):
        found = json.loads(ireval("clicks", few, "--policy", "skip-above", *options, "--format", "json").out)
        assert found["left_out"] == [{"reason": reason, "number": 1, "first": ""}]
        assert found["notes"][-1] == "no preferences"


def test_queries_of_a_file_are_found_by_text_or_id_and_others_are_counted(ireval, write):
    write("log.tsv", FEW + "s\tq2\ta b\ta\t\nt\ttea pot\ta b\ta\t\n")
    write("queries.tsv", "id\ttext\nq1\tRED mug\nq2\tcup\n")
    found = json.loads(ireval("clicks", "log.tsv", "--queries", "queries.tsv", "--format", "json").out)

    assert (found["log"][0]["searches"], found["log"][0]["queries"]) == (41, 2)
    assert found["left_out"] == [
        {"reason": "searches of queries that are not in queries.tsv", "number": 1, "first": ""}
    ]


def test_queries_may_be_written_with_their_searches(ireval, few):
    ireval("clicks", few, "--policy", "skip-above", "--queries-to", "queries.tsv")

    queries = read_queries("queries.tsv")
    assert (queries.ids, queries.text, queries.columns) == (("red mug",), ("red mug",), {"searches": ("40",)})


def test_the_click_rates_are_drawn(ireval, few):
    assert ireval("clicks", few, "--svg", "rates.svg").out.endswith("wrote rates.svg\n")

    drawn = Path("rates.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert "From 25.0% at rank 1 to 0.0% at rank 3." in drawn


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--model", "sdbn", "--policy", "skip-above"], "--model makes judgments, --policy preferences"),
        (["--to", "new.tsv"], "--to and --queries-to need --model or --policy"),
        (["--policy", "skip-abov"], "unknown policy 'skip-abov'\n  did you mean 'skip-above'?"),
        (["--model", "sdbn", "--thresholds", "0.3,0.1"], "'0.3,0.1' is not a list of ascending numbers above 0"),
        (
            ["--model", "sdbn", "--min-impressions", "41", "--to", "new.tsv"],
            "there are no judgments to write\n  left out",
        ),
        (
            ["--model", "sdbn", "--queries", "few.tsv", "--queries-to", "q.tsv"],
            "--queries-to writes the queries of the log: it has no effect with --queries",
        ),
        (["--policy", "skip-above", "--to", "new.txt"], "unknown format\n  endings: .tsv, .csv, .jsonl"),
        (["--model", "sdbn", "--to", "nowhere/new.tsv"], "there is no folder for nowhere/new.tsv"),
    ],
)
def test_options_that_cannot_be_followed_are_an_error_and_nothing_is_written(ireval, few, tmp_path, options, said):
    found = ireval("clicks", few, *options)

    assert (found.code, found.out) == (2, "")
    assert said in found.err
    assert [each.name for each in tmp_path.iterdir()] == ["few.tsv"]
    assert (tmp_path / few).read_text(encoding="utf-8") == FEW


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--to", "new.tsv", "--queries-to", "./new.tsv"], "--queries-to ./new.tsv is the same file as --to new.tsv"),
        (
            ["--to", "new.tsv", "--queries-to", "link/new.tsv"],
            "--queries-to link/new.tsv is the same file as --to new.tsv",
        ),
        (["--queries", "q.tsv", "--to", "q.tsv", "--force"], "--to q.tsv is the same file as the input q.tsv"),
    ],
)
def test_no_file_is_written_twice_or_over_one_that_is_read(ireval, few, write, tmp_path, options, said):
    write("q.tsv", "not even read")
    (tmp_path / "link").symlink_to(tmp_path)
    found = ireval("clicks", few, "--policy", "last-click", *options)

    assert (found.code, found.out) == (2, "")
    assert said in found.err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["few.tsv", "link", "q.tsv"]
    assert (tmp_path / few).read_text(encoding="utf-8") == FEW


def test_other_files_are_overwritten_only_with_force(ireval, few, write):
    options = ["--policy", "skip-above", "--to", write("old.tsv", "old")]

    assert "would overwrite old.tsv\n  --force overwrites" in ireval("clicks", few, *options).err
    assert ireval("clicks", few, *options, "--force").code == 0
    assert [each["better"] for each in rows("old.tsv")] == ["b"]


@pytest.mark.parametrize("prior", ["0"])
def test_models_take_their_means_for_documents_that_only_held_out_searches_have(ireval, write, prior):
    lines = "".join(f"s{i}\tmug\ta x{i}\t{'a' if i % 3 else f'x{i}'}\t\n" for i in range(60))
    options = ["--model", "position", "--prior", prior, "--format", "json"]
    found = json.loads(ireval("clicks", write("log.tsv", HEAD + lines), *options).out)

    (number,) = (int(note.split()[0]) for note in found["notes"] if "each model takes its mean" in note)
    assert number > 1
    assert all(1 < each["perplexity"] < 5 for each in found["models"])


def test_two_queries_with_the_same_text_are_an_error(ireval, write):
    write("few.tsv", FEW)
    write("queries.tsv", "id\ttext\nq1\tmug\nq2\tMug\n")

    assert "queries 'q1' and 'q2' have the same text, so a search could be of both" in (
        ireval("clicks", "few.tsv", "--queries", "queries.tsv").err
    )


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (HEAD, [], "read 0 lines"),
        (HEAD, ["--svg", "x.svg"], "nothing to draw: x.svg not written"),
        (HEAD + "s\tmug\ta b\ta\t\n", ["--model", "dbn"], "models are not compared: too few searches to hold some out"),
        (HEAD + "s\tgröße 茶\tä b\tä\t\n", ["--model", "sdbn", "--min-impressions", "1"], "read 1 line"),
    ],
)
def test_the_smallest_logs_are_described(ireval, write, text, options, said):
    found = ireval("clicks", write("log.tsv", text), *options)

    assert found.code == 0
    assert said in found.out


def test_a_policy_of_a_conftest_is_used_by_name(ireval, write, few, tmp_path):
    write(
        "conftest.py",
        "from pytest_ireval import hookimpl\nfrom pytest_ireval_judgments.click_policies import click_policy\n"
        "@click_policy(name='next')\n"
        "def following(search):\n"
        "    '''The first click is better than the document below.'''\n"
        "    return [(rank, rank + 1) for rank in search.clicks[:1] if rank < len(search.documents)]\n"
        "@hookimpl\n"
        "def ireval_click_policies():\n"
        "    return [following]\n",
    )
    assert ireval("clicks", few, "--policy", "next", "--suites", tmp_path, "--to", "pairs.tsv").code == 0
    assert rows("pairs.tsv") == [
        {"query": "red mug", "better": "a", "worse": "b", "support": "10"},
        {"query": "red mug", "better": "b", "worse": "c", "support": "30"},
    ]


@pytest.mark.parametrize(("ranking", "verdict"), [("b a c", "pass"), ("a c b", "fail")])
def test_a_suite_gates_on_judgments_and_preferences_from_clicks(ireval, write, ranking, verdict):
    write("few.tsv", FEW)
    write("queries.tsv", "id\ttext\nq1\tred mug\n")
    made = ["--queries", "queries.tsv", "--to"]
    ireval("clicks", "few.tsv", "--model", "sdbn", *made, "judgments.txt")
    ireval("clicks", "few.tsv", "--policy", "skip-above-and-skip-next", *made, "preferences.tsv")
    write_rankings(Path("rankings.txt"), {"q1": ranking.split()})
    rules = "threshold: {nDCG@3: '>= 0.9'}", "threshold: {TauPref(weighted=true): '>= 0.9'}"
    suite = write_suite(Path(), *rules, judgments="{file: judgments.txt, preferences: preferences.tsv}")

    assert [outcome.verdict for outcome in run_gate(load_suite(suite)).outcomes[1:]] == [verdict] * 2


def test_sessions_are_those_of_the_whole_log_so_queries_have_no_number_of_them(ireval, few, write):
    write("queries.tsv", "id\ttext\nq1\tred mug\nq2\tblue mug\n")

    found = json.loads(ireval("clicks", few, "--queries", "queries.tsv", "--format", "json").out)

    assert (found["log"][0]["searches"], found["log"][0]["sessions"]) == (40, None)
    assert "1 query of queries.tsv not in the log: q2" in found["notes"]


def test_a_better_model_is_named(ireval):
    found = json.loads(ireval("clicks", LOG, "--model", "cascade", "--format", "json").out)
    best = json.loads(ireval("clicks", LOG, "--model", "dbn", "--format", "json").out)

    assert min(found["models"], key=lambda row: row["perplexity"])["model"] == "dbn"
    assert "dbn predicts clicks better than cascade here" in found["notes"]
    assert not any("predicts clicks better" in note for note in best["notes"])


def test_ids_without_spaces_between_them_are_named(ireval, write):
    write("log.tsv", HEAD + "s1\tred mug\ta,b,c\tb\t1\n")

    assert "ids have spaces between them" in ireval("clicks", "log.tsv").err
