"""What a suite is made of concerns it without being watched, through links and plugins too; in doubt all does."""

import shutil

import pytest
from monorepo import SUITE

IN_ANY_CASE = "takes part whatever changed: "


OWN = {
    "suites/shop.ireval.yaml": "the suite itself",
    "suites/common/all.yaml": "a file that it extends",
    "suites/data/queries.tsv": "its queries",
    "suites/data/judgments.txt": "its judgments",
    "suites/data/aliases.tsv": "its aliases",
    "suites/data/groups.tsv": "its groups of variants",
    "suites/data/sizes.tsv": "the fields of its documents",
    "suites/data/run.trec": "its source",
    "suites/data/older.trec": "what it is compared with",
    "suites/conftest.py": "a conftest.py that serves it",
    "conftest.py": "a conftest.py that serves it",
    "suites/baselines/shop.baseline": "its baseline",
}


@pytest.mark.ci
def test_what_a_suite_is_made_of_needs_no_watching(monorepo):
    monorepo.write("suites/common/all.yaml", "tags: [shared]\n")
    monorepo.write("suites/data/queries.tsv", "id\ttext\nq1\tone\nq2\ttwo\n")
    monorepo.write("suites/data/aliases.tsv", "from\tto\nd7\td8\n")
    monorepo.write("suites/data/groups.tsv", "document\tgroup\nd7\tg\n")
    monorepo.write("suites/data/sizes.tsv", "id\ttokens\nd7\t1\n")
    shutil.copy(monorepo.path / "suites/data/run.trec", monorepo.path / "suites/data/older.trec")
    monorepo.suite(
        "shop",
        "  - no_regression: {metric: nDCG@10, tolerance: 5%, against: {run: data/older.trec}}\n"
        "extends: common/all.yaml\n"
        "queries: data/queries.tsv\n"
        "documents: {aliases: data/aliases.tsv, collapse: data/groups.tsv,\n"
        "  fields: data/sizes.tsv}\n"
        "metrics: [\"Mean(field='tokens')@10\"]\n"
        "watches: ../search/**\n",
    )
    monorepo.commit("more")
    monorepo.git("branch", "--force", "main")
    for file, what in OWN.items():
        path = monorepo.path / file
        monorepo.write(file, path.read_text() + "\n" if path.exists() else "")
        monorepo.run()

        assert monorepo.affected()["shop"] == f"{file} changed ({what})"
        monorepo.git("clean", "--quiet", "--force", "suites/baselines", "suites/conftest.py", "conftest.py")
        monorepo.git("checkout", "--quiet", ".")


def test_the_module_of_a_python_source_and_files_in_the_command_of_a_source(monorepo):
    for name, source in {
        "module": '{python: "engine.find:search", path: ../search}',
        "arguments": "{command: [python3, -u, --script=../search/find.py]}",
        "shell": "{command: 'python3 ../search/find.py | sort', shell: true}",
    }.items():
        text = SUITE.replace("{{run: data/run.trec}}", source.replace("{", "{{").replace("}", "}}"))
        monorepo.suite(name, "watches: /docs/**\n", text=text)
    monorepo.write("search/engine/find.py", "def search(query_id):\n    return []\n")
    monorepo.write("docs/x.md", "")
    monorepo.commit("sources")
    monorepo.git("branch", "--force", "main")
    assert monorepo.run("--collect-only", "-q").ret == 0

    monorepo.write("search/engine/find.py", "def search(query_id):\n    return ['d' + query_id[1:]]\n")
    monorepo.write("search/find.py", "raise SystemExit('not written yet')\n")
    monorepo.run()

    command = "search/find.py changed (its source)"
    module = "search/engine/find.py changed (its source)"
    found = monorepo.affected()
    assert found.pop("shop") == "search/engine/find.py changed (watches ../search/**)"
    assert found == {"module": module, "arguments": command, "shell": command}


