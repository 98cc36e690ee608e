"""A waiver that ends soon is said while there is time; it is red only when its day is over. It is 2026-11-18."""

DAYS = {"2026-11-17": None, "2026-11-18": "today", "2026-12-02": "in 14 days", "2026-12-03": ""}


def test_one_that_ends_soon_is_a_note_and_red_only_when_it_has_ended(shop):
    shop.accept()
    plain = shop.suite
    for day, left in DAYS.items():
        shop.suite = plain
        shop.change(("rules:\n", f"waive: [{{query: q07, until: {day}, reason: SEARCH-9}}]\nrules:\n"))
        shop.gate()

        (suite,) = shop.results()["suites"]
        (outcome,) = [each for each in suite["outcomes"] if each["kind"] == "waive"]
        assert outcome["verdict"] == ("fail" if left is None else "pass")
        notes = [f"the waiver of q07 ends on {day}, {left}"] if left else []
        assert [note for note in suite["notes"] if "waiver" in note] == notes
        if left:
            assert (outcome["warning"], outcome["facts"]) == (False, [f"it ends {left}"])
            shop.run().stdout.fnmatch_lines(notes)
