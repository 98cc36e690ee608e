"""No file of a run, and nothing that it prints, shows a secret: in whatever way it was written."""

import base64
import gzip
import json
import re
import sys
import zipfile
import zlib
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pytest_ireval import masking as module
from pytest_ireval.masking import Masker, public_address, register_login, split_address

SECRET = 'hG7+k/9&"pw <ü> \\x'
WAYS = {
    "plain": str,
    "in an address": lambda value: f"https://me:{quote(value, safe='')}@host/index?token={quote_plus(value)}",
    "in a header": lambda value: "Basic " + base64.b64encode(f"me:{value}".encode()).decode(),
    "in another header": lambda value: "Bearer " + base64.urlsafe_b64encode(value.encode()).decode(),
    "in JSON": lambda value: json.dumps({"token": value}),
    "by its repr": repr,
}
PROGRAM = """\
import base64, json, os, sys
from urllib.parse import quote
token = sys.argv[-1]
login = base64.b64encode(("me:" + token).encode()).decode()
for text in (token, quote(token, safe=""), login, json.dumps(token), repr(token)):
    print("called with", text, file=sys.stderr)
if {fails}:
    sys.exit(3)
sys.stdout.write(open({rankings!r}).read())
"""
RAISES = """\
import base64, os
from urllib.parse import quote
def search(queries):
    token = os.environ["TOKEN"]
    print("asking with", token)
    raise RuntimeError(f"refused: {token!r} {quote(token)} {base64.b64encode(token.encode()).decode()}")
"""
PLUGIN = """\
from pytest_ireval import hookimpl, source
from pytest_ireval.options import SourceOptions, Text
class IndexOptions(SourceOptions):
    index: Text
    headers: dict[str, str] = {}
@source(name="index", options=IndexOptions)
def index(options, request):
    '''A service.'''
    raise ConnectionError(f"cannot reach {options.index} with {options.headers}")
@hookimpl
def ireval_sources():
    return [index]
"""
SECTION = """\
import os
from pytest_ireval import hookimpl, report_section
@report_section(name="costs", title="Costs", template="costs.html.jinja")
def costs(run):
    return {"said": os.environ["TOKEN"], "more": [os.environ["TOKEN"]]}
"""
GATE = "import os\n\ndef test_it():\n    print(os.environ['TOKEN'])\n    assert os.environ['TOKEN'] == 'another'\n"


def pieces(value):
    """What would give the value away: itself and each way of writing it, without what stands around it."""
    data = value.encode()
    shifted = [base64.b64encode(b"x" * k + data).decode()[k + 4 : -6] for k in range(3)]
    found = {value, quote(value), quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1], repr(value)[1:-1]}
    found |= {*shifted, *(each.translate(str.maketrans("+/", "-_")) for each in shifted)}
    return {each for each in found if len(each) >= 8}


def texts(folder):
    """Everything that a run wrote, unpacked, by file."""
    for path in sorted((folder / "ireval-report").iterdir()):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    data = archive.read(name)
                    yield f"{path.name}/{name}", (gzip.decompress(data) if name.endswith(".gz") else data).decode()
            continue
        text = path.read_text()
        yield path.name, text
        for packed in re.findall(r'(?:data-packed="|"documents": ?")([^"]+)"', text):
            yield f"{path.name}, packed", zlib.decompress(base64.b64decode(packed.strip())).decode()


def find_given_away(shop, monkeypatch, secret=SECRET):
    """Where a run shows the secret; and what it printed."""
    monkeypatch.setenv("TOKEN", secret)
    result = shop.run("--junit-xml=ireval-report/junit.xml", "-rA")
    printed = result.stdout.str() + result.stderr.str()
    written = dict(texts(shop.path))
    assert {"results.json", "index.html", "summary.md", "junit.xml"} <= {*written}
    found = {"terminal": printed, **written}
    joined = {name: re.sub(r"\n\s*", "", text) for name, text in found.items()}  # a terminal breaks lines
    given_away = [
        (name, piece)
        for piece in pieces(secret)
        for name in found
        if piece in found[name] or piece.replace(" ", "") in joined[name].replace(" ", "")
    ]
    return given_away, result


