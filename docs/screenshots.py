"""Takes the pictures of the report in the documentation, from runs of the example suites.

python docs/screenshots.py        writes docs/pictures/report-*.png; it needs the extra ``browser``, git and Chromium
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Page

HERE = Path(__file__).parent
FOLDER = HERE / "pictures"
EXAMPLE = HERE.parent / "examples" / "suites"
MOMENT = str(1_803_894_400 + 8 * 86_400)
"""When the run began, in seconds since 1970: pictures do not change from day to day."""
QUERY = "q052"
WIDTH, HEIGHT, HIGHEST = 1200, 800, 1310
FLAGS = ("--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update")


class Shot(NamedTuple):
    """One picture: where the page is scrolled to, and what of it is seen."""

    name: str
    selector: str
    height: int = HEIGHT


SHOTS = (
    Shot("report", "", height=900),
    Shot("report-query", f"details.worst-query:has([id='product-search::q={QUERY}'])"),
)


def main() -> int:
    """Every picture, made anew."""
    with tempfile.TemporaryDirectory(prefix="ireval-shop-") as folder:
        page = drawn(Path(folder))
        with browsing() as opened:
            for shot in SHOTS:
                print(taken(opened, page, shot))
    return 0


def drawn(folder: Path) -> Path:
    """The page of a red run."""
    suites = folder / "suites"
    shutil.copytree(EXAMPLE, suites, ignore=shutil.ignore_patterns("__pycache__"))
    for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "shop")):
        git(folder, *command)
    git(folder, "checkout", "-q", "-b", "cheaper-tail")
    gate(folder)
    return folder / "ireval-report" / "index.html"


def git(folder: Path, *words: str) -> None:
    """In the folder, as somebody, at one moment."""
    who = {f"GIT_{role}_{what}": text for role in ("AUTHOR", "COMMITTER") for what, text in WHO.items()}
    subprocess.run(("git", *words), cwd=folder, check=True, env={**os.environ, **who})


WHO = {"NAME": "Shop", "EMAIL": "shop@example.org", "DATE": f"{MOMENT} +0000"}


def gate(folder: Path) -> None:
    """One run, which is red."""
    own = {"SOURCE_DATE_EPOCH": MOMENT, "COLUMNS": "100", "SHOP_RANKINGS": "runs/hidden_tail.trec"}
    plain = {
        name: text for name, text in os.environ.items() if name != "CI" and not name.startswith(("GITHUB_", "CI_"))
    }
    command = (sys.executable, "-m", "pytest", "-q", "--ireval", "suites", "-p", "no:cacheprovider")
    done = subprocess.run(command, cwd=folder, env={**plain, **own}, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.stdout + done.stderr)


@contextmanager
def browsing() -> Iterator[Page]:
    """A window without any site."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=found, args=[*FLAGS, "--no-sandbox"])
        yield browser.new_page()
        browser.close()


def taken(opened: Page, page: Path, shot: Shot) -> Path:
    """The picture's file."""
    opened.set_viewport_size({"width": WIDTH, "height": shot.height})
    opened.goto("about:blank")
    opened.goto(page.as_uri())
    opened.wait_for_load_state()
    path = FOLDER / f"{shot.name}.png"
    if shot.selector:
        part = opened.locator(shot.selector).first
        if not part.count():  # it is folded, and packed
            opened.locator("details:has(> [data-packed]) > summary").first.click()
            part.wait_for()
        part.scroll_into_view_if_needed()
        place = part.bounding_box()
        if place is None:
            sys.exit(f"{shot.selector}: there is no such part of the page")
        opened.screenshot(path=path, full_page=True, clip=_beginning(opened, place))
    else:
        opened.screenshot(path=path)
    return path


def _beginning(opened: Page, place: FloatRect) -> FloatRect:
    """Of a part of the page, as much as a picture may show; from the top of the page, not of the window."""
    top = place["y"] + float(opened.evaluate("window.scrollY"))
    return {"x": place["x"], "y": top, "width": place["width"], "height": min(place["height"], HIGHEST)}


if __name__ == "__main__":
    sys.exit(main())
