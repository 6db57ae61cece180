"""The papers' printed rates follow from their printed counts."""

import pytest
from scipy.stats import binomtest

# arm: TP, FP, TN, FN and the printed accuracy, FPR, precision, recall (TRUER, Table 10 and appendix A.2)
AUDITS = {
    "Math-1.5B TTRL": (56183, 4363, 30498, 1116, 94.05, 12.52, 92.79, 98.05),
    "Math-1.5B TRUER": (55400, 1081, 33395, 2284, 96.35, 3.14, 98.09, 96.04),
    "Llama MATH500 TTRL": (69295, 27737, 20284, 1084, 75.66, None, None, None),
    "Llama MATH500 TRUER": (75309, 2208, 38500, 2383, 96.12, None, None, None),
    "Llama AMC23 TTRL": (15710, 14571, 7898, 221, 61.48, None, None, None),
    "Llama AMC23 TRUER": (15215, 1085, 19144, 2956, 89.48, None, None, None),
}
ROLLOUTS = {"Math-1.5B": 92160, "Llama MATH500": 118400, "Llama AMC23": 38400}


@pytest.mark.parametrize("arm", AUDITS)
def test_reward_audits_print_what_their_counts_say(arm):
    tp, fp, tn, fn, *printed = AUDITS[arm]
    total = tp + fp + tn + fn
    assert total == ROLLOUTS[arm.rsplit(" ", 1)[0]]
    computed = [100 * (tp + tn) / total, 100 * fp / (fp + tn), 100 * tp / (tp + fp), 100 * tp / (tp + fn)]
    for value, expected in zip(computed, printed, strict=True):
        if expected is not None:
            assert value == pytest.approx(expected, abs=0.0051)


# policy: TP, FP, active groups, precision, TP kept, FP removed (TRUER, Table 11)
FILTERS = {
    "none": (56596, 4012, 2557, 93.38, 100.0, 0.0),
    "margin 8": (54133, 1299, 1815, 97.66, 95.6, 67.6),
    "margin 10": (53143, 1014, 1714, 98.13, 93.9, 74.7),
    "margin 12": (52110, 928, 1636, 98.25, 92.1, 76.9),
    "support 24": (43692, 496, 1179, 98.88, 77.2, 87.6),
    "TRUER": (55400, 1081, 2105, 98.09, 97.9, 73.1),
}


@pytest.mark.parametrize("policy", FILTERS)
def test_vote_filters_print_what_their_counts_say(policy):
    tp, fp, _, precision, kept, removed = FILTERS[policy]
    assert 100 * tp / (tp + fp) == pytest.approx(precision, abs=0.0051)
    assert 100 * tp / FILTERS["none"][0] == pytest.approx(kept, abs=0.051)
    assert 100 * (1 - fp / FILTERS["none"][1]) == pytest.approx(removed, abs=0.051)


def test_the_fixed_pool_of_the_cascade_adds_up():
    majority_tp, majority_fp, lost, recovered = 56596, 4012, 1557, 361
    assert majority_tp - lost + recovered == 55400
    assert majority_tp - lost == 55039
    errors = {"majority": 4012 + 1088, "TRUER": 1081 + 2284}
    assert errors == {"majority": 5100, "TRUER": 3365}
    accuracy = {policy: 100 * (1 - count / 92160) for policy, count in errors.items()}
    assert accuracy == pytest.approx({"majority": 94.47, "TRUER": 96.35}, abs=0.0051)
    assert majority_fp == FILTERS["none"][1]
    accepted = 1 - (357 + 99) / 2880
    assert accepted == pytest.approx(0.8417, abs=5.1e-5)
    assert 100 * FILTERS["TRUER"][2] / FILTERS["none"][2] == pytest.approx(82.3, abs=0.051)


def test_the_margin_rule_discards_about_2_7_times_as_many_correct_rewards():
    """Interpolated between margins 8 and 10 to the margin whose false positives equal TRUER's."""
    (tp8, fp8, *_), (tp10, fp10, *_), (tp, fp, *_) = FILTERS["margin 8"], FILTERS["margin 10"], FILTERS["TRUER"]
    matched = tp8 + (fp8 - fp) / (fp8 - fp10) * (tp10 - tp8)
    assert (FILTERS["none"][0] - matched) / (FILTERS["none"][0] - tp) == pytest.approx(2.7, abs=0.05)


# category: candidates, priority, printed weight (TRUER, Table 6)
CATEGORIES = {"majority-correct": (1621, 1, 0.2813), "majority-wrong": (440, 3, 3.1091), "minority-correct": (153, 3, 8.9412)}
CATEGORIES |= {"minority-wrong": (1434, 1, 0.3180)}


def test_category_weights_follow_from_counts_and_priorities():
    total = sum(n for n, _, _ in CATEGORIES.values())
    priorities = sum(alpha for _, alpha, _ in CATEGORIES.values())
    assert total == 3648
    for n, alpha, printed in CATEGORIES.values():
        assert total * alpha / (n * priorities) == pytest.approx(printed, abs=5.1e-5)
    assert sum(n * total * alpha / (n * priorities) for n, alpha, _ in CATEGORIES.values()) == pytest.approx(total)


def test_the_training_repetitions_average_to_the_printed_means():
    """TRUER, Table 4; differences are computed before rounding, so each printed one is within a unit of the last digit."""
    naive, truer, oracle = (56.09, 55.23, 54.84), (59.38, 61.02, 59.69), (64.61, 64.30, 65.31)
    for values, printed in ((naive, 55.39), (truer, 60.03), (oracle, 64.74)):
        assert sum(values) / 3 == pytest.approx(printed, abs=0.0051)
    for a, b, printed in zip(truer, naive, (3.28, 5.78, 4.84), strict=True):
        assert a - b == pytest.approx(printed, abs=0.0151)
    assert sum((3.28, 5.78, 4.84)) / 3 == pytest.approx(4.64, abs=0.0101)


def test_the_sign_test_of_13_of_14_is_two_sided_0_002():
    """CoRE against CISC on the contested MATH L4 and L5 settings."""
    assert binomtest(13, 14).pvalue == pytest.approx(0.002, abs=5e-4)
    assert binomtest(13, 14).pvalue == pytest.approx(30 / 2**14)
