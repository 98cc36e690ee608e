"""``ireval metrics`` and ``ireval plugins``."""

import shlex
from pathlib import Path

import pytest

from pytest_ireval.cli import COMMANDS, EXAMPLES
from pytest_ireval.cli.metrics_command import format_meaning, format_option
from pytest_ireval.plugins.commands import find_commands

EXAMPLE = Path(__file__).parents[2] / "examples" / "suites" / "product-search.ireval.yaml"


@pytest.mark.more_metrics
def test_metrics_lists_all_by_plugin_with_what_must_follow_the_name(ireval):
    out = ireval("metrics").out

    assert out.startswith("pytest-ireval 0.1.0\nAccuracy[@cutoff] ")
    assert "\nIPrec@recall " in out
    assert "\nP@cutoff " in out
    assert out.endswith("\nireval metrics NAME explains one.\n")


@pytest.mark.parametrize("name", ["RBP", "RBP(p=0.5)@10"])
def test_metrics_explains_one(ireval, name):
    out = ireval("metrics", name).out

    assert out.startswith("RBP[@cutoff]\n  Gain per document of a reader")
    assert "  formula: RBP = (1 - p) sum" in out
    assert (
        "\n  p: the probability that a reader goes on to the next document; at least 0,\n    below 1; default 0.8\n"
        in out
    )


def test_metrics_tells_everything_in_lines_of_80_characters(ireval):
    out = ireval("metrics", "nDCG").out

    assert out.startswith(
        "nDCG[@cutoff]\n"
        "  DCG as a share of the DCG of the best order of all judged documents.\n"
        "  formula: nDCG@k = DCG@k / DCG@k of the judged documents sorted by gain\n"
        "  reference: K. Järvelin, J. Kekäläinen, TOIS 20, 2002; trec_eval ndcg and\n"
        "    ndcg_cut.\n"
        "  example: nDCG@3 of 0 3 | 2 = (3/1.585) / (3/1 + 2/1.585) = 0.4441\n"
        "  use: ireval evaluate judgments.txt rankings.txt -m 'nDCG@10'\n"
        "  range: 0 to 1\n"
        "  better: higher\n"
        "  sums up as: mean\n"
        "  scores: query\n"
        "  no relevant documents: 0, by the formula\n"
        "  also called: ndcg_burges = nDCG(gain='exp'), ndcg_cut_{cutoff} =\n"
        "    nDCG@{cutoff}, ndcg_{gains} = nDCG(gains={gains})\n"
    )
    assert max(map(len, out.splitlines())) <= 80


def test_every_use_that_is_shown_is_understood(registry):
    for metric in registry.metrics.values():
        name = shlex.split(format_option(metric))[1]
        assert registry.parse_metrics([name])[0].name == metric.name


def test_every_meaning_of_a_spelling_is_what_it_is_read_as(registry):
    numbers = {
        "cutoff": 5,
        "recall": 0.5,
        "multiple": 2,
        "p": 0.5,
        "beta": 2,
        "hit": 1,
        "noise": 2,
        "miss": 3,
        "rest": 4,
    }
    for metric in registry.metrics.values():
        for spelling in metric.info.spellings:
            if "field" not in metric.missing and "{gains}" not in spelling and "{cutoff}" not in metric.name:
                ours = format_meaning(metric, spelling).format(**numbers)
                theirs = spelling.replace("{beta^2}", "4").format(**numbers)
                needed = "" if "@" in ours or not metric.missing else "@1"
                assert registry.parse_metrics([theirs + needed]) == registry.parse_metrics([ours + needed])


@pytest.fixture
def folder_with_a_metric(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "conftest.py").write_text(
        "from pytest_ireval import hookimpl, per_query_metric\n"
        "@per_query_metric(name='Toy')\n"
        "def toy(ranking, *, cutoff: int):\n    'A toy.'\n    return 0.0\n"
        "@hookimpl\ndef ireval_metrics():\n    return [toy]\n"
    )
    return tmp_path / "suites"


