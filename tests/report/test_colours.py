"""Which words are coloured, and that each of them says the same without a colour."""

import pytest

from pytest_ireval.pytest_plugin.terminal import colour_failure_lines, colour_summary_line


def tones(pieces):
    return [(piece.text, piece.tone) for piece in pieces if piece.tone != "plain"]


@pytest.mark.parametrize(
    ("line", "coloured"),
    [
        ("  nDCG@10  0.8764    0.8764  +0.0000  -0.062 .. +0.062  0.093     fail", [("fail", "bad")]),
        ("shop  P@3  0.8764    0.8764  +0.0000  -      inconclusive", [("inconclusive", "doubtful")]),
        ("ireval: fail: 1 of 14 checks of shop failed", [("fail", "bad")]),
        ("ireval: pass, no suite is affected", [("pass", "good")]),
        ("fail: shop: nDCG@10 fell 34.8%", [("fail", "bad")]),
        ("problem: b.ireval.yaml could not be collected", [("problem", "bad")]),
        ("red: @search-team (shop)", [("red", "bad")]),
    ],
)
def test_the_verdict_of_a_line_is_coloured_and_nothing_else(line, coloured):
    pieces = colour_summary_line(line)

    assert tones(pieces) == coloured
    assert "".join(piece.text for piece in pieces) == line


@pytest.mark.parametrize("mark", ["over tolerance", "red"])
def test_the_headline_of_a_failure_and_the_line_that_decided_are_coloured(mark):
    decided = f"  segment=tail     0.9438  0.6154  -0.3283  -34.8%       12  4/0/8    <- {mark}"
    text = f"shop.yaml:17: nDCG@10 fell 34.8%\nOwner @search-team.\n\n{decided}\n  all  0.8  0.8"

    pieces = list(colour_failure_lines(text))

    assert tones(pieces) == [("shop.yaml:17: nDCG@10 fell 34.8%", "bad"), (decided, "bad")]
    assert "\n".join(piece.text for piece in pieces) == text
