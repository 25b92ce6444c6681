"""The guard itself: for each reading, what the network shall be configured for, and whether it may answer.

Between two good readings the strictest action of all that was wrong is in force: refuse before neutral before
keep. Under keep a good reading is taken at once; what jumped, and anything after refuse or neutral, needs
several readings in a row that agree with one another. All arithmetic is that of float32, in single steps that
every core rounds alike: C decides the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scn.core.errors import ScnError
from scn.transforms.guard.policy import KEEP, LONGEST, NEUTRAL, Policy, ReadingLimits

CLOCK = 2**32  # values of a clock of 32 bits, in ms
OK, WAITING, RANGE, RATE, TIMEOUT = range(5)  # as in C
Setting = tuple[np.float32, ...]


@dataclass(frozen=True)
class Decision:
    """status: what was thought of the reading. in_force: an action, by its place in ACTIONS.

    configure: the setting that the network shall be configured for now; None leaves it as it is.
    """

    status: int
    in_force: int
    configure: tuple[float, ...] | None = None


class Exact(NamedTuple):
    """The limits of one parameter as float32, which C has in its table."""

    low: np.float32
    high: np.float32
    period: np.float32
    at_once: np.float32
    per_ms: np.float32
    step: np.float32
    neutral: np.float32

    @classmethod
    def of(cls, limits: ReadingLimits) -> Exact:
        return cls(*(np.float32(getattr(limits, name)) for name in cls._fields))

    def apart(self, a: np.float32, b: np.float32) -> np.float32:
        """How far values are apart; on a circle, the shorter way round."""
        apart = abs(a - b)
        while self.period and apart >= self.period:
            apart -= self.period
        return min(apart, self.period - apart) if self.period else apart

    def reaches(self, a: np.float32, b: np.float32, ms: int) -> bool:
        """Whether a value may have become the other in this time, which was not longer by a whole ms."""
        return bool(self.apart(a, b) - self.at_once <= self.per_ms * np.float32(ms + 1))


@dataclass
class Stamp:
    """A moment, by a clock of 32 bits that wraps."""

    ms: int = 0

    def age(self, now: int) -> int:
        """How long ago it was. A clock that went back starts anew; what is very long ago stays so."""
        found = (now - self.ms) % CLOCK
        if found >= CLOCK // 2:
            self.ms, found = now, 0
        elif found > LONGEST:
            self.ms, found = (now - LONGEST) % CLOCK, LONGEST
        return found


class AlphaGuard:
    """Decides over the readings of one sensor, in the units of its parameters."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.exact = [Exact.of(limits) for limits in policy.limits]
        self.neutral: Setting = tuple(exact.neutral for exact in self.exact)
        self.in_force = KEEP
        self.started = self.timed_out = False
        self.good: Setting = ()  # the last good reading, none before the first
        self.candidate: Setting = ()  # a reading that others may agree with
        self.good_at, self.candidate_at = Stamp(), Stamp()
        self.count = 0  # of readings that agree with one another
        self.configured: Setting = ()  # what the network may answer for, none after a refusal

    def reading(self, params: Sequence[float], now: int) -> Decision:
        """One reading (P,), and the time of its arrival in ms."""
        if len(params) != len(self.exact):
            raise ScnError(f"a reading has a value for each parameter, {len(self.exact)}, not {len(params)}")
        with np.errstate(over="ignore", invalid="ignore"):
            setting = tuple(np.float32(value) for value in params)
        before = self._watch(now)
        status = self._judged(setting, now)
        if status != OK:
            return Decision(status, self.in_force, self._consequence(before))
        self.good, self.good_at = setting, Stamp(now)
        self.in_force, self.timed_out, self.count = KEEP, False, 0
        return Decision(OK, KEEP, self._configured_for(setting) if self._moved(setting) else None)

    def tick(self, now: int) -> Decision:
        """No reading: only time has passed."""
        before = self._watch(now)
        return Decision(TIMEOUT if self.timed_out else OK, self.in_force, self._consequence(before))

    def _watch(self, now: int) -> int:
        """Notice that no reading was good for too long; returns what was in force before."""
        before = self.in_force
        if not self.started:
            self.started, self.good_at = True, Stamp(now)
        if self.good_at.age(now) >= self.policy.timeout > 0:
            self.timed_out = True
            self.in_force = max(self.in_force, self.policy.on_timeout)
        return before

    def _judged(self, setting: Setting, now: int) -> int:
        limits = self.policy.limits
        rows = zip(self.exact, limits, setting, strict=True)
        wrong = [limit.on_range for exact, limit, value in rows if not exact.low <= value <= exact.high]
        if wrong:
            self.in_force, self.count = max(self.in_force, *wrong), 0
            return RANGE
        jumped = self._jumped(setting, self.good, self.good_at.age(now))
        if not jumped and self.in_force == KEEP:
            return OK
        agrees = self.count > 0 and not self._jumped(setting, self.candidate, self.candidate_at.age(now))
        self.count = self.count + 1 if agrees else 1
        self.candidate, self.candidate_at = setting, Stamp(now)
        if self.count >= self.policy.recover:
            return OK
        if agrees or not jumped:
            return WAITING
        self.in_force = max(self.in_force, *jumped)
        return RATE

    def _jumped(self, setting: Setting, other: Setting, ms: int) -> list[int]:
        """The actions of parameters that cannot have changed so much in this time."""
        rows = zip(self.exact, self.policy.limits, setting, other, strict=False)
        return [limit.on_rate for exact, limit, a, b in rows if not exact.reaches(a, b, ms)]

    def _moved(self, setting: Setting) -> bool:
        """Whether a setting is worth a configuration."""
        rows = zip(self.exact, setting, self.configured, strict=False)
        return not self.configured or any(exact.apart(a, b) > exact.step for exact, a, b in rows)

    def _consequence(self, before: int) -> tuple[float, ...] | None:
        """What follows from the action in force, if it was not in force before."""
        if self.in_force == before:
            return None
        if self.in_force == NEUTRAL:
            return self._configured_for(self.neutral)
        self.configured = ()
        return None

    def _configured_for(self, setting: Setting) -> tuple[float, ...]:
        self.configured = setting
        return tuple(float(value) for value in setting)
