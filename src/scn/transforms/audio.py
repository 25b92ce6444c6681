"""Transforms of sound: the pitch of a clip, or its speed, by way of Fourier transforms of whole batches.

Resampling cuts or extends the spectrum of a clip, which is exact below the lower of both Nyquist
frequencies, and nothing folds over. The pitch is shifted by a phase vocoder: the clip is stretched in
time, its tones kept, and then resampled to its old length.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from scn.core.errors import ScnError
from scn.transforms.base import Parameter, Transform, registry
from scn.transforms.encoding import Encoding, Linear

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)
CLOSE = 5e-6  # a ratio of lengths as exact as this is not improved
AT_ONCE = 2**16  # samples in one call: more of them would leave the cache of the processor
DRIFT = 0.1  # samples that a clip may be too long or too short; for a smaller one longer lengths are tried
MARGIN = 64  # samples of silence between the end of a clip and its beginning, which follows in a period


def resample(x: Tensor, length: int) -> Tensor:
    """x: (..., T) as (..., length) samples of the same period."""
    before = x.shape[-1]
    spectrum = torch.fft.rfft(x)[..., : (min(before, length) + 1) // 2]
    return torch.fft.irfft(spectrum, n=length) * (length / before)


@lru_cache(maxsize=4096)
def fast_lengths(least: int, ratio: float) -> tuple[int, int]:
    """Lengths (n, m) with n >= least and m/n close to the ratio, both fast to transform.

    The Fourier transform of a length with a large prime factor takes up to 20 times longer.
    """
    enough, most = least + least // 8 + MARGIN, 2 * least + MARGIN
    numbers = _smooth(1 << int(most * max(1, ratio) + 1).bit_length())
    found, error = (least, round(least * ratio)), math.inf
    for n in numbers[bisect_left(numbers, least) : bisect_left(numbers, most)]:
        if n >= enough and error * least < DRIFT:
            break
        place = bisect_left(numbers, n * ratio)
        for m in numbers[max(place - 1, 0) : place + 1]:
            if abs(m / (n * ratio) - 1) < error:
                found, error = (n, m), abs(m / (n * ratio) - 1)
        if error < CLOSE:
            break
    return found


@cache
def _smooth(limit: int) -> list[int]:
    """The numbers up to a limit that have no prime factor above 31, in order."""
    found = [1]
    for prime in PRIMES:
        for number in found:  # grows while it is walked, and so takes in every power
            if number * prime <= limit:
                found.append(number * prime)
    return sorted(found)


class Sound(Transform):
    """A transform of waveforms x: (B, channels, T) in [-1, 1] by one parameter, group by group."""

    limits: ClassVar[tuple[float, float]]

    def checked(self, params: Tensor) -> Tensor:
        params, (low, high) = super().checked(params), self.limits
        outside = params[(params < low) | (params > high)]
        if len(outside):
            name = self.parameters[0].name
            raise ScnError(f"{name} must be from {low:g} to {high:g}, but is {outside[0].item():g}")
        return params

    def _require_waveforms(self, x: Tensor) -> None:
        if x.dim() != 3 or 0 in x.shape[1:] or not x.is_floating_point():
            raise ScnError(
                f"{type(self).__name__.lower()} changes waveforms, floating-point (B, channels, T) in "
                f"[-1, 1], but was given {x.dtype} of shape {tuple(x.shape)}: divide int16 by 32767; for "
                "images choose a transform of images"
            )

    def _grouped(
        self, x: Tensor, params: Tensor, length: int, change: Callable[[Tensor, float], Tensor]
    ) -> Tensor:
        """x: (B, channels, T) -> (B, channels, length), the groups that share params in one call each."""
        if len(x) == 0:
            return x.new_zeros(*x.shape[:-1], length)
        if x.dtype in (torch.float16, torch.bfloat16):  # the Fourier transform needs more digits
            return self._grouped(x.float(), params, length, change).to(x.dtype)
        groups = zip(x.split(len(x) // len(params)), params[:, 0].tolist(), strict=True)
        piece = max(1, AT_ONCE // x.shape[-1])
        return torch.cat([change(part, value) for group, value in groups for part in group.split(piece)])


@registry.register("pitch")
class Pitch(Sound):
    """A higher or lower pitch in the same time. params: semitones, upwards; 0 changes nothing.

    Frames of `n_fft` samples lie `hop` apart; speech wants some 32 ms, which are 256 samples at 8 kHz. The
    preset "paper" has the published 512 and 128, for 16 kHz. The opposite shift undoes a shift but for
    what it took above the Nyquist frequency and the smear of the frames. Peaks may leave [-1, 1].
    """

    parameters = (Parameter("semitones", -10.0, 10.0, "semitones"),)
    alpha_dim = 1
    default_step = 1.0
    limits = (-48.0, 48.0)
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {},
        "paper": {"n_fft": 512, "hop": 128},
    }

    def __init__(self, n_fft: int = 256, hop: int = 64) -> None:
        if hop < 1 or n_fft % hop or n_fft // hop < 4:
            raise ScnError(f"n_fft must be a multiple of hop, 4 times or more, but is {n_fft} with hop {hop}")
        self.n_fft, self.hop = n_fft, hop

    def encode(self, params: Tensor) -> Tensor:
        """Semitones as parts of the largest shift, so that alpha lies in [-1, 1]."""
        return self.checked(params) / self.parameters[0].high

    def encodings(self) -> tuple[Encoding, ...]:
        (shift,) = self.parameters
        return (Linear(shift.low, shift.high, shift.high),)

    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        self._require_waveforms(x)
        return self._grouped(x, self.rows(x, params), x.shape[-1], self._shifted)

    def invert(self, x: Tensor, params: Tensor) -> Tensor:
        return self.apply(x, -self.checked(params))

    def _shifted(self, x: Tensor, semitones: float) -> Tensor:
        if semitones == 0:
            return x
        length = x.shape[-1]
        padded, stretched = fast_lengths(length + self.n_fft, 2 ** (semitones / 12))
        clips = F.pad(x.flatten(0, 1), (0, padded - length))
        return resample(self._stretched(clips, stretched), padded)[:, :length].view_as(x)

    def _stretched(self, x: Tensor, length: int) -> Tensor:
        """x: (n, T) -> (n, length) with the same tones.

        Each frame of the result lies between two frames of x. Its strength is interpolated; its phase
        moves on from the frame before as the phase of x does there. The bins around a peak turn with the
        peak, because they are one tone and would weaken each other otherwise.
        """
        window = torch.hann_window(self.n_fft, dtype=x.dtype, device=x.device)
        spectrum = torch.stft(
            x, self.n_fft, self.hop, window=window, pad_mode="constant", return_complex=True
        ).transpose(1, 2)
        real, imaginary = spectrum.real.contiguous(), spectrum.imag.contiguous()
        strength, phase = torch.hypot(real, imaginary), torch.atan2(imaginary, real)
        place = torch.arange(length // self.hop + 1, device=x.device) * (x.shape[-1] / length)
        before = place.long().clamp_(max=spectrum.shape[1] - 2)
        part = (place - before).to(x).view(-1, 1)
        strength = torch.lerp(strength.index_select(1, before), strength.index_select(1, before + 1), part)
        steps = phase.diff(dim=1).index_select(1, before[:-1])
        turned = torch.cat([phase[:, :1], steps], dim=1).cumsum_(dim=1)
        phase = phase.index_select(1, before)
        phase += _of_the_strongest(turned.sub_(phase), strength)
        frames = torch.fft.irfft(torch.complex(strength * phase.cos(), strength * phase.sin()), n=self.n_fft)
        weight = window.square().expand(1, len(before), -1)
        start = self.n_fft // 2
        whole = slice(start, start + length)
        return _added_up(frames.mul_(window), self.hop)[:, whole] / _added_up(weight, self.hop)[:, whole]


def _added_up(frames: Tensor, hop: int) -> Tensor:
    """(n, count, size) frames that start `hop` samples apart -> (n, T): the sum of what overlaps.

    It does the work of torch.istft in a fraction of its time.
    """
    n, count, size = frames.shape
    parts = frames.reshape(n, count, size // hop, hop)
    out = frames.new_zeros(n, count + size // hop - 1, hop)
    for i in range(size // hop):
        out[:, i : i + count] += parts[:, :, i]
    return out.view(n, -1)


def _of_the_strongest(x: Tensor, strength: Tensor) -> Tensor:
    """x: (..., bins) with the value of each bin replaced by that of a stronger neighbour, if it has one."""
    found, most = x.clone(), strength.clone()
    low, high = slice(None, -1), slice(1, None)
    for here, there in ((low, high), (high, low)):
        stronger = (strength[..., there] > most[..., here]).to(x.dtype)  # as 0 or 1, lerp beats where
        torch.lerp(found[..., here], x[..., there], stronger, out=found[..., here])
        torch.maximum(most[..., here], strength[..., there], out=most[..., here])
    return found


@registry.register("speed")
class Speed(Sound):
    """Slower speech. params: the factor; a clip lasts 1/factor times as long, its tones fall by the factor.

    All clips come out `stretch` times as long as they went in, whatever the factor, so that groups with
    different factors share a batch and a device has one input size. A slowed clip that is longer is cut
    to its loudest stretch of that length; a shorter one is followed by silence. With `stretch` None, as
    in the preset "paper", nothing is cut: the result is as long as the slowest clip of the call needs.
    """

    parameters = (Parameter("factor", 0.1, 1.0),)
    alpha_dim = 1
    default_step = 0.1
    limits = (1 / 128, 128.0)
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}, "paper": {"stretch": None}}

    def __init__(self, stretch: float | None = 4.0) -> None:
        if stretch is not None and not 1 <= stretch <= 1 / self.limits[0]:
            raise ScnError(f"stretch must be from 1 to {1 / self.limits[0]:g}, but is {stretch:g}")
        self.stretch = stretch

    def encode(self, params: Tensor) -> Tensor:
        """The factor itself."""
        return self.checked(params)

    def encodings(self) -> tuple[Encoding, ...]:
        (factor,) = self.parameters
        return (Linear(factor.low, factor.high),)

    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        self._require_waveforms(x)
        rows = self.rows(x, params)
        length = round(x.shape[-1] * self._longer(rows))

        def slower(group: Tensor, factor: float) -> Tensor:
            return _slowed(_loudest(group, math.ceil(length * factor)), factor, length)

        return self._grouped(x, rows, length, slower)

    def invert(self, x: Tensor, params: Tensor) -> Tensor:
        """The clips at their old speed and length; of one that was cut, what is left, and then silence."""
        self._require_waveforms(x)
        rows = self.rows(x, params)
        length = round(x.shape[-1] / self._longer(rows))

        def faster(group: Tensor, factor: float) -> Tensor:
            return _slowed(group[..., : math.ceil(length / factor)], 1 / factor, length)

        return self._grouped(x, rows, length, faster)

    def _longer(self, rows: Tensor) -> float:
        return max(1.0, 1 / rows.min().item()) if self.stretch is None else self.stretch


def _slowed(x: Tensor, factor: float, length: int) -> Tensor:
    """x: (b, channels, T) resampled to last 1/factor times as long, then cut or filled to `length`."""
    if factor != 1:
        before = x.shape[-1]
        padded, stretched = fast_lengths(before + MARGIN, 1 / factor)
        x = resample(F.pad(x, (0, padded - before)), stretched)[..., : round(before / factor)]
    return F.pad(x[..., :length], (0, max(0, length - x.shape[-1])))


def _loudest(x: Tensor, length: int) -> Tensor:
    """x: (b, channels, T) -> (b, channels, length), the part of each clip that has the most energy."""
    if length >= x.shape[-1]:
        return x
    energy = F.pad(x.double().square().sum(dim=1).cumsum(dim=-1), (1, 0))
    start = (energy[:, length:] - energy[:, :-length]).argmax(dim=-1)
    places = start.view(-1, 1, 1) + torch.arange(length, device=x.device)
    return x.gather(2, places.expand(-1, x.shape[1], -1))
