"""The whole loop in a real browser: a red run, grades by key, the verdict that changes, and the end."""

import pytest
from lamp_shop import start_judging, write_lamp_shop
from playwright.sync_api import expect

SLOW = """() => {
  const ask = window.fetch;
  const press = () => document.querySelector(".end").click();
  window.fetch = (...how) => {
    if (how[0] === "end") setTimeout(press, 100);
    return new Promise((done) => setTimeout(done, 300)).then(() => ask(...how));
  };
}"""
"""From now on each request takes longer than the next click, and who has ended presses once more."""


@pytest.fixture
def judging(pytester):
    write_lamp_shop(pytester.path)
    assert pytester.runpytest("--ireval", "-p", "no:cacheprovider").ret == 1
    with start_judging(pytester.path, "--last") as (address, wait):
        yield pytester.path / "judgments.txt", address, wait


def test_the_verdict_changes_as_one_grades(judging, browser):
    judgments, address, wait = judging
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, complaints = context.new_page(), []
    page.set_default_timeout(10_000)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda asked: None if asked.url.startswith((address, "data:")) else complaints.append(asked.url))
    page.goto(address)
    check = page.locator("#verdicts li")

    expect(check).to_contain_text("fail nDCG@5 fell 28.9%")
    expect(check).to_contain_text("with the best grades for the other 3 ungraded documents in the first 5 ranks")
    assert page.inner_text("h1") == "reading lamp"
    expect(page.locator("[aria-current]")).to_have_text("1Lamp u3not graded")
    page.keyboard.press("0")
    expect(page.locator("#status")).to_have_text("Grade 0 saved. 1 of 3 judged.")
    expect(check).to_contain_text("fail nDCG@5 fell 28.9%")
    page.keyboard.press("u")
    expect(page.locator("#status")).to_have_text("Undone: without a grade again.")
    assert judgments.read_text().count("\n") == 4

    page.keyboard.press("1")
    expect(check).to_contain_text("fail → pass nDCG@5 rose 41.0% (tolerance 5%)")
    expect(page.locator("#final")).to_contain_text("Further grades cannot change any of these verdicts.")
    assert judgments.read_text().endswith("q1 0 screw 0\nq1 0 u3 1\n")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    saved = judgments.read_text()
    judgments.write_text(saved + "q02 garbage\n")
    page.keyboard.press("0")
    expect(page.locator("#status")).to_contain_text("Not saved: judgments.txt:6 has 2 columns")
    judgments.write_text(saved + "q1 0 u4 1\n")  # a colleague's, after git pull
    page.keyboard.press("0")
    expect(page.locator("#status")).to_contain_text("judgments.txt:6 has grade 1 now, and you gave 0.")
    page.evaluate(SLOW)  # the end waits for what is under way
    page.keyboard.press("s")
    page.get_by_role("button", name="End and show").click()
    expect(page.locator("#status")).to_contain_text("Ended.")
    assert "graded 1 of 3 documents: judgments.txt" in wait()
    page.wait_for_timeout(700)  # longer than a second request would take
    expect(page.locator("#status")).to_contain_text("Ended.")
    context.close()
    assert [each for each in complaints if "409" not in each and "500" not in each] == []
