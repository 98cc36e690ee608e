"""The commands of the page about CI, run one after the other on a branch, as its reader would."""

from test_recipes import BLOCK, PAGE


def test_the_commands_of_the_page_work_one_after_the_other(repository):
    repository.branch("synonyms")
    environment = {"CI": "", "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org"}
    environment |= {name.replace("AUTHOR", "COMMITTER"): text for name, text in environment.items() if "GIT" in name}
    gate, accept = (text for language, _, text in BLOCK.findall(PAGE.read_text("utf-8")) if language == "bash")
    machine = repository.machine()
    (repository.folder / "suites" / "recordings").mkdir()
    (repository.folder / "suites" / "recordings" / "shop.jsonl.gz").write_bytes(b"answers of a live engine")

    red = machine.bash(gate, environment)
    accepted = machine.bash(accept, environment)
    lowered = machine.bash(gate, environment)
    green = machine.bash(gate.replace("lowering=fail", "lowering=report"), environment)

    assert red.code == 1
    assert "fell 34.8% on segment=tail" in red.text
    assert accepted.code == 0, accepted.text
    assert lowered.code == 1
    assert "1 of 15 checks" in lowered.text  # the lowered baseline, which a person decides on
    assert green.code == 0, green.text
    commit = repository.git("show", "--name-only", "--format=%s", "origin/synonyms").split("\n\n")
    assert commit == ["Accept synonyms v2", "suites/baselines/product-search.baseline"]


def test_on_a_machine_of_ci_the_acceptance_of_the_page_is_refused(repository):
    _, accept = (text for language, _, text in BLOCK.findall(PAGE.read_text("utf-8")) if language == "bash")

    ran = repository.machine().bash(accept)

    assert ran.code == 4
    assert "refusing to update baselines in CI; --ireval-allow-ci allows it" in ran.text
