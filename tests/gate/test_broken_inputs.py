"""Inputs that cannot be right are ERROR with file and line, never a low score and never a pass."""

import pytest

from pytest_ireval import SuiteError


def read_first_error(result):
    """The text below the first error's head line."""
    lines = result.stdout.str().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("_") and "ERROR at setup" in line)
    return lines[start + 1 :]


def test_a_judged_query_without_a_ranking_is_an_error_whose_text_stands_once(accepted_shop):
    del accepted_shop.rankings["q04"]
    accepted_shop.write()

    result = accepted_shop.run()

    text = result.stdout.str()
    assert read_first_error(result)[0] == (
        "shop.ireval.yaml:5:10: run: rankings.txt ranks 9 of 10 judged queries; without a ranking: 'q04'"
    )
    result.assert_outcomes(errors=7)
    assert accepted_shop.results()["verdict"] == "error"
    assert text.count("\n  missing_queries: zero in the suite") == 1
    assert "\n  7 checks of this suite could not be made\n" in text
    assert text.count("ERROR at setup") == 1
    assert "Traceback" not in text

    text = accepted_shop.run("-v").stdout.str()
    assert text.count("\n  missing_queries: zero in the suite") == 1
    assert text.count("the full error is at shop.ireval.yaml::inputs") == 6


def find_errors(shop):
    """The lines of the error that is the verdict of every check."""
    result = shop.gate()
    assert {outcome.verdict for outcome in result.outcomes} == {"error"}
    return result.error.splitlines()


def find_mistakes(shop):
    """What is said of a suite that makes no sense."""
    with pytest.raises(SuiteError) as error:
        shop.gate()
    return pytest.LineMatcher(str(error.value).splitlines())


@pytest.mark.parametrize(
    ("file", "line", "place"),
    [
        ("rankings.txt", "q11 Q0 d1 1 0.5", "rankings.txt:41: has 5 columns"),
        ("rankings.txt", "q04 Q0 q04-d0 5 1 x", "rankings.txt:41: document 'q04-d0' is ranked twice"),
        ("judgments.txt", "q01 0 q01-d9 2.5", "judgments.txt:41: grade 2.5 is not a whole number"),
    ],
    ids=["five columns", "a document listed twice", "a fractional grade"],
)
def test_a_line_that_cannot_be_right(accepted_shop, file, line, place):
    path = accepted_shop.path / file
    path.write_text(path.read_text() + line + "\n")

    assert find_errors(accepted_shop)[0].startswith(place)


def test_four_mistakes_are_told_at_once_and_other_suites_still_run(accepted_shop):
    (accepted_shop.path / "other.ireval.yaml").write_text(
        accepted_shop.suite.replace("suite: shop", "suite: other")
        .replace("metrics: [nDCG@10, P@3]", "metrics: [nDGC@10, P@3]")
        .replace("depth: 10", "depht: 10")
        .replace("tolerance: 5%}\n", "tolerance: 5}\n")
        .replace("at_most: 2", "at_most: two")
    )

    result = accepted_shop.run("--continue-on-collection-errors")

    text = result.stdout.str()
    for told in (
        "other.ireval.yaml:6:1\n  unknown key 'depht'",
        "other.ireval.yaml:10:11: metrics > 1",
        "other.ireval.yaml:13:70: rules > 2 > no_regression > tolerance",
        "other.ireval.yaml:15:82: rules > 4 > worsened > at_most",
        "did you mean 'depth'?",
        "did you mean 'nDCG@10'?",
    ):
        assert told in text, text
    result.assert_outcomes(errors=1, passed=7)
    assert accepted_shop.results()["verdict"] == "error"


def test_a_suite_that_cannot_be_collected_leaves_no_green_results(accepted_shop):
    accepted_shop.run_before()
    assert accepted_shop.results()["verdict"] == "pass"
    (accepted_shop.path / "shop.ireval.yaml").write_text("ireval: 1\nsuite: [\n")

    result = accepted_shop.run()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert accepted_shop.results()["verdict"] == "error"
    assert "shop.ireval.yaml" in accepted_shop.results()["problems"][0]


def test_two_suites_of_one_name_are_an_error_that_names_both(accepted_shop):
    (accepted_shop.path / "twin.ireval.yaml").write_text(accepted_shop.suite)

    result = accepted_shop.run()

    result.stdout.fnmatch_lines(["twin.ireval.yaml:1:1: another suite is called 'shop': shop.ireval.yaml:1:1*"])
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_of_many_values_without_a_tolerance_five_are_named_and_the_others_counted(accepted_shop):
    accepted_shop.change(("{head: 10%, default: 5%}", "{head: 10%}"))
    path = accepted_shop.path / "queries.tsv"
    head, *rows = path.read_text().splitlines()
    rows = [row.replace("\thead\t", f"\tp{n}\t").replace("\ttail\t", "\thead\t") for n, row in enumerate(rows)]
    path.write_text("\n".join([head, *rows]) + "\n")

    find_mistakes(accepted_shop).fnmatch_lines(["  no tolerance is given for segment=p0, p1, p2, p3, p4 and 1 more"])


