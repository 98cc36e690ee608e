"""The components of a suite: patches of its source by paths, and what is wrong with them."""

import pytest
from suite_files import write_queries, write_suite

from pytest_ireval import SuiteError, load_suite, load_suites

CHURN = "churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 10%}"
SOURCE = (
    "{opensearch: 'http://localhost:9/products', params: {preference: x}, query: {bool: {should: "
    "[{match: {title: '{text}'}}, {match: {title.en: {query: '{text}', boost: 2}}}]}}}"
)


@pytest.fixture
def load(tmp_path):
    write_queries(tmp_path / "queries.tsv", ["q1"])

    def write_and_load(components, load=load_suite, **keys):
        keys = {"source": SOURCE, "judgments": None, "queries": "queries.tsv", "components": components, **keys}
        return load(write_suite(tmp_path, CHURN, **keys), shown="shop.yaml")

    return write_and_load


def read_patched(suite):
    """The query of the source without each component."""
    return {component.name: component.source.options.query for component in suite.components}


def test_a_path_leads_through_lists_and_through_names_with_dots(load):
    suite = load("{en: {set: {query.bool.should.1.match.title.en.boost: 3, query.bool.should.0.match.title: x}}}")
    changed = {"match": {"title.en": {"query": "{text}", "boost": 3}}}

    assert read_patched(suite) == {"en": {"bool": {"should": [{"match": {"title": "x"}}, changed]}}}
    assert suite.source.options.query["bool"]["should"][0] == {"match": {"title": "{text}"}}
    assert suite.components[0].new_keys == ()


def test_null_removes_a_key_or_an_entry_of_a_list_and_quoted_it_is_a_text(load):
    suite = load(
        "{entry: {set: {query.bool.should.1: null}}, key: {set: {query.bool.should: null}}, "
        "text: {set: {query.bool.should: 'null'}}}"
    )

    assert read_patched(suite) == {
        "entry": {"bool": {"should": [{"match": {"title": "{text}"}}]}},
        "key": {"bool": {}},
        "text": {"bool": {"should": "null"}},
    }


def test_the_last_key_of_a_path_may_be_new_and_is_remembered(load):
    (component,) = load("{one: {set: {query.bool.minimum_should_match: 1}}}").components

    assert component.source.options.query["bool"]["minimum_should_match"] == 1
    assert component.new_keys == ("query.bool.minimum_should_match",)


def test_values_have_variables_and_placeholders_of_the_request_also_in_a_matrix(load, monkeypatch):
    monkeypatch.setenv("WORD", "blue")
    patch = "{other: {set: {query.bool.should.0.match: {brand: '{text} ${WORD}'}}}}"
    (suite,) = load(patch, load_suites, matrix="{locale: [de]}", suite="shop")

    assert read_patched(suite)["other"]["bool"]["should"][0] == {"match": {"brand": "{text} blue"}}


def test_all_mistakes_of_patches_are_said_at_once_at_their_lines(load):
    with pytest.raises(SuiteError) as raised:
        load(
            "\n  typo: {set: {query.bool.shuold.0: x}}"
            "\n  similar: {set: {query.bool.shoulds: x}}"
            "\n  entry: {set: {query.bool.should.2: x}}"
            "\n  text: {set: {params.preference.b: 3}}"
            "\n  remove: {set: {params.routing: null}}"
            "\n  option: {set: {concurrency: many}}"
            "\n  both: {set: {body: {}}}"
        )

    assert str(raised.value) == (
        "shop.yaml:6:16: components > typo > set > query.bool.shuold.0\n"
        "  the source has no query.bool.shuold.0\n"
        "  did you mean 'query.bool.should.0'?\n"
        "  query.bool has should\n"
        "shop.yaml:7:19: components > similar > set > query.bool.shoulds\n"
        "  the source has no query.bool.shoulds\n"
        "  did you mean 'query.bool.should'?\n"
        "  query.bool has should\n"
        "shop.yaml:8:17: components > entry > set > query.bool.should.2\n"
        "  the source has no query.bool.should.2\n"
        "  did you mean 'query.bool.should.0'?\n"
        "  query.bool.should is a list with the indexes 0 to 1\n"
        "shop.yaml:9:16: components > text > set > params.preference.b\n"
        "  the source has no params.preference.b\n"
        "  did you mean 'params.preference'?\n"
        "  params.preference is 'x', with nothing below it\n"
        "shop.yaml:10:18: components > remove > set > params.routing\n"
        "  the source has no params.routing\n"
        "  params has preference\n"
        "shop.yaml:11:31: components > option > source > concurrency\n"
        "  'many' is not a valid whole number: write one such as 10\n"
        "shop.yaml:12:3: components > both > source\n"
        "  query and body given to search with\n"
        "  give one of query, body, template"
    )


def test_a_patch_that_is_none_and_a_wrong_name_of_a_variable_are_mistakes(load):
    with pytest.raises(SuiteError) as raised:
        load("\n  none: {}\n  name: {env: {'A B': 1}}\n  key: {sett: {a: 1}}")

    assert str(raised.value) == (
        "shop.yaml:6:3: components > none\n"
        "  switches nothing off\n"
        "  write set: {PATH: VALUE}, or env: {NAME: VALUE}\n"
        "shop.yaml:7:3: components > name\n"
        "  env: 'A B' is not a name of an environment variable\n"
        "shop.yaml:8:9: components > key\n"
        "  unknown key 'sett'\n"
        "  did you mean 'set'?\n"
        "  allowed: set, env"
    )


def test_what_is_allowed_is_said_where_a_source_has_no_request(load):
    with pytest.raises(SuiteError) as raised:
        load("{synonyms: {set: {query.analyzer: plain}}}", source="{python: 'shop:search'}")

    assert "  the source has no query.analyzer\n  the source has python" in str(raised.value)
