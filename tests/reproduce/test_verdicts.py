"""Verdicts follow from values, spread, seeds and how far networks had learned, and say why."""

from __future__ import annotations

import math

import pytest
from made_evidence import evidence, row, scns

from scn.reproduce import published
from scn.reproduce.checks import (
    approaches,
    beats_one4all,
    d1_is_one4all,
    grows_with_d,
    one_range_each,
    smooth_beta,
    specialised,
)
from scn.reproduce.evidence import NotMeasured, Values
from scn.reproduce.parts import ROTATION, SHIFTED
from scn.reproduce.special_checks import one_base_model
from scn.reproduce.verdicts import FAILS, HOLDS, OPEN, Judgement, above, all_of, judge, level, limited

HIGH, LOW = Values((0.86, 0.861, 0.859)), Values((0.75, 0.752, 0.748))


def test_a_difference_that_is_larger_than_its_error_decides() -> None:
    assert above(HIGH, LOW).verdict == HOLDS
    assert above(LOW, HIGH).verdict == FAILS
    assert "+0.1100" in above(HIGH, LOW).why


def test_a_difference_within_the_spread_of_seeds_decides_nothing() -> None:
    wide = Values((0.70, 0.90, 0.80))
    assert above(wide, Values((0.79, 0.78, 0.80))).verdict == OPEN


def test_one_seed_decides_what_is_clear_alone() -> None:
    assert above(Values((0.86,)), Values((0.75,))).verdict == HOLDS
    assert above(Values((0.86,)), Values((0.85,))).verdict == OPEN
    assert above(Values((0.86,)), LOW).verdict == HOLDS


def test_at_least_so_much_more_may_be_asked_for() -> None:
    assert above(HIGH, LOW, least=0.1).verdict == HOLDS
    assert above(HIGH, LOW, least=0.2).verdict == FAILS
    assert above(LOW, HIGH, least=-0.2).verdict == HOLDS


def test_level_is_within_a_limit_for_sure_or_beyond_it_for_sure() -> None:
    near = Values((0.855, 0.856, 0.854))
    assert level(HIGH, near, 0.01).verdict == HOLDS
    assert level(HIGH, LOW, 0.01).verdict == FAILS
    assert level(HIGH, near, 0.005).verdict == OPEN
    assert level(Values((0.86,)), Values((0.86,)), 0.01).verdict == OPEN  # one seed may be off by more


@pytest.mark.parametrize("values", [Values(()), Values((math.nan, 0.8)), Values((math.inf,))])
def test_what_is_no_number_decides_nothing(values: Values) -> None:
    for found in (above(values, HIGH), above(HIGH, values), level(values, HIGH, 1.0), limited(values, 0, 1)):
        assert found.verdict == OPEN
        assert "not a number" in found.why


def test_limits_must_hold_for_every_seed() -> None:
    assert limited(Values((0.1, 0.2)), high=0.5).verdict == HOLDS
    assert limited(Values((0.7, 0.8)), high=0.5).verdict == FAILS
    assert limited(Values((0.4, 0.8)), high=0.5).verdict == OPEN


def test_a_claim_of_several_parts_is_as_good_as_its_worst() -> None:
    holds, open_, fails = (Judgement(verdict, verdict) for verdict in (HOLDS, OPEN, FAILS))
    assert all_of(holds, holds).verdict == HOLDS
    assert all_of(holds, open_) == Judgement(OPEN, OPEN)
    assert all_of(open_, fails, holds) == Judgement(FAILS, FAILS)
    assert all_of().verdict == OPEN


def told(budget: str = "cpu", late_gain: float | None = 0.0) -> Judgement:
    """One4All above the SCN, contrary to the claim."""
    rows = [*scns({3: (0.70, 0.701)}, late_gain=late_gain), row("one4all", 0.75, 0.751, late_gain=late_gain)]
    return judge(beats_one4all(ROTATION), evidence(*rows, budget=budget), [ROTATION])


def test_a_claim_fails_by_networks_that_have_learned_and_not_by_others() -> None:
    assert told().verdict == FAILS
    assert told(late_gain=0.02).verdict == OPEN
    assert "still gained up to 0.020" in told(late_gain=0.02).why
    assert told(late_gain=None).verdict == OPEN
    assert told(budget="full", late_gain=None).verdict == FAILS  # the published length


