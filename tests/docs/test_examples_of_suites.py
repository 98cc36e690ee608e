"""The examples of the reference of suites load."""

import importlib.util
import re
from pathlib import Path

import pytest

from pytest_ireval import load_suites
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.suite.suite_keys import DocumentsKeys, JudgmentsKeys, QueriesKeys, SuiteKeys, WaiverKeys

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="needs a checkout of the project")

FILES = (
    *("runs/candidate.trec", "runs/de.trec", "runs/fr.trec", "data/de.qrels", "data/fr.qrels", "candidate.trec"),
    *(
        "data/queries.tsv",
        "data/qrels.txt",
        "data/ids.tsv",
        "data/variants.tsv",
        "data/products.jsonl",
        "data/pairs.tsv",
        "shop.trec",
        "shop.qrels",
    ),
)
ALL = {
    "ireval": "1",
    "suite": "shop",
    "source": "{run: candidate.trec}",
    "queries": "data/queries.tsv",
    "judgments": "data/qrels.txt",
}


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("suites_page", ROOT / "docs" / "suites_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Loads a suite, with every file that examples name at hand."""
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "merchandising.csv").write_text("query,document\nq001,q001-d0\n")

    def loaded(text, name="example.yaml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return load_suites(tmp_path / name)

    return loaded


def format_keys(keys):
    return "".join(f"{key}: {value}\n" for key, value in keys.items())


@pytest.mark.parametrize("kind", [*installed_registry().rules, *installed_registry().sources])
def test_every_kind_has_an_example_that_loads(generator, load, kind):
    example = generator.EXAMPLES[kind]
    keys = dict(ALL)
    if kind in installed_registry().rules:
        text = format_keys(keys) + "rules:\n" + "".join(f"  {line}\n" for line in example.splitlines())
        assert {rule.kind.name for rule in load(text)[0].rules} == {kind}
    else:
        del keys["source"]
        assert load(format_keys(keys) + example)[0].source.kind.name == kind


@pytest.mark.parametrize("key", [key for key in SuiteKeys.model_fields if key != "extends"])
def test_the_example_of_a_key_loads(load, key):
    (example,) = SuiteKeys.model_fields[key].examples

    used = {"matrix": {"owner": '"{locale}"'}}.get(key, {})  # a name that no text has would be a mistake
    assert load(format_keys({**ALL, key: example, **used}))


PARTS = [
    (key, part, field)
    for key, model in (("queries", QueriesKeys), ("judgments", JudgmentsKeys), ("documents", DocumentsKeys))
    for part, field in model.model_fields.items()
    if field.examples
]


@pytest.mark.parametrize(("key", "part", "field"), PARTS, ids=lambda each: str(each)[:20])
def test_the_example_of_a_part_of_a_key_loads(load, key, part, field):
    file = {} if key == "documents" else {"file": ALL[key]}
    inner = ", ".join(f"{name}: {value}" for name, value in {**file, part: field.examples[0]}.items())

    assert load(format_keys({**ALL, key: f"{{{inner}}}"}))


def test_the_example_of_a_waiver_loads(load):
    inner = ", ".join(f"{name}: {field.examples[0]}" for name, field in WaiverKeys.model_fields.items())

    assert load(format_keys({**ALL, "waive": f"[{{{inner}}}]"}))[0].waivers[0].query == "q017"


def blocks():
    text = (ROOT / "docs" / "suites.md").read_text(encoding="utf-8") if (ROOT / "docs").is_dir() else ""
    return re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", [block for block in blocks() if "ireval: 1" in block], ids=lambda text: text[:30])
def test_suites_on_the_page_load(load, tmp_path, text):
    for other in blocks():
        if other.startswith("# _common.yaml"):
            (tmp_path / "_common.yaml").write_text(other)

    assert load(text)