def test_a_suite_that_does_not_say_what_it_watches_takes_part_in_every_run(monorepo):
    """Nothing is watched, or a glob fits no file."""
    dead = {"misspelt": "../serach/**", "ignored": "/ireval-report/**"}
    for name, glob in dead.items():
        monorepo.suite(name, f"watches: [../search/**, {glob}]\n")
    monorepo.suite("careful", "")
    monorepo.commit("more")
    monorepo.git("branch", "--force", "main")
    result = monorepo.run()

    reasons = {name: f"it watches {glob}, which matches no file that git knows" for name, glob in dead.items()}
    reasons["careful"] = "it has no watches"
    assert monorepo.affected() == {name: IN_ANY_CASE + reason for name, reason in reasons.items()}
    result.stdout.fnmatch_lines([f"careful: {IN_ANY_CASE}it has no watches"])
    assert monorepo.results()["unaffected"] == ["ads", "shop"]


def test_a_file_that_git_was_told_not_to_look_at_counts_unless_it_is_not_there(monorepo):
    monorepo.git("update-index", "--skip-worktree", "ads/bids.py")
    monorepo.write("ads/bids.py", "FLOOR = 2\n")
    monorepo.run()
    assert monorepo.affected() == {"ads": "ads/bids.py changed (watches /ads/**)"}

    (monorepo.path / "ads/bids.py").unlink()
    assert monorepo.run().ret == 0
    assert monorepo.affected() == {}


def test_a_change_is_seen_through_links_in_what_is_watched(monorepo):
    links = {"one/weights.json": "../models/ads.json", "two/models": "../latest", "three/all": ".."}
    monorepo.write("models/ads.json", "1\n")
    (monorepo.path / "latest").symlink_to("models")
    for link, target in links.items():
        folder = link.partition("/")[0]
        monorepo.suite(folder, f"watches: /{folder}/**\n")
        (monorepo.path / folder).mkdir()
        (monorepo.path / link).symlink_to(target)
    monorepo.commit("links")
    monorepo.git("branch", "--force", "main")
    monorepo.write("models/ads.json", "2\n")

    monorepo.run()

    assert monorepo.affected() == {
        name: f"models/ads.json behind the link {link} changed (watches /{name}/**)"
        for link in links
        if (name := link.partition("/")[0])
    }


def test_a_link_on_the_way_that_leads_elsewhere_now_is_a_change(monorepo):
    monorepo.write("runs/1.trec", "q1 Q0 d1 1 9 x\nq2 Q0 d2 1 9 x\n")
    monorepo.write("runs/2.trec", "q1 Q0 d1 1 8 x\nq2 Q0 d2 1 8 x\n")
    (monorepo.path / "runs/newest").symlink_to("1.trec")
    (monorepo.path / "suites/data/run.trec").unlink()
    (monorepo.path / "suites/data/run.trec").symlink_to("../../runs/newest")
    monorepo.commit("links")
    monorepo.git("branch", "--force", "main")
    (monorepo.path / "runs/newest").unlink()
    (monorepo.path / "runs/newest").symlink_to("2.trec")

    monorepo.run()

    assert set(monorepo.affected()) == {"shop", "ads"}


def test_a_plugin_that_lies_in_the_repository_concerns_all(monorepo, monkeypatch):
    plugin = "from pytest_ireval import hookimpl\n\n\n@hookimpl\ndef ireval_metrics():\n    return []\n"
    place = "acme_search_plugin/scores.py"
    monorepo.write(place, "")
    monorepo.write("acme_search_plugin/__init__.py", plugin)
    monorepo.commit("plugin")
    monorepo.git("branch", "--force", "main")
    monkeypatch.syspath_prepend(monorepo.path)
    assert monorepo.run("-p", "acme_search_plugin").ret == 0
    assert monorepo.affected() == {}

    monorepo.write(place, f"{plugin}# other\n")
    monorepo.run("-p", "acme_search_plugin")

    assert monorepo.affected() == dict.fromkeys(("ads", "shop"), f"{place} changed (a plugin of the run)")