def test_a_network_for_each_setting_is_compared_under_its_settings_alone() -> None:
    settings = [[0.0], [90.0], [180.0]]

    def judged(alone: list[float]) -> Judgement:
        wide = scns({8: (0.5, 0.5)}, settings=[*settings, [270.0]], values=[[0.86, 0.85, 0.84, 0.1]] * 2)
        one4one = row("one4one", sum(alone) / 3, settings=settings, values=[alone])
        return approaches(ROTATION, "one4one")(evidence(*wide, one4one))

    assert judged([0.87, 0.86, 0.85]).verdict == HOLDS  # 0.01 better under each
    assert "D=8 and One4One, difference under 3 settings: -0.0100" in judged([0.87, 0.86, 0.85]).why
    assert judged([0.90, 0.89, 0.88]).verdict == FAILS
    assert judged([0.90, 0.85, 0.86]).verdict == OPEN


def compared(scn: float, one4all: float, /, **late_gains: float) -> str:
    """The verdict on "SCNs are better than One4All" of these scores, whose seeds hardly differ."""
    rows = [
        *scns({3: (scn, scn + 1e-3)}, late_gain=late_gains.get("scn", 0.0)),
        row("one4all", one4all, one4all + 1e-3, late_gain=late_gains.get("one4all", 0.0)),
    ]
    return judge(beats_one4all(ROTATION), evidence(*rows), [ROTATION]).verdict


def test_a_claim_fails_only_if_what_networks_still_gain_cannot_make_up_for_it() -> None:
    assert compared(0.70, 0.75, scn=0.005) == FAILS  # five times as much is half of what is missing
    assert compared(0.70, 0.75, scn=0.011) == OPEN
    assert compared(0.70, 0.75, one4all=0.011) == FAILS


def test_a_claim_holds_unless_what_others_still_gain_would_turn_it_round() -> None:
    assert compared(0.75, 0.70, one4all=0.009) == HOLDS
    assert compared(0.75, 0.70, one4all=0.012) == OPEN
    assert compared(0.75, 0.70, scn=0.012) == HOLDS


def test_the_late_gain_of_a_method_is_that_of_all_its_runs() -> None:
    rows = [
        *scns({3: (0.70, 0.701)}, late_gain=0.03),
        *scns({8: (0.70, 0.701)}, late_gain=-0.03),
        row("one4all", 0.75, 0.751),
    ]
    assert judge(beats_one4all(ROTATION), evidence(*rows), [ROTATION]).verdict == FAILS


def test_what_is_no_score_fails_by_networks_that_have_learned() -> None:
    def judged(late_gain: float) -> str:
        facts = {"share of the first base model": [0.5, 0.6]}
        rows = scns({3: (0.7, 0.7)}, task=SHIFTED, facts=facts, late_gain=late_gain)
        return judge(one_base_model, evidence(*rows), [SHIFTED]).verdict

    assert judged(0.0) == FAILS
    assert judged(0.003) == OPEN


def test_a_verdict_says_seeds_epochs_and_samples() -> None:
    assert "2 seed(s), 20 epochs, 60,000 / 10,000 samples" in told().why


def test_the_smallest_budget_decides_nothing() -> None:
    assert told(budget="smoke") == Judgement(
        OPEN, "the budget smoke only shows that everything fits together"
    )


def test_what_was_not_measured_is_said() -> None:
    found = judge(beats_one4all(ROTATION), evidence(row("one4all", 0.7)), [ROTATION])
    assert found == Judgement(OPEN, f"not measured: SCN D=3 of {ROTATION}")
    assert judge(beats_one4all(ROTATION), evidence(), [ROTATION]) == Judgement(OPEN, "nothing was measured")


def test_growth_must_be_early() -> None:
    early = {1: (0.75, 0.75), 3: (0.83, 0.83), 8: (0.85, 0.85)}
    late = {1: (0.75, 0.75), 3: (0.76, 0.76), 8: (0.85, 0.85)}
    assert grows_with_d(ROTATION)(evidence(*scns(early))).verdict == HOLDS
    assert grows_with_d(ROTATION)(evidence(*scns(late))).verdict == FAILS
    with pytest.raises(NotMeasured):
        grows_with_d(ROTATION)(evidence(*scns({1: (0.7,), 3: (0.8,)})))


