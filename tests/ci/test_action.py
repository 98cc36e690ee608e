"""The action: what it calls, what it tells the next steps, and that nobody's text becomes code."""

import json
import sysconfig
import venv
from pathlib import Path

import pytest
from steps import EXPRESSION, NO_PASSES, load, value_of

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
PAGE = ROOT / "docs" / "ci.md"
GREEN = {"github.base_ref": "", "github.event.merge_group.base_sha": ""}


def act(repository, inputs=(), event=(), **environment):
    """Run the steps of the action until one fails; what the workflow sees of it: exit code, text, outputs."""
    action = load(ACTION)
    given = {name: options.get("default", "") for name, options in action["inputs"].items()} | dict(inputs)
    values = {**GREEN, **dict(event), **{f"inputs.{name}": text for name, text in given.items()}}
    machine = repository.machine(GITHUB_ACTION_PATH=str(ROOT), GITHUB_ACTIONS="true", **environment)
    told, text, code = {}, "", 0
    for step in action["runs"]["steps"]:
        assert step.get("if", "inputs.install != ''") == "inputs.install != ''"
        if code or ("if" in step and not given["install"]):
            continue
        ran = machine.step(step, values)
        code, text = ran.code, text + ran.text
        told |= {f"steps.{step.get('id')}.outputs.{name}": value for name, value in ran.outputs.items()}
    known = {f"steps.gate.outputs.{name}": "" for name in action["outputs"]} | told
    outputs = {name: value_of(each["value"][3:-2].strip(), known) for name, each in action["outputs"].items()}
    return code, text, outputs


def call_action(repository, inputs=(), event=()):
    """The arguments that pytest was given."""
    code, text, _ = act(repository, {"install": "", **dict(inputs)}, event, PYTEST_ENDS_WITH="5")
    assert code == 5, text
    (call,) = repository.python_calls()
    assert call[:4] == ["-m", "pytest", "--ireval", "--ireval-report=ireval-report"]
    return call[4:]


def test_every_input_and_output_is_described_and_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    for kind in ("inputs", "outputs"):
        for name, each in load(ACTION)[kind].items():
            assert each["description"], name
            assert f"| `{name}` |" in page


def test_no_expression_is_in_the_text_of_a_step():
    assert [step for step in load(ACTION)["runs"]["steps"] if EXPRESSION.search(step["run"])] == []


def test_a_green_gate_tells_verdict_and_files(repository):
    code, text, outputs = act(repository)
    report = repository.folder / "ireval-report"

    assert code == 0, text
    assert outputs == {
        "verdict": "pass",
        "exit-code": "0",
        "report": str(report),
        "results": str(report / "results.json"),
        "summary": str(report / "summary.md"),
    }
    assert "<!-- pytest-ireval summary -->" in (report / "summary.md").read_text(encoding="utf-8")
    assert (repository.folder.parent / "temporary" / "summary").read_text(encoding="utf-8") != ""


def test_a_red_gate_fails_and_tells_its_files_all_the_same(repository):
    code, text, outputs = act(repository, SHOP_RANKINGS="runs/hidden_tail.trec")

    assert code == 1
    assert (outputs["verdict"], outputs["exit-code"]) == ("fail", "1")
    assert Path(outputs["summary"]).exists()
    assert "::error file=suites/product-search.ireval.yaml,line=17" in text


def test_the_exit_code_of_pytest_is_that_of_the_step(repository):
    ended, _, outputs = act(repository, {"install": ""}, PYTEST_ENDS_WITH="2")

    assert ended == 2
    assert outputs == {
        "verdict": "error",
        "exit-code": "2",
        "report": str(repository.folder / "ireval-report"),
        "results": "",
        "summary": "",
    }


