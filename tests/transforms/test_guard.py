"""What a guard thinks of readings: by range, by how fast they change, and by how long none was good."""

from __future__ import annotations

import itertools
import math

import pytest

from scn import transforms
from scn.core.errors import ScnError
from scn.transforms.guard import KEEP, NEUTRAL, REFUSE, AlphaGuard, Policy
from scn.transforms.guard.decisions import CLOCK, OK, RANGE, RATE, TIMEOUT, WAITING

ANGLE = transforms.get("rotation").parameters
FACTOR = transforms.get("brightness").parameters
BOTH = transforms.get("rotation+scaling").parameters
SHIFT = transforms.get("translation").parameters


def guard(text: str, parameters: tuple[transforms.Parameter, ...] = ANGLE) -> AlphaGuard:
    return AlphaGuard(Policy.read(text, parameters))


def test_the_first_good_reading_configures() -> None:
    first = guard("rate=90/s:refuse").reading([30.0], 0)
    assert (first.status, first.in_force, first.configure) == (OK, KEEP, (30.0,))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e30])
def test_a_reading_that_is_no_number_is_out_of_range_and_changes_nothing_under_keep(bad: float) -> None:
    one = guard("step=1")
    one.reading([30.0], 0)
    found = one.reading([bad], 10)
    assert (found.status, found.in_force, found.configure) == (RANGE, KEEP, None)
    assert one.reading([40.0], 20).status == OK


def test_the_range_is_the_trained_one_and_a_circle_has_none() -> None:
    one = guard("range=refuse", FACTOR)
    assert [one.reading([value], 0).status for value in (0.2, 2.0, 2.1, 0.1)] == [OK, OK, RANGE, RANGE]
    assert [guard("range=refuse").reading([value], 0).status for value in (-90, 725)] == [OK, OK]


def test_on_a_circle_a_change_is_measured_the_shorter_way_round() -> None:
    one = guard("rate=2.5/s:refuse")
    one.reading([359.0], 0)
    assert one.reading([1.0], 1000).status == OK
    assert one.reading([357.0], 2000).status == RATE
    assert one.reading([721.0], 2000).status == WAITING, "721 degrees are 1 degree"


def test_what_may_change_grows_with_the_time_since_the_last_good_reading() -> None:
    one = guard("rate=90/s:keep")
    one.reading([0.0], 0)
    found = [one.reading([180.0 - 50 * (i % 2)], i * 100).status for i in range(1, 21)]
    assert set(found[:14]) == {RATE}
    assert found[14] == OK, "after 1.5 s it may be 130 degrees farther"


def test_what_may_change_at_once_is_room_for_noise() -> None:
    for text, status in (("rate=90/s:keep", RATE), ("rate=2+90/s:keep", OK)):
        one = guard(text)
        one.reading([10.0], 0)
        assert one.reading([12.0], 0).status == status


def test_a_jump_is_believed_after_readings_that_agree_with_one_another() -> None:
    one = guard("rate=90/s:keep,recover=4")
    one.reading([0.0], 0)
    found = [one.reading([170.0 + i], 10 + 20 * i) for i in range(4)]
    assert [d.status for d in found] == [RATE, WAITING, WAITING, OK]
    assert found[-1].configure == (173.0,)
    assert one.reading([0.0], 90).status == RATE, "and now the old place is a jump"


def test_outliers_that_do_not_agree_are_never_believed() -> None:
    one = guard("rate=90/s:keep,recover=2")
    one.reading([0.0], 0)
    found = [one.reading([(90.0, 180.0, 270.0)[i % 3]], 10 * i).status for i in range(1, 80)]
    assert set(found) == {RATE}


def test_after_one_outlier_the_next_good_reading_is_taken_at_once_under_keep() -> None:
    one = guard("rate=90/s:keep")
    one.reading([0.0], 0)
    assert [one.reading([value], t).status for value, t in ((120.0, 20), (1.0, 40))] == [RATE, OK]


@pytest.mark.parametrize(("action", "place"), [("neutral", NEUTRAL), ("refuse", REFUSE)])
def test_neutral_and_refuse_end_after_readings_in_a_row(action: str, place: int) -> None:
    one = guard(f"range={action},recover=3")
    one.reading([30.0], 0)
    found = [
        one.reading([value], 10 * i) for i, value in enumerate([math.nan, 30, 30, math.nan, 30, 30, 30], 1)
    ]
    assert [d.status for d in found] == [RANGE, WAITING, WAITING, RANGE, WAITING, WAITING, OK]
    assert [d.in_force for d in found] == [place] * 6 + [KEEP]
    wishes = [d.configure for d in found]
    assert wishes[-1] == (30.0,), "configured anew, for what it was before as well"
    assert wishes[:-1] == [(0.0,) if place == NEUTRAL else None, *[None] * 5]


def test_a_timeout_comes_once_and_ends_with_a_good_reading() -> None:
    one = guard("timeout=2s:neutral,recover=2")
    one.reading([30.0], 5)
    found = [one.tick(t) for t in (1000, 2004, 2005, 2006, 9999)]
    assert [d.status for d in found] == [OK, OK, TIMEOUT, TIMEOUT, TIMEOUT]
    assert [d.configure for d in found] == [None, None, (0.0,), None, None]
    assert [one.reading([30.0], t).status for t in (10_000, 10_010)] == [WAITING, OK]
    assert one.tick(12_009).status == OK
    assert one.tick(12_010).status == TIMEOUT


