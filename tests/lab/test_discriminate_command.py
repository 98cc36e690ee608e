"""``ireval discriminate``: how many pairs of systems a metric tells apart."""

import json
from itertools import combinations
from random import Random

import pytest
from suite_files import write_judgments, write_rankings

from pytest_ireval import evaluate

RUNS = {"one": "q Q0 a 1 2.0 x\nr Q0 a 1 2.0 x\n", "two": "q Q0 b 1 2.0 x\nr Q0 a 1 2.0 x\n"}


def test_metrics_are_ordered_by_the_share_of_pairs_that_they_tell_apart(ireval, monkeypatch, tmp_path):
    """Six systems of growing skill on twelve queries: the same as SciPy says of all fifteen pairs."""
    stats = pytest.importorskip("scipy.stats")
    random = Random(8)
    queries = [f"q{i}" for i in range(12)]
    monkeypatch.chdir(tmp_path)
    write_judgments(tmp_path / "judgments.txt", {query: {f"d{i}": int(i < 3) for i in range(10)} for query in queries})
    for skill in range(6):
        rankings = {}
        for query in queries:
            order = sorted(range(10), key=lambda i, skill=skill: random.random() + (i < 3) * skill / 8, reverse=True)
            rankings[query] = [f"d{i}" for i in order]
        write_rankings(tmp_path / f"s{skill}.txt", rankings)
    files = [f"s{skill}.txt" for skill in range(6)]
    metrics = ("-m", "AP", "-m", "RR", "-m", "P@3")

    found = json.loads(ireval("discriminate", "judgments.txt", *files, *metrics, "--format", "json").out)
    for row in found["metrics"]:
        values = [evaluate("judgments.txt", file, row["metric"])[row["metric"]].values for file in files]
        pairs = [stats.ttest_rel([*b.values()], [*a.values()]) for a, b in combinations(values, 2)]
        significant = sum(pair.pvalue < 0.05 for pair in pairs)
        assert (row["pairs"], row["significant"], row["share"]) == (15, significant, significant / 15)
        intervals = [pair.confidence_interval() for pair in pairs]
        assert row["difference_required"] == pytest.approx(max(each.high - each.low for each in intervals) / 2)
    shares = [row["share"] for row in found["metrics"]]
    assert shares == sorted(shares, reverse=True)
    assert 0 < shares[-1] < shares[0] < 1
    assert ireval("discriminate", "judgments.txt", *files, *metrics, "--svg", "power.svg").code == 0
    picture = (tmp_path / "power.svg").read_text()
    assert picture.count("<circle") + picture.count('class="curve now"') == 3
    assert f"AP: {found['metrics'][0]['significant']} of 15 pairs significant" in picture


def test_a_metric_that_cannot_be_tested_is_named(ireval, write_texts):
    write_texts(judgments="q 0 a 1\nr 0 a 1\n", **RUNS)
    outcome = ireval("discriminate", "judgments.txt", "one.txt", "two.txt", "-m", "AP", "-m", "NumRet")

    assert "NumRet is left out: its figure is not a mean (sum)" in outcome.out
    outcome = ireval("discriminate", "judgments.txt", "one.txt", "two.txt", "-m", "NumRet", "--svg", "power.svg")
    assert "nothing to draw: power.svg not written" in outcome.out