@pytest.mark.parametrize("way", NO_PASSES, ids=lambda way: way.__name__)
def test_a_run_that_judges_nothing_is_no_pass(repository, way):
    report = repository.folder / "ireval-report"
    report.mkdir()
    (report / "results.json").write_text('{"verdict": "pass"}')
    way(repository.folder)

    code, text, outputs = act(repository, {"install": ""})

    assert code == 1
    assert (outputs["verdict"], outputs["exit-code"]) == ("error", "0")
    assert "pytest exited with 0, but the verdict of the run is error" in text


@pytest.mark.parametrize("ends", [{"PIP_ENDS_WITH": "1"}, {"PYTEST_ENDS_WITH": "4"}])
def test_the_report_of_an_earlier_run_is_not_taken_for_this_one(repository, ends):
    report = repository.folder / "ireval-report"
    report.mkdir()
    for name in ("results.json", "summary.md", "metrics.txt", "junit.xml"):
        (report / name).write_text('{"verdict": "pass"}')

    code, _, outputs = act(repository, {"junit": "ireval-report/junit.xml"}, **ends)

    assert code != 0
    assert (outputs["verdict"], outputs["results"]) == ("error", "")
    assert list(report.iterdir()) == []


STRICT = ["-o", "ireval_baseline_lowering=fail"]


@pytest.mark.parametrize(
    ("inputs", "event", "options"),
    [
        ({}, {}, []),
        ({}, {"github.base_ref": "release/2"}, ["--ireval-base=refs/remotes/origin/release/2", *STRICT]),
        ({}, {"github.event.merge_group.base_sha": "5d1c0a7"}, ["--ireval-base=5d1c0a7", *STRICT]),
        ({"base": "v2"}, {"github.base_ref": "main"}, ["--ireval-base=v2", *STRICT]),
        ({"base": "none"}, {"github.base_ref": "main"}, []),
        (
            {"changed-since": "base"},
            {"github.base_ref": "main"},
            ["--ireval-base=refs/remotes/origin/main", *STRICT, "--ireval-changed-since=refs/remotes/origin/main"],
        ),
        ({"changed-since": "base", "base": "none"}, {"github.base_ref": "main"}, []),
        ({"versus": "rank"}, {}, ["--ireval-versus=rank"]),
        (
            {"versus": "base", "base": "v2"},
            {"github.base_ref": "main"},
            ["--ireval-base=v2", *STRICT, "--ireval-versus=v2"],
        ),
        ({"versus": "base"}, {}, []),
        ({"junit": "out/junit.xml"}, {}, ["--junit-xml=out/junit.xml"]),
    ],
)
def test_what_is_compared_with_follows_the_event(repository, inputs, event, options):
    assert call_action(repository, inputs, event) == [*options, "suites/"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('-k "nDCG_10 and tail"', ["-k", "nDCG_10 and tail"]),
        ("-v\n-x\n", ["-v", "-x"]),
        (
            "'$(touch seen)' `touch` $HOME * ; touch seen",
            ["$(touch seen)", "`touch`", "$HOME", "*", ";", "touch", "seen"],
        ),
    ],
)
def test_arguments_are_split_into_words_and_nothing_more(repository, text, words):
    assert call_action(repository, {"arguments": text}) == ["suites/", *words]
    assert not (repository.folder / "seen").exists()


def test_a_quote_without_an_end_is_an_error_and_no_gate_without_arguments(repository):
    code, text, outputs = act(repository, {"install": "", "arguments": "-k 'tail"}, PYTEST_ENDS_WITH="0")

    assert code != 0
    assert "No closing quotation" in text
    assert outputs["verdict"] == "error"
    assert repository.python_calls() == []


@pytest.mark.parametrize("name", ["$(touch${IFS}seen)", "--ireval-update"])
def test_the_name_of_a_branch_is_never_code_and_never_an_option(repository, name):
    assert call_action(repository, event={"github.base_ref": name}) == [
        f"--ireval-base=refs/remotes/origin/{name}",
        *STRICT,
        "suites/",
    ]
    assert not (repository.folder / "seen").exists()


