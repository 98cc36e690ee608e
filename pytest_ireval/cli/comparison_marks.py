"""Signs in a leaderboard: a letter for each ranking, and who is significantly better than whom."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from pytest_ireval.results.comparison import Comparison, MetricComparison, Pair

BETTER, WORSE = "▲", "▼"
SHORTENED = 3
"""So many neighbouring letters are written as the first and the last: a-d."""


def letters(comparison: Comparison) -> dict[str, str]:
    """A short sign for each ranking: a letter, or a number when there are more rankings than letters."""
    count = len(comparison.rankings)
    signs: Sequence[str] = ascii_letters if count <= len(ascii_letters) else [str(i + 1) for i in range(count)]
    return dict(zip(comparison.rankings, signs, strict=False))


def marks(comparison: Comparison, metric: MetricComparison) -> dict[str, str]:
    """For each ranking its mark: how it stands to the baseline, or the letters of those it is better than."""
    if comparison.baseline is None:
        return {name: _beaten(comparison, metric, name) for name in comparison.rankings}
    found = dict.fromkeys(comparison.rankings, "")
    for pair in metric.pairs:
        if pair.better:
            found[pair.ranking] = BETTER if pair.better == pair.ranking else WORSE
    return found


def _beaten(comparison: Comparison, metric: MetricComparison, name: str) -> str:
    beaten = {({pair.ranking, pair.other} - {name}).pop() for pair in metric.pairs if pair.better == name}
    return shortened(
        [i for i, other in enumerate(comparison.rankings) if other in beaten], list(letters(comparison).values())
    )


def shortened(places: Sequence[int], signs: Sequence[str]) -> str:
    """The signs at some places, neighbours put together: ``ace-h``, or ``1,3-7`` where signs are numbers."""
    stretches: list[list[int]] = []
    for place in places:
        if stretches and place == stretches[-1][-1] + 1:
            stretches[-1].append(place)
        else:
            stretches.append([place])
    texts: list[str] = []
    for stretch in stretches:
        if len(stretch) >= SHORTENED:
            texts.append(f"{signs[stretch[0]]}-{signs[stretch[-1]]}")
        else:
            texts += [signs[place] for place in stretch]
    return ("" if all(len(sign) == 1 for sign in signs) else ",").join(texts)


def shown_pairs(comparison: Comparison, metric: MetricComparison, *, every: bool) -> list[Pair]:
    """The pairs to print: all, those with the baseline, or only that of the best two."""
    if every or comparison.baseline is not None:
        return list(metric.pairs)
    return [pair for pair in metric.pairs if {pair.ranking, pair.other} == set(metric.leaders)]


def how_tested(comparison: Comparison) -> str:
    """Which test, which correction over which family, which level."""
    test = {"t": "paired t test", "sign-flip": "exact sign-flip test"}[comparison.test]
    count = len(comparison.rankings)
    pairs = count - 1 if comparison.baseline is not None else count * (count - 1) // 2
    over = f"the {pairs} pairs with {comparison.baseline}" if comparison.baseline is not None else f"all {pairs} pairs"
    family = f"Holm's correction over {over} of each metric" if pairs > 1 else "one pair a metric, so no correction"
    return f"{test}, two-sided, p < {comparison.alpha:g}; {family}; metrics are not corrected for each other"


def p_text(p: float | None) -> str:
    """Four decimals, two digits where those would be 0, and no more than a bound below a millionth."""
    if p is None:
        return "-"
    if p < 1e-6:
        return "< 1e-6"
    return f"{p:.4f}" if p >= 5e-5 else f"{p:.1e}"


def relative_text(relative: float | None) -> str:
    """The change in percent of the other's mean."""
    return "-" if relative is None else f"{100 * relative:+.1f}%"
