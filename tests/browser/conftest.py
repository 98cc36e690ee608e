"""A browser, and pages opened in it from disk that may neither complain nor ask for anything."""

import importlib.util
import os
import shutil

import pytest
from browser.needs import REQUIRED, without

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class WithoutPlaywright(pytest.Module):
    """A module of tests that cannot be imported, for what it imports is not installed."""

    def collect(self):
        pytest.skip("needs playwright", allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    """Where a browser is a must the import fails, and says what is missing."""
    if REQUIRED or importlib.util.find_spec("playwright") is not None:
        return None
    return WithoutPlaywright.from_parent(parent, path=module_path)


@pytest.fixture(scope="session")
def browser():
    """Chromium, started once: IREVAL_CHROMIUM, or what is installed."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("IREVAL_CHROMIUM") or shutil.which("chromium")
    if path is None:
        without("needs chromium")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def tab(browser):
    """One page for all tests that need nothing special of it: to open another one takes longer than most tests."""
    return browser.new_context().new_page()


@pytest.fixture(scope="session")
def silent_tab(browser):
    """The same where nothing may run."""
    return browser.new_context(java_script_enabled=False).new_page()


@pytest.fixture
def open_page(request, tmp_path):
    """Writes a page's text to disk and opens it there; the test fails if the page complains or asks for anything."""
    complaints, watched = [], []

    def open_page(text, anchor="", *, width=1280, height=900, scheme="light", scripts=True):
        file = tmp_path / f"page-{len(watched)}.html"
        file.write_text(text, encoding="utf-8")
        page = request.getfixturevalue("tab" if scripts else "silent_tab")
        watched.append((page, watch(page, file.as_uri(), complaints)))
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, media="screen")
        page.goto(file.as_uri() + anchor)
        return page

    yield open_page
    for page, listeners in watched:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
    assert complaints == []


def watch(page, address, complaints):
    """Whatever a page says, breaks or asks for is kept. What its policy blocks is a message of the console, too."""
    page.set_default_timeout(10_000)
    listeners = {
        "console": lambda message: complaints.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: complaints.append(f"error: {error}"),
        "dialog": lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()),
        "request": lambda asked: _note_request(asked.url, address, complaints),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    return listeners


def _note_request(url, address, complaints):
    if url.partition("#")[0] != address and url != "data:,":
        complaints.append(f"request: {url[:200]}")
