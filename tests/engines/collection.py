"""A made-up shop for every engine: products, queries with a segment, judgments that follow from how both were made.

A product has a type, a colour, a material and a brand. A query asks for some of these, and the judgments count how
many of them a product has, so every grade has a reason. What goes wrong with rankings in life goes wrong here too:
queries in the plural need a stemmer, descriptions name products of other types (an accessory "for your tent" is not a
tent), sentences are full of stopwords, and a product that is sold out is of little use.
"""

import datetime
import json
import random
from dataclasses import asdict, dataclass

SIZE = 3000
SEED = 20
DEPARTMENTS = {
    "outdoor": ("tent", "sleeping bag", "hiking boot", "rain jacket", "camping stove", "water bottle"),
    "kitchen": ("frying pan", "kettle", "chopping board", "coffee grinder", "bread knife", "mixing bowl"),
    "office": ("desk lamp", "office chair", "notebook", "pencil case", "bookshelf", "paper tray"),
    "music": ("guitar strap", "drum stick", "keyboard stand", "violin bow", "microphone cable", "headphone"),
    "cycling": ("bicycle helmet", "bicycle pump", "cycling glove", "saddle bag", "bike light", "chain lock"),
    "baby": ("pushchair", "baby blanket", "high chair", "night light", "bath toy", "feeding bottle"),
}
COLOURS = ("red", "blue", "green", "black", "white", "grey", "yellow", "orange")
MATERIALS = ("wooden", "steel", "cotton", "leather", "plastic", "bamboo", "wool", "aluminium")
BRANDS = ("Aldera", "Brixholm", "Corvane", "Dunmarsh", "Elvring", "Fenwold", "Garrick", "Hollin", "Istrand", "Jorvale")
PRAISE = ("light", "sturdy", "compact", "quiet", "soft", "simple", "washable", "foldable", "durable", "handy")
SENTENCES = (
    "It is {one} and {two}, and it is made for the days on which you need it the most.",
    "This is the one for those who want it to be {one} and not too big.",
    "Made to last: {one}, {two}, and with a guarantee of {years} years.",
    "It comes in a box, and there is a small bag with it for the road.",
    "A {one} choice for the family, at home and on the way.",
    "We tested it for {years} years and it is as {two} as on the first day.",
)
SEGMENTS = ("type", "plural", "colour", "brand", "sentence", "model")
"""``tent``, ``tents``, ``red cotton tents``, ``Aldera tent``, ``a red tent for the family``, ``AL-0421``."""


@dataclass(frozen=True)
class Product:
    """A document."""

    id: str
    title: str
    description: str
    brand: str
    price: float
    stock: int
    date: str
    """Of the offer, as 2025-03-31."""


@dataclass(frozen=True)
class Query:
    id: str
    text: str
    segment: str


@dataclass(frozen=True)
class Collection:
    products: list[Product]
    queries: list[Query]
    judgments: dict[str, dict[str, int]]
    """Grades 0 to 3 of documents by query; what is not listed is of another department and never named."""


def plural(name):
    return name + ("es" if name.endswith(("s", "x", "ch", "sh")) else "s")


def make(size=SIZE, seed=SEED):
    """The same collection for the same numbers, on every machine and version of Python."""
    chance = random.Random(seed)
    facets, products = [], []
    for number in range(size):
        made = {
            "department": chance.choice(list(DEPARTMENTS)),
            "colour": chance.choice(COLOURS),
            "material": chance.choice(MATERIALS),
            "brand": chance.choice(BRANDS),
        }
        made["type"] = chance.choice(DEPARTMENTS[made["department"]])
        made["model"] = f"{made['brand'][:2].upper()}-{number:04}"
        made["mentioned"] = chance.choice(DEPARTMENTS[made["department"]])
        facets.append(made)
        products.append(_product(chance, made, f"P{number:05}"))
    queries, judgments = [], {}
    kinds = [(name, kind) for name in SEGMENTS for kinds in DEPARTMENTS.values() for kind in chance.sample(kinds, 4)]
    for number, (segment, kind) in enumerate(kinds):
        wanted = chance.choice([made for made in facets if made["type"] == kind])
        query = Query(f"q{number:03}", _text(chance, segment, wanted), segment)
        queries.append(query)
        grades = (_grade(segment, wanted, made, product) for made, product in zip(facets, products, strict=True))
        judgments[query.id] = {
            product.id: grade for product, grade in zip(products, grades, strict=True) if grade is not None
        }
    return Collection(products, queries, judgments)


def _product(chance, made, name):
    """One title in twenty is in the plural; half of the descriptions name another type of product."""
    kind = plural(made["type"]) if chance.random() < 0.05 else made["type"]
    words = [made["brand"], made["colour"], made["material"], kind]
    if chance.random() < 0.5:
        words.append(made["model"])
    sentences = [
        text.format(one=chance.choice(PRAISE), two=chance.choice(PRAISE), years=chance.randint(2, 9))
        for text in chance.sample(SENTENCES, chance.randint(1, 3))
    ]
    if chance.random() < 0.5:
        other = made["mentioned"]
        sentences.append(f"Goes well with your {other}: the best {plural(other)} deserve it.")
    sentences.append(f"Model {made['model']}, {made['colour']}, {made['material']}.")
    date = datetime.date(2023, 1, 1) + datetime.timedelta(days=chance.randrange(1000))
    return Product(
        id=name,
        title=" ".join(words),
        description=" ".join(sentences),
        brand=made["brand"],
        price=chance.randrange(500, 30000) / 100,
        stock=max(0, chance.randint(-10, 90)),
        date=date.isoformat(),
    )


def _text(chance, segment, wanted):
    kind, colour, material, brand = (wanted[name] for name in ("type", "colour", "material", "brand"))
    article = "an" if colour == "orange" else "a"
    purpose = chance.choice(("the family", "my days on the road", "those at home"))
    return {
        "type": kind,
        "plural": plural(kind),
        "colour": f"{colour} {material} {plural(kind)}",
        "brand": f"{brand} {kind}",
        "sentence": f"{article} {colour} {kind} for {purpose}",
        "model": wanted["model"],
    }[segment]


ASKED = {
    "type": (),
    "plural": (),
    "colour": ("colour", "material"),
    "brand": ("brand",),
    "sentence": ("colour",),
    "model": ("model",),
}


def _grade(segment, wanted, made, product):
    """3: everything that was asked. 2: all but one. 1: the type alone, or sold out. 0: another type that names it."""
    if segment == "model":
        return 3 if made["model"] == wanted["model"] else None
    if made["type"] != wanted["type"]:
        return 0 if wanted["type"] in product.description else None
    lacking = sum(made[name] != wanted[name] for name in ASKED[segment])
    return 1 if product.stock == 0 else max(1, 3 - lacking)


def write(collection, folder):
    """``products.jsonl``, ``queries.tsv`` and ``judgments.txt``, as a suite names them."""
    folder.mkdir(parents=True, exist_ok=True)
    products = (json.dumps(product) for product in documents(collection))
    queries = ("\t".join((query.id, query.text, query.segment)) for query in collection.queries)
    judgments = (
        f"{query} 0 {name} {grade}" for query, grades in collection.judgments.items() for name, grade in grades.items()
    )
    files = {"products.jsonl": products, "queries.tsv": ("id\ttext\tsegment", *queries), "judgments.txt": judgments}
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def documents(collection):
    """The products as JSON objects, as engines read them."""
    return [asdict(product) for product in collection.products]
