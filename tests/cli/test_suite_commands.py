"""``ireval init``, ``check`` and ``schema``: suites without running them."""

import json
import subprocess
import sys

import jsonschema
import pytest
import yaml
from live_server import Server
from suite_files import write_judgments, write_queries, write_rankings

from pytest_ireval import load_suite, run_gate

QUERIES = [f"q{n}" for n in range(1, 9)]
JUDGMENTS = {f"q{n}": {f"d{n}": 2, f"e{n}": 1} for n in range(1, 9)}
RANKINGS = {f"q{n}": [f"d{n}" if n % 3 else f"x{n}", f"e{n}", f"y{n}"] for n in range(1, 9)}
SUITE = "ireval: 1\nsuite: shop\nsource: {run: rankings.txt}\njudgments: judgments.txt\nmetrics: [AP]\n"
RULES = "rules: [{threshold: {P@2: '> 0.1'}}]\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "my shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    write_judgments(folder / "judgments.txt", JUDGMENTS)
    write_rankings(folder / "rankings.txt", RANKINGS)
    write_queries(folder / "queries.tsv", QUERIES, segment=["head"] * 4 + ["tail"] * 4)
    return folder


def test_a_suite_is_written_for_judgments_and_rankings(ireval, folder):
    printed = ireval("init", "--judgments", "judgments.txt", "--rankings", "rankings.txt", "--name", "shop")

    assert printed.out == (
        "wrote suites/shop.ireval.yaml\n\n"
        "next:\n"
        "  pytest --ireval suites --ireval-update-new     accepts these rankings as the baseline\n"
        "  pytest --ireval suites     compares with it from then on\n"
        "  ireval check --schema -o .ireval/suite.schema.json     lets editors complete and check suites\n"
    )
    assert (folder / "suites" / "shop.ireval.yaml").read_text() == (
        """\
# yaml-language-server: $schema=../.ireval/suite.schema.json
# (that file is for editors; it is written by: ireval check --schema -o .ireval/suite.schema.json)
ireval: 1
suite: shop
# owner: "@your-team"     who is responsible for a failure

# The candidate rankings: a file, a Python function, a command, or a running engine.
source: {run: ../rankings.txt}
depth: 20     # how many documents of each ranking count
judgments: ../judgments.txt
metrics: [nDCG@10, RR@10, R@20, Judged@10]

rules:
  # Floors, 28% below the current figures of these rankings: nDCG@10 0.8100, Judged@10 0.5833.
  - threshold: {nDCG@10: ">= 0.58", Judged@10: ">= 0.42"}

  # A mean that falls by more than its tolerance is a warning. It fails if chance is ruled out, or beyond
  # the hard limit. Few queries get wide limits: their means move far by chance.
  # Of 100 changes that harm nothing, at most 7 turned such a suite red, and at most 33 warned.
  # 8 queries are few: about 300 would show a drop of 2%.
  - no_regression: {metric: nDCG@10, tolerance: 14%, hard_limit: 28%}
  - no_regression: {metric: RR@10, tolerance: 9%, hard_limit: 25%}

  # A mean can hide single queries that break. Beyond at_most it fails if chance is ruled out.
  - worsened: {metric: nDCG@10, by_more_than: 0.3, at_most: 10%}

  # Limit how many queries get a very different list; this needs no judgments. Look at the first changes,
  # set at_most to what is usual here, and remove on_fail: until then the rule only warns.
  - churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 10%, on_fail: warn}

  # Queries that must not break, whatever the means say. These documents have the top grade and rank first now;
  # replace them with those that you care about.
  - expect:
      - {query: q1, document: d1, top: 5}
      - {query: q2, document: d2, top: 5}
      - {query: q4, document: d4, top: 5}
"""
    )


