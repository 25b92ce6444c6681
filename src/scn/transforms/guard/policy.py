"""What a guard is asked to do: limits for each parameter, and an action for each kind of alarm.

A person writes it as `range=refuse,rate=90/s:keep,timeout=2s:neutral`, in the units of the parameters.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.transforms.base import Parameter

ACTIONS = ("keep", "neutral", "refuse")  # from mild to strict: their places are their numbers in C
KEEP, NEUTRAL, REFUSE = range(3)
MOST_TURNS = 10  # of a reading on a circle
BEYOND = 1e-3  # of the range: what rounding may add to a reading
UNLIMITED = 3.4028234663852886e38  # the largest float32
LONGEST = 2**30  # ms: what a clock of 32 bits tells apart for sure
USUAL_RECOVER, MOST_RECOVER = 5, 1000
NUMBER = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
RATE = re.compile(rf"(?:({NUMBER})\+)?({NUMBER})/s:(.*)")
TIMEOUT = re.compile(rf"({NUMBER})(ms|s):(.*)")
EXAMPLE = "range=refuse,rate=90/s:keep,timeout=2s:neutral"
FORMS = {
    "range": "range=ACTION",
    "rate": "rate=90/s:ACTION, or rate=2+90/s:ACTION with 2 at once",
    "timeout": "timeout=2s:ACTION, or 500ms",
    "step": "step=1",
    "recover": f"recover={USUAL_RECOVER}, from 2 to {MOST_RECOVER}",
}


@dataclass(frozen=True)
class ReadingLimits:
    """Of the readings of one parameter, in its unit.

    A good reading lies from `low` to `high`, and no farther from the good one before it than `at_once` and
    `per_second` for each second between. `period` is that of a circle, elsewhere 0. A change up to `step` is
    not worth a configuration. `on_range` and `on_rate` are the places of actions in ACTIONS.
    """

    low: float
    high: float
    period: float
    neutral: float
    on_range: int = KEEP
    on_rate: int = KEEP
    at_once: float = UNLIMITED
    per_second: float = 0.0
    step: float = 0.0

    @property
    def per_ms(self) -> float:
        return self.per_second / 1000

    @classmethod
    def of(cls, parameter: Parameter) -> ReadingLimits:
        """The range that the network was trained for; a circle may be gone round a few times."""
        span = parameter.high - parameter.low
        if parameter.periodic:
            return cls(-MOST_TURNS * span, MOST_TURNS * span, span, parameter.neutral)
        beyond = BEYOND * span
        return cls(parameter.low - beyond, parameter.high + beyond, 0.0, parameter.neutral)


@dataclass(frozen=True)
class Policy:
    """Limits for each parameter; how long there may be no good reading (ms, 0 for ever), and what then.

    recover: how many readings that agree end an alarm. text: what a person wrote.
    """

    limits: tuple[ReadingLimits, ...]
    timeout: int = 0
    on_timeout: int = KEEP
    recover: int = USUAL_RECOVER
    text: str = ""

    @classmethod
    def read(cls, text: str, parameters: Sequence[Parameter]) -> Policy:
        """What a person wrote; `rate.angle=...` of one parameter goes before `rate=...` of all."""
        said = _Said(parameters)
        for item in text.split(","):
            said.add(item.strip())
        changes = sorted(said.changes.items(), key=lambda change: change[0][1] is not None)
        limits = [ReadingLimits.of(parameter) for parameter in parameters]
        for (_, name), values in changes:
            for i, parameter in enumerate(parameters):
                if name in (None, parameter.name):
                    limits[i] = replace(limits[i], **values)
        return cls(tuple(limits), text=text, **said.whole)


@dataclass
class _Said:
    """What was read so far: by key and parameter (None for all of them), and for the guard as a whole."""

    parameters: Sequence[Parameter]
    changes: dict[tuple[str, str | None], dict[str, Any]] = field(default_factory=dict)
    whole: dict[str, Any] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def add(self, item: str) -> None:
        left, equals, value = item.partition("=")
        key, dot, name = left.partition(".")
        if not equals and key in FORMS:
            raise ScnError(f"a guard is said as {EXAMPLE}, and {left} says nothing: write {FORMS[key]}")
        if key not in FORMS:
            raise ScnError(f"a guard is said as {EXAMPLE}, and has no {nearest(key, FORMS)}")
        if left in self.seen:
            raise ScnError(f"the guard says {left} twice: say it once")
        self.seen.add(left)
        if key in OF_PARAMETER:
            self.changes[key, self._parameter(key, name, bool(dot))] = OF_PARAMETER[key](value)
            return
        if dot:
            raise ScnError(f"{key} is for the guard as a whole: write {FORMS[key]}")
        self.whole |= OF_WHOLE[key](value)

    def _parameter(self, key: str, name: str, is_named: bool) -> str | None:
        names = [parameter.name for parameter in self.parameters]
        if is_named and name not in names:
            raise ScnError(f"the setting has no parameter {nearest(name, names)}")
        if is_named:
            return name
        if key != "range" and len({parameter.unit for parameter in self.parameters}) > 1:
            each = " and ".join(f"{key}.{name}=..." for name in names)
            raise ScnError(f"parameters with different units have no {key} in common: write {each}")
        return None


def _action(key: str, said: str) -> int:
    if said not in ACTIONS:
        raise ScnError(
            f"{key} needs an action, as in {FORMS[key]}: there is no action {nearest(said, ACTIONS)}"
        )
    return ACTIONS.index(said)


def _positive(key: str, said: str) -> float:
    value = float(said)
    if not 0 < value < UNLIMITED:
        raise ScnError(f"{key} must be more than 0 and finite, but is {said}")
    return value


def _range(value: str) -> dict[str, Any]:
    return {"on_range": _action("range", value)}


def _rate(value: str) -> dict[str, Any]:
    found = RATE.fullmatch(value)
    if found is None:
        raise ScnError(f"rate={value} cannot be read: write {FORMS['rate']}")
    at_once = _positive("what may change at once", found[1]) if found[1] else 0.0
    rate = {"at_once": at_once, "per_second": _positive("rate", found[2])}
    return {"on_rate": _action("rate", found[3]), **rate}


def _timeout(value: str) -> dict[str, Any]:
    found = TIMEOUT.fullmatch(value)
    if found is None:
        raise ScnError(f"timeout={value} cannot be read: write {FORMS['timeout']}")
    ms = _positive("timeout", found[1]) * (1000 if found[2] == "s" else 1)
    if not 1 <= ms <= LONGEST:
        raise ScnError(f"a timeout must be from 1 ms to {LONGEST // 1000} s (12 days), but is {value}")
    return {"timeout": math.ceil(ms), "on_timeout": _action("timeout", found[3])}


def _step(value: str) -> dict[str, Any]:
    if not re.fullmatch(NUMBER, value):
        raise ScnError(f"step={value} cannot be read: write {FORMS['step']}")
    return {"step": _positive("step", value)}


def _recover(value: str) -> dict[str, Any]:
    if not (value.isascii() and value.isdigit() and 2 <= int(value) <= MOST_RECOVER):
        raise ScnError(f"recover={value} is not how many readings end an alarm: write {FORMS['recover']}")
    return {"recover": int(value)}


Reader = Callable[[str], dict[str, Any]]
OF_PARAMETER: dict[str, Reader] = {"range": _range, "rate": _rate, "step": _step}
OF_WHOLE: dict[str, Reader] = {"timeout": _timeout, "recover": _recover}


def said_of(policy: Policy, parameters: Sequence[Parameter]) -> Iterator[str]:
    """The policy in sentences, for a header."""
    for parameter, limits in zip(parameters, policy.limits, strict=True):
        unit = f" {parameter.unit}".rstrip()
        found = (
            f"{parameter.name} from {limits.low:g} to {limits.high:g}{unit}, else {ACTIONS[limits.on_range]}"
        )
        if limits.period:
            found += f"; a change is measured the shorter way round a circle of {limits.period:g}{unit}"
        if limits.at_once < UNLIMITED:
            found += (
                f"; at most {limits.at_once:g}{unit} from the good reading before, and {limits.per_second:g}"
                f"{unit} a second, else {ACTIONS[limits.on_rate]}"
            )
        if limits.step:
            found += f"; a change up to {limits.step:g}{unit} configures nothing"
        yield f"{found}."
    if policy.timeout:
        yield f"No good reading for {policy.timeout:,} ms: {ACTIONS[policy.on_timeout]}."
