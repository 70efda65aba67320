"""Fisher's randomisation test: exact where that is possible, close to it where it is not."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wenyuan.rules.evaluation.significance import randomisation_test

DIFFERENCES = st.lists(st.integers(-8, 8).map(lambda eighths: eighths / 8), min_size=1, max_size=8)


@given(DIFFERENCES)
def test_few_differences_are_tried_with_all_signs(differences: list[float]) -> None:
    sums = [
        sum(sign * one for sign, one in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    share = sum(abs(one) >= abs(sum(differences)) for one in sums) / len(sums)
    assert randomisation_test(differences) == pytest.approx(share)


def test_no_difference_is_no_evidence() -> None:
    assert randomisation_test([]) == 1.0
    assert randomisation_test([0.0] * 500) == 1.0


def test_a_steady_gain_is_significant_and_noise_is_not() -> None:
    noise = np.random.default_rng(3).normal(0, 1, 400)
    assert randomisation_test((noise - noise.mean()).tolist()) > 0.9
    assert randomisation_test((noise + 1).tolist()) < 0.001


@pytest.mark.parametrize("seed", range(5))
def test_drawn_signs_come_close_to_the_normal_distribution(seed: int) -> None:
    # Of 400 differences of one size, the sum of signs is normal with deviation 20, in steps of 2: p = .0511 at 40.
    differences = [0.5] * 220 + [-0.5] * 180
    assert randomisation_test(differences, seed) == pytest.approx(0.0511, abs=0.006)


@settings(max_examples=20)
@given(st.lists(st.floats(-1, 1), min_size=15, max_size=40))
def test_the_same_differences_give_the_same_value_on_either_side(differences: list[float]) -> None:
    given_once = randomisation_test(differences)
    assert randomisation_test(differences) == given_once
    assert randomisation_test([-one for one in differences]) == given_once
    assert 0 < given_once <= 1