def test_columns_of_queries_become_slices(ireval, folder):
    ireval("init", "--judgments", "judgments.txt", "--rankings", "rankings.txt", "--queries", "queries.tsv")

    suite = load_suite(folder / "suites" / "my-shop.ireval.yaml")
    (sliced,) = [rule.options for rule in suite.rules if rule.options.per]
    assert suite.queries.file.path == folder / "queries.tsv"
    assert (sliced.per, list(sliced.tolerance.by_value)) == ("segment", ["head", "tail"])
    assert "# The same for each segment: a better slice must not hide a worse one." in suite.path.read_text()


@pytest.mark.parametrize(
    ("name", "values", "weight"),
    [
        ("searches", "52", "searches"),
        ("Daily clicks", ["3", "0.5"], "Daily clicks"),
        ("search_volume", ["1e3", "x"], ""),
        ("count", ["-1", "1"], ""),
        ("discount", "52", ""),
    ],
)
def test_a_column_that_looks_like_traffic_becomes_the_weight_and_no_slices(ireval, folder, name, values, weight):
    texts, cells = [f"text {n}" for n in range(1, 9)], [values[n % 2] for n in range(1, 9)]
    write_queries(folder / "queries.tsv", QUERIES, text=texts, **{name: cells})
    ireval("init", "--judgments", "judgments.txt", "--rankings", "rankings.txt", "--queries", "queries.tsv")

    suite = load_suite(folder / "suites" / "my-shop.ireval.yaml")
    assert suite.weight == weight
    assert not weight or not [rule for rule in suite.rules if rule.options.per]
    assert ireval("check", "suites").code == 0


def test_without_judgments_churn_and_expectations_come_first(ireval, folder):
    ireval("init", "--queries", "queries.tsv", "--rankings", "rankings.txt", "-o", "shop.yaml", "--name", "shop")

    suite = load_suite(folder / "shop.yaml")
    assert [rule.kind.name for rule in suite.rules] == ["churn", "expect"]
    assert suite.judgments is None


def test_odd_ids_and_names_of_formats_survive(ireval, folder):
    (folder / "odd.json").write_text(json.dumps({"007": ["no", "x"], "a: b": ["${X}"], "q#": ['"']}))
    (folder / "queries.json").write_text(json.dumps({"007": "a", "a: b": "b", "q#": "c"}))
    ireval(
        *("init", "--queries", "queries.json", "--rankings", "odd.json", "-o", "odd.yaml"),
        *("--rankings-format", "json", "--queries-format", "json"),
    )

    suite = load_suite(folder / "odd.yaml", environment={})
    expected = [(part.item.query, part.item.document) for part in suite.rules[-1].parts]
    assert expected == [("007", "no"), ("a: b", "${X}"), ("q#", '"')]
    assert (suite.queries.format, suite.source.options.format) == ("json", "json")
    assert yaml.safe_load((folder / "odd.yaml").read_text())["rules"][1]["expect"][0]["query"] == "007"


def test_nothing_is_overwritten(ireval, folder):
    (folder / "shop.yaml").write_text("mine")
    printed = ireval("init", "--judgments", "judgments.txt", "--rankings", "rankings.txt", "-o", "shop.yaml")

    assert (printed.code, printed.err) == (
        2,
        "error: shop.yaml\n  already exists, and is not overwritten\n  choose another file with -o\n",
    )
    assert (folder / "shop.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["--queries", "queries.tsv", "--name", "a b"],
            "--name a b: a suite name may contain A to Z, a to z, digits, _ . and -",
        ),
        (["--queries", "queries.tsv", "-o", "a.txt"], "a.txt: the name of a suite file ends in .yaml or .yml"),
    ],
)
def test_init_says_what_it_cannot_do(ireval, folder, arguments, says):
    printed = ireval("init", "--rankings", "rankings.txt", *arguments)

    assert (printed.code, printed.err.splitlines()[-1]) == (2, f"Error: {says}")