PASSWORD = 'tr0ub&4dor <"ü"> \\k/3+'
VAULT = """\
from pathlib import Path
from pydantic import Field
from pytest_ireval import Answer, hookimpl, rule, source, RuleResult
from pytest_ireval.options import RuleOptions, SecretText, SourceOptions, Text
class VaultOptions(SourceOptions):
    vault: Text
    password: SecretText = Field("", description="The password of the service.")
    headers: dict[str, SecretText] = {}
    token: SecretText = Field(default_factory=lambda: "made-by-code-9x")
@source(name="vault", options=VaultOptions)
def vault(options, request):
    '''A service with a password.'''
    print("login with", options.password)
    if "fail" in options.vault:
        raise ConnectionError(f"login as {options!r} with {options.password} {options.headers} refused")
    fields = {"title": f"{options.password} d0", "url": f"https://a:{options.password}@h/"}
    return Answer(request.folder / options.vault, fields={f"{query}-d0": fields for query in request.queries.ids})
class GuardOptions(RuleOptions):
    key: SecretText
@rule(name="guard", options=GuardOptions)
def guard(options, context):
    '''Asks a service.'''
    return RuleResult("pass", f"asked with {options.key}", sentence=f"{options.key}!", facts=(f"key {options.key}",))
@hookimpl
def ireval_sources():
    return [vault]
@hookimpl
def ireval_rules():
    return [guard]
"""


