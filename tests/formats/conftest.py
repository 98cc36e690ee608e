"""What the tests of file formats share: files with a given content, and refusals as texts."""

import pytest

from pytest_ireval import InputError


@pytest.fixture
def write_file(tmp_path):
    """Writes text (or bytes) to a new file and returns its path."""

    def write(content, name="file.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def read_error(tmp_path):
    """The text with which ``read(path)`` is refused; the test's folder is called ``DIR`` in it."""

    def text_of(read, path, **options):
        with pytest.raises(InputError) as caught:
            read(path, **options)
        return str(caught.value).replace(str(tmp_path), "DIR")

    return text_of
