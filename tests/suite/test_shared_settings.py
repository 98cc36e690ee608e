"""Suites share settings with extends, differ with a matrix, and read variables of the environment."""

import pytest
from toy_kinds import BEGINNING

from pytest_ireval import load_suites

COMMON = """\
# shared
owner: "@search-team"
depth: 50
judgments: {file: ../judgments.txt, lock: true}
rules:
  - threshold: {AP: ">= 0.5"}
"""


def test_a_suite_takes_what_it_does_not_say_itself(suites, shop, tmp_path):
    shop("common/all.yaml", COMMON)
    (suite,) = suites(BEGINNING + "extends: common/all.yaml\ndepth: 20\n")

    assert (suite.owner, suite.depth) == ("@search-team", 20)
    assert suite.judgments.file.path == tmp_path / "judgments.txt"
    assert suite.judgments.file.place.file == "common/all.yaml"
    assert suite.rules[0].place.file == "common/all.yaml"
    assert suite.files == (tmp_path / "shop.yaml", tmp_path / "common" / "all.yaml")


def test_the_column_of_clusters_is_inherited_with_its_place(suites, shop):
    shop("queries.tsv", "id\ttext\tintent\n")
    shop("common/all.yaml", COMMON + "queries: ../queries.tsv\ncluster: intent\n")
    (suite,) = suites(BEGINNING + "extends: common/all.yaml\n")

    assert (suite.cluster, suite.cluster_place.file) == ("intent", "common/all.yaml")
    assert set(suite.columns()) == {"intent"}


def test_the_last_file_wins_and_the_suite_itself_over_all(suites, shop):
    shop("one.yaml", "owner: one\ndepth: 7\njudgments: {file: judgments.txt, lock: true}\n")
    shop("two.yaml", "owner: two\n")
    (suite,) = suites(BEGINNING + "extends: [one.yaml, two.yaml]\njudgments: judgments.txt\n")

    assert (suite.owner, suite.depth, suite.judgments.lock) == ("two", 7, False)


def test_rules_are_added_to_inherited_ones_and_those_of_a_file_extended_twice_count_once(suites, shop):
    shop("common/all.yaml", COMMON)
    shop("one.yaml", "extends: common/all.yaml\nrules: [{new_document: {at_most: 1}}]\n")
    shop("two.yaml", "extends: common/all.yaml\nrules: [{new_document: {at_most: 2}}]\n")
    (suite,) = suites(BEGINNING + "extends: [one.yaml, two.yaml]\nrules: [{threshold: {P@5: '>= 0.3'}}]\n")

    assert [rule.place.file for rule in suite.rules] == ["common/all.yaml", "one.yaml", "two.yaml", "shop.yaml"]
    assert [str(metric) for metric in suite.metrics] == ["AP", "P@5"]


def test_mistakes_point_into_the_file_that_has_them_each_once(mistakes, shop):
    shop("common/all.yaml", COMMON.replace("AP:", "APP:").replace("depth: 50", "dept: 50\nowner: x"))

    says = mistakes(
        BEGINNING
        + "extends: [common/all.yaml]\nrules: [{new_document: {at_most: x}}]\nowner: '{l}'\nmatrix: {l: [a, b]}\n"
    )

    places = [line for line in says.splitlines() if not line.startswith("  ")]
    assert places == [
        "shop.yaml:5:34: rules > 1 > new_document > at_most",
        "common/all.yaml:3:1",
        "common/all.yaml:4:1",
        "common/all.yaml:7:17: rules > 1 > threshold > APP",
    ]