def test_check_has_a_line_for_each_suite(ireval, folder):
    (folder / "suites").mkdir()
    text = SUITE.replace(" rankings", " ../rankings").replace(" judgments.txt", " ../judgments.txt")
    (folder / "suites" / "shop.ireval.yaml").write_text(text + RULES)
    matrix = "owner: '{locale}'\nmatrix: {locale: [de, fr]}\n"
    (folder / "suites" / "locales.yaml").write_text(text.replace("shop", "other") + matrix + RULES)
    (folder / "suites" / "_common.yaml").write_text("ireval: 1\n")

    printed = ireval("check", "suites")

    assert printed == (
        0,
        "suites/locales.yaml: other.de: 2 metrics, 1 rule\n"
        "suites/locales.yaml: other.fr: 2 metrics, 1 rule\n"
        "suites/shop.ireval.yaml: shop: 2 metrics, 1 rule\n",
        "",
    )


def test_check_prints_all_mistakes_of_all_suites(ireval, folder):
    (folder / "a.yaml").write_text(SUITE + RULES)
    (folder / "b.yaml").write_text(SUITE + "depth: 0\nties: x\n")
    (folder / "c.yaml").write_text(SUITE + RULES)
    (folder / "d.yaml").write_text("judgments: judgments.txt\nmetrics: [AP]\n")

    printed = ireval("check", ".")

    assert printed == (
        1,
        "a.yaml: shop: 2 metrics, 1 rule\n"
        "c.yaml: shop: 2 metrics, 1 rule\n"
        "b.yaml:6:8: depth\n"
        "  0 is out of range: write 1 or more\n"
        "b.yaml:7:7: ties\n"
        "  'x' is unknown\n"
        "  allowed: trec, input\n"
        "c.yaml:1:1\n"
        "  duplicate suite name 'shop': a.yaml has it, too\n"
        "d.yaml\n"
        "  is not a suite\n"
        "  add the line 'ireval: 1', or rename it to _d.yaml if it is only for other files to extend\n"
        "4 mistakes\n",
        "",
    )


def test_check_holds_all_that_a_suite_names_against_its_queries(ireval, folder):
    (folder / "shop.yaml").write_text(
        SUITE
        + """\
queries: queries.tsv
weight: segmnt
rules:
  - no_regression: {metric: AP, per: segment, tolerance: {head: 1%}}
  - expect:
      - {query: q1, document: d1}
      - {query: q11, document: d1}
waive:
  - {query: query 1, until: 2099-01-01, reason: x}
"""
    )

    assert ireval("check", "shop.yaml") == (
        1,
        "shop.yaml:7:9\n"
        "  queries.tsv has no column 'segmnt'\n"
        "  did you mean 'segment'?\n"
        "  columns: segment\n"
        "shop.yaml:12:9\n"
        "  query 'q11' is not in queries.tsv\n"
        "  did you mean 'q1'?\n"
        "  add it there, or remove the expectation\n"
        "shop.yaml:14:5\n"
        "  query 'query 1' is not in queries.tsv\n"
        "  add it there, or remove the waiver\n"
        "shop.yaml:9:5\n"
        "  no tolerance is given for segment=tail\n"
        "  name one for each value, or one for all others: tolerance: {…, default: 3%}\n"
        "4 mistakes\n",
        "",
    )


def test_a_schema_is_printed_or_written(ireval, folder):
    printed = ireval("check", "--schema").out
    written = ireval("check", "--schema", "-o", ".ireval/suite.schema.json")

    assert written.out == "wrote .ireval/suite.schema.json\n"
    assert (folder / ".ireval" / "suite.schema.json").read_text(encoding="utf-8") == printed
    jsonschema.Draft202012Validator(json.loads(printed)).validate(yaml.safe_load(SUITE))


def test_a_schema_replaces_a_schema_and_no_other_file(ireval, folder):
    assert ireval("check", "--schema", "-o", "schema.json").code == 0
    assert ireval("check", "--schema", "-o", "schema.json").out == "wrote schema.json\n"

    (folder / "shop.yaml").write_text(SUITE + RULES)
    printed = ireval("check", "--schema", "-o", "shop.yaml")

    said = "shop.yaml\n  is not a schema of suites, and is not overwritten\n  choose another file with -o\n"
    assert (printed.code, printed.out, printed.err) == (2, "", f"error: {said}")
    assert (folder / "shop.yaml").read_text() == SUITE + RULES


