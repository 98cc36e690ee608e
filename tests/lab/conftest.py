"""The shop that rehearsals are tried on."""

import pytest
from shop_of_many import Shop


@pytest.fixture
def shop(tmp_path, monkeypatch, registry):
    monkeypatch.chdir(tmp_path)
    return Shop(tmp_path, registry)
