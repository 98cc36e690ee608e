"""Annotations: lines that GitHub shows at the rules, and no line that anybody else could make it obey."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from runs import FAILED, PASSED, RUN, SHOP, UNFINISHED, WARNED, make_suite_of_red_rules

from pytest_ireval.pytest_plugin.code_host import format_annotations, remove_commands
from pytest_ireval.report.markdown_text import SourceLinks

LINKS = SourceLinks("", "search")
COMMAND = re.compile(r"::(error|warning) ((?:file=[^,:\r\n]*,)?(?:line=\d+,)?title=[^,:\r\n]*)::([^\r\n]*)")


def of(*outcomes, **changes):
    return replace(RUN, suites=(replace(SHOP, outcomes=outcomes, **changes),))


def test_errors_come_first():
    broken = replace(FAILED, verdict="error", id="no_regression::x", line=20)

    kinds = [line.partition(",line=")[2][:2] for line in format_annotations(of(WARNED, FAILED, broken), LINKS)]

    assert kinds == ["20", "17", "24"]


def test_broken_inputs_are_one_error():
    outcomes = tuple(replace(each, verdict="error") for each in (PASSED, FAILED))

    assert len(format_annotations(of(*outcomes, verdict="error", error="no judgments"), LINKS)) == 1


def test_a_suite_that_nobody_looked_at_is_an_error():
    run = of(verdict="error", error="the run ended before this suite was evaluated")

    assert format_annotations(run, LINKS) == [
        "::error file=search/suites/product-search.ireval.yaml,line=1,title=product-search::"
        "the run ended before this suite was evaluated"
    ]


def test_a_suite_that_could_not_be_read_is_marked_where_it_is_wrong():
    run = replace(UNFINISHED, problems=("suites/x.ireval.yaml:14:17: rules > 2\n  unknown metric 'ndgc@10'", "other"))

    assert format_annotations(run, LINKS) == [
        "::error file=search/suites/x.ireval.yaml,line=14,title=pytest-ireval::"
        "suites/x.ireval.yaml:14:17: rules > 2%0A  unknown metric 'ndgc@10'",
        "::error title=pytest-ireval::other",
    ]


def test_there_are_ten_and_the_last_counts_the_others():
    lines = format_annotations(replace(RUN, suites=(make_suite_of_red_rules(200),)), LINKS)

    assert len(lines) == 10
    assert lines[9].endswith("%0A… and 190 other findings: the summary and the log have all of them.")
    assert sum("other finding" in line for line in lines) == 1
    assert "other finding" not in format_annotations(replace(RUN, suites=(make_suite_of_red_rules(10),)), LINKS)[9]


def test_failures_may_be_left_to_another_plugin():
    broken = replace(FAILED, verdict="error", line=20)

    lines = format_annotations(of(FAILED, broken, WARNED), LINKS, failures=False)

    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning"]


def test_a_file_outside_of_the_repository_is_not_named():
    assert format_annotations(of(replace(FAILED, file="/tmp/x.yaml")), LINKS)[0].startswith("::error title=")


texts = st.text(st.sampled_from(":%,#[]\r\n\t \x1b\u2028\u202e=as"), max_size=40)


@given(texts, texts, texts)
def test_no_text_is_a_command_or_ends_one(headline, name, file):
    run = of(replace(FAILED, headline=headline or "x", sentence=name, file=file, id=name), name=headline)

    (line,) = format_annotations(run, LINKS)

    assert COMMAND.fullmatch(line)
    assert "##[" not in line
    assert "\x1b" not in line
    data = COMMAND.fullmatch(line)[3]
    assert not re.search(r"%(?!25|0A)", data)


def test_texts_without_commands_stay_as_they_are():
    text = "x.yaml::threshold::nDCG_10: a :: b\n  # [x] ##"

    assert remove_commands(text) == text
    assert remove_commands("  ::set-output name=a::b ##[error]c") == "  : :set-output name=a::b ## [error]c"
    blanks = "\n\r \n" * 500_000  # each is looked at once, or this would take hours
    assert remove_commands(f"{blanks} ::error::a") == f"{blanks} : :error::a"
