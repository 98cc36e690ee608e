"""A waiver that ends soon is said while there is time; it is red only when its day is over. It is 2026-11-18."""

import pytest


def of_waivers(suite):
    return [note for note in suite["notes"] if "waiver" in note]


def waived_until(shop, day):
    shop.change(("rules:\n", f"waive: [{{query: q07, until: {day}, reason: SEARCH-9}}]\nrules:\n"))
    shop.accept()
    result = shop.run()
    (suite,) = shop.results()["suites"]
    (outcome,) = [each for each in suite["outcomes"] if each["kind"] == "waive"]
    return result, of_waivers(suite), outcome


@pytest.mark.parametrize(("day", "left"), [("2026-11-18", "today"), ("2026-12-02", "in 14 days")])
def test_one_that_ends_soon_is_a_note_and_not_red(shop, day, left):
    result, notes, outcome = waived_until(shop, day)

    assert result.ret == 0
    assert notes == [f"the waiver of q07 ends on {day}, {left}"]
    assert (outcome["verdict"], outcome["warning"], outcome["facts"]) == ("pass", False, [f"it ends {left}"])
    result.stdout.fnmatch_lines([notes[0]])


def test_of_one_that_ends_later_nothing_is_said(shop):
    result, notes, outcome = waived_until(shop, "2026-12-03")

    assert (result.ret, notes, outcome["facts"]) == (0, [], [])


def test_one_that_has_ended_is_red_and_no_note(shop):
    shop.accept()
    shop.change(("rules:\n", "waive: [{query: q07, until: 2026-11-17, reason: SEARCH-9}]\nrules:\n"))

    assert shop.run().ret == 1
    assert of_waivers(shop.results()["suites"][0]) == []
    assert shop.verdicts()["waive::q07"] == "fail"
