"""What the tests of the reader share: bytes written to files, and refusals as texts."""

import pytest

from pytest_ireval.errors import InputError


@pytest.fixture(scope="session")
def write_file(tmp_path_factory):
    """Writes bytes (or text, as UTF-8) to a file, always the same one of that name, and returns its path."""
    folder = tmp_path_factory.mktemp("reading")

    def write(data, name="file.txt"):
        path = folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


@pytest.fixture
def read_error(write_file):
    """The text with which a file of these bytes is refused; the path of the file is called ``FILE`` in it."""

    def text_of(read, data, **options):
        path = write_file(data)
        with pytest.raises(InputError) as caught:
            read(path, **options)
        return str(caught.value).replace(str(path), "FILE")

    return text_of