SEARCH = """\
def search(text, *, query_id):
    number = query_id[1:]
    return [f"d{number}", f"e{number}", f"y{number}"]
"""
PRINTS = """\
for number in range(1, 9):
    for rank, letter in enumerate("dey"):
        print(f"q{number} Q0 {letter}{number} {rank} {9 - rank} x")
"""


def test_a_suite_is_written_for_a_python_function_which_is_asked(ireval, folder):
    (folder / "search_judged.py").write_text(SEARCH)

    asked = ("init", "--python", "search_judged:search", "--queries", "queries.tsv", "--judgments", "judgments.txt")
    assert ireval(*asked).code == 0

    suite = load_suite(folder / "suites" / "my-shop.ireval.yaml")
    assert suite.source.options.python == "search_judged:search"
    text = (folder / "suites" / "my-shop.ireval.yaml").read_text()
    assert "- {query: q1, document: d1, top: 5}" in text
    assert "current figures of these rankings: nDCG@10 1.0000" in text
    assert ireval("check", "suites").code == 0


def test_a_suite_is_written_for_a_command_which_is_run_here(ireval, folder):
    (folder / "ranks.py").write_text(PRINTS)

    command = f"{sys.executable} ranks.py"
    assert ireval("init", "--command", command, "--queries", "queries.tsv", "-o", "a/b.yaml").code == 0

    options = load_suite(folder / "a" / "b.yaml").source.options
    assert options.command == (sys.executable, "ranks.py")
    assert options.folder == folder


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--queries", "queries.tsv"), "give one of --rankings, --python, --command and --engine"),
        (("--python", "a:b", "--judgments", "judgments.txt"), "--python, --command and --engine need --queries"),
        (("--python", "nothing:search", "--queries", "queries.tsv"), "module 'nothing' not found"),
    ],
)
def test_a_source_that_cannot_be_asked_writes_nothing(ireval, folder, arguments, says):
    printed = ireval("init", *arguments)

    assert printed.code == 2
    assert says in printed.err
    assert not (folder / "suites").exists()


