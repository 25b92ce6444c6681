"""Compare the speed of several ways to do one thing, interleaved in one run.

The machine may be busy, so only ratios count: each round times every contestant once, and a
contestant's figure is its median over the rounds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

WARM_UP = 5


def medians(contestants: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds of each contestant."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for i in range(WARM_UP + rounds):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            if i >= WARM_UP:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def report(title: str, seconds: Mapping[str, float], unit: str, limits: Mapping[str, float]) -> None:
    """Print each figure as a ratio to that of `unit`, beside its limit where there is one."""
    print(f"\n{title} (ratio to {unit}, {seconds[unit] * 1e3:.3f} ms here)")
    for name, value in seconds.items():
        limit = f"   limit {limits[name]:.2f}" if name in limits else ""
        print(f"  {name:<42} {value / seconds[unit]:7.2f}{limit}")
