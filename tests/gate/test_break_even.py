"""How many new unjudged documents would have to be relevant, and how many judges found so at their ranks."""

import random
import re

import pytest
from suite_files import run_suite, write_judgments, write_rankings

SAME, LOSS, BELOW_NEW = (2, 2), (1, 2), (1, -2)
OBSERVED = "no_regression: {metric: RR@10, tolerance: 2%, decide_by: observed}"
EVIDENCE = "no_regression: {metric: RR@10, tolerance: 2%, hard_limit: 90%}"


def break_even(outcome):
    return [fact for fact in outcome.facts if fact.startswith("break-even: ")]


@pytest.mark.parametrize(("rule", "verdict"), [(OBSERVED, "fail"), (EVIDENCE, "inconclusive")])
def test_a_fall_that_hangs_on_new_documents_says_how_many_would_have_to_be_relevant(rule, verdict, town):
    """RR fell from 0.7 to 0.5; 2% of 0.7 are allowed. Each relevant one brings back 0.5 of 100 queries.

    At rank 1 the baseline has 40 relevant documents of 100, and now has 0 of the 60 that are judged.
    """
    outcome = town((SAME, 60), (BELOW_NEW, 40)).only(rule)

    assert outcome.verdict == verdict
    assert break_even(outcome) == [
        "break-even: RR@10 would fall by no more than the tolerance if about 38 of 40 new unjudged documents (95%) "
        "were relevant; judges found 25% of the documents at that rank relevant"
    ]
    assert outcome.facts[0] == break_even(outcome)[0]


def test_without_a_tolerance_the_question_is_no_loss_at_all(town):
    outcome = town((SAME, 60), (BELOW_NEW, 40)).only("worsened: {metric: RR@10, by_more_than: 0.3, at_most: 5%}")

    assert break_even(outcome) == [
        "break-even: RR@10 would not fall if about 40 of 40 new unjudged documents (100%) were relevant; "
        "judges found 25% of the documents at that rank relevant"
    ]


def test_within_the_tolerance_nothing_is_said_of_it(town):
    """RR fell by 9% of 0.55 behind new documents: within 10%, and beyond 2%."""
    within = town((SAME, 180), (BELOW_NEW, 20)).only(EVIDENCE.replace("2%", "10%"))
    beyond = town((SAME, 180), (BELOW_NEW, 20)).only(EVIDENCE)

    assert (within.verdict, break_even(within)) == ("pass", [])
    assert beyond.facts.index(break_even(beyond)[0]) == 0


def test_a_fall_that_all_of_them_could_not_undo_says_nothing_of_it(town):
    assert break_even(town((SAME, 40), (LOSS, 40), (BELOW_NEW, 20)).only(OBSERVED)) == []


def test_documents_that_the_baseline_lists_are_not_new(town):
    some = town((SAME, 60), (BELOW_NEW, 40))
    path = some.folder / "before.txt"
    path.write_text(path.read_text() + "".join(f"q{n:04} Q0 q{n:04}-new0 9 1 x\n" for n in range(60, 100)))

    assert break_even(some.only(OBSERVED)) == []


def test_only_documents_of_the_slice_count(town):
    some = town((SAME, 60), (BELOW_NEW, 40))
    outcome = some.gate(OBSERVED.replace("}", ", where: {segment: tail}}"))["no_regression::RR_10.segment-tail"]

    assert "of 20 new unjudged documents" in break_even(outcome)[0]


def test_of_a_weighted_mean_it_is_weighted(town):
    """RR fell by 20 / 220 from 130 / 220, and 2% are allowed: 17.4 / 220 have to come back by halves."""
    outcome = town((SAME, 60), (BELOW_NEW, 40), weights=[3] * 60 + [1] * 40).only(
        OBSERVED.replace("}", ", weighted: true}")
    )

    assert "if about 35 of 40 new unjudged documents (88%)" in break_even(outcome)[0]


def regrade(town, metric="nDCG@5"):
    """The same lists under judgments of three grades."""
    some = town((SAME, 60), (BELOW_NEW, 40))
    path = some.folder / "judgments.txt"
    grades = {False: " 1", True: " 3"}
    lines = path.read_text().splitlines()
    path.write_text(
        "".join(
            f"{line[:-2]}{grades[n % 4 == 0]}\n" if line[-1] == "1" else f"{line}\n" for n, line in enumerate(lines)
        )
    )
    return some.only(f"no_regression: {{metric: {metric}, tolerance: 2%}}")


def test_where_grades_count_it_is_the_top_grade_on_both_sides_of_the_sentence(town):
    (said,) = break_even(regrade(town))

    assert re.search(
        r"would fall by .* had the top grade 3; judges gave that grade to \d+% of the documents at that rank", said
    )


def test_where_no_judged_document_stands_at_that_rank_it_says_so(town):
    """An unjudged document was first already, and another one is now."""
    some = town(((-2, -3), 30))
    path = some.folder / "now.txt"
    path.write_text(path.read_text().replace("-new0", "-fresh").replace("-new1", "-new0"))

    assert break_even(some.only(OBSERVED))[0].endswith("; no document at that rank is judged")


def test_judging_such_a_share_relevant_leads_to_the_tolerance(tmp_path):
    """Up to three new documents a query: what they bring together is less than what each brings alone."""
    random_of = random.Random(5)
    before, now, new = {}, {}, []
    grades = {}
    for number in range(150):
        query = f"q{number:03}"
        before[query] = [f"{query}-d{place}" for place in range(10)]
        grades[query] = {each: int(random_of.random() < 0.25) for each in before[query]} | {f"{query}-gone": 1}
        now[query] = list(before[query])
        for place in range(random_of.randint(0, 3)):
            now[query].insert(random_of.choice([0, 1, 3]), f"{query}-new{place}")
        now[query] = now[query][:10]
        new += [(query, each) for each in now[query] if "new" in each]
    folder = Written(tmp_path, before, now)
    outcome = folder.judged(grades)
    count, of = map(int, re.search(r"(\d+) of (\d+) new", break_even(outcome)[0]).groups())
    changes = []
    for seed in range(6):
        relevant = random.Random(seed).sample(new, round(count / of * len(new)))
        labels = {query: dict(found) for query, found in grades.items()}
        for query, document in new:
            labels[query][document] = int((query, document) in relevant)
        changes.append(folder.judged(labels).figures[0].change)

    assert of <= len(new)
    assert sum(changes) / len(changes) == pytest.approx(-outcome.figures[0].tolerance, abs=0.008)
    assert outcome.figures[0].change < -0.04


class Written:
    """Lists in files, gated under one set of grades after the other."""

    def __init__(self, folder, before, now):
        self.folder = folder
        write_rankings(folder / "before.txt", before)
        write_rankings(folder / "now.txt", now)

    def judged(self, grades):
        write_judgments(self.folder / "judgments.txt", grades)
        rule = "no_regression: {metric: nDCG@10, tolerance: 2%, against: {run: before.txt}}"
        return run_suite(self.folder, rule, source="{run: now.txt}", depth=10).outcomes[1]
