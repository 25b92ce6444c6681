"""PCM of 16 bits: in floats the three operations that Python does, in whole numbers a line of fixed point.

Rounding a float before it is quantised turns a few of the 65,536 values the other way than a line of fixed
point does. The line is laid so that they all lie just below a step; where the fraction is that large, a list
is asked. The list is made by trying every value, and with it the steps are those of the float path, all of
them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.data import to_float
from scn.data.sensing import Pcm
from scn.export.entrance import Entrance, First
from scn.export.fixed_point import factors_of
from scn.export.pack import exact
from scn.export.parts import Parts, Table
from scn.export.snippets import of_each
from scn.export.subject import Subject

FLOAT, STEPS = "pcm_float", "pcm_steps"
LABEL = "sound"
LOWEST, HIGHEST = -32768, 32767


def check(subject: Subject, sensor: Pcm) -> None:
    """Refuse a network that does not hear, another sample rate, and a ring that is too short."""
    sample, rate = subject.sample, subject.sample_rate
    heard = sample is not None and sample.dtype == torch.int16 and sample.dim() == 2 and sample.shape[0] == 1
    if not heard or rate is None or tuple(sample.shape) != subject.shape:  # type: ignore[union-attr]
        raise ScnError(f"{subject.name} is not given sounds, so no PCM can be its input: leave out `input`")
    if sensor.rate not in (None, rate):
        raise ScnError(
            f"{subject.name} was trained on {rate} samples a second, not {sensor.rate}: let the microphone "
            f"give {rate}, and say pcm16:{rate}"
        )
    if sensor.ring and sensor.ring < subject.shape[1]:
        raise ScnError(
            f"a ring of {sensor.ring} samples is too short: {subject.name} hears {subject.shape[1]}"
        )


def add(parts: Parts, subject: Subject, sensor: Pcm) -> Entrance:
    """The functions; of whole numbers the line, and the list beside it."""
    first, count = parts.first, subject.shape[1]
    kernels, tables = [_floats(subject)], []
    if first.kind != "float":
        found = line(first, subject)
        kernels.append(_steps(found, first))
        if len(found.more):
            tables.append(Table("int16_t", "scn_pcm_more", found.more, LABEL))
    where, given = ("uint32_t first, ", "first, ") if sensor.ring else ("", "")
    words = {
        "@FIRST@": where,
        "@PLACE@": "first" if sensor.ring else "0",
        "@NEXT@": f"place = place + 1 < {sensor.ring}u ? place + 1 : 0;" if sensor.ring else "place++;",
        "@COUNT@": str(count),
        "@STRIDE@": str(sensor.stride),
    }
    defined = "\n".join(kernels)
    for place, text in words.items():
        defined = defined.replace(place, text)
    outside = f"first >= {sensor.ring}u || " if sensor.ring else ""
    return Entrance(
        function="infer_pcm",
        takes=f"const int16_t *samples{', uint32_t first' if sensor.ring else ''}",
        refuses=f"{outside}(uintptr_t)samples % sizeof(int16_t) != 0",
        uses_state=False,
        tables=tables,
        defined=defined,
        to_x=f"scn_pcm_float(samples, {given}x);",
        to_first=f"scn_pcm_{first.kind}(samples, {given}{first.place});",
        about=_about(subject, sensor),
        sizes={
            "PCM_SAMPLES": count,
            "PCM_RATE": subject.sample_rate or 0,
            "PCM_STRIDE": sensor.stride,
            **({"PCM_RING": sensor.ring} if sensor.ring else {}),
        },
    )


def _about(subject: Subject, sensor: Pcm) -> str:
    apart = "" if sensor.stride == 1 else f", each {sensor.stride} places behind the one before"
    ring = f", in a ring of {sensor.ring} that begins anew behind the last" if sensor.ring else ""
    oldest = "; first: the place of the oldest of them, the first sample that is heard" if sensor.ring else ""
    return (
        f"samples: {subject.shape[1]} samples of PCM, 16 bits, {subject.sample_rate} a second{apart}{ring}"
        f"{oldest}. They become what Python makes of them, to the last bit (not with -ffast-math)."
    )


def _floats(subject: Subject) -> str:
    (mean,), (deviation,) = subject.normalisation.mean, subject.normalisation.deviation
    text = of_each(FLOAT)
    return text.replace("@MEAN@", exact(mean)).replace("@DEVIATION@", exact(deviation))


@dataclass(frozen=True)
class FixedLine:
    """steps = (sample * number + offset) >> shift, from low to high, and one more for those of `more`.

    All of `more` have a fraction of at least `near`.
    """

    number: int
    offset: int
    shift: int
    low: int
    high: int
    near: int
    more: Tensor


def line(first: First, subject: Subject) -> FixedLine:
    """The line for all samples that there can be: moved down until none is above its steps, if only just.

    An error where a sample is further off than one step: then floats are too coarse for such small steps.
    """
    samples = torch.arange(LOWEST, HIGHEST + 1)
    x = subject.normalisation(to_float(samples.to(torch.int16).view(1, 1, -1))).flatten()
    steps = first.of_floats(x).long()
    low, high = int(steps.min()), int(steps.max())
    (deviation,), (mean,) = subject.normalisation.deviation, subject.normalisation.mean
    factor = factors_of(1 / (HIGHEST * deviation * first.scale))[0]
    one = 2**factor.shift
    offset = round((0.5 - mean / (deviation * first.scale)) * one)
    wide = samples * factor.number + offset
    above = (wide >> factor.shift).clamp(low, high) > steps
    down = int((wide & (one - 1))[above].max()) + 1 if above.any() else 0
    wide -= down
    more = (wide >> factor.shift).clamp(low, high) < steps
    if bool(((wide >> factor.shift) + more).clamp(low, high).ne(steps).any()):
        raise ScnError(
            f"{subject.name}: a step of its input, {first.scale:g}, is too small for PCM in fixed point: use "
            "inference=float"
        )
    near = int((wide & (one - 1))[more].min()) if more.any() else one
    return FixedLine(factor.number, offset - down, factor.shift, low, high, near, samples[more])


LISTED = """
        if ((wide & @MASK@) >= @NEAR@) {
            int k;
            for (k = 0; k < @MORE@; k++) {
                steps += scn_pcm_more[k] == sample;
            }
        }"""


def _steps(found: FixedLine, first: First) -> str:
    """The function in whole numbers; without a list where the line is right everywhere."""
    text = of_each(STEPS).replace("@LISTED@", LISTED if len(found.more) else "")
    for place, words in {
        "@TYPE@": first.kind,
        "@NUMBER@": str(found.number),
        "@OFFSET@": str(found.offset),
        "@SHIFT@": str(found.shift),
        "@MASK@": str(2**found.shift - 1),
        "@NEAR@": str(found.near),
        "@LOW@": str(found.low),
        "@HIGH@": str(found.high),
        "@MORE@": str(len(found.more)),
    }.items():
        text = text.replace(place, words)
    return text
