"""Error rates of the shipped rules on changes whose truth is known: a small part of ``benchmarks/calibration.py``."""

import importlib
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

pytestmark = pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="needs a checkout of the project")


@pytest.fixture
def calibration(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    module = importlib.import_module("calibration")
    monkeypatch.setattr(module, "RULES", {module.OURS: module.RULES[module.OURS]})  # not those that it is compared with
    return module


def test_the_true_change_of_a_population_is_exact_and_its_scores_are_scores(calibration):
    null = calibration.unchanged(calibration.PROFILES[0])
    populations = {name: changed(null) for name, changed in calibration.SCENARIOS.items()}

    assert {name: each.change for name, each in populations.items()} == pytest.approx(
        {
            "no change": 0,
            "few fixed": 0,
            "rare fixed": 0,
            "few break": 0,
            "-2%": -0.02,
            "-5%": -0.05,
            "-5% broken": -0.05,
        },
        abs=1e-12,
    )
    for population in populations.values():
        assert 0 <= population.now.min() <= population.now.max() <= 1


def test_the_default_keeps_its_level_and_passes_half_of_falls_of_the_tolerance(calibration):
    null = calibration.unchanged(calibration.PROFILES[0])
    harmless = calibration.judged(null, 200, 600)[calibration.OURS]
    fell = calibration.judged(calibration.diffuse(null, 0.02), 200, 600)[calibration.OURS]

    assert harmless.fails <= 0.06 + 2 * np.sqrt(0.06 * 0.94 / 600)
    assert 0.4 <= fell.passes <= 0.6


def test_the_default_finds_a_fall_of_5_percent(calibration):
    null = calibration.unchanged(calibration.PROFILES[0])

    assert calibration.judged(calibration.diffuse(null, 0.05), 200, 300)[calibration.OURS].fails >= 0.96
