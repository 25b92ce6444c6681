"""Streams of readings with everything that sensors do, and what a guard in C makes of them."""

from __future__ import annotations

import ctypes
import math
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from generated import STRICT, shared, subject
from mapped import Noise
from needs import tool
from scn import SCN, methods, transforms
from scn.backbones import MLP
from scn.export import Options, Subject, c
from scn.transforms import Measured, Parameter, Transform
from scn.transforms.guard.decisions import CLOCK

SHAPE = (1, 3, 3)
NOT_CONFIGURED = 1
BROKEN = (math.nan, math.inf, -math.inf, 1e30, -1e6, 3e38, 1e-40)
LONG = 2**30 - 1000  # ms, about as much as may lie between two calls

# One reading after the other, and what followed: the wish is carried out as a main loop would, except that
# every seventh is left for later, when an inference must still be refused or still have the old weights.
STREAM = """
#include "net.c"
#ifdef EXPLICIT
static net_state own;
#define S &own,
#define ALONE &own
#define WISHES own.wishes
#else
#define S
#define ALONE
#define WISHES net_left
#endif
void stream(const float *readings, const uint32_t *now, const int32_t *is_tick, int32_t count, int32_t *out,
            float *alpha);
void stream(const float *readings, const uint32_t *now, const int32_t *is_tick, int32_t count, int32_t *out,
            float *alpha)
{
    static const float x[NET_INPUT_SIZE];
    float y[NET_CLASSES];
    int32_t i, j;
    for (i = 0; i < count; i++) {
        const float *const reading = readings + i * NET_PARAMS;
        const uint32_t before = WISHES.latest;
        int32_t *const row = out + 5 * i;
        uint32_t wish;
        row[0] = is_tick[i] ? (int32_t)net_guard_tick(S now[i]) : (int32_t)net_guard(S reading, now[i]);
        row[1] = (int32_t)net_guard_policy(ALONE);
        wish = WISHES.latest;
        row[2] = wish != 0 && wish != before;
        for (j = 0; j < NET_ALPHA_SIZE; j++) {
            alpha[i * NET_ALPHA_SIZE + j] = wish ? WISHES.alpha[wish - 1][j] : 0.0f;
        }
        row[3] = (int32_t)net_infer(S x, y);
        if (i % 7) {
            row[4] = (int32_t)net_poll(ALONE);
        }
    }
}
"""


def guarded(transform: Transform, **more: Any) -> Subject:
    net = SCN(MLP(SHAPE, 2, 3), alpha_dim=transform.alpha_dim, dims=2, seed=0).eval()
    method = methods.get("scn")(transform, dims=2)
    return Noise(**{**vars(subject(net, SHAPE, **more)), "method": method})


def library(what: Subject, options: Options, folder: Path, *flags: str) -> ctypes.CDLL:
    """The network and its guard with the program above around them."""
    folder.mkdir(exist_ok=True)
    c.write(what, options, folder)
    (folder / "stream.c").write_text(STREAM)
    explicit = ("-DEXPLICIT",) if options.state == "explicit" else ()
    how = ("-std=c99", *STRICT, "-O1", *flags, *explicit)
    return shared([folder / "stream.c"], folder / "libstream.so", tool("gcc"), *how)


@dataclass(frozen=True)
class Stream:
    """readings: (N, P) float32; now: (N,) ms of a clock of 32 bits; is_tick: (N,), no reading came."""

    readings: np.ndarray
    now: np.ndarray
    is_tick: np.ndarray


def stream(transform: Transform, count: int, seed: int) -> Stream:
    """Readings that drift, jump, break and stay away, by a clock that wraps and sometimes goes back."""
    chance = random.Random(seed)
    clock = CLOCK - chance.randrange(20_000)
    rows: list[tuple[list[float], int, bool]] = []
    setting = transform.sample(1, torch.Generator().manual_seed(seed))[0].tolist()
    while len(rows) < count:
        clock += chance.choice([0, 1, 5, 10, 10, 10, 20, 40])
        if chance.random() < 0.01:
            clock += chance.choice([500, 3000, 100_000, 2**30 + 5, 2**31 - 3, 2**31 + 7, -3, -2000])
        if chance.random() < 0.005:  # broken for more than the clock tells apart
            rows += [([math.nan] * len(setting), (clock + i * LONG) % CLOCK, False) for i in (1, 2, 3)]
            clock += 3 * LONG
            setting = [of.low + (of.high - of.low) * chance.random() for of in transform.parameters]
        setting = _moved(setting, transform, chance)
        reading, kind = list(setting), chance.random()
        if kind < 0.01:
            reading = [chance.choice(BROKEN) for _ in reading]
        elif kind < 0.06:
            reading[chance.randrange(len(reading))] = chance.choice(
                [*BROKEN, transform.parameters[0].low - 1]
            )
        rows.append((reading, clock % CLOCK, chance.random() < 0.15))
    readings, now, is_tick = zip(*rows, strict=True)
    return Stream(np.array(readings, np.float32), np.array(now, np.uint32), np.array(is_tick, np.int32))


def _moved(setting: list[float], transform: Transform, chance: random.Random) -> list[float]:
    jumps = chance.random() < 0.01
    rows = zip(setting, transform.parameters, strict=True)
    return [_somewhere_else(value, of, chance, jumps or chance.random() < 0.015) for value, of in rows]


def _somewhere_else(value: float, of: Parameter, chance: random.Random, jumps: bool) -> float:
    span = of.high - of.low
    if jumps:
        return of.low + span * chance.random()
    if chance.random() < 0.8:
        value += 0.01 * span * chance.gauss(0, 1)
    if not of.periodic:
        return min(max(value, of.low), of.high)
    turned = value + span * chance.choice([-1, 0, 0, 0, 1])  # the same, said otherwise
    return min(max(turned, of.low - 2 * span), of.high + span)


def run_c(loaded: ctypes.CDLL, seen: Stream, alphas: int) -> tuple[np.ndarray, np.ndarray]:
    """(N, 5): status, action in force, whether a wish was left, statuses of infer and poll; (N, S) wishes."""
    out = np.zeros((len(seen.now), 5), np.int32)
    wishes = np.zeros((len(seen.now), alphas), np.float32)
    arrays = (seen.readings, seen.now, seen.is_tick)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    results = [ctypes.c_void_p(array.ctypes.data) for array in (out, wishes)]
    loaded.stream(*pointers, len(seen.now), *results)
    return out, wishes


class Clock(Measured):
    """The hour of a day, which returns."""

    name = "hour"


KINDS: dict[str, Transform] = {
    "rotation": transforms.get("rotation"),
    "brightness": transforms.get("brightness"),
    "translation": transforms.get("translation"),
    "rotation+scaling": transforms.get("rotation+scaling"),
    "rotation-3d": transforms.get("rotation-3d"),
    "light": transforms.get("light"),
    "clock": Clock(0.0, 24.0, "h", periodic=True),
}
