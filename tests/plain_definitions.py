"""The definitions, one query at a time, the way one would write them on paper; shares no code with the product.

``ranked`` holds the grade at each rank (None: not judged), ``judged`` all judged grades of the query.
"""

from itertools import pairwise
from math import ceil, exp, floor, inf, log, log2

import pytest
from hypothesis import strategies as st

from pytest_ireval import SideData, evaluate

TOP = 4
COLLECTION = 100
GRADES = st.integers(-2, TOP)


@st.composite
def query(draw):
    """(grades by rank with None for unjudged documents, grades of judged documents that were missed)."""
    ranked = draw(st.lists(st.none() | GRADES, max_size=12))
    missed = draw(st.lists(GRADES, max_size=6))
    return ranked, missed if any(grade is not None for grade in ranked) or missed else [0]


def queries():
    return st.lists(query(), min_size=1, max_size=6)


def check_definitions(definitions, made):
    """Fail if a metric has another value than its definition for one of the queries."""
    judgments, rankings = {}, {}
    for number, (ranked, missed) in enumerate(made):
        documents = [f"d{rank:02}" for rank in range(len(ranked))]
        rankings[f"q{number}"] = documents
        known = {d: g for d, g in zip(documents, ranked, strict=True) if g is not None}
        judgments[f"q{number}"] = known | {f"m{i}": grade for i, grade in enumerate(missed)}

    evaluation = evaluate(judgments, rankings, list(definitions), side_data=SideData(collection=COLLECTION))

    for result, (name, definition) in zip(evaluation.metrics, definitions.items(), strict=True):
        expected = {
            f"q{number}": definition(ranked, [g for g in ranked if g is not None] + missed)
            for number, (ranked, missed) in enumerate(made)
        }
        assert result.values == pytest.approx(expected, abs=1e-12), name


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


def interpolated(ranked, judged, level, rel=1, nearest=False):
    wanted = level * count(judged, rel)
    needed = int(wanted) + (wanted - int(wanted) >= 0.5) if nearest else ceil(wanted - 1e-9)
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


def blended(ranked, judged, beta, rel=1):
    """For each rank, whether the document is relevant, how many are so far, and the blended ratio."""
    ideal = sorted((gain(g) for g in judged if g >= rel), reverse=True)
    found, got, rows = 0, 0.0, []
    for rank, grade in enumerate(ranked, 1):
        good = grade is not None and grade >= rel
        if good:
            found += 1
            got += gain(grade)
        rows.append((good, found, (beta * got + found) / (beta * sum(ideal[:rank]) + rank)))
    return rows


def o_measure(ranked, judged, beta=1, k=inf):
    return next((br for rank, (good, _, br) in enumerate(blended(ranked, judged, beta), 1) if good and rank <= k), 0.0)


def preferred(ranked, k=inf):
    """The rank of the first of the best documents."""
    seen = [gain(grade) for rank, grade in enumerate(ranked, 1) if rank <= k]
    return seen.index(max(seen)) + 1 if seen and max(seen) > 0 else 0


def p_measure(ranked, judged, beta=1, k=inf):
    stop = preferred(ranked, k)
    return blended(ranked, judged, beta)[stop - 1][2] if stop else 0.0


def p_plus(ranked, judged, beta=1, k=inf):
    ratios = [br for good, _, br in blended(ranked, judged, beta)[: preferred(ranked, k)] if good]
    return share(sum(ratios), len(ratios))


def ncu(ranked, judged, stop, beta=1, gamma=0.95):
    readers = {
        "graded": lambda found, grade: grade,
        "rank_biased": lambda found, grade: gamma ** (found - 1),
        "uniform": lambda found, grade: 1,
    }[stop]
    everybody = sum(readers(i, g) for i, g in enumerate((g for g in judged if g >= 1), 1))
    rows = zip(ranked, blended(ranked, judged, beta), strict=True)
    return share(sum(readers(found, grade) * br for grade, (good, found, br) in rows if good), everybody)


def r_measure(ranked, judged, beta=1):
    r = count(judged, 1)
    got = [gain(g) for g in ranked[:r] if g is not None and g >= 1]
    ideal = sorted((gain(g) for g in judged), reverse=True)[:r]
    return share(beta * sum(got) + len(got), beta * sum(ideal) + r)


def average_weighted_precision(ranked, judged, k=inf):
    ideal, total = sorted((gain(g) for g in judged), reverse=True), 0.0
    for rank, grade in enumerate(ranked, 1):
        if gain(grade) > 0 and rank <= k:
            total += sum(gain(g) for g in ranked[:rank]) / sum(ideal[:rank])
    return share(total, count(judged, 1))


def graded_ap(ranked, judged, k=inf, chance=gain):
    """``chance(g)``: how many readers call grade g relevant."""
    total = 0.0
    for n, grade in enumerate(ranked, 1):
        if n <= k:
            total += sum(min(chance(above), chance(grade)) for above in ranked[:n]) / n
    return share(total, sum(chance(grade) for grade in judged))


def yaap(ranked, judged):
    s = average_precision(ranked, judged) * count(judged, 1)
    return log((1 + s) / (1 + count(judged, 1) - s))


def accuracy(ranked, judged, k=inf, rel=1):
    seen = [good for rank, good in enumerate(relevant(ranked, rel), 1) if rank <= k]
    pairs = [i < j for i, a in enumerate(seen) for j, b in enumerate(seen) if a and not b]
    return sum(pairs) / len(pairs) if pairs else float(any(seen))


