"""Writes the catalogue: products whose titles use one of two words for a thing, and queries that use the other."""

from pathlib import Path

FOLDER = Path(__file__).parent
WORDS = [
    "mug cup",
    "pan skillet",
    "sofa couch",
    "jumper sweater",
    "lamp light",
    "rug carpet",
    "bag purse",
    "bin basket",
]
COLORS = ["red", "blue", "green", "white", "black"]
MATERIALS = ["small", "large", "vintage"]

products, queries, judgments = ["id\ttitle"], ["id\ttext"], []
for thing, words in enumerate(map(str.split, WORDS)):
    for color in COLORS:
        query = f"q{len(queries):02}"
        queries.append(f"{query}\t{color} {words[len(queries) % 2]}")
        for number, kind in enumerate(MATERIALS):
            document = f"p{len(products):03}"
            # the large ones name both words, so that the vectors learn that they mean the same
            name = " ".join(words) if kind == "large" else words[(number + thing) % 2]
            products.append(f"{document}\t{kind} {color} {name}")
            judgments.append(f"{query} 0 {document} {3 if kind == 'vintage' else 2}")
for name, lines in (("products.tsv", products), ("queries.tsv", queries), ("judgments.txt", judgments)):
    (FOLDER / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
