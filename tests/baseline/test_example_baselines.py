"""The baselines that documentation shows are what the code makes of the example data."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "accepted"


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs a checkout of the project")
def test_the_example_baselines_are_as_they_would_be_made_now(tmp_path):
    spec = importlib.util.spec_from_file_location("make_baselines", FOLDER / "make_baselines.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    module.main(tmp_path)

    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(made) == 2
    assert made == {name: (FOLDER / name).read_bytes() for name in made}