@pytest.mark.parametrize(
    ("extends", "says"),
    [
        ("shop.yaml", "shop.yaml:4:10: extends\n  shop.yaml extends this file: shop.yaml > shop.yaml"),
        ("loop.yaml", "loop.yaml:1:10: extends\n  shop.yaml extends this file: shop.yaml > loop.yaml > shop.yaml"),
        ("list.yaml", "list.yaml\n  is not a mapping: a suite begins with a line 'ireval: 1'"),
    ],
)
def test_files_that_cannot_be_extended(mistakes, shop, extends, says):
    shop("loop.yaml", "extends: shop.yaml\n")
    shop("list.yaml", "- a\n")

    assert mistakes(BEGINNING + f"extends: {extends}\n") == says


def test_twenty_levels_are_enough(mistakes, shop):
    for level in range(25):
        shop(f"level{level}.yaml", f"extends: level{level + 1}.yaml\n")

    assert mistakes(BEGINNING + "extends: level0.yaml\n") == (
        "level19.yaml:1:10: extends\n  files extend each other through more than 20 levels"
    )


def test_a_matrix_makes_a_suite_for_each_value(suites, shop, tmp_path):
    for locale in ("de", "fr"):
        shop(f"judgments.{locale}.txt", "")
    text = BEGINNING + "judgments: 'judgments.{locale}.txt'\nowner: '{locale} team'\nmatrix: {locale: [de, fr]}\n"
    german, french = suites(text + "rules: [{new_document: {at_most: 1, name: 'churn {locale}'}}]\n")

    assert (german.name, german.owner, german.values) == ("shop.de", "de team", {"locale": "de"})
    assert german.judgments.file.path == tmp_path / "judgments.de.txt"
    assert (french.name, french.rules[0].options.name) == ("shop.fr", "churn fr")


def test_a_matrix_of_two_names_makes_all_combinations(suites):
    text = BEGINNING + "owner: '{locale} {device}'\nmatrix: {locale: [de, fr], device: [phone, desk]}\n"

    assert [suite.name for suite in suites(text)] == ["shop.de.phone", "shop.de.desk", "shop.fr.phone", "shop.fr.desk"]
    named = suites(text.replace("suite: shop", "suite: '{locale}-shop'"))  # what the name has is not added to it
    assert [suite.name for suite in named] == ["de-shop.phone", "de-shop.desk", "fr-shop.phone", "fr-shop.desk"]


def test_braces_are_text_without_a_matrix_and_where_they_are_doubled(suites):
    (plain,) = suites(BEGINNING + "owner: '{locale}'\n")
    (first, _) = suites(BEGINNING + "owner: '{{locale}} {locale} $${X}'\nmatrix: {locale: [de, fr]}\n")

    assert (plain.owner, first.owner) == ("{locale}", "{locale} de ${X}")


def test_a_source_may_have_placeholders_of_its_own(suites):
    text = "ireval: 1\nsuite: shop\nsource: {command: 'x {query} {locale}'}\nmatrix: {locale: [de]}\n"
    (suite,) = suites(text)

    assert suite.source.options.command == ("x {query} de",)


def test_names_that_the_matrix_does_not_have_are_mistakes(mistakes):
    assert mistakes(BEGINNING + "owner: '{local} {x}'\nmatrix: {locale: [de, fr]}\n") == (
        "shop.yaml:4:8: owner\n  '{local}' is not a name of the matrix\n  did you mean {locale}?\n"
        "  of the matrix: {locale}\n"
        "shop.yaml:4:8: owner\n  '{x}' is not a name of the matrix\n  {{x}} is the literal text\n"
        "  of the matrix: {locale}"
    )


def test_a_matrix_makes_no_crowd(mistakes):
    numbers = ", ".join(map(str, range(40)))

    assert mistakes(BEGINNING + f"matrix: {{a: [{numbers}], b: [{numbers}]}}\n") == (
        "shop.yaml:4:1: matrix\n  this matrix makes 1,600 suites; the limit is 1,000"
    )


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("${TEAM}", "search"),
        ("the ${TEAM} team", "the search team"),
        ("${NOBODY:-me}", "me"),
        ("${EMPTY:-me}", "me"),
        ("${EMPTY}", ""),
        ("${NOBODY:-}", ""),
        ("$${TEAM}", "${TEAM}"),
        ("$TEAM costs 5$", "$TEAM costs 5$"),
        ("$$", "$"),
    ],
)
def test_variables_of_the_environment_are_read(suites, text, owner):
    (suite,) = suites(BEGINNING + f"owner: '{text}'\n", environment={"TEAM": "search", "EMPTY": ""})

    assert suite.owner == owner