def test_the_gate_runs_in_the_working_directory(repository):
    shop = repository.folder / "shop"
    shop.mkdir()
    (repository.folder / "suites").rename(shop / "suites")
    repository.commit("the shop moves")

    code, text, outputs = act(repository, {"working-directory": "shop"})

    assert code == 0, text
    assert outputs["report"] == str(shop / "ireval-report")


def test_by_default_the_action_installs_itself(repository):
    act(repository, PYTEST_ENDS_WITH="0")

    assert repository.python_calls()[0] == ["-m", "pip", "install", str(ROOT)]


def test_install_is_bash_and_a_failure_in_it_ends_the_action(repository):
    code, _, outputs = act(repository, {"install": "python -m pip install -r requirements.txt\nfalse\ntrue"})

    assert code == 1
    assert outputs["verdict"] == "error"
    assert repository.python_calls() == [["-m", "pip", "install", "-r", "requirements.txt"]]


@pytest.mark.skipif(not (ROOT / "pytest_ireval").is_dir(), reason="needs the sources")
def test_the_action_installs_what_it_needs_into_a_fresh_environment(repository, tmp_path):
    venv.create(tmp_path / "fresh", symlinks=True, with_pip=True)
    python = tmp_path / "fresh" / "bin" / "python"
    (site,) = (tmp_path / "fresh").glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))  # they are not what is installed here
    offline = {"PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_FORCE_REINSTALL": "1"}

    code, text, outputs = act(repository, {"python": str(python)}, **offline)

    assert code == 0, text
    assert "Successfully installed pytest-ireval" in text
    assert outputs["verdict"] == "pass"


@pytest.mark.parametrize(
    ("arguments", "code", "verdict"), [("", 1, "fail"), ("-o ireval_baseline_lowering=report", 0, "pass")]
)
def test_a_pull_request_that_lowers_its_baseline_is_red_unless_the_job_only_reports_it(
    repository, arguments, code, verdict
):
    repository.branch("lower")
    (repository.folder / "pytest.ini").write_text("[pytest]\nireval_baseline_lowering = report\n")
    accept = ["--ireval-update", "--ireval-reason=tails matter less", "--ireval-allow-ci"]
    machine = repository.machine()
    assert machine.bash("python -m pytest -q --ireval suites/ " + " ".join(f"'{word}'" for word in accept)).code == 0
    repository.commit("accepted")

    ended, text, outputs = act(repository, {"arguments": arguments}, {"github.base_ref": "main"})
    results = json.loads(Path(outputs["results"]).read_bytes())
    (lowering,) = [each for each in results["suites"][0]["outcomes"] if each["kind"] == "lowering"]

    assert ended == code, text
    assert results["base"] == "origin/main"
    assert lowering["verdict"] == verdict


def test_without_the_base_branch_at_hand_the_gate_is_an_error(repository):
    repository.git("update-ref", "-d", "refs/remotes/origin/main")

    code, text, outputs = act(repository, event={"github.base_ref": "main"})

    assert code == 1, text
    assert outputs["verdict"] == "error"


def test_a_pull_request_that_concerns_no_suite_is_green_and_says_which_took_no_part(repository):
    suite = repository.folder / "suites" / "product-search.ireval.yaml"
    suite.write_text(suite.read_text() + "\nwatches: [/search/]\n")
    (repository.folder / "search").mkdir()
    (repository.folder / "search" / "rank.py").write_text("K1 = 1.2\n")
    repository.commit("what the suite watches")
    repository.git("push", "--quiet", "origin", "main")
    (repository.folder / "README.md").write_text("A shop.\n")
    repository.commit("a README")

    code, text, outputs = act(repository, {"changed-since": "base"}, {"github.base_ref": "main"})
    results = json.loads(Path(outputs["results"]).read_bytes())

    assert code == 0, text
    assert outputs["verdict"] == "pass"
    assert (results["changed_since"], results["unaffected"]) == ("origin/main", ["product-search"])
