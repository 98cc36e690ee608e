"""What to judge first: in the failure, in the results and in a file whose grades come back."""

import pytest

TABLE = "ireval-report/to_judge.tsv"


@pytest.fixture
def unjudged_shop(shop):
    """A baseline, then two of ten queries whose first document nobody has judged."""
    shop.accept()
    for query in ("q01", "q09"):
        shop.rankings[query].insert(0, f"{query}-new")
    shop.write()
    return shop


@pytest.fixture
def listed_shop(unjudged_shop):
    """The same after a run; what that wrote is the same for every test."""
    unjudged_shop.once("documents to judge", unjudged_shop.run)
    return unjudged_shop


def rows(shop):
    lines = (shop.path / TABLE).read_text().splitlines()
    header, *cells = (line.split("\t") for line in lines)
    return [dict(zip(header, row, strict=True)) for row in cells]


def test_the_table_says_what_to_judge_and_what_it_would_move(unjudged_shop):
    result = unjudged_shop.run()

    assert result.ret == 1
    first, second = rows(unjudged_shop)
    assert first == {
        "suite": "shop",
        "query": "q01",
        "document": "q01-new",
        "text": "words 1",
        "title": "",
        "metric": "nDCG@10",
        "effect": first["effect"],
        "rank_now": "1",
        "rank_baseline": "",
        "grades": "0-3",
        "grade": "",
    }
    assert float(first["effect"]) == pytest.approx((1 - 4.7619 / 6.3235) - (3.3235 / 4.7619 - 1), abs=1e-4)
    assert second["document"] == "q09-new"
    result.stdout.fnmatch_lines(
        [
            "*grades for 2 unjudged documents could change red or inconclusive checks: ireval judge --last*",
            "written: ireval-report/to_judge.tsv",
        ]
    )
    assert (
        "grades for 2 unjudged documents could change" in (unjudged_shop.path / "ireval-report/summary.md").read_text()
    )

    unjudged_shop.run("-k", "no_regression and all").stdout.fnmatch_lines(
        ["*2 unjudged documents count as irrelevant, and good grades would help: judge them first*"]
    )
    unjudged_shop.run("-k", "segment-tail")
    assert [row["query"] for row in rows(unjudged_shop)] == ["q09"]  # only queries of the slice


def test_the_table_says_which_grades_the_suite_has(unjudged_shop):
    scale = "{0: no, 1: partly, 2: good, 4: best}"
    unjudged_shop.change(("judgments: judgments.txt", f"judgments: {{file: judgments.txt, scale: {scale}}}"))
    unjudged_shop.run()

    assert {row["grades"] for row in rows(unjudged_shop)} == {"0=no,1=partly,2=good,4=best"}


def test_a_run_that_passes_lists_nothing_and_takes_the_old_table_away(listed_shop):
    for ids in listed_shop.rankings.values():
        ids[:] = [each for each in ids if not each.endswith("-new")]
    listed_shop.write()

    assert listed_shop.run().ret == 0
    assert not (listed_shop.path / TABLE).exists()
    assert listed_shop.results()["suites"][0].get("to_judge", []) == []


def test_grades_come_back_and_decide(listed_shop, ireval):
    shop = listed_shop
    table = shop.path / TABLE
    table.write_text(
        "".join(f"{line}{'' if i == 0 else '3'}\n" for i, line in enumerate(table.read_text().splitlines()))
    )

    ireval("import", str(shop.path / "judgments.txt"), str(table), "--to", str(shop.path / "judged"))
    shop.change(("judgments: judgments.txt", "judgments: judged/judgments.tsv"))

    assert shop.gate().verdict == "pass"


def test_grades_that_were_filled_in_outlive_the_next_run(listed_shop):
    shop = listed_shop
    for kept in ("judged.tsv", "judged2.tsv"):
        table = shop.path / TABLE
        filled = table.read_text().rstrip("\n") + "2\n"
        table.write_text(filled)
        result = shop.run()

        result.stdout.fnmatch_lines([f"kept: ireval-report/{kept}, the grades from to_judge.tsv"])
        assert (shop.path / "ireval-report" / kept).read_text() == filled
        assert {row["grade"] for row in rows(shop)} == {""}


@pytest.mark.parametrize("saved", ["\ufeffsuite;query;document;grade\n", "suite,query,document,grade\nshop,q1,d1,2\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_table_that_a_spreadsheet_saved_in_its_own_way_is_kept(listed_shop, saved, encoding):
    (listed_shop.path / TABLE).write_text(saved, encoding=encoding)

    listed_shop.run()

    assert (listed_shop.path / "ireval-report/judged.tsv").read_text(encoding=encoding) == saved


def test_a_table_without_grades_is_replaced_in_silence(listed_shop):
    assert "kept:" not in listed_shop.run().stdout.str()
    assert not (listed_shop.path / "ireval-report/judged.tsv").exists()


@pytest.mark.parametrize(
    ("changes", "listed"),
    [
        ((("tolerance: 5%", "tolerance: 50%"), ("head: 10%, default: 5%", "head: 50%, default: 50%")), False),
        ((("tolerance: 5%}\n", "tolerance: 5%, on_fail: warn}\n"), ("5%}}", "5%}, on_fail: warn}")), True),
    ],
    ids=["harmless", "a warning"],
)
def test_what_only_warns_is_listed_and_what_is_within_its_tolerance_is_not(unjudged_shop, changes, listed):
    unjudged_shop.change(*changes)

    assert unjudged_shop.run().ret == 0
    assert (unjudged_shop.path / TABLE).exists() == listed
