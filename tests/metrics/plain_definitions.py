"""The definitions, one query at a time, the way one would write them on paper; shares no code with the product.

``ranked`` holds the grade at each rank (None: not judged), ``judged`` all judged grades of the query.
"""

from math import inf, log2


def relevant(ranked, rel):
    return [grade is not None and grade >= rel for grade in ranked]


def count(judged, rel):
    return sum(grade >= rel for grade in judged)


def share(a, b):
    return a / b if b else 0.0


def precision(ranked, judged, k, rel=1):
    return sum(relevant(ranked, rel)[:k]) / k


def recall(ranked, judged, k, rel=1):
    return share(sum(relevant(ranked, rel)[:k]), count(judged, rel))


def f(p, r, beta=1):
    return share((1 + beta**2) * p * r, beta**2 * p + r)


def average_precision(ranked, judged, k=inf, rel=1, divisor=None):
    total, found = 0.0, 0
    for rank, good in enumerate(relevant(ranked, rel), 1):
        found += good
        if good and rank <= k:
            total += found / rank
    return share(total, count(judged, rel) if divisor is None else divisor)


def reciprocal_rank(ranked, judged, k=inf, rel=1):
    return next((1 / rank for rank, good in enumerate(relevant(ranked, rel), 1) if good and rank <= k), 0.0)


def interpolated(ranked, judged, level, rel=1):
    wanted = level * count(judged, rel)
    needed = int(wanted) + (wanted - int(wanted) >= 0.5)
    best, found = 0.0, 0
    for rank, good in enumerate(relevant(ranked, rel), 1):
        found += good
        if good and found >= needed:
            best = max(best, found / rank)
    return best


def bpref(ranked, judged, rel=1):
    total, bad = 0.0, 0
    good_count, bad_count = count(judged, rel), sum(0 <= grade < rel for grade in judged)
    for grade in ranked:
        if grade is None or grade < 0:
            continue
        if grade >= rel:
            total += 1 - min(bad, good_count) / min(bad_count, good_count) if bad else 1
        else:
            bad += 1
    return share(total, good_count)


def inferred_ap(ranked, judged, rel=1, epsilon=1e-5):
    total, good, bad, unjudged = 0.0, 0, 0, 0
    for rank, grade in enumerate(ranked, 1):
        if grade is None:
            continue
        if grade < 0:
            unjudged += 1
        elif grade < rel:
            bad += 1
        else:
            if rank == 1:
                total += 1
            else:
                chance = (good + epsilon) / (good + bad + 2 * epsilon)
                total += 1 / rank + (rank - 1) / rank * (good + bad + unjudged) / (rank - 1) * chance
            good += 1
    return share(total, count(judged, rel))


def gain(grade, kind="linear"):
    grade = max(grade or 0, 0)
    return 2**grade - 1 if kind == "exp" else grade


def dcg(grades, k=inf, kind="linear", discount=lambda rank: log2(rank + 1)):
    return sum(gain(grade, kind) / discount(rank) for rank, grade in enumerate(grades, 1) if rank <= k)


def ndcg(ranked, judged, k=inf, kind="linear"):
    return share(dcg(ranked, k, kind), dcg(sorted(judged, reverse=True), k, kind))


def err(grades, top, k=inf):
    total, goes_on = 0.0, 1.0
    for rank, grade in enumerate(grades, 1):
        stops = gain(grade, "exp") / 2**top
        if rank <= k:
            total += goes_on * stops / rank
        goes_on *= 1 - stops
    return total


def nerr(ranked, judged, top, k=inf):
    return share(err(ranked, top, k), err(sorted(judged, reverse=True), top, k))


def rbp(ranked, top, p=0.8, k=inf):
    return (1 - p) * sum(gain(g) / top * p ** (rank - 1) for rank, g in enumerate(ranked, 1) if rank <= k)


def rbp_residual(ranked, p=0.8):
    holes = sum((1 - p) * p ** (rank - 1) for rank, grade in enumerate(ranked, 1) if grade is None)
    return holes + p ** len(ranked)


def q_measure(ranked, judged, beta=1, k=inf, rel=1):
    ideal = sorted((gain(g) for g in judged if g >= rel), reverse=True)
    total, found, got = 0.0, 0, 0.0
    for rank, grade in enumerate(ranked, 1):
        if grade is not None and grade >= rel:
            found += 1
            got += gain(grade)
            if rank <= k:
                total += (beta * got + found) / (beta * sum(ideal[:rank]) + rank)
    return share(total, count(judged, rel))