def test_in_a_terminal_it_asks(ireval, folder, monkeypatch):
    answers = iter(["search_asked:search", "judgments.txt", "queries.tsv"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    (folder / "search_asked.py").write_text(SEARCH)

    assert ireval("init").code == 0
    assert load_suite(folder / "suites" / "my-shop.ireval.yaml").judgments is not None


def test_what_the_first_run_will_say_is_said_already(ireval, folder):
    subprocess.run(["git", "init", "-q", "."], check=True)
    write_judgments(folder.parent / "far.txt", {**JUDGMENTS, "q99": {"d": 1}})

    printed = ireval("init", "--rankings", "rankings.txt", "--judgments", "../far.txt", "-o", "shop.yaml")

    assert f"far.txt is not in the repository {folder}: other machines will not have it" in printed.err
    assert (
        "# 1 query without a ranking (q99): an error of the first run, unless\n# missing_queries: zero\n"
        in (folder / "shop.yaml").read_text()
    )


MAPPING = {"mappings": {"properties": {"title": {"type": "text"}, "te$t": {"type": "text"}, "price": {}}}}
HITS = [{"_id": "m1", "_score": 2.5, "_source": {"title": "Red mug"}}]
OPENSEARCH = {
    "/": {"version": {"lucene_version": "9.12", "distribution": "opensearch"}},
    "/_alias": {"products-2": {"aliases": {"products": {}}}, "logs": {"aliases": {}}, ".own": {"aliases": {}}},
    "/nothing*/_mapping": {},
    "/products/_mapping": {"products-2": MAPPING},
    "/products/_search": {"hits": {"hits": HITS}, "timed_out": False},
}
SOLR = {
    "/solr/admin/cores": {"status": {"products": {}, "logs": {}}},
    "/solr/products/schema/fields": {
        "fields": [
            {"name": "id", "type": "string"},
            {"name": "title", "type": "english"},
            {"name": "_t_", "type": "english"},
        ]
    },
    "/solr/products/schema/fieldtypes": {
        "fieldTypes": [{"name": "string", "class": "solr.StrField"}, {"name": "english", "class": "solr.TextField"}]
    },
    "/solr/products/select": {"response": {"docs": [{"id": "m1", "score": 2.5, "title": "Red mug"}]}},
}
NO_ADDRESS = "--engine\n  is not an address of http or https\n  write https://host:port/index\n"
NOT_FOUND = 404, {"error": "no such index"}, {}


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """An OpenSearch and a Solr at one address, and a folder with queries."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ENGINE_URL", raising=False)
    (tmp_path / "queries.tsv").write_text("id\ttext\nq1\tred mug\nq2\tpan\n", encoding="utf-8")
    server = Server()
    server.respond = lambda request: (OPENSEARCH | SOLR).get(request.path, NOT_FOUND)
    yield server
    server.close()


def init_from(ireval, address):
    return ireval("init", "--engine", address, "--queries", "queries.tsv", "--name", "shop")


def test_init_from_the_address_of_an_index(engine, tmp_path, ireval):
    assert init_from(ireval, f"{engine.url}/products").code == 0

    path = tmp_path / "suites/shop.ireval.yaml"
    suite = load_suite(path)
    assert suite.source.options.query == {"multi_match": {"query": "{text}", "fields": ["title", "te$t"]}}
    assert run_gate(suite).verdict == "pass"
    text = path.read_text(encoding="utf-8")
    assert "{query: q1, document: m1, top: 5}" in text
    assert text[text.index("source:") : text.index("depth:")] == (
        "source:\n"
        "  # The variable ENGINE_URL, where it is set, names another engine, such as that of a job of CI.\n"
        f'  opensearch: "${{ENGINE_URL:-{engine.url}}}/products"\n'
        "  query:\n"
        "    multi_match:\n"
        "      query: '{text}'\n"
        "      fields: [title, te$$t]\n"
        "  fields: [title]\n"
    )


def test_init_from_the_address_of_a_collection_of_solr(engine, tmp_path, ireval):
    assert init_from(ireval, f"{engine.url}/solr/products/").code == 0

    text = (tmp_path / "suites/shop.ireval.yaml").read_text(encoding="utf-8")
    assert f'  solr: "${{ENGINE_URL:-{engine.url}/solr}}/products"\n  body:\n    params: {{qf: title}}\n' in text


def test_a_collection_of_solr_without_text_is_asked_with_its_own_defaults(engine, tmp_path, ireval):
    fields = {"/solr/products/schema/fields": {"fields": [{"name": "id", "type": "string"}]}}
    engine.respond = lambda request: (SOLR | fields)[request.path]

    assert init_from(ireval, f"{engine.url}/solr/products").code == 0
    assert load_suite(tmp_path / "suites/shop.ireval.yaml").source.options.fields == ()


def test_init_asks_the_address_that_is_given_whatever_the_variable_says(engine, tmp_path, ireval, monkeypatch):
    monkeypatch.setenv("ENGINE_URL", "http://127.0.0.1:9")

    assert init_from(ireval, f"{engine.url}/products").code == 0
    assert load_suite(tmp_path / "suites/shop.ireval.yaml").source.options.opensearch == "http://127.0.0.1:9/products"


def test_a_login_is_used_to_ask_and_stays_out_of_the_suite(engine, tmp_path, ireval):
    printed = init_from(ireval, f"{engine.url.replace('://', '://ann:a-password@')}/products")

    assert engine.requests[-1].headers["authorization"] == "Basic YW5uOmEtcGFzc3dvcmQ="
    assert "set ENGINE_URL to the address of the engine" in printed.out
    assert "a-password" not in printed.out + (tmp_path / "suites/shop.ireval.yaml").read_text(encoding="utf-8")


def init_with_header(ireval, engine, header):
    address = f"{engine.url}/products"
    return ireval("init", "--engine", address, "--header", header, "--queries", "queries.tsv", "--name", "shop")


@pytest.fixture
def closed_engine(engine):
    """The engine, which answers with a key alone."""
    answer, closed = engine.respond, (401, {"error": {"reason": "missing authentication credentials"}}, {})
    keys = ("ApiKey the-key-of-the-shop", "Bearer the-key-of-the-shop")
    engine.respond = lambda request: answer(request) if request.headers.get("authorization") in keys else closed
    return engine


@pytest.mark.parametrize("kind", ["ApiKey", "Bearer"])
def test_a_key_is_the_value_of_a_variable_which_the_suite_names(closed_engine, tmp_path, ireval, monkeypatch, kind):
    monkeypatch.setenv("SHOP_KEY", "the-key-of-the-shop")

    printed = init_with_header(ireval, closed_engine, f"Authorization: {kind} ${{SHOP_KEY}}")

    assert printed.code == 0
    path = tmp_path / "suites/shop.ireval.yaml"
    text = path.read_text(encoding="utf-8")
    assert f"  headers: {{Authorization: '{kind} ${{SHOP_KEY}}'}}\n" in text
    assert "the-key" not in printed.out + printed.err + text
    assert run_gate(load_suite(path)).verdict == "pass"


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("Authorization: ApiKey ${SHOP_KEY}", "the environment variable SHOP_KEY is not set"),
        ("Authorization: ApiKey the-key-of-the-shop", "names no variable: the suite would have the key itself"),
        ("Authorization", "write it as 'NAME: VALUE'"),
        ("X-Shop: de", "it says: missing authentication credentials\n"),
        ("X-Shop: de", "--header 'Authorization: ApiKey ${API_KEY}'"),
    ],
)
def test_a_header_that_gives_no_key(closed_engine, ireval, monkeypatch, header, said):
    monkeypatch.delenv("SHOP_KEY", raising=False)

    printed = init_with_header(ireval, closed_engine, header)

    assert printed.code == 2
    assert said in printed.err
    assert "the-key" not in printed.err


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("{}", "{}\n  names no index\n  write {}/logs\n  indexes there: logs, products, products-2\n"),
        (
            "{}/nothing*",
            "{}/nothing*\n  names no index\n  write {}/logs\n  indexes there: logs, products, products-2\n",
        ),
        ("{}/solr/", "{}/solr\n  names no index\n  write {}/solr/logs\n  indexes there: logs, products\n"),
        ("{}/mugs", "{}/mugs/_mapping\n  status 404\n  write https://host:port/index\n  it says: no such index\n"),
        (
            "{}/products?api_key=a-secret",
            "{}/products\n  the parameters of this address would be written into the suite, and may be secret\n"
            "  leave out all from the ?, and add params: to the source\n",
        ),
        ("127.0.0.1/products?api_key=a-secret", NO_ADDRESS),
        ("ann:a-secret@127.0.0.1/products", NO_ADDRESS),
        ("http://ann:a-secret@127.0.0.1:port/products", NO_ADDRESS),
    ],
)
def test_init_from_an_address_that_is_no_index(engine, tmp_path, ireval, address, said):
    printed = init_from(ireval, address.format(engine.url))

    assert (printed.code, printed.out, printed.err) == (2, "", f"error: {said.format(*3 * [engine.url])}")
    assert not (tmp_path / "suites").exists()


def test_init_from_an_address_that_is_no_engine(engine, tmp_path, ireval):
    engine.respond = lambda _: {"hello": "world"}

    assert "is neither Elasticsearch, OpenSearch nor Solr" in init_from(ireval, f"{engine.url}/products").err
    engine.respond = lambda _: ["hello"]
    assert "this is not the answer of a search engine" in init_from(ireval, f"{engine.url}/products").err
    assert not (tmp_path / "suites").exists()