def test_what_a_suite_names_is_held_against_queries_that_are_read_anyway(accepted_shop):
    accepted_shop.change(("weight: searches", "weight: serches"), ("{head: 10%, default: 5%}", "{head: 10%}"))

    result = accepted_shop.run()

    result.stdout.fnmatch_lines(
        [
            "shop.ireval.yaml:8:9",
            "  queries.tsv has no column 'serches'",
            "  did you mean 'searches'?",
            "  columns: segment, searches",
            "shop.ireval.yaml:14:5",
            "  no tolerance is given for segment=tail",
            "  name one for each value, or one for all others: tolerance: {*, default: 3%}",
        ]
    )
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_a_suite_without_rules_is_no_gate(accepted_shop):
    accepted_shop.suite = accepted_shop.suite.partition("rules:")[0]
    accepted_shop.write()

    find_mistakes(accepted_shop).fnmatch_lines(["shop.ireval.yaml:1:1", "  has no rules, so it can never fail"])


def test_a_rule_that_raises_is_an_error_that_names_it(accepted_shop):
    accepted_shop.path.joinpath("conftest.py").write_text(
        """
from pytest_ireval import hookimpl, rule
from pytest_ireval.options import RuleOptions

@rule(name="odd", options=RuleOptions)
def odd(options, context):
    '''Raises.'''
    return 1 / 0

@hookimpl
def ireval_rules():
    return [odd]
"""
    )
    accepted_shop.change(("rules:\n", "rules:\n  - odd: {name: one}\n"))

    result = accepted_shop.run()

    result.stdout.fnmatch_lines(
        ["shop.ireval.yaml:12: rule odd of *conftest.py raised ZeroDivisionError: division by zero"]
    )
    assert accepted_shop.verdicts()["odd::one"] == "error"


def test_a_judged_query_that_the_file_of_queries_lacks(accepted_shop):
    path = accepted_shop.path / "queries.tsv"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith(("q03", "q07"))))

    assert find_errors(accepted_shop)[:2] == [
        "judgments.txt: 2 of 10 judged queries are not in queries.tsv: 'q03', 'q07'",
        "  add them there, or remove their judgments: queries outside the file belong to no slice",
    ]


def test_a_weight_that_is_no_number_from_0_on(accepted_shop):
    path = accepted_shop.path / "queries.tsv"
    text = path.read_text().replace("\t100\n", "\tnan\n", 1).replace("\t100\n", "\tfew\n")
    path.write_text(text.replace("\t2\n", "\t-1\n"))

    first, chosen, *others = find_errors(accepted_shop)

    assert first == "queries.tsv:2: searches is 'nan'; a weight is 0 or more"
    assert chosen == "  weight: searches in shop.ireval.yaml chooses this column"
    assert [line.partition(";")[0] for line in others[:5]] == [
        *(f"queries.tsv:{n}: searches is 'few'" for n in range(3, 7)),
        "… and 5 more",
    ]


@pytest.mark.parametrize(("weight", "is_wrong"), [("1e308", True), ("1e-308", True), ("1e15", False), ("0", False)])
def test_a_weight_whose_square_is_no_number(accepted_shop, weight, is_wrong):
    path = accepted_shop.path / "queries.tsv"
    path.write_text(path.read_text().replace("\t100\n", f"\t{weight}\n", 1))
    said = f"queries.tsv:2: searches is '{weight}'; a weight is 0, or from 1e-15 to 1e+15"

    assert (said in (accepted_shop.gate().error or "").splitlines()) == is_wrong


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (
            "rules:\n  - expect: [{query: q1, document: d, top: 3}]\n",
            ["shop.ireval.yaml:12:14", "  query 'q1' is not in queries.tsv", "  did you mean 'q01'?"],
        ),
        (
            "waive:\n  - {query: q99, until: 2026-12-20, reason: feed}\nrules:\n",
            ["shop.ireval.yaml:12:5", "  query 'q99' is not in queries.tsv", "  did you mean 'q09'?"],
        ),
    ],
)
def test_a_query_that_is_named_and_nowhere(accepted_shop, rule, told):
    accepted_shop.change(("rules:\n", rule))

    find_mistakes(accepted_shop).fnmatch_lines(told)
