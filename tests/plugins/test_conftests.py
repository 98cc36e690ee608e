"""A conftest.py serves its own folder and those below, also where there is no pytest."""

import pytest

from pytest_ireval.errors import PluginError
from pytest_ireval.plugins.conftests import Conftests, find_conftests

METRIC = """\
from pytest_ireval import hookimpl, per_query_metric

@per_query_metric(name="{name}")
def toy(ranking, *, cutoff: int):
    '''A toy.'''
    return 0.0

@hookimpl
def ireval_metrics():
    return [toy]
"""


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "c").mkdir()
    (tmp_path / "conftest.py").write_text(METRIC.format(name="Top"))
    (tmp_path / "a" / "conftest.py").write_text(METRIC.format(name="Inner"))
    (tmp_path / "c" / "conftest.py").write_text("raise RuntimeError('not for us')\n")
    return tmp_path


def test_files_see_what_lies_above_them(folders):
    conftests = Conftests()

    def own(path):
        return {"Top", "Inner"} & set(conftests.registry_for(folders / path).metrics)

    assert own("shop.yaml") == {"Top"}
    assert own("a/b/shop.yaml") == {"Top", "Inner"}
    assert own("a") == {"Top", "Inner"}
    assert own("shop.yaml") == {"Top"}


def test_files_that_see_the_same_share_a_registry(folders):
    conftests = Conftests()

    assert conftests.registry_for(folders / "a" / "one.yaml") is conftests.registry_for(folders / "a" / "two.yaml")


def test_a_conftest_that_has_nothing_of_ours_is_not_imported(folders):
    assert "Top" in Conftests().registry_for(folders / "c" / "shop.yaml").metrics


def test_nothing_above_the_working_folder_is_looked_at(folders, monkeypatch):
    monkeypatch.chdir(folders / "a")

    assert list(find_conftests(folders / "a" / "b" / "shop.yaml")) == [folders / "a" / "conftest.py"]
    assert list(find_conftests(folders / "c" / "shop.yaml")) == [folders / "c" / "conftest.py"]


def test_a_conftest_that_cannot_be_imported_is_named(folders):
    file = folders / "a" / "conftest.py"
    file.write_text("import pytest_ireval\n1 / 0\n")

    with pytest.raises(PluginError) as caught:
        Conftests().registry_for(folders / "a" / "shop.yaml")

    assert str(caught.value) == f"{file}: cannot be imported: ZeroDivisionError: division by zero\n  at a/conftest.py:2"