def r_precision_at(ranked, judged, multiple):
    rank = floor(multiple * count(judged, 1) + 0.9)
    return share(sum(relevant(ranked, 1)[:rank]), rank)


def ndcg_at_relevant(ranked, judged):
    r = count(judged, 1)
    at_ranks = [ndcg(ranked, judged, rank) for rank, grade in enumerate(ranked, 1) if gain(grade) > 0]
    return share(sum(at_ranks) + (r - len(at_ranks)) * ndcg(ranked, judged), r)


def ndcg_at_levels(ranked, judged):
    ends = sorted({count(judged, grade) for grade in judged if grade > 0})
    points = [ndcg(ranked, judged, end) for end in ends]
    if ends and len(ranked) > ends[-1] + 1:
        points.append(ndcg(ranked, judged))
    return share(sum(points), len(points))


def g(ranked, judged):
    ideal, total = sorted((gain(grade) for grade in judged if grade > 0), reverse=True), 0.0
    for rank, grade in enumerate(ranked, 1):
        cost = sum(max(best, 1) for best in ideal[:rank]) + max(rank - len(ideal), 0)
        total += gain(grade) / log2(2 + cost - sum(gain(other) for other in ranked[:rank]))
    return share(total, sum(ideal))


def binary_g(ranked, judged):
    good = relevant(ranked, 1)
    return share(sum(1 / log2(2 + good[:i].count(False)) for i in range(len(good)) if good[i]), count(judged, 1))


def overlap(one, other, p, depth):
    agreement = [len(set(one[:i]) & set(other[:i])) / i for i in range(1, depth + 1)]
    return share(sum(p**i * a for i, a in enumerate(agreement)), sum(p**i for i in range(depth)))


def compatibility(ranked, judged, p=0.95, normalize=True):
    """Documents are their ranks; those that were missed are negative."""
    left = sorted((grade for grade in judged if grade > 0), reverse=True)
    for grade in ranked:
        if gain(grade) > 0:
            left.remove(grade)
    pool = [(grade, rank) for rank, grade in enumerate(ranked, 1) if gain(grade) > 0]
    pool += [(grade, 10**6 + i) for i, grade in enumerate(left)]
    ideal = [document for _, document in sorted(pool, key=lambda entry: (-entry[0], entry[1]))]
    documents = list(range(1, len(ranked) + 1))
    depth = max(len(documents), len(ideal))
    found = overlap(documents, ideal, p, depth)
    return share(found, overlap(ideal, ideal, p, depth)) if normalize else found


def utility(ranked, judged, hit, noise, miss, rest, size):
    retrieved, found = len(ranked), sum(relevant(ranked, 1))
    left_out = count(judged, 1) - found
    return hit * found + noise * (retrieved - found) + miss * left_out + rest * (size - retrieved - left_out)


def reading(ranking, goes_on, top, *, cutoff=1000, floor=0, unjudged=0.0):
    """The pairs (probability to come to a rank, gain there) of a reader, one document after the other.

    ``goes_on(rank, gains so far)`` is the probability to go on.
    """
    gains, reaches, pairs = [], 1.0, []
    for rank in range(1, cutoff + 1):
        grade = ranking[rank - 1] if rank <= len(ranking) else None
        gains.append(unjudged if grade is None else max(grade - floor, 0) / (top - floor))
        pairs.append((reaches, gains[-1]))
        reaches *= goes_on(rank, gains)
    return pairs


def expected_utility(*reader, **settings):
    pairs = reading(*reader, **settings)
    return sum(reaches * gain for reaches, gain in pairs) / sum(reaches for reaches, _ in pairs)


def expected_total_utility(*reader, **settings):
    """By where the reader stops: the gain down to there, times the probability to stop there."""
    pairs = [*reading(*reader, **settings), (0.0, 0.0)]
    so_far, whole = 0.0, 0.0
    for (reaches, gain), (next_reaches, _) in pairwise(pairs):
        so_far += gain
        whole += (reaches - next_reaches) * so_far
    return whole


def expected_depth(*reader, **settings):
    """By where the reader stops: the rank, times the probability to stop there."""
    reaches = [each for each, _ in reading(*reader, **settings)] + [0.0]
    return sum(rank * (reaches[rank - 1] - reaches[rank]) for rank in range(1, len(reaches)))


def insq(t):
    return lambda rank, gains: ((rank + 2 * t - 1) / (rank + 2 * t)) ** 2


def inst(t):
    """The reader expects t documents more, and t less what she has found."""
    return lambda rank, gains: (1 - 1 / (rank + t + (t - sum(gains)))) ** 2


def scaled_dcg(rank, gains):
    return log2(rank + 1) / log2(rank + 2)


def nearly_err(patience):
    return lambda rank, gains: patience(rank, gains) * (1 - gains[-1])


def bejeweled(t, k, hb=0, hc=0, median=0.5):
    def goes_on(rank, gains):
        wants, pays = t, k
        for gain in gains[:-1]:
            wants, pays = wants + hb * (gain - median), pays + hc * (gain - median)
        return float(sum(gains) < wants - 1e-9 and rank < pays - 1e-9)

    return goes_on


def forager(stop, t=2, b1=0.9, r1=10, a=0.2, b2=0.9, r2=10):
    def goes_on(rank, gains):
        goal = 1 - (1 + b1 * exp((t - sum(gains)) * r1)) ** -1
        rate = (1 + b2 * exp((a - sum(gains) / rank) * r2)) ** -1
        return {"goal": goal, "rate": rate, "both": goal * rate}[stop]

    return goes_on