def test_a_sensor_that_never_answered_times_out_as_well() -> None:
    one = guard("timeout=2s:neutral")
    assert one.tick(CLOCK - 500).status == OK
    assert one.tick(1500).configure == (0.0,), "2 s after the first call, though the clock has wrapped"


def test_bad_readings_do_not_keep_a_timeout_from_coming() -> None:
    one = guard("range=keep,timeout=1s:refuse")
    one.reading([0.0], 0)
    found = [one.reading([math.nan], t).in_force for t in range(100, 1200, 100)]
    assert found == [KEEP] * 9 + [REFUSE] * 2


def test_a_gap_that_no_tick_saw_is_seen_by_the_reading_after_it() -> None:
    one = guard("timeout=1s:refuse,recover=2")
    one.reading([0.0], 0)
    found = [one.reading([0.0], t) for t in (5000, 5010)]
    assert [(d.status, d.in_force) for d in found] == [(WAITING, REFUSE), (OK, KEEP)]


def test_the_strictest_action_is_in_force_in_whatever_order_alarms_come() -> None:
    for order in itertools.permutations(["range", "rate", "timeout"]):
        one = guard("range=refuse,rate=1/s:neutral,timeout=1s:keep")
        one.reading([0.0], 0)
        strictest = KEEP
        for i, kind in enumerate(order, 1):
            now = 1000 if kind == "timeout" else 10 * i if "timeout" in order[i:] else 1000 + i
            value = {"range": math.nan, "rate": 90.0}.get(kind)
            found = one.tick(now) if value is None else one.reading([value], now)
            strictest = max(strictest, {"range": REFUSE, "rate": NEUTRAL, "timeout": KEEP}[kind])
            assert found.in_force == strictest


def test_small_changes_configure_nothing_and_do_not_add_up_unseen() -> None:
    one = guard("step=5")
    found = [one.reading([float(value)], value).configure for value in range(12)]
    assert [wish for wish in found if wish] == [(0.0,), (6.0,)]


def test_each_parameter_has_its_own_limits() -> None:
    one = guard("range=keep,range.factor=refuse,rate.angle=10/s:neutral", BOTH)
    one.reading([0.0, 1.0], 0)
    assert one.reading([90.0, 1.0], 10).in_force == NEUTRAL
    assert one.reading([0.0, 99.0], 10).in_force == REFUSE
    both = guard("rate=5/s:keep,rate.down=50/s:refuse", SHIFT)
    assert [limits.per_second for limits in both.policy.limits] == [5, 50]


def test_a_clock_that_goes_back_starts_anew_and_very_long_ago_stays_so() -> None:
    one = guard("rate=90/s:keep,timeout=2s:keep")
    one.reading([0.0], 1_000_000)
    assert one.tick(7).status == OK, "the clock was reset"
    assert one.tick(2007).status == TIMEOUT
    far = guard("rate=0.0001/s:keep,recover=9")
    far.reading([0.0], 0)
    for i in range(1, 6):
        far.tick(i * 2**30 % CLOCK)
    assert far.reading([100.0], 5 * 2**30 % CLOCK).status == OK, "much could change in 60 days"


WRONG = {
    "": "a guard is said as range=",
    "refuse": "has no",
    "rang=refuse": 'Did you mean "range"',
    "range=refuze": 'Did you mean "refuse"',
    "range": "a guard is said as",
    "range=refuse,range=keep": "says range twice: say it once",
    "rate=90:keep": "write rate=90/s:ACTION",
    "rate=90/s": "write rate=90/s:ACTION",
    "rate=90/s:": "rate needs an action",
    "rate=0/s:keep": "rate must be more than 0",
    "rate=-1/s:keep": "cannot be read",
    "rate=nan/s:keep": "cannot be read",
    "rate=1e999/s:keep": "must be more than 0 and finite",
    "rate.angel=9/s:keep": 'Did you mean "angle"',
    "timeout=2:neutral": "write timeout=2s:ACTION",
    "timeout=0s:keep": "timeout must be more than 0",
    "timeout=40000000s:keep": "from 1 ms to",
    "timeout.angle=2s:keep": "is for the guard as a whole: write timeout=2s",
    "step=": "write step=1",
    "recover=1": "from 2 to 1000",
    "recover=x": "from 2 to 1000",
    "range=keep,": "a guard is said as",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_policy_is_answered_in_one_sentence_with_the_remedy(text: str) -> None:
    with pytest.raises(ScnError) as error:
        Policy.read(text, ANGLE)
    assert WRONG[text] in str(error.value)
    assert "\n" not in str(error.value)


def test_a_rate_without_a_name_needs_parameters_of_one_unit() -> None:
    with pytest.raises(ScnError, match=r"write rate\.angle=\.\.\. and rate\.factor=\.\.\."):
        Policy.read("rate=90/s:keep", BOTH)
    assert Policy.read("rate=90/s:keep", SHIFT).limits[1].per_second == 90


def test_a_reading_of_another_size_is_an_error() -> None:
    with pytest.raises(ScnError, match="a value for each parameter, 2, not 1"):
        guard("range=keep", SHIFT).reading([1.0], 0)
