"""Makes ``clicks.tsv``, the log of a made-up shop whose users see ``rankings.txt``: they click better documents more.

Users read from the top. They click a document of grade 0, 1, 2 or 3 with a chance of 8%, 25%, 50% or 80%, are satisfied
by it with a chance of 10%, 30%, 60% or 90%, and leave after any other rank with a chance of 15%.
"""

import random
from pathlib import Path

from pytest_ireval import read_judgments, read_queries, read_rankings

HERE = Path(__file__).parent
ATTRACTION, SATISFACTION, TIRED = (0.08, 0.25, 0.5, 0.8), (0.1, 0.3, 0.6, 0.9), 0.15
SEARCHES = 900


def main(folder: Path = HERE) -> None:
    """Sessions of three searches, the first queries more often than the last ones."""
    rng = random.Random(5)  # noqa: S311 - nothing secret
    judgments, queries = read_judgments(HERE / "judgments.txt"), read_queries(HERE / "queries.tsv")
    grades = {
        (judgments.queries[query], document): int(grade)
        for query, document, grade in zip(judgments.query, judgments.documents.texts(), judgments.grade, strict=True)
    }
    rankings = read_rankings(HERE / "rankings.txt")
    lists = {q: rankings.documents.texts()[rankings.first[i] :][:8] for i, q in enumerate(rankings.queries)}
    lines = ["session\tquery\tdocuments\tclicks\ttime\n"]
    for number in range(SEARCHES):
        query = rng.choices(list(lists), [1 / (i + 2) for i in range(len(lists))])[0]
        shown = lists[query][:]
        at = rng.randrange(len(shown) - 1)
        shown[at], shown[at + 1] = shown[at + 1], shown[at]  # as the answers of a live system vary
        clicked = []
        for document in shown:
            grade = grades.get((query, document), 0)
            if rng.random() < ATTRACTION[grade]:
                clicked.append(document)
                if rng.random() < SATISFACTION[grade]:
                    break
            if rng.random() < TIRED:
                break
        time = f"2026-03-{1 + number // 30:02}T{8 + number % 30 // 3:02}:{number % 3 * 4:02}:00Z"
        cells = (f"s{number // 3:03}", queries.text_of(query), " ".join(shown), " ".join(clicked), time)
        lines.append("\t".join(cells) + "\n")
    (folder / "clicks.tsv").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
