"""Makes ``searches.tsv``: a log of 1,000 searches, a few queries often and many seldom."""

from pathlib import Path
from random import Random

THINGS = ["mug", "pan", "knife", "bottle", "board", "kettle", "toaster", "bowl", "plate", "spoon", "lamp", "chair"]
KINDS = ["red", "blue", "steel", "large", "small", "travel", "wooden", "glass"]


def main(file: Path) -> None:
    """Frequencies follow Zipf's law; one search in fifty is an order number, which is asked once."""
    random = Random(11)  # noqa: S311 - a log is made up, not a secret
    queries = [*THINGS, *(f"{kind} {thing}" for kind in KINDS for thing in THINGS)]
    lines = ["session\tquery"]
    for number in range(1000):
        (query,) = random.choices(queries, [1 / (place + 1) for place in range(len(queries))])
        if random.random() < 0.02:
            query = f"order {random.randrange(10**6)}"
        lines.append(f"s{number // 3}\t{query.upper() if random.random() < 0.1 else query}")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(__file__).with_name("searches.tsv"))
