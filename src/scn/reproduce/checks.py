"""Checks that several tasks have in common: each makes a function of the evidence for one task.

How far "near", "equal" and "clear" go is decided here, once for all.
"""

from __future__ import annotations

from scn import methods
from scn.reproduce.evidence import Evidence, NotMeasured, Values
from scn.reproduce.parts import ONE4ALL, SCN
from scn.reproduce.verdicts import (
    FAILS,
    HOLDS,
    Check,
    Judgement,
    above,
    all_of,
    at_least,
    level,
    limited_each,
)

CLOSE = 0.02  # of the score: "approaches", "comparable", "close to"
EQUAL = 0.01  # "matches"
CLEAR = 0.03  # "considerably", "significant"


def grows_with_d(task: str) -> Check:
    """The largest D is better than D=1 (or the smallest), and most of the gain comes early."""

    def check(found: Evidence) -> Judgement:
        dims = found.dims(task)
        if len(dims) < 3:
            raise NotMeasured(f"not measured: three values of D of {task}")
        first, middle, last = (found.score(task, SCN, d) for d in (dims[0], dims[len(dims) // 2], dims[-1]))
        early, late = middle.mean - first.mean, last.mean - middle.mean
        text = (
            f"from D={dims[0]} to {dims[len(dims) // 2]} {early:+.4f}, from there to D={dims[-1]} {late:+.4f}"
        )
        fast = Judgement(HOLDS if early > late else FAILS, text)
        return all_of(above(last, first, said=f"D={dims[-1]} and D={dims[0]}"), fast)

    return check


def d1_is_one4all(task: str) -> Check:
    return lambda found: level(
        found.score(task, SCN, 1), found.score(task, ONE4ALL), EQUAL, "D=1 and One4All"
    )


def beats_one4all(*tasks: str, dims: int = 3, least: float = 0.0) -> Check:
    return lambda found: all_of(
        *(
            above(
                found.score(task, SCN, dims),
                found.score(task, ONE4ALL),
                least=least,
                said=f"{task}, D={dims} and One4All",
            )
            for task in tasks
        )
    )


def approaches(task: str, other: str) -> Check:
    """The largest D is at most a little below another method.

    One that has a network for each setting is compared under these settings alone.
    """

    def check(found: Evidence) -> Judgement:
        most = found.dims(task)[-1:]
        if not most:
            raise NotMeasured(f"not measured: SCNs of {task}")
        said = f"D={most[0]} and {methods.get(other).title}"
        if not methods.get(other).needs_fixed:
            ours, theirs = found.score(task, SCN, most[0]), found.score(task, other)
            return above(ours, theirs, least=-CLOSE, said=said)
        theirs_alone = found.find(task, other)
        gaps = found.beside(theirs_alone, task, SCN, most[0])
        return at_least(gaps, -CLOSE, f"{said}, difference under {len(gaps.by_seed)} settings")

    return check


def smooth_beta(task: str) -> Check:
    """No coefficient jumps: in half a step it changes by about half as much."""

    def check(found: Evidence) -> Judgement:
        steps, shares = {}, {}
        for d in found.dims(task):
            step = found.fact("largest change of beta", task, SCN, d)
            half = found.fact("largest change of beta in half a step", task, SCN, d)
            pairs = zip(step.by_seed, half.by_seed, strict=True)
            steps[f"D={d}"] = step
            shares[f"D={d}"] = Values(tuple(b / a if a else 0.5 for a, b in pairs))
        return all_of(
            limited_each(steps, high=0.25, said="largest change in a 360th of the range"),
            limited_each(shares, high=0.75, said="in half of that, as a share"),
        )

    return check


def one_range_each(task: str, most: int = 8) -> Check:
    """Every base model in use is high in one unbroken range of settings."""

    def check(found: Evidence) -> Judgement:
        dims = [d for d in found.dims(task) if 1 < d <= most]
        ranges = {f"D={d}": found.fact("base models with one range", task, SCN, d) for d in dims}
        return limited_each(ranges, low=0.99, said="share of base models")

    return check


def overlap_grows(task: str) -> Check:
    def check(found: Evidence) -> Judgement:
        dims = [d for d in found.dims(task) if d > 1]
        if len(dims) < 2:
            raise NotMeasured(f"not measured: two values of D above 1 of {task}")
        low, high = (found.fact("base models at a setting", task, SCN, d) for d in (dims[0], dims[-1]))
        return above(high, low, said=f"base models that share a setting, D={dims[-1]} and D={dims[0]}")

    return check


def specialised(task: str) -> Check:
    """A network that is configured once is better there with a larger D, and good in fewer places."""

    def check(found: Evidence) -> Judgement:
        dims = found.dims(task)
        if len(dims) < 2:
            raise NotMeasured(f"not measured: two values of D of {task}")
        small, large = dims[0], dims[-1]
        home = [found.fact("at home", task, SCN, d) for d in (large, small)]
        room = [found.fact("settings as good as home", task, SCN, d) for d in (small, large)]
        return all_of(
            above(*home, said=f"at home, D={large} and D={small}"),
            above(*room, said=f"share of settings as good as home, D={small} and D={large}"),
        )

    return check


def all_in_use(task: str) -> Check:
    def check(found: Evidence) -> Judgement:
        shares = {}
        for d in found.dims(task):
            used = found.fact("base models in use", task, SCN, d)
            shares[f"D={d}"] = Values(tuple(count / d for count in used.by_seed))
        return limited_each(shares, low=1.0, said="share of base models in use")

    return check
