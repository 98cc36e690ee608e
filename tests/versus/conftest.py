import tempfile

import pytest
from git_repository import isolate_git
from search_repository import SearchRepository


@pytest.fixture(autouse=True)
def isolated(monkeypatch, tmp_path):
    isolate_git(monkeypatch, tmp_path)
    monkeypatch.delenv("IREVAL_SIDE", raising=False)


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    """Where temporary folders are made: empty again after each test."""
    folder = tmp_path / "temporary files"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    assert [path.name for path in folder.iterdir()] == []


@pytest.fixture
def repository(tmp_path, temporary):
    return SearchRepository(tmp_path / "a clone", tmp_path / "rankings")