def test_one_base_model_is_one4all() -> None:
    rows = [*scns({1: (0.756, 0.755)}), row("one4all", 0.756, 0.757)]
    assert d1_is_one4all(ROTATION)(evidence(*rows)).verdict == HOLDS


def test_the_largest_d_is_compared_with_other_methods() -> None:
    rows = [*scns({1: (0.75, 0.75), 64: (0.87, 0.871)}), row("inverse", 0.877, 0.876)]
    assert approaches(ROTATION, "inverse")(evidence(*rows)).verdict == HOLDS
    with pytest.raises(NotMeasured):
        approaches(ROTATION, "inverse")(evidence(row("inverse", 0.8)))


@pytest.mark.parametrize(
    ("step", "half", "verdict"), [(0.02, 0.01, HOLDS), (0.9, 0.9, FAILS), (0.0, 0.0, HOLDS)]
)
def test_beta_is_smooth_where_half_a_step_changes_it_by_half(step: float, half: float, verdict: str) -> None:
    facts = {"largest change of beta": [step], "largest change of beta in half a step": [half]}
    assert smooth_beta(ROTATION)(evidence(*scns({3: (0.8,)}, facts=facts))).verdict == verdict


def test_every_base_model_has_one_range() -> None:
    for share, verdict in ((1.0, HOLDS), (0.5, FAILS)):
        rows = scns({1: (0.7,), 3: (0.8,)}, facts={"base models with one range": [share]})
        assert one_range_each(ROTATION)(evidence(*rows)).verdict == verdict


def test_specialised_is_better_at_home_and_worse_elsewhere() -> None:
    def rows(home: float, room: float) -> list[object]:
        far = {"at home": [home, home], "settings as good as home": [room, room]}
        near = {"at home": [0.75, 0.75], "settings as good as home": [1.0, 1.0]}
        return [*scns({1: (0.75, 0.75)}, facts=near), *scns({8: (0.85, 0.85)}, facts=far)]

    check = specialised(ROTATION)
    assert check(evidence(*rows(0.86, 0.1))).verdict == HOLDS  # type: ignore[arg-type]
    assert check(evidence(*rows(0.86, 1.0))).verdict == OPEN  # type: ignore[arg-type]
    assert check(evidence(*rows(0.70, 0.1))).verdict == FAILS  # type: ignore[arg-type]


def test_published_scores_are_reached_or_not() -> None:
    (one,) = [score for score in published.scores("rotation") if (score.method, score.dims) == ("scn", 8)]
    assert one.value == 0.86
    for mean, budget, verdict in (
        (0.855, "cpu", HOLDS),
        (0.80, "cpu", OPEN),  # a shorter training says nothing against it
        (0.80, "full", FAILS),
        (0.87, "smoke", OPEN),
    ):
        rows = scns({8: (mean, mean)}, epochs=500)
        assert one.judge(evidence(*rows, budget=budget)).verdict == verdict
    few = scns({8: (0.8, 0.8)}, samples={"train": 10_000, "test": 10_000})
    assert "10,000 of 60,000 training samples" in one.judge(evidence(*few, budget="full")).why
    assert one.judge(evidence()).verdict == OPEN


def test_a_score_under_one_setting_is_found_in_either_place() -> None:
    of_ten = [score for score in published.scores("table-2") if score.setting == (10.0,)]
    task = of_ten[0].task
    rows = [
        row("safn", 0.42, 0.43, task=task, fixed=[10.0]),
        row("scn", 0.8, 0.8, dims=3, task=task, settings=[[0.0], [10.0]], values=[[0.7, 0.9]]),
    ]
    found = {
        score.method: score.ours(evidence(*rows))
        for score in of_ten
        if (score.method, score.dims) in (("safn", 1), ("scn", 3))
    }
    assert found == {"safn": Values((0.42, 0.43)), "scn": Values((0.9,))}