def test_variables_are_read_in_lists_rules_and_files_that_are_extended(suites, shop):
    shop("common.yaml", "rules: [{new_document: {at_most: '${LIMIT}'}}]\n")
    (suite,) = suites(
        BEGINNING + "extends: '${BASE}.yaml'\ntags: [a, 'b${LIMIT}']\n", environment={"LIMIT": "3", "BASE": "common"}
    )

    assert (suite.rules[0].options.at_most.count, suite.tags) == (3, ("a", "b3"))


def test_keys_hold_no_variables(mistakes):
    assert mistakes(BEGINNING + "${TEAM}: x\n", environment={"TEAM": "owner"}).startswith(
        "shop.yaml:4:1\n  unknown key '${TEAM}'"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "${TAEM}",
            "the environment variable TAEM is not set\n  did you mean TEAM?\n"
            "  ${TAEM:-default} sets a default; $${TAEM} is the literal text",
        ),
        ("${TEAM", "is not a variable\n  write ${NAME} or ${NAME:-default}; $$ is a $"),
        ("${}", "is not a variable\n  write ${NAME} or ${NAME:-default}; $$ is a $"),
    ],
)
def test_a_variable_that_is_not_set_is_a_mistake(mistakes, text, says):
    assert (
        mistakes(BEGINNING + f"owner: '{text}'\n", environment={"TEAM": "search"}) == f"shop.yaml:4:8: owner\n  {says}"
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("depth: ${NO}\n", "shop.yaml:4:8: depth"),
        ("extends: ${NO}.yaml\n", "shop.yaml:4:10: extends"),
        ("rules: ${NO}\n", "shop.yaml:4:8: rules"),
        (
            "owner: [a]\nrules:\n  - new_document: {at_most: '${NO}'}\n",
            "shop.yaml:6:29: rules > 1 > new_document > at_most",
        ),
        (
            "judgments: judgments.txt\nrules:\n  - no_regression: {metric: AP, tolerance: {absolute: '${NO}'}}\n",
            "shop.yaml:6:55: rules > 1 > no_regression > tolerance > absolute",
        ),
    ],
)
def test_of_a_variable_that_is_not_set_only_the_cause_is_said_once(mistakes, text, place):
    assert mistakes(BEGINNING + text, environment={}) == (
        f"{place}\n"
        "  the environment variable NO is not set\n"
        "  ${NO:-default} sets a default; $${NO} is the literal text"
    )


def test_the_environment_of_the_process_is_read(shop, registry, monkeypatch):
    monkeypatch.setenv("IREVAL_TEAM", "search")

    assert load_suites(shop("shop.yaml", BEGINNING + "owner: ${IREVAL_TEAM}\n"), registry)[0].owner == "search"


def test_files_that_extend_the_same_ones_again_and_again_are_read_once(suites, shop, monkeypatch):
    """Sixteen levels, each of which extends the next one twice: 65,536 ways lead to the last."""
    from pytest_ireval.suite import inheriting

    read = []
    real = inheriting.read_tree
    monkeypatch.setattr(inheriting, "read_tree", lambda path, file: read.append(path) or real(path, file))
    for level in range(16):
        below = f"extends: [{level + 1}a.yaml, {level + 1}b.yaml]\n" if level < 15 else "depth: 7\n"
        for twin in "ab":
            shop(f"{level}{twin}.yaml", below)

    (suite,) = suites(BEGINNING + "extends: [0a.yaml, 0b.yaml]\n")

    assert suite.depth == 7
    assert len(read) == 33