@pytest.mark.parametrize("arguments", [(), pytest.param(("-n2",), marks=pytest.mark.ci)], ids=["alone", "workers"])
def test_a_secret_option_of_a_plugin_is_in_no_file_and_in_no_text(shop, ireval, arguments):
    """The secret is written in the suite itself: no variable of the environment declares it."""
    (shop.path / "conftest.py").write_text(VAULT)
    quoted = "'" + PASSWORD.replace("'", "''") + "'"
    asks(shop, f"{{vault: FILE, password: {quoted}, headers: {{Key: {quoted}}}}}")
    shop.change(("rules:\n", f"rules:\n  - guard: {{key: {quoted}}}\n"))
    shop.suite = shop.suite.replace("FILE", "rankings.txt")
    suite = shop.suite
    printed = []
    for text in (suite, suite.replace("rankings.txt", "fail"), suite.replace("timeout", "x") + "nonsense: 1\n"):
        shop.suite = text
        shop.write()
        update = ("--ireval-update-new",) if text == suite else ()
        result = shop.run("--junit-xml=ireval-report/junit.xml", "-rA", "-vv", "--showlocals", *update, *arguments)
        found = [result.stdout.str() + result.stderr.str(), *(text for _, text in texts(shop.path))]
        found += [ireval("baseline", "log", "shop.ireval.yaml").out if text == suite else ""]
        found += [said for each in (("check",), ("plan",), ("history", "ireval-report")) for said in ireval(*each)[1:]]
        printed.append(found)
        made = [path for path in shop.path.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc", ".yaml")]
        assert [path for path in made for each in pieces(PASSWORD) if each.encode() in path.read_bytes()] == []
        joined = [re.sub(r"\n\s*", "", each) for each in found]  # a terminal breaks lines
        assert [(i, each) for i, text in enumerate(joined) for each in pieces(PASSWORD) if each in text] == []

        assert "made-by-code" not in "".join(found)

    assert "asked with ${password}" in " ".join(printed[0])
    assert "login with ${password}" in printed[0][0]
    described = '"source": "vault: rankings.txt, password: ${password}, headers: {Key: ${password}}"'
    assert any(described in each for each in printed[0])
    assert "raised ConnectionError: login as" in printed[1][0]


def test_a_secret_option_that_is_too_short_to_be_hidden_is_a_mistake_of_the_suite(shop):
    (shop.path / "conftest.py").write_text(VAULT)
    asks(shop, "{vault: rankings.txt, password: 'pa55'}")

    result = shop.run()

    assert result.ret != 0
    result.stdout.fnmatch_lines(["*source > password", "*this secret has fewer than 8 characters*"])
    result.stdout.no_fnmatch_line("*pa55*")


def asks(shop, source):
    shop.change(("{run: rankings.txt}", source))


@pytest.mark.ci
@pytest.mark.parametrize("fails", [False, True])
def test_an_argument_of_a_program_is_shown_as_it_is_written(shop, monkeypatch, fails):
    shop.accept()
    program = PROGRAM.replace("{fails}", str(fails)).replace("{rankings!r}", repr(str(shop.path / "rankings.txt")))
    (shop.path / "prog.py").write_text(program)
    asks(shop, f'{{command: [{sys.executable}, prog.py, --token, "${{TOKEN}}"]}}')

    given_away, result = find_given_away(shop, monkeypatch)

    assert given_away == []
    assert (result.ret == 0) != fails
    assert "--token ${TOKEN}" in (shop.path / "ireval-report/results.json").read_text().replace(", ", " ")
    if fails:
        assert "called with ${TOKEN}" in result.stdout.str()


@pytest.mark.parametrize("way", WAYS)
def test_whatever_way_it_is_written_it_is_hidden(way):
    secrets = Masker()
    secrets.register("TOKEN", SECRET)

    hidden = secrets.mask_text(f"before {WAYS[way](SECRET)} after")

    assert [piece for piece in pieces(SECRET) if piece in hidden] == []
    assert "${TOKEN}" in hidden
    assert (hidden[:7], hidden[-6:]) == ("before ", " after")


def test_a_declared_one_that_a_source_a_section_and_a_python_test_tell(shop, monkeypatch):
    shop.accept()
    (shop.path / "pytest.ini").write_text("[pytest]\nireval_secrets = TOKEN OTHER\n")
    (shop.path / "searching.py").write_text(RAISES)
    (shop.path / "conftest.py").write_text(SECTION + "@hookimpl\ndef ireval_report_sections():\n    return [costs]\n")
    (shop.path / "costs.html.jinja").write_text("<p>{{ data.said }}</p>\n")
    (shop.path / "test_it.py").write_text(GATE)
    asks(shop, "{python: 'searching:search'}")

    given_away, result = find_given_away(shop, monkeypatch)

    assert given_away == []
    assert result.ret != 0
    assert "refused: '${TOKEN}'" in result.stdout.str()
    assert shop.results()["sections"][0]["data"]["said"] == "${TOKEN}"


def test_one_in_the_address_or_a_header_of_a_source_of_a_plugin(shop, monkeypatch):
    shop.accept()
    (shop.path / "conftest.py").write_text(PLUGIN)
    asks(shop, '{index: "https://me:${TOKEN}@host/", headers: {Authorization: "Bearer ${TOKEN}"}}')

    given_away, result = find_given_away(shop, monkeypatch)

    assert given_away == []
    assert result.ret != 0
    assert "Bearer ${TOKEN}" in " ".join(result.stdout.str().split())


def test_one_that_a_mistake_in_a_suite_would_quote(shop, monkeypatch):
    shop.accept()
    asks(shop, '{command: [prog, "${TOKEN}"], timeout: "${TOKEN}", nonsense: "${TOKEN}"}')

    given_away, result = find_given_away(shop, monkeypatch)

    assert given_away == []
    assert result.ret != 0


def test_a_declared_one_that_is_too_short_to_be_hidden_ends_the_run(shop, monkeypatch):
    monkeypatch.setenv("TOKEN", "short")
    (shop.path / "pytest.ini").write_text("[pytest]\nireval_secrets = TOKEN\n")

    result = shop.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the value of TOKEN has fewer than 8 characters, so it cannot be hidden"])


def test_ids_figures_and_baselines_are_not_touched(shop, monkeypatch):
    """A secret that is the id of a document: what was measured stays true."""
    monkeypatch.setenv("TOKEN", "q10-n1-x")
    shop.rankings["q10"][0] = "q10-n1-x"
    shop.write()
    asks(shop, "{run: rankings.txt}")
    (shop.path / "pytest.ini").write_text("[pytest]\nireval_secrets = TOKEN\n")
    shop.run("--ireval-update-new")

    assert b"q10-n1-x" in shop.baseline_files()["shop.baseline"]
    documents = {d["document"] for each in shop.results()["suites"][0]["documents"] for d in each["documents"]}
    assert "q10-n1-x" in documents


def test_another_value_of_a_secret_is_no_other_source(shop, monkeypatch):
    (shop.path / "prog.py").write_text(
        PROGRAM.replace("{fails}", "False").replace("{rankings!r}", repr(str(shop.path / "rankings.txt")))
    )
    asks(shop, f'{{command: [{sys.executable}, prog.py, "${{TOKEN}}"]}}')
    monkeypatch.setenv("TOKEN", "token-of-monday")
    shop.accept()
    accepted = shop.baseline().fingerprints.source

    monkeypatch.setenv("TOKEN", "token-of-tuesday")
    shop.run()

    assert shop.results()["suites"][0]["fingerprints"]["source"] == accepted
    assert SECRET not in Path("ireval-report/results.json").read_text()


def test_a_short_value_is_in_no_baseline_and_no_report(shop, monkeypatch):
    (shop.path / "prog.py").write_text(
        PROGRAM.replace("{fails}", "False").replace("{rankings!r}", repr(str(shop.path / "rankings.txt")))
    )
    asks(shop, f'{{command: [{sys.executable}, prog.py, "${{TOKEN:-none}}"]}}')
    monkeypatch.setenv("TOKEN", "pw#12")
    assert shop.run("--ireval-update-new").ret == 0
    written = [*(text for _, text in texts(shop.path)), *(data.decode() for data in shop.baseline_files().values())]
    monkeypatch.delenv("TOKEN")
    shop.run()

    assert [text for text in written if "pw#12" in text] == []
    assert "${TOKEN:-none}" in shop.baseline_files()["shop.baseline"].decode()
    assert not shop.results()["suites"][0]["cause"]["source"]


@pytest.mark.parametrize("source", ["{run: '${TOKEN}'}", "{command: ['${TOKEN}', x]}"])
def test_names_of_files_and_programs_are_no_secrets(shop, monkeypatch, source):
    monkeypatch.setenv("TOKEN", "rankings-of-today.txt")
    asks(shop, source)

    result = shop.run()

    assert result.ret != 0
    assert "rankings-of-today.txt" in result.stdout.str()


USERS = st.text(st.characters(exclude_characters=":/", exclude_categories=["Cs"]), min_size=1)
PASSWORDS = st.text(
    st.characters(exclude_characters="@", exclude_categories=["Cs"]) | st.sampled_from("/7:?#%&="), min_size=8
)


def as_new(patch):
    """Secrets that know nothing yet."""
    patch.setattr(module.MASKER, "_replacements", {})
    patch.setattr(module.MASKER, "_short", {})
    patch.setattr(module.MASKER, "_pattern", None)


@given(USERS, PASSWORDS, st.sampled_from(["127.0.0.1:1/db", "h:5432/db?mail=me@corp", "h"]))
@example("user", "7/xSECRETkk", "127.0.0.1:1/db")
@example("user", "5432/xSECRETkk", "h")
@example("user@corp", "xSECRETkk", "h")
@example("user", "xSECRET\nkk", "h")
def test_no_password_that_sqlalchemy_reads_is_shown(user, password, place):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    address = f"postgresql+psycopg://{user}:{password}@{place}"
    read = sqlalchemy.make_url(address).password
    assume(len(read) >= 8 and read.strip() not in f"${{LOGIN}} {place}")

    assert read not in public_address(address)
    with pytest.MonkeyPatch.context() as patch:
        as_new(patch)
        register_login("LOGIN", address)
        for text in (f"refused: {read} of {user}", f"refused: {password} of", f"at {address}"):
            assert read not in module.mask_text(text)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://user:7/xSECRETkk@127.0.0.1:1/db", "postgresql://127.0.0.1:1/db"),
        ("https://me@corp:xSECRETkk@host/x", "https://host/x"),
        ("http://host:5432/path@x", "http://host:5432/path@x"),
        ("http://me@host:8080/path@x", "http://host:8080/path@x"),
        ("https://host/x?xSECRETkk", "https://host/x"),
        ("s3://bucket/x.parquet?versionId=xSECRETkk&y=1", "s3://bucket/x.parquet"),
        ("s3://bucket/x-?.parquet?sig=xSECRETkk?", "s3://bucket/x-?.parquet"),
        ("s3://bucket/part-?????.parquet", "s3://bucket/part-?????.parquet"),
        ("memory://data/a?b=c#d.parquet", "memory://data/a?b=c#d.parquet"),
    ],
)
def test_an_address_is_shown_without_login_and_parameters_but_with_its_pattern(monkeypatch, address, shown):
    as_new(monkeypatch)

    assert split_address(address).public == shown
    assert register_login("LOGIN", address)
    assert "SECRET" not in module.mask_text(address)
    assert module.mask_text("part-00002.parquet") == "part-00002.parquet"
