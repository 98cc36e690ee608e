"""A small search with components, each of which a variable of the environment switches off."""

import os

PRODUCTS = {
    "couch-oak": ("oak couch", 70),
    "couch-cover": ("cover for a couch", 20),
    "couch-kids": ("couch for kids", 30),
    "cup-red": ("red cup", 90),
    "cup-tea": ("cup for tea", 60),
    "cup-oak": ("oak cup", 10),
    "television-4k": ("television 4k", 80),
    "television-old": ("television of walnut", 5),
    "television-stand": ("oak stand for a television", 40),
    "tea-green": ("green tea", 85),
    "tea-black": ("black tea", 75),
    "tea-red": ("red tea", 15),
    "glass-wine": ("glass for wine", 55),
    "glass-red": ("red glass", 25),
    "glasses-sun": ("sun glasses", 95),
    "glasses-case": ("case for glasses", 35),
}
SYNONYMS = {"sofa": "couch", "mug": "cup", "tv": "television"}
PLURALS = {"sofas": "sofa", "cups": "cup", "glasses": "glass"}
STOP_WORDS = {"a", "the", "of"}


def is_on(component):
    return os.environ.get(component, "1") == "1"


USES_SYNONYMS, USES_POPULARITY = is_on("SYNONYMS"), is_on("POPULARITY")
CUTS_PLURALS, DROPS_STOP_WORDS = is_on("PLURALS"), is_on("STOP_WORDS")


def analyze(text):
    words = text.lower().split()
    if DROPS_STOP_WORDS:
        words = [word for word in words if word not in STOP_WORDS]
    if CUTS_PLURALS:
        words = [PLURALS.get(word, word) for word in words]
    return {SYNONYMS.get(word, word) for word in words} if USES_SYNONYMS else set(words)


def search(text):
    wanted, found = analyze(text), {}
    for product, (title, popularity) in PRODUCTS.items():
        words = analyze(title)
        if matching := wanted & words:
            score = len(matching) / len(words)
            found[product] = score + popularity / 1000 if USES_POPULARITY else score
    return sorted(found, key=lambda product: (-found[product], product))