def test_metrics_of_a_conftest_are_explained_where_its_folder_is_named(ireval, folder_with_a_metric):
    unknown = ireval("metrics", "Toy")
    known = ireval("metrics", "Toy", "--suites", "suites")
    misspelt = ireval("metrics", "Toi", "--suites", "suites")

    assert unknown.err.splitlines()[-1] == "  metrics of conftest.py files are known with --suites DIR"
    assert (unknown.code, known.code, known.out.splitlines()[:2]) == (2, 0, ["Toy@cutoff", "  A toy."])
    assert "--suites" not in misspelt.err
    assert "\nToy@cutoff " in ireval("metrics", "--suites", "suites").out
    assert "\nsuites/conftest.py\n  metrics: Toy\n\n" in ireval("plugins", "--suites", "suites").out
    assert "Toy" not in ireval("plugins").out


def test_plugins_lists_distribution_and_version(ireval):
    out = ireval("plugins").out

    assert out.startswith("pytest-ireval 0.1.0 (builtin, formats, ")
    assert ")\n  metrics: P, R, F, SetP," in out
    assert "\n  formats of queries: table, jsonl," in out
    assert out.endswith(
        "Found through the entry-point groups pytest_ireval, pytest_ireval_suites and pytest_ireval_commands.\n"
    )


def test_metrics_explains_what_others_call_by_another_name(ireval):
    assert ireval("metrics", "11pt_avg").out.startswith("IPrecAvg\n")


def test_help_shows_the_gate_and_the_commands_in_groups(ireval):
    printed = ireval("--help").out

    assert "  pytest --ireval suites/\n" in printed
    for command in (*COMMANDS, *find_commands().by_name):
        assert f"\n  {command} " in printed
    assert printed.index("\nSuites:\n") < printed.index("\nInstalled:\n") < printed.index("Run the gate with")


def test_the_examples_of_the_help_work_as_shown(ireval, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judgments.txt").write_text("q1 0 d1 2\nq2 0 d3 1\n")
    for name in ("rankings.txt", "before.trec", "after.trec"):
        (tmp_path / name).write_text("q1 Q0 d1 1 2 x\nq1 Q0 d2 2 1 x\nq2 Q0 d3 1 1 x\n")
    examples = [shlex.split(line) for line in EXAMPLES.splitlines() if line.startswith("  ireval ")]

    assert [words[1] for words in examples] == ["init", "check", "evaluate", "compare"]
    for words in examples:
        printed = ireval(*words[1:])
        assert printed.code == 0, printed.err


def test_a_misspelt_command_gets_a_suggestion(ireval):
    printed = ireval("evalute")

    assert printed.code == 2
    assert "there is no command 'evalute': did you mean 'evaluate'?" in printed.err


@pytest.mark.more_metrics
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("ireval evaluate -m ndc", ["nDCG", "nDCGRel"]),
        ("ireval why AP", ["AP", "AP_IA"]),
        ("ireval base", ["baseline"]),
        (f"ireval why AP --suite {EXAMPLE} --query q05", [f"q05{n}" for n in range(10)]),
        (f"ireval why AP --suite {__file__} --query q05", []),
    ],
)
def test_a_shell_completes_commands_metrics_and_queries(ireval, monkeypatch, words, found):
    monkeypatch.setenv("_IREVAL_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))

    assert [line.partition(",")[2] for line in ireval().out.splitlines() if line] == found


def test_a_new_plugin_passes_its_tests(pytester, ireval):
    pytester.chdir()

    said = ireval("plugins", "--new", "search-metrics").out
    assert "pip install -e search-metrics && pytest search-metrics\n" in said

    folder = pytester.path / "search-metrics"
    made = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in made if "acme" in f"{path} {path.read_text('utf-8')}".lower()]
    result = pytester.runpytest("-rs", "-p", "no:cacheprovider", f"--rootdir={folder}", folder)
    result.assert_outcomes(passed=35, skipped=1)
    result.stdout.fnmatch_lines(["*does not apply to FirstBad: unjudged documents are not bad, so a longer*"])
    assert "already exists, and is not overwritten" in ireval("plugins", "--new", "search-metrics").err


@pytest.mark.parametrize("name", ["../search", "search_metrics"])
def test_a_new_plugin_has_a_plain_name(tmp_path, monkeypatch, ireval, name):
    monkeypatch.chdir(tmp_path)

    assert "a name has lower-case letters, digits and hyphens" in ireval("plugins", "--new", name).err
    assert list(tmp_path.iterdir()) == []
