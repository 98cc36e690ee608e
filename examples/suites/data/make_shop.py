"""Writes the data of a made-up kitchenware shop: ``python examples/suites/data/make_shop.py``.

The same files every time. ``accepted.trec`` is what the shop ranks today; ``fine.trec`` a change with small ups and
downs; ``hidden_tail.trec`` one that makes the head better and costs four rare queries everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

SUITES = Path(__file__).parents[1]
LISTED = 20
"""The number of documents in a ranking."""

HEAD = """
coffee mug|product; frying pan|product; chef knife|product; cutting board|product; water bottle|product
lunch box|product; french press|product; toaster|product; kettle|product; baking tray|product
wine glasses|product; cutlery set|product; storage jars|product; saucepan with lid|product; dish rack|product
thermos flask|product; espresso machine delonghi|navigational; salad bowl|product; measuring cup|product; whisk|product
tea towels|product; oven gloves|product; pepper mill|product; spice rack|product; kitchen scale|product
le creuset|navigational; kitchenaid|navigational; gift for cooks|exploratory; small kitchen ideas|exploratory
stackable mugs|product
"""
TORSO = """
milk frother handheld|product; cast iron griddle|product; bread proofing basket|product; mandoline slicer|product
egg poacher pan|product; tea infuser for mug|product; moka pot 6 cups|product; garlic press|product
cookie cutters christmas|exploratory; pasta drying rack|product; wok with wooden handle|product
zwilling twin pollux|navigational; rice cooker small|product; espresso cups without handle|product
cake stand with dome|product; bamboo steamer two tiers|product; picnic set for four|exploratory
knife block without knives|product
"""
TAIL = """
replacement seal bialetti 3 cups|product; left-handed can opener|product; copper jam pan 9 litres|product
aeropress filter metal fine|product; kaiser springform 28 cm rim|product; pierogi press large|product
ceramic knife sharpener japanese angle|product; mug warmer without cable|product; raclette pan set of 8|product
dutch oven lid knob brass|product; egg cups porcelain with feet|product; red mug|product
"""
SEGMENTS = {"head": (HEAD, 80, 320), "torso": (TORSO, 30, 30), "tail": (TAIL, 15, 15)}
"""Queries, the least number of searches a day, and the greatest number added to it."""

RIGHT_ALREADY = {1, 9, 17, 23}
"""Head queries that neither change improves."""
LOSERS = {50, 52, 57, 60}
"""Tail queries that lose their best document."""
BROKEN_FEED = 17
"""Its supplier delivers nothing at present: both changes rank it badly, and the suite waives it."""
WRONG_ORDER = 44
"""Its fourth best document is above the best one, which is a known failure."""
BANNED = 50
"""A document that may never be among its first ten is at rank 14."""

Ranking = list[str]


def queries() -> Iterator[tuple[int, str, str, str, int]]:
    """Number, text, segment, intent, searches a day."""
    chance, number = seeded(7), 0
    for segment, (texts, low, more) in SEGMENTS.items():
        for entry in texts.strip().replace("\n", ";").split(";"):
            text, _, intent = entry.strip().partition("|")
            number += 1
            yield number, text, segment, intent, low + pick(chance, more)


def seeded(seed: int) -> Random:
    """The same chances every time."""
    return Random(seed)  # noqa: S311 - a shop is made up, not a secret


def pick(chance: Random, below: int) -> int:
    """A number from 0 on; of all that Random offers, ``random()`` alone is the same in every Python."""
    return int(chance.random() * below)


def grades(number: int) -> dict[str, int]:
    """Grades of 11 to 13 documents, best first."""
    best, good = 1 + (number % 4 == 2), 1 + number % 2
    scale = [3] * best + [2] * good + [1] * 3 + [0] * (8 + number % 3 - best - good)
    return {f"q{number:03}-d{i}": grade for i, grade in enumerate(scale)}


def unjudged(number: int) -> Ranking:
    """Unjudged documents, in an order of their own."""
    names, chance = [f"q{number:03}-n{i}" for i in range(11, 31)], seeded(1000 + number)
    return [names.pop(pick(chance, len(names))) for _ in range(20)]


def accepted(number: int, segment: str) -> Ranking:
    """What the shop ranks today: mostly right, in the head mostly with something else on top."""
    judged, strangers, chance = list(grades(number)), unjudged(number), seeded(number)
    swapped(judged, 1 + pick(chance, 3))
    swapped(judged, 3 + pick(chance, 5))
    ranking = judged[:]
    ranking.insert(3 + pick(chance, 4), strangers[0])
    if segment == "head" and number not in RIGHT_ALREADY:
        if number % 2:
            swapped(ranking, 0)
        else:
            ranking.insert(0, strangers[1])
    elif segment != "head" and number not in {*LOSERS, WRONG_ORDER}:
        ranking.insert(pick(chance, 4), strangers[1])
        if pick(chance, 3) == 0:
            swapped(ranking, 0)
    if number == WRONG_ORDER:
        ranking.insert(0, ranking.pop(ranking.index(f"q{number:03}-d3")))
    ranking += [name for name in strangers if name not in ranking]
    if number == BANNED:
        ranking.insert(13, "banned-17")
    return ranking[:LISTED]


def fine(number: int, segment: str) -> Ranking:
    """Neighbours change places here and there, and some head queries have their best document on top."""
    ranking, chance = accepted(number, segment), seeded(2000 + number)
    if number == BROKEN_FEED:
        return without_feed(number)
    if segment == "head" and number % 6 == 3:
        ranking = improved(number, ranking)
    if pick(chance, 3) == 0:
        swapped(ranking, 4 + pick(chance, 5))
    if pick(chance, 3) == 0:
        swapped(ranking, 11 + pick(chance, 6))
    return ranking


def hidden_tail(number: int, segment: str) -> Ranking:
    """The head as it should be; some rare queries full of unjudged documents."""
    ranking = accepted(number, segment)
    if number == BROKEN_FEED:
        return without_feed(number)
    if number in LOSERS:
        strangers = [name for name in ranking if "-d" not in name] + unjudged(number)
        flood = [name for name in dict.fromkeys(strangers) if name != "banned-17"][: 10 + number % 5]
        left = [name for name in ranking if "-d" in name]
        below = [*left[4:6], *left[1:4], left[0]] if number % 3 == 0 else [left[1], left[0], *left[2:6]]
        return [*flood, *below, *left[6:]][:LISTED]
    return improved(number, ranking) if segment == "head" and number not in RIGHT_ALREADY else ranking


def improved(number: int, ranking: Ranking) -> Ranking:
    """The best document on top; the document that was there moves down."""
    best, *others = f"q{number:03}-d0", *(name for name in ranking if name != f"q{number:03}-d0")
    if "-n" in others[0]:
        swapped(others, 0)
    return [best, *others]


def without_feed(number: int) -> Ranking:
    """Only what other suppliers have: nothing of the best grades."""
    known = grades(number)
    return [*(name for name in known if known[name] == 1), *unjudged(number)][:LISTED]


def swapped(ranking: Ranking, place: int) -> None:
    """Two neighbours change places."""
    ranking[place], ranking[place + 1] = ranking[place + 1], ranking[place]


def files() -> Mapping[str, str]:
    """The text of every file by its path below the suites."""
    every = list(queries())
    table = ["id\ttext\tsegment\tintent\tsearches_per_day"]
    table += [f"q{n:03}\t{text}\t{segment}\t{intent}\t{searches}" for n, text, segment, intent, searches in every]
    judgments = [f"q{n:03} 0 {name} {grade}" for n, *_ in every for name, grade in grades(n).items()]
    texts = {"data/queries.tsv": table, "data/judgments.txt": judgments}
    for rank in (accepted, fine, hidden_tail):
        texts[f"runs/{rank.__name__}.trec"] = [
            f"q{n:03} Q0 {name} {place} {LISTED + 1 - place} {rank.__name__}"
            for n, _, segment, *_ in every
            for place, name in enumerate(rank(n, segment), 1)
        ]
    return {path: "\n".join(lines) + "\n" for path, lines in texts.items()}


if __name__ == "__main__":
    for path, text in files().items():
        (SUITES / path).write_text(text, encoding="utf-8", newline="\n")
